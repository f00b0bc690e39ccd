/* SPDX-License-Identifier: Apache-2.0 */
/* abi_process.h - finds the simulator's process under the layers of a driver ABI system, and locks it for a query.
 *
 *     sys -> trace -> fault -> simulator      abi_process(sys) is the last one
 */
#ifndef SIM_ABI_PROCESS_H
#define SIM_ABI_PROCESS_H

#include "process.h"
#include "system.h"

static inline struct sim_process *abi_process(const vmm_system *sys)
{
    struct vmm_backend *backend = sys->top;
    while (backend->inner)
        backend = backend->inner;
    return (struct sim_process *)backend;
}

/* Returns the process, with its machine locked. */
static inline struct sim_process *abi_process_lock(const vmm_system *sys)
{
    struct sim_process *process = abi_process(sys);
    sim_machine_lock(process->machine);
    return process;
}

static inline void abi_process_unlock(struct sim_process *process)
{
    sim_machine_unlock(process->machine);
}

#endif
