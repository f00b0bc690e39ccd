/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - the allocators that public.c uses: code of our own with the mistakes that were reported.
 *
 *     struct segment   [handle 0][handle 1][handle 2]   slots that exist, of which a failure leaves the last ones unmapped
 *     struct granule   plane 0 [....], plane 1 [....]   the same page of several tables, mapped together or not at all
 */
#ifndef CHECKER_SEGMENT_H
#define CHECKER_SEGMENT_H

#include "buffer.h"

enum { SEGMENT_SLOTS = 4, GRANULE_PLANES = 2 };

struct segment {
    CUdeviceptr base;
    size_t slot;
    CUmemGenericAllocationHandle handle[SEGMENT_SLOTS];
    unsigned int created, mapped;
};

void segment_open(struct segment *s);
/* Adds count slots; `undo`: a failure takes back what it has added, and otherwise leaves it. */
bool segment_extend(struct segment *s, unsigned int count, bool undo);
void segment_close(struct segment *s);

struct granule {
    CUdeviceptr base[GRANULE_PLANES];
    size_t size[GRANULE_PLANES];
    CUmemGenericAllocationHandle handle[GRANULE_PLANES];
    bool mapped;
};

void granule_open(struct granule *g, size_t first, size_t second);
bool granule_map(struct granule *g, bool undo);
void granule_close(struct granule *g);

/* A registration as network cards have: of length bytes from `at` on, through a dma-buf. Returns whether all is covered. */
enum dmabuf_range { DMABUF_ASKED, DMABUF_CHUNK, DMABUF_FROM_HERE };
bool dmabuf_register(CUdeviceptr at, size_t length, enum dmabuf_range range);

#endif
