/* SPDX-License-Identifier: Apache-2.0 */
/* os_inspect.h - by what people know a process, and which processes have a file open. A part of os.h, apart because only a
 * look at who holds memory needs it.
 *
 *   before   m-mine/token.7 is open somewhere: a lock on it tells so
 *   after    4711 "server", descriptor 7      4712 "worker", descriptor 3
 *
 * It is read where the system keeps a folder for each process, and of those that this user may look into. Numbers are those
 * that this process's surroundings count by; a process in a container of its own has other ones there.
 */
#ifndef SIM_OS_INSPECT_H
#define SIM_OS_INSPECT_H

#include "os_share.h"

enum { OS_PROGRAM = 16 };

/* This process's number. */
uint64_t os_pid(void);

/* The first letters of the program's name, harmless to print; "" where there is no such process, or nothing can be told. */
void os_program(uint64_t pid, char name[OS_PROGRAM]);

/* Was it stopped, by a signal or a debugger? False also where that cannot be told. */
bool os_is_stopped(uint64_t pid);

struct os_opening {
    uint64_t pid;
    int file; /* the descriptor's number in that process */
    struct os_file_is is;
};

/* Calls visit for every descriptor of a file whose name begins so (no folder). False: that cannot be told on this
 * system. */
bool os_openings_each(const char *name, void (*visit)(void *user, const struct os_opening *opening), void *user);
/* The same for this process's own, which takes no time to speak of. */
bool os_own_openings_each(const char *name, void (*visit)(void *user, const struct os_opening *opening), void *user);

#endif
