/* SPDX-License-Identifier: Apache-2.0 */
/* svg_draw.h - one drawing in the making (picture_svg.h): what its parts share.
 *
 *     x     gutter |<-------------------- room -------------------->|
 *     y     bands of addresses, then rows of memory
 */
#ifndef CUVMM_TOOLS_SVG_DRAW_H
#define CUVMM_TOOLS_SVG_DRAW_H

#include <stdint.h>

#include "picture_svg.h"

/* Not enumerators: sums of one with a double are a warning of newer compilers. */
#define SVG_GUTTER 48
#define SVG_NAME   18
#define SVG_BAR    42
#define SVG_RIGHT  15
#define SVG_GAP    16
#define SVG_BLOCK  36
#define SVG_LINKS  46
#define SVG_NARROW 4
#define SVG_CELL   52

/* A part of a land: covered by mappings or memory without a gap, or empty. A long empty one is folded: drawn shorter than to scale.
 *
 *     land       [                 R1, 64 GiB                  ]
 *     pieces     [ M1  M2 ][ empty, folded ][ M3 ][   empty    ]
 */
struct svg_piece {
    uint64_t start, end;
    bool folded;
    double drawn, x, w; /* drawn: the length to draw it with */
};

/* Addresses that something covers, without a gap. */
struct svg_land {
    uint64_t start, end;
    size_t band, pieces;
    struct svg_piece *piece; /* in svg->piece */
    double drawn, x, w;
};

/* Memory of one place, or the multicast objects. */
struct svg_block {
    const vmm_object *object; /* of handles to one memory the first */
    int row;
    double x, w, y;
};

enum { SVG_PLACES = VMM_MAX_DEVICES + 1 }; /* rights of devices and of the host */

struct svg {
    FILE *out;
    const struct picture *picture;
    const struct picture_svg *how;
    double room;
    struct svg_land *land;
    struct svg_piece *piece;
    size_t lands, bands, pieces;
    double band_height, top; /* top: of the first band */
    vmm_mem_location place[SVG_PLACES]; /* with a line of rights */
    size_t places;
    struct svg_block *block;
    size_t blocks;
    const struct svg_block **by_number; /* the block of handle number i; NULL: none */
    const vmm_object **handle;          /* handle number i */
    size_t numbers;
    const vmm_object **ghost; /* gone since before, with addresses */
    size_t ghosts;
    double memory, height; /* the top of the first row of memory; of all */
    size_t narrow;         /* mappings and pieces of memory that are drawn with others */
};

/* ---- where an address is drawn (svg_lands.c) ---- */
void svg_find_lands(struct svg *svg);
void svg_place_lands(struct svg *svg);
/* The land of an address that lies in one. */
const struct svg_land *svg_land_at(const struct svg *svg, uint64_t address);
/* Of an address in it, or of its end. */
double svg_x(const struct svg_land *land, uint64_t address);
double svg_band_top(const struct svg *svg, const struct svg_land *land);

/* ---- addresses (svg_addresses.c) ---- */
void svg_draw_addresses(struct svg *svg);

/* ---- memory (svg_memory.c) ---- */
void svg_find_blocks(struct svg *svg);
/* From svg->memory on; sets svg->height. */
void svg_place_blocks(struct svg *svg);
void svg_draw_memory(struct svg *svg);
void svg_draw_links(struct svg *svg);

/* ---- what both draw with (svg_shapes.c) ---- */

/* "dev0", "host"; for a class, of few colours. */
const char *svg_colour(vmm_mem_location location);
bool svg_on_host(vmm_mem_location location);
/* Was it there before, as the same object? NULL: no. */
const vmm_object *svg_before(const struct svg *svg, const vmm_object *object);
/* " fresh", " culprit" or "". */
const char *svg_mark(const struct svg *svg, const vmm_object *object);

struct svg_box {
    double x, y, w, h;
    const char *class_name, *mark, *label, *sub; /* label and sub are left out where they do not fit; sub may be NULL */
    const vmm_object *object; /* named, and with a sentence as its title; or NULL, with a title of its own or none */
    const char *title;
};
void svg_box(struct svg *svg, const struct svg_box *box);
void svg_text(FILE *out, const char *text); /* escaped */
/* Would it fit into that width? */
bool svg_fits(const char *text, double width);

#endif
