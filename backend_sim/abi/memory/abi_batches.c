/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies and of boxes: these entry points call the functions of the same name in this project's API (call_batch.h), unless a
 * stream is captured. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"
#include "abi_process.h"
#include "abi_rows.h"
#include "call_batch.h"

#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
#undef BATCH_FORM
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define BATCH_FORM(name) name##_ptsz
#else
#define BATCH_FORM(name) name
#endif

static bool is_captured(CUstream stream)
{
    return stream && abi_capture_status(abi_stream(stream)) != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* The capture goes on, as recorded. */
static CUresult refuse_captured(const char *function)
{
    return abi_refuse(VMM_RULE_CAPTURE_FORBIDS, function, "no graph holds a batch");
}

/* Of a batch for a captured stream the arguments are checked all the same. */
static CUresult check_captured(const vmm_system *sys, const struct vmm_call_memcpy_batch_async *batch, size_t *failed)
{
    static const char name[] = "cuMemcpyBatchAsync";
    if (failed)
        *failed = SIZE_MAX;
    struct sim_process *process = abi_process_lock(sys);
    CUresult result = (CUresult)batch_check(process, batch);
    abi_process_unlock(process);
    return result == CUDA_SUCCESS ? refuse_captured(name) : abi_rows_reported(result, name);
}

static const vmm_memcpy3d_batch_op *boxes_of(const CUDA_MEMCPY3D_BATCH_OP *list)
{
    return (const vmm_memcpy3d_batch_op *)(const void *)list;
}

/* A batch in the API's types, which have the same widths. */
static struct vmm_call_memcpy_batch_async batch_of(const CUdeviceptr *dsts, const CUdeviceptr *srcs, const size_t *sizes, size_t count,
                                                   const CUmemcpyAttributes *attributes, const size_t *indices, size_t attribute_count,
                                                   CUstream stream)
{
    return (struct vmm_call_memcpy_batch_async){.dsts = (const void *)dsts, .srcs = (const void *)srcs, .sizes = (const void *)sizes,
                                                .count = count, .attrs = (const void *)attributes, .attrs_idxs = (const void *)indices,
                                                .num_attrs = attribute_count, .stream = abi_stream(stream)};
}

static uint64_t *index_of(size_t *index)
{
    return (uint64_t *)(void *)index;
}

#pragma GCC visibility push(default)
CUresult BATCH_FORM(cuMemcpyBatchAsync)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
                                        size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream);
CUresult BATCH_FORM(cuMemcpyBatchAsync_v2)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                           CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream);
CUresult BATCH_FORM(cuMemcpy3DBatchAsync)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                          unsigned long long flags, CUstream hStream);
CUresult BATCH_FORM(cuMemcpy3DBatchAsync_v2)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                             CUstream hStream);
#pragma GCC visibility pop

CUresult BATCH_FORM(cuMemcpyBatchAsync)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
                                        size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream)
{
    const struct vmm_call_memcpy_batch_async b = batch_of(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream);
    ABI(is_captured(hStream) ? check_captured(sys, &b, failIdx)
                             : (CUresult)vmm_memcpy_batch_async_v1(sys, b.dsts, b.srcs, b.sizes, count, b.attrs, b.attrs_idxs,
                                                                   numAttrs, index_of(failIdx), b.stream));
}

CUresult BATCH_FORM(cuMemcpyBatchAsync_v2)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                           CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream)
{
    const struct vmm_call_memcpy_batch_async b = batch_of(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream);
    ABI(is_captured(hStream) ? check_captured(sys, &b, NULL)
                             : (CUresult)vmm_memcpy_batch_async(sys, b.dsts, b.srcs, b.sizes, count, b.attrs, b.attrs_idxs,
                                                                numAttrs, b.stream));
}

CUresult BATCH_FORM(cuMemcpy3DBatchAsync)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                          unsigned long long flags, CUstream hStream)
{
    ABI(is_captured(hStream) ? refuse_captured("cuMemcpy3DBatchAsync")
                             : (CUresult)vmm_memcpy_3d_batch_async_v1(sys, numOps, boxes_of(opList), index_of(failIdx), flags,
                                                                      abi_stream(hStream)));
}

CUresult BATCH_FORM(cuMemcpy3DBatchAsync_v2)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                             CUstream hStream)
{
    ABI(is_captured(hStream) ? refuse_captured("cuMemcpy3DBatchAsync")
                             : (CUresult)vmm_memcpy_3d_batch_async(sys, numOps, boxes_of(opList), flags, abi_stream(hStream)));
}
