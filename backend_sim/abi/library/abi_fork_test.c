/* SPDX-License-Identifier: Apache-2.0 */
/* Forks of a program whose threads are in calls of libcuda.so.1: the child has no driver, and each call reports that at once.
 *
 * CUVMM_TEST_SCALE is a percentage: 1000 makes 10000 forks, together with fork_test. */
#include <pthread.h>
#include <stdatomic.h>

#include "forks.h"
#include "testing/rig.h"

enum { FORKS = 500 };

static atomic_bool over;
static atomic_uint rounds[4];
static CUcontext context;

/* ---- the threads' work ---- */

static void hear(void *data, CUlogLevel level, char *message, size_t length)
{
    (void)level, (void)message, (void)length;
    atomic_fetch_add((atomic_uint *)data, 1);
}

static void logs(unsigned round)
{
    static atomic_uint heard;
    CUlogsCallbackHandle handle = NULL;
    CUlogIterator at = 0;
    char text[1024];
    size_t size = sizeof text;
    CUresult registered = cuLogsRegisterCallback(hear, &heard, &handle);
    cuMemAddressFree(4096, 4096);
    cuLogsCurrent(&at, 0);
    if (round % 4 == 0)
        cuLogsDumpToMemory(NULL, text, &size, 0);
    if (registered == CUDA_SUCCESS)
        cuLogsUnregisterCallback(handle);
}

static void memory(unsigned round)
{
    void *host = NULL, *own[16];
    CUdeviceptr at = 0;
    int value = 0;
    if (cuMemAlloc(&at, 65536) == CUDA_SUCCESS) {
        cuMemsetD8(at, (unsigned char)round, 65536);
        cuMemcpyDtoH(own, at, sizeof own);
        cuMemFree(at);
    }
    if (cuMemHostAlloc(&host, 64, 0) == CUDA_SUCCESS)
        cuMemFreeHost(host);
    if (cuMemHostRegister(own, sizeof own, 0) == CUDA_SUCCESS)
        cuMemHostUnregister(own);
    cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    cuDriverGetVersion(&value);
}

static void code(unsigned round)
{
    static const char image[] = "any";
    CUmodule module = NULL;
    CUfunction function = NULL;
    if (cuModuleLoadData(&module, image) != CUDA_SUCCESS)
        return;
    cuModuleGetFunction(&function, module, round % 2 ? "fill_span" : "nobody_wrote_this");
    cuModuleUnload(module);
}

static void called(CUstream stream, CUresult status, void *user)
{
    (void)stream, (void)status, (void)user;
}

static void streams(unsigned round)
{
    CUstream stream = NULL;
    CUevent event = NULL;
    CUgraph graph = NULL;
    if (cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1) != CUDA_SUCCESS)
        return;
    cuEventCreate(&event, 0);
    cuStreamAddCallback(stream, called, NULL, 0);
    cuEventRecord(event, stream);
    cuStreamSynchronize(stream);
    cuEventDestroy(event);
    if (round % 8 == 0 && cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS &&
        cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS)
        cuGraphDestroy(graph);
    cuStreamDestroy(stream);
}

static void (*const doing[])(unsigned round) = {logs, memory, code, streams};
enum { BUSY = sizeof doing / sizeof doing[0] };

static void *busy(void *number)
{
    uintptr_t kind = (uintptr_t)number;
    cuCtxSetCurrent(context);
    for (unsigned round = 0; !atomic_load(&over); round++) {
        doing[kind](round);
        atomic_fetch_add(&rounds[kind], 1);
    }
    return NULL;
}

/* ---- the calls in a child ---- */

#define NO_DRIVER(call)                                        \
    do {                                                       \
        if ((call) != CUDA_ERROR_NOT_INITIALIZED && !failed)   \
            failed = __LINE__;                                 \
    } while (0)

/* The line of the first wrong answer, or 0. */
static int look(void)
{
    int failed = 0, value = 0;
    CUdeviceptr at = 0;
    CUmodule module = NULL;
    CUstream stream = NULL;
    CUlogIterator iterator = 0;
    const char *text = NULL;
    char line[512];
    size_t size = sizeof line;
    NO_DRIVER(cuInit(0));
    if (cuDriverGetVersion(&value) != CUDA_SUCCESS || value <= 0)
        failed = __LINE__;
    NO_DRIVER(cuDeviceGetCount(&value));
    NO_DRIVER(cuCtxGetDevice(&value));
    NO_DRIVER(cuMemAlloc(&at, 4096));
    NO_DRIVER(cuMemAddressFree(4096, 4096));
    NO_DRIVER(cuMemFreeHost(line));
    NO_DRIVER(cuModuleLoadData(&module, line));
    NO_DRIVER(cuStreamCreate(&stream, 0));
    NO_DRIVER(cuStreamSynchronize(NULL));
    NO_DRIVER(cuStreamAddCallback(NULL, called, NULL, 0));
    if (cuLogsCurrent(&iterator, 0) != CUDA_SUCCESS || cuLogsDumpToMemory(NULL, line, &size, 0) != CUDA_SUCCESS || !size)
        failed = __LINE__;
    if (cuGetErrorString(CUDA_ERROR_NOT_INITIALIZED, &text) != CUDA_SUCCESS || !text)
        failed = __LINE__;
    return failed;
}

/* Exits with the library's destructors, or without. POSIX does not guarantee the former for a child of a multithreaded process,
 * and musl may wait there for a thread that does not exist in the child. */
#ifdef __GLIBC__
#define MAY_EXIT 1
#else
#define MAY_EXIT 0
#endif

static int child(unsigned start)
{
    int failed = look();
    if (failed)
        forks_wrong(failed);
    if (MAY_EXIT && start % 2)
        exit(failed ? 1 : 0);
    return failed ? 1 : 0;
}

int main(void)
{
    unsigned idle = 0;
    pthread_t thread[BUSY];
    setvbuf(stdout, NULL, _IONBF, 0); /* so that children inherit no buffered output */
    unsetenv("CUVMM_LAYERS");
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    context = begin();
    if (!FORKS_JUDGED)
        tap_skip(FORKS_UNJUDGED, "the work in the children");
    for (uintptr_t i = 0; i < BUSY; i++)
        if (pthread_create(&thread[i], NULL, busy, (void *)i))
            tap_bail("no thread");
    struct forks_sum sum = forks_often(forks_scaled(FORKS), 0, child);
    EQUAL(sum.hung, 0);
    EQUAL(sum.torn, 0);
    EQUAL(sum.wrong, 0);
    atomic_store(&over, true);
    for (int i = 0; i < BUSY; i++) {
        pthread_join(thread[i], NULL);
        tap_note("thread %d: %u rounds", i, atomic_load(&rounds[i]));
        idle += !atomic_load(&rounds[i]);
    }
    EQUAL(idle, 0);
    CUdeviceptr at = 0;
    OK(cuMemAlloc(&at, 4096));
    OK(cuMemFree(at));
    return tap_done();
}
