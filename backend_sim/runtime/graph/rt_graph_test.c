/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of the runtime: their nodes by type, edges, instances, updates, user objects, launches. */
#include <unistd.h>

#include "testing/emitted.h"

enum { BYTES = 64 };

static cudaStream_t stream;
static unsigned char *memory;
static char order[16];

static void note(void *letter)
{
    strncat(order, letter, 1);
}

static cudaGraph_t new_graph(void)
{
    cudaGraph_t graph = NULL;
    OK(cudaGraphCreate(&graph, 0));
    return graph;
}

static size_t nodes_in(cudaGraph_t graph)
{
    size_t count = 0;
    OK(cudaGraphGetNodes(graph, NULL, &count));
    return count;
}

static void is_of(cudaGraphNode_t node, enum cudaGraphNodeType want)
{
    enum cudaGraphNodeType type = cudaGraphNodeTypeConditional;
    OK(cudaGraphNodeGetType(node, &type));
    EQUAL(type, want);
}

static cudaGraphNode_t add_host(cudaGraph_t graph, const cudaGraphNode_t *after, const char *letter)
{
    const struct cudaHostNodeParams params = {note, (void *)(uintptr_t)letter};
    cudaGraphNode_t node = NULL;
    OK(cudaGraphAddHostNode(&node, graph, after, after != NULL, &params));
    return node;
}

static void launch(cudaGraph_t graph)
{
    cudaGraphExec_t exec = NULL;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphUpload(exec, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphExecDestroy(exec));
}

static unsigned byte_at(size_t offset)
{
    unsigned char byte = 0;
    OK(cudaMemcpyAsync(&byte, memory + offset, 1, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    return byte;
}

/* ---- nodes ---- */

static void test_host(void)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t first = add_host(graph, NULL, "a"), second = add_host(graph, &first, "b"), node = NULL;
    struct cudaHostNodeParams params = {NULL, NULL};
    cudaGraphExec_t exec = NULL;
    is_of(first, cudaGraphNodeTypeHost);
    OK(cudaGraphHostNodeGetParams(first, &params));
    tap_ok(params.fn == note && *(char *)params.userData == 'a', "a node's function is read back");
    params.userData = "c";
    OK(cudaGraphHostNodeSetParams(second, &params));
    order[0] = 0;
    launch(graph);
    tap_text(order, "ac", "what was done");
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    params.userData = "d";
    OK(cudaGraphExecHostNodeSetParams(exec, first, &params));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    tap_text(order, "acdc", "an instance's own parameters");
    OK(cudaGraphExecDestroy(exec));
    REFUSED(cudaGraphAddHostNode(&node, graph, NULL, 0, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphAddHostNode(&node, graph, NULL, 0, &(struct cudaHostNodeParams){NULL, NULL}), ErrorInvalidValue);
    REFUSED(cudaGraphHostNodeGetParams(first, NULL), ErrorInvalidValue);
    tap_ok(!node && nodes_in(graph) == 2, "nothing is added");
    OK(cudaGraphDestroy(graph));
}

static void test_fill(void)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = NULL, none = NULL;
    struct cudaMemsetParams params = {.dst = memory, .value = 7, .elementSize = 1, .width = BYTES, .height = 1}, read;
    cudaGraphExec_t exec = NULL;
    OK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &params));
    is_of(node, cudaGraphNodeTypeMemset);
    launch(graph);
    EQUAL(byte_at(BYTES - 1), 7);
    OK(cudaGraphMemsetNodeGetParams(node, &read));
    tap_ok(read.dst == memory && read.value == 7 && read.elementSize == 1 && read.width == BYTES, "a fill is read back");
    params.value = 8;
    OK(cudaGraphMemsetNodeSetParams(node, &params));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    params.value = 9;
    OK(cudaGraphExecMemsetNodeSetParams(exec, node, &params));
    OK(cudaGraphLaunch(exec, stream));
    EQUAL(byte_at(0), 9);
    launch(graph);
    EQUAL(byte_at(0), 8);
    OK(cudaGraphExecDestroy(exec));
    params.elementSize = 3;
    REFUSED(cudaGraphAddMemsetNode(&none, graph, NULL, 0, &params), ErrorInvalidValue);
    REFUSED(cudaGraphAddMemsetNode(&none, graph, NULL, 0, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphMemsetNodeSetParams(node, &params), ErrorInvalidValue);
    tap_ok(!none && nodes_in(graph) == 1, "nothing is added");
    OK(cudaGraphDestroy(graph));
}

static struct cudaMemcpy3DParms rows(void *to, void *from, enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {from, 16, 16, 4}, .dstPtr = {to, 16, 16, 4}, .extent = {16, 4, 1}, .kind = kind};
}

static void test_copy(void)
{
    static unsigned char from[BYTES], to[BYTES];
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t up = NULL, down = NULL, none = NULL;
    struct cudaMemcpy3DParms params = rows(memory, from, cudaMemcpyHostToDevice), read;
    cudaGraphExec_t exec = NULL;
    memset(from, 3, sizeof from);
    OK(cudaGraphAddMemcpyNode(&up, graph, NULL, 0, &params));
    is_of(up, cudaGraphNodeTypeMemcpy);
    OK(cudaGraphAddMemcpyNode1D(&down, graph, &up, 1, to, memory, BYTES, cudaMemcpyDefault));
    launch(graph);
    EQUAL(to[BYTES - 1], 3);
    OK(cudaGraphMemcpyNodeGetParams(up, &read));
    tap_ok(read.srcPtr.ptr == from && read.dstPtr.ptr == memory && read.srcPtr.pitch == 16 && read.extent.height == 4 &&
               read.kind == cudaMemcpyHostToDevice, "a copy of rows is read back");
    OK(cudaGraphMemcpyNodeGetParams(down, &read));
    tap_ok(read.srcPtr.ptr == memory && read.dstPtr.ptr == to && read.extent.width == BYTES && read.kind == cudaMemcpyDefault,
           "a copy of a span is read back");
    OK(cudaGraphMemcpyNodeSetParams1D(down, to, memory, 1, cudaMemcpyDeviceToHost));
    OK(cudaGraphMemcpyNodeGetParams(down, &read));
    EQUAL(read.kind, cudaMemcpyDeviceToHost);
    params.extent.height = 2;
    OK(cudaGraphMemcpyNodeSetParams(up, &params));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecMemcpyNodeSetParams1D(exec, down, to + 1, memory, 1, cudaMemcpyDeviceToHost));
    params = rows(to + 2, memory, cudaMemcpyDeviceToHost);
    REFUSED(cudaGraphExecMemcpyNodeSetParams(exec, down, &params), ErrorInvalidValue); /* rows instead of a span */
    params.extent = (struct cudaExtent){1, 1, 1};
    memset(from, 4, sizeof from);
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    tap_ok(to[0] == 3 && to[1] == 4 && byte_at(31) == 4 && byte_at(32) == 3, "the instance copies with the parameters that were set");
    OK(cudaGraphExecMemcpyNodeSetParams(exec, down, &params));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    EQUAL(to[2], 4);
    OK(cudaGraphExecDestroy(exec));
    params.kind = (enum cudaMemcpyKind)5;
    REFUSED(cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params), ErrorInvalidMemcpyDirection);
    REFUSED(cudaGraphAddMemcpyNode(&none, graph, NULL, 0, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphMemcpyNodeSetParams(up, &params), ErrorInvalidMemcpyDirection);
    REFUSED(cudaGraphExecMemcpyNodeSetParams(NULL, up, &params), ErrorInvalidMemcpyDirection);
    params = rows(memory, from, cudaMemcpyHostToDevice);
    params.dstPtr.pitch = params.extent.width - 1;
    REFUSED(cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params), ErrorInvalidPitchValue);
    REFUSED(cudaGraphMemcpyNodeGetParams(up, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphMemcpyNodeGetParams(NULL, &read), ErrorInvalidValue);
    REFUSED(cudaGraphAddMemcpyNode1D(&none, graph, NULL, 0, memory, NULL, 8, cudaMemcpyDeviceToDevice), ErrorInvalidValue);
    params = rows(memory, from, cudaMemcpyHostToDevice);
    params.srcArray = (cudaArray_t)(void *)from;
    REFUSED(cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params), ErrorInvalidValue); /* an array and a pointer */
    params.srcPtr.ptr = NULL;
    REFUSED(cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params), ErrorInvalidValue); /* an array is not host memory */
    params.kind = cudaMemcpyDeviceToDevice;
    REFUSED(cudaGraphAddMemcpyNode(&none, graph, NULL, 0, &params), ErrorDeviceUninitialized); /* a forged array */
    tap_ok(!none && nodes_in(graph) == 2, "nothing is added");
    OK(cudaGraphDestroy(graph));
}

static void test_events(void)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t record = NULL, wait = NULL, empty = NULL;
    cudaEvent_t event = NULL, other = NULL, read = NULL;
    cudaGraphExec_t exec = NULL;
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));
    OK(cudaGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    OK(cudaGraphAddEmptyNode(&empty, graph, &record, 1));
    OK(cudaGraphAddEventWaitNode(&wait, graph, &empty, 1, event));
    is_of(record, cudaGraphNodeTypeEventRecord);
    is_of(wait, cudaGraphNodeTypeWaitEvent);
    is_of(empty, cudaGraphNodeTypeEmpty);
    OK(cudaGraphEventRecordNodeGetEvent(record, &read));
    tap_ok(read == event, "the event that is recorded");
    OK(cudaGraphEventWaitNodeGetEvent(wait, &read));
    tap_ok(read == event, "the event that is waited for");
    OK(cudaGraphEventRecordNodeSetEvent(record, other));
    OK(cudaGraphEventWaitNodeSetEvent(wait, other));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, event));
    OK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, event));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaEventQuery(event));
    REFUSED(cudaGraphAddEventRecordNode(&record, graph, NULL, 0, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphEventWaitNodeGetEvent(record, &read), ErrorInvalidValue);
    REFUSED(cudaGraphNodeGetType(wait, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphNodeGetType(NULL, &(enum cudaGraphNodeType){0}), ErrorInvalidValue);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(event));
    OK(cudaEventDestroy(other));
}

static void test_child(void)
{
    cudaGraph_t graph = new_graph(), child = new_graph(), inside = NULL, clone = NULL;
    cudaGraphNode_t node = NULL, found = NULL, host = add_host(child, NULL, "x");
    cudaGraphExec_t exec = NULL;
    OK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    is_of(node, cudaGraphNodeTypeGraph);
    OK(cudaGraphChildGraphNodeGetGraph(node, &inside));
    tap_ok(inside != child && nodes_in(inside) == 1, "a node has its own graph");
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&found, node, clone));
    tap_ok(found && found != node, "a clone has its own nodes");
    REFUSED(cudaGraphNodeFindInClone(&found, host, clone), ErrorInvalidValue);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecChildGraphNodeSetParams(exec, node, child));
    order[0] = 0;
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    tap_text(order, "x", "the child is done");
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroyNode(node));
    EQUAL(nodes_in(graph), 0);
    REFUSED(cudaGraphDestroyNode(node), ErrorInvalidValue);
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphDestroy(child));
    OK(cudaGraphDestroy(graph));
    REFUSED(cudaGraphDestroy(graph), ErrorInvalidValue);
    REFUSED(cudaGraphCreate(NULL, 0), ErrorInvalidValue);
    REFUSED(cudaGraphCreate(&graph, 1), ErrorInvalidValue);
}

/* ---- memory ---- */

static void test_memory(void)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t alloc = NULL, fill = NULL, release = NULL, none = NULL;
    struct cudaMemAllocNodeParams params = {
        .poolProps = {.allocType = cudaMemAllocationTypePinned, .location = {cudaMemLocationTypeDevice, 0}}, .bytesize = 1 << 20};
    struct cudaMemAllocNodeParams read;
    unsigned long long used = 9, reserved = 9;
    void *at = NULL;
    OK(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    is_of(alloc, cudaGraphNodeTypeMemAlloc);
    tap_ok(params.dptr != NULL, "the address is known at once");
    OK(cudaGraphMemAllocNodeGetParams(alloc, &read));
    tap_ok(read.dptr == params.dptr && read.bytesize == 1 << 20, "an allocation is read back");
    const struct cudaMemsetParams into = {.dst = params.dptr, .value = 1, .elementSize = 4, .width = 16, .height = 1};
    OK(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &into));
    OK(cudaGraphAddMemFreeNode(&release, graph, &fill, 1, params.dptr));
    is_of(release, cudaGraphNodeTypeMemFree);
    OK(cudaGraphMemFreeNodeGetParams(release, &at));
    tap_ok(at == params.dptr, "so is what is freed");
    launch(graph);
    OK(cudaDeviceGraphMemTrim(0));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    EQUAL(used, 0);
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
    tap_ok(used >= 1 << 20, "the most that was in use");
    used = 0;
    OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
    EQUAL(used, 0);
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved));
    EQUAL(reserved, 0);
    REFUSED(cudaDeviceGetGraphMemAttribute(9, cudaGraphMemAttrUsedMemHigh, &used), ErrorInvalidDevice);
    REFUSED(cudaDeviceGetGraphMemAttribute(0, (enum cudaGraphMemAttributeType)9, &used), ErrorInvalidValue);
    REFUSED(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used), ErrorInvalidValue);
    REFUSED(cudaDeviceGraphMemTrim(-1), ErrorInvalidDevice);
    params.bytesize = 0;
    REFUSED(cudaGraphAddMemAllocNode(&none, graph, NULL, 0, &params), ErrorInvalidValue);
    REFUSED(cudaGraphAddMemAllocNode(&none, graph, NULL, 0, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphAddMemFreeNode(&none, graph, NULL, 0, memory), ErrorInvalidValue);
    REFUSED(cudaGraphMemFreeNodeGetParams(release, NULL), ErrorInvalidValue);
    tap_ok(!none && nodes_in(graph) == 3, "nothing is added");
    OK(cudaGraphDestroy(graph));
}

/* ---- edges ---- */

static void test_edges(void)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node[3], from[4], to[4];
    cudaGraphEdgeData data[4];
    size_t count = 4;
    for (int i = 0; i < 3; i++)
        OK(cudaGraphAddEmptyNode(&node[i], graph, NULL, 0));
    OK(cudaGraphAddDependencies(graph, node, node + 1, NULL, 2));
    OK(cudaGraphGetEdges(graph, from, to, data, &count));
    tap_ok(count == 2 && from[0] == node[0] && to[0] == node[1] && data[0].type == 0, "two edges");
    count = 4;
    OK(cudaGraphGetRootNodes(graph, from, &count));
    tap_ok(count == 1 && from[0] == node[0], "one root");
    count = 4;
    OK(cudaGraphNodeGetDependencies(node[1], from, NULL, &count));
    tap_ok(count == 1 && from[0] == node[0], "the dependencies of a node");
    count = 4;
    OK(cudaGraphNodeGetDependentNodes(node[1], to, NULL, &count));
    tap_ok(count == 1 && to[0] == node[2], "the dependents of a node");
    REFUSED(cudaGraphAddDependencies(graph, node, node + 1, NULL, 1), ErrorInvalidValue);
    REFUSED(cudaGraphAddDependencies(graph, node, node, NULL, 1), ErrorInvalidValue);
    OK(cudaGraphRemoveDependencies(graph, node, node + 1, NULL, 1));
    REFUSED(cudaGraphRemoveDependencies(graph, node, node + 1, NULL, 1), ErrorInvalidValue);
    count = 0;
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count));
    EQUAL(count, 1);
    REFUSED(cudaGraphGetEdges(graph, NULL, NULL, NULL, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphGetNodes(NULL, NULL, &count), ErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
}

/* ---- any type ---- */

static void test_any(void)
{
    static unsigned char to[BYTES];
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t fill = NULL, copy = NULL, alloc = NULL, none = NULL;
    cudaGraphExec_t exec = NULL;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeMemset,
                                         .memset = {.dst = memory, .value = 5, .elementSize = 1, .width = BYTES, .height = 1}};
    OK(cudaGraphAddNode(&fill, graph, NULL, NULL, 0, &params));
    struct cudaGraphNodeParams down = {.type = cudaGraphNodeTypeMemcpy,
                                       .memcpy = {.copyParams = rows(to, memory, cudaMemcpyDeviceToHost)}};
    down.memcpy.copyParams.extent = (struct cudaExtent){BYTES, 1, 1};
    down.memcpy.copyParams.srcPtr.pitch = down.memcpy.copyParams.dstPtr.pitch = BYTES;
    OK(cudaGraphAddNode(&copy, graph, &fill, NULL, 1, &down));
    launch(graph);
    EQUAL(to[BYTES - 1], 5);
    params.memset.value = 6;
    OK(cudaGraphNodeSetParams(fill, &params));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    down.memcpy.copyParams.extent.width = 16;
    OK(cudaGraphExecNodeSetParams(exec, copy, &down));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    tap_ok(to[15] == 6 && to[16] == 5, "the node and the instance have changed");
    OK(cudaGraphExecDestroy(exec));
    struct cudaGraphNodeParams memory_of = {
        .type = cudaGraphNodeTypeMemAlloc,
        .alloc = {.poolProps = {.allocType = cudaMemAllocationTypePinned, .location = {cudaMemLocationTypeDevice, 0}}, .bytesize = 64}};
    OK(cudaGraphAddNode(&alloc, graph, NULL, NULL, 0, &memory_of));
    tap_ok(memory_of.alloc.dptr != NULL, "the address is written into the parameters");
    struct cudaGraphNodeParams host = {.type = cudaGraphNodeTypeHost, .host = {note, "h"}};
    OK(cudaGraphAddNode(&none, graph, NULL, NULL, 0, &host));
    is_of(none, cudaGraphNodeTypeHost);
    none = NULL;
    REFUSED(cudaGraphAddNode(&none, graph, NULL, NULL, 0, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphNodeSetParams(fill, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphExecNodeSetParams(NULL, fill, NULL), ErrorInvalidValue);
    for (int i = 0; i < 3; i++) {
        struct cudaGraphNodeParams wrong = down;
        wrong.memcpy.reserved[i] = 1;
        REFUSED(cudaGraphAddNode(&none, graph, NULL, NULL, 0, &wrong), ErrorInvalidValue);
    }
    params.reserved2 = 1;
    REFUSED(cudaGraphAddNode(&none, graph, NULL, NULL, 0, &params), ErrorInvalidValue);
    tap_ok(!none && nodes_in(graph) == 4, "nothing is added");
    OK(cudaGraphDestroy(graph));
}

/* ---- kernels ---- */

static char stub, unknown;
static uint32_t variable;

static void test_kernels(void)
{
    void **image = __cudaRegisterFatBinary(&fat_binary);
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = NULL, none = NULL;
    cudaGraphExec_t exec = NULL;
    uint64_t n = BYTES;
    uint8_t value = 11;
    void *args[] = {&memory, &n, &value};
    struct cudaKernelNodeParams params = {.func = &stub, .gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}, .kernelParams = args}, read;
    register_function(image, &stub, "fill_span");
    OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    is_of(node, cudaGraphNodeTypeKernel);
    value = 12; /* the parameters were copied */
    launch(graph);
    EQUAL(byte_at(BYTES - 1), 11);
    OK(cudaGraphKernelNodeGetParams(node, &read));
    tap_ok(read.func == &stub && read.gridDim.x == 1 && read.blockDim.z == 1 && !read.sharedMemBytes, "the host's function is read back");
    OK(cudaGraphKernelNodeSetParams(node, &params));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    value = 13;
    OK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    OK(cudaGraphLaunch(exec, stream));
    EQUAL(byte_at(0), 13);
    launch(graph);
    EQUAL(byte_at(0), 12);
    struct cudaGraphNodeParams any = {.type = cudaGraphNodeTypeKernel, .kernel = {.func = &stub, .gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}, .kernelParams = args}};
    OK(cudaGraphAddNode(&none, graph, &node, NULL, 1, &any));
    launch(graph);
    EQUAL(byte_at(0), 13);
    OK(cudaGraphExecDestroy(exec));
    none = NULL;
    params.func = &unknown;
    REFUSED(cudaGraphAddKernelNode(&none, graph, NULL, 0, &params), ErrorInvalidResourceHandle);
    REFUSED(cudaGraphKernelNodeSetParams(node, &params), ErrorInvalidResourceHandle);
    REFUSED(cudaGraphExecKernelNodeSetParams(NULL, node, &params), ErrorInvalidResourceHandle);
    params.func = NULL;
    REFUSED(cudaGraphAddKernelNode(&none, graph, NULL, 0, &params), ErrorInvalidDeviceFunction);
    REFUSED(cudaGraphAddKernelNode(&none, graph, NULL, 0, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphKernelNodeGetParams(node, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphKernelNodeGetParams(NULL, &read), ErrorInvalidValue);
    tap_ok(!none, "nothing is added");
    OK(cudaGraphDestroy(graph));
    __cudaUnregisterFatBinary(image);
}

static void test_variables(void)
{
    void **image = __cudaRegisterFatBinary(&fat_binary);
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t in = NULL, out = NULL, none = NULL;
    cudaGraphExec_t exec = NULL;
    uint32_t from = 0x01020304, to = 0;
    register_variable(image, &variable, "counter", sizeof variable);
    OK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, NULL, 0, &variable, &from, 4, 0, cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, &to, &variable, 4, 0, cudaMemcpyDeviceToHost));
    launch(graph);
    EQUAL(to, 0x01020304);
    OK(cudaGraphMemcpyNodeSetParamsToSymbol(in, &variable, &from, 2, 2, cudaMemcpyDefault));
    OK(cudaGraphMemcpyNodeSetParamsFromSymbol(out, &to, &variable, 4, 0, cudaMemcpyDefault));
    launch(graph);
    EQUAL(to, 0x03040304);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    from = 0x99;
    OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, in, &variable, &from, 1, 0, cudaMemcpyDefault));
    OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, out, (char *)&to + 1, &variable, 1, 0, cudaMemcpyDefault));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    EQUAL(to, 0x03049904);
    OK(cudaGraphExecDestroy(exec));
    REFUSED(cudaGraphAddMemcpyNodeToSymbol(&none, graph, NULL, 0, &stub, &from, 4, 0, cudaMemcpyHostToDevice), ErrorInvalidSymbol);
    REFUSED(cudaGraphAddMemcpyNodeToSymbol(&none, graph, NULL, 0, &variable, &from, 4, 1, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaGraphAddMemcpyNodeToSymbol(&none, graph, NULL, 0, &variable, &from, 0, 5, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaGraphAddMemcpyNodeToSymbol(&none, graph, NULL, 0, &variable, &from, 4, 0, cudaMemcpyDeviceToHost),
            ErrorInvalidMemcpyDirection);
    REFUSED(cudaGraphAddMemcpyNodeFromSymbol(&none, graph, NULL, 0, &to, &variable, 4, 0, cudaMemcpyHostToDevice),
            ErrorInvalidMemcpyDirection);
    tap_ok(!none && nodes_in(graph) == 2, "nothing is added");
    OK(cudaGraphAddMemcpyNodeToSymbol(&none, graph, NULL, 0, &variable, memory, 4, 0, cudaMemcpyDeviceToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&none, graph, NULL, 0, memory, &variable, 4, 0, cudaMemcpyDeviceToDevice));
    OK(cudaGraphDestroy(graph));
    __cudaUnregisterFatBinary(image);
}

/* ---- instances ---- */

static void test_instances(void)
{
    cudaGraph_t graph = new_graph(), other = new_graph();
    cudaGraphNode_t node = add_host(graph, NULL, "a");
    cudaGraphExec_t exec = NULL, none = NULL;
    cudaGraphInstantiateParams params = {.flags = cudaGraphInstantiateFlagUpload, .uploadStream = stream};
    cudaGraphExecUpdateResultInfo info;
    unsigned long long flags = 9;
    unsigned enabled = 9;
    OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
    EQUAL(params.result_out, cudaGraphInstantiateSuccess);
    OK(cudaGraphExecGetFlags(exec, &flags));
    EQUAL(flags, cudaGraphInstantiateFlagUpload);
    REFUSED(cudaGraphExecGetFlags(exec, NULL), ErrorInvalidValue);
    REFUSED(cudaGraphExecGetFlags(NULL, &flags), ErrorInvalidValue);
    REFUSED(cudaGraphNodeSetEnabled(exec, node, 0), ErrorInvalidValue);
    REFUSED(cudaGraphNodeGetEnabled(exec, node, &enabled), ErrorInvalidValue);
    add_host(other, NULL, "b");
    OK(cudaGraphExecUpdate(exec, other, &info));
    EQUAL(info.result, cudaGraphExecUpdateSuccess);
    order[0] = 0;
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    tap_text(order, "b", "the instance is updated");
    add_host(other, NULL, "c");
    REFUSED(cudaGraphExecUpdate(exec, other, &info), ErrorGraphExecUpdateFailure);
    EQUAL(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    OK(cudaGraphExecUpdate(exec, graph, NULL));
    OK(cudaGraphExecDestroy(exec));
    REFUSED(cudaGraphLaunch(exec, stream), ErrorInvalidValue);
    REFUSED(cudaGraphUpload(exec, stream), ErrorInvalidValue);
    REFUSED(cudaGraphExecDestroy(exec), ErrorInvalidValue);
    REFUSED(cudaGraphInstantiate(NULL, graph, 0), ErrorInvalidValue);
    REFUSED(cudaGraphInstantiate(&none, graph, 0x100), ErrorInvalidValue);
    REFUSED(cudaGraphInstantiateWithFlags(&none, NULL, 0), ErrorInvalidValue);
    REFUSED(cudaGraphInstantiateWithParams(&none, graph, NULL), ErrorInvalidValue);
    params.flags = 0x100;
    REFUSED(cudaGraphInstantiateWithParams(&none, graph, &params), ErrorInvalidValue);
    tap_ok(!none, "no instance is created");
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(other));
}

static void test_enabled(void)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec = NULL;
    const struct cudaMemsetParams fill = {.dst = memory, .value = 20, .elementSize = 1, .width = 1, .height = 1};
    unsigned enabled = 9;
    OK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
    launch(graph);
    OK(cudaMemset(memory, 0, BYTES));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphNodeSetEnabled(exec, node, 0));
    OK(cudaGraphNodeGetEnabled(exec, node, &enabled));
    EQUAL(enabled, 0);
    OK(cudaGraphLaunch(exec, stream));
    EQUAL(byte_at(0), 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

/* ---- user objects ---- */

static void gone(void *count)
{
    *(int *)count += 1;
}

static void test_objects(void)
{
    cudaGraph_t graph = new_graph();
    cudaUserObject_t object = NULL, none = NULL;
    int count = 0;
    OK(cudaUserObjectCreate(&object, &count, gone, 1, cudaUserObjectNoDestructorSync));
    OK(cudaUserObjectRetain(object, 2));
    OK(cudaGraphRetainUserObject(graph, object, 1, 0));
    OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    OK(cudaGraphReleaseUserObject(graph, object, 1));
    OK(cudaUserObjectRelease(object, 2));
    EQUAL(count, 0);
    REFUSED(cudaUserObjectCreate(&none, &count, gone, 1, 0), ErrorInvalidValue);
    REFUSED(cudaUserObjectCreate(&none, &count, NULL, 1, cudaUserObjectNoDestructorSync), ErrorInvalidValue);
    REFUSED(cudaGraphRetainUserObject(graph, object, 1, 7), ErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
    EQUAL(count, 1);
}

static void test_picture(void)
{
    char path[] = "/tmp/rt_graph_XXXXXX", text[4096] = "";
    cudaGraph_t graph = new_graph();
    int fd = mkstemp(path);
    tap_ok(fd >= 0, "a file");
    add_host(graph, NULL, "a");
    OK(cudaGraphDebugDotPrint(graph, path, cudaGraphDebugDotFlagsVerbose));
    tap_ok(read(fd, text, sizeof text - 1) > 0 && strstr(text, "digraph"), "the picture is of a graph");
    close(fd);
    unlink(path);
    REFUSED(cudaGraphDebugDotPrint(NULL, path, 0), ErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
}

enum { MANY = 10000 };

/* A row of nodes, the last of which depends on all the others. */
static void test_many(void)
{
    cudaGraph_t graph = new_graph();
    cudaGraphNode_t *nodes = calloc(MANY, sizeof *nodes), last = NULL;
    const struct cudaMemsetParams fill = {.dst = memory, .value = 33, .elementSize = 1, .width = 1, .height = 1};
    unsigned wrong = 0;
    size_t count = 0;
    for (int i = 0; i < MANY - 1; i++)
        wrong += cudaGraphAddEmptyNode(&nodes[i], graph, NULL, 0) != cudaSuccess;
    wrong += cudaGraphAddMemsetNode(&last, graph, nodes, MANY - 1, &fill) != cudaSuccess;
    EQUAL(wrong, 0);
    EQUAL(nodes_in(graph), MANY);
    OK(cudaGraphNodeGetDependencies(last, NULL, NULL, &count));
    EQUAL(count, MANY - 1);
    launch(graph);
    EQUAL(byte_at(0), 33);
    OK(cudaGraphDestroy(graph));
    free(nodes);
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    alarm(60);
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMalloc((void **)&memory, BYTES));
    test_host();
    test_fill();
    test_copy();
    test_events();
    test_child();
    test_memory();
    test_edges();
    test_any();
    test_kernels();
    test_variables();
    test_instances();
    test_enabled();
    test_objects();
    test_picture();
    test_many();
    OK(cudaFree(memory));
    OK(cudaStreamDestroy(stream));
    return tap_done();
}
