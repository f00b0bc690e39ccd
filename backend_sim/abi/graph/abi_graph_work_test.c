/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes accept, and what a launch does to registered and pageable memory, which only the host can copy. */
#include "testing/heard.h"

enum { WORDS = 64 };

static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static uint32_t registered[1024], pageable[1024];

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cuGraphCreate(&graph, 0));
    return graph;
}

static void launch_and_end(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static CUdeviceptr as_device(const void *host)
{
    return (CUdeviceptr)(uintptr_t)host;
}

/* ---- what nodes accept ---- */

static void test_events(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUevent event = NULL;
    OK(cuEventCreate(&event, 0));
    OK(cuEventDestroy(event));
    REFUSED(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event), ERROR_INVALID_HANDLE, "VMM-EVENT-UNKNOWN");
    REFUSED(cuGraphAddEventWaitNode(&node, graph, NULL, 0, event), ERROR_INVALID_HANDLE, "VMM-EVENT-UNKNOWN");
    tap_ok(!node, "no node was added");
    OK(cuGraphDestroy(graph));
}

static void test_empty_copies(void)
{
    static const size_t sizes[][3] = {{0, 1, 1}, {16, 0, 1}, {16, 1, 0}};
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    size_t count = 9;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory,
                                    .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = memory + 64,
                                    .WidthInBytes = sizes[i][0], .Height = sizes[i][1], .Depth = sizes[i][2]};
        REFUSED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    }
    OK(cuGraphGetNodes(graph, NULL, &count));
    EQUAL(count, 0);
    OK(cuGraphDestroy(graph));
}

/* The memory is the same for every context: a node of a context that ended meanwhile runs like any other. No node can be added
 * in a context that has ended. */
static void test_ended_context(void)
{
    CUcontext other = NULL;
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    size_t count = 0;
    const CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 5, 1, 16, 1};
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = memory + 64, .WidthInBytes = 16, .Height = 1, .Depth = 1};
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, other));
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(context));
    REFUSED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, other), ERROR_CONTEXT_IS_DESTROYED, "VMM-CTX-ENDED");
    REFUSED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, other), ERROR_CONTEXT_IS_DESTROYED, "VMM-CTX-ENDED");
    any.memcpy = (CUDA_MEMCPY_NODE_PARAMS){.copyCtx = other, .copyParams = copy};
    REFUSED(cuGraphAddNode(&node, graph, NULL, NULL, 0, &any), ERROR_CONTEXT_IS_DESTROYED, "VMM-CTX-ENDED");
    OK(cuGraphGetNodes(graph, NULL, &count));
    EQUAL(count, 1);
    launch_and_end(graph);
    EQUAL(byte_at(memory + 15), 5);
}

/* Memory of cuMemAlloc and page-locked memory have a context, which NULL stands for. Mapped memory has none. */
static void test_null_context(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr p = 0;
    const size_t size = 2u << 20;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    const CUmemAccessDesc desc = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemCreate(&handle, size, &prop, 0));
    OK(cuMemAddressReserve(&p, size, 0, 0, 0));
    OK(cuMemMap(p, size, 0, handle, 0));
    OK(cuMemSetAccess(p, size, &desc, 1));
    CUDA_MEMSET_NODE_PARAMS params = {p, 0, 6, 1, 16, 1};
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    any.memset = (CUDA_MEMSET_NODE_PARAMS_v2){.dst = p, .value = 6, .elementSize = 1, .width = 16, .height = 1};
    REFUSED(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    REFUSED(cuGraphAddNode(&node, graph, NULL, NULL, 0, &any), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    tap_ok(!node, "no node was added");
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, context));
    OK(cuGraphInstantiate(&exec, graph, 0));
    REFUSED(cuGraphExecMemsetNodeSetParams(exec, node, &params, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    OK(cuGraphExecDestroy(exec));
    params.dst = memory;
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, NULL));
    launch_and_end(graph);
    EQUAL(byte_at(memory + 15), 6);
    EQUAL(byte_at(p + 15), 6);
    unsigned char *locked = NULL;
    OK(cuMemAllocHost((void **)&locked, 4096));
    params.dst = (CUdeviceptr)(uintptr_t)locked;
    graph = new_graph();
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, NULL));
    launch_and_end(graph);
    EQUAL(locked[15], 6);
    OK(cuMemFreeHost(locked));
    OK(cuMemUnmap(p, size));
    OK(cuMemAddressFree(p, size));
    OK(cuMemRelease(handle));
}

/* A value that was never a context stands for the first device, when a node is checked. */
static void test_no_context(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = {memory, 0, 6, 1, 16, 1};
    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, (CUcontext)0x1234));
    launch_and_end(graph);
    EQUAL(byte_at(memory + 15), 6);
}

/* Types that no graph here has. */
static void test_other_types(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    REFUSED(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params), ERROR_NOT_SUPPORTED, "VMM-ENTRY-ABSENT");
    params.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
    REFUSED(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params), ERROR_NOT_SUPPORTED, "VMM-ENTRY-ABSENT");
    tap_ok(!node, "no node was added");
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    REFUSED(cuGraphNodeSetParams(node, &params), ERROR_INVALID_VALUE, "VMM-GRAPH-NODE-TYPE");
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    REFUSED(cuGraphNodeSetParams(node, &params), ERROR_INVALID_VALUE, "VMM-GRAPH-NODE-TYPE");
    OK(cuGraphDestroy(graph));
}

/* ---- memory of the host ---- */

static void words_are(const uint32_t *words, size_t count, uint32_t want, const char *what)
{
    size_t same = 0;
    while (same < count && words[same] == want)
        same++;
    tap_ok(same == count && words[count] != want, "%s: %zu of %zu words, and not the next", what, same, count);
}

static void test_registered_fill(void)
{
    static const struct {
        unsigned element, value;
        uint32_t word;
    } cases[] = {{1, 0x21, 0x21212121}, {2, 0x4243, 0x42434243}, {4, 0x61626364, 0x61626364}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CUgraph graph = new_graph();
        CUgraphNode node = NULL;
        const CUDA_MEMSET_NODE_PARAMS params = {as_device(registered), 0, cases[i].value, cases[i].element,
                                                WORDS * 4 / cases[i].element, 1};
        OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, context));
        launch_and_end(graph);
        words_are(registered, WORDS, cases[i].word, "a fill of registered memory");
    }
}

static void copy_words(const CUDA_MEMCPY3D *copy)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, copy, context));
    launch_and_end(graph);
}

static void test_host_copies(void)
{
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = registered, .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = pageable, .WidthInBytes = WORDS * 4, .Height = 1, .Depth = 1};
    for (size_t i = 0; i < WORDS; i++)
        registered[i] = 0x01020304;
    copy_words(&copy);
    words_are(pageable, WORDS, 0x01020304, "registered to pageable memory");
    OK(cuMemsetD32(memory, 0x0a0b0c0d, WORDS));
    copy = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = as_device(registered), .WidthInBytes = WORDS * 4, .Height = 1, .Depth = 1};
    copy_words(&copy);
    words_are(registered, WORDS, 0x0a0b0c0d, "a device's to registered memory, by its address");
}

/* Rows and slices of 16 bytes, with their offsets on both sides; the second slice begins after the height of the first. */
static void test_slices(void)
{
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = pageable, .srcPitch = 32, .srcHeight = 4,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = memory, .dstPitch = 64, .dstHeight = 3,
                                .dstY = 1, .WidthInBytes = 16, .Height = 2, .Depth = 2};
    for (size_t i = 0; i < 1024; i++)
        pageable[i] = (uint32_t)(i / 8); /* a row's number */
    OK(cuMemsetD8(memory, 0xee, 4096));
    copy_words(&copy);
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 2; y++)
            EQUAL(byte_at(memory + (z * 3 + 1 + y) * 64), z * 4 + y);
    EQUAL(byte_at(memory + 16 + 64), 0xee);
    EQUAL(byte_at(memory), 0xee);
    EQUAL(byte_at(memory + 3 * 64), 0xee);
}

/* ---- boxes of every shape ---- */

enum { ROOM = 4096 };

/* One side of a box. */
struct box_side {
    CUmemorytype type;
    unsigned char *host; /* also where the bytes of device memory are foreseen */
    size_t x, y, z, pitch, height;
};

static size_t any_of(uint32_t *seed, size_t count)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % count;
}

static struct box_side any_side(uint32_t *seed, const CUDA_MEMCPY3D *box, unsigned char *host)
{
    struct box_side side = {.type = any_of(seed, 2) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST, .host = host};
    side.x = 7 * any_of(seed, 3), side.y = any_of(seed, 3), side.z = any_of(seed, 2);
    if (any_of(seed, 2))
        side.pitch = side.x + box->WidthInBytes + any_of(seed, 2) * 5;
    if (any_of(seed, 2))
        side.height = side.y + box->Height + any_of(seed, 2);
    return side;
}

/* Where a byte of the box lies. */
static size_t place_in(const struct box_side *side, const CUDA_MEMCPY3D *box, size_t x, size_t y, size_t z)
{
    const size_t pitch = side->pitch ? side->pitch : side->x + box->WidthInBytes;
    const size_t height = side->height ? side->height : side->y + box->Height;
    return ((side->z + z) * height + side->y + y) * pitch + side->x + x;
}

/* Random boxes between the two halves of device memory, and of host memory, compared with a plain byte-by-byte copy. */
static void test_boxes(void)
{
    static unsigned char bytes[2 * ROOM], want[ROOM], got[ROOM];
    CUdeviceptr both = 0;
    uint32_t seed = 1;
    OK(cuMemAlloc(&both, 2 * ROOM));
    for (int round = 0; round < 48; round++) {
        CUDA_MEMCPY3D box = {.WidthInBytes = 1 + any_of(&seed, 16), .Height = 1 + any_of(&seed, 3), .Depth = 1 + any_of(&seed, 3)};
        const struct box_side from = any_side(&seed, &box, bytes), to = any_side(&seed, &box, bytes + ROOM);
        for (size_t i = 0; i < 2 * ROOM; i++)
            bytes[i] = (unsigned char)any_of(&seed, 256);
        OK(cuMemcpyHtoD(both, bytes, sizeof bytes));
        memcpy(want, to.host, ROOM);
        for (size_t z = 0; z < box.Depth; z++)
            for (size_t y = 0; y < box.Height; y++)
                for (size_t x = 0; x < box.WidthInBytes; x++)
                    want[place_in(&to, &box, x, y, z)] = from.host[place_in(&from, &box, x, y, z)];
        box.srcMemoryType = from.type, box.srcHost = from.host, box.srcDevice = both;
        box.srcXInBytes = from.x, box.srcY = from.y, box.srcZ = from.z, box.srcPitch = from.pitch, box.srcHeight = from.height;
        box.dstMemoryType = to.type, box.dstHost = to.host, box.dstDevice = both + ROOM;
        box.dstXInBytes = to.x, box.dstY = to.y, box.dstZ = to.z, box.dstPitch = to.pitch, box.dstHeight = to.height;
        copy_words(&box);
        if (to.type == CU_MEMORYTYPE_HOST)
            memcpy(got, to.host, ROOM);
        else
            OK(cuMemcpyDtoH(got, both + ROOM, ROOM));
        if (!tap_ok(!memcmp(got, want, ROOM), "box %d: %zu bytes, %zu rows, %zu layers", round, box.WidthInBytes, box.Height, box.Depth))
            tap_note("from %zu,%zu,%zu of %zu,%zu to %zu,%zu,%zu of %zu,%zu", from.x, from.y, from.z, from.pitch, from.height, to.x,
                     to.y, to.z, to.pitch, to.height);
    }
    OK(cuMemFree(both));
}

/* No node holds a copy without bytes: calls that add nodes refuse it, and a capture leaves it out. */
static void test_captured_empty_copy(void)
{
    CUgraph graph = NULL;
    size_t count = 9;
    const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = pageable, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = memory, .Height = 2};
    OK(cuMemsetD8(memory, 4, 128));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemcpy2DAsync(&rows, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &count));
    EQUAL(count, 0);
    launch_and_end(graph);
    EQUAL(byte_at(memory), 4);
}

/* Copies that a capture does not accept, and one without a current context, which it accepts. */
static void test_captured_copies(void)
{
    CUgraph graph = NULL;
    size_t count = 9;
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = memory + 64, .WidthInBytes = 16, .Height = 1};
    OK(cuMemsetD8(memory, 3, 128));
    OK(cuMemsetD8(memory + 64, 4, 64));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(cuMemcpy2DAsync(NULL, stream), ERROR_INVALID_VALUE, "VMM-CALL-NULL");
    REFUSED(cuMemcpy3DAsync(NULL, stream), ERROR_INVALID_VALUE, "VMM-CALL-NULL");
    OK(cuMemcpy3DAsync(&box, stream)); /* of no slices */
    box.Depth = 1;
    OK(cuCtxSetCurrent(NULL));
    OK(cuMemcpy3DAsync(&box, stream));
    OK(cuCtxSetCurrent(context));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &count));
    EQUAL(count, 1);
    launch_and_end(graph);
    EQUAL(byte_at(memory + 64 + 15), 3);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuStreamQuery(stream), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REFUSED(cuMemcpy3DAsync(&box, stream), ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    REFUSED(cuMemcpy3DAsync(NULL, stream), ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    REFUSED(cuMemcpy2DAsync(NULL, stream), ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    IS(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* ---- what a node is ---- */

static const char *const type_names[] = {"a copy", "a fill", "a host function", "a child graph", "an event wait",
                                         "an event record", "an empty", "an allocation", "a free", "a memory operation",
                                         "a kernel"};
enum { ASKED = 11, ADDED = 10, EMPTY = 6 }; /* no kernel is added, and no call is specific to empty nodes */

static void add_types(CUgraph graph, CUgraph child, CUevent event, CUgraphNode node[ADDED])
{
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = memory + 64, .WidthInBytes = 16, .Height = 1, .Depth = 1};
    const CUDA_MEMSET_NODE_PARAMS fill = {.dst = memory, .elementSize = 1, .width = 16, .height = 1};
    const CUDA_HOST_NODE_PARAMS host = {.fn = (CUhostFn)free};
    OK(cuGraphAddMemcpyNode(&node[0], graph, NULL, 0, &copy, context));
    OK(cuGraphAddMemsetNode(&node[1], graph, NULL, 0, &fill, context));
    OK(cuGraphAddHostNode(&node[2], graph, NULL, 0, &host));
    OK(cuGraphAddChildGraphNode(&node[3], graph, NULL, 0, child));
    OK(cuGraphAddEventWaitNode(&node[4], graph, NULL, 0, event));
    OK(cuGraphAddEventRecordNode(&node[5], graph, NULL, 0, event));
    OK(cuGraphAddEmptyNode(&node[EMPTY], graph, NULL, 0));
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, .bytesize = 64};
    CUstreamBatchMemOpParams op = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = memory, .value = 1}};
    const CUDA_BATCH_MEM_OP_NODE_PARAMS ops = {.ctx = context, .count = 1, .paramArray = &op};
    OK(cuGraphAddMemAllocNode(&node[EMPTY + 1], graph, NULL, 0, &alloc));
    OK(cuGraphAddMemFreeNode(&node[EMPTY + 2], graph, &node[EMPTY + 1], 1, alloc.dptr));
    OK(cuGraphAddBatchMemOpNode(&node[EMPTY + 3], graph, NULL, 0, &ops));
}

static CUresult ask(size_t type, CUgraphNode node)
{
    static union {
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        CUDA_KERNEL_NODE_PARAMS kernel;
        CUgraph child;
        CUevent event;
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        CUdeviceptr free;
        CUDA_BATCH_MEM_OP_NODE_PARAMS ops;
    } got;
    switch (type) {
    case 0: return cuGraphMemcpyNodeGetParams(node, &got.copy);
    case 1: return cuGraphMemsetNodeGetParams(node, &got.fill);
    case 2: return cuGraphHostNodeGetParams(node, &got.host);
    case 3: return cuGraphChildGraphNodeGetGraph(node, &got.child);
    case 4: return cuGraphEventWaitNodeGetEvent(node, &got.event);
    case 5: return cuGraphEventRecordNodeGetEvent(node, &got.event);
    case EMPTY + 1: return cuGraphMemAllocNodeGetParams(node, &got.alloc);
    case EMPTY + 2: return cuGraphMemFreeNodeGetParams(node, &got.free);
    case EMPTY + 3: return cuGraphBatchMemOpNodeGetParams(node, &got.ops);
    default: return cuGraphKernelNodeGetParams(node, &got.kernel);
    }
}

/* Each call that requires a node of one type, with nodes of the other types. */
static void test_types(void)
{
    CUgraph graph = new_graph(), child = new_graph();
    CUgraphNode node[ADDED] = {NULL};
    CUevent event = NULL;
    unsigned wrong = 0;
    OK(cuEventCreate(&event, 0));
    add_types(graph, child, event, node);
    for (size_t asked = 0; asked < ASKED; asked++)
        for (size_t is = 0; asked != EMPTY && is < ADDED; is++) {
            char want[80];
            snprintf(want, sizeof want, "is %s node, not %s node", type_names[is], type_names[asked]);
            heard[0] = '\0';
            CUresult result = ask(asked, node[is]);
            bool right = asked == is ? result == CUDA_SUCCESS : result == CUDA_ERROR_INVALID_VALUE && strstr(heard, want);
            if (!right)
                tap_note("%s: %d, %s", want, (int)result, heard);
            wrong += !right;
        }
    tap_u64(wrong, 0, "the message names the node's type and the expected one");
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(child));
    OK(cuEventDestroy(event));
}

int main(void)
{
    context = begin();
    listen();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, 4096));
    OK(cuMemHostRegister(registered, sizeof registered, 0));
    test_events();
    test_types();
    test_empty_copies();
    test_ended_context();
    test_null_context();
    test_no_context();
    test_other_types();
    test_captured_copies();
    test_registered_fill();
    test_host_copies();
    test_slices();
    test_boxes();
    test_captured_empty_copy();
    OK(cuMemHostUnregister(registered));
    return tap_done();
}
