/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics and reductions: lane by lane, each atomic also for other host threads and other processes. */
#include <string.h>

#include "ptx_float.h"
#include "ptx_grid.h"
#include "ptx_memory.h"
#include "ptx_reach.h"
#include "ptx_steps.h"

__extension__ typedef unsigned __int128 wide;

static unsigned fold_of(const struct ptx_op *op)
{
    return op->what & 255;
}

static unsigned folded(const struct ptx_op *op)
{
    return op->what >> 8;
}

static unsigned size_of(const struct ptx_op *op)
{
    return 1u << (op->more >> PTX_MEM_SIZE_SHIFT & 7);
}

static const struct ptx_float_way nearest = {PTX_ROUND_EVEN, false, false};

static uint64_t least_or_most(const struct ptx_format *f, uint64_t a, uint64_t b, bool most)
{
    int order = ptx_float_compare(f, a, b, false);
    if (order == 2)
        return ptx_float_is_nan(f, a) ? b : a;
    return (order < 0) == !most ? a : b;
}

static uint64_t fold_float(const struct ptx_format *f, unsigned fold, uint64_t a, uint64_t b)
{
    return fold == PTX_FOLD_ADD ? ptx_float_add(f, a, b, nearest) : least_or_most(f, a, b, fold == PTX_FOLD_MAX);
}

static uint64_t fold_pair(const struct ptx_format *f, unsigned fold, uint64_t a, uint64_t b)
{
    return fold_float(f, fold, a & 0xffff, b & 0xffff) | fold_float(f, fold, a >> 16, b >> 16) << 16;
}

static uint64_t fold_whole(unsigned fold, uint64_t a, uint64_t b, uint64_t c, bool less)
{
    switch (fold) {
    case PTX_FOLD_ADD: return a + b;
    case PTX_FOLD_MIN: return less ? a : b;
    case PTX_FOLD_MAX: return less ? b : a;
    case PTX_FOLD_AND: return a & b;
    case PTX_FOLD_OR: return a | b;
    case PTX_FOLD_XOR: return a ^ b;
    case PTX_FOLD_INC: return a >= b ? 0 : a + 1;
    case PTX_FOLD_DEC: return a == 0 || a > b ? b : a - 1;
    case PTX_FOLD_CAS: return a == b ? c : a;
    default: return b; /* exch */
    }
}

/* The new value of a in memory. Additions of f32 flush subnormal numbers, except in shared memory (PTX ISA, "atom"). */
static uint64_t folded_with(const struct ptx_op *op, uint64_t a, uint64_t b, uint64_t c, bool flush)
{
    unsigned fold = fold_of(op);
    switch (folded(op)) {
    case PTX_OF_S32: return fold_whole(fold, a, b, c, (int32_t)(uint32_t)a < (int32_t)(uint32_t)b);
    case PTX_OF_S64: return fold_whole(fold, a, b, c, (int64_t)a < (int64_t)b);
    case PTX_OF_F32: return fold == PTX_FOLD_ADD ? ptx_float_add(&ptx_f32, a, b, (struct ptx_float_way){PTX_ROUND_EVEN, flush, false})
                                                 : fold_whole(fold, a, b, c, false);
    case PTX_OF_F64: return fold_float(&ptx_f64, fold, a, b);
    case PTX_OF_F16: return fold_float(&ptx_f16, fold, a, b);
    case PTX_OF_BF16: return fold_float(&ptx_bf16, fold, a, b);
    case PTX_OF_F16X2: return fold_pair(&ptx_f16, fold, a, b);
    case PTX_OF_BF16X2: return fold_pair(&ptx_bf16, fold, a, b);
    default: return fold_whole(fold, a, b, c, a < b);
    }
}

#define EXCHANGE(SIZE, TYPE)                                                                                                \
    static uint64_t exchange##SIZE(const struct ptx_op *op, void *at, uint64_t b, uint64_t c, bool flush)                   \
    {                                                                                                                       \
        TYPE *word = at, before = __atomic_load_n(word, __ATOMIC_RELAXED), after;                                           \
        do                                                                                                                  \
            after = (TYPE)folded_with(op, before, b, c, flush);                                                             \
        while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
        return before;                                                                                                      \
    }
EXCHANGE(16, uint16_t) /* LCOV_EXCL_BR_LINE: another thread was there first, or was not */
EXCHANGE(32, uint32_t) /* LCOV_EXCL_BR_LINE: as above, by chance */
EXCHANGE(64, uint64_t) /* LCOV_EXCL_BR_LINE: as above, by chance */

/* The most frequent ones as a single host instruction. */
static uint64_t combine(const struct ptx_op *op, void *at, unsigned size, uint64_t b, uint64_t c, bool flush)
{
    if (fold_of(op) == PTX_FOLD_ADD && folded(op) <= PTX_OF_S64)
        return size == 4 ? __atomic_fetch_add((uint32_t *)at, (uint32_t)b, __ATOMIC_SEQ_CST)
                         : __atomic_fetch_add((uint64_t *)at, b, __ATOMIC_SEQ_CST);
    return size == 2 ? exchange16(op, at, b, c, flush) : size == 4 ? exchange32(op, at, b, c, flush) : exchange64(op, at, b, c, flush);
}

/* Has the value changed? Floats are not compared: programs do not wait for them. */
static bool changes(const struct ptx_op *op, uint64_t before, uint64_t b, uint64_t c)
{
    unsigned of = folded(op), bits = 8 * size_of(op);
    if (of > PTX_OF_S64 && of != PTX_OF_B16)
        return true;
    return ((folded_with(op, before, b, c, false) ^ before) & (UINT64_MAX >> (64 - bits))) != 0;
}

static bool flushes(const struct ptx_op *op, uint64_t at)
{
    enum ptx_memory space = (enum ptx_memory)(op->more & PTX_MEM_SPACE);
    return space == PTX_M_GENERIC ? ptx_space_of(&at) == PTX_M_GLOBAL : space == PTX_M_GLOBAL;
}

static bool is_aligned(struct ptx_warp *warp, uint32_t mask, const uint64_t at[PTX_LANES], uint32_t size)
{
    for (uint32_t left = mask; left; left &= left - 1)
        if (at[ptx_first_lane(left)] & (size - 1)) {
            ptx_warp_fail(warp, PTX_END_MISALIGNED, left & -left, at[ptx_first_lane(left)], size, TWIN_ATOMIC);
            return false;
        }
    return true;
}

/* 32-bit additions to memory that only the block can access. */
static void add_own(struct ptx_warp *warp, const struct ptx_op *op, struct ptx_reach *r, uint32_t mask, bool returns)
{
    const ptx_u32 *more = PTX_SLOT(const ptx_u32, op->b);
    uint32_t before, after, change = 0;
    ptx_reach_spread(r, 4);
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = ptx_first_lane(left);
        unsigned char *word = r->base + r->offset[lane];
        memcpy(&before, word, sizeof before);
        change |= more[lane];
        after = before + more[lane];
        memcpy(word, &after, sizeof after);
        if (returns)
            PTX_SLOT(ptx_u32, op->d)[lane] = before;
    }
    warp->changed = warp->changed || change;
}

static bool adds_own(const struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, struct ptx_reach *r)
{
    return fold_of(op) == PTX_FOLD_ADD && folded(op) <= PTX_OF_S32 && ptx_reach_all(warp, op, mask, 4, TWIN_ATOMIC, r) && r->own;
}

static void atomic(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, bool returns)
{
    uint64_t at[PTX_LANES];
    struct ptx_reach r;
    unsigned size = size_of(op), held = op->bytes[2];
    bool compares = fold_of(op) == PTX_FOLD_CAS;
    warp->looked = true;
    if (adds_own(warp, op, mask, &r)) {
        add_own(warp, op, &r, mask, returns);
        return;
    }
    ptx_addresses(warp, op, at);
    if (!is_aligned(warp, mask, at, size))
        return;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        unsigned char *word = ptx_reach_lane(warp, op, lane, at[lane], size, TWIN_ATOMIC);
        if (!word)
            return;
        uint64_t c = compares ? ptx_lane_value(warp, op->c, op->bytes[3], lane) : 0;
        uint64_t b = ptx_lane_value(warp, op->b, held, lane), before = combine(op, word, size, b, c, flushes(op, at[lane]));
        warp->changed = warp->changed || changes(op, before, b, c);
        if (returns)
            ptx_lane_write(warp, op->d, op->bytes[0], lane, before);
    }
}

void PTX_STEP_NAME(ATOM)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    atomic(warp, op, mask, true);
}

void PTX_STEP_NAME(RED)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    atomic(warp, op, mask, false);
}

/* ---- several elements, and 16 bytes ---- */

/* Under the grid's lock, because not every host has such an instruction. */
static void whole(struct ptx_warp *warp, const struct ptx_op *op, unsigned lane, unsigned char *at)
{
    const uint32_t *list = warp->frame->routine->list + op->list;
    bool compares = fold_of(op) == PTX_FOLD_CAS;
    const uint32_t *stored = list + (compares ? 2 : 0), *written = stored + 2;
    uint64_t now[2], next[2];
    ptx_grid_lock(warp->block->grid);
    memcpy(now, at, sizeof now);
    for (unsigned i = 0; i < 2; i++)
        next[i] = ptx_lane_value(warp, stored[i], 8, lane);
    if (!compares || (now[0] == ptx_lane_value(warp, list[0], 8, lane) && now[1] == ptx_lane_value(warp, list[1], 8, lane)))
        memcpy(at, next, sizeof next);
    ptx_grid_unlock(warp->block->grid);
    for (unsigned i = 0; i < 2; i++)
        ptx_lane_write(warp, written[i], 8, lane, now[i]);
}

static void vector(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, bool returns)
{
    uint64_t at[PTX_LANES];
    const uint32_t *list = warp->frame->routine->list + op->list;
    unsigned size = size_of(op), count = returns ? op->count / 2u : op->count, held = op->bytes[2];
    bool is_whole = size == 16;
    ptx_addresses(warp, op, at);
    warp->looked = warp->changed = true;
    if (!is_aligned(warp, mask, at, is_whole ? size : size * count))
        return;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        for (unsigned i = 0; i < (is_whole ? 1 : count); i++) {
            unsigned char *word = ptx_reach_lane(warp, op, lane, at[lane] + (uint64_t)i * size, size, TWIN_ATOMIC);
            if (!word)
                return;
            if (is_whole) {
                whole(warp, op, lane, word);
                continue;
            }
            uint64_t before = combine(op, word, size, ptx_lane_value(warp, list[i], held, lane), 0, flushes(op, at[lane]));
            if (returns)
                ptx_lane_write(warp, list[count + i], held, lane, before);
        }
    }
}

void PTX_STEP_NAME(ATOMV)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    vector(warp, op, mask, true);
}

void PTX_STEP_NAME(REDV)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    vector(warp, op, mask, false);
}

/* ---- through a multicast address ---- */

/* The replicas of one element. False: the launch has ended. */
static bool replicas(struct ptx_warp *warp, unsigned lane, uint64_t at, unsigned size, enum twin_use use,
                     unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    struct ptx_grid *grid = warp->block->grid;
    ptx_grid_lock(grid);
    if (use != TWIN_READ)
        atomic_fetch_add(&grid->writes, 1);
    bool found = grid->memory->replicas && grid->memory->replicas(grid->memory, at, size, use, bytes, count);
    ptx_grid_unlock(grid);
    if (!found)
        ptx_warp_fail(warp, PTX_END_ACCESS, UINT32_C(1) << lane, at, size, use);
    return found;
}

static void multimem(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, enum twin_use use)
{
    uint64_t at[PTX_LANES];
    unsigned char *bytes[TWIN_REPLICAS];
    unsigned size = size_of(op), count;
    ptx_addresses(warp, op, at);
    warp->looked = true;
    warp->changed = warp->changed || use != TWIN_READ;
    if (!is_aligned(warp, mask, at, size))
        return;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        uint64_t value = 0, one;
        if (!replicas(warp, lane, at[lane], size, use, bytes, &count))
            return;
        if (use != TWIN_READ)
            value = ptx_lane_value(warp, op->b, op->bytes[2], lane);
        for (unsigned i = 0; i < count; i++) {
            one = 0;
            if (use == TWIN_ATOMIC) {
                combine(op, bytes[i], size, value, 0, true);
            } else if (use == TWIN_WRITE) {
                memcpy(bytes[i], &value, size);
            } else {
                if (bytes[i])
                    memcpy(&one, bytes[i], size);
                value = i ? folded_with(op, value, one, 0, false) : one;
            }
        }
        if (use == TWIN_READ)
            ptx_lane_write(warp, op->d, op->bytes[0], lane, value);
    }
}

void PTX_STEP_NAME(MULTIMEM_LD)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    multimem(warp, op, mask, TWIN_READ);
}

void PTX_STEP_NAME(MULTIMEM_ST)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    multimem(warp, op, mask, TWIN_WRITE);
}

void PTX_STEP_NAME(MULTIMEM_RED)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    multimem(warp, op, mask, TWIN_ATOMIC);
}
