/* SPDX-License-Identifier: Apache-2.0 */
/* rt_layers.h - what the runtime and the driver call the same: the kind of a copy, and a copy of layers.
 *
 *     cudaMemcpyHostToDevice       <->  HOST, DEVICE       types of memory of the source and of the destination
 *     struct cudaMemcpy3DParms      ->  CUDA_MEMCPY3D      field by field; elements of an array -> bytes
 */
#ifndef SIM_RUNTIME_RT_LAYERS_H
#define SIM_RUNTIME_RT_LAYERS_H

#include "rt.h"

/* What the kind says of the source and of the destination; false when it is none. */
bool rt_sides(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to);

/* The driver's form of a copy. Where there is an array, the extent is in its elements, and so is the place in it: the driver's are in
 * bytes. An array is nowhere but on a device, whatever the kind says.
 *
 *     cudaErrorInvalidMemcpyDirection    the kind is none
 *     cudaErrorInvalidValue              a side has an array and a pointer; two arrays of different elements
 *     cudaErrorInvalidPitchValue         a pitch shorter than a row, or layers of fewer rows than are copied, where there is a second row
 *                                        or layer
 *     else                               what the driver says of an array */
cudaError_t rt_layers(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *driver);

#endif
