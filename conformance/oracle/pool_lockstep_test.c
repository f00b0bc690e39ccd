/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of memory pools on the simulator and on the model's heaps, call by call: several pools, streams that events order,
 * synchronisations, limits, and between them calls that ask about the memory, take other memory, or are refused.
 *
 *     POOL_SEED=7 POOL_CALLS=1000000 build/test/conformance/oracle/pool_lockstep_test      another run
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in_place.h"
#include "model/model_heap.h"
#include "tap.h"
#include "vmm.h"

#define MIB ((uint64_t)1 << 20)
enum { POOLS = 4, STREAMS = 3, BLOCKS = 200, KINDS = 28 };

struct world;

struct pool {
    vmm_memory_pool value;
    struct model_heap heap;
    uint64_t base, ended; /* base: where its range starts, known from its first allocation; ended: a value that was destroyed */
    bool open, based;
    const struct world *world;
    uint64_t after[STREAMS][STREAMS];
};

struct block {
    int pool;
    uint64_t at, size;
};

struct world {
    vmm_system *sys;
    vmm_stream stream[STREAMS];
    vmm_event event;
    struct pool pool[POOLS];
    struct model_streams streams;
    struct block block[BLOCKS];
    size_t blocks;
    uint64_t dice, calls, total, other, device; /* other: bytes of cuMemAlloc; device: all bytes of the device */
    vmm_deviceptr plain;
    uint64_t made[KINDS], succeeded[KINDS];
    char wrong[300];
};

static const char *const kinds[KINDS] = {
    "cuMemAllocFromPoolAsync", "cuMemFreeAsync", "cuMemFree", "cuStreamSynchronize", "cuCtxSynchronize", "cuStreamWaitEvent",
     "cuMemPoolTrimTo",
    "cuMemPoolSetAttribute", "cuMemPoolGetAttribute", "cuMemPoolCreate", "cuMemPoolDestroy", "cuMemGetAddressRange",
     "cuPointerGetAttribute",
    "cuMemGetInfo", "cuMemsetD8", "cuMemPoolGetAccess", "cuMemPoolSetAccess", "cuDeviceGetMemPool", "cuDeviceSetMemPool",
     "cuDeviceGetDefaultMemPool",
    "cuMemGetDefaultMemPool", "cuMemGetMemPool", "cuMemSetMemPool", "cuMemAlloc", "cuMemAllocAsync", "cuMemUnmap",
     "cuMemRetainAllocationHandle",
    "cuMemcpyDtoH"};
enum { ALLOC, FREE, PLAIN_FREE, SYNC, SYNC_ALL, ORDER, TRIM, SET, GET, CREATE, DESTROY, RANGE, POINTER, INFO, FILL, GET_ACCESS, SET_ACCESS, CURRENT,
       SET_CURRENT, DEFAULT, DEFAULT_AT, CURRENT_AT, SET_AT, ORDINARY, ALLOC_CURRENT, UNMAP, RETAIN, READ };

static uint64_t draw(struct world *w, uint64_t below)
{
    uint64_t z = w->dice += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % below;
}

__attribute__((format(printf, 2, 3))) static void differ(struct world *w, const char *format, ...)
{
    va_list args;
    if (w->wrong[0])
        return;
    va_start(args, format);
    vsnprintf(w->wrong, sizeof w->wrong, format, args);
    va_end(args);
}

static void expect(struct world *w, int kind, vmm_result got, vmm_result want)
{
    w->made[kind]++;
    w->succeeded[kind] += want == VMM_SUCCESS;
    if (got != want)
        differ(w, "%s answers %s [%s], the model %s", kinds[kind], vmm_result_name(got),
               vmm_last_detail()->rule ? vmm_last_detail()->rule : "no rule", vmm_result_name(want));
}

static void same(struct world *w, int kind, const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        differ(w, "%s: %s is %#llx, the model says %#llx", kinds[kind], what, (unsigned long long)got, (unsigned long long)want);
}

/* ---- streams, as a pool sees them ---- */

static bool is_ordered(const void *user, uint64_t in, uint64_t of, uint64_t mark)
{
    return mark <= ((const struct pool *)user)->after[in][of];
}

static bool is_complete(const void *user, uint64_t of, uint64_t mark) /* every call ends with a query of each stream */
{
    (void)user, (void)of, (void)mark;
    return true;
}

/* ---- memory of the device ---- */

static uint64_t left(const struct world *w)
{
    uint64_t used = w->other;
    for (int i = 0; i < POOLS; i++)
        used += w->pool[i].open ? w->pool[i].heap.reserved * MODEL_SLOT : 0;
    return w->total - used;
}

static uint64_t room(const void *user, uint64_t wanted)
{
    (void)wanted;
    return left(((const struct pool *)user)->world) / MODEL_SLOT;
}

static struct model_order streams_of(const struct pool *p)
{
    return (struct model_order){is_ordered, is_complete, room, p};
}

/* ---- calls ---- */

static struct pool *some_pool(struct world *w)
{
    struct pool *p = &w->pool[draw(w, POOLS)];
    for (int i = 0; i < POOLS && !p->open; i++)
        p = &w->pool[i];
    return p->open ? p : NULL;
}

static uint64_t some_size(struct world *w)
{
    unsigned bits = 5 + (unsigned)draw(w, 22);
    return draw(w, 3) ? ((uint64_t)1 << bits) + draw(w, (uint64_t)1 << bits) : (1 + draw(w, 40)) * MIB;
}

static void keep_block(struct world *w, struct pool *p, vmm_deviceptr at, uint64_t size)
{
    w->block[w->blocks++] = (struct block){(int)(p - w->pool), at, size};
}

/* model_heap_take; a pool that may not grow takes the idle memory of all others from them. */
static uint64_t take(struct world *w, struct pool *p, uint64_t size, uint64_t stream)
{
    const struct model_order order = streams_of(p);
    const uint64_t off = model_heap_take(&p->heap, size, stream, &order);
    for (int i = 0; off == UINT64_MAX && p->heap.shortage == MODEL_LIMIT && i < POOLS; i++)
        if (w->pool[i].open && &w->pool[i] != p)
            model_heap_trim(&w->pool[i].heap, 0);
    return off;
}

static void alloc(struct world *w, struct pool *p)
{
    vmm_deviceptr at = 77;
    uint64_t s = draw(w, STREAMS), size = draw(w, 50) ? some_size(w) : (uint64_t)1 << 46;
    if (draw(w, 30) == 0) {
        expect(w, ALLOC, vmm_mem_alloc_from_pool_async(w->sys, draw(w, 2) ? NULL : &at, size, NULL, w->stream[s]), VMM_ERROR_INVALID_VALUE);
        return;
    }
    uint64_t off = take(w, p, size, s);
    expect(w, ALLOC, vmm_mem_alloc_from_pool_async(w->sys, &at, size, p->value, w->stream[s]), off == UINT64_MAX ? VMM_ERROR_OUT_OF_MEMORY : VMM_SUCCESS);
    if (w->wrong[0] || off == UINT64_MAX) {
        if (!w->wrong[0])
            same(w, ALLOC, "dptr of a refusal", at, 0);
        return;
    }
    if (!p->based)
        p->base = at - off;
    p->based = true;
    same(w, ALLOC, "dptr", at, p->base + off);
    keep_block(w, p, at, size);
}

/* A live block, or NULL. */
static struct block *some_block(struct world *w)
{
    return w->blocks ? &w->block[draw(w, w->blocks)] : NULL;
}

/* Addresses that are not the start of a block: inside, at its end, freed, elsewhere. */
static uint64_t odd_address(struct world *w, const struct block *b)
{
    const uint64_t odd[] = {b->at + 1, b->at + (b->size > 600 ? 512 : 1), 1, ~(uint64_t)0, b->at - 1};
    return odd[draw(w, sizeof odd / sizeof odd[0])];
}

static void free_block(struct world *w, bool plainly)
{
    struct block *b = some_block(w);
    int kind = plainly ? PLAIN_FREE : FREE;
    uint64_t s = draw(w, STREAMS);
    if (!b || draw(w, 12) == 0) {
        uint64_t at = b ? odd_address(w, b) : 1;
        expect(w, kind, plainly ? vmm_mem_free(w->sys, at) : vmm_mem_free_async(w->sys, at, w->stream[s]), VMM_ERROR_INVALID_VALUE);
        return;
    }
    struct pool *p = &w->pool[b->pool];
    struct model_piece *piece = model_heap_block(&p->heap, b->at - p->base);
    expect(w, kind, plainly ? vmm_mem_free(w->sys, b->at) : vmm_mem_free_async(w->sys, b->at, w->stream[s]), VMM_SUCCESS);
    if (plainly)
        model_heap_free_now(&p->heap, piece);
    else
        model_heap_free(&p->heap, piece, s);
    uint64_t at = b->at;
    *b = w->block[--w->blocks];
    if (draw(w, 6) == 0)
        expect(w, kind, plainly ? vmm_mem_free(w->sys, at) : vmm_mem_free_async(w->sys, at, w->stream[s]), VMM_ERROR_INVALID_VALUE);
}

/* Was a pool used on it? */
static bool has_met(const struct world *w, uint64_t stream)
{
    bool met = false;
    for (size_t i = 0; i < w->streams.count; i++)
        met |= w->streams.stream[i] == stream;
    return met;
}

static void synchronise(struct world *w, bool all)
{
    uint64_t s = draw(w, STREAMS);
    expect(w, all ? SYNC_ALL : SYNC, all ? vmm_ctx_synchronize(w->sys) : vmm_stream_synchronize(w->sys, w->stream[s]), VMM_SUCCESS);
    bool any = false;
    for (int i = 0; i < POOLS; i++) {
        struct pool *p = &w->pool[i];
        struct model_order order = streams_of(p);
        any |= p->open && model_heap_synchronise(&p->heap, all, s, &order);
    }
    for (int i = 0; i < POOLS; i++) {
        struct model_heap *heap = &w->pool[i].heap;
        const bool lowered = heap->lowered && (all || has_met(w, s));
        if (!w->pool[i].open || !(any || lowered))
            continue;
        heap->lowered &= !lowered;
        model_heap_trim(heap, heap->threshold);
    }
}

static void order(struct world *w)
{
    uint64_t before = draw(w, STREAMS), then = (before + 1 + draw(w, STREAMS - 1)) % STREAMS;
    vmm_result r = vmm_event_record(w->sys, w->event, w->stream[before]);
    expect(w, ORDER, r ? r : vmm_stream_wait_event(w->sys, w->stream[then], w->event, 0), VMM_SUCCESS);
    for (int i = 0; i < POOLS; i++) {
        struct pool *p = &w->pool[i];
        p->after[then][before] = p->heap.frees;
        for (uint64_t s = 0; s < STREAMS; s++)
            if (s != then && p->after[before][s] > p->after[then][s])
                p->after[then][s] = p->after[before][s];
    }
}

static void trim(struct world *w, struct pool *p)
{
    uint64_t keep = draw(w, 2) ? 0 : draw(w, 400) * MIB;
    if (draw(w, 5) == 0) {
        expect(w, TRIM, vmm_mem_pool_trim_to(w->sys, NULL, keep), VMM_ERROR_INVALID_VALUE);
        return;
    }
    model_heap_trim_to(&p->heap, keep);
    expect(w, TRIM, vmm_mem_pool_trim_to(w->sys, p->value, keep), VMM_SUCCESS);
}

static void set_attribute(struct world *w, struct pool *p)
{
    int attribute = 1 + (int)draw(w, 9), on = (int)draw(w, 2);
    uint64_t value = attribute <= 3 ? (uint64_t)on : draw(w, 2) ? draw(w, 300) * MIB : UINT64_MAX;
    if (attribute > 4)
        value = draw(w, 3) == 0;
    bool good = attribute <= 4 || ((attribute == 6 || attribute == 8) && !value);
    expect(w, SET, vmm_mem_pool_set_attribute(w->sys, p->value, attribute, attribute <= 3 ? (void *)&on : (void *)&value),
           good ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE);
    if (!good)
        return;
    unsigned bit = attribute <= 3 ? 1u << (attribute - 1) : 0;
    p->heap.reuse = on ? p->heap.reuse | bit : p->heap.reuse & ~bit;
    if (attribute == 4) {
        p->heap.lowered |= value < p->heap.threshold;
        p->heap.threshold = value;
    }
    if (attribute == 6)
        p->heap.reserved_high = p->heap.reserved * MODEL_SLOT;
    if (attribute == 8)
        p->heap.used_high = p->heap.used;
}

static void get_attribute(struct world *w, const struct pool *p, int attribute)
{
    const uint64_t want[] = {0, p->heap.reuse & 1, p->heap.reuse >> 1 & 1, p->heap.reuse >> 2 & 1, p->heap.threshold,
                             p->heap.reserved * MODEL_SLOT, p->heap.reserved_high, p->heap.used, p->heap.used_high};
    uint64_t got = 0;
    bool good = attribute >= 1 && attribute <= 8;
    expect(w, GET, vmm_mem_pool_get_attribute(w->sys, p->value, attribute, &got), good ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE);
    if (good && got != want[attribute])
        differ(w, "attribute %d is %llu, the model says %llu", attribute, (unsigned long long)got, (unsigned long long)want[attribute]);
}

static void create(struct world *w)
{
    vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    struct pool *p = w->pool;
    while (p < w->pool + POOLS && p->open)
        p++;
    if (p == w->pool + POOLS || draw(w, 3) == 0) {
        vmm_memory_pool none;
        props.alloc_type = 0;
        expect(w, CREATE, vmm_mem_pool_create(w->sys, &none, &props), VMM_ERROR_INVALID_VALUE);
        return;
    }
    props.max_size = draw(w, 2) ? 0 : 1 + draw(w, 400 * MIB);
    memset(p, 0, sizeof *p);
    expect(w, CREATE, vmm_mem_pool_create(w->sys, &p->value, &props), VMM_SUCCESS);
    model_heap_open(&p->heap, props.max_size, MODEL_SLOT, model_heap_range(props.max_size, MODEL_SLOT, w->device), &w->streams);
    p->open = true;
    p->world = w;
}

/* Of a pool whose memory is all back. */
static void destroy(struct world *w, struct pool *p)
{
    if (p->heap.blocks.count || p->heap.pending.count) {
        expect(w, DESTROY, vmm_mem_pool_destroy(w->sys, NULL), VMM_ERROR_INVALID_VALUE);
        return;
    }
    expect(w, DESTROY, vmm_mem_pool_destroy(w->sys, p->value), VMM_SUCCESS);
    expect(w, DESTROY, vmm_mem_pool_destroy(w->sys, p->value), VMM_ERROR_INVALID_VALUE);
    model_heap_close(&p->heap);
    p->open = false;
}

/* ---- questions about memory ---- */

static void ask(struct world *w, int kind)
{
    struct block *b = some_block(w);
    if (!b)
        return;
    struct pool *p = &w->pool[b->pool];
    uint64_t offset = draw(w, b->size), size = 0, got = 0;
    unsigned char byte = 0;
    vmm_deviceptr base = 0;
    bool past = draw(w, 3) == 0;
    vmm_mem_generic_allocation_handle handle;
    switch (kind) {
    case RANGE:
        expect(w, kind, vmm_mem_get_address_range(w->sys, &base, &size, b->at + offset), VMM_SUCCESS);
        same(w, kind, "pbase", base, b->at);
        same(w, kind, "psize", size, b->size);
        return;
    case POINTER:
        expect(w, kind, vmm_pointer_get_attribute(w->sys, &got, VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, b->at + offset), VMM_SUCCESS);
        same(w, kind, "the pool", got, (uint64_t)(uintptr_t)p->value);
        return;
    case FILL:
        expect(w, kind, vmm_memset_d8(w->sys, b->at + offset, 1, past ? b->size - offset + 1 : 1), past ? VMM_ERROR_INVALID_VALUE : VMM_SUCCESS);
        return;
    case READ:
        expect(w, kind, vmm_memcpy_dtoh(w->sys, &byte, b->at + (past ? b->size : offset), 1),
               past && !model_heap_block(&p->heap, b->at + b->size - p->base) ? VMM_ERROR_INVALID_VALUE : VMM_SUCCESS);
        return;
    case UNMAP: expect(w, kind, vmm_mem_unmap(w->sys, b->at / (2 * MIB) * (2 * MIB), 2 * MIB), VMM_ERROR_INVALID_VALUE); return;
    default:
        expect(w, kind, vmm_mem_retain_allocation_handle(w->sys, &handle, b->at), VMM_ERROR_INVALID_VALUE);
        return;
    }
}

static void info(struct world *w)
{
    uint64_t free_now = 0, total = 0;
    expect(w, INFO, vmm_mem_get_info(w->sys, &free_now, &total), VMM_SUCCESS);
    same(w, INFO, "free", free_now, left(w));
}

static void access(struct world *w, struct pool *p, bool set)
{
    const int flags[] = {0, 1, 2, 3};
    vmm_mem_access_desc d = {{VMM_MEM_LOCATION_TYPE_DEVICE, draw(w, 4) ? 0 : 9}, flags[draw(w, 4)]};
    vmm_mem_access_flags got = 99;
    if (!set) {
        bool good = d.location.id == 0;
        expect(w, GET_ACCESS, vmm_mem_pool_get_access(w->sys, &got, p->value, &d.location), good ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE);
        same(w, GET_ACCESS, "flags", (uint64_t)got, good ? 3 : 99);
        return;
    }
    if (draw(w, 2))
        d = (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, 3};
    vmm_result want = d.location.id ? VMM_ERROR_INVALID_DEVICE : d.flags == 3 ? VMM_SUCCESS : d.flags == 2 ? VMM_ERROR_INVALID_VALUE
                      : d.flags == 1 ? VMM_ERROR_NOT_SUPPORTED : VMM_ERROR_INVALID_DEVICE;
    if (d.location.id)
        want = VMM_ERROR_INVALID_DEVICE, d.flags = 3;
    expect(w, SET_ACCESS, vmm_mem_pool_set_access(w->sys, p->value, &d, 1), want);
}

/* The current pool of the device: set to a pool and back at once, and an allocation from it. */
static void current(struct world *w, struct pool *p, bool by_location)
{
    const vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}, nowhere = {VMM_MEM_LOCATION_TYPE_DEVICE, 7};
    vmm_memory_pool standard = NULL, got = NULL, again = NULL;
    expect(w, DEFAULT, vmm_device_get_default_mem_pool(w->sys, &standard, 0), VMM_SUCCESS);
    expect(w, DEFAULT_AT, vmm_mem_get_default_mem_pool(w->sys, &again, &at, 1), VMM_SUCCESS);
    same(w, DEFAULT_AT, "pool", (uintptr_t)again, (uintptr_t)standard);
    expect(w, by_location ? SET_AT : SET_CURRENT, by_location ? vmm_mem_set_mem_pool(w->sys, &at, 1, p->value) : vmm_device_set_mem_pool(w->sys, 0, p->value),
           VMM_SUCCESS);
    expect(w, CURRENT, vmm_device_get_mem_pool(w->sys, &got, 0), VMM_SUCCESS);
    expect(w, CURRENT_AT, vmm_mem_get_mem_pool(w->sys, &again, &at, 1), VMM_SUCCESS);
    same(w, CURRENT, "pool", (uintptr_t)got, (uintptr_t)p->value);
    same(w, CURRENT_AT, "pool", (uintptr_t)again, (uintptr_t)p->value);
    if (w->blocks < BLOCKS && !w->wrong[0]) {
        vmm_deviceptr dptr = 0;
        uint64_t size = some_size(w), off = take(w, p, size, 0);
        expect(w, ALLOC_CURRENT, vmm_mem_alloc_async(w->sys, &dptr, size, w->stream[0]), off == UINT64_MAX ? VMM_ERROR_OUT_OF_MEMORY : VMM_SUCCESS);
        if (off != UINT64_MAX) {
            if (!p->based)
                p->base = dptr - off;
            p->based = true;
            same(w, ALLOC_CURRENT, "dptr", dptr, p->base + off);
            keep_block(w, p, dptr, size);
        }
    }
    expect(w, SET_AT, vmm_mem_set_mem_pool(w->sys, &nowhere, 1, p->value), VMM_ERROR_INVALID_VALUE);
    expect(w, SET_CURRENT, vmm_device_set_mem_pool(w->sys, 0, NULL), VMM_ERROR_INVALID_VALUE);
    expect(w, SET_CURRENT, vmm_device_set_mem_pool(w->sys, 0, standard), VMM_SUCCESS);
}

/* Memory of cuMemAlloc, which takes part of the same device. */
static void ordinary(struct world *w)
{
    if (w->plain) {
        expect(w, PLAIN_FREE, vmm_mem_free(w->sys, w->plain), VMM_SUCCESS);
        w->plain = w->other = 0;
        return;
    }
    uint64_t size = (1 + draw(w, 40)) * 2 * MIB;
    expect(w, ORDINARY, vmm_mem_alloc(w->sys, &w->plain, size), VMM_SUCCESS);
    w->other = size;
}

static void one(struct world *w)
{
    static const struct {
        int kind;
        unsigned weight;
    } table[] = {{ALLOC, 40}, {FREE, 26}, {PLAIN_FREE, 6}, {SYNC, 4}, {SYNC_ALL, 2}, {ORDER, 6}, {TRIM, 4}, {SET, 5}, {GET, 8}, {CREATE, 3},
                 {DESTROY, 2}, {RANGE, 3}, {POINTER, 3}, {INFO, 4}, {FILL, 3}, {GET_ACCESS, 2}, {SET_ACCESS, 2}, {CURRENT, 2}, {SET_AT, 2}, {ORDINARY, 2},
                 {UNMAP, 2}, {RETAIN, 2}, {READ, 3}};
    unsigned total = 0;
    size_t i = 0;
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
        total += table[k].weight;
    uint64_t at = draw(w, total);
    while (at >= table[i].weight)
        at -= table[i++].weight;
    int kind = table[i].kind;
    struct pool *p = some_pool(w);
    if (!p)
        kind = CREATE;
    if (kind == ALLOC && draw(w, 40) < w->blocks)
        kind = FREE;
    switch (kind) {
    case ALLOC: alloc(w, p); break;
    case FREE: free_block(w, false); break;
    case PLAIN_FREE: free_block(w, true); break;
    case SYNC: synchronise(w, false); break;
    case SYNC_ALL: synchronise(w, true); break;
    case ORDER: order(w); break;
    case TRIM: trim(w, p); break;
    case SET: set_attribute(w, p); break;
    case GET: get_attribute(w, p, (int)draw(w, 10)); break;
    case CREATE: create(w); break;
    case DESTROY: destroy(w, p); break;
    case INFO: info(w); break;
    case GET_ACCESS: access(w, p, false); break;
    case SET_ACCESS: access(w, p, true); break;
    case CURRENT: current(w, p, false); break;
    case SET_AT: current(w, p, true); break;
    case ORDINARY: ordinary(w); break;
    default: ask(w, kind); break;
    }
    for (int s = 0; s < STREAMS && !w->wrong[0]; s++)
        if (vmm_stream_query(w->sys, w->stream[s]) != VMM_SUCCESS)
            differ(w, "stream %d is not idle", s);
    for (int a = 5; a <= 8 && p && p->open && !w->wrong[0]; a++)
        get_attribute(w, p, a);
}

static bool open_world(struct world *w, uint64_t seed)
{
    vmm_context context;
    memset(w, 0, sizeof *w);
    w->dice = seed;
    bool good = open_in_place("sim:h100", &w->sys) == VMM_SUCCESS && vmm_init(w->sys, 0) == VMM_SUCCESS &&
                vmm_device_primary_ctx_retain(w->sys, &context, 0) == VMM_SUCCESS && vmm_ctx_set_current(w->sys, context) == VMM_SUCCESS &&
                vmm_mem_get_info(w->sys, &w->total, &w->device) == VMM_SUCCESS && vmm_event_create(w->sys, &w->event, 2) == VMM_SUCCESS;
    for (int s = 0; s < STREAMS && good; s++)
        good = vmm_stream_create(w->sys, &w->stream[s], 1) == VMM_SUCCESS;
    return good;
}

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : usual;
}

static void run(uint64_t seed, uint64_t calls)
{
    struct world w;
    if (!open_world(&w, seed))
        tap_bail("the simulator cannot be opened");
    for (; w.calls < calls && !w.wrong[0]; w.calls++)
        one(&w);
    tap_ok(!w.wrong[0], "%llu random steps with seed %llu", (unsigned long long)calls, (unsigned long long)seed);
    if (w.wrong[0])
        tap_note("step %llu: %s; again with POOL_SEED=%llu", (unsigned long long)w.calls - 1, w.wrong, (unsigned long long)seed);
    for (int k = 0; k < KINDS && getenv("POOL_COUNTS"); k++)
        tap_note("%-28s %10llu calls, %10llu succeeded", kinds[k], (unsigned long long)w.made[k], (unsigned long long)w.succeeded[k]);
    for (int i = 0; i < POOLS; i++)
        if (w.pool[i].open)
            model_heap_close(&w.pool[i].heap);
    free(w.streams.stream);
    vmm_close(w.sys);
}

int main(void)
{
    uint64_t seed = number("POOL_SEED", 0), calls = number("POOL_CALLS", 20000);
    for (uint64_t s = seed ? seed : 1; s <= (seed ? seed : 4); s++)
        run(s, calls);
    return tap_done();
}
