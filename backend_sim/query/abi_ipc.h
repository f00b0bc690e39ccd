/* SPDX-License-Identifier: Apache-2.0 */
/* abi_ipc.h - events for other processes of the machine, by handles of 64 bytes, and a question about memory (call_ipc.h). As
 * abi_query.h, each function takes the machine's lock. */
#ifndef SIM_ABI_IPC_H
#define SIM_ABI_IPC_H

#include "abi_query.h"
#include "ipc_handle.h"
#include "share.h"

/* Has the current context's device the memory of that handle open? */
bool abi_ipc_is_open(const vmm_system *sys, const void *bytes);

/* What came of it; all but the first have changed nothing. */
enum abi_ipc {
    ABI_IPC_DONE,
    ABI_IPC_OWN,     /* the handle is of this process's own event */
    ABI_IPC_FOREIGN, /* the bytes are no handle of this kind */
    ABI_IPC_MACHINE, /* another machine's */
    ABI_IPC_GONE,    /* the event has ended */
    ABI_IPC_SYSTEM   /* what processes share is out of order or full: why */
};

/* ---- events ----
 *
 * An event that processes share has an entry in their state (share_event.h), which these functions call by its index. */

/* Makes an entry for an event of this process, which ends with the event's context, or opens another process's by its handle. */
enum abi_ipc abi_ipc_event_new(const vmm_system *sys, uint64_t event, unsigned *index, char why[SHARE_WHY]);
enum abi_ipc abi_ipc_event_open(const vmm_system *sys, const void *bytes, unsigned *index, char why[SHARE_WHY]);
/* The handle of an entry that this process made; false if the state is out of order. */
bool abi_ipc_event_name(const vmm_system *sys, unsigned index, void *bytes);
void abi_ipc_event_drop(const vmm_system *sys, unsigned index);

/* A record of an entry by this process. */
struct abi_ipc_record {
    unsigned index;
    uint64_t record, before; /* its number, and that of the entry's record before it */
    uint64_t mark;           /* of the event in the queue of work */
};

/* A new record of record->index, as this process's work has it. */
bool abi_ipc_event_record(const vmm_system *sys, uint64_t event, struct abi_ipc_record *record);
/* Enters the record as complete if the work got to the mark, and the record before is complete; is it? */
bool abi_ipc_event_complete(const vmm_system *sys, const struct abi_ipc_record *record);

/* The context of an event, by its number as in C1, C2; false for an event that is not alive. */
bool abi_ipc_event_context(const vmm_system *sys, uint64_t event, uint64_t *context);

/* Without the machine's lock: the entry's last record, *here: made by this process; 0: none. Is a record complete? */
uint64_t abi_ipc_event_recorded(const vmm_system *sys, unsigned index, bool *here);
bool abi_ipc_event_reached(const vmm_system *sys, unsigned index, uint64_t record);

#endif
