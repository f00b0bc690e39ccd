/* SPDX-License-Identifier: Apache-2.0 */
/* Advice about ranges of managed memory, and their attributes. CUDA 12 takes a device, or cudaCpuDeviceId for the
 * host, and in cudaMemAdvise_v2 a location, like CUDA 13. */
#include "rt_address.h"

cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute attribute, const void *devPtr,
                                     size_t count)
{
    RT(DRIVER(cuMemRangeGetAttribute, data, dataSize, (CUmem_range_attribute)attribute, rt_address(devPtr), count));
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes, enum cudaMemRangeAttribute *attributes, size_t numAttributes,
                                      const void *devPtr, size_t count)
{
    RT(DRIVER(cuMemRangeGetAttributes, data, dataSizes, (CUmem_range_attribute *)(void *)attributes, numAttributes, rt_address(devPtr),
              count));
}

#if CUDART_VERSION >= 13000
#define ADVISE cudaMemAdvise
#else
#define ADVISE cudaMemAdvise_v2
#endif

cudaError_t ADVISE(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, struct cudaMemLocation location)
{
    const CUmemLocation place = {(CUmemLocationType)location.type, location.id};
    RT(DRIVER(cuMemAdvise_v2, rt_address(devPtr), count, (CUmem_advise)advice, place));
}

#if CUDART_VERSION < 13000

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, int device)
{
    RT(DRIVER(cuMemAdvise_v1, rt_address(devPtr), count, (CUmem_advise)advice, device));
}

#endif
