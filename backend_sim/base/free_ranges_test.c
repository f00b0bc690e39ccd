/* SPDX-License-Identifier: Apache-2.0 */
/* free_ranges: directed cases with their pictures, then random ones against one flag per unit. */
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
    tap_ok(!free_ranges_find(&holes, U, U, 0, &at), "nothing is free before something is granted");
    free_ranges_grant(&holes, START, END - START);
    tap_ok(free_ranges_find(&holes, U, U, 0, &at) && at == START, "the lowest address is chosen");
    tap_ok(free_ranges_find(&holes, U, 32 * U, 0, &at) && at == 32 * U, "aligned up within a hole");
    tap_ok(free_ranges_find(&holes, UNITS * U, U, 0, &at) && at == START, "the whole space fits");
    tap_ok(!free_ranges_find(&holes, UNITS * U + U, U, 0, &at), "more than the space does not");
    tap_ok(!free_ranges_find(&holes, 0, U, 0, &at), "nothing cannot be found");
    tap_ok(!free_ranges_find(&holes, U, 256 * U, 0, &at), "an alignment with no multiple in the space");
    tap_ok(!free_ranges_find(&holes, (UNITS - 15) * U, 32 * U, 0, &at), "the alignment's gap counts");
    free_ranges_clear(&holes);
}

/*  before  [ # . . # . . . . ]   take 1..3   [ # # # # . . . . ]   give 1..3, alone and beside what came free */
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
           "nothing is found in a hole that was taken whole");
    free_ranges_add(&holes, START + U, 2 * U);
    tap_ok(contains(&holes, START + U, 2 * U) && !contains(&holes, START, 2 * U), "given back it is what it was");
    free_ranges_take(&holes, START + U, 2 * U);
    free_ranges_add(&holes, START, U);
    free_ranges_add(&holes, START + U, 2 * U);
    tap_ok(contains(&holes, START, 3 * U), "or one with what came free before it");
    free_ranges_take(&holes, START + 2 * U, U);
    free_ranges_take(&holes, START, 2 * U);
    free_ranges_add(&holes, START + 2 * U, U);
    free_ranges_add(&holes, START + 3 * U, U);
    free_ranges_add(&holes, START, 2 * U);
    tap_ok(contains(&holes, START, 8 * U), "or after it");
    free_ranges_take(&holes, START + U, U);
    free_ranges_take(&holes, START, U);
    free_ranges_take(&holes, START + 2 * U, 6 * U);
    free_ranges_add(&holes, START, U);
    free_ranges_add(&holes, START + U, U);
    tap_ok(contains(&holes, START, 2 * U) && !contains(&holes, START, 3 * U), "of two taken whole the earlier is in its place");
    free_ranges_clear(&holes);
}

/*  before  [ . . . . . . . . ]   take 2..4   [ . . # # . . . . ]   take 0..2   [ # # # # . . . . ]   give 1..3 ... */
static void test_pictures(void)
{
    struct free_ranges holes;
    uint64_t at = 0;
    free_ranges_init(&holes, 0);
    free_ranges_grant(&holes, START, END - START);
    tap_ok(free_ranges_take(&holes, START + 2 * U, 2 * U), "taken from the middle");
    tap_ok(contains(&holes, START, 2 * U) && !contains(&holes, START, 2 * U + 1), "the part before is free");
    tap_ok(!contains(&holes, START + 2 * U, U) && !contains(&holes, START + 3 * U, U), "the part is not");
    tap_ok(contains(&holes, START + 4 * U, (UNITS - 4) * U), "the part after is free");
    tap_ok(free_ranges_find(&holes, 3 * U, U, 0, &at) && at == START + 4 * U, "a request too large for the first hole");
    tap_ok(free_ranges_take(&holes, START, 2 * U), "a hole taken whole");
    tap_ok(free_ranges_find(&holes, U, U, START + 9 * U + 1, &at) && at == START + 10 * U, "from an address inside a hole on");
    tap_ok(!free_ranges_find(&holes, U, U, END - U + 1, &at) && !free_ranges_find(&holes, U, U, END, &at), "nothing from there on");
    free_ranges_add(&holes, START, 2 * U);
    tap_ok(contains(&holes, START, 2 * U) && !contains(&holes, START, 3 * U), "given back apart");
    tap_ok(free_ranges_find(&holes, 2 * U, U, START + U, &at) && at == START + 4 * U, "from inside the first hole on");
    free_ranges_add(&holes, START + 2 * U, 2 * U);
    tap_ok(contains(&holes, START, UNITS * U), "all is one hole again");
    tap_ok(!contains(&holes, START - U, U) && !contains(&holes, END, U), "outside is never free");
    tap_ok(!contains(&holes, START, UINT64_MAX), "a size that overflows is not free");
    free_ranges_clear(&holes);
}

/*  barrier  |a a . .|. . b b|   holes on both sides of a barrier stay two */
static void test_barrier(void)
{
    struct free_ranges holes;
    uint64_t at = 0;
    free_ranges_init(&holes, 4 * U);
    free_ranges_grant(&holes, START, 4 * U);
    free_ranges_grant(&holes, START + 4 * U, 4 * U);
    tap_ok(!free_ranges_find(&holes, 5 * U, U, 0, &at), "a range cannot lie across a barrier");
    free_ranges_take(&holes, START + 2 * U, 2 * U);
    free_ranges_take(&holes, START + 4 * U, 2 * U);
    free_ranges_add(&holes, START + 2 * U, 2 * U);
    free_ranges_add(&holes, START + 4 * U, 2 * U);
    tap_ok(!free_ranges_find(&holes, 5 * U, U, 0, &at), "nor after both sides came back");
    free_ranges_remove(&holes, START);
    tap_ok(free_ranges_find(&holes, U, U, 0, &at) && at == START + 4 * U, "withdrawn: the other one is left");
    free_ranges_remove(&holes, START + 4 * U);
    tap_ok(!holes.root && !holes.spare, "and nothing after that");
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
    tap_u64(wrong, 0, "20000 random steps agree with one flag per unit");
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
