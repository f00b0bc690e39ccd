/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations of the second version; abi_old_mem_op.c has the first. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"
#include "call_mem_op.h"

/* SUCCESS when the stream is not being captured. During a capture a driver checks what the graph's node holds, and not the memory;
 * a refusal by such a check leaves the capture as it was. */
static CUresult mem_op_captured(const vmm_system *sys, const char *function, vmm_stream stream, const struct vmm_call *call)
{
    bool active = abi_capture_status(stream) == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    vmm_result result = active ? sim_mem_op_check_form(abi_query_profile(sys), call) : VMM_SUCCESS;
    if (result == VMM_SUCCESS)
        return abi_captured(stream, ABI_CAPTURE_WORK, function);
    const vmm_detail detail = *vmm_last_detail();
    abi_report(NULL, &detail);
    return (CUresult)result;
}

/* The call with these arguments after the stream. */
#define MEM_OP(stream, name, ...)                                                                                          \
    do {                                                                                                                   \
        const vmm_stream stream_ = abi_stream(stream);                                                                     \
        const struct vmm_call_##name op_ = {{VMM_CALL_##name, 0}, stream_, __VA_ARGS__};                                   \
        CUresult captured_ = CUDA_SUCCESS;                                                                                 \
        ABI((captured_ = mem_op_captured(sys, __func__, stream_, &op_.head)) != CUDA_SUCCESS                               \
                ? captured_ : (CUresult)vmm_##name(sys, stream_, __VA_ARGS__));                                            \
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
