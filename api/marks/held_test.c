/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

#include "tap.h"
#include "vmm.h"

static const uint64_t size = 2 << 20;

static vmm_mem_generic_allocation_handle create(vmm_system *sys)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    if (vmm_mem_create(sys, &handle, size, &prop, 0) != VMM_SUCCESS)
        tap_bail("no memory");
    return handle;
}

struct seen {
    unsigned count;
    uint64_t value;
};

static void see(void *user, const vmm_detail *detail)
{
    struct seen *seen = user;
    seen->count++;
    seen->value = detail->nearest.value;
}

int main(void)
{
    vmm_system *sys;
    struct seen seen = {0};
    tap_u64(held_calls(NULL), 0, "no system has made no call");
    if (vmm_open("sim:h100", &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("no machine");
    create(sys);
    uint64_t before = held_calls(sys);
    vmm_mem_generic_allocation_handle kept = create(sys), freed = create(sys);
    vmm_mem_release(sys, freed);
    uint64_t after = held_calls(sys);
    create(sys);
    tap_ok(before > 0 && after == before + 3, "calls are counted");
    tap_u64(held_report(sys, before, after, see, &seen), 1, "the objects that these calls made and did not release");
    tap_ok(seen.count == 1 && seen.value == kept, "is reported");
    tap_u64(held_report(sys, 0, before, see, &seen), 1, "earlier calls");
    tap_u64(held_report(sys, after, held_calls(sys), see, &seen), 1, "later ones");
    tap_u64(held_report(sys, after, after, see, &seen), 0, "none");
    tap_u64(seen.count, 3, "each is reported once");
    vmm_close(sys);
    return tap_done();
}
