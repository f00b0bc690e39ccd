/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_ptx.h - kernels/kernels.ptx, which nvcc made of kernels/kernels.cu, as the build puts it into tests and measurements. */
#ifndef CUVMM_KERNELS_PTX_H
#define CUVMM_KERNELS_PTX_H

#include <stddef.h>

extern const unsigned char kernels_ptx[]; /* ends in 0, which does not count */
extern const size_t kernels_ptx_size;

#endif
