/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of calls on handles, multicast objects and their holders. See timeline_state.h. */
#include "timeline_state.h"

/* ---- holders of memory ---- */

static void let_go(struct timeline_reader *r, uint32_t handle);

static void end_bind(struct timeline_reader *r, uint32_t bind)
{
    const uint32_t memory = r->timeline->object[bind].memory;
    timeline_die(r, bind);
    if (memory != TIMELINE_NONE)
        r->holds[memory].binds--;
    let_go(r, memory);
}

/* Ends the binds of an ended multicast object, and drops the memory that they hold: in order of creation. */
static void end_binds(struct timeline_reader *r, uint32_t team)
{
    uint32_t eldest = TIMELINE_NONE, next;
    for (uint32_t i = r->holds[team].first; i != TIMELINE_NONE; i = next) {
        next = r->holds[i].next;
        r->holds[i].next = eldest;
        eldest = i;
    }
    r->holds[team].first = TIMELINE_NONE;
    for (uint32_t i = eldest; i != TIMELINE_NONE; i = r->holds[i].next)
        if (timeline_lives(r, i))
            end_bind(r, i);
}

/* After a holder has ended: is it still held? */
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

static void create(struct timeline_reader *r)
{
    const struct vmm_call_mem_create *call = &r->any->mem_create;
    const uint32_t handle = timeline_make(r, TIMELINE_HANDLE, 0, call->size);
    struct timeline_object *o = timeline_object_of(r, handle);
    if (call->prop) {
        o->location = call->prop->location;
        o->exportable = call->prop->requested_handle_types != 0;
    }
    o->memory = handle;
    set_references(r, handle, 1);
}

static void import(struct timeline_reader *r)
{
    const uint32_t descriptor = timeline_named_by(r, "os_handle"), handle = timeline_make(r, TIMELINE_HANDLE, 0, 0);
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
}

/* A mapping of memory made before the trace began may be retained; then only the handle's name is known. */
static void retain(struct timeline_reader *r)
{
    uint32_t handle = timeline_named_by(r, "handle");
    if (!timeline_lives(r, handle)) {
        handle = timeline_make(r, TIMELINE_HANDLE, 0, 0);
        timeline_object_of(r, handle)->memory = handle;
    }
    set_references(r, handle, r->holds[handle].references + 1);
}

static void release(struct timeline_reader *r)
{
    uint32_t handle = timeline_named_by(r, "handle");
    if (timeline_lives(r, handle) && r->holds[handle].references) {
        set_references(r, handle, r->holds[handle].references - 1);
        let_go(r, handle);
    }
}

/* A fabric handle may be exported twice. An impossible number would require a list of that length. */
static bool export(struct timeline_reader *r)
{
    const uint32_t handle = timeline_named_by(r, "handle"), before = timeline_named_by(r, "shareable_handle");
    if (!r->event->descriptor || timeline_lives(r, before))
        return true;
    if (r->event->descriptor > r->index + 1)
        return timeline_complain(r, "\"D%u\" cannot be the name of what the call made: no more than %u calls were made",
                                 (unsigned)r->event->descriptor, (unsigned)r->index + 1);
    const uint32_t descriptor = timeline_make(r, TIMELINE_DESCRIPTOR, 0, 0);
    timeline_object_of(r, descriptor)->handle = handle;
    if (handle != TIMELINE_NONE)
        timeline_object_of(r, descriptor)->size = timeline_object_of(r, handle)->size;
    return true;
}

/* ---- multicast objects ---- */

static void create_team(struct timeline_reader *r)
{
    const vmm_multicast_object_prop *prop = r->any->multicast_create.prop;
    const uint32_t handle = timeline_make(r, TIMELINE_MULTICAST, 0, prop ? prop->size : 0);
    timeline_object_of(r, handle)->team = prop ? prop->num_devices : 0;
    timeline_object_of(r, handle)->memory = handle;
    set_references(r, handle, 1);
}

static void add_device(struct timeline_reader *r)
{
    const uint32_t team = timeline_named_by(r, "mc_handle");
    if (team != TIMELINE_NONE)
        timeline_changed(r, TIMELINE_DEVICE, team, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, r->any->multicast_add_device.dev}, 1);
}

static void bind(struct timeline_reader *r, uint64_t offset, uint64_t size, uint32_t memory, uint64_t memory_offset)
{
    const uint32_t team = timeline_named_by(r, "mc_handle"), bound = timeline_make(r, TIMELINE_BIND, offset, size);
    struct timeline_object *o = timeline_object_of(r, bound);
    o->handle = team;
    o->memory = memory;
    o->offset = memory_offset;
    timeline_belongs(r, bound, team);
    if (memory != TIMELINE_NONE) {
        o->location = timeline_object_of(r, memory)->location;
        r->holds[memory].binds++;
    }
}

static void bind_memory(struct timeline_reader *r)
{
    const struct vmm_call_multicast_bind_mem *call = &r->any->multicast_bind_mem;
    bind(r, call->mc_offset, call->size, timeline_named_by(r, "mem_handle"), call->mem_offset);
}

static void bind_address(struct timeline_reader *r)
{
    const struct vmm_call_multicast_bind_addr *call = &r->any->multicast_bind_addr;
    const struct timeline_object *m = timeline_object_of(r, timeline_at(r, TIMELINE_MAPPING, call->memptr));
    bind(r, call->mc_offset, call->size, m ? m->handle : TIMELINE_NONE, m ? call->memptr - m->start + m->offset : 0);
}

/* The oldest matching one. Removes ended objects from the list. */
static void unbind(struct timeline_reader *r)
{
    const struct vmm_call_multicast_unbind *call = &r->any->multicast_unbind;
    const uint32_t team = timeline_named_by(r, "mc_handle");
    uint32_t meant = TIMELINE_NONE, *link = team == TIMELINE_NONE ? NULL : &r->holds[team].first;
    while (link && *link != TIMELINE_NONE) {
        const struct timeline_object *o = timeline_object_of(r, *link);
        if (!timeline_lives(r, *link)) {
            *link = r->holds[*link].next;
            continue;
        }
        if (o->start == call->mc_offset && o->size == call->size && o->location.id == call->dev)
            meant = *link;
        link = &r->holds[*link].next;
    }
    if (meant != TIMELINE_NONE)
        end_bind(r, meant);
}

bool timeline_memory(struct timeline_reader *r)
{
    switch ((enum vmm_call_id)r->event->call->id) {
    case VMM_CALL_mem_create: create(r); break;
    case VMM_CALL_mem_import_from_shareable_handle: import(r); break;
    case VMM_CALL_mem_retain_allocation_handle: retain(r); break;
    case VMM_CALL_mem_release: release(r); break;
    case VMM_CALL_mem_export_to_shareable_handle: return export(r);
    case VMM_CALL_multicast_create: create_team(r); break;
    case VMM_CALL_multicast_add_device: add_device(r); break;
    case VMM_CALL_multicast_bind_mem: bind_memory(r); break;
    case VMM_CALL_multicast_bind_addr: bind_address(r); break;
    case VMM_CALL_multicast_unbind: unbind(r); break;
    default: break;
    }
    return true;
}
