/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_flow.h"

#include <string.h>

#include "ptx_program.h"

/* A basic block: steps that are entered at the first and left at the last. */
struct block {
    uint32_t first, last; /* its last step */
    uint32_t next[2];     /* blocks; UINT32_MAX: none */
    uint32_t branch;      /* the op of a BRX: its targets are more; UINT32_MAX: none */
};

struct flow {
    struct ptx_lower *l;
    struct block *blocks;
    uint32_t block_count, *block_of; /* by step */
    uint64_t *in, *used, *defined;   /* for each block, words of bits */
    uint32_t words;
    uint64_t *bits_used, *bits_defined; /* of the current block */
    bool guarded;
    struct ptx_life *life;
    uint32_t step;
};

void ptx_flow_each(const struct ptx_op *op, const uint32_t *list, void (*see)(void *data, uint32_t value, bool written), void *data)
{
    const char *fields = ptx_step_fields(op->step);
    const uint32_t field[4] = {op->d, op->a, op->b, op->c};
    if (op->guard)
        see(data, op->guard - 1, false);
    for (int i = 1; i < 4; i++)
        if (fields[i] == 'r' && field[i] != PTX_UNUSED)
            see(data, field[i], false);
    bool listed = strchr(fields, 'L') != NULL;
    for (unsigned i = 0; listed && i < op->count; i++)
        if (!(list[op->list + i] & PTX_WRITTEN))
            see(data, list[op->list + i], false);
    for (unsigned i = 0; listed && i < op->count; i++)
        if (list[op->list + i] & PTX_WRITTEN)
            see(data, list[op->list + i] & ~PTX_WRITTEN, true);
    if (fields[0] == 'w' && op->d != PTX_UNUSED)
        see(data, op->d, true);
}

static bool ends(const struct ptx_op *op)
{
    return op->step == STEP_BRA || op->step == STEP_BRX || op->step == STEP_RET || op->step == STEP_EXIT || op->step == STEP_TRAP;
}

static void make_blocks(struct flow *f)
{
    const struct ptx_lower *l = f->l;
    bool first = true;
    f->block_of = ptx_alloc(l->context, l->op_count, sizeof *f->block_of);
    f->blocks = ptx_alloc(l->context, l->op_count, sizeof *f->blocks);
    for (uint32_t i = 0; i < l->op_count; i++) {
        if (first || l->ops[i].step == STEP_JOIN)
            f->blocks[f->block_count++].first = i;
        f->block_of[i] = f->block_count - 1;
        f->blocks[f->block_count - 1].last = i;
        first = ends(&l->ops[i]);
    }
}

static void join_blocks(struct flow *f)
{
    for (uint32_t i = 0; i < f->block_count; i++) {
        struct block *b = &f->blocks[i];
        const struct ptx_op *op = &f->l->ops[b->last];
        bool falls = !ends(op) || op->guard;
        b->next[0] = falls && i + 1 < f->block_count ? i + 1 : UINT32_MAX;
        b->next[1] = op->step == STEP_BRA ? f->block_of[op->imm] : UINT32_MAX;
        b->branch = op->step == STEP_BRX ? b->last : UINT32_MAX;
    }
}

static void see_use(void *data, uint32_t value, bool written)
{
    struct flow *f = data;
    uint64_t bit = UINT64_C(1) << value % 64, *defined = &f->bits_defined[value / 64], *used = &f->bits_used[value / 64];
    if (!written && !(*defined & bit))
        *used |= bit;
    else if (written && !f->guarded)
        *defined |= bit;
}

static void use_and_define(struct flow *f)
{
    struct ptx_lower *l = f->l;
    for (uint32_t i = 0; i < f->block_count; i++) {
        f->bits_used = f->used + (size_t)i * f->words;
        f->bits_defined = f->defined + (size_t)i * f->words;
        for (uint32_t step = f->blocks[i].first; step <= f->blocks[i].last; step++) {
            f->guarded = l->ops[step].guard != 0;
            ptx_flow_each(&l->ops[step], l->list, see_use, f);
        }
    }
}

/* Adds the values that are live at the start of `from` to `out`. */
static void add_alive(const struct flow *f, uint64_t *out, uint32_t from)
{
    const uint64_t *in = f->in + (size_t)from * f->words;
    for (uint32_t w = 0; w < f->words; w++)
        out[w] |= in[w];
}

static void alive_behind(const struct flow *f, const struct block *b, uint64_t *out)
{
    memset(out, 0, f->words * sizeof *out);
    for (int i = 0; i < 2; i++)
        if (b->next[i] != UINT32_MAX)
            add_alive(f, out, b->next[i]);
    for (int64_t k = 0; b->branch != UINT32_MAX && k < f->l->ops[b->branch].imm; k++)
        add_alive(f, out, f->block_of[f->l->list[f->l->ops[b->branch].list + k]]);
}

/* From the last block to the first, until nothing more is added. */
static void settle(struct flow *f, uint64_t *out)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = f->block_count; i-- > 0;) {
            size_t at = (size_t)i * f->words;
            alive_behind(f, &f->blocks[i], out);
            for (uint32_t w = 0; w < f->words; w++) {
                uint64_t alive = f->used[at + w] | (out[w] & ~f->defined[at + w]);
                changed |= alive != f->in[at + w];
                f->in[at + w] = alive;
            }
        }
    }
}

static void stretch(struct ptx_life *life, uint32_t step)
{
    life->first = step < life->first ? step : life->first;
    life->last = step > life->last || life->last == UINT32_MAX ? step : life->last;
}

static void see_life(void *data, uint32_t value, bool written)
{
    struct flow *f = data;
    (void)written;
    stretch(&f->life[value], f->step);
}

static void stretch_all(struct flow *f, const uint64_t *alive, uint32_t step)
{
    for (uint32_t w = 0; w < f->words; w++)
        for (uint64_t bits = alive[w]; bits; bits &= bits - 1)
            stretch(&f->life[w * 64 + (uint32_t)__builtin_ctzll(bits)], step);
}

static void measure(struct flow *f, uint64_t *out)
{
    struct ptx_lower *l = f->l;
    f->life = ptx_alloc(l->context, l->value_count + 1u, sizeof *f->life);
    for (uint32_t i = 0; i < l->value_count; i++)
        f->life[i] = (struct ptx_life){UINT32_MAX, UINT32_MAX};
    for (f->step = 0; f->step < l->op_count; f->step++)
        ptx_flow_each(&l->ops[f->step], l->list, see_life, f);
    for (uint32_t i = 0; i < f->block_count; i++) {
        stretch_all(f, f->in + (size_t)i * f->words, f->blocks[i].first);
        alive_behind(f, &f->blocks[i], out);
        stretch_all(f, out, f->blocks[i].last);
    }
}

struct ptx_life *ptx_flow_of(struct ptx_lower *l)
{
    struct flow f = {.l = l, .words = l->value_count / 64 + 1};
    make_blocks(&f);
    size_t all = (size_t)f.block_count * f.words;
    f.in = ptx_alloc(l->context, all, sizeof *f.in);
    f.used = ptx_alloc(l->context, all, sizeof *f.used);
    f.defined = ptx_alloc(l->context, all, sizeof *f.defined);
    uint64_t *out = ptx_alloc(l->context, f.words, sizeof *out);
    join_blocks(&f);
    use_and_define(&f);
    settle(&f, out);
    measure(&f, out);
    return f.life;
}
