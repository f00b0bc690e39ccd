/* SPDX-License-Identifier: Apache-2.0 */
/* rt_layers.h - converts a copy's kind and a copy of boxes from the runtime's form to the driver's.
 *
 *     cudaMemcpyHostToDevice       <->  HOST, DEVICE       types of memory of the source and of the destination
 *     struct cudaMemcpy3DParms      ->  CUDA_MEMCPY3D      field by field; elements of an array -> bytes
 */
#ifndef SIM_RUNTIME_RT_LAYERS_H
#define SIM_RUNTIME_RT_LAYERS_H

#include "rt.h"

/* The memory types of source and destination for a kind; false if the kind is invalid. */
bool rt_sides(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to);

/* The driver's form of a copy. With an array, extent and offset are in its elements; the driver's are in bytes. An
 * array is always on a device, regardless of the kind.
 *
 *     cudaErrorInvalidMemcpyDirection    the kind is none
 *     cudaErrorInvalidValue              a side has an array and a pointer; two arrays of different elements
 *     cudaErrorInvalidPitchValue         a pitch shorter than a row, or layers of fewer rows than are copied, where there is a second row
 *                                        or layer
 *     else                               what the driver says of an array */
cudaError_t rt_layers(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *driver);

#endif
