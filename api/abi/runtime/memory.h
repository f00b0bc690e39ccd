/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime: memory. Included by cuda_runtime_api.h and by the test that declares them again beside the
 * toolkit's. */

/* memory of the device */
cudaError_t CUDAAPI cudaMalloc(void **devPtr, size_t size);
cudaError_t CUDAAPI cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height);
cudaError_t CUDAAPI cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent);
cudaError_t CUDAAPI cudaMallocManaged(void **devPtr, size_t size, unsigned int flags);
cudaError_t CUDAAPI cudaFree(void *devPtr);
cudaError_t CUDAAPI cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t CUDAAPI cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr);

/* managed memory */
cudaError_t CUDAAPI cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length, unsigned int flags);
cudaError_t CUDAAPI cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute attribute, const void *devPtr,
                                             size_t count);
cudaError_t CUDAAPI cudaMemRangeGetAttributes(void **data, size_t *dataSizes, enum cudaMemRangeAttribute *attributes,
                                              size_t numAttributes, const void *devPtr, size_t count);
#if CUDART_VERSION >= 13000
cudaError_t CUDAAPI cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
                                         cudaStream_t stream);
cudaError_t CUDAAPI cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, struct cudaMemLocation location);
cudaError_t CUDAAPI cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count, struct cudaMemLocation *prefetchLocs,
                                              size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                              cudaStream_t stream);
cudaError_t CUDAAPI cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count, unsigned long long flags,
                                             cudaStream_t stream);
cudaError_t CUDAAPI cudaMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                                        struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                                        size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream);
#else
cudaError_t CUDAAPI cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemPrefetchAsync_v2(const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
                                            cudaStream_t stream);
cudaError_t CUDAAPI cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, int device);
cudaError_t CUDAAPI cudaMemAdvise_v2(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, struct cudaMemLocation location);
#endif

/* memory of the host */
cudaError_t CUDAAPI cudaMallocHost(void **ptr, size_t size);
cudaError_t CUDAAPI cudaHostAlloc(void **pHost, size_t size, unsigned int flags);
cudaError_t CUDAAPI cudaFreeHost(void *ptr);
cudaError_t CUDAAPI cudaHostRegister(void *ptr, size_t size, unsigned int flags);
cudaError_t CUDAAPI cudaHostUnregister(void *ptr);
cudaError_t CUDAAPI cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags);
cudaError_t CUDAAPI cudaHostGetFlags(unsigned int *pFlags, void *pHost);

/* stream-ordered memory and pools */
cudaError_t CUDAAPI cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream);
cudaError_t CUDAAPI cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream);
cudaError_t CUDAAPI cudaFreeAsync(void *devPtr, cudaStream_t hStream);
cudaError_t CUDAAPI cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps);
cudaError_t CUDAAPI cudaMemPoolDestroy(cudaMemPool_t memPool);
cudaError_t CUDAAPI cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
cudaError_t CUDAAPI cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
cudaError_t CUDAAPI cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool, struct cudaMemLocation *location);
cudaError_t CUDAAPI cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count);
cudaError_t CUDAAPI cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep);
cudaError_t CUDAAPI cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                                       enum cudaMemAllocationHandleType handleType, unsigned int flags);
cudaError_t CUDAAPI cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle,
                                                         enum cudaMemAllocationHandleType handleType, unsigned int flags);
cudaError_t CUDAAPI cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr);
cudaError_t CUDAAPI cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool, struct cudaMemPoolPtrExportData *exportData);
cudaError_t CUDAAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device);
cudaError_t CUDAAPI cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device);
cudaError_t CUDAAPI cudaDeviceSetMemPool(int device, cudaMemPool_t memPool);
#if CUDART_VERSION >= 13000
cudaError_t CUDAAPI cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                             enum cudaMemAllocationType type);
cudaError_t CUDAAPI cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location, enum cudaMemAllocationType type);
cudaError_t CUDAAPI cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type, cudaMemPool_t memPool);
#endif

/* copies */
cudaError_t CUDAAPI cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
cudaError_t CUDAAPI cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                 enum cudaMemcpyKind kind);
cudaError_t CUDAAPI cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                      enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
cudaError_t CUDAAPI cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count);
cudaError_t CUDAAPI cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                        cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p);
cudaError_t CUDAAPI cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream);
#if CUDART_VERSION >= 13000
cudaError_t CUDAAPI cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                                         struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                         cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList, unsigned long long flags,
                                           cudaStream_t stream);
#else
cudaError_t CUDAAPI cudaMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count, struct cudaMemcpyAttributes *attrs,
                                         size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList, size_t *failIdx,
                                           unsigned long long flags, cudaStream_t stream);
#endif

/* fills */
cudaError_t CUDAAPI cudaMemset(void *devPtr, int value, size_t count);
cudaError_t CUDAAPI cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height);
cudaError_t CUDAAPI cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent);
cudaError_t CUDAAPI cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                                      cudaStream_t stream);

/* memory of other processes */
cudaError_t CUDAAPI cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr);
cudaError_t CUDAAPI cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags);
cudaError_t CUDAAPI cudaIpcCloseMemHandle(void *devPtr);
