/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the timeline: lookup by name, creation, changes, placement, end. See timeline_state.h. */
#include "timeline_state.h"

#include <string.h>

#include "trace_value.h"

bool timeline_on_host(vmm_mem_location location)
{
    return location.type > VMM_MEM_LOCATION_TYPE_DEVICE;
}

/* ---- names and numbers ---- */

static enum timeline_kind kind_of(enum name_kind kind)
{
    switch (kind) {
    case NAME_RESERVATION: return TIMELINE_RESERVATION;
    case NAME_HANDLE: return TIMELINE_HANDLE;
    case NAME_ALLOCATION: return TIMELINE_ALLOCATION;
    case NAME_CONTEXT: return TIMELINE_CONTEXT;
    case NAME_STREAM: return TIMELINE_STREAM;
    case NAME_EVENT: return TIMELINE_EVENT;
    case NAME_DESCRIPTOR: return TIMELINE_DESCRIPTOR;
    default: return TIMELINE_KINDS;
    }
}

uint32_t timeline_of_name(const struct timeline *t, const struct name *name)
{
    const enum timeline_kind kind = kind_of(name->kind);
    if (kind == TIMELINE_KINDS || name->number >= t->numbered[kind].room)
        return TIMELINE_NONE;
    return t->numbered[kind].object[name->number];
}

uint32_t timeline_named_by(const struct timeline_reader *r, const char *param)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)r->event->call->id, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(params[i].name, param) == 0)
            return timeline_of_name(r->timeline, &r->named.param[i]);
    return TIMELINE_NONE;
}

void timeline_touch(struct timeline_reader *r, uint32_t object)
{
    struct timeline *t = r->timeline;
    if (object == TIMELINE_NONE)
        return;
    /* Repeated names are close together: calls with many objects name each once. */
    for (size_t i = t->touches; i > r->mark->first_touched && t->touches - i < 16; i--)
        if (t->touched[i - 1] == object)
            return;
    if (t->touches == t->touch_room) {
        t->touch_room = t->touch_room ? 2 * t->touch_room : 1024;
        t->touched = text_grow(t->touched, t->touch_room * sizeof *t->touched);
    }
    t->touched[t->touches++] = object;
}

/* Multicast objects are numbered together with handles. */
static enum timeline_kind counted_as(enum timeline_kind kind)
{
    return kind == TIMELINE_MULTICAST ? TIMELINE_HANDLE : kind;
}

/* The number of the object that the call made: from its name, or, without one, the last of its kind. Mappings and
 * binds are numbered here. */
static uint32_t number_for(struct timeline_reader *r, enum timeline_kind kind)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)r->event->call->id, &count);
    for (int name = 0; name < NAME_KINDS; name++) {
        if (kind_of((enum name_kind)name) != kind)
            continue;
        for (size_t i = 0; i < count; i++)
            if (trace_is_out(params[i].kind) && (int)r->named.param[i].kind == name)
                return r->named.param[i].number;
        return r->names.last[name];
    }
    return r->timeline->numbered[kind].last + 1;
}

/* ---- objects and changes ---- */

struct timeline_object *timeline_object_of(struct timeline_reader *r, uint32_t object)
{
    return object == TIMELINE_NONE ? NULL : &r->timeline->object[object];
}

static void add_number(struct timeline *t, enum timeline_kind kind, uint32_t number, uint32_t object)
{
    size_t room = t->numbered[kind].room;
    if (number >= room) {
        size_t grown = 2 * (size_t)number + 16;
        t->numbered[kind].object = text_grow(t->numbered[kind].object, grown * sizeof(uint32_t));
        memset(t->numbered[kind].object + room, 0xff, (grown - room) * sizeof(uint32_t)); /* TIMELINE_NONE each */
        t->numbered[kind].room = grown;
    }
    t->numbered[kind].object[number] = object;
    if (number > t->numbered[kind].last)
        t->numbered[kind].last = number;
}

uint32_t timeline_make(struct timeline_reader *r, enum timeline_kind kind, uint64_t start, uint64_t size)
{
    struct timeline *t = r->timeline;
    const uint32_t number = number_for(r, counted_as(kind)), index = (uint32_t)t->objects;
    if (t->objects == t->object_room) {
        t->object_room = t->object_room ? 2 * t->object_room : 256;
        t->object = text_grow(t->object, t->object_room * sizeof *t->object);
        r->holds = text_grow(r->holds, t->object_room * sizeof *r->holds);
    }
    t->object[t->objects++] = (struct timeline_object){.kind = kind, .number = number, .born = r->index, .start = start,
                                                       .size = size, .died = TIMELINE_NONE, .released = TIMELINE_NONE,
                                                       .handle = TIMELINE_NONE, .memory = TIMELINE_NONE,
                                                       .context = TIMELINE_NONE};
    r->holds[index] = (struct timeline_holds){.first = TIMELINE_NONE, .next = TIMELINE_NONE};
    add_number(t, counted_as(kind), number, index);
    timeline_touch(r, index);
    return index;
}

void timeline_belongs(struct timeline_reader *r, uint32_t object, uint32_t owner)
{
    if (owner == TIMELINE_NONE)
        return;
    r->holds[object].next = r->holds[owner].first;
    r->holds[owner].first = object;
}

void timeline_changed(struct timeline_reader *r, enum timeline_change_kind kind, uint32_t object, vmm_mem_location location,
                   uint32_t value)
{
    struct timeline *t = r->timeline;
    if (t->changes == t->change_room) {
        t->change_room = t->change_room ? 2 * t->change_room : 256;
        t->change = text_grow(t->change, t->change_room * sizeof *t->change);
    }
    t->change[t->changes++] = (struct timeline_change){kind, r->index, object, location, value};
    timeline_touch(r, object);
}

bool timeline_lives(const struct timeline_reader *r, uint32_t object)
{
    return object != TIMELINE_NONE && r->timeline->object[object].died == TIMELINE_NONE;
}

/* ---- places ---- */

static bool is_placed(enum timeline_kind kind)
{
    return kind == TIMELINE_RESERVATION || kind == TIMELINE_MAPPING || kind == TIMELINE_ALLOCATION;
}

uint32_t timeline_at(struct timeline_reader *r, enum timeline_kind kind, uint64_t address)
{
    const struct span *span = spans_at(&r->ranges[kind], address);
    return span ? (uint32_t)span->value : TIMELINE_NONE;
}

void timeline_die(struct timeline_reader *r, uint32_t object)
{
    if (!timeline_lives(r, object))
        return;
    struct timeline_object *o = timeline_object_of(r, object);
    /* analysers: null-dereference is wrong: what lives is there */
    o->died = r->index;
    struct span *span = is_placed(o->kind) ? spans_at(&r->ranges[o->kind], o->start) : NULL;
    if (span && span->value == object)
        spans_drop(&r->ranges[o->kind], span);
    timeline_touch(r, object);
}

void timeline_place(struct timeline_reader *r, uint32_t object)
{
    /* analysers: null-dereference is wrong: what lives is there */
    const struct timeline_object o = *timeline_object_of(r, object);
    struct spans *ranges = &r->ranges[o.kind];
    const struct span *span;
    if (!o.size || o.size - 1 > UINT64_MAX - o.start)
        return;
    while ((span = spans_from(ranges, o.start)) != NULL && (span->start <= o.start || span->start - o.start < o.size))
        timeline_die(r, (uint32_t)span->value);
    if (!spans_put(ranges, o.start, o.size, object))
        text_grow(NULL, SIZE_MAX); /* which ends the process with a message */
}
