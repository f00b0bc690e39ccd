/* SPDX-License-Identifier: Apache-2.0 */
/* What a served page asks for: an object's life, and a search. See view_server.h; lists.js does the same in a page of its own. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view_columns.h"
#include "view_server.h"

enum { OBJECT_CALLS = 100, FOUND = 40, SEARCH_MS = 300 };

/* ---- an object's calls ---- */

static bool touches(const struct timeline *t, uint32_t call, uint32_t object)
{
    for (uint32_t i = t->mark[call].first_touched; i < t->mark[call + 1].first_touched; i++)
        if (t->touched[i] == object)
            return true;
    return false;
}

struct list {
    uint32_t *call;
    size_t count, room;
};

static void add(struct list *list, uint32_t call)
{
    if (list->count == list->room) {
        list->room = 2 * list->room + 64;
        list->call = text_grow(list->call, list->room * sizeof *list->call);
    }
    list->call[list->count++] = call;
}

static void put_call(struct json *json, const struct timeline *t, const struct list *list, size_t from, size_t to)
{
    jsonw_open(json, "call", '[');
    for (size_t i = from; i < to; i++)
        jsonw_int(json, NULL, list->call[i]);
    jsonw_close(json, ']');
    jsonw_open(json, "words", '[');
    for (size_t i = from; i < to; i++)
        jsonw_text(json, NULL, timeline_words(t, list->call[i]));
    jsonw_close(json, ']');
    jsonw_open(json, "severity", '[');
    for (size_t i = from; i < to; i++)
        jsonw_int(json, NULL, t->mark[list->call[i]].said);
    jsonw_close(json, ']');
}

void view_data_object(struct json *json, const struct timeline *t, uint32_t object, uint32_t near)
{
    struct list list = {0};
    size_t at = 0;
    const bool known = object < t->objects;
    for (uint32_t call = known ? t->object[object].born : 0; known && call < t->calls; call++)
        if (touches(t, call, object))
            add(&list, call);
    while (at < list.count && list.call[at] < near)
        at++;
    size_t from = at > OBJECT_CALLS / 2 ? at - OBJECT_CALLS / 2 : 0;
    if (list.count < from + OBJECT_CALLS)
        from = list.count > OBJECT_CALLS ? list.count - OBJECT_CALLS : 0;
    const size_t to = list.count - from < OBJECT_CALLS ? list.count : from + OBJECT_CALLS;
    jsonw_open(json, NULL, '{');
    jsonw_int(json, "all", (int64_t)list.count);
    put_call(json, t, &list, from, to);
    jsonw_close(json, '}');
    free(list.call);
}

/* ---- a search ---- */

struct search {
    const struct timeline *t;
    char query[128];        /* in small letters */
    bool exact, is_address; /* a name such as h12; a number */
    uint64_t address, number;
    struct view_window objects; /* that were found */
    struct list calls;
    struct timespec from;
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool fits(const struct search *search, uint32_t index)
{
    const struct timeline_object *o = &search->t->object[index];
    char name[TIMELINE_NAME];
    if (search->exact)
        return o->number == search->number && tolower((unsigned char)*timeline_name(o, name)) == search->query[0];
    if (!search->is_address)
        return begins(timeline_kind_text(o->kind), search->query);
    const bool placed = o->kind == TIMELINE_RESERVATION || o->kind == TIMELINE_MAPPING || o->kind == TIMELINE_ALLOCATION;
    return placed && o->start <= search->address && search->address - o->start < o->size;
}

static void find_objects(struct search *search)
{
    struct view_window *found = &search->objects;
    found->object = text_grow(NULL, FOUND * sizeof *found->object);
    for (uint32_t i = 0; i < search->t->objects && found->objects < FOUND; i++)
        if (fits(search, i))
            found->object[found->objects++] = i;
}

/* Is it in the text, in whatever letters? */
static bool contains(const char *text, const char *query)
{
    for (; *text; text++) {
        size_t i = 0;
        while (query[i] && tolower((unsigned char)text[i]) == query[i])
            i++;
        if (!query[i])
            return true;
    }
    return false;
}

/* Has it looked for as long as a reader waits? Asked after every so many steps. */
static bool is_late(const struct search *search, uint32_t step)
{
    struct timespec now;
    if (step % 256)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - search->from.tv_sec) * 1000 + (now.tv_nsec - search->from.tv_nsec) / 1000000 > SEARCH_MS;
}

static size_t found(const struct search *search)
{
    return search->objects.objects + search->calls.count;
}

static void find_rules(struct search *search)
{
    const struct timeline *t = search->t;
    for (uint32_t i = 0; i < t->all_said && found(search) < FOUND && !is_late(search, i); i++) {
        const char *rule = timeline_call(t, t->said[i])->rule;
        if (rule && contains(rule, search->query))
            add(&search->calls, t->said[i]);
    }
}

/* Looks through words for a while. Returns of how many calls. */
static uint32_t find_words(struct search *search)
{
    const struct timeline *t = search->t;
    for (uint32_t call = 0; call < t->calls && found(search) < 2 * FOUND; call++) {
        if (is_late(search, call))
            return call;
        if (contains(timeline_words(t, call), search->query))
            add(&search->calls, call);
    }
    return (uint32_t)t->calls;
}

static void put_found(struct json *json, const struct search *search)
{
    jsonw_open(json, "found", '[');
    for (size_t i = 0; i < search->objects.objects; i++) {
        jsonw_open(json, NULL, '{');
        jsonw_int(json, "object", search->objects.object[i]);
        jsonw_close(json, '}');
    }
    for (size_t i = 0; i < search->calls.count; i++) {
        jsonw_open(json, NULL, '{');
        jsonw_int(json, "call", search->calls.call[i]);
        jsonw_text(json, "words", timeline_words(search->t, search->calls.call[i]));
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void read_query(struct search *search, const char *query)
{
    size_t length = 0;
    char *end = NULL;
    for (; query[length] && length + 1 < sizeof search->query; length++)
        search->query[length] = (char)tolower((unsigned char)query[length]);
    search->query[length] = '\0';
    const char *q = search->query;
    search->exact = q[0] && strchr("rmhbacsed", q[0]) && q[1] && !q[1 + strspn(q + 1, "0123456789")];
    search->number = search->exact ? strtoull(q + 1, &end, 10) : 0;
    search->is_address = begins(q, "0x") && q[2] && !q[2 + strspn(q + 2, "0123456789abcdef")];
    search->address = search->is_address ? strtoull(q, &end, 16) : 0;
}

void view_data_search(struct json *json, struct view_trace *trace, const char *query)
{
    struct search search = {.t = trace->timeline};
    uint32_t looked = (uint32_t)search.t->calls;
    read_query(&search, query);
    if (search.query[0]) {
        clock_gettime(CLOCK_MONOTONIC, &search.from);
        find_objects(&search);
        find_rules(&search);
        if (!search.exact || !search.objects.objects) /* the calls of an object are shown with it */
            looked = find_words(&search);
    }
    jsonw_open(json, NULL, '{');
    put_found(json, &search);
    put_objects(json, trace, &search.objects);
    jsonw_int(json, "looked", looked);
    jsonw_close(json, '}');
    view_window_free(&search.objects);
    free(search.calls.call);
}
