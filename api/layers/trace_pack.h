/* SPDX-License-Identifier: Apache-2.0 */
/* trace_pack.h - the structures of calls as words of a record, and back: each pair of functions is the layout of one structure.
 *
 *     {type 1, id 0}, flags 3   ->   [ 1 | 0 << 32 ][ 3 ]   ->   the same
 *
 * Two fields of 32 bits share a word, the first one in the lower half. Pointers that a call does not follow are written as
 * numbers.
 */
#ifndef CUVMM_LAYERS_TRACE_PACK_H
#define CUVMM_LAYERS_TRACE_PACK_H

#include <string.h>

#include "call.h"

/* Words of each. */
enum {
    PACK_LOCATION = 1, PACK_PROP = 4, PACK_TEAM = 4, PACK_POOL_PROPS = 12, PACK_DESC = 2, PACK_MEM_OP = 3,
    PACK_BOX = 5 + VMM_BOX_SIZES, PACK_COPY_ATTRIBUTES = 3, PACK_OPERAND = 5, PACK_BOX_OP = 2 * PACK_OPERAND + 4, PACK_FILL_NODE = 5,
    PACK_KERNEL_NODE = 3, PACK_UPDATE = 3
};

static inline uint64_t pack_pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}
static inline int pack_low(uint64_t word)
{
    return (int)(uint32_t)word;
}
static inline int pack_high(uint64_t word)
{
    return (int)(uint32_t)(word >> 32);
}

static inline uint64_t pack_location(const vmm_mem_location *location)
{
    return pack_pair((uint32_t)location->type, (uint32_t)location->id);
}
static inline vmm_mem_location unpack_location(uint64_t word)
{
    return (vmm_mem_location){pack_low(word), pack_high(word)};
}

static inline void pack_prop(uint64_t *at, const vmm_mem_allocation_prop *prop)
{
    _Static_assert(sizeof prop->alloc_flags == 8, "a word");
    at[0] = pack_pair((uint32_t)prop->type, (uint32_t)prop->requested_handle_types);
    at[1] = pack_location(&prop->location);
    at[2] = (uint64_t)(uintptr_t)prop->win32_handle_meta_data;
    memcpy(&at[3], &prop->alloc_flags, 8);
}
static inline void unpack_prop(const uint64_t *at, vmm_mem_allocation_prop *prop)
{
    prop->type = pack_low(at[0]);
    prop->requested_handle_types = pack_high(at[0]);
    prop->location = unpack_location(at[1]);
    prop->win32_handle_meta_data = (void *)(uintptr_t)at[2]; /* never followed */
    memcpy(&prop->alloc_flags, &at[3], 8);
}

static inline void pack_team(uint64_t *at, const vmm_multicast_object_prop *team)
{
    at[0] = team->num_devices;
    at[1] = team->size;
    at[2] = team->handle_types;
    at[3] = team->flags;
}
static inline void unpack_team(const uint64_t *at, vmm_multicast_object_prop *team)
{
    memset(team, 0, sizeof *team);
    team->num_devices = (unsigned)at[0];
    team->size = at[1];
    team->handle_types = at[2];
    team->flags = at[3];
}

static inline void pack_pool_props(uint64_t *at, const vmm_mem_pool_props *props)
{
    _Static_assert(sizeof props->reserved <= 8 * (PACK_POOL_PROPS - 5), "the rest");
    at[0] = pack_pair((uint32_t)props->alloc_type, (uint32_t)props->handle_types);
    at[1] = pack_location(&props->location);
    at[2] = (uint64_t)(uintptr_t)props->win32_security_attributes;
    at[3] = props->max_size;
    at[4] = props->usage;
    at[PACK_POOL_PROPS - 1] = 0;
    memcpy(&at[5], props->reserved, sizeof props->reserved);
}
static inline void unpack_pool_props(const uint64_t *at, vmm_mem_pool_props *props)
{
    memset(props, 0, sizeof *props);
    props->alloc_type = pack_low(at[0]);
    props->handle_types = pack_high(at[0]);
    props->location = unpack_location(at[1]);
    props->win32_security_attributes = (void *)(uintptr_t)at[2]; /* never followed */
    props->max_size = (size_t)at[3];
    props->usage = (unsigned short)at[4];
    memcpy(props->reserved, &at[5], sizeof props->reserved);
}

static inline void pack_desc(uint64_t *at, const vmm_mem_access_desc *desc)
{
    at[0] = pack_location(&desc->location);
    at[1] = (uint32_t)desc->flags;
}
static inline void unpack_desc(const uint64_t *at, vmm_mem_access_desc *desc)
{
    *desc = (vmm_mem_access_desc){unpack_location(at[0]), pack_low(at[1])};
}

/* An operation without a value has only flags. */
static inline void pack_mem_op(uint64_t *at, const vmm_stream_batch_mem_op_params *op)
{
    bool value = vmm_mem_op_has_value(op->operation);
    at[0] = pack_pair((uint32_t)op->operation, value ? op->wait_value.flags : op->memory_barrier.flags);
    at[1] = value ? op->wait_value.address : 0;
    at[2] = value ? op->wait_value.value64 : 0;
}
static inline void unpack_mem_op(const uint64_t *at, vmm_stream_batch_mem_op_params *op)
{
    memset(op, 0, sizeof *op);
    op->operation = pack_low(at[0]);
    if (!vmm_mem_op_has_value(op->operation)) {
        op->memory_barrier.flags = (unsigned)pack_high(at[0]);
        return;
    }
    op->wait_value.flags = (unsigned)pack_high(at[0]);
    op->wait_value.address = at[1];
    op->wait_value.value64 = at[2];
}

/* A side has an address, whatever its type. */
static inline void pack_box(uint64_t *at, const vmm_memcpy3d *box)
{
    at[0] = pack_pair((uint32_t)box->src_memory_type, (uint32_t)box->dst_memory_type);
    at[1] = vmm_box_src(box);
    at[2] = vmm_box_dst(box);
    at[3] = (uint64_t)(uintptr_t)box->reserved0;
    at[4] = (uint64_t)(uintptr_t)box->reserved1;
    for (int i = 0; i < VMM_BOX_SIZES; i++)
        at[5 + i] = *vmm_box_size_at(box, &vmm_box_sizes[i]);
}
static inline void unpack_box(const uint64_t *at, vmm_memcpy3d *box)
{
    memset(box, 0, sizeof *box);
    box->src_memory_type = pack_low(at[0]);
    box->dst_memory_type = pack_high(at[0]);
    box->src_host = (const void *)(uintptr_t)at[1];
    box->src_device = at[1];
    box->src_array = (vmm_array)(uintptr_t)at[1];
    box->dst_host = (void *)(uintptr_t)at[2];
    box->dst_device = at[2];
    box->dst_array = (vmm_array)(uintptr_t)at[2];
    box->reserved0 = (void *)(uintptr_t)at[3];
    box->reserved1 = (void *)(uintptr_t)at[4];
    for (int i = 0; i < VMM_BOX_SIZES; i++)
        *vmm_box_size_at(box, &vmm_box_sizes[i]) = (size_t)at[5 + i];
}

static inline void pack_copy_attributes(uint64_t *at, const vmm_memcpy_attributes *attributes)
{
    at[0] = pack_pair((uint32_t)attributes->src_access_order, attributes->flags);
    at[1] = pack_location(&attributes->src_loc_hint);
    at[2] = pack_location(&attributes->dst_loc_hint);
}
static inline void unpack_copy_attributes(const uint64_t *at, vmm_memcpy_attributes *attributes)
{
    memset(attributes, 0, sizeof *attributes);
    attributes->src_access_order = pack_low(at[0]);
    attributes->flags = (unsigned)pack_high(at[0]);
    attributes->src_loc_hint = unpack_location(at[1]);
    attributes->dst_loc_hint = unpack_location(at[2]);
}

static inline void pack_operand(uint64_t *at, const vmm_memcpy3d_operand *operand)
{
    at[0] = (uint32_t)operand->type;
    at[1] = operand->op.ptr.ptr;
    at[2] = operand->op.ptr.row_length;
    at[3] = operand->op.ptr.layer_height;
    at[4] = operand->type == VMM_MEMCPY_OPERAND_TYPE_ARRAY ? operand->op.array.z : 0; /* in place of another operation's hint */
}
static inline void unpack_operand(const uint64_t *at, vmm_memcpy3d_operand *operand)
{
    operand->type = pack_low(at[0]);
    operand->op.ptr.ptr = at[1];
    operand->op.ptr.row_length = (size_t)at[2];
    operand->op.ptr.layer_height = (size_t)at[3];
    if (operand->type == VMM_MEMCPY_OPERAND_TYPE_ARRAY)
        operand->op.array.z = (size_t)at[4];
}

static inline void pack_box_op(uint64_t *at, const vmm_memcpy3d_batch_op *op)
{
    pack_operand(at, &op->dst);
    pack_operand(at + PACK_OPERAND, &op->src);
    at += 2 * PACK_OPERAND;
    at[0] = op->extent.width;
    at[1] = op->extent.height;
    at[2] = op->extent.depth;
    at[3] = pack_pair((uint32_t)op->src_access_order, op->flags);
}
static inline void unpack_box_op(const uint64_t *at, vmm_memcpy3d_batch_op *op)
{
    memset(op, 0, sizeof *op);
    unpack_operand(at, &op->dst);
    unpack_operand(at + PACK_OPERAND, &op->src);
    at += 2 * PACK_OPERAND;
    op->extent.width = (size_t)at[0];
    op->extent.height = (size_t)at[1];
    op->extent.depth = (size_t)at[2];
    op->src_access_order = pack_low(at[3]);
    op->flags = (unsigned)pack_high(at[3]);
}

static inline void pack_fill_node(uint64_t *at, const vmm_memset_node_params *fill)
{
    at[0] = fill->dst;
    at[1] = fill->pitch;
    at[2] = pack_pair(fill->value, fill->element_size);
    at[3] = fill->width;
    at[4] = fill->height;
}
static inline void unpack_fill_node(const uint64_t *at, vmm_memset_node_params *fill)
{
    *fill = (vmm_memset_node_params){at[0], (size_t)at[1], (unsigned)pack_low(at[2]), (unsigned)pack_high(at[2]), (size_t)at[3],
                                     (size_t)at[4]};
}

/* Its arguments follow, if there are any. */
static inline void pack_kernel_node(uint64_t *at, const vmm_kernel_node_params *kernel)
{
    at[0] = pack_pair((uint32_t)kernel->kernel, kernel->grid_dim);
    at[1] = pack_pair(kernel->block_dim, kernel->args != NULL);
    at[2] = kernel->count;
}
static inline void unpack_kernel_node(const uint64_t *at, vmm_kernel_node_params *kernel, const uint64_t *args)
{
    *kernel = (vmm_kernel_node_params){pack_low(at[0]), (unsigned)pack_high(at[0]), (unsigned)pack_low(at[1]),
                                       pack_high(at[1]) ? args : NULL, at[2]};
}

static inline void pack_update(uint64_t *at, const vmm_graph_exec_update_result_info *update)
{
    at[0] = (uint32_t)update->result;
    at[1] = (uint64_t)(uintptr_t)update->error_node;
    at[2] = (uint64_t)(uintptr_t)update->error_from_node;
}
static inline void unpack_update(const uint64_t *at, vmm_graph_exec_update_result_info *update)
{
    memset(update, 0, sizeof *update);
    update->result = pack_low(at[0]);
    update->error_node = (vmm_graph_node)(uintptr_t)at[1];
    update->error_from_node = (vmm_graph_node)(uintptr_t)at[2];
}

/* A structure of call_structs.def: a word for each field, 0 for those of a union that are not used. */
static inline void pack_shape(uint64_t *at, const struct vmm_shape *shape, const void *structure)
{
    for (size_t i = 0; i < shape->count; i++)
        at[i] = vmm_field_used(structure, shape, &shape->fields[i]) ? vmm_field_value(structure, &shape->fields[i]) : 0;
}
static inline void unpack_shape(const uint64_t *at, const struct vmm_shape *shape, void *structure)
{
    memset(structure, 0, shape->size);
    for (size_t i = 0; i < shape->count; i++) /* an earlier field says which one is used */
        if (vmm_field_used(structure, shape, &shape->fields[i]))
            vmm_field_set(structure, &shape->fields[i], at[i]);
}

#endif
