/* SPDX-License-Identifier: Apache-2.0 */
/* A dma-buf of nearly all memory of a device takes as much host memory as was written, whatever kind of memory it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "vmm.h"

enum { WRITTEN = 1 << 20 };

/* Bytes of files in memory that this process has touched; 0 if the system does not report it. */
static uint64_t touched(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status) && sscanf(line, "RssShmem: %llu", &kib) != 1)
        ;
    if (status)
        fclose(status);
    return kib << 10;
}

enum kind { PLAIN, EXPORTED, ALLOCATED, OF_A_POOL, KINDS };
static const char *const names[KINDS] = {"mapped memory", "memory with a descriptor", "memory of an allocation",
                                         "memory of a pool"};

static vmm_result mapped(vmm_system *sys, uint64_t size, bool exported, vmm_deviceptr *at)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                          .requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    const vmm_mem_access_desc desc = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle;
    int fd = -1;
    vmm_result result = vmm_mem_address_reserve(sys, at, size, 0, 0, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_create(sys, &handle, size, &prop, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_map(sys, *at, size, 0, handle, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_set_access(sys, *at, size, &desc, 1);
    if (result == VMM_SUCCESS && exported)
        result = vmm_mem_export_to_shareable_handle(sys, &fd, handle, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (fd >= 0)
        close(fd);
    return result;
}

static vmm_result made(vmm_system *sys, enum kind kind, uint64_t size, vmm_deviceptr *at)
{
    switch (kind) {
    case PLAIN: return mapped(sys, size, false, at);
    case EXPORTED: return mapped(sys, size, true, at);
    case OF_A_POOL: return vmm_mem_alloc_async(sys, at, size, NULL);
    default: return vmm_mem_alloc(sys, at, size);
    }
}

static void costs(enum kind kind, uint64_t size)
{
    vmm_system *sys;
    vmm_context ctx;
    vmm_deviceptr at = 0;
    struct stat is;
    unsigned char byte = 0;
    int fd = -1;
    if (vmm_open("sim:h100", &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &ctx, 0, 0) || made(sys, kind, size, &at) ||
        vmm_memset_d8(sys, at + size / 2 + 7, 0x5a, WRITTEN) || vmm_ctx_synchronize(sys))
        tap_bail("%s: set-up: %s", names[kind], vmm_last_detail()->note);
    uint64_t before = touched();
    tap_result(vmm_mem_get_handle_for_address_range(sys, &fd, at, size, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0), VMM_SUCCESS,
               "%s: a dma-buf of %llu GiB", names[kind], (unsigned long long)(size >> 30));
    const uint64_t more = touched() - before;
    tap_ok(more < 4 * WRITTEN, "%s: it takes %llu KiB of the host", names[kind], (unsigned long long)more >> 10);
    if (fstat(fd, &is))
        tap_bail("%s: no file", names[kind]);
    tap_ok((uint64_t)is.st_size == size && is.st_blocks * 512 < 4 * WRITTEN, "%s: the file has %lld KiB", names[kind],
           (long long)is.st_blocks / 2);
    tap_ok(pread(fd, &byte, 1, (off_t)(size / 2 + 7)) == 1 && byte == 0x5a && pread(fd, &byte, 1, (off_t)(size / 2 + 6)) == 1 && !byte,
           "%s: with the bytes that were written", names[kind]);
    close(fd);
    vmm_close(sys);
}

int main(void)
{
    const uint64_t size = getenv("CUVMM_RUN") ? UINT64_C(1) << 30 : UINT64_C(64) << 30; /* a tool has memory of its own for each byte */
    for (int kind = 0; kind < KINDS; kind++)
        costs((enum kind)kind, size);
    return tap_done();
}
