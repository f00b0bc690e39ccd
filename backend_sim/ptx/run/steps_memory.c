/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores and fences. */
#include <stdatomic.h>
#include <string.h>

#include "ptx_grid.h"
#include "ptx_memory.h"
#include "ptx_reach.h"
#include "ptx_steps.h"

static unsigned size_of(const struct ptx_op *op)
{
    return 1u << (op->more >> PTX_MEM_SIZE_SHIFT & 7);
}

/* The fence of an ordered access: after a load, before a store. */
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

/* Of so many bytes. */
static uint64_t element(const unsigned char *from, unsigned size, bool is_signed)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 1: return is_signed ? (uint64_t)(int64_t)(int8_t)*from : *from;
    case 2:
        memcpy(&two, from, sizeof two);
        return is_signed ? (uint64_t)(int64_t)(int16_t)two : two;
    case 4:
        memcpy(&four, from, sizeof four);
        return is_signed ? (uint64_t)(int64_t)(int32_t)four : four;
    default:
        memcpy(&eight, from, sizeof eight);
        return eight;
    }
}

/* Memory that others may change meanwhile is accessed atomically: aligned to its size. */
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

/* From a pointer for each lane. */
static void load_lanes(struct ptx_warp *warp, const struct ptx_op *op, uint32_t slot, unsigned char *const from[PTX_LANES], unsigned at,
                       uint32_t mask)
{
    unsigned size = size_of(op), held = op->bytes[0];
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        const unsigned char *there = from[lane] + at;
        bool is_signed = op->more & PTX_MEM_SIGNED;
        ptx_lane_write(warp, slot, held, lane, op->more & PTX_MEM_SHOWS ? whole_element(there, size, is_signed) : element(there, size, is_signed));
    }
}

/* ---- all lanes at once ---- */

/* Elements of as many bytes as the register has, of lanes in a row that are so many bytes apart: a load's, and a store's. */
#define ROW(NAME, TYPE, FIRST, SECOND, THIRD)                                                                             \
    static void NAME##_taken(TYPE *to, const unsigned char *from, unsigned apart)                                         \
    {                                                                                                                     \
        if (apart == FIRST)                                                                                               \
            memcpy((void *)to, from, FIRST * PTX_LANES);                                                                  \
        for (unsigned i = 0; i < PTX_LANES && apart == SECOND; i++)                                                       \
            memcpy((void *)&to[i], from + SECOND * i, FIRST);                                                             \
        for (unsigned i = 0; i < PTX_LANES && apart == THIRD; i++)                                                        \
            memcpy((void *)&to[i], from + THIRD * i, FIRST);                                                              \
    }                                                                                                                     \
    static void NAME##_put(unsigned char *to, const TYPE *from, unsigned apart)                                           \
    {                                                                                                                     \
        if (apart == FIRST)                                                                                               \
            memcpy(to, (const void *)from, FIRST * PTX_LANES);                                                            \
        for (unsigned i = 0; i < PTX_LANES && apart == SECOND; i++)                                                       \
            memcpy(to + SECOND * i, (const void *)&from[i], FIRST);                                                       \
        for (unsigned i = 0; i < PTX_LANES && apart == THIRD; i++)                                                        \
            memcpy(to + THIRD * i, (const void *)&from[i], FIRST);                                                        \
    }
ROW(row32, ptx_u32, 4, 8, 16)
ROW(row64, ptx_u64, 8, 16, 32)

/* Are the elements adjacent? Other rows are handled like scattered accesses. */
static bool is_row(enum ptx_shape shape, const struct ptx_op *op, unsigned held, unsigned apart)
{
    return shape == PTX_IN_A_ROW && size_of(op) == held && held >= 4 && apart <= 4 * held;
}

/* An element of each lane, at so many bytes behind its place, into a slot. */
#define LOAD(NAME, FROM, TO, BITS)                                                                    \
    static void NAME(TO *slot, const struct ptx_reach *r, unsigned at, uint32_t mask)                 \
    {                                                                                                 \
        TO kept[PTX_LANES], *to = mask == PTX_ALL ? slot : kept;                                      \
        const unsigned char *base = r->base + at;                                                     \
        FROM one;                                                                                     \
        if (r->shape == PTX_ALL_SAME) {                                                               \
            memcpy(&one, base, sizeof one);                                                           \
            for (unsigned i = 0; i < PTX_LANES; i++)                                                  \
                to[i] = (TO)one;                                                                      \
        } else {                                                                                      \
            for (unsigned i = 0; i < PTX_LANES; i++) {                                                \
                memcpy(&one, base + r->offset[i], sizeof one);                                        \
                to[i] = (TO)one;                                                                      \
            }                                                                                         \
        }                                                                                             \
        if (mask != PTX_ALL)                                                                          \
            ptx_keep##BITS((void *)slot, (void *)kept, mask);                                         \
    }
LOAD(load_u8_16, uint8_t, ptx_u16, 16)
LOAD(load_s8_16, int8_t, ptx_u16, 16)
LOAD(load_16_16, uint16_t, ptx_u16, 16)
LOAD(load_u8_32, uint8_t, ptx_u32, 32)
LOAD(load_s8_32, int8_t, ptx_u32, 32)
LOAD(load_u16_32, uint16_t, ptx_u32, 32)
LOAD(load_s16_32, int16_t, ptx_u32, 32)
LOAD(load_32_32, uint32_t, ptx_u32, 32)
LOAD(load_u8_64, uint8_t, ptx_u64, 64)
LOAD(load_s8_64, int8_t, ptx_u64, 64)
LOAD(load_u16_64, uint16_t, ptx_u64, 64)
LOAD(load_s16_64, int16_t, ptx_u64, 64)
LOAD(load_u32_64, uint32_t, ptx_u64, 64)
LOAD(load_s32_64, int32_t, ptx_u64, 64)
LOAD(load_64_64, uint64_t, ptx_u64, 64)

enum { TAKES_SIGNS = 64 };
#define FORM(size, held) ((size) | (held) << 2) /* each 1, 2, 4 or 8; and TAKES_SIGNS */

static void load_all(struct ptx_warp *warp, const struct ptx_op *op, uint32_t slot, const struct ptx_reach *r, unsigned at, uint32_t mask)
{
    const unsigned size = size_of(op), held = op->bytes[0];
    ptx_u16 *two = PTX_SLOT(ptx_u16, slot);
    ptx_u32 *four = PTX_SLOT(ptx_u32, slot);
    ptx_u64 *eight = PTX_SLOT(ptx_u64, slot);
    switch (FORM(size, held) + (op->more & PTX_MEM_SIGNED ? TAKES_SIGNS : 0)) {
    case FORM(1, 2): load_u8_16(two, r, at, mask); break;
    case FORM(1, 2) + TAKES_SIGNS: load_s8_16(two, r, at, mask); break;
    case FORM(2, 2):
    case FORM(2, 2) + TAKES_SIGNS: load_16_16(two, r, at, mask); break;
    case FORM(1, 4): load_u8_32(four, r, at, mask); break;
    case FORM(1, 4) + TAKES_SIGNS: load_s8_32(four, r, at, mask); break;
    case FORM(2, 4): load_u16_32(four, r, at, mask); break;
    case FORM(2, 4) + TAKES_SIGNS: load_s16_32(four, r, at, mask); break;
    case FORM(4, 4):
    case FORM(4, 4) + TAKES_SIGNS: load_32_32(four, r, at, mask); break;
    case FORM(1, 8): load_u8_64(eight, r, at, mask); break;
    case FORM(1, 8) + TAKES_SIGNS: load_s8_64(eight, r, at, mask); break;
    case FORM(2, 8): load_u16_64(eight, r, at, mask); break;
    case FORM(2, 8) + TAKES_SIGNS: load_s16_64(eight, r, at, mask); break;
    case FORM(4, 8): load_u32_64(eight, r, at, mask); break;
    case FORM(4, 8) + TAKES_SIGNS: load_s32_64(eight, r, at, mask); break;
    default: load_64_64(eight, r, at, mask); break;
    }
}

/* Memory that others may change meanwhile is accessed lane by lane, each element atomically. */
static bool reach_all(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, uint32_t bytes, enum twin_use use,
                      struct ptx_reach *r)
{
    return ptx_reach_all(warp, op, mask, bytes, use, r) && (r->own || !(op->more & PTX_MEM_SHOWS));
}

static void load(struct ptx_warp *warp, const struct ptx_op *op, const uint32_t *list, unsigned count, uint32_t mask)
{
    uint64_t at[PTX_LANES];
    unsigned char *from[PTX_LANES];
    struct ptx_reach r;
    const unsigned size = size_of(op);
    if (reach_all(warp, op, mask, size * count, TWIN_READ, &r)) {
        const bool row = is_row(r.shape, op, op->bytes[0], size * count);
        if (!row && r.shape == PTX_IN_A_ROW)
            ptx_reach_spread(&r, size * count);
        for (unsigned i = 0; i < count; i++)
            if (!row)
                load_all(warp, op, list[i], &r, size * i, mask);
            else if (size == 4)
                row32_taken(PTX_SLOT(ptx_u32, list[i]), r.base + size * i, size * count);
            else
                row64_taken(PTX_SLOT(ptx_u64, list[i]), r.base + size * i, size * count);
    } else {
        ptx_addresses(warp, op, at);
        if (!ptx_reach_lanes(warp, op, mask, at, size * count, from))
            return;
        for (unsigned i = 0; i < count; i++)
            load_lanes(warp, op, list[i], from, size * i, mask);
    }
    acquire(warp, op);
}

void PTX_STEP_NAME(LD)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    load(warp, op, &op->d, 1, mask);
}

void PTX_STEP_NAME(LDV)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    load(warp, op, warp->frame->routine->list + op->list, op->count, mask);
}

/* ---- stores ---- */

/* Registers are little-endian, like every host with such devices. */
static void store_lanes(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t slot, unsigned char *const to[PTX_LANES], unsigned at,
                        uint32_t mask)
{
    unsigned size = size_of(op), held = op->bytes[2];
    const unsigned char *registers = PTX_SLOT(const unsigned char, slot);
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = ptx_first_lane(left);
        const unsigned char *value = registers + (size_t)held * lane;
        if (op->more & PTX_MEM_SHOWS)
            store_whole(to[lane] + at, value, size);
        else
            memcpy(to[lane] + at, value, size);
    }
}

/* If several lanes have the same address, the last one wins. */
#define STORE(NAME, FROM, TO)                                                                                   \
    static void NAME(const FROM *slot, const struct ptx_reach *r, unsigned at, uint32_t mask)                   \
    {                                                                                                           \
        unsigned char *base = r->base + at;                                                                     \
        TO one;                                                                                                 \
        if (r->shape == PTX_ALL_SAME) {                                                                         \
            one = (TO)slot[31 - __builtin_clz(mask)];                                                           \
            memcpy(base, &one, sizeof one);                                                                     \
        } else if (mask == PTX_ALL) {                                                                           \
            for (unsigned i = 0; i < PTX_LANES; i++) {                                                          \
                one = (TO)slot[i];                                                                              \
                memcpy(base + r->offset[i], &one, sizeof one);                                                  \
            }                                                                                                   \
        } else {                                                                                                \
            for (uint32_t left = mask; left; left &= left - 1) {                                                \
                one = (TO)slot[ptx_first_lane(left)];                                                           \
                memcpy(base + r->offset[ptx_first_lane(left)], &one, sizeof one);                               \
            }                                                                                                   \
        }                                                                                                       \
    }
STORE(store_16_8, ptx_u16, uint8_t)
STORE(store_16_16, ptx_u16, uint16_t)
STORE(store_32_8, ptx_u32, uint8_t)
STORE(store_32_16, ptx_u32, uint16_t)
STORE(store_32_32, ptx_u32, uint32_t)
STORE(store_64_8, ptx_u64, uint8_t)
STORE(store_64_16, ptx_u64, uint16_t)
STORE(store_64_32, ptx_u64, uint32_t)
STORE(store_64_64, ptx_u64, uint64_t)

static void store_all(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t slot, const struct ptx_reach *r, unsigned at,
                      uint32_t mask)
{
    const unsigned size = size_of(op), held = op->bytes[2];
    const ptx_u16 *two = PTX_SLOT(const ptx_u16, slot);
    const ptx_u32 *four = PTX_SLOT(const ptx_u32, slot);
    const ptx_u64 *eight = PTX_SLOT(const ptx_u64, slot);
    switch (FORM(size, held)) {
    case FORM(1, 2): store_16_8(two, r, at, mask); break;
    case FORM(2, 2): store_16_16(two, r, at, mask); break;
    case FORM(1, 4): store_32_8(four, r, at, mask); break;
    case FORM(2, 4): store_32_16(four, r, at, mask); break;
    case FORM(4, 4): store_32_32(four, r, at, mask); break;
    case FORM(1, 8): store_64_8(eight, r, at, mask); break;
    case FORM(2, 8): store_64_16(eight, r, at, mask); break;
    case FORM(4, 8): store_64_32(eight, r, at, mask); break;
    default: store_64_64(eight, r, at, mask); break;
    }
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

/* Through a pointer for each lane; fleeting bytes through a copy. */
static bool store_by_lanes(struct ptx_warp *warp, const struct ptx_op *op, const uint32_t *list, unsigned count, uint32_t mask)
{
    uint64_t at[PTX_LANES];
    unsigned char *to[PTX_LANES];
    _Alignas(8) unsigned char bytes[PTX_LANES][PTX_WIDEST];
    unsigned size = size_of(op);
    bool fleeting = is_global(op) && ptx_is_fleeting(warp);
    ptx_addresses(warp, op, at);
    for (unsigned i = 0; i < PTX_LANES && fleeting; i++)
        to[i] = bytes[i];
    if (!fleeting && !ptx_reach_lanes(warp, op, mask, at, size * count, to))
        return false;
    for (unsigned i = 0; i < count; i++)
        store_lanes(warp, op, list[i], to, size * i, mask);
    if (fleeting && !ptx_store_lanes(warp, op, mask, at, size * count, bytes))
        return false;
    warp->changed = warp->changed || is_shared(op, at[ptx_first_lane(mask)]);
    return true;
}

/* list: of the slots that are stored, count of them. */
static void store(struct ptx_warp *warp, const struct ptx_op *op, const uint32_t *list, unsigned count, uint32_t mask)
{
    struct ptx_reach r;
    unsigned size = size_of(op);
    release(op);
    if (!reach_all(warp, op, mask, size * count, TWIN_WRITE, &r)) {
        store_by_lanes(warp, op, list, count, mask);
        return;
    }
    const bool row = is_row(r.shape, op, op->bytes[2], size * count);
    if (!row && r.shape == PTX_IN_A_ROW)
        ptx_reach_spread(&r, size * count);
    for (unsigned i = 0; i < count; i++)
        if (!row)
            store_all(warp, op, list[i], &r, size * i, mask);
        else if (size == 4)
            row32_put(r.base + size * i, PTX_SLOT(const ptx_u32, list[i]), size * count);
        else
            row64_put(r.base + size * i, PTX_SLOT(const ptx_u64, list[i]), size * count);
    warp->changed = warp->changed || (op->more & PTX_MEM_SPACE) <= PTX_M_SHARED;
}

void PTX_STEP_NAME(ST)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    store(warp, op, &op->b, 1, mask);
}

void PTX_STEP_NAME(STV)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    store(warp, op, warp->frame->routine->list + op->list, op->count, mask);
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

/* more: the number of bytes to write; c of them come from b, the rest are zeros. */
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
