/* SPDX-License-Identifier: Apache-2.0 */
/* What a simulator takes over from another backend, and what it refuses to. */
#include "adopt.h"
#include "sim_open.h"
#include "system.h"
#include "tap.h"

#define AT (UINT64_C(1) << 41)
#define ALL 0xffu

static vmm_system *sys;
static struct vmm_backend *sim;
static const struct vmm_call by_alloc = {VMM_CALL_mem_alloc, 1}, by_free = {VMM_CALL_mem_free, 2};

static void begin(const char *machine)
{
    vmm_context context;
    if (vmm_sim_open(machine, &sim) || vmm_system_wrap(sim, &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &context, 0, 0))
        tap_bail("no machine: %s", vmm_last_detail()->note);
}

static void test_places(void)
{
    static const struct {
        uint64_t start, size;
        const char *name;
    } wrong[] = {{0, 1000, "address 0"}, {AT, 0, "no size"}, {UINT64_MAX - 255, 1000, "past the end"}, {AT + 1, 1000, "a crooked address"}};
    begin("h100");
    const uint64_t before = vmm_leaks(sys, NULL, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        tap_ok(!sim_adopt_memory(sim, &by_alloc, wrong[i].start, wrong[i].size, SIM_ADOPTED_DEVICE) && vmm_leaks(sys, NULL, NULL) == before,
               "%s: nothing is adopted", wrong[i].name);
    for (uint64_t i = 0; i < 3; i++)
        sim_adopt_memory(sim, &by_alloc, AT + 0x10000 * i, 0x10000, SIM_ADOPTED_DEVICE);
    tap_u64(vmm_leaks(sys, NULL, NULL), before + 3, "three allocations side by side");
    tap_ok(sim_adopt_memory(sim, &by_alloc, AT + 0x8000, 0x10000, SIM_ADOPTED_MANAGED), "one across the first two");
    tap_u64(vmm_leaks(sys, NULL, NULL), before + 2, "which have ended, and the third has not");
    vmm_object object = {0};
    tap_ok(sim_adopted_at(sim, AT + 0x9000, &object) == SIM_ADOPTED_MANAGED && object.start == AT + 0x8000, "it is where it is");
    tap_ok(!sim_adopted_at(sim, AT + 0x18000, NULL) && sim_adopted_at(sim, AT + 0x20000, NULL) == SIM_ADOPTED_DEVICE, "and ends where it ends");
    vmm_ctx_set_current(sys, NULL);
    struct sim_adopted_memory was;
    tap_ok(sim_adopt_memory(sim, &by_alloc, 2 * AT, 1000, SIM_ADOPTED_DEVICE) && !sim_end_memory(sim, &by_free, 2 * AT, ALL, &was) && !was.context,
           "memory of a thread without a context is of no context");
    vmm_close(sys);
}

static void test_opened(void)
{
    struct sim_adopted_memory was, other;
    begin("h100");
    const uint64_t before = vmm_leaks(sys, NULL, NULL);
    for (int i = 0; i < 2; i++)
        sim_adopt_memory(sim, &by_alloc, AT, 1000, SIM_ADOPTED_OPENED);
    tap_u64(vmm_leaks(sys, NULL, NULL), before + 1, "memory that is opened twice is one");
    tap_ok(!sim_end_memory(sim, &by_free, AT, ALL, &was) && was.opens == 2, "it is closed once");
    tap_u64(vmm_leaks(sys, NULL, NULL), before + 1, "and is still there");
    sim_keep_memory(sim, &was);
    tap_ok(!sim_end_memory(sim, &by_free, AT, ALL, &was) && was.opens == 2, "a refused close takes nothing");
    tap_ok(!sim_end_memory(sim, &by_free, AT, ALL, &was) && was.opens == 1 && !sim_adopted_at(sim, AT, NULL), "the last close ends it");
    sim_keep_memory(sim, &was);
    tap_ok(sim_adopted_at(sim, AT, NULL) == SIM_ADOPTED_OPENED, "that is undone, too");
    sim_adopt_memory(sim, &by_alloc, AT, 2000, SIM_ADOPTED_OPENED);
    tap_ok(!sim_end_memory(sim, &by_free, AT, ALL, &was) && was.size == 2000 && was.opens == 1, "another size is other memory");
    sim_adopt_memory(sim, &by_alloc, AT, 1000, SIM_ADOPTED_DEVICE);
    sim_keep_memory(sim, &was);
    tap_ok(sim_adopted_at(sim, AT, NULL) == SIM_ADOPTED_DEVICE, "newer memory there stays");
    sim_adopt_memory(sim, &by_alloc, AT, 1000, SIM_ADOPTED_OPENED);
    tap_ok(!sim_end_memory(sim, &by_free, AT, ALL, &other) && other.opens == 1, "memory of another kind is not opened once more");
    sim_keep_memory(sim, &(struct sim_adopted_memory){0});
    tap_u64(vmm_leaks(sys, NULL, NULL), before, "nothing is taken back of nothing");
    vmm_close(sys);
}

static void freed(enum vmm_call_id id, uint64_t start, const char *rule)
{
    const struct vmm_call call = {(uint16_t)id, 3};
    struct sim_adopted_memory was;
    vmm_detail_begin(&call);
    tap_ok(sim_end_memory(sim, &call, start, 0, &was) != VMM_SUCCESS && !was.kind, "%s of another kind is refused", vmm_call_name(id));
    tap_text(vmm_last_detail()->rule, rule, "%s: the rule", vmm_call_name(id));
}

static void test_refused(void)
{
    begin("h100");
    sim_adopt_memory(sim, &by_alloc, AT, 1000, SIM_ADOPTED_DEVICE);
    sim_adopt_memory(sim, &by_alloc, 2 * AT, 1000, SIM_ADOPTED_OPENED);
    freed(VMM_CALL_mem_free_async, AT, "VMM-POOL-FREE-ORDINARY");
    freed(VMM_CALL_mem_free_async, AT + 256, "VMM-POOL-FREE-UNKNOWN");
    freed(VMM_CALL_mem_free_async, 2 * AT, "VMM-POOL-FREE-UNKNOWN");
    freed(VMM_CALL_ipc_close_mem_handle, AT, "VMM-IPC-CLOSE");
    freed(VMM_CALL_mem_free, 2 * AT, "VMM-IPC-FREE");
    freed(VMM_CALL_mem_free, 2 * AT + 256, "VMM-ALLOC-FREE-UNKNOWN");
    vmm_close(sys);
}

static void test_handles(void)
{
    static const struct {
        vmm_mem_location_type type;
        int id;
        bool here;
    } places[] = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0, true},      {VMM_MEM_LOCATION_TYPE_DEVICE, -1, false},
                  {VMM_MEM_LOCATION_TYPE_DEVICE, 5, false},     {VMM_MEM_LOCATION_TYPE_DEVICE, -2, true},
                  {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0, true},   {VMM_MEM_LOCATION_TYPE_HOST_NUMA, -1, false},
                  {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 99, false}, {VMM_MEM_LOCATION_TYPE_INVALID, 0, false}};
    begin("h100");
    const uint64_t before = vmm_leaks(sys, NULL, NULL);
    uint64_t found = 0, value = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {places[i].type, places[i].id}};
        value = sim_adopt_handle(sim, &by_alloc, 0, &prop, true);
        found += value != 0;
        tap_ok((value != 0) == places[i].here, "memory at %d, %d", (int)places[i].type, places[i].id);
        if (value)
            tap_ok(sim_is_unsized(sim, value), "its size is not known yet");
    }
    tap_u64(vmm_leaks(sys, NULL, NULL), before + found, "the machine has what was adopted, and nothing else");
    tap_ok(!sim_is_unsized(sim, 0xdead0), "a value that is not a handle");
    sim_hold_handle(sim, 0xdead0);
    tap_u64(vmm_leaks(sys, NULL, NULL), before + found, "to hold it changes nothing");
    uint64_t start = 0, size = 0;
    tap_ok(!sim_forget_reservation(sim, &by_free, AT, &start, &size) && !start && !size, "nothing is dropped without a "
        "reservation");
    vmm_close(sys);
}

/* Forgets the mappings of a range. Returns whether the range, widened by mappings that it cut, is [start, end) then. */
static bool forgets(uint64_t from, uint64_t size, uint64_t start, uint64_t end)
{
    const struct vmm_call by_unmap = {VMM_CALL_mem_unmap, 4};
    sim_forget_mappings(sim, &by_unmap, &from, &size);
    return from == start && from + size == end;
}

static void test_mappings(void)
{
    const uint64_t unit = UINT64_C(2) << 20;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr at = 0;
    begin("h100");
    if (vmm_mem_address_reserve(sys, &at, 8 * unit, 0, 0, 0) || vmm_mem_create(sys, &handle, unit, &prop, 0))
        tap_bail("no memory: %s", vmm_last_detail()->note);
    const uint64_t before = vmm_leaks(sys, NULL, NULL);
    for (uint64_t i = 0; i < 4; i++)
        vmm_mem_map(sys, at + i * unit, unit, 0, handle, 0);
    tap_u64(vmm_leaks(sys, NULL, NULL), before + 4, "four mappings side by side");
    tap_ok(forgets(at + unit / 2, unit, at, at + 2 * unit), "a range that cuts two is widened to both");
    tap_u64(vmm_leaks(sys, NULL, NULL), before + 2, "these are dropped, and the others are not");
    tap_ok(forgets(at, 2 * unit, at, at + 2 * unit), "one without a mapping is unchanged");
    tap_ok(forgets(at + 3 * unit, UINT64_MAX, at + 3 * unit, UINT64_MAX), "one that wraps ends with the addresses");
    tap_u64(vmm_leaks(sys, NULL, NULL), before + 1, "and takes what it has");
    vmm_close(sys);
}

int main(void)
{
    test_places();
    test_opened();
    test_refused();
    test_handles();
    test_mappings();
    return tap_done();
}
