/* SPDX-License-Identifier: Apache-2.0 */
/* model_array_shape.c - which descriptors are arrays, their levels and tiles, and the memory that they need (facts: arrays, A P R V).
 *
 * Memory of a level is counted in blocks of rows of 64 bytes:   2D: 64 bytes x (8 16 32 64 or 128) rows
 *                                                               3D: 64 bytes x (8 16 or 32) rows x (1 2 4 8 or 16) layers
 * The block is the smallest that holds the level's rows and layers, or the largest. In a mip tail behind levels of whole tiles no
 * block is higher than a tile, and one may be as deep.
 */
#include "model_array.h"

#include <string.h>

/* ---- formats ---- */

static struct model_element compressed(unsigned format, unsigned channels)
{
    static const unsigned char of[][2] = {{4, 8}, {4, 8}, {4, 16}, {4, 16}, {4, 16}, {4, 16}, {1, 8}, {1, 8}, {2, 16}, {2, 16},
                                          {3, 16}, {3, 16}, {4, 16}, {4, 16}}; /* BC1 to BC7, two of each: channels, bytes */
    const unsigned char *one = of[format - 0x91];
    return (struct model_element){one[0] == channels ? one[1] : 0, 4};
}

static struct model_element element_of(unsigned format, unsigned channels)
{
    unsigned each = 0;
    if (format >= 0x91 && format <= 0x9e)
        return compressed(format, channels);
    if (format >= 0xc0 && format <= 0xcb) { /* normalised ones of 8 and 16 bits, with 1, 2 or 4 channels */
        const unsigned own = 1u << (format - 0xc0) % 3, size = (format - 0xc0) / 3 % 2 ? 2 : 1;
        return (struct model_element){channels == own ? own * size : 0, 1};
    }
    if (format == 0x50)
        return (struct model_element){channels == 4 ? 4 : 0, 1};
    if ((format >= 1 && format <= 3) || (format >= 8 && format <= 10))
        each = 1u << ((format - 1) % 7);
    if (format == VMM_AD_FORMAT_HALF)
        each = 2;
    if (format == VMM_AD_FORMAT_FLOAT)
        each = 4;
    return (struct model_element){channels == 1 || channels == 2 || channels == 4 ? each * channels : 0, 1};
}

/* ---- what is an array ---- */

static bool flags_allowed(const vmm_array3d_descriptor *is)
{
    const unsigned known = 0x1ff & ~(unsigned)(VMM_ARRAY3D_DEPTH_TEXTURE | VMM_ARRAY3D_COLOR_ATTACHMENT);
    const bool flat = is->height && !is->depth;
    return (is->flags | known) == known || (flat && is->flags == 0x80000000u);
}

static bool dimensions_allowed(const vmm_array3d_descriptor *is, bool blocks)
{
    if (!is->width || (blocks && !is->height))
        return false;
    if (is->flags & VMM_ARRAY3D_TEXTURE_GATHER && (!is->height || is->depth))
        return false;
    if (is->flags & VMM_ARRAY3D_CUBEMAP) {
        const bool faces = is->flags & VMM_ARRAY3D_LAYERED ? is->depth && is->depth % 6 == 0 : is->depth == 6;
        return faces && is->width == is->height;
    }
    return is->flags & VMM_ARRAY3D_LAYERED ? is->depth != 0 : !is->depth || is->height;
}

static bool sparse_allowed(const vmm_array3d_descriptor *is)
{
    const unsigned others = VMM_ARRAY3D_SURFACE_LDST | VMM_ARRAY3D_CUBEMAP | VMM_ARRAY3D_DEFERRED_MAPPING;
    return !(is->flags & VMM_ARRAY3D_SPARSE) || (is->height && !(is->flags & others));
}

static bool fits(const vmm_array3d_descriptor *is, uint64_t width, uint64_t height, uint64_t depth)
{
    return is->width <= width && is->height <= height && is->depth <= depth;
}

static bool size_allowed(const vmm_array3d_descriptor *is, bool mipmapped)
{
    const bool cube = is->flags & VMM_ARRAY3D_CUBEMAP, layered = is->flags & VMM_ARRAY3D_LAYERED;
    const bool surface = is->flags & VMM_ARRAY3D_SURFACE_LDST, gather = is->flags & VMM_ARRAY3D_TEXTURE_GATHER;
    if (cube || layered)
        return fits(is, 32768, 32768, !cube ? 2048 : layered ? 2046 : 6);
    if (is->depth)
        return fits(is, 16384, 16384, 16384) || (fits(is, 8192, 8192, 32768) && !surface);
    if (!is->height)
        return is->width <= (surface || mipmapped ? 32768u : 131072u);
    return gather || mipmapped ? fits(is, 32768, 32768, 0) : fits(is, 131072, 65536, 0);
}

const char *model_shape_fault(const vmm_array3d_descriptor *is, bool mipmapped)
{
    const struct model_element element = element_of((unsigned)is->format, is->num_channels);
    const bool blocks = element.bytes && element.side > 1;
    if (!element.bytes)
        return "VMM-ARRAY-FORMAT";
    if (!flags_allowed(is))
        return "VMM-ARRAY-FLAGS";
    if (blocks && is->flags & VMM_ARRAY3D_SURFACE_LDST)
        return "VMM-ARRAY-SURFACE";
    if (!dimensions_allowed(is, blocks))
        return "VMM-ARRAY-SHAPE";
    if (!sparse_allowed(is))
        return "VMM-ARRAY-SPARSE";
    return size_allowed(is, mipmapped) ? NULL : "VMM-ARRAY-SIZE";
}

/* ---- levels and tiles ---- */

static uint64_t ceiling(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit;
}

static void set_levels(const vmm_array3d_descriptor *is, bool mipmapped, unsigned asked, struct model_shape *shape)
{
    uint64_t w = is->width, h = is->height ? is->height : 1, d = shape->volume ? is->depth : 1;
    for (shape->levels = 0;; w = w / 2 ? w / 2 : 1, h = h / 2 ? h / 2 : 1, d = d / 2 ? d / 2 : 1) {
        uint32_t *extent = shape->extent[shape->levels++];
        extent[0] = (uint32_t)w;
        extent[1] = (uint32_t)h;
        extent[2] = (uint32_t)d;
        if (!mipmapped || shape->levels >= asked || (w == 1 && h == 1 && d == 1))
            return;
    }
}

/* 64 KiB of elements as nearly square as powers of 2 are, wider rather than higher. */
static void set_tile(struct model_shape *shape)
{
    unsigned bits = 16;
    for (unsigned bytes = shape->element.bytes; bytes > 1; bytes /= 2)
        bits--;
    const unsigned x = shape->volume ? (bits + 2) / 3 : (bits + 1) / 2;
    const unsigned y = shape->volume ? (bits - x + 1) / 2 : bits - x;
    shape->tile[0] = (1u << x) * shape->element.side;
    shape->tile[1] = (1u << y) * shape->element.side;
    shape->tile[2] = 1u << (bits - x - y);
}

uint64_t model_shape_row(const struct model_shape *shape, unsigned level)
{
    return ceiling(shape->extent[level][0], shape->element.side) * shape->element.bytes;
}

uint64_t model_shape_rows(const struct model_shape *shape, unsigned level)
{
    return ceiling(shape->extent[level][1], shape->element.side);
}

uint64_t model_shape_layers(const struct model_shape *shape, unsigned level)
{
    return (uint64_t)shape->layers * shape->extent[level][2];
}

/* ---- memory ---- */

struct block {
    uint64_t rows, layers;
};

static struct block block_of(const struct model_shape *shape, unsigned level)
{
    const uint64_t rows = model_shape_rows(shape, level), layers = shape->extent[level][2];
    const uint64_t most = shape->volume ? 32 : 128, tile = shape->tail_first ? shape->tile[1] / shape->element.side : most;
    struct block block = {8, 1};
    while (block.rows < rows && block.rows < most && block.rows < tile)
        block.rows *= 2;
    while (block.layers < layers && block.layers < (!shape->volume ? 1 : shape->tail_first ? shape->tile[2] : 16))
        block.layers *= 2;
    /* not higher where the rows do not fill it, unless tiles lie before */
    while (shape->volume && !shape->tail_first && block.rows > 8 && ceiling(rows, block.rows) * block.rows != ceiling(rows, 8) * 8)
        block.rows /= 2;
    return block;
}

static uint64_t memory_of(const struct model_shape *shape, unsigned level)
{
    const struct block block = block_of(shape, level);
    return ceiling(model_shape_row(shape, level), 64) * 64 * ceiling(model_shape_rows(shape, level), block.rows) * block.rows *
           ceiling(shape->extent[level][2], block.layers) * block.layers;
}

/* Layers begin at multiples of a block of the first level; of half a block that more than a quarter of is empty. */
static uint64_t padded(const struct model_shape *shape, uint64_t bytes)
{
    const struct block block = block_of(shape, 0);
    const bool half = block.rows > 8 && shape->element.side == 1 && model_shape_rows(shape, 0) <= block.rows / 4 * 3;
    const uint64_t unit = 64 * (half ? block.rows / 2 : block.rows) * block.layers;
    return ceiling(bytes, unit) * unit;
}

static void set_tail(struct model_shape *shape)
{
    uint64_t bytes = 0;
    bool whole = true;
    for (shape->tail_first = 0; whole && shape->tail_first < shape->levels; shape->tail_first += whole)
        for (int i = 0; i < 3; i++)
            whole &= shape->extent[shape->tail_first][i] >= shape->tile[i];
    if (shape->tail_first == shape->levels)
        return;
    shape->single = shape->tail_first == 0;
    for (unsigned i = shape->tail_first; i < shape->levels; i++)
        bytes += memory_of(shape, i);
    if (shape->single)
        bytes = (shape->layers > 1 ? padded(shape, bytes) : bytes) * shape->layers;
    shape->tail = ceiling(bytes, MODEL_TILE) * MODEL_TILE;
}

void model_shape_of(const vmm_array3d_descriptor *is, bool mipmapped, unsigned asked, struct model_shape *shape)
{
    const bool layered = is->flags & (VMM_ARRAY3D_LAYERED | VMM_ARRAY3D_CUBEMAP);
    uint64_t bytes = 0;
    memset(shape, 0, sizeof *shape);
    shape->element = element_of((unsigned)is->format, is->num_channels);
    shape->volume = is->depth && !layered;
    shape->layers = layered ? (unsigned)is->depth : 1;
    set_levels(is, mipmapped, asked, shape);
    for (unsigned i = 0; i < shape->levels; i++)
        bytes += memory_of(shape, i);
    shape->need = ceiling(padded(shape, bytes) * shape->layers, MODEL_TILE) * MODEL_TILE;
    if (!(is->flags & VMM_ARRAY3D_SPARSE))
        return;
    set_tile(shape);
    set_tail(shape);
}
