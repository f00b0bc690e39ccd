/* SPDX-License-Identifier: Apache-2.0 */
/* Integers and logic. Signed sums are computed as unsigned ones, which wrap. */
#include "ptx_steps.h"

__extension__ typedef unsigned __int128 wide_u;
__extension__ typedef __int128 wide_s;

#define STEP3(NAME, SIZE, D, A, B, C, value)                                                    \
    void PTX_STEP_NAME(NAME)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)         \
    {                                                                                           \
        D kept[PTX_LANES], *slot = PTX_SLOT(D, op->d), *to = mask == PTX_ALL ? slot : kept;     \
        const A *as = PTX_SLOT(const A, op->a);                                                 \
        const B *bs = PTX_SLOT(const B, op->b);                                                 \
        const C *cs = PTX_SLOT(const C, op->c);                                                 \
        PTX_LANES_LOOP                                                                          \
        {                                                                                       \
            const A a = as[i];                                                                  \
            const B b = bs[i];                                                                  \
            const C c = cs[i];                                                                  \
            (void)c, (void)b;                                                                   \
            to[i] = (D)(value);                                                                 \
        }                                                                                       \
        if (mask != PTX_ALL)                                                                    \
            ptx_keep##SIZE((void *)slot, (void *)kept, mask);                                   \
    }
#define STEP2(NAME, SIZE, D, A, B, value)                                                       \
    void PTX_STEP_NAME(NAME)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)         \
    {                                                                                           \
        D kept[PTX_LANES], *slot = PTX_SLOT(D, op->d), *to = mask == PTX_ALL ? slot : kept;     \
        const A *as = PTX_SLOT(const A, op->a);                                                 \
        const B *bs = PTX_SLOT(const B, op->b);                                                 \
        PTX_LANES_LOOP                                                                          \
        {                                                                                       \
            const A a = as[i];                                                                  \
            const B b = bs[i];                                                                  \
            to[i] = (D)(value);                                                                 \
        }                                                                                       \
        if (mask != PTX_ALL)                                                                    \
            ptx_keep##SIZE((void *)slot, (void *)kept, mask);                                   \
    }
#define STEP1(NAME, SIZE, D, A, value)                                                          \
    void PTX_STEP_NAME(NAME)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)         \
    {                                                                                           \
        D kept[PTX_LANES], *slot = PTX_SLOT(D, op->d), *to = mask == PTX_ALL ? slot : kept;     \
        const A *as = PTX_SLOT(const A, op->a);                                                 \
        PTX_LANES_LOOP                                                                          \
        {                                                                                       \
            const A a = as[i];                                                                  \
            to[i] = (D)(value);                                                                 \
        }                                                                                       \
        if (mask != PTX_ALL)                                                                    \
            ptx_keep##SIZE((void *)slot, (void *)kept, mask);                                   \
    }
#define UNSIGNED2(NAME, value)                                  \
    STEP2(NAME##16, 16, ptx_u16, ptx_u16, ptx_u16, value)       \
    STEP2(NAME##32, 32, ptx_u32, ptx_u32, ptx_u32, value)       \
    STEP2(NAME##64, 64, ptx_u64, ptx_u64, ptx_u64, value)
#define SIGNED2(NAME, value)                                    \
    STEP2(NAME##16, 16, ptx_s16, ptx_s16, ptx_s16, value)       \
    STEP2(NAME##32, 32, ptx_s32, ptx_s32, ptx_s32, value)       \
    STEP2(NAME##64, 64, ptx_s64, ptx_s64, ptx_s64, value)

UNSIGNED2(ADD, a + b)
UNSIGNED2(SUB, a - b)
UNSIGNED2(AND, a & b)
UNSIGNED2(OR, a | b)
UNSIGNED2(XOR, a ^ b)
UNSIGNED2(MIN_U, a < b ? a : b)
UNSIGNED2(MAX_U, a > b ? a : b)
SIGNED2(MIN_S, a < b ? a : b)
SIGNED2(MAX_S, a > b ? a : b)

STEP2(MUL16, 16, ptx_u16, ptx_u16, ptx_u16, (uint32_t)a *b)
STEP2(MUL32, 32, ptx_u32, ptx_u32, ptx_u32, a *b)
STEP2(MUL64, 64, ptx_u64, ptx_u64, ptx_u64, a *b)
STEP3(MAD16, 16, ptx_u16, ptx_u16, ptx_u16, ptx_u16, (uint32_t)a *b + c)
STEP3(MAD32, 32, ptx_u32, ptx_u32, ptx_u32, ptx_u32, a *b + c)
STEP3(MAD64, 64, ptx_u64, ptx_u64, ptx_u64, ptx_u64, a *b + c)
STEP2(MULHI_S16, 16, ptx_s16, ptx_s16, ptx_s16, ((int32_t)a * b) >> 16)
STEP2(MULHI_S32, 32, ptx_s32, ptx_s32, ptx_s32, ((int64_t)a * b) >> 32)
STEP2(MULHI_S64, 64, ptx_s64, ptx_s64, ptx_s64, ((wide_s)a * b) >> 64)
STEP2(MULHI_U16, 16, ptx_u16, ptx_u16, ptx_u16, ((uint32_t)a * b) >> 16)
STEP2(MULHI_U32, 32, ptx_u32, ptx_u32, ptx_u32, ((uint64_t)a * b) >> 32)
STEP2(MULHI_U64, 64, ptx_u64, ptx_u64, ptx_u64, ((wide_u)a * b) >> 64)
STEP2(MULWIDE_S16, 32, ptx_s32, ptx_s16, ptx_s16, (int32_t)a *b)
STEP2(MULWIDE_S32, 64, ptx_s64, ptx_s32, ptx_s32, (int64_t)a *b)
STEP2(MULWIDE_U16, 32, ptx_u32, ptx_u16, ptx_u16, (uint32_t)a *b)
STEP2(MULWIDE_U32, 64, ptx_u64, ptx_u32, ptx_u32, (uint64_t)a *b)

/* Division by zero yields all ones; the smallest number divided by -1 yields itself. */
UNSIGNED2(DIV_U, b ? a / b : -(b + 1))
UNSIGNED2(REM_U, b ? a % b : -(b + 1))
STEP2(DIV_S16, 16, ptx_s16, ptx_s16, ptx_s16, b ? a / b : -1)
STEP2(DIV_S32, 32, ptx_s32, ptx_s32, ptx_s32, !b ? -1 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b)
STEP2(DIV_S64, 64, ptx_s64, ptx_s64, ptx_s64, !b ? -1 : b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b)
STEP2(REM_S16, 16, ptx_s16, ptx_s16, ptx_s16, b ? a % b : -1)
STEP2(REM_S32, 32, ptx_s32, ptx_s32, ptx_s32, !b ? -1 : b == -1 ? 0 : a % b)
STEP2(REM_S64, 64, ptx_s64, ptx_s64, ptx_s64, !b ? -1 : b == -1 ? 0 : a % b)

STEP1(ABS_S16, 16, ptx_u16, ptx_s16, a < 0 ? 0 - (unsigned)a : (unsigned)a)
STEP1(ABS_S32, 32, ptx_u32, ptx_s32, a < 0 ? 0 - (uint32_t)a : (uint32_t)a)
STEP1(ABS_S64, 64, ptx_u64, ptx_s64, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)
STEP1(NOT16, 16, ptx_u16, ptx_u16, ~a)
STEP1(NOT32, 32, ptx_u32, ptx_u32, ~a)
STEP1(NOT64, 64, ptx_u64, ptx_u64, ~a)

/* A shift by the register's width or more shifts out all bits. */
STEP2(SHL16, 16, ptx_u16, ptx_u16, ptx_u32, b > 15 ? 0 : (uint32_t)a << (b & 15))
STEP2(SHL32, 32, ptx_u32, ptx_u32, ptx_u32, b > 31 ? 0 : a << (b & 31))
STEP2(SHL64, 64, ptx_u64, ptx_u64, ptx_u32, b > 63 ? 0 : a << (b & 63))
STEP2(SHR_U16, 16, ptx_u16, ptx_u16, ptx_u32, b > 15 ? 0 : a >> (b & 15))
STEP2(SHR_U32, 32, ptx_u32, ptx_u32, ptx_u32, b > 31 ? 0 : a >> (b & 31))
STEP2(SHR_U64, 64, ptx_u64, ptx_u64, ptx_u32, b > 63 ? 0 : a >> (b & 63))
STEP2(SHR_S16, 16, ptx_s16, ptx_s16, ptx_u32, a >> (b > 15 ? 15 : b))
STEP2(SHR_S32, 32, ptx_s32, ptx_s32, ptx_u32, a >> (b > 31 ? 31 : b))
STEP2(SHR_S64, 64, ptx_s64, ptx_s64, ptx_u32, a >> (b > 63 ? 63 : b))

/* ---- bits ---- */

static uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    for (unsigned row = 0; row < 8; row++)
        if (table >> row & 1)
            result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return result;
}

STEP3(LOP3, 32, ptx_u32, ptx_u32, ptx_u32, ptx_u32, lop3(a, b, c, (uint32_t)op->imm))

static uint32_t amount(uint32_t c, unsigned clamped)
{
    return !clamped ? c & 31 : c > 32 ? 32 : c;
}

STEP3(SHF_L, 32, ptx_u32, ptx_u32, ptx_u32, ptx_u32, (((uint64_t)b << 32 | a) << amount(c, op->more)) >> 32)
STEP3(SHF_R, 32, ptx_u32, ptx_u32, ptx_u32, ptx_u32, ((uint64_t)b << 32 | a) >> amount(c, op->more))

/* The selector's nibbles of prmt's modes. */
static uint32_t selector(uint32_t c, int64_t mode)
{
    static const uint16_t table[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
                                         {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
                                         {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    return mode ? table[mode - 1][c & 3] : c;
}

static uint32_t permute(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t nibble = c >> 4 * i & 15, byte = (uint32_t)(bytes >> 8 * (nibble & 7)) & 255;
        if (nibble & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

STEP3(PRMT, 32, ptx_u32, ptx_u32, ptx_u32, ptx_u32, permute(a, b, selector(c, op->imm)))

/* length bits from a position on; beyond the number's end its sign, or zeros. For 32 bits only the
 * low byte of both counts, as documented; for 64 bits a device was observed to use all bits. */
static uint64_t extract(uint64_t a, uint64_t place, uint64_t length, unsigned bits, bool is_signed)
{
    place &= bits == 64 ? UINT32_MAX : 255;
    length &= bits == 64 ? UINT32_MAX : 255;
    if (!length)
        return 0;
    uint64_t last = place + length - 1 < bits - 1 ? place + length - 1 : bits - 1;
    uint64_t sign = is_signed && (a >> last & 1) ? UINT64_MAX : 0;
    if (place >= bits)
        return sign;
    uint64_t field = a >> place;
    if (length > 63)
        return bits == 64 ? (place ? field | sign << (64 - place) : field) : field | (sign << (bits - place));
    uint64_t have = length < bits - place ? length : bits - place;
    return (field & ((UINT64_C(1) << have) - 1)) | sign << have;
}

STEP3(BFE_S32, 32, ptx_u32, ptx_u32, ptx_u32, ptx_u32, extract(a, b, c, 32, true))
STEP3(BFE_U32, 32, ptx_u32, ptx_u32, ptx_u32, ptx_u32, extract(a, b, c, 32, false))
STEP3(BFE_S64, 64, ptx_u64, ptx_u64, ptx_u32, ptx_u32, extract(a, b, c, 64, true))
STEP3(BFE_U64, 64, ptx_u64, ptx_u64, ptx_u32, ptx_u32, extract(a, b, c, 64, false))
STEP1(POPC32, 32, ptx_u32, ptx_u32, __builtin_popcount(a))
STEP1(POPC64, 32, ptx_u32, ptx_u64, __builtin_popcountll(a))
STEP1(CLZ32, 32, ptx_u32, ptx_u32, a ? __builtin_clz(a) : 32)
STEP1(CLZ64, 32, ptx_u32, ptx_u64, a ? __builtin_clzll(a) : 64)

static uint64_t reversed(uint64_t x)
{
    x = (x >> 1 & UINT64_C(0x5555555555555555)) | (x & UINT64_C(0x5555555555555555)) << 1;
    x = (x >> 2 & UINT64_C(0x3333333333333333)) | (x & UINT64_C(0x3333333333333333)) << 2;
    x = (x >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(x);
}

STEP1(BREV32, 32, ptx_u32, ptx_u32, reversed(a) >> 32)
STEP1(BREV64, 64, ptx_u64, ptx_u64, reversed(a))

/* The last n bits of a number, extended. */
static int64_t extended(uint64_t x, int64_t n)
{
    return (int64_t)(x << (64 - n)) >> (64 - n);
}

static uint64_t cut(uint64_t x, int64_t n)
{
    return x << (64 - n) >> (64 - n);
}

#define EXT(FROM, TO, SIZE)                                                              \
    STEP1(EXT_S_##FROM##_##TO, SIZE, ptx_u##TO, ptx_u##FROM, extended(a, op->imm))       \
    STEP1(EXT_U_##FROM##_##TO, SIZE, ptx_u##TO, ptx_u##FROM, cut(a, op->imm))
EXT(16, 16, 16)
EXT(16, 32, 32)
EXT(16, 64, 64)
EXT(32, 16, 16)
EXT(32, 32, 32)
EXT(32, 64, 64)
EXT(64, 16, 16)
EXT(64, 32, 32)
EXT(64, 64, 64)

/* ---- with the carry ---- */

static uint64_t carried(const struct ptx_op *op, uint64_t a, uint64_t b, uint64_t c, uint64_t in, bool *out)
{
    unsigned bits = 8u * op->bytes[0];
    uint64_t all = bits == 64 ? UINT64_MAX : UINT32_MAX, high;
    wide_u sum;
    switch ((enum ptx_carry)op->imm) {
    case PTX_CARRY_ADD: sum = (wide_u)a + b + in; break;
    case PTX_CARRY_SUB: /* the carry is a borrow */
        *out = (wide_u)a < (wide_u)b + in;
        return (a - b - in) & all;
    case PTX_CARRY_MAD: sum = (wide_u)(a * b & all) + c + in; break;
    case PTX_CARRY_MADHI_U:
        high = (uint64_t)(((wide_u)a * b) >> bits) & all;
        sum = (wide_u)high + c + in;
        break;
    default:
        high = bits == 64 ? (uint64_t)(((wide_s)(int64_t)a * (int64_t)b) >> 64)
                          : (uint64_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32) & all;
        sum = (wide_u)high + c + in;
        break;
    }
    *out = sum >> bits & 1;
    return (uint64_t)sum & all;
}

void PTX_STEP_NAME(CARRY)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    unsigned bytes = op->bytes[0];
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        uint32_t bit = left & -left;
        bool out;
        uint64_t in = op->more & PTX_CARRY_IN ? (warp->frame->carry & bit) != 0 : 0;
        uint64_t c = op->imm >= PTX_CARRY_MAD ? ptx_lane_value(warp, op->c, bytes, lane) : 0;
        uint64_t value = carried(op, ptx_lane_value(warp, op->a, bytes, lane), ptx_lane_value(warp, op->b, bytes, lane), c, in, &out);
        ptx_lane_write(warp, op->d, bytes, lane, value);
        if (op->more & PTX_CARRY_OUT)
            warp->frame->carry = out ? warp->frame->carry | bit : warp->frame->carry & ~bit;
    }
}
