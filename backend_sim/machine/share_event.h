/* SPDX-License-Identifier: Apache-2.0 */
/* share_event.h - events in the shared state.
 *
 *     A records E, record 7     event: recorded 7, reached 6        a query of any process: not complete
 *     A's work gets there       event: recorded 7, reached 7        complete
 *     A ends before             event: recorded 7, reached 6        never complete, as measured
 *
 * As measured, a handle still refers to the event after it was destroyed, and after its process has ended; only the
 * end of its context ends it. So an entry stays until it is needed for a new event. A record is complete when the
 * previous record and its own work are complete. Call everything with the state's lock, except where noted.
 */
#ifndef SIM_SHARE_EVENT_H
#define SIM_SHARE_EVENT_H

#include "share.h"

/* Creates an event held by this process. Returns its index, or SHARE_EVENTS if all are in use. */
unsigned share_event_new(struct share *share, uint64_t context, struct share_label *label);

/* The name of an event that this process made. */
void share_event_label(const struct share *share, unsigned index, struct share_label *label);

/* Finds a named event and holds it. Returns its index, or SHARE_EVENTS. */
unsigned share_event_find(struct share *share, const struct share_label *label);

/* A context of this process ends, and with it the events that its handles refer to. */
void share_event_end(const struct share *share, uint64_t context);

/* Drops this process's hold of the event; or all holds of a slot whose process has ended. */
void share_event_drop(struct share *share, unsigned index);
void share_event_leave(const struct share *share, unsigned slot);

/* Registers a record by this process. Returns its number; *before: the previous record. */
uint64_t share_event_record(struct share *share, unsigned index, uint64_t *before);

/* Without the lock, from any thread while the share is open: */

/* The record is complete. */
void share_event_reach(struct share *share, unsigned index, uint64_t record);
/* The number of the last record, and whether this process made it. 0: never recorded. */
uint64_t share_event_recorded(const struct share *share, unsigned index, bool *here);
/* Is the record complete? */
bool share_event_is_reached(const struct share *share, unsigned index, uint64_t record);

#endif
