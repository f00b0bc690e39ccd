/* SPDX-License-Identifier: Apache-2.0 */
/* What calls do to handles, multicast objects and what holds them. See timeline_state.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "timeline_state.h"

/* ---- what holds memory ---- */

static void let_go(struct timeline_reader *r, uint32_t handle);

/* The binds of a multicast object that ends, and of what they hold. */
static void end_binds(struct timeline_reader *r, uint32_t team)
{
    for (uint32_t i = team + 1; i < r->timeline->objects; i++)
        if (r->timeline->object[i].kind == TIMELINE_BIND && r->timeline->object[i].handle == team && timeline_lives(r, i)) {
            timeline_die(r, i);
            uint32_t memory = r->timeline->object[i].memory;
            if (memory != TIMELINE_NONE)
                r->holds[memory].binds--;
            let_go(r, memory);
        }
}

/* After something that held it is gone: is it held still? */
static void let_go(struct timeline_reader *r, uint32_t handle)
{
    if (!timeline_lives(r, handle))
        return;
    const struct timeline_holds *holds = &r->holds[handle];
    if (holds->references || holds->mappings || holds->binds)
        return;
    timeline_die(r, handle);
    if (r->timeline->object[handle].kind == TIMELINE_MULTICAST)
        end_binds(r, handle);
}

static void set_references(struct timeline_reader *r, uint32_t handle, uint32_t references)
{
    r->holds[handle].references = references;
    r->timeline->object[handle].released = references ? TIMELINE_NONE : r->index;
    timeline_changed(r, TIMELINE_REFERENCES, handle, (vmm_mem_location){0}, references);
}

void timeline_end_mapping(struct timeline_reader *r, uint32_t mapping)
{
    uint32_t handle = r->timeline->object[mapping].handle;
    timeline_die(r, mapping);
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
    if (!timeline_argument(r, "size", &size))
        return false;
    uint32_t handle = timeline_make(r, TIMELINE_HANDLE, "handle", 0, size);
    if (handle == TIMELINE_NONE)
        return false;
    struct timeline_object *o = timeline_object_of(r, handle);
    o->location = timeline_location(json_object_get(prop, "location"));
    o->exportable = json_integer_value(json_object_get(prop, "requested_handle_types")) != 0;
    o->memory = handle;
    set_references(r, handle, 1);
    return true;
}

static bool import(struct timeline_reader *r)
{
    uint32_t descriptor = timeline_named_by(r, "os_handle"), handle = timeline_make(r, TIMELINE_HANDLE, "handle", 0, 0);
    if (handle == TIMELINE_NONE)
        return false;
    struct timeline_object *o = timeline_object_of(r, handle);
    const struct timeline_object *d = timeline_object_of(r, descriptor);
    const struct timeline_object *of = d ? timeline_object_of(r, d->handle) : NULL;
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
    uint32_t handle = timeline_named_by(r, "handle");
    if (!timeline_lives(r, handle)) {
        handle = timeline_make(r, TIMELINE_HANDLE, "handle", 0, 0);
        if (handle == TIMELINE_NONE)
            return false;
        timeline_object_of(r, handle)->memory = handle;
    }
    set_references(r, handle, r->holds[handle].references + 1);
    return true;
}

static bool release(struct timeline_reader *r)
{
    uint32_t handle = timeline_named_by(r, "handle");
    if (timeline_lives(r, handle) && r->holds[handle].references) {
        set_references(r, handle, r->holds[handle].references - 1);
        let_go(r, handle);
    }
    return true;
}

static bool export(struct timeline_reader *r)
{
    uint32_t handle = timeline_named_by(r, "handle"), before = timeline_named_by(r, "shareable_handle");
    if (!json_object_get(r->at.names, "shareable_handle") || timeline_lives(r, before)) /* a fabric handle may be had twice */
        return true;
    uint32_t descriptor = timeline_make(r, TIMELINE_DESCRIPTOR, "shareable_handle", 0, 0);
    if (descriptor == TIMELINE_NONE)
        return false;
    timeline_object_of(r, descriptor)->handle = handle;
    if (handle != TIMELINE_NONE)
        timeline_object_of(r, descriptor)->size = timeline_object_of(r, handle)->size;
    return true;
}

/* ---- multicast objects ---- */

static bool create_team(struct timeline_reader *r)
{
    json_t *prop = json_object_get(r->at.args, "prop");
    uint64_t size, devices;
    if (!timeline_number(r, prop, "size", &size) || !timeline_number(r, prop, "num_devices", &devices))
        return false;
    uint32_t handle = timeline_make(r, TIMELINE_MULTICAST, "mc_handle", 0, size);
    if (handle == TIMELINE_NONE)
        return false;
    timeline_object_of(r, handle)->team = (uint32_t)devices;
    timeline_object_of(r, handle)->memory = handle;
    set_references(r, handle, 1);
    return true;
}

static bool add_device(struct timeline_reader *r)
{
    uint64_t device;
    uint32_t team = timeline_named_by(r, "mc_handle");
    if (!timeline_argument(r, "dev", &device))
        return false;
    if (team != TIMELINE_NONE)
        timeline_changed(r, TIMELINE_DEVICE, team, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)device}, 1);
    return true;
}

static bool bind(struct timeline_reader *r, uint32_t memory, uint64_t memory_offset)
{
    uint64_t offset, size;
    uint32_t team = timeline_named_by(r, "mc_handle");
    if (!timeline_argument(r, "mc_offset", &offset) || !timeline_argument(r, "size", &size))
        return false;
    uint32_t bound = timeline_make(r, TIMELINE_BIND, NULL, offset, size);
    if (bound == TIMELINE_NONE)
        return false;
    struct timeline_object *o = timeline_object_of(r, bound);
    o->handle = team;
    o->memory = memory;
    o->offset = memory_offset;
    if (memory != TIMELINE_NONE) {
        o->location = timeline_object_of(r, memory)->location;
        r->holds[memory].binds++;
    }
    return true;
}

static bool bind_memory(struct timeline_reader *r)
{
    uint64_t offset;
    return timeline_argument(r, "mem_offset", &offset) && bind(r, timeline_named_by(r, "mem_handle"), offset);
}

static bool bind_address(struct timeline_reader *r)
{
    uint64_t address;
    if (!timeline_argument(r, "memptr", &address))
        return false;
    uint32_t mapping = timeline_ranges_at(r->timeline, &r->ranges[TIMELINE_MAPPING], address);
    const struct timeline_object *m = timeline_object_of(r, mapping);
    return m ? bind(r, m->handle, address - m->start + m->offset) : bind(r, TIMELINE_NONE, 0);
}

static bool unbind(struct timeline_reader *r)
{
    uint64_t offset, size, device;
    uint32_t team = timeline_named_by(r, "mc_handle");
    if (!timeline_argument(r, "mc_offset", &offset) || !timeline_argument(r, "size", &size) ||
        !timeline_argument(r, "dev", &device))
        return false;
    for (uint32_t i = team == TIMELINE_NONE ? team : team + 1; i < r->timeline->objects; i++) {
        struct timeline_object *o = timeline_object_of(r, i);
        if (o->kind != TIMELINE_BIND || o->handle != team || !timeline_lives(r, i) || o->start != offset || o->size != size ||
            o->location.id != (int)device)
            continue;
        timeline_die(r, i);
        if (o->memory != TIMELINE_NONE)
            r->holds[o->memory].binds--;
        let_go(r, o->memory);
        break;
    }
    return true;
}

bool timeline_memory(struct timeline_reader *r)
{
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
    default: return true;
    }
}

#else
typedef int timeline_memory_needs_jansson;
#endif
