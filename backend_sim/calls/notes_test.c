/* SPDX-License-Identifier: Apache-2.0 */
/* The notes of refusals for rules with several forms; the rule book's examples show only one of each. */
#include <sys/resource.h>

#include "process.h"
#include "system.h"
#include "report_rig.h" /* last, because its short names are types in the table of calls */

/* Reservations that are too long, too long above their hint, or too strictly aligned. */
static void no_addresses(void)
{
    vmm_deviceptr at = 0;
    begin("sim:h100,arena=none");
    const struct sim_profile *profile = &((struct sim_process *)sys->top)->machine->profile;
    const uint64_t all = profile->va_end - profile->va_start, hint = profile->va_hint_max - G;
    reported(vmm_mem_address_reserve(sys, &at, all + G, 0, 0, 0), "VMM-RESERVE-SPACE", "size", all + G, all, "");
    char note[120];
    snprintf(note, sizeof note, "the address must be at or above the hint, where no contiguous range of %llu bytes is free",
             (unsigned long long)all);
    reported(vmm_mem_address_reserve(sys, &at, all, 0, hint, 0), "VMM-RESERVE-SPACE", "addr", hint, profile->va_end, note);
    const uint64_t alignment = 2 * profile->va_alignment_max;
    reported(vmm_mem_address_reserve(sys, &at, G, alignment, 0, 0), "VMM-RESERVE-SPACE", "alignment", alignment,
             profile->va_alignment_max, "this machine does not support a larger alignment");
    tap_u64(at, 0, "the refused calls write no address");
    need(vmm_mem_address_reserve(sys, &at, G, profile->va_alignment_max, 0, 0));
    tap_u64(at % profile->va_alignment_max, 0, "the largest alignment succeeds");
    end();
}

/* [R: a granule][the rest of the mapping] and allocations, which get other addresses */
static void allocations_beside_a_long_mapping(void)
{
    enum { ALL = 8 };
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0}};
    vmm_context context;
    vmm_deviceptr at = 0, allocation = 0;
    handle_t handle;
    unsigned inside = 0;
    begin("sim:h100");
    need(vmm_device_primary_ctx_retain(sys, &context, 0));
    need(vmm_ctx_set_current(sys, context));
    need(vmm_mem_alloc(sys, &allocation, G));
    need(vmm_mem_address_reserve(sys, &at, G, 0, allocation, 0));
    need(vmm_mem_create(sys, &handle, 64 * G, &prop, 0));
    need(vmm_mem_map(sys, at, 64 * G, 0, handle, 0));
    for (int i = 0; i < ALL; i++) {
        need(vmm_mem_alloc(sys, &allocation, 4 * G));
        inside += allocation + 4 * G > at && allocation < at + 64 * G;
    }
    tap_u64(inside, 0, "no allocation overlaps a mapping that runs past its reservation");
    end();
}

/* [host memory][device memory] */
static void partly_granted(void)
{
    vmm_deviceptr at = 0;
    begin("sim:h100");
    need(vmm_mem_address_reserve(sys, &at, 2 * G, 0, 0, 0));
    need(vmm_mem_map(sys, at, G, 0, created(HOST), 0));
    need(vmm_mem_map(sys, at + G, G, 0, created(DEVICE), 0));
    vmm_mem_access_desc descs[] = {{{DEVICE, 0}, RW}, {{HOST, 0}, RW}};
    reported(vmm_mem_set_access(sys, at, 2 * G, descs, 2), "VMM-ACCESS-HOST-ON-DEVICE", "desc.location.type", HOST, 0,
         "descriptor 1 is refused; the 3 earlier grants, counted from the start of the range, remain");
    tap_ok(nearest_is(VMM_OBJECT_MAPPING, 2), "the nearest object is the second mapping");
    descs[1].flags = 2;
    reported(vmm_mem_set_access(sys, at, G, descs, 2), "VMM-ACCESS-FLAGS", "desc.flags", 2, 0, "descriptor 1 of the call");
    descs[1].flags = RW;
    uint64_t flags = VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    need(vmm_mem_get_access(sys, &flags, &descs[0].location, at + G));
    tap_u64(flags, RW, "the device's grant on the second mapping remains");
    reported(vmm_mem_set_access(sys, at + G, G, &descs[1], 1), "VMM-ACCESS-HOST-ON-DEVICE", "desc.location.type", HOST, 0, "");
    descs[0].flags = VMM_MEM_ACCESS_FLAGS_PROT_NONE;
    reported(vmm_mem_set_access(sys, at + G, G, descs, 2), "VMM-ACCESS-HOST-ON-DEVICE", "desc.location.type", HOST, 0,
         "descriptor 1 is refused; the 1 earlier grant, counted from the start of the range, remains");
    end();
}

/* As measured, a range that starts at the last address actually starts at 0, and ends one byte before ptr + size. */
static void unmapped_from_the_last_address(void)
{
    vmm_deviceptr at = 0;
    handle_t handle = 0;
    begin("sim:h100");
    need(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    need(vmm_mem_map(sys, at, G, 0, created(DEVICE), 0));
    need(vmm_mem_unmap(sys, UINT64_MAX, at + 1));
    tap_result(vmm_mem_retain_allocation_handle(sys, &handle, at), VMM_SUCCESS, "up to a mapping: it stays");
    need(vmm_mem_unmap(sys, UINT64_MAX, at + G + 1));
    tap_ok(vmm_mem_retain_allocation_handle(sys, &handle, at) != VMM_SUCCESS, "up to its end: it is unmapped");
    end();
}

static void handles(void)
{
    vmm_deviceptr at = 0;
    begin("sim:h100");
    need(vmm_mem_address_reserve(sys, &at, 2 * G, 0, 0, 0));
    handle_t handle = created(DEVICE);
    need(vmm_mem_map(sys, at, G, 0, handle, 0));
    need(vmm_mem_map(sys, at + G, G, 0, handle, 0));
    need(vmm_mem_release(sys, handle));
    reported(vmm_mem_release(sys, handle), "VMM-RELEASE-HANDLE-STALE", "handle", handle, 0,
         "all references are released; 2 mappings still hold the memory");
    need(vmm_mem_unmap(sys, at, G));
    reported(vmm_mem_release(sys, handle), "VMM-RELEASE-HANDLE-STALE", "handle", handle, 0,
         "all references are released; 1 mapping still holds the memory");
    need(vmm_mem_unmap(sys, at + G, G));
    reported(vmm_mem_release(sys, handle), "VMM-RELEASE-HANDLE-STALE", "handle", handle, 0, "");
    tap_ok(nearest_is(VMM_OBJECT_HANDLE, 1), "the nearest object is the handle");
    end();
}

/* A mapping past the end of its reservation: only addresses inside the reservation find its handle. */
static void past_a_reservation(void)
{
    vmm_deviceptr at = 0;
    handle_t found = 0, handle = 0;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0}};
    begin("sim:h100");
    need(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    need(vmm_mem_create(sys, &handle, 2 * G, &prop, 0));
    need(vmm_mem_map(sys, at, 2 * G, 0, handle, 0));
    reported(vmm_mem_retain_allocation_handle(sys, &found, at + G), "VMM-RETAIN-NOT-MAPPED", "addr", at + G, 0,
         "the mapping runs past its reservation here, and no reservation covers this address");
    tap_ok(nearest_is(VMM_OBJECT_MAPPING, 1) && !found, "the nearest object is the mapping");
    reported(vmm_mem_retain_allocation_handle(sys, &found, at + 2 * G), "VMM-RETAIN-NOT-MAPPED", "addr", at + 2 * G, 0, "");
    need(vmm_mem_retain_allocation_handle(sys, &found, at + G - 1));
    tap_u64(found, handle, "the last byte of the reservation finds the handle");
    end();
}

static void contexts(void)
{
    vmm_context primary = NULL;
    begin("sim:h100");
    need(vmm_device_primary_ctx_retain(sys, &primary, 0));
    reported(vmm_ctx_destroy(sys, primary), "VMM-CTX-UNKNOWN", "ctx", (uint64_t)(uintptr_t)primary, 0,
         "a primary context ends with cuDevicePrimaryCtxRelease");
    tap_ok(nearest_is(VMM_OBJECT_CONTEXT, 2), "the nearest object is the context");
    end();
}

static void lists(void)
{
    vmm_deviceptr at = 0;
    uint64_t first = 0;
    unsigned second = 7;
    vmm_pointer_attribute attributes[] = {VMM_POINTER_ATTRIBUTE_BUFFER_ID, (vmm_pointer_attribute)999};
    void *data[] = {&first, &second};
    begin("sim:h100");
    need(vmm_mem_alloc(sys, &at, G));
    reported(vmm_pointer_get_attributes(sys, 2, attributes, data, at), "VMM-POINTER-ATTRIBUTE", "attributes", 999, 0,
         "element 1 of the list is refused; the elements before it have been written");
    tap_ok(first != 0 && second == 7, "the first element is written, the second is not");
    end();
}

static void tile_pools(void)
{
    handle_t handle = 0;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0},
                                          .alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL};
    uint64_t left = 0, total = 0;
    char note[80];
    begin("sim:h100");
    need(vmm_mem_get_info(sys, &left, &total));
    const uint64_t size = (total / G + 1) * G, limit = UINT64_C(1) << 45;
    snprintf(note, sizeof note, "a tile pool of %llu bytes exceeds the free memory", (unsigned long long)size);
    reported(vmm_mem_create(sys, &handle, size, &prop, 0), "VMM-CREATE-TILE-POOL", "prop.allocFlags.usage",
             VMM_MEM_CREATE_USAGE_TILE_POOL, left, note);
    tap_ok(nearest_is(VMM_OBJECT_DEVICE, 0), "the nearest object is the device");
    reported(vmm_mem_create(sys, &handle, limit - G, &prop, 0), "VMM-CREATE-TILE-POOL", "prop.allocFlags.usage",
             VMM_MEM_CREATE_USAGE_TILE_POOL, left, "a tile pool of 35184369991680 bytes exceeds the free memory");
    reported(vmm_mem_create(sys, &handle, limit, &prop, 0), "VMM-CREATE-MEMORY", "size", limit, left, "");
    tap_ok(nearest_is(VMM_OBJECT_DEVICE, 0), "the nearest object is the device");
    vmm_mem_allocation_prop host = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}};
    const struct sim_machine *machine = ((struct sim_process *)sys->top)->machine;
    reported(vmm_mem_create(sys, &handle, limit, &host, 0), "VMM-CREATE-MEMORY", "size", limit, machine->profile.host_memory, "");
    tap_ok(nearest_is(VMM_OBJECT_NONE, 0) && !handle, "a refusal of host memory names no device");
    end();
}

/* The notes distinguish a lack of descriptors from a lack of file space. */
static void files(void)
{
    struct rlimit most, few;
    vmm_deviceptr at = 0;
    int file = 7;
    begin("sim:h100");
    need(vmm_mem_alloc(sys, &at, G));
    getrlimit(RLIMIT_NOFILE, &most);
    few = (struct rlimit){0, most.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    vmm_result result = vmm_mem_get_handle_for_address_range(sys, &file, at, G, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    setrlimit(RLIMIT_NOFILE, &most);
    reported(result, "VMM-DMABUF-FILE", "", 0, 0, "the process has no descriptor left for another file");
    tap_u64((uint64_t)(int64_t)file, UINT64_MAX, "the refused call writes -1");
    getrlimit(RLIMIT_FSIZE, &most);
    few = (struct rlimit){G - 1, most.rlim_max};
    setrlimit(RLIMIT_FSIZE, &few);
    result = vmm_mem_get_handle_for_address_range(sys, &file, at, G, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    setrlimit(RLIMIT_FSIZE, &most);
    reported(result, "VMM-DMABUF-FILE", "", 0, 0, "the system allows no file of 0x200000 bytes");
    end();
}

int main(void)
{
    no_addresses();
    allocations_beside_a_long_mapping();
    partly_granted();
    unmapped_from_the_last_address();
    handles();
    past_a_reservation();
    contexts();
    lists();
    tile_pools();
    files();
    return tap_done();
}
