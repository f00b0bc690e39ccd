/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - the driver's functions that the recording program calls, found at run time. */
#ifndef PTX_DEVICE_DRIVER_H
#define PTX_DEVICE_DRIVER_H

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define DRIVER_FUNCTIONS(F)                                                                                                      \
    F(cuInit) F(cuDriverGetVersion) F(cuDeviceGet) F(cuDeviceGetName) F(cuDeviceGetAttribute) F(cuDevicePrimaryCtxRetain)         \
    F(cuCtxSetCurrent) F(cuCtxSynchronize) F(cuCtxSetLimit) F(cuModuleLoadDataEx) F(cuModuleUnload) F(cuModuleGetFunction)        \
    F(cuModuleGetGlobal_v2) F(cuFuncGetAttribute) F(cuFuncSetAttribute) F(cuLaunchKernel) F(cuMemAlloc_v2) F(cuMemFree_v2)        \
    F(cuMemcpyHtoD_v2) F(cuMemcpyDtoH_v2) F(cuMemsetD8_v2)                                                                              \
    F(cuLinkCreate_v2) F(cuLinkAddData_v2) F(cuLinkComplete) F(cuLinkDestroy)

/* One table for the program, which main.c defines. */
#ifdef DRIVER_DEFINE
#define DRIVER_DECLARE(name) __typeof__(&name) d_##name;
#else
#define DRIVER_DECLARE(name) extern __typeof__(&name) d_##name;
#endif
DRIVER_FUNCTIONS(DRIVER_DECLARE)

/* False: there is no driver. */
__attribute__((unused)) static int driver_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
#define DRIVER_FIND(name)                                           \
    *(void **)&d_##name = dlsym(library, #name);                    \
    if (!d_##name) {                                                \
        fprintf(stderr, "the driver has no " #name "\n");           \
        return 0;                                                   \
    }
    DRIVER_FUNCTIONS(DRIVER_FIND)
    return 1;
}

/* With a context on device 0. */
__attribute__((unused)) static void driver_begin(void)
{
    CUdevice device;
    CUcontext context;
    CUresult result = d_cuInit(0);
    if (result == CUDA_SUCCESS)
        result = d_cuDeviceGet(&device, 0);
    if (result == CUDA_SUCCESS)
        result = d_cuDevicePrimaryCtxRetain(&context, device);
    if (result == CUDA_SUCCESS)
        result = d_cuCtxSetCurrent(context);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "the driver answers %d: no device\n", (int)result);
        exit(1);
    }
}

/* 0, or the driver's answer; log gets what the compiler said. */
__attribute__((unused)) static CUresult driver_load(const char *text, CUmodule *module, char *log, unsigned size)
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(size_t)size};
    log[0] = '\0';
    return d_cuModuleLoadDataEx(module, text, 2, options, values);
}

#endif
