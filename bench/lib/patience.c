/* SPDX-License-Identifier: Apache-2.0 */
#include "patience.h"

#include <stddef.h>

/* Below 16 ns each length has its own bucket; from there on each octave has 8. */
static unsigned place_of(uint64_t nanoseconds)
{
    unsigned octave = 0;
    while (nanoseconds >> octave >= 2 * PATIENCE_PER_OCTAVE && octave < PATIENCE_OCTAVES - 2)
        octave++;
    uint64_t within = nanoseconds >> octave;
    if (within >= 2 * PATIENCE_PER_OCTAVE)
        within = 2 * PATIENCE_PER_OCTAVE - 1;
    return octave * PATIENCE_PER_OCTAVE + (unsigned)within;
}

/* The first length of the next bucket. */
static double end_of(unsigned place)
{
    unsigned octave = place < 2 * PATIENCE_PER_OCTAVE ? 0 : place / PATIENCE_PER_OCTAVE - 1;
    return (double)((place + 1 - octave * PATIENCE_PER_OCTAVE) * (UINT64_C(1) << octave));
}

void patience_note(struct patience *patience, uint64_t nanoseconds)
{
    patience->count[place_of(nanoseconds)]++;
    patience->all++;
}

void patience_add(struct patience *patience, const struct patience *more)
{
    for (size_t i = 0; i < sizeof more->count / sizeof more->count[0]; i++)
        patience->count[i] += more->count[i];
    patience->all += more->all;
}

double patience_within(const struct patience *patience, double share)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < PATIENCE_OCTAVES * PATIENCE_PER_OCTAVE; i++) {
        seen += patience->count[i];
        if (seen && (double)seen >= share * (double)patience->all)
            return end_of(i);
    }
    return 0;
}
