/* SPDX-License-Identifier: Apache-2.0 */
/* exec_process.h - a program's process: started, waited for, and signals passed to it.
 *
 *     terminal  ^C                 ->  both: this process waits for the program, which decides
 *     kill -TERM (this process)    ->  the program
 *     the program ends by signal 9 ->  status 137
 */
#ifndef CUVMM_TOOLS_EXEC_PROCESS_H
#define CUVMM_TOOLS_EXEC_PROCESS_H

#include <sys/types.h>

#include "exec_environment.h"

struct exec_ending {
    int status;        /* as a shell gives it */
    int signal_number; /* 0: none ended the program */
};

/* Work done while the program runs, by the thread that waits for it. */
struct exec_meanwhile {
    /* Returns when the descriptor can be read; NULL: does nothing. */
    void (*work)(void *user, int until);
    void *work_user;
    /* A SIGUSR1 to this process, which is not passed on then; NULL: it is. */
    void (*usr1)(void *user, pid_t program);
    void *usr1_user;
};

/* Returns false, after reporting it, if no process can be started. meanwhile may be NULL. */
bool exec_process(const char *who, char **command, const char *path, const struct exec_environment *environment,
                  const struct exec_meanwhile *meanwhile, struct exec_ending *end, FILE *err);

#endif
