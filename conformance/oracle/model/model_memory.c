/* SPDX-License-Identifier: Apache-2.0 */
/* model_memory.c - physical memory and its handles. */
#include <string.h>

#include "model_array.h"
#include "model_edges.h"
#include "model_managed.h"
#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

enum { SHAREABLE_BITS = 15, WINDOWS_BITS = 6, USAGE_BITS = 3, STALE_ANSWERED = 256 };

static uint64_t model_granularity(const struct model *model, vmm_mem_location_type type, int option)
{
    bool host = type == VMM_MEM_LOCATION_TYPE_HOST || type == VMM_MEM_LOCATION_TYPE_HOST_NUMA ||
                type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    return host ? model->profile->host_granularity[option] : model->profile->device_granularity[option];
}

uint64_t model_device_free(const struct model *model, int device)
{
    uint64_t free = model->driver ? model->driver[device].free
                                  : model->profile->device_memory - model->profile->device_reserved;
    for (size_t i = 0; i < model->memory_count; i++) {
        const struct model_memory *memory = &model->memories[i];
        if (!memory->original && memory->prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE &&
            memory->prop.location.id == device)
            free -= memory->size;
    }
    return free - model_pools_hold(model, device) - model_arrays_hold(model, device) - model->taken[device];
}

uint64_t model_node_free(const struct model *model, int node)
{
    uint64_t free = model->profile->host_memory - model_arrays_hold(model, MODEL_HOST + 1 + node);
    for (size_t i = 0; i < model->memory_count; i++) {
        const struct model_memory *memory = &model->memories[i];
        if (!memory->original && memory->prop.location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA &&
            memory->prop.location.id == node)
            free -= memory->size;
    }
    free -= node ? 0 : model_managed_holds(model);
    for (int place = MODEL_HOST; place < MODEL_PLACES; place++)
        if (node == (place == MODEL_HOST ? 0 : place - MODEL_HOST - 1))
            free -= model_pools_hold(model, place);
    return free;
}

uint64_t model_place_free(const struct model *model, int place)
{
    if (place < MODEL_HOST)
        return model_device_free(model, place);
    return model_node_free(model, place == MODEL_HOST ? 0 : place - MODEL_HOST - 1);
}

static uint64_t compressible(const struct model *m, int device)
{
    uint64_t free = m->profile->compression_memory;
    for (size_t i = 0; i < m->memory_count; i++) {
        const struct model_memory *memory = &m->memories[i];
        if (!memory->original && memory->prop.location.id == device && memory->prop.alloc_flags.compression_type)
            free -= memory->size;
    }
    return free;
}

/* ---- create ---- */

static bool prop_location(const struct model *m, const vmm_mem_allocation_prop *p, struct model_answer *a)
{
    int type = p->location.type, nodes = m->profile->host_nodes ? m->profile->host_nodes : 1;
    if (type < VMM_MEM_LOCATION_TYPE_DEVICE || type > VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return model_refuse(a, INVALID, "VMM-CREATE-LOCATION-TYPE");
    if (type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return model_refuse(a, INVALID, "VMM-CREATE-NUMA-CURRENT");
    if (type == VMM_MEM_LOCATION_TYPE_HOST && p->requested_handle_types)
        return model_refuse(a, INVALID, "VMM-CREATE-HOST-SHARED");
    if (type == VMM_MEM_LOCATION_TYPE_HOST_NUMA && (p->location.id < 0 || p->location.id >= nodes))
        return model_refuse(a, INVALID, "VMM-CREATE-NUMA-ID");
    return true;
}

static bool prop_device(const struct model *m, const vmm_mem_allocation_prop *p, struct model_answer *a)
{
    return p->location.type != VMM_MEM_LOCATION_TYPE_DEVICE ||
           (p->location.id >= 0 && p->location.id < m->profile->devices) ||
           model_refuse(a, VMM_ERROR_INVALID_DEVICE, "VMM-CREATE-DEVICE-ID");
}

/* The rest of the property, where it is wrong on any machine. */
static bool prop_rest(const vmm_mem_allocation_prop *p, struct model_answer *a)
{
    if (p->type != VMM_MEM_ALLOCATION_TYPE_PINNED)
        return model_refuse(a, INVALID, "VMM-CREATE-TYPE");
    if (p->requested_handle_types & WINDOWS_BITS)
        return model_refuse(a, INVALID, "VMM-CREATE-HANDLE-TYPE-WINDOWS");
    if (p->alloc_flags.compression_type > VMM_MEM_ALLOCATION_COMP_GENERIC)
        return model_refuse(a, INVALID, "VMM-CREATE-COMPRESSION-TYPE");
    for (int i = 0; i < 3; i++) /* the fourth byte is ignored */
        if (p->alloc_flags.reserved[i])
            return model_refuse(a, INVALID, "VMM-CREATE-RESERVED");
    if (p->win32_handle_meta_data)
        return model_refuse(a, INVALID, "VMM-CREATE-WIN32-META");
    if (p->location.type != VMM_MEM_LOCATION_TYPE_DEVICE && p->alloc_flags.compression_type)
        return model_refuse(a, INVALID, "VMM-CREATE-HOST-COMPRESSION");
    if (p->location.type != VMM_MEM_LOCATION_TYPE_DEVICE && p->alloc_flags.gpu_direct_rdma_capable)
        return model_refuse(a, INVALID, "VMM-CREATE-HOST-RDMA");
    return true;
}

/* What this machine supports. */
static bool prop_possible(const struct model *m, const vmm_mem_allocation_prop *p, struct model_answer *a)
{
    const struct {
        bool asked;
        int attribute;
        const char *rule;
    } needs[] = {
        {true, VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, "VMM-CREATE-UNSUPPORTED"},
        {p->location.type == VMM_MEM_LOCATION_TYPE_HOST,
         VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, "VMM-CREATE-HOST-UNSUPPORTED"},
        {p->location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA,
         VMM_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, "VMM-CREATE-NUMA-UNSUPPORTED"},
        {p->requested_handle_types & VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
         VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, "VMM-CREATE-FD-UNSUPPORTED"},
        {p->requested_handle_types & VMM_MEM_HANDLE_TYPE_FABRIC,
         VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, "VMM-CREATE-FABRIC-UNSUPPORTED"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (needs[i].asked && !model_attribute(m, needs[i].attribute))
            return model_refuse(a, VMM_ERROR_NOT_SUPPORTED, needs[i].rule);
    return true;
}

static bool create_arguments(const struct vmm_call_mem_create *c, struct model_answer *a)
{
    const char *rule = !c->handle ? "VMM-CREATE-NULL-HANDLE"
                       : !c->prop ? "VMM-CREATE-NULL-PROP"
                       : c->flags ? "VMM-CREATE-FLAGS"
                       : !c->size ? "VMM-CREATE-SIZE-ZERO"
                                  : NULL;
    return !rule || model_refuse(a, INVALID, rule);
}

static bool create_allowed(struct model *m, const struct vmm_call_mem_create *c, struct model_answer *a)
{
    const vmm_mem_allocation_prop *p = c->prop;
    if (!create_arguments(c, a) || !prop_location(m, p, a))
        return false;
    if (c->size % model_granularity(m, p->location.type, VMM_MEM_ALLOC_GRANULARITY_MINIMUM))
        return model_refuse(a, INVALID, "VMM-CREATE-SIZE-GRANULARITY");
    if (!prop_device(m, p, a) || !prop_rest(p, a) || !prop_possible(m, p, a))
        return false;
    bool tile_pool = p->alloc_flags.usage & VMM_MEM_CREATE_USAGE_TILE_POOL;
    bool decompress = p->alloc_flags.usage & VMM_MEM_CREATE_USAGE_HW_DECOMPRESS;
    bool device = p->location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    bool odd_pool = tile_pool && device && c->size < (uint64_t)1 << 45; /* others are refused like other memory */
    if (tile_pool && (p->requested_handle_types || p->alloc_flags.gpu_direct_rdma_capable))
        return model_refuse(a, INVALID, "VMM-CREATE-TILE-POOL");
    if ((decompress || tile_pool) && p->alloc_flags.compression_type)
        return model_refuse(a, INVALID, "VMM-CREATE-USAGE-COMPRESSION");
    if (!a->asked)
        model_pools_make_room(m, model_pool_place(&p->location), c->size);
    uint64_t free = p->location.type == VMM_MEM_LOCATION_TYPE_DEVICE      ? model_device_free(m, p->location.id)
                    : p->location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA ? model_node_free(m, p->location.id)
                                                                          : model_node_free(m, 0);
    if (c->size > free && p->location.type == VMM_MEM_LOCATION_TYPE_HOST &&
        (p->location.id < 0 || p->location.id >= m->profile->devices))
        return model_refuse(a, INVALID, "VMM-CREATE-HOST-ID");
    if (c->size > free)
        return model_refuse(a, odd_pool ? INVALID : VMM_ERROR_OUT_OF_MEMORY,
                            odd_pool ? "VMM-CREATE-TILE-POOL" : "VMM-CREATE-MEMORY");
    if ((p->requested_handle_types & VMM_MEM_HANDLE_TYPE_FABRIC) && !m->profile->imex)
        return model_refuse(a, VMM_ERROR_NOT_PERMITTED, "VMM-CREATE-FABRIC-IMEX");
    return true;
}

/* The properties that the memory gets. */
static vmm_mem_allocation_prop obtained(const struct model *m, const struct vmm_call_mem_create *c)
{
    vmm_mem_allocation_prop p = *c->prop;
    p.requested_handle_types &= SHAREABLE_BITS;
    if (p.location.type == VMM_MEM_LOCATION_TYPE_HOST) {
        p.location.type = VMM_MEM_LOCATION_TYPE_HOST_NUMA;
        p.location.id = 0;
    }
    if (!model_attribute(m, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED) ||
        c->size > compressible(m, p.location.id) || p.alloc_flags.gpu_direct_rdma_capable)
        p.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_NONE;
    p.alloc_flags.gpu_direct_rdma_capable =
        p.alloc_flags.gpu_direct_rdma_capable &&
        model_attribute(m, VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
    p.alloc_flags.usage = 0;
    p.alloc_flags.reserved[3] = 0;
    return p;
}

/* The properties requested and not obtained, in the contract's order: first the breaches, which strict mode refuses. */
static bool create_warnings(const struct model *m, const struct vmm_call_mem_create *c,
                            const vmm_mem_allocation_prop *got, struct model_answer *a)
{
    const vmm_mem_allocation_prop *p = c->prop;
    const char *breach = p->requested_handle_types & ~SHAREABLE_BITS     ? "VMM-CREATE-HANDLE-TYPE-UNKNOWN"
                         : p->alloc_flags.gpu_direct_rdma_capable > 1    ? "VMM-CREATE-RDMA-VALUE"
                         : p->alloc_flags.usage & ~USAGE_BITS            ? "VMM-CREATE-USAGE-UNKNOWN"
                         : p->alloc_flags.reserved[3]                    ? "VMM-CREATE-RESERVED-LAST"
                                                                         : NULL;
    if (breach && !model_breach(m, a, breach))
        return false;
    if (p->alloc_flags.usage & VMM_MEM_CREATE_USAGE_HW_DECOMPRESS)
        model_hazard(a, "VMM-CREATE-USAGE-DROPPED");
    if (p->alloc_flags.gpu_direct_rdma_capable && !got->alloc_flags.gpu_direct_rdma_capable)
        model_hazard(a, "VMM-CREATE-RDMA-NOT-OBTAINED");
    if (p->alloc_flags.compression_type && !got->alloc_flags.compression_type)
        model_hazard(a, "VMM-CREATE-COMPRESSION-NOT-OBTAINED");
    return true;
}

MODEL_ON(mem_create)
{
    if (!create_allowed(m, c, a))
        return;
    vmm_mem_allocation_prop prop = obtained(m, c);
    if (!create_warnings(m, c, &prop, a) || !model_succeeded(a))
        return;
    model_expect(a, "handle is 0", *c->handle == 0, false);
    model_expect(a, "handle equals a live one", model_memory_of(m, *c->handle) != NULL, false);
    m->memories = model_room(m->memories, &m->memory_room, m->memory_count, sizeof *m->memories);
    m->memories[m->memory_count++] = (struct model_memory){
        .handle = *c->handle, .size = c->size, .references = 1, .tag = m->tag, .prop = prop,
        .tile_pool = c->prop->alloc_flags.usage & VMM_MEM_CREATE_USAGE_TILE_POOL,
        .decompress = c->prop->alloc_flags.usage & VMM_MEM_CREATE_USAGE_HW_DECOMPRESS,
        .granularity = model_granularity(m, prop.location.type, VMM_MEM_ALLOC_GRANULARITY_MINIMUM)};
}

/* ---- the granularity query ---- */

MODEL_ON(mem_get_allocation_granularity)
{
    if (!c->granularity) {
        model_refuse(a, INVALID, "VMM-GRANULARITY-NULL");
        return;
    }
    if (!c->prop) {
        model_refuse(a, INVALID, "VMM-GRANULARITY-NULL-PROP");
        return;
    }
    if (c->option != VMM_MEM_ALLOC_GRANULARITY_MINIMUM && c->option != VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
        model_refuse(a, INVALID, "VMM-GRANULARITY-OPTION");
        return;
    }
    struct model_answer create = {.result = VMM_SUCCESS, .asked = true};
    bool sound = prop_location(m, c->prop, &create) && prop_device(m, c->prop, &create) &&
                 prop_rest(c->prop, &create) &&
                 (!model_edge_unchecked_lacks() || prop_possible(m, c->prop, &create));
    if (!sound && !model_breach(m, a, "VMM-GRANULARITY-PROP-UNCHECKED"))
        return;
    if (model_succeeded(a))
        model_expect(a, "granularity", *c->granularity, model_granularity(m, c->prop->location.type, c->option));
}

/* ---- references ---- */

void model_collect(struct model *model, uint64_t handle)
{
    struct model_memory *memory = model_memory_of(model, handle);
    if (!memory || memory->references || model_mappings_of(model, handle))
        return;
    struct model_memory *past = model_past_of(model, handle);
    if (!past) {
        model->past = model_room(model->past, &model->past_room, model->past_count, sizeof *model->past);
        past = &model->past[model->past_count++];
    }
    *past = *memory;
    past->ended = ++model->endings;
    *memory = model->memories[--model->memory_count];
    model_forget_bytes(model, handle);
    model_backing_ends(model, handle);
}

MODEL_ON(mem_release)
{
    struct model_memory *memory = model_memory_of(m, c->handle);
    if (!c->handle)
        model_refuse(a, INVALID, "VMM-RELEASE-HANDLE-ZERO");
    else if (!memory && !model_past_of(m, c->handle))
        model_refuse(a, INVALID, "VMM-RELEASE-HANDLE-FORGED");
    else if (!memory || !memory->references) /* memory that only a mapping holds has no reference to release */
        model_refuse(a, INVALID, "VMM-RELEASE-HANDLE-STALE");
    else if (model_succeeded(a)) {
        memory->references--;
        model_collect(m, c->handle);
    }
}

MODEL_ON(mem_retain_allocation_handle)
{
    const struct model_mapping *mapping = model_mapping_at(m, c->addr);
    if (!c->handle)
        model_refuse(a, INVALID, "VMM-RETAIN-NULL-HANDLE");
    else if (!c->addr)
        model_refuse(a, INVALID, "VMM-RETAIN-ADDRESS-ZERO");
    else if (!mapping || !model_reservation_at(m, c->addr)) /* the part past a reservation does not count */
        model_refuse(a, INVALID, "VMM-RETAIN-NOT-MAPPED");
    else if (model_succeeded(a)) {
        model_expect(a, "handle", *c->handle, mapping->handle);
        model_memory_of(m, mapping->handle)->references++;
    }
}

static void expect_prop(struct model_answer *a, const vmm_mem_allocation_prop *got, const vmm_mem_allocation_prop *want)
{
    model_expect(a, "prop.type", (uint64_t)got->type, (uint64_t)want->type);
    model_expect(a, "prop.requestedHandleTypes", (uint64_t)got->requested_handle_types,
                 (uint64_t)want->requested_handle_types);
    model_expect(a, "prop.location.type", (uint64_t)got->location.type, (uint64_t)want->location.type);
    model_expect(a, "prop.location.id", (uint64_t)got->location.id, (uint64_t)want->location.id);
    model_expect(a, "prop.win32HandleMetaData", got->win32_handle_meta_data != NULL, false);
    model_expect(a, "prop.allocFlags.compressionType", got->alloc_flags.compression_type,
                 want->alloc_flags.compression_type);
    model_expect(a, "prop.allocFlags.gpuDirectRDMACapable", got->alloc_flags.gpu_direct_rdma_capable,
                 want->alloc_flags.gpu_direct_rdma_capable);
    model_expect(a, "prop.allocFlags.usage", got->alloc_flags.usage, want->alloc_flags.usage);
    for (int i = 0; i < 4; i++)
        model_expect(a, "prop.allocFlags.reserved", got->alloc_flags.reserved[i], 0);
}

/* The most recently ended handles still get an answer, with a warning. */
static void stale_properties(const struct model *m,
                             const struct vmm_call_mem_get_allocation_properties_from_handle *c,
                             const struct model_memory *past, struct model_answer *a)
{
    if (m->endings - past->ended >= STALE_ANSWERED)
        model_refuse(a, INVALID, "VMM-PROPERTIES-HANDLE-STALE");
    else if (model_breach(m, a, "VMM-PROPERTIES-HANDLE-STALE") && model_succeeded(a))
        expect_prop(a, c->prop, &past->prop);
}

MODEL_ON(mem_get_allocation_properties_from_handle)
{
    const struct model_memory *memory = model_memory_of(m, c->handle);
    const struct model_memory *past = model_past_of(m, c->handle);
    if (!c->prop)
        model_refuse(a, INVALID, "VMM-PROPERTIES-NULL-PROP");
    else if (!c->handle)
        model_refuse(a, INVALID, "VMM-PROPERTIES-HANDLE-ZERO");
    else if (!memory && !past)
        model_refuse(a, INVALID, "VMM-PROPERTIES-HANDLE-FORGED");
    else if (!memory)
        stale_properties(m, c, past, a);
    else if (model_succeeded(a))
        expect_prop(a, c->prop, &memory->prop);
}
