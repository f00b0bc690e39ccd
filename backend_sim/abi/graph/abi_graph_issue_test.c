/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which a launch runs its nodes: concurrently if nothing orders them, and on the devices of their contexts. */
#include "testing/heard.h"

static CUcontext contexts[2];
static CUstream stream;
static CUdeviceptr memory[2]; /* on each device */

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphNode add_fill(CUgraph graph, const CUgraphNode *on, size_t count, CUdeviceptr at, unsigned value, CUcontext context)
{
    const CUDA_MEMSET_NODE_PARAMS params = {at, 0, value, 1, 16, 1};
    CUgraphNode node = NULL;
    OK(cuGraphAddMemsetNode(&node, graph, on, count, &params, context));
    return node;
}

static CUgraphNode add_op(CUgraph graph, CUstreamBatchMemOpType type, CUdeviceptr at, unsigned value)
{
    CUstreamBatchMemOpParams op;
    CUgraphNode node = NULL;
    memset(&op, 0, sizeof op);
    op.operation = type;
    op.writeValue.address = at;
    op.writeValue.value = value;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {contexts[0], 1, &op, 0};
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    return node;
}

static void run(CUgraph graph, CUstream on)
{
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, on));
    OK(cuStreamSynchronize(on));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* The wait would never end if the next node in the list came after it. */
static void test_beside(void)
{
    CUgraph graph = new_graph();
    CUgraphNode both[2];
    OK(cuMemsetD32(memory[0], 0, 64));
    both[0] = add_op(graph, CU_STREAM_MEM_OP_WAIT_VALUE_32, memory[0], 1);
    both[1] = add_op(graph, CU_STREAM_MEM_OP_WRITE_VALUE_32, memory[0], 1);
    add_fill(graph, both, 2, memory[0] + 64, 7, contexts[0]);
    run(graph, stream);
    EQUAL(byte_at(memory[0] + 79), 7);
}

/* Work issued before the launch runs before all branches, and work issued after it runs after all of them. */
static void test_around(void)
{
    CUgraph graph = new_graph();
    CUgraphExec exec = NULL;
    OK(cuMemsetD8(memory[0], 0, 4096));
    OK(cuStreamWaitValue32(stream, memory[0], 0, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuMemsetD8Async(memory[0] + 64, 1, 16 * 16, stream));
    for (unsigned i = 0; i < 16; i++)
        add_fill(graph, NULL, 0, memory[0] + 64 + 16 * i, 2, contexts[0]);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuMemcpyDtoDAsync(memory[0] + 1024, memory[0] + 64, 16 * 16, stream));
    OK(cuStreamSynchronize(stream));
    unsigned wrong = 0;
    for (unsigned i = 0; i < 16 * 16; i++)
        wrong += byte_at(memory[0] + 1024 + i) != 2;
    EQUAL(wrong, 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* Device 0 has no access to device 1's memory. */
static void test_devices(void)
{
    CUgraph graph = new_graph();
    CUstream other = NULL;
    CUgraphNode first = add_fill(graph, NULL, 0, memory[0], 1, contexts[0]);
    CUgraphNode second = add_fill(graph, &first, 1, memory[1], 2, contexts[1]);
    add_fill(graph, &second, 1, memory[0] + 8, 3, contexts[0]);
    run(graph, stream);
    tap_ok(byte_at(memory[0]) == 1 && byte_at(memory[1]) == 2 && byte_at(memory[0] + 8) == 3, "each on its own device");
    graph = new_graph();
    add_fill(graph, NULL, 0, memory[0], 4, contexts[0]);
    OK(cuCtxSetCurrent(contexts[1]));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    run(graph, other);
    EQUAL(byte_at(memory[0]), 4);
    OK(cuStreamDestroy(other));
    OK(cuCtxSetCurrent(contexts[0]));
}

/* Memory of both devices in one graph; the list of a node opens its memory to others. */
static void test_memory(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    cuuint64_t there = 0;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}}, .bytesize = 64};
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    CUdeviceptr own = params.dptr;
    add_fill(graph, &node, 1, own, 5, contexts[1]);
    params.poolProps.location.id = 0;
    params.accessDescs = &access;
    params.accessDescCount = 1;
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    add_fill(graph, &node, 1, params.dptr, 6, contexts[1]);
    run(graph, stream);
    OK(cuCtxSetCurrent(contexts[1]));
    tap_ok(byte_at(own) == 5 && byte_at(params.dptr) == 6, "device 1 has filled both");
    OK(cuCtxSetCurrent(contexts[0]));
    OK(cuDeviceGetGraphMemAttribute(1, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &there));
    EQUAL(there, 32 << 20);
    OK(cuMemFree(own));
    OK(cuMemFree(params.dptr));
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h200x2", 0);
    contexts[0] = begin();
    OK(cuDevicePrimaryCtxRetain(&contexts[1], 1));
    for (int i = 2; i-- > 0;) {
        OK(cuCtxSetCurrent(contexts[i]));
        OK(cuMemAlloc(&memory[i], 4096));
    }
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    test_beside();
    test_around();
    test_devices();
    test_memory();
    OK(cuStreamDestroy(stream));
    return tap_done();
}
