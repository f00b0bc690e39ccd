/* SPDX-License-Identifier: Apache-2.0 */
/* exec_machine.h - the simulated machine that a program and all processes below it share.
 *
 *     exec_machine_ask     is there such a machine, and how many devices has it?
 *     exec_machine_name    a name that no user has chosen                    CUVMM_MACHINE=exec-4711-1f0c2a77
 *     the program runs; its processes share that machine, and any of them may be killed
 *     exec_machine_remove  what is left of it is gone, unless a process that outlived the program still has it open
 */
#ifndef CUVMM_TOOLS_EXEC_MACHINE_H
#define CUVMM_TOOLS_EXEC_MACHINE_H

#include <stdbool.h>
#include <stdio.h>

#define EXEC_MACHINE_NAME 41
#define EXEC_WHY 600

/* Opens the machine and closes it again. spec NULL: libcuda.so.1 chooses. layers: around it, which a child tries, so that
 * this process opens none of their files; or NULL. Returns the number of devices; -1, with the reason in why, if it cannot
 * be opened. */
int exec_machine_ask(const char *spec, const char *layers, char why[EXEC_WHY]);

/* The machine that libcuda.so.1 chooses (docs/unmodified.md). */
const char *exec_machine_of_environment(void);

/* Is the machine given a name, in the spec or in the environment? */
bool exec_machine_is_named(const char *spec);

/* False: the system provides no random numbers. */
bool exec_machine_name(char name[EXEC_MACHINE_NAME]);

void exec_machine_remove(const char *name);

/* Queries in a child; calls fill, which writes into why. True when fill returned true. */
bool exec_in_child(bool (*question)(void *user, char why[EXEC_WHY], int *number), void *user, char why[EXEC_WHY], int *number);

#endif
