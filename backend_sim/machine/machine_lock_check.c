/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that holds the machine's lock, for assert_locked and assert_readable in debug builds. */
#include "checks.h"
#include "machine.h"

static _Thread_local char self; /* its address identifies the thread */
static _Thread_local const struct sim_machine *reading;

void sim_machine_own(struct sim_machine *machine, bool owns)
{
    atomic_store_explicit(&machine->owner, owns ? &self : NULL, memory_order_relaxed);
}

void sim_machine_lend(struct sim_machine *machine, bool lends)
{
    atomic_store_explicit(&machine->lent, lends, memory_order_relaxed);
}

void sim_machine_read(const struct sim_machine *machine, bool reads)
{
    reading = reads ? machine : NULL;
}

/* The state of a machine is unknown when the fork interrupted a change to it. */
bool sim_machine_is_owned(const struct sim_machine *machine)
{
    return machine->torn || atomic_load_explicit(&machine->lent, memory_order_relaxed) ||
           atomic_load_explicit(&machine->owner, memory_order_relaxed) == &self;
}

bool sim_machine_is_read(const struct sim_machine *machine)
{
    return reading == machine;
}

void sim_machine_not_locked(const char *function)
{
    checks_failed(check_say("%s is called without the machine's lock", function));
}
