/* SPDX-License-Identifier: Apache-2.0 */
/* call_ipc.h - memory of cuMemAlloc for other processes of the machine, by handles of 64 bytes (cuIpc*). It is to cuMemAlloc what
 * export and import (call_share.c) are to cuMemCreate.
 *
 *     A: allocation A1 -> its block in what processes share -> 64 bytes that name it, and hold nothing
 *     B: 64 bytes -> the block, while A holds it -> allocation A1' with addresses of B, held by B on its own
 *
 * A process that opens a handle again gets the same addresses, which end after the same number of closes.
 */
#ifndef SIM_CALL_IPC_H
#define SIM_CALL_IPC_H

#include "ipc_handle.h"
#include "sim.h"

/* Only the lowest flag bit of an open matters, as measured. */
static inline bool ipc_flags_ok(unsigned flags)
{
    return (flags & VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != 0;
}

/* The memory that the process has open for the handle on its current context's device, or NULL. It may be opened again
 * even if its owner has freed it, as measured. */
struct sim_allocation *ipc_opened(const struct sim_process *process, const struct ipc_handle *handle);

#endif
