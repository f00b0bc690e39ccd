/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - repeats the calls of a trace and compares the results. The format is described in api/layers/trace.h.
 *
 *     trace line                                            this run
 *     mem_address_reserve ... "names":{"ptr":"R1"}    ->    R1 is 0x7e..., whatever it was when recorded
 *     mem_map ptr "R1+0x200000"                       ->    0x7e...200000
 */
#ifndef CUVMM_TOOLS_REPLAY_H
#define CUVMM_TOOLS_REPLAY_H

#include <stdio.h>

/* Reads a trace to its end or its first difference. backend NULL: sim:h100 or the environment's. Returns 0 if all
 * results are the same, 1 at a difference, 2 if the trace is malformed or the backend cannot be opened. */
int replay(FILE *in, const char *name, const char *backend, FILE *out, FILE *err);

/* The same for a file, - for standard input. Removes CUVMM_LAYERS from the environment. */
int replay_file(const char *path, const char *backend, FILE *out, FILE *err);

#endif
