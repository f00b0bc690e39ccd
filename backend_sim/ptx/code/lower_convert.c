/* SPDX-License-Identifier: Apache-2.0 */
/* cvt: conversions between numeric types. */
#include "ptx_lower.h"

enum { SIGNED = 256 }; /* in `which` of FROM_INTEGER and TO_INTEGER */

static bool has_any(const struct ptx_lower *l, unsigned first, unsigned last)
{
    for (unsigned i = 0; i < l->ins->modifiers; i++)
        if (l->ins->modifier[i] >= first && l->ins->modifier[i] <= last)
            return true;
    return false;
}

static bool holds(unsigned to, unsigned from)
{
    unsigned wide = ptx_type_bits(to), narrow = ptx_type_bits(from);
    return ptx_is_signed(from) ? ptx_is_signed(to) && wide >= narrow : wide >= narrow + ptx_is_signed(to);
}

/* .tf32 is converted only from .f32, and only it has .rna. */
static void check_tf32(const struct ptx_lower *l, unsigned to, unsigned from, bool real)
{
    if (to == PTX_TF32 && (from != PTX_F32 || !real))
        ptx_lower_fail(l, ".tf32 is converted from .f32, with .rna, .rn or .rz");
    if (to != PTX_TF32 && ptx_has(l, PTX_MOD_RNA))
        ptx_lower_fail(l, ".rna is only for conversions to .tf32");
}

/* The rounding modes that the pair of types requires, and those it does not allow. */
static void check(const struct ptx_lower *l, unsigned to, unsigned from)
{
    bool to_float = ptx_is_float(to), from_float = ptx_is_float(from);
    bool whole = has_any(l, PTX_MOD_RNI, PTX_MOD_RPI), real = has_any(l, PTX_MOD_RN, PTX_MOD_RNA);
    unsigned wide = ptx_type_bits(to), narrow = ptx_type_bits(from);
    check_tf32(l, to, from, real);
    if (!to_float && !from_float && (whole || real))
        ptx_lower_fail(l, "integers are not rounded");
    if (!to_float && !from_float && ptx_has(l, PTX_MOD_SAT) && holds(to, from))
        ptx_lower_fail(l, ".%s can represent every .%s number, so .sat has no effect", ptx_modifier_text(to),
                       ptx_modifier_text(from));
    if (!to_float && from_float && !whole)
        ptx_lower_fail(l, "needs .rni, .rzi, .rmi or .rpi, because the result is an integer");
    if (to_float && !from_float && !real)
        ptx_lower_fail(l, "needs .rn, .rz, .rm or .rp, because not every integer has an exact float");
    if (to_float && from_float && wide < narrow && !real)
        ptx_lower_fail(l, "needs .rn, .rz, .rm or .rp, because the result has fewer bits");
    if (to_float && from_float && wide > narrow && (whole || real))
        ptx_lower_fail(l, "the result has more bits, so nothing is rounded");
    if (to_float && to == from && real)
        ptx_lower_fail(l, "the type does not change, so it can be rounded only to an integer");
    if (to_float && from_float && whole && to != from)
        ptx_lower_fail(l, "can be rounded to an integer only within the same type");
    if (ptx_has(l, PTX_MOD_FTZ) && to != PTX_F32 && from != PTX_F32)
        ptx_lower_fail(l, ".ftz is only for conversions from or to .f32");
}

/* The last bits bits of a, extended by the sign or by zeros into a value of so many bytes. */
static void extend(struct ptx_lower *l, uint32_t d, uint32_t a, unsigned bits, bool is_signed)
{
    unsigned step = (is_signed ? STEP_EXT_S_16_16 : STEP_EXT_U_16_16) + 3 * ptx_size_index(l->bytes[a]) + ptx_size_index(l->bytes[d]);
    unsigned most = 8u * (l->bytes[a] < l->bytes[d] ? l->bytes[a] : l->bytes[d]);
    unsigned from = 8u * l->bytes[a] == bits ? bits : bits < most ? bits : most;
    ptx_emit(l, step, d, a, PTX_UNUSED, PTX_UNUSED)->imm = from;
}

static void whole_to_whole(struct ptx_lower *l, unsigned to, unsigned from, uint32_t d, uint32_t a)
{
    unsigned wide = ptx_type_bits(to), narrow = ptx_type_bits(from);
    if (ptx_has(l, PTX_MOD_SAT)) {
        unsigned which = narrow | (ptx_is_signed(from) ? 128u : 0) | wide << 8 | (ptx_is_signed(to) ? 128u << 8 : 0);
        ptx_emit_scalar(l, SCALAR_NARROW_SAT, which, 0, d, a, PTX_UNUSED, PTX_UNUSED);
        return;
    }
    if (wide <= narrow) {
        extend(l, d, a, wide, ptx_is_signed(to));
        return;
    }
    if (8u * l->bytes[d] == wide || ptx_is_signed(to) == ptx_is_signed(from)) {
        extend(l, d, a, narrow, ptx_is_signed(from));
        return;
    }
    uint32_t middle = ptx_value(l, l->bytes[d]);
    extend(l, middle, a, narrow, ptx_is_signed(from));
    extend(l, d, middle, wide, ptx_is_signed(to));
}

/* The format of the result in `more`. */
static unsigned into(unsigned type)
{
    return (unsigned)ptx_number_of(type) << PTX_FLOAT_TO_SHIFT;
}

static void whole_to_float(struct ptx_lower *l, unsigned to, unsigned from, uint32_t d, uint32_t a)
{
    static const uint16_t steps[2][4] = {{STEP_U32_F32, STEP_S32_F32, STEP_U64_F32, STEP_S64_F32},
                                         {STEP_U32_F64, STEP_S32_F64, STEP_U64_F64, STEP_S64_F64}};
    bool wide = ptx_type_bits(from) == 64, is_signed = ptx_is_signed(from);
    uint32_t clean = ptx_value(l, wide ? 8 : 4);
    unsigned more = ptx_float_more(l, to);
    extend(l, clean, a, ptx_type_bits(from), is_signed);
    if ((to == PTX_F32 || to == PTX_F64) && !(more & (PTX_FLOAT_FORMAT_MASK - 1) & ~(unsigned)PTX_FLOAT_FLUSH))
        ptx_emit(l, steps[to == PTX_F64][2 * wide + is_signed], d, clean, PTX_UNUSED, PTX_UNUSED);
    else
        ptx_emit_scalar(l, SCALAR_FROM_INTEGER, (wide ? 64u : 32u) | (is_signed ? SIGNED : 0u), more, d, clean, PTX_UNUSED, PTX_UNUSED);
}

/* The low part of a value in a wider register. */
static uint32_t narrowed(struct ptx_lower *l, uint32_t a, unsigned type)
{
    unsigned bytes = ptx_register_bytes(type);
    if (l->bytes[a] == bytes)
        return a;
    uint32_t value = ptx_value(l, bytes);
    extend(l, value, a, 8 * bytes, false);
    return value;
}

/* Stores into a register that may be wider; its other bits become zeros. */
static uint32_t begin_wide(struct ptx_lower *l, uint32_t d, unsigned type)
{
    return l->bytes[d] == ptx_register_bytes(type) ? d : ptx_value(l, ptx_register_bytes(type));
}

static void end_wide(struct ptx_lower *l, uint32_t d, uint32_t value)
{
    if (value != d)
        extend(l, d, value, 8u * l->bytes[value], false);
}

static void float_to_whole(struct ptx_lower *l, unsigned to, unsigned from, uint32_t d, uint32_t a)
{
    static const uint16_t steps[2][4] = {{STEP_F32_U32, STEP_F32_S32, STEP_F32_U64, STEP_F32_S64},
                                         {STEP_F64_U32, STEP_F64_S32, STEP_F64_U64, STEP_F64_S64}};
    unsigned bits = ptx_type_bits(to);
    bool is_signed = ptx_is_signed(to), plain = bits >= 32 && (from == PTX_F32 || from == PTX_F64) && ptx_has(l, PTX_MOD_RZI);
    uint32_t result = ptx_value(l, bits == 64 ? 8 : 4);
    if (plain)
        ptx_emit(l, steps[from == PTX_F64][2 * (bits == 64) + is_signed], result, a, PTX_UNUSED, PTX_UNUSED);
    else
        ptx_emit_scalar(l, SCALAR_TO_INTEGER, bits | (is_signed ? SIGNED : 0u), ptx_float_more(l, from), result, a, PTX_UNUSED, PTX_UNUSED);
    extend(l, d, result, bits, is_signed);
}

static void float_to_float(struct ptx_lower *l, unsigned to, unsigned from, uint32_t d, uint32_t a)
{
    unsigned more = ptx_float_more(l, from) | into(to), ways = more & (PTX_FLOAT_FORMAT_MASK - 1);
    if (has_any(l, PTX_MOD_RNI, PTX_MOD_RPI))
        ptx_emit_scalar(l, SCALAR_INTEGRAL, 0, more, d, a, PTX_UNUSED, PTX_UNUSED);
    else if (to == PTX_F64 && from == PTX_F32 && !ways)
        ptx_emit(l, STEP_F32_F64, d, a, PTX_UNUSED, PTX_UNUSED);
    else if (to == PTX_F32 && from == PTX_F64 && !ways)
        ptx_emit(l, STEP_F64_F32, d, a, PTX_UNUSED, PTX_UNUSED);
    else if (to == from && !ways)
        ptx_emit(l, STEP_MOV16 + ptx_size_index(ptx_register_bytes(to)), d, a, PTX_UNUSED, PTX_UNUSED);
    else
        ptx_emit_scalar(l, SCALAR_CONVERT, 0, more, d, a, PTX_UNUSED, PTX_UNUSED);
}

/* Conversions of two numbers in a register. */
static bool pairs(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned more = ptx_float_more(l, m->type[1]) | into(m->type[0]);
    if (!ptx_is_pair(m->type[0]))
        return false;
    if (m->type[1] == PTX_F32)
        ptx_emit_scalar(l, SCALAR_CONVERT_PAIR, 0, more, m->value[0], m->value[1], m->value[2], PTX_UNUSED);
    else
        ptx_emit_scalar(l, SCALAR_CONVERT_PACKED, 0, more, m->value[0], m->value[1], PTX_UNUSED, PTX_UNUSED);
    return true;
}

/* Between .bf16 and 8-bit numbers a register has the size of its type, as the driver's compiler wants it. */
static bool is_exact(unsigned to, unsigned from)
{
    return (to == PTX_BF16 && ptx_type_bits(from) == 8) || (from == PTX_BF16 && ptx_type_bits(to) == 8);
}

void ptx_lower_cvt(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned to = m->type[0], from = m->type[1];
    bool wide = !is_exact(to, from);
    if (pairs(l, m))
        return;
    if (l->ins->operands != 2)
        ptx_lower_fail(l, "has %u operands, but takes 2", l->ins->operands);
    check(l, to, from);
    uint32_t a = ptx_source(l, 1, from, wide), d = ptx_destination(l, 0, to, wide);
    if (ptx_is_float(from))
        a = narrowed(l, a, from);
    uint32_t result = ptx_is_float(to) ? begin_wide(l, d, to) : d;
    if (ptx_is_float(from))
        (ptx_is_float(to) ? float_to_float : float_to_whole)(l, to, from, result, a);
    else
        (ptx_is_float(to) ? whole_to_float : whole_to_whole)(l, to, from, result, a);
    if (ptx_is_float(to))
        end_wide(l, d, result);
}

/* cvt.pack.sat.TYPE.s32 d, a, b and, for parts of up to 8 bits, c. */
void ptx_lower_cvt_pack(struct ptx_lower *l, const struct ptx_match *m)
{
    static const struct {
        unsigned modifier, bits;
        bool is_signed;
    } parts[] = {{PTX_U16, 16, false}, {PTX_S16, 16, true}, {PTX_MOD_U2, 2, false}, {PTX_MOD_S2, 2, true},
                 {PTX_MOD_U4, 4, false}, {PTX_MOD_S4, 4, true}, {PTX_U8, 8, false}, {PTX_S8, 8, true}};
    unsigned i = 0;
    (void)m;
    while (!ptx_has(l, parts[i].modifier))
        i++;
    bool three = parts[i].bits < 16;
    if (l->ins->operands != 3u + three)
        ptx_lower_fail(l, "has %u operands, but takes %u", l->ins->operands, 3u + three);
    uint32_t d = ptx_destination(l, 0, PTX_B32, false), a = ptx_source(l, 1, PTX_S32, false), b = ptx_source(l, 2, PTX_S32, false);
    uint32_t c = three ? ptx_source(l, 3, PTX_B32, false) : PTX_UNUSED;
    ptx_emit_scalar(l, SCALAR_PACK_SAT, parts[i].bits | (parts[i].is_signed ? 64u : 0), 0, d, a, b, c);
}
