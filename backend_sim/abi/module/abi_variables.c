/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_variables.h"

#include "abi_variable_memory.h"
#include "heap.h"

/* Copies the initial value on its own stream, so that it does not wait for other work. New memory reads as zeros. */
CUresult abi_variable_fill(vmm_system *sys, uint64_t address, const void *initial, uint64_t size)
{
    vmm_stream stream = 0;
    vmm_result result = vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING);
    if (result != VMM_SUCCESS)
        return (CUresult)result;
    result = vmm_memcpy_htod_async(sys, address, initial, size, stream);
    if (result == VMM_SUCCESS)
        result = vmm_stream_synchronize(sys, stream);
    vmm_stream_destroy(sys, stream);
    return (CUresult)result;
}

/* Notes that the fresh memory is a variable's, or frees it. */
static CUresult note(vmm_system *sys, const char *function, uint64_t address, uint64_t size)
{
    if (abi_variable_memory_add(address, size))
        return CUDA_SUCCESS;
    vmm_mem_free(sys, address);
    return abi_no_memory(function);
}

CUresult abi_variable_make_managed(vmm_system *sys, const char *function, uint64_t size, uint64_t *address)
{
    CUresult result = (CUresult)vmm_mem_alloc_managed(sys, address, size, VMM_MEM_ATTACH_GLOBAL);
    return result == CUDA_SUCCESS ? note(sys, function, *address, size) : result;
}

CUresult abi_variable_make(vmm_system *sys, const char *function, uint64_t size, const void *initial, uint64_t *address)
{
    CUresult result = (CUresult)vmm_mem_alloc(sys, address, size);
    if (result == CUDA_SUCCESS)
        result = note(sys, function, *address, size);
    if (result != CUDA_SUCCESS)
        return result;
    if (initial)
        result = abi_variable_fill(sys, *address, initial, size);
    if (result != CUDA_SUCCESS)
        abi_variable_end(sys, *address);
    return result;
}

void abi_variable_end(vmm_system *sys, uint64_t address)
{
    if (abi_variable_memory_drop(address))
        vmm_mem_free(sys, address);
}

static CUresult allocate(vmm_system *sys, const char *function, const struct abi_variable *first, uint64_t *addresses)
{
    CUresult result = CUDA_SUCCESS;
    for (const struct abi_variable *v = first; v && result == CUDA_SUCCESS; v = v->next) {
        uint64_t address;
        result = abi_variable_make(sys, function, v->entry->size, v->entry->initial, &address);
        if (result == CUDA_SUCCESS)
            addresses[v->index] = address;
    }
    return result;
}

/* The addresses end with UINT64_MAX. */
void abi_variables_end(vmm_system *sys, uint64_t *addresses)
{
    for (uint64_t *address = addresses; address && *address != UINT64_MAX; address++)
        abi_variable_end(sys, *address);
    heap.free(addresses);
}

bool abi_variables_live(const uint64_t *addresses)
{
    return !addresses || abi_variable_memory(addresses[0]);
}

CUresult abi_variables_make(vmm_system *sys, const char *function, uint64_t **addresses)
{
    const struct abi_variable *first;
    unsigned count;
    *addresses = NULL;
    CUresult result = abi_variables(function, &first, &count);
    if (result != CUDA_SUCCESS || !count)
        return result;
    uint64_t *made = heap.calloc(count + 1, sizeof *made);
    if (!made)
        return abi_no_memory(function);
    made[count] = UINT64_MAX;
    result = allocate(sys, function, first, made);
    if (result != CUDA_SUCCESS) {
        abi_variables_end(sys, made);
        return result;
    }
    *addresses = made;
    return CUDA_SUCCESS;
}
