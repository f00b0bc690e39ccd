/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "segment.h"
#include "verbs.h"

#include <unistd.h>

void segment_open(struct segment *s)
{
    memset(s, 0, sizeof *s);
    s->slot = buffer_unit();
    DO(cuMemAddressReserve(&s->base, SEGMENT_SLOTS * s->slot, 0, 0, 0));
}

static bool map_slot(struct segment *s, unsigned int slot)
{
    CUdeviceptr at = s->base + slot * s->slot;
    if (!TRY(cuMemMap(at, s->slot, 0, s->handle[slot], 0)))
        return false;
    DO(buffer_allow(at, s->slot, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    s->mapped++;
    return true;
}

bool segment_extend(struct segment *s, unsigned int count, bool undo)
{
    CUmemAllocationProp prop = buffer_prop(0);
    unsigned int first = s->created;
    for (unsigned int i = 0; i < count; i++)
        DO(cuMemCreate(&s->handle[s->created++], s->slot, &prop, 0));
    for (unsigned int slot = first; slot < s->created; slot++)
        if (!map_slot(s, slot)) {
            while (undo && s->created > s->mapped)
                DO(cuMemRelease(s->handle[--s->created]));
            return false;
        }
    return true;
}

void segment_close(struct segment *s)
{
    TRY(cuMemUnmap(s->base, s->created * s->slot)); /* finding: pytorch_188008 VMM-UNMAP-HOLE */
    while (s->created > 0)
        DO(cuMemRelease(s->handle[--s->created]));
    DO(cuMemAddressFree(s->base, SEGMENT_SLOTS * s->slot));
}

void granule_open(struct granule *g, size_t first, size_t second)
{
    memset(g, 0, sizeof *g);
    g->size[0] = first;
    g->size[1] = second;
    for (int p = 0; p < GRANULE_PLANES; p++)
        DO(cuMemAddressReserve(&g->base[p], g->size[p], 0, 0, 0));
}

static void granule_undo(struct granule *g, int planes)
{
    while (planes-- > 0) {
        DO(cuMemUnmap(g->base[planes], g->size[planes]));
        DO(cuMemRelease(g->handle[planes]));
    }
}

bool granule_map(struct granule *g, bool undo)
{
    CUmemAllocationProp prop = buffer_prop(0);
    for (int p = 0; p < GRANULE_PLANES; p++) {
        if (!TRY(cuMemCreate(&g->handle[p], g->size[p], &prop, 0))) { /* finding: surogate_117 VMM-LEAK-HANDLE */
            if (undo)
                granule_undo(g, p);
            return false;
        }
        /* also: surogate_117 VMM-LEAK-MAPPING; also: surogate_117 VMM-LEAK-RESERVATION */
        DO(cuMemMap(g->base[p], g->size[p], 0, g->handle[p], 0));
        DO(buffer_allow(g->base[p], g->size[p], 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    }
    g->mapped = true;
    return true;
}

void granule_close(struct granule *g)
{
    if (g->mapped)
        granule_undo(g, GRANULE_PLANES);
    for (int p = 0; p < GRANULE_PLANES; p++)
        TRY(cuMemAddressFree(g->base[p], g->size[p])); /* finding: surogate_117 VMM-FREE-MAPPED */
}

bool dmabuf_register(CUdeviceptr at, size_t length, enum dmabuf_range range)
{
    CUdeviceptr start = at / 4096 * 4096;
    size_t size = (at + length + 4095) / 4096 * 4096 - start;
    int descriptor = -1;
    if (range == DMABUF_CHUNK)
        DO(cuMemGetAddressRange(&start, &size, at)); /* of the mapping, not of the buffer */
    if (range == DMABUF_FROM_HERE)
        DO(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at)); /* of all of it, not of the rest */
    /* finding: mooncake_2035 VMM-DMABUF-HOLE */
    if (!TRY(cuMemGetHandleForAddressRange(&descriptor, start, size, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0)))
        return false;
    /* finding: mooncake_2511 VMM-DMABUF-REGISTRATION */
    void *registered = ibv_reg_dmabuf_mr(NULL, at - start, length, at, descriptor, 0);
    close(descriptor);
    return registered != NULL;
}
