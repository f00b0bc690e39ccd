/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics, reductions, and those through a multicast address. */
#include "ptx_lower.h"

static unsigned fold_of(const struct ptx_lower *l)
{
    static const uint16_t words[] = {[PTX_FOLD_ADD] = PTX_MOD_ADD, [PTX_FOLD_MIN] = PTX_MOD_MIN, [PTX_FOLD_MAX] = PTX_MOD_MAX,
                                     [PTX_FOLD_AND] = PTX_MOD_AND, [PTX_FOLD_OR] = PTX_MOD_OR,   [PTX_FOLD_XOR] = PTX_MOD_XOR,
                                     [PTX_FOLD_INC] = PTX_MOD_INC, [PTX_FOLD_DEC] = PTX_MOD_DEC, [PTX_FOLD_EXCH] = PTX_MOD_EXCH,
                                     [PTX_FOLD_CAS] = PTX_MOD_CAS};
    unsigned i = 0;
    while (!ptx_has(l, words[i]))
        i++;
    return i;
}

static unsigned folded(unsigned type)
{
    switch (type) {
    case PTX_S32: return PTX_OF_S32;
    case PTX_U64:
    case PTX_B64: return PTX_OF_U64;
    case PTX_S64: return PTX_OF_S64;
    case PTX_F32: return PTX_OF_F32;
    case PTX_F64: return PTX_OF_F64;
    case PTX_F16: return PTX_OF_F16;
    case PTX_BF16: return PTX_OF_BF16;
    case PTX_F16X2: return PTX_OF_F16X2;
    case PTX_BF16X2: return PTX_OF_BF16X2;
    case PTX_B16: return PTX_OF_B16;
    case PTX_B128: return PTX_OF_B128;
    default: return PTX_OF_U32;
    }
}

static bool is_half(unsigned type)
{
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
}

/* The types that each operation supports (PTX ISA, "atom"). */
static bool has_type(const struct ptx_lower *l, unsigned fold, unsigned type)
{
    bool vector = ptx_elements(l) > 1;
    switch (fold) {
    case PTX_FOLD_AND:
    case PTX_FOLD_OR:
    case PTX_FOLD_XOR: return type == PTX_B32 || type == PTX_B64;
    case PTX_FOLD_EXCH: return type == PTX_B32 || type == PTX_B64 || type == PTX_B128;
    case PTX_FOLD_CAS: return ptx_type_kind(type) == 'b';
    case PTX_FOLD_INC:
    case PTX_FOLD_DEC: return type == PTX_U32;
    case PTX_FOLD_ADD:
        return type == PTX_U32 || type == PTX_S32 || type == PTX_U64 || type == PTX_F32 || type == PTX_F64 || is_half(type);
    default: return type == PTX_U32 || type == PTX_S32 || type == PTX_U64 || type == PTX_S64 || (vector && is_half(type));
    }
}

static void check(const struct ptx_lower *l, unsigned fold, unsigned type, unsigned operands)
{
    unsigned most = operands + ptx_has(l, PTX_MOD_L2_CACHE_HINT);
    if (!has_type(l, fold, type))
        ptx_lower_fail(l, "there is no such operation on .%s", ptx_modifier_text(type));
    if (is_half(type) != ptx_has(l, PTX_MOD_NOFTZ) && !(ptx_elements(l) > 1 && fold != PTX_FOLD_ADD))
        ptx_lower_fail(l, ".noftz is only for additions of .f16 and .bf16");
    if (l->ins->operands < operands || l->ins->operands > most)
        ptx_lower_fail(l, "has %u operands, but takes %u", l->ins->operands, operands);
}

static void describe(struct ptx_lower *l, struct ptx_op *op, const struct ptx_place_in_memory *at, unsigned fold, unsigned type)
{
    op->more = (uint16_t)(ptx_memory_more(l, at, type) | PTX_MEM_SHOWS);
    op->imm = at->offset;
    op->what = (uint16_t)(fold | folded(type) << 8);
    if (ptx_has(l, PTX_MOD_ACQ_REL))
        op->more |= PTX_MEM_ACQUIRE | PTX_MEM_RELEASE;
}

/* Several elements: each is a separate operation. */
static void vector(struct ptx_lower *l, bool returns, unsigned fold, unsigned type)
{
    unsigned count = ptx_elements(l), from = returns ? 2 : 1;
    const struct ptx_operand *to = returns ? &l->ins->operand[0] : NULL, *with = &l->ins->operand[from];
    struct ptx_place_in_memory at = ptx_memory_at(l, from - 1);
    uint32_t read[8] = {0}, written[8];
    if (with->kind != PTX_O_LIST || with->count != count || (to && (to->kind != PTX_O_LIST || to->count != count)) ||
        ptx_type_size(type) * count > 16)
        ptx_lower_fail(l, "takes %u registers in braces, of at most 16 bytes", count);
    for (unsigned i = 0; i < count; i++) {
        read[i] = ptx_source_of(l, &with->list[i], type, false);
        written[i] = to ? ptx_destination_of(l, &to->list[i], type, false) : PTX_UNUSED;
    }
    struct ptx_op *op = ptx_emit(l, returns ? STEP_ATOMV : STEP_REDV, PTX_UNUSED, at.base, PTX_UNUSED, PTX_UNUSED);
    describe(l, op, &at, fold, type);
    op->bytes[2] = l->bytes[read[0]];
    for (unsigned i = 0; i < count; i++)
        ptx_list(l, op, read[i]);
    for (unsigned i = 0; i < count && to; i++)
        ptx_list(l, op, written[i] | PTX_WRITTEN);
}

/* The two halves of 16 bytes as a list: the value to compare with, the new value, the old value. */
static void whole(struct ptx_lower *l, unsigned fold)
{
    unsigned sources = fold == PTX_FOLD_CAS ? 2 : 1;
    struct ptx_place_in_memory at = ptx_memory_at(l, 1);
    for (unsigned i = 0; i < 2 + sources; i++)
        if (i != 1 && ptx_declared(l, &l->ins->operand[i]) != PTX_B128)
            ptx_lower_fail(l, "operand %u must be a register of .b128", i + 1);
    struct ptx_op *op = ptx_emit(l, STEP_ATOMV, PTX_UNUSED, at.base, PTX_UNUSED, PTX_UNUSED);
    describe(l, op, &at, fold, PTX_B128);
    for (unsigned i = 2; i < 2 + sources; i++)
        for (uint32_t half = 0; half < 2; half++)
            ptx_list(l, op, l->register_value[l->ins->operand[i].value] + half);
    for (uint32_t half = 0; half < 2; half++)
        ptx_list(l, op, (l->register_value[l->ins->operand[0].value] + half) | PTX_WRITTEN);
}

/* data 1: a reduction, without a destination. */
void ptx_lower_atom(struct ptx_lower *l, const struct ptx_match *m)
{
    bool returns = !m->data;
    unsigned fold = fold_of(l), type = m->type[0], from = returns ? 2 : 1;
    check(l, fold, type, from + (fold == PTX_FOLD_CAS ? 2 : 1));
    if (ptx_elements(l) > 1 || type == PTX_B128) {
        if (type == PTX_B128)
            whole(l, fold);
        else
            vector(l, returns, fold, type);
        return;
    }
    struct ptx_place_in_memory at = ptx_memory_at(l, from - 1);
    uint32_t b = ptx_source(l, from, type, false), c = fold == PTX_FOLD_CAS ? ptx_source(l, from + 1, type, false) : PTX_UNUSED;
    struct ptx_op *op = returns ? ptx_emit(l, STEP_ATOM, ptx_destination(l, 0, type, false), at.base, b, c)
                                : ptx_emit(l, STEP_RED, PTX_UNUSED, at.base, b, PTX_UNUSED);
    describe(l, op, &at, fold, type);
}

/* ---- multimem ---- */

/* data: 0 ld_reduce d, [a]; 1 st [a], b; 2 red [a], b. A vector is one step for each element. */
void ptx_lower_multimem(struct ptx_lower *l, const struct ptx_match *m)
{
    static const uint16_t steps[] = {STEP_MULTIMEM_LD, STEP_MULTIMEM_ST, STEP_MULTIMEM_RED};
    unsigned type = m->type[0], count = ptx_elements(l), fold = m->data == 1 ? PTX_FOLD_EXCH : fold_of(l);
    unsigned memory = m->data == 0 ? 1 : 0;
    l->routine->multimem = true;
    if (l->ins->operands != 2)
        ptx_lower_fail(l, "has %u operands, but takes 2", l->ins->operands);
    if (m->data != 1 && !(has_type(l, fold, type) || (fold == PTX_FOLD_ADD && type == PTX_S64) || (is_half(type) && fold <= PTX_FOLD_MAX)))
        ptx_lower_fail(l, "there is no such operation on .%s", ptx_modifier_text(type));
    const struct ptx_operand *o = &l->ins->operand[1 - memory];
    struct ptx_place_in_memory at = ptx_memory_at(l, memory);
    if ((o->kind == PTX_O_LIST ? o->count : 1) != count || ptx_type_size(type) * count > 16)
        ptx_lower_fail(l, "takes %u registers, of at most 16 bytes", count);
    for (unsigned i = 0; i < count; i++) {
        const struct ptx_operand *one = o->kind == PTX_O_LIST ? &o->list[i] : o;
        uint32_t value = m->data ? ptx_source_of(l, one, type, false) : ptx_destination_of(l, one, type, false);
        struct ptx_op *op = ptx_emit(l, steps[m->data], m->data ? PTX_UNUSED : value, at.base, m->data ? value : PTX_UNUSED, PTX_UNUSED);
        describe(l, op, &at, fold, type);
        op->imm += i * ptx_type_size(type);
    }
}
