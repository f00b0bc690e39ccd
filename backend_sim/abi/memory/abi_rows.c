/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_rows.h"

#include "abi_process.h"
#include "abi_registered.h"
#include "detail.h"
#include "rows.h"

static const char fill_name[] = "cuMemsetD2D";

/* Checks context and stream, as even an empty fill does. */
static CUresult check_stream(vmm_system *sys, vmm_stream stream)
{
    return (CUresult)vmm_memset_d8_async(sys, 0, 0, 0, stream);
}

static CUresult finish(vmm_system *sys, vmm_stream stream, bool waits)
{
    return waits ? (CUresult)vmm_stream_synchronize(sys, stream) : CUDA_SUCCESS;
}

/* ---- copies ---- */

/* A call of the API waits on the legacy stream; a wait for another one also waits for the fault of a row. */
static CUresult abi_copy_box(vmm_system *sys, const vmm_memcpy3d *box, vmm_stream stream, bool waits)
{
    if (waits && !stream)
        return (CUresult)vmm_memcpy_3d(sys, box);
    CUresult result = (CUresult)vmm_memcpy_3d_async(sys, box, stream);
    return result == CUDA_SUCCESS ? finish(sys, stream, waits) : result;
}

CUresult abi_copy_rows(vmm_system *sys, const CUDA_MEMCPY2D *asked, vmm_stream stream, bool waits)
{
    if (!asked)
        return abi_null("cuMemcpy2D", "pCopy");
    const vmm_memcpy3d box = {
        .src_x_in_bytes = asked->srcXInBytes, .src_y = asked->srcY, .src_memory_type = (int)asked->srcMemoryType,
        .src_host = asked->srcHost, .src_device = asked->srcDevice, .src_pitch = asked->srcPitch,
        .src_array = (vmm_array)(void *)asked->srcArray, .dst_array = (vmm_array)(void *)asked->dstArray,
        .dst_x_in_bytes = asked->dstXInBytes, .dst_y = asked->dstY, .dst_memory_type = (int)asked->dstMemoryType,
        .dst_host = asked->dstHost, .dst_device = asked->dstDevice, .dst_pitch = asked->dstPitch,
        .width_in_bytes = asked->WidthInBytes, .height = asked->Height, .depth = 1};
    return abi_copy_box(sys, &box, stream, waits);
}

CUresult abi_rows_reported(CUresult result, const char *function)
{
    if (result != CUDA_SUCCESS) {
        vmm_detail_here()->function = function;
        const vmm_detail detail = *vmm_last_detail();
        abi_report(NULL, &detail);
    }
    return result;
}

/* ---- fills ---- */

static vmm_result fill_row(vmm_system *sys, const struct abi_fill *fill, CUdeviceptr at, size_t width, vmm_stream stream)
{
    switch (fill->element) {
    case 1: return vmm_memset_d8_async(sys, at, (unsigned char)fill->value, width, stream);
    case 2: return vmm_memset_d16_async(sys, at, (unsigned short)fill->value, width, stream);
    default: return vmm_memset_d32_async(sys, at, fill->value, width, stream);
    }
}

static CUresult fill_registered(vmm_system *sys, const struct abi_fill *fill, const struct rows_side *side, vmm_stream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; row < fill->height && result == CUDA_SUCCESS; row++)
        result = abi_registered_fill(sys, side->start + row * side->pitch, fill->element, fill->value, fill->width, stream);
    return result;
}

/* Measured: the fault of a row is reported like that of a copy between devices, even when the fault of a fill of that few bytes
 * is not. So it is issued as such a copy. */
static CUresult let_fill_fault(vmm_system *sys, const struct abi_fill *fill, const struct rows_side *side, size_t row,
                               vmm_stream stream)
{
    CUdeviceptr at = side->start + row * side->pitch;
    const uint32_t number = (uint32_t)vmm_last_detail()->call;
    union vmm_any_call call;
    if (abi_query_strict(sys))
        return abi_rows_reported((CUresult)rows_refuse_row(side, row), fill_name);
    call.memcpy_dtod_async = (struct vmm_call_memcpy_dtod_async){
        {VMM_CALL_memcpy_dtod_async, number}, at, at, fill->width * fill->element, stream};
    return (CUresult)abi_query_issue(sys, &call, VMM_CALL_memset_d8_async, stream);
}

/* The pitch of a single row does not matter. */
static CUresult check_fill(const struct abi_fill *fill, const struct rows_side *side, size_t bytes)
{
    if (fill->start % fill->element)
        return abi_refuse(VMM_RULE_SET_ALIGNMENT, fill_name, "dstDevice, 0x%llx, is not a multiple of an element's %u bytes",
                          fill->start, fill->element);
    if (fill->height > 1 && (fill->pitch % fill->element || fill->pitch < bytes))
        return abi_refuse(VMM_RULE_ROWS_PITCH, fill_name,
                          "dstPitch is %zu: expected a multiple of an element's %u bytes that a row of %zu fits in", fill->pitch,
                          fill->element, bytes);
    if (side->left != UINT64_MAX && (fill->height - 1) * side->pitch + bytes > side->left)
        return abi_rows_reported((CUresult)rows_refuse_end(side), fill_name);
    return CUDA_SUCCESS;
}

/* Checks the range that a driver computes for the rows, then finds the first row without access; *row is fill->height if there
 * is none. */
static CUresult check_access(const vmm_system *sys, vmm_stream stream, const struct abi_fill *fill, const struct rows_side *side,
                             size_t bytes, uint64_t *row)
{
    const struct rows_extent rows = {bytes, fill->height, 1};
    struct sim_process *process = abi_process_lock(sys);
    struct sim_context *context;
    vmm_result result = sim_stream_context(process, stream, &context);
    if (result == VMM_SUCCESS)
        result = rows_check_span(process, context->device, side, &rows, TRANSLATE_FILL);
    if (result != VMM_SUCCESS || !bytes || !rows_bad_row(process, context->device, side, bytes, fill->height, TRANSLATE_FILL, row))
        *row = fill->height;
    abi_process_unlock(process);
    return abi_rows_reported((CUresult)result, fill_name);
}

static CUresult fill_memory(vmm_system *sys, const struct abi_fill *fill, const struct rows_side *side, size_t bytes,
                            vmm_stream stream, bool waits)
{
    uint64_t bad;
    CUresult result = check_access(sys, stream, fill, side, bytes, &bad);
    if (result != CUDA_SUCCESS)
        return result;
    if (!bytes || (side->pitch != bytes && bytes / fill->element != fill->width)) /* rows of more than 2^64 bytes: no fill */
        return finish(sys, stream, waits);
    if (side->pitch == bytes && fill->height > 1) { /* one range, whose size wraps like that of a plain fill */
        result = (CUresult)fill_row(sys, fill, side->start, fill->width * fill->height, stream);
        return result == CUDA_SUCCESS ? finish(sys, stream, waits) : result;
    }
    if (bad < fill->height)
        return let_fill_fault(sys, fill, side, bad, stream);
    for (size_t row = 0; row < fill->height && result == CUDA_SUCCESS; row++)
        result = (CUresult)fill_row(sys, fill, side->start + row * side->pitch, fill->width, stream);
    return result == CUDA_SUCCESS ? finish(sys, stream, waits) : result;
}

static struct rows_side side_of(const vmm_system *sys, const struct abi_fill *fill, size_t pitch)
{
    struct rows_side side = {
        .argument = "dstDevice", .base = fill->start, .start = fill->start, .given = pitch, .pitch = pitch};
    struct sim_process *process = abi_process_lock(sys);
    rows_look_up(process, fill->start, &side);
    abi_process_unlock(process);
    return side;
}

CUresult abi_fill_rows(vmm_system *sys, const struct abi_fill *fill, vmm_stream stream, bool waits)
{
    CUresult result = check_stream(sys, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!fill->width || !fill->height)
        return finish(sys, stream, waits);
    size_t bytes = fill->width * fill->element; /* modulo 2^64, as in the driver */
    size_t pitch = fill->height > 1 ? fill->pitch : bytes;
    struct rows_side side = side_of(sys, fill, pitch);
    result = check_fill(fill, &side, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    bool host = side.host && side.left != UINT64_MAX;
    return host ? fill_registered(sys, fill, &side, stream) : fill_memory(sys, fill, &side, bytes, stream, waits);
}
