/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: these entry points call the functions of the same name in this project's API; the two-dimensional forms are built on
 * those. */
#include "abi.h"
#include "abi_capture.h"

static vmm_array array_of(CUarray array)
{
    return (vmm_array)(void *)array;
}

static vmm_mipmapped_array mipmapped_of(CUmipmappedArray array)
{
    return (vmm_mipmapped_array)(void *)array;
}

CUresult cuArray3DCreate(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    ABI_NO_CAPTURE_CURRENT();
    ABI_ONE(array_3d_create, (vmm_array *)pHandle, (const vmm_array3d_descriptor *)(const void *)pAllocateArray);
}

static CUresult create_2d(vmm_system *sys, CUarray *array, const CUDA_ARRAY_DESCRIPTOR *of)
{
    const vmm_array3d_descriptor descriptor = {of ? of->Width : 0, of ? of->Height : 0, 0, of ? (int)of->Format : 0,
                                               of ? of->NumChannels : 0, 0};
    return (CUresult)vmm_array_3d_create(sys, (vmm_array *)array, of ? &descriptor : NULL);
}

CUresult cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    ABI_NO_CAPTURE_CURRENT();
    ABI(create_2d(sys, pHandle, pAllocateArray));
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    ABI_ONE(array_3d_get_descriptor, (vmm_array3d_descriptor *)(void *)pArrayDescriptor, array_of(hArray));
}

static CUresult describe_2d(vmm_system *sys, CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array)
{
    if (!descriptor)
        return (CUresult)vmm_array_3d_get_descriptor(sys, NULL, array_of(array));
    vmm_array3d_descriptor is;
    CUresult result = (CUresult)vmm_array_3d_get_descriptor(sys, &is, array_of(array));
    if (result == CUDA_SUCCESS)
        *descriptor = (CUDA_ARRAY_DESCRIPTOR){is.width, is.height, (CUarray_format)is.format, is.num_channels};
    return result;
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    ABI(describe_2d(sys, pArrayDescriptor, hArray));
}

CUresult cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
    ABI_ONE(array_get_plane, (vmm_array *)pPlaneArray, array_of(hArray), planeIdx);
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUarray array)
{
    ABI_ONE(array_get_sparse_properties, (vmm_array_sparse_properties *)(void *)sparseProperties, array_of(array));
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUarray array, CUdevice device)
{
    ABI_ONE(array_get_memory_requirements, (vmm_array_memory_requirements *)(void *)memoryRequirements, array_of(array), device);
}

CUresult cuArrayDestroy(CUarray hArray)
{
    if (hArray)
        ABI_NO_CAPTURE();
    ABI_ONE(array_destroy, array_of(hArray));
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                unsigned int numMipmapLevels)
{
    ABI_NO_CAPTURE_CURRENT();
    ABI_ONE(mipmapped_array_create, (vmm_mipmapped_array *)pHandle,
            (const vmm_array3d_descriptor *)(const void *)pMipmappedArrayDesc, numMipmapLevels);
}

CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level)
{
    ABI_ONE(mipmapped_array_get_level, (vmm_array *)pLevelArray, mipmapped_of(hMipmappedArray), level);
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUmipmappedArray mipmap)
{
    ABI_ONE(mipmapped_array_get_sparse_properties, (vmm_array_sparse_properties *)(void *)sparseProperties, mipmapped_of(mipmap));
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUmipmappedArray mipmap,
                                               CUdevice device)
{
    ABI_ONE(mipmapped_array_get_memory_requirements, (vmm_array_memory_requirements *)(void *)memoryRequirements,
            mipmapped_of(mipmap), device);
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    if (hMipmappedArray)
        ABI_NO_CAPTURE();
    ABI_ONE(mipmapped_array_destroy, mipmapped_of(hMipmappedArray));
}
