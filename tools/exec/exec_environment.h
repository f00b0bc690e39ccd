/* SPDX-License-Identifier: Apache-2.0 */
/* exec_environment.h - a program's future environment: variables to set, in addition to existing ones.
 *
 *     LD_LIBRARY_PATH=/opt/x      prepend "/usr/lib/cuvmm"       LD_LIBRARY_PATH=/usr/lib/cuvmm:/opt/x
 *
 * The environment of this process stays as it is until exec_environment_apply.
 */
#ifndef CUVMM_TOOLS_EXEC_ENVIRONMENT_H
#define CUVMM_TOOLS_EXEC_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct exec_variable {
    const char *name; /* not copied */
    char *value;      /* NULL: removed */
};

struct exec_environment {
    struct exec_variable *variable;
    size_t count;
    bool incomplete; /* memory was out */
};

void exec_environment_set(struct exec_environment *environment, const char *name, const char *value);
void exec_environment_unset(struct exec_environment *environment, const char *name);

/* Prepends `first` to the program's value of that variable. */
void exec_environment_prepend(struct exec_environment *environment, const char *name, const char *first, char separator);

/* The value that the program will see; NULL if none. */
const char *exec_environment_get(const struct exec_environment *environment, const char *name);

/* Sets them in this process. False when memory is out. */
bool exec_environment_apply(const struct exec_environment *environment);

/* What the program's environ will be, for posix_spawn; freed with free. NULL when memory is out. */
char **exec_environment_vector(const struct exec_environment *environment);

/* One shell line for each: export NAME='value' */
void exec_environment_print(const struct exec_environment *environment, FILE *out);

/* The text as one shell word, in quotes. */
void exec_print_quoted(const char *text, FILE *out);

void exec_environment_free(struct exec_environment *environment);

#endif
