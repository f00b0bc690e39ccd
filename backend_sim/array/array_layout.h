/* SPDX-License-Identifier: Apache-2.0 */
/* array_layout.h - where each element of an array lies.
 *
 *     byte numbers   level 0 [layer 0: rows of row bytes, depth x rows of them][layer 1 ...]  level 1 [...]   as copies see the array
 *     tiles          level 0 [0 1 2]  level 1 [6]  tail [8]                                   of layer 0; layer 1 has 9 and so on
 *                            [3 4 5]          [7]
 *
 * A sparse array is divided into tiles of 64 KiB. The levels that are smaller than a tile lie together in the mip tail. Within
 * a tile, rows follow each other; within the tail, levels do. (A driver has its own order, which is not observable.)
 */
#ifndef SIM_ARRAY_LAYOUT_H
#define SIM_ARRAY_LAYOUT_H

#include "array_shape.h"

#include <stdint.h>

#define ARRAY_TILE UINT64_C(65536)

enum { ARRAY_LEVELS = 18 }; /* of the largest possible array */

struct array_level {
    uint64_t at;                  /* the number of its first byte */
    uint64_t row, layer;          /* bytes of a row of blocks, and of a layer of the level */
    uint32_t extent[3];           /* width, height, depth in elements */
    uint32_t rows;                /* rows of blocks */
    uint32_t tiles[3];            /* the number of tiles in each direction; 0: the level lies in the tail */
    uint64_t first_tile;          /* of a layer's */
    uint64_t tail_at;             /* in the tail */
};

struct array_layout {
    struct array_block block;
    unsigned levels, layers;
    uint32_t tile[3];             /* in elements */
    unsigned tail_first;          /* equals levels if there is no tail */
    uint64_t tail;                /* bytes of each layer's tail, or of the single one for all layers */
    bool single;
    uint64_t tiles;               /* of a layer, the tail's included unless it is single */
    uint64_t bytes;               /* the total number of bytes */
    uint64_t need;                /* memory for all of it */
    struct array_level level[ARRAY_LEVELS];
};

/* is: a valid array (array_check); asked: the number of levels that the call requested; 1 for an array without levels. */
void array_layout_of(const vmm_array3d_descriptor *is, unsigned asked, bool mipmapped, struct array_layout *layout);

/* The tiles of the whole array. */
uint64_t array_tiles(const struct array_layout *layout);

/* The tile at that place of a level, in tiles. */
uint64_t array_tile_at(const struct array_layout *layout, unsigned level, unsigned layer, uint32_t x, uint32_t y, uint32_t z);

/* The tile at that byte of the tail. */
uint64_t array_tail_tile(const struct array_layout *layout, unsigned layer, uint64_t offset);

/* Where a byte lies in the tiles of a sparse array, and the number of contiguous bytes from there. */
struct array_place {
    uint64_t tile, offset, length;
};

struct array_place array_place_of(const struct array_layout *layout, uint64_t byte);

/* The properties that a driver reports. */
void array_sparse_properties(const struct array_layout *layout, bool mipmapped, vmm_array_sparse_properties *properties);

#endif
