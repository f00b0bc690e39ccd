/* SPDX-License-Identifier: Apache-2.0 */
/* array_shape.h - which descriptors a driver accepts for arrays.
 *
 *     format and channels   element or block of elements: bytes
 *     width height depth    1D [w]    2D [w h]    3D [w h d]    LAYERED: d layers of [w] or [w h]    CUBEMAP: 6 faces of [w w]
 *
 * Sizes count modulo 2^32, as in the driver.
 */
#ifndef SIM_ARRAY_SHAPE_H
#define SIM_ARRAY_SHAPE_H

#include <stdbool.h>

#include "vmm.h"

/* The unit of storage: an element, or a block of compressed elements. bytes is 0 for an unknown format. */
struct array_block {
    unsigned bytes, width, height;
};

struct array_block array_block_of(vmm_array_format format, unsigned channels);

/* What is wrong with a descriptor. */
enum array_wrong {
    ARRAY_RIGHT,
    ARRAY_WRONG_SURFACE, /* surfaces of compressed elements */
    ARRAY_WRONG_FORMAT,
    ARRAY_WRONG_FLAGS,
    ARRAY_WRONG_SHAPE,
    ARRAY_WRONG_SPARSE,
    ARRAY_WRONG_SIZE
};

/* The descriptor with its sizes as a driver interprets them. */
vmm_array3d_descriptor array_taken(const vmm_array3d_descriptor *asked);

/* is: of array_taken. */
enum array_wrong array_check(const vmm_array3d_descriptor *is, bool mipmapped);

#endif
