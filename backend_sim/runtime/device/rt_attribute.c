/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a device, and settings of its context. Attributes, limits and configurations have the driver's numbers. */
#include "rt.h"

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    RT_ANYWHERE(DRIVER(cuDeviceGetAttribute, value, (CUdevice_attribute)attr, device));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    RT_ANYWHERE(DRIVER(cuDeviceGetByPCIBusId, device, pciBusId));
}

cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    RT_ANYWHERE(DRIVER(cuDeviceGetPCIBusId, pciBusId, len, device));
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    RT(DRIVER(cuCtxSetLimit, (CUlimit)limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    RT(DRIVER(cuCtxGetLimit, pValue, (CUlimit)limit));
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    RT(DRIVER(cuCtxSetCacheConfig, (CUfunc_cache)cacheConfig));
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    RT(DRIVER(cuCtxGetCacheConfig, (CUfunc_cache *)(void *)pCacheConfig));
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    RT(DRIVER(cuCtxSetSharedMemConfig, (CUsharedconfig)config));
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    RT(DRIVER(cuCtxGetSharedMemConfig, (CUsharedconfig *)(void *)pConfig));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    RT(DRIVER(cuCtxGetStreamPriorityRange, leastPriority, greatestPriority));
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    RT(DRIVER(cuCtxResetPersistingL2Cache, ));
}
