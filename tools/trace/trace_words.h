/* SPDX-License-Identifier: Apache-2.0 */
/* trace_words.h - formats a call of a trace in the driver's spelling, with names for values.
 *
 *     event, names        "cuMemMap(R1+2MiB, 2MiB, 0, H1, 0)"        "granularity = 2MiB"
 *
 * step_print.c does this for calls being made, with the names of a script.
 */
#ifndef CUVMM_TOOLS_TRACE_WORDS_H
#define CUVMM_TOOLS_TRACE_WORDS_H

#include <stdio.h>

#include "trace_event.h"
#include "trace_names.h"

/* The names of a call's parameters in order; kind NAME_KINDS: no name. */
enum { TRACE_PARAMS = 9 };
struct trace_named {
    struct name param[TRACE_PARAMS];
};

/* Looks up the names of inputs (out false) or new objects: call it before and after names_learn. The other names are
 * not changed. */
void trace_name_params(struct trace_named *named, const struct trace_event *event, struct names *names, bool out);

void trace_print_call(FILE *out, const struct trace_event *event, const struct trace_named *named);

/* Its outputs, separated by ", "; empty if there is nothing to show. */
void trace_print_answers(FILE *out, const struct trace_event *event, const struct trace_named *named);

#endif
