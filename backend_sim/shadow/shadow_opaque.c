/* SPDX-License-Identifier: Apache-2.0 */
/* Untracked objects: address ranges, handles without a counterpart, and contexts.
 *
 *   cuMemMap of a multicast object    its range is opaque until it is unmapped; calls that name it are passed
 *   an answer against the rules       the range, or the handle, of that call is given up; everything else is still checked
 */
#include <string.h>

#include "sim_open.h"
#include "shadow_state.h"

/* ---- the addresses that a call names ---- */

enum { SPANS = 2 };

static uint64_t end_of(uint64_t start, uint64_t size)
{
    return size > UINT64_MAX - start ? UINT64_MAX : start + size;
}

static struct range span(uint64_t start, uint64_t size)
{
    return (struct range){start, end_of(start, size ? size : 1)};
}

static unsigned spans_of_copy(const union vmm_any_call *any, struct range spans[SPANS])
{
#define BOTH(name) \
    case VMM_CALL_##name: \
    case VMM_CALL_##name##_async
    switch ((enum vmm_call_id)any->head.id) {
    BOTH(memcpy_htod):
        spans[0] = span(any->memcpy_htod.dst, any->memcpy_htod.byte_count);
        spans[1] = span((uint64_t)(uintptr_t)any->memcpy_htod.src, any->memcpy_htod.byte_count);
        return 2;
    BOTH(memcpy_dtoh):
        spans[0] = span(any->memcpy_dtoh.src, any->memcpy_dtoh.byte_count);
        spans[1] = span((uint64_t)(uintptr_t)any->memcpy_dtoh.dst, any->memcpy_dtoh.byte_count);
        return 2;
    BOTH(memcpy_dtod):
        spans[0] = span(any->memcpy_dtod.dst, any->memcpy_dtod.byte_count);
        spans[1] = span(any->memcpy_dtod.src, any->memcpy_dtod.byte_count);
        return 2;
    BOTH(memset_d8):
        spans[0] = span(any->memset_d8.dst, any->memset_d8.n);
        return 1;
    BOTH(memset_d16):
        spans[0] = span(any->memset_d16.dst, 2 * any->memset_d16.n);
        return 1;
    BOTH(memset_d32):
        spans[0] = span(any->memset_d32.dst, 4 * any->memset_d32.n);
        return 1;
    default:
        return 0;
    }
#undef BOTH
}

static unsigned spans_of(const struct vmm_call *call, struct range spans[SPANS])
{
    const union vmm_any_call *any = (const void *)call;
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_mem_map:
        spans[0] = span(any->mem_map.ptr, any->mem_map.size);
        return 1;
    case VMM_CALL_mem_unmap:
    case VMM_CALL_mem_address_free:
        spans[0] = span(any->mem_unmap.ptr, any->mem_unmap.size);
        return 1;
    case VMM_CALL_mem_set_access:
        spans[0] = span(any->mem_set_access.ptr, any->mem_set_access.size);
        return 1;
    case VMM_CALL_mem_get_access:
        spans[0] = span(any->mem_get_access.ptr, 1);
        return 1;
    case VMM_CALL_mem_retain_allocation_handle:
        spans[0] = span((uint64_t)(uintptr_t)any->mem_retain_allocation_handle.addr, 1);
        return 1;
    case VMM_CALL_pointer_get_attribute:
        spans[0] = span(any->pointer_get_attribute.ptr, 1);
        return 1;
    case VMM_CALL_pointer_get_attributes:
        spans[0] = span(any->pointer_get_attributes.ptr, 1);
        return 1;
    case VMM_CALL_mem_get_address_range:
        spans[0] = span(any->mem_get_address_range.dptr, 1);
        return 1;
    case VMM_CALL_mem_get_handle_for_address_range:
        spans[0] = span(any->mem_get_handle_for_address_range.dptr, any->mem_get_handle_for_address_range.size);
        return 1;
    default:
        return spans_of_copy(any, spans);
    }
}

bool shadow_is_opaque(const struct shadow *shadow, const struct vmm_call *call)
{
    struct range spans[SPANS];
    bool is = false;
    if (!shadow->opaque.count && !shadow->reserved.count)
        return false;
    for (unsigned i = spans_of(call, spans); i-- > 0 && !is;)
        is = range_set_touches(&shadow->opaque, spans[i].start, spans[i].end) ||
             range_set_touches(&shadow->reserved, spans[i].start, spans[i].end);
    return is;
}

bool shadow_copies_memory(struct shadow *shadow, const struct vmm_call *call)
{
    struct range spans[SPANS];
    bool does = false;
    for (unsigned i = spans_of_copy((const void *)call, spans); i-- > 0 && !does;) {
        enum sim_adopted kind = sim_adopted_at(shadow->sim, spans[i].start, NULL);
        does = kind && kind != SIM_ADOPTED_DEVICE;
    }
    return does;
}

/* ---- ranges ---- */

static void say_lost(struct shadow *shadow, const struct vmm_call *call)
{
    shadow->lost = true;
    vmm_detail_begin(call);
    vmm_detail_warn(VMM_RULE_SHADOW_LOST, 0, 0, NULL);
    vmm_detail_note("the host's memory is exhausted, so the shadow stops checking calls");
}

/* From here on the mappings there are unknown. Mappings that the range cuts are no longer tracked at all. */
static void give_up_range(struct shadow *shadow, const struct vmm_call *call, uint64_t start, uint64_t size)
{
    sim_forget_mappings(shadow->sim, call, &start, &size);
    if (!range_set_add(&shadow->opaque, start, end_of(start, size)))
        say_lost(shadow, call);
}

/* Nothing is mapped there any more. A mapping that was only partly in the range is no longer tracked. */
static void unmapped(struct shadow *shadow, const struct vmm_call *call, uint64_t start, uint64_t size)
{
    const uint64_t from = start, to = end_of(start, size);
    sim_forget_mappings(shadow->sim, call, &start, &size);
    if (!range_set_add(&shadow->opaque, start, from) || !range_set_add(&shadow->opaque, to, end_of(start, size)))
        say_lost(shadow, call);
    range_set_remove(&shadow->opaque, from, to);
}

static void freed(struct shadow *shadow, const struct vmm_call *call)
{
    const struct vmm_call_mem_address_free *free = (const void *)call;
    uint64_t start = free->ptr, size = free->size;
    sim_forget_reservation(shadow->sim, call, free->ptr, &start, &size);
    range_set_remove(&shadow->opaque, start, end_of(start, size));
    range_set_remove(&shadow->reserved, start, end_of(start, size));
}

/* ---- handles ---- */

/* A known handle that was retained has one more reference. */
static void retained(struct shadow *shadow, const struct vmm_call *call)
{
    const struct vmm_call_mem_retain_allocation_handle *retain = (const void *)call;
    uint64_t own = retain->handle ? pairs_get(&shadow->pairs.handles, *retain->handle) : 0;
    if (own)
        sim_hold_handle(shadow->sim, own);
}

/* ---- calls on them ---- */

void shadow_pass_opaque(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const union vmm_any_call *any = (const void *)call;
    if (inner != VMM_SUCCESS)
        return;
    if (call->id == VMM_CALL_mem_map)
        give_up_range(shadow, call, any->mem_map.ptr, any->mem_map.size);
    else if (call->id == VMM_CALL_mem_set_access)
        give_up_range(shadow, call, any->mem_set_access.ptr, any->mem_set_access.size);
    else if (call->id == VMM_CALL_mem_unmap)
        unmapped(shadow, call, any->mem_unmap.ptr, any->mem_unmap.size);
    else if (call->id == VMM_CALL_mem_address_free)
        freed(shadow, call);
    else if (call->id == VMM_CALL_mem_retain_allocation_handle)
        retained(shadow, call);
}

static void say_opaque(const struct vmm_call *call, uint64_t value, const char *what)
{
    vmm_detail_begin(call);
    vmm_detail_warn(VMM_RULE_SHADOW_OPAQUE, value, 0, NULL);
    vmm_detail_note("%s", what);
}

void shadow_pass_unknown(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_mem_map *map = (const void *)call;
    if (inner != VMM_SUCCESS)
        return;
    if (call->id == VMM_CALL_ctx_set_current)
        shadow_learn_context(shadow, call);
    if (call->id != VMM_CALL_mem_map)
        return;
    give_up_range(shadow, call, map->ptr, map->size);
    if (!shadow->lost)
        say_opaque(call, map->handle, "the handle is of an object that the checker does not track, such as a multicast object");
}

/* ---- results that break the rules ---- */

/* Simulator and backend did different things for the call. */
static void release(struct shadow *shadow, const struct vmm_call *call, uint64_t handle)
{
    struct vmm_call_mem_release undo = {{VMM_CALL_mem_release, call->number}, handle};
    vmm_backend_call(shadow->sim, &undo.head);
}

/* The backend created memory that the rules do not allow. It has the requested size and the properties that the
 * backend reports. */
static void adopt_created(struct shadow *shadow, const struct shadow_call *made, const struct vmm_call *call, vmm_result sim)
{
    const struct vmm_call_mem_create *create = (const void *)call;
    vmm_mem_allocation_prop prop;
    if (!create->handle)
        return;
    if (sim == VMM_SUCCESS)
        release(shadow, call, *made->call.mem_create.handle);
    struct vmm_call_mem_get_allocation_properties_from_handle ask = {
        {VMM_CALL_mem_get_allocation_properties_from_handle, call->number}, &prop, *create->handle};
    uint64_t own = 0;
    if (create->size && vmm_backend_call(shadow->backend.inner, &ask.head) == VMM_SUCCESS)
        own = sim_adopt_handle(shadow->sim, call, create->size, &prop, false);
    pairs_set(&shadow->pairs.handles, *create->handle, own);
    if (own)
        sim_show_handle(shadow->sim, own, *create->handle);
}

/* The simulator may have made a reservation at another address. */
static void adopt_reserved(struct shadow *shadow, const struct shadow_call *made, const struct vmm_call *call, vmm_result sim)
{
    const struct vmm_call_mem_address_reserve *reserve = (const void *)call;
    uint64_t start, size;
    if (sim == VMM_SUCCESS)
        sim_forget_reservation(shadow->sim, call, *made->call.mem_address_reserve.ptr, &start, &size);
    if (!range_set_add(&shadow->reserved, *reserve->ptr, end_of(*reserve->ptr, reserve->size)))
        say_lost(shadow, call);
}

static void forget_retained(struct shadow *shadow, const struct shadow_call *made, const struct vmm_call *call, vmm_result sim)
{
    const struct vmm_call_mem_retain_allocation_handle *retain = (const void *)call;
    if (sim == VMM_SUCCESS)
        release(shadow, call, *made->call.mem_retain_allocation_handle.handle);
    retained(shadow, call);
    give_up_range(shadow, call, (uint64_t)(uintptr_t)retain->addr, 1);
}

/* The backend's answer was a success. */
static void take_over(struct shadow *shadow, const struct shadow_call *made, const struct vmm_call *call, vmm_result sim)
{
    const union vmm_any_call *any = (const void *)call;
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_mem_create:
        adopt_created(shadow, made, call, sim);
        break;
    case VMM_CALL_mem_address_reserve:
        adopt_reserved(shadow, made, call, sim);
        break;
    case VMM_CALL_mem_retain_allocation_handle:
        forget_retained(shadow, made, call, sim);
        break;
    case VMM_CALL_mem_map:
        give_up_range(shadow, call, any->mem_map.ptr, any->mem_map.size);
        break;
    case VMM_CALL_mem_set_access:
        give_up_range(shadow, call, any->mem_set_access.ptr, any->mem_set_access.size);
        break;
    case VMM_CALL_mem_unmap:
        unmapped(shadow, call, any->mem_unmap.ptr, any->mem_unmap.size);
        break;
    case VMM_CALL_mem_address_free:
        freed(shadow, call);
        break;
    case VMM_CALL_ctx_create:
    case VMM_CALL_ctx_set_current:
    case VMM_CALL_device_primary_ctx_retain:
        shadow_learn_context(shadow, call);
        break;
    default: /* for the others, the object that they ended or named no longer has a counterpart */
        break;
    }
}

void shadow_give_up(struct shadow *shadow, const struct shadow_call *made, const struct vmm_call *call, vmm_result inner,
                    vmm_result sim)
{
    const struct vmm_call_mem_set_access *rights = (const void *)call;
    bool both = inner == VMM_SUCCESS;
    if (both)
        take_over(shadow, made, call, sim);
    else if (call->id == VMM_CALL_mem_set_access && sim == VMM_SUCCESS) /* which had rights to change, and changed them */
        give_up_range(shadow, call, rights->ptr, rights->size);
    if (shadow->lost)
        return;
    bool differs = !both && call->id != VMM_CALL_mem_set_access; /* with no effect on either side */
    shadow_say_difference(call, differs ? VMM_RULE_SHADOW_DIFFERS : VMM_RULE_SHADOW_OPAQUE, inner, sim);
}

/* ---- contexts ---- */

/* The device's primary context stands for it: few calls depend on more than the device, and it is not a leak. */
bool shadow_learn_context(struct shadow *shadow, const struct vmm_call *call)
{
    vmm_context theirs = NULL, own = NULL;
    int device = 0;
    struct vmm_call_ctx_get_current current = {{VMM_CALL_ctx_get_current, call->number}, &theirs};
    struct vmm_call_ctx_get_device on = {{VMM_CALL_ctx_get_device, call->number}, &device};
    bool known = vmm_backend_call(shadow->backend.inner, &current.head) == VMM_SUCCESS && theirs &&
                 vmm_backend_call(shadow->backend.inner, &on.head) == VMM_SUCCESS;
    own = known ? (vmm_context)(uintptr_t)pairs_get(&shadow->pairs.contexts, (uint64_t)(uintptr_t)theirs) : NULL;
    struct vmm_call_device_primary_ctx_retain retain = {{VMM_CALL_device_primary_ctx_retain, call->number}, &own, device};
    if (known && !own)
        known = vmm_backend_call(shadow->sim, &retain.head) == VMM_SUCCESS &&
                pairs_set(&shadow->pairs.contexts, (uint64_t)(uintptr_t)theirs, (uint64_t)(uintptr_t)own);
    struct vmm_call_ctx_set_current set = {{VMM_CALL_ctx_set_current, call->number}, own};
    known = known && vmm_backend_call(shadow->sim, &set.head) == VMM_SUCCESS;
    vmm_detail_begin(call);
    return known;
}
