/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches of addresses beside each other, to scale but for what would be too narrow to see and what is long and empty. */
#include <stdlib.h>

#include "svg_draw.h"
#include "text.h"

enum { BANDS_MOST = 6 };
#define FOLD_AT 8.0
#define LAND_LEAST 220.0
#define PIECE_LEAST 30.0

/* ---- stretches ---- */

static bool is_covered(const vmm_object *o)
{
    return o->kind == VMM_OBJECT_MAPPING || o->kind == VMM_OBJECT_ALLOCATION;
}

static bool has_address(const vmm_object *o)
{
    return o->kind == VMM_OBJECT_RESERVATION || is_covered(o);
}

static struct svg_land land_of(const vmm_object *o)
{
    return (struct svg_land){.start = o->start, .end = o->start + (o->size ? o->size : 1)};
}

static int by_start(const void *a, const void *b)
{
    const struct svg_land *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* What overlaps is one; two reservations beside each other stay two, and mappings beside each other become one if they touch. */
static size_t merge(struct svg_land *land, size_t count, bool touching)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct svg_land *last = kept ? &land[kept - 1] : NULL;
        if (last && (land[i].start < last->end || (touching && land[i].start == last->end))) {
            if (land[i].end > last->end)
                last->end = land[i].end;
        } else {
            land[kept++] = land[i];
        }
    }
    return kept;
}

/* Those of the objects, now and gone, that `which` names. Returns how many. */
static size_t find(const struct svg *svg, bool (*which)(const vmm_object *), bool touching, struct svg_land **land)
{
    size_t count = 0;
    *land = text_grow(NULL, (svg->picture->count + svg->ghosts + 1) * sizeof **land);
    for (size_t i = 0; i < svg->picture->count; i++)
        if (which(&svg->picture->object[i]))
            (*land)[count++] = land_of(&svg->picture->object[i]);
    for (size_t i = 0; i < svg->ghosts; i++)
        if (which(svg->ghost[i]))
            (*land)[count++] = land_of(svg->ghost[i]);
    qsort(*land, count, sizeof **land, by_start);
    return merge(*land, count, touching);
}

/* ---- pieces ---- */

/* An empty one, covered is the length of all that is not, is as long as that where it is much longer; of others covered is 0. */
static void add_piece(struct svg *svg, struct svg_land *land, uint64_t start, uint64_t end, double covered)
{
    const double length = (double)(end - start);
    if (end <= start)
        return;
    const bool folded = covered > 0 && length > FOLD_AT * covered;
    struct svg_piece *piece = &svg->piece[svg->pieces++];
    *piece = (struct svg_piece){.start = start, .end = end, .folded = folded, .drawn = folded ? covered : length};
    land->drawn += piece->drawn;
    land->pieces++;
}

/* An empty piece is the rest of a reservation, and may be a thousand times as long as all that is mapped. */
static void divide(struct svg *svg, const struct svg_land *covered, size_t count)
{
    double total = 0;
    size_t next = 0;
    for (size_t i = 0; i < count; i++)
        total += (double)(covered[i].end - covered[i].start);
    svg->piece = text_grow(NULL, (svg->lands + 2 * count + 1) * sizeof *svg->piece);
    for (size_t i = 0; i < svg->lands; i++) {
        struct svg_land *land = &svg->land[i];
        uint64_t at = land->start;
        land->piece = &svg->piece[svg->pieces];
        for (; next < count && covered[next].start < land->end; next++) {
            const uint64_t end = covered[next].end < land->end ? covered[next].end : land->end;
            add_piece(svg, land, at, covered[next].start, total);
            add_piece(svg, land, covered[next].start, end, 0);
            at = end;
        }
        add_piece(svg, land, at, land->end, total);
    }
}

void svg_find_lands(struct svg *svg)
{
    struct svg_land *covered;
    svg->lands = find(svg, has_address, false, &svg->land);
    const size_t count = find(svg, is_covered, true, &covered);
    divide(svg, covered, count);
    free(covered);
}

/* ---- places ---- */

static double least_of(double most, double share)
{
    return share < most ? share : most;
}

static void lay_pieces(struct svg_land *land)
{
    const double least = least_of(PIECE_LEAST, land->w * .6 / (double)land->pieces);
    double x = land->x;
    for (size_t i = 0; i < land->pieces; i++) {
        struct svg_piece *piece = &land->piece[i];
        piece->x = x;
        piece->w = least + piece->drawn / land->drawn * (land->w - least * (double)land->pieces);
        x += piece->w;
    }
}

/* In one band: to scale, but none narrower than what can be seen while there is room for that. */
static void lay(struct svg_land *land, size_t count, double room)
{
    const double gap = count > 1 ? least_of(14, room * .3 / (double)count) : 0;
    const double free = room - gap * (double)(count - 1), least = least_of(60, free * .6 / (double)count);
    double total = 0, x = SVG_GUTTER;
    for (size_t i = 0; i < count; i++)
        total += land[i].drawn;
    for (size_t i = 0; i < count; i++) {
        land[i].x = x;
        land[i].w = least + land[i].drawn / total * (free - least * (double)count);
        x += land[i].w + gap;
        lay_pieces(&land[i]);
    }
}

/* As many in a band as can be read beside each other; of very many more. */
void svg_place_lands(struct svg *svg)
{
    size_t each = svg->room >= LAND_LEAST ? (size_t)(svg->room / LAND_LEAST) : 1;
    if (svg->lands > each * BANDS_MOST)
        each = (svg->lands + BANDS_MOST - 1) / BANDS_MOST;
    svg->bands = (svg->lands + each - 1) / each;
    for (size_t band = 0; band < svg->bands; band++) {
        size_t first = band * each, count = svg->lands - first < each ? svg->lands - first : each;
        for (size_t i = first; i < first + count; i++)
            svg->land[i].band = band;
        lay(&svg->land[first], count, svg->room);
    }
    svg->band_height = SVG_NAME + SVG_BAR + (double)svg->places * SVG_RIGHT + SVG_GAP;
}

const struct svg_land *svg_land_at(const struct svg *svg, uint64_t address)
{
    size_t low = 0, high = svg->lands;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (svg->land[middle].start <= address)
            low = middle;
        else
            high = middle;
    }
    return &svg->land[low];
}

double svg_x(const struct svg_land *land, uint64_t address)
{
    size_t low = 0, high = land->pieces;
    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (land->piece[middle].start <= address)
            low = middle;
        else
            high = middle;
    }
    const struct svg_piece *piece = &land->piece[low];
    return piece->x + (double)(address - piece->start) / (double)(piece->end - piece->start) * piece->w;
}

double svg_band_top(const struct svg *svg, const struct svg_land *land)
{
    return svg->top + (double)land->band * svg->band_height;
}
