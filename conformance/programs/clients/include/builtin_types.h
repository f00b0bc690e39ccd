/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_types.h - for clients compiled without the toolkit: what they use of its header of this name, the three sizes
 * of a grid or block. */
#ifndef CUVMM_CLIENTS_BUILTIN_TYPES_H
#define CUVMM_CLIENTS_BUILTIN_TYPES_H

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
#endif
};

#endif
