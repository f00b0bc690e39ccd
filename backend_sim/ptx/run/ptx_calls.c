/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_calls.h"

#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "ptx_grid.h"
#include "ptx_heap.h"
#include "ptx_memory.h"
#include "ptx_steps.h"

/* ---- frames ---- */

static uintptr_t rounded(uintptr_t at)
{
    return (at + PTX_UNIT - 1) / PTX_UNIT * PTX_UNIT;
}

/* The frame: its registers at a multiple of a unit, including constants, which no step writes; its predicates. */
static struct ptx_frame *new_frame(const struct ptx_routine *r, const unsigned char *constants)
{
    size_t registers = (size_t)r->units * PTX_UNIT;
    struct ptx_frame *frame = constants ? heap.calloc(1, sizeof *frame + PTX_UNIT + registers + r->predicates * sizeof(uint32_t)) : NULL;
    if (!frame)
        return NULL;
    frame->routine = r;
    frame->registers = (unsigned char *)rounded((uintptr_t)(frame + 1));
    frame->predicates = (uint32_t *)(void *)(frame->registers + registers);
    memcpy(frame->registers, constants, (size_t)r->constant_units * PTX_UNIT);
    return frame;
}

struct ptx_frame *ptx_frame_open(struct ptx_warp *warp, uint32_t routine, struct ptx_frame *parent)
{
    const struct ptx_routine *r = &warp->block->grid->launch->program->routines[routine];
    struct ptx_frame *frame = warp->spare[routine];
    if (frame)
        warp->spare[routine] = frame->spare;
    else
        frame = new_frame(r, ptx_grid_constants(warp->block->grid, routine));
    if (!frame)
        return NULL;
    frame->parent = parent;
    frame->carry = frame->extra = frame->lanes = 0;
    frame->local = parent ? (parent->local + parent->routine->frame + parent->extra + 15) / 16 * 16 : 0;
    frame->depth = parent ? parent->depth + 1 : 0;
    return frame;
}

void ptx_frame_close(struct ptx_warp *warp, struct ptx_frame *frame)
{
    uint32_t routine = (uint32_t)(frame->routine - warp->block->grid->launch->program->routines);
    frame->spare = warp->spare[routine];
    warp->spare[routine] = frame;
}

/* ---- parameters ---- */

/* Copies a parameter in the local memory of each lane. False: memory is exhausted, and the launch has ended. */
static bool copy_local(struct ptx_warp *warp, uint32_t lanes, uint64_t to, uint64_t from, uint32_t size)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        if (!ptx_warp_local(warp, lane, to, size) || !ptx_warp_local(warp, lane, from, size))
            return false;
        memmove(ptx_warp_local(warp, lane, to, size), ptx_warp_local(warp, lane, from, size), size);
    }
    return true;
}

static bool fits(const struct ptx_routine *r, const struct ptx_op *op)
{
    return r->param_count == op->what && r->result_count == (uint32_t)op->count - op->what;
}

/* The lanes enter a new frame, and the rest of the split continues after the call. */
static void enter(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes, uint32_t routine)
{
    const struct ptx_routine *r = &warp->block->grid->launch->program->routines[routine];
    const uint32_t *list = s->frame->routine->list + op->list;
    struct ptx_frame *frame = ptx_frame_open(warp, routine, s->frame);
    uint64_t end = frame ? (uint64_t)frame->local + r->frame : 0;
    if (!frame || end > warp->block->grid->launch->local_most || frame->depth > UINT16_MAX) {
        ptx_warp_fail(warp, frame ? PTX_END_STACK : PTX_END_MEMORY, lanes, end, 0, TWIN_WRITE);
        if (frame)
            ptx_frame_close(warp, frame);
        return;
    }
    frame->lanes = lanes;
    frame->return_to = s->step + 1;
    frame->call = op;
    struct ptx_frame *caller = s->frame;
    struct ptx_split *inner = s;
    if (lanes != s->mask) {
        s->step++;
        inner = ptx_warp_part(warp, s, lanes, 0);
    }
    inner->frame = warp->frame = frame;
    inner->step = 0;
    for (uint32_t i = 0; i < r->param_count; i++)
        if (!copy_local(warp, lanes, frame->local + r->params[i].offset, caller->local + (uint64_t)list[i], r->params[i].size))
            return;
}

/* ---- functions of the driver ---- */

static uint64_t argument(struct ptx_warp *warp, const struct ptx_frame *caller, const struct ptx_op *op, unsigned i, unsigned lane,
                         unsigned size)
{
    uint64_t value = 0;
    const unsigned char *at = i < op->what ? ptx_warp_local(warp, lane, caller->local + (uint64_t)caller->routine->list[op->list + i], size)
                                           : NULL;
    if (at)
        memcpy(&value, at, size);
    return value;
}

static void result(struct ptx_warp *warp, const struct ptx_frame *caller, const struct ptx_op *op, unsigned lane, uint64_t value,
                   unsigned size)
{
    unsigned char *at = op->count > op->what
                            ? ptx_warp_local(warp, lane, caller->local + (uint64_t)caller->routine->list[op->list + op->what], size)
                            : NULL;
    if (at)
        memcpy(at, &value, size);
}

/* __assertfail(message, file, line, function, size of a character) */
static void fail_assertion(struct ptx_warp *warp, const struct ptx_op *op, uint32_t lanes)
{
    unsigned lane = ptx_first_lane(lanes);
    struct ptx_outcome outcome = {.end = PTX_END_ASSERT, .lanes = lanes, .routine = warp->frame->routine};
    char message[80] = "", file[40] = "", function[40] = "";
    ptx_read_string(warp, lane, argument(warp, warp->frame, op, 0, lane, 8), message, sizeof message);
    ptx_read_string(warp, lane, argument(warp, warp->frame, op, 1, lane, 8), file, sizeof file);
    ptx_read_string(warp, lane, argument(warp, warp->frame, op, 3, lane, 8), function, sizeof function);
    if (warp->ended)
        return;
    snprintf(outcome.text, sizeof outcome.text, "%s:%u: %s: Assertion `%.48s' failed", file,
             (unsigned)argument(warp, warp->frame, op, 2, lane, 4), function, message);
    memcpy(outcome.block, warp->block->index, sizeof outcome.block);
    for (int i = 0; i < 3; i++)
        outcome.thread[i] = warp->tid[i][lane];
    outcome.line = warp->frame->routine->lines[warp->step];
    warp->ended = true;
    ptx_grid_fail(warp->block->grid, &outcome);
}

static void call_builtin(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes, const struct ptx_routine *r)
{
    if (r->builtin == PTX_B_ASSERTFAIL) {
        fail_assertion(warp, op, lanes);
        return;
    }
    for (uint32_t left = lanes; left && !warp->ended; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        uint32_t printed = 0;
        if (r->builtin != PTX_B_VPRINTF) {
            const uint64_t value = argument(warp, s->frame, op, 0, lane, 8);
            if (r->builtin == PTX_B_FREE)
                ptx_heap_free(warp, lane, value);
            else
                result(warp, s->frame, op, lane, ptx_heap_malloc(warp, lane, value), 8);
            continue;
        }
        if (!ptx_print(warp, lane, argument(warp, s->frame, op, 0, lane, 8), argument(warp, s->frame, op, 1, lane, 8), &printed))
            return;
        result(warp, s->frame, op, lane, printed, 4);
    }
    s->step++;
}

/* ---- calls ---- */

/* The routine that a pointer refers to; UINT32_MAX: none. */
static uint32_t routine_at(const struct ptx_program *program, uint64_t pointer)
{
    uint64_t number = (pointer - PTX_FUNCTIONS) / 16;
    bool is_one = pointer >= PTX_FUNCTIONS && pointer % 16 == 0 && number < program->routine_count;
    return is_one && (program->routines[number].defined || program->routines[number].builtin) ? (uint32_t)number : UINT32_MAX;
}

static void call_routine(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes, uint32_t routine)
{
    const struct ptx_routine *r = &warp->block->grid->launch->program->routines[routine];
    if (r->builtin)
        call_builtin(warp, s, op, lanes, r);
    else
        enter(warp, s, op, lanes, routine);
}

/* The lanes with the same pointer as the first; the others repeat the step separately. */
static void call_pointer(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes)
{
    const struct ptx_program *program = warp->block->grid->launch->program;
    const ptx_u64 *pointers = PTX_SLOT(const ptx_u64, op->a);
    uint64_t pointer = pointers[ptx_first_lane(lanes)];
    uint32_t same = 0, routine = routine_at(program, pointer);
    for (uint32_t left = lanes; left; left &= left - 1)
        if (pointers[ptx_first_lane(left)] == pointer)
            same |= left & -left;
    if (routine == UINT32_MAX || !fits(&program->routines[routine], op)) {
        ptx_warp_fail(warp, PTX_END_POINTER, same, pointer, 8, TWIN_READ);
        return;
    }
    if (same == s->mask) {
        call_routine(warp, s, op, same, routine);
        return;
    }
    call_routine(warp, ptx_warp_part(warp, s, same, s->step), op, same, routine);
}

void ptx_call(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes)
{
    if (op->step == STEP_CALL_POINTER)
        call_pointer(warp, s, op, lanes);
    else
        call_routine(warp, s, op, lanes, (uint32_t)op->imm);
}

void ptx_return(struct ptx_warp *warp, struct ptx_split *s, uint32_t lanes)
{
    struct ptx_frame *frame = s->frame, *parent = frame->parent;
    const struct ptx_routine *r = frame->routine;
    const uint32_t *list = parent->routine->list + frame->call->list + frame->call->what;
    for (uint32_t i = 0; i < r->result_count; i++)
        if (!copy_local(warp, lanes, parent->local + (uint64_t)list[i], frame->local + r->results[i].offset, r->results[i].size))
            return;
    struct ptx_split *outer = s;
    if (lanes != s->mask) {
        s->step++;
        outer = ptx_warp_part(warp, s, lanes, 0);
    }
    outer->frame = parent;
    outer->step = frame->return_to;
    frame->lanes &= ~lanes;
    if (!frame->lanes)
        ptx_frame_close(warp, frame);
}
