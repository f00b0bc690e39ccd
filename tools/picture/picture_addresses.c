/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations as bars, with a row of rights for every location that matters. See picture.h. */
#include <inttypes.h>
#include <string.h>

#include "picture.h"
#include "text.h"

#define SEGMENTS 10  /* more than that are described in words */
#define MARGIN 18    /* columns before a bar */

/* Columns of a bar without its borders, of which there are at most SEGMENTS + 1. A script indents by four more. */
static size_t bar_width(void)
{
    return text_columns() - 4 - MARGIN - SEGMENTS - 2;
}

/* A piece of a reservation: one mapping, or a hole between mappings. */
struct segment {
    const vmm_object *mapping; /* NULL: reserved only */
    uint64_t start, size;
    size_t width;
    char label[PICTURE_LABEL];
};

struct bar {
    struct segment segment[SEGMENTS + 1];
    size_t count, left_out; /* mappings that found no place */
};

static void add_segment(struct bar *bar, const vmm_object *mapping, uint64_t start, uint64_t size)
{
    if (size && bar->count < SEGMENTS)
        bar->segment[bar->count++] = (struct segment){.mapping = mapping, .start = start, .size = size};
    else if (size && mapping)
        bar->left_out++;
}

/* Mappings come in order of address, so one pass finds them and the holes between. A mapping that runs past the
 * reservation's end is cut there and marked. */
static void cut(const struct picture *picture, const vmm_object *r, struct bar *bar)
{
    uint64_t at = r->start, end = r->start + r->size;
    for (size_t i = 0; i < picture->count; i++) {
        const vmm_object *m = &picture->object[i];
        uint64_t from = m->start > r->start ? m->start : r->start;
        if (m->kind != VMM_OBJECT_MAPPING || m->start >= end || m->start + m->size <= r->start)
            continue;
        uint64_t to = m->start + m->size < end ? m->start + m->size : end;
        add_segment(bar, NULL, at, from - at);
        add_segment(bar, m, from, to - from);
        at = to;
    }
    add_segment(bar, NULL, at, end - at);
}

static void label_segments(const struct picture *picture, const vmm_object *r, struct bar *bar)
{
    for (size_t i = 0; i < bar->count; i++) {
        struct segment *s = &bar->segment[i];
        char name[PICTURE_LABEL], offset[TEXT_SIZE_ROOM + 1];
        const vmm_object *handle = s->mapping ? picture_handle(picture, s->mapping) : NULL;
        if (!s->mapping)
            continue;
        bool past = s->mapping->start + s->mapping->size > r->start + r->size;
        if (handle)
            picture_short(picture, handle, name);
        else
            snprintf(name, sizeof name, "H%" PRIu32, s->mapping->handle_number);
        offset[0] = '+';
        text_size(s->mapping->offset, offset + 1);
        snprintf(s->label, sizeof s->label, " %sM%" PRIu32 ": %.20s%s%s ", s->mapping->start < r->start ? "<" : "",
                 s->mapping->number, name, s->mapping->offset ? offset : "", past ? ">" : "");
    }
}

static size_t least_width(const struct segment *s)
{
    return s->mapping ? strlen(s->label) : 4;
}

/* What does not fit beside each other is left out from the right. */
static void fit(struct bar *bar)
{
    size_t total = 0;
    for (size_t i = 0; i < bar->count; i++)
        total += least_width(&bar->segment[i]) + 1;
    while (total > bar_width() + SEGMENTS) {
        const struct segment *last = &bar->segment[--bar->count];
        total -= least_width(last) + 1;
        bar->left_out += last->mapping != NULL;
    }
}

/* Widths in proportion to sizes, yet never below what the label needs. */
static void measure(const vmm_object *r, struct bar *bar)
{
    for (size_t i = 0; i < bar->count; i++) {
        struct segment *s = &bar->segment[i];
        size_t share = (size_t)((double)s->size / (double)r->size * (double)bar_width());
        size_t least = least_width(s);
        s->width = share > least ? share : least;
    }
    for (;;) {
        size_t total = 0, loosest = 0;
        for (size_t i = 0; i < bar->count; i++) {
            const struct segment *s = &bar->segment[i], *l = &bar->segment[loosest];
            total += s->width;
            if (s->width - least_width(s) > l->width - least_width(l))
                loosest = i;
        }
        if (total <= bar_width() || bar->segment[loosest].width == least_width(&bar->segment[loosest]))
            return;
        bar->segment[loosest].width--;
    }
}

static void centred(FILE *out, const char *text, size_t width, char fill)
{
    size_t length = strlen(text);
    if (length > width)
        length = width;
    size_t left = (width - length) / 2, right = width - length - left;
    for (size_t i = 0; i < left; i++)
        fputc(fill, out);
    fprintf(out, "%.*s", (int)length, text);
    for (size_t i = 0; i < right; i++)
        fputc(fill, out);
}

static void print_memory_row(FILE *out, const struct bar *bar)
{
    fprintf(out, "    %-*s|", MARGIN - 4, "memory");
    for (size_t i = 0; i < bar->count; i++) {
        centred(out, bar->segment[i].label, bar->segment[i].width, bar->segment[i].mapping ? '=' : '.');
        fputc('|', out);
    }
    fputs("\n", out);
}

/* "+4MiB" under the border where it begins, as far as they do not run into each other. */
static void print_offsets(FILE *out, const vmm_object *r, const struct bar *bar)
{
    size_t column = MARGIN, at = 0;
    char size[TEXT_SIZE_ROOM], text[TEXT_SIZE_ROOM + 2];
    for (size_t i = 0; i <= bar->count; i++) {
        bool last = i == bar->count;
        uint64_t offset = last ? r->size : bar->segment[i].start - r->start;
        snprintf(text, sizeof text, "+%s", text_size(offset, size));
        if (last) /* ends under the border */
            column = column + 1 > strlen(text) ? column + 1 - strlen(text) : 0;
        if ((!last || !bar->left_out) && (at == 0 || column > at)) {
            fprintf(out, "%*s%s", (int)(column - at), "", text);
            at = column + strlen(text);
        }
        if (!last)
            column += bar->segment[i].width + 1;
    }
    fputs("\n", out);
}

static const char *rights(vmm_mem_access_flags flags)
{
    return flags == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE ? "rw" : flags == VMM_MEM_ACCESS_FLAGS_PROT_READ ? "r-" : "--";
}

static void print_rights_row(FILE *out, const struct picture *picture, const struct bar *bar, vmm_mem_location location,
                             const char *name)
{
    fprintf(out, "    %-*s|", MARGIN - 4, name);
    for (size_t i = 0; i < bar->count; i++) {
        const vmm_object *m = bar->segment[i].mapping;
        const char *what = m ? rights(vmm_object_access(m, location)) : "";
        bool coloured = picture->colour && m;
        fputs(coloured ? what[1] == 'w' ? "\033[32m" : what[0] == 'r' ? "\033[33m" : "\033[31m" : "", out);
        centred(out, what, bar->segment[i].width, ' ');
        fputs(coloured ? "\033[0m|" : "|", out);
    }
    fputs("\n", out);
}

static bool any_access(const struct bar *bar, vmm_mem_location location)
{
    for (size_t i = 0; i < bar->count; i++)
        if (bar->segment[i].mapping && vmm_object_access(bar->segment[i].mapping, location))
            return true;
    return false;
}

static bool host_memory(const struct bar *bar)
{
    for (size_t i = 0; i < bar->count; i++)
        if (bar->segment[i].mapping && bar->segment[i].mapping->location.type != VMM_MEM_LOCATION_TYPE_DEVICE &&
            bar->segment[i].mapping->location.type != VMM_MEM_LOCATION_TYPE_INVALID) /* of a multicast object */
            return true;
    return false;
}

/* Few devices are all shown, of many those with rights. */
static void print_rights(FILE *out, const struct picture *picture, const struct bar *bar)
{
    const vmm_mem_location host = {VMM_MEM_LOCATION_TYPE_HOST, 0};
    size_t devices = 0;
    for (size_t i = 0; i < picture->count; i++)
        devices += picture->object[i].kind == VMM_OBJECT_DEVICE;
    for (size_t i = 0; i < picture->count; i++) {
        const vmm_object *o = &picture->object[i];
        if (o->kind != VMM_OBJECT_DEVICE)
            continue;
        vmm_mem_location location = {VMM_MEM_LOCATION_TYPE_DEVICE, (int)o->value};
        char name[24];
        snprintf(name, sizeof name, "dev%d", location.id);
        if (devices <= 4 || any_access(bar, location))
            print_rights_row(out, picture, bar, location, name);
    }
    if (host_memory(bar) || any_access(bar, host))
        print_rights_row(out, picture, bar, host, "host");
}

static void print_remarks(FILE *out, const vmm_object *r, const struct bar *bar)
{
    char size[TEXT_SIZE_ROOM];
    if (bar->left_out)
        fprintf(out, "    and %zu more mapping%s to the right\n", bar->left_out, bar->left_out == 1 ? "" : "s");
    for (size_t i = 0; i < bar->count; i++) {
        const vmm_object *m = bar->segment[i].mapping;
        if (m && m->start + m->size > r->start + r->size)
            fprintf(out, "    M%" PRIu32 "> runs %s past the end of this reservation\n", m->number,
                    text_size(m->start + m->size - r->start - r->size, size));
    }
}

static void print_reservation(FILE *out, const struct picture *picture, const vmm_object *r)
{
    struct bar bar = {.count = 0};
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM];
    bool mapped = false;
    cut(picture, r, &bar);
    label_segments(picture, r, &bar);
    fit(&bar);
    measure(r, &bar);
    for (size_t i = 0; i < bar.count; i++)
        mapped |= bar.segment[i].mapping != NULL;
    fprintf(out, "  %s, %s reserved", picture->label(picture->user, r, name, sizeof name), text_size(r->size, size));
    if (picture->addresses)
        fprintf(out, ", 0x%" PRIx64 " to 0x%" PRIx64, r->start, r->start + r->size);
    fputs("\n", out);
    print_memory_row(out, &bar);
    if (mapped)
        print_rights(out, picture, &bar);
    print_offsets(out, r, &bar);
    print_remarks(out, r, &bar);
}

void picture_addresses(FILE *out, const struct picture *picture)
{
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM], where[24];
    bool any = false;
    text_wrap(out, "addresses   ('=' mapped, '.' reserved only; rw, r-, -- is what a device may do there)\n", 0, 12,
              text_columns() - 4);
    for (size_t i = 0; i < picture->count; i++) {
        const vmm_object *o = &picture->object[i];
        if (o->kind == VMM_OBJECT_RESERVATION)
            print_reservation(out, picture, o);
        if (o->kind == VMM_OBJECT_ALLOCATION) {
            snprintf(where, sizeof where, "dev%d", o->location.id);
            fprintf(out, "  %s, %s of ordinary memory on %s\n", picture->label(picture->user, o, name, sizeof name),
                    text_size(o->size, size), where);
        }
        any |= o->kind == VMM_OBJECT_RESERVATION || o->kind == VMM_OBJECT_ALLOCATION;
    }
    if (!any)
        fputs("  none\n", out);
}
