/* SPDX-License-Identifier: Apache-2.0 */
/* Random additions and removals, compared with a map of single addresses. */
#include <stdlib.h>
#include <string.h>

#include "range_set.h"
#include "tap.h"

enum { SPACE = 64, STEPS = 20000 };

static bool same(const struct range_set *set, const bool *model)
{
    for (uint64_t at = 0; at < SPACE; at++)
        if (range_set_touches(set, at, at + 1) != model[at])
            return false;
    return !range_set_check(set);
}

static bool any(const bool *model, uint64_t start, uint64_t end)
{
    for (uint64_t at = start; at < end; at++)
        if (model[at])
            return true;
    return false;
}

static void test_random(unsigned seed)
{
    struct range_set set = {0};
    bool model[SPACE] = {false}, good = true;
    unsigned step = 0;
    for (srand(seed); step < STEPS && good; step++) {
        uint64_t start = (uint64_t)rand() % SPACE, end = start + (uint64_t)rand() % (SPACE - start + 1);
        bool add = rand() % 2;
        if (add)
            good = range_set_add(&set, start, end);
        else
            range_set_remove(&set, start, end);
        memset(model + start, add, end - start);
        good = good && same(&set, model) && range_set_touches(&set, start / 2, end) == any(model, start / 2, end);
    }
    tap_ok(good, "seed %u: after %u steps the set is the model's", seed, step);
    range_set_clear(&set);
    tap_ok(!range_set_touches(&set, 0, UINT64_MAX), "seed %u: cleared, it is empty", seed);
}

static void test_ends(void)
{
    struct range_set set = {0};
    tap_ok(range_set_add(&set, UINT64_MAX - 4, UINT64_MAX) && range_set_touches(&set, UINT64_MAX - 1, UINT64_MAX),
           "the end of the address space");
    tap_ok(!range_set_touches(&set, 0, UINT64_MAX - 4) && !range_set_touches(&set, 7, 7), "neighbouring ranges and the "
        "empty range");
    for (uint64_t i = 0; i < 70000; i++)
        if (!range_set_add(&set, 4 * i, 4 * i + 2))
            tap_bail("no memory");
    tap_ok(set.count == 70001 && !range_set_check(&set), "70,000 ranges");
    range_set_remove(&set, 0, UINT64_MAX);
    tap_ok(set.count == 0, "all of them at once");
    range_set_clear(&set);
}

int main(void)
{
    for (unsigned seed = 1; seed <= 8; seed++)
        test_random(seed);
    test_ends();
    return tap_done();
}
