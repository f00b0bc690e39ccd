/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools: creation, the pools of devices, attributes, trimming, rights. Allocations: call_pool_alloc.c. */
#include <string.h>

#include "call_fabric.h"
#include "call_pool.h"
#include "pool_policy.h"
#include "sim.h"

static vmm_result refuse(enum vmm_rule_id rule, uint64_t value)
{
    return vmm_detail_refuse(rule, value, 0, NULL);
}

static vmm_result refuse_null(const char *argument)
{
    vmm_result result = refuse(VMM_RULE_POOL_NULL, 0);
    vmm_detail_argument(argument);
    return result;
}

static vmm_result refuse_pool(enum vmm_rule_id rule, const struct sim_pool *pool)
{
    vmm_object nearest = sim_object_pool(pool);
    return vmm_detail_refuse(rule, pool->shown, 0, &nearest);
}

vmm_result sim_pool_live(const struct sim_process *process, vmm_memory_pool value, const char *argument, struct sim_pool **pool)
{
    struct sim_pool *ended;
    uint64_t number = (uint64_t)(uintptr_t)value;
    if (!value)
        return refuse_null(argument);
    *pool = sim_pool_find(process, number, &ended);
    if (*pool)
        return VMM_SUCCESS;
    vmm_object nearest = ended ? sim_object_pool(ended) : (vmm_object){0};
    vmm_result result = vmm_detail_refuse(VMM_RULE_POOL_UNKNOWN, number, 0, &nearest);
    vmm_detail_argument(argument);
    return result;
}

vmm_result sim_pool_own(const struct sim_process *process, vmm_memory_pool value, struct sim_pool **pool)
{
    vmm_result result = sim_pool_live(process, value, "pool", pool);
    return result == VMM_SUCCESS && (*pool)->imports ? refuse_pool(VMM_RULE_POOL_IMPORTED, *pool) : result;
}

static vmm_memory_pool value_of(const struct sim_pool *pool)
{
    return (vmm_memory_pool)(uintptr_t)pool->value;
}

/* A pool that the program destroyed, for calls that a driver still answers: its values, as far as they are remembered. NULL,
 * with a refusal, for any other value that is not a pool. */
static struct sim_pool *even_ended(const struct sim_process *process, vmm_memory_pool value, const char *argument, vmm_result *result)
{
    struct sim_pool *ended = NULL, *pool = value ? sim_pool_find(process, (uint64_t)(uintptr_t)value, &ended) : NULL;
    *result = VMM_SUCCESS;
    if (pool || !ended) {
        *result = sim_pool_live(process, value, argument, &pool);
        return pool;
    }
    vmm_object nearest = sim_object_pool(ended);
    bool accepted = sim_warn_or_refuse(process, VMM_RULE_POOL_ENDED, ended->shown, 0, &nearest);
    vmm_detail_argument(argument);
    *result = accepted ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE;
    return accepted ? ended : NULL;
}

/* ---- creating and destroying ---- */

static vmm_result check_place(const struct sim_process *process, vmm_mem_location at)
{
    if (at.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return sim_device_valid(process, at.id) ? VMM_SUCCESS : refuse(VMM_RULE_POOL_CREATE_DEVICE, (uint64_t)(int64_t)at.id);
    bool node = at.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA && at.id >= 0 && at.id < sim_host_nodes(process);
    if (node || at.type == VMM_MEM_LOCATION_TYPE_HOST)
        return VMM_SUCCESS;
    return refuse(VMM_RULE_POOL_CREATE_LOCATION, (uint64_t)(int64_t)at.type);
}

/* Kinds of memory that a driver has pools of, but the simulator does not. */
static vmm_result check_simulated(const struct vmm_mem_pool_props *props)
{
    if (props->alloc_type == VMM_MEM_ALLOCATION_TYPE_MANAGED)
        return refuse(VMM_RULE_POOL_CREATE_MANAGED, (uint64_t)(int64_t)props->alloc_type);
    return VMM_SUCCESS;
}

static vmm_result check_what(const struct sim_process *process, const vmm_mem_pool_props *props)
{
    bool managed = props->alloc_type == VMM_MEM_ALLOCATION_TYPE_MANAGED;
    bool anywhere = managed && props->location.type != VMM_MEM_LOCATION_TYPE_DEVICE &&
                    props->location.type != VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    if (!managed && props->alloc_type != VMM_MEM_ALLOCATION_TYPE_PINNED)
        return refuse(VMM_RULE_POOL_CREATE_TYPE, (uint64_t)(int64_t)props->alloc_type);
    return anywhere ? VMM_SUCCESS : check_place(process, props->location);
}

static vmm_result check_props(const struct sim_process *process, const vmm_mem_pool_props *props)
{
    bool managed = props->alloc_type == VMM_MEM_ALLOCATION_TYPE_MANAGED;
    bool unshared = managed || props->location.type == VMM_MEM_LOCATION_TYPE_HOST;
    const int shared = unshared ? 0 : VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | VMM_MEM_HANDLE_TYPE_FABRIC;
    vmm_result result = check_what(process, props);
    if (result != VMM_SUCCESS)
        return result;
    if (props->handle_types & ~shared)
        return refuse(VMM_RULE_POOL_CREATE_HANDLE_TYPES, (uint64_t)(int64_t)props->handle_types);
    for (size_t i = 0; i < sizeof props->reserved; i++)
        if (props->reserved[i])
            return refuse(VMM_RULE_POOL_CREATE_RESERVED, i);
    return check_simulated(props);
}

vmm_result sim_mem_pool_create(struct sim_process *process, const struct vmm_call_mem_pool_create *call)
{
    if (!call->pool)
        return refuse_null("pool");
    if (!call->pool_props)
        return refuse_null("poolProps");
    vmm_result result = check_props(process, call->pool_props);
    if (result != VMM_SUCCESS)
        return result;
    uint64_t most = (process->window.end - process->window.start) / 2; /* it takes twice as many addresses */
    if (call->pool_props->max_size > most)
        return vmm_detail_refuse(VMM_RULE_POOL_CREATE_MAX_SIZE, call->pool_props->max_size, most, NULL);
    struct sim_channel channel;
    result = sim_fabric_channel(process, (uint64_t)call->pool_props->handle_types, &channel);
    if (result != VMM_SUCCESS)
        return result;
    struct sim_pool *pool = sim_pool_new(process, call->pool_props, sim_origin(&call->head));
    if (!pool)
        return sim_out_of_host_memory();
    pool->fabric = channel.place;
    *call->pool = value_of(pool);
    return VMM_SUCCESS;
}

static bool is_done(void *user, const struct region *region)
{
    (void)user;
    return !region->mark->item || region->mark->item->state == QUEUE_DONE;
}

vmm_result sim_mem_pool_destroy(struct sim_process *process, const struct vmm_call_mem_pool_destroy *call)
{
    struct sim_pool *pool;
    vmm_result result = sim_pool_live(process, call->pool, "pool", &pool);
    if (result != VMM_SUCCESS)
        return result;
    if (pool->is_default)
        return refuse_pool(VMM_RULE_POOL_DESTROY_DEFAULT, pool);
    if (pool->imports && pool->memory.live) /* measured: even if it was imported more than once */
        return refuse_pool(VMM_RULE_POOL_DESTROY_IMPORTED, pool);
    if (pool->imports > 1) {
        pool->imports--;
        return VMM_SUCCESS;
    }
    mempool_return(&pool->memory, is_done, NULL);
    sim_pool_destroy(process, pool, sim_origin(&call->head));
    return VMM_SUCCESS;
}

/* ---- the pools of a device ---- */

static vmm_mem_location of_device(int device)
{
    return (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, device};
}

static vmm_result get_pool(struct sim_process *process, vmm_memory_pool *out, vmm_mem_location location, bool current)
{
    const struct sim_pools *pools = sim_pools_of(process, location);
    if (!pools)
        return sim_out_of_host_memory();
    *out = value_of(current ? pools->current : pools->own);
    return VMM_SUCCESS;
}

static bool is_local(const struct sim_pool *pool, vmm_mem_location location)
{
    const vmm_mem_location of = pool->props.location;
    return of.type == location.type && (of.id == location.id || of.type == VMM_MEM_LOCATION_TYPE_HOST);
}

static vmm_result set_pool(struct sim_process *process, vmm_mem_location location, vmm_memory_pool value)
{
    vmm_result result;
    struct sim_pool *pool = even_ended(process, value, "pool", &result);
    struct sim_pools *pools = pool ? sim_pools_of(process, location) : NULL;
    if (!pool)
        return result;
    if (!pools)
        return sim_out_of_host_memory();
    if (pool->imports)
        return refuse_pool(VMM_RULE_POOL_IMPORTED, pool);
    if (!is_local(pool, location))
        return refuse_pool(VMM_RULE_POOL_SET_ELSEWHERE, pool);
    if (!pool->destroyed)
        pools->current = pool;
    return VMM_SUCCESS;
}

vmm_result sim_device_get_default_mem_pool(struct sim_process *process,
                                           const struct vmm_call_device_get_default_mem_pool *call)
{
    if (!sim_device_valid(process, call->dev))
        return refuse(VMM_RULE_POOL_DEVICE, (uint64_t)(int64_t)call->dev);
    return call->pool_out ? get_pool(process, call->pool_out, of_device(call->dev), false) : refuse_null("pool_out");
}

vmm_result sim_device_get_mem_pool(struct sim_process *process, const struct vmm_call_device_get_mem_pool *call)
{
    if (!call->pool)
        return refuse_null("pool");
    if (!sim_device_valid(process, call->dev))
        return refuse(VMM_RULE_POOL_CURRENT_DEVICE, (uint64_t)(int64_t)call->dev);
    return get_pool(process, call->pool, of_device(call->dev), true);
}

vmm_result sim_device_set_mem_pool(struct sim_process *process, const struct vmm_call_device_set_mem_pool *call)
{
    if (!sim_device_valid(process, call->dev))
        return refuse(VMM_RULE_POOL_CURRENT_DEVICE, (uint64_t)(int64_t)call->dev);
    return set_pool(process, of_device(call->dev), call->pool);
}

/* Has the location pools? The calls of CUDA 13.0 name it in this way. */
static vmm_result check_location(const struct sim_process *process, const vmm_mem_location *location, vmm_mem_allocation_type type)
{
    if (!location)
        return refuse_null("location");
    if (location->type < VMM_MEM_LOCATION_TYPE_INVALID || location->type > VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return refuse(VMM_RULE_POOL_LOCATION_TYPE, (uint64_t)(int64_t)location->type);
    const vmm_mem_pool_props props = {.alloc_type = type, .location = *location};
    return check_props(process, &props);
}

vmm_result sim_mem_get_default_mem_pool(struct sim_process *process, const struct vmm_call_mem_get_default_mem_pool *call)
{
    if (!call->pool_out)
        return refuse_null("pool_out");
    vmm_result result = check_location(process, call->location, call->type);
    return result == VMM_SUCCESS ? get_pool(process, call->pool_out, *call->location, false) : result;
}

vmm_result sim_mem_get_mem_pool(struct sim_process *process, const struct vmm_call_mem_get_mem_pool *call)
{
    if (!call->pool)
        return refuse_null("pool");
    vmm_result result = check_location(process, call->location, call->type);
    return result == VMM_SUCCESS ? get_pool(process, call->pool, *call->location, true) : result;
}

vmm_result sim_mem_set_mem_pool(struct sim_process *process, const struct vmm_call_mem_set_mem_pool *call)
{
    vmm_result result = call->pool ? check_location(process, call->location, call->type) : refuse_null("pool");
    return result == VMM_SUCCESS ? set_pool(process, *call->location, call->pool) : result;
}

/* ---- attributes ---- */

static bool *flag_of(struct mempool *memory, vmm_mem_pool_attribute attribute)
{
    switch (attribute) {
    case VMM_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: return &memory->follow_events;
    case VMM_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return &memory->opportunistic;
    case VMM_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return &memory->internal;
    default: return NULL;
    }
}

static uint64_t *number_of(struct mempool *memory, vmm_mem_pool_attribute attribute)
{
    switch (attribute) {
    case VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD: return &memory->threshold;
    case VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return &memory->reserved;
    case VMM_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return &memory->reserved_high;
    case VMM_MEMPOOL_ATTR_USED_MEM_CURRENT: return &memory->used;
    default: return &memory->used_high;
    }
}

static vmm_result check_attribute(const struct sim_process *process, vmm_memory_pool value, vmm_mem_pool_attribute attribute,
                                  const void *at, struct sim_pool **pool)
{
    vmm_result result = sim_pool_own(process, value, pool);
    if (result == VMM_SUCCESS && !vmm_pool_attribute_size(attribute))
        result = refuse(VMM_RULE_POOL_ATTRIBUTE, (uint64_t)(int64_t)attribute);
    return result == VMM_SUCCESS && !at ? refuse_null("value") : result;
}

vmm_result sim_mem_pool_get_attribute(struct sim_process *process, const struct vmm_call_mem_pool_get_attribute *call)
{
    struct sim_pool *pool;
    vmm_result result = check_attribute(process, call->pool, call->attr, call->value, &pool);
    if (result != VMM_SUCCESS)
        return result;
    const bool *flag = flag_of(&pool->memory, call->attr);
    int narrow = flag && *flag;
    if (flag)
        memcpy(call->value, &narrow, sizeof narrow);
    else
        memcpy(call->value, number_of(&pool->memory, call->attr), sizeof(uint64_t));
    return VMM_SUCCESS;
}

static vmm_result set_number(struct sim_pool *pool, vmm_mem_pool_attribute attribute, uint64_t value)
{
    bool current = attribute == VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT || attribute == VMM_MEMPOOL_ATTR_USED_MEM_CURRENT;
    bool high = attribute == VMM_MEMPOOL_ATTR_RESERVED_MEM_HIGH || attribute == VMM_MEMPOOL_ATTR_USED_MEM_HIGH;
    if (current)
        return refuse(VMM_RULE_POOL_ATTRIBUTE_READ_ONLY, (uint64_t)(int64_t)attribute);
    if (high && value)
        return refuse(VMM_RULE_POOL_ATTRIBUTE_HIGH, value);
    if (attribute == VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->memory.lowered |= value < pool->memory.threshold;
    uint64_t now = attribute == VMM_MEMPOOL_ATTR_RESERVED_MEM_HIGH ? pool->memory.reserved : pool->memory.used;
    *number_of(&pool->memory, attribute) = high ? now : value;
    return VMM_SUCCESS;
}

vmm_result sim_mem_pool_set_attribute(struct sim_process *process, const struct vmm_call_mem_pool_set_attribute *call)
{
    struct sim_pool *pool;
    int narrow;
    uint64_t wide;
    vmm_result result = check_attribute(process, call->pool, call->attr, call->value, &pool);
    if (result != VMM_SUCCESS)
        return result;
    bool *flag = flag_of(&pool->memory, call->attr);
    if (!flag) {
        memcpy(&wide, call->value, sizeof wide);
        return set_number(pool, call->attr, wide);
    }
    memcpy(&narrow, call->value, sizeof narrow);
    *flag = narrow != 0;
    return VMM_SUCCESS;
}

vmm_result sim_mem_pool_trim_to(struct sim_process *process, const struct vmm_call_mem_pool_trim_to *call)
{
    struct sim_pool *pool;
    vmm_result result = sim_pool_own(process, call->pool, &pool);
    if (result != VMM_SUCCESS)
        return result;
    sim_pool_trim(process, pool, pool_round(call->min_bytes_to_keep, pool->memory.chunk)); /* as measured; 0 if that wraps */
    return VMM_SUCCESS;
}

/* ---- rights ---- */

/* As measured, a list is checked three times: for READ and the locations, for other flags, and for whether the pool can grant
 * the rights. */
static vmm_result look_at_place(const struct sim_process *process, const struct sim_pool *pool, const vmm_mem_access_desc *desc)
{
    const vmm_mem_location at = desc->location;
    if (desc->flags == VMM_MEM_ACCESS_FLAGS_PROT_READ)
        return refuse(VMM_RULE_POOL_ACCESS_READ, (uint64_t)(int64_t)desc->flags);
    if (at.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return sim_on_host(pool->props.location) ? VMM_SUCCESS : refuse(VMM_RULE_POOL_ACCESS_LOCATION, (uint64_t)(int64_t)at.type);
    return sim_device_valid(process, at.id) ? VMM_SUCCESS : refuse(VMM_RULE_POOL_ACCESS_DEVICE, (uint64_t)(int64_t)at.id);
}

static vmm_result look_at_form(const struct sim_process *process, const struct sim_pool *pool, const vmm_mem_access_desc *desc)
{
    const vmm_mem_location_type type = desc->location.type;
    (void)process;
    (void)pool;
    if (desc->flags != VMM_MEM_ACCESS_FLAGS_PROT_NONE && desc->flags != VMM_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return refuse(VMM_RULE_POOL_ACCESS_FLAGS, (uint64_t)(int64_t)desc->flags);
    if (type != VMM_MEM_LOCATION_TYPE_DEVICE && type != VMM_MEM_LOCATION_TYPE_HOST && type != VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return refuse(VMM_RULE_POOL_ACCESS_NOWHERE, (uint64_t)(int64_t)type);
    return VMM_SUCCESS;
}

/* The rights of a pool's own location stay. */
static vmm_result check_grant(const struct sim_process *process, const struct sim_pool *pool, const vmm_mem_access_desc *desc)
{
    const int owner = pool->props.location.id, device = desc->location.id;
    const bool none = desc->flags == VMM_MEM_ACCESS_FLAGS_PROT_NONE, to_host = desc->location.type != VMM_MEM_LOCATION_TYPE_DEVICE;
    if (sim_on_host(pool->props.location))
        return none && to_host ? refuse_pool(VMM_RULE_POOL_ACCESS_HOST, pool) : VMM_SUCCESS;
    if (device == owner)
        return none ? refuse_pool(VMM_RULE_POOL_ACCESS_OWN, pool) : VMM_SUCCESS;
    return process->machine->profile.peers[device] >> owner & 1 ? VMM_SUCCESS : refuse_pool(VMM_RULE_POOL_ACCESS_PEER, pool);
}

vmm_result sim_mem_pool_set_access(struct sim_process *process, const struct vmm_call_mem_pool_set_access *call)
{
    static vmm_result (*const looks[])(const struct sim_process *, const struct sim_pool *, const vmm_mem_access_desc *) = {
        look_at_place, look_at_form, check_grant};
    vmm_result result;
    struct sim_pool *pool = even_ended(process, call->pool, "pool", &result);
    if (pool && !call->map)
        result = refuse_null("map");
    for (size_t k = 0; pool && k < sizeof looks / sizeof looks[0]; k++)
        for (uint64_t i = 0; i < call->count && result == VMM_SUCCESS; i++)
            result = looks[k](process, pool, &call->map[i]);
    for (uint64_t i = 0; pool && i < call->count && result == VMM_SUCCESS; i++)
        if (call->map[i].location.type == VMM_MEM_LOCATION_TYPE_DEVICE) /* the host's rights never change */
            pool->access = sim_access_with(pool->access, (unsigned)call->map[i].location.id, (unsigned)call->map[i].flags);
    return result;
}

vmm_result sim_mem_pool_get_access(struct sim_process *process, const struct vmm_call_mem_pool_get_access *call)
{
    vmm_result result;
    if (!call->flags)
        return refuse_null("flags");
    if (!call->location)
        return refuse_null("location");
    const struct sim_pool *pool = even_ended(process, call->mem_pool, "memPool", &result);
    if (!pool)
        return result;
    bool host = call->location->type == VMM_MEM_LOCATION_TYPE_HOST || call->location->type == VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    if (!host && (call->location->type != VMM_MEM_LOCATION_TYPE_DEVICE || !sim_device_valid(process, call->location->id)))
        return refuse(VMM_RULE_POOL_GET_ACCESS_LOCATION, (uint64_t)(int64_t)call->location->id);
    *call->flags = (int)sim_access_of(pool->access, host ? SIM_HOST_SLOT : (unsigned)call->location->id);
    return result;
}
