/* SPDX-License-Identifier: Apache-2.0 */
/* free_ranges_check: a test breaks each invariant by hand and expects its message. */
#include "breaks.h"
#include "free_ranges_parts.h"

#define U UINT64_C(0x1000)

/*  [free 16 .. 20][taken][free 21 .. 24][taken][free 25 .. 32)        three ranges: one granted, two taken */
static void open_holes(struct free_ranges *holes, uint64_t barrier)
{
    free_ranges_init(holes, barrier);
    free_ranges_grant(holes, 16 * U, 16 * U);
    free_ranges_take(holes, 20 * U, U);
    free_ranges_take(holes, 24 * U, U);
    check_holds(free_ranges_check(holes, 3), "three holes");
    check_holds(free_ranges_check(holes, SIZE_MAX), "without a known number of ranges");
    for (uint64_t at = 15; at < 34; at++)
        check_holds(free_ranges_check_at(holes, at * U), "the check around an address");
}

static struct hole *hole_at(const struct free_ranges *holes, uint64_t start)
{
    struct hole *node = holes->root;
    while (node->start != start)
        node = node->start < start ? node->right : node->left;
    return node;
}

static void test_tree(void)
{
    struct free_ranges holes;
    open_holes(&holes, 0);
    struct hole *root = holes.root, *low = hole_at(&holes, 16 * U), *middle = hole_at(&holes, 21 * U);
    BREAKS(root->largest, 1, free_ranges_check(&holes, 3), "the largest free range in and below 0x10000 has 0x7000 bytes, 0x1 are noted");
    BREAKS(root->largest, 1, free_ranges_check_at(&holes, root->start), "0x1 are noted");
    struct hole left = {.start = 2 * U, .size = U, .largest = U, .weight = UINT64_MAX}, right = {.start = 40 * U, .size = U, .largest = U, .weight = UINT64_MAX};
    struct hole parent = {.start = 9 * U, .size = 8 * U, .largest = 8 * U, .left = &left};
    BREAKS(holes.root, &parent, free_ranges_check(&holes, 2), "the free range at 0x9000 has less weight than a node below it");
    parent.left = NULL;
    parent.right = &right;
    BREAKS(holes.root, &parent, free_ranges_check(&holes, 2), "the free range at 0x9000 has less weight than a node below it");
    BREAKS_TO(root->weight, 0, free_ranges_check(&holes, 3), "has less weight than a node below it");
    BREAKS(middle->start, 20 * U, free_ranges_check(&holes, 3),
           "the free range at 0x14000 touches or precedes the one from 0x10000 to 0x14000");
    BREAKS(middle->start, 19 * U, free_ranges_check(&holes, 3), "at 0x13000 touches or precedes the one from 0x10000 to 0x14000");
    BREAKS_TO(middle->start, 20 * U, free_ranges_check_at(&holes, 18 * U), "touches or precedes");
    BREAKS(middle->size, 0, (root->largest = 7 * U, free_ranges_check(&holes, 3)), "");
    BREAKS_TO(low->start, 26 * U, free_ranges_check(&holes, 3), "touches or precedes");
    tap_u64(free_ranges_sum(&holes, 0, UINT64_MAX), 14 * U, "fourteen units are free in all");
    tap_u64(free_ranges_sum(&holes, 19 * U, 22 * U), 2 * U, "two of the three units around a taken one are free");
    tap_u64(free_ranges_sum(&holes, 20 * U, 21 * U), 0, "none of the taken unit is free");
    uint64_t whole = range_ends(16 * U, 32 * U) - free_ranges_ends(&holes);
    tap_u64(range_ends(20 * U, 21 * U) + range_ends(24 * U, 25 * U), whole, "the taken units fill the gaps");
    tap_ok(range_ends(20 * U, 21 * U) + range_ends(20 * U, 21 * U) != whole, "and one of them twice does not");
    free_ranges_clear(&holes);
}

/* The check ends even when a node leads to itself. */
static void test_circle(void)
{
    struct free_ranges holes;
    open_holes(&holes, 0);
    struct hole *last = hole_at(&holes, 25 * U), *first = hole_at(&holes, 16 * U), left = {0};
    BREAKS(last->right, holes.root, free_ranges_check(&holes, 3), "");
    BREAKS(first->left, first, free_ranges_check(&holes, 3), "the tree is 400 nodes deep at 0x10000");
    BREAKS(last->right, last, free_ranges_check_at(&holes, 40 * U), "the path to 0x28000 has 400 nodes");
    left = (struct hole){.start = 2 * U, .largest = 0};
    BREAKS(first->left, &left, free_ranges_check(&holes, 3), "the free range at 0x2000 has 0x0 bytes");
    BREAKS(first->left, &left, free_ranges_check_at(&holes, 3 * U), "the free range at 0x2000 has 0x0 bytes");
    left = (struct hole){.start = 2 * U, .size = UINT64_MAX, .largest = UINT64_MAX};
    BREAKS(first->left, &left, free_ranges_check(&holes, 3), "the free range at 0x2000 has 0xffffffffffffffff bytes");
    free_ranges_clear(&holes);
}

static void test_nodes(void)
{
    struct free_ranges holes;
    open_holes(&holes, 0);
    check_breaks(free_ranges_check(&holes, 4), "there are 3 free ranges and 0 spare nodes, for 4 ranges granted and taken");
    check_breaks(free_ranges_check(&holes, 2), "there are 3 free ranges and 0 spare nodes, for 2 ranges");
    free_ranges_take(&holes, 16 * U, U);
    struct hole *spare = holes.spare;
    check_holds(free_ranges_check(&holes, 4), "three free ranges and a spare node");
    BREAKS(spare->right, spare, free_ranges_check(&holes, 4), "more than 4 spare nodes");
#ifndef POOL_PLAIN
    BREAKS(holes.nodes.left, holes.nodes.left + 1, free_ranges_check(&holes, 4), "nodes: ");
#endif
    free_ranges_clear(&holes);
}

/* A free range up to the last address. */
static void test_last_address(void)
{
    struct free_ranges holes;
    free_ranges_init(&holes, 0);
    free_ranges_grant(&holes, -(4 * U), 4 * U);
    check_holds(free_ranges_check(&holes, 1), "the last addresses");
    BREAKS(holes.root->size, 5 * U, (holes.root->largest = 5 * U, free_ranges_check(&holes, 1)), "has 0x5000 bytes");
    holes.root->largest = 4 * U;
    check_holds(free_ranges_check(&holes, 1), "mended");
    free_ranges_clear(&holes);
}

static void test_barrier(void)
{
    struct free_ranges holes;
    free_ranges_init(&holes, 4 * U);
    free_ranges_grant(&holes, 4 * U, 4 * U);
    free_ranges_grant(&holes, 8 * U, 4 * U);
    check_holds(free_ranges_check(&holes, 2), "two free ranges that touch at a barrier");
    struct hole *second = hole_at(&holes, 8 * U);
    BREAKS(second->start, 7 * U, free_ranges_check_at(&holes, 7 * U), "the free range from 0x7000 to 0xb000 crosses a barrier");
    BREAKS_TO(holes.barrier, 0, free_ranges_check(&holes, 2), "touches or precedes");
    free_ranges_take(&holes, 9 * U, U);
    struct hole *third = hole_at(&holes, 10 * U);
    BREAKS(third->start, 9 * U, free_ranges_check_at(&holes, 8 * U), "from 0x8000 to 0x9000"); /* which is not a barrier */
    free_ranges_clear(&holes);
}

int main(void)
{
    test_tree();
    test_circle();
    test_nodes();
    test_barrier();
    test_last_address();
    return tap_done();
}
