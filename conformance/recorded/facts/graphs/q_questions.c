/* SPDX-License-Identifier: Apache-2.0 */
/* Group Q: what the first recordings left to the documentation. Y: the same about all memory of the device, which
 * runs alone. N: attributes of kernel nodes, whose recordings nothing compares yet. Part of ../graphs.c, which
 * includes it. */

static void q_gate_in(CUstream stream)
{
    d_open = 1;
#ifndef CUVMM_REPLAYS_DRIVER
    d_open = 0;
#endif
    cuLaunchHostFunc(stream, d_gate, NULL);
}

/* ---- the context of fill and copy nodes ---- */

enum { Q_ALLOC, Q_MAPPED, Q_PINNED, Q_MEMORIES };

static CUdeviceptr q_mapped(size_t size)
{
    CUdeviceptr p = reserve(size);
    map(p, size, make(size));
    give(p, size, L_DEVICE, RW);
    cuMemsetD8(p, 0, size);
    cuCtxSynchronize();
    return p;
}

static CUcontext q_context(void)
{
    CUcontext c = NULL;
    cuCtxCreate(&c, NULL, 0, 0);
    return c;
}

static void q_node_contexts(void)
{
    static const char *const contexts[] = {"null", "own", "second"}, *const currents[] = {"own", "none", "second"};
    static const char *const memories[] = {"alloc", "mapped", "pinned"};
    CUcontext second = q_context();
    cuCtxSetCurrent(primary[0]);
    CUdeviceptr places[Q_MEMORIES] = {d, q_mapped(G), as_u64(pinned)};
    const CUcontext given[] = {NULL, primary[0], second}, current[] = {primary[0], NULL, second};
    for (size_t c = 0; c < 3; c++)
        for (size_t now_ = 0; now_ < 3; now_++)
            for (size_t m = 0; m < Q_MEMORIES; m++) {
                char step[64];
                CUgraph g = new_graph();
                CUgraphNode n = NULL, k = NULL;
                CUDA_MEMSET_NODE_PARAMS p = fill_params(places[m], 0x31, 4, 4, 1);
                CUDA_MEMCPY3D copy = copy_params(m == Q_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE, places[m],
                                                 CU_MEMORYTYPE_DEVICE, d + 4096, 16);
                cuCtxSetCurrent(current[now_]);
                CUresult filled = cuGraphAddMemsetNode(&n, g, NULL, 0, &p, given[c]);
                CUresult copied = cuGraphAddMemcpyNode(&k, g, filled ? NULL : &n, filled ? 0 : 1, &copy, given[c]);
                CUgraphExec x = NULL;
                CUresult made = cuGraphInstantiate(&x, g, 0), set[2] = {(CUresult)0, (CUresult)0};
                if (x && !filled)
                    set[0] = cuGraphExecMemsetNodeSetParams(x, n, &p, given[c]);
                if (x && !copied)
                    set[1] = cuGraphExecMemcpyNodeSetParams(x, k, &copy, given[c]);
                cuCtxSetCurrent(primary[0]);
                CUresult launched = x ? cuGraphLaunch(x, s) : CUDA_SUCCESS;
                snprintf(step, sizeof step, "%s.%s.%s", contexts[c], currents[now_], memories[m]);
                val(step, "fill=%s copy=%s exec=%s set=%s,%s launch=%s sync=%s", name_of(filled), name_of(copied), name_of(made),
                    name_of(set[0]), name_of(set[1]), name_of(launched), name_of(cuStreamSynchronize(s)));
            }
}

/* A context that is gone. */
static void q_node_context_gone(void)
{
    CUcontext second = q_context();
    cuCtxDestroy(second);
    cuCtxSetCurrent(primary[0]);
    CUgraph g = new_graph();
    CUgraphNode n = NULL;
    CUDA_MEMSET_NODE_PARAMS p = fill_params(d, 0x31, 4, 4, 1);
    CUDA_MEMCPY3D copy = copy_params(CU_MEMORYTYPE_DEVICE, d, CU_MEMORYTYPE_DEVICE, d + 4096, 16);
    at("fill", cuGraphAddMemsetNode(&n, g, NULL, 0, &p, second));
    at("copy", cuGraphAddMemcpyNode(&n, g, NULL, 0, &copy, second));
    shape("shape", g);
}

/* The context ends between node and launch. */
static void q_node_context_ends(void)
{
    CUcontext second = q_context();
    cuCtxSetCurrent(primary[0]);
    CUgraph g = new_graph();
    CUgraphNode n = NULL;
    CUDA_MEMSET_NODE_PARAMS p = fill_params(d, 0x31, 4, 4, 1);
    at("fill", cuGraphAddMemsetNode(&n, g, NULL, 0, &p, second));
    CUgraphExec x = NULL, y = NULL;
    at("instantiate", cuGraphInstantiate(&x, g, 0));
    cuCtxDestroy(second);
    cuCtxSetCurrent(primary[0]);
    at("instantiate2", cuGraphInstantiate(&y, g, 0));
    node_parameters("node", n);
    at("exec_destroy", cuGraphExecDestroy(x));
    at("destroy", cuGraphDestroy(g));
}

static void q_node_context_launch(void)
{
    CUcontext second = q_context();
    cuCtxSetCurrent(primary[0]);
    CUgraph g = new_graph();
    CUgraphNode n = NULL;
    CUDA_MEMSET_NODE_PARAMS p = fill_params(d, 0x31, 4, 4, 1);
    cuGraphAddMemsetNode(&n, g, NULL, 0, &p, second);
    CUgraphExec x = new_exec(g);
    cuCtxDestroy(second);
    cuCtxSetCurrent(primary[0]);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word(0));
}

/* ---- addresses within a graph ---- */

static const size_t q_lists[][8] = {
    {1, 1, 1, 1}, {512, 1, 513, 1, 1}, {256, 1, 257, 1}, {1024, 1, 4096, 1, 4097, 1}, {65536, 1, 65537, 1}, {100000, 1, 300000, 1},
    {1 << 20, 1, (1 << 20) + 1, 1}, {2 << 20, 1, (2 << 20) + 1, 1}, {1, 2 << 20, 1, 2 << 20}, {3 << 20, 3 << 20, 1 << 20, 1},
    {16 << 20, 16 << 20, 16 << 20}, {31 << 20, 1, 2 << 20, 1}, {32 << 20, 1, 32 << 20, 1}, {33 << 20, 1, 31 << 20, 1},
    {64 << 20, 1, 64 << 20}, {1, 33 << 20, 1, 65 << 20, 1}, {(size_t)1 << 30, 1, (size_t)1 << 30, 1}, {700 << 20, 1, 700 << 20}};

static void q_addresses(bool ordered)
{
    for (size_t i = 0; i < COUNT(q_lists); i++) {
        char line[256] = "", step[16];
        CUgraph g = new_graph();
        CUgraphNode n[8];
        CUdeviceptr p[8];
        for (size_t k = 0; k < 8 && q_lists[i][k]; k++) {
            CUresult r = alloc_node(&n[k], g, ordered && k ? &n[k - 1] : NULL, ordered && k, q_lists[i][k], &p[k]);
            if (r)
                snprintf(line + strlen(line), 40, " %s", name_of(r));
            else
                snprintf(line + strlen(line), 40, " %zu:%lld", q_lists[i][k], (i64)(p[k] - p[0]));
        }
        snprintf(step, sizeof step, "%zu", i);
        val(step, "align2m=%d align32m=%d%s", p[0] % G == 0, p[0] % (16 * G) == 0, line);
        CUgraphExec x = launch_of(g);
        snprintf(step, sizeof step, "%zu.memory", i);
        f_memory(step);
        cuGraphExecDestroy(x);
        for (size_t k = 0; k < 8 && q_lists[i][k]; k++)
            cuMemFree(p[k]);
        cuGraphDestroy(g);
        cuCtxSynchronize();
        cuDeviceGraphMemTrim(0);
        f_memory("trimmed");
    }
}

static void q_addresses_parallel(void)
{
    q_addresses(false);
}

static void q_addresses_ordered(void)
{
    q_addresses(true);
}

/* Sequences of allocations and frees in one graph, one node after the other: the address of each. */
static void q_sequence(unsigned seed, int kind)
{
    static const size_t sizes[][6] = {{1, 512, 1000, 2000, 4096, 10000},
                                      {65536, 100000, 1 << 20, 300000, 2 << 20, 3 << 20},
                                      {2 << 20, 8 << 20, 16 << 20, 33 << 20, 64 << 20, 30 << 20}};
    char line[1024] = "", step[32];
    CUgraph g = new_graph();
    CUgraphNode n, last = NULL;
    CUdeviceptr live[40], first = 0;
    size_t lives = 0, total = 0;
    unsigned state = seed * 2654435761u + (unsigned)kind + 1;
    for (int i = 0; i < 28; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned draw = state >> 16;
        if (lives && draw % 5 >= 3) {
            size_t which = (draw >> 4) % lives;
            CUresult r = cuGraphAddMemFreeNode(&n, g, &last, last != NULL, live[which]);
            snprintf(line + strlen(line), 40, " -%zu%s", which, r ? "!" : "");
            live[which] = live[--lives];
        } else {
            size_t size = sizes[kind][(draw >> 4) % 6];
            CUresult r = alloc_node(&n, g, &last, last != NULL, size, &live[lives]);
            if (!total++)
                first = live[lives];
            snprintf(line + strlen(line), 60, r ? " %zu!%lld" : " %zu:%lld", size, (i64)(live[lives] - first));
            lives++;
        }
        last = n;
    }
    snprintf(step, sizeof step, "%d.%u", kind, seed);
    val(step, "%s", line + 1);
    while (lives) {
        cuGraphAddMemFreeNode(&n, g, &last, 1, live[--lives]);
        last = n;
    }
    CUgraphExec x = launch_of(g);
    snprintf(step, sizeof step, "%d.%u.memory", kind, seed);
    f_memory(step);
    cuGraphExecDestroy(x);
    cuGraphDestroy(g);
    cuDeviceGraphMemTrim(0);
    u64 zero = 0;
    cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero);
    cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero);
}

static void q_sequences(void)
{
    for (int kind = 0; kind < 3; kind++)
        for (unsigned seed = 1; seed <= 6; seed++)
            q_sequence(seed, kind);
}

/* Graphs beside each other: where does the next one's memory lie, and what of one that is gone is used again? */
static void q_graphs(void)
{
    CUdeviceptr p[8] = {0};
    CUgraph g[8];
    CUgraphNode n, m;
    static const size_t sizes[8] = {1, 1, 40 << 20, 1, 512 << 20, (size_t)3 << 30, 1, 8 << 20};
    for (int i = 0; i < 8; i++) {
        char step[16];
        g[i] = new_graph();
        alloc_node(&n, g[i], NULL, 0, sizes[i], &p[i]);
        snprintf(step, sizeof step, "%d", i);
        val(step, "%+lld", (i64)(p[i] - p[0]));
    }
    at("destroy3", cuGraphDestroy(g[3]));
    at("destroy4", cuGraphDestroy(g[4]));
    CUgraph h = new_graph(), k = new_graph();
    CUdeviceptr q = 0, r_ = 0;
    alloc_node(&n, h, NULL, 0, 1, &q);
    val("small", "%+lld", (i64)(q - p[0]));
    alloc_node(&m, k, NULL, 0, 512 << 20, &r_);
    val("large", "%+lld", (i64)(r_ - p[0]));
    CUdeviceptr v = reserve(G), w_ = 0;
    val("reserved", "%+lld", (i64)(v - p[0]));
    cuMemAlloc(&w_, 32 << 20);
    val("alloc", "%+lld", (i64)(w_ - p[0]));
    val("d", "%+lld", (i64)(d - p[0]));
    CUdeviceptr pool = 0;
    at("pool", a_by_name("cuMemAllocAsync", as_u64(&pool), 4096, as_u64(s), 0, 0));
    val("pool", "%+lld", (i64)(pool - p[0]));
}

/* ---- memory of one launch in the next ---- */

/* Two launches behind a gate; how: 0 the same stream, 1 two streams, 2 two streams and an event, 3 one graph twice in a stream. */
static void q_pending(int how, size_t size)
{
    CUdeviceptr p = 0, q = 0;
    CUgraph g = f_life(&p, size), h = f_life(&q, size);
    CUgraphExec x = new_exec(g), y = how == 3 ? x : new_exec(h);
    f_memory("before");
    q_gate_in(s);
    at("launch", cuGraphLaunch(x, s));
    f_memory("one");
    if (how == 2) {
        cuEventRecord(e, s);
        cuStreamWaitEvent(t, e, 0);
    }
    at("launch2", cuGraphLaunch(y, how == 1 || how == 2 ? t : s));
    f_memory("two");
    d_open = 1;
    at("sync", cuCtxSynchronize());
    f_memory("done");
    val("word", "%s", word(0));
    at("launch3", cuGraphLaunch(x, t));
    at("launch4", cuGraphLaunch(y, s));
    at("sync2", cuCtxSynchronize());
    f_memory("again");
    cuGraphExecDestroy(x);
    f_memory("destroyed");
    at("trim", cuDeviceGraphMemTrim(0));
    f_memory("trimmed");
}

static void q_pending_same(void) { q_pending(0, 64 << 20); }
static void q_pending_other(void) { q_pending(1, 64 << 20); }
static void q_pending_event(void) { q_pending(2, 64 << 20); }
static void q_pending_twice(void) { q_pending(3, 64 << 20); }
static void q_pending_small(void) { q_pending(1, 4096); }

/* What of a device's graph memory is in use: open allocations, each freed, trimmed between. */
static void q_used(void)
{
    CUdeviceptr p[4] = {0};
    CUgraphExec x[4];
    static const size_t sizes[4] = {4096, 40 << 20, 4096, 100 << 20};
    for (int i = 0; i < 4; i++) {
        CUgraph g = f_open(&p[i], sizes[i]);
        x[i] = launch_of(g);
        f_memory("launched");
    }
    at("trim", cuDeviceGraphMemTrim(0));
    f_memory("trimmed");
    val("word", "%s", word_in(p[1]));
    at("free1", cuMemFree(p[1]));
    f_memory("freed1");
    at("free3", a_by_name("cuMemFreeAsync", p[3], as_u64(s), 0, 0, 0));
    f_memory("freed3");
    cuCtxSynchronize();
    f_memory("synced");
    at("trim2", cuDeviceGraphMemTrim(0));
    f_memory("trimmed2");
    at("again1", cuGraphLaunch(x[1], s));
    f_memory("again1");
    cuStreamSynchronize(s);
    at("exec_destroy0", cuGraphExecDestroy(x[0]));
    f_memory("exec_destroyed0");
    at("trim3", cuDeviceGraphMemTrim(0));
    f_memory("trimmed3");
    val("word0", "%s", word_in(p[0]));
    at("free0", cuMemFree(p[0]));
    at("free2", cuMemFree(p[2]));
    f_memory("freed");
    at("trim4", cuDeviceGraphMemTrim(0));
    f_memory("trimmed4");
}

static void q_trim_pending(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_life(&p, 64 << 20);
    CUgraphExec x = new_exec(g);
    q_gate_in(s);
    at("launch", cuGraphLaunch(x, s));
    at("trim", cuDeviceGraphMemTrim(0));
    f_memory("trimmed");
    d_open = 1;
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word(0));
    at("trim2", cuDeviceGraphMemTrim(0));
    f_memory("trimmed2");
}

/* ---- free nodes ---- */

static void q_free_in_two(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G), h = new_graph(), k = new_graph();
    CUgraphNode n[3];
    at("free", cuGraphAddMemFreeNode(&n[0], h, NULL, 0, p));
    at("free2", cuGraphAddMemFreeNode(&n[1], k, NULL, 0, p));
    at("free_here", cuGraphAddMemFreeNode(&n[2], g, NULL, 0, p));
    shape("g", g);
    shape("h", h);
    shape("k", k);
    CUgraphExec x = NULL, y = NULL, z = NULL;
    at("x", cuGraphInstantiate(&x, g, 0));
    at("y", cuGraphInstantiate(&y, h, 0));
    at("z", cuGraphInstantiate(&z, k, 0));
    if (!x || !y || !z)
        return;
    at("launch_x", cuGraphLaunch(x, s));
    at("launch_y", cuGraphLaunch(y, s));
    at("launch_z", cuGraphLaunch(z, s));
    at("sync", cuStreamSynchronize(s));
    f_memory("memory");
    at("again_x", cuGraphLaunch(x, s));
    at("again_z", cuGraphLaunch(z, s));
    at("again_y", cuGraphLaunch(y, s));
    at("sync2", cuStreamSynchronize(s));
}

/* The graph frees its allocation; another graph does as well. */
static void q_freed_here_too(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_life(&p, G), h = new_graph();
    CUgraphNode n;
    at("free", cuGraphAddMemFreeNode(&n, h, NULL, 0, p));
    CUgraphExec x = NULL, y = NULL;
    at("x", cuGraphInstantiate(&x, g, 0));
    at("y", cuGraphInstantiate(&y, h, 0));
    if (x && y) {
        at("launch_x", cuGraphLaunch(x, s));
        at("launch_y", cuGraphLaunch(y, s));
        at("sync", cuStreamSynchronize(s));
    }
}

/* The allocation's graph has ended: before a free node, after it, after instantiation, with the memory live. */
static void q_free_of_ended(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G), h = new_graph();
    CUgraphNode n, m;
    at("destroy", cuGraphDestroy(g));
    at("free", cuGraphAddMemFreeNode(&n, h, NULL, 0, p));
    case_name = "free_of_ended.node_first";
    g = f_open(&p, G), h = new_graph();
    at("free", cuGraphAddMemFreeNode(&n, h, NULL, 0, p));
    at("destroy", cuGraphDestroy(g));
    CUgraphExec y = NULL;
    at("y", cuGraphInstantiate(&y, h, 0));
    if (y)
        at("launch_y", cuGraphLaunch(y, s));
    case_name = "free_of_ended.exec_first";
    g = f_open(&p, G), h = new_graph();
    CUgraphExec x = new_exec(g);
    at("destroy", cuGraphDestroy(g));
    at("free", cuGraphAddMemFreeNode(&m, h, NULL, 0, p));
    y = NULL;
    at("y", cuGraphInstantiate(&y, h, 0));
    at("launch_x", cuGraphLaunch(x, s));
    if (y)
        at("launch_y", cuGraphLaunch(y, s));
    at("sync", cuStreamSynchronize(s));
    f_memory("memory");
    case_name = "free_of_ended.live";
    g = f_open(&p, G), h = new_graph();
    x = launch_of(g);
    at("destroy", cuGraphDestroy(g));
    at("exec_destroy", cuGraphExecDestroy(x));
    at("free", cuGraphAddMemFreeNode(&m, h, NULL, 0, p));
    y = NULL;
    at("y", cuGraphInstantiate(&y, h, 0));
    if (y)
        at("launch_y", cuGraphLaunch(y, s));
    at("sync", cuStreamSynchronize(s));
    f_memory("memory");
}

/* A free node of memory that no graph allocated. */
static void q_free_of_pool(void)
{
    CUdeviceptr p = 0;
    CUgraph g = new_graph();
    CUgraphNode n = NULL;
    at("alloc", a_by_name("cuMemAllocAsync", as_u64(&p), 4096, as_u64(s), 0, 0));
    at("node", cuGraphAddMemFreeNode(&n, g, NULL, 0, p));
    begin(s);
    at("captured", a_by_name("cuMemFreeAsync", p, as_u64(s), 0, 0, 0));
    CUgraph h = end(s);
    CUgraphExec x = NULL;
    if (h) {
        at("instantiate", cuGraphInstantiate(&x, h, 0));
        if (x) {
            at("launch", cuGraphLaunch(x, s));
            at("launch2", cuGraphLaunch(x, s));
        }
    }
    at("sync", cuStreamSynchronize(s));
    at("free", a_by_name("cuMemFreeAsync", p, as_u64(s), 0, 0, 0));
}

/* ---- updates ---- */

static void q_update(const char *step, CUgraphExec x, CUgraph h)
{
    CUgraphExecUpdateResultInfo info;
    memset(&info, 0, sizeof info);
    CUresult r = cuGraphExecUpdate(x, h, &info);
    val(step, "%s %d node=%d from=%d", name_of(r), (int)info.result, info.errorNode != NULL, info.errorFromNode != NULL);
}

static void q_update_allocations(void)
{
    CUdeviceptr p = 0, q = 0, r_ = 0;
    CUgraph g = f_life(&p, G), h = f_life(&q, G), k = f_life(&r_, 2 * G);
    CUgraphExec x = new_exec(g);
    q_update("own", x, g);
    q_update("same_size", x, h);
    q_update("other_size", x, k);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word(0));
    CUgraph a = new_graph(), b = new_graph();
    CUgraphNode n, m;
    fill_node(&n, a, NULL, 0, d, 1);
    fill_node(&m, b, NULL, 0, q, 2);
    CUgraphExec y = new_exec(a);
    q_update("fill_of_theirs", y, b);
    CUDA_MEMSET_NODE_PARAMS params = fill_params(q, 3, 4, 4, 1);
    at("set_to_theirs", cuGraphExecMemsetNodeSetParams(y, n, &params, primary[0]));
    CUgraph open1 = f_open(&p, G), open2 = f_open(&q, G);
    CUgraphExec z = new_exec(open1);
    q_update("open", z, open2);
    q_update("open_own", z, open1);
    q_update("plain_with_alloc", y, open1);
    CUgraphNode free1, free2;
    CUgraph f1 = new_graph(), f2 = new_graph();
    cuGraphAddMemFreeNode(&free1, f1, NULL, 0, p);
    cuGraphAddMemFreeNode(&free2, f2, NULL, 0, q);
    CUgraphExec v = new_exec(f1);
    q_update("free_other", v, f2);
    q_update("free_own", v, f1);
}

/* ---- memory operations of streams ---- */

static CUstreamBatchMemOpParams q_op(int operation, CUdeviceptr p, u64 value, unsigned flags)
{
    CUstreamBatchMemOpParams o;
    u64 words[6] = {(u64)operation, p, value, flags, 0, 0};
    memset(&o, 0, sizeof o);
    memcpy(&o, words, sizeof words);
    return o;
}

static CUDA_BATCH_MEM_OP_NODE_PARAMS q_ops(CUstreamBatchMemOpParams *list, unsigned count)
{
    CUDA_BATCH_MEM_OP_NODE_PARAMS p;
    memset(&p, 0, sizeof p);
    p.ctx = primary[0];
    p.count = count;
    p.paramArray = list;
    return p;
}

/* On memory that a graph allocates: in the graph, and from outside while it lives. */
static void q_operations_on_graph(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G), h = new_graph();
    CUgraphNode n[5];
    CUstreamBatchMemOpParams list[2] = {q_op(2, p, 0x31, 0), q_op(1, p, 0x31, 1)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS ops = q_ops(list, 2);
    at("before_launch", a_by_name("cuStreamWriteValue32_v2", as_u64(t), p, 1, 0, 0));
    at("node_elsewhere", cuGraphAddBatchMemOpNode(&n[0], h, NULL, 0, &ops));
    CUgraphExec x = launch_of(g);
    (void)x;
    at("live", a_by_name("cuStreamWriteValue32_v2", as_u64(s), p, 0x32, 0, 0));
    at("live_wait", a_by_name("cuStreamWaitValue32_v2", as_u64(s), p, 0x32, 1, 0));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word_in(p));
    at("live_node", cuGraphAddBatchMemOpNode(&n[0], h, NULL, 0, &ops));
    CUgraphExec y = new_exec(h);
    if (y)
        at("live_launch", cuGraphLaunch(y, s));
    at("sync2", cuStreamSynchronize(s));
    val("word2", "%s", word_in(p));
    at("free", cuMemFree(p));
    at("freed", a_by_name("cuStreamWriteValue32_v2", as_u64(s), p, 0x33, 0, 0));
    at("sync3", cuStreamSynchronize(s));
}

static void q_operations_within(void)
{
    CUdeviceptr p = 0;
    CUgraph g = new_graph();
    CUgraphNode n[5];
    alloc_node(&n[0], g, NULL, 0, G, &p);
    CUstreamBatchMemOpParams list[2] = {q_op(2, p, 0x31, 0), q_op(1, p, 0x31, 1)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS ops = q_ops(list, 2);
    at("node", cuGraphAddBatchMemOpNode(&n[1], g, &n[0], 1, &ops));
    if (n[1])
        at("copy", copy_node(&n[2], g, &n[1], 1, d, p));
    at("free", cuGraphAddMemFreeNode(&n[3], g, &n[2], 1, p));
    shape("shape", g);
    CUgraphExec x = NULL;
    at("instantiate", cuGraphInstantiate(&x, g, 0));
    if (x) {
        at("launch", cuGraphLaunch(x, s));
        at("sync", cuStreamSynchronize(s));
        val("word", "%s", word(0));
    }
}

static void q_operations_captured(void)
{
    CUdeviceptr p = 0;
    begin(s);
    at("alloc", a_by_name("cuMemAllocAsync", as_u64(&p), G, as_u64(s), 0, 0));
    at("write", a_by_name("cuStreamWriteValue32_v2", as_u64(s), p, 0x31, 0, 0));
    at("wait", a_by_name("cuStreamWaitValue32_v2", as_u64(s), p, 0x31, 1, 0));
    at("copy", cuMemcpyDtoDAsync(d, p, 4, s));
    at("free", a_by_name("cuMemFreeAsync", p, as_u64(s), 0, 0, 0));
    CUgraph g = end(s);
    if (!g)
        return;
    launch_of(g);
    val("word", "%s", word(0));
}

/* Changes of a node's operations in an instance. */
static void q_operations_changed(void)
{
    static const char *const names[] = {"same",      "value",     "address",  "wait",     "write64",  "flags",
                                        "barrier",   "fewer",     "none",     "more",     "nowhere",  "ctx_null", "node_flags", "ctx_second"};
    CUcontext second = q_context();
    cuCtxSetCurrent(primary[0]);
    for (size_t i = 0; i < COUNT(names); i++) {
        char step[48];
        CUstreamBatchMemOpParams list[3] = {q_op(2, d, 1, 0), q_op(2, d + 4, 2, 0), q_op(2, d + 8, 3, 0)}, changed[3];
        CUDA_BATCH_MEM_OP_NODE_PARAMS ops = q_ops(list, 2), other = q_ops(changed, 2);
        CUgraph g = new_graph(), h = new_graph();
        CUgraphNode n = NULL, m = NULL;
        memcpy(changed, list, sizeof list);
        cuMemsetD8(d, 0, 64);
        switch (i) {
        case 1: changed[0] = q_op(2, d, 0x11, 0); break;
        case 2: changed[0] = q_op(2, d + 16, 0x12, 0); break;
        case 3: changed[0] = q_op(1, d + 32, 0, 1); break;
        case 4: changed[0] = q_op(5, d, 0x1300000013, 0); break;
        case 5: changed[0] = q_op(2, d, 0x14, 1); break;
        case 6: changed[1] = q_op(6, 0, 0, 0); break;
        case 7: other.count = 1; break;
        case 8: other.count = 0; break;
        case 9: other.count = 3; break;
        case 10: changed[0] = q_op(2, d + ((u64)1 << 44), 1, 0); break;
        case 11: other.ctx = NULL; break;
        case 12: other.flags = 1; break;
        case 13: other.ctx = second; break;
        default: break;
        }
        CUresult added = cuGraphAddBatchMemOpNode(&n, g, NULL, 0, &ops), there = cuGraphAddBatchMemOpNode(&m, h, NULL, 0, &other);
        CUgraphExec x = new_exec(g);
        CUresult set = cuGraphExecBatchMemOpNodeSetParams(x, n, &other), launched = cuGraphLaunch(x, s);
        snprintf(step, sizeof step, "%s", names[i]);
        val(step, "%s %s set=%s launch=%s", name_of(added), name_of(there), name_of(set), name_of(launched));
        cuStreamSynchronize(s);
        if (!there) {
            snprintf(step, sizeof step, "%s.update", names[i]);
            q_update(step, x, h);
        }
        snprintf(step, sizeof step, "%s.node", names[i]);
        at(step, cuGraphBatchMemOpNodeSetParams(n, &other));
        CUDA_BATCH_MEM_OP_NODE_PARAMS out;
        memset(&out, 0, sizeof out);
        CUresult r = cuGraphBatchMemOpNodeGetParams(n, &out);
        snprintf(step, sizeof step, "%s.get", names[i]);
        val(step, "%s count=%u flags=%u ctx=%d", name_of(r), out.count, out.flags, out.ctx == primary[0] ? 1 : out.ctx ? 2 : 0);
    }
}

/* ---- children ---- */

static CUgraphNodeParams q_child(CUgraph inner, int ownership)
{
    CUgraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = CU_GRAPH_NODE_TYPE_GRAPH;
    p.graph.graph = inner;
    p.graph.ownership = (CUgraphChildGraphNodeOwnership)ownership;
    return p;
}

static void q_moved_child(void)
{
    for (int ownership = -1; ownership <= 2; ownership++) {
        char step[32];
        CUdeviceptr p = 0;
        snprintf(step, sizeof step, "moved_child.%d", ownership);
        static char name[2][32];
        snprintf(name[0], sizeof name[0], "%s", step);
        case_name = name[0];
        CUgraph g = f_life(&p, G), outer = new_graph(), held = NULL;
        CUgraphNode n = NULL;
        CUgraphNodeParams params = q_child(g, ownership);
        at("add", cuGraphAddNode(&n, outer, NULL, NULL, 0, &params));
        if (!n)
            continue;
        at("get", cuGraphChildGraphNodeGetGraph(n, &held));
        val("held", "same=%d", held == g);
        shape("inner", held);
        CUgraphExec x = NULL;
        at("instantiate", cuGraphInstantiate(&x, outer, 0));
        if (x) {
            at("launch", cuGraphLaunch(x, s));
            at("sync", cuStreamSynchronize(s));
            val("word", "%s", word(0));
        }
        CUgraph clone = NULL;
        at("clone", cuGraphClone(&clone, outer));
        CUgraphNode again = NULL;
        CUgraph third = new_graph();
        at("add_again", cuGraphAddNode(&again, third, NULL, NULL, 0, &params));
        if (x)
            q_update("update", x, outer);
        at("destroy_node", cuGraphDestroyNode(n));
        f_memory("memory");
    }
}

/* Memory of a moved child that has no free node, with an address that stays. */
static void q_moved_open(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G), outer = new_graph();
    CUgraphNode n = NULL;
    CUgraphNodeParams params = q_child(g, 1);
    at("add", cuGraphAddNode(&n, outer, NULL, NULL, 0, &params));
    CUgraphExec x = NULL;
    at("instantiate", cuGraphInstantiate(&x, outer, 0));
    if (!x)
        return;
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word_in(p));
    at("free", cuMemFree(p));
    at("destroy", cuGraphDestroy(outer));
}

static void q_child_cycle(void)
{
    CUgraph inner = new_graph(), outer = new_graph(), held = NULL;
    CUgraphNode a, b, n, m = NULL;
    fill_node(&a, inner, NULL, 0, d, 1);
    fill_node(&b, inner, &a, 1, d, 2);
    cuGraphAddChildGraphNode(&n, outer, NULL, 0, inner);
    cuGraphChildGraphNodeGetGraph(n, &held);
    CUgraphNode list[4];
    size_t count = 4;
    cuGraphGetNodes(held, list, &count);
    at("cycle", cuGraphAddDependencies(held, &list[1], &list[0], NULL, 1));
    shape("held", held);
    CUgraphExec x = NULL;
    at("instantiate_held", cuGraphInstantiate(&x, held, 0));
    at("instantiate", cuGraphInstantiate(&x, outer, 0));
    at("outer_into_held", cuGraphAddChildGraphNode(&m, held, NULL, 0, outer));
    shape("held2", held);
    at("cycle_inner", cuGraphAddDependencies(inner, &b, &a, NULL, 1));
    at("add_cyclic", cuGraphAddChildGraphNode(&m, outer, NULL, 0, inner));
    CUgraph clone = NULL;
    at("clone_cyclic", cuGraphClone(&clone, inner));
}

static void q_child_cycle_launch(void)
{
    CUgraph inner = new_graph(), outer = new_graph(), held = NULL;
    CUgraphNode a, b, n;
    fill_node(&a, inner, NULL, 0, d, 1);
    fill_node(&b, inner, &a, 1, d, 2);
    cuGraphAddChildGraphNode(&n, outer, NULL, 0, inner);
    CUgraphExec x = new_exec(outer);
    cuGraphChildGraphNodeGetGraph(n, &held);
    CUgraphNode list[4];
    size_t count = 4;
    cuGraphGetNodes(held, list, &count);
    at("cycle", cuGraphAddDependencies(held, &list[1], &list[0], NULL, 1));
    q_update("update", x, outer);
    at("set", cuGraphExecChildGraphNodeSetParams(x, n, held));
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
}

static void q_cycle(void)
{
    CUgraph g = new_graph();
    CUgraphNode a, b;
    fill_node(&a, g, NULL, 0, d, 1);
    fill_node(&b, g, &a, 1, d, 2);
    at("itself", cuGraphAddDependencies(g, &a, &a, NULL, 1));
    at("cycle", cuGraphAddDependencies(g, &b, &a, NULL, 1));
    shape("shape", g);
    CUgraphExec x = NULL;
    at("instantiate", cuGraphInstantiate(&x, g, 0));
}

/* ---- what ends while it is captured ---- */

static void q_stream_ends(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    standing("info", s);
    at("destroy", cuStreamDestroy(s));
    s = t;
    CUgraph g = (CUgraph)(uintptr_t)77;
    at("fill", fill(t, 0, 1, 4));
    at("sync", cuStreamSynchronize(t));
    (void)g;
    cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    at("begin", begin(s));
    end(s);
}

static void q_stream_ended_capture(void)
{
    CUstream gone = s;
    begin(s);
    fill(s, 0, 1, 4);
    at("destroy", cuStreamDestroy(s));
    s = t;
    CUgraph g = (CUgraph)(uintptr_t)77;
    at("end", cuStreamEndCapture(gone, &g));
}

static void q_joined_ends(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    fill(t, 64, 1, 4);
    at("destroy", cuStreamDestroy(t));
    t = s;
    standing("s", s);
    end(s);
}

static void q_joined_ends_back(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    fill(t, 64, 1, 4);
    cuEventRecord(f, t);
    cuStreamWaitEvent(s, f, 0);
    at("destroy", cuStreamDestroy(t));
    t = s;
    standing("s", s);
    CUgraph g = end(s);
    if (g)
        launch_of(g);
}

static void q_origin_ends(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    cuStreamWaitEvent(t, e, 0);
    fill(t, 64, 1, 4);
    at("destroy", cuStreamDestroy(s));
    s = t;
    standing("t", t);
    at("fill", fill(t, 0, 1, 4));
    end(t);
}

static void q_event_ends(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    cuEventRecord(e, s);
    at("destroy", cuEventDestroy(e));
    standing("s", s);
    CUgraph g = end(s);
    if (g)
        launch_of(g);
}

static void q_context_ends_with(int mode)
{
    CUcontext second = q_context();
    CUstream theirs = NULL;
    CUdeviceptr p = 0;
    cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING);
    cuMemAlloc(&p, 4096);
    at("begin", cuStreamBeginCapture(theirs, (CUstreamCaptureMode)mode));
    at("fill", cuMemsetD32Async(p, 1, 4, theirs));
    at("destroy", cuCtxDestroy(second));
    CUcontext now_ = NULL;
    cuCtxGetCurrent(&now_);
    val("current", "%d", now_ == primary[0] ? 1 : now_ ? 2 : 0);
    cuCtxSetCurrent(primary[0]);
    at("alloc", cuMemAlloc(&p, 4096));
    at("sync", cuCtxSynchronize());
    CUgraph g = (CUgraph)(uintptr_t)77;
    at("end", cuStreamEndCapture(theirs, &g));
}

static void q_context_ends(void) { q_context_ends_with(CU_STREAM_CAPTURE_MODE_RELAXED); }
static void q_context_ends_global(void) { q_context_ends_with(CU_STREAM_CAPTURE_MODE_GLOBAL); }

static void q_primary_resets(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    at("reset", cuDevicePrimaryCtxReset(0));
    unsigned flags = 77;
    int active = 77;
    at("state", cuDevicePrimaryCtxGetState(0, &flags, &active));
    val("active", "%d", active);
    CUdeviceptr p = 0;
    at("alloc", cuMemAlloc(&p, 4096));
    fflush(stdout);
    _exit(0);
}

static void q_primary_released(void)
{
    begin(s);
    fill(s, 0, 1, 4);
    at("release", cuDevicePrimaryCtxRelease(0));
    unsigned flags = 77;
    int active = 77;
    at("state", cuDevicePrimaryCtxGetState(0, &flags, &active));
    val("active", "%d", active);
    CUcontext c = NULL;
    at("retain", cuDevicePrimaryCtxRetain(&c, 0));
    val("same", "%d", c == primary[0]);
    fflush(stdout);
    _exit(0);
}

/* ---- attributes of kernel nodes ---- */

static CUresult q_attribute(const char *call, CUgraphNode n, int which, void *value)
{
    return a_by_name(call, as_u64(n), (u64)which, as_u64(value), 0, 0);
}

static void q_kernel_attributes(void)
{
    CUgraph g = new_graph();
    CUgraphNode n, m, k;
    kernel_node(&n, g, NULL, 0, k_put, d, 1);
    kernel_node(&m, g, NULL, 0, k_add, d, 1);
    fill_node(&k, g, NULL, 0, d, 1);
    for (int which = -1; which <= 18; which++) {
        char step[32];
        u64 v[8];
        memset(v, 0x77, sizeof v);
        CUresult r = q_attribute("cuGraphKernelNodeGetAttribute", n, which, v);
        snprintf(step, sizeof step, "get.%d", which);
        val(step, "%s %llx %llx %llx %llx", name_of(r), v[0], v[1], v[2], v[3]);
        snprintf(step, sizeof step, "set_same.%d", which);
        CUresult same = q_attribute("cuGraphKernelNodeSetAttribute", n, which, v);
        if (!r)
            at(step, same);
        memset(v, 0, sizeof v);
        snprintf(step, sizeof step, "set_zero.%d", which);
        at(step, q_attribute("cuGraphKernelNodeSetAttribute", m, which, v));
        v[0] = 1;
        v[1] = 1;
        snprintf(step, sizeof step, "set_one.%d", which);
        at(step, q_attribute("cuGraphKernelNodeSetAttribute", m, which, v));
        memset(v, 0x77, sizeof v);
        r = q_attribute("cuGraphKernelNodeGetAttribute", m, which, v);
        snprintf(step, sizeof step, "then.%d", which);
        val(step, "%s %llx %llx", name_of(r), v[0], v[1]);
    }
    u64 v[8] = {0};
    at("get_fill", q_attribute("cuGraphKernelNodeGetAttribute", k, 2, v));
    at("set_fill", q_attribute("cuGraphKernelNodeSetAttribute", k, 2, v));
    at("get_null_node", q_attribute("cuGraphKernelNodeGetAttribute", NULL, 2, v));
    at("get_null", q_attribute("cuGraphKernelNodeGetAttribute", n, 2, NULL));
    at("set_null", q_attribute("cuGraphKernelNodeSetAttribute", n, 2, NULL));
    at("copy", a_by_name("cuGraphKernelNodeCopyAttributes", as_u64(n), as_u64(m), 0, 0, 0));
    at("copy_itself", a_by_name("cuGraphKernelNodeCopyAttributes", as_u64(n), as_u64(n), 0, 0, 0));
    at("copy_from_fill", a_by_name("cuGraphKernelNodeCopyAttributes", as_u64(n), as_u64(k), 0, 0, 0));
    at("copy_to_fill", a_by_name("cuGraphKernelNodeCopyAttributes", as_u64(k), as_u64(n), 0, 0, 0));
    at("copy_null", a_by_name("cuGraphKernelNodeCopyAttributes", as_u64(n), 0, 0, 0, 0));
    at("copy_to_null", a_by_name("cuGraphKernelNodeCopyAttributes", 0, as_u64(n), 0, 0, 0));
    memset(v, 0x77, sizeof v);
    val("copied", "%s %llx", name_of(q_attribute("cuGraphKernelNodeGetAttribute", n, 8, v)), v[0]);
}

static const struct one_case n_cases[] = {{"kernel_attributes", q_kernel_attributes}};

static void group_n(void)
{
    run_table("N.", n_cases, COUNT(n_cases), true);
}

/* ---- the memory right behind an allocation ---- */

static void q_behind(void)
{
    CUdeviceptr small = 0, large = 0, freed = 0, v = reserve(4 * G);
    cuMemAlloc(&small, 4096);
    cuMemAlloc(&large, 64 << 20);
    cuMemAlloc(&freed, 64 << 20);
    cuMemFree(freed);
    map(v, G, make(G));
    give(v, G, L_DEVICE, RW);
    const struct {
        const char *name;
        CUdeviceptr p;
    } places[] = {{"d", d + WORDS * 4},      {"d+16", d + WORDS * 4 + 16}, {"d+2M", d + WORDS * 4 + G}, {"d+32M", d + WORDS * 4 + 16 * G},
                  {"d+1G", d + WORDS * 4 + 512 * G}, {"d-16", d - 16},         {"small", small + 4096},     {"small+64K", small + 65536},
                  {"small+2M", small + G},   {"large", large + (64 << 20)}, {"large+32M", large + (96 << 20)},
                  {"freed", freed},          {"mapped", v + G},             {"mapped-16", v - 16},          {"reserved", v + 2 * G}};
    for (size_t i = 0; i < COUNT(places); i++) {
        CUgraph g = new_graph();
        CUgraphNode n = NULL, k = NULL;
        CUdeviceptr base = 77;
        size_t size = 77;
        unsigned type = 77;
        CUresult range = cuMemGetAddressRange(&base, &size, places[i].p);
        CUresult typed = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, places[i].p);
        CUresult filled = fill_node(&n, g, NULL, 0, places[i].p, 1), copied = copy_node(&k, g, NULL, 0, d, places[i].p);
        val(places[i].name, "fill=%s copy=%s range=%s,%zu type=%s,%u", name_of(filled), name_of(copied), name_of(range), size,
            name_of(typed), type);
    }
}

static const struct one_case q_cases[] = {
    {"node_contexts", q_node_contexts},
    {"node_context_gone", q_node_context_gone},
    {"node_context_ends", q_node_context_ends},
    {"node_context_launch", q_node_context_launch},
    {"addresses_parallel", q_addresses_parallel},
    {"addresses_ordered", q_addresses_ordered},
    {"sequence", q_sequences},
    {"graphs", q_graphs},
    {"pending_same", q_pending_same},
    {"pending_other", q_pending_other},
    {"pending_event", q_pending_event},
    {"pending_twice", q_pending_twice},
    {"pending_small", q_pending_small},
    {"used", q_used},
    {"trim_pending", q_trim_pending},
    {"free_in_two", q_free_in_two},
    {"freed_here_too", q_freed_here_too},
    {"free_of_ended", q_free_of_ended},
    {"free_of_pool", q_free_of_pool},
    {"update_allocations", q_update_allocations},
    {"operations_on_graph", q_operations_on_graph},
    {"operations_within", q_operations_within},
    {"operations_captured", q_operations_captured},
    {"operations_changed", q_operations_changed},
    {"moved_child", q_moved_child},
    {"moved_open", q_moved_open},
    {"child_cycle", q_child_cycle},
    {"child_cycle_launch", q_child_cycle_launch},
    {"cycle", q_cycle},
    {"stream_ends", q_stream_ends},
    {"stream_ended_capture", q_stream_ended_capture},
    {"joined_ends", q_joined_ends},
    {"joined_ends_back", q_joined_ends_back},
    {"origin_ends", q_origin_ends},
    {"event_ends", q_event_ends},
    {"context_ends", q_context_ends},
    {"context_ends_global", q_context_ends_global},
    {"primary_resets", q_primary_resets},
    {"primary_released", q_primary_released},
    {"behind", q_behind},
};

static void group_q(void)
{
    patience = 10;
    run_table("Q.", q_cases, COUNT(q_cases), true);
}

/* ---- memory of another device: Q2.* ---- */

static void q2_fills(void)
{
    static const char *const memories[] = {"alloc", "mapped", "mapped_both", "pool"};
    if (!x_start())
        return;
    CUdeviceptr places[4] = {x_p, 0, 0, 0};
    CUmemAllocationProp prop = prop_at(L_DEVICE, 0);
    prop.location.id = 1;
    for (int i = 1; i < 3; i++) {
        Handle handle = 0;
        CUmemAccessDesc both[2] = {desc(L_DEVICE, 0, RW), desc(L_DEVICE, 0, RW)};
        both[0].location.id = 1;
        cuMemCreate(&handle, G, &prop, 0);
        places[i] = reserve(G);
        map(places[i], G, handle);
        cuMemSetAccess(places[i], G, both, (size_t)i);
    }
    cuCtxSetCurrent(x_ctx);
    a_by_name("cuMemAllocAsync", as_u64(&places[3]), 4096, 0, 0, 0);
    for (int i = 1; i < 4; i++)
        cuMemsetD32(places[i], 0x81, 16);
    cuCtxSynchronize();
    cuCtxSetCurrent(primary[0]);
    for (int enabled = 0; enabled < 2; enabled++) {
        if (enabled)
            at("enable", cuCtxEnablePeerAccess(x_ctx, 0));
        for (size_t m = 0; m < 4; m++)
            for (int theirs = 0; theirs < 2; theirs++) {
                char step[64];
                CUcontext ctx = theirs ? x_ctx : primary[0];
                CUgraph g = new_graph(), h = new_graph();
                CUgraphNode n = NULL, k = NULL;
                CUDA_MEMSET_NODE_PARAMS p = fill_params(places[m], 0x82 + (unsigned)theirs + 2 * (unsigned)enabled, 4, 4, 1);
                CUDA_MEMCPY3D c = copy_params(CU_MEMORYTYPE_DEVICE, d, CU_MEMORYTYPE_DEVICE, places[m], 16);
                CUresult filled = cuGraphAddMemsetNode(&n, g, NULL, 0, &p, ctx), copied = cuGraphAddMemcpyNode(&k, h, NULL, 0, &c, ctx);
                CUgraphExec x = NULL, y = NULL;
                CUresult made = cuGraphInstantiate(&x, g, 0), made2 = cuGraphInstantiate(&y, h, 0);
                CUresult set = x && n ? cuGraphExecMemsetNodeSetParams(x, n, &p, ctx) : CUDA_SUCCESS;
                CUresult launched = x ? cuGraphLaunch(x, s) : CUDA_SUCCESS, sync = cuStreamSynchronize(s);
                CUresult launched2 = y ? cuGraphLaunch(y, s) : CUDA_SUCCESS, sync2 = cuStreamSynchronize(s);
                snprintf(step, sizeof step, "%s.%s%s", memories[m], theirs ? "theirs" : "own", enabled ? ".enabled" : "");
                val(step, "fill=%s,%s set=%s launch=%s sync=%s copy=%s,%s launch=%s sync=%s %s %s", name_of(filled), name_of(made),
                    name_of(set), name_of(launched), name_of(sync), name_of(copied), name_of(made2), name_of(launched2), name_of(sync2),
                    word(0), word_in(places[m]));
            }
    }
}

/* The same from streams, for comparison. */
static void q2_streams(void)
{
    if (!x_start())
        return;
    at("fill", cuMemsetD32Async(x_p, 0x91, 4, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word_in(x_p));
    begin(s);
    at("captured", cuMemsetD32Async(x_p, 0x92, 4, s));
    CUgraph g = end(s);
    if (g)
        launch_of(g);
    val("word2", "%s", word_in(x_p));
}

static const struct one_case q2_cases[] = {{"fills", q2_fills}, {"streams", q2_streams}};

/* ---- the whole device: Y.* ---- */

static void y_idle(int who)
{
    size_t free_ = 0, total = 0;
    cuMemGetInfo(&free_, &total);
    size_t size = total / 5 * 3 / G * G;
    CUdeviceptr p = 0, q = 0;
    CUgraph g = new_graph();
    CUgraphNode n[2];
    at("alloc", alloc_node(&n[0], g, NULL, 0, size, &p));
    at("free", cuGraphAddMemFreeNode(&n[1], g, &n[0], 1, p));
    CUgraphExec x = launch_of(g);
    val("idle", "%d", f_attribute(2) >= size);
    Handle handle = 0;
    CUmemAllocationProp prop = prop_at(L_DEVICE, 0);
    CUgraph h = new_graph();
    CUresult r;
    switch (who) {
    case 0: r = cuMemAlloc(&q, size); break;
    case 1: r = cuMemCreate(&handle, size, &prop, 0); break;
    case 2: r = a_by_name("cuMemAllocAsync", as_u64(&q), size, as_u64(s), 0, 0); break;
    default:
        alloc_node(&n[0], h, NULL, 0, size, &q);
        cuGraphAddMemFreeNode(&n[1], h, &n[0], 1, q);
        r = cuGraphLaunch(new_exec(h), t);
    }
    at("other", r);
    at("sync", cuCtxSynchronize());
    val("then", "%d", f_attribute(2) >= size);
    at("again", cuGraphLaunch(x, s));
    at("again.sync", cuCtxSynchronize());
    if (q && who == 0)
        at("freed", cuMemFree(q));
    if (handle)
        at("released", cuMemRelease(handle));
    at("third", cuGraphLaunch(x, s));
    at("third.sync", cuCtxSynchronize());
}

static void y_alloc(void) { y_idle(0); }
static void y_create(void) { y_idle(1); }
static void y_pool(void) { y_idle(2); }
static void y_graph(void) { y_idle(3); }

/* A pool's idle memory, when a graph needs it. */
static void y_pool_idle(void)
{
    size_t free_ = 0, total = 0;
    cuMemGetInfo(&free_, &total);
    size_t size = total / 5 * 3 / G * G;
    CUdeviceptr p = 0, q = 0;
    void *pool = NULL;
    u64 all = ~0ull;
    a_by_name("cuDeviceGetDefaultMemPool", as_u64(&pool), 0, 0, 0, 0);
    a_by_name("cuMemPoolSetAttribute", as_u64(pool), 4, as_u64(&all), 0, 0);
    at("pool", a_by_name("cuMemAllocAsync", as_u64(&q), size, as_u64(s), 0, 0));
    at("free", a_by_name("cuMemFreeAsync", q, as_u64(s), 0, 0, 0));
    at("sync", cuCtxSynchronize());
    CUgraph g = new_graph();
    CUgraphNode n[2];
    alloc_node(&n[0], g, NULL, 0, size, &p);
    cuGraphAddMemFreeNode(&n[1], g, &n[0], 1, p);
    CUgraphExec x = new_exec(g);
    at("launch", cuGraphLaunch(x, s));
    at("sync2", cuCtxSynchronize());
    u64 reserved = 77;
    a_by_name("cuMemPoolGetAttribute", as_u64(pool), 5, as_u64(&reserved), 0, 0);
    val("reserved", "%d", reserved >= size);
}

/* Two launches behind a gate that together need more than the device has: in one stream, and in two. */
static void y_two_launches(int how)
{
    size_t free_ = 0, total = 0;
    cuMemGetInfo(&free_, &total);
    size_t size = total / 5 * 3 / G * G;
    CUdeviceptr p = 0, q = 0;
    CUgraph g = new_graph(), h = new_graph();
    CUgraphNode n[2];
    alloc_node(&n[0], g, NULL, 0, size, &p);
    cuGraphAddMemFreeNode(&n[1], g, &n[0], 1, p);
    alloc_node(&n[0], h, NULL, 0, size, &q);
    cuGraphAddMemFreeNode(&n[1], h, &n[0], 1, q);
    CUgraphExec x = new_exec(g), y = new_exec(h);
    q_gate_in(s);
    at("launch", cuGraphLaunch(x, s));
    at("launch2", cuGraphLaunch(y, how ? t : s));
    val("memory", "%d", (int)(f_attribute(2) / size));
    d_open = 1;
    at("sync", cuCtxSynchronize());
}

static void y_same_stream(void) { y_two_launches(0); }
static void y_two_streams(void) { y_two_launches(1); }

static const struct one_case y_cases[] = {
    {"alloc", y_alloc}, {"create", y_create}, {"pool", y_pool}, {"graph", y_graph},
    {"pool_idle", y_pool_idle}, {"same_stream", y_same_stream}, {"two_streams", y_two_streams},
};

static void group_y(void)
{
    run_table("Y.", y_cases, COUNT(y_cases), true);
}

static void group_q2(void)
{
    run_table("Q2.", q2_cases, COUNT(q2_cases), true); /* prints nothing with one device */
}
