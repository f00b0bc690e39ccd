/* SPDX-License-Identifier: Apache-2.0 */
/* accesses: random work on ranges of one memory, compared with the same work on memories of one byte each, where
 * parts are never split or merged: both find the same pairs at each byte, and report the same writer. */
#include "accesses.h"

#include <string.h>

#include "random.h"
#include "tap.h"

enum { WORKS = 10, BYTES = 20, USES = 3, ROUNDS = 60, STEPS = 60 };

struct order_work {
    unsigned number, holds;
};

/* The findings: the earlier work, its use, the current work, its use, and the byte. */
struct side {
    struct accesses accesses;
    struct accesses_owner owner;
    struct order_work work[WORKS];
    unsigned found[WORKS][USES][WORKS][USES][BYTES];
    bool bytes; /* a memory for each */
};

static struct side whole, apart;
static bool comes_before[WORKS][WORKS], is_settled[WORKS], is_late;
static uint64_t start; /* of the range of all bytes */

static bool settled(void *user, const struct order_work *work)
{
    (void)user;
    return is_settled[work->number];
}

static bool before(void *user, const struct order_work *work, const struct order_work *other)
{
    (void)user;
    return comes_before[work->number][other->number];
}

static bool late(void *user)
{
    (void)user;
    return is_late;
}

static void found(void *user, struct order_work *other, enum order_use use, struct order_work *now, enum order_use uses,
                  const struct accesses_range *range)
{
    struct side *side = user;
    unsigned *at = side->found[other->number][use][now->number][uses];
    if (side->bytes)
        at[range->memory]++;
    for (uint64_t offset = range->first; !side->bytes && offset - start < BYTES && offset <= range->last; offset++)
        at[offset - start]++;
}

static void hold(struct order_work *work)
{
    work->holds++;
}

static void drop(struct order_work *work)
{
    work->holds--;
}

static void open_side(struct side *side, bool bytes)
{
    memset(side, 0, sizeof *side);
    side->bytes = bytes;
    side->owner = (struct accesses_owner){settled, before, late, found, hold, drop, side};
    for (unsigned i = 0; i < WORKS; i++)
        side->work[i].number = i;
    accesses_open(&side->accesses);
}

/* Closes it; returns the number of accesses that it still held. */
static unsigned close_side(struct side *side)
{
    unsigned holds = 0;
    accesses_close(&side->accesses, &side->owner);
    for (unsigned i = 0; i < WORKS; i++)
        holds += side->work[i].holds;
    return holds;
}

/* Records an access of [first, last] on both sides; without work, drops all accesses there. */
static void both(const unsigned *work, enum order_use use, uint64_t first, uint64_t last)
{
    const struct accesses_range range = {7, start + first, start + last};
    if (work)
        accesses_note(&whole.accesses, &whole.owner, &whole.work[*work], use, &range);
    else
        accesses_forget(&whole.accesses, &whole.owner, &range);
    for (uint64_t byte = first; byte <= last; byte++) {
        const struct accesses_range one = {byte, 5, 5};
        if (work)
            accesses_note(&apart.accesses, &apart.owner, &apart.work[*work], use, &one);
        else
            accesses_forget(&apart.accesses, &apart.owner, &one);
    }
}

static bool same_writers(void)
{
    bool same = true;
    for (uint64_t byte = 0; byte < BYTES; byte++) {
        const struct order_work *one = accesses_writer(&whole.accesses, 7, start + byte);
        const struct order_work *other = accesses_writer(&apart.accesses, byte, 5);
        same = same && (one ? other && one->number == other->number : !other);
    }
    return same;
}

static void step(uint64_t *random)
{
    const unsigned work = (unsigned)random_below(random, WORKS);
    uint64_t first = random_below(random, BYTES), last = first + random_below(random, BYTES - first);
    if (random_below(random, 8) == 0)
        is_settled[random_below(random, WORKS)] ^= true;
    both(random_below(random, 6) ? &work : NULL, (enum order_use)random_below(random, USES), first, last);
}

/* One round: an order of the works, and steps. Returns the number of rounds with a difference. */
static unsigned differences(uint64_t seed)
{
    uint64_t random = seed;
    unsigned wrong = 0;
    open_side(&whole, false);
    open_side(&apart, true);
    is_late = seed % 3 == 0;
    start = seed % 2 ? 0 : UINT64_MAX - BYTES + 1;
    memset(is_settled, 0, sizeof is_settled);
    for (unsigned i = 0; i < WORKS; i++)
        for (unsigned j = 0; j < WORKS; j++)
            comes_before[i][j] = i < j && random_below(&random, 2);
    for (unsigned i = 0; i < STEPS; i++) {
        step(&random);
        wrong += memcmp(whole.found, apart.found, sizeof whole.found) != 0 || !same_writers() || accesses_check(&whole.accesses);
    }
    wrong += whole.accesses.count > apart.accesses.count; /* parts with the same accesses are merged */
    return wrong + close_side(&whole) + close_side(&apart);
}

static void test_random(void)
{
    unsigned wrong = 0;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++)
        wrong += differences(seed);
    tap_u64(wrong, 0, "ranges and single bytes find the same, and no access is left at the end");
}

/* Two accesses with a gap between them are two parts, which become one when the gap is accessed, too. */
static void test_gap(void)
{
    const unsigned work = 3;
    open_side(&whole, false);
    open_side(&apart, true);
    start = 0;
    memset(is_settled, 0, sizeof is_settled);
    both(&work, ORDER_WRITE, 0, 3);
    both(&work, ORDER_WRITE, 8, 11);
    tap_u64(whole.accesses.count, 2, "writes on both sides of a gap do not cover the gap");
    tap_ok(!accesses_writer(&whole.accesses, 7, 5) && same_writers(), "the gap has no writer");
    both(&work, ORDER_WRITE, 4, 7);
    tap_u64(whole.accesses.count, 1, "until the gap is written, too");
    tap_u64(close_side(&whole) + close_side(&apart), 0, "no access is left at the end");
}

/* Do two unordered accesses conflict? Two reads and two atomic adds do not. */
static bool meets(unsigned a, unsigned b)
{
    return a != b || a == ORDER_WRITE;
}

/* Two accesses of one piece of work, and one of another piece that is unordered with it. */
static void test_two_of_one_work(void)
{
    static const char *const names[USES] = {"read", "write", "add"};
    const unsigned one = 0, other = 1;
    is_late = false;
    start = 0;
    memset(is_settled, 0, sizeof is_settled);
    memset(comes_before, 0, sizeof comes_before);
    for (unsigned uses = 0; uses < USES * USES * USES; uses++) {
        const unsigned first = uses / USES / USES, second = uses / USES % USES, third = uses % USES;
        unsigned reports = 0;
        open_side(&whole, false);
        open_side(&apart, true);
        both(&one, (enum order_use)first, 0, 0);
        both(&one, (enum order_use)second, 0, 0);
        both(&other, (enum order_use)third, 0, 0);
        for (unsigned use = 0; use < USES; use++)
            reports += whole.found[one][use][other][third][0];
        tap_ok((reports != 0) == (meets(first, third) || meets(second, third)), "a %s and a %s of one work, and a %s of another: %u reports", names[first], names[second],
               names[third], reports);
        close_side(&whole);
        close_side(&apart);
    }
}

/* Accesses of two works, and one of a third that comes after the second, or after neither. */
static void test_behind_an_add(void)
{
    static const struct {
        unsigned first, third;
        bool ordered, after, found; /* the second after the first, the third after the second; the first and the third meet */
        const char *what;
    } rows[] = {{ORDER_WRITE, ORDER_ADD, true, false, true, "an add that replaces a write hides it from no other add"},
                {ORDER_WRITE, ORDER_ADD, true, true, false, "an add after that one is after the write, too"},
                {ORDER_ADD, ORDER_READ, false, true, true, "an add that replaces one without an order hides it from no read"},
                {ORDER_ADD, ORDER_READ, true, true, false, "a read after the later of two is after both"}};
    const unsigned work[] = {0, 1, 2};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_side(&whole, false);
        open_side(&apart, true);
        memset(comes_before, 0, sizeof comes_before);
        comes_before[0][1] = rows[i].ordered;
        comes_before[1][2] = rows[i].after;
        comes_before[0][2] = rows[i].ordered && rows[i].after;
        both(&work[0], (enum order_use)rows[i].first, 0, 0);
        both(&work[1], ORDER_ADD, 0, 0);
        both(&work[2], (enum order_use)rows[i].third, 0, 0);
        tap_ok((whole.found[0][rows[i].first][2][rows[i].third][0] != 0) == rows[i].found && same_writers(), "%s", rows[i].what);
        tap_u64(close_side(&whole) + close_side(&apart), 0, "nothing is held in the end");
    }
}

int main(void)
{
    test_gap();
    test_two_of_one_work();
    test_behind_an_add();
    test_random();
    return tap_done();
}
