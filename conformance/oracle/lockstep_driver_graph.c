/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_driver_graph.c - graphs of a driver: values that it may be given, and their end. */
#include "lockstep_parts.h"
#include "model/model_graph.h"

static bool known(struct lockstep *pair, enum vmm_param_kind kind, uint64_t value)
{
    void *is = (void *)(uintptr_t)value;
    switch (kind) {
    case VMM_PARAM_GRAPH: return !is || model_graph_of(&pair->model, is);
    case VMM_PARAM_GRAPH_NODE: return !is || model_node_of(&pair->model, is);
    case VMM_PARAM_USER_OBJECT: return !is || model_object_of(&pair->model, is);
    case VMM_PARAM_GRAPH_EXEC: return !is || model_exec_of(&pair->model, is);
    default: return true;
    }
}

bool driver_knows_graphs(struct lockstep *pair, const union vmm_any_call *call, const struct outputs *out)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->head.id, &count);
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        good = known(pair, params[i].kind, vmm_call_scalar(&call->head, &params[i]));
        for (size_t k = 0; params[i].kind == VMM_PARAM_NODES && k < 2 * STEP_NODES; k++)
            good &= known(pair, VMM_PARAM_GRAPH_NODE, (uint64_t)(uintptr_t)out->node[k / STEP_NODES][k % STEP_NODES]);
    }
    return good;
}

bool driver_lacks_references(struct lockstep *pair, const union vmm_any_call *call)
{
    const struct vmm_call_graph_release_user_object *released = &call->graph_release_user_object;
    const struct vmm_call_graph_retain_user_object *retained = &call->graph_retain_user_object;
    const struct model_object *object;
    const struct model_graph *graph;
    switch (call->head.id) {
    case VMM_CALL_user_object_release:
        object = model_object_of(&pair->model, call->user_object_release.object);
        return object && model_object_lacks(object, NULL, call->user_object_release.count);
    case VMM_CALL_graph_retain_user_object:
        object = model_object_of(&pair->model, retained->object);
        return object && retained->flags & VMM_GRAPH_USER_OBJECT_MOVE && model_object_lacks(object, NULL, retained->count);
    case VMM_CALL_graph_release_user_object:
        object = model_object_of(&pair->model, released->object);
        graph = object ? model_graph_of(&pair->model, released->graph) : NULL;
        return graph && model_object_lacks(object, graph, released->count);
    default: return false;
    }
}

/* With the model, since a capture that ends invalid takes its graph with it. What a driver would use after that stays captured. */
static bool end_capture(struct lockstep *pair, vmm_stream stream)
{
    union vmm_any_call call = {.stream_end_capture = {.head.id = VMM_CALL_stream_end_capture, .stream = stream}};
    struct model_answer answer;
    model_foresee(&pair->model, &call.head, &answer);
    if (answer.ends)
        return false;
    answer = (struct model_answer){.actual = vmm_stream_end_capture(pair->sys, stream, NULL)};
    model_predict(&pair->model, &call.head, &answer);
    return true;
}

bool driver_sweep_graphs(struct lockstep *pair)
{
    bool clean = true;
    struct model *m = &pair->model;
    const struct model_graphs *all = m->graphs;
    m->current = 0;
    vmm_ctx_set_current(pair->sys, m->contexts[0].value);
    for (int i = 0; i < MODEL_LANES; i++)
        if (all->capture[i])
            clean &= end_capture(pair, (vmm_stream)(uintptr_t)m->lane[all->capture[i]->origin].stream);
    for (size_t i = 0; i < all->execs; i++)
        clean &= vmm_graph_exec_destroy(pair->sys, (vmm_graph_exec)(uintptr_t)all->exec[i]->value) == VMM_SUCCESS;
    for (size_t i = 0; i < all->count; i++)
        if (!model_is_captured_into(m, all->graph[i], true))
            clean &= vmm_graph_destroy(pair->sys, (vmm_graph)(uintptr_t)all->graph[i]->value) == VMM_SUCCESS;
    return clean;
}
