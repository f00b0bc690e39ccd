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

/* False where no process can be started, which has been said. */
bool exec_process(const char *who, char **command, const char *path, const struct exec_environment *environment,
                  struct exec_ending *end, FILE *err);

/* From now on a SIGUSR1 to this process is a byte written to that descriptor, and not passed on; -1: it is passed on again. */
void exec_process_usr1(int descriptor);

/* The program's process; 0: none runs. */
pid_t exec_process_program(void);

#endif
