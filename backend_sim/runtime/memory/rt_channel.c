/* SPDX-License-Identifier: Apache-2.0 */
#include "rt_channel.h"

#include <string.h>

/* Formats with equal channels, by kind and bits. */
static const struct {
    enum cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
} plain[] = {
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},       {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},     {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16}, {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},              {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

enum { PLAIN = sizeof plain / sizeof *plain };

/* Kinds with one format each: bytes of an element, or of a block of 4 x 4 compressed ones. For NV12, elements of its
 * first plane. */
#define KIND(name) cudaChannelFormatKind##name
static const struct packed {
    struct cudaChannelFormatDesc desc;
    CUarray_format format;
    unsigned char channels, bytes;
    bool compressed;
} packed[] = {
    {{8, 8, 8, 0, KIND(NV12)}, CU_AD_FORMAT_NV12, 3, 1, false},
    {{8, 0, 0, 0, KIND(UnsignedNormalized8X1)}, CU_AD_FORMAT_UNORM_INT8X1, 1, 1, false},
    {{8, 8, 0, 0, KIND(UnsignedNormalized8X2)}, CU_AD_FORMAT_UNORM_INT8X2, 2, 2, false},
    {{8, 8, 8, 8, KIND(UnsignedNormalized8X4)}, CU_AD_FORMAT_UNORM_INT8X4, 4, 4, false},
    {{16, 0, 0, 0, KIND(UnsignedNormalized16X1)}, CU_AD_FORMAT_UNORM_INT16X1, 1, 2, false},
    {{16, 16, 0, 0, KIND(UnsignedNormalized16X2)}, CU_AD_FORMAT_UNORM_INT16X2, 2, 4, false},
    {{16, 16, 16, 16, KIND(UnsignedNormalized16X4)}, CU_AD_FORMAT_UNORM_INT16X4, 4, 8, false},
    {{8, 0, 0, 0, KIND(SignedNormalized8X1)}, CU_AD_FORMAT_SNORM_INT8X1, 1, 1, false},
    {{8, 8, 0, 0, KIND(SignedNormalized8X2)}, CU_AD_FORMAT_SNORM_INT8X2, 2, 2, false},
    {{8, 8, 8, 8, KIND(SignedNormalized8X4)}, CU_AD_FORMAT_SNORM_INT8X4, 4, 4, false},
    {{16, 0, 0, 0, KIND(SignedNormalized16X1)}, CU_AD_FORMAT_SNORM_INT16X1, 1, 2, false},
    {{16, 16, 0, 0, KIND(SignedNormalized16X2)}, CU_AD_FORMAT_SNORM_INT16X2, 2, 4, false},
    {{16, 16, 16, 16, KIND(SignedNormalized16X4)}, CU_AD_FORMAT_SNORM_INT16X4, 4, 8, false},
    {{8, 8, 8, 8, KIND(UnsignedBlockCompressed1)}, CU_AD_FORMAT_BC1_UNORM, 4, 8, true},
    {{8, 8, 8, 8, KIND(UnsignedBlockCompressed1SRGB)}, CU_AD_FORMAT_BC1_UNORM_SRGB, 4, 8, true},
    {{8, 8, 8, 8, KIND(UnsignedBlockCompressed2)}, CU_AD_FORMAT_BC2_UNORM, 4, 16, true},
    {{8, 8, 8, 8, KIND(UnsignedBlockCompressed2SRGB)}, CU_AD_FORMAT_BC2_UNORM_SRGB, 4, 16, true},
    {{8, 8, 8, 8, KIND(UnsignedBlockCompressed3)}, CU_AD_FORMAT_BC3_UNORM, 4, 16, true},
    {{8, 8, 8, 8, KIND(UnsignedBlockCompressed3SRGB)}, CU_AD_FORMAT_BC3_UNORM_SRGB, 4, 16, true},
    {{8, 0, 0, 0, KIND(UnsignedBlockCompressed4)}, CU_AD_FORMAT_BC4_UNORM, 1, 8, true},
    {{8, 0, 0, 0, KIND(SignedBlockCompressed4)}, CU_AD_FORMAT_BC4_SNORM, 1, 8, true},
    {{8, 8, 0, 0, KIND(UnsignedBlockCompressed5)}, CU_AD_FORMAT_BC5_UNORM, 2, 16, true},
    {{8, 8, 0, 0, KIND(SignedBlockCompressed5)}, CU_AD_FORMAT_BC5_SNORM, 2, 16, true},
    {{16, 16, 16, 0, KIND(UnsignedBlockCompressed6H)}, CU_AD_FORMAT_BC6H_UF16, 3, 16, true},
    {{16, 16, 16, 0, KIND(SignedBlockCompressed6H)}, CU_AD_FORMAT_BC6H_SF16, 3, 16, true},
    {{8, 8, 8, 8, KIND(UnsignedBlockCompressed7)}, CU_AD_FORMAT_BC7_UNORM, 4, 16, true},
    {{8, 8, 8, 8, KIND(UnsignedBlockCompressed7SRGB)}, CU_AD_FORMAT_BC7_UNORM_SRGB, 4, 16, true},
    {{10, 10, 10, 2, KIND(UnsignedNormalized1010102)}, CU_AD_FORMAT_UNORM_INT_101010_2, 4, 4, false},
};

enum { PACKED = sizeof packed / sizeof *packed };

/* The number of channels with the first one's size if the others are 0; 0: other sizes. */
static unsigned alike(const struct cudaChannelFormatDesc *desc)
{
    const int bits[] = {desc->x, desc->y, desc->z, desc->w};
    unsigned count = 0, rest;
    while (count < 4 && bits[count] == bits[0])
        count++;
    for (rest = count; rest < 4 && !bits[rest]; rest++)
        ;
    return rest == 4 ? count : 0;
}

cudaError_t rt_format(const struct cudaChannelFormatDesc *desc, CUarray_format *format, unsigned *channels)
{
    for (size_t i = 0; i < PACKED; i++)
        if (memcmp(&packed[i].desc, desc, sizeof *desc) == 0) {
            *format = packed[i].format;
            *channels = packed[i].channels;
            return cudaSuccess;
        }
    const unsigned count = alike(desc);
    for (size_t i = 0; i < PLAIN; i++)
        if (plain[i].kind == desc->f && plain[i].bits == desc->x && count && count != 3) {
            *format = plain[i].format;
            *channels = count;
            return cudaSuccess;
        }
    return cudaErrorInvalidChannelDescriptor;
}

struct cudaChannelFormatDesc rt_channels(CUarray_format format, unsigned channels)
{
    for (size_t i = 0; i < PACKED; i++)
        if (packed[i].format == format)
            return packed[i].desc;
    for (size_t i = 0; i < PLAIN; i++)
        if (plain[i].format == format) {
            const int bits = plain[i].bits;
            return (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                                                  plain[i].kind};
        }
    return (struct cudaChannelFormatDesc){0, 0, 0, 0, cudaChannelFormatKindNone};
}

struct rt_element rt_element_of(CUarray_format format, unsigned channels)
{
    for (size_t i = 0; i < PACKED; i++)
        if (packed[i].format == format)
            return (struct rt_element){packed[i].bytes, packed[i].compressed ? 4 : 1, packed[i].compressed ? 4 : 1};
    return (struct rt_element){(size_t)rt_channels(format, 1).x / 8 * channels, 1, 1};
}

/* Like the toolkit's, it needs no driver. */
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}
