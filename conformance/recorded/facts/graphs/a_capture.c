/* SPDX-License-Identifier: Apache-2.0 */
/* Group A: what a capture holds, and what ends it. Part of ../graphs.c, which includes it. */

/* ---- every kind of work, captured separately: A.work.* ---- */

static CUresult a_peer(CUstream stream)
{
    return cuMemcpyPeerAsync(d, primary[0], d + 64, primary[0], 16, stream);
}

static CUresult a_rows(CUstream stream)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = d + 64;
    c.dstDevice = d;
    c.srcPitch = c.dstPitch = 128;
    c.WidthInBytes = 8;
    c.Height = 3;
    return cuMemcpy2DAsync(&c, stream);
}

static CUresult a_launch_ex(CUstream stream)
{
    CUdeviceptr p = d;
    unsigned value = 0x55;
    void *args[] = {&p, &value};
    CUlaunchConfig c;
    memset(&c, 0, sizeof c);
    c.gridDimX = c.gridDimY = c.gridDimZ = c.blockDimX = c.blockDimY = c.blockDimZ = 1;
    c.hStream = stream;
    return cuLaunchKernelEx(&c, k_put, args, NULL);
}

static CUresult a_cooperative(CUstream stream)
{
    CUdeviceptr p = d;
    unsigned value = 0x55;
    void *args[] = {&p, &value};
    return cuLaunchCooperativeKernel(k_put, 1, 1, 1, 1, 1, 1, 0, stream, args);
}

static CUresult a_extra(CUstream stream)
{
    struct {
        CUdeviceptr p;
        unsigned value;
    } packed = {d, 0x56};
    size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(k_put, 1, 1, 1, 1, 1, 1, 0, stream, NULL, extra);
}

static CUresult a_by_name(const char *name, u64 a, u64 b, u64 c, u64 d_, u64 e_)
{
    CUresult (*call)(u64, u64, u64, u64, u64) = (CUresult(*)(u64, u64, u64, u64, u64))entry(name);
    return call ? call(a, b, c, d_, e_) : (CUresult)-1;
}

static u64 as_u64(const void *p)
{
    return (u64)(uintptr_t)p;
}

static CUdeviceptr a_allocated;

static CUresult a_work(int which, CUstream stream)
{
    static const u64 ops[12] = {2, 0, 0x77, 0, 0, 0};
    u64 op[6];
    switch (which) {
    case 0: return cuMemsetD8Async(d, 0x11, 5, stream);
    case 1: return cuMemsetD16Async(d, 0x1122, 5, stream);
    case 2: return cuMemsetD32Async(d, 0x11223344, 5, stream);
    case 3: return cuMemsetD2D8Async(d, 64, 0x11, 5, 3, stream);
    case 4: return cuMemsetD2D16Async(d, 64, 0x1122, 5, 3, stream);
    case 5: return cuMemsetD2D32Async(d, 64, 0x11223344, 5, 3, stream);
    case 6: return cuMemcpyDtoDAsync(d, d + 64, 16, stream);
    case 7: return cuMemcpyHtoDAsync(d, host_words, 16, stream);
    case 8: return cuMemcpyHtoDAsync(d, pinned, 16, stream);
    case 9: return cuMemcpyDtoHAsync(host_words, d, 16, stream);
    case 10: return cuMemcpyDtoHAsync(pinned, d, 16, stream);
    case 11: return cuMemcpyAsync(d, d + 64, 16, stream);
    case 12: return cuMemcpyAsync(d, as_u64(pinned), 16, stream);
    case 13: return cuMemcpyAsync(as_u64(pinned), as_u64(pinned + 64), 16, stream);
    case 14: return a_peer(stream);
    case 15: return a_rows(stream);
    case 16: return put(stream, 0, 0x55);
    case 17: return a_launch_ex(stream);
    case 18: return a_cooperative(stream);
    case 19: return a_extra(stream);
    case 20: return host(stream, 'h');
    case 21: return cuStreamAddCallback(stream, note_callback, (void *)(uintptr_t)'c', 0);
    case 22: return cuEventRecord(e, stream);
    case 23: return cuEventRecordWithFlags(e, stream, CU_EVENT_RECORD_EXTERNAL);
    case 24: return cuStreamWaitEvent(stream, e, CU_EVENT_WAIT_DEFAULT);
    case 25: return cuStreamWaitEvent(stream, e, CU_EVENT_WAIT_EXTERNAL);
    case 26: return a_by_name("cuMemAllocAsync", as_u64(&a_allocated), 4096, as_u64(stream), 0, 0);
    case 27: return a_by_name("cuStreamWriteValue32_v2", as_u64(stream), d, 0x77, 0, 0);
    case 28: return a_by_name("cuStreamWaitValue32_v2", as_u64(stream), d, 0, 0, 0);
    case 29:
        memcpy(op, ops, sizeof op);
        op[1] = d;
        return a_by_name("cuStreamBatchMemOp_v2", as_u64(stream), 1, as_u64(op), 0, 0);
    case 30: return cuMemsetD8Async(d, 0x11, 0, stream);
    case 31: return cuMemcpyDtoDAsync(d, d + 64, 0, stream);
    case 32: return cuMemsetD8Async(0, 0x11, 16, stream);
    case 33: return cuMemsetD8Async(d + ((u64)1 << 44), 0x11, 16, stream);
    case 34: return cuMemsetD8Async(d, 0x11, WORDS * 4 + 1, stream);
    case 35: return cuMemsetD32Async(d + 2, 1, 1, stream);
    case 36: return cuMemcpyDtoDAsync(0, d, 16, stream);
    case 37: return cuMemcpyDtoDAsync(d, d + ((u64)1 << 44), 16, stream);
    case 38: return cuMemcpyHtoDAsync(d, NULL, 16, stream);
    case 39: return cuLaunchHostFunc(stream, NULL, NULL);
    case 40: return cuLaunchKernel(k_put, 0, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    case 41: return cuLaunchKernel(k_put, 1, 1, 1, 2048, 1, 1, 0, stream, NULL, NULL);
    case 42: return cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    case 43: return cuEventRecord(NULL, stream);
    case 44: return cuStreamWaitEvent(stream, NULL, 0);
    case 45: return cuStreamWaitEvent(stream, e, 2);
    case 46: return cuMemsetD2D8Async(d, 4, 0x11, 5, 3, stream);
    case 47: return cuStreamAddCallback(stream, NULL, NULL, 0);
    case 48: return cuStreamAddCallback(stream, note_callback, NULL, 1);
    case 49: return a_by_name("cuMemFreeAsync", d, as_u64(stream), 0, 0, 0);
    case 50: return a_by_name("cuMemFreeAsync", 0, as_u64(stream), 0, 0, 0);
    case 51: return a_by_name("cuMemAllocAsync", as_u64(&a_allocated), 0, as_u64(stream), 0, 0);
    case 52: return a_by_name("cuMemAllocAsync", 0, 4096, as_u64(stream), 0, 0);
    case 53: return a_by_name("cuStreamWriteValue32_v2", as_u64(stream), 0, 0x77, 0, 0);
    default: return a_by_name("cuStreamWriteValue64_v2", as_u64(stream), d, 0x77, 0, 0);
    }
}

static const char *const a_works[] = {
    "fill8", "fill16", "fill32", "fill2d8", "fill2d16", "fill2d32", "dtod", "htod", "htod_pinned", "dtoh", "dtoh_pinned",
    "copy", "copy_pinned", "copy_host", "peer", "rows", "kernel", "kernel_ex", "cooperative", "extra", "host", "callback",
    "record", "record_external", "wait", "wait_external", "alloc", "write32", "wait32", "batch", "fill_0", "copy_0",
    "fill_null", "fill_nowhere", "fill_past", "fill_unaligned", "copy_null", "copy_nowhere", "htod_null", "host_null",
    "kernel_grid_0", "kernel_block_2048", "kernel_null", "record_null", "wait_null", "wait_flags", "fill_pitch",
    "callback_null", "callback_flags", "free_alloc", "free_null", "alloc_0", "alloc_null", "write32_null", "write64"};

static void node_parameters(const char *step, CUgraphNode n);

static void a_work_case(int which)
{
    CUgraph g;
    cuMemsetD32(d + 64, 0xabcd, 8);
    host_words[0] = 0x31;
    pinned[0] = 0x41;
    pinned[64] = 0x42;
    host_order[0] = 0;
    a_allocated = 77;
    at("begin", cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    at("issue", a_work(which, s));
    standing("standing", s);
    val("allocated", "%s", a_allocated == 77 ? "untouched" : a_allocated ? "address" : "0");
    g = end(s);
    val("before", "%s host=%x pinned=%x order=%s", word(0), host_words[0], pinned[0], host_order);
    if (!g)
        return;
    CUgraphNode node = NULL;
    size_t count = 1;
    cuGraphGetNodes(g, &node, &count);
    if (node && count == 1)
        node_parameters("node", node);
    host_words[0] = 0x32; /* what a launch copies was not read yet */
    pinned[0]++;
    CUgraphExec x = NULL;
    at("instantiate", cuGraphInstantiate(&x, g, 0));
    if (!x)
        return;
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("after", "%s %s %s %s host=%x pinned=%x order=%s", word(0), word(1), word(16), word(32), host_words[0], pinned[0],
        host_order);
    at("query", cuEventQuery(e));
    at("again", cuGraphLaunch(x, s));
    at("again.sync", cuStreamSynchronize(s));
    at("exec_destroy", cuGraphExecDestroy(x));
    at("destroy", cuGraphDestroy(g));
}

static void a_work_one(size_t i, char *id, int run)
{
    static char name[64];
    snprintf(name, sizeof name, "work.%s", a_works[i]);
    case_name = name;
    snprintf(case_prefix, sizeof case_prefix, "A.");
    snprintf(id, CASE_ID, "A.%s", name);
    if (!run || !is_wanted(id))
        return;
    start_case();
    a_work_case((int)i);
    if (captures())
        _exit(0);
}

/* ---- streams and events ---- */

static void a_empty(void)
{
    at("begin", begin(s));
    CUgraph g = end(s);
    standing("standing", s);
    if (g)
        launch_of(g);
}

static void a_sequence(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    put(s, 1, 2);
    cuMemcpyDtoDAsync(d + 64, d, 16, s);
    host(s, 'a');
    add(s, 16, 7);
    standing("standing", s);
    CUgraph g = end(s);
    launch_of(g);
    val("words", "%s %s %s %s", word(0), word(1), word(16), word(17));
}

static void a_fork_join(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    at("record", cuEventRecord(e, s));
    at("wait", cuStreamWaitEvent(t, e, 0));
    val("forked", "%d %d", status_of(s), status_of(t));
    fill(t, 16, 2, 4);
    put(s, 1, 3);
    standing("s", s);
    standing("t", t);
    at("record2", cuEventRecord(f, t));
    at("wait2", cuStreamWaitEvent(s, f, 0));
    standing("joined.s", s);
    standing("joined.t", t);
    put(s, 2, 4);
    CUgraph g = end(s);
    val("ended", "%d %d", status_of(s), status_of(t));
    launch_of(g);
    val("words", "%s %s %s %s", word(0), word(1), word(2), word(16));
}

static void a_fork_no_work(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    val("forked", "%d %d", status_of(s), status_of(t));
    end(s);
    val("ended", "%d %d", status_of(s), status_of(t));
}

static void a_unjoined(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    fill(t, 16, 2, 4);
    end(s);
    val("ended", "%d %d", status_of(s), status_of(t));
    at("t.fill", fill(t, 16, 5, 4));
    at("s.fill", fill(s, 0, 5, 4));
    at("sync", cuCtxSynchronize());
    val("words", "%s %s", word(0), word(16));
}

/* Work after the join must be joined again. */
static void a_unjoined_after(void)
{
    begin(s);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    fill(t, 16, 2, 4);
    cuEventRecord(f, t);
    cuStreamWaitEvent(s, f, 0);
    fill(t, 16, 3, 4);
    end(s);
    val("ended", "%d %d", status_of(s), status_of(t));
}

static void a_end_elsewhere(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    fill(t, 16, 2, 4);
    end(t);
    val("ended", "%d %d", status_of(s), status_of(t));
    case_name = "end_elsewhere.then";
    end(s);
    val("ended", "%d %d", status_of(s), status_of(t));
}

static void a_double_join(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    at("again", cuStreamWaitEvent(t, e, 0));
    fill(t, 16, 2, 4);
    cuEventRecord(f, t);
    cuStreamWaitEvent(s, f, 0);
    at("again2", cuStreamWaitEvent(s, f, 0));
    standing("s", s);
    end(s);
}

static void a_event_empty(void)
{
    begin(s);
    at("record", cuEventRecord(e, s));
    at("wait", cuStreamWaitEvent(t, e, 0));
    val("forked", "%d %d", status_of(s), status_of(t));
    standing("t", t);
    fill(t, 16, 2, 4);
    cuEventRecord(f, t);
    cuStreamWaitEvent(s, f, 0);
    end(s);
}

static void a_outside_event(void)
{
    fill(t, 0, 1, 4);
    cuEventRecord(e, t);
    begin(s);
    at("wait", cuStreamWaitEvent(s, e, 0));
    standing("s", s);
    fill(s, 0, 1, 4);
    end(s);
}

static void a_outside_event_done(void)
{
    cuEventRecord(e, t);
    cuCtxSynchronize();
    begin(s);
    at("wait", cuStreamWaitEvent(s, e, 0));
    end(s);
}

static void a_unrecorded_event(void)
{
    begin(s);
    at("wait", cuStreamWaitEvent(s, e, 0));
    standing("s", s);
    end(s);
}

static void a_merge(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    begin(t);
    fill(t, 16, 2, 4);
    cuEventRecord(e, s);
    at("wait", cuStreamWaitEvent(t, e, 0));
    val("status", "%d %d", status_of(s), status_of(t));
    end(s);
    case_name = "merge.t";
    end(t);
}

static void a_merge_empty(void)
{
    begin(s);
    begin(t);
    cuEventRecord(e, s);
    at("wait", cuStreamWaitEvent(t, e, 0));
    val("status", "%d %d", status_of(s), status_of(t));
    end(s);
    case_name = "merge_empty.t";
    end(t);
}

/* The event of a capture, used where nothing is captured. */
static void a_captured_event(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    at("record", cuEventRecord(e, s));
    at("query", cuEventQuery(e));
    val("status.query", "%d", status_of(s));
    at("sync", cuEventSynchronize(e));
    val("status.sync", "%d", status_of(s));
    float ms = 77;
    at("elapsed", cuEventElapsedTime(&ms, e, e));
    val("status.elapsed", "%d %g", status_of(s), (double)ms);
    end(s);
    at("then.query", cuEventQuery(e));
    at("then.sync", cuEventSynchronize(e));
    at("then.wait", cuStreamWaitEvent(t, e, 0));
    val("status.t", "%d", status_of(t));
    at("then.wait_external", cuStreamWaitEvent(t, e, CU_EVENT_WAIT_EXTERNAL));
    at("then.record", cuEventRecord(e, t));
    at("then.query2", cuEventSynchronize(e));
}

static void a_event_after_end(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    end(s);
    at("wait", cuStreamWaitEvent(t, e, 0));
    val("status", "%d %d", status_of(s), status_of(t));
    at("query", cuEventQuery(e));
    begin(s);
    at("wait.capture", cuStreamWaitEvent(s, e, 0));
    case_name = "event_after_end.second";
    end(s);
}

static void a_event_destroyed(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    at("destroy", cuEventDestroy(e));
    standing("s", s);
    end(s);
}

static void a_event_recorded_twice(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    put(s, 1, 2);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    standing("t", t);
    fill(t, 16, 2, 4);
    cuEventRecord(f, t);
    cuStreamWaitEvent(s, f, 0);
    end(s);
}

/* An event of a capture, recorded again outside: which one waits? */
static void a_event_moves(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    at("record.t", cuEventRecord(e, t));
    standing("s", s);
    at("wait", cuStreamWaitEvent(s, e, 0));
    standing("s2", s);
    end(s);
}

/* ---- the streams that cannot be captured, and those beside ---- */

static void a_blocking_use(void)
{
    at("begin", cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    at("fill", fill(blocking, 0, 1, 4));
    at("legacy", fill(NULL, 16, 2, 4));
    standing("blocking", blocking);
    end(blocking);
    cuCtxSynchronize();
    val("word", "%s", word(16));
}

static void a_legacy_call(int which)
{
    unsigned v = 5;
    at("begin", cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    fill(blocking, 0, 1, 4);
    CUresult r;
    switch (which) {
    case 0: r = cuMemcpyHtoD(d + 64, &v, 4); break;
    case 1: r = cuMemcpyDtoH(&v, d + 64, 4); break;
    case 2: r = cuMemcpyDtoD(d + 64, d, 4); break;
    case 3: r = cuMemsetD32(d + 64, 9, 1); break;
    case 4: r = cuMemcpy(d + 64, d, 4); break;
    case 5: r = cuEventRecord(e, NULL); break;
    case 6: r = cuStreamWaitEvent(NULL, e, 0); break;
    case 7: r = cuStreamSynchronize(NULL); break;
    case 8: r = cuStreamQuery(NULL); break;
    case 9: r = put(NULL, 16, 3); break;
    case 10: r = put(CU_STREAM_LEGACY, 16, 3); break;
    case 11: r = put(CU_STREAM_PER_THREAD, 16, 3); break;
    case 12: r = fill(t, 16, 3, 1); break;
    default: r = host(NULL, 'l'); break;
    }
    at("call", r);
    standing("blocking", blocking);
    end(blocking);
    cuCtxSynchronize();
    val("word", "%s", word(16));
}

#define LEGACY(n) static void a_legacy_##n(void) { a_legacy_call(n); }
LEGACY(0) LEGACY(1) LEGACY(2) LEGACY(3) LEGACY(4) LEGACY(5) LEGACY(6) LEGACY(7) LEGACY(8) LEGACY(9) LEGACY(10) LEGACY(11)
LEGACY(12) LEGACY(13)

static void a_begins(void)
{
    at("legacy", cuStreamBeginCapture(NULL, 0));
    at("legacy1", cuStreamBeginCapture(CU_STREAM_LEGACY, 0));
    at("per_thread", cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    standing("per_thread", CU_STREAM_PER_THREAD);
    fill(CU_STREAM_PER_THREAD, 0, 1, 4);
    end(CU_STREAM_PER_THREAD);
    at("mode3", cuStreamBeginCapture(s, (CUstreamCaptureMode)3));
    at("mode-1", cuStreamBeginCapture(s, (CUstreamCaptureMode)-1));
    at("once", begin(s));
    at("twice", begin(s));
    standing("s", s);
    end(s);
    case_name = "begins.again";
    at("end", cuStreamEndCapture(s, NULL));
    at("begin", begin(s));
    fill(s, 0, 1, 4);
    at("end_null", cuStreamEndCapture(s, NULL));
    standing("s", s);
}

static void a_begin_forked(void)
{
    begin(s);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    at("begin_t", begin(t));
    val("status", "%d %d", status_of(s), status_of(t));
    end(s);
}

static void a_stream_destroyed(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    at("destroy", cuStreamDestroy(s));
    cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    standing("new", s);
}

static void a_fork_destroyed(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    fill(t, 16, 1, 4);
    cuEventRecord(f, t);
    at("destroy", cuStreamDestroy(t));
    cuStreamCreate(&t, CU_STREAM_NON_BLOCKING);
    standing("s", s);
    at("wait", cuStreamWaitEvent(s, f, 0));
    end(s);
}

/* ---- the graph of a running capture ---- */

static CUgraph a_graph_of(CUstream stream, const CUgraphNode **deps, size_t *count)
{
    CUstreamCaptureStatus status;
    CUgraph g = NULL;
    const CUgraphEdgeData *data = NULL;
    cuStreamGetCaptureInfo(stream, &status, NULL, &g, deps, &data, count);
    return g;
}

static void a_running_graph(void)
{
    const CUgraphNode *deps = NULL;
    size_t count = 0;
    CUgraphNode n = NULL, m = NULL;
    begin(s);
    fill(s, 0, 1, 4);
    CUgraph g = a_graph_of(s, &deps, &count);
    shape("shape", g);
    at("add", cuGraphAddEmptyNode(&n, g, deps, count));
    shape("added", g);
    put(s, 1, 2);
    shape("put", g);
    at("set", cuStreamUpdateCaptureDependencies(s, &n, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    put(s, 2, 3);
    shape("after_set", g);
    at("root", cuGraphAddEmptyNode(&m, g, NULL, 0));
    at("add_deps", cuStreamUpdateCaptureDependencies(s, &m, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    standing("two", s);
    put(s, 3, 4);
    shape("after_add", g);
    at("none", cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    standing("none", s);
    put(s, 4, 5);
    CUgraph ended = end(s);
    val("same", "%d", ended == g);
}

static void a_update_wrong(void)
{
    CUgraphNode n = NULL, other = NULL;
    CUgraph g2 = new_graph();
    cuGraphAddEmptyNode(&other, g2, NULL, 0);
    at("not_captured", cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 0));
    begin(s);
    fill(s, 0, 1, 4);
    const CUgraphNode *deps = NULL;
    size_t count = 0;
    a_graph_of(s, &deps, &count);
    n = count ? deps[0] : NULL;
    CUgraphNode twice[2] = {n, n};
    at("flags2", cuStreamUpdateCaptureDependencies(s, &n, NULL, 1, 2));
    standing("flags2", s);
    at("other", cuStreamUpdateCaptureDependencies(s, &other, NULL, 1, 1));
    standing("other", s);
    at("again", cuStreamUpdateCaptureDependencies(s, &n, NULL, 1, 0));
    standing("again", s);
    at("twice", cuStreamUpdateCaptureDependencies(s, twice, NULL, 2, 1));
    standing("twice", s);
    put(s, 1, 1);
    end(s);
}

static void a_info_arguments(void)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    cuuint64_t id = 0, id2 = 0, id3 = 0;
    CUgraph g = NULL;
    const CUgraphNode *deps = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 0;
    standing("idle", s);
    standing("legacy", NULL);
    standing("legacy1", CU_STREAM_LEGACY);
    standing("per_thread", CU_STREAM_PER_THREAD);
    at("all_null", cuStreamGetCaptureInfo(s, NULL, NULL, NULL, NULL, NULL, NULL));
    begin(s);
    fill(s, 0, 1, 4);
    at("status_null", cuStreamGetCaptureInfo(s, NULL, &id, &g, &deps, &data, &count));
    at("status_only", cuStreamGetCaptureInfo(s, &status, NULL, NULL, NULL, NULL, NULL));
    val("status", "%d", (int)status);
    at("no_count", cuStreamGetCaptureInfo(s, &status, &id, &g, &deps, &data, NULL));
    at("no_data", cuStreamGetCaptureInfo(s, &status, &id, &g, &deps, NULL, &count));
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    cuStreamGetCaptureInfo(t, &status, &id2, NULL, NULL, NULL, NULL);
    val("same_id", "%d", id == id2);
    cuEventRecord(f, t);
    cuStreamWaitEvent(s, f, 0);
    standing("legacy.while", NULL);
    standing("blocking.while", blocking);
    end(s);
    begin(s);
    cuStreamGetCaptureInfo(s, &status, &id3, NULL, NULL, NULL, NULL);
    val("next_id", "%+lld", (long long)(id3 - id));
    end(s);
    CUresult (*v2)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *) =
        (CUresult(*)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *))entry(
            "cuStreamGetCaptureInfo_v2");
    begin(s);
    fill(s, 0, 1, 4);
    count = 77;
    at("v2", v2(s, &status, &id, &g, &deps, &count));
    val("v2.count", "%zu status=%d", count, (int)status);
    case_name = "info_arguments.v2";
    end(s);
    at("is_null", cuStreamIsCapturing(s, NULL));
}

static void a_invalid_info(void)
{
    CUdeviceptr p = 0;
    cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    fill(s, 0, 1, 4);
    at("alloc", cuMemAlloc(&p, 4096));
    standing("s", s);
    at("fill", fill(s, 0, 1, 4));
    at("record", cuEventRecord(e, s));
    at("wait", cuStreamWaitEvent(t, e, 0));
    at("update", cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 1));
    at("begin", begin(s));
    at("sync", cuStreamSynchronize(s));
    at("query", cuStreamQuery(s));
    val("t", "%d", status_of(t));
    end(s);
    at("fill2", fill(s, 0, 3, 4));
    at("sync2", cuStreamSynchronize(s));
    val("word", "%s", word(0));
}

/* A forked stream stands in the same capture when it is invalidated. */
static void a_invalid_forked(void)
{
    CUdeviceptr p = 0;
    cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    fill(t, 0, 1, 4);
    at("alloc", cuMemAlloc(&p, 4096));
    val("status", "%d %d", status_of(s), status_of(t));
    end(s);
    val("ended", "%d %d", status_of(s), status_of(t));
    at("t.fill", fill(t, 0, 3, 4));
}

/* ---- BeginCaptureToGraph ---- */

static void a_to_graph(void)
{
    CUgraph g = new_graph(), g2 = new_graph();
    CUgraphNode a = NULL, b = NULL, other = NULL;
    fill_node(&a, g, NULL, 0, d, 1);
    fill_node(&b, g, NULL, 0, d + 64, 2);
    cuGraphAddEmptyNode(&other, g2, NULL, 0);
    at("other_node", cuStreamBeginCaptureToGraph(s, g, &other, NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
    standing("other_node", s);
    at("mode", cuStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, (CUstreamCaptureMode)5));
    at("legacy", cuStreamBeginCaptureToGraph(NULL, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    at("begin", cuStreamBeginCaptureToGraph(s, g, &a, NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
    standing("s", s);
    at("twice", cuStreamBeginCaptureToGraph(t, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    val("t", "%d", status_of(t));
    put(s, 1, 3);
    CUgraph ended = end(s);
    val("same", "%d", ended == g);
    if (status_of(t)) {
        case_name = "to_graph.t";
        end(t);
    }
    case_name = "to_graph.run";
    launch_of(g);
    val("words", "%s %s %s", word(0), word(1), word(16));
}

static void a_to_graph_invalid(void)
{
    CUgraph g = new_graph();
    CUdeviceptr p = 0;
    CUgraphNode a = NULL;
    fill_node(&a, g, NULL, 0, d, 1);
    at("begin", cuStreamBeginCaptureToGraph(s, g, &a, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    put(s, 1, 3);
    at("alloc", cuMemAlloc(&p, 4096));
    end(s);
    shape("left", g);
    at("destroy", cuGraphDestroy(g));
}

/* ---- values are those of the capture ---- */

static void a_arguments_copied(void)
{
    unsigned value = 5;
    CUdeviceptr p = d;
    void *args[] = {&p, &value};
    begin(s);
    cuLaunchKernel(k_put, 1, 1, 1, 1, 1, 1, 0, s, args, NULL);
    value = 6;
    p = d + 4;
    CUgraph g = end(s);
    value = 7;
    launch_of(g);
    val("words", "%s %s", word(0), word(1));
}

static void a_relaunch(void)
{
    begin(s);
    add(s, 0, 3);
    host(s, 'r');
    CUgraph g = end(s);
    CUgraphExec x = new_exec(g);
    host_order[0] = 0;
    for (int i = 0; i < 3; i++)
        at("launch", cuGraphLaunch(x, i == 1 ? t : s));
    at("sync", cuCtxSynchronize());
    val("word", "%s order=%s", word(0), host_order);
}

/* ---- calls while a stream is captured in each mode: A.during.* ---- */

static Handle a_handle;
static CUdeviceptr a_range, a_other_alloc;
static CUgraph a_made, a_spare;
static CUgraphExec a_exec, a_spare_exec;
static CUstream a_stream;
static CUevent a_event;
static u64 a_pool, a_pool2;

static void a_prepare(void)
{
    CUgraphNode n;
    CUmemPoolProps props;
    CUcontext ctx = NULL;
    a_handle = make(G);
    a_range = reserve(4 * G);
    map(a_range, G, a_handle);
    give(a_range, G, L_DEVICE, RW);
    a_made = new_graph();
    fill_node(&n, a_made, NULL, 0, d, 1);
    a_spare = new_graph();
    a_exec = new_exec(a_made);
    a_spare_exec = new_exec(a_made);
    cuStreamCreate(&a_stream, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&a_event, 0);
    cuMemAlloc(&a_other_alloc, 4096);
    cuDevicePrimaryCtxRetain(&ctx, 0); /* for the case that releases it */
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = loc_at(L_DEVICE, 0);
    a_by_name("cuMemPoolCreate", as_u64(&a_pool), as_u64(&props), 0, 0, 0);
}

static CUresult a_during(int which)
{
    static CUdeviceptr p;
    static Handle h;
    static CUmemAllocationProp prop;
    static CUmemPoolProps props;
    static CUgraph g;
    static CUgraphExec x;
    static CUgraphNode n;
    static CUmodule m;
    static CUfunction fn;
    static CUstream stream;
    static CUevent event;
    static CUcontext ctx;
    static u64 value;
    static int fd;
    static size_t size, size2;
    prop = prop_at(L_DEVICE, 0);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = loc_at(L_DEVICE, 0);
    CUmemLocation where = loc_at(L_DEVICE, 0);
    switch (which) {
    case 0: return cuMemCreate(&h, G, &prop, 0);
    case 1: return cuMemMap(a_range + G, G, 0, a_handle, 0);
    case 2: return give(a_range, G, L_DEVICE, RW);
    case 3: return cuMemGetAccess(&value, &where, a_range);
    case 4: return cuMemUnmap(a_range, G);
    case 5: return cuMemRelease(a_handle);
    case 6: return cuMemAddressReserve(&p, G, 0, 0, 0);
    case 7: return cuMemAddressFree(a_range, 4 * G);
    case 8: return cuMemRetainAllocationHandle(&h, (void *)(uintptr_t)a_range);
    case 9: return cuMemExportToShareableHandle(&fd, a_handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    case 10: return cuModuleLoadData(&m, ptx);
    case 11: return cuModuleGetFunction(&fn, module, "put");
    case 12: return cuStreamCreate(&stream, 0);
    case 13: return cuStreamDestroy(a_stream);
    case 14: return cuEventCreate(&event, 0);
    case 15: return cuEventDestroy(a_event);
    case 16: return cuGraphCreate(&g, 0);
    case 17: return cuGraphInstantiate(&x, a_made, 0);
    case 18: return cuGraphUpload(a_exec, a_stream);
    case 19: return cuGraphLaunch(a_exec, a_stream);
    case 20: return cuGraphLaunch(a_exec, s);
    case 21: return cuGraphUpload(a_exec, s);
    case 22: return cuGraphExecDestroy(a_spare_exec);
    case 23: return cuGraphDestroy(a_spare);
    case 24: return cuGraphClone(&g, a_made);
    case 25: return fill_node(&n, a_spare, NULL, 0, d, 3);
    case 26: return a_by_name("cuMemAllocAsync", as_u64(&p), 4096, as_u64(a_stream), 0, 0);
    case 27: return a_by_name("cuMemPoolCreate", as_u64(&a_pool2), as_u64(&props), 0, 0, 0);
    case 28: return a_by_name("cuMemPoolDestroy", a_pool, 0, 0, 0, 0);
    case 29: return a_by_name("cuMemPoolTrimTo", a_pool, 0, 0, 0, 0);
    case 30: return a_by_name("cuMemAllocFromPoolAsync", as_u64(&p), 4096, a_pool, as_u64(s), 0);
    case 31: return cuDeviceGraphMemTrim(0);
    case 32: return cuStreamSynchronize(a_stream);
    case 33: return cuStreamQuery(a_stream);
    case 34: return cuEventSynchronize(a_event);
    case 35: return cuEventRecord(a_event, a_stream);
    case 36: return cuMemFree(a_other_alloc);
    case 37: return cuDevicePrimaryCtxRelease(0);
    case 38: return cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value);
    case 39: return cuMemGetInfo(&size, &size2);
    case 40: return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024);
    case 41: return cuLaunchHostFunc(a_stream, note_letter, NULL);
    case 42: return cuStreamSynchronize(s);
    case 43: return cuStreamQuery(s);
    case 44: return cuCtxSynchronize();
    case 45: return cuMemAlloc(&p, 4096);
    case 46: return cuCtxCreate(&ctx, NULL, 0, 0);
    case 47: return cuStreamGetPriority(s, &fd);
    case 48: return cuMemcpyDtoH(&value, d, 4);
    default: return cuMemcpyHtoD(d, &value, 4);
    }
}

static const char *const a_durings[] = {
    "mem_create", "mem_map", "set_access", "get_access", "unmap", "release", "reserve", "address_free", "retain", "export",
    "module_load", "get_function", "stream_create", "stream_destroy", "event_create", "event_destroy", "graph_create",
    "instantiate", "upload_beside", "launch_beside", "launch_into", "upload_into", "exec_destroy", "graph_destroy", "clone",
    "add_node", "alloc_async_beside", "pool_create", "pool_destroy", "pool_trim", "alloc_from_pool", "graph_mem_trim",
    "sync_beside", "query_beside", "event_sync", "record_beside", "mem_free", "primary_release", "graph_mem_attribute",
    "get_info", "set_limit", "host_beside", "sync_it", "query_it", "ctx_sync", "mem_alloc", "ctx_create", "priority",
    "dtoh", "htod"};

static void a_during_one(size_t i, char *id, int run)
{
    static char name[64];
    int mode = (int)(i % 3), which = (int)(i / 3);
    snprintf(name, sizeof name, "during.%s.m%d", a_durings[which], mode);
    case_name = name;
    snprintf(case_prefix, sizeof case_prefix, "A.");
    snprintf(id, CASE_ID, "A.%s", name);
    if (!run || !is_wanted(id))
        return;
    start_case();
    a_prepare();
    cuStreamBeginCapture(s, (CUstreamCaptureMode)mode);
    fill(s, 0, 1, 4);
    at("call", a_during(which));
    val("status", "%d", status_of(s));
    end(s);
    if (captures())
        _exit(0);
    CUcontext ctx = NULL;
    if (cuCtxGetCurrent(&ctx) || ctx != primary[0] || cuMemsetD8(d, 0, 4))
        _exit(0);
}

/* ---- threads ---- */

static CUstreamCaptureMode a_mode;
static CUresult a_thread_result[4];
static int a_thread_what;

static void *a_thread(void *unused)
{
    CUdeviceptr p;
    CUgraph g = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    (void)unused;
    cuCtxSetCurrent(primary[0]);
    switch (a_thread_what) {
    case 0: a_thread_result[0] = cuMemAlloc(&p, 4096); break;
    case 1:
        a_thread_result[0] = cuThreadExchangeStreamCaptureMode(&mode);
        a_thread_result[1] = (CUresult)mode;
        a_thread_result[2] = cuMemAlloc(&p, 4096);
        break;
    case 2: a_thread_result[0] = fill(s, 16, 2, 4); break;
    case 3: a_thread_result[0] = cuStreamEndCapture(s, &g); break;
    default: a_thread_result[0] = cuStreamSynchronize(t); break;
    }
    return NULL;
}

static void a_thread_one(size_t i, char *id, int run)
{
    static const char *const whats[] = {"alloc", "exchange", "work", "end", "sync"};
    static char name[64];
    a_mode = (CUstreamCaptureMode)(i % 3);
    a_thread_what = (int)(i / 3);
    snprintf(name, sizeof name, "thread.%s.m%d", whats[a_thread_what], (int)a_mode);
    case_name = name;
    snprintf(case_prefix, sizeof case_prefix, "A.");
    snprintf(id, CASE_ID, "A.%s", name);
    if (!run || !is_wanted(id))
        return;
    pthread_t thread;
    start_case();
    memset(a_thread_result, 0, sizeof a_thread_result);
    cuStreamBeginCapture(s, a_mode);
    fill(s, 0, 1, 4);
    pthread_create(&thread, NULL, a_thread, NULL);
    pthread_join(thread, NULL);
    val("call", "%s %d %s", name_of(a_thread_result[0]), (int)a_thread_result[1], name_of(a_thread_result[2]));
    val("status", "%d", status_of(s));
    end(s);
    if (captures())
        _exit(0);
}

/* A graph launched into a capture is a child of it. */
static void a_launch_captured(void)
{
    CUgraph g = new_graph();
    CUgraphNode n;
    fill_node(&n, g, NULL, 0, d, 0x21);
    CUgraphExec x = new_exec(g);
    begin(s);
    at("launch", cuGraphLaunch(x, s));
    put(s, 1, 3);
    CUgraph outer = end(s);
    at("exec_destroy", cuGraphExecDestroy(x));
    at("destroy", cuGraphDestroy(g));
    if (outer)
        launch_of(outer);
    val("words", "%s %s", word(0), word(1));
}

/* Memory allocated and freed in a capture. */
static void a_alloc_free(void)
{
    CUdeviceptr p = 0;
    begin(s);
    at("alloc", a_by_name("cuMemAllocAsync", as_u64(&p), 4096, as_u64(s), 0, 0));
    at("fill", cuMemsetD32Async(p, 9, 4, s));
    at("copy", cuMemcpyDtoDAsync(d, p, 16, s));
    at("free", a_by_name("cuMemFreeAsync", p, as_u64(s), 0, 0, 0));
    at("free.again", a_by_name("cuMemFreeAsync", p, as_u64(s), 0, 0, 0));
    standing("s", s);
    CUgraph g = end(s);
    if (g)
        launch_of(g);
    val("word", "%s", word(0));
}

/* Memory of the stream's own pool, allocated before the capture and freed in it. */
static void a_free_of_outside(void)
{
    CUdeviceptr p = 0;
    at("alloc", a_by_name("cuMemAllocAsync", as_u64(&p), 4096, as_u64(t), 0, 0));
    cuCtxSynchronize();
    begin(s);
    at("free", a_by_name("cuMemFreeAsync", p, as_u64(s), 0, 0, 0));
    standing("s", s);
    CUgraph g = end(s);
    if (g)
        launch_of(g);
}

static const struct one_case a_cases[] = {
    {"empty", a_empty},
    {"sequence", a_sequence},
    {"fork_join", a_fork_join},
    {"fork_no_work", a_fork_no_work},
    {"unjoined", a_unjoined},
    {"unjoined_after", a_unjoined_after},
    {"end_elsewhere", a_end_elsewhere},
    {"double_join", a_double_join},
    {"event_empty", a_event_empty},
    {"outside_event", a_outside_event},
    {"outside_event_done", a_outside_event_done},
    {"unrecorded_event", a_unrecorded_event},
    {"merge", a_merge},
    {"merge_empty", a_merge_empty},
    {"captured_event", a_captured_event},
    {"event_after_end", a_event_after_end},
    {"event_destroyed", a_event_destroyed},
    {"event_recorded_twice", a_event_recorded_twice},
    {"event_moves", a_event_moves},
    {"blocking_use", a_blocking_use},
    {"legacy.htod", a_legacy_0},
    {"legacy.dtoh", a_legacy_1},
    {"legacy.dtod", a_legacy_2},
    {"legacy.fill", a_legacy_3},
    {"legacy.copy", a_legacy_4},
    {"legacy.record", a_legacy_5},
    {"legacy.wait", a_legacy_6},
    {"legacy.sync", a_legacy_7},
    {"legacy.query", a_legacy_8},
    {"legacy.kernel", a_legacy_9},
    {"legacy.kernel1", a_legacy_10},
    {"legacy.per_thread", a_legacy_11},
    {"legacy.non_blocking", a_legacy_12},
    {"legacy.host", a_legacy_13},
    {"begins", a_begins},
    {"begin_forked", a_begin_forked},
    {"stream_destroyed", a_stream_destroyed},
    {"fork_destroyed", a_fork_destroyed},
    {"running_graph", a_running_graph},
    {"update_wrong", a_update_wrong},
    {"info_arguments", a_info_arguments},
    {"invalid_info", a_invalid_info},
    {"invalid_forked", a_invalid_forked},
    {"to_graph", a_to_graph},
    {"to_graph_invalid", a_to_graph_invalid},
    {"arguments_copied", a_arguments_copied},
    {"relaunch", a_relaunch},
    {"launch_captured", a_launch_captured},
    {"alloc_free", a_alloc_free},
    {"free_of_outside", a_free_of_outside},
};

static void group_a(void)
{
    run_table("A.", a_cases, COUNT(a_cases), false);
    if (!is_wanted("A."))
        return;
    run_cases(start_process, COUNT(a_works), a_work_one);
    run_cases(start_process, COUNT(a_durings) * 3, a_during_one);
    run_cases(start_process, 15, a_thread_one);
}
