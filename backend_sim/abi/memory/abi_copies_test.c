/* SPDX-License-Identifier: Apache-2.0 */
/* Two copies of the library in one process, the engine in this program and libcuda.so.1 beside it, on one machine: each is alive
 * for the other, each sees the other's memory, and what one closes the other keeps. */
#include <sys/wait.h>

#include "testing/rig.h"

#include "share_rig.h"

enum { SIZE = 2 << 20 };

static const CUmemAccessDesc all = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static CUdeviceptr show(CUmemGenericAllocationHandle handle)
{
    CUdeviceptr at = 0;
    OK(cuMemAddressReserve(&at, SIZE, 0, 0, 0));
    OK(cuMemMap(at, SIZE, 0, handle, 0));
    OK(cuMemSetAccess(at, SIZE, &all, 1));
    return at;
}

static CUmemGenericAllocationHandle create(void)
{
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    OK(cuMemCreate(&handle, SIZE, &prop, 0));
    return handle;
}

static uint64_t free_bytes(void)
{
    size_t bytes = 0, total = 0;
    OK(cuMemGetInfo(&bytes, &total));
    return bytes;
}

/* The first and the last byte, as libcuda.so.1 reads them. */
static bool all_are(CUdeviceptr at, unsigned value)
{
    return byte_at(at) == value && byte_at(at + SIZE - 1) == value;
}

static bool all_are_here(vmm_system *sys, vmm_deviceptr at, int value)
{
    return rig_byte(sys, at) == value && rig_byte(sys, at + SIZE - 1) == value;
}

static int copies(void)
{
    vmm_mem_generic_allocation_handle own = 0, copy = 0;
    CUmemGenericAllocationHandle imported = 0;
    int fd = -1;
    begin();
    vmm_system *sys = rig_open("two");
    if (!sys)
        tap_bail("the machine does not open: %s", vmm_last_detail()->note);
    uint64_t before = free_bytes();
    tap_u64(rig_free(sys), before, "two copies of the library see one machine");

    CUmemGenericAllocationHandle handle = create();
    CUdeviceptr at = show(handle);
    OK(cuMemsetD8(at, 7, SIZE));
    OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    tap_u64(rig_free(sys), before - SIZE, "what one takes the other counts, and does not free");
    rig_import(sys, fd, &copy);
    close(fd);
    vmm_deviceptr here = rig_map(sys, copy, SIZE);
    tap_ok(here && all_are_here(sys, here, 7), "memory of libcuda.so.1 is seen here");

    rig_create(sys, SIZE, &own);
    vmm_deviceptr there = rig_map(sys, own, SIZE);
    vmm_memset_d8(sys, there, 9, SIZE);
    fd = rig_export(sys, own);
    OK(cuMemImportFromShareableHandle(&imported, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    CUdeviceptr seen = show(imported);
    tap_ok(all_are(seen, 9), "and memory of here by libcuda.so.1");
    tap_u64(free_bytes(), before - 2 * SIZE, "each asks who has gone"); /* and would clear up after the other */
    tap_u64(rig_free(sys), before - 2 * SIZE, "and counts what both have");
    tap_ok(all_are(at, 7) && all_are(seen, 9) && all_are_here(sys, here, 7) && all_are_here(sys, there, 9), "whose bytes are as they were");

    rig_close(sys);
    tap_ok(all_are(at, 7) && all_are(seen, 9), "one is closed: the other keeps its own memory and what it imported");
    tap_u64(free_bytes(), before - 2 * SIZE, "which is counted");
    sys = rig_open("two");
    OK(cuMemUnmap(seen, SIZE));
    OK(cuMemRelease(imported));
    tap_u64(rig_free(sys), before - SIZE, "what neither has is free");
    tap_ok(all_are(at, 7), "what one has is not");
    rig_close(sys);
    OK(cuMemUnmap(at, SIZE));
    OK(cuMemRelease(handle));
    tap_u64(free_bytes(), before, "in the end all of it is free");
    OK(cuDevicePrimaryCtxRelease(0));
    return tap_done();
}

/* In a child: libcuda.so.1 lets its machine go when its process ends. */
int main(void)
{
    int status = -1;
    rig_begin();
    setenv("CUVMM_MACHINE", "two", 1);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        return copies();
    waitpid(child, &status, 0);
    unsigned left = rig_machines();
    if (left)
        fprintf(stderr, "%u machines are left behind\n", left);
    rmdir(rig_root);
    return status || left;
}
