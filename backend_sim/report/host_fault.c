/* SPDX-License-Identifier: Apache-2.0 */
#include "host_fault.h"

#include <stdatomic.h>
#include <stdio.h>

#include "detail.h"
#include "fault.h"
#include "objects.h"
#include "os.h"
#include "rights.h"

/* A signal handler receives no argument of ours, so the watched processes are global. The handler only tries both locks,
 * because it may have interrupted the thread that holds them. */
static atomic_flag reporting = ATOMIC_FLAG_INIT; /* a thread is using the text buffer */

static void in_child(struct life_lock *of_faults, bool whole)
{
    (void)of_faults, (void)whole;
    atomic_flag_clear(&reporting);
}

LIFE_LOCK(lock, LIFE_FAULTS, in_child)
static struct sim_process *watched;

/* The reason for the fault. A multicast object has no location and counts as device memory. */
static const char *why(unsigned rights, bool mapped, bool allocated, const vmm_object *nearest)
{
    if (allocated || (mapped && nearest->location.type != VMM_MEM_LOCATION_TYPE_HOST_NUMA))
        return "device memory, which the host cannot access";
    if (!mapped)
        return "nothing is mapped there";
    if (rights == VMM_MEM_ACCESS_FLAGS_PROT_READ)
        return "the host has only read access there";
    return rights ? "these host addresses were not free, so the memory could not be mapped there"
                  : "the host has no rights there";
}

static void describe(const struct sim_process *process, uint64_t address, enum os_touch touch)
{
    static const char *const did[] = {"host access", "host read", "host write"};
    const struct sim_mapping *mapping = sim_mapping_at(process, address);
    vmm_object nearest = sim_object_nearest(process, address);
    vmm_fault fault = {.device = -1, .address = address, .size = 1, .mapped = mapping != NULL};
    fault.rights = mapping ? sim_access_of(mapping->access, SIM_HOST_SLOT) : 0;
    fault.writes = touch == OS_TOUCH_WRITE;
    sim_fault_surroundings(process, &fault);
    vmm_detail *detail = vmm_detail_here();
    vmm_detail_refuse(VMM_RULE_HOST_ACCESS, address, 0, &nearest);
    detail->function = did[touch];
    detail->call = 0;
    vmm_detail_note("at 0x%llx: %s", (unsigned long long)address,
                    why(fault.rights, mapping != NULL, sim_allocation_at(process, address) != NULL, &nearest));
    vmm_detail_fault(&fault);
}

static struct sim_process *owner(uint64_t address)
{
    struct sim_process *process = watched;
    while (process && !host_window_holds(&process->window, address, 1))
        process = process->watched_next;
    return process;
}

/* Reports the fault at address, if the address is a watched process's. Runs in a signal handler, so it must not wait. */
static void explain(uint64_t address, enum os_touch touch)
{
    static const char busy[] = "cuvmm: the host accessed a device address without the right to it [VMM-HOST-ACCESS]\n";
    static char text[2048]; /* static, because signal stacks are small */
    if (!life_try_acquire(&lock)) {
        os_print(busy, sizeof busy - 1);
        return;
    }
    struct sim_process *process = owner(address);
    bool reported = process && sim_machine_try(process->machine);
    if (reported) {
        describe(process, address, touch);
        sim_machine_unlock(process->machine);
    }
    life_release(&lock);
    if (reported && !atomic_flag_test_and_set(&reporting)) { /* LCOV_EXCL_BR_LINE: another thread reports one just now */
        size_t length = vmm_detail_text(vmm_detail_here(), text, sizeof text);
        os_print(text, length < sizeof text ? length : sizeof text - 1);
        atomic_flag_clear(&reporting);
    } else if (process) {
        os_print(busy, sizeof busy - 1);
    }
}

void host_fault_watch(struct sim_process *process)
{
    life_acquire(&lock);
    bool first = !watched;
    process->watched_next = watched;
    watched = process;
    if (first)
        os_watch_faults(explain);
    life_release(&lock);
}

void host_fault_forget(struct sim_process *process)
{
    life_acquire(&lock);
    struct sim_process **at = &watched;
    while (*at && *at != process)
        at = &(*at)->watched_next;
    bool found = *at != NULL;
    if (found)
        *at = process->watched_next;
    if (found && !watched)
        os_unwatch_faults();
    life_release(&lock);
}
