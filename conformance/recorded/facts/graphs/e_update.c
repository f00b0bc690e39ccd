/* SPDX-License-Identifier: Apache-2.0 */
/* Group E: what cuGraphExecUpdate and the SetParams of an instance accept. Part of ../graphs.c, which includes it.
 *
 * e_graph(n, difference) builds one graph with a node of each type; a difference changes one thing of it. Each case updates an
 * instance of the plain graph with the graph that differs, and launches. */

enum e_difference {
    E_NONE, E_FILL_VALUE, E_FILL_DST, E_FILL_WIDTH, E_FILL_SIZE, E_FILL_2D, E_FILL_HOST, E_COPY_DST, E_COPY_SRC, E_COPY_SIZE,
    E_COPY_HTOD, E_COPY_DTOH, E_COPY_UNIFIED, E_COPY_ROWS, E_KERNEL_VALUE, E_KERNEL_FUNC, E_KERNEL_GRID, E_KERNEL_BLOCK,
    E_KERNEL_SHARED, E_HOST_FN, E_HOST_DATA, E_EVENT, E_WAIT_EVENT, E_CHILD_VALUE, E_CHILD_MORE, E_CHILD_TYPE, E_MORE, E_FEWER,
    E_EDGE_MORE, E_EDGE_FEWER, E_EDGE_OTHER, E_TYPE, E_ORDER, E_NODES_REVERSED, E_EMPTY_GRAPH, E_FILL_PINNED, E_COUNT
};

static const char *const e_names[] = {
    "none", "fill_value", "fill_dst", "fill_width", "fill_size", "fill_2d", "fill_host", "copy_dst", "copy_src", "copy_size",
    "copy_htod", "copy_dtoh", "copy_unified", "copy_rows", "kernel_value", "kernel_func", "kernel_grid", "kernel_block",
    "kernel_shared", "host_fn", "host_data", "event", "wait_event", "child_value", "child_more", "child_type", "more", "fewer",
    "edge_more", "edge_fewer", "edge_other", "type", "order", "nodes_reversed", "empty_graph", "fill_pinned"};

static void CUDA_CB e_other_letter(void *letter)
{
    note_letter((char *)letter + 1);
}

/* The parts of the graph; most differences are in their parameters. */
static CUDA_MEMSET_NODE_PARAMS e_fill(enum e_difference what)
{
    CUDA_MEMSET_NODE_PARAMS p = fill_params(d, 0x11, 4, 4, 1);
    switch (what) {
    case E_FILL_VALUE: p.value = 0x12; break;
    case E_FILL_DST: p.dst = d + 1024; break;
    case E_FILL_WIDTH: p.width = 8; break;
    case E_FILL_SIZE: p.elementSize = 1, p.width = 16; break;
    case E_FILL_2D: p.height = 2, p.pitch = 64; break;
    case E_FILL_HOST: p.dst = as_u64(host_words); break;
    case E_FILL_PINNED: p.dst = as_u64(pinned); break;
    default: break;
    }
    return p;
}

static CUDA_MEMCPY3D e_copy(enum e_difference what)
{
    CUDA_MEMCPY3D c = copy_params(CU_MEMORYTYPE_DEVICE, d + 2048, CU_MEMORYTYPE_DEVICE, d, 16);
    switch (what) {
    case E_COPY_DST: c.dstDevice = d + 3072; break;
    case E_COPY_SRC: c.srcDevice = d + 4096; break;
    case E_COPY_SIZE: c.WidthInBytes = 8; break;
    case E_COPY_HTOD: c = copy_params(CU_MEMORYTYPE_DEVICE, d + 2048, CU_MEMORYTYPE_HOST, as_u64(pinned), 16); break;
    case E_COPY_DTOH: c = copy_params(CU_MEMORYTYPE_HOST, as_u64(pinned), CU_MEMORYTYPE_DEVICE, d, 16); break;
    case E_COPY_UNIFIED: c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_UNIFIED; break;
    case E_COPY_ROWS: c.Height = 2, c.srcPitch = c.dstPitch = 64; break;
    default: break;
    }
    return c;
}

static CUresult e_kernel_node(CUgraphNode *n, CUgraph g, const CUgraphNode *deps, size_t count, enum e_difference what)
{
    CUDA_KERNEL_NODE_PARAMS p;
    CUdeviceptr to = d + 512;
    unsigned value = what == E_KERNEL_VALUE ? 0x22 : 0x21;
    kernel_params(&p, what == E_KERNEL_FUNC ? k_put : k_add, &to, &value);
    p.gridDimX = what == E_KERNEL_GRID ? 2 : 1;
    p.blockDimX = what == E_KERNEL_BLOCK ? 32 : 1;
    p.sharedMemBytes = what == E_KERNEL_SHARED ? 1024 : 0;
    return cuGraphAddKernelNode(n, g, deps, count, &p);
}

static CUgraph e_inner(enum e_difference what)
{
    CUgraph inner = new_graph();
    CUgraphNode a, b;
    if (what == E_CHILD_TYPE)
        copy_node(&a, inner, NULL, 0, d + 768, d);
    else
        kernel_node(&a, inner, NULL, 0, k_add, d + 768, what == E_CHILD_VALUE ? 0x32 : 0x31);
    if (what == E_CHILD_MORE)
        kernel_node(&b, inner, &a, 1, k_add, d + 772, 1);
    return inner;
}

/* 0 fill > 1 copy > 2 kernel > 3 host > 4 record > 5 wait > 6 child > 7 empty */
static CUgraph e_graph(CUgraphNode n[10], enum e_difference what)
{
    CUgraph g = new_graph();
    if (what == E_EMPTY_GRAPH)
        return g;
    CUDA_MEMSET_NODE_PARAMS m = e_fill(what);
    CUDA_MEMCPY3D c = e_copy(what);
    CUDA_HOST_NODE_PARAMS h = {what == E_HOST_FN ? e_other_letter : note_letter,
                               (void *)(uintptr_t)(what == E_HOST_DATA ? 'd' : 'a')};
    if (what == E_TYPE)
        kernel_node(&n[0], g, NULL, 0, k_put, d, 0x11);
    else if (what == E_ORDER) /* the copy is made first, but depends on the fill as before */
        cuGraphAddMemcpyNode(&n[1], g, NULL, 0, &c, primary[0]);
    if (what != E_TYPE)
        cuGraphAddMemsetNode(&n[0], g, NULL, 0, &m, primary[0]);
    if (what == E_ORDER)
        cuGraphAddDependencies(g, &n[0], &n[1], NULL, 1);
    else
        cuGraphAddMemcpyNode(&n[1], g, what == E_EDGE_FEWER ? NULL : n, what == E_EDGE_FEWER ? 0 : 1, &c, primary[0]);
    e_kernel_node(&n[2], g, what == E_EDGE_OTHER ? &n[0] : &n[1], 1, what);
    cuGraphAddHostNode(&n[3], g, &n[2], 1, &h);
    cuGraphAddEventRecordNode(&n[4], g, &n[3], 1, what == E_EVENT ? f : e);
    cuGraphAddEventWaitNode(&n[5], g, &n[4], 1, what == E_WAIT_EVENT ? f : e);
    cuGraphAddChildGraphNode(&n[6], g, &n[5], 1, e_inner(what));
    if (what != E_FEWER)
        cuGraphAddEmptyNode(&n[7], g, &n[6], 1);
    if (what == E_MORE)
        cuGraphAddEmptyNode(&n[8], g, &n[7], 1);
    if (what == E_EDGE_MORE)
        cuGraphAddDependencies(g, &n[0], &n[2], NULL, 1);
    if (what == E_NODES_REVERSED) {
        cuGraphDestroyNode(n[7]);
        cuGraphAddEmptyNode(&n[7], g, &n[6], 1);
    }
    return g;
}

static void e_run(CUgraphExec x)
{
    cuMemsetD8(d, 0, 65536);
    cuMemsetD32(d + 4096, 0x99, 16);
    for (int i = 0; i < 16; i++)
        pinned[i] = 0x98;
    host_order[0] = 0;
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("words", "fill=%s,%s,%s,%s copy=%s,%s,%s kernel=%s child=%s,%s pinned=%x order=%s events=%d,%d", word(0), word(5),
        word(16), word(256), word(512), word(515), word(768), word(128), word(192), word(193), pinned[0], host_order,
        cuEventQuery(e) == CUDA_SUCCESS, cuEventQuery(f) == CUDA_SUCCESS);
}

static void e_update_one(size_t i, char *id, int run)
{
    static char name[48];
    snprintf(name, sizeof name, "update.%s", e_names[i]);
    case_name = name;
    snprintf(case_prefix, sizeof case_prefix, "E.");
    snprintf(id, CASE_ID, "E.%s", name);
    if (!run || !is_wanted(id))
        return;
    start_case();
    CUgraphNode n[10], m[10];
    memset(n, 0, sizeof n);
    memset(m, 0, sizeof m);
    CUgraph g = e_graph(n, E_NONE), changed = e_graph(m, (enum e_difference)i);
    CUgraphExec x = new_exec(g);
    CUgraphExecUpdateResultInfo info;
    memset(&info, 0x77, sizeof info);
    CUresult r = cuGraphExecUpdate(x, changed, &info);
    val("update", "%s result=%d node=%d from=%d", name_of(r), (int)info.result,
        info.errorNode ? number_of(changed, info.errorNode) : -9, info.errorFromNode ? number_of(changed, info.errorFromNode) : -9);
    e_run(x);
    CUresult (*v1)(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *) =
        (CUresult(*)(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *))entry("cuGraphExecUpdate");
    CUgraphNode node = (CUgraphNode)(uintptr_t)77;
    CUgraphExecUpdateResult result = (CUgraphExecUpdateResult)77;
    r = v1(x, changed, &node, &result);
    val("v1", "%s result=%d node=%d", name_of(r), (int)result,
        node == (CUgraphNode)(uintptr_t)77 ? -77 : node ? number_of(changed, node) : -9);
}

/* The same differences, one node of the instance at a time. */
static void e_set_one(size_t i, char *id, int run)
{
    static char name[48];
    enum e_difference what = (enum e_difference)(i + E_FILL_VALUE);
    snprintf(name, sizeof name, "set.%s", e_names[what]);
    case_name = name;
    snprintf(case_prefix, sizeof case_prefix, "E.");
    snprintf(id, CASE_ID, "E.%s", name);
    if (!run || !is_wanted(id))
        return;
    start_case();
    CUgraphNode n[10];
    CUgraph g = e_graph(n, E_NONE);
    CUgraphExec x = new_exec(g);
    CUDA_MEMSET_NODE_PARAMS m = e_fill(what);
    CUDA_MEMCPY3D c = e_copy(what);
    CUDA_HOST_NODE_PARAMS h = {what == E_HOST_FN ? e_other_letter : note_letter,
                               (void *)(uintptr_t)(what == E_HOST_DATA ? 'd' : 'a')};
    CUDA_KERNEL_NODE_PARAMS p;
    CUdeviceptr to = d + 512;
    unsigned value = what == E_KERNEL_VALUE ? 0x22 : 0x21;
    kernel_params(&p, what == E_KERNEL_FUNC ? k_put : k_add, &to, &value);
    p.gridDimX = what == E_KERNEL_GRID ? 2 : 1;
    p.blockDimX = what == E_KERNEL_BLOCK ? 32 : 1;
    p.sharedMemBytes = what == E_KERNEL_SHARED ? 1024 : 0;
    if (what <= E_FILL_HOST)
        at("set", cuGraphExecMemsetNodeSetParams(x, n[0], &m, primary[0]));
    else if (what <= E_COPY_ROWS)
        at("set", cuGraphExecMemcpyNodeSetParams(x, n[1], &c, primary[0]));
    else if (what <= E_KERNEL_SHARED)
        at("set", cuGraphExecKernelNodeSetParams(x, n[2], &p));
    else if (what <= E_HOST_DATA)
        at("set", cuGraphExecHostNodeSetParams(x, n[3], &h));
    else if (what == E_EVENT)
        at("set", cuGraphExecEventRecordNodeSetEvent(x, n[4], f));
    else if (what == E_WAIT_EVENT)
        at("set", cuGraphExecEventWaitNodeSetEvent(x, n[5], f));
    else
        at("set", cuGraphExecChildGraphNodeSetParams(x, n[6], e_inner(what)));
    e_run(x);
    node_parameters("original", n[what <= E_FILL_HOST ? 0 : what <= E_COPY_ROWS ? 1 : 2]);
}

static void e_wrong(void)
{
    CUgraphNode n[10], m[10];
    CUgraph g = e_graph(n, E_NONE), other = e_graph(m, E_NONE);
    CUgraphExec x = new_exec(g);
    CUgraphExecUpdateResultInfo info;
    CUDA_MEMSET_NODE_PARAMS p = e_fill(E_FILL_VALUE);
    at("itself", cuGraphExecUpdate(x, g, &info));
    at("foreign", cuGraphExecMemsetNodeSetParams(x, m[0], &p, primary[0]));
    at("foreign_type", cuGraphExecMemsetNodeSetParams(x, m[1], &p, primary[0]));
    at("ctx_null", cuGraphExecMemsetNodeSetParams(x, n[0], &p, NULL));
    CUgraph clone = NULL;
    CUgraphNode found = NULL;
    cuGraphClone(&clone, g);
    cuGraphNodeFindInClone(&found, n[0], clone);
    at("clones_node", cuGraphExecMemsetNodeSetParams(x, found, &p, primary[0]));
    at("update_clone", cuGraphExecUpdate(x, clone, &info));
    at("destroy_other", cuGraphDestroy(other));
    at("destroyed", cuGraphDestroyNode(n[7]));
    e_run(x);
    at("update_smaller", cuGraphExecUpdate(x, g, &info));
    val("smaller", "%d", (int)info.result);
}

/* An update while the instance runs holds for the next launch. */
static void e_in_flight(void)
{
    CUgraph g = new_graph(), h = new_graph();
    CUgraphNode a, b, c, e_;
    CUDA_HOST_NODE_PARAMS gate = {d_gate, NULL};
    CUgraphExecUpdateResultInfo info;
    cuGraphAddHostNode(&a, g, NULL, 0, &gate);
    kernel_node(&b, g, &a, 1, k_put, d, 5);
    cuGraphAddHostNode(&c, h, NULL, 0, &gate);
    kernel_node(&e_, h, &c, 1, k_put, d, 6);
    CUgraphExec x = new_exec(g);
#ifdef CUVMM_REPLAYS_DRIVER
    d_open = 1;
#else
    d_open = 0;
#endif
    at("launch", cuGraphLaunch(x, s));
    at("copy", cuMemcpyDtoDAsync(d + 64, d, 4, s));
    at("update", cuGraphExecUpdate(x, h, &info));
    at("launch2", cuGraphLaunch(x, s));
    d_open = 1;
    at("sync", cuStreamSynchronize(s));
    val("words", "%s %s", word(16), word(0));
}

/* Unmapped and other addresses in SetParams. */
static void e_addresses(void)
{
    CUgraphNode n[10];
    CUgraph g = e_graph(n, E_NONE);
    CUgraphExec x = new_exec(g);
    CUDA_MEMSET_NODE_PARAMS m = fill_params(d + ((u64)1 << 44), 1, 4, 4, 1);
    CUDA_MEMCPY3D c = copy_params(CU_MEMORYTYPE_DEVICE, d + ((u64)1 << 44), CU_MEMORYTYPE_DEVICE, d, 16);
    at("fill", cuGraphMemsetNodeSetParams(n[0], &m));
    at("copy", cuGraphMemcpyNodeSetParams(n[1], &c));
    at("fill_exec", cuGraphExecMemsetNodeSetParams(x, n[0], &m, primary[0]));
    at("copy_exec", cuGraphExecMemcpyNodeSetParams(x, n[1], &c, primary[0]));
    e_run(x);
}

static const struct one_case e_cases[] = {
    {"wrong", e_wrong},
    {"in_flight", e_in_flight},
    {"addresses", e_addresses},
};

static void group_e(void)
{
    if (is_wanted("E.")) {
        run_cases(start_process, E_COUNT, e_update_one);
        run_cases(start_process, E_CHILD_TYPE - E_FILL_VALUE + 1, e_set_one);
    }
    run_table("E.", e_cases, COUNT(e_cases), false);
}
