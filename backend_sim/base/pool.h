/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - allocator for many things of one size: a few instructions to allocate or free, packed without gaps.
 *
 *   slab   [ thing | free | thing | free | ... fresh ... ]      free things form a list, the last freed first
 *
 * The pool allocates a slab from the system when the list is empty, and frees all slabs only when it is cleared: a process keeps
 * the memory that it once needed. With AddressSanitizer each thing is a separate allocation, so that a use-after-free is
 * reported. The caller does all locking.
 *
 * Slabs grow to 64 KiB; in a pool of 4 MiB or more they grow to 16 MiB, in huge pages if the system has them: a quarter of the
 * time to find one of a million things goes to the page that it lies in.
 *
 * Invariant (pool_check): things of all slabs = taken + freed + left, and each freed thing is on the free list exactly once.
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include <stddef.h>

struct pool {
    size_t size;          /* of one thing, in bytes */
    void *spare;          /* the free list; each free thing starts with the address of the next */
    unsigned char *fresh; /* the next never-used thing */
    size_t left;          /* never-used things in the newest slab */
    void *slabs;
    size_t slab;          /* capacity of the next slab */
    size_t all;           /* things in all slabs */
};

/* Initialises an empty pool for things of size bytes; size must be at least a pointer's and a multiple of its alignment. */
void pool_init(struct pool *pool, size_t size);
/* Frees all slabs, including things that are still allocated. The empty pool can be used again. */
void pool_clear(struct pool *pool);

/* Checks that the number of allocated things equals taken. If each is a separate allocation, the pool cannot count them. */
const char *pool_check(const struct pool *pool, size_t taken);

/* Returns a never-used thing, from a new slab if necessary. Returns NULL, and changes nothing, when memory is exhausted. */
void *pool_grow(struct pool *pool);

#if defined(__SANITIZE_ADDRESS__)
#define POOL_PLAIN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_PLAIN 1
#endif
#endif

/* Allocates a thing with undefined contents; NULL when memory is exhausted. */
static inline void *pool_alloc(struct pool *pool)
{
    void *thing = pool->spare;
    if (!thing)
        return pool_grow(pool);
    pool->spare = *(void **)thing;
    return thing;
}

#ifdef POOL_PLAIN
void pool_free(struct pool *pool, void *thing);
#else
static inline void pool_free(struct pool *pool, void *thing)
{
    *(void **)thing = pool->spare;
    pool->spare = thing;
}
#endif

#endif
