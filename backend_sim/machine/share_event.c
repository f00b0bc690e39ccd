/* SPDX-License-Identifier: Apache-2.0 */
#include "share_event.h"

#include <string.h>

#include "share_parts.h"

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

static bool is_held(const struct share_event *event)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < SHARE_PROCESSES / 64; i++)
        any |= atomic_load(&event->holder[i]);
    return any != 0;
}

/* A free entry; else the oldest entry that no process holds. */
static unsigned choose(const struct share_state *state)
{
    unsigned oldest = SHARE_EVENTS;
    for (unsigned i = 0; i < SHARE_EVENTS; i++) {
        uint64_t number = atomic_load(&state->event[i].number);
        if (!number)
            return i;
        if (!is_held(&state->event[i]) && (oldest == SHARE_EVENTS || number < atomic_load(&state->event[oldest].number)))
            oldest = i;
    }
    return oldest;
}

void share_event_label(const struct share *share, unsigned index, struct share_label *label)
{
    const struct share_event *event = &share->folder.state->event[index];
    *label = (struct share_label){share->folder.state->id, atomic_load(&event->number), {event->nonce[0], event->nonce[1]}, index};
}

unsigned share_event_new(struct share *share, uint64_t context, struct share_label *label)
{
    struct share_state *state = share->folder.state;
    unsigned index = choose(state);
    uint64_t number = atomic_load(&state->event_numbers) + 1;
    struct share_event *event = &state->event[index % SHARE_EVENTS];
    if (index == SHARE_EVENTS || !number || !os_random(event->nonce, sizeof event->nonce))
        return SHARE_EVENTS;
    atomic_store(&event->number, 0); /* the event before it, if any, ends here */
    atomic_store(&state->event_numbers, number);
    event->home = share->serial;
    event->context = context;
    share->events = true;
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

unsigned share_event_find(struct share *share, const struct share_label *label)
{
    struct share_state *state = share->folder.state;
    if (label->machine != state->id || label->index >= events_seen(state) || !label->number)
        return SHARE_EVENTS;
    struct share_event *event = &state->event[label->index];
    if (atomic_load(&event->number) != label->number || memcmp(event->nonce, label->nonce, sizeof label->nonce) != 0)
        return SHARE_EVENTS;
    hold(event, share->slot, true);
    return label->index;
}

void share_event_end(const struct share *share, uint64_t context)
{
    struct share_state *state = share->folder.state;
    for (unsigned i = 0; i < events_seen(state); i++)
        if (atomic_load(&state->event[i].number) && state->event[i].home == share->serial && state->event[i].context == context)
            atomic_store(&state->event[i].number, 0);
}

void share_event_drop(struct share *share, unsigned index)
{
    hold(&share->folder.state->event[index], share->slot, false);
}

void share_event_leave(const struct share *share, unsigned slot)
{
    struct share_state *state = share->folder.state;
    for (unsigned i = 0; i < events_seen(state); i++)
        hold(&state->event[i], slot, false);
}

uint64_t share_event_record(struct share *share, unsigned index, uint64_t *before)
{
    struct share_state *state = share->folder.state;
    struct share_event *event = &state->event[index];
    uint64_t record = atomic_load(&state->event_records) + 1;
    atomic_store(&state->event_records, record);
    *before = atomic_load(&event->recorded);
    atomic_store(&event->recorder, share->serial);
    atomic_store(&event->recorded, record);
    return record;
}

void share_event_reach(struct share *share, unsigned index, uint64_t record)
{
    struct share_event *event = &share->folder.state->event[index];
    uint64_t before = atomic_load(&event->reached);
    /* LCOV_EXCL_BR_LINE: only if another process was quicker, a race */
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
    return atomic_load(&share->folder.state->event[index].reached) >= record;
}
