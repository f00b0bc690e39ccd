/* SPDX-License-Identifier: Apache-2.0 */
/* norm.h - the integer square root of the norm kernels, for C and device code alike.
 *
 *     root(24) = 4    root(25) = 5        rounded down, so that both sides leave the same bytes
 */
#ifndef KERNELS_NORM_H
#define KERNELS_NORM_H

#include <stdint.h>

#ifdef __CUDACC__
#define NORM_FUNCTION static __device__ __forceinline__
#else
#define NORM_FUNCTION static inline
#endif

/* Bit by bit from the highest that may be set. */
NORM_FUNCTION uint64_t norm_root(uint64_t square)
{
    uint64_t root = 0, left = square;
    for (uint64_t bit = UINT64_C(1) << 62; bit; bit >>= 2) {
        uint64_t step = root + bit;
        root >>= 1;
        if (left >= step) {
            left -= step;
            root += bit;
        }
    }
    return root;
}

#undef NORM_FUNCTION
#endif
