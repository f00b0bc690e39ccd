/* SPDX-License-Identifier: Apache-2.0 */
/* abi_ipc.h - a query about the memory of other processes (call_ipc.h). Like those of abi_query.h, it takes the
 * machine's lock. */
#ifndef SIM_ABI_IPC_H
#define SIM_ABI_IPC_H

#include "abi_query.h"
#include "ipc_handle.h"
#include "share.h"

/* Does the current context's device have the memory of that handle open? */
bool abi_ipc_is_open(const vmm_system *sys, const void *bytes);

#endif
