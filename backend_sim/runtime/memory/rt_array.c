/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and mipmapped arrays. Sizes are in elements and flags have the same numbers, as in the driver.
 *
 * Source: CUDA Runtime API, version 13.0: 6.9 Memory Management, 6.28 Texture Object Management. */
#include "rt_array.h"

static cudaError_t describe(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned flags,
                            CUDA_ARRAY3D_DESCRIPTOR *is)
{
    *is = (CUDA_ARRAY3D_DESCRIPTOR){.Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    return desc ? rt_format(desc, &is->Format, &is->NumChannels) : cudaErrorInvalidValue;
}

/* A refused call writes NULL, unless the descriptor is missing. */
static cudaError_t create(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR is;
    if (array && desc)
        *array = NULL;
    cudaError_t result = describe(desc, extent, flags, &is);
    return result == cudaSuccess ? DRIVER(cuArray3DCreate, (CUarray *)(void *)array, &is) : result;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned int flags)
{
    RT(create(array, desc, (struct cudaExtent){width, height, 0}, flags));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                              unsigned int flags)
{
    RT(create(array, desc, extent, flags));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    RT(array ? DRIVER(cuArrayDestroy, rt_array(array)) : cudaSuccess);
}

/* ---- queries about arrays ---- */

cudaError_t rt_element(cudaArray_const_t array, struct rt_element *element)
{
    CUDA_ARRAY3D_DESCRIPTOR is;
    *element = (struct rt_element){1, 1, 1};
    cudaError_t result = array ? DRIVER(cuArray3DGetDescriptor, &is, rt_array(array)) : cudaSuccess;
    if (array && result == cudaSuccess)
        *element = rt_element_of(is.Format, is.NumChannels);
    return element->bytes ? result : cudaErrorInvalidChannelDescriptor;
}

cudaError_t rt_array_rows(cudaArray_const_t array, size_t *row, size_t *rows)
{
    CUDA_ARRAY3D_DESCRIPTOR is;
    cudaError_t result = DRIVER(cuArray3DGetDescriptor, &is, rt_array(array));
    if (result != cudaSuccess)
        return result;
    const struct rt_element element = rt_element_of(is.Format, is.NumChannels);
    *row = (is.Width + element.width - 1) / element.width * element.bytes;
    *rows = is.Height ? (is.Height + element.height - 1) / element.height : 1;
    return cudaSuccess;
}

static cudaError_t info(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned *flags, cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR is;
    cudaError_t result = DRIVER(cuArray3DGetDescriptor, &is, rt_array(array));
    if (result != cudaSuccess)
        return result;
    if (desc)
        *desc = rt_channels(is.Format, is.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){is.Width, is.Height, is.Depth};
    if (flags)
        *flags = is.Flags;
    return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned int *flags, cudaArray_t array)
{
    RT(info(desc, extent, flags, array));
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    RT(desc ? info(desc, NULL, NULL, array) : cudaErrorInvalidValue);
}

cudaError_t cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray, unsigned int planeIdx)
{
    RT(DRIVER(cuArrayGetPlane, (CUarray *)(void *)pPlaneArray, rt_array(hArray), planeIdx));
}

cudaError_t cudaArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties, cudaArray_t array)
{
    RT(DRIVER(cuArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES *)(void *)sparseProperties, rt_array(array)));
}

cudaError_t cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements, cudaArray_t array, int device)
{
    RT(DRIVER(cuArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS *)(void *)memoryRequirements, rt_array(array), device));
}

/* ---- levels ---- */

static CUmipmappedArray driver_mipmapped(cudaMipmappedArray_const_t mipmapped)
{
    return (CUmipmappedArray)(uintptr_t)mipmapped;
}

static cudaError_t create_levels(cudaMipmappedArray_t *mipmapped, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                                 unsigned levels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR is;
    if (mipmapped && desc)
        *mipmapped = NULL;
    cudaError_t result = describe(desc, extent, flags, &is);
    return result == cudaSuccess ? DRIVER(cuMipmappedArrayCreate, (CUmipmappedArray *)(void *)mipmapped, &is, levels) : result;
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned int numLevels, unsigned int flags)
{
    RT(create_levels(mipmappedArray, desc, extent, numLevels, flags));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t mipmappedArray, unsigned int level)
{
    RT(DRIVER(cuMipmappedArrayGetLevel, (CUarray *)(void *)levelArray, driver_mipmapped(mipmappedArray), level));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
    RT(mipmappedArray ? DRIVER(cuMipmappedArrayDestroy, driver_mipmapped(mipmappedArray)) : cudaSuccess);
}

cudaError_t cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties, cudaMipmappedArray_t mipmap)
{
    RT(DRIVER(cuMipmappedArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES *)(void *)sparseProperties, driver_mipmapped(mipmap)));
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements,
                                                    cudaMipmappedArray_t mipmap, int device)
{
    RT(DRIVER(cuMipmappedArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS *)(void *)memoryRequirements,
              driver_mipmapped(mipmap), device));
}
