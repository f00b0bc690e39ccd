/* SPDX-License-Identifier: Apache-2.0 */
/* abi_ipc.h - memory of cuMemAlloc for other processes of the machine, by handles of 64 bytes (cuIpc*). It is to cuMemAlloc what
 * export and import (call_share.c) are to cuMemCreate.
 *
 *     A: allocation A1 -> its block in what processes share -> 64 bytes that name it, and hold nothing
 *     B: 64 bytes -> the block, while A holds it -> allocation A1' with addresses of B, held by B on its own
 *
 * A process that opens a handle again gets the same addresses, which end with as many closes. As abi_query.h, each function
 * takes the machine's lock.
 */
#ifndef SIM_ABI_IPC_H
#define SIM_ABI_IPC_H

#include "abi_query.h"
#include "ipc_handle.h"
#include "share.h"

/* What came of it; all but the first have changed nothing. */
enum abi_ipc {
    ABI_IPC_DONE,
    ABI_IPC_NO_ALLOCATION, /* no memory of cuMemAlloc or cuIpcOpenMemHandle at the address */
    ABI_IPC_OPENED,        /* the address is another process's memory */
    ABI_IPC_OWN,           /* the address, or the handle, is of this process's own memory */
    ABI_IPC_INSIDE,        /* the address is not the start */
    ABI_IPC_FOREIGN,       /* the bytes are no handle of this kind */
    ABI_IPC_MACHINE,       /* another machine's */
    ABI_IPC_GONE,          /* the memory or event has ended */
    ABI_IPC_ENDED,         /* its process has ended */
    ABI_IPC_CONTEXT,       /* opened in another context */
    ABI_IPC_ALREADY,       /* open already */
    ABI_IPC_LOST,          /* work that the close waits for has faulted: the detail says how */
    ABI_IPC_SYSTEM,        /* what processes share is out of order or full: why */
    ABI_IPC_HOST_MEMORY
};

/* Names the allocation that holds the address. */
enum abi_ipc abi_ipc_name(const vmm_system *sys, uint64_t address, void *bytes, char why[SHARE_WHY]);

/* Opens memory in the current context. once: refuses what is open already. number: the program's call. */
enum abi_ipc abi_ipc_open(vmm_system *sys, const void *bytes, bool once, uint64_t number, uint64_t *address,
                          char why[SHARE_WHY]);

/* Closes it once; the last close waits for the work on the device, and ends the addresses. */
enum abi_ipc abi_ipc_close(vmm_system *sys, uint64_t address, uint64_t number);

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
