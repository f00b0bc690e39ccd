/* SPDX-License-Identifier: Apache-2.0 */
/* exec_program.h - the user's program, found and checked before anything is started. */
#ifndef CUVMM_TOOLS_EXEC_PROGRAM_H
#define CUVMM_TOOLS_EXEC_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit statuses, as shells and env give them. */
enum { EXEC_FINE = 0, EXEC_NOTHING = 125, EXEC_CANNOT = 126, EXEC_NOT_FOUND = 127 };

/* Finds the program as a shell does, and checks whether a library can be preloaded into it. Not EXEC_FINE: err says why, in
 * a line that begins with `who` ("cuvmm exec"). */
int exec_program(const char *who, const char *name, char *path, size_t size, FILE *err);

/* The folder of a library of this project: beside the command, as it was built or installed. */
bool exec_folder(const char *who, const char *library, char *folder, size_t size, FILE *err);

#endif
