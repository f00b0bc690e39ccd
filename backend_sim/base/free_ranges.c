/* SPDX-License-Identifier: Apache-2.0 */
#include "chance.h"
#include "free_ranges_parts.h"

static uint64_t next_weight(struct free_ranges *holes)
{
    return chance_next(&holes->seed);
}

static uint64_t largest(const struct hole *node)
{
    return node ? node->largest : 0;
}

static struct hole *update(struct hole *node)
{
    uint64_t below = largest(node->left) > largest(node->right) ? largest(node->left) : largest(node->right);
    node->largest = node->size > below ? node->size : below;
    return node;
}

/* Splits the tree into the free ranges that start before address and the others. */
static void split(struct hole *node, uint64_t address, struct hole **below, struct hole **rest)
{
    if (!node) {
        *below = *rest = NULL;
    } else if (node->start < address) {
        split(node->right, address, &node->right, rest);
        *below = update(node);
    } else {
        split(node->left, address, below, &node->left);
        *rest = update(node);
    }
}

/* Joins two trees; every free range of low is before every one of high. */
static struct hole *join(struct hole *low, struct hole *high)
{
    if (!low || !high)
        return low ? low : high;
    if (low->weight > high->weight) {
        low->right = join(low->right, high);
        return update(low);
    }
    high->left = join(low, high->left);
    return update(high);
}

static void set_aside(struct free_ranges *holes, struct hole *node)
{
    /* analysers: clang-analyzer-core.NullDereference is wrong: the hole that was found stands in the tree */
    node->right = holes->spare;
    holes->spare = node;
}

/* Inserts a free range into the tree, with a node set aside earlier. */
static void add(struct free_ranges *holes, uint64_t start, uint64_t size)
{
    struct hole *node = holes->spare, *below, *rest;
    holes->spare = node->right;
    *node = (struct hole){start, size, size, next_weight(holes), NULL, NULL};
    if (!holes->root) {
        holes->root = node;
        return;
    }
    split(holes->root, start, &below, &rest);
    holes->root = join(join(below, node), rest);
}

/* Removes the free range that starts at start from the tree. */
static void drop(struct free_ranges *holes, uint64_t start)
{
    struct hole *below, *node = holes->root, *rest;
    if (node->start == start) {
        holes->root = join(node->left, node->right);
        set_aside(holes, node);
        return;
    }
    split(holes->root, start, &below, &rest);
    split(rest, start + 1, &node, &rest);
    set_aside(holes, node);
    holes->root = join(below, rest);
}

/* Changes the bounds of the free range that starts at at, without passing its neighbours: its place in the tree stays. */
static void move(struct hole *node, uint64_t at, uint64_t start, uint64_t size)
{
    if (node->start == at) {
        node->start = start;
        node->size = size;
    } else {
        move(at < node->start ? node->left : node->right, at, start, size);
    }
    update(node);
}

/* The free range with the greatest start <= address. */
static const struct hole *floor_of(const struct free_ranges *holes, uint64_t address)
{
    const struct hole *found = NULL;
    for (const struct hole *node = holes->root; node;) {
        if (node->start <= address) {
            found = node;
            node = node->right;
        } else {
            node = node->left;
        }
    }
    return found;
}

static bool reserve_node(struct free_ranges *holes)
{
    struct hole *node = pool_alloc(&holes->nodes);
    if (!node)
        return false;
    set_aside(holes, node);
    return true;
}

void free_ranges_init(struct free_ranges *holes, uint64_t barrier)
{
    *holes = (struct free_ranges){.barrier = barrier};
    pool_init(&holes->nodes, sizeof(struct hole));
}

#ifdef POOL_PLAIN /* Without POOL_PLAIN the pool frees whole slabs. */
static void give_tree(struct free_ranges *holes, struct hole *node)
{
    if (!node)
        return;
    give_tree(holes, node->left);
    give_tree(holes, node->right);
    pool_free(&holes->nodes, node);
}
#endif

/* Every granted and every taken range brings a node, and free ranges never outnumber nodes. */
static void release_node(struct free_ranges *holes)
{
    struct hole *node = holes->spare;
    holes->spare = node->right;
    pool_free(&holes->nodes, node);
}

void free_ranges_clear(struct free_ranges *holes)
{
#ifdef POOL_PLAIN
    give_tree(holes, holes->root);
    while (holes->spare)
        release_node(holes);
#endif
    pool_clear(&holes->nodes);
    holes->root = holes->spare = NULL;
}

struct request {
    uint64_t size, alignment, from;
};

/* Finds the address at which the request fits into node. */
static bool fits(const struct hole *node, const struct request *want, uint64_t *address)
{
    uint64_t low = node->start > want->from ? node->start : want->from;
    uint64_t skip = (want->alignment - (low & (want->alignment - 1))) & (want->alignment - 1);
    uint64_t lost = low - node->start;
    if (lost > node->size || node->size - lost < want->size || node->size - lost - want->size < skip)
        return false;
    *address = low + skip;
    return true;
}

static bool find(const struct hole *node, const struct request *want, uint64_t *address)
{
    if (largest(node) < want->size)
        return false;
    /* If a node starts at or below `from`, the free ranges to its left end before `from`. */
    bool left = node->start > want->from;
    return (left && find(node->left, want, address)) || fits(node, want, address) ||
           find(node->right, want, address);
}

bool free_ranges_find(const struct free_ranges *holes, uint64_t size, uint64_t alignment, uint64_t from, uint64_t *address)
{
    const struct request want = {size, alignment, from};
    return size && find(holes->root, &want, address);
}

bool free_ranges_take(struct free_ranges *holes, uint64_t address, uint64_t size)
{
    if (!reserve_node(holes))
        return false;
    const struct hole *hole = floor_of(holes, address);
    uint64_t start = hole->start, end = hole->start + hole->size;
    bool before = start < address, after = address + size < end;
    if (before)
        move(holes->root, start, start, address - start);
    else if (after)
        move(holes->root, start, address + size, end - (address + size));
    else
        drop(holes, start);
    if (before && after)
        add(holes, address + size, end - (address + size));
    return true;
}

static bool at_barrier(const struct free_ranges *holes, uint64_t address)
{
    return holes->barrier && !(address & (holes->barrier - 1));
}

/* Adds a range and merges it with the free ranges that it touches. */
static void merge(struct free_ranges *holes, uint64_t address, uint64_t size)
{
    uint64_t end = address + size, start = address, stop = end;
    const struct hole *before = address && !at_barrier(holes, address) ? floor_of(holes, address - 1) : NULL;
    const struct hole *after = at_barrier(holes, end) ? NULL : floor_of(holes, end);
    bool merge_before = before && before->start + before->size == address;
    bool merge_after = after && after->start == end;
    if (merge_before)
        start = before->start;
    if (merge_after)
        stop = end + after->size;
    if (merge_before && merge_after)
        drop(holes, end);
    if (merge_before)
        move(holes->root, start, start, stop - start);
    else if (merge_after)
        move(holes->root, end, start, stop - start);
    else
        add(holes, start, stop - start);
}

bool free_ranges_grant(struct free_ranges *holes, uint64_t start, uint64_t size)
{
    if (!reserve_node(holes))
        return false;
    merge(holes, start, size);
    return true;
}

void free_ranges_remove(struct free_ranges *holes, uint64_t start)
{
    drop(holes, start);
    release_node(holes);
}

void free_ranges_add(struct free_ranges *holes, uint64_t address, uint64_t size)
{
    merge(holes, address, size);
    release_node(holes);
}
