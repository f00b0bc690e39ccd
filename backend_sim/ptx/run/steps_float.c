/* SPDX-License-Identifier: Apache-2.0 */
/* Floats, rounded to nearest, with the compiler's operators. A NaN result of f32 is PTX's canonical
 * one, 0x7fffffff; of f64 it is an operand's, or 0xfff8000000000000. Conversions between them
 * preserve a NaN's bits, and so do hosts. */
#include <string.h>

#include "ptx_float.h"
#include "ptx_steps.h"

#define MINUS UINT32_C(0x80000000)
#define INFINITY_BITS UINT32_C(0x7f800000)
#define NAN_BITS UINT32_C(0x7fffffff)
#define NAN64_BITS UINT64_C(0xfff8000000000000)
#define QUIET64 UINT64_C(0x0008000000000000)

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t bits_of64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float plain(float x)
{
    return x == x ? x : of_bits(NAN_BITS);
}

/* The result x, or the first NaN among the operands. */
static inline double plain64(double x, double a, double b, double c)
{
    double nan = of_bits64(bits_of64(a != a ? a : b != b ? b : c) | QUIET64);
    return x == x ? x : a != a || b != b || c != c ? nan : of_bits64(NAN64_BITS);
}

static inline float flushed(float x)
{
    uint32_t bits = bits_of(x);
    return of_bits(bits & INFINITY_BITS ? bits : bits & MINUS);
}

/* An operand, and a result, of a step that may flush and saturate. */
static inline float in(float x, unsigned more)
{
    return more & PTX_FLOAT_FLUSH ? flushed(x) : x;
}

static inline float out(float x, unsigned more)
{
    x = plain(more & PTX_FLOAT_FLUSH ? flushed(x) : x);
    if (more & PTX_FLOAT_SATURATE)
        x = x > 1 ? 1 : x > 0 ? x : 0; /* a NaN becomes 0 */
    return x;
}

#define FLOAT2(NAME, TYPE, SIZE, value)                                                                     \
    void PTX_STEP_NAME(NAME)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)                     \
    {                                                                                                       \
        TYPE kept[PTX_LANES], *slot = PTX_SLOT(TYPE, op->d), *to = mask == PTX_ALL ? slot : kept;           \
        const TYPE *as = PTX_SLOT(const TYPE, op->a), *bs = PTX_SLOT(const TYPE, op->b);                    \
        const unsigned more = op->more;                                                                     \
        (void)more;                                                                                         \
        PTX_LANES_LOOP                                                                                      \
        {                                                                                                   \
            const TYPE a = as[i], b = bs[i];                                                                \
            to[i] = value;                                                                                  \
        }                                                                                                   \
        if (mask != PTX_ALL)                                                                                \
            ptx_keep##SIZE((void *)slot, (void *)kept, mask);                                               \
    }
#define FLOAT3(NAME, TYPE, SIZE, value)                                                                     \
    void PTX_STEP_NAME(NAME)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)                     \
    {                                                                                                       \
        TYPE kept[PTX_LANES], *slot = PTX_SLOT(TYPE, op->d), *to = mask == PTX_ALL ? slot : kept;           \
        const TYPE *as = PTX_SLOT(const TYPE, op->a), *bs = PTX_SLOT(const TYPE, op->b);                    \
        const TYPE *cs = PTX_SLOT(const TYPE, op->c);                                                       \
        const unsigned more = op->more;                                                                     \
        (void)more;                                                                                         \
        PTX_LANES_LOOP                                                                                      \
        {                                                                                                   \
            const TYPE a = as[i], b = bs[i], c = cs[i];                                                     \
            to[i] = value;                                                                                  \
        }                                                                                                   \
        if (mask != PTX_ALL)                                                                                \
            ptx_keep##SIZE((void *)slot, (void *)kept, mask);                                               \
    }
#define FLOAT1(NAME, TO, FROM, SIZE, value)                                                                 \
    void PTX_STEP_NAME(NAME)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)                     \
    {                                                                                                       \
        TO kept[PTX_LANES], *slot = PTX_SLOT(TO, op->d), *to = mask == PTX_ALL ? slot : kept;               \
        const FROM *as = PTX_SLOT(const FROM, op->a);                                                       \
        const unsigned more = op->more;                                                                     \
        (void)more;                                                                                         \
        PTX_LANES_LOOP                                                                                      \
        {                                                                                                   \
            const FROM a = as[i];                                                                           \
            to[i] = value;                                                                                  \
        }                                                                                                   \
        if (mask != PTX_ALL)                                                                                \
            ptx_keep##SIZE((void *)slot, (void *)kept, mask);                                               \
    }

#define ARITHMETIC(NAME, operator, EXTRA)                                                                   \
    FLOAT2(NAME##_F32, ptx_float, 32, plain(a operator b))                                                  \
    FLOAT2(NAME##_F32X, ptx_float, 32, EXTRA)                                                               \
    FLOAT2(NAME##_F64, ptx_double, 64, plain64(a operator b, a, b, 0))

/* The smallest number that rounds to a normal one with a full significand. Smaller ones are
 * flushed, even if rounding them as subnormal numbers would yield the smallest normal one. A sum cannot be such a number. */
#define TINY 0x1.ffffffp-127

static inline double size_of(double x)
{
    return __builtin_fabs(x);
}

static inline float times(float a, float b, unsigned more)
{
    float product = a * b;
    return (more & PTX_FLOAT_FLUSH) && size_of((double)a * (double)b) < TINY ? of_bits(bits_of(product) & MINUS) : product;
}

static inline float over(float a, float b, unsigned more)
{
    float quotient = a / b;
    return (more & PTX_FLOAT_FLUSH) && size_of((double)a) < TINY * size_of((double)b) ? of_bits(bits_of(quotient) & MINUS) : quotient;
}

ARITHMETIC(FADD, +, out(in(a, more) + in(b, more), more))
ARITHMETIC(FSUB, -, out(in(a, more) - in(b, more), more))
ARITHMETIC(FMUL, *, out(times(in(a, more), in(b, more), more), more))
ARITHMETIC(FDIV, /, out(over(in(a, more), in(b, more), more), more))

/* ---- a * b + c, rounded once ---- */

#ifdef __FMA__
static inline float fused(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

static inline double fused64(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}
#else
/* The product is exact as a double. An inexact sum is rounded to odd, so that the conversion to
 * float is the only rounding that matters. */
static inline float fused(float a, float b, float c)
{
    double product = (double)a * (double)b, with = (double)c, sum = product + with, part = sum - product;
    double rest = (product - (sum - part)) + (with - part);
    uint64_t bits = bits_of64(sum);
    bool even = !(bits & 1), more = (rest > 0) == (sum > 0);
    if ((rest > 0 || rest < 0) && even)
        bits = more ? bits + 1 : bits - 1;
    return (float)of_bits64(bits);
}

static inline double fused64(double a, double b, double c)
{
    return of_bits64(ptx_float_fma(&ptx_f64, bits_of64(a), bits_of64(b), bits_of64(c), (struct ptx_float_way){PTX_ROUND_EVEN, false, false}));
}
#endif

/* The sum as a double; if it equals TINY, its rounding error decides. */
static inline float fused_flushed(float a, float b, float c, unsigned more)
{
    float result = fused(a, b, c);
    double product = (double)a * (double)b, with = (double)c, sum = product + with, part = sum - product;
    double rest = (product - (sum - part)) + (with - part);
    bool below = size_of(sum) < TINY || (size_of(sum) <= TINY && (sum > 0 ? rest < 0 : rest > 0));
    return (more & PTX_FLOAT_FLUSH) && below ? of_bits(bits_of(result) & MINUS) : result;
}

FLOAT3(FFMA_F32, ptx_float, 32, plain(fused(a, b, c)))
FLOAT3(FFMA_F32X, ptx_float, 32, out(fused_flushed(in(a, more), in(b, more), in(c, more), more), more))
FLOAT3(FFMA_F64, ptx_double, 64, plain64(fused64(a, b, c), a, b, c))

/* ---- the rest ---- */

FLOAT1(FSQRT_F32, ptx_float, ptx_float, 32, plain(__builtin_sqrtf(a)))
FLOAT1(FSQRT_F32X, ptx_float, ptx_float, 32, out(__builtin_sqrtf(in(a, more)), more))
FLOAT1(FSQRT_F64, ptx_double, ptx_double, 64, plain64(__builtin_sqrt(a), a, 0, 0))
/* A device computes these as sums, so a NaN operand yields PTX's canonical NaN. */
FLOAT1(FNEG_F32, ptx_u32, ptx_u32, 32, (a & ~MINUS) > INFINITY_BITS ? NAN_BITS : a ^ MINUS)
FLOAT1(FNEG_F32X, ptx_float, ptx_float, 32, plain(-in(a, more)))
FLOAT1(FNEG_F64, ptx_u64, ptx_u64, 64, a ^ UINT64_C(1) << 63)
FLOAT1(FABS_F32, ptx_u32, ptx_u32, 32, (a & ~MINUS) > INFINITY_BITS ? NAN_BITS : a & ~MINUS)
FLOAT1(FABS_F32X, ptx_float, ptx_float, 32, plain(of_bits(bits_of(in(a, more)) & ~MINUS)))
FLOAT1(FABS_F64, ptx_u64, ptx_u64, 64, a & ~(UINT64_C(1) << 63))
FLOAT1(FLUSH_F32, ptx_float, ptx_float, 32, flushed(a))

/* -0 is less than +0; if one operand is a NaN, the result is the other. */
static inline float least(float a, float b)
{
    float less = a < b || (a == b && (bits_of(a) & MINUS)) ? a : b;
    return plain(a != a ? b : b != b ? a : less);
}

static inline float most(float a, float b)
{
    float more = a > b || (a == b && !(bits_of(a) & MINUS)) ? a : b;
    return plain(a != a ? b : b != b ? a : more);
}

static inline double least64(double a, double b)
{
    double less = a < b || (a == b && bits_of64(a) >> 63) ? a : b;
    return plain64(a != a ? b : b != b ? a : less, 0, 0, 0);
}

static inline double most64(double a, double b)
{
    double more = a > b || (a == b && !(bits_of64(a) >> 63)) ? a : b;
    return plain64(a != a ? b : b != b ? a : more, 0, 0, 0);
}

FLOAT2(FMIN_F32, ptx_float, 32, least(a, b))
FLOAT2(FMIN_F32X, ptx_float, 32, out(least(in(a, more), in(b, more)), more))
FLOAT2(FMIN_F64, ptx_double, 64, least64(a, b))
FLOAT2(FMAX_F32, ptx_float, 32, most(a, b))
FLOAT2(FMAX_F32X, ptx_float, 32, out(most(in(a, more), in(b, more)), more))
FLOAT2(FMAX_F64, ptx_double, 64, most64(a, b))

/* ---- conversions ---- */

FLOAT1(S32_F32, ptx_float, ptx_s32, 32, (float)a)
FLOAT1(U32_F32, ptx_float, ptx_u32, 32, (float)a)
FLOAT1(S64_F32, ptx_float, ptx_s64, 32, (float)a)
FLOAT1(U64_F32, ptx_float, ptx_u64, 32, (float)a)
FLOAT1(S32_F64, ptx_double, ptx_s32, 64, (double)a)
FLOAT1(U32_F64, ptx_double, ptx_u32, 64, (double)a)
FLOAT1(S64_F64, ptx_double, ptx_s64, 64, (double)a)
FLOAT1(U64_F64, ptx_double, ptx_u64, 64, (double)a)
FLOAT1(F32_F64, ptx_double, ptx_float, 64, (double)a)
FLOAT1(F64_F32, ptx_float, ptx_double, 32, (float)a)

/* Rounds toward zero and saturates. */
#define TO_WHOLE(FROM, NAME, TO, SIZE, SOURCE, least_number, beyond, most_number, not_a_number)                                     \
    FLOAT1(FROM##_##NAME, TO, SOURCE, SIZE,                                                                                       \
           a != a ? (TO)(not_a_number) : a >= (SOURCE)(beyond) ? (TO)(most_number) : a <= (SOURCE)(least_number) ? (TO)(least_number) : (TO)a)

TO_WHOLE(F32, S32, ptx_s32, 32, ptx_float, INT32_MIN, 2147483648.0, INT32_MAX, 0)
TO_WHOLE(F32, U32, ptx_u32, 32, ptx_float, 0, 4294967296.0, UINT32_MAX, 0)
TO_WHOLE(F32, S64, ptx_s64, 64, ptx_float, INT64_MIN, 9223372036854775808.0, INT64_MAX, INT64_MIN)
TO_WHOLE(F32, U64, ptx_u64, 64, ptx_float, 0, 18446744073709551616.0, UINT64_MAX, UINT64_C(1) << 63)
TO_WHOLE(F64, S32, ptx_s32, 32, ptx_double, INT32_MIN, 2147483648.0, INT32_MAX, INT32_MIN)
TO_WHOLE(F64, U32, ptx_u32, 32, ptx_double, 0, 4294967296.0, UINT32_MAX, UINT32_C(1) << 31)
TO_WHOLE(F64, S64, ptx_s64, 64, ptx_double, INT64_MIN, 9223372036854775808.0, INT64_MAX, INT64_MIN)
TO_WHOLE(F64, U64, ptx_u64, 64, ptx_double, 0, 18446744073709551616.0, UINT64_MAX, UINT64_C(1) << 63)
