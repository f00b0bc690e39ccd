/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_table.h"

#include <string.h>

#define TABLE_MAGIC UINT64_C(0x316c6f6f706d7663)

/* The first row of the block, and the others. */
struct head {
    uint64_t magic, chunk, size;
    int32_t type, id;
};

struct row {
    uint64_t number, nonce[2], index;
};

static uint64_t size_of(const struct pool_table *table)
{
    return sizeof(struct row) * (1 + table->size / table->chunk);
}

/* A row is contiguous, because its size divides the page size. All rows have been written. */
static void get(const struct sim_block *block, uint64_t row, void *to)
{
    uint64_t length = sizeof(struct row);
    memcpy(to, block_data_run(&block->bytes, row * sizeof(struct row), &length), sizeof(struct row));
}

static void put(const struct sim_block *block, uint64_t row, const void *from)
{
    uint64_t length = sizeof(struct row);
    memcpy(block_data_run(&block->bytes, row * sizeof(struct row), &length), from, sizeof(struct row));
}

struct sim_block *pool_table_new(struct sim_machine *machine, const struct pool_table *table, vmm_mem_allocation_handle_type types)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .requested_handle_types = types};
    const struct head head = {TABLE_MAGIC, table->chunk, table->size, table->place.type, table->place.id};
    const uint64_t mark = sim_blocks_mark(machine);
    struct sim_block *block = sim_block_new(machine, size_of(table), &prop);
    if (!block)
        return NULL;
    if (!block_data_touch(&block->bytes, 0, block->size)) {
        sim_block_drop(machine, block);
        sim_blocks_undo(machine, mark);
        return NULL;
    }
    put(block, 0, &head);
    return block;
}

bool pool_table_read(const struct sim_block *block, struct pool_table *table)
{
    struct head head;
    get(block, 0, &head);
    *table = (struct pool_table){head.chunk, head.size, {head.type, head.id}};
    return head.magic == TABLE_MAGIC && table->chunk && table->size % table->chunk == 0 &&
           table->size / table->chunk < block->size / sizeof(struct row) && size_of(table) == block->size;
}

struct share_label pool_table_label(const struct sim_block *block, uint64_t chunk)
{
    struct row row;
    get(block, 1 + chunk, &row);
    return (struct share_label){block->share->folder.state->id, row.number, {row.nonce[0], row.nonce[1]}, (uint32_t)row.index};
}

void pool_table_set(const struct sim_block *block, uint64_t chunk, const struct share_label *label)
{
    const struct row row = {label->number, {label->nonce[0], label->nonce[1]}, label->index};
    put(block, 1 + chunk, &row);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t pool_pointer_check(const struct sim_block *table, uint64_t offset, uint64_t size)
{
    return mix(mix(mix(mix(TABLE_MAGIC, table->share->folder.state->id), table->shared), offset), size);
}

uint64_t pool_pointer_add(uint64_t check, const struct share_label *label)
{
    return mix(mix(mix(mix(check, label->number), label->nonce[0]), label->nonce[1]), label->index);
}
