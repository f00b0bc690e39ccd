/* SPDX-License-Identifier: Apache-2.0 */
/* free_ranges_parts.h - the inside of free_ranges.h: free_ranges.c changes the tree, free_ranges_check.c checks it. */
#ifndef SIM_FREE_RANGES_PARTS_H
#define SIM_FREE_RANGES_PARTS_H

#include "free_ranges.h"

struct hole {
    uint64_t start, size;
    uint64_t largest; /* in this node and below */
    uint64_t weight;  /* a parent's is the greater one: keeps the tree flat (a treap) */
    struct hole *left, *right;
};

#endif
