/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies and of boxes, in the forms of CUDA 12.8, which also say where they failed, and 13.0. Compiled for both default
 * streams.
 *
 *     checked first    the arguments and attributes of the batch; of boxes also each operand, its extent and flags
 *     then, in order   each copy as if it were called alone: where one is refused, those before it are made, as recorded
 */
#include "abi.h"
#include "abi_any_copy.h"
#include "abi_capture.h"
#include "abi_rows.h"

#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
#undef BATCH_FORM
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define BATCH_FORM(name) name##_ptsz
#else
#define BATCH_FORM(name) name
#endif

#define NOWHERE SIZE_MAX /* it failed, but not at one of the copies */

static const char batch_name[] = "cuMemcpyBatchAsync", boxes_name[] = "cuMemcpy3DBatchAsync";

/* What is checked even before cuInit: a batch has no default stream. */
static CUresult check_there(const char *function, CUstream stream)
{
    return stream ? CUDA_SUCCESS : abi_refuse(VMM_RULE_BATCH_STREAM, function, "hStream is NULL");
}

static CUresult check_batch_stream(const vmm_system *sys, const char *function, CUstream stream)
{
    if (!abi_query_current(sys))
        return abi_refuse(VMM_RULE_BATCH_STREAM, function, "no context is current");
    if (stream == CU_STREAM_LEGACY)
        return abi_refuse(VMM_RULE_BATCH_STREAM, function, "hStream is CU_STREAM_LEGACY");
    return CUDA_SUCCESS;
}

/* The capture goes on, as recorded. */
static CUresult check_capture(const char *function, CUstream stream)
{
    if (abi_capture_status(abi_stream(stream)) == CU_STREAM_CAPTURE_STATUS_NONE)
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_CAPTURE_FORBIDS, function, "no graph holds a batch");
}

static bool is_order(CUmemcpySrcAccessOrder order)
{
    return order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ||
           order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

static bool is_hint(const vmm_system *sys, const CUmemLocation *hint)
{
    if (hint->type == CU_MEM_LOCATION_TYPE_DEVICE)
        return hint->id >= 0 && hint->id < abi_query_profile(sys)->devices;
    return hint->type == CU_MEM_LOCATION_TYPE_NONE || hint->type == CU_MEM_LOCATION_TYPE_HOST ||
           hint->type == CU_MEM_LOCATION_TYPE_HOST_NUMA || hint->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

/* ---- ranges ---- */

struct batch {
    const CUdeviceptr *dsts, *srcs;
    const size_t *sizes, *indices;
    const CUmemcpyAttributes *attributes;
    size_t count, attribute_count;
};

static CUresult check_attribute(const vmm_system *sys, const struct batch *batch, size_t i)
{
    const CUmemcpyAttributes *a = &batch->attributes[i];
    const bool in_order = i ? batch->indices[i] > batch->indices[i - 1] : batch->indices[0] == 0;
    if (!in_order || batch->indices[i] >= batch->count)
        return abi_refuse(VMM_RULE_BATCH_ATTRIBUTES, batch_name, "attrsIdxs[%zu] is %zu", i, batch->indices[i]);
    if (!is_order(a->srcAccessOrder))
        return abi_refuse(VMM_RULE_BATCH_ATTRIBUTES, batch_name, "attrs[%zu].srcAccessOrder is %d", i, (int)a->srcAccessOrder);
    if (a->flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
        return abi_refuse(VMM_RULE_BATCH_ATTRIBUTES, batch_name, "attrs[%zu].flags is 0x%x", i, a->flags);
    if (!is_hint(sys, &a->srcLocHint) || !is_hint(sys, &a->dstLocHint))
        return abi_refuse(VMM_RULE_BATCH_ATTRIBUTES, batch_name, "a hint of attrs[%zu] is no location", i);
    return CUDA_SUCCESS;
}

static CUresult check_batch(const vmm_system *sys, const struct batch *batch, CUstream stream)
{
    CUresult result = check_batch_stream(sys, batch_name, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!batch->count || !batch->dsts || !batch->srcs || !batch->sizes || !batch->attributes || !batch->indices)
        return abi_refuse(VMM_RULE_BATCH_ARGUMENTS, batch_name, "%zu copies, and an array that is NULL: both are needed", batch->count);
    if (!batch->attribute_count || batch->attribute_count > batch->count)
        return abi_refuse(VMM_RULE_BATCH_ARGUMENTS, batch_name, "numAttrs is %zu for %zu copies", batch->attribute_count, batch->count);
    for (size_t i = 0; i < batch->attribute_count && result == CUDA_SUCCESS; i++)
        result = check_attribute(sys, batch, i);
    return result == CUDA_SUCCESS ? check_capture(batch_name, stream) : result;
}

static CUresult copy_batch(vmm_system *sys, const struct batch *batch, size_t *failed, CUstream stream)
{
    *failed = NOWHERE;
    CUresult result = check_batch(sys, batch, stream);
    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
        result = batch->sizes[i] ? abi_copy_any(sys, batch->dsts[i], batch->srcs[i], batch->sizes[i], abi_stream(stream))
                                 : abi_refuse(VMM_RULE_BATCH_SIZE, batch_name, "sizes[%zu] is 0", i);
        if (result != CUDA_SUCCESS)
            *failed = i;
    }
    return result;
}

#pragma GCC visibility push(default)
CUresult BATCH_FORM(cuMemcpyBatchAsync)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
                                        size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream);
CUresult BATCH_FORM(cuMemcpyBatchAsync_v2)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                           CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream);
CUresult BATCH_FORM(cuMemcpy3DBatchAsync)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                          unsigned long long flags, CUstream hStream);
CUresult BATCH_FORM(cuMemcpy3DBatchAsync_v2)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                             CUstream hStream);
#pragma GCC visibility pop

CUresult BATCH_FORM(cuMemcpyBatchAsync)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
                                        size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream)
{
    const struct batch batch = {dsts, srcs, sizes, attrsIdxs, attrs, count, numAttrs};
    size_t unasked;
    CUresult refused = check_there(batch_name, hStream);
    if (refused != CUDA_SUCCESS)
        return refused;
    ABI_INITIALISED(copy_batch(sys, &batch, failIdx ? failIdx : &unasked, hStream));
}

CUresult BATCH_FORM(cuMemcpyBatchAsync_v2)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                           CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream)
{
    const struct batch batch = {dsts, srcs, sizes, attrsIdxs, attrs, count, numAttrs};
    size_t unasked;
    CUresult refused = check_there(batch_name, hStream);
    if (refused != CUDA_SUCCESS)
        return refused;
    ABI_INITIALISED(copy_batch(sys, &batch, &unasked, hStream));
}

/* ---- boxes ---- */

static CUresult check_operand(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t i, const char *which)
{
    if (o->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
        return abi_refuse(VMM_RULE_BATCH_OPERAND, boxes_name, "opList[%zu].%s.type is %d: arrays are not simulated", i, which,
                          (int)o->type);
    if ((o->op.ptr.rowLength && o->op.ptr.rowLength < extent->width) ||
        (o->op.ptr.layerHeight && o->op.ptr.layerHeight < extent->height))
        return abi_refuse(VMM_RULE_BATCH_OPERAND, boxes_name, "opList[%zu].%s has rows of %zu and layers of %zu, for %zu by %zu", i,
                          which, o->op.ptr.rowLength, o->op.ptr.layerHeight, extent->width, extent->height);
    return CUDA_SUCCESS;
}

static CUresult check_box(const CUDA_MEMCPY3D_BATCH_OP *op, size_t i)
{
    if (!op->extent.width || !op->extent.height || !op->extent.depth)
        return abi_refuse(VMM_RULE_BATCH_SIZE, boxes_name, "opList[%zu] is %zu by %zu by %zu", i, op->extent.width,
                          op->extent.height, op->extent.depth);
    if (!is_order(op->srcAccessOrder))
        return abi_refuse(VMM_RULE_BATCH_ATTRIBUTES, boxes_name, "opList[%zu].srcAccessOrder is %d", i, (int)op->srcAccessOrder);
    if (op->flags & ~(unsigned)CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
        return abi_refuse(VMM_RULE_BATCH_ATTRIBUTES, boxes_name, "opList[%zu].flags is 0x%x", i, op->flags);
    CUresult result = check_operand(&op->src, &op->extent, i, "src");
    return result == CUDA_SUCCESS ? check_operand(&op->dst, &op->extent, i, "dst") : result;
}

static CUresult check_boxes(const vmm_system *sys, const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, unsigned long long flags,
                            CUstream stream, size_t *failed)
{
    CUresult result = check_batch_stream(sys, boxes_name, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count || !ops || flags)
        return abi_refuse(VMM_RULE_BATCH_ARGUMENTS, boxes_name, "%zu boxes at %p, flags 0x%llx", count, (const void *)ops, flags);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = check_box(&ops[i], i);
        if (result != CUDA_SUCCESS)
            *failed = i;
    }
    return result;
}

static uint64_t or_all(size_t given, size_t all)
{
    return given ? given : all;
}

static vmm_memcpy3d batch_box_of(const CUDA_MEMCPY3D_BATCH_OP *op)
{
    const CUextent3D *extent = &op->extent;
    return (vmm_memcpy3d){
        .src_memory_type = VMM_MEMORYTYPE_UNIFIED, .src_device = op->src.op.ptr.ptr,
        .src_pitch = or_all(op->src.op.ptr.rowLength, extent->width), .src_height = or_all(op->src.op.ptr.layerHeight, extent->height),
        .dst_memory_type = VMM_MEMORYTYPE_UNIFIED, .dst_device = op->dst.op.ptr.ptr,
        .dst_pitch = or_all(op->dst.op.ptr.rowLength, extent->width), .dst_height = or_all(op->dst.op.ptr.layerHeight, extent->height),
        .width_in_bytes = extent->width, .height = extent->height, .depth = extent->depth};
}

static CUresult copy_boxes(vmm_system *sys, const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, unsigned long long flags,
                           size_t *failed, CUstream stream)
{
    CUresult result = check_capture(boxes_name, stream);
    if (result != CUDA_SUCCESS)
        return result;
    *failed = NOWHERE;
    result = check_boxes(sys, ops, count, flags, stream, failed);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const vmm_memcpy3d box = batch_box_of(&ops[i]);
        result = abi_copy_box(sys, &box, abi_stream(stream), false);
    }
    return result;
}

CUresult BATCH_FORM(cuMemcpy3DBatchAsync)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
                                          unsigned long long flags, CUstream hStream)
{
    size_t unasked;
    CUresult refused = check_there(boxes_name, hStream);
    if (refused != CUDA_SUCCESS)
        return refused;
    ABI_INITIALISED(copy_boxes(sys, opList, numOps, flags, failIdx ? failIdx : &unasked, hStream));
}

CUresult BATCH_FORM(cuMemcpy3DBatchAsync_v2)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                             CUstream hStream)
{
    size_t unasked;
    CUresult refused = check_there(boxes_name, hStream);
    if (refused != CUDA_SUCCESS)
        return refused;
    ABI_INITIALISED(copy_boxes(sys, opList, numOps, flags, &unasked, hStream));
}
