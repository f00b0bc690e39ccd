/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of calls on reservations, mappings and rights. See timeline_state.h. */
#include "timeline_state.h"

#include "trace.h"

/* The value behind an output; 0 if there is none. */
static uint64_t made(const uint64_t *output)
{
    return output ? *output : 0;
}

static void reserve(struct timeline_reader *r)
{
    const struct vmm_call_mem_address_reserve *call = &r->any->mem_address_reserve;
    timeline_place(r, timeline_make(r, TIMELINE_RESERVATION, made(call->ptr), call->size));
}

static void map(struct timeline_reader *r)
{
    const struct vmm_call_mem_map *call = &r->any->mem_map;
    const uint32_t handle = timeline_named_by(r, "handle"), mapping = timeline_make(r, TIMELINE_MAPPING, call->ptr, call->size);
    struct timeline_object *o = timeline_object_of(r, mapping);
    o->offset = call->offset;
    if (timeline_lives(r, handle)) {
        o->handle = handle;
        o->location = timeline_object_of(r, handle)->location;
        r->holds[handle].mappings++;
    }
    timeline_place(r, mapping);
}

/* Every mapping that lies wholly in [start, end). */
static void end_mappings(struct timeline_reader *r, uint64_t start, uint64_t end)
{
    struct spans *ranges = &r->ranges[TIMELINE_MAPPING];
    const struct span *span = spans_from(ranges, start);
    while (span && span->start < end) {
        const uint64_t last = span_last(span);
        if (span->start >= start && last < end)
            timeline_end_mapping(r, (uint32_t)span->value);
        span = last == UINT64_MAX ? NULL : spans_from(ranges, last + 1);
    }
}

/* A range that wraps counts as empty; from the very last address it covers everything up to its end. */
static void unmap(struct timeline_reader *r)
{
    const uint64_t start = r->any->mem_unmap.ptr, size = r->any->mem_unmap.size;
    if (start == UINT64_MAX && size)
        end_mappings(r, 0, size - 1);
    else if (size <= UINT64_MAX - start)
        end_mappings(r, start, start + size);
}

/* ---- rights ---- */

static unsigned rights_shift(vmm_mem_location location)
{
    return 2 * (unsigned)location.id;
}

static bool is_device(vmm_mem_location location)
{
    return location.type == VMM_MEM_LOCATION_TYPE_DEVICE && location.id >= 0 && location.id < VMM_MAX_DEVICES;
}

static uint32_t rights_of(const struct timeline_reader *r, uint32_t mapping, vmm_mem_location device)
{
    return r->holds[mapping].rights >> rights_shift(device) & 3;
}

static void set_rights(struct timeline_reader *r, uint32_t mapping, vmm_mem_location location, uint32_t rights)
{
    uint64_t *all = &r->holds[mapping].rights;
    if (is_device(location))
        *all = (*all & ~(UINT64_C(3) << rights_shift(location))) | (uint64_t)rights << rights_shift(location);
    timeline_changed(r, TIMELINE_RIGHTS, mapping, location, rights);
}

/* Rights for the host on device memory: granting is refused, revoking has no effect. */
static bool is_host_on_device(const struct timeline_object *mapping, vmm_mem_location location)
{
    return timeline_on_host(location) && !timeline_on_host(mapping->location);
}

/* At most as many grants as a trace records. */
static size_t grants(const struct vmm_call_mem_set_access *call)
{
    return call->desc ? (size_t)(call->count < TRACE_LIST_MAX ? call->count : TRACE_LIST_MAX) : 0;
}

/* One mapping's share of a grant. False if the driver stopped there. */
static bool grant_on(struct timeline_reader *r, uint32_t mapping)
{
    const struct vmm_call_mem_set_access *call = &r->any->mem_set_access;
    for (size_t i = 0; i < grants(call); i++) {
        vmm_mem_location location = call->desc[i].location;
        const int flags = call->desc[i].flags;
        if (is_host_on_device(timeline_object_of(r, mapping), location)) {
            if (!flags)
                continue;
            if (r->event->result != VMM_SUCCESS)
                return false;
            /* Otherwise it was host memory, made before the trace began. */
        }
        if (timeline_on_host(location))
            location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0};
        set_rights(r, mapping, location, (uint32_t)flags & 3);
    }
    return true;
}

/* Was it a refusal in the middle of a range, with NOT_SUPPORTED? */
static bool stopped_half_way(const struct timeline_reader *r)
{
    const struct vmm_call_mem_set_access *call = &r->any->mem_set_access;
    for (size_t i = 0; r->event->result == VMM_ERROR_NOT_SUPPORTED && i < grants(call); i++)
        if (timeline_on_host(call->desc[i].location) && call->desc[i].flags)
            return true;
    return false;
}

/* Mapping by mapping up to the first hole; for a wrapping range only the first. If the call is refused with NOT_SUPPORTED, the
 * grants before the refused one stay. */
static void set_access(struct timeline_reader *r)
{
    uint64_t at = r->any->mem_set_access.ptr;
    const uint64_t size = r->any->mem_set_access.size;
    if (!size || (r->event->result != VMM_SUCCESS && !stopped_half_way(r)))
        return;
    const uint64_t last = size - 1 > UINT64_MAX - at ? at : at + size - 1;
    while (at && at <= last) {
        const uint32_t mapping = timeline_at(r, TIMELINE_MAPPING, at);
        if (mapping == TIMELINE_NONE || !grant_on(r, mapping))
            break;
        at = timeline_object_of(r, mapping)->start + timeline_object_of(r, mapping)->size;
    }
}

/* For the host, the result may be device 0's rights, so it is ignored. */
static void get_access(struct timeline_reader *r)
{
    const struct vmm_call_mem_get_access *call = &r->any->mem_get_access;
    const uint32_t mapping = timeline_at(r, TIMELINE_MAPPING, call->ptr);
    if (!call->location || !call->flags || mapping == TIMELINE_NONE || !is_device(*call->location))
        return;
    if (rights_of(r, mapping, *call->location) != *call->flags)
        set_rights(r, mapping, *call->location, (uint32_t)*call->flags & 3);
}

void timeline_addresses(struct timeline_reader *r)
{
    switch ((enum vmm_call_id)r->event->call->id) {
    case VMM_CALL_mem_address_reserve: reserve(r); break;
    case VMM_CALL_mem_address_free: timeline_die(r, timeline_at(r, TIMELINE_RESERVATION, r->any->mem_address_free.ptr)); break;
    case VMM_CALL_mem_map: map(r); break;
    case VMM_CALL_mem_unmap: unmap(r); break;
    case VMM_CALL_mem_set_access: set_access(r); break;
    case VMM_CALL_mem_get_access: get_access(r); break;
    default: break;
    }
}
