/* SPDX-License-Identifier: Apache-2.0 */
/* model_array_copy.c - the bytes of arrays (model_array.h). */
#include "model_array.h"

#include <string.h>

/* Where a byte is kept. */
struct place {
    enum { NOWHERE, HIDDEN, IN_ARRAY, IN_MEMORY } kind; /* NOWHERE: reads as 0; HIDDEN: the driver alone knows where */
    uint64_t owner, at;
    unsigned form;
};

/* ---- windows ---- */

static struct model_array_window *window_of(struct model *m, const struct model_array *array, const struct place *p)
{
    const uint64_t start = p->at - p->at % MODEL_WINDOW;
    for (size_t i = 0; i < m->arrays->window_count; i++) {
        struct model_array_window *w = &m->arrays->windows[i];
        if (w->array == array && w->owner == p->owner && w->start == start && w->form == p->form)
            return w;
    }
    return NULL;
}

static struct model_array_window *new_window(struct model *m, const struct model_array *array, const struct place *p)
{
    struct model_arrays *all = m->arrays;
    all->windows = model_room(all->windows, &all->window_room, all->window_count, sizeof *all->windows);
    struct model_array_window *w = &all->windows[all->window_count++];
    *w = (struct model_array_window){.array = array, .owner = p->owner, .start = p->at - p->at % MODEL_WINDOW, .form = p->form};
    return w;
}

static void remove_window(struct model *m, size_t i)
{
    m->arrays->windows[i] = m->arrays->windows[--m->arrays->window_count];
}

void model_array_forget(struct model *model, const struct model_array *whole)
{
    for (size_t i = model->arrays->window_count; i-- > 0;)
        if (model->arrays->windows[i].array == whole)
            remove_window(model, i);
}

void model_backing_forget(struct model *model, uint64_t serial)
{
    for (size_t i = model->arrays->window_count; i-- > 0;)
        if (!model->arrays->windows[i].array && model->arrays->windows[i].owner == serial)
            remove_window(model, i);
}

/* ---- who shares memory ---- */

static bool is_tail(const struct model_array *whole, const struct model_tile *tile)
{
    return tile->level == whole->shape.tail_first;
}

/* How often the array has the range of the memory; tails: not by tiles of levels. */
static unsigned uses(const struct model_array *whole, uint64_t serial, uint64_t from, uint64_t size, bool tails)
{
    unsigned count = whole->serial == serial && model_overlap(from, size, whole->offset, whole->shape.need);
    for (size_t i = 0; i < whole->tile_count; i++) {
        const struct model_tile *t = &whole->tiles[i];
        count += t->serial == serial && model_overlap(from, size, t->offset, MODEL_TILE) && (!tails || is_tail(whole, t));
    }
    return count;
}

static bool is_alone(const struct model *m, uint64_t serial, uint64_t from, uint64_t size)
{
    unsigned count = 0;
    for (size_t i = 0; i < m->arrays->count; i++)
        count += uses(m->arrays->at[i], serial, from, size, false);
    return count == 1;
}

bool model_arrays_meet(const struct model_array *a, const struct model_array *b)
{
    const struct model_array *x = a->whole, *y = b->whole;
    bool meet = x == y || (x->serial && uses(y, x->serial, 0, UINT64_MAX / 2, false));
    for (size_t i = 0; i < x->tile_count; i++)
        meet |= uses(y, x->tiles[i].serial, 0, UINT64_MAX / 2, false) != 0;
    return meet;
}

/* ---- places ---- */

static unsigned form_of(const struct model_shape *shape)
{
    return 1 + shape->element.bytes * 4 + (shape->volume ? 2 : 0) + (shape->element.side > 1);
}

static struct place in_tile(const struct model_array *array, uint64_t x, uint64_t y, uint64_t z)
{
    const struct model_shape *s = &array->whole->shape;
    const struct model_tile *tile = model_array_tile(array->whole, array->level, x, y, z);
    const uint64_t wide = s->tile[0] / s->element.side * s->element.bytes, high = s->tile[1] / s->element.side;
    const uint64_t deep = s->volume ? z % s->tile[2] : 0;
    return tile ? (struct place){IN_MEMORY, tile->serial, tile->offset + (deep * high + y % high) * wide + x % wide, form_of(s)}
                : (struct place){.kind = NOWHERE};
}

static struct place in_array(const struct model_array *array, uint64_t x, uint64_t y, uint64_t z)
{
    const struct model_shape *s = &array->whole->shape;
    return (struct place){IN_ARRAY, array->level,
                          (z * model_shape_rows(s, array->level) + y) * model_shape_row(s, array->level) + x, 0};
}

/* Has all of the tail memory, and no other part of any array the same? */
static struct place in_tail(const struct model *m, const struct model_array *array, uint64_t x, uint64_t y, uint64_t z)
{
    const struct model_array *whole = array->whole;
    const unsigned layer = whole->shape.single || whole->shape.volume ? 0 : (unsigned)z;
    const uint32_t pieces = (uint32_t)(whole->shape.tail / MODEL_TILE);
    uint32_t mapped = 0;
    bool alone = true;
    for (uint32_t i = 0; i < pieces; i++) {
        const struct model_tile *t = model_array_tail(whole, layer, i);
        mapped += t != NULL;
        alone &= t && is_alone(m, t->serial, t->offset, MODEL_TILE);
    }
    if (whole->doubtful)
        return (struct place){.kind = HIDDEN};
    return !mapped ? (struct place){.kind = NOWHERE} : alone ? in_array(array, x, y, z) : (struct place){.kind = HIDDEN};
}

static struct place place_of(const struct model *m, const struct model_array *array, uint64_t x, uint64_t y, uint64_t z)
{
    const struct model_array *whole = array->whole;
    if (model_array_is_sparse(whole))
        return array->level < whole->shape.tail_first ? in_tile(array, x, y, z) : in_tail(m, array, x, y, z);
    if (model_array_is_deferred(whole) && !is_alone(m, whole->serial, whole->offset, whole->shape.need))
        return (struct place){.kind = HIDDEN};
    return in_array(array, x, y, z);
}

int model_array_byte(struct model *model, const struct model_array *array, uint64_t x, uint64_t y, uint64_t z)
{
    const struct place p = place_of(model, array, x, y, z);
    if (p.kind == NOWHERE || p.kind == HIDDEN)
        return p.kind == NOWHERE ? 0 : -1;
    const struct model_array_window *w = window_of(model, p.kind == IN_ARRAY ? array->whole : NULL, &p);
    return w && w->known[p.at % MODEL_WINDOW] ? w->value[p.at % MODEL_WINDOW] : -1;
}

/* ---- writing ---- */

/* The memory was written by an array: what others that see it otherwise knew is not known any more. */
static void written(struct model *m, const struct model_array *by, uint64_t serial, uint64_t from, uint64_t size, unsigned form)
{
    struct model_arrays *all = m->arrays;
    for (size_t i = all->window_count; i-- > 0;) {
        const struct model_array_window *w = &all->windows[i];
        if (!w->array && w->owner == serial && w->form != form && model_overlap(w->start, MODEL_WINDOW, from, size))
            remove_window(m, i);
    }
    for (size_t i = 0; i < all->count; i++)
        if ((all->at[i] != by || form) && uses(all->at[i], serial, from, size, true))
            model_array_forget(m, all->at[i]);
}

/* All of a mip tail, or of a deferred array. */
static void written_whole(struct model *m, const struct model_array *whole)
{
    if (whole->serial)
        written(m, whole, whole->serial, whole->offset, whole->shape.need, 0);
    for (size_t i = 0; i < whole->tile_count; i++)
        if (is_tail(whole, &whole->tiles[i]))
            written(m, whole, whole->tiles[i].serial, whole->tiles[i].offset, MODEL_TILE, 0);
}

void model_array_put(struct model *model, const struct model_array *array, uint64_t x, uint64_t y, uint64_t z, int value)
{
    const struct place p = place_of(model, array, x, y, z);
    if (p.kind == IN_MEMORY)
        written(model, array->whole, p.owner, p.at - p.at % MODEL_TILE, MODEL_TILE, p.form);
    else
        written_whole(model, array->whole);
    if (p.kind == HIDDEN)
        model_array_forget(model, array->whole);
    if (p.kind == NOWHERE || p.kind == HIDDEN)
        return;
    const struct model_array *owner = p.kind == IN_ARRAY ? array->whole : NULL;
    struct model_array_window *w = window_of(model, owner, &p);
    w = w ? w : new_window(model, owner, &p);
    w->known[p.at % MODEL_WINDOW] = value >= 0;
    w->value[p.at % MODEL_WINDOW] = (uint8_t)value;
}
