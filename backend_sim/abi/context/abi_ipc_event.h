/* SPDX-License-Identifier: Apache-2.0 */
/* abi_ipc_event.h - events that processes share (cuIpcGetEventHandle, cuIpcOpenEventHandle): what captures need to know about
 * them. The engine does the rest (ipc_event.h). */
#ifndef SIM_ABI_IPC_EVENT_H
#define SIM_ABI_IPC_EVENT_H

#include "abi.h"

/* Is the event shared? */
bool abi_ipc_event_is(CUevent event);

/* Refuses a record that would become a node: a graph cannot contain such an event. The capture stays valid, as recorded. SUCCESS
 * for others. */
CUresult abi_ipc_event_not_captured(CUevent event, vmm_stream stream, const char *function);

#endif
