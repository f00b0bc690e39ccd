/* SPDX-License-Identifier: Apache-2.0 */
#include "process_lifetime.h"

#include <stdlib.h>

#include "in_flight.h"
#include "graphs.h"
#include "heap.h"
#include "host_fault.h"
#include "ipc_event.h"

/* One allocation for all, so that the queue is adjacent to the process, which every call reads. */
struct whole {
    struct sim_process process; /* must be first: a process is freed as a whole */
    struct in_flight in_flight;
    struct sim_graphs graphs;
};

struct sim_process *sim_process_new(struct sim_machine *machine, const struct sim_options *options)
{
    struct whole *whole = heap.calloc(1, sizeof *whole);
    if (!whole)
        return NULL;
    if (!sim_process_init(&whole->process, machine, options)) {
        heap.free(whole);
        return NULL;
    }
    whole->process.in_flight = &whole->in_flight;
    in_flight_open(&whole->in_flight, options);
    whole->process.ordinal = machine->joined++;
    whole->process.graphs = &whole->graphs;
    graphs_open(&whole->graphs);
    whole->process.machine_next = machine->processes;
    machine->processes = &whole->process;
    return &whole->process;
}

void sim_process_watch(struct sim_process *process)
{
    if (process->options.explain_faults && process->window.backed > process->window.start)
        host_fault_watch(process);
}

/* Leaks a process on purpose: in a child forked in the middle of a call, parts of the process may be inconsistent. */
static void leave(struct sim_process *process)
{
    static struct sim_process *_Atomic left; /* keeps them reachable, so that no leak checker reports them */
    process->watched_next = atomic_exchange(&left, process);
}

/* Waits for the work that a host function or an async worker is doing, and discards the rest. */
static void end_work(struct sim_process *process)
{
    in_flight_forget_waits(process);
    if (process->options.schedule == SIM_DEVICE)
        async_workers_stop(process);
    in_flight_close(process->in_flight);
    graphs_close(process->graphs);
    ipc_events_close(process);
}

/* Removes the process from its machine. Returns true if it was the last one. */
static bool leave_machine(const struct sim_process *process)
{
    struct sim_process **link = &process->machine->processes;
    while (*link != process)
        link = &(*link)->machine_next;
    *link = process->machine_next;
    return !process->machine->processes;
}

void sim_process_free(struct sim_process *process)
{
    struct sim_machine *machine = process->machine;
    host_fault_forget(process);
    ipc_events_stop(process); /* a stream that waits for another process's record is a host function that waits */
    sim_machine_lock(machine);
    if (sim_machine_torn(machine)) {
        leave(process);
        sim_machine_unlock(machine);
        return;
    }
    if (sim_process_forked(process))
        sim_machine_abandon(machine);
    sim_machine_settle(machine);
    end_work(process);
    sim_process_release(process);
    bool is_last = leave_machine(process);
    sim_machine_unlock(machine);
    sim_process_clear(process);
    heap.free(process);
    if (is_last)
        sim_machine_free(machine);
}
