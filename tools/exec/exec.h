/* SPDX-License-Identifier: Apache-2.0 */
/* exec.h - the parts of `cuvmm exec`, which `cuvmm check` uses as well.
 *
 *     cuvmm exec [options] PROGRAM [ARGUMENTS]
 *                 cli/     exec_program         LD_LIBRARY_PATH=FOLDER (libcuda.so.1)  LD_PRELOAD=FOLDER/libcuvmm-device-files.so:FOLDER/libcudart.so.13:...
 *                          exec_machine   ->    CUVMM_SIM=SPEC CUVMM_LAYERS=trace=FILE|fault=CALL:N CUVMM_MACHINE=exec-...
 *                          exec_process
 */
#ifndef CUVMM_TOOLS_EXEC_H
#define CUVMM_TOOLS_EXEC_H

#include "exec_environment.h"
#include "exec_machine.h"
#include "exec_program.h"

struct exec_options {
    const char *who;     /* "cuvmm exec", the prefix of messages */
    const char *nothing; /* "nothing was started": the consequence of an unknown machine */
    const char *machine; /* "sim:h200x2"; NULL: libcuda.so.1 chooses */
    const char *fault;   /* "mem_map:10", "mem_map:10|mem_create:3"; NULL: none */
    const char *trace;   /* a file, absolute; NULL: none */
    bool explain;
    bool own_runtime;    /* the program keeps the CUDA runtime that it finds itself */
    char **command;      /* the program and its arguments, ended by NULL */
};

/* Everything that a program needs to run on the simulator. */
struct exec_setting {
    struct exec_environment environment;
    char machine[EXEC_MACHINE_NAME]; /* to be removed at the end; "" if it is not ours */
};

/* Returns false, with the reason on err, if the machine or a library of this project is missing. Freed with exec_setting_free,
 * which also removes the machine. */
bool exec_setting_make(const struct exec_options *options, struct exec_setting *setting, FILE *err);
/* The same without the fault, which is checked separately. */
bool exec_setting_try(const struct exec_options *options, struct exec_setting *setting, FILE *err);
void exec_setting_free(struct exec_setting *setting);

/* Puts layers, divided by '|', around the machine, in front of its own: a spec with layers ignores CUVMM_LAYERS. */
void exec_add_layers(struct exec_environment *environment, const char *layers);

/* Runs the program. Returns the exit status. */
int exec_run(const struct exec_options *options, FILE *err);

/* Prints what exec_run would set, for shells. Returns the exit status. */
int exec_print_environment(const struct exec_options *options, FILE *out, FILE *err);

#endif
