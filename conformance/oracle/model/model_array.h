/* SPDX-License-Identifier: Apache-2.0 */
/* model_array.h - arrays, the tiles of sparse ones, and their bytes, in plain lists (facts: arrays).
 *
 *     ordinary     memory of its own; small ones of a context share chunks of the device's granularity, in 32 units
 *     deferred     nothing, or a part of one memory
 *     sparse       a list of tiles: [layer 0, level 0, x 1 y 0 z 0 -> memory 3 from 128K on] ...
 *
 * Bytes are kept in windows, from the first write on. Those of a tile belong to its memory, and are known to a reader who takes them
 * for an element at the same place of an equally divided tile: the order within a tile is the driver's own. What a mip tail or a
 * deferred array has is known until something else is mapped there, or another array writes the same memory.
 */
#ifndef CUVMM_MODEL_ARRAY_H
#define CUVMM_MODEL_ARRAY_H

#include "model_parts.h"

#define MODEL_TILE UINT64_C(65536)
enum { MODEL_LEVELS = 18, MODEL_UNITS = 32 };

/* ---- what descriptors mean (model_array_shape.c) ---- */

/* The unit of storage: an element, or a square of compressed ones with that many on a side. bytes 0: unknown format. */
struct model_element {
    unsigned bytes, side;
};

struct model_shape {
    struct model_element element;
    unsigned levels, layers;
    bool volume;
    uint32_t extent[MODEL_LEVELS][3]; /* of each level, in elements */
    uint32_t tile[3];                 /* of a sparse array, in elements */
    unsigned tail_first;              /* levels: none lies in the mip tail */
    uint64_t tail;                    /* bytes of the mip tail, of each layer or, where single, of all */
    bool single;
    uint64_t need;                    /* bytes of memory for the whole array */
};

/* The rule that forbids arrays of the descriptor, whose sizes are below 2^32; NULL for none. */
const char *model_shape_fault(const vmm_array3d_descriptor *is, bool mipmapped);
/* is: of an array; asked: how many levels the call asked for. */
void model_shape_of(const vmm_array3d_descriptor *is, bool mipmapped, unsigned asked, struct model_shape *shape);

/* Bytes of a row of a level, its rows of elements or blocks, and its layers or depth. */
uint64_t model_shape_row(const struct model_shape *shape, unsigned level);
uint64_t model_shape_rows(const struct model_shape *shape, unsigned level);
uint64_t model_shape_layers(const struct model_shape *shape, unsigned level);

/* ---- what there is ---- */

/* Memory for tiles, which lives while it has a handle or tiles. */
struct model_backing {
    uint64_t serial, handle, size; /* handle 0: ended */
    int place;                     /* model_pool_place */
    uint64_t tiles;
};

/* 64 KiB of a sparse array that have memory; of a mip tail, level is the first one there, and x the number in the tail. */
struct model_tile {
    unsigned layer, level;
    uint32_t x, y, z;
    uint64_t serial, offset;
};

struct model_array {
    uint64_t value;
    uint32_t tag;
    int device;
    size_t context;
    vmm_array3d_descriptor is;
    bool mipmapped, ended;
    struct model_array *whole;    /* itself; of a level what it is a level of */
    unsigned level;
    struct model_array *levels[MODEL_LEVELS]; /* that the program has got */
    struct model_shape shape;     /* of whole ones */
    uint64_t holds;               /* bytes of the device that only it uses */
    size_t chunk;                 /* of a small one: its place in the list of chunks plus 1 */
    unsigned unit, units;         /* and there */
    struct model_tile *tiles;
    size_t tile_count, tile_room;
    uint64_t serial, offset;      /* of a deferred one: what is mapped; serial 0: nothing */
    bool doubtful;                /* its mip tail may not be what was last asked for */
};

struct model_chunk {
    size_t context;
    int device;
    bool taken[MODEL_UNITS];
};

struct model_array_window {
    const struct model_array *array; /* NULL: of a memory */
    uint64_t owner;                  /* the level, or the memory's serial */
    uint64_t start;                  /* of the level's bytes, or of the memory's */
    unsigned form;                   /* how the memory's tiles are divided */
    uint8_t value[MODEL_WINDOW];
    bool known[MODEL_WINDOW];
};

struct model_arrays {
    struct model_array **at;         /* those that ended, too */
    size_t count, room;
    struct model_chunk *chunks;      /* in the order in which they were made; without units: free for another one */
    size_t chunk_count, chunk_room;
    struct model_backing *backings;
    size_t backing_count, backing_room;
    struct model_array_window *windows;
    size_t window_count, window_room;
    uint64_t serials;
};

void model_arrays_open(struct model *model);
void model_arrays_close(struct model *model);

/* The array of a value: a live one if there is one, else the last that ended. NULL where there never was one. */
struct model_array *model_array_of(const struct model *model, const void *value);
bool model_array_is_sparse(const struct model_array *array);
bool model_array_is_deferred(const struct model_array *array);

/* ---- tiles (model_tiles.c) ---- */

/* Ends what the array has mapped. */
void model_array_unmap(struct model *model, struct model_array *array);
/* The tile with those bytes of the level; NULL: it has no memory. */
struct model_tile *model_array_tile(const struct model_array *whole, unsigned level, uint64_t x, uint64_t y, uint64_t z);
/* The part of the mip tail; NULL: it has no memory. */
struct model_tile *model_array_tail(const struct model_array *whole, unsigned layer, uint32_t piece);
/* The memory's handle has ended. */
void model_backing_ends(struct model *model, uint64_t handle);

/* ---- bytes (model_array_copy.c) ---- */

/* A byte of a level's row; -1: not known. */
int model_array_byte(struct model *model, const struct model_array *array, uint64_t x, uint64_t y, uint64_t z);
/* Writes it; -1: what is there then is not known. */
void model_array_put(struct model *model, const struct model_array *array, uint64_t x, uint64_t y, uint64_t z, int value);
/* May both be behind the same memory? */
bool model_arrays_meet(const struct model_array *a, const struct model_array *b);
/* Forgets what is kept of the array's own bytes: mip tail, deferred, ordinary. */
void model_array_forget(struct model *model, const struct model_array *whole);
void model_backing_forget(struct model *model, uint64_t serial);

#endif
