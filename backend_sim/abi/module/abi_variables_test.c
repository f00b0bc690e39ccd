/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of plugins: found by name, in separate memory for each module, and for each library and context. */
#include <stdlib.h>

#include "testing/rig.h"

static CUmodule load(void)
{
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, "any image"));
    return module;
}

static uint32_t word_at(CUdeviceptr at)
{
    uint32_t word = 0;
    OK(cuMemcpyDtoH(&word, at, sizeof word));
    return word;
}

static void count_up(CUfunction f, CUdeviceptr to)
{
    void *params[] = {&to};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
}

static size_t free_memory(void)
{
    size_t left = 0, total;
    OK(cuMemGetInfo(&left, &total));
    return left;
}

static int attribute(CUpointer_attribute attribute, CUdeviceptr at)
{
    int value = 7;
    OK(cuPointerGetAttribute(&value, attribute, at));
    return value;
}

/* A variable is an allocation of its size, which only its module frees. */
static void test_memory(CUdeviceptr at, size_t size)
{
    CUdeviceptr base = 0;
    size_t range = 0;
    int ipc = 7;
    CUipcMemHandle handle;
    CUpointer_attribute asked = CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
    void *data = &ipc;
    OK(cuMemGetAddressRange(&base, &range, at + 3));
    EQUAL(base, at);
    EQUAL(range, size);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at), CU_MEMORYTYPE_DEVICE);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, at + size - 1), 0);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, at), 0);
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, at), 0);
    OK(cuPointerGetAttributes(1, &asked, &data, at));
    EQUAL(ipc, 0);
    IS(cuMemFree(at), ERROR_INVALID_VALUE);
    IS(cuIpcGetMemHandle(&handle, at), ERROR_INVALID_VALUE);
    IS(cuMemsetD8(at, 1, size + 1), ERROR_INVALID_VALUE);
    OK(cuMemsetD8(at, 1, size));
}

static void test_module(CUdeviceptr scratch)
{
    CUmodule first = load(), second = load();
    CUdeviceptr counter = 0, table = 0, other = 0, base = 0;
    CUfunction f = NULL;
    size_t size = 0;
    OK(cuModuleGetGlobal(&counter, &size, first, "counter"));
    EQUAL(size, 4);
    EQUAL(word_at(counter), 42);
    OK(cuModuleGetGlobal(&table, &size, first, "table"));
    EQUAL(size, 800);
    EQUAL(table % 8, 0);
    EQUAL(word_at(table + 796), 0);
    unsigned long long one = 0, other_one = 0;
    OK(cuPointerGetAttribute(&one, CU_POINTER_ATTRIBUTE_BUFFER_ID, table));
    OK(cuPointerGetAttribute(&other_one, CU_POINTER_ATTRIBUTE_BUFFER_ID, counter));
    tap_ok(one && other_one && one != other_one, "two variables are two buffers");
    OK(cuModuleGetGlobal(&base, NULL, first, "_ZL7counter"));
    EQUAL(base, counter);
    OK(cuModuleGetGlobal(NULL, &size, first, "flag"));
    EQUAL(size, 1);
    IS(cuModuleGetGlobal(NULL, NULL, first, "flag"), ERROR_INVALID_VALUE);
    IS(cuModuleGetGlobal(&base, &size, first, "count_up"), ERROR_INVALID_VALUE); /* a kernel */
    IS(cuModuleGetGlobal(&base, &size, first, ""), ERROR_INVALID_VALUE);
    IS(cuModuleGetGlobal(&base, &size, first, "absent"), ERROR_NOT_FOUND);
    EQUAL(base, 0);
    EQUAL(size, 0);
    OK(cuModuleGetFunction(&f, first, "count_up"));
    count_up(f, scratch);
    count_up(f, scratch);
    EQUAL(word_at(counter), 44);
    OK(cuMemcpyDtoH(&base, scratch, sizeof base));
    EQUAL(base, table);
    test_memory(table, 800);
    OK(cuModuleGetGlobal(&other, &size, second, "counter"));
    tap_ok(other != counter, "two modules have two counters");
    EQUAL(word_at(other), 42);
    OK(cuModuleUnload(first));
    tap_ok(cuMemsetD8(counter, 0, 1) != CUDA_SUCCESS, "the variables end with their module");
    EQUAL(word_at(other), 42);
    OK(cuModuleUnload(second));
}

/* A library's variables are made where they are first used: by a lookup or by a launch. */
static void test_library(CUcontext here, CUdeviceptr scratch)
{
    CUlibrary library = NULL;
    CUmodule module = NULL;
    CUkernel kernel = NULL;
    CUcontext there = NULL;
    CUdeviceptr counter = 0, again = 0, other = 0;
    size_t size = 0;
    void *function = NULL;
    OK(cuLibraryLoadData(&library, "any image", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "count_up"));
    IS(cuLibraryGetManaged(&counter, &size, library, "counter"), ERROR_NOT_FOUND);
    IS(cuLibraryGetManaged(&counter, &size, library, ""), ERROR_INVALID_VALUE);
    IS(cuLibraryGetManaged(NULL, NULL, library, "counter"), ERROR_INVALID_VALUE);
    IS(cuLibraryGetManaged(&counter, &size, (CUlibrary)&size, "counter"), ERROR_INVALID_HANDLE);
    IS(cuLibraryGetUnifiedFunction(&function, library, "count_up"), ERROR_INVALID_VALUE);
    IS(cuLibraryGetUnifiedFunction(NULL, library, "count_up"), ERROR_INVALID_VALUE);
    IS(cuLibraryGetUnifiedFunction(&function, NULL, "count_up"), ERROR_INVALID_HANDLE);
    count_up((CUfunction)kernel, scratch);
    OK(cuLibraryGetGlobal(&counter, &size, library, "counter"));
    EQUAL(size, 4);
    OK(cuLibraryGetModule(&module, library));
    tap_ok((void *)module != (void *)library, "the library's module has a separate handle");
    OK(cuModuleGetGlobal(&again, NULL, module, "counter"));
    EQUAL(again, counter);
    IS(cuModuleUnload(module), ERROR_NOT_PERMITTED);
    IS(cuModuleGetGlobal(&again, NULL, (CUmodule)library, "counter"), ERROR_INVALID_HANDLE);
    IS(cuLibraryGetGlobal(&again, NULL, (CUlibrary)module, "counter"), ERROR_INVALID_HANDLE);
    IS(cuLibraryGetGlobal(NULL, NULL, library, "counter"), ERROR_INVALID_VALUE);
    IS(cuLibraryGetGlobal(&again, NULL, NULL, "counter"), ERROR_INVALID_HANDLE);
    OK(cuCtxSetCurrent(NULL));
    IS(cuLibraryGetGlobal(&again, NULL, library, "counter"), ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(here));
    EQUAL(word_at(counter), 43);
    OK(cuCtxCreate(&there, NULL, 0, 0));
    OK(cuLibraryGetGlobal(&other, &size, library, "counter"));
    tap_ok(other != counter, "each context has its own counter");
    EQUAL(word_at(other), 42);
    OK(cuCtxDestroy(there));
    OK(cuCtxSetCurrent(here));
    OK(cuLibraryGetGlobal(&again, NULL, library, "counter"));
    EQUAL(again, counter);
    OK(cuLibraryUnload(library));
    tap_ok(cuMemsetD8(counter, 0, 1) != CUDA_SUCCESS, "the variables end with their library");
}

/* Variables end with their context, and other memory at their addresses can be freed. */
static void test_context_ends(CUcontext here)
{
    CUlibrary library = NULL;
    CUcontext there = NULL;
    CUdeviceptr counter = 0, again = 0, plain = 0;
    CUmodule module = NULL;
    OK(cuLibraryLoadData(&library, "any image", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuCtxCreate(&there, NULL, 0, 0));
    OK(cuLibraryGetGlobal(&counter, NULL, library, "counter"));
    module = load();
    OK(cuModuleGetGlobal(&again, NULL, module, "counter"));
    OK(cuCtxDestroy(there));
    OK(cuCtxSetCurrent(here));
    tap_ok(cuMemsetD8(counter, 0, 1) != CUDA_SUCCESS, "the variables end with their context");
    for (int i = 0; i < 12 && plain != counter; i++)
        OK(cuMemAlloc(&plain, 4));
    EQUAL(plain, counter); /* the addresses are given again */
    EQUAL(attribute(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, plain), 1);
    OK(cuLibraryUnload(library));
    OK(cuModuleUnload(module));
    OK(cuMemsetD8(plain, 0, 4));
    OK(cuMemFree(plain));
}

/* A primary context that begins again has new variables of a library. */
static void test_reset(void)
{
    CUlibrary library = NULL;
    CUcontext again = NULL;
    CUdeviceptr counter = 0, table = 0;
    OK(cuLibraryLoadData(&library, "any image", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetGlobal(&counter, NULL, library, "counter"));
    OK(cuMemsetD8(counter, 0, 4));
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuDevicePrimaryCtxRetain(&again, 0)); /* the same value, which is current */
    OK(cuLibraryGetGlobal(&counter, NULL, library, "counter"));
    EQUAL(word_at(counter), 42);
    OK(cuLibraryGetGlobal(&table, NULL, library, "table"));
    EQUAL(word_at(table), 0);
    OK(cuLibraryUnload(library));
}

int main(void)
{
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    CUcontext context = begin();
    CUdeviceptr scratch = 0;
    OK(cuMemAlloc(&scratch, 4096));
    size_t before = free_memory();
    test_module(scratch);
    EQUAL(free_memory(), before);
    test_library(context, scratch);
    EQUAL(free_memory(), before);
    OK(cuMemFree(scratch));
    test_context_ends(context);
    test_reset();
    return tap_done();
}
