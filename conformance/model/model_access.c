/* model_access.c - who may do what. */
#include "model_edges.h"
#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

static bool host_location(const vmm_mem_location *location)
{
    return location->type == VMM_MEM_LOCATION_TYPE_HOST || location->type == VMM_MEM_LOCATION_TYPE_HOST_NUMA;
}

static bool device_in_range(const struct model *m, int device)
{
    return device >= 0 && device < m->profile->devices;
}

static bool same_location(const vmm_mem_location *a, const vmm_mem_location *b)
{
    if (host_location(a) && host_location(b))
        return true;
    return a->type == b->type && a->id == b->id;
}

/* ---- set ---- */

static bool set_descriptor(const struct model *m, const vmm_mem_access_desc *d, struct model_answer *a)
{
    if (d->flags != VMM_MEM_ACCESS_FLAGS_PROT_NONE && d->flags != VMM_MEM_ACCESS_FLAGS_PROT_READ &&
        d->flags != VMM_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return model_refuse(a, INVALID, "VMM-ACCESS-FLAGS");
    if (d->location.type != VMM_MEM_LOCATION_TYPE_DEVICE && !host_location(&d->location))
        return model_refuse(a, INVALID, "VMM-ACCESS-LOCATION-TYPE");
    if (d->location.type == VMM_MEM_LOCATION_TYPE_DEVICE && !device_in_range(m, d->location.id))
        return model_refuse(a, INVALID, "VMM-ACCESS-DEVICE-ID");
    return true;
}

static bool set_arguments(const struct model *m, const struct vmm_call_mem_set_access *c, struct model_answer *a)
{
    if (!c->ptr)
        return model_refuse(a, INVALID, "VMM-ACCESS-PTR-ZERO");
    if (!c->size)
        return model_refuse(a, INVALID, "VMM-ACCESS-SIZE-ZERO");
    if (!c->count)
        return model_refuse(a, INVALID, "VMM-ACCESS-COUNT-ZERO");
    if (!c->desc)
        return model_refuse(a, INVALID, "VMM-ACCESS-NULL-DESC");
    if (c->size % model_edge_access_unit(m))
        return model_refuse(a, INVALID, "VMM-ACCESS-SIZE-GRANULARITY");
    for (uint64_t i = 0; i < c->count; i++)
        if (!set_descriptor(m, &c->desc[i], a))
            return false;
    return true;
}

/* The range starts where a mapping starts and ends where one ends. */
static bool set_range(struct model *m, const struct vmm_call_mem_set_access *c, struct model_answer *a)
{
    bool wraps = c->size - 1 > UINT64_MAX - c->ptr;
    uint64_t last = wraps ? UINT64_MAX : c->ptr + (c->size - 1);
    const struct model_mapping *from = model_mapping_at(m, c->ptr), *to = model_mapping_at(m, last);
    if (!from)
        return model_refuse(a, INVALID, "VMM-ACCESS-NOT-MAPPED");
    if (from->start != c->ptr)
        return model_refuse(a, INVALID, "VMM-ACCESS-PARTIAL");
    if (!to)
        return model_refuse(a, INVALID, "VMM-ACCESS-NOT-MAPPED");
    return to->start + to->size - 1 == last || model_refuse(a, INVALID, "VMM-ACCESS-PARTIAL");
}

static bool in_range(const struct model_mapping *mapping, const struct vmm_call_mem_set_access *c)
{
    return mapping->start >= c->ptr && mapping->start - c->ptr < c->size;
}

/* The first mapping of the range that starts at from or behind it. */
static const struct model_mapping *next_in_range(const struct model *m, const struct vmm_call_mem_set_access *c,
                                                 uint64_t from)
{
    const struct model_mapping *first = NULL;
    for (size_t i = 0; i < m->mapping_count; i++) {
        const struct model_mapping *p = &m->mappings[i];
        if (in_range(p, c) && p->start >= from && (!first || p->start < first->start))
            first = p;
    }
    return first;
}

/* Where the mappings that are changed end: at the range's end, or at the first hole in it. */
static uint64_t reached(struct model *m, const struct vmm_call_mem_set_access *c)
{
    uint64_t at = c->ptr, end = c->ptr + c->size;
    while (at < end && model_mapping_at(m, at))
        at = model_mapping_at(m, at)->start + model_mapping_at(m, at)->size;
    return at < end ? at : end;
}

/* What the memory of one mapping allows one location. */
static bool set_memory(struct model *m, const vmm_mem_access_desc *d, const struct model_mapping *mapping,
                       struct model_answer *a)
{
    if (!model_in_device(m, mapping))
        return true;
    int owner = model_memory_of(m, mapping->handle)->prop.location.id;
    if (host_location(&d->location))
        return d->flags == VMM_MEM_ACCESS_FLAGS_PROT_NONE ||
               model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-ACCESS-HOST-ON-DEVICE");
    return d->location.id == owner || (m->profile->peers[d->location.id] >> owner & 1) ||
           model_refuse(a, VMM_ERROR_PEER_ACCESS_UNSUPPORTED, "VMM-ACCESS-PEER");
}

static bool set_warnings(const struct model *m, const struct vmm_call_mem_set_access *c, struct model_answer *a)
{
    uint64_t covered = 0;
    for (size_t i = 0; i < m->mapping_count; i++)
        if (in_range(&m->mappings[i], c))
            covered += m->mappings[i].size;
    if (covered < c->size && !model_breach(m, a, "VMM-ACCESS-HOLE"))
        return false;
    for (uint64_t i = 0; i < c->count; i++)
        for (uint64_t j = 0; j < i; j++)
            if (same_location(&c->desc[i].location, &c->desc[j].location))
                model_hazard(a, "VMM-ACCESS-DUPLICATE");
    return true;
}

static void set_rights(struct model_mapping *mapping, const vmm_mem_access_desc *d, bool device_memory)
{
    if (host_location(&d->location)) {
        if (device_memory)
            return; /* nobody has it, nobody gets it */
        if (d->flags && mapping->host != d->flags)
            mapping->host_newer = true;
        mapping->host = (uint8_t)d->flags;
    } else {
        if (d->flags && mapping->device[d->location.id] != d->flags && d->location.id == 0)
            mapping->host_newer = false;
        mapping->device[d->location.id] = (uint8_t)d->flags;
    }
}

/* Mapping by mapping, for each descriptor by descriptor, up to the first that is refused. apply: makes the change. */
static bool set_each(struct model *m, const struct vmm_call_mem_set_access *c, bool apply, struct model_answer *a)
{
    uint64_t end = reached(m, c);
    for (const struct model_mapping *p = next_in_range(m, c, c->ptr); p && p->start < end;
         p = next_in_range(m, c, p->start + p->size))
        for (uint64_t d = 0; d < c->count; d++) {
            if (!set_memory(m, &c->desc[d], p, a))
                return false;
            if (apply)
                set_rights(model_mapping_at(m, p->start), &c->desc[d], model_in_device(m, p));
        }
    return true;
}

/* What was set before a mapping that refuses stays set. */
MODEL_ON(mem_set_access)
{
    if (!set_arguments(m, c, a) || !set_range(m, c, a))
        return;
    if (MODEL_EDGE_HOLE_FIRST && m->strict && !set_warnings(m, c, a))
        return;
    a->rule = NULL;
    bool allowed = set_each(m, c, false, a) && set_warnings(m, c, a);
    if (a->actual == a->result && (allowed || a->result != INVALID))
        set_each(m, c, true, a);
}

/* ---- get ---- */

static bool get_location(const struct model *m, const vmm_mem_location *l)
{
    if (l->type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return device_in_range(m, l->id);
    return host_location(l);
}

/* HOST_NUMA reports what the host may, which is nothing on device memory; HOST whichever of device 0 and the host was
 * granted later and still has any. */
static uint64_t get_rights(const struct model_mapping *mapping, const vmm_mem_location *l)
{
    if (l->type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return mapping->device[l->id];
    if (l->type == VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return mapping->host;
    bool host = mapping->host && (mapping->host_newer || !mapping->device[0]);
    return host ? mapping->host : mapping->device[0];
}

MODEL_ON(mem_get_access)
{
    const struct model_mapping *mapping = model_mapping_at(m, c->ptr);
    const char *rule = !c->flags      ? "VMM-GETACCESS-NULL-FLAGS"
                       : !c->location ? "VMM-GETACCESS-NULL-LOCATION"
                       : !c->ptr      ? "VMM-GETACCESS-PTR-ZERO"
                                      : NULL;
    if (rule) {
        model_refuse(a, INVALID, rule);
    } else if (!get_location(m, c->location)) {
        model_refuse(a, VMM_ERROR_INVALID_DEVICE, "VMM-GETACCESS-LOCATION");
    } else if (!mapping) {
        model_refuse(a, INVALID, "VMM-GETACCESS-NOT-MAPPED");
        a->writes_zero = true;
    } else if (model_succeeded(a)) {
        model_expect(a, "flags", *c->flags, get_rights(mapping, c->location));
    }
}
