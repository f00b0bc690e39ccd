/* SPDX-License-Identifier: Apache-2.0 */
/* Edges that are refused, lists of them, children, and graphs that have no instance. */
#include "testing/heard.h"

static CUcontext context;
static CUdeviceptr memory;

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphNode empty(CUgraph graph, const CUgraphNode *on, size_t count)
{
    CUgraphNode node = NULL;
    OK(cuGraphAddEmptyNode(&node, graph, on, count));
    return node;
}

static CUgraphNode kernel(CUgraph graph)
{
    static CUfunction function;
    CUmodule module = NULL;
    uint64_t size = 16;
    unsigned char value = 1;
    void *args[] = {&memory, &size, &value};
    CUDA_KERNEL_NODE_PARAMS params = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1,
                                      .blockDimZ = 1, .kernelParams = args};
    CUgraphNode node = NULL;
    if (!function) {
        OK(cuModuleLoadData(&module, "image"));
        OK(cuModuleGetFunction(&function, module, "fill_span"));
    }
    params.func = function;
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    return node;
}

static size_t edge_count(CUgraph graph)
{
    size_t count = 99;
    OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    return count;
}

static size_t node_count(CUgraph graph)
{
    size_t count = 99;
    OK(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

/* ---- edges ---- */

static const CUgraphEdgeData programmatic = {.from_port = 1, .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
static const CUgraphEdgeData wrong_port = {.from_port = 3};

static void test_added(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = empty(graph, NULL, 0), b = empty(graph, NULL, 0), c = empty(graph, NULL, 0);
    const CUgraphNode from[] = {a, b, a, a}, to[] = {c, c, b, c};
    REFUSED(cuGraphAddDependencies(graph, from, to, NULL, 4), ERROR_INVALID_VALUE, "VMM-GRAPH-EDGE");
    tap_ok(strstr(heard, "edge 3 already exists") != NULL, "which one: %s", heard);
    EQUAL(edge_count(graph), 3); /* as measured */
    OK(cuGraphDestroy(graph));
    graph = new_graph();
    const CUgraphNode d = empty(graph, NULL, 0), e = empty(graph, NULL, 0), first[] = {d, e}, second[] = {e, e};
    const CUgraphEdgeData data[] = {{0}, wrong_port};
    REFUSED(cuGraphAddDependencies(graph, first, second, NULL, 2), ERROR_INVALID_VALUE, "VMM-GRAPH-EDGE");
    tap_ok(strstr(heard, "edge 1 leads from a node to itself") != NULL, "which one: %s", heard);
    EQUAL(edge_count(graph), 0);
    REFUSED(cuGraphAddDependencies(graph, first, second, data, 2), ERROR_INVALID_VALUE, "VMM-GRAPH-EDGE");
    EQUAL(edge_count(graph), 0);
    OK(cuGraphDestroy(graph));
}

static void test_removed(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = kernel(graph), b = kernel(graph);
    OK(cuGraphAddDependencies(graph, &a, &b, &programmatic, 1));
    REFUSED(cuGraphRemoveDependencies(graph, &a, &b, &(CUgraphEdgeData){0}, 1), ERROR_INVALID_VALUE, "VMM-GRAPH-EDGE");
    EQUAL(edge_count(graph), 1);
    OK(cuGraphRemoveDependencies(graph, &a, &b, &programmatic, 1));
    EQUAL(edge_count(graph), 0);
    OK(cuGraphDestroy(graph));
}

/* Only from a kernel to a kernel, and from a port that is not 0. */
static void test_programmatic(void)
{
    static const CUgraphEdgeData from_0 = {.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraph graph = new_graph();
    CUgraphNode node[] = {kernel(graph), kernel(graph), empty(graph, NULL, 0)}, more = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    REFUSED(cuGraphAddDependencies(graph, &node[0], &node[1], &from_0, 1), ERROR_INVALID_VALUE, "VMM-GRAPH-EDGE");
    tap_ok(strstr(heard, "from a kernel's port 0 to a kernel") != NULL, "what is wrong: %s", heard);
    REFUSED(cuGraphAddDependencies(graph, &node[0], &node[2], &programmatic, 1), ERROR_INVALID_VALUE, "VMM-GRAPH-EDGE");
    tap_ok(strstr(heard, "from a kernel's port 1 to another node") != NULL, "what is wrong: %s", heard);
    REFUSED(cuGraphAddDependencies(graph, &node[2], &node[0], &programmatic, 1), ERROR_INVALID_VALUE, "VMM-GRAPH-EDGE");
    tap_ok(strstr(heard, "from another node's port 1 to a kernel") != NULL, "what is wrong: %s", heard);
    REFUSED(cuGraphAddNode(&more, graph, &node[0], &programmatic, 1, &params), ERROR_INVALID_VALUE, "VMM-GRAPH-EDGE");
    EQUAL(edge_count(graph), 0);
    OK(cuGraphAddDependencies(graph, &node[0], &node[1], &programmatic, 1));
    OK(cuGraphDestroy(graph));
}

/* A node that comes with its edges is added with all of them or not at all. */
static void test_with_data(void)
{
    CUgraph graph = new_graph();
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    const CUgraphNode on[] = {kernel(graph), empty(graph, NULL, 0)};
    const CUgraphEdgeData good[] = {{.from_port = 1}, {0}}, bad[] = {{.from_port = 1}, wrong_port};
    CUgraphNode node = NULL, from[2] = {NULL};
    CUgraphEdgeData held[2];
    size_t count = 2;
    REFUSED(cuGraphAddNode(&node, graph, on, bad, 2, &params), ERROR_INVALID_VALUE, "VMM-GRAPH-EDGE");
    tap_ok(!node && strstr(heard, "the data of edge 1") != NULL, "which edge: %s", heard);
    EQUAL(node_count(graph), 2);
    OK(cuGraphAddNode(&node, graph, on, good, 2, &params));
    OK(cuGraphNodeGetDependencies(node, from, held, &count));
    EQUAL(count, 2);
    tap_ok(from[0] == on[0] && from[1] == on[1] && held[0].from_port == 1 && !held[1].from_port, "the edges and their data");
    OK(cuGraphDestroy(graph));
}

static void test_lists(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = empty(graph, NULL, 0), b = empty(graph, &a, 1), list[2] = {NULL};
    CUgraphEdgeData data[2];
    size_t count = 2;
    REFUSED(cuGraphGetEdges(graph, NULL, NULL, data, &count), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    EQUAL(count, 2);
    count = 0;
    REFUSED(cuGraphNodeGetDependencies(b, list, data, &count), ERROR_INVALID_VALUE, "VMM-GRAPH-LIST");
    OK(cuGraphNodeGetDependencies(b, NULL, NULL, &count));
    EQUAL(count, 1);
    OK(cuGraphNodeGetDependentNodes(a, list, data, &count));
    tap_ok(count == 1 && list[0] == b, "what depends on a node");
    REFUSED(cuGraphNodeGetDependentNodes((CUgraphNode)(uintptr_t)8, list, data, &count), ERROR_INVALID_VALUE, "VMM-GRAPH-NODE");
    OK(cuGraphDestroy(graph));
}

/* ---- children ---- */

static CUresult move_into(CUgraph graph, CUgraph child, CUgraphNode *node)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    return cuGraphAddNode(node, graph, NULL, NULL, 0, &params);
}

static void test_children(void)
{
    CUgraph graph = new_graph(), child = new_graph(), other = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    empty(child, NULL, 0);
    REFUSED(move_into(graph, graph, &node), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    tap_ok(strstr(heard, "the graph itself") != NULL, "why: %s", heard);
    REFUSED(move_into(graph, child, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    OK(move_into(graph, child, &node)); /* the refused call left it free */
    REFUSED(move_into(other, child, &node), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    tap_ok(strstr(heard, "a node's child already") != NULL, "why: %s", heard);
    EQUAL(node_count(other), 0);
    REFUSED(cuGraphAddChildGraphNode(NULL, other, NULL, 0, child), ERROR_NOT_SUPPORTED, "VMM-GRAPH-OF-NODE");
    REFUSED(cuGraphAddChildGraphNode(NULL, other, NULL, 0, other), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    REFUSED(cuGraphInstantiateWithFlags(&exec, child, 0), ERROR_NOT_SUPPORTED, "VMM-GRAPH-OF-NODE");
    OK(cuGraphDestroy(graph));
    IS(cuGraphGetNodes(child, NULL, &(size_t){0}), ERROR_INVALID_VALUE); /* it ended with its node */
    OK(cuGraphDestroy(other));
}

/* ---- graphs that have no instance, or stay ---- */

static void test_no_instance(void)
{
    CUgraph graph = new_graph(), child = new_graph();
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL, held = NULL;
    CUdeviceptr gone = 0;
    CUgraph inside = NULL;
    OK(cuMemAlloc(&gone, 4096));
    const CUDA_MEMSET_NODE_PARAMS params = {gone, 0, 1, 1, 16, 1};
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, context));
    empty(graph, &node, 1);
    OK(cuMemFree(gone));
    IS(cuGraphInstantiate(&exec, graph, 0), ERROR_INVALID_VALUE); /* work after the fill changes nothing */
    CUgraphNode a = empty(child, NULL, 0), b = empty(child, &a, 1);
    OK(cuGraphDestroyNode(node));
    OK(cuGraphAddChildGraphNode(&held, graph, NULL, 0, child));
    empty(graph, &held, 1);
    OK(cuGraphChildGraphNodeGetGraph(held, &inside));
    OK(cuGraphNodeFindInClone(&a, a, inside));
    OK(cuGraphNodeFindInClone(&b, b, inside));
    OK(cuGraphAddDependencies(inside, &b, &a, NULL, 1));
    REFUSED(cuGraphInstantiate(&exec, graph, 0), ERROR_INVALID_VALUE, "VMM-GRAPH-CYCLE");
    tap_ok(!exec, "no instance");
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(child));
}

static void test_captured_into(void)
{
    CUgraph graph = new_graph(), held = NULL;
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(cuGraphDestroy(graph), ERROR_ILLEGAL_STATE, "VMM-CAPTURE-STATE");
    OK(cuMemsetD8Async(memory, 1, 16, stream));
    OK(cuStreamEndCapture(stream, &held));
    tap_ok(held == graph, "the graph exists");
    EQUAL(node_count(graph), 1);
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

/* ---- each form of cuGraphInstantiate ---- */

#undef cuGraphInstantiate
#undef cuGraphInstantiateWithParams
CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t size);
CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *node, char *log, size_t size);
CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params);

static CUresult instantiate(int form, CUgraphExec *exec, CUgraph graph)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    char log[4] = "log";
    CUresult result = CUDA_SUCCESS;
    switch (form) {
    case 0: result = cuGraphInstantiate(exec, graph, NULL, log, sizeof log); break;
    case 1: result = cuGraphInstantiate_v2(exec, graph, NULL, log, 0); break;
    case 2: result = cuGraphInstantiateWithFlags(exec, graph, 0); break;
    case 3: result = cuGraphInstantiateWithParams(exec, graph, &params); break;
    default: result = cuGraphInstantiateWithParams_ptsz(exec, graph, &params); break;
    }
    tap_ok(!log[0] == (form == 0 && result == CUDA_SUCCESS), "form %d: an empty log, where there is room for one", form);
    return result;
}

static void test_forms(void)
{
    CUgraph graph = new_graph(), captured = NULL;
    CUstream stream = NULL;
    empty(graph, NULL, 0);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int form = 0; form < 5; form++) {
        CUgraphExec exec = NULL;
        OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        IS(instantiate(form, &exec, graph), ERROR_STREAM_CAPTURE_UNSUPPORTED);
        tap_ok(!exec, "form %d: no instance while a stream is captured", form);
        IS(cuStreamEndCapture(stream, &captured), ERROR_STREAM_CAPTURE_INVALIDATED);
        OK(instantiate(form, &exec, graph));
        OK(cuGraphExecDestroy(exec));
    }
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

static void CUDA_CB count_end(void *ended)
{
    ++*(int *)ended;
}

/* What the driver accepts is still reported. */
static void test_warned(void)
{
    int ended = 0;
    CUuserObject object = NULL;
    OK(cuUserObjectCreate(&object, &ended, count_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    heard[0] = '\0';
    OK(cuUserObjectRetain(object, 1));
    tap_ok(!heard[0], "nothing is reported of what is right");
    OK(cuUserObjectRelease(object, 3));
    EQUAL(ended, 0); /* past 0, it never ends */
    tap_ok(strstr(heard, "VMM-USER-OBJECT-OWNED") != NULL, "the release of one too many is: %s", heard);
}

int main(void)
{
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    context = begin();
    listen();
    OK(cuMemAlloc(&memory, 4096));
    test_added();
    test_removed();
    test_programmatic();
    test_with_data();
    test_lists();
    test_children();
    test_no_instance();
    test_captured_into();
    test_forms();
    test_warned();
    return tap_done();
}
