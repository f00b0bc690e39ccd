/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime: arrays. Included by cuda_runtime_api.h and by the test that declares them again next to the
 * toolkit's. */

struct cudaChannelFormatDesc CUDAAPI cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f);
cudaError_t CUDAAPI cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);
cudaError_t CUDAAPI cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                                    unsigned int flags);
cudaError_t CUDAAPI cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                                      unsigned int flags);
cudaError_t CUDAAPI cudaFreeArray(cudaArray_t array);
cudaError_t CUDAAPI cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned int *flags,
                                     cudaArray_t array);
cudaError_t CUDAAPI cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray, unsigned int planeIdx);
cudaError_t CUDAAPI cudaArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties, cudaArray_t array);
cudaError_t CUDAAPI cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements, cudaArray_t array,
                                                   int device);
cudaError_t CUDAAPI cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const struct cudaChannelFormatDesc *desc,
                                             struct cudaExtent extent, unsigned int numLevels, unsigned int flags);
cudaError_t CUDAAPI cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                               unsigned int level);
cudaError_t CUDAAPI cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray);
cudaError_t CUDAAPI cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                                          cudaMipmappedArray_t mipmap);
cudaError_t CUDAAPI cudaMipmappedArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements,
                                                            cudaMipmappedArray_t mipmap, int device);

/* copies of rows; positions and widths are in bytes */
cudaError_t CUDAAPI cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
                                        size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t CUDAAPI cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
                                             size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                          size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t CUDAAPI cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                               size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                             size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                             enum cudaMemcpyKind kind);

/* copies of bytes, which continue in the array's next row */
cudaError_t CUDAAPI cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                      enum cudaMemcpyKind kind);
cudaError_t CUDAAPI cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                           enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                        enum cudaMemcpyKind kind);
cudaError_t CUDAAPI cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                             enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                           size_t wOffsetSrc, size_t hOffsetSrc, size_t count, enum cudaMemcpyKind kind);
