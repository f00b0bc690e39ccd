/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of regions: the smallest large enough region, the earliest among equals. */
#include "region.h"

#include "breaks.h"
#include "random.h"
#include "tap.h"

#define MOST 64

static bool is_even(void *user, const struct region *region)
{
    (void)user;
    return region->start % 2 == 0;
}

/* Like region_tree_find, by linear search. */
static struct region *find(struct region *const *in, uint64_t size, bool even)
{
    struct region *best = NULL;
    for (unsigned i = 0; i < MOST; i++)
        if (in[i] && in[i]->size >= size && (!even || is_even(NULL, in[i])) && (!best || region_less(in[i], best)))
            best = in[i];
    return best;
}

static bool agrees(const struct region_tree *tree, struct region *const *in, uint64_t size)
{
    return region_tree_find(tree, size, NULL, NULL) == find(in, size, false) &&
           region_tree_find(tree, size, is_even, NULL) == find(in, size, true);
}

static void test_random(void)
{
    static struct region regions[MOST];
    struct region *in[MOST] = {0};
    struct region_tree tree = {0};
    uint64_t seed = random_seed(20), held = 0, count = 0;
    bool good = true;
    for (unsigned step = 0; step < random_rounds(20000) && good; step++) {
        unsigned i = (unsigned)random_below(&seed, MOST);
        if (in[i]) {
            region_tree_remove(&tree, in[i]);
            in[i] = NULL;
            held--;
        } else {
            regions[i] = (struct region){.start = i, .size = 1 + random_below(&seed, 8), .order = step};
            in[i] = &regions[i];
            region_tree_add(&tree, in[i]);
            held++;
        }
        count = 0;
        good = agrees(&tree, in, 1 + random_below(&seed, 9)) && !region_tree_check(&tree, &count) && count == held;
    }
    tap_ok(good, "a tree finds what a look at all of them finds");
}

/*      b 5        a tree with three regions, each link and priority of which is broken once
 *    a 3   c 7    */
static void test_check(void)
{
    struct region a = {.start = 1, .size = 3}, c = {.start = 3, .size = 7},
                  b = {.start = 2, .size = 5, .left = &a, .right = &c, .priority = 9};
    struct region_tree tree = {&b};
    uint64_t count = 0;
    check_holds(region_tree_check(&tree, &count), "a tree in order");
    tap_u64(count, 3, "its regions are counted");
    BREAKS_TO(a.size, 6, region_tree_check(&tree, &count), "the region at 0x1 is out of order");
    BREAKS_TO(c.size, 4, region_tree_check(&tree, &count), "the region at 0x3 is out of order");
    BREAKS(a.priority, 10, region_tree_check(&tree, &count), "the region at 0x2 lies above one of a greater priority");
    BREAKS(c.priority, 10, region_tree_check(&tree, &count), "the region at 0x2 lies above one of a greater priority");
    tap_ok(region_tree_find(&tree, 4, is_even, NULL) == &b && !region_tree_find(&tree, 6, is_even, NULL),
           "the least that fits is found where there is one");
}

int main(void)
{
    struct region_tree tree = {0};
    tap_ok(!region_tree_find(&tree, 0, NULL, NULL), "an empty tree has no region");
    test_check();
    test_random();
    return tap_done();
}
