/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory of each device and of the host, and the handles that name it. See picture.h. */
#include <inttypes.h>
#include <string.h>

#include "picture.h"
#include "text.h"
#include "values.h"


/* Pieces of one place's memory, folded over lines when they are many. */
struct row {
    FILE *out;
    size_t at;
};

static void put_piece(struct row *row, const char *text)
{
    size_t length = strlen(text);
    if (row->at + length > text_columns() - 4) {
        fprintf(row->out, "\n%18s", "");
        row->at = 18;
    }
    fputs(text, row->out);
    row->at += length;
}

static bool on_host(vmm_mem_location location)
{
    return location.type != VMM_MEM_LOCATION_TYPE_DEVICE && location.type != VMM_MEM_LOCATION_TYPE_INVALID;
}

static bool same_place(vmm_mem_location a, vmm_mem_location b)
{
    return on_host(a) ? on_host(b) : b.type == a.type && b.id == a.id;
}

/* Several handles may name one piece of memory; it is counted once. */
static bool first_of_block(const struct picture *picture, const vmm_object *handle)
{
    for (const vmm_object *o = picture->object; o < handle; o++)
        if (o->kind == VMM_OBJECT_HANDLE && o->block == handle->block && o->block)
            return false;
    return true;
}

/* Returns the bytes that were shown. */
static uint64_t put_pieces(struct row *row, const struct picture *picture, vmm_mem_location place)
{
    uint64_t shown = 0;
    for (size_t i = 0; i < picture->count; i++) {
        const vmm_object *o = &picture->object[i];
        char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM], text[PICTURE_LABEL + TEXT_SIZE_ROOM + 16];
        if ((o->kind != VMM_OBJECT_HANDLE && o->kind != VMM_OBJECT_ALLOCATION) || !same_place(place, o->location) ||
            (o->kind == VMM_OBJECT_HANDLE && !first_of_block(picture, o)))
            continue;
        snprintf(text, sizeof text, "[# %s %s #]", picture_short(picture, o, name), text_size(o->size, size));
        put_piece(row, text);
        shown += o->size;
    }
    return shown;
}

static void print_device(FILE *out, const struct picture *picture, const vmm_object *device)
{
    char name[24], size[TEXT_SIZE_ROOM], total[TEXT_SIZE_ROOM], text[128];
    struct row row = {out, 18};
    vmm_mem_location place = {VMM_MEM_LOCATION_TYPE_DEVICE, (int)device->value};
    snprintf(name, sizeof name, "dev%" PRIu64, device->value);
    fprintf(out, "  %-16s", name);
    uint64_t shown = put_pieces(&row, picture, place), used = device->start - device->size;
    if (used > shown) {
        snprintf(text, sizeof text, "[# other %s #]", text_size_short(used - shown, size));
        put_piece(&row, text);
    }
    text_size_short(device->size, size);
    text_size_short(device->start, total);
    if (device->size != device->start && strcmp(size, total) == 0) { /* the difference is what the reader looks for */
        text_size(device->size, size);
        text_size(device->start, total);
    }
    snprintf(text, sizeof text, "[.... %s free of %s ....]", size, total);
    put_piece(&row, text);
    fputs("\n", out);
}

void picture_memory(FILE *out, const struct picture *picture)
{
    bool host = false;
    fputs("physical memory   ('#' in use, '.' free)\n", out);
    for (size_t i = 0; i < picture->count; i++) {
        const vmm_object *o = &picture->object[i];
        if (o->kind == VMM_OBJECT_DEVICE)
            print_device(out, picture, o);
        host |= o->kind == VMM_OBJECT_HANDLE && on_host(o->location);
    }
    if (host) {
        struct row row = {out, 18};
        fprintf(out, "  %-16s", "host");
        put_pieces(&row, picture, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0});
        fputs("\n", out);
    }
}

/* "M1 at r0+4MiB". */
static void add_place(struct text *text, const struct picture *picture, const vmm_object *mapping)
{
    const vmm_object *r = picture_reservation(picture, mapping->start);
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM];
    text_add(text, "M%" PRIu32 " at ", mapping->number);
    if (!r) {
        text_add(text, "0x%" PRIx64, mapping->start);
        return;
    }
    text_add(text, "%s", picture_short(picture, r, name));
    if (mapping->start != r->start)
        text_add(text, "+%s", text_size(mapping->start - r->start, size));
}

/* "B1 dev0 [0, 2MiB) of h0+2MiB": what a device put behind which part of a multicast object. */
static void add_bind(struct text *text, const struct picture *picture, const vmm_object *bind)
{
    char from[TEXT_SIZE_ROOM], to[TEXT_SIZE_ROOM], name[PICTURE_LABEL], at[TEXT_SIZE_ROOM];
    const vmm_object *memory = NULL;
    for (size_t i = 0; i < picture->count && !memory; i++)
        if (picture->object[i].kind == VMM_OBJECT_HANDLE && picture->object[i].block == bind->block)
            memory = &picture->object[i];
    text_add(text, "B%" PRIu32 " dev%d [%s, %s) ", bind->number, bind->location.id, text_size(bind->start, from),
             text_size(bind->start + bind->size, to));
    text_add(text, "of %s", memory ? picture_short(picture, memory, name) : "memory without a handle");
    if (bind->offset)
        text_add(text, "+%s", text_size(bind->offset, at));
}

/* "2MiB multicast for 2 devices (dev0, dev1)", and in the end what is bound. */
static void add_team(struct text *text, const vmm_object *h)
{
    char size[TEXT_SIZE_ROOM];
    const char *between = "";
    text_add(text, "%s multicast for %" PRIu32 " devices (", text_size(h->size, size), h->team);
    for (int device = 0; device < VMM_MAX_DEVICES; device++)
        if (h->devices >> device & 1) {
            text_add(text, "%sdev%d", between, device);
            between = ", ";
        }
    text_add(text, "%s)", h->devices ? "" : "none yet");
}

static void add_binds(struct text *text, const struct picture *picture, const vmm_object *h)
{
    const char *lead = "; bound: ";
    for (size_t i = 0; i < picture->count; i++)
        if (picture->object[i].kind == VMM_OBJECT_BIND && picture->object[i].handle == h->value) {
            text_add(text, "%s", lead);
            add_bind(text, picture, &picture->object[i]);
            lead = ", ";
        }
}

static void print_handle(FILE *out, const struct picture *picture, const vmm_object *h)
{
    enum { SHOWN = 4 };
    struct text text = {0};
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM], where[VALUE_ROOM];
    size_t shown = 0;
    if (h->team)
        add_team(&text, h);
    else
        text_add(&text, "%s on %s", text_size(h->size, size), value_location_text(h->location, where));
    text_add(&text, ", references %" PRIu32 "%s, mappings %" PRIu32, h->references,
             h->references == 0 ? " (only its mappings keep it)" : "", h->mappings);
    if (picture->addresses)
        text_add(&text, ", handle 0x%" PRIx64, h->value);
    for (size_t i = 0; i < picture->count && shown <= SHOWN; i++) {
        const vmm_object *m = &picture->object[i];
        if (m->kind != VMM_OBJECT_MAPPING || m->handle != h->value)
            continue;
        text_add(&text, shown ? ", " : ": ");
        if (shown++ == SHOWN)
            text_add(&text, "...");
        else
            add_place(&text, picture, m);
    }
    add_binds(&text, picture, h);
    fprintf(out, "  %-16s", picture->label(picture->user, h, name, sizeof name));
    text_wrap(out, text.data, 18, 18, text_columns() - 4);
    fputs("\n", out);
    text_free(&text);
}

void picture_handles(FILE *out, const struct picture *picture)
{
    bool any = false;
    fputs("handles\n", out);
    for (size_t i = 0; i < picture->count; i++)
        if (picture->object[i].kind == VMM_OBJECT_HANDLE) {
            print_handle(out, picture, &picture->object[i]);
            any = true;
        }
    if (!any)
        fputs("  none\n", out);
}

void picture_descriptors(FILE *out, const struct picture *picture)
{
    char size[TEXT_SIZE_ROOM];
    if (picture->descriptors)
        fputs("descriptors\n", out);
    for (size_t i = 0; i < picture->descriptors; i++) {
        const struct picture_descriptor *d = &picture->descriptor[i];
        fprintf(out, "  %-16s%s", d->name, d->fabric ? "fabric handle" : "open");
        if (d->of[0])
            fprintf(out, ", of %s", d->of);
        if (d->size)
            fprintf(out, ", %s", text_size(d->size, size));
        if (picture->addresses && !d->fabric)
            fprintf(out, ", number %" PRIu64, d->value);
        fputs("\n", out);
    }
}
