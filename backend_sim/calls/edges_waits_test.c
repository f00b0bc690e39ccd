/* SPDX-License-Identifier: Apache-2.0 */
/* Edge cases of waiting: objects that another thread ends meanwhile, a fault that no call has reported yet, host functions that
 * wait for each other. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "in_flight.h"
#include "process.h"
#include "system.h"
#include "edges_rig.h" /* behind the others, whose names its macros would take */

/* ---- objects that another thread ends while a call waits ---- */

static void *end_event(void *event)
{
    return vmm_event_destroy(sys, event) == VMM_SUCCESS ? sys : NULL;
}

static void *end_stream(void *stream)
{
    return vmm_stream_destroy(sys, stream) == VMM_SUCCESS ? sys : NULL;
}

struct elsewhere {
    void *(*function)(void *);
    void *user, *result;
};

static void elsewhere(void *user)
{
    struct elsewhere *e = user;
    pthread_t thread;
    if (pthread_create(&thread, NULL, e->function, e->user) || pthread_join(thread, &e->result))
        tap_bail("no thread");
}

static void *unmap_one(void *at)
{
    return vmm_mem_unmap(sys, (uint64_t)(uintptr_t)at, G) == VMM_SUCCESS ? sys : NULL;
}

/* A copy is checked again after its wait. */
static void unmapped_elsewhere(void)
{
    unsigned char byte = 0x77;
    begin("sim:h100,schedule=late");
    const vmm_deviceptr p = reserved(G);
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    struct elsewhere unmap = {unmap_one, (void *)(uintptr_t)p, NULL};
    need(vmm_launch_host_func(sys, NULL, elsewhere, &unmap), "function");
    by(vmm_memcpy_dtoh(sys, &byte, p, 1), "VMM-COPY-NOT-MAPPED", "a copy of memory that is unmapped while it waits");
    tap_ok(unmap.result && byte == 0x77, "nothing is copied");
    end();
}

/* A wait for an event returns memory that was freed before the event to its pool, but not memory freed after it. */
static void freed_after_the_event(void)
{
    vmm_deviceptr first = 0, second = 0;
    vmm_stream stream = NULL;
    vmm_event event = NULL;
    begin("sim:h100,schedule=late");
    need(vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_event_create(sys, &event, 0), "event");
    need(vmm_mem_alloc_async(sys, &first, 4096, stream), "memory of a pool");
    need(vmm_mem_alloc_async(sys, &second, 4096, stream), "more of it");
    need(vmm_mem_free_async(sys, first, stream), "free");
    need(vmm_event_record(sys, event, stream), "record");
    need(vmm_mem_free_async(sys, second, stream), "free after it");
    tap_result(vmm_event_synchronize(sys, event), VMM_SUCCESS, "a wait for the event between them");
    tap_result(vmm_stream_synchronize(sys, stream), VMM_SUCCESS, "and one for both");
    end();
}

/* A copy that continues past a pool allocation: the note names where that ends. */
static void behind_the_allocation(void)
{
    vmm_deviceptr p = 0;
    static unsigned char bytes[G];
    char note[200];
    begin("sim:h100");
    need(vmm_mem_alloc_async(sys, &p, 4096, NULL), "memory of a pool");
    by(vmm_memcpy_dtoh(sys, bytes, p + 512, 8192), "VMM-COPY-RUNS-PAST", "a copy that runs past it");
    snprintf(note, sizeof note, "a memory pool has allocated nothing at 0x%llx, %d bytes into the range",
             (unsigned long long)(p + 4096), 4096 - 512);
    tap_text(vmm_last_detail()->note, note, "the note");
    by(vmm_memcpy_dtoh(sys, bytes, p + 8192, 16), "VMM-COPY-NOT-MAPPED", "a copy that begins behind it");
    snprintf(note, sizeof note, "a memory pool has allocated nothing at 0x%llx, 0 bytes into the range",
             (unsigned long long)(p + 8192));
    tap_text(vmm_last_detail()->note, note, "the note");
    end();
}

/* The same far inside an allocation that is larger than its own address. */
static void far_inside_the_allocation(void)
{
    const uint64_t gib = UINT64_C(1) << 30, size = 60 * gib;
    vmm_deviceptr p = 0;
    begin("sim:h200x2");
    need(vmm_mem_alloc_async(sys, &p, size, NULL), "memory of a pool");
    if (p >= size - gib) /* under a sanitizer addresses are larger */
        tap_skip("it lies at a higher address", "an allocation that is larger than its address");
    else
        tap_ok(true, "the allocation is larger than its address, 0x%llx", (unsigned long long)p);
    by(vmm_memset_d8(sys, p + size - gib, 0, gib + 1), "VMM-COPY-RUNS-PAST", "a fill that passes its end");
    char note[200];
    snprintf(note, sizeof note, "a memory pool has allocated nothing at 0x%llx, %llu bytes into the range",
             (unsigned long long)(p + size), (unsigned long long)gib);
    tap_text(vmm_last_detail()->note, note, "the note");
    tap_result(vmm_memset_d8(sys, p + size - 64, 0, 64), VMM_SUCCESS, "one up to its end");
    end();
}

/* A host function that waits for work after itself is refused, and knows no more of that work than before. */
static vmm_event behind;
static vmm_result inside;

static void wait_behind(void *unused)
{
    (void)unused;
    inside = vmm_event_synchronize(sys, behind);
}

static unsigned unordered;

static void count_unordered(void *user, const vmm_detail *detail)
{
    (void)user;
    unordered += detail->rule && !strcmp(detail->rule, "VMM-ORDER-STREAMS");
}

static void refused_wait_knows_nothing(void)
{
    vmm_stream one = NULL, two = NULL;
    vmm_deviceptr p = 0;
    begin("sim:h100,schedule=late,order=report");
    need(vmm_stream_create(sys, &one, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_stream_create(sys, &two, VMM_STREAM_NON_BLOCKING), "another");
    need(vmm_event_create(sys, &behind, 0), "event");
    need(vmm_mem_alloc(sys, &p, 128), "memory");
    need(vmm_memset_d8_async(sys, p, 1, 64, one), "fill");
    need(vmm_event_record(sys, behind, one), "record");
    need(vmm_launch_host_func(sys, two, wait_behind, NULL), "host function");
    need(vmm_stream_synchronize(sys, two), "wait for the function");
    tap_result(inside, VMM_ERROR_NOT_PERMITTED, "the function's wait");
    vmm_set_report(sys, count_unordered, NULL);
    unordered = 0;
    need(vmm_memset_d8_async(sys, p, 2, 64, two), "fill behind the refused wait");
    tap_u64(unordered, 1, "nothing orders it behind the first");
    need(vmm_memset_d8_async(sys, p + 64, 1, 64, one), "fill");
    need(vmm_event_record(sys, behind, one), "record");
    need(vmm_event_synchronize(sys, behind), "wait");
    need(vmm_memset_d8_async(sys, p + 64, 2, 64, two), "fill behind a wait that succeeds");
    tap_u64(unordered, 1, "the wait orders it");
    need(vmm_ctx_synchronize(sys), "all work");
    vmm_set_report(sys, NULL, NULL);
    end();
}

/* Pools of managed memory are not simulated, but their location is checked first, if one is given. */
static void managed_pools(void)
{
    vmm_memory_pool pool = NULL;
    vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_MANAGED, .location = {DEVICE, 99}};
    begin("sim:h100");
    by(vmm_mem_pool_create(sys, &pool, &props), "VMM-POOL-CREATE-DEVICE", "managed memory of an invalid device");
    props.location = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 99};
    by(vmm_mem_pool_create(sys, &pool, &props), "VMM-POOL-CREATE-LOCATION", "managed memory of an invalid node");
    props.location = (vmm_mem_location){DEVICE, 0};
    by(vmm_mem_pool_create(sys, &pool, &props), "VMM-POOL-CREATE-MANAGED", "managed memory of a device");
    props.location = (vmm_mem_location){HOST, 99};
    by(vmm_mem_pool_create(sys, &pool, &props), "VMM-POOL-CREATE-MANAGED", "managed memory of the host");
    end();
}

/* A pool's addresses and those of mappings are separate: mappings below or above a pool do not affect it. */
static void beside_a_pool(void)
{
    vmm_deviceptr p = 0, at;
    begin("sim:max");
    const vmm_deviceptr low = reserved(G);
    need(vmm_mem_alloc_async(sys, &p, 4096, NULL), "memory of a pool");
    const uint64_t start = ((struct sim_process *)sys->top)->first_pool->memory.start;
    need(vmm_mem_map(sys, low, G, 0, created(DEVICE, 0, G), 0), "a mapping");
    need(vmm_mem_address_reserve(sys, &at, G, 0, start - G, 0), "addresses");
    if (at > start) { /* if ThreadSanitizer leaves so few addresses that the pool gets the first */
        tap_skip("the pool has the lowest addresses", "the addresses before a pool");
        end();
        return;
    }
    tap_u64(at, start - G, "the addresses before a pool");
    need(vmm_mem_map(sys, at, G, 0, created(DEVICE, 0, G), 0), "a mapping that ends where a pool begins");
    need(vmm_mem_unmap(sys, at, G), "unmapping");
    by(vmm_mem_map(sys, at, 2 * G, 0, created(DEVICE, 0, 2 * G), 0), "VMM-MAP-OVERLAP", "one that goes on into the pool");
    end();
}

/* A pool's maximum size is not a guarantee: the device's free memory also limits it. */
static void less_than_the_pool_may_have(void)
{
    uint64_t left = 0;
    vmm_deviceptr most = 0, p = 0;
    vmm_memory_pool pool = NULL;
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0}, .max_size = 512 * G};
    begin("sim:h100");
    need(vmm_mem_pool_create(sys, &pool, &props), "pool");
    need(vmm_mem_get_info(sys, &left, NULL), "free memory");
    need(vmm_mem_alloc(sys, &most, (left / G - 256) * G), "all but some");
    by(vmm_mem_alloc_from_pool_async(sys, &p, 1024 * G, pool, NULL), "VMM-POOL-ALLOC-MEMORY", "more than either allows");
    tap_u64(p, 0, "no memory is given");
    need(vmm_mem_free(sys, most), "free");
    by(vmm_mem_alloc_from_pool_async(sys, &p, 1024 * G, pool, NULL), "VMM-POOL-ALLOC-MAX-SIZE", "more than the pool allows");
    end();
}

static void ended_elsewhere(void)
{
    vmm_deviceptr p = 0;
    vmm_event event = NULL;
    vmm_stream stream = NULL;
    unsigned char byte = 0x77;
    begin("sim:h100,schedule=late");
    need(vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_event_create(sys, &event, 0), "event");
    need(vmm_mem_alloc_async(sys, &p, 4096, stream), "memory of a pool");
    struct elsewhere first = {end_event, event, NULL}, second = {end_stream, stream, NULL};
    need(vmm_launch_host_func(sys, stream, elsewhere, &first), "function");
    need(vmm_event_record(sys, event, stream), "record");
    tap_result(vmm_event_synchronize(sys, event), VMM_SUCCESS, "an event that ends during a wait for it has come");
    tap_ok(first.result != NULL, "it has ended");
    by(vmm_event_query(sys, event), "VMM-EVENT-UNKNOWN", "a query of it");
    need(vmm_launch_host_func(sys, stream, elsewhere, &second), "function");
    by(vmm_memcpy_dtoh_async(sys, &byte, p, 1, stream), "VMM-STREAM-UNKNOWN", "a copy that waits for a stream that ends meanwhile");
    tap_ok(second.result && byte == 0x77, "nothing is copied");
    end();
}

/* ---- a fault that no call has reported ---- */

/* Has the work faulted? The look itself reports nothing. */
static bool is_lost(void)
{
    struct sim_process *process = (struct sim_process *)sys->top;
    sim_machine_lock(process->machine);
    bool lost = process->fault[0].lost;
    sim_machine_unlock(process->machine);
    return lost;
}

/* With async workers, the first query of an event after a fault answers NOT_READY, once. */
static void not_reported_yet(void)
{
    const uint64_t args[] = {4096, 1, 7};
    vmm_event before = NULL, event = NULL, never = NULL;
    begin("sim:h100,schedule=device");
    need(vmm_event_create(sys, &before, 0), "event");
    need(vmm_event_create(sys, &event, 0), "event");
    need(vmm_event_create(sys, &never, 0), "event");
    need(vmm_event_record(sys, before, NULL), "record");
    need(vmm_launch(sys, VMM_KERNEL_FILL, 1, 32, args, 3, NULL), "launch");
    need(vmm_event_record(sys, event, NULL), "record");
    while (!is_lost())
        sched_yield();
    tap_result(vmm_event_query(sys, never), VMM_SUCCESS, "an event that was never recorded is done");
    tap_result(vmm_event_query(sys, before), VMM_SUCCESS, "an event recorded before the fault is done");
    tap_result(vmm_event_query(sys, event), VMM_ERROR_NOT_READY, "the first query of an event after the fault answers NOT_READY");
    tap_result(vmm_event_query(sys, event), VMM_ERROR_ILLEGAL_ADDRESS, "the second query reports the fault");
    tap_result(vmm_event_query(sys, before), VMM_ERROR_ILLEGAL_ADDRESS, "after that a query of any event reports the fault");
    end();
}

/* The queue holds IN_FLIGHT_MAX items; one more issue does the oldest and no other. */
static void most_in_flight(void)
{
    begin("sim:h100,schedule=late");
    const struct in_flight *in_flight = ((struct sim_process *)sys->top)->in_flight;
    const vmm_deviceptr p = reserved(G);
    unsigned wrong = 0;
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    need(vmm_memset_d8_async(sys, p, 1, 1, NULL), "fill");
    const uint64_t first = in_flight->queue.first->number;
    for (size_t i = 1; i < IN_FLIGHT_MAX + 3; i++) {
        wrong += in_flight->queue.count != (i < IN_FLIGHT_MAX ? i : IN_FLIGHT_MAX);
        wrong += in_flight->queue.first->number != (i <= IN_FLIGHT_MAX ? first : first + (i - IN_FLIGHT_MAX));
        need(vmm_memset_d8_async(sys, p + i, 1, 1, NULL), "fill");
    }
    tap_u64(wrong, 0, "the queue holds %d work items, and a further issue does the oldest", (int)IN_FLIGHT_MAX);
    need(vmm_ctx_synchronize(sys), "wait");
    tap_ok(!in_flight->queue.first && !in_flight->queue.count, "the queue is empty after a wait");
    end();
}

static void count_oldest(void *user)
{
    ++*(unsigned *)user;
}

/* The call that issues one item too many does the oldest, even if that is not plain work or the schedule chooses freely. */
static void oldest_of_any_kind(const char *spec, bool function)
{
    begin(spec);
    const struct in_flight *in_flight = ((struct sim_process *)sys->top)->in_flight;
    const vmm_deviceptr p = reserved(G);
    unsigned called = 0, most = 0;
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    if (function)
        need(vmm_launch_host_func(sys, NULL, count_oldest, &called), "function");
    for (size_t i = 0; i < 2 * IN_FLIGHT_MAX; i++) {
        need(vmm_memset_d8_async(sys, p + i, (unsigned char)(1 + i % 2), 1, NULL), "fill");
        most = in_flight->queue.count > most ? (unsigned)in_flight->queue.count : most;
    }
    tap_ok(most <= IN_FLIGHT_MAX && called == function, "%s: the queue held %u items at most", spec, most);
    unsigned char bytes[2];
    need(vmm_ctx_synchronize(sys), "wait");
    need(vmm_memcpy_dtoh(sys, bytes, p + 2 * IN_FLIGHT_MAX - 2, 2), "copy");
    tap_ok(bytes[0] == 1 && bytes[1] == 2, "%s: all of it is done", spec);
    end();
}

/* A refused allocation reports the free memory, however large the request was. */
static void too_much_memory(void)
{
    begin("sim:h100");
    uint64_t left = 0, total = 0, wrong = 0;
    vmm_deviceptr p = 0;
    need(vmm_mem_get_info(sys, &left, &total), "room");
    for (int shift = 38; shift < 64; shift++) {
        vmm_result result = vmm_mem_alloc(sys, &p, UINT64_C(1) << shift);
        wrong += result != VMM_ERROR_OUT_OF_MEMORY || vmm_last_detail()->expected != left;
    }
    tap_u64(wrong, 0, "refused allocations of 256 GiB to 8 EiB report the free memory");
    by(vmm_mem_alloc(sys, &p, UINT64_MAX), "VMM-ALLOC-MEMORY", "an allocation of the largest number is refused");
    end();
}

static void count_call(void *user)
{
    ++*(unsigned *)user;
}

/* The end of a primary context waits for its work, by a reset and by a release. */
static void primary_is_waited_for(bool reset)
{
    vmm_context primary = NULL;
    unsigned calls = 0;
    begin("sim:h100,schedule=late");
    need(vmm_device_primary_ctx_retain(sys, &primary, 0), "primary context");
    need(vmm_ctx_set_current(sys, primary), "current");
    need(vmm_launch_host_func(sys, NULL, count_call, &calls), "function");
    tap_u64(calls, 0, "the host function has not run yet");
    need(reset ? vmm_device_primary_ctx_reset(sys, 0) : vmm_device_primary_ctx_release(sys, 0), "end");
    tap_u64(calls, 1, "the %s of a primary context waits for its work", reset ? "reset" : "release");
    end();
}

/* Which of two unordered work items is done last, when the seed decides only at the wait. */
static unsigned char last_of_two(uint64_t seed)
{
    vmm_stream first = NULL, second = NULL;
    unsigned char byte = 0;
    begin("sim:h100,schedule=late");
    struct in_flight *in_flight = ((struct sim_process *)sys->top)->in_flight;
    const vmm_deviceptr p = reserved(G);
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    need(vmm_stream_create(sys, &first, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_stream_create(sys, &second, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_memset_d8_async(sys, p, 1, 1, first), "fill");
    need(vmm_memset_d8_async(sys, p, 2, 1, second), "fill");
    in_flight->schedule = SIM_RANDOM;
    in_flight->random = seed;
    need(vmm_ctx_synchronize(sys), "wait");
    need(vmm_memcpy_dtoh(sys, &byte, p, 1), "read");
    end();
    return byte;
}

static void order_of_a_wait(void)
{
    unsigned last[3] = {0};
    for (uint64_t seed = 1; seed <= 64; seed++)
        last[last_of_two(seed) % 3]++;
    tap_ok(!last[0] && last[1] > 10 && last[2] > 10,
           "at a wait the seed decides which item is done first: %u times the one, %u times the other",
           last[2], last[1]);
}

/* A copy that waits for earlier work reports the fault of that work. */
static void fault_by_a_copy(void)
{
    const uint64_t args[] = {4096, 1, 7};
    unsigned char byte = 0x77;
    begin("sim:h100");
    vmm_deviceptr p = reserved(G);
    need(vmm_mem_map(sys, p, G, 0, created(DEVICE, 0, G), 0), "mapping");
    granted(p, G, DEVICE, 0, RW);
    need(vmm_launch(sys, VMM_KERNEL_FILL, 1, 32, args, 3, NULL), "launch");
    by(vmm_memcpy_dtoh_async(sys, &byte, p, 1, NULL), "VMM-FAULT-ACCESS", "a copy after a kernel that faults");
    tap_u64(byte, 0x77, "the copy is not made");
    end();
}

/* ---- two host functions at once ---- */

static sem_t first_began, second_began, first_ended;

static void waits_for_second(void *user)
{
    (void)user;
    sem_post(&first_began);
    sem_wait(&second_began);
}

static void waits_for_first(void *user)
{
    (void)user;
    sem_post(&second_began);
    sem_wait(&first_ended);
}

static void *synchronise(void *stream)
{
    return vmm_stream_synchronize(sys, stream) == VMM_SUCCESS ? sys : NULL;
}

/* Two host functions run at once; the one that began first ends first. */
static void functions(void)
{
    vmm_stream one = NULL, two = NULL;
    pthread_t first, second;
    void *ended[2] = {NULL};
    begin("sim:h100");
    sem_init(&first_began, 0, 0);
    sem_init(&second_began, 0, 0);
    sem_init(&first_ended, 0, 0);
    need(vmm_stream_create(sys, &one, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_stream_create(sys, &two, VMM_STREAM_NON_BLOCKING), "stream");
    need(vmm_launch_host_func(sys, one, waits_for_second, NULL), "first function");
    need(vmm_launch_host_func(sys, two, waits_for_first, NULL), "second function");
    if (pthread_create(&first, NULL, synchronise, one))
        tap_bail("no thread");
    sem_wait(&first_began);
    if (pthread_create(&second, NULL, synchronise, two))
        tap_bail("no thread");
    pthread_join(first, &ended[0]);
    sem_post(&first_ended);
    pthread_join(second, &ended[1]);
    tap_ok(ended[0] && ended[1], "a host function ends while a later one still runs");
    tap_result(vmm_ctx_synchronize(sys), VMM_SUCCESS, "no host function is running any more");
    sem_destroy(&first_began);
    sem_destroy(&second_began);
    sem_destroy(&first_ended);
    end();
}

int main(void)
{
    ended_elsewhere();
    unmapped_elsewhere();
    freed_after_the_event();
    behind_the_allocation();
    far_inside_the_allocation();
    refused_wait_knows_nothing();
    managed_pools();
    beside_a_pool();
    less_than_the_pool_may_have();
    not_reported_yet();
    most_in_flight();
    oldest_of_any_kind("sim:h100,schedule=late", true);
    oldest_of_any_kind("sim:h100,schedule=random:1", true);
    oldest_of_any_kind("sim:h100,schedule=random:2", false);
    too_much_memory();
    primary_is_waited_for(true);
    primary_is_waited_for(false);
    order_of_a_wait();
    fault_by_a_copy();
    functions();
    return tap_done();
}
