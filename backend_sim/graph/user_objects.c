/* SPDX-License-Identifier: Apache-2.0 */
#include "user_objects.h"

#include "call_graph.h"
#include "heap.h"

struct user_object {
    uint64_t value;
    void (*destroy)(void *data);
    void *data;
    uint64_t own, held;       /* references of the program, and of graphs */
    struct user_object *next; /* of those that have ended */
};

struct user_held {
    struct user_object *object;
    unsigned count;
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

static void end_unless_held(struct sim_graphs *all, struct user_object *object)
{
    if (object->own || object->held)
        return;
    slots_end(&all->objects, object->value);
    object->next = all->ended;
    all->ended = object;
}

vmm_result user_object_create(struct sim_graphs *all, uint64_t *value, void *data, void (*destroy)(void *data), unsigned count,
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
    if (!object)
        return sim_out_of_host_memory();
    *object = (struct user_object){.value = slots_add(&all->objects, object), .destroy = destroy, .data = data, .own = count};
    if (object->value) {
        *value = object->value;
        return VMM_SUCCESS;
    }
    heap.free(object);
    return sim_out_of_host_memory();
}

vmm_result user_object_retain(const struct sim_graphs *all, uint64_t value, unsigned count)
{
    vmm_result result = check_count(count);
    struct user_object *object = count ? need(all, value, &result) : NULL;
    if (object)
        object->own += count;
    return result;
}

/* As measured, a release of more references than there are is accepted and changes nothing; those of graphs are not the program's. */
vmm_result user_object_release(struct sim_graphs *all, uint64_t value, unsigned count)
{
    vmm_result result = check_count(count);
    struct user_object *object = count ? need(all, value, &result) : NULL;
    if (!object || count > object->own)
        return result;
    object->own -= count;
    end_unless_held(all, object);
    return VMM_SUCCESS;
}

/* ---- of graphs ---- */

/* The graph's references to the object; NULL: none. */
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

vmm_result user_object_hold(const struct sim_graphs *all, vmm_graph value, uint64_t of, unsigned count, unsigned flags)
{
    struct graph *graph;
    vmm_result result;
    if (flags & ~(unsigned)USER_OBJECT_MOVE)
        return graph_refuse_value(VMM_RULE_GRAPH_FLAGS, "flags", flags, "the only flag is CU_GRAPH_USER_OBJECT_MOVE");
    struct user_object *object = need_both(all, value, of, count, &graph, &result);
    if (!object)
        return result;
    const bool moves = flags & USER_OBJECT_MOVE;
    if (moves && count > object->own)
        return graph_refuse(VMM_RULE_USER_OBJECT, of, "the program has %llu references to %p, and cannot move %u",
                            (unsigned long long)object->own, (void *)(uintptr_t)of, count);
    struct user_held **link = find_held(graphs_more(graph), object);
    if (!*link && !(*link = heap.calloc(1, sizeof **link)))
        return sim_out_of_host_memory();
    (*link)->object = object;
    (*link)->count += count;
    object->held += count;
    object->own -= moves ? count : 0;
    return VMM_SUCCESS;
}

vmm_result user_object_let_go(struct sim_graphs *all, vmm_graph value, uint64_t of, unsigned count)
{
    struct graph *graph;
    vmm_result result;
    struct user_object *object = need_both(all, value, of, count, &graph, &result);
    struct user_held **link = object ? find_held(graphs_more(graph), object) : NULL, *held = link ? *link : NULL;
    if (!held)
        return result;
    const unsigned most = count < held->count ? count : held->count;
    held->count -= most;
    if (!held->count) {
        *link = held->next;
        heap.free(held);
    }
    object->held -= most;
    end_unless_held(all, object);
    return VMM_SUCCESS;
}

bool user_objects_copy(struct graph_more *to, const struct graph_more *from)
{
    for (const struct user_held *held = from->held; held; held = held->next) {
        struct user_held *copy = heap.malloc(sizeof *copy);
        if (!copy)
            return false;
        *copy = (struct user_held){held->object, held->count, to->held};
        held->object->held += held->count;
        to->held = copy;
    }
    return true;
}

void user_objects_drop(struct sim_graphs *all, struct graph_more *more)
{
    while (more->held) {
        struct user_held *held = more->held;
        more->held = held->next;
        held->object->held -= held->count;
        end_unless_held(all, held->object);
        heap.free(held);
    }
}

/* ---- ends ---- */

struct user_object *user_objects_ended(struct sim_graphs *all)
{
    struct user_object *ended = all->ended;
    all->ended = NULL;
    return ended;
}

void user_objects_call(struct user_object *ended)
{
    while (ended) {
        struct user_object *next = ended->next;
        ended->destroy(ended->data);
        heap.free(ended);
        ended = next;
    }
}

static void free_object(void *user, void *object)
{
    (void)user;
    heap.free(object);
}

void user_objects_close(struct sim_graphs *all)
{
    slots_each(&all->objects, free_object, NULL);
    slots_clear(&all->objects);
    for (struct user_object *object = user_objects_ended(all), *next; object; object = next) {
        next = object->next;
        heap.free(object);
    }
}

/* ---- the calls ---- */

static uint64_t value_of(vmm_user_object object)
{
    return (uint64_t)(uintptr_t)object;
}

vmm_result sim_user_object_create(struct sim_process *process, const struct vmm_call_user_object_create *call)
{
    return user_object_create(process->graphs, (uint64_t *)(void *)call->object_out, call->ptr, call->destroy, call->initial_refcount,
                              call->flags);
}

vmm_result sim_user_object_retain(struct sim_process *process, const struct vmm_call_user_object_retain *call)
{
    return user_object_retain(process->graphs, value_of(call->object), call->count);
}

vmm_result sim_user_object_release(struct sim_process *process, const struct vmm_call_user_object_release *call)
{
    return user_object_release(process->graphs, value_of(call->object), call->count);
}

vmm_result sim_graph_retain_user_object(struct sim_process *process, const struct vmm_call_graph_retain_user_object *call)
{
    return user_object_hold(process->graphs, call->graph, value_of(call->object), call->count, call->flags);
}

vmm_result sim_graph_release_user_object(struct sim_process *process, const struct vmm_call_graph_release_user_object *call)
{
    return user_object_let_go(process->graphs, call->graph, value_of(call->object), call->count);
}
