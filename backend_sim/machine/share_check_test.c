/* SPDX-License-Identifier: Apache-2.0 */
/* share_check: a process's published use, forged by hand; the turn of the mutex that reports it; and a machine that
 * joins late. */
#include <sys/stat.h>

#include "breaks.h"
#include "checks.h"
#include "process.h"
#include "state_rig.h"
#include "system.h"

static char reported[CHECK_ROOM];

static void keep(const char *said)
{
    snprintf(reported, sizeof reported, "%s", said);
}

static struct share *begin(vmm_system *sys, struct sim_machine **machine)
{
    *machine = ((struct sim_process *)sys->top)->machine;
    sim_machine_lock(*machine);
    if (!sim_machine_begin(*machine))
        tap_bail("no state");
    return (*machine)->share;
}

static void end(struct sim_machine *machine)
{
    sim_machine_end(machine);
    sim_machine_unlock(machine);
}

static void test_forged(vmm_system *sys)
{
    struct sim_machine *machine;
    struct share *share = begin(sys, &machine);
    struct share_use *use = &share->folder.state->slot[share->slot].use;
    check_holds(share_check(share), "a process with private memory");
    tap_u64(use->device[0], RIG_G, "which it shows");
    BREAKS(use->device[0], 0, share_check(share), "0x200000 bytes of device 0 are in use here, 0x0 in this process's slot");
    BREAKS(use->compressed[0], 5, share_check(share), "0x0 bytes of compressible memory of device 0 are in use here, 0x5 in");
    BREAKS(use->node[1], 7, share_check(share), "0x0 bytes of node 1 are in use here, 0x7 in");
    BREAKS(machine->device_used[0], 3, share_check(share), "0x3 bytes of device 0 are in use here");
    BREAKS(share->folder.party.ticket, 0, share_why(share), "the system supports no locks on its files");
    use->device[0] = 1;
    share->machine = NULL;
    check_holds(share_check(share), "a part in another machine shows nothing");
    share->machine = machine;
    use->device[0] = RIG_G;
    end(machine);
}

/* A turn of the state's mutex ends with the check. */
static void test_turn(vmm_system *sys, struct share_state *state)
{
    state->slot[0].use.node[0] = 9;
    atomic_store(&checks_on, CHECKS_OWN);
    rig_free(sys);
    tap_text(reported, "", "state that others may forge is not checked");
    atomic_store(&checks_on, CHECKS_ALL);
    rig_free(sys);
    tap_text(reported, "the state of machine \"checked\": 0x0 bytes of node 0 are in use here, 0x9 in this process's slot",
             "a turn reports it");
    state->slot[0].use.node[0] = 0;
}

/* The checks of many turns take no space for blocks that were never exported. */
static void test_space(vmm_system *sys)
{
    enum { TURNS = 20 * SHARE_CHECK_PARTS };
    struct stat before = {0}, after = {0};
    rig_free(sys);
    bool looked = stat(rig_path("checked", "state"), &before) == 0;
    for (unsigned i = 0; i < TURNS; i++)
        rig_free(sys);
    looked = looked && stat(rig_path("checked", "state"), &after) == 0;
    tap_ok(looked && after.st_blocks == before.st_blocks, "%lld blocks of the file system before %u turns, %lld after",
           (long long)before.st_blocks, (unsigned)TURNS, (long long)after.st_blocks);
}

/* A machine without a name joins at its first export, with all its earlier memory. */
static void test_late(const vmm_mem_allocation_prop *prop)
{
    vmm_mem_generic_allocation_handle handle, exported;
    struct sim_machine *machine;
    vmm_system *sys = rig_open(NULL);
    int fd = -1;
    if (vmm_mem_create(sys, &handle, 3 * RIG_G, prop, 0) != VMM_SUCCESS || rig_create(sys, RIG_G, &exported) != VMM_SUCCESS ||
        (fd = rig_export(sys, exported)) < 0)
        tap_bail("nothing is exported: %s", vmm_last_detail()->note);
    struct share *share = begin(sys, &machine);
    tap_u64(share->folder.state->slot[share->slot].use.device[0], 3 * RIG_G, "exported memory is not part of its private use");
    check_holds(share_check(share), "and it shows what it has");
    end(machine);
    tap_text(reported, "", "in each turn of the mutex, the first one as well");
    close(fd);
    rig_close(sys);
}

static void test_second_device(void)
{
    vmm_system *sys = NULL;
    struct sim_machine *machine;
    if (vmm_open("sim:h200x2,machine=two-devices", &sys) || vmm_init(sys, 0))
        tap_bail("no machine: %s", vmm_last_detail()->note);
    struct share *share = begin(sys, &machine);
    struct share_use *use = &share->folder.state->slot[share->slot].use;
    BREAKS(use->device[0], 5, share_check(share), "0x0 bytes of device 0 are in use here, 0x5 in this process's slot");
    BREAKS(use->device[1], 5, share_check(share), "0x0 bytes of device 1 are in use here, 0x5 in this process's slot");
    end(machine);
    rig_close(sys);
}

int main(void)
{
    vmm_mem_generic_allocation_handle handle;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    checks_report = keep;
    atomic_store(&checks_on, CHECKS_ALL);
    rig_begin();
    test_late(&prop);
    vmm_system *sys = rig_open("checked");
    tap_result(vmm_mem_create(sys, &handle, RIG_G, &prop, 0), VMM_SUCCESS, "private memory");
    test_space(sys);
    struct share_state *state = rig_state("checked");
    test_forged(sys);
    test_turn(sys, state);
    munmap(state, sizeof *state);
    rig_close(sys);
    test_second_device();
    rig_end();
    return tap_done();
}
