/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a trace at one call, as a graph in Graphviz's DOT language. See export.h.
 *
 *     [ R1: M1 | M2 ]   ->   [ H1 ]   ->   [ memory of device 0 ]
 *       address space        handles         memory
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"

struct dot {
    const struct timeline *timeline;
    uint32_t at;
    FILE *out;
    struct export_index index;
    uint32_t *alive; /* objects */
    size_t count;
    bool *placed;    /* of each object: a reservation has it */
};

static bool lives(const struct dot *d, uint32_t object)
{
    return object != TIMELINE_NONE && timeline_alive(&d->timeline->object[object], d->at);
}

static const struct timeline_object *object_of(const struct dot *d, uint32_t object)
{
    return &d->timeline->object[object];
}

/* What explains a refusal of the call is drawn in red. */
static bool explains(const struct dot *d, uint32_t object)
{
    const struct timeline_call *call = d->at < d->timeline->calls ? timeline_call(d->timeline, d->at) : NULL;
    return call && call->rule && call->nearest_object == object;
}

/* A node with its label: the object's name, size and a third line. */
static void node(struct dot *d, uint32_t object, const char *third, const char *options)
{
    const struct timeline_object *o = object_of(d, object);
    char name[TIMELINE_NAME], size[TEXT_SIZE_ROOM];
    timeline_name(o, name);
    fprintf(d->out, "    %s [label=\"%s%s%s%s%s\"%s%s]\n", name, name, o->size ? ", " : "",
            o->size ? text_size(o->size, size) : "", third[0] ? "\\n" : "", third, options,
            explains(d, object) ? " color=red" : "");
}

static void start_cluster(struct dot *d, const char *name, const char *label, const char *indent)
{
    fprintf(d->out, "%ssubgraph cluster_%s { label=\"%s\"\n", indent, name, label);
}

/* The address as a line of a label. */
static void add_address(const struct timeline_object *o, struct text *text)
{
    text_add(text, "0x%" PRIx64, o->start);
}

static void mapping(struct dot *d, uint32_t object)
{
    struct text text = {0};
    add_address(object_of(d, object), &text);
    text_add(&text, "\\n");
    export_rights(&d->index, d->timeline, object, d->at, &text);
    node(d, object, text.data, "");
    text_free(&text);
}

static bool starts_in(const struct timeline_object *mapping, const struct timeline_object *reservation)
{
    return mapping->start >= reservation->start && mapping->start - reservation->start < reservation->size;
}

static void reservation(struct dot *d, uint32_t object)
{
    const struct timeline_object *r = object_of(d, object);
    char name[TIMELINE_NAME], size[TEXT_SIZE_ROOM];
    struct text text = {0};
    text_add(&text, "%s, %s at ", timeline_name(r, name), text_size(r->size, size));
    add_address(r, &text);
    start_cluster(d, name, text.data, "    ");
    /* A cluster without a node is not drawn. */
    fprintf(d->out, "    %s [label=\"reserved\" style=dotted%s]\n", name, explains(d, object) ? " color=red" : "");
    for (size_t i = 0; i < d->count; i++)
        if (object_of(d, d->alive[i])->kind == TIMELINE_MAPPING && starts_in(object_of(d, d->alive[i]), r)) {
            mapping(d, d->alive[i]);
            d->placed[d->alive[i]] = true;
        }
    fputs("    }\n", d->out);
    text_free(&text);
}

/* Reservations with what begins in them; then mappings of reservations that ended or are not in the trace, and cuMemAlloc's. */
static void addresses(struct dot *d)
{
    struct text text = {0};
    start_cluster(d, "addresses", "address space", "  ");
    for (size_t i = 0; i < d->count; i++)
        if (object_of(d, d->alive[i])->kind == TIMELINE_RESERVATION)
            reservation(d, d->alive[i]);
    for (size_t i = 0; i < d->count; i++) {
        const struct timeline_object *o = object_of(d, d->alive[i]);
        if (o->kind == TIMELINE_MAPPING && !d->placed[d->alive[i]])
            mapping(d, d->alive[i]);
        if (o->kind != TIMELINE_ALLOCATION)
            continue;
        text_add(&text, "cuMemAlloc at ");
        add_address(o, &text);
        node(d, d->alive[i], text.data, "");
        text_free(&text);
    }
    fputs("  }\n", d->out);
}

static uint32_t references(const struct dot *d, uint32_t object)
{
    for (uint32_t i = d->index.last_change[object]; i != TIMELINE_NONE; i = d->index.change_before[i])
        if (d->timeline->change[i].call <= d->at && d->timeline->change[i].kind == TIMELINE_REFERENCES)
            return d->timeline->change[i].value;
    return 1;
}

static void handles(struct dot *d)
{
    char third[64];
    start_cluster(d, "handles", "handles", "  ");
    for (size_t i = 0; i < d->count; i++) {
        const struct timeline_object *o = object_of(d, d->alive[i]);
        if (o->kind == TIMELINE_HANDLE || o->kind == TIMELINE_MULTICAST) {
            uint32_t n = references(d, d->alive[i]);
            snprintf(third, sizeof third, "%s%" PRIu32 " reference%s", o->kind == TIMELINE_MULTICAST ? "multicast, " : "", n,
                     n == 1 ? "" : "s");
            node(d, d->alive[i], third, n ? "" : " style=dashed");
        } else if (o->kind == TIMELINE_BIND) {
            node(d, d->alive[i], "bound", " shape=ellipse");
        } else if (o->kind == TIMELINE_DESCRIPTOR) {
            node(d, d->alive[i], "exported", " shape=ellipse");
        }
    }
    fputs("  }\n", d->out);
}

/* A node for each device, and one for the host. */
static int place_of(const struct dot *d, uint32_t object)
{
    int device = export_device(d->timeline, object_of(d, object));
    return device >= 0 && device < VMM_MAX_DEVICES ? device : VMM_MAX_DEVICES;
}

static bool is_memory(const struct timeline_object *o)
{
    return o->kind == TIMELINE_HANDLE || o->kind == TIMELINE_ALLOCATION;
}

/* Handles of one memory count once. */
static void memory(struct dot *d)
{
    uint64_t bytes[VMM_MAX_DEVICES + 1] = {0};
    bool used[VMM_MAX_DEVICES + 1] = {false}, *counted = text_grow(NULL, d->timeline->objects + 1);
    char size[TEXT_SIZE_ROOM];
    memset(counted, 0, d->timeline->objects + 1);
    for (size_t i = 0; i < d->count; i++) {
        const struct timeline_object *o = object_of(d, d->alive[i]);
        if (!is_memory(o))
            continue;
        bool again = o->kind == TIMELINE_HANDLE && o->memory != TIMELINE_NONE && counted[o->memory];
        if (o->kind == TIMELINE_HANDLE && o->memory != TIMELINE_NONE)
            counted[o->memory] = true;
        used[place_of(d, d->alive[i])] = true;
        bytes[place_of(d, d->alive[i])] += again ? 0 : o->size;
    }
    free(counted);
    start_cluster(d, "memory", "memory", "  ");
    for (int i = 0; i <= VMM_MAX_DEVICES; i++) {
        if (!used[i])
            continue;
        fprintf(d->out, "    place%d [shape=cylinder label=\"", i);
        if (i == VMM_MAX_DEVICES)
            fputs("host, or not known", d->out);
        else
            fprintf(d->out, "device %d", i);
        fprintf(d->out, "\\n%s in use\"]\n", text_size(bytes[i], size));
    }
    fputs("  }\n", d->out);
}

static void edge(struct dot *d, uint32_t from, uint32_t to, const char *options)
{
    char a[TIMELINE_NAME], b[TIMELINE_NAME];
    if (lives(d, to))
        fprintf(d->out, "  %s -> %s%s\n", timeline_name(object_of(d, from), a), timeline_name(object_of(d, to), b), options);
}

static void edges(struct dot *d)
{
    char name[TIMELINE_NAME];
    for (size_t i = 0; i < d->count; i++) {
        const struct timeline_object *o = object_of(d, d->alive[i]);
        if (o->kind == TIMELINE_MAPPING || o->kind == TIMELINE_BIND || o->kind == TIMELINE_DESCRIPTOR)
            edge(d, d->alive[i], o->handle, o->kind == TIMELINE_DESCRIPTOR ? " [style=dashed]" : "");
        if (o->kind == TIMELINE_BIND)
            edge(d, d->alive[i], o->memory, "");
        if (is_memory(o))
            fprintf(d->out, "  %s -> place%d\n", timeline_name(o, name), place_of(d, d->alive[i]));
    }
}

/* In quotes, where a backslash and a quote mean something; what no label can show is not put into one. */
static void print_label(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        text_print_safe(out, text, 1, 1);
    }
    fputc('"', out);
}

static void print_title(struct dot *d)
{
    struct text title = {0};
    const struct timeline_call *call = d->at < d->timeline->calls ? timeline_call(d->timeline, d->at) : NULL;
    if (!call)
        text_add(&title, "a trace without calls");
    else
        text_add(&title, "after call %" PRIu64 ", %s -> %s", call->ordinal, timeline_words(d->timeline, d->at), vmm_result_name(call->result));
    if (call && call->rule)
        text_add(&title, ", %s", call->rule);
    print_label(d->out, title.data);
    text_free(&title);
}

void export_dot(const struct timeline *timeline, uint32_t at, FILE *out)
{
    struct dot d = {.timeline = timeline, .at = at, .out = out};
    d.alive = text_grow(NULL, (timeline->objects + 1) * sizeof *d.alive);
    d.placed = text_grow(NULL, timeline->objects + 1);
    memset(d.placed, 0, timeline->objects + 1);
    export_index_of(&d.index, timeline);
    for (uint32_t i = 0; i < timeline->objects; i++)
        if (lives(&d, i))
            d.alive[d.count++] = i;
    fputs("digraph cuvmm {\n  rankdir=LR\n  node [shape=box fontname=\"sans-serif\"]\n  fontname=\"sans-serif\"\n  label=", out);
    print_title(&d);
    fputs("\n", out);
    addresses(&d);
    handles(&d);
    memory(&d);
    edges(&d);
    fputs("}\n", out);
    export_index_free(&d.index);
    free(d.alive);
    free(d.placed);
}
