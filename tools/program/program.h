/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - what the lines of a script did, written as a C program that does it again and checks every answer.
 *
 *     r0 = reserve 4gran               gran = granularity(CU_MEM_LOCATION_TYPE_DEVICE);
 *                              ->      OK(cuMemAddressReserve(&r0, 4 * gran, 0, 0, 0));
 *     map r0 3MiB h0  (refused)        REFUSED(CUDA_ERROR_INVALID_VALUE, cuMemMap(r0, 3 * MiB, 0, h0, 0));
 *
 * It watches a script: program_begin before a line, program_end after it, and program_before and program_after for the call
 * that the line makes. Both forms grow side by side, against the driver's cuda.h and against vmm.h.
 */
#ifndef CUVMM_TOOLS_PROGRAM_H
#define CUVMM_TOOLS_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>

#include "script.h"
#include "vmm.h"

enum program_api { PROGRAM_VMM, PROGRAM_DRIVER };
#define PROGRAM_APIS 2

struct program;

struct program *program_new(void);
void program_free(struct program *program);

/* A line of the script: its number and its text, and how it went. A line that was a mistake counts as never begun. */
void program_begin(struct program *program, int number, const char *text);
void program_end(struct program *program, struct script *script, enum script_status status);

/* As script_watch has them; user is the program. */
void program_before(void *user, struct script *script);
void program_after(void *user, struct script *script, const vmm_detail *detail);

/* NULL, or why this is not to be had as C: line, text and reason, of the first line that cannot be said. */
const char *program_refusal(const struct program *program, enum program_api api);

/* The whole program. spec is the machine that it opens by itself (NULL: the default), with vmm.h. */
void program_write(FILE *out, struct program *program, enum program_api api, const char *spec);

#endif
