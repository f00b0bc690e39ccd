/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_any_copy.h"

#include <string.h>

#include "abi_registered.h"

/* Copies between two host ranges, in stream order. */
static CUresult copy_host(vmm_system *sys, CUdeviceptr dst, CUdeviceptr src, size_t size, vmm_stream stream)
{
    enum { FIRST_PAGE = 4096 };
    if (size && (dst < FIRST_PAGE || src < FIRST_PAGE))
        return abi_refuse(VMM_RULE_COPY_NULL, "cuMemcpy", "from 0x%llx to 0x%llx: one is not an address", src, dst);
    CUresult result = (CUresult)vmm_stream_synchronize(sys, stream);
    if (result == CUDA_SUCCESS)
        memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, size);
    return result;
}

/* An address that the machine has assigned is a device address; any other belongs to the host. */
CUresult abi_copy_any(vmm_system *sys, CUdeviceptr dst, CUdeviceptr src, size_t size, vmm_stream stream)
{
    bool to = abi_query_device_address(sys, dst), from = abi_query_device_address(sys, src);
    CUresult result = abi_registered_check("cuMemcpy", dst, size, true);
    if (result == CUDA_SUCCESS)
        result = abi_registered_check("cuMemcpy", src, size, false);
    if (result != CUDA_SUCCESS)
        return result;
    if (to && from)
        return (CUresult)vmm_memcpy_dtod_async(sys, dst, src, size, stream);
    if (to)
        return (CUresult)vmm_memcpy_htod_async(sys, dst, (const void *)(uintptr_t)src, size, stream);
    if (from)
        return (CUresult)vmm_memcpy_dtoh_async(sys, (void *)(uintptr_t)dst, src, size, stream);
    return copy_host(sys, dst, src, size, stream);
}
