/* SPDX-License-Identifier: Apache-2.0 */
/* spans.h - ranges of numbers that do not overlap, in order, each with a value: what lies at this address?
 *
 *     spans_put(2, 8, a)      |aaaaaaaa|
 *     spans_put(4, 3, b)      |aa|bbb|aaa|           what lay there is cut, and the rest of it stays
 *     spans_at(5) -> 4, 3, b       spans_at(9) -> 7, 3, a       spans_from(0) -> 2, 2, a
 *
 * The ranges stand in blocks of at most SPANS_BLOCK, so a change moves the ranges of one block, however many there are, and a
 * search looks at the blocks' first numbers and then into one block. The block that was found last is tried first, so
 * sequential access needs no search. The caller does all locking, even for searches.
 *
 * Invariants (spans_check):
 *     first[i]     = the first number of block i, and blocks follow each other in that order
 *     count        = the ranges of all blocks; no block is empty, no range is empty, and none overlaps the next
 */
#ifndef CUVMM_SPANS_H
#define CUVMM_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPANS_BLOCK = 128, SPANS_SPARE = 2 };

struct span {
    uint64_t start, size; /* size 0: all 2^64 numbers, from 0 on */
    uint64_t value;       /* the caller's */
};

struct spans_block {
    size_t count;
    struct span span[SPANS_BLOCK];
};

/* Empty where it is zeroed. */
struct spans {
    struct spans_block **block;
    uint64_t *first;
    size_t blocks, room, count;
    size_t last;                             /* the block that was found last */
    struct spans_block *spare[SPANS_SPARE];  /* reserved in advance, so that a change cannot fail halfway */
    size_t spares;
};

/* Assigns the value to `size` numbers, beginning with start. A range that would pass the greatest number ends there; size is
 * not 0. Returns false, and changes nothing, when memory is exhausted. */
bool spans_put(struct spans *spans, uint64_t start, uint64_t size, uint64_t value);

/* The range that holds the number, and the first one that ends at or after it; NULL if there is none. Valid until the next
 * change; the value may be changed in place. */
struct span *spans_at(struct spans *spans, uint64_t number);
struct span *spans_from(struct spans *spans, uint64_t number);

/* The last number of a range. */
static inline uint64_t span_last(const struct span *span)
{
    return span->start + (span->size - 1);
}

/* Removes a range that spans_at or spans_from returned. */
void spans_drop(struct spans *spans, struct span *span);

void spans_clear(struct spans *spans);

/* Returns NULL, or a text that names the invariant that does not hold. */
const char *spans_check(const struct spans *spans);

#endif
