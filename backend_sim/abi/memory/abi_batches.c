/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies and of boxes: these entry points call the functions of the same name in this project's API (call_batch.h).
 * Compiled for both default streams. */
#include "abi.h"
#include "call.h"

#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
#undef BATCH_FORM
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define BATCH_FORM(name) name##_ptsz
#else
#define BATCH_FORM(name) name
#endif

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
    ABI(vmm_memcpy_batch_async_v1(sys, b.dsts, b.srcs, b.sizes, count, b.attrs, b.attrs_idxs, numAttrs, index_of(failIdx), b.stream));
}

CUresult BATCH_FORM(cuMemcpyBatchAsync_v2)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                           CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream)
{
    const struct vmm_call_memcpy_batch_async b = batch_of(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream);
    ABI(vmm_memcpy_batch_async(sys, b.dsts, b.srcs, b.sizes, count, b.attrs, b.attrs_idxs, numAttrs, b.stream));
}

CUresult BATCH_FORM(cuMemcpy3DBatchAsync)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                          unsigned long long flags, CUstream hStream)
{
    ABI(vmm_memcpy_3d_batch_async_v1(sys, numOps, boxes_of(opList), index_of(failIdx), flags, abi_stream(hStream)));
}

CUresult BATCH_FORM(cuMemcpy3DBatchAsync_v2)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                             CUstream hStream)
{
    ABI(vmm_memcpy_3d_batch_async(sys, numOps, boxes_of(opList), flags, abi_stream(hStream)));
}
