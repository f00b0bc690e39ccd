/* SPDX-License-Identifier: Apache-2.0 */
/* Programs without a mistake whose order is easily overlooked: nothing may be reported of them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

#include "pipeline.h"
#include "ring.h"
#include "share.h"
#include "tensor.h"

enum { HALF = WORDS / 2 };

/* Two blocking streams, between them nothing but work of the legacy default stream. */
PROGRAM(ordered_by_the_legacy_stream, .group = "correct")
{
    CUstream first = stream_new(CU_STREAM_DEFAULT), second = stream_new(CU_STREAM_DEFAULT);
    CUdeviceptr data = buffer_new(BYTES), other = buffer_new(BYTES), sum = buffer_new(BYTES);
    for (unsigned int i = 0; i < 3; i++) {
        FILL(first, data, WORDS, i);
        DO(cuMemsetD8Async(other, 0, 16, CU_STREAM_LEGACY));
        SUM(second, data, WORDS, sum);
        DO(cuMemsetD8Async(other, 1, 16, NULL));
    }
    DO(cuStreamSynchronize(NULL));
    stream_end(first);
    stream_end(second);
    buffer_free(data, BYTES);
    buffer_free(other, BYTES);
    buffer_free(sum, BYTES);
}

/* Halves of one buffer on two streams, which both read a third buffer; columns of one image on two streams. */
PROGRAM(halves_and_columns, .group = "correct")
{
    CUstream left = stream_new(CU_STREAM_NON_BLOCKING), right = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr table = buffer_new(BYTES), out = buffer_new(BYTES), image = buffer_new(BYTES);
    FILL(left, table, WORDS, 1);
    stream_follow(right, left);
    COPY(left, out, table, HALF);
    COPY(right, out + 4 * HALF, table, HALF);
    for (unsigned int step = 0; step < 2; step++) {
        DO(cuMemsetD2D8Async(image, 128, 1, 64, 32, left));
        DO(cuMemsetD2D8Async(image + 64, 128, 2, 64, 32, right));
    }
    stream_end(left);
    stream_end(right);
    buffer_free(table, BYTES);
    buffer_free(out, BYTES);
    buffer_free(image, BYTES);
}

/* Memory at two addresses, written through one and read through the other, in order. */
PROGRAM(two_addresses_in_order, .group = "correct")
{
    CUstream writes = stream_new(CU_STREAM_NON_BLOCKING), reads = stream_new(CU_STREAM_NON_BLOCKING);
    CUmemGenericAllocationHandle memory = share_create();
    CUdeviceptr at[2], sum = buffer_new(BYTES);
    size_t unit = buffer_unit();
    for (int i = 0; i < 2; i++) {
        DO(cuMemAddressReserve(&at[i], unit, 0, 0, 0));
        DO(cuMemMap(at[i], unit, 0, memory, 0));
        DO(buffer_allow(at[i], unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    }
    FILL(writes, at[0], WORDS, 8);
    stream_follow(reads, writes);
    SUM(reads, at[1], WORDS, sum);
    stream_end(writes);
    stream_end(reads);
    for (int i = 0; i < 2; i++)
        buffer_free(at[i], unit);
    DO(cuMemRelease(memory));
    buffer_free(sum, BYTES);
}

struct baton {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    CUcontext context;
    CUdeviceptr page;
    int turn;
};

static void baton_pass(struct baton *b, int turn)
{
    pthread_mutex_lock(&b->lock);
    b->turn = turn;
    pthread_cond_broadcast(&b->moved);
    pthread_mutex_unlock(&b->lock);
}

static void baton_wait(struct baton *b, int turn)
{
    pthread_mutex_lock(&b->lock);
    while (b->turn != turn)
        pthread_cond_wait(&b->moved, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

static void *baton_take(void *user)
{
    struct baton *b = user;
    DO(cuCtxSetCurrent(b->context));
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    for (int round = 0; round < 4; round++) {
        baton_wait(b, 2 * round + 1);
        ADD(stream, b->page, WORDS, 1);
        DO(cuStreamSynchronize(stream));
        baton_pass(b, 2 * round + 2);
    }
    stream_end(stream);
    return NULL;
}

/* Two threads that take turns; each waits for its own stream before it passes the turn on. */
PROGRAM(threads_take_turns, .group = "correct")
{
    struct baton baton = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER, .page = buffer_new(BYTES)};
    pthread_t thread;
    CUevent event = event_new();
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    DO(cuCtxGetCurrent(&baton.context));
    FILL(stream, baton.page, WORDS, 0);
    DO(cuStreamSynchronize(stream));
    if (pthread_create(&thread, NULL, baton_take, &baton))
        exit(4);
    for (int round = 0; round < 4; round++) {
        ADD(stream, baton.page, WORDS, 2);
        DO(cuEventRecord(event, stream));
        DO(cuEventSynchronize(event));
        baton_pass(&baton, 2 * round + 1);
        baton_wait(&baton, 2 * round + 2);
    }
    pthread_join(thread, NULL);
    stream_end(stream);
    DO(cuEventDestroy(event));
    buffer_free(baton.page, BYTES);
}

/* One stream's write of a value lets another continue. */
PROGRAM(ordered_by_a_value, .group = "correct")
{
    CUstream produce = stream_new(CU_STREAM_NON_BLOCKING), consume = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr flag = buffer_new(BYTES), data = buffer_new(BYTES), sum = buffer_new(BYTES);
    DO(cuMemsetD32(flag, 0, 1));
    DO(cuCtxSynchronize());
    for (unsigned int i = 1; i < 4; i++) {
        FILL(produce, data, WORDS, i);
        DO(cuStreamWriteValue32(produce, flag, i, CU_STREAM_WRITE_VALUE_DEFAULT));
        DO(cuStreamWaitValue32(consume, flag, i, CU_STREAM_WAIT_VALUE_GEQ));
        SUM(consume, data, WORDS, sum);
        stream_follow(produce, consume);
    }
    stream_end(produce);
    stream_end(consume);
    buffer_free(flag, BYTES);
    buffer_free(data, BYTES);
    buffer_free(sum, BYTES);
}

/* A buffer is freed after a wait, and its addresses and memory come back for work of another stream. */
PROGRAM(memory_comes_back, .group = "correct")
{
    CUstream stream[2] = {stream_new(CU_STREAM_NON_BLOCKING), stream_new(CU_STREAM_NON_BLOCKING)};
    for (unsigned int i = 0; i < 6; i++) {
        CUdeviceptr ordinary, page = buffer_new(BYTES);
        DO(cuMemAlloc(&ordinary, BYTES));
        FILL(stream[i % 2], page, WORDS, i);
        FILL(stream[i % 2], ordinary, WORDS, i);
        DO(cuMemFree(ordinary)); /* waits */
        DO(cuCtxSynchronize());
        buffer_free(page, BYTES);
    }
    stream_end(stream[0]);
    stream_end(stream[1]);
}

/* A pool's memory goes from stream to stream by way of events, and back at once on one stream. */
PROGRAM(pool_memory_from_hand_to_hand, .group = "correct")
{
    CUstream one = stream_new(CU_STREAM_NON_BLOCKING), two = stream_new(CU_STREAM_NON_BLOCKING);
    for (unsigned int i = 0; i < 8; i++) {
        CUdeviceptr block, next;
        DO(cuMemAllocAsync(&block, BYTES, one));
        FILL(one, block, WORDS, i);
        stream_follow(two, one);
        ADD(two, block, WORDS, i);
        DO(cuMemFreeAsync(block, two));
        DO(cuMemAllocAsync(&next, BYTES, two));
        FILL(two, next, WORDS, i);
        DO(cuMemFreeAsync(next, two));
        stream_follow(one, two);
    }
    stream_end(one);
    stream_end(two);
}

/* Copies from and to ordinary memory of the host are done with it when the call returns. */
PROGRAM(host_buffer_used_again, .group = "correct")
{
    CUstream up = stream_new(CU_STREAM_NON_BLOCKING), down = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr page[3] = {buffer_new(BYTES), buffer_new(BYTES), buffer_new(BYTES)};
    static unsigned int host[WORDS];
    for (unsigned int i = 0; i < 3; i++) {
        host[0] = i;
        DO(cuMemcpyHtoDAsync(page[i], host, BYTES, up));
    }
    DO(cuStreamSynchronize(up));
    for (unsigned int i = 0; i < 3; i++)
        DO(cuMemcpyDtoHAsync(host, page[i], BYTES, down));
    DO(cuMemcpyHtoD(page[0], host, BYTES));
    stream_end(up);
    stream_end(down);
    for (int i = 0; i < 3; i++)
        buffer_free(page[i], BYTES);
}

/* One graph on two streams: its launches come one after the other. Updates of the memory lie between, in order. */
PROGRAM(graph_on_two_streams, .group = "correct")
{
    CUstream one = stream_new(CU_STREAM_NON_BLOCKING), two = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = buffer_new(BYTES), kept = buffer_new(BYTES);
    DO(cuMemsetD32Async(data, 0, WORDS, one));
    CUgraphExec step = step_graph(data, WORDS, 1), reset = reset_graph(data, kept, WORDS, true);
    DO(cuGraphLaunch(step, one));
    stream_follow(two, one);
    DO(cuGraphLaunch(step, two));
    DO(cuGraphLaunch(reset, two));
    DO(cuStreamSynchronize(two));
    DO(cuGraphLaunch(reset, one));
    stream_end(one);
    stream_end(two);
    DO(cuGraphExecDestroy(step));
    DO(cuGraphExecDestroy(reset));
    buffer_free(data, BYTES);
    buffer_free(kept, BYTES);
}

/* A stream ends with its work under way; the work is waited for by an event, by the context, or by another stream's event. */
PROGRAM(stream_ends_before_its_work, .group = "correct")
{
    CUdeviceptr data = buffer_new(BYTES), sum = buffer_new(BYTES);
    CUstream last = stream_new(CU_STREAM_NON_BLOCKING);
    CUevent done = event_new();
    for (unsigned int i = 0; i < 4; i++) {
        CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
        DO(cuStreamWaitEvent(stream, done, 0));
        FILL(stream, data, WORDS, i);
        DO(cuEventRecord(done, stream));
        DO(cuStreamDestroy(stream));
        DO(cuStreamWaitEvent(last, done, 0));
        SUM(last, data, WORDS, sum);
        DO(cuEventRecord(done, last));
    }
    DO(cuEventDestroy(done));
    stream_end(last);
    buffer_free(data, BYTES);
    buffer_free(sum, BYTES);
}

static void count_up(void *user)
{
    ++*(int *)user;
}

/* The host waits for an event behind a host function, which stands behind a download into page-locked memory. */
PROGRAM(event_behind_a_host_function, .group = "correct", .polls = true)
{
    CUstream work = stream_new(CU_STREAM_NON_BLOCKING), next = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = buffer_new(BYTES);
    CUevent event = event_new();
    struct ring ring;
    int count = 0;
    ring_open(&ring);
    for (unsigned int i = 0; i < 4; i++) {
        unsigned int slot = ring_take(&ring, work, true);
        FILL(work, data, WORDS, i);
        ring_download(&ring, slot, data, work);
        DO(cuLaunchHostFunc(work, count_up, &count));
        DO(cuEventRecord(event, work));
        while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
            sched_yield();
        ring_upload(&ring, slot, next);
        ring_done(&ring, slot, next);
    }
    stream_end(work);
    stream_end(next);
    DO(cuEventDestroy(event));
    ring_close(&ring);
    buffer_free(data, BYTES);
}

/* Rights are narrowed and widened, memory moves and sleeps between steps that are all waited for. */
PROGRAM(memory_that_moves, .group = "correct")
{
    struct tensor tensor;
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr sum = buffer_new(BYTES);
    tensor_open(&tensor, BYTES);
    FILL(stream, tensor.at, WORDS, 3);
    for (int i = 0; i < 3; i++) {
        DO(cuStreamSynchronize(stream));
        tensor_move(&tensor, true);
        DO(buffer_allow(tensor.at, tensor.size, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
        SUM(stream, tensor.at, WORDS, sum);
        DO(buffer_allow(tensor.at, tensor.size, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
        ADD(stream, tensor.at, WORDS, 1);
        DO(cuStreamSynchronize(stream));
        tensor_sleep(&tensor, true);
        tensor_wake(&tensor);
    }
    stream_end(stream);
    tensor_close(&tensor);
    buffer_free(sum, BYTES);
}
