/* SPDX-License-Identifier: Apache-2.0 */
/* Access rights of locations to mappings. */
#include <stdlib.h>

#include "in_flight.h"
#include "in_flight_hazards.h"
#include "heap.h"
#include "host.h"
#include "rdma.h"
#include "sim.h"

static vmm_result refuse_desc(enum vmm_rule_id rule, int64_t value, uint64_t expected, uint64_t index)
{
    vmm_result result = vmm_detail_refuse(rule, (uint64_t)value, expected, NULL);
    vmm_detail_note("descriptor %llu of the call", (unsigned long long)index);
    return result;
}

static vmm_result check_desc(const struct sim_process *process, const vmm_mem_access_desc *desc, uint64_t index)
{
    int type = desc->location.type;
    if (desc->flags != VMM_MEM_ACCESS_FLAGS_PROT_NONE && desc->flags != VMM_MEM_ACCESS_FLAGS_PROT_READ &&
        desc->flags != VMM_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return refuse_desc(VMM_RULE_ACCESS_FLAGS, desc->flags, 0, index);
    if (type < VMM_MEM_LOCATION_TYPE_DEVICE || type > VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return refuse_desc(VMM_RULE_ACCESS_LOCATION_TYPE, type, 0, index);
    if (type == VMM_MEM_LOCATION_TYPE_DEVICE && !sim_device_valid(process, desc->location.id))
        return refuse_desc(VMM_RULE_ACCESS_DEVICE_ID, desc->location.id,
                           (uint64_t)process->machine->profile.devices, index);
    return VMM_SUCCESS;
}

static vmm_result check_arguments(const struct sim_process *process, const struct vmm_call_mem_set_access *call)
{
    uint64_t unit = process->machine->profile.va_granularity;
    if (!call->ptr)
        return vmm_detail_refuse(VMM_RULE_ACCESS_PTR_ZERO, 0, 0, NULL);
    if (!call->size)
        return vmm_detail_refuse(VMM_RULE_ACCESS_SIZE_ZERO, 0, 0, NULL);
    if (!call->count)
        return vmm_detail_refuse(VMM_RULE_ACCESS_COUNT_ZERO, 0, 0, NULL);
    if (!call->desc)
        return vmm_detail_refuse(VMM_RULE_ACCESS_NULL_DESC, 0, 0, NULL);
    if (sim_past(call->size, unit))
        return vmm_detail_refuse(VMM_RULE_ACCESS_SIZE_GRANULARITY, call->size, unit, NULL);
    for (uint64_t i = 0; i < call->count; i++) {
        vmm_result result = check_desc(process, &call->desc[i], i);
        if (result != VMM_SUCCESS)
            return result;
    }
    return VMM_SUCCESS;
}

static vmm_result refuse_range(enum vmm_rule_id rule, const char *argument, uint64_t value, uint64_t expected,
                               vmm_object nearest)
{
    vmm_result result = vmm_detail_refuse(rule, value, expected, &nearest);
    vmm_detail_argument(argument);
    return result;
}

static bool wraps(const struct vmm_call_mem_set_access *call)
{
    return call->size - 1 > UINT64_MAX - call->ptr;
}

/* Checks that the range starts where a mapping starts and ends where one ends; the driver does not check what lies between. */
static vmm_result check_range(const struct sim_process *process, const struct vmm_call_mem_set_access *call,
                              const struct sim_mapping *first)
{
    if (!first)
        return refuse_range(VMM_RULE_ACCESS_NOT_MAPPED, "ptr", call->ptr, 0, sim_object_nearest(process, call->ptr));
    if (first->start != call->ptr)
        return refuse_range(VMM_RULE_ACCESS_PARTIAL, "ptr", call->ptr, first->start, sim_object_mapping(first));
    if (first->size == call->size)
        return VMM_SUCCESS;
    uint64_t last_byte = call->ptr + call->size - 1; /* wraps, as measured */
    const struct sim_mapping *last = sim_mapping_at(process, last_byte);
    if (!last)
        return refuse_range(VMM_RULE_ACCESS_NOT_MAPPED, "size", call->size, 0, sim_object_nearest(process, last_byte));
    if (last->start + last->size - 1 != last_byte)
        return refuse_range(VMM_RULE_ACCESS_PARTIAL, "size", call->size, last->start + last->size - call->ptr,
                            sim_object_mapping(last));
    return VMM_SUCCESS;
}

/* Can the location have these rights to this memory at all? */
static vmm_result check_grant(const struct sim_process *process, const struct sim_mapping *mapping,
                              const vmm_mem_access_desc *desc)
{
    vmm_mem_location owner = mapping->handle->prop.location;
    const struct team *team = mapping->handle->block->team;
    if (sim_on_host(owner))
        return VMM_SUCCESS;
    if (desc->location.type != VMM_MEM_LOCATION_TYPE_DEVICE && !desc->flags)
        return VMM_SUCCESS; /* revoking rights that the location cannot have is allowed */
    if (desc->location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return refuse_range(VMM_RULE_ACCESS_HOST_ON_DEVICE, "desc.location.type", (uint64_t)desc->location.type, 0,
                            sim_object_mapping(mapping));
    if (team)
        return team_has(team, desc->location.id)
                   ? VMM_SUCCESS
                   : refuse_range(VMM_RULE_ACCESS_TEAM, "desc.location.id", (uint64_t)desc->location.id, 0,
                                  sim_object_mapping(mapping));
    if (mapping->handle->block->foreign && !sim_device_valid(process, owner.id))
        return VMM_SUCCESS; /* a hidden device: only the other backend knows its access rights (adopt.h) */
    if (desc->location.id != owner.id && !(process->machine->profile.peers[desc->location.id] >> owner.id & 1))
        return refuse_range(VMM_RULE_ACCESS_PEER, "desc.location.id", (uint64_t)desc->location.id, 0,
                            sim_object_mapping(mapping));
    return VMM_SUCCESS;
}

static unsigned slot_of(vmm_mem_location location)
{
    return location.type == VMM_MEM_LOCATION_TYPE_DEVICE ? (unsigned)location.id : SIM_HOST_SLOT;
}

static bool has_duplicate(const struct vmm_call_mem_set_access *call, uint64_t *index)
{
    uint32_t seen = 0; /* one bit per location */
    for (uint64_t i = 0; i < call->count; i++) {
        uint32_t bit = UINT32_C(1) << slot_of(call->desc[i].location);
        *index = i;
        if (seen & bit)
            return true;
        seen |= bit;
    }
    return false;
}

static void put_rights(struct sim_mapping *mapping, unsigned slot, uint64_t flags)
{
    mapping->access = (mapping->access & ~(UINT64_C(3) << (2 * slot))) | flags << (2 * slot);
}

/* Applies one grant to one mapping. Records whether device 0 or the host got new rights last: a query for HOST depends on it
 * (access_at). */
static vmm_result grant(struct sim_process *process, struct sim_mapping *mapping, const vmm_mem_access_desc *desc)
{
    unsigned slot = slot_of(desc->location), before = sim_access_of(mapping->access, slot);
    if (slot == SIM_HOST_SLOT && !sim_host_show(process, mapping, (unsigned)desc->flags))
        return sim_host_refuse();
    if (rdma_concerns(mapping->handle))
        rdma_grant(mapping, desc);
    put_rights(mapping, slot, (uint64_t)desc->flags);
    if (desc->flags && before != (unsigned)desc->flags && (slot == 0 || slot == SIM_HOST_SLOT))
        mapping->host_latest = slot == SIM_HOST_SLOT;
    return VMM_SUCCESS;
}

static vmm_result check_rdma(const struct sim_mapping *mapping, const vmm_mem_access_desc *desc)
{
    enum rdma_bar bar = rdma_bar(mapping, desc);
    if (bar == RDMA_NONE)
        return VMM_SUCCESS;
    vmm_object nearest = sim_object_mapping(bar == RDMA_LATE ? rdma_late(mapping->handle) : mapping);
    return bar == RDMA_LATE ? vmm_detail_refuse(VMM_RULE_ACCESS_RDMA_LATE, mapping->start, 0, &nearest)
                            : vmm_detail_refuse(VMM_RULE_ACCESS_RDMA_PEER, (uint64_t)desc->location.id, 0, &nearest);
}

/* Checks and makes one grant on one mapping; *made: the grant was applied. */
static vmm_result try_grant(struct sim_process *process, struct sim_mapping *mapping, const vmm_mem_access_desc *desc,
                            const struct in_flight_used *used, bool *made)
{
    bool host_on_device = !sim_on_host(mapping->handle->prop.location) &&
                          desc->location.type != VMM_MEM_LOCATION_TYPE_DEVICE;
    vmm_result result = check_grant(process, mapping, desc);
    *made = false;
    if (result == VMM_SUCCESS && rdma_concerns(mapping->handle) &&
        (result = check_rdma(mapping, desc)) != VMM_SUCCESS)
        put_rights(mapping, slot_of(desc->location), 0); /* measured: the location loses its former rights */
    if (result != VMM_SUCCESS || host_on_device)
        return result;
    if (in_flight_uses(used, mapping->start, mapping->size))
        in_flight_granting(process, mapping, desc);
    const uint64_t before = mapping->access;
    result = grant(process, mapping, desc);
    in_flight_rights_changed(process, mapping, before);
    *made = result == VMM_SUCCESS;
    return result;
}

/* The state of a mapping when cuMemSetAccess began, to restore it if memory runs out. */
struct former {
    uint64_t access;
    const struct sim_mapping *rdma_late;
    bool host_latest;
};

/* Saves the state of the mappings from first up to hole, in order. NULL when out of memory. */
static struct former *remember(struct sim_process *process, struct sim_mapping *first, uint64_t hole)
{
    size_t count = 0;
    for (struct sim_mapping *m = first; m; m = sim_mapping_after(process, m->start + m->size, hole))
        count++;
    struct former *former = heap.malloc(count * sizeof *former), *next = former;
    for (struct sim_mapping *m = former ? first : NULL; m; m = sim_mapping_after(process, m->start + m->size, hole))
        *next++ = (struct former){m->access, m->handle->rdma_late, m->host_latest};
    return former;
}

static void take_back(struct sim_process *process, struct sim_mapping *first, uint64_t hole, const struct former *former)
{
    for (struct sim_mapping *m = first; m; m = sim_mapping_after(process, m->start + m->size, hole), former++) {
        sim_host_show(process, m, sim_access_of(former->access, SIM_HOST_SLOT));
        m->access = former->access;
        m->host_latest = former->host_latest;
        m->handle->rdma_late = former->rdma_late;
    }
}

/* Applies all grants to each mapping up to hole, in order. As in the driver, the grants before a refused one remain. */
static vmm_result make_grants(struct sim_process *process, const struct vmm_call_mem_set_access *call,
                              struct sim_mapping *first, uint64_t hole)
{
    struct in_flight_used used = {1, 0};
    uint64_t changes = 0;
    bool made;
    if (in_flight_any(process->in_flight))
        used = in_flight_used(process, call->ptr, hole);
    for (struct sim_mapping *m = first; m; m = sim_mapping_after(process, m->start + m->size, hole))
        for (uint64_t i = 0; i < call->count; i++) {
            vmm_result result = try_grant(process, m, &call->desc[i], &used, &made);
            if (result != VMM_SUCCESS && result != VMM_ERROR_OUT_OF_MEMORY && changes)
                vmm_detail_note("descriptor %llu is refused; the %llu earlier grant%s, counted from the start of the range, "
                                "remain%s",
                                (unsigned long long)i, (unsigned long long)changes, changes == 1 ? "" : "s",
                                changes == 1 ? "s" : "");
            if (result != VMM_SUCCESS)
                return result;
            changes += made;
        }
    return VMM_SUCCESS;
}

static bool names_host(const struct vmm_call_mem_set_access *call)
{
    for (uint64_t i = 0; i < call->count; i++)
        if (call->desc[i].location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
            return true;
    return false;
}

/* Makes all grants. Only grants to the host can run out of memory, which no driver does, so in that case all grants are undone.
 * */
static vmm_result grant_all(struct sim_process *process, const struct vmm_call_mem_set_access *call,
                            struct sim_mapping *first, uint64_t hole)
{
    if (!names_host(call))
        return make_grants(process, call, first, hole);
    struct former *former = remember(process, first, hole);
    vmm_result result = former ? make_grants(process, call, first, hole) : sim_out_of_host_memory();
    if (former && result == VMM_ERROR_OUT_OF_MEMORY)
        take_back(process, first, hole, former);
    heap.free(former);
    return result;
}

/* The end of the contiguous mappings from ptr on; for a range that wraps, the end of the first mapping. */
static uint64_t first_hole(const struct sim_process *process, const struct vmm_call_mem_set_access *call,
                           const struct sim_mapping *first)
{
    uint64_t at = first->start + first->size;
    const struct sim_mapping *m;
    while (!wraps(call) && at - call->ptr < call->size && (m = sim_mapping_at(process, at)) != NULL)
        at = m->start + m->size;
    return at;
}

static bool pass_hole(const struct sim_process *process, const struct vmm_call_mem_set_access *call, uint64_t hole)
{
    vmm_object nearest = sim_object_nearest(process, hole);
    if (wraps(call))
        return sim_warn_or_refuse(process, VMM_RULE_ACCESS_WRAPS, call->size, UINT64_MAX - call->ptr, &nearest);
    bool pass = sim_warn_or_refuse(process, VMM_RULE_ACCESS_HOLE, call->size, hole - call->ptr, &nearest);
    vmm_detail_note("nothing is mapped at 0x%llx; mappings after it are not changed", (unsigned long long)hole);
    return pass;
}

vmm_result sim_mem_set_access(struct sim_process *process, const struct vmm_call_mem_set_access *call)
{
    uint64_t index, hole;
    vmm_result result = check_arguments(process, call);
    if (result != VMM_SUCCESS)
        return result;
    struct sim_mapping *first = sim_mapping_at(process, call->ptr);
    result = check_range(process, call, first);
    if (result != VMM_SUCCESS)
        return result;
    hole = first_hole(process, call, first);
    if (hole - call->ptr < call->size && !pass_hole(process, call, hole))
        return VMM_ERROR_INVALID_VALUE;
    if (call->count > 1 && has_duplicate(call, &index))
        sim_warn_or_refuse(process, VMM_RULE_ACCESS_DUPLICATE, index, 0, NULL);
    return grant_all(process, call, first, hole);
}

static bool known_location(const struct sim_process *process, vmm_mem_location location)
{
    if (location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return sim_device_valid(process, location.id);
    return location.type == VMM_MEM_LOCATION_TYPE_HOST || location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA;
}

/* The rights that the recorded driver returns. For HOST_NUMA they are the host's; for HOST they are those of device 0 or of the
 * host, whichever was granted last and still has any. On device memory the host never has rights, so for HOST they are device
 * 0's. */
static unsigned access_at(const struct sim_mapping *mapping, vmm_mem_location location)
{
    unsigned device0 = sim_access_of(mapping->access, 0), host = sim_access_of(mapping->access, SIM_HOST_SLOT);
    if (location.type != VMM_MEM_LOCATION_TYPE_HOST)
        return sim_access_of(mapping->access, slot_of(location));
    if (device0 && host)
        return mapping->host_latest ? host : device0;
    return device0 ? device0 : host;
}

static vmm_result refuse_location(vmm_mem_location location)
{
    bool device = location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    int value = device ? location.id : location.type;
    vmm_result result = vmm_detail_refuse(VMM_RULE_GETACCESS_LOCATION, (uint64_t)(int64_t)value, 0, NULL);
    vmm_detail_argument(device ? "location.id" : "location.type");
    return result;
}

vmm_result sim_mem_get_access(struct sim_process *process, const struct vmm_call_mem_get_access *call)
{
    if (!call->flags)
        return vmm_detail_refuse(VMM_RULE_GETACCESS_NULL_FLAGS, 0, 0, NULL);
    if (!call->location)
        return vmm_detail_refuse(VMM_RULE_GETACCESS_NULL_LOCATION, 0, 0, NULL);
    if (!call->ptr)
        return vmm_detail_refuse(VMM_RULE_GETACCESS_PTR_ZERO, 0, 0, NULL);
    if (!known_location(process, *call->location))
        return refuse_location(*call->location);
    const struct sim_mapping *mapping = sim_mapping_at(process, call->ptr);
    *call->flags = 0; /* measured: the driver writes the output although it refuses */
    if (!mapping && !sim_allocation_at(process, call->ptr)) {
        vmm_object nearest = sim_object_nearest(process, call->ptr);
        return vmm_detail_refuse(VMM_RULE_GETACCESS_NOT_MAPPED, call->ptr, 0, &nearest);
    }
    if (mapping) /* for memory of cuMemAlloc the answer is 0 */
        *call->flags = access_at(mapping, *call->location);
    return VMM_SUCCESS;
}
