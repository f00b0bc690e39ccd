/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in the order of a stream. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"

#define ABI_ONE(name, ...) ABI(ABI_PART(call_, name, __VA_ARGS__))

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_ONE(mem_alloc_async, (vmm_deviceptr *)dptr, bytesize, abi_stream(hStream));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_ONE(mem_alloc_from_pool_async, (vmm_deviceptr *)dptr, bytesize, (vmm_memory_pool)(void *)pool, abi_stream(hStream));
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI_ONE(mem_free_async, dptr, abi_stream(hStream));
}
