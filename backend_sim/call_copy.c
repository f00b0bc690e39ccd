/* Copies and fills, done when they are issued. */
#include <string.h>

#include "launch.h"
#include "reach.h"

/* The device of the current context; -1 without one that can work, and *result says why. */
static int current_device(struct sim_process *process, vmm_result *result)
{
    const struct sim_context *context = sim_current(process);
    *result = context ? sim_context_check(process, context, true) : sim_no_context(process);
    return *result == VMM_SUCCESS ? context->device : -1;
}

/* The device that a stream's work runs on; -1 for a stream that may not be used, and *result says why. */
static int stream_device(struct sim_process *process, vmm_stream value, vmm_result *result)
{
    struct sim_context *context;
    *result = sim_stream_context(process, value, &context);
    if (*result == VMM_SUCCESS)
        *result = sim_context_check(process, context, false);
    return *result == VMM_SUCCESS ? context->device : -1;
}

static vmm_result refuse_null(const char *argument)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_NULL, 0, 0, NULL);
    vmm_detail_argument(argument);
    return result;
}

/* Room for every byte that will be written, so that moving them cannot fail half-way. */
static bool touch(const struct sim_process *process, uint64_t address, uint64_t size)
{
    struct reach_run run;
    for (; size; address += run.length, size -= run.length)
        if (!reach_run(process, address, size, &run) || !bytes_touch(&run.block->bytes, run.offset, run.length))
            return false;
    return true;
}

/* The bytes that lie together at address, at most *length; NULL when they are zeros that were never written. */
static unsigned char *together(const struct sim_process *process, uint64_t address, uint64_t *length)
{
    struct reach_run run = {0};
    reach_run(process, address, *length, &run);
    *length = run.length;
    return bytes_run(&run.block->bytes, run.offset, length);
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

static vmm_result copy_htod(const struct sim_process *process, int device, uint64_t dst, const void *src, uint64_t size)
{
    if (!size)
        return VMM_SUCCESS;
    if (!src)
        return refuse_null("srcHost");
    vmm_result result = reach_check(process, device, dst, size, REACH_FROM_HOST, "dstDevice");
    if (result != VMM_SUCCESS || !process->machine->bytes)
        return result;
    if (!touch(process, dst, size))
        return sim_out_of_host_memory();
    store(process, dst, src, size);
    return VMM_SUCCESS;
}

static vmm_result copy_dtoh(const struct sim_process *process, int device, void *dst, uint64_t src, uint64_t size)
{
    if (!size)
        return VMM_SUCCESS;
    if (!dst)
        return refuse_null("dstHost");
    vmm_result result = reach_check(process, device, src, size, REACH_TO_HOST, "srcDevice");
    if (result == VMM_SUCCESS && process->machine->bytes)
        load(process, dst, src, size);
    return result;
}

static vmm_result copy_dtod(const struct sim_process *process, int device, uint64_t dst, uint64_t src, uint64_t size)
{
    if (!size)
        return VMM_SUCCESS;
    vmm_result result = reach_check(process, device, dst, size, REACH_WRITE, "dstDevice");
    if (result == VMM_SUCCESS)
        result = reach_check(process, device, src, size, REACH_READ, "srcDevice");
    if (result == VMM_SUCCESS)
        result = reach_check_pair(process, device, dst, src, size);
    if (result != VMM_SUCCESS || !process->machine->bytes)
        return result;
    if (!touch(process, dst, size))
        return sim_out_of_host_memory();
    move(process, dst, src, size);
    return VMM_SUCCESS;
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

static vmm_result fill(const struct sim_process *process, int device, uint64_t dst, const void *pattern, unsigned width, uint64_t n)
{
    if (!n)
        return VMM_SUCCESS;
    if (dst % width)
        return vmm_detail_refuse(VMM_RULE_SET_ALIGNMENT, dst, width, NULL);
    uint64_t size = n * width; /* wraps, as measured */
    if (size / width != n && !sim_lets_pass(process, VMM_RULE_SET_COUNT_WRAPS, n, UINT64_MAX / width, NULL))
        return VMM_ERROR_INVALID_VALUE;
    if (!size)
        return VMM_SUCCESS;
    vmm_result result = reach_check(process, device, dst, size, REACH_FILL, "dstDevice");
    if (result != VMM_SUCCESS || !process->machine->bytes)
        return result;
    if (!touch(process, dst, size))
        return sim_out_of_host_memory();
    for (uint64_t length; size; dst += length, size -= length) {
        length = size;
        unsigned char *to = together(process, dst, &length);
        fill_run(to, length, pattern, width);
    }
    return VMM_SUCCESS;
}

#define ON_CURRENT(work, ...)                                                 \
    do {                                                                      \
        vmm_result result;                                                    \
        int device = current_device(process, &result);                        \
        return device < 0 ? result : work(process, device, __VA_ARGS__);      \
    } while (0)

vmm_result sim_memcpy_htod(struct sim_process *process, const struct vmm_call_memcpy_htod *call)
{
    ON_CURRENT(copy_htod, call->dst, call->src, call->byte_count);
}

vmm_result sim_memcpy_dtoh(struct sim_process *process, const struct vmm_call_memcpy_dtoh *call)
{
    ON_CURRENT(copy_dtoh, call->dst, call->src, call->byte_count);
}

vmm_result sim_memcpy_dtod(struct sim_process *process, const struct vmm_call_memcpy_dtod *call)
{
    ON_CURRENT(copy_dtod, call->dst, call->src, call->byte_count);
}

vmm_result sim_memset_d8(struct sim_process *process, const struct vmm_call_memset_d8 *call)
{
    ON_CURRENT(fill, call->dst, &call->value, 1, call->n);
}

vmm_result sim_memset_d16(struct sim_process *process, const struct vmm_call_memset_d16 *call)
{
    ON_CURRENT(fill, call->dst, &call->value, 2, call->n);
}

vmm_result sim_memset_d32(struct sim_process *process, const struct vmm_call_memset_d32 *call)
{
    ON_CURRENT(fill, call->dst, &call->value, 4, call->n);
}

/* The streams' forms: the stream is checked first, then the work is done at once. */
#define ON_STREAM(work, ...)                                                  \
    do {                                                                      \
        vmm_result result;                                                    \
        int device = stream_device(process, call->stream, &result);           \
        return device < 0 ? result : work(process, device, __VA_ARGS__);      \
    } while (0)

vmm_result sim_memcpy_htod_async(struct sim_process *process, const struct vmm_call_memcpy_htod_async *call)
{
    ON_STREAM(copy_htod, call->dst, call->src, call->byte_count);
}

vmm_result sim_memcpy_dtoh_async(struct sim_process *process, const struct vmm_call_memcpy_dtoh_async *call)
{
    ON_STREAM(copy_dtoh, call->dst, call->src, call->byte_count);
}

vmm_result sim_memcpy_dtod_async(struct sim_process *process, const struct vmm_call_memcpy_dtod_async *call)
{
    ON_STREAM(copy_dtod, call->dst, call->src, call->byte_count);
}

vmm_result sim_memset_d8_async(struct sim_process *process, const struct vmm_call_memset_d8_async *call)
{
    ON_STREAM(fill, call->dst, &call->value, 1, call->n);
}

vmm_result sim_memset_d16_async(struct sim_process *process, const struct vmm_call_memset_d16_async *call)
{
    ON_STREAM(fill, call->dst, &call->value, 2, call->n);
}

vmm_result sim_memset_d32_async(struct sim_process *process, const struct vmm_call_memset_d32_async *call)
{
    ON_STREAM(fill, call->dst, &call->value, 4, call->n);
}
