/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on floats: with the compiler's operators if they do what PTX specifies, otherwise with ptx/float. */
#include "ptx_lower.h"

/* modifiers that the f32 steps support besides rounding to nearest */
enum { PLAIN = (int)(PTX_FLOAT_FLUSH | PTX_FLOAT_SATURATE) };

static const struct {
    uint16_t step, scalar;
    uint8_t operands;
} floats[] = {
    [PTX_FADD] = {STEP_FADD_F32, SCALAR_FADD, 2}, [PTX_FSUB] = {STEP_FSUB_F32, SCALAR_FSUB, 2},
    [PTX_FMUL] = {STEP_FMUL_F32, SCALAR_FMUL, 2}, [PTX_FDIV] = {STEP_FDIV_F32, SCALAR_FDIV, 2},
    [PTX_FFMA] = {STEP_FFMA_F32, SCALAR_FFMA, 3}, [PTX_FSQRT] = {STEP_FSQRT_F32, SCALAR_FSQRT, 1},
    [PTX_FNEG] = {STEP_FNEG_F32, SCALAR_FNEG, 1}, [PTX_FABS] = {STEP_FABS_F32, SCALAR_FABS, 1},
    [PTX_FMIN] = {STEP_FMIN_F32, SCALAR_FMIN, 2}, [PTX_FMAX] = {STEP_FMAX_F32, SCALAR_FMAX, 2},
};

static void compute(struct ptx_lower *l, unsigned which, unsigned type, uint32_t d, uint32_t a, uint32_t b, uint32_t c)
{
    unsigned more = ptx_float_more(l, type), beyond = more & ~(unsigned)PLAIN & (PTX_FLOAT_FORMAT_MASK - 1);
    if (type == PTX_F32 && !beyond) {
        bool plain = !(more & PLAIN);
        ptx_emit(l, floats[which].step + !plain, d, a, b, c)->more = (uint16_t)more;
    } else if (type == PTX_F64 && !beyond) {
        ptx_emit(l, floats[which].step + 2u, d, a, b, c);
    } else {
        ptx_emit_scalar(l, floats[which].scalar, 0, more, d, a, b, c);
    }
}

void ptx_lower_float_op(struct ptx_lower *l, const struct ptx_match *m)
{
    unsigned count = floats[m->data].operands;
    compute(l, m->data, m->type[0], m->value[0], m->value[1], count > 1 ? m->value[2] : PTX_UNUSED,
            count > 2 ? m->value[3] : PTX_UNUSED);
}

void ptx_lower_float_rcp(struct ptx_lower *l, const struct ptx_match *m)
{
    bool wide = m->type[0] == PTX_F64;
    uint32_t one = wide ? ptx_constant(l, UINT64_C(0x3ff0000000000000), 8) : ptx_constant(l, 0x3f800000, 4);
    compute(l, PTX_FDIV, m->type[0], m->value[0], one, m->value[1], PTX_UNUSED);
}

void ptx_lower_approx(struct ptx_lower *l, const struct ptx_match *m)
{
    uint32_t second = m->data == SCALAR_DIV_APPROX ? m->value[2] : PTX_UNUSED;
    ptx_emit_scalar(l, m->data, 0, ptx_float_more(l, m->type[0]), m->value[0], m->value[1], second, PTX_UNUSED);
}

/* The result as a number, converted to a predicate. */
void ptx_lower_testp(struct ptx_lower *l, const struct ptx_match *m)
{
    static const unsigned tests[] = {[PTX_TEST_FINITE] = PTX_MOD_FINITE, [PTX_TEST_INFINITE] = PTX_MOD_INFINITE,
                                     [PTX_TEST_NUMBER] = PTX_MOD_NUMBER, [PTX_TEST_NOTANUMBER] = PTX_MOD_NOTANUMBER,
                                     [PTX_TEST_NORMAL] = PTX_MOD_NORMAL, [PTX_TEST_SUBNORMAL] = PTX_MOD_SUBNORMAL};
    unsigned which = 0;
    while (!ptx_has(l, tests[which]))
        which++;
    uint32_t answer = ptx_value(l, 4);
    ptx_emit_scalar(l, SCALAR_FTEST, which, ptx_float_more(l, m->type[0]), answer, m->value[1], PTX_UNUSED, PTX_UNUSED);
    ptx_emit(l, STEP_EQ32, m->value[0], answer, ptx_constant(l, 1, 4), PTX_UNUSED);
}

void ptx_lower_copysign(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit_scalar(l, SCALAR_FCOPYSIGN, 0, ptx_float_more(l, m->type[0]), m->value[0], m->value[1], m->value[2], PTX_UNUSED);
}
