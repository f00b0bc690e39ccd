/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory and managed memory. Size 0 succeeds with NULL, although the driver refuses it.
 *
 * Source: CUDA Runtime API, version 13.0: 6.9 Memory Management; for NULL with size 0, others' observations of CUDA's
 * own library (conformance/recorded/facts/README.md). */
#include "rt_address.h"

static cudaError_t allocate(void **pointer, size_t size)
{
    if (pointer && !size) {
        *pointer = NULL;
        return cudaSuccess;
    }
    return DRIVER(cuMemAlloc, rt_address_out(pointer), size);
}

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    RT(allocate(devPtr, size));
}

/* The element's size affects only alignment, and the driver's pitches suit all sizes. */
enum { ELEMENT = 4 };

static cudaError_t allocate_rows(void **pointer, size_t *pitch, size_t width, size_t height)
{
    if (pointer && pitch && (!width || !height)) {
        *pointer = NULL;
        *pitch = 0;
        return cudaSuccess;
    }
    return DRIVER(cuMemAllocPitch, rt_address_out(pointer), pitch, width, height, ELEMENT);
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    RT(allocate_rows(devPtr, pitch, width, height));
}

static cudaError_t allocate_layers(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
    if (!pitched)
        return cudaErrorInvalidValue;
    const bool wraps = extent.depth && extent.height > SIZE_MAX / extent.depth; /* the driver refuses that many rows */
    cudaError_t result = allocate_rows(&pitched->ptr, &pitched->pitch, extent.width, wraps ? SIZE_MAX : extent.height * extent.depth);
    if (result == cudaSuccess) {
        pitched->xsize = extent.width;
        pitched->ysize = extent.height;
    }
    return result;
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    RT(allocate_layers(pitchedDevPtr, extent));
}

static cudaError_t allocate_managed(void **pointer, size_t size, unsigned flags)
{
    if (pointer && !size) {
        *pointer = NULL;
        return cudaSuccess;
    }
    return DRIVER(cuMemAllocManaged, rt_address_out(pointer), size, flags);
}

cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    RT(allocate_managed(devPtr, size, flags));
}

cudaError_t cudaFree(void *devPtr)
{
    RT(devPtr ? DRIVER(cuMemFree, rt_address(devPtr)) : cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    RT(DRIVER(cuMemGetInfo, free, total));
}
