/* SPDX-License-Identifier: Apache-2.0 */
/* pool: allocated things never overlap, freed things are reused, and things as large as a cache line are aligned to one. */
#include "pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "random.h"
#include "tap.h"

/* The number of bytes in use on the C library's heap, if the library reports them. */
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#define IN_USE() (mallinfo2().uordblks)
#endif
#endif
#ifndef IN_USE
#define IN_USE() ((size_t)0)
#endif

struct thing {
    uint64_t word[8];
};

enum { MOST = 2000 };

static void fill(struct thing *thing, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        thing->word[i] = value;
}

static bool holds(const struct thing *thing, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        if (thing->word[i] != value)
            return false;
    return true;
}

/* taken  [1][2][3][4] ...     random frees and allocations: every allocated thing keeps its contents */
static void test_random(uint64_t seed)
{
    static struct thing *out[MOST];
    struct pool pool;
    uint64_t state = seed;
    unsigned wrong = 0, askew = 0;
    pool_init(&pool, sizeof(struct thing));
    memset(out, 0, sizeof out);
    for (unsigned step = 0; step < 20000; step++) {
        uint64_t i = random_below(&state, MOST);
        if (out[i]) {
            wrong += !holds(out[i], i);
            pool_free(&pool, out[i]);
            out[i] = NULL;
        } else if ((out[i] = pool_alloc(&pool)) != NULL) {
            askew += (uintptr_t)out[i] % _Alignof(struct thing) != 0;
            fill(out[i], i);
        }
    }
    for (unsigned i = 0; i < MOST; i++)
        if (out[i]) {
            wrong += !holds(out[i], i);
            pool_free(&pool, out[i]);
        }
    tap_u64(wrong, 0, "20000 random steps: no two allocated things overlap");
    tap_u64(askew, 0, "all things are aligned");
    pool_clear(&pool);
    tap_ok(!pool.slabs && !pool.spare && !pool.left, "cleared");
}

#ifndef POOL_PLAIN
/* Each slab holds one more than all earlier slabs together, up to 64 KiB; from 4 MiB on, 16 MiB: few allocations, and little
 * unused space. */
static void test_slabs(size_t size)
{
    struct pool pool;
    size_t before = IN_USE(), taken = 0, least = 0, grown = 0;
    pool_init(&pool, size);
    while (pool.all * size < 3 << 20)
        taken += pool_alloc(&pool) != NULL;
    tap_ok(pool.slab == (1 << 16) / size, "slabs of %zu-byte things grow to 64 KiB", size);
    while (pool.all * size < 30 << 20) {
        least = pool.left ? least : pool.all * size;
        taken += pool_alloc(&pool) != NULL;
        grown += pool.slab > (1 << 16) / size && !grown ? pool.all * size : 0;
    }
    tap_ok(grown >= 4 << 20 && grown < (4 << 20) + (1 << 17) && pool.slab == (16 << 20) / size, "to 16 MiB when the pool has 4 MiB, and no further");
    tap_ok(pool.all * size < least + (16 << 20) + 64, "a slab is added when the ones before are full");
    size_t slabs = 0;
    for (void *slab = pool.slabs; slab; slab = *(void **)slab)
        slabs++;
    tap_ok(slabs < 100, "the number of slabs stays small");
    const char *wrong = pool_check(&pool, taken);
    tap_ok(!wrong, "the pool counts as many as were allocated");
    pool_clear(&pool);
    tap_ok(IN_USE() < before + (1 << 16), "clearing frees all slabs, except what the C library caches");
}
#endif

static void test_again(void)
{
    struct pool pool;
    pool_init(&pool, sizeof(struct thing));
    struct thing *a = pool_alloc(&pool), *b = pool_alloc(&pool);
    tap_ok(a && b && a != b, "two allocations are distinct");
#ifndef POOL_PLAIN
    pool_free(&pool, a);
    tap_ok(pool_alloc(&pool) == a, "the thing freed last is allocated next");
    tap_ok((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0, "things as large as a cache line are aligned to one");
#endif
    pool_free(&pool, a);
    pool_free(&pool, b);
    pool_clear(&pool);
    a = pool_alloc(&pool);
    tap_ok(a != NULL, "a cleared pool can be used again");
    pool_free(&pool, a);
    pool_clear(&pool);
}

int main(void)
{
    test_again();
#ifndef POOL_PLAIN
    test_slabs(sizeof(struct thing));
    test_slabs(48);
#endif
    test_random(random_seed(3));
    return tap_done();
}
