/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_float.h - IEEE arithmetic in whole numbers, for every format and rounding of PTX.
 *
 *     bits  -> sign, significand * 2^exponent -> exact result, what is below it joined into its last bit -> rounded once -> bits
 *
 * A NaN is answered as the format's canonical one; of f64 that of the first operand that is one. flush: subnormal operands and results are zeros of their sign (.ftz).
 */
#ifndef PTX_FLOAT_H
#define PTX_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

enum ptx_round {
    PTX_ROUND_EVEN, /* to nearest, ties to even: .rn */
    PTX_ROUND_ZERO, /* .rz */
    PTX_ROUND_DOWN, /* .rm */
    PTX_ROUND_UP,   /* .rp */
    PTX_ROUND_AWAY  /* to nearest, ties away from zero: .rna */
};

struct ptx_format {
    int8_t exponent, fraction; /* bits */
    bool finite;               /* the highest exponent is of numbers as others are, and all ones are the one NaN (e4m3) */
};

extern const struct ptx_format ptx_f16, ptx_bf16, ptx_tf32, ptx_f32, ptx_f64, ptx_e4m3, ptx_e5m2;

struct ptx_float_way {
    enum ptx_round round;
    bool flush;
    bool saturate; /* what is beyond the largest number becomes it (.satfinite) */
};

uint64_t ptx_float_add(const struct ptx_format *f, uint64_t a, uint64_t b, struct ptx_float_way way);
uint64_t ptx_float_mul(const struct ptx_format *f, uint64_t a, uint64_t b, struct ptx_float_way way);
uint64_t ptx_float_fma(const struct ptx_format *f, uint64_t a, uint64_t b, uint64_t c, struct ptx_float_way way);
uint64_t ptx_float_div(const struct ptx_format *f, uint64_t a, uint64_t b, struct ptx_float_way way);
uint64_t ptx_float_sqrt(const struct ptx_format *f, uint64_t a, struct ptx_float_way way);

/* A number of one format in another one. */
uint64_t ptx_float_convert(const struct ptx_format *to, const struct ptx_format *from, uint64_t a, struct ptx_float_way way);
/* The nearest whole number, in the same format. */
uint64_t ptx_float_integral(const struct ptx_format *f, uint64_t a, struct ptx_float_way way);
/* From a whole number of 64 bits. */
uint64_t ptx_float_from(const struct ptx_format *f, uint64_t value, bool is_signed, struct ptx_float_way way);
/* To a whole number of that many bits: the nearest one that these hold. */
uint64_t ptx_float_to(const struct ptx_format *f, uint64_t a, unsigned bits, bool is_signed, struct ptx_float_way way);

/* -1, 0 or 1; 2: one of them is a NaN. */
int ptx_float_compare(const struct ptx_format *f, uint64_t a, uint64_t b, bool flush);

bool ptx_float_is_nan(const struct ptx_format *f, uint64_t a);
bool ptx_float_is_subnormal(const struct ptx_format *f, uint64_t a);
uint64_t ptx_float_nan(const struct ptx_format *f);
/* The number with a subnormal one made zero. */
uint64_t ptx_float_flushed(const struct ptx_format *f, uint64_t a);

static inline uint64_t ptx_float_sign(const struct ptx_format *f)
{
    return UINT64_C(1) << (f->exponent + f->fraction);
}

/* One in the format. */
static inline uint64_t ptx_float_one(const struct ptx_format *f)
{
    return ((UINT64_C(1) << (f->exponent - 1)) - 1) << f->fraction;
}

#endif
