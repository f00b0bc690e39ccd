/* SPDX-License-Identifier: Apache-2.0 */
#include "view_window.h"

#include <stdlib.h>
#include <string.h>

enum { GRANTEES = 64 }; /* the page shows eight */

/* ---- what is worked out once ---- */

static uint32_t *nones(size_t count)
{
    uint32_t *array = text_grow(NULL, (count + 1) * sizeof *array);
    memset(array, 0xff, (count + 1) * sizeof *array); /* TIMELINE_NONE in each */
    return array;
}

static void add_grantee(struct view_trace *trace, int place)
{
    for (size_t i = trace->grantees; i-- > 0;)
        if (trace->grantee[i] == place)
            return;
    trace->grantee = text_grow(trace->grantee, (trace->grantees + 1) * sizeof *trace->grantee);
    trace->grantee[trace->grantees++] = place;
}

static void index_changes(struct view_trace *trace)
{
    const struct timeline *t = trace->timeline;
    trace->last_change = nones(t->objects);
    trace->change_before = nones(t->changes);
    for (uint32_t i = 0; i < t->changes; i++) {
        const uint32_t object = t->change[i].object;
        trace->change_before[i] = trace->last_change[object];
        trace->last_change[object] = i;
        if (t->change[i].kind == TIMELINE_RIGHTS && trace->grantees < GRANTEES)
            add_grantee(trace, view_place(t->change[i].location));
    }
}

/* TIMELINE_NONE, of an object that never ends, is the greatest. */
static void index_deaths(struct view_trace *trace)
{
    const struct timeline *t = trace->timeline;
    trace->last_death = text_grow(NULL, (t->objects / VIEW_BLOCK + 1) * sizeof *trace->last_death);
    for (size_t i = 0; i < t->objects; i++) {
        uint32_t *last = &trace->last_death[i / VIEW_BLOCK];
        if (i % VIEW_BLOCK == 0 || t->object[i].died > *last)
            *last = t->object[i].died;
    }
}

/* When each memory goes back: memory that several handles name counts once, until the last of them ends. */
static uint32_t *ends_of_memory(const struct timeline *t)
{
    uint32_t *until = text_grow(NULL, (t->objects + 1) * sizeof *until);
    memset(until, 0, (t->objects + 1) * sizeof *until);
    for (size_t i = 0; i < t->objects; i++) {
        const struct timeline_object *o = &t->object[i];
        if (o->kind == TIMELINE_HANDLE && o->memory != TIMELINE_NONE && o->died > until[o->memory])
            until[o->memory] = o->died;
    }
    return until;
}

static void sum_memory(struct view_trace *trace)
{
    const struct timeline *t = trace->timeline;
    double *change = text_grow(NULL, (t->calls + 1) * sizeof *change), sum = 0;
    uint32_t *until = ends_of_memory(t);
    for (size_t i = 0; i <= t->calls; i++)
        change[i] = 0;
    for (size_t i = 0; i < t->objects; i++) {
        const struct timeline_object *o = &t->object[i];
        const bool alloc = o->kind == TIMELINE_ALLOCATION, memory = o->kind == TIMELINE_HANDLE && o->memory == i;
        const uint32_t end = alloc ? o->died : memory ? until[i] : TIMELINE_NONE;
        if (!alloc && !memory)
            continue;
        change[o->born] += (double)o->size;
        if (end != TIMELINE_NONE)
            change[end] -= (double)o->size;
    }
    trace->strip = t->calls < VIEW_STRIP ? t->calls : VIEW_STRIP;
    trace->used = text_grow(NULL, (trace->strip + 1) * sizeof *trace->used);
    for (size_t part = 0, i = 0; part < trace->strip; part++) {
        trace->used[part] = 0;
        for (; i < (part + 1) * t->calls / trace->strip; i++) {
            sum += change[i];
            trace->used[part] = sum > trace->used[part] ? sum : trace->used[part];
        }
        trace->most_used = trace->used[part] > trace->most_used ? trace->used[part] : trace->most_used;
    }
    free(until);
    free(change);
}

void view_trace_of(struct view_trace *trace, const struct timeline *timeline, const char *name)
{
    *trace = (struct view_trace){.timeline = timeline, .name = name};
    index_changes(trace);
    index_deaths(trace);
    sum_memory(trace);
    trace->stamp = text_grow(NULL, (timeline->objects + 1) * sizeof *trace->stamp);
    memset(trace->stamp, 0, (timeline->objects + 1) * sizeof *trace->stamp);
}

void view_trace_free(struct view_trace *trace)
{
    free(trace->last_change);
    free(trace->change_before);
    free(trace->last_death);
    free(trace->used);
    free(trace->grantee);
    free(trace->stamp);
    *trace = (struct view_trace){0};
}

/* ---- a window ---- */

/* Takes an object in, once, and what it refers to. */
static void take(struct view_window *window, struct view_trace *trace, uint32_t object)
{
    while (object != TIMELINE_NONE && trace->stamp[object] != trace->stamps) {
        const struct timeline_object *o = &trace->timeline->object[object];
        trace->stamp[object] = trace->stamps;
        if (window->objects == window->room) {
            window->room = 2 * window->room + 256;
            window->object = text_grow(window->object, window->room * sizeof *window->object);
        }
        window->object[window->objects++] = object;
        take(window, trace, o->memory); /* which is its own memory */
        take(window, trace, o->context);
        object = o->handle;
    }
}

static int by_birth(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Objects are in the order of their births; blocks all of whose objects ended before the window are passed over. */
static void take_living(struct view_window *window, struct view_trace *trace)
{
    const struct timeline *t = trace->timeline;
    for (uint32_t i = 0; i < t->objects && t->object[i].born < window->end; i++) {
        if (i % VIEW_BLOCK == 0 && trace->last_death[i / VIEW_BLOCK] < window->first)
            i += VIEW_BLOCK - 1;
        else if (t->object[i].died >= window->first)
            take(window, trace, i);
    }
}

void view_window_of(struct view_window *window, struct view_trace *trace, uint32_t first, uint32_t most)
{
    const struct timeline *t = trace->timeline;
    first = first < t->calls ? first : (uint32_t)t->calls;
    *window = (struct view_window){.first = first, .end = most < t->calls - first ? first + most : (uint32_t)t->calls};
    trace->stamps++;
    take_living(window, trace);
    for (uint32_t i = t->calls ? t->mark[window->first].first_touched : 0; i < (t->calls ? t->mark[window->end].first_touched : 0); i++)
        take(window, trace, t->touched[i]);
    if (window->objects)
        qsort(window->object, window->objects, sizeof *window->object, by_birth);
}

void view_window_free(struct view_window *window)
{
    free(window->object);
    *window = (struct view_window){0};
}
