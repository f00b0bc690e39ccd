/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <stdint.h>
#include <stdlib.h>

#include "heap.h"

/* A slab begins with a line that holds the address of the one before; things that fill lines lie in lines. */
enum { LINE = 64, FIRST = 1, SLAB_BYTES = 1 << 16 };

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

void pool_give(struct pool *pool, void *thing)
{
    (void)pool;
    heap.free(thing);
}

#else

static int add_slab(struct pool *pool)
{
    void **slab = heap.malloc(2 * LINE + pool->slab * pool->size);
    if (!slab)
        return 0;
    *slab = pool->slabs;
    pool->slabs = slab;
    pool->fresh = (unsigned char *)(((uintptr_t)slab + 2 * LINE - 1) & ~(uintptr_t)(LINE - 1));
    pool->left = pool->slab;
    if (2 * pool->slab * pool->size <= SLAB_BYTES)
        pool->slab *= 2;
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

#endif
