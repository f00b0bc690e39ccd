/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_slots.h"

#include <string.h>

#include "ptx_program.h"

enum { CLASSES = 4 }; /* predicates, and registers of 2, 4 and 8 bytes */

struct slots {
    struct ptx_lower *l;
    const struct ptx_life *life;
    uint32_t *slot;            /* of each value; UINT32_MAX: none */
    uint32_t *starts, *next;   /* lists of values by the step at which their live range begins, and ends */
    uint32_t *ends, *next_end;
    uint32_t *spare[CLASSES], spares[CLASSES], spare_room[CLASSES];
    uint32_t units, predicates;
};

static unsigned class_of(unsigned bytes)
{
    return bytes == 0 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

static uint32_t units_of(unsigned bytes)
{
    return bytes * PTX_LANES / PTX_UNIT;
}

static uint32_t take(struct slots *s, unsigned bytes)
{
    unsigned class = class_of(bytes);
    uint32_t slot;
    if (s->spares[class])
        return s->spare[class][--s->spares[class]];
    if (!bytes)
        return s->predicates++;
    slot = s->units;
    s->units += units_of(bytes);
    return slot;
}

static void give_back(struct slots *s, unsigned bytes, uint32_t slot)
{
    unsigned class = class_of(bytes);
    s->spare[class] = ptx_more(s->l->context, s->spare[class], s->spares[class], &s->spare_room[class], sizeof(uint32_t));
    s->spare[class][s->spares[class]++] = slot;
}

static void place_constants(struct slots *s)
{
    struct ptx_lower *l = s->l;
    struct ptx_routine *r = l->routine;
    r->constants = ptx_alloc(l->lasting, l->constant_count + 1u, sizeof *r->constants);
    r->references = ptx_alloc(l->lasting, l->constant_count + 1u, sizeof *r->references);
    for (uint32_t i = 0; i < l->constant_count; i++) {
        struct ptx_lower_constant *c = &l->constants[i];
        uint32_t slot = take(s, c->bytes);
        s->slot[c->value] = slot;
        if (c->is_reference) {
            c->reference.at = slot;
            r->references[r->reference_count++] = c->reference;
        } else {
            r->constants[r->constant_count++] = (struct ptx_constant){slot, c->bytes, c->bits};
        }
    }
    r->constant_units = s->units;
}

static void sort_by_step(struct slots *s)
{
    const struct ptx_lower *l = s->l;
    s->starts = ptx_alloc(l->context, l->op_count, sizeof *s->starts);
    s->ends = ptx_alloc(l->context, l->op_count, sizeof *s->ends);
    s->next = ptx_alloc(l->context, l->value_count + 1u, sizeof *s->next);
    s->next_end = ptx_alloc(l->context, l->value_count + 1u, sizeof *s->next_end);
    for (uint32_t v = l->value_count; v-- > 0;) {
        if (s->slot[v] != UINT32_MAX || s->life[v].first == UINT32_MAX)
            continue;
        s->next[v] = s->starts[s->life[v].first];
        s->starts[s->life[v].first] = v + 1;
        s->next_end[v] = s->ends[s->life[v].last];
        s->ends[s->life[v].last] = v + 1;
    }
}

static void end_at(struct slots *s, uint32_t step, bool begun_before)
{
    for (uint32_t v = s->ends[step]; v; v = s->next_end[v - 1])
        if ((s->life[v - 1].first < step) == begun_before)
            give_back(s, s->l->bytes[v - 1], s->slot[v - 1]);
}

static void begin_at(struct slots *s, uint32_t step)
{
    for (uint32_t v = s->starts[step]; v; v = s->next[v - 1])
        s->slot[v - 1] = take(s, s->l->bytes[v - 1]);
}

/* A value that is only read has no beginning, and one that is only written begins and ends at the same step. */
static void place_in_order(struct slots *s)
{
    for (uint32_t step = 0; step < s->l->op_count; step++) {
        bool apart = strchr(ptx_step_fields(s->l->ops[step].step), '!') != NULL;
        if (!apart)
            end_at(s, step, true);
        begin_at(s, step);
        if (apart)
            end_at(s, step, true);
        end_at(s, step, false);
    }
}

static void write_slots(struct slots *s)
{
    struct ptx_lower *l = s->l;
    for (uint32_t i = 0; i < l->op_count; i++) {
        struct ptx_op *op = &l->ops[i];
        const char *fields = ptx_step_fields(op->step);
        uint32_t *field[4] = {&op->d, &op->a, &op->b, &op->c};
        for (int k = 0; k < 4; k++)
            *field[k] = fields[k] == '-' || *field[k] == PTX_UNUSED ? 0 : s->slot[*field[k]];
        if (op->guard)
            op->guard = 1 + s->slot[op->guard - 1];
        for (unsigned k = 0; strchr(fields, 'L') && k < op->count; k++)
            l->list[op->list + k] = s->slot[l->list[op->list + k] & ~PTX_WRITTEN];
    }
}

void ptx_place_values(struct ptx_lower *l, const struct ptx_life *life)
{
    struct slots s = {.l = l, .life = life};
    s.slot = ptx_alloc(l->context, l->value_count + 1u, sizeof *s.slot);
    memset(s.slot, 0xff, l->value_count * sizeof *s.slot);
    place_constants(&s);
    sort_by_step(&s);
    place_in_order(&s);
    write_slots(&s);
    l->routine->units = s.units;
    l->routine->predicates = s.predicates;
}
