/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime: code. Included by cuda_runtime_api.h and by the test that declares them again beside the toolkit's. */

/* what compilers emit: registration, in constructors, and what `kernel<<<grid, block, shared, stream>>>(...)` becomes */
void **CUDAAPI __cudaRegisterFatBinary(void *fatCubin);
void CUDAAPI __cudaRegisterFatBinaryEnd(void **fatCubinHandle);
void CUDAAPI __cudaUnregisterFatBinary(void **fatCubinHandle);
void CUDAAPI __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun, const char *deviceName,
                                    int thread_limit, uint3 *tid, uint3 *bid, dim3 *bDim, dim3 *gDim, int *wSize);
void CUDAAPI __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress, const char *deviceName, int ext,
                               size_t size, int constant, int global);
void CUDAAPI __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                                      const char *deviceName, int ext, size_t size, int constant, int global);
char CUDAAPI __cudaInitModule(void **fatCubinHandle);
unsigned int CUDAAPI __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, struct CUstream_st *stream);
cudaError_t CUDAAPI __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream);
cudaError_t CUDAAPI __cudaGetKernel(cudaKernel_t *kernel, const void *entryFuncAddr);
cudaError_t CUDAAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                       cudaStream_t stream);

/* launches */
cudaError_t CUDAAPI cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                     cudaStream_t stream);
cudaError_t CUDAAPI cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args);
cudaError_t CUDAAPI cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                                cudaStream_t stream);

/* functions */
cudaError_t CUDAAPI cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func);
cudaError_t CUDAAPI cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value);
cudaError_t CUDAAPI cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig);
cudaError_t CUDAAPI cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config);
cudaError_t CUDAAPI cudaFuncGetName(const char **name, const void *func);
cudaError_t CUDAAPI cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize);
cudaError_t CUDAAPI cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr);
cudaError_t CUDAAPI cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr);
cudaError_t CUDAAPI cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device);

/* occupancy */
cudaError_t CUDAAPI cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize,
                                                                  size_t dynamicSMemSize);
cudaError_t CUDAAPI cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func, int blockSize,
                                                                           size_t dynamicSMemSize, unsigned int flags);
cudaError_t CUDAAPI cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks,
                                                              int blockSize);
cudaError_t CUDAAPI cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                         const cudaLaunchConfig_t *launchConfig);
cudaError_t CUDAAPI cudaOccupancyMaxActiveClusters(int *numClusters, const void *func, const cudaLaunchConfig_t *launchConfig);

/* variables */
cudaError_t CUDAAPI cudaGetSymbolAddress(void **devPtr, const void *symbol);
cudaError_t CUDAAPI cudaGetSymbolSize(size_t *size, const void *symbol);
cudaError_t CUDAAPI cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                                       enum cudaMemcpyKind kind);
cudaError_t CUDAAPI cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind);
cudaError_t CUDAAPI cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                            enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t CUDAAPI cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                              enum cudaMemcpyKind kind, cudaStream_t stream);

/* libraries */
cudaError_t CUDAAPI cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jitOptions,
                                        void **jitOptionsValues, unsigned int numJitOptions,
                                        enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                        unsigned int numLibraryOptions);
cudaError_t CUDAAPI cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, enum cudaJitOption *jitOptions,
                                            void **jitOptionsValues, unsigned int numJitOptions,
                                            enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                            unsigned int numLibraryOptions);
cudaError_t CUDAAPI cudaLibraryUnload(cudaLibrary_t library);
cudaError_t CUDAAPI cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name);
cudaError_t CUDAAPI cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name);
cudaError_t CUDAAPI cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name);
cudaError_t CUDAAPI cudaLibraryGetUnifiedFunction(void **fptr, cudaLibrary_t library, const char *symbol);
cudaError_t CUDAAPI cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib);
cudaError_t CUDAAPI cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, cudaLibrary_t lib);
