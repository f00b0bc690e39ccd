/* SPDX-License-Identifier: Apache-2.0 */
/* Cancelled threads: within a call of libcuda.so.1 the cancellation takes effect at the end of the call, even of the first
 * one. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "testing/rig.h"

static atomic_int calls; /* calls made so far; -1: all of them */
static CUcontext context;

#define MADE(call, code)                                 \
    do {                                                 \
        if ((call) != CUDA_##code)                       \
            return;                                      \
        atomic_fetch_add(&calls, 1);                     \
    } while (0)

static void *cancelled(void *user)
{
    void (*code)(void);
    memcpy(&code, user, sizeof code);
    pthread_cancel(pthread_self());
    code();
    pthread_testcancel();
    return NULL;
}

static void make_in_thread(const char *what, void (*code)(void))
{
    pthread_t thread;
    void *result = NULL;
    atomic_store(&calls, 0);
    if (pthread_create(&thread, NULL, cancelled, &code) || pthread_join(thread, &result))
        tap_bail("no thread");
    int made = atomic_load(&calls);
    tap_ok(made == -1 && result == PTHREAD_CANCELED, "%s: the cancellation takes effect at the end of a call (%d)", what, made);
}

static void first_calls(void)
{
    int value = 0;
    MADE(cuDriverGetVersion(&value), SUCCESS);
    MADE(cuInit(0), SUCCESS);
    MADE(cuDevicePrimaryCtxRetain(&context, 0), SUCCESS);
    MADE(cuCtxSetCurrent(context), SUCCESS);
    atomic_store(&calls, -1);
}

static void refusals(void)
{
    MADE(cuCtxSetCurrent(context), SUCCESS);
    MADE(cuMemAddressFree(4096, 4096), ERROR_INVALID_VALUE);
    MADE(cuMemFreeHost(&calls), ERROR_INVALID_VALUE);
    MADE(cuLogsDumpToFile(NULL, "/dev/null", 0), SUCCESS);
    atomic_store(&calls, -1);
}

static void code(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    MADE(cuCtxSetCurrent(context), SUCCESS);
    MADE(cuModuleLoad(&module, "/proc/self/exe"), SUCCESS);
    MADE(cuModuleGetFunction(&function, module, "fill_span"), SUCCESS);
    MADE(cuModuleGetFunction(&function, module, "nobody_wrote_this"), ERROR_NOT_FOUND);
    MADE(cuModuleUnload(module), SUCCESS);
    atomic_store(&calls, -1);
}

static void nothing(void *unused)
{
    (void)unused;
}

static void work(void)
{
    CUstream stream = NULL;
    CUdeviceptr at = 0;
    void *host = NULL;
    unsigned char byte = 0;
    MADE(cuCtxSetCurrent(context), SUCCESS);
    MADE(cuStreamCreate(&stream, 0), SUCCESS);
    MADE(cuMemAlloc(&at, 65536), SUCCESS);
    MADE(cuMemHostAlloc(&host, 64, 0), SUCCESS);
    MADE(cuMemsetD8Async(at, 1, 65536, stream), SUCCESS);
    MADE(cuLaunchHostFunc(stream, nothing, NULL), SUCCESS);
    MADE(cuMemcpyDtoHAsync(&byte, at, 1, stream), SUCCESS);
    MADE(cuStreamSynchronize(stream), SUCCESS);
    MADE(cuMemFreeHost(host), SUCCESS);
    MADE(cuMemFree(at), SUCCESS);
    MADE(cuStreamDestroy(stream), SUCCESS);
    atomic_store(&calls, -1);
}

int main(void)
{
    int value = 0;
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    setenv("CUVMM_EXPLAIN", "1", 1);
    if (!freopen("/dev/null", "w", stderr))
        tap_bail("no /dev/null");
    make_in_thread("the first calls", first_calls);
    make_in_thread("refusals", refusals);
    make_in_thread("modules", code);
    make_in_thread("work", work);
    OK(cuDeviceGetCount(&value));
    return tap_done();
}
