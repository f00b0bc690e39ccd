/* SPDX-License-Identifier: Apache-2.0 */
/* pools.h - the memory pools of a process: their addresses, the physical memory behind them, and the allocations in them.
 *
 *     cuMemPoolCreate                VA  [ P1: as many addresses as two devices' memory .................. ]
 *     cuMemAllocAsync(40 MiB, S)         [ A1 40 MiB | free ............................................. ]
 *                                memory  [ chunk 32 MiB | chunk 32 MiB ]
 *     cuMemFreeAsync(A1, S)              [ pending ... | free ........................................... ]
 *     cuStreamSynchronize(S)             [ free ......................................................... ]   no chunk is left
 *
 * A chunk is one block, charged to its location like any other. A chunk of host memory is shown at its addresses, where the host
 * window backs them, from the first allocation in it on. All functions: under the machine's lock.
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

/* Makes a pool, whose value is in the table from now on. NULL, with nothing changed, when addresses, values or the host's memory
 * are out. */
struct sim_pool *sim_pool_new(struct sim_process *process, const vmm_mem_pool_props *props, struct sim_origin made);

/* The chunks behind the memory of a device's graphs (graph_memory.h), as a pool without regions and without a value, which keeps its
 * memory. NULL when addresses or the host's memory are out. */
struct sim_pool *sim_pool_for_graphs(struct sim_process *process, int device);

/* ---- pools and other processes ----
 *
 *     exporter   P1 [ A1 | free | A2 ....... ]  chunks: blocks 7, 8        table: block 6, which a descriptor names
 *     importer   P1'[    |      | A2'....... ]  the same blocks, as far as pointers were imported, at the same places of the range
 *
 * The importer holds the table and its chunks on its own: both outlive the exporter's frees, its pool, and the exporter. */

/* Makes a pool by the table of another, of this process or not, and takes over the caller's holder of it. NULL, with nothing
 * changed, as for sim_pool_new. */
struct sim_pool *sim_pool_import(struct sim_process *process, struct sim_block *table, const struct pool_table *like,
                                 struct sim_origin made);
/* The pool that was imported by that table; NULL: none. */
struct sim_pool *sim_pool_imported(const struct sim_process *process, const struct sim_block *table);

/* Puts the chunks of an allocation into the table of its pool, with the state's lock. Returns NULL, or the reason for a failure. */
const char *sim_piece_export(const struct sim_process *process, const struct sim_piece *piece, struct pool_pointer *pointer);

enum pool_import {
    POOL_IMPORT_DONE,
    POOL_IMPORT_UNKNOWN, /* no allocation that the pool's exporter exported, or its memory has ended */
    POOL_IMPORT_TAKEN,   /* the importer still has another allocation there */
    POOL_IMPORT_SYSTEM,  /* why */
    POOL_IMPORT_HOST_MEMORY
};

/* Enters an exported allocation into an imported pool, or finds it there. With the lock of the table's state. All answers but the
 * first have changed nothing. */
enum pool_import sim_piece_import(struct sim_process *process, struct sim_pool *pool, const struct pool_pointer *pointer,
                                  struct sim_origin made, uint64_t *address, char why[SHARE_WHY]);

/* The pools of a location, which is valid, made on first use. NULL when addresses, values or the host's memory are out. */
struct sim_pools *sim_pools_of(struct sim_process *process, vmm_mem_location location);

/* The live pool of a value, or NULL; *ended: the pool that had it, if it is remembered. */
struct sim_pool *sim_pool_find(const struct sim_process *process, uint64_t value, struct sim_pool **ended);

/* Ends the value. Where the pool is some location's current one, that location's own pool becomes current. */
void sim_pool_destroy(struct sim_process *process, struct sim_pool *pool, struct sim_origin ended);

/* The bytes of physical memory that the pool lacks for the range, after it has moved what is idle: what its device must have left. */
uint64_t sim_pool_lacks(const struct sim_pool *pool, uint64_t start, uint64_t size);
/* Gives every chunk of a free range memory: idle memory of the pool first, then new memory of the device, which has enough. False,
 * with nothing changed, when the host's memory is out. */
bool sim_pool_back(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size);
/* Takes back the new memory that sim_pool_back gave the range since sim_blocks_mark; nothing is allocated there. */
void sim_pool_unback(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size, uint64_t mark);

/* The same for a range some of which has memory, and pins all of it. */
bool sim_pool_back_pinned(struct sim_process *process, struct sim_pool *pool, uint64_t start, uint64_t size);

/* As sim_machine_room; where that is too little, the pools of the same memory free their idle chunks first, also where these do not
 * suffice (as measured). */
uint64_t sim_pools_room(struct sim_process *process, vmm_mem_location location, uint64_t wanted);
/* The pool may not grow: the other pools of the same memory free their idle chunks, as measured. */
void sim_pools_trim_beside(struct sim_process *process, const struct sim_pool *pool);

/* Frees idle chunks, the last ones first, until at most keep bytes are left. */
void sim_pool_trim(struct sim_process *process, struct sim_pool *pool, uint64_t keep);
/* After a wait: frees for all what is pending and wanted accepts. Where there was any, every pool of the same device's memory is trimmed
 * to its threshold, as measured on two devices, and the destroyed ones that nothing uses end. met: so is each
 * pool whose threshold was lowered, whatever the wait sees. */
void sim_pools_return(struct sim_process *process, bool met, bool (*wanted)(void *user, const struct region *region), void *user);

/* Enters an allocation of the low part of a region, all of which has memory. NULL, with nothing changed, when the host's memory is
 * out. */
struct sim_piece *sim_piece_new(struct sim_process *process, struct sim_pool *pool, struct region *region, uint64_t size,
                                const struct queue_place *place, struct sim_origin made);
/* Removes it from the addresses; its region is the caller's. */
struct region *sim_piece_end(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended);
/* Frees it for all at once (cuMemFree). */
void sim_piece_free(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended);

/* At the end of a process. */
void sim_pools_end(struct sim_process *process);
/* For the table of values: it no longer keeps this pool. */
void sim_pool_forget(void *user, void *pool);

const char *sim_pools_check(const struct sim_process *process);
/* Only one pool, without its regions; only one allocation. */
const char *sim_pool_check(const struct sim_process *process, const struct sim_pool *pool);
const char *sim_piece_check(const struct sim_process *process, const struct sim_piece *piece);

#endif
