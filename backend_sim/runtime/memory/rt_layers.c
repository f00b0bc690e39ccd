/* SPDX-License-Identifier: Apache-2.0 */
#include "rt_layers.h"

#include "rt_address.h"

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

cudaError_t rt_side(cudaArray_t array, struct cudaPitchedPtr pitched, struct cudaExtent extent, CUmemorytype *type)
{
    if (array) {
        *type = CU_MEMORYTYPE_ARRAY;
        return pitched.ptr ? cudaErrorInvalidValue : cudaSuccess;
    }
    const bool rows = extent.height > 1 || extent.depth > 1, layers = extent.depth > 1;
    const bool narrow = rows && extent.width > pitched.pitch, low = layers && extent.height > pitched.ysize;
    return pitched.ptr && (narrow || low) ? cudaErrorInvalidPitchValue : cudaSuccess;
}

cudaError_t rt_layers(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *driver)
{
    *driver = (CUDA_MEMCPY3D){
        .srcXInBytes = p->srcPos.x, .srcY = p->srcPos.y, .srcZ = p->srcPos.z, .srcHost = p->srcPtr.ptr,
        .srcDevice = rt_address(p->srcPtr.ptr), .srcArray = (CUarray)(void *)p->srcArray, .srcPitch = p->srcPtr.pitch,
        .srcHeight = p->srcPtr.ysize, .dstXInBytes = p->dstPos.x, .dstY = p->dstPos.y, .dstZ = p->dstPos.z, .dstHost = p->dstPtr.ptr,
        .dstDevice = rt_address(p->dstPtr.ptr), .dstArray = (CUarray)(void *)p->dstArray, .dstPitch = p->dstPtr.pitch,
        .dstHeight = p->dstPtr.ysize, .WidthInBytes = p->extent.width, .Height = p->extent.height, .Depth = p->extent.depth};
    if (!rt_sides(p->kind, &driver->srcMemoryType, &driver->dstMemoryType))
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t result = rt_side(p->srcArray, p->srcPtr, p->extent, &driver->srcMemoryType);
    return result == cudaSuccess ? rt_side(p->dstArray, p->dstPtr, p->extent, &driver->dstMemoryType) : result;
}
