/* SPDX-License-Identifier: Apache-2.0 */
/* Logic and shifts. */
#include "ptx_lower.h"

void ptx_lower_logic(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned of_predicates = m->data == STEP_AND16 ? STEP_ANDP : m->data == STEP_OR16 ? STEP_ORP : STEP_XORP;
    unsigned step = m->type[0] == PTX_PRED ? of_predicates : m->data + ptx_size_index(ptx_register_bytes(m->type[0]));
    ptx_emit(l, step, m->value[0], m->value[1], m->value[2], PTX_UNUSED);
}

void ptx_lower_not(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned step = m->type[0] == PTX_PRED ? STEP_NOTP : STEP_NOT16 + ptx_size_index(ptx_register_bytes(m->type[0]));
    ptx_emit(l, step, m->value[0], m->value[1], PTX_UNUSED, PTX_UNUSED);
}

/* 1 where it is 0. */
void ptx_lower_cnot(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned bytes = ptx_register_bytes(m->type[0]), index = ptx_size_index(bytes);
    uint32_t is_zero = ptx_value(l, 0), zero = ptx_constant(l, 0, bytes);
    ptx_emit(l, STEP_EQ16 + index, is_zero, m->value[1], zero, PTX_UNUSED);
    ptx_emit(l, STEP_SEL16 + index, m->value[0], ptx_constant(l, 1, bytes), zero, is_zero);
}

static uint64_t table_of(struct ptx_lower *l, unsigned i)
{
    const struct ptx_operand *o = &l->ins->operand[i];
    if (i >= l->ins->operands || o->kind != PTX_O_INTEGER || o->value > 255)
        ptx_lower_fail(l, "operand %u must be a constant from 0 to 255", i + 1);
    return o->value;
}

/* lop3.or.b32 d|p, a, b, c, table, q: p is whether d is not 0, or q. */
static void with_predicate(struct ptx_lower *l)
{
    if (l->ins->operands != 7 || !l->ins->operand[1].joined)
        ptx_lower_fail(l, "needs d|p, a, b, c, a table and a predicate");
    uint32_t d = ptx_destination(l, 0, PTX_B32, false), p = ptx_destination(l, 1, PTX_PRED, false), result = ptx_value(l, 4);
    uint32_t a = ptx_source(l, 2, PTX_B32, false), b = ptx_source(l, 3, PTX_B32, false), c = ptx_source(l, 4, PTX_B32, false);
    uint32_t q = ptx_predicate(l, 6), some = ptx_value(l, 0);
    ptx_emit(l, STEP_LOP3, result, a, b, c)->imm = (int64_t)table_of(l, 5);
    ptx_emit(l, STEP_EQ32, some, result, ptx_constant(l, 0, 4), PTX_UNUSED)->more = 1;
    ptx_emit(l, STEP_MOV32, d, result, PTX_UNUSED, PTX_UNUSED);
    ptx_emit(l, ptx_has(l, PTX_MOD_AND) ? STEP_ANDP : STEP_ORP, p, some, q, PTX_UNUSED);
}

void ptx_lower_lop3(struct ptx_lower *l, const struct ptx_match *m)
{
    if (l->ins->modifiers > 1) {
        with_predicate(l);
        return;
    }
    ptx_emit(l, STEP_LOP3, m->value[0], m->value[1], m->value[2], m->value[3])->imm = (int64_t)table_of(l, 4);
}

void ptx_lower_shift(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned step = m->data;
    if (step == STEP_SHR_S16 && !ptx_is_signed(m->type[0]))
        step = STEP_SHR_U16;
    ptx_emit(l, step + ptx_size_index(ptx_register_bytes(m->type[0])), m->value[0], m->value[1], m->value[2], PTX_UNUSED);
}

void ptx_lower_shf(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned step = ptx_has(l, PTX_MOD_L) ? STEP_SHF_L : STEP_SHF_R;
    ptx_emit(l, step, m->value[0], m->value[1], m->value[2], m->value[3])->more = ptx_has(l, PTX_MOD_CLAMP);
}

/* imm: 0 by the selector's nibbles, or 1 + the mode. */
void ptx_lower_prmt(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned mode = 0;
    for (unsigned word = PTX_MOD_F4E; word <= PTX_MOD_RC16; word++)
        if (ptx_has(l, word))
            mode = 1 + word - PTX_MOD_F4E;
    ptx_emit(l, STEP_PRMT, m->value[0], m->value[1], m->value[2], m->value[3])->imm = mode;
}
