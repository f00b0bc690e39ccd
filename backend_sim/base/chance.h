/* SPDX-License-Identifier: Apache-2.0 */
/* chance.h - pseudo-random numbers from a seed: splitmix64, small, and the same on every platform.
 *
 *     chance_next   state 7 -> a, b, c, ...                a sequence
 *     chance_of     (a, 3), (a, 5) -> two numbers          a hash: equal arguments always give the same number
 */
#ifndef SIM_CHANCE_H
#define SIM_CHANCE_H

#include <stdint.h>

static inline uint64_t chance_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t chance_of(uint64_t of, uint64_t place)
{
    uint64_t state = of;
    state = chance_next(&state) ^ place;
    return chance_next(&state);
}

#endif
