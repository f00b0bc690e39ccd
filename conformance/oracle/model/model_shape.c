/* SPDX-License-Identifier: Apache-2.0 */
/* model_shape.c - what a driver makes of an array's descriptor: may it be made, its levels, tiles, mip tail and memory. See
 * model_array.h. All of it as recorded (facts/arrays.c). */
#include <string.h>

#include "model_array.h"

#define INVALID VMM_ERROR_INVALID_VALUE

/* Formats whose elements have several parts in one: number, channels, bytes, and elements each way in a block. */
static const unsigned formats[][4] = {
    {0x50, 4, 4, 1},
    {0x91, 4, 8, 4},  {0x92, 4, 8, 4},  {0x93, 4, 16, 4}, {0x94, 4, 16, 4}, {0x95, 4, 16, 4}, {0x96, 4, 16, 4}, {0x97, 1, 8, 4},
    {0x98, 1, 8, 4},  {0x99, 2, 16, 4}, {0x9a, 2, 16, 4}, {0x9b, 3, 16, 4}, {0x9c, 3, 16, 4}, {0x9d, 4, 16, 4}, {0x9e, 4, 16, 4},
    {0xc0, 1, 1, 1},  {0xc1, 2, 2, 1},  {0xc2, 4, 4, 1},  {0xc3, 1, 2, 1},  {0xc4, 2, 4, 1},  {0xc5, 4, 8, 1},
    {0xc6, 1, 1, 1},  {0xc7, 2, 2, 1},  {0xc8, 4, 4, 1},  {0xc9, 1, 2, 1},  {0xca, 2, 4, 1},  {0xcb, 4, 8, 1},
};

/* Bytes of an element or block, 0 where there is no such thing. */
static unsigned bytes_of(const vmm_array3d_descriptor *is, unsigned *wide)
{
    const int format = is->format;
    const unsigned channels = is->num_channels;
    unsigned one = 0;
    *wide = 1;
    if (format == 0x01 || format == 0x08)
        one = 1;
    if (format == 0x02 || format == 0x09 || format == 0x10)
        one = 2;
    if (format == 0x03 || format == 0x0a || format == 0x20)
        one = 4;
    if (one)
        return channels == 1 || channels == 2 || channels == 4 ? one * channels : 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if ((int)formats[i][0] == format && formats[i][1] == channels) {
            *wide = formats[i][3];
            return formats[i][2];
        }
    return 0;
}

/* ---- what is forbidden ---- */

enum { LAYERED = 1, SURFACE = 2, CUBEMAP = 4, GATHER = 8, SPARSE = 0x40, DEFERRED = 0x80, VIDEO = 0x100 };

static bool flags_forbidden(const vmm_array3d_descriptor *is)
{
    const unsigned known = LAYERED | SURFACE | CUBEMAP | GATHER | SPARSE | DEFERRED | VIDEO;
    const bool silent = is->flags == 0x80000000u && is->height && !is->depth;
    return (is->flags & ~known) && !silent;
}

static bool shape_forbidden(const vmm_array3d_descriptor *is, unsigned wide)
{
    const unsigned f = is->flags;
    if (!is->width || (wide > 1 && !is->height))
        return true;
    if (f & LAYERED ? !is->depth : is->depth && !is->height)
        return true;
    if ((f & CUBEMAP) && (is->width != is->height || !is->depth || is->depth % 6 || (!(f & LAYERED) && is->depth > 6)))
        return true;
    return (f & GATHER) && (!is->height || is->depth);
}

static bool size_forbidden(const vmm_array3d_descriptor *is, bool mipmapped)
{
    const uint64_t w = is->width, h = is->height, d = is->depth;
    const unsigned f = is->flags;
    if (f & (LAYERED | CUBEMAP))
        return w > 32768 || h > 32768 || d > (f & CUBEMAP ? (f & LAYERED ? 2046 : 6) : 2048);
    if (d) {
        const bool cube = w <= 16384 && h <= 16384 && d <= 16384, deep = w <= 8192 && h <= 8192 && d <= 32768 && !(f & SURFACE);
        return !cube && !deep;
    }
    if (h)
        return mipmapped || (f & GATHER) ? w > 32768 || h > 32768 : w > 131072 || h > 65536;
    return w > (mipmapped || (f & SURFACE) ? 32768u : 131072u);
}

const char *model_shape_forbidden(const vmm_array3d_descriptor *is, bool mipmapped, vmm_result *result)
{
    unsigned wide;
    const unsigned bytes = bytes_of(is, &wide);
    *result = INVALID;
    if (wide > 1 && (is->flags & SURFACE)) {
        *result = VMM_ERROR_NOT_SUPPORTED;
        return "VMM-ARRAY-SURFACE";
    }
    if (!bytes)
        return "VMM-ARRAY-FORMAT";
    if (flags_forbidden(is))
        return "VMM-ARRAY-FLAGS";
    if (shape_forbidden(is, wide))
        return "VMM-ARRAY-SHAPE";
    if ((is->flags & SPARSE) && (!is->height || (is->flags & (SURFACE | CUBEMAP | DEFERRED))))
        return "VMM-ARRAY-SPARSE";
    return size_forbidden(is, mipmapped) ? "VMM-ARRAY-SIZE" : NULL;
}

/* ---- what follows ---- */

static uint64_t ceiling(uint64_t size, uint64_t unit)
{
    return size % unit ? size - size % unit + unit : size;
}

/* The least n of at most `most` for which unit << n holds the size. */
static unsigned doublings(uint64_t size, uint64_t unit, unsigned most)
{
    unsigned n = 0;
    while (n < most && unit << n < size)
        n++;
    return n;
}

/* A level's memory, in pieces of 64 bytes by 8 << *y rows by 1 << *z layers. */
static uint64_t level_memory(const struct model_shape *s, unsigned level, bool in_tail, uint64_t *piece)
{
    const uint64_t row = ceiling(s->size[level][0], s->wide) / s->wide * s->bytes, rows = ceiling(s->size[level][1], s->wide) / s->wide;
    const uint64_t deep = s->size[level][2];
    unsigned y = doublings(rows, 8, s->volume ? 2 : 4);
    const unsigned z = s->volume ? doublings(deep, 1, 4) : 0;
    for (; s->volume && !in_tail && y && ceiling(rows, (uint64_t)8 << y) > ceiling(rows, 8); y--)
        ;
    *piece = (uint64_t)512 << y << z;
    return ceiling(row, 64) * ceiling(rows, (uint64_t)8 << y) * ceiling(deep, (uint64_t)1 << z);
}

static void set_tiles(struct model_shape *s)
{
    const unsigned power = doublings(s->bytes, 1, 4); /* of the bytes of an element: 1, 2, 4, 8, 16 */
    s->tile[0] = s->volume ? 64u >> ((power >= 1) + (power >= 4)) : 256u >> (power / 2); /* x halves first, then z, y, x */
    s->tile[1] = s->volume ? 32u >> (power >= 3) : 256u >> ((power + 1) / 2);
    s->tile[2] = s->volume ? 32u >> (power >= 2) : 1;
    s->tile[0] *= s->wide;
    s->tile[1] *= s->wide;
}

static void set_tail(struct model_shape *s)
{
    uint64_t sum = 0, piece = 0, first = 0;
    while (s->tail_from < s->levels && s->size[s->tail_from][0] >= s->tile[0] && s->size[s->tail_from][1] >= s->tile[1] &&
           s->size[s->tail_from][2] >= s->tile[2])
        s->tail_from++;
    if (s->tail_from == s->levels)
        return;
    for (unsigned i = s->tail_from; i < s->levels; i++) {
        sum += level_memory(s, i, true, &piece);
        first = i ? first : piece;
    }
    s->single = s->tail_from == 0;
    if (s->single && s->layers > 1)
        sum = ceiling(sum, first);
    s->tail = ceiling(s->single ? sum * s->layers : sum, MODEL_TILE);
}

void model_shape_of(const vmm_array3d_descriptor *is, bool mipmapped, unsigned levels, struct model_shape *s)
{
    const bool layered = (is->flags & (LAYERED | CUBEMAP)) != 0;
    uint64_t largest = is->width > is->height ? is->width : is->height, sum = 0, piece = 0, first = 0;
    memset(s, 0, sizeof *s);
    s->bytes = bytes_of(is, &s->wide);
    s->volume = is->depth && !layered;
    s->layers = layered ? (unsigned)is->depth : 1;
    if (s->volume && is->depth > largest)
        largest = is->depth;
    s->levels = 1;
    while (mipmapped && s->levels < levels && largest >> s->levels)
        s->levels++;
    for (unsigned i = 0; i < s->levels; i++) {
        const uint64_t full[3] = {is->width, is->height, s->volume ? is->depth : 1};
        for (int k = 0; k < 3; k++)
            s->size[i][k] = full[k] >> i ? (uint32_t)(full[k] >> i) : 1;
        sum += level_memory(s, i, false, &piece);
        first = i ? first : piece;
    }
    s->need = ceiling(ceiling(sum, first) * s->layers, MODEL_TILE);
    s->tail_from = 0;
    if (is->flags & SPARSE) {
        set_tiles(s);
        set_tail(s);
    }
}
