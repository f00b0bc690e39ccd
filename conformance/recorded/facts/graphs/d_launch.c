/* SPDX-License-Identifier: Apache-2.0 */
/* Group D: instances: making, launching and ending them. Part of ../graphs.c, which includes it. */

static CUgraph d_add_graph(CUgraphNode *n)
{
    CUgraph g = new_graph();
    kernel_node(n, g, NULL, 0, k_add, d, 1);
    return g;
}

static void d_flags(void)
{
    CUgraphNode n;
    CUgraph g = d_add_graph(&n);
    for (int bit = -1; bit < 64; bit++) {
        char step[32];
        u64 flags = bit < 0 ? 0 : (u64)1 << bit;
        CUgraphExec x = (CUgraphExec)(uintptr_t)77;
        if (bit > 7 && bit != 16 && bit != 31 && bit != 32 && bit != 63)
            continue;
        CUresult r = cuGraphInstantiate(&x, g, flags);
        snprintf(step, sizeof step, "bit%d", bit);
        cuuint64_t got = 77;
        CUresult asked = r ? CUDA_SUCCESS : cuGraphExecGetFlags(x, &got);
        val(step, "%s exec=%s flags=%s,%llu", name_of(r), x == (CUgraphExec)(uintptr_t)77 ? "untouched" : x ? "exec" : "NULL",
            name_of(asked), (u64)got);
        if (!r) {
            snprintf(step, sizeof step, "bit%d.launch", bit);
            at(step, cuGraphLaunch(x, s));
            at(step, cuStreamSynchronize(s));
        }
    }
    for (unsigned flags = 3; flags < 16; flags++) {
        char step[32];
        if ((flags & (flags - 1)) == 0)
            continue;
        CUDA_GRAPH_INSTANTIATE_PARAMS p;
        memset(&p, 0, sizeof p);
        p.flags = flags;
        p.hUploadStream = s;
        p.result_out = (CUgraphInstantiateResult)77;
        CUgraphExec x = (CUgraphExec)(uintptr_t)77;
        CUresult r = cuGraphInstantiateWithParams(&x, g, &p);
        snprintf(step, sizeof step, "params%u", flags);
        val(step, "%s result=%d exec=%s node=%d", name_of(r), (int)p.result_out,
            x == (CUgraphExec)(uintptr_t)77 ? "untouched" : x ? "exec" : "NULL", p.hErrNode_out != NULL);
        snprintf(step, sizeof step, "both%u", flags);
        at(step, cuGraphInstantiate(&x, g, flags));
    }
    for (unsigned flags = 0; flags < 3; flags++) {
        char step[32];
        CUDA_GRAPH_INSTANTIATE_PARAMS p;
        memset(&p, 0, sizeof p);
        p.flags = flags;
        p.result_out = (CUgraphInstantiateResult)77;
        p.hErrNode_out = n;
        CUgraphExec x = NULL;
        CUresult r = cuGraphInstantiateWithParams(&x, g, &p);
        snprintf(step, sizeof step, "no_stream%u", flags);
        val(step, "%s result=%d exec=%d node=%d", name_of(r), (int)p.result_out, x != NULL, p.hErrNode_out == n);
    }
    CUgraphExec x = NULL;
    at("params_null", cuGraphInstantiateWithParams(&x, g, NULL));
    at("null", cuGraphInstantiate(NULL, g, 0));
    at("null_graph", cuGraphInstantiate(&x, NULL, 0));
}

static void d_old_forms(void)
{
    CUgraphNode n, bad = (CUgraphNode)(uintptr_t)77;
    CUgraph g = d_add_graph(&n);
    CUgraphExec x = NULL;
    char log[64] = "77";
    typedef CUresult (*old_form)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t);
    static const char *const names[] = {"cuGraphInstantiate", "cuGraphInstantiate_v2"};
    for (size_t i = 0; i < 2; i++) {
        old_form make_it = (old_form)entry(names[i]);
        char step[32];
        snprintf(step, sizeof step, "v%zu", i + 1);
        CUresult r = make_it(&x, g, &bad, log, sizeof log);
        val(step, "%s exec=%d node=%s log=%s", name_of(r), x != NULL,
            bad == (CUgraphNode)(uintptr_t)77 ? "untouched" : bad ? "node" : "NULL", log);
        r = make_it(&x, g, NULL, NULL, 0);
        snprintf(step, sizeof step, "v%zu.null", i + 1);
        at(step, r);
        at(step, cuGraphLaunch(x, s));
    }
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word(0));
    CUresult (*launch)(CUgraphExec, CUstream) = (CUresult(*)(CUgraphExec, CUstream))entry("cuGraphLaunch_ptsz");
    CUresult (*upload)(CUgraphExec, CUstream) = (CUresult(*)(CUgraphExec, CUstream))entry("cuGraphUpload_ptsz");
    at("launch_ptsz", launch(x, NULL));
    at("upload_ptsz", upload(x, NULL));
    at("launch_per_thread", cuGraphLaunch(x, CU_STREAM_PER_THREAD));
    at("launch_legacy1", cuGraphLaunch(x, CU_STREAM_LEGACY));
    at("launch_null", cuGraphLaunch(x, NULL));
    at("sync2", cuCtxSynchronize());
    val("word2", "%s", word(0));
}

static void d_launches(void)
{
    CUgraphNode n, m;
    CUgraph g = d_add_graph(&n);
    kernel_node(&m, g, &n, 1, k_add, d + 4, 0x10);
    CUgraphExec x = new_exec(g), y = new_exec(g);
    at("upload", cuGraphUpload(x, s));
    at("upload_null", cuGraphUpload(x, NULL));
    at("launch", cuGraphLaunch(x, s));
    put(s, 0, 0x100);
    at("launch2", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("words", "%s %s", word(0), word(1));
    at("s", cuGraphLaunch(x, s));
    at("t", cuGraphLaunch(x, t));
    at("y", cuGraphLaunch(y, s));
    at("blocking", cuGraphLaunch(x, blocking));
    at("sync2", cuCtxSynchronize());
    val("word", "%s", word(0));
    at("destroy_graph", cuGraphDestroy(g));
    at("launch3", cuGraphLaunch(x, s));
    at("destroy_in_flight", cuGraphExecDestroy(x));
    at("sync3", cuStreamSynchronize(s));
    val("word3", "%s", word(0));
    at("y_destroy", cuGraphExecDestroy(y));
    at("destroy_null", cuGraphExecDestroy(NULL));
    at("launch_null", cuGraphLaunch(NULL, s));
    at("upload_nothing", cuGraphUpload(NULL, s));
}

/* Other work of the stream keeps its order. */
static void d_order(void)
{
    CUgraph g = new_graph();
    CUgraphNode a, b, c;
    host_node(&a, g, NULL, 0, 'a');
    host_node(&b, g, &a, 1, 'b');
    host_node(&c, g, &b, 1, 'c');
    CUgraphExec x = new_exec(g);
    host_order[0] = 0;
    host(s, '<');
    cuGraphLaunch(x, s);
    host(s, '>');
    cuGraphLaunch(x, s);
    at("sync", cuStreamSynchronize(s));
    val("order", "%s", host_order);
}

static void d_legacy_order(void)
{
    CUgraphNode n;
    CUgraph g = d_add_graph(&n);
    CUgraphExec x = new_exec(g);
    fill(NULL, 0, 0x10, 1);
    cuGraphLaunch(x, blocking);
    at("copy", cuMemcpyDtoD(d + 64, d, 4));
    at("sync", cuCtxSynchronize());
    val("words", "%s %s", word(0), word(16));
    at("query", cuStreamQuery(blocking));
    cuGraphLaunch(x, NULL);
    at("sync_null", cuStreamSynchronize(NULL));
    val("word", "%s", word(0));
}

/* What an instance holds is that of its making. */
static void d_snapshot(void)
{
    CUgraphNode n, m;
    CUgraph g = d_add_graph(&n);
    CUgraphExec x = new_exec(g);
    CUDA_KERNEL_NODE_PARAMS p;
    CUdeviceptr to = d + 4;
    unsigned value = 0x50;
    kernel_params(&p, k_put, &to, &value);
    at("set", cuGraphKernelNodeSetParams(n, &p));
    at("add", kernel_node(&m, g, &n, 1, k_put, d + 8, 0x51));
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("words", "%s %s %s", word(0), word(1), word(2));
    launch_of(g);
    val("words2", "%s %s %s", word(0), word(1), word(2));
}

static void d_enabled(void)
{
    CUgraph g = new_graph(), inner = new_graph(), other = new_graph();
    CUgraphNode n[8], foreign;
    kernel_node(&n[0], g, NULL, 0, k_put, d, 1);
    copy_node(&n[1], g, &n[0], 1, d + 64, d);
    fill_node(&n[2], g, &n[1], 1, d + 128, 3);
    host_node(&n[3], g, &n[2], 1, 'e');
    cuGraphAddChildGraphNode(&n[4], g, &n[3], 1, inner);
    cuGraphAddEmptyNode(&n[5], g, &n[4], 1);
    cuGraphAddEventRecordNode(&n[6], g, &n[5], 1, e);
    kernel_node(&n[7], g, &n[6], 1, k_put, d + 192, 4);
    fill_node(&foreign, other, NULL, 0, d, 1);
    CUgraphExec x = new_exec(g);
    for (int i = 0; i < 8; i++) {
        char step[32];
        unsigned enabled = 77;
        CUresult r = cuGraphNodeGetEnabled(x, n[i], &enabled);
        snprintf(step, sizeof step, "get%d", i);
        val(step, "%s %u", name_of(r), enabled);
        r = cuGraphNodeSetEnabled(x, n[i], 0);
        enabled = 77;
        cuGraphNodeGetEnabled(x, n[i], &enabled);
        snprintf(step, sizeof step, "set%d", i);
        val(step, "%s %u", name_of(r), enabled);
    }
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("words", "%s %s %s %s", word(0), word(16), word(32), word(48));
    at("set2", cuGraphNodeSetEnabled(x, n[0], 2));
    unsigned enabled = 77;
    cuGraphNodeGetEnabled(x, n[0], &enabled);
    val("set2.get", "%u", enabled);
    CUDA_KERNEL_NODE_PARAMS p;
    CUdeviceptr to = d + 16;
    unsigned value = 0x50;
    kernel_params(&p, k_put, &to, &value);
    at("disable", cuGraphNodeSetEnabled(x, n[7], 0));
    at("set_params", cuGraphExecKernelNodeSetParams(x, n[7], &p));
    cuGraphNodeGetEnabled(x, n[7], &enabled);
    val("after_set", "%u", enabled);
    at("launch2", cuGraphLaunch(x, s));
    at("sync2", cuStreamSynchronize(s));
    val("words2", "%s %s", word(0), word(4));
    at("foreign", cuGraphNodeSetEnabled(x, foreign, 0));
    at("foreign_get", cuGraphNodeGetEnabled(x, foreign, &enabled));
    at("null_exec", cuGraphNodeSetEnabled(NULL, n[0], 0));
    at("null_node", cuGraphNodeSetEnabled(x, NULL, 0));
    at("null_out", cuGraphNodeGetEnabled(x, n[0], NULL));
    at("destroy_node", cuGraphDestroyNode(n[2]));
}

/* The work of a graph is in flight until a call has waited for it. */
static volatile int d_open;

static void CUDA_CB d_gate(void *unused)
{
    struct timespec step = {0, 1000000};
    (void)unused;
    for (int waited = 0; !d_open && waited < 300; waited++)
        nanosleep(&step, NULL);
}

static void d_in_flight(void)
{
    CUgraph g = new_graph();
    CUgraphNode a, b;
    CUDA_HOST_NODE_PARAMS gate = {d_gate, NULL};
    cuGraphAddHostNode(&a, g, NULL, 0, &gate);
    kernel_node(&b, g, &a, 1, k_put, d, 5);
    CUgraphExec x = new_exec(g);
#ifdef CUVMM_REPLAYS_DRIVER
    d_open = 1;
#else
    d_open = 0;
#endif
    at("launch", cuGraphLaunch(x, s));
    at("record", cuEventRecord(e, s));
    at("query", cuStreamQuery(s));
    at("query_event", cuEventQuery(e));
    at("wait", cuStreamWaitEvent(t, e, 0));
    at("beside", put(t, 1, 6));
    d_open = 1;
    at("sync", cuStreamSynchronize(t));
    val("words", "%s %s", word(0), word(1));
    at("query2", cuStreamQuery(s));
    d_open = 0;
    at("launch2", cuGraphLaunch(x, s));
    d_open = 1;
    at("exec_destroy", cuGraphExecDestroy(x));
    at("stream_destroy", cuStreamDestroy(s));
    at("sync2", cuCtxSynchronize());
    cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
}

/* A host function of a graph may not call the driver either. */
static CUresult d_inside_result;
static void CUDA_CB d_inside(void *unused)
{
    CUdeviceptr p;
    (void)unused;
    d_inside_result = cuMemAlloc(&p, 4096);
}

static void d_host_calls(void)
{
    CUgraph g = new_graph();
    CUgraphNode a;
    CUDA_HOST_NODE_PARAMS p = {d_inside, NULL};
    cuGraphAddHostNode(&a, g, NULL, 0, &p);
    launch_of(g);
    val("inside", "%s", name_of(d_inside_result));
}

static void d_stream_wrong(void)
{
    CUgraphNode n;
    CUgraph g = d_add_graph(&n);
    CUgraphExec x = new_exec(g);
    cuStreamDestroy(t);
    at("destroyed_stream", cuGraphLaunch(x, t));
    cuStreamCreate(&t, CU_STREAM_NON_BLOCKING);
}

static const struct one_case d_cases[] = {
    {"flags", d_flags},
    {"old_forms", d_old_forms},
    {"launches", d_launches},
    {"order", d_order},
    {"legacy_order", d_legacy_order},
    {"snapshot", d_snapshot},
    {"enabled", d_enabled},
    {"in_flight", d_in_flight},
    {"host_calls", d_host_calls},
    {"stream_wrong", d_stream_wrong},
};

static void group_d(void)
{
    run_table("D.", d_cases, COUNT(d_cases), false);
}
