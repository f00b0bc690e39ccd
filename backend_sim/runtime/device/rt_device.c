/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: how many, which one is the thread's, and what waits for all of its work. */
#include "rt.h"

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return rt_leave(cudaErrorInvalidValue);
    *driverVersion = 0; /* also where there is no driver */
    return rt_driver_load() ? rt_leave(DRIVER(cuDriverGetVersion, driverVersion)) : cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    RT_ANYWHERE(count ? DRIVER(cuDeviceGetCount, count) : cudaErrorInvalidValue);
}

cudaError_t cudaGetDevice(int *device)
{
    RT_ANYWHERE(device ? rt_device(device) : cudaErrorInvalidValue);
}

cudaError_t cudaSetDevice(int device)
{
    RT_ANYWHERE(rt_set_device(device));
}

cudaError_t cudaDeviceSynchronize(void)
{
    RT(DRIVER(cuCtxSynchronize, ));
}

cudaError_t cudaDeviceReset(void)
{
    RT_ANYWHERE(rt_reset_device());
}
