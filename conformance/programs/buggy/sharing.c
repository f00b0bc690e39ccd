/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for other processes. These programs do in one process what is usually done between two. */
#include <unistd.h>

#include "buggy.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

static vmm_handle shareable(struct run *b, vmm_system *sys, uint64_t size)
{
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    prop.requested_handle_types = FD;
    DO(vmm_mem_create(sys, &memory, size, &prop, 0));
    return memory;
}

static void *by_value(int fd)
{
    return (void *)(uintptr_t)fd;
}

/* Imports memory of that size, uses it, and frees it. */
static void use(struct run *b, vmm_handle copy, uint64_t size, unsigned char value)
{
    vmm_deviceptr p = reserve(b, size);
    DO(vmm_mem_map(S, p, size, 0, copy, 0));
    DO(grant(b, p, size, DEVICE(0), RW));
    DO(vmm_memset_d8(S, p, value, size));
    RIGHT(byte_at(b, p + size - 1) == value);
    give_back(b, p, size, copy);
}

PROGRAM(export_not_asked_for, .does = "creates memory without saying that it will be exported",
        .rule = "VMM-EXPORT-NOT-REQUESTED", .at = "cuMemExportToShareableHandle", .argument = "handleType",
        .near = VMM_OBJECT_HANDLE, .way = "set prop.requestedHandleTypes for cuMemCreate")
{
    vmm_handle memory = 0, copy = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    int fd = -1;
    FIX(prop.requested_handle_types = FD);
    DO(vmm_mem_create(S, &memory, G, &prop, 0));
    VALUE(FD);
    REPORTED(vmm_mem_export_to_shareable_handle(S, &fd, memory, FD, 0));
    FIX(DO(vmm_mem_import_from_shareable_handle(S, &copy, by_value(fd), FD)); close(fd); use(b, copy, G, 6));
    DO(vmm_mem_release(S, memory));
}

/* A forgotten descriptor holds the memory. */
PROGRAM(descriptor_not_closed, .does = "exports, sends the descriptor, releases the handle, and keeps its own descriptor open",
        .rule = "VMM-CREATE-MEMORY", .at = "cuMemCreate", .argument = "size",
        .way = "close the descriptor once it is sent: it holds the memory", .machine = "sim:odd")
{
    uint64_t left = 0, total, size;
    vmm_handle memory, next = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    int fd = -1;
    DO(vmm_mem_get_info(S, &left, &total));
    size = left / 4 * 3 / G * G;
    memory = shareable(b, S, size);
    DO(vmm_mem_export_to_shareable_handle(S, &fd, memory, FD, 0));
    DO(vmm_mem_release(S, memory));
    FIX(close(fd));
    VALUE(size);
    REPORTED(vmm_mem_create(S, &next, size, &prop, 0));
    FIX(use(b, next, size, 5));
    BUG(close(fd)); /* so that this program can continue */
}

PROGRAM(import_after_close, .does = "closes the descriptor before importing it", .rule = "VMM-IMPORT-CLOSED",
        .at = "cuMemImportFromShareableHandle", .argument = "osHandle", .way = "import first, then close")
{
    vmm_handle memory = shareable(b, S, G), copy = 0;
    int fd = -1;
    DO(vmm_mem_export_to_shareable_handle(S, &fd, memory, FD, 0));
    BUG(close(fd));
    VALUE((uint64_t)fd);
    REPORTED(vmm_mem_import_from_shareable_handle(S, &copy, by_value(fd), FD));
    FIX(close(fd); use(b, copy, G, 7));
    DO(vmm_mem_release(S, memory));
}

/* The programming guide shows it so. */
PROGRAM(import_by_address, .does = "passes the address of the descriptor where its value goes", .rule = "VMM-IMPORT-CLOSED",
        .at = "cuMemImportFromShareableHandle", .argument = "osHandle", .way = "pass (void *)(uintptr_t)fd")
{
    vmm_handle memory = shareable(b, S, G), copy = 0;
    static int fd; /* its address is not a small number */
    DO(vmm_mem_export_to_shareable_handle(S, &fd, memory, FD, 0));
    REPORTED(vmm_mem_import_from_shareable_handle(S, &copy, BUG_OR_FIX((void *)&fd, by_value(fd)), FD));
    close(fd);
    FIX(use(b, copy, G, 8));
    DO(vmm_mem_release(S, memory));
}

PROGRAM(reexport_of_an_import, .does = "exports imported memory, to pass it on", .rule = "VMM-EXPORT-IMPORTED",
        .at = "cuMemExportToShareableHandle", .argument = "handle", .near = VMM_OBJECT_HANDLE,
        .way = "pass a duplicate of the descriptor on")
{
    vmm_handle memory = shareable(b, S, G), copy = 0, third = 0;
    int fd = -1, next = -1;
    DO(vmm_mem_export_to_shareable_handle(S, &fd, memory, FD, 0));
    DO(vmm_mem_import_from_shareable_handle(S, &copy, by_value(fd), FD));
    VALUE(copy);
    BUG(REPORTED(vmm_mem_export_to_shareable_handle(S, &next, copy, FD, 0)));
    FIX(next = dup(fd); DO(vmm_mem_import_from_shareable_handle(S, &third, by_value(next), FD)); use(b, third, G, 9));
    close(fd);
    FIX(close(next));
    DO(vmm_mem_release(S, copy));
    DO(vmm_mem_release(S, memory));
}

/* As in two programs that each open their own simulator. */
PROGRAM(import_on_another_machine, .does = "imports on a simulated machine that is not the exporter's",
        .rule = "VMM-IMPORT-MACHINE", .at = "cuMemImportFromShareableHandle", .argument = "osHandle", .machine = "sim:h100",
        .way = "open both with the same machine=NAME, or set CUVMM_MACHINE for both")
{
    vmm_system *other = NULL;
    vmm_handle memory, copy = 0;
    int fd = -1;
    BUG(DO(vmm_open("sim:h100", &other)));
    FIX(DO(vmm_attach(S, &other)));
    DO(vmm_init(other, 0));
    memory = shareable(b, other, G);
    DO(vmm_mem_export_to_shareable_handle(other, &fd, memory, FD, 0));
    VALUE((uint64_t)fd);
    REPORTED(vmm_mem_import_from_shareable_handle(S, &copy, by_value(fd), FD));
    close(fd);
    DO(vmm_mem_release(other, memory));
    vmm_close(other);
    FIX(use(b, copy, G, 10));
}

PROGRAM(import_of_another_size, .does = "maps as much of an import as it would like to have, for no call returns its size",
        .rule = "VMM-MAP-SIZE-WHOLE", .at = "cuMemMap", .argument = "size",
        .way = "the exporter sends the size beside the descriptor")
{
    vmm_handle memory = shareable(b, S, 2 * G), copy = 0;
    vmm_deviceptr p = reserve(b, 4 * G);
    int fd = -1;
    DO(vmm_mem_export_to_shareable_handle(S, &fd, memory, FD, 0));
    DO(vmm_mem_import_from_shareable_handle(S, &copy, by_value(fd), FD));
    close(fd);
    VALUE(4 * G);
    BUG(REPORTED(vmm_mem_map(S, p, 4 * G, 0, copy, 0)));
    DO(vmm_mem_address_free(S, p, 4 * G));
    FIX(use(b, copy, 2 * G, 4));
    BUG(DO(vmm_mem_release(S, copy)));
    DO(vmm_mem_release(S, memory));
}
