/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies; the CUDA 12 form also returns the index of the refused copy. Compiled for both default streams. */
#include "rt_address.h"

#if CUDART_VERSION >= 13000

cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                                 struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, cudaStream_t stream)
{
    RT(DRIVER(cuMemcpyBatchAsync, (CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs, (size_t *)(uintptr_t)sizes, count,
              (CUmemcpyAttributes *)(void *)attrs, attrsIdxs, numAttrs, stream));
}

cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList, unsigned long long flags, cudaStream_t stream)
{
    RT(DRIVER(cuMemcpy3DBatchAsync, numOps, (CUDA_MEMCPY3D_BATCH_OP *)(void *)opList, flags, stream));
}

#else

cudaError_t cudaMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count, struct cudaMemcpyAttributes *attrs,
                                 size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, cudaStream_t stream)
{
    RT(DRIVER(cuMemcpyBatchAsync_v1, (CUdeviceptr *)(void *)dsts, (CUdeviceptr *)(void *)srcs, sizes, count,
              (CUmemcpyAttributes *)(void *)attrs, attrsIdxs, numAttrs, failIdx, stream));
}

cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList, size_t *failIdx, unsigned long long flags,
                                   cudaStream_t stream)
{
    RT(DRIVER(cuMemcpy3DBatchAsync_v1, numOps, (CUDA_MEMCPY3D_BATCH_OP *)(void *)opList, failIdx, flags, stream));
}

#endif
