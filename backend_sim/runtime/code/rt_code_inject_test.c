/* SPDX-License-Identifier: Apache-2.0 */
/* Memory runs out, or the driver refuses, while code is registered and used: only unregistered symbols are not found,
 * and managed variables are at the driver's addresses. The runtime's own objects are linked in, so that the functions
 * of the driver can be replaced. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "rt_code.h"
#include "rt_image.h"
#include "rt_table.h"
#include "testing/core_driver.h"
#include "testing/emitted.h"

enum { MANY = 300 };

static char stubs[MANY];

/* ---- the table ---- */

static void test_table(void)
{
    static struct rt_table table;
    int value = 0, missing = 0;
    tap_ok(!rt_table_get(&table, &value), "an empty table has nothing");
    rt_table_remove(&table, &value);
    inject_arm_at("calloc", 1);
    tap_ok(!rt_table_put(&table, &value, &value), "no memory for the first value");
    tap_ok(inject_disarm() != NULL, "it was asked for");
    int put = 0;
    while (put < 128 && rt_table_put(&table, &stubs[put], &stubs[put]))
        put++;
    EQUAL(put, 128);
    inject_arm_at("calloc", 1);
    tap_ok(!rt_table_put(&table, &value, &value), "no memory for a larger table");
    tap_ok(rt_table_put(&table, &stubs[5], &value), "a key that was there needs none");
    inject_disarm();
    tap_ok(rt_table_get(&table, &stubs[5]) == &value && !rt_table_get(&table, &value), "the table is unchanged");
    rt_table_remove(&table, &stubs[6]);
    tap_ok(!rt_table_get(&table, &stubs[6]), "a removed value is gone");
    for (int i = 0; i < MANY; i++)
        if (i != 6)
            missing += !rt_table_put(&table, &stubs[i], &stubs[i]);
    for (int i = 0; i < MANY; i++)
        missing += rt_table_get(&table, &stubs[i]) != (i == 6 ? NULL : &stubs[i]);
    EQUAL(missing, 0);
}

/* ---- registration ---- */

static void test_no_memory(void)
{
    const char *name = NULL;
    tap_note("a failed registration is reported:");
    inject_arm_at("calloc", 1);
    tap_ok(!__cudaRegisterFatBinary(&fat_binary), "no memory for an image");
    inject_disarm();
    void **image = __cudaRegisterFatBinary(&fat_binary);
    inject_arm_at("malloc", 1);
    register_function(image, &stubs[0], "nothing");
    tap_text(inject_disarm(), "malloc", "no memory for the first function");
    REFUSED(cudaFuncGetName(&name, &stubs[0]), ErrorInvalidResourceHandle);
    register_function(image, &stubs[0], "nothing");
    OK(cudaFuncGetName(&name, &stubs[0]));
    int registered = 1;
    const char *failed = NULL;
    while (registered < MANY && !failed) { /* until the table must grow */
        inject_arm_at("calloc", 1);
        register_function(image, &stubs[registered++], "nothing");
        failed = inject_disarm();
    }
    tap_text(failed, "calloc", "no memory for a larger table");
    REFUSED(cudaFuncGetName(&name, &stubs[registered - 1]), ErrorInvalidResourceHandle);
    OK(cudaFuncGetName(&name, &stubs[registered - 2]));
    __cudaUnregisterFatBinary(image);
    REFUSED(cudaFuncGetName(&name, &stubs[registered - 2]), ErrorInvalidResourceHandle);
}

/* Configurations beyond the first few are allocated. */
static void test_configurations(void)
{
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream;
    for (int i = 0; i < 8; i++)
        EQUAL(__cudaPushCallConfiguration(dim(1), dim(1), (size_t)i, NULL), 0);
    inject_arm_at("malloc", 1);
    EQUAL(__cudaPushCallConfiguration(dim(1), dim(1), 8, NULL), cudaErrorMemoryAllocation);
    inject_disarm();
    REFUSED(cudaPeekAtLastError(), ErrorMemoryAllocation);
    long live = atomic_load(&inject_live);
    EQUAL(__cudaPushCallConfiguration(dim(1), dim(1), 9, NULL), 0);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    EQUAL(shared, 9);
    EQUAL(atomic_load(&inject_live), live);
    for (int i = 8; i--;) {
        OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
        EQUAL(shared, i);
    }
}

/* ---- a driver with managed variables ---- */

static uint32_t managed_memory[2];
static CUresult managed_answer = CUDA_SUCCESS;

static CUresult get_managed(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    (void)library, (void)name;
    if (managed_answer != CUDA_SUCCESS)
        return managed_answer;
    *address = (CUdeviceptr)(uintptr_t)managed_memory;
    if (bytes)
        *bytes = sizeof managed_memory;
    return CUDA_SUCCESS;
}

static void test_managed(void)
{
    uint32_t *pointer = NULL;
    void *at = NULL;
    size_t size = 0;
    void **image = __cudaRegisterFatBinary(&fat_binary);
    register_function(image, &stubs[0], "nothing");
    __cudaRegisterManagedVar(image, (void **)(void *)&pointer, NULL, "pointer", 0, sizeof managed_memory, 0, 0);
    EQUAL(__cudaInitModule(image), 0); /* the simulator's driver knows no such variable */
    REFUSED(cudaPeekAtLastError(), ErrorInvalidSymbol);
    rt_driver.to_cuLibraryGetManaged[0] = get_managed;
    managed_answer = CUDA_ERROR_UNKNOWN;
    EQUAL(__cudaInitModule(image), 0);
    REFUSED(cudaPeekAtLastError(), ErrorUnknown);
    tap_ok(!pointer, "no address was written");
    managed_answer = CUDA_SUCCESS;
    EQUAL(__cudaInitModule(image), 1);
    tap_ok(pointer == managed_memory, "the compiler's pointer leads to the variable");
    OK(cudaGetSymbolAddress(&at, pointer)); /* a compiler passes the variable's own address */
    tap_ok(at == managed_memory, "and so does the symbol");
    OK(cudaGetSymbolSize(&size, pointer));
    EQUAL(size, sizeof managed_memory);
    __cudaUnregisterFatBinary(image);
    REFUSED(cudaGetSymbolSize(&size, managed_memory), ErrorInvalidSymbol);
}

/* The table cannot take the address of a managed variable. */
static void test_managed_no_memory(void)
{
    static char variables[MANY];
    static uint32_t *pointer;
    void **image = __cudaRegisterFatBinary(&fat_binary);
    for (int i = 0; i < 126; i++) /* with the pointer's own symbol, the last that fits into the first table */
        register_variable(image, &variables[i], "counter", 4);
    __cudaRegisterManagedVar(image, (void **)(void *)&pointer, NULL, "pointer", 0, sizeof managed_memory, 0, 0);
    inject_arm_at("calloc", 1);
    char all = __cudaInitModule(image);
    const char *failed = inject_disarm();
    tap_ok(failed ? !all : all, "without memory the image is not ready");
    __cudaUnregisterFatBinary(image);
    (void)cudaGetLastError();
}

/* ---- a driver that refuses ---- */

static CUresult refuse_load(CUlibrary *library, const void *code, CUjit_option *options, void **values, unsigned count,
                            CUlibraryOption *more, void **more_values, unsigned more_count)
{
    (void)library, (void)code, (void)options, (void)values, (void)count, (void)more, (void)more_values, (void)more_count;
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static void test_no_binary(void)
{
    __typeof__(rt_driver.to_cuLibraryLoadData[0]) load = rt_driver.to_cuLibraryLoadData[0];
    cudaKernel_t kernel = NULL;
    void **image = __cudaRegisterFatBinary(&fat_binary);
    void *at = NULL;
    register_function(image, &stubs[0], "nothing");
    register_variable(image, &stubs[1], "counter", 4);
    __cudaRegisterManagedVar(image, (void **)(void *)&at, NULL, "pointer", 0, 4, 0, 0);
    rt_driver.to_cuLibraryLoadData[0] = refuse_load;
    REFUSED(cudaLaunchKernel(&stubs[0], dim(1), dim(1), NULL, 0, NULL), ErrorNoKernelImageForDevice);
    REFUSED(cudaGetSymbolAddress(&at, &stubs[1]), ErrorNoKernelImageForDevice);
    EQUAL(__cudaInitModule(image), 0);
    REFUSED(cudaPeekAtLastError(), ErrorNoKernelImageForDevice);
    REFUSED(__cudaGetKernel(&kernel, &stubs[0]), ErrorNoKernelImageForDevice);
    rt_driver.to_cuLibraryLoadData[0] = load;
    OK(__cudaLaunchKernel(kernel, dim(1), dim(1), NULL, 0, NULL)); /* the stub's handle still leads to the function */
    OK(cudaDeviceSynchronize());
    __cudaUnregisterFatBinary(image);
}

/* Linked device code is passed to the driver with the list of its parts. */
static const void *loaded_code;
static CUlibrary given_library = (CUlibrary)(void *)&loaded_code;
static CUresult note_load(CUlibrary *library, const void *code, CUjit_option *options, void **values, unsigned count,
                          CUlibraryOption *more, void **more_values, unsigned more_count)
{
    (void)options, (void)values, (void)count, (void)more_values;
    tap_ok(more_count == 1 && more[0] == CU_LIBRARY_BINARY_IS_PRESERVED, "the driver needs no copy");
    loaded_code = code;
    *library = given_library;
    return CUDA_ERROR_UNKNOWN;
}

static void test_versions(void)
{
    static struct fat_binary_wrapper linked = {0x466243b1, 2, no_entries, NULL};
    __typeof__(rt_driver.to_cuLibraryLoadData[0]) load = rt_driver.to_cuLibraryLoadData[0];
    rt_driver.to_cuLibraryLoadData[0] = note_load;
    void **first = __cudaRegisterFatBinary(&fat_binary), **second = __cudaRegisterFatBinary(&linked);
    register_function(first, &stubs[0], "nothing");
    register_function(second, &stubs[1], "nothing");
    REFUSED(cudaLaunchKernel(&stubs[0], dim(1), dim(1), NULL, 0, NULL), ErrorUnknown);
    tap_ok(loaded_code == no_entries, "a fat binary is loaded unchanged");
    REFUSED(cudaLaunchKernel(&stubs[1], dim(1), dim(1), NULL, 0, NULL), ErrorUnknown);
    tap_ok(loaded_code == &linked, "linked code is loaded through its wrapper");
    rt_driver.to_cuLibraryLoadData[0] = load;
    __cudaUnregisterFatBinary(first);
    __cudaUnregisterFatBinary(second);
}

/* ---- from a handle back to the stub ---- */

static void test_host_of(void)
{
    cudaKernel_t kernel = NULL;
    cudaFunction_t function = NULL;
    void **image = __cudaRegisterFatBinary(&fat_binary);
    register_function(image, &stubs[7], "nothing");
    OK(cudaGetKernel(&kernel, &stubs[7]));
    OK(cudaGetFuncBySymbol(&function, &stubs[7]));
    tap_ok(rt_host_of(kernel) == &stubs[7] && rt_host_of(function) == &stubs[7], "handles lead back to the host's address");
    tap_ok(rt_host_of(&stubs[8]) == &stubs[8] && !rt_host_of(NULL), "others are what they are");
    __cudaUnregisterFatBinary(image);
    tap_ok(rt_host_of(kernel) == kernel, "an unloaded image is not found");
}

/* ---- an older driver, without any of the functions ---- */

#define NEWER(call) REFUSED(call, ErrorCallRequiresNewerDriver)

static void ask_about(const void *code)
{
    struct cudaFuncAttributes attributes;
    cudaFunction_t function = NULL;
    cudaKernel_t kernel = NULL;
    const cudaLaunchConfig_t config = {.gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}};
    const char *name = NULL;
    size_t size = 0;
    int count = 0;
    NEWER(cudaLaunchKernel(code, dim(1), dim(1), NULL, 0, NULL));
    NEWER(cudaLaunchCooperativeKernel(code, dim(1), dim(1), NULL, 0, NULL));
    NEWER(cudaLaunchKernelExC(&config, code, NULL));
    NEWER(cudaGetKernel(&kernel, code));
    NEWER(cudaFuncGetName(&name, code));
    NEWER(cudaGetFuncBySymbol(&function, code));
    NEWER(cudaFuncGetParamInfo(code, 0, &size, &size));
    NEWER(cudaFuncGetAttributes(&attributes, code));
    NEWER(cudaFuncSetAttribute(code, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    NEWER(cudaKernelSetAttributeForDevice((cudaKernel_t)(uintptr_t)code, cudaFuncAttributeMaxDynamicSharedMemorySize, 1, 0));
    NEWER(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, code, 32, 0));
    NEWER(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, code, 32, 0, 0));
    NEWER(cudaOccupancyAvailableDynamicSMemPerBlock(&size, code, 1, 32));
    NEWER(cudaOccupancyMaxPotentialClusterSize(&count, code, &config));
    NEWER(cudaOccupancyMaxActiveClusters(&count, code, &config));
}

static void ask_about_libraries(void)
{
    cudaLibrary_t library = NULL;
    cudaKernel_t kernel = NULL;
    void *at = NULL;
    unsigned count = 0;
    size_t size = 0;
    NEWER(cudaLibraryLoadData(&library, no_entries, NULL, NULL, 0, NULL, NULL, 0));
    NEWER(cudaLibraryLoadFromFile(&library, "file", NULL, NULL, 0, NULL, NULL, 0));
    NEWER(cudaLibraryUnload(library));
    NEWER(cudaLibraryGetKernel(&kernel, library, "nothing"));
    NEWER(cudaLibraryGetKernelCount(&count, library));
    NEWER(cudaLibraryEnumerateKernels(&kernel, 1, library));
    NEWER(cudaLibraryGetGlobal(&at, &size, library, "counter"));
    NEWER(cudaLibraryGetManaged(&at, &size, library, "counter"));
    NEWER(cudaLibraryGetUnifiedFunction(&at, library, "nothing"));
}

/* Calls that need a function or an address first: both are found while the driver is complete. */
static void ask_about_parts(const struct rt_driver *whole, const void *function, const void *variable)
{
    struct cudaFuncAttributes attributes;
    uint32_t value = 0;
    size_t size = 0;
    memcpy(rt_driver.to_cuKernelGetFunction, whole->to_cuKernelGetFunction, sizeof rt_driver.to_cuKernelGetFunction);
    NEWER(cudaFuncGetAttributes(&attributes, function));
    NEWER(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    NEWER(cudaFuncSetCacheConfig(function, cudaFuncCachePreferL1));
    NEWER(cudaFuncSetSharedMemConfig(function, cudaSharedMemBankSizeDefault));
    NEWER(cudaGetSymbolSize(&size, variable));
    NEWER(cudaGetSymbolSize(&size, managed_memory));
    memcpy(rt_driver.to_cuLibraryGetGlobal, whole->to_cuLibraryGetGlobal, sizeof rt_driver.to_cuLibraryGetGlobal);
    NEWER(cudaMemcpyToSymbol(variable, &value, 4, 0, cudaMemcpyDefault));
    NEWER(cudaMemcpyFromSymbol(&value, variable, 4, 0, cudaMemcpyDefault));
    NEWER(cudaMemcpyToSymbolAsync(variable, &value, 4, 0, cudaMemcpyDefault, NULL));
    NEWER(cudaMemcpyFromSymbolAsync(&value, variable, 4, 0, cudaMemcpyDefault, NULL));
}

static void test_old_driver(void)
{
    const struct rt_driver whole = rt_driver;
    uint32_t *pointer = NULL;
    const char *name = NULL;
    void **image = __cudaRegisterFatBinary(&fat_binary), **later = __cudaRegisterFatBinary(&fat_binary);
    register_function(image, &stubs[0], "nothing");
    register_variable(image, &stubs[1], "counter", 4);
    __cudaRegisterManagedVar(image, (void **)(void *)&pointer, NULL, "pointer", 0, 4, 0, 0);
    register_function(later, &stubs[2], "nothing");
    OK(cudaFuncGetName(&name, &stubs[0]));
    EQUAL(__cudaInitModule(image), 1);
    keep_core(&whole);
    ask_about(&stubs[0]);
    ask_about_libraries();
    NEWER(cudaFuncGetName(&name, &stubs[2])); /* its image cannot be loaded */
    rt_driver.to_cuLibraryLoadData[0] = whole.to_cuLibraryLoadData[0];
    NEWER(cudaFuncGetName(&name, &stubs[2])); /* its kernel cannot be found */
    EQUAL(__cudaInitModule(image), 0);
    REFUSED(cudaPeekAtLastError(), ErrorCallRequiresNewerDriver);
    ask_about_parts(&whole, &stubs[0], &stubs[1]);
    rt_driver = whole;
    __cudaUnregisterFatBinary(image);
    rt_driver.to_cuLibraryUnload[0] = NULL;
    __cudaUnregisterFatBinary(later); /* the driver keeps the library, because it cannot unload one */
    rt_driver = whole;
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    test_table();
    test_no_memory();
    test_configurations();
    test_host_of();
    test_no_binary();
    test_versions();
    test_managed();
    test_managed_no_memory();
    test_old_driver();
    return tap_done();
}
