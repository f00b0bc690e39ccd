/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory runs out while the shadow processes results that break the rules: it stops checking and reports that,
 * or stops tracking one object; the program still gets the backend's results, and nothing leaks. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "range_set.h"
#include "shadow_rig.h"

static struct world now;
static uint64_t before;
static long live;
static vmm_deviceptr at;

static void opens(void)
{
    live = atomic_load(&inject_live);
    now = opened("", "h100");
    before = vmm_leaks(now.sys, NULL, NULL);
    at = 0;
}

static bool closes(void)
{
    vmm_close(now.sys);
    return atomic_load(&inject_live) == live;
}

static bool rule_is(const char *rule)
{
    const char *found = vmm_last_detail()->rule;
    return found && strcmp(found, rule) == 0;
}

static bool is_lost(void)
{
    unsigned seen = 0;
    return rule_is("VMM-SHADOW-LOST") && vmm_visit(now.sys, count, &seen) == VMM_ERROR_NOT_SUPPORTED && !vmm_leaks(now.sys, NULL, NULL);
}

static bool is_told(void)
{
    return rule_is("VMM-SHADOW-LOST") ? is_lost() : rule_is("VMM-SHADOW-OPAQUE") && vmm_leaks(now.sys, NULL, NULL) <= before + 1;
}

/* ---- ranges and handles ---- */

static bool map_over(void)
{
    answer(&now, VMM_CALL_mem_map, VMM_SUCCESS);
    return vmm_mem_map(now.sys, now.at, 2 * G, 0, now.handle, 0) == VMM_SUCCESS && rule_is("VMM-SHADOW-OPAQUE");
}

static bool map_unknown(void)
{
    answer(&now, VMM_CALL_mem_map, VMM_SUCCESS);
    return vmm_mem_map(now.sys, now.at + 2 * G, 2 * G, 0, 0x4444, 0) == VMM_SUCCESS && rule_is("VMM-SHADOW-OPAQUE");
}

static bool unmap_half(void)
{
    answer(&now, VMM_CALL_mem_unmap, VMM_SUCCESS);
    return vmm_mem_unmap(now.sys, now.at, G) == VMM_SUCCESS && rule_is("VMM-SHADOW-OPAQUE");
}

static bool unmap_other_half(void)
{
    answer(&now, VMM_CALL_mem_unmap, VMM_SUCCESS);
    return vmm_mem_unmap(now.sys, now.at + G, G) == VMM_SUCCESS && rule_is("VMM-SHADOW-OPAQUE");
}

static bool reserve_odd(void)
{
    answer_with(&now, VMM_CALL_mem_address_reserve, UINT64_C(1) << 40, sizeof at);
    return vmm_mem_address_reserve(now.sys, &at, 4 * G, 3, 0, 0) == VMM_SUCCESS && rule_is("VMM-SHADOW-OPAQUE");
}

static void test_ranges(void)
{
    inject_try(&(struct inject_case){"a mapping over another", .least = 1, .begin = opens, .call = map_over, .reported = is_lost, .end = closes});
    inject_try(&(struct inject_case){"a mapping of the unknown", .least = 1, .begin = opens, .call = map_unknown, .reported = is_lost, .end = closes});
    inject_try(&(struct inject_case){"the first half unmapped", .least = 1, .begin = opens, .call = unmap_half, .reported = is_lost, .end = closes});
    inject_try(&(struct inject_case){"the second half unmapped", .least = 1, .begin = opens, .call = unmap_other_half, .reported = is_lost, .end = closes});
    inject_try(&(struct inject_case){"a reservation", .least = 1, .begin = opens, .call = reserve_odd, .reported = is_lost, .end = closes});
}

/* Objects whose counterparts the shadow creates; `done` means a call without a report. */
static bool create(void)
{
    const vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    handle_t handle = 0;
    answer_next(&now, VMM_CALL_mem_create, 0x1234, sizeof handle, VMM_CALL_mem_get_allocation_properties_from_handle, &prop);
    return vmm_mem_create(now.sys, &handle, G, &prop, 0) == VMM_SUCCESS && !vmm_last_detail()->rule &&
           vmm_leaks(now.sys, NULL, NULL) == before + 1;
}

static bool create_odd(void)
{
    const vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    handle_t handle = 0;
    answer_next(&now, VMM_CALL_mem_create, 0x1234, sizeof handle, VMM_CALL_mem_get_allocation_properties_from_handle, &prop);
    vmm_mem_create(now.sys, &handle, G, &prop, 1);
    return rule_is("VMM-SHADOW-OPAQUE") && vmm_leaks(now.sys, NULL, NULL) == before + 1;
}

/* The capacity of the table of pairs before it grows. */
static void opens_full(void)
{
    opens();
    for (uint64_t i = 0; i < 30; i++) {
        answer_with(&now, VMM_CALL_mem_retain_allocation_handle, 0x7000 + i, sizeof(handle_t));
        handle_t handle;
        if (vmm_mem_retain_allocation_handle(now.sys, &handle, now.at) != VMM_SUCCESS)
            tap_bail("no handle");
    }
    before = vmm_leaks(now.sys, NULL, NULL);
}

static bool retain(void)
{
    handle_t handle = 0;
    answer_with(&now, VMM_CALL_mem_retain_allocation_handle, 0x1234, sizeof handle);
    return vmm_mem_retain_allocation_handle(now.sys, &handle, now.at) == VMM_SUCCESS && !vmm_last_detail()->rule;
}

static bool retain_many(void)
{
    for (int i = 0; i < 4; i++) {
        handle_t handle = 0;
        answer_with(&now, VMM_CALL_mem_retain_allocation_handle, 0x1234 + (uint64_t)i, sizeof handle);
        if (vmm_mem_retain_allocation_handle(now.sys, &handle, now.at) || vmm_last_detail()->rule)
            return false;
    }
    return true;
}

static bool create_many(void)
{
    const vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    for (unsigned i = 0; i < 4; i++) {
        handle_t handle = 0;
        answer_next(&now, VMM_CALL_mem_create, 0x1234 + i, sizeof handle, VMM_CALL_mem_get_allocation_properties_from_handle, &prop);
        if (vmm_mem_create(now.sys, &handle, G, &prop, 0) || vmm_last_detail()->rule)
            return false;
    }
    return true;
}

static bool many_told(void)
{
    return rule_is("VMM-SHADOW-LOST") ? is_lost() : rule_is("VMM-SHADOW-OPAQUE") && vmm_leaks(now.sys, NULL, NULL) <= before + 4;
}

static void test_handles(void)
{
    inject_try(&(struct inject_case){"memory", .least = 1, .begin = opens, .call = create, .reported = is_told, .end = closes});
    inject_try(&(struct inject_case){"memory against the rules", .least = 1, .begin = opens, .call = create_odd, .reported = is_told, .end = closes});
    inject_try(&(struct inject_case){"memory, and pairs that grow", .least = 1, .begin = opens_full, .call = create_many, .reported = many_told, .end = closes});
    inject_try(&(struct inject_case){"a handle", .begin = opens, .call = retain, .reported = is_told, .end = closes});
    inject_try(&(struct inject_case){"handles, and pairs that grow", .least = 1, .begin = opens_full, .call = retain_many, .reported = is_told, .end = closes});
}

/* Ordinary memory that cannot be recorded is not tracked, and freeing it causes no report. */
static bool allocate(void)
{
    answer_with(&now, VMM_CALL_mem_alloc, UINT64_C(1) << 41, sizeof at);
    vmm_mem_alloc(now.sys, &at, 1000);
    return vmm_leaks(now.sys, NULL, NULL) == before + 1;
}

static bool freed_silently(void)
{
    answer(&now, VMM_CALL_mem_free, VMM_SUCCESS);
    return vmm_leaks(now.sys, NULL, NULL) == before && vmm_mem_free(now.sys, at) == VMM_SUCCESS && !vmm_last_detail()->rule;
}

static void test_memory(void)
{
    inject_try(&(struct inject_case){"ordinary memory", .least = 2, .begin = opens, .call = allocate, .reported = freed_silently, .end = closes});
}

/* The set of ranges is unchanged. */
static void test_set(void)
{
    struct range_set set = {0};
    inject_arm_at("malloc", 1);
    tap_ok(!range_set_add(&set, 0, 1) && set.count == 0, "no room for a first range");
    tap_text(inject_disarm(), "malloc", "for want of memory");
    for (uint64_t i = 0; i < 16; i++)
        if (!range_set_add(&set, 8 * i, 8 * i + 6))
            tap_bail("no memory");
    inject_arm_at("realloc", 1);
    tap_ok(!range_set_add(&set, 1000, 1001) && set.count == 16 && !range_set_check(&set), "no room for a seventeenth");
    inject_arm_at("realloc", 1);
    range_set_remove(&set, 2, 4);
    tap_ok(inject_disarm() && set.count == 16 && range_set_touches(&set, 2, 4) && !range_set_check(&set),
           "a range that cannot be cut in two stays whole");
    range_set_remove(&set, 2, 4);
    tap_ok(set.count == 17 && !range_set_touches(&set, 2, 4) && range_set_touches(&set, 4, 6), "with memory it is cut");
    set.range[0].end = set.range[0].start;
    tap_text(range_set_check(&set), "an empty range", "the check finds an empty range");
    set.range[0].end = set.range[1].start;
    tap_text(range_set_check(&set), "two ranges that overlap or touch", "and two that touch");
    range_set_clear(&set);
}

/* Without memory for its own state the shadow cannot be opened. */
static void test_open(void)
{
    struct vmm_backend *inner = NULL, *top = NULL;
    if (vmm_sim_open("h100", &inner) != VMM_SUCCESS)
        tap_bail("no machine");
    inject_arm_at("calloc", 1);
    tap_ok(vmm_shadow_open("", inner, &top) != VMM_SUCCESS && !top && rule_is("VMM-SYSTEM-HOST-MEMORY"), "no memory for the shadow");
    tap_text(inject_disarm(), "calloc", "the request that failed");
    inner->ops->close(inner);
}

int main(void)
{
    test_open();
    test_set();
    test_ranges();
    test_handles();
    test_memory();
    return tap_done();
}
