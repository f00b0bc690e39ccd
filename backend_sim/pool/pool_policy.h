/* SPDX-License-Identifier: Apache-2.0 */
/* pool_policy.h - the numbers of memory pools, as measured on driver 580.159.04 (conformance/recorded/facts/pools.c);
 * mempool_find chooses the addresses.
 *
 *     a pool has              one range of addresses, twice as long as its device's memory
 *     an allocation takes     its size rounded up to POOL_UNIT, and no alignment beyond that
 *     memory comes and goes   in chunks of POOL_CHUNK, each at a multiple of it from the range's start
 */
#ifndef SIM_POOL_POLICY_H
#define SIM_POOL_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define POOL_UNIT UINT64_C(512)
#define POOL_CHUNK (UINT64_C(32) << 20)

/* The attributes of a new pool. */
#define POOL_FOLLOW_EVENTS true
#define POOL_OPPORTUNISTIC true
#define POOL_INTERNAL true
#define POOL_THRESHOLD UINT64_C(0)

static inline uint64_t pool_round_down(uint64_t size, uint64_t unit)
{
    return size / unit * unit;
}

/* size rounded up; 0 on overflow. */
static inline uint64_t pool_round(uint64_t size, uint64_t unit)
{
    return size > UINT64_MAX - (unit - 1) ? 0 : pool_round_down(size + unit - 1, unit);
}

#endif
