/* SPDX-License-Identifier: Apache-2.0 */
/* Work that proceeds without a call, host functions on a thread of their own, and exits in the middle of them. */
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testing/rig.h"

enum { PATIENCE_MS = 20000 };

static void nap(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Waits for the flag without making a call. */
static bool comes(const atomic_int *flag, int value)
{
    for (int waited = 0; *flag != value && waited < PATIENCE_MS; waited++)
        nap();
    return *flag == value;
}

static atomic_int done, gate;

static void set_done(void *value)
{
    atomic_store(&done, *(int *)value);
}

static void wait_at_gate(void *unused)
{
    (void)unused;
    comes(&gate, 1);
}

static CUstream new_stream(void)
{
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static void test_flag(void)
{
    int value = 1;
    CUstream stream = new_stream();
    OK(cuLaunchHostFunc(stream, set_done, &value));
    tap_ok(comes(&done, 1), "a host function runs while the program makes no calls");
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy(stream));
}

/* A host function that waits blocks later work on its stream, but not other streams; queries change nothing. */
static void test_gate(CUdeviceptr p)
{
    CUstream held = new_stream(), other = new_stream();
    CUevent event = NULL;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuMemsetD8(p, 0x11, 64));
    gate = 0;
    OK(cuLaunchHostFunc(held, wait_at_gate, NULL));
    OK(cuMemsetD8Async(p, 0x22, 64, held));
    OK(cuEventRecord(event, held));
    int early = 0;
    for (int i = 0; i < 50; i++)
        early += cuStreamQuery(held) != CUDA_ERROR_NOT_READY || cuEventQuery(event) != CUDA_ERROR_NOT_READY;
    EQUAL(early, 0);
    OK(cuMemsetD8Async(p + 4096, 0x33, 64, other));
    OK(cuStreamSynchronize(other));
    EQUAL(byte_at(p + 4096), 0x33);
    EQUAL(byte_at(p), 0x11);
    gate = 1;
    OK(cuEventSynchronize(event));
    EQUAL(byte_at(p), 0x22);
    OK(cuStreamQuery(held));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(held));
    OK(cuStreamDestroy(other));
}

/* A slow kernel is queried while it runs, and faults if its memory is unmapped meanwhile. */
static void test_kernel(CUdeviceptr p, CUfunction slow)
{
    unsigned long long nanoseconds = 200000000;
    unsigned char value = 0x44;
    CUstream stream = new_stream();
    void *params[] = {&p, &nanoseconds, &value};
    OK(cuLaunchKernel(slow, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    IS(cuStreamQuery(stream), ERROR_NOT_READY);
    IS(cuStreamQuery(stream), ERROR_NOT_READY);
    int asked = 0;
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY && asked < PATIENCE_MS) {
        asked++;
        nap();
    }
    tap_ok(asked > 0 && asked < PATIENCE_MS, "the kernel finishes on its own, after %d queries", asked);
    EQUAL(byte_at(p), 0x44);
    OK(cuStreamDestroy(stream));
}

/* ---- inside a host function ---- */

static struct {
    CUcontext context;
    CUdeviceptr p;
    CUstream stream;
    CUresult answer[10];
} inside;

static void ask_all(void *unused)
{
    unsigned flags;
    int n;
    unsigned long long id;
    void *host;
    CUcontext context;
    CUmodule module;
    (void)unused;
    CUresult *a = inside.answer;
    *a++ = cuDevicePrimaryCtxGetState(0, &flags, &n);
    *a++ = cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0);
    *a++ = cuCtxPushCurrent(inside.context);
    *a++ = cuCtxPopCurrent(&context);
    *a++ = cuMemHostAlloc(&host, 64, 0);
    *a++ = cuModuleLoadData(&module, "image");
    *a++ = cuStreamGetId(inside.stream, &id);
    *a++ = cuCtxGetId(inside.context, &id);
    *a++ = cuMemsetD8Async(inside.p, 0x55, 64, inside.stream);
    *a++ = cuMemcpyAsync(inside.p, inside.p + 64, 64, inside.stream);
}

static void test_inside(CUcontext context, CUdeviceptr p)
{
    CUstream stream = new_stream();
    inside.context = context;
    inside.p = p;
    inside.stream = new_stream();
    OK(cuLaunchHostFunc(stream, ask_all, NULL));
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 8; i++)
        tap_ok(inside.answer[i] == CUDA_ERROR_NOT_PERMITTED, "call %d inside a host function is %s", i,
               code_name(inside.answer[i]));
    EQUAL(inside.answer[8], CUDA_SUCCESS);
    EQUAL(inside.answer[9], CUDA_SUCCESS);
    OK(cuStreamSynchronize(inside.stream));
    OK(cuStreamDestroy(inside.stream));
    OK(cuStreamDestroy(stream));
}

/* ---- ends ---- */

/* How a child exits after it has done the work; -1 if it does not exit. */
static int ends(void (*work)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        work();
        exit(7); /* runs the library's destructors */
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void start(CUstream *stream)
{
    CUcontext context;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuStreamCreate(stream, 1))
        exit(1);
}

static void leave_in_host_function(void)
{
    CUstream stream;
    start(&stream);
    cuLaunchHostFunc(stream, wait_at_gate, NULL);
    for (int i = 0; i < 10; i++)
        nap();
}

/* A child of a process whose threads are at work; the child has none of them. */
static void leave_in_child(void)
{
    enum { FORKS = 12, MUCH = 64 << 20 };
    CUstream stream, busy;
    CUdeviceptr p;
    int status = -1, n;
    start(&stream);
    cuLaunchHostFunc(stream, wait_at_gate, NULL);
    if (cuStreamCreate(&busy, 1) || cuMemAlloc(&p, MUCH))
        _exit(2);
    for (int i = 0; i < FORKS; i++) {
        cuMemsetD8Async(p, (unsigned char)i, MUCH, busy); /* a thread still uses its memory during the fork */
        nap();
        pid_t child = fork();
        if (child == 0) {
            alarm(10);
            exit(cuDeviceGetCount(&n) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
        }
        if (waitpid(child, &status, 0) != child || status)
            _exit(3);
    }
    gate = 1;
}

static void test_ends(void)
{
    EQUAL(ends(leave_in_host_function), 7);
    EQUAL(ends(leave_in_child), 7);
}

int main(void)
{
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    test_ends(); /* before this process opens a driver */
    CUcontext context = begin();
    CUmodule module = NULL;
    CUfunction slow = NULL;
    CUdeviceptr p = 0;
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&slow, module, "slow"));
    OK(cuMemAlloc(&p, 8192));
    test_flag();
    test_gate(p);
    test_kernel(p, slow);
    test_inside(context, p);
    OK(cuMemFree(p));
    return tap_done();
}
