/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in the form of torch.cuda.memory._snapshot() (PyTorch, "Understanding CUDA Memory Usage"; torch/cuda/memory.py,
 * torch/utils/viz/MemoryViz.js). See export.h and docs/export.md.
 *
 *     cuMemMap    -> segment_map, alloc                     of the device whose memory is mapped
 *     cuMemUnmap  -> free_requested, free_completed, segment_unmap
 *     cuMemAlloc  -> segment_alloc, alloc                   cuMemFree -> free_requested, free_completed, segment_free
 *
 *     segments    [M1|M2]..[M3]                             what is mapped at the end, joined where neighbours of one
 *                                                           reservation touch; a block each
 *
 * The stream of an entry is the number of its reservation, 0 for cuMemAlloc: the viewer joins segments of one stream.
 */
#include <stdlib.h>

#include "export.h"
#include "pickle.h"

#define BATCH 1000

struct viz {
    const struct timeline *timeline;
    const char *name;
    FILE *out;
    int device;
    size_t entries; /* of the list that is open */
};

static void number(struct viz *v, const char *key, uint64_t value)
{
    pickle_key(v->out, key);
    pickle_number(v->out, value);
}

static void text(struct viz *v, const char *key, const char *value)
{
    pickle_key(v->out, key);
    pickle_text(v->out, value);
}

static bool is_shown(const struct viz *v, uint32_t object)
{
    const struct timeline_object *o = &v->timeline->object[object];
    return (o->kind == TIMELINE_MAPPING || o->kind == TIMELINE_ALLOCATION) && export_device(v->timeline, o) == v->device;
}

/* The number of the reservation that cuMemMap's address names. */
static uint32_t stream_of(const struct viz *v, const struct timeline_object *o)
{
    const uint32_t *touched = v->timeline->touched + v->timeline->mark[o->born].first_touched;
    if (o->kind == TIMELINE_MAPPING)
        for (uint32_t i = 0; i < timeline_touched(v->timeline, o->born); i++) {
            const struct timeline_object *named = &v->timeline->object[touched[i]];
            if (named->kind == TIMELINE_RESERVATION)
                return named->number;
        }
    return 0;
}

/* ---- frames: the calls, as a stack is shown ---- */

static void frame(struct viz *v, uint32_t call)
{
    pickle_dict(v->out);
    text(v, "name", timeline_words(v->timeline, call));
    text(v, "filename", v->name);
    number(v, "line", timeline_call(v->timeline, call)->line);
    pickle_dict_end(v->out);
}

/* The call, and of a mapping the one that made its memory. */
static void frames(struct viz *v, const struct timeline_object *o, uint32_t call)
{
    pickle_key(v->out, "frames");
    pickle_list(v->out);
    frame(v, call);
    if (o->kind == TIMELINE_MAPPING && o->handle != TIMELINE_NONE)
        frame(v, v->timeline->object[o->handle].born);
    pickle_list_end(v->out);
}

/* ---- what happened ---- */

static void entry(struct viz *v, const char *action, const struct timeline_object *o, uint32_t call)
{
    if (++v->entries % BATCH == 0)
        pickle_list_more(v->out);
    pickle_dict(v->out);
    text(v, "action", action);
    number(v, "addr", o->start);
    number(v, "size", o->size);
    number(v, "stream", stream_of(v, o));
    number(v, "time_us", call);
    frames(v, o, call);
    pickle_dict_end(v->out);
}

static void device_trace(struct viz *v, const struct export_index *index)
{
    const struct timeline *t = v->timeline;
    uint32_t made = 0;
    pickle_list(v->out);
    v->entries = 0;
    for (uint32_t call = 0; call < t->calls; call++) {
        for (uint32_t i = index->first_end[call]; i != TIMELINE_NONE; i = index->next_end[i]) {
            if (!is_shown(v, i))
                continue;
            entry(v, "free_requested", &t->object[i], call);
            entry(v, "free_completed", &t->object[i], call);
            entry(v, t->object[i].kind == TIMELINE_MAPPING ? "segment_unmap" : "segment_free", &t->object[i], call);
        }
        for (; made < t->objects && t->object[made].born <= call; made++) {
            if (!is_shown(v, made))
                continue;
            entry(v, t->object[made].kind == TIMELINE_MAPPING ? "segment_map" : "segment_alloc", &t->object[made], call);
            entry(v, "alloc", &t->object[made], call);
        }
    }
    pickle_list_end(v->out);
}

/* ---- what there is at the end ---- */

static int by_start(const void *a, const void *b)
{
    const struct timeline_object *x = *(const struct timeline_object *const *)a, *y = *(const struct timeline_object *const *)b;
    return (x->start > y->start) - (x->start < y->start);
}

static void block(struct viz *v, const struct timeline_object *o)
{
    pickle_dict(v->out);
    number(v, "address", o->start);
    number(v, "size", o->size);
    number(v, "requested_size", o->size);
    text(v, "state", "active_allocated");
    frames(v, o, o->born);
    pickle_dict_end(v->out);
}

/* Does the second belong into the segment that ends with the first? */
static bool is_joined(const struct viz *v, const struct timeline_object *a, const struct timeline_object *b)
{
    return a->kind == TIMELINE_MAPPING && b->kind == TIMELINE_MAPPING && a->size == b->start - a->start &&
           stream_of(v, a) == stream_of(v, b);
}

/* Returns how many of the objects it took. */
static size_t segment(struct viz *v, struct timeline_object **live, size_t count)
{
    size_t taken = 1;
    while (taken < count && is_joined(v, live[taken - 1], live[taken]))
        taken++;
    uint64_t size = live[taken - 1]->start - live[0]->start + live[taken - 1]->size;
    pickle_dict(v->out);
    number(v, "device", (uint64_t)v->device);
    number(v, "address", live[0]->start);
    number(v, "total_size", size);
    number(v, "allocated_size", size);
    number(v, "active_size", size);
    number(v, "requested_size", size);
    number(v, "stream", stream_of(v, live[0]));
    text(v, "segment_type", "large");
    pickle_key(v->out, "segment_pool_id");
    pickle_number(v->out, 0);
    pickle_number(v->out, 0);
    pickle_pair(v->out);
    pickle_key(v->out, "is_expandable");
    pickle_bool(v->out, live[0]->kind == TIMELINE_MAPPING);
    frames(v, live[0], live[0]->born);
    pickle_key(v->out, "blocks");
    pickle_list(v->out);
    for (size_t i = 0; i < taken; i++) {
        if (i && i % BATCH == 0)
            pickle_list_more(v->out);
        block(v, live[i]);
    }
    pickle_list_end(v->out);
    pickle_dict_end(v->out);
    return taken;
}

/* Adds the device's segments to the list that is open. */
static void segments(struct viz *v)
{
    const struct timeline *t = v->timeline;
    struct timeline_object **live = text_grow(NULL, (t->objects + 1) * sizeof *live);
    size_t count = 0;
    for (uint32_t i = 0; i < t->objects; i++)
        if (t->object[i].died == TIMELINE_NONE && is_shown(v, i))
            live[count++] = &t->object[i];
    qsort(live, count, sizeof *live, by_start);
    for (size_t i = 0; i < count;) {
        if (++v->entries % BATCH == 0)
            pickle_list_more(v->out);
        i += segment(v, live + i, count - i);
    }
    free(live);
}

static int last_device(const struct timeline *timeline)
{
    int last = 0;
    for (size_t i = 0; i < timeline->objects; i++) {
        int device = export_device(timeline, &timeline->object[i]);
        last = device > last && device < VMM_MAX_DEVICES ? device : last;
    }
    return last;
}

void export_memory_viz(const struct timeline *timeline, const char *name, FILE *out)
{
    struct viz v = {timeline, name, out, 0, 0};
    struct export_index index;
    int last = last_device(timeline);
    export_index_of(&index, timeline);
    pickle_start(out);
    pickle_dict(out);
    pickle_key(out, "segments");
    pickle_list(out);
    for (v.device = 0; v.device <= last; v.device++)
        segments(&v);
    pickle_list_end(out);
    pickle_key(out, "device_traces");
    pickle_list(out);
    for (v.device = 0; v.device <= last; v.device++)
        device_trace(&v, &index);
    pickle_list_end(out);
    pickle_dict_end(out);
    pickle_end(out);
    export_index_free(&index);
}
