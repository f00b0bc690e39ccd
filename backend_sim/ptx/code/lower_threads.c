/* SPDX-License-Identifier: Apache-2.0 */
/* Collective instructions of a warp and of a block. */
#include "ptx_lower.h"

/* The forms without .sync are for devices whose lanes never diverge (PTX ISA, "vote" and "shfl"). */
static void check_sync(const struct ptx_lower *l, bool sync)
{
    if (!sync && l->module->version >= 64 && l->module->capability >= 70)
        ptx_lower_fail(l, "needs .sync for sm_70 and later from PTX 6.4 on");
}

static void check_operands(const struct ptx_lower *l, unsigned least, unsigned most)
{
    if (l->ins->operands < least || l->ins->operands > most)
        ptx_lower_fail(l, "has %u operands, but takes %u", l->ins->operands, most);
}

/* bar.sync a {, b}; bar.red.op d, a {, b}, p */
void ptx_lower_bar(struct ptx_lower *l, const struct ptx_match *m)
{
    bool arrives = m->data == 1, reduces = m->data == 2;
    unsigned first = reduces ? 1 : 0, last = l->ins->operands - (reduces ? 1u : 0);
    check_operands(l, first + 1 + arrives + reduces, first + 2 + reduces);
    bool counted = last - first == 2;
    uint32_t barrier = ptx_source(l, first, PTX_U32, false);
    uint32_t threads = counted ? ptx_source(l, first + 1, PTX_U32, false) : ptx_constant(l, 0, 4);
    unsigned more = (arrives ? 1u : 0) | (counted ? 2u : 0);
    if (l->ins->operand[first].kind == PTX_O_INTEGER && l->ins->operand[first].value > 15)
        ptx_lower_fail(l, "barriers are numbered 0 to 15");
    if (l->ins->operand[first + 1].kind == PTX_O_INTEGER && counted && l->ins->operand[first + 1].value % PTX_LANES)
        ptx_lower_fail(l, "the number of threads must be a multiple of %d", PTX_LANES);
    if (!reduces) {
        ptx_emit(l, STEP_BAR, PTX_UNUSED, barrier, threads, PTX_UNUSED)->more = (uint16_t)more;
        return;
    }
    bool counts = ptx_has(l, PTX_MOD_POPC);
    uint32_t p = ptx_predicate(l, last), d = ptx_destination(l, 0, counts ? PTX_U32 : PTX_PRED, false);
    struct ptx_op *op = ptx_emit(l, STEP_BAR_RED, d, barrier, threads, p);
    op->more = (uint16_t)more;
    op->imm = counts ? PTX_VOTE_POPC : ptx_has(l, PTX_MOD_AND) ? PTX_VOTE_ALL : PTX_VOTE_ANY;
}

void ptx_lower_warp_bar(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit(l, STEP_WARP_SYNC, PTX_UNUSED, m->value[0], PTX_UNUSED, PTX_UNUSED);
}

/* shfl.sync.idx.b32 d|p, a, b, c, mask; without .sync there is no mask. data: 1 with .sync. */
void ptx_lower_shfl(struct ptx_lower *l, const struct ptx_match *m)
{
    const struct ptx_operand *o = l->ins->operand;
    bool judged = l->ins->operands > 1 && o[1].joined;
    unsigned from = judged ? 2 : 1, mode = PTX_SHUFFLE_UP;
    check_operands(l, from + 3 + m->data, from + 3 + m->data);
    check_sync(l, m->data);
    while (!ptx_has(l, PTX_MOD_UP + mode))
        mode++;
    uint32_t d = ptx_destination(l, 0, PTX_B32, false), p = judged ? ptx_destination(l, 1, PTX_PRED, false) : PTX_UNUSED;
    uint32_t a = ptx_source(l, from, PTX_B32, false), b = ptx_source(l, from + 1, PTX_B32, false);
    uint32_t c = ptx_source(l, from + 2, PTX_B32, false);
    uint32_t mask = m->data ? ptx_source(l, from + 3, PTX_B32, false) : ptx_constant(l, UINT32_MAX, 4);
    struct ptx_op *op = ptx_emit(l, STEP_SHFL, d, a, b, c);
    op->imm = mode;
    op->more = (uint16_t)(m->data | (judged ? 2u : 0));
    ptx_list(l, op, mask);
    if (judged)
        ptx_list(l, op, p | PTX_WRITTEN);
}

void ptx_lower_vote(struct ptx_lower *l, const struct ptx_match *m)
{
    bool ballot = ptx_has(l, PTX_MOD_BALLOT);
    check_operands(l, 2 + m->data, 2 + m->data);
    check_sync(l, m->data);
    uint32_t p = ptx_predicate(l, 1), d = ptx_destination(l, 0, ballot ? PTX_B32 : PTX_PRED, false);
    uint32_t mask = m->data ? ptx_source(l, 2, PTX_B32, false) : ptx_constant(l, UINT32_MAX, 4);
    struct ptx_op *op = ptx_emit(l, STEP_VOTE, d, p, mask, PTX_UNUSED);
    op->imm = ballot ? PTX_VOTE_BALLOT : ptx_has(l, PTX_MOD_ALL) ? PTX_VOTE_ALL : ptx_has(l, PTX_MOD_ANY) ? PTX_VOTE_ANY : PTX_VOTE_UNI;
    op->more = (uint16_t)m->data;
}

/* match.any.sync d, a, mask; match.all.sync d|p, a, mask. data: 1 all */
void ptx_lower_match(struct ptx_lower *l, const struct ptx_match *m)
{
    bool judged = l->ins->operands > 1 && l->ins->operand[1].joined;
    unsigned from = judged ? 2 : 1;
    check_operands(l, from + 2, from + 2);
    if (judged && !m->data)
        ptx_lower_fail(l, "only match.all returns a predicate");
    uint32_t d = ptx_destination(l, 0, PTX_B32, false), p = judged ? ptx_destination(l, 1, PTX_PRED, false) : PTX_UNUSED;
    uint32_t a = ptx_source(l, from, m->type[0], false), mask = ptx_source(l, from + 1, PTX_B32, false);
    struct ptx_op *op = ptx_emit(l, STEP_MATCH, d, a, mask, PTX_UNUSED);
    op->more = (uint16_t)m->data;
    if (judged)
        ptx_list(l, op, p | PTX_WRITTEN);
}

void ptx_lower_redux(struct ptx_lower *l, const struct ptx_match *m)
{
    static const uint16_t words[] = {[PTX_FOLD_ADD] = PTX_MOD_ADD, [PTX_FOLD_MIN] = PTX_MOD_MIN, [PTX_FOLD_MAX] = PTX_MOD_MAX,
                                     [PTX_FOLD_AND] = PTX_MOD_AND, [PTX_FOLD_OR] = PTX_MOD_OR,   [PTX_FOLD_XOR] = PTX_MOD_XOR};
    unsigned fold = 0;
    while (!ptx_has(l, words[fold]))
        fold++;
    struct ptx_op *op = ptx_emit(l, STEP_REDUX, m->value[0], m->value[1], m->value[2], PTX_UNUSED);
    op->imm = fold;
    op->more = ptx_is_signed(m->type[0]);
}

void ptx_lower_activemask(struct ptx_lower *l, const struct ptx_match *m)
{
    ptx_emit(l, STEP_ACTIVEMASK, m->value[0], PTX_UNUSED, PTX_UNUSED, PTX_UNUSED);
}

/* elect.sync d|p, mask */
void ptx_lower_elect(struct ptx_lower *l, const struct ptx_match *m)
{
    (void)m;
    check_operands(l, 3, 3);
    if (!l->ins->operand[1].joined)
        ptx_lower_fail(l, "answers with d|p");
    uint32_t d = ptx_destination(l, 0, PTX_B32, false), p = ptx_destination(l, 1, PTX_PRED, false);
    uint32_t mask = ptx_source(l, 2, PTX_B32, false);
    ptx_list(l, ptx_emit(l, STEP_ELECT, d, mask, PTX_UNUSED, PTX_UNUSED), p | PTX_WRITTEN);
}

/* A cluster is a single block here: its barrier is the block's last one, and every address belongs
 * to the block itself. data: 0 arrive, 1 wait,
 * 2 mapa, 3 getctarank. */
void ptx_lower_cluster(struct ptx_lower *l, const struct ptx_match *m)
{
    if (m->data < 2) {
        ptx_emit(l, STEP_CLUSTER, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED, PTX_UNUSED)->more = (uint16_t)m->data;
        return;
    }
    unsigned type = m->type[0];
    check_operands(l, m->data == 2 ? 3 : 2, m->data == 2 ? 3 : 2);
    uint32_t a = ptx_source(l, 1, type, false);
    if (m->data == 2) {
        ptx_source(l, 2, PTX_U32, false);
        ptx_emit(l, STEP_MOV16 + ptx_size_index(ptx_register_bytes(type)), ptx_destination(l, 0, type, false), a, PTX_UNUSED, PTX_UNUSED);
    } else {
        ptx_emit(l, STEP_MOV32, ptx_destination(l, 0, PTX_U32, false), ptx_constant(l, 0, 4), PTX_UNUSED, PTX_UNUSED);
    }
}
