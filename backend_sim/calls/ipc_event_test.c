/* SPDX-License-Identifier: Apache-2.0 */
/* Shared events in cases that the suite does not cover: two systems of one program as two processes, whose calls one thread
 * makes; captures; records that are not complete when a system is closed. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "vmm.h"

#define TO_SHARE (VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING)
enum { SIZE = 1 << 16 };

struct rig {
    vmm_system *a, *b;
    vmm_deviceptr memory; /* of a */
    vmm_stream in_a, in_b;
    vmm_event event, opened; /* the same event, in a and in b */
    vmm_ipc_event_handle handle;
};

static void begin(struct rig *rig, const char *spec)
{
    vmm_context ctx;
    memset(rig, 0, sizeof *rig);
    if (vmm_open(spec, &rig->a) || vmm_attach(rig->a, &rig->b) || vmm_init(rig->a, 0) || vmm_init(rig->b, 0) ||
        vmm_ctx_create(rig->a, &ctx, 0, 0) || vmm_ctx_create(rig->b, &ctx, 0, 0) || vmm_mem_alloc(rig->a, &rig->memory, SIZE) ||
        vmm_stream_create(rig->a, &rig->in_a, VMM_STREAM_NON_BLOCKING) ||
        vmm_stream_create(rig->b, &rig->in_b, VMM_STREAM_NON_BLOCKING) || vmm_event_create(rig->a, &rig->event, TO_SHARE) ||
        vmm_ipc_get_event_handle(rig->a, &rig->handle, rig->event) ||
        vmm_ipc_open_event_handle(rig->b, &rig->opened, rig->handle))
        tap_bail("no rig: %s", vmm_last_detail()->note);
}

static void end(const struct rig *rig)
{
    vmm_close(rig->b);
    vmm_close(rig->a);
}

/* Work of a that a record follows. */
static void record_in_a(const struct rig *rig)
{
    if (vmm_memset_d8_async(rig->a, rig->memory, 1, SIZE, rig->in_a) || vmm_event_record(rig->a, rig->event, rig->in_a))
        tap_bail("no record: %s", vmm_last_detail()->note);
}

/* No call waits for the work of the other system, so a wait of this one does it. */
static void one_thread(const char *spec)
{
    struct rig rig;
    begin(&rig, spec);
    record_in_a(&rig);
    tap_result(vmm_event_synchronize(rig.b, rig.opened), VMM_SUCCESS, "%s: a wait for the record of the other system", spec);
    record_in_a(&rig);
    tap_result(vmm_stream_wait_event(rig.b, rig.in_b, rig.opened, 0), VMM_SUCCESS, "%s: of a stream", spec);
    tap_result(vmm_event_record(rig.b, rig.opened, rig.in_b), VMM_SUCCESS, "%s: whose own record comes after it", spec);
    tap_result(vmm_stream_synchronize(rig.b, rig.in_b), VMM_SUCCESS, "%s: and is reached", spec);
    tap_result(vmm_event_synchronize(rig.a, rig.event), VMM_SUCCESS, "%s: which the first system sees", spec);
    record_in_a(&rig);
    vmm_result result = VMM_ERROR_NOT_READY;
    for (int polls = 0; result == VMM_ERROR_NOT_READY && polls < 1000000; polls++)
        result = vmm_event_query(rig.b, rig.opened);
    tap_result(result, VMM_SUCCESS, "%s: queries end, too", spec);
    end(&rig);
}

/* Two events of one process for an entry: a stream waits for one event's record through the other. */
static void two_events(void)
{
    struct rig rig;
    vmm_event second = NULL;
    vmm_deviceptr memory = 0;
    begin(&rig, "sim:h100");
    tap_result(vmm_ipc_open_event_handle(rig.b, &second, rig.handle), VMM_SUCCESS, "opened a second time");
    tap_result(vmm_mem_alloc(rig.b, &memory, SIZE), VMM_SUCCESS, "memory");
    tap_result(vmm_memset_d8_async(rig.b, memory, 1, SIZE, rig.in_b), VMM_SUCCESS, "work that no call waits for");
    tap_result(vmm_event_record(rig.b, second, rig.in_b), VMM_SUCCESS, "recorded");
    tap_result(vmm_stream_wait_event(rig.b, NULL, rig.opened, 0), VMM_SUCCESS, "waited for through the first one");
    tap_result(vmm_ctx_synchronize(rig.b), VMM_SUCCESS, "the event is reached");
    tap_result(vmm_event_query(rig.b, rig.opened), VMM_SUCCESS, "and complete");
    tap_result(vmm_event_destroy(rig.b, rig.opened), VMM_SUCCESS, "one ends");
    record_in_a(&rig);
    tap_result(vmm_event_synchronize(rig.b, second), VMM_SUCCESS, "the other is still shared");
    end(&rig);
}

/* Records that are not complete, one after another: each comes after the one before it. */
static void several_records(void)
{
    struct rig rig;
    begin(&rig, "sim:h100");
    for (int i = 0; i < 3; i++)
        record_in_a(&rig);
    tap_result(vmm_event_query(rig.a, rig.event), VMM_ERROR_NOT_READY, "the last of three is not complete");
    tap_result(vmm_event_synchronize(rig.b, rig.opened), VMM_SUCCESS, "a wait of the other system ends with it");
    tap_result(vmm_event_query(rig.a, rig.event), VMM_SUCCESS, "the record is complete then");
    end(&rig);
}

/* A record before the first handle counts. */
static void recorded_before(void)
{
    struct rig rig;
    vmm_event late = NULL, opened = NULL;
    vmm_ipc_event_handle handle;
    begin(&rig, "sim:h100");
    tap_result(vmm_event_create(rig.a, &late, TO_SHARE), VMM_SUCCESS, "an event");
    tap_result(vmm_memset_d8_async(rig.a, rig.memory, 1, SIZE, rig.in_a), VMM_SUCCESS, "work");
    tap_result(vmm_event_record(rig.a, late, rig.in_a), VMM_SUCCESS, "its record");
    tap_result(vmm_ipc_get_event_handle(rig.a, &handle, late), VMM_SUCCESS, "its handle");
    tap_result(vmm_ipc_open_event_handle(rig.b, &opened, handle), VMM_SUCCESS, "opened");
    tap_result(vmm_event_synchronize(rig.b, opened), VMM_SUCCESS, "and waited for");
    end(&rig);
}

/* A system is closed while its records are not complete, and while a stream of it waits. */
static void closed_before(const char *spec)
{
    struct rig rig;
    begin(&rig, spec);
    record_in_a(&rig);
    tap_result(vmm_stream_wait_event(rig.b, rig.in_b, rig.opened, 0), VMM_SUCCESS, "%s: a stream waits", spec);
    end(&rig);
    tap_ok(true, "%s: and both systems close", spec);
}

static void captured(void)
{
    struct rig rig;
    vmm_graph graph = NULL;
    begin(&rig, "sim:h100");
    tap_result(vmm_stream_begin_capture(rig.a, rig.in_a, VMM_STREAM_CAPTURE_MODE_RELAXED), VMM_SUCCESS, "a capture");
    tap_result(vmm_event_record(rig.a, rig.event, rig.in_a), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, "no graph holds a shared event");
    tap_text(vmm_last_detail()->rule, "VMM-CAPTURE-FORBIDS", "by its rule");
    tap_result(vmm_stream_end_capture(rig.a, rig.in_a, &graph), VMM_SUCCESS, "the capture has stayed valid");
    tap_result(vmm_graph_destroy(rig.a, graph), VMM_SUCCESS, "its graph ends");
    tap_result(vmm_stream_begin_capture(rig.a, rig.in_a, VMM_STREAM_CAPTURE_MODE_RELAXED), VMM_SUCCESS, "another");
    tap_result(vmm_stream_wait_event(rig.a, rig.in_a, rig.event, 0), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, "nor the wait for one");
    tap_result(vmm_stream_end_capture(rig.a, rig.in_a, &graph), VMM_ERROR_STREAM_CAPTURE_INVALIDATED, "the refusal ends "
        "the capture");
    end(&rig);
}

static void refused(void)
{
    struct rig rig;
    vmm_ipc_event_handle handle;
    vmm_event gone = NULL;
    begin(&rig, "sim:h100");
    tap_result(vmm_event_create(rig.a, &gone, TO_SHARE), VMM_SUCCESS, "an event");
    tap_result(vmm_event_destroy(rig.a, gone), VMM_SUCCESS, "that ends");
    tap_result(vmm_ipc_get_event_handle(rig.a, &handle, gone), VMM_ERROR_INVALID_HANDLE, "has no handle");
    tap_text(vmm_last_detail()->rule, "VMM-EVENT-UNKNOWN", "by its rule");
    tap_ok(vmm_last_detail()->value == (uint64_t)(uintptr_t)gone && !vmm_last_detail()->expected, "which names the event");
    tap_result(vmm_ctx_set_current(rig.a, NULL), VMM_SUCCESS, "without a context");
    tap_result(vmm_ipc_get_event_handle(rig.a, &handle, rig.event), VMM_ERROR_INVALID_CONTEXT, "nor is there a handle");
    tap_result(vmm_ipc_open_event_handle(rig.a, &gone, rig.handle), VMM_ERROR_INVALID_CONTEXT, "nor an open");
    end(&rig);
}

static void *records(void *user)
{
    const struct rig *rig = user;
    vmm_context ctx;
    vmm_device_primary_ctx_retain(rig->a, &ctx, 0);
    for (int i = 0; i < 50; i++)
        if (vmm_event_record(rig->a, rig->event, rig->in_a) || vmm_stream_synchronize(rig->a, rig->in_a))
            return "a record was refused";
    return NULL;
}

/* One thread records while another one waits. */
static void two_threads(void)
{
    struct rig rig;
    pthread_t thread;
    void *wrong = NULL;
    unsigned refusals = 0;
    begin(&rig, "sim:h100,schedule=device");
    if (pthread_create(&thread, NULL, records, &rig))
        tap_bail("no thread");
    for (int i = 0; i < 50; i++)
        refusals += vmm_stream_wait_event(rig.b, rig.in_b, rig.opened, 0) || vmm_event_record(rig.b, rig.opened, rig.in_b) ||
                    vmm_event_synchronize(rig.b, rig.opened);
    pthread_join(thread, &wrong);
    tap_u64(refusals, 0, "every wait ends");
    tap_ok(!wrong, "every record is made");
    end(&rig);
}

int main(void)
{
    alarm(60);
    one_thread("sim:h100");
    one_thread("sim:h100,schedule=eager");
    one_thread("sim:h100,schedule=device");
    two_events();
    several_records();
    recorded_before();
    closed_before("sim:h100");
    closed_before("sim:h100,schedule=device");
    captured();
    refused();
    two_threads();
    return tap_done();
}
