/* SPDX-License-Identifier: Apache-2.0 */
/* os_inspect.h - the number and name by which users know a process, and the processes that have a file open. A part of os.h,
 * separate because only share inspection needs it.
 *
 *   before   m-mine/token.7 is open in some process: a lock on it shows that
 *   after    4711 "server", descriptor 7      4712 "worker", descriptor 3
 *
 * The information comes from the system's folder for each process, and covers the processes that this user has access to. Process
 * numbers are those of this process's PID namespace; a process in a container has other numbers there.
 */
#ifndef SIM_OS_INSPECT_H
#define SIM_OS_INSPECT_H

#include "os_share.h"

enum { OS_PROGRAM = 16, OS_COMMAND = 4096 };

/* The number of this process. */
uint64_t os_pid(void);

/* The first letters of the program's name, safe to print; "" when the process does not exist or its name is unknown. */
void os_program(uint64_t pid, char name[OS_PROGRAM]);

/* The first word of the process's command line, including a folder if it has one, safe to print; the program's name, as
 * above, if the command line is empty. */
void os_command(uint64_t pid, char command[OS_COMMAND]);

/* Is the process stopped by a signal or a debugger? False when that is unknown. */
bool os_is_stopped(uint64_t pid);

struct os_opening {
    uint64_t pid;
    int file; /* the descriptor's number in that process */
    struct os_file_is is;
};

/* Calls visit for every descriptor of a file whose name begins with name (no folder). False when this system does not report open
 * files. */
bool os_openings_each(const char *name, void (*visit)(void *user, const struct os_opening *opening), void *user);
/* Covers only this process's own descriptors, and takes hardly any time. */
bool os_own_openings_each(const char *name, void (*visit)(void *user, const struct os_opening *opening), void *user);

#endif
