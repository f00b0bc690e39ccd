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

void driver_sweep_graphs(struct lockstep *pair)
{
    const struct model_graphs *all = pair->model.graphs;
    for (int i = 0; i < MODEL_LANES; i++)
        if (all->capture[i])
            vmm_stream_end_capture(pair->sys, (vmm_stream)(uintptr_t)pair->model.lane[all->capture[i]->origin].stream, NULL);
    for (size_t i = 0; i < all->execs; i++)
        vmm_graph_exec_destroy(pair->sys, (vmm_graph_exec)(uintptr_t)all->exec[i]->value);
    for (size_t i = 0; i < all->count; i++)
        vmm_graph_destroy(pair->sys, (vmm_graph)(uintptr_t)all->graph[i]->value);
}
