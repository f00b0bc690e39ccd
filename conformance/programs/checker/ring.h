/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h - slots through which data goes to a device and back.
 *
 *     upload      [slot 0][slot 1][slot 0 again: after its work is done]
 *     compute             [  0   ][  1   ][  0
 */
#ifndef CHECKER_RING_H
#define CHECKER_RING_H

#include "buffer.h"

enum { RING_SLOTS = 2 };

struct ring {
    CUdeviceptr slot[RING_SLOTS];
    void *host[RING_SLOTS]; /* page-locked, of BYTES each */
    CUevent done[RING_SLOTS];
    unsigned int next;
};

void ring_open(struct ring *r);
void ring_close(struct ring *r);
/* The next slot; with `wait` the stream's later work comes after what the slot's `done` event stands for. */
unsigned int ring_take(struct ring *r, CUstream stream, bool wait);
/* The slot may be used again once the stream has come this far. */
void ring_done(struct ring *r, unsigned int slot, CUstream stream);
/* Copies what the host has in the slot to the device, and into it what the device has. */
void ring_upload(struct ring *r, unsigned int slot, CUstream stream);
void ring_download(struct ring *r, unsigned int slot, CUdeviceptr from, CUstream stream);

#endif
