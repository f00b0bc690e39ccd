/* SPDX-License-Identifier: Apache-2.0 */
/* pools: behaviour when addresses, host memory or device memory are exhausted. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "checks.h"
#include "graph_memory.h"
#include "pool_policy.h"
#include "pools.h"
#include "stream_clock.h"
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

/* Addresses outside every process. */
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

/* A pool without a limit takes fewer addresses if no more are free; one with a limit is refused. */
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

/* The first allocation of a new pool, whose nth request fails. Returns the function that failed; NULL: there were
 * fewer requests. */
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

/* ---- memory of graphs ---- */

static vmm_system *graphs;
static struct sim_graph_memory *of_graphs;
static struct sim_graph_pin *first_pin, *pin;
static struct sim_piece *piece;
static uint64_t addresses;

static bool graphs_whole(void)
{
    struct sim_process *p = process_of(graphs);
    return !process_check(p) && !p->pieces.count && (!of_graphs || (of_graphs->pool->memory.reserved == POOL_CHUNK && !first_pin->next));
}

static bool begin_graphs(void)
{
    of_graphs = sim_graph_memory_of(process_of(graphs), 1);
    return of_graphs != NULL;
}

static bool no_graphs(void)
{
    return !process_of(graphs)->graph_memory[1] && !process_of(graphs)->first_pool && graphs_whole();
}

static bool end_graphs(void)
{
    struct sim_process *p = process_of(graphs);
    if (of_graphs) {
        sim_machine_unlock(p->machine);
        vmm_close(graphs);
        graphs = opened("sim:h200x2");
        sim_machine_lock(process_of(graphs)->machine);
        of_graphs = NULL;
    }
    return true;
}

/* Only the first of three chunks exists. */
static bool back_three(void)
{
    uint64_t lacks, left;
    pin = sim_graph_memory_back(process_of(graphs), of_graphs, addresses, 3 * POOL_CHUNK, &lacks, &left);
    return pin != NULL;
}

static bool none_backed(void)
{
    return of_graphs->pins == first_pin && of_graphs->pool->memory.pins == 1 && graphs_whole();
}

static bool unback(void)
{
    if (pin) {
        sim_graph_pin_end(of_graphs, pin);
        sim_graph_pin_end(of_graphs, first_pin);
        sim_pool_trim(process_of(graphs), of_graphs->pool, 0);
        uint64_t lacks, left;
        first_pin = sim_graph_memory_back(process_of(graphs), of_graphs, addresses, POOL_CHUNK, &lacks, &left);
    }
    pin = NULL;
    return none_backed();
}

static bool new_piece(void)
{
    const struct queue_place place = {0};
    piece = sim_graph_piece_new(process_of(graphs), of_graphs, addresses, 64, &place, (struct sim_origin){1, 0, 0});
    return piece != NULL;
}

static bool end_piece(void)
{
    if (piece)
        sim_graph_piece_free(process_of(graphs), piece, (struct sim_origin){2, 0, 0});
    piece = NULL;
    return none_backed();
}

static void test_graphs(void)
{
    uint64_t lacks, left;
    graphs = opened("sim:h200x2");
    sim_machine_lock(process_of(graphs)->machine);
    inject_try(&(struct inject_case){.name = "the memory of a device's graphs", .least = 2, .call = begin_graphs,
                                     .reported = no_graphs, .end = end_graphs});
    if (!begin_graphs() || !sim_graph_memory_take(process_of(graphs), of_graphs, 3 * POOL_CHUNK, &addresses))
        tap_bail("no addresses");
    first_pin = sim_graph_memory_back(process_of(graphs), of_graphs, addresses, POOL_CHUNK, &lacks, &left);
    inject_try(&(struct inject_case){.name = "chunks of a launch", .least = 3, .call = back_three, .reported = none_backed,
                                     .end = unback});
    inject_try(&(struct inject_case){.name = "an allocation of a launch", .least = 2, .call = new_piece, .reported = none_backed,
                                     .end = end_piece});
    sim_machine_unlock(process_of(graphs)->machine);
    vmm_close(graphs);
}

/* ---- parts of pools ---- */

/* A wait without memory for its record orders nothing: a later use causes a warning instead of being overlooked. */
static void test_clocks(void)
{
    struct stream_clocks clocks = {0};
    struct stream_clock_seen event = {0};
    const struct queue_place one = {.context = 1, .stream = 1, .kind = QUEUE_NON_BLOCKING};
    const struct queue_place two = {.context = 1, .stream = 2, .kind = QUEUE_NON_BLOCKING};
    struct queue_place other = two;
    struct stream_clock *clock = stream_clock_of(&clocks, &two);
    for (; clock && other.stream < 200; other.stream++)
        clock = stream_clock_of(&clocks, &other);
    if (!clock || !(clock = stream_clock_of(&clocks, &one)))
        tap_bail("no memory");
    const uint64_t tick = ++clock->now;
    const uint32_t id = clock->id;
    stream_clock_record(&clocks, &one, &event);
    inject_arm_at("malloc", 1);
    stream_clock_wait(&clocks, &two, &event);
    tap_ok(inject_disarm() && !stream_clock_after(&clocks, &two, id, tick), "a wait without memory orders nothing");
    stream_clock_wait(&clocks, &two, &event);
    tap_ok(stream_clock_after(&clocks, &two, id, tick), "with memory it does");
    heap.free(event.seen);
    stream_clocks_clear(&clocks);
}

static void test_cut(void)
{
    enum { CHUNKS = 1024 };
    struct mempool pool;
    bool out = false, whole = true;
    const char *failed = NULL;
    uint64_t at = UINT64_C(1) << 40, end = at + CHUNKS * POOL_CHUNK;
    if (!mempool_init(&pool, at, CHUNKS * POOL_CHUNK, POOL_CHUNK))
        tap_bail("no memory");
    while (end > at && !failed) {
        inject_arm(1);
        struct region *high = mempool_cut(&pool, end -= POOL_UNIT, POOL_UNIT, &out);
        failed = inject_disarm();
        whole = whole && !high == (failed != NULL) && out == (failed != NULL) && !mempool_check(&pool);
    }
    tap_ok(failed && whole, "a cut that finds no memory for a region changes nothing");
    mempool_clear(&pool);
}

/* ---- allocations ---- */

static vmm_system *host_sys;
static vmm_memory_pool host_pool;
static vmm_deviceptr host_at, host_kept;

static void begin_on_host(void)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}};
    host_sys = opened("sim:h100");
    if (vmm_mem_pool_create(host_sys, &host_pool, &props) != VMM_SUCCESS ||
        vmm_mem_alloc_from_pool_async(host_sys, &host_kept, MIB, host_pool, NULL) != VMM_SUCCESS)
        tap_bail("no pool of the host: %s", vmm_last_detail()->note);
}

/* Begins in the chunk of the other allocation, and needs one more. */
static bool allocate_on_host(void)
{
    host_at = 0;
    return vmm_mem_alloc_from_pool_async(host_sys, &host_at, POOL_CHUNK, host_pool, NULL) == VMM_SUCCESS;
}

static bool host_refused(void)
{
    struct sim_process *p = process_of(host_sys);
    return !strcmp(vmm_last_detail()->rule, "VMM-SYSTEM-HOST-MEMORY") && p->pieces.count == 1 && p->chunks.count == 1 && !host_at;
}

static bool end_on_host(void)
{
    struct sim_process *p = process_of(host_sys);
    sim_machine_lock(p->machine);
    bool whole = !process_check(p);
    sim_machine_unlock(p->machine);
    if (!host_at && !allocate_on_host())
        whole = false;
    vmm_close(host_sys);
    return whole;
}

/* The memory of an allocation is shown to the host, which needs the host's system. */
static void test_host_pool(void)
{
    inject_try(&(struct inject_case){.name = "an allocation of a pool of the host", .least = 3, .begin = begin_on_host,
                                     .call = allocate_on_host, .reported = host_refused, .end = end_on_host});
}

/* If a device has too little memory left, its own pools lose idle memory, but not other devices' pools or imports. */
static void test_room(void)
{
    vmm_system *sys = opened("sim:h200x2");
    struct sim_process *p = process_of(sys);
    const vmm_mem_location here = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    vmm_memory_pool pool[4];
    struct sim_pool *is[4], *ended;
    for (int i = 0; i < 4; i++) {
        const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {i == 2 ? VMM_MEM_LOCATION_TYPE_HOST_NUMA : VMM_MEM_LOCATION_TYPE_DEVICE, i == 1}};
        uint64_t keep = UINT64_MAX;
        vmm_deviceptr at;
        if (vmm_mem_pool_create(sys, &pool[i], &props) || vmm_mem_pool_set_attribute(sys, pool[i], VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep) ||
            vmm_mem_alloc_from_pool_async(sys, &at, POOL_CHUNK, pool[i], NULL) || vmm_mem_free_async(sys, at, NULL) || vmm_ctx_synchronize(sys))
            tap_bail("no pool: %s", vmm_last_detail()->note);
        is[i] = sim_pool_find(p, (uint64_t)(uintptr_t)pool[i], &ended);
    }
    sim_machine_lock(p->machine);
    const uint32_t imports = is[3]->imports;
    is[3]->imports = 1; /* like an import, whose memory belongs to the exporter */
    uint64_t all = p->machine->profile.device_memory, left;
    left = sim_machine_room(p->machine, here, all);
    tap_u64(sim_pools_room(p, here, left), left, "if there is enough");
    tap_ok(is[0]->memory.reserved && is[1]->memory.reserved && is[2]->memory.reserved && is[3]->memory.reserved, "each pool keeps its idle memory");
    tap_u64(sim_pools_room(p, here, left + 2 * POOL_CHUNK), left + POOL_CHUNK, "idle memory goes, also where it is too little");
    tap_ok(!is[0]->memory.reserved && is[1]->memory.reserved && is[2]->memory.reserved && is[3]->memory.reserved,
           "only from the pool of that device");
    is[3]->imports = imports;
    sim_machine_unlock(p->machine);
    tap_whole(sys, "after that");
    vmm_close(sys);
}

/* cuMemAlloc takes idle memory of a pool only when it needs it. */
static void test_alloc_beside(void)
{
    vmm_system *sys = opened("sim:h200x2");
    struct sim_process *p = process_of(sys);
    vmm_memory_pool pool;
    vmm_deviceptr at, all = 0;
    uint64_t keep = UINT64_MAX;
    struct sim_pool *ended;
    size_t left = 0;
    if (vmm_device_get_default_mem_pool(sys, &pool, 0) || vmm_mem_pool_set_attribute(sys, pool, VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep) ||
        vmm_mem_alloc_async(sys, &at, POOL_CHUNK, NULL) || vmm_mem_free_async(sys, at, NULL) || vmm_ctx_synchronize(sys))
        tap_bail("no pool: %s", vmm_last_detail()->note);
    const struct sim_pool *is = sim_pool_find(p, (uint64_t)(uintptr_t)pool, &ended);
    const uint64_t idle = is->memory.reserved;
    tap_result(vmm_mem_alloc(sys, &at, 3 * POOL_CHUNK), VMM_SUCCESS, "memory beside a pool");
    tap_u64(is->memory.reserved, idle, "leaves the pool its idle memory");
    vmm_mem_get_info(sys, &left, NULL);
    tap_result(vmm_mem_alloc(sys, &all, (left + idle) / POOL_CHUNK * POOL_CHUNK), VMM_SUCCESS, "all that is left and the pool's");
    tap_u64(is->memory.reserved, 0, "takes it");
    tap_whole(sys, "after that");
    vmm_close(sys);
}

/* A destroyed pool exists until its last allocation is freed; then its record is removed. */
static void test_destroyed(void)
{
    vmm_system *sys = opened("sim:h200x2");
    struct sim_process *p = process_of(sys);
    vmm_memory_pool pool = NULL;
    vmm_deviceptr at = 0;
    if (create(sys, 0, &pool) != VMM_SUCCESS || vmm_mem_alloc_from_pool_async(sys, &at, MIB, pool, NULL) != VMM_SUCCESS ||
        vmm_mem_pool_destroy(sys, pool) != VMM_SUCCESS)
        tap_bail("no pool: %s", vmm_last_detail()->note);
    /* so many others that the table of values drops the destroyed one before its memory is freed */
    for (unsigned i = 0; i < 3000; i++) {
        vmm_memory_pool other;
        if (create(sys, 0, &other) != VMM_SUCCESS || vmm_mem_pool_destroy(sys, other) != VMM_SUCCESS)
            tap_bail("no pool: %s", vmm_last_detail()->note);
    }
    tap_ok(p->first_pool && p->first_pool->destroyed && !p->first_pool->next, "the destroyed pool outlives its value");
    tap_ok(p->first_pool->forgotten, "the table of values no longer has it");
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
    tap_u64(wrong, 0, "a use on another stream is warned about where nothing orders the two");
    vmm_close(sys);
}

int main(void)
{
    test_orders();
    test_too_large();
    test_fewer_addresses();
    test_host_memory();
    test_graphs();
    test_clocks();
    test_cut();
    test_host_pool();
    test_room();
    test_alloc_beside();
    test_destroyed();
    return tap_done();
}
