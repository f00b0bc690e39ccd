/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_reported.c - a driver's answers as text that is the same in every process: for recordings. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "lockstep_parts.h"
#include "model/model_graph.h"

struct words {
    struct lockstep *pair;
    char *to;      /* LOCKSTEP_TOLD bytes */
    size_t length;
};

static void say(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t left = LOCKSTEP_TOLD - w->length;
    int n = vsnprintf(w->to + w->length, left, format, args);
    va_end(args);
    w->length += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
}

/* Only addresses in the world's window are recorded, as offsets from its start. */
static void say_address(struct words *w, const char *name, uint64_t address)
{
    uint64_t from = w->pair->told_from;
    if (from && address - from < w->pair->told_size)
        say(w, " %s=w+%" PRIx64, name, address - from);
    else
        say(w, " %s=%s", name, address ? "elsewhere" : "0");
}

static void say_prop(struct words *w, const vmm_mem_allocation_prop *p)
{
    say(w, " prop={%d %d %d:%d %d %d %d}", p->type, p->requested_handle_types, p->location.type, p->location.id,
        p->alloc_flags.compression_type, p->alloc_flags.gpu_direct_rdma_capable, p->alloc_flags.usage);
}

/* A query outside of every reservation writes nothing, except at the last address of all, where it writes another
 * reservation's range. */
static void say_attribute(struct words *w, int attribute, uint64_t ptr, const void *data)
{
    uint32_t four;
    uint64_t eight;
    memcpy(&four, data, sizeof four);
    memcpy(&eight, data, sizeof eight);
    bool range = attribute == VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR || attribute == VMM_POINTER_ATTRIBUTE_RANGE_SIZE;
    if (range && !model_reservation_at(&w->pair->model, ptr))
        return;
    if (vmm_pointer_attribute_size(attribute) == sizeof four) {
        say(w, " %d=%" PRIu32, attribute, four);
        return;
    }
    switch (attribute) {
    case VMM_POINTER_ATTRIBUTE_RANGE_SIZE:
    case VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case VMM_POINTER_ATTRIBUTE_MAPPING_SIZE: say(w, " %d=%" PRIx64, attribute, eight); return;
    case VMM_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case VMM_POINTER_ATTRIBUTE_HOST_POINTER:
    case VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: say_address(w, "address", eight); return;
    default: return; /* contexts, tokens, ids and pools are the process's own */
    }
}

static void say_struct(struct words *w, const struct vmm_shape *shape, const void *structure)
{
    say(w, " {");
    for (size_t i = 0; i < shape->count; i++)
        say(w, "%s%" PRIx64, i ? " " : "", vmm_field_value(structure, &shape->fields[i]));
    say(w, "}");
}

static void say_output(struct words *w, const union vmm_any_call *call, const struct vmm_param *param,
                       const struct outputs *out, uint64_t slot)
{
    switch (param->kind) {
    case VMM_PARAM_OUT_INT:
        if (call->head.id != VMM_CALL_device_get_attribute)
            say(w, " %s=%d", param->name, (int)(uint32_t)slot);
        return;
    case VMM_PARAM_OUT_U64: say(w, " %s=%" PRIu64, param->name, slot); return;
    case VMM_PARAM_OUT_SIZE:
        if (call->head.id != VMM_CALL_mem_get_info && call->head.id != VMM_CALL_device_total_mem)
            say(w, " %s=%" PRIx64, param->name, slot);
        return;
    case VMM_PARAM_OUT_ADDRESS: {
        const struct model_block *block = model_block_at(&w->pair->model, slot);
        if (block)
            say(w, " %s=pool+%" PRIx64, param->name, slot - block->pool->start);
        else
            say_address(w, param->name, slot);
        return;
    }
    case VMM_PARAM_OUT_POOL_VALUE:
        say(w, " %" PRIx64, call->mem_pool_get_attribute.attr <= VMM_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES
                                ? (uint64_t)(uint32_t)slot : slot);
        return;
    case VMM_PARAM_OUT_HANDLE: {
        const struct model_memory *memory = model_memory_of(&w->pair->model, slot);
        say(w, " %s=h%u", param->name, memory ? memory->tag : 0);
        return;
    }
    case VMM_PARAM_OUT_PROP: say_prop(w, &out->prop); return;
    case VMM_PARAM_OUT_STRUCT: say_struct(w, vmm_shape(param->shape), &out->structs); return;
    case VMM_PARAM_OUT_RANGE:
        for (size_t i = 0; i < sizeof out->range / sizeof out->range[0] && (i + 1) * sizeof(int) <= call->mem_range_get_attribute.data_size; i++)
            say(w, " %d", out->range[i]);
        return;
    case VMM_PARAM_OUT_ATTRIBUTE:
        say_attribute(w, call->pointer_get_attribute.attribute, call->pointer_get_attribute.ptr, out->attribute[0]);
        return;
    case VMM_PARAM_OUT_ATTRIBUTES:
        for (unsigned i = 0; i < call->pointer_get_attributes.num_attributes && i < STEP_ATTRIBUTES; i++)
            say_attribute(w, call->pointer_get_attributes.attributes[i], call->pointer_get_attributes.ptr,
                          out->attribute[i]);
        return;
    default: return;
    }
}

/* ---- what recordings leave out ---- */

/* A list of nodes by their names. */
static void say_nodes(struct words *w, const char *name, const vmm_graph_node *list)
{
    say(w, " %s=", name);
    for (size_t i = 0; i < LOCKSTEP_LISTED && list[i] && (uintptr_t)list[i] != UINT64_C(0x0101010101010101) * LOCKSTEP_SENTINEL; i++) {
        const struct model_node *node = model_node_of(&w->pair->model, list[i]);
        say(w, "%sn%u", i ? "," : "", node ? node->tag : 0);
    }
}

static void say_more(struct words *w, const union vmm_any_call *call, const struct vmm_param *param, const struct outputs *out, bool second,
                     uint64_t slot)
{
    const int device = model_current_device(&w->pair->model);
    if (param->kind == VMM_PARAM_OUT_NODES)
        say_nodes(w, param->name, out->listed[second]);
    if (call->head.id == VMM_CALL_mem_get_info && !second && device >= 0 && vmm_call_scalar(&call->head, param) == (uintptr_t)call->mem_get_info.free)
        say(w, " used=%" PRIx64, w->pair->driver[device].free - slot);
}

static void tell_more(struct lockstep *pair, const union vmm_any_call *call, vmm_result result, const struct outputs *out)
{
    struct words w = {pair, pair->more, 0};
    size_t count;
    const struct vmm_param *params = vmm_call_params(call->head.id, &count);
    pair->more[0] = '\0';
    if (pair->destroyed)
        say(&w, " destroyed=%" PRIu64, pair->destroyed);
    for (size_t i = 0; result == VMM_SUCCESS && i < count && i < STEP_ARGS; i++)
        if (vmm_call_scalar(&call->head, &params[i]))
            say_more(&w, call, &params[i], out, i && params[i - 1].kind == VMM_PARAM_OUT_NODES, out->slot[i]);
}

void driver_tell(struct lockstep *pair, const union vmm_any_call *call, vmm_result result, const struct outputs *out)
{
    struct words w = {pair, pair->reported, 0};
    size_t count;
    const struct vmm_param *params = vmm_call_params(call->head.id, &count);
    const char *name = vmm_result_name(result);
    bool hidden = call->head.id == VMM_CALL_device_get_attribute; /* simulators list only the relevant ones */
    if (!strncmp(name, "CUDA_", 5))
        name += 5;
    if (!strncmp(name, "ERROR_", 6))
        name += 6;
    say(&w, "%s", hidden ? "-" : name);
    for (size_t i = 0; result == VMM_SUCCESS && i < count && i < STEP_ARGS; i++)
        if (params[i].kind >= VMM_PARAM_OUT_INT && vmm_call_scalar(&call->head, &params[i]))
            say_output(&w, call, &params[i], out, out->slot[i]);
    tell_more(pair, call, result, out);
}
