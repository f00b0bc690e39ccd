/* SPDX-License-Identifier: Apache-2.0 */
#include "array_layout.h"

static uint64_t up(uint64_t size, uint64_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static uint32_t parts(uint32_t size, uint32_t unit)
{
    return size / unit + (size % unit != 0);
}

/* Does its depth give the number of layers? The faces of a cubemap are layers. */
static bool has_layers(const vmm_array3d_descriptor *is)
{
    return (is->flags & (VMM_ARRAY3D_LAYERED | VMM_ARRAY3D_CUBEMAP)) != 0;
}

static bool is_volume(const vmm_array3d_descriptor *is)
{
    return is->depth && !has_layers(is);
}

/* ---- tiles, as recorded ---- */

static void set_tile(struct array_layout *layout, bool volume)
{
    static const uint32_t flat[][3] = {{256, 256, 1}, {256, 128, 1}, {128, 128, 1}, {128, 64, 1}, {64, 64, 1}};
    static const uint32_t solid[][3] = {{64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
    const unsigned row = (unsigned)__builtin_ctz(layout->block.bytes);
    const uint32_t *tile = volume ? solid[row] : flat[row];
    layout->tile[0] = tile[0] * layout->block.width;
    layout->tile[1] = tile[1] * layout->block.height;
    layout->tile[2] = tile[2];
}

/* ---- memory, as recorded ---- */

/* The memory of a level is divided into pieces of 64 bytes x 8 << y rows x 1 << z layers; y and z are smaller for smaller
 * levels. */
struct piece {
    unsigned y, z;
};

static uint64_t piece_bytes(struct piece piece)
{
    return (UINT64_C(64) * 8 << piece.y) << piece.z;
}

/* The largest one, as large as the level needs. */
static struct piece piece_within(struct piece piece, const struct array_level *level)
{
    while (piece.y && (8u << (piece.y - 1)) >= level->rows)
        piece.y--;
    while (piece.z && (1u << (piece.z - 1)) >= level->extent[2])
        piece.z--;
    return piece;
}

static struct piece largest_piece(bool volume)
{
    return volume ? (struct piece){2, 4} : (struct piece){4, 0};
}

static struct piece piece_of(const struct array_level *level, bool volume)
{
    struct piece piece = piece_within(largest_piece(volume), level);
    while (volume && piece.y && up(level->rows, 8u << piece.y) != up(level->rows, 8))
        piece.y--;
    return piece;
}

/* Behind tiles: pieces as high and deep as a tile, also where the rows of a volume do not fill them. */
static struct piece piece_behind_tiles(const struct array_layout *layout, const struct array_level *level, bool volume)
{
    struct piece piece = largest_piece(volume);
    while ((8u << piece.y) > layout->tile[1] / layout->block.height)
        piece.y--;
    while ((1u << piece.z) < layout->tile[2])
        piece.z++;
    return piece_within(piece, level);
}

/* Layers begin at multiples of a piece of the first level, or of half of one that is filled to three quarters at most. */
static uint64_t layer_unit(const struct array_layout *layout, bool volume)
{
    const struct array_level *level = &layout->level[0];
    struct piece piece = piece_of(level, volume);
    if (piece.y && layout->block.height == 1 && 4 * level->rows <= 3 * (8u << piece.y))
        piece.y--;
    return piece_bytes(piece);
}

static uint64_t memory_of(const struct array_level *level, struct piece piece)
{
    return up(level->row, 64) * up(level->rows, 8u << piece.y) * up(level->extent[2], 1u << piece.z);
}

/* ---- levels ---- */

static uint32_t shrunk(size_t size, unsigned level)
{
    const uint32_t less = (uint32_t)size >> level;
    return less ? less : 1;
}

static unsigned level_count(const vmm_array3d_descriptor *is, unsigned asked)
{
    size_t largest = is->width > is->height ? is->width : is->height;
    if (is_volume(is) && is->depth > largest)
        largest = is->depth;
    const unsigned most = 32u - (unsigned)__builtin_clz((unsigned)largest);
    return !asked ? 1 : asked < most ? asked : most;
}

static void set_level(const vmm_array3d_descriptor *is, struct array_layout *layout, unsigned number)
{
    struct array_level *level = &layout->level[number];
    level->extent[0] = shrunk(is->width, number);
    level->extent[1] = shrunk(is->height, number);
    level->extent[2] = is_volume(is) ? shrunk(is->depth, number) : 1;
    level->rows = parts(level->extent[1], layout->block.height);
    level->row = (uint64_t)parts(level->extent[0], layout->block.width) * layout->block.bytes;
    level->layer = level->row * level->rows * level->extent[2];
    level->at = layout->bytes;
    layout->bytes += level->layer * layout->layers;
}

static bool fills_a_tile(const struct array_layout *layout, const struct array_level *level)
{
    return level->extent[0] >= layout->tile[0] && level->extent[1] >= layout->tile[1] && level->extent[2] >= layout->tile[2];
}

/* The tiles of the levels before the tail. */
static void set_tiles(struct array_layout *layout)
{
    for (unsigned i = 0; i < layout->levels && fills_a_tile(layout, &layout->level[i]); i++) {
        struct array_level *level = &layout->level[i];
        level->first_tile = layout->tiles;
        for (unsigned side = 0; side < 3; side++)
            level->tiles[side] = parts(level->extent[side], layout->tile[side]);
        layout->tiles += (uint64_t)level->tiles[0] * level->tiles[1] * level->tiles[2];
        layout->tail_first = i + 1;
    }
}

static void set_tail(struct array_layout *layout, bool volume)
{
    uint64_t at = 0, memory = 0;
    for (unsigned i = layout->tail_first; i < layout->levels; i++) {
        struct array_level *level = &layout->level[i];
        level->tail_at = at;
        at += level->layer;
        memory += memory_of(level, layout->tail_first ? piece_behind_tiles(layout, level, volume) : piece_of(level, volume));
    }
    layout->single = layout->tail_first == 0;
    if (layout->single && layout->layers > 1)
        memory = up(memory, layer_unit(layout, volume));
    layout->tail = up(layout->single ? memory * layout->layers : memory, ARRAY_TILE);
    if (!layout->single)
        layout->tiles += layout->tail / ARRAY_TILE;
}

void array_layout_of(const vmm_array3d_descriptor *is, unsigned asked, bool mipmapped, struct array_layout *layout)
{
    const bool volume = is_volume(is);
    *layout = (struct array_layout){.block = array_block_of(is->format, is->num_channels),
                                    .levels = mipmapped ? level_count(is, asked) : 1,
                                    .layers = has_layers(is) ? (unsigned)is->depth : 1};
    uint64_t memory = 0;
    for (unsigned i = 0; i < layout->levels; i++) {
        set_level(is, layout, i);
        memory += memory_of(&layout->level[i], piece_of(&layout->level[i], volume));
    }
    layout->need = up(up(memory, layer_unit(layout, volume)) * layout->layers, ARRAY_TILE);
    if (!(is->flags & VMM_ARRAY3D_SPARSE))
        return;
    set_tile(layout, volume);
    set_tiles(layout);
    if (layout->tail_first < layout->levels)
        set_tail(layout, volume);
}

/* ---- places ---- */

uint64_t array_tiles(const struct array_layout *layout)
{
    return layout->single ? layout->tail / ARRAY_TILE : layout->tiles * layout->layers;
}

uint64_t array_tile_at(const struct array_layout *layout, unsigned level, unsigned layer, uint32_t x, uint32_t y, uint32_t z)
{
    const struct array_level *at = &layout->level[level];
    return layer * layout->tiles + at->first_tile + ((uint64_t)z * at->tiles[1] + y) * at->tiles[0] + x;
}

uint64_t array_tail_tile(const struct array_layout *layout, unsigned layer, uint64_t offset)
{
    const uint64_t tail = layout->tail / ARRAY_TILE;
    return (layout->single ? 0 : (layer + 1) * layout->tiles - tail) + offset / ARRAY_TILE;
}

/* In the tail: layers follow each other if all share one tail. */
static struct array_place place_in_tail(const struct array_layout *layout, const struct array_level *level, uint64_t in_level)
{
    const unsigned layer = (unsigned)(in_level / level->layer);
    const uint64_t within = in_level % level->layer;
    const uint64_t at = (layout->single ? layer * (layout->tail / layout->layers) : 0) + level->tail_at + within;
    const uint64_t left = level->layer - within, room = ARRAY_TILE - at % ARRAY_TILE;
    return (struct array_place){array_tail_tile(layout, layer, at), at % ARRAY_TILE, left < room ? left : room};
}

static struct array_place place_in_tile(const struct array_layout *layout, const struct array_level *level, uint64_t in_level)
{
    const uint32_t tile_row = layout->tile[0] / layout->block.width * layout->block.bytes, tile_rows = layout->tile[1] / layout->block.height;
    const uint64_t layer = in_level / level->layer, line = in_level % level->layer / level->row, x = in_level % level->row;
    const uint32_t y = (uint32_t)(line % level->rows), z = (uint32_t)(line / level->rows);
    const uint64_t tile = array_tile_at(layout, (unsigned)(level - layout->level), (unsigned)layer, (uint32_t)(x / tile_row),
                                        y / tile_rows, z / layout->tile[2]);
    const uint64_t left = level->row - x, room = tile_row - x % tile_row;
    return (struct array_place){tile, ((uint64_t)(z % layout->tile[2]) * tile_rows + y % tile_rows) * tile_row + x % tile_row,
                                left < room ? left : room};
}

struct array_place array_place_of(const struct array_layout *layout, uint64_t byte)
{
    unsigned i = layout->levels - 1;
    while (byte < layout->level[i].at)
        i--;
    const struct array_level *level = &layout->level[i];
    return i < layout->tail_first ? place_in_tile(layout, level, byte - level->at) : place_in_tail(layout, level, byte - level->at);
}

void array_sparse_properties(const struct array_layout *layout, bool mipmapped, vmm_array_sparse_properties *properties)
{
    properties->tile_extent = (struct vmm_array_tile_extent){layout->tile[0], layout->tile[1], layout->tile[2]};
    properties->miptail_first_level = layout->tail || mipmapped ? layout->tail_first : 0;
    properties->miptail_size = layout->tail;
    properties->flags = layout->single ? VMM_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL : 0;
}
