/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - room for many things of one size: taken and given back in a few instructions, packed without gaps.
 *
 *   slab   [ thing | free | thing | free | ... fresh ... ]      free things are a list, the last given back first
 *
 * A slab is asked of the system when the list is empty, and goes back to it when the pool is cleared: the room that a
 * process once needed stays with it. With AddressSanitizer each thing is an allocation of its own, so that a use after
 * its end is found. All locking is up to the caller.
 *
 * Invariant (pool_check): things of all slabs = taken + given back + left, none of them given back twice.
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include <stddef.h>

struct pool {
    size_t size;          /* of a thing */
    void *spare;          /* given back: each begins with the address of the next */
    unsigned char *fresh; /* never used yet */
    size_t left;          /* of these */
    void *slabs;
    size_t slab;          /* things in the next slab */
};

/* Empty, for things of size bytes, at least a pointer's and a multiple of its alignment. */
void pool_init(struct pool *pool, size_t size);
/* Things that are still out end as well. The pool is empty afterwards, and can be used again. */
void pool_clear(struct pool *pool);

/* Are that many things taken? Where each is an allocation of its own nothing is known of them. */
const char *pool_check(const struct pool *pool, size_t taken);

/* Room that was never used, of another slab where need be; NULL when memory is out: nothing has changed. */
void *pool_grow(struct pool *pool);

#if defined(__SANITIZE_ADDRESS__)
#define POOL_PLAIN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_PLAIN 1
#endif
#endif

/* Room for a thing, with whatever was in it; NULL when memory is out. */
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
