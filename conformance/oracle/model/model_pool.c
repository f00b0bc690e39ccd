/* SPDX-License-Identifier: Apache-2.0 */
/* model_pool.c - memory pools: creation, the pools of devices, attributes, rights. model_heap.h places their allocations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

enum { POOLS_REMEMBERED = 256 }; /* of those that ended */
enum { WIN32 = 2, WIN32_KMT = 4 };

static bool null(const void *pointer, struct model_answer *a)
{
    return !pointer && !model_refuse(a, INVALID, "VMM-POOL-NULL");
}

/* Of two with the same value, as a driver may give it out again, the later one. */
struct model_pool *model_pool_of(struct model *model, uint64_t value)
{
    for (size_t i = value ? model->pool_count : 0; i-- > 0;)
        if (model->pools[i]->value == value)
            return model->pools[i];
    return NULL;
}

/* The pool that exists; NULL, with a refusal. */
static struct model_pool *live(struct model *m, vmm_memory_pool value, struct model_answer *a)
{
    struct model_pool *pool = model_pool_of(m, (uint64_t)(uintptr_t)value);
    if (null(value, a))
        return NULL;
    if (pool && !pool->ended)
        return pool;
    model_refuse(a, INVALID, "VMM-POOL-UNKNOWN");
    return NULL;
}

/* The same for the calls that do not look whether the pool was destroyed. */
static struct model_pool *even_ended(struct model *m, vmm_memory_pool value, struct model_answer *a)
{
    struct model_pool *pool = model_pool_of(m, (uint64_t)(uintptr_t)value);
    if (!pool || !pool->ended || m->pool_endings - pool->ended_as >= POOLS_REMEMBERED)
        return live(m, value, a);
    return model_breach(m, a, "VMM-POOL-ENDED") ? pool : NULL;
}

uint64_t model_pools_hold(const struct model *model, int device)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < model->pool_count; i++)
        if (model->pools[i]->device == device && !model->pools[i]->gone)
            bytes += model->pools[i]->heap.reserved * model->pools[i]->heap.slot;
    return bytes;
}

/* ---- making and ending ---- */

/* How much memory comes and goes at once; less than was measured on a machine with little memory. */
static uint64_t slot_of(const struct model *m)
{
    uint64_t device = m->profile->device_granularity[0], va = m->profile->va_granularity, unit = device > va ? device : va;
    return m->profile->device_memory < 4 * MODEL_SLOT || unit > MODEL_SLOT ? unit : MODEL_SLOT;
}

/* An address for a range that overlaps no mapping; 0: none. */
static uint64_t place(const struct model *m, uint64_t size, uint64_t unit)
{
    uint64_t at = model_place(m, size, unit, 0);
    for (size_t i = 0; at && i < m->mapping_count; i++) {
        const struct model_mapping *p = &m->mappings[i];
        if (!model_overlap(at, size, p->start, p->size))
            continue;
        at = model_place(m, size, unit, p->start + p->size);
        i = (size_t)-1;
    }
    return at;
}

int model_pool_place(const vmm_mem_location *location)
{
    if (location->type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return location->id;
    return location->type == VMM_MEM_LOCATION_TYPE_HOST ? MODEL_HOST : MODEL_HOST + 1 + location->id;
}

static struct model_pool *make_pool(struct model *m, int device, uint64_t limit)
{
    uint64_t slot = slot_of(m), slots = model_heap_range(limit, slot, m->profile->device_memory);
    uint64_t start = place(m, slots * slot, slot); /* of a driver, what its first allocation may correct */
    for (; !m->driver && !start && !limit && slots > 1; start = place(m, slots * slot, slot))
        slots /= 2;
    if (!start && !m->driver)
        return NULL;
    struct model_pool *pool = calloc(1, sizeof *pool);
    if (!pool) {
        fputs("model: the host has no memory left\n", stderr);
        exit(255);
    }
    *pool = (struct model_pool){.start = start, .device = device};
    if (!model_on_host(pool))
        pool->rights[device] = VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    model_heap_open(&pool->heap, limit, slot, slots, &m->pool_streams);
    m->pools = model_room(m->pools, &m->pool_room, m->pool_count, sizeof(struct model_pool *));
    m->pools[m->pool_count++] = pool;
    return pool;
}

struct model_pool *model_own_pool(struct model *model, int device)
{
    for (size_t i = 0; i < model->pool_count; i++)
        if (model->pools[i]->own && model->pools[i]->device == device)
            return model->pools[i];
    struct model_pool *pool = make_pool(model, device, 0);
    if (pool)
        pool->own = true;
    model->current_pool[device] = pool;
    return pool;
}

void model_pool_settle(struct model *model, struct model_pool *pool)
{
    (void)model;
    if (!pool->ended || pool->gone || pool->heap.blocks.count || pool->heap.pending.count)
        return;
    model_heap_close(&pool->heap);
    pool->gone = true;
}

static bool has_idle(const struct model_pool *pool, int device)
{
    return !pool->gone && pool->device == device && pool->based;
}

/* Trims those of the pools from the i-th on whose idle memory is that many bytes in sum. False: none. */
static bool trim_some(struct model *m, int device, size_t i, uint64_t bytes)
{
    if (!bytes || i == m->pool_count)
        return !bytes;
    struct model_heap *heap = &m->pools[i]->heap;
    const uint64_t idle = has_idle(m->pools[i], device) ? model_heap_idle(heap) : 0;
    if (idle && idle <= bytes && trim_some(m, device, i + 1, bytes - idle)) {
        model_heap_trim(heap, 0);
        return true;
    }
    return trim_some(m, device, i + 1, bytes);
}

bool model_pools_gave_back(struct model *model, int device, uint64_t bytes)
{
    return trim_some(model, device, 0, bytes);
}

static bool device_exists(const struct model *m, int device)
{
    return device >= 0 && device < m->profile->devices;
}

static bool location_allowed(const struct model *m, const vmm_mem_location *l, struct model_answer *a)
{
    if (l->type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return device_exists(m, l->id) || model_refuse(a, INVALID, "VMM-POOL-CREATE-DEVICE");
    int nodes = m->profile->host_nodes ? m->profile->host_nodes : 1;
    bool node = l->type == VMM_MEM_LOCATION_TYPE_HOST_NUMA && l->id >= 0 && l->id < nodes;
    return node || l->type == VMM_MEM_LOCATION_TYPE_HOST || model_refuse(a, INVALID, "VMM-POOL-CREATE-LOCATION");
}

/* What a pool may be of. */
static bool props_allowed(const struct model *m, const vmm_mem_pool_props *p, struct model_answer *a)
{
    bool managed = p->alloc_type == VMM_MEM_ALLOCATION_TYPE_MANAGED;
    bool named = p->location.type == VMM_MEM_LOCATION_TYPE_DEVICE || p->location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    bool alone = managed || p->location.type == VMM_MEM_LOCATION_TYPE_HOST; /* pools that no other process can use */
    int types = alone ? 0 : VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | VMM_MEM_HANDLE_TYPE_FABRIC;
    if (!managed && p->alloc_type != VMM_MEM_ALLOCATION_TYPE_PINNED)
        return model_refuse(a, INVALID, "VMM-POOL-CREATE-TYPE");
    if ((!managed || named) && !location_allowed(m, &p->location, a))
        return false;
    if (p->handle_types & ~types)
        return model_refuse(a, INVALID, "VMM-POOL-CREATE-HANDLE-TYPES");
    for (size_t i = 0; i < sizeof p->reserved; i++)
        if (p->reserved[i])
            return model_refuse(a, INVALID, "VMM-POOL-CREATE-RESERVED");
    a->foreseen = !managed && (m->host_pools || p->location.type == VMM_MEM_LOCATION_TYPE_DEVICE); /* others are not modelled */
    return a->foreseen;
}

/* A pool's value is not another one's. */
static void expect_new(struct model *m, uint64_t value, struct model_answer *a)
{
    const struct model_pool *other = model_pool_of(m, value);
    model_expect(a, "pool is NULL", value == 0, false);
    model_expect(a, "pool equals another one", other && (!other->ended || !m->driver), false);
}

MODEL_ON(mem_pool_create)
{
    if (null(c->pool, a) || null(c->pool_props, a) || !props_allowed(m, c->pool_props, a))
        return;
    const vmm_mem_pool_props *p = c->pool_props;
    if (m->driver && !m->pool_count && m->current < 0 && model_capturing(m))
        a->foreseen = false; /* refused the one time that a process had had no pool before */
    if (p->max_size > (m->profile->va_end - m->profile->va_start) / 2) {
        model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-POOL-CREATE-MAX-SIZE");
        return;
    }
    if (a->asked)
        return;
    struct model_pool *pool = make_pool(m, model_pool_place(&p->location), p->max_size);
    if (!pool) {
        model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-SYSTEM-HOST-MEMORY");
        return;
    }
    if (!model_succeeded(a))
        return;
    uint64_t value = (uint64_t)(uintptr_t)*c->pool;
    expect_new(m, value, a);
    pool->value = value;
    pool->tag = m->tag;
    pool->handle_types = p->handle_types;
    pool->decompress = p->usage & VMM_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS;
}

static bool is_done(const void *user, uint64_t in, uint64_t of, uint64_t mark)
{
    (void)user, (void)in, (void)of, (void)mark;
    return true;
}

MODEL_ON(mem_pool_destroy)
{
    struct model_pool *pool = live(m, c->pool, a);
    if (!pool)
        return;
    if (pool->own) {
        model_refuse(a, INVALID, "VMM-POOL-DESTROY-DEFAULT");
        return;
    }
    if (!model_succeeded(a))
        return;
    const struct model_order all = {is_done, NULL, NULL, NULL};
    model_heap_synchronise(&pool->heap, true, 0, &all);
    for (int device = 0; device < MODEL_PLACES; device++)
        if (m->current_pool[device] == pool) {
            m->current_pool[device] = model_own_pool(m, device);
            m->vague_pool[device] = m->driver && device >= MODEL_HOST;
        }
    pool->ended = true;
    pool->ended_as = ++m->pool_endings;
    pool->heap.threshold = 0;
    model_heap_trim(&pool->heap, 0);
    model_pool_settle(m, pool);
}

/* ---- the pools of a device ---- */

static void expect_pool(struct model *m, int device, bool current, const vmm_memory_pool *out, struct model_answer *a)
{
    a->foreseen &= !current || !m->vague_pool[device];
    if (a->asked)
        return;
    struct model_pool *own = model_own_pool(m, device), *pool = current ? m->current_pool[device] : own;
    if (!pool) {
        model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-SYSTEM-HOST-MEMORY");
        return;
    }
    if (!model_succeeded(a))
        return;
    uint64_t got = (uint64_t)(uintptr_t)*out;
    if (!pool->value) {
        expect_new(m, got, a);
        pool->value = got;
    }
    if (!pool->tag)
        pool->tag = m->tag;
    model_expect(a, "pool", got, pool->value);
}

static void set_current(struct model *m, int device, vmm_memory_pool value, struct model_answer *a)
{
    struct model_pool *pool = even_ended(m, value, a);
    if (!pool || a->asked)
        return;
    if (!model_own_pool(m, device)) {
        model_refuse(a, VMM_ERROR_OUT_OF_MEMORY, "VMM-SYSTEM-HOST-MEMORY");
    } else if (pool->device != device) {
        model_refuse(a, INVALID, "VMM-POOL-SET-ELSEWHERE");
    } else if (model_succeeded(a) && !pool->ended) {
        m->current_pool[device] = pool;
        m->vague_pool[device] = false;
    }
}

MODEL_ON(device_get_default_mem_pool)
{
    if (!device_exists(m, c->dev))
        model_refuse(a, VMM_ERROR_INVALID_DEVICE, "VMM-POOL-DEVICE");
    else if (!null(c->pool_out, a))
        expect_pool(m, c->dev, false, c->pool_out, a);
}

MODEL_ON(device_get_mem_pool)
{
    if (null(c->pool, a))
        return;
    if (!device_exists(m, c->dev))
        model_refuse(a, INVALID, "VMM-POOL-CURRENT-DEVICE");
    else
        expect_pool(m, c->dev, true, c->pool, a);
}

MODEL_ON(device_set_mem_pool)
{
    if (!device_exists(m, c->dev))
        model_refuse(a, INVALID, "VMM-POOL-CURRENT-DEVICE");
    else
        set_current(m, c->dev, c->pool, a);
}

static bool place_allowed(const struct model *m, const vmm_mem_location *location, vmm_mem_allocation_type type,
                          struct model_answer *a)
{
    if (null(location, a))
        return false;
    if (location->type < VMM_MEM_LOCATION_TYPE_INVALID || location->type > VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-POOL-LOCATION-TYPE");
    return props_allowed(m, &(vmm_mem_pool_props){.alloc_type = type, .location = *location}, a);
}

MODEL_ON(mem_get_default_mem_pool)
{
    if (!null(c->pool_out, a) && place_allowed(m, c->location, c->type, a))
        expect_pool(m, model_pool_place(c->location), false, c->pool_out, a);
}

MODEL_ON(mem_get_mem_pool)
{
    if (!null(c->pool, a) && place_allowed(m, c->location, c->type, a))
        expect_pool(m, model_pool_place(c->location), true, c->pool, a);
}

MODEL_ON(mem_set_mem_pool)
{
    if (!null(c->pool, a) && place_allowed(m, c->location, c->type, a))
        set_current(m, model_pool_place(c->location), c->pool, a);
}

/* ---- attributes ---- */

static struct model_pool *with_attribute(struct model *m, vmm_memory_pool value, vmm_mem_pool_attribute attribute, const void *at,
                                         struct model_answer *a)
{
    struct model_pool *pool = live(m, value, a);
    if (!pool)
        return NULL;
    if (attribute < VMM_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES || attribute > VMM_MEMPOOL_ATTR_USED_MEM_HIGH) {
        model_refuse(a, INVALID, "VMM-POOL-ATTRIBUTE");
        return NULL;
    }
    return null(at, a) ? NULL : pool;
}

static bool is_flag(vmm_mem_pool_attribute attribute)
{
    return attribute <= VMM_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static unsigned bit_of(vmm_mem_pool_attribute attribute)
{
    switch (attribute) {
    case VMM_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: return MODEL_FOLLOW;
    case VMM_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return MODEL_OPPORTUNISTIC;
    default: return MODEL_INTERNAL;
    }
}

/* Memory that a driver freed on its own (model_context.c) may become visible here first. It had then seen that what
 * streams freed is done, which happened twice in 380,000 calls though none had waited for those streams. */
static void adopt_reserved(struct model *m, struct model_heap *heap, uint64_t told)
{
    const uint64_t now = heap->reserved * heap->slot;
    if (!m->driver || told >= now)
        return;
    const struct model_order all = {is_done, NULL, NULL, NULL};
    if (now - told > model_heap_idle(heap))
        model_heap_synchronise(heap, true, 0, &all);
    if (now - told > model_heap_idle(heap))
        return;
    model_heap_trim(heap, told);
    m->adopted++;
}

MODEL_ON(mem_pool_get_attribute)
{
    struct model_pool *pool = with_attribute(m, c->pool, c->attr, c->value, a);
    uint64_t wide;
    int narrow;
    if (!pool || !model_succeeded(a))
        return;
    struct model_heap *heap = &pool->heap;
    memcpy(&wide, c->value, sizeof wide);
    memcpy(&narrow, c->value, sizeof narrow);
    if (c->attr == VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
        adopt_reserved(m, heap, wide);
    switch (c->attr) {
    case VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD: model_expect(a, "value (threshold)", wide, heap->threshold); return;
    case VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: model_expect(a, "value (reserved)", wide, heap->reserved * heap->slot); return;
    case VMM_MEMPOOL_ATTR_RESERVED_MEM_HIGH: model_expect(a, "value (most reserved)", wide, heap->reserved_high); return;
    case VMM_MEMPOOL_ATTR_USED_MEM_CURRENT: model_expect(a, "value (used)", wide, heap->used); return;
    case VMM_MEMPOOL_ATTR_USED_MEM_HIGH: model_expect(a, "value (most used)", wide, heap->used_high); return;
    default: model_expect(a, "value (reuse)", (uint64_t)narrow, (heap->reuse & bit_of(c->attr)) != 0); return;
    }
}

static void set_threshold(struct model_heap *heap, uint64_t bytes)
{
    heap->lowered |= bytes < heap->threshold;
    heap->threshold = bytes;
}

MODEL_ON(mem_pool_set_attribute)
{
    struct model_pool *pool = with_attribute(m, c->pool, c->attr, c->value, a);
    uint64_t wide = 0;
    int narrow;
    if (!pool)
        return;
    struct model_heap *heap = &pool->heap;
    memcpy(&narrow, c->value, sizeof narrow);
    if (!is_flag(c->attr))
        memcpy(&wide, c->value, sizeof wide);
    bool reads = c->attr == VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT || c->attr == VMM_MEMPOOL_ATTR_USED_MEM_CURRENT;
    bool high = c->attr == VMM_MEMPOOL_ATTR_RESERVED_MEM_HIGH || c->attr == VMM_MEMPOOL_ATTR_USED_MEM_HIGH;
    if (reads)
        model_refuse(a, INVALID, "VMM-POOL-ATTRIBUTE-READ-ONLY");
    else if (high && wide)
        model_refuse(a, INVALID, "VMM-POOL-ATTRIBUTE-HIGH");
    else if (!model_succeeded(a))
        return;
    else if (is_flag(c->attr))
        heap->reuse = narrow ? heap->reuse | bit_of(c->attr) : heap->reuse & ~bit_of(c->attr);
    else if (c->attr == VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        set_threshold(heap, wide);
    else if (c->attr == VMM_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
        heap->reserved_high = heap->reserved * heap->slot;
    else
        heap->used_high = heap->used;
}

MODEL_ON(mem_pool_trim_to)
{
    struct model_pool *pool = live(m, c->pool, a);
    if (pool && model_succeeded(a))
        model_heap_trim_to(&pool->heap, c->min_bytes_to_keep);
}

/* ---- rights ---- */

/* A list is looked at three times: for READ and for where the rights would be, for the other flags, and for what the pool can
 * give. */
static bool look_at(const struct model *m, const struct model_pool *pool, const vmm_mem_access_desc *desc, int turn, struct model_answer *a)
{
    const bool host = model_on_host(pool), device = desc->location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    const bool known = device || desc->location.type == VMM_MEM_LOCATION_TYPE_HOST || desc->location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    const int id = desc->location.id;
    if (turn == 0 && desc->flags == VMM_MEM_ACCESS_FLAGS_PROT_READ)
        return model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-POOL-ACCESS-READ");
    if (turn == 0 && !device)
        return host || model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-POOL-ACCESS-LOCATION");
    if (turn == 0)
        return device_exists(m, id) || model_refuse(a, VMM_ERROR_INVALID_DEVICE, "VMM-POOL-ACCESS-DEVICE");
    if (turn == 1 && desc->flags != VMM_MEM_ACCESS_FLAGS_PROT_NONE && desc->flags != VMM_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return model_refuse(a, INVALID, "VMM-POOL-ACCESS-FLAGS");
    if (turn == 1)
        return known || model_refuse(a, INVALID, "VMM-POOL-ACCESS-NOWHERE");
    if (host)
        return device || desc->flags || model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-POOL-ACCESS-HOST");
    if (id == pool->device)
        return desc->flags || model_refuse(a, VMM_ERROR_INVALID_DEVICE, "VMM-POOL-ACCESS-OWN");
    return m->profile->peers[id] >> pool->device & 1 || model_refuse(a, VMM_ERROR_INVALID_DEVICE, "VMM-POOL-ACCESS-PEER");
}

MODEL_ON(mem_pool_set_access)
{
    struct model_pool *pool = even_ended(m, c->pool, a);
    if (!pool || null(c->map, a))
        return;
    for (int turn = 0; turn < 3; turn++)
        for (uint64_t i = 0; i < c->count; i++)
            if (!look_at(m, pool, &c->map[i], turn, a))
                return;
    for (uint64_t i = 0; model_succeeded(a) && i < c->count; i++)
        if (c->map[i].location.type == VMM_MEM_LOCATION_TYPE_DEVICE)
            pool->rights[c->map[i].location.id] = (uint8_t)c->map[i].flags;
}

MODEL_ON(mem_pool_get_access)
{
    if (null(c->flags, a) || null(c->location, a))
        return;
    const struct model_pool *pool = even_ended(m, c->mem_pool, a);
    if (!pool)
        return;
    const vmm_mem_location *l = c->location;
    bool host = l->type == VMM_MEM_LOCATION_TYPE_HOST || l->type == VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    if (!host && (l->type != VMM_MEM_LOCATION_TYPE_DEVICE || !device_exists(m, l->id)))
        model_refuse(a, INVALID, "VMM-POOL-GET-ACCESS-LOCATION");
    else if (model_succeeded(a))
        model_expect(a, "flags", (uint64_t)*c->flags, !host ? pool->rights[l->id] : model_on_host(pool) ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE : 0);
}

/* ---- other processes: what is exported; the model imports no pools ---- */

static bool is_one_type(int type)
{
    return type == VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || type == WIN32 || type == WIN32_KMT ||
           type == VMM_MEM_HANDLE_TYPE_FABRIC;
}

MODEL_ON(mem_pool_export_to_shareable_handle)
{
    if (null(c->handle_out, a))
        return;
    if (c->flags || !is_one_type(c->handle_type)) {
        model_refuse(a, INVALID, c->flags ? "VMM-EXPORT-FLAGS" : "VMM-EXPORT-TYPE");
        return;
    }
    struct model_pool *pool = live(m, c->pool, a);
    if (!pool)
        return;
    if (pool->own)
        model_refuse(a, INVALID, "VMM-POOL-EXPORT-KIND");
    else if (!(pool->handle_types & c->handle_type))
        model_refuse(a, INVALID, "VMM-EXPORT-NOT-REQUESTED");
    else if (pool->handle_types & VMM_MEM_HANDLE_TYPE_FABRIC && !m->profile->imex)
        model_refuse(a, VMM_ERROR_NOT_PERMITTED, "VMM-EXPORT-FABRIC-IMEX");
    else if (model_succeeded(a)) {
        pool->exported = true;
        a->fabric = c->handle_type == VMM_MEM_HANDLE_TYPE_FABRIC;
    }
}

/* Of an import only the refusals without a look at the handle. */
MODEL_ON(mem_pool_import_from_shareable_handle)
{
    (void)m;
    if (null(c->pool_out, a))
        return;
    if (c->flags)
        model_refuse(a, INVALID, "VMM-POOL-IMPORT-FLAGS");
    else
        a->foreseen = false;
}

MODEL_ON(mem_pool_export_pointer)
{
    if (null(c->share_data_out, a) || (!c->ptr && !model_refuse(a, INVALID, "VMM-POOL-NULL")))
        return;
    const struct model_block *block = model_block_at(m, c->ptr);
    if (!block || block->start != c->ptr)
        model_refuse(a, INVALID, "VMM-POOL-POINTER-UNKNOWN");
    else if (!block->pool->exported)
        model_refuse(a, INVALID, "VMM-POOL-POINTER-POOL");
}

MODEL_ON(mem_pool_import_pointer)
{
    if (null(c->ptr_out, a) || null(c->pool, a) || null(c->share_data, a))
        return;
    if (live(m, c->pool, a))
        model_refuse(a, INVALID, "VMM-POOL-IMPORT-POOL");
    a->writes_zero = true;
}
