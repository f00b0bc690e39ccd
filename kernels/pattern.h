/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - the words that pattern_write writes and pattern_verify expects, for C and for device code alike.
 *
 *     word i  =  scramble(base(seed) + i * step)         i counts words of 8 bytes from the start of the range
 *
 * No two positions of a range hold the same word, and no two seeds produce the same range, so memory that appears
 * at a wrong position, comes from an older write or is missing is detected and located.
 */
#ifndef KERNELS_PATTERN_H
#define KERNELS_PATTERN_H

#include <stdint.h>

#ifdef __CUDACC__
#define PATTERN_FUNCTION static __device__ __forceinline__
#else
#define PATTERN_FUNCTION static inline
#endif

#define PATTERN_STEP UINT64_C(0x9e3779b97f4a7c15)  /* odd, so that i * step never repeats */
#define PATTERN_MIX UINT64_C(0xd6e8feb86659fd93)   /* odd as well */

/* Every step is one-to-one: xor-shifts and multiplications by odd numbers are invertible. */
PATTERN_FUNCTION uint64_t pattern_scramble(uint64_t x)
{
    return (x ^ (x >> 31)) * PATTERN_MIX;
}

PATTERN_FUNCTION uint64_t pattern_base(uint64_t seed)
{
    seed = pattern_scramble(seed + PATTERN_STEP);
    return pattern_scramble(seed ^ (seed >> 29));
}

PATTERN_FUNCTION uint64_t pattern_word(uint64_t base, uint64_t i)
{
    return pattern_scramble(base + i * PATTERN_STEP);
}

/* The index of random_read's i-th word, below count. */
PATTERN_FUNCTION uint64_t pattern_place(uint64_t base, uint64_t i, uint64_t count)
{
    return (pattern_word(base, i) >> 16) % count;
}

#undef PATTERN_FUNCTION
#endif
