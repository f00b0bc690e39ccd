/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons into predicates, operations on predicates, and selections. */
#include "ptx_steps.h"

/* more: 1 inverts the result. */
#define COMPARE(NAME, TYPE, truth) COMPARISON(NAME, TYPE, truth, op->more & 1 ? ~bits : bits)
#define COMPARISON(NAME, TYPE, truth, answer)                                                   \
    void PTX_STEP_NAME(NAME)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)         \
    {                                                                                           \
        const TYPE *as = PTX_SLOT(const TYPE, op->a), *bs = PTX_SLOT(const TYPE, op->b);        \
        uint32_t bits = 0;                                                                      \
        for (unsigned i = 0; i < PTX_LANES; i++) {                                              \
            const TYPE a = as[i], b = bs[i];                                                    \
            bits |= (truth) ? ptx_lane_bit[i] : 0;                                              \
        }                                                                                       \
        ptx_keep_predicate(warp, op->d, answer, mask);                                          \
    }

COMPARE(EQ16, ptx_u16, a == b)
COMPARE(EQ32, ptx_u32, a == b)
COMPARE(EQ64, ptx_u64, a == b)
COMPARISON(LT_S16, ptx_s16, a < b, bits)
COMPARISON(LT_S32, ptx_s32, a < b, bits)
COMPARISON(LT_S64, ptx_s64, a < b, bits)
COMPARISON(LE_S16, ptx_s16, a <= b, bits)
COMPARISON(LE_S32, ptx_s32, a <= b, bits)
COMPARISON(LE_S64, ptx_s64, a <= b, bits)
COMPARISON(LT_U16, ptx_u16, a < b, bits)
COMPARISON(LT_U32, ptx_u32, a < b, bits)
COMPARISON(LT_U64, ptx_u64, a < b, bits)
COMPARISON(LE_U16, ptx_u16, a <= b, bits)
COMPARISON(LE_U32, ptx_u32, a <= b, bits)
COMPARISON(LE_U64, ptx_u64, a <= b, bits)
COMPARE(EQ_F32, ptx_float, a == b)
COMPARE(LT_F32, ptx_float, a < b)
COMPARE(LE_F32, ptx_float, a <= b)
COMPARE(NUM_F32, ptx_float, !__builtin_isunordered(a, b))
COMPARE(EQ_F64, ptx_double, a == b)
COMPARE(LT_F64, ptx_double, a < b)
COMPARE(LE_F64, ptx_double, a <= b)
COMPARE(NUM_F64, ptx_double, !__builtin_isunordered(a, b))

#define PREDICATES(NAME, truth)                                                                 \
    void PTX_STEP_NAME(NAME)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)         \
    {                                                                                           \
        uint32_t a = warp->predicates[op->a], b = warp->predicates[op->b];                      \
        (void)b;                                                                                \
        ptx_keep_predicate(warp, op->d, truth, mask);                                           \
    }

PREDICATES(MOVP, a)
PREDICATES(NOTP, ~a)
PREDICATES(ANDP, a &b)
PREDICATES(ORP, a | b)
PREDICATES(XORP, a ^ b)

#define SELECT(SIZE)                                                                                       \
    void PTX_STEP_NAME(SEL##SIZE)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)                 \
    {                                                                                                      \
        ptx_u##SIZE kept[PTX_LANES], *slot = PTX_SLOT(ptx_u##SIZE, op->d), *to = mask == PTX_ALL ? slot : kept; \
        const ptx_u##SIZE *as = PTX_SLOT(const ptx_u##SIZE, op->a), *bs = PTX_SLOT(const ptx_u##SIZE, op->b); \
        uint32_t truth = warp->predicates[op->c];                                                          \
        PTX_LANES_LOOP                                                                                     \
            to[i] = truth & ptx_lane_bit[i] ? as[i] : bs[i];                                               \
        if (mask != PTX_ALL)                                                                               \
            ptx_keep##SIZE(slot, kept, mask);                                                              \
    }

SELECT(16)
SELECT(32)
SELECT(64)

#define MOVE(SIZE)                                                                                         \
    void PTX_STEP_NAME(MOV##SIZE)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)                 \
    {                                                                                                      \
        ptx_u##SIZE *slot = PTX_SLOT(ptx_u##SIZE, op->d);                                                  \
        const ptx_u##SIZE *as = PTX_SLOT(const ptx_u##SIZE, op->a);                                        \
        if (mask == PTX_ALL) {                                                                             \
            PTX_LANES_LOOP                                                                                 \
                slot[i] = as[i];                                                                           \
        } else                                                                                             \
            ptx_keep##SIZE(slot, as, mask);                                                                \
    }

MOVE(16)
MOVE(32)
MOVE(64)
