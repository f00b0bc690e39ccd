/* SPDX-License-Identifier: Apache-2.0 */
/* va_allocator: the placement that was measured on a driver, step by step. */
#include "va_allocator.h"

#include "random.h"
#include "tap.h"

#define U UINT64_C(0x200000)
#define CHUNK (16 * U)
#define START (UINT64_C(1) << 40)
#define END (START + 64 * CHUNK)

static uint64_t take(struct va_allocator *va, uint64_t units, uint64_t from)
{
    uint64_t at = 0;
    return va_allocator_take(va, units * U, U, from, &at) == VA_ALLOCATOR_TAKEN ? at : 0;
}

static void test_packing(void)
{
    struct va_allocator va;
    va_allocator_init(&va, START, END, CHUNK);
    uint64_t a = take(&va, 4, 0), b = take(&va, 16, 0), c = take(&va, 4, 0), d = take(&va, 9, 0);
    tap_u64(a, START, "the first range opens the first chunk");
    tap_u64(b, START + CHUNK, "a large range gets its own chunks");
    tap_u64(c, START + 4 * U, "a small range is packed into the open chunk");
    tap_u64(d, START + 2 * CHUNK, "a range that does not fit opens another chunk");
    tap_u64(take(&va, 8, 0), START + 8 * U, "first fit by address");
    tap_u64(take(&va, 17, 0), START + 3 * CHUNK, "large ranges take whole chunks");
    tap_u64(take(&va, 16, 0), START + 5 * CHUNK, "17 units took two chunks");
    va_allocator_free(&va, b, 16 * U);
    tap_u64(take(&va, 1, 0), START + 2 * CHUNK + 9 * U, "free space outside open chunks is not used for small ranges");
    va_allocator_free(&va, d, 9 * U);
    va_allocator_free(&va, START + 2 * CHUNK + 9 * U, U);
    tap_u64(take(&va, 32, 0), START + CHUNK, "a chunk closes with its last range and merges with its free neighbour");
    va_allocator_clear(&va);
}

/* A range that was taken last and freed is available to the same request and to every other one. */
static void test_same_again(void)
{
    struct va_allocator va;
    va_allocator_init(&va, START, END, CHUNK);
    uint64_t a = take(&va, 4, 0);
    va_allocator_free(&va, a, 4 * U);
    tap_u64(take(&va, 4, 0), a, "the same request gets the same address");
    tap_u64(take(&va, 4, 0), a + 4 * U, "a second one does not");
    va_allocator_free(&va, a, 4 * U);
    va_allocator_free(&va, a + 4 * U, 4 * U);
    tap_u64(take(&va, 16, 0), START, "a freed range is available to other requests");
    va_allocator_free(&va, START, 16 * U);
    tap_u64(take(&va, 16, START + CHUNK), START + CHUNK, "a request with another hint gets another address");
    tap_u64(take(&va, 16, 0), START, "the freed range is still available after that");
    va_allocator_clear(&va);
}

/* Requests larger than all addresses, or beyond them; with small chunks, rounding up could wrap around to valid addresses. */
static void test_too_much(void)
{
    static const uint64_t chunks[] = {4096, CHUNK};
    bool right = true;
    for (unsigned i = 0; i < 2; i++) {
        struct va_allocator va;
        uint64_t at = 77;
        va_allocator_init(&va, START, END, chunks[i]);
        for (uint64_t less = 0; less < 3 * chunks[i]; less += chunks[i] / 2 - 1) {
            right &= va_allocator_take(&va, UINT64_MAX - less, chunks[i], 0, &at) == VA_ALLOCATOR_FULL;
            right &= va_allocator_take(&va, chunks[i], chunks[i], UINT64_MAX - less, &at) == VA_ALLOCATOR_FULL;
        }
        right &= va_allocator_take(&va, END - START + 1, chunks[i], 0, &at) == VA_ALLOCATOR_FULL && at == 77;
        right &= va_allocator_take(&va, END - START, chunks[i], 0, &at) == VA_ALLOCATOR_TAKEN && at == START;
        va_allocator_clear(&va);
    }
    tap_ok(right, "impossible requests fail, and one for all addresses succeeds");
}

/* Two allocators with the same calls. Impossible requests in between make one of them carry out every deferred free. */
static void test_put_off(uint64_t seed)
{
    enum { RANGES = 24 };
    struct va_allocator lazy, prompt;
    struct {
        uint64_t at, size;
    } range[RANGES];
    unsigned live = 0, wrong = 0;
    va_allocator_init(&lazy, START, END, CHUNK);
    va_allocator_init(&prompt, START, END, CHUNK);
    for (unsigned i = 0; i < random_rounds(20000); i++) {
        uint64_t none, other = 0;
        wrong += va_allocator_take(&prompt, UINT64_MAX, U, 0, &none) != VA_ALLOCATOR_FULL;
        if (live && (live == RANGES || random_below(&seed, 2))) {
            unsigned which = random_below(&seed, 4) ? live - 1 : (unsigned)random_below(&seed, live); /* mostly the last one */
            va_allocator_free(&lazy, range[which].at, range[which].size);
            va_allocator_free(&prompt, range[which].at, range[which].size);
            range[which] = range[--live];
        } else {
            uint64_t size = (1 + random_below(&seed, 3) * random_below(&seed, 8)) * U, from = random_below(&seed, 2) * 3 * CHUNK;
            wrong += va_allocator_take(&lazy, size, U, from, &range[live].at) != VA_ALLOCATOR_TAKEN;
            wrong += va_allocator_take(&prompt, size, U, from, &other) != VA_ALLOCATOR_TAKEN || other != range[live].at;
            range[live++].size = size;
        }
    }
    tap_u64(wrong, 0, "deferring a free changes no address");
    va_allocator_clear(&lazy);
    va_allocator_clear(&prompt);
}

static void test_hints(void)
{
    struct va_allocator va;
    va_allocator_init(&va, START, END, CHUNK);
    uint64_t a = take(&va, 4, 0);
    tap_u64(take(&va, 2, a + 8 * U), a + 8 * U, "a free hint in an open chunk is used exactly");
    tap_u64(take(&va, 2, a), a + 4 * U, "for a hint in use, the next free address above it");
    tap_u64(take(&va, 1, a + 20 * U), START + 2 * CHUNK, "a hint outside open chunks is rounded up to a chunk");
    tap_u64(take(&va, 16, START + 5 * U), START + CHUNK, "the hint of a large range is rounded up to a chunk");
    tap_u64(take(&va, 16, END - CHUNK), END - CHUNK, "a hint at the last chunk is used");
    tap_u64(take(&va, 16, END - CHUNK), 0, "the search does not wrap around to lower addresses");
    tap_u64(take(&va, 16, UINT64_MAX), 0, "a hint at the end of the address space does not wrap around");
    va_allocator_clear(&va);
}

static void test_alignment(void)
{
    struct va_allocator va;
    uint64_t at = 0;
    va_allocator_init(&va, START, END, CHUNK);
    take(&va, 1, 0);
    tap_ok(va_allocator_take(&va, U, 8 * U, 0, &at) == VA_ALLOCATOR_TAKEN && at == START + 8 * U,
           "a small range is aligned within a chunk");
    tap_ok(va_allocator_take(&va, U, 4 * CHUNK, 0, &at) == VA_ALLOCATOR_TAKEN && at == START + 4 * CHUNK,
           "an alignment above the chunk opens an aligned chunk");
    tap_ok(va_allocator_take(&va, U, START * 2, 0, &at) == VA_ALLOCATOR_FULL, "an alignment that no address has fails");
    va_allocator_clear(&va);
}

static void test_without_chunks(void)
{
    struct va_allocator va;
    va_allocator_init(&va, START, START + 4 * U, U);
    tap_u64(take(&va, 1, 0), START, "with chunks of one unit, allocation is plain first fit");
    tap_u64(take(&va, 2, 0), START + U, "the next range follows the first");
    tap_u64(take(&va, 2, 0), 0, "a request larger than the rest fails");
    tap_u64(take(&va, 1, START + 3 * U), START + 3 * U, "the last unit can be taken");
    va_allocator_clear(&va);
}

/* Random takes and frees: live ranges never overlap, and after the last free all addresses are one free range again. */
static void test_random(uint64_t seed)
{
    struct va_allocator va;
    struct {
        uint64_t at, size;
    } live[64];
    unsigned count = 0, overlaps = 0;
    uint64_t state = seed, at = 0;
    va_allocator_init(&va, START, END, CHUNK);
    for (int step = 0; step < 20000; step++) {
        uint64_t size = (1 + random_below(&state, 40)) * U, from = START + random_below(&state, 64 * 16) * U;
        if (count < 64 && random_below(&state, 2)) {
            if (va_allocator_take(&va, size, U << random_below(&state, 6), random_below(&state, 2) ? from : 0, &at) !=
                VA_ALLOCATOR_TAKEN)
                continue;
            for (unsigned i = 0; i < count; i++)
                overlaps += at < live[i].at + live[i].size && live[i].at < at + size;
            live[count].at = at;
            live[count++].size = size;
        } else if (count) {
            unsigned i = (unsigned)random_below(&state, count);
            va_allocator_free(&va, live[i].at, live[i].size);
            live[i] = live[--count];
        }
    }
    while (count--)
        va_allocator_free(&va, live[count].at, live[count].size);
    tap_u64(overlaps, 0, "20000 random steps: no two ranges overlap");
    tap_u64(take(&va, 64 * 16, 0), START, "all addresses are one free range at the end");
    va_allocator_clear(&va);
}

int main(void)
{
    test_packing();
    test_same_again();
    test_too_much();
    test_put_off(random_seed(5));
    test_hints();
    test_alignment();
    test_without_chunks();
    test_random(random_seed(3));
    return tap_done();
}
