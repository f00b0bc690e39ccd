/* SPDX-License-Identifier: Apache-2.0 */
/* trace_record_put.h - internals of writing records: one parameter of a known kind. Only for trace_record.c and trace_plain.c.
 *
 *     put_argument(at, event, VMM_PARAM_ADDRESS, &call->ptr, 8, ...)   ->   one store
 *
 * Where a call's function is generated from calls.def, the kinds of its parameters are constants, so that a record of a few
 * numbers is a few stores.
 */
#ifndef CUVMM_LAYERS_TRACE_RECORD_PUT_H
#define CUVMM_LAYERS_TRACE_RECORD_PUT_H

#include <string.h>

#include "trace.h"
#include "trace_layer.h"
#include "trace_pack.h"
#include "trace_record.h"
#include "trace_value.h"

#if defined(__GNUC__) && defined(__OPTIMIZE__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif


/* ---- what is written of one parameter ---- */

INLINE bool is_list(int kind)
{
    return kind == VMM_PARAM_DESCS || kind == VMM_PARAM_ARGS || kind == VMM_PARAM_ATTRIBUTES || kind == VMM_PARAM_MEM_OPS ||
           kind == VMM_PARAM_ADDRESSES || kind == VMM_PARAM_SIZES || kind == VMM_PARAM_COPY_ATTRIBUTES ||
           kind == VMM_PARAM_BOXES || kind == VMM_PARAM_NODES || kind == VMM_PARAM_EDGES || kind == VMM_PARAM_STRUCTS || kind == VMM_PARAM_OUT_ATTRIBUTES;
}

/* The same, constant for the compiler where that matters, and limited to the elements that are written. */
INLINE uint64_t listed(int id, int kind, int shape, const char *name, const struct vmm_call *call)
{
    const struct vmm_param param = {name, (enum vmm_param_kind)kind, 0, 0, (uint8_t)shape};
    const uint64_t count = id == VMM_CALL_mem_set_access
                               ? ((const struct vmm_call_mem_set_access *)(const void *)call)->count
                               : trace_listed(call, &param);
    if (count <= TRACE_LIST_MAX)
        return count;
    return kind == VMM_PARAM_MEM_OPS ? 0 : TRACE_LIST_MAX;
}

INLINE size_t words_of_bytes(uint64_t bytes)
{
    return (size_t)((bytes + 7) / 8);
}

/* The number of words of a list's element, or of a structure. */
INLINE size_t words_of(int kind, int shape)
{
    switch (kind) {
    case VMM_PARAM_PROP:
    case VMM_PARAM_OUT_PROP: return PACK_PROP;
    case VMM_PARAM_TEAM: return PACK_TEAM;
    case VMM_PARAM_LOCATION: return PACK_LOCATION;
    case VMM_PARAM_POOL_PROPS: return PACK_POOL_PROPS;
    case VMM_PARAM_DESCS: return PACK_DESC;
    case VMM_PARAM_MEM_OPS: return PACK_MEM_OP;
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER:
    case VMM_PARAM_OUT_MEMCPY3D: return PACK_BOX;
    case VMM_PARAM_COPY_ATTRIBUTES: return PACK_COPY_ATTRIBUTES;
    case VMM_PARAM_BOXES: return PACK_BOX_OP;
    case VMM_PARAM_FILL_NODE:
    case VMM_PARAM_OUT_FILL_NODE: return PACK_FILL_NODE;
    case VMM_PARAM_OUT_UPDATE: return PACK_UPDATE;
    case VMM_PARAM_STRUCT:
    case VMM_PARAM_STRUCTS:
    case VMM_PARAM_OUT_STRUCT: return vmm_shape((unsigned)shape)->count;
    case VMM_PARAM_POOL_POINTER:
    case VMM_PARAM_FUNCTION:
    case VMM_PARAM_USER_DATA:
    case VMM_PARAM_HOST_NODE:
    case VMM_PARAM_OUT_POOL_POINTER:
    case VMM_PARAM_OUT_HOST_NODE: return 0;
    default: return 1;
    }
}

/* The most words that the memory behind a pointer may take. */
INLINE size_t room_of(int id, int kind, int shape, const char *name, const struct vmm_call *call, const void *pointer)
{
    if (kind < VMM_PARAM_PROP || VMM_BY_VALUE(kind) || kind == VMM_PARAM_FD || !pointer)
        return 0;
    switch (kind) {
    case VMM_PARAM_BYTES:
    case VMM_PARAM_OUT_BYTES: return words_of_bytes(TRACE_BYTES_MAX) + 1;
    case VMM_PARAM_KERNEL_NODE: return PACK_KERNEL_NODE + TRACE_LIST_MAX;
    case VMM_PARAM_OUT_ATTRIBUTES: return 4 + TRACE_LIST_MAX;
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_EDGES:
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT: return 1 + TRACE_LIST_MAX;
    case VMM_PARAM_OUT_TEXT: return 1 + words_of_bytes(TRACE_TEXT_MAX);
    case VMM_PARAM_OUT_RANGE: return words_of_bytes(TRACE_LIST_MAX * sizeof(int));
    default: return is_list(kind) ? (size_t)listed(id, kind, shape, name, call) * words_of(kind, shape) : words_of(kind, shape) + 1;
    }
}

INLINE uint64_t *put_bytes(uint64_t *at, const void *bytes, size_t length)
{
    const size_t words = words_of_bytes(length);
    if (words)
        at[words - 1] = 0;
    memcpy(at, bytes, length);
    return at + words;
}

/* Host bytes, as far as they can be read. */
INLINE uint64_t *put_host_bytes(uint64_t *at, const struct trace_event *event, const void *pointer, bool there)
{
    if (event->device) {
        *at = (uint64_t)(uintptr_t)pointer;
        return at + 1;
    }
    if (!there)
        return at;
    const uint64_t length = trace_length(event->call, "byte_count");
    if (length <= TRACE_BYTES_MAX)
        return put_bytes(at, pointer, (size_t)length);
    *at = event->hash;
    return at + 1;
}

INLINE uint64_t *put_kernel_node(uint64_t *at, const vmm_kernel_node_params *kernel)
{
    const uint64_t count = kernel->count < TRACE_LIST_MAX ? kernel->count : TRACE_LIST_MAX;
    pack_kernel_node(at, kernel);
    at += PACK_KERNEL_NODE;
    return kernel->args ? put_bytes(at, kernel->args, (size_t)count * sizeof *kernel->args) : at;
}

INLINE uint64_t *put_pool_value(uint64_t *at, const struct vmm_call *call, const void *pointer, bool known)
{
    const size_t size = known ? vmm_pool_attribute_size((vmm_mem_pool_attribute)trace_length(call, "attr")) : 0;
    return put_bytes(at, pointer, size);
}

static uint64_t *put_wanted(uint64_t *at, void *const *data, uint64_t count)
{
    memset(at, 0, 4 * sizeof *at);
    for (uint64_t i = 0; i < count; i++)
        at[i / 64] |= (uint64_t)(data[i] != NULL) << i % 64;
    return at + 4;
}

/* A structure of a list, or a single one. */
INLINE void put_structure(uint64_t *at, int kind, int shape, const void *pointer, uint64_t i)
{
    switch (kind) {
    case VMM_PARAM_PROP:
    case VMM_PARAM_OUT_PROP: pack_prop(at, pointer); break;
    case VMM_PARAM_TEAM: pack_team(at, pointer); break;
    case VMM_PARAM_LOCATION: *at = pack_location(pointer); break;
    case VMM_PARAM_POOL_PROPS: pack_pool_props(at, pointer); break;
    case VMM_PARAM_DESCS: pack_desc(at, (const vmm_mem_access_desc *)pointer + i); break;
    case VMM_PARAM_MEM_OPS: pack_mem_op(at, (const vmm_stream_batch_mem_op_params *)pointer + i); break;
    case VMM_PARAM_MEMCPY3D:
    case VMM_PARAM_MEMCPY3D_PEER:
    case VMM_PARAM_OUT_MEMCPY3D: pack_box(at, pointer); break;
    case VMM_PARAM_COPY_ATTRIBUTES: pack_copy_attributes(at, (const vmm_memcpy_attributes *)pointer + i); break;
    case VMM_PARAM_BOXES: pack_box_op(at, (const vmm_memcpy3d_batch_op *)pointer + i); break;
    case VMM_PARAM_FILL_NODE:
    case VMM_PARAM_OUT_FILL_NODE: pack_fill_node(at, pointer); break;
    case VMM_PARAM_OUT_UPDATE: pack_update(at, pointer); break;
    case VMM_PARAM_STRUCT:
    case VMM_PARAM_STRUCTS:
    case VMM_PARAM_OUT_STRUCT:
        pack_shape(at, vmm_shape((unsigned)shape), (const char *)pointer + i * vmm_shape((unsigned)shape)->size);
        break;
    case VMM_PARAM_ATTRIBUTES: *at = (uint64_t)(int64_t)((const vmm_pointer_attribute *)pointer)[i]; break;
    case VMM_PARAM_EDGES: *at = vmm_graph_edge_number((const vmm_graph_edge_data *)pointer + i); break;
    default: memcpy(at, (const char *)pointer + i * sizeof *at, sizeof *at); /* ARGS, ADDRESSES, SIZES, NODES */
    }
}

/* ---- arguments ---- */

/* A number; for a pointer, whether it is not NULL, as bit 0 of *pointers, below the bits of the arguments before it. */
INLINE uint64_t *put_argument(uint64_t *at, const struct trace_event *event, int kind, const void *field, size_t size,
                              unsigned index, unsigned *pointers)
{
    uint64_t value = 0;
    if (kind == VMM_PARAM_IPC_HANDLE) {
        *at = event->descriptor;
        return at + 1;
    }
    if (kind == VMM_PARAM_LOCATION_VALUE) {
        *at = pack_location(field);
        return at + 1;
    }
    if (size == 8) {
        memcpy(&value, field, sizeof value);
    } else if (size == 4) {
        uint32_t half;
        memcpy(&half, field, sizeof half);
        value = kind == VMM_PARAM_INT ? (uint64_t)(int64_t)(int32_t)half : half;
    } else if (size == 2) {
        uint16_t quarter;
        memcpy(&quarter, field, sizeof quarter);
        value = quarter;
    } else {
        value = *(const unsigned char *)field;
    }
    if (kind < VMM_PARAM_PROP) {
        *at = value;
        return at + 1;
    }
    *pointers |= (unsigned)(value != 0) << index;
    if (value && kind == VMM_PARAM_FD)
        *at++ = (uint64_t)event->closed | (uint64_t)event->descriptor << 1;
    if (value && (kind == VMM_PARAM_IO_COUNT || kind == VMM_PARAM_IO_INT))
        *at++ = event->before;
    return at;
}

/* ---- memory that is read ---- */

INLINE uint64_t *put_memory(uint64_t *at, const struct trace_event *event, int id, int kind, int shape, const char *name,
                            const void *pointer)
{
    if (kind < VMM_PARAM_PROP || VMM_BY_VALUE(kind) || kind == VMM_PARAM_FD || !pointer)
        return at;
    switch (kind) {
    case VMM_PARAM_POOL_VALUE: return put_pool_value(at, event->call, pointer, trace_event_done(event));
    case VMM_PARAM_BYTES: return put_host_bytes(at, event, pointer, trace_event_done(event));
    case VMM_PARAM_OUT_BYTES: return event->device ? put_host_bytes(at, event, pointer, false) : at;
    case VMM_PARAM_OUT_ATTRIBUTES: return put_wanted(at, pointer, listed(id, kind, shape, name, event->call));
    case VMM_PARAM_KERNEL_NODE: return put_kernel_node(at, pointer);
    default: break;
    }
    const size_t words = kind >= VMM_PARAM_OUT_INT ? 0 : words_of(kind, shape);
    const uint64_t count = !words ? 0 : is_list(kind) ? listed(id, kind, shape, name, event->call) : 1;
    for (uint64_t i = 0; i < count; i++, at += words)
        put_structure(at, kind, shape, pointer, i);
    return at;
}

/* ---- outputs ---- */

static uint64_t *put_list(uint64_t *at, const void *list, bool edges, uint64_t count)
{
    *at++ = count = count < TRACE_LIST_MAX ? count : TRACE_LIST_MAX;
    for (uint64_t i = 0; i < count; i++)
        put_structure(at++, edges ? VMM_PARAM_EDGES : VMM_PARAM_NODES, VMM_SHAPE_NONE, list, i);
    return at;
}

static uint64_t *put_their_list(uint64_t *at, const struct vmm_call *call, const void *pointer, bool edges)
{
    const uint64_t *length = vmm_list_length(call);
    const void *list;
    memcpy(&list, pointer, sizeof list);
    return put_list(at, list, edges, length && list ? *length : 0);
}

static uint64_t *put_text(uint64_t *at, const char *text)
{
    const size_t length = strnlen(text, TRACE_TEXT_MAX);
    *at++ = length;
    return put_bytes(at, text, length);
}

static uint64_t *put_attributes(uint64_t *at, const struct vmm_call *call, void *const *data)
{
    const uint64_t count = trace_length(call, "num_attributes");
    const vmm_pointer_attribute *attribute = (const vmm_pointer_attribute *)(uintptr_t)trace_length(call, "attributes");
    for (uint64_t i = 0; attribute && i < count && i < TRACE_LIST_MAX; i++)
        if (data[i])
            at = put_bytes(at, data[i], trace_attribute_size(attribute[i]));
    return at;
}

/* Ints, as many as the caller requested. */
static uint64_t *put_range(uint64_t *at, const struct vmm_call *call, const void *pointer)
{
    const uint64_t count = trace_length(call, "data_size") / sizeof(int);
    return put_bytes(at, pointer, (size_t)(count < TRACE_LIST_MAX ? count : TRACE_LIST_MAX) * sizeof(int));
}

INLINE uint64_t *put_output(uint64_t *at, const struct trace_event *event, int kind, int shape, const void *pointer, unsigned index)
{
    const struct vmm_call *call = event->call;
    int narrow;
    if (kind < VMM_PARAM_OUT_INT || !pointer || event->lacks >> index & 1 || !trace_writes(call, (enum vmm_param_kind)kind))
        return at;
    switch (kind) {
    case VMM_PARAM_OUT_INT:
    case VMM_PARAM_IO_INT:
        memcpy(&narrow, pointer, sizeof narrow);
        *at = (uint64_t)(int64_t)narrow;
        return at + 1;
    case VMM_PARAM_OUT_FD:
    case VMM_PARAM_OUT_IPC_HANDLE: *at = event->descriptor; return at + 1;
    case VMM_PARAM_OUT_POOL_POINTER:
    case VMM_PARAM_OUT_HOST_NODE: return at;
    case VMM_PARAM_OUT_POOL_VALUE: return put_pool_value(at, call, pointer, true);
    case VMM_PARAM_OUT_ATTRIBUTE:
        return put_bytes(at, pointer, trace_attribute_size((vmm_pointer_attribute)trace_length(call, "attribute")));
    case VMM_PARAM_OUT_ATTRIBUTES: return put_attributes(at, call, pointer);
    case VMM_PARAM_OUT_TEXT: return put_text(at, pointer);
    case VMM_PARAM_OUT_RANGE: return put_range(at, call, pointer);
    case VMM_PARAM_OUT_BYTES: return event->device ? at : put_host_bytes(at, event, pointer, !trace_is_async(call));
    case VMM_PARAM_OUT_NODES:
    case VMM_PARAM_OUT_EDGES: return put_list(at, pointer, kind == VMM_PARAM_OUT_EDGES, *vmm_list_length(call));
    case VMM_PARAM_OUT_NODES_AT:
    case VMM_PARAM_OUT_EDGES_AT: return put_their_list(at, call, pointer, kind == VMM_PARAM_OUT_EDGES_AT);
    default: put_structure(at, kind, shape, pointer, 0); return at + words_of(kind, shape);
    }
}

/* What a field points to; nothing for a field that is a number. */
INLINE const void *target(int kind, const void *field)
{
    const void *pointer = NULL;
    if (kind >= VMM_PARAM_PROP && !VMM_BY_VALUE(kind))
        memcpy(&pointer, field, sizeof pointer);
    return pointer;
}

/* The parts of a record, as VMM_EACH uses them where call, event, id, at, pointers, index (0 before each part) and room are
 * known. */
#define TRACE_ARGUMENT(type, param)                                                                               \
    at = put_argument(at, event, KIND_##type, &call->param, sizeof call->param, index++, &pointers);
#define TRACE_MEMORY(type, param) \
    at = put_memory(at, event, id, KIND_##type, SHAPE_##type, #param, target(KIND_##type, &call->param));
#define TRACE_OUTPUT(type, param) \
    at = put_output(at, event, KIND_##type, SHAPE_##type, target(KIND_##type, &call->param), index++);
#define TRACE_ROOM(type, param)                                                                                   \
    room += 2 + ((int)KIND_##type >= (int)VMM_PARAM_PROP                                                          \
                     ? room_of(id, KIND_##type, SHAPE_##type, #param, &call->head, target(KIND_##type, &call->param)) \
                     : 0);

INLINE void put_head(uint64_t *record, const uint64_t *end, const struct trace_event *event, unsigned pointers, bool detail,
                     bool shared, bool wide)
{
    record[0] = trace_head((size_t)(end - record), event->call->id, wide ? TRACE_THREAD_FOLLOWS : (uint16_t)event->thread,
                           (uint16_t)((event->wrote ? TRACE_WROTE : 0) | (event->device ? TRACE_DEVICE : 0) |
                                      (detail ? TRACE_HAS_DETAIL : 0) | (shared ? TRACE_HAS_SHARED : 0) |
                                      (event->lacks ? TRACE_LACKS : 0) | pointers * TRACE_POINTERS));
    record[1] = pack_pair((uint32_t)event->call->number, (uint32_t)event->result);
}

#endif
