/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - device.ptx, which nvcc made from device.cu, for tests of libcuda.so.1: as text, and as modules on a device. */
#ifndef SIM_ABI_TESTING_DEVICE_H
#define SIM_ABI_TESTING_DEVICE_H

#include "testing/rig.h"

static inline char *device_text(void)
{
    FILE *file = fopen("backend_sim/abi/testing/device.ptx", "r");
    char *text = calloc(1, 1 << 16);
    if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0)
        tap_bail("device.ptx cannot be read");
    fclose(file);
    return text;
}

static inline void use_device(int device)
{
    CUcontext context = NULL;
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
}

static inline CUfunction kernel_in(CUmodule module, const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static inline CUresult launch(CUfunction f, unsigned grid, unsigned block, unsigned shared, void **params)
{
    return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, NULL, params, NULL);
}

#endif
