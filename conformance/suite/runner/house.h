/* SPDX-License-Identifier: Apache-2.0 */
/* house.h - the one driver that all tests of a run live in, one after the other.
 *
 *     simulator    test: [open ... close]  test: [open ... close]         a machine for each test
 *     driver       open [test ...| test ...| test ...] close              one system, one context on device 0
 *
 * A driver is initialised once in a process, keeps one state for all systems, and takes long to make a context. So the
 * tests share these, and each must give back what it made. A context that a test broke is made anew for the next.
 * With `--as-driver` a simulator is treated the same way, which shows without a device that the tests bear it.
 */
#ifndef CUVMM_SUITE_HOUSE_H
#define CUVMM_SUITE_HOUSE_H

#include <stdbool.h>

#include "vmm.h"

struct fix_house {
    vmm_system *sys;
    vmm_context ctx; /* on device 0; NULL until a test wants one */
    bool lost;       /* a fault took the device from the process: nothing more can be tested in it */
    bool brief;      /* states are not looked at, so that a trace of the run holds the tests' own calls; nor is tried what
                        these do not hold */
    int devices;     /* what was measured for the first test; 0 before that */
    uint64_t minimum, unit, g;
};

vmm_result house_open(struct fix_house *house, const char *spec);

/* Makes the context current. */
vmm_result house_context(struct fix_house *house, vmm_context *ctx);

/* Takes away whatever contexts the test left on the thread's stack. */
void house_leave(struct fix_house *house);

struct fix;

/* Ends the test as one that does not apply where the run is to be replayed from its calls alone, which do not hold what makes
 * the difference: what other processes, the host in place and calls inside functions do. */
void house_need_calls(struct fix *f, const char *reason);
#define DUPLICATES "which descriptor a duplicate is cannot be replayed"

/* Gives the context back. Returns how many objects the tests left behind, where the backend can tell. */
uint64_t house_close(struct fix_house *house);

#endif
