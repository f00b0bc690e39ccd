/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_memory.h"

#include <string.h>

#include "ptx_grid.h"
#include "ptx_reach.h"

#define PAGE (UINT64_C(1) << PTX_GRANT_SHIFT)

/* Read-only zeros. */
static unsigned char zeros[1 << 16];

void ptx_port_open(struct ptx_port *port, struct ptx_grid *grid)
{
    port->grid = grid;
    ptx_port_forget(port);
}

void ptx_port_forget(struct ptx_port *port)
{
    memset(port->read, 0, sizeof port->read);
    memset(port->write, 0, sizeof port->write);
}

/* Requests the rest of the page, so that following accesses need no request. */
static unsigned char *ask(struct ptx_port *port, uint64_t address, uint32_t width, uint64_t *size, enum twin_use use, bool keep)
{
    struct ptx_grid *grid = port->grid;
    struct ptx_grant *grant = &(use == TWIN_READ ? port->read : port->write)[(address >> PTX_GRANT_SHIFT) % PTX_GRANTS];
    unsigned char *bytes = NULL;
    uint64_t rest = PAGE - address % PAGE;
    if (keep && *size < rest)
        *size = rest;
    ptx_grid_lock(grid);
    uint32_t writes = use == TWIN_READ ? atomic_load(&grid->writes) : atomic_fetch_add(&grid->writes, 1) + 1;
    bool granted = grid->memory->run(grid->memory, address, width, size, use, &bytes);
    ptx_grid_unlock(grid);
    if (!granted)
        return NULL;
    bool none = bytes == NULL;
    if (none) {
        bytes = zeros;
        *size = *size < sizeof zeros ? *size : sizeof zeros;
    }
    if (keep)
        *grant = (struct ptx_grant){address, *size, bytes, writes, none};
    return bytes;
}

unsigned char *ptx_port_reach(struct ptx_port *port, uint64_t address, uint32_t width, uint64_t *size, enum twin_use use)
{
    const bool keep = !port->grid->memory->fleeting;
    unsigned char *bytes = keep ? ptx_port_granted(port, address, width, use, size) : NULL;
    return bytes ? bytes : ask(port, address, width, size, use, keep);
}

bool ptx_is_fleeting(const struct ptx_warp *warp)
{
    return warp->port->grid->memory->fleeting;
}

/* ---- addresses ---- */

void ptx_addresses(const struct ptx_warp *warp, const struct ptx_op *o, uint64_t at[PTX_LANES])
{
    const unsigned char *base = warp->registers + (size_t)o->a * PTX_UNIT;
    uint64_t add = (uint64_t)o->imm, wide;
    uint32_t narrow;
    if (o->more & PTX_MEM_NO_BASE) {
        for (unsigned i = 0; i < PTX_LANES; i++)
            at[i] = add;
    } else if (o->bytes[1] == 8) {
        for (unsigned i = 0; i < PTX_LANES; i++) {
            memcpy(&wide, base + 8 * i, sizeof wide);
            at[i] = wide + add;
        }
    } else {
        for (unsigned i = 0; i < PTX_LANES; i++) {
            memcpy(&narrow, base + 4 * i, sizeof narrow);
            at[i] = narrow + add;
        }
    }
}

static enum twin_use use_of(const struct ptx_op *o)
{
    return o->step == STEP_ST || o->step == STEP_STV ? TWIN_WRITE : o->step == STEP_LD || o->step == STEP_LDV ? TWIN_READ : TWIN_ATOMIC;
}

/* Misaligned addresses: reports all lanes that have one. */
static bool refuse_misaligned(struct ptx_warp *warp, uint32_t mask, const uint64_t at[PTX_LANES], uint32_t bytes, enum twin_use use)
{
    uint32_t bad = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        if (at[ptx_first_lane(left)] & (bytes - 1))
            bad |= left & -left;
    ptx_warp_fail(warp, PTX_END_MISALIGNED, bad, at[ptx_first_lane(bad)], bytes, use);
    return false;
}

static bool is_aligned(uint32_t mask, const uint64_t at[PTX_LANES], uint32_t bytes)
{
    uint64_t low = 0;
    if (mask == PTX_ALL)
        for (unsigned i = 0; i < PTX_LANES; i++)
            low |= at[i];
    else
        for (uint32_t left = mask; left; left &= left - 1)
            low |= at[ptx_first_lane(left)];
    return !(low & (bytes - 1));
}

/* ---- one lane ---- */

/* NULL: *end has the reason; or host memory is exhausted, and warp->ended is set. *at becomes the address in its space. */
static unsigned char *in_space(struct ptx_warp *warp, enum ptx_memory space, unsigned lane, uint64_t *at, uint32_t bytes, enum twin_use use,
                               enum ptx_end *end)
{
    const struct ptx_block *block = warp->block;
    const struct ptx_launch *launch = block->grid->launch;
    uint64_t size = bytes;
    *end = PTX_END_SPACE;
    if (space == PTX_M_GENERIC)
        space = ptx_space_of(at);
    switch (space) {
    case PTX_M_SHARED:
        *at &= UINT32_MAX;
        return *at >= block->shared_start && *at - block->shared_start <= block->shared_size &&
                       bytes <= block->shared_size - (*at - block->shared_start)
                   ? block->shared + (*at - block->shared_start)
                   : NULL;
    case PTX_M_FRAME:
    case PTX_M_LOCAL: return ptx_warp_local(warp, lane, space == PTX_M_FRAME ? *at + warp->frame->local : *at, bytes);
    case PTX_M_KERNEL_PARAM: /* stores there are lost, but a device accepts them */
        if (*at > launch->kernel->param_bytes || bytes > launch->kernel->param_bytes - *at)
            return NULL;
        return use == TWIN_READ ? (unsigned char *)(uintptr_t)(launch->params + *at) : warp->port->copies[lane];
    case PTX_M_GRID:
        return *at < PTX_WORKSPACE && bytes <= PTX_WORKSPACE - *at ? (unsigned char *)block->grid->workspace + *at : NULL;
    default:
        *end = PTX_END_ACCESS;
        return ptx_port_reach(warp->port, *at, bytes, &size, use);
    }
}

unsigned char *ptx_reach_lane(struct ptx_warp *warp, const struct ptx_op *o, unsigned lane, uint64_t at, uint32_t bytes, enum twin_use use)
{
    enum ptx_end end;
    unsigned char *to = in_space(warp, (enum ptx_memory)(o->more & PTX_MEM_SPACE), lane, &at, bytes, use, &end);
    if (!to && !warp->ended)
        ptx_warp_fail(warp, end, UINT32_C(1) << lane, at, bytes, use);
    return to;
}

/* ---- all lanes ---- */

/* Lanes without access: the reason and address of the first one, and all lanes with the same reason. */
struct refused {
    uint32_t lanes;
    enum ptx_end end;
    uint64_t at;
};

static void refuse(struct refused *refused, unsigned lane, uint64_t at, enum ptx_end end)
{
    if (!refused->lanes)
        *refused = (struct refused){.end = end, .at = at};
    refused->lanes |= end == refused->end ? UINT32_C(1) << lane : 0;
}

static bool copy_lanes(struct ptx_warp *warp, const struct ptx_op *o, uint32_t mask, const uint64_t at[PTX_LANES], uint32_t bytes,
                       unsigned char *to[PTX_LANES])
{
    uint32_t part = bytes > 8 ? 8 : bytes;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        to[lane] = warp->port->copies[lane];
        for (uint32_t done = 0; done < bytes; done += part) {
            const unsigned char *from = ptx_reach_lane(warp, o, lane, at[lane] + done, part, TWIN_READ);
            if (!from)
                return false;
            memcpy(to[lane] + done, from, part);
        }
    }
    return true;
}

bool ptx_reach_lanes(struct ptx_warp *warp, const struct ptx_op *o, uint32_t mask, const uint64_t at[PTX_LANES], uint32_t bytes,
                     unsigned char *to[PTX_LANES])
{
    enum ptx_memory space = (enum ptx_memory)(o->more & PTX_MEM_SPACE);
    enum twin_use use = use_of(o);
    if (!is_aligned(mask, at, bytes))
        return refuse_misaligned(warp, mask, at, bytes, use);
    if (space <= PTX_M_GLOBAL && ptx_is_fleeting(warp))
        return copy_lanes(warp, o, mask, at, bytes, to);
    const unsigned char *local = warp->local;
    struct refused refused = {.lanes = 0};
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        uint64_t there = at[lane];
        enum ptx_end end;
        to[lane] = in_space(warp, space, lane, &there, bytes, use, &end);
        if (!to[lane] && warp->ended)
            return false;
        if (!to[lane])
            refuse(&refused, lane, there, end);
    }
    if (refused.lanes) {
        ptx_warp_fail(warp, refused.end, refused.lanes, refused.at, bytes, use);
        return false;
    }
    return local == warp->local || ptx_reach_lanes(warp, o, mask, at, bytes, to); /* it has grown and moved */
}

bool ptx_store_lanes(struct ptx_warp *warp, const struct ptx_op *o, uint32_t mask, const uint64_t at[PTX_LANES], uint32_t bytes,
                     unsigned char from[PTX_LANES][PTX_WIDEST])
{
    uint32_t part = bytes > 8 ? 8 : bytes;
    if (!is_aligned(mask, at, bytes))
        return refuse_misaligned(warp, mask, at, bytes, TWIN_WRITE);
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        for (uint32_t done = 0; done < bytes; done += part) {
            unsigned char *to = ptx_reach_lane(warp, o, lane, at[lane] + done, part, TWIN_WRITE);
            if (!to)
                return false;
            memcpy(to, from[lane] + done, part);
        }
    }
    return true;
}
