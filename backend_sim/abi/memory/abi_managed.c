/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory, the small way: memory that the host and every device access at one address (abi_host.h). It does not move, so there
 * is nothing to prefetch or to advise. */
#include "abi.h"
#include "abi_capture.h"
#include "abi_host.h"
#include "abi_managed.h"
#include "mem_op.h"

static CUresult allocate(vmm_system *sys, CUdeviceptr *dptr, size_t size, unsigned flags)
{
    static const char name[] = "cuMemAllocManaged";
    uint64_t current;
    struct abi_query_context context;
    if (!dptr)
        return abi_null(name, "dptr");
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "flags is %u: CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST", flags);
    if (!size)
        return abi_refuse(VMM_RULE_ALLOC_SIZE_ZERO, name, "bytesize is 0");
    CUresult result = abi_current(sys, name, &current, &context);
    if (result != CUDA_SUCCESS)
        return result;
    /* Measured: copies of such memory are synchronous from the start. */
    struct abi_host_range range = {.size = size, .context = current, .device = context.device, .managed = true, .sync = true};
    result = abi_host_create(sys, name, &range);
    *dptr = result == CUDA_SUCCESS ? range.start : 0;
    return result;
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    if (dptr)
        *dptr = 0; /* written in any case, as recorded */
    ABI_NO_CAPTURE();
    ABI_INITIALISED(allocate(sys, dptr, bytesize, flags));
}

CUresult abi_managed_free(vmm_system *sys, CUdeviceptr dptr)
{
    uint64_t current;
    struct abi_query_context context;
    CUresult result = abi_current(sys, "cuMemFree", &current, &context);
    if (result != CUDA_SUCCESS || abi_host_end(sys, dptr, true))
        return result;
    return abi_refuse_by(sys, VMM_RULE_ALLOC_FREE_UNKNOWN, "cuMemFree", dptr);
}

CUresult abi_managed_free_async(const char *function, CUdeviceptr dptr)
{
    return abi_refuse(VMM_RULE_MANAGED_FREE_ASYNC, function, "0x%llx is managed memory", dptr);
}

bool abi_managed_mem_op(const struct vmm_call *call)
{
    enum { BATCH_MAX = 255 }; /* a longer list is refused before anything of it is read */
    struct mem_ops ops;
    bool found = false;
    if (!abi_host_any())
        return false;
    mem_op_list(call, &ops);
    for (uint64_t i = 0; ops.op && ops.count <= BATCH_MAX && i < ops.count && !found; i++)
        found = vmm_mem_op_has_value(ops.op[i].operation) && abi_host_managed(ops.op[i].wait_value.address);
    return found;
}

/* What a driver says of the stream first is what it says of an empty batch there. */
CUresult abi_managed_refuse_mem_op(vmm_system *sys, const char *function, vmm_stream stream)
{
    CUresult result = (CUresult)vmm_stream_batch_mem_op(sys, stream, 0, NULL, 0);
    return result == CUDA_SUCCESS ? abi_refuse(VMM_RULE_MEMOP_ADDRESS, function, "streams cannot use managed memory") : result;
}
