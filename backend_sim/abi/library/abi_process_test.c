/* SPDX-License-Identifier: Apache-2.0 */
/* The library in a process: messages and logs, threads, forked children, and unloading. */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forks.h"
#include "testing/rig.h"

struct heard {
    int lines;
    char last[512];
};

static void hear(void *data, CUlogLevel level, char *message, size_t length)
{
    struct heard *heard = data;
    (void)level;
    heard->lines++;
    snprintf(heard->last, sizeof heard->last, "%.*s", (int)length, message);
}

static void test_logs(void)
{
    struct heard heard = {0, ""};
    CUlogsCallbackHandle handle = NULL;
    CUlogIterator from = 0;
    char buffer[4096], small[64];
    size_t size = sizeof buffer;
    OK(cuLogsRegisterCallback(hear, &heard, &handle));
    OK(cuLogsCurrent(&from, 0));
    IS(cuMemAddressFree(4096, 4096), ERROR_INVALID_VALUE);
    IS(cuCtxPopCurrent(NULL), ERROR_INVALID_CONTEXT);
    EQUAL(heard.lines, 2);
    tap_ok(strstr(heard.last, "cuCtxPopCurrent") != NULL, "the log line names the call: %s", heard.last);
    OK(cuLogsDumpToMemory(&from, buffer, &size, 0));
    tap_ok(strstr(buffer, "VMM-FREE") && strlen(buffer) == size, "the log line names the rule:\n%s", buffer);
    size = sizeof small;
    OK(cuLogsDumpToMemory(NULL, small, &size, 0));
    tap_ok(size < sizeof small && strlen(small) == size, "the dump fits the buffer");
    OK(cuLogsUnregisterCallback(handle));
    IS(cuLogsUnregisterCallback(handle), ERROR_INVALID_VALUE);
    IS(cuMemAddressFree(4096, 4096), ERROR_INVALID_VALUE);
    EQUAL(heard.lines, 2);
    IS(cuLogsDumpToFile(NULL, "/no/such/place", 0), ERROR_INVALID_VALUE);
    OK(cuLogsDumpToFile(NULL, "/dev/null", 0));
    IS(cuLogsRegisterCallback(NULL, NULL, &handle), ERROR_INVALID_VALUE);
}

/* Standard error of a child that makes one bad call, with and without CUVMM_EXPLAIN. */
static size_t said_by_child(const char *explain, char *text, size_t size)
{
    int ends[2];
    size_t length = 0;
    if (pipe(ends) != 0)
        tap_bail("pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        setenv("CUVMM_EXPLAIN", explain, 1);
        CUdeviceptr p;
        cuInit(0); /* a forked child has no driver: NOT_INITIALIZED, with an explanation */
        cuMemAddressReserve(&p, 1, 0, 0, 0);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; length + 1 < size && (got = read(ends[0], text + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    waitpid(child, NULL, 0);
    return length;
}

static void test_words(void)
{
    char text[8192];
    EQUAL(said_by_child("0", text, sizeof text), 0);
    said_by_child("1", text, sizeof text);
    tap_ok(strstr(text, "VMM-INIT-FORKED") && strstr(text, "fix"), "CUVMM_EXPLAIN=1 prints the reason and the fix");
}

static void test_fork(void)
{
    int status = -1, n;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        forks_begin();
        int right = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED && cuDeviceGetCount(&n) == CUDA_ERROR_NOT_INITIALIZED &&
                    cuCtxPopCurrent(NULL) == CUDA_ERROR_NOT_INITIALIZED && cuDriverGetVersion(&n) == CUDA_SUCCESS;
        exit(right ? 0 : 1); /* runs the library's destructors */
    }
    waitpid(child, &status, 0);
    if (FORKS_JUDGED)
        EQUAL(status, 0);
    else
        tap_skip(FORKS_UNJUDGED, "status is 0");
}

enum { THREADS = 8, ROUNDS = 200 };

static void *work(void *unused)
{
    CUcontext context;
    uintptr_t wrong = 0;
    (void)unused;
    wrong += cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS;
    wrong += cuCtxPushCurrent(context) != CUDA_SUCCESS;
    for (int i = 0; i < ROUNDS; i++) {
        CUstream stream = NULL;
        CUdeviceptr at = 0;
        void *host = NULL;
        unsigned char byte = 0;
        wrong += cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1) != CUDA_SUCCESS;
        wrong += cuMemAlloc(&at, 4096) != CUDA_SUCCESS;
        wrong += cuMemHostAlloc(&host, 64, 0) != CUDA_SUCCESS;
        wrong += cuMemsetD8Async(at, (unsigned char)i, 4096, stream) != CUDA_SUCCESS;
        wrong += cuMemcpyDtoHAsync(&byte, at + 4095, 1, stream) != CUDA_SUCCESS;
        wrong += cuStreamSynchronize(stream) != CUDA_SUCCESS || byte != (unsigned char)i;
        wrong += cuMemFreeHost(host) != CUDA_SUCCESS;
        wrong += cuMemFree(at) != CUDA_SUCCESS;
        wrong += cuStreamDestroy(stream) != CUDA_SUCCESS;
    }
    wrong += cuCtxPopCurrent(NULL) != CUDA_SUCCESS;
    return (void *)wrong;
}

static void test_threads(void)
{
    pthread_t thread[THREADS];
    uintptr_t wrong = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        wrong += (uintptr_t)result;
    }
    EQUAL(wrong, 0);
}

int main(void)
{
    OK(cuInit(0));
    test_logs();
    test_fork();
    test_words();
    test_threads();
    return tap_done();
}
