/* SPDX-License-Identifier: Apache-2.0 */
/* The splits of a warp: which one runs, divergence and reconvergence, and calls.
 *
 * A split that jumps backwards while another one is ready may be waiting for it. So after a number
 * of iterations it is moved behind the others: early if the iterations only polled memory (a
 * volatile access, an atomic that changed nothing), late if not, so that lanes which leave a loop
 * at different times still meet after it. */
#include "ptx_warp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "ptx_calls.h"
#include "ptx_collective.h"
#include "ptx_grid.h"
#include "ptx_memory.h"
#include "ptx_steps.h"

enum {
    TURN = 1 << 16, /* steps until another warp gets a turn */
    SPINS = 16,     /* polling iterations until another split gets a turn; a few times as many until another warp does */
    LOOPS = 1 << 14 /* other iterations */
};

/* ---- lanes and their memory ---- */

static void place_threads(struct ptx_warp *warp, const struct ptx_launch *launch, uint32_t first)
{
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
        uint32_t thread = first + lane;
        warp->tid[0][lane] = thread % launch->block[0];
        warp->tid[1][lane] = thread / launch->block[0] % launch->block[1];
        warp->tid[2][lane] = thread / launch->block[0] / launch->block[1];
    }
}

bool ptx_warp_open(struct ptx_warp *warp, struct ptx_block *block, uint32_t number)
{
    const struct ptx_launch *launch = block->grid->launch;
    uint32_t first = number * PTX_LANES, count = block->threads - first < PTX_LANES ? block->threads - first : PTX_LANES;
    warp->block = block;
    warp->alive = count == PTX_LANES ? PTX_ALL : (UINT32_C(1) << count) - 1;
    warp->ended = warp->looked = warp->changed = false;
    warp->made = 0;
    if (!warp->spare) { /* the first block; the others have the same number of warps and threads */
        warp->number = number;
        warp->spare = heap.calloc(launch->program->routine_count, sizeof *warp->spare);
        place_threads(warp, launch, first);
    }
    struct ptx_frame *frame = warp->spare ? ptx_frame_open(warp, launch->kernel->routine, NULL) : NULL;
    if (!frame)
        return false;
    frame->lanes = warp->alive;
    warp->split[0] = (struct ptx_split){.frame = frame, .mask = warp->alive};
    warp->splits = 1;
    return true;
}

void ptx_warp_close(struct ptx_warp *warp)
{
    for (uint32_t i = 0; warp->spare && i < warp->splits; i++)
        for (struct ptx_frame *frame = warp->split[i].frame; frame && frame->lanes;) {
            struct ptx_frame *parent = frame->parent;
            frame->lanes = 0; /* other splits may be in it */
            ptx_frame_close(warp, frame);
            frame = parent;
        }
    for (uint32_t i = 0; warp->spare && i < warp->block->grid->launch->program->routine_count; i++)
        while (warp->spare[i]) {
            struct ptx_frame *next = warp->spare[i]->spare;
            heap.free(warp->spare[i]);
            warp->spare[i] = next;
        }
    heap.free(warp->spare);
    heap.free(warp->local);
    warp->spare = NULL;
    warp->local = NULL;
    warp->splits = warp->local_size = 0;
}

/* Doubles the size, or grows it to the needed size. */
static bool grow_local(struct ptx_warp *warp, uint64_t need)
{
    const struct ptx_launch *launch = warp->block->grid->launch;
    uint64_t size = warp->local_size ? 2 * (uint64_t)warp->local_size : launch->kernel->local_bytes;
    size = size < need ? need : size;
    size = size > launch->local_most && need <= launch->local_most ? launch->local_most : size;
    size = (size + 15) / 16 * 16;
    unsigned char *larger = heap.calloc(PTX_LANES, size);
    if (!larger)
        return false;
    for (unsigned lane = 0; lane < PTX_LANES && warp->local; lane++)
        memcpy(larger + lane * size, warp->local + (size_t)lane * warp->local_size, warp->local_size);
    heap.free(warp->local);
    warp->local = larger;
    warp->local_size = (uint32_t)size;
    return true;
}

unsigned char *ptx_warp_local(struct ptx_warp *warp, unsigned lane, uint64_t offset, uint32_t size)
{
    const struct ptx_launch *launch = warp->block->grid->launch;
    uint64_t most = launch->kernel->recursive || launch->local_most < launch->kernel->local_bytes ? launch->local_most
                                                                                                  : launch->kernel->local_bytes;
    if (warp->frame->extra || warp->frame->depth)
        most = launch->local_most > most ? launch->local_most : most;
    if (size > most || offset > most - size)
        return NULL;
    if (offset + size > warp->local_size && !grow_local(warp, offset + size)) {
        ptx_warp_fail(warp, PTX_END_MEMORY, UINT32_C(1) << lane, offset, size, TWIN_WRITE);
        return NULL;
    }
    return warp->local + (size_t)lane * warp->local_size + offset;
}

/* ---- splits ---- */

static void drop_split(struct ptx_warp *warp, struct ptx_split *s)
{
    *s = warp->split[--warp->splits];
}

static bool is_ready(const struct ptx_split *s)
{
    return s->state == PTX_READY;
}

/* A split deeper in calls or earlier in the code runs first. */
static bool comes_before(const struct ptx_split *a, const struct ptx_split *b)
{
    return a->frame->depth != b->frame->depth ? a->frame->depth > b->frame->depth : a->step < b->step;
}

/* Splits that yielded get their turn when no other one is ready. */
static bool wake_behind(struct ptx_warp *warp)
{
    bool any = false;
    for (uint32_t i = 0; i < warp->splits; i++)
        if (warp->split[i].state == PTX_BEHIND) {
            warp->split[i].state = PTX_READY;
            any = true;
        }
    return any;
}

static struct ptx_split *first_ready(struct ptx_warp *warp)
{
    struct ptx_split *best = NULL;
    for (uint32_t i = 0; i < warp->splits; i++)
        if (is_ready(&warp->split[i]) && (!best || comes_before(&warp->split[i], best)))
            best = &warp->split[i];
    return best;
}

/* Merges all splits at the same position into this one. A split that yielded and meets another one
 * there no longer has to wait for the others. */
static struct ptx_split *meet(struct ptx_warp *warp, struct ptx_split *s)
{
    for (uint32_t i = 0; i < warp->splits; i++) {
        struct ptx_split *other = &warp->split[i];
        if (other == s || other->state > PTX_BEHIND || other->frame != s->frame || other->step != s->step)
            continue;
        s->mask |= other->mask;
        bool last = s == &warp->split[warp->splits - 1];
        drop_split(warp, other);
        if (last)
            s = other;
        i = UINT32_MAX; /* from the beginning, because the last one has moved */
    }
    return s;
}

/* NULL: none is ready. */
static struct ptx_split *choose(struct ptx_warp *warp)
{
    struct ptx_split *s = first_ready(warp);
    if (!s && wake_behind(warp))
        s = first_ready(warp);
    if (s && warp->splits > 1)
        s = meet(warp, s);
    return s;
}

struct ptx_split *ptx_warp_part(struct ptx_warp *warp, struct ptx_split *s, uint32_t lanes, uint32_t step)
{
    struct ptx_split *other = &warp->split[warp->splits++];
    *other = *s;
    other->mask = lanes;
    other->step = step;
    s->mask &= ~lanes;
    return other;
}

/* ---- ends ---- */

void ptx_warp_fail(struct ptx_warp *warp, enum ptx_end end, uint32_t lanes, uint64_t address, uint32_t bytes, enum twin_use use)
{
    struct ptx_outcome outcome = {.end = end, .lanes = lanes, .routine = warp->frame->routine, .address = address, .bytes = bytes,
                                  .use = use};
    unsigned lane = ptx_first_lane(lanes);
    memcpy(outcome.block, warp->block->index, sizeof outcome.block);
    for (int i = 0; i < 3; i++)
        outcome.thread[i] = warp->tid[i][lane];
    outcome.line = warp->frame->routine->lines[warp->step];
    warp->ended = true;
    ptx_grid_fail(warp->block->grid, &outcome);
}

/* Lanes exit: they leave their frames, and barriers no longer wait for them. */
static void exit_lanes(struct ptx_warp *warp, struct ptx_split *s, uint32_t lanes)
{
    struct ptx_frame *parent;
    for (struct ptx_frame *frame = s->frame; frame; frame = parent) {
        parent = frame->parent;
        frame->lanes &= ~lanes;
        if (!frame->lanes)
            ptx_frame_close(warp, frame);
    }
    warp->alive &= ~lanes;
    s->mask &= ~lanes;
    if (!s->mask)
        drop_split(warp, s);
    ptx_block_exit(warp->block, (uint32_t)__builtin_popcount(lanes));
    ptx_collective_look(warp);
}

/* ---- control flow ---- */

enum went { GOES_ON, RESCHEDULE };

/* At a backward jump: is it time to let others run? */
static enum went loop(struct ptx_warp *warp, struct ptx_split *s)
{
    bool spins = warp->looked && !warp->changed;
    s->loops++;
    s->spins = spins ? s->spins + 1 : 0;
    warp->spun += spins;
    warp->looked = warp->changed = false;
    if (warp->splits > 1 && (s->loops >= LOOPS || s->spins >= SPINS)) {
        s->state = PTX_BEHIND;
        s->loops = s->spins = 0;
        return RESCHEDULE;
    }
    return warp->made >= warp->turn_ends || warp->spun >= SPINS ? RESCHEDULE : GOES_ON;
}

static enum went branch(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t taken)
{
    uint32_t to = (uint32_t)op->imm, from = s->step;
    if (!taken) {
        s->step++;
        return GOES_ON;
    }
    if (taken != s->mask) {
        s->step++;
        ptx_warp_part(warp, s, taken, to);
        return RESCHEDULE;
    }
    s->step = to;
    return to <= from ? loop(warp, s) : GOES_ON;
}

/* Each lane branches by its index; one beyond the list continues after the branch, which the documentation leaves undefined. */
static enum went branch_by_index(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes)
{
    const uint32_t *list = s->frame->routine->list + op->list;
    const ptx_u32 *index = PTX_SLOT(const ptx_u32, op->a);
    uint32_t at = s->step;
    s->step++;
    while (lanes) {
        uint32_t value = index[ptx_first_lane(lanes)], same = 0;
        for (uint32_t left = lanes; left; left &= left - 1)
            if (index[ptx_first_lane(left)] == value)
                same |= left & -left;
        lanes &= ~same;
        if (value >= (uint64_t)op->imm)
            continue;
        if (same == s->mask)
            s->step = list[value];
        else
            ptx_warp_part(warp, s, same, list[value]);
    }
    if (s->step <= at)
        return loop(warp, s);
    return warp->splits > 1 ? RESCHEDULE : GOES_ON;
}

static enum went arrive(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes)
{
    struct ptx_block *block = warp->block;
    unsigned lane = ptx_first_lane(lanes);
    uint32_t barrier = PTX_SLOT(const ptx_u32, op->a)[lane] % PTX_BARRIERS, threads = op->more & 2 ? PTX_SLOT(const ptx_u32, op->b)[lane] : 0;
    uint32_t count = (uint32_t)__builtin_popcount(lanes);
    warp->changed = true;
    if (op->step == STEP_BAR_RED)
        ptx_barrier_vote(&block->barrier[barrier], warp->predicates[op->c] & lanes, lanes);
    if (op->more & 1) { /* arrives alone */
        s->step++;
        ptx_block_arrive(block, barrier, count, threads);
        return warp->splits > 1 ? RESCHEDULE : GOES_ON;
    }
    if (lanes != s->mask) /* the others do not take part */
        ptx_warp_part(warp, s, s->mask & ~lanes, s->step + 1);
    s->state = PTX_WAITS_BLOCK;
    s->barrier = (uint8_t)barrier;
    ptx_block_arrive(block, barrier, count, threads);
    return RESCHEDULE;
}

static enum went control(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes)
{
    switch (op->step) {
    case STEP_JOIN: s->step++; return GOES_ON;
    case STEP_BRA: return branch(warp, s, op, lanes);
    default: break;
    }
    if (!lanes) {
        s->step++;
        return GOES_ON;
    }
    switch (op->step) {
    case STEP_BRX: return branch_by_index(warp, s, op, lanes);
    case STEP_CALL:
    case STEP_CALL_POINTER: ptx_call(warp, s, op, lanes); return RESCHEDULE;
    case STEP_RET: ptx_return(warp, s, lanes); return RESCHEDULE;
    case STEP_EXIT:
        s->step++;
        exit_lanes(warp, s, lanes);
        return RESCHEDULE;
    case STEP_BAR:
    case STEP_BAR_RED: return arrive(warp, s, op, lanes);
    case STEP_CLUSTER: /* its one block's */
        s->step++;
        return GOES_ON;
    case STEP_TRAP: ptx_warp_fail(warp, PTX_END_TRAP, lanes, 0, 0, TWIN_READ); return RESCHEDULE;
    case STEP_BRKPT: ptx_warp_fail(warp, PTX_END_BREAKPOINT, lanes, 0, 0, TWIN_READ); return RESCHEDULE;
    case STEP_UNSUPPORTED: ptx_warp_fail(warp, PTX_END_UNSUPPORTED, lanes, 0, 0, TWIN_READ); return RESCHEDULE;
    case STEP_NANOSLEEP:
        warp->looked = true;
        s->step++;
        return GOES_ON;
    default: /* .sync */
        return ptx_collective(warp, s, op, lanes) ? GOES_ON : RESCHEDULE;
    }
}

/* ---- running ---- */

static void count_step(const struct ptx_warp *warp, uint32_t step, uint32_t lanes)
{
    const struct ptx_grid *grid = warp->block->grid;
    uint64_t *count = grid->counts + grid->count_of[warp->frame->routine - grid->launch->program->routines] + step;
    __atomic_fetch_add(count, (uint64_t)__builtin_popcount(lanes), __ATOMIC_RELAXED);
}

/* Runs a split until another one must run. */
static void run_split(struct ptx_warp *warp, struct ptx_split *s)
{
    const struct ptx_op *ops = s->frame->routine->ops;
    const ptx_step_function *steps = warp->block->grid->steps;
    const bool counts = warp->block->grid->counts != NULL;
    enum went went = GOES_ON;
    warp->frame = s->frame;
    warp->registers = s->frame->registers;
    warp->predicates = s->frame->predicates;
    uint32_t step = s->step;
    if (ops[step].step == STEP_JOIN) /* other splits had the chance to join it here */
        step++;
    do {
        const struct ptx_op *op = &ops[step];
        uint32_t lanes = s->mask;
        if (op->guard) {
            uint32_t truth = warp->predicates[op->guard - 1];
            lanes &= op->guard_not ? ~truth : truth;
        }
        warp->made++;
        warp->step = step;
        if (counts)
            count_step(warp, step, lanes);
        if (ptx_is_plain(op->step)) {
            step++;
            if (lanes)
                steps[op->step](warp, op, lanes);
            continue;
        }
        s->step = step;
        went = op->step == STEP_JOIN && warp->splits > 1 ? RESCHEDULE : control(warp, s, op, lanes);
        step = s->step;
    } while (went == GOES_ON && !warp->ended);
}

#ifdef CUVMM_DEBUG
static void check(const struct ptx_warp *warp)
{
    const char *broken = ptx_warp_check(warp);
    if (broken) {
        fprintf(stderr, "cuvmm: a warp's invariant is broken: %s\n", broken);
        abort();
    }
}
#else
static void check(const struct ptx_warp *warp)
{
    (void)warp;
}
#endif

enum ptx_turn ptx_warp_turn(struct ptx_warp *warp)
{
    const struct ptx_grid *grid = warp->block->grid;
    warp->turn_ends = warp->made + TURN;
    warp->spun = 0;
    do {
        check(warp);
        struct ptx_split *s = choose(warp);
        if (!s)
            return warp->splits ? PTX_TURN_WAITS : PTX_TURN_ENDED;
        run_split(warp, s);
        if (warp->spun >= 2 * SPINS * warp->splits)
            return PTX_TURN_SPINS;
    } while (!warp->ended && warp->made < warp->turn_ends && !atomic_load_explicit(&grid->ended, memory_order_relaxed));
    return PTX_TURN_OVER;
}
