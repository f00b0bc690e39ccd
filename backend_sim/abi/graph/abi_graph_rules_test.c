/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of graphs and user objects (rule_tests.h). */
#include "testing/rule_tests.h"

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cuGraphCreate(&graph, 0));
    return graph;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(unsigned size)
{
    return (CUDA_MEMSET_NODE_PARAMS){memory, 0, 7, size, 4, 1};
}

static CUgraphNode add_fill(CUgraph graph)
{
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(4);
    CUgraphNode node = NULL;
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, first));
    return node;
}

static CUgraphExec instance_of(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

TEST_BREAKS(GRAPH_NODE, graph_node_broken)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = add_fill(graph), foreign = add_fill(other), more = NULL;
    REFUSED(cuGraphAddEmptyNode(&more, graph, &foreign, 1), ERROR_INVALID_VALUE);
    OK(cuGraphDestroyNode(node));
    REFUSED(cuGraphDestroyNode(node), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(other));
}

TEST_NEAR_MISS(GRAPH_NODE, graph_node_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = add_fill(graph), more = NULL;
    ACCEPTED(cuGraphAddEmptyNode(&more, graph, &node, 1));
    ACCEPTED(cuGraphDestroyNode(node));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_EXEC, graph_exec_broken)
{
    CUgraph graph = new_graph();
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphExecDestroy(exec));
    REFUSED(cuGraphLaunch(exec, stream), ERROR_INVALID_VALUE);
    REFUSED(cuGraphExecDestroy(exec), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_EXEC, graph_exec_kept)
{
    CUgraph graph = new_graph();
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphDestroy(graph));
    ACCEPTED(cuGraphLaunch(exec, stream));
    ACCEPTED(cuGraphExecDestroy(exec));
}

TEST_BREAKS(GRAPH_EDGE, graph_edge_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode a = add_fill(graph), b = add_fill(graph), twice[2] = {a, a}, more = NULL;
    OK(cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    REFUSED(cuGraphAddDependencies(graph, &a, &b, NULL, 1), ERROR_INVALID_VALUE);
    REFUSED(cuGraphAddDependencies(graph, &a, &a, NULL, 1), ERROR_INVALID_VALUE);
    REFUSED(cuGraphRemoveDependencies(graph, &b, &a, NULL, 1), ERROR_INVALID_VALUE);
    REFUSED(cuGraphAddEmptyNode(&more, graph, twice, 2), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_EDGE, graph_edge_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode a = add_fill(graph), b = add_fill(graph);
    ACCEPTED(cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    ACCEPTED(cuGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_CYCLE, graph_cycle_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode a = add_fill(graph), b = add_fill(graph);
    CUgraphExec exec = NULL;
    OK(cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    OK(cuGraphAddDependencies(graph, &b, &a, NULL, 1));
    REFUSED(cuGraphInstantiate(&exec, graph, 0), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_CYCLE, graph_cycle_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode a = add_fill(graph), b = add_fill(graph);
    CUgraphExec exec = NULL;
    OK(cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    ACCEPTED(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_NODE_TYPE, graph_node_type_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = add_fill(graph);
    CUDA_HOST_NODE_PARAMS params;
    REFUSED(cuGraphHostNodeGetParams(node, &params), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_NODE_TYPE, graph_node_type_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = add_fill(graph);
    CUDA_MEMSET_NODE_PARAMS params;
    ACCEPTED(cuGraphMemsetNodeGetParams(node, &params));
    EQUAL(params.value, 7);
    OK(cuGraphDestroy(graph));
}

/* Adds an allocation of 64 bytes on device 0. */
static CUdeviceptr add_alloc(CUgraph graph, CUgraphNode *node)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, .bytesize = 64};
    OK(cuGraphAddMemAllocNode(node, graph, NULL, 0, &params));
    return params.dptr;
}

TEST_BREAKS(GRAPH_MEMORY_KIND, graph_memory_kind_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_HOST, 0}}, .bytesize = 64};
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_NOT_SUPPORTED);
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_NOT_SUPPORTED);
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_NOT_SUPPORTED);
    params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    params.accessDescs = &access;
    params.accessDescCount = 1;
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_NOT_SUPPORTED);
    tap_ok(!node && !params.dptr, "no node was added");
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_KIND, graph_memory_kind_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                         .bytesize = 64, .accessDescs = &access, .accessDescCount = 1};
    ACCEPTED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_ACCESS, graph_memory_access_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, .bytesize = 64, .accessDescCount = 1};
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_ACCESS, graph_memory_access_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    tap_ok(add_alloc(graph, &node), "no list, and a count of 0");
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_FULL, graph_memory_full_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec;
    size_t left = 0, all = 0;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, .bytesize = SIZE_MAX};
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_OUT_OF_MEMORY);
    params.bytesize = SIZE_MAX / 2;
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), ERROR_OUT_OF_MEMORY);
    OK(cuMemGetInfo(&left, &all));
    params.bytesize = left + 1;
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    exec = instance_of(graph);
    REFUSED(cuGraphLaunch(exec, stream), ERROR_OUT_OF_MEMORY);
    REFUSED(cuGraphUpload(exec, stream), ERROR_OUT_OF_MEMORY);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_FULL, graph_memory_full_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    size_t left = 0, all = 0;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}};
    OK(cuMemGetInfo(&left, &all));
    params.bytesize = left >> 25 << 25; /* whole chunks of 32 MiB */
    ACCEPTED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    CUgraphExec exec = instance_of(graph);
    ACCEPTED(cuGraphLaunch(exec, stream));
    OK(cuMemFree(params.dptr));
    OK(cuStreamSynchronize(stream));
    OK(cuDeviceGraphMemTrim(0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_FREE, graph_memory_free_broken)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = NULL, more = NULL;
    CUdeviceptr at = add_alloc(graph, &node);
    REFUSED(cuGraphAddMemFreeNode(&more, graph, NULL, 0, 0), ERROR_INVALID_VALUE);
    REFUSED(cuGraphAddMemFreeNode(&more, graph, NULL, 0, memory), ERROR_INVALID_VALUE);
    REFUSED(cuGraphAddMemFreeNode(&more, graph, NULL, 0, at + 8), ERROR_INVALID_VALUE);
    OK(cuGraphAddMemFreeNode(&more, other, NULL, 0, at));
    CUgraphExec exec = instance_of(other);
    REFUSED(cuGraphLaunch(exec, stream), ERROR_INVALID_VALUE); /* nothing has allocated it */
    OK(cuGraphAddMemFreeNode(&more, graph, &node, 1, at));
    REFUSED(cuGraphAddMemFreeNode(&more, graph, &node, 1, at), ERROR_INVALID_VALUE);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_FREE, graph_memory_free_kept)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = NULL, more = NULL;
    CUdeviceptr at = add_alloc(graph, &node);
    ACCEPTED(cuGraphAddMemFreeNode(&more, other, NULL, 0, at));
    CUgraphExec allocates = instance_of(graph), frees = instance_of(other);
    ACCEPTED(cuGraphLaunch(allocates, stream));
    ACCEPTED(cuGraphLaunch(frees, stream));
    OK(cuGraphExecDestroy(allocates));
    OK(cuGraphExecDestroy(frees));
    OK(cuGraphDestroy(other));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_LIVE, graph_memory_live_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUdeviceptr at = add_alloc(graph, &node);
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphLaunch(exec, stream));
    REFUSED(cuGraphLaunch(exec, stream), ERROR_INVALID_VALUE);
    OK(cuMemFree(at));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_LIVE, graph_memory_live_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr at = add_alloc(graph, &node);
    OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphLaunch(exec, stream));
    ACCEPTED(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    exec = instance_of(graph);
    OK(cuMemFreeAsync(at, stream));
    ACCEPTED(cuGraphLaunch(exec, stream));
    OK(cuMemFree(at));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_FIXED, graph_memory_fixed_broken)
{
    CUgraph graph = new_graph(), outer = new_graph(), copy = NULL;
    CUgraphNode node = NULL, more = NULL;
    add_alloc(graph, &node);
    OK(cuGraphAddEmptyNode(&more, graph, &node, 1));
    CUgraphExec exec = instance_of(graph), again = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    REFUSED(cuGraphClone(&copy, graph), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphAddChildGraphNode(&more, outer, NULL, 0, graph), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphRemoveDependencies(graph, &node, &more, NULL, 1), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphDestroyNode(more), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphInstantiate(&again, graph, 0), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphNodeSetParams(node, &params), ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphExecNodeSetParams(exec, node, &params), ERROR_NOT_SUPPORTED);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(outer));
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_MEMORY_FIXED, graph_memory_fixed_kept)
{
    CUgraph graph = new_graph(), outer = new_graph();
    CUgraphNode node = NULL, more = NULL, child = NULL;
    add_alloc(graph, &node);
    OK(cuGraphAddEmptyNode(&more, graph, NULL, 0));
    ACCEPTED(cuGraphAddDependencies(graph, &node, &more, NULL, 1));
    OK(cuGraphExecDestroy(instance_of(graph)));
    OK(cuGraphExecDestroy(instance_of(graph)));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    ACCEPTED(cuGraphAddNode(&child, outer, NULL, NULL, 0, &params));
    OK(cuGraphDestroy(outer));
}

TEST_BREAKS(GRAPH_PARAMS, graph_params_broken)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(3);
    REFUSED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, first), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_PARAMS, graph_params_kept)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(2);
    ACCEPTED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, first));
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_UPDATE, graph_update_broken)
{
    CUgraph graph = new_graph(), more = new_graph();
    CUgraphExecUpdateResultInfo info;
    add_fill(graph);
    add_fill(more);
    add_fill(more);
    CUgraphExec exec = instance_of(graph);
    REFUSED(cuGraphExecUpdate(exec, more, &info), ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(more));
}

TEST_NEAR_MISS(GRAPH_UPDATE, graph_update_kept)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphExecUpdateResultInfo info;
    add_fill(graph);
    add_fill(other);
    CUgraphExec exec = instance_of(graph);
    ACCEPTED(cuGraphExecUpdate(exec, other, &info));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(other));
}

TEST_BREAKS(GRAPH_FLAGS, graph_flags_broken)
{
    CUgraph graph = new_graph(), other = NULL;
    CUgraphExec exec = NULL;
    REFUSED(cuGraphCreate(&other, 1), ERROR_INVALID_VALUE);
    REFUSED(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_FLAGS, graph_flags_kept)
{
    CUgraph graph = new_graph();
    CUgraphExec exec = NULL;
    ACCEPTED(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static CUgraphNode add_kernel(CUgraph graph)
{
    uint64_t size = 16;
    unsigned char value = 1;
    void *args[] = {&memory, &size, &value};
    const CUDA_KERNEL_NODE_PARAMS params = {.func = function("fill_span"), .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
                                            .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
    CUgraphNode node = NULL;
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    return node;
}

static CUgraph with_data(CUgraphNode node[2])
{
    CUgraph graph = new_graph();
    const CUgraphEdgeData data = {.from_port = 1, .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    node[0] = add_kernel(graph);
    node[1] = add_kernel(graph);
    OK(cuGraphAddDependencies(graph, &node[0], &node[1], &data, 1));
    return graph;
}

TEST_BREAKS(GRAPH_LOSSY, graph_lossy_broken)
{
    CUgraphNode node[2], from[1], to[1];
    CUgraph graph = with_data(node);
    size_t edges = 1;
    REFUSED(cuGraphGetEdges(graph, from, to, NULL, &edges), ERROR_LOSSY_QUERY);
    REFUSED(cuGraphNodeGetDependencies(node[1], from, NULL, &edges), ERROR_LOSSY_QUERY);
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_LOSSY, graph_lossy_kept)
{
    CUgraphNode node[2], from[1], to[1];
    CUgraphEdgeData data[1];
    CUgraph graph = with_data(node);
    size_t edges = 1;
    ACCEPTED(cuGraphGetEdges(graph, from, to, data, &edges));
    tap_ok(from[0] == node[0] && to[0] == node[1] && data[0].from_port == 1, "the edge with its data");
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_LIST, graph_list_broken)
{
    CUgraphNode node[2], list[1] = {NULL};
    CUgraph graph = with_data(node);
    size_t length = 0;
    REFUSED(cuGraphGetNodes(graph, list, &length), ERROR_INVALID_VALUE);
    REFUSED(cuGraphGetRootNodes(graph, list, &length), ERROR_INVALID_VALUE);
    tap_ok(!list[0] && length == 0, "nothing is written");
    OK(cuGraphDestroy(graph));
}

TEST_NEAR_MISS(GRAPH_LIST, graph_list_kept)
{
    CUgraphNode node[2], list[1] = {NULL};
    CUgraph graph = with_data(node);
    size_t length = 1;
    ACCEPTED(cuGraphGetNodes(graph, list, &length));
    tap_ok(list[0] == node[0] && length == 1, "the first node, for which there is room");
    OK(cuGraphDestroy(graph));
}

TEST_BREAKS(GRAPH_MEMORY_ATTRIBUTE, graph_memory_attribute_broken)
{
    cuuint64_t value = 1;
    REFUSED(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value), ERROR_INVALID_VALUE);
    REFUSED(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(GRAPH_MEMORY_ATTRIBUTE, graph_memory_attribute_kept)
{
    cuuint64_t value = 0;
    ACCEPTED(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
    value = 7;
    ACCEPTED(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
    tap_ok(value != 7, "the bytes in use");
}

static void CUDA_CB count_end(void *ended)
{
    ++*(int *)ended;
}

TEST_BREAKS(USER_OBJECT, user_object_broken)
{
    int ended = 0;
    CUuserObject object = NULL;
    OK(cuUserObjectCreate(&object, &ended, count_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    REFUSED(cuUserObjectRetain(object, 0), ERROR_INVALID_VALUE);
    OK(cuUserObjectRelease(object, 1));
    EQUAL(ended, 1);
    REFUSED(cuUserObjectRelease(object, 1), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(USER_OBJECT, user_object_kept)
{
    int ended = 0;
    CUuserObject object = NULL;
    CUgraph graph = new_graph();
    ACCEPTED(cuUserObjectCreate(&object, &ended, count_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ACCEPTED(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    EQUAL(ended, 0);
    ACCEPTED(cuGraphDestroy(graph));
    EQUAL(ended, 1);
}

int main(void)
{
    return rule_tests();
}
