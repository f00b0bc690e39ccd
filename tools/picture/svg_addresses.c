/* SPDX-License-Identifier: Apache-2.0 */
/* The upper half of the drawing: what lies at addresses, and the rights. Where an address is drawn: svg_lands.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "svg_draw.h"
#include "text.h"

/* ---- ranges ---- */

struct span {
    const struct svg_land *land;
    double x, w, y;
};

static struct span span_of(const struct svg *svg, const vmm_object *o)
{
    const struct svg_land *land = svg_land_at(svg, o->start);
    const double x = svg_x(land, o->start);
    return (struct span){land, x, svg_x(land, o->start + o->size) - x, svg_band_top(svg, land) + SVG_NAME};
}

static void draw_reservation(struct svg *svg, const vmm_object *o)
{
    const struct span at = span_of(svg, o);
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM], label[PICTURE_LABEL + TEXT_SIZE_ROOM];
    svg_box(svg, &(struct svg_box){.x = at.x, .y = at.y, .w = at.w, .h = SVG_BAR, .class_name = "reservation", .mark = svg_mark(svg, o),
                                   .object = o});
    fprintf(svg->out, "<rect class=\"empty\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"url(#dots)\"/>\n", at.x + 2, at.y + 2,
            at.w > 4 ? at.w - 4 : 0, SVG_BAR - 4);
    svg->picture->label(svg->picture->user, o, name, sizeof name);
    snprintf(label, sizeof label, "%s %s", name, text_size(o->size, size));
    const char *shown = svg_fits(label, at.w) ? label : picture_short(svg->picture, o, name);
    if (!svg_fits(shown, at.w))
        return;
    fprintf(svg->out, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">", at.x + 1, at.y - 5);
    svg_text(svg->out, shown);
    fputs("</text>\n", svg->out);
}

static const char *rights_of(const vmm_object *mapping, vmm_mem_location place)
{
    const vmm_mem_access_flags flags = vmm_object_access(mapping, place);
    return flags == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE ? "rw" : flags == VMM_MEM_ACCESS_FLAGS_PROT_READ ? "r-" : "--";
}

static void draw_rights(struct svg *svg, const vmm_object *mapping, const struct span *at)
{
    static const char *const classes[] = {"right rw", "right r", "right none"};
    const vmm_object *before = svg_before(svg, mapping);
    for (size_t i = 0; i < svg->places; i++) {
        const char *what = rights_of(mapping, svg->place[i]);
        const bool changed = before && strcmp(what, rights_of(before, svg->place[i])) != 0;
        svg_box(svg, &(struct svg_box){.x = at->x + 1, .y = at->y + SVG_BAR + 2 + (double)i * SVG_RIGHT, .w = at->w > 3 ? at->w - 2 : at->w,
                                       .h = SVG_RIGHT - 3, .class_name = classes[what[1] == 'w' ? 0 : what[0] == 'r' ? 1 : 2],
                                       .mark = changed ? " fresh" : "", .label = what});
    }
}

static void draw_mapping(struct svg *svg, const vmm_object *o, const struct span *at)
{
    const vmm_object *handle = o->handle_number < svg->numbers ? svg->handle[o->handle_number] : NULL;
    char label[24], name[PICTURE_LABEL], class_name[32];
    snprintf(label, sizeof label, "== M%" PRIu32 " ==", o->number); /* as in the picture of letters, of which lessons speak */
    if (!svg_fits(label, at->w))
        snprintf(label, sizeof label, "M%" PRIu32, o->number);
    snprintf(class_name, sizeof class_name, "mapping %s", svg_colour(o->location));
    svg_box(svg, &(struct svg_box){.x = at->x, .y = at->y + 3, .w = at->w, .h = SVG_BAR - 6, .class_name = class_name,
                                   .mark = svg_mark(svg, o), .label = label,
                                   .sub = handle ? picture_short(svg->picture, handle, name) : "", .object = o});
    draw_rights(svg, o, at);
}

/* ---- what is too narrow to be drawn alone ---- */

struct cell {
    double x, right, y;
    size_t count, column, band;
    size_t with[SVG_PLACES][2]; /* mappings that a place may write, only read */
    const char *colour;
    bool fresh;
};

static void draw_share(struct svg *svg, const struct cell *cell, size_t place, size_t count, double from, const char *class_name)
{
    const double full = SVG_RIGHT - 3, h = full * (double)count / (double)cell->count;
    if (count)
        svg_box(svg, &(struct svg_box){.x = cell->x, .y = cell->y + SVG_BAR + 2 + (double)place * SVG_RIGHT + full - from - h,
                                       .w = cell->right - cell->x, .h = h, .class_name = class_name, .mark = ""});
}

static void draw_cell(struct svg *svg, const struct cell *cell)
{
    char label[24], title[64], class_name[32];
    if (!cell->count)
        return;
    snprintf(label, sizeof label, "x%zu", cell->count);
    snprintf(title, sizeof title, "%zu mappings; + widens the picture", cell->count);
    snprintf(class_name, sizeof class_name, "mapping many %s", cell->colour);
    svg_box(svg, &(struct svg_box){.x = cell->x, .y = cell->y + 3, .w = cell->right - cell->x, .h = SVG_BAR - 6, .class_name = class_name,
                                   .mark = cell->fresh ? " fresh" : "", .label = label, .title = title});
    for (size_t i = 0; i < svg->places; i++) {
        draw_share(svg, cell, i, cell->with[i][0], 0, "right rw");
        draw_share(svg, cell, i, cell->with[i][1], (SVG_RIGHT - 3) * (double)cell->with[i][0] / (double)cell->count, "right r");
    }
}

/* Mappings come in order of address, so a cell is whole when the next one begins. */
static void add_to_cell(struct svg *svg, struct cell *cell, const vmm_object *o, const struct span *at)
{
    const size_t column = (size_t)((at->x - SVG_GUTTER) / SVG_CELL);
    if (!cell->count || cell->column != column || cell->band != at->land->band || at->x > cell->right + 2) {
        draw_cell(svg, cell);
        *cell = (struct cell){.x = at->x, .y = at->y, .column = column, .band = at->land->band, .colour = svg_colour(o->location)};
    }
    cell->right = at->x + at->w > cell->right ? at->x + at->w : cell->right;
    cell->count++;
    cell->fresh |= svg_mark(svg, o)[0] != 0;
    for (size_t i = 0; i < svg->places; i++) {
        const char *what = rights_of(o, svg->place[i]);
        cell->with[i][0] += what[1] == 'w';
        cell->with[i][1] += what[0] == 'r' && what[1] != 'w';
    }
    svg->narrow++;
}

static void draw_mappings(struct svg *svg)
{
    struct cell cell = {0};
    for (size_t i = 0; i < svg->picture->count; i++) {
        const vmm_object *o = &svg->picture->object[i];
        if (o->kind != VMM_OBJECT_MAPPING)
            continue;
        const struct span at = span_of(svg, o);
        if (at.w < SVG_NARROW)
            add_to_cell(svg, &cell, o, &at);
        else
            draw_mapping(svg, o, &at);
    }
    draw_cell(svg, &cell);
}

/* ---- the rest ---- */

static void draw_allocation(struct svg *svg, const vmm_object *o)
{
    const struct span at = span_of(svg, o);
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM], class_name[32];
    snprintf(class_name, sizeof class_name, "allocation %s", svg_colour(o->location));
    svg_box(svg, &(struct svg_box){.x = at.x, .y = at.y, .w = at.w, .h = SVG_BAR, .class_name = class_name, .mark = svg_mark(svg, o),
                                   .label = picture_short(svg->picture, o, name), .sub = text_size(o->size, size), .object = o});
}

static void draw_ghost(struct svg *svg, const vmm_object *o)
{
    static const char letters[] = "?DRMHACSEBPY";
    const struct span at = span_of(svg, o);
    char label[16];
    snprintf(label, sizeof label, "%c%" PRIu32, letters[o->kind], o->number);
    svg_box(svg, &(struct svg_box){.x = at.x, .y = at.y + (o->kind == VMM_OBJECT_MAPPING ? 3 : 0), .w = at.w,
                                   .h = SVG_BAR - (o->kind == VMM_OBJECT_MAPPING ? 6 : 0), .class_name = "ghost", .mark = "",
                                   .label = label, .sub = "gone"});
}

static void draw_gutter(struct svg *svg)
{
    char name[24];
    for (size_t band = 0; band < svg->bands; band++)
        for (size_t i = 0; i < svg->places; i++) {
            const vmm_mem_location place = svg->place[i];
            if (place.type == VMM_MEM_LOCATION_TYPE_DEVICE)
                snprintf(name, sizeof name, "dev%d", place.id);
            else
                strcpy(name, "host");
            fprintf(svg->out, "<text class=\"gutter\" x=\"0\" y=\"%.1f\">%s</text>",
                    svg->top + (double)band * svg->band_height + SVG_NAME + SVG_BAR + ((double)i + .5) * SVG_RIGHT + .5, name);
        }
    fputs("\n", svg->out);
}

/* Three dots between stretches of one band. */
static void draw_gaps(struct svg *svg)
{
    for (size_t i = 1; i < svg->lands; i++) {
        const struct svg_land *a = &svg->land[i - 1], *b = &svg->land[i];
        if (a->band == b->band && b->x - a->x - a->w >= 6)
            fprintf(svg->out, "<text class=\"gap\" x=\"%.1f\" y=\"%.1f\">&#8943;</text>", (a->x + a->w + b->x) / 2,
                    svg_band_top(svg, b) + SVG_NAME + SVG_BAR / 2.0);
    }
    fputs("\n", svg->out);
}

/* As where a pipe is cut, and how long the part is. */
static void draw_fold(struct svg *svg, const struct svg_land *land, const struct svg_piece *piece)
{
    char size[TEXT_SIZE_ROOM], label[TEXT_SIZE_ROOM + 8];
    const double x = piece->x + piece->w / 2, y = svg_band_top(svg, land) + SVG_NAME;
    if (piece->w < 12)
        return;
    snprintf(label, sizeof label, "%s empty", text_size(piece->end - piece->start, size));
    const bool fits = svg_fits(label, piece->w);
    fprintf(svg->out, "<path class=\"fold\" d=\"M%.1f %.1fl-6 %dM%.1f %.1fl-6 %d\"><title>%s, shortened</title></path>", x, y + 3,
            fits ? 12 : SVG_BAR - 6, x + 6, y + 3, fits ? 12 : SVG_BAR - 6, label);
    if (fits)
        fprintf(svg->out, "<text class=\"note fold\" x=\"%.1f\" y=\"%.1f\">%s</text>", x, y + SVG_BAR / 2.0 + 7, label);
    fputs("\n", svg->out);
}

static void draw_folds(struct svg *svg)
{
    for (size_t i = 0; i < svg->lands; i++)
        for (size_t p = 0; p < svg->land[i].pieces; p++)
            if (svg->land[i].piece[p].folded)
                draw_fold(svg, &svg->land[i], &svg->land[i].piece[p]);
}

void svg_draw_addresses(struct svg *svg)
{
    if (svg->bands && svg->places)
        draw_gutter(svg);
    draw_gaps(svg);
    for (size_t i = 0; i < svg->picture->count; i++)
        if (svg->picture->object[i].kind == VMM_OBJECT_RESERVATION)
            draw_reservation(svg, &svg->picture->object[i]);
        else if (svg->picture->object[i].kind == VMM_OBJECT_ALLOCATION)
            draw_allocation(svg, &svg->picture->object[i]);
    draw_folds(svg);
    draw_mappings(svg);
    for (size_t i = 0; i < svg->ghosts; i++)
        draw_ghost(svg, svg->ghost[i]);
}
