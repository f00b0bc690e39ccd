/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime: device. Included by cuda_runtime_api.h and by the test that declares them again beside the toolkit's. */

/* errors */
cudaError_t CUDAAPI cudaGetLastError(void);
cudaError_t CUDAAPI cudaPeekAtLastError(void);
const char *CUDAAPI cudaGetErrorName(cudaError_t error);
const char *CUDAAPI cudaGetErrorString(cudaError_t error);

/* versions */
cudaError_t CUDAAPI cudaDriverGetVersion(int *driverVersion);
cudaError_t CUDAAPI cudaRuntimeGetVersion(int *runtimeVersion);

/* devices */
cudaError_t CUDAAPI cudaGetDeviceCount(int *count);
cudaError_t CUDAAPI cudaGetDevice(int *device);
cudaError_t CUDAAPI cudaSetDevice(int device);
cudaError_t CUDAAPI cudaDeviceSynchronize(void);
cudaError_t CUDAAPI cudaDeviceReset(void);
cudaError_t CUDAAPI cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
cudaError_t CUDAAPI cudaSetValidDevices(int *device_arr, int len);
cudaError_t CUDAAPI cudaSetDeviceFlags(unsigned int flags);
cudaError_t CUDAAPI cudaGetDeviceFlags(unsigned int *flags);
cudaError_t CUDAAPI cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
cudaError_t CUDAAPI cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);
cudaError_t CUDAAPI cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
cudaError_t CUDAAPI cudaDeviceGetByPCIBusId(int *device, const char *pciBusId);
cudaError_t CUDAAPI cudaDeviceGetPCIBusId(char *pciBusId, int len, int device);

/* settings of the current device */
cudaError_t CUDAAPI cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t CUDAAPI cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit);
cudaError_t CUDAAPI cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig);
cudaError_t CUDAAPI cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig);
cudaError_t CUDAAPI cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
cudaError_t CUDAAPI cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig);
cudaError_t CUDAAPI cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);
cudaError_t CUDAAPI cudaCtxResetPersistingL2Cache(void);

/* peers */
cudaError_t CUDAAPI cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice);
cudaError_t CUDAAPI cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
cudaError_t CUDAAPI cudaDeviceDisablePeerAccess(int peerDevice);
cudaError_t CUDAAPI cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice);

/* the driver's functions */
cudaError_t CUDAAPI cudaGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                            enum cudaDriverEntryPointQueryResult *driverStatus);
cudaError_t CUDAAPI cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr, unsigned int cudaVersion,
                                                     unsigned long long flags, enum cudaDriverEntryPointQueryResult *driverStatus);
cudaError_t CUDAAPI cudaGetExportTable(const void **ppExportTable, const cudaUUID_t *pExportTableId);

/* profiling, and the driver's log */
cudaError_t CUDAAPI cudaProfilerStart(void);
cudaError_t CUDAAPI cudaProfilerStop(void);
#if CUDART_VERSION >= 13000
cudaError_t CUDAAPI cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void *userData, cudaLogsCallbackHandle *callback_out);
cudaError_t CUDAAPI cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback);
cudaError_t CUDAAPI cudaLogsCurrent(cudaLogIterator *iterator_out, unsigned int flags);
cudaError_t CUDAAPI cudaLogsDumpToFile(cudaLogIterator *iterator, const char *pathToFile, unsigned int flags);
cudaError_t CUDAAPI cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size, unsigned int flags);
#endif

/* names that CUDA 13 dropped */
#if CUDART_VERSION < 13000
cudaError_t CUDAAPI cudaThreadExit(void);
cudaError_t CUDAAPI cudaThreadSynchronize(void);
cudaError_t CUDAAPI cudaThreadSetLimit(enum cudaLimit limit, size_t value);
cudaError_t CUDAAPI cudaThreadGetLimit(size_t *pValue, enum cudaLimit limit);
cudaError_t CUDAAPI cudaThreadGetCacheConfig(enum cudaFuncCache *pCacheConfig);
cudaError_t CUDAAPI cudaThreadSetCacheConfig(enum cudaFuncCache cacheConfig);
cudaError_t CUDAAPI cudaSetDoubleForDevice(double *d);
cudaError_t CUDAAPI cudaSetDoubleForHost(double *d);
#endif
