/* SPDX-License-Identifier: Apache-2.0 */
/* share_event.h - events in the shared state.
 *
 *     A records E, record 7     event: recorded 7, reached 6        a query of any process: not complete
 *     A's work gets there       event: recorded 7, reached 7        complete
 *     A ends before             recorder A is gone                  complete, for no one else can complete it
 *
 * An event ends with the last process that holds it. Call everything with the state's lock, but for those that say otherwise.
 */
#ifndef SIM_SHARE_EVENT_H
#define SIM_SHARE_EVENT_H

#include "share.h"

/* Makes an event held by this process: its index, or SHARE_EVENTS when there are too many. */
unsigned share_event_new(struct share *share, struct share_label *label);

/* The name of an event that this process made. */
void share_event_label(const struct share *share, unsigned index, struct share_label *label);

/* Finds a named event while the process that created it holds it, and holds it as well: its index, or SHARE_EVENTS. */
unsigned share_event_find(struct share *share, const struct share_label *label, uint64_t home);

/* This process drops the event; or the process of a slot, which has ended, all of its. */
void share_event_drop(struct share *share, unsigned index);
void share_event_leave(const struct share *share, unsigned slot);

/* A record by this process: its number. */
uint64_t share_event_record(struct share *share, unsigned index);

/* Without the lock, from any thread while the share is open: */

/* The record is complete. */
void share_event_reach(struct share *share, unsigned index, uint64_t record);
/* The last record, and whether this process made it. 0: never recorded. */
uint64_t share_event_recorded(const struct share *share, unsigned index, bool *here);
/* Is the record complete? Also when its process has ended. */
bool share_event_is_reached(const struct share *share, unsigned index, uint64_t record);

#endif
