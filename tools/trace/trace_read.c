/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_read.h"

#include <string.h>

#include "trace.h"
#include "trace_pack.h"
#include "trace_record.h"
#include "trace_value.h"

/* The rest of the record. */
struct reading {
    struct trace_room *room;
    const uint64_t *at, *end;
    const char *wrong;
};

/* ---- the room ---- */

void *trace_room_take(struct trace_room *room, size_t size)
{
    const size_t rounded = (size + 15) & ~(size_t)15;
    unsigned char *memory = room->bytes + room->used;
    if (size > TRACE_ROOM - 16 || rounded > TRACE_ROOM - room->used)
        return NULL;
    room->used += rounded;
    memset(memory, 0, rounded);
    return memory;
}

static size_t size_of_output(const struct vmm_param *param)
{
    switch (param->kind) {
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_EDGES:
    case VMM_PARAM_OUT_ATTRIBUTES: return TRACE_LIST_MAX * sizeof(uint64_t);
    case VMM_PARAM_OUT_TEXT: return TRACE_TEXT_MAX + 1;
    case VMM_PARAM_OUT_STRUCT: return vmm_shape(param->shape)->size;
    case VMM_PARAM_OUT_RANGE: return TRACE_LIST_MAX * sizeof(int);
    case VMM_PARAM_OUT_BYTES: return TRACE_BYTES_MAX;
    case VMM_PARAM_OUT_PROP: return sizeof(vmm_mem_allocation_prop);
    case VMM_PARAM_OUT_MEMCPY3D: return sizeof(vmm_memcpy3d);
    case VMM_PARAM_OUT_FILL_NODE: return sizeof(vmm_memset_node_params);
    case VMM_PARAM_OUT_HOST_NODE: return sizeof(vmm_host_node_params);
    case VMM_PARAM_OUT_UPDATE: return sizeof(vmm_graph_exec_update_result_info);
    case VMM_PARAM_OUT_FD:
    case VMM_PARAM_OUT_IPC_HANDLE:
    case VMM_PARAM_OUT_POOL_POINTER: return VMM_FABRIC_HANDLE_SIZE;
    default: return sizeof(uint64_t);
    }
}

void *trace_room_output(struct trace_room *room, const struct vmm_param *param)
{
    void *memory = trace_room_take(room, size_of_output(param));
    if (memory)
        vmm_call_set_scalar(&room->call.head, param, (uint64_t)(uintptr_t)memory);
    return memory;
}

void trace_room_begin(struct trace_room *room, enum vmm_call_id id)
{
    memset(&room->call, 0, vmm_call_size(id));
    room->call.head.id = (uint16_t)id;
    room->event = (struct trace_event){.call = &room->call.head, .detail = &room->detail};
    room->detail.severity = VMM_SEVERITY_NONE;
    room->used = 0;
}

/* ---- words ---- */

/* No structure has more words: a box has 20, and the sum over call_structs.def exceeds each of them. */
enum { SHAPE_FIELDS = 0
#define CALL_SHAPE_FIELD(...) + 1
#include "call_structs.def"
};
enum { PACK_MOST = SHAPE_FIELDS };
_Static_assert((int)PACK_MOST >= (int)PACK_BOX && (int)PACK_MOST >= (int)PACK_POOL_PROPS, "the longest of them");

/* The next words; zeros where there are fewer. */
static const uint64_t *take(struct reading *r, size_t words)
{
    static const uint64_t none[PACK_MOST];
    const uint64_t *at = r->at;
    if (words > (size_t)(r->end - r->at)) {
        r->wrong = "it ends within the memory of an argument";
        return words <= sizeof none / sizeof none[0] ? none : NULL;
    }
    r->at += words;
    return at;
}

static uint64_t word(struct reading *r)
{
    return *take(r, 1);
}

/* Bytes, padded to whole words. */
static const void *take_bytes(struct reading *r, size_t length)
{
    return take(r, (length + 7) / 8);
}

/* There is room for everything that a record can name: its own words, which at most double in size, and lists that it
 * does not contain. */
static void *memory(struct reading *r, size_t size)
{
    return trace_room_take(r->room, size);
}

static void point(struct reading *r, const struct vmm_param *param, const void *to)
{
    vmm_call_set_scalar(&r->room->call.head, param, (uint64_t)(uintptr_t)to);
}

static uint64_t scalar(const struct reading *r, const struct vmm_param *param)
{
    return vmm_call_scalar(&r->room->call.head, param);
}

/* The number of list elements in a record. */
static size_t listed(const struct reading *r, const struct vmm_param *param)
{
    const uint64_t count = trace_listed(&r->room->call.head, param);
    if (count <= TRACE_LIST_MAX)
        return (size_t)count;
    return param->kind == VMM_PARAM_MEM_OPS ? 0 : TRACE_LIST_MAX;
}

/* ---- arguments ---- */

static bool reads_and_writes(enum vmm_param_kind kind)
{
    return kind == VMM_PARAM_IO_COUNT || kind == VMM_PARAM_IO_INT;
}

static void read_argument(struct reading *r, const struct vmm_param *param, bool pointer)
{
    struct trace_event *event = &r->room->event;
    if (param->kind == VMM_PARAM_IPC_HANDLE) {
        event->descriptor = (uint32_t)word(r);
    } else if (param->kind == VMM_PARAM_LOCATION_VALUE) {
        const vmm_mem_location location = unpack_location(word(r));
        vmm_call_set_scalar(&r->room->call.head, param, (uint64_t)(uintptr_t)&location);
    } else if (param->kind < VMM_PARAM_PROP) {
        vmm_call_set_scalar(&r->room->call.head, param, word(r));
    } else if (pointer) {
        vmm_call_set_scalar(&r->room->call.head, param, 1);
        if (param->kind == VMM_PARAM_FD) {
            const uint64_t descriptor = word(r);
            event->closed = descriptor & 1;
            event->descriptor = (uint32_t)(descriptor >> 1);
        } else if (reads_and_writes(param->kind)) {
            event->before = word(r);
        }
    }
}

/* ---- memory ---- */

#define LIST(type, words, unpack)                                                      \
    static void read_##type##_list(struct reading *r, const struct vmm_param *param)   \
    {                                                                                  \
        const size_t count = listed(r, param);                                         \
        type *list = memory(r, count * sizeof *list);                                  \
        for (size_t i = 0; i < count; i++)                                             \
            unpack(take(r, words), &list[i]);                                          \
        point(r, param, list);                                                         \
    }

static void unpack_edge(const uint64_t *at, vmm_graph_edge_data *edge)
{
    memcpy(edge, at, sizeof *edge);
}
static void unpack_number(const uint64_t *at, int *number)
{
    *number = (int)(int64_t)*at;
}
static void unpack_word(const uint64_t *at, uint64_t *value)
{
    *value = *at;
}

LIST(vmm_mem_access_desc, PACK_DESC, unpack_desc)
LIST(vmm_stream_batch_mem_op_params, PACK_MEM_OP, unpack_mem_op)
LIST(vmm_memcpy_attributes, PACK_COPY_ATTRIBUTES, unpack_copy_attributes)
LIST(vmm_memcpy3d_batch_op, PACK_BOX_OP, unpack_box_op)
LIST(vmm_graph_edge_data, 1, unpack_edge)
LIST(int, 1, unpack_number)
LIST(uint64_t, 1, unpack_word)

#define STRUCTURE(type, words, unpack)                                            \
    static void read_##type(struct reading *r, const struct vmm_param *param)     \
    {                                                                             \
        type *one = memory(r, sizeof *one);                                       \
        unpack(take(r, words), one);                                              \
        point(r, param, one);                                                     \
    }

static void unpack_one_location(const uint64_t *at, vmm_mem_location *location)
{
    *location = unpack_location(*at);
}

STRUCTURE(vmm_mem_allocation_prop, PACK_PROP, unpack_prop)
STRUCTURE(vmm_multicast_object_prop, PACK_TEAM, unpack_team)
STRUCTURE(vmm_mem_location, PACK_LOCATION, unpack_one_location)
STRUCTURE(vmm_mem_pool_props, PACK_POOL_PROPS, unpack_pool_props)
STRUCTURE(vmm_memcpy3d, PACK_BOX, unpack_box)
STRUCTURE(vmm_memset_node_params, PACK_FILL_NODE, unpack_fill_node)

static void read_shapes(struct reading *r, const struct vmm_param *param, size_t count)
{
    const struct vmm_shape *shape = vmm_shape(param->shape);
    char *list = memory(r, count * shape->size);
    for (size_t i = 0; i < count; i++)
        unpack_shape(take(r, shape->count), shape, list + i * shape->size);
    point(r, param, list);
}

static void read_kernel_node(struct reading *r, const struct vmm_param *param)
{
    vmm_kernel_node_params *kernel = memory(r, sizeof *kernel);
    const uint64_t *at = take(r, PACK_KERNEL_NODE);
    unpack_kernel_node(at, kernel, at);
    if (kernel->args) {
        const size_t count = kernel->count < TRACE_LIST_MAX ? (size_t)kernel->count : TRACE_LIST_MAX;
        uint64_t *args = memory(r, count * sizeof *args);
        for (size_t i = 0; i < count; i++)
            args[i] = word(r);
        kernel->args = args;
    }
    point(r, param, kernel);
}

/* Host bytes; there: they were recorded. */
static void read_bytes(struct reading *r, const struct vmm_param *param, bool there)
{
    struct trace_event *event = &r->room->event;
    if (event->device) {
        vmm_call_set_scalar(&r->room->call.head, param, word(r));
        return;
    }
    const uint64_t length = trace_length(&r->room->call.head, "byte_count");
    const bool whole = there && length <= TRACE_BYTES_MAX;
    void *bytes = memory(r, whole ? (size_t)length : 1);
    if (whole) {
        const void *from = take_bytes(r, (size_t)length);
        if (from)
            memcpy(bytes, from, (size_t)length);
    } else if (there) {
        event->hash = word(r);
    }
    point(r, param, bytes);
}

/* An attribute's value, stored in the first bytes of a word. */
static void read_value(struct reading *r, void *to, size_t size)
{
    if (size)
        memcpy(to, take(r, 1), size);
}

static size_t pool_value_size(const struct reading *r)
{
    return vmm_pool_attribute_size((vmm_mem_pool_attribute)trace_length(&r->room->call.head, "attr"));
}

static void read_wanted(struct reading *r, const struct vmm_param *param)
{
    const size_t count = listed(r, param);
    void **data = memory(r, count * sizeof *data);
    const uint64_t *wanted = take(r, 4);
    for (size_t i = 0; i < count; i++)
        data[i] = wanted[i / 64] >> i % 64 & 1 ? memory(r, VMM_POINTER_ATTRIBUTE_MAX_SIZE) : NULL;
    point(r, param, data);
}

static void read_memory(struct reading *r, const struct vmm_param *param)
{
    const bool done = trace_event_done(&r->room->event);
    switch (param->kind) {
    case VMM_PARAM_PROP: read_vmm_mem_allocation_prop(r, param); break;
    case VMM_PARAM_TEAM: read_vmm_multicast_object_prop(r, param); break;
    case VMM_PARAM_LOCATION: read_vmm_mem_location(r, param); break;
    case VMM_PARAM_POOL_PROPS: read_vmm_mem_pool_props(r, param); break;
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER: read_vmm_memcpy3d(r, param); break;
    case VMM_PARAM_FILL_NODE: read_vmm_memset_node_params(r, param); break;
    case VMM_PARAM_KERNEL_NODE: read_kernel_node(r, param); break;
    case VMM_PARAM_DESCS: read_vmm_mem_access_desc_list(r, param); break;
    case VMM_PARAM_MEM_OPS: read_vmm_stream_batch_mem_op_params_list(r, param); break;
    case VMM_PARAM_COPY_ATTRIBUTES: read_vmm_memcpy_attributes_list(r, param); break;
    case VMM_PARAM_BOXES: read_vmm_memcpy3d_batch_op_list(r, param); break;
    case VMM_PARAM_EDGES: read_vmm_graph_edge_data_list(r, param); break;
    case VMM_PARAM_ATTRIBUTES: read_int_list(r, param); break;
    case VMM_PARAM_ARGS:
    case VMM_PARAM_ADDRESSES:
    case VMM_PARAM_SIZES:
    case VMM_PARAM_NODES: read_uint64_t_list(r, param); break;
    case VMM_PARAM_STRUCT: read_shapes(r, param, 1); break;
    case VMM_PARAM_STRUCTS: read_shapes(r, param, listed(r, param)); break;
    case VMM_PARAM_BYTES: read_bytes(r, param, done); break;
    case VMM_PARAM_OUT_BYTES:
        if (r->room->event.device)
            read_bytes(r, param, false);
        break;
    case VMM_PARAM_OUT_ATTRIBUTES: read_wanted(r, param); break;
    case VMM_PARAM_POOL_VALUE:
        point(r, param, memory(r, sizeof(uint64_t)));
        read_value(r, (void *)(uintptr_t)scalar(r, param), done ? pool_value_size(r) : 0);
        break;
    case VMM_PARAM_POOL_POINTER:
    case VMM_PARAM_HOST_NODE: point(r, param, memory(r, VMM_FABRIC_HANDLE_SIZE)); break;
    default: break;
    }
}

/* ---- outputs ---- */

static void read_list(struct reading *r, void *to, bool theirs)
{
    const uint64_t count = word(r);
    if (count > TRACE_LIST_MAX) {
        r->wrong = "a list is too long for a record";
        return;
    }
    uint64_t *list = theirs ? memory(r, TRACE_LIST_MAX * sizeof *list) : to;
    for (uint64_t i = 0; i < count; i++)
        list[i] = word(r);
    if (theirs)
        memcpy(to, &list, sizeof list);
}

static void read_text(struct reading *r, char *to)
{
    const uint64_t length = word(r);
    const void *text = length <= TRACE_TEXT_MAX ? take_bytes(r, (size_t)length) : NULL;
    if (!text)
        r->wrong = "a text is too long for a record";
    else
        memcpy(to, text, (size_t)length);
}

static void read_attributes(struct reading *r, const struct vmm_param *param)
{
    void *const *data = (void *const *)(uintptr_t)scalar(r, param);
    const int *attribute = (const int *)(uintptr_t)trace_length(&r->room->call.head, "attributes");
    for (size_t i = 0, count = listed(r, param); attribute && i < count; i++)
        if (data[i])
            read_value(r, data[i], trace_attribute_size(attribute[i]));
}

static void read_range(struct reading *r, const struct vmm_param *param, void *to)
{
    const size_t size = listed(r, param) * sizeof(int);
    const void *from = take_bytes(r, size);
    if (from)
        memcpy(to, from, size);
}

static void read_output(struct reading *r, const struct vmm_param *param)
{
    struct trace_event *event = &r->room->event;
    void *to = (void *)(uintptr_t)scalar(r, param);
    int narrow;
    switch (param->kind) {
    case VMM_PARAM_OUT_INT:
    case VMM_PARAM_IO_INT:
        narrow = (int)(int64_t)word(r);
        memcpy(to, &narrow, sizeof narrow);
        break;
    case VMM_PARAM_OUT_FD:
    case VMM_PARAM_OUT_IPC_HANDLE: event->descriptor = (uint32_t)word(r); break;
    case VMM_PARAM_OUT_POOL_POINTER:
    case VMM_PARAM_OUT_HOST_NODE: break;
    case VMM_PARAM_OUT_POOL_VALUE: read_value(r, to, pool_value_size(r)); break;
    case VMM_PARAM_OUT_ATTRIBUTE:
        read_value(r, to, trace_attribute_size((vmm_pointer_attribute)trace_length(&r->room->call.head, "attribute")));
        break;
    case VMM_PARAM_OUT_ATTRIBUTES: read_attributes(r, param); break;
    case VMM_PARAM_OUT_TEXT: read_text(r, to); break;
    case VMM_PARAM_OUT_STRUCT: unpack_shape(take(r, vmm_shape(param->shape)->count), vmm_shape(param->shape), to); break;
    case VMM_PARAM_OUT_RANGE: read_range(r, param, to); break;
    case VMM_PARAM_OUT_BYTES:
        if (!event->device)
            read_bytes(r, param, !trace_is_async(&r->room->call.head));
        break;
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_EDGES: read_list(r, to, false); break;
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT: read_list(r, to, true); break;
    case VMM_PARAM_OUT_PROP: unpack_prop(take(r, PACK_PROP), to); break;
    case VMM_PARAM_OUT_MEMCPY3D: unpack_box(take(r, PACK_BOX), to); break;
    case VMM_PARAM_OUT_FILL_NODE: unpack_fill_node(take(r, PACK_FILL_NODE), to); break;
    case VMM_PARAM_OUT_UPDATE: unpack_update(take(r, PACK_UPDATE), to); break;
    default: memcpy(to, take(r, 1), sizeof(uint64_t));
    }
}

/* The call says where a list's length is, which may be missing. */
static void check_length(struct reading *r)
{
    if (!vmm_list_length(&r->room->call.head))
        r->wrong = "it wrote a list without a length";
}

static void read_outputs(struct reading *r, const struct vmm_param *params, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const enum vmm_param_kind kind = params[i].kind;
        if (!trace_is_out(kind) || !scalar(r, &params[i]) || !trace_writes(&r->room->call.head, kind))
            continue;
        if (kind == VMM_PARAM_OUT_NODES || kind == VMM_PARAM_OUT_EDGES)
            check_length(r);
        if (!(r->room->event.lacks >> i & 1))
            read_output(r, &params[i]);
    }
}

/* ---- details ---- */

static const char *read_words(struct reading *r, size_t length)
{
    const void *from = take_bytes(r, length);
    char *text = memory(r, length + 1);
    if (from)
        memcpy(text, from, length);
    return text;
}

static void read_detail(struct reading *r)
{
    vmm_detail *detail = &r->room->detail;
    const uint64_t *at = take(r, 6), head = at[0], lengths = at[5];
    const size_t length[3] = {lengths & 0xffff, lengths >> 16 & 0xffff, lengths >> 32 & 0xffff};
    memset(detail, 0, sizeof *detail);
    detail->severity = (head & 0xff) == VMM_SEVERITY_WARNING ? VMM_SEVERITY_WARNING : VMM_SEVERITY_ERROR;
    detail->value = at[1];
    detail->expected = at[2];
    if (at[3] > VMM_OBJECT_ARRAY || length[2] >= sizeof detail->note)
        r->wrong = "its detail names no kind of object, or has too long a note";
    else
        detail->nearest.kind = (vmm_object_kind)at[3];
    detail->nearest.value = at[4];
    detail->nearest.number = (uint32_t)at[4];
    const char *rule = read_words(r, length[0]), *argument = read_words(r, length[1]), *note = read_words(r, length[2]);
    detail->rule = head >> 8 & 1 ? rule : NULL;
    detail->argument = head >> 9 & 1 ? argument : NULL;
    if (!r->wrong)
        strcpy(detail->note, note);
}

/* ---- the record ---- */

static void read_moment(struct reading *r, uint16_t flags)
{
    struct trace_event *event = &r->room->event;
    event->time = word(r);
    event->place = (uint32_t)word(r);
    if (flags & TRACE_HAS_SHARED)
        event->shared = word(r);
}

const char *trace_read(struct trace_room *room, const uint64_t *record, size_t words, enum vmm_call_id id, uint64_t number, bool own)
{
    struct reading r = {room, record + TRACE_HEAD_WORDS, record + words, NULL};
    const uint16_t flags = trace_head_flags(record[0]), thread = trace_head_thread(record[0]);
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params(id, &count);
    trace_room_begin(room, id);
    room->call.head.number = number;
    struct trace_event *event = &room->event;
    event->result = (vmm_result)pack_high(record[1]);
    event->wrote = flags & TRACE_WROTE;
    event->device = (flags & TRACE_DEVICE) != 0;
    event->thread = thread == TRACE_THREAD_FOLLOWS ? (uint32_t)word(&r) : thread;
    if (own)
        read_moment(&r, flags);
    if (flags & TRACE_LACKS)
        event->lacks = (uint16_t)word(&r);
    for (size_t i = 0; i < count; i++)
        read_argument(&r, &params[i], flags / TRACE_POINTERS >> i & 1);
    for (size_t i = 0; i < count; i++) {
        if (params[i].kind < VMM_PARAM_PROP || !scalar(&r, &params[i]) || VMM_BY_VALUE(params[i].kind))
            continue;
        if (trace_is_out(params[i].kind))
            trace_room_output(room, &params[i]);
        read_memory(&r, &params[i]);
    }
    if (event->wrote)
        read_outputs(&r, params, count);
    if (flags & TRACE_HAS_DETAIL)
        read_detail(&r);
    if (!r.wrong && r.at != r.end)
        r.wrong = "it is longer than its call";
    if (!r.wrong && !event->wrote && trace_event_done(event))
        r.wrong = "its call succeeded and wrote nothing";
    return r.wrong;
}
