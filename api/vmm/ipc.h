/* SPDX-License-Identifier: Apache-2.0 */
/* ipc.h - memory and events of other processes, by the mechanism that predates virtual memory management. Part of vmm.h, which
 * states the conventions. */
#ifndef CUVMM_VMM_IPC_H
#define CUVMM_VMM_IPC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS 1

/* Names memory of vmm_mem_alloc in another process; CUipcMemHandle. */
typedef struct vmm_ipc_mem_handle {
    char reserved[64];
} vmm_ipc_mem_handle;

/* Names an event in another process; CUipcEventHandle. */
typedef struct vmm_ipc_event_handle {
    char reserved[64];
} vmm_ipc_event_handle;

/* Memory of vmm_mem_alloc in other processes, by the mechanism that predates virtual memory management:
 *
 *   process A   alloc -> A1 == get ==> 64 bytes            process B    64 bytes == open ==> A1' -> use, close
 *
 * The 64 bytes may be sent by any means. They hold nothing: A must keep the memory until B has opened it; after that B's stays
 * open even if A frees the memory. */

/* The 64-byte handle of the allocation that contains dptr, the same for any address within it. Before vmm_init: INVALID_VALUE
 * for NULL [VMM-IPC-NULL] and for dptr 0 [VMM-IPC-ADDRESS]. INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE [VMM-IPC-ADDRESS,
 * VMM-IPC-OPENED]; ours: OPERATING_SYSTEM [VMM-IPC-SYSTEM]. Nothing is written then. cuIpcGetMemHandle. */
VMM_API vmm_result vmm_ipc_get_mem_handle(vmm_system *sys, vmm_ipc_mem_handle *p_handle, vmm_deviceptr dptr);
/* Addresses in this process for the memory that handle names, with access for the device of the current context. A process that
 * opens it again gets the same addresses. flags: VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS; other bits are ignored (580). Before
 * vmm_init: INVALID_VALUE [VMM-IPC-NULL, VMM-IPC-FLAGS]. INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE [VMM-IPC-HANDLE]; ours
 * [VMM-IPC-MACHINE]; INVALID_CONTEXT [VMM-IPC-OWN], INVALID_HANDLE [VMM-IPC-CONTEXT, VMM-IPC-ENDED], INVALID_VALUE
 * [VMM-IPC-GONE]; ours: OPERATING_SYSTEM [VMM-IPC-SYSTEM]. Nothing is written then. cuIpcOpenMemHandle. */
VMM_API vmm_result vmm_ipc_open_mem_handle(vmm_system *sys, vmm_deviceptr *pdptr, vmm_ipc_mem_handle handle, unsigned int flags);
/* Undoes one open of the address dptr. The last close waits for the device's work and ends the addresses; if that work
 * faulted, the fault is returned and the memory stays open. INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE [VMM-IPC-CLOSE].
 * cuIpcCloseMemHandle. */
VMM_API vmm_result vmm_ipc_close_mem_handle(vmm_system *sys, vmm_deviceptr dptr);

/* The 64-byte handle of an event of the current context, which was created with VMM_EVENT_INTERPROCESS |
 * VMM_EVENT_DISABLE_TIMING. From then on the processes that open it share its records: a query, a wait and the wait of a stream
 * are about the last record, whichever process made it, and a record waits for the one before it (580). The handle is valid
 * until the event's context ends, even after vmm_event_destroy and after the process has ended (580); a record whose process
 * ended before its work was done never completes (580).
 * Before vmm_init: INVALID_VALUE for a NULL [VMM-IPC-NULL]. INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_HANDLE
 * [VMM-EVENT-UNKNOWN], [VMM-IPC-EVENT], with zeros in *p_handle (580), and [VMM-EVENT-CONTEXT]; ours: OPERATING_SYSTEM
 * [VMM-IPC-SYSTEM]. cuIpcGetEventHandle. */
VMM_API vmm_result vmm_ipc_get_event_handle(vmm_system *sys, vmm_ipc_event_handle *p_handle, vmm_event event);
/* An event in this process that stands for the event named by handle. INVALID_VALUE [VMM-IPC-NULL], INVALID_CONTEXT
 * [VMM-CTX-CURRENT]; MAP_FAILED [VMM-IPC-EVENT-HANDLE]; ours [VMM-IPC-MACHINE]; INVALID_CONTEXT [VMM-IPC-OWN]; ours:
 * OPERATING_SYSTEM [VMM-IPC-SYSTEM]. Nothing is written then. cuIpcOpenEventHandle. */
VMM_API vmm_result vmm_ipc_open_event_handle(vmm_system *sys, vmm_event *event, vmm_ipc_event_handle handle);

#ifdef __cplusplus
}
#endif

#endif
