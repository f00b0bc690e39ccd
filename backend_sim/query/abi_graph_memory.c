/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_graph_memory.h"

#include "abi_process.h"
#include "graph_pins.h"
#include "sim.h"

struct abi_graph_memory_use abi_graph_memory_use(vmm_system *sys, int device)
{
    struct sim_process *process = abi_process_lock(sys);
    const struct sim_graph_memory *memory = process->graph_memory[device];
    struct abi_graph_memory_use use = {0};
    if (memory)
        use = (struct abi_graph_memory_use){memory->pool->memory.reserved, memory->used_high, memory->pool->memory.reserved,
                                            memory->pool->memory.reserved_high};
    abi_process_unlock(process);
    return use;
}

void abi_graph_memory_reset_high(vmm_system *sys, int device, bool used)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_graph_memory *memory = process->graph_memory[device];
    if (memory)
        *(used ? &memory->used_high : &memory->pool->memory.reserved_high) = memory->pool->memory.reserved;
    abi_process_unlock(process);
}

void abi_graph_memory_trim(vmm_system *sys, int device)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_graph_memory *memory = process->graph_memory[device];
    if (memory) {
        graph_pins_settle(process, memory);
        sim_pool_trim(process, memory->pool, 0);
    }
    abi_process_unlock(process);
}
