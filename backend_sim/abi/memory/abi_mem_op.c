/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations of the second version; abi_old_mem_op.c has the first. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"
#include "abi_managed.h"

/* The call with these arguments after the stream. */
#define MEM_OP(stream, name, ...)                                                                                          \
    do {                                                                                                                   \
        const struct vmm_call_##name op_ = {{VMM_CALL_##name, 0}, abi_stream(stream), __VA_ARGS__};                        \
        ABI_OR_CAPTURE(stream, abi_capture_add_mem_op(sys, __func__, captured_, &op_.head));                               \
        ABI(abi_managed_mem_op(&op_.head) ? abi_managed_refuse_mem_op(sys, __func__, abi_stream(stream))                   \
                                          : (CUresult)vmm_##name(sys, abi_stream(stream), __VA_ARGS__));                   \
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

/* Both unions have one layout (api/cuda_abi_test.c). */
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    const vmm_stream_batch_mem_op_params *list = (const vmm_stream_batch_mem_op_params *)(const void *)paramArray;
    MEM_OP(stream, stream_batch_mem_op, count, list, flags);
}
