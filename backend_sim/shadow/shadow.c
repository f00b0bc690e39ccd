/* SPDX-License-Identifier: Apache-2.0 */
#include "shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "profile.h"
#include "shadow_state.h"

/* The calls of pools, without their memory. */
static bool is_of_pools(enum vmm_call_id id)
{
    return (id >= VMM_CALL_mem_pool_create && id <= VMM_CALL_mem_pool_get_access) ||
           id == VMM_CALL_mem_pool_import_from_shareable_handle;
}

/* Managed memory: the shadow knows its addresses but nothing about its pages. */
static bool is_about_managed(enum vmm_call_id id)
{
    return id > VMM_CALL_mem_alloc_managed && id <= VMM_CALL_mem_discard_and_prefetch_batch_async;
}

/* The calls whose rules the shadow knows. Streams, events, kernels and device queries are not among them: no shadowed
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
    case VMM_CALL_multicast_create:
    case VMM_CALL_memcpy_3d:
    case VMM_CALL_memcpy_3d_async:
    case VMM_CALL_memcpy_batch_async:
    case VMM_CALL_memcpy_batch_async_v1:
        return true;
    default:
        return is_of_pools(id) || id == VMM_CALL_ipc_get_mem_handle || shadow_allocates(id) || shadow_frees(id) || id == VMM_CALL_mem_pool_export_to_shareable_handle ||
               (id >= VMM_CALL_mem_get_allocation_granularity && id <= VMM_CALL_memset_d32_async &&
                !vmm_call_has(id, CALL_MULTICAST) && !is_about_managed(id));
    }
}

/* Answers that the simulator cannot predict: how much memory is free on a device that other programs use too, which addresses the
 * driver keeps for itself, whether there is an IMEX channel, which streams and events exist and which streams are captured. The
 * shadow accepts the backend's result. */
static bool taken_as_it_is(vmm_result result)
{
    return result == VMM_ERROR_OUT_OF_MEMORY || result == VMM_ERROR_NOT_PERMITTED ||
           result == VMM_ERROR_NOT_INITIALIZED || result == VMM_ERROR_INVALID_HANDLE ||
           result == VMM_ERROR_ILLEGAL_ADDRESS || result == VMM_ERROR_LAUNCH_FAILED ||
           (result >= VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= VMM_ERROR_STREAM_CAPTURE_WRONG_THREAD);
}

bool shadow_is_stale(struct shadow *shadow, uint64_t handle, vmm_detail *found)
{
    vmm_mem_allocation_prop prop;
    struct vmm_call_mem_get_allocation_properties_from_handle ask = {
        {VMM_CALL_mem_get_allocation_properties_from_handle, 0}, &prop, handle};
    vmm_detail_begin(&ask.head);
    vmm_backend_call(shadow->sim, &ask.head);
    *found = *vmm_last_detail();
    return found->rule && strcmp(found->rule, vmm_rule_row(VMM_RULE_PROPERTIES_HANDLE_STALE)->id) == 0;
}

/* With a released handle, some calls crash the process on a recorded driver, and no message can follow. So the shadow fills the
 * thread's record before it calls the inner backend, which may report it. */
static bool foresee(struct shadow *shadow, const struct vmm_call *call)
{
    struct shadow_call made;
    vmm_detail found;
    enum vmm_rule_id rule = VMM_RULE_MAP_HANDLE_STALE;
    if (call->id == VMM_CALL_mem_export_to_shareable_handle)
        rule = VMM_RULE_EXPORT_HANDLE_STALE;
    else if (call->id != VMM_CALL_mem_map)
        return false;
    if (!shadow_follows(shadow) || !shadow_call_begin(&made, call, false, &shadow->pairs))
        return false;
    uint64_t handle = rule == VMM_RULE_MAP_HANDLE_STALE ? made.call.mem_map.handle
                                                        : made.call.mem_export_to_shareable_handle.handle;
    bool stale = shadow_is_stale(shadow, handle, &found);
    vmm_detail_begin(call);
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

/* The CUDA runtime learns from such a call that a thread has no context yet, makes one current and repeats the call. */
bool shadow_is_a_try(const struct shadow *shadow, const struct vmm_call *call, vmm_result result)
{
    enum vmm_call_id id = (enum vmm_call_id)call->id;
    return shadow->runtime && result == VMM_ERROR_INVALID_CONTEXT && (vmm_call_has(id, CALL_MOVES) || shadow_allocates(id) || shadow_frees(id));
}

/* Opens the simulator at cuInit, or at the first successful call if cuInit was not seen. */
static void begin(struct shadow *shadow, const struct vmm_call *call)
{
    shadow->lost = !shadow_machine(shadow->backend.inner, shadow->nodes, &shadow->sim);
    shadow->pairs.sim = shadow->sim;
    atomic_store(&shadow->process, life_stamp());
    vmm_detail_begin(call);
    if (shadow->lost)
        say_that_there_is_none();
}

static bool ends_something(enum vmm_call_id id)
{
    return id == VMM_CALL_mem_release || id == VMM_CALL_mem_unmap || id == VMM_CALL_mem_address_free || id == VMM_CALL_ctx_destroy ||
           id == VMM_CALL_device_primary_ctx_release || id == VMM_CALL_device_primary_ctx_reset;
}

/* The driver has shut down before the program, whose exit handlers still free memory: that is not a leak. */
static void end_late(struct shadow *shadow, const struct vmm_call *call)
{
    struct shadow_call made;
    if (!shadow->sim || shadow->lost || !ends_something((enum vmm_call_id)call->id) ||
        !shadow_call_begin(&made, call, false, &shadow->pairs))
        return;
    const vmm_detail said = *vmm_last_detail();
    vmm_backend_call(shadow->sim, &made.call.head);
    *vmm_detail_here() = said;
}

/* There the driver refuses even a query that it accepts everywhere else. */
bool shadow_refused_inside(struct shadow *shadow, const struct vmm_call *call, vmm_result result)
{
    int count = 0;
    struct vmm_call_device_get_count ask = {{VMM_CALL_device_get_count, call->number}, &count};
    if (result != VMM_ERROR_NOT_PERMITTED)
        return false;
    const vmm_detail said = *vmm_last_detail();
    vmm_detail_begin(call); /* a record that is set before the backend's call counts as foreseen */
    bool inside = vmm_backend_call(shadow->backend.inner, &ask.head) == VMM_ERROR_NOT_PERMITTED;
    vmm_detail_begin(call);
    if (inside)
        vmm_detail_refuse(VMM_RULE_HOSTFUNC_CALL, 0, 0, NULL);
    else
        *vmm_detail_here() = said;
    return inside;
}

static void answered(struct shadow *shadow, struct vmm_call *call, vmm_result result)
{
    enum vmm_call_id id = (enum vmm_call_id)call->id;
    shadow->ended |= result == VMM_ERROR_DEINITIALIZED;
    if (result == VMM_ERROR_DEINITIALIZED)
        end_late(shadow, call);
    if (result == VMM_SUCCESS && !shadow->sim && !shadow->lost)
        begin(shadow, call);
    if (shadow_follows(shadow) && (shadow_refused_inside(shadow, call, result) || shadow_opened_own(shadow, call, result)))
        return;
    if (shadow_is_a_try(shadow, call, result))
        vmm_detail_begin(call);
    else if (shadow_follows(shadow) && shadowed(id) && !taken_as_it_is(result))
        shadow_compare(shadow, call, result);
}

static vmm_result shadow_pass(struct vmm_backend *self, struct vmm_call *call)
{
    struct shadow *shadow = (struct shadow *)self;
    enum vmm_call_id id = (enum vmm_call_id)call->id;
    if ((!shadowed(id) && id != VMM_CALL_init) || elsewhere(shadow))
        return vmm_backend_call(self->inner, call);
    if (shadow_frees(id))
        return shadow_free(shadow, call);
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
    answered(shadow, call, result);
    life_release(&shadow->lock);
    life_may_cancel(cancel);
    return result;
}

bool vmm_shadow_bytes(struct vmm_backend *self, uint64_t address, uint64_t size, struct shadow_bytes *bytes)
{
    struct shadow *shadow = (struct shadow *)self;
    struct sim_bytes found;
    int cancel = life_no_cancel();
    life_acquire(&shadow->lock);
    const bool is = shadow_follows(shadow) && sim_bytes_at(shadow->sim, address, size, &found);
    life_release(&shadow->lock);
    life_may_cancel(cancel);
    if (is)
        *bytes = (struct shadow_bytes){found.block, found.offset, found.length, found.host, found.managed};
    return is;
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
    if (!shadow->sim || shadow->lost || elsewhere(shadow))
        return 0;
    uint64_t count = shadow->sim->ops->leaks(shadow->sim, report, user);
    return count + shadow_open_descriptors(shadow, report, user);
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
    range_set_clear(&shadow->opaque);
    range_set_clear(&shadow->reserved);
    pairs_clear(&shadow->descriptor_of);
    heap.free(shadow->descriptors);
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
    const bool runtime = strcmp(args, "runtime") == 0;
    if (args[0] && !runtime && (sscanf(args, "nodes=%1d%c", &nodes, &end) != 1 || nodes < 1 || nodes > SIM_MAX_NODES))
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open",
                               "shadow: expected nothing, runtime, or nodes=N with N from 1 to %d, found \"%.40s\"", SIM_MAX_NODES,
                               args);
    struct shadow *shadow = heap.calloc(1, sizeof *shadow);
    if (!shadow)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "the host's memory is exhausted");
    shadow->backend.ops = &shadow_ops;
    shadow->backend.inner = inner;
    shadow->nodes = nodes;
    shadow->runtime = runtime;
    life_lock_init(&shadow->lock, LIFE_LAYER, NULL);
    *backend = &shadow->backend;
    return VMM_SUCCESS;
}
