/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of other processes, and their exported allocations. */
#include <stdio.h>

#include "heap.h"
#include "pool_policy.h"
#include "pools_parts.h"

/* ---- the exporter ---- */

static uint64_t place_of(const struct mempool *memory, uint64_t address)
{
    return (address - memory->start) / memory->chunk;
}

const char *sim_piece_export(const struct sim_process *process, const struct sim_piece *piece, struct pool_pointer *pointer)
{
    const struct sim_allocation *a = &piece->allocation;
    const struct sim_pool *pool = piece->pool;
    struct sim_machine *machine = process->machine;
    const uint64_t first = place_of(&pool->memory, a->start), last = place_of(&pool->memory, a->start + a->span - 1);
    struct share_label label;
    *pointer = (struct pool_pointer){.offset = a->start - pool->start, .size = a->size};
    pointer->check = pool_pointer_check(pool->table, pointer->offset, pointer->size);
    for (uint64_t i = first; i <= last; i++) {
        const char *wrong = share_name(machine->share, machine, pool->memory.chunks[i]->block, &label);
        if (wrong)
            return wrong;
        pool_table_set(pool->table, i, &label);
        pointer->check = pool_pointer_add(pointer->check, &label);
    }
    return NULL;
}

/* ---- the importer's pool ---- */

struct sim_pool *sim_pool_import(struct sim_process *process, struct sim_block *table, const struct pool_table *like,
                                 struct sim_origin made)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = sim_machine_local(process->machine, like->place)};
    struct sim_pool *pool = sim_pool_begin(process, &props, like, made);
    if (!pool)
        return NULL;
    pool->imports = 1;
    pool->table = table;
    pool->memory.threshold = UINT64_MAX; /* measured: it keeps its imports until it is destroyed */
    return pool;
}

struct sim_pool *sim_pool_imported(const struct sim_process *process, const struct sim_block *table)
{
    struct sim_pool *pool = process->first_pool;
    while (pool && !(pool->imports && pool->table == table && !pool->destroyed))
        pool = pool->next;
    return pool;
}

/* ---- the importer's allocations ---- */

struct import {
    struct sim_process *process;
    struct sim_pool *pool;
    const struct pool_pointer *pointer;
    uint64_t start, span, first, last; /* addresses; the chunks by their places */
    struct mempool_chunk *made;        /* the memory that the pool obtains for it */
};

static bool plausible(struct import *import)
{
    const struct mempool *memory = &import->pool->memory;
    const struct pool_pointer *pointer = import->pointer;
    struct pool_table table;
    import->span = pool_round(pointer->size, POOL_UNIT);
    if (!pool_table_read(import->pool->table, &table) || !import->span || pointer->offset % POOL_UNIT ||
        pointer->offset >= table.size || import->span > table.size - pointer->offset)
        return false;
    import->start = import->pool->start + pointer->offset;
    import->first = place_of(memory, import->start);
    import->last = place_of(memory, import->start + import->span - 1);
    return true;
}

static struct mempool_chunk *chunk_at(const struct import *import, uint64_t place)
{
    const struct mempool *memory = &import->pool->memory;
    return mempool_chunk_at(memory, memory->start + place * memory->chunk);
}

/* Has the pool imported this memory before? */
static bool is_here(const struct import *import)
{
    uint64_t check = pool_pointer_check(import->pool->table, import->pointer->offset, import->pointer->size);
    for (uint64_t i = import->first; i <= import->last; i++) {
        const struct mempool_chunk *chunk = chunk_at(import, i);
        if (!chunk)
            return false;
        const struct share_label label = share_label_of(chunk->block);
        check = pool_pointer_add(check, &label);
    }
    return check == import->pointer->check;
}

/* Does the exporter still have this memory? */
static bool is_there(const struct import *import)
{
    uint64_t check = pool_pointer_check(import->pool->table, import->pointer->offset, import->pointer->size);
    for (uint64_t i = import->first; i <= import->last; i++) {
        const struct share_label label = pool_table_label(import->pool->table, i);
        check = pool_pointer_add(check, &label);
    }
    return check == import->pointer->check;
}

/* The pool's chunk, if it has the memory named by the table. */
static bool has(const struct mempool_chunk *chunk, const struct share_label *label)
{
    return chunk && chunk->block->shared == label->number;
}

/* Does an allocation use other memory at these addresses? */
static bool is_taken(const struct import *import)
{
    for (uint64_t i = import->first; i <= import->last; i++) {
        const struct mempool_chunk *chunk = chunk_at(import, i);
        const struct share_label label = pool_table_label(import->pool->table, i);
        if (chunk && chunk->busy && !has(chunk, &label))
            return true;
    }
    return false;
}

static void forget(struct import *import, struct mempool_chunk *made, bool entered)
{
    if (entered) {
        sim_chunk_drop(import->process, made);
        return;
    }
    if (made->block)
        sim_block_drop(import->process->machine, made->block);
    heap.free(made);
}

/* Obtains the memory of one chunk. It is placed at the addresses, or else into the pool's existing chunk. */
static enum pool_import fetch_one(struct import *import, uint64_t place, const struct share_label *label, char why[SHARE_WHY])
{
    struct mempool *memory = &import->pool->memory;
    const uint64_t start = memory->start + place * memory->chunk;
    bool fresh = !chunk_at(import, place);
    struct mempool_chunk *made = fresh ? sim_chunk_new(import->process, start, memory->chunk) : heap.calloc(1, sizeof *made);
    if (!made)
        return POOL_IMPORT_HOST_MEMORY;
    enum share_found found = share_import_labelled(import->pool->table->share, import->process->machine, label, &made->block, why);
    if (found == SHARE_FOUND && made->block->size == memory->chunk) {
        made->start = start;
        made->next = import->made;
        import->made = made;
        return POOL_IMPORT_DONE;
    }
    if (found != SHARE_FOUND)
        made->block = NULL;
    forget(import, made, fresh);
    return found == SHARE_FOUND || found == SHARE_UNKNOWN ? POOL_IMPORT_UNKNOWN : POOL_IMPORT_SYSTEM;
}

static enum pool_import fetch(struct import *import, char why[SHARE_WHY])
{
    enum pool_import answer = POOL_IMPORT_DONE;
    if (!mempool_make_room(&import->pool->memory, import->start + import->span))
        return POOL_IMPORT_HOST_MEMORY;
    for (uint64_t i = import->first; i <= import->last && answer == POOL_IMPORT_DONE; i++) {
        const struct share_label label = pool_table_label(import->pool->table, i);
        if (!has(chunk_at(import, i), &label))
            answer = fetch_one(import, i, &label, why);
    }
    return answer;
}

/* Exchanges the memory of the pool's chunk a with that of b. */
static void exchange(struct mempool_chunk *a, struct mempool_chunk *b)
{
    struct sim_block *block = a->block;
    a->block = b->block;
    b->block = block;
    a->shown = false; /* different memory; shown again where it is allocated */
}

/* Gives the fetched memory to the pool; if the pool has a chunk there, `made` keeps its former memory. */
static void enter(struct import *import)
{
    for (struct mempool_chunk *made = import->made, *chunk; made; made = made->next) {
        chunk = mempool_chunk_at(&import->pool->memory, made->start);
        if (chunk)
            exchange(chunk, made);
        else
            mempool_add(&import->pool->memory, made);
    }
}

/* Frees the remainder; with keep false, everything that was fetched. entered: enter was called. */
static void leave(struct import *import, bool entered, bool keep)
{
    struct mempool *memory = &import->pool->memory;
    struct mempool_chunk *next;
    for (struct mempool_chunk *made = import->made; made; made = next) {
        next = made->next;
        struct mempool_chunk *chunk = mempool_chunk_at(memory, made->start);
        bool own = chunk == made;
        if (own && keep)
            continue;
        if (own)
            mempool_remove(memory, made);
        else if (entered && !keep)
            exchange(chunk, made);
        forget(import, made, own || !chunk);
    }
}

static struct sim_piece *new_piece(struct import *import, struct sim_origin made, bool *out)
{
    static const struct queue_place nowhere;
    struct mempool *memory = &import->pool->memory;
    struct region *region = mempool_cut(memory, import->start, import->span, out);
    if (!region)
        return NULL;
    struct sim_piece *piece = sim_piece_new(import->process, import->pool, region, import->pointer->size, &nowhere, made);
    *out = !piece;
    if (!piece)
        mempool_join(memory, region);
    else
        piece->orders = UINT64_MAX; /* the exporter's streams order it */
    return piece;
}

static enum pool_import enter_piece(struct import *import, struct sim_origin made, char why[SHARE_WHY])
{
    bool here = is_here(import), out;
    if (!here && !is_there(import))
        return POOL_IMPORT_UNKNOWN;
    if (!here && is_taken(import))
        return POOL_IMPORT_TAKEN;
    enum pool_import answer = here ? POOL_IMPORT_DONE : fetch(import, why);
    if (answer != POOL_IMPORT_DONE) {
        leave(import, false, false);
        return answer;
    }
    enter(import);
    const struct sim_piece *piece = new_piece(import, made, &out);
    leave(import, true, piece != NULL);
    return piece ? POOL_IMPORT_DONE : out ? POOL_IMPORT_HOST_MEMORY : POOL_IMPORT_TAKEN;
}

/* Memory freed here is freed for all streams: only the exporter's streams order its use, not this process's. */
static bool any(void *user, const struct region *region)
{
    (void)user;
    (void)region;
    return true;
}

enum pool_import sim_piece_import(struct sim_process *process, struct sim_pool *pool, const struct pool_pointer *pointer,
                                  struct sim_origin made, uint64_t *address, char why[SHARE_WHY])
{
    assert_locked(process->machine);
    struct import import = {.process = process, .pool = pool, .pointer = pointer};
    if (!plausible(&import))
        return POOL_IMPORT_UNKNOWN;
    if (import.start + import.span > pool->start + pool->memory.size) /* the exporter has more addresses */
        return POOL_IMPORT_HOST_MEMORY;
    const struct sim_allocation *old = sim_allocation_at(process, import.start);
    bool again = old && old->start == import.start && old->size == pointer->size && is_here(&import);
    if (!again)
        mempool_return(&pool->memory, any, NULL);
    const uint64_t mark = sim_blocks_mark(process->machine);
    enum pool_import answer = again ? POOL_IMPORT_DONE : enter_piece(&import, made, why);
    if (answer == POOL_IMPORT_DONE)
        *address = import.start;
    else
        sim_blocks_undo(process->machine, mark);
    return answer;
}
