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

/* The driver's form of a copy. False, without the types of memory, when its kind is none. Nothing else is checked. */
bool rt_layers(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *driver);

#endif
