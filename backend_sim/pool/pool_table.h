/* SPDX-License-Identifier: Apache-2.0 */
/* pool_table.h - the data that an exported pool shares with importing processes, in a separate block.
 *
 *     the pool's table   [ size of a chunk, of the range, location | chunk 0 | chunk 1 | ... ]     a descriptor names this block
 *     of a chunk         its block's number, nonce and index in the shared state; number 0: no allocation in it was exported
 *     a pointer          [ offset | size | check over the table, offset, size and the chunks there ]   24 of the 64 bytes
 *
 * Only the exporter writes the table, under the state's lock. It belongs to no location (INVALID) and does not count
 * as memory use. The bytes may be forged: a reader copies them once, and a pointer's check covers all values that the
 * reader uses.
 */
#ifndef SIM_POOL_TABLE_H
#define SIM_POOL_TABLE_H

#include "machine.h"

struct pool_table {
    uint64_t chunk, size; /* of one, and of the whole range */
    vmm_mem_location place; /* ordinal in the machine, not in the process */
};

/* Is the block a table? */
static inline bool pool_table_is(const struct sim_block *block)
{
    /* analysers: null-dereference is wrong: an import that succeeded has its block */
    /* analysers: clang-analyzer-core.NullDereference is wrong, likewise */
    return block->prop.location.type == VMM_MEM_LOCATION_TYPE_INVALID && !block->team;
}

/* A block with one holder; types: the handle types it may be exported as. NULL when host memory is exhausted. */
struct sim_block *pool_table_new(struct sim_machine *machine, const struct pool_table *table, vmm_mem_allocation_handle_type types);

/* False if the bytes are not a table for that size. */
bool pool_table_read(const struct sim_block *block, struct pool_table *table);

/* The label of the chunk at an offset of the range; its number is 0 if the table has none. */
struct share_label pool_table_label(const struct sim_block *block, uint64_t chunk);
void pool_table_set(const struct sim_block *block, uint64_t chunk, const struct share_label *label);

/* An exported allocation. */
struct pool_pointer {
    uint64_t offset, size; /* in the pool's range; the requested size */
    uint64_t check;
};

/* The checksum of an allocation; the labels of its chunks are added one by one. */
uint64_t pool_pointer_check(const struct sim_block *table, uint64_t offset, uint64_t size);
uint64_t pool_pointer_add(uint64_t check, const struct share_label *label);

#endif
