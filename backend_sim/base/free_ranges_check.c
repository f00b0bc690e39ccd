/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of free_ranges.h. */
#include <inttypes.h>

#include "checks.h"
#include "free_ranges_parts.h"

/* A treap of as many free ranges as fit in memory is far shallower. */
enum { MOST_DEPTH = 400 };

struct walk {
    const struct free_ranges *holes;
    const struct hole *before; /* the previous free range in address order */
    size_t count;
};

static bool at_barrier(const struct free_ranges *holes, uint64_t address)
{
    return holes->barrier && !(address & (holes->barrier - 1));
}

/* Checks the free range itself, and that a gap or barrier separates it from the one before. */
static const char *check_hole(const struct free_ranges *holes, const struct hole *before, const struct hole *node)
{
    uint64_t end = node->start + node->size;
    if (!node->size || (end && end < node->start))
        return check_say("the free range at 0x%" PRIx64 " has 0x%" PRIx64 " bytes", node->start, node->size);
    if (holes->barrier && (node->start & ~(holes->barrier - 1)) != ((end - 1) & ~(holes->barrier - 1)))
        return check_say("the free range from 0x%" PRIx64 " to 0x%" PRIx64 " crosses a barrier", node->start, end);
    if (!before)
        return NULL;
    uint64_t stop = before->start + before->size;
    if (node->start <= before->start || node->start < stop || (node->start == stop && !at_barrier(holes, stop)))
        return check_say("the free range at 0x%" PRIx64 " touches or precedes the one from 0x%" PRIx64 " to 0x%" PRIx64,
                         node->start,
                         before->start, stop);
    return NULL;
}

static const char *check_node(const struct hole *node)
{
    uint64_t left = node->left ? node->left->largest : 0, right = node->right ? node->right->largest : 0;
    uint64_t below = left > right ? left : right, largest = node->size > below ? node->size : below;
    if (node->largest != largest)
        return check_say("the largest free range in and below 0x%" PRIx64 " has 0x%" PRIx64 " bytes, 0x%" PRIx64 " are noted",
                         node->start,
                         largest, node->largest);
    if ((node->left && node->left->weight > node->weight) || (node->right && node->right->weight > node->weight))
        return check_say("the free range at 0x%" PRIx64 " has less weight than a node below it", node->start);
    return NULL;
}

/* Visits the nodes in address order; a node that leads to itself breaks that order. */
static const char *check_tree(struct walk *walk, const struct hole *node, unsigned depth)
{
    const char *said;
    if (!node)
        return NULL;
    if (depth == MOST_DEPTH)
        return check_say("the tree is %d nodes deep at 0x%" PRIx64, MOST_DEPTH, node->start);
    if ((said = check_tree(walk, node->left, depth + 1)) != NULL || (said = check_node(node)) != NULL ||
        (said = check_hole(walk->holes, walk->before, node)) != NULL)
        return said;
    walk->before = node;
    walk->count++;
    return check_tree(walk, node->right, depth + 1);
}

const char *free_ranges_check(const struct free_ranges *holes, size_t ranges)
{
    struct walk walk = {.holes = holes};
    const char *said = check_tree(&walk, holes->root, 0);
    size_t spare = 0;
    if (said || ranges == SIZE_MAX)
        return said;
    for (const struct hole *node = holes->spare; node && spare <= ranges; node = node->right)
        spare++;
    if (walk.count + spare != ranges)
        return check_say("there are %zu free ranges and %s%zu spare nodes, for %zu ranges granted and taken", walk.count,
                         spare > ranges ? "more than " : "", spare > ranges ? ranges : spare, ranges);
    return check_in(pool_check(&holes->nodes, ranges), "nodes");
}

const char *free_ranges_check_at(const struct free_ranges *holes, uint64_t address)
{
    const struct hole *below = NULL, *above = NULL;
    const char *said = NULL;
    unsigned depth = 0;
    for (const struct hole *node = holes->root; node && !said; node = node->start <= address ? node->right : node->left) {
        *(node->start <= address ? &below : &above) = node;
        said = ++depth == MOST_DEPTH ? check_say("the path to 0x%" PRIx64 " has %d nodes", address, MOST_DEPTH)
            : check_node(node);
    }
    if (!said && below)
        said = check_hole(holes, NULL, below);
    return said || !above ? said : check_hole(holes, below, above);
}

static uint64_t sum_in(const struct hole *node, uint64_t start, uint64_t end)
{
    if (!node)
        return 0;
    uint64_t stop = node->start + node->size, from = node->start > start ? node->start : start, to = stop < end ? stop : end;
    uint64_t sum = from < to ? to - from : 0;
    if (start < node->start)
        sum += sum_in(node->left, start, end);
    if (stop < end)
        sum += sum_in(node->right, start, end);
    return sum;
}

uint64_t free_ranges_sum(const struct free_ranges *holes, uint64_t start, uint64_t end)
{
    return sum_in(holes->root, start, end);
}

static uint64_t ends_in(const struct hole *node)
{
    return node ? range_ends(node->start, node->start + node->size) + ends_in(node->left) + ends_in(node->right) : 0;
}

uint64_t free_ranges_ends(const struct free_ranges *holes)
{
    return ends_in(holes->root);
}
