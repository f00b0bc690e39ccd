/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on graphs when one request for memory fails: their targets stay as they were, and whatever they began is undone. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "testing/rig.h"

static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static CUgraph graph, inner;
static CUgraphNode node[4];
static CUgraphExec exec;
static CUevent event;
static CUresult code;
static unsigned char host[2][64];

static bool out_of_memory(void)
{
    return code == CUDA_ERROR_OUT_OF_MEMORY;
}

static bool done(CUresult result)
{
    return (code = result) == CUDA_SUCCESS;
}

static CUgraph new_graph(void)
{
    CUgraph made = NULL;
    return cuGraphCreate(&made, 0) == CUDA_SUCCESS ? made : NULL;
}

static size_t edge_count(void)
{
    size_t count = 99;
    cuGraphGetEdges(graph, NULL, NULL, NULL, &count);
    return count;
}

/* ---- edges: all of a call's edges, or none ---- */

static void three_nodes(void)
{
    graph = new_graph();
    for (int i = 0; i < 3; i++)
        cuGraphAddEmptyNode(&node[i], graph, NULL, 0);
}

static bool connect_both(void)
{
    const CUgraphNode from[] = {node[0], node[1]}, to[] = {node[2], node[2]};
    return done(cuGraphAddDependencies(graph, from, to, NULL, 2));
}

static bool connect_with_data(void)
{
    const CUgraphNode from[] = {node[0], node[0]}, to[] = {node[1], node[2]};
    const CUgraphEdgeData data[2] = {{0}, {0}};
    return done(cuGraphAddDependencies(graph, from, to, data, 2));
}

static bool both_or_none(void)
{
    bool whole = edge_count() == (code == CUDA_SUCCESS ? 2 : 0);
    return cuGraphDestroy(graph) == CUDA_SUCCESS && whole;
}

static void test_edges(void)
{
    inject_try(&(struct inject_case){.name = "two edges", .least = 4, .begin = three_nodes, .call = connect_both,
                                     .reported = out_of_memory, .end = both_or_none});
    inject_try(&(struct inject_case){.name = "two edges with data", .least = 4, .begin = three_nodes, .call = connect_with_data,
                                     .reported = out_of_memory, .end = both_or_none});
}

/* ---- children and instances ---- */

static void outer_and_inner(void)
{
    const CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 1, 1, 16, 1};
    graph = new_graph();
    inner = new_graph();
    exec = NULL;
    cuGraphAddMemsetNode(&node[0], inner, NULL, 0, &params, context);
}

/* The call takes the graph itself, not a copy. */
static bool move_in(void)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = inner;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    return done(cuGraphAddNode(&node[1], graph, NULL, NULL, 0, &params));
}

static bool inner_has_an_owner(void)
{
    bool owned = cuGraphDestroy(inner) == CUDA_ERROR_INVALID_VALUE;
    return cuGraphDestroy(graph) == CUDA_SUCCESS && owned == (code == CUDA_SUCCESS);
}

static void with_child(void)
{
    outer_and_inner();
    cuGraphAddChildGraphNode(&node[1], graph, NULL, 0, inner);
}

static bool instantiate(void)
{
    return done(cuGraphInstantiate(&exec, graph, 0));
}

static bool instance_or_none(void)
{
    bool whole = code == CUDA_SUCCESS ? exec && cuGraphExecDestroy(exec) == CUDA_SUCCESS : !exec;
    return cuGraphDestroy(inner) == CUDA_SUCCESS && cuGraphDestroy(graph) == CUDA_SUCCESS && whole;
}

static void test_children(void)
{
    static const char *const functions[] = {"malloc", "calloc"};
    inject_try(&(struct inject_case){.name = "a child that is moved", .function = "calloc", .least = 1, .begin = outer_and_inner,
                                     .call = move_in, .reported = out_of_memory, .end = inner_has_an_owner});
    for (int i = 0; i < 2; i++)
        inject_try(&(struct inject_case){.name = "an instance", .function = functions[i], .least = 2, .begin = with_child,
                                         .call = instantiate, .reported = out_of_memory, .end = instance_or_none});
}

/* ---- launches ---- */

static void add_rows(void)
{
    const CUDA_MEMSET_NODE_PARAMS params = {memory, 64, 7, 2, 8, 3};
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .srcPitch = 64,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = memory + 1024, .dstPitch = 64,
                                .WidthInBytes = 16, .Height = 3, .Depth = 1};
    cuGraphAddMemsetNode(&node[0], graph, NULL, 0, &params, context);
    cuGraphAddMemcpyNode(&node[1], graph, &node[0], 1, &copy, context);
}

/* A node after three concurrent ones. */
static void add_join(void)
{
    CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 7, 1, 16, 1};
    for (int i = 0; i < 3; i++) {
        params.dst = memory + 64 * (CUdeviceptr)i;
        cuGraphAddMemsetNode(&node[i], graph, NULL, 0, &params, context);
    }
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = memory + 1024, .WidthInBytes = 16, .Height = 1, .Depth = 1};
    cuGraphAddMemcpyNode(&node[3], graph, node, 3, &copy, context);
}

static void add_host_copy(void)
{
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host[0], .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = host[1], .WidthInBytes = 16, .Height = 1, .Depth = 1};
    cuGraphAddMemcpyNode(&node[0], graph, NULL, 0, &copy, context);
}

static void add_record(void)
{
    cuGraphAddEventRecordNode(&node[0], graph, NULL, 0, event);
}

static void ready(void (*add)(void))
{
    graph = new_graph();
    exec = NULL;
    add();
    cuGraphInstantiate(&exec, graph, 0);
    cuGraphLaunch(exec, stream); /* later launches use what it allocates */
    cuStreamSynchronize(stream);
    cuMemsetD8(memory, 0, 4096);
    memset(host[1], 0, sizeof host[1]);
    memset(host[0], 0x33, sizeof host[0]);
}

static void rows_ready(void)
{
    ready(add_rows);
}

static void join_ready(void)
{
    ready(add_join);
}

static void host_copy_ready(void)
{
    ready(add_host_copy);
}

static void record_ready(void)
{
    ready(add_record);
}

static bool launch(void)
{
    return done(cuGraphLaunch(exec, stream));
}

static bool ended(bool right)
{
    return cuGraphExecDestroy(exec) == CUDA_SUCCESS && cuGraphDestroy(graph) == CUDA_SUCCESS && right;
}

/* Work that comes after all three is issued after them or not at all. */
static bool joined_or_not(void)
{
    bool waited = cuStreamSynchronize(stream) == CUDA_SUCCESS, copied = byte_at(memory + 1024) == 7, all = true;
    for (CUdeviceptr i = 0; i < 3; i++)
        all = all && byte_at(memory + 64 * i) == 7;
    return ended(waited && (code == CUDA_SUCCESS ? copied && all : !copied || all));
}

/* A failing launch has issued the work before the failure, and nothing after it. */
static bool rows_in_order(void)
{
    bool waited = cuStreamSynchronize(stream) == CUDA_SUCCESS;
    unsigned first = byte_at(memory), last = byte_at(memory + 128), copied = byte_at(memory + 1024 + 128);
    bool whole = first == 7 && last == 7 && copied == 7;
    return ended(waited && (code == CUDA_SUCCESS ? whole : copied == 0 && last <= first));
}

static bool host_copied(void)
{
    bool waited = cuStreamSynchronize(stream) == CUDA_SUCCESS;
    return ended(waited && host[1][15] == (code == CUDA_SUCCESS ? 0x33 : 0) && !host[1][16]);
}

static bool waited(void)
{
    return ended(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

static void test_launches(void)
{
    static const struct inject_case cases[] = {
        {.name = "rows", .begin = rows_ready, .call = launch, .reported = out_of_memory, .end = rows_in_order},
        {.name = "a join", .begin = join_ready, .call = launch, .reported = out_of_memory, .end = joined_or_not},
        {.name = "a copy on the host", .begin = host_copy_ready, .call = launch, .reported = out_of_memory, .end = host_copied},
        {.name = "a record", .begin = record_ready, .call = launch, .reported = out_of_memory, .end = waited}};
    static const char *const functions[] = {"malloc", "calloc"};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        struct inject_case of = cases[i / 2];
        of.function = functions[i % 2];
        of.least = i % 2 ? 0 : 1;
        inject_try(&of);
    }
}

/* ---- memory ---- */

static CUdeviceptr allocated;

static CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(void)
{
    static const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                        .accessDescs = &access, .accessDescCount = 1, .bytesize = 64};
}

static void empty_graph(void)
{
    graph = new_graph();
    allocated = 0;
}

static bool add_alloc(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params();
    bool added = done(cuGraphAddMemAllocNode(&node[0], graph, NULL, 0, &params));
    allocated = params.dptr;
    return added;
}

static size_t node_count(void)
{
    size_t count = 99;
    cuGraphGetNodes(graph, NULL, &count);
    return count;
}

static bool one_or_none(void)
{
    bool whole = node_count() == (code == CUDA_SUCCESS) && !allocated == !node_count();
    return cuGraphDestroy(graph) == CUDA_SUCCESS && whole;
}

static void with_alloc(void)
{
    empty_graph();
    add_alloc();
}

static bool add_free(void)
{
    return done(cuGraphAddMemFreeNode(&node[1], graph, NULL, 0, allocated));
}

/* A free that was not added can be added later. */
static bool freed_once(void)
{
    bool later = cuGraphAddMemFreeNode(&node[1], graph, NULL, 0, allocated) == CUDA_SUCCESS;
    return cuGraphDestroy(graph) == CUDA_SUCCESS && later == (code != CUDA_SUCCESS);
}

static void capture(void)
{
    cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuMemAllocAsync(&allocated, 64, stream);
}

static bool capture_both(void)
{
    CUdeviceptr more = 0;
    return done(cuMemAllocAsync(&more, 64, stream)) && done(cuMemFreeAsync(allocated, stream));
}

static bool captured(void)
{
    graph = NULL;
    bool ends = cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS && (code != CUDA_SUCCESS ? node_count() <= 2 : node_count() == 3);
    return ends && cuGraphDestroy(graph) == CUDA_SUCCESS;
}

static void add_life(void)
{
    const CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 3, 1, 16, 1};
    add_alloc();
    cuGraphAddMemsetNode(&node[1], graph, &node[0], 1, &params, context);
    cuGraphAddMemsetNode(&node[2], graph, &node[0], 1, &params, context);
    cuGraphAddMemFreeNode(&node[1], graph, &node[1], 1, allocated);
}

/* The next launch needs new memory. */
static void life_ready(void)
{
    ready(add_life);
    cuDeviceGraphMemTrim(0);
}

/* The memory is not left allocated, so the next launch succeeds. */
static bool nothing_left(void)
{
    bool next = cuGraphLaunch(exec, stream) == CUDA_SUCCESS && cuStreamSynchronize(stream) == CUDA_SUCCESS;
    return ended(next && cuDeviceGraphMemTrim(0) == CUDA_SUCCESS);
}

static void add_left(void)
{
    add_alloc();
}

static void left_ready(void)
{
    ready(add_left);
}

static bool free_outside(void)
{
    return done(cuMemFreeAsync(allocated, stream));
}

static bool freed_outside(void)
{
    bool again = cuMemFreeAsync(allocated, stream) == CUDA_SUCCESS;
    return ended(cuStreamSynchronize(stream) == CUDA_SUCCESS && again == (code != CUDA_SUCCESS));
}

/* So many allocations at once that the process's records of them grow. */
enum { MUCH = 150 };

static CUdeviceptr much[MUCH];

static void much_ready(void)
{
    CUgraphNode last = NULL, next = NULL;
    graph = new_graph();
    exec = NULL;
    for (int i = 0; i < MUCH; i++, last = next) {
        CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params();
        cuGraphAddMemAllocNode(&next, graph, &last, last != NULL, &params);
        much[i] = params.dptr;
    }
    cuGraphInstantiate(&exec, graph, 0);
}

/* All of it is allocated, or nothing. */
static bool much_or_none(void)
{
    unsigned there = 0;
    cuStreamSynchronize(stream);
    for (int i = 0; i < MUCH; i++)
        there += cuMemFree(much[i]) == CUDA_SUCCESS;
    return ended(there == (code == CUDA_SUCCESS ? MUCH : 0) && cuDeviceGraphMemTrim(0) == CUDA_SUCCESS);
}

static void test_much(void)
{
    inject_try(&(struct inject_case){.name = "a launch with much memory", .least = 3, .begin = much_ready, .call = launch,
                                     .reported = out_of_memory, .end = much_or_none});
}

static void test_memory(void)
{
    static const struct inject_case cases[] = {
        {.name = "an allocation node", .begin = empty_graph, .call = add_alloc, .reported = out_of_memory, .end = one_or_none},
        {.name = "a free node", .begin = with_alloc, .call = add_free, .reported = out_of_memory, .end = freed_once},
        {.name = "captured memory", .begin = capture, .call = capture_both, .reported = out_of_memory, .end = captured},
        {.name = "a launch with memory", .begin = life_ready, .call = launch, .reported = out_of_memory, .end = nothing_left},
        {.name = "a free outside", .begin = left_ready, .call = free_outside, .reported = out_of_memory, .end = freed_outside}};
    static const char *const functions[] = {"malloc", "calloc"};
    const size_t count = 2 * sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        struct inject_case of = cases[i / 2];
        of.function = functions[i % 2];
        of.least = i != count - 1; /* a free outside the graph makes no record, only a pin */
        inject_try(&of);
    }
}

int main(void)
{
    context = begin();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    OK(cuMemAlloc(&memory, 4096));
    OK(cuCtxSynchronize());
    test_edges();
    test_children();
    test_launches();
    test_memory();
    test_much();
    OK(cuMemFree(memory));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
    return tap_done();
}
