/* SPDX-License-Identifier: Apache-2.0 */
/* house.h - the one driver that all tests of a run share, one after the other.
 *
 *     simulator    test: [open ... close]  test: [open ... close]         a machine for each test
 *     driver       open [test ...| test ...| test ...] close              one system, one context on device 0
 *
 * A driver is initialised once in a process, keeps one state for all systems, and takes long to make a context. So the
 * tests share these, and each test must free what it made. After a test that breaks the context, the next gets a new
 * one. `--as-driver` treats a simulator the same way, which checks without a device that the tests cope with it.
 */
#ifndef CUVMM_SUITE_HOUSE_H
#define CUVMM_SUITE_HOUSE_H

#include <stdbool.h>

#include "vmm.h"

struct fix_house {
    vmm_system *sys;
    vmm_context ctx; /* on device 0; NULL until a test wants one */
    bool lost;       /* the process lost its device to a fault: no further test can run in it */
    /* states are not compared, so that a trace of the run holds only the tests' own calls; what those calls cannot
     * express is skipped */
    bool brief;
    int devices;     /* measured for the first test; 0 before that */
    uint64_t minimum, unit, g;
};

vmm_result house_open(struct fix_house *house, const char *spec);

/* Makes the context current. */
vmm_result house_context(struct fix_house *house, vmm_context *ctx);

/* Pops the contexts that the test left on the thread's stack. */
void house_leave(struct fix_house *house);

struct fix;

/* Skips the test in a run that is to be replayed from its calls alone: they do not include what other processes, the
 * host in place and calls inside host functions do. */
void house_need_calls(struct fix *f, const char *reason);
#define DUPLICATES "which descriptor a duplicate is cannot be replayed"

/* Releases the context. Returns how many objects the tests left behind, where the backend can count them. */
uint64_t house_close(struct fix_house *house);

#endif
