/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_place.h"

#include <stdio.h>

#include "os_environment.h"

void trace_place_begin(void)
{
    const char *wanted = os_environment("CUVMM_CHECK_STACKS");
    if (!wanted || !wanted[0])
        stacks_set(STACKS_SHORT);
}

/* The id of a stack; the first thread that finds a free slot owns it. */
static uint32_t id_of(struct trace_places *places, uint32_t stack, bool *first)
{
    for (uint32_t i = 0; i < TRACE_PLACES; i++) {
        uint32_t at = (stack * UINT32_C(2654435761) + i) % TRACE_PLACES, expected = 0;
        *first = atomic_compare_exchange_strong(&places->seen[at], &expected, stack);
        if (*first || expected == stack)
            return at + 1;
    }
    return 0;
}

struct trace_place trace_place_here(struct trace_places *places)
{
    uint32_t stack = stacks_here();
    bool first = false;
    struct trace_place place = {.id = stack ? id_of(places, stack, &first) : 0};
    place.stack = first ? stack : 0;
    return place;
}

void trace_place_note(const struct trace_place *place, struct trace_event *event, struct stacks_frame *frames)
{
    event->place = place->id;
    event->frames = place->id && place->stack ? stacks_frames(place->stack, frames, STACKS_MOST) : 0;
    event->stack = frames;
}

const char *trace_frame(const struct trace_event *event, uint32_t index, char room[TRACE_FRAME_TEXT])
{
    if (event->frame)
        return event->frame[index];
    const struct stacks_frame *frame = &event->stack[index];
    if (frame->python)
        snprintf(room, TRACE_FRAME_TEXT, "%.4000s:%u %.200s", frame->python, frame->line, frame->function ? frame->function : "");
    else
        snprintf(room, TRACE_FRAME_TEXT, "%.4095s+0x%llx", frame->module, (unsigned long long)frame->offset);
    return room;
}

void trace_place_write(struct json *json, const struct trace_event *event)
{
    char text[TRACE_FRAME_TEXT];
    if (!event->place)
        return;
    jsonw_int(json, "place", event->place);
    if (!event->frames)
        return;
    jsonw_open(json, "frames", '[');
    for (uint32_t i = 0; i < event->frames; i++)
        jsonw_text(json, NULL, trace_frame(event, i, text));
    jsonw_close(json, ']');
}
