/* SPDX-License-Identifier: Apache-2.0 */
#include "picture_svg.h"

#include <stdlib.h>
#include <string.h>

#include "svg_draw.h"
#include "text.h"

/* ---- what is drawn ---- */

static int by_kind(const void *a, const void *b)
{
    const vmm_object *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* A copy that svg_before can search. */
static void sort_before(struct picture *sorted, const struct picture *before)
{
    *sorted = *before;
    sorted->object = text_grow(NULL, (before->count + 1) * sizeof *sorted->object);
    if (before->count) /* of no objects there is no array */
        memcpy(sorted->object, before->object, before->count * sizeof *sorted->object);
    qsort(sorted->object, sorted->count, sizeof *sorted->object, by_kind);
}

/* Of very many only some. */
static void find_ghosts(struct svg *svg)
{
    enum { MOST = 200 };
    const struct picture *before = svg->how->before;
    struct picture now;
    if (!before)
        return;
    sort_before(&now, svg->picture);
    const struct picture_svg against = {.before = &now};
    const struct svg search = {.how = &against};
    svg->ghost = text_grow(NULL, (before->count + 1) * sizeof *svg->ghost);
    for (size_t i = 0; i < before->count && svg->ghosts < MOST; i++) {
        const vmm_object *o = &before->object[i];
        if ((o->kind == VMM_OBJECT_RESERVATION || o->kind == VMM_OBJECT_MAPPING || o->kind == VMM_OBJECT_ALLOCATION) &&
            !svg_before(&search, o))
            svg->ghost[svg->ghosts++] = o;
    }
    free(now.object);
}

static bool any_access(const struct picture *picture, vmm_mem_location location)
{
    for (size_t i = 0; i < picture->count; i++)
        if (picture->object[i].kind == VMM_OBJECT_MAPPING && vmm_object_access(&picture->object[i], location))
            return true;
    return false;
}

/* Few devices are all shown, of many those with rights; the host where it has rights, or memory of it is mapped. */
static void find_places(struct svg *svg)
{
    const struct picture *picture = svg->picture;
    vmm_mem_location host = {VMM_MEM_LOCATION_TYPE_HOST, 0};
    size_t devices = 0, mappings = 0;
    bool on_host = false;
    for (size_t i = 0; i < picture->count; i++) {
        devices += picture->object[i].kind == VMM_OBJECT_DEVICE;
        mappings += picture->object[i].kind == VMM_OBJECT_MAPPING;
        on_host |= picture->object[i].kind == VMM_OBJECT_MAPPING && svg_on_host(picture->object[i].location);
    }
    for (size_t i = 0; mappings && i < picture->count && svg->places + 1 < SVG_PLACES; i++) {
        vmm_mem_location location = {VMM_MEM_LOCATION_TYPE_DEVICE, (int)picture->object[i].value};
        if (picture->object[i].kind == VMM_OBJECT_DEVICE && (devices <= 4 || any_access(picture, location)))
            svg->place[svg->places++] = location;
    }
    if (mappings && (on_host || any_access(picture, host)))
        svg->place[svg->places++] = host;
}

/* ---- the whole ---- */

static void draw_descriptors(struct svg *svg)
{
    char size[TEXT_SIZE_ROOM];
    for (size_t i = 0; i < svg->picture->descriptors; i++) {
        const struct picture_descriptor *d = &svg->picture->descriptor[i];
        fprintf(svg->out, "<text class=\"note\" x=\"%d\" y=\"%.1f\">%s ", SVG_GUTTER, svg->height + 4, d->fabric ? "fabric handle" : "descriptor");
        svg_text(svg->out, d->name);
        if (d->of[0]) {
            fputs(", of ", svg->out);
            svg_text(svg->out, d->of);
        }
        if (d->size)
            fprintf(svg->out, ", %s", text_size(d->size, size));
        fputs("</text>\n", svg->out);
        svg->height += 16;
    }
    if (svg->narrow) {
        fprintf(svg->out, "<text class=\"note\" x=\"%d\" y=\"%.1f\">%zu mappings and pieces are drawn with others, x says how many; + widens the picture"
                          "</text>\n", SVG_GUTTER, svg->height + 4, svg->narrow);
        svg->height += 16;
    }
}

static void describe(struct svg *svg)
{
    size_t of[VMM_OBJECT_ARRAY + 1] = {0};
    for (size_t i = 0; i < svg->picture->count; i++)
        if (svg->picture->object[i].kind <= VMM_OBJECT_ARRAY)
            of[svg->picture->object[i].kind]++;
    fprintf(svg->out, "%zu reservations, %zu mappings, %zu handles, %zu allocations", of[VMM_OBJECT_RESERVATION], of[VMM_OBJECT_MAPPING],
            of[VMM_OBJECT_HANDLE], of[VMM_OBJECT_ALLOCATION]);
}

static void draw_all(struct svg *svg)
{
    svg->top = 4;
    svg_place_lands(svg);
    svg->memory = svg->top + (svg->bands ? (double)svg->bands * svg->band_height + SVG_LINKS - SVG_GAP : SVG_NAME);
    svg_place_blocks(svg);
    fprintf(svg->out, "<text class=\"note\" x=\"0\" y=\"%.1f\">memory</text>\n", svg->memory - 10);
    svg_draw_links(svg);
    svg_draw_addresses(svg);
    svg_draw_memory(svg);
    draw_descriptors(svg);
}

void picture_svg(FILE *out, const struct picture *picture, const struct picture_svg *how)
{
    struct picture before = {0};
    struct picture_svg sorted = *how;
    char *body = NULL;
    size_t size;
    if (how->before) {
        sort_before(&before, how->before);
        sorted.before = &before;
    }
    struct svg svg = {.out = open_memstream(&body, &size), .picture = picture, .how = &sorted};
    if (svg.out) {
        const unsigned width = how->width < PICTURE_SVG_LEAST ? PICTURE_SVG_LEAST : how->width;
        svg.room = (double)width - SVG_GUTTER - 2;
        find_ghosts(&svg);
        find_places(&svg);
        svg_find_lands(&svg);
        svg_find_blocks(&svg);
        draw_all(&svg);
        fclose(svg.out);
        svg.out = out;
        fprintf(out, "<svg role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%.0f\" viewBox=\"0 0 %u %.0f\" aria-label=\"",
                width, svg.height, width, svg.height);
        describe(&svg);
        fprintf(out, "\">\n<defs><pattern id=\"dots\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><circle class=\"dot\" cx=\"3\" "
                     "cy=\"3\" r=\".7\"/></pattern></defs>\n%s</svg>\n", body);
    }
    free(body);
    free(svg.land);
    free(svg.piece);
    free(svg.block);
    free(svg.by_number);
    free(svg.handle);
    free(svg.ghost);
    free(before.object);
}
