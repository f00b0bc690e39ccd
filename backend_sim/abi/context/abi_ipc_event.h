/* SPDX-License-Identifier: Apache-2.0 */
/* abi_ipc_event.h - events that processes share (cuIpcGetEventHandle, cuIpcOpenEventHandle).
 *
 *     A: cuEventRecord(E, S)        E itself, and a new record 7 of its entry in what processes share
 *        S gets there               a thread of A enters that 7 is complete
 *     B: cuEventQuery(E')           is the entry's last record complete?
 *        cuStreamWaitEvent(S', E')  a host function in S' waits for record 7
 *
 * An event of this process is shared from its first handle on; each process has an event of its own for the entry.
 */
#ifndef SIM_ABI_IPC_EVENT_H
#define SIM_ABI_IPC_EVENT_H

#include "abi.h"

/* Is the event shared? */
bool abi_ipc_event_is(CUevent event);

/* Refuses a record that a capture would hold: no graph has such an event. The capture goes on, as recorded. SUCCESS for others. */
CUresult abi_ipc_event_not_captured(CUevent event, vmm_stream stream, const char *function);

/* Records an event that was created with CU_EVENT_INTERPROCESS, shared or not. */
CUresult abi_ipc_event_made(vmm_system *sys, CUevent event, vmm_stream stream);

/* The driver's calls of a shared event. */
CUresult abi_ipc_event_query(vmm_system *sys, CUevent event);
CUresult abi_ipc_event_synchronize(vmm_system *sys, CUevent event);
CUresult abi_ipc_event_wait(vmm_system *sys, vmm_stream stream, CUevent event, unsigned flags);

/* The event has been destroyed. */
void abi_ipc_event_ended(const vmm_system *sys, CUevent event);

#endif
