/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime: memory. Included by cuda_runtime_api.h and by the test that declares them again beside the toolkit's. */

/* memory of the device */
cudaError_t CUDAAPI cudaMalloc(void **devPtr, size_t size);
cudaError_t CUDAAPI cudaFree(void *devPtr);

/* copies */
cudaError_t CUDAAPI cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream);
