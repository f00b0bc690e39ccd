/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_counts.h - how many lanes made which instructions, for those who ask: CUVMM_PTX_COUNTS=FILE.
 *
 *     launch   [3 lanes: step 0][3: step 1][1: step 2] ...     a count for each step of each routine
 *     FILE.PID     add  6
 *                  ld   3 ...                    for each opcode the lanes of all launches so far, written after each
 *
 * Without the variable nothing is counted. An instruction of which several steps are made counts once.
 */
#ifndef PTX_COUNTS_H
#define PTX_COUNTS_H

#include "ptx_code.h"

/* The counts of a launch, zeros, routine by routine; to be freed by ptx_counts_end. NULL: counting is off, or memory is out. */
uint64_t *ptx_counts_begin(const struct ptx_program *program);
/* Adds them up and writes the file. NULL is fine. */
void ptx_counts_end(const struct ptx_program *program, uint64_t *counts);

#endif
