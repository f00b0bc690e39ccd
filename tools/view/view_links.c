/* SPDX-License-Identifier: Apache-2.0 */
#include "view_links.h"

#include <stdlib.h>

/* An export or an import. */
struct end {
    uint32_t trace, call, object;
    uint64_t time, shared, size; /* size 0: not known */
    int family;                  /* what is passed: memory, a pool, memory of IPC, an event */
    bool used;
};

struct ends {
    struct end *end;
    size_t count, room;
};

/* What the call passes on, from 1; 0: nothing. */
static int exported(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_mem_export_to_shareable_handle: return 1;
    case VMM_CALL_mem_pool_export_to_shareable_handle: return 2;
    case VMM_CALL_ipc_get_mem_handle: return 3;
    case VMM_CALL_ipc_get_event_handle: return 4;
    default: return 0;
    }
}

static int imported(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_mem_import_from_shareable_handle: return 1;
    case VMM_CALL_mem_pool_import_from_shareable_handle: return 2;
    case VMM_CALL_ipc_open_mem_handle: return 3;
    case VMM_CALL_ipc_open_event_handle: return 4;
    default: return 0;
    }
}

/* What the call names, or what it made where it imports. */
static uint32_t object_of(const struct timeline *t, uint32_t call, bool made)
{
    for (uint32_t i = 0; i < timeline_touched(t, call); i++) {
        uint32_t o = t->touched[t->mark[call].first_touched + i];
        if ((t->object[o].born == call) == made && t->object[o].kind != TIMELINE_DESCRIPTOR)
            return o;
    }
    return TIMELINE_NONE;
}

/* Memory is mapped whole, so the first mapping of what was imported has its size. */
static uint64_t size_of(const struct timeline *t, uint32_t object)
{
    if (object == TIMELINE_NONE || t->object[object].size)
        return object == TIMELINE_NONE ? 0 : t->object[object].size;
    for (uint32_t i = object; i < t->objects; i++)
        if (t->object[i].kind == TIMELINE_MAPPING && t->object[i].handle == object)
            return t->object[i].size;
    return 0;
}

static void add(struct ends *ends, const struct timeline *t, uint32_t trace, uint32_t call, int family, bool made)
{
    if (ends->count == ends->room) {
        ends->room = ends->room ? 2 * ends->room : 64;
        ends->end = text_grow(ends->end, ends->room * sizeof *ends->end);
    }
    uint32_t object = object_of(t, call, made);
    ends->end[ends->count++] = (struct end){trace, call, object, t->process.clock + timeline_call(t, call)->time, timeline_call(t, call)->shared,
                                            size_of(t, object), family, false};
}

static int earlier(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    return a->time != b->time ? (a->time < b->time ? -1 : 1) : a->trace != b->trace ? (a->trace < b->trace ? -1 : 1)
                                                                                    : (a->call > b->call) - (a->call < b->call);
}

static void collect(const struct timeline *traces, size_t count, struct ends *exports, struct ends *imports)
{
    for (uint32_t trace = 0; trace < count; trace++)
        for (size_t i = 0; i < traces[trace].all_passed; i++) {
            const uint32_t call = traces[trace].passed[i];
            const enum vmm_call_id id = timeline_call(&traces[trace], call)->id;
            if (exported(id))
                add(exports, &traces[trace], trace, call, exported(id), false);
            else if (imported(id))
                add(imports, &traces[trace], trace, call, imported(id), true);
        }
    if (exports->count)
        qsort(exports->end, exports->count, sizeof *exports->end, earlier);
    if (imports->count)
        qsort(imports->end, imports->count, sizeof *imports->end, earlier);
}

/* The last export before the import with its number; NULL. */
static struct end *surely(const struct ends *exports, const struct end *import)
{
    struct end *found = NULL;
    for (size_t i = 0; i < exports->count && exports->end[i].time <= import->time; i++)
        if (exports->end[i].shared == import->shared && exports->end[i].family == import->family)
            found = &exports->end[i];
    return found;
}

/* The first export that may be meant and was not taken; with none left, the last one that may be: one export may serve many. */
static struct end *perhaps(const struct ends *exports, const struct end *import)
{
    struct end *last = NULL;
    for (size_t i = 0; i < exports->count && exports->end[i].time <= import->time; i++) {
        struct end *e = &exports->end[i];
        if (e->shared || e->trace == import->trace || e->family != import->family ||
            (e->size && import->size && e->size != import->size))
            continue;
        if (!e->used)
            return e;
        last = e;
    }
    return last;
}

static void link_ends(struct view_links *links, struct end *from, const struct end *to)
{
    if (links->count == links->room) {
        links->room = links->room ? 2 * links->room : 64;
        links->link = text_grow(links->link, links->room * sizeof *links->link);
    }
    from->used = true;
    links->link[links->count++] =
        (struct view_link){from->trace, from->call, from->object, to->trace, to->call, to->object, !to->shared};
}

void view_links_find(const struct timeline *traces, size_t count, struct view_links *links)
{
    struct ends exports = {0}, imports = {0};
    *links = (struct view_links){0};
    collect(traces, count, &exports, &imports);
    for (size_t i = 0; i < imports.count; i++) {
        const struct end *import = &imports.end[i];
        struct end *from = import->shared ? surely(&exports, import) : perhaps(&exports, import);
        if (!from)
            links->unmatched++;
        else if (from->trace != import->trace)
            link_ends(links, from, import);
    }
    free(exports.end);
    free(imports.end);
}

void view_links_free(struct view_links *links)
{
    free(links->link);
    *links = (struct view_links){0};
}
