/* SPDX-License-Identifier: Apache-2.0 */
/* pools.h - the memory pools of a process: their chunks among its addresses, and the allocations in them.
 *
 *     cuMemAllocAsync(2 MiB, S)      before  VA [ ............................ free ............................ ]
 *     the first of a pool            after   VA [ chunk of P1, 32 MiB:  A1 2 MiB | free 30 MiB ][ ..... free ..... ]
 *     cuMemFreeAsync(A1, S)                  VA [ chunk of P1:    pending 2 MiB | free 30 MiB ][ ..... free ..... ]
 *     cuStreamSynchronize(S)                 VA [ ............................ free ............................ ]
 *
 * Physical memory behind a chunk is one block, charged to the device like any other. All functions: under the machine's lock.
 *
 * Invariants (sim_pools_check):
 *     each pool            satisfies mempool_check; its chunks are those of process.chunks that name it
 *     a live region        has a piece of the same start in process.pieces, and the other way round
 *     a pool's value       is live exactly while it is not destroyed; a destroyed pool has live or pending regions
 *     own, current         are live pools of that device, or NULL; current is NULL exactly when own is
 */
#ifndef SIM_POOLS_H
#define SIM_POOLS_H

#include "process.h"

/* Makes a pool, whose value is in the table from now on. NULL, with nothing changed, when the host's memory or values are out. */
struct sim_pool *sim_pool_new(struct sim_process *process, const vmm_mem_pool_props *props, struct sim_origin made);

/* The pools of a device, made on first use. NULL when the host's memory is out. */
struct sim_pools *sim_pools_of(struct sim_process *process, int device);

/* The live pool of a value, or NULL; *ended: the pool that had it, if it is remembered. */
struct sim_pool *sim_pool_find(const struct sim_process *process, uint64_t value, struct sim_pool **ended);

/* Ends the value. Where the pool is some location's current one, that location's own pool becomes current. */
void sim_pool_destroy(struct sim_process *process, struct sim_pool *pool, struct sim_origin ended);

/* By how much a pool grows for an allocation of size bytes while room bytes are left; 0: they are too few. */
uint64_t sim_pool_growth(const struct sim_process *process, uint64_t size, uint64_t room);
/* Gives the pool a chunk of that size, for which there is room. False, with nothing changed, when addresses or the host's memory
 * are out. */
bool sim_pool_grow(struct sim_process *process, struct sim_pool *pool, uint64_t growth);

/* Frees whole chunks until at most keep bytes are left, or none is free as a whole. */
void sim_pool_trim(struct sim_process *process, struct sim_pool *pool, uint64_t keep);
/* After a call that waited: trims every pool to its threshold, and ends the destroyed ones that nothing uses. */
void sim_pools_trim(struct sim_process *process);
static inline void sim_pools_waited(struct sim_process *process)
{
    if (process->first_pool)
        sim_pools_trim(process);
}

/* Enters an allocation of a region that mempool_find found. NULL, with nothing changed, when the host's memory is out. */
struct sim_piece *sim_piece_new(struct sim_process *process, struct sim_pool *pool, struct region *region, uint64_t size,
                                const struct queue_place *place, struct sim_origin made);
/* Removes it from the addresses; its region is the caller's. */
struct region *sim_piece_end(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended);

/* At the end of a process. */
void sim_pools_end(struct sim_process *process);
/* For the table of values: it no longer keeps this pool. */
void sim_pool_forget(void *user, void *pool);

const char *sim_pools_check(const struct sim_process *process);
/* Only one pool, without its regions; only one allocation. */
const char *sim_pool_check(const struct sim_process *process, const struct sim_pool *pool);
const char *sim_piece_check(const struct sim_process *process, const struct sim_piece *piece);

#endif
