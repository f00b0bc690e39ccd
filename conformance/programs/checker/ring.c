/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

void ring_open(struct ring *r)
{
    for (int i = 0; i < RING_SLOTS; i++) {
        r->slot[i] = buffer_new(BYTES);
        DO(cuMemHostAlloc(&r->host[i], BYTES, 0));
        memset(r->host[i], i, BYTES);
        r->done[i] = event_new();
    }
    r->next = 0;
}

void ring_close(struct ring *r)
{
    DO(cuCtxSynchronize());
    for (int i = 0; i < RING_SLOTS; i++) {
        buffer_free(r->slot[i], BYTES);
        DO(cuMemFreeHost(r->host[i]));
        DO(cuEventDestroy(r->done[i]));
    }
}

unsigned int ring_take(struct ring *r, CUstream stream, bool wait)
{
    unsigned int slot = r->next++ % RING_SLOTS;
    if (wait)
        DO(cuStreamWaitEvent(stream, r->done[slot], 0));
    return slot;
}

void ring_done(struct ring *r, unsigned int slot, CUstream stream)
{
    DO(cuEventRecord(r->done[slot], stream));
}

void ring_upload(struct ring *r, unsigned int slot, CUstream stream)
{
    /* finding: slot_reused_too_early VMM-ORDER-STREAMS; other: pinned_slot_reused */
    DO(cuMemcpyHtoDAsync(r->slot[slot], r->host[slot], BYTES, stream));
}

void ring_download(struct ring *r, unsigned int slot, CUdeviceptr from, CUstream stream)
{
    /* finding: pinned_slot_reused VMM-ORDER-STREAMS; other: pinned_result_used_early; other: host_function_too_early */
    DO(cuMemcpyDtoHAsync(r->host[slot], from, BYTES, stream));
}
