/* SPDX-License-Identifier: Apache-2.0 */
/* machine: the holder of its lock, in a program with one thread and with more. */
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

/* Can another thread have it? */
static bool others_may(void)
{
    pthread_t thread;
    bool got = false;
    if (pthread_create(&thread, NULL, try, &got) == 0)
        pthread_join(thread, NULL);
    return got;
}

/*  one thread      hold      a note            unlock      the note is gone; the lock was never taken
 *  a call waits    hold      the lock          unlock      as with two threads                          */
static void test_alone(void)
{
    if (!VMM_SINGLE_THREAD) {
        tap_skip("the C library does not say that there is one thread", "a machine held by a note");
        return;
    }
    sim_machine_hold(machine, VMM_CALL_mem_map);
    tap_ok(machine->alone && !sim_machine_try(machine), "held by a note, and a signal's handler keeps out");
    sim_machine_unlock(machine);
    tap_ok(!machine->alone && sim_machine_try(machine), "given back the note is gone");
    sim_machine_unlock(machine);
    sim_machine_hold(machine, VMM_CALL_launch);
    tap_ok(!machine->alone && !sim_machine_try(machine), "a call that may run what others wrote takes the lock");
    sim_machine_unlock(machine);
}

static void test_with_others(void)
{
    tap_ok(others_may(), "free, another thread may have it");
    sim_machine_hold(machine, VMM_CALL_mem_map);
    tap_ok(!VMM_SINGLE_THREAD && !machine->alone && !others_may(), "held in a program with threads, no other one may");
    sim_machine_unlock(machine);
    tap_ok(others_may(), "given back, others may");
    sim_machine_lock(machine);
    tap_ok(!others_may(), "the lock keeps them out, too");
    sim_machine_unlock(machine);
}

static uint64_t free_at(vmm_mem_location_type type, int id)
{
    return sim_machine_free_bytes(machine, (vmm_mem_location){type, id});
}

/* What blocks take of a device, of what it can compress and of the host, while somebody holds them. */
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
           "all of it is free at first");
    tap_ok(free_at(device, 0) == memory - 4 * g && free_at(host, 0) == nodes - 5 * g &&
               sim_machine_compressed(machine, 0) == 3 * g,
           "then what was taken is not");
    tap_ok(plain->id == 1 && compressed->id == 2 && hosts->id == 3 && plain->holders == 1, "each has a number and one holder");
    sim_block_hold(compressed);
    sim_block_drop(machine, compressed);
    tap_ok(free_at(device, 0) == memory - 4 * g && compressed->holders == 1, "who drops one of two holds gives nothing back");
    sim_block_drop(machine, compressed);
    tap_ok(free_at(device, 0) == memory - g && !sim_machine_compressed(machine, 0) && free_at(host, 0) == nodes - 5 * g,
           "the last one does, where it was taken");
    sim_block_drop(machine, hosts);
    sim_block_drop(machine, plain);
    tap_ok(free_at(device, 0) == memory && free_at(host, 0) == nodes, "and all is free again");
    tap_ok(sim_machine_room(machine, (vmm_mem_location){device, 0}, UINT64_MAX) == memory, "which is the room that there is");
}

/* The room of blocks that ended is kept for others, but not of all. */
static void test_spares(void)
{
    enum { BLOCKS = 100, KEPT = 64 };
    struct sim_block *blocks[BLOCKS];
    const vmm_mem_allocation_prop prop = {.location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    unsigned kept = 0, wrong = 0;
    for (int i = 0; i < BLOCKS; i++)
        if (!(blocks[i] = sim_block_new(machine, 4096, &prop)))
            tap_bail("no blocks");
    tap_u64(machine->spares, 0, "none is kept while all are used");
    for (int i = 0; i < BLOCKS; i++) {
        sim_block_drop(machine, blocks[i]);
        wrong += machine->spares != (i < KEPT ? (unsigned)i + 1 : KEPT);
    }
    for (const struct sim_block *spare = machine->spare; spare; spare = spare->next_shared)
        kept++;
#ifdef POOL_PLAIN
    tap_ok(!kept && !machine->spares && wrong == BLOCKS, "each is given back");
#else
    tap_ok(kept == KEPT && !wrong, "of those that end some are kept");
    struct sim_block *again = sim_block_new(machine, 4096, &prop);
    tap_ok(again == blocks[KEPT - 1] && machine->spares == KEPT - 1, "and the last is the next to be used");
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
