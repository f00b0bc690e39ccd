/* SPDX-License-Identifier: Apache-2.0 */
/* machine_lock_check: the lock has an owner, or this thread is a reader; otherwise the check reports the function. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "machine.h"
#include "tap.h"

static struct sim_machine one, two;
static char reported[CHECK_ROOM];

static void keep(const char *said)
{
    snprintf(reported, sizeof reported, "%s", said);
}

static void *is_owned(void *machine)
{
    return sim_machine_is_owned(machine) ? machine : NULL;
}

static void *is_read(void *machine)
{
    return sim_machine_is_read(machine) ? machine : NULL;
}

/* The result in another thread. */
static bool elsewhere(void *(*query)(void *), struct sim_machine *machine)
{
    pthread_t thread;
    void *answer = NULL;
    if (pthread_create(&thread, NULL, query, machine) || pthread_join(thread, &answer))
        tap_bail("no thread");
    return answer;
}

static void test_owner(void)
{
    tap_ok(!sim_machine_is_owned(&one), "an unlocked machine has no owner");
    sim_machine_own(&one, true);
    tap_ok(sim_machine_is_owned(&one), "the thread that has locked it owns it");
    tap_ok(!elsewhere(is_owned, &one), "another thread does not");
    tap_ok(!sim_machine_is_owned(&two), "nor does it own another machine");
    sim_machine_own(&one, false);
    tap_ok(!sim_machine_is_owned(&one), "after it is unlocked it has no owner");
    one.torn = true;
    tap_ok(sim_machine_is_owned(&one), "a machine torn by a fork counts as owned: its owner is not known");
    one.torn = false;
}

static void test_reader(void)
{
    tap_ok(!sim_machine_is_read(&one), "the thread reads no machine");
    sim_machine_read(&one, true);
    tap_ok(sim_machine_is_read(&one) && !sim_machine_is_read(&two), "a reader reads one machine");
    sim_machine_read(&two, true);
    tap_ok(sim_machine_is_read(&two) && !sim_machine_is_read(&one), "the one that it began to read last");
    sim_machine_read(&one, true);
    tap_ok(!elsewhere(is_read, &one), "another thread does not read it");
    sim_machine_read(&one, false);
    tap_ok(!sim_machine_is_read(&one), "afterwards it is not a reader");
}

/* While the lock is lent, every thread counts as its owner. */
static void test_lent(void)
{
    sim_machine_own(&one, true);
    tap_ok(!elsewhere(is_owned, &one), "another thread does not hold it");
    sim_machine_lend(&one, true);
    tap_ok(elsewhere(is_owned, &one), "unless it is lent");
    sim_machine_lend(&one, false);
    tap_ok(!elsewhere(is_owned, &one), "and afterwards not again");
    sim_machine_own(&one, false);
}

int main(void)
{
    test_owner();
    test_lent();
    test_reader();
    checks_report = keep;
    sim_machine_not_locked("sim_free");
    tap_text(reported, "sim_free is called without the machine's lock", "the report names the function");
    return tap_done();
}
