/* SPDX-License-Identifier: Apache-2.0 */
/* Events: waits for something else than intended, and events that do not exist. */
#include "buggy.h"

static vmm_event event(struct run *b)
{
    vmm_event made = NULL;
    DO(vmm_event_create(S, &made, VMM_EVENT_DISABLE_TIMING));
    return made;
}

static vmm_stream blocking(struct run *b)
{
    vmm_stream made = NULL;
    DO(vmm_stream_create(S, &made, VMM_STREAM_DEFAULT));
    return made;
}

/* An event stands for what was issued before it was recorded. */
PROGRAM(event_recorded_before_the_work, .does = "records an event, issues the fill, and waits for the event",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "record after the work that is to be waited for",
        .driver = "SUCCESS; the fill may fault later (LAUNCH_FAILED)", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-COPY")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_stream work = stream(b);
    vmm_event done = event(b);
    BUG(DO(vmm_event_record(S, done, work)));
    CAUSE(vmm_memset_d8_async(S, p, 0x5a, G, work));
    FIX(DO(vmm_event_record(S, done, work)));
    DO(vmm_event_synchronize(S, done));
    FIX(RIGHT(byte_at(b, p) == 0x5a));
    REPORTED(vmm_mem_unmap(S, p, G));
    DO(vmm_event_destroy(S, done));
    DO(vmm_stream_destroy(S, work));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* Two buffers with an event each: the index is off by one. */
PROGRAM(event_of_the_other_buffer, .does = "waits for the event of the other of two buffers",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "keep buffer and event in one struct",
        .driver = "SUCCESS; the kernel may fault later", .then = "VMM-FAULT-ACCESS")
{
    vmm_deviceptr p = chunks(b, 2, RW);
    vmm_stream work[] = {stream(b), stream(b)};
    vmm_event done[] = {event(b), event(b)};
    DO(LAUNCH(work[0], FILL, p, G, 6));
    DO(vmm_event_record(S, done[0], work[0]));
    CAUSE(LAUNCH(work[1], FILL, p + G, G, 7));
    DO(vmm_event_record(S, done[1], work[1]));
    DO(vmm_event_synchronize(S, done[BUG_OR_FIX(0, 1)]));
    FIX(RIGHT(byte_at(b, p + G) == 7));
    VALUE(p + G);
    NEAR(p + G);
    REPORTED(vmm_mem_unmap(S, p + G, G));
    for (int i = 0; i < 2; i++) {
        DO(vmm_event_destroy(S, done[i]));
        DO(vmm_stream_destroy(S, work[i]));
    }
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_address_free(S, p, 2 * G));
}

/* cuStreamWaitEvent returns at once: the stream waits, not the host. */
PROGRAM(only_a_stream_waits, .does = "calls cuStreamWaitEvent and frees the buffer, as if the host had waited",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "cuEventSynchronize, or wait for the stream that waits",
        .driver = "SUCCESS; the fill may fault later (LAUNCH_FAILED)", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-COPY")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_stream work = stream(b), other = stream(b);
    vmm_event done = event(b);
    CAUSE(vmm_memset_d8_async(S, p, 0x5a, G, work));
    DO(vmm_event_record(S, done, work));
    DO(vmm_stream_wait_event(S, other, done, 0));
    FIX(DO(vmm_stream_synchronize(S, other)); RIGHT(byte_at(b, p) == 0x5a));
    REPORTED(vmm_mem_unmap(S, p, G));
    DO(vmm_event_destroy(S, done));
    DO(vmm_stream_destroy(S, work));
    DO(vmm_stream_destroy(S, other));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* One event for two streams: the second record moves it. */
PROGRAM(event_recorded_again, .does = "uses one event for two streams and waits for it once", .rule = "VMM-UNMAP-IN-FLIGHT",
        .at = "cuMemUnmap", .way = "one event for each, or wait before recording again",
        .driver = "SUCCESS; the kernel may fault later", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_stream producer = stream(b), other = stream(b);
    vmm_event done = event(b), second = event(b);
    CAUSE(LAUNCH(producer, ATOMIC_ADD, p, 100));
    DO(vmm_event_record(S, done, producer));
    DO(vmm_event_record(S, BUG_OR_FIX(done, second), other));
    DO(vmm_event_synchronize(S, done));
    FIX(RIGHT(byte_at(b, p) == 100));
    REPORTED(vmm_mem_unmap(S, p, G));
    DO(vmm_event_destroy(S, done));
    DO(vmm_event_destroy(S, second));
    DO(vmm_stream_destroy(S, producer));
    DO(vmm_stream_destroy(S, other));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* A wait is for what the event stands for at that call; before the record that is nothing. */
PROGRAM(wait_before_the_record, .does = "makes the copying stream wait for an event that is recorded only then",
        .rule = "VMM-UNMAP-IN-FLIGHT", .at = "cuMemUnmap", .way = "record, then cuStreamWaitEvent",
        .driver = "SUCCESS; the kernel may fault later", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_stream compute = stream(b), copies = stream(b);
    vmm_event done = event(b);
    CAUSE(LAUNCH(compute, FILL, p, G, 7));
    BUG(DO(vmm_stream_wait_event(S, copies, done, 0)); DO(vmm_event_record(S, done, compute)));
    FIX(DO(vmm_event_record(S, done, compute)); DO(vmm_stream_wait_event(S, copies, done, 0)));
    DO(vmm_stream_synchronize(S, copies));
    FIX(RIGHT(byte_at(b, p) == 7));
    REPORTED(vmm_mem_unmap(S, p, G));
    DO(vmm_event_destroy(S, done));
    DO(vmm_stream_destroy(S, compute));
    DO(vmm_stream_destroy(S, copies));
    THEN(vmm_ctx_synchronize(S));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* The default stream is ordered with blocking streams only; in the corrected form its record stands for their work too. */
PROGRAM(event_of_the_default_stream, .does = "records on the default stream what a non-blocking stream is doing",
        .rule = "VMM-ACCESS-IN-FLIGHT", .at = "cuMemSetAccess", .way = "record on the stream that does the work",
        .driver = "SUCCESS; the kernel may fault later", .near = VMM_OBJECT_MAPPING, .then = "VMM-FAULT-ACCESS")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_stream work = BUG_OR_FIX(stream(b), blocking(b));
    vmm_event done = event(b);
    CAUSE(LAUNCH(work, FILL, p, G, 7));
    DO(vmm_event_record(S, done, NULL));
    DO(vmm_event_synchronize(S, done));
    REPORTED(grant(b, p, G, DEVICE(0), READ));
    DO(vmm_event_destroy(S, done));
    DO(vmm_stream_destroy(S, work));
    THEN(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p) == 7));
    give_back(b, p, G, memory);
}

/* Each thread, library or test makes its own context; an event belongs to the one that was current. */
PROGRAM(event_of_another_context, .does = "records an event of one context on the default stream of another",
        .rule = "VMM-EVENT-CONTEXT", .at = "cuEventRecord", .way = "create the event in the stream's context",
        .argument = "event", .near = VMM_OBJECT_EVENT)
{
    vmm_context second = NULL;
    vmm_event done = BUG_OR_FIX(event(b), NULL);
    DO(vmm_ctx_create(S, &second, 0, 0));
    FIX(done = event(b));
    RIGHT(done != NULL);
    REPORTED(vmm_event_record(S, done, NULL));
    DO(vmm_event_synchronize(S, done));
    DO(vmm_event_destroy(S, done));
    DO(vmm_ctx_destroy(S, second));
}

PROGRAM(event_after_its_context, .does = "waits for an event whose context was destroyed", .rule = "VMM-EVENT-ENDED",
        .at = "cuEventSynchronize", .way = "wait, destroy the event, then the context", .argument = "event",
        .near = VMM_OBJECT_EVENT)
{
    vmm_context second = NULL;
    DO(vmm_ctx_create(S, &second, 0, 0));
    vmm_event done = event(b);
    RIGHT(done != NULL);
    DO(vmm_event_record(S, done, NULL));
    FIX(DO(vmm_event_synchronize(S, done)); DO(vmm_event_destroy(S, done)));
    DO(vmm_ctx_destroy(S, second));
    VALUE((uintptr_t)done);
    BUG(REPORTED(vmm_event_synchronize(S, done)));
}

/* Destroying a pending event is allowed; using its value afterwards is not. */
PROGRAM(event_after_destroy, .does = "destroys an event and asks for it afterwards", .rule = "VMM-EVENT-UNKNOWN",
        .at = "cuEventQuery", .way = "set the variable to NULL when it is destroyed", .argument = "event",
        .near = VMM_OBJECT_EVENT)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    vmm_event done = event(b);
    DO(vmm_memset_d8_async(S, p, 4, G, NULL));
    DO(vmm_event_record(S, done, NULL));
    DO(vmm_event_destroy(S, done));
    VALUE((uintptr_t)done);
    BUG(REPORTED(vmm_event_query(S, done)));
    DO(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p) == 4));
    give_back(b, p, G, memory);
}

PROGRAM(event_never_created, .does = "records an event that was never created", .rule = "VMM-EVENT-NONE",
        .at = "cuEventRecord", .way = "cuEventCreate, and look at what it returns", .argument = "event")
{
    vmm_event done = NULL;
    FIX(done = event(b));
    VALUE(0);
    REPORTED(vmm_event_record(S, done, NULL));
    FIX(RIGHT(vmm_event_synchronize(S, done) == VMM_SUCCESS); DO(vmm_event_destroy(S, done)));
}

PROGRAM(wait_with_the_flags_of_create, .does = "passes the event's flags to cuStreamWaitEvent as well",
        .rule = "VMM-EVENT-WAIT-FLAGS", .at = "cuStreamWaitEvent", .way = "0", .argument = "flags")
{
    vmm_stream work = stream(b);
    vmm_event done = event(b);
    RIGHT(done != NULL);
    DO(vmm_event_record(S, done, NULL));
    VALUE(VMM_EVENT_DISABLE_TIMING);
    REPORTED(vmm_stream_wait_event(S, work, done, BUG_OR_FIX(VMM_EVENT_DISABLE_TIMING, VMM_EVENT_WAIT_DEFAULT)));
    DO(vmm_event_destroy(S, done));
    DO(vmm_stream_destroy(S, work));
}

PROGRAM(event_for_processes_with_times, .does = "asks for an event for other processes and for times",
        .rule = "VMM-EVENT-INTERPROCESS", .at = "cuEventCreate", .way = "add CU_EVENT_DISABLE_TIMING", .argument = "flags")
{
    vmm_event shared = NULL;
    VALUE(VMM_EVENT_INTERPROCESS);
    REPORTED(vmm_event_create(S, &shared, VMM_EVENT_INTERPROCESS | BUG_OR_FIX(0, VMM_EVENT_DISABLE_TIMING)));
    FIX(RIGHT(shared != NULL); DO(vmm_event_destroy(S, shared)));
}

PROGRAM(event_not_destroyed, .does = "makes an event for each wait and forgets it", .rule = "VMM-LEAK-EVENT",
        .at = "cuEventCreate", .way = "cuEventDestroy, right after the wait is issued if you like", .leaves = "E")
{
    vmm_event done = NULL;
    vmm_stream work = stream(b);
    REPORTED(vmm_event_create(S, &done, 0));
    DO(vmm_event_record(S, done, NULL));
    DO(vmm_stream_wait_event(S, work, done, 0));
    FIX(DO(vmm_event_destroy(S, done)));
    RIGHT(vmm_stream_synchronize(S, work) == VMM_SUCCESS);
    DO(vmm_stream_destroy(S, work));
}
