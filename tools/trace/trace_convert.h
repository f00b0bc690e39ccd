/* SPDX-License-Identifier: Apache-2.0 */
/* trace_convert.h - converts a trace to its other form.
 *
 *     lines  <->  FILE.vtrace        both ways and back, with the same bytes
 *
 * The readable part of a damaged trace is converted, and the result has no end either.
 */
#ifndef CUVMM_TOOLS_TRACE_CONVERT_H
#define CUVMM_TOOLS_TRACE_CONVERT_H

#include "trace_store.h"

/* Writes all calls as lines; *calls is their number. False: memory is exhausted. */
bool trace_to_lines(struct trace_store *store, FILE *out, uint64_t *calls);

/* Writes all calls to a file of that name in the binary form. Returns 0, or an errno, in which case there is no file. */
int trace_to_binary(struct trace_store *store, const char *path, uint64_t *calls);

#endif
