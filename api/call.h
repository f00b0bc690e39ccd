/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - one driver call as a value, which layers pass on, traces record and replays repeat.
 *
 * A call record is its head followed by the parameters in the driver's order, so a pointer to the head is a pointer to the whole
 * record, and generic code reads parameters through descriptors:
 *
 *     struct vmm_call_mem_map = [ head: id, number, result | ptr | size | offset | handle | flags ]
 *                                  ^ struct vmm_call *        ^ vmm_call_params(id)[0].offset bytes in
 *
 * Everything here is generated from calls.def; nothing else in the project lists the calls.
 */
#ifndef CUVMM_CALL_H
#define CUVMM_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "call_params.h"
#include "vmm.h"

/* Is a parameter of that kind passed by value, but seen by generic code as a pointer into the record? */
#define VMM_BY_VALUE(kind) ((kind) == VMM_PARAM_IPC_HANDLE || (kind) == VMM_PARAM_LOCATION_VALUE)

#define CALL_TYPE(name, kind, ours, theirs) typedef ours call_##name;
#define CALL_POINTER(name, kind, ours, theirs) typedef ours *call_##name;
#include "call_types.def"

enum vmm_call_id {
#define VMM_CALL(name, ...) VMM_CALL_##name,
#include "calls.def"
    VMM_CALL_COUNT
};

/* The common part of all calls. dispatch fills in number and result. */
struct vmm_call {
    uint16_t id;     /* enum vmm_call_id */
    uint64_t number; /* ordinal of this call in its system, from 1 */
};

#define VMM_FIELD(type, name) call_##type name;
#define VMM_CALL(name, ...)                     \
    struct vmm_call_##name {                    \
        struct vmm_call head;                   \
        VMM_EACH(VMM_FIELD, VMM_PARAMS_##name)  \
    };
#include "calls.def"
#undef VMM_FIELD

/* Room for any call record. */
union vmm_any_call {
    struct vmm_call head;
#define VMM_CALL(name, ...) struct vmm_call_##name name;
#include "calls.def"
};

/* The kinds of parameters, so that generic code can print, compare, store and rebuild them. OUT_ kinds are pointers through which
 * the call writes. */
enum vmm_param_kind {
    VMM_PARAM_INT,            /* int: ordinals, enumerators */
    VMM_PARAM_U32,            /* unsigned int or narrower */
    VMM_PARAM_U64,            /* uint64_t flags */
    VMM_PARAM_SIZE,           /* uint64_t bytes or elements */
    VMM_PARAM_COUNT,          /* uint64_t: length of the array that precedes it */
    VMM_PARAM_ADDRESS,        /* vmm_deviceptr */
    VMM_PARAM_HANDLE,         /* vmm_mem_generic_allocation_handle */
    VMM_PARAM_CONTEXT,        /* vmm_context */
    VMM_PARAM_STREAM,         /* vmm_stream */
    VMM_PARAM_EVENT,          /* vmm_event */
    VMM_PARAM_POOL,           /* vmm_memory_pool */
    VMM_PARAM_ARRAY,          /* vmm_array or vmm_mipmapped_array */
    VMM_PARAM_GRAPH,          /* vmm_graph */
    VMM_PARAM_GRAPH_NODE,     /* vmm_graph_node */
    VMM_PARAM_GRAPH_EXEC,     /* vmm_graph_exec */
    VMM_PARAM_USER_OBJECT,    /* vmm_user_object */
    VMM_PARAM_PROP,           /* const vmm_mem_allocation_prop * */
    VMM_PARAM_TEAM,           /* const vmm_multicast_object_prop * */
    VMM_PARAM_LOCATION,       /* const vmm_mem_location * */
    VMM_PARAM_LOCATION_VALUE, /* vmm_mem_location: by value, which generic code sees as a pointer to it */
    VMM_PARAM_STRUCT,         /* a structure of call_structs.def */
    VMM_PARAM_STRUCTS,        /* a list of such, length: vmm_structs_length */
    VMM_PARAM_POOL_PROPS,     /* const vmm_mem_pool_props * */
    VMM_PARAM_POOL_VALUE,     /* void *: read; type given by the pool attribute before it */
    VMM_PARAM_POOL_POINTER,   /* const vmm_mem_pool_ptr_export_data * */
    VMM_PARAM_IPC_HANDLE,     /* vmm_ipc_mem_handle: 64 bytes by value, which generic code sees as a pointer to them */
    VMM_PARAM_DESCS,          /* const vmm_mem_access_desc *, length in the COUNT after it */
    VMM_PARAM_ARGS,           /* const uint64_t *, length in the COUNT after it */
    VMM_PARAM_ATTRIBUTES,     /* const vmm_pointer_attribute *, length in the first parameter */
    VMM_PARAM_MEM_OPS,        /* const vmm_stream_batch_mem_op_params *, length in the U32 before it */
    VMM_PARAM_MEMCPY3D,       /* const vmm_memcpy3d * */
    VMM_PARAM_MEMCPY3D_PEER,  /* const vmm_memcpy3d_peer *: the same fields, but for contexts */
    VMM_PARAM_ADDRESSES,      /* const vmm_deviceptr *, length: vmm_batch_length */
    VMM_PARAM_SIZES,          /* const uint64_t *, as above, or a single value */
    VMM_PARAM_COPY_ATTRIBUTES, /* const vmm_memcpy_attributes *, as above */
    VMM_PARAM_BOXES,          /* const vmm_memcpy3d_batch_op *, as above */
    VMM_PARAM_NODES,          /* const vmm_graph_node *, length in num_dependencies */
    VMM_PARAM_EDGES,          /* const vmm_graph_edge_data *, length in num_dependencies */
    VMM_PARAM_FILL_NODE,      /* const vmm_memset_node_params * */
    VMM_PARAM_HOST_NODE,      /* const vmm_host_node_params * */
    VMM_PARAM_KERNEL_NODE,    /* const vmm_kernel_node_params * */
    VMM_PARAM_BYTES,          /* const void *: host bytes read */
    VMM_PARAM_FD,             /* void *: a file descriptor by value, or a pointer to another kind of handle */
    VMM_PARAM_FUNCTION,       /* vmm_host_fn */
    VMM_PARAM_USER_DATA,      /* void *: passed to the function before it */
    VMM_PARAM_OUT_INT,        /* int * */
    VMM_PARAM_OUT_FD,         /* void *, to an int: a file descriptor that is the caller's to close; or to
                                 another kind of handle, of at most VMM_FABRIC_HANDLE_SIZE bytes */
    VMM_PARAM_OUT_U64,        /* uint64_t *: flags */
    VMM_PARAM_OUT_SIZE,       /* uint64_t * */
    VMM_PARAM_OUT_ADDRESS,    /* vmm_deviceptr * */
    VMM_PARAM_OUT_HANDLE,     /* vmm_mem_generic_allocation_handle * */
    VMM_PARAM_OUT_CONTEXT,    /* vmm_context * */
    VMM_PARAM_OUT_STREAM,     /* vmm_stream * */
    VMM_PARAM_OUT_EVENT,      /* vmm_event * */
    VMM_PARAM_OUT_POOL,       /* vmm_memory_pool * */
    VMM_PARAM_OUT_ARRAY,      /* vmm_array * or vmm_mipmapped_array * */
    VMM_PARAM_OUT_STRUCT,     /* a structure of call_structs.def */
    VMM_PARAM_OUT_RANGE,      /* void *: ints, length in bytes in the SIZE after it */
    VMM_PARAM_OUT_POOL_VALUE, /* void *: type given by the pool attribute before it */
    VMM_PARAM_OUT_POOL_POINTER, /* vmm_mem_pool_ptr_export_data * */
    VMM_PARAM_OUT_MEMCPY3D,   /* vmm_memcpy3d * */
    VMM_PARAM_OUT_IPC_HANDLE, /* vmm_ipc_mem_handle * */
    VMM_PARAM_OUT_GRAPH,      /* vmm_graph * */
    VMM_PARAM_OUT_GRAPH_NODE, /* vmm_graph_node * */
    VMM_PARAM_OUT_GRAPH_EXEC, /* vmm_graph_exec * */
    VMM_PARAM_OUT_USER_OBJECT, /* vmm_user_object * */
    VMM_PARAM_OUT_NODES,      /* vmm_graph_node *, room in the IO_COUNT after it, and after another list */
    VMM_PARAM_OUT_EDGES,      /* vmm_graph_edge_data *, the same */
    VMM_PARAM_IO_COUNT,       /* uint64_t *, read and written: the room of lists, and how much of it was used */
    VMM_PARAM_IO_INT,         /* int *, read and written */
    VMM_PARAM_OUT_NODES_AT,   /* const vmm_graph_node **: a list that the system owns, length in num_dependencies_out */
    VMM_PARAM_OUT_EDGES_AT,   /* const vmm_graph_edge_data **, the same */
    VMM_PARAM_OUT_ID,         /* uint64_t *: a number that has no meaning outside this system */
    VMM_PARAM_OUT_UPDATE,     /* vmm_graph_exec_update_result_info * */
    VMM_PARAM_OUT_FILL_NODE,  /* vmm_memset_node_params * */
    VMM_PARAM_OUT_HOST_NODE,  /* vmm_host_node_params * */
    VMM_PARAM_OUT_PROP,       /* vmm_mem_allocation_prop * */
    VMM_PARAM_OUT_TEXT,       /* char *, room in the INT after it */
    VMM_PARAM_OUT_BYTES,      /* void *: host bytes written */
    VMM_PARAM_OUT_ATTRIBUTE,  /* void *: type given by the attribute parameter after it */
    VMM_PARAM_OUT_ATTRIBUTES  /* void **: one per attribute */
};

struct vmm_param {
    const char *name;         /* the name in calls.def and in the driver's documentation */
    enum vmm_param_kind kind;
    uint16_t offset;          /* bytes from the start of the call record */
    uint16_t size;            /* bytes of the parameter itself */
    uint8_t shape;            /* of STRUCT kinds: enum vmm_shape_id */
};

/* A structure of call_structs.def: its fields are described like parameters, with offsets from its start. */
struct vmm_shape {
    const char *name; /* "array_map_info" */
    uint16_t size, count;
    const struct vmm_param *fields;
};

enum vmm_shape_id {
    VMM_SHAPE_NONE,
#define CALL_SHAPE(shape, theirs) VMM_SHAPE_##shape,
#include "call_structs.def"
    VMM_SHAPE_COUNT
};

const struct vmm_shape *vmm_shape(unsigned id); /* enum vmm_shape_id */

/* The value of a scalar field, as vmm_call_scalar returns it, and setting it. */
uint64_t vmm_field_value(const void *structure, const struct vmm_param *field);
void vmm_field_set(void *structure, const struct vmm_param *field, uint64_t value);

/* Is the field the one of its union that the structure uses? True for fields of no union. */
bool vmm_field_used(const void *structure, const struct vmm_shape *shape, const struct vmm_param *field);

/* Does this operation of a batch have an address and a value? */
static inline bool vmm_mem_op_has_value(vmm_stream_batch_mem_op_type operation)
{
    return operation == VMM_STREAM_MEM_OP_WAIT_VALUE_32 || operation == VMM_STREAM_MEM_OP_WRITE_VALUE_32 ||
           operation == VMM_STREAM_MEM_OP_WAIT_VALUE_64 || operation == VMM_STREAM_MEM_OP_WRITE_VALUE_64;
}

/* The sizes in a copy of a box (the same as in a copy between contexts): our name and the driver's. */
struct vmm_box_size {
    const char *name, *theirs;
    uint16_t offset; /* of a size_t */
};
enum { VMM_BOX_SIZES = 15 };
extern const struct vmm_box_size vmm_box_sizes[VMM_BOX_SIZES];
static inline size_t *vmm_box_size_at(const vmm_memcpy3d *box, const struct vmm_box_size *size)
{
    return (size_t *)(uintptr_t)((const char *)box + size->offset);
}

/* The length of a list of structures. */
uint64_t vmm_structs_length(const struct vmm_call *call, const struct vmm_param *list);

/* The length of such a list of a batch. */
uint64_t vmm_batch_length(const struct vmm_call *call, const struct vmm_param *list);

/* Where the call states the room of a list that it writes and, afterwards, its length. NULL: nowhere. */
const uint64_t *vmm_list_length(const struct vmm_call *call);

/* Where the two sides of a copy of a box begin. */
static inline uint64_t vmm_box_src(const vmm_memcpy3d *box)
{
    if (box->src_memory_type == VMM_MEMORYTYPE_ARRAY)
        return (uint64_t)(uintptr_t)box->src_array;
    return box->src_memory_type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)box->src_host : box->src_device;
}
static inline uint64_t vmm_box_dst(const vmm_memcpy3d *box)
{
    if (box->dst_memory_type == VMM_MEMORYTYPE_ARRAY)
        return (uint64_t)(uintptr_t)box->dst_array;
    return box->dst_memory_type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)box->dst_host : box->dst_device;
}

/* An edge's data as one number, for code that prints or parses it. */
static inline uint64_t vmm_graph_edge_number(const vmm_graph_edge_data *data)
{
    uint64_t number;
    memcpy(&number, data, sizeof number);
    return number;
}

/* Names and parameters of an entry point; id must be below VMM_CALL_COUNT. */
const char *vmm_call_name(enum vmm_call_id id);        /* "mem_map" */
extern const char *const vmm_call_driver_names[VMM_CALL_COUNT];
static inline const char *vmm_call_driver_name(enum vmm_call_id id) /* "cuMemMap" */
{
    return vmm_call_driver_names[id];
}
const struct vmm_param *vmm_call_params(enum vmm_call_id id, size_t *count);
size_t vmm_call_size(enum vmm_call_id id);             /* bytes of the whole record */

/* Properties of a call besides its parameters; calls.def explains each. */
enum vmm_call_trait {
    CALL_PLAIN = 0,
    CALL_QUERIES = 1 << 0,
    CALL_WAITS = 1 << 1,
    CALL_MOVES = 1 << 2,
    CALL_MULTICAST = 1 << 3,
    CALL_QUEUES = 1 << 4,
    CALL_ANYWHERE = 1 << 5,
    CALL_EARLY = 1 << 6,
    CALL_EARLY_NULL = 1 << 7
};

/* For calls that are known at compile time. */
enum vmm_call_queries {
#define VMM_CALL(name, symbol, form, traits) VMM_QUERIES_##name = ((traits) & CALL_QUERIES) != 0,
#include "calls.def"
};

extern const uint8_t vmm_call_traits[VMM_CALL_COUNT];
static inline bool vmm_call_has(enum vmm_call_id id, enum vmm_call_trait trait)
{
    return (vmm_call_traits[id] & trait) != 0;
}

/* May the call run or await queued work, including host functions, before it returns? Host functions make calls of their own, on
 * another thread or on this one, so during such a call no layer may hold a lock that other calls take. */
static inline bool vmm_call_waits(enum vmm_call_id id)
{
    return vmm_call_has(id, CALL_WAITS);
}

/* The id of "mem_map" or "cuMemMap"; VMM_CALL_COUNT when there is none. */
enum vmm_call_id vmm_call_find(const char *name);

/* The value of a scalar parameter, or of a pointer as an integer; signed kinds are sign-extended. For a structure that is passed
 * by value: its address in the record. */
uint64_t vmm_call_scalar(const struct vmm_call *call, const struct vmm_param *param);

/* The size in bytes of a pointer attribute's value; 0 for an unknown attribute. */
size_t vmm_pointer_attribute_size(vmm_pointer_attribute attribute);

/* The size in bytes of a pool attribute's value; 0 for an unknown attribute. */
size_t vmm_pool_attribute_size(vmm_mem_pool_attribute attribute);

/* Sets a scalar parameter; value is truncated to the parameter's width. A structure that is passed by value is copied from
 * the address `value`, or zeroed if that is 0. */
void vmm_call_set_scalar(struct vmm_call *call, const struct vmm_param *param, uint64_t value);

#endif
