/* SPDX-License-Identifier: Apache-2.0 */
/* graph_memory: addresses of graphs, pins of their chunks, and each invariant of graph_memory.h broken by hand. */
#include "graph_memory.h"

#include "breaks.h"
#include "checks.h"
#include "pool_policy.h"
#include "system.h"

static vmm_system *sys;
static struct sim_process *process;
static struct sim_graph_memory *memory;
static struct queue_place place;

static uint64_t take(uint64_t size)
{
    uint64_t start = 7;
    tap_ok(sim_graph_memory_take(process, memory, size, &start), "0x%llx bytes", (unsigned long long)size);
    return start;
}

static struct sim_graph_pin *back(uint64_t start, uint64_t size)
{
    uint64_t lacks, left;
    struct sim_graph_pin *pin = sim_graph_memory_back(process, memory, start, size, &lacks, &left);
    if (!pin)
        tap_bail("no memory");
    check_holds(process_check(process), "chunks exist");
    return pin;
}

static uint64_t reserved(void)
{
    return memory->pool->memory.reserved;
}

static bool always(void *user, const struct sim_graph_pin *pin)
{
    ++*(uint64_t *)user;
    return pin != NULL;
}

static void test_addresses(void)
{
    uint64_t all = memory->pool->memory.size, first = take(1), second = take(POOL_CHUNK + 1);
    tap_u64(second - first, POOL_CHUNK, "each has whole chunks");
    sim_graph_memory_give(memory, first);
    tap_u64(take(2 * POOL_CHUNK) - second, 2 * POOL_CHUNK, "a range that does not fit is skipped");
    tap_u64(take(POOL_CHUNK), first, "a fitting range is reused");
    tap_u64(take(all), 0, "there are no more than all");
    tap_u64(take(all - 5 * POOL_CHUNK) - second, 4 * POOL_CHUNK, "all that is left");
    tap_u64(take(1), 0, "nothing is left");
    tap_u64(take(UINT64_MAX), 0, "a size that cannot be rounded up");
    check_holds(process_check(process), "ranges are taken");
    BREAKS(memory->ranges->size, 1, process_check(process), "graphs of device 0: the addresses of a graph at 0x");
    BREAKS(memory->ranges->size, 0, process_check(process), "overlap others");
    BREAKS(memory->ranges->size, 3 * POOL_CHUNK, process_check(process), "overlap others");
    BREAKS_TO(memory->ranges->next->next->next->size, all, process_check(process), "leave the device's");
    while (memory->ranges)
        sim_graph_memory_give(memory, memory->ranges->start);
}

static void test_growth(void)
{
    uint64_t first = take(1), second = take(POOL_CHUNK);
    tap_ok(!sim_graph_memory_grow(process, memory, first, 1), "another graph's addresses follow it");
    sim_graph_memory_give(memory, second);
    tap_ok(sim_graph_memory_grow(process, memory, first, 1), "now they are free");
    tap_u64(take(1) - first, 2 * POOL_CHUNK, "it has two chunks");
    tap_ok(!sim_graph_memory_grow(process, memory, first + 2 * POOL_CHUNK, memory->pool->memory.size), "there are not so many");
    tap_ok(!sim_graph_memory_grow(process, memory, first + 2 * POOL_CHUNK, UINT64_MAX), "nor can that be rounded up");
    check_holds(process_check(process), "ranges have grown");
    while (memory->ranges)
        sim_graph_memory_give(memory, memory->ranges->start);
}

/* An allocation that outlives its range keeps the addresses. */
static void test_left(void)
{
    uint64_t start = take(64);
    struct sim_graph_pin *pin = back(start, POOL_CHUNK);
    struct sim_piece *piece = sim_graph_piece_new(process, memory, start + 512, 64, &place, (struct sim_origin){1, 0, 0});
    sim_graph_pin_end(memory, pin);
    sim_graph_memory_give(memory, start);
    tap_u64(take(64) - start, POOL_CHUNK, "the addresses are not free");
    sim_pool_trim(process, memory->pool, 0);
    tap_u64(reserved(), POOL_CHUNK, "nor is the memory");
    check_holds(process_check(process), "an allocation without a range");
    struct mempool_chunk *chunk = sim_chunk_at(process, start);
    char words[100];
    snprintf(words, sizeof words, "A%u at 0x%llx of a graph lies in no chunk that is in use", (unsigned)piece->allocation.number,
             (unsigned long long)start + 512);
    BREAKS_TO(chunk->busy, 0, sim_piece_check(process, piece), words);
    BREAKS(chunk->pool, NULL, sim_piece_check(process, piece), "of a graph lies in no chunk that is in use");
    addrmap_remove(&process->chunks, chunk->start);
    check_breaks(sim_piece_check(process, piece), "of a graph lies in no chunk that is in use");
    if (!addrmap_insert(&process->chunks, chunk->start, chunk))
        tap_bail("no memory");
    struct region region = {0};
    BREAKS(piece->region, &region, sim_piece_check(process, piece), "of a graph lies in no chunk that is in use");
    BREAKS(piece->allocation.block, NULL, sim_piece_check(process, piece), "of a graph lies in no chunk");
    BREAKS(memory->pool->memory.pins, 0, process_check(process), "chunks count 1 uses; there are 0");
    BREAKS(memory->pool->memory.pins, 2, sim_graph_memory_check(process, memory), "chunks have 2 pins; there are 1");
    BREAKS_TO(memory->used_high, 0, sim_graph_memory_check(process, memory), "the high mark is lower");
    sim_graph_piece_free(process, piece, (struct sim_origin){2, 0, 0});
    sim_graph_memory_give(memory, memory->ranges->start);
    tap_u64(take(64), start, "now they are");
    sim_graph_memory_give(memory, start);
    sim_pool_trim(process, memory->pool, 0);
}

/* Idle chunks move to addresses that need them, pinned ones stay. */
static void test_moves(void)
{
    uint64_t asked = 0;
    uint64_t first = take(2 * POOL_CHUNK), second = take(2 * POOL_CHUNK), lacks = 0, left = 0;
    struct sim_graph_pin *one = back(first, 2 * POOL_CHUNK), *half = back(second, POOL_CHUNK);
    tap_u64(reserved(), 3 * POOL_CHUNK, "two launches have separate memory");
    sim_graph_pin_end(memory, one);
    struct sim_graph_pin *whole = back(second, 2 * POOL_CHUNK);
    tap_u64(reserved(), 3 * POOL_CHUNK, "an idle chunk moved");
    struct sim_piece *piece = sim_graph_piece_new(process, memory, second, 64, &place, (struct sim_origin){3, 0, 0});
    struct sim_graph_pin *freed = sim_graph_piece_pend(process, piece, (struct sim_origin){4, 0, 0});
    half->held = false;
    sim_graph_pins_settle(memory, always, &asked);
    tap_u64(asked, 2, "pins that are held are not asked about");
    tap_ok(memory->pins == whole && freed && !whole->next, "the one that is held is left");
    check_holds(process_check(process), "after that");
    tap_ok(!sim_graph_memory_back(process, memory, first, memory->pool->memory.size - POOL_CHUNK, &lacks, &left) && lacks > left,
           "more than the device has");
    check_holds(process_check(process), "nothing has changed");
    sim_graph_pin_end(memory, whole);
    sim_pool_trim(process, memory->pool, 0);
    tap_u64(reserved(), 0, "a trim takes it all");
    sim_graph_memory_give(memory, first);
    sim_graph_memory_give(memory, second);
}

int main(void)
{
    vmm_context context;
    if (vmm_open("sim:h100", &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS ||
        vmm_device_primary_ctx_retain(sys, &context, 0) != VMM_SUCCESS || vmm_ctx_set_current(sys, context) != VMM_SUCCESS)
        tap_bail("sim:h100 does not open");
    process = (struct sim_process *)sys->top;
    sim_machine_lock(process->machine);
    memory = sim_graph_memory_of(process, 0);
    sim_machine_unlock(process->machine);
    vmm_deviceptr other = 0; /* of a pool after the graphs' addresses */
    if (vmm_mem_alloc_async(sys, &other, 4096, NULL) != VMM_SUCCESS)
        tap_bail("no memory");
    sim_machine_lock(process->machine);
    tap_ok(memory && other > memory->pool->start, "a pool is after the memory of graphs");
    tap_ok(memory && sim_graph_memory_of(process, 0) == memory, "made once");
    test_addresses();
    test_growth();
    test_left();
    test_moves();
    take(1); /* the process ends with a range and a pin */
    back(memory->ranges->start, POOL_CHUNK);
    sim_machine_unlock(process->machine);
    vmm_close(sys);
    return tap_done();
}
