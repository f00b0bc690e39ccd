/* SPDX-License-Identifier: Apache-2.0 */
/* The tiles of sparse arrays, and copies of bytes from and to arrays: boxes of one row. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture_copy.h"
#include "abi_sync.h"

static CUresult map_tiles(vmm_system *sys, const CUarrayMapInfo *list, unsigned count, CUstream stream)
{
    return (CUresult)vmm_mem_map_array_async(sys, (const vmm_array_map_info *)(const void *)list, count, abi_stream(stream));
}

CUresult cuMemMapArrayAsync(CUarrayMapInfo *mapInfoList, unsigned int count, CUstream hStream)
{
    if (mapInfoList && count)
        ABI_NOT_CAPTURED(hStream);
    ABI(map_tiles(sys, mapInfoList, count, hStream));
}

/* One side: an address of the device or the host, or an array with an offset in it, in bytes. */
struct side {
    CUmemorytype type;
    CUdeviceptr at;
    CUarray array;
    size_t offset;
};

#define ON_DEVICE(address) ((struct side){CU_MEMORYTYPE_DEVICE, (address), NULL, 0})
#define ON_HOST(pointer) ((struct side){CU_MEMORYTYPE_HOST, (CUdeviceptr)(uintptr_t)(pointer), NULL, 0})
#define IN_ARRAY(array, offset) ((struct side){CU_MEMORYTYPE_ARRAY, 0, (array), (offset)})

static vmm_memcpy3d line_of(struct side to, struct side from, size_t size)
{
    const bool to_host = to.type == CU_MEMORYTYPE_HOST, from_host = from.type == CU_MEMORYTYPE_HOST;
    return (vmm_memcpy3d){.src_x_in_bytes = from.offset, .src_memory_type = (int)from.type,
                          .src_host = from_host ? (const void *)(uintptr_t)from.at : NULL, .src_device = from_host ? 0 : from.at,
                          .src_array = (vmm_array)(void *)from.array, .dst_x_in_bytes = to.offset, .dst_memory_type = (int)to.type,
                          .dst_host = to_host ? (void *)(uintptr_t)to.at : NULL, .dst_device = to_host ? 0 : to.at,
                          .dst_array = (vmm_array)(void *)to.array, .width_in_bytes = size, .height = 1, .depth = 1};
}

static CUresult copy_line(vmm_system *sys, struct side to, struct side from, size_t size)
{
    const vmm_memcpy3d box = line_of(to, from, size);
    return (CUresult)ABI_SYNC(memcpy_3d, &box);
}

static CUresult copy_line_later(vmm_system *sys, struct side to, struct side from, size_t size, CUstream stream)
{
    const vmm_memcpy3d box = line_of(to, from, size);
    return (CUresult)vmm_memcpy_3d_async(sys, &box, abi_stream(stream));
}

CUresult cuMemcpyDtoA(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI(copy_line(sys, IN_ARRAY(dstArray, dstOffset), ON_DEVICE(srcDevice), ByteCount));
}

CUresult cuMemcpyAtoD(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI(copy_line(sys, ON_DEVICE(dstDevice), IN_ARRAY(srcArray, srcOffset), ByteCount));
}

CUresult cuMemcpyHtoA(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI(copy_line(sys, IN_ARRAY(dstArray, dstOffset), ON_HOST(srcHost), ByteCount));
}

CUresult cuMemcpyAtoH(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI(copy_line(sys, ON_HOST(dstHost), IN_ARRAY(srcArray, srcOffset), ByteCount));
}

CUresult cuMemcpyAtoA(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI(copy_line(sys, IN_ARRAY(dstArray, dstOffset), IN_ARRAY(srcArray, srcOffset), ByteCount));
}

static CUresult capture_line(const char *function, vmm_stream stream, struct side to, struct side from, size_t size)
{
    const vmm_memcpy3d box = line_of(to, from, size);
    return abi_capture_add_copy(function, stream, &box);
}

CUresult cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, capture_line(__func__, captured_, IN_ARRAY(dstArray, dstOffset), ON_HOST(srcHost), ByteCount));
    ABI(copy_line_later(sys, IN_ARRAY(dstArray, dstOffset), ON_HOST(srcHost), ByteCount, hStream));
}

CUresult cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, capture_line(__func__, captured_, ON_HOST(dstHost), IN_ARRAY(srcArray, srcOffset), ByteCount));
    ABI(copy_line_later(sys, ON_HOST(dstHost), IN_ARRAY(srcArray, srcOffset), ByteCount, hStream));
}
