/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_steps.h - the implementation of steps: one function each, for the lanes in mask. Other lanes keep their values. */
#ifndef PTX_STEPS_H
#define PTX_STEPS_H

#include "ptx_warp.h"

typedef void (*ptx_step_function)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask);

/* Each file of steps is compiled twice, the second time for a processor with wider vectors (fast_*.c). */
#ifndef PTX_STEP_NAME
#define PTX_STEP_NAME(NAME) ptx_step_##NAME
#endif
#define PTX_STEP(NAME, fields) void PTX_STEP_NAME(NAME)(struct ptx_warp * warp, const struct ptx_op *op, uint32_t mask);
#include "ptx_steps.def"

/* The steps for this processor, by number; narrow: those for any processor. */
const ptx_step_function *ptx_step_functions(bool narrow);
/* The steps for wider vectors; NULL: this processor or this build has none. */
const ptx_step_function *ptx_step_functions_wide(void);

/* Steps from STEP_SHFL on involve other lanes or control flow: ptx_warp.c executes them itself. */
static inline bool ptx_is_plain(unsigned step)
{
    return step < STEP_SHFL;
}

/* The values of lanes in a slot, in the type that the step uses. */
typedef uint16_t __attribute__((may_alias)) ptx_u16;
typedef uint32_t __attribute__((may_alias)) ptx_u32;
typedef uint64_t __attribute__((may_alias)) ptx_u64;
typedef int16_t __attribute__((may_alias)) ptx_s16;
typedef int32_t __attribute__((may_alias)) ptx_s32;
typedef int64_t __attribute__((may_alias)) ptx_s64;
typedef float __attribute__((may_alias)) ptx_float;
typedef double __attribute__((may_alias)) ptx_double;

#define PTX_SLOT(type, slot) ((type *)(void *)(warp->registers + (size_t)(slot) * PTX_UNIT))

/* A loop over all lanes, whose iterations are independent. */
#ifdef __clang__
#define PTX_LANES_LOOP _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < PTX_LANES; i++)
#else
#define PTX_LANES_LOOP _Pragma("GCC ivdep") for (unsigned i = 0; i < PTX_LANES; i++)
#endif

extern const uint32_t ptx_lane_bit[PTX_LANES];

/* Stores the computed values of the lanes in mask into a slot. */
static inline void ptx_keep16(ptx_u16 *slot, const ptx_u16 *from, uint32_t mask)
{
    for (unsigned i = 0; i < PTX_LANES; i++)
        slot[i] = mask & ptx_lane_bit[i] ? from[i] : slot[i];
}

static inline void ptx_keep32(ptx_u32 *slot, const ptx_u32 *from, uint32_t mask)
{
    for (unsigned i = 0; i < PTX_LANES; i++)
        slot[i] = mask & ptx_lane_bit[i] ? from[i] : slot[i];
}

static inline void ptx_keep64(ptx_u64 *slot, const ptx_u64 *from, uint32_t mask)
{
    for (unsigned i = 0; i < PTX_LANES; i++)
        slot[i] = mask & ptx_lane_bit[i] ? from[i] : slot[i];
}

static inline void ptx_keep(unsigned bytes, void *slot, const void *from, uint32_t mask)
{
    if (bytes == 2)
        ptx_keep16(slot, from, mask);
    else if (bytes == 4)
        ptx_keep32(slot, from, mask);
    else
        ptx_keep64(slot, from, mask);
}

/* One value of 4 or 8 bytes for all lanes in mask. */
static inline void ptx_fill(const struct ptx_warp *warp, uint32_t slot, unsigned bytes, uint64_t value, uint32_t mask)
{
    ptx_u32 *four = PTX_SLOT(ptx_u32, slot);
    ptx_u64 *eight = PTX_SLOT(ptx_u64, slot);
    for (unsigned i = 0; i < PTX_LANES && bytes == 4; i++)
        four[i] = mask & ptx_lane_bit[i] ? (uint32_t)value : four[i];
    for (unsigned i = 0; i < PTX_LANES && bytes == 8; i++)
        eight[i] = mask & ptx_lane_bit[i] ? value : eight[i];
}

static inline void ptx_keep_predicate(struct ptx_warp *warp, uint32_t predicate, uint32_t truth, uint32_t mask)
{
    warp->predicates[predicate] = (warp->predicates[predicate] & ~mask) | (truth & mask);
}

/* A lane's value in a slot of registers of so many bytes. */
static inline uint64_t ptx_lane_value(const struct ptx_warp *warp, uint32_t slot, unsigned bytes, unsigned lane)
{
    switch (bytes) {
    case 2: return PTX_SLOT(ptx_u16, slot)[lane];
    case 4: return PTX_SLOT(ptx_u32, slot)[lane];
    default: return PTX_SLOT(ptx_u64, slot)[lane];
    }
}

static inline void ptx_lane_write(const struct ptx_warp *warp, uint32_t slot, unsigned bytes, unsigned lane, uint64_t value)
{
    switch (bytes) {
    case 2: PTX_SLOT(ptx_u16, slot)[lane] = (uint16_t)value; break;
    case 4: PTX_SLOT(ptx_u32, slot)[lane] = (uint32_t)value; break;
    default: PTX_SLOT(ptx_u64, slot)[lane] = value; break;
    }
}

#endif
