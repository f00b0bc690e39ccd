/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of pointers. CUDA 13's struct has reserved words at the end, which are zero. */
#include "rt_address.h"

static enum cudaMemoryType type_of(unsigned type, unsigned managed)
{
    if (managed)
        return cudaMemoryTypeManaged;
    return type == CU_MEMORYTYPE_HOST     ? cudaMemoryTypeHost
           : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice
                                          : cudaMemoryTypeUnregistered;
}

/* It creates no context. The driver succeeds for every address: an unknown one has no device, and its host address is itself. */
static cudaError_t describe(struct cudaPointerAttributes *attributes, const void *pointer)
{
    unsigned type = 0, managed = 0;
    int device = 0;
    CUdeviceptr on_device = 0;
    void *on_host = NULL;
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *answers[] = {&type, &managed, &device, &on_device, &on_host};
    if (!attributes)
        return cudaErrorInvalidValue;
    cudaError_t result = DRIVER(cuPointerGetAttributes, sizeof asked / sizeof *asked, asked, answers, rt_address(pointer));
    if (result != cudaSuccess)
        return result;
    *attributes = (struct cudaPointerAttributes){
        .type = type_of(type, managed), .device = device, .devicePointer = rt_pointer(on_device), .hostPointer = on_host};
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    RT_ANYWHERE(describe(attributes, ptr));
}
