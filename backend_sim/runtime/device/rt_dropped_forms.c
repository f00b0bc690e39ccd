/* SPDX-License-Identifier: Apache-2.0 */
/* Names that CUDA 13 dropped: cudaThread... are older names of the device functions, and doubles need no conversion. */
#include "rt.h"

#if CUDART_VERSION < 13000

cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

cudaError_t cudaThreadGetLimit(size_t *pValue, enum cudaLimit limit)
{
    return cudaDeviceGetLimit(pValue, limit);
}

cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    return cudaDeviceGetCacheConfig(pCacheConfig);
}

cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    return cudaDeviceSetCacheConfig(cacheConfig);
}

cudaError_t cudaSetDoubleForDevice(double *d)
{
    RT(d ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaSetDoubleForHost(double *d)
{
    RT(d ? cudaSuccess : cudaErrorInvalidValue);
}

#else

typedef int rt_nothing_was_dropped_before; /* a source is not empty */

#endif
