/* SPDX-License-Identifier: Apache-2.0 */
/* pools: what a pool does when addresses, host memory or device memory are out. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "checks.h"
#include "pool_policy.h"
#include "pools.h"
#include "system.h"

#define MIB (UINT64_C(1) << 20)

static vmm_system *opened(const char *spec)
{
    vmm_system *sys = NULL;
    vmm_context context;
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS ||
        vmm_device_primary_ctx_retain(sys, &context, 0) != VMM_SUCCESS || vmm_ctx_set_current(sys, context) != VMM_SUCCESS)
        tap_bail("%s does not open: %s", spec, vmm_last_detail()->note);
    return sys;
}

static struct sim_process *process_of(vmm_system *sys)
{
    return (struct sim_process *)sys->top;
}

static vmm_result create(vmm_system *sys, size_t most, vmm_memory_pool *pool)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}, .max_size = most};
    return vmm_mem_pool_create(sys, pool, &props);
}

static void tap_whole(vmm_system *sys, const char *when)
{
    sim_machine_lock(process_of(sys)->machine);
    const char *said = process_check(process_of(sys));
    sim_machine_unlock(process_of(sys)->machine);
    tap_ok(!said, "%s: %s", when, said ? said : "all invariants hold");
}

/* Addresses that no process has. */
static void test_too_large(void)
{
    vmm_system *sys = opened("sim:h200x2");
    vmm_memory_pool pool = NULL;
    const uint64_t sizes[] = {UINT64_C(1) << 60, UINT64_MAX};
    for (unsigned i = 0; i < 2; i++) {
        vmm_result result = create(sys, sizes[i], &pool);
        tap_ok(result != VMM_SUCCESS && !process_of(sys)->first_pool && !process_of(sys)->pool_ranges.count,
               "a pool of 0x%llx bytes is refused: %s", (unsigned long long)sizes[i], vmm_result_name(result));
    }
    tap_whole(sys, "after that");
    vmm_close(sys);
}

/* A pool without a limit takes fewer addresses where there are no more; one with a limit is refused. */
static void test_fewer_addresses(void)
{
    vmm_system *sys = opened("sim:h200x2");
    struct sim_process *p = process_of(sys);
    vmm_memory_pool pool = NULL;
    if (create(sys, 0, &pool) != VMM_SUCCESS)
        tap_bail("no pool");
    uint64_t usual = p->first_pool->memory.size;
    vmm_deviceptr at;
    for (uint64_t size = UINT64_C(1) << 50; size >= usual / 4; size /= 2)
        while (vmm_mem_address_reserve(sys, &at, size, 0, 0, 0) == VMM_SUCCESS)
            ;
    struct sim_pool *first = p->first_pool;
    tap_ok(create(sys, usual, &pool) == VMM_ERROR_OUT_OF_MEMORY && p->first_pool == first, "a pool with a limit needs all its addresses");
    vmm_result result = create(sys, 0, &pool);
    tap_ok(result == VMM_SUCCESS && p->first_pool->memory.size >= POOL_CHUNK && p->first_pool->memory.size < usual / 2,
           "one without a limit takes 0x%llx instead of 0x%llx", (unsigned long long)p->first_pool->memory.size,
           (unsigned long long)usual);
    tap_whole(sys, "after that");
    vmm_close(sys);
}

/* The first allocation of a new pool, with its nth request failing. Returns what failed; NULL: fewer were made. */
static const char *allocate_without(unsigned long nth, unsigned *refused)
{
    vmm_system *sys = opened("sim:h200x2");
    struct sim_process *p = process_of(sys);
    vmm_memory_pool pool = NULL;
    vmm_deviceptr at = 0;
    if (create(sys, 0, &pool) != VMM_SUCCESS)
        tap_bail("no pool");
    inject_arm(nth);
    vmm_result result = vmm_mem_alloc_from_pool_async(sys, &at, 72 * MIB + 5, pool, NULL);
    const char *failed = inject_disarm();
    if (result == VMM_SUCCESS) {
        tap_ok(at && p->pieces.count == 1 && p->chunks.count == 3, "request %lu (%s) is not needed", nth, failed ? failed : "none");
    } else {
        ++*refused;
        tap_ok(failed && result == VMM_ERROR_OUT_OF_MEMORY && !p->pieces.count && !p->chunks.count && !p->first_pool->memory.reserved,
               "without request %lu (%s) the call is refused: %s", nth, failed ? failed : "none", vmm_last_detail()->rule);
        tap_whole(sys, "after that");
        tap_ok(vmm_mem_alloc_from_pool_async(sys, &at, 72 * MIB + 5, pool, NULL) == VMM_SUCCESS, "the next call is not");
    }
    tap_whole(sys, "with the allocation");
    vmm_close(sys);
    return failed;
}

static void test_host_memory(void)
{
    unsigned refused = 0;
    for (unsigned long nth = 1; nth < 100 && allocate_without(nth, &refused); nth++)
        ;
    tap_ok(refused >= 4, "records of chunks, blocks and the allocation are needed: %u requests", refused);
}

/* A destroyed pool lives until its last allocation is freed; then its record goes. */
static void test_destroyed(void)
{
    vmm_system *sys = opened("sim:h200x2");
    struct sim_process *p = process_of(sys);
    vmm_memory_pool pool = NULL;
    vmm_deviceptr at = 0;
    if (create(sys, 0, &pool) != VMM_SUCCESS || vmm_mem_alloc_from_pool_async(sys, &at, MIB, pool, NULL) != VMM_SUCCESS ||
        vmm_mem_pool_destroy(sys, pool) != VMM_SUCCESS)
        tap_bail("no pool: %s", vmm_last_detail()->note);
    /* so many others that the table of values forgets the destroyed one before its memory goes */
    for (unsigned i = 0; i < 3000; i++) {
        vmm_memory_pool other;
        if (create(sys, 0, &other) != VMM_SUCCESS || vmm_mem_pool_destroy(sys, other) != VMM_SUCCESS)
            tap_bail("no pool: %s", vmm_last_detail()->note);
    }
    tap_ok(p->first_pool && p->first_pool->destroyed && !p->first_pool->next, "the destroyed pool outlives its value");
    tap_ok(p->first_pool->forgotten, "which the table of values no longer keeps");
    tap_ok(vmm_mem_free(sys, at) == VMM_SUCCESS && !p->first_pool && !p->chunks.count, "and goes with its last allocation");
    tap_whole(sys, "after that");
    vmm_close(sys);
}

static void count_unordered(void *user, const vmm_detail *detail)
{
    *(unsigned *)user += strcmp(detail->rule, "VMM-POOL-USE-UNORDERED") == 0;
}

/* Memory is allocated on one stream and used on another, of each kind: the default stream orders itself and the blocking ones. */
static void test_orders(void)
{
    vmm_system *sys = opened("sim:h200x2");
    enum { STREAMS = 5 };
    vmm_stream stream[STREAMS] = {NULL}; /* default, two blocking, two non-blocking */
    unsigned wrong = 0;
    for (unsigned i = 1; i < STREAMS; i++)
        if (vmm_stream_create(sys, &stream[i], i < 3 ? 0 : VMM_STREAM_NON_BLOCKING) != VMM_SUCCESS)
            tap_bail("no stream");
    for (unsigned i = 0; i < STREAMS; i++)
        for (unsigned j = 0; j < STREAMS; j++) {
            unsigned told = 0;
            vmm_deviceptr at = 0;
            vmm_set_report(sys, count_unordered, &told);
            if (vmm_mem_alloc_async(sys, &at, 4096, stream[i]) || vmm_memset_d8_async(sys, at, 1, 4096, stream[j]))
                tap_bail("no memory: %s", vmm_last_detail()->note);
            vmm_set_report(sys, NULL, NULL);
            if (told != (i != j && !(i < 3 && j < 3 && (!i || !j))))
                tap_note("allocated on stream %u, used on %u: %u warnings", i, j, told), wrong++;
            if (vmm_ctx_synchronize(sys) || vmm_mem_free_async(sys, at, stream[i]))
                tap_bail("no free");
        }
    tap_u64(wrong, 0, "a use on another stream is warned of where nothing orders the two");
    vmm_close(sys);
}

int main(void)
{
    test_orders();
    test_too_large();
    test_fewer_addresses();
    test_host_memory();
    test_destroyed();
    return tap_done();
}
