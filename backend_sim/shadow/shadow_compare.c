/* SPDX-License-Identifier: Apache-2.0 */
/* One call on both sides: the simulator's reason for the backend's result, or their difference. */
#include <stdio.h>
#include <string.h>

#include "shadow_state.h"
#include "thread.h"

/* Pools, without their memory: the driver chooses addresses depending on stream order, which the shadow does not know. */
static bool is_of_pools(enum vmm_call_id id)
{
    return (id >= VMM_CALL_mem_pool_create && id <= VMM_CALL_mem_pool_get_access) ||
           id == VMM_CALL_mem_pool_import_from_shareable_handle;
}

/* A difference without consequences: both states still match. */
static bool harmless(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_mem_get_access:
    case VMM_CALL_mem_get_allocation_granularity:
    case VMM_CALL_mem_get_allocation_properties_from_handle:
    case VMM_CALL_pointer_get_attribute:
    case VMM_CALL_pointer_get_attributes:
    case VMM_CALL_mem_get_address_range:
    case VMM_CALL_mem_get_handle_for_address_range:
    case VMM_CALL_mem_export_to_shareable_handle:
        return true;
    default: /* nothing else depends on a pool */
        return is_of_pools(id) || vmm_call_has(id, CALL_MOVES);
    }
}

void shadow_say_difference(const struct vmm_call *call, enum vmm_rule_id rule, vmm_result inner, vmm_result sim)
{
    vmm_detail_begin(call);
    vmm_detail_warn(rule, 0, 0, NULL);
    if (inner == sim)
        vmm_detail_note("the backend and the rules both give %s, but their outputs do not match",
                        vmm_result_name(inner));
    else
        vmm_detail_note("the backend answers %s, the rules say %s", vmm_result_name(inner), vmm_result_name(sim));
    vmm_detail_here()->result = inner;
}

/* Adds the inner backend's message to the shadow's reason. */
static void join(const vmm_detail *inner)
{
    vmm_detail *detail = vmm_detail_here();
    if (inner->note[0] && !detail->note[0])
        memcpy(detail->note, inner->note, sizeof detail->note);
}

/* No call reports the number of NUMA nodes, so the simulator has as many as it can have; a node that the backend refuses does not
 * exist. */
static bool no_such_node(const struct vmm_call *call, vmm_result sim)
{
    const struct vmm_call_mem_create *create = (const void *)call;
    if (call->id != VMM_CALL_mem_create || (sim != VMM_SUCCESS && sim != VMM_ERROR_OUT_OF_MEMORY) ||
        create->prop->location.type != VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return false;
    vmm_detail_begin(call);
    vmm_detail_refuse(VMM_RULE_CREATE_NUMA_ID, (uint64_t)(int64_t)create->prop->location.id, 0, NULL);
    return true;
}

/* Memory is mapped whole, and only the first mapping shows the size of imported memory. */
static bool no_such_size(struct shadow *shadow, const struct vmm_call *call, const struct shadow_call *made, vmm_result inner)
{
    const struct vmm_call_mem_map *map = (const void *)call;
    if (call->id != VMM_CALL_mem_map || !sim_is_unsized(shadow->sim, made->call.mem_map.handle))
        return false;
    vmm_detail_begin(call);
    vmm_detail_refuse(VMM_RULE_MAP_SIZE_WHOLE, map->size, 0, NULL);
    vmm_detail_here()->result = inner;
    vmm_detail_note("no call reports the size of imported memory; the size must be different, because everything else about "
                    "the call is right");
    return true;
}

/* State that the shadow never saw: memory from another API, a context made current in another way, a platform that
 * maps a dma-buf over PCIe; and pools of managed memory, which the simulator lacks. */
static bool unknown_to_shadow(enum vmm_call_id id, vmm_result sim)
{
    static const enum vmm_rule_id rules[] = {VMM_RULE_COPY_NOT_MAPPED, VMM_RULE_COPY_RUNS_PAST,
                                             VMM_RULE_POINTER_NOT_MAPPED, VMM_RULE_RANGE_NOT_FOUND,
                                             VMM_RULE_GETACCESS_NOT_MAPPED, VMM_RULE_DMABUF_NOT_MAPPED,
                                             VMM_RULE_DMABUF_PCIE, VMM_RULE_POOL_CREATE_MANAGED};
    const char *rule = vmm_last_detail()->rule;
    if (sim == VMM_ERROR_INVALID_CONTEXT || sim == VMM_ERROR_CONTEXT_IS_DESTROYED)
        return true;
    if (id == VMM_CALL_memcpy_3d || id == VMM_CALL_memcpy_3d_async)
        return !rule || (strcmp(rule, vmm_rule_row(VMM_RULE_COPY_NO_READ)->id) != 0 && strcmp(rule, vmm_rule_row(VMM_RULE_COPY_NO_WRITE)->id) != 0);
    for (size_t i = 0; rule && i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rule, vmm_rule_row(rules[i])->id) == 0)
            return true;
    return false;
}

/* The shadow received the address that the backend chose; this function warns when it differs from the requested one. */
static void warn_of_place(const struct vmm_call *call, vmm_result result)
{
    const struct vmm_call_mem_address_reserve *reserve = (const void *)call;
    if (call->id != VMM_CALL_mem_address_reserve || result != VMM_SUCCESS || !reserve->addr ||
        *reserve->ptr == reserve->addr)
        return;
    vmm_detail_begin(call); /* of two warnings, the first one counts */
    vmm_detail_warn(VMM_RULE_RESERVE_HINT_NOT_TAKEN, reserve->addr, *reserve->ptr, NULL);
}

/* A copy or query whose validity only the backend can know. */
static bool only_inner_knows(struct shadow *shadow, const struct vmm_call *call, vmm_result inner, vmm_result sim,
                             const vmm_detail *said)
{
    if (inner != VMM_SUCCESS && sim == VMM_SUCCESS && shadow_copies_memory(shadow, call)) {
        *vmm_detail_here() = *said;
        return true;
    }
    const bool known_there = inner == VMM_SUCCESS || inner == VMM_ERROR_INVALID_CONTEXT; /* memory that lacks only a context */
    if (!known_there || !harmless((enum vmm_call_id)call->id) || !unknown_to_shadow((enum vmm_call_id)call->id, sim))
        return false;
    if (inner != VMM_SUCCESS || !shadow_ran_past(shadow, call))
        *vmm_detail_here() = *said;
    return true;
}

static void judge(struct shadow *shadow, struct shadow_call *made, struct vmm_call *call, vmm_result inner, const vmm_detail *said)
{
    const bool only = inner != VMM_SUCCESS; /* a refused call had no effect on the backend */
    vmm_detail_begin(call);
    if (only)
        sim_check_only(shadow->sim, true);
    vmm_result sim = vmm_backend_call(shadow->sim, &made->call.head);
    if (only)
        sim_check_only(shadow->sim, false);
    if (inner == VMM_SUCCESS && sim == VMM_ERROR_INVALID_CONTEXT && shadow_learn_context(shadow, call)) {
        vmm_detail_begin(call);
        sim = vmm_backend_call(shadow->sim, &made->call.head);
    }
    bool bound = shadow_call_end(made, call, inner, sim, &shadow->pairs);
    if ((inner == VMM_ERROR_INVALID_VALUE && no_such_node(call, sim)) ||
        (inner != VMM_SUCCESS && sim == VMM_SUCCESS && no_such_size(shadow, call, made, inner)))
        return;
    if (inner == sim && bound) {
        join(said);
        warn_of_place(call, inner);
    } else if (only_inner_knows(shadow, call, inner, sim, said)) {
        return;
    } else if (harmless((enum vmm_call_id)call->id)) {
        shadow_say_difference(call, VMM_RULE_SHADOW_DIFFERS, inner, sim);
    } else {
        shadow_give_up(shadow, made, call, inner, sim);
    }
}

/* ---- copies ---- */

/* The simulator knows less about a box of rows than about a range: a driver may take part of it from memory that the
 * shadow never saw. */
static bool is_of_rows(enum vmm_call_id id)
{
    return id == VMM_CALL_memcpy_3d || id == VMM_CALL_memcpy_3d_async;
}

static bool names_an_array(const struct vmm_call *call)
{
    enum { ARRAY = 3 }; /* CU_MEMORYTYPE_ARRAY */
    const vmm_memcpy3d *box = is_of_rows((enum vmm_call_id)call->id) ? ((const union vmm_any_call *)(const void *)call)->memcpy_3d.p_copy : NULL;
    return box && (box->src_memory_type == ARRAY || box->dst_memory_type == ARRAY);
}

/* A copy whose memory types the program did not specify, or whose other side is memory that the shadow never saw. */
static bool is_direct(const struct vmm_call *call, vmm_result inner)
{
    if (call->id != VMM_CALL_memcpy_dtod && call->id != VMM_CALL_memcpy_dtod_async)
        return false;
    const char *name = vmm_reported_name(vmm_reported_call(call->id));
    return inner == VMM_SUCCESS || strcmp(name, "cuMemcpy") == 0 || strcmp(name, "cuMemcpyAsync") == 0;
}

static bool is_a_batch(enum vmm_call_id id)
{
    return id == VMM_CALL_memcpy_batch_async || id == VMM_CALL_memcpy_batch_async_v1;
}

/* Each copy of a batch, until one is reported. Both forms begin with the same parameters. */
static void compare_batch(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_memcpy_batch_async *batch = (const void *)call;
    const vmm_detail said = *vmm_last_detail();
    if (!batch->dsts || !batch->srcs || !batch->sizes || (inner != VMM_SUCCESS && inner != VMM_ERROR_INVALID_VALUE))
        return;
    for (uint64_t i = 0; i < batch->count; i++) {
        union vmm_any_call copy = {.memcpy_dtod = {{VMM_CALL_memcpy_dtod, call->number}, batch->dsts[i], batch->srcs[i], batch->sizes[i]}};
        if (shadow_is_opaque(shadow, &copy.head) || !shadow_direct(shadow, &copy))
            continue;
        vmm_detail_begin(call);
        vmm_result sim = vmm_backend_call(shadow->sim, &copy.head);
        if (sim == inner || (inner == VMM_SUCCESS && only_inner_knows(shadow, call, inner, sim, &said))) {
            if (sim != VMM_SUCCESS && vmm_last_detail()->rule)
                return;
        } else if (inner == VMM_SUCCESS) {
            shadow_say_difference(call, VMM_RULE_SHADOW_DIFFERS, inner, sim);
            return;
        }
    }
    *vmm_detail_here() = said;
}

/* A multicast object is not tracked. Its handle may have the value of a released one. */
static void forget_handle(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_multicast_create *create = (const void *)call;
    if (inner == VMM_SUCCESS && create->mc_handle && pairs_get(&shadow->pairs.handles, *create->mc_handle))
        pairs_set(&shadow->pairs.handles, *create->mc_handle, 0);
}

/* The simulator's reason for a refusal, if it would refuse the call as well; otherwise its result is ignored. */
static void explain_refusal(struct shadow *shadow, const struct vmm_call *call, vmm_result inner, const vmm_detail *said)
{
    struct shadow_call made;
    if (inner == VMM_SUCCESS || !shadow_call_begin(&made, call, false, &shadow->pairs))
        return;
    sim_check_only(shadow->sim, true);
    vmm_detail_begin(call);
    if (vmm_backend_call(shadow->sim, &made.call.head) != inner)
        *vmm_detail_here() = *said;
    sim_check_only(shadow->sim, false);
}

/* The addresses of an untracked range are enough to explain why nothing can be mapped there. */
static void beside_opaque(struct shadow *shadow, const struct vmm_call *call, vmm_result inner, const vmm_detail *said)
{
    shadow_pass_opaque(shadow, call, inner);
    if (call->id == VMM_CALL_mem_map)
        explain_refusal(shadow, call, inner, said);
}

void shadow_compare(struct shadow *shadow, struct vmm_call *call, vmm_result inner)
{
    struct shadow_call made;
    const vmm_detail said = *vmm_last_detail();
    if (call->id == VMM_CALL_mem_export_to_shareable_handle)
        shadow_note_export(shadow, call, inner);
    if (call->id == VMM_CALL_mem_pool_export_to_shareable_handle || call->id == VMM_CALL_ipc_get_mem_handle)
        shadow_note_export(shadow, call, inner); /* for both, only the rules about their own arguments are known */
    else if (call->id == VMM_CALL_multicast_create)
        forget_handle(shadow, call, inner);
    else if (shadow_allocates((enum vmm_call_id)call->id))
        shadow_allocated(shadow, call, inner);
    /* analysers: bugprone-branch-clone is wrong: what comes between the two counts before the second */
    else if (shadow_imported_pool(shadow, call, inner) || shadow_imported(shadow, call, inner))
        return;
    else if (shadow_is_opaque(shadow, call))
        beside_opaque(shadow, call, inner, &said);
    else if (shadow_asks_of_memory(shadow, call))
        explain_refusal(shadow, call, inner, &said);
    else if (names_an_array(call))
        return;
    else if (is_a_batch((enum vmm_call_id)call->id))
        compare_batch(shadow, call, inner);
    else if (!shadow_call_begin(&made, call, inner == VMM_SUCCESS, &shadow->pairs))
        shadow_pass_unknown(shadow, call, inner);
    else if (!is_direct(call, inner) || shadow_direct(shadow, &made.call))
        judge(shadow, &made, call, inner, &said);
}
