/* SPDX-License-Identifier: Apache-2.0 */
/* Memory operations as nodes: captured, built and changed, and checked at each launch. */
#include "testing/heard.h"

static CUcontext context;
static CUstream stream, other_stream;
static CUdeviceptr memory;

static unsigned word_at(CUdeviceptr at)
{
    unsigned word = 0;
    OK(cuMemcpyDtoH(&word, at, 4));
    return word;
}

static CUstreamBatchMemOpParams op_of(CUstreamBatchMemOpType type, CUdeviceptr at, unsigned value)
{
    CUstreamBatchMemOpParams op;
    memset(&op, 0, sizeof op);
    op.operation = type;
    op.writeValue.address = at; /* a wait has its members at the same offsets */
    op.writeValue.value = value;
    return op;
}

static CUgraphExec instance_of(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void run(CUgraphExec exec)
{
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
}

/* A list of the program's may change once the call has returned. */
static void test_captured(void)
{
    CUgraph graph = NULL;
    CUgraphNode nodes[5];
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    size_t count = 5;
    CUstreamBatchMemOpParams op = op_of(CU_STREAM_MEM_OP_WRITE_VALUE_32, memory + 8, 3);
    OK(cuMemsetD32(memory, 0, 16));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamWriteValue32(stream, memory, 1, 0));
    OK(cuStreamWriteValue64(stream, memory + 16, 2, 0));
    OK(cuStreamWaitValue32(stream, memory, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWaitValue64(stream, memory + 16, 2, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamBatchMemOp(stream, 1, &op, 0));
    REFUSED(cuStreamWriteValue32(stream, memory + 1, 1, 0), ERROR_INVALID_VALUE, "VMM-MEMOP-ALIGNMENT");
    op.writeValue.value = 4;
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, nodes, &count));
    EQUAL(count, 5);
    OK(cuGraphNodeGetType(nodes[4], &type));
    EQUAL(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    EQUAL(word_at(memory), 0);
    CUgraphExec exec = instance_of(graph);
    run(exec);
    tap_ok(word_at(memory) == 1 && word_at(memory + 16) == 2 && word_at(memory + 8) == 3, "all are done");
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    IS(cuStreamQuery(stream), ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REFUSED(cuStreamWriteValue32(stream, memory, 1, 0), ERROR_STREAM_CAPTURE_INVALIDATED, "VMM-CAPTURE-INVALIDATED");
    IS(cuStreamEndCapture(stream, NULL), ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* A checked list keeps the addresses that were found: every entry's, up to the first entry without memory. */
static void test_alias(void)
{
    const CUdeviceptr nowhere = (CUdeviceptr)1 << 45;
    CUstreamBatchMemOpParams ops[4] = {op_of(CU_STREAM_MEM_OP_WRITE_VALUE_32, memory, 1), {0},
                                       op_of(CU_STREAM_MEM_OP_WAIT_VALUE_32, memory, 1),
                                       op_of(CU_STREAM_MEM_OP_WRITE_VALUE_64, memory + 8, 2)};
    ops[1].operation = CU_STREAM_MEM_OP_BARRIER;
    OK(cuStreamBatchMemOp(stream, 4, ops, 0));
    OK(cuStreamSynchronize(stream));
    tap_ok(ops[0].writeValue.alias == memory && ops[2].waitValue.alias == memory && ops[3].writeValue.alias == memory + 8,
           "the addresses are left in the list");
    EQUAL(ops[1].pad[4], 0);
    for (int i = 0; i < 4; i++)
        ops[i].writeValue.alias = 0;
    ops[2].waitValue.address = nowhere;
    REFUSED(cuStreamBatchMemOp(stream, 4, ops, 0), ERROR_INVALID_VALUE, "VMM-MEMOP-ADDRESS");
    tap_ok(ops[0].writeValue.alias == memory && !ops[2].waitValue.alias && !ops[3].writeValue.alias, "up to the first without memory");
    ops[0].writeValue.alias = 0;
    ops[3].writeValue.flags = 0x10;
    REFUSED(cuStreamBatchMemOp(stream, 4, ops, 0), ERROR_INVALID_VALUE, "VMM-MEMOP-FLAGS");
    EQUAL(ops[0].writeValue.alias, 0);
}

static void test_nodes(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL, more = NULL;
    CUstreamBatchMemOpParams ops[2] = {op_of(CU_STREAM_MEM_OP_WRITE_VALUE_32, memory, 5),
                                       op_of(CU_STREAM_MEM_OP_WRITE_VALUE_32, memory + 4, 6)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 1, ops, 0}, got;
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    OK(cuMemsetD32(memory, 0, 16));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    any.memOp = params;
    any.memOp.paramArray = ops + 1;
    OK(cuGraphAddNode(&more, graph, NULL, NULL, 0, &any));
    OK(cuGraphBatchMemOpNodeGetParams(node, &got));
    tap_ok(got.ctx == context && got.count == 1 && got.paramArray != ops && got.paramArray[0].writeValue.value == 5,
           "the node has its own copy of the list");
    run(instance_of(graph));
    tap_ok(word_at(memory) == 5 && word_at(memory + 4) == 6, "both have written");
    params.count = 2;
    ops[0].writeValue.value = 7;
    OK(cuGraphBatchMemOpNodeSetParams(node, &params));
    run(instance_of(graph));
    EQUAL(word_at(memory), 7);
    params.flags = 1;
    REFUSED(cuGraphAddBatchMemOpNode(&more, graph, NULL, 0, &params), ERROR_INVALID_VALUE, "VMM-MEMOP-BATCH-FLAGS");
    params = (CUDA_BATCH_MEM_OP_NODE_PARAMS){NULL, 1, ops, 0};
    REFUSED(cuGraphAddBatchMemOpNode(&more, graph, NULL, 0, &params), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    params = (CUDA_BATCH_MEM_OP_NODE_PARAMS){context, 1, NULL, 0};
    REFUSED(cuGraphAddBatchMemOpNode(&more, graph, NULL, 0, &params), ERROR_INVALID_VALUE, "VMM-MEMOP-NULL");
    REFUSED(cuGraphAddBatchMemOpNode(&more, graph, NULL, 0, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    REFUSED(cuGraphBatchMemOpNodeSetParams(node, NULL), ERROR_INVALID_VALUE, "VMM-GRAPH-NULL");
    OK(cuGraphDestroy(graph));
}

/* Values and addresses can be changed in an instance; the number and the kinds of operations, and whether they flush, cannot. */
static void test_instance(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUstreamBatchMemOpParams op = op_of(CU_STREAM_MEM_OP_WRITE_VALUE_32, memory, 8);
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 1, &op, 0};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    CUgraphExec exec = instance_of(graph);
    op.writeValue.value = 9;
    op.writeValue.address = memory + 12;
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    run(exec);
    EQUAL(word_at(memory + 12), 9);
    op.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    REFUSED(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    params.count = 0;
    REFUSED(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    OK(cuGraphBatchMemOpNodeSetParams(node, &params));
    OK(cuGraphExecDestroy(exec));
    run(instance_of(graph)); /* an empty list */
    OK(cuGraphDestroy(graph));
}

/* A list of two: its length, its context, and whether a wait flushes, stay. */
static void test_list(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUcontext other = NULL;
    CUstreamBatchMemOpParams ops[2] = {op_of(CU_STREAM_MEM_OP_WAIT_VALUE_32, memory, 0),
                                       op_of(CU_STREAM_MEM_OP_WAIT_VALUE_64, memory + 8, 0)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 2, ops, 0};
    OK(cuMemsetD32(memory, 0, 16));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    CUgraphExec exec = instance_of(graph);
    ops[1].waitValue.value = 0;
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    for (int i = 0; i < 2; i++) {
        ops[i].waitValue.flags = CU_STREAM_WAIT_VALUE_FLUSH;
        CUresult code = cuGraphExecBatchMemOpNodeSetParams(exec, node, &params);
        tap_ok(code != CUDA_SUCCESS, "an operation that flushes does not replace one that did not: %s", code_name(code));
        ops[i].waitValue.flags = 0;
    }
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuCtxSetCurrent(context));
    params.ctx = other;
    REFUSED(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params), ERROR_INVALID_VALUE, "VMM-GRAPH-PARAMS");
    params.ctx = context;
    run(exec);
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(context));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* As measured, a launch first checks the memory of all operations, also in children. */
static void test_memory(void)
{
    CUgraph graph = NULL, inner = NULL;
    CUgraphNode node = NULL;
    CUstreamBatchMemOpParams ops[2] = {op_of(CU_STREAM_MEM_OP_WRITE_VALUE_32, memory, 10),
                                       op_of(CU_STREAM_MEM_OP_WRITE_VALUE_32, 0, 11)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {context, 1, ops, 0};
    OK(cuMemsetD32(memory, 0, 16));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&inner, 0));
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    params.paramArray = ops + 1;
    OK(cuGraphAddBatchMemOpNode(&node, inner, NULL, 0, &params));
    OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0)); /* and checks none after a refused one */
    CUgraphExec exec = instance_of(graph);
    REFUSED(cuGraphLaunch(exec, stream), ERROR_INVALID_VALUE, "VMM-MEMOP-ADDRESS");
    OK(cuStreamSynchronize(stream));
    EQUAL(word_at(memory), 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(inner));
    OK(cuGraphDestroy(graph));
}

/* A wait in a graph holds back the work after it. */
static void test_wait(void)
{
    CUgraph graph = NULL;
    OK(cuMemsetD32(memory, 0, 16));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamWaitValue32(stream, memory, 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuMemsetD32Async(memory + 4, 2, 1, stream));
    OK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = instance_of(graph);
    OK(cuGraphLaunch(exec, stream));
    IS(cuStreamQuery(stream), ERROR_NOT_READY);
    OK(cuStreamWriteValue32(other_stream, memory, 1, 0));
    OK(cuStreamSynchronize(stream));
    EQUAL(word_at(memory + 4), 2);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

int main(void)
{
    context = begin();
    listen();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other_stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, 4096));
    test_captured();
    test_alias();
    test_nodes();
    test_instance();
    test_list();
    test_memory();
    test_wait();
    OK(cuMemFree(memory));
    OK(cuStreamDestroy(stream));
    OK(cuStreamDestroy(other_stream));
    return tap_done();
}
