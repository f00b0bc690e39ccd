/* SPDX-License-Identifier: Apache-2.0 */
/* growing.h - an array that grows in place, as first versions of such code are: each mistake is one that a review could miss.
 *
 *     growing_extend(g, n)     before  base [piece 0].........      after  base [piece 0][piece 1, of n bytes].....
 */
#ifndef CHECKER_GROWING_H
#define CHECKER_GROWING_H

#include "buffer.h"

enum growing_mistake {
    GROWING_RIGHT,
    GROWING_CURSOR,     /* the next piece goes where this one is */
    GROWING_SIZE,       /* a piece has the requested size */
    GROWING_NO_RIGHTS,  /* only the first piece gets rights */
    GROWING_ONE_DEVICE, /* a second device gets none */
    GROWING_CUT,        /* shrinking cuts through a piece */
    GROWING_CLOSE,      /* the addresses are freed before the memory is unmapped */
    GROWING_NO_WAIT     /* memory is unmapped as soon as it is not needed */
};

enum { GROWING_PIECES = 8 };

struct growing {
    CUdeviceptr base;
    size_t reserved, used, piece[GROWING_PIECES];
    CUmemGenericAllocationHandle handle[GROWING_PIECES];
    unsigned int count;
    int devices;
    enum growing_mistake mistake;
};

void growing_open(struct growing *g, size_t reserved, int devices, enum growing_mistake mistake);
bool growing_extend(struct growing *g, size_t size);
/* Gives the last `size` bytes up. */
void growing_shrink(struct growing *g, size_t size);
void growing_close(struct growing *g);

/* Blocks out of one piece of memory, side by side in a reservation. `carve`: by mapping parts of the memory. */
struct slab {
    CUdeviceptr base;
    CUmemGenericAllocationHandle memory;
    size_t block;
    unsigned int blocks;
};

void slab_open(struct slab *s, unsigned int blocks, bool carve);
void slab_close(struct slab *s, bool carve);

/* Memory whose start is a multiple of `alignment`: inside a larger reservation, or by the reservation's own alignment. */
struct aligned {
    CUdeviceptr start, at;
    size_t reserved;
};

void aligned_open(struct aligned *a, size_t size, size_t alignment, bool inside);
void aligned_close(const struct aligned *a, CUdeviceptr given, size_t size);

#endif
