/* SPDX-License-Identifier: Apache-2.0 */
/* Whose trace it is, and when and where its calls were made. See timeline.h. */
#ifdef CUVMM_HAVE_JANSSON
#include "timeline_state.h"

#include <stdlib.h>
#include <string.h>

#define PLACE_MOST (1U << 20) /* a number above it is no place of a trace */

static bool complain(struct timeline_reader *r, const char *key, const char *wants)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    return trace_line_complain(&r->line, r->complaint, quoted, "%s is %s", key, wants);
}

static bool number(struct timeline_reader *r, json_t *json, const char *key, int64_t least, int64_t *value)
{
    json_t *member = json_object_get(json, key);
    *value = json_integer_value(member);
    return (json_is_integer(member) && *value >= least) || complain(r, key, "no number here, or too small");
}

static bool text_member(struct timeline_reader *r, json_t *json, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(json, key));
    if (!value)
        return complain(r, key, "no text here");
    snprintf(text, size, "%s", value);
    return true;
}

static char *copy_of(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(text_grow(NULL, size), text, size);
}

bool timeline_header(struct timeline_reader *r, json_t *json)
{
    struct timeline_process *process = &r->timeline->process;
    const char *program = json_string_value(json_object_get(json, "program"));
    int64_t pid, parent, fork_of = 0, clock;
    if (!json_object_get(json, "process"))
        return true;
    if (!number(r, json, "process", 1, &pid) || !number(r, json, "parent", 0, &parent) || !number(r, json, "clock", 0, &clock) ||
        (json_object_get(json, "fork_of") && !number(r, json, "fork_of", 1, &fork_of)) ||
        !text_member(r, json, "host", process->host, sizeof process->host) ||
        !text_member(r, json, "boot", process->boot, sizeof process->boot) ||
        !text_member(r, json, "started", process->started, sizeof process->started))
        return false;
    process->program = copy_of(program ? program : "");
    process->number = (long)pid;
    process->parent = (long)parent;
    process->fork_of = (long)fork_of;
    process->clock = (uint64_t)clock;
    process->known = true;
    return true;
}

/* The index of a place, which is new when its number was not seen. */
static uint32_t place_of(struct timeline_reader *r, uint32_t id)
{
    struct timeline *t = r->timeline;
    if (id >= r->place_room) {
        size_t room = 2 * (size_t)id + 64;
        r->place = text_grow(r->place, room * sizeof *r->place);
        memset(r->place + r->place_room, 0, (room - r->place_room) * sizeof *r->place);
        r->place_room = room;
    }
    if (!r->place[id]) {
        if (t->places == t->place_room) {
            t->place_room = t->place_room ? 2 * t->place_room : 64;
            t->place = text_grow(t->place, t->place_room * sizeof *t->place);
        }
        t->place[t->places++] = (struct timeline_place){id, NULL};
        r->place[id] = (uint32_t)t->places;
    }
    return r->place[id] - 1;
}

static bool take_frames(struct timeline_reader *r, json_t *frames, char **text)
{
    struct text joined = {0};
    size_t i;
    json_t *frame;
    json_array_foreach(frames, i, frame)
        text_add(&joined, "%s%s", i ? "\n" : "", json_string_value(frame) ? json_string_value(frame) : "?");
    if (!json_is_array(frames))
        return complain(r, "frames", "not a list of addresses");
    free(*text);
    *text = copy_of(joined.length ? joined.data : "");
    text_free(&joined);
    return true;
}

bool timeline_moment(struct timeline_reader *r, json_t *json)
{
    int64_t time = 0, place = 0;
    struct timeline_call *call = r->call;
    json_t *frames = json_object_get(json, "frames");
    if (!r->timeline->process.known)
        return true;
    if (json_object_get(json, "shared") && !timeline_number(r, json, "shared", &call->shared))
        return false;
    if ((json_object_get(json, "time") && !number(r, json, "time", 0, &time)) ||
        (json_object_get(json, "place") && !number(r, json, "place", 1, &place)))
        return false;
    if (place > PLACE_MOST)
        return complain(r, "place", "too large");
    call->time = (uint64_t)time;
    call->place = place ? place_of(r, (uint32_t)place) : TIMELINE_NONE;
    return !frames || !place || take_frames(r, frames, &r->timeline->place[call->place].frames);
}

#else
typedef int timeline_process_needs_jansson;
#endif
