/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from and to arrays: of rows, and of bytes, which continue in the array's next row. Offsets and widths are in
 * bytes, as in the driver. Compiled for both default streams.
 *
 *     cudaMemcpyToArray(a, 2, 1, p, 12, ...), rows of 8 bytes:    . . . . . . . .      as up to three copies of rows: what is left of
 *                                                                 . . p p p p p p      the first row, the whole rows, the rest
 *                                                                 p p p p p p . .
 *
 * The array is on a device. Source: CUDA Runtime API, version 13.0: 6.9 and 6.10 Memory Management. */
#include "rt_address.h"
#include "rt_array.h"

/* One side of a copy: a position in an array whose rows have `row` bytes, or an address with row 0. */
struct side {
    cudaArray_const_t array;
    size_t x, y, row;
    const char *pointer;
    size_t pitch;
    CUmemorytype type;
};

static struct side in_array(cudaArray_const_t array, size_t x, size_t y)
{
    return (struct side){.array = array, .x = x, .y = y, .type = CU_MEMORYTYPE_ARRAY};
}

/* Fills in the address side of a copy whose other side is an array. False if the kind says that the array is not on a device. */
static bool at_address(const void *pointer, size_t pitch, enum cudaMemcpyKind kind, bool array_is_source, struct side *side)
{
    *side = (struct side){.pointer = pointer, .pitch = pitch};
    if (kind == cudaMemcpyDefault)
        side->type = CU_MEMORYTYPE_UNIFIED;
    else if (kind == cudaMemcpyDeviceToDevice)
        side->type = CU_MEMORYTYPE_DEVICE;
    else
        side->type = CU_MEMORYTYPE_HOST;
    return side->type != CU_MEMORYTYPE_HOST || kind == (array_is_source ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
}

static bool is_between_arrays(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

/* stream is NULL for calls without a stream. */
static cudaError_t copy_box(const struct side *to, const struct side *from, size_t width, size_t height, const cudaStream_t *stream)
{
    const CUDA_MEMCPY2D copy = {
        .srcXInBytes = from->x, .srcY = from->y, .srcMemoryType = from->type, .srcHost = from->pointer,
        .srcDevice = rt_address(from->pointer), .srcArray = rt_array(from->array), .srcPitch = from->pitch,
        .dstXInBytes = to->x, .dstY = to->y, .dstMemoryType = to->type, .dstHost = rt_pointer(rt_address(to->pointer)),
        .dstDevice = rt_address(to->pointer), .dstArray = rt_array(to->array), .dstPitch = to->pitch,
        .WidthInBytes = width, .Height = height};
    return stream ? DRIVER(cuMemcpy2DAsync, &copy, *stream) : DRIVER(cuMemcpy2DUnaligned, &copy);
}

/* ---- rows ---- */

/* For a NULL array the driver returns INVALID_VALUE. A copy between arrays lets the driver check the destination. */
static cudaError_t copy_array_rows(const struct side *array, const struct side *to, const struct side *from, size_t width,
                                   size_t height, const cudaStream_t *stream)
{
    return array->array ? copy_box(to, from, width, height, stream) : cudaErrorInvalidResourceHandle;
}

static cudaError_t rows_to(struct side to, const void *src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                           const cudaStream_t *stream)
{
    struct side from;
    if (!width || !height)
        return cudaSuccess;
    if (height > 1 && width > spitch)
        return cudaErrorInvalidPitchValue;
    return at_address(src, spitch, kind, false, &from) ? copy_array_rows(&to, &to, &from, width, height, stream)
                                                       : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t rows_from(void *dst, size_t dpitch, struct side from, size_t width, size_t height, enum cudaMemcpyKind kind,
                             const cudaStream_t *stream)
{
    struct side to;
    if (!width || !height)
        return cudaSuccess;
    if (height > 1 && width > dpitch)
        return cudaErrorInvalidPitchValue;
    return at_address(dst, dpitch, kind, true, &to) ? copy_array_rows(&from, &to, &from, width, height, stream)
                                                    : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t rows_between(struct side to, struct side from, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    if (!width || !height)
        return cudaSuccess;
    return is_between_arrays(kind) ? copy_array_rows(&from, &to, &from, width, height, NULL) : cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind)
{
    RT(rows_to(in_array(dst, wOffset, hOffset), src, spitch, width, height, kind, NULL));
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RT(rows_to(in_array(dst, wOffset, hOffset), src, spitch, width, height, kind, &stream));
}

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
                                  size_t height, enum cudaMemcpyKind kind)
{
    RT(rows_from(dst, dpitch, in_array(src, wOffset, hOffset), width, height, kind, NULL));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RT(rows_from(dst, dpitch, in_array(src, wOffset, hOffset), width, height, kind, &stream));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src, size_t wOffsetSrc,
                                     size_t hOffsetSrc, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    RT(rows_between(in_array(dst, wOffsetDst, hOffsetDst), in_array(src, wOffsetSrc, hOffsetSrc), width, height, kind));
}

/* ---- bytes ---- */

/* A NULL pointer is refused by the driver. */
static void advance(struct side *side, size_t bytes)
{
    if (!side->row) {
        side->pointer = (const char *)((uintptr_t)side->pointer + bytes);
        return;
    }
    side->x += bytes;
    side->y += side->x / side->row;
    side->x %= side->row;
}

/* Queries the rows of a side's array, which must have count bytes from the position on. A position at the end of a
 * row is the start of the next one. */
static cudaError_t find_rows(struct side *side, size_t count)
{
    size_t rows = 0;
    if (side->type != CU_MEMORYTYPE_ARRAY)
        return cudaSuccess;
    cudaError_t result = rt_array_rows(side->array, &side->row, &rows);
    if (result != cudaSuccess)
        return result;
    if (side->y >= rows || side->x > side->row || count > (rows - side->y) * side->row - side->x)
        return cudaErrorInvalidValue;
    advance(side, 0);
    return cudaSuccess;
}

static size_t at_most(size_t count, const struct side *side)
{
    return side->row && count > side->row - side->x ? side->row - side->x : count;
}

/* Whole rows are one copy if both sides are at the start of a row; else the rest of the shorter row. */
static cudaError_t copy_bytes(struct side to, struct side from, size_t count, const cudaStream_t *stream)
{
    cudaError_t result = find_rows(&to, count);
    if (result == cudaSuccess)
        result = find_rows(&from, count);
    const size_t row = to.row ? to.row : from.row;
    const bool alike = !to.row || !from.row || to.row == from.row;
    while (count && result == cudaSuccess) {
        const bool whole = alike && !to.x && !from.x && count > row;
        const size_t width = whole ? row : at_most(at_most(count, &to), &from), height = whole ? count / row : 1;
        to.pitch = from.pitch = row;
        result = copy_box(&to, &from, width, height, stream);
        advance(&to, width * height);
        advance(&from, width * height);
        count -= width * height;
    }
    return result;
}

/* Values outside cudaMemcpyKind succeed without copying; copies of rows refuse them. */
static bool is_kind(enum cudaMemcpyKind kind)
{
    return (unsigned)kind <= cudaMemcpyDefault;
}

static cudaError_t bytes_to(struct side to, const void *src, size_t count, enum cudaMemcpyKind kind, const cudaStream_t *stream)
{
    struct side from;
    if (!count || !is_kind(kind))
        return cudaSuccess;
    return at_address(src, 0, kind, false, &from) ? copy_bytes(to, from, count, stream) : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t bytes_from(void *dst, struct side from, size_t count, enum cudaMemcpyKind kind, const cudaStream_t *stream)
{
    struct side to;
    if (!count || !is_kind(kind))
        return cudaSuccess;
    return at_address(dst, 0, kind, true, &to) ? copy_bytes(to, from, count, stream) : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t bytes_between(struct side to, struct side from, size_t count, enum cudaMemcpyKind kind)
{
    if (!count)
        return cudaSuccess;
    return is_between_arrays(kind) ? copy_bytes(to, from, count, NULL) : cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    RT(bytes_to(in_array(dst, wOffset, hOffset), src, count, kind, NULL));
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RT(bytes_to(in_array(dst, wOffset, hOffset), src, count, kind, &stream));
}

cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count, enum cudaMemcpyKind kind)
{
    RT(bytes_from(dst, in_array(src, wOffset, hOffset), count, kind, NULL));
}

cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RT(bytes_from(dst, in_array(src, wOffset, hOffset), count, kind, &stream));
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src, size_t wOffsetSrc,
                                   size_t hOffsetSrc, size_t count, enum cudaMemcpyKind kind)
{
    RT(bytes_between(in_array(dst, wOffsetDst, hOffsetDst), in_array(src, wOffsetSrc, hOffsetSrc), count, kind));
}
