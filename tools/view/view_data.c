/* SPDX-License-Identifier: Apache-2.0 */
/* The data of the page. See view.h. */
#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view_columns.h"

enum { PROBLEMS = 200, SAID_MOST = 1 << 20 };

/* ---- a window ---- */

typedef int64_t call_column(const struct timeline *t, uint32_t call);

static int64_t call_n(const struct timeline *t, uint32_t call)
{
    return (int64_t)timeline_call(t, call)->ordinal;
}

static int64_t call_thread(const struct timeline *t, uint32_t call)
{
    return timeline_call(t, call)->thread;
}

static int64_t call_name(const struct timeline *t, uint32_t call)
{
    return (int64_t)timeline_call(t, call)->id;
}

static int64_t call_touched(const struct timeline *t, uint32_t call)
{
    return timeline_touched(t, call);
}

static int64_t call_result(const struct timeline *t, uint32_t call)
{
    return (int64_t)timeline_call(t, call)->result;
}

static int64_t call_time(const struct timeline *t, uint32_t call)
{
    return microseconds(timeline_call(t, call)->time);
}

static int64_t call_place(const struct timeline *t, uint32_t call)
{
    const uint32_t place = timeline_call(t, call)->place;
    return place == TIMELINE_NONE ? -1 : (int64_t)place;
}

static void put_column(struct json *json, const char *key, const struct timeline *t, const struct view_window *window,
                       call_column *get)
{
    jsonw_open(json, key, '[');
    for (uint32_t i = window->first; i < window->end; i++)
        jsonw_int(json, NULL, get(t, i));
    jsonw_close(json, ']');
}

static void put_words(struct json *json, const char *key, const struct timeline *t, const struct view_window *window,
                      const char *(*get)(const struct timeline *t, uint32_t call))
{
    jsonw_open(json, key, '[');
    for (uint32_t i = window->first; i < window->end; i++)
        jsonw_text(json, NULL, get(t, i));
    jsonw_close(json, ']');
}

/* The stacks of the window's calls, each once. */
static void put_stacks(struct json *json, const struct timeline *t, const struct view_window *window)
{
    bool *put = text_grow(NULL, t->places + 1);
    memset(put, 0, t->places + 1);
    jsonw_open(json, "stacks", '{');
    for (uint32_t i = window->first; i < window->end; i++) {
        const uint32_t place = timeline_call(t, i)->place;
        char key[16];
        if (place == TIMELINE_NONE || put[place])
            continue;
        put[place] = true;
        snprintf(key, sizeof key, "%" PRIu32, place);
        jsonw_text(json, key, t->place[place].frames ? t->place[place].frames : "");
    }
    jsonw_close(json, '}');
    free(put);
}

static void put_calls(struct json *json, const struct timeline *t, const struct view_window *window)
{
    jsonw_open(json, "calls", '{');
    put_column(json, "n", t, window, call_n);
    put_column(json, "thread", t, window, call_thread);
    put_column(json, "name", t, window, call_name);
    put_column(json, "touched", t, window, call_touched);
    put_column(json, "result", t, window, call_result);
    put_words(json, "words", t, window, timeline_words);
    put_words(json, "answers", t, window, timeline_answers);
    if (t->process.known) {
        put_column(json, "time", t, window, call_time);
        put_column(json, "place", t, window, call_place);
    }
    jsonw_close(json, '}');
    jsonw_open(json, "touched", '[');
    for (uint32_t i = t->calls ? t->mark[window->first].first_touched : 0; t->calls && i < t->mark[window->end].first_touched; i++)
        put_index(json, t->touched[i]);
    jsonw_close(json, ']');
    put_stacks(json, t, window);
}

static void put_window(struct json *json, const char *key, struct view_trace *trace, uint32_t first, uint32_t most)
{
    struct view_window window;
    const struct timeline *t = trace->timeline;
    view_window_of(&window, trace, first, most);
    jsonw_open(json, key, '{');
    jsonw_int(json, "first", window.first);
    put_calls(json, t, &window);
    put_objects(json, trace, &window);
    put_said(json, t, said_from(t, window.first), said_from(t, window.end), "said");
    jsonw_close(json, '}');
    view_window_free(&window);
}

void view_data_window(struct json *json, struct view_trace *trace, uint32_t first, uint32_t most)
{
    put_window(json, NULL, trace, first, most);
}

/* ---- a trace ---- */

static void put_process(struct json *json, const struct timeline *t)
{
    const struct timeline_process *process = &t->process;
    if (!process->known)
        return;
    jsonw_open(json, "process", '{');
    jsonw_int(json, "number", process->number);
    jsonw_int(json, "parent", process->parent);
    jsonw_int(json, "fork_of", process->fork_of);
    jsonw_text(json, "program", process->program);
    jsonw_text(json, "host", process->host);
    jsonw_text(json, "started", process->started);
    jsonw_int(json, "clock", microseconds(process->clock));
    jsonw_close(json, '}');
    jsonw_int(json, "end", t->calls ? microseconds(timeline_call(t, (uint32_t)t->calls - 1)->time) : 0);
}

/* Sizes in a trace may be anything, and their sum is more. */
static int64_t bytes(double sum)
{
    return sum < 0x1p62 ? (int64_t)sum : INT64_C(1) << 62;
}

static void put_strip(struct json *json, const struct view_trace *trace)
{
    jsonw_open(json, "strip", '{');
    jsonw_int(json, "most", bytes(trace->most_used));
    jsonw_open(json, "used", '[');
    for (size_t i = 0; i < trace->strip; i++)
        jsonw_int(json, NULL, bytes(trace->used[i]));
    jsonw_close(json, ']');
    jsonw_close(json, '}');
}

/* Which calls were refused or warned of; of very many the first. */
static void put_all_said(struct json *json, const struct timeline *t)
{
    const size_t count = t->all_said < SAID_MOST ? t->all_said : SAID_MOST;
    jsonw_open(json, "said", '{');
    jsonw_int(json, "all", (int64_t)t->all_said);
    jsonw_open(json, "call", '[');
    for (size_t i = 0; i < count; i++)
        jsonw_int(json, NULL, t->said[i]);
    jsonw_close(json, ']');
    jsonw_open(json, "severity", '[');
    for (size_t i = 0; i < count; i++)
        jsonw_int(json, NULL, timeline_is_error(t, t->said[i]) ? 2 : 1);
    jsonw_close(json, ']');
    jsonw_close(json, '}');
}

void view_data_trace(struct json *json, struct view_trace *trace, bool window, uint32_t first, uint32_t most)
{
    const struct timeline *t = trace->timeline;
    jsonw_open(json, NULL, '{');
    jsonw_text(json, "trace", trace->name);
    jsonw_text(json, "version", t->version);
    jsonw_text(json, "backend", t->backend);
    jsonw_int(json, "complete", t->complete);
    jsonw_text(json, "complaint", t->complaint.length ? t->complaint.data : "");
    jsonw_int(json, "calls", (int64_t)t->calls);
    jsonw_int(json, "objects", (int64_t)t->objects);
    put_process(json, t);
    put_tables(json);
    put_strip(json, trace);
    jsonw_open(json, "grantees", '[');
    for (size_t i = 0; i < trace->grantees; i++)
        jsonw_int(json, NULL, trace->grantee[i]);
    jsonw_close(json, ']');
    put_all_said(json, t);
    put_said(json, t, 0, t->all_said < PROBLEMS ? t->all_said : PROBLEMS, "problems");
    if (window)
        put_window(json, "window", trace, first, most);
    jsonw_close(json, '}');
}

/* ---- all of them ---- */

static void put_end(struct json *json, const struct view_trace *traces, uint32_t trace, uint32_t call, uint32_t object)
{
    const struct timeline *t = traces[trace].timeline;
    char name[TIMELINE_NAME];
    jsonw_int(json, NULL, trace);
    jsonw_int(json, NULL, call);
    jsonw_int(json, NULL, microseconds(t->process.clock) + microseconds(timeline_call(t, call)->time));
    jsonw_text(json, NULL, object == TIMELINE_NONE ? "" : timeline_name(&t->object[object], name));
}

static void put_link(struct json *json, const struct view_trace *traces, const struct view_link *link)
{
    const uint64_t size = link->from_object == TIMELINE_NONE ? 0 : traces[link->from].timeline->object[link->from_object].size;
    jsonw_open(json, NULL, '[');
    put_end(json, traces, link->from, link->from_call, link->from_object);
    jsonw_int(json, NULL, size > INT64_MAX ? INT64_MAX : (int64_t)size);
    put_end(json, traces, link->to, link->to_call, link->to_object);
    jsonw_int(json, NULL, link->guess);
    jsonw_close(json, ']');
}

void view_data_all(struct json *json, const struct view_pages *pages)
{
    jsonw_open(json, NULL, '{');
    jsonw_int(json, "live", pages->live);
    jsonw_open(json, "traces", '[');
    for (size_t i = 0; i < pages->count; i++)
        view_data_trace(json, &pages->trace[i], !pages->live || i == 0, pages->first, pages->most);
    jsonw_close(json, ']');
    jsonw_open(json, "links", '[');
    for (size_t i = 0; i < pages->links.count; i++)
        put_link(json, pages->trace, &pages->links.link[i]);
    jsonw_close(json, ']');
    jsonw_int(json, "unmatched", (int64_t)pages->links.unmatched);
    jsonw_close(json, '}');
}
