/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_float.h"

const struct ptx_format ptx_f16 = {5, 10, false}, ptx_bf16 = {8, 7, false}, ptx_tf32 = {8, 10, false}, ptx_f32 = {8, 23, false},
                        ptx_f64 = {11, 52, false}, ptx_e4m3 = {4, 3, true}, ptx_e5m2 = {5, 2, false};

__extension__ typedef unsigned __int128 wide;

enum kind { ZERO, NUMBER, INFINITE, NOT_A_NUMBER };

/* significand * 2^exponent */
struct parts {
    enum kind kind;
    bool negative;
    int exponent;
    wide significand;
};

static uint64_t fraction_mask(const struct ptx_format *f)
{
    return (UINT64_C(1) << f->fraction) - 1;
}

static uint64_t exponent_mask(const struct ptx_format *f)
{
    return (UINT64_C(1) << f->exponent) - 1;
}

static int bias(const struct ptx_format *f)
{
    return (1 << (f->exponent - 1)) - 1;
}

uint64_t ptx_float_nan(const struct ptx_format *f)
{
    if (f->exponent == 11)
        return UINT64_C(0xfff8000000000000);
    return ptx_float_sign(f) - 1;
}

static uint64_t infinite(const struct ptx_format *f)
{
    return exponent_mask(f) << f->fraction;
}

/* The largest number. */
static uint64_t largest(const struct ptx_format *f)
{
    return f->finite ? ptx_float_sign(f) - 2 : infinite(f) - 1;
}

bool ptx_float_is_nan(const struct ptx_format *f, uint64_t a)
{
    uint64_t magnitude = a & (ptx_float_sign(f) - 1);
    return f->finite ? magnitude == ptx_float_sign(f) - 1 : magnitude > infinite(f);
}

bool ptx_float_is_subnormal(const struct ptx_format *f, uint64_t a)
{
    return !((a >> f->fraction) & exponent_mask(f)) && (a & fraction_mask(f));
}

uint64_t ptx_float_flushed(const struct ptx_format *f, uint64_t a)
{
    return ptx_float_is_subnormal(f, a) ? a & ptx_float_sign(f) : a;
}

static struct parts unpack(const struct ptx_format *f, uint64_t a, bool flush)
{
    uint64_t fraction = a & fraction_mask(f), exponent = (a >> f->fraction) & exponent_mask(f);
    struct parts p = {.kind = NUMBER, .negative = (a & ptx_float_sign(f)) != 0};
    if (ptx_float_is_nan(f, a)) {
        p.kind = NOT_A_NUMBER;
    } else if (exponent == exponent_mask(f) && !f->finite) {
        p.kind = INFINITE;
    } else if (!exponent && (!fraction || flush)) {
        p.kind = ZERO;
    } else {
        p.exponent = (int)(exponent ? exponent : 1) - bias(f) - f->fraction;
        p.significand = fraction | (exponent ? UINT64_C(1) << f->fraction : 0);
    }
    return p;
}

/* The position of the highest set bit; x must not be 0. */
static int highest(wide x)
{
    uint64_t high = (uint64_t)(x >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

/* Shifts right; the bits shifted out are ORed into the last bit. */
static wide shifted_right(wide x, int by)
{
    if (by <= 0)
        return x;
    if (by > 127)
        return x != 0;
    return x >> by | ((x & (((wide)1 << by) - 1)) != 0);
}

static bool rounds_up(enum ptx_round round, bool negative, bool odd, bool half, bool rest)
{
    switch (round) {
    case PTX_ROUND_EVEN: return half && (rest || odd);
    case PTX_ROUND_AWAY: return half;
    case PTX_ROUND_DOWN: return negative && (half || rest);
    case PTX_ROUND_UP: return !negative && (half || rest);
    default: return false;
    }
}

/* x without its last `by` bits, rounded. */
static wide rounded(wide x, int by, enum ptx_round round, bool negative)
{
    if (by <= 0)
        return x << -by;
    x = shifted_right(x, by - 2 > 0 ? by - 2 : 0);
    if (by == 1)
        x <<= 1;
    bool half = (x & 2) != 0, rest = (x & 1) != 0;
    x >>= 2;
    return x + rounds_up(round, negative, x & 1, half, rest);
}

static uint64_t overflowed(const struct ptx_format *f, bool negative, struct ptx_float_way way)
{
    bool stays = way.saturate || way.round == PTX_ROUND_ZERO || (way.round == PTX_ROUND_DOWN && !negative) ||
                 (way.round == PTX_ROUND_UP && negative);
    return stays ? largest(f) : f->finite ? ptx_float_nan(f) : infinite(f);
}

/* A result below the smallest normal number becomes zero, unless rounding it to a full significand yields that number. */
static uint64_t flushed(const struct ptx_format *f, const struct parts *p, int exponent, enum ptx_round round)
{
    int unit = exponent - f->fraction, least = 1 - bias(f);
    if (exponent < least - 1)
        return 0;
    uint64_t bits = (uint64_t)rounded(p->significand, unit - p->exponent, round, p->negative);
    return bits >> (f->fraction + 1) ? UINT64_C(1) << f->fraction : 0;
}

/* Rounds the exact value, which must not be 0, once. */
static uint64_t pack(const struct ptx_format *f, const struct parts *p, struct ptx_float_way way)
{
    uint64_t sign = p->negative ? ptx_float_sign(f) : 0;
    int least = 1 - bias(f), exponent = p->exponent + highest(p->significand);
    bool normal = exponent >= least;
    int unit = (normal ? exponent : least) - f->fraction;
    if (exponent > 2 * bias(f) + 2)
        return sign | overflowed(f, p->negative, way);
    if (!normal && way.flush)
        return sign | flushed(f, p, exponent, way.round);
    if (unit - p->exponent > 127)
        return sign | rounds_up(way.round, p->negative, false, false, true);
    uint64_t bits = (uint64_t)rounded(p->significand, unit - p->exponent, way.round, p->negative);
    if (normal)
        bits += (uint64_t)(exponent - least) << f->fraction;
    return sign | (bits > largest(f) ? overflowed(f, p->negative, way) : bits);
}

static uint64_t zero(const struct ptx_format *f, bool negative)
{
    return negative ? ptx_float_sign(f) : 0;
}

/* ---- arithmetic ---- */

/* The first NaN among three operands. Only f64 preserves its bits, with the quiet bit set. */
static bool passes_nan(const struct ptx_format *f, uint64_t a, uint64_t b, uint64_t c, uint64_t *result)
{
    if (!ptx_float_is_nan(f, a) && !ptx_float_is_nan(f, b) && !ptx_float_is_nan(f, c))
        return false;
    uint64_t first = ptx_float_is_nan(f, a) ? a : ptx_float_is_nan(f, b) ? b : c;
    *result = f->exponent == 11 ? first | UINT64_C(1) << 51 : ptx_float_nan(f);
    return true;
}

/* the position of the highest bit of both operands of a sum: the sum fits, and all bits of a product are kept */
enum { TOP = 124 };

static void lift(struct parts *p)
{
    int by = TOP - highest(p->significand);
    p->significand <<= by;
    p->exponent -= by;
}

static uint64_t sum(const struct ptx_format *f, struct parts a, struct parts b, struct ptx_float_way way)
{
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER ||
        (a.kind == INFINITE && b.kind == INFINITE && a.negative != b.negative))
        return ptx_float_nan(f);
    if (a.kind == INFINITE || b.kind == INFINITE)
        return infinite(f) | zero(f, a.kind == INFINITE ? a.negative : b.negative);
    if (a.kind == ZERO && b.kind == ZERO)
        return zero(f, a.negative == b.negative ? a.negative : way.round == PTX_ROUND_DOWN);
    if (a.kind == ZERO || b.kind == ZERO)
        return pack(f, a.kind == ZERO ? &b : &a, way);
    lift(&a);
    lift(&b);
    struct parts *small = a.exponent < b.exponent ? &a : &b, *large = small == &a ? &b : &a;
    small->significand = shifted_right(small->significand, large->exponent - small->exponent);
    if (a.negative == b.negative) {
        large->significand += small->significand;
    } else if (large->significand == small->significand) {
        return zero(f, way.round == PTX_ROUND_DOWN);
    } else if (large->significand > small->significand) {
        large->significand -= small->significand;
    } else {
        large->significand = small->significand - large->significand;
        large->negative = small->negative;
    }
    return pack(f, large, way);
}

uint64_t ptx_float_add(const struct ptx_format *f, uint64_t a, uint64_t b, struct ptx_float_way way)
{
    uint64_t nan;
    return passes_nan(f, a, b, 0, &nan) ? nan : sum(f, unpack(f, a, way.flush), unpack(f, b, way.flush), way);
}

static struct parts product(struct parts a, struct parts b)
{
    struct parts p = {.kind = NUMBER, .negative = a.negative != b.negative};
    if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER || (a.kind == INFINITE && b.kind == ZERO) ||
        (a.kind == ZERO && b.kind == INFINITE))
        p.kind = NOT_A_NUMBER;
    else if (a.kind == INFINITE || b.kind == INFINITE)
        p.kind = INFINITE;
    else if (a.kind == ZERO || b.kind == ZERO)
        p.kind = ZERO;
    p.exponent = a.exponent + b.exponent;
    p.significand = a.significand * b.significand;
    return p;
}

static uint64_t packed(const struct ptx_format *f, const struct parts *p, struct ptx_float_way way)
{
    switch (p->kind) {
    case NOT_A_NUMBER: return ptx_float_nan(f);
    case INFINITE: return zero(f, p->negative) | (f->finite ? overflowed(f, p->negative, way) : infinite(f));
    case ZERO: return zero(f, p->negative);
    default: return pack(f, p, way);
    }
}

uint64_t ptx_float_mul(const struct ptx_format *f, uint64_t a, uint64_t b, struct ptx_float_way way)
{
    struct parts p = product(unpack(f, a, way.flush), unpack(f, b, way.flush));
    uint64_t nan;
    return passes_nan(f, a, b, 0, &nan) ? nan : packed(f, &p, way);
}

uint64_t ptx_float_fma(const struct ptx_format *f, uint64_t a, uint64_t b, uint64_t c, struct ptx_float_way way)
{
    uint64_t nan;
    if (passes_nan(f, a, b, c, &nan))
        return nan;
    return sum(f, product(unpack(f, a, way.flush), unpack(f, b, way.flush)), unpack(f, c, way.flush), way);
}

uint64_t ptx_float_div(const struct ptx_format *f, uint64_t a, uint64_t b, struct ptx_float_way way)
{
    struct parts x = unpack(f, a, way.flush), y = unpack(f, b, way.flush);
    struct parts p = {.kind = NUMBER, .negative = x.negative != y.negative};
    uint64_t nan;
    if (passes_nan(f, a, b, 0, &nan))
        return nan;
    if (x.kind == y.kind && x.kind != NUMBER)
        p.kind = NOT_A_NUMBER;
    else if (x.kind == INFINITE || y.kind == ZERO)
        p.kind = INFINITE;
    else if (x.kind == ZERO || y.kind == INFINITE)
        p.kind = ZERO;
    if (p.kind != NUMBER)
        return packed(f, &p, way);
    lift(&x); /* so that the quotient has more bits than any format */
    p.significand = x.significand / y.significand;
    p.significand |= x.significand % y.significand != 0;
    p.exponent = x.exponent - y.exponent;
    return pack(f, &p, way);
}

uint64_t ptx_float_sqrt(const struct ptx_format *f, uint64_t a, struct ptx_float_way way)
{
    struct parts x = unpack(f, a, way.flush);
    uint64_t nan;
    if (passes_nan(f, a, 0, 0, &nan))
        return nan;
    if (x.negative && x.kind != ZERO)
        return ptx_float_nan(f);
    if (x.kind != NUMBER)
        return packed(f, &x, way);
    lift(&x);
    if (x.exponent & 1) {
        x.significand <<= 1;
        x.exponent--;
    }
    wide root = 0, left = x.significand;
    for (wide bit = (wide)1 << 126; bit; bit >>= 2) {
        wide step = root + bit;
        root >>= 1;
        if (left >= step) {
            left -= step;
            root += bit;
        }
    }
    struct parts p = {.kind = NUMBER, .exponent = x.exponent / 2 - 1, .significand = root << 1 | (left != 0)};
    return pack(f, &p, way);
}

/* ---- conversions ---- */

uint64_t ptx_float_convert(const struct ptx_format *to, const struct ptx_format *from, uint64_t a, struct ptx_float_way way)
{
    struct parts p = unpack(from, a, way.flush);
    int shift = from->fraction - to->fraction;
    if (p.kind == NOT_A_NUMBER && from->fraction + to->fraction == 52 + 23) /* between f32 and f64 its bits are preserved, too */
        return zero(to, p.negative) | infinite(to) | UINT64_C(1) << (to->fraction - 1) |
               (shift > 0 ? (a & fraction_mask(from)) >> shift : (a & fraction_mask(from)) << -shift);
    if (p.kind == INFINITE && way.saturate && !to->finite)
        return zero(to, p.negative) | largest(to);
    return packed(to, &p, way);
}

/* The value as an integer; at most 2^127. */
static wide whole(const struct parts *p, enum ptx_round round)
{
    if (p->exponent < -127)
        return rounds_up(round, p->negative, false, false, true);
    return rounded(p->significand, -p->exponent, round, p->negative);
}

uint64_t ptx_float_integral(const struct ptx_format *f, uint64_t a, struct ptx_float_way way)
{
    struct parts p = unpack(f, a, way.flush);
    if (p.kind != NUMBER || p.exponent >= 0)
        return packed(f, &p, way);
    p.significand = whole(&p, way.round);
    p.exponent = 0;
    if (!p.significand)
        p.kind = ZERO;
    return packed(f, &p, way);
}

uint64_t ptx_float_from(const struct ptx_format *f, uint64_t value, bool is_signed, struct ptx_float_way way)
{
    struct parts p = {.kind = value ? NUMBER : ZERO, .negative = is_signed && value >> 63};
    uint64_t magnitude = p.negative ? 0 - value : value;
    p.significand = magnitude;
    return packed(f, &p, way);
}

uint64_t ptx_float_to(const struct ptx_format *f, uint64_t a, unsigned bits, bool is_signed, struct ptx_float_way way)
{
    struct parts p = unpack(f, a, way.flush);
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, most = is_signed ? all >> 1 : all;
    if (p.kind == NOT_A_NUMBER) /* as observed on a device */
        return bits == 64 || f->exponent == 11 ? UINT64_C(1) << (bits - 1) : 0;
    if (p.kind == ZERO)
        return 0;
    bool huge = p.kind == INFINITE || p.exponent + highest(p.significand) > 64;
    wide value = huge ? (wide)1 << 100 : whole(&p, way.round);
    if (!p.negative)
        return value > most ? most : (uint64_t)value;
    if (!is_signed)
        return 0;
    uint64_t magnitude = (uint64_t)value;
    return value > most ? (most + 1) & all : (0 - magnitude) & all;
}

int ptx_float_compare(const struct ptx_format *f, uint64_t a, uint64_t b, bool flush)
{
    uint64_t sign = ptx_float_sign(f);
    if (ptx_float_is_nan(f, a) || ptx_float_is_nan(f, b))
        return 2;
    if (flush) {
        a = ptx_float_flushed(f, a);
        b = ptx_float_flushed(f, b);
    }
    int64_t x = (int64_t)(a & (sign - 1)), y = (int64_t)(b & (sign - 1));
    x = a & sign ? -x : x;
    y = b & sign ? -y : y;
    return x < y ? -1 : x > y;
}
