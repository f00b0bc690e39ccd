/* SPDX-License-Identifier: Apache-2.0 */
/* free_ranges: directed cases with pictures, then random operations compared with one flag per unit. */
#include "free_ranges.h"

#include <string.h>

#include "random.h"
#include "tap.h"

#define U UINT64_C(0x1000)
#define START (16 * U)
enum { UNITS = 96 };
#define END (START + UNITS * U)

/* Is all of [address, address + size) free? */
static bool contains(const struct free_ranges *holes, uint64_t address, uint64_t size)
{
    uint64_t at = 0;
    return free_ranges_find(holes, size, 1, address, &at) && at == address;
}

static void test_choice(void)
{
    struct free_ranges holes;
    uint64_t at = 0;
    free_ranges_init(&holes, 0);
    tap_ok(!free_ranges_find(&holes, 1, 1, 0, &at), "nothing is free before the first grant");
    free_ranges_grant(&holes, START, END - START);
    tap_ok(free_ranges_find(&holes, U, U, 0, &at) && at == START, "the lowest free address is chosen");
    tap_ok(free_ranges_find(&holes, U, 32 * U, 0, &at) && at == 32 * U, "the address is aligned up within a free range");
    tap_ok(free_ranges_find(&holes, UNITS * U, U, 0, &at) && at == START, "a request for the whole range fits");
    tap_ok(!free_ranges_find(&holes, UNITS * U + U, U, 0, &at), "a request for more than the range fails");
    tap_ok(!free_ranges_find(&holes, 0, U, 0, &at), "a request for 0 bytes fails");
    tap_ok(!free_ranges_find(&holes, U, 256 * U, 0, &at), "an alignment without a multiple in the range fails");
    tap_ok(!free_ranges_find(&holes, (UNITS - 15) * U, 32 * U, 0, &at), "the gap that alignment leaves counts");
    free_ranges_clear(&holes);
}

/* before  [ # . . # . . . . ]   take 1..3   [ # # # # . . . . ]   give 1..3, alone and beside other free units */
static void test_taken_whole(void)
{
    struct free_ranges holes;
    uint64_t at = 0;
    free_ranges_init(&holes, 0);
    free_ranges_grant(&holes, START, 8 * U);
    free_ranges_take(&holes, START, U);
    free_ranges_take(&holes, START + 3 * U, U);
    free_ranges_take(&holes, START + U, 2 * U);
    tap_ok(!contains(&holes, START + U, U) && free_ranges_find(&holes, U, U, START + U, &at) && at == START + 4 * U,
           "a range taken whole is skipped by the search");
    free_ranges_add(&holes, START + U, 2 * U);
    tap_ok(contains(&holes, START + U, 2 * U) && !contains(&holes, START, 2 * U), "a freed range has its old bounds");
    free_ranges_take(&holes, START + U, 2 * U);
    free_ranges_add(&holes, START, U);
    free_ranges_add(&holes, START + U, 2 * U);
    tap_ok(contains(&holes, START, 3 * U), "freeing the unit before it merges the two");
    free_ranges_take(&holes, START + 2 * U, U);
    free_ranges_take(&holes, START, 2 * U);
    free_ranges_add(&holes, START + 2 * U, U);
    free_ranges_add(&holes, START + 3 * U, U);
    free_ranges_add(&holes, START, 2 * U);
    tap_ok(contains(&holes, START, 8 * U), "freeing the unit after it merges them as well");
    free_ranges_take(&holes, START + U, U);
    free_ranges_take(&holes, START, U);
    free_ranges_take(&holes, START + 2 * U, 6 * U);
    free_ranges_add(&holes, START, U);
    free_ranges_add(&holes, START + U, U);
    tap_ok(contains(&holes, START, 2 * U) && !contains(&holes, START, 3 * U),
           "the earlier of two ranges taken whole is freed in its place");
    free_ranges_clear(&holes);
}

/*  before  [ . . . . . . . . ]   take 2..4   [ . . # # . . . . ]   take 0..2   [ # # # # . . . . ]   give 1..3 ... */
static void test_pictures(void)
{
    struct free_ranges holes;
    uint64_t at = 0;
    free_ranges_init(&holes, 0);
    free_ranges_grant(&holes, START, END - START);
    tap_ok(free_ranges_take(&holes, START + 2 * U, 2 * U), "a range is taken from the middle");
    tap_ok(contains(&holes, START, 2 * U) && !contains(&holes, START, 2 * U + 1), "the part before it stays free");
    tap_ok(!contains(&holes, START + 2 * U, U) && !contains(&holes, START + 3 * U, U), "the taken part is not free");
    tap_ok(contains(&holes, START + 4 * U, (UNITS - 4) * U), "the part after it stays free");
    tap_ok(free_ranges_find(&holes, 3 * U, U, 0, &at) && at == START + 4 * U,
           "a request too large for the first free range gets the second");
    tap_ok(free_ranges_take(&holes, START, 2 * U), "a free range is taken whole");
    tap_ok(free_ranges_find(&holes, U, U, START + 9 * U + 1, &at) && at == START + 10 * U,
           "the search starts inside a free range");
    tap_ok(!free_ranges_find(&holes, U, U, END - U + 1, &at) && !free_ranges_find(&holes, U, U, END, &at),
           "the search finds nothing at or near the end");
    free_ranges_add(&holes, START, 2 * U);
    tap_ok(contains(&holes, START, 2 * U) && !contains(&holes, START, 3 * U), "freed ranges that do not touch stay apart");
    tap_ok(free_ranges_find(&holes, 2 * U, U, START + U, &at) && at == START + 4 * U,
           "the search skips what is left of the first free range");
    free_ranges_add(&holes, START + 2 * U, 2 * U);
    tap_ok(contains(&holes, START, UNITS * U), "all units merge into one free range");
    tap_ok(!contains(&holes, START - U, U) && !contains(&holes, END, U), "addresses outside the granted range are never free");
    tap_ok(!contains(&holes, START, UINT64_MAX), "a size that overflows is not free");
    free_ranges_clear(&holes);
}

/* barrier  |a a . .|. . b b|   free ranges on both sides of a barrier stay apart */
static void test_barrier(void)
{
    struct free_ranges holes;
    uint64_t at = 0;
    free_ranges_init(&holes, 4 * U);
    free_ranges_grant(&holes, START, 4 * U);
    free_ranges_grant(&holes, START + 4 * U, 4 * U);
    tap_ok(!free_ranges_find(&holes, 5 * U, U, 0, &at), "no free range crosses a barrier");
    free_ranges_take(&holes, START + 2 * U, 2 * U);
    free_ranges_take(&holes, START + 4 * U, 2 * U);
    free_ranges_add(&holes, START + 2 * U, 2 * U);
    free_ranges_add(&holes, START + 4 * U, 2 * U);
    tap_ok(!free_ranges_find(&holes, 5 * U, U, 0, &at), "free ranges on both sides of a barrier do not merge");
    free_ranges_remove(&holes, START);
    tap_ok(free_ranges_find(&holes, U, U, 0, &at) && at == START + 4 * U, "removing one granted range leaves the other");
    free_ranges_remove(&holes, START + 4 * U);
    tap_ok(!holes.root && !holes.spare, "removing both leaves nothing");
    free_ranges_clear(&holes);
}

static bool flags_free(const bool *used, uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + n; i++)
        if (i >= UNITS || used[i])
            return false;
    return true;
}

static bool flags_find(const bool *used, uint64_t n, uint64_t align, uint64_t from, uint64_t *first)
{
    for (uint64_t i = from; i < UNITS; i++)
        if ((START / U + i) % align == 0 && flags_free(used, i, n)) {
            *first = i;
            return true;
        }
    return false;
}

static unsigned compare(const struct free_ranges *holes, const bool *used, uint64_t *state)
{
    uint64_t n = 1 + random_below(state, 12), align = UINT64_C(1) << random_below(state, 6), first = 0, at = 0;
    uint64_t probe = random_below(state, UNITS);
    uint64_t from = random_below(state, 3) ? 0 : random_below(state, UNITS);
    bool want = flags_find(used, n, align, from, &first);
    bool got = free_ranges_find(holes, n * U, align * U, from ? START + from * U : 0, &at);
    unsigned wrong = want != got || (want && at != START + first * U);
    return wrong + (contains(holes, START + probe * U, n * U) != flags_free(used, probe, n));
}

static void test_random(uint64_t seed)
{
    struct free_ranges holes;
    bool used[UNITS];
    struct {
        uint64_t first, n;
    } taken[UNITS];
    unsigned count = 0, wrong = 0;
    uint64_t state = seed;
    memset(used, 0, sizeof used);
    free_ranges_init(&holes, 0);
    free_ranges_grant(&holes, START, END - START);
    for (int step = 0; step < 20000; step++) {
        uint64_t first = random_below(&state, UNITS), n = 1 + random_below(&state, 8);
        if (random_below(&state, 2) && flags_free(used, first, n)) {
            wrong += !free_ranges_take(&holes, START + first * U, n * U);
            memset(used + first, 1, n);
            taken[count].first = first;
            taken[count++].n = n;
        } else if (count) {
            uint64_t i = random_below(&state, count);
            free_ranges_add(&holes, START + taken[i].first * U, taken[i].n * U);
            memset(used + taken[i].first, 0, taken[i].n);
            taken[i] = taken[--count];
        }
        wrong += compare(&holes, used, &state);
        wrong += free_ranges_check(&holes, 1 + count) || free_ranges_check_at(&holes, START + first * U);
    }
    tap_u64(wrong, 0, "20000 random operations agree with one flag per unit");
    free_ranges_clear(&holes);
}

int main(void)
{
    test_choice();
    test_taken_whole();
    test_pictures();
    test_barrier();
    test_random(random_seed(2));
    return tap_done();
}
