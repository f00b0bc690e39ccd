/* machine: who holds it, in a program with one thread and with more. */
#include "machine.h"

#include "profile.h"
#include "sim_open.h"
#include "tap.h"

static struct sim_machine *machine;

static void *try(void *got)
{
    *(bool *)got = sim_machine_try(machine);
    if (*(bool *)got)
        sim_machine_unlock(machine);
    return NULL;
}

/* Can another thread have it? */
static bool others_may(void)
{
    pthread_t thread;
    bool got = false;
    if (pthread_create(&thread, NULL, try, &got) == 0)
        pthread_join(thread, NULL);
    return got;
}

/*  one thread      hold      a note            unlock      the note is gone; the lock was never taken
 *  a call waits    hold      the lock          unlock      as with two threads                          */
static void test_alone(void)
{
    if (!VMM_ALONE) {
        tap_skip("the C library does not say that there is one thread", "a machine held by a note");
        return;
    }
    sim_machine_hold(machine, VMM_CALL_mem_map);
    tap_ok(machine->alone && !sim_machine_try(machine), "held by a note, and a signal's handler keeps out");
    sim_machine_unlock(machine);
    tap_ok(!machine->alone && sim_machine_try(machine), "given back the note is gone");
    sim_machine_unlock(machine);
    sim_machine_hold(machine, VMM_CALL_launch);
    tap_ok(!machine->alone && !sim_machine_try(machine), "a call that may run what others wrote takes the lock");
    sim_machine_unlock(machine);
}

static void test_with_others(void)
{
    tap_ok(others_may(), "free, another thread may have it");
    sim_machine_hold(machine, VMM_CALL_mem_map);
    tap_ok(!VMM_ALONE && !machine->alone && !others_may(), "held in a program with threads, no other one may");
    sim_machine_unlock(machine);
    tap_ok(others_may(), "given back, others may");
    sim_machine_lock(machine);
    tap_ok(!others_may(), "the lock keeps them out, too");
    sim_machine_unlock(machine);
}

int main(void)
{
    struct sim_profile profile;
    if (!sim_profile_builtin("h100", &profile) || !(machine = sim_machine_new(&profile)))
        tap_bail("no machine");
    test_alone();
    test_with_others();
    sim_machine_free(machine);
    return tap_done();
}
