/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs.h"

#include <string.h>

#include "heap.h"

enum { TAG_GRAPH = 0x4701, TAG_NODE = 0x4702, TAG_EXEC = 0x4703 };

static struct sim_graphs *all_of(const struct graph *graph)
{
    return (struct sim_graphs *)(uintptr_t)graph->owner;
}

static void *find(const struct slots *slots, const void *value)
{
    void *object;
    return slots_find(slots, (uint64_t)(uintptr_t)value, &object) == SLOT_LIVE ? object : NULL;
}

struct graph *graphs_find(const struct sim_graphs *all, vmm_graph value)
{
    return find(&all->graphs, value);
}

struct graph_node *graphs_find_node(const struct sim_graphs *all, vmm_graph_node value)
{
    return find(&all->nodes, value);
}

struct graph_exec *graphs_find_exec(const struct sim_graphs *all, vmm_graph_exec value)
{
    return find(&all->execs, value);
}

/* ---- work ---- */

static void drop_work(struct graph_work *work)
{
    if (work->type == VMM_GRAPH_NODE_TYPE_KERNEL)
        heap.free((void *)(uintptr_t)work->launch.args);
    else if (work->type == VMM_GRAPH_NODE_TYPE_GRAPH && work->child)
        graphs_end(work->child);
    heap.free(work);
}

/* Gives the copy what the original has for itself alone. */
static bool own(struct graph_work *copy, const struct graph_work *work)
{
    if (work->type == VMM_GRAPH_NODE_TYPE_KERNEL) {
        uint64_t *args = heap.malloc((work->launch.count + 1) * sizeof *args);
        copy->launch.args = args;
        if (args && work->launch.count)
            memcpy(args, work->launch.args, work->launch.count * sizeof *args);
        return args != NULL;
    }
    if (work->type != VMM_GRAPH_NODE_TYPE_GRAPH)
        return true;
    copy->child = graphs_copy(work->child);
    return copy->child != NULL;
}

static bool give_work(struct graph_node *node, const struct graph_work *work)
{
    struct graph_work *copy = heap.malloc(sizeof *copy);
    if (!copy)
        return false;
    *copy = *work;
    if (!own(copy, work)) {
        drop_work(copy);
        return false;
    }
    if (copy->type == VMM_GRAPH_NODE_TYPE_GRAPH)
        copy->child->more = node;
    node->work = copy;
    return true;
}

/* ---- nodes ---- */

static void drop_node(struct graph_node *node)
{
    if (node->value)
        slots_end(&all_of(node->graph)->nodes, node->value);
    if (node->work)
        drop_work(node->work);
}

static bool copy_node(struct graph_node *to, const struct graph_node *from)
{
    to->value = slots_add(&all_of(from->graph)->nodes, to);
    return to->value && give_work(to, from->work);
}

struct graph_node *graphs_add(struct graph *graph, struct graph_node *const *on, const uint64_t *data, size_t count,
                              const struct graph_work *work)
{
    struct graph_node *node = graph_add(graph, on, data, count);
    if (!node)
        return NULL;
    node->value = slots_add(&all_of(graph)->nodes, node);
    if (node->value && give_work(node, work))
        return node;
    graph_remove(node);
    return NULL;
}

void graphs_end_node(struct graph_node *node)
{
    capture_forget_node(&all_of(node->graph)->captures, node);
    graph_remove(node);
}

/* ---- graphs ---- */

static struct graph *with_value(struct graph *graph)
{
    if (graph && (graph->value = slots_add(&all_of(graph)->graphs, graph)))
        return graph;
    if (graph)
        graph_free(graph);
    return NULL;
}

struct graph *graphs_make(struct sim_graphs *all)
{
    return with_value(graph_new(&all->owner));
}

struct graph *graphs_copy(const struct graph *graph)
{
    return with_value(graph_clone(graph));
}

void graphs_end(struct graph *graph)
{
    slots_end(&all_of(graph)->graphs, graph->value);
    graph_free(graph);
}

struct graph_node *graphs_inside(const struct graph *graph)
{
    return graph->more;
}

/* ---- instances ---- */

struct graph_exec *graphs_instantiate(const struct graph *graph, uint64_t flags)
{
    struct graph_exec *exec = heap.calloc(1, sizeof *exec);
    if (!exec)
        return NULL;
    exec->flags = flags;
    exec->graph = graphs_copy(graph);
    if (exec->graph && (exec->value = slots_add(&all_of(graph)->execs, exec)))
        return exec;
    if (exec->graph)
        graphs_end(exec->graph);
    heap.free(exec);
    return NULL;
}

static void free_exec(struct graph_exec *exec)
{
    graphs_end(exec->graph);
    heap.free(exec);
}

void graphs_end_exec(struct sim_graphs *all, struct graph_exec *exec)
{
    slots_end(&all->execs, exec->value);
    exec->ended = true;
    if (!exec->launches)
        free_exec(exec);
}

void graphs_end_launch(struct graph_exec *exec)
{
    exec->launches--;
    if (exec->ended && !exec->launches)
        free_exec(exec);
}

/* ---- the whole ---- */

static void forget(void *user, void *object)
{
    (void)user;
    (void)object;
}

void graphs_open(struct sim_graphs *all)
{
    *all = (struct sim_graphs){.owner = {copy_node, drop_node}};
    slots_init(&all->graphs, TAG_GRAPH, forget, NULL);
    slots_init(&all->nodes, TAG_NODE, forget, NULL);
    slots_init(&all->execs, TAG_EXEC, forget, NULL);
}

static void end_exec(void *user, void *object)
{
    struct graph_exec *exec = object;
    exec->launches = 0; /* a forked child has no other thread */
    graphs_end_exec(user, exec);
}

/* Children end with their nodes. */
static void end_graph(void *user, void *object)
{
    (void)user;
    if (!graphs_inside(object))
        graphs_end(object);
}

void graphs_close(struct sim_graphs *all)
{
    captures_clear(&all->captures);
    slots_each(&all->execs, end_exec, all);
    slots_each(&all->graphs, end_graph, NULL);
    slots_clear(&all->graphs);
    slots_clear(&all->nodes);
    slots_clear(&all->execs);
}
