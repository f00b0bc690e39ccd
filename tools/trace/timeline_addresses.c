/* SPDX-License-Identifier: Apache-2.0 */
/* What calls do to reservations, mappings and rights. See timeline_state.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "timeline_state.h"

static bool reserve(struct timeline_reader *r)
{
    uint64_t start, size;
    if (!timeline_number(r, r->at.out, "ptr", &start) || !timeline_argument(r, "size", &size))
        return false;
    uint32_t reservation = timeline_make(r, TIMELINE_RESERVATION, "ptr", start, size);
    if (reservation != TIMELINE_NONE)
        timeline_place(r, reservation);
    return reservation != TIMELINE_NONE;
}

static bool free_range(struct timeline_reader *r)
{
    uint64_t start;
    if (!timeline_argument(r, "ptr", &start))
        return false;
    timeline_die(r, timeline_ranges_at(r->timeline, &r->ranges[TIMELINE_RESERVATION], start));
    return true;
}

static bool map(struct timeline_reader *r)
{
    uint64_t start, size, offset;
    uint32_t handle = timeline_named_by(r, "handle");
    if (!timeline_argument(r, "ptr", &start) || !timeline_argument(r, "size", &size) || !timeline_argument(r, "offset", &offset))
        return false;
    uint32_t mapping = timeline_make(r, TIMELINE_MAPPING, NULL, start, size);
    if (mapping == TIMELINE_NONE)
        return false;
    struct timeline_object *o = timeline_object_of(r, mapping);
    o->offset = offset;
    if (timeline_lives(r, handle)) {
        o->handle = handle;
        o->location = timeline_object_of(r, handle)->location;
        r->holds[handle].mappings++;
    }
    timeline_place(r, mapping);
    return true;
}

/* Every mapping that lies wholly in [start, end). */
static void end_mappings(struct timeline_reader *r, uint64_t start, uint64_t end)
{
    const struct timeline_ranges *ranges = &r->ranges[TIMELINE_MAPPING];
    size_t at = timeline_ranges_after(r->timeline, ranges, start);
    while (at < ranges->count) {
        const struct timeline_object *o = timeline_object_of(r, ranges->object[at]);
        if (o->start >= end)
            break;
        if (o->start >= start && o->size <= end - o->start)
            timeline_end_mapping(r, ranges->object[at]); /* the next one is at `at` then */
        else
            at++;
    }
}

/* A range that wraps is taken for an empty one; from the very last address on it is everything up to its end. */
static bool unmap(struct timeline_reader *r)
{
    uint64_t start, size;
    if (!timeline_argument(r, "ptr", &start) || !timeline_argument(r, "size", &size))
        return false;
    if (start == UINT64_MAX && size)
        end_mappings(r, 0, size - 1);
    else if (size <= UINT64_MAX - start)
        end_mappings(r, start, start + size);
    return true;
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

/* Rights for the host on device memory: refused, and taking them away does nothing. */
static bool is_host_on_device(const struct timeline_object *mapping, vmm_mem_location location)
{
    return timeline_on_host(location) && !timeline_on_host(mapping->location);
}

/* One mapping's share of a grant. False where the driver stopped. */
static bool grant_on(struct timeline_reader *r, uint32_t mapping)
{
    json_t *list = json_object_get(r->at.args, "desc");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *desc = json_array_get(list, i);
        vmm_mem_location location = timeline_location(json_object_get(desc, "location"));
        json_int_t flags = json_integer_value(json_object_get(desc, "flags"));
        if (is_host_on_device(timeline_object_of(r, mapping), location)) {
            if (!flags)
                continue;
            if (r->call->result != VMM_SUCCESS)
                return false;
            /* Else it was memory of the host after all, made before the trace began. */
        }
        if (timeline_on_host(location))
            location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0};
        set_rights(r, mapping, location, (uint32_t)flags & 3);
    }
    return true;
}

/* Was it refused for rights that a driver refuses half way, with NOT_SUPPORTED? */
static bool stopped_half_way(const struct timeline_reader *r)
{
    json_t *list = r->call->result == VMM_ERROR_NOT_SUPPORTED ? json_object_get(r->at.args, "desc") : NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *desc = json_array_get(list, i);
        if (timeline_on_host(timeline_location(json_object_get(desc, "location"))) &&
            json_integer_value(json_object_get(desc, "flags")))
            return true;
    }
    return false;
}

/* Mapping by mapping up to the first hole; of a range that wraps only the first. Refused with NOT_SUPPORTED, the grants
 * before the refused one stay. */
static bool set_access(struct timeline_reader *r)
{
    uint64_t at, size;
    if (!timeline_argument(r, "ptr", &at) || !timeline_argument(r, "size", &size))
        return false;
    if (!size || (r->call->result != VMM_SUCCESS && !stopped_half_way(r)))
        return true;
    uint64_t last = size - 1 > UINT64_MAX - at ? at : at + size - 1;
    while (at && at <= last) {
        uint32_t mapping = timeline_ranges_at(r->timeline, &r->ranges[TIMELINE_MAPPING], at);
        if (mapping == TIMELINE_NONE || !grant_on(r, mapping))
            break;
        at = timeline_object_of(r, mapping)->start + timeline_object_of(r, mapping)->size;
    }
    return true;
}

/* Of the host, the answer may be device 0's rights, so it means nothing. */
static bool get_access(struct timeline_reader *r)
{
    uint64_t address, flags;
    if (!timeline_argument(r, "ptr", &address) || !timeline_number(r, r->at.out, "flags", &flags))
        return false;
    vmm_mem_location location = timeline_location(json_object_get(r->at.args, "location"));
    uint32_t mapping = timeline_ranges_at(r->timeline, &r->ranges[TIMELINE_MAPPING], address);
    if (mapping != TIMELINE_NONE && is_device(location) && rights_of(r, mapping, location) != flags)
        set_rights(r, mapping, location, (uint32_t)flags & 3);
    return true;
}

bool timeline_addresses(struct timeline_reader *r)
{
    switch (r->call->id) {
    case VMM_CALL_mem_address_reserve: return reserve(r);
    case VMM_CALL_mem_address_free: return free_range(r);
    case VMM_CALL_mem_map: return map(r);
    case VMM_CALL_mem_unmap: return unmap(r);
    case VMM_CALL_mem_set_access: return set_access(r);
    case VMM_CALL_mem_get_access: return get_access(r);
    default: return true;
    }
}

#else
typedef int timeline_addresses_needs_jansson;
#endif
