/* SPDX-License-Identifier: Apache-2.0 */
/* trace_descriptors.h - which descriptor, fabric handle or IPC handle a call takes or makes, by numbers of the trace's own: D1, D2.
 *
 *     export -> fd 5          D1
 *     import fd 5             D1     the same file is open there
 *     close(5), open() -> 5   import fd 5: none, another file has the number
 *     export -> fd 5          D2
 *
 * Closing is not a traced call, so a number is looked at when a call has it: what file does it refer to? That is known in the
 * process alone, which is why traces hold these names and no reader works them out. The caller does all locking.
 */
#ifndef CUVMM_LAYERS_TRACE_DESCRIPTORS_H
#define CUVMM_LAYERS_TRACE_DESCRIPTORS_H

#include "spans.h"
#include "trace_event.h"

struct trace_descriptor {
    uint64_t file; /* which one it is; 0 of a handle */
    uint32_t number;
};

/* Empty where it is zeroed. */
struct trace_descriptors {
    struct spans index;             /* by the number, or the hash of the handle: the entry */
    struct trace_descriptor *entry;
    size_t count, room;
    uint32_t last;
};

void trace_descriptors_free(struct trace_descriptors *descriptors);

/* The value that stands for a fabric handle or IPC handle, which no descriptor has. */
uint64_t trace_fabric(const void *bytes);

/* Of a call that takes or makes one: fills in descriptor and closed, learns what the call exported, and, where wanted, fills in shared. When memory is out, what was
 * exported has no name. */
void trace_descriptors_note(struct trace_descriptors *descriptors, struct trace_event *event, bool shared);

#endif
