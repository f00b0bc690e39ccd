/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables of PTX: host and kernels reach them, all contexts of a library share them, and they end with what holds
 * them. */
#include "testing/device.h"
#include "testing/managed.h"

static int attribute(CUpointer_attribute attribute, CUdeviceptr at)
{
    int value = 7;
    OK(cuPointerGetAttribute(&value, attribute, at));
    return value;
}

static const int *host_sees(CUdeviceptr at)
{
    return (const int *)(uintptr_t)at;
}

static void add(CUfunction f, int by)
{
    void *params[] = {&by};
    OK(launch(f, 1, 1, 0, params));
    OK(cuCtxSynchronize());
}

static void test_module(void)
{
    CUmodule module = NULL, other = NULL;
    CUdeviceptr total = 0, list = 0, word = 0, other_total = 0, base = 0;
    size_t size = 0;
    OK(cuModuleLoadData(&module, managed_text));
    OK(cuModuleGetGlobal(&total, &size, module, "total"));
    EQUAL(size, 4);
    EQUAL(*host_sees(total), 5);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, total), 1);
    OK(cuMemGetAddressRange(&base, &size, total));
    EQUAL(base, total);
    EQUAL(size, 4);
    OK(cuModuleGetGlobal(&list, &size, module, "list"));
    EQUAL(size, 64);
    OK(cuModuleGetGlobal(&word, NULL, module, "word"));
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, word), 0);
    add(kernel_in(module, "add"), 3);
    EQUAL(*host_sees(total), 8);
    EQUAL(host_sees(list)[15], 3);
    *(int *)(uintptr_t)total = 100;
    add(kernel_in(module, "add"), 1);
    EQUAL(*host_sees(total), 101);
    IS(cuMemFree(total), ERROR_INVALID_VALUE);
    OK(cuModuleLoadData(&other, managed_text));
    OK(cuModuleGetGlobal(&other_total, NULL, other, "total"));
    tap_ok(other_total != total && *host_sees(other_total) == 5, "each module has its own");
    OK(cuModuleUnload(other));
    OK(cuModuleUnload(module));
    IS(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_IS_MANAGED, total), ERROR_INVALID_VALUE);
}

/* A library's copy is shared by all contexts. */
static void test_library(CUcontext here)
{
    CUlibrary library = NULL;
    CUcontext there = NULL;
    CUkernel kernel = NULL;
    CUdeviceptr total = 0, again = 0, word = 0, other_word = 0;
    size_t size = 0;
    OK(cuLibraryLoadData(&library, managed_text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuCtxSetCurrent(NULL));
    OK(cuLibraryGetManaged(&total, &size, library, "total"));
    EQUAL(size, 4);
    IS(cuLibraryGetManaged(&again, &size, library, "word"), ERROR_NOT_FOUND);
    IS(cuLibraryGetManaged(&again, &size, library, "absent"), ERROR_NOT_FOUND);
    OK(cuLibraryGetManaged(NULL, &size, library, "list"));
    EQUAL(size, 64);
    OK(cuCtxSetCurrent(here));
    OK(cuLibraryGetKernel(&kernel, library, "add"));
    add((CUfunction)kernel, 1);
    OK(cuLibraryGetGlobal(&word, NULL, library, "word"));
    OK(cuDevicePrimaryCtxRetain(&there, 1));
    OK(cuCtxSetCurrent(there));
    OK(cuLibraryGetGlobal(&again, NULL, library, "total"));
    EQUAL(again, total);
    OK(cuLibraryGetGlobal(&other_word, NULL, library, "word"));
    tap_ok(other_word != word, "an ordinary variable exists once per context");
    add((CUfunction)kernel, 1);
    EQUAL(*host_sees(total), 7);
    OK(cuLibraryUnload(library));
    OK(cuCtxSetCurrent(here));
    OK(cuDevicePrimaryCtxRelease(1));
}

/* It ends with the context in which it was created, and is then created anew. */
static void test_context(CUcontext here)
{
    CUlibrary library = NULL;
    CUcontext own = NULL;
    CUdeviceptr total = 0;
    OK(cuLibraryLoadData(&library, managed_text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuCtxCreate(&own, NULL, 0, 0));
    OK(cuLibraryGetManaged(&total, NULL, library, "total"));
    *(int *)(uintptr_t)total = 9;
    OK(cuCtxDestroy(own));
    OK(cuCtxSetCurrent(here));
    OK(cuLibraryGetManaged(&total, NULL, library, "total"));
    EQUAL(*host_sees(total), 5);
    OK(cuLibraryUnload(library));
    OK(cuLibraryLoadData(&library, managed_text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuCtxSetCurrent(NULL));
    OK(cuDevicePrimaryCtxRelease(0));
    IS(cuLibraryGetManaged(&total, NULL, library, "total"), ERROR_INVALID_CONTEXT);
    OK(cuLibraryUnload(library));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    CUcontext here = begin();
    test_module();
    test_library(here);
    test_context(here);
    return tap_done();
}
