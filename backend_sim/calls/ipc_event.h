/* SPDX-License-Identifier: Apache-2.0 */
/* ipc_event.h - events that processes share (cuIpcGetEventHandle, cuIpcOpenEventHandle).
 *
 *     A: record E in S           E's own mark, and a new record 7 of its entry in what processes share (share_event.h)
 *        S gets there            a thread of A enters that 7 is complete
 *     B: query E'                is the entry's last record complete?
 *        make S' wait for E'     a host function in S' waits for record 7
 *
 * An event is shared from its first handle on; each process has an event of its own for the entry. Systems of one program that
 * share a machine object are processes, too; because one thread may make the calls of both, a wait of one does the work of the
 * other.
 *
 * Call everything with the machine's lock. If the shared state is busy, the lock is released: look up every object again.
 */
#ifndef SIM_IPC_EVENT_H
#define SIM_IPC_EVENT_H

#include "ipc_handle.h"
#include "queue.h"
#include "share.h"
#include "sim.h"

/* ---- entries ---- */

/* The outcome; all except the first mean that nothing changed. */
enum ipc_event_answer {
    IPC_EVENT_DONE,
    IPC_EVENT_OWN,     /* the handle is of this process's own event */
    IPC_EVENT_FOREIGN, /* the bytes are not a handle of this kind */
    IPC_EVENT_MACHINE, /* another machine's */
    IPC_EVENT_GONE,    /* the event has ended */
    IPC_EVENT_SYSTEM   /* the shared state is inconsistent or full: why */
};

/* Makes an entry for an event of this process, which ends with the event's context, or opens another process's by its handle. */
enum ipc_event_answer ipc_event_new(struct sim_process *process, uint64_t event, unsigned *index, char why[SHARE_WHY]);
enum ipc_event_answer ipc_event_open(struct sim_process *process, const void *bytes, unsigned *index, char why[SHARE_WHY]);
/* The handle of an entry that this process made; returns false if the state is inconsistent. */
bool ipc_event_name(const struct sim_process *process, unsigned index, void *bytes);
/* This process has one event fewer for the entry. */
void ipc_event_drop(const struct sim_process *process, unsigned index);

/* The context of this process, as stored in entries. */
static inline uint64_t ipc_event_context(const struct sim_process *process, uint64_t context)
{
    return context ^ (uint64_t)process->ordinal << 48;
}

/* ---- records ---- */

/* A record of an entry by this process. */
struct ipc_event_record {
    unsigned index;
    uint64_t record, before; /* its number, and that of the entry's record before it */
    uint64_t mark;           /* the event's mark in the queue of work */
    struct ipc_event_record *next;
};

/* A new record of entry record->index, based on this process's work. */
bool ipc_event_record(const struct sim_process *process, uint64_t event, struct ipc_event_record *record);
/* Enters the record as complete if the work reached the mark and the previous record is complete; returns whether it is. */
bool ipc_event_complete(struct sim_process *process, const struct ipc_event_record *record);

/* ---- the calls on a shared event, in addition to what they do for any event ---- */

/* Measured: work in a record's stream continues only when the previous record is complete, even if no other process has the
 * event yet. Before the record of an event that was created to be shared. */
vmm_result ipc_event_before_record(struct sim_process *process, const struct vmm_call *call, const struct queue_place *place,
                                   const struct sim_event *event);
/* After it. */
vmm_result ipc_event_recorded(struct sim_process *process, vmm_event event);
/* The stream waits for another process's last record. */
vmm_result ipc_event_wait(struct sim_process *process, const struct vmm_call *call, const struct queue_place *place, unsigned index);
/* Is the last record complete? */
bool ipc_event_query(struct sim_process *process, unsigned index);
/* Waits until the record that is now the last is complete. */
void ipc_event_synchronize(struct sim_process *process, unsigned index);

/* Streams of the process no longer wait for other processes: it is about to end. Without the lock, too. */
void ipc_events_stop(struct sim_process *process);
/* Forgets the records that are not complete; releases the lock until the thread that enters them has ended. */
void ipc_events_close(struct sim_process *process);

#endif
