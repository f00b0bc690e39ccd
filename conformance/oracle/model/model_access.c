/* SPDX-License-Identifier: Apache-2.0 */
/* model_access.c - access rights. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_edges.h"
#include "model_managed.h"

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

static bool set_wraps(const struct vmm_call_mem_set_access *c)
{
    return c->size - 1 > UINT64_MAX - c->ptr;
}

/* The range starts where a mapping starts and ends where one ends, also after it wraps. */
static bool set_range(struct model *m, const struct vmm_call_mem_set_access *c, struct model_answer *a)
{
    uint64_t last = c->ptr + (c->size - 1);
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

/* The first mapping of the range that starts at or after from. */
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
    if (set_wraps(c))
        return at + 1; /* the first one alone */
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
    if (set_wraps(c) && !model_breach(m, a, "VMM-ACCESS-WRAPS"))
        return false;
    for (size_t i = 0; i < m->mapping_count && !set_wraps(c); i++)
        if (in_range(&m->mappings[i], c))
            covered += m->mappings[i].size;
    if (!set_wraps(c) && covered < c->size && !model_breach(m, a, "VMM-ACCESS-HOLE"))
        return false;
    for (uint64_t i = 0; i < c->count; i++)
        for (uint64_t j = 0; j < i; j++)
            if (same_location(&c->desc[i].location, &c->desc[j].location))
                model_hazard(a, "VMM-ACCESS-DUPLICATE");
    return true;
}

/* Memory for RDMA belongs to its first mapping. While that is unmapped, its device can get rights at one other address,
 * and other devices nowhere; granting the rights that they have succeeds. */
static bool set_rdma(struct model *m, const vmm_mem_access_desc *d, const struct model_mapping *mapping,
                     struct model_answer *a)
{
    struct model_memory *memory = model_memory_of(m, mapping->handle);
    if (!memory->prop.alloc_flags.gpu_direct_rdma_capable || host_location(&d->location))
        return true;
    bool fresh = d->flags && mapping->device[d->location.id] != d->flags, own = d->location.id == memory->prop.location.id;
    if (fresh && !own && !memory->home)
        return model_refuse(a, INVALID, "VMM-ACCESS-RDMA-PEER");
    if (!own)
        return true;
    if (fresh && memory->strayed && memory->strayed != mapping->start)
        return model_refuse(a, VMM_ERROR_UNKNOWN, "VMM-ACCESS-RDMA-LATE");
    if (fresh && !memory->home)
        memory->strayed = mapping->start;
    if (!d->flags && memory->strayed == mapping->start)
        memory->strayed = 0;
    return true;
}

static void set_rights(struct model_mapping *mapping, const vmm_mem_access_desc *d, bool device_memory)
{
    if (host_location(&d->location)) {
        if (device_memory)
            return; /* no location has rights, none gets any */
        if (d->flags && mapping->host != d->flags)
            mapping->host_newer = true;
        mapping->host = (uint8_t)d->flags;
    } else {
        if (d->flags && mapping->device[d->location.id] != d->flags && d->location.id == 0)
            mapping->host_newer = false;
        mapping->device[d->location.id] = (uint8_t)d->flags;
    }
}

/* Mapping by mapping, and within each descriptor by descriptor, up to the first refusal. */
static bool set_each(struct model *m, const struct vmm_call_mem_set_access *c, struct model_answer *a)
{
    uint64_t end = reached(m, c);
    for (const struct model_mapping *p = next_in_range(m, c, c->ptr); p && p->start < end;
         p = next_in_range(m, c, p->start + p->size))
        for (uint64_t d = 0; d < c->count; d++) {
            if (!set_memory(m, &c->desc[d], p, a))
                return false;
            if (!set_rdma(m, &c->desc[d], p, a)) {
                model_mapping_at(m, p->start)->device[c->desc[d].location.id] = 0; /* measured: it may have had some */
                return false;
            }
            set_rights(model_mapping_at(m, p->start), &c->desc[d], model_in_device(m, p));
        }
    return true;
}

/* What a call may have changed, to restore when it did not happen. */
struct before {
    struct model_mapping *mappings;
    struct model_memory *memories;
};

static void *copy_of(const void *array, size_t size)
{
    void *copy = malloc(size + 1);
    if (!copy) {
        fputs("model: the host has no memory left\n", stderr);
        exit(255);
    }
    return size ? memcpy(copy, array, size) : copy;
}

static void finish(struct model *m, struct before *before, bool undo)
{
    if (undo && m->mapping_count)
        memcpy(m->mappings, before->mappings, m->mapping_count * sizeof *m->mappings);
    if (undo && m->memory_count)
        memcpy(m->memories, before->memories, m->memory_count * sizeof *m->memories);
    free(before->mappings);
    free(before->memories);
}

/* Rights set before the mapping that refuses stay set. */
MODEL_ON(mem_set_access)
{
    if (!set_arguments(m, c, a) || !set_range(m, c, a))
        return;
    if (MODEL_EDGE_HOLE_FIRST && m->strict && !set_warnings(m, c, a))
        return;
    a->rule = NULL;
    struct before before = {copy_of(m->mappings, m->mapping_count * sizeof *m->mappings),
                            copy_of(m->memories, m->memory_count * sizeof *m->memories)};
    bool warned = set_each(m, c, a) && !set_warnings(m, c, a);
    finish(m, &before, warned || a->actual != a->result);
}

/* ---- get ---- */

static bool get_location(const struct model *m, const vmm_mem_location *l)
{
    if (l->type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return device_in_range(m, l->id);
    return host_location(l);
}

/* HOST_NUMA reports the host's rights, which are none on device memory; HOST reports those of device 0 or the host,
 * whichever was granted rights later and still has any. */
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
    } else if (!mapping && (model_block_at(m, c->ptr) || model_managed_at(m, c->ptr))) {
        if (model_succeeded(a))
            model_expect(a, "flags of a pool's or managed memory", *c->flags, 0);
    } else if (!mapping) {
        model_refuse(a, INVALID, "VMM-GETACCESS-NOT-MAPPED");
        a->writes_zero = true;
    } else if (model_succeeded(a)) {
        model_expect(a, "flags", *c->flags, get_rights(mapping, c->location));
    }
}
