/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the timeline: found by name, born, changed, placed, ended. See timeline_state.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "timeline_state.h"

#include <stdlib.h>
#include <string.h>

bool timeline_number(struct timeline_reader *r, json_t *in, const char *key, uint64_t *value)
{
    json_t *json = json_object_get(in, key);
    if (json_is_integer(json)) {
        *value = (uint64_t)json_integer_value(json);
        return true;
    }
    return trace_line_hex(json_string_value(json), value) ||
           trace_line_complain(&r->line, r->complaint, key, "%s is not a number such as \"0x200000\"", key);
}

bool timeline_argument(struct timeline_reader *r, const char *key, uint64_t *value)
{
    return timeline_number(r, r->at.args, key, value);
}

vmm_mem_location timeline_location(json_t *json)
{
    return (vmm_mem_location){(int)json_integer_value(json_object_get(json, "type")),
                              (int)json_integer_value(json_object_get(json, "id"))};
}

bool timeline_on_host(vmm_mem_location location)
{
    return location.type > VMM_MEM_LOCATION_TYPE_DEVICE;
}

/* ---- names and numbers ---- */

static enum timeline_kind kind_of(char letter)
{
    switch (letter) {
    case 'R': return TIMELINE_RESERVATION;
    case 'M': return TIMELINE_MAPPING;
    case 'H': return TIMELINE_HANDLE;
    case 'B': return TIMELINE_BIND;
    case 'A': return TIMELINE_ALLOCATION;
    case 'C': return TIMELINE_CONTEXT;
    case 'S': return TIMELINE_STREAM;
    case 'E': return TIMELINE_EVENT;
    case 'D': return TIMELINE_DESCRIPTOR;
    default: return TIMELINE_KINDS;
    }
}

uint32_t timeline_named(const struct timeline_reader *r, const char *name, uint64_t *offset)
{
    char *end = NULL;
    enum timeline_kind kind = name ? kind_of(name[0]) : TIMELINE_KINDS;
    unsigned long number = kind == TIMELINE_KINDS ? 0 : strtoul(name + 1, &end, 10);
    *offset = 0;
    if (kind == TIMELINE_KINDS || end == name + 1 || number >= r->numbered[kind].room)
        return TIMELINE_NONE;
    if (end[0] == '+')
        trace_line_hex(end + 1, offset);
    return r->numbered[kind].object[number];
}

uint32_t timeline_named_by(const struct timeline_reader *r, const char *key)
{
    uint64_t offset;
    return timeline_named(r, json_string_value(json_object_get(r->at.names, key)), &offset);
}

void timeline_touch(struct timeline_reader *r, uint32_t object)
{
    struct timeline *t = r->timeline;
    if (object == TIMELINE_NONE)
        return;
    /* Named twice is named near: many at once come from calls that name each once. */
    for (size_t i = t->touches; i > r->call->first_touched && t->touches - i < 16; i--)
        if (t->touched[i - 1] == object)
            return;
    if (t->touches == t->touch_room) {
        t->touch_room = t->touch_room ? 2 * t->touch_room : 1024;
        t->touched = text_grow(t->touched, t->touch_room * sizeof *t->touched);
    }
    t->touched[t->touches++] = object;
    r->call->touched++;
}

/* The number that the trace gives to what the call made; ours where it gives none. 0: it cannot be right. */
static uint32_t number_for(struct timeline_reader *r, enum timeline_kind kind, const char *key)
{
    const char *name = key ? json_string_value(json_object_get(r->at.names, key)) : NULL;
    unsigned long number = name && kind_of(name[0]) == kind ? strtoul(name + 1, NULL, 10) : r->numbered[kind].last + 1;
    if (number > 0 && number <= r->index + 1UL) /* a call makes one at most */
        return (uint32_t)number;
    trace_line_complain(&r->line, r->complaint, key, "\"%.40s\" cannot be the name of what the call made: no more than %u calls "
                        "were made", name ? name : "", (unsigned)r->index + 1);
    return 0;
}

/* ---- objects and changes ---- */

struct timeline_object *timeline_object_of(struct timeline_reader *r, uint32_t object)
{
    return object == TIMELINE_NONE ? NULL : &r->timeline->object[object];
}

static void add_number(struct timeline_reader *r, enum timeline_kind kind, uint32_t number, uint32_t object)
{
    size_t room = r->numbered[kind].room;
    if (number >= room) {
        size_t grown = 2 * (size_t)number + 16;
        r->numbered[kind].object = text_grow(r->numbered[kind].object, grown * sizeof(uint32_t));
        memset(r->numbered[kind].object + room, 0xff, (grown - room) * sizeof(uint32_t)); /* TIMELINE_NONE each */
        r->numbered[kind].room = grown;
    }
    r->numbered[kind].object[number] = object;
    if (number > r->numbered[kind].last)
        r->numbered[kind].last = number;
}

/* Multicast objects are counted with the handles. */
static enum timeline_kind counted_as(enum timeline_kind kind)
{
    return kind == TIMELINE_MULTICAST ? TIMELINE_HANDLE : kind;
}

/* Is born with this call; key is the output that the trace names it by, NULL where it does not. TIMELINE_NONE: malformed. */
uint32_t timeline_make(struct timeline_reader *r, enum timeline_kind kind, const char *key, uint64_t start, uint64_t size)
{
    struct timeline *t = r->timeline;
    uint32_t number = number_for(r, counted_as(kind), key), index = (uint32_t)t->objects;
    if (!number)
        return TIMELINE_NONE;
    if (t->objects == t->object_room) {
        t->object_room = t->object_room ? 2 * t->object_room : 256;
        t->object = text_grow(t->object, t->object_room * sizeof *t->object);
        r->holds = text_grow(r->holds, t->object_room * sizeof *r->holds);
    }
    t->object[t->objects++] = (struct timeline_object){.kind = kind, .number = number, .born = r->index, .start = start,
                                                       .size = size, .died = TIMELINE_NONE, .released = TIMELINE_NONE,
                                                       .handle = TIMELINE_NONE, .memory = TIMELINE_NONE,
                                                       .context = TIMELINE_NONE};
    r->holds[index] = (struct timeline_holds){0};
    add_number(r, counted_as(kind), number, index);
    timeline_touch(r, index);
    return index;
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

static bool is_placed(enum timeline_kind kind)
{
    return kind == TIMELINE_RESERVATION || kind == TIMELINE_MAPPING || kind == TIMELINE_ALLOCATION;
}

void timeline_die(struct timeline_reader *r, uint32_t object)
{
    if (!timeline_lives(r, object))
        return;
    struct timeline_object *o = timeline_object_of(r, object);
    /* analysers: null-dereference is wrong: what lives is there */
    o->died = r->index;
    if (is_placed(o->kind))
        timeline_ranges_drop(r->timeline, &r->ranges[o->kind], object);
    timeline_touch(r, object);
}

/* Takes its place; what is there already ended without a call of this trace. Nothing can be found at addresses that are
 * none. */
void timeline_place(struct timeline_reader *r, uint32_t object)
{
    /* analysers: null-dereference is wrong: what lives is there */
    const struct timeline_object o = *timeline_object_of(r, object);
    struct timeline_ranges *ranges = &r->ranges[o.kind];
    size_t at;
    if (!o.size || o.size - 1 > UINT64_MAX - o.start)
        return;
    timeline_die(r, timeline_ranges_at(r->timeline, ranges, o.start));
    while ((at = timeline_ranges_after(r->timeline, ranges, o.start)) < ranges->count &&
           r->timeline->object[ranges->object[at]].start - o.start < o.size)
        timeline_die(r, ranges->object[at]);
    timeline_ranges_add(r->timeline, ranges, object);
}

#else
typedef int timeline_objects_needs_jansson;
#endif
