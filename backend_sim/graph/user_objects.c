/* SPDX-License-Identifier: Apache-2.0 */
#include "user_objects.h"

#include "call_graph.h"
#include "heap.h"

/* Called once the object has ended. */
struct user_ending {
    void (*destroy)(void *data);
    void *data;
    struct user_ending *next;
};

struct user_object {
    uint64_t value;
    struct user_ending *ending; /* NULL: it has ended, but graphs still refer to it */
    int64_t count;              /* all references: as measured a driver has this one number, and ends the object when it becomes 0 */
    int64_t held;               /* the part held by graphs and instances */
    size_t named;               /* graphs and instances that have references, or owe some */
};

struct user_held {
    struct user_object *object;
    int64_t count; /* below 0: that many more were released than existed; never 0 */
    struct user_held *next;
};

static struct user_object *need(const struct sim_graphs *all, uint64_t value, vmm_result *result)
{
    void *object;
    char shown[GRAPH_SHOWN];
    if (slots_find(&all->objects, value, &object) == SLOT_LIVE)
        return object;
    *result = graph_refuse(VMM_RULE_USER_OBJECT, value, "%s is not a user object", graph_shown(value, shown));
    return NULL;
}

static vmm_result check_count(unsigned count)
{
    return count ? VMM_SUCCESS : graph_refuse(VMM_RULE_USER_OBJECT, 0, "the number of references is 0");
}

static void free_unless_named(struct user_object *object)
{
    if (!object->ending && !object->named)
        heap.free(object);
}

/* The number of references changes; at 0 the object ends, even if a graph still holds some. */
static void change(struct sim_graphs *all, struct user_object *object, int64_t by)
{
    object->count += by;
    if (object->count || !object->ending)
        return;
    slots_end(&all->objects, object->value);
    object->ending->next = all->ended;
    all->ended = object->ending;
    object->ending = NULL;
}

/* The program releases, or moves, references that it does not have. */
static bool may_take(const struct sim_process *process, unsigned count, int64_t there)
{
    return count <= there || sim_warn_or_refuse(process, VMM_RULE_USER_OBJECT_OWNED, count, 0, NULL);
}

static vmm_result create(struct sim_graphs *all, uint64_t *value, void *data, void (*destroy)(void *data), unsigned count,
                         unsigned flags)
{
    if (!value || !destroy)
        return graph_null(value ? "destroy" : "object_out");
    if (flags != USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, "it must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC");
    vmm_result result = check_count(count);
    if (result != VMM_SUCCESS)
        return result;
    struct user_object *object = heap.malloc(sizeof *object);
    struct user_ending *ending = heap.malloc(sizeof *ending);
    const uint64_t made = object && ending ? slots_add(&all->objects, object) : 0;
    if (!made) {
        heap.free(object);
        heap.free(ending);
        return sim_out_of_host_memory();
    }
    *ending = (struct user_ending){destroy, data, NULL};
    *object = (struct user_object){.value = made, .ending = ending, .count = count};
    *value = made;
    return VMM_SUCCESS;
}

static vmm_result retain(struct sim_graphs *all, uint64_t value, unsigned count)
{
    vmm_result result = check_count(count);
    struct user_object *object = count ? need(all, value, &result) : NULL;
    if (object) {
        change(all, object, count);
        free_unless_named(object);
    }
    return result;
}

static vmm_result release(const struct sim_process *process, uint64_t value, unsigned count)
{
    vmm_result result = check_count(count);
    struct user_object *object = count ? need(process->graphs, value, &result) : NULL;
    if (!object)
        return result;
    if (!may_take(process, count, object->count - object->held))
        return vmm_last_detail()->result;
    change(process->graphs, object, -(int64_t)count);
    free_unless_named(object);
    return VMM_SUCCESS;
}

/* ---- of graphs ---- */

/* The graph's references to the object; NULL if there are none. */
static struct user_held **find_held(struct graph_more *more, const struct user_object *object)
{
    struct user_held **link = &more->held;
    while (*link && (*link)->object != object)
        link = &(*link)->next;
    return link;
}

/* The graph and the object; NULL after a refusal. */
static struct user_object *need_both(const struct sim_graphs *all, vmm_graph value, uint64_t of, unsigned count, struct graph **graph,
                                     vmm_result *result)
{
    *result = check_count(count);
    *graph = count ? graph_need(all, value, result) : NULL;
    return *graph ? need(all, of, result) : NULL;
}

/* Adds that many references to the graph. False when memory is out. */
static bool hold(struct graph_more *more, struct user_object *object, int64_t by)
{
    struct user_held **link = find_held(more, object), *held = *link;
    if (!held) {
        held = *link = heap.calloc(1, sizeof *held);
        if (!held)
            return false;
        held->object = object;
        object->named++;
    }
    held->count += by;
    object->held += by;
    if (held->count)
        return true;
    *link = held->next;
    heap.free(held);
    object->named--;
    return true;
}

static vmm_result graph_retain(const struct sim_process *process, vmm_graph value, uint64_t of, unsigned count, unsigned flags)
{
    struct graph *graph;
    vmm_result result;
    if (flags & ~(unsigned)USER_OBJECT_MOVE)
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, "the only flag is CU_GRAPH_USER_OBJECT_MOVE");
    struct user_object *object = need_both(process->graphs, value, of, count, &graph, &result);
    if (!object)
        return result;
    const bool moves = flags & USER_OBJECT_MOVE;
    if (moves && !may_take(process, count, object->count - object->held))
        return vmm_last_detail()->result;
    if (!hold(graphs_more(graph), object, count))
        return sim_out_of_host_memory();
    change(process->graphs, object, moves ? 0 : (int64_t)count);
    free_unless_named(object);
    return VMM_SUCCESS;
}

static vmm_result graph_release(const struct sim_process *process, vmm_graph value, uint64_t of, unsigned count)
{
    struct graph *graph;
    vmm_result result;
    struct user_object *object = need_both(process->graphs, value, of, count, &graph, &result);
    if (!object)
        return result;
    const struct user_held *held = *find_held(graphs_more(graph), object);
    if (!may_take(process, count, held ? held->count : 0))
        return vmm_last_detail()->result;
    if (!hold(graphs_more(graph), object, -(int64_t)count))
        return sim_out_of_host_memory();
    change(process->graphs, object, -(int64_t)count);
    free_unless_named(object);
    return VMM_SUCCESS;
}

/* As measured, an instance has one reference, however many its graph holds or owes. */
bool user_objects_copy(struct graph_more *to, const struct graph_more *from, struct sim_graphs *all)
{
    for (const struct user_held *held = from->held; held; held = held->next) {
        const int64_t count = all->instancing ? 1 : held->count;
        if (!held->object->ending)
            continue;
        if (!hold(to, held->object, count))
            return false;
        change(all, held->object, count);
    }
    return true;
}

/* The references of a graph or instance to one object. */
static void let_go(struct sim_graphs *all, struct graph_more *more, const struct user_held *held)
{
    struct user_object *object = held->object;
    const int64_t count = held->count;
    hold(more, object, -count);
    change(all, object, -count);
    free_unless_named(object);
}

bool user_objects_update(struct graph_more *instance, struct graph_more *graph, struct sim_graphs *all)
{
    for (const struct user_held *held = graph->held; held; held = held->next) {
        if (!held->object->ending || *find_held(instance, held->object))
            continue;
        if (!hold(instance, held->object, 1))
            return false;
        change(all, held->object, 1);
    }
    for (struct user_held *held = instance->held, *next; held; held = next) {
        next = held->next;
        if (!*find_held(graph, held->object))
            let_go(all, instance, held);
    }
    return true;
}

void user_objects_drop(struct sim_graphs *all, struct graph_more *more)
{
    while (more->held) {
        struct user_held *held = more->held;
        struct user_object *object = held->object;
        more->held = held->next;
        object->held -= held->count;
        object->named--;
        change(all, object, -held->count);
        free_unless_named(object);
        heap.free(held);
    }
}

/* ---- ends ---- */

struct user_ending *user_objects_ended(struct sim_graphs *all)
{
    struct user_ending *ended = all->ended;
    all->ended = NULL;
    return ended;
}

void user_objects_call(struct user_ending *ended)
{
    while (ended) {
        struct user_ending *next = ended->next;
        ended->destroy(ended->data);
        heap.free(ended);
        ended = next;
    }
}

static void free_object(void *user, void *object)
{
    (void)user;
    heap.free(((struct user_object *)object)->ending);
    heap.free(object);
}

void user_objects_close(struct sim_graphs *all)
{
    slots_each(&all->objects, free_object, NULL);
    slots_clear(&all->objects);
    for (struct user_ending *ended = user_objects_ended(all), *next; ended; ended = next) {
        next = ended->next;
        heap.free(ended);
    }
}

/* ---- the calls ---- */

static uint64_t value_of(vmm_user_object object)
{
    return (uint64_t)(uintptr_t)object;
}

vmm_result sim_user_object_create(struct sim_process *process, const struct vmm_call_user_object_create *call)
{
    return create(process->graphs, (uint64_t *)(void *)call->object_out, call->ptr, call->destroy, call->initial_refcount, call->flags);
}

vmm_result sim_user_object_retain(struct sim_process *process, const struct vmm_call_user_object_retain *call)
{
    return retain(process->graphs, value_of(call->object), call->count);
}

vmm_result sim_user_object_release(struct sim_process *process, const struct vmm_call_user_object_release *call)
{
    return release(process, value_of(call->object), call->count);
}

vmm_result sim_graph_retain_user_object(struct sim_process *process, const struct vmm_call_graph_retain_user_object *call)
{
    return graph_retain(process, call->graph, value_of(call->object), call->count, call->flags);
}

vmm_result sim_graph_release_user_object(struct sim_process *process, const struct vmm_call_graph_release_user_object *call)
{
    return graph_release(process, call->graph, value_of(call->object), call->count);
}
