/* SPDX-License-Identifier: Apache-2.0 */
#include "share_event.h"

#include <string.h>

#include "share_parts.h"

static bool holds(const struct share_event *event, unsigned slot)
{
    return atomic_load(&event->holder[slot / 64]) >> (slot % 64) & 1;
}

static void hold(struct share_event *event, unsigned slot, bool held)
{
    uint64_t bit = UINT64_C(1) << (slot % 64);
    if (held)
        atomic_fetch_or(&event->holder[slot / 64], bit);
    else
        atomic_fetch_and(&event->holder[slot / 64], ~bit);
}

static unsigned events_seen(const struct share_state *state)
{
    uint64_t seen = atomic_load(&state->events_seen);
    return seen < SHARE_EVENTS ? (unsigned)seen : SHARE_EVENTS;
}

static void end_unheld(struct share_event *event)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < SHARE_PROCESSES / 64; i++)
        any |= atomic_load(&event->holder[i]);
    if (!any)
        atomic_store(&event->number, 0);
}

void share_event_label(const struct share *share, unsigned index, struct share_label *label)
{
    const struct share_event *event = &share->folder.state->event[index];
    *label = (struct share_label){share->folder.state->id, atomic_load(&event->number), {event->nonce[0], event->nonce[1]}, index};
}

unsigned share_event_new(struct share *share, struct share_label *label)
{
    struct share_state *state = share->folder.state;
    unsigned index = 0;
    while (index < SHARE_EVENTS && atomic_load(&state->event[index].number))
        index++;
    uint64_t number = atomic_load(&state->event_numbers) + 1;
    struct share_event *event = &state->event[index % SHARE_EVENTS];
    if (index == SHARE_EVENTS || !number || !os_random(event->nonce, sizeof event->nonce))
        return SHARE_EVENTS;
    atomic_store(&state->event_numbers, number);
    event->home = share->serial;
    atomic_store(&event->recorder, share->serial);
    atomic_store(&event->recorded, 0);
    atomic_store(&event->reached, 0);
    for (unsigned i = 0; i < SHARE_PROCESSES / 64; i++)
        atomic_store(&event->holder[i], 0);
    hold(event, share->slot, true);
    if (events_seen(state) <= index)
        atomic_store(&state->events_seen, index + 1);
    atomic_store(&event->number, number); /* the event exists from this store on */
    share_event_label(share, index, label);
    return index;
}

/* The slot of the process with that serial; SHARE_PROCESSES when it has ended. */
static unsigned slot_of(const struct share *share, uint64_t serial)
{
    const struct share_state *state = share->folder.state;
    for (unsigned i = 0; i < share_slots(state); i++)
        if (atomic_load(&state->slot[i].taken) && atomic_load(&state->slot[i].serial) == serial)
            return i;
    return SHARE_PROCESSES;
}

unsigned share_event_find(struct share *share, const struct share_label *label, uint64_t home)
{
    struct share_state *state = share->folder.state;
    if (label->machine != state->id || label->index >= events_seen(state) || !label->number)
        return SHARE_EVENTS;
    struct share_event *event = &state->event[label->index];
    unsigned slot = slot_of(share, home);
    if (atomic_load(&event->number) != label->number || memcmp(event->nonce, label->nonce, sizeof label->nonce) != 0 ||
        slot == SHARE_PROCESSES || !holds(event, slot))
        return SHARE_EVENTS;
    hold(event, share->slot, true);
    return label->index;
}

void share_event_drop(struct share *share, unsigned index)
{
    struct share_event *event = &share->folder.state->event[index];
    hold(event, share->slot, false);
    end_unheld(event);
}

void share_event_leave(const struct share *share, unsigned slot)
{
    struct share_state *state = share->folder.state;
    for (unsigned i = 0; i < events_seen(state); i++)
        if (holds(&state->event[i], slot)) {
            hold(&state->event[i], slot, false);
            end_unheld(&state->event[i]);
        }
}

uint64_t share_event_record(struct share *share, unsigned index)
{
    struct share_state *state = share->folder.state;
    struct share_event *event = &state->event[index];
    uint64_t record = atomic_load(&state->event_records) + 1;
    atomic_store(&state->event_records, record);
    atomic_store(&event->recorder, share->serial);
    atomic_store(&event->recorded, record);
    return record;
}

/* The later of two records of one event may be complete first. */
void share_event_reach(struct share *share, unsigned index, uint64_t record)
{
    struct share_event *event = &share->folder.state->event[index];
    uint64_t before = atomic_load(&event->reached);
    while (before < record && !atomic_compare_exchange_weak(&event->reached, &before, record))
        ;
}

uint64_t share_event_recorded(const struct share *share, unsigned index, bool *here)
{
    const struct share_event *event = &share->folder.state->event[index];
    *here = atomic_load(&event->recorder) == share->serial;
    return atomic_load(&event->recorded);
}

bool share_event_is_reached(const struct share *share, unsigned index, uint64_t record)
{
    const struct share_event *event = &share->folder.state->event[index];
    char path[OS_PATH_MAX];
    if (atomic_load(&event->reached) >= record)
        return true;
    unsigned slot = slot_of(share, atomic_load(&event->recorder));
    return slot == SHARE_PROCESSES || (slot != share->slot && !os_process_alive(share_file_of(share, "slot", slot, path)));
}
