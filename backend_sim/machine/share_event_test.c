/* SPDX-License-Identifier: Apache-2.0 */
/* Events in the shared state: found by name, complete in the order of their records, and kept until their entry is
 * needed or their context ends. */
#include "share_event.h"

#include "machine.h"
#include "process.h"
#include "share_parts.h"
#include "state_rig.h"
#include "system.h"

enum { CONTEXT = 7, ANOTHER };

static struct share *share_of(const vmm_system *sys)
{
    return ((struct sim_process *)sys->top)->machine->share;
}

static void finds(struct share *a, struct share *b)
{
    struct share_label label, forged, again;
    unsigned at = share_event_new(a, CONTEXT, &label);
    tap_ok(at < SHARE_EVENTS && share_event_find(b, &label) == at, "an event's name leads another process to it");
    share_event_label(a, at, &again);
    tap_ok(again.number == label.number && !memcmp(again.nonce, label.nonce, sizeof label.nonce), "its name stays the same");
    forged = label;
    forged.nonce[1] ^= 1;
    tap_ok(share_event_find(b, &forged) == SHARE_EVENTS, "another secret leads nowhere");
    forged = label;
    forged.number++;
    tap_ok(share_event_find(b, &forged) == SHARE_EVENTS, "nor does another number");
    forged = label;
    forged.index = SHARE_EVENTS + 3;
    tap_ok(share_event_find(b, &forged) == SHARE_EVENTS, "nor an index outside the table");
    forged = label;
    forged.machine++;
    tap_ok(share_event_find(b, &forged) == SHARE_EVENTS, "nor another machine");
    share_event_drop(a, at);
    share_event_drop(b, at);
    tap_ok(share_event_find(b, &label) == at, "an event that no process holds can still be found");
    share_event_end(b, CONTEXT);
    tap_ok(share_event_find(b, &label) == at, "the end of another process's context leaves it");
    share_event_end(a, ANOTHER);
    tap_ok(share_event_find(b, &label) == at, "so does the end of another context");
    share_event_end(a, CONTEXT);
    tap_ok(share_event_find(b, &label) == SHARE_EVENTS, "the end of its context ends it");
}

static void completes(struct share *a, struct share *b)
{
    struct share_label label;
    uint64_t before = 1;
    bool here = true;
    unsigned at = share_event_new(a, CONTEXT, &label);
    tap_u64(share_event_recorded(b, at, &here), 0, "a new event has no record");
    uint64_t first = share_event_record(a, at, &before);
    tap_ok(first && !before && !share_event_is_reached(b, at, first), "its first record has none before it, and is not complete");
    uint64_t second = share_event_record(b, at, &before);
    tap_ok(second > first && before == first, "the second record follows the first");
    tap_ok(share_event_recorded(b, at, &here) == second && here, "the last record is the second process's");
    tap_ok(share_event_recorded(a, at, &here) == second && !here, "and not the first's");
    share_event_reach(a, at, first);
    tap_ok(share_event_is_reached(b, at, first) && !share_event_is_reached(b, at, second), "the first is complete, the second is not");
    share_event_reach(b, at, second);
    share_event_reach(a, at, first);
    tap_ok(share_event_is_reached(a, at, second), "a late report of the first does not undo the second");
    share_event_end(a, CONTEXT);
}

/* The table is full of held events; then some of them are no longer held. */
static void reuses(struct share *a, struct share *b)
{
    static struct share_label label[SHARE_EVENTS];
    struct share_label more;
    unsigned made = 0;
    while (made < SHARE_EVENTS && share_event_new(a, CONTEXT, &label[made]) < SHARE_EVENTS)
        made++;
    tap_u64(made, SHARE_EVENTS, "as many events as the table has places");
    tap_u64(share_event_new(b, ANOTHER, &more), SHARE_EVENTS, "one more has no place");
    tap_ok(share_event_find(b, &label[5]) < SHARE_EVENTS, "the other process holds one of them, too");
    share_event_drop(a, label[9].index);
    share_event_drop(a, label[5].index);
    share_event_drop(a, label[8].index);
    tap_u64(share_event_new(b, ANOTHER, &more), label[8].index, "the oldest that no process holds makes room");
    tap_ok(share_event_find(b, &label[8]) == SHARE_EVENTS && share_event_find(a, &more) == label[8].index,
           "the old name leads nowhere, the new one to the new event");
    tap_ok(share_event_find(a, &label[5]) == label[5].index, "the event that the other process holds is still there");
    share_event_leave(a, a->slot);
    share_event_drop(b, label[5].index);
    tap_u64(share_event_new(b, ANOTHER, &more), label[0].index, "a process that has left holds none");
    share_event_end(a, CONTEXT);
    share_event_end(b, ANOTHER);
}

/* A forged state in which all numbers have been used up. */
static void overflows(struct share *a)
{
    struct share_label label;
    struct share_state *state = a->folder.state;
    uint64_t numbers = atomic_exchange(&state->event_numbers, UINT64_MAX);
    tap_u64(share_event_new(a, CONTEXT, &label), SHARE_EVENTS, "without a number that is left no event is made");
    tap_u64(atomic_exchange(&state->event_numbers, numbers), UINT64_MAX, "and the number does not begin anew");
    unsigned at = share_event_new(a, CONTEXT, &label);
    label.number = 0;
    tap_ok(at < SHARE_EVENTS && share_event_find(a, &label) == SHARE_EVENTS, "a name without a number leads nowhere");
    share_event_end(a, CONTEXT);
}

int main(void)
{
    rig_begin();
    vmm_system *first = rig_open("events"), *second = rig_open("events");
    struct share *a = share_of(first), *b = share_of(second);
    tap_ok(a && b && a != b && a->slot != b->slot, "two processes of a machine");
    if (!share_lock(a))
        tap_bail("the state cannot be locked");
    finds(a, b); /* the tests hold the lock of the state for both */
    completes(a, b);
    reuses(a, b);
    overflows(a);
    share_unlock(a);
    rig_close(second);
    rig_close(first);
    rig_end();
    return tap_done();
}
