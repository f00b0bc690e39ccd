/* SPDX-License-Identifier: Apache-2.0 */
/* Group H: memory that changes under a graph. Part of ../graphs.c, which includes it.
 *
 *     H.NODE.CHANGE.WHEN    the node's memory is changed before the instance is made, after that, after a first launch, or while
 *                           a launch waits behind a host function
 *
 * h_p is one granule of memory, RW; h_q another one, which stays. */

enum { H_FILL, H_COPY_TO, H_COPY_FROM, H_WRITE, H_READ, H_HTOD, H_DTOH, H_NODES };
enum { H_UNMAP, H_NONE, H_READ_ONLY, H_REMAP_SAME, H_REMAP_OTHER, H_REMAP_NO_ACCESS, H_RELEASE, H_UNMAP_FREE, H_CHANGES };
enum { H_BUILT, H_MADE, H_LAUNCHED, H_IN_FLIGHT, H_TIMES };

static const char *const h_nodes[] = {"fill", "copy_to", "copy_from", "write", "read", "htod", "dtoh"};
static const char *const h_changes[] = {"unmap", "none", "read", "remap_same", "remap_other", "remap_no_access", "release",
                                        "unmap_free"};
static const char *const h_times[] = {"built", "made", "launched", "in_flight"};

static CUdeviceptr h_p, h_q;
static Handle h_first, h_second;

static void h_prepare(void)
{
    h_first = make(G);
    h_second = make(G);
    h_p = reserve(4 * G);
    h_q = reserve(G);
    map(h_p, G, h_first);
    give(h_p, G, L_DEVICE, RW);
    map(h_q, G, h_second);
    give(h_q, G, L_DEVICE, RW);
    cuMemsetD32(h_p, 0x101, 1024);
    cuMemsetD32(h_q, 0x202, 1024);
    cuCtxSynchronize();
}

static CUresult h_node(CUgraph g, const CUgraphNode *deps, size_t count, int what)
{
    CUgraphNode n;
    CUDA_KERNEL_NODE_PARAMS p;
    CUDA_MEMCPY3D c;
    switch (what) {
    case H_FILL: return fill_node(&n, g, deps, count, h_p, 0x303);
    case H_COPY_TO: return copy_node(&n, g, deps, count, h_p, d);
    case H_COPY_FROM: return copy_node(&n, g, deps, count, d, h_p);
    case H_WRITE: return kernel_node(&n, g, deps, count, k_put, h_p, 0x303);
    case H_READ:
        kernel_params(&p, k_get, &(CUdeviceptr){d}, &(CUdeviceptr){h_p});
        return cuGraphAddKernelNode(&n, g, deps, count, &p);
    case H_HTOD: c = copy_params(CU_MEMORYTYPE_DEVICE, h_p, CU_MEMORYTYPE_HOST, as_u64(pinned), 16); break;
    default: c = copy_params(CU_MEMORYTYPE_HOST, as_u64(pinned), CU_MEMORYTYPE_DEVICE, h_p, 16); break;
    }
    return cuGraphAddMemcpyNode(&n, g, deps, count, &c, primary[0]);
}

static CUresult h_change(int change)
{
    CUresult r;
    switch (change) {
    case H_UNMAP: return cuMemUnmap(h_p, G);
    case H_NONE: return give(h_p, G, L_DEVICE, NONE);
    case H_READ_ONLY: return give(h_p, G, L_DEVICE, READ);
    case H_REMAP_SAME:
        cuMemUnmap(h_p, G);
        r = cuMemMap(h_p, G, 0, h_first, 0);
        give(h_p, G, L_DEVICE, RW);
        return r;
    case H_REMAP_OTHER:
        cuMemUnmap(h_p, G);
        r = cuMemMap(h_p, G, 0, h_second, 0);
        give(h_p, G, L_DEVICE, RW);
        return r;
    case H_REMAP_NO_ACCESS:
        cuMemUnmap(h_p, G);
        return cuMemMap(h_p, G, 0, h_first, 0);
    case H_RELEASE: return cuMemRelease(h_first);
    default:
        cuMemUnmap(h_p, G);
        return cuMemAddressFree(h_p, 4 * G);
    }
}

static void h_case(int what, int change, int when)
{
    CUgraph g = new_graph();
    CUgraphNode gate = NULL;
    CUDA_HOST_NODE_PARAMS hold_on = {d_gate, NULL};
    d_open = 1;
#ifndef CUVMM_REPLAYS_DRIVER
    if (when == H_IN_FLIGHT)
        d_open = 0;
#endif
    pinned[0] = 0x404;
    if (when == H_IN_FLIGHT)
        cuGraphAddHostNode(&gate, g, NULL, 0, &hold_on);
    at("add", h_node(g, &gate, gate != NULL, what));
    if (when == H_BUILT)
        at("change", h_change(change));
    CUgraphExec x = NULL;
    at("instantiate", cuGraphInstantiate(&x, g, 0));
    if (when == H_LAUNCHED && x) {
        at("first", cuGraphLaunch(x, s));
        at("first.sync", cuStreamSynchronize(s));
    }
    if (when == H_IN_FLIGHT)
        at("launch", x ? cuGraphLaunch(x, s) : CUDA_SUCCESS);
    if (when != H_BUILT)
        at("change", h_change(change));
    d_open = 1;
    if (when != H_IN_FLIGHT && x)
        at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    at("context", cuCtxSynchronize());
    at("then", cuMemsetD32(d + 4096, 1, 1));
    val("words", "p=%s q=%s d=%s pinned=%x", word_in(h_p), word_in(h_q), word(0), pinned[0]);
    if (x)
        at("again", cuGraphLaunch(x, s));
    at("again.sync", cuStreamSynchronize(s));
    at("exec_destroy", cuGraphExecDestroy(x));
    at("destroy", cuGraphDestroy(g));
}

/* Every change for four nodes at three times; the other nodes, and work in flight, at one. */
static struct {
    unsigned char what, change, when;
} h_list[H_NODES * H_CHANGES * H_TIMES];
static size_t h_count;

static void h_fill_list(void)
{
    h_count = 0;
    for (unsigned char what = 0; what < H_NODES; what++)
        for (unsigned char change = 0; change < H_CHANGES; change++)
            for (unsigned char when = 0; when < H_TIMES; when++) {
                bool often = what <= H_WRITE && change < H_UNMAP_FREE && when <= H_LAUNCHED;
                bool once = when == H_MADE;
                bool flying = when == H_IN_FLIGHT && (what == H_FILL || what == H_WRITE || what == H_COPY_FROM);
                if (often || once || (flying && change < H_UNMAP_FREE)) {
                    h_list[h_count].what = what;
                    h_list[h_count].change = change;
                    h_list[h_count++].when = when;
                }
            }
}

static void h_one(size_t i, char *id, int run)
{
    static char name[64];
    snprintf(name, sizeof name, "%s.%s.%s", h_nodes[h_list[i].what], h_changes[h_list[i].change], h_times[h_list[i].when]);
    case_name = name;
    snprintf(case_prefix, sizeof case_prefix, "H.");
    snprintf(id, CASE_ID, "H.%s", name);
    if (!run || !is_wanted(id))
        return;
    start_case();
    h_prepare();
    h_case(h_list[i].what, h_list[i].change, h_list[i].when);
}

/* ---- building and changing graphs that use missing memory ---- */

static void h_build_on(void)
{
    h_prepare();
    CUgraph g;
    static const int changes[] = {H_UNMAP, H_REMAP_NO_ACCESS, H_READ_ONLY, H_NONE};
    for (size_t c = 0; c < COUNT(changes); c++) {
        char step[64];
        h_change(H_REMAP_SAME);
        h_change(changes[c]);
        for (int what = 0; what < H_NODES; what++) {
            g = new_graph();
            CUgraphExec x = NULL;
            snprintf(step, sizeof step, "%s.%s", h_nodes[what], h_changes[changes[c]]);
            CUresult added = h_node(g, NULL, 0, what);
            CUresult made = added ? added : cuGraphInstantiate(&x, g, 0);
            CUresult uploaded = x ? cuGraphUpload(x, s) : made;
            CUresult sync = cuStreamSynchronize(s);
            val(step, "%s %s %s %s", name_of(added), name_of(made), name_of(uploaded), name_of(sync));
            if (x)
                cuGraphExecDestroy(x);
        }
    }
    h_change(H_REMAP_SAME);
}

/* The same by capture. */
static void h_capture_on(void)
{
    h_prepare();
    static const int changes[] = {H_UNMAP, H_REMAP_NO_ACCESS, H_READ_ONLY, H_NONE};
    for (size_t c = 0; c < COUNT(changes); c++) {
        char step[64];
        h_change(H_REMAP_SAME);
        h_change(changes[c]);
        for (int what = 0; what < 4; what++) {
            begin(s);
            CUdeviceptr p = h_p;
            unsigned value = 4;
            void *args[] = {&p, &value};
            CUresult r = what == 0   ? cuMemsetD32Async(h_p, 1, 4, s)
                         : what == 1 ? cuMemcpyDtoDAsync(h_p, d, 16, s)
                         : what == 2 ? cuMemcpyDtoDAsync(d, h_p, 16, s)
                                     : cuLaunchKernel(k_put, 1, 1, 1, 1, 1, 1, 0, s, args, NULL);
            int status = status_of(s);
            CUgraph g = NULL;
            CUresult ended = cuStreamEndCapture(s, &g);
            snprintf(step, sizeof step, "%s.%s", h_nodes[what], h_changes[changes[c]]);
            val(step, "%s status=%d %s", name_of(r), status, name_of(ended));
        }
    }
    h_change(H_REMAP_SAME);
}

/* Calls that set an instance's parameters to memory that was remapped, and an update with a graph made before. */
static void h_update_on(void)
{
    h_prepare();
    CUgraph g = new_graph(), h = new_graph();
    CUgraphNode n, m;
    CUgraphExecUpdateResultInfo info;
    fill_node(&n, g, NULL, 0, h_q, 1);
    fill_node(&m, h, NULL, 0, h_p, 2);
    CUgraphExec x = new_exec(g);
    h_change(H_UNMAP);
    CUDA_MEMSET_NODE_PARAMS p = fill_params(h_p, 2, 4, 4, 1);
    at("set", cuGraphExecMemsetNodeSetParams(x, n, &p, primary[0]));
    at("node_set", cuGraphMemsetNodeSetParams(n, &p));
    memset(&info, 0, sizeof info);
    CUresult r = cuGraphExecUpdate(x, h, &info);
    val("update", "%s %d", name_of(r), (int)info.result);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("words", "%s", word_in(h_q));
}

/* Memory of cuMemAlloc that is freed under an instance, and allocated again at the same address. */
static void h_mem_free(void)
{
    CUdeviceptr p = 0, q = 0;
    CUgraph g = new_graph();
    CUgraphNode n;
    cuMemAlloc(&p, 64 * G);
    fill_node(&n, g, NULL, 0, p, 0x71);
    CUgraphExec x = new_exec(g);
    at("free", cuMemFree(p));
    cuMemAlloc(&q, 64 * G);
    val("same", "%d", p == q);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word_in(q));
    cuMemFree(q);
    at("launch2", cuGraphLaunch(x, s));
    at("sync2", cuStreamSynchronize(s));
}

static void h_module_unload(void)
{
    CUgraph g = new_graph();
    CUgraphNode n;
    kernel_node(&n, g, NULL, 0, k_put, d, 0x71);
    CUgraphExec x = new_exec(g);
    at("unload", cuModuleUnload(module));
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word(0));
    _exit(0);
}

/* One node faults: what of the others, and of the graph, is left? */
static void h_faults_between(void)
{
    h_prepare();
    CUgraph g = new_graph();
    CUgraphNode a, b, c;
    kernel_node(&a, g, NULL, 0, k_put, d, 0x11);
    kernel_node(&b, g, &a, 1, k_put, h_p, 0x12);
    host_node(&c, g, &b, 1, 'z');
    CUgraphExec x = new_exec(g);
    host_order[0] = 0;
    h_change(H_UNMAP);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("order", "%s", host_order);
    at("launch2", cuGraphLaunch(x, s));
    CUgraph h = NULL;
    at("create", cuGraphCreate(&h, 0));
    at("fill", fill_node(&a, g, NULL, 0, d, 1));
    CUgraphExec y = NULL;
    at("instantiate", cuGraphInstantiate(&y, g, 0));
    at("begin", begin(s));
    at("update", cuGraphExecUpdate(x, g, &(CUgraphExecUpdateResultInfo){0}));
    at("exec_destroy", cuGraphExecDestroy(x));
    at("destroy", cuGraphDestroy(g));
}

static const struct one_case h_cases[] = {
    {"build_on", h_build_on},
    {"capture_on", h_capture_on},
    {"update_on", h_update_on},
    {"mem_free", h_mem_free},
    {"module_unload", h_module_unload},
    {"faults_between", h_faults_between},
};

static void group_h(void)
{
    run_table("H.", h_cases, COUNT(h_cases), false);
    h_fill_list();
    if (is_wanted("H."))
        run_cases(start_process, h_count, h_one);
}
