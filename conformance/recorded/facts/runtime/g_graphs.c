/* SPDX-License-Identifier: Apache-2.0 */
/* Group G: graphs, their nodes and instances, user objects. Part of ../runtime.c, which includes it. */

enum { G_BYTES = 64 };

static unsigned char g_host[G_BYTES];
static void *g_memory;
static char g_order[16];

static void CUDART_CB g_note(void *letter)
{
    strncat(g_order, letter, 1);
}

static cudaGraph_t g_new(void)
{
    cudaGraph_t graph = NULL;
    need(cudaGraphCreate(&graph, 0));
    if (!g_memory)
        need(cudaMalloc(&g_memory, G_BYTES));
    return graph;
}

static size_t g_nodes(cudaGraph_t graph)
{
    size_t count = 77;
    return cudaGraphGetNodes(graph, NULL, &count) == cudaSuccess ? count : 77;
}

static int g_type(cudaGraphNode_t node)
{
    enum cudaGraphNodeType type = (enum cudaGraphNodeType)77;
    return node && cudaGraphNodeGetType(node, &type) == cudaSuccess ? (int)type : 77;
}

static cudaGraphNode_t g_add(cudaGraph_t graph, const char *letter)
{
    const struct cudaHostNodeParams params = {g_note, (void *)(uintptr_t)letter};
    cudaGraphNode_t node = NULL;
    need(cudaGraphAddHostNode(&node, graph, NULL, 0, &params));
    return node;
}

static const char *g_launched(cudaGraphExec_t exec)
{
    g_order[0] = 0;
    need(cudaGraphLaunch(exec, NULL));
    need(cudaStreamSynchronize(NULL));
    return g_order;
}

/* 12 has these forms without the data of edges. */
#if CUDART_VERSION >= 13000
#define G_EDGES(graph, from, to, count) cudaGraphGetEdges(graph, from, to, NULL, count)
#define G_BEFORE(node, nodes, count) cudaGraphNodeGetDependencies(node, nodes, NULL, count)
#define G_AFTER(node, nodes, count) cudaGraphNodeGetDependentNodes(node, nodes, NULL, count)
#define G_JOIN(graph, from, to, count) cudaGraphAddDependencies(graph, from, to, NULL, count)
#define G_PART(graph, from, to, count) cudaGraphRemoveDependencies(graph, from, to, NULL, count)
#define G_ADD(node, graph, nodes, count, params) cudaGraphAddNode(node, graph, nodes, NULL, count, params)
#else
#define G_EDGES(graph, from, to, count) cudaGraphGetEdges(graph, from, to, count)
#define G_BEFORE(node, nodes, count) cudaGraphNodeGetDependencies(node, nodes, count)
#define G_AFTER(node, nodes, count) cudaGraphNodeGetDependentNodes(node, nodes, count)
#define G_JOIN(graph, from, to, count) cudaGraphAddDependencies(graph, from, to, count)
#define G_PART(graph, from, to, count) cudaGraphRemoveDependencies(graph, from, to, count)
#define G_ADD(node, graph, nodes, count, params) cudaGraphAddNode(node, graph, nodes, count, params)
#endif

/* ---- graphs ---- */

static void g_create(void)
{
    cudaGraph_t graph = (cudaGraph_t)0x77, clone = NULL;
    size_t count = 77;
    A("G.create.null(InvalidValue)", cudaGraphCreate(NULL, 0));
    for (unsigned i = 1; i < 4; i++) {
        graph = (cudaGraph_t)0x77;
        AV(with("G.create.flags.%u(InvalidValue)", i), cudaGraphCreate(&graph, i), "written=%d", graph != (cudaGraph_t)0x77);
    }
    A("G.create(Success)", cudaGraphCreate(&graph, 0));
    AV("G.nodes.none(Success)", cudaGraphGetNodes(graph, NULL, &count), "count=%zu", count);
    A("G.nodes.null.count", cudaGraphGetNodes(graph, NULL, NULL));
    A("G.nodes.null.graph", cudaGraphGetNodes(NULL, NULL, &count));
    AV("G.roots.none(Success)", cudaGraphGetRootNodes(graph, NULL, &count), "count=%zu", count);
    AV("G.clone(Success)", cudaGraphClone(&clone, graph), "other=%d", clone && clone != graph);
    A("G.clone.null(InvalidValue)", cudaGraphClone(NULL, graph));
    A("G.clone.null.graph(InvalidValue)", cudaGraphClone(&clone, NULL));
    A("G.destroy(Success)", cudaGraphDestroy(graph));
    A("G.destroy.null(InvalidValue)", cudaGraphDestroy(NULL));
    A("G.type.null", cudaGraphNodeGetType(NULL, &(enum cudaGraphNodeType){0}));
    A("G.node.destroy.null", cudaGraphDestroyNode(NULL));
}

static void g_destroyed(void)
{
    cudaGraph_t graph = g_new();
    need(cudaGraphDestroy(graph));
    A("G.destroy.twice", cudaGraphDestroy(graph));
}

static void g_edges(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphNode_t node[3], from[4] = {0}, to[4] = {0};
    size_t count = 77;
    for (int i = 0; i < 3; i++)
        A(with("G.edge.add.%d(Success)", i), cudaGraphAddEmptyNode(&node[i], graph, i == 1 ? node : NULL, i == 1));
    AV("G.edge.count(Success)", G_EDGES(graph, NULL, NULL, &count), "count=%zu", count);
    A("G.edge.join(Success)", G_JOIN(graph, &node[1], &node[2], 1));
    A("G.edge.join.again(InvalidValue)", G_JOIN(graph, &node[1], &node[2], 1));
    A("G.edge.join.self(InvalidValue)", G_JOIN(graph, &node[1], &node[1], 1));
    A("G.edge.join.cycle", G_JOIN(graph, &node[2], &node[0], 1));
    A("G.edge.part.cycle", G_PART(graph, &node[2], &node[0], 1));
    A("G.edge.join.null", G_JOIN(graph, NULL, NULL, 1));
    A("G.edge.join.none(Success)", G_JOIN(graph, NULL, NULL, 0));
    count = 4;
    AV("G.edge.list(Success)", G_EDGES(graph, from, to, &count), "count=%zu first=%d second=%d", count,
       from[0] == node[0] && to[0] == node[1], from[1] == node[1] && to[1] == node[2]);
    count = 4;
    AV("G.edge.before(Success)", G_BEFORE(node[1], from, &count), "count=%zu it=%d rest=%d", count, from[0] == node[0], from[1] == NULL);
    count = 4;
    AV("G.edge.after(Success)", G_AFTER(node[1], to, &count), "count=%zu it=%d", count, to[0] == node[2]);
    count = 4;
    AV("G.edge.roots(Success)", cudaGraphGetRootNodes(graph, from, &count), "count=%zu it=%d", count, from[0] == node[0]);
    count = 1;
    AV("G.edge.short(Success)", cudaGraphGetNodes(graph, from, &count), "count=%zu", count);
    A("G.edge.part(Success)", G_PART(graph, &node[1], &node[2], 1));
    A("G.edge.part.again(InvalidValue)", G_PART(graph, &node[1], &node[2], 1));
    A("G.edge.before.null", G_BEFORE(NULL, NULL, &count));
    A("G.edge.after.null", G_AFTER(NULL, NULL, &count));
    A("G.edge.node.destroy(Success)", cudaGraphDestroyNode(node[0]));
    AV("G.edge.node.left(Success)", G_EDGES(graph, NULL, NULL, &count), "count=%zu nodes=%zu", count, g_nodes(graph));
    A("G.edge.same.twice", cudaGraphAddEmptyNode(&node[0], graph, (cudaGraphNode_t[]){node[1], node[1]}, 2));
    A("G.edge.missing", cudaGraphAddEmptyNode(&node[0], graph, NULL, 1));
    A("G.edge.null", cudaGraphAddEmptyNode(NULL, graph, NULL, 0));
    A("G.edge.null.graph", cudaGraphAddEmptyNode(&node[0], NULL, NULL, 0));
}

/* ---- nodes ---- */

static void g_host_node(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphNode_t node = NULL, none = (cudaGraphNode_t)0x77;
    struct cudaHostNodeParams params = {g_note, "a"}, read = {NULL, NULL};
    AV("G.host.add(Success)", cudaGraphAddHostNode(&node, graph, NULL, 0, &params), "type=%d", g_type(node));
    AV("G.host.get(Success)", cudaGraphHostNodeGetParams(node, &read), "same=%d", read.fn == g_note && read.userData == params.userData);
    A("G.host.get.null", cudaGraphHostNodeGetParams(node, NULL));
    A("G.host.set(Success)", cudaGraphHostNodeSetParams(node, &params));
    A("G.host.set.null", cudaGraphHostNodeSetParams(node, NULL));
    params.fn = NULL;
    AV("G.host.add.no_function", cudaGraphAddHostNode(&none, graph, NULL, 0, &params), "written=%d", none != (cudaGraphNode_t)0x77);
    A("G.host.set.no_function", cudaGraphHostNodeSetParams(node, &params));
    A("G.host.add.null", cudaGraphAddHostNode(&none, graph, NULL, 0, NULL));
    A("G.host.as_fill", cudaGraphMemsetNodeGetParams(node, &(struct cudaMemsetParams){.dst = NULL}));
    A("G.host.as_copy", cudaGraphMemcpyNodeGetParams(node, &(struct cudaMemcpy3DParms){.kind = cudaMemcpyDefault}));
    A("G.host.as_kernel", cudaGraphKernelNodeGetParams(node, &(struct cudaKernelNodeParams){.func = NULL}));
}

static void g_fill_node(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphNode_t node = NULL, none = NULL;
    struct cudaMemsetParams params = {.dst = g_memory, .value = 7, .elementSize = 1, .width = G_BYTES, .height = 1}, read;
    AV("G.fill.add(Success)", cudaGraphAddMemsetNode(&node, graph, NULL, 0, &params), "type=%d", g_type(node));
    AV("G.fill.get(Success)", cudaGraphMemsetNodeGetParams(node, &read), "same=%d pitch=%zu value=%u size=%u width=%zu height=%zu",
       read.dst == g_memory, read.pitch, read.value, read.elementSize, read.width, read.height);
    A("G.fill.null", cudaGraphAddMemsetNode(&none, graph, NULL, 0, NULL));
    for (unsigned i = 0; i < 9; i++) {
        params.elementSize = i;
        params.width = 4;
        A(with("G.fill.size.%u", i), cudaGraphAddMemsetNode(&none, graph, NULL, 0, &params));
    }
    params.elementSize = 1;
    params.value = 256;
    A("G.fill.value.256", cudaGraphAddMemsetNode(&none, graph, NULL, 0, &params));
    params.value = 1;
    params.width = 0;
    A("G.fill.width.0", cudaGraphAddMemsetNode(&none, graph, NULL, 0, &params));
    params.width = 4;
    params.height = 0;
    A("G.fill.height.0", cudaGraphAddMemsetNode(&none, graph, NULL, 0, &params));
    params.height = 2;
    A("G.fill.pitch.0", cudaGraphAddMemsetNode(&none, graph, NULL, 0, &params));
    params.height = 1;
    params.dst = NULL;
    A("G.fill.nowhere", cudaGraphAddMemsetNode(&none, graph, NULL, 0, &params));
}

static void g_show_copy(const char *id, cudaGraphNode_t node, const void *from, const void *to)
{
    struct cudaMemcpy3DParms read;
    memset(&read, 0x11, sizeof read);
    AV(id, cudaGraphMemcpyNodeGetParams(node, &read), "from=%d,%zu,%zu,%zu to=%d,%zu,%zu,%zu extent=%zu,%zu,%zu kind=%d arrays=%d",
       read.srcPtr.ptr == from, read.srcPtr.pitch, read.srcPtr.xsize, read.srcPtr.ysize, read.dstPtr.ptr == to, read.dstPtr.pitch,
       read.dstPtr.xsize, read.dstPtr.ysize, read.extent.width, read.extent.height, read.extent.depth, (int)read.kind,
       read.srcArray || read.dstArray);
}

static void g_copy_node(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphNode_t node = NULL, none = NULL;
    struct cudaMemcpy3DParms params = {.srcPtr = {g_host, 16, 15, 4}, .dstPtr = {g_memory, 16, 14, 4}, .extent = {12, 3, 1},
                                       .kind = cudaMemcpyHostToDevice};
    AV("G.copy.add(Success)", cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &params), "type=%d", g_type(node));
    g_show_copy("G.copy.get(Success)", node, g_host, g_memory);
    params.kind = cudaMemcpyDefault;
    A("G.copy.set(Success)", cudaGraphMemcpyNodeSetParams(node, &params));
    g_show_copy("G.copy.set.get(Success)", node, g_host, g_memory);
    A("G.copy.null", cudaGraphAddMemcpyNode(&none, graph, NULL, 0, NULL));
    for (int kind = -1; kind < 6; kind++) {
        none = NULL;
        A(with("G.copy.span.%d", kind), cudaGraphAddMemcpyNode1D(&none, graph, NULL, 0, g_memory, g_host, 8, (enum cudaMemcpyKind)kind));
        if (none)
            g_show_copy(with("G.copy.span.%d.get", kind), none, g_host, g_memory);
    }
    A("G.copy.span.count.0", cudaGraphAddMemcpyNode1D(&none, graph, NULL, 0, g_memory, g_host, 0, cudaMemcpyDefault));
    A("G.copy.span.nowhere", cudaGraphAddMemcpyNode1D(&none, graph, NULL, 0, NULL, g_host, 8, cudaMemcpyDefault));
    A("G.copy.span.from_nowhere", cudaGraphAddMemcpyNode1D(&none, graph, NULL, 0, g_memory, NULL, 8, cudaMemcpyDefault));
    params.kind = (enum cudaMemcpyKind)9;
    A("G.copy.kind.9", cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params));
    params.kind = cudaMemcpyDefault;
    params.extent.depth = 5;
    A("G.copy.taller", cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params));
    params.extent.depth = 1;
    params.dstPtr.ysize = 1;
    A("G.copy.ysize", cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params));
    params.dstPtr.ysize = 4;
    params.extent.width = 17;
    A("G.copy.pitch", cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params));
    params.extent = (struct cudaExtent){0, 0, 0};
    A("G.copy.extent.0", cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params));
    A("G.copy.symbol", cudaGraphAddMemcpyNodeToSymbol(&none, graph, NULL, 0, g_host, g_memory, 4, 0, cudaMemcpyDefault));
    A("G.copy.symbol.direction", cudaGraphAddMemcpyNodeToSymbol(&none, graph, NULL, 0, g_host, g_memory, 4, 0, cudaMemcpyDeviceToHost));
    A("G.copy.from_symbol", cudaGraphAddMemcpyNodeFromSymbol(&none, graph, NULL, 0, g_memory, g_host, 4, 0, cudaMemcpyDefault));
}

static void g_kernel_node(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphNode_t none = NULL;
    struct cudaKernelNodeParams params = {.func = NULL, .gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}};
    A("G.kernel.null", cudaGraphAddKernelNode(&none, graph, NULL, 0, NULL));
    A("G.kernel.no_function", cudaGraphAddKernelNode(&none, graph, NULL, 0, &params));
}

/* An address that was never registered: taken for a kernel of the driver's. */
static void g_kernel_unknown(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphNode_t none = NULL;
    struct cudaKernelNodeParams params = {.func = g_host, .gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}};
    A("G.kernel.unknown", cudaGraphAddKernelNode(&none, graph, NULL, 0, &params));
}

static void g_event_nodes(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphNode_t record = NULL, wait = NULL, none = NULL;
    cudaEvent_t event = NULL, read = NULL;
    need(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    AV("G.event.record(Success)", cudaGraphAddEventRecordNode(&record, graph, NULL, 0, event), "type=%d", g_type(record));
    AV("G.event.wait(Success)", cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event), "type=%d", g_type(wait));
    AV("G.event.record.get(Success)", cudaGraphEventRecordNodeGetEvent(record, &read), "same=%d", read == event);
    AV("G.event.wait.get(Success)", cudaGraphEventWaitNodeGetEvent(wait, &read), "same=%d", read == event);
    A("G.event.wait.of_record", cudaGraphEventWaitNodeGetEvent(record, &read));
    A("G.event.record.null", cudaGraphAddEventRecordNode(&none, graph, NULL, 0, NULL));
    A("G.event.record.set.null", cudaGraphEventRecordNodeSetEvent(record, NULL));
    A("G.event.record.get.null", cudaGraphEventRecordNodeGetEvent(record, NULL));
    A("G.event.record.set(Success)", cudaGraphEventRecordNodeSetEvent(record, event));
    A("G.event.wait.set(Success)", cudaGraphEventWaitNodeSetEvent(wait, event));
}

static void g_child_node(void)
{
    cudaGraph_t graph = g_new(), child = g_new(), inside = NULL, clone = NULL;
    cudaGraphNode_t node = NULL, found = NULL, leaf = g_add(child, "c");
    cudaGraphExec_t exec = NULL;
    AV("G.child.add(Success)", cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child), "type=%d", g_type(node));
    AV("G.child.get(Success)", cudaGraphChildGraphNodeGetGraph(node, &inside), "other=%d nodes=%zu", inside && inside != child,
       inside ? g_nodes(inside) : 77);
    A("G.child.self", cudaGraphAddChildGraphNode(&found, graph, NULL, 0, graph));
    A("G.child.null", cudaGraphAddChildGraphNode(&found, graph, NULL, 0, NULL));
    A("G.child.destroy", cudaGraphDestroy(inside));
    need(cudaGraphClone(&clone, graph));
    AV("G.child.find(Success)", cudaGraphNodeFindInClone(&found, node, clone), "other=%d", found && found != node);
    A("G.child.find.leaf", cudaGraphNodeFindInClone(&found, leaf, clone));
    A("G.child.find.original", cudaGraphNodeFindInClone(&found, node, graph));
    need(cudaGraphInstantiate(&exec, graph, 0));
    say("G.child.launched", "%s", g_launched(exec));
}

static void g_memory_nodes(void)
{
    cudaGraph_t graph = g_new(), clone = NULL;
    cudaGraphNode_t alloc = NULL, release = NULL, none = NULL;
    cudaGraphExec_t exec = NULL, other = NULL;
    struct cudaMemAllocNodeParams params = {
        .poolProps = {.allocType = cudaMemAllocationTypePinned, .location = {cudaMemLocationTypeDevice, 0}}, .bytesize = 1 << 20};
    struct cudaMemAllocNodeParams read;
    void *at = NULL;
    unsigned long long value = 77;
    AV("G.memory.add(Success)", cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params), "type=%d at=%d", g_type(alloc), params.dptr != NULL);
    AV("G.memory.get(Success)", cudaGraphMemAllocNodeGetParams(alloc, &read), "same=%d size=%zu", read.dptr == params.dptr, read.bytesize);
    AV("G.memory.free(Success)", cudaGraphAddMemFreeNode(&release, graph, &alloc, 1, params.dptr), "type=%d", g_type(release));
    AV("G.memory.free.get(Success)", cudaGraphMemFreeNodeGetParams(release, &at), "same=%d", at == params.dptr);
    A("G.memory.free.twice", cudaGraphAddMemFreeNode(&none, graph, &release, 1, params.dptr));
    A("G.memory.free.other", cudaGraphAddMemFreeNode(&none, graph, NULL, 0, g_memory));
    A("G.memory.clone", cudaGraphClone(&clone, graph));
    A("G.memory.node.destroy", cudaGraphDestroyNode(alloc));
    A("G.memory.add.null", cudaGraphAddMemAllocNode(&none, graph, NULL, 0, NULL));
    params.bytesize = 0;
    A("G.memory.add.0", cudaGraphAddMemAllocNode(&none, graph, NULL, 0, &params));
    params.bytesize = 64;
    params.poolProps.location.id = 99;
    A("G.memory.add.device", cudaGraphAddMemAllocNode(&none, graph, NULL, 0, &params));
    A("G.memory.instantiate(Success)", cudaGraphInstantiate(&exec, graph, 0));
    A("G.memory.instantiate.twice", cudaGraphInstantiate(&other, graph, 0));
    say("G.memory.launched", "%s", g_launched(exec));
    for (int i = 0; i < 5; i++) {
        value = 77;
        AV(with("G.memory.attribute.%d", i), cudaDeviceGetGraphMemAttribute(0, (enum cudaGraphMemAttributeType)i, &value), "value=%llu", value);
        value = 0;
        A(with("G.memory.attribute.%d.set", i), cudaDeviceSetGraphMemAttribute(0, (enum cudaGraphMemAttributeType)i, &value));
    }
    A("G.memory.attribute.device", cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemHigh, &value));
    A("G.memory.trim(Success)", cudaDeviceGraphMemTrim(0));
    A("G.memory.trim.device", cudaDeviceGraphMemTrim(99));
}

static void g_any_node(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphNode_t node = NULL, none = NULL;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeMemset,
                                         .memset = {.dst = g_memory, .value = 1, .elementSize = 1, .width = 4, .height = 1}};
    AV("G.any.fill(Success)", G_ADD(&node, graph, NULL, 0, &params), "type=%d", g_type(node));
    A("G.any.fill.set(Success)", cudaGraphNodeSetParams(node, &params));
    params.reserved0[1] = 1;
    A("G.any.reserved0", G_ADD(&none, graph, NULL, 0, &params));
    params.reserved0[1] = 0;
    params.reserved2 = 1;
    A("G.any.reserved2", G_ADD(&none, graph, NULL, 0, &params));
    params.reserved2 = 0;
    params.reserved1[28] = 1;
    A("G.any.reserved1", G_ADD(&none, graph, NULL, 0, &params));
    params = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeMemcpy};
    params.memcpy.copyParams = (struct cudaMemcpy3DParms){.srcPtr = {g_host, 16, 16, 1}, .dstPtr = {g_memory, 16, 16, 1},
                                                          .extent = {16, 1, 1}, .kind = cudaMemcpyHostToDevice};
    AV("G.any.copy(Success)", G_ADD(&none, graph, &node, 1, &params), "type=%d", g_type(none));
    params.memcpy.flags = 1;
    A("G.any.copy.flags", G_ADD(&none, graph, &node, 1, &params));
    params.memcpy.flags = 0;
    params.memcpy.reserved[1] = 1;
    A("G.any.copy.reserved", G_ADD(&none, graph, &node, 1, &params));
    for (int type = -1; type < 15; type++) {
        params = (struct cudaGraphNodeParams){.type = (enum cudaGraphNodeType)type};
        A(with("G.any.nothing.%d", type), G_ADD(&none, graph, NULL, 0, &params));
    }
    params = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeEmpty};
    params.reserved1[0] = 1;
    A("G.any.empty.reserved1", G_ADD(&none, graph, NULL, 0, &params));
    A("G.any.null", G_ADD(&none, graph, NULL, 0, NULL));
    A("G.any.set.null", cudaGraphNodeSetParams(node, NULL));
    params = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeHost, .host = {g_note, "h"}};
    A("G.any.set.other_type", cudaGraphNodeSetParams(node, &params));
}

/* ---- instances ---- */

static void g_instances(void)
{
    cudaGraph_t graph = g_new(), other = g_new();
    cudaGraphNode_t node = g_add(graph, "a");
    cudaGraphExec_t exec = NULL, none = (cudaGraphExec_t)0x77;
    unsigned long long flags = 77;
    unsigned enabled = 77;
    cudaGraphExecUpdateResultInfo info = {.result = (enum cudaGraphExecUpdateResult)77};
    struct cudaHostNodeParams params = {g_note, "b"};
    A("G.exec.instantiate(Success)", cudaGraphInstantiate(&exec, graph, 0));
    AV("G.exec.flags(Success)", cudaGraphExecGetFlags(exec, &flags), "flags=%llu", flags);
    A("G.exec.flags.null", cudaGraphExecGetFlags(exec, NULL));
    for (unsigned i = 1; i < 33; i *= 2)
        AV(with("G.exec.instantiate.%u", i), cudaGraphInstantiateWithFlags(&none, graph, i), "written=%d", none != (cudaGraphExec_t)0x77);
    A("G.exec.instantiate.null(InvalidValue)", cudaGraphInstantiate(NULL, graph, 0));
    A("G.exec.instantiate.null.graph(InvalidValue)", cudaGraphInstantiate(&none, NULL, 0));
    say("G.exec.launched", "%s", g_launched(exec));
    A("G.exec.upload(Success)", cudaGraphUpload(exec, NULL));
    A("G.exec.launch.null(InvalidValue)", cudaGraphLaunch(NULL, NULL));
    A("G.exec.upload.null", cudaGraphUpload(NULL, NULL));
    A("G.exec.host(Success)", cudaGraphExecHostNodeSetParams(exec, node, &params));
    say("G.exec.host.launched", "%s", g_launched(exec));
    A("G.exec.disable", cudaGraphNodeSetEnabled(exec, node, 0));
    AV("G.exec.enabled", cudaGraphNodeGetEnabled(exec, node, &enabled), "enabled=%u", enabled);
    g_add(other, "o");
    AV("G.exec.update(Success)", cudaGraphExecUpdate(exec, other, &info), "result=%d order=%s", (int)info.result, g_launched(exec));
    cudaGraphNode_t more = g_add(other, "p");
    AV("G.exec.update.more(GraphExecUpdateFailure)", cudaGraphExecUpdate(exec, other, &info), "result=%d node=%s from=%d", (int)info.result,
       !info.errorNode ? "none" : info.errorNode == more ? "new" : "other", info.errorFromNode != NULL);
    A("G.exec.update.null", cudaGraphExecUpdate(exec, other, NULL));
    A("G.exec.update.null.graph", cudaGraphExecUpdate(exec, NULL, &info));
    A("G.exec.destroy(Success)", cudaGraphExecDestroy(exec));
    A("G.exec.destroy.null", cudaGraphExecDestroy(NULL));
}

static void g_exec_params(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphNode_t fill = NULL, copy = NULL, rows = NULL, wrong = g_add(graph, "w");
    cudaGraphExec_t exec = NULL;
    unsigned enabled = 77;
    struct cudaMemsetParams params = {.dst = g_memory, .value = 1, .elementSize = 1, .width = 4, .height = 1};
    struct cudaMemcpy3DParms layers = {.srcPtr = {g_host, 16, 16, 4}, .dstPtr = {g_memory, 16, 16, 4}, .extent = {12, 3, 1},
                                       .kind = cudaMemcpyHostToDevice};
    need(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &params));
    need(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, g_host, g_memory, 4, cudaMemcpyDeviceToHost));
    need(cudaGraphAddMemcpyNode(&rows, graph, NULL, 0, &layers));
    need(cudaGraphInstantiate(&exec, graph, 0));
    params.value = 2;
    A("G.set.fill(Success)", cudaGraphExecMemsetNodeSetParams(exec, fill, &params));
    params.width = 8;
    A("G.set.fill.wider", cudaGraphExecMemsetNodeSetParams(exec, fill, &params));
    params.height = 2;
    params.pitch = 16;
    A("G.set.fill.rows", cudaGraphExecMemsetNodeSetParams(exec, fill, &params));
    A("G.set.fill.other_node", cudaGraphExecMemsetNodeSetParams(exec, wrong, &params));
    A("G.set.fill.null", cudaGraphExecMemsetNodeSetParams(exec, fill, NULL));
    A("G.set.copy(Success)", cudaGraphExecMemcpyNodeSetParams1D(exec, copy, g_host + 8, g_memory, 4, cudaMemcpyDeviceToHost));
    A("G.set.copy.direction", cudaGraphExecMemcpyNodeSetParams1D(exec, copy, g_memory, g_host, 4, cudaMemcpyHostToDevice));
    A("G.set.copy.default", cudaGraphExecMemcpyNodeSetParams1D(exec, copy, g_host, g_memory, 4, cudaMemcpyDefault));
    A("G.set.copy.0", cudaGraphExecMemcpyNodeSetParams1D(exec, copy, g_host, g_memory, 0, cudaMemcpyDeviceToHost));
    A("G.set.rows", cudaGraphExecMemcpyNodeSetParams(exec, rows, &layers));
    A("G.set.rows.of_span", cudaGraphExecMemcpyNodeSetParams(exec, copy, &layers));
    A("G.set.disable(Success)", cudaGraphNodeSetEnabled(exec, fill, 0));
    AV("G.set.enabled(Success)", cudaGraphNodeGetEnabled(exec, fill, &enabled), "enabled=%u", enabled);
    A("G.set.enabled.null", cudaGraphNodeGetEnabled(exec, fill, NULL));
}

static void g_with_params(void)
{
    cudaGraph_t graph = g_new();
    cudaGraphExec_t exec = NULL;
    cudaGraphInstantiateParams params = {.flags = 0, .errNode_out = (cudaGraphNode_t)0x77,
                                         .result_out = (cudaGraphInstantiateResult)77};
    g_add(graph, "a");
    AV("G.with(Success)", cudaGraphInstantiateWithParams(&exec, graph, &params), "result=%d node=%s", (int)params.result_out,
       !params.errNode_out ? "none" : params.errNode_out == (cudaGraphNode_t)0x77 ? "unchanged" : "one");
    params.flags = cudaGraphInstantiateFlagUpload;
    A("G.with.upload", cudaGraphInstantiateWithParams(&exec, graph, &params));
    params.flags = 0x100;
    AV("G.with.flags", cudaGraphInstantiateWithParams(&exec, graph, &params), "result=%d", (int)params.result_out);
    A("G.with.null", cudaGraphInstantiateWithParams(&exec, graph, NULL));
}

/* ---- user objects ---- */

static int g_gone;

static void CUDART_CB g_count(void *user)
{
    (void)user;
    g_gone++;
}

static void g_objects(void)
{
    cudaGraph_t graph = g_new();
    cudaUserObject_t object = NULL, none = NULL;
    A("G.object.create(Success)", cudaUserObjectCreate(&object, &g_gone, g_count, 1, cudaUserObjectNoDestructorSync));
    A("G.object.create.flags(InvalidValue)", cudaUserObjectCreate(&none, &g_gone, g_count, 1, 0));
    A("G.object.create.none", cudaUserObjectCreate(&none, &g_gone, g_count, 0, cudaUserObjectNoDestructorSync));
    A("G.object.create.no_function", cudaUserObjectCreate(&none, &g_gone, NULL, 1, cudaUserObjectNoDestructorSync));
    A("G.object.create.no_value", cudaUserObjectCreate(&none, NULL, g_count, 1, cudaUserObjectNoDestructorSync));
    A("G.object.create.null", cudaUserObjectCreate(NULL, &g_gone, g_count, 1, cudaUserObjectNoDestructorSync));
    A("G.object.retain(Success)", cudaUserObjectRetain(object, 2));
    A("G.object.retain.0", cudaUserObjectRetain(object, 0));
    A("G.object.retain.null", cudaUserObjectRetain(NULL, 1));
    A("G.object.graph(Success)", cudaGraphRetainUserObject(graph, object, 1, 0));
    A("G.object.graph.move(Success)", cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    A("G.object.graph.flags", cudaGraphRetainUserObject(graph, object, 1, 2));
    A("G.object.graph.release(Success)", cudaGraphReleaseUserObject(graph, object, 1));
    A("G.object.graph.release.many", cudaGraphReleaseUserObject(graph, object, 9));
    AV("G.object.release(Success)", cudaUserObjectRelease(object, 2), "gone=%d", g_gone);
    AV("G.object.graph.destroy(Success)", cudaGraphDestroy(graph), "gone=%d", g_gone);
}

static void g_picture(void)
{
    char path[] = "/tmp/g_picture_XXXXXX", text[8192] = "";
    cudaGraph_t graph = g_new();
    int fd = mkstemp(path);
    g_add(graph, "a");
    AV("G.picture(Success)", cudaGraphDebugDotPrint(graph, path, 0), "digraph=%d",
       read(fd, text, sizeof text - 1) > 0 && strstr(text, "digraph") != NULL);
    A("G.picture.null", cudaGraphDebugDotPrint(graph, NULL, 0));
    A("G.picture.null.graph", cudaGraphDebugDotPrint(NULL, path, 0));
    A("G.picture.nowhere", cudaGraphDebugDotPrint(graph, "/nonexistent/picture", 0));
    close(fd);
    unlink(path);
}

static void group_g(void)
{
    surviving("G.create", g_create);
    surviving("G.destroy", g_destroyed);
    surviving("G.edge", g_edges);
    surviving("G.host", g_host_node);
    surviving("G.fill", g_fill_node);
    surviving("G.copy", g_copy_node);
    surviving("G.kernel", g_kernel_node);
    surviving("G.kernel.unknown", g_kernel_unknown);
    surviving("G.event", g_event_nodes);
    surviving("G.child", g_child_node);
    surviving("G.memory", g_memory_nodes);
    surviving("G.any", g_any_node);
    surviving("G.exec", g_instances);
    surviving("G.set", g_exec_params);
    surviving("G.with", g_with_params);
    surviving("G.object", g_objects);
    surviving("G.picture", g_picture);
}
