/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes with memory, one per program: those whose messages and counts ci/check_test.sh looks at, and what no pair of the rule
 * book says. The pairs run under the checker as well (ci/checked). */
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

PROGRAM(unmap_twice, "VMM-UNMAP-NOTHING", SAME, DEVICE)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = whole(g);
    DO(cuMemUnmap(at, g));
    DO(cuMemUnmap(at, g));
    DO(cuMemAddressFree(at, g));
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

/* One call of the program is one leak, regardless of the calls that it becomes in the simulator. */
PROGRAM(leaks_host_memory, "VMM-LEAK-ALLOCATION", SAME, DEVICE)
{
    void *memory = NULL;
    begin();
    DO(cuMemHostAlloc(&memory, (size_t)1 << 20, 0));
}

PROGRAM(free_host_memory_twice, "VMM-ALLOC-FREE-UNKNOWN", SAME, DEVICE)
{
    void *memory = NULL;
    begin();
    DO(cuMemHostAlloc(&memory, (size_t)1 << 20, 0));
    DO(cuMemFreeHost(memory));
    NO(cuMemFreeHost(memory));
}

/* On a driver the checker sees no descriptors. */
PROGRAM(leaks_descriptor, "VMM-LEAK-DESCRIPTOR", SAME, DEVICE)
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
PROGRAM(unmap_copied, "VMM-LEAK-ALLOCATION", "VMM-FAULT-HOST-COPY VMM-FAULT-HOST-COPY-STICKY VMM-LEAK-ALLOCATION VMM-LEAK-STREAM VMM-UNMAP-IN-FLIGHT", SIM)
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
