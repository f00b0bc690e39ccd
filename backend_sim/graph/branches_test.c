/* SPDX-License-Identifier: Apache-2.0 */
/* branches: which node continues which branch, and that every branch holds nodes of one key, in order. */
#include "branches.h"

#include <stdlib.h>

#include "tap.h"

enum { NODES = 64, OWN = 1 };

static bool copy(struct graph_node *to, const struct graph_node *from)
{
    (void)to, (void)from;
    return true;
}

static void drop(struct graph_node *node)
{
    (void)node;
}

static const struct graph_owner owner = {copy, drop};
static struct graph_node *order[NODES];
static size_t branch[NODES];
static struct graph_branch branches[NODES + 1];

/* A node's value is its key. */
static uint64_t key(void *user, const struct graph_node *node)
{
    ++*(size_t *)user;
    return node->value;
}

static struct graph_node *add(struct graph *graph, uint64_t of, struct graph_node *a, struct graph_node *b)
{
    struct graph_node *on[] = {a, b};
    struct graph_node *node = graph_add(graph, on, NULL, (size_t)(a != NULL) + (b != NULL));
    node->value = of;
    return node;
}

static size_t divide(const struct graph *graph)
{
    size_t asked = 0, count = graph_order(graph, order), known = graph_branches(order, count, OWN, key, &asked, branch, branches);
    tap_u64(asked, count, "each node's key is queried once");
    return known;
}

/* The drawing of branches.h. */
static void test_diamond(void)
{
    static const size_t want[] = {0, 0, 1, 0, 0};
    struct graph *graph = graph_new(&owner);
    struct graph_node *a = add(graph, OWN, NULL, NULL), *b = add(graph, OWN, a, NULL), *c = add(graph, OWN, a, NULL);
    add(graph, OWN, add(graph, OWN, b, c), NULL);
    tap_u64(divide(graph), 2, "a diamond has two branches");
    for (size_t i = 0; i < 5; i++)
        tap_u64(branch[i], want[i], "node %zu is in branch %zu", i, want[i]);
    tap_u64(c->index, 2, "a node knows its place in the order");
    graph_free(graph);
}

static void test_keys(void)
{
    struct graph *graph = graph_new(&owner);
    struct graph_node *a = add(graph, 2, NULL, NULL), *b = add(graph, OWN, a, NULL), *c = add(graph, 2, b, a), *d = add(graph, 0, c, NULL);
    add(graph, OWN, d, NULL);
    tap_u64(divide(graph), 2, "two keys have two branches");
    tap_ok(branch[0] == 1 && branch[1] == 0 && branch[2] == 1 && branch[3] == 0 && branch[4] == 0,
           "each node is with those of its key, and one without a key in branch 0");
    tap_ok(branches[0].key == OWN && branches[1].key == 2, "a branch has a key");
    graph_free(graph);
}

/* Many concurrent nodes: no more than GRAPH_BRANCHES, unless there are more keys. */
static void test_many(uint64_t keys, size_t want)
{
    struct graph *graph = graph_new(&owner);
    for (uint64_t i = 0; i < NODES; i++)
        add(graph, OWN + i % keys, NULL, NULL);
    tap_u64(divide(graph), want, "%u nodes of %zu keys have %zu branches", (unsigned)NODES, (size_t)keys, want);
    bool right = true;
    for (size_t i = 0; i < NODES; i++)
        right = right && branch[i] < want && branches[branch[i]].key == order[i]->value;
    tap_ok(right, "each in a branch of its key");
    graph_free(graph);
}

static void test_empty(void)
{
    struct graph *graph = graph_new(&owner);
    tap_u64(divide(graph), 1, "a graph without nodes has branch 0");
    graph_free(graph);
}

int main(void)
{
    test_diamond();
    test_keys();
    test_many(1, GRAPH_BRANCHES);
    test_many(3, GRAPH_BRANCHES);
    test_many(GRAPH_BRANCHES + 2, GRAPH_BRANCHES + 2);
    test_empty();
    return tap_done();
}
