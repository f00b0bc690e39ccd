/* SPDX-License-Identifier: Apache-2.0 */
/* trace_descriptors.h - which descriptor, fabric handle or IPC handle a call takes or makes, by numbers of the trace's own: D1,
 * D2.
 *
 *     export -> fd 5          D1
 *     import fd 5             D1     the same file is open there
 *     close(5), open() -> 5   import fd 5: none, another file has the number
 *     export -> fd 5          D2
 *
 * Closing is not a traced call, so each time a call has a number, the layer looks up the file that it refers to. Only the
 * process itself knows that, which is why traces hold these names and readers do not derive them. The caller does all locking.
 */
#ifndef CUVMM_LAYERS_TRACE_DESCRIPTORS_H
#define CUVMM_LAYERS_TRACE_DESCRIPTORS_H

#include "spans.h"
#include "trace_event.h"

struct trace_descriptor {
    uint64_t file; /* the file's identity; 0 for a handle */
    uint32_t number;
};

/* Empty where it is zeroed. */
struct trace_descriptors {
    struct spans index;             /* finds the entry by the descriptor's number or by the handle's hash */
    struct trace_descriptor *entry;
    size_t count, room;
    uint32_t last;
};

void trace_descriptors_free(struct trace_descriptors *descriptors);

/* The value that stands for a fabric handle or IPC handle, which is never a valid descriptor. */
uint64_t trace_fabric(const void *bytes);

/* For a call that takes or makes one: fills in descriptor and closed, records what the call exported, and fills in shared if
 * requested. When memory is exhausted, an export gets no name. */
void trace_descriptors_note(struct trace_descriptors *descriptors, struct trace_event *event, bool shared);

#endif
