/* SPDX-License-Identifier: Apache-2.0 */
/* Events: which calls are refused, and that a refused call leaves the event unchanged. */
#include <string.h>

#include "scheduled.h"
#include "test.h"

static uint64_t value_of(vmm_event event)
{
    return (uint64_t)(uintptr_t)event;
}

/* ---- creation ---- */

TEST_BREAKS(EVENT_NULL, create_an_event_nowhere)
{
    REFUSED(vmm_event_create(S, NULL, VMM_EVENT_DEFAULT), INVALID_VALUE, "event", 0);
    REFUSED(vmm_event_create(S, NULL, 8), INVALID_VALUE, "event", 0); /* before the flags */
}

static void create_with(struct fix *f, unsigned flags)
{
    vmm_event event = NULL;
    ACCEPTED(vmm_event_create(S, &event, flags));
    CHECK(event != NULL, "flags %u: no event", flags);
    ACCEPTED(vmm_event_destroy(S, event));
}

TEST_BREAKS(EVENT_FLAGS, create_with_flags_of_nothing)
{
    static const unsigned flags[] = {8, 16, 0x100, 0x80000000, 8 | VMM_EVENT_DISABLE_TIMING, UINT32_MAX};
    vmm_event event = (vmm_event)8;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        REFUSED(vmm_event_create(S, &event, flags[i]), INVALID_VALUE, "flags", flags[i]);
    CHECK(event == (vmm_event)8, "the output was written");
    vmm_ctx_set_current(S, NULL);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_event_create(S, &event, 8), INVALID_CONTEXT, NULL, 0); /* the context is first */
    REFUSED_BY("VMM-CTX-CURRENT", vmm_event_create(S, NULL, 0), INVALID_CONTEXT, NULL, 0);
    vmm_ctx_set_current(S, f->ctx);
}

TEST_NEAR_MISS(EVENT_FLAGS, create_with_each_flag)
{
    for (unsigned flags = 0; flags < 4; flags++)
        create_with(f, flags);
}

TEST_BREAKS(EVENT_INTERPROCESS, create_for_processes_with_times)
{
    vmm_event event = (vmm_event)8;
    REFUSED(vmm_event_create(S, &event, VMM_EVENT_INTERPROCESS), INVALID_VALUE, "flags", VMM_EVENT_INTERPROCESS);
    REFUSED(vmm_event_create(S, &event, VMM_EVENT_INTERPROCESS | VMM_EVENT_BLOCKING_SYNC), INVALID_VALUE, "flags", 5);
    CHECK(event == (vmm_event)8, "the output was written");
}

TEST_NEAR_MISS(EVENT_INTERPROCESS, create_for_processes_without_times)
{
    create_with(f, VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING);
    create_with(f, VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING | VMM_EVENT_BLOCKING_SYNC);
}

/* ---- values that are not events ---- */

static void refuse_everywhere(struct fix *f, vmm_event event, vmm_result want)
{
    vmm_stream stream = fix_stream(f);
    uint64_t value = value_of(event);
    REFUSED_LIKE(vmm_event_destroy(S, event), NULL, want, "event", value, VMM_OBJECT_NONE, 0);
    REFUSED_LIKE(vmm_event_record(S, event, NULL), NULL, want, "event", value, VMM_OBJECT_NONE, 0);
    REFUSED_LIKE(vmm_event_record(S, event, stream), NULL, want, "event", value, VMM_OBJECT_NONE, 0);
    REFUSED_LIKE(vmm_event_query(S, event), NULL, want, "event", value, VMM_OBJECT_NONE, 0);
    REFUSED_LIKE(vmm_event_synchronize(S, event), NULL, want, "event", value, VMM_OBJECT_NONE, 0);
    REFUSED_LIKE(vmm_stream_wait_event(S, NULL, event, 0), NULL, want, "event", value, VMM_OBJECT_NONE, 0);
    REFUSED_LIKE(vmm_stream_wait_event(S, stream, event, 0), NULL, want, "event", value, VMM_OBJECT_NONE, 0);
    fix_stream_destroy(f, stream);
}

TEST_BREAKS(EVENT_NONE, use_no_event)
{
    refuse_everywhere(f, NULL, VMM_ERROR_INVALID_HANDLE);
    vmm_ctx_set_current(S, NULL);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_event_record(S, NULL, NULL), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_stream_wait_event(S, NULL, NULL, 0), INVALID_CONTEXT, NULL, 0);
    REFUSED(vmm_event_query(S, NULL), INVALID_HANDLE, "event", 0);
    vmm_ctx_set_current(S, f->ctx);
}

/* A query of a non-event is refused as one even before initialisation; a call that needs a stream is not. */
TEST_BREAKS_ON(EVENT_NONE, use_no_event_before_init, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    CHECK_U64(vmm_event_destroy(S, NULL), VMM_ERROR_INVALID_HANDLE);
    CHECK_U64(vmm_event_query(S, NULL), VMM_ERROR_INVALID_HANDLE);
    CHECK_U64(vmm_event_synchronize(S, NULL), VMM_ERROR_INVALID_HANDLE);
    CHECK(!f->simulator || strcmp(vmm_last_detail()->rule, "VMM-EVENT-NONE") == 0, "by another rule");
    CHECK_U64(vmm_event_record(S, NULL, NULL), VMM_ERROR_NOT_INITIALIZED);
    CHECK_U64(vmm_stream_wait_event(S, NULL, NULL, 0), VMM_ERROR_NOT_INITIALIZED);
    CHECK_U64(vmm_event_create(S, NULL, 0), VMM_ERROR_NOT_INITIALIZED);
}

TEST_NEAR_MISS(EVENT_NONE, use_an_event)
{
    vmm_event event = fix_event(f);
    ACCEPTED(vmm_event_record(S, event, NULL));
    ACCEPTED(vmm_stream_wait_event(S, NULL, event, 0));
    ACCEPTED(vmm_event_synchronize(S, event));
    ACCEPTED(vmm_event_query(S, event));
}

TEST_BREAKS(EVENT_UNKNOWN, use_what_is_no_event)
{
    fix_need_simulator(f, "a value that never was an event may end the process");
    refuse_everywhere(f, (vmm_event)1, VMM_ERROR_INVALID_HANDLE);
    refuse_everywhere(f, (vmm_event)0xdead0, VMM_ERROR_INVALID_HANDLE);
    refuse_everywhere(f, (vmm_event)(uintptr_t)fix_stream(f), VMM_ERROR_INVALID_HANDLE); /* an object of another kind */
}

TEST_BREAKS(EVENT_UNKNOWN, use_an_event_after_its_end)
{
    fix_need_simulator(f, "a destroyed event's value may end the process");
    vmm_event event = fix_event(f);
    fix_event_destroy(f, event);
    refuse_everywhere(f, event, VMM_ERROR_INVALID_HANDLE);
    CHECK_U64(vmm_event_query(S, event), VMM_ERROR_INVALID_HANDLE);
    CHECK(vmm_last_detail()->nearest.kind == VMM_OBJECT_EVENT && vmm_last_detail()->nearest.ended != 0,
          "the detail does not report that it was destroyed");
}

TEST_BREAKS(EVENT_ENDED, use_an_event_of_a_context_that_ended)
{
    vmm_context ctx = fix_context(f, 0);
    vmm_event event = fix_event(f);
    ACCEPTED(vmm_event_record(S, event, NULL));
    fix_context_destroy(f, ctx);
    fix_forget(f, FIX_EVENT, value_of(event), 0);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    refuse_everywhere(f, event, VMM_ERROR_CONTEXT_IS_DESTROYED);
}

static vmm_event event_of_primary(struct fix *f)
{
    vmm_context primary = NULL;
    ACCEPTED(vmm_device_primary_ctx_retain(S, &primary, 0));
    fix_need(f, vmm_ctx_set_current(S, primary));
    vmm_event event = fix_event(f);
    fix_forget(f, FIX_EVENT, value_of(event), 0);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    return event;
}

/* Retaining the context again does not revive the event. */
TEST_BREAKS(EVENT_ENDED, use_an_event_of_a_primary_context_that_ended)
{
    fix_need_simulator(f, "an event of a primary context that came back ends the process");
    vmm_event event = event_of_primary(f), other;
    ACCEPTED(vmm_device_primary_ctx_reset(S, 0));
    refuse_everywhere(f, event, VMM_ERROR_CONTEXT_IS_DESTROYED);
    ACCEPTED(vmm_device_primary_ctx_release(S, 0));
    other = event_of_primary(f);
    REFUSED_BY("VMM-EVENT-UNKNOWN", vmm_event_query(S, event), INVALID_HANDLE, "event", value_of(event));
    ACCEPTED(vmm_event_query(S, other));
    ACCEPTED(vmm_device_primary_ctx_release(S, 0));
    refuse_everywhere(f, other, VMM_ERROR_CONTEXT_IS_DESTROYED);
}

TEST_NEAR_MISS(EVENT_ENDED, use_an_event_of_a_primary_context_released_once)
{
    vmm_context again = NULL;
    vmm_event event = event_of_primary(f);
    ACCEPTED(vmm_device_primary_ctx_retain(S, &again, 0));
    ACCEPTED(vmm_device_primary_ctx_release(S, 0));
    ACCEPTED(vmm_event_query(S, event));
    ACCEPTED(vmm_event_synchronize(S, event));
    ACCEPTED(vmm_event_destroy(S, event));
    ACCEPTED(vmm_device_primary_ctx_release(S, 0));
}

/* The stream has ended, and no context is current. */
TEST_NEAR_MISS(EVENT_UNKNOWN, use_an_event_after_its_streams_end)
{
    vmm_stream stream = fix_stream(f), other = fix_stream(f);
    vmm_event event = fix_event(f);
    ACCEPTED(vmm_event_record(S, event, stream));
    fix_stream_destroy(f, stream);
    vmm_ctx_set_current(S, NULL);
    ACCEPTED(vmm_stream_wait_event(S, other, event, 0));
    ACCEPTED(vmm_event_synchronize(S, event));
    ACCEPTED(vmm_event_query(S, event));
    ACCEPTED(vmm_event_record(S, event, other));
    ACCEPTED(vmm_event_synchronize(S, event));
    ACCEPTED(vmm_event_destroy(S, event));
    fix_forget(f, FIX_EVENT, value_of(event), 0);
    vmm_ctx_set_current(S, f->ctx);
}

/* ---- waits and records ---- */

TEST_BREAKS(EVENT_WAIT_FLAGS, wait_with_flags)
{
    static const unsigned flags[] = {2, 3, 4, 0x80000000};
    vmm_event event = fix_event(f);
    vmm_stream stream = fix_stream(f);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        REFUSED(vmm_stream_wait_event(S, stream, event, flags[i]), INVALID_VALUE, "flags", flags[i]);
        REFUSED(vmm_stream_wait_event(S, NULL, event, flags[i]), INVALID_VALUE, "flags", flags[i]);
    }
    REFUSED(vmm_stream_wait_event(S, stream, NULL, 2), INVALID_VALUE, "flags", 2); /* before the event */
    vmm_ctx_set_current(S, NULL);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_stream_wait_event(S, NULL, event, 2), INVALID_CONTEXT, NULL, 0);
    vmm_ctx_set_current(S, f->ctx);
}

TEST_BREAKS(EVENT_WAIT_EXTERNAL, wait_as_if_captured)
{
    vmm_event event = fix_event(f);
    REFUSED(vmm_stream_wait_event(S, NULL, event, VMM_EVENT_WAIT_EXTERNAL), ILLEGAL_STATE, "flags", 1);
    ACCEPTED(vmm_event_record(S, event, NULL));
    vmm_stream stream = fix_stream(f);
    REFUSED(vmm_stream_wait_event(S, stream, event, VMM_EVENT_WAIT_EXTERNAL), ILLEGAL_STATE, "flags", 1);
}

TEST_NEAR_MISS(EVENT_WAIT_EXTERNAL, wait_without_a_capture)
{
    vmm_event event = fix_event(f);
    ACCEPTED(vmm_event_record(S, event, NULL));
    ACCEPTED(vmm_stream_wait_event(S, fix_stream(f), event, VMM_EVENT_WAIT_DEFAULT));
}

/* After a refusal the event keeps its last record. */
TEST_BREAKS(EVENT_CONTEXT, record_on_a_stream_of_another_context)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    f->rule = root->rule;
    f->races = true; /* each refusal compares the memory, which the kernel is still to write */
    vmm_deviceptr p = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    vmm_event event = fix_event(f);
    vmm_stream stream = fix_stream(f);
    ACCEPTED(LAUNCH(stream, FILL, p, 8, 7));
    ACCEPTED(vmm_event_record(S, event, stream));
    fix_context(f, 0);
    static const vmm_stream defaults[] = {NULL, VMM_STREAM_LEGACY, VMM_STREAM_PER_THREAD};
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        REFUSED_NEAR(vmm_event_record(S, event, defaults[i]), INVALID_HANDLE, "event", value_of(event), EVENT, 0);
    vmm_stream of_other = fix_stream(f);
    REFUSED(vmm_event_record(S, event, of_other), INVALID_HANDLE, "event", value_of(event));
    vmm_event other = fix_event(f);
    REFUSED(vmm_event_record(S, other, stream), INVALID_HANDLE, "event", value_of(other));
    CHECK_U64(vmm_event_query(S, event), VMM_ERROR_NOT_READY);
    ACCEPTED(vmm_event_query(S, other));
    ACCEPTED(vmm_event_synchronize(S, event));
    fix_close(f);
}

/* The stream's context matters, not the current one. And waiting is not recording. */
TEST_NEAR_MISS(EVENT_CONTEXT, record_while_another_context_is_current)
{
    vmm_event event = fix_event(f);
    vmm_stream stream = fix_stream(f);
    fix_context(f, 0);
    vmm_stream other = fix_stream(f);
    ACCEPTED(vmm_event_record(S, event, stream));
    ACCEPTED(vmm_stream_wait_event(S, other, event, 0));
    ACCEPTED(vmm_stream_wait_event(S, NULL, event, 0));
    ACCEPTED(vmm_event_synchronize(S, event));
    ACCEPTED(vmm_stream_synchronize(S, other));
}

/* ---- contexts ---- */

TEST_EXPECTS("event.needs_a_context", events_without_a_context)
{
    vmm_event event = fix_event(f), made = (vmm_event)8;
    static const vmm_stream defaults[] = {NULL, VMM_STREAM_LEGACY, VMM_STREAM_PER_THREAD};
    vmm_ctx_set_current(S, NULL);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_event_create(S, &made, 0), INVALID_CONTEXT, NULL, 0);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        REFUSED_BY("VMM-CTX-CURRENT", vmm_event_record(S, event, defaults[i]), INVALID_CONTEXT, NULL, 0);
        REFUSED_BY("VMM-CTX-CURRENT", vmm_stream_wait_event(S, defaults[i], event, 0), INVALID_CONTEXT, NULL, 0);
    }
    vmm_ctx_set_current(S, f->ctx);
}

TEST_EXPECTS("event.streams_are_checked", records_and_waits_on_what_is_no_stream)
{
    fix_need_simulator(f, "a value that is not a stream ends the process");
    vmm_event event = fix_event(f);
    vmm_stream gone = fix_stream(f);
    fix_stream_destroy(f, gone);
    REFUSED_BY("VMM-STREAM-UNKNOWN", vmm_event_record(S, event, gone), INVALID_HANDLE, "stream", (uintptr_t)gone);
    REFUSED_BY("VMM-STREAM-UNKNOWN", vmm_stream_wait_event(S, gone, event, 0), INVALID_HANDLE, "stream", (uintptr_t)gone);
}
