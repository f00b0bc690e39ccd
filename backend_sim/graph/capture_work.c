/* SPDX-License-Identifier: Apache-2.0 */
/* Work on a captured stream, as nodes. */
#include "capture_parts.h"
#include "copy_places.h"

#include "graph_alloc.h"
#include "launch.h"
#include "pools.h"
#include "rows.h"

static vmm_context current(const struct sim_process *process)
{
    return (vmm_context)(uintptr_t)context_stack_get(&process->current);
}

/* Updates what the stream continues from once the node exists. Returns false if that fails: the node is then removed. */
static bool go_on(struct capture_stream *stream, struct graph_node *node, vmm_result *result)
{
    if (!node || capture_work(stream, node))
        return node != NULL;
    graphs_end_node(node);
    *result = sim_out_of_host_memory();
    return false;
}

vmm_result capture_add(const struct sim_process *process, vmm_stream stream, const struct graph_work *work)
{
    struct capture_stream *found = capture_of(process, stream);
    struct graph_node *node = graphs_add(found->capture->graph, found->reached.node, NULL, found->reached.count, work);
    vmm_result result = node ? VMM_SUCCESS : sim_out_of_host_memory();
    go_on(found, node, &result);
    return result;
}

/* Its memory is checked when the graph is instantiated, as measured. */
vmm_result capture_add_fill(const struct sim_process *process, vmm_stream stream, const vmm_memset_node_params *fill)
{
    if (!fill->width || !fill->height)
        return VMM_SUCCESS;
    if (fill->dst % fill->element_size)
        return vmm_detail_refuse(VMM_RULE_SET_ALIGNMENT, fill->dst, fill->element_size, NULL);
    if (fill->height > 1 && (fill->pitch < fill->width * fill->element_size || fill->pitch % fill->element_size))
        return graph_refuse_value(VMM_RULE_ROWS_PITCH, "dstPitch", fill->pitch, "expected a multiple of an element's size that a row "
                                  "fits in");
    return capture_add(process, stream, &(const struct graph_work){.type = VMM_GRAPH_NODE_TYPE_MEMSET, .context = current(process),
                                                                   .fill = *fill});
}

static vmm_result add_fill(const struct sim_process *process, vmm_stream stream, uint64_t dst, unsigned value, unsigned size,
                           uint64_t count)
{
    return capture_add_fill(process, stream, &(const vmm_memset_node_params){.dst = dst, .value = value, .element_size = size,
                                                                             .width = count, .height = 1});
}

vmm_result capture_add_copy(const struct sim_process *process, vmm_stream stream, const vmm_memcpy3d *copy)
{
    struct sim_context *context;
    struct graph_work work = {.type = VMM_GRAPH_NODE_TYPE_MEMCPY, .context = current(process), .copy = *copy};
    vmm_result result = sim_stream_context(process, stream, &context);
    if (result != VMM_SUCCESS || !copy->width_in_bytes || !copy->height || !copy->depth)
        return result;
    copy_places_note(process, &work);
    result = rows_check_copy(process, graph_device(process, work.context), false, copy, graph_planned_in, &work.programs);
    return result == VMM_SUCCESS ? capture_add(process, stream, &work) : result;
}

static vmm_result add_line(const struct sim_process *process, vmm_stream stream, const union vmm_any_call *call)
{
    vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .height = 1, .depth = 1};
    switch ((enum vmm_call_id)call->head.id) {
    case VMM_CALL_memcpy_htod_async:
        copy.src_memory_type = VMM_MEMORYTYPE_HOST;
        copy.src_host = call->memcpy_htod_async.src;
        copy.dst_device = call->memcpy_htod_async.dst;
        copy.width_in_bytes = call->memcpy_htod_async.byte_count;
        break;
    case VMM_CALL_memcpy_dtoh_async:
        copy.src_device = call->memcpy_dtoh_async.src;
        copy.dst_memory_type = VMM_MEMORYTYPE_HOST;
        copy.dst_host = call->memcpy_dtoh_async.dst;
        copy.width_in_bytes = call->memcpy_dtoh_async.byte_count;
        break;
    default:
        copy.src_device = call->memcpy_dtod_async.src;
        copy.dst_device = call->memcpy_dtod_async.dst;
        copy.width_in_bytes = call->memcpy_dtod_async.byte_count;
    }
    return capture_add_copy(process, stream, &copy);
}

static vmm_result add_kernel(struct sim_process *process, const struct vmm_call_launch *call)
{
    const struct graph_work work = {.type = VMM_GRAPH_NODE_TYPE_KERNEL, .context = current(process), .launch = *call};
    vmm_result result = launch_check(process, call);
    if (result == VMM_ERROR_INVALID_VALUE)
        capture_of(process, call->stream)->capture->invalid = true;
    return result == VMM_SUCCESS ? capture_add(process, call->stream, &work) : result;
}

vmm_result capture_add_host(const struct sim_process *process, vmm_stream stream, vmm_host_fn fn, void *data)
{
    const struct graph_work work = {.type = VMM_GRAPH_NODE_TYPE_HOST, .host = {fn, data}};
    vmm_result result = fn ? capture_goes_on(process, stream) : vmm_detail_refuse(VMM_RULE_HOSTFUNC_NULL, 0, 0, NULL);
    return result == VMM_SUCCESS ? capture_add(process, stream, &work) : result;
}

/* Their form is checked now, and their memory at each launch, as measured. */
vmm_result capture_add_mem_op(const struct sim_process *process, vmm_stream stream, const struct vmm_call *call)
{
    struct mem_ops ops;
    struct graph_work work;
    vmm_result result = graph_mem_op_work(process, current(process), call, &ops, &work);
    return result == VMM_SUCCESS ? capture_add(process, stream, &work) : result;
}

static vmm_result add_alloc(struct sim_process *process, vmm_stream stream, vmm_deviceptr *dptr, uint64_t size, vmm_mem_location at)
{
    struct capture_stream *found = capture_of(process, stream);
    const struct graph_ends on = {found->reached.node, NULL, found->reached.count};
    struct graph_work work = {0};
    vmm_result result = VMM_SUCCESS;
    if (at.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return graph_refuse(VMM_RULE_GRAPH_MEMORY_KIND, 0, "the pool is on the host, but graph memory must be on a device");
    struct graph_node *node =
        graph_add_alloc(process, found->capture->graph, &on, &(const struct graph_allocation){at.id, size, 0}, &work, &result);
    if (go_on(found, node, &result))
        *dptr = graphs_work(node)->memory->at;
    return result;
}

vmm_result capture_add_alloc(struct sim_process *process, vmm_stream stream, vmm_deviceptr *dptr, uint64_t size,
                             const vmm_memory_pool *value)
{
    const struct sim_context *context = sim_current(process);
    struct sim_pool *ended;
    if (!dptr)
        return vmm_detail_refuse(VMM_RULE_POOL_ALLOC_NULL, 0, 0, NULL);
    *dptr = 0;
    if (!value && !context)
        return sim_no_context(process);
    const struct sim_pool *pool = value ? sim_pool_find(process, (uint64_t)(uintptr_t)*value, &ended) : NULL;
    if (value && !pool)
        return vmm_detail_refuse(VMM_RULE_POOL_UNKNOWN, (uint64_t)(uintptr_t)*value, 0, NULL);
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, context ? context->device : 0};
    return size ? add_alloc(process, stream, dptr, size, pool ? pool->props.location : device) : VMM_SUCCESS;
}

vmm_result capture_add_free(const struct sim_process *process, vmm_stream stream, vmm_deviceptr at)
{
    struct capture_stream *found = capture_of(process, stream);
    const struct graph_ends on = {found->reached.node, NULL, found->reached.count};
    struct graph_work work = {0};
    vmm_result result = VMM_SUCCESS;
    if (at)
        go_on(found, graph_add_free(found->capture->graph, &on, at, &work, &result), &result);
    return result;
}

vmm_result capture_add_work(struct sim_process *process, vmm_stream stream, const union vmm_any_call *call)
{
#define FILL(name, size) \
    case VMM_CALL_##name: return add_fill(process, stream, call->name.dst, call->name.value, size, call->name.n)
    switch ((enum vmm_call_id)call->head.id) {
    FILL(memset_d8_async, 1);
    FILL(memset_d16_async, 2);
    FILL(memset_d32_async, 4);
    case VMM_CALL_memcpy_htod_async:
    case VMM_CALL_memcpy_dtoh_async:
    case VMM_CALL_memcpy_dtod_async: return add_line(process, stream, call);
    case VMM_CALL_memcpy_3d_async: return capture_add_copy(process, stream, call->memcpy_3d_async.p_copy);
    case VMM_CALL_launch: return add_kernel(process, &call->launch);
    case VMM_CALL_launch_host_func:
        return capture_add_host(process, stream, call->launch_host_func.fn, call->launch_host_func.user_data);
    case VMM_CALL_mem_alloc_async: return capture_add_alloc(process, stream, call->mem_alloc_async.dptr, call->mem_alloc_async.bytesize, NULL);
    case VMM_CALL_mem_alloc_from_pool_async:
        return capture_add_alloc(process, stream, call->mem_alloc_from_pool_async.dptr, call->mem_alloc_from_pool_async.bytesize,
                              &call->mem_alloc_from_pool_async.pool);
    case VMM_CALL_mem_free_async: return capture_add_free(process, stream, call->mem_free_async.dptr);
    default: return capture_add_mem_op(process, stream, &call->head);
    }
#undef FILL
}
