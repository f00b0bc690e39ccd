/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - a trace in formats that other tools can view.
 *
 *     trace -> timeline (timeline.h) -> chrome      JSON of the Trace Event Format: Perfetto, chrome://tracing
 *                                       memory-viz  a pickle as torch.cuda.memory._snapshot() makes: pytorch.org/memory_viz
 *                                       dot         a graph of the objects at one call: Graphviz
 *           store (trace_store.h)       lines, binary the trace itself, in its readable form or its fast one
 *
 * docs/export.md says what of a trace each format shows, and how.
 */
#ifndef CUVMM_TOOLS_EXPORT_H
#define CUVMM_TOOLS_EXPORT_H

#include <stdio.h>

#include "timeline.h"

/* Lives of objects as slices on tracks, one call a millisecond; calls, flows from memory to its mappings, counters. False
 * when memory ran out, and what was written is not whole. */
bool export_chrome(const struct timeline *timeline, FILE *out);

/* Mapped memory and cuMemAlloc's, per device; name is what frames call the trace. */
void export_memory_viz(const struct timeline *timeline, const char *name, FILE *out);

/* The objects that live behind the call with index at, and what holds what. */
void export_dot(const struct timeline *timeline, uint32_t at, FILE *out);

/* What a timeline does not list by itself, each list ending with TIMELINE_NONE. */
struct export_index {
    uint32_t *first_end, *next_end;        /* objects that a call ended: first_end[call], then next_end[object] */
    uint32_t *last_change, *change_before; /* of an object, newest first: last_change[object], then change_before[change] */
};
void export_index_of(struct export_index *index, const struct timeline *timeline);
void export_index_free(struct export_index *index);

/* The rights of a mapping behind that call, TIMELINE_NONE for the last that are known: "dev0 rw, host r-", or "no rights". */
void export_rights(const struct export_index *index, const struct timeline *timeline, uint32_t mapping, uint32_t at,
                   struct text *text);

/* The device whose memory the object is or shows; -1 where that is none. */
int export_device(const struct timeline *timeline, const struct timeline_object *object);

enum export_format { EXPORT_CHROME, EXPORT_MEMORY_VIZ, EXPORT_DOT, EXPORT_LINES, EXPORT_BINARY };

/* By name: chrome, memory-viz, dot, lines, binary. */
enum export_format export_format(const char *name);

struct export_request {
    const char *trace; /* a file, - for standard input */
    const char *file;  /* NULL or -: out, but not of binary */
    const char *at;    /* of dot: the number of a call, or "error"; NULL: the last */
    enum export_format format;
};

/* Of lines and binary: from in, whose name is for messages. As export_file. */
int export_convert(FILE *in, const char *name, const struct export_request *request, FILE *out, FILE *err);

/* Returns the exit status; the file stays as it was where that is not 0. */
int export_file(const struct export_request *request, FILE *out, FILE *err);

#endif
