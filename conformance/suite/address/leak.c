/* SPDX-License-Identifier: Apache-2.0 */
/* Leak reports: vmm_leaks, and the report of vmm_close. */
#include <string.h>

#include "test.h"

/* Details in the order in which they came. */
struct reported {
    unsigned count;
    vmm_detail detail[16];
};

static void hear(void *user, const vmm_detail *detail)
{
    struct reported *reported = user;
    if (reported->count < 16)
        reported->detail[reported->count] = *detail;
    reported->count++;
}

static void check_leak(struct fix *f, const vmm_detail *detail, const char *rule, vmm_object_kind kind, uint64_t start)
{
    char text[2048];
    const vmm_rule *row = vmm_rule_find(rule);
    if (!row || !detail->rule || strcmp(detail->rule, rule) != 0) {
        CHECK(false, "reported %s, expected %s", detail->rule ? detail->rule : "(none)", rule);
        return;
    }
    CHECK(detail->severity == VMM_SEVERITY_LEAK, "severity %d", (int)detail->severity);
    CHECK_U64((uint64_t)detail->nearest.kind, (uint64_t)kind);
    CHECK_U64(detail->nearest.start, start);
    CHECK(detail->nearest.created > 0 && detail->nearest.created_by && !detail->nearest.ended, "no history");
    vmm_detail_text(detail, text, sizeof text);
    CHECK(strstr(text, rule) && row->way_out[0] && strstr(text, row->way_out), "no complete explanation:\n%s", text);
    CHECK(detail->nearest.created_by && strstr(text, detail->nearest.created_by),
          "the report does not name the call:\n%s", text);
}

/* Expects one more leak than before, from vmm_leaks and from vmm_close, which this test calls itself. The fixture's
 * context would leak too, so it is destroyed first. */
static void check_one(struct fix *f, vmm_object_kind kind, uint64_t start)
{
    struct reported reported = {0};
    CHECK_U64(vmm_leaks(S, NULL, NULL), 1);
    CHECK_U64(vmm_leaks(S, hear, &reported), 1);
    CHECK_U64(reported.count, 1);
    check_leak(f, &reported.detail[0], f->rule, kind, start);
    memset(&reported, 0, sizeof reported);
    vmm_set_report(S, hear, &reported);
    vmm_close(S);
    f->sys = NULL;
    CHECK_U64(reported.count, 1);
    check_leak(f, &reported.detail[0], f->rule, kind, start);
}

static void check_none(struct fix *f)
{
    struct reported reported = {0};
    CHECK_U64(vmm_leaks(S, hear, &reported), 0);
    vmm_set_report(S, hear, &reported);
    vmm_close(S);
    f->sys = NULL;
    CHECK_U64(reported.count, 0);
}

/* Only the simulator reports leaks; a driver's leaks end with its process. */
#define TEST_OF_LEAKS(kind, rule, function)                                    \
    static void function##_body(struct fix *f);                                \
    TEST_DEFINE(kind, #rule, function, NULL, TEST_AS_GIVEN, FIX_NO_CONTEXT)    \
    {                                                                          \
        fix_need_simulator(f, "needs a backend that can tell what is held");   \
        function##_body(f);                                                    \
    }                                                                          \
    static void function##_body(struct fix *f)
#define LEAK_TEST(rule, function) TEST_OF_LEAKS(TEST_KIND_BREAKS, rule, function)
#define NO_LEAK_TEST(rule, function) TEST_OF_LEAKS(TEST_KIND_NEAR_MISS, rule, function)

LEAK_TEST(LEAK_RESERVATION, leave_a_reservation)
{
    check_one(f, VMM_OBJECT_RESERVATION, fix_reserve(f, 2 * f->g));
}

NO_LEAK_TEST(LEAK_RESERVATION, free_the_reservation)
{
    fix_free_range(f, 2 * f->g);
    check_none(f);
}

LEAK_TEST(LEAK_HANDLE, leave_a_handle)
{
    fix_create(f, f->g);
    check_one(f, VMM_OBJECT_HANDLE, 0);
}

/* A mapping never leaks alone: its reservation cannot be freed, and it still holds its handle's memory. */
LEAK_TEST(LEAK_MAPPING, leave_a_mapping)
{
    static const char *const want[] = {"VMM-LEAK-RESERVATION", "VMM-LEAK-MAPPING", "VMM-LEAK-HANDLE"};
    static const vmm_object_kind kinds[] = {VMM_OBJECT_RESERVATION, VMM_OBJECT_MAPPING, VMM_OBJECT_HANDLE};
    vmm_mem_generic_allocation_handle handle = 0;
    struct reported reported = {0};
    vmm_deviceptr p = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, &handle);
    fix_release(f, handle);
    CHECK_U64(vmm_leaks(S, hear, &reported), 3);
    for (unsigned i = 0; i < reported.count && i < 3; i++)
        check_leak(f, &reported.detail[i], want[i], kinds[i], i == 2 ? 0 : p);
    CHECK_U64(reported.detail[1].nearest.handle, handle);
    CHECK_U64(reported.detail[2].nearest.references, 0);
    CHECK_U64(reported.detail[2].nearest.mappings, 1);
}

LEAK_TEST(LEAK_CONTEXT, leave_a_context)
{
    fix_context(f, 0);
    check_one(f, VMM_OBJECT_CONTEXT, 0);
}

LEAK_TEST(LEAK_STREAM, leave_a_stream)
{
    struct reported reported = {0};
    fix_context(f, 0);
    fix_stream(f);
    CHECK_U64(vmm_leaks(S, hear, &reported), 2);
    check_leak(f, &reported.detail[0], "VMM-LEAK-CONTEXT", VMM_OBJECT_CONTEXT, 0);
    check_leak(f, &reported.detail[1], f->rule, VMM_OBJECT_STREAM, 0);
}

LEAK_TEST(LEAK_EVENT, leave_an_event)
{
    struct reported reported = {0};
    fix_context(f, 0);
    fix_event(f);
    CHECK_U64(vmm_leaks(S, hear, &reported), 2);
    check_leak(f, &reported.detail[0], "VMM-LEAK-CONTEXT", VMM_OBJECT_CONTEXT, 0);
    check_leak(f, &reported.detail[1], f->rule, VMM_OBJECT_EVENT, 0);
}

NO_LEAK_TEST(LEAK_EVENT, destroy_the_event)
{
    vmm_context ctx = fix_context(f, 0);
    fix_event_destroy(f, fix_event(f));
    vmm_event left = fix_event(f);
    fix_context_destroy(f, ctx); /* ends it as well */
    fix_forget(f, FIX_EVENT, (uintptr_t)left, 0);
    check_none(f);
}

static vmm_array array_of(struct fix *f)
{
    const vmm_array3d_descriptor is = {.width = 64, .height = 64, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1};
    vmm_array array = NULL;
    ACCEPTED(vmm_array_3d_create(S, &array, &is));
    return array;
}

LEAK_TEST(LEAK_ARRAY, leave_an_array)
{
    struct reported reported = {0};
    fix_context(f, 0);
    array_of(f);
    CHECK_U64(vmm_leaks(S, hear, &reported), 2);
    check_leak(f, &reported.detail[0], "VMM-LEAK-CONTEXT", VMM_OBJECT_CONTEXT, 0);
    check_leak(f, &reported.detail[1], f->rule, VMM_OBJECT_ARRAY, 0);
}

NO_LEAK_TEST(LEAK_ARRAY, destroy_the_array)
{
    vmm_context ctx = fix_context(f, 0);
    ACCEPTED(vmm_array_destroy(S, array_of(f)));
    array_of(f);
    fix_context_destroy(f, ctx); /* ends it as well */
    check_none(f);
}

LEAK_TEST(LEAK_POOL, leave_a_pool)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_memory_pool pool = NULL;
    fix_need(f, vmm_mem_pool_create(S, &pool, &props));
    check_one(f, VMM_OBJECT_POOL, 0);
}

NO_LEAK_TEST(LEAK_POOL, destroy_the_pool)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_memory_pool pool = NULL;
    fix_need(f, vmm_mem_pool_create(S, &pool, &props));
    fix_need(f, vmm_mem_pool_destroy(S, pool));
    check_none(f);
}

LEAK_TEST(LEAK_ALLOCATION, leave_an_allocation)
{
    struct reported reported = {0};
    fix_context(f, 0);
    vmm_deviceptr old = fix_alloc(f, f->g);
    CHECK_U64(vmm_leaks(S, hear, &reported), 2);
    check_leak(f, &reported.detail[0], f->rule, VMM_OBJECT_ALLOCATION, old);
    check_leak(f, &reported.detail[1], "VMM-LEAK-CONTEXT", VMM_OBJECT_CONTEXT, 0);
}

TEST_EXPECTS("leaks.in_the_order_of_kinds", leaks_of_everything)
{
    fix_need_simulator(f, "needs a backend that can tell what is held");
    static const vmm_object_kind want[] = {VMM_OBJECT_RESERVATION, VMM_OBJECT_RESERVATION, VMM_OBJECT_RESERVATION,
                                           VMM_OBJECT_MAPPING,     VMM_OBJECT_HANDLE,      VMM_OBJECT_HANDLE,
                                           VMM_OBJECT_ALLOCATION,  VMM_OBJECT_CONTEXT,     VMM_OBJECT_STREAM,
                                           VMM_OBJECT_EVENT};
    struct reported reported = {0};
    fix_event(f);
    fix_stream(f);
    fix_alloc(f, f->g);
    fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    fix_create(f, f->g);
    fix_reserve(f, f->g);
    CHECK_U64(vmm_leaks(S, hear, &reported), 10);
    for (unsigned i = 0; i < reported.count && i < 10; i++)
        CHECK_U64((uint64_t)reported.detail[i].nearest.kind, (uint64_t)want[i]);
    CHECK(reported.detail[0].nearest.start < reported.detail[1].nearest.start, "reservations are not in order of address");
}

/* The report function receives refusals and warnings, and may make calls itself. */
struct calls {
    struct reported reported;
    vmm_system *sys;
    int count;
};

static void hear_and_call(void *user, const vmm_detail *detail)
{
    struct calls *calls = user;
    hear(&calls->reported, detail);
    vmm_device_get_count(calls->sys, &calls->count);
}

TEST_EXPECTS("report.tells_of_refusals", report_function)
{
    fix_need_simulator(f, "needs a backend that reports leaks");
    struct calls calls = {.sys = S};
    vmm_set_report(S, hear_and_call, &calls);
    vmm_result result = vmm_mem_release(S, 0);
    CHECK(result == VMM_ERROR_INVALID_VALUE, "%s", vmm_result_name(result));
    CHECK_U64(calls.reported.count, 1);
    CHECK_U64((uint64_t)calls.count, (uint64_t)f->devices);
    CHECK(calls.reported.detail[0].rule && strcmp(calls.reported.detail[0].rule, "VMM-RELEASE-HANDLE-ZERO") == 0,
          "another rule was reported");
    CHECK(vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, "VMM-RELEASE-HANDLE-ZERO") == 0,
          "the call of the report function changed the detail");
    fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    CHECK_U64(calls.reported.count, 1);
    vmm_set_report(S, NULL, NULL);
    vmm_mem_release(S, 0);
    CHECK_U64(calls.reported.count, 1);
}
