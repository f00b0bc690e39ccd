/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations of the second version; abi_old_mem_op.c has the first. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"

#include <string.h>

/* The call with these arguments after the stream. */
#define MEM_OP(stream, name, ...)                                                                                          \
    do {                                                                                                                   \
        const struct vmm_call_##name op_ = {{VMM_CALL_##name, 0}, abi_stream(stream), __VA_ARGS__};                        \
        ABI_OR_CAPTURE(stream, abi_capture_add_mem_op(__func__, captured_, &op_.head));                                    \
        ABI(vmm_##name(sys, abi_stream(stream), __VA_ARGS__));                                                             \
    } while (0)

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    MEM_OP(stream, stream_write_value32, addr, value, flags);
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    MEM_OP(stream, stream_write_value64, addr, value, flags);
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    MEM_OP(stream, stream_wait_value32, addr, value, flags);
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    MEM_OP(stream, stream_wait_value64, addr, value, flags);
}

static bool has_address(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
           op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

/* Measured: the driver first checks everything in the list except the memory; then it looks up the memory of each entry and
 * stores its address in alias, up to the first entry that has none. */
static CUresult leave_aliases(vmm_result result, CUstreamBatchMemOpParams *list, unsigned count)
{
    const vmm_detail *detail = vmm_last_detail();
    const bool found_none = result != VMM_SUCCESS && detail->rule &&
                            (strcmp(detail->rule, "VMM-MEMOP-ADDRESS") == 0 || strcmp(detail->rule, "VMM-MEMOP-NO-ACCESS") == 0);
    for (unsigned i = 0; i < count && (result == VMM_SUCCESS || found_none); i++) {
        if (!has_address(&list[i]))
            continue;
        if (found_none && list[i].waitValue.address == detail->value)
            break;
        list[i].waitValue.alias = list[i].waitValue.address;
    }
    return (CUresult)result;
}

/* Both unions have one layout (api/cuda_abi_test.c). */
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    const vmm_stream_batch_mem_op_params *list = (const vmm_stream_batch_mem_op_params *)(const void *)paramArray;
    const struct vmm_call_stream_batch_mem_op op = {{VMM_CALL_stream_batch_mem_op, 0}, abi_stream(stream), count, list, flags};
    ABI_OR_CAPTURE(stream, abi_capture_add_mem_op(__func__, captured_, &op.head));
    ABI(leave_aliases(vmm_stream_batch_mem_op(sys, abi_stream(stream), count, list, flags), paramArray, count));
}
