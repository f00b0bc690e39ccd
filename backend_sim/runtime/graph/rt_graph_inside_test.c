/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that lacks needed functions, and one without contexts: each graph call is refused for that reason. */
#include "rt.h"
#include "testing/core_driver.h"
#include "testing/emitted.h"

#define LACKS(call) IS(call, ErrorCallRequiresNewerDriver)

static char stub;
static uint32_t variable;

static cudaGraph_t graph;
static cudaGraphExec_t exec;
static cudaGraphNode_t node;
static cudaEvent_t event;
static cudaUserObject_t object;
static size_t count;
static unsigned enabled;
static unsigned long long flags;

static void every_call(void)
{
    int number = 0;
    enum cudaGraphNodeType type = cudaGraphNodeTypeKernel;
    cudaGraphInstantiateParams instantiate = {.flags = 0};
    cudaGraphExecUpdateResultInfo info = {.result = cudaGraphExecUpdateSuccess};
    struct cudaGraphNodeParams any = {.type = cudaGraphNodeTypeEmpty};
    struct cudaHostNodeParams host = {NULL, NULL};
    struct cudaMemsetParams fill = {.dst = NULL};
    struct cudaMemcpy3DParms copy = {.kind = cudaMemcpyDefault};
    struct cudaMemAllocNodeParams alloc = {.bytesize = 1};
    struct cudaKernelNodeParams kernel = {.func = &stub};
    LACKS(cudaGraphCreate(&graph, 0));
    LACKS(cudaGraphClone(&graph, graph));
    LACKS(cudaGraphDestroy(graph));
    LACKS(cudaGraphGetNodes(graph, &node, &count));
    LACKS(cudaGraphGetRootNodes(graph, &node, &count));
    LACKS(cudaGraphDestroyNode(node));
    LACKS(cudaGraphNodeFindInClone(&node, node, graph));
    LACKS(cudaGraphNodeGetType(node, &type));
    LACKS(cudaGraphDebugDotPrint(graph, "picture", 0));
    LACKS(cudaGraphAddEmptyNode(&node, graph, &node, 0));
    LACKS(cudaGraphAddChildGraphNode(&node, graph, &node, 0, graph));
    LACKS(cudaGraphChildGraphNodeGetGraph(node, &graph));
    LACKS(cudaGraphAddEventRecordNode(&node, graph, &node, 0, event));
    LACKS(cudaGraphEventRecordNodeGetEvent(node, &event));
    LACKS(cudaGraphEventRecordNodeSetEvent(node, event));
    LACKS(cudaGraphAddEventWaitNode(&node, graph, &node, 0, event));
    LACKS(cudaGraphEventWaitNodeGetEvent(node, &event));
    LACKS(cudaGraphEventWaitNodeSetEvent(node, event));
    LACKS(cudaGraphAddHostNode(&node, graph, &node, 0, &host));
    LACKS(cudaGraphHostNodeGetParams(node, &host));
    LACKS(cudaGraphHostNodeSetParams(node, &host));
    LACKS(cudaGraphAddMemsetNode(&node, graph, &node, 0, &fill));
    LACKS(cudaGraphMemsetNodeGetParams(node, &fill));
    LACKS(cudaGraphMemsetNodeSetParams(node, &fill));
    LACKS(cudaGraphAddMemcpyNode(&node, graph, &node, 0, &copy));
    LACKS(cudaGraphAddMemcpyNode1D(&node, graph, &node, 0, &number, &number, 0, cudaMemcpyDefault));
    LACKS(cudaGraphAddMemcpyNodeToSymbol(&node, graph, &node, 0, &variable, &number, 0, 0, cudaMemcpyDefault));
    LACKS(cudaGraphAddMemcpyNodeFromSymbol(&node, graph, &node, 0, &number, &variable, 0, 0, cudaMemcpyDefault));
    LACKS(cudaGraphMemcpyNodeGetParams(node, &copy));
    LACKS(cudaGraphMemcpyNodeSetParams(node, &copy));
    LACKS(cudaGraphMemcpyNodeSetParams1D(node, &number, &number, 0, cudaMemcpyDefault));
    LACKS(cudaGraphMemcpyNodeSetParamsToSymbol(node, &variable, &number, 0, 0, cudaMemcpyDefault));
    LACKS(cudaGraphMemcpyNodeSetParamsFromSymbol(node, &number, &variable, 0, 0, cudaMemcpyDefault));
    LACKS(cudaGraphAddMemAllocNode(&node, graph, &node, 0, &alloc));
    LACKS(cudaGraphMemAllocNodeGetParams(node, &alloc));
    LACKS(cudaGraphAddMemFreeNode(&node, graph, &node, 0, &number));
    LACKS(cudaGraphMemFreeNodeGetParams(node, &number));
    LACKS(cudaGraphAddKernelNode(&node, graph, &node, 0, &kernel));
    LACKS(cudaGraphKernelNodeGetParams(node, &kernel));
    LACKS(cudaGraphKernelNodeSetParams(node, &kernel));
    LACKS(cudaGraphNodeSetParams(node, &any));
    LACKS(cudaGraphInstantiate(&exec, graph, 0));
    LACKS(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    LACKS(cudaGraphInstantiateWithParams(&exec, graph, &instantiate));
    LACKS(cudaGraphExecGetFlags(exec, &flags));
    LACKS(cudaGraphExecDestroy(exec));
    LACKS(cudaGraphExecUpdate(exec, graph, &info));
    LACKS(cudaGraphNodeSetEnabled(exec, node, 0));
    LACKS(cudaGraphNodeGetEnabled(exec, node, &enabled));
    LACKS(cudaGraphUpload(exec, NULL));
    LACKS(cudaGraphLaunch(exec, NULL));
    LACKS(cudaGraphExecChildGraphNodeSetParams(exec, node, graph));
    LACKS(cudaGraphExecEventRecordNodeSetEvent(exec, node, event));
    LACKS(cudaGraphExecEventWaitNodeSetEvent(exec, node, event));
    LACKS(cudaGraphExecHostNodeSetParams(exec, node, &host));
    LACKS(cudaGraphExecMemsetNodeSetParams(exec, node, &fill));
    LACKS(cudaGraphExecMemcpyNodeSetParams(exec, node, &copy));
    LACKS(cudaGraphExecMemcpyNodeSetParams1D(exec, node, &number, &number, 0, cudaMemcpyDefault));
    LACKS(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, &variable, &number, 0, 0, cudaMemcpyDefault));
    LACKS(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, &number, &variable, 0, 0, cudaMemcpyDefault));
    LACKS(cudaGraphExecKernelNodeSetParams(exec, node, &kernel));
    LACKS(cudaGraphExecNodeSetParams(exec, node, &any));
    LACKS(cudaUserObjectCreate(&object, &number, NULL, 0, 0));
    LACKS(cudaUserObjectRetain(object, 0));
    LACKS(cudaUserObjectRelease(object, 0));
    LACKS(cudaGraphRetainUserObject(graph, object, 0, 0));
    LACKS(cudaGraphReleaseUserObject(graph, object, 0));
    LACKS(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &number));
    LACKS(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &number));
    LACKS(cudaDeviceGraphMemTrim(0));
    LACKS(cudaGraphGetEdges(graph, &node, &node, NULL, &count));
    LACKS(cudaGraphNodeGetDependencies(node, &node, NULL, &count));
    LACKS(cudaGraphNodeGetDependentNodes(node, &node, NULL, &count));
    LACKS(cudaGraphAddDependencies(graph, &node, &node, NULL, 0));
    LACKS(cudaGraphRemoveDependencies(graph, &node, &node, NULL, 0));
    LACKS(cudaGraphAddNode(&node, graph, &node, NULL, 0, &any));
    tap_ok(!graph && !exec && !node && !event && !object && !count && !enabled && !flags && !number, "nothing is written");
}

/* All graph calls. */
static void forget_graphs(void)
{
#define RT_DRIVER(name)                                        \
    if (strstr(#name, "Graph") || strstr(#name, "UserObject")) \
        rt_driver.to_##name[0] = rt_driver.to_##name[1] = NULL;
#include "rt_driver.def"
}

static struct rt_driver has;
static unsigned asked;

static CUresult CUDAAPI second_fails(CUcontext *context)
{
    return ++asked == 2 ? CUDA_ERROR_CONTEXT_IS_DESTROYED : has.to_cuCtxGetCurrent[0](context);
}

#define LOSES(call)                             \
    do {                                        \
        asked = 0;                              \
        IS(call, ErrorContextIsDestroyed);      \
    } while (0)

/* The context disappears between two queries for it. */
static void test_context_lost(void)
{
    const struct cudaMemsetParams fill = {.dst = NULL};
    const struct cudaMemcpy3DParms copy = {.kind = cudaMemcpyDefault};
    struct cudaGraphNodeParams any = {.type = cudaGraphNodeTypeEmpty};
    rt_driver.to_cuCtxGetCurrent[0] = second_fails;
    LOSES(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
    LOSES(cudaGraphExecMemsetNodeSetParams(exec, node, &fill));
    LOSES(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &copy));
    LOSES(cudaGraphExecMemcpyNodeSetParams(exec, node, &copy));
    LOSES(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &any));
    tap_ok(!node, "nothing is written");
    rt_driver = has;
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    void **image = __cudaRegisterFatBinary(&fat_binary);
    register_function(image, &stub, "fill_span");
    register_variable(image, &variable, "counter", sizeof variable);
    OK(cudaDeviceSynchronize());
    has = rt_driver;
    test_context_lost();
    forget_graphs();
    every_call();
    keep_core(&has);
    every_call();
    lose_contexts();
    every_call();
    rt_driver = has;
    __cudaUnregisterFatBinary(image);
    return tap_done();
}
