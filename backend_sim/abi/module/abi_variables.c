/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_variables.h"

/* Copies the initial values on a stream of its own, so that they wait for no other work. New memory reads as zeros. */
static vmm_result initialise(vmm_system *sys, const struct abi_variable *first, uint64_t base)
{
    vmm_stream stream = 0;
    vmm_result result = vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING);
    if (result != VMM_SUCCESS)
        return result;
    for (const struct abi_variable *v = first; v && result == VMM_SUCCESS; v = v->next)
        if (v->entry->initial)
            result = vmm_memcpy_htod_async(sys, base + v->offset, v->entry->initial, v->entry->size, stream);
    if (result == VMM_SUCCESS)
        result = vmm_stream_synchronize(sys, stream);
    vmm_stream_destroy(sys, stream);
    return result;
}

CUresult abi_variables_make(vmm_system *sys, const char *function, uint64_t *base)
{
    const struct abi_variable *first;
    uint64_t size;
    *base = 0;
    CUresult result = abi_variables(function, &first, &size);
    if (result != CUDA_SUCCESS || !size)
        return result;
    result = (CUresult)vmm_mem_alloc(sys, base, size);
    if (result == CUDA_SUCCESS)
        result = (CUresult)initialise(sys, first, *base);
    if (result != CUDA_SUCCESS && *base)
        vmm_mem_free(sys, *base);
    return result;
}

void abi_variables_end(vmm_system *sys, uint64_t context, uint64_t base)
{
    struct abi_query_context found;
    if (base && abi_query_context(sys, context, &found) && found.alive)
        vmm_mem_free(sys, base);
}
