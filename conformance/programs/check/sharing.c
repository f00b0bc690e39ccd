/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of other processes, and of this one by another handle: its size is known from the first mapping on. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static int exported(size_t size, CUmemGenericAllocationHandle *handle)
{
    int fd = -1;
    CUmemAllocationProp prop = pinned();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    DO(cuMemCreate(handle, size, &prop, 0));
    DO(cuMemExportToShareableHandle(&fd, *handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return fd;
}

static CUmemGenericAllocationHandle imported(int fd)
{
    CUmemGenericAllocationHandle handle = 0;
    DO(cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    return handle;
}

static void use(CUdeviceptr at, size_t size, CUmemGenericAllocationHandle handle)
{
    DO(cuMemMap(at, size, 0, handle, 0));
    allow(at, size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    DO(cuMemsetD8(at, 3, size));
    DO(cuMemUnmap(at, size));
}

PROGRAM(right_import, "", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle, again;
    CUmemAllocationProp prop;
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(4 * g);
    int fd = exported(2 * g, &handle);
    CUmemGenericAllocationHandle one = imported(fd), two = imported(fd), never = imported(fd);
    close(fd);
    DO(cuMemGetAllocationPropertiesFromHandle(&prop, one));
    DO(cuMemRelease(never));
    DO(cuMemMap(at, 2 * g, 0, one, 0));
    DO(cuMemMap(at + 2 * g, 2 * g, 0, two, 0));
    DO(cuMemRelease(two));
    DO(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)at));
    DO(cuMemRelease(again));
    allow(at, 4 * g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    DO(cuMemsetD8(at, 1, 4 * g));
    DO(cuMemUnmap(at, 4 * g));
    use(at, 2 * g, one);
    DO(cuMemRelease(one));
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, 4 * g));
}

PROGRAM(leaks_import, "VMM-LEAK-HANDLE", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle;
    begin();
    int fd = exported(granule(), &handle);
    imported(fd);
    close(fd);
    DO(cuMemRelease(handle));
}

PROGRAM(import_mapped_twice, "VMM-MAP-OVERLAP", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle;
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    int fd = exported(g, &handle);
    CUmemGenericAllocationHandle other = imported(fd);
    close(fd);
    DO(cuMemMap(at, g, 0, handle, 0));
    NO(cuMemMap(at, g, 0, other, 0));
    DO(cuMemUnmap(at, g));
    use(at, g, other);
    DO(cuMemRelease(other));
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, g));
}

PROGRAM(import_mapped_in_part, "VMM-MAP-SIZE-WHOLE", SAME, DEVICE)
{
    CUmemGenericAllocationHandle handle;
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(2 * g);
    int fd = exported(2 * g, &handle);
    CUmemGenericAllocationHandle other = imported(fd);
    close(fd);
    NO(cuMemMap(at, g, 0, other, 0));
    use(at, 2 * g, other);
    DO(cuMemRelease(other));
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, 2 * g));
}

/* The child is this program again, which imports the memory of its parent by an inherited descriptor. */
enum { INHERITED = 97 };

static void import_of_parent(void)
{
    begin();
    size_t g = granule();
    CUdeviceptr at = reserve(g);
    CUmemGenericAllocationHandle handle = imported(INHERITED);
    close(INHERITED);
    DO(cuMemMap(at, g, 0, handle, 0));
    DO(cuMemRelease(handle));
    allow(at, g, CU_MEM_ACCESS_FLAGS_PROT_READ);
    NO(cuMemsetD8(at, 1, g));
    drop(at, g);
}

static void child_of(int fd)
{
    if (dup2(fd, INHERITED) < 0)
        _exit(6);
    execl("/proc/self/exe", "check", "in_importing_child", (char *)NULL);
    _exit(6);
}

PROGRAM(in_importing_child, "VMM-COPY-NO-WRITE", SAME, DEVICE)
{
    int status;
    CUmemGenericAllocationHandle handle;
    if (fcntl(INHERITED, F_GETFD) >= 0) {
        import_of_parent();
        return;
    }
    begin();
    int fd = exported(granule(), &handle);
    pid_t child = fork();
    if (child == 0)
        child_of(fd);
    close(fd);
    if (waitpid(child, &status, 0) != child || status)
        exit(6);
    DO(cuMemRelease(handle));
}
