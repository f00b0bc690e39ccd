/* SPDX-License-Identifier: Apache-2.0 */
/* Events of other processes: what their records mean here, and what is refused. */
#include <string.h>

#include "house.h"
#include "other.h"
#include "test.h"

#define TO_SHARE (VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING)

/* An event of another process, and the handle that names it. */
static struct other_shared theirs_on(struct fix *f)
{
    return other_start_sharing(f, OTHER_EVENT, 0, 0);
}

static vmm_event created(struct fix *f, unsigned flags)
{
    vmm_event event = NULL;
    ACCEPTED(vmm_event_create(S, &event, flags));
    return event;
}

static vmm_event opened(struct fix *f, vmm_ipc_event_handle handle)
{
    vmm_event event = NULL;
    ACCEPTED(vmm_ipc_open_event_handle(S, &event, handle));
    return event;
}

TEST_EXPECTS("ipc.events", ipc_events_both_see_the_records)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_event event = opened(f, t.handle.event), again = opened(f, t.handle.event);
    CHECK(event != again, "two opens gave one event");
    ACCEPTED(vmm_event_query(S, event));
    CHECK(!other_ask(&t.other, OTHER_RECORD, t.value, 0, -1).result, "the other process records its event");
    ACCEPTED(vmm_event_synchronize(S, event));
    ACCEPTED(vmm_stream_wait_event(S, NULL, event, 0));
    ACCEPTED(vmm_event_record(S, event, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_event_query(S, event));
    CHECK(!other_ask(&t.other, OTHER_WAIT, t.value, 0, -1).result, "the other process waits for the record of this one");
    ACCEPTED(vmm_event_query(S, again));
    ACCEPTED(vmm_event_destroy(S, again));
    other_end(&t.other);
    ACCEPTED(vmm_event_query(S, event));
    ACCEPTED(vmm_event_destroy(S, event));
}

TEST_EXPECTS("ipc.events", ipc_handles_of_one_event)
{
    vmm_ipc_event_handle first, second;
    f = fix_share(f);
    vmm_event event = created(f, TO_SHARE);
    ACCEPTED(vmm_ipc_get_event_handle(S, &first, event));
    ACCEPTED(vmm_ipc_get_event_handle(S, &second, event));
    CHECK(memcmp(&first, &second, sizeof first) == 0, "the handles of one event differ");
    ACCEPTED(vmm_event_record(S, event, NULL));
    ACCEPTED(vmm_event_record(S, event, NULL));
    ACCEPTED(vmm_event_synchronize(S, event));
    ACCEPTED(vmm_event_destroy(S, event));
}

/* The call writes zeros. */
static void no_handle(struct fix *f, vmm_event event)
{
    static const vmm_ipc_event_handle zeros;
    vmm_ipc_event_handle handle;
    memset(&handle, 0x77, sizeof handle);
    REFUSED(vmm_ipc_get_event_handle(S, &handle, event), INVALID_HANDLE, "event", (uintptr_t)event);
    CHECK(memcmp(&handle, &zeros, sizeof zeros) == 0, "the refused call wrote no zeros");
}

TEST_BREAKS(IPC_EVENT, ipc_of_events_that_are_not_to_be_shared)
{
    vmm_event plain = created(f, VMM_EVENT_DEFAULT), untimed = created(f, VMM_EVENT_DISABLE_TIMING);
    no_handle(f, plain);
    no_handle(f, untimed);
    ACCEPTED(vmm_event_destroy(S, plain));
    ACCEPTED(vmm_event_destroy(S, untimed));
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_event event = opened(f, t.handle.event);
    no_handle(f, event);
    ACCEPTED(vmm_event_destroy(S, event));
    other_end(&t.other);
}

TEST_BREAKS(IPC_EVENT_HANDLE, ipc_event_of_other_bytes)
{
    f = fix_share(f);
    vmm_event event = created(f, TO_SHARE), none = NULL;
    vmm_ipc_event_handle handle;
    vmm_ipc_mem_handle memory;
    vmm_deviceptr at = 0;
    ACCEPTED(vmm_ipc_get_event_handle(S, &handle, event));
    memset(&handle, 0, sizeof handle);
    REFUSED(vmm_ipc_open_event_handle(S, &none, handle), MAP_FAILED, "handle", 0);
    ACCEPTED(vmm_mem_alloc(S, &at, f->g));
    ACCEPTED(vmm_ipc_get_mem_handle(S, &memory, at));
    memcpy(&handle, &memory, sizeof handle);
    REFUSED(vmm_ipc_open_event_handle(S, &none, handle), MAP_FAILED, "handle", 0);
    CHECK(!none, "the refused call wrote an event");
    ACCEPTED(vmm_mem_free(S, at));
    ACCEPTED(vmm_event_destroy(S, event));
}

TEST_NEAR_MISS(IPC_EVENT_HANDLE, ipc_event_of_a_process_that_ended)
{
    f = fix_share(f);
    struct other_shared t = theirs_on(f);
    vmm_event event = opened(f, t.handle.event);
    ACCEPTED(vmm_event_query(S, event));
    ACCEPTED(vmm_event_destroy(S, event));
    ACCEPTED(vmm_event_destroy(S, opened(f, t.handle.event))); /* while its context lives */
    other_end(&t.other);
}

TEST_BREAKS(IPC_OWN, ipc_of_its_own_event)
{
    f = fix_share(f);
    vmm_event event = created(f, TO_SHARE), none = NULL;
    vmm_ipc_event_handle handle;
    ACCEPTED(vmm_ipc_get_event_handle(S, &handle, event));
    REFUSED(vmm_ipc_open_event_handle(S, &none, handle), INVALID_CONTEXT, "handle", 0);
    CHECK(!none, "the refused call wrote an event");
    ACCEPTED(vmm_event_destroy(S, event));
}

TEST_BREAKS(IPC_NULL, ipc_events_without_a_place)
{
    vmm_ipc_event_handle handle = {{0}};
    vmm_event event = created(f, TO_SHARE);
    REFUSED(vmm_ipc_get_event_handle(S, NULL, event), INVALID_VALUE, "pHandle", 0);
    REFUSED(vmm_ipc_get_event_handle(S, &handle, NULL), INVALID_VALUE, "event", 0);
    REFUSED(vmm_ipc_open_event_handle(S, NULL, handle), INVALID_VALUE, "phEvent", 0);
    ACCEPTED(vmm_event_destroy(S, event));
}

TEST_BREAKS(EVENT_CONTEXT, ipc_of_an_event_of_another_context)
{
    fix_need_simulator(f, "driver 580 ends the process");
    vmm_context own = NULL, other = NULL;
    vmm_ipc_event_handle handle = {{0}};
    vmm_event event = created(f, TO_SHARE);
    ACCEPTED(vmm_ctx_get_current(S, &own));
    ACCEPTED(vmm_ctx_create(S, &other, 0, 0));
    REFUSED(vmm_ipc_get_event_handle(S, &handle, event), INVALID_HANDLE, "event", (uintptr_t)event);
    ACCEPTED(vmm_ctx_destroy(S, other));
    ACCEPTED(vmm_ctx_set_current(S, own));
    ACCEPTED(vmm_event_destroy(S, event));
}
