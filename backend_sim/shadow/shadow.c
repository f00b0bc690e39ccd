/* SPDX-License-Identifier: Apache-2.0 */
#include "shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "lifecycle.h"
#include "pairs.h"
#include "profile.h"
#include "shadow_call.h"
#include "trace_value.h"

struct shadow {
    struct vmm_backend backend; /* must be first */
    struct vmm_backend *sim;    /* NULL until the machine is known */
    /* held while a call runs on both sides (for a call that waits: on the simulator) and is compared; taken before the
     * simulator's lock */
    struct life_lock lock;
    struct shadow_pairs pairs;
    /* life_stamp() of the process that queried the machine; a forked child has no access to the backend either */
    _Atomic uint64_t process;
    int nodes;                  /* NUMA nodes of the host, as far as is known */
    bool lost;
    bool ended;                 /* the backend's driver has ended before the program: the shadow compares nothing any more */
};

/* Are the backend's calls compared with the simulator's? */
static bool follows(const struct shadow *shadow)
{
    return shadow->sim && !shadow->lost && !shadow->ended;
}

/* Pools, without their memory: the driver chooses its addresses in the order of streams, which the shadow does not know. */
static bool is_of_pools(enum vmm_call_id id)
{
    return (id >= VMM_CALL_mem_pool_create && id <= VMM_CALL_mem_pool_get_access) ||
           id == VMM_CALL_mem_pool_import_from_shareable_handle;
}

/* A difference without consequences: the two states are still the same. */
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

/* The calls whose rules the shadow knows. Streams, events, cuMemAlloc, kernels and device queries are not among them: no shadowed
 * state depends on them. Neither are the calls of multicast objects, because no driver's answers to them are known: a mapping of
 * such an object has a handle that the shadow never saw. */
static bool shadowed(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_device_primary_ctx_retain:
    case VMM_CALL_device_primary_ctx_release:
    case VMM_CALL_device_primary_ctx_reset:
    case VMM_CALL_ctx_create:
    case VMM_CALL_ctx_destroy:
    case VMM_CALL_ctx_set_current:
        return true;
    default:
        return is_of_pools(id) || id == VMM_CALL_mem_pool_export_to_shareable_handle ||
               (id >= VMM_CALL_mem_get_allocation_granularity && id <= VMM_CALL_memset_d32_async &&
                !vmm_call_has(id, CALL_MULTICAST));
    }
}

static void say_difference(const struct vmm_call *call, vmm_result inner, vmm_result sim, bool lost)
{
    vmm_detail_begin(call);
    vmm_detail_warn(lost ? VMM_RULE_SHADOW_LOST : VMM_RULE_SHADOW_DIFFERS, 0, 0, NULL);
    if (inner == sim)
        vmm_detail_note("the backend and the rules both answer %s, but their outputs do not match",
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

/* Answers that the simulator cannot predict: how much memory is free on a device that other programs use too, which addresses the
 * driver keeps for itself, whether there is an IMEX channel, which streams and events exist and which streams are captured. The
 * shadow accepts the backend's answer. */
static bool taken_as_it_is(vmm_result result)
{
    return result == VMM_ERROR_OUT_OF_MEMORY || result == VMM_ERROR_NOT_PERMITTED ||
           result == VMM_ERROR_NOT_INITIALIZED || result == VMM_ERROR_INVALID_HANDLE ||
           result == VMM_ERROR_ILLEGAL_ADDRESS || result == VMM_ERROR_LAUNCH_FAILED ||
           (result >= VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= VMM_ERROR_STREAM_CAPTURE_WRONG_THREAD);
}

/* No call reports the number of NUMA nodes, so the simulator has as many as it can have; a node that the backend refuses does not
 * exist. Releases the memory that the simulator created there, unless the node was too small for it. */
static bool no_such_node(struct shadow *shadow, const struct vmm_call *call, const struct shadow_call *made, vmm_result sim)
{
    const struct vmm_call_mem_create *create = (const void *)call;
    if (call->id != VMM_CALL_mem_create || (sim != VMM_SUCCESS && sim != VMM_ERROR_OUT_OF_MEMORY) ||
        create->prop->location.type != VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return false;
    struct vmm_call_mem_release release = {{VMM_CALL_mem_release, call->number}, *made->call.mem_create.handle};
    if (sim == VMM_SUCCESS)
        vmm_backend_call(shadow->sim, &release.head);
    vmm_detail_begin(call);
    vmm_detail_refuse(VMM_RULE_CREATE_NUMA_ID, (uint64_t)(int64_t)create->prop->location.id, 0, NULL);
    return true;
}

/* State that the shadow never saw: memory of cuMemAlloc and the like, a context made current in another way, a platform that maps
 * a dma-buf over PCIe; and pools of managed memory, which the simulator does not have. */
static bool unknown_to_shadow(vmm_result sim)
{
    static const enum vmm_rule_id rules[] = {VMM_RULE_COPY_NOT_MAPPED, VMM_RULE_COPY_RUNS_PAST,
                                             VMM_RULE_POINTER_NOT_MAPPED, VMM_RULE_RANGE_NOT_FOUND,
                                             VMM_RULE_GETACCESS_NOT_MAPPED, VMM_RULE_DMABUF_NOT_MAPPED,
                                             VMM_RULE_DMABUF_PCIE, VMM_RULE_POOL_CREATE_MANAGED};
    const char *rule = vmm_last_detail()->rule;
    if (sim == VMM_ERROR_INVALID_CONTEXT || sim == VMM_ERROR_CONTEXT_IS_DESTROYED)
        return true;
    for (size_t i = 0; rule && i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rule, vmm_rule_row(rules[i])->id) == 0)
            return true;
    return false;
}

/* The answer to a descriptor of the other kind: nothing else about a descriptor is not supported. */
static void other_kind(const struct vmm_call *call, const void *handle, const char *argument)
{
    vmm_detail_begin(call);
    vmm_detail_refuse(VMM_RULE_IMPORT_KIND, (uint64_t)(uintptr_t)handle, 0, NULL);
    vmm_detail_argument(argument);
}

/* A fabric handle of a pool is known as such where this process exported it. */
static void note_export(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_mem_pool_export_to_shareable_handle *export = (const void *)call;
    if (inner != VMM_SUCCESS || export->handle_type != VMM_MEM_HANDLE_TYPE_FABRIC || !export->handle_out)
        return;
    const uint64_t handle = trace_fabric(export->handle_out);
    pairs_set(&shadow->pairs.fabrics, handle, handle);
}

static bool is_of_a_pool(const struct shadow *shadow, const struct vmm_call_mem_import_from_shareable_handle *import)
{
    return import->sh_handle_type == VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
           (import->sh_handle_type == VMM_MEM_HANDLE_TYPE_FABRIC && import->os_handle &&
            pairs_get(&shadow->pairs.fabrics, trace_fabric(import->os_handle)));
}

/* Only the backend knows the descriptor, and the shadow does not follow what is imported. Which arguments are refused before the
 * descriptor is looked at does not depend on it. */
static bool imported_pool(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_mem_pool_import_from_shareable_handle *import = (const void *)call;
    if (call->id != VMM_CALL_mem_pool_import_from_shareable_handle)
        return false;
    if (inner == VMM_SUCCESS)
        shadow_call_forget_pool(call, &shadow->pairs);
    else if (!import->pool_out || import->flags)
        return false;
    else if (inner == VMM_ERROR_NOT_SUPPORTED && import->handle_type == VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        other_kind(call, import->handle, "handle");
    return true;
}

/* No call reports the size of imported memory, so the shadow cannot follow what the program does with it. Only the backend knows
 * what is wrong with a descriptor or with an actual fabric handle. */
static bool imported(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_mem_import_from_shareable_handle *import = (const void *)call;
    if (call->id != VMM_CALL_mem_import_from_shareable_handle)
        return false;
    if (inner == VMM_ERROR_NOT_SUPPORTED && import->handle && is_of_a_pool(shadow, import)) {
        other_kind(call, import->os_handle, "osHandle");
        return true;
    }
    if (inner != VMM_SUCCESS)
        return inner == VMM_ERROR_UNKNOWN || (import->sh_handle_type == VMM_MEM_HANDLE_TYPE_FABRIC && import->handle &&
                                              import->os_handle && inner != VMM_ERROR_NOT_SUPPORTED);
    shadow->lost = true;
    vmm_detail_begin(call);
    vmm_detail_warn(VMM_RULE_SHADOW_LOST, 0, 0, NULL);
    vmm_detail_note("no call reports the size of imported memory, so the shadow stops checking calls");
    return true;
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

static void compare(struct shadow *shadow, struct vmm_call *call, vmm_result inner)
{
    enum vmm_call_id id = (enum vmm_call_id)call->id;
    struct shadow_call made;
    const vmm_detail said = *vmm_last_detail();
    if (call->id == VMM_CALL_mem_pool_export_to_shareable_handle) { /* of pools it is known what the rules say of their calls alone */
        note_export(shadow, call, inner);
        return;
    }
    if (imported_pool(shadow, call, inner) || imported(shadow, call, inner))
        return;
    if (!shadow_call_begin(&made, call, inner == VMM_SUCCESS, &shadow->pairs))
        return; /* an object that the shadow does not follow */
    vmm_detail_begin(call);
    vmm_result sim = vmm_backend_call(shadow->sim, &made.call.head);
    bool bound = shadow_call_end(&made, call, inner, sim, &shadow->pairs);
    if (inner == VMM_ERROR_INVALID_VALUE && no_such_node(shadow, call, &made, sim))
        return;
    if (inner == sim && bound) {
        join(&said);
        warn_of_place(call, inner);
        return;
    }
    if (inner == VMM_SUCCESS && harmless(id) && unknown_to_shadow(sim)) {
        *vmm_detail_here() = said;
        return;
    }
    shadow->lost = !harmless(id);
    say_difference(call, inner, sim, shadow->lost);
}

/* With a released handle, some calls crash the process on a recorded driver, and no message can follow. So the shadow fills the
 * thread's record before it calls the inner backend, which may report it. */
static bool foresee(struct shadow *shadow, const struct vmm_call *call)
{
    struct shadow_call made;
    vmm_mem_allocation_prop prop;
    enum vmm_rule_id rule = VMM_RULE_MAP_HANDLE_STALE;
    if (call->id == VMM_CALL_mem_export_to_shareable_handle)
        rule = VMM_RULE_EXPORT_HANDLE_STALE;
    else if (call->id != VMM_CALL_mem_map)
        return false;
    if (!follows(shadow) || !shadow_call_begin(&made, call, false, &shadow->pairs))
        return false;
    uint64_t handle = rule == VMM_RULE_MAP_HANDLE_STALE ? made.call.mem_map.handle
                                                        : made.call.mem_export_to_shareable_handle.handle;
    struct vmm_call_mem_get_allocation_properties_from_handle ask = {
        {VMM_CALL_mem_get_allocation_properties_from_handle, call->number}, &prop, handle};
    vmm_backend_call(shadow->sim, &ask.head);
    const vmm_detail found = *vmm_last_detail();
    vmm_detail_begin(call);
    bool stale = found.rule && strcmp(found.rule, vmm_rule_row(VMM_RULE_PROPERTIES_HANDLE_STALE)->id) == 0;
    if (stale)
        vmm_detail_refuse(rule, found.value, 0, &found.nearest);
    return stale;
}

static void say_that_there_is_none(void)
{
    vmm_detail_warn(VMM_RULE_SHADOW_LOST, 0, 0, NULL);
    vmm_detail_note("the shadow cannot simulate a machine like the backend's, so it checks no calls");
}

/* Is this a forked child, in which the shadow's state may be inconsistent? */
static bool elsewhere(const struct shadow *shadow)
{
    uint64_t process = atomic_load(&shadow->process);
    return process && process != life_stamp();
}

static vmm_result shadow_pass(struct vmm_backend *self, struct vmm_call *call)
{
    struct shadow *shadow = (struct shadow *)self;
    enum vmm_call_id id = (enum vmm_call_id)call->id;
    if ((!shadowed(id) && id != VMM_CALL_init) || elsewhere(shadow))
        return vmm_backend_call(self->inner, call);
    bool waits = vmm_call_waits(id);
    vmm_result result = waits ? vmm_backend_call(self->inner, call) : VMM_SUCCESS;
    int cancel = life_no_cancel();
    life_acquire(&shadow->lock);
    if (!waits) {
        bool foreseen = foresee(shadow, call);
        result = vmm_backend_call(self->inner, call);
        if (foreseen && result == VMM_SUCCESS)
            vmm_detail_begin(call);
    }
    shadow->ended |= result == VMM_ERROR_DEINITIALIZED;
    if (id == VMM_CALL_init && result == VMM_SUCCESS && !shadow->sim) {
        shadow->lost = !shadow_machine(self->inner, shadow->nodes, &shadow->sim);
        shadow->pairs.sim = shadow->sim;
        atomic_store(&shadow->process, life_stamp());
        vmm_detail_begin(call);
        if (shadow->lost)
            say_that_there_is_none();
    } else if (follows(shadow) && shadowed(id) && !taken_as_it_is(result)) {
        compare(shadow, call, result);
    }
    life_release(&shadow->lock);
    life_may_cancel(cancel);
    return result;
}

static vmm_result shadow_visit(struct vmm_backend *self, vmm_visit_fn visit, void *user)
{
    struct shadow *shadow = (struct shadow *)self;
    if (!shadow->sim || shadow->lost || elsewhere(shadow))
        return VMM_ERROR_NOT_SUPPORTED;
    return shadow->sim->ops->visit(shadow->sim, visit, user);
}

static uint64_t shadow_leaks(struct vmm_backend *self, vmm_report_fn report, void *user)
{
    struct shadow *shadow = (struct shadow *)self;
    return shadow->sim && !shadow->lost && !elsewhere(shadow) ? shadow->sim->ops->leaks(shadow->sim, report, user) : 0;
}

static void shadow_close(struct vmm_backend *self)
{
    struct shadow *shadow = (struct shadow *)self;
    if (shadow->sim)
        shadow->sim->ops->close(shadow->sim);
    self->inner->ops->close(self->inner);
    if (elsewhere(shadow)) {
        vmm_layer_leave(self);
        return;
    }
    shadow_pairs_clear(&shadow->pairs);
    life_lock_end(&shadow->lock);
    heap.free(shadow);
}

static const struct vmm_backend_ops shadow_ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "shadow",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = shadow_pass,
#include "calls.def"
        },
    .visit = shadow_visit,
    .leaks = shadow_leaks,
    .attach = vmm_layer_attach,
    .close = shadow_close,
};

vmm_result vmm_shadow_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend)
{
    int nodes = SIM_MAX_NODES;
    char end;
    if (args[0] && (sscanf(args, "nodes=%1d%c", &nodes, &end) != 1 || nodes < 1 || nodes > SIM_MAX_NODES))
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open",
                               "shadow: expected nothing or nodes=N with N from 1 to %d, found \"%.40s\"", SIM_MAX_NODES,
                               args);
    struct shadow *shadow = heap.calloc(1, sizeof *shadow);
    if (!shadow)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "the host's memory is exhausted");
    shadow->backend.ops = &shadow_ops;
    shadow->backend.inner = inner;
    shadow->nodes = nodes;
    life_lock_init(&shadow->lock, LIFE_LAYER, NULL);
    *backend = &shadow->backend;
    return VMM_SUCCESS;
}
