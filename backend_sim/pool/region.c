/* SPDX-License-Identifier: Apache-2.0 */
#include "region.h"

#include <inttypes.h>
#include <stddef.h>

#include "checks.h"
#include "heap.h"

void free_mark_settle(struct free_mark *mark)
{
    if (!mark->item && !mark->refs)
        heap.free(mark);
}

/* A tree whose shape depends only on the orders, so that the same calls produce the same tree. */
static uint32_t priority_of(uint64_t order)
{
    uint64_t z = (order + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(z >> 32);
}

/* Splits a tree into the nodes below and above the region. */
static void split(struct region *root, const struct region *at, struct region **low, struct region **high)
{
    while (root) {
        if (region_less(root, at)) {
            *low = root;
            low = &root->right;
            root = root->right;
        } else {
            *high = root;
            high = &root->left;
            root = root->left;
        }
    }
    *low = *high = NULL;
}

void region_tree_add(struct region_tree *tree, struct region *region)
{
    struct region **link = &tree->root;
    region->priority = priority_of(region->order);
    while (*link && (*link)->priority >= region->priority)
        link = region_less(region, *link) ? &(*link)->left : &(*link)->right;
    split(*link, region, &region->left, &region->right);
    *link = region;
}

void region_tree_remove(struct region_tree *tree, struct region *region)
{
    struct region **link = &tree->root, *low = region->left, *high = region->right;
    while (*link != region)
        link = region_less(region, *link) ? &(*link)->left : &(*link)->right;
    while (low && high) {
        if (low->priority >= high->priority) {
            *link = low;
            link = &low->right;
            low = low->right;
        } else {
            *link = high;
            link = &high->left;
            high = high->left;
        }
    }
    *link = low ? low : high;
}

/* In order, starting with the smallest region that is large enough; recursion is as deep as the tree, a few dozen
 * nodes at most. */
static struct region *find_below(struct region *node, uint64_t size, bool (*fits)(void *, const struct region *), void *user)
{
    while (node) {
        if (node->size >= size) {
            struct region *found = find_below(node->left, size, fits, user);
            if (found || fits(user, node))
                return found ? found : node;
        }
        node = node->right;
    }
    return NULL;
}

struct region *region_tree_find(const struct region_tree *tree, uint64_t size,
                                bool (*fits)(void *user, const struct region *region), void *user)
{
    struct region *best = NULL;
    if (fits)
        return find_below(tree->root, size, fits, user);
    for (struct region *node = tree->root; node;) {
        bool enough = node->size >= size;
        best = enough ? node : best;
        node = enough ? node->left : node->right;
    }
    return best;
}

/* Checks the nodes below, which must be between two others. */
static const char *check_below(const struct region *node, const struct region *low, const struct region *high, uint64_t *count)
{
    const char *said = NULL;
    if (!node)
        return NULL;
    if ((low && !region_less(low, node)) || (high && !region_less(node, high)))
        return check_say("the region at 0x%" PRIx64 " is out of order", node->start);
    if ((node->left && node->left->priority > node->priority) || (node->right && node->right->priority > node->priority))
        return check_say("the region at 0x%" PRIx64 " lies above one of a greater priority", node->start);
    ++*count;
    said = check_below(node->left, low, node, count);
    return said ? said : check_below(node->right, node, high, count);
}

const char *region_tree_check(const struct region_tree *tree, uint64_t *count)
{
    return check_below(tree->root, NULL, NULL, count);
}
