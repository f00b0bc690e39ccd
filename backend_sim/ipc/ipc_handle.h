/* SPDX-License-Identifier: Apache-2.0 */
/* ipc_handle.h - the 64 bytes that name memory of cuMemAlloc, or an event, to the processes of a machine (cuIpc*).
 *
 *   [ kind | machine | number | nonce | index, size | context, process, home | check ]
 *     memory  of the   never    the object's entry    its maker                 over all
 *     or event folder  reused   and size                                        bytes before it
 *
 * As a fabric handle (fabric_handle.h), it holds nothing and proves nothing: who opens it compares all with the machine's state.
 */
#ifndef SIM_IPC_HANDLE_H
#define SIM_IPC_HANDLE_H

#include "fabric_handle.h"

enum ipc_kind { IPC_MEMORY, IPC_EVENT };

struct ipc_handle {
    enum ipc_kind kind;
    struct share_label label;
    uint64_t home;    /* the serial of the slot whose process made it */
    uint64_t size;    /* for memory: as requested */
    uint16_t process; /* which of the systems that share the slot (sim_process.ordinal) */
    uint32_t context; /* the context in which it was made: handles differ by context, as measured */
};

void ipc_handle_write(void *bytes, const struct ipc_handle *handle);
/* False when the bytes are not a handle. */
bool ipc_handle_read(const void *bytes, struct ipc_handle *handle);

#endif
