/* SPDX-License-Identifier: Apache-2.0 */
/* space: the placement that was measured on a driver, place by place. */
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
    tap_u64(b, START + CHUNK, "a large one gets space of its own");
    tap_u64(c, START + 4 * U, "a small one is packed into the open chunk");
    tap_u64(d, START + 2 * CHUNK, "one that does not fit opens another");
    tap_u64(take(&va, 8, 0), START + 8 * U, "first fit by address");
    tap_u64(take(&va, 17, 0), START + 3 * CHUNK, "large ones take whole chunks");
    tap_u64(take(&va, 16, 0), START + 5 * CHUNK, "so this much is gone");
    va_allocator_free(&va, b, 16 * U);
    tap_u64(take(&va, 1, 0), START + 2 * CHUNK + 9 * U, "free space of no chunk is not for small ones");
    va_allocator_free(&va, d, 9 * U);
    va_allocator_free(&va, START + 2 * CHUNK + 9 * U, U);
    tap_u64(take(&va, 32, 0), START + CHUNK, "a chunk closes with its last range and joins what is beside it");
    va_allocator_clear(&va);
}

/* What was taken last and given back is there for whoever asks the same, and for everybody else as well. */
static void test_same_again(void)
{
    struct va_allocator va;
    va_allocator_init(&va, START, END, CHUNK);
    uint64_t a = take(&va, 4, 0);
    va_allocator_free(&va, a, 4 * U);
    tap_u64(take(&va, 4, 0), a, "the same request gets the same place");
    tap_u64(take(&va, 4, 0), a + 4 * U, "but once");
    va_allocator_free(&va, a, 4 * U);
    va_allocator_free(&va, a + 4 * U, 4 * U);
    tap_u64(take(&va, 16, 0), START, "what was given back is free for other requests");
    va_allocator_free(&va, START, 16 * U);
    tap_u64(take(&va, 16, START + CHUNK), START + CHUNK, "or for others of that size elsewhere");
    tap_u64(take(&va, 16, 0), START, "and it is free after them");
    va_allocator_clear(&va);
}

/* More than there is at all, or behind all that there is, of chunks so small that what is rounded might wrap into the space. */
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
    tap_ok(right, "what there is not is not given, all that there is is");
}

/* Two spaces with the same calls; one is asked for the impossible in between, so that it puts nothing off. */
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
            unsigned which = random_below(&seed, 4) ? live - 1 : (unsigned)random_below(&seed, live); /* the last, mostly */
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
    tap_u64(wrong, 0, "what is put off changes no address");
    va_allocator_clear(&lazy);
    va_allocator_clear(&prompt);
}

static void test_hints(void)
{
    struct va_allocator va;
    va_allocator_init(&va, START, END, CHUNK);
    uint64_t a = take(&va, 4, 0);
    tap_u64(take(&va, 2, a + 8 * U), a + 8 * U, "a hint in an open chunk is taken exactly");
    tap_u64(take(&va, 2, a), a + 4 * U, "a hint in use: the next free place above");
    tap_u64(take(&va, 1, a + 20 * U), START + 2 * CHUNK, "a hint outside: rounded up to a chunk");
    tap_u64(take(&va, 16, START + 5 * U), START + CHUNK, "a large one: the same");
    tap_u64(take(&va, 16, END - CHUNK), END - CHUNK, "the last chunk");
    tap_u64(take(&va, 16, END - CHUNK), 0, "no wrap to lower addresses");
    tap_u64(take(&va, 16, UINT64_MAX), 0, "nor past the end of everything");
    va_allocator_clear(&va);
}

static void test_alignment(void)
{
    struct va_allocator va;
    uint64_t at = 0;
    va_allocator_init(&va, START, END, CHUNK);
    take(&va, 1, 0);
    tap_ok(va_allocator_take(&va, U, 8 * U, 0, &at) == VA_ALLOCATOR_TAKEN && at == START + 8 * U, "aligned within a chunk");
    tap_ok(va_allocator_take(&va, U, 4 * CHUNK, 0, &at) == VA_ALLOCATOR_TAKEN && at == START + 4 * CHUNK, "a chunk for alignment");
    tap_ok(va_allocator_take(&va, U, START * 2, 0, &at) == VA_ALLOCATOR_FULL, "an alignment that no address has");
    va_allocator_clear(&va);
}

static void test_without_chunks(void)
{
    struct va_allocator va;
    va_allocator_init(&va, START, START + 4 * U, U);
    tap_u64(take(&va, 1, 0), START, "chunk = unit: plain first fit");
    tap_u64(take(&va, 2, 0), START + U, "and the next");
    tap_u64(take(&va, 2, 0), 0, "until it is full");
    tap_u64(take(&va, 1, START + 3 * U), START + 3 * U, "the last unit");
    va_allocator_clear(&va);
}

/* Whatever was taken and given back, at the end all is one hole again; what lives never overlaps. */
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
    tap_u64(take(&va, 64 * 16, 0), START, "and all comes back");
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
