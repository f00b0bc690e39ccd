/* SPDX-License-Identifier: Apache-2.0 */
/* Reserving and freeing addresses. */
#include "sim.h"

/* Above this alignment the driver returns INVALID_VALUE, below it OUT_OF_MEMORY, although no address has such an
 * alignment either. */
#define ALIGNMENT_MAX (UINT64_C(1) << 57)

static bool power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

static vmm_result check_reserve(const struct sim_profile *profile, const struct vmm_call_mem_address_reserve *call)
{
    uint64_t unit = profile->va_granularity;
    if (!call->ptr)
        return vmm_detail_refuse(VMM_RULE_RESERVE_NULL_PTR, 0, 0, NULL);
    if (call->flags)
        return vmm_detail_refuse(VMM_RULE_RESERVE_FLAGS, call->flags, 0, NULL);
    if (!call->size)
        return vmm_detail_refuse(VMM_RULE_RESERVE_SIZE_ZERO, 0, 0, NULL);
    if (sim_past(call->size, unit))
        return vmm_detail_refuse(VMM_RULE_RESERVE_SIZE_GRANULARITY, call->size, unit, NULL);
    if (call->alignment && !power_of_two(call->alignment))
        return vmm_detail_refuse(VMM_RULE_RESERVE_ALIGNMENT_POWER, call->alignment, 0, NULL);
    if (call->alignment > ALIGNMENT_MAX)
        return vmm_detail_refuse(VMM_RULE_RESERVE_ALIGNMENT_LIMIT, call->alignment, ALIGNMENT_MAX, NULL);
    if (sim_past(call->addr, unit))
        return vmm_detail_refuse(VMM_RULE_RESERVE_HINT_GRANULARITY, call->addr, unit, NULL);
    if (call->alignment && sim_past(call->addr, call->alignment))
        return vmm_detail_refuse(VMM_RULE_RESERVE_HINT_ALIGNMENT, call->addr, call->alignment, NULL);
    if (call->addr >= profile->va_hint_max)
        return vmm_detail_refuse(VMM_RULE_RESERVE_HINT_LIMIT, call->addr, profile->va_hint_max, NULL);
    return VMM_SUCCESS;
}

static vmm_result refuse_above_hint(const struct sim_process *process, const struct vmm_call_mem_address_reserve *call)
{
    uint64_t end = process->window.end;
    vmm_result result = vmm_detail_refuse(VMM_RULE_RESERVE_SPACE, call->addr, end, NULL);
    vmm_detail_argument("addr");
    vmm_detail_note("the address must be at or above the hint, where no contiguous range of %llu bytes is free",
                    (unsigned long long)call->size);
    return result;
}

static vmm_result refuse_space(const struct sim_process *process, const struct vmm_call_mem_address_reserve *call)
{
    const struct sim_profile *profile = &process->machine->profile;
    if (call->alignment <= profile->va_alignment_max && call->addr)
        return refuse_above_hint(process, call);
    if (call->alignment <= profile->va_alignment_max)
        return vmm_detail_refuse(VMM_RULE_RESERVE_SPACE, call->size, profile->va_end - profile->va_start, NULL);
    vmm_result result =
        vmm_detail_refuse(VMM_RULE_RESERVE_SPACE, call->alignment, profile->va_alignment_max, NULL);
    vmm_detail_argument("alignment");
    vmm_detail_note("this machine does not support a larger alignment");
    return result;
}

/* Does the program have its own memory there? Its heap, libraries and stacks lie above the backed addresses. */
static bool of_program(const struct sim_process *process, uint64_t address, uint64_t size)
{
    const struct host_window *window = &process->window;
    return window->backed > window->start && !host_window_holds(window, address, size) && os_is_taken(address, size);
}

/* A hint in the program's memory counts as in use, because a driver reserves addresses of the process. The search
 * continues after it, in growing steps, because such memory may be large. */
static enum va_allocator_result take_at_hint(struct sim_process *process, uint64_t size, uint64_t alignment, uint64_t hint,
                                             uint64_t *address)
{
    uint64_t chunk = process->machine->profile.va_chunk, step = alignment > chunk ? alignment : chunk;
    for (uint64_t from = hint;; step *= 2) {
        enum va_allocator_result result = va_allocator_take(&process->va, size, alignment, from, address);
        if (result != VA_ALLOCATOR_TAKEN || !of_program(process, *address, size))
            return result;
        va_allocator_free(&process->va, *address, size);
        if (step > process->window.end - *address)
            return VA_ALLOCATOR_FULL;
        from = *address + step;
    }
}

/* Takes addresses for the reservation: the lowest free ones at or above the hint. */
static enum va_allocator_result take(struct sim_process *process, const struct vmm_call_mem_address_reserve *call,
                                     uint64_t *address)
{
    const struct sim_profile *profile = &process->machine->profile;
    uint64_t alignment = call->alignment > profile->va_granularity ? call->alignment : profile->va_granularity;
    if (alignment > profile->va_alignment_max || call->size > profile->va_end - profile->va_start)
        return VA_ALLOCATOR_FULL;
    if (call->addr)
        return take_at_hint(process, call->size, alignment, call->addr, address);
    return va_allocator_take(&process->va, call->size, alignment, call->addr, address);
}

/* Warns when the reservation is not at the hint, or covers a mapping that runs past the end of another reservation. */
static void warn_place(const struct sim_process *process, const struct vmm_call_mem_address_reserve *call,
                       uint64_t address)
{
    const struct sim_mapping *mapping = sim_mapping_in(process, address, call->size);
    if (call->addr && address != call->addr) {
        vmm_object nearest = sim_object_nearest(process, call->addr);
        sim_warn_or_refuse(process, VMM_RULE_RESERVE_HINT_NOT_TAKEN, call->addr, address, &nearest);
    }
    if (mapping) {
        vmm_object nearest = sim_object_mapping(mapping);
        sim_warn_or_refuse(process, VMM_RULE_RESERVE_OVER_MAPPING, call->size, address, &nearest);
    }
}

vmm_result sim_mem_address_reserve(struct sim_process *process, const struct vmm_call_mem_address_reserve *call)
{
    uint64_t address;
    vmm_result result = check_reserve(&process->machine->profile, call);
    if (result != VMM_SUCCESS || process->check_only)
        return result;
    struct sim_reservation *reservation = pool_alloc(&process->reservation_pool);
    if (!reservation)
        return sim_out_of_host_memory();
    enum va_allocator_result taken = take(process, call, &address);
    if (taken == VA_ALLOCATOR_TAKEN && !addrmap_insert(&process->reservations, address, reservation)) {
        va_allocator_free(&process->va, address, call->size);
        taken = VA_ALLOCATOR_NO_MEMORY;
    }
    if (taken != VA_ALLOCATOR_TAKEN) {
        pool_free(&process->reservation_pool, reservation);
        return taken == VA_ALLOCATOR_FULL ? refuse_space(process, call) : sim_out_of_host_memory();
    }
    *reservation = (struct sim_reservation){address, call->size, sim_origin(&call->head),
                                            sim_process_number(process, VMM_OBJECT_RESERVATION)};
    warn_place(process, call, address);
    *call->ptr = address;
    return VMM_SUCCESS;
}

static vmm_result refuse_at(const struct sim_process *process, enum vmm_rule_id rule, uint64_t address)
{
    vmm_object nearest = sim_object_nearest(process, address);
    return vmm_detail_refuse(rule, address, 0, &nearest);
}

static vmm_result refuse_inside(enum vmm_rule_id rule, uint64_t value, uint64_t expected,
                                const struct sim_reservation *reservation)
{
    vmm_object nearest = sim_object_reservation(reservation);
    return vmm_detail_refuse(rule, value, expected, &nearest);
}

static vmm_result check_free(const struct sim_process *process, const struct vmm_call_mem_address_free *call,
                             const struct sim_reservation *reservation)
{
    if (!call->ptr)
        return vmm_detail_refuse(VMM_RULE_FREE_PTR_ZERO, 0, 0, NULL);
    if (!call->size)
        return vmm_detail_refuse(VMM_RULE_FREE_SIZE_ZERO, 0, 0, NULL);
    if (!reservation)
        return refuse_at(process, VMM_RULE_FREE_NOT_RESERVED, call->ptr);
    if (reservation->start != call->ptr)
        return refuse_inside(VMM_RULE_FREE_NOT_START, call->ptr, reservation->start, reservation);
    if (reservation->size != call->size)
        return refuse_inside(VMM_RULE_FREE_SIZE_MATCH, call->size, reservation->size, reservation);
    const struct sim_mapping *mapping = sim_mapping_in(process, reservation->start, reservation->size);
    if (mapping) {
        vmm_object held = sim_object_mapping(mapping);
        return vmm_detail_refuse(VMM_RULE_FREE_MAPPED, call->ptr, 0, &held);
    }
    return VMM_SUCCESS;
}

vmm_result sim_mem_address_free(struct sim_process *process, const struct vmm_call_mem_address_free *call)
{
    struct sim_reservation *reservation = sim_reservation_at(process, call->ptr);
    vmm_result result = check_free(process, call, reservation);
    if (result != VMM_SUCCESS || process->check_only)
        return result;
    sim_reservation_end(process, reservation, sim_origin(&call->head));
    return VMM_SUCCESS;
}
