/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons and selections. */
#include "ptx_lower.h"

/* The modifier that names the comparison. */
static unsigned comparison(const struct ptx_lower *l)
{
    unsigned i = 0;
    while (l->ins->modifier[i] < PTX_MOD_EQ || l->ins->modifier[i] > PTX_MOD_NAN)
        i++;
    return l->ins->modifier[i];
}

/* The relations (less, equal, greater, unordered) for which a comparison is true. For integers, the
 * names for unsigned numbers (lo, ls, hi, hs) mean the same as the others. */
static unsigned wanted(const struct ptx_lower *l)
{
    enum { LT = PTX_COMPARE_LESS, EQ = PTX_COMPARE_EQUAL, GT = PTX_COMPARE_GREATER, UN = PTX_COMPARE_UNORDERED };
    static const struct {
        uint16_t word;
        uint8_t truth;
    } table[] = {{PTX_MOD_EQ, EQ},  {PTX_MOD_NE, LT | GT},       {PTX_MOD_LT, LT},       {PTX_MOD_LE, LT | EQ},
                 {PTX_MOD_GT, GT},  {PTX_MOD_GE, GT | EQ},       {PTX_MOD_LO, LT},       {PTX_MOD_LS, LT | EQ},
                 {PTX_MOD_HI, GT},  {PTX_MOD_HS, GT | EQ},       {PTX_MOD_EQU, EQ | UN}, {PTX_MOD_NEU, LT | GT | UN},
                 {PTX_MOD_LTU, LT | UN}, {PTX_MOD_LEU, LT | EQ | UN}, {PTX_MOD_GTU, GT | UN}, {PTX_MOD_GEU, GT | EQ | UN},
                 {PTX_MOD_NUM, LT | EQ | GT}, {PTX_MOD_NAN, UN}};
    unsigned i = 0, word = comparison(l);
    while (table[i].word != word)
        i++;
    return table[i].truth;
}

/* Integers have no unordered comparisons, untyped bits only == and !=; "lo" and its kin exist only for unsigned integers. */
static void check(const struct ptx_lower *l, unsigned type)
{
    unsigned word = comparison(l);
    char kind = ptx_type_kind(type);
    bool is_float = ptx_is_float(type), equality = word == PTX_MOD_EQ || word == PTX_MOD_NE;
    bool by_name = word == PTX_MOD_LO || word == PTX_MOD_LS || word == PTX_MOD_HI || word == PTX_MOD_HS;
    bool ordered = equality || (word >= PTX_MOD_LT && word <= PTX_MOD_GE);
    if (is_float ? by_name : !ordered && !(by_name && kind == 'u'))
        ptx_lower_fail(l, ".%s cannot compare .%s numbers", ptx_modifier_text(word), ptx_modifier_text(type));
    if (kind == 'b' && !equality)
        ptx_lower_fail(l, ".%s is unordered: only .eq and .ne can compare it", ptx_modifier_text(type));
    if (ptx_has(l, PTX_MOD_FTZ) && type != PTX_F32 && ptx_number_of(type) != PTX_N_F16)
        ptx_lower_fail(l, ".ftz is not for .%s", ptx_modifier_text(type));
}

static uint32_t compare_whole(struct ptx_lower *l, unsigned type, unsigned truth, uint32_t a, uint32_t b)
{
    unsigned index = ptx_size_index(ptx_register_bytes(type));
    bool is_signed = ptx_is_signed(type), swapped = (truth & PTX_COMPARE_GREATER) && !(truth & PTX_COMPARE_LESS);
    uint32_t p = ptx_value(l, 0);
    if (truth == PTX_COMPARE_EQUAL || truth == (PTX_COMPARE_LESS | PTX_COMPARE_GREATER)) {
        ptx_emit(l, STEP_EQ16 + index, p, a, b, PTX_UNUSED)->more = truth != PTX_COMPARE_EQUAL;
        return p;
    }
    unsigned less = is_signed ? STEP_LT_S16 : STEP_LT_U16, most = is_signed ? STEP_LE_S16 : STEP_LE_U16;
    ptx_emit(l, (truth & PTX_COMPARE_EQUAL ? most : less) + index, p, swapped ? b : a, swapped ? a : b, PTX_UNUSED);
    return p;
}

static uint32_t flushed(struct ptx_lower *l, uint32_t a)
{
    uint32_t value = ptx_value(l, 4);
    ptx_emit(l, STEP_FLUSH_F32, value, a, PTX_UNUSED, PTX_UNUSED);
    return value;
}

/* One step if there is one for the comparison or its inverse: a < b, or not (b <= a), which is also
 * true for unordered operands. */
static uint32_t compare_float(struct ptx_lower *l, unsigned type, unsigned truth, uint32_t a, uint32_t b)
{
    enum { ALL = 15, LT = PTX_COMPARE_LESS, EQ = PTX_COMPARE_EQUAL, GT = PTX_COMPARE_GREATER, UN = PTX_COMPARE_UNORDERED };
    bool inverted = (truth & UN) != 0;
    unsigned has = inverted ? ALL & ~truth : truth, base = type == PTX_F32 ? STEP_EQ_F32 : STEP_EQ_F64;
    uint32_t p = ptx_value(l, 0);
    if (type == PTX_F32 && ptx_has(l, PTX_MOD_FTZ)) {
        a = flushed(l, a);
        b = flushed(l, b);
    }
    if (has == (LT | GT)) { /* ordered and not equal */
        uint32_t number = ptx_value(l, 0), differs = ptx_value(l, 0);
        ptx_emit(l, base + 3, number, a, b, PTX_UNUSED);
        ptx_emit(l, base, differs, a, b, PTX_UNUSED)->more = 1;
        ptx_emit(l, STEP_ANDP, p, number, differs, PTX_UNUSED);
        if (inverted)
            ptx_emit(l, STEP_NOTP, p, p, PTX_UNUSED, PTX_UNUSED);
        return p;
    }
    unsigned step = has == EQ ? base : has == (LT | EQ | GT) ? base + 3 : has & EQ ? base + 2 : base + 1;
    bool swapped = (has & GT) && !(has & LT);
    ptx_emit(l, step, p, swapped ? b : a, swapped ? a : b, PTX_UNUSED)->more = inverted;
    return p;
}

/* The results for f16 and bf16 as a number: bit 0, and bit 1 for the second of a pair. */
static uint32_t compare_half(struct ptx_lower *l, unsigned type, unsigned truth, uint32_t a, uint32_t b)
{
    uint32_t answer = ptx_value(l, 4);
    ptx_emit_scalar(l, SCALAR_FCOMPARE, truth, ptx_float_more(l, type), answer, a, b, PTX_UNUSED);
    return answer;
}

static uint32_t bit_of(struct ptx_lower *l, uint32_t answer, unsigned bit)
{
    uint32_t masked = ptx_value(l, 4), p = ptx_value(l, 0);
    ptx_emit(l, STEP_AND32, masked, answer, ptx_constant(l, bit, 4), PTX_UNUSED);
    ptx_emit(l, STEP_EQ32, p, masked, ptx_constant(l, 0, 4), PTX_UNUSED)->more = 1;
    return p;
}

static bool is_half(unsigned type)
{
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
}

static uint32_t compare(struct ptx_lower *l, unsigned type, uint32_t a, uint32_t b)
{
    unsigned truth = wanted(l);
    check(l, type);
    if (is_half(type))
        return bit_of(l, compare_half(l, type, truth, a, b), 1);
    return ptx_is_float(type) ? compare_float(l, type, truth, a, b) : compare_whole(l, type, truth, a, b);
}

/* The comparison's result combined with another predicate. */
static uint32_t combined(struct ptx_lower *l, uint32_t p, uint32_t with)
{
    if (with == PTX_UNUSED)
        return p;
    uint32_t result = ptx_value(l, 0);
    unsigned step = ptx_has(l, PTX_MOD_AND) ? STEP_ANDP : ptx_has(l, PTX_MOD_OR) ? STEP_ORP : STEP_XORP;
    ptx_emit(l, step, result, p, with, PTX_UNUSED);
    return result;
}

static bool has_logic(const struct ptx_lower *l)
{
    return ptx_has(l, PTX_MOD_AND) || ptx_has(l, PTX_MOD_OR) || ptx_has(l, PTX_MOD_XOR);
}

/* A pair has two results, one for each destination; otherwise the second destination gets the
 * inverse. One of them may be the guard, so it is written last. */
void ptx_lower_setp(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned type = m->type[0];
    uint32_t with = has_logic(l) ? m->value[4] : PTX_UNUSED, first, second = PTX_UNUSED;
    bool pair = ptx_is_pair(type);
    if (pair) {
        check(l, type);
        uint32_t answer = compare_half(l, type, wanted(l), m->value[2], m->value[3]);
        first = bit_of(l, answer, 1);
        if (m->value[1] != PTX_UNUSED)
            second = bit_of(l, answer, 2);
    } else {
        first = compare(l, type, m->value[2], m->value[3]);
        if (m->value[1] != PTX_UNUSED) {
            second = ptx_value(l, 0);
            ptx_emit(l, STEP_NOTP, second, first, PTX_UNUSED, PTX_UNUSED);
        }
    }
    first = combined(l, first, with);
    if (second == PTX_UNUSED) {
        ptx_deliver(l, first, m->value[0]);
        return;
    }
    second = combined(l, second, with);
    bool guard_first = l->guard == 1 + m->value[0];
    if (!guard_first)
        ptx_emit(l, STEP_MOVP, m->value[0], first, PTX_UNUSED, PTX_UNUSED);
    ptx_emit(l, STEP_MOVP, m->value[1], second, PTX_UNUSED, PTX_UNUSED);
    if (guard_first)
        ptx_emit(l, STEP_MOVP, m->value[0], first, PTX_UNUSED, PTX_UNUSED);
}

/* The value that set writes if the comparison is true. */
static uint64_t truth_of(unsigned type)
{
    switch (type) {
    case PTX_F32: return 0x3f800000;
    case PTX_F16: return 0x3c00;
    case PTX_BF16: return 0x3f80;
    case PTX_F16X2: return 0x3c003c00;
    case PTX_BF16X2: return 0x3f803f80;
    default: return UINT64_MAX;
    }
}

static void set_pair(struct ptx_lower *l, const struct ptx_match *m, uint32_t with)
{
    unsigned to = m->type[0], from = m->type[1];
    uint32_t answer = compare_half(l, from, wanted(l), m->value[1], m->value[2]), low = ptx_value(l, 4), high = ptx_value(l, 4);
    uint64_t yes = to == PTX_F16X2 || to == PTX_BF16X2 ? truth_of(to) : UINT32_MAX;
    uint32_t first = combined(l, bit_of(l, answer, 1), with), second = combined(l, bit_of(l, answer, 2), with);
    if (to == PTX_F16 || to == PTX_BF16 || ptx_register_bytes(to) != 4 || to == PTX_F32)
        ptx_lower_fail(l, "a pair sets a pair, .u32 or .s32");
    check(l, from);
    ptx_emit(l, STEP_SEL32, low, ptx_constant(l, yes & 0xffff, 4), ptx_constant(l, 0, 4), first);
    ptx_emit(l, STEP_SEL32, high, ptx_constant(l, yes & 0xffff0000, 4), ptx_constant(l, 0, 4), second);
    ptx_emit(l, STEP_OR32, m->value[0], low, high, PTX_UNUSED);
}

void ptx_lower_set(struct ptx_lower *l, const struct ptx_match *m)
{
    uint32_t with = has_logic(l) ? m->value[3] : PTX_UNUSED;
    unsigned bytes = ptx_register_bytes(m->type[0]);
    if (ptx_is_pair(m->type[1])) {
        set_pair(l, m, with);
        return;
    }
    if (ptx_is_pair(m->type[0]))
        ptx_lower_fail(l, "only a comparison of pairs can produce a pair");
    uint32_t p = combined(l, compare(l, m->type[1], m->value[1], m->value[2]), with);
    ptx_emit(l, STEP_SEL16 + ptx_size_index(bytes), m->value[0], ptx_constant(l, truth_of(m->type[0]), bytes), ptx_constant(l, 0, bytes), p);
}

void ptx_lower_selp(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit(l, STEP_SEL16 + ptx_size_index(ptx_register_bytes(m->type[0])), m->value[0], m->value[1], m->value[2], m->value[3]);
}

/* slct: the first operand if the third is not negative. */
void ptx_lower_slct(struct ptx_lower *l, const struct ptx_match *m)
{
    uint32_t p, zero = ptx_constant(l, 0, 4);
    if (m->type[1] == PTX_F32)
        p = compare_float(l, PTX_F32, PTX_COMPARE_EQUAL | PTX_COMPARE_GREATER, m->value[3], zero);
    else if (ptx_has(l, PTX_MOD_FTZ))
        ptx_lower_fail(l, ".ftz needs a third operand of .f32");
    else
        p = compare_whole(l, PTX_S32, PTX_COMPARE_EQUAL | PTX_COMPARE_GREATER, m->value[3], zero);
    ptx_emit(l, STEP_SEL16 + ptx_size_index(ptx_register_bytes(m->type[0])), m->value[0], m->value[1], m->value[2], p);
}
