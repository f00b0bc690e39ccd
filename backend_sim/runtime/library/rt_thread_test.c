/* SPDX-License-Identifier: Apache-2.0 */
/* The context that a call uses: the thread's, the program's, or one that was reset by this thread, by another, or
 * through the driver's API. Which errors persist. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rt_rig.h"

static CUcontext current(void)
{
    CUcontext context = NULL;
    EQUAL(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    return context;
}

static bool is_active(int device)
{
    unsigned flags;
    int active = 0;
    EQUAL(cuDevicePrimaryCtxGetState(device, &flags, &active), CUDA_SUCCESS);
    return active;
}

/* A call that needs a context works, and its memory is usable. */
static void works(const char *when)
{
    void *p = NULL;
    tap_ok(cudaMalloc(&p, 4096) == cudaSuccess && cuMemsetD8((CUdeviceptr)(uintptr_t)p, 1, 4096) == CUDA_SUCCESS &&
               cudaFree(p) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess,
           "works %s", when);
}

static void *works_there(void *when)
{
    works(when);
    return NULL;
}

static void in_thread(void *(*body)(void *), const char *when)
{
    pthread_t thread;
    tap_ok(!pthread_create(&thread, NULL, body, (void *)when), "a thread begins");
    pthread_join(thread, NULL);
}

/* Nothing is created before it is needed. */
static void test_beginning(void)
{
    int device = -1;
    OK(cudaGetDevice(&device));
    EQUAL(device, 0);
    tap_ok(!current() && !is_active(0), "no context yet");
    OK(cudaDeviceReset());
    tap_ok(!current() && !is_active(0), "nor by a reset");
    works("at first");
    tap_ok(current() && is_active(0) && !is_active(1), "one context");
    REFUSED(cudaDeviceDisablePeerAccess(1), ErrorPeerAccessNotEnabled);
    tap_ok(!is_active(1), "still one");
    OK(cudaInitDevice(1, 0, 0));
    OK(cudaGetDevice(&device));
    tap_ok(device == 0 && is_active(1), "a device that was initialised is not current");
}

static void test_reset(void)
{
    CUcontext before = current();
    void *p = NULL;
    OK(cudaMalloc(&p, 4096));
    OK(cudaDeviceReset());
    tap_ok(!is_active(0), "the context has ended");
    tap_ok(cudaFree(p) != cudaSuccess, "its memory, too");
    (void)cudaGetLastError();
    works("after a reset");
    tap_ok(current() == before && is_active(0), "in the same context");
    OK(cudaDeviceReset());
    OK(cudaDeviceReset());
    in_thread(works_there, "in another thread after a reset");
    works("after another thread has recreated it");
}

static void *reset_there(void *unused)
{
    (void)unused;
    works("in a thread");
    OK(cudaDeviceReset());
    return NULL;
}

static void test_reset_elsewhere(void)
{
    works("before another thread's reset");
    in_thread(reset_there, "");
    works("after another thread's reset");
    EQUAL(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    OK(cudaDeviceSynchronize());
    works("after a reset through the driver's API");
    EQUAL(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    works("at once");
    EQUAL(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    OK(cudaSetDevice(0));
    works("after a reset through the driver's API, and the program set it again");
}

/* The runtime uses the program's own context, and a reset destroys only the runtime's objects. */
static void test_own_context(void)
{
    CUcontext own = NULL;
    int device = -1;
    void *p = NULL;
    EQUAL(cuCtxCreate_v2(&own, 0, 1), CUDA_SUCCESS);
    OK(cudaGetDevice(&device));
    EQUAL(device, 1);
    works("in a context of the program");
    OK(cudaMalloc(&p, 4096));
    OK(cudaDeviceReset());
    tap_ok(current() == own, "the context stays current");
    OK(cudaFree(p));
    OK(cudaSetDevice(1));
    tap_ok(current() != own, "until a device is set");
    works("in the device's context");
    EQUAL(cuCtxSetCurrent(own), CUDA_SUCCESS);
    works("in the program's again");
    EQUAL(cuCtxDestroy(own), CUDA_SUCCESS);
    EQUAL(cuCtxSetCurrent(NULL), CUDA_SUCCESS);
    works("without a context");
    OK(cudaGetDevice(&device));
    EQUAL(device, 1);
    OK(cudaSetDevice(0));
}

/* The runtime does not rely on the program's reference to the primary context but retains it, too. */
static void *shares_primary(void *unused)
{
    CUcontext shared = NULL, own = NULL;
    (void)unused;
    OK(cudaSetDevice(1));
    OK(cudaDeviceReset());
    EQUAL(cuCtxSetCurrent(NULL), CUDA_SUCCESS);
    EQUAL(cuCtxCreate_v2(&own, 0, 1), CUDA_SUCCESS);
    works("in the program's context, where the device has no other");
    tap_ok(!is_active(1), "and gets none");
    EQUAL(cuCtxDestroy(own), CUDA_SUCCESS);
    EQUAL(cuDevicePrimaryCtxRetain(&shared, 1), CUDA_SUCCESS);
    EQUAL(cuCtxSetCurrent(shared), CUDA_SUCCESS);
    works("in a primary context that the program made current");
    EQUAL(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
    tap_ok(is_active(1), "the runtime holds it, too");
    works("when the program has released it");
    return NULL;
}

/* The same for a device whose primary context the runtime has never seen. */
static void test_adoption(void)
{
    CUcontext shared = NULL, own = NULL;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        cuInit(0);
        cuDevicePrimaryCtxRetain(&shared, 1);
        cuCtxCreate_v2(&own, 0, 1);
        bool good = cudaDeviceSynchronize() == cudaSuccess && cuCtxDestroy(own) == CUDA_SUCCESS; /* not adopted */
        cuCtxSetCurrent(shared);
        good = good && cudaDeviceSynchronize() == cudaSuccess; /* adopted */
        cuDevicePrimaryCtxRelease(1);
        good = good && cudaDeviceSynchronize() == cudaSuccess && cudaDeviceReset() == cudaSuccess;
        exit(good ? 0 : 1);
    }
    int status = -1;
    tap_ok(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a primary context that the program made first");
}

/* A forked child has none of its parent's contexts. */
static void test_fork(void)
{
    pid_t child = fork();
    if (child == 0) {
        int device;
        alarm(20);
        exit(cudaDeviceSynchronize() == cudaErrorInitializationError && cudaSetDevice(1) == cudaErrorInitializationError &&
                     cudaGetDevice(&device) == cudaErrorInitializationError && cudaGetLastError() == cudaErrorInitializationError
                 ? 0
                 : 1);
    }
    int status = -1;
    tap_ok(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child of fork gets that error");
    works("in the parent");
}

static void test_last_error(void)
{
    void *p = NULL;
    IS(cudaSetDevice(9), ErrorInvalidDevice);
    OK(cudaMalloc(&p, 1)); /* a successful call does not clear it */
    OK(cudaFree(p));
    IS(cudaPeekAtLastError(), ErrorInvalidDevice);
    IS(cudaGetDevice(NULL), ErrorInvalidValue); /* a later error replaces it */
    IS(cudaGetLastError(), ErrorInvalidValue);
    IS(cudaPeekAtLastError(), Success);
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    test_adoption(); /* before the runtime is initialised */
    test_beginning();
    test_reset();
    test_reset_elsewhere();
    test_own_context();
    in_thread(shares_primary, "");
    test_fork();
    test_last_error();
    return tap_done();
}
