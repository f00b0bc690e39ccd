/* SPDX-License-Identifier: Apache-2.0 */
/* Updates of instances: which shapes pair, which parameters move, and the first version of the call. */
#include "testing/heard.h"

#undef cuGraphExecUpdate
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node, CUgraphExecUpdateResult *how);

enum { MOST = 6 };

static CUcontext context;
static CUdeviceptr memory;

/* ---- shapes ---- */

/* "-", "0", "01": the numbers of the nodes that each node in turn depends on. */
struct shape {
    const char *on[MOST];
};

static CUgraph graph_of(const struct shape *shape)
{
    CUgraph graph = NULL;
    CUgraphNode node[MOST] = {NULL};
    OK(cuGraphCreate(&graph, 0));
    for (size_t i = 0; i < MOST && shape->on[i]; i++) {
        CUgraphNode on[MOST];
        size_t count = 0;
        for (const char *digit = shape->on[i]; *digit && *digit != '-'; digit++)
            on[count++] = node[*digit - '0'];
        OK(cuGraphAddEmptyNode(&node[i], graph, on, count));
    }
    return graph;
}

static const struct {
    const char *what;
    struct shape now, next;
    bool pairs;
} shapes[] = {
    {"a diamond with itself", {{"-", "0", "0", "12"}}, {{"-", "0", "0", "12"}}, true},
    {"a node with two partners", {{"-", "-", "0", "0", "1"}}, {{"-", "-", "0", "1", "1"}}, false},
    {"a partner of two nodes", {{"-", "-", "0", "1", "1"}}, {{"-", "-", "0", "0", "1"}}, false},
    {"another number of dependencies", {{"-", "-", "01"}}, {{"-", "0", "1"}}, false},
    {"one last node more", {{"-", "0", "1"}}, {{"-", "0", "0"}}, false},
    {"one last node fewer", {{"-", "0", "0"}}, {{"-", "0", "1"}}, false},
    {"one node more", {{"-", "0"}}, {{"-", "0", "0"}}, false},
    {"no nodes", {{NULL}}, {{NULL}}, true},
};

static void test_shapes(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        CUgraph now = graph_of(&shapes[i].now), next = graph_of(&shapes[i].next);
        CUgraphExec exec = NULL;
        CUgraphExecUpdateResultInfo info;
        OK(cuGraphInstantiateWithFlags(&exec, now, 0));
        tap_note("%s", shapes[i].what);
        if (shapes[i].pairs)
            OK(cuGraphExecUpdate_v2(exec, next, &info));
        else
            REFUSED(cuGraphExecUpdate_v2(exec, next, &info), ERROR_GRAPH_EXEC_UPDATE_FAILURE, "VMM-GRAPH-UPDATE");
        EQUAL(info.result, shapes[i].pairs ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(now));
        OK(cuGraphDestroy(next));
    }
}

/* ---- parameters ---- */

static void test_fills(void)
{
    const CUDA_MEMSET_NODE_PARAMS rows = {memory, 64, 1, 2, 8, 2};
    CUDA_MEMSET_NODE_PARAMS next[] = {rows, rows, rows, rows, rows};
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &rows, context));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    next[0].elementSize = 4;
    next[1].width = 4;
    next[2].height = 3;
    next[3].pitch = 32;
    for (int i = 0; i < 4; i++)
        REFUSED(cuGraphExecMemsetNodeSetParams(exec, node, &next[i], context), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    next[4].dst = memory + 1024;
    next[4].value = 0x0707;
    OK(cuMemsetD8(memory, 0, 4096));
    OK(cuGraphExecMemsetNodeSetParams(exec, node, &next[4], context));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(memory), 0);
    EQUAL(byte_at(memory + 1024 + 64 + 15), 7);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void test_copies(void)
{
    const CUDA_MEMCPY3D slices = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .srcPitch = 32, .srcHeight = 1,
                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = memory + 1024, .dstPitch = 32, .dstHeight = 1,
                                  .WidthInBytes = 16, .Height = 1, .Depth = 2};
    CUDA_MEMCPY3D next[] = {slices, slices, slices, slices, slices, slices};
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &slices, context));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    next[0].srcPitch = 64;
    next[1].dstPitch = 64;
    next[2].WidthInBytes = 8;
    next[3].Depth = 1;
    next[4].dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    for (int i = 0; i < 5; i++)
        REFUSED(cuGraphExecMemcpyNodeSetParams(exec, node, &next[i], context), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    for (size_t height = 1; height < 4; height++) { /* one row may take any shape, but two may not change */
        CUgraphNode rows = NULL;
        CUgraphExec of_rows = NULL;
        CUgraph other = NULL;
        CUDA_MEMCPY3D now = slices;
        now.Height = height, now.Depth = 1;
        now.srcHeight = now.dstHeight = 0;
        OK(cuGraphCreate(&other, 0));
        OK(cuGraphAddMemcpyNode(&rows, other, NULL, 0, &now, context));
        OK(cuGraphInstantiateWithFlags(&of_rows, other, 0));
        now.WidthInBytes = 8;
        if (height == 1)
            OK(cuGraphExecMemcpyNodeSetParams(of_rows, rows, &now, context));
        else
            REFUSED(cuGraphExecMemcpyNodeSetParams(of_rows, rows, &now, context), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
        OK(cuGraphExecDestroy(of_rows));
        OK(cuGraphDestroy(other));
    }
    OK(cuMemsetD8(memory, 9, 1024));
    OK(cuMemsetD8(memory + 1024, 0, 2048));
    OK(cuGraphExecMemcpyNodeSetParams(exec, node, &next[5], context));
    next[5].dstDevice = memory + 2048;
    REFUSED(cuGraphExecMemcpyNodeSetParams(exec, node, &next[5], context), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(memory + 1024 + 32 + 15), 9);
    EQUAL(byte_at(memory + 2048), 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* ---- the first version, which counts all nodes ever added ---- */

static const struct shape two = {{"-", "-"}};

static void old_update(CUgraph now, CUgraph next, CUgraphExecUpdateResult want)
{
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    CUgraphExecUpdateResult how = CU_GRAPH_EXEC_UPDATE_ERROR;
    OK(cuGraphInstantiateWithFlags(&exec, now, 0));
    if (want == CU_GRAPH_EXEC_UPDATE_SUCCESS)
        OK(cuGraphExecUpdate(exec, next, &node, &how));
    else
        REFUSED(cuGraphExecUpdate(exec, next, &node, &how), ERROR_GRAPH_EXEC_UPDATE_FAILURE, "VMM-GRAPH-UPDATE");
    EQUAL(how, want);
    EQUAL(cuGraphExecUpdate(exec, next, NULL, NULL), want ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(now));
    OK(cuGraphDestroy(next));
}

/* A graph whose second node is gone, or whose first node is a child. */
static CUgraph one_left(void)
{
    CUgraph graph = graph_of(&two);
    CUgraphNode nodes[2] = {NULL};
    size_t count = 2;
    OK(cuGraphGetNodes(graph, nodes, &count));
    OK(cuGraphDestroyNode(nodes[1]));
    return graph;
}

static CUgraph with_child(const struct shape *shape)
{
    CUgraph graph = NULL, child = graph_of(shape);
    CUgraphNode node = NULL;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cuGraphDestroy(child));
    return graph;
}

static void test_first_version(void)
{
    static const struct shape three = {{"-", "-", "-"}}, chain = {{"-", "0"}};
    old_update(graph_of(&two), graph_of(&two), CU_GRAPH_EXEC_UPDATE_SUCCESS);
    old_update(graph_of(&two), graph_of(&chain), CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    old_update(graph_of(&two), one_left(), CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
    old_update(one_left(), graph_of(&two), CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
    old_update(with_child(&two), with_child(&two), CU_GRAPH_EXEC_UPDATE_SUCCESS);
    old_update(with_child(&two), with_child(&three), CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
    old_update(with_child(&two), graph_of(&two), CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    old_update(graph_of(&two), with_child(&two), CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
}

int main(void)
{
    context = begin();
    listen();
    OK(cuMemAlloc(&memory, 4096));
    test_shapes();
    test_fills();
    test_copies();
    test_first_version();
    return tap_done();
}
