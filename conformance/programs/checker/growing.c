/* SPDX-License-Identifier: Apache-2.0 */
#include "growing.h"

void growing_open(struct growing *g, size_t reserved, int devices, enum growing_mistake mistake)
{
    memset(g, 0, sizeof *g);
    g->reserved = reserved;
    g->devices = devices;
    g->mistake = mistake;
    DO(cuMemAddressReserve(&g->base, reserved, 0, 0, 0));
}

static bool set_rights(const struct growing *g, CUdeviceptr at, size_t size)
{
    CUmemAccessDesc desc[2];
    size_t count = g->mistake == GROWING_ONE_DEVICE ? 1 : (size_t)g->devices;
    memset(desc, 0, sizeof desc);
    for (size_t i = 0; i < count; i++) {
        desc[i].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        desc[i].location.id = (int)i;
        desc[i].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    if (g->mistake == GROWING_NO_RIGHTS && at != g->base)
        return true;
    return TRY(cuMemSetAccess(at, size, desc, count));
}

bool growing_extend(struct growing *g, size_t size)
{
    CUmemAllocationProp prop = buffer_prop(0);
    CUmemGenericAllocationHandle handle;
    size_t unit = buffer_unit(), whole = (size + unit - 1) / unit * unit;
    if (g->mistake == GROWING_SIZE)
        whole = size;
    if (g->count == GROWING_PIECES || g->used + whole > g->reserved)
        return false;
    if (!TRY(cuMemCreate(&handle, whole, &prop, 0))) /* finding: size_not_rounded VMM-CREATE-SIZE-GRANULARITY */
        return false;
    /* finding: cursor_not_advanced VMM-MAP-OVERLAP; other: cursor_not_advanced */
    if (!TRY(cuMemMap(g->base + g->used, whole, 0, handle, 0))) {
        DO(cuMemRelease(handle));
        return false;
    }
    if (!set_rights(g, g->base + g->used, whole))
        return false;
    g->piece[g->count] = whole;
    g->handle[g->count++] = handle;
    if (g->mistake != GROWING_CURSOR)
        g->used += whole;
    return true;
}

void growing_shrink(struct growing *g, size_t size)
{
    while (size > 0 && g->count > 0) {
        size_t piece = g->piece[g->count - 1];
        if (g->mistake == GROWING_CUT && size < piece) {
            TRY(cuMemUnmap(g->base + g->used - size, size)); /* finding: shrink_cuts_a_mapping VMM-UNMAP-PARTIAL */
            return;
        }
        if (size < piece)
            return; /* memory is given up in whole pieces */
        if (g->mistake != GROWING_NO_WAIT)
            DO(cuCtxSynchronize());
        g->used -= piece;
        DO(cuMemUnmap(g->base + g->used, piece)); /* finding: unmapped_under_a_copy VMM-UNMAP-IN-FLIGHT */
        DO(cuMemRelease(g->handle[--g->count]));
        size -= piece;
    }
}

void growing_close(struct growing *g)
{
    CUdeviceptr at = g->base;
    if (g->mistake == GROWING_CLOSE)
        TRY(cuMemAddressFree(g->base, g->reserved)); /* finding: addresses_freed_first VMM-FREE-MAPPED */
    for (unsigned int i = 0; i < g->count; i++) {
        DO(cuMemUnmap(at, g->piece[i]));
        DO(cuMemRelease(g->handle[i]));
        at += g->piece[i];
    }
    DO(cuMemAddressFree(g->base, g->reserved));
}

void slab_open(struct slab *s, unsigned int blocks, bool carve)
{
    CUmemAllocationProp prop = buffer_prop(0);
    s->block = buffer_unit();
    s->blocks = blocks;
    DO(cuMemAddressReserve(&s->base, blocks * s->block, 0, 0, 0));
    DO(cuMemCreate(&s->memory, blocks * s->block, &prop, 0));
    if (!carve)
        DO(cuMemMap(s->base, blocks * s->block, 0, s->memory, 0));
    for (unsigned int i = 0; carve && i < blocks; i++)
        /* finding: parts_of_one_handle VMM-MAP-OFFSET; also: parts_of_one_handle VMM-MAP-SIZE-WHOLE */
        TRY(cuMemMap(s->base + i * s->block, s->block, i * s->block, s->memory, 0));
    if (!carve)
        DO(buffer_allow(s->base, blocks * s->block, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

void slab_close(struct slab *s, bool carve)
{
    if (!carve)
        DO(cuMemUnmap(s->base, s->blocks * s->block));
    DO(cuMemRelease(s->memory));
    DO(cuMemAddressFree(s->base, s->blocks * s->block));
}

void aligned_open(struct aligned *a, size_t size, size_t alignment, bool inside)
{
    CUmemAllocationProp prop = buffer_prop(0);
    CUmemGenericAllocationHandle handle;
    a->reserved = inside ? size + alignment : size;
    DO(cuMemAddressReserve(&a->start, a->reserved, inside ? 0 : alignment, 0, 0));
    a->at = inside ? a->start / alignment * alignment + alignment : a->start;
    DO(cuMemCreate(&handle, size, &prop, 0));
    DO(cuMemMap(a->at, size, 0, handle, 0));
    DO(cuMemRelease(handle));
    DO(buffer_allow(a->at, size, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

void aligned_close(const struct aligned *a, CUdeviceptr given, size_t size)
{
    DO(cuMemUnmap(given, size));
    if (!TRY(cuMemAddressFree(given, a->reserved))) /* finding: freed_at_the_aligned_address VMM-FREE-NOT-START */
        DO(cuMemAddressFree(a->start, a->reserved));
}
