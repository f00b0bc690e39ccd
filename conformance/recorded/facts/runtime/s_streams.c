/* SPDX-License-Identifier: Apache-2.0 */
/* Group S: streams, events, callbacks and captures. Part of ../runtime.c, which includes it. */
#include <stdatomic.h>

static cudaStream_t s_new(unsigned flags)
{
    cudaStream_t stream = NULL;
    need(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static cudaEvent_t s_event(unsigned flags)
{
    cudaEvent_t event = NULL;
    need(cudaEventCreateWithFlags(&event, flags));
    return event;
}

/* Keeps a stream busy until it is opened, but no longer than three seconds. */
static atomic_int s_gate, s_count;

static void s_wait(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3000 && !s_gate; i++)
        usleep(1000);
    s_count++;
}

static void s_add(void *unused)
{
    (void)unused;
    s_count++;
}

/* ---- streams ---- */

static void s_create(void)
{
    cudaStream_t stream = (cudaStream_t)0x77;
    unsigned flags = 77;
    int priority = 77;
    AV("S.create(Success)", cudaStreamCreate(&stream), "made=%d", stream != (cudaStream_t)0x77 && stream);
    AV("S.create.flags(Success)", cudaStreamGetFlags(stream, &flags), "flags=%u", flags);
    AV("S.create.priority(Success)", cudaStreamGetPriority(stream, &priority), "priority=%d", priority);
    A("S.create.null(InvalidValue)", cudaStreamCreate(NULL));
    A("S.create_flags.null(InvalidValue)", cudaStreamCreateWithFlags(NULL, 0));
    A("S.create_priority.null(InvalidValue)", cudaStreamCreateWithPriority(NULL, 0, 0));
    for (unsigned i = 0; i < 5; i++) {
        stream = (cudaStream_t)0x77;
        AV(with("S.create.with.%u", i), cudaStreamCreateWithFlags(&stream, i), "written=%d", stream != (cudaStream_t)0x77);
    }
    for (int i = -7; i < 3; i++) {
        stream = NULL;
        priority = 77;
        A(with("S.create.priority.%d", i), cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, i));
        if (stream)
            AV(with("S.create.priority.%d.get", i), cudaStreamGetPriority(stream, &priority), "priority=%d", priority);
    }
}

static void s_asked(void)
{
    static const struct {
        const char *name;
        cudaStream_t stream;
    } all[] = {{"0", NULL}, {"legacy", (cudaStream_t)1}, {"own", (cudaStream_t)2}};
    for (size_t i = 0; i < COUNT(all); i++) {
        unsigned flags = 77;
        int priority = 77;
        unsigned long long id = 77;
        AV(with("S.asked.%s.flags(Success)", all[i].name), cudaStreamGetFlags(all[i].stream, &flags), "flags=%u", flags);
        AV(with("S.asked.%s.priority(Success)", all[i].name), cudaStreamGetPriority(all[i].stream, &priority), "priority=%d", priority);
        AV(with("S.asked.%s.id(Success)", all[i].name), cudaStreamGetId(all[i].stream, &id), "changed=%d", id != 77);
        A(with("S.asked.%s.query(Success)", all[i].name), cudaStreamQuery(all[i].stream));
        A(with("S.asked.%s.synchronize(Success)", all[i].name), cudaStreamSynchronize(all[i].stream));
        A(with("S.asked.%s.flags.null", all[i].name), cudaStreamGetFlags(all[i].stream, NULL));
        A(with("S.asked.%s.priority.null", all[i].name), cudaStreamGetPriority(all[i].stream, NULL));
        A(with("S.asked.%s.id.null", all[i].name), cudaStreamGetId(all[i].stream, NULL));
        A(with("S.asked.%s.destroy", all[i].name), cudaStreamDestroy(all[i].stream));
    }
}

static void s_device(void)
{
    int device = 77;
    AV("S.device.0(Success)", cudaStreamGetDevice(NULL, &device), "device=%d", device);
    A("S.device.null", cudaStreamGetDevice(NULL, NULL));
}

/* An invalid handle: on a driver the result may be anything, even a crash. */
static void s_wild_query(void)
{
    A("S.wild.query", cudaStreamQuery((cudaStream_t)0x1230));
}

static void s_wild_synchronize(void)
{
    A("S.wild.synchronize", cudaStreamSynchronize((cudaStream_t)0x1230));
}

static void s_wild_event(void)
{
    A("S.wild.event", cudaEventQuery((cudaEvent_t)0x1230));
}

static void s_twice(void)
{
    cudaStream_t stream = s_new(0);
    A("S.destroy(Success)", cudaStreamDestroy(stream));
    A("S.destroy.twice", cudaStreamDestroy(stream));
}

static void s_event_twice(void)
{
    cudaEvent_t event = s_event(0);
    A("S.event.destroy(Success)", cudaEventDestroy(event));
    A("S.event.destroy.twice", cudaEventDestroy(event));
}

static void s_event_null(void)
{
    A("S.event.destroy.null", cudaEventDestroy(NULL));
    A("S.event.query.null", cudaEventQuery(NULL));
    A("S.event.synchronize.null", cudaEventSynchronize(NULL));
    A("S.event.record.null", cudaEventRecord(NULL, NULL));
    A("S.event.wait.null", cudaStreamWaitEvent(NULL, NULL, 0));
}

/* ---- what is pending ---- */

static void s_busy(void)
{
    cudaStream_t stream = s_new(cudaStreamNonBlocking), other = s_new(cudaStreamNonBlocking);
    cudaEvent_t event = s_event(cudaEventDisableTiming);
    A("S.busy.event.unused(Success)", cudaEventQuery(event));
    A("S.busy.event.unused.synchronize(Success)", cudaEventSynchronize(event));
    A("S.busy.launch(Success)", cudaLaunchHostFunc(stream, s_wait, NULL));
    A("S.busy.record(Success)", cudaEventRecord(event, stream));
    A("S.busy.query(NotReady)", cudaStreamQuery(stream));
    A("S.busy.event(NotReady)", cudaEventQuery(event));
    A("S.busy.wait(Success)", cudaStreamWaitEvent(other, event, 0));
    A("S.busy.other.launch(Success)", cudaLaunchHostFunc(other, s_add, NULL));
    A("S.busy.other(NotReady)", cudaStreamQuery(other));
    cudaStreamQuery(stream);
    AV("S.busy.last", cudaPeekAtLastError(), "count=%d", s_count);
    cudaGetLastError();
    s_gate = 1;
    AV("S.busy.other.synchronize(Success)", cudaStreamSynchronize(other), "count=%d", s_count);
    A("S.busy.event.after(Success)", cudaEventQuery(event));
    A("S.busy.query.after(Success)", cudaStreamQuery(stream));
}

static void s_destroyed_busy(void)
{
    cudaStream_t stream = s_new(cudaStreamNonBlocking);
    A("S.left.launch(Success)", cudaLaunchHostFunc(stream, s_wait, NULL));
    A("S.left.destroy(Success)", cudaStreamDestroy(stream));
    s_gate = 1;
    AV("S.left.synchronize(Success)", cudaDeviceSynchronize(), "count=%d", s_count);
}

/* ---- events ---- */

static void s_events(void)
{
    cudaEvent_t event;
    for (unsigned i = 0; i < 17; i++) {
        event = (cudaEvent_t)0x77;
        AV(with("S.event.create.%u", i), cudaEventCreateWithFlags(&event, i), "written=%d", event != (cudaEvent_t)0x77);
    }
    A("S.event.create.null(InvalidValue)", cudaEventCreate(NULL));
    event = s_event(0);
    for (unsigned i = 0; i < 4; i++)
        A(with("S.event.record.flags.%u", i), cudaEventRecordWithFlags(event, NULL, i));
    for (unsigned i = 0; i < 4; i++)
        A(with("S.event.wait.flags.%u", i), cudaStreamWaitEvent(NULL, event, i));
}

static void s_elapsed(void)
{
    cudaEvent_t first = s_event(0), second = s_event(0), untimed = s_event(cudaEventDisableTiming);
    float ms = -1;
    AV("S.elapsed.unrecorded(InvalidResourceHandle)", cudaEventElapsedTime(&ms, first, second), "written=%d", ms >= 0);
    need(cudaEventRecord(first, NULL));
    AV("S.elapsed.second.unrecorded(InvalidResourceHandle)", cudaEventElapsedTime(&ms, first, second), "written=%d", ms >= 0);
    need(cudaEventRecord(second, NULL));
    need(cudaEventRecord(untimed, NULL));
    need(cudaEventSynchronize(untimed));
    AV("S.elapsed(Success)", cudaEventElapsedTime(&ms, first, second), "written=%d", ms >= 0);
    ms = -1;
    AV("S.elapsed.same(Success)", cudaEventElapsedTime(&ms, first, first), "zero=%d", ms >= 0 && ms <= 0);
    ms = -1;
    AV("S.elapsed.untimed(InvalidResourceHandle)", cudaEventElapsedTime(&ms, first, untimed), "written=%d", ms >= 0);
    A("S.elapsed.untimed.first(InvalidResourceHandle)", cudaEventElapsedTime(&ms, untimed, first));
    A("S.elapsed.nowhere", cudaEventElapsedTime(NULL, first, second));
    A("S.elapsed.null", cudaEventElapsedTime(&ms, NULL, second));
    A("S.elapsed.null.second", cudaEventElapsedTime(&ms, first, NULL));
}

static void s_ipc(void)
{
    cudaEvent_t shared = s_event(cudaEventInterprocess | cudaEventDisableTiming), plain = s_event(cudaEventDisableTiming), opened = NULL;
    cudaIpcEventHandle_t handle, again, none;
    memset(&none, 0, sizeof none);
    A("S.ipc.get(Success)", cudaIpcGetEventHandle(&handle, shared));
    AV("S.ipc.get.again(Success)", cudaIpcGetEventHandle(&again, shared), "same=%d", !memcmp(&handle, &again, sizeof handle));
    A("S.ipc.plain", cudaIpcGetEventHandle(&again, plain));
    A("S.ipc.null", cudaIpcGetEventHandle(NULL, shared));
    A("S.ipc.null.event", cudaIpcGetEventHandle(&again, NULL));
    AV("S.ipc.open.own", cudaIpcOpenEventHandle(&opened, handle), "opened=%d", opened != NULL);
    A("S.ipc.open.null", cudaIpcOpenEventHandle(NULL, handle));
    A("S.ipc.open.none", cudaIpcOpenEventHandle(&opened, none));
}

/* ---- callbacks ---- */

static cudaStream_t s_told;
static cudaError_t s_status, s_inside, s_inside_last;

static void CUDART_CB s_call_back(cudaStream_t stream, cudaError_t status, void *user)
{
    s_told = stream;
    s_status = status;
    s_inside = user ? cudaStreamQuery(stream) : cudaSuccess;
    s_inside_last = cudaGetLastError();
    s_count++;
}

static void s_callback(void)
{
    cudaStream_t stream = s_new(cudaStreamNonBlocking);
    A("S.callback.add(Success)", cudaStreamAddCallback(stream, s_call_back, NULL, 0));
    AV("S.callback.done(Success)", cudaStreamSynchronize(stream), "count=%d same=%d status=%s", s_count, s_told == stream, code(s_status));
    A("S.callback.0(Success)", cudaStreamAddCallback(NULL, s_call_back, NULL, 0));
    AV("S.callback.0.done(Success)", cudaStreamSynchronize(NULL), "count=%d null=%d", s_count, !s_told);
    A("S.callback.legacy(Success)", cudaStreamAddCallback((cudaStream_t)1, s_call_back, NULL, 0));
    AV("S.callback.legacy.done(Success)", cudaStreamSynchronize(NULL), "count=%d told=%d", s_count, (int)(uintptr_t)s_told);
    A("S.callback.null(InvalidValue)", cudaStreamAddCallback(stream, NULL, NULL, 0));
    A("S.callback.flags(InvalidValue)", cudaStreamAddCallback(stream, s_call_back, NULL, 1));
    A("S.host.null", cudaLaunchHostFunc(stream, NULL, NULL));
    A("S.host(Success)", cudaLaunchHostFunc(stream, s_add, NULL));
    AV("S.host.done(Success)", cudaStreamSynchronize(stream), "count=%d", s_count);
}

static void s_callback_inside(void)
{
    cudaStream_t stream = s_new(cudaStreamNonBlocking);
    A("S.callback.inside.add(Success)", cudaStreamAddCallback(stream, s_call_back, stream, 0));
    AV("S.callback.inside.done(Success)", cudaStreamSynchronize(stream), "query=%s last=%s", code(s_inside), code(s_inside_last));
}

/* Memory goes while a copy to it waits: the context is lost. What is a callback told that waits behind? */
static void s_fault(void)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    cudaStream_t stream = s_new(cudaStreamNonBlocking);
    cudaEvent_t event = s_event(cudaEventDisableTiming);
    void *from;
    need(cudaMalloc(&from, 64));
    if (cuMemCreate(&handle, G, &prop, 0) || cuMemAddressReserve(&at, G, 0, 0, 0) || cuMemMap(at, G, 0, handle, 0) ||
        cuMemSetAccess(at, G, &access, 1))
        return;
    s_status = cudaErrorUnknown;
    A("S.fault.hold(Success)", cudaLaunchHostFunc(stream, s_wait, NULL));
    A("S.fault.copy(Success)", cudaMemcpyAsync((void *)(uintptr_t)at, from, 64, cudaMemcpyDeviceToDevice, stream));
    A("S.fault.callback.add(Success)", cudaStreamAddCallback(stream, s_call_back, NULL, 0));
    A("S.fault.record(Success)", cudaEventRecord(event, stream));
    D("S.fault.unmap", cuMemUnmap(at, G));
    s_gate = 1;
    A("S.fault.synchronize(IllegalAddress)", cudaStreamSynchronize(stream));
    say("S.fault.callback", "count=%d status=%s", s_count, code(s_status));
    A("S.fault.query", cudaStreamQuery(stream));
    A("S.fault.event", cudaEventQuery(event));
    A("S.fault.create", cudaStreamCreate(&stream));
    A("S.fault.device", cudaDeviceSynchronize());
    A("S.fault.last", cudaGetLastError());
    A("S.fault.peek", cudaPeekAtLastError());
}

/* ---- captures ---- */

static size_t s_nodes(cudaGraph_t graph)
{
    size_t count = 77;
    return graph && cudaGraphGetNodes(graph, NULL, &count) == cudaSuccess ? count : 77;
}

#if CUDART_VERSION >= 13000
#define S_INFO(stream, status, id, graph, nodes, count) cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, NULL, count)
#define S_UPDATE(stream, nodes, count, flags) cudaStreamUpdateCaptureDependencies(stream, nodes, NULL, count, flags)
#else
#define S_INFO(stream, status, id, graph, nodes, count) cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, count)
#define S_UPDATE(stream, nodes, count, flags) cudaStreamUpdateCaptureDependencies(stream, nodes, count, flags)
#endif

static void s_capture(void)
{
    cudaStream_t stream = s_new(cudaStreamNonBlocking);
    cudaGraph_t graph = NULL, told = NULL;
    const cudaGraphNode_t *nodes = NULL;
    enum cudaStreamCaptureStatus status = (enum cudaStreamCaptureStatus)77;
    unsigned long long id = 77;
    size_t count = 77;
    AV("S.capture.before(Success)", cudaStreamIsCapturing(stream, &status), "status=%d", (int)status);
    AV("S.capture.info.before(Success)", S_INFO(stream, &status, &id, &told, &nodes, &count), "status=%d id=%d graph=%d count=%zu",
       (int)status, id != 77, told != NULL, count);
    A("S.capture.end.none", cudaStreamEndCapture(stream, &graph));
    A("S.capture.begin(Success)", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    A("S.capture.begin.twice", cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    AV("S.capture.during(Success)", cudaStreamIsCapturing(stream, &status), "status=%d", (int)status);
    A("S.capture.host(Success)", cudaLaunchHostFunc(stream, s_add, NULL));
    AV("S.capture.info(Success)", S_INFO(stream, &status, &id, &told, &nodes, &count), "status=%d id=%d graph=%d count=%zu", (int)status,
       id != 77 && id, told != NULL, count);
    A("S.capture.info.null", S_INFO(stream, NULL, &id, NULL, NULL, NULL));
    A("S.capture.is.null", cudaStreamIsCapturing(stream, NULL));
    A("S.capture.update.none(Success)", S_UPDATE(stream, NULL, 0, 1));
    A("S.capture.update.flags", S_UPDATE(stream, NULL, 0, 7));
    A("S.capture.update.missing", S_UPDATE(stream, NULL, 1, 1));
    AV("S.capture.end(Success)", cudaStreamEndCapture(stream, &graph), "same=%d nodes=%zu count=%d", graph == told, s_nodes(graph), s_count);
    AV("S.capture.after(Success)", cudaStreamIsCapturing(stream, &status), "status=%d", (int)status);
    A("S.capture.update.after", S_UPDATE(stream, NULL, 0, 1));
}

/* Calls on a capturing stream, each in a separate capture. */
static void s_capture_refuses(void)
{
    enum { CALLS = 9 };
    static const char *const names[CALLS] = {"query", "synchronize", "device", "event.query", "event.synchronize", "malloc", "callback",
                                             "destroy", "legacy"};
    for (int i = 0; i < CALLS; i++) {
        cudaStream_t stream = s_new(cudaStreamNonBlocking);
        cudaEvent_t event = s_event(cudaEventDisableTiming);
        cudaGraph_t graph = NULL;
        cudaError_t result = cudaSuccess;
        enum cudaStreamCaptureStatus status = (enum cudaStreamCaptureStatus)77;
        void *memory = NULL;
        need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        need(cudaEventRecord(event, stream));
        switch (i) {
        case 0: result = cudaStreamQuery(stream); break;
        case 1: result = cudaStreamSynchronize(stream); break;
        case 2: result = cudaDeviceSynchronize(); break;
        case 3: result = cudaEventQuery(event); break;
        case 4: result = cudaEventSynchronize(event); break;
        case 5: result = cudaMalloc(&memory, 64); break;
        case 6: result = cudaStreamAddCallback(stream, s_call_back, NULL, 0); break;
        case 7: result = cudaStreamDestroy(stream); break;
        default: result = cudaLaunchHostFunc(NULL, s_add, NULL); break;
        }
        A(with("S.capturing.%s", names[i]), result);
        if (i == 7)
            continue;
        AV(with("S.capturing.%s.status", names[i]), cudaStreamIsCapturing(stream, &status), "status=%d", (int)status);
        AV(with("S.capturing.%s.end", names[i]), cudaStreamEndCapture(stream, &graph), "graph=%d", graph != NULL);
    }
}

static void s_capture_modes(void)
{
    cudaStream_t stream = s_new(cudaStreamNonBlocking);
    cudaGraph_t graph = NULL;
    for (int i = 0; i < 5; i++) {
        A(with("S.mode.begin.%d", i), cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)i));
        A(with("S.mode.end.%d", i), cudaStreamEndCapture(stream, &graph));
    }
    for (int i = 0; i < 3; i++) {
        enum cudaStreamCaptureMode mode = (enum cudaStreamCaptureMode)i;
        AV(with("S.mode.exchange.%d(Success)", i), cudaThreadExchangeStreamCaptureMode(&mode), "was=%d", (int)mode);
    }
    A("S.mode.exchange.null", cudaThreadExchangeStreamCaptureMode(NULL));
    A("S.mode.begin.default", cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    A("S.mode.begin.legacy", cudaStreamBeginCapture((cudaStream_t)1, cudaStreamCaptureModeGlobal));
    A("S.mode.begin.own(Success)", cudaStreamBeginCapture((cudaStream_t)2, cudaStreamCaptureModeRelaxed));
    A("S.mode.end.own(Success)", cudaStreamEndCapture((cudaStream_t)2, &graph));
    A("S.mode.end.null", cudaStreamEndCapture(stream, NULL));
}

static void s_capture_joins(void)
{
    cudaStream_t stream = s_new(cudaStreamNonBlocking), other = s_new(cudaStreamNonBlocking);
    cudaEvent_t fork = s_event(cudaEventDisableTiming), join = s_event(cudaEventDisableTiming);
    enum cudaStreamCaptureStatus status = (enum cudaStreamCaptureStatus)77;
    cudaGraph_t graph = NULL;
    need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    A("S.join.fork(Success)", cudaEventRecord(fork, stream));
    A("S.join.wait(Success)", cudaStreamWaitEvent(other, fork, 0));
    AV("S.join.other(Success)", cudaStreamIsCapturing(other, &status), "status=%d", (int)status);
    A("S.join.host(Success)", cudaLaunchHostFunc(other, s_add, NULL));
    A("S.join.end.other", cudaStreamEndCapture(other, &graph));
    A("S.join.record", cudaEventRecord(join, other));
    A("S.join.join", cudaStreamWaitEvent(stream, join, 0));
    AV("S.join.end", cudaStreamEndCapture(stream, &graph), "nodes=%zu", s_nodes(graph));
    graph = NULL;
    need(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    need(cudaEventRecord(fork, stream));
    need(cudaStreamWaitEvent(other, fork, 0));
    need(cudaLaunchHostFunc(other, s_add, NULL));
    AV("S.join.unjoined(StreamCaptureUnjoined)", cudaStreamEndCapture(stream, &graph), "graph=%d", graph != NULL);
}

static void s_to_graph(void)
{
    cudaStream_t stream = s_new(cudaStreamNonBlocking);
    cudaGraph_t graph = NULL, same = NULL;
    need(cudaGraphCreate(&graph, 0));
    A("S.into.begin(Success)", cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    A("S.into.host(Success)", cudaLaunchHostFunc(stream, s_add, NULL));
    AV("S.into.end(Success)", cudaStreamEndCapture(stream, &same), "same=%d nodes=%zu", same == graph, s_nodes(graph));
    A("S.into.missing", cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 1, cudaStreamCaptureModeRelaxed));
    A("S.into.null", cudaStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
}

static void group_s(void)
{
    surviving("S.create", s_create);
    surviving("S.asked", s_asked);
    surviving("S.device", s_device);
    surviving("S.wild.query", s_wild_query);
    surviving("S.wild.synchronize", s_wild_synchronize);
    surviving("S.wild.event", s_wild_event);
    surviving("S.destroy", s_twice);
    surviving("S.event.destroy", s_event_twice);
    surviving("S.event.null", s_event_null);
    surviving("S.busy", s_busy);
    surviving("S.left", s_destroyed_busy);
    surviving("S.event", s_events);
    surviving("S.elapsed", s_elapsed);
    surviving("S.ipc", s_ipc);
    surviving("S.callback", s_callback);
    surviving("S.callback.inside", s_callback_inside);
    surviving("S.fault", s_fault);
    surviving("S.capture", s_capture);
    surviving("S.capturing", s_capture_refuses);
    surviving("S.mode", s_capture_modes);
    surviving("S.join", s_capture_joins);
    surviving("S.into", s_to_graph);
}
