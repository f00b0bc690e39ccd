/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - numbers for random tests: the same from the same seed on every machine (splitmix64).
 *
 * A random test prints its seed and reads another from CUVMM_SEED, so that a failure can be repeated. CUVMM_TEST_SCALE
 * sets its length as a percentage of CI's; `make check` sets 25.
 */
#ifndef CUVMM_RANDOM_H
#define CUVMM_RANDOM_H

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "tap.h"

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* 0 .. n - 1; n > 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return random_next(state) % n;
}

/* The seed of this run: CUVMM_SEED or the argument; prints it and how to run it again. */
static inline uint64_t random_seed(uint64_t seed)
{
    const char *text = getenv("CUVMM_SEED");
    if (text)
        seed = strtoull(text, NULL, 0);
    tap_note("seed %" PRIu64 "; run again with CUVMM_SEED=%" PRIu64, seed, seed);
    return seed;
}

/* n rounds, scaled by CUVMM_TEST_SCALE; at least one. */
static inline unsigned random_rounds(unsigned n)
{
    const char *text = getenv("CUVMM_TEST_SCALE");
    uint64_t percent = text && *text ? strtoull(text, NULL, 10) : 100, rounds = n * percent / 100;
    return rounds ? (unsigned)rounds : 1;
}

#endif
