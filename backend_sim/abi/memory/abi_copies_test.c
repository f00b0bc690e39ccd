/* SPDX-License-Identifier: Apache-2.0 */
/* Two copies of the library in one process, on one machine: the engine in this program, and libcuda.so.1. Each counts the
 * other as alive and sees its memory, and closing one leaves the other's memory. */
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

/* Reads the first and the last byte through libcuda.so.1. */
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
        tap_bail("the machine cannot be opened: %s", vmm_last_detail()->note);
    uint64_t before = free_bytes();
    tap_u64(rig_free(sys), before, "two copies of the library see one machine");

    CUmemGenericAllocationHandle handle = create();
    CUdeviceptr at = show(handle);
    OK(cuMemsetD8(at, 7, SIZE));
    OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    tap_u64(rig_free(sys), before - SIZE, "memory of one copy counts for the other, which does not free it");
    rig_import(sys, fd, &copy);
    close(fd);
    vmm_deviceptr here = rig_map(sys, copy, SIZE);
    tap_ok(here && all_are_here(sys, here, 7), "this program sees memory of libcuda.so.1");

    rig_create(sys, SIZE, &own);
    vmm_deviceptr there = rig_map(sys, own, SIZE);
    vmm_memset_d8(sys, there, 9, SIZE);
    fd = rig_export(sys, own);
    OK(cuMemImportFromShareableHandle(&imported, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    CUdeviceptr seen = show(imported);
    tap_ok(all_are(seen, 9), "libcuda.so.1 sees memory of this program");
    /* the query would free the other copy's memory if that copy counted as dead */
    tap_u64(free_bytes(), before - 2 * SIZE, "a query looks for dead processes");
    tap_u64(rig_free(sys), before - 2 * SIZE, "both queries count the memory of both");
    tap_ok(all_are(at, 7) && all_are(seen, 9) && all_are_here(sys, here, 7) && all_are_here(sys, there, 9),
           "the bytes are unchanged");

    rig_close(sys);
    tap_ok(all_are(at, 7) && all_are(seen, 9), "after one copy closes, the other keeps its own memory and its imports");
    tap_u64(free_bytes(), before - 2 * SIZE, "the imports still count");
    sys = rig_open("two");
    OK(cuMemUnmap(seen, SIZE));
    OK(cuMemRelease(imported));
    tap_u64(rig_free(sys), before - SIZE, "memory without holders is free");
    tap_ok(all_are(at, 7), "the other copy's memory is not");
    rig_close(sys);
    OK(cuMemUnmap(at, SIZE));
    OK(cuMemRelease(handle));
    tap_u64(free_bytes(), before, "at the end all memory is free");
    OK(cuDevicePrimaryCtxRelease(0));
    return tap_done();
}

/* Runs in a child, because libcuda.so.1 closes its machine when its process ends. */
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
