/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary memory: the simulator has it at the backend's address. The name of the program's call determines the kind,
 * because libcuda's relatives of cuMemAlloc and cuMemFree arrive here as parts of their calls (program_call.h). */
#include "shadow_state.h"

#include <string.h>

#include "thread.h"

#define BIT(kind) (1u << SIM_ADOPTED_##kind)

bool shadow_allocates(enum vmm_call_id id)
{
    return id == VMM_CALL_mem_alloc || id == VMM_CALL_mem_alloc_async || id == VMM_CALL_mem_alloc_from_pool_async ||
           id == VMM_CALL_ipc_open_mem_handle || id == VMM_CALL_mem_pool_import_pointer || id == VMM_CALL_mem_alloc_managed;
}

bool shadow_frees(enum vmm_call_id id)
{
    return id == VMM_CALL_mem_free || id == VMM_CALL_mem_free_async || id == VMM_CALL_ipc_close_mem_handle;
}

static bool is_named(const struct vmm_call *call, const char *name)
{
    return strcmp(vmm_reported_name(vmm_reported_call(call->id)), name) == 0;
}

/* ---- allocations ---- */

/* The program's output for the address, and the requested size; 0: only the backend knows it. */
struct wanted {
    const vmm_deviceptr *at;
    uint64_t size;
    enum sim_adopted kind;
};

static struct wanted wanted_by(const struct vmm_call *call)
{
    const union vmm_any_call *any = (const void *)call;
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_mem_alloc_async:
        return (struct wanted){any->mem_alloc_async.dptr, any->mem_alloc_async.bytesize, SIM_ADOPTED_ORDERED};
    case VMM_CALL_mem_alloc_from_pool_async:
        return (struct wanted){any->mem_alloc_from_pool_async.dptr, any->mem_alloc_from_pool_async.bytesize, SIM_ADOPTED_ORDERED};
    case VMM_CALL_mem_alloc_managed:
        return (struct wanted){any->mem_alloc_managed.dptr, any->mem_alloc_managed.bytesize, SIM_ADOPTED_MANAGED};
    case VMM_CALL_ipc_open_mem_handle:
        return (struct wanted){any->ipc_open_mem_handle.pdptr, 0, SIM_ADOPTED_OPENED};
    case VMM_CALL_mem_pool_import_pointer:
        return (struct wanted){any->mem_pool_import_pointer.ptr_out, 0, SIM_ADOPTED_ORDERED};
    default:
        break;
    }
    bool host = is_named(call, "cuMemHostAlloc") || is_named(call, "cuMemAllocHost");
    return (struct wanted){any->mem_alloc.dptr, any->mem_alloc.bytesize,
                           host                                   ? SIM_ADOPTED_HOST
                           : is_named(call, "cuMemAllocManaged") ? SIM_ADOPTED_MANAGED
                                                                  : SIM_ADOPTED_DEVICE};
}

static uint64_t ask_size(struct shadow *shadow, const struct vmm_call *call, vmm_deviceptr at)
{
    uint64_t size = 0;
    vmm_deviceptr base = 0;
    struct vmm_call_mem_get_address_range ask = {{VMM_CALL_mem_get_address_range, call->number}, &base, &size, at};
    bool known = vmm_backend_call(shadow->backend.inner, &ask.head) == VMM_SUCCESS;
    vmm_detail_begin(call);
    return known && base <= at && at - base < size ? size - (at - base) : 0;
}

/* Work on a captured stream becomes part of a graph: memory that it allocates belongs to the graph, and a free has no
 * immediate effect. */
static bool is_captured(struct shadow *shadow, const struct vmm_call *call, vmm_stream stream)
{
    vmm_stream_capture_status status = VMM_STREAM_CAPTURE_STATUS_NONE;
    struct vmm_call_stream_is_capturing ask = {{VMM_CALL_stream_is_capturing, call->number}, stream, &status};
    bool is = vmm_backend_call(shadow->backend.inner, &ask.head) == VMM_SUCCESS && status != VMM_STREAM_CAPTURE_STATUS_NONE;
    vmm_detail_begin(call);
    return is;
}

static bool allocates_in_capture(struct shadow *shadow, const struct vmm_call *call)
{
    const union vmm_any_call *any = (const void *)call;
    if (call->id == VMM_CALL_mem_alloc_async)
        return is_captured(shadow, call, any->mem_alloc_async.stream);
    return call->id == VMM_CALL_mem_alloc_from_pool_async && is_captured(shadow, call, any->mem_alloc_from_pool_async.stream);
}

/* The rules about the arguments of cuMemAlloc and related calls. */
static void explain(const struct vmm_call *call, vmm_result inner, const struct wanted *wanted)
{
    bool ordered = wanted->kind == SIM_ADOPTED_ORDERED;
    if (inner != VMM_ERROR_INVALID_VALUE || wanted->kind == SIM_ADOPTED_OPENED ||
        call->id == VMM_CALL_mem_pool_import_pointer || (wanted->at && wanted->size))
        return;
    vmm_detail_begin(call);
    if (!wanted->at)
        vmm_detail_refuse(ordered ? VMM_RULE_POOL_ALLOC_NULL : VMM_RULE_ALLOC_NULL, 0, 0, NULL);
    else
        vmm_detail_refuse(ordered ? VMM_RULE_POOL_ALLOC_SIZE_ZERO : VMM_RULE_ALLOC_SIZE_ZERO, 0, 0, NULL);
}

void shadow_allocated(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    struct wanted wanted = wanted_by(call);
    if (inner != VMM_SUCCESS) {
        explain(call, inner, &wanted);
        return;
    }
    if (!wanted.at || !*wanted.at || allocates_in_capture(shadow, call))
        return;
    if (!wanted.size)
        wanted.size = ask_size(shadow, call, *wanted.at);
    sim_adopt_memory(shadow->sim, call, *wanted.at, wanted.size, wanted.kind);
}

/* ---- frees ---- */

static unsigned kinds_freed_by(const struct vmm_call *call)
{
    if (call->id == VMM_CALL_mem_free_async)
        return BIT(ORDERED);
    if (call->id == VMM_CALL_ipc_close_mem_handle)
        return BIT(OPENED);
    return is_named(call, "cuMemFreeHost") ? BIT(HOST) : BIT(DEVICE) | BIT(ORDERED) | BIT(MANAGED);
}

/* The first parameter of each of them. */
static uint64_t freed_by(const struct vmm_call *call)
{
    size_t count;
    return vmm_call_scalar(call, vmm_call_params((enum vmm_call_id)call->id, &count));
}

/* The simulator's finding before the backend's call. */
struct freeing {
    vmm_result sim;
    vmm_detail found;
    struct sim_adopted_memory was;
};

/* A stream-ordered free of ordinary memory succeeds on a recorded driver, but a later call never returns: it is
 * reported before the call, as in foresee. */
static void begin_free(struct shadow *shadow, const struct vmm_call *call, struct freeing *freeing)
{
    freeing->sim = sim_end_memory(shadow->sim, call, freed_by(call), kinds_freed_by(call), &freeing->was);
    freeing->found = *vmm_last_detail();
    if (!freeing->found.rule || strcmp(freeing->found.rule, vmm_rule_row(VMM_RULE_POOL_FREE_ORDINARY)->id) != 0)
        vmm_detail_begin(call);
}

/* Is the memory free now? The backend's pending call has finished, so the backend can be queried. */
static bool is_freed(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_mem_free_async *free = (const void *)call;
    if (inner == VMM_ERROR_DEINITIALIZED) /* as in end_late */
        return true;
    return inner == VMM_SUCCESS && (call->id != VMM_CALL_mem_free_async || !is_captured(shadow, call, free->stream));
}

static void end_free(struct shadow *shadow, const struct vmm_call *call, vmm_result inner, const struct freeing *freeing)
{
    if (freeing->sim == VMM_SUCCESS && !is_freed(shadow, call, inner))
        sim_keep_memory(shadow->sim, &freeing->was);
    if (inner == freeing->sim && inner != VMM_SUCCESS && !shadow->ended)
        *vmm_detail_here() = freeing->found;
}

vmm_result shadow_free(struct shadow *shadow, struct vmm_call *call)
{
    struct freeing freeing = {.sim = VMM_SUCCESS};
    int cancel = life_no_cancel();
    life_acquire(&shadow->lock);
    bool asked = shadow->sim && !shadow->lost && freed_by(call);
    if (asked)
        begin_free(shadow, call, &freeing);
    life_release(&shadow->lock);
    life_may_cancel(cancel);
    vmm_result result = vmm_backend_call(shadow->backend.inner, call);
    if (shadow_is_a_try(shadow, call, result) || (asked && result == VMM_SUCCESS && freeing.sim != VMM_SUCCESS))
        vmm_detail_begin(call); /* the second one's allocation was not seen */
    cancel = life_no_cancel();
    life_acquire(&shadow->lock);
    shadow->ended |= result == VMM_ERROR_DEINITIALIZED;
    if (asked)
        end_free(shadow, call, result, &freeing);
    if (shadow_follows(shadow))
        shadow_refused_inside(shadow, call, result);
    life_release(&shadow->lock);
    life_may_cancel(cancel);
    return result;
}

/* ---- copies and queries ---- */

static void from_host(union vmm_any_call *call, vmm_deviceptr dst, const void *src, uint64_t size)
{
    call->memcpy_htod = (struct vmm_call_memcpy_htod){{VMM_CALL_memcpy_htod, call->head.number}, dst, src, size};
}

static void to_host(union vmm_any_call *call, void *dst, vmm_deviceptr src, uint64_t size)
{
    call->memcpy_dtoh = (struct vmm_call_memcpy_dtoh){{VMM_CALL_memcpy_dtoh, call->head.number}, dst, src, size};
}

/* Both forms have the same parameters, and the stream is the last one. */
bool shadow_direct(struct shadow *shadow, union vmm_any_call *call)
{
    const struct vmm_call_memcpy_dtod copy = call->memcpy_dtod;
    bool to = sim_is_memory(shadow->sim, copy.dst), from = sim_is_memory(shadow->sim, copy.src);
    if (to && !from)
        from_host(call, copy.dst, (const void *)(uintptr_t)copy.src, copy.byte_count);
    else if (from && !to)
        to_host(call, (void *)(uintptr_t)copy.dst, copy.src, copy.byte_count);
    return to || from;
}

bool shadow_asks_of_memory(struct shadow *shadow, const struct vmm_call *call)
{
    const union vmm_any_call *any = (const void *)call;
    uint64_t at = 0;
    if (call->id == VMM_CALL_pointer_get_attribute)
        at = any->pointer_get_attribute.ptr;
    else if (call->id == VMM_CALL_pointer_get_attributes)
        at = any->pointer_get_attributes.ptr;
    else if (call->id == VMM_CALL_mem_get_address_range)
        at = any->mem_get_address_range.dptr;
    else if (call->id == VMM_CALL_mem_get_access)
        at = any->mem_get_access.ptr;
    else if (call->id == VMM_CALL_mem_get_handle_for_address_range)
        at = any->mem_get_handle_for_address_range.dptr;
    else if (call->id == VMM_CALL_mem_retain_allocation_handle)
        at = (uint64_t)(uintptr_t)any->mem_retain_allocation_handle.addr;
    return at && sim_adopted_at(shadow->sim, at, NULL);
}

bool shadow_ran_past(struct shadow *shadow, const struct vmm_call *call)
{
    const vmm_detail found = *vmm_last_detail();
    vmm_object object;
    enum sim_adopted kind = SIM_ADOPTED_NONE;
    if (found.rule && strcmp(found.rule, vmm_rule_row(VMM_RULE_COPY_RUNS_PAST)->id) == 0)
        kind = sim_adopted_at(shadow->sim, found.value, &object);
    if (!kind || kind == SIM_ADOPTED_OPENED)
        return false;
    vmm_detail_begin(call);
    vmm_detail_warn(VMM_RULE_COPY_RUNS_PAST, found.value, 0, &object);
    vmm_detail_argument(found.argument);
    vmm_detail_note("the driver accepted the copy, which continues past the end of the allocation into memory that does not "
                    "belong to it");
    return true;
}
