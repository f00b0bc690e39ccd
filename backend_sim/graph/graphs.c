/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs.h"

#include <string.h>

#include "graph_alloc.h"
#include "heap.h"
#include "user_objects.h"

enum { TAG_GRAPH = 0x4701, TAG_NODE = 0x4702, TAG_EXEC = 0x4703, TAG_OBJECT = 0x4704 };

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

/* Data that the work owns besides its child: a kernel's arguments, or a list of operations. */
static const void *list_of(const struct graph_work *work, size_t *size)
{
    switch (work->type) {
    case VMM_GRAPH_NODE_TYPE_KERNEL: *size = work->launch.count * sizeof *work->launch.args; return work->launch.args;
    case VMM_GRAPH_NODE_TYPE_BATCH_MEM_OP: *size = work->ops.count * sizeof *work->ops.param_array; return work->ops.param_array;
    default: *size = 0; return NULL;
    }
}

static void drop_work(struct sim_graphs *all, struct graph_work *work)
{
    size_t size;
    heap.free((void *)(uintptr_t)list_of(work, &size));
    if (work->memory)
        graph_memory_drop(all, work->memory);
    if (work->shown)
        all->shown->drop(work->shown);
    if (work->child)
        graphs_end(work->child);
    heap.free(work);
}

/* The copy is not NULL, even if it is empty. */
static bool copy_list(struct graph_work *copy, const struct graph_work *work)
{
    size_t size;
    const void *list = list_of(work, &size);
    void *own = heap.malloc(size + 1);
    if (own && size)
        memcpy(own, list, size);
    if (copy->type == VMM_GRAPH_NODE_TYPE_KERNEL)
        copy->launch.args = own;
    else
        copy->ops.param_array = own;
    return own != NULL;
}

/* Gives the copy its own version of the data that the original owns. */
static bool own(const struct sim_graphs *all, struct graph_work *copy, const struct graph_work *work)
{
    copy->child = NULL;
    copy->shown = NULL;
    if (copy->memory)
        graph_memory_hold(copy->memory);
    if ((copy->type == VMM_GRAPH_NODE_TYPE_KERNEL || copy->type == VMM_GRAPH_NODE_TYPE_BATCH_MEM_OP) && !copy_list(copy, work))
        return false;
    if (work->shown && !(copy->shown = all->shown->copy(copy, work)))
        return false;
    return !work->child || (copy->child = graphs_copy(work->child)) != NULL;
}

static bool give_work(struct graph_node *node, const struct graph_work *work)
{
    struct sim_graphs *all = graphs_of(node->graph);
    struct graph_work *copy = heap.malloc(sizeof *copy);
    if (!copy)
        return false;
    *copy = *work;
    if (!own(all, copy, work)) {
        drop_work(all, copy);
        return false;
    }
    if (copy->child)
        graphs_more(copy->child)->inside = node;
    node->work = copy;
    return true;
}

bool graphs_set(struct graph_node *node, const struct graph_work *work)
{
    struct graph_work *before = node->work;
    if (!give_work(node, work))
        return false;
    drop_work(graphs_of(node->graph), before);
    return true;
}

/* ---- nodes ---- */

static void drop_node(struct graph_node *node)
{
    struct sim_graphs *all = graphs_of(node->graph);
    if (node->value)
        slots_end(&all->nodes, node->value);
    const struct graph_work *work = node->work;
    if (work && work->type == VMM_GRAPH_NODE_TYPE_MEM_FREE)
        graph_memory_set_freed(work->memory, node->graph, false);
    if (work)
        drop_work(all, node->work);
}

static bool copy_node(struct graph_node *to, const struct graph_node *from)
{
    to->value = slots_add(&graphs_of(from->graph)->nodes, to);
    return to->value && give_work(to, from->work);
}

struct graph_node *graphs_add(struct graph *graph, struct graph_node *const *on, const uint64_t *data, size_t count,
                              const struct graph_work *work)
{
    struct graph_node *node = graph_add(graph, on, data, count);
    if (!node)
        return NULL;
    node->value = slots_add(&graphs_of(graph)->nodes, node);
    if (node->value && give_work(node, work)) {
        graphs_more(graph)->made++;
        return node;
    }
    graph_remove(node);
    return NULL;
}

void graphs_end_node(struct graph_node *node)
{
    capture_forget_node(&graphs_of(node->graph)->captures, node);
    graph_remove(node);
}

/* ---- graphs ---- */

static struct graph *with_value(struct graph *graph)
{
    if (graph)
        graph->more = heap.calloc(1, sizeof(struct graph_more));
    if (graph && graph->more && (graph->value = slots_add(&graphs_of(graph)->graphs, graph)))
        return graph;
    if (graph) {
        heap.free(graph->more);
        graph_free(graph);
    }
    return NULL;
}

struct graph *graphs_make(struct sim_graphs *all)
{
    return with_value(graph_new(&all->owner));
}

struct graph *graphs_copy(const struct graph *graph)
{
    struct graph *copy = with_value(graph_clone(graph));
    if (copy)
        graphs_more(copy)->made = graphs_more(graph)->made;
    if (!copy || user_objects_copy(graphs_more(copy), graphs_more(graph), graphs_of(graph)))
        return copy;
    graphs_end(copy);
    return NULL;
}

void graphs_end(struct graph *graph)
{
    slots_end(&graphs_of(graph)->graphs, graph->value);
    user_objects_drop(graphs_of(graph), graphs_more(graph));
    heap.free(graph->more);
    graph_free(graph);
}

bool graphs_allocate(const struct graph *graph)
{
    for (const struct graph_node *node = graph->first; node; node = node->after) {
        const struct graph_work *work = graphs_work(node);
        if (work->memory || (work->child && graphs_allocate(work->child)))
            return true;
    }
    return false;
}

/* ---- instances ---- */

struct graph_exec *graphs_instantiate(struct graph *graph, uint64_t flags)
{
    struct graph_exec *exec = heap.calloc(1, sizeof *exec);
    if (!exec)
        return NULL;
    exec->flags = flags;
    exec->source = graph->value;
    graphs_of(graph)->instancing = true;
    exec->graph = graphs_copy(graph);
    graphs_of(graph)->instancing = false;
    if (exec->graph && (exec->value = slots_add(&graphs_of(graph)->execs, exec))) {
        graphs_more(graph)->instances++;
        return exec;
    }
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

void graphs_end_exec(struct graph_exec *exec)
{
    struct sim_graphs *all = graphs_of(exec->graph);
    const struct graph *source = graphs_find(all, (vmm_graph)(uintptr_t)exec->source);
    slots_end(&all->execs, exec->value);
    if (source)
        graphs_more(source)->instances--;
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
    slots_init(&all->graphs, TAG_GRAPH, SLOTS_POINTERS, forget, NULL);
    slots_init(&all->nodes, TAG_NODE, SLOTS_POINTERS, forget, NULL);
    slots_init(&all->execs, TAG_EXEC, SLOTS_POINTERS, forget, NULL);
    slots_init(&all->objects, TAG_OBJECT, SLOTS_POINTERS, forget, NULL);
}

static void end_exec(void *user, void *object)
{
    struct graph_exec *exec = object;
    (void)user;
    exec->launches = 0; /* a forked child has no other thread */
    graphs_end_exec(exec);
}

/* Children end with their nodes. */
static void end_graph(void *user, void *object)
{
    (void)user;
    if (!graphs_more(object)->inside)
        graphs_end(object);
}

void graphs_close(struct sim_graphs *all)
{
    captures_clear(&all->captures);
    slots_each(&all->execs, end_exec, NULL);
    slots_each(&all->graphs, end_graph, NULL);
    slots_clear(&all->graphs);
    slots_clear(&all->nodes);
    slots_clear(&all->execs);
    user_objects_close(all);
}
