/* SPDX-License-Identifier: Apache-2.0 */
/* free_ranges_parts.h - internals shared by free_ranges.c, which changes the tree, and free_ranges_check.c, which checks it. */
#ifndef SIM_FREE_RANGES_PARTS_H
#define SIM_FREE_RANGES_PARTS_H

#include "free_ranges.h"

struct hole {
    uint64_t start, size;
    uint64_t largest; /* of this node and those below it */
    uint64_t weight;  /* a parent's weight is at least its children's, which keeps the tree shallow (a treap) */
    struct hole *left, *right;
};

#endif
