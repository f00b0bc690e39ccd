/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_capture_copy.h"

static CUresult add_copy(const char *function, vmm_stream stream, const CUDA_MEMCPY3D *copy)
{
    return abi_capture_add_copy(function, stream, (const vmm_memcpy3d *)(const void *)copy); /* of one layout (api/cuda_abi_test.c) */
}

/* No copy: this is checked after the capture, as measured. */
static CUresult no_copy(const char *function, vmm_stream stream)
{
    CUresult result = abi_capture_goes_on(function, stream);
    return result == CUDA_SUCCESS ? abi_null(function, "pCopy") : result;
}

CUresult abi_capture_line(const char *function, vmm_stream stream, const struct abi_line *line)
{
    bool to_host = line->to == CU_MEMORYTYPE_HOST, from_host = line->from == CU_MEMORYTYPE_HOST;
    CUDA_MEMCPY3D copy = {.srcMemoryType = line->from,
                          .srcHost = from_host ? (const void *)(uintptr_t)line->src : NULL,
                          .srcDevice = from_host ? 0 : line->src,
                          .dstMemoryType = line->to,
                          .dstHost = to_host ? (void *)(uintptr_t)line->dst : NULL,
                          .dstDevice = to_host ? 0 : line->dst,
                          .WidthInBytes = line->size,
                          .Height = 1,
                          .Depth = 1};
    return add_copy(function, stream, &copy);
}

CUresult abi_capture_rows(const char *function, vmm_stream stream, const CUDA_MEMCPY2D *rows)
{
    if (!rows)
        return no_copy(function, stream);
    CUDA_MEMCPY3D copy = {.srcXInBytes = rows->srcXInBytes, .srcY = rows->srcY, .srcMemoryType = rows->srcMemoryType,
                          .srcHost = rows->srcHost, .srcDevice = rows->srcDevice, .srcArray = rows->srcArray,
                          .srcPitch = rows->srcPitch, .dstXInBytes = rows->dstXInBytes, .dstY = rows->dstY,
                          .dstMemoryType = rows->dstMemoryType, .dstHost = rows->dstHost, .dstDevice = rows->dstDevice,
                          .dstArray = rows->dstArray, .dstPitch = rows->dstPitch, .WidthInBytes = rows->WidthInBytes,
                          .Height = rows->Height, .Depth = 1};
    return add_copy(function, stream, &copy);
}

CUresult abi_capture_box(const char *function, vmm_stream stream, const CUDA_MEMCPY3D *copy)
{
    return copy ? add_copy(function, stream, copy) : no_copy(function, stream);
}
