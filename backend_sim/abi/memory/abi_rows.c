/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_rows.h"

#include <string.h>

#include "abi_graph_alloc.h"
#include "abi_host.h"
#include "abi_registered.h"
#include "detail.h"

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

/* ---- one side of a copy ---- */

/* Rows of width bytes: the first one begins at start, each later one pitch bytes after the one before, modulo 2^64; layers of rows
 * alike, layer bytes apart. */
struct side {
    const char *argument;
    bool host;
    bool planned; /* it is memory that a graph will allocate */
    CUdeviceptr base, start;
    size_t given, pitch; /* given: the caller's pitch; 0 means that rows are adjacent */
    size_t given_rows, layer; /* given_rows: the caller's height of a layer */
    /* bytes from base to the end of the allocation or registered range; UINT64_MAX: the driver knows no end */
    uint64_t left;
};

/* What the caller declares about a side, with its name. */
struct declared {
    const char *argument;
    CUmemorytype type;
    CUdeviceptr device;
    const void *host;
    size_t x, y, z, pitch, rows; /* rows: from one layer to the next */
};

/* The size of what is copied: rows of width bytes, height of them in a layer. */
struct extent {
    const char *function;
    size_t width, height, depth;
    bool of_node; /* memory that the node's graph will allocate counts */
};

static CUresult refuse_side(const struct extent *size, const struct declared *d, const char *what, unsigned long long value)
{
    return abi_refuse(VMM_RULE_ROWS_MEMORY, size->function, "%s: 0x%llx %s", d->argument, value, what);
}

/* What the driver knows about the memory at a side's base. */
static enum abi_query_there look_up(const vmm_system *sys, CUdeviceptr base, bool of_node, struct side *side)
{
    struct abi_host_range range;
    uint64_t left = UINT64_MAX;
    enum abi_query_there there = abi_query_there(sys, base, &left);
    bool pinned = abi_host_find(base, 1, &range);
    uint64_t planned = of_node && there == ABI_QUERY_NOTHING && !pinned ? abi_memory_planned(base, false) : 0;
    side->planned = planned != 0;
    if (planned) {
        there = ABI_QUERY_ALLOCATED;
        left = planned;
    }
    side->host = pinned ? range.registered : there != ABI_QUERY_MAPPED && there != ABI_QUERY_ALLOCATED;
    side->left = pinned ? range.start + range.size - base : left;
    return pinned ? ABI_QUERY_ALLOCATED : there;
}

/* The driver treats mapped memory as what it is, whatever the declared type; any other memory must have the declared type. */
static CUresult check_type(const vmm_system *sys, const struct extent *size, const struct declared *d, CUdeviceptr base,
                           struct side *side)
{
    enum abi_query_there there = look_up(sys, base, size->of_node, side);
    if (d->type == CU_MEMORYTYPE_ARRAY)
        return refuse_side(size, d, "is no array: arrays are not simulated", 0);
    if (there == ABI_QUERY_MAPPED)
        return CUDA_SUCCESS;
    if (d->type != CU_MEMORYTYPE_HOST && d->type != CU_MEMORYTYPE_DEVICE && d->type != CU_MEMORYTYPE_UNIFIED)
        return refuse_side(size, d, "is no memory type: expected HOST, DEVICE or UNIFIED", (unsigned long long)d->type);
    if (there == ABI_QUERY_ALLOCATED)
        return CUDA_SUCCESS;
    if (!base || abi_query_backed(sys, base, 1))
        return refuse_side(size, d, "is an address where nothing is mapped", base);
    if (d->type == CU_MEMORYTYPE_DEVICE)
        return refuse_side(size, d, "is memory of the host that is not registered: declare it as CU_MEMORYTYPE_HOST", base);
    return CUDA_SUCCESS;
}

/* For mapped memory the driver does not compare x with the pitch, as recorded. */
static CUresult check_pitch(const struct extent *size, const struct declared *d, const struct side *side)
{
    bool x_counts = side->host || side->left != UINT64_MAX;
    if (!d->pitch || (size->width <= d->pitch && (!x_counts || d->x <= d->pitch - size->width)))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_ROWS_PITCH, size->function, "%s: a row of %zu bytes from %zu on is longer than the pitch, %zu",
                      d->argument, size->width, d->x, d->pitch);
}

static CUresult check_rows(const struct extent *size, const struct declared *d, const struct side *side)
{
    bool y_counts = side->host || side->left != UINT64_MAX;
    if (!d->rows || (size->height <= d->rows && (!y_counts || d->y <= d->rows - size->height)))
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_BOX_HEIGHT, size->function, "%s: %zu rows from %zu on are more than the height of a layer, %zu",
                      d->argument, size->height, d->y, d->rows);
}

/* From the start of the first row to the end of the last one, modulo 2^64, as in the driver. */
static uint64_t span_of(const struct extent *size, size_t pitch, size_t layer)
{
    return (size->depth - 1) * layer + (size->height - 1) * pitch + size->width;
}

static CUresult check_end(const struct extent *size, const struct declared *d, const struct side *side)
{
    uint64_t end = side->start - side->base + span_of(size, side->pitch, side->layer);
    if (side->left == UINT64_MAX || end <= side->left)
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_ROWS_END, size->function, "%s: rows end 0x%llx bytes behind 0x%llx, the memory after 0x%llx",
                      d->argument, (unsigned long long)end, side->base, (unsigned long long)side->left);
}

static CUresult resolve(const vmm_system *sys, const struct extent *size, const struct declared *d, struct side *side)
{
    CUdeviceptr base = d->type == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)d->host : d->device;
    size_t pitch = d->pitch ? d->pitch : d->x + size->width, rows = d->rows ? d->rows : d->y + size->height;
    *side = (struct side){.argument = d->argument, .base = base, .start = base + (d->z * rows + d->y) * pitch + d->x,
                          .given = d->pitch, .pitch = pitch, .given_rows = d->rows, .layer = rows * pitch};
    CUresult result = check_type(sys, size, d, base, side);
    if (result == CUDA_SUCCESS)
        result = check_pitch(size, d, side);
    if (result == CUDA_SUCCESS)
        result = check_rows(size, d, side);
    return result == CUDA_SUCCESS ? check_end(size, d, side) : result;
}

/* ---- the checked and the accessed memory ---- */

/* Checks the single range that a driver takes the rows for. */
static CUresult check_footprint(const vmm_system *sys, vmm_stream stream, const struct side *side, const struct extent *extent,
                                enum abi_query_use use)
{
    size_t size = span_of(extent, side->given, side->given_rows * side->given);
    if ((side->host && use != ABI_QUERY_FILL) || !size)
        return CUDA_SUCCESS;
    CUresult result = (CUresult)abi_query_range(sys, stream, extent->function, side->argument, side->base, size, use);
    if (result == CUDA_SUCCESS)
        return result;
    vmm_detail_note("%zu rows of %zu bytes, %zu apart, are looked at as the %zu bytes from 0x%llx on", extent->height * extent->depth,
                    extent->width, side->given, size, side->base);
    const vmm_detail detail = *vmm_last_detail();
    abi_report(NULL, &detail);
    return result;
}

enum { ROWS_SEEN = 4096 };

/* Finds the first row without access, of rows that do not wrap past the end of the address space. */
static bool bad_in_order(const vmm_system *sys, vmm_stream stream, const struct side *side, size_t width, size_t height,
                         enum abi_query_use use, size_t *row)
{
    const CUdeviceptr end = side->start + (height - 1) * side->pitch + width;
    uint64_t first;
    for (size_t next = 0;; next = *row + 1) { /* the first finding lies in a row or before the next one */
        CUdeviceptr at = side->start + next * side->pitch;
        if (!abi_query_unreachable(sys, stream, at, end - at, use, &first))
            return false;
        *row = (first - side->start) / side->pitch;
        if ((first - side->start) % side->pitch < width)
            return true;
    }
}

/* The same for rows that wrap; if there are many, they cannot all be mapped, and the last one stands for them. */
static bool bad_among(const vmm_system *sys, vmm_stream stream, const struct side *side, size_t width, size_t height,
                      enum abi_query_use use, size_t *row)
{
    uint64_t first;
    for (*row = 0; *row < height && *row < ROWS_SEEN; ++*row)
        if (abi_query_unreachable(sys, stream, side->start + *row * side->pitch, width, use, &first))
            return true;
    *row = height - 1;
    return height > ROWS_SEEN;
}

static bool bad_row(const vmm_system *sys, vmm_stream stream, const struct side *side, size_t width, size_t height,
                    enum abi_query_use use, size_t *row)
{
    if (side->host && use != ABI_QUERY_FILL)
        return false;
    bool wraps = width > SIZE_MAX - side->start || height - 1 > (SIZE_MAX - side->start - width) / side->pitch;
    return (wraps ? bad_among : bad_in_order)(sys, stream, side, width, height, use, row);
}

static CUresult fault_refused(const char *function, const struct side *side, size_t row)
{
    return abi_refuse(VMM_RULE_ROWS_END, function,
                      "%s: row %zu, at 0x%llx, leaves the memory that may be used; the driver starts such a call, and it faults",
                      side->argument, row, side->start + row * side->pitch);
}

/* A layer of a side. */
static struct side layer_of(const struct side *side, size_t layer)
{
    struct side one = *side;
    one.start += layer * side->layer;
    return one;
}

/* Finds the first row without access in the first layer that has one. The last layer is looked at first: if there are more than fit
 * in memory, it stands for all. */
static bool bad_layer(const vmm_system *sys, vmm_stream stream, const struct side *side, const struct extent *size,
                      enum abi_query_use use, size_t *layer, size_t *row)
{
    *layer = size->depth - 1;
    struct side one = layer_of(side, *layer);
    bool bad = bad_row(sys, stream, &one, size->width, size->height, use, row);
    if (side->host && use != ABI_QUERY_FILL)
        return false;
    if (bad && size->depth > ROWS_SEEN)
        return true;
    for (size_t i = 0; i < size->depth - 1; i++) {
        size_t first;
        one = layer_of(side, i);
        if (bad_row(sys, stream, &one, size->width, size->height, use, &first)) {
            *layer = i;
            *row = first;
            return true;
        }
    }
    return bad;
}

/* ---- copies ---- */

struct copy {
    struct side to, from;
    struct extent size;
    enum abi_query_use write, read;
    vmm_stream stream;
};

/* Moves bytes between two host ranges, at the call's turn in the stream. */
static CUresult move_host(vmm_system *sys, CUdeviceptr dst, CUdeviceptr src, size_t size, vmm_stream stream)
{
    CUresult result = (CUresult)vmm_stream_synchronize(sys, stream);
    if (result == CUDA_SUCCESS)
        memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, size);
    return result;
}

static CUresult copy_row(vmm_system *sys, const struct copy *copy, size_t layer, size_t row, size_t size)
{
    CUdeviceptr dst = copy->to.start + layer * copy->to.layer + row * copy->to.pitch;
    CUdeviceptr src = copy->from.start + layer * copy->from.layer + row * copy->from.pitch;
    if (!copy->to.host && !copy->from.host)
        return (CUresult)vmm_memcpy_dtod_async(sys, dst, src, size, copy->stream);
    if (!copy->to.host)
        return (CUresult)vmm_memcpy_htod_async(sys, dst, (const void *)(uintptr_t)src, size, copy->stream);
    if (!copy->from.host)
        return (CUresult)vmm_memcpy_dtoh_async(sys, (void *)(uintptr_t)dst, src, size, copy->stream);
    return move_host(sys, dst, src, size, copy->stream);
}

/* Issues only the row without access, so that a wait for it reports the fault. A copy to the host waits in either form. */
static CUresult let_fault(vmm_system *sys, const struct copy *copy, const struct side *side, size_t layer, size_t row)
{
    CUdeviceptr dst = copy->to.start + layer * copy->to.layer + row * copy->to.pitch;
    CUdeviceptr src = copy->from.start + layer * copy->from.layer + row * copy->from.pitch;
    const size_t width = copy->size.width;
    const uint32_t number = (uint32_t)vmm_last_detail()->call;
    union vmm_any_call call;
    if (abi_query_strict(sys)) {
        const struct side one = layer_of(side, layer);
        return fault_refused(copy->size.function, &one, row);
    }
    if (copy->from.host)
        call.memcpy_htod_async = (struct vmm_call_memcpy_htod_async){
            {VMM_CALL_memcpy_htod_async, number}, dst, (const void *)(uintptr_t)src, width, copy->stream};
    else if (copy->to.host)
        call.memcpy_dtoh_async = (struct vmm_call_memcpy_dtoh_async){
            {VMM_CALL_memcpy_dtoh_async, number}, (void *)(uintptr_t)dst, src, width, copy->stream};
    else
        call.memcpy_dtod_async =
            (struct vmm_call_memcpy_dtod_async){{VMM_CALL_memcpy_dtod_async, number}, dst, src, width, copy->stream};
    CUresult result = (CUresult)abi_query_issue(sys, &call, (enum vmm_call_id)call.memcpy_dtod_async.head.id, copy->stream);
    return result == CUDA_SUCCESS ? finish(sys, copy->stream, copy->to.host) : result;
}

/* Rows that are adjacent on both sides are moved as one. */
static CUresult move_layer(vmm_system *sys, const struct copy *copy, size_t layer)
{
    const size_t width = copy->size.width, height = copy->size.height;
    CUresult result = CUDA_SUCCESS;
    if (copy->to.pitch == width && copy->from.pitch == width && height <= SIZE_MAX / width)
        return copy_row(sys, copy, layer, 0, width * height);
    for (size_t row = 0; row < height && result == CUDA_SUCCESS; row++)
        result = copy_row(sys, copy, layer, row, width);
    return result;
}

static CUresult move_layers(vmm_system *sys, const struct copy *copy, bool waits)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t layer = 0; layer < copy->size.depth && result == CUDA_SUCCESS; layer++)
        result = move_layer(sys, copy, layer);
    return result == CUDA_SUCCESS ? finish(sys, copy->stream, waits) : result;
}

static CUresult sides_of(const vmm_system *sys, const struct abi_box *asked, struct copy *copy)
{
    const struct declared from = {"src", asked->from.type, asked->from.device, asked->from.host, asked->from.x,
                                  asked->from.y, asked->from.z, asked->from.pitch, asked->from.rows};
    const struct declared to = {"dst", asked->to.type, asked->to.device, asked->to.host, asked->to.x,
                                asked->to.y, asked->to.z, asked->to.pitch, asked->to.rows};
    CUresult result = resolve(sys, &copy->size, &from, &copy->from);
    if (result == CUDA_SUCCESS)
        result = resolve(sys, &copy->size, &to, &copy->to);
    copy->write = copy->from.host ? ABI_QUERY_FROM_HOST : ABI_QUERY_WRITE;
    copy->read = copy->to.host ? ABI_QUERY_TO_HOST : ABI_QUERY_READ;
    return result;
}

CUresult abi_copy_box(vmm_system *sys, const struct abi_box *asked, vmm_stream stream, bool waits)
{
    struct copy copy = {.size = {asked->function, asked->width, asked->height, asked->depth}, .stream = stream};
    size_t layer, row;
    CUresult result = check_stream(sys, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!asked->width || !asked->height || !asked->depth)
        return finish(sys, stream, waits);
    result = sides_of(sys, asked, &copy);
    if (result == CUDA_SUCCESS)
        result = abi_registered_check(asked->function, copy.to.base, 1, true);
    if (result == CUDA_SUCCESS)
        result = check_footprint(sys, stream, &copy.to, &copy.size, copy.write);
    if (result == CUDA_SUCCESS)
        result = check_footprint(sys, stream, &copy.from, &copy.size, copy.read);
    if (result != CUDA_SUCCESS)
        return result;
    if (bad_layer(sys, stream, &copy.to, &copy.size, copy.write, &layer, &row))
        return let_fault(sys, &copy, &copy.to, layer, row);
    if (bad_layer(sys, stream, &copy.from, &copy.size, copy.read, &layer, &row))
        return let_fault(sys, &copy, &copy.from, layer, row);
    return move_layers(sys, &copy, waits);
}

CUresult abi_copy_rows(vmm_system *sys, const CUDA_MEMCPY2D *asked, vmm_stream stream, bool waits)
{
    static const char name[] = "cuMemcpy2D";
    if (!asked)
        return abi_null(name, "pCopy");
    const struct abi_box box = {
        .function = name, .width = asked->WidthInBytes, .height = asked->Height, .depth = 1,
        .from = {asked->srcMemoryType, asked->srcDevice, asked->srcHost, asked->srcXInBytes, asked->srcY, 0, asked->srcPitch, 0},
        .to = {asked->dstMemoryType, asked->dstDevice, asked->dstHost, asked->dstXInBytes, asked->dstY, 0, asked->dstPitch, 0}};
    return abi_copy_box(sys, &box, stream, waits);
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

static CUresult fill_registered(vmm_system *sys, const struct abi_fill *fill, const struct side *side, vmm_stream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t row = 0; row < fill->height && result == CUDA_SUCCESS; row++)
        result = abi_registered_fill(sys, side->start + row * side->pitch, fill->element, fill->value, fill->width, stream);
    return result;
}

/* Measured: the fault of a row is reported like that of a copy between devices, also where the fault of a fill of so few bytes is
 * not. So it is issued as such a copy. */
static CUresult let_fill_fault(vmm_system *sys, const struct abi_fill *fill, const struct side *side, size_t row,
                               vmm_stream stream)
{
    CUdeviceptr at = side->start + row * side->pitch;
    const uint32_t number = (uint32_t)vmm_last_detail()->call;
    union vmm_any_call call;
    if (abi_query_strict(sys))
        return fault_refused(fill_name, side, row);
    call.memcpy_dtod_async = (struct vmm_call_memcpy_dtod_async){
        {VMM_CALL_memcpy_dtod_async, number}, at, at, fill->width * fill->element, stream};
    return (CUresult)abi_query_issue(sys, &call, VMM_CALL_memset_d8_async, stream);
}

/* The pitch of a single row does not matter. */
static CUresult check_fill(const struct abi_fill *fill, const struct side *side, size_t bytes)
{
    if (fill->start % fill->element)
        return abi_refuse(VMM_RULE_SET_ALIGNMENT, fill_name, "dstDevice, 0x%llx, is no multiple of an element's %u bytes",
                          fill->start, fill->element);
    if (fill->height > 1 && (fill->pitch % fill->element || fill->pitch < bytes))
        return abi_refuse(VMM_RULE_ROWS_PITCH, fill_name,
                          "dstPitch is %zu: expected a multiple of an element's %u bytes that a row of %zu fits in", fill->pitch,
                          fill->element, bytes);
    if (side->left != UINT64_MAX && (fill->height - 1) * side->pitch + bytes > side->left)
        return abi_refuse(VMM_RULE_ROWS_END, fill_name, "rows from 0x%llx on leave their memory, which ends 0x%llx bytes later",
                          fill->start, (unsigned long long)side->left);
    return CUDA_SUCCESS;
}

static CUresult fill_memory(vmm_system *sys, const struct abi_fill *fill, const struct side *side, size_t bytes,
                            vmm_stream stream, bool waits)
{
    size_t row;
    const struct extent rows = {fill_name, bytes, fill->height, 1, false};
    CUresult result = check_footprint(sys, stream, side, &rows, ABI_QUERY_FILL);
    if (result != CUDA_SUCCESS)
        return result;
    if (!bytes || (side->pitch != bytes && bytes / fill->element != fill->width)) /* rows of more than 2^64 bytes: no fill */
        return finish(sys, stream, waits);
    if (side->pitch == bytes && fill->height > 1) { /* one range, whose size wraps like that of a plain fill */
        result = (CUresult)fill_row(sys, fill, side->start, fill->width * fill->height, stream);
        return result == CUDA_SUCCESS ? finish(sys, stream, waits) : result;
    }
    if (bad_row(sys, stream, side, bytes, fill->height, ABI_QUERY_FILL, &row))
        return let_fill_fault(sys, fill, side, row, stream);
    for (row = 0; row < fill->height && result == CUDA_SUCCESS; row++)
        result = (CUresult)fill_row(sys, fill, side->start + row * side->pitch, fill->width, stream);
    return result == CUDA_SUCCESS ? finish(sys, stream, waits) : result;
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
    struct side side = {.argument = "dstDevice", .base = fill->start, .start = fill->start, .given = pitch, .pitch = pitch};
    look_up(sys, fill->start, false, &side);
    result = check_fill(fill, &side, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    bool host = side.host && side.left != UINT64_MAX;
    return host ? fill_registered(sys, fill, &side, stream) : fill_memory(sys, fill, &side, bytes, stream, waits);
}

/* ---- checks alone ---- */

static CUresult check_range(const vmm_system *sys, int device, const char *function, const struct side *side, size_t size,
                            enum abi_query_use use)
{
    if (side->planned && size <= side->left)
        return CUDA_SUCCESS;
    CUresult result = (CUresult)abi_query_range_for(sys, device, function, side->argument, side->base, size, use);
    if (result != CUDA_SUCCESS) {
        const vmm_detail detail = *vmm_last_detail();
        abi_report(NULL, &detail);
    }
    return result;
}

CUresult abi_rows_check_fill(const vmm_system *sys, const char *function, int device, const struct abi_fill *fill)
{
    size_t bytes = fill->width * fill->element, pitch = fill->height > 1 ? fill->pitch : bytes;
    struct side side = {.argument = "dstDevice", .base = fill->start, .start = fill->start, .given = pitch, .pitch = pitch};
    look_up(sys, fill->start, true, &side);
    if (fill->height == 1 && !side.host && !side.planned) /* one range, whose end is checked as a plain fill's */
        side.left = UINT64_MAX;
    CUresult result = check_fill(fill, &side, bytes);
    if (result != CUDA_SUCCESS || (side.host && side.left != UINT64_MAX))
        return result;
    return check_range(sys, device, function, &side, (fill->height - 1) * pitch + bytes, ABI_QUERY_FILL);
}

CUresult abi_rows_check_copy(const vmm_system *sys, const char *function, int device, const CUDA_MEMCPY3D *p)
{
    const struct abi_box box = {
        .function = function, .width = p->WidthInBytes, .height = p->Height, .depth = p->Depth,
        .from = {p->srcMemoryType, p->srcDevice, p->srcHost, p->srcXInBytes, p->srcY, p->srcZ, p->srcPitch, p->srcHeight},
        .to = {p->dstMemoryType, p->dstDevice, p->dstHost, p->dstXInBytes, p->dstY, p->dstZ, p->dstPitch, p->dstHeight}};
    struct copy copy = {.size = {function, box.width, box.height, box.depth, .of_node = true}};
    CUresult result = sides_of(sys, &box, &copy);
    if (result == CUDA_SUCCESS)
        result = abi_registered_check(function, copy.to.base, 1, true);
    const struct side *sides[] = {&copy.to, &copy.from};
    const enum abi_query_use uses[] = {copy.write, copy.read};
    for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++) {
        const struct side *side = sides[i];
        if (!side->host)
            result = check_range(sys, device, function, side, span_of(&copy.size, side->given, side->given_rows * side->given),
                                 uses[i]);
    }
    return result;
}
