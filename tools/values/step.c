/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool step_is_out(enum vmm_param_kind kind)
{
    return kind >= VMM_PARAM_OUT_INT;
}

/* Where a pointer parameter points in the step's own room. */
static void *room_of(struct step *step, enum vmm_param_kind kind, size_t index)
{
    switch (kind) {
    case VMM_PARAM_PROP:
    case VMM_PARAM_OUT_PROP: return &step->prop;
    case VMM_PARAM_TEAM: return &step->team;
    case VMM_PARAM_POOL_PROPS: return &step->pool_props;
    case VMM_PARAM_POOL_VALUE: return &step->pool_value;
    case VMM_PARAM_POOL_POINTER:
    case VMM_PARAM_IPC_HANDLE: return step->fabric;
    case VMM_PARAM_LOCATION:
    case VMM_PARAM_LOCATION_VALUE: return &step->location;
    case VMM_PARAM_STRUCT:
    case VMM_PARAM_OUT_STRUCT: return step->structure;
    case VMM_PARAM_STRUCTS: return step->structs;
    case VMM_PARAM_OUT_RANGE: return step->range;
    case VMM_PARAM_DESCS: return step->grants;
    case VMM_PARAM_ARGS: return step->words;
    case VMM_PARAM_MEM_OPS: return step->mem_ops;
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER:
    case VMM_PARAM_OUT_MEMCPY3D: return &step->box;
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES: return step_batch(step, index);
    case VMM_PARAM_COPY_ATTRIBUTES: return step->copy_attributes;
    case VMM_PARAM_BOXES: return step->boxes;
    case VMM_PARAM_NODES:
    case VMM_PARAM_OUT_NODES: return step_nodes(step, index);
    case VMM_PARAM_EDGES:
    case VMM_PARAM_OUT_EDGES: return step->edges;
    case VMM_PARAM_FILL_NODE:
    case VMM_PARAM_OUT_FILL_NODE: return &step->fill_node;
    case VMM_PARAM_HOST_NODE:
    case VMM_PARAM_OUT_HOST_NODE: return &step->host_node;
    case VMM_PARAM_OUT_UPDATE: return &step->update;
    case VMM_PARAM_KERNEL_NODE: return &step->kernel_node;
    case VMM_PARAM_ATTRIBUTES: return step->attributes;
    case VMM_PARAM_OUT_ATTRIBUTES: return step->data_pointers;
    case VMM_PARAM_OUT_TEXT: return step->text;
    case VMM_PARAM_BYTES:
    case VMM_PARAM_OUT_BYTES: return NULL;
    default: return step_is_out(kind) ? &step->out[index] : NULL;
    }
}

/* Stands for the program's own function, which neither a script nor a trace has. */
static void call_nothing(void *user_data)
{
    (void)user_data;
}

static uint64_t own_code(enum vmm_param_kind kind)
{
    return kind == VMM_PARAM_FUNCTION ? (uint64_t)(uintptr_t)call_nothing : 0;
}

void step_begin(struct step *step, enum vmm_call_id id)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params(id, &count);
    memset(step, 0, sizeof *step);
    step->call.head.id = (uint16_t)id;
    step->prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    step->pool_props.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    step->host_node.fn = call_nothing;
    step->kernel_node.args = step->words;
    for (size_t i = 0; i < STEP_ATTRIBUTES; i++)
        step->data_pointers[i] = &step->data[i];
    for (size_t i = 0; i < count && i < STEP_PARAMS; i++) {
        void *room = room_of(step, params[i].kind, i);
        if (room || own_code(params[i].kind))
            vmm_call_set_scalar(&step->call.head, &params[i], room ? (uint64_t)(uintptr_t)room : own_code(params[i].kind));
    }
}

uint64_t step_list(const struct step *step)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)step->call.head.id, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(params[i].name, "num_dependencies") == 0)
            return vmm_call_scalar(&step->call.head, &params[i]);
    return 0;
}

uint64_t step_written(const struct step *step)
{
    const uint64_t *length = vmm_list_length(&step->call.head);
    return length ? *length : 0;
}

bool step_wrote_fabric(const struct step *step)
{
    const union vmm_any_call *call = &step->call;
    int type = call->head.id == VMM_CALL_mem_export_to_shareable_handle        ? call->mem_export_to_shareable_handle.handle_type
             : call->head.id == VMM_CALL_mem_pool_export_to_shareable_handle ? call->mem_pool_export_to_shareable_handle.handle_type
                                                                              : VMM_MEM_HANDLE_TYPE_NONE;
    return step->result == VMM_SUCCESS && type == VMM_MEM_HANDLE_TYPE_FABRIC;
}

/* The descriptor that the call stored in the step's own room. */
static void note_descriptor(struct step *step)
{
    size_t count;
    if (step_wrote_fabric(step))
        return;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)step->call.head.id, &count);
    for (size_t i = 0; step->result == VMM_SUCCESS && i < count && i < STEP_PARAMS; i++)
        if (params[i].kind == VMM_PARAM_OUT_FD && vmm_call_scalar(&step->call.head, &params[i])) {
            step->descriptor = step->out[i].i;
            step->has_descriptor = step->descriptor >= 0;
        }
}

void step_end(struct step *step)
{
    if (step->has_descriptor)
        close(step->descriptor);
    step->has_descriptor = false;
    free(step->bytes);
    step->bytes = NULL;
}

/* One function per call, from the table: unpacks the record into the public call. */
#define VMM_CALL(name, ...)                                                                 \
    static vmm_result invoke_##name(vmm_system *sys, const struct vmm_call_##name *call)    \
    {                                                                                       \
        (void)call;                                                                         \
        return vmm_##name(sys VMM_EACH(VMM_AND_MEMBER, VMM_PARAMS_##name));                 \
    }
#include "calls.def"

/* A fabric handle is passed by its address, and a script or a trace has none: the call gets the step's own. */
static void **lends_fabric(struct step *step)
{
    struct vmm_call_mem_import_from_shareable_handle *call = &step->call.mem_import_from_shareable_handle;
    struct vmm_call_mem_pool_import_from_shareable_handle *pool = &step->call.mem_pool_import_from_shareable_handle;
    bool is_pool = pool->head.id == VMM_CALL_mem_pool_import_from_shareable_handle;
    if (!is_pool && call->head.id != VMM_CALL_mem_import_from_shareable_handle)
        return NULL;
    void **handle = is_pool ? &pool->handle : &call->os_handle;
    return *handle && (is_pool ? pool->handle_type : call->sh_handle_type) == VMM_MEM_HANDLE_TYPE_FABRIC ? handle : NULL;
}

vmm_result step_make(vmm_system *sys, const union vmm_any_call *call)
{
    switch ((enum vmm_call_id)call->head.id) {
#define VMM_CALL(name, ...) \
    case VMM_CALL_##name: return invoke_##name(sys, &call->name);
#include "calls.def"
    case VMM_CALL_COUNT: break;
    }
    return VMM_ERROR_INVALID_VALUE;
}

vmm_result step_invoke(vmm_system *sys, struct step *step)
{
    void **lends = lends_fabric(step), *said = lends ? *lends : NULL;
    if (lends)
        *lends = step->fabric;
    step->result = step_make(sys, &step->call);
    if (lends)
        *lends = said; /* which is known by a name */
    note_descriptor(step);
    return step->result;
}
