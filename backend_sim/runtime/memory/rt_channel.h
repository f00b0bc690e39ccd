/* SPDX-License-Identifier: Apache-2.0 */
/* rt_channel.h - element formats of arrays: channel descriptors of the runtime, formats of the driver.
 *
 *     {32, 32, 0, 0, Float}                       FLOAT, 2 channels        elements of 8 bytes
 *     {8, 8, 0, 0, UnsignedNormalized8X2}         UNORM_INT8X2             elements of 2 bytes
 *     {8, 8, 8, 8, UnsignedBlockCompressed1}      BC1_UNORM                blocks of 4 x 4 elements, 8 bytes each
 *
 * Source: CUDA Runtime API, version 13.0: 6.28 Texture Object Management, 7 cudaChannelFormatKind; the descriptors
 * that the toolkit's cudaCreateChannelDesc returns for each kind.
 */
#ifndef SIM_RUNTIME_RT_CHANNEL_H
#define SIM_RUNTIME_RT_CHANNEL_H

#include "rt.h"

/* The driver's format and channels; cudaErrorInvalidChannelDescriptor if there is none: another kind, or sizes that
 * do not match it. The driver checks the number of channels. */
cudaError_t rt_format(const struct cudaChannelFormatDesc *desc, CUarray_format *format, unsigned *channels);

/* The descriptor of a format; its kind is None if the runtime lacks the format. */
struct cudaChannelFormatDesc rt_channels(CUarray_format format, unsigned channels);

/* The unit of storage: an element, or a block of width x height compressed ones. bytes 0: the runtime lacks the format. */
struct rt_element {
    size_t bytes, width, height;
};

struct rt_element rt_element_of(CUarray_format format, unsigned channels);

#endif
