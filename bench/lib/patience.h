/* SPDX-License-Identifier: Apache-2.0 */
/* patience.h - how long calls took: a count for each length, and the length that a given share stayed within.
 *
 *   ..[ 36 ns: 912 ][ 40 ns: 70 ][ 44 ns: 8 ] .. [ 131 us: 2 ]      half within 40 ns, 99 of 100 within 48 ns
 *
 * Lengths are kept to an eighth of their size.
 */
#ifndef BENCH_PATIENCE_H
#define BENCH_PATIENCE_H

#include <stdint.h>

enum { PATIENCE_PER_OCTAVE = 8, PATIENCE_OCTAVES = 40 };

struct patience {
    uint64_t count[PATIENCE_OCTAVES * PATIENCE_PER_OCTAVE], all;
};

void patience_note(struct patience *patience, uint64_t nanoseconds);
void patience_add(struct patience *patience, const struct patience *more);
/* The nanoseconds that a share of them (0 to 1) took at most; 0 if there are none. */
double patience_within(const struct patience *patience, double share);

#endif
