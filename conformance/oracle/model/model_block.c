/* SPDX-License-Identifier: Apache-2.0 */
/* model_block.c - memory of pools, in the order of streams: allocations, frees, and what a use of them is warned of. */
#include <string.h>

#include "model_managed.h"

#define INVALID VMM_ERROR_INVALID_VALUE

struct model_block *model_block_at(struct model *model, uint64_t address)
{
    for (size_t i = 0; i < model->block_count; i++) {
        struct model_block *b = &model->blocks[i];
        if (address >= b->start && address - b->start < b->size)
            return b;
    }
    return NULL;
}

/* ---- memory at an address ---- */

/* Managed memory: every device may use it. */
static const struct model_mapping *managed_slot(struct model *m, uint64_t address)
{
    const struct model_managed *managed = model_managed_at(m, address);
    struct model_mapping *as = managed ? &m->slot[m->slot_turn++ % (sizeof m->slot / sizeof m->slot[0])] : NULL;
    if (!as)
        return NULL;
    *as = (struct model_mapping){.start = managed->start, .size = managed->size};
    memset(as->device, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, sizeof as->device);
    return as;
}

static const struct model_mapping *slot_at(struct model *m, uint64_t address)
{
    for (size_t i = 0; i < m->pool_count; i++) {
        const struct model_pool *pool = m->pools[i];
        uint64_t slot = pool->heap.slot, which = pool->gone || !pool->start ? 0 : (address - pool->start) / slot;
        if (pool->gone || !pool->start || address < pool->start || which >= pool->heap.slots || !pool->heap.backed[which])
            continue;
        struct model_mapping *as = &m->slot[m->slot_turn++ % (sizeof m->slot / sizeof m->slot[0])];
        *as = (struct model_mapping){.start = pool->start + which * slot, .size = slot};
        memcpy(as->device, pool->rights, sizeof as->device);
        as->of_host_pool = model_on_host(pool);
        return as;
    }
    return NULL;
}

const struct model_mapping *model_memory_at(struct model *model, uint64_t address)
{
    const struct model_mapping *mapping = model_mapping_at(model, address);
    mapping = mapping || !model->managed_count ? mapping : managed_slot(model, address);
    return mapping || !model->pool_count ? mapping : slot_at(model, address);
}

static bool any_slot(const struct model *m)
{
    for (size_t i = 0; i < m->pool_count; i++)
        if (!m->pools[i]->gone && m->pools[i]->heap.reserved)
            return true;
    return false;
}

bool model_pool_allows(struct model *model, uint64_t address, uint64_t size, struct model_answer *answer)
{
    const struct model_mapping *memory = size ? model_memory_at(model, address) : NULL;
    const struct model_block *block = model_block_at(model, address);
    if (!memory || memory->handle || model_managed_at(model, address) || (block && (size > UINT64_MAX - address || size <= block->size - (address - block->start))))
        return true; /* of a range that wraps the start alone is looked at (model_copy.c) */
    return model_refuse(answer, INVALID, block ? "VMM-COPY-RUNS-PAST" : "VMM-COPY-NOT-MAPPED");
}

/* ---- order ---- */

/* Is the lane certain not to come after the allocation? */
static void warn_unordered(const struct model *m, const struct model_block *block, int lane, struct model_answer *a)
{
    if (block->orders == m->orders && block->lane != lane)
        model_hazard(a, "VMM-POOL-USE-UNORDERED");
}

void model_use(struct model *model, int lane, uint64_t address, uint64_t size, struct model_answer *answer)
{
    struct model_answer ignored;
    const struct model_block *block = size ? model_block_at(model, address) : NULL;
    if (block)
        warn_unordered(model, block, lane < 0 ? model_lane_of(model, 0, &ignored) : lane, answer);
}

void model_used(struct model *model)
{
    model->orders += any_slot(model);
}

/* ---- the device's memory ---- */

/* The host as such is its node 0. */
static bool same_budget(int a, int b)
{
    return (a == MODEL_HOST ? MODEL_HOST + 1 : a) == (b == MODEL_HOST ? MODEL_HOST + 1 : b);
}

static void trim_place(struct model *m, int device, const struct model_pool *but)
{
    for (size_t i = 0; i < m->pool_count; i++)
        if (m->pools[i] != but && same_budget(m->pools[i]->device, device) && !m->pools[i]->gone)
            model_heap_trim(&m->pools[i]->heap, 0);
}

void model_pools_make_room(struct model *model, int device, uint64_t wanted)
{
    if (model_place_free(model, device) < wanted)
        trim_place(model, device, NULL);
}

/* ---- allocating ---- */

/* A driver's pool begins where its first allocation is, which need not be where the model would have put it. */
static void begin_where(struct model *m, struct model_pool *pool, uint64_t first)
{
    m->placed++;
    if (first == pool->start)
        return;
    m->strayed++;
    pool->start = first;
}

/* Allocates size bytes of the pool; what came before is sound. */
static void allocate(struct model *m, struct model_pool *pool, uint64_t size, int lane, const vmm_deviceptr *out,
                     struct model_answer *a)
{
    if (a->asked)
        return;
    if (!size) {
        if (model_breach(m, a, "VMM-POOL-ALLOC-SIZE-ZERO") && model_succeeded(a))
            model_expect(a, "dptr", *out, 0);
        return;
    }
    if (m->driver && !pool->based && a->actual == VMM_SUCCESS)
        begin_where(m, pool, *out);
    uint64_t offset = model_pool_take(m, pool, size, lane);
    if (offset == UINT64_MAX) {
        if (pool->heap.shortage == MODEL_LIMIT)
            trim_place(m, pool->device, pool);
        model_refuse(a, VMM_ERROR_OUT_OF_MEMORY,
                     pool->heap.shortage == MODEL_LIMIT ? "VMM-POOL-ALLOC-MAX-SIZE" : "VMM-POOL-ALLOC-MEMORY");
        return;
    }
    if (!model_succeeded(a))
        return;
    pool->based = true;
    model_expect(a, "dptr", *out, pool->start + offset);
    m->blocks = model_room(m->blocks, &m->block_room, m->block_count, sizeof *m->blocks);
    m->blocks[m->block_count++] = (struct model_block){
        .start = pool->start + offset, .size = size, .pool = pool, .tag = m->tag, .lane = lane, .orders = m->orders};
}

MODEL_ON(mem_alloc_async)
{
    int lane = model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a);
    if (lane >= 0 && !c->dptr)
        model_refuse(a, INVALID, "VMM-POOL-ALLOC-NULL");
    else if (lane >= 0 && !a->asked && !model_own_pool(m, m->lane[lane].device))
        model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-SYSTEM-HOST-MEMORY");
    else if (lane >= 0 && !a->asked)
        allocate(m, m->current_pool[m->lane[lane].device], c->bytesize, lane, c->dptr, a);
    a->writes_zero = a->result != VMM_SUCCESS;
}

MODEL_ON(mem_alloc_from_pool_async)
{
    struct model_pool *pool = model_pool_of(m, (uint64_t)(uintptr_t)c->pool);
    int lane = model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a);
    if (lane >= 0 && !c->dptr)
        model_refuse(a, INVALID, "VMM-POOL-ALLOC-NULL");
    else if (lane >= 0 && (!pool || pool->ended))
        model_refuse(a, INVALID, c->pool ? "VMM-POOL-UNKNOWN" : "VMM-POOL-NULL");
    else if (lane >= 0)
        allocate(m, pool, c->bytesize, lane, c->dptr, a);
    a->writes_zero = a->result != VMM_SUCCESS;
}

/* ---- freeing ---- */

static void end_block(struct model *model, struct model_block *block)
{
    model_forget_block(model, block->start);
    *block = model->blocks[--model->block_count];
}

static struct model_piece *piece_of(const struct model_block *block)
{
    return model_heap_block(&block->pool->heap, block->start - block->pool->start);
}

MODEL_ON(mem_free_async)
{
    int lane = model_lane_of(m, (uint64_t)(uintptr_t)c->stream, a);
    struct model_block *block = model_block_at(m, c->dptr);
    if (lane < 0 || !c->dptr)
        return;
    const struct model_managed *managed = model_managed_at(m, c->dptr);
    if (managed && managed->start == c->dptr) {
        model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-MANAGED-FREE-ASYNC");
        return;
    }
    if (!block || block->start != c->dptr) {
        model_refuse(a, INVALID, "VMM-POOL-FREE-UNKNOWN");
        return;
    }
    warn_unordered(m, block, lane, a);
    if (!model_succeeded(a))
        return;
    struct model_heap *heap = &block->pool->heap;
    heap->frees = m->frees; /* marks count the frees of all pools */
    model_heap_free(heap, piece_of(block), (uint64_t)lane);
    m->frees = heap->frees;
    end_block(m, block);
}

void model_block_free_now(struct model *model, struct model_block *block)
{
    struct model_pool *pool = block->pool;
    model_heap_free_now(&pool->heap, piece_of(block));
    end_block(model, block);
    model_pool_settle(model, pool);
}
