/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_reach.h - translates the addresses of all lanes at once if their bytes are in one piece of
 * host memory, as in most accesses.
 *
 *     lanes at 0x1000, 0x1004, ... 0x107c    base                         in a row: one copy
 *     lanes at 0x1000, 0x1000, ...           base                         the same for all
 *     lanes at 0x1000, 0x1f00, ...           base, offsets 0 0xf00 ...    scattered
 *
 * If that is not possible (no grant yet, several pieces, a fault), ptx_reach_lanes translates lane
 * by lane. Each file of steps that includes this compiles it for its own vector width.
 */
#ifndef PTX_REACH_H
#define PTX_REACH_H

#include "ptx_grid.h"
#include "ptx_memory.h"
#include "ptx_steps.h"

enum ptx_shape { PTX_SCATTERED, PTX_IN_A_ROW, PTX_ALL_SAME };

struct ptx_reach {
    unsigned char *base;
    enum ptx_shape shape;
    bool own;                   /* private to this block or lane, which a single host thread runs */
    uint32_t offset[PTX_LANES]; /* PTX_SCATTERED: relative to base; for lanes outside the mask that of another lane */
};

/* The bytes at an address, if length of them are granted; *size in all; NULL: not granted yet, or no longer. */
static inline unsigned char *ptx_grant_of(const struct ptx_grant *grant, const struct ptx_grid *grid, uint64_t address, uint64_t length,
                                          uint64_t *size)
{
    const uint64_t offset = address - grant->start;
    if (offset >= grant->size || length > grant->size - offset ||
        (grant->zeros && grant->writes != atomic_load_explicit(&grid->writes, memory_order_relaxed)))
        return NULL;
    *size = grant->size - offset;
    return grant->bytes + offset;
}

static inline unsigned char *ptx_port_granted(const struct ptx_port *port, uint64_t address, uint64_t length, enum twin_use use,
                                              uint64_t *size)
{
    const unsigned place = (unsigned)((address >> PTX_GRANT_SHIFT) % PTX_GRANTS);
    unsigned char *bytes = ptx_grant_of(&port->write[place], port->grid, address, length, size);
    return bytes || use != TWIN_READ ? bytes : ptx_grant_of(&port->read[place], port->grid, address, length, size);
}

/* Lanes outside the mask get the value of the first lane in it. */
static inline void ptx_reach_mask(struct ptx_reach *r, uint32_t mask)
{
    const uint32_t first = r->offset[ptx_first_lane(mask)];
    if (mask == PTX_ALL)
        return;
    PTX_LANES_LOOP
    {
        r->offset[i] = mask & ptx_lane_bit[i] ? r->offset[i] : first;
    }
}

/* Are all offsets multiples of bytes, and at least bytes below the limit? Finds the shape. */
static inline bool ptx_reach_fits(struct ptx_reach *r, uint32_t bytes, uint64_t limit)
{
    const uint32_t first = r->offset[0];
    uint32_t high = 0, odd = 0, other = 0, apart = 0;
    PTX_LANES_LOOP
    {
        const uint32_t at = r->offset[i];
        high = at > high ? at : high;
        odd |= at;
        apart |= at ^ first;
        other |= at ^ (first + i * bytes);
    }
    if (odd & (bytes - 1) || (uint64_t)high + bytes > limit)
        return false;
    r->shape = !other ? PTX_IN_A_ROW : !apart ? PTX_ALL_SAME : PTX_SCATTERED;
    if (r->shape != PTX_SCATTERED)
        r->base += first;
    return true;
}

/* Offsets for lanes in a row, for callers that need offsets. */
static inline void ptx_reach_spread(struct ptx_reach *r, uint32_t bytes)
{
    const uint32_t apart = r->shape == PTX_IN_A_ROW ? bytes : 0;
    if (r->shape == PTX_SCATTERED)
        return;
    PTX_LANES_LOOP
    {
        r->offset[i] = i * apart;
    }
    r->shape = PTX_SCATTERED;
}

/* The low 32 bits of what the address register holds, and more. */
static inline void ptx_reach_offsets(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t add, struct ptx_reach *r)
{
    const ptx_u32 *narrow = PTX_SLOT(const ptx_u32, op->a);
    const ptx_u64 *wide = PTX_SLOT(const ptx_u64, op->a);
    if (op->bytes[1] == 8)
        PTX_LANES_LOOP
        {
            r->offset[i] = (uint32_t)wide[i] + add;
        }
    else
        PTX_LANES_LOOP
        {
            r->offset[i] = narrow[i] + add;
        }
}

static inline bool ptx_reach_shared(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, uint32_t bytes, struct ptx_reach *r)
{
    const struct ptx_block *block = warp->block;
    const uint32_t add = (uint32_t)op->imm - block->shared_start;
    r->own = true;
    r->base = block->shared;
    if (op->more & PTX_MEM_NO_BASE)
        return false;
    ptx_reach_offsets(warp, op, add, r);
    ptx_reach_mask(r, mask);
    return ptx_reach_fits(r, bytes, block->shared_size);
}

/* The memory that the warp has now; it grows. */
static inline bool ptx_reach_local(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, uint32_t bytes, struct ptx_reach *r)
{
    const struct ptx_kernel *kernel = warp->block->grid->launch->kernel;
    const uint32_t limit = warp->local_size < kernel->local_bytes ? warp->local_size : kernel->local_bytes;
    const uint64_t add = (uint64_t)op->imm + ((op->more & PTX_MEM_SPACE) == PTX_M_FRAME ? warp->frame->local : 0);
    const ptx_u32 *narrow = PTX_SLOT(const ptx_u32, op->a);
    const ptx_u64 *wide = PTX_SLOT(const ptx_u64, op->a);
    const bool none = op->more & PTX_MEM_NO_BASE, is_wide = op->bytes[1] == 8;
    uint64_t far = 0;
    r->own = true;
    r->base = warp->local;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        const uint64_t at = add + (none ? 0 : is_wide ? wide[i] : narrow[i]);
        far |= mask & ptx_lane_bit[i] ? at : 0;
        r->offset[i] = (uint32_t)at;
    }
    ptx_reach_mask(r, mask);
    if (far > UINT32_MAX || !ptx_reach_fits(r, bytes, limit))
        return false;
    r->base = warp->local;
    r->shape = PTX_SCATTERED;
    PTX_LANES_LOOP
    {
        r->offset[i] += i * warp->local_size;
    }
    return true;
}

/* Subtracts the smallest offset; returns the largest. */
static inline uint32_t ptx_reach_base(struct ptx_reach *r, uint32_t *low)
{
    uint32_t least = UINT32_MAX, most = 0;
    PTX_LANES_LOOP
    {
        const uint32_t at = r->offset[i];
        least = at < least ? at : least;
        most = at > most ? at : most;
    }
    PTX_LANES_LOOP
    {
        r->offset[i] -= least;
    }
    *low = least;
    return most - least;
}

/* All lanes, in a row or at the same address: the most frequent cases. */
static inline bool ptx_reach_regular(const struct ptx_warp *warp, const ptx_u64 *at, uint64_t add, uint32_t bytes, enum twin_use use,
                                     struct ptx_reach *r)
{
    const uint64_t first = at[0];
    uint64_t other = 0, apart = 0, size;
    PTX_LANES_LOOP
    {
        apart |= at[i] ^ first;
        other |= at[i] ^ (first + i * bytes);
    }
    if ((other && apart) || (first + add) & (bytes - 1))
        return false;
    r->own = false;
    r->shape = other ? PTX_ALL_SAME : PTX_IN_A_ROW;
    r->base = ptx_port_granted(warp->port, first + add, other ? bytes : bytes * PTX_LANES, use, &size);
    return r->base != NULL;
}

static inline bool ptx_reach_global(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, uint32_t bytes, enum twin_use use,
                                    struct ptx_reach *r)
{
    const ptx_u64 *at = PTX_SLOT(const ptx_u64, op->a);
    uint64_t far = 0, size;
    uint32_t low;
    if (op->more & PTX_MEM_NO_BASE || op->bytes[1] != 8 || warp->block->grid->memory->fleeting)
        return false;
    if (mask == PTX_ALL && ptx_reach_regular(warp, at, (uint64_t)op->imm, bytes, use, r))
        return true;
    const uint64_t first = at[ptx_first_lane(mask)] + (uint64_t)op->imm, page = first >> PTX_GRANT_SHIFT << PTX_GRANT_SHIFT;
    const uint64_t add = (uint64_t)op->imm - page;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        const uint64_t offset = at[i] + add;
        far |= mask & ptx_lane_bit[i] ? offset : 0;
        r->offset[i] = (uint32_t)offset;
    }
    if (far >> PTX_GRANT_SHIFT || far & (bytes - 1))
        return false;
    ptx_reach_mask(r, mask);
    const uint32_t length = ptx_reach_base(r, &low) + bytes;
    r->own = false;
    r->shape = PTX_SCATTERED;
    r->base = ptx_port_granted(warp->port, page + low, length, use, &size);
    return r->base != NULL;
}

/* A kernel parameter that all lanes read. */
static inline bool ptx_reach_param(const struct ptx_launch *launch, const struct ptx_op *op, uint32_t bytes, enum twin_use use,
                                   struct ptx_reach *r)
{
    const uint64_t at = (uint64_t)op->imm, size = launch->kernel->param_bytes;
    if (!(op->more & PTX_MEM_NO_BASE) || use != TWIN_READ || at > size || bytes > size - at || at & (bytes - 1))
        return false;
    r->own = true;
    r->base = (unsigned char *)(uintptr_t)launch->params + at;
    r->shape = PTX_ALL_SAME;
    return true;
}

/* False: not granted yet. */
static inline bool ptx_reach_all(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, uint32_t bytes, enum twin_use use,
                                 struct ptx_reach *r)
{
    const struct ptx_launch *launch = warp->block->grid->launch;
    switch ((enum ptx_memory)(op->more & PTX_MEM_SPACE)) {
    case PTX_M_GENERIC:
    case PTX_M_GLOBAL: return ptx_reach_global(warp, op, mask, bytes, use, r);
    case PTX_M_SHARED: return ptx_reach_shared(warp, op, mask, bytes, r);
    case PTX_M_LOCAL:
    case PTX_M_FRAME: return ptx_reach_local(warp, op, mask, bytes, r);
    default: return ptx_reach_param(launch, op, bytes, use, r);
    }
}

#endif
