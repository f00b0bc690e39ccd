/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: their number, a thread's device, its flags, and waits for all of its work. */
#include "rt.h"

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return rt_leave(cudaErrorInvalidValue);
    *driverVersion = 0; /* also without a driver */
    return rt_driver_load() ? rt_leave(DRIVER_CORE(cuDriverGetVersion, driverVersion)) : cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    RT_ANYWHERE(count ? DRIVER_CORE(cuDeviceGetCount, count) : cudaErrorInvalidValue);
}

cudaError_t cudaGetDevice(int *device)
{
    RT_ANYWHERE(device ? rt_device(device) : cudaErrorInvalidValue);
}

cudaError_t cudaSetDevice(int device)
{
    RT_ANYWHERE(rt_set_device(device));
}

cudaError_t cudaSetValidDevices(int *device_arr, int len)
{
    RT_ANYWHERE(rt_set_valid_devices(device_arr, len));
}

cudaError_t cudaDeviceSynchronize(void)
{
    RT(DRIVER(cuCtxSynchronize, ));
}

cudaError_t cudaDeviceReset(void)
{
    RT_ANYWHERE(rt_reset_device());
}

/* The driver refuses cudaDeviceMapHost, which is always on in the runtime's contexts. */
static cudaError_t set_flags(int device, unsigned flags)
{
    return DRIVER(cuDevicePrimaryCtxSetFlags, device, flags & ~(unsigned)cudaDeviceMapHost);
}

static cudaError_t set_current_flags(unsigned flags)
{
    int device = 0;
    cudaError_t result = rt_device(&device);
    if (result == cudaSuccess)
        result = set_flags(device, flags);
    return result == cudaSuccess ? rt_enter_context() : result;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    RT_ANYWHERE(set_current_flags(flags));
}

/* Without a context, the flags that its device's context will have. */
static cudaError_t get_flags(unsigned *flags)
{
    CUcontext current = NULL;
    int device = 0, active;
    cudaError_t result = DRIVER_CORE(cuCtxGetCurrent, &current);
    if (result == cudaSuccess && current)
        return DRIVER(cuCtxGetFlags, flags);
    if (result == cudaSuccess)
        result = rt_device(&device);
    if (result == cudaSuccess)
        result = DRIVER_CORE(cuDevicePrimaryCtxGetState, device, flags, &active);
    if (result == cudaSuccess)
        *flags |= cudaDeviceMapHost;
    return result;
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    RT_ANYWHERE(flags ? get_flags(flags) : cudaErrorInvalidValue);
}

static cudaError_t init_device(int device, unsigned device_flags, unsigned flags)
{
    CUcontext context;
    cudaError_t result = flags & cudaInitDeviceFlagsAreValid ? set_flags(device, device_flags) : cudaSuccess;
    return result == cudaSuccess ? rt_primary_context(device, &context) : result;
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    RT_ANYWHERE(init_device(device, deviceFlags, flags));
}

cudaError_t cudaProfilerStart(void)
{
    RT(DRIVER(cuProfilerStart, ));
}

cudaError_t cudaProfilerStop(void)
{
    RT(DRIVER(cuProfilerStop, ));
}
