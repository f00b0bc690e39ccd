/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_watch.h - what `cuvmm check` does with the recorders of the processes that it runs.
 *
 *     begin     a folder of the run, for the environment of the program
 *     kill -USR1 (cuvmm check)     the calls of all processes, now; a program that handles SIGUSR1 gets it, too
 *     end       those of processes that crashed or got an ILLEGAL_ADDRESS; the folder goes
 *
 * With a file's name all calls that are kept go there, %p in it is the process's number; without one the last RECORDER_FEW are
 * printed with the findings.
 */
#ifndef CUVMM_TOOLS_RECORDER_WATCH_H
#define CUVMM_TOOLS_RECORDER_WATCH_H

#include <stdint.h>
#include <stdio.h>

#include "exec_process.h"

enum { RECORDER_FEW = 16 };

struct recorder_watch;

/* pattern: NULL, or the name of a file. address: whose history is wanted, 0: a fault's, where it is known. to: where the other texts
 * go. NULL, with the reason there: nothing is recorded, and the program runs without. */
struct recorder_watch *recorder_watch_begin(const char *who, const char *pattern, uint64_t address, FILE *to);

/* Its folder, for recorder=FOLDER. */
const char *recorder_watch_folder(const struct recorder_watch *watch);

/* As struct exec_meanwhile calls it: the calls of all processes, now, and the program's own handler. */
void recorder_watch_asked(void *watch, pid_t program);

/* From now on those of processes that crashed alone: what got an ILLEGAL_ADDRESS is reported elsewhere. watch may be NULL. */
void recorder_watch_crashes(struct recorder_watch *watch);

/* The program ended; end as exec_process gave it. watch may be NULL. */
void recorder_watch_end(struct recorder_watch *watch, const struct exec_ending *end);

#endif
