/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills: the checks at the call, and the transfer itself, at once or as queued work. */
#include "call_copy.h"

#include <string.h>

#include "in_flight.h"
#include "launch.h"
#include "order_feed.h"
#include "pool_use.h"
#include "rows.h"
#include "translate.h"
#include "sim.h"
#include "transfer.h"
#include "twin.h"
#include "work.h"

static struct transfer fill_of(uint64_t dst, const void *value, unsigned width, uint64_t n)
{
    return (struct transfer){.direction = FILL, .dst = dst, .from = value, .size = n * width, .n = n, .width = width};
}

static struct transfer transfer_of(const union vmm_any_call *call)
{
#define BOTH(name) \
    case VMM_CALL_##name: \
    case VMM_CALL_##name##_async
    /* The _async forms have the same parameters and the stream as the last one. */
    switch ((enum vmm_call_id)call->head.id) {
    BOTH(memcpy_htod):
        return (struct transfer){.direction = FROM_HOST, .dst = call->memcpy_htod.dst, .from = call->memcpy_htod.src,
                                 .size = call->memcpy_htod.byte_count};
    BOTH(memcpy_dtoh):
        return (struct transfer){.direction = TO_HOST, .to = call->memcpy_dtoh.dst, .src = call->memcpy_dtoh.src,
                                 .size = call->memcpy_dtoh.byte_count};
    BOTH(memset_d8):
        return fill_of(call->memset_d8.dst, &call->memset_d8.value, 1, call->memset_d8.n);
    BOTH(memset_d16):
        return fill_of(call->memset_d16.dst, &call->memset_d16.value, 2, call->memset_d16.n);
    BOTH(memset_d32):
        return fill_of(call->memset_d32.dst, &call->memset_d32.value, 4, call->memset_d32.n);
    default:
        return (struct transfer){.direction = BETWEEN, .dst = call->memcpy_dtod.dst, .src = call->memcpy_dtod.src,
                                 .size = call->memcpy_dtod.byte_count};
    }
#undef BOTH
}

/* Is the pointer a mapped device address? No address belongs to both the host and a device, so a driver recognises a device
 * address where a call expects a host address, and copies between device addresses. An address that is only reserved counts as
 * the host's: its access is a SIGSEGV. So does memory of a host pool. */
static bool is_device_address(const struct sim_process *process, const void *pointer)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    struct translate_run run;
    return host_window_holds(&process->window, address, 1) && translate_run(process, address, 1, &run) &&
           !translate_host_pool(process, address);
}

static struct transfer transfer_here(const struct sim_process *process, const union vmm_any_call *call)
{
    struct transfer t = transfer_of(call);
    t.rights = (struct transfer_rights){-1, -1}; /* until the caller is known */
    t.dst_name = "dstDevice";
    t.src_name = "srcDevice";
    if (t.direction == FROM_HOST && is_device_address(process, t.from)) {
        t.direction = BETWEEN;
        t.src = (uint64_t)(uintptr_t)t.from;
        t.src_name = "srcHost";
    } else if (t.direction == TO_HOST && is_device_address(process, t.to)) {
        t.direction = BETWEEN;
        t.dst = (uint64_t)(uintptr_t)t.to;
        t.dst_name = "dstHost";
    }
    return t;
}

/* ---- checks ---- */

/* Bytes of an array need no rights: a copy of a box names the array, and its bounds are checked (rows.h). */
static vmm_result check_range(const struct sim_process *process, int device, uint64_t address, uint64_t size,
                              enum translate_use use, const char *argument)
{
    return arrays_have(address) ? VMM_SUCCESS : translate_check(process, device, address, size, use, argument);
}

static vmm_result refuse_null(const char *argument)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_NULL, 0, 0, NULL);
    vmm_detail_argument(argument);
    return result;
}

static vmm_result check_fill(const struct sim_process *process, const struct transfer *t)
{
    if (!t->n)
        return VMM_SUCCESS;
    if (t->dst % t->width)
        return vmm_detail_refuse(VMM_RULE_SET_ALIGNMENT, t->dst, t->width, NULL);
    if (t->size / t->width != t->n &&
        !sim_warn_or_refuse(process, VMM_RULE_SET_COUNT_WRAPS, t->n, UINT64_MAX / t->width, NULL))
        return VMM_ERROR_INVALID_VALUE;
    return t->size ? translate_check(process, t->rights.to, t->dst, t->size, TRANSLATE_FILL, "dstDevice") : VMM_SUCCESS;
}

static vmm_result check_between(const struct sim_process *process, const struct transfer *t)
{
    vmm_result result = check_range(process, t->rights.to, t->dst, t->size, TRANSLATE_WRITE, t->dst_name);
    if (result == VMM_SUCCESS)
        result = check_range(process, t->rights.from, t->src, t->size, TRANSLATE_READ, t->src_name);
    return result == VMM_SUCCESS && !arrays_have(t->dst) && !arrays_have(t->src)
               ? translate_check_pair(process, t->rights.to, t->dst, t->src, t->size, t->dst_name, t->src_name)
               : result;
}

static vmm_result check(const struct sim_process *process, const struct transfer *t)
{
    if (t->direction == FILL)
        return check_fill(process, t);
    if (!t->size)
        return VMM_SUCCESS;
    if (t->direction == BETWEEN)
        return check_between(process, t);
    if (t->direction == FROM_HOST)
        return t->from ? check_range(process, t->rights.to, t->dst, t->size, TRANSLATE_FROM_HOST, "dstDevice") : refuse_null("srcHost");
    return t->to ? check_range(process, t->rights.from, t->src, t->size, TRANSLATE_TO_HOST, "srcDevice") : refuse_null("dstHost");
}

/* Is one side an array that currently has no memory? Such a copy faults when the stream reaches it. */
static bool lacks_memory(const struct sim_process *process, const struct transfer *t)
{
    struct translate_run run;
    const bool writes = t->direction != TO_HOST, reads = t->direction == TO_HOST || t->direction == BETWEEN;
    return t->size && ((writes && arrays_have(t->dst) && !translate_run(process, t->dst, t->size, &run)) ||
                       (reads && arrays_have(t->src) && !translate_run(process, t->src, t->size, &run)));
}

/* ---- faults ---- */

/* Does the device have access to the memory there? Bytes of an array need only memory, no rights. */
static bool may_access(const struct sim_process *process, int device, uint64_t address, unsigned need)
{
    return arrays_have(address) || (translate_rights(process, device, address) & need) == need;
}

/* The first byte for which the device lacks a right in need; the start if the device has them and the host lacks its own. */
static uint64_t first_bad(const struct sim_process *process, int device, uint64_t address, uint64_t size, unsigned need)
{
    struct translate_run run;
    for (uint64_t at = address, left = size; left; at += run.length, left -= run.length)
        if (!translate_run(process, at, left, &run) || !may_access(process, device, at, need))
            return at;
    return address;
}

static bool with_host(const struct transfer *t)
{
    return t->direction == FROM_HOST || t->direction == TO_HOST;
}

/* Is host memory mapped there? */
static bool on_host(const struct sim_process *process, uint64_t address)
{
    const struct sim_mapping *m = sim_mapping_at(process, address);
    return m && sim_on_host(m->handle->prop.location);
}

static void lose(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                 struct sim_origin issued, const struct transfer *t)
{
    /* Measured: the fault of a fill of 1 to 512 bytes is reported like that of a copy from the host, the fault of a 2 MiB fill
     * like that of a copy between devices. In graphs, copies of 16 bytes between a device and memory of cuMemHostAlloc: like a
     * copy from the host. */
    enum { FILL_OF_COMMAND = 512 };
    bool of_command = with_host(t) || (t->direction == FILL && t->size <= FILL_OF_COMMAND) ||
                      (t->direction == BETWEEN && (on_host(process, t->dst) || on_host(process, t->src)));
    struct device_loss loss = {.kind = of_command ? SIM_FAULT_HOST_COPY : SIM_FAULT_COPY, .place = place, .call = call,
                               .issued_by = issued.call, .stack = issued.stack, .width = 1, .use = TWIN_WRITE};
    struct translate_run run;
    if (t->direction != TO_HOST)
        loss.address = first_bad(process, t->rights.to, t->dst, t->size, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (t->direction == TO_HOST ||
        (t->direction == BETWEEN && loss.address == t->dst && translate_run(process, t->dst, 1, &run) &&
         may_access(process, t->rights.to, t->dst, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE))) {
        loss.address = first_bad(process, t->rights.from, t->src, t->size, VMM_MEM_ACCESS_FLAGS_PROT_READ);
        loss.use = TWIN_READ;
    }
    sim_lose_device(process, &loss);
}

/* ---- past the end of the address space ---- */

/* The start of the range that may pass the end of the address space. In a copy between device addresses both ranges pass it,
 * because a range that does not was refused: no mapped range is that large. */
static uint64_t start_of(const struct transfer *t)
{
    return t->direction == TO_HOST ? t->src : t->dst;
}

static bool wraps(const struct transfer *t)
{
    return t->size > UINT64_MAX - start_of(t);
}

/* Warns about a range past the end of the address space, which the driver starts anyway; refuses it in strict mode. */
static vmm_result warn_wrap(const struct sim_process *process, const struct transfer *t)
{
    uint64_t start = start_of(t);
    vmm_object nearest = sim_object_nearest(process, start);
    bool pass = sim_warn_or_refuse(process, VMM_RULE_COPY_OVERFLOW, t->size, UINT64_MAX - start, &nearest);
    vmm_detail_note("the address space has fewer bytes after 0x%llx", (unsigned long long)start);
    return pass ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE;
}

/* Does a transfer past the end of the address space: its device faults and is lost. A call that waits for its own transfer also
 * reports the fault: copies from and to the host, and fills of host memory. */
static vmm_result run_off(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                          const struct transfer *t, const struct sim_context *context)
{
    vmm_result result = warn_wrap(process, t);
    bool waits = with_host(t) || (t->direction == FILL && on_host(process, t->dst));
    if (result == VMM_SUCCESS)
        lose(process, place, call, sim_origin(call), t);
    return result == VMM_SUCCESS && waits ? sim_context_check(process, context, true) : result;
}

/* ---- the host's memory ---- */

/* Writes to the byte without changing it, also when another thread writes it at the same time. A compare-and-exchange, because
 * clang omits an atomic "or" with 0. */
static void touch_writing(unsigned char *byte)
{
    unsigned char is = *(volatile unsigned char *)byte;
    __atomic_compare_exchange_n(byte, &is, is, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Reads the byte. Stores the value, because valgrind omits a read whose value is unused. */
static void touch_reading(const unsigned char *byte)
{
    volatile unsigned char is = *(const volatile unsigned char *)byte;
    (void)is;
}

/* Accesses one byte of each page as the copy will. On a fault, the program's signal handler may jump out or end the
 * thread. */
static void touch_pages(const struct transfer *t)
{
    const uint64_t page = 4096; /* no system has smaller pages */
    for (uint64_t at = 0;; at = t->size - at > page ? at + page : t->size - 1) {
        if (t->direction == TO_HOST)
            touch_writing((unsigned char *)t->to + at);
        else
            touch_reading((const unsigned char *)t->from + at);
        if (at == t->size - 1)
            return;
    }
}

/* Accesses the host's side of a copy without the lock, so that an invalid host address faults before the copy and with no lock
 * held. True when other calls ran meanwhile: look up everything again. */
static bool touch_host(struct sim_process *process, const struct transfer *t)
{
    if (!with_host(t) || !t->size || wraps(t) || !process->machine->bytes)
        return false;
    struct sim_machine *machine = process->machine;
    uint64_t turns = machine->turns;
    bool alone = atomic_load_explicit(&machine->alone, memory_order_relaxed);
    sim_machine_unlock(machine);
    touch_pages(t);
    sim_machine_hold_again(machine, alone);
    return machine->turns != turns + 1;
}

/* Warns if the transfer uses pool memory without being ordered after the stream of its allocation. */
static void use_pools(struct sim_process *process, const struct queue_place *place, const struct transfer *t)
{
    if (t->direction != TO_HOST)
        pool_use(process, place, t->dst, t->size, t->dst_name);
    if (t->direction == TO_HOST || t->direction == BETWEEN)
        pool_use(process, place, t->src, t->size, t->src_name);
}

/* ---- at once, or as queued work ---- */

/* Moves the bytes for a call. */
static bool make(struct sim_process *process, const struct work *work, const struct vmm_call *call, const struct transfer *t)
{
    if (process->in_flight->order)
        order_feed_moves(process, work, call, t);
    return transfer_make(process, t);
}

/* Does a queued copy or fill. Restores the thread's detail: the call that happens to do the work did not cause its fault. */
bool copy_do(struct sim_process *process, struct work *work)
{
    const struct queue_place *place = queue_place_of(&work->item);
    struct transfer t = transfer_here(process, &work->call);
    t.rights = work->rights;
    if (t.rights.to < 0)
        t.rights = (struct transfer_rights){place->device, place->device};
    const vmm_detail before = *vmm_last_detail();
    bool may = check(process, &t) == VMM_SUCCESS && !lacks_memory(process, &t);
    *vmm_detail_here() = before;
    if (may && !wraps(&t)) {
        if (translate_host(process, t.dst, t.size))
            in_flight_host_visible(process, work);
        return make(process, work, &work->call.head, &t);
    }
    lose(process, place, &work->call.head, (struct sim_origin){work->call.head.number, work->issued_by, work->stack}, &t);
    return true;
}

/* A range that wraps gets past the pool's check, as past the other one. */
static vmm_result check_side(const struct sim_process *process, const struct transfer *t, uint64_t address, const char *name)
{
    const bool wraps = t->size > UINT64_MAX - address && sim_allocation_at(process, address);
    vmm_result result = wraps ? VMM_SUCCESS : translate_check_pool(process, address, t->size, name);
    return result == VMM_SUCCESS && t->direction != FILL ? translate_check_side(process, address, name) : result;
}

/* Is the copy part of one that names arrays? No other copy may use the addresses of their bytes. */
static bool is_of_box(enum vmm_call_id issued_by)
{
    switch (issued_by) {
    case VMM_CALL_memcpy_3d:
    case VMM_CALL_memcpy_3d_async:
    case VMM_CALL_memcpy_3d_peer:
    case VMM_CALL_memcpy_3d_peer_async:
    case VMM_CALL_memcpy_3d_batch_async:
    case VMM_CALL_memcpy_3d_batch_async_v1:
    case VMM_CALL_graph_launch: return true;
    default: return false;
    }
}

static vmm_result check_not_of_array(const struct sim_process *process, const struct transfer *t)
{
    const bool to = t->direction != TO_HOST && arrays_have(t->dst);
    const bool from = (t->direction == TO_HOST || t->direction == BETWEEN) && arrays_have(t->src);
    if (!to && !from)
        return VMM_SUCCESS;
    vmm_object nearest = sim_object_nearest(process, to ? t->dst : t->src);
    vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_NOT_MAPPED, to ? t->dst : t->src, 0, &nearest);
    vmm_detail_argument(to ? t->dst_name : t->src_name);
    return result;
}

/* The checks at the call: those of the work, and of memory pools. */
static vmm_result check_call(const struct sim_process *process, const struct transfer *t, enum vmm_call_id issued_by)
{
    vmm_result result = t->size && !is_of_box(issued_by) ? check_not_of_array(process, t) : VMM_SUCCESS;
    if (result != VMM_SUCCESS)
        return result;
    if (process->chunks.count && t->size && t->direction != TO_HOST)
        result = check_side(process, t, t->dst, t->dst_name);
    if (process->chunks.count && t->size && result == VMM_SUCCESS && (t->direction == TO_HOST || t->direction == BETWEEN))
        result = check_side(process, t, t->src, t->src_name);
    return result == VMM_SUCCESS ? check(process, t) : result;
}

static vmm_result make_now(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                           const struct transfer *t, const struct sim_context *context, bool pinned)
{
    vmm_result result = check(process, t); /* again: another call may have run meanwhile */
    if (result == VMM_SUCCESS && lacks_memory(process, t)) {
        lose(process, place, call, sim_origin(call), t);
        return sim_context_check(process, context, true);
    }
    if (result == VMM_SUCCESS && process->in_flight->order)
        order_feed_now(process, place, call, t, pinned);
    return result != VMM_SUCCESS || make(process, NULL, call, t) ? result : sim_out_of_host_memory();
}

static vmm_result check_at_once(struct sim_process *process, struct transfer *t)
{
    const struct sim_context *context = sim_current(process);
    vmm_result result = context ? sim_context_check(process, context, true) : sim_no_context(process);
    if (result != VMM_SUCCESS)
        return result;
    t->rights = (struct transfer_rights){context->device, context->device};
    return check_call(process, t, VMM_CALL_COUNT);
}

/* Does a call without a stream after the work that the default stream waits for. */
static vmm_result wait_and_make(struct sim_process *process, const struct vmm_call *call, const struct transfer *t)
{
    sim_machine_lock_to_wait(process->machine);
    vmm_result result = sim_wait_current(process, QUEUE_ORDERED, false); /* order_feed_now knows which of them guarantee that */
    if (result != VMM_SUCCESS)
        return result;
    const struct sim_context *context = sim_current(process);
    struct queue_place place = in_flight_place(process, context, NULL);
    return wraps(t) ? run_off(process, &place, call, t, context) : make_now(process, &place, call, t, context, false);
}

/* Does a call without a stream: waits for the work that the default stream waits for, then transfers the bytes. With nothing in
 * flight, nothing has come in since the check, and it does both without waiting. */
static vmm_result at_once(struct sim_process *process, const struct vmm_call *call)
{
    struct transfer t = transfer_here(process, (const union vmm_any_call *)(const void *)call);
    vmm_result result = check_at_once(process, &t);
    if (result == VMM_SUCCESS && touch_host(process, &t))
        result = check_at_once(process, &t);
    if (result != VMM_SUCCESS)
        return result;
    if (process->chunks.count) {
        struct queue_place place = in_flight_place(process, sim_current(process), NULL);
        use_pools(process, &place, &t);
        process->in_flight->orders++; /* the call waits for its own transfer, which comes after the streams of its context */
    }
    if (wraps(&t) || !in_flight_idle(process->in_flight) || process->in_flight->order)
        return wait_and_make(process, call, &t);
    return transfer_make(process, &t) ? VMM_SUCCESS : sim_out_of_host_memory();
}

/* Does an asynchronous copy to the host before the call returns, because the destination is not known to be pinned memory. */
static vmm_result now_on_stream(struct sim_process *process, vmm_stream stream, const struct queue_place *place,
                                const struct vmm_call *call, const struct transfer *t)
{
    struct sim_context *context;
    if (in_flight_is_inside(process->in_flight)) /* the wait would include the running host function itself */
        return sim_refuse_inside(process);
    const bool pinned = t->direction == TO_HOST && rows_is_pinned((uint64_t)(uintptr_t)t->to);
    vmm_result memory = in_flight_wait_unpromised(process, place, QUEUE_ORDERED);
    vmm_result result = sim_stream_context(process, stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, true);
    if (result == VMM_SUCCESS)
        result = memory;
    if (result != VMM_SUCCESS)
        return result;
    return wraps(t) ? run_off(process, place, call, t, context) : make_now(process, place, call, t, context, pinned);
}

/* Queues a copy between device addresses as such, also when a call with a host parameter issued it. */
static vmm_result issue_between(struct sim_process *process, const struct queue_place *place,
                                const struct vmm_call *call, const struct transfer *t, enum vmm_call_id issued_by)
{
    struct vmm_call_memcpy_dtod_async copy = {*call, t->dst, t->src, t->size, NULL};
    copy.head.id = VMM_CALL_memcpy_dtod_async;
    return in_flight_issue_copy(process, place, &copy.head, issued_by, t->rights);
}

struct transfer_rights copy_rights(const struct sim_process *process, const struct sim_context *context)
{
    const struct sim_context *current = sim_current(process);
    const int device = current ? current->device : context->device;
    return (struct transfer_rights){device, device};
}

static bool leaves_mapping(const struct sim_process *process, uint64_t address, uint64_t size)
{
    const struct sim_mapping *mapping = sim_mapping_at(process, address);
    return mapping && size > mapping->size - (address - mapping->start);
}

/* Measured on an H200: without a current context, each side of a copy is one mapping. */
static vmm_result check_mappings(const struct sim_process *process, const struct transfer *t)
{
    const bool to = t->direction != TO_HOST && leaves_mapping(process, t->dst, t->size);
    if (t->direction == FILL || wraps(t) || sim_current(process) || (!to && (t->direction == FROM_HOST || !leaves_mapping(process, t->src, t->size))))
        return VMM_SUCCESS;
    const uint64_t address = to ? t->dst : t->src;
    vmm_object nearest = sim_object_nearest(process, address);
    vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_RUNS_PAST, address, 0, &nearest);
    vmm_detail_argument(to ? t->dst_name : t->src_name);
    vmm_detail_note("%s: no context is current, and then a copy on a stream cannot go past the end of its first mapping",
                    to ? t->dst_name : t->src_name);
    return result;
}

/* Checks a call with a stream: the stream first, then the transfer. */
static vmm_result check_on_stream(struct sim_process *process, vmm_stream stream, const struct transfer_rights *rights,
                                  struct transfer *t, enum vmm_call_id issued_by, struct sim_context **context)
{
    vmm_result result = sim_stream_context(process, stream, context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, *context, false);
    if (result != VMM_SUCCESS)
        return result;
    const int own = (*context)->device;
    t->rights = rights ? *rights : t->direction == FILL ? (struct transfer_rights){own, own} : copy_rights(process, *context);
    result = check_call(process, t, issued_by);
    return result == VMM_SUCCESS && !rights ? check_mappings(process, t) : result;
}

vmm_result copy_on_stream(struct sim_process *process, const struct vmm_call *call, vmm_stream stream,
                          const struct transfer_rights *rights, enum vmm_call_id issued_by)
{
    struct transfer t = transfer_here(process, (const union vmm_any_call *)(const void *)call);
    struct sim_context *context;
    vmm_result result = check_on_stream(process, stream, rights, &t, issued_by, &context);
    if (result == VMM_SUCCESS && touch_host(process, &t))
        result = check_on_stream(process, stream, rights, &t, issued_by, &context);
    if (result != VMM_SUCCESS || !t.size || !process->machine->bytes)
        return result;
    struct queue_place place = in_flight_place(process, context, stream);
    use_pools(process, &place, &t);
    if (t.direction == TO_HOST || (t.direction == FROM_HOST && wraps(&t)))
        return now_on_stream(process, stream, &place, call, &t);
    if (wraps(&t) && warn_wrap(process, &t) != VMM_SUCCESS)
        return VMM_ERROR_INVALID_VALUE;
    return t.direction == BETWEEN ? issue_between(process, &place, call, &t, issued_by)
                                  : in_flight_issue_copy(process, &place, call, issued_by, t.rights);
}

#define TRANSFER(name)                                                                            \
    vmm_result sim_##name(struct sim_process *process, const struct vmm_call_##name *call)        \
    {                                                                                             \
        return at_once(process, &call->head);                                                     \
    }                                                                                             \
    vmm_result sim_##name##_async(struct sim_process *process, const struct vmm_call_##name##_async *call) \
    {                                                                                             \
        return copy_on_stream(process, &call->head, call->stream, NULL, (enum vmm_call_id)call->head.id);                         \
    }

TRANSFER(memcpy_htod)
TRANSFER(memcpy_dtoh)
TRANSFER(memcpy_dtod)
TRANSFER(memset_d8)
TRANSFER(memset_d16)
TRANSFER(memset_d32)
