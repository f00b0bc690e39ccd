/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_float.h - IEEE arithmetic with integers, for every format and rounding mode of PTX.
 *
 *     bits  -> sign, significand * 2^exponent -> exact result, with lower bits ORed into its last bit -> rounded once -> bits
 *
 * A NaN result is the format's canonical one; for f64 it is the first NaN operand. flush: subnormal
 * operands and results become zeros of the same sign (.ftz).
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
    bool finite;               /* the highest exponent encodes ordinary numbers, and only all ones is a NaN (e4m3) */
};

extern const struct ptx_format ptx_f16, ptx_bf16, ptx_tf32, ptx_f32, ptx_f64, ptx_e4m3, ptx_e5m2;

struct ptx_float_way {
    enum ptx_round round;
    bool flush;
    bool saturate; /* larger results become the largest number (.satfinite) */
};

uint64_t ptx_float_add(const struct ptx_format *f, uint64_t a, uint64_t b, struct ptx_float_way way);
uint64_t ptx_float_mul(const struct ptx_format *f, uint64_t a, uint64_t b, struct ptx_float_way way);
uint64_t ptx_float_fma(const struct ptx_format *f, uint64_t a, uint64_t b, uint64_t c, struct ptx_float_way way);
uint64_t ptx_float_div(const struct ptx_format *f, uint64_t a, uint64_t b, struct ptx_float_way way);
uint64_t ptx_float_sqrt(const struct ptx_format *f, uint64_t a, struct ptx_float_way way);

/* Converts a number to another format. */
uint64_t ptx_float_convert(const struct ptx_format *to, const struct ptx_format *from, uint64_t a, struct ptx_float_way way);
/* The nearest integer, in the same format. */
uint64_t ptx_float_integral(const struct ptx_format *f, uint64_t a, struct ptx_float_way way);
/* Converts a 64-bit integer. */
uint64_t ptx_float_from(const struct ptx_format *f, uint64_t value, bool is_signed, struct ptx_float_way way);
/* Converts to an integer of that many bits, saturating. */
uint64_t ptx_float_to(const struct ptx_format *f, uint64_t a, unsigned bits, bool is_signed, struct ptx_float_way way);

/* -1, 0 or 1; 2: one operand is a NaN. */
int ptx_float_compare(const struct ptx_format *f, uint64_t a, uint64_t b, bool flush);

bool ptx_float_is_nan(const struct ptx_format *f, uint64_t a);
bool ptx_float_is_subnormal(const struct ptx_format *f, uint64_t a);
uint64_t ptx_float_nan(const struct ptx_format *f);
/* The number, or zero if it is subnormal. */
uint64_t ptx_float_flushed(const struct ptx_format *f, uint64_t a);

static inline uint64_t ptx_float_sign(const struct ptx_format *f)
{
    return UINT64_C(1) << (f->exponent + f->fraction);
}

/* The number 1 in the format. */
static inline uint64_t ptx_float_one(const struct ptx_format *f)
{
    return ((UINT64_C(1) << (f->exponent - 1)) - 1) << f->fraction;
}

#endif
