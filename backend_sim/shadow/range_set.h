/* SPDX-License-Identifier: Apache-2.0 */
/* range_set.h - a set of addresses as disjoint ranges that are not adjacent.
 *
 *   add [3, 6)      before  [0, 2) .... [5, 9)     after  [0, 2) . [3, 9)
 *   remove [4, 5)   before  [0, 2) . [3, 9)        after  [0, 2) . [3, 4) . [5, 9)
 *
 * The caller does all locking. Invariant (range_set_check): start < end of each, and end < start of the next.
 */
#ifndef CUVMM_SHADOW_RANGE_SET_H
#define CUVMM_SHADOW_RANGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t start, end;
};

struct range_set {
    struct range *range; /* in the order of addresses */
    size_t count, room;
};

void range_set_clear(struct range_set *set);
/* False, with nothing changed, when memory is exhausted. */
bool range_set_add(struct range_set *set, uint64_t start, uint64_t end);
/* If memory is exhausted when a range must be split in two, that range stays complete. */
void range_set_remove(struct range_set *set, uint64_t start, uint64_t end);
/* Is any address of [start, end) in the set? */
bool range_set_touches(const struct range_set *set, uint64_t start, uint64_t end);
const char *range_set_check(const struct range_set *set);

#endif
