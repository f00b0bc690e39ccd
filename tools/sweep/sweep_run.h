/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_run.h - runs of the program, several at a time, each with a machine, a process group and files of its own.
 *
 *     sweep_run_start(slot 0, "mem_map:1")   sweep_run_start(slot 1, "mem_map:2")
 *     sweep_run_wait -> slot 1 has ended, or its time is over and it was killed
 */
#ifndef CUVMM_TOOLS_SWEEP_RUN_H
#define CUVMM_TOOLS_SWEEP_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec.h"
#include "findings.h"
#include "sites.h"

#define SWEEP_PATH 400

struct sweep_run {
    pid_t leader;              /* 0: the slot is free */
    double began, ends;        /* by a monotonic clock, in seconds */
    bool timed_out;
    int wait_status;           /* of the leader */
    char machine[EXEC_MACHINE_NAME];
    struct findings_tally *tally;
    struct sites_file *sites;
    size_t sites_size;
    char tally_path[SWEEP_PATH], sites_path[SWEEP_PATH], processes_path[SWEEP_PATH], output_path[SWEEP_PATH];
};

/* Makes the files; room for so many records. False, with the system's error, when they cannot be. */
bool sweep_run_make(struct sweep_run *run, uint64_t room);
void sweep_run_free(struct sweep_run *run);

/* Starts the program. fault NULL: nothing fails and all calls are recorded. False where no process can be started. */
bool sweep_run_start(struct sweep_run *run, char **command, const char *path, const struct exec_environment *environment,
                     const char *fault, double seconds);

/* Signals that end the command are blocked from the first to the second, and waited for. */
void sweep_signals_block(sigset_t *before);
void sweep_signals_restore(const sigset_t *before);

/* Waits until a run has ended, with all processes of its group. NULL where a signal asks the command to end: *number is that one,
 * and all runs were killed. */
struct sweep_run *sweep_run_wait(struct sweep_run *runs, size_t count, int *number);

double sweep_now(void);

/* The last line that was printed, made harmless. */
void sweep_run_said(const struct sweep_run *run, char *text, size_t size);

#endif
