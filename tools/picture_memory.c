/* Physical memory of each device and of the host, and the handles that name it. See picture.h. */
#include <inttypes.h>
#include <string.h>

#include "picture.h"
#include "text.h"
#include "values.h"

#define COLUMNS 96 /* and four of indentation in a script */

/* Pieces of one place's memory, folded over lines when they are many. */
struct row {
    FILE *out;
    size_t at;
};

static void put_piece(struct row *row, const char *text)
{
    size_t length = strlen(text);
    if (row->at + length > COLUMNS) {
        fprintf(row->out, "\n%18s", "");
        row->at = 18;
    }
    fputs(text, row->out);
    row->at += length;
}

static bool same_place(vmm_mem_location a, vmm_mem_location b)
{
    bool device = a.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    return device ? b.type == a.type && b.id == a.id : b.type != VMM_MEM_LOCATION_TYPE_DEVICE;
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
        host |= o->kind == VMM_OBJECT_HANDLE && o->location.type != VMM_MEM_LOCATION_TYPE_DEVICE;
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

static void print_handle(FILE *out, const struct picture *picture, const vmm_object *h)
{
    enum { SHOWN = 4 };
    struct text text = {0};
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM], where[VALUE_ROOM];
    size_t shown = 0;
    text_add(&text, "%s on %s, references %" PRIu32 "%s, mappings %" PRIu32, text_size(h->size, size),
             value_location_text(h->location, where), h->references,
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
    fprintf(out, "  %-16s", picture->label(picture->user, h, name, sizeof name));
    text_wrap(out, text.data, 18, 18, COLUMNS);
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
