/* SPDX-License-Identifier: Apache-2.0 */
/* trace_lines.h - the readable form of a trace: a header, a line of JSON for each event, a footer. trace.h describes it.
 *
 *     event of mem_map   ->   {"n":7,"thread":1,"call":"mem_map","args":{...},"names":{"ptr":"R1","handle":"H1"},...}
 *
 * Each function writes a line without its newline. json->failed reports that memory was exhausted.
 */
#ifndef CUVMM_LAYERS_TRACE_LINES_H
#define CUVMM_LAYERS_TRACE_LINES_H

#include "backend.h"
#include "json.h"
#include "trace_event.h"
#include "trace_names.h"

/* inner: the outermost backend that the calls go to. A per-process trace has its clock, and fork_of (trace_self.h). */
void trace_put_header(struct json *json, const struct vmm_backend *inner, bool own, uint64_t clock, int64_t fork_of);

/* own: with time, place and what is shared. It learns names from the event. */
void trace_put_event(struct json *json, const struct trace_event *event, struct names *names, bool own);

void trace_put_footer(struct json *json, uint64_t calls);

/* The letter by which messages name objects of that kind: 'H' in H2; '?' for none. */
char trace_object_letter(vmm_object_kind kind);

#endif
