/* SPDX-License-Identifier: Apache-2.0 */
/* Floats of every format with every rounding mode, one or two numbers in a register. */
#include <string.h>

#include "ptx_approx.h"
#include "ptx_code.h"
#include "ptx_float.h"
#include "ptx_scalar.h"

static const struct ptx_format *const formats[] = {[PTX_N_F16] = &ptx_f16, [PTX_N_BF16] = &ptx_bf16, [PTX_N_TF32] = &ptx_f32,
                                                   [PTX_N_F32] = &ptx_f32, [PTX_N_F64] = &ptx_f64,   [PTX_N_E4M3] = &ptx_e4m3,
                                                   [PTX_N_E5M2] = &ptx_e5m2};

static unsigned number_of(const struct ptx_scalar_call *call)
{
    return call->more >> PTX_FLOAT_FORMAT_SHIFT & 7;
}

static const struct ptx_format *format_of(const struct ptx_scalar_call *call)
{
    return formats[number_of(call)];
}

static struct ptx_float_way way_of(const struct ptx_scalar_call *call)
{
    return (struct ptx_float_way){(enum ptx_round)(call->more & PTX_FLOAT_ROUND), (call->more & PTX_FLOAT_FLUSH) != 0,
                                  (call->more & PTX_FLOAT_FINITE) != 0};
}

static bool is_minus(const struct ptx_format *f, uint64_t a)
{
    return (a & ptx_float_sign(f)) != 0;
}

/* Clamps to [0, 1] or to non-negative numbers if the instruction says so. */
static uint64_t limited(const struct ptx_scalar_call *call, const struct ptx_format *f, uint64_t a)
{
    bool nan = ptx_float_is_nan(f, a);
    if (call->more & PTX_FLOAT_SATURATE)
        return nan || is_minus(f, a) ? 0 : a > ptx_float_one(f) ? ptx_float_one(f) : a;
    if ((call->more & PTX_FLOAT_RELU) && !nan && is_minus(f, a))
        return 0;
    return a;
}

/* Applies a function of one number to a register with one or two numbers. */
typedef uint64_t (*of_one)(const struct ptx_scalar_call *call, const struct ptx_format *f);

static uint64_t each(const struct ptx_scalar_call *call, of_one function)
{
    const struct ptx_format *f = format_of(call);
    if (!(call->more & PTX_FLOAT_PACKED))
        return function(call, f);
    struct ptx_scalar_call low = *call, high = *call;
    low.a = call->a & 0xffff, low.b = call->b & 0xffff, low.c = call->c & 0xffff;
    high.a = call->a >> 16 & 0xffff, high.b = call->b >> 16 & 0xffff, high.c = call->c >> 16 & 0xffff;
    return (function(&low, f) & 0xffff) | (function(&high, f) & 0xffff) << 16;
}

#define FUNCTION(NAME, value)                                                                \
    static uint64_t one_##NAME(const struct ptx_scalar_call *call, const struct ptx_format *f) \
    {                                                                                        \
        const struct ptx_float_way way = way_of(call);                                       \
        (void)way;                                                                           \
        return limited(call, f, value);                                                      \
    }                                                                                        \
    uint64_t ptx_scalar_##NAME(const struct ptx_scalar_call *call)                           \
    {                                                                                        \
        return each(call, one_##NAME);                                                       \
    }

static uint64_t flush(const struct ptx_scalar_call *call, const struct ptx_format *f, uint64_t a)
{
    return call->more & PTX_FLOAT_FLUSH ? ptx_float_flushed(f, a) : a;
}

/* The sign of a NaN is unchanged. */
static uint64_t negative(const struct ptx_format *f, uint64_t a)
{
    return ptx_float_is_nan(f, a) ? a : a ^ ptx_float_sign(f);
}

FUNCTION(FADD, ptx_float_add(f, call->a, call->b, way))
FUNCTION(FSUB, ptx_float_add(f, call->a, negative(f, call->b), way))
FUNCTION(FMUL, ptx_float_mul(f, call->a, call->b, way))
FUNCTION(FFMA, ptx_float_fma(f, call->a, call->b, call->c, way))
FUNCTION(FDIV, ptx_float_div(f, call->a, call->b, way))
FUNCTION(FSQRT, ptx_float_sqrt(f, call->a, way))
FUNCTION(FNEG, ptx_float_is_nan(f, call->a) ? ptx_float_nan(f) : flush(call, f, call->a) ^ ptx_float_sign(f))
FUNCTION(FABS, ptx_float_is_nan(f, call->a) ? ptx_float_nan(f) : flush(call, f, call->a) & ~ptx_float_sign(f))
FUNCTION(FCOPYSIGN, (call->b & ~ptx_float_sign(f)) | (call->a & ptx_float_sign(f)))

/* ---- minimum and maximum ---- */

static uint64_t extreme(const struct ptx_scalar_call *call, const struct ptx_format *f, bool most)
{
    uint64_t sign = ptx_float_sign(f), a = flush(call, f, call->a), b = flush(call, f, call->b), mixed = (a ^ b) & sign;
    bool other_a = ptx_float_is_nan(f, a), other_b = ptx_float_is_nan(f, b), both = other_a && other_b;
    if (call->more & PTX_FLOAT_XORSIGN)
        a &= ~sign, b &= ~sign;
    int order = ptx_float_compare(f, a, b, false);
    uint64_t first = order ? (order < 0) == !most : (a & sign) ? !most : most, result = first ? a : b;
    if (both || ((other_a || other_b) && (call->more & PTX_FLOAT_NAN)))
        return ptx_float_nan(f);
    if (other_a || other_b)
        result = other_a ? b : a;
    return call->more & PTX_FLOAT_XORSIGN ? (result & ~sign) | mixed : result;
}

FUNCTION(FMIN, extreme(call, f, false))
FUNCTION(FMAX, extreme(call, f, true))

/* ---- comparisons ---- */

uint64_t ptx_scalar_FTEST(const struct ptx_scalar_call *call)
{
    const struct ptx_format *f = format_of(call);
    uint64_t magnitude = call->a & (ptx_float_sign(f) - 1);
    bool nan = ptx_float_is_nan(f, call->a), small = ptx_float_is_subnormal(f, call->a);
    bool infinite = !nan && magnitude == (ptx_float_nan(f) & (ptx_float_sign(f) - (UINT64_C(1) << f->fraction)));
    switch ((enum ptx_test)call->which) {
    case PTX_TEST_FINITE: return !nan && !infinite;
    case PTX_TEST_INFINITE: return infinite;
    case PTX_TEST_NUMBER: return !nan;
    case PTX_TEST_NOTANUMBER: return nan;
    case PTX_TEST_NORMAL: return !nan && !infinite && !small; /* zeros are, too */
    default: return small;
    }
}

static uint64_t truth(const struct ptx_scalar_call *call, uint64_t a, uint64_t b)
{
    static const uint8_t bits[] = {PTX_COMPARE_LESS, PTX_COMPARE_EQUAL, PTX_COMPARE_GREATER, PTX_COMPARE_UNORDERED};
    int order = ptx_float_compare(format_of(call), a, b, (call->more & PTX_FLOAT_FLUSH) != 0);
    return (bits[order + 1] & call->which) != 0;
}

uint64_t ptx_scalar_FCOMPARE(const struct ptx_scalar_call *call)
{
    if (!(call->more & PTX_FLOAT_PACKED))
        return truth(call, call->a, call->b);
    return truth(call, call->a & 0xffff, call->b & 0xffff) | truth(call, call->a >> 16 & 0xffff, call->b >> 16 & 0xffff) << 1;
}

/* ---- approximations ---- */

static double as_double(const struct ptx_format *f, uint64_t a)
{
    double value;
    uint64_t bits = ptx_float_convert(&ptx_f64, f, a, (struct ptx_float_way){PTX_ROUND_EVEN, false, false});
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t from_double(const struct ptx_format *f, double value, struct ptx_float_way way)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return ptx_float_convert(f, &ptx_f64, bits, (struct ptx_float_way){PTX_ROUND_EVEN, way.flush, false});
}

#define APPROXIMATION(NAME, function) FUNCTION(NAME, from_double(f, function(as_double(f, flush(call, f, call->a))), way))

static double root_inverse(double x)
{
    return 1 / __builtin_sqrt(x);
}

APPROXIMATION(SIN, ptx_sin)
APPROXIMATION(COS, ptx_cos)
APPROXIMATION(LG2, ptx_log2)
APPROXIMATION(EX2, ptx_exp2)
APPROXIMATION(TANH, ptx_tanh)
APPROXIMATION(RSQRT_APPROX, root_inverse)

/* A divisor beyond 2^126 makes a finite quotient zero, because its reciprocal is flushed (PTX ISA, "div"). */
uint64_t ptx_scalar_DIV_APPROX(const struct ptx_scalar_call *call)
{
    const struct ptx_format *f = &ptx_f32;
    uint64_t a = flush(call, f, call->a), magnitude = call->b & 0x7fffffff, sign = (call->a ^ call->b) & ptx_float_sign(f);
    if (magnitude > 0x7e800000 && magnitude < 0x7f800000 && !ptx_float_is_nan(f, a))
        return (a & 0x7fffffff) == 0x7f800000 ? ptx_float_nan(f) : sign;
    return ptx_float_div(f, a, call->b, way_of(call));
}

/* The fast f64 functions use only the upper half of the number. */
static uint64_t upper_half(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return ptx_float_nan(&ptx_f64) & ~UINT64_C(0xffffffff);
    return ptx_float_flushed(&ptx_f64, bits) & ~UINT64_C(0xffffffff);
}

uint64_t ptx_scalar_RCP_FAST64(const struct ptx_scalar_call *call)
{
    return upper_half(1 / as_double(&ptx_f64, ptx_float_flushed(&ptx_f64, call->a & ~UINT64_C(0xffffffff))));
}

uint64_t ptx_scalar_RSQRT_FAST64(const struct ptx_scalar_call *call)
{
    return upper_half(root_inverse(as_double(&ptx_f64, ptx_float_flushed(&ptx_f64, call->a & ~UINT64_C(0xffffffff)))));
}

/* ---- conversions ---- */

static const struct ptx_format *target_of(const struct ptx_scalar_call *call)
{
    return formats[call->more >> PTX_FLOAT_TO_SHIFT & 7];
}

/* A float rounded to the fraction of tf32. .rna truncates the payload of a NaN, which may leave an infinity. */
static uint64_t tf32(uint64_t a, struct ptx_float_way way)
{
    static const struct ptx_format *const f = &ptx_tf32;
    if (way.round == PTX_ROUND_AWAY && ptx_float_is_nan(&ptx_f32, a))
        return a & ~UINT64_C(0x1fff);
    if (ptx_float_is_nan(&ptx_f32, a))
        return ptx_float_nan(&ptx_f32);
    return ptx_float_convert(f, &ptx_f32, a, way) << 13;
}

static uint64_t converted(const struct ptx_scalar_call *call, const struct ptx_format *to, const struct ptx_format *from, uint64_t a)
{
    struct ptx_float_way way = way_of(call);
    if (from == &ptx_f32)
        a = flush(call, from, a);
    way.flush = way.flush && to == &ptx_f32 && from == &ptx_f64; /* of narrower formats nothing is flushed */
    uint64_t result = ptx_float_convert(to, from, a, way);
    if ((call->more & PTX_FLOAT_RELU) && !ptx_float_is_nan(to, result) && is_minus(to, result))
        result = 0;
    if (call->more & PTX_FLOAT_SATURATE)
        result = ptx_float_is_nan(to, result) || is_minus(to, result) ? 0 : result > ptx_float_one(to) ? ptx_float_one(to) : result;
    return result;
}

uint64_t ptx_scalar_CONVERT(const struct ptx_scalar_call *call)
{
    if ((call->more >> PTX_FLOAT_TO_SHIFT & 7) == PTX_N_TF32) {
        uint64_t result = tf32(call->a, way_of(call));
        return (call->more & PTX_FLOAT_RELU) && !ptx_float_is_nan(&ptx_f32, result) && is_minus(&ptx_f32, result) ? 0 : result;
    }
    return converted(call, target_of(call), format_of(call), call->a);
}

uint64_t ptx_scalar_INTEGRAL(const struct ptx_scalar_call *call)
{
    const struct ptx_format *f = format_of(call);
    struct ptx_float_way way = way_of(call);
    return limited(call, f, ptx_float_integral(f, flush(call, f, call->a), way));
}

/* The first operand is in the upper half. */
uint64_t ptx_scalar_CONVERT_PAIR(const struct ptx_scalar_call *call)
{
    const struct ptx_format *to = target_of(call);
    unsigned bits = 1u + (unsigned)to->exponent + (unsigned)to->fraction;
    return converted(call, to, &ptx_f32, call->b) | converted(call, to, &ptx_f32, call->a) << bits;
}

uint64_t ptx_scalar_CONVERT_PACKED(const struct ptx_scalar_call *call)
{
    const struct ptx_format *to = target_of(call), *from = format_of(call);
    unsigned bits = 1u + (unsigned)to->exponent + (unsigned)to->fraction, have = 1u + (unsigned)from->exponent + (unsigned)from->fraction;
    uint64_t part = (UINT64_C(1) << have) - 1;
    return converted(call, to, from, call->a & part) | converted(call, to, from, call->a >> have & part) << bits;
}

enum { SIGNED = 256 };

uint64_t ptx_scalar_FROM_INTEGER(const struct ptx_scalar_call *call)
{
    const struct ptx_format *f = format_of(call);
    bool is_signed = (call->which & SIGNED) != 0;
    uint64_t value = (call->which & 255) == 64 || !is_signed ? call->a : (uint64_t)(int64_t)(int32_t)(uint32_t)call->a;
    return limited(call, f, ptx_float_from(f, value, is_signed, way_of(call)));
}

uint64_t ptx_scalar_TO_INTEGER(const struct ptx_scalar_call *call)
{
    const struct ptx_format *f = format_of(call);
    unsigned bits = call->which & 255;
    bool is_signed = (call->which & SIGNED) != 0;
    uint64_t value = ptx_float_to(f, flush(call, f, call->a), bits, is_signed, way_of(call));
    return is_signed && bits < 64 ? (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits)) : value;
}
