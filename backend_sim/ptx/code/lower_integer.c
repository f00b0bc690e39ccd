/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on integers. */
#include "ptx_lower.h"

/* The step for this size, one of three. */
static unsigned sized(unsigned step16, unsigned type)
{
    return step16 + ptx_size_index(ptx_register_bytes(type));
}

void ptx_lower_add(struct ptx_lower *l, const struct ptx_match *m)
{
    if (ptx_has(l, PTX_MOD_SAT))
        ptx_emit_scalar(l, m->data ? SCALAR_SUB_SAT : SCALAR_ADD_SAT, 0, 0, m->value[0], m->value[1], m->value[2], PTX_UNUSED);
    else
        ptx_emit(l, sized(m->data ? STEP_SUB16 : STEP_ADD16, m->type[0]), m->value[0], m->value[1], m->value[2], PTX_UNUSED);
}

/* add.cc writes the carry, addc reads it, addc.cc both. */
void ptx_lower_carry(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned opcode = l->ins->opcode, more = ptx_has(l, PTX_MOD_CC) ? PTX_CARRY_OUT : 0, kind = m->data;
    if (opcode == PTX_OPCODE_addc || opcode == PTX_OPCODE_subc || opcode == PTX_OPCODE_madc)
        more |= PTX_CARRY_IN;
    if (kind == PTX_CARRY_MAD && ptx_has(l, PTX_MOD_HI))
        kind = ptx_is_signed(m->type[0]) ? PTX_CARRY_MADHI_S : PTX_CARRY_MADHI_U;
    struct ptx_op *op = ptx_emit(l, STEP_CARRY, m->value[0], m->value[1], m->value[2], m->data == PTX_CARRY_MAD ? m->value[3] : PTX_UNUSED);
    op->more = (uint16_t)more;
    op->imm = (int64_t)kind;
}

/* The product's low or high half, or all of it. */
static void multiply(struct ptx_lower *l, unsigned type, uint32_t d, uint32_t a, uint32_t b)
{
    unsigned step;
    bool is_signed = ptx_is_signed(type), half = ptx_register_bytes(type) == 2;
    if (ptx_has(l, PTX_MOD_WIDE))
        step = is_signed ? (half ? STEP_MULWIDE_S16 : STEP_MULWIDE_S32) : half ? STEP_MULWIDE_U16 : STEP_MULWIDE_U32;
    else
        step = sized(ptx_has(l, PTX_MOD_LO) ? STEP_MUL16 : is_signed ? STEP_MULHI_S16 : STEP_MULHI_U16, type);
    ptx_emit(l, step, d, a, b, PTX_UNUSED);
}

void ptx_lower_mul(struct ptx_lower *l, const struct ptx_match *m)
{
    multiply(l, m->type[0], m->value[0], m->value[1], m->value[2]);
}

void ptx_lower_mad(struct ptx_lower *l, const struct ptx_match *m)
{
    const uint32_t *v = m->value;
    if (ptx_has(l, PTX_MOD_LO)) {
        ptx_emit(l, sized(STEP_MAD16, m->type[0]), v[0], v[1], v[2], v[3]);
        return;
    }
    if (ptx_has(l, PTX_MOD_SAT)) {
        ptx_emit_scalar(l, SCALAR_MADHI_SAT, 0, 0, v[0], v[1], v[2], v[3]);
        return;
    }
    unsigned bytes = l->bytes[v[0]];
    uint32_t product = ptx_value(l, bytes);
    multiply(l, m->type[0], product, v[1], v[2]);
    ptx_emit(l, STEP_ADD16 + ptx_size_index(bytes), v[0], product, v[3], PTX_UNUSED);
}

void ptx_lower_mul24(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned which = ptx_is_signed(m->type[0]) | (ptx_has(l, PTX_MOD_HI) ? 2u : 0) | (ptx_has(l, PTX_MOD_SAT) ? 4u : 0);
    ptx_emit_scalar(l, m->data, which, 0, m->value[0], m->value[1], m->value[2], m->data == SCALAR_MAD24 ? m->value[3] : PTX_UNUSED);
}

/* The row's step is the first of six: signed of three sizes, then unsigned. */
void ptx_lower_by_sign(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned step = m->data + (ptx_is_signed(m->type[0]) ? 0 : 3);
    ptx_emit(l, sized(step, m->type[0]), m->value[0], m->value[1], m->value[2], PTX_UNUSED);
}

void ptx_lower_minmax(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_lower_by_sign(l, m);
    if (ptx_has(l, PTX_MOD_RELU))
        ptx_emit(l, STEP_MAX_S32, m->value[0], m->value[0], ptx_constant(l, 0, 4), PTX_UNUSED);
}

void ptx_lower_pairs(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit_scalar(l, m->data, ptx_has(l, PTX_MOD_RELU), 0, m->value[0], m->value[1], m->value[2], PTX_UNUSED);
}

void ptx_lower_abs(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit(l, sized(STEP_ABS_S16, m->type[0]), m->value[0], m->value[1], PTX_UNUSED, PTX_UNUSED);
}

void ptx_lower_neg(struct ptx_lower *l, const struct ptx_match *m)
{
    uint32_t zero = ptx_constant(l, 0, ptx_register_bytes(m->type[0]));
    ptx_emit(l, sized(STEP_SUB16, m->type[0]), m->value[0], zero, m->value[1], PTX_UNUSED);
}

void ptx_lower_sad(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit_scalar(l, ptx_is_signed(m->type[0]) ? SCALAR_SAD_S : SCALAR_SAD_U, ptx_type_bits(m->type[0]), 0, m->value[0], m->value[1], m->value[2], m->value[3]);
}

/* The row's step is for 32 bits, the next one for 64. */
void ptx_lower_bits(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit(l, m->data + (m->type[0] == PTX_B64), m->value[0], m->value[1], PTX_UNUSED, PTX_UNUSED);
}

void ptx_lower_bfind(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned which = ptx_is_signed(m->type[0]) | (ptx_has(l, PTX_MOD_SHIFTAMT) ? 2u : 0) | ptx_type_bits(m->type[0]) << 8;
    ptx_emit_scalar(l, SCALAR_BFIND, which, 0, m->value[0], m->value[1], PTX_UNUSED, PTX_UNUSED);
}

void ptx_lower_bfe(struct ptx_lower *l, const struct ptx_match *m)
{
    bool wide = ptx_register_bytes(m->type[0]) == 8;
    unsigned step = ptx_is_signed(m->type[0]) ? (wide ? STEP_BFE_S64 : STEP_BFE_S32) : wide ? STEP_BFE_U64 : STEP_BFE_U32;
    ptx_emit(l, step, m->value[0], m->value[1], m->value[2], m->value[3]);
}

/* For 32 bits, if position and length are both constants, the driver's compiler takes the length
 * modulo 32 unless the position is that of a byte, as observed on a device. */
static uint32_t length_of(struct ptx_lower *l, const struct ptx_match *m)
{
    const struct ptx_operand *place = &l->ins->operand[3], *length = &l->ins->operand[4];
    bool folded = m->type[0] == PTX_B32 && place->kind == PTX_O_INTEGER && length->kind == PTX_O_INTEGER && place->value % 8;
    return folded ? ptx_constant(l, length->value & 31, 4) : m->value[4];
}

/* bfi d, what, into, position, length: the function has three operands; the list holds the fourth. */
void ptx_lower_bfi(struct ptx_lower *l, const struct ptx_match *m)
{
    uint32_t length = length_of(l, m);
    struct ptx_op *op = ptx_emit_scalar(l, SCALAR_BFI, ptx_type_bits(m->type[0]), 0, m->value[0], m->value[1], m->value[2], m->value[3]);
    op->step = STEP_SCALAR4;
    ptx_list(l, op, length);
}

void ptx_lower_mask(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned which = (ptx_has(l, PTX_MOD_WRAP) ? 1u : 0) | (ptx_is_signed(m->type[0]) ? 2u : 0);
    ptx_emit_scalar(l, m->data, which, 0, m->value[0], m->value[1], m->value[2], PTX_UNUSED);
}

void ptx_lower_scalar(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit_scalar(l, m->data, 0, 0, m->value[0], m->value[1], m->value[2], m->value[3]);
}

void ptx_lower_dot(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned which = (ptx_is_signed(m->type[0]) ? 1u : 0) | (ptx_is_signed(m->type[1]) ? 2u : 0) | (ptx_has(l, PTX_MOD_HI) ? 4u : 0);
    ptx_emit_scalar(l, m->data, which, 0, m->value[0], m->value[1], m->value[2], m->value[3]);
}
