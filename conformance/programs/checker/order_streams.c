/* SPDX-License-Identifier: Apache-2.0 */
/* Work on two streams that use the same bytes. */
#include <pthread.h>

#include "pipeline.h"
#include "ring.h"

/* A snapshot of the weights while the next step changes them. The correct form is ordered by way of a third stream. */
PROGRAM(copy_without_event, .group = "order")
{
    CUstream train = stream_new(CU_STREAM_NON_BLOCKING), save = stream_new(CU_STREAM_NON_BLOCKING);
    CUstream between = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr weights = buffer_new(BYTES), snapshot = buffer_new(BYTES);
    FILL(train, weights, WORDS, 1);
    DO(cuStreamSynchronize(train));
    ADD(train, weights, WORDS, 1); /* other: copy_without_event */
    if (!BUG) {
        stream_follow(between, train);
        stream_follow(save, between);
    }
    DO(cuMemcpyDtoDAsync(snapshot, weights, BYTES, save)); /* finding: copy_without_event VMM-ORDER-STREAMS */
    stream_end(train);
    stream_end(between);
    stream_end(save);
    buffer_free(weights, BYTES);
    buffer_free(snapshot, BYTES);
}

static void two_stages(enum batch_mistake mistake)
{
    CUstream make = stream_new(CU_STREAM_NON_BLOCKING), take = stream_new(CU_STREAM_NON_BLOCKING);
    struct batch batch[3];
    for (int i = 0; i < 3; i++)
        batch_open(&batch[i]);
    for (int i = 0; i < 3; i++) {
        batch_make(&batch[i], make, (unsigned int)i, mistake); /* caller: event_before_work; caller: wait_on_the_wrong_stream */
        batch_take(&batch[i], take, make, mistake); /* caller: event_before_work; caller: wait_on_the_wrong_stream */
    }
    stream_end(make);
    stream_end(take);
    for (int i = 0; i < 3; i++)
        batch_close(&batch[i]);
}

PROGRAM(event_before_work, .group = "order")
{
    two_stages(BUG ? BATCH_EVENT_FIRST : BATCH_RIGHT);
}

PROGRAM(wait_on_the_wrong_stream, .group = "order")
{
    two_stages(BUG ? BATCH_WRONG_STREAM : BATCH_RIGHT);
}

/* The legacy default stream waits for blocking streams and they for it, which the correct form relies on. */
PROGRAM(legacy_against_non_blocking, .group = "order")
{
    CUstream compute = stream_new(BUG ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT);
    CUdeviceptr grads = buffer_new(BYTES), total = buffer_new(BYTES);
    for (int step = 0; step < 3; step++) {
        DO(cuMemsetD32Async(grads, 0, WORDS, CU_STREAM_LEGACY)); /* other: legacy_against_non_blocking */
        ADD(compute, grads, WORDS, 3); /* finding: legacy_against_non_blocking VMM-ORDER-STREAMS */
        SUM(compute, grads, WORDS, total);
        DO(cuCtxSynchronize());
    }
    stream_end(compute);
    buffer_free(grads, BYTES);
    buffer_free(total, BYTES);
}

struct loader {
    CUcontext context;
    CUdeviceptr page;
};

static void *load_page(void *user)
{
    struct loader *loader = user;
    DO(cuCtxSetCurrent(loader->context));
    DO(cuMemsetD8Async(loader->page, 0x5a, BYTES, CU_STREAM_PER_THREAD)); /* other: per_thread_streams */
    if (!BUG)
        DO(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return NULL;
}

/* A thread that has ended has issued its work, which need not be done. */
PROGRAM(per_thread_streams, .group = "order")
{
    struct loader loader = {.page = buffer_new(BYTES)};
    CUdeviceptr sum = buffer_new(BYTES);
    pthread_t thread;
    DO(cuCtxGetCurrent(&loader.context));
    if (pthread_create(&thread, NULL, load_page, &loader))
        exit(4);
    pthread_join(thread, NULL);
    SUM(CU_STREAM_PER_THREAD, loader.page, WORDS, sum); /* finding: per_thread_streams VMM-ORDER-STREAMS */
    DO(cuCtxSynchronize());
    buffer_free(loader.page, BYTES);
    buffer_free(sum, BYTES);
}

/* cuMemsetD8 returns before the memory of a device is filled. */
PROGRAM(fill_taken_for_synchronous, .group = "order")
{
    CUstream compute = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr counters = buffer_new(BYTES);
    DO(cuMemsetD8(counters, 0, BYTES)); /* other: fill_taken_for_synchronous */
    if (!BUG)
        DO(cuStreamSynchronize(CU_STREAM_LEGACY));
    ADD(compute, counters, WORDS, 1); /* finding: fill_taken_for_synchronous VMM-ORDER-STREAMS */
    stream_end(compute);
    DO(cuCtxSynchronize());
    buffer_free(counters, BYTES);
}

/* The consumer waits for the event before the producer has recorded it again: it waits for the round before. */
PROGRAM(wait_before_the_second_record, .group = "order")
{
    CUstream produce = stream_new(CU_STREAM_NON_BLOCKING), consume = stream_new(CU_STREAM_NON_BLOCKING);
    CUevent ready = event_new();
    CUdeviceptr frame = buffer_new(BYTES), shown = buffer_new(BYTES);
    for (unsigned int round = 0; round < 3; round++) {
        if (BUG)
            DO(cuStreamWaitEvent(consume, ready, 0));
        FILL(produce, frame, WORDS, round); /* other: wait_before_the_second_record */
        DO(cuEventRecord(ready, produce));
        if (!BUG)
            DO(cuStreamWaitEvent(consume, ready, 0));
        COPY(consume, shown, frame, WORDS); /* finding: wait_before_the_second_record VMM-ORDER-STREAMS */
        DO(cuStreamSynchronize(consume));
        DO(cuStreamSynchronize(produce));
    }
    stream_end(produce);
    stream_end(consume);
    DO(cuEventDestroy(ready));
    buffer_free(frame, BYTES);
    buffer_free(shown, BYTES);
}

/* Three batches through two slots. In the correct form the third upload waits for the kernel that reads the slot. */
PROGRAM(slot_reused_too_early, .group = "order")
{
    CUstream upload = stream_new(CU_STREAM_NON_BLOCKING), compute = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr sum = buffer_new(BYTES);
    struct ring ring;
    ring_open(&ring);
    for (int batch = 0; batch < 3; batch++) {
        unsigned int slot = ring_take(&ring, upload, !BUG);
        ring_upload(&ring, slot, upload); /* caller: slot_reused_too_early */
        stream_follow(compute, upload);
        SUM(compute, ring.slot[slot], WORDS, sum); /* other: slot_reused_too_early */
        ring_done(&ring, slot, compute);
    }
    stream_end(upload);
    stream_end(compute);
    ring_close(&ring);
    buffer_free(sum, BYTES);
}

/* A result comes back into the slot from which another stream still copies. */
PROGRAM(pinned_slot_reused, .group = "order")
{
    CUstream up = stream_new(CU_STREAM_NON_BLOCKING), down = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr result = buffer_new(BYTES);
    struct ring ring;
    ring_open(&ring);
    FILL(down, result, WORDS, 9);
    ring_upload(&ring, 0, up);
    ring_done(&ring, 0, up);
    if (!BUG)
        DO(cuStreamWaitEvent(down, ring.done[0], 0));
    ring_download(&ring, 0, result, down); /* caller: pinned_slot_reused */
    stream_end(up);
    stream_end(down);
    ring_close(&ring);
    buffer_free(result, BYTES);
}

/* Two devices, a copy between them on a stream of the receiver. */
PROGRAM(peer_copy_unordered, .group = "order", .devices = 2)
{
    CUcontext here, there;
    DO(cuCtxGetCurrent(&here));
    CUstream compute = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr activations = buffer_new(BYTES);
    there = also_device(1);
    CUstream receive = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr input = buffer_new_on(1, BYTES);
    DO(cuCtxSetCurrent(here));
    FILL(compute, activations, WORDS, 4); /* other: peer_copy_unordered */
    CUevent ready = event_new();
    DO(cuEventRecord(ready, compute));
    DO(cuCtxSetCurrent(there));
    if (!BUG)
        DO(cuStreamWaitEvent(receive, ready, 0));
    DO(cuMemcpyPeerAsync(input, there, activations, here, BYTES, receive)); /* finding: peer_copy_unordered VMM-ORDER-STREAMS */
    stream_end(receive);
    buffer_free(input, BYTES);
    DO(cuCtxSetCurrent(here));
    DO(cuEventDestroy(ready));
    stream_end(compute);
    buffer_free(activations, BYTES);
}

/* A step as a graph, and a metric on a stream beside it. */
PROGRAM(graph_beside_stream, .group = "order")
{
    CUstream train = stream_new(CU_STREAM_NON_BLOCKING), metrics = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr loss = buffer_new(BYTES), sum = buffer_new(BYTES);
    DO(cuMemsetD32Async(loss, 0, WORDS, train));
    DO(cuStreamSynchronize(train));
    CUgraphExec step = step_graph(loss, WORDS, 2);
    for (int i = 0; i < 3; i++) {
        DO(cuGraphLaunch(step, train)); /* other: graph_beside_stream */
        if (!BUG)
            stream_follow(metrics, train);
        SUM(metrics, loss, WORDS, sum); /* finding: graph_beside_stream VMM-ORDER-STREAMS */
        DO(cuStreamSynchronize(metrics));
        DO(cuStreamSynchronize(train));
    }
    DO(cuGraphExecDestroy(step));
    stream_end(train);
    stream_end(metrics);
    buffer_free(loss, BYTES);
    buffer_free(sum, BYTES);
}

/* Within one graph: the copy and the clearing are beside each other. */
PROGRAM(graph_without_edge, .group = "order")
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr scores = buffer_new(BYTES), kept = buffer_new(BYTES);
    FILL(stream, scores, WORDS, 5);
    CUgraphExec reset = reset_graph(scores, kept, WORDS, !BUG);
    DO(cuGraphLaunch(reset, stream)); /* finding: graph_without_edge VMM-ORDER-STREAMS */
    DO(cuStreamSynchronize(stream));
    DO(cuGraphExecDestroy(reset));
    stream_end(stream);
    buffer_free(scores, BYTES);
    buffer_free(kept, BYTES);
}

/* Memory of a pool, allocated in the order of one stream and used on another. */
PROGRAM(pool_memory_before_its_allocation, .group = "order")
{
    CUstream owner = stream_new(CU_STREAM_NON_BLOCKING), worker = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr scratch;
    DO(cuMemAllocAsync(&scratch, BYTES, owner)); /* other: pool_memory_before_its_allocation */
    if (!BUG)
        stream_follow(worker, owner);
    FILL(worker, scratch, WORDS, 1); /* finding: pool_memory_before_its_allocation VMM-POOL-USE-UNORDERED */
    stream_follow(owner, worker);
    DO(cuMemFreeAsync(scratch, owner));
    stream_end(worker);
    stream_end(owner);
}

/* The free is in the order of the owner; the correct form frees on the reader's stream. */
PROGRAM(pool_memory_freed_under_reader, .group = "order")
{
    CUstream owner = stream_new(CU_STREAM_NON_BLOCKING), reader = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr scratch, kept = buffer_new(BYTES);
    DO(cuMemAllocAsync(&scratch, BYTES, owner));
    FILL(owner, scratch, WORDS, 1);
    stream_follow(reader, owner);
    DO(cuMemcpyDtoDAsync(kept, scratch, BYTES, reader)); /* other: pool_memory_freed_under_reader */
    DO(cuMemFreeAsync(scratch, BUG ? owner : reader)); /* finding: pool_memory_freed_under_reader VMM-POOL-FREE-IN-FLIGHT */
    stream_end(reader);
    stream_end(owner);
    buffer_free(kept, BYTES);
}
