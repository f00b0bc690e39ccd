/* SPDX-License-Identifier: Apache-2.0 */
/* Group F: memory that a graph allocates and frees. Part of ../graphs.c, which includes it. */

static u64 f_attribute(int which)
{
    u64 value = 77;
    CUresult r = cuDeviceGetGraphMemAttribute(0, (CUgraphMem_attribute)which, &value);
    return r ? (u64)r + 1000000 : value;
}

static void f_memory(const char *step)
{
    val(step, "used=%llu high=%llu reserved=%llu reserved_high=%llu", f_attribute(0), f_attribute(1), f_attribute(2),
        f_attribute(3));
}

/* What an address is: its kind, its range, and the rights of the device. */
static void f_describe(const char *step, CUdeviceptr p)
{
    unsigned type = 77, mapped = 77;
    int ordinal = 77, is_managed = 77;
    CUdeviceptr base = 77, start = 77;
    size_t size = 77, range = 77;
    u64 id = 0, rights = 77, pool = 77;
    CUmemLocation where = loc_at(L_DEVICE, 0);
    CUcontext ctx = NULL;
    CUresult type_r = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
    CUresult ordinal_r = cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p);
    CUresult mapped_r = cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, p);
    CUresult start_r = cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p);
    CUresult range_r = cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p);
    CUresult id_r = cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, p);
    CUresult managed_r = cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p);
    CUresult ctx_r = cuPointerGetAttribute(&ctx, CU_POINTER_ATTRIBUTE_CONTEXT, p);
    CUresult pool_r = cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p);
    CUresult base_r = cuMemGetAddressRange(&base, &size, p);
    CUresult rights_r = cuMemGetAccess(&rights, &where, p);
    Handle h = 0;
    CUresult retain_r = cuMemRetainAllocationHandle(&h, (void *)(uintptr_t)p);
    val(step, "type=%s,%u ordinal=%s,%d mapped=%s,%u start=%s,%lld size=%s,%zu id=%s managed=%s,%d ctx=%s,%d pool=%s,%d "
        "range=%s,%s,%zu access=%s,%llu retain=%s",
        name_of(type_r), type, name_of(ordinal_r), ordinal, name_of(mapped_r), mapped, name_of(start_r),
        start == 77 ? 77 : (i64)(p - start), name_of(range_r), range, name_of(id_r), name_of(managed_r), is_managed,
        name_of(ctx_r), ctx == primary[0] ? 1 : ctx ? 2 : 0, name_of(pool_r), pool == 77 ? 77 : pool != 0, name_of(base_r),
        base == 77 ? "-" : base == 0 ? "0" : base == p ? "base" : "inside", size, name_of(rights_r), rights, name_of(retain_r));
}

/* alloc > fill > copy to d > free */
static CUgraph f_life(CUdeviceptr *p, size_t size)
{
    CUgraph g = new_graph();
    CUgraphNode n[4];
    at("alloc", alloc_node(&n[0], g, NULL, 0, size, p));
    at("fill", fill_node(&n[1], g, &n[0], 1, *p, 0x51));
    at("copy", copy_node(&n[2], g, &n[1], 1, d, *p));
    at("free", cuGraphAddMemFreeNode(&n[3], g, &n[2], 1, *p));
    return g;
}

static void f_lives(void)
{
    CUdeviceptr p = 0;
    f_memory("first");
    size_t before = 0, total = 0, after = 0;
    cuMemGetInfo(&before, &total);
    CUgraph g = f_life(&p, G);
    f_describe("made", p);
    f_memory("made.memory");
    CUgraphExec x = new_exec(g);
    f_describe("instantiated", p);
    f_memory("instantiated.memory");
    at("upload", cuGraphUpload(x, s));
    at("upload.sync", cuStreamSynchronize(s));
    f_memory("uploaded.memory");
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word(0));
    f_describe("launched", p);
    f_memory("launched.memory");
    at("launch2", cuGraphLaunch(x, s));
    at("sync2", cuStreamSynchronize(s));
    f_memory("launched2.memory");
    at("trim", cuDeviceGraphMemTrim(0));
    f_memory("trimmed.memory");
    at("launch3", cuGraphLaunch(x, s));
    at("sync3", cuStreamSynchronize(s));
    f_memory("launched3.memory");
    at("exec_destroy", cuGraphExecDestroy(x));
    f_memory("exec_destroyed.memory");
    at("trim2", cuDeviceGraphMemTrim(0));
    f_memory("trimmed2.memory");
    f_describe("exec_destroyed", p);
    at("destroy", cuGraphDestroy(g));
    f_describe("destroyed", p);
    cuMemGetInfo(&after, &total);
    val("free_memory", "%+lld", (i64)after - (i64)before);
}

/* Without a free node, the memory outlives the launch. */
static CUgraph f_open(CUdeviceptr *p, size_t size)
{
    CUgraph g = new_graph();
    CUgraphNode n[2];
    at("alloc", alloc_node(&n[0], g, NULL, 0, size, p));
    at("fill", fill_node(&n[1], g, &n[0], 1, *p, 0x52));
    return g;
}

static void f_left(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G);
    CUgraphExec x = new_exec(g), y = NULL;
    at("second_exec", cuGraphInstantiate(&y, g, 0));
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word_in(p));
    f_describe("launched", p);
    f_memory("launched.memory");
    at("again", cuGraphLaunch(x, s));
    at("sync2", cuStreamSynchronize(s));
    at("update", cuGraphExecUpdate(x, g, &(CUgraphExecUpdateResultInfo){0}));
    at("free", cuMemFree(p));
    f_describe("freed", p);
    f_memory("freed.memory");
    at("free_twice", cuMemFree(p));
    at("launch3", cuGraphLaunch(x, s));
    at("sync3", cuStreamSynchronize(s));
    val("word3", "%s", word_in(p));
    at("free_async", a_by_name("cuMemFreeAsync", p, as_u64(s), 0, 0, 0));
    at("free_async_twice", a_by_name("cuMemFreeAsync", p, as_u64(s), 0, 0, 0));
    at("sync4", cuStreamSynchronize(s));
    at("launch5", cuGraphLaunch(x, s));
    at("sync5", cuStreamSynchronize(s));
    at("exec_destroy", cuGraphExecDestroy(x));
    f_describe("exec_destroyed", p);
    val("word5", "%s", word_in(p));
    at("destroy", cuGraphDestroy(g));
    f_describe("destroyed", p);
    val("word6", "%s", word_in(p));
    at("free_last", cuMemFree(p));
    f_memory("last.memory");
}

static void f_left_destroy_first(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G);
    CUgraphExec x = new_exec(g);
    at("destroy", cuGraphDestroy(g));
    f_describe("graph_destroyed", p);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word_in(p));
    at("exec_destroy", cuGraphExecDestroy(x));
    val("word2", "%s", word_in(p));
    at("free", cuMemFree(p));
    f_describe("freed", p);
}

static void f_auto_free(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G);
    CUgraphExec x = NULL;
    at("instantiate", cuGraphInstantiate(&x, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 3; i++) {
        at("launch", cuGraphLaunch(x, s));
        at("sync", cuStreamSynchronize(s));
        val("word", "%s", word_in(p));
        f_memory("memory");
    }
    at("free", cuMemFree(p));
    at("launch4", cuGraphLaunch(x, s));
    at("sync4", cuStreamSynchronize(s));
    at("exec_destroy", cuGraphExecDestroy(x));
    f_memory("end.memory");
}

/* The freeing node in another graph. */
static void f_two_graphs(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G), h = new_graph();
    CUgraphNode n[2];
    at("copy_node", copy_node(&n[0], h, NULL, 0, d, p));
    at("free_node", cuGraphAddMemFreeNode(&n[1], h, &n[0], 1, p));
    CUgraphExec x = new_exec(g), y = new_exec(h);
    at("free_first", cuGraphLaunch(y, s));
    at("sync0", cuStreamSynchronize(s));
    at("launch", cuGraphLaunch(x, s));
    at("launch_free", cuGraphLaunch(y, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word(0));
    f_describe("freed", p);
    f_memory("memory");
    at("free_again", cuGraphLaunch(y, s));
    at("sync2", cuStreamSynchronize(s));
    at("launch2", cuGraphLaunch(x, s));
    at("sync3", cuStreamSynchronize(s));
}

static void f_free_wrong(void)
{
    CUdeviceptr p = 0;
    CUgraph g = new_graph();
    CUgraphNode n[4];
    at("null", cuGraphAddMemFreeNode(&n[0], g, NULL, 0, 0));
    at("mem_alloc", cuGraphAddMemFreeNode(&n[0], g, NULL, 0, d));
    at("nowhere", cuGraphAddMemFreeNode(&n[0], g, NULL, 0, d + ((u64)1 << 44)));
    shape("shape", g);
    CUgraphExec x = new_exec(g);
    if (x) {
        at("launch", cuGraphLaunch(x, s));
        at("sync", cuStreamSynchronize(s));
    }
    CUgraph h = new_graph();
    alloc_node(&n[0], h, NULL, 0, G, &p);
    at("no_dependency", cuGraphAddMemFreeNode(&n[1], h, NULL, 0, p));
    at("inside", cuGraphAddMemFreeNode(&n[1], h, &n[0], 1, p + 4096));
    at("good", cuGraphAddMemFreeNode(&n[1], h, &n[0], 1, p));
    at("twice", cuGraphAddMemFreeNode(&n[2], h, &n[1], 1, p));
    shape("h", h);
    at("instantiate", cuGraphInstantiate(&x, h, 0));
}

static void f_no_order(void)
{
    CUdeviceptr p = 0;
    CUgraph h = new_graph();
    CUgraphNode n[4];
    alloc_node(&n[0], h, NULL, 0, G, &p);
    at("free", cuGraphAddMemFreeNode(&n[1], h, NULL, 0, p));
    CUgraphExec x = NULL;
    CUresult r = cuGraphInstantiate(&x, h, 0);
    at("instantiate", r);
    if (x) {
        at("launch", cuGraphLaunch(x, s));
        at("sync", cuStreamSynchronize(s));
    }
}

/* What a graph with memory nodes refuses. */
static void f_restrictions(void)
{
    CUdeviceptr p = 0, q = 0;
    CUgraph g = new_graph(), clone = NULL, outer = new_graph();
    CUgraphNode n[4], child = NULL;
    alloc_node(&n[0], g, NULL, 0, G, &p);
    fill_node(&n[1], g, &n[0], 1, p, 1);
    cuGraphAddMemFreeNode(&n[2], g, &n[1], 1, p);
    shape("shape", g);
    node_parameters("alloc", n[0]);
    CUdeviceptr freed = 0;
    CUresult r = cuGraphMemFreeNodeGetParams(n[2], &freed);
    val("free", "%s same=%d", name_of(r), freed == p);
    at("clone", cuGraphClone(&clone, g));
    at("child", cuGraphAddChildGraphNode(&child, outer, NULL, 0, g));
    at("remove_edge", cuGraphRemoveDependencies(g, &n[0], &n[1], NULL, 1));
    at("add_edge", cuGraphAddDependencies(g, &n[0], &n[2], NULL, 1));
    at("destroy_node", cuGraphDestroyNode(n[1]));
    at("destroy_alloc", cuGraphDestroyNode(n[0]));
    at("destroy_free", cuGraphDestroyNode(n[2]));
    shape("shape2", g);
    CUgraphExec x = new_exec(g), y = NULL;
    at("second", cuGraphInstantiate(&y, g, 0));
    if (y) {
        at("launch_x", cuGraphLaunch(x, s));
        at("launch_y", cuGraphLaunch(y, s));
        at("sync", cuStreamSynchronize(s));
    }
    at("exec_destroy", cuGraphExecDestroy(x));
    at("third", cuGraphInstantiate(&y, g, 0));
    CUgraph h = new_graph();
    alloc_node(&n[0], h, NULL, 0, G, &q);
    val("other_address", "%d", p != q);
    CUgraphExecUpdateResultInfo info;
    memset(&info, 0, sizeof info);
    r = cuGraphExecUpdate(y, h, &info);
    val("update", "%s %d", name_of(r), (int)info.result);
    r = cuGraphExecUpdate(y, g, &info);
    val("update_same", "%s %d", name_of(r), (int)info.result);
    at("set_enabled", cuGraphNodeSetEnabled(y, n[1], 0));
}

static void f_clone_of_alloc(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G), clone = NULL;
    at("clone", cuGraphClone(&clone, g));
    if (!clone)
        return;
    CUgraphNode list[4];
    size_t count = 4;
    cuGraphGetNodes(clone, list, &count);
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    at("get", cuGraphMemAllocNodeGetParams(list[0], &params));
    val("same", "%d", params.dptr == p);
    CUgraphExec x = new_exec(g), y = NULL;
    at("exec_clone", cuGraphInstantiate(&y, clone, 0));
    if (!y)
        return;
    at("launch", cuGraphLaunch(x, s));
    at("launch_clone", cuGraphLaunch(y, s));
    at("sync", cuStreamSynchronize(s));
}

/* Memory in one graph, used and freed before another is allocated: the same addresses, or other ones over the same memory? */
static void f_reuse(void)
{
    CUdeviceptr p = 0, q = 0, r_ = 0;
    CUgraph g = new_graph();
    CUgraphNode n[6];
    alloc_node(&n[0], g, NULL, 0, 4 * G, &p);
    cuGraphAddMemFreeNode(&n[1], g, &n[0], 1, p);
    alloc_node(&n[2], g, &n[1], 1, 4 * G, &q);
    cuGraphAddMemFreeNode(&n[3], g, &n[2], 1, q);
    alloc_node(&n[4], g, NULL, 0, 4 * G, &r_);
    cuGraphAddMemFreeNode(&n[5], g, &n[4], 1, r_);
    val("ordered", "same=%d", p == q);
    val("parallel", "same=%d", p == r_ || q == r_);
    shape("shape", g);
    CUgraphExec x = new_exec(g);
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    f_memory("memory");
    CUgraph h = new_graph();
    CUdeviceptr u = 0;
    alloc_node(&n[0], h, NULL, 0, 4 * G, &u);
    val("other_graph", "same=%d", u == p || u == q || u == r_);
    CUgraphExec y = new_exec(h);
    at("launch_h", cuGraphLaunch(y, s));
    at("sync_h", cuStreamSynchronize(s));
    f_memory("memory_h");
    at("launch_both", cuGraphLaunch(x, s));
    at("sync_both", cuStreamSynchronize(s));
    f_memory("memory_both");
    cuMemFree(u);
    f_memory("memory_end");
    at("trim", cuDeviceGraphMemTrim(0));
    f_memory("memory_trimmed");
}

static void f_sizes(void)
{
    static const size_t sizes[] = {1, 512, 4096, 65536, 1 << 20, 2 << 20, (2 << 20) + 1, 32 << 20, 33 << 20, 64 << 20, (size_t)1 << 30};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char step[32];
        CUgraph g = new_graph();
        CUgraphNode n[2];
        CUdeviceptr p = 0, base = 0;
        size_t size = 0;
        CUresult r = alloc_node(&n[0], g, NULL, 0, sizes[i], &p);
        cuGraphAddMemFreeNode(&n[1], g, &n[0], 1, p);
        snprintf(step, sizeof step, "size%zu", sizes[i]);
        cuMemGetAddressRange(&base, &size, p);
        val(step, "%s align512=%d align2m=%d range=%zu", name_of(r), p % 512 == 0, p % G == 0, size);
        CUgraphExec x = new_exec(g);
        cuGraphLaunch(x, s);
        snprintf(step, sizeof step, "size%zu.sync", sizes[i]);
        at(step, cuStreamSynchronize(s));
        snprintf(step, sizeof step, "size%zu.memory", sizes[i]);
        f_memory(step);
        cuGraphExecDestroy(x);
        cuGraphDestroy(g);
        cuDeviceGraphMemTrim(0);
        snprintf(step, sizeof step, "size%zu.trimmed", sizes[i]);
        f_memory(step);
        u64 zero = 0;
        cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero);
        cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero);
    }
}

static void f_alloc_wrong(void)
{
    CUgraph g = new_graph();
    CUgraphNode n = (CUgraphNode)(uintptr_t)77;
    CUDA_MEM_ALLOC_NODE_PARAMS good = alloc_params(4096), p;
    CUmemAccessDesc access = desc(L_DEVICE, 0, RW), host_access = desc(L_HOST, 0, RW);
#define F_WRONG(step, change)                                                                   \
    do {                                                                                        \
        p = good;                                                                               \
        change;                                                                                 \
        p.dptr = 77;                                                                            \
        CUresult wrong_ = cuGraphAddMemAllocNode(&n, g, NULL, 0, &p);                           \
        size_t nodes_ = 9;                                                                      \
        cuGraphGetNodes(g, NULL, &nodes_);                                                      \
        val(step, "%s address=%s nodes=%zu", name_of(wrong_), p.dptr == 77 ? "untouched" : p.dptr ? "set" : "0", nodes_); \
    } while (0)
    F_WRONG("size0", p.bytesize = 0);
    F_WRONG("huge", p.bytesize = (size_t)1 << 46);
    F_WRONG("max", p.bytesize = (size_t)-1);
    F_WRONG("type0", p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID);
    F_WRONG("type2", p.poolProps.allocType = (CUmemAllocationType)2);
    F_WRONG("location0", p.poolProps.location = loc_at(0, 0));
    F_WRONG("device99", p.poolProps.location.id = 99);
    F_WRONG("device-1", p.poolProps.location.id = -1);
    F_WRONG("host", p.poolProps.location = loc_at(L_HOST, 0));
    F_WRONG("numa", p.poolProps.location = loc_at(L_NUMA, 0));
    F_WRONG("handles", p.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    F_WRONG("max_size", p.poolProps.maxSize = 4096);
    F_WRONG("usage", p.poolProps.usage = 1);
    F_WRONG("reserved", p.poolProps.reserved[0] = 1);
    F_WRONG("access_self", (p.accessDescs = &access, p.accessDescCount = 1));
    F_WRONG("access_host", (p.accessDescs = &host_access, p.accessDescCount = 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    F_WRONG("access_read", (p.accessDescs = &access, p.accessDescCount = 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    F_WRONG("access_none", (p.accessDescs = &access, p.accessDescCount = 1));
    access = desc(L_DEVICE, 99, RW);
    access.location.id = 99;
    F_WRONG("access_device99", (p.accessDescs = &access, p.accessDescCount = 1));
    F_WRONG("good", (void)0);
    F_WRONG("access_null", p.accessDescCount = 1);
#undef F_WRONG
    at("null", cuGraphAddMemAllocNode(&n, g, NULL, 0, NULL));
}

static void f_attributes(void)
{
    u64 value = 77, zero = 0, one = 1;
    for (int which = -1; which <= 4; which++) {
        char step[32];
        value = 77;
        CUresult r = cuDeviceGetGraphMemAttribute(0, (CUgraphMem_attribute)which, &value);
        snprintf(step, sizeof step, "get%d", which);
        val(step, "%s %llu", name_of(r), value);
        snprintf(step, sizeof step, "set%d", which);
        at(step, cuDeviceSetGraphMemAttribute(0, (CUgraphMem_attribute)which, &zero));
        snprintf(step, sizeof step, "set%d.one", which);
        at(step, cuDeviceSetGraphMemAttribute(0, (CUgraphMem_attribute)which, &one));
    }
    at("null", cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, NULL));
    at("set_null", cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, NULL));
    at("device99", cuDeviceGetGraphMemAttribute(99, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
    at("device-1", cuDeviceGetGraphMemAttribute(-1, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
    at("trim99", cuDeviceGraphMemTrim(99));
    at("trim-1", cuDeviceGraphMemTrim(-1));
    at("trim", cuDeviceGraphMemTrim(0));
    cuCtxSetCurrent(NULL);
    at("no_ctx", cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
    at("no_ctx.trim", cuDeviceGraphMemTrim(0));
    cuCtxSetCurrent(primary[0]);
}

/* VMM and memory calls on the memory of a graph. */
static void f_vmm_calls(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G);
    CUgraphExec x = new_exec(g);
    for (int live = 0; live < 2; live++) {
        snprintf(case_prefix, sizeof case_prefix, live ? "F.live." : "F.idle.");
        if (live) {
            at("launch", cuGraphLaunch(x, s));
            at("sync", cuStreamSynchronize(s));
        }
        Handle h = make(G);
        at("map", cuMemMap(p, G, 0, h, 0));
        at("set_access", give(p, G, L_DEVICE, READ));
        at("address_free", cuMemAddressFree(p, G));
        at("unmap", cuMemUnmap(p, G));
        at("sync_fill", cuMemsetD32(p, 1, 1));
        int fd = 0;
        at("range_handle", cuMemGetHandleForAddressRange(&fd, p, G, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
        int yes = 1;
        at("sync_memops", cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
        at("middle", cuMemFree(p + 4096));
    }
    val("word", "%s", word_in(p));
    snprintf(case_prefix, sizeof case_prefix, "F.");
}

/* A fill of the memory outside the graph before its launch. */
static void f_early_use(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G);
    CUgraphExec x = new_exec(g);
    (void)x;
    at("fill", cuMemsetD32Async(p, 1, 1, s));
    at("sync", cuStreamSynchronize(s));
}

static void f_late_use(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_life(&p, G);
    launch_of(g);
    at("fill", cuMemsetD32Async(p, 1, 1, s));
    at("sync", cuStreamSynchronize(s));
}

static void f_late_use_trimmed(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_life(&p, G);
    launch_of(g);
    cuDeviceGraphMemTrim(0);
    at("fill", cuMemsetD32Async(p, 1, 1, s));
    at("sync", cuStreamSynchronize(s));
}

static void f_freed_use(void)
{
    CUdeviceptr p = 0;
    CUgraph g = f_open(&p, G);
    CUgraphExec x = launch_of(g);
    (void)x;
    at("free", cuMemFree(p));
    at("fill", cuMemsetD32Async(p, 1, 1, s));
    at("sync", cuStreamSynchronize(s));
}

/* The graph's node uses its memory after the free node. */
static void f_use_after_free(void)
{
    CUdeviceptr p = 0;
    CUgraph g = new_graph();
    CUgraphNode n[4];
    alloc_node(&n[0], g, NULL, 0, G, &p);
    at("free", cuGraphAddMemFreeNode(&n[1], g, &n[0], 1, p));
    at("fill", fill_node(&n[2], g, &n[1], 1, p, 4));
    CUgraphExec x = NULL;
    at("instantiate", cuGraphInstantiate(&x, g, 0));
    if (!x)
        return;
    at("launch", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
}

/* An instance without its graph, and the addresses of a graph that is gone. */
static void f_addresses(void)
{
    CUdeviceptr p = 0, q = 0, r_ = 0;
    CUgraph g = f_open(&p, G);
    cuGraphDestroy(g);
    f_describe("destroyed", p);
    g = f_open(&q, G);
    val("next", "same=%d", p == q);
    CUgraph h = f_open(&r_, G);
    val("third", "%+lld G", ((i64)r_ - (i64)q) / (i64)G);
    (void)h;
    CUdeviceptr big = 0;
    f_open(&big, 40 * G);
    val("big", "%d", big != 0);
    CUdeviceptr reserved = reserve(G);
    val("reserved", "near=%d", reserved - p < ((u64)1 << 40) || p - reserved < ((u64)1 << 40));
}

static void f_captured(void)
{
    CUdeviceptr p = 0;
    begin(s);
    at("alloc", a_by_name("cuMemAllocAsync", as_u64(&p), G, as_u64(s), 0, 0));
    f_describe("captured", p);
    cuMemsetD32Async(p, 0x61, 4, s);
    CUgraph g = end(s);
    CUgraphNode n = NULL;
    size_t count = 1;
    cuGraphGetRootNodes(g, &n, &count);
    node_parameters("node", n);
    CUgraphExec x = new_exec(g);
    at("launch", cuGraphLaunch(x, s));
    at("free", a_by_name("cuMemFreeAsync", p, as_u64(s), 0, 0, 0));
    at("launch2", cuGraphLaunch(x, s));
    at("sync", cuStreamSynchronize(s));
    val("word", "%s", word_in(p));
    f_memory("memory");
}

/* A pool's memory in a captured allocation keeps the pool's properties? */
static void f_captured_pool(void)
{
    CUmemPoolProps props;
    u64 pool = 0;
    CUdeviceptr p = 0;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = loc_at(L_DEVICE, 0);
    at("pool", a_by_name("cuMemPoolCreate", as_u64(&pool), as_u64(&props), 0, 0, 0));
    begin(s);
    at("alloc", a_by_name("cuMemAllocFromPoolAsync", as_u64(&p), G, pool, as_u64(s), 0));
    CUgraph g = end(s);
    at("pool_destroy", a_by_name("cuMemPoolDestroy", pool, 0, 0, 0, 0));
    CUgraphNode n = NULL;
    size_t count = 1;
    if (!g)
        return;
    cuGraphGetRootNodes(g, &n, &count);
    node_parameters("node", n);
    launch_of(g);
    f_describe("launched", p);
}

/* The budget of the device while graphs hold memory. */
static void f_budget(void)
{
    size_t before = 0, now = 0, total = 0;
    CUdeviceptr p = 0;
    cuMemGetInfo(&before, &total);
    CUgraph g = f_open(&p, 64 * G);
    cuMemGetInfo(&now, &total);
    val("made", "%+lld", (i64)now - (i64)before);
    CUgraphExec x = new_exec(g);
    cuMemGetInfo(&now, &total);
    val("instantiated", "%+lld", (i64)now - (i64)before);
    cuGraphLaunch(x, s);
    at("sync", cuStreamSynchronize(s));
    cuMemGetInfo(&now, &total);
    val("launched", "%+lld", (i64)now - (i64)before);
    cuMemFree(p);
    cuMemGetInfo(&now, &total);
    val("freed", "%+lld", (i64)now - (i64)before);
    cuDeviceGraphMemTrim(0);
    cuMemGetInfo(&now, &total);
    val("trimmed", "%+lld", (i64)now - (i64)before);
    cuGraphExecDestroy(x);
    cuDeviceGraphMemTrim(0);
    cuMemGetInfo(&now, &total);
    val("exec_destroyed", "%+lld", (i64)now - (i64)before);
    cuGraphDestroy(g);
    cuDeviceGraphMemTrim(0);
    cuMemGetInfo(&now, &total);
    val("destroyed", "%+lld", (i64)now - (i64)before);
    g = new_graph();
    CUgraphNode n;
    at("more", alloc_node(&n, g, NULL, 0, total * 2, &p));
    x = NULL;
    at("more.instantiate", cuGraphInstantiate(&x, g, 0));
    if (x) {
        at("more.launch", cuGraphLaunch(x, s));
        at("more.sync", cuStreamSynchronize(s));
    }
    g = new_graph();
    CUdeviceptr q = 0;
    at("two.alloc", alloc_node(&n, g, NULL, 0, total / 4 * 3, &p));
    CUgraph h = new_graph();
    at("two.alloc2", alloc_node(&n, h, NULL, 0, total / 4 * 3, &q));
    x = new_exec(g);
    CUgraphExec y = new_exec(h);
    at("two.launch", cuGraphLaunch(x, s));
    at("two.sync", cuStreamSynchronize(s));
    at("two.launch2", cuGraphLaunch(y, s));
    at("two.sync2", cuStreamSynchronize(s));
    at("two.free", cuMemFree(p));
    at("two.launch3", cuGraphLaunch(y, s));
    at("two.sync3", cuStreamSynchronize(s));
}

static const struct one_case f_cases[] = {
    {"lives", f_lives},
    {"left", f_left},
    {"left_destroy_first", f_left_destroy_first},
    {"auto_free", f_auto_free},
    {"two_graphs", f_two_graphs},
    {"free_wrong", f_free_wrong},
    {"no_order", f_no_order},
    {"restrictions", f_restrictions},
    {"clone_of_alloc", f_clone_of_alloc},
    {"reuse", f_reuse},
    {"sizes", f_sizes},
    {"alloc_wrong", f_alloc_wrong},
    {"attributes", f_attributes},
    {"vmm", f_vmm_calls},
    {"early_use", f_early_use},
    {"late_use", f_late_use},
    {"late_use_trimmed", f_late_use_trimmed},
    {"freed_use", f_freed_use},
    {"use_after_free", f_use_after_free},
    {"addresses", f_addresses},
    {"captured", f_captured},
    {"captured_pool", f_captured_pool},
    {"budget", f_budget},
};

static void group_f(void)
{
    run_table("F.", f_cases, COUNT(f_cases), true);
}
