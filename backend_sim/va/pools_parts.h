/* SPDX-License-Identifier: Apache-2.0 */
/* pools_parts.h - private to the implementation of pools.h. */
#ifndef SIM_POOLS_PARTS_H
#define SIM_POOLS_PARTS_H

#include "pool_table.h"
#include "pools.h"

/* Like sim_pool_new; like: gives the number of addresses, if that many are free, and the chunk size. */
struct sim_pool *sim_pool_begin(struct sim_process *process, const vmm_mem_pool_props *props, const struct pool_table *like,
                                struct sim_origin made);

/* A chunk in the process's addresses, without memory and in no pool yet; NULL when host memory is exhausted. The
 * second function ends it and drops its hold on the memory. */
struct mempool_chunk *sim_chunk_new(struct sim_process *process, uint64_t start, uint64_t size);
void sim_chunk_drop(struct sim_process *process, struct mempool_chunk *chunk);

#endif
