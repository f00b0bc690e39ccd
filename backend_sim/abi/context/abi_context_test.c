/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts through libcuda.so.1: the stack, the forms of creation, primary contexts, settings. */
#include "testing/rig.h"

static CUcontext current(void)
{
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    return context;
}

#define CURRENT(want) tap_ok(current() == (want), "%s is current", #want)

static void test_stack(void)
{
    CUcontext a = NULL, b = NULL, c = NULL, popped = NULL;
    OK(cuCtxCreate(&a, NULL, 0, 0));
    OK(cuCtxCreate(&b, NULL, 0, 0));
    OK(cuCtxPopCurrent(&popped));
    tap_ok(popped == b, "the context pushed last is popped first");
    CURRENT(a);
    OK(cuCtxPushCurrent(b));
    CURRENT(b);
    OK(cuCtxPushCurrent(a));
    OK(cuCtxPushCurrent(a));
    OK(cuCtxPopCurrent(NULL));
    CURRENT(a);
    OK(cuCtxPopCurrent(&popped));
    CURRENT(b);
    OK(cuCtxCreate(&c, NULL, 0, 0)); /* a b c: b was pushed */
    OK(cuCtxDestroy(c));
    CURRENT(b);
    OK(cuCtxDestroy(b));
    CURRENT(a);
    OK(cuCtxPopCurrent(&popped));
    tap_ok(popped == a && !current(), "no context is left");
    IS(cuCtxPopCurrent(&popped), ERROR_INVALID_CONTEXT);
    IS(cuCtxPushCurrent(NULL), ERROR_INVALID_VALUE);
    IS(cuCtxPushCurrent((CUcontext)(uintptr_t)0xdead0), ERROR_INVALID_CONTEXT);
    OK(cuCtxPushCurrent(a));
    CURRENT(a);
    OK(cuCtxSetCurrent(NULL));
    tap_ok(!current(), "no context is current");
    OK(cuCtxSetCurrent(a));
    OK(cuCtxDestroy(a));
    tap_ok(!current(), "a destroyed context is not current");
}

static void test_pushed_in_vain(void)
{
    CUcontext a = NULL, primary = NULL;
    OK(cuCtxCreate(&a, NULL, 0, 0));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxPushCurrent(primary));
    IS(cuCtxDestroy(primary), ERROR_INVALID_CONTEXT);
    CURRENT(primary);
    OK(cuCtxPopCurrent(NULL));
    CURRENT(a);
    int pushed = 0;
    while (pushed < 1000 && cuCtxPushCurrent(primary) == CUDA_SUCCESS)
        pushed++;
    tap_ok(pushed > 100 && pushed < 1000, "a stack holds %d contexts", pushed);
    while (pushed-- > 0)
        cuCtxPopCurrent(NULL);
    CURRENT(a);
    OK(cuCtxDestroy(a));
    OK(cuDevicePrimaryCtxRelease(0));
}

/* Creates more contexts than the stack tracks; each is destroyed, the newest first. */
static void test_many(void)
{
    enum { MANY = 140 };
    CUcontext made[MANY] = {NULL};
    int good = 0;
    for (int i = 0; i < MANY; i++)
        good += cuCtxCreate(&made[i], NULL, 0, 0) == CUDA_SUCCESS && current() == made[i];
    tap_u64((uint64_t)good, MANY, "each new context is current");
    good = 0;
    for (int i = MANY; i-- > 0;)
        good += current() == made[i] && cuCtxDestroy(made[i]) == CUDA_SUCCESS;
    tap_u64((uint64_t)good, MANY, "after each destruction the previous context is current");
    tap_ok(!current(), "at the end no context is current");
}

/* A primary context cannot be destroyed, and stays current. */
static void test_not_destroyed(void)
{
    CUcontext primary = NULL;
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
    IS(cuCtxDestroy(primary), ERROR_INVALID_CONTEXT);
    CURRENT(primary);
    OK(cuCtxSetCurrent(NULL));
    OK(cuDevicePrimaryCtxRelease(0));
}

static void test_forms(void)
{
    CUcontext context = NULL;
    unsigned version = 0, flags = 77;
    CUexecAffinityParam part = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 8};
    CUctxCreateParams params = {.execAffinityParams = &part, .numExecAffinityParams = 1};
    OK(cuCtxCreate_v2(&context, CU_CTX_SCHED_SPIN, 0));
    OK(cuCtxGetApiVersion(context, &version));
    EQUAL(version, 3020);
    OK(cuCtxGetFlags(&flags));
    EQUAL(flags, CU_CTX_SCHED_SPIN);
    OK(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
    OK(cuCtxGetFlags(&flags));
    EQUAL(flags, CU_CTX_SCHED_YIELD);
    IS(cuCtxSetFlags(0x10000), ERROR_INVALID_VALUE);
    OK(cuCtxDestroy(context));
    OK(cuCtxCreate_v3(&context, NULL, 0, 0, 0));
    OK(cuCtxDestroy(context));
    IS(cuCtxCreate_v3(&context, &part, 1, 0, 0), ERROR_UNSUPPORTED_EXEC_AFFINITY);
    IS(cuCtxCreate_v4(&context, &params, 0, 0), ERROR_UNSUPPORTED_EXEC_AFFINITY);
    params.numExecAffinityParams = 0;
    OK(cuCtxCreate_v4(&context, &params, 0, 0));
    CURRENT(context);
    OK(cuCtxDestroy(context));
    params = (CUctxCreateParams){.cigParams = (CUctxCigParam *)&part};
    IS(cuCtxCreate_v4(&context, &params, 0, 0), ERROR_NOT_SUPPORTED);
    IS(cuCtxCreate_v4(&context, NULL, 0x10000, 0), ERROR_INVALID_VALUE);
    IS(cuCtxCreate_v4(&context, NULL, 0, 3), ERROR_INVALID_DEVICE);
}

static void test_primary(void)
{
    CUcontext context = NULL;
    unsigned flags = 9;
    int active = 9;
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    tap_ok(flags == 0 && active == 0, "the primary context is not active");
    OK(cuDevicePrimaryCtxSetFlags(1, CU_CTX_SCHED_BLOCKING_SYNC));
    OK(cuDevicePrimaryCtxRetain(&context, 1));
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    tap_ok(flags == CU_CTX_SCHED_BLOCKING_SYNC && active == 1, "the primary context is active, and has its flags");
    OK(cuCtxSetCurrent(context));
    OK(cuCtxGetFlags(&flags));
    EQUAL(flags, CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST);
    OK(cuCtxSetFlags(CU_CTX_SCHED_YIELD)); /* the primary context's flags are the device's */
    OK(cuCtxGetFlags(&flags));
    EQUAL(flags, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST);
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    EQUAL(flags, CU_CTX_SCHED_YIELD);
    OK(cuDevicePrimaryCtxReset(1));
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    EQUAL(active, 0);
    IS(cuCtxGetFlags(&flags), ERROR_CONTEXT_IS_DESTROYED);
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuCtxSetCurrent(NULL));
    IS(cuDevicePrimaryCtxSetFlags(1, 0x10000), ERROR_INVALID_VALUE);
    IS(cuDevicePrimaryCtxSetFlags(7, 0), ERROR_INVALID_DEVICE);
    IS(cuDevicePrimaryCtxGetState(1, NULL, &active), ERROR_INVALID_VALUE);
}

static char page[2 * 4096];

/* Settings of a program, and host memory, including portable memory, as measured on a driver. */
static void sets_up(CUcontext *context, void **pinned, void **portable)
{
    OK(cuDevicePrimaryCtxRetain(context, 1));
    OK(cuCtxSetCurrent(*context));
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    OK(cuMemAllocHost(pinned, 4096));
    OK(cuMemHostAlloc(portable, 4096, CU_MEMHOSTALLOC_PORTABLE));
    OK(cuMemHostRegister(page, sizeof page, CU_MEMHOSTREGISTER_PORTABLE));
}

static void is_as_new(const void *pinned, void *portable)
{
    CUcontext context = NULL;
    CUfunc_cache cache = CU_FUNC_CACHE_PREFER_L1;
    size_t value = 0;
    unsigned type = 0;
    OK(cuDevicePrimaryCtxRetain(&context, 1));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    EQUAL(value, 1024);
    OK(cuCtxGetCacheConfig(&cache));
    EQUAL(cache, CU_FUNC_CACHE_PREFER_NONE);
    IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)pinned), ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(portable), ERROR_INVALID_VALUE);
    IS(cuMemHostUnregister(page), ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemHostRegister(page, sizeof page, 0));
    OK(cuMemHostUnregister(page));
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuCtxSetCurrent(NULL));
}

static void test_what_ends_with_it(void)
{
    CUcontext context = NULL;
    void *pinned = NULL, *portable = NULL;
    unsigned flags = 9;
    int active = 9;
    sets_up(&context, &pinned, &portable);
    OK(cuDevicePrimaryCtxRelease(1));
    is_as_new(pinned, portable);
    sets_up(&context, &pinned, &portable);
    OK(cuDevicePrimaryCtxSetFlags(1, CU_CTX_SCHED_YIELD));
    OK(cuDevicePrimaryCtxReset(1));
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    tap_ok(!flags && !active, "a reset ends the flags, too");
    is_as_new(pinned, portable);
    OK(cuDevicePrimaryCtxRelease(1));
}

static void test_settings(void)
{
    size_t value = 0;
    int least = 9, greatest = 9;
    CUfunc_cache cache = CU_FUNC_CACHE_PREFER_L1;
    CUsharedconfig shared;
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    EQUAL(value, 1024);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    EQUAL(value, 4096);
    IS(cuCtxGetLimit(&value, (CUlimit)99), ERROR_INVALID_VALUE);
    IS(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH), ERROR_UNSUPPORTED_LIMIT);
    IS(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), ERROR_INVALID_VALUE);
    OK(cuCtxGetCacheConfig(&cache));
    EQUAL(cache, CU_FUNC_CACHE_PREFER_NONE);
    OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_EQUAL));
    OK(cuCtxGetCacheConfig(&cache));
    EQUAL(cache, CU_FUNC_CACHE_PREFER_EQUAL);
    IS(cuCtxSetCacheConfig((CUfunc_cache)50), ERROR_INVALID_VALUE);
    OK(cuCtxGetSharedMemConfig(&shared));
    OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    OK(cuCtxResetPersistingL2Cache());
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    tap_ok(least == 0 && greatest < 0, "priorities from %d to %d", least, greatest);
    OK(cuCtxGetStreamPriorityRange(NULL, NULL));
}

static void test_named(void)
{
    CUcontext a = NULL, b = NULL;
    CUdevice device = -1;
    unsigned long long first = 0, second = 0;
    OK(cuCtxCreate(&a, NULL, 0, 0));
    OK(cuCtxCreate(&b, NULL, 0, 1));
    OK(cuCtxGetDevice_v2(&device, a));
    EQUAL(device, 0);
    OK(cuCtxGetDevice(&device));
    EQUAL(device, 1);
    OK(cuCtxGetId(a, &first));
    OK(cuCtxGetId(NULL, &second));
    tap_ok(first != second, "contexts have different ids");
    OK(cuCtxSynchronize_v2(a));
    OK(cuCtxSynchronize_v2(NULL));
    CURRENT(b);
    test_settings();
    OK(cuCtxDestroy(a));
    IS(cuCtxGetId(a, &first), ERROR_CONTEXT_IS_DESTROYED);
    IS(cuCtxSynchronize_v2(a), ERROR_CONTEXT_IS_DESTROYED);
    IS(cuCtxGetDevice_v2(&device, (CUcontext)(uintptr_t)0x10), ERROR_INVALID_CONTEXT);
    OK(cuCtxDestroy(b));
}

int main(void)
{
    size_t value;
    CUcontext context;
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    IS(cuCtxPopCurrent(&context), ERROR_NOT_INITIALIZED);
    OK(cuInit(0));
    IS(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), ERROR_INVALID_CONTEXT);
    test_stack();
    test_pushed_in_vain();
    test_many();
    test_not_destroyed();
    test_forms();
    test_primary();
    test_what_ends_with_it();
    test_named();
    return tap_done();
}
