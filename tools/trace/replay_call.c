/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a recorded call into one that can be made. See replay_state.h. */
#define _POSIX_C_SOURCE 200809L
#include "replay_state.h"

#include <fcntl.h>
#include <string.h>

#include "trace_record.h"
#include "trace_value.h"

#define COPY_MAX (UINT64_C(256) << 20) /* host memory that a replayed copy may use */

static void set(struct replay *r, const struct vmm_param *param, uint64_t value)
{
    vmm_call_set_scalar(&r->call.head, param, value);
}

static void point(struct replay *r, const struct vmm_param *param, const void *to)
{
    set(r, param, (uint64_t)(uintptr_t)to);
}

static uint64_t recorded(const struct replay *r, const struct vmm_param *param)
{
    return vmm_call_scalar(&r->room->call.head, param);
}

/* The recorded memory behind a pointer, in the room. */
static void *memory(const struct replay *r, const struct vmm_param *param)
{
    return (void *)(uintptr_t)recorded(r, param);
}

/* ---- arguments ---- */

static void prepare_scalar(struct replay *r, size_t index)
{
    const struct vmm_param *param = &r->params[index];
    struct name *name = &r->named.param[index];
    const uint64_t value = recorded(r, param);
    if (!value || param->kind < VMM_PARAM_ADDRESS)
        return;
    if (!names_find(&r->names, param->kind, value, name)) {
        if (param->kind == VMM_PARAM_GRAPH_NODE)
            set(r, param, replay_value(r, param->kind, value, NULL));
        return;
    }
    if (replay_object(r, name))
        set(r, param, value + replay_moved(r, name));
    else
        r->skip = true;
    if (name->ended)
        name->kind = NAME_KINDS;
}

static uint64_t address(struct replay *r, uint64_t value)
{
    return replay_value(r, VMM_PARAM_ADDRESS, value, &r->skip);
}

/* The trace does not say which arguments of a kernel are addresses; counts and values are smaller. */
static void prepare_words(struct replay *r, uint64_t *word, uint64_t count)
{
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        if (word[i] > UINT32_MAX)
            word[i] = address(r, word[i]);
}

static void prepare_mem_ops(struct replay *r, vmm_stream_batch_mem_op_params *op, uint64_t count)
{
    for (uint64_t i = 0; count <= TRACE_LIST_MAX && i < count; i++)
        if (vmm_mem_op_has_value(op[i].operation))
            op[i].wait_value.address = address(r, op[i].wait_value.address);
}

/* An address in a batch that belongs to no object of the trace is a host address, whose bytes are not recorded. */
static void prepare_operand(struct replay *r, uint64_t *at)
{
    if (*at && !replay_knows(r, VMM_PARAM_ADDRESS, *at))
        r->skip = r->unknown_bytes = true;
    *at = address(r, *at);
}

static void prepare_addresses(struct replay *r, uint64_t *at, uint64_t count)
{
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        prepare_operand(r, &at[i]);
}

static void prepare_side(struct replay *r, vmm_memcpy3d_operand *side)
{
    uint64_t at = side->op.ptr.ptr;
    if (side->type == VMM_MEMCPY_OPERAND_TYPE_ARRAY)
        at = replay_value(r, VMM_PARAM_ARRAY, at, &r->skip);
    else
        prepare_operand(r, &at);
    side->op.ptr.ptr = at;
}

static void prepare_boxes(struct replay *r, vmm_memcpy3d_batch_op *op, uint64_t count)
{
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++) {
        prepare_side(r, &op[i].dst);
        prepare_side(r, &op[i].src);
    }
}

/* Arrays and memory named by a structure. */
static void prepare_shape(struct replay *r, const struct vmm_shape *shape, void *structure)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct vmm_param *field = &shape->fields[i];
        if (field->kind == VMM_PARAM_ARRAY || field->kind == VMM_PARAM_HANDLE)
            vmm_field_set(structure, field, replay_value(r, field->kind, vmm_field_value(structure, field), &r->skip));
    }
}

static void prepare_shapes(struct replay *r, const struct vmm_param *param, char *list, uint64_t count)
{
    const struct vmm_shape *shape = vmm_shape(param->shape);
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        prepare_shape(r, shape, list + i * shape->size);
}

static void prepare_nodes(struct replay *r, uint64_t *node, uint64_t count)
{
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++)
        node[i] = replay_value(r, VMM_PARAM_GRAPH_NODE, node[i], &r->skip);
}

/* ---- copies of boxes ---- */

/* May the copy run after its call has returned? */
static bool lasts(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_memcpy_dtoh_async:
    case VMM_CALL_memcpy_3d_async:
    case VMM_CALL_memcpy_3d_peer_async:
    case VMM_CALL_graph_add_memcpy_node:
    case VMM_CALL_graph_memcpy_node_set_params:
    case VMM_CALL_graph_exec_memcpy_node_set_params: return true;
    default: return false;
    }
}

static unsigned char *lend(struct replay *r, uint64_t size)
{
    return replay_lend(&r->memory, (size_t)size, lasts((enum vmm_call_id)r->call.head.id));
}

/* The bytes of host memory that one side of a box spans; false: more than a replay provides. */
static bool spans_of_box(const vmm_memcpy3d *box, bool src, uint64_t *size)
{
    const uint64_t rows = src ? box->src_height : box->dst_height, pitch = src ? box->src_pitch : box->dst_pitch,
                   x = src ? box->src_x_in_bytes : box->dst_x_in_bytes, y = src ? box->src_y : box->dst_y,
                   z = src ? box->src_z : box->dst_z;
    if (x > COPY_MAX || y > COPY_MAX || z > COPY_MAX || box->width_in_bytes > COPY_MAX || box->height > COPY_MAX ||
        box->depth > COPY_MAX)
        return false;
    if (__builtin_mul_overflow(rows ? rows : y + box->height, z + box->depth, size) ||
        __builtin_mul_overflow(*size, pitch ? pitch : x + box->width_in_bytes, size) || *size > COPY_MAX)
        return false;
    *size += x + box->width_in_bytes;
    return true;
}

/* The present address of one side of a box copy: an address of the trace, or host memory of which only the size is
 * known. *host: a side is host memory. */
static uint64_t place_box(struct replay *r, const vmm_memcpy3d *box, bool src, bool *host)
{
    const vmm_memorytype type = src ? box->src_memory_type : box->dst_memory_type;
    const uint64_t at = src ? vmm_box_src(box) : vmm_box_dst(box);
    uint64_t size;
    if (type == VMM_MEMORYTYPE_ARRAY)
        return replay_value(r, VMM_PARAM_ARRAY, at, &r->skip);
    /* an unknown one is refused, as recorded */
    if (!at || type == VMM_MEMORYTYPE_DEVICE || replay_knows(r, VMM_PARAM_ADDRESS, at))
        return address(r, at);
    if (*host || type != VMM_MEMORYTYPE_HOST || !spans_of_box(box, src, &size)) { /* both sides, or one of unknown kind */
        r->skip = r->unknown_bytes = true;
        return at;
    }
    *host = true;
    r->unknown_bytes |= src;
    return (uint64_t)(uintptr_t)lend(r, size);
}

static void prepare_box(struct replay *r, vmm_memcpy3d *box)
{
    bool host = false;
    const uint64_t src = place_box(r, box, true, &host), dst = place_box(r, box, false, &host);
    box->src_host = (const void *)(uintptr_t)src;
    box->dst_host = (void *)(uintptr_t)dst;
    box->src_device = src;
    box->dst_device = dst;
    box->src_array = (vmm_array)(uintptr_t)src;
    box->dst_array = (vmm_array)(uintptr_t)dst;
    box->reserved0 = (void *)(uintptr_t)replay_value(r, VMM_PARAM_CONTEXT, (uint64_t)(uintptr_t)box->reserved0, &r->skip);
    box->reserved1 = (void *)(uintptr_t)replay_value(r, VMM_PARAM_CONTEXT, (uint64_t)(uintptr_t)box->reserved1, &r->skip);
}

static void prepare_kernel(struct replay *r, vmm_kernel_node_params *kernel)
{
    if (!kernel->args)
        return;
    r->skip |= kernel->count > TRACE_LIST_MAX;
    prepare_words(r, (uint64_t *)(uintptr_t)kernel->args, kernel->count);
}

/* ---- host bytes ---- */

/* A device address passed as a host address. Without the call, contents are unknown from here on. */
static void prepare_device(struct replay *r, const struct vmm_param *param, uint64_t size)
{
    uint64_t now = 0;
    if (!replay_device(r, recorded(r, param), size, param->kind == VMM_PARAM_OUT_BYTES, &now))
        r->skip = r->unknown_bytes = true;
    set(r, param, now);
}

static void prepare_bytes(struct replay *r, const struct vmm_param *param)
{
    const struct trace_event *event = &r->room->event;
    const uint64_t size = trace_length(event->call, "byte_count");
    const bool there = param->kind == VMM_PARAM_BYTES && trace_event_done(event), whole = there && size <= TRACE_BYTES_MAX;
    if (event->device) {
        prepare_device(r, param, size);
    } else if (size > COPY_MAX) {
        r->skip = true;
    } else if (!whole) {
        r->unknown_bytes |= there;
        point(r, param, lend(r, size));
    } else if (r->captured && event->call->id == VMM_CALL_memcpy_htod_async) {
        point(r, param, replay_keep(&r->memory, memory(r, param), (size_t)size));
    }
}

/* ---- descriptors and other handles ---- */

/* Stands for an open descriptor that is not an export of the trace. */
static uint64_t foreign(struct replay *r)
{
    if (r->foreign < 0 && (r->foreign = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0)
        descriptors_keep(&r->open, r->foreign);
    return (uint64_t)(int64_t)r->foreign;
}

/* The value of the call's D in the replay; 0: it has none, or none that was made here. */
static uint64_t descriptor(struct replay *r, size_t index)
{
    struct name *name = &r->named.param[index];
    *name = (struct name){r->room->event.descriptor ? NAME_DESCRIPTOR : NAME_KINDS, r->room->event.descriptor, 0, false};
    const uint64_t now = name->kind == NAME_DESCRIPTOR ? replay_object(r, name) : 0;
    r->skip |= name->kind == NAME_DESCRIPTOR && !now;
    return now;
}

/* A closed descriptor has no value here. A fabric handle is passed by its address. */
static void prepare_descriptor(struct replay *r, size_t index)
{
    const struct trace_event *event = &r->room->event;
    const uint64_t now = descriptor(r, index);
    if (trace_is_fabric(event->call)) {
        fabrics_find(&r->fabrics, now, r->made.handle);
        point(r, &r->params[index], r->made.handle);
    } else {
        set(r, &r->params[index], now ? now - 1 : event->closed ? UINT64_MAX : foreign(r));
    }
}

/* The bytes of a handle whose creation is in the trace; others are not recorded. */
static void prepare_ipc_handle(struct replay *r, size_t index)
{
    const uint64_t now = descriptor(r, index);
    r->skip |= !now;
    fabrics_find(&r->fabrics, now, r->made.handle);
    point(r, &r->params[index], r->made.handle);
}

/* ---- arguments ---- */

/* Stands for the program's own function and data, which a trace lacks. */
static void call_nothing(void *user_data)
{
    (void)user_data;
}

static void prepare_function(struct replay *r, const struct vmm_param *param)
{
    static char data;
    set(r, param, param->kind == VMM_PARAM_FUNCTION ? (uint64_t)(uintptr_t)call_nothing : (uint64_t)(uintptr_t)&data);
}

static void prepare_host_node(struct replay *r, const struct vmm_param *param)
{
    r->made.host_node = (vmm_host_node_params){.fn = call_nothing};
    point(r, param, &r->made.host_node);
}

static uint64_t listed(struct replay *r, const struct vmm_param *param)
{
    const uint64_t count = trace_listed(&r->room->call.head, param);
    r->skip |= count > TRACE_LIST_MAX && param->kind != VMM_PARAM_MEM_OPS; /* which refuse that many without reading them */
    return count;
}

static void prepare_pointed(struct replay *r, size_t index)
{
    const struct vmm_param *param = &r->params[index];
    switch (param->kind) {
    case VMM_PARAM_FD: prepare_descriptor(r, index); break;
    case VMM_PARAM_IPC_HANDLE: prepare_ipc_handle(r, index); break;
    case VMM_PARAM_POOL_POINTER: r->skip = true; break; /* its bytes are not in the trace */
    case VMM_PARAM_DESCS:
    case VMM_PARAM_ATTRIBUTES:
    case VMM_PARAM_SIZES:
    case VMM_PARAM_COPY_ATTRIBUTES:
    case VMM_PARAM_EDGES: listed(r, param); break;
    case VMM_PARAM_ARGS: prepare_words(r, memory(r, param), listed(r, param)); break;
    case VMM_PARAM_MEM_OPS: prepare_mem_ops(r, memory(r, param), listed(r, param)); break;
    case VMM_PARAM_ADDRESSES: prepare_addresses(r, memory(r, param), listed(r, param)); break;
    case VMM_PARAM_BOXES: prepare_boxes(r, memory(r, param), listed(r, param)); break;
    case VMM_PARAM_NODES: prepare_nodes(r, memory(r, param), listed(r, param)); break;
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER: prepare_box(r, memory(r, param)); break;
    case VMM_PARAM_STRUCT: prepare_shapes(r, param, memory(r, param), 1); break;
    case VMM_PARAM_STRUCTS: prepare_shapes(r, param, memory(r, param), listed(r, param)); break;
    case VMM_PARAM_FILL_NODE: {
        vmm_memset_node_params *fill = memory(r, param);
        fill->dst = address(r, fill->dst);
        break;
    }
    case VMM_PARAM_KERNEL_NODE: prepare_kernel(r, memory(r, param)); break;
    case VMM_PARAM_BYTES: prepare_bytes(r, param); break;
    case VMM_PARAM_FUNCTION:
    case VMM_PARAM_USER_DATA: prepare_function(r, param); break;
    case VMM_PARAM_HOST_NODE: prepare_host_node(r, param); break;
    default: break; /* the room's memory, unchanged */
    }
}

/* ---- outputs ---- */

static void prepare_attributes(struct replay *r, const struct vmm_param *param)
{
    void *const *data = memory(r, param);
    const uint64_t count = listed(r, param);
    for (uint64_t i = 0; i < count && i < TRACE_LIST_MAX; i++) {
        r->made.data[i] = (union step_out){0};
        r->made.pointers[i] = data[i] ? &r->made.data[i] : NULL;
    }
    point(r, param, r->made.pointers);
}

static void prepare_text(struct replay *r, const struct vmm_param *param)
{
    memset(r->made.text, 0, sizeof r->made.text);
    r->skip |= (int64_t)trace_length(&r->room->call.head, "len") > TRACE_TEXT_MAX;
    point(r, param, r->made.text);
}

static void prepare_range(struct replay *r, const struct vmm_param *param)
{
    memset(r->made.range, 0, sizeof r->made.range);
    listed(r, param);
    point(r, param, r->made.range);
}

static void prepare_out(struct replay *r, size_t index)
{
    const struct vmm_param *param = &r->params[index];
    struct replay_made *made = &r->made;
    union step_out *out = &made->out[index];
    switch (param->kind) {
    case VMM_PARAM_OUT_PROP: point(r, param, &made->prop); break;
    case VMM_PARAM_OUT_MEMCPY3D: point(r, param, &made->box); break;
    case VMM_PARAM_OUT_FILL_NODE: point(r, param, &made->fill_node); break;
    case VMM_PARAM_OUT_HOST_NODE: point(r, param, &made->host_node); break;
    case VMM_PARAM_OUT_UPDATE: point(r, param, &made->update); break;
    case VMM_PARAM_OUT_NODES: point(r, param, made->nodes[index & 1]); break;
    case VMM_PARAM_OUT_EDGES: point(r, param, made->edges); break;
    case VMM_PARAM_OUT_TEXT: prepare_text(r, param); break;
    case VMM_PARAM_OUT_STRUCT: point(r, param, made->structure); break;
    case VMM_PARAM_OUT_RANGE: prepare_range(r, param); break;
    case VMM_PARAM_OUT_BYTES: prepare_bytes(r, param); break;
    case VMM_PARAM_OUT_ATTRIBUTES: prepare_attributes(r, param); break;
    default:
        *out = (union step_out){0};
        if (param->kind == VMM_PARAM_IO_COUNT) {
            out->u64 = r->room->event.before;
            r->skip |= out->u64 > TRACE_LIST_MAX; /* the room of lists, which have at most the elements that a trace records */
        } else if (param->kind == VMM_PARAM_IO_INT) {
            out->i = (int)(int64_t)r->room->event.before;
        }
        point(r, param, out);
    }
}

void replay_prepare(struct replay *r)
{
    const enum vmm_call_id id = (enum vmm_call_id)r->room->call.head.id;
    memcpy(&r->call, &r->room->call, vmm_call_size(id));
    r->skip = false;
    r->captured |= id == VMM_CALL_stream_begin_capture || id == VMM_CALL_stream_begin_capture_to_graph;
    r->params = vmm_call_params(id, &r->count);
    for (size_t i = 0; i < r->count; i++) {
        r->named.param[i].kind = NAME_KINDS;
        if (r->params[i].kind < VMM_PARAM_PROP)
            prepare_scalar(r, i);
        else if (!recorded(r, &r->params[i]))
            continue;
        else if (trace_is_out(r->params[i].kind))
            prepare_out(r, i);
        else
            prepare_pointed(r, i);
    }
}
