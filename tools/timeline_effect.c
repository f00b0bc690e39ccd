/* What a call did to objects, from its arguments and answers. See timeline.h. */
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

static bool argument(struct timeline_reader *r, const char *key, uint64_t *value)
{
    return timeline_number(r, r->at.args, key, value);
}

vmm_mem_location timeline_location(json_t *json)
{
    return (vmm_mem_location){(int)json_integer_value(json_object_get(json, "type")),
                              (int)json_integer_value(json_object_get(json, "id"))};
}

static bool on_host(vmm_mem_location location)
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

static uint32_t named(const struct timeline_reader *r, const char *key)
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

static struct timeline_object *object_of(struct timeline_reader *r, uint32_t object)
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
static uint32_t make(struct timeline_reader *r, enum timeline_kind kind, const char *key, uint64_t start, uint64_t size)
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

static void change(struct timeline_reader *r, enum timeline_change_kind kind, uint32_t object, vmm_mem_location location,
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

static bool lives(const struct timeline_reader *r, uint32_t object)
{
    return object != TIMELINE_NONE && r->timeline->object[object].died == TIMELINE_NONE;
}

static bool is_placed(enum timeline_kind kind)
{
    return kind == TIMELINE_RESERVATION || kind == TIMELINE_MAPPING || kind == TIMELINE_ALLOCATION;
}

static void die(struct timeline_reader *r, uint32_t object)
{
    if (!lives(r, object))
        return;
    struct timeline_object *o = object_of(r, object);
    o->died = r->index;
    if (is_placed(o->kind))
        timeline_ranges_drop(r->timeline, &r->ranges[o->kind], object);
    timeline_touch(r, object);
}

/* Takes its place; what is there already ended without a call of this trace. Nothing can be found at addresses that are
 * none. */
static void place(struct timeline_reader *r, uint32_t object)
{
    const struct timeline_object o = *object_of(r, object);
    struct timeline_ranges *ranges = &r->ranges[o.kind];
    size_t at;
    if (!o.size || o.size - 1 > UINT64_MAX - o.start)
        return;
    die(r, timeline_ranges_at(r->timeline, ranges, o.start));
    while ((at = timeline_ranges_after(r->timeline, ranges, o.start)) < ranges->count &&
           r->timeline->object[ranges->object[at]].start - o.start < o.size)
        die(r, ranges->object[at]);
    timeline_ranges_add(r->timeline, ranges, object);
}

/* ---- what holds memory ---- */

static void let_go(struct timeline_reader *r, uint32_t handle);

/* The binds of a multicast object that ends, and of what they hold. */
static void end_binds(struct timeline_reader *r, uint32_t team)
{
    for (uint32_t i = team + 1; i < r->timeline->objects; i++)
        if (r->timeline->object[i].kind == TIMELINE_BIND && r->timeline->object[i].handle == team && lives(r, i)) {
            die(r, i);
            uint32_t memory = r->timeline->object[i].memory;
            if (memory != TIMELINE_NONE)
                r->holds[memory].binds--;
            let_go(r, memory);
        }
}

/* After something that held it is gone: is it held still? */
static void let_go(struct timeline_reader *r, uint32_t handle)
{
    if (!lives(r, handle))
        return;
    const struct timeline_holds *holds = &r->holds[handle];
    if (holds->references || holds->mappings || holds->binds)
        return;
    die(r, handle);
    if (r->timeline->object[handle].kind == TIMELINE_MULTICAST)
        end_binds(r, handle);
}

static void set_references(struct timeline_reader *r, uint32_t handle, uint32_t references)
{
    r->holds[handle].references = references;
    r->timeline->object[handle].released = references ? TIMELINE_NONE : r->index;
    change(r, TIMELINE_REFERENCES, handle, (vmm_mem_location){0}, references);
}

static void end_mapping(struct timeline_reader *r, uint32_t mapping)
{
    uint32_t handle = r->timeline->object[mapping].handle;
    die(r, mapping);
    if (handle == TIMELINE_NONE)
        return;
    r->holds[handle].mappings--;
    let_go(r, handle);
}

/* ---- physical memory ---- */

static bool create(struct timeline_reader *r)
{
    json_t *prop = json_object_get(r->at.args, "prop");
    uint64_t size;
    if (!argument(r, "size", &size))
        return false;
    uint32_t handle = make(r, TIMELINE_HANDLE, "handle", 0, size);
    if (handle == TIMELINE_NONE)
        return false;
    struct timeline_object *o = object_of(r, handle);
    o->location = timeline_location(json_object_get(prop, "location"));
    o->exportable = json_integer_value(json_object_get(prop, "requested_handle_types")) != 0;
    o->memory = handle;
    set_references(r, handle, 1);
    return true;
}

static bool import(struct timeline_reader *r)
{
    uint32_t descriptor = named(r, "os_handle"), handle = make(r, TIMELINE_HANDLE, "handle", 0, 0);
    if (handle == TIMELINE_NONE)
        return false;
    struct timeline_object *o = object_of(r, handle);
    const struct timeline_object *d = object_of(r, descriptor);
    const struct timeline_object *of = d ? object_of(r, d->handle) : NULL;
    o->memory = handle;
    o->exportable = true;
    if (of) {
        o->size = of->size;
        o->kind = of->kind;
        o->team = of->team;
        o->location = of->location;
        o->memory = of->memory;
    }
    set_references(r, handle, 1);
    return true;
}

/* A mapping of what was made before the trace began may be retained; then only the handle's name is known. */
static bool retain(struct timeline_reader *r)
{
    uint32_t handle = named(r, "handle");
    if (!lives(r, handle)) {
        handle = make(r, TIMELINE_HANDLE, "handle", 0, 0);
        if (handle == TIMELINE_NONE)
            return false;
        object_of(r, handle)->memory = handle;
    }
    set_references(r, handle, r->holds[handle].references + 1);
    return true;
}

static bool release(struct timeline_reader *r)
{
    uint32_t handle = named(r, "handle");
    if (lives(r, handle) && r->holds[handle].references) {
        set_references(r, handle, r->holds[handle].references - 1);
        let_go(r, handle);
    }
    return true;
}

static bool export(struct timeline_reader *r)
{
    uint32_t handle = named(r, "handle"), before = named(r, "shareable_handle");
    if (!json_object_get(r->at.names, "shareable_handle") || lives(r, before)) /* a fabric handle may be had twice */
        return true;
    uint32_t descriptor = make(r, TIMELINE_DESCRIPTOR, "shareable_handle", 0, 0);
    if (descriptor == TIMELINE_NONE)
        return false;
    object_of(r, descriptor)->handle = handle;
    if (handle != TIMELINE_NONE)
        object_of(r, descriptor)->size = object_of(r, handle)->size;
    return true;
}

/* ---- multicast objects ---- */

static bool create_team(struct timeline_reader *r)
{
    json_t *prop = json_object_get(r->at.args, "prop");
    uint64_t size, devices;
    if (!timeline_number(r, prop, "size", &size) || !timeline_number(r, prop, "num_devices", &devices))
        return false;
    uint32_t handle = make(r, TIMELINE_MULTICAST, "mc_handle", 0, size);
    if (handle == TIMELINE_NONE)
        return false;
    object_of(r, handle)->team = (uint32_t)devices;
    object_of(r, handle)->memory = handle;
    set_references(r, handle, 1);
    return true;
}

static bool add_device(struct timeline_reader *r)
{
    uint64_t device;
    uint32_t team = named(r, "mc_handle");
    if (!argument(r, "dev", &device))
        return false;
    if (team != TIMELINE_NONE)
        change(r, TIMELINE_DEVICE, team, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)device}, 1);
    return true;
}

static bool bind(struct timeline_reader *r, uint32_t memory, uint64_t memory_offset)
{
    uint64_t offset, size;
    uint32_t team = named(r, "mc_handle");
    if (!argument(r, "mc_offset", &offset) || !argument(r, "size", &size))
        return false;
    uint32_t bound = make(r, TIMELINE_BIND, NULL, offset, size);
    if (bound == TIMELINE_NONE)
        return false;
    struct timeline_object *o = object_of(r, bound);
    o->handle = team;
    o->memory = memory;
    o->offset = memory_offset;
    if (memory != TIMELINE_NONE) {
        o->location = object_of(r, memory)->location;
        r->holds[memory].binds++;
    }
    return true;
}

static bool bind_memory(struct timeline_reader *r)
{
    uint64_t offset;
    return argument(r, "mem_offset", &offset) && bind(r, named(r, "mem_handle"), offset);
}

static bool bind_address(struct timeline_reader *r)
{
    uint64_t address;
    if (!argument(r, "memptr", &address))
        return false;
    const struct timeline_object *m = object_of(r, timeline_ranges_at(r->timeline, &r->ranges[TIMELINE_MAPPING], address));
    return m ? bind(r, m->handle, address - m->start + m->offset) : bind(r, TIMELINE_NONE, 0);
}

static bool unbind(struct timeline_reader *r)
{
    uint64_t offset, size, device;
    uint32_t team = named(r, "mc_handle");
    if (!argument(r, "mc_offset", &offset) || !argument(r, "size", &size) || !argument(r, "dev", &device))
        return false;
    for (uint32_t i = team == TIMELINE_NONE ? team : team + 1; i < r->timeline->objects; i++) {
        struct timeline_object *o = object_of(r, i);
        if (o->kind != TIMELINE_BIND || o->handle != team || !lives(r, i) || o->start != offset || o->size != size ||
            o->location.id != (int)device)
            continue;
        die(r, i);
        if (o->memory != TIMELINE_NONE)
            r->holds[o->memory].binds--;
        let_go(r, o->memory);
        break;
    }
    return true;
}

/* ---- addresses ---- */

static bool reserve(struct timeline_reader *r)
{
    uint64_t start, size;
    if (!timeline_number(r, r->at.out, "ptr", &start) || !argument(r, "size", &size))
        return false;
    uint32_t reservation = make(r, TIMELINE_RESERVATION, "ptr", start, size);
    if (reservation != TIMELINE_NONE)
        place(r, reservation);
    return reservation != TIMELINE_NONE;
}

static bool free_range(struct timeline_reader *r)
{
    uint64_t start;
    if (!argument(r, "ptr", &start))
        return false;
    die(r, timeline_ranges_at(r->timeline, &r->ranges[TIMELINE_RESERVATION], start));
    return true;
}

static bool map(struct timeline_reader *r)
{
    uint64_t start, size, offset;
    uint32_t handle = named(r, "handle");
    if (!argument(r, "ptr", &start) || !argument(r, "size", &size) || !argument(r, "offset", &offset))
        return false;
    uint32_t mapping = make(r, TIMELINE_MAPPING, NULL, start, size);
    if (mapping == TIMELINE_NONE)
        return false;
    struct timeline_object *o = object_of(r, mapping);
    o->offset = offset;
    if (lives(r, handle)) {
        o->handle = handle;
        o->location = object_of(r, handle)->location;
        r->holds[handle].mappings++;
    }
    place(r, mapping);
    return true;
}

/* Every mapping that lies wholly in [start, end). */
static void end_mappings(struct timeline_reader *r, uint64_t start, uint64_t end)
{
    const struct timeline_ranges *ranges = &r->ranges[TIMELINE_MAPPING];
    size_t at = timeline_ranges_after(r->timeline, ranges, start);
    while (at < ranges->count) {
        const struct timeline_object *o = object_of(r, ranges->object[at]);
        if (o->start >= end)
            break;
        if (o->start >= start && o->size <= end - o->start)
            end_mapping(r, ranges->object[at]); /* the next one is at `at` then */
        else
            at++;
    }
}

/* A range that wraps is taken for an empty one; from the very last address on it is everything up to its end. */
static bool unmap(struct timeline_reader *r)
{
    uint64_t start, size;
    if (!argument(r, "ptr", &start) || !argument(r, "size", &size))
        return false;
    if (start == UINT64_MAX && size)
        end_mappings(r, 0, size - 1);
    else if (size <= UINT64_MAX - start)
        end_mappings(r, start, start + size);
    return true;
}

/* ---- rights ---- */

/* Rights for the host on device memory: refused, and taking them away does nothing. */
static bool is_host_on_device(const struct timeline_object *mapping, vmm_mem_location location)
{
    return on_host(location) && !on_host(mapping->location);
}

/* One mapping's share of a grant. False where the driver stopped. */
static bool grant_on(struct timeline_reader *r, uint32_t mapping)
{
    json_t *list = json_object_get(r->at.args, "desc");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *desc = json_array_get(list, i);
        vmm_mem_location location = timeline_location(json_object_get(desc, "location"));
        json_int_t flags = json_integer_value(json_object_get(desc, "flags"));
        if (is_host_on_device(object_of(r, mapping), location)) {
            if (flags)
                return false;
            continue;
        }
        if (on_host(location))
            location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0};
        change(r, TIMELINE_RIGHTS, mapping, location, (uint32_t)flags & 3);
    }
    return true;
}

/* Was there anything that a driver refuses with NOT_SUPPORTED half way? */
static bool has_host_grant(const struct timeline_reader *r)
{
    json_t *list = json_object_get(r->at.args, "desc");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *desc = json_array_get(list, i);
        if (on_host(timeline_location(json_object_get(desc, "location"))) && json_integer_value(json_object_get(desc, "flags")))
            return true;
    }
    return false;
}

/* Mapping by mapping up to the first hole; of a range that wraps only the first. Refused with NOT_SUPPORTED, the grants
 * before the refused one stay. */
static bool set_access(struct timeline_reader *r)
{
    uint64_t at, size;
    if (!argument(r, "ptr", &at) || !argument(r, "size", &size))
        return false;
    if (!size || (r->call->result != VMM_SUCCESS && !has_host_grant(r)))
        return true;
    uint64_t last = size - 1 > UINT64_MAX - at ? at : at + size - 1;
    while (at && at <= last) {
        uint32_t mapping = timeline_ranges_at(r->timeline, &r->ranges[TIMELINE_MAPPING], at);
        if (mapping == TIMELINE_NONE || !grant_on(r, mapping))
            break;
        at = object_of(r, mapping)->start + object_of(r, mapping)->size;
    }
    return true;
}

/* ---- contexts and what is theirs ---- */

static struct timeline_thread *thread_of(struct timeline_reader *r)
{
    return &r->thread[r->call->thread];
}

/* A primary context stays current when it ends, and the next retain revives it: under its number, as a new object. */
static uint32_t current(struct timeline_reader *r)
{
    const struct timeline_thread *thread = thread_of(r);
    if (!thread->depth)
        return TIMELINE_NONE;
    const struct timeline_object *context = object_of(r, thread->context[thread->depth - 1]);
    return context ? r->numbered[TIMELINE_CONTEXT].object[context->number] : TIMELINE_NONE;
}

static void push(struct timeline_thread *thread, uint32_t context)
{
    if (thread->depth == TIMELINE_STACK) {
        memmove(thread->context, thread->context + 1, (TIMELINE_STACK - 1) * sizeof *thread->context);
        thread->depth--;
    }
    thread->context[thread->depth++] = context;
}

/* Streams, events and memory of cuMemAlloc go with their context; virtual memory management is not the context's. */
static void sweep(struct timeline_reader *r, uint32_t context)
{
    for (uint32_t i = context == TIMELINE_NONE ? context : context + 1; i < r->timeline->objects; i++)
        if (r->timeline->object[i].context == context)
            die(r, i);
}

static bool create_context(struct timeline_reader *r)
{
    uint64_t device;
    if (!argument(r, "dev", &device))
        return false;
    uint32_t context = make(r, TIMELINE_CONTEXT, "pctx", 0, 0);
    if (context == TIMELINE_NONE)
        return false;
    object_of(r, context)->location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)device};
    push(thread_of(r), context);
    return true;
}

/* The primary context of the device that the call names; NULL: malformed. */
static struct timeline_primary *primary_of(struct timeline_reader *r)
{
    uint64_t device;
    if (!argument(r, "dev", &device))
        return NULL;
    if (device < VMM_MAX_DEVICES)
        return &r->primary[device];
    trace_line_complain(&r->line, r->complaint, "\"dev\"", "no machine has a device %lld", (long long)device);
    return NULL;
}

static bool retain_primary(struct timeline_reader *r)
{
    struct timeline_primary *primary = primary_of(r);
    if (!primary)
        return false;
    if (!primary->retains || !lives(r, primary->context)) {
        uint32_t context = make(r, TIMELINE_CONTEXT, "pctx", 0, 0);
        if (context == TIMELINE_NONE)
            return false;
        object_of(r, context)->location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)(primary - r->primary)};
        primary->context = context;
    }
    primary->retains++;
    return true;
}

/* A reset ends it until the next retain; those before it still count. */
static bool release_primary(struct timeline_reader *r, bool reset)
{
    struct timeline_primary *primary = primary_of(r);
    if (!primary || !primary->retains)
        return primary != NULL;
    primary->retains -= !reset;
    if (reset || !primary->retains) {
        sweep(r, primary->context);
        die(r, primary->context);
    }
    return true;
}

/* Replaces the top of the thread's stack, which NULL pops. A context that is not known, as one that was destroyed, is one. */
static bool set_current(struct timeline_reader *r)
{
    struct timeline_thread *thread = thread_of(r);
    uint64_t value;
    if (!argument(r, "ctx", &value))
        return false;
    if (thread->depth)
        thread->depth--;
    if (value)
        push(thread, named(r, "ctx"));
    return true;
}

static bool destroy_context(struct timeline_reader *r)
{
    uint32_t context = named(r, "ctx");
    struct timeline_thread *thread = thread_of(r);
    die(r, context);
    sweep(r, context);
    if (thread->depth && thread->context[thread->depth - 1] == context)
        thread->depth--;
    return true;
}

static bool make_in_context(struct timeline_reader *r, enum timeline_kind kind, const char *key)
{
    uint32_t made = make(r, kind, key, 0, 0);
    if (made != TIMELINE_NONE)
        object_of(r, made)->context = current(r);
    return made != TIMELINE_NONE;
}

static bool allocate(struct timeline_reader *r)
{
    uint64_t start, size;
    if (!timeline_number(r, r->at.out, "dptr", &start) || !argument(r, "bytesize", &size))
        return false;
    uint32_t made = make(r, TIMELINE_ALLOCATION, "dptr", start, size);
    if (made == TIMELINE_NONE)
        return false;
    const struct timeline_object *context = object_of(r, current(r));
    object_of(r, made)->context = current(r);
    if (context)
        object_of(r, made)->location = context->location;
    place(r, made);
    return true;
}

static bool end_named(struct timeline_reader *r, const char *key)
{
    die(r, named(r, key));
    return true;
}

bool timeline_effect(struct timeline_reader *r)
{
    if (r->call->id == VMM_CALL_mem_set_access && r->call->result == VMM_ERROR_NOT_SUPPORTED)
        return set_access(r);
    if (r->call->result != VMM_SUCCESS)
        return true;
    switch (r->call->id) {
    case VMM_CALL_mem_create: return create(r);
    case VMM_CALL_mem_import_from_shareable_handle: return import(r);
    case VMM_CALL_mem_retain_allocation_handle: return retain(r);
    case VMM_CALL_mem_release: return release(r);
    case VMM_CALL_mem_export_to_shareable_handle: return export(r);
    case VMM_CALL_multicast_create: return create_team(r);
    case VMM_CALL_multicast_add_device: return add_device(r);
    case VMM_CALL_multicast_bind_mem: return bind_memory(r);
    case VMM_CALL_multicast_bind_addr: return bind_address(r);
    case VMM_CALL_multicast_unbind: return unbind(r);
    case VMM_CALL_mem_address_reserve: return reserve(r);
    case VMM_CALL_mem_address_free: return free_range(r);
    case VMM_CALL_mem_map: return map(r);
    case VMM_CALL_mem_unmap: return unmap(r);
    case VMM_CALL_mem_set_access: return set_access(r);
    case VMM_CALL_ctx_create: return create_context(r);
    case VMM_CALL_device_primary_ctx_retain: return retain_primary(r);
    case VMM_CALL_device_primary_ctx_release: return release_primary(r, false);
    case VMM_CALL_device_primary_ctx_reset: return release_primary(r, true);
    case VMM_CALL_ctx_set_current: return set_current(r);
    case VMM_CALL_ctx_destroy: return destroy_context(r);
    case VMM_CALL_stream_create: return make_in_context(r, TIMELINE_STREAM, "stream");
    case VMM_CALL_event_create: return make_in_context(r, TIMELINE_EVENT, "event");
    case VMM_CALL_stream_destroy: return end_named(r, "stream");
    case VMM_CALL_event_destroy: return end_named(r, "event");
    case VMM_CALL_mem_alloc: return allocate(r);
    case VMM_CALL_mem_free: return end_named(r, "dptr");
    default: return true;
    }
}

#else
typedef int timeline_effect_needs_jansson;
#endif
