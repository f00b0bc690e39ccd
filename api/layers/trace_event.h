/* SPDX-License-Identifier: Apache-2.0 */
/* trace_event.h - one call of a trace as a value: what was passed, what came of it, when and where.
 *
 *     program -> [trace] -> sim      the event of the call that has returned   ->   a line (trace_lines.h) or a record (trace_record.h)
 *     a line or a record             the same event                            ->   replay, timeline, the other form
 *
 * The pointers of an event's call lead to what was there: in the layer to the program's own memory, in a reader to the reader's.
 * Beside the call stands only what that memory does not say. Names of objects follow from the calls (trace_names.h), but for those of
 * descriptors: a number of a descriptor is used again, and closing it is no call.
 */
#ifndef CUVMM_LAYERS_TRACE_EVENT_H
#define CUVMM_LAYERS_TRACE_EVENT_H

#include "call.h"

struct stacks_frame;
enum { TRACE_FRAME_TEXT = 4096 + 300 }; /* of one frame, "/opt/app/step+0x17bd" */

struct trace_event {
    const struct vmm_call *call;
    vmm_result result;
    bool wrote;            /* its outputs are there: it succeeded, or failed and wrote its flags all the same */
    bool device;           /* its host bytes are at a device address, which is not read */
    bool closed;           /* the descriptor that it takes was not open */
    uint16_t lacks;        /* bit i: the trace does not say what it wrote through parameter i: recordings leave out what differs by chance */
    uint32_t descriptor;   /* 3: the descriptor, fabric handle or IPC handle that it takes or made is D3; 0: it has no name */
    uint32_t thread;       /* 1, 2, ... in order of first appearance */
    uint64_t before;       /* what the parameter held that it read and wrote (IO_COUNT, IO_INT) */
    uint64_t hash;         /* of its host bytes, if they are more than TRACE_BYTES_MAX and were there */
    const vmm_detail *detail; /* severity NONE: nothing was reported */

    /* Of a process's own trace alone. */
    uint64_t time;         /* nanoseconds since the trace's clock, when the call was made */
    uint64_t shared;       /* of an export or import: the number that both processes have of it; 0: none */
    uint32_t place;        /* the number of its stack; 0: none */
    uint32_t frames;       /* the first call of a place has them, nearest first: */
    const char *const *frame; /* as text, or NULL: as stacks.h captured them */
    const struct stacks_frame *stack;
};

/* Did it succeed? Then memory that it had to read was readable. */
static inline bool trace_event_done(const struct trace_event *event)
{
    return event->result == VMM_SUCCESS;
}

#endif
