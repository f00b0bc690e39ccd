/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of device code that a program loads explicitly: the driver's libraries with the runtime's types. */
#include "rt_code.h"

/* Options have the same numbers and values as the driver's. */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jitOptions,
                                void **jitOptionsValues, unsigned int numJitOptions, enum cudaLibraryOption *libraryOptions,
                                void **libraryOptionValues, unsigned int numLibraryOptions)
{
    RT(DRIVER(cuLibraryLoadData, library, code, (CUjit_option *)(void *)jitOptions, jitOptionsValues, numJitOptions,
              (CUlibraryOption *)(void *)libraryOptions, libraryOptionValues, numLibraryOptions));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, enum cudaJitOption *jitOptions,
                                    void **jitOptionsValues, unsigned int numJitOptions,
                                    enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
                                    unsigned int numLibraryOptions)
{
    RT(DRIVER(cuLibraryLoadFromFile, library, fileName, (CUjit_option *)(void *)jitOptions, jitOptionsValues, numJitOptions,
              (CUlibraryOption *)(void *)libraryOptions, libraryOptionValues, numLibraryOptions));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    RT(DRIVER(cuLibraryUnload, library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name)
{
    RT(DRIVER(cuLibraryGetKernel, pKernel, library, name));
}

static cudaError_t variable(void **address, size_t *bytes, cudaLibrary_t library, const char *name, bool managed)
{
    CUdeviceptr at = 0, *to = address ? &at : NULL;
    cudaError_t result = managed ? DRIVER(cuLibraryGetManaged, to, bytes, library, name)
                                 : DRIVER(cuLibraryGetGlobal, to, bytes, library, name);
    if (result == cudaSuccess && address)
        *address = (void *)(uintptr_t)at;
    return result;
}

cudaError_t cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    RT(variable(dptr, bytes, library, name, false));
}

cudaError_t cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    RT(variable(dptr, bytes, library, name, true));
}

cudaError_t cudaLibraryGetUnifiedFunction(void **fptr, cudaLibrary_t library, const char *symbol)
{
    RT(DRIVER(cuLibraryGetUnifiedFunction, fptr, library, symbol));
}

cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib)
{
    RT(DRIVER(cuLibraryGetKernelCount, count, lib));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, cudaLibrary_t lib)
{
    RT(DRIVER(cuLibraryEnumerateKernels, kernels, numKernels, lib));
}
