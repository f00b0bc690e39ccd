/* SPDX-License-Identifier: Apache-2.0 */
/* model_object.c - user objects: references of the program and of graphs, and how many have ended. */
#include <stdlib.h>

#include "model_graph.h"

#define INVALID VMM_ERROR_INVALID_VALUE

struct model_object *model_object_of(const struct model *model, vmm_user_object value)
{
    for (size_t i = 0; value && i < model->graphs->objects; i++)
        if (model->graphs->object[i]->value == (uint64_t)(uintptr_t)value)
            return model->graphs->object[i];
    return NULL;
}

uint64_t model_destroyed(struct model *model, uint64_t *late)
{
    const uint64_t count = model->graphs->destroyed;
    *late = model->graphs->destroyed_late;
    model->graphs->destroyed = model->graphs->destroyed_late = 0;
    return count;
}

static void free_unless_named(struct model_object *object)
{
    struct model_graphs *all = object->all;
    if (!object->over || object->named)
        return;
    for (size_t i = 0; i < all->objects; i++)
        if (all->object[i] == object)
            all->object[i] = all->object[--all->objects];
    free(object);
}

/* Passing 0 does not end it, being 0 after a call does. */
static void change(struct model_object *object, int64_t by)
{
    object->count += by;
    if (object->count || object->over)
        return;
    object->over = true;
    object->value = 0;
    object->all->destroyed++;
    object->all->destroyed_late += object->late;
}

void model_objects_close(struct model_graphs *all)
{
    while (all->objects)
        free(all->object[--all->objects]);
    free(all->object);
}

/* ---- of graphs ---- */

static struct model_reference *find(const struct model_graph *graph, const struct model_object *object)
{
    for (size_t i = 0; i < graph->references; i++)
        if (graph->held[i].object == object)
            return &graph->held[i];
    return NULL;
}

static void hold(struct model_graph *graph, struct model_object *object, int64_t by)
{
    struct model_reference *held = find(graph, object);
    if (!held) {
        graph->held = model_room(graph->held, &graph->reference_room, graph->references, sizeof *graph->held);
        held = &graph->held[graph->references++];
        *held = (struct model_reference){object, 0};
        object->named++;
    }
    held->count += by;
    object->held += by;
    if (held->count)
        return;
    *held = graph->held[--graph->references];
    object->named--;
}

void model_objects_copy(struct model_graph *to, const struct model_graph *from, bool instance)
{
    for (size_t i = 0; i < from->references; i++) {
        struct model_object *object = from->held[i].object;
        const int64_t count = instance ? 1 : from->held[i].count;
        if (object->over)
            continue;
        hold(to, object, count);
        change(object, count);
    }
}

void model_objects_update(struct model_graph *instance, const struct model_graph *graph)
{
    for (size_t i = 0; i < graph->references; i++) {
        struct model_object *object = graph->held[i].object;
        if (object->over || find(instance, object))
            continue;
        hold(instance, object, 1);
        change(object, 1);
    }
    for (size_t i = instance->references; i-- > 0;) {
        struct model_object *object = instance->held[i].object;
        const int64_t count = instance->held[i].count;
        if (find(graph, object))
            continue;
        hold(instance, object, -count);
        change(object, -count);
        free_unless_named(object);
    }
}

void model_objects_drop(struct model_graph *graph)
{
    for (size_t i = 0; i < graph->references; i++) {
        struct model_object *object = graph->held[i].object;
        object->held -= graph->held[i].count;
        object->named--;
        change(object, -graph->held[i].count);
        free_unless_named(object);
    }
    free(graph->held);
}

bool model_object_lacks(const struct model_object *object, const struct model_graph *graph, uint64_t count)
{
    int64_t there = graph ? 0 : object->count - object->held;
    for (size_t i = 0; graph && i < graph->references; i++)
        there = graph->held[i].object == object ? graph->held[i].count : there;
    return there < 0 || count > (uint64_t)there;
}

/* ---- the calls ---- */

static struct model_object *need(const struct model *m, vmm_user_object value, uint64_t count, struct model_answer *a)
{
    struct model_object *object = count ? model_object_of(m, value) : NULL;
    if (!object)
        model_refuse(a, INVALID, "VMM-USER-OBJECT");
    return object;
}

MODEL_ON(user_object_create)
{
    if (!c->object_out || !c->destroy)
        model_refuse(a, INVALID, "VMM-GRAPH-NULL");
    else if (c->flags != VMM_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        model_refuse(a, INVALID, "VMM-GRAPH-FLAGS");
    else if (!c->initial_refcount)
        model_refuse(a, INVALID, "VMM-USER-OBJECT");
    if (!model_succeeded(a))
        return;
    struct model_graphs *all = m->graphs;
    struct model_object *object = model_new(sizeof *object);
    *object = (struct model_object){.value = (uint64_t)(uintptr_t)*c->object_out, .count = c->initial_refcount, .tag = m->tag, .all = all};
    model_expect(a, "object equals another one", model_object_of(m, *c->object_out) || !object->value, false);
    all->object = model_room(all->object, &all->object_room, all->objects, sizeof(struct model_object *));
    all->object[all->objects++] = object;
}

MODEL_ON(user_object_retain)
{
    struct model_object *object = need(m, c->object, c->count, a);
    if (!object || !model_succeeded(a))
        return;
    change(object, c->count);
    free_unless_named(object);
}

MODEL_ON(user_object_release)
{
    struct model_object *object = need(m, c->object, c->count, a);
    const bool breach = object && model_object_lacks(object, NULL, c->count);
    if (!object || (breach && !model_breach(m, a, "VMM-USER-OBJECT-OWNED")) || !model_succeeded(a))
        return;
    change(object, -(int64_t)c->count);
    free_unless_named(object);
}

MODEL_ON(graph_retain_user_object)
{
    const bool moves = c->flags & VMM_GRAPH_USER_OBJECT_MOVE;
    if (c->flags > VMM_GRAPH_USER_OBJECT_MOVE) {
        model_refuse(a, INVALID, "VMM-GRAPH-FLAGS");
        return;
    }
    if (!c->count) {
        model_refuse(a, INVALID, "VMM-USER-OBJECT");
        return;
    }
    struct model_graph *graph = model_need_graph(m, c->graph, a);
    struct model_object *object = graph ? need(m, c->object, c->count, a) : NULL;
    const bool breach = object && moves && model_object_lacks(object, NULL, c->count);
    if (!object || (breach && !model_breach(m, a, "VMM-USER-OBJECT-OWNED")) || !model_succeeded(a))
        return;
    hold(graph, object, c->count);
    change(object, moves ? 0 : (int64_t)c->count);
    free_unless_named(object);
}

MODEL_ON(graph_release_user_object)
{
    if (!c->count) {
        model_refuse(a, INVALID, "VMM-USER-OBJECT");
        return;
    }
    struct model_graph *graph = model_need_graph(m, c->graph, a);
    struct model_object *object = graph ? need(m, c->object, c->count, a) : NULL;
    const bool breach = object && model_object_lacks(object, graph, c->count);
    if (!object || (breach && !model_breach(m, a, "VMM-USER-OBJECT-OWNED")) || !model_succeeded(a))
        return;
    hold(graph, object, -(int64_t)c->count);
    change(object, -(int64_t)c->count);
    free_unless_named(object);
}
