/* SPDX-License-Identifier: Apache-2.0 */
/* In-flight work: when it runs, what is unmapped or revoked under it, and what waits for it.
 *
 * A fault takes the device from the whole process, so each faulting test has a process of its own; on the simulator,
 * another system with the schedule that the test names. */
#include <pthread.h>
#include <string.h>

#include "form.h"
#include "house.h"
#include "scheduled.h"
#include "test.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE

/* [0 mapped][1 mapped][2 mapped][3 nothing], with these rights. */
static vmm_deviceptr map_three(struct fix *f, vmm_mem_access_flags flags)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    for (uint64_t i = 0; i < 3; i++)
        fix_map(f, p + i * f->g, f->g, fix_create(f, f->g));
    fix_access(f, p, 3 * f->g, flags);
    return p;
}

/* What the warning must contain for a call that removed something under in-flight work. */
struct hazard {
    const char *rule, *work;
    uint64_t issued; /* the call that issued it */
    uint64_t value;
    vmm_deviceptr mapping;
};

static void check_hazard(struct fix *f, int line, vmm_result result, struct hazard want)
{
    const vmm_detail detail = *vmm_last_detail();
    char call[48], text[2048];
    snprintf(call, sizeof call, "by call %llu on device 0,", (unsigned long long)want.issued);
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    if (result != VMM_SUCCESS || !detail.rule || strcmp(detail.rule, want.rule) != 0)
        fix_failed(f, __FILE__, line, "%s by %s, expected a warning by %s", vmm_result_name(result),
                   detail.rule ? detail.rule : "no rule", want.rule);
    else if (detail.severity != VMM_SEVERITY_WARNING || detail.value != want.value)
        fix_failed(f, __FILE__, line, "severity %d, value 0x%llx", (int)detail.severity, (unsigned long long)detail.value);
    else if (!strstr(detail.note, want.work) || !strstr(detail.note, call))
        fix_failed(f, __FILE__, line, "\"%s\" does not name %s %s", detail.note, want.work, call);
    else if (detail.nearest.kind != VMM_OBJECT_MAPPING || detail.nearest.start != want.mapping)
        fix_failed(f, __FILE__, line, "the nearest object is not the mapping");
    else if (!strstr(text, "fix       Synchronise the stream of that work"))
        fix_failed(f, __FILE__, line, "no fix: %s", text);
}

#define ANYWHERE UINT64_MAX /* threads of PTX go through memory in another order than a twin */

static void check_reported(struct fix *f, int line, vmm_result result, vmm_result want, const char *rule, uint64_t address,
                       const char *note)
{
    const vmm_detail detail = *vmm_last_detail();
    if (result != want || !detail.rule || strcmp(detail.rule, rule) != 0)
        fix_failed(f, __FILE__, line, "%s by %s, expected %s", vmm_result_name(result),
                   detail.rule ? detail.rule : "no rule", rule);
    else if ((address != ANYWHERE && detail.value != address) || !strstr(detail.note, note))
        fix_failed(f, __FILE__, line, "0x%llx, \"%s\"; expected 0x%llx and \"%s\"", (unsigned long long)detail.value,
                   detail.note, (unsigned long long)address, note);
}

/* The last call's ordinal. */
static uint64_t ordinal(void)
{
    return vmm_last_detail()->call;
}

#define LATE(schedule) (strcmp((schedule), "late") == 0)

/* ---- unmapping ---- */

#define LAUNCH_FORM(stream, kernel, ...) \
    vmm_launch(S, form_of(f, VMM_KERNEL_##kernel, ptx), 1, 64, SCHEDULED_ARGS(__VA_ARGS__), (stream))

/* Every schedule reports the mistake; under late the kernel always faults, under eager never. */
static void unmap_under_a_kernel(struct fix *root, const char *schedule, bool ptx)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, schedule);
    vmm_deviceptr p = map_three(f, RW);
    ACCEPTED(LAUNCH_FORM(NULL, FILL, p + 8, 2 * f->g, 7));
    uint64_t launch = ordinal();
    vmm_result result = vmm_mem_unmap(S, p + f->g, f->g);
    check_hazard(f, __LINE__, result, (struct hazard){"VMM-UNMAP-IN-FLIGHT", "fill, launched", launch, p + f->g, p + f->g});
    fix_forget(f, FIX_MAPPING, p + f->g, f->g);
    result = vmm_ctx_synchronize(S);
    if (LATE(schedule))
        check_reported(f, __LINE__, result, VMM_ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-ACCESS", ptx ? ANYWHERE : p + f->g,
                   "nothing is mapped there");
    else if (strcmp(schedule, "eager") == 0)
        ACCEPTED(result);
    if (result == VMM_SUCCESS)
        CHECK(fix_peek(f, p + 8) == 7 && fix_peek(f, p + 2 * f->g + 7) == 7, "%s: the fill is not done", schedule);
    fix_close(f);
}

TEST_BREAKS(UNMAP_IN_FLIGHT, unmap_what_a_kernel_writes)
{
    for (int i = 0; i < SCHEDULES; i++)
        unmap_under_a_kernel(f, schedules[i], false);
}

TEST_BREAKS(UNMAP_IN_FLIGHT, unmap_what_a_kernel_of_ptx_writes)
{
    form_need(f);
    for (int i = 0; i < SCHEDULES; i++)
        unmap_under_a_kernel(f, schedules[i], true);
}

/* Waiting for another stream does not help; of several work items the first is named. */
TEST_BREAKS(UNMAP_IN_FLIGHT, unmap_after_waiting_for_another_stream)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = map_three(f, RW), out = fix_mapped(f, f->g, RW, NULL);
    vmm_stream one = fix_stream(f), other = fix_stream(f);
    ACCEPTED(LAUNCH(one, SUM, p, 2 * f->g, out));
    uint64_t launch = ordinal();
    ACCEPTED(LAUNCH(other, TOUCH, p, 1, 8, 0));
    ACCEPTED(vmm_stream_synchronize(S, other));
    vmm_result result = vmm_mem_unmap(S, p, 2 * f->g);
    check_hazard(f, __LINE__, result, (struct hazard){"VMM-UNMAP-IN-FLIGHT", "sum, launched", launch, p, p});
    fix_forget(f, FIX_MAPPING, p, 2 * f->g);
    check_reported(f, __LINE__, vmm_stream_synchronize(S, one), VMM_ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-ACCESS", p, "sum");
    fix_forget(f, FIX_STREAM, (uintptr_t)one, 0); /* both end with their context */
    fix_forget(f, FIX_STREAM, (uintptr_t)other, 0);
    fix_close(f);
}

/* The access set of a kernel is exact: strided and random places leave holes that may be unmapped. */
static void step_over(struct fix *root, bool ptx)
{
    struct fix own, *f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = map_three(f, RW), out = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(LAUNCH_FORM(NULL, STRIDE_READ, p + 5, 3 * f->g - 5, 2 * f->g, out));
    ACCEPTED(LAUNCH_FORM(NULL, RANDOM_READ, p + 2 * f->g, f->g, 1000, 3, out));
    ACCEPTED(LAUNCH_FORM(NULL, COPY, p + 2 * f->g, p, f->g));
    ACCEPTED(vmm_mem_unmap(S, p + f->g, f->g));
    fix_forget(f, FIX_MAPPING, p + f->g, f->g);
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_mem_unmap(S, p, f->g));
    fix_forget(f, FIX_MAPPING, p, f->g);
    fix_close(f);
}

TEST_NEAR_MISS(UNMAP_IN_FLIGHT, unmap_what_a_kernel_steps_over)
{
    step_over(f, false);
}

TEST_NEAR_MISS(UNMAP_IN_FLIGHT, unmap_what_a_kernel_of_ptx_steps_over)
{
    form_need(f);
    step_over(f, true);
}

/* After a wait the host knows that the work is done. */
TEST_NEAR_MISS(UNMAP_IN_FLIGHT, unmap_after_waiting)
{
    vmm_deviceptr p = map_three(f, RW);
    vmm_stream stream = fix_stream(f);
    ACCEPTED(LAUNCH(stream, FILL, p, f->g, 7));
    ACCEPTED(vmm_memset_d8_async(S, p + f->g, 1, f->g, NULL));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    ACCEPTED(vmm_mem_unmap(S, p, f->g));
    fix_forget(f, FIX_MAPPING, p, f->g);
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_mem_unmap(S, p + f->g, f->g));
    fix_forget(f, FIX_MAPPING, p + f->g, f->g);
    CHECK(fix_peek(f, p + 2 * f->g) == 0, "what was not filled");
}

/* Releasing is harmless, and so is any change to other memory. */
static void other_calls(struct fix *root, const char *schedule)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, schedule);
    vmm_mem_generic_allocation_handle handle = 0, made = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle), q = fix_reserve(f, f->g), r = 0;
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_mem_access_desc desc = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW};
    ACCEPTED(LAUNCH(NULL, FILL, p, f->g, 7));
    ACCEPTED(vmm_mem_release(S, handle));
    fix_forget(f, FIX_HANDLE, handle, 0);
    ACCEPTED(vmm_mem_create(S, &made, f->g, &prop, 0));
    ACCEPTED(vmm_mem_map(S, q, f->g, 0, made, 0));
    ACCEPTED(vmm_mem_set_access(S, q, f->g, &desc, 1));
    ACCEPTED(vmm_mem_set_access(S, p, f->g, &desc, 1)); /* the same rights again */
    ACCEPTED(vmm_mem_unmap(S, q, f->g));
    ACCEPTED(vmm_mem_release(S, made));
    ACCEPTED(vmm_mem_address_reserve(S, &r, f->g, 0, 0, 0));
    ACCEPTED(vmm_mem_address_free(S, r, f->g));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK(fix_peek(f, p + f->g - 1) == 7, "%s: the fill is not done", schedule);
    fix_close(f);
}

TEST_EXPECTS("flight.other_calls_disturb_nothing", calls_beside_work_in_flight)
{
    for (int i = 0; i < SCHEDULES; i++)
        other_calls(f, schedules[i]);
}

/* ---- rights ---- */

struct narrowing {
    int before, after;
    vmm_kernel kernel;
    const char *why; /* the kernel's fault; NULL: it completes */
};

static void narrow_under_a_kernel(struct fix *root, const struct narrowing *n, const char *schedule, bool ptx)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, schedule);
    vmm_deviceptr p = map_three(f, n->before), out = fix_mapped(f, f->g, RW, NULL);
    vmm_mem_access_desc desc = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), n->after};
    if (n->kernel == VMM_KERNEL_SUM)
        ACCEPTED(LAUNCH_FORM(NULL, SUM, p, 3 * f->g, out));
    else
        ACCEPTED(LAUNCH_FORM(NULL, ATOMIC_ADD, p + f->g + 16, 1));
    uint64_t launch = ordinal();
    vmm_result result = vmm_mem_set_access(S, p + f->g, f->g, &desc, 1);
    if (n->why)
        check_hazard(f, __LINE__, result, (struct hazard){"VMM-ACCESS-IN-FLIGHT", vmm_kernel_name(n->kernel), launch,
                                                          (uint64_t)n->after, p + f->g});
    else
        ACCEPTED(result);
    result = vmm_ctx_synchronize(S);
    if (n->why && LATE(schedule))
        check_reported(f, __LINE__, result, VMM_ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-ACCESS",
                   ptx ? ANYWHERE : p + f->g + (n->kernel == VMM_KERNEL_SUM ? 0 : 16), n->why);
    else if (!n->why || strcmp(schedule, "eager") == 0)
        ACCEPTED(result);
    fix_close(f);
}

static void take_rights(struct fix *f, bool ptx)
{
    static const struct narrowing narrowings[] = {
        {RW, READ, VMM_KERNEL_ATOMIC_ADD, "only read access"},
        {RW, NONE, VMM_KERNEL_ATOMIC_ADD, "has no access"},
        {RW, NONE, VMM_KERNEL_SUM, "has no access"},
        {READ, NONE, VMM_KERNEL_SUM, "has no access"},
    };
    for (size_t n = 0; n < sizeof narrowings / sizeof narrowings[0]; n++)
        for (int i = 0; i < SCHEDULES; i++)
            narrow_under_a_kernel(f, &narrowings[n], schedules[i], ptx);
}

TEST_BREAKS(ACCESS_IN_FLIGHT, rights_taken_from_a_kernel)
{
    take_rights(f, false);
}

TEST_BREAKS(ACCESS_IN_FLIGHT, rights_taken_from_a_kernel_of_ptx)
{
    form_need(f);
    take_rights(f, true);
}

static void take_other_rights(struct fix *f, bool ptx)
{
    static const struct narrowing narrowings[] = {
        {RW, READ, VMM_KERNEL_SUM, NULL}, {READ, RW, VMM_KERNEL_SUM, NULL}, {RW, RW, VMM_KERNEL_ATOMIC_ADD, NULL}};
    for (size_t n = 0; n < sizeof narrowings / sizeof narrowings[0]; n++)
        for (int i = 0; i < SCHEDULES; i++)
            narrow_under_a_kernel(f, &narrowings[n], schedules[i], ptx);
}

TEST_NEAR_MISS(ACCESS_IN_FLIGHT, rights_that_a_kernel_does_not_need)
{
    take_other_rights(f, false);
}

TEST_NEAR_MISS(ACCESS_IN_FLIGHT, rights_that_a_kernel_of_ptx_does_not_need)
{
    form_need(f);
    take_other_rights(f, true);
}

/* Rights count when the work runs: under the late schedule, granting them before that is enough. */
TEST_EXPECTS("flight.rights_of_the_moment", rights_given_late)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = fix_reserve(f, f->g);
    ACCEPTED(LAUNCH(NULL, FILL, p, f->g, 9));
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_access(f, p, f->g, RW);
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK(fix_peek(f, p + f->g - 1) == 9, "the fill is not done");
    fix_close(f);
}

/* ---- copies and fills ---- */

enum moved { FILL_BYTE, FILL_D8, FILL_D32, FROM_HOST, COPY_TO, COPY_FROM };

struct transfer {
    enum moved what;
    const char *name, *why;
    vmm_result result;
    const char *rule, *sticky;
};

static vmm_result issue(struct fix *f, enum moved what, vmm_deviceptr p, vmm_deviceptr q)
{
    static const unsigned char bytes[64] = {1, 2, 3};
    switch (what) {
    case FILL_BYTE: return vmm_memset_d8_async(S, p + f->g, 1, 1, NULL);
    case FILL_D8: return vmm_memset_d8_async(S, p, 1, 2 * f->g, NULL);
    case FILL_D32: return vmm_memset_d32_async(S, p, 1, f->g / 2, NULL);
    case FROM_HOST: return vmm_memcpy_htod_async(S, p + f->g - 1, bytes, sizeof bytes, NULL);
    case COPY_TO: return vmm_memcpy_dtod_async(S, p, q, 2 * f->g, NULL);
    case COPY_FROM: return vmm_memcpy_dtod_async(S, q, p, 2 * f->g, NULL);
    }
    return VMM_ERROR_UNKNOWN;
}

static void unmap_under_a_transfer(struct fix *root, const struct transfer *t, const char *schedule)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, schedule);
    vmm_deviceptr p = map_three(f, RW), q = map_three(f, RW);
    ACCEPTED(issue(f, t->what, p, q));
    uint64_t issued = ordinal();
    vmm_result result = vmm_mem_unmap(S, p + f->g, f->g);
    check_hazard(f, __LINE__, result, (struct hazard){"VMM-UNMAP-IN-FLIGHT", t->name, issued, p + f->g, p + f->g});
    fix_forget(f, FIX_MAPPING, p + f->g, f->g);
    result = vmm_ctx_synchronize(S);
    if (LATE(schedule)) {
        check_reported(f, __LINE__, result, t->result, t->rule, p + f->g, t->why);
        check_reported(f, __LINE__, vmm_memset_d8(S, p, 1, 0), t->result, t->sticky, (uintptr_t)f->ctx, t->name);
    } else if (strcmp(schedule, "eager") == 0) {
        ACCEPTED(result);
    }
    fix_close(f);
}

#define BY_DEVICE VMM_ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-COPY", "VMM-FAULT-COPY-STICKY"
#define BY_COMMAND VMM_ERROR_LAUNCH_FAILED, "VMM-FAULT-HOST-COPY", "VMM-FAULT-HOST-COPY-STICKY"

static const struct transfer transfers[] = {
    {FILL_D8, "cuMemsetD8Async", "writing at", BY_DEVICE},   {FILL_D32, "cuMemsetD32Async", "writing at", BY_DEVICE},
    {COPY_TO, "cuMemcpyDtoDAsync", "writing at", BY_DEVICE}, {COPY_FROM, "cuMemcpyDtoDAsync", "reading at", BY_DEVICE},
};
static const struct transfer from_host = {FROM_HOST, "cuMemcpyHtoDAsync", "writing at", BY_COMMAND};
static const struct transfer one_byte = {FILL_BYTE, "cuMemsetD8Async", "writing at", BY_COMMAND};

TEST_BREAKS(FAULT_COPY, unmap_what_is_filled_or_copied)
{
    for (size_t t = 0; t < sizeof transfers / sizeof transfers[0]; t++)
        for (int i = 0; i < SCHEDULES; i++)
            unmap_under_a_transfer(f, &transfers[t], schedules[i]);
}

TEST_BREAKS(FAULT_HOST_COPY, unmap_what_the_host_sends)
{
    for (int i = 0; i < SCHEDULES; i++) {
        unmap_under_a_transfer(f, &from_host, schedules[i]);
        unmap_under_a_transfer(f, &one_byte, schedules[i]);
    }
}

static void unmap_beside_a_transfer(struct fix *root, const struct transfer *t)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, "late");
    vmm_deviceptr p = map_three(f, RW), q = map_three(f, RW);
    ACCEPTED(issue(f, t->what, p, q));
    ACCEPTED(vmm_mem_unmap(S, p + 2 * f->g, f->g));
    fix_forget(f, FIX_MAPPING, p + 2 * f->g, f->g);
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_close(f);
}

TEST_NEAR_MISS(FAULT_COPY, unmap_beside_what_is_filled_or_copied)
{
    for (size_t t = 0; t < sizeof transfers / sizeof transfers[0]; t++)
        unmap_beside_a_transfer(f, &transfers[t]);
}

TEST_NEAR_MISS(FAULT_HOST_COPY, unmap_beside_what_the_host_sends)
{
    unmap_beside_a_transfer(f, &from_host);
    unmap_beside_a_transfer(f, &one_byte);
}

/* From then on each call that needs the device reports the loss, also calls that create contexts; control calls
 * work. */
/* Refused with the code of the loss, by the test's rule. */
#define LOST(call, value, kind) REFUSED_LIKE(call, NULL, result, NULL, value, VMM_OBJECT_##kind, 0)

static void lose_by(struct fix *root, vmm_result result, uint64_t bytes)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, "late");
    vmm_deviceptr p = map_three(f, RW), q = 0;
    uint64_t value = (uintptr_t)f->ctx;
    vmm_context made = NULL;
    ACCEPTED(vmm_memset_d8_async(S, p, 3, bytes, VMM_STREAM_PER_THREAD));
    CHECK_U64(vmm_mem_unmap(S, p, f->g), VMM_SUCCESS);
    fix_forget(f, FIX_MAPPING, p, f->g);
    CHECK_U64(vmm_ctx_synchronize(S), result);
    const vmm_fault *fault = vmm_last_detail()->fault;
    CHECK(fault && fault->kernel == -1 && fault->address == p && fault->writes && !fault->mapped &&
              fault->past.start == p && !fault->argument,
          "the fault is reported differently");
    LOST(vmm_ctx_synchronize(S), value, CONTEXT);
    LOST(vmm_memset_d8(S, p, 1, 0), value, CONTEXT);
    LOST(LAUNCH(NULL, FILL, 0, 0, 0), value, CONTEXT);
    LOST(vmm_mem_alloc(S, &q, f->g), value, CONTEXT);
    LOST(vmm_ctx_create(S, &made, 0, 0), 0, DEVICE);
    ACCEPTED(vmm_mem_address_reserve(S, &q, f->g, 0, 0, 0));
    ACCEPTED(vmm_mem_address_free(S, q, f->g));
    fix_close(f);
}

TEST_BREAKS(FAULT_COPY_STICKY, work_on_a_device_lost_by_a_fill)
{
    lose_by(f, VMM_ERROR_ILLEGAL_ADDRESS, f->g);
}

TEST_BREAKS(FAULT_HOST_COPY_STICKY, work_on_a_device_lost_by_a_byte)
{
    lose_by(f, VMM_ERROR_LAUNCH_FAILED, 1);
}

TEST_NEAR_MISS(FAULT_HOST_COPY_STICKY, work_after_copies_from_the_host_were_refused)
{
    static const unsigned char bytes[8];
    vmm_deviceptr p = map_three(f, READ);
    CHECK_U64(vmm_memcpy_htod_async(S, p, bytes, 8, NULL), VMM_ERROR_INVALID_VALUE);
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_access(f, p, f->g, RW);
    ACCEPTED(vmm_memcpy_htod_async(S, p, bytes, 8, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
}

TEST_NEAR_MISS(FAULT_COPY_STICKY, work_after_refused_fills)
{
    vmm_deviceptr p = map_three(f, READ);
    CHECK_U64(vmm_memset_d8_async(S, p, 1, f->g, NULL), VMM_ERROR_INVALID_VALUE); /* checked when the call is made */
    CHECK_U64(vmm_memcpy_dtod_async(S, p + 3 * f->g, p, 8, NULL), VMM_ERROR_INVALID_VALUE);
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_access(f, p, f->g, RW);
    ACCEPTED(vmm_memset_d8_async(S, p, 1, f->g, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* ---- order and waiting ---- */

TEST_EXPECTS("flight.as_late_as_it_may", late_work)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream aside = fix_stream(f), one = blocking_stream(f), two = blocking_stream(f);
    unsigned char bytes[8] = {5};
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    ACCEPTED(vmm_memcpy_htod_async(S, p + 8, bytes, 8, two));
    bytes[0] = 99; /* evaluated when the call is made */
    CHECK_U64(glance(f, aside, p), 0);
    CHECK_U64(vmm_stream_query(S, one), VMM_ERROR_NOT_READY);
    CHECK_U64(glance(f, aside, p), 1); /* the query let it run */
    CHECK_U64(vmm_stream_query(S, one), VMM_SUCCESS);
    CHECK_U64(glance(f, aside, p + 8), 0);
    ACCEPTED(vmm_stream_synchronize(S, two));
    CHECK_U64(glance(f, aside, p + 8), 5);
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    ACCEPTED(LAUNCH(NULL, ATOMIC_ADD, p, 1));
    ACCEPTED(LAUNCH(two, ATOMIC_ADD, p, 1));
    ACCEPTED(LAUNCH(VMM_STREAM_PER_THREAD, ATOMIC_ADD, p + 8, 1));
    ACCEPTED(vmm_stream_synchronize(S, aside)); /* ordered with nothing */
    CHECK_U64(glance(f, aside, p), 1);
    ACCEPTED(vmm_stream_synchronize(S, two)); /* after the default stream, which follows one */
    CHECK_U64(glance(f, aside, p), 4);
    CHECK_U64(glance(f, aside, p + 8), 5);
    ACCEPTED(vmm_stream_synchronize(S, VMM_STREAM_LEGACY));
    CHECK_U64(glance(f, aside, p + 8), 6);
    fix_close(f);
}

/* Each call that waits, with a kernel that adds to a word. */
TEST_EXPECTS("flight.who_waits", calls_that_wait)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), old = 0;
    vmm_stream aside = fix_stream(f), one = blocking_stream(f);
    uint64_t word = 0, expected = 0;
    fix_need(f, vmm_mem_alloc(S, &old, 64));
#define WAITS(call)                                                 \
    do {                                                            \
        ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));                    \
        ACCEPTED(call);                                             \
        CHECK_U64(glance(f, aside, p), ++expected);                 \
    } while (0)
    WAITS(vmm_memset_d8(S, p + 64, 1, 1));
    WAITS(vmm_memcpy_htod(S, p + 64, &word, 8));
    WAITS(vmm_memcpy_dtoh(S, &word, p + 64, 8));
    WAITS(vmm_memcpy_dtod(S, p + 64, p + 128, 8));
    WAITS(vmm_memcpy_dtoh_async(S, &word, p + 64, 8, one));
    WAITS(vmm_memcpy_dtoh_async(S, &word, p + 64, 8, NULL));
    WAITS(vmm_stream_synchronize(S, NULL));
    WAITS(vmm_mem_free(S, old));
#undef WAITS
    ACCEPTED(LAUNCH(one, ATOMIC_ADD, p, 1));
    fix_stream_destroy(f, one); /* at once, and the work stays in flight */
    CHECK_U64(glance(f, aside, p), expected);
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(glance(f, aside, p), ++expected);
    vmm_context second = fix_context(f, 0);
    ACCEPTED(LAUNCH(NULL, ATOMIC_ADD, p, 1));
    fix_context_destroy(f, second);
    CHECK_U64(fix_peek(f, p), expected + 1);
    fix_close(f);
}

/* The same work in any allowed order has the same result. */
static uint64_t chain(struct fix *root, const char *schedule)
{
    struct fix own, *f = &own;
    uint64_t sum = 0;
    scheduled_open(root, f, schedule);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream one = blocking_stream(f), two = blocking_stream(f);
    for (unsigned i = 0; i < 20; i++) {
        ACCEPTED(vmm_memset_d32_async(S, p, i + 1, 16, one));
        ACCEPTED(LAUNCH(NULL, COPY, p + 64 * (i + 1), p, 64));
        ACCEPTED(LAUNCH(two, SUM, p + 64 * (i + 1), 64, p + 8192));
        for (int k = 0; i % 7 == 3 && vmm_stream_query(S, two) == VMM_ERROR_NOT_READY; k++)
            CHECK(k < 200, "%s: the query never succeeds", schedule);
    }
    fix_need(f, vmm_memcpy_dtoh(S, &sum, p + 8192, 8));
    fix_close(f);
    return sum;
}

TEST_EXPECTS("flight.schedules_agree_on_ordered_work", ordered_work_under_every_schedule)
{
    uint64_t expected = 16 * (20 * 21 / 2);
    for (int i = 0; i < SCHEDULES; i++)
        CHECK_U64(chain(f, schedules[i]), expected);
}

/* A seed repeats its run: unordered additions and overwrites, checked while they are in flight. */
static uint64_t race(struct fix *root, unsigned seed)
{
    struct fix own, *f = &own;
    char schedule[32];
    uint64_t seen = 0;
    snprintf(schedule, sizeof schedule, "random:%u", seed);
    scheduled_open(root, f, schedule);
    f->races = true;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream one = fix_stream(f), two = fix_stream(f);
    for (unsigned i = 0; i < 12; i++) {
        ACCEPTED(vmm_memset_d8_async(S, p, (unsigned char)i, 1, i % 2 ? one : two));
        if (i % 3 == 2)
            vmm_stream_query(S, one);
        ACCEPTED(LAUNCH(one, COPY, p + 8 + i, p, 1));
    }
    ACCEPTED(vmm_ctx_synchronize(S));
    for (unsigned i = 0; i < 12; i++)
        seen = seen * 13 + fix_peek(f, p + 8 + i);
    fix_close(f);
    return seen;
}

TEST_EXPECTS("flight.seeds_repeat", seeded_schedules)
{
    unsigned different = 0;
    for (unsigned seed = 0; seed < 8; seed++) {
        uint64_t seen = race(f, seed);
        CHECK_U64(race(f, seed), seen);
        different += seen != race(f, 100);
    }
    CHECK(different > 0, "all seeds have the same result");
}

/* Threads with their own streams: each finds its own work done when its wait returns, whatever the others do. */
struct worker {
    struct fix *f;
    vmm_stream stream;
    vmm_event event; /* every second wait is for it */
    vmm_deviceptr p;
    unsigned called, wrong;
};

static void count_call(void *user)
{
    ++((struct worker *)user)->called;
}

static void *work(void *user)
{
    struct worker *w = user;
    struct fix *f = w->f;
    vmm_ctx_set_current(S, f->ctx);
    for (unsigned i = 1; i <= 60; i++) {
        uint64_t word = 0;
        w->wrong += vmm_memset_d8_async(S, w->p, (unsigned char)i, 8, w->stream) != VMM_SUCCESS;
        w->wrong += vmm_launch_host_func(S, w->stream, count_call, w) != VMM_SUCCESS;
        w->wrong += LAUNCH(w->stream, COPY, w->p + 8, w->p, 8) != VMM_SUCCESS;
        while (i % 3 == 0 && vmm_stream_query(S, w->stream) == VMM_ERROR_NOT_READY) {
        }
        w->wrong += vmm_event_record(S, w->event, w->stream) != VMM_SUCCESS;
        w->wrong += (i % 2 ? vmm_stream_synchronize(S, w->stream) : vmm_event_synchronize(S, w->event)) != VMM_SUCCESS;
        w->wrong += w->called != i;
        w->wrong += vmm_memcpy_dtoh_async(S, &word, w->p + 8, 8, w->stream) != VMM_SUCCESS;
        w->wrong += word != i * UINT64_C(0x0101010101010101);
    }
    return NULL;
}

TEST_EXPECTS("flight.threads", threads_with_streams)
{
    enum { THREADS = 4 };
    struct worker worker[THREADS];
    pthread_t thread[THREADS];
    house_need_calls(f, "interleaved threads cannot be replayed");
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    fix_settle(f);
    for (unsigned i = 0; i < THREADS; i++)
        worker[i] = (struct worker){f, i % 2 ? blocking_stream(f) : fix_stream(f), fix_event(f), p + 4096 * i, 0, 0};
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, work, &worker[i]) == 0, "no thread");
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        CHECK(!worker[i].wrong, "thread %u: %u checks failed", i, worker[i].wrong);
    }
}

/* More work than the queue holds: the oldest runs to make room. */
TEST_EXPECTS("flight.queue_is_finite", more_work_than_is_kept)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    for (int i = 0; i < 5000; i++)
        if (LAUNCH(NULL, ATOMIC_ADD, p, 1) != VMM_SUCCESS)
            CHECK(false, "launch %d is refused", i);
    uint64_t word = 0;
    fix_need(f, vmm_memcpy_dtoh(S, &word, p, 8));
    CHECK_U64(word, 5000);
}
