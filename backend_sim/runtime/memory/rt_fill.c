/* SPDX-License-Identifier: Apache-2.0 */
/* Fills. The driver cannot fill layers: if all rows of each layer are filled, a single fill of rows suffices, else
 * one per layer. Compiled for both default streams.
 *
 *     ysize 4, height 4, depth 2: ########    ysize 4, height 3, depth 2: ###.###.
 */
#include "rt_address.h"

/* A fill of rows; stream is NULL for the call without one. */
static cudaError_t fill_rows(CUdeviceptr at, size_t pitch, int value, size_t width, size_t height, const cudaStream_t *stream)
{
    const unsigned char byte = (unsigned char)value;
    return stream ? DRIVER(cuMemsetD2D8Async, at, pitch, byte, width, height, *stream)
                  : DRIVER(cuMemsetD2D8, at, pitch, byte, width, height);
}

/* As measured with the toolkit's library, a fill past the end of the memory fills the layers before the refused one. */
static cudaError_t fill_layers(struct cudaPitchedPtr to, int value, struct cudaExtent extent, const cudaStream_t *stream)
{
    size_t step = 0, rows = 0, reach = 0;
    cudaError_t result = cudaSuccess;
    if (!extent.width || !extent.height || !extent.depth)
        return cudaSuccess;
    if (extent.height > to.ysize || __builtin_mul_overflow(to.pitch, to.ysize, &step) || __builtin_mul_overflow(step, extent.depth, &reach))
        return cudaErrorInvalidValue;
    if (extent.height == to.ysize && !__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return fill_rows(rt_address(to.ptr), to.pitch, value, extent.width, rows, stream);
    for (size_t layer = 0; layer < (step ? extent.depth : 1) && result == cudaSuccess; layer++)
        result = fill_rows(rt_address(to.ptr) + layer * step, to.pitch, value, extent.width, extent.height, stream);
    return result;
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    RT(DRIVER(cuMemsetD8, rt_address(devPtr), (unsigned char)value, count));
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    RT(DRIVER(cuMemsetD8Async, rt_address(devPtr), (unsigned char)value, count, stream));
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    RT(fill_rows(rt_address(devPtr), pitch, value, width, height, NULL));
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    RT(fill_rows(rt_address(devPtr), pitch, value, width, height, &stream));
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent)
{
    RT(fill_layers(pitchedDevPtr, value, extent, NULL));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent, cudaStream_t stream)
{
    RT(fill_layers(pitchedDevPtr, value, extent, &stream));
}
