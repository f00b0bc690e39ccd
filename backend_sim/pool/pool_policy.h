/* SPDX-License-Identifier: Apache-2.0 */
/* pool_policy.h - the numbers and choices of memory pools, as measured on driver 580.159.04. A fact that changes is changed here.
 *
 *     an allocation takes     its size rounded up to POOL_UNIT
 *     a pool grows by         what the allocation lacks, rounded up to POOL_CHUNK
 *     an allocation looks     in memory that its own stream freed, then in free memory, then, as the pool's attributes allow, in
 *                             memory that other streams freed: freed before an event that the stream waited for, freed already,
 *                             or still to be freed, for which the stream then waits
 *     a call that waits for   a stream, an event or a context frees whole chunks down to the release threshold
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

/* What an allocation of size bytes takes, and by what a pool grows for it; 0 when there is no such number. */
static inline uint64_t pool_round(uint64_t size, uint64_t unit)
{
    return size > UINT64_MAX - (unit - 1) ? 0 : (size + unit - 1) / unit * unit;
}

#endif
