/* SPDX-License-Identifier: Apache-2.0 */
/* A function as a routine: its frame, its steps, and the targets of its branches. */
#include <string.h>

#include "ptx_flow.h"
#include "ptx_lower.h"
#include "ptx_slots.h"

enum { FRAME_MOST = 1 << 24 };

uint32_t ptx_frame_more(struct ptx_lower *l, uint64_t size, uint64_t align)
{
    uint64_t at = (l->routine->frame + align - 1) / align * align;
    if (size > FRAME_MOST || at + size > FRAME_MOST)
        ptx_fail(l->context, l->function->place, "%.*s uses more than %d bytes of local memory", PTX_TEXT(l->function->name), FRAME_MOST);
    l->routine->frame = (uint32_t)(at + size);
    return (uint32_t)at;
}

bool ptx_is_kernel_param(const struct ptx_lower *l, const struct ptx_variable *v)
{
    return v->space == PTX_SPACE_PARAM && v->of == l->function && l->function->is_entry && !v->in_body;
}

uint32_t ptx_frame_offset(const struct ptx_lower *l, const struct ptx_variable *v)
{
    if (v->in_body)
        return l->local_offset[v->number];
    for (const struct ptx_variable *result = l->function->results; result; result = result->next)
        if (result == v)
            return l->result_offset[v->number];
    return l->param_offset[v->number];
}

/* Parameters in order; a kernel's are in separate memory, which begins at 0. */
static uint32_t *place_params(struct ptx_lower *l, const struct ptx_variable *first, uint32_t count, struct ptx_param **params)
{
    uint32_t *offset = ptx_alloc(l->context, count + 1u, sizeof *offset), i = 0;
    uint64_t at = 0;
    *params = ptx_alloc(l->lasting, count + 1u, sizeof **params);
    for (const struct ptx_variable *v = first; v; v = v->next, i++) {
        at = (at + v->align - 1) / v->align * v->align;
        offset[i] = l->function->is_entry ? (uint32_t)at : ptx_frame_more(l, v->size, v->align);
        (*params)[i] = (struct ptx_param){offset[i], (uint32_t)v->size};
        at += v->size;
    }
    if (l->function->is_entry && at > 32764)
        ptx_fail(l->context, l->function->place, "%.*s has %llu bytes of parameters, but the maximum is 32764",
                 PTX_TEXT(l->function->name), (unsigned long long)at);
    return offset;
}

/* The list of a function's own variables is in reverse order. */
static void place_locals(struct ptx_lower *l)
{
    const struct ptx_function *f = l->function;
    const struct ptx_variable **all = ptx_alloc(l->context, f->local_count + 1u, sizeof *all);
    l->local_offset = ptx_alloc(l->context, f->local_count + 1u, sizeof *l->local_offset);
    for (const struct ptx_variable *v = f->locals; v; v = v->next)
        all[v->number] = v;
    for (uint32_t i = 0; i < f->local_count; i++)
        if (all[i]->space != PTX_SPACE_SHARED)
            l->local_offset[i] = ptx_frame_more(l, all[i]->size, all[i]->align);
}

/* The first values are the registers. A register of 128 bits is two values. */
static void make_registers(struct ptx_lower *l)
{
    const struct ptx_function *f = l->function;
    l->register_value = ptx_alloc(l->context, f->register_count + 1u, sizeof *l->register_value);
    for (uint32_t i = 0; i < f->register_count; i++) {
        unsigned bytes = ptx_register_bytes(f->registers[i].type);
        l->register_value[i] = ptx_value(l, bytes > 8 ? 8 : bytes);
        if (bytes > 8)
            ptx_value(l, 8);
    }
}

/* Marks the instructions with a label: diverged lanes may meet there. */
static bool *mark_labels(struct ptx_lower *l)
{
    const struct ptx_function *f = l->function;
    bool *marked = ptx_alloc(l->context, f->instruction_count + 1u, 1);
    for (uint32_t i = 0; i < f->label_count; i++)
        marked[f->labels[i]] = true;
    return marked;
}

static void emit_unguarded(struct ptx_lower *l, unsigned step)
{
    l->guard = 0;
    l->guard_not = false;
    ptx_emit(l, step, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
}

static void make_steps(struct ptx_lower *l)
{
    const struct ptx_function *f = l->function;
    const bool *labelled = mark_labels(l);
    l->op_of = ptx_alloc(l->context, f->instruction_count + 1u, sizeof *l->op_of);
    for (uint32_t i = 0; i < f->instruction_count; i++) {
        l->ins = &f->instructions[i];
        l->op_of[i] = l->op_count;
        if (labelled[i])
            emit_unguarded(l, STEP_JOIN);
        ptx_lower_instruction(l);
    }
    l->op_of[f->instruction_count] = l->op_count;
    l->ins = f->instruction_count ? &f->instructions[f->instruction_count - 1] : NULL;
    if (l->ins && labelled[f->instruction_count])
        emit_unguarded(l, STEP_JOIN);
}

/* The function returns after its last instruction. */
static void end_function(struct ptx_lower *l)
{
    static const struct ptx_instruction nothing = {.opcode = PTX_OPCODE_ret};
    struct ptx_instruction *end = ptx_alloc(l->context, 1, sizeof *end);
    if (!l->ins) {
        *end = nothing;
        end->place = l->function->place;
        ((struct ptx_function *)(uintptr_t)l->function)->instructions = end;
        l->ins = end;
    }
    emit_unguarded(l, l->function->is_entry ? STEP_EXIT : STEP_RET);
}

/* Replaces the instructions that branches name by their ops. */
static void patch_branches(struct ptx_lower *l)
{
    for (uint32_t i = 0; i < l->op_count; i++) {
        struct ptx_op *op = &l->ops[i];
        if (op->step == STEP_BRA)
            op->imm = l->op_of[op->imm];
        for (int64_t k = 0; op->step == STEP_BRX && k < op->imm; k++)
            l->list[op->list + k] = l->op_of[l->list[op->list + k]];
    }
}

/* The routines that it calls, without duplicates. */
static void note_calls(struct ptx_lower *l)
{
    struct ptx_routine *r = l->routine;
    uint32_t calls = 0, mark = 1 + l->function->number; /* of the functions found in this one so far */
    for (uint32_t i = 0; i < l->op_count; i++) {
        r->calls_pointers = r->calls_pointers || l->ops[i].step == STEP_CALL_POINTER;
        calls += l->ops[i].step == STEP_CALL;
    }
    r->calls = ptx_alloc(l->lasting, calls + 1u, sizeof *r->calls);
    for (uint32_t i = 0; i < l->op_count; i++)
        if (l->ops[i].step == STEP_CALL && l->called[l->ops[i].imm] != mark) {
            l->called[l->ops[i].imm] = mark;
            r->calls[r->call_count++] = (uint32_t)l->ops[i].imm;
        }
}

/* Copies the lasting parts into the program's memory. */
static void keep(struct ptx_lower *l)
{
    struct ptx_routine *r = l->routine;
    const struct ptx_function *f = l->function;
    r->ops = ptx_alloc(l->lasting, l->op_count, sizeof *r->ops);
    r->lines = ptx_alloc(l->lasting, l->op_count, sizeof *r->lines);
    r->list = ptx_alloc(l->lasting, l->list_count + 1u, sizeof *r->list);
    memcpy(r->ops, l->ops, l->op_count * sizeof *r->ops);
    if (l->list_count)
        memcpy(r->list, l->list, l->list_count * sizeof *r->list);
    r->op_count = l->op_count;
    r->list_count = l->list_count;
    for (uint32_t i = 0; i < l->op_count; i++) {
        const struct ptx_instruction *ins = &f->instructions[l->from[i]];
        r->lines[i] = (struct ptx_line){ins->place.line, ins->place.column, ins->source, ins->opcode, !i || l->from[i] != l->from[i - 1]};
    }
}

void ptx_lower_function(struct ptx_lower *l, const struct ptx_function *f, struct ptx_routine *routine)
{
    l->function = f;
    l->routine = routine;
    l->value_count = l->value_room = l->op_count = l->op_room = l->from_room = l->list_count = l->list_room = 0;
    l->constant_count = l->constant_room = 0;
    l->refused = NULL;
    memset(l->bucket, 0, sizeof l->bucket);
    l->ins = NULL;
    l->result_offset = place_params(l, f->results, f->result_count, &routine->results);
    l->param_offset = place_params(l, f->params, f->param_count, &routine->params);
    routine->param_count = f->param_count;
    routine->result_count = f->result_count;
    if (!f->has_body)
        return;
    routine->defined = true;
    place_locals(l);
    make_registers(l);
    make_steps(l);
    end_function(l);
    patch_branches(l);
    note_calls(l);
    ptx_place_values(l, ptx_flow_of(l));
    keep(l);
}
