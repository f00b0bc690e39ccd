/* SPDX-License-Identifier: Apache-2.0 */
/* machine: the thread that holds its lock, in single-threaded and multi-threaded programs. */
#include "machine.h"

#include "pool.h"
#include "profile.h"
#include "sim_open.h"
#include "tap.h"

static struct sim_machine *machine;

static void *try(void *got)
{
    *(bool *)got = sim_machine_try(machine);
    if (*(bool *)got)
        sim_machine_unlock(machine);
    return NULL;
}

/* Can another thread take the lock? */
static bool others_may(void)
{
    pthread_t thread;
    bool got = false;
    if (pthread_create(&thread, NULL, try, &got) == 0)
        pthread_join(thread, NULL);
    return got;
}

/* one thread      hold      sets alone        unlock      clears alone; the lock was never taken
 *  a call waits    hold      takes the lock    unlock      as with two threads */
static void test_alone(void)
{
    if (!VMM_SINGLE_THREAD) {
        tap_skip("the C library does not report a single thread", "a machine held without the lock");
        return;
    }
    sim_machine_hold(machine, VMM_CALL_mem_map);
    tap_ok(machine->alone && !sim_machine_try(machine),
           "a machine is held without the lock, and a signal handler cannot take it");
    sim_machine_unlock(machine);
    tap_ok(!machine->alone && sim_machine_try(machine), "unlocking clears `alone`");
    sim_machine_unlock(machine);
    sim_machine_hold(machine, VMM_CALL_launch);
    tap_ok(!machine->alone && !sim_machine_try(machine), "a call that may run the program's code takes the lock");
    sim_machine_unlock(machine);
}

static void test_with_others(void)
{
    tap_ok(others_may(), "another thread can take the free lock");
    sim_machine_hold(machine, VMM_CALL_mem_map);
    tap_ok(!VMM_SINGLE_THREAD && !machine->alone && !others_may(), "in a program with threads, a held machine excludes them");
    sim_machine_unlock(machine);
    tap_ok(others_may(), "another thread can take the lock after unlocking");
    sim_machine_lock(machine);
    tap_ok(!others_may(), "the plain lock excludes other threads, too");
    sim_machine_unlock(machine);
}

static uint64_t free_at(vmm_mem_location_type type, int id)
{
    return sim_machine_free_bytes(machine, (vmm_mem_location){type, id});
}

/* Blocks are charged to a device, to its compressible memory and to the host, while they have a holder. */
static void test_budgets(void)
{
    const vmm_mem_location_type device = VMM_MEM_LOCATION_TYPE_DEVICE, host = VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    const uint64_t g = UINT64_C(2) << 20, memory = free_at(device, 0), nodes = free_at(host, 0);
    vmm_mem_allocation_prop prop = {.location = {device, 0}};
    struct sim_block *plain = sim_block_new(machine, g, &prop);
    prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
    struct sim_block *compressed = sim_block_new(machine, 3 * g, &prop);
    prop = (vmm_mem_allocation_prop){.location = {host, 0}};
    struct sim_block *hosts = sim_block_new(machine, 5 * g, &prop);
    if (!plain || !compressed || !hosts)
        tap_bail("no blocks");
    tap_ok(memory == machine->profile.device_memory - machine->profile.device_reserved && nodes == machine->profile.host_memory,
           "all memory is free at first");
    tap_ok(free_at(device, 0) == memory - 4 * g && free_at(host, 0) == nodes - 5 * g &&
               sim_machine_compressed(machine, 0) == 3 * g,
           "allocated memory is charged to its location");
    tap_ok(plain->id == 1 && compressed->id == 2 && hosts->id == 3 && plain->holders == 1,
           "each block has a number and one holder");
    sim_block_hold(compressed);
    sim_block_drop(machine, compressed);
    tap_ok(free_at(device, 0) == memory - 4 * g && compressed->holders == 1, "dropping one of two holders frees nothing");
    sim_block_drop(machine, compressed);
    tap_ok(free_at(device, 0) == memory - g && !sim_machine_compressed(machine, 0) && free_at(host, 0) == nodes - 5 * g,
           "dropping the last holder frees the memory at its location");
    sim_block_drop(machine, hosts);
    sim_block_drop(machine, plain);
    tap_ok(free_at(device, 0) == memory && free_at(host, 0) == nodes, "all memory is free again");
    tap_ok(sim_machine_room(machine, (vmm_mem_location){device, 0}, UINT64_MAX) == memory,
           "sim_machine_room returns the free bytes");
}

/* Ended blocks are kept for reuse, up to a limit. */
static void test_spares(void)
{
    enum { BLOCKS = 100, KEPT = 64 };
    struct sim_block *blocks[BLOCKS];
    const vmm_mem_allocation_prop prop = {.location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    unsigned kept = 0, wrong = 0;
    for (int i = 0; i < BLOCKS; i++)
        if (!(blocks[i] = sim_block_new(machine, 4096, &prop)))
            tap_bail("no blocks");
    tap_u64(machine->spares, 0, "no block is kept while all are in use");
    for (int i = 0; i < BLOCKS; i++) {
        sim_block_drop(machine, blocks[i]);
        wrong += machine->spares != (i < KEPT ? (unsigned)i + 1 : KEPT);
    }
    for (const struct sim_block *spare = machine->spare; spare; spare = spare->next_shared)
        kept++;
#ifdef POOL_PLAIN
    tap_ok(!kept && !machine->spares && wrong == BLOCKS, "each ended block is freed");
#else
    tap_ok(kept == KEPT && !wrong, "a limited number of ended blocks is kept");
    struct sim_block *again = sim_block_new(machine, 4096, &prop);
    tap_ok(again == blocks[KEPT - 1] && machine->spares == KEPT - 1, "the block kept last is reused first");
    sim_block_drop(machine, again);
#endif
}

int main(void)
{
    struct sim_profile profile;
    if (!sim_profile_builtin("h100", &profile) || !(machine = sim_machine_new(&profile)))
        tap_bail("no machine");
    test_alone();
    test_with_others();
    sim_machine_lock(machine);
    test_budgets();
    test_spares();
    sim_machine_unlock(machine);
    sim_machine_free(machine);
    return tap_done();
}
