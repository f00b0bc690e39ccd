/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered memory. Compiled for both default streams. A capture of the stream holds the call as a node; a capture
 * of another stream forbids it. */
#include "abi.h"
#include "abi_capture.h"

CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_add_alloc(__func__, captured_, dptr, bytesize, NULL));
    ABI_NO_CAPTURE_FOR(dptr);
    ABI_ONE(mem_alloc_async, (vmm_deviceptr *)dptr, bytesize, abi_stream(hStream));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_add_alloc(__func__, captured_, dptr, bytesize, &pool));
    ABI_NO_CAPTURE_FOR(dptr);
    ABI_ONE(mem_alloc_from_pool_async, (vmm_deviceptr *)dptr, bytesize, (vmm_memory_pool)(void *)pool, abi_stream(hStream));
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_add_free(__func__, captured_, dptr));
    ABI_NO_CAPTURE();
    ABI_ONE(mem_free_async, dptr, abi_stream(hStream));
}
