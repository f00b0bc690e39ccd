/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping and unmapping of physical memory. */
#include "in_flight.h"
#include "in_flight_hazards.h"
#include "host.h"
#include "rdma.h"
#include "sim.h"
#include "team_share.h"
#include "team_wait.h"
#include "units.h"

static vmm_result refuse_at(const struct sim_process *process, enum vmm_rule_id rule, uint64_t address)
{
    vmm_object nearest = sim_object_nearest(process, address);
    return vmm_detail_refuse(rule, address, 0, &nearest);
}

static vmm_result refuse_handle_size(enum vmm_rule_id rule, uint64_t value, const struct sim_handle *handle)
{
    vmm_object nearest = sim_object_handle(handle);
    return vmm_detail_refuse(rule, value, handle->size, &nearest);
}

/* Checks that a multicast object has all its devices; if not, arranges to wait for them. */
static vmm_result check_team(struct sim_process *process, const struct sim_handle *handle, struct team_wait *wait)
{
    if (!handle->team_size)
        return VMM_SUCCESS;
    const char *wrong = team_look(process->machine, handle->block);
    if (wrong)
        return sim_machine_unreachable(wrong);
    if (team_is_complete(handle->block->team) || team_wait_for(wait, process, handle))
        return VMM_SUCCESS;
    return team_wait_refuse(wait, VMM_RULE_MAP_INCOMPLETE, handle);
}

/* Checks which part of the memory is mapped: all of it, unless the profile allows parts. */
static vmm_result check_part(const struct sim_process *process, const struct vmm_call_mem_map *call,
                             const struct sim_handle *handle)
{
    uint64_t unit = sim_handle_unit(process, handle);
    if (handle->tile_pool)
        return refuse_handle_size(VMM_RULE_MAP_TILE_POOL, call->handle, handle);
    if (!process->machine->profile.partial_map) {
        if (call->offset)
            return refuse_handle_size(VMM_RULE_MAP_OFFSET, call->offset, handle);
        if (handle->unsized)
            return sim_past(call->size, unit) ? refuse_handle_size(VMM_RULE_MAP_SIZE_WHOLE, call->size, handle) : VMM_SUCCESS;
        if (call->size != handle->size)
            return refuse_handle_size(VMM_RULE_MAP_SIZE_WHOLE, call->size, handle);
        return VMM_SUCCESS;
    }
    if (sim_past(call->offset, unit))
        return vmm_detail_refuse(VMM_RULE_MAP_OFFSET_GRANULARITY, call->offset, unit, NULL);
    if (sim_past(call->size, unit))
        return vmm_detail_refuse(VMM_RULE_MAP_SIZE_GRANULARITY, call->size, unit, NULL);
    if (call->offset > handle->size || call->size > handle->size - call->offset)
        return refuse_handle_size(VMM_RULE_MAP_OFFSET_RANGE, call->size, handle);
    return VMM_SUCCESS;
}

/* Refuses an overlap. If the other object lies far past the end of the reservation, the note gives the distance. */
static vmm_result refuse_overlap(const struct vmm_call_mem_map *call, const struct sim_reservation *in,
                                 const vmm_object *nearest)
{
    char past[UNITS_TEXT], behind[UNITS_TEXT];
    uint64_t room = in->start + in->size - call->ptr;
    vmm_result result = vmm_detail_refuse(VMM_RULE_MAP_OVERLAP, call->ptr, 0, nearest);
    if (nearest->start > call->ptr && nearest->start - call->ptr >= room)
        vmm_detail_note("the range passes the end of reservation R%u by %s; the overlap begins %s past that end", in->number,
                        units_text(call->size - room, past), units_text(nearest->start - call->ptr - room, behind));
    return result;
}

/* Checks the addresses. *in: the reservation that holds the first one. */
static vmm_result check_place(const struct sim_process *process, const struct vmm_call_mem_map *call,
                              const struct sim_handle *handle, const struct sim_reservation **in)
{
    uint64_t unit = sim_handle_unit(process, handle);
    uint64_t end = process->window.end;
    if (sim_past(call->ptr, unit))
        return vmm_detail_refuse(VMM_RULE_MAP_PTR_GRANULARITY, call->ptr, unit, NULL);
    *in = sim_reservation_at(process, call->ptr);
    if (!*in)
        return refuse_at(process, VMM_RULE_MAP_NOT_RESERVED, call->ptr);
    if (call->size > end - call->ptr)
        return vmm_detail_refuse(VMM_RULE_MAP_SPACE_END, call->size, end - call->ptr, NULL);
    const struct sim_mapping *other = sim_mapping_in(process, call->ptr, call->size);
    if (other) {
        vmm_object nearest = sim_object_mapping(other);
        return refuse_overlap(call, *in, &nearest);
    }
    const struct sim_allocation *allocation =
        process->allocations.count ? addrmap_ceil(&process->allocations, call->ptr) : NULL;
    if (allocation && allocation->start < call->ptr + call->size) {
        vmm_object nearest = sim_object_allocation(allocation);
        return refuse_overlap(call, *in, &nearest);
    }
    const struct sim_pool *pool = process->first_pool ? addrmap_ceil(&process->pool_ranges, call->ptr) : NULL;
    if (pool && pool->start < call->ptr + call->size) {
        vmm_object nearest = sim_object_pool(pool);
        nearest.start = pool->start;
        return refuse_overlap(call, *in, &nearest);
    }
    return VMM_SUCCESS;
}

/* Warns when the range leaves its reservation: the recorded driver requires only a reserved start, the documentation one
 * reservation around the whole range. */
static bool pass_past_reservation(const struct sim_process *process, const struct vmm_call_mem_map *call,
                                  const struct sim_reservation *first)
{
    uint64_t room = first->size - (call->ptr - first->start);
    if (call->size <= room)
        return true;
    vmm_object nearest = sim_object_reservation(first);
    uint64_t at = call->ptr + room, end = call->ptr + call->size;
    const struct sim_reservation *next;
    while (at < end && (next = sim_reservation_at(process, at)) != NULL)
        at = next->start + next->size;
    enum vmm_rule_id rule = at >= end ? VMM_RULE_MAP_CROSSES_RESERVATIONS : VMM_RULE_MAP_PAST_RESERVATION;
    return sim_warn_or_refuse(process, rule, call->size, room, &nearest);
}

static vmm_result make(struct sim_process *process, const struct vmm_call_mem_map *call, struct sim_handle *handle)
{
    struct sim_mapping *mapping = addrmap_make(&process->mappings, call->ptr);
    if (!mapping)
        return sim_out_of_host_memory();
    *mapping = (struct sim_mapping){.start = call->ptr,
                                    .size = call->size,
                                    .offset = call->offset,
                                    .handle = handle,
                                    .made = sim_origin(&call->head),
                                    .number = sim_process_number(process, VMM_OBJECT_MAPPING)};
    if (handle->unsized)
        sim_handle_size(handle, call->size);
    handle->maps++;
    process->aliased += handle->maps == 2;
    if (rdma_concerns(handle))
        rdma_mapped(mapping);
    return VMM_SUCCESS;
}

static vmm_result check_rdma(const struct sim_handle *handle)
{
    const struct sim_mapping *late = rdma_late(handle);
    if (!late)
        return VMM_SUCCESS;
    vmm_object nearest = sim_object_mapping(late);
    return vmm_detail_refuse(VMM_RULE_MAP_RDMA_LATE, handle->shown, 0, &nearest);
}

static vmm_result map(struct sim_process *process, const struct vmm_call_mem_map *call, struct team_wait *wait)
{
    if (!call->size)
        return vmm_detail_refuse(VMM_RULE_MAP_SIZE_ZERO, 0, 0, NULL);
    if (call->flags)
        return vmm_detail_refuse(VMM_RULE_MAP_FLAGS, call->flags, 0, NULL);
    if (!call->ptr)
        return vmm_detail_refuse(VMM_RULE_MAP_PTR_ZERO, 0, 0, NULL);
    if (!call->handle)
        return vmm_detail_refuse(VMM_RULE_MAP_HANDLE_ZERO, 0, 0, NULL);
    const struct sim_reservation *in = NULL;
    struct sim_handle *handle =
        sim_handle_live(process, call->handle, VMM_RULE_MAP_HANDLE_STALE, VMM_RULE_MAP_HANDLE_FORGED);
    if (!handle)
        return VMM_ERROR_INVALID_VALUE;
    vmm_result result = check_team(process, handle, wait);
    if (result != VMM_SUCCESS || wait->again)
        return result;
    result = check_part(process, call, handle);
    if (result == VMM_SUCCESS)
        result = check_place(process, call, handle, &in);
    if (result == VMM_SUCCESS && rdma_concerns(handle))
        result = check_rdma(handle);
    if (result != VMM_SUCCESS)
        return result;
    if (!pass_past_reservation(process, call, in))
        return VMM_ERROR_INVALID_VALUE;
    return process->check_only ? VMM_SUCCESS : make(process, call, handle);
}

vmm_result sim_mem_map(struct sim_process *process, const struct vmm_call_mem_map *call)
{
    struct team_wait wait = {0};
    vmm_result result;
    do
        result = map(process, call, &wait);
    while (team_wait_again(&wait, process));
    return result;
}

static vmm_result refuse_partial(const struct sim_mapping *mapping, const struct vmm_call_mem_unmap *call)
{
    vmm_object nearest = sim_object_mapping(mapping);
    bool before = mapping->start < call->ptr &&
        call->ptr - mapping->start < mapping->size; /* false: the end of the range cuts it */
    vmm_result result =
        before ? vmm_detail_refuse(VMM_RULE_UNMAP_PARTIAL, call->ptr, mapping->start, &nearest)
               : vmm_detail_refuse(VMM_RULE_UNMAP_PARTIAL, call->size,
                                   mapping->start + mapping->size - call->ptr, &nearest);
    if (before)
        vmm_detail_argument("ptr");
    return result;
}

/* The next mapping after this one that starts below end, or NULL. */
static struct sim_mapping *next_in(const struct sim_process *process, const struct sim_mapping *mapping, uint64_t end)
{
    uint64_t at = mapping->start + mapping->size;
    return at < end ? sim_mapping_after(process, at, end) : NULL;
}

/* Walks the mappings in [start, end). Returns the first that is only partly inside, or NULL; *covered: the bytes of those
 * before it. */
static const struct sim_mapping *sticks_out(const struct sim_process *process, const struct sim_mapping *first,
                                            uint64_t start, uint64_t end, uint64_t *covered)
{
    *covered = 0;
    for (const struct sim_mapping *mapping = first; mapping; mapping = next_in(process, mapping, end)) {
        if (mapping->start < start || mapping->size > end - mapping->start)
            return mapping;
        *covered += mapping->size;
    }
    return NULL;
}

/* Does the range pass the end of the address space? The recorded driver treats such a range as empty. */
static bool wraps(const struct vmm_call_mem_unmap *call)
{
    return call->size > UINT64_MAX - call->ptr;
}

static bool pass_unaligned(const struct sim_process *process, const struct vmm_call_mem_unmap *call, uint64_t unit,
                           const vmm_object *nearest)
{
    bool ptr = sim_past(call->ptr, unit), warned = vmm_last_detail()->severity != VMM_SEVERITY_NONE;
    bool pass = sim_warn_or_refuse(process, VMM_RULE_UNMAP_UNALIGNED, ptr ? call->ptr : call->size, unit, nearest);
    if (!ptr && !warned)
        vmm_detail_argument("size");
    return pass;
}

/* The mapping that a bound at address would cut in two, or NULL. */
static const struct sim_mapping *cut_at(const struct sim_process *process, uint64_t address)
{
    const struct sim_mapping *mapping = sim_mapping_at(process, address);
    return mapping && mapping->start != address ? mapping : NULL;
}

/* The mapping that a range past the end of the address space cuts at its start or its wrapped end, or NULL. */
static const struct sim_mapping *wrapped_inside(const struct sim_process *process,
                                                const struct vmm_call_mem_unmap *call)
{
    const struct sim_mapping *at_start = cut_at(process, call->ptr);
    return at_start ? at_start : cut_at(process, call->ptr + call->size); /* wraps */
}

/* Warns about ranges that the documentation forbids and the recorded driver accepts. False in strict mode. */
static bool pass_loose_range(const struct sim_process *process, const struct vmm_call_mem_unmap *call,
                             uint64_t covered)
{
    uint64_t unit = process->machine->profile.va_granularity;
    if (!wraps(call) && covered == call->size && !sim_past(call->ptr | call->size, unit))
        return true;
    vmm_object nearest = sim_object_nearest(process, call->ptr);
    if (wraps(call) && !sim_warn_or_refuse(process, VMM_RULE_UNMAP_WRAPS, call->size, UINT64_MAX - call->ptr, &nearest))
        return false;
    if ((sim_past(call->ptr, unit) || sim_past(call->size, unit)) && !pass_unaligned(process, call, unit, &nearest))
        return false;
    if (!covered)
        return sim_warn_or_refuse(process, VMM_RULE_UNMAP_NOTHING, call->ptr, 0, &nearest);
    return covered == call->size || sim_warn_or_refuse(process, VMM_RULE_UNMAP_HOLE, call->ptr, covered, &nearest);
}

/* Unmaps all mappings from first up to end, or none. */
static vmm_result unmap_all(struct sim_process *process, const struct vmm_call_mem_unmap *call, struct sim_mapping *first,
                            uint64_t end)
{
    struct sim_mapping *next;
    if (!sim_host_hide(process, first, end))
        return sim_host_refuse();
    for (struct sim_mapping *mapping = first; mapping; mapping = next) {
        next = next_in(process, mapping, end);
        if (!mapping->handle->refs && mapping->handle->maps == 1)
            sim_warn_bound(mapping->handle);
        sim_mapping_end(process, mapping, sim_origin(&call->head));
    }
    in_flight_lost_memory(process);
    return VMM_SUCCESS;
}

/* Unmaps a range that starts at the very last address. As measured, the driver rounds that address up to 0, and unmaps
 * everything from 0 to the end of the range. */
static vmm_result unmap_from_the_last_address(struct sim_process *process, const struct vmm_call_mem_unmap *call)
{
    uint64_t end = call->size - 1;
    const struct sim_mapping *cut = cut_at(process, end);
    if (cut)
        return refuse_partial(cut, call);
    in_flight_unmapping(process, 0, end);
    if (!sim_warn_or_refuse(process, VMM_RULE_UNMAP_WRAPS, call->size, 0, NULL))
        return VMM_ERROR_INVALID_VALUE;
    return unmap_all(process, call, sim_mapping_after(process, 0, end), end);
}

vmm_result sim_mem_unmap(struct sim_process *process, const struct vmm_call_mem_unmap *call)
{
    uint64_t covered;
    if (!call->ptr)
        return vmm_detail_refuse(VMM_RULE_UNMAP_PTR_ZERO, 0, 0, NULL);
    if (!call->size)
        return vmm_detail_refuse(VMM_RULE_UNMAP_SIZE_ZERO, 0, 0, NULL);
    if (call->ptr == UINT64_MAX)
        return unmap_from_the_last_address(process, call);
    if (!sim_reservation_at(process, call->ptr))
        return refuse_at(process, VMM_RULE_UNMAP_NOT_RESERVED, call->ptr);
    uint64_t end = wraps(call) ? call->ptr : call->ptr + call->size;
    struct sim_mapping *first = end > call->ptr ? sim_mapping_in(process, call->ptr, end - call->ptr) : NULL;
    const struct sim_mapping *partial = sticks_out(process, first, call->ptr, end, &covered);
    if (wraps(call))
        partial = wrapped_inside(process, call);
    if (partial)
        return refuse_partial(partial, call);
    if (in_flight_any(process->in_flight))
        in_flight_unmapping(process, call->ptr, end);
    if (!pass_loose_range(process, call, covered))
        return VMM_ERROR_INVALID_VALUE;
    return process->check_only ? VMM_SUCCESS : unmap_all(process, call, first, end);
}
