/* SPDX-License-Identifier: Apache-2.0 */
#include "array_shape.h"

#include <stddef.h>
#include <stdint.h>

/* Formats with separate components: bytes per component. */
static unsigned component(vmm_array_format format)
{
    switch (format) {
    case VMM_AD_FORMAT_UNSIGNED_INT8:
    case VMM_AD_FORMAT_SIGNED_INT8: return 1;
    case VMM_AD_FORMAT_UNSIGNED_INT16:
    case VMM_AD_FORMAT_SIGNED_INT16:
    case VMM_AD_FORMAT_HALF: return 2;
    case VMM_AD_FORMAT_UNSIGNED_INT32:
    case VMM_AD_FORMAT_SIGNED_INT32:
    case VMM_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

/* The other formats that a driver supports for arrays, each with its number of channels. Compressed ones have blocks of 4 x 4
 * elements. */
static const struct packed {
    unsigned char format, channels, bytes;
    bool compressed;
} packed[] = {
    {0x50, 4, 4, false},                                                /* UNORM_INT_101010_2 */
    {0x91, 4, 8, true},  {0x92, 4, 8, true},                            /* BC1 */
    {0x93, 4, 16, true}, {0x94, 4, 16, true},                           /* BC2 */
    {0x95, 4, 16, true}, {0x96, 4, 16, true},                           /* BC3 */
    {0x97, 1, 8, true},  {0x98, 1, 8, true},                            /* BC4 */
    {0x99, 2, 16, true}, {0x9a, 2, 16, true},                           /* BC5 */
    {0x9b, 3, 16, true}, {0x9c, 3, 16, true},                           /* BC6H */
    {0x9d, 4, 16, true}, {0x9e, 4, 16, true},                           /* BC7 */
    {0xc0, 1, 1, false}, {0xc1, 2, 2, false}, {0xc2, 4, 4, false},      /* UNORM_INT8 */
    {0xc3, 1, 2, false}, {0xc4, 2, 4, false}, {0xc5, 4, 8, false},      /* UNORM_INT16 */
    {0xc6, 1, 1, false}, {0xc7, 2, 2, false}, {0xc8, 4, 4, false},      /* SNORM_INT8 */
    {0xc9, 1, 2, false}, {0xca, 2, 4, false}, {0xcb, 4, 8, false},      /* SNORM_INT16 */
};

static const struct packed *packed_of(vmm_array_format format)
{
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        if (packed[i].format == (unsigned)format)
            return &packed[i];
    return NULL;
}

struct array_block array_block_of(vmm_array_format format, unsigned channels)
{
    const unsigned bytes = component(format);
    const struct packed *p = bytes ? NULL : packed_of(format);
    if (bytes)
        return (struct array_block){channels == 1 || channels == 2 || channels == 4 ? bytes * channels : 0, 1, 1};
    if (!p || p->channels != channels)
        return (struct array_block){0, 1, 1};
    return (struct array_block){p->bytes, p->compressed ? 4 : 1, p->compressed ? 4 : 1};
}

vmm_array3d_descriptor array_taken(const vmm_array3d_descriptor *asked)
{
    vmm_array3d_descriptor is = *asked;
    is.width = (uint32_t)is.width;
    is.height = (uint32_t)is.height;
    is.depth = (uint32_t)is.depth;
    return is;
}

#define KNOWN_FLAGS                                                                                                        \
    (VMM_ARRAY3D_LAYERED | VMM_ARRAY3D_SURFACE_LDST | VMM_ARRAY3D_CUBEMAP | VMM_ARRAY3D_TEXTURE_GATHER | VMM_ARRAY3D_SPARSE | \
     VMM_ARRAY3D_DEFERRED_MAPPING | VMM_ARRAY3D_VIDEO_ENCODE_DECODE)

/* Has no meaning, but is accepted for two dimensions, as recorded. */
#define SILENT_FLAG 0x80000000u

static bool has(const vmm_array3d_descriptor *is, unsigned flag)
{
    return (is->flags & flag) != 0;
}

static bool good_flags(const vmm_array3d_descriptor *is)
{
    return !(is->flags & ~(unsigned)KNOWN_FLAGS) || (is->flags == SILENT_FLAG && is->height && !is->depth);
}

static bool good_shape(const vmm_array3d_descriptor *is, bool compressed)
{
    const bool layered = has(is, VMM_ARRAY3D_LAYERED);
    if (!is->width || (layered && !is->depth) || (!layered && is->depth && !is->height) || (compressed && !is->height))
        return false;
    if (has(is, VMM_ARRAY3D_CUBEMAP) && (is->width != is->height || !is->depth || (layered ? is->depth % 6 != 0 : is->depth != 6)))
        return false;
    return !has(is, VMM_ARRAY3D_TEXTURE_GATHER) || (is->height && !is->depth);
}

static bool good_sparse(const vmm_array3d_descriptor *is)
{
    const unsigned never = VMM_ARRAY3D_SURFACE_LDST | VMM_ARRAY3D_CUBEMAP | VMM_ARRAY3D_DEFERRED_MAPPING;
    return !has(is, VMM_ARRAY3D_SPARSE) || (is->height && !has(is, never));
}

static bool within(const vmm_array3d_descriptor *is, size_t width, size_t height, size_t depth)
{
    return is->width <= width && is->height <= height && is->depth <= depth;
}

static bool good_size(const vmm_array3d_descriptor *is, bool mipmapped)
{
    const bool layered = has(is, VMM_ARRAY3D_LAYERED), surface = has(is, VMM_ARRAY3D_SURFACE_LDST);
    if (has(is, VMM_ARRAY3D_CUBEMAP))
        return within(is, 32768, 32768, layered ? 2046 : 6);
    if (layered)
        return within(is, 32768, 32768, 2048);
    if (is->depth)
        return within(is, 16384, 16384, 16384) || (!surface && within(is, 8192, 8192, 32768));
    if (is->height)
        return mipmapped || has(is, VMM_ARRAY3D_TEXTURE_GATHER) ? within(is, 32768, 32768, 0) : within(is, 131072, 65536, 0);
    return is->width <= (mipmapped || surface ? 32768 : 131072);
}

enum array_wrong array_check(const vmm_array3d_descriptor *is, bool mipmapped)
{
    const struct array_block block = array_block_of(is->format, is->num_channels);
    const bool compressed = block.width > 1;
    const bool surface = has(is, VMM_ARRAY3D_SURFACE_LDST);
    return !block.bytes                    ? ARRAY_WRONG_FORMAT
           : !good_flags(is)               ? ARRAY_WRONG_FLAGS
           : compressed && surface         ? ARRAY_WRONG_SURFACE
           : !good_shape(is, compressed)   ? ARRAY_WRONG_SHAPE
           : !good_sparse(is)              ? ARRAY_WRONG_SPARSE
           : !good_size(is, mipmapped)     ? ARRAY_WRONG_SIZE
                                           : ARRAY_RIGHT;
}
