/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of the calls that libcuda.so.1 alone has (api/rules/library.def): a call that breaks it and is refused by it, as the
 * driver's log shows, and the nearest call that is accepted and logs nothing. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, fopencookie */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rig.h"
#include "vmm.h"

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream); /* absent: not in cuda.h */

/* ---- the tests ---- */

struct rule_test {
    const char *symbol;
    bool breaks;
    void (*run)(void);
};

static struct rule_test tests[300];
static size_t count;

static void enter(const char *symbol, bool breaks, void (*run)(void))
{
    if (count == sizeof tests / sizeof tests[0])
        abort();
    tests[count++] = (struct rule_test){symbol, breaks, run};
}

#define TEST(symbol, name, breaks)                                                                  \
    static void name(void);                                                                         \
    __attribute__((constructor)) static void name##_enter(void) { enter(#symbol, breaks, name); }   \
    static void name(void)
#define TEST_BREAKS(symbol, name) TEST(symbol, name, true)
#define TEST_NEAR_MISS(symbol, name) TEST(symbol, name, false)

/* ---- what they use ---- */

static const char *rule; /* the id of the rule that the test is about */
static char heard[600];
static unsigned lines;
static CUcontext first, second; /* primary contexts of devices 0 and 1; the first is current */
static CUstream stream;
static CUdeviceptr memory; /* of cuMemAlloc */
enum { SIZE = 1 << 16 };

static void CUDA_CB hear(void *user, CUlogLevel level, char *message, size_t length)
{
    (void)user, (void)level, (void)length;
    snprintf(heard, sizeof heard, "%s", message);
    lines++;
}

static bool refused_by_rule(void)
{
    char want[120];
    snprintf(want, sizeof want, ": %s: ", rule);
    return lines == 1 && strstr(heard, want) != NULL && is_whole_line(heard);
}

/* The call is refused with the code, by the rule of the test and in one line. */
#define REFUSED(call, code)                                                               \
    do {                                                                                  \
        lines = 0;                                                                        \
        IS(call, code);                                                                   \
        if (!tap_ok(refused_by_rule(), "by %s", rule))                                    \
            tap_note("%u lines, the last: %s", lines, lines ? heard : "none");            \
    } while (0)

#define ACCEPTED(call)                                                                    \
    do {                                                                                  \
        lines = 0;                                                                        \
        OK(call);                                                                         \
        if (!tap_u64(lines, 0, "and nothing is logged"))                                  \
            tap_note("%s", heard);                                                        \
    } while (0)

static CUfunction function(const char *name)
{
    static CUmodule module;
    CUfunction found = NULL;
    if (!module)
        OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&found, module, name));
    return found;
}

/* ---- any call ---- */

TEST_BREAKS(CALL_NULL, call_null_broken)
{
    REFUSED(cuModuleGetLoadingMode(NULL), ERROR_INVALID_VALUE);
    REFUSED(cuDeviceGetPCIBusId(NULL, 20, 0), ERROR_INVALID_VALUE);
    REFUSED(cuStreamGetFlags(stream, NULL), ERROR_INVALID_VALUE);
    REFUSED(cuCtxPushCurrent(NULL), ERROR_INVALID_VALUE);
    REFUSED(cuMemHostAlloc(NULL, 1, 0), ERROR_INVALID_VALUE);
    REFUSED(cuGetErrorName(CUDA_SUCCESS, NULL), ERROR_INVALID_VALUE);
    REFUSED(cuLogsCurrent(NULL, 0), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(CALL_NULL, call_null_kept)
{
    CUmoduleLoadingMode mode;
    ACCEPTED(cuModuleGetLoadingMode(&mode));
    ACCEPTED(cuMemHostAlloc(&(void *){NULL}, 0, 0));
}

TEST_BREAKS(CALL_VALUE, call_value_broken)
{
    const char *name = NULL;
    CUlogIterator from = 0;
    int value = 0;
    REFUSED(cuCtxSetCacheConfig((CUfunc_cache)4), ERROR_INVALID_VALUE);
    REFUSED(cuMemHostAlloc(&(void *){NULL}, 1, 8), ERROR_INVALID_VALUE);
    REFUSED(cuDeviceGetP2PAttribute(&value, (CUdevice_P2PAttribute)99, 0, 1), ERROR_INVALID_VALUE);
    REFUSED(cuFuncGetAttribute(&value, (CUfunction_attribute)99, function("vectorAdd")), ERROR_INVALID_VALUE);
    REFUSED(cuGetErrorString((CUresult)12345, &name), ERROR_INVALID_VALUE);
    REFUSED(cuLogsCurrent(&from, 1), ERROR_INVALID_VALUE);
    REFUSED(cuLogsUnregisterCallback(NULL), ERROR_INVALID_VALUE);
    REFUSED(cuLogsDumpToFile(NULL, "/nowhere/at/all", 0), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(CALL_VALUE, call_value_kept)
{
    const char *name = NULL;
    CUlogIterator from = 0;
    ACCEPTED(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_EQUAL));
    ACCEPTED(cuGetErrorString(CUDA_ERROR_UNKNOWN, &name));
    ACCEPTED(cuLogsCurrent(&from, 0));
}

TEST_BREAKS(ENTRY_ABSENT, entry_absent_broken)
{
    char luid[8];
    unsigned mask = 0;
    const void *table = &mask;
    static const CUuuid id = {{0}};
    REFUSED(cuDeviceGetLuid(luid, &mask, 0), ERROR_NOT_SUPPORTED);
    REFUSED(cuGetExportTable(&table, &id), ERROR_NOT_SUPPORTED);
    REFUSED(cuMemPrefetchAsync(memory, 1, 0, stream), ERROR_NOT_SUPPORTED);
}

TEST_NEAR_MISS(ENTRY_ABSENT, entry_absent_kept)
{
    CUuuid id;
    ACCEPTED(cuDeviceGetUuid(&id, 0));
}

TEST_BREAKS(KERNEL_CALL, kernel_call_broken)
{
    CUresult (*call)(void) = cuCtxSynchronize;
    void *params[] = {&call, &memory};
    int answer = -1;
    OK(cuLaunchKernel(function("calls"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    lines = 0;
    OK(cuCtxSynchronize());
    if (!tap_ok(refused_by_rule(), "a call in a kernel is refused by %s", rule))
        tap_note("%u lines, the last: %s", lines, lines ? heard : "none");
    OK(cuMemcpyDtoH(&answer, memory, sizeof answer));
    EQUAL(answer, CUDA_ERROR_NOT_PERMITTED);
}

TEST_NEAR_MISS(KERNEL_CALL, kernel_call_kept)
{
    ACCEPTED(cuCtxSynchronize());
}

TEST_BREAKS(LOGS_CALLBACKS, logs_callbacks_broken)
{
    CUlogsCallbackHandle all[40];
    int made = 0;
    while (made < 31 && cuLogsRegisterCallback(hear, NULL, &all[made]) == CUDA_SUCCESS)
        made++;
    EQUAL(made, 31);
    lines = 0;
    IS(cuLogsRegisterCallback(hear, NULL, &all[31]), ERROR_OUT_OF_MEMORY);
    EQUAL(lines, 32);
    lines = 1;
    tap_ok(refused_by_rule(), "by %s", rule);
    while (made--)
        OK(cuLogsUnregisterCallback(all[made]));
}

TEST_NEAR_MISS(LOGS_CALLBACKS, logs_callbacks_kept)
{
    CUlogsCallbackHandle one;
    ACCEPTED(cuLogsRegisterCallback(hear, NULL, &one));
    OK(cuLogsUnregisterCallback(one));
}

TEST_BREAKS(LOGS_FILE, logs_file_broken)
{
    REFUSED(cuLogsDumpToFile(NULL, "/dev/full", 0), ERROR_OPERATING_SYSTEM);
}

TEST_NEAR_MISS(LOGS_FILE, logs_file_kept)
{
    ACCEPTED(cuLogsDumpToFile(NULL, "/dev/null", 0));
}

static const char *program; /* argv[0] */

/* cuInit with CUDA_VISIBLE_DEVICES=list, in a process of its own, which is this program with the list as its argument. */
static CUresult init_with(const char *list)
{
    int status = -1;
    lines = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("CUDA_VISIBLE_DEVICES", list, 1);
        execl(program, program, rule, (char *)NULL); /* not /proc/self/exe, which under valgrind is valgrind */
        _exit(99);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 99)
        return CUDA_ERROR_UNKNOWN;
    return (CUresult)WEXITSTATUS(status);
}

/* That process: the result is the exit status; another one where the rule is not the one that refuses. */
static int init_here(const char *expected)
{
    CUlogsCallbackHandle callback;
    rule = expected;
    if (cuLogsRegisterCallback(hear, NULL, &callback) != CUDA_SUCCESS)
        return 99;
    CUresult result = cuInit(0);
    return result == CUDA_SUCCESS || refused_by_rule() ? (int)result : 99;
}

TEST_BREAKS(INIT_VISIBLE, init_visible_broken)
{
    IS(init_with(""), ERROR_NO_DEVICE);
    IS(init_with("2,0"), ERROR_NO_DEVICE);
}

TEST_NEAR_MISS(INIT_VISIBLE, init_visible_kept)
{
    ACCEPTED(init_with("0,2"));
}

TEST_BREAKS(INIT_VISIBLE_TWICE, init_visible_twice_broken)
{
    IS(init_with("0,1,0"), ERROR_INVALID_DEVICE);
}

TEST_NEAR_MISS(INIT_VISIBLE_TWICE, init_visible_twice_kept)
{
    ACCEPTED(init_with("1,0"));
}

/* exit flushes files after it has run the destructors of libraries. */
static ssize_t after_the_end(void *unused, const char *text, size_t size)
{
    (void)unused, (void)text, (void)size;
    _exit((int)cuCtxSynchronize());
}

/* The answer to a call at the end of a child process, and what is explained there. */
static CUresult at_its_end(char *explained, size_t size)
{
    int ends[2], status = -1;
    fflush(NULL);
    if (pipe(ends))
        abort();
    pid_t child = fork();
    if (child == 0) {
        FILE *last = fopencookie(NULL, "w", (cookie_io_functions_t){.write = after_the_end});
        dup2(ends[1], STDERR_FILENO);
        setenv("CUVMM_EXPLAIN", "1", 1);
        if (last)
            fputc('x', last);
        exit(99);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], explained, size - 1);
    explained[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? (CUresult)WEXITSTATUS(status) : CUDA_ERROR_UNKNOWN;
}

TEST_BREAKS(INIT_ENDED, init_ended_broken)
{
#ifdef __SANITIZE_ADDRESS__
    (void)at_its_end;
    tap_skip("LeakSanitizer ends the child before its last file is written", "by %s", rule);
#else
    char explained[2000];
    if (getenv("CUVMM_RUN")) {
        tap_skip("a tool ends the child with a status of its own", "by %s", rule);
        return;
    }
    IS(at_its_end(explained, sizeof explained), ERROR_DEINITIALIZED);
    if (!tap_ok(strstr(explained, "error VMM-INIT-ENDED: cuCtxSynchronize") != NULL, "by %s", rule))
        tap_note("%s", explained);
#endif
}

TEST_NEAR_MISS(INIT_ENDED, init_ended_kept)
{
    ACCEPTED(cuCtxSynchronize());
}

/* ---- devices and contexts ---- */

TEST_BREAKS(DEVICE_BUS, device_bus_broken)
{
    CUdevice device = 7;
    REFUSED(cuDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"), ERROR_INVALID_DEVICE);
    EQUAL(device, 7);
}

TEST_NEAR_MISS(DEVICE_BUS, device_bus_kept)
{
    CUdevice device = 7;
    char id[20];
    OK(cuDeviceGetPCIBusId(id, sizeof id, 1));
    ACCEPTED(cuDeviceGetByPCIBusId(&device, id));
    EQUAL(device, 1);
}

TEST_BREAKS(CTX_ENDED, ctx_ended_broken)
{
    CUcontext ended;
    unsigned long long id = 0;
    OK(cuCtxCreate(&ended, NULL, 0, 0));
    OK(cuCtxDestroy(ended));
    REFUSED(cuCtxGetId(ended, &id), ERROR_CONTEXT_IS_DESTROYED);
    REFUSED(cuCtxSynchronize_v2(ended), ERROR_CONTEXT_IS_DESTROYED);
}

TEST_NEAR_MISS(CTX_ENDED, ctx_ended_kept)
{
    unsigned long long id = 0;
    ACCEPTED(cuCtxGetId(second, &id));
    ACCEPTED(cuCtxSynchronize_v2(second));
}

TEST_BREAKS(CTX_STACK, ctx_stack_broken)
{
    unsigned depth = 0;
    while (depth < 1000 && cuCtxPushCurrent(second) == CUDA_SUCCESS)
        depth++;
    REFUSED(cuCtxPushCurrent(second), ERROR_OUT_OF_MEMORY);
    while (depth--)
        cuCtxPopCurrent(NULL);
}

TEST_NEAR_MISS(CTX_STACK, ctx_stack_kept)
{
    ACCEPTED(cuCtxPushCurrent(second));
    ACCEPTED(cuCtxPopCurrent(NULL));
}

TEST_BREAKS(CTX_AFFINITY, ctx_affinity_broken)
{
    CUexecAffinityParam part = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 8};
    CUcontext context = NULL;
    REFUSED(cuCtxCreate_v3(&context, &part, 1, 0, 0), ERROR_UNSUPPORTED_EXEC_AFFINITY);
    tap_ok(!context, "and no context is made");
}

TEST_NEAR_MISS(CTX_AFFINITY, ctx_affinity_kept)
{
    CUexecAffinityParam part = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 8};
    CUcontext context = NULL;
    ACCEPTED(cuCtxCreate_v3(&context, &part, 0, 0, 0));
    OK(cuCtxDestroy(context));
}

TEST_BREAKS(CTX_LIMIT_UNSUPPORTED, ctx_limit_unsupported_broken)
{
    size_t value = 0;
    REFUSED(cuCtxGetLimit(&value, CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED), ERROR_UNSUPPORTED_LIMIT);
    REFUSED(cuCtxSetLimit(CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED, 0), ERROR_UNSUPPORTED_LIMIT);
}

TEST_NEAR_MISS(CTX_LIMIT_UNSUPPORTED, ctx_limit_unsupported_kept)
{
    size_t value = 0;
    ACCEPTED(cuCtxGetLimit(&value, CU_LIMIT_CIG_ENABLED));
}

TEST_BREAKS(CTX_LIMIT_READ_ONLY, ctx_limit_read_only_broken)
{
    REFUSED(cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 1), ERROR_NOT_PERMITTED);
}

TEST_NEAR_MISS(CTX_LIMIT_READ_ONLY, ctx_limit_read_only_kept)
{
    size_t value = 0;
    ACCEPTED(cuCtxGetLimit(&value, CU_LIMIT_SHMEM_SIZE));
    ACCEPTED(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
}

TEST_BREAKS(PEER_CONTEXT, peer_context_broken)
{
    CUcontext none = (CUcontext)(uintptr_t)0x1230;
    REFUSED(cuCtxEnablePeerAccess(none, 0), ERROR_INVALID_CONTEXT);
    REFUSED(cuMemcpyPeer(memory, first, memory + 64, none, 4), ERROR_INVALID_CONTEXT);
}

TEST_NEAR_MISS(PEER_CONTEXT, peer_context_kept)
{
    ACCEPTED(cuMemcpyPeer(memory, first, memory + 64, first, 4));
}

TEST_BREAKS(PEER_SAME, peer_same_broken)
{
    int value = 0;
    REFUSED(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0), ERROR_INVALID_DEVICE);
}

TEST_NEAR_MISS(PEER_SAME, peer_same_kept)
{
    int value = 0;
    ACCEPTED(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    EQUAL(value, 1);
}

TEST_BREAKS(PEER_UNSUPPORTED, peer_unsupported_broken)
{
    REFUSED(cuCtxEnablePeerAccess(first, 0), ERROR_PEER_ACCESS_UNSUPPORTED);
}

TEST_NEAR_MISS(PEER_UNSUPPORTED, peer_unsupported_kept)
{
    ACCEPTED(cuCtxEnablePeerAccess(second, 0));
    OK(cuCtxDisablePeerAccess(second));
}

TEST_BREAKS(PEER_ENABLED, peer_enabled_broken)
{
    OK(cuCtxEnablePeerAccess(second, 0));
    REFUSED(cuCtxEnablePeerAccess(second, 0), ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuCtxDisablePeerAccess(second));
}

TEST_NEAR_MISS(PEER_ENABLED, peer_enabled_kept)
{
    OK(cuCtxEnablePeerAccess(second, 0));
    OK(cuCtxDisablePeerAccess(second));
    ACCEPTED(cuCtxEnablePeerAccess(second, 0));
    OK(cuCtxDisablePeerAccess(second));
}

TEST_BREAKS(PEER_NOT_ENABLED, peer_not_enabled_broken)
{
    REFUSED(cuCtxDisablePeerAccess(second), ERROR_PEER_ACCESS_NOT_ENABLED);
}

TEST_NEAR_MISS(PEER_NOT_ENABLED, peer_not_enabled_kept)
{
    OK(cuCtxEnablePeerAccess(second, 0));
    ACCEPTED(cuCtxDisablePeerAccess(second));
}

/* ---- events and captures ---- */

TEST_BREAKS(EVENT_ELAPSED, event_elapsed_broken)
{
    CUevent untimed, unused, event;
    float time = 0;
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&unused, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(untimed, stream));
    OK(cuEventRecord(event, stream));
    OK(cuStreamSynchronize(stream));
    REFUSED(cuEventElapsedTime(&time, untimed, event), ERROR_INVALID_HANDLE);
    REFUSED(cuEventElapsedTime(&time, event, unused), ERROR_INVALID_HANDLE);
    REFUSED(cuEventElapsedTime(NULL, event, event), ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(untimed));
    OK(cuEventDestroy(unused));
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(EVENT_ELAPSED, event_elapsed_kept)
{
    CUevent event;
    float time = -1;
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(event, stream));
    OK(cuStreamSynchronize(stream));
    ACCEPTED(cuEventElapsedTime(&time, event, event));
    OK(cuEventDestroy(event));
}

/* Ends the capture of `stream` with this answer, and destroys the graph, which there is on success alone. */
static void end_captured(CUresult answer)
{
    CUgraph graph = NULL;
    CUresult result = cuStreamEndCapture(stream, &graph);
    answers(__FILE__, __LINE__, "cuStreamEndCapture(stream, &graph)", result, answer);
    EQUAL(graph != NULL, answer == CUDA_SUCCESS);
    if (graph)
        OK(cuGraphDestroy(graph));
}

/* Does something while `stream` captures; then the capture ends with that answer. */
#define CAPTURING(mode, ends, something)                                          \
    do {                                                                          \
        OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_##mode));          \
        something;                                                                \
        end_captured(CUDA_##ends);                                                \
    } while (0)
#define CAPTURED(something) CAPTURING(RELAXED, SUCCESS, something)
#define INVALIDATED(mode, something) CAPTURING(mode, ERROR_STREAM_CAPTURE_INVALIDATED, something)

TEST_BREAKS(CAPTURE_FORBIDS, capture_forbids_broken)
{
    CUdeviceptr more = 0;
    INVALIDATED(GLOBAL, REFUSED(cuMemAlloc(&more, 64), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(RELAXED, REFUSED(cuStreamSynchronize(stream), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(THREAD_LOCAL, REFUSED(cuProfilerStart(), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(GLOBAL, REFUSED(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(GLOBAL, REFUSED(cuModuleUnload(NULL), ERROR_STREAM_CAPTURE_UNSUPPORTED));
    INVALIDATED(GLOBAL, REFUSED(cuLibraryUnload(NULL), ERROR_STREAM_CAPTURE_UNSUPPORTED));
}

TEST_NEAR_MISS(CAPTURE_FORBIDS, capture_forbids_kept)
{
    CUdeviceptr more = 0;
    CAPTURED(ACCEPTED(cuMemAlloc(&more, 64)));
    OK(cuMemFree(more));
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CAPTURING(GLOBAL, SUCCESS, ACCEPTED(cuMemAlloc(&more, 64)));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuMemFree(more));
    CAPTURING(GLOBAL, SUCCESS, ACCEPTED(cuCtxResetPersistingL2Cache()));
}

TEST_BREAKS(CAPTURE_INVALIDATED, capture_invalidated_broken)
{
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuStreamQuery(stream), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REFUSED(cuMemsetD8Async(memory, 1, 4, stream), ERROR_STREAM_CAPTURE_INVALIDATED);
    REFUSED(cuStreamEndCapture(stream, &graph), ERROR_STREAM_CAPTURE_INVALIDATED);
    tap_ok(!graph, "and there is no graph");
}

TEST_NEAR_MISS(CAPTURE_INVALIDATED, capture_invalidated_kept)
{
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(CAPTURE_DEFAULT, capture_default_broken)
{
    REFUSED(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED), ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_NEAR_MISS(CAPTURE_DEFAULT, capture_default_kept)
{
    ACCEPTED(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamEndCapture(CU_STREAM_PER_THREAD, NULL));
}

TEST_BREAKS(CAPTURE_STATE, capture_state_broken)
{
    CUevent event;
    REFUSED(cuStreamEndCapture(stream, NULL), ERROR_ILLEGAL_STATE);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), ERROR_ILLEGAL_STATE);
    OK(cuStreamEndCapture(stream, NULL));
    OK(cuEventCreate(&event, 0));
    REFUSED(cuEventRecordWithFlags(event, stream, 1), ERROR_ILLEGAL_STATE);
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(CAPTURE_STATE, capture_state_kept)
{
    CUevent event;
    OK(cuEventCreate(&event, 0));
    ACCEPTED(cuEventRecordWithFlags(event, stream, 0));
    ACCEPTED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(cuStreamEndCapture(stream, NULL));
    OK(cuEventDestroy(event));
}

static void *end_capture(void *unused)
{
    (void)unused;
    OK(cuCtxSetCurrent(first));
    lines = 0;
    return (void *)(uintptr_t)cuStreamEndCapture(stream, NULL);
}

static CUresult end_on_another_thread(void)
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, end_capture, NULL))
        abort();
    pthread_join(thread, &result);
    return (CUresult)(uintptr_t)result;
}

TEST_BREAKS(CAPTURE_THREAD, capture_thread_broken)
{
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    REFUSED(end_on_another_thread(), ERROR_STREAM_CAPTURE_WRONG_THREAD);
    IS(cuStreamEndCapture(stream, NULL), ERROR_ILLEGAL_STATE); /* it has ended */
}

TEST_NEAR_MISS(CAPTURE_THREAD, capture_thread_kept)
{
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ACCEPTED(end_on_another_thread());
}

static CUgraph empty_graph(void)
{
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamEndCapture(stream, &graph));
    return graph;
}

TEST_BREAKS(GRAPH_UNKNOWN, graph_unknown_broken)
{
    CUgraph graph = empty_graph();
    OK(cuGraphDestroy(graph));
    REFUSED(cuGraphDestroy(graph), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(GRAPH_UNKNOWN, graph_unknown_kept)
{
    ACCEPTED(cuGraphDestroy(empty_graph()));
}

/* ---- captures of several streams ---- */

static CUstream new_stream(void)
{
    CUstream made = NULL;
    OK(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
    return made;
}

static CUevent new_event(void)
{
    CUevent made = NULL;
    OK(cuEventCreate(&made, 0));
    return made;
}

static void begin_capture(CUstream of)
{
    OK(cuStreamBeginCapture(of, CU_STREAM_CAPTURE_MODE_RELAXED));
}

/* The second stream waits for the first one's work. */
static void follow(CUstream after, CUstream before)
{
    CUevent event = new_event();
    OK(cuEventRecord(event, before));
    OK(cuStreamWaitEvent(after, event, 0));
    OK(cuEventDestroy(event));
}

static void forked(CUstream fork)
{
    begin_capture(stream);
    follow(fork, stream);
    OK(cuMemsetD8Async(memory, 1, 4, fork));
}

TEST_BREAKS(CAPTURE_UNJOINED, capture_unjoined_broken)
{
    CUstream fork = new_stream();
    forked(fork);
    REFUSED(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_UNJOINED);
    OK(cuStreamDestroy(fork));
}

TEST_NEAR_MISS(CAPTURE_UNJOINED, capture_unjoined_kept)
{
    CUstream fork = new_stream();
    forked(fork);
    follow(stream, fork);
    ACCEPTED(cuStreamEndCapture(stream, NULL));
    OK(cuStreamDestroy(fork));
}

TEST_BREAKS(CAPTURE_UNMATCHED, capture_unmatched_broken)
{
    CUstream fork = new_stream();
    forked(fork);
    REFUSED(cuStreamEndCapture(fork, NULL), ERROR_STREAM_CAPTURE_UNMATCHED);
    IS(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuStreamDestroy(fork));
}

TEST_NEAR_MISS(CAPTURE_UNMATCHED, capture_unmatched_kept)
{
    begin_capture(stream);
    ACCEPTED(cuStreamEndCapture(stream, NULL));
}

TEST_BREAKS(CAPTURE_MERGE, capture_merge_broken)
{
    CUstream other = new_stream();
    CUevent event = new_event();
    begin_capture(stream);
    begin_capture(other);
    OK(cuEventRecord(event, other));
    REFUSED(cuStreamWaitEvent(stream, event, 0), ERROR_STREAM_CAPTURE_MERGE);
    IS(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    IS(cuStreamEndCapture(other, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(other));
}

TEST_NEAR_MISS(CAPTURE_MERGE, capture_merge_kept)
{
    CUstream other = new_stream();
    CUevent event = new_event();
    begin_capture(stream);
    OK(cuEventRecord(event, stream));
    ACCEPTED(cuStreamWaitEvent(other, event, 0));
    OK(cuStreamEndCapture(stream, NULL));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(other));
}

TEST_BREAKS(CAPTURE_ISOLATION, capture_isolation_broken)
{
    CUevent event = new_event();
    OK(cuEventRecord(event, NULL));
    INVALIDATED(RELAXED, REFUSED(cuStreamWaitEvent(stream, event, 0), ERROR_STREAM_CAPTURE_ISOLATION));
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(CAPTURE_ISOLATION, capture_isolation_kept)
{
    CUevent event = new_event();
    OK(cuEventRecord(event, NULL));
    CAPTURED(ACCEPTED(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL)));
    OK(cuEventDestroy(event));
}

TEST_BREAKS(CAPTURE_IMPLICIT, capture_implicit_broken)
{
    CUstream blocking = NULL;
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    begin_capture(blocking);
    REFUSED(cuMemsetD8(memory, 1, 4), ERROR_STREAM_CAPTURE_IMPLICIT);
    IS(cuStreamEndCapture(blocking, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
    CUstreamCaptureStatus status;
    begin_capture(blocking);
    REFUSED(cuStreamIsCapturing(NULL, &status), ERROR_STREAM_CAPTURE_IMPLICIT);
    REFUSED(cuStreamGetCaptureInfo(CU_STREAM_LEGACY, &status, NULL, NULL, NULL, NULL, NULL), ERROR_STREAM_CAPTURE_IMPLICIT);
    OK(cuStreamEndCapture(blocking, NULL));
    OK(cuStreamDestroy(blocking));
}

TEST_NEAR_MISS(CAPTURE_IMPLICIT, capture_implicit_kept)
{
    CUstream beside = new_stream();
    begin_capture(beside);
    CUstreamCaptureStatus status;
    ACCEPTED(cuMemsetD8(memory, 1, 4));
    ACCEPTED(cuStreamIsCapturing(NULL, &status));
    OK(cuStreamEndCapture(beside, NULL));
    OK(cuStreamDestroy(beside));
}

TEST_BREAKS(CAPTURED_EVENT, captured_event_broken)
{
    CUevent event = new_event();
    INVALIDATED(RELAXED, {
        OK(cuEventRecord(event, stream));
        REFUSED(cuEventQuery(event), ERROR_CAPTURED_EVENT);
    });
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(CAPTURED_EVENT, captured_event_kept)
{
    CUevent event = new_event();
    OK(cuEventRecord(event, NULL));
    CAPTURED(ACCEPTED(cuEventSynchronize(event)));
    OK(cuEventDestroy(event));
}

TEST_BREAKS(CAPTURED_EVENT_OVER, captured_event_over_broken)
{
    CUevent event = new_event();
    CAPTURED(OK(cuEventRecord(event, stream)));
    REFUSED(cuEventQuery(event), ERROR_INVALID_VALUE);
    REFUSED(cuStreamWaitEvent(stream, event, 0), ERROR_INVALID_VALUE);
    OK(cuEventDestroy(event));
}

TEST_NEAR_MISS(CAPTURED_EVENT_OVER, captured_event_over_kept)
{
    CUevent event = new_event();
    CAPTURED(OK(cuEventRecord(event, stream)));
    OK(cuEventRecord(event, stream));
    ACCEPTED(cuEventSynchronize(event));
    OK(cuEventDestroy(event));
}

/* ---- graphs ---- */

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cuGraphCreate(&graph, 0));
    return graph;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(unsigned size)
{
    return (CUDA_MEMSET_NODE_PARAMS){memory, 0, 7, size, 4, 1};
}

static CUgraphNode add_fill(CUgraph graph)
{
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(4);
    CUgraphNode node = NULL;
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, first));
    return node;
}

static CUgraphExec instance_of(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

TEST_BREAKS(GRAPH_NODE, graph_node_broken)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = add_fill(graph), foreign = add_fill(other), more = NULL;
    REFUSED(cuGraphAddEmptyNode(&more, graph, &foreign, 1), ERROR_INVALID_VALUE);
    OK(cuGraphDestroyNode(node));
    REFUSED(cuGraphDestroyNode(node), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(other));
}

TEST_NEAR_MISS(GRAPH_NODE, graph_node_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = add_fill(graph), more = NULL;
    ACCEPTED(cuGraphAddEmptyNode(&more, graph, &node, 1));
    ACCEPTED(cuGraphDestroyNode(node));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_EXEC, graph_exec_broken)
{
    CUgraph graph = new_graph();
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphExecDestroy(exec));
    REFUSED(cuGraphLaunch(exec, stream), ERROR_INVALID_VALUE);
    REFUSED(cuGraphExecDestroy(exec), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_EXEC, graph_exec_kept)
{
    CUgraph graph = new_graph();
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphDestroy(graph));
    ACCEPTED(cuGraphLaunch(exec, stream));
    ACCEPTED(cuGraphExecDestroy(exec));
}

TEST_BREAKS(GRAPH_EDGE, graph_edge_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode a = add_fill(graph), b = add_fill(graph), twice[2] = {a, a}, more = NULL;
    OK(cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    REFUSED(cuGraphAddDependencies(graph, &a, &b, NULL, 1), ERROR_INVALID_VALUE);
    REFUSED(cuGraphAddDependencies(graph, &a, &a, NULL, 1), ERROR_INVALID_VALUE);
    REFUSED(cuGraphRemoveDependencies(graph, &b, &a, NULL, 1), ERROR_INVALID_VALUE);
    REFUSED(cuGraphAddEmptyNode(&more, graph, twice, 2), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_EDGE, graph_edge_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode a = add_fill(graph), b = add_fill(graph);
    ACCEPTED(cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    ACCEPTED(cuGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_CYCLE, graph_cycle_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode a = add_fill(graph), b = add_fill(graph);
    CUgraphExec exec = NULL;
    OK(cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    OK(cuGraphAddDependencies(graph, &b, &a, NULL, 1));
    REFUSED(cuGraphInstantiate(&exec, graph, 0), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_CYCLE, graph_cycle_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode a = add_fill(graph), b = add_fill(graph);
    CUgraphExec exec = NULL;
    OK(cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    ACCEPTED(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_NODE_TYPE, graph_node_type_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = add_fill(graph);
    CUDA_HOST_NODE_PARAMS params;
    REFUSED(cuGraphHostNodeGetParams(node, &params), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_NODE_TYPE, graph_node_type_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = add_fill(graph);
    CUDA_MEMSET_NODE_PARAMS params;
    ACCEPTED(cuGraphMemsetNodeGetParams(node, &params));
    EQUAL(params.value, 7);
    OK(cuGraphDestroy(graph));
}

/* Adds an allocation of 64 bytes on device 0. */
static CUdeviceptr add_alloc(CUgraph graph, CUgraphNode *node)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, .bytesize = 64};
    OK(cuGraphAddMemAllocNode(node, graph, NULL, 0, &params));
    return params.dptr;
}

TEST_BREAKS(GRAPH_MEMORY_KIND, graph_memory_kind_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_HOST, 0}}, .bytesize = 64};
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_NOT_SUPPORTED);
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_NOT_SUPPORTED);
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_NOT_SUPPORTED);
    params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    params.accessDescs = &access;
    params.accessDescCount = 1;
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_NOT_SUPPORTED);
    tap_ok(!node && !params.dptr, "no node was added");
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_KIND, graph_memory_kind_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                         .bytesize = 64, .accessDescs = &access, .accessDescCount = 1};
    ACCEPTED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_ACCESS, graph_memory_access_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, .bytesize = 64, .accessDescCount = 1};
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_ACCESS, graph_memory_access_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    tap_ok(add_alloc(graph, &node), "no list, and a count of 0");
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_FULL, graph_memory_full_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec;
    size_t left = 0, all = 0;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, .bytesize = SIZE_MAX};
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_OUT_OF_MEMORY);
    params.bytesize = SIZE_MAX / 2;
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_OUT_OF_MEMORY);
    OK(cuMemGetInfo(&left, &all));
    params.bytesize = left + 1;
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    exec = instance_of(graph);
    REFUSED(cuGraphLaunch(exec, stream), ERROR_OUT_OF_MEMORY);
    REFUSED(cuGraphUpload(exec, stream), ERROR_OUT_OF_MEMORY);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_FULL, graph_memory_full_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    size_t left = 0, all = 0;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}};
    OK(cuMemGetInfo(&left, &all));
    params.bytesize = left >> 25 << 25; /* whole chunks of 32 MiB */
    ACCEPTED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    CUgraphExec exec = instance_of(graph);
    ACCEPTED(cuGraphLaunch(exec, stream));
    OK(cuMemFree(params.dptr));
    OK(cuStreamSynchronize(stream));
    OK(cuDeviceGraphMemTrim(0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_FREE, graph_memory_free_broken)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = NULL, more = NULL;
    CUdeviceptr at = add_alloc(graph, &node);
    REFUSED(cuGraphAddMemFreeNode(&more, graph, NULL, 0, 0), ERROR_INVALID_VALUE);
    REFUSED(cuGraphAddMemFreeNode(&more, graph, NULL, 0, memory), ERROR_INVALID_VALUE);
    REFUSED(cuGraphAddMemFreeNode(&more, graph, NULL, 0, at + 8), ERROR_INVALID_VALUE);
    OK(cuGraphAddMemFreeNode(&more, other, NULL, 0, at));
    CUgraphExec exec = instance_of(other);
    REFUSED(cuGraphLaunch(exec, stream), ERROR_INVALID_VALUE); /* nothing has allocated it */
    OK(cuGraphAddMemFreeNode(&more, graph, &node, 1, at));
    REFUSED(cuGraphAddMemFreeNode(&more, graph, &node, 1, at), ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_FREE, graph_memory_free_kept)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = NULL, more = NULL;
    CUdeviceptr at = add_alloc(graph, &node);
    ACCEPTED(cuGraphAddMemFreeNode(&more, other, NULL, 0, at));
    CUgraphExec allocates = instance_of(graph), frees = instance_of(other);
    ACCEPTED(cuGraphLaunch(allocates, stream));
    ACCEPTED(cuGraphLaunch(frees, stream));
    OK(cuGraphExecDestroy(allocates));
    OK(cuGraphExecDestroy(frees));
    OK(cuGraphDestroy(other));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_LIVE, graph_memory_live_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUdeviceptr at = add_alloc(graph, &node);
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphLaunch(exec, stream));
    REFUSED(cuGraphLaunch(exec, stream), ERROR_INVALID_VALUE);
    OK(cuMemFree(at));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_LIVE, graph_memory_live_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr at = add_alloc(graph, &node);
    OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphLaunch(exec, stream));
    ACCEPTED(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    exec = instance_of(graph);
    OK(cuMemFreeAsync(at, stream));
    ACCEPTED(cuGraphLaunch(exec, stream));
    OK(cuMemFree(at));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_FIXED, graph_memory_fixed_broken)
{
    CUgraph graph = new_graph(), outer = new_graph(), copy = NULL;
    CUgraphNode node = NULL, more = NULL;
    add_alloc(graph, &node);
    OK(cuGraphAddEmptyNode(&more, graph, &node, 1));
    CUgraphExec exec = instance_of(graph), again = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    REFUSED(cuGraphClone(&copy, graph), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphAddChildGraphNode(&more, outer, NULL, 0, graph), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphRemoveDependencies(graph, &node, &more, NULL, 1), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphDestroyNode(more), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphInstantiate(&again, graph, 0), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphNodeSetParams(node, &params), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphExecNodeSetParams(exec, node, &params), ERROR_NOT_SUPPORTED);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(outer));
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_FIXED, graph_memory_fixed_kept)
{
    CUgraph graph = new_graph(), outer = new_graph();
    CUgraphNode node = NULL, more = NULL, child = NULL;
    add_alloc(graph, &node);
    OK(cuGraphAddEmptyNode(&more, graph, NULL, 0));
    ACCEPTED(cuGraphAddDependencies(graph, &node, &more, NULL, 1));
    OK(cuGraphExecDestroy(instance_of(graph)));
    OK(cuGraphExecDestroy(instance_of(graph)));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    ACCEPTED(cuGraphAddNode(&child, outer, NULL, NULL, 0, &params));
    OK(cuGraphDestroy(outer));
}

TEST_BREAKS(GRAPH_PARAMS, graph_params_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(3);
    REFUSED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, first), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_PARAMS, graph_params_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(2);
    ACCEPTED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, first));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_UPDATE, graph_update_broken)
{
    CUgraph graph = new_graph(), more = new_graph();
    CUgraphExecUpdateResultInfo info;
    add_fill(graph);
    add_fill(more);
    add_fill(more);
    CUgraphExec exec = instance_of(graph);
    REFUSED(cuGraphExecUpdate(exec, more, &info), ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(more));
}

TEST_NEAR_MISS(GRAPH_UPDATE, graph_update_kept)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphExecUpdateResultInfo info;
    add_fill(graph);
    add_fill(other);
    CUgraphExec exec = instance_of(graph);
    ACCEPTED(cuGraphExecUpdate(exec, other, &info));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(other));
}

TEST_BREAKS(GRAPH_FLAGS, graph_flags_broken)
{
    CUgraph graph = new_graph(), other = NULL;
    CUgraphExec exec = NULL;
    REFUSED(cuGraphCreate(&other, 1), ERROR_INVALID_VALUE);
    REFUSED(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_FLAGS, graph_flags_kept)
{
    CUgraph graph = new_graph();
    CUgraphExec exec = NULL;
    ACCEPTED(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static CUgraph with_data(CUgraphNode node[2])
{
    CUgraph graph = new_graph();
    const CUgraphEdgeData data = {.from_port = 1, .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    node[0] = add_fill(graph);
    node[1] = add_fill(graph);
    OK(cuGraphAddDependencies(graph, &node[0], &node[1], &data, 1));
    return graph;
}

TEST_BREAKS(GRAPH_LOSSY, graph_lossy_broken)
{
    CUgraphNode node[2], from[1], to[1];
    CUgraph graph = with_data(node);
    size_t edges = 1;
    REFUSED(cuGraphGetEdges(graph, from, to, NULL, &edges), ERROR_LOSSY_QUERY);
    REFUSED(cuGraphNodeGetDependencies(node[1], from, NULL, &edges), ERROR_LOSSY_QUERY);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_LOSSY, graph_lossy_kept)
{
    CUgraphNode node[2], from[1], to[1];
    CUgraphEdgeData data[1];
    CUgraph graph = with_data(node);
    size_t edges = 1;
    ACCEPTED(cuGraphGetEdges(graph, from, to, data, &edges));
    tap_ok(from[0] == node[0] && to[0] == node[1] && data[0].from_port == 1, "the edge with its data");
    OK(cuGraphDestroy(graph));
}

static void CUDA_CB count_end(void *ended)
{
    ++*(int *)ended;
}

TEST_BREAKS(USER_OBJECT, user_object_broken)
{
    int ended = 0;
    CUuserObject object = NULL;
    OK(cuUserObjectCreate(&object, &ended, count_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    REFUSED(cuUserObjectRetain(object, 0), ERROR_INVALID_VALUE);
    OK(cuUserObjectRelease(object, 1));
    EQUAL(ended, 1);
    REFUSED(cuUserObjectRelease(object, 1), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(USER_OBJECT, user_object_kept)
{
    int ended = 0;
    CUuserObject object = NULL;
    CUgraph graph = new_graph();
    ACCEPTED(cuUserObjectCreate(&object, &ended, count_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ACCEPTED(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    EQUAL(ended, 0);
    ACCEPTED(cuGraphDestroy(graph));
    EQUAL(ended, 1);
}

/* ---- code ---- */

TEST_BREAKS(CODE_HANDLE, code_handle_broken)
{
    CUmodule module = NULL;
    CUfunction found = NULL;
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleUnload(module));
    REFUSED(cuModuleUnload(module), ERROR_INVALID_HANDLE);
    REFUSED(cuModuleGetFunction(&found, module, "vectorAdd"), ERROR_INVALID_HANDLE);
}

TEST_NEAR_MISS(CODE_HANDLE, code_handle_kept)
{
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, "image"));
    ACCEPTED(cuModuleUnload(module));
}

TEST_BREAKS(CODE_FILE, code_file_broken)
{
    CUmodule module = NULL;
    REFUSED(cuModuleLoad(&module, "/nonexistent"), ERROR_FILE_NOT_FOUND);
    REFUSED(cuModuleLoad(&module, "/"), ERROR_FILE_NOT_FOUND);
    tap_ok(!module, "and nothing is loaded");
}

TEST_NEAR_MISS(CODE_FILE, code_file_kept)
{
    CUmodule module = NULL;
    ACCEPTED(cuModuleLoad(&module, "/proc/self/exe"));
    OK(cuModuleUnload(module));
}

TEST_BREAKS(CODE_SYSTEM, code_system_broken)
{
    CUmodule module = NULL;
    struct rlimit before, none;
    if (getrlimit(RLIMIT_NOFILE, &before))
        abort();
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    lines = 0;
    CUresult result = cuModuleLoad(&module, "/proc/self/exe");
    setrlimit(RLIMIT_NOFILE, &before);
    IS(result, ERROR_OPERATING_SYSTEM);
    tap_ok(refused_by_rule(), "by %s", rule);
}

TEST_NEAR_MISS(CODE_SYSTEM, code_system_kept)
{
    CUlibrary library = NULL;
    ACCEPTED(cuLibraryLoadFromFile(&library, "/proc/self/exe", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryUnload(library));
}

TEST_BREAKS(CODE_NAME, code_name_broken)
{
    CUmodule module = NULL;
    CUfunction found = NULL;
    CUdeviceptr at = 1;
    size_t size = 1;
    OK(cuModuleLoadData(&module, "image"));
    REFUSED(cuModuleGetFunction(&found, module, "absent"), ERROR_NOT_FOUND);
    REFUSED(cuModuleGetGlobal(&at, &size, module, "variable"), ERROR_NOT_FOUND);
    tap_ok(!at && !size, "and the outputs are 0");
    OK(cuModuleUnload(module));
}

TEST_NEAR_MISS(CODE_NAME, code_name_kept)
{
    CUmodule module = NULL;
    CUfunction found = NULL;
    OK(cuModuleLoadData(&module, "image"));
    ACCEPTED(cuModuleGetFunction(&found, module, "vectorAdd"));
    OK(cuModuleUnload(module));
}

TEST_BREAKS(CODE_KIND, code_kind_broken)
{
    CUmodule module = NULL;
    CUlibrary library = NULL;
    CUdeviceptr at = 1;
    void *function = &at;
    size_t size = 1;
    OK(cuModuleLoadData(&module, "image"));
    OK(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    REFUSED(cuModuleGetGlobal(&at, &size, module, "vectorAdd"), ERROR_INVALID_VALUE);
    REFUSED(cuModuleGetGlobal(&at, &size, module, ""), ERROR_INVALID_VALUE);
    tap_ok(!at && !size, "and the outputs are 0");
    at = size = 1;
    REFUSED(cuLibraryGetGlobal(&at, &size, library, "vectorAdd"), ERROR_INVALID_VALUE);
    REFUSED(cuLibraryGetManaged(&at, &size, library, ""), ERROR_INVALID_VALUE);
    REFUSED(cuLibraryGetUnifiedFunction(&function, library, "vectorAdd"), ERROR_INVALID_VALUE);
    tap_ok(at == 1 && size == 1 && function == &at, "and the outputs are as they were");
    OK(cuLibraryUnload(library));
    OK(cuModuleUnload(module));
}

TEST_NEAR_MISS(CODE_KIND, code_kind_kept)
{
    CUmodule module = NULL;
    CUlibrary library = NULL;
    CUdeviceptr at = 0;
    size_t size = 0;
    OK(cuModuleLoadData(&module, "image"));
    OK(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    ACCEPTED(cuModuleGetGlobal(&at, &size, module, "counter"));
    EQUAL(size, 4);
    ACCEPTED(cuLibraryGetGlobal(&at, &size, library, "counter"));
    OK(cuLibraryUnload(library));
    OK(cuModuleUnload(module));
}

TEST_BREAKS(CODE_OWNER, code_owner_broken)
{
    CUlibrary library = NULL;
    CUmodule module = NULL;
    CUfunction found = NULL;
    OK(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetModule(&module, library));
    REFUSED(cuModuleUnload(module), ERROR_NOT_PERMITTED);
    OK(cuModuleGetFunction(&found, module, "vectorAdd"));
    OK(cuLibraryUnload(library));
}

TEST_NEAR_MISS(CODE_OWNER, code_owner_kept)
{
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, "image"));
    ACCEPTED(cuModuleUnload(module));
}

/* The only kernel of an image. */
static CUfunction kernel_of(CUmodule *module, const char *image, const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleLoadData(module, image));
    OK(cuModuleGetFunction(&f, *module, name));
    return f;
}

TEST_BREAKS(LAUNCH_MISSING, launch_missing_broken)
{
    CUmodule module = NULL;
    CUfunction f = kernel_of(&module, ".version 8.0\n.target sm_90\n.entry lonely(.param .u64 a) { ret; }\n", "lonely");
    uint64_t a = 0;
    void *params[] = {&a};
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    REFUSED(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL), ERROR_NOT_SUPPORTED);
    REFUSED(cuLaunchKernelEx(&config, f, params, NULL), ERROR_NOT_SUPPORTED);
    REFUSED(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, params), ERROR_NOT_SUPPORTED);
    OK(cuModuleUnload(module));
}

TEST_NEAR_MISS(LAUNCH_MISSING, launch_missing_kept)
{
    CUmodule module = NULL;
    CUfunction f = kernel_of(&module, ".version 8.0\n.target sm_90\n.entry nothing { ret; }\n", "nothing");
    ACCEPTED(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    OK(cuModuleUnload(module));
}

static CUmodule cluster_module;

/* A function of a module of its own, and a launch of 16 blocks in clusters of x, or without clusters. */
static CUfunction of_clusters(CUlaunchConfig *config, CUlaunchAttribute *cluster, unsigned x)
{
    CUfunction f = NULL;
    OK(cuModuleLoadData(&cluster_module, "image"));
    OK(cuModuleGetFunction(&f, cluster_module, "nothing"));
    *cluster = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {x, 1, 1}};
    *config = (CUlaunchConfig){.gridDimX = 16, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1,
                               .attrs = cluster, .numAttrs = x != 0};
    return f;
}

TEST_BREAKS(LAUNCH_CLUSTER, launch_cluster_broken)
{
    static const unsigned tried[] = {3, 16, 32};
    CUlaunchAttribute cluster;
    CUlaunchConfig config;
    int clusters = 77;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        CUfunction f = of_clusters(&config, &cluster, tried[i]);
        REFUSED(cuOccupancyMaxActiveClusters(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
        REFUSED(cuOccupancyMaxPotentialClusterSize(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
        OK(cuModuleUnload(cluster_module));
    }
    CUfunction f = of_clusters(&config, &cluster, 2);
    cluster.value.clusterDim.y = 0;
    REFUSED(cuOccupancyMaxActiveClusters(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
    for (unsigned z = 0; z < 2; z++) { /* neither divides a grid of (16, 1, 1) blocks */
        cluster.value.clusterDim.y = z ? 1 : 3;
        cluster.value.clusterDim.z = z ? 3 : 1;
        REFUSED(cuOccupancyMaxActiveClusters(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
    }
    cluster.value.clusterDim.z = 1;
    for (int i = 3; i-- > 0;) { /* the depth, the height or the width is another */
        OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, i ? 2 : 3));
        OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, i == 1 ? 2 : 1));
        OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, i == 2 ? 2 : 1));
        REFUSED(cuOccupancyMaxActiveClusters(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
    }
    REFUSED(cuLaunchKernel(f, 16, 1, 1, 32, 1, 1, 0, stream, NULL, NULL), ERROR_INVALID_CLUSTER_SIZE);
    EQUAL(clusters, 77);
    OK(cuModuleUnload(cluster_module));
}

TEST_NEAR_MISS(LAUNCH_CLUSTER, launch_cluster_kept)
{
    CUlaunchAttribute cluster;
    CUlaunchConfig config;
    int clusters = 0;
    CUfunction f = of_clusters(&config, &cluster, 8);
    ACCEPTED(cuOccupancyMaxActiveClusters(&clusters, f, &config));
    tap_ok(clusters > 0, "clusters of 8 run");
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 8));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
    config.numAttrs = 0;
    ACCEPTED(cuOccupancyMaxActiveClusters(&clusters, f, &config));
    ACCEPTED(cuOccupancyMaxPotentialClusterSize(&clusters, f, &config));
    EQUAL(clusters, 8);
    ACCEPTED(cuLaunchKernel(f, 16, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    OK(cuModuleUnload(cluster_module));
}

/* ---- pinned memory ---- */

static char own[SIZE];

TEST_BREAKS(REGISTER_ADDRESS, register_address_broken)
{
    REFUSED(cuMemHostRegister((void *)(UINTPTR_MAX / 2), 64, 0), ERROR_NOT_SUPPORTED);
}

TEST_NEAR_MISS(REGISTER_ADDRESS, register_address_kept)
{
    ACCEPTED(cuMemHostRegister(own, 64, 0));
    OK(cuMemHostUnregister(own));
}

TEST_BREAKS(REGISTER_MEMORY, register_memory_broken)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REFUSED(cuMemHostRegister((void *)(uintptr_t)memory, 64, 0), ERROR_INVALID_VALUE);
    REFUSED(cuMemHostRegister(page, 64, 0), ERROR_INVALID_VALUE);
    munmap(page, 4096);
}

TEST_NEAR_MISS(REGISTER_MEMORY, register_memory_kept)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ACCEPTED(cuMemHostRegister(page, 64, CU_MEMHOSTREGISTER_READ_ONLY));
    OK(cuMemHostUnregister(page));
    munmap(page, 4096);
}

TEST_BREAKS(REGISTER_TWICE, register_twice_broken)
{
    OK(cuMemHostRegister(own, 64, 0));
    REFUSED(cuMemHostRegister(own + 63, 64, 0), ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostUnregister(own));
}

TEST_NEAR_MISS(REGISTER_TWICE, register_twice_kept)
{
    OK(cuMemHostRegister(own, 64, 0));
    ACCEPTED(cuMemHostRegister(own + 64, 64, 0));
    OK(cuMemHostUnregister(own));
    OK(cuMemHostUnregister(own + 64));
}

TEST_BREAKS(REGISTER_NOT_START, register_not_start_broken)
{
    OK(cuMemHostRegister(own, 64, 0));
    REFUSED(cuMemHostUnregister(own + 1), ERROR_INVALID_VALUE);
    OK(cuMemHostUnregister(own));
}

TEST_NEAR_MISS(REGISTER_NOT_START, register_not_start_kept)
{
    OK(cuMemHostRegister(own, 64, 0));
    ACCEPTED(cuMemHostUnregister(own));
}

TEST_BREAKS(REGISTER_NONE, register_none_broken)
{
    OK(cuMemHostRegister(own, 64, 0));
    OK(cuMemHostUnregister(own));
    REFUSED(cuMemHostUnregister(own), ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_NEAR_MISS(REGISTER_NONE, register_none_kept)
{
    OK(cuMemHostRegister(own, 64, 0));
    ACCEPTED(cuMemHostUnregister(own));
}

TEST_BREAKS(PINNED_UNKNOWN, pinned_unknown_broken)
{
    unsigned flags = 0;
    CUdeviceptr at = 1;
    REFUSED(cuMemHostGetFlags(&flags, own), ERROR_INVALID_VALUE);
    REFUSED(cuMemHostGetDevicePointer(&at, own, 0), ERROR_INVALID_VALUE);
    EQUAL(at, 0);
}

TEST_NEAR_MISS(PINNED_UNKNOWN, pinned_unknown_kept)
{
    unsigned flags = 0;
    OK(cuMemHostRegister(own, 64, 0));
    ACCEPTED(cuMemHostGetFlags(&flags, own));
    OK(cuMemHostUnregister(own));
}

TEST_BREAKS(PINNED_READ_ONLY, pinned_read_only_broken)
{
    own[0] = 3;
    OK(cuMemHostRegister(own, 64, CU_MEMHOSTREGISTER_READ_ONLY));
    REFUSED(cuMemcpyDtoD((CUdeviceptr)(uintptr_t)own, memory, 4), ERROR_INVALID_VALUE);
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)own, from = memory; /* as a copy of a batch, too */
    size_t size = 4, index = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY};
    REFUSED(cuMemcpyBatchAsync(&to, &from, &size, 1, &attributes, &index, 1, CU_STREAM_PER_THREAD), ERROR_INVALID_VALUE);
    EQUAL(own[0], 3);
    OK(cuMemHostUnregister(own));
}

TEST_NEAR_MISS(PINNED_READ_ONLY, pinned_read_only_kept)
{
    OK(cuMemHostRegister(own, 64, CU_MEMHOSTREGISTER_READ_ONLY));
    ACCEPTED(cuMemcpyDtoD(memory, (CUdeviceptr)(uintptr_t)own, 4));
    OK(cuMemHostUnregister(own));
}

TEST_BREAKS(PINNED_VMM, pinned_vmm_broken)
{
    void *pinned = NULL;
    CUmemGenericAllocationHandle handle = 0;
    OK(cuMemHostAlloc(&pinned, 2 << 20, 0));
    REFUSED(cuMemUnmap((CUdeviceptr)(uintptr_t)pinned, 2 << 20), ERROR_INVALID_VALUE);
    REFUSED(cuMemRetainAllocationHandle(&handle, pinned), ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(pinned));
}

TEST_BREAKS(MANAGED_FREE_ASYNC, managed_free_async_broken)
{
    CUdeviceptr managed = 0;
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    REFUSED(cuMemFreeAsync(managed, stream), ERROR_NOT_SUPPORTED);
    REFUSED(cuMemFreeAsync(managed + 63, stream), ERROR_NOT_SUPPORTED);
    OK(cuMemFree(managed));
}

TEST_NEAR_MISS(MANAGED_FREE_ASYNC, managed_free_async_kept)
{
    CUdeviceptr managed = 0, pooled = 0;
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocAsync(&pooled, 64, stream));
    ACCEPTED(cuMemFreeAsync(pooled, stream));
    ACCEPTED(cuMemFree(managed));
}

/* Mapped memory of cuMemCreate, whose handle is released: it ends with its mapping. */
static CUdeviceptr mapped(void)
{
    CUdeviceptr range = 0;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle = 0;
    OK(cuMemCreate(&handle, 2 << 20, &prop, 0));
    OK(cuMemAddressReserve(&range, 2 << 20, 0, 0, 0));
    OK(cuMemMap(range, 2 << 20, 0, handle, 0));
    OK(cuMemRelease(handle));
    return range;
}

TEST_NEAR_MISS(PINNED_VMM, pinned_vmm_kept)
{
    CUdeviceptr range = mapped();
    CUmemGenericAllocationHandle again = 0;
    ACCEPTED(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)range));
    ACCEPTED(cuMemUnmap(range, 2 << 20));
    OK(cuMemRelease(again));
    OK(cuMemAddressFree(range, 2 << 20));
}

TEST_BREAKS(POINTER_SET, pointer_set_broken)
{
    CUdeviceptr range = mapped();
    REFUSED(cuPointerSetAttribute(&(unsigned){1}, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, range), ERROR_NOT_SUPPORTED);
    OK(cuMemUnmap(range, 2 << 20));
    OK(cuMemAddressFree(range, 2 << 20));
}

TEST_NEAR_MISS(POINTER_SET, pointer_set_kept)
{
    ACCEPTED(cuPointerSetAttribute(&(unsigned){1}, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
}

/* ---- rows ---- */

/* Two rows of 16 bytes from the program's memory into a part of the allocation. */
static CUDA_MEMCPY2D rows(void)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = own, .srcPitch = 32,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = memory, .dstPitch = 32,
                           .WidthInBytes = 16, .Height = 2};
}

TEST_BREAKS(ROWS_MEMORY, rows_memory_broken)
{
    CUDA_MEMCPY2D copy = rows();
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = (CUdeviceptr)(uintptr_t)own;
    REFUSED(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    REFUSED(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(ROWS_MEMORY, rows_memory_kept)
{
    CUDA_MEMCPY2D copy = rows();
    ACCEPTED(cuMemcpy2D(&copy));
}

TEST_BREAKS(ROWS_PITCH, rows_pitch_broken)
{
    CUDA_MEMCPY2D copy = rows();
    copy.srcPitch = 15;
    REFUSED(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    REFUSED(cuMemsetD2D8(memory, 15, 1, 16, 2), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(ROWS_PITCH, rows_pitch_kept)
{
    CUDA_MEMCPY2D copy = rows();
    copy.srcPitch = 16;
    ACCEPTED(cuMemcpy2D(&copy));
    ACCEPTED(cuMemsetD2D8(memory, 16, 1, 16, 2));
}

TEST_BREAKS(ROWS_END, rows_end_broken)
{
    CUDA_MEMCPY2D copy = rows();
    copy.dstPitch = SIZE - 15;
    REFUSED(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    REFUSED(cuMemsetD2D8(memory, SIZE - 15, 1, 16, 2), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(ROWS_END, rows_end_kept)
{
    CUDA_MEMCPY2D copy = rows();
    copy.dstPitch = SIZE - 16;
    ACCEPTED(cuMemcpy2D(&copy));
    ACCEPTED(cuMemsetD2D8(memory, SIZE - 16, 1, 16, 2));
}

/* ---- stream memory operations of the first version ---- */

typedef CUresult (*value32_call)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
typedef CUresult (*value64_call)(CUstream, CUdeviceptr, cuuint64_t, unsigned);
typedef CUresult (*batch_call)(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned);

/* The form of a version and of the default streams. */
static void *form_of(const char *name, int version, cuuint64_t flags)
{
    void *at = NULL;
    CUdriverProcAddressQueryResult status;
    if (cuGetProcAddress(name, &at, version, flags, &status) != CUDA_SUCCESS || !at)
        tap_bail("%s of version %d is not there", name, version);
    return at;
}

TEST_BREAKS(MEMOP_FIRST_VERSION, memop_first_version_broken)
{
    static const char *const narrow[] = {"cuStreamWriteValue32", "cuStreamWaitValue32"};
    static const char *const wide[] = {"cuStreamWriteValue64", "cuStreamWaitValue64"};
    for (cuuint64_t flags = 1; flags <= 2; flags++) {
        for (int i = 0; i < 2; i++) {
            value32_call call32;
            value64_call call64;
            void *at = form_of(narrow[i], 9000, flags);
            memcpy(&call32, &at, sizeof call32);
            at = form_of(wide[i], 9000, flags);
            memcpy(&call64, &at, sizeof call64);
            REFUSED(call32(NULL, memory, 1, 0), ERROR_NOT_SUPPORTED);
            REFUSED(call64(NULL, 1, 1, 99), ERROR_NOT_SUPPORTED); /* whatever the arguments are */
            REFUSED(call32(stream, memory, 1, 0), ERROR_NOT_SUPPORTED);
            REFUSED(call64(stream, memory, 1, 0), ERROR_NOT_SUPPORTED);
        }
        batch_call batch;
        void *at = form_of("cuStreamBatchMemOp", 9000, flags);
        memcpy(&batch, &at, sizeof batch);
        REFUSED(batch(NULL, 0, NULL, 0), ERROR_NOT_SUPPORTED);
        REFUSED(batch(stream, 255, NULL, 7), ERROR_NOT_SUPPORTED);
        rule = "VMM-MEMOP-COUNT";
        REFUSED(batch(NULL, 256, NULL, 0), ERROR_INVALID_VALUE);
        rule = "VMM-MEMOP-FIRST-VERSION";
    }
}

TEST_NEAR_MISS(MEMOP_FIRST_VERSION, memop_first_version_kept)
{
    value32_call call;
    for (cuuint64_t flags = 1; flags <= 2; flags++) {
        void *at = form_of("cuStreamWriteValue32", 11070, flags);
        memcpy(&call, &at, sizeof call);
        ACCEPTED(call(NULL, memory, 1, 0));
    }
    ACCEPTED(cuCtxSynchronize());
}

/* ---- all of them ---- */

static const struct row {
    const char *symbol, *id;
} table[] = {
#define VMM_RULE(symbol, id, ...) {#symbol, id},
#include "rules/library.def"
#undef VMM_RULE
};

static bool run(const struct row *row, bool breaks)
{
    bool any = false;
    rule = row->id;
    for (size_t i = 0; i < count; i++)
        if (strcmp(tests[i].symbol, row->symbol) == 0 && tests[i].breaks == breaks) {
            tests[i].run();
            any = true;
        }
    return any;
}

/* How many of these the suite leaves to libcuda.so.1. */
static size_t left_in(const char *const *ids, size_t length)
{
    size_t left = 0;
    for (size_t i = 0; i < length; i++)
        left += strcmp(vmm_rule_find(ids[i])->needs, "libcuda.so.1") == 0;
    return left;
}

/* What the suite leaves to this test, and nothing else, is in its table; abi_ipc_rules_test.c has rules/ipc.def. */
static void test_complete(void)
{
    static const char *const elsewhere[] = {
#define VMM_RULE(symbol, id, ...) id,
#include "rules/ipc.def"
#undef VMM_RULE
    };
    size_t rules = 0, marked = 0, both = 0;
    const vmm_rule *all = vmm_rules(&rules);
    for (size_t i = 0; i < rules; i++)
        marked += strcmp(all[i].needs, "libcuda.so.1") == 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        both += !vmm_rule_find(table[i].id)->needs[0]; /* the suite tests them, too */
    EQUAL(marked + both, sizeof table / sizeof table[0] + left_in(elsewhere, sizeof elsewhere / sizeof elsewhere[0]));
    EQUAL(count, 2 * (sizeof table / sizeof table[0]));
}

/* Calls that libcuda.so.1 answers without the engine look for cuInit themselves. */
static void test_early(void)
{
    int value = 0;
    rule = "VMM-INIT-REQUIRED";
    REFUSED(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), ERROR_NOT_INITIALIZED);
}

static void test_forked(void)
{
    int status = -1, value = 0;
    rule = "VMM-INIT-FORKED";
    lines = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0) == CUDA_ERROR_NOT_INITIALIZED && refused_by_rule()
                  ? 0 : 1);
    waitpid(child, &status, 0);
    EQUAL(status, 0);
}

int main(int argc, char **argv)
{
    CUlogsCallbackHandle callback;
    setenv("CUVMM_SIM", "sim:h200x2,schedule=late", 1); /* no thread but this one reports */
    program = argv[0];
    if (argc > 1)
        return init_here(argv[1]);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    OK(cuLogsRegisterCallback(hear, NULL, &callback));
    test_early();
    first = begin();
    test_forked();
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, SIZE));
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const vmm_rule *row = vmm_rule_find(table[i].id);
        tap_ok(run(&table[i], true), "%s has a test that breaks it", table[i].id);
        tap_ok(run(&table[i], false), "%s has a near miss", table[i].id);
        tap_ok(row && row->message[0] && row->explanation[0] && row->way_out[0], "%s states what, why and the fix", table[i].id);
    }
    test_complete();
    OK(cuMemFree(memory));
    return tap_done();
}
