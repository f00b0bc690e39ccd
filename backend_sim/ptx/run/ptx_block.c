/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_block.h"

#include <string.h>

#include "heap.h"
#include "ptx_calls.h"
#include "ptx_grid.h"
#include "ptx_memory.h"

static bool open_warps(struct ptx_block *block)
{
    const uint32_t count = block->grid->warps;
    if (!block->shared)
        block->shared = heap.calloc(1, block->shared_size + 16u);
    if (!block->warps)
        block->warps = heap.calloc(count, sizeof *block->warps);
    if (!block->shared || !block->warps)
        return false;
    block->warp_count = count;
    for (uint32_t i = 0; i < count; i++)
        if (!ptx_warp_open(&block->warps[i], block, i))
            return false;
    return true;
}

void ptx_block_open(struct ptx_block *block, struct ptx_grid *grid, uint64_t number)
{
    const struct ptx_launch *launch = grid->launch;
    block->grid = grid;
    block->number = number;
    block->index[0] = (uint32_t)(number % launch->grid[0]);
    block->index[1] = (uint32_t)(number / launch->grid[0] % launch->grid[1]);
    block->index[2] = (uint32_t)(number / launch->grid[0] / launch->grid[1]);
    block->threads = block->alive = launch->block[0] * launch->block[1] * launch->block[2];
    block->shared_start = launch->program->reserves ? 0 : PTX_SHARED_BASE;
    block->shared_size = grid->shared_bytes + PTX_SHARED_BASE - block->shared_start;
    memset(block->barrier, 0, sizeof block->barrier);
    if (!open_warps(block))
        ptx_grid_fail(grid, &(struct ptx_outcome){.end = PTX_END_MEMORY});
}

void ptx_block_close(struct ptx_block *block)
{
    for (uint32_t i = 0; block->warps && i < block->warp_count; i++)
        if (block->warps[i].block)
            ptx_warp_close(&block->warps[i]);
    heap.free(block->warps);
    heap.free(block->shared);
    memset(block, 0, sizeof *block);
}

/* ---- barriers ---- */

void ptx_barrier_vote(struct ptx_barrier *barrier, uint32_t truth, uint32_t lanes)
{
    if (!barrier->arrived) {
        barrier->all = 1;
        barrier->some = barrier->count = 0;
    }
    barrier->all &= truth == lanes;
    barrier->some |= truth != 0;
    barrier->count += (uint32_t)__builtin_popcount(truth);
}

/* Stores a reduction's result for the lanes that waited. */
static void answer(const struct ptx_split *s, const struct ptx_barrier *barrier)
{
    const struct ptx_op *op = &s->frame->routine->ops[s->step];
    uint32_t value = op->imm == PTX_VOTE_POPC ? barrier->count : op->imm == PTX_VOTE_ALL ? barrier->all : barrier->some;
    if (op->step != STEP_BAR_RED)
        return;
    if (op->imm != PTX_VOTE_POPC) {
        s->frame->predicates[op->d] = (s->frame->predicates[op->d] & ~s->mask) | (value ? s->mask : 0);
        return;
    }
    for (uint32_t left = s->mask; left; left &= left - 1)
        memcpy(s->frame->registers + (size_t)op->d * PTX_UNIT + 4 * ptx_first_lane(left), &value, sizeof value);
}

static void release(struct ptx_block *block, unsigned number)
{
    struct ptx_barrier *barrier = &block->barrier[number];
    for (uint32_t i = 0; i < block->warp_count; i++)
        for (uint32_t k = 0; k < block->warps[i].splits; k++) {
            struct ptx_split *s = &block->warps[i].split[k];
            if (s->state != PTX_WAITS_BLOCK || s->barrier != number)
                continue;
            answer(s, barrier);
            s->state = PTX_READY;
            s->step++;
        }
    *barrier = (struct ptx_barrier){.arrived = 0};
}

static void look(struct ptx_block *block, unsigned number)
{
    const struct ptx_barrier *barrier = &block->barrier[number];
    uint32_t expected = barrier->expected ? barrier->expected : block->alive;
    if (barrier->arrived && barrier->arrived >= expected)
        release(block, number);
}

void ptx_block_arrive(struct ptx_block *block, unsigned number, uint32_t threads, uint32_t expected)
{
    struct ptx_barrier *barrier = &block->barrier[number];
    barrier->arrived += threads;
    if (expected)
        barrier->expected = expected;
    look(block, number);
}

void ptx_block_exit(struct ptx_block *block, uint32_t threads)
{
    block->alive -= threads;
    for (unsigned i = 0; i < PTX_BARRIERS; i++)
        look(block, i);
}

/* ---- turns ---- */

enum ptx_turn ptx_block_turn(struct ptx_block *block, struct ptx_port *port)
{
    struct ptx_grid *grid = block->grid;
    bool over = false, spins = false, waits = false;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct ptx_warp *warp = &block->warps[i];
        if (!warp->splits)
            continue;
        uint64_t before = warp->made;
        warp->port = port;
        enum ptx_turn turn = ptx_warp_turn(warp);
        atomic_fetch_add_explicit(&grid->made, warp->made - before, memory_order_relaxed);
        if (warp->ended || atomic_load_explicit(&grid->ended, memory_order_relaxed))
            return PTX_TURN_OVER;
        over = over || turn == PTX_TURN_OVER || (turn == PTX_TURN_WAITS && warp->made != before);
        spins = spins || turn == PTX_TURN_SPINS;
        waits = waits || turn == PTX_TURN_WAITS;
    }
    if (!block->alive)
        return PTX_TURN_ENDED;
    return over ? PTX_TURN_OVER : spins ? PTX_TURN_SPINS : waits ? PTX_TURN_WAITS : PTX_TURN_OVER;
}
