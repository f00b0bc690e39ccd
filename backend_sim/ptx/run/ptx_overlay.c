/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_overlay.h"

#include "heap.h"

static size_t first_place(const struct ptx_overlay *overlay, uint64_t place)
{
    return (size_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (overlay->room - 1);
}

/* The unit's cell, or the free one for it; NULL: there are no cells. */
static struct ptx_overlay_cell *cell_at(const struct ptx_overlay *overlay, uint64_t place)
{
    if (!overlay->room)
        return NULL;
    size_t i = first_place(overlay, place);
    while (overlay->cells[i].place && overlay->cells[i].place != place)
        i = (i + 1) & (overlay->room - 1);
    return &overlay->cells[i];
}

static bool grow(struct ptx_overlay *overlay)
{
    struct ptx_overlay larger = {.count = overlay->count, .room = overlay->room ? 2 * overlay->room : 256};
    larger.cells = heap.calloc(larger.room, sizeof *larger.cells);
    if (!larger.cells)
        return false;
    for (size_t i = 0; i < overlay->room; i++)
        if (overlay->cells[i].place)
            *cell_at(&larger, overlay->cells[i].place) = overlay->cells[i];
    heap.free(overlay->cells);
    overlay->cells = larger.cells;
    overlay->room = larger.room;
    return true;
}

static struct ptx_overlay_cell *own_cell(struct ptx_overlay *overlay, uint64_t place)
{
    struct ptx_overlay_cell *cell = cell_at(overlay, place);
    if (cell && cell->place)
        return cell;
    if (2 * overlay->count >= overlay->room && !grow(overlay))
        return NULL;
    cell = cell_at(overlay, place);
    cell->place = place;
    overlay->count++;
    return cell;
}

/* *there: the current bytes at the address. */
static bool ask(struct ptx_overlay *overlay, uint64_t address, unsigned width, enum twin_use use, unsigned char **there)
{
    struct ptx_overlay_grant *grant = &overlay->grant[use][(address >> PTX_OVERLAY_SHIFT) % PTX_OVERLAY_GRANTS];
    const uint64_t page = UINT64_C(1) << PTX_OVERLAY_SHIFT;
    uint64_t offset = address - grant->start;
    if (offset >= grant->size || grant->size - offset < width) {
        struct ptx_overlay_grant fresh = {.start = address, .size = page - address % page};
        fresh.size = fresh.size < width ? width : fresh.size;
        if (!overlay->inner->run(overlay->inner, address, width, &fresh.size, use, &fresh.bytes))
            return false;
        *grant = fresh;
        offset = 0;
    }
    *there = grant->bytes ? grant->bytes + offset : NULL;
    return true;
}

static bool run(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                unsigned char **bytes)
{
    struct ptx_overlay *overlay = (struct ptx_overlay *)memory;
    const uint64_t place = 1 + address / PTX_OVERLAY_UNIT;
    const unsigned at = (unsigned)(address % PTX_OVERLAY_UNIT);
    unsigned char *there = NULL;
    *size = width;
    if (!ask(overlay, address, width, use, &there))
        return false;
    struct ptx_overlay_cell *cell = use == TWIN_READ ? cell_at(overlay, place) : own_cell(overlay, place);
    *bytes = there;
    if (use == TWIN_READ && (!cell || !cell->place))
        return true;
    if (!cell)
        return false;
    for (unsigned i = at; i < at + width; i++) {
        if (!(cell->written >> i & 1))
            cell->bytes[i] = there ? there[i - at] : 0;
        cell->written |= use == TWIN_READ ? 0 : (uint16_t)(1u << i);
    }
    *bytes = cell->bytes + at;
    return true;
}

/* A dry run has none: reads return zeros. */
static bool replicas(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                     unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    struct twin_memory *inner = ((struct ptx_overlay *)memory)->inner;
    *count = 0;
    return inner->replicas && inner->replicas(inner, address, width, use, bytes, count);
}

static void fence(struct twin_memory *memory)
{
    struct twin_memory *inner = ((struct ptx_overlay *)memory)->inner;
    if (inner->fence)
        inner->fence(inner);
}

void ptx_overlay_open(struct ptx_overlay *overlay, struct twin_memory *inner)
{
    *overlay = (struct ptx_overlay){.memory = {.run = run, .replicas = replicas, .fence = fence, .dry = true, .fleeting = true},
                                    .inner = inner};
}

void ptx_overlay_close(struct ptx_overlay *overlay)
{
    heap.free(overlay->cells);
}
