/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <string.h>

#include "checks.h"
#include "in_flight.h"

/* ---- what a call names ---- */

struct named {
    const struct sim_process *process;
    const struct vmm_call *call;
    bool done;        /* outputs are written */
    uint64_t address; /* the latest address argument: the next size belongs to it */
    const char *said;
};

static void see_address(struct named *named, uint64_t address)
{
    named->address = address;
    named->said = process_check_at(named->process, address);
}

/* Checks the first address after the range. */
static void see_size(struct named *named, uint64_t size)
{
    if (named->address && size <= UINT64_MAX - named->address)
        named->said = process_check_at(named->process, named->address + size);
}

/* The value that the call wrote to an output; 0 if it wrote none. */
static uint64_t output(const struct named *named, const struct vmm_param *param)
{
    const void *place;
    uint64_t value = 0;
    memcpy(&place, (const char *)named->call + param->offset, sizeof place);
    if (named->done && place)
        memcpy(&value, place, sizeof value);
    return value;
}

static void see(struct named *named, const struct vmm_param *param)
{
    switch (param->kind) {
    case VMM_PARAM_ADDRESS: see_address(named, vmm_call_scalar(named->call, param)); break;
    case VMM_PARAM_OUT_ADDRESS: see_address(named, output(named, param)); break;
    case VMM_PARAM_SIZE: see_size(named, vmm_call_scalar(named->call, param)); break;
    case VMM_PARAM_HANDLE:
    case VMM_PARAM_CONTEXT:
    case VMM_PARAM_STREAM:
    case VMM_PARAM_POOL:
    case VMM_PARAM_EVENT: named->said = process_check_value(named->process, vmm_call_scalar(named->call, param)); break;
    case VMM_PARAM_OUT_HANDLE:
    case VMM_PARAM_OUT_CONTEXT:
    case VMM_PARAM_OUT_STREAM:
    case VMM_PARAM_OUT_POOL:
    case VMM_PARAM_OUT_EVENT: named->said = process_check_value(named->process, output(named, param)); break;
    default: break;
    }
}

/* Can the process be checked? Not in a forked child, where a fork in the middle of a call may have left it inconsistent. */
static bool is_whole(const struct sim_process *process)
{
    return !sim_process_forked(process) && process->opened == life_stamp() && !process->machine->torn;
}

static const char *check_named(const struct sim_process *process, const struct vmm_call *call, vmm_result result)
{
    struct named named = {.process = process, .call = call, .done = result == VMM_SUCCESS};
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    for (size_t i = 0; i < count && !named.said; i++)
        see(&named, &params[i]);
    return named.said ? named.said : process_check_touched(process);
}

/* ---- the whole machine ---- */

static const char *check_process(struct sim_process *process)
{
    const char *said = process_check(process);
    return said ? said : check_in(queue_check(&process->in_flight->queue), "work");
}

static const char *check_blocks(struct machine_sum *sum)
{
    const char *said = NULL;
    for (enum machine_pass pass = 0; pass < MACHINE_PASSES; pass++)
        for (struct sim_process *p = sum->machine->processes; p && !said; p = p->machine_next)
            said = process_check_blocks(p, sum, pass);
    return said ? said : machine_check(sum);
}

static const char *check_machine(struct machine_sum *sum)
{
    const char *said = NULL;
    for (struct sim_process *p = sum->machine->processes; p && !said; p = p->machine_next)
        said = check_process(p);
    return said ? said : check_blocks(sum);
}

const char *watch_machine(struct sim_machine *machine)
{
    struct machine_sum sum = {.machine = machine};
    return check_machine(&sum);
}

static uint64_t objects_of(const struct sim_process *p)
{
    return p->reservations.count + p->mappings.count + p->allocations.count + p->handles.used + p->contexts.used +
           p->streams.used + p->events.used + p->pieces.count + p->chunks.count + p->pools.used + p->in_flight->queue.count;
}

/* Checks the whole machine when its turn comes; otherwise counts down to the next check. */
static const char *check_all_in_turn(struct sim_machine *machine)
{
    struct machine_sum sum = {.machine = machine};
    if (machine->unchecked) {
        machine->unchecked--;
        return NULL;
    }
    for (const struct sim_process *p = machine->processes; p; p = p->machine_next)
        machine->unchecked += objects_of(p);
    const char *said = check_machine(&sum);
    machine->unchecked += sum.binds;
    return said;
}

/* ---- after a call ---- */

static void report(const struct vmm_call *call, const char *said)
{
    checks_failed(check_in(said, "after call %llu, %s", (unsigned long long)call->number,
                           vmm_call_driver_name((enum vmm_call_id)call->id)));
}

void watch_read(struct sim_process *process, const struct vmm_call *call, vmm_result result)
{
    if (is_whole(process))
        report(call, check_named(process, call, result));
}

void watch_call(struct sim_process *process, const struct vmm_call *call, vmm_result result)
{
    if (!is_whole(process))
        return;
    const char *said = check_named(process, call, result);
    report(call, said ? said : check_all_in_turn(process->machine));
}
