/* SPDX-License-Identifier: Apache-2.0 */
#include "dry_run.h"

#include "in_flight.h"
#include "registered.h"

void dry_run_describe(const struct sim_process *process, const struct queue_place *place, struct twin_memory *memory)
{
    int multiprocessors = 1;
    sim_profile_attribute(&process->machine->profile, VMM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &multiprocessors);
    memory->multiprocessors = (uint32_t)multiprocessors;
    memory->steps = process->options.kernel_steps;
    memory->context = place->context;
    memory->process = process->serial;
}

void dry_run_allow(const struct sim_process *process, uint64_t steps)
{
    process->in_flight->dry_steps += steps / DRY_SHARE;
}

void dry_run(const struct sim_process *process, const struct queue_place *place, struct twin_memory *memory,
             const struct vmm_call_launch *call)
{
    uint64_t *left = &process->in_flight->dry_steps;
    if (!kernels_is_registered(call->kernel)) {
        twin_of(call->kernel)(memory, call->args);
        return;
    }
    if (!kernels_is_interpreted(call->kernel))
        return;
    if (!*left) {
        memory->ended(memory, &(struct twin_end){.failure = TWIN_TIMEOUT});
        return;
    }
    dry_run_describe(process, place, memory);
    memory->steps = *left < DRY_STEPS ? *left : DRY_STEPS;
    memory->fleeting = true;
    kernels_registered_run(memory, call);
    *left -= memory->made < *left ? memory->made : *left;
}
