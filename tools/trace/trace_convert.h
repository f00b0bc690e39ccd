/* SPDX-License-Identifier: Apache-2.0 */
/* trace_convert.h - a trace in its other form.
 *
 *     lines  <->  FILE.vtrace        both ways and back, with the same bytes
 *
 * What of a damaged trace can be read is converted, and the result has no end either.
 */
#ifndef CUVMM_TOOLS_TRACE_CONVERT_H
#define CUVMM_TOOLS_TRACE_CONVERT_H

#include "trace_store.h"

/* Writes all calls as lines; *calls is how many those were. False: memory ran out. */
bool trace_to_lines(struct trace_store *store, FILE *out, uint64_t *calls);

/* Writes all calls into a file in the binary form, which then has that name. 0 or an errno, and then there is none. */
int trace_to_binary(struct trace_store *store, const char *path, uint64_t *calls);

#endif
