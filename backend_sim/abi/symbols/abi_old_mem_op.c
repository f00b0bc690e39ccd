/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations of the first version: the devices of the recorded machines do not support them. A driver checks the
 * stream before it refuses, and for a batch also the count. */
#include "abi.h"
#include "abi_capture.h"

#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamBatchMemOp

#pragma GCC visibility push(default)
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags);
CUresult cuStreamWriteValue32_ptsz(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags);
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags);
CUresult cuStreamWriteValue64_ptsz(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags);
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags);
CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags);
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags);
CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags);
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags);
CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags);
#pragma GCC visibility pop

/* The driver's first check of the stream gives the same result as the second version does for an empty batch on it. */
static CUresult refuse(vmm_system *sys, const char *function, vmm_stream stream, unsigned count)
{
    CUresult result = (CUresult)vmm_stream_batch_mem_op(sys, stream, 0, NULL, 0);
    if (result != CUDA_SUCCESS)
        return result;
    if (count > 255)
        return abi_refuse(VMM_RULE_MEMOP_COUNT, function, "%u operations; 255 are the most", count);
    return abi_refuse(VMM_RULE_MEMOP_FIRST_VERSION, function, "%s: the second version is %s_v2", function, function);
}

#define FIRST_VERSION(stream, count)                                            \
    do {                                                                        \
        ABI_NOT_CAPTURED(stream);                              \
        ABI_NO_CAPTURE();                                                       \
        ABI(refuse(sys, __func__, (vmm_stream)(void *)(stream), count));        \
    } while (0)

/* In the per-thread forms stream 0 is the thread's own. */
#define FIRST_VERSION_PTSZ(stream, count) FIRST_VERSION((stream) ? (stream) : CU_STREAM_PER_THREAD, count)

#define VALUE(name, type)                                                                              \
    CUresult name(CUstream stream, CUdeviceptr addr, type value, unsigned int flags)                   \
    {                                                                                                  \
        (void)addr, (void)value, (void)flags;                                                          \
        FIRST_VERSION(stream, 1);                                                                      \
    }                                                                                                  \
    CUresult name##_ptsz(CUstream stream, CUdeviceptr addr, type value, unsigned int flags)            \
    {                                                                                                  \
        (void)addr, (void)value, (void)flags;                                                          \
        FIRST_VERSION_PTSZ(stream, 1);                                                                 \
    }

VALUE(cuStreamWriteValue32, cuuint32_t)
VALUE(cuStreamWriteValue64, cuuint64_t)
VALUE(cuStreamWaitValue32, cuuint32_t)
VALUE(cuStreamWaitValue64, cuuint64_t)

CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    (void)paramArray, (void)flags;
    FIRST_VERSION(stream, count);
}

CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
    (void)paramArray, (void)flags;
    FIRST_VERSION_PTSZ(stream, count);
}
