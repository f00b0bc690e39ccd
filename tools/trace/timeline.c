/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_state.h"
#include "trace_lines.h"

bool timeline_alive(const struct timeline_object *object, uint32_t call)
{
    return object->born <= call && call < object->died; /* TIMELINE_NONE is greater than every call */
}

const char *timeline_name(const struct timeline_object *object, char buffer[TIMELINE_NAME])
{
    static const char letters[] = "RMHHBACSED";
    snprintf(buffer, TIMELINE_NAME, "%c%" PRIu32, letters[object->kind], object->number);
    return buffer;
}

const char *timeline_kind_text(enum timeline_kind kind)
{
    static const char *const texts[] = {"reservation", "mapping", "handle",     "multicast object", "bind",
                                        "allocation",  "context", "stream",     "event",            "descriptor"};
    return texts[kind];
}

/* ---- reading ---- */

bool timeline_complain(struct timeline_reader *r, const char *format, ...)
{
    struct timeline *t = r->timeline;
    char words[300];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    text_add(&t->complaint, "%s:%" PRIu64 ": ", t->store.name, (uint64_t)r->index + 2);
    text_add_safe(&t->complaint, words);
    return false;
}

/* Names refer to the state before the call, and for new objects to the state after it. */
static void touch_named(struct timeline_reader *r, bool out)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)r->event->call->id, &count);
    for (size_t i = 0; i < count; i++)
        if ((params[i].kind >= VMM_PARAM_OUT_INT) == out && r->named.param[i].kind != NAME_KINDS)
            timeline_touch(r, timeline_of_name(r->timeline, &r->named.param[i]));
    for (size_t i = 0; !out && i < count; i++)
        if (params[i].kind == VMM_PARAM_ADDRESS)
            timeline_touch(r, timeline_at(r, TIMELINE_MAPPING, vmm_call_scalar(r->event->call, &params[i])));
}

/* Keeps the names, in the order of the parameters. */
static void keep_names(struct timeline_reader *r)
{
    struct timeline *t = r->timeline;
    size_t count = 0;
    vmm_call_params((enum vmm_call_id)r->event->call->id, &count);
    if (t->names + count > t->name_room) {
        t->name_room = 2 * t->name_room + 256;
        t->named = text_grow(t->named, t->name_room * sizeof *t->named);
    }
    for (size_t i = 0; i < count; i++) {
        const struct name *name = &r->named.param[i];
        if (name->kind == NAME_KINDS || name->number >> TIMELINE_NUMBER_BITS)
            continue;
        t->named[t->names++] = (uint32_t)name->kind << TIMELINE_NUMBER_BITS | name->number;
        r->mark->named = (uint16_t)(r->mark->named | 1U << i);
    }
}

/* A failed call had no effect, except on rights (see set_access). */
static bool apply(struct timeline_reader *r)
{
    if (r->event->result != VMM_SUCCESS && r->event->call->id != VMM_CALL_mem_set_access)
        return true;
    if (!timeline_memory(r) || !timeline_contexts(r))
        return false;
    timeline_addresses(r);
    return true;
}

static void add_index(uint32_t **list, size_t *count, size_t *room, uint32_t index)
{
    if (*count == *room) {
        *room = *room ? 2 * *room : 64;
        *list = text_grow(*list, *room * sizeof **list);
    }
    (*list)[(*count)++] = index;
}

static bool passes(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_mem_export_to_shareable_handle:
    case VMM_CALL_mem_import_from_shareable_handle:
    case VMM_CALL_mem_pool_export_to_shareable_handle:
    case VMM_CALL_mem_pool_import_from_shareable_handle:
    case VMM_CALL_ipc_get_mem_handle:
    case VMM_CALL_ipc_open_mem_handle:
    case VMM_CALL_ipc_get_event_handle:
    case VMM_CALL_ipc_open_event_handle: return true;
    default: return false;
    }
}

/* Room for one more mark and its successor. */
static void new_mark(struct timeline_reader *r, struct trace_at at)
{
    struct timeline *t = r->timeline;
    if (t->calls + 2 > t->call_room) {
        t->call_room = t->call_room ? 2 * t->call_room : 256;
        t->mark = text_grow(t->mark, t->call_room * sizeof *t->mark);
    }
    r->index = (uint32_t)t->calls++;
    r->mark = &t->mark[r->index];
    *r->mark = (struct timeline_mark){.at = (uint32_t)trace_at_number(at), .first_touched = (uint32_t)t->touches,
                                      .first_named = (uint32_t)t->names};
}

static uint32_t nearest_of(const struct timeline *t, const vmm_object *nearest)
{
    const enum name_kind kind = name_kind_of(trace_object_letter(nearest->kind));
    const struct name name = {kind, nearest->number, 0, false};
    if (nearest->kind == VMM_OBJECT_MAPPING || nearest->kind == VMM_OBJECT_BIND) {
        const struct timeline_numbers *numbers =
            &t->numbered[nearest->kind == VMM_OBJECT_MAPPING ? TIMELINE_MAPPING : TIMELINE_BIND];
        return nearest->number < numbers->room ? numbers->object[nearest->number] : TIMELINE_NONE;
    }
    if (nearest->kind == VMM_OBJECT_DEVICE || kind == NAME_KINDS) /* D is a device there, and a descriptor here */
        return TIMELINE_NONE;
    return timeline_of_name(t, &name);
}

static void note_said(struct timeline_reader *r)
{
    struct timeline *t = r->timeline;
    const struct trace_event *event = r->event;
    const vmm_severity severity = event->detail->severity;
    const bool refused = event->result != VMM_SUCCESS && event->result != VMM_ERROR_NOT_READY;
    if (severity == VMM_SEVERITY_ERROR || refused)
        r->mark->said = TIMELINE_SAID_ERROR;
    else if (severity != VMM_SEVERITY_NONE)
        r->mark->said = TIMELINE_SAID_WARNING;
    if (r->mark->said)
        add_index(&t->said, &t->all_said, &t->said_room, r->index);
    if (severity != VMM_SEVERITY_NONE)
        timeline_touch(r, nearest_of(t, &event->detail->nearest));
    if (event->result == VMM_SUCCESS && passes((enum vmm_call_id)event->call->id))
        add_index(&t->passed, &t->all_passed, &t->passed_room, r->index);
}

static bool read_call(struct timeline_reader *r)
{
    trace_name_params(&r->named, r->event, &r->names, false);
    touch_named(r, false);
    names_learn(&r->names, r->event);
    trace_name_params(&r->named, r->event, &r->names, true);
    if (!apply(r))
        return false;
    touch_named(r, true);
    keep_names(r);
    if (r->timeline->store.own)
        timeline_moment(r);
    note_said(r);
    return true;
}

/* A call that turned out to be inconsistent has had no effect yet. */
static void forget_call(struct timeline_reader *r)
{
    r->timeline->touches = r->mark->first_touched;
    r->timeline->calls--;
}

static void read_calls(struct timeline_reader *r, struct trace_room *room)
{
    struct timeline *t = r->timeline;
    struct trace_at at = {0, 0}, found;
    while (trace_store_next(&t->store, &at, room, &found)) {
        if (t->calls >= TIMELINE_NONE - 2 || trace_at_number(found) > UINT32_MAX) {
            text_add(&t->complaint, "%s: too many calls", t->store.name);
            break;
        }
        new_mark(r, found);
        r->event = &room->event;
        r->any = &room->call;
        if (!read_call(r)) {
            forget_call(r);
            break;
        }
    }
    if (t->call_room)
        t->mark[t->calls] = (struct timeline_mark){.first_touched = (uint32_t)t->touches, .first_named = (uint32_t)t->names};
    t->complete = t->store.whole && !t->complaint.length && !t->store.complaint.length;
    if (t->complete && t->store.said != t->calls) {
        text_add(&t->complaint, "%s: the trace claims to have %" PRIu64 " calls, but has %zu", t->store.name, t->store.said, t->calls);
        t->complete = false;
    }
}

bool timeline_read(struct timeline *timeline, FILE *in, const char *name)
{
    struct timeline_reader *r = text_grow(NULL, sizeof *r);
    struct trace_room *room = text_grow(NULL, sizeof *room);
    *timeline = (struct timeline){0};
    memset(r, 0, sizeof *r);
    r->timeline = timeline;
    const bool good = trace_store_open(&timeline->store, in, name) && timeline_header(timeline);
    if (good)
        read_calls(r, room);
    if (!timeline->complaint.length && timeline->store.complaint.length)
        text_add(&timeline->complaint, "%s", timeline->store.complaint.data);
    for (int kind = 0; kind < TIMELINE_KINDS; kind++)
        spans_clear(&r->ranges[kind]);
    names_free(&r->names);
    free(r->holds);
    free(r->thread);
    free(r);
    free(room);
    return good;
}

/* ---- data that is read on demand ---- */

struct timeline_cache {
    struct trace_room room;
    struct trace_named named;
    struct timeline_call call;
    uint32_t index;              /* TIMELINE_NONE: nothing was read yet */
    struct {
        FILE *file;
        char *text;
        size_t size;
    } words, answers;
};

static void free_cache(struct timeline_cache *cache)
{
    if (!cache)
        return;
    if (cache->words.file)
        fclose(cache->words.file);
    if (cache->answers.file)
        fclose(cache->answers.file);
    free(cache->words.text);
    free(cache->answers.text);
    free(cache);
}

void timeline_free(struct timeline *timeline)
{
    free_cache(timeline->cache);
    for (size_t i = 0; i < timeline->places; i++)
        free(timeline->place[i].frames);
    for (int kind = 0; kind < TIMELINE_KINDS; kind++)
        free(timeline->numbered[kind].object);
    free(timeline->place);
    free(timeline->place_of);
    free(timeline->process.program);
    free(timeline->mark);
    free(timeline->object);
    free(timeline->change);
    free(timeline->touched);
    free(timeline->named);
    free(timeline->said);
    free(timeline->passed);
    text_free(&timeline->complaint);
    trace_store_close(&timeline->store);
    *timeline = (struct timeline){0};
}

/* The offset of an address in its object. */
static uint64_t offset_of(const struct timeline *t, const struct trace_event *event, const struct vmm_param *param,
                          const struct name *name)
{
    const uint32_t object = timeline_of_name(t, name);
    const bool out = param->kind == VMM_PARAM_OUT_ADDRESS;
    uint64_t value = vmm_call_scalar(event->call, param);
    if (object == TIMELINE_NONE || (param->kind != VMM_PARAM_ADDRESS && !out) || (out && !value))
        return 0;
    if (out)
        memcpy(&value, (const void *)(uintptr_t)value, sizeof value);
    return value - t->object[object].start;
}

/* The names that the call's parameters had. */
static void recall_names(const struct timeline *t, const struct timeline_mark *mark, struct timeline_cache *cache)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)cache->room.call.head.id, &count);
    const uint32_t *named = t->named + mark->first_named;
    for (size_t i = 0; i < count; i++) {
        struct name *name = &cache->named.param[i];
        *name = (struct name){.kind = NAME_KINDS};
        if (!(mark->named >> i & 1))
            continue;
        *name = (struct name){(enum name_kind)(*named >> TIMELINE_NUMBER_BITS), *named & ((1U << TIMELINE_NUMBER_BITS) - 1), 0, false};
        name->offset = offset_of(t, &cache->room.event, &params[i], name);
        named++;
    }
}

/* The object with that name among those that the call involves. */
static uint32_t touched_as(const struct timeline *t, uint32_t call, const char *name)
{
    char text[TIMELINE_NAME];
    for (uint32_t i = 0; name[0] && name[0] != 'D' && i < timeline_touched(t, call); i++) {
        const uint32_t object = t->touched[t->mark[call].first_touched + i];
        if (strcmp(timeline_name(&t->object[object], text), name) == 0)
            return object;
    }
    return TIMELINE_NONE;
}

static void fill_call(const struct timeline *t, uint32_t index, struct timeline_cache *cache)
{
    const struct trace_event *event = &cache->room.event;
    const vmm_detail *detail = event->detail;
    const bool said = detail->severity != VMM_SEVERITY_NONE;
    cache->call = (struct timeline_call){
        .id = (enum vmm_call_id)event->call->id, .ordinal = event->call->number, .line = (uint64_t)index + 2, .thread = event->thread,
        .result = event->result, .severity = detail->severity, .note = "", .nearest_object = TIMELINE_NONE, .time = event->time,
        .shared = event->shared,
        .place = event->place && event->place < t->place_numbers && t->place_of[event->place] ? t->place_of[event->place] - 1
                                                                                              : TIMELINE_NONE};
    if (!said)
        return;
    cache->call.rule = detail->rule;
    cache->call.argument = detail->argument;
    cache->call.value = detail->value;
    cache->call.expected = detail->expected;
    cache->call.note = detail->note;
    if (detail->nearest.kind != VMM_OBJECT_NONE)
        snprintf(cache->call.nearest, TIMELINE_NAME, "%c%" PRIu64, trace_object_letter(detail->nearest.kind),
                 detail->nearest.kind == VMM_OBJECT_DEVICE ? detail->nearest.value : detail->nearest.number);
    cache->call.nearest_object = touched_as(t, index, cache->call.nearest);
}

/* Reads the call unless it is cached. */
static struct timeline_cache *recall(const struct timeline *t, uint32_t index)
{
    struct timeline *mine = (struct timeline *)(uintptr_t)t; /* its cache is not its contents */
    if (!t->cache) {
        mine->cache = text_grow(NULL, sizeof *mine->cache);
        mine->cache->words.text = mine->cache->answers.text = NULL;
        mine->cache->words.file = open_memstream(&mine->cache->words.text, &mine->cache->words.size);
        mine->cache->answers.file = open_memstream(&mine->cache->answers.text, &mine->cache->answers.size);
        if (!mine->cache->words.file || !mine->cache->answers.file)
            text_grow(NULL, SIZE_MAX); /* which ends the process with a message */
        mine->cache->index = TIMELINE_NONE;
    }
    struct timeline_cache *cache = t->cache;
    struct trace_at at = trace_at_of(t->mark[index].at), found;
    if (cache->index == index || !trace_store_next(&mine->store, &at, &cache->room, &found))
        return cache; /* a record that was read once can be read again */
    cache->index = index;
    recall_names(t, &t->mark[index], cache);
    fill_call(t, index, cache);
    return cache;
}

const struct timeline_call *timeline_call(const struct timeline *timeline, uint32_t call)
{
    return &recall(timeline, call)->call;
}

const char *timeline_words(const struct timeline *timeline, uint32_t call)
{
    struct timeline_cache *cache = recall(timeline, call);
    rewind(cache->words.file);
    trace_print_call(cache->words.file, &cache->room.event, &cache->named);
    fputc(0, cache->words.file);
    fflush(cache->words.file);
    return cache->words.text;
}

const char *timeline_answers(const struct timeline *timeline, uint32_t call)
{
    struct timeline_cache *cache = recall(timeline, call);
    rewind(cache->answers.file);
    trace_print_answers(cache->answers.file, &cache->room.event, &cache->named);
    fputc(0, cache->answers.file);
    fflush(cache->answers.file);
    return cache->answers.text;
}
