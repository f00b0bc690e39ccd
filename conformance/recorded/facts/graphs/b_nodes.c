/* SPDX-License-Identifier: Apache-2.0 */
/* Group B: nodes of every type: what they accept, hold and do. Part of ../graphs.c, which includes it. */

/* An address as an offset from the memory of the case, or in words. */
static const char *place_of(u64 p)
{
    static char text[8][32];
    static unsigned next;
    char *b = text[next++ % 8];
    if (p == 0)
        return "0";
    if (p >= d && p < d + WORDS * 4 + 4096)
        snprintf(b, sizeof text[0], "d+%llu", p - d);
    else if (p >= as_u64(host_words) && p < as_u64(host_words + COUNT(host_words)))
        snprintf(b, sizeof text[0], "host+%llu", p - as_u64(host_words));
    else if (p >= as_u64(pinned) && p < as_u64(pinned) + 4096)
        snprintf(b, sizeof text[0], "pinned+%llu", p - as_u64(pinned));
    else
        snprintf(b, sizeof text[0], "other");
    return b;
}

static void node_parameters(const char *step, CUgraphNode n)
{
    CUgraphNodeType type = (CUgraphNodeType)99;
    CUDA_KERNEL_NODE_PARAMS k;
    CUDA_MEMSET_NODE_PARAMS m;
    CUDA_MEMCPY3D c;
    CUDA_HOST_NODE_PARAMS h = {NULL, NULL};
    CUDA_MEM_ALLOC_NODE_PARAMS a;
    CUdeviceptr p = 0;
    CUevent event = NULL;
    CUgraph g = NULL;
    CUresult r;
    cuGraphNodeGetType(n, &type);
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        memset(&k, 0, sizeof k);
        r = cuGraphKernelNodeGetParams(n, &k);
        val(step, "%s kernel func=%d kern=%d grid=%u,%u,%u block=%u,%u,%u shared=%u params=%d extra=%d ctx=%s first=%s",
            name_of(r), k.func == k_put ? 1 : k.func ? 2 : 0, k.kern != NULL, k.gridDimX, k.gridDimY, k.gridDimZ, k.blockDimX,
            k.blockDimY, k.blockDimZ, k.sharedMemBytes, k.kernelParams != NULL, k.extra != NULL,
            k.ctx == primary[0] ? "own" : k.ctx ? "other" : "NULL",
            k.kernelParams ? place_of(*(u64 *)k.kernelParams[0]) : "-");
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memset(&m, 0, sizeof m);
        r = cuGraphMemsetNodeGetParams(n, &m);
        val(step, "%s fill dst=%s pitch=%zu value=%x size=%u width=%zu height=%zu", name_of(r), place_of(m.dst), m.pitch,
            m.value, m.elementSize, m.width, m.height);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        memset(&c, 0, sizeof c);
        r = cuGraphMemcpyNodeGetParams(n, &c);
        val(step, "%s copy from=%d %s host=%s pitch=%zu,%zu at=%zu,%zu,%zu to=%d %s host=%s pitch=%zu,%zu at=%zu,%zu,%zu size=%zu,%zu,%zu",
            name_of(r), (int)c.srcMemoryType, place_of(c.srcDevice), place_of(as_u64(c.srcHost)), c.srcPitch, c.srcHeight,
            c.srcXInBytes, c.srcY, c.srcZ, (int)c.dstMemoryType, place_of(c.dstDevice), place_of(as_u64(c.dstHost)), c.dstPitch,
            c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ, c.WidthInBytes, c.Height, c.Depth);
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        r = cuGraphHostNodeGetParams(n, &h);
        val(step, "%s host fn=%d data=%s", name_of(r), h.fn == note_letter, h.userData ? "set" : "NULL");
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        r = cuGraphChildGraphNodeGetGraph(n, &g);
        val(step, "%s graph %s", name_of(r), g ? text_of(g) : "NULL");
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        r = cuGraphEventRecordNodeGetEvent(n, &event);
        val(step, "%s record event=%s", name_of(r), event == e ? "e" : event == f ? "f" : event ? "other" : "NULL");
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        r = cuGraphEventWaitNodeGetEvent(n, &event);
        val(step, "%s wait event=%s", name_of(r), event == e ? "e" : event == f ? "f" : event ? "other" : "NULL");
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        memset(&a, 0, sizeof a);
        r = cuGraphMemAllocNodeGetParams(n, &a);
        val(step, "%s alloc type=%d handles=%d location=%d,%d size=%zu access=%zu address=%d", name_of(r),
            (int)a.poolProps.allocType, (int)a.poolProps.handleTypes, (int)a.poolProps.location.type, a.poolProps.location.id,
            a.bytesize, a.accessDescCount, a.dptr != 0);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        r = cuGraphMemFreeNodeGetParams(n, &p);
        val(step, "%s free %s", name_of(r), place_of(p));
        break;
    default: val(step, "type %d", (int)type);
    }
}

/* ---- fills: B.fill.* ---- */

static const struct {
    unsigned value, size;
    size_t width, height, pitch;
    int where; /* 0: d, 1: NULL, 2: nowhere, 3: d + 2, 4: the end of the memory, 5: host memory, 6: pinned */
} b_fills[] = {
    {0x11, 1, 16, 1, 0, 0},       {0x1122, 2, 8, 1, 0, 0},   {0x11223344, 4, 4, 1, 0, 0},  {0x1ff, 1, 16, 1, 0, 0},
    {0x12345, 2, 8, 1, 0, 0},     {1, 3, 4, 1, 0, 0},        {1, 0, 4, 1, 0, 0},           {1, 8, 4, 1, 0, 0},
    {1, 4, 0, 1, 0, 0},           {1, 4, 4, 0, 0, 0},        {1, 4, 0, 0, 0, 0},           {1, 4, 4, 2, 64, 0},
    {1, 4, 4, 2, 16, 0},          {1, 4, 4, 2, 15, 0},       {1, 4, 4, 2, 0, 0},           {1, 4, 4, 2, 17, 0},
    {1, 4, 4, 1, 3, 0},           {1, 4, 4, 1, 64, 0},       {1, 4, 4, 1, 0, 1},           {1, 4, 4, 1, 0, 2},
    {1, 4, 4, 1, 0, 3},           {1, 2, 4, 1, 0, 3},        {1, 4, 4, 1, 0, 4},           {1, 4, 4, 1, 0, 5},
    {1, 4, 4, 1, 0, 6},           {1, 4, (size_t)1 << 40, 1, 0, 0}, {1, 4, 4, 2, (size_t)1 << 40, 0}, {1, 1, (size_t)-1, 1, 0, 0},
    {1, 4, 4, 3, 64, 0},   {1, 1, 7, 3, 32, 0},
};

enum { B_FILL_HUNG = 28 }; /* a fill of 2^64 - 1 rows, which did not come back from being instantiated, stood there */

static void b_fill_one(size_t i, char *id, int run)
{
    static char name[32];
    snprintf(name, sizeof name, "fill.%zu", i);
    case_name = name;
    snprintf(case_prefix, sizeof case_prefix, "B.");
    snprintf(id, CASE_ID, "B.%s", name);
    if (!run || !is_wanted(id) || i == B_FILL_HUNG)
        return;
    start_case();
    CUdeviceptr places[] = {d, 0, d + ((u64)1 << 44), d + 2, d + WORDS * 4, as_u64(host_words), as_u64(pinned)};
    CUDA_MEMSET_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    p.dst = places[b_fills[i].where];
    p.value = b_fills[i].value;
    p.elementSize = b_fills[i].size;
    p.width = b_fills[i].width;
    p.height = b_fills[i].height;
    p.pitch = b_fills[i].pitch;
    CUgraph g = new_graph();
    CUgraphNode n = (CUgraphNode)(uintptr_t)77;
    CUresult r = cuGraphAddMemsetNode(&n, g, NULL, 0, &p, primary[0]);
    val("add", "%s node=%s", name_of(r), n == (CUgraphNode)(uintptr_t)77 ? "untouched" : n ? "node" : "NULL");
    CUgraphNode good = NULL;
    fill_node(&good, g, NULL, 0, d, 9);
    at("set", cuGraphMemsetNodeSetParams(good, &p));
    shape("shape", g);
    CUgraphExec x = new_exec(g);
    if (r == CUDA_SUCCESS && n) {
        node_parameters("node", n);
        if (x) {
            at("launch", cuGraphLaunch(x, s));
            at("sync", cuStreamSynchronize(s));
            val("words", "%s %s %s %s %s", word(0), word(1), word(3), word(4), word(16));
        }
    }
    if (x && good) /* set again in the instance */
        at("exec_set", cuGraphExecMemsetNodeSetParams(x, good, &p, primary[0]));
}

/* ---- copies: B.copy.* ---- */

enum { B_D, B_E, B_NULL, B_NOWHERE, B_HOST, B_PINNED, B_PAST };

static const struct {
    int to_type, to, from_type, from;
    size_t size, height, depth, pitch;
} b_copies[] = {
    {2, B_D, 2, B_E, 16, 1, 1, 0},      {1, B_HOST, 2, B_E, 16, 1, 1, 0},    {2, B_D, 1, B_HOST, 16, 1, 1, 0},
    {1, B_PINNED, 2, B_E, 16, 1, 1, 0}, {2, B_D, 1, B_PINNED, 16, 1, 1, 0},  {1, B_PINNED, 1, B_HOST, 16, 1, 1, 0},
    {4, B_D, 4, B_E, 16, 1, 1, 0},      {4, B_PINNED, 4, B_E, 16, 1, 1, 0},  {4, B_HOST, 4, B_E, 16, 1, 1, 0},
    {4, B_D, 4, B_HOST, 16, 1, 1, 0},   {2, B_D, 4, B_PINNED, 16, 1, 1, 0},  {2, B_PINNED, 2, B_E, 16, 1, 1, 0},
    {1, B_D, 2, B_E, 16, 1, 1, 0},      {2, B_HOST, 2, B_E, 16, 1, 1, 0},    {3, B_D, 2, B_E, 16, 1, 1, 0},
    {2, B_D, 3, B_E, 16, 1, 1, 0},      {0, B_D, 2, B_E, 16, 1, 1, 0},       {2, B_D, 5, B_E, 16, 1, 1, 0},
    {2, B_D, 2, B_E, 0, 1, 1, 0},       {2, B_D, 2, B_E, 16, 0, 1, 0},       {2, B_D, 2, B_E, 16, 1, 0, 0},
    {2, B_D, 2, B_E, 0, 0, 0, 0},       {2, B_D, 2, B_E, 16, 2, 1, 64},      {2, B_D, 2, B_E, 16, 2, 1, 8},
    {2, B_D, 2, B_E, 16, 2, 1, 0},      {2, B_D, 2, B_E, 16, 2, 2, 64},      {2, B_NULL, 2, B_E, 16, 1, 1, 0},
    {2, B_D, 2, B_NULL, 16, 1, 1, 0},   {1, B_NULL, 2, B_E, 16, 1, 1, 0},    {2, B_D, 1, B_NULL, 16, 1, 1, 0},
    {2, B_NOWHERE, 2, B_E, 16, 1, 1, 0}, {2, B_D, 2, B_NOWHERE, 16, 1, 1, 0}, {4, B_D, 4, B_NOWHERE, 16, 1, 1, 0},
    {2, B_PAST, 2, B_E, 16, 1, 1, 0},   {2, B_D, 2, B_E, WORDS * 8, 1, 1, 0}, {2, B_D, 2, B_D, 16, 1, 1, 0},
    {2, B_D, 2, B_E, (size_t)-1, 1, 1, 0},
};

static void b_copy_one(size_t i, char *id, int run)
{
    static char name[32];
    snprintf(name, sizeof name, "copy.%zu", i);
    case_name = name;
    snprintf(case_prefix, sizeof case_prefix, "B.");
    snprintf(id, CASE_ID, "B.%s", name);
    if (!run || !is_wanted(id))
        return;
    start_case();
    cuMemsetD32(d + 4096, 0x71, 1024);
    host_words[0] = 0x72;
    pinned[0] = 0x73;
    u64 places[] = {d, d + 4096, 0, d + ((u64)1 << 44), as_u64(host_words), as_u64(pinned), d + WORDS * 4};
    CUDA_MEMCPY3D c = copy_params((CUmemorytype)b_copies[i].to_type, places[b_copies[i].to],
                                  (CUmemorytype)b_copies[i].from_type, places[b_copies[i].from], b_copies[i].size);
    c.Height = b_copies[i].height;
    c.Depth = b_copies[i].depth;
    c.srcPitch = c.dstPitch = b_copies[i].pitch;
    c.srcHeight = c.dstHeight = b_copies[i].depth > 1 ? 4 : 0;
    CUgraph g = new_graph();
    CUgraphNode n = (CUgraphNode)(uintptr_t)77, good = NULL;
    CUresult r = cuGraphAddMemcpyNode(&n, g, NULL, 0, &c, primary[0]);
    val("add", "%s node=%s", name_of(r), n == (CUgraphNode)(uintptr_t)77 ? "untouched" : n ? "node" : "NULL");
    copy_node(&good, g, NULL, 0, d + 8192, d + 4096);
    at("set", cuGraphMemcpyNodeSetParams(good, &c));
    shape("shape", g);
    CUgraphExec x = new_exec(g);
    if (r == CUDA_SUCCESS && n) {
        node_parameters("node", n);
        if (x) {
            at("launch", cuGraphLaunch(x, s));
            at("sync", cuStreamSynchronize(s));
            val("words", "%s %s %s host=%x pinned=%x", word(0), word(4), word(16), host_words[0], pinned[0]);
        }
    }
    if (x && good)
        at("exec_set", cuGraphExecMemcpyNodeSetParams(x, good, &c, primary[0]));
}

/* ---- kernels ---- */

static void b_kernel(void)
{
    CUDA_KERNEL_NODE_PARAMS p;
    CUdeviceptr to = d;
    unsigned value = 0x41;
    CUgraph g = new_graph();
    CUgraphNode n = NULL, m = NULL;
    kernel_params(&p, k_put, &to, &value);
    at("add", cuGraphAddKernelNode(&n, g, NULL, 0, &p));
    value = 0x42;
    to = d + 4;
    node_parameters("node", n);
    launch_of(g);
    val("words", "%s %s", word(0), word(1));
    at("set", cuGraphKernelNodeSetParams(n, &p));
    node_parameters("set.node", n);
    p.func = k_add;
    at("set_func", cuGraphKernelNodeSetParams(n, &p));
    node_parameters("set_func.node", n);
    launch_of(g);
    val("set.words", "%s %s", word(0), word(1));
    CUresult (*v1)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *) =
        (CUresult(*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *))entry(
            "cuGraphAddKernelNode");
    CUDA_KERNEL_NODE_PARAMS_v1 old;
    memcpy(&old, &p, sizeof old);
    at("v1", v1(&m, g, &n, 1, &old));
    node_parameters("v1.node", m);
    shape("v1.shape", g);
    at("copy_attributes", a_by_name("cuGraphKernelNodeCopyAttributes", as_u64(m), as_u64(n), 0, 0, 0));
}

static void b_kernel_wrong_one(const char *step, CUgraph g, CUDA_KERNEL_NODE_PARAMS p)
{
    CUgraphNode n = (CUgraphNode)(uintptr_t)77;
    CUresult r = cuGraphAddKernelNode(&n, g, NULL, 0, &p);
    size_t nodes = 0;
    cuGraphGetNodes(g, NULL, &nodes);
    val(step, "%s node=%s nodes=%zu", name_of(r), n == (CUgraphNode)(uintptr_t)77 ? "untouched" : n ? "node" : "NULL", nodes);
    if (r)
        return;
    CUgraphExec x = NULL;
    r = cuGraphInstantiate(&x, g, 0);
    CUresult launched = x ? cuGraphLaunch(x, s) : CUDA_SUCCESS;
    CUresult sync = cuStreamSynchronize(s);
    say(id_of(step), "=%s launch=%s sync=%s", name_of(r), name_of(launched), name_of(sync));
}

static void b_kernel_wrong(void)
{
    CUDA_KERNEL_NODE_PARAMS good, p;
    CUdeviceptr to = d;
    unsigned value = 0x41;
    struct {
        CUdeviceptr p;
        unsigned value;
    } packed = {d, 0x56};
    size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    kernel_params(&good, k_put, &to, &value);
    p = good, p.func = NULL, b_kernel_wrong_one("func_null", new_graph(), p);
    p = good, p.gridDimX = 0, b_kernel_wrong_one("grid_0", new_graph(), p);
    p = good, p.gridDimY = 65536, b_kernel_wrong_one("grid_y", new_graph(), p);
    p = good, p.blockDimX = 0, b_kernel_wrong_one("block_0", new_graph(), p);
    p = good, p.blockDimX = 1025, b_kernel_wrong_one("block_1025", new_graph(), p);
    p = good, p.sharedMemBytes = 49153, b_kernel_wrong_one("shared_48k", new_graph(), p);
    p = good, p.sharedMemBytes = 1 << 24, b_kernel_wrong_one("shared_16m", new_graph(), p);
    p = good, p.kernelParams = NULL, b_kernel_wrong_one("params_null", new_graph(), p);
    p = good, p.extra = extra, b_kernel_wrong_one("both", new_graph(), p);
    p = good, p.kernelParams = NULL, p.extra = extra, b_kernel_wrong_one("extra", new_graph(), p);
    val("extra.word", "%s", word(0));
    p = good, p.ctx = primary[0], b_kernel_wrong_one("ctx", new_graph(), p);
    p = good, p.func = (CUfunction)(void *)&packed, p.kern = NULL, b_kernel_wrong_one("func_wrong", new_graph(), p);
}

/* ---- host functions, events, children, empty nodes ---- */

static void b_host(void)
{
    CUgraph g = new_graph();
    CUgraphNode n = NULL, m = NULL;
    CUDA_HOST_NODE_PARAMS p = {NULL, NULL};
    at("add", host_node(&n, g, NULL, 0, 'x'));
    node_parameters("node", n);
    p.fn = note_letter;
    p.userData = (void *)(uintptr_t)'y';
    host_order[0] = 0;
    launch_of(g);
    at("set", cuGraphHostNodeSetParams(n, &p));
    launch_of(g);
    val("order", "%s", host_order);
    p.fn = NULL;
    at("null_fn", cuGraphAddHostNode(&m, g, NULL, 0, &p));
    shape("null_fn.shape", g);
    at("set_null", cuGraphHostNodeSetParams(n, &p));
    node_parameters("set_null.node", n);
}

static void b_events(void)
{
    CUgraph g = new_graph(), g2 = new_graph();
    CUgraphNode n = NULL, m = NULL, k = NULL, w = NULL;
    at("kernel", kernel_node(&k, g, NULL, 0, k_put, d, 0x31));
    at("record", cuGraphAddEventRecordNode(&n, g, &k, 1, e));
    node_parameters("record.node", n);
    at("wait", cuGraphAddEventWaitNode(&w, g2, NULL, 0, e));
    at("after", kernel_node(&m, g2, &w, 1, k_put, d + 4, 0x32));
    node_parameters("wait.node", w);
    at("query.before", cuEventQuery(e));
    launch_of(g2); /* the event was not recorded yet */
    launch_of(g);
    at("query.after", cuEventQuery(e));
    launch_of(g2);
    val("words", "%s %s", word(0), word(1));
    at("set", cuGraphEventRecordNodeSetEvent(n, f));
    node_parameters("set.node", n);
    at("set_wait", cuGraphEventWaitNodeSetEvent(w, f));
    at("set_wrong", cuGraphEventWaitNodeSetEvent(n, f));
    CUgraphExec x = new_exec(g);
    at("exec_set", cuGraphExecEventRecordNodeSetEvent(x, n, e));
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    at("query.f", cuEventQuery(f));
    float ms = 77;
    CUresult r = cuEventElapsedTime(&ms, e, e);
    val("elapsed", "%s %d", name_of(r), ms == 0.0f);
}

static void b_event_destroyed(void)
{
    CUgraph g = new_graph();
    CUgraphNode n = NULL;
    at("record", cuGraphAddEventRecordNode(&n, g, NULL, 0, e));
    at("destroy", cuEventDestroy(e));
    launch_of(g);
    cuEventCreate(&e, 0);
}

static void b_event_destroyed_exec(void)
{
    CUgraph g = new_graph();
    CUgraphNode n = NULL;
    cuGraphAddEventRecordNode(&n, g, NULL, 0, e);
    CUgraphExec x = new_exec(g);
    at("destroy", cuEventDestroy(e));
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    cuEventCreate(&e, 0);
}

static void b_child_empty(void)
{
    CUgraph g = new_graph(), inner = new_graph();
    CUgraphNode n = NULL;
    at("add", cuGraphAddChildGraphNode(&n, g, NULL, 0, inner));
    launch_of(g);
}

static void b_empty(void)
{
    CUgraph g = new_graph();
    CUgraphNode a = NULL, b = NULL, c = NULL;
    fill_node(&a, g, NULL, 0, d, 1);
    CUgraphNode both[2];
    fill_node(&b, g, NULL, 0, d + 64, 2);
    both[0] = a;
    both[1] = b;
    at("add", cuGraphAddEmptyNode(&c, g, both, 2));
    kernel_node(&a, g, &c, 1, k_add, d, 4);
    shape("shape", g);
    launch_of(g);
    val("words", "%s %s", word(0), word(16));
}

static void b_batch(void)
{
    u64 ops[12] = {2, d, 0x77, 0, 0, 0, 4, d + 8, 0x1122334455667788, 0, 0, 0};
    CUDA_BATCH_MEM_OP_NODE_PARAMS p;
    CUgraph g = new_graph();
    CUgraphNode n = NULL;
    memset(&p, 0, sizeof p);
    p.ctx = primary[0];
    p.count = 1;
    p.paramArray = (CUstreamBatchMemOpParams *)(void *)ops;
    ops[6] = 5; /* CU_STREAM_MEM_OP_WRITE_VALUE_64 */
    at("add", cuGraphAddBatchMemOpNode(&n, g, NULL, 0, &p));
    p.count = 2;
    at("set", cuGraphBatchMemOpNodeSetParams(n, &p));
    p.count = 0;
    at("set0", cuGraphBatchMemOpNodeSetParams(n, &p));
    CUDA_BATCH_MEM_OP_NODE_PARAMS out;
    memset(&out, 0, sizeof out);
    CUresult r = cuGraphBatchMemOpNodeGetParams(n, &out);
    val("get", "%s count=%u flags=%u array=%d ctx=%d", name_of(r), out.count, out.flags, out.paramArray != NULL,
        out.ctx == primary[0]);
    launch_of(g);
    val("words", "%s %s %s", word(0), word(2), word(3));
    p.count = 1;
    p.flags = 1;
    at("flags", cuGraphAddBatchMemOpNode(&n, g, NULL, 0, &p));
    p.flags = 0;
    p.ctx = NULL;
    at("ctx_null", cuGraphAddBatchMemOpNode(&n, g, NULL, 0, &p));
    p.ctx = primary[0];
    p.paramArray = NULL;
    at("array_null", cuGraphAddBatchMemOpNode(&n, g, NULL, 0, &p));
}

/* ---- cuGraphAddNode ---- */

static CUgraphNodeParams b_generic(CUgraphNodeType type, CUgraph inner, void **args)
{
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = type;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        p.kernel.func = k_put;
        p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = 1;
        p.kernel.blockDimX = p.kernel.blockDimY = p.kernel.blockDimZ = 1;
        p.kernel.kernelParams = args;
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        p.memcpy.copyCtx = primary[0];
        p.memcpy.copyParams = copy_params(CU_MEMORYTYPE_DEVICE, d + 128, CU_MEMORYTYPE_DEVICE, d, 16);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        p.memset.dst = d + 64;
        p.memset.value = 0x21;
        p.memset.elementSize = 4;
        p.memset.width = 1;
        p.memset.height = 1;
        p.memset.ctx = primary[0];
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        p.host.fn = note_letter;
        p.host.userData = (void *)(uintptr_t)'g';
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH: p.graph.graph = inner; break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: p.eventWait.event = e; break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: p.eventRecord.event = e; break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        p.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        p.alloc.poolProps.location = loc_at(L_DEVICE, 0);
        p.alloc.bytesize = 4096;
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: p.free.dptr = d; break;
    default: break;
    }
    return p;
}

static void b_add_node(void)
{
    CUdeviceptr to = d;
    unsigned value = 0x61;
    void *args[] = {&to, &value};
    CUgraph inner = new_graph();
    CUgraphNode n;
    fill_node(&n, inner, NULL, 0, d, 1);
    for (int type = -1; type <= 15; type++) {
        char step[32];
        if (type == 8 || type == 9 || type == 12 || type == 13)
            continue;
        CUgraph g = new_graph();
        CUgraphNodeParams p = b_generic((CUgraphNodeType)type, inner, args), zero;
        snprintf(step, sizeof step, "type%d", type);
        n = NULL;
        CUresult r = cuGraphAddNode(&n, g, NULL, NULL, 0, &p);
        at(step, r);
        if (r == CUDA_SUCCESS) {
            node_parameters(step, n);
            snprintf(step, sizeof step, "type%d.set", type);
            at(step, cuGraphNodeSetParams(n, &p));
            CUgraphExec x = NULL;
            CUresult made = cuGraphInstantiate(&x, g, 0);
            snprintf(step, sizeof step, "type%d.exec", type);
            at(step, made);
            if (x) {
                snprintf(step, sizeof step, "type%d.exec_set", type);
                at(step, cuGraphExecNodeSetParams(x, n, &p));
            }
            p.reserved2 = 1;
            snprintf(step, sizeof step, "type%d.set_reserved", type);
            at(step, cuGraphNodeSetParams(n, &p));
            p.reserved2 = 0;
            p.type = CU_GRAPH_NODE_TYPE_EMPTY;
            snprintf(step, sizeof step, "type%d.set_other_type", type);
            at(step, cuGraphNodeSetParams(n, &p));
        }
        memset(&zero, 0, sizeof zero);
        zero.type = (CUgraphNodeType)type;
        snprintf(step, sizeof step, "type%d.zero", type);
        if (type != 5)
            at(step, cuGraphAddNode(&n, new_graph(), NULL, NULL, 0, &zero));
    }
    CUgraph g = new_graph();
    CUgraphNodeParams p = b_generic(CU_GRAPH_NODE_TYPE_EMPTY, NULL, NULL);
    p.reserved0[0] = 1;
    at("reserved0", cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
    p.reserved0[0] = 0;
    p.reserved2 = 1;
    at("reserved2", cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
    p.reserved2 = 0;
    p.reserved1[3] = 1;
    at("reserved1", cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
    CUresult (*v1)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *) =
        (CUresult(*)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *))entry("cuGraphAddNode");
    p.reserved1[3] = 0;
    at("v1", v1(&n, g, NULL, 0, &p));
    p = b_generic(CU_GRAPH_NODE_TYPE_GRAPH, inner, NULL);
    p.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    at("move", cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
    CUgraph held = NULL;
    at("move.get", cuGraphChildGraphNodeGetGraph(n, &held));
    val("move.same", "%d", held == inner);
    at("move.destroy", cuGraphDestroy(inner));
}

/* Each GetParams and SetParams on a node of each other type. */
static void b_wrong_type(void)
{
    CUgraph g = new_graph(), inner = new_graph();
    CUgraphNode nodes[8];
    CUDA_KERNEL_NODE_PARAMS k;
    CUDA_MEMSET_NODE_PARAMS m;
    CUDA_MEMCPY3D c;
    CUDA_HOST_NODE_PARAMS h;
    CUDA_MEM_ALLOC_NODE_PARAMS a;
    CUDA_BATCH_MEM_OP_NODE_PARAMS b;
    CUdeviceptr p;
    CUevent event;
    CUgraph held;
    kernel_node(&nodes[0], g, NULL, 0, k_put, d, 1);
    copy_node(&nodes[1], g, NULL, 0, d, d + 64);
    fill_node(&nodes[2], g, NULL, 0, d, 1);
    host_node(&nodes[3], g, NULL, 0, 'q');
    cuGraphAddChildGraphNode(&nodes[4], g, NULL, 0, inner);
    cuGraphAddEmptyNode(&nodes[5], g, NULL, 0);
    cuGraphAddEventWaitNode(&nodes[6], g, NULL, 0, e);
    cuGraphAddEventRecordNode(&nodes[7], g, NULL, 0, e);
    for (size_t i = 0; i < COUNT(nodes); i++) {
        char step[48];
        const char *type = type_name(nodes[i]);
#define B_GET(name, call)                                     \
    snprintf(step, sizeof step, "%s.%s", name, type);         \
    at(step, call)
        B_GET("kernel_get", cuGraphKernelNodeGetParams(nodes[i], &k));
        B_GET("copy_get", cuGraphMemcpyNodeGetParams(nodes[i], &c));
        B_GET("fill_get", cuGraphMemsetNodeGetParams(nodes[i], &m));
        B_GET("host_get", cuGraphHostNodeGetParams(nodes[i], &h));
        B_GET("graph_get", cuGraphChildGraphNodeGetGraph(nodes[i], &held));
        B_GET("wait_get", cuGraphEventWaitNodeGetEvent(nodes[i], &event));
        B_GET("record_get", cuGraphEventRecordNodeGetEvent(nodes[i], &event));
        B_GET("alloc_get", cuGraphMemAllocNodeGetParams(nodes[i], &a));
        B_GET("free_get", cuGraphMemFreeNodeGetParams(nodes[i], &p));
        B_GET("batch_get", cuGraphBatchMemOpNodeGetParams(nodes[i], &b));
    }
    CUdeviceptr to = d;
    unsigned value = 2;
    kernel_params(&k, k_put, &to, &value);
    m = fill_params(d, 2, 4, 1, 1);
    c = copy_params(CU_MEMORYTYPE_DEVICE, d, CU_MEMORYTYPE_DEVICE, d + 64, 8);
    h.fn = note_letter;
    h.userData = NULL;
    CUgraphExec x = new_exec(g);
    for (size_t i = 0; i < COUNT(nodes); i++) {
        char step[48];
        const char *type = type_name(nodes[i]);
        B_GET("kernel_set", cuGraphKernelNodeSetParams(nodes[i], &k));
        B_GET("copy_set", cuGraphMemcpyNodeSetParams(nodes[i], &c));
        B_GET("fill_set", cuGraphMemsetNodeSetParams(nodes[i], &m));
        B_GET("host_set", cuGraphHostNodeSetParams(nodes[i], &h));
        B_GET("wait_set", cuGraphEventWaitNodeSetEvent(nodes[i], f));
        B_GET("record_set", cuGraphEventRecordNodeSetEvent(nodes[i], f));
        B_GET("kernel_exec", cuGraphExecKernelNodeSetParams(x, nodes[i], &k));
        B_GET("copy_exec", cuGraphExecMemcpyNodeSetParams(x, nodes[i], &c, primary[0]));
        B_GET("fill_exec", cuGraphExecMemsetNodeSetParams(x, nodes[i], &m, primary[0]));
        B_GET("host_exec", cuGraphExecHostNodeSetParams(x, nodes[i], &h));
        B_GET("graph_exec", cuGraphExecChildGraphNodeSetParams(x, nodes[i], inner));
        B_GET("wait_exec", cuGraphExecEventWaitNodeSetEvent(x, nodes[i], f));
        B_GET("record_exec", cuGraphExecEventRecordNodeSetEvent(x, nodes[i], f));
    }
#undef B_GET
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
}

static void b_ctx(void)
{
    CUgraph g = new_graph();
    CUgraphNode n = NULL;
    CUDA_MEMSET_NODE_PARAMS m = fill_params(d, 2, 4, 1, 1);
    CUDA_MEMCPY3D c = copy_params(CU_MEMORYTYPE_DEVICE, d, CU_MEMORYTYPE_DEVICE, d + 64, 8);
    CUcontext other = NULL;
    at("fill_null", cuGraphAddMemsetNode(&n, g, NULL, 0, &m, NULL));
    at("copy_null", cuGraphAddMemcpyNode(&n, g, NULL, 0, &c, NULL));
    at("ctx_create", cuCtxCreate(&other, NULL, 0, 0));
    at("fill_other", cuGraphAddMemsetNode(&n, g, NULL, 0, &m, other));
    at("copy_other", cuGraphAddMemcpyNode(&n, g, NULL, 0, &c, other));
    at("create_other", cuGraphCreate(&g, 0));
    at("fill", fill_node(&n, g, NULL, 0, d, 1));
    CUgraphExec x = NULL;
    at("instantiate", cuGraphInstantiate(&x, g, 0));
    if (x) {
        at("launch_null", cuGraphLaunch(x, NULL));
        at("launch_s", cuGraphLaunch(x, s));
    }
    at("ctx_destroy", cuCtxDestroy(other));
    cuCtxSetCurrent(NULL);
    at("no_ctx.create", cuGraphCreate(&g, 0));
    at("no_ctx.fill", fill_node(&n, g, NULL, 0, d, 1));
    at("no_ctx.empty", cuGraphAddEmptyNode(&n, g, NULL, 0));
    at("no_ctx.instantiate", cuGraphInstantiate(&x, g, 0));
    at("no_ctx.launch", cuGraphLaunch(x, s));
    at("no_ctx.launch_null", cuGraphLaunch(x, NULL));
    at("no_ctx.destroy", cuGraphDestroy(g));
    cuCtxSetCurrent(primary[0]);
}

static void b_create(void)
{
    CUgraph g = (CUgraph)(uintptr_t)77;
    at("flags1", cuGraphCreate(&g, 1));
    val("untouched", "%d", g == (CUgraph)(uintptr_t)77);
    at("flags-1", cuGraphCreate(&g, 0xffffffffu));
    at("null", cuGraphCreate(NULL, 0));
    at("null_flags", cuGraphCreate(NULL, 1));
    at("good", cuGraphCreate(&g, 0));
    at("destroy", cuGraphDestroy(g));
    at("destroy_null", cuGraphDestroy(NULL));
}

static const struct one_case b_cases[] = {
    {"kernel", b_kernel},
    {"kernel_wrong", b_kernel_wrong},
    {"host", b_host},
    {"events", b_events},
    {"event_destroyed", b_event_destroyed},
    {"event_destroyed_exec", b_event_destroyed_exec},
    {"child_empty", b_child_empty},
    {"empty", b_empty},
    {"batch", b_batch},
    {"add_node", b_add_node},
    {"wrong_type", b_wrong_type},
    {"create", b_create},
    {"ctx", b_ctx},
};

static void group_b(void)
{
    run_table("B.", b_cases, COUNT(b_cases), false);
    if (!is_wanted("B."))
        return;
    run_cases(start_process, COUNT(b_fills), b_fill_one);
    run_cases(start_process, COUNT(b_copies), b_copy_one);
}
