/* SPDX-License-Identifier: Apache-2.0 */
/* Integers, one lane at a time. */
#include "ptx_scalar.h"

static int64_t s32(uint64_t a)
{
    return (int32_t)(uint32_t)a;
}

static uint64_t clamped(int64_t value, int64_t least, int64_t most)
{
    return (uint64_t)(value < least ? least : value > most ? most : value);
}

uint64_t ptx_scalar_ADD_SAT(const struct ptx_scalar_call *call)
{
    return clamped(s32(call->a) + s32(call->b), INT32_MIN, INT32_MAX);
}

uint64_t ptx_scalar_SUB_SAT(const struct ptx_scalar_call *call)
{
    return clamped(s32(call->a) - s32(call->b), INT32_MIN, INT32_MAX);
}

uint64_t ptx_scalar_MADHI_SAT(const struct ptx_scalar_call *call)
{
    return clamped((s32(call->a) * s32(call->b) >> 32) + s32(call->c), INT32_MIN, INT32_MAX);
}

/* The product of the low 24 bits has 48 bits: lo is its low 32 bits, hi its high 32. */
static int64_t product24(const struct ptx_scalar_call *call)
{
    bool is_signed = call->which & 1;
    int64_t a = is_signed ? (int64_t)(call->a << 40) >> 40 : (int64_t)(call->a & 0xffffff);
    int64_t b = is_signed ? (int64_t)(call->b << 40) >> 40 : (int64_t)(call->b & 0xffffff);
    int64_t product = a * b;
    if (call->which & 2)
        product >>= 16;
    return product;
}

uint64_t ptx_scalar_MUL24(const struct ptx_scalar_call *call)
{
    return (uint64_t)product24(call);
}

uint64_t ptx_scalar_MAD24(const struct ptx_scalar_call *call)
{
    if (call->which & 4)
        return clamped(s32((uint64_t)product24(call)) + s32(call->c), INT32_MIN, INT32_MAX);
    return (uint64_t)product24(call) + call->c;
}

/* which: the size */
uint64_t ptx_scalar_SAD_U(const struct ptx_scalar_call *call)
{
    return (call->a < call->b ? call->b - call->a : call->a - call->b) + call->c;
}

uint64_t ptx_scalar_SAD_S(const struct ptx_scalar_call *call)
{
    unsigned above = 64 - call->which;
    int64_t a = (int64_t)(call->a << above) >> above, b = (int64_t)(call->b << above) >> above;
    return (a < b ? call->b - call->a : call->a - call->b) + call->c;
}

/* The position of the highest bit that differs from the sign, or its distance from the top. */
uint64_t ptx_scalar_BFIND(const struct ptx_scalar_call *call)
{
    unsigned bits = call->which >> 8;
    uint64_t a = call->a;
    if ((call->which & 1) && a >> (bits - 1) & 1)
        a = ~a & (bits == 64 ? UINT64_MAX : UINT32_MAX);
    if (!a)
        return UINT32_MAX;
    unsigned place = 63u - (unsigned)__builtin_clzll(a);
    return call->which & 2 ? bits - 1 - place : place;
}

/* Inserts e bits of a into b at position c; which: the size. For 64 bits, c and e are not reduced
 * to a byte, as observed on a device. */
uint64_t ptx_scalar_BFI(const struct ptx_scalar_call *call)
{
    uint64_t bits = call->which, counts = bits == 64 ? UINT32_MAX : 255, place = call->c & counts, length = call->e & counts;
    if (place >= bits || !length)
        return call->b;
    if (length > bits - place)
        length = bits - place;
    uint64_t mask = (length == 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1) << place;
    return (call->b & ~mask) | (call->a << place & mask);
}

/* The offset-th set bit from position b on: upward, or downward for a negative offset. */
uint64_t ptx_scalar_FNS(const struct ptx_scalar_call *call)
{
    int64_t base = (int64_t)(call->b & UINT32_MAX), offset = s32(call->c), step = offset < 0 ? -1 : 1;
    int64_t left = offset == 0 ? 1 : offset * step, place = base;
    if (offset == 0)
        return base < 32 && call->a >> base & 1 ? (uint64_t)base : UINT32_MAX;
    if (offset == INT32_MIN) /* as observed on a device: it has no negation */
        return 0;
    for (; place >= 0 && place < 32; place += step)
        if ((call->a >> place & 1) && --left == 0)
            return (uint64_t)place;
    return UINT32_MAX;
}

/* b bits from position a on. which: 1 wrap */
uint64_t ptx_scalar_BMSK(const struct ptx_scalar_call *call)
{
    uint64_t place = call->which & 1 ? call->a & 31 : call->a, count = call->which & 1 ? call->b & 31 : call->b;
    if (place > 31)
        return 0;
    uint64_t mask = count > 31 ? UINT32_MAX : (UINT64_C(1) << count) - 1;
    return mask << place & UINT32_MAX;
}

/* The low b bits, extended. which: 1 wrap, 2 signed */
uint64_t ptx_scalar_SZEXT(const struct ptx_scalar_call *call)
{
    uint64_t count = call->which & 1 ? call->b & 31 : call->b;
    if (count > 31)
        return call->a;
    if (!count)
        return 0;
    uint64_t low = call->a & ((UINT64_C(1) << count) - 1);
    return (call->which & 2) && low >> (count - 1) & 1 ? low | ~((UINT64_C(1) << count) - 1) : low;
}

/* ---- sums of products ---- */

static int64_t part(uint64_t a, unsigned i, unsigned bits, bool is_signed)
{
    uint64_t value = a >> bits * i & ((UINT64_C(1) << bits) - 1);
    return is_signed ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)value;
}

uint64_t ptx_scalar_DP4A(const struct ptx_scalar_call *call)
{
    uint64_t sum = call->c;
    for (unsigned i = 0; i < 4; i++)
        sum += (uint64_t)(part(call->a, i, 8, call->which & 1) * part(call->b, i, 8, call->which & 2));
    return sum;
}

uint64_t ptx_scalar_DP2A(const struct ptx_scalar_call *call)
{
    unsigned first = call->which & 4 ? 2 : 0;
    uint64_t sum = call->c;
    for (unsigned i = 0; i < 2; i++)
        sum += (uint64_t)(part(call->a, i, 16, call->which & 1) * part(call->b, first + i, 8, call->which & 2));
    return sum;
}

/* ---- narrowing ---- */

/* Saturates to the nearest representable number. which: from bits, 128 signed; to bits << 8, 128 << 8 signed */
uint64_t ptx_scalar_NARROW_SAT(const struct ptx_scalar_call *call)
{
    unsigned from = call->which & 127, to = call->which >> 8 & 127;
    bool from_signed = call->which & 128, to_signed = (call->which >> 8) & 128;
    uint64_t cut = from == 64 ? call->a : call->a & ((UINT64_C(1) << from) - 1);
    uint64_t most = to_signed ? UINT64_MAX >> (65 - to) : UINT64_MAX >> (64 - to);
    if (from_signed && cut >> (from - 1) & 1) {
        int64_t value = (int64_t)(cut << (64 - from)) >> (64 - from);
        int64_t least = to_signed ? -(int64_t)most - 1 : 0;
        return (uint64_t)(value < least ? least : value);
    }
    return cut > most ? most : cut;
}

/* cvt.pack: b and above it a, each saturated, and above these c. which: bits, 64 signed */
uint64_t ptx_scalar_PACK_SAT(const struct ptx_scalar_call *call)
{
    unsigned bits = call->which & 63;
    bool is_signed = call->which & 64;
    int64_t most = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t both = (clamped(s32(call->a), least, most) & mask) << bits | (clamped(s32(call->b), least, most) & mask);
    return both | call->c << 2 * bits;
}

/* ---- two numbers of 16 bits ---- */

/* With .relu, 0 instead of a negative number. */
static int not_below(const struct ptx_scalar_call *call, int value)
{
    return (call->which & 1) && value < 0 ? 0 : value;
}

#define PAIRS(NAME, TYPE, value)                                                       \
    uint64_t ptx_scalar_##NAME(const struct ptx_scalar_call *call)                     \
    {                                                                                  \
        uint64_t result = 0;                                                           \
        for (unsigned i = 0; i < 2; i++) {                                             \
            TYPE a = (TYPE)(call->a >> 16 * i), b = (TYPE)(call->b >> 16 * i);         \
            TYPE one = (TYPE)(value);                                                  \
            result |= (uint64_t)(uint16_t)one << 16 * i;                               \
        }                                                                              \
        return result;                                                                 \
    }

PAIRS(PAIR_ADD, uint16_t, (uint32_t)a + b)
PAIRS(PAIR_MIN_S, int16_t, not_below(call, a < b ? a : b))
PAIRS(PAIR_MIN_U, uint16_t, a < b ? a : b)
PAIRS(PAIR_MAX_S, int16_t, not_below(call, a > b ? a : b))
PAIRS(PAIR_MAX_U, uint16_t, a > b ? a : b)
