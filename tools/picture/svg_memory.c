/* SPDX-License-Identifier: Apache-2.0 */
/* The lower half of the drawing: physical memory, a row for each place, and the lines that lead to it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "svg_draw.h"
#include "text.h"

enum { TEAM = -1, HOST = VMM_MAX_DEVICES, LINKS_MOST = 400 };

/* A row for each device, then one for the host; multicast objects stand first, between their mappings and their memory. */
static int row_of(vmm_mem_location location)
{
    return location.type == VMM_MEM_LOCATION_TYPE_INVALID ? TEAM : svg_on_host(location) ? HOST : location.id;
}

static void note_numbers(struct svg *svg)
{
    uint32_t most = 0;
    for (size_t i = 0; i < svg->picture->count; i++)
        if (svg->picture->object[i].kind == VMM_OBJECT_HANDLE && svg->picture->object[i].number > most)
            most = svg->picture->object[i].number;
    svg->numbers = (size_t)most + 1;
    svg->handle = text_grow(NULL, svg->numbers * sizeof *svg->handle);
    svg->by_number = text_grow(NULL, svg->numbers * sizeof *svg->by_number);
    memset(svg->handle, 0, svg->numbers * sizeof *svg->handle);
    memset(svg->by_number, 0, svg->numbers * sizeof *svg->by_number);
    for (size_t i = 0; i < svg->picture->count; i++)
        if (svg->picture->object[i].kind == VMM_OBJECT_HANDLE)
            svg->handle[svg->picture->object[i].number] = &svg->picture->object[i];
}

static int by_row(const void *a, const void *b)
{
    const struct svg_block *x = a, *y = b;
    if (x->row != y->row)
        return (x->row > y->row) - (x->row < y->row);
    if (x->object->kind != y->object->kind)
        return x->object->kind == VMM_OBJECT_HANDLE ? -1 : 1;
    if (x->object->block != y->object->block)
        return (x->object->block > y->object->block) - (x->object->block < y->object->block);
    return (x->object->number > y->object->number) - (x->object->number < y->object->number);
}

/* Handles to one memory become one block. */
static void join(struct svg *svg)
{
    size_t kept = 0;
    for (size_t i = 0; i < svg->blocks; i++) {
        const vmm_object *o = svg->block[i].object, *last = kept ? svg->block[kept - 1].object : NULL;
        if (!last || o->kind != VMM_OBJECT_HANDLE || last->kind != VMM_OBJECT_HANDLE || !o->block || o->block != last->block ||
            svg->block[i].row != svg->block[kept - 1].row)
            svg->block[kept++] = svg->block[i];
        if (o->kind == VMM_OBJECT_HANDLE)
            svg->by_number[o->number] = &svg->block[kept - 1];
    }
    svg->blocks = kept;
}

void svg_find_blocks(struct svg *svg)
{
    note_numbers(svg);
    svg->block = text_grow(NULL, (svg->picture->count + 1) * sizeof *svg->block);
    for (size_t i = 0; i < svg->picture->count; i++) {
        const vmm_object *o = &svg->picture->object[i];
        if (o->kind == VMM_OBJECT_HANDLE || o->kind == VMM_OBJECT_ALLOCATION)
            svg->block[svg->blocks++] = (struct svg_block){.object = o, .row = row_of(o->location)};
    }
    qsort(svg->block, svg->blocks, sizeof *svg->block, by_row);
    join(svg);
}

/* ---- rows ---- */

static const vmm_object *device(const struct svg *svg, int row)
{
    for (size_t i = 0; i < svg->picture->count; i++)
        if (svg->picture->object[i].kind == VMM_OBJECT_DEVICE && (int)svg->picture->object[i].value == row)
            return &svg->picture->object[i];
    return NULL;
}

static size_t blocks_in(const struct svg *svg, int row, size_t *first)
{
    size_t count = 0;
    for (size_t i = 0; i < svg->blocks; i++)
        if (svg->block[i].row == row) {
            *first = count ? *first : i;
            count++;
        }
    return count;
}

/* Blocks take up to two thirds of their row, to scale among each other; the rest stands for what is free, which is mostly far more. */
static double lay(struct svg_block *block, size_t count, double room, double y)
{
    const double gap = (double)count * 3 < room * .1 ? 3 : room * .1 / (double)count, free = room - gap * (double)count;
    const double share = free * .7 / (double)count, least = share < 44 ? share : 44;
    double total = 0, x = SVG_GUTTER, scale = (free - least * (double)count) * .6;
    for (size_t i = 0; i < count; i++)
        total += (double)block[i].object->size;
    for (size_t i = 0; i < count; i++) {
        block[i].x = x;
        block[i].w = least + (total > 0 ? (double)block[i].object->size / total * scale : 0);
        block[i].y = y;
        x += block[i].w + gap;
    }
    return x;
}

static double row_height(void)
{
    return SVG_BLOCK + SVG_GAP;
}

/* Calls each for the rows that are drawn, from the top on. */
static void each_row(struct svg *svg, void (*each)(struct svg *svg, int row, double y))
{
    double y = svg->memory;
    size_t first = 0;
    for (int row = TEAM; row <= HOST; row++)
        if (blocks_in(svg, row, &first) || (row >= 0 && row < HOST && device(svg, row))) {
            each(svg, row, y);
            y += row_height();
        }
    svg->height = y;
}

static void place_row(struct svg *svg, int row, double y)
{
    size_t first = 0, count = blocks_in(svg, row, &first);
    if (count)
        lay(&svg->block[first], count, svg->room, y);
}

void svg_place_blocks(struct svg *svg)
{
    each_row(svg, place_row);
}

static void draw_block(struct svg *svg, const struct svg_block *block)
{
    const vmm_object *o = block->object;
    char name[PICTURE_LABEL], size[TEXT_SIZE_ROOM], class_name[48];
    snprintf(class_name, sizeof class_name, "block %s%s", svg_colour(o->location),
             o->kind == VMM_OBJECT_HANDLE && !o->references ? " held" : "");
    svg_box(svg, &(struct svg_box){.x = block->x, .y = block->y, .w = block->w, .h = SVG_BLOCK, .class_name = class_name,
                                   .mark = svg_mark(svg, o), .label = picture_short(svg->picture, o, name),
                                   .sub = text_size(o->size, size), .object = o});
}

/* Blocks that are too narrow to be drawn alone, a column of the page at a time. Returns the first behind them. */
static size_t draw_cell(struct svg *svg, size_t first, size_t end)
{
    const struct svg_block *begin = &svg->block[first];
    const size_t column = (size_t)((begin->x - SVG_GUTTER) / SVG_CELL);
    bool fresh = false;
    size_t i = first;
    char label[24], title[64], class_name[48];
    for (; i < end && svg->block[i].w < SVG_NARROW && (size_t)((svg->block[i].x - SVG_GUTTER) / SVG_CELL) == column; i++)
        fresh |= svg_mark(svg, svg->block[i].object)[0] != 0;
    snprintf(label, sizeof label, "x%zu", i - first);
    snprintf(title, sizeof title, "%zu pieces of memory; + widens the picture", i - first);
    snprintf(class_name, sizeof class_name, "block many %s", svg_colour(begin->object->location));
    svg_box(svg, &(struct svg_box){.x = begin->x, .y = begin->y, .w = svg->block[i - 1].x + svg->block[i - 1].w - begin->x, .h = SVG_BLOCK,
                                   .class_name = class_name, .mark = fresh ? " fresh" : "", .label = label, .title = title});
    svg->narrow += i - first;
    return i;
}

static void draw_free(struct svg *svg, const vmm_object *of, double x, double y)
{
    char size[TEXT_SIZE_ROOM], total[TEXT_SIZE_ROOM], label[2 * TEXT_SIZE_ROOM + 16], sub[TEXT_SIZE_ROOM + 8];
    text_size_short(of->size, size);
    text_size_short(of->start, total);
    if (of->size != of->start && strcmp(size, total) == 0) { /* the difference is what the reader looks for */
        text_size(of->size, size);
        text_size(of->start, total);
    }
    snprintf(label, sizeof label, "%s free", size);
    snprintf(sub, sizeof sub, "of %s", total);
    svg_box(svg, &(struct svg_box){.x = x, .y = y, .w = SVG_GUTTER + svg->room - x, .h = SVG_BLOCK, .class_name = "free", .mark = "",
                                   .label = label, .sub = sub});
}

static void draw_row(struct svg *svg, int row, double y)
{
    size_t first = 0, count = blocks_in(svg, row, &first);
    const vmm_object *of = row >= 0 && row < HOST ? device(svg, row) : NULL;
    char name[24];
    snprintf(name, sizeof name, row == TEAM ? "team" : row == HOST ? "host" : "dev%d", row);
    fprintf(svg->out, "<text class=\"gutter\" x=\"0\" y=\"%.1f\">%s</text>\n", y + SVG_BLOCK / 2.0, name);
    for (size_t i = first; i < first + count;)
        if (svg->block[i].w < SVG_NARROW)
            i = draw_cell(svg, i, first + count);
        else
            draw_block(svg, &svg->block[i++]);
    if (of)
        draw_free(svg, of, count ? svg->block[first + count - 1].x + svg->block[first + count - 1].w + 3 : SVG_GUTTER, y);
}

void svg_draw_memory(struct svg *svg)
{
    each_row(svg, draw_row);
}

/* ---- lines ---- */

static void draw_link(struct svg *svg, double x1, double y1, double x2, double y2, const char *class_name)
{
    fprintf(svg->out, "<path class=\"%s\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>", class_name, x1, y1, x1, y1 + (y2 - y1) * .55,
            x2, y2 - (y2 - y1) * .55, x2, y2);
}

static void link_mapping(struct svg *svg, const vmm_object *m)
{
    const struct svg_block *block = m->handle_number < svg->numbers ? svg->by_number[m->handle_number] : NULL;
    if (!block)
        return;
    const struct svg_land *land = svg_land_at(svg, m->start);
    const double x = (svg_x(land, m->start) + svg_x(land, m->start + m->size)) / 2;
    const double whole = (double)block->object->size, part = ((double)m->offset + (double)m->size / 2) / (whole > 0 ? whole : 1);
    draw_link(svg, x, svg_band_top(svg, land) + SVG_NAME + SVG_BAR + (double)svg->places * SVG_RIGHT,
              block->x + block->w * (part < 1 ? part : 1), block->y, svg_mark(svg, m)[0] ? "link fresh" : "link");
}

/* From a multicast object to the memory that is bound to it. */
static void link_bind(struct svg *svg, const vmm_object *bind)
{
    const struct svg_block *team = bind->handle_number < svg->numbers ? svg->by_number[bind->handle_number] : NULL, *memory = NULL;
    for (size_t i = 0; i < svg->blocks && !memory; i++)
        if (svg->block[i].object->kind == VMM_OBJECT_HANDLE && svg->block[i].object->block == bind->block && svg->block[i].row != TEAM)
            memory = &svg->block[i];
    if (team && memory)
        draw_link(svg, team->x + team->w / 2, team->y + SVG_BLOCK, memory->x + memory->w / 2, memory->y,
                  svg_mark(svg, bind)[0] ? "link bind fresh" : "link bind");
}

/* Of very many only some, evenly chosen. */
void svg_draw_links(struct svg *svg)
{
    size_t mappings = 0, at = 0;
    for (size_t i = 0; i < svg->picture->count; i++)
        mappings += svg->picture->object[i].kind == VMM_OBJECT_MAPPING;
    const size_t every = mappings / LINKS_MOST + 1;
    for (size_t i = 0; i < svg->picture->count; i++) {
        const vmm_object *o = &svg->picture->object[i];
        if (o->kind == VMM_OBJECT_MAPPING && at++ % every == 0)
            link_mapping(svg, o);
        else if (o->kind == VMM_OBJECT_BIND)
            link_bind(svg, o);
    }
    fputs("\n", svg->out);
}
