/* SPDX-License-Identifier: Apache-2.0 */
/* Group G: what the first run left open. Part of ../graphs.c, which includes it. */

static void g_child(void)
{
    CUgraph inner = new_graph(), held = NULL;
    CUgraphNode a = NULL, b = NULL, c = NULL, n = NULL;
    fill_node(&a, inner, NULL, 0, d, 0x11);
    kernel_node(&b, inner, &a, 1, k_add, d, 1);
    CUgraph h = new_graph();
    at("add", cuGraphAddChildGraphNode(&n, h, NULL, 0, inner));
    node_parameters("node", n);
    at("grow", fill_node(&c, inner, NULL, 0, d + 4, 0x12));
    node_parameters("grown", n);
    at("get", cuGraphChildGraphNodeGetGraph(n, &held));
    val("same", "%d", held == inner);
    at("add_to_held", kernel_node(&c, held, NULL, 0, k_put, d + 8, 0x13));
    node_parameters("held", n);
    CUgraphNode found = NULL;
    at("find", cuGraphNodeFindInClone(&found, a, held));
    at("destroy_held", cuGraphDestroy(held));
    at("destroy_inner", cuGraphDestroy(inner));
    kernel_node(&c, h, &n, 1, k_add, d, 0x100);
    launch_of(h);
    val("words", "%s %s %s", word(0), word(1), word(2));
    shape("shape", h);
}

static void g_child_itself(void)
{
    CUgraph g = new_graph();
    CUgraphNode n = NULL;
    at("itself", cuGraphAddChildGraphNode(&n, g, NULL, 0, g));
    shape("shape", g);
}

/* The mode of the capturing thread itself. */
static void g_exchange(void)
{
    CUdeviceptr p;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    at("first", cuThreadExchangeStreamCaptureMode(&mode));
    val("first.mode", "%d", (int)mode);
    cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    at("alloc", cuMemAlloc(&p, 4096));
    val("status", "%d", status_of(s));
    mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    at("second", cuThreadExchangeStreamCaptureMode(&mode));
    val("second.mode", "%d", (int)mode);
    at("alloc2", cuMemAlloc(&p, 4096));
    val("status2", "%d", status_of(s));
    mode = (CUstreamCaptureMode)7;
    at("wrong", cuThreadExchangeStreamCaptureMode(&mode));
    val("wrong.mode", "%d", (int)mode);
    end(s);
    mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    cuThreadExchangeStreamCaptureMode(&mode);
}

/* ---- the fault of a fill, by its size, in a graph and in a stream: G.fault.* ---- */

static const size_t g_sizes[] = {1, 2, 4, 8, 15, 16, 17, 32, 64, 128, 256, 512};

enum { G_GRAPH8, G_STREAM8, G_STREAM32, G_WAYS };

static void g_fault_one(size_t i, char *id, int run)
{
    static const char *const ways[] = {"graph8", "stream8", "stream32"};
    static char name[64];
    size_t size = g_sizes[i / G_WAYS];
    int way = (int)(i % G_WAYS);
    snprintf(name, sizeof name, "fault.%s.%zu", ways[way], size);
    case_name = name;
    snprintf(case_prefix, sizeof case_prefix, "G.");
    snprintf(id, CASE_ID, "G.%s", name);
    if (!run || !is_wanted(id) || (way == G_STREAM32 && size % 4))
        return;
    start_case();
    h_prepare();
    CUDA_HOST_NODE_PARAMS hold_on = {d_gate, NULL};
    d_open = 1;
#ifndef CUVMM_REPLAYS_DRIVER
    d_open = 0;
#endif
    if (way == G_GRAPH8) {
        CUgraph g = new_graph();
        CUgraphNode n;
        CUDA_MEMSET_NODE_PARAMS p = fill_params(h_p, 0x11, 1, size, 1);
        at("add", cuGraphAddMemsetNode(&n, g, NULL, 0, &p, primary[0]));
        CUgraphExec x = new_exec(g);
        cuMemUnmap(h_p, G);
        at("launch", cuGraphLaunch(x, s));
    } else {
        cuLaunchHostFunc(s, hold_on.fn, NULL);
        at("fill", way == G_STREAM8 ? cuMemsetD8Async(h_p, 0x11, size, s) : cuMemsetD32Async(h_p, 0x11, size / 4, s));
        cuMemUnmap(h_p, G);
    }
    d_open = 1;
    at("sync", cuStreamSynchronize(s));
}

/* ---- fills of rows in updates ---- */

static void g_update_rows(void)
{
    static const struct {
        size_t width, height, pitch;
    } ways[] = {{4, 2, 64}, {8, 2, 64}, {4, 3, 64}, {4, 2, 128}, {16, 2, 64}, {4, 1, 0}, {4, 1, 64}};
    for (size_t i = 0; i < COUNT(ways); i++)
        for (size_t k = 0; k < COUNT(ways); k++) {
            CUgraph g = new_graph(), h = new_graph();
            CUgraphNode n, m;
            char step[32];
            CUDA_MEMSET_NODE_PARAMS p = fill_params(d, 1, 4, ways[i].width, ways[i].height);
            CUDA_MEMSET_NODE_PARAMS q = fill_params(d + 1024, 2, 4, ways[k].width, ways[k].height);
            p.pitch = ways[i].pitch;
            q.pitch = ways[k].pitch;
            cuGraphAddMemsetNode(&n, g, NULL, 0, &p, primary[0]);
            cuGraphAddMemsetNode(&m, h, NULL, 0, &q, primary[0]);
            CUgraphExec x = new_exec(g);
            CUgraphExecUpdateResultInfo info;
            memset(&info, 0, sizeof info);
            CUresult r = cuGraphExecUpdate(x, h, &info), set = cuGraphExecMemsetNodeSetParams(x, n, &q, primary[0]);
            snprintf(step, sizeof step, "%zu.%zu", i, k);
            val(step, "%s %d set=%s", name_of(r), (int)info.result, name_of(set));
            cuGraphExecDestroy(x);
            cuGraphDestroy(g);
            cuGraphDestroy(h);
        }
}

/* Copies of rows, and between kinds of memory. */
static void g_update_copies(void)
{
    enum { LINE, ROWS, MORE_ROWS, WIDER_ROWS, PITCHED, BOXES, PINNED_FROM, PINNED_TO, HOST_FROM, UNIFIED, WAYS };
    for (int i = 0; i < WAYS; i++)
        for (int k = 0; k < WAYS; k++) {
            CUDA_MEMCPY3D c[2];
            for (int side = 0; side < 2; side++) {
                int way = side ? k : i;
                CUDA_MEMCPY3D *p = &c[side];
                *p = copy_params(CU_MEMORYTYPE_DEVICE, d + 2048, CU_MEMORYTYPE_DEVICE, d, 16);
                if (way == PINNED_FROM || way == HOST_FROM)
                    *p = copy_params(CU_MEMORYTYPE_DEVICE, d + 2048, CU_MEMORYTYPE_HOST,
                                     as_u64(way == HOST_FROM ? host_words : pinned), 16);
                if (way == PINNED_TO)
                    *p = copy_params(CU_MEMORYTYPE_HOST, as_u64(pinned), CU_MEMORYTYPE_DEVICE, d, 16);
                if (way == UNIFIED)
                    *p = copy_params(CU_MEMORYTYPE_UNIFIED, d + 2048, CU_MEMORYTYPE_UNIFIED, as_u64(pinned), 16);
                if (way >= ROWS && way <= BOXES) {
                    p->Height = way == MORE_ROWS ? 3 : 2;
                    p->srcPitch = p->dstPitch = way == PITCHED ? 128 : 64;
                    p->WidthInBytes = way == WIDER_ROWS ? 32 : 16;
                    p->Depth = way == BOXES ? 2 : 1;
                    p->srcHeight = p->dstHeight = 4;
                }
            }
            CUgraph g = new_graph(), h = new_graph();
            CUgraphNode n, m;
            char step[32];
            cuGraphAddMemcpyNode(&n, g, NULL, 0, &c[0], primary[0]);
            cuGraphAddMemcpyNode(&m, h, NULL, 0, &c[1], primary[0]);
            CUgraphExec x = new_exec(g);
            CUgraphExecUpdateResultInfo info;
            memset(&info, 0, sizeof info);
            CUresult r = cuGraphExecUpdate(x, h, &info), set = cuGraphExecMemcpyNodeSetParams(x, n, &c[1], primary[0]);
            snprintf(step, sizeof step, "%d.%d", i, k);
            val(step, "%s %d set=%s", name_of(r), (int)info.result, name_of(set));
            cuGraphExecDestroy(x);
            cuGraphDestroy(g);
            cuGraphDestroy(h);
        }
}

/* An update that fails half way through: are the nodes before as they were? */
static void g_update_half(void)
{
    CUgraph g = new_graph(), h = new_graph();
    CUgraphNode n[3], m[3];
    CUgraphExecUpdateResultInfo info;
    fill_node(&n[0], g, NULL, 0, d, 1);
    copy_node(&n[1], g, &n[0], 1, d + 1024, d);
    fill_node(&n[2], g, &n[1], 1, d + 2048, 1);
    fill_node(&m[0], h, NULL, 0, d, 2);
    CUDA_MEMCPY3D c = copy_params(CU_MEMORYTYPE_HOST, as_u64(pinned), CU_MEMORYTYPE_DEVICE, d, 16);
    cuGraphAddMemcpyNode(&m[1], h, &m[0], 1, &c, primary[0]);
    fill_node(&m[2], h, &m[1], 1, d + 2048, 2);
    CUgraphExec x = new_exec(g);
    memset(&info, 0, sizeof info);
    CUresult r = cuGraphExecUpdate(x, h, &info);
    val("update", "%s %d", name_of(r), (int)info.result);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("words", "%s %s %s", word(0), word(256), word(512));
}

/* ---- what GLOBAL mode refused, in mode RELAXED ---- */

static void g_relaxed(void)
{
    begin(s);
    at("peer", a_peer(s));
    end(s);
    case_name = "relaxed.callback";
    begin(s);
    at("callback", cuStreamAddCallback(s, note_callback, NULL, 0));
    end(s);
    case_name = "relaxed.legacy";
    begin(s);
    at("record", cuEventRecord(e, s));
    at("wait", cuStreamWaitEvent(NULL, e, 0));
    val("status", "%d %d", status_of(s), status_of(NULL));
    end(s);
    case_name = "relaxed.blocking";
    begin(s);
    at("record", cuEventRecord(e, s));
    at("wait", cuStreamWaitEvent(blocking, e, 0));
    val("status", "%d %d", status_of(s), status_of(blocking));
    at("null", fill(NULL, 0, 1, 1));
    end(s);
}

/* The errors of a captured stream's calls, in the order of their causes. */
static void g_invalid_order(void)
{
    CUdeviceptr p = 0;
    cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cuMemAlloc(&p, 4096);
    at("query", cuStreamQuery(s));
    at("query_t", cuStreamQuery(t));
    at("event", cuEventQuery(e));
    at("wait_null", cuStreamWaitEvent(s, NULL, 0));
    at("record_null", cuEventRecord(NULL, s));
    at("kernel_null", cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    at("fill_unaligned", cuMemsetD32Async(d + 1, 1, 1, s));
    at("fill_0", cuMemsetD8Async(d, 1, 0, s));
    at("host_null", cuLaunchHostFunc(s, NULL, NULL));
    at("begin_into", cuStreamBeginCaptureToGraph(s, new_graph(), NULL, NULL, 0, 0));
    at("update_flags", cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 5));
    end(s);
    case_name = "invalid_order.relaxed";
    begin(s);
    cuStreamQuery(s);
    at("query", cuStreamQuery(s));
    at("sync", cuStreamSynchronize(s));
    at("flags", cuStreamGetFlags(s, &(unsigned){0}));
    end(s);
}

static const struct one_case g_cases[] = {
    {"child", g_child},
    {"child_itself", g_child_itself},
    {"exchange", g_exchange},
    {"update_rows", g_update_rows},
    {"update_copies", g_update_copies},
    {"update_half", g_update_half},
    {"relaxed", g_relaxed},
    {"invalid_order", g_invalid_order},
};

static void group_g(void)
{
    run_table("G.", g_cases, COUNT(g_cases), false);
    if (is_wanted("G."))
        run_cases(start_process, COUNT(g_sizes) * G_WAYS - 2, g_fault_one); /* the recordings end there */
}
