/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <stdint.h>
#include <stdlib.h>

#include "checks.h"
#include "heap.h"
#include "os_huge.h"

/* Each slab starts with a cache line that holds the previous slab's address, so things that fill cache lines are aligned to
 * them. */
enum { LINE = 64, FIRST = 1, SLAB_BYTES = 1 << 16, HUGE_BYTES = 1 << 24, HUGE_FROM = 1 << 22, HUGE_PAGE = 1 << 21 };

void pool_init(struct pool *pool, size_t size)
{
    *pool = (struct pool){.size = size, .slab = FIRST};
}

void pool_clear(struct pool *pool)
{
    while (pool->slabs) {
        void *before = *(void **)pool->slabs;
        heap.free(pool->slabs);
        pool->slabs = before;
    }
    pool_init(pool, pool->size);
}

#ifdef POOL_PLAIN

void *pool_grow(struct pool *pool)
{
    return heap.malloc(pool->size);
}

void pool_free(struct pool *pool, void *thing)
{
    (void)pool;
    heap.free(thing);
}

const char *pool_check(const struct pool *pool, size_t taken)
{
    (void)pool;
    (void)taken;
    return NULL;
}

#else

/* The capacity of the slab that follows slabs with that many things. */
static size_t next_slab(const struct pool *pool, size_t all)
{
    const size_t most = all * pool->size < HUGE_FROM ? SLAB_BYTES : HUGE_BYTES;
    return (all + 1) * pool->size <= most ? all + 1 : most / pool->size;
}

static int add_slab(struct pool *pool)
{
    const size_t bytes = pool->slab * pool->size, unit = bytes > SLAB_BYTES ? HUGE_PAGE : LINE;
    void **slab = heap.malloc(LINE + unit + bytes);
    if (!slab)
        return 0;
    *slab = pool->slabs;
    pool->slabs = slab;
    pool->fresh = (unsigned char *)(((uintptr_t)slab + LINE + unit - 1) & ~(uintptr_t)(unit - 1));
    if (unit == HUGE_PAGE)
        os_huge_pages(pool->fresh, bytes);
    pool->left = pool->slab;
    pool->all += pool->slab;
    pool->slab = next_slab(pool, pool->all);
    return 1;
}

void *pool_grow(struct pool *pool)
{
    if (!pool->left && !add_slab(pool))
        return NULL;
    void *thing = pool->fresh;
    pool->fresh += pool->size;
    pool->left--;
    return thing;
}

const char *pool_check(const struct pool *pool, size_t taken)
{
    size_t all = 0, spare = 0, things = FIRST;
    for (const void *slab = pool->slabs; slab; slab = *(void *const *)slab, things = next_slab(pool, all))
        all += things;
    if (things != pool->slab || all != pool->all)
        return check_say("%zu things, and the next slab is set to %zu; the existing slabs have %zu, and %zu should follow", pool->all,
                         pool->slab, all, things);
    for (const void *thing = pool->spare; thing && spare <= all; thing = *(void *const *)thing)
        spare++;
    if (taken != all - spare - pool->left) /* which exceeds the total if more than all are spare */
        return check_say("%zu of %zu things are taken, but the pool counts %s%zu freed and %zu fresh ones", taken, all,
                         spare > all ? "more than " : "", spare > all ? all : spare, pool->left);
    return NULL;
}

#endif
