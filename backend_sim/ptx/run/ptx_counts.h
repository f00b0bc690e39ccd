/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_counts.h - counts how many lanes executed each instruction, if CUVMM_PTX_COUNTS=FILE is set.
 *
 *     launch   [3 lanes: step 0][3: step 1][1: step 2] ...     a count for each step of each routine
 *     FILE.PID     add  6
 *                  ld   3 ...                    for each opcode the lanes of all launches so far, written after each launch
 *
 * Without the variable nothing is counted. An instruction that consists of several steps counts once.
 */
#ifndef PTX_COUNTS_H
#define PTX_COUNTS_H

#include "ptx_code.h"

/* The counts of a launch, initially zero, routine by routine; ptx_counts_end frees them. NULL:
 * counting is off, or memory is exhausted. */
uint64_t *ptx_counts_begin(const struct ptx_program *program);
/* Adds them up and writes the file. counts may be NULL. */
void ptx_counts_end(const struct ptx_program *program, uint64_t *counts);

#endif
