/* SPDX-License-Identifier: Apache-2.0 */
/* fault: what lies before and after an address, of mappings and allocations in every order. */
#include "fault.h"

#include "system.h"
#include "tap.h"

#define G (UINT64_C(2) << 20)

static vmm_system *sys;

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("set-up: %s", vmm_result_name(result));
}

/* A mapping of one granule at the start of a reservation, at that address or near it. Large ones lie below all small ones. */
static vmm_deviceptr mapping_at(vmm_deviceptr hint, uint64_t size)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr at = 0;
    need(vmm_mem_address_reserve(sys, &at, size, 0, hint, 0));
    need(vmm_mem_create(sys, &handle, G, &prop, 0));
    need(vmm_mem_map(sys, at, G, 0, handle, 0));
    need(vmm_mem_release(sys, handle));
    return at;
}

/* Before and after the address lie things of that kind and start; kind NONE: nothing. */
static bool lie(vmm_deviceptr address, vmm_object_kind before, vmm_deviceptr low, vmm_object_kind after, vmm_deviceptr high)
{
    struct sim_process *process = (struct sim_process *)sys->top;
    vmm_fault fault = {.address = address};
    sim_machine_lock(process->machine);
    sim_fault_surroundings(process, &fault);
    sim_machine_unlock(process->machine);
    bool right = fault.before.kind == before && fault.before.start == low && fault.after.kind == after && fault.after.start == high;
    if (!right)
        tap_note("0x%llx: kind %d at 0x%llx, kind %d at 0x%llx", (unsigned long long)address, (int)fault.before.kind,
                 (unsigned long long)fault.before.start, (int)fault.after.kind, (unsigned long long)fault.after.start);
    return right;
}

int main(void)
{
    const vmm_object_kind NONE = VMM_OBJECT_NONE, MAPPING = VMM_OBJECT_MAPPING, ALLOCATION = VMM_OBJECT_ALLOCATION;
    vmm_context context;
    vmm_deviceptr memory = 0;
    need(vmm_open("sim:h100", &sys));
    need(vmm_init(sys, 0));
    need(vmm_ctx_create(sys, &context, 0, 0));
    tap_ok(lie(G, NONE, 0, NONE, 0), "nothing is near in a process without memory");
    need(vmm_mem_alloc(sys, &memory, G));
    tap_ok(lie(memory - 1, NONE, 0, ALLOCATION, memory) && lie(memory + 1, NONE, 0, NONE, 0) && lie(memory + G, ALLOCATION, memory, NONE, 0),
           "a single allocation, before and after it");
    const vmm_deviceptr high = mapping_at(memory + 100 * G, G), higher = mapping_at(high + 100 * G, G);
    const vmm_deviceptr low = mapping_at(0, 64 * G);
    if (!(low + G < memory && memory + G < high && high + G < higher)) { /* under a sanitizer */
        tap_skip("other memory of the process lies between", "mappings on both sides of an allocation");
    } else {
        tap_ok(lie(low - 1, NONE, 0, MAPPING, low), "of a mapping followed by an allocation, the mapping is reported");
        tap_ok(lie(memory - 1, MAPPING, low, ALLOCATION, memory), "the allocation is nearer than the mapping after it");
        tap_ok(lie(memory + 1, MAPPING, low, MAPPING, high), "inside the allocation its neighbours are mappings");
        tap_ok(lie(memory + G, ALLOCATION, memory, MAPPING, high), "after it, it is nearer than the mapping before it");
        tap_ok(lie(high + G, MAPPING, high, MAPPING, higher), "between two mappings");
        tap_ok(lie(higher + G, MAPPING, higher, NONE, 0) && lie(UINT64_MAX, MAPPING, higher, NONE, 0), "behind the last");
    }
    vmm_set_report(sys, NULL, NULL);
    vmm_close(sys);
    return tap_done();
}
