/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of a window, what changed in them, and the tables that their columns refer to. See view.h. */
#include <stdlib.h>

#include "view_columns.h"

/* ---- tables ---- */

static void put_result(struct json *json, vmm_result result)
{
    jsonw_open(json, NULL, '[');
    jsonw_int(json, NULL, (int64_t)result);
    jsonw_text(json, NULL, vmm_result_name(result));
    jsonw_text(json, NULL, vmm_result_text(result));
    jsonw_close(json, ']');
}

void put_tables(struct json *json)
{
    jsonw_open(json, "names", '[');
    for (int id = 0; id < VMM_CALL_COUNT; id++)
        jsonw_text(json, NULL, vmm_call_driver_name((enum vmm_call_id)id));
    jsonw_close(json, ']');
    jsonw_open(json, "results", '[');
#define VMM_RESULT(name, ...) put_result(json, VMM_##name);
#include "results.def"
    jsonw_close(json, ']');
    jsonw_open(json, "kinds", '[');
    for (int kind = 0; kind < TIMELINE_KINDS; kind++)
        jsonw_text(json, NULL, timeline_kind_text((enum timeline_kind)kind));
    jsonw_close(json, ']');
}

/* ---- objects ---- */

typedef int64_t column_of(const struct timeline *t, uint32_t object);

#define COLUMN(name, value)                                                    \
    static int64_t column_##name(const struct timeline *t, uint32_t object)    \
    {                                                                          \
        const struct timeline_object *o = &t->object[object];                  \
        (void)o;                                                               \
        return (value);                                                        \
    }
#define INDEX(field) (o->field == TIMELINE_NONE ? -1 : (int64_t)o->field)
#define SIZE(field) (o->field > INT64_MAX ? INT64_MAX : (int64_t)o->field)
COLUMN(id, object)
COLUMN(kind, (int64_t)o->kind)
COLUMN(number, o->number)
COLUMN(born, o->born)
COLUMN(by, (int64_t)timeline_call(t, o->born)->id)
COLUMN(died, INDEX(died))
COLUMN(ended, o->died == TIMELINE_NONE ? -1 : (int64_t)timeline_call(t, o->died)->id)
COLUMN(released, INDEX(released))
COLUMN(start, SIZE(start))
COLUMN(size, SIZE(size))
COLUMN(offset, SIZE(offset))
COLUMN(handle, INDEX(handle))
COLUMN(memory, INDEX(memory))
COLUMN(context, INDEX(context))
COLUMN(team, o->team)
COLUMN(place, view_place(o->location))
COLUMN(exportable, o->exportable)

static void put_columns(struct json *json, const struct timeline *t, const struct view_window *window)
{
#define ROW(name) {#name, column_##name}
    static const struct {
        const char *key;
        column_of *get;
    } column[] = {ROW(id),   ROW(kind),   ROW(number), ROW(born),   ROW(by),      ROW(died), ROW(ended), ROW(released), ROW(start),
                  ROW(size), ROW(offset), ROW(handle), ROW(memory), ROW(context), ROW(team), ROW(place), ROW(exportable)};
    jsonw_open(json, "objects", '{');
    for (size_t c = 0; c < sizeof column / sizeof column[0]; c++) {
        jsonw_open(json, column[c].key, '[');
        for (size_t i = 0; i < window->objects; i++)
            jsonw_int(json, NULL, column[c].get(t, window->object[i]));
        jsonw_close(json, ']');
    }
    jsonw_close(json, '}');
}

/* ---- changes ---- */

struct changes {
    uint32_t *change;
    size_t count, room;
};

/* Is a later one of its kind and place among those from the first one on? */
static bool is_known(const struct changes *changes, size_t first, const struct timeline *t, const struct timeline_change *change)
{
    for (size_t i = first; i < changes->count; i++) {
        const struct timeline_change *later = &t->change[changes->change[i]];
        if (later->kind == change->kind && view_place(later->location) == view_place(change->location))
            return true;
    }
    return false;
}

/* Changes of one object up to the window's end, the newest first: of those before it only the last of each kind and place. */
static void collect(struct changes *changes, const struct view_trace *trace, const struct view_window *window, uint32_t object)
{
    const struct timeline *t = trace->timeline;
    size_t before = SIZE_MAX; /* where those before the window begin */
    for (uint32_t i = trace->last_change[object]; i != TIMELINE_NONE; i = trace->change_before[i]) {
        const struct timeline_change *c = &t->change[i];
        if (c->call < window->first && before == SIZE_MAX)
            before = changes->count;
        if (c->call >= window->end || (c->call < window->first && is_known(changes, before, t, c)))
            continue;
        if (changes->count == changes->room) {
            changes->room = 2 * changes->room + 256;
            changes->change = text_grow(changes->change, changes->room * sizeof *changes->change);
        }
        changes->change[changes->count++] = i;
    }
}

static void put_changes(struct json *json, const struct view_trace *trace, const struct view_window *window)
{
    const struct timeline *t = trace->timeline;
    struct changes changes = {0};
    for (size_t i = window->objects; i-- > 0;)
        collect(&changes, trace, window, window->object[i]);
    jsonw_open(json, "changes", '{');
#define CHANGES(key, value)                                       \
    jsonw_open(json, key, '[');                                   \
    for (size_t i = changes.count; i-- > 0;) {                    \
        const struct timeline_change *c = &t->change[changes.change[i]]; \
        jsonw_int(json, NULL, (int64_t)(value));                  \
    }                                                             \
    jsonw_close(json, ']')
    CHANGES("object", c->object);
    CHANGES("call", c->call);
    CHANGES("kind", c->kind);
    CHANGES("place", view_place(c->location));
    CHANGES("value", c->value);
#undef CHANGES
    jsonw_close(json, '}');
    free(changes.change);
}

void put_objects(struct json *json, const struct view_trace *trace, const struct view_window *window)
{
    put_columns(json, trace->timeline, window);
    put_changes(json, trace, window);
}
