/* SPDX-License-Identifier: Apache-2.0 */
/* What the tracking of work order needs from the driver and the shadow; which bytes a call accesses; and the findings. */
#include "check_order.h"

#include <string.h>

#include "backend.h"
#include "findings.h"
#include "order_detail.h"
#include "os_environment.h"
#include "stacks_call.h"
#include "system.h"

/* ---- questions ---- */

/* The driver's query functions, looked up once; NULL if the driver lacks one. */
static struct {
    vmm_result (*current)(vmm_context *context);
    vmm_result (*flags)(vmm_stream stream, unsigned *flags);
    vmm_result (*context)(vmm_stream stream, vmm_context *context);
    vmm_result (*capturing)(vmm_stream stream, vmm_stream_capture_status *status);
} ask;

static struct vmm_backend *shadow;

enum { NON_BLOCKING = 1, LEGACY = 1, PER_THREAD = 2 };

static vmm_stream stream_of(uint64_t value)
{
    return (vmm_stream)(uintptr_t)value;
}

static uint64_t ask_context(void *user)
{
    vmm_context context = NULL;
    (void)user;
    return ask.current && ask.current(&context) == VMM_SUCCESS ? (uint64_t)(uintptr_t)context : 0;
}

static bool ask_stream(void *user, uint64_t stream, uint64_t *context, bool *non_blocking)
{
    unsigned flags = 0;
    vmm_context of = NULL;
    (void)user;
    if (!ask.flags || !ask.context || ask.flags(stream_of(stream), &flags) != VMM_SUCCESS ||
        ask.context(stream_of(stream), &of) != VMM_SUCCESS)
        return false;
    *context = (uint64_t)(uintptr_t)of;
    *non_blocking = flags & NON_BLOCKING;
    return true;
}

/* If the driver's query about a stream fails, the stream counts as captured: its work has no effect here. */
static bool ask_captured(void *user, uint64_t stream, bool per_thread)
{
    vmm_stream_capture_status status = VMM_STREAM_CAPTURE_STATUS_NONE;
    (void)user;
    if (!stream)
        stream = per_thread ? PER_THREAD : LEGACY;
    return ask.capturing && (ask.capturing(stream_of(stream), &status) != VMM_SUCCESS || status != VMM_STREAM_CAPTURE_STATUS_NONE);
}

static bool ask_memory(void *user, uint64_t address, uint64_t size, struct follow_memory *memory)
{
    struct shadow_bytes bytes;
    (void)user;
    if (!vmm_shadow_bytes(shadow, address, size, &bytes))
        return false;
    *memory = (struct follow_memory){bytes.memory, bytes.offset, bytes.length,
                                     bytes.managed ? FOLLOW_MANAGED : bytes.host ? FOLLOW_PINNED : FOLLOW_DEVICE};
    return true;
}

static void find(const char *symbol, void *pointer)
{
    check_function function = check_driver_symbol(symbol);
    memcpy(pointer, &function, sizeof function);
}

struct follow *check_order_open(struct vmm_backend *beside)
{
    const char *wanted = os_environment("CUVMM_CHECK_ORDER");
    const struct follow_asks asks = {ask_context, ask_stream, ask_captured, ask_memory, NULL};
    if (wanted && strcmp(wanted, "no") == 0)
        return NULL;
    shadow = beside;
    find("cuCtxGetCurrent", &ask.current);
    find("cuStreamGetFlags", &ask.flags);
    find("cuStreamGetCtx", &ask.context);
    find("cuStreamIsCapturing", &ask.capturing);
    return follow_open(&asks);
}

/* ---- accesses ---- */

static void access_row(struct check_step *step, uint64_t address, uint64_t size, enum order_use use)
{
    follow_access(step->follow, &step->step, &(struct follow_rows){.address = address, .width = size, .rows = 1, .layers = 1, .use = use});
}

static uint64_t host(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* Both sides are known before the first access: a copy with a host side is done by the host itself. */
static void copy(struct check_step *step, uint64_t dst, uint64_t src, uint64_t size)
{
    if (!size)
        return;
    follow_host_side(step->follow, &step->step, src);
    follow_host_side(step->follow, &step->step, dst);
    access_row(step, src, size, ORDER_READ);
    access_row(step, dst, size, ORDER_WRITE);
}

static void fill(struct check_step *step, uint64_t dst, uint64_t size)
{
    if (!size)
        return;
    follow_host_side(step->follow, &step->step, dst);
    access_row(step, dst, size, ORDER_WRITE);
}

/* A side of a box; address 0: an array, which is not tracked. */
static struct follow_rows side_of(uint64_t base, const size_t at[3], size_t pitch, size_t height, const size_t size[3], enum order_use use)
{
    const uint64_t row = pitch ? pitch : size[0], layer = row * (height ? height : size[1]);
    return (struct follow_rows){base ? base + at[0] + at[1] * row + at[2] * layer : 0, size[0], row, size[1], layer, size[2], use};
}

static uint64_t base_of(int type, const void *in_host, vmm_deviceptr on_device)
{
    if (type == VMM_MEMORYTYPE_HOST)
        return host(in_host);
    return type == VMM_MEMORYTYPE_DEVICE || type == VMM_MEMORYTYPE_UNIFIED ? on_device : 0;
}

static void sides(struct check_step *step, const struct follow_rows *src, const struct follow_rows *dst)
{
    if (src->address)
        follow_host_side(step->follow, &step->step, src->address);
    if (dst->address)
        follow_host_side(step->follow, &step->step, dst->address);
    if (src->address)
        follow_access(step->follow, &step->step, src);
    if (dst->address)
        follow_access(step->follow, &step->step, dst);
}

/* Boxes of one context and between two have the same members. */
#define BOX(step, b)                                                                                                           \
    do {                                                                                                                       \
        const size_t size_[] = {(b)->width_in_bytes, (b)->height, (b)->depth};                                                 \
        const size_t from_[] = {(b)->src_x_in_bytes, (b)->src_y, (b)->src_z};                                                  \
        const size_t to_[] = {(b)->dst_x_in_bytes, (b)->dst_y, (b)->dst_z};                                                    \
        const struct follow_rows src_ = side_of(base_of((b)->src_memory_type, (b)->src_host, (b)->src_device), from_,          \
                                                (b)->src_pitch, (b)->src_height, size_, ORDER_READ);                           \
        const struct follow_rows dst_ = side_of(base_of((b)->dst_memory_type, (b)->dst_host, (b)->dst_device), to_,            \
                                                (b)->dst_pitch, (b)->dst_height, size_, ORDER_WRITE);                          \
        sides(step, &src_, &dst_);                                                                                             \
    } while (0)

/* A copy whose source need not be read in stream order may run at any time: its source is not tracked. */
static bool in_turn(const struct vmm_call_memcpy_batch_async *batch, uint64_t i)
{
    uint64_t of = 0;
    for (uint64_t a = 0; a < batch->num_attrs && batch->attrs_idxs[a] <= i; a++)
        of = a;
    return batch->attrs[of].src_access_order == VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM;
}

static void copy_batch(struct check_step *step, const struct vmm_call_memcpy_batch_async *batch)
{
    if (!batch->dsts || !batch->srcs || !batch->sizes || !batch->attrs || !batch->attrs_idxs || !batch->num_attrs)
        return;
    for (uint64_t i = 0; i < batch->count; i++) {
        if (in_turn(batch, i))
            access_row(step, batch->srcs[i], batch->sizes[i], ORDER_READ);
        access_row(step, batch->dsts[i], batch->sizes[i], ORDER_WRITE);
    }
}

/* An allocation of a pool as a whole. */
static void access_allocation(struct check_step *step, uint64_t address)
{
    struct follow_memory memory;
    if (address && ask_memory(NULL, address, UINT64_MAX - address, &memory))
        access_row(step, address, memory.length, ORDER_WRITE);
}

static void accesses(struct check_step *step, const union vmm_any_call *c)
{
    switch ((enum vmm_call_id)c->head.id) {
    case VMM_CALL_memcpy_htod: copy(step, c->memcpy_htod.dst, host(c->memcpy_htod.src), c->memcpy_htod.byte_count); break;
    case VMM_CALL_memcpy_dtoh: copy(step, host(c->memcpy_dtoh.dst), c->memcpy_dtoh.src, c->memcpy_dtoh.byte_count); break;
    case VMM_CALL_memcpy_dtod: copy(step, c->memcpy_dtod.dst, c->memcpy_dtod.src, c->memcpy_dtod.byte_count); break;
    case VMM_CALL_memcpy_htod_async:
        copy(step, c->memcpy_htod_async.dst, host(c->memcpy_htod_async.src), c->memcpy_htod_async.byte_count);
        break;
    case VMM_CALL_memcpy_dtoh_async:
        copy(step, host(c->memcpy_dtoh_async.dst), c->memcpy_dtoh_async.src, c->memcpy_dtoh_async.byte_count);
        break;
    case VMM_CALL_memcpy_dtod_async:
        copy(step, c->memcpy_dtod_async.dst, c->memcpy_dtod_async.src, c->memcpy_dtod_async.byte_count);
        break;
    case VMM_CALL_memset_d8: fill(step, c->memset_d8.dst, c->memset_d8.n); break;
    case VMM_CALL_memset_d16: fill(step, c->memset_d16.dst, 2 * c->memset_d16.n); break;
    case VMM_CALL_memset_d32: fill(step, c->memset_d32.dst, 4 * c->memset_d32.n); break;
    case VMM_CALL_memset_d8_async: fill(step, c->memset_d8_async.dst, c->memset_d8_async.n); break;
    case VMM_CALL_memset_d16_async: fill(step, c->memset_d16_async.dst, 2 * c->memset_d16_async.n); break;
    case VMM_CALL_memset_d32_async: fill(step, c->memset_d32_async.dst, 4 * c->memset_d32_async.n); break;
    case VMM_CALL_memcpy_3d:
        if (c->memcpy_3d.p_copy)
            BOX(step, c->memcpy_3d.p_copy);
        break;
    case VMM_CALL_memcpy_3d_async:
        if (c->memcpy_3d_async.p_copy)
            BOX(step, c->memcpy_3d_async.p_copy);
        break;
    case VMM_CALL_memcpy_3d_peer_async:
        if (c->memcpy_3d_peer_async.p_copy)
            BOX(step, c->memcpy_3d_peer_async.p_copy);
        break;
    case VMM_CALL_memcpy_batch_async: copy_batch(step, &c->memcpy_batch_async); break;
    case VMM_CALL_memcpy_batch_async_v1: /* its first parameters are the same */
        copy_batch(step, &(struct vmm_call_memcpy_batch_async){c->head, c->memcpy_batch_async_v1.dsts, c->memcpy_batch_async_v1.srcs,
                                                               c->memcpy_batch_async_v1.sizes, c->memcpy_batch_async_v1.count,
                                                               c->memcpy_batch_async_v1.attrs, c->memcpy_batch_async_v1.attrs_idxs,
                                                               c->memcpy_batch_async_v1.num_attrs, NULL});
        break;
    case VMM_CALL_mem_free_async: access_allocation(step, c->mem_free_async.dptr); break;
    default: break;
    }
}

/* ---- steps ---- */

static vmm_stream given(const union vmm_any_call *c)
{
    switch ((enum vmm_call_id)c->head.id) {
    case VMM_CALL_memcpy_htod_async: return c->memcpy_htod_async.stream;
    case VMM_CALL_memcpy_dtoh_async: return c->memcpy_dtoh_async.stream;
    case VMM_CALL_memcpy_dtod_async: return c->memcpy_dtod_async.stream;
    case VMM_CALL_memset_d8_async: return c->memset_d8_async.stream;
    case VMM_CALL_memset_d16_async: return c->memset_d16_async.stream;
    case VMM_CALL_memset_d32_async: return c->memset_d32_async.stream;
    case VMM_CALL_memcpy_3d_async: return c->memcpy_3d_async.stream;
    case VMM_CALL_memcpy_3d_peer_async: return c->memcpy_3d_peer_async.stream;
    case VMM_CALL_memcpy_batch_async: return c->memcpy_batch_async.stream;
    case VMM_CALL_memcpy_batch_async_v1: return c->memcpy_batch_async_v1.stream;
    case VMM_CALL_mem_free_async: return c->mem_free_async.stream;
    case VMM_CALL_mem_alloc_async: return c->mem_alloc_async.stream;
    case VMM_CALL_mem_alloc_from_pool_async: return c->mem_alloc_from_pool_async.stream;
    default: return NULL;
    }
}

static bool waits(enum vmm_call_id id)
{
    return (id >= VMM_CALL_memcpy_htod && id <= VMM_CALL_memset_d32) || id == VMM_CALL_memcpy_3d;
}

static bool allocates(enum vmm_call_id id)
{
    return id == VMM_CALL_mem_alloc_async || id == VMM_CALL_mem_alloc_from_pool_async;
}

static bool ends(enum vmm_call_id id)
{
    return id == VMM_CALL_mem_free || id == VMM_CALL_ctx_destroy || id == VMM_CALL_device_primary_ctx_release ||
           id == VMM_CALL_device_primary_ctx_reset;
}

/* The number of the program's call, which its parts share, and its stack. */
static void begin(struct check_step *step, enum check_row row, struct follow_call *call)
{
    vmm_system *sys = NULL;
    struct vmm_thread *thread = vmm_this_thread();
    step->follow = check_order_of(&sys);
    if (!step->follow)
        return;
    struct vmm_within *within = vmm_within_now(&thread->within);
    within->number = ordinal_of_change(&sys->calls, &thread->ordinals);
    thread->stack = 0;
    call->function = check_name(row);
    call->number = within->number;
    call->stack = call_stack();
    call->per_thread = check_per_thread(row);
    follow_begin(step->follow, &step->step, call);
}

void check_step_begin(struct check_step *step, enum check_row row, const struct vmm_call *call)
{
    const union vmm_any_call *any = (const void *)call;
    const enum vmm_call_id id = (enum vmm_call_id)call->id;
    step->call = call;
    if (ends(id)) {
        step->follow = check_order_of(&(vmm_system *){NULL});
        return;
    }
    begin(step, row, &(struct follow_call){.stream = host(given(any)), .waits = waits(id), .copies = id < VMM_CALL_memset_d8 || id == VMM_CALL_memcpy_3d,
                                           .allocates = allocates(id), .frees = id == VMM_CALL_mem_free_async});
    if (step->follow)
        accesses(step, any);
}

void check_step_fill(struct check_step *step, enum check_row row, const struct check_fill *f)
{
    step->call = NULL;
    begin(step, row, &(struct follow_call){.stream = host(f->stream), .waits = f->waits});
    if (!step->follow)
        return;
    follow_host_side(step->follow, &step->step, f->dst);
    follow_access(step->follow, &step->step,
                  &(struct follow_rows){.address = f->dst, .width = f->width, .pitch = f->pitch, .rows = f->height, .layers = 1, .use = ORDER_WRITE});
}

/* No work may precede a stream-ordered allocation. Its address is known now, and only to this thread so far. */
static void begin_memory(struct check_step *step, const union vmm_any_call *call)
{
    const vmm_deviceptr *at = call->head.id == VMM_CALL_mem_alloc_async ? call->mem_alloc_async.dptr : call->mem_alloc_from_pool_async.dptr;
    if (at)
        access_allocation(step, *at);
}

static void report(const struct order_found *found)
{
    const vmm_detail before = *vmm_last_detail();
    vmm_detail_clear();
    order_warn(found, &(vmm_object){.kind = VMM_OBJECT_NONE});
    const vmm_detail detail = *vmm_last_detail();
    *vmm_detail_here() = before;
    findings_add(&detail);
}

void check_step_end(struct check_step *step, vmm_result result)
{
    const union vmm_any_call *call = (const void *)step->call;
    const enum vmm_call_id id = call ? (enum vmm_call_id)call->head.id : VMM_CALL_COUNT;
    if (!step->follow)
        return;
    if (id == VMM_CALL_mem_free) {
        if (result == VMM_SUCCESS)
            follow_all_done(step->follow);
        return;
    }
    if (ends(id)) {
        follow_contexts_end(step->follow);
        return;
    }
    if (allocates(id) && result == VMM_SUCCESS)
        begin_memory(step, call);
    follow_end(step->follow, &step->step, result == VMM_SUCCESS);
    for (unsigned i = 0; i < step->step.count; i++)
        report(&step->step.found[i]);
    vmm_this_thread()->stack = 0;
}
