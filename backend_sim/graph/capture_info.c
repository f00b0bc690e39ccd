/* SPDX-License-Identifier: Apache-2.0 */
/* Information about a capture, and the mode of a thread. */
#include "call_capture.h"

#include "heap.h"

/* The values of the nodes that the stream has reached, followed by as many zeros (the data of the edges from there); NULL if
 * there are none, or memory is exhausted. */
static const vmm_graph_node *show(struct capture_stream *stream)
{
    if (!stream->reached.count && !stream->shown)
        return NULL;
    vmm_graph_node *list = heap.calloc(stream->reached.count + 1, sizeof(vmm_graph_node) + sizeof(vmm_graph_edge_data));
    for (size_t i = 0; list && i < stream->reached.count; i++)
        list[i] = (vmm_graph_node)(uintptr_t)stream->reached.node[i]->value;
    heap.free(stream->shown);
    stream->shown = list;
    return list;
}

struct capture_info capture_info(const struct sim_process *process, vmm_stream stream)
{
    struct capture_info info = {.status = capture_status(process, stream)};
    if (info.status != VMM_STREAM_CAPTURE_STATUS_ACTIVE)
        return info;
    struct capture_stream *found = capture_of(process, stream);
    info.id = found->capture->id;
    info.graph = (vmm_graph)(uintptr_t)found->capture->graph->value;
    info.nodes = show(found);
    info.edges = info.nodes ? (const vmm_graph_edge_data *)(const void *)(info.nodes + found->reached.count) : NULL;
    info.count = info.nodes ? found->reached.count : 0;
    return info;
}

vmm_result capture_info_tell(const struct capture_info *info, const struct vmm_call_stream_get_capture_info *to)
{
    *to->capture_status_out = info->status;
    if (info->status != VMM_STREAM_CAPTURE_STATUS_ACTIVE)
        return VMM_SUCCESS;
    if (to->id_out)
        *to->id_out = info->id;
    if (to->graph_out)
        *to->graph_out = info->graph;
    if (to->edge_data_out && !to->dependencies_out)
        return graph_null("dependencies_out, and edgeData_out is not,");
    if (to->dependencies_out)
        *to->dependencies_out = info->nodes;
    if (to->edge_data_out)
        *to->edge_data_out = info->edges;
    if (to->num_dependencies_out)
        *to->num_dependencies_out = info->count;
    return VMM_SUCCESS;
}

vmm_result sim_stream_get_capture_info(struct sim_process *process, const struct vmm_call_stream_get_capture_info *call)
{
    struct sim_context *context;
    if (!call->capture_status_out)
        return graph_null("captureStatus_out");
    vmm_result result = sim_stream_context(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = capture_implicit(process, call->stream, true);
    if (result != VMM_SUCCESS)
        return result;
    const struct capture_info info = capture_info(process, call->stream);
    return capture_info_tell(&info, call);
}

vmm_result sim_thread_exchange_stream_capture_mode(struct sim_process *process,
                                                   const struct vmm_call_thread_exchange_stream_capture_mode *call)
{
    (void)process;
    if (!call->mode)
        return graph_null("mode");
    *call->mode = capture_exchange_mode(*call->mode);
    return VMM_SUCCESS;
}
