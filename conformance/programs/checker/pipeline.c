/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

void batch_open(struct batch *b)
{
    b->input = buffer_new(BYTES);
    b->output = buffer_new(BYTES);
    b->ready = event_new();
}

void batch_make(struct batch *b, CUstream stage, unsigned int value, enum batch_mistake mistake)
{
    if (mistake == BATCH_EVENT_FIRST)
        DO(cuEventRecord(b->ready, stage));
    FILL(stage, b->input, WORDS, value); /* other: event_before_work; other: wait_on_the_wrong_stream */
    if (mistake != BATCH_EVENT_FIRST)
        DO(cuEventRecord(b->ready, stage));
}

void batch_take(struct batch *b, CUstream stage, CUstream earlier, enum batch_mistake mistake)
{
    DO(cuStreamWaitEvent(mistake == BATCH_WRONG_STREAM ? earlier : stage, b->ready, 0));
    /* finding: event_before_work VMM-ORDER-STREAMS; finding: wait_on_the_wrong_stream VMM-ORDER-STREAMS */
    COPY(stage, b->output, b->input, WORDS);
}

void batch_close(struct batch *b)
{
    DO(cuEventDestroy(b->ready));
    buffer_free(b->input, BYTES);
    buffer_free(b->output, BYTES);
}

CUgraphExec step_graph(CUdeviceptr p, unsigned long long n, unsigned int value)
{
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    DO(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    ADD(stream, p, n, value);
    DO(cuStreamEndCapture(stream, &graph));
    DO(cuGraphInstantiate(&exec, graph, 0));
    DO(cuGraphDestroy(graph));
    DO(cuStreamDestroy(stream));
    return exec;
}

/* Two streams are captured into one graph. The event of the fork comes before the clearing; that of the order comes after. */
CUgraphExec reset_graph(CUdeviceptr p, CUdeviceptr q, unsigned long long n, bool ordered)
{
    CUgraph graph;
    CUgraphExec exec;
    CUstream clear = stream_new(CU_STREAM_NON_BLOCKING), copy = stream_new(CU_STREAM_NON_BLOCKING);
    DO(cuStreamBeginCapture(clear, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    if (!ordered)
        stream_follow(copy, clear);
    DO(cuMemsetD32Async(p, 0, n, clear));
    if (ordered)
        stream_follow(copy, clear);
    DO(cuMemcpyDtoDAsync(q, p, 4 * n, copy));
    stream_follow(clear, copy);
    DO(cuStreamEndCapture(clear, &graph));
    DO(cuGraphInstantiate(&exec, graph, 0));
    DO(cuGraphDestroy(graph));
    DO(cuStreamDestroy(copy));
    DO(cuStreamDestroy(clear));
    return exec;
}
