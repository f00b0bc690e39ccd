/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs through libcuda.so.1: built by nodes, launched, changed and ended; and over memory that is mapped again. */
#include <semaphore.h>
#include <stdlib.h>

#include "testing/rig.h"

enum { G = 2 << 20 };

static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static char order[32];

static void CUDA_CB note(void *letter)
{
    size_t length = strlen(order);
    if (length + 1 < sizeof order)
        order[length] = (char)(uintptr_t)letter;
}

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphNode host(CUgraph graph, const CUgraphNode *on, size_t count, char letter)
{
    const CUDA_HOST_NODE_PARAMS params = {note, (void *)(uintptr_t)letter};
    CUgraphNode node = NULL;
    OK(cuGraphAddHostNode(&node, graph, on, count, &params));
    return node;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr at, unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){at, 0, value, 1, 16, 1};
}

static CUgraphNode fill(CUgraph graph, CUdeviceptr at, unsigned value)
{
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(at, value);
    CUgraphNode node = NULL;
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, context));
    return node;
}

static CUgraphExec instance_of(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void launch(CUgraphExec exec)
{
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
}

/* What the host functions of one launch wrote. */
static void order_is(CUgraph graph, const char *want)
{
    CUgraphExec exec = instance_of(graph);
    memset(order, 0, sizeof order);
    launch(exec);
    tap_ok(strcmp(order, want) == 0, "the order of %s: %s", want, order);
    OK(cuGraphExecDestroy(exec));
}

static void test_order(void)
{
    CUgraph graph = new_graph(), outer = new_graph(), held = NULL;
    CUgraphNode a = host(graph, NULL, 0, 'a'), b = host(graph, NULL, 0, 'b'), c = host(graph, &a, 1, 'c'), d, child = NULL;
    order_is(graph, "abc");
    OK(cuGraphAddDependencies(graph, &c, &b, NULL, 1));
    order_is(graph, "acb");
    d = host(outer, NULL, 0, 'd');
    OK(cuGraphAddChildGraphNode(&child, outer, &d, 1, graph));
    host(outer, &child, 1, 'e');
    order_is(outer, "dacbe");
    OK(cuGraphDestroyNode(c));
    order_is(graph, "ab");
    order_is(outer, "dacbe"); /* the child is a copy */
    OK(cuGraphChildGraphNodeGetGraph(child, &held));
    host(held, NULL, 0, 'f');
    order_is(outer, "dafcbe");
    IS(cuGraphDestroy(held), ERROR_INVALID_VALUE); /* it ends with its node */
    OK(cuGraphDestroy(outer));
    IS(cuGraphGetNodes(held, NULL, &(size_t){0}), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
}

/* Each list of missing objects, or with too little room, is refused and nothing is written. */
static void test_no_lists(void)
{
    CUgraph graph = new_graph(), graphs[] = {NULL, (CUgraph)(uintptr_t)0x1234, graph};
    CUgraphNode node = host(graph, NULL, 0, 'a'), nodes[] = {NULL, (CUgraphNode)(uintptr_t)0x1234, node}, list[2] = {node, node};
    OK(cuGraphDestroyNode(nodes[2]));
    OK(cuGraphDestroy(graph));
    for (size_t i = 0; i < 3; i++)
        for (size_t room = 0; room < 2; room++) {
            size_t count = 7;
            CUgraphNode *to = room ? list : NULL;
            IS(cuGraphGetNodes(graphs[i], to, &count), ERROR_INVALID_VALUE);
            IS(cuGraphGetRootNodes(graphs[i], to, &count), ERROR_INVALID_VALUE);
            IS(cuGraphGetEdges(graphs[i], to, to, NULL, &count), ERROR_INVALID_VALUE);
            IS(cuGraphNodeGetDependencies(nodes[i], to, NULL, &count), ERROR_INVALID_VALUE);
            IS(cuGraphNodeGetDependentNodes(nodes[i], to, NULL, &count), ERROR_INVALID_VALUE);
            tap_ok(count == 7 && list[0] == node && list[1] == node, "and nothing is written");
        }
}

/* A node's work is that of the graph's last change before the instance was made. */
static void test_snapshot(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = fill(graph, memory, 1);
    CUgraphExec exec = instance_of(graph);
    CUDA_MEMSET_NODE_PARAMS params = fill_of(memory, 2), held;
    OK(cuGraphMemsetNodeSetParams(node, &params));
    launch(exec);
    EQUAL(byte_at(memory), 1);
    params.value = 3;
    OK(cuGraphExecMemsetNodeSetParams(exec, node, &params, context));
    launch(exec);
    EQUAL(byte_at(memory), 3);
    OK(cuGraphMemsetNodeGetParams(node, &held));
    EQUAL(held.value, 2);
    OK(cuGraphNodeSetEnabled(exec, node, 0));
    params.value = 4;
    OK(cuGraphExecMemsetNodeSetParams(exec, node, &params, context));
    launch(exec);
    EQUAL(byte_at(memory), 3); /* it is skipped, whatever its parameters */
    OK(cuGraphDestroy(graph));
    launch(exec);
    OK(cuGraphExecDestroy(exec));
}

static void test_kernel(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUgraph graph = new_graph(), clone = NULL;
    CUgraphNode node = NULL, copy = NULL;
    uint64_t size = 16;
    unsigned char value = 0x61;
    CUdeviceptr at = memory;
    void *args[] = {&at, &size, &value};
    CUDA_KERNEL_NODE_PARAMS params = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1,
                                      .blockDimZ = 1, .kernelParams = args}, held;
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&function, module, "fill_span"));
    params.func = function;
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    value = 0x62; /* the arguments were copied */
    at = 0;
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&copy, node, clone));
    OK(cuGraphDestroy(graph)); /* with its own copies */
    OK(cuGraphKernelNodeGetParams(copy, &held));
    tap_ok(held.func == function && held.ctx == context && *(CUdeviceptr *)held.kernelParams[0] == memory &&
               *(unsigned char *)held.kernelParams[2] == 0x61, "the clone has the kernel and its arguments");
    CUgraphExec exec = instance_of(clone);
    launch(exec);
    EQUAL(byte_at(memory), 0x61);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(clone));
}

static void test_update(void)
{
    CUgraph graph = new_graph(), next = new_graph();
    CUgraphExecUpdateResultInfo info;
    fill(graph, memory, 5);
    fill(graph, memory + 64, 5);
    fill(next, memory, 6);
    CUgraphNode last = fill(next, memory + 64, 6);
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphExecUpdate(exec, next, &info));
    launch(exec);
    EQUAL(byte_at(memory), 6);
    const CUDA_MEMSET_NODE_PARAMS rows = {memory + 64, 32, 7, 1, 16, 2};
    OK(cuGraphMemsetNodeSetParams(last, &rows));
    IS(cuGraphExecUpdate(exec, next, &info), ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    tap_ok(info.errorNode == last, "the node that cannot be updated");
    launch(exec);
    EQUAL(byte_at(memory + 64), 6); /* the instance is unchanged */
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(next));
}

/* ---- memory that changes under a graph ---- */

static CUmemGenericAllocationHandle new_memory(void)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle = 0;
    OK(cuMemCreate(&handle, G, &prop, 0));
    return handle;
}

static void map(CUdeviceptr at, CUmemGenericAllocationHandle handle)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemMap(at, G, 0, handle, 0));
    OK(cuMemSetAccess(at, G, &access, 1));
}

static char heard[600];

static void CUDA_CB hear(void *user, CUlogLevel level, char *message, size_t length)
{
    (void)user, (void)level, (void)length;
    snprintf(heard, sizeof heard, "%s", message);
}

/* Later work in the stream is in flight until the semaphore is posted. */
static void CUDA_CB hold(void *semaphore)
{
    while (sem_wait(semaphore)) /* interrupted by a signal */
        ;
}

static void test_remapped(void)
{
    sem_t turn;
    CUmemGenericAllocationHandle first = new_memory(), second = new_memory();
    CUdeviceptr at = 0;
    CUlogsCallbackHandle callback;
    CUgraph graph = new_graph();
    tap_ok(sem_init(&turn, 0, 0) == 0, "a semaphore");
    OK(cuMemAddressReserve(&at, G, 0, 0, 0));
    map(at, first);
    OK(cuMemsetD8(at, 1, G));
    fill(graph, at, 2);
    CUgraphExec exec = instance_of(graph);
    OK(cuMemUnmap(at, G));
    map(at, second);
    launch(exec); /* what is mapped now */
    EQUAL(byte_at(at), 2);
    OK(cuMemUnmap(at, G));
    map(at, first);
    EQUAL(byte_at(at), 1);
    OK(cuGraphLaunch(exec, stream));
    OK(cuLogsRegisterCallback(hear, NULL, &callback));
    OK(cuStreamSynchronize(stream));
    OK(cuMemUnmap(at, G));
    tap_ok(!heard[0], "nothing is in flight: %s", heard);
    map(at, first);
    OK(cuLaunchHostFunc(stream, hold, &turn));
    OK(cuGraphLaunch(exec, stream));
    OK(cuMemUnmap(at, G));
    tap_ok(strstr(heard, "VMM-UNMAP-IN-FLIGHT") != NULL, "the graph's fill is in flight: %s", heard);
    map(at, first);
    sem_post(&turn);
    OK(cuStreamSynchronize(stream));
    sem_destroy(&turn);
    OK(cuLogsUnregisterCallback(callback));
    OK(cuMemUnmap(at, G));
    IS(cuGraphInstantiate(&(CUgraphExec){NULL}, graph, 0), ERROR_INVALID_VALUE); /* a fill is checked again */
    OK(cuMemRelease(first));
    OK(cuMemRelease(second));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemAddressFree(at, G));
}

/* The last test: the device is lost. */
static void test_unmapped(void)
{
    CUmemGenericAllocationHandle handle = new_memory();
    CUdeviceptr at = 0;
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = memory, .WidthInBytes = 16, .Height = 1, .Depth = 1};
    CUDA_MEMCPY3D to = copy;
    OK(cuMemAddressReserve(&at, G, 0, 0, 0));
    map(at, handle);
    to.dstDevice = at;
    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &to, context));
    host(graph, &node, 1, 'z');
    CUgraphExec exec = instance_of(graph);
    OK(cuMemUnmap(at, G));
    memset(order, 0, sizeof order);
    OK(cuGraphLaunch(exec, stream));
    IS(cuStreamSynchronize(stream), ERROR_ILLEGAL_ADDRESS);
    tap_ok(!order[0], "work after the fault is not done");
    IS(cuGraphLaunch(exec, stream), ERROR_ILLEGAL_ADDRESS);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void CUDA_CB count_up(void *ended)
{
    ++*(int *)ended;
}

static CUuserObject object_of(int *ended)
{
    CUuserObject object = NULL;
    OK(cuUserObjectCreate(&object, ended, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

/* A graph holds two objects; the one that it retained first is released first. */
static void test_objects(void)
{
    int ended[2] = {0};
    CUgraph graph = new_graph();
    CUuserObject first = object_of(&ended[0]), second = object_of(&ended[1]);
    OK(cuGraphRetainUserObject(graph, first, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphRetainUserObject(graph, second, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphReleaseUserObject(graph, first, 1));
    tap_ok(ended[0] == 1 && ended[1] == 0, "the released object ended, and the other did not");
    OK(cuGraphDestroy(graph));
    tap_ok(ended[0] == 1 && ended[1] == 1, "the other ended with the graph");
}

static void test_references(void)
{
    int ended = 0;
    CUgraph graph = new_graph();
    CUuserObject object = object_of(&ended);
    OK(cuGraphRetainUserObject(graph, object, 2, 0));
    OK(cuGraphRetainUserObject(graph, object, 1, 0));
    OK(cuGraphReleaseUserObject(graph, object, 2));
    OK(cuGraphReleaseUserObject(graph, object, 1));
    EQUAL(ended, 0); /* the program has one */
    OK(cuUserObjectRetain(object, 2));
    OK(cuUserObjectRelease(object, 2));
    EQUAL(ended, 0);
    OK(cuGraphRetainUserObject(graph, object, 3, 0));
    OK(cuUserObjectRelease(object, 1));
    EQUAL(ended, 0); /* the graph has three */
    CUgraph clone = NULL;
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphDestroy(graph));
    EQUAL(ended, 0); /* and its clone as many */
    OK(cuGraphReleaseUserObject(clone, object, 2));
    EQUAL(ended, 0);
    OK(cuGraphReleaseUserObject(clone, object, 1));
    EQUAL(ended, 1);
    IS(cuGraphReleaseUserObject(clone, object, 1), ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(clone));
    EQUAL(ended, 1);
    object = (CUuserObject)(uintptr_t)0x77;
    IS(cuUserObjectCreate(&object, &ended, count_up, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), ERROR_INVALID_VALUE);
    EQUAL((uintptr_t)object, 0x77); /* an object without references does not exist */
}

/* Unloading the library frees what the program leaves behind: a graph's object, whose function is not called. */
static void leave_objects(void)
{
    static int ended;
    CUgraph graph = new_graph();
    OK(cuGraphRetainUserObject(graph, object_of(&ended), 1, CU_GRAPH_USER_OBJECT_MOVE));
    EQUAL(ended, 0);
}

/* ---- the first version of a kernel's parameters ---- */

#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params);

static void test_kernel_v1(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    uint64_t size = 16;
    unsigned char value = 0x63;
    CUdeviceptr at = memory;
    void *args[] = {&at, &size, &value};
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&function, module, "fill_span"));
    const CUDA_KERNEL_NODE_PARAMS params = {.func = function, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
                                            .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
    const CUDA_KERNEL_NODE_PARAMS_v1 first = {.func = function, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
                                              .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    value = 0x64;
    OK(cuGraphKernelNodeSetParams(node, &first));
    IS(cuGraphKernelNodeSetParams(node, NULL), ERROR_INVALID_VALUE);
    CUgraphExec exec = instance_of(graph);
    launch(exec);
    EQUAL(byte_at(memory + 15), 0x64);
    value = 0x65;
    OK(cuGraphExecKernelNodeSetParams(exec, node, &first));
    launch(exec);
    EQUAL(byte_at(memory + 15), 0x65);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuModuleUnload(module));
}

int main(void)
{
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    context = begin();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, 4096));
    OK(cuMemsetD8(memory, 0, 4096));
    test_order();
    test_no_lists();
    test_snapshot();
    test_kernel();
    test_kernel_v1();
    test_update();
    test_objects();
    test_references();
    leave_objects();
    test_remapped();
    test_unmapped();
    return tap_done();
}
