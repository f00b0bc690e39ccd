/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores and fences. */
#include <stdatomic.h>
#include <string.h>

#include "ptx_grid.h"
#include "ptx_memory.h"
#include "ptx_steps.h"

static unsigned size_of(const struct ptx_op *op)
{
    return 1u << (op->more >> PTX_MEM_SIZE_SHIFT & 7);
}

/* After a load, and before a store, what is ordered. */
static void acquire(struct ptx_warp *warp, const struct ptx_op *op)
{
    if (op->more & PTX_MEM_SHOWS)
        warp->looked = true;
    if (op->more & PTX_MEM_ACQUIRE)
        atomic_thread_fence(memory_order_acquire);
}

static void release(const struct ptx_op *op)
{
    if (op->more & PTX_MEM_RELEASE)
        atomic_thread_fence(memory_order_seq_cst);
}

/* One element of each lane, from the pointers, into a slot of so many bytes. */
static void load32(ptx_u32 *slot, unsigned char *const from[PTX_LANES], unsigned at, uint32_t mask)
{
    for (unsigned i = 0; i < PTX_LANES; i++)
        if (mask >> i & 1)
            memcpy((void *)&slot[i], from[i] + at, 4);
}

static void load64(ptx_u64 *slot, unsigned char *const from[PTX_LANES], unsigned at, uint32_t mask)
{
    for (unsigned i = 0; i < PTX_LANES; i++)
        if (mask >> i & 1)
            memcpy((void *)&slot[i], from[i] + at, 8);
}

/* Of 1, 2 or 4 bytes. */
static uint64_t element(const unsigned char *from, unsigned size, bool is_signed)
{
    uint16_t two;
    uint32_t four;
    switch (size) {
    case 1: return is_signed ? (uint64_t)(int64_t)(int8_t)*from : *from;
    case 2:
        memcpy(&two, from, sizeof two);
        return is_signed ? (uint64_t)(int64_t)(int16_t)two : two;
    default:
        memcpy(&four, from, sizeof four);
        return is_signed ? (uint64_t)(int64_t)(int32_t)four : four;
    }
}

/* What others may change meanwhile is read and written whole: at a multiple of its size. */
#define WHOLE_LOAD(TYPE) (TYPE){__atomic_load_n((const TYPE *)(const void *)from, __ATOMIC_RELAXED)}
#define WHOLE_STORE(TYPE) __atomic_store_n((TYPE *)(void *)to, *(const TYPE *)(const void *)value, __ATOMIC_RELAXED)

static uint64_t whole_element(const unsigned char *from, unsigned size, bool is_signed)
{
    switch (size) {
    case 1: return element((const unsigned char *)&WHOLE_LOAD(uint8_t), size, is_signed);
    case 2: return element((const unsigned char *)&WHOLE_LOAD(uint16_t), size, is_signed);
    case 4: return element((const unsigned char *)&WHOLE_LOAD(uint32_t), size, is_signed);
    default: return WHOLE_LOAD(uint64_t);
    }
}

/* value: a register, which is aligned to its size. */
static void store_whole(unsigned char *to, const unsigned char *value, unsigned size)
{
    switch (size) {
    case 1: WHOLE_STORE(uint8_t); break;
    case 2: WHOLE_STORE(uint16_t); break;
    case 4: WHOLE_STORE(uint32_t); break;
    default: WHOLE_STORE(uint64_t); break;
    }
}

static void load(struct ptx_warp *warp, const struct ptx_op *op, uint32_t slot, unsigned char *const from[PTX_LANES], unsigned at,
                 uint32_t mask)
{
    unsigned size = size_of(op), held = op->bytes[0];
    if (op->more & PTX_MEM_SHOWS) {
        for (uint32_t left = mask; left; left &= left - 1) {
            unsigned lane = ptx_first_lane(left);
            ptx_lane_write(warp, slot, held, lane, whole_element(from[lane] + at, size, op->more & PTX_MEM_SIGNED));
        }
    } else if (size == 4 && held == 4) {
        load32(PTX_SLOT(ptx_u32, slot), from, at, mask);
    } else if (size == 8) {
        load64(PTX_SLOT(ptx_u64, slot), from, at, mask);
    } else {
        for (uint32_t left = mask; left; left &= left - 1) {
            unsigned lane = ptx_first_lane(left);
            ptx_lane_write(warp, slot, held, lane, element(from[lane] + at, size, op->more & PTX_MEM_SIGNED));
        }
    }
}

void PTX_STEP_NAME(LD)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    uint64_t at[PTX_LANES];
    unsigned char *from[PTX_LANES];
    ptx_addresses(warp, op, at);
    if (!ptx_reach_lanes(warp, op, mask, at, size_of(op), from))
        return;
    load(warp, op, op->d, from, 0, mask);
    acquire(warp, op);
}

void PTX_STEP_NAME(LDV)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    uint64_t at[PTX_LANES];
    unsigned char *from[PTX_LANES];
    unsigned size = size_of(op);
    ptx_addresses(warp, op, at);
    if (!ptx_reach_lanes(warp, op, mask, at, size * op->count, from))
        return;
    const uint32_t *list = warp->frame->routine->list + op->list;
    for (unsigned i = 0; i < op->count; i++)
        load(warp, op, list[i], from, size * i, mask);
    acquire(warp, op);
}

/* The lowest bytes of a register come first, as on every host that has such devices. */
static void store(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t slot, unsigned char *const to[PTX_LANES], unsigned at,
                  uint32_t mask)
{
    unsigned size = size_of(op), held = op->bytes[2];
    const unsigned char *registers = PTX_SLOT(const unsigned char, slot);
    if (op->more & PTX_MEM_SHOWS)
        for (uint32_t left = mask; left; left &= left - 1)
            store_whole(to[ptx_first_lane(left)] + at, registers + (size_t)held * ptx_first_lane(left), size);
    else if (size == 4)
        for (uint32_t left = mask; left; left &= left - 1)
            memcpy(to[ptx_first_lane(left)] + at, registers + (size_t)held * ptx_first_lane(left), 4);
    else if (size == 8)
        for (uint32_t left = mask; left; left &= left - 1)
            memcpy(to[ptx_first_lane(left)] + at, registers + (size_t)8 * ptx_first_lane(left), 8);
    else if (size == 2)
        for (uint32_t left = mask; left; left &= left - 1)
            memcpy(to[ptx_first_lane(left)] + at, registers + (size_t)held * ptx_first_lane(left), 2);
    else
        for (uint32_t left = mask; left; left &= left - 1)
            to[ptx_first_lane(left)][at] = registers[(size_t)held * ptx_first_lane(left)];
}

static bool is_global(const struct ptx_op *op)
{
    return (op->more & PTX_MEM_SPACE) <= PTX_M_GLOBAL;
}

/* Can other threads see it? */
static bool is_shared(const struct ptx_op *op, uint64_t at)
{
    enum ptx_memory space = (enum ptx_memory)(op->more & PTX_MEM_SPACE);
    if (space == PTX_M_GENERIC)
        space = ptx_space_of(&at);
    return space == PTX_M_GLOBAL || space == PTX_M_SHARED;
}

/* list: of the slots that are stored, count of them. */
static void store_all(struct ptx_warp *warp, const struct ptx_op *op, const uint32_t *list, unsigned count, uint32_t mask)
{
    uint64_t at[PTX_LANES];
    unsigned char *to[PTX_LANES];
    _Alignas(8) unsigned char bytes[PTX_LANES][PTX_WIDEST];
    unsigned size = size_of(op);
    bool fleeting = is_global(op) && ptx_is_fleeting(warp);
    ptx_addresses(warp, op, at);
    release(op);
    for (unsigned i = 0; i < PTX_LANES && fleeting; i++)
        to[i] = bytes[i];
    if (!fleeting && !ptx_reach_lanes(warp, op, mask, at, size * count, to))
        return;
    for (unsigned i = 0; i < count; i++)
        store(warp, op, list[i], to, size * i, mask);
    if (fleeting)
        ptx_store_lanes(warp, op, mask, at, size * count, bytes);
    warp->changed = warp->changed || is_shared(op, at[ptx_first_lane(mask)]);
}

void PTX_STEP_NAME(ST)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    store_all(warp, op, &op->b, 1, mask);
}

void PTX_STEP_NAME(STV)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    store_all(warp, op, warp->frame->routine->list + op->list, op->count, mask);
}

/* more: 1 of aliases */
void PTX_STEP_NAME(FENCE)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    struct ptx_grid *grid = warp->block->grid;
    (void)mask;
    atomic_thread_fence(memory_order_seq_cst);
    if (op->more == 1 && grid->memory->fence) {
        ptx_grid_lock(grid);
        grid->memory->fence(grid->memory);
        ptx_grid_unlock(grid);
    }
}

/* more: how many bytes are written; of these c come from b, the rest are zeros. */
void PTX_STEP_NAME(COPY_ASYNC)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    struct ptx_op shared = {.step = STEP_ST, .more = PTX_M_SHARED}, global = {.step = STEP_LD, .more = PTX_M_GLOBAL};
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left), size = op->more;
        uint64_t to_at = ptx_lane_value(warp, op->a, op->bytes[1], lane) + (uint64_t)op->imm;
        uint64_t from_at = PTX_SLOT(ptx_u64, op->b)[lane];
        uint32_t bytes = PTX_SLOT(ptx_u32, op->c)[lane], part;
        unsigned char copy[16] = {0};
        if (bytes > size)
            bytes = size;
        if ((to_at | from_at) & (size - 1)) {
            ptx_warp_fail(warp, PTX_END_MISALIGNED, left & -left, to_at & (size - 1) ? to_at : from_at, size, TWIN_READ);
            return;
        }
        for (uint32_t done = 0; done < bytes; done += part) {
            part = bytes - done < 4 ? 1 : 4;
            const unsigned char *from = ptx_reach_lane(warp, &global, lane, from_at + done, part, TWIN_READ);
            if (!from)
                return;
            memcpy(copy + done, from, part);
        }
        unsigned char *to = ptx_reach_lane(warp, &shared, lane, to_at, size, TWIN_WRITE);
        if (!to)
            return;
        memcpy(to, copy, size);
    }
}
