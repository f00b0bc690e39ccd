/* SPDX-License-Identifier: Apache-2.0 */
/* The host, and work that it has not waited for. */
#define _GNU_SOURCE
#include <sched.h>

#include "pipeline.h"
#include "ring.h"

/* cuMemcpyDtoH is ordered only with blocking streams. The correct form queries the stream until it is done. */
PROGRAM(result_read_too_early, .group = "order", .polls = true)
{
    CUstream compute = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = buffer_new(BYTES), sum = buffer_new(BYTES);
    unsigned int answer = 0;
    FILL(compute, data, WORDS, 2);
    SUM(compute, data, WORDS, sum); /* other: result_read_too_early */
    while (!BUG && cuStreamQuery(compute) == CUDA_ERROR_NOT_READY)
        sched_yield();
    DO(cuMemcpyDtoH(&answer, sum, sizeof answer)); /* finding: result_read_too_early VMM-ORDER-HOST */
    printf("%u\n", answer);
    stream_end(compute);
    buffer_free(data, BYTES);
    buffer_free(sum, BYTES);
}

/* The next batch goes where the kernel still reads the last one. The correct form uses two buffers in turn. */
PROGRAM(upload_over_reader, .group = "order")
{
    CUstream compute = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr input[2] = {buffer_new(BYTES), buffer_new(BYTES)}, sum = buffer_new(BYTES);
    CUevent read[2] = {event_new(), event_new()};
    static unsigned int batch[WORDS];
    for (unsigned int i = 0; i < 4; i++) {
        unsigned int which = BUG ? 0 : i % 2;
        batch[0] = i;
        if (!BUG)
            DO(cuEventSynchronize(read[which]));
        DO(cuMemcpyHtoD(input[which], batch, BYTES)); /* finding: upload_over_reader VMM-ORDER-HOST */
        SUM(compute, input[which], WORDS, sum); /* other: upload_over_reader */
        DO(cuEventRecord(read[which], compute));
    }
    stream_end(compute);
    for (int i = 0; i < 2; i++) {
        DO(cuEventDestroy(read[i]));
        buffer_free(input[i], BYTES);
    }
    buffer_free(sum, BYTES);
}

/* A result comes into page-locked memory and goes from there to another buffer. */
PROGRAM(pinned_result_used_early, .group = "order")
{
    CUstream down = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr result = buffer_new(BYTES), copy = buffer_new(BYTES);
    struct ring ring;
    ring_open(&ring);
    FILL(down, result, WORDS, 6);
    ring_download(&ring, 1, result, down); /* caller: pinned_result_used_early */
    ring_done(&ring, 1, down);
    if (!BUG)
        DO(cuEventSynchronize(ring.done[1]));
    DO(cuMemcpyHtoD(copy, ring.host[1], BYTES)); /* finding: pinned_result_used_early VMM-ORDER-HOST */
    stream_end(down);
    ring_close(&ring);
    buffer_free(result, BYTES);
    buffer_free(copy, BYTES);
}

static void set_flag(void *user)
{
    __atomic_store_n((int *)user, 1, __ATOMIC_RELEASE);
}

/* A host function says when the slot is full; before the download that is too early. The correct form waits for
 * it without a call. */
PROGRAM(host_function_too_early, .group = "order", .spins = true)
{
    CUstream down = stream_new(CU_STREAM_NON_BLOCKING), up = stream_new(CU_STREAM_NON_BLOCKING);
    CUdeviceptr result = buffer_new(BYTES), copy = buffer_new(BYTES);
    struct ring ring;
    int full = 0;
    ring_open(&ring);
    FILL(down, result, WORDS, 6);
    if (BUG)
        DO(cuLaunchHostFunc(down, set_flag, &full));
    ring_download(&ring, 0, result, down); /* caller: host_function_too_early */
    if (!BUG)
        DO(cuLaunchHostFunc(down, set_flag, &full));
    while (!BUG && !__atomic_load_n(&full, __ATOMIC_ACQUIRE))
        sched_yield();
    DO(cuMemcpyHtoDAsync(copy, ring.host[0], BYTES, up)); /* finding: host_function_too_early VMM-ORDER-STREAMS */
    stream_end(up);
    stream_end(down);
    ring_close(&ring);
    buffer_free(result, BYTES);
    buffer_free(copy, BYTES);
}
