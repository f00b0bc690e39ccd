/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in the Trace Event Format ("Trace Event Format", Google, JSON Object Format). See export.h and docs/export.md.
 *
 *     process   Calls          thread 1, 2        each call a slice
 *               Reservations   lane 1, 2, ...     each life a slice; lives on one lane do not overlap
 *               Mappings       lane 1, 2, ...
 *               Device 0       lane 1, 2, ...     memory: handles and cuMemAlloc, and the counters of its bytes
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "json.h"

#define CALL_LENGTH 1000 /* microseconds of the format, as times are not in a trace */

enum process { CALLS = 1, RESERVATIONS, MAPPINGS, MULTICAST, CONTEXTS, DESCRIPTORS, HOST, DEVICE_0 };

/* A track: lanes that are free again are used first. */
struct track {
    uint32_t *free_lane; /* thread ids */
    size_t free_count, free_room;
    unsigned lanes;
    bool named;
};

struct chrome {
    const struct timeline *timeline;
    FILE *out;
    struct json json; /* of the event that is being written */
    bool failed;      /* memory ran out: the file is not whole */
    size_t events;
    uint32_t threads;                            /* ids given so far; no two processes share one */
    uint32_t *lane;                              /* of each object */
    struct export_index index;
    uint32_t *holders;                           /* of each memory: handles that live */
    struct track track[DEVICE_0 + VMM_MAX_DEVICES + 1];
    uint64_t allocated[VMM_MAX_DEVICES], mapped[VMM_MAX_DEVICES];
};

static unsigned process_of(const struct chrome *c, const struct timeline_object *o)
{
    int device = export_device(c->timeline, o);
    switch (o->kind) {
    case TIMELINE_RESERVATION: return RESERVATIONS;
    case TIMELINE_MAPPING: return MAPPINGS;
    case TIMELINE_MULTICAST:
    case TIMELINE_BIND: return MULTICAST;
    case TIMELINE_CONTEXT:
    case TIMELINE_STREAM:
    case TIMELINE_EVENT: return CONTEXTS;
    case TIMELINE_DESCRIPTOR: return DESCRIPTORS;
    case TIMELINE_HANDLE:
    case TIMELINE_ALLOCATION:
    case TIMELINE_KINDS: break;
    }
    return device >= 0 && device < VMM_MAX_DEVICES ? DEVICE_0 + (unsigned)device : HOST;
}

static const char *process_name(unsigned process, char room[32])
{
    static const char *const names[] = {"", "Calls", "Reservations", "Mappings", "Multicast objects", "Contexts, streams, events",
                                        "Exported descriptors", "Host memory"};
    if (process < DEVICE_0)
        return names[process];
    snprintf(room, 32, "Memory of device %u", process - DEVICE_0);
    return room;
}

/* Opens an event: what every event has. Further members follow, then end_event. */
static void event(struct chrome *c, const char *phase, const char *name, unsigned process, uint32_t thread, uint64_t at)
{
    jsonw_reset(&c->json);
    jsonw_open(&c->json, NULL, '{');
    jsonw_text(&c->json, "ph", phase);
    jsonw_int(&c->json, "pid", process);
    jsonw_int(&c->json, "tid", thread);
    jsonw_int(&c->json, "ts", (int64_t)at);
    jsonw_text(&c->json, "name", name);
}

/* A line each, so that a large file can be searched. */
static void end_event(struct chrome *c)
{
    jsonw_close(&c->json, '}');
    c->failed |= c->json.failed;
    fputs(c->events++ ? ",\n" : "\n", c->out);
    fwrite(c->json.text, 1, c->json.length, c->out);
}

static uint64_t time_of(uint32_t call)
{
    return (uint64_t)call * CALL_LENGTH;
}

static void metadata(struct chrome *c, const char *what, unsigned process, uint32_t thread, const char *name)
{
    event(c, "M", what, process, thread, 0);
    jsonw_open(&c->json, "args", '{');
    jsonw_text(&c->json, "name", name);
    jsonw_close(&c->json, '}');
    end_event(c);
}

static void name_process(struct chrome *c, unsigned process)
{
    char room[32];
    if (c->track[process].named)
        return;
    c->track[process].named = true;
    metadata(c, "process_name", process, 0, process_name(process, room));
    event(c, "M", "process_sort_index", process, 0, 0);
    jsonw_open(&c->json, "args", '{');
    jsonw_int(&c->json, "sort_index", process);
    jsonw_close(&c->json, '}');
    end_event(c);
}

/* ---- lanes ---- */

static uint32_t take_lane(struct chrome *c, unsigned process)
{
    struct track *track = &c->track[process];
    char name[32];
    if (track->free_count)
        return track->free_lane[--track->free_count];
    name_process(c, process);
    snprintf(name, sizeof name, "%u", ++track->lanes);
    metadata(c, "thread_name", process, ++c->threads, name);
    return c->threads;
}

static void give_lane(struct chrome *c, unsigned process, uint32_t lane)
{
    struct track *track = &c->track[process];
    if (track->free_count == track->free_room) {
        track->free_room = track->free_room ? 2 * track->free_room : 16;
        track->free_lane = text_grow(track->free_lane, track->free_room * sizeof *track->free_lane);
    }
    track->free_lane[track->free_count++] = lane;
}

/* ---- bytes ---- */

static void counter(struct chrome *c, int device, uint32_t call)
{
    name_process(c, DEVICE_0 + (unsigned)device);
    event(c, "C", "bytes", DEVICE_0 + (unsigned)device, 0, time_of(call));
    jsonw_open(&c->json, "args", '{');
    jsonw_int(&c->json, "allocated", (int64_t)c->allocated[device]);
    jsonw_int(&c->json, "mapped", (int64_t)c->mapped[device]);
    jsonw_close(&c->json, '}');
    end_event(c);
}

/* Memory counts once, however many handles name it. */
static void count(struct chrome *c, const struct timeline_object *o, uint32_t call, bool born)
{
    int device = export_device(c->timeline, o);
    if (device < 0 || device >= VMM_MAX_DEVICES)
        return;
    uint64_t *bytes = o->kind == TIMELINE_MAPPING ? &c->mapped[device] : &c->allocated[device];
    if (o->kind == TIMELINE_HANDLE && o->memory != TIMELINE_NONE) {
        uint32_t *holders = &c->holders[o->memory];
        if (born ? (*holders)++ : --*holders)
            return;
    } else if (o->kind != TIMELINE_MAPPING && o->kind != TIMELINE_ALLOCATION) {
        return;
    }
    *bytes = born ? *bytes + o->size : *bytes - o->size;
    counter(c, device, call);
}

/* ---- lives ---- */

static bool has_handle(const struct timeline_object *o)
{
    return (o->kind == TIMELINE_MAPPING || o->kind == TIMELINE_BIND || o->kind == TIMELINE_DESCRIPTOR) &&
           o->handle != TIMELINE_NONE;
}

static bool has_address(const struct timeline_object *o)
{
    return o->kind == TIMELINE_RESERVATION || o->kind == TIMELINE_MAPPING || o->kind == TIMELINE_ALLOCATION;
}

static void life_arguments(struct chrome *c, uint32_t index)
{
    const struct timeline *t = c->timeline;
    const struct timeline_object *o = &t->object[index];
    char size[TEXT_SIZE_ROOM], name[TIMELINE_NAME];
    struct text rights = {0};
    jsonw_open(&c->json, "args", '{');
    jsonw_text(&c->json, "made by", timeline_words(t, o->born));
    jsonw_int(&c->json, "call", (int64_t)timeline_call(t, o->born)->ordinal);
    if (o->died != TIMELINE_NONE)
        jsonw_text(&c->json, "ended by", timeline_words(t, o->died));
    if (o->size) {
        jsonw_text(&c->json, "size", text_size(o->size, size));
        jsonw_int(&c->json, "bytes", (int64_t)o->size);
    }
    if (has_address(o))
        jsonw_hex(&c->json, "start", o->start);
    if (has_handle(o))
        jsonw_text(&c->json, "of", timeline_name(&t->object[o->handle], name));
    if (o->kind == TIMELINE_MAPPING) {
        export_rights(&c->index, t, index, o->died, &rights);
        jsonw_text(&c->json, "last rights", rights.data);
        text_free(&rights);
    }
    jsonw_close(&c->json, '}');
}

static void life(struct chrome *c, uint32_t index)
{
    const struct timeline_object *o = &c->timeline->object[index];
    char name[TIMELINE_NAME + TEXT_SIZE_ROOM + 8], room[TIMELINE_NAME], size[TEXT_SIZE_ROOM];
    unsigned process = process_of(c, o);
    uint64_t end = o->died == TIMELINE_NONE ? time_of((uint32_t)c->timeline->calls) : time_of(o->died);
    snprintf(name, sizeof name, "%s%s%s", timeline_name(o, room), o->size ? " " : "", o->size ? text_size(o->size, size) : "");
    c->lane[index] = take_lane(c, process);
    event(c, "X", name, process, c->lane[index], time_of(o->born));
    jsonw_int(&c->json, "dur", (int64_t)(end - time_of(o->born)));
    jsonw_text(&c->json, "cat", timeline_kind_text(o->kind));
    life_arguments(c, index);
    end_event(c);
}

/* An arrow from the memory to what shows it. */
static void flow(struct chrome *c, uint32_t index)
{
    const struct timeline_object *o = &c->timeline->object[index];
    if (o->kind != TIMELINE_MAPPING || o->handle == TIMELINE_NONE)
        return;
    event(c, "s", "shows", process_of(c, &c->timeline->object[o->handle]), c->lane[o->handle], time_of(o->born));
    jsonw_text(&c->json, "cat", "flow");
    jsonw_int(&c->json, "id", index + 1);
    end_event(c);
    event(c, "f", "shows", MAPPINGS, c->lane[index], time_of(o->born));
    jsonw_text(&c->json, "cat", "flow");
    jsonw_int(&c->json, "id", index + 1);
    jsonw_text(&c->json, "bp", "e"); /* ends at the slice that begins here */
    end_event(c);
}

static void released(struct chrome *c, uint32_t index)
{
    const struct timeline_object *o = &c->timeline->object[index];
    if (o->kind != TIMELINE_HANDLE || o->released == TIMELINE_NONE || o->released == o->died)
        return;
    event(c, "i", "last reference released", process_of(c, o), c->lane[index], time_of(o->released));
    jsonw_text(&c->json, "s", "t");
    end_event(c);
}

/* ---- calls ---- */

static void call_event(struct chrome *c, uint32_t index, uint32_t thread)
{
    const struct timeline_call *call = timeline_call(c->timeline, index);
    const char *answers = timeline_answers(c->timeline, index);
    event(c, "X", vmm_call_driver_name(call->id), CALLS, thread, time_of(index));
    jsonw_int(&c->json, "dur", CALL_LENGTH * 9 / 10);
    jsonw_text(&c->json, "cat", timeline_is_error(c->timeline, index) ? "call,refused" : "call");
    jsonw_open(&c->json, "args", '{');
    jsonw_int(&c->json, "call", (int64_t)call->ordinal);
    jsonw_int(&c->json, "line", (int64_t)call->line);
    jsonw_text(&c->json, "words", timeline_words(c->timeline, index));
    jsonw_text(&c->json, "result", vmm_result_name(call->result));
    if (answers[0])
        jsonw_text(&c->json, "answers", answers);
    if (call->rule)
        jsonw_text(&c->json, call->severity == VMM_SEVERITY_WARNING ? "warned by" : "refused by", call->rule);
    jsonw_close(&c->json, '}');
    end_event(c);
    if (!call->rule)
        return;
    event(c, "i", call->rule, CALLS, thread, time_of(index));
    jsonw_text(&c->json, "s", "t");
    jsonw_text(&c->json, "cat", "rule");
    end_event(c);
}

/* Objects are in the order of their births. Lanes of what ends in a call are free for what it makes. */
static void lives(struct chrome *c)
{
    const struct timeline *t = c->timeline;
    uint32_t made = 0;
    for (uint32_t call = 0; call < t->calls; call++) {
        for (uint32_t i = c->index.first_end[call]; i != TIMELINE_NONE; i = c->index.next_end[i]) {
            count(c, &t->object[i], call, false);
            give_lane(c, process_of(c, &t->object[i]), c->lane[i]);
        }
        for (; made < t->objects && t->object[made].born <= call; made++) {
            life(c, made);
            flow(c, made);
            released(c, made);
            count(c, &t->object[made], call, true);
        }
    }
}

/* count zeros, and one more. */
static uint32_t *zeros(size_t count)
{
    uint32_t *array = text_grow(NULL, (count + 1) * sizeof *array);
    memset(array, 0, (count + 1) * sizeof *array);
    return array;
}

static void calls(struct chrome *c)
{
    const struct timeline *t = c->timeline;
    uint32_t room = 0, *thread = NULL;
    char name[32];
    name_process(c, CALLS);
    for (uint32_t i = 0; i < t->calls; i++) {
        const uint32_t number = timeline_call(t, i)->thread;
        if (number >= room) {
            thread = text_grow(thread, (number + 64) * sizeof *thread);
            memset(thread + room, 0, (number + 64 - room) * sizeof *thread);
            room = number + 64;
        }
        if (!thread[number]) {
            snprintf(name, sizeof name, "thread %" PRIu32, number);
            metadata(c, "thread_name", CALLS, thread[number] = ++c->threads, name);
        }
        call_event(c, i, thread[number]);
    }
    free(thread);
}

bool export_chrome(const struct timeline *timeline, FILE *out)
{
    struct chrome c = {.timeline = timeline, .out = out};
    c.lane = zeros(timeline->objects);
    c.holders = zeros(timeline->objects);
    export_index_of(&c.index, timeline);
    jsonw_open(&c.json, NULL, '{');
    jsonw_text(&c.json, "displayTimeUnit", "ms");
    jsonw_open(&c.json, "otherData", '{');
    jsonw_text(&c.json, "made by", "cuvmm export");
    jsonw_text(&c.json, "time", "one call a millisecond; a trace holds no times");
    jsonw_text(&c.json, "backend", timeline->backend);
    jsonw_close(&c.json, '}');
    jsonw_open(&c.json, "traceEvents", '[');
    c.failed = c.json.failed;
    fwrite(c.json.text, 1, c.json.length, out);
    calls(&c);
    lives(&c);
    fputs("\n]}\n", out);
    for (size_t i = 0; i < sizeof c.track / sizeof c.track[0]; i++)
        free(c.track[i].free_lane);
    free(c.lane);
    free(c.holders);
    export_index_free(&c.index);
    jsonw_free(&c.json);
    return !c.failed;
}
