/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes with memory, one per program, as users of the public samples make them. */
#include "program.h"

#define RW CU_MEM_ACCESS_FLAGS_PROT_READWRITE

PROGRAM(map_twice, "VMM-MAP-OVERLAP", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    CUmemGenericAllocationHandle handle = create(g);
    NO(cuMemMap(at, g, 0, handle, 0));
    DO(cuMemRelease(handle));
    drop(at, g);
}

PROGRAM(map_past_memory, "VMM-MAP-SIZE-WHOLE", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(2 * g);
    CUmemGenericAllocationHandle handle = create(g);
    NO(cuMemMap(at, 2 * g, 0, handle, 0));
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, 2 * g));
}

PROGRAM(map_part_of_memory, "VMM-MAP-OFFSET", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    CUmemGenericAllocationHandle handle = create(2 * g);
    NO(cuMemMap(at, g, g, handle, 0));
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, g));
}

PROGRAM(map_unreserved, "VMM-MAP-NOT-RESERVED", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    CUmemGenericAllocationHandle handle = create(g);
    DO(cuMemAddressFree(at, g));
    NO(cuMemMap(at, g, 0, handle, 0));
    DO(cuMemRelease(handle));
}

PROGRAM(map_crooked, "VMM-MAP-PTR-GRANULARITY", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(2 * g);
    CUmemGenericAllocationHandle handle = create(g);
    NO(cuMemMap(at + 4096, g, 0, handle, 0));
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, 2 * g));
}

PROGRAM(map_flags, "VMM-MAP-FLAGS", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    CUmemGenericAllocationHandle handle = create(g);
    NO(cuMemMap(at, g, 0, handle, 1));
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, g));
}

PROGRAM(free_mapped, "VMM-FREE-MAPPED", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    NO(cuMemAddressFree(at, g));
    drop(at, g);
}

PROGRAM(free_part, "VMM-FREE-SIZE-MATCH", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(2 * g);
    NO(cuMemAddressFree(at, g));
    DO(cuMemAddressFree(at, 2 * g));
}

PROGRAM(free_middle, "VMM-FREE-NOT-START", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(2 * g);
    NO(cuMemAddressFree(at + g, g));
    DO(cuMemAddressFree(at, 2 * g));
}

PROGRAM(free_twice, "VMM-FREE-NOT-RESERVED", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    DO(cuMemAddressFree(at, g));
    NO(cuMemAddressFree(at, g));
}

PROGRAM(unmap_part, "VMM-UNMAP-PARTIAL", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(2 * g);
    NO(cuMemUnmap(at, g));
    drop(at, 2 * g);
}

PROGRAM(unmap_hole, "VMM-UNMAP-HOLE", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(2 * g);
    CUmemGenericAllocationHandle handle = create(g);
    DO(cuMemMap(at, g, 0, handle, 0));
    DO(cuMemRelease(handle));
    DO(cuMemUnmap(at, 2 * g));
    DO(cuMemAddressFree(at, 2 * g));
}

PROGRAM(unmap_twice, "VMM-UNMAP-NOTHING", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuMemUnmap(at, g));
    DO(cuMemUnmap(at, g));
    DO(cuMemAddressFree(at, g));
}

PROGRAM(create_odd_size, "VMM-CREATE-SIZE-GRANULARITY", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = pinned();
    begin();
    NO(cuMemCreate(&handle, granule() + 4096, &prop, 0));
}

PROGRAM(create_nothing, "VMM-CREATE-SIZE-ZERO", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = pinned();
    begin();
    NO(cuMemCreate(&handle, 0, &prop, 0));
}

PROGRAM(reserve_odd_size, "VMM-RESERVE-SIZE-GRANULARITY", SAME, DEVICE)
{
    CUdeviceptr at;
    begin();
    NO(cuMemAddressReserve(&at, 4096, 0, 0, 0));
}

PROGRAM(no_rights, "VMM-COPY-NO-WRITE", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    CUmemGenericAllocationHandle handle = create(g);
    DO(cuMemMap(at, g, 0, handle, 0));
    DO(cuMemRelease(handle));
    NO(cuMemsetD8(at, 0, g));
    drop(at, g);
}

PROGRAM(write_read_only, "VMM-COPY-NO-WRITE", SAME, DEVICE)
{
    int value = 7;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    allow(at, g, CU_MEM_ACCESS_FLAGS_PROT_READ);
    NO(cuMemcpyHtoD(at, &value, sizeof value));
    drop(at, g);
}

PROGRAM(no_rights_on_a_stream, "VMM-COPY-NO-WRITE", SAME, DEVICE)
{
    CUstream stream;
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    CUmemGenericAllocationHandle handle = create(g);
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuMemMap(at, g, 0, handle, 0));
    DO(cuMemRelease(handle));
    NO(cuMemsetD8Async(at, 0, g, stream));
    DO(cuStreamDestroy(stream));
    drop(at, g);
}

PROGRAM(access_unmapped, "VMM-ACCESS-NOT-MAPPED", SAME, DEVICE)
{
    CUmemAccessDesc desc;
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    memset(&desc, 0, sizeof desc);
    desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.flags = RW;
    NO(cuMemSetAccess(at, g, &desc, 1));
    DO(cuMemAddressFree(at, g));
}

PROGRAM(access_part, "VMM-ACCESS-PARTIAL", SAME, DEVICE)
{
    CUmemAccessDesc desc;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(2 * g);
    memset(&desc, 0, sizeof desc);
    desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    NO(cuMemSetAccess(at, g, &desc, 1));
    drop(at, 2 * g);
}

PROGRAM(access_wrong_device, "VMM-ACCESS-DEVICE-ID", SAME, DEVICE)
{
    CUmemAccessDesc desc;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    memset(&desc, 0, sizeof desc);
    desc.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.location.id = 99;
    desc.flags = RW;
    NO(cuMemSetAccess(at, g, &desc, 1));
    drop(at, g);
}

PROGRAM(release_twice, "VMM-RELEASE-HANDLE-STALE", SAME, DEVICE)
{
    begin();
    CUmemGenericAllocationHandle handle = create(granule());
    DO(cuMemRelease(handle));
    NO(cuMemRelease(handle));
}

/* Driver 580 crashes on it, so not on a device. */
PROGRAM(map_released, "VMM-MAP-HANDLE-STALE", SAME, SIM)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    CUmemGenericAllocationHandle handle = create(g);
    DO(cuMemRelease(handle));
    NO(cuMemMap(at, g, 0, handle, 0));
    DO(cuMemAddressFree(at, g));
}

PROGRAM(export_not_asked_for, "VMM-EXPORT-NOT-REQUESTED", SAME, DEVICE)
{
    int fd = -1;
    begin();
    CUmemGenericAllocationHandle handle = create(granule());
    NO(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    DO(cuMemRelease(handle));
}

PROGRAM(retain_unmapped, "VMM-RETAIN-NOT-MAPPED", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle;
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    NO(cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)at));
    DO(cuMemAddressFree(at, g));
}

PROGRAM(no_init, "VMM-INIT-REQUIRED", SAME, DEVICE)
{
    CUdeviceptr at;
    NO(cuMemAddressReserve(&at, 2 << 20, 0, 0, 0));
}

PROGRAM(leaks_handle, "VMM-LEAK-HANDLE", SAME, DEVICE)
{
    begin();
    create(granule());
}

PROGRAM(leaks_reservation, "VMM-LEAK-RESERVATION", SAME, DEVICE)
{
    begin();
    reserve(granule());
}

PROGRAM(leaks_mapping, "VMM-LEAK-HANDLE VMM-LEAK-MAPPING VMM-LEAK-RESERVATION", SAME, DEVICE)
{
    begin();
    whole(granule());
}

PROGRAM(leaks_retained, "VMM-LEAK-HANDLE", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)at));
    drop(at, g);
}

/* One call of the program is one leak, whatever the simulator makes of it. On a driver the checker cannot see it. */
PROGRAM(leaks_host_memory, "", "VMM-LEAK-ALLOCATION", DEVICE)
{
    void *memory = NULL;
    begin();
    DO(cuMemHostAlloc(&memory, (size_t)1 << 20, 0));
}

PROGRAM(free_host_memory_twice, "", "VMM-ALLOC-FREE-UNKNOWN", DEVICE)
{
    void *memory = NULL;
    begin();
    DO(cuMemHostAlloc(&memory, (size_t)1 << 20, 0));
    DO(cuMemFreeHost(memory));
    NO(cuMemFreeHost(memory));
}

/* On a driver the checker sees no descriptors. */
PROGRAM(leaks_descriptor, "", "VMM-LEAK-DESCRIPTOR", DEVICE)
{
    int fd = -1;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = pinned();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    begin();
    DO(cuMemCreate(&handle, granule(), &prop, 0));
    DO(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    DO(cuMemRelease(handle));
}

PROGRAM(two_mistakes, "VMM-MAP-OVERLAP VMM-UNMAP-PARTIAL", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(2 * g);
    CUmemGenericAllocationHandle handle = create(g);
    NO(cuMemMap(at, g, 0, handle, 0));
    NO(cuMemUnmap(at, g));
    DO(cuMemRelease(handle));
    drop(at, 2 * g);
}

/* Noticed where the device's work runs: the shadow of a driver sees no work. */
PROGRAM(unmap_in_flight, "", "VMM-FAULT-COPY VMM-FAULT-COPY-STICKY VMM-LEAK-STREAM VMM-UNMAP-IN-FLIGHT", SIM)
{
    CUstream stream;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuMemsetD8Async(at, 1, g, stream));
    DO(cuMemUnmap(at, g));
    cuStreamSynchronize(stream);
    cuStreamDestroy(stream);
    cuMemAddressFree(at, g);
}

/* A copy to the host: to memory of cuMemHostAlloc it is in flight, and it is the call that was made. */
PROGRAM(unmap_copied, "", "VMM-FAULT-COPY VMM-FAULT-COPY-STICKY VMM-LEAK-ALLOCATION VMM-LEAK-STREAM VMM-UNMAP-IN-FLIGHT", SIM)
{
    CUstream stream;
    void *memory = NULL;
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuMemHostAlloc(&memory, g, 0));
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuMemcpyDtoHAsync(memory, at, g, stream));
    DO(cuMemUnmap(at, g));
    cuStreamSynchronize(stream);
    cuStreamDestroy(stream);
    cuMemAddressFree(at, g);
}
