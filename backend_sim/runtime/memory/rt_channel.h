/* SPDX-License-Identifier: Apache-2.0 */
/* rt_channel.h - what arrays consist of: channel descriptors of the runtime, formats of the driver.
 *
 *     {32, 32, 0, 0, Float}                       FLOAT, 2 channels        elements of 8 bytes
 *     {8, 8, 0, 0, UnsignedNormalized8X2}         UNORM_INT8X2             elements of 2 bytes
 *     {8, 8, 8, 8, UnsignedBlockCompressed1}      BC1_UNORM                blocks of 4 x 4 elements, 8 bytes each
 *
 * Source: CUDA Runtime API, version 13.0: 6.28 Texture Object Management, 7 cudaChannelFormatKind; the descriptors that the
 * toolkit's cudaCreateChannelDesc makes of each kind.
 */
#ifndef SIM_RUNTIME_RT_CHANNEL_H
#define SIM_RUNTIME_RT_CHANNEL_H

#include "rt.h"

/* The driver's format and channels; cudaErrorInvalidChannelDescriptor where it has none: another kind, or sizes that do not belong to
 * it. How many channels an array may have is the driver's to decide. */
cudaError_t rt_format(const struct cudaChannelFormatDesc *desc, CUarray_format *format, unsigned *channels);

/* The descriptor of a format: kind None where the runtime has none. */
struct cudaChannelFormatDesc rt_channels(CUarray_format format, unsigned channels);

/* What is stored as one: an element, or a block of width x height compressed ones. bytes 0: the runtime has no such format. */
struct rt_element {
    size_t bytes, width, height;
};

struct rt_element rt_element_of(CUarray_format format, unsigned channels);

#endif
