/* SPDX-License-Identifier: Apache-2.0 */
/* pools.h - the memory pools of a process: their addresses, the physical memory behind them, and the allocations in them.
 *
 *     cuMemPoolCreate                VA  [ P1: as many addresses as two devices' memory .................. ]
 *     cuMemAllocAsync(40 MiB, S)         [ A1 40 MiB | free ............................................. ]
 *                                memory  [ chunk 32 MiB | chunk 32 MiB ]
 *     cuMemFreeAsync(A1, S)              [ pending ... | free ........................................... ]
 *     cuStreamSynchronize(S)             [ free ......................................................... ]   no chunk is left
 *
 * A chunk is one block, charged to its location like any other. A chunk of host memory is shown at its addresses, if
 * the host window backs them, from its first allocation on. All functions: under the machine's lock.
 *
 * Invariants (sim_pools_check):
 *     each pool            satisfies mempool_check; its range is in pool_ranges, and its chunks are those of chunks that name it
 *     a live region        has a piece of the same start in pieces, and the other way round
 *     a pool's value       is live exactly while it is not destroyed; a destroyed pool has live or pending regions
 *     own, current         are live pools of that location, or NULL; current is NULL exactly when own is
 */
#ifndef SIM_POOLS_H
#define SIM_POOLS_H

#include "pool_table.h"
#include "process.h"

/* Creates a pool and enters its value into the table. NULL, with nothing changed, when addresses, values or host
 * memory are exhausted. */
struct sim_pool *sim_pool_new(struct sim_process *process, const vmm_mem_pool_props *props, struct sim_origin made);

/* The chunks of a device's graph memory (graph_memory.h), as a pool without regions or a value, which keeps its
 * memory. NULL when addresses or host memory are exhausted. */
struct sim_pool *sim_pool_for_graphs(struct sim_process *process, int device);

/* ---- pools and other processes ----
 *
 *     exporter   P1 [ A1 | free | A2 ....... ]  chunks: blocks 7, 8        table: block 6, which a descriptor names
 *     importer   P1'[    |      | A2'....... ]  the same blocks, as far as pointers were imported, at the same places of the range
 *
 * The importer has its own holds of the table and the chunks: both outlive the exporter's frees, its pool, and the exporter. */

/* Creates a pool from another pool's table, of this or another process, and takes over the caller's hold of the table. NULL,
 * with nothing changed, like sim_pool_new. */
struct sim_pool *sim_pool_import(struct sim_process *process, struct sim_block *table, const struct pool_table *like,
                                 struct sim_origin made);
/* The pool imported from that table; NULL: none. */
struct sim_pool *sim_pool_imported(const struct sim_process *process, const struct sim_block *table);

/* Writes the chunks of an allocation into its pool's table, with the state's lock. Returns NULL, or the reason for a failure. */
const char *sim_piece_export(const struct sim_process *process, const struct sim_piece *piece, struct pool_pointer *pointer);

enum pool_import {
    POOL_IMPORT_DONE,
    POOL_IMPORT_UNKNOWN, /* not an allocation that the pool's exporter exported, or its memory was freed */
    POOL_IMPORT_TAKEN,   /* the importer still has another allocation there */
    POOL_IMPORT_SYSTEM,  /* why */
    POOL_IMPORT_HOST_MEMORY
};

/* Enters an exported allocation into an imported pool, or finds it there. With the lock of the table's state. Only the
 * first result has changed anything. */
enum pool_import sim_piece_import(struct sim_process *process, struct sim_pool *pool, const struct pool_pointer *pointer,
                                  struct sim_origin made, uint64_t *address, char why[SHARE_WHY]);

/* The pools of a valid location, created on first use. NULL when addresses, values or host memory are exhausted. */
struct sim_pools *sim_pools_of(struct sim_process *process, vmm_mem_location location);

/* The live pool with a value, or NULL; *ended: the destroyed pool with that value, if still recorded. */
struct sim_pool *sim_pool_find(const struct sim_process *process, uint64_t value, struct sim_pool **ended);

/* Ends the value. If the pool is a location's current one, that location's default pool becomes current. */
void sim_pool_destroy(struct sim_process *process, struct sim_pool *pool, struct sim_origin ended);

/* The physical memory that the pool lacks for the range after moving idle chunks: the device must have this much. */
uint64_t sim_pool_lacks(const struct sim_pool *pool, uint64_t start, uint64_t size);
/* Backs every chunk of a free range: first with idle memory of the pool, then with new memory of the device, which
 * must suffice. False, with nothing changed, when the host's memory is out. */
bool sim_pool_back(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size);
/* Removes the new memory that sim_pool_back added to the range since sim_blocks_mark; nothing may be allocated there. */
void sim_pool_unback(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size, uint64_t mark);

/* The same for a partially backed range; pins all of it. */
bool sim_pool_back_pinned(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size);

/* Like sim_machine_room; if that is too little, the pools of the same memory first free their idle chunks, even if
 * those do not suffice (as measured). */
uint64_t sim_pools_room(struct sim_process *process, vmm_mem_location location, uint64_t wanted);
/* The pool cannot grow: the other pools of the same memory free their idle chunks, as measured. */
void sim_pools_trim_beside(struct sim_process *process, const struct sim_pool *pool);

/* Frees idle chunks, the last ones first, until at most keep bytes are left. */
void sim_pool_trim(struct sim_process *process, struct sim_pool *pool, uint64_t keep);
/* After a wait: makes pending regions that `wanted` accepts free for all streams. If there were any, every pool of
 * the same device's memory is trimmed to its threshold, as measured on two devices, and unused destroyed pools end.
 * met: pools with a lowered threshold are trimmed in any case. */
void sim_pools_return(struct sim_process *process, bool met, bool (*wanted)(void *user, const struct region *region), void *user);

/* Records an allocation in the low part of a region, all of which must be backed. NULL, with nothing changed, when
 * the host's memory is out. */
struct sim_piece *sim_piece_new(struct sim_process *process, struct sim_pool *pool, struct region *region, uint64_t size,
                                const struct queue_place *place, struct sim_origin made);
/* Removes it from the addresses; the caller handles its region. */
struct region *sim_piece_end(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended);
/* Frees it for all streams at once (cuMemFree). */
void sim_piece_free(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended);

/* At the end of a process. */
void sim_pools_end(struct sim_process *process);
/* For the table of values, which no longer keeps this pool. */
void sim_pool_forget(void *user, void *pool);

const char *sim_pools_check(const struct sim_process *process);
/* Only one pool, without its regions; only one allocation. */
const char *sim_pool_check(const struct sim_process *process, const struct sim_pool *pool);
const char *sim_piece_check(const struct sim_process *process, const struct sim_piece *piece);

#endif
