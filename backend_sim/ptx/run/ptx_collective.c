/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_collective.h"

#include <string.h>

#include "ptx_calls.h"
#include "ptx_steps.h"

/* The inputs and results of the lanes. */
struct collective {
    const struct ptx_op *op;
    uint32_t members; /* the mask that they specify */
    uint32_t lanes;   /* the participating lanes */
    uint64_t a[PTX_LANES];
    uint32_t b[PTX_LANES], c[PTX_LANES], truth;
    uint64_t d[PTX_LANES];
    uint32_t judged; /* the predicate to write */
};

/* The field or list entry that holds the member mask. */
static uint32_t members_slot(const struct ptx_frame *frame, const struct ptx_op *op)
{
    switch (op->step) {
    case STEP_SHFL: return frame->routine->list[op->list];
    case STEP_VOTE:
    case STEP_MATCH:
    case STEP_REDUX: return op->b;
    default: return op->a; /* ELECT, WARP_SYNC */
    }
}

static bool is_joint(const struct ptx_op *op)
{
    return (op->step != STEP_SHFL && op->step != STEP_VOTE) || op->more & 1;
}

static const ptx_u32 *slot32(const struct ptx_frame *frame, uint32_t slot)
{
    return (const ptx_u32 *)(const void *)(frame->registers + (size_t)slot * PTX_UNIT);
}

static const ptx_u64 *slot64(const struct ptx_frame *frame, uint32_t slot)
{
    return (const ptx_u64 *)(const void *)(frame->registers + (size_t)slot * PTX_UNIT);
}

static void gather(struct collective *c, const struct ptx_frame *frame, const struct ptx_op *op, uint32_t lanes)
{
    c->lanes |= lanes;
    if (op->step == STEP_VOTE) {
        c->truth |= frame->predicates[op->a] & lanes;
        return;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        if (op->step == STEP_SHFL || op->step == STEP_REDUX || op->step == STEP_MATCH)
            c->a[lane] = op->bytes[1] == 8 ? slot64(frame, op->a)[lane] : slot32(frame, op->a)[lane];
        if (op->step == STEP_SHFL) {
            c->b[lane] = slot32(frame, op->b)[lane];
            c->c[lane] = slot32(frame, op->c)[lane];
        }
    }
}

/* ---- the result of each step ---- */

/* The source lane of a shuffle; *within: it is in the lane's segment. */
static unsigned source_lane(enum ptx_shuffle mode, unsigned lane, uint32_t b, uint32_t c, bool *within)
{
    unsigned segment = c >> 8 & 31, clamp = c & 31, last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    unsigned by = b & 31;
    int from;
    switch (mode) {
    case PTX_SHUFFLE_UP:
        from = (int)lane - (int)by;
        *within = from >= (int)last;
        break;
    case PTX_SHUFFLE_DOWN:
        from = (int)(lane + by);
        *within = from <= (int)last;
        break;
    case PTX_SHUFFLE_BFLY:
        from = (int)(lane ^ by);
        *within = from <= (int)last;
        break;
    default:
        from = (int)(first | (by & ~segment));
        *within = from <= (int)last;
        break;
    }
    return *within ? (unsigned)from & 31 : lane;
}

/* For a source lane that does not take part, the result is the lane's own value; the documentation leaves it undefined. */
static void shuffle(struct collective *c)
{
    for (uint32_t left = c->lanes; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        bool within;
        unsigned from = source_lane((enum ptx_shuffle)c->op->imm, lane, c->b[lane], c->c[lane], &within);
        c->d[lane] = c->lanes >> from & 1 ? c->a[from] : c->a[lane];
        c->judged |= within ? left & -left : 0;
    }
}

static void vote(struct collective *c)
{
    uint32_t all = c->lanes, answer;
    switch ((enum ptx_vote)c->op->imm) {
    case PTX_VOTE_ALL: answer = c->truth == all; break;
    case PTX_VOTE_ANY: answer = c->truth != 0; break;
    case PTX_VOTE_UNI: answer = c->truth == all || !c->truth; break;
    default: answer = c->truth; break;
    }
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        c->d[lane] = answer;
    c->judged = answer ? PTX_ALL : 0;
}

static void match(struct collective *c)
{
    bool all = true;
    for (uint32_t left = c->lanes; left; left &= left - 1) {
        unsigned lane = ptx_first_lane(left);
        uint32_t same = 0;
        for (uint32_t others = c->lanes; others; others &= others - 1)
            if (c->a[ptx_first_lane(others)] == c->a[lane])
                same |= others & -others;
        c->d[lane] = same;
        all = all && same == c->lanes;
    }
    if (!(c->op->more & 1))
        return;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        c->d[lane] = all ? c->lanes : 0;
    c->judged = all ? PTX_ALL : 0;
}

static uint32_t fold(enum ptx_fold how, bool is_signed, uint32_t a, uint32_t b)
{
    bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (how) {
    case PTX_FOLD_ADD: return a + b;
    case PTX_FOLD_MIN: return less ? a : b;
    case PTX_FOLD_MAX: return less ? b : a;
    case PTX_FOLD_AND: return a & b;
    case PTX_FOLD_OR: return a | b;
    default: return a ^ b;
    }
}

static void reduce(struct collective *c)
{
    uint32_t left = c->lanes, value = (uint32_t)c->a[ptx_first_lane(left)];
    for (left &= left - 1; left; left &= left - 1)
        value = fold((enum ptx_fold)c->op->imm, c->op->more, value, (uint32_t)c->a[ptx_first_lane(left)]);
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        c->d[lane] = value;
}

static void compute(struct collective *c)
{
    switch (c->op->step) {
    case STEP_SHFL: shuffle(c); break;
    case STEP_VOTE: vote(c); break;
    case STEP_MATCH: match(c); break;
    case STEP_REDUX: reduce(c); break;
    case STEP_ELECT:
        for (unsigned lane = 0; lane < PTX_LANES; lane++)
            c->d[lane] = ptx_first_lane(c->lanes);
        c->judged = c->lanes & -c->lanes;
        break;
    default: break;
    }
}

static void keep_judged(struct ptx_frame *frame, uint32_t predicate, uint32_t truth, uint32_t lanes)
{
    frame->predicates[predicate] = (frame->predicates[predicate] & ~lanes) | (truth & lanes);
}

static void scatter(const struct collective *c, struct ptx_frame *frame, const struct ptx_op *op, uint32_t lanes)
{
    const uint32_t *list = frame->routine->list + op->list;
    unsigned judge = op->step == STEP_SHFL ? 1 : 0;
    if (op->step == STEP_WARP_SYNC)
        return;
    if (op->step == STEP_VOTE && op->imm != PTX_VOTE_BALLOT) {
        keep_judged(frame, op->d, c->judged, lanes);
        return;
    }
    ptx_u32 *d = (ptx_u32 *)(void *)(frame->registers + (size_t)op->d * PTX_UNIT);
    for (uint32_t left = lanes; left; left &= left - 1)
        d[ptx_first_lane(left)] = (uint32_t)c->d[ptx_first_lane(left)];
    if (op->count > judge)
        keep_judged(frame, list[judge], c->judged, lanes);
}

/* ---- participating lanes ---- */

/* Steps of the same kind count as one even at different positions in the code. */
static bool is_same(const struct ptx_op *a, const struct ptx_op *b)
{
    return a->step == b->step && a->imm == b->imm && (a->more & 1) == (b->more & 1) && a->bytes[1] == b->bytes[1];
}

static const struct ptx_op *op_of(const struct ptx_split *s)
{
    return &s->frame->routine->ops[s->step];
}

static bool waits_for(const struct ptx_split *s, const struct ptx_op *op, uint32_t members)
{
    return s->state == PTX_WAITS_WARP && s->members == members && is_same(op_of(s), op);
}

/* Executes the step for all splits that wait for it, once all expected lanes have arrived. */
static bool complete(struct ptx_warp *warp, const struct ptx_op *op, uint32_t members)
{
    struct collective c = {.op = op, .members = members};
    uint32_t there = 0;
    for (uint32_t i = 0; i < warp->splits; i++)
        if (waits_for(&warp->split[i], op, members))
            there |= warp->split[i].mask;
    if (members & warp->alive & ~there)
        return false;
    for (uint32_t i = 0; i < warp->splits; i++)
        if (waits_for(&warp->split[i], op, members))
            gather(&c, warp->split[i].frame, op_of(&warp->split[i]), warp->split[i].mask);
    compute(&c);
    for (uint32_t i = 0; i < warp->splits; i++) {
        struct ptx_split *s = &warp->split[i];
        if (!waits_for(s, op, members))
            continue;
        scatter(&c, s->frame, op_of(s), s->mask);
        s->state = PTX_READY;
        s->step++;
    }
    return true;
}

void ptx_collective_look(struct ptx_warp *warp)
{
    for (uint32_t i = 0; i < warp->splits; i++)
        if (warp->split[i].state == PTX_WAITS_WARP)
            complete(warp, op_of(&warp->split[i]), warp->split[i].members);
}

/* The usual case: one split with all members. */
static void at_once(const struct ptx_split *s, const struct ptx_op *op, uint32_t members, uint32_t lanes)
{
    struct collective c = {.op = op, .members = members};
    gather(&c, s->frame, op, lanes);
    compute(&c);
    scatter(&c, s->frame, op, lanes);
}

/* The lanes whose mask equals the first lane's. */
static uint32_t group_of(const ptx_u32 *masks, uint32_t lanes, uint32_t *members)
{
    uint32_t group = 0;
    *members = masks[ptx_first_lane(lanes)];
    for (uint32_t left = lanes; left; left &= left - 1)
        if (masks[ptx_first_lane(left)] == *members)
            group |= left & -left;
    return group;
}

bool ptx_collective(struct ptx_warp *warp, struct ptx_split *s, const struct ptx_op *op, uint32_t lanes)
{
    bool waits = false;
    if (op->step == STEP_ACTIVEMASK) {
        ptx_u32 *d = PTX_SLOT(ptx_u32, op->d);
        for (uint32_t left = lanes; left; left &= left - 1)
            d[ptx_first_lane(left)] = lanes;
        s->step++;
        return true;
    }
    if (!is_joint(op)) {
        at_once(s, op, lanes, lanes);
        s->step++;
        return true;
    }
    const ptx_u32 *masks = slot32(s->frame, members_slot(s->frame, op));
    for (uint32_t left = lanes, members; left;) {
        uint32_t group = group_of(masks, left, &members);
        left &= ~group;
        if (!(members & warp->alive & ~group)) {
            at_once(s, op, members, group);
            continue;
        }
        struct ptx_split *other = group == s->mask ? s : ptx_warp_part(warp, s, group, s->step);
        other->state = PTX_WAITS_WARP;
        other->members = members;
        complete(warp, op, members);
        waits = true;
        if (other == s)
            return false;
    }
    s->step++;
    return !waits;
}
