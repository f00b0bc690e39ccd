/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_ipc.h"

#include "abi_process.h"
#include "call_ipc.h"
#include "sim.h"

bool abi_ipc_is_open(const vmm_system *sys, const void *bytes)
{
    struct ipc_handle handle;
    if (!ipc_handle_read(bytes, &handle) || handle.kind != IPC_MEMORY)
        return false;
    struct sim_process *process = abi_process_lock(sys);
    const struct share *share = process->machine->share;
    bool open = share && handle.label.machine == share->folder.state->id && ipc_opened(process, &handle);
    abi_process_unlock(process);
    return open;
}
