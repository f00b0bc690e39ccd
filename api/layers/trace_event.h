/* SPDX-License-Identifier: Apache-2.0 */
/* trace_event.h - one call of a trace as a value: what was passed, what came of it, when and where.
 *
 *     program -> [trace] -> sim      the event of the call that has returned   ->   a line (trace_lines.h) or a record (trace_record.h)
 *     a line or a record             the same event                            ->   replay, timeline, the other form
 *
 * The pointers of an event's call lead to what was there: in the layer to the program's own memory, in a reader to the reader's.
 * Besides the call, the event holds only what that memory does not contain. Names of objects follow from the
 * calls (trace_names.h), except for descriptors: their numbers are reused, and closing one is not a traced call.
 */
#ifndef CUVMM_LAYERS_TRACE_EVENT_H
#define CUVMM_LAYERS_TRACE_EVENT_H

#include "call.h"

struct stacks_frame;
enum { TRACE_FRAME_TEXT = 4096 + 300 }; /* the text of one frame, "/opt/app/step+0x17bd" */

struct trace_event {
    const struct vmm_call *call;
    vmm_result result;
    bool wrote;            /* its outputs are valid: it succeeded, or it failed and wrote its flags nevertheless */
    bool device;           /* its host bytes are at a device address, which is not read */
    bool closed;           /* its input descriptor was not open */
    uint16_t lacks;        /* bit i: the trace lacks what it wrote through parameter i; recordings omit what differs by chance */
    uint32_t descriptor;   /* 3: the descriptor, fabric handle or IPC handle that it takes or made is D3; 0: it has no name */
    uint32_t thread;       /* 1, 2, ... in order of first appearance */
    uint64_t before;       /* the input value of the parameter that is read and written (IO_COUNT, IO_INT) */
    uint64_t hash;         /* of its host bytes, if there are more than TRACE_BYTES_MAX and they were readable */
    const vmm_detail *detail; /* severity NONE: nothing was reported */

    /* Of a process's own trace alone. */
    uint64_t time;         /* nanoseconds since the trace's clock, when the call was made */
    uint64_t shared;       /* of an export or import: the number that both processes share for it; 0: none */
    uint32_t place;        /* the number of its stack; 0: none */
    uint32_t frames;       /* set in the first event of a call site, innermost first: */
    const char *const *frame; /* as text, or NULL: as stacks.h captured them */
    const struct stacks_frame *stack;
};

/* Did it succeed? In that case memory that it had to read was readable. */
static inline bool trace_event_done(const struct trace_event *event)
{
    return event->result == VMM_SUCCESS;
}

#endif
