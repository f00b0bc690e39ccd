/* SPDX-License-Identifier: Apache-2.0 */
#include "rt_layers.h"

#include "rt_address.h"
#include "rt_array.h"

bool rt_sides(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to)
{
    static const CUmemorytype types[][2] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
    };
    if ((unsigned)kind > cudaMemcpyDefault)
        return false;
    *from = types[kind][0];
    *to = types[kind][1];
    return true;
}

/* Converts elements to the driver's units: bytes in a row, and rows. The toolkit's library passes wrapped sizes to
 * the driver, too. */
static void in_driver_units(const struct rt_element *element, bool up, size_t *x, size_t *y)
{
    *x = (*x / element->width + (up && *x % element->width)) * element->bytes;
    *y = *y / element->height + (up && *y % element->height);
}

static bool is_same(const struct rt_element *a, const struct rt_element *b)
{
    return a->bytes == b->bytes && a->width == b->width;
}

static cudaError_t scale(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *driver)
{
    struct rt_element from, to;
    cudaError_t result = rt_element(p->srcArray, &from);
    if (result == cudaSuccess)
        result = rt_element(p->dstArray, &to);
    if (result != cudaSuccess)
        return result;
    if (p->srcArray && p->dstArray && !is_same(&from, &to))
        return cudaErrorInvalidValue;
    /* a pointer's offset is in elements of the array on the other side */
    const struct rt_element *unit = p->srcArray ? &from : &to;
    in_driver_units(unit, false, &driver->srcXInBytes, &driver->srcY);
    in_driver_units(p->dstArray ? &to : unit, false, &driver->dstXInBytes, &driver->dstY);
    in_driver_units(unit, true, &driver->WidthInBytes, &driver->Height);
    return cudaSuccess;
}

/* The pitch of a pointer is compared with the elements of an array on the other side; the driver refuses too few bytes. */
static bool is_pitch(struct cudaPitchedPtr pitched, struct cudaExtent extent)
{
    const bool rows = extent.height > 1 || extent.depth > 1, layers = extent.depth > 1;
    const bool narrow = rows && extent.width > pitched.pitch, low = layers && extent.height > pitched.ysize;
    return !pitched.ptr || (!narrow && !low);
}

cudaError_t rt_layers(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *driver)
{
    *driver = (CUDA_MEMCPY3D){
        .srcXInBytes = p->srcPos.x, .srcY = p->srcPos.y, .srcZ = p->srcPos.z, .srcHost = p->srcPtr.ptr,
        .srcDevice = rt_address(p->srcPtr.ptr), .srcArray = rt_array(p->srcArray), .srcPitch = p->srcPtr.pitch,
        .srcHeight = p->srcPtr.ysize, .dstXInBytes = p->dstPos.x, .dstY = p->dstPos.y, .dstZ = p->dstPos.z, .dstHost = p->dstPtr.ptr,
        .dstDevice = rt_address(p->dstPtr.ptr), .dstArray = rt_array(p->dstArray), .dstPitch = p->dstPtr.pitch,
        .dstHeight = p->dstPtr.ysize, .WidthInBytes = p->extent.width, .Height = p->extent.height, .Depth = p->extent.depth};
    if (!rt_sides(p->kind, &driver->srcMemoryType, &driver->dstMemoryType))
        return cudaErrorInvalidMemcpyDirection;
    if ((p->srcArray && p->srcPtr.ptr) || (p->dstArray && p->dstPtr.ptr))
        return cudaErrorInvalidValue;
    if (p->srcArray && driver->srcMemoryType == CU_MEMORYTYPE_HOST) /* for a destination the kind is ignored */
        return cudaErrorInvalidValue;
    if (p->srcArray)
        driver->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    if (p->dstArray)
        driver->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    cudaError_t result = scale(p, driver);
    if (result == cudaSuccess && (!is_pitch(p->srcPtr, p->extent) || !is_pitch(p->dstPtr, p->extent)))
        result = cudaErrorInvalidPitchValue;
    return result;
}
