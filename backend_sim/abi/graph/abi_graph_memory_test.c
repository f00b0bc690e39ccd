/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that allocate and free memory: addresses, what a launch allocates, and how much memory graphs hold. */
#include "testing/heard.h"

#define CHUNK (UINT64_C(32) << 20)

static CUcontext context;
static CUstream stream, other_stream;
static CUdeviceptr memory;

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cuGraphCreate(&graph, 0));
    return graph;
}

static CUDA_MEM_ALLOC_NODE_PARAMS params_of(int device, size_t size)
{
    return (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}}, .bytesize = size};
}

static CUdeviceptr add_alloc(CUgraph graph, CUgraphNode *node, CUgraphNode after, size_t size)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = params_of(0, size);
    OK(cuGraphAddMemAllocNode(node, graph, &after, after != NULL, &params));
    return params.dptr;
}

static CUgraphNode add_fill(CUgraph graph, CUgraphNode after, CUdeviceptr at, unsigned value)
{
    const CUDA_MEMSET_NODE_PARAMS params = {at, 0, value, 1, 64, 1};
    CUgraphNode node = NULL;
    OK(cuGraphAddMemsetNode(&node, graph, &after, after != NULL, &params, context));
    return node;
}

static CUgraphNode add_copy(CUgraph graph, CUgraphNode after, CUdeviceptr to, CUdeviceptr from)
{
    const CUDA_MEMCPY3D params = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .dstDevice = to, .WidthInBytes = 64, .Height = 1, .Depth = 1};
    CUgraphNode node = NULL;
    OK(cuGraphAddMemcpyNode(&node, graph, &after, after != NULL, &params, context));
    return node;
}

static CUgraphNode add_free(CUgraph graph, CUgraphNode after, CUdeviceptr at)
{
    CUgraphNode node = NULL;
    OK(cuGraphAddMemFreeNode(&node, graph, &after, after != NULL, at));
    return node;
}

static CUgraphExec instance_of(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static uint64_t held(CUgraphMem_attribute attribute)
{
    cuuint64_t value = 77;
    OK(cuDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}

static uint64_t reserved(void)
{
    EQUAL(held(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), held(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
    return held(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
}

/* Destroys what a test made: all memory is returned. */
static void end(CUgraph graph, CUgraphExec exec)
{
    OK(cuStreamSynchronize(stream));
    if (exec)
        OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(reserved(), 0);
}

/* ---- a life within a graph ---- */

static void test_life(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUdeviceptr at = add_alloc(graph, &node, NULL, 100), from = 0;
    size_t left = 0, later = 0, all = 0;
    node = add_fill(graph, node, at, 0x51);
    node = add_copy(graph, node, memory, at);
    node = add_free(graph, node, at);
    OK(cuMemGetInfo(&left, &all));
    CUgraphExec exec = instance_of(graph);
    REFUSED(cuMemGetAddressRange(&from, NULL, at), ERROR_NOT_FOUND, "VMM-RANGE-NOT-FOUND");
    OK(cuGraphUpload(exec, stream));
    EQUAL(reserved(), CHUNK);
    for (int i = 0; i < 3; i++) {
        OK(cuMemsetD8(memory, 0, 64));
        OK(cuGraphLaunch(exec, i % 2 ? other_stream : stream));
        OK(cuCtxSynchronize());
        EQUAL(byte_at(memory + 63), 0x51);
        EQUAL(reserved(), CHUNK);
        tap_ok(cuMemsetD8(at, 1, 1) == CUDA_ERROR_INVALID_VALUE, "after the launch it is not allocated");
        if (i == 1)
            OK(cuDeviceGraphMemTrim(0)); /* the next launch gets memory again */
    }
    OK(cuMemGetInfo(&later, &all));
    EQUAL(left - later, CHUNK);
    end(graph, exec);
    OK(cuMemGetInfo(&later, &all));
    EQUAL(left - later, 0);
    EQUAL(held(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), CHUNK);
    OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &(cuuint64_t){0}));
    EQUAL(held(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0);
    EQUAL(held(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), CHUNK);
    OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &(cuuint64_t){0}));
    EQUAL(held(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), 0);
}

/* Memory that is left allocated outlives graph and instance, and is freed like memory of a pool. */
static void test_left(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUdeviceptr at = add_alloc(graph, &node, NULL, 4096), base = 0;
    size_t size = 0;
    add_fill(graph, node, at, 0x52);
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(byte_at(at + 63), 0x52);
    OK(cuMemGetAddressRange(&base, &size, at + 10));
    EQUAL(base, at);
    EQUAL(size, 4096);
    REFUSED(cuMemFree(at + 8), ERROR_INVALID_VALUE, "VMM-ALLOC-FREE-UNKNOWN");
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(byte_at(at + 63), 0x52); /* a trim takes idle memory only */
    OK(cuMemFreeAsync(at, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamSynchronize(stream));
    EQUAL(byte_at(at + 63), 0x52);
    graph = new_graph();
    tap_ok(add_alloc(graph, &node, NULL, 64) != at, "another graph does not get the addresses");
    OK(cuMemFree(at));
    end(graph, NULL);
}

/* ---- addresses ---- */

static void test_addresses(void)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode a = NULL, b = NULL, c = NULL, d = NULL;
    CUdeviceptr first = add_alloc(graph, &a, NULL, 100), beside = add_alloc(graph, &b, NULL, 100);
    EQUAL(beside - first, 512);
    CUgraphNode freed = add_free(graph, a, first);
    EQUAL(add_alloc(graph, &c, freed, 600), first + 1024); /* it does not fit before its neighbour */
    EQUAL(add_alloc(graph, &c, freed, 512), first);
    EQUAL(add_alloc(graph, &d, b, 512), first + 2048); /* not ordered after the free */
    EQUAL(add_alloc(graph, &d, b, CHUNK) - first, 2560); /* across the end of the first chunk */
    EQUAL(add_alloc(other, &d, NULL, 1), first + 2 * CHUNK);
    end(graph, NULL);
    graph = new_graph();
    EQUAL(add_alloc(graph, &a, NULL, 2 * CHUNK), first);
    end(graph, NULL);
    end(other, NULL);
}

/* Freed memory is reused by best fit; freed memory at the end cannot hold more than its size. */
static void test_gaps(void)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode n[8];
    CUdeviceptr at[5];
    static const size_t sizes[5] = {1536, 512, 1024, 512, 1024};
    for (int i = 0; i < 5; i++)
        at[i] = add_alloc(graph, &n[i], i ? n[i - 1] : NULL, sizes[i]);
    EQUAL(at[4] - at[0], 3584);
    n[5] = add_free(graph, n[4], at[0]);
    n[6] = add_free(graph, n[5], at[2]);
    n[7] = add_free(graph, n[6], at[4]);
    EQUAL(add_alloc(graph, &n[0], n[7], 2048) - at[0], 4608); /* after the memory that was freed at the end */
    EQUAL(add_alloc(graph, &n[1], n[0], 1024) - at[0], 2048); /* in the lowest of the smallest gaps */
    EQUAL(add_alloc(graph, &n[2], n[1], 1024) - at[0], 3584);
    add_alloc(other, &n[3], NULL, 1);
    const CUdeviceptr elsewhere = add_alloc(graph, &n[3], n[2], CHUNK); /* other addresses follow the graph's addresses */
    EQUAL(elsewhere - at[0], 2 * CHUNK);
    EQUAL(add_alloc(graph, &n[4], n[3], 512) - at[0], 0);
    end(graph, NULL);
    end(other, NULL);
}

/* Nodes may use memory that their graph or another one will allocate, up to its end and until its own graph frees it. */
static void test_planned(void)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = NULL, more = NULL;
    CUdeviceptr at = add_alloc(graph, &node, NULL, 64);
    CUDA_MEMSET_NODE_PARAMS params = {at, 0, 1, 1, 64, 1};
    OK(cuGraphAddMemsetNode(&more, other, NULL, 0, &params, context));
    params.width = 65;
    REFUSED(cuGraphAddMemsetNode(&more, other, NULL, 0, &params, context), ERROR_INVALID_VALUE, "VMM-ROWS-END");
    params.width = 64;
    add_free(graph, node, at);
    REFUSED(cuGraphAddMemsetNode(&more, graph, NULL, 0, &params, context), ERROR_INVALID_VALUE, "VMM-COPY-NOT-MAPPED");
    end(graph, instance_of(graph));
    end(other, NULL);
}

/* ---- launches of several graphs ---- */

/* Work issued to the stream now stays in flight until release. */
static void hold(void)
{
    OK(cuMemsetD32(memory + 128, 0, 1));
    OK(cuStreamWaitValue32(stream, memory + 128, 1, CU_STREAM_WAIT_VALUE_EQ));
}

static void release(void)
{
    OK(cuStreamWriteValue32(other_stream, memory + 128, 1, 0));
    OK(cuStreamSynchronize(stream));
}

static void test_shared(void)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = NULL;
    CUdeviceptr at = add_alloc(graph, &node, NULL, CHUNK), kept = add_alloc(other, &node, NULL, CHUNK);
    CUgraphNode fill = add_fill(graph, NULL, memory, 1);
    add_free(graph, fill, at);
    CUgraphExec exec = instance_of(graph), keeps = instance_of(other);
    hold();
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(keeps, stream)); /* the first launch is not done */
    EQUAL(reserved(), 2 * CHUNK);
    release();
    OK(cuMemFree(kept));
    OK(cuDeviceGraphMemTrim(0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphLaunch(keeps, stream)); /* moves it */
    EQUAL(reserved(), CHUNK);
    OK(cuGraphLaunch(exec, stream)); /* it is in use there */
    EQUAL(reserved(), 2 * CHUNK);
    OK(cuStreamSynchronize(stream));
    hold();
    OK(cuMemFreeAsync(kept, stream));
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(reserved(), CHUNK); /* the other chunk: the launch there is done */
    release();
    end(other, keeps);
    end(graph, exec);
}

/* A free node that comes before the allocation in the order of the nodes. */
static void test_free_first(void)
{
    CUgraph graph = new_graph();
    CUgraphNode root = NULL, node = NULL;
    OK(cuGraphAddEmptyNode(&root, graph, NULL, 0));
    CUdeviceptr at = add_alloc(graph, &node, root, 64);
    add_free(graph, NULL, at);
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    tap_ok(cuMemFree(at) == CUDA_ERROR_INVALID_VALUE, "it is freed");
    end(graph, exec);
}

/* A launch that gets no memory allocates nothing, even if an earlier one left memory to free. */
static void test_too_much(void)
{
    CUgraph graph = new_graph(), between = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    size_t left = 0, all = 0;
    CUdeviceptr small = add_alloc(graph, &node, NULL, 64);
    add_alloc(between, &node, NULL, 64); /* so that the graph gets a second range */
    OK(cuMemGetInfo(&left, &all));
    CUdeviceptr large = add_alloc(graph, &node, NULL, left);
    OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    REFUSED(cuGraphLaunch(exec, stream), ERROR_OUT_OF_MEMORY, "VMM-GRAPH-MEMORY-FULL");
    EQUAL(reserved(), 0);
    EQUAL(held(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), held(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH));
    tap_ok(byte_at(small) == 256 && byte_at(large) == 256, "nothing is allocated");
    end(between, NULL);
    end(graph, exec);
}

/* Memory that graphs no longer use is available to cuMemAlloc; a pool's idle memory is not available to a launch. */
static void test_idle(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUmemoryPool pool = NULL;
    size_t left = 0, all = 0;
    cuuint64_t kept = UINT64_MAX;
    CUdeviceptr plain = 0, pooled = 0;
    OK(cuMemGetInfo(&left, &all));
    const size_t most = left / 5 * 3 / CHUNK * CHUNK;
    CUdeviceptr at = add_alloc(graph, &node, NULL, most);
    add_free(graph, node, at);
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(reserved(), most);
    OK(cuMemAlloc(&plain, most));
    EQUAL(reserved(), 0);
    REFUSED(cuGraphLaunch(exec, stream), ERROR_OUT_OF_MEMORY, "VMM-GRAPH-MEMORY-FULL");
    OK(cuMemFree(plain));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept));
    OK(cuMemAllocAsync(&pooled, most, stream));
    OK(cuMemFreeAsync(pooled, stream));
    OK(cuStreamSynchronize(stream));
    REFUSED(cuGraphLaunch(exec, stream), ERROR_OUT_OF_MEMORY, "VMM-GRAPH-MEMORY-FULL");
    kept = 0;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept));
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    end(graph, exec);
}

/* Two ranges of addresses in one launch; rights without a device grant none to any device. */
static void test_two_ranges(void)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_HOST, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUDA_MEM_ALLOC_NODE_PARAMS params = params_of(0, CHUNK);
    CUgraph graph = new_graph(), between = new_graph();
    CUgraphNode node = NULL, more = NULL;
    CUdeviceptr small = add_alloc(graph, &node, NULL, 64);
    add_alloc(between, &more, NULL, 64);
    params.accessDescs = &access;
    params.accessDescCount = 1;
    OK(cuGraphAddMemAllocNode(&more, graph, NULL, 0, &params));
    add_fill(graph, node, small, 0x56);
    add_fill(graph, more, params.dptr, 0x57);
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(byte_at(small), 0x56);
    EQUAL(byte_at(params.dptr), 0x57);
    EQUAL(reserved(), 2 * CHUNK);
    REFUSED(cuGraphLaunch(exec, stream), ERROR_INVALID_VALUE, "VMM-GRAPH-MEMORY-LIVE");
    OK(cuMemFree(params.dptr));
    OK(cuMemFree(small));
    end(between, NULL);
    end(graph, exec);
}

/* An earlier launch left memory where the graph had a smaller allocation before: the next launch frees it once. */
static void test_reused(void)
{
    CUgraph graph = new_graph();
    CUgraphNode a = NULL, b = NULL, both = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr first = add_alloc(graph, &a, NULL, 512), second = add_alloc(graph, &b, a, 512), base = 0;
    size_t size = 0;
    CUgraphNode freed[2] = {add_free(graph, b, first), add_free(graph, b, second)};
    CUDA_MEM_ALLOC_NODE_PARAMS params = params_of(0, 1024);
    EQUAL(second - first, 512);
    OK(cuGraphAddMemAllocNode(&both, graph, freed, 2, &params)); /* after b in two ways */
    EQUAL(params.dptr, first);
    OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 3; i++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        OK(cuMemGetAddressRange(&base, &size, second));
        tap_ok(base == first && size == 1024, "the memory of the last node is left");
        EQUAL(reserved(), CHUNK);
    }
    OK(cuMemFree(first));
    end(graph, exec);
}

/* Room in any range is used before one grows. */
static void test_room_before_growth(void)
{
    CUgraph graph = new_graph(), between = new_graph();
    CUgraphNode node = NULL;
    CUdeviceptr full = add_alloc(graph, &node, NULL, CHUNK);
    EQUAL(add_alloc(between, &node, NULL, 64), full + CHUNK);
    CUdeviceptr second = add_alloc(graph, &node, NULL, 64);
    EQUAL(second, full + 2 * CHUNK);
    end(between, NULL); /* the first range could grow again */
    EQUAL(add_alloc(graph, &node, NULL, 64), second + 512);
    end(graph, NULL);
}

/* Memory that was freed earlier is reused, whatever other nodes there are. */
static void test_gap_among_nodes(void)
{
    CUgraph graph = new_graph();
    CUgraphNode first = NULL, second = NULL, third = NULL;
    CUdeviceptr at = add_alloc(graph, &first, NULL, 512), next = add_alloc(graph, &second, first, 512);
    CUgraphNode filled = add_fill(graph, add_fill(graph, second, at, 1), next, 2), freed = add_free(graph, filled, at);
    EQUAL(add_alloc(graph, &third, freed, 512), at);
    EQUAL(add_alloc(graph, &third, freed, 512), next + 512); /* that one is now taken */
    end(graph, NULL);
}

/* A fill of planned memory ends where its allocation does, whatever other allocations there are. */
static void test_planned_ends(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL, fill = NULL;
    const size_t sizes[] = {512, 4096, 1024};
    CUdeviceptr at[3];
    for (int i = 0; i < 3; i++)
        at[i] = add_alloc(graph, &node, NULL, sizes[i]);
    for (int i = 0; i < 3; i++)
        for (size_t from = 0; from < sizes[i]; from += sizes[i] / 2) {
            CUDA_MEMSET_NODE_PARAMS params = {at[i] + from, 0, 1, 1, sizes[i] - from, 1};
            OK(cuGraphAddMemsetNode(&fill, graph, &node, 1, &params, context));
            params.width++;
            REFUSED(cuGraphAddMemsetNode(&fill, graph, &node, 1, &params, context), ERROR_INVALID_VALUE, "VMM-ROWS-END");
        }
    end(graph, NULL);
}

/* An auto-free instance frees only what it allocated itself; memory that it frees for another graph stays until then. */
static void test_left_to_another(void)
{
    CUgraph graph = new_graph(), freeing = new_graph();
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr at = add_alloc(graph, &node, NULL, 64), base = 0;
    CUgraphExec first = instance_of(graph);
    add_free(freeing, add_copy(freeing, add_fill(freeing, NULL, at, 0x5a), memory, at), at);
    OK(cuGraphInstantiate(&exec, freeing, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 2; i++) {
        OK(cuMemsetD8(memory, 0, 64));
        OK(cuGraphLaunch(first, stream));
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        EQUAL(byte_at(memory + 63), 0x5a);
        IS(cuMemGetAddressRange(&base, NULL, at), ERROR_NOT_FOUND);
    }
    end(freeing, exec);
    end(graph, first);
}

/* A graph frees another's memory with one node. */
static void test_free_once(void)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = NULL, more = NULL;
    CUdeviceptr at = add_alloc(graph, &node, NULL, 64);
    add_free(other, NULL, at);
    REFUSED(cuGraphAddMemFreeNode(&more, other, NULL, 0, at), ERROR_INVALID_VALUE, "VMM-GRAPH-MEMORY-FREE");
    EQUAL((uintptr_t)more, 0);
    end(other, NULL);
    end(graph, NULL);
}

/* ---- children, updates and parameters ---- */

static void test_child(void)
{
    CUgraph graph = new_graph(), inner = new_graph();
    CUgraphNode node = NULL, more = NULL;
    CUdeviceptr at = add_alloc(inner, &node, NULL, 64);
    add_fill(inner, node, at, 0x53);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = inner;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    OK(cuGraphAddNode(&more, graph, NULL, NULL, 0, &params));
    CUDA_MEM_ALLOC_NODE_PARAMS another = params_of(0, 64);
    REFUSED(cuGraphAddMemAllocNode(&node, inner, NULL, 0, &another), ERROR_NOT_SUPPORTED, "VMM-GRAPH-MEMORY-FIXED");
    REFUSED(cuGraphAddMemFreeNode(&node, inner, NULL, 0, at), ERROR_NOT_SUPPORTED, "VMM-GRAPH-MEMORY-FIXED");
    CUgraphExec exec = instance_of(graph), again = NULL;
    REFUSED(cuGraphInstantiate(&again, graph, 0), ERROR_NOT_SUPPORTED, "VMM-GRAPH-MEMORY-FIXED");
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(byte_at(at), 0x53);
    REFUSED(cuGraphLaunch(exec, stream), ERROR_INVALID_VALUE, "VMM-GRAPH-MEMORY-LIVE");
    OK(cuMemFree(at));
    end(graph, exec);
}

static void test_update(void)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = NULL;
    CUgraphExecUpdateResultInfo info;
    add_alloc(graph, &node, NULL, 64);
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphExecUpdate(exec, graph, &info));
    add_alloc(other, &node, NULL, 64);
    REFUSED(cuGraphExecUpdate(exec, other, &info), ERROR_GRAPH_EXEC_UPDATE_FAILURE, "VMM-GRAPH-UPDATE");
    EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    end(other, NULL);
    end(graph, exec);
}

static void test_params(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL, freed = NULL;
    CUmemAccessDesc access[2] = {{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                                 {{CU_MEM_LOCATION_TYPE_HOST, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    CUDA_MEM_ALLOC_NODE_PARAMS params = params_of(0, 64), got;
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    CUdeviceptr at = 0;
    params.accessDescs = access;
    params.accessDescCount = 2;
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    access[0].location.id = 9; /* the node has a list of its own */
    OK(cuGraphMemAllocNodeGetParams(node, &got));
    tap_ok(got.dptr == params.dptr && got.accessDescCount == 2 && got.accessDescs != access && got.accessDescs[0].location.id == 0 &&
               got.bytesize == 64, "the parameters are those of the node");
    REFUSED(cuGraphAddMemAllocNode(&freed, graph, NULL, 0, &params), ERROR_INVALID_DEVICE, "VMM-DEVICE-ID");
    any.free.dptr = params.dptr;
    OK(cuGraphAddNode(&freed, graph, NULL, NULL, 0, &any));
    OK(cuGraphMemFreeNodeGetParams(freed, &at));
    EQUAL(at, params.dptr);
    any = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    any.alloc = params_of(0, 64);
    OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &any));
    tap_ok(any.alloc.dptr && any.alloc.dptr != at, "an address of its own");
    end(graph, NULL);
}

static void test_wrong_params(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params[6];
    size_t count = 9;
    for (int i = 0; i < 6; i++)
        params[i] = params_of(0, i ? 64 : 0);
    params[1].poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    params[2].poolProps.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    params[3].poolProps.location.id = 9;
    params[4].poolProps.location.id = -1;
    params[5].poolProps.reserved[53] = 1;
    for (int i = 0; i < 6; i++)
        REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params[i]), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    params[0].bytesize = 64;
    REFUSED(cuGraphAddMemAllocNode(NULL, graph, NULL, 0, &params[0]), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    REFUSED(cuGraphAddMemAllocNode(&node, NULL, NULL, 0, &params[0]), ERROR_INVALID_VALUE, "VMM-GRAPH-UNKNOWN");
    OK(cuGraphGetNodes(graph, NULL, &count));
    EQUAL(count, 0);
    end(graph, NULL);
}

/* ---- captures ---- */

static void test_captured(void)
{
    CUmemoryPool pool = NULL;
    const CUmemPoolProps props = params_of(0, 0).poolProps;
    CUdeviceptr at = 0, pooled = 0, none = 7, outside = 0;
    CUgraph graph = NULL;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemAllocAsync(&outside, 64, stream));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocAsync(&at, 64, stream));
    OK(cuMemAllocFromPoolAsync(&pooled, 64, pool, stream));
    OK(cuMemAllocAsync(&none, 0, stream));
    EQUAL(none, 0);
    OK(cuMemsetD8Async(at, 0x54, 64, stream));
    OK(cuMemcpyDtoDAsync(pooled, at, 64, stream));
    OK(cuMemFreeAsync(0, stream));
    OK(cuMemFreeAsync(at, stream));
    REFUSED(cuMemFreeAsync(outside, stream), ERROR_INVALID_VALUE, "VMM-GRAPH-MEMORY-FREE");
    REFUSED(cuMemAllocAsync(NULL, 64, stream), ERROR_INVALID_VALUE, "VMM-POOL-ALLOC-NULL");
    REFUSED(cuMemAllocFromPoolAsync(&none, 64, NULL, stream), ERROR_INVALID_VALUE, "VMM-POOL-UNKNOWN");
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuMemPoolDestroy(pool));
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EQUAL(byte_at(pooled + 63), 0x54);
    OK(cuMemFree(pooled));
    OK(cuMemFree(outside));
    end(graph, exec);
}

static void test_forbidden(void)
{
    CUdeviceptr at = 7;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(cuMemAllocAsync(&at, 64, other_stream), ERROR_STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS");
    EQUAL(at, 0);
    at = 7;
    REFUSED(cuMemAllocAsync(&at, 64, stream), ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    EQUAL(at, 0);
    REFUSED(cuMemAllocAsync(NULL, 64, stream), ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    REFUSED(cuMemFreeAsync(0, stream), ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    IS(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* ---- how much there is ---- */

static void test_attributes(void)
{
    cuuint64_t value = 7, one = 1;
    REFUSED(cuDeviceGetGraphMemAttribute(0, (CUgraphMem_attribute)4, &value), ERROR_INVALID_VALUE, "VMM-GRAPH-MEMORY-ATTRIBUTE");
    REFUSED(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    REFUSED(cuDeviceGetGraphMemAttribute(9, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value), ERROR_INVALID_DEVICE, "VMM-DEVICE-ID");
    EQUAL(value, 7);
    value = 0;
    REFUSED(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value), ERROR_INVALID_VALUE, "VMM-GRAPH-MEMORY-ATTRIBUTE");
    REFUSED(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one), ERROR_INVALID_VALUE, "VMM-GRAPH-MEMORY-ATTRIBUTE");
    REFUSED(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    REFUSED(cuDeviceSetGraphMemAttribute(-1, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value), ERROR_INVALID_DEVICE, "VMM-DEVICE-ID");
    REFUSED(cuDeviceGraphMemTrim(9), ERROR_INVALID_DEVICE, "VMM-DEVICE-ID");
    OK(cuDeviceGetGraphMemAttribute(1, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &value)); /* no graph ever had memory there */
    EQUAL(value, 0);
    OK(cuDeviceSetGraphMemAttribute(1, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &value));
    OK(cuDeviceGraphMemTrim(1));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 0);
    context = begin();
    listen();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other_stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, 4096));
    test_attributes();
    test_life();
    test_left();
    test_addresses();
    test_gaps();
    test_planned();
    test_shared();
    test_free_first();
    test_too_much();
    test_idle();
    test_two_ranges();
    test_reused();
    test_left_to_another();
    test_room_before_growth();
    test_gap_among_nodes();
    test_planned_ends();
    test_free_once();
    test_child();
    test_update();
    test_params();
    test_wrong_params();
    test_captured();
    test_forbidden();
    OK(cuMemFree(memory));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(other_stream));
    return tap_done();
}
