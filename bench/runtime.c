/* SPDX-License-Identifier: Apache-2.0 */
/* runtime - the overhead of libcudart over the driver calls that it makes. Not a test.
 *
 *   bench-runtime [--runtime libcudart.so.13] [--driver libcuda.so.1] [--rounds N] [--result FILE]
 *
 * Times cudaMalloc beside cuMemAlloc, and so on, interleaved in one run, on one library of the driver's. See docs/bench.md. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/cuda_runtime_api.h"
#include "lib/aims.h"
#include "lib/subject.h"
#include "options.h"

enum { CALLS = 400, WARM = 100, BYTES = 256, PAIRS = 4 };

/* The timed functions of either library. */
struct functions {
    int (*allocate)(void **memory, size_t size);
    int (*free)(void *memory);
    int (*copy)(void *to, const void *from, size_t size);
    int (*launch)(void);
    int (*synchronise)(void);
};

static __typeof__(&cuMemAlloc) mem_alloc;
static __typeof__(&cuMemFree) mem_free;
static __typeof__(&cuMemcpyAsync) memcpy_async;
static __typeof__(&cuLaunchKernel) launch_kernel;
static __typeof__(&cuCtxSynchronize) ctx_synchronize;
static __typeof__(&cuLibraryLoadData) load_library;
static __typeof__(&cuLibraryGetKernel) get_kernel;
static __typeof__(&cudaMalloc) rt_malloc;
static __typeof__(&cudaFree) rt_free;
static __typeof__(&cudaMemcpyAsync) rt_memcpy_async;
static __typeof__(&cudaLaunchKernel) rt_launch_kernel;
static __typeof__(&cudaDeviceSynchronize) rt_synchronize;

static CUkernel kernel;
static void *place[CALLS];
static unsigned char bytes[BYTES];

static void need(int result, const char *what)
{
    if (!result)
        return;
    fprintf(stderr, "bench-runtime: %s says %d\n", what, result);
    exit(1);
}

static int cu_allocate(void **memory, size_t size)
{
    CUdeviceptr at = 0;
    CUresult result = mem_alloc(&at, size);
    *memory = (void *)(uintptr_t)at;
    return (int)result;
}

static int cu_free(void *memory)
{
    return (int)mem_free((CUdeviceptr)(uintptr_t)memory);
}

static int cu_copy(void *to, const void *from, size_t size)
{
    return (int)memcpy_async((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, size, NULL);
}

static int cu_launch(void)
{
    return (int)launch_kernel((CUfunction)(void *)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static int cu_synchronise(void)
{
    return (int)ctx_synchronize();
}

static int cuda_allocate(void **memory, size_t size)
{
    return (int)rt_malloc(memory, size);
}

static int cuda_free(void *memory)
{
    return (int)rt_free(memory);
}

static int cuda_copy(void *to, const void *from, size_t size)
{
    return (int)rt_memcpy_async(to, from, size, cudaMemcpyHostToDevice, NULL);
}

static int cuda_launch(void)
{
    const dim3 one = {.x = 1, .y = 1, .z = 1};
    return (int)rt_launch_kernel(kernel, one, one, NULL, 0, NULL);
}

static int cuda_synchronise(void)
{
    return (int)rt_synchronize();
}

static const struct functions of_driver = {cu_allocate, cu_free, cu_copy, cu_launch, cu_synchronise};
static const struct functions of_runtime = {cuda_allocate, cuda_free, cuda_copy, cuda_launch, cuda_synchronise};

static double allocations(void *state, unsigned units)
{
    const struct functions *of = state;
    double start = spent();
    for (unsigned i = 0; i < units; i++)
        need(of->allocate(&place[i], BYTES), "an allocation");
    double took = spent() - start;
    for (unsigned i = 0; i < units; i++)
        need(of->free(place[i]), "a free");
    return took;
}

static double frees(void *state, unsigned units)
{
    const struct functions *of = state;
    for (unsigned i = 0; i < units; i++)
        need(of->allocate(&place[i], BYTES), "an allocation");
    double start = spent();
    for (unsigned i = 0; i < units; i++)
        need(of->free(place[i]), "a free");
    return spent() - start;
}

static double copies(void *state, unsigned units)
{
    const struct functions *of = state;
    need(of->allocate(&place[0], BYTES), "an allocation");
    for (unsigned i = 0; i < WARM; i++)
        need(of->copy(place[0], bytes, BYTES), "a copy");
    need(of->synchronise(), "a wait");
    double start = spent();
    for (unsigned i = 0; i < units; i++)
        need(of->copy(place[0], bytes, BYTES), "a copy");
    double took = spent() - start;
    need(of->synchronise(), "a wait");
    need(of->free(place[0]), "a free");
    return took;
}

static double launches(void *state, unsigned units)
{
    const struct functions *of = state;
    for (unsigned i = 0; i < WARM; i++)
        need(of->launch(), "a launch");
    need(of->synchronise(), "a wait");
    double start = spent();
    for (unsigned i = 0; i < units; i++)
        need(of->launch(), "a launch");
    double took = spent() - start;
    need(of->synchronise(), "a wait");
    return took;
}

static void find(void *library, const char *name, void *to)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol) {
        fprintf(stderr, "bench-runtime: %s\n", dlerror());
        exit(1);
    }
    memcpy(to, &symbol, sizeof symbol);
}

#define TEXT(name) #name
#define SYMBOL(name) TEXT(name)

static void open_all(const char *driver, const char *runtime)
{
    static const char image[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing()\n{\nret;\n}\n";
    CUlibrary code;
    setenv("CUVMM_LIBCUDA", driver, 1);
    setenv("CUVMM_KERNELS", BENCH_KERNELS, 1);
    setenv("CUVMM_SIM", "sim:h100,schedule=late", 0); /* without threads that do the work alongside the calls */
    void *cu = dlopen(driver, RTLD_NOW | RTLD_LOCAL), *cuda = cu ? dlopen(runtime, RTLD_NOW | RTLD_LOCAL) : NULL;
    find(cuda, "cudaMalloc", &rt_malloc);
    find(cuda, "cudaFree", &rt_free);
    find(cuda, "cudaMemcpyAsync", &rt_memcpy_async);
    find(cuda, "cudaLaunchKernel", &rt_launch_kernel);
    find(cuda, "cudaDeviceSynchronize", &rt_synchronize);
    find(cu, SYMBOL(cuMemAlloc), &mem_alloc);
    find(cu, SYMBOL(cuMemFree), &mem_free);
    find(cu, "cuMemcpyAsync", &memcpy_async);
    find(cu, "cuLaunchKernel", &launch_kernel);
    find(cu, "cuCtxSynchronize", &ctx_synchronize);
    find(cu, "cuLibraryLoadData", &load_library);
    find(cu, "cuLibraryGetKernel", &get_kernel);
    need((int)rt_free(NULL), "cudaFree"); /* makes the context current */
    need((int)load_library(&code, image, NULL, NULL, 0, NULL, NULL, 0), "cuLibraryLoadData");
    need((int)get_kernel(&kernel, code, "nothing"), "cuLibraryGetKernel");
}

int main(int argc, char **argv)
{
    static struct functions of[2];
    static struct subject rows[2 * PAIRS] = {
        {.name = "cuMemAlloc", .batch = allocations},  {.name = "cudaMalloc", .batch = allocations},
        {.name = "cuMemFree", .batch = frees},         {.name = "cudaFree", .batch = frees},
        {.name = "cuMemcpyAsync", .batch = copies},    {.name = "cudaMemcpyAsync", .batch = copies},
        {.name = "cuLaunchKernel", .batch = launches}, {.name = "cudaLaunchKernel", .batch = launches},
    };
    uint64_t rounds = 31;
    const char *driver = BENCH_LIBCUDA, *runtime = BENCH_LIBCUDART, *result = NULL;
    static struct aims aims;
    const struct option_row options[] = {
        {"driver", OPTION_TEXT, &driver, 0, 0},
        {"runtime", OPTION_TEXT, &runtime, 0, 0},
        {"rounds", OPTION_NUMBER, &rounds, 1, SUBJECT_ROUNDS},
        {"result", OPTION_TEXT, &result, 0, 0},
    };
    if (!options_read(options, sizeof options / sizeof options[0], argc, argv, stderr) || !aims_open(&aims, result))
        return 2;
    of[0] = of_driver;
    of[1] = of_runtime;
    open_all(driver, runtime);
    for (size_t i = 0; i < 2 * PAIRS; i++) {
        rows[i].state = &of[i % 2];
        rows[i].units = CALLS;
    }
    subjects_run(rows, 2 * PAIRS, (unsigned)rounds);
    printf("medians of %u interleaved rounds of %d calls, of the thread's processor time\n", (unsigned)rounds, CALLS);
    for (size_t i = 0; i < 2 * PAIRS; i += 2) {
        const double under = subject_median(&rows[i], (unsigned)rounds), over = subject_median(&rows[i + 1], (unsigned)rounds);
        printf("  %-16s %8.0f ns   %-14s %8.0f ns   %4.0f ns more\n", rows[i + 1].name, over, rows[i].name, under, over - under);
    }
    puts("wanted");
    for (size_t i = 0; i < 2 * PAIRS; i += 2) {
        char name[RESULT_NAME];
        snprintf(name, sizeof name, "%s to %s", rows[i + 1].name, rows[i].name);
        aims_wanted(&aims, name, subject_median(&rows[i + 1], (unsigned)rounds) / subject_median(&rows[i], (unsigned)rounds), AIM_MOST, 1.5);
    }
    return !aims_close(&aims);
}
