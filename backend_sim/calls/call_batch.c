/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies and of boxes, in the forms of CUDA 12.8, which also say where they failed, and 13.0.
 *
 *     checked first    the arguments and attributes of the batch; for boxes also each operand, its extent and
 *     flags then, in order   each copy as if it were called alone: where one is refused, those before it are made, as recorded
 */
#include <inttypes.h>

#include "call_copy.h"
#include "call_graph.h"
#include "rows.h"
#include "sim.h"

#define NOWHERE UINT64_MAX /* it failed, but not at one of the copies */

static vmm_result named(vmm_result result, const char *argument)
{
    vmm_detail_argument(argument);
    return result;
}

/* Refuses by a rule, with the argument's name and value, and text about them. */
#define REFUSE(rule, argument, value, ...) named(graph_refuse(VMM_RULE_##rule, (value), __VA_ARGS__), (argument))

/* ---- checks ---- */

/* Checked even before the process initialises: a batch cannot use the default stream. */
static vmm_result check_there(vmm_stream stream)
{
    return stream ? VMM_SUCCESS : REFUSE(BATCH_STREAM, "hStream", 0, "hStream is NULL");
}

static vmm_result check_stream(const struct sim_process *process, vmm_stream stream)
{
    vmm_result result = check_there(stream);
    if (result == VMM_SUCCESS && !sim_current(process))
        return REFUSE(BATCH_STREAM, "hStream", (uint64_t)(uintptr_t)stream, "no context is current");
    if (stream == VMM_STREAM_LEGACY)
        return REFUSE(BATCH_STREAM, "hStream", (uint64_t)(uintptr_t)stream, "hStream is CU_STREAM_LEGACY");
    return result;
}

static bool is_order(vmm_memcpy_src_access_order order)
{
    return order >= VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= VMM_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

static bool is_hint(const struct sim_process *process, const vmm_mem_location *hint)
{
    if (hint->type == VMM_MEM_LOCATION_TYPE_DEVICE)
        return hint->id >= 0 && hint->id < process->machine->profile.devices;
    return hint->type >= VMM_MEM_LOCATION_TYPE_INVALID && hint->type <= VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static vmm_result check_attribute(const struct sim_process *process, const struct vmm_call_memcpy_batch_async *batch, uint64_t i)
{
    const unsigned long long at = i, index = batch->attrs_idxs[i];
    const vmm_memcpy_attributes *a = &batch->attrs[i];
    const bool in_order = i ? index > batch->attrs_idxs[i - 1] : index == 0;
    if (!in_order || index >= batch->count)
        return REFUSE(BATCH_ATTRIBUTES, "attrsIdxs", index, "attrsIdxs[%llu] is %llu", at, index);
    if (!is_order(a->src_access_order))
        return REFUSE(BATCH_ATTRIBUTES, "attrs", (uint64_t)a->src_access_order, "attrs[%llu].srcAccessOrder is %d", at,
                      a->src_access_order);
    if (a->flags & ~(unsigned)VMM_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
        return REFUSE(BATCH_ATTRIBUTES, "attrs", a->flags, "attrs[%llu].flags is 0x%x", at, a->flags);
    const vmm_mem_location *wrong = !is_hint(process, &a->src_loc_hint)   ? &a->src_loc_hint
                                    : !is_hint(process, &a->dst_loc_hint) ? &a->dst_loc_hint
                                                                          : NULL;
    if (wrong)
        return REFUSE(BATCH_ATTRIBUTES, "attrs", (uint64_t)wrong->type, "a hint of attrs[%llu] is not a location: type %d, id %d",
                      at, wrong->type, wrong->id);
    return VMM_SUCCESS;
}

static vmm_result check_arrays(const struct vmm_call_memcpy_batch_async *batch)
{
    const struct {
        const void *array;
        const char *name;
    } arrays[] = {{batch->dsts, "dsts"}, {batch->srcs, "srcs"}, {batch->sizes, "sizes"}, {batch->attrs, "attrs"},
                  {batch->attrs_idxs, "attrsIdxs"}};
    if (!batch->count)
        return REFUSE(BATCH_ARGUMENTS, "count", 0, "count is 0");
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!arrays[i].array)
            return REFUSE(BATCH_ARGUMENTS, arrays[i].name, 0, "%s is NULL", arrays[i].name);
    if (!batch->num_attrs || batch->num_attrs > batch->count)
        return REFUSE(BATCH_ARGUMENTS, "numAttrs", batch->num_attrs, "numAttrs is %llu for %llu copies",
                      (unsigned long long)batch->num_attrs, (unsigned long long)batch->count);
    return VMM_SUCCESS;
}

static vmm_result check_batch(const struct sim_process *process, const struct vmm_call_memcpy_batch_async *batch)
{
    vmm_result result = check_stream(process, batch->stream);
    if (result == VMM_SUCCESS)
        result = check_arrays(batch);
    for (uint64_t i = 0; result == VMM_SUCCESS && i < batch->num_attrs; i++)
        result = check_attribute(process, batch, i);
    return result;
}

static vmm_result check_operand(const vmm_memcpy3d_operand *operand, const struct vmm_extent3d *extent, uint64_t i, const char *which)
{
    const unsigned long long at = i;
    const struct vmm_memcpy3d_operand_ptr *p = &operand->op.ptr;
    if (operand->type == VMM_MEMCPY_OPERAND_TYPE_ARRAY) /* whose bounds are checked when its turn comes */
        return VMM_SUCCESS;
    if (operand->type != VMM_MEMCPY_OPERAND_TYPE_POINTER)
        return REFUSE(BATCH_OPERAND, "opList", (uint64_t)operand->type, "opList[%llu].%s.type is %d", at, which, operand->type);
    const bool rows = p->row_length && p->row_length < extent->width, layers = p->layer_height && p->layer_height < extent->height;
    if (rows || layers)
        return REFUSE(BATCH_OPERAND, "opList", rows ? p->row_length : p->layer_height,
                      "opList[%llu].%s has rows of %" PRIu64 " and layers of %" PRIu64 ", for %" PRIu64 " by %" PRIu64, at, which,
                      p->row_length, p->layer_height, extent->width, extent->height);
    return VMM_SUCCESS;
}

static vmm_result check_box(const vmm_memcpy3d_batch_op *op, uint64_t i)
{
    const unsigned long long at = i;
    if (!op->extent.width || !op->extent.height || !op->extent.depth)
        return REFUSE(BATCH_SIZE, "opList", 0, "opList[%llu] is %" PRIu64 " by %" PRIu64 " by %" PRIu64, at, op->extent.width,
                      op->extent.height, op->extent.depth);
    if (!is_order(op->src_access_order))
        return REFUSE(BATCH_ATTRIBUTES, "opList", (uint64_t)op->src_access_order, "opList[%llu].srcAccessOrder is %d", at,
                      op->src_access_order);
    if (op->flags & ~(unsigned)VMM_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
        return REFUSE(BATCH_ATTRIBUTES, "opList", op->flags, "opList[%llu].flags is 0x%x", at, op->flags);
    vmm_result result = check_operand(&op->src, &op->extent, i, "src");
    return result == VMM_SUCCESS ? check_operand(&op->dst, &op->extent, i, "dst") : result;
}

/* *failed: the index of the box that failed, if any. */
static vmm_result check_boxes(const struct sim_process *process, const struct vmm_call_memcpy_3d_batch_async *batch, uint64_t *failed)
{
    vmm_result result = check_stream(process, batch->stream);
    if (result != VMM_SUCCESS)
        return result;
    if (!batch->num_ops)
        return REFUSE(BATCH_ARGUMENTS, "numOps", 0, "numOps is 0");
    if (!batch->op_list)
        return REFUSE(BATCH_ARGUMENTS, "opList", 0, "opList is NULL");
    if (batch->flags)
        return REFUSE(BATCH_ARGUMENTS, "flags", batch->flags, "flags is not 0");
    for (uint64_t i = 0; i < batch->num_ops && result == VMM_SUCCESS; i++) {
        result = check_box(&batch->op_list[i], i);
        if (result != VMM_SUCCESS)
            *failed = i;
    }
    return result;
}

/* ---- copies ---- */

/* An address that the machine has assigned is a device address; any other belongs to the host. */
static bool is_of_device(const struct sim_process *process, uint64_t address)
{
    return sim_reservation_at(process, address) || sim_allocation_at(process, address);
}

static vmm_result copy_hosts(struct sim_process *process, vmm_stream stream, uint64_t dst, uint64_t src, uint64_t size)
{
    enum { FIRST_PAGE = 4096 };
    if (dst < FIRST_PAGE || src < FIRST_PAGE)
        return REFUSE(COPY_NULL, dst < FIRST_PAGE ? "dsts" : "srcs", dst < FIRST_PAGE ? dst : src,
                      "from 0x%llx to 0x%llx: one is not an address", (unsigned long long)src, (unsigned long long)dst);
    return copy_between_hosts(process, stream, dst, src, size);
}

static vmm_result copy_one(struct sim_process *process, const struct vmm_call *head, const struct vmm_call_memcpy_batch_async *batch,
                           uint64_t i)
{
    const uint64_t dst = batch->dsts[i], src = batch->srcs[i], size = batch->sizes[i], number = head->number;
    const bool to = is_of_device(process, dst), from = is_of_device(process, src);
    union vmm_any_call call;
    if (!size)
        return REFUSE(BATCH_SIZE, "sizes", 0, "sizes[%llu] is 0", (unsigned long long)i);
    vmm_result result = rows_check_pinned(dst, size, true, "dsts");
    if (result == VMM_SUCCESS)
        result = rows_check_pinned(src, size, false, "srcs");
    if (result != VMM_SUCCESS)
        return result;
    if (!to && !from)
        return copy_hosts(process, batch->stream, dst, src, size);
    if (to && from)
        call.memcpy_dtod_async =
            (struct vmm_call_memcpy_dtod_async){{VMM_CALL_memcpy_dtod_async, number}, dst, src, size, batch->stream};
    else if (to)
        call.memcpy_htod_async = (struct vmm_call_memcpy_htod_async){
            {VMM_CALL_memcpy_htod_async, number}, dst, (const void *)(uintptr_t)src, size, batch->stream};
    else
        call.memcpy_dtoh_async = (struct vmm_call_memcpy_dtoh_async){
            {VMM_CALL_memcpy_dtoh_async, number}, (void *)(uintptr_t)dst, src, size, batch->stream};
    return copy_on_stream(process, &call.head, batch->stream, NULL, (enum vmm_call_id)head->id);
}

static vmm_result copy_all(struct sim_process *process, const struct vmm_call *head, const struct vmm_call_memcpy_batch_async *batch,
                           uint64_t *failed)
{
    sim_machine_lock_to_wait(process->machine);
    vmm_result result = check_there(batch->stream);
    if (result != VMM_SUCCESS)
        return result;
    *failed = NOWHERE;
    result = check_batch(process, batch);
    if (result == VMM_SUCCESS)
        result = capture_holds_no(process, batch->stream, "batch");
    for (uint64_t i = 0; i < batch->count && result == VMM_SUCCESS; i++) {
        result = copy_one(process, head, batch, i);
        if (result != VMM_SUCCESS)
            *failed = i;
    }
    return result;
}

/* The unit of a box: elements of its array, or bytes. */
static struct array_block unit_of(const struct sim_process *process, const vmm_memcpy3d_batch_op *op)
{
    struct rows_array array;
    const vmm_memcpy3d_operand *sides[] = {&op->src, &op->dst};
    for (int i = 0; i < 2; i++)
        if (sides[i]->type == VMM_MEMCPY_OPERAND_TYPE_ARRAY && rows_array_of(process, sides[i]->op.array.array, &array))
            return array.block;
    return (struct array_block){1, 1, 1};
}

static size_t bytes_of(struct array_block unit, size_t elements)
{
    return (elements / unit.width + (elements % unit.width != 0)) * unit.bytes;
}

static size_t rows_of(struct array_block unit, size_t elements)
{
    return elements / unit.height + (elements % unit.height != 0);
}

/* What a box says of a side. */
struct box_side {
    vmm_memorytype type;
    vmm_array array;
    vmm_deviceptr at;
    size_t x, y, z, pitch, height;
};

static struct box_side side_of(const vmm_memcpy3d_operand *operand, const struct vmm_extent3d *extent, struct array_block unit)
{
    const struct vmm_memcpy3d_operand_ptr *p = &operand->op.ptr;
    const struct vmm_memcpy3d_operand_array *a = &operand->op.array;
    if (operand->type == VMM_MEMCPY_OPERAND_TYPE_ARRAY)
        return (struct box_side){.type = VMM_MEMORYTYPE_ARRAY, .array = a->array, .x = bytes_of(unit, a->x), .y = rows_of(unit, a->y), .z = a->z};
    return (struct box_side){.type = VMM_MEMORYTYPE_UNIFIED, .at = p->ptr,
                             .pitch = bytes_of(unit, p->row_length ? p->row_length : extent->width),
                             .height = rows_of(unit, p->layer_height ? p->layer_height : extent->height)};
}

static vmm_memcpy3d box_of(const struct sim_process *process, const vmm_memcpy3d_batch_op *op)
{
    const struct array_block unit = unit_of(process, op);
    const struct box_side src = side_of(&op->src, &op->extent, unit), dst = side_of(&op->dst, &op->extent, unit);
    return (vmm_memcpy3d){.src_memory_type = src.type, .src_array = src.array, .src_device = src.at, .src_x_in_bytes = src.x,
                          .src_y = src.y, .src_z = src.z, .src_pitch = src.pitch, .src_height = src.height,
                          .dst_memory_type = dst.type, .dst_array = dst.array, .dst_device = dst.at, .dst_x_in_bytes = dst.x,
                          .dst_y = dst.y, .dst_z = dst.z, .dst_pitch = dst.pitch, .dst_height = dst.height,
                          .width_in_bytes = bytes_of(unit, op->extent.width), .height = rows_of(unit, op->extent.height),
                          .depth = op->extent.depth};
}

/* The index of a box that its memory refuses is not returned, as recorded. */
static vmm_result copy_all_boxes(struct sim_process *process, const struct vmm_call *head,
                                 const struct vmm_call_memcpy_3d_batch_async *batch, uint64_t *failed)
{
    sim_machine_lock_to_wait(process->machine);
    vmm_result result = check_there(batch->stream);
    if (result == VMM_SUCCESS)
        result = capture_holds_no(process, batch->stream, "batch");
    if (result != VMM_SUCCESS)
        return result;
    *failed = NOWHERE;
    result = check_boxes(process, batch, failed);
    for (uint64_t i = 0; i < batch->num_ops && result == VMM_SUCCESS; i++) {
        const vmm_memcpy3d box = box_of(process, &batch->op_list[i]);
        result = copy_box_on_stream(process, head, &box, batch->stream);
    }
    return result;
}

/* ---- the calls: both forms ---- */

vmm_result sim_memcpy_batch_async(struct sim_process *process, const struct vmm_call_memcpy_batch_async *call)
{
    uint64_t unasked;
    return copy_all(process, &call->head, call, &unasked);
}

vmm_result sim_memcpy_batch_async_v1(struct sim_process *process, const struct vmm_call_memcpy_batch_async_v1 *call)
{
    uint64_t unasked;
    const struct vmm_call_memcpy_batch_async batch = {call->head,  call->dsts,       call->srcs,      call->sizes, call->count,
                                                      call->attrs, call->attrs_idxs, call->num_attrs, call->stream};
    return copy_all(process, &call->head, &batch, call->fail_idx ? call->fail_idx : &unasked);
}

vmm_result sim_memcpy_3d_batch_async(struct sim_process *process, const struct vmm_call_memcpy_3d_batch_async *call)
{
    uint64_t unasked;
    return copy_all_boxes(process, &call->head, call, &unasked);
}

vmm_result sim_memcpy_3d_batch_async_v1(struct sim_process *process, const struct vmm_call_memcpy_3d_batch_async_v1 *call)
{
    uint64_t unasked;
    const struct vmm_call_memcpy_3d_batch_async batch = {call->head, call->num_ops, call->op_list, call->flags, call->stream};
    return copy_all_boxes(process, &call->head, &batch, call->fail_idx ? call->fail_idx : &unasked);
}
