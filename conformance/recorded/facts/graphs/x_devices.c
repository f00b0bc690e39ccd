/* SPDX-License-Identifier: Apache-2.0 */
/* Group X: graphs over two devices. Part of ../graphs.c, which includes it. */

static CUcontext x_ctx;
static CUdeviceptr x_p;

static bool x_start(void)
{
    if (cuDevicePrimaryCtxRetain(&x_ctx, 1))
        return false;
    cuCtxSetCurrent(x_ctx);
    cuMemAlloc(&x_p, G);
    cuMemsetD32(x_p, 0x81, 16);
    cuCtxSynchronize();
    cuCtxSetCurrent(primary[0]);
    return true;
}

static void x_nodes(void)
{
    if (!x_start())
        return;
    CUgraph g = new_graph();
    CUgraphNode n = NULL, m = NULL, k = NULL;
    CUDA_MEMSET_NODE_PARAMS p = fill_params(x_p, 0x82, 4, 4, 1);
    at("fill_own", cuGraphAddMemsetNode(&n, g, NULL, 0, &p, x_ctx));
    at("fill_other", cuGraphAddMemsetNode(&m, g, &n, 1, &p, primary[0]));
    CUDA_MEMCPY3D c = copy_params(CU_MEMORYTYPE_DEVICE, d, CU_MEMORYTYPE_DEVICE, x_p, 16);
    at("copy", cuGraphAddMemcpyNode(&k, g, &n, 1, &c, primary[0]));
    shape("shape", g);
    launch_of(g);
    val("words", "%s %s", word(0), word_in(x_p));
    CUgraph h = new_graph();
    at("kernel", kernel_node(&n, h, NULL, 0, k_put, d, 7));
    CUgraphExec x = new_exec(h);
    CUstream other = NULL;
    cuCtxSetCurrent(x_ctx);
    cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    at("launch_other", cuGraphLaunch(x, other));
    at("sync", cuStreamSynchronize(other));
    at("launch_null", cuGraphLaunch(x, NULL));
    at("sync2", cuCtxSynchronize());
    cuCtxSetCurrent(primary[0]);
    at("sync3", cuCtxSynchronize());
    val("word", "%s", word(0));
    CUgraphExec y = NULL;
    cuCtxSetCurrent(x_ctx);
    at("instantiate_other", cuGraphInstantiate(&y, h, 0));
    at("launch_other2", cuGraphLaunch(y, other));
    at("sync4", cuStreamSynchronize(other));
    cuCtxSetCurrent(primary[0]);
}

static void x_capture(void)
{
    if (!x_start())
        return;
    CUstream other = NULL;
    cuCtxSetCurrent(x_ctx);
    cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    CUevent theirs = NULL;
    cuEventCreate(&theirs, 0);
    cuCtxSetCurrent(primary[0]);
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    cuCtxSetCurrent(x_ctx);
    at("wait", cuStreamWaitEvent(other, e, 0));
    at("fill", cuMemsetD32Async(x_p, 0x83, 4, other));
    at("record", cuEventRecord(theirs, other));
    cuCtxSetCurrent(primary[0]);
    at("join", cuStreamWaitEvent(s, theirs, 0));
    at("copy", cuMemcpyPeerAsync(d, primary[0], x_p, x_ctx, 16, s));
    CUgraph g = end(s);
    if (g)
        launch_of(g);
    val("words", "%s %s", word(0), word_in(x_p));
}

static void x_alloc(void)
{
    if (!x_start())
        return;
    CUgraph g = new_graph();
    CUgraphNode n, m;
    CUDA_MEM_ALLOC_NODE_PARAMS p = alloc_params(G);
    CUmemAccessDesc both[2] = {desc(L_DEVICE, 0, RW), desc(L_DEVICE, 0, RW)};
    both[1].location.id = 1;
    p.poolProps.location.id = 1;
    at("on_other", cuGraphAddMemAllocNode(&n, g, NULL, 0, &p));
    CUdeviceptr q = p.dptr;
    CUDA_MEMSET_NODE_PARAMS fill_ = fill_params(q, 0x84, 4, 4, 1);
    at("fill", cuGraphAddMemsetNode(&m, g, &n, 1, &fill_, x_ctx));
    p = alloc_params(G);
    p.accessDescs = both;
    p.accessDescCount = 2;
    at("shared", cuGraphAddMemAllocNode(&n, g, NULL, 0, &p));
    node_parameters("shared.node", n);
    CUgraphExec x = new_exec(g);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    u64 rights[2] = {77, 77};
    CUmemLocation where = both[1].location;
    cuMemGetAccess(&rights[0], &where, p.dptr);
    cuMemGetAccess(&rights[1], &where, q);
    val("rights", "%llu %llu", rights[0], rights[1]);
    u64 used[2] = {77, 77};
    cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used[0]);
    cuDeviceGetGraphMemAttribute(1, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used[1]);
    val("used", "%llu %llu", used[0], used[1]);
}

static void x_update(void)
{
    if (!x_start())
        return;
    CUgraph g = new_graph(), h = new_graph();
    CUgraphNode n, m;
    CUgraphExecUpdateResultInfo info;
    fill_node(&n, g, NULL, 0, d, 1);
    CUDA_MEMSET_NODE_PARAMS p = fill_params(x_p, 0x82, 4, 4, 1);
    cuGraphAddMemsetNode(&m, h, NULL, 0, &p, x_ctx);
    CUgraphExec x = new_exec(g);
    memset(&info, 0, sizeof info);
    CUresult r = cuGraphExecUpdate(x, h, &info);
    val("ctx", "%s %d", name_of(r), (int)info.result);
    at("set_ctx", cuGraphExecMemsetNodeSetParams(x, n, &p, x_ctx));
    at("set_memory", cuGraphExecMemsetNodeSetParams(x, n, &p, primary[0]));
}

static const struct one_case x_cases[] = {
    {"nodes", x_nodes},
    {"capture", x_capture},
    {"alloc", x_alloc},
    {"update", x_update},
};

static void group_x(void)
{
    run_table("X.", x_cases, COUNT(x_cases), true);
}
