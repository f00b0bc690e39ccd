/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and edges of a graph: compared with a plain matrix, in random edits, and with every allocation failing once. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "breaks.h"
#include "chance.h"
#include "graph.h"

static int works; /* works that exist */

static bool copy_work(struct graph_node *to, const struct graph_node *from)
{
    int *work = heap.malloc(sizeof *work);
    if (!work)
        return false;
    *work = *(const int *)from->work;
    to->work = work;
    works++;
    return true;
}

static void drop_work(struct graph_node *node)
{
    works -= node->work != NULL;
    heap.free(node->work);
}

static const struct graph_owner owner = {copy_work, drop_work};

static struct graph_node *add(struct graph *graph, struct graph_node *const *on, size_t count, int number)
{
    struct graph_node *node = graph_add(graph, on, NULL, count);
    int *work = malloc(sizeof *work);
    *work = number;
    node->work = work;
    node->value = (uint64_t)number;
    works++;
    return node;
}

/* 1 > 2, 1 > 3, 2 > 4, 3 > 4 */
static struct graph *diamond(struct graph_node *n[5])
{
    struct graph *graph = graph_new(&owner);
    n[1] = add(graph, NULL, 0, 1);
    n[2] = add(graph, &n[1], 1, 2);
    n[3] = add(graph, &n[1], 1, 3);
    n[4] = add(graph, &n[2], 2, 4);
    return graph;
}

static const char *order_of(const struct graph *graph)
{
    static char text[64];
    struct graph_node *order[16];
    size_t known = graph_order(graph, order);
    text[0] = 0;
    for (size_t i = 0; i < known; i++)
        sprintf(text + strlen(text), "%d", *(int *)order[i]->work);
    return text;
}

static void test_edits(void)
{
    struct graph_node *n[5];
    struct graph *graph = diamond(n);
    tap_text(order_of(graph), "1234", "each node after all that it depends on");
    tap_ok(graph_edge_between(n[1], n[2]) && !graph_edge_between(n[2], n[1]), "an edge has a direction");
    tap_ok(graph_connect(n[3], n[2], 7), "an edge more");
    tap_text(order_of(graph), "1324", "and the order follows it");
    tap_ok(!graph_disconnect(n[3], n[2], 0), "an edge with other data is another edge");
    tap_ok(graph_disconnect(n[3], n[2], 7), "the edge goes");
    tap_ok(graph_connect(n[4], n[2], 0), "a cycle");
    tap_text(order_of(graph), "13", "has no place in the order");
    graph_disconnect(n[4], n[2], 0);
    graph_remove(n[2]);
    tap_text(order_of(graph), "134", "a node goes with its edges");
    tap_u64(graph->edges, 2, "two edges are left");
    check_holds(graph_check(graph), "after the edits");
    graph_free(graph);
    tap_u64((uint64_t)works, 0, "all work is dropped");
}

static void test_clone(void)
{
    struct graph_node *n[5];
    struct graph *graph = diamond(n), *clone = graph_clone(graph);
    tap_text(order_of(clone), "1234", "a clone has the same order");
    tap_u64(clone->edges, 4, "and as many edges");
    struct graph_node *two = graph_find_origin(clone, 2);
    tap_ok(two && two != n[2] && *(int *)two->work == 2, "a clone's node is found by what it is a clone of");
    tap_ok(!graph_find_origin(clone, 9) && !graph_find_origin(graph, 2), "and nothing else is");
    graph_remove(n[2]);
    tap_text(order_of(clone), "1234", "edits of the original leave it");
    check_holds(graph_check(clone), "the clone");
    graph_free(graph);
    graph_free(clone);
    tap_u64((uint64_t)works, 0, "all work is dropped");
}

static void test_no_memory(void)
{
    struct graph_node *n[5];
    struct graph *graph = diamond(n), *clone = NULL;
    int had = works;
    for (unsigned long nth = 1; !clone; nth++) {
        inject_arm(nth);
        clone = graph_clone(graph);
        const char *failed = inject_disarm();
        if (!clone && (!failed || works != had))
            tap_bail("clone %lu: works %d of %d", nth, works, had);
    }
    graph_free(clone);
    tap_u64((uint64_t)works, (uint64_t)had, "a clone that fails drops what it had");
    struct graph_node *more = NULL;
    for (unsigned long nth = 1; !more; nth++) {
        inject_arm(nth);
        more = graph_add(graph, n + 1, NULL, 4);
        inject_disarm();
        if (graph_check(graph) || (!more && graph->edges != 4))
            tap_bail("add %lu: %s", nth, graph_check(graph));
    }
    tap_u64(graph->edges, 8, "a node is added whole or not at all");
    for (int i = 0; i < 2; i++) /* the lists are full now, or have room for one more */
        for (unsigned long nth = 1; nth < 4; nth++) {
            size_t edges = graph->edges;
            inject_arm(nth);
            bool ok = graph_connect(n[1], more, nth);
            inject_disarm();
            if (graph_check(graph) || graph->edges != edges + ok)
                tap_bail("connect %lu: %s", nth, graph_check(graph));
        }
    tap_ok(true, "an edge is listed at both ends or at neither");
    inject_arm(1);
    tap_ok(!graph_new(&owner), "no memory for a graph");
    inject_disarm();
    graph_free(graph);
}

static void test_checks(void)
{
    struct graph_node *n[5];
    struct graph *graph = diamond(n);
    check_holds(graph_check(graph), "a diamond");
    BREAKS(graph->count, 5, graph_check(graph), "count is not");
    BREAKS(graph->count, 1, graph_check(graph), "count is not"); /* it stops, unlike an endless list */
    BREAKS(graph->last, n[3], graph_check(graph), "count is not");
    BREAKS(graph->edges, 5, graph_check(graph), "edges is not");
    BREAKS_TO(n[1]->out.count, 1, graph_check(graph), "edges is not"); /* the in lists have them all */
    BREAKS(n[2]->out.edge[0].node, n[3], graph_check(graph), "one end but not of the other");
    BREAKS(n[2]->in.edge[0].data, 4, graph_check(graph), "one end but not of the other");
    BREAKS(n[2]->before, NULL, graph_check(graph), "not linked");
    struct graph *other = graph_new(&owner);
    BREAKS(n[2]->graph, other, graph_check(graph), "an edge leaves");
    struct graph_node *alone = add(graph, NULL, 0, 5);
    BREAKS(alone->graph, other, graph_check(graph), "not linked");
    graph_free(other);
    graph_free(graph);
}

enum { MOST = 12, EDITS = 20000 };

/* Random edits, compared with a matrix of the number of edges between nodes. */
static void test_random(void)
{
    uint64_t random = 7;
    struct graph *graph = graph_new(&owner);
    struct graph_node *n[MOST] = {NULL};
    int edge[MOST][MOST] = {{0}};
    for (int i = 0; i < EDITS; i++) {
        size_t a = chance_next(&random) % MOST, b = chance_next(&random) % MOST;
        if (!n[a]) {
            n[a] = add(graph, NULL, 0, (int)a);
        } else if (!n[b] || chance_next(&random) % 40 == 0) {
            graph_remove(n[a]);
            n[a] = NULL;
            for (size_t k = 0; k < MOST; k++)
                edge[a][k] = edge[k][a] = 0;
        } else if (chance_next(&random) % 2) {
            edge[a][b] += graph_connect(n[a], n[b], 0);
        } else {
            bool had = edge[a][b] > 0;
            if (graph_disconnect(n[a], n[b], 0) != had)
                tap_bail("edit %d of seed 7: an edge %zu to %zu", i, a, b);
            edge[a][b] -= had;
        }
        const char *wrong = graph_check(graph);
        for (size_t x = 0; x < MOST && !wrong; x++)
            for (size_t y = 0; y < MOST && !wrong; y++)
                if (n[x] && n[y] && (graph_edge_between(n[x], n[y]) != NULL) != (edge[x][y] > 0))
                    wrong = "an edge is not where the matrix has it";
        if (wrong)
            tap_bail("edit %d of seed 7: %s", i, wrong);
    }
    tap_ok(true, "%d edits are those of a matrix", EDITS);
    graph_free(graph);
    tap_u64((uint64_t)works, 0, "all work is dropped");
}

static const char *roots_of(const struct graph *graph)
{
    static char text[64];
    text[0] = 0;
    for (const struct graph_node *node = graph->first_root; node; node = node->root_after)
        sprintf(text + strlen(text), "%d", *(int *)node->work);
    return text;
}

/* The latest first, also of those that became roots by the end of an edge or of a node. */
static void test_roots(void)
{
    struct graph_node *n[5];
    struct graph *graph = diamond(n);
    tap_text(roots_of(graph), "1", "the only one");
    add(graph, NULL, 0, 5);
    tap_text(roots_of(graph), "51", "a new one comes first");
    graph_disconnect(n[1], n[3], 0);
    tap_text(roots_of(graph), "351", "as does one that has lost its last edge");
    graph_connect(n[3], n[1], 0);
    tap_text(roots_of(graph), "35", "one with an edge is none");
    struct graph *clone = graph_clone(graph);
    tap_text(roots_of(clone), "53", "a clone's nodes are in the order of creation");
    graph_remove(n[1]);
    tap_text(roots_of(graph), "235", "the end of a node");
    graph_remove(n[3]);
    tap_text(roots_of(graph), "25", "the end of a root");
    tap_ok(!graph_check(graph) && !graph_check(clone), "both are sound");
    graph_free(graph);
    graph_free(clone);
    tap_u64((uint64_t)works, 0, "no work is left");
}

int main(void)
{
    test_edits();
    test_roots();
    test_clone();
    test_no_memory();
    test_checks();
    test_random();
    return tap_done();
}
