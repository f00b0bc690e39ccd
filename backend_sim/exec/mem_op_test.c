/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations, through the API: what satisfies a wait under each schedule, batches, memory that goes away, and waits
 * that nothing can end. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "in_flight.h"
#include "mem_op.h"
#include "process.h"
#include "share_rig.h"
#include "system.h"
#include "tap.h"
#include "translate.h"

#define OK(call) tap_u64((uint64_t)(call), VMM_SUCCESS, "%s", #call)
#define G UINT64_C(0x200000)

static vmm_system *sys;
static vmm_stream a, b;
static vmm_deviceptr dev;  /* of vmm_mem_alloc, zeros */
static vmm_deviceptr host; /* host memory that the host and device 0 may write; zeros */
static vmm_deviceptr map, alias; /* of one block, device 0 only */

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->rule ? vmm_last_detail()->rule : "no rule");
}

static vmm_deviceptr mapped_at(vmm_deviceptr at, vmm_mem_generic_allocation_handle handle, int type)
{
    const vmm_mem_access_desc desc[] = {{{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE},
                                        {{VMM_MEM_LOCATION_TYPE_HOST, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    need(vmm_mem_map(sys, at, G, 0, handle, 0));
    need(vmm_mem_set_access(sys, at, G, desc, type == VMM_MEM_LOCATION_TYPE_HOST ? 2 : 1));
    return at;
}

static vmm_mem_generic_allocation_handle memory_of(int type)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
    vmm_mem_generic_allocation_handle handle = 0;
    need(vmm_mem_create(sys, &handle, G, &prop, 0));
    return handle;
}

static void begin(const char *spec)
{
    vmm_context context;
    vmm_deviceptr at;
    need(vmm_open(spec, &sys));
    need(vmm_init(sys, 0));
    need(vmm_device_primary_ctx_retain(sys, &context, 0));
    need(vmm_ctx_set_current(sys, context));
    need(vmm_stream_create(sys, &a, VMM_STREAM_NON_BLOCKING));
    need(vmm_stream_create(sys, &b, VMM_STREAM_NON_BLOCKING));
    need(vmm_mem_alloc(sys, &dev, 65536));
    need(vmm_mem_address_reserve(sys, &at, 4 * G, 0, 0, 0));
    const vmm_mem_generic_allocation_handle handle = memory_of(VMM_MEM_LOCATION_TYPE_DEVICE);
    map = mapped_at(at, handle, VMM_MEM_LOCATION_TYPE_DEVICE);
    alias = mapped_at(at + G, handle, VMM_MEM_LOCATION_TYPE_DEVICE);
    host = mapped_at(at + 2 * G, memory_of(VMM_MEM_LOCATION_TYPE_HOST), VMM_MEM_LOCATION_TYPE_HOST);
    need(vmm_memset_d8(sys, dev, 0, 65536));
    need(vmm_ctx_synchronize(sys));
}

static uint64_t value_at(vmm_deviceptr at)
{
    uint64_t value = 0;
    need(vmm_memcpy_dtoh(sys, &value, at, sizeof value));
    return value;
}

static vmm_stream_batch_mem_op_params entry(int operation, vmm_deviceptr at, uint64_t value, unsigned flags)
{
    vmm_stream_batch_mem_op_params op;
    memset(&op, 0, sizeof op);
    op.operation = operation;
    if (vmm_mem_op_has_value(operation)) {
        op.wait_value.address = at;
        op.wait_value.value64 = value;
        op.wait_value.flags = flags;
    } else {
        op.memory_barrier.flags = flags;
    }
    return op;
}

enum { WAIT32 = VMM_STREAM_MEM_OP_WAIT_VALUE_32, WRITE32 = VMM_STREAM_MEM_OP_WRITE_VALUE_32,
       WAIT64 = VMM_STREAM_MEM_OP_WAIT_VALUE_64, WRITE64 = VMM_STREAM_MEM_OP_WRITE_VALUE_64,
       BARRIER = VMM_STREAM_MEM_OP_BARRIER, EQ = VMM_STREAM_WAIT_VALUE_EQ };

/* ---- comparisons ---- */

static void comparisons(void)
{
    static const struct {
        int operation;
        unsigned how;
        uint64_t memory, value;
        bool satisfied;
    } rows[] = {
        {WAIT32, VMM_STREAM_WAIT_VALUE_GEQ, 5, 5, true},
        {WAIT32, VMM_STREAM_WAIT_VALUE_GEQ, 4, 5, false},
        {WAIT32, VMM_STREAM_WAIT_VALUE_GEQ, 1, 0xffffffff, true}, /* past the wrap-around */
        {WAIT32, VMM_STREAM_WAIT_VALUE_GEQ, 0xffffffff, 1, false},
        {WAIT32, VMM_STREAM_WAIT_VALUE_GEQ, 0x80000000, 0, false},
        {WAIT32, VMM_STREAM_WAIT_VALUE_GEQ, 0x7fffffff, 0, true},
        {WAIT32, VMM_STREAM_WAIT_VALUE_EQ, 7, 0x100000007, true}, /* the upper half is not part of the value */
        {WAIT32, VMM_STREAM_WAIT_VALUE_EQ, 7, 8, false},
        {WAIT32, VMM_STREAM_WAIT_VALUE_AND, 6, 2, true},
        {WAIT32, VMM_STREAM_WAIT_VALUE_AND, 6, 9, false},
        {WAIT32, VMM_STREAM_WAIT_VALUE_NOR, 0xffff0000, 0xffff, false},
        {WAIT32, VMM_STREAM_WAIT_VALUE_NOR, 0xffff0000, 0xfffe, true},
        {WAIT64, VMM_STREAM_WAIT_VALUE_GEQ, 0x80000000, 0, true},
        {WAIT64, VMM_STREAM_WAIT_VALUE_GEQ, UINT64_C(1) << 63, 0, false},
        {WAIT64, VMM_STREAM_WAIT_VALUE_GEQ, 2, UINT64_MAX, true},
        {WAIT64, VMM_STREAM_WAIT_VALUE_EQ, 7, 0x100000007, false},
        {WAIT64, VMM_STREAM_WAIT_VALUE_AND, UINT64_C(1) << 40, UINT64_C(3) << 40, true},
        {WAIT64, VMM_STREAM_WAIT_VALUE_NOR, 0xffffffff, 0, true},
        {WAIT64, VMM_STREAM_WAIT_VALUE_NOR, UINT64_MAX << 1, 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const vmm_stream_batch_mem_op_params wait = entry(rows[i].operation, 0, rows[i].value, rows[i].how);
        tap_ok(mem_op_satisfied(&wait, rows[i].memory) == rows[i].satisfied, "comparison %zu: %u of 0x%llx with 0x%llx", i,
               rows[i].how, (unsigned long long)rows[i].memory, (unsigned long long)rows[i].value);
    }
}

/* ---- what satisfies a wait ---- */

static void store_five(void *at)
{
    __atomic_store_n((uint32_t *)at, 5, __ATOMIC_RELEASE);
}

enum { WAYS = 7 };

static void satisfy(int way)
{
    const vmm_stream_batch_mem_op_params one = entry(WRITE32, host, 5, 0);
    const uint32_t five = 5;
    switch (way) {
    case 0: OK(vmm_stream_write_value32(sys, b, host, 5, 0)); break;
    case 1: OK(vmm_stream_write_value64(sys, b, host, 5, 0)); break;
    case 2: OK(vmm_stream_batch_mem_op(sys, b, 1, &one, 0)); break;
    case 3: OK(vmm_memset_d32_async(sys, host, 5, 1, b)); break;
    case 4: OK(vmm_memcpy_htod_async(sys, host, &five, sizeof five, b)); break;
    case 5: OK(vmm_launch_host_func(sys, b, store_five, (void *)(uintptr_t)host)); break;
    default: store_five((void *)(uintptr_t)host); break;
    }
}

/* A wait on one stream, what satisfies it elsewhere, and a host wait for the first stream only. */
static void satisfied_in(const char *spec)
{
    begin(spec);
    for (int way = 0; way < WAYS; way++)
        for (int wide = 0; wide < 2; wide++) {
            __atomic_store_n((uint64_t *)(uintptr_t)host, 0, __ATOMIC_SEQ_CST);
            OK(wide ? vmm_stream_wait_value64(sys, a, host, 5, EQ) : vmm_stream_wait_value32(sys, a, host, 5, EQ));
            OK(vmm_stream_write_value32(sys, a, dev, (uint32_t)(10 * way + wide + 1), 0));
            tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "%s, way %d: the stream waits", spec, way);
            tap_u64(value_at(dev) == (uint64_t)(10 * way + wide + 1), 0, "and what comes after the wait is not done");
            satisfy(way);
            OK(vmm_stream_synchronize(sys, a));
            tap_u64(value_at(dev), (uint64_t)(10 * way + wide + 1), "%s, way %d: the work after the wait is done", spec, way);
            OK(vmm_stream_synchronize(sys, b));
        }
    vmm_close(sys);
}

/* A program that only polls also makes progress. */
static void polled_in(const char *spec)
{
    vmm_event event;
    begin(spec);
    OK(vmm_event_create(sys, &event, 0));
    OK(vmm_stream_wait_value32(sys, a, dev, 5, VMM_STREAM_WAIT_VALUE_GEQ));
    OK(vmm_event_record(sys, event, a));
    for (int i = 0; i < 10; i++)
        tap_u64(vmm_event_query(sys, event), VMM_ERROR_NOT_READY, "%s: the event has not come", spec);
    OK(vmm_stream_write_value32(sys, b, dev, 6, 0));
    int asked = 0;
    while (vmm_event_query(sys, event) == VMM_ERROR_NOT_READY)
        asked++;
    tap_ok(asked < 1000000, "%s: it came after %d queries", spec, asked);
    OK(vmm_event_query(sys, event));
    OK(vmm_event_destroy(sys, event));
    vmm_close(sys);
}

/* Two streams that wait for each other's values in turn. */
static void ping_pong_in(const char *spec)
{
    enum { TURNS = 50 };
    begin(spec);
    for (uint32_t i = 1; i <= TURNS; i++) {
        OK(vmm_stream_write_value32(sys, a, dev, i, 0));
        OK(vmm_stream_wait_value32(sys, a, dev + 64, i, EQ));
        OK(vmm_stream_wait_value32(sys, b, dev, i, EQ));
        OK(vmm_stream_write_value32(sys, b, dev + 64, i, 0));
    }
    OK(vmm_stream_synchronize(sys, b));
    OK(vmm_stream_synchronize(sys, a));
    tap_u64(value_at(dev) & UINT32_MAX, TURNS, "%s: the last turn", spec);
    vmm_close(sys);
}

/* ---- batches ---- */

static void batches_in(const char *spec)
{
    begin(spec);
    vmm_stream_batch_mem_op_params list[] = {entry(WRITE32, dev, 1, 0), entry(WAIT32, dev, 1, EQ), entry(BARRIER, 0, 0, 0),
                                             entry(WRITE64, map, 0x1122334455667788, 0),
                                             entry(WAIT64, alias, 0x1122334455667788, EQ), entry(WAIT32, host, 3, EQ),
                                             entry(WRITE32, dev, 2, 0)};
    OK(vmm_stream_batch_mem_op(sys, a, sizeof list / sizeof *list, list, 0));
    memset(list, 0xee, sizeof list); /* the call has copied it */
    tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "%s: the batch stands at its third wait", spec);
    while (value_at(map) == 0)
        vmm_stream_query(sys, a);
    tap_u64(value_at(map), 0x1122334455667788, "the work before it is done");
    tap_u64(value_at(dev), 1, "and what comes after it is not");
    store_five((void *)(uintptr_t)host);
    tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "another value does not satisfy it");
    *(volatile uint32_t *)(uintptr_t)host = 3;
    OK(vmm_stream_synchronize(sys, a));
    tap_u64(value_at(dev), 2, "%s: the rest is done", spec);
    OK(vmm_stream_batch_mem_op(sys, a, 0, list, 0));
    OK(vmm_stream_query(sys, a));
    vmm_close(sys);
}

/* ---- memory that goes away ---- */

static void lost_in(const char *spec)
{
    const bool device = strstr(spec, "device") != NULL;
    begin(spec);
    OK(vmm_stream_wait_value32(sys, a, host, 1, EQ));
    OK(vmm_stream_write_value32(sys, a, map, 5, 0));
    tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "%s: the write is in flight", spec);
    OK(vmm_mem_unmap(sys, map, G));
    tap_ok(vmm_last_detail()->rule && !strcmp(vmm_last_detail()->rule, "VMM-UNMAP-IN-FLIGHT"), "unmapping its memory is a hazard");
    store_five((void *)(uintptr_t)host);
    *(volatile uint32_t *)(uintptr_t)host = 1;
    tap_u64(vmm_stream_synchronize(sys, a), VMM_ERROR_LAUNCH_FAILED, "the write faults");
    tap_ok(device || strcmp(vmm_last_detail()->rule, "VMM-FAULT-MEMOP") == 0, "by its rule");
    vmm_close(sys);
    begin(spec);
    const vmm_mem_access_desc none = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_NONE};
    OK(vmm_stream_wait_value32(sys, a, map, 1, EQ));
    OK(vmm_stream_write_value32(sys, a, dev, 9, 0));
    tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "%s: a wait is in flight", spec);
    OK(vmm_mem_set_access(sys, map, G, &none, 1));
    tap_ok(vmm_last_detail()->rule && !strcmp(vmm_last_detail()->rule, "VMM-ACCESS-IN-FLIGHT"), "revoking its rights is a hazard");
    tap_u64(vmm_stream_synchronize(sys, a), VMM_ERROR_LAUNCH_FAILED, "the wait faults");
    vmm_close(sys);
}

/* ---- waits that nothing can end ---- */

static void never_in(const char *spec)
{
    begin(spec);
    OK(vmm_stream_wait_value32(sys, a, dev, 1, EQ));
    OK(vmm_stream_write_value32(sys, a, dev, 1, 0)); /* too late: after the wait, in the same stream */
    for (int i = 0; i < 2; i++) {
        tap_u64(vmm_stream_synchronize(sys, a), VMM_ERROR_NOT_READY, "%s: the call does not wait for ever", spec);
        tap_text(vmm_last_detail()->rule, "VMM-MEMOP-NEVER", "but says why");
        tap_u64(vmm_last_detail()->value, dev, "and where");
    }
    tap_u64(vmm_mem_free(sys, dev + 0), VMM_ERROR_NOT_READY, "nor does another that waits");
    OK(vmm_stream_synchronize(sys, b));
    OK(vmm_stream_write_value32(sys, b, dev, 1, 0));
    OK(vmm_ctx_synchronize(sys));
    OK(vmm_mem_free(sys, dev));
    vmm_close(sys);
    uint32_t copied = 77;
    begin(spec); /* nor a copy, in any form */
    OK(vmm_stream_wait_value32(sys, NULL, dev, 1, EQ));
    tap_u64(vmm_memcpy_dtoh(sys, &copied, dev, sizeof copied), VMM_ERROR_NOT_READY, "%s: a copy does not wait for ever", spec);
    tap_text(vmm_last_detail()->rule, "VMM-MEMOP-NEVER", "but says why");
    tap_u64(vmm_memcpy_dtoh_async(sys, &copied, dev, sizeof copied, NULL), VMM_ERROR_NOT_READY, "%s: nor on a stream", spec);
    tap_u64(copied, 77, "and nothing was copied");
    OK(vmm_stream_write_value32(sys, b, dev, 1, 0));
    OK(vmm_memcpy_dtoh(sys, &copied, dev, sizeof copied));
    tap_u64(copied, 1, "%s: once the value is there, it copies", spec);
    vmm_close(sys);
    begin(spec); /* closing does not wait */
    OK(vmm_stream_wait_value32(sys, a, dev, 1, EQ));
    vmm_close(sys);
}

/* The queue may grow after a wait, because the program may later issue the work that ends it. This visits each work item as
 * often as there are others, which is slow under ThreadSanitizer, and has a second thread only under schedule=device. */
static void many_in(const char *spec)
{
#ifdef __SANITIZE_THREAD__
    if (!strstr(spec, "device"))
        return;
#endif
    begin(spec);
    OK(vmm_stream_wait_value32(sys, a, dev, 1, EQ));
    vmm_result result = VMM_SUCCESS;
    for (uint32_t i = 0; i < IN_FLIGHT_MAX + 100 && result == VMM_SUCCESS; i++)
        result = vmm_stream_write_value32(sys, a, dev + 64, i, 0);
    tap_u64(result, VMM_SUCCESS, "%s: more work than the queue keeps without a wait", spec);
    OK(vmm_stream_write_value32(sys, b, dev, 1, 0));
    OK(vmm_stream_synchronize(sys, a));
    tap_u64(value_at(dev + 64), IN_FLIGHT_MAX + 99, "all of it is done");
    vmm_close(sys);
}

/* ---- a device that is lost, and events past a wait ---- */

/* The wait itself is sound, but its device is lost by other work: waiting for it reports the lost device, not that the wait
 * never ends. */
static void lost_by_others_in(const char *spec)
{
    begin(spec);
    OK(vmm_stream_wait_value32(sys, a, dev, 1, EQ));
    tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "%s: the wait is in flight", spec);
    OK(vmm_stream_wait_value32(sys, b, dev + 64, 1, EQ)); /* until the memory is gone, under each schedule */
    OK(vmm_stream_write_value32(sys, b, map, 5, 0));
    OK(vmm_mem_unmap(sys, map, G));
    OK(vmm_stream_write_value32(sys, NULL, dev + 64, 1, 0));
    tap_u64(vmm_stream_synchronize(sys, b), VMM_ERROR_LAUNCH_FAILED, "%s: the write faults", spec);
    tap_u64(vmm_stream_synchronize(sys, a), VMM_ERROR_LAUNCH_FAILED,
            "%s: the wait ends with the device", spec);
    vmm_close(sys);
}

/* An event of an idle stream comes while the only work left is a wait of another stream. */
static void event_beside_a_wait_in(const char *spec)
{
    vmm_event event;
    begin(spec);
    OK(vmm_event_create(sys, &event, 0));
    OK(vmm_stream_wait_value32(sys, a, dev, 5, EQ));
    tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "%s: the stream waits", spec);
    OK(vmm_event_record(sys, event, b));
    OK(vmm_event_synchronize(sys, event));
    OK(vmm_event_query(sys, event));
    tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "%s: the stream waits still", spec);
    OK(vmm_stream_write_value32(sys, b, dev, 5, 0));
    OK(vmm_stream_synchronize(sys, a));
    OK(vmm_event_destroy(sys, event));
    vmm_close(sys);
}

/* A wait and the work after it continue when an event of another stream is recorded. */
static void event_after_a_wait_in(const char *spec)
{
    vmm_event event;
    begin(spec);
    OK(vmm_event_create(sys, &event, 0));
    OK(vmm_stream_wait_value32(sys, a, host, 5, EQ));
    OK(vmm_stream_write_value32(sys, a, dev, 9, 0));
    OK(vmm_stream_write_value32(sys, a, dev + 4, 8, 0));
    store_five((void *)(uintptr_t)host);
    OK(vmm_event_record(sys, event, b));
    OK(vmm_event_synchronize(sys, event));
    OK(vmm_stream_synchronize(sys, a));
    tap_u64(value_at(dev), UINT64_C(0x800000009), "%s: all of it is done", spec);
    vmm_close(sys);
}

/* Another device's rights to the memory do not affect the wait. */
static void rights_of_another_in(const char *spec)
{
    const vmm_mem_access_desc other = {{VMM_MEM_LOCATION_TYPE_DEVICE, 1}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    begin(spec);
    OK(vmm_memset_d8(sys, map, 0, 64));
    OK(vmm_stream_wait_value32(sys, a, map, 5, EQ));
    OK(vmm_stream_write_value32(sys, a, dev, 9, 0));
    tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "%s: the stream waits", spec);
    OK(vmm_mem_set_access(sys, map, G, &other, 1));
    tap_u64(vmm_stream_query(sys, a), VMM_ERROR_NOT_READY, "%s: and still does", spec);
    OK(vmm_stream_write_value32(sys, b, map, 5, 0));
    OK(vmm_stream_synchronize(sys, a));
    tap_u64(value_at(dev), 9, "%s: until the value is there", spec);
    vmm_close(sys);
}

/* ---- memory that other processes may access ---- */

static unsigned char *shared_bytes;

static void on_alarm(int number)
{
    (void)number;
    __atomic_store_n((uint32_t *)(void *)shared_bytes, 5, __ATOMIC_RELEASE);
}

static void alarm_soon(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    signal(SIGALRM, on_alarm);
    if (setitimer(ITIMER_REAL, &soon, NULL))
        tap_bail("no timer");
}

/* The bytes at a device address, if another process also has them. */
static unsigned char *bytes_at(vmm_deviceptr at)
{
    struct translate_run run;
    uint64_t length = 4;
    struct sim_process *process = (struct sim_process *)sys->top;
    sim_machine_lock(process->machine);
    if (!translate_run(process, at, length, &run))
        tap_bail("no memory");
    unsigned char *bytes = block_data_run(&run.block->bytes, run.offset, &length);
    sim_machine_unlock(process->machine);
    return bytes;
}

/* Another process may write to exported memory, so a wait there may end even if the program has one thread. The
 * signal stands for the other process. */
static void shared_in(const char *schedule)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .requested_handle_types = RIG_FD,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at;
    char spec[100];
    int fd = -1;
    snprintf(spec, sizeof spec, "sim:h100,machine=memops,schedule=%s", schedule);
    begin(spec);
    need(vmm_mem_create(sys, &handle, G, &prop, 0));
    need(vmm_mem_export_to_shareable_handle(sys, &fd, handle, RIG_FD, 0));
    need(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    mapped_at(at, handle, VMM_MEM_LOCATION_TYPE_DEVICE);
    need(vmm_memset_d8(sys, at, 0, 4096));
    shared_bytes = bytes_at(at);
    OK(vmm_stream_wait_value32(sys, a, at, 5, EQ));
    OK(vmm_stream_write_value32(sys, a, dev, 9, 0));
    alarm_soon();
    tap_u64(vmm_stream_synchronize(sys, a), VMM_SUCCESS, "%s: a wait at shared memory goes on once it is written", spec);
    tap_u64(value_at(dev), 9, "%s: and so does what comes after it", spec);
    close(fd);
    vmm_close(sys);
}

/* ---- another thread ---- */

static atomic_int may_store;

static void *store_when_told(void *unused)
{
    while (!may_store)
        ;
    for (int i = 0; i < 1000; i++)
        vmm_stream_query(sys, b);
    store_five((void *)(uintptr_t)host);
    return unused;
}

static void stored_by_a_thread_in(const char *spec)
{
    pthread_t thread;
    begin(spec);
    may_store = 0;
    OK(vmm_stream_wait_value32(sys, a, host, 5, EQ));
    pthread_create(&thread, NULL, store_when_told, NULL);
    may_store = 1;
    OK(vmm_stream_synchronize(sys, a));
    pthread_join(thread, NULL);
    vmm_close(sys);
}

static sem_t function_runs;

static void until_five(void *unused)
{
    (void)unused;
    sem_post(&function_runs);
    while (__atomic_load_n((uint32_t *)(uintptr_t)host, __ATOMIC_ACQUIRE) != 5)
        sched_yield();
}

static void *synchronise_b(void *unused)
{
    return vmm_stream_synchronize(sys, b) == VMM_SUCCESS ? sys : unused;
}

/* One thread waits for a value in memory while another runs a host function. */
static void beside_a_function_in(const char *spec)
{
    pthread_t thread;
    void *ended = NULL;
    begin(spec);
    sem_init(&function_runs, 0, 0);
    shared_bytes = (unsigned char *)(uintptr_t)host;
    OK(vmm_stream_wait_value32(sys, a, host, 5, EQ));
    OK(vmm_launch_host_func(sys, b, until_five, NULL));
    if (pthread_create(&thread, NULL, synchronise_b, NULL))
        tap_bail("no thread");
    sem_wait(&function_runs);
    alarm_soon();
    OK(vmm_stream_synchronize(sys, a));
    pthread_join(thread, &ended);
    tap_ok(ended != NULL, "%s: the host function ends as well", spec);
    sem_destroy(&function_runs);
    vmm_close(sys);
}

/* The shadow of another backend has no bytes, and does no memory operations: so it never waits for a value. */
static void in_a_shadow(void)
{
    begin("shadow|sim:h100");
    OK(vmm_memset_d8(sys, dev, 1, 8));
    OK(vmm_stream_wait_value32(sys, a, dev, 0x01010101, EQ));
    OK(vmm_stream_write_value32(sys, a, dev, 5, 0));
    OK(vmm_ctx_synchronize(sys));
    tap_u64(value_at(dev), UINT64_C(0x0101010100000005), "the backend has waited, and written");
    vmm_close(sys);
}

int main(void)
{
    static const char *const specs[] = {"sim:h100,schedule=late", "sim:h100,schedule=eager", "sim:h100,schedule=random:1",
                                        "sim:h100,schedule=random:2", "sim:h100,schedule=device"};
    comparisons();
    rig_begin();
    shared_in("late"); /* before the first thread */
    shared_in("random:1");
    rig_end();
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        satisfied_in(specs[i]);
        polled_in(specs[i]);
        ping_pong_in(specs[i]);
        batches_in(specs[i]);
        lost_in(specs[i]);
        many_in(specs[i]);
        lost_by_others_in(specs[i]);
        event_beside_a_wait_in(specs[i]);
        event_after_a_wait_in(specs[i]);
        if (strstr(specs[i], "device"))
            continue;
#ifdef __SANITIZE_THREAD__
        (void)never_in;
        tap_skip("ThreadSanitizer's own threads might write the value", "%s: a wait that never ends", specs[i]);
#else
        never_in(specs[i]);
#endif
    }
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        stored_by_a_thread_in(specs[i]);
    beside_a_function_in("sim:h100,schedule=late"); /* the others call the function when it is issued */
    rights_of_another_in("sim:h200x2,schedule=late");
    in_a_shadow();
    return tap_done();
}
