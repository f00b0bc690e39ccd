/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_place.h"

#include <stdio.h>

#include "os_environment.h"
#include "stacks.h"

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
    struct trace_place place = {.stack = stacks_here()};
    if (place.stack)
        place.id = id_of(places, place.stack, &place.first);
    return place;
}

void trace_place_write(struct json *json, const struct trace_place *place)
{
    char text[4096 + 300];
    struct stacks_frame frame[STACKS_MOST];
    if (!place->id)
        return;
    jsonw_int(json, "place", place->id);
    if (!place->first)
        return;
    unsigned count = stacks_frames(place->stack, frame, STACKS_MOST);
    jsonw_open(json, "frames", '[');
    for (unsigned i = 0; i < count; i++) {
        if (frame[i].python)
            snprintf(text, sizeof text, "%.4000s:%u %.200s", frame[i].python, frame[i].line,
                     frame[i].function ? frame[i].function : "");
        else
            snprintf(text, sizeof text, "%.4095s+0x%llx", frame[i].module, (unsigned long long)frame[i].offset);
        jsonw_text(json, NULL, text);
    }
    jsonw_close(json, ']');
}
