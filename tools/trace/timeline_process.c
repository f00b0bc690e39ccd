/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a trace, and the times and stacks of its calls. See timeline.h. */
#include "timeline_state.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE_MOST = 1 << 20 }; /* larger numbers cannot be stacks of a trace */

#ifdef CUVMM_HAVE_JANSSON
#include <jansson.h>

#include "trace_line.h"

static bool complain(struct timeline *t, const char *key)
{
    text_add(&t->complaint, "%s:1:1: the header has no %s that could be right", t->store.name, key);
    return false;
}

static bool number(struct timeline *t, json_t *json, const char *key, int64_t least, int64_t *value)
{
    json_t *member = json_object_get(json, key);
    *value = json_integer_value(member);
    return (json_is_integer(member) && *value >= least) || complain(t, key);
}

static bool text_member(struct timeline *t, json_t *json, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(json, key));
    if (!value)
        return complain(t, key);
    snprintf(text, size, "%s", value);
    return true;
}

static bool read_process(struct timeline *t, json_t *json)
{
    struct timeline_process *process = &t->process;
    const char *program = json_string_value(json_object_get(json, "program"));
    int64_t pid, parent, fork_of = 0, clock;
    if (!number(t, json, "process", 1, &pid) || !number(t, json, "parent", 0, &parent) || !number(t, json, "clock", 0, &clock) ||
        (json_object_get(json, "fork_of") && !number(t, json, "fork_of", 1, &fork_of)) ||
        !text_member(t, json, "host", process->host, sizeof process->host) ||
        !text_member(t, json, "boot", process->boot, sizeof process->boot) ||
        !text_member(t, json, "started", process->started, sizeof process->started))
        return false;
    process->program = strcpy(text_grow(NULL, strlen(program ? program : "") + 1), program ? program : "");
    process->number = (long)pid;
    process->parent = (long)parent;
    process->fork_of = (long)fork_of;
    process->clock = (uint64_t)clock;
    process->known = true;
    return true;
}

bool timeline_header(struct timeline *t)
{
    json_t *json = json_loads(t->store.header, 0, NULL);
    const char *version = json_string_value(json_object_get(json, "version"));
    bool good = json_is_object(json) || complain(t, "JSON");
    snprintf(t->version, sizeof t->version, "%s", version ? version : "");
    snprintf(t->backend, sizeof t->backend, "%s", trace_line_backend(json));
    if (good && t->store.own)
        good = read_process(t, json);
    json_decref(json);
    return good;
}

#else

/* Records can be read without it; then their process is unknown. */
bool timeline_header(struct timeline *t)
{
    (void)t;
    return true;
}

#endif

/* The index of a stack, added if its number is new. */
static uint32_t place_of(struct timeline_reader *r, uint32_t id)
{
    struct timeline *t = r->timeline;
    if (id >= t->place_numbers) {
        size_t room = 2 * (size_t)id + 64;
        t->place_of = text_grow(t->place_of, room * sizeof *t->place_of);
        memset(t->place_of + t->place_numbers, 0, (room - t->place_numbers) * sizeof *t->place_of);
        t->place_numbers = room;
    }
    if (!t->place_of[id]) {
        if (t->places == t->place_room) {
            t->place_room = t->place_room ? 2 * t->place_room : 64;
            t->place = text_grow(t->place, t->place_room * sizeof *t->place);
        }
        t->place[t->places++] = (struct timeline_place){id, NULL};
        t->place_of[id] = (uint32_t)t->places;
    }
    return t->place_of[id] - 1;
}

static void take_frames(const struct trace_event *event, char **text)
{
    struct text joined = {0};
    for (uint32_t i = 0; i < event->frames; i++)
        text_add(&joined, "%s%s", i ? "\n" : "", event->frame[i]);
    free(*text);
    *text = joined.data;
}

void timeline_moment(struct timeline_reader *r)
{
    const struct trace_event *event = r->event;
    if (!event->place || event->place > PLACE_MOST)
        return;
    const uint32_t place = place_of(r, event->place);
    if (event->frames)
        take_frames(event, &r->timeline->place[place].frames);
}
