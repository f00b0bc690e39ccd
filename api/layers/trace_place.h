/* SPDX-License-Identifier: Apache-2.0 */
/* trace_place.h - where in the program a call was made, each stack of addresses written once.
 *
 *     first call from there    "place":7,"frames":["/opt/app/step+0x17bd","pool.py:12 grow"]
 *     every later one          "place":7
 *
 * The stack is that of stacks.h: nearest frame first, an offset is one that addr2line takes, and Python's frames have file,
 * line and function. Any thread, no lock.
 */
#ifndef CUVMM_LAYERS_TRACE_PLACE_H
#define CUVMM_LAYERS_TRACE_PLACE_H

#include <stdatomic.h>

#include "json.h"
#include "stacks.h"
#include "trace_event.h"

enum { TRACE_PLACES = 1 << 14 };

struct trace_places {
    _Atomic uint32_t seen[TRACE_PLACES];
};

struct trace_place {
    uint32_t id;    /* 0: there is no room for more */
    uint32_t stack; /* the stack whose frames remain to be written; 0: none */
};

/* Stacks are captured in this process, unless CUVMM_CHECK_STACKS decides otherwise. */
void trace_place_begin(void);

struct trace_place trace_place_here(struct trace_places *places);

/* Fills in the event's place and, if they are to be written, its frames: at most STACKS_MOST, in the caller's memory. */
void trace_place_note(const struct trace_place *place, struct trace_event *event, struct stacks_frame *frames);

/* One of the event's frames as text. */
const char *trace_frame(const struct trace_event *event, uint32_t index, char room[TRACE_FRAME_TEXT]);

/* The members above; nothing for place 0. */
void trace_place_write(struct json *json, const struct trace_event *event);

#endif
