/* SPDX-License-Identifier: Apache-2.0 */
/* Packing and unpacking of registers, special registers, and functions of one lane. */
#include <string.h>

#include "posix.h"
#include "ptx_grid.h"
#include "ptx_memory.h"
#include "ptx_scalar.h"
#include "ptx_steps.h"
#include "ptx_words.h"

static const uint32_t *list_of(const struct ptx_warp *warp, const struct ptx_op *op)
{
    return warp->frame->routine->list + op->list;
}

/* ---- parts ---- */

void PTX_STEP_NAME(PACK)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    const uint32_t *list = list_of(warp, op);
    unsigned bytes = (unsigned)op->imm, held = bytes < 2 ? 2 : bytes;
    uint64_t part = UINT64_MAX >> (64 - 8 * bytes);
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        uint64_t value = 0;
        for (unsigned i = 0; i < op->count; i++)
            value |= (ptx_lane_value(warp, list[i], held, lane) & part) << 8 * bytes * i;
        ptx_lane_write(warp, op->d, op->bytes[0], lane, value);
    }
}

void PTX_STEP_NAME(UNPACK)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    const uint32_t *list = list_of(warp, op);
    unsigned bytes = (unsigned)op->imm, held = bytes < 2 ? 2 : bytes;
    uint64_t part = UINT64_MAX >> (64 - 8 * bytes);
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        uint64_t value = ptx_lane_value(warp, op->a, op->bytes[1], lane);
        for (unsigned i = 0; i < op->count; i++)
            ptx_lane_write(warp, list[i], held, lane, value >> 8 * bytes * i & part);
    }
}

/* ---- special registers ---- */

static uint64_t nanoseconds(void)
{
    struct timespec now;
    posix.clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One of the three dimensions; the fourth is 0, as observed on a device. */
static uint32_t dimension(const uint32_t three[3], unsigned part)
{
    return part < 3 ? three[part] : 0;
}

static uint64_t clock_of(const struct ptx_warp *warp)
{
    return atomic_load_explicit(&warp->block->grid->made, memory_order_relaxed) + warp->made;
}

/* As cooperative_groups/details/driver_abi.h of the toolkit reads it: the upper half in %envreg1, the lower one in %envreg2. */
static uint32_t environment(const struct ptx_launch *launch, unsigned part)
{
    const uint64_t workspace = launch->cooperative ? ptx_window(PTX_M_GRID) : 0;
    return part == 1 ? (uint32_t)(workspace >> 32) : part == 2 ? (uint32_t)workspace : 0;
}

/* Values that are the same in all lanes. */
static uint64_t uniform(const struct ptx_warp *warp, enum ptx_special which, unsigned part)
{
    const struct ptx_block *block = warp->block;
    const struct ptx_launch *launch = block->grid->launch;
    switch (which) {
    case PTX_SR_NTID: return dimension(launch->block, part);
    case PTX_SR_CTAID:
    case PTX_SR_CLUSTERID: return dimension(block->index, part);
    case PTX_SR_NCTAID:
    case PTX_SR_NCLUSTERID: return dimension(launch->grid, part);
    case PTX_SR_CLUSTER_NCTAID: return 1;
    case PTX_SR_CLUSTER_NCTARANK: return 1;
    case PTX_SR_WARPID: return warp->number;
    case PTX_SR_NWARPID: return 64; /* that fit on a multiprocessor */
    case PTX_SR_SMID: return launch->multiprocessors ? block->number % launch->multiprocessors : 0;
    case PTX_SR_NSMID: return launch->multiprocessors;
    case PTX_SR_GRIDID: return 1;
    case PTX_SR_CLOCK: return (uint32_t)clock_of(warp);
    case PTX_SR_CLOCK_HI: return clock_of(warp) >> 32;
    case PTX_SR_CLOCK64: return clock_of(warp);
    case PTX_SR_GLOBALTIMER: return nanoseconds();
    case PTX_SR_GLOBALTIMER_LO: return (uint32_t)nanoseconds();
    case PTX_SR_GLOBALTIMER_HI: return nanoseconds() >> 32;
    case PTX_SR_TOTAL_SMEM_SIZE:
    case PTX_SR_AGGR_SMEM_SIZE: return (block->grid->shared_bytes + PTX_SHARED_GRANULE - 1) / PTX_SHARED_GRANULE * PTX_SHARED_GRANULE;
    case PTX_SR_RESERVED_SMEM_END: return 0x120; /* of those that an H100 reserves */
    case PTX_SR_RESERVED_SMEM_CAP: return PTX_SHARED_BASE;
    case PTX_SR_ENVREG: return environment(launch, part);
    case PTX_SR_DYNAMIC_SMEM_SIZE: return launch->dynamic_shared;
    default: return 0; /* PTX_SR_RESERVED_SMEM_0 and _1 too: the system reserves nothing before the libraries' part */
    }
}

/* Values that differ between lanes. */
static uint32_t of_lane(enum ptx_special which, unsigned lane)
{
    uint32_t bit = UINT32_C(1) << lane;
    switch (which) {
    case PTX_SR_TID: return 0; /* .w */
    case PTX_SR_LANEID: return lane;
    case PTX_SR_LANEMASK_EQ: return bit;
    case PTX_SR_LANEMASK_LT: return bit - 1;
    case PTX_SR_LANEMASK_LE: return bit | (bit - 1);
    case PTX_SR_LANEMASK_GT: return ~(bit | (bit - 1));
    default: return ~(bit - 1);
    }
}

static bool is_of_lane(enum ptx_special which)
{
    return which == PTX_SR_TID || which == PTX_SR_LANEID || (which >= PTX_SR_LANEMASK_EQ && which <= PTX_SR_LANEMASK_GE);
}

void PTX_STEP_NAME(SPECIAL)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    const enum ptx_special which = (enum ptx_special)op->imm;
    if (!op->bytes[0]) { /* a predicate: whether the cluster was asked for */
        ptx_keep_predicate(warp, op->d, 0, mask);
        return;
    }
    if (!is_of_lane(which)) {
        ptx_fill(warp, op->d, op->bytes[0], uniform(warp, which, op->count), mask);
        return;
    }
    if (which == PTX_SR_TID && op->count < 3) {
        ptx_keep32(PTX_SLOT(ptx_u32, op->d), warp->tid[op->count], mask);
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1)
        ptx_lane_write(warp, op->d, 4, ptx_first_lane(left), of_lane(which, ptx_first_lane(left)));
}

/* ---- functions of one lane ---- */

static const ptx_scalar_function functions[PTX_SCALARS] = {
#define PTX_SCALAR(NAME) ptx_scalar_##NAME,
#include "ptx_scalars.def"
};

static void each_lane(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask, unsigned operands)
{
    const ptx_scalar_function function = functions[op->imm & 0xffff];
    struct ptx_scalar_call call = {.more = op->more, .which = (uint32_t)(op->imm >> 16)};
    const uint32_t *list = operands > 3 ? list_of(warp, op) : NULL;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        call.a = ptx_lane_value(warp, op->a, op->bytes[1], lane);
        if (operands > 1)
            call.b = ptx_lane_value(warp, op->b, op->bytes[2], lane);
        if (operands > 2)
            call.c = ptx_lane_value(warp, op->c, op->bytes[3], lane);
        if (list)
            call.e = ptx_lane_value(warp, list[0], 4, lane);
        ptx_lane_write(warp, op->d, op->bytes[0], lane, function(&call));
    }
}

void PTX_STEP_NAME(SCALAR1)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    each_lane(warp, op, mask, 1);
}

void PTX_STEP_NAME(SCALAR2)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    each_lane(warp, op, mask, 2);
}

void PTX_STEP_NAME(SCALAR3)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    each_lane(warp, op, mask, 3);
}

void PTX_STEP_NAME(SCALAR4)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    each_lane(warp, op, mask, 4);
}

/* ---- addresses ---- */

void PTX_STEP_NAME(LOCAL_ADDRESS)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    ptx_fill(warp, op->d, op->bytes[0], warp->frame->local + (uint64_t)op->imm, mask);
}

/* Constant variables are in device memory like others. */
static bool is_constant(const struct ptx_launch *launch, uint64_t at)
{
    const struct ptx_program *program = launch->program;
    for (uint32_t i = 0; i < program->global_count; i++)
        if (program->globals[i].constant && at - launch->globals[i] < program->globals[i].size)
            return true;
    return false;
}

/* As on a device, a parameter's generic address also counts as global memory, but that of a
 * constant variable does not. more: 1 constant memory. */
static bool space_is(const struct ptx_launch *launch, const struct ptx_op *op, uint64_t at)
{
    enum ptx_memory space = ptx_space_of(&at), want = (enum ptx_memory)op->imm;
    if (op->more || (want == PTX_M_GLOBAL && space == PTX_M_GLOBAL))
        return space == PTX_M_GLOBAL && is_constant(launch, at) == (op->more == 1);
    return space == want || (want == PTX_M_GLOBAL && space >= PTX_M_KERNEL_PARAM);
}

void PTX_STEP_NAME(SPACE_IS)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    uint32_t truth = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        if (space_is(warp->block->grid->launch, op, ptx_lane_value(warp, op->a, op->bytes[1], ptx_first_lane(left))))
            truth |= left & -left;
    ptx_keep_predicate(warp, op->d, truth, mask);
}

void PTX_STEP_NAME(TO_GENERIC)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    uint64_t window = ptx_window((enum ptx_memory)op->imm);
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        uint64_t at = ptx_lane_value(warp, op->a, op->bytes[1], lane);
        ptx_lane_write(warp, op->d, op->bytes[0], lane, window + (at & (PTX_WINDOW_SIZE - 1)));
    }
}

void PTX_STEP_NAME(FROM_GENERIC)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        ptx_lane_write(warp, op->d, op->bytes[0], lane, ptx_lane_value(warp, op->a, op->bytes[1], lane) & (PTX_WINDOW_SIZE - 1));
    }
}

/* After the routine's frame; the same for all participating lanes. */
void PTX_STEP_NAME(STACK_SAVE)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    for (uint32_t left = mask; left; left &= left - 1)
        ptx_lane_write(warp, op->d, op->bytes[0], ptx_first_lane(left), warp->frame->extra);
}

void PTX_STEP_NAME(STACK_RESTORE)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    uint64_t extra = ptx_lane_value(warp, op->a, op->bytes[1], ptx_first_lane(mask));
    if (extra <= warp->frame->extra)
        warp->frame->extra = (uint32_t)extra;
}

void PTX_STEP_NAME(ALLOCA)(struct ptx_warp *warp, const struct ptx_op *op, uint32_t mask)
{
    struct ptx_frame *frame = warp->frame;
    uint64_t most = 0, begin = frame->local + frame->routine->frame + frame->extra, align = (uint64_t)op->imm;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint64_t size = ptx_lane_value(warp, op->a, op->bytes[1], ptx_first_lane(left));
        most = size > most ? size : most;
    }
    begin = (begin + align - 1) / align * align;
    uint32_t limit = warp->block->grid->launch->local_most;
    if (most > limit || begin + most > limit) {
        ptx_warp_fail(warp, PTX_END_STACK, mask, begin, 0, TWIN_WRITE);
        return;
    }
    frame->extra = (uint32_t)(begin + most - frame->local - frame->routine->frame);
    for (uint32_t left = mask; left; left &= left - 1)
        ptx_lane_write(warp, op->d, op->bytes[0], ptx_first_lane(left), begin);
}
