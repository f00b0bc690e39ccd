/* SPDX-License-Identifier: Apache-2.0 */
/* trace_place.h - where in the program a call was made, each stack of addresses written once.
 *
 *     first call from there    "place":7,"frames":["/opt/app/step+0x17bd","pool.py:12 grow"]
 *     every later one          "place":7
 *
 * The stack is that of stacks.h: nearest frame first, an offset is one that addr2line takes, and Python's frames have file, line and
 * function. Any thread, no lock.
 */
#ifndef CUVMM_LAYERS_TRACE_PLACE_H
#define CUVMM_LAYERS_TRACE_PLACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "json.h"

enum { TRACE_PLACES = 1 << 14 };

struct trace_places {
    _Atomic uint32_t seen[TRACE_PLACES];
};

struct trace_place {
    uint32_t id;  /* 0: there is no room for more of them */
    bool first;   /* the frames are to be written */
    uint32_t stack;
};

/* Stacks are captured in this process, unless CUVMM_CHECK_STACKS decides otherwise. */
void trace_place_begin(void);

struct trace_place trace_place_here(struct trace_places *places);

/* The members above; nothing for id 0. Waits for nothing. */
void trace_place_write(struct json *json, const struct trace_place *place);

#endif
