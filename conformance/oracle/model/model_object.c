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

uint64_t model_destroyed(struct model *model)
{
    const uint64_t count = model->graphs->destroyed;
    model->graphs->destroyed = 0;
    return count;
}

static void end_unless_held(struct model_object *object)
{
    struct model_graphs *all = object->all;
    if (object->own || object->held)
        return;
    for (size_t i = 0; i < all->objects; i++)
        if (all->object[i] == object)
            all->object[i] = all->object[--all->objects];
    all->destroyed++;
    free(object);
}

void model_objects_close(struct model_graphs *all)
{
    while (all->objects)
        free(all->object[--all->objects]);
    free(all->object);
}

/* ---- of graphs ---- */

static struct model_reference *find(struct model_graph *graph, const struct model_object *object)
{
    for (size_t i = 0; i < graph->references; i++)
        if (graph->held[i].object == object)
            return &graph->held[i];
    return NULL;
}

static void hold(struct model_graph *graph, struct model_object *object, uint64_t count)
{
    struct model_reference *held = find(graph, object);
    if (!held) {
        graph->held = model_room(graph->held, &graph->reference_room, graph->references, sizeof *graph->held);
        held = &graph->held[graph->references++];
        *held = (struct model_reference){object, 0};
    }
    held->count += count;
    object->held += count;
}

void model_objects_copy(struct model_graph *to, const struct model_graph *from)
{
    for (size_t i = 0; i < from->references; i++)
        hold(to, from->held[i].object, from->held[i].count);
}

void model_objects_drop(struct model_graph *graph)
{
    for (size_t i = 0; i < graph->references; i++) {
        graph->held[i].object->held -= graph->held[i].count;
        end_unless_held(graph->held[i].object);
    }
    free(graph->held);
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
    *object = (struct model_object){.value = (uint64_t)(uintptr_t)*c->object_out, .own = c->initial_refcount, .tag = m->tag, .all = all};
    model_expect(a, "object equals another one", model_object_of(m, *c->object_out) || !object->value, false);
    all->object = model_room(all->object, &all->object_room, all->objects, sizeof(struct model_object *));
    all->object[all->objects++] = object;
}

MODEL_ON(user_object_retain)
{
    struct model_object *object = need(m, c->object, c->count, a);
    if (object && model_succeeded(a))
        object->own += c->count;
}

/* More than there are changes nothing. */
MODEL_ON(user_object_release)
{
    struct model_object *object = need(m, c->object, c->count, a);
    if (!object || !model_succeeded(a) || c->count > object->own)
        return;
    object->own -= c->count;
    end_unless_held(object);
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
    if (object && moves && c->count > object->own) {
        a->foreseen = !m->driver; /* not observed */
        model_refuse(a, INVALID, "VMM-USER-OBJECT");
    }
    if (!object || !model_succeeded(a))
        return;
    hold(graph, object, c->count);
    object->own -= moves ? c->count : 0;
}

MODEL_ON(graph_release_user_object)
{
    if (!c->count) {
        model_refuse(a, INVALID, "VMM-USER-OBJECT");
        return;
    }
    struct model_graph *graph = model_need_graph(m, c->graph, a);
    struct model_object *object = graph ? need(m, c->object, c->count, a) : NULL;
    struct model_reference *held = object ? find(graph, object) : NULL;
    if (!held || !model_succeeded(a))
        return;
    const uint64_t most = c->count < held->count ? c->count : held->count;
    held->count -= most;
    object->held -= most;
    if (!held->count)
        *held = graph->held[--graph->references];
    end_unless_held(object);
}
