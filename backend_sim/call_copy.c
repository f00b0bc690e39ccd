/* Copies and fills: what is asked of them at the call, and how the bytes are moved, then or when their turn comes. */
#include <string.h>

#include "flight.h"
#include "launch.h"
#include "reach.h"
#include "twin.h"

enum direction { FROM_HOST, TO_HOST, BETWEEN, FILL };

/* One of the twelve calls. */
struct transfer {
    enum direction direction;
    uint64_t dst, src;
    const void *from; /* the host's bytes, or the value of a fill */
    void *to;
    uint64_t size;  /* bytes; of a fill n * width, which wraps, as measured */
    uint64_t n;     /* elements of a fill */
    unsigned width; /* bytes of one */
    const char *dst_name, *src_name; /* the arguments that are device addresses */
};

static struct transfer fill_of(uint64_t dst, const void *value, unsigned width, uint64_t n)
{
    return (struct transfer){.direction = FILL, .dst = dst, .from = value, .size = n * width, .n = n, .width = width};
}

static struct transfer transfer_of(const union vmm_any_call *call)
{
#define BOTH(name) \
    case VMM_CALL_##name: \
    case VMM_CALL_##name##_async
    /* With and without _async the parameters are the same but for the stream, which is the last. */
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

/* Every address is the host's or a device's, never both, so a driver knows a device address also where a call wants one
 * of the host's, and makes a copy between device addresses. One that is only reserved is the host's to touch: SIGSEGV. */
static bool is_device_address(const struct sim_process *process, const void *pointer)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    struct reach_run run;
    return arena_holds(&process->arena, address, 1) && reach_run(process, address, 1, &run);
}

static struct transfer transfer_here(const struct sim_process *process, const union vmm_any_call *call)
{
    struct transfer t = transfer_of(call);
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

/* ---- what is asked ---- */

static vmm_result refuse_null(const char *argument)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_NULL, 0, 0, NULL);
    vmm_detail_argument(argument);
    return result;
}

static vmm_result check_fill(const struct sim_process *process, int device, const struct transfer *t)
{
    if (!t->n)
        return VMM_SUCCESS;
    if (t->dst % t->width)
        return vmm_detail_refuse(VMM_RULE_SET_ALIGNMENT, t->dst, t->width, NULL);
    if (t->size / t->width != t->n &&
        !sim_lets_pass(process, VMM_RULE_SET_COUNT_WRAPS, t->n, UINT64_MAX / t->width, NULL))
        return VMM_ERROR_INVALID_VALUE;
    return t->size ? reach_check(process, device, t->dst, t->size, REACH_FILL, "dstDevice") : VMM_SUCCESS;
}

static vmm_result check_between(const struct sim_process *process, int device, const struct transfer *t)
{
    vmm_result result = reach_check(process, device, t->dst, t->size, REACH_WRITE, t->dst_name);
    if (result == VMM_SUCCESS)
        result = reach_check(process, device, t->src, t->size, REACH_READ, t->src_name);
    return result == VMM_SUCCESS
               ? reach_check_pair(process, device, t->dst, t->src, t->size, t->dst_name, t->src_name)
               : result;
}

static vmm_result check(const struct sim_process *process, int device, const struct transfer *t)
{
    if (t->direction == FILL)
        return check_fill(process, device, t);
    if (!t->size)
        return VMM_SUCCESS;
    if (t->direction == BETWEEN)
        return check_between(process, device, t);
    if (t->direction == FROM_HOST)
        return t->from ? reach_check(process, device, t->dst, t->size, REACH_FROM_HOST, "dstDevice")
                       : refuse_null("srcHost");
    return t->to ? reach_check(process, device, t->src, t->size, REACH_TO_HOST, "srcDevice") : refuse_null("dstHost");
}

/* ---- how it is done ---- */

/* Room for every byte that will be written, so that moving them cannot fail half-way. */
static bool touch(const struct sim_process *process, uint64_t address, uint64_t size)
{
    struct reach_run run;
    for (; size; address += run.length, size -= run.length)
        if (!reach_run(process, address, size, &run) || !bytes_touch(&run.block->bytes, run.offset, run.length))
            return false;
    return true;
}

/* The bytes that lie together at address, at most *length, whatever mappings they belong to; NULL when they are zeros that
 * were never written. */
static unsigned char *together(const struct sim_process *process, uint64_t address, uint64_t *length)
{
    unsigned char *first = NULL;
    uint64_t done = 0;
    while (done < *length) {
        struct reach_run run = {0};
        reach_run(process, address + done, *length - done, &run);
        unsigned char *at = bytes_run(&run.block->bytes, run.offset, &run.length);
        if (!done)
            first = at;
        else if (first ? at != first + done : at != NULL)
            break;
        done += run.length;
    }
    *length = done;
    return first;
}

static void store(const struct sim_process *process, uint64_t address, const unsigned char *from, uint64_t size)
{
    uint64_t length;
    for (; size; address += length, from += length, size -= length) {
        length = size;
        unsigned char *to = together(process, address, &length);
        memcpy(to, from, length);
    }
}

static void load(const struct sim_process *process, unsigned char *to, uint64_t address, uint64_t size)
{
    uint64_t length;
    for (; size; address += length, to += length, size -= length) {
        length = size;
        const unsigned char *from = together(process, address, &length);
        if (from)
            memcpy(to, from, length);
        else
            memset(to, 0, length);
    }
}

/* Both sides lie together for length bytes, at most. */
static void move_run(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t *length)
{
    const unsigned char *from = together(process, src, length);
    unsigned char *to = together(process, dst, length);
    if (from)
        memmove(to, from, *length);
    else
        memset(to, 0, *length);
}

/* How many bytes before end, at most size, lie together. Never more than they would forwards. */
static uint64_t together_before(const struct sim_process *process, uint64_t end, uint64_t size)
{
    uint64_t step = size < BYTES_CHUNK ? size : BYTES_CHUNK, length = step;
    while (together(process, end - step, &length), length < step)
        length = step -= length;
    return step;
}

/* Backwards when the destination lies inside the source, so that every byte is read before it is written. */
static void move(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t size)
{
    bool backwards = dst > src && dst - src < size;
    while (size) {
        uint64_t length = size, at = 0;
        if (backwards) {
            length = together_before(process, src + size, size);
            length = together_before(process, dst + size, length);
            at = size - length;
        }
        move_run(process, dst + at, src + at, &length);
        if (!backwards) {
            dst += length;
            src += length;
        }
        size -= length;
    }
}

/* Fills a run with a pattern of width bytes; run starts at a multiple of width in the pattern. */
static void fill_run(unsigned char *to, uint64_t length, const unsigned char *pattern, unsigned width)
{
    if (width == 1) {
        memset(to, pattern[0], length);
        return;
    }
    for (uint64_t i = 0; i < length; i += width)
        memcpy(to + i, pattern, width);
}

static void fill(const struct sim_process *process, const struct transfer *t)
{
    uint64_t dst = t->dst, length;
    for (uint64_t left = t->size; left; dst += length, left -= length) {
        length = left;
        unsigned char *to = together(process, dst, &length);
        fill_run(to, length, t->from, t->width);
    }
}

/* Every byte may be reached. False when the host's memory is out. */
static bool make(const struct sim_process *process, const struct transfer *t)
{
    if (!t->size || !process->machine->bytes)
        return true;
    if (t->direction != TO_HOST && !touch(process, t->dst, t->size))
        return false;
    switch (t->direction) {
    case FROM_HOST: store(process, t->dst, t->from, t->size); break;
    case TO_HOST: load(process, t->to, t->src, t->size); break;
    case BETWEEN: move(process, t->dst, t->src, t->size); break;
    case FILL: fill(process, t); break;
    }
    return true;
}

/* ---- when ---- */

/* The first byte that the device may not use so; the start where it is somebody else who may not. */
static uint64_t first_bad(const struct sim_process *process, int device, uint64_t address, uint64_t size, unsigned need)
{
    struct reach_run run;
    for (uint64_t at = address, left = size; left; at += run.length, left -= run.length)
        if (!reach_run(process, at, left, &run) || (reach_rights(process, device, at) & need) != need)
            return at;
    return address;
}

static void lose(struct sim_process *process, const struct queue_place *place, const struct vmm_call *call,
                 const struct transfer *t)
{
    uint64_t at = first_bad(process, place->device, t->dst, t->size, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    struct loss loss = {place, call, at, 1, TWIN_WRITE};
    if (t->direction == BETWEEN && at == t->dst &&
        reach_rights(process, place->device, at) == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        loss.address = first_bad(process, place->device, t->src, t->size, VMM_MEM_ACCESS_FLAGS_PROT_READ);
        loss.use = TWIN_READ;
    }
    sim_lose_device(process, &loss);
}

/* What is the matter was no mistake of the call that lets the work run, so nothing of it is said there yet. */
bool copy_do(struct sim_process *process, const struct queue_place *place, const union vmm_any_call *call)
{
    struct transfer t = transfer_here(process, call);
    const vmm_detail before = *vmm_last_detail();
    bool may = check(process, place->device, &t) == VMM_SUCCESS;
    *vmm_detail_here() = before;
    if (may)
        return make(process, &t);
    lose(process, place, &call->head, &t);
    return true;
}

static vmm_result make_now(const struct sim_process *process, int device, const struct transfer *t)
{
    vmm_result result = check(process, device, t); /* once more: another thread may have come in between */
    return result != VMM_SUCCESS || make(process, t) ? result : sim_out_of_host_memory();
}

/* The forms without a stream wait for the work that the default stream waits for, and are done. */
static vmm_result at_once(struct sim_process *process, const struct vmm_call *call)
{
    struct transfer t = transfer_here(process, (const union vmm_any_call *)(const void *)call);
    const struct sim_context *context = sim_current(process);
    vmm_result result = context ? sim_context_check(process, context, true) : sim_no_context(process);
    if (result == VMM_SUCCESS)
        result = check(process, context->device, &t);
    if (result == VMM_SUCCESS)
        result = sim_wait_current(process, QUEUE_ORDERED);
    return result == VMM_SUCCESS ? make_now(process, sim_current(process)->device, &t) : result;
}

/* Bytes for the host are there when the call returns, for it is not known to be memory that a device can write to. */
static vmm_result to_host(struct sim_process *process, vmm_stream stream, const struct transfer *t,
                          const struct queue_place *place)
{
    struct sim_context *context;
    vmm_result memory = flight_wait(process, place, QUEUE_ORDERED);
    vmm_result result = sim_stream_context(process, stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, true);
    if (result == VMM_SUCCESS)
        result = memory;
    return result == VMM_SUCCESS ? make_now(process, context->device, t) : result;
}

/* As the copy that it is, whichever call asked for it. */
static vmm_result issue_between(struct sim_process *process, const struct queue_place *place,
                                const struct vmm_call *call, const struct transfer *t)
{
    struct vmm_call_memcpy_dtod_async copy = {*call, t->dst, t->src, t->size, NULL};
    copy.head.id = VMM_CALL_memcpy_dtod_async;
    return flight_issue(process, place, &copy.head);
}

/* The streams' forms: the stream is checked first. */
static vmm_result on_stream(struct sim_process *process, const struct vmm_call *call, vmm_stream stream)
{
    struct transfer t = transfer_here(process, (const union vmm_any_call *)(const void *)call);
    struct sim_context *context;
    vmm_result result = sim_stream_context(process, stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    if (result == VMM_SUCCESS)
        result = check(process, context->device, &t);
    if (result != VMM_SUCCESS || !t.size || !process->machine->bytes)
        return result;
    struct queue_place place = flight_place(process, context, stream);
    if (t.direction == TO_HOST)
        return to_host(process, stream, &t, &place);
    return t.direction == BETWEEN ? issue_between(process, &place, call, &t) : flight_issue(process, &place, call);
}

#define TRANSFER(name)                                                                            \
    vmm_result sim_##name(struct sim_process *process, const struct vmm_call_##name *call)        \
    {                                                                                             \
        return at_once(process, &call->head);                                                     \
    }                                                                                             \
    vmm_result sim_##name##_async(struct sim_process *process, const struct vmm_call_##name##_async *call) \
    {                                                                                             \
        return on_stream(process, &call->head, call->stream);                                     \
    }

TRANSFER(memcpy_htod)
TRANSFER(memcpy_dtoh)
TRANSFER(memcpy_dtod)
TRANSFER(memset_d8)
TRANSFER(memset_d16)
TRANSFER(memset_d32)
