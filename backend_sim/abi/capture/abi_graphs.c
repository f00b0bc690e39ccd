/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_graphs.h"

#include <string.h>

#include "abi_graph_alloc.h"
#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"
#include "slots.h"

LIFE_LOCK(lock, LIFE_TABLE, NULL)

enum { TAG_GRAPH = 0x4701, TAG_NODE = 0x4702, TAG_EXEC = 0x4703, TAG_OBJECT = 0x4704 };

static struct slots graphs, nodes, execs, objects; /* guarded by the lock */
static struct abi_user_object *ended;              /* objects whose functions are still to be called */
struct captures abi_captures;

static void forget(void *user, void *object)
{
    (void)user;
    (void)object;
}

static void make_tables(void)
{
    slots_init(&graphs, TAG_GRAPH, forget, NULL);
    slots_init(&nodes, TAG_NODE, forget, NULL);
    slots_init(&execs, TAG_EXEC, forget, NULL);
    slots_init(&objects, TAG_OBJECT, forget, NULL);
}

void abi_graphs_lock(void)
{
    life_acquire(&lock);
    if (!graphs.tag)
        make_tables();
}

/* Calls the functions of user objects that ended, without the lock. */
void abi_graphs_unlock(void)
{
    struct abi_user_object *object = ended;
    ended = NULL;
    life_release(&lock);
    while (object) {
        struct abi_user_object *next = object->next;
        object->destroy(object->data);
        heap.free(object);
        object = next;
    }
}

static void *find(const struct slots *slots, const void *value)
{
    void *object;
    return slots_find(slots, (uint64_t)(uintptr_t)value, &object) == SLOT_LIVE ? object : NULL;
}

struct graph *abi_graph_of(CUgraph value)
{
    return find(&graphs, value);
}

struct graph_node *abi_node_of(CUgraphNode value)
{
    return find(&nodes, value);
}

struct abi_exec *abi_exec_of(CUgraphExec value)
{
    return find(&execs, value);
}

struct abi_user_object *abi_user_object_of(CUuserObject value)
{
    return find(&objects, value);
}

/* ---- work ---- */

enum { EXTRA = 6 };

/* The size stands behind the list that leads to it. */
static void show_extra(void **extra, unsigned char *bytes, size_t size)
{
    extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
    extra[1] = bytes;
    extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
    extra[3] = &extra[5];
    extra[4] = CU_LAUNCH_PARAM_END;
    memcpy(&extra[5], &size, sizeof size);
}

bool abi_work_kernel(struct abi_work *work, const struct vmm_call_launch *launch, size_t first, const size_t *offset,
                     unsigned count)
{
    uint64_t *args = heap.malloc(launch->count * sizeof *args);
    void **list = heap.malloc((count + 1 + EXTRA) * sizeof *list);
    if (!args || !list) {
        heap.free(args);
        heap.free(list);
        return false;
    }
    memcpy(args, launch->args, launch->count * sizeof *args);
    for (unsigned i = 0; i < count; i++)
        list[i] = (unsigned char *)(args + first) + offset[i];
    list[count] = NULL;
    show_extra(list + count + 1, (unsigned char *)(args + first), offset[count]);
    work->launch = *launch;
    work->launch.args = args;
    work->list = list;
    work->params.kernel.kernelParams = work->packed ? NULL : list;
    work->params.kernel.extra = work->packed ? list + count + 1 : NULL;
    return true;
}

static unsigned list_length(void **list)
{
    unsigned count = 0;
    while (list[count])
        count++;
    return count;
}

/* The copy's own list and arguments. */
static bool copy_kernel(struct abi_work *to, const struct abi_work *from)
{
    enum { MOST = 4096 }; /* the parameters have no more bytes together */
    size_t offset[MOST + 1], whole;
    unsigned count = list_length(from->list);
    const unsigned char *args = (const unsigned char *)from->launch.args;
    for (unsigned i = 0; i < count; i++)
        offset[i] = (size_t)((const unsigned char *)from->list[i] - args);
    memcpy(&whole, &from->list[count + 1 + 5], sizeof whole);
    offset[count] = whole;
    if (!abi_work_kernel(to, &from->launch, 0, offset, count))
        return false;
    if (!from->packed)
        return true;
    const unsigned char *packed = from->params.kernel.extra[1];
    /* analysers: null-dereference is wrong: packed parameters stand in extra, which the copy has as well */
    to->params.kernel.extra[1] = (unsigned char *)(uintptr_t)to->launch.args + (packed - args);
    return true;
}

/* The copy's own list of operations; it is not NULL, even if it is empty. */
static bool copy_list(struct abi_work *to, const void *list, size_t size)
{
    to->own = heap.malloc(size + 1);
    if (to->own && size)
        memcpy(to->own, list, size);
    return to->own != NULL;
}

static bool copy_own(struct abi_work *to, const struct abi_work *from)
{
    const CUgraphNodeParams *p = &from->params;
    bool ok = true;
    if (p->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        ok = copy_list(to, p->memOp.paramArray, p->memOp.count * sizeof *p->memOp.paramArray);
        to->params.memOp.paramArray = to->own;
    } else if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && p->alloc.accessDescCount) {
        ok = copy_list(to, p->alloc.accessDescs, p->alloc.accessDescCount * sizeof *p->alloc.accessDescs);
        to->params.alloc.accessDescs = to->own;
    }
    return ok;
}

static bool copy_work(struct abi_work *to, const struct abi_work *from)
{
    *to = *from;
    to->list = NULL;
    to->child = NULL;
    to->own = NULL;
    to->launch.args = NULL;
    if (to->memory)
        abi_memory_hold(to->memory);
    if ((from->list && !copy_kernel(to, from)) || !copy_own(to, from))
        return false;
    if (!from->child)
        return true;
    to->child = abi_graph_copy(from->child);
    return to->child != NULL;
}

void abi_work_drop(struct abi_work *work)
{
    heap.free((void *)(uintptr_t)work->launch.args);
    heap.free(work->list);
    heap.free(work->own);
    if (work->memory)
        abi_memory_drop(work->memory);
    if (work->child)
        abi_graph_end(work->child);
    *work = (struct abi_work){0};
}

/* ---- nodes ---- */

static void drop_node(struct graph_node *node)
{
    if (node->value)
        slots_end(&nodes, node->value);
    if (node->work && abi_type_of(node) == CU_GRAPH_NODE_TYPE_MEM_FREE)
        abi_memory_set_freed(abi_work_of(node)->memory, node->graph, false);
    if (node->work)
        abi_work_drop(node->work);
    heap.free(node->work);
}

static bool give_work(struct graph_node *node, const struct abi_work *work)
{
    struct abi_work *copy = heap.calloc(1, sizeof *copy);
    if (!copy || !copy_work(copy, work)) {
        if (copy)
            abi_work_drop(copy);
        heap.free(copy);
        return false;
    }
    if (copy->child)
        abi_more_of(copy->child)->inside = node;
    node->work = copy;
    return true;
}

static bool copy_node(struct graph_node *to, const struct graph_node *from)
{
    to->value = slots_add(&nodes, to);
    return to->value && give_work(to, from->work);
}

static const struct graph_owner owner = {copy_node, drop_node};

struct graph_node *abi_graph_add(struct graph *graph, struct graph_node *const *on, const uint64_t *data, size_t count,
                                 const struct abi_work *work)
{
    struct graph_node *node = graph_add(graph, on, data, count);
    if (!node)
        return NULL;
    node->value = slots_add(&nodes, node);
    if (node->value && give_work(node, work)) {
        abi_more_of(graph)->made++;
        return node;
    }
    graph_remove(node);
    return NULL;
}

bool abi_node_set(struct graph_node *node, const struct abi_work *work)
{
    struct abi_work *before = node->work;
    if (!give_work(node, work))
        return false;
    abi_work_drop(before);
    heap.free(before);
    return true;
}

void abi_node_end(struct graph_node *node)
{
    capture_forget_node(&abi_captures, node);
    graph_remove(node);
}

/* ---- graphs ---- */

static struct graph *with_value(struct graph *graph)
{
    if (graph)
        graph->more = heap.calloc(1, sizeof(struct abi_graph));
    if (graph && graph->more && (graph->value = slots_add(&graphs, graph)))
        return graph;
    if (graph) {
        heap.free(graph->more);
        graph_free(graph);
    }
    return NULL;
}

struct graph *abi_graph_new(void)
{
    return with_value(graph_new(&owner));
}

static void drop_held(struct abi_graph *more)
{
    while (more->held) {
        struct abi_held *held = more->held;
        more->held = held->next;
        abi_user_object_release(held->object, held->count);
        heap.free(held);
    }
}

static bool copy_held(struct abi_graph *to, const struct abi_graph *from)
{
    for (const struct abi_held *held = from->held; held; held = held->next) {
        struct abi_held *copy = heap.malloc(sizeof *copy);
        if (!copy)
            return false;
        *copy = (struct abi_held){held->object, held->count, to->held};
        held->object->count += held->count;
        to->held = copy;
    }
    return true;
}

struct graph *abi_graph_copy(const struct graph *graph)
{
    struct graph *copy = with_value(graph_clone(graph));
    if (copy)
        abi_more_of(copy)->made = abi_more_of(graph)->made;
    if (!copy || copy_held(abi_more_of(copy), abi_more_of(graph)))
        return copy;
    abi_graph_end(copy);
    return NULL;
}

void abi_graph_end(struct graph *graph)
{
    slots_end(&graphs, graph->value);
    drop_held(abi_more_of(graph));
    heap.free(graph->more);
    graph_free(graph);
}

/* ---- instances ---- */

struct abi_exec *abi_exec_new(struct graph *graph, uint64_t flags)
{
    struct abi_exec *exec = heap.calloc(1, sizeof *exec);
    if (!exec)
        return NULL;
    exec->flags = flags;
    exec->graph = abi_graph_copy(graph);
    exec->source = graph->value;
    if (exec->graph && (exec->value = slots_add(&execs, exec))) {
        abi_more_of(graph)->instances++;
        return exec;
    }
    if (exec->graph)
        abi_graph_end(exec->graph);
    heap.free(exec);
    return NULL;
}

void abi_exec_end(struct abi_exec *exec)
{
    const struct graph *source = abi_graph_of((CUgraph)(uintptr_t)exec->source);
    if (!exec->ended) { /* LCOV_EXCL_BR_LINE: unless another thread ended it during its launch */
        slots_end(&execs, exec->value);
        if (source)
            abi_more_of(source)->instances--;
    }
    exec->ended = true;
    if (exec->launches) /* LCOV_EXCL_BR_LINE: another thread is launching it at this moment */
        return; /* the last launch ends it. LCOV_EXCL_LINE: the same */
    abi_graph_end(exec->graph);
    heap.free(exec);
}

/* ---- user objects ---- */

struct abi_user_object *abi_user_object_new(void (*destroy)(void *data), void *data, unsigned count)
{
    struct abi_user_object *object = heap.malloc(sizeof *object);
    if (!object)
        return NULL;
    *object = (struct abi_user_object){.destroy = destroy, .data = data, .count = count};
    object->value = slots_add(&objects, object);
    if (object->value)
        return object;
    heap.free(object);
    return NULL;
}

void abi_user_object_release(struct abi_user_object *object, unsigned count)
{
    object->count -= count;
    if (object->count)
        return;
    slots_end(&objects, object->value);
    object->next = ended;
    ended = object;
}

struct abi_held **abi_held_find(struct abi_graph *more, const struct abi_user_object *object)
{
    struct abi_held **link = &more->held;
    while (*link && (*link)->object != object)
        link = &(*link)->next;
    return link;
}

/* ---- the end of the library ---- */

static void end_exec(void *user, void *exec)
{
    (void)user;
    ((struct abi_exec *)exec)->launches = 0;
    abi_exec_end(exec);
}

/* Children end with their nodes. */
static void end_graph(void *user, void *graph)
{
    (void)user;
    if (!abi_more_of(graph)->inside)
        abi_graph_end(graph);
}

static void free_object(void *user, void *object)
{
    (void)user;
    heap.free(object);
}

/* The functions of user objects are not called any more. */
void abi_graphs_close(void)
{
    abi_memories_close();
    captures_clear(&abi_captures);
    slots_each(&execs, end_exec, NULL);
    slots_each(&graphs, end_graph, NULL);
    slots_each(&objects, free_object, NULL);
    for (struct abi_user_object *object = ended, *next; object; object = next) {
        next = object->next;
        heap.free(object);
    }
    ended = NULL;
    slots_clear(&graphs);
    slots_clear(&nodes);
    slots_clear(&execs);
    slots_clear(&objects);
}
