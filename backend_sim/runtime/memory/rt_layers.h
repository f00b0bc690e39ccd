/* SPDX-License-Identifier: Apache-2.0 */
/* rt_layers.h - what the runtime and the driver call the same: the kind of a copy, and a copy of layers.
 *
 *     cudaMemcpyHostToDevice       <->  HOST, DEVICE       types of memory of the source and of the destination
 *     struct cudaMemcpy3DParms      ->  CUDA_MEMCPY3D      field by field
 */
#ifndef SIM_RUNTIME_RT_LAYERS_H
#define SIM_RUNTIME_RT_LAYERS_H

#include "rt.h"

/* What the kind says of the source and of the destination; false when it is none. */
bool rt_sides(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to);

/* One side of a copy of layers: an array or a pointer, of which there must not be both. An array is nowhere but on a device, whatever
 * the kind says. cudaErrorInvalidPitchValue for a pitch shorter than a row and for layers of fewer rows than are copied, where there is
 * a second row or layer. */
cudaError_t rt_side(cudaArray_t array, struct cudaPitchedPtr pitched, struct cudaExtent extent, CUmemorytype *type);

/* The driver's form of a copy. cudaErrorInvalidMemcpyDirection when its kind is none; else what rt_side says of its sides. */
cudaError_t rt_layers(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *driver);

#endif
