/* SPDX-License-Identifier: Apache-2.0 */
/* Device addresses used as host pointers. */
#include "buggy.h"

#define OF_HOST "ends the process (SIGSEGV)"

/* Host memory at its own addresses, with these rights for the host. */
static vmm_deviceptr on_host(struct run *b, vmm_mem_access_flags flags, vmm_handle *memory)
{
    vmm_deviceptr p = reserve(b, G);
    *memory = create_at(b, G, HOST);
    DO(vmm_mem_map(S, p, G, 0, *memory, 0));
    DO(grant(b, p, G, DEVICE(0), RW));
    if (flags != NONE)
        DO(grant(b, p, G, HOST, flags));
    return p;
}

PROGRAM(host_reads_device_memory, .does = "dereferences a device pointer to look at a result",
        .rule = "VMM-HOST-ACCESS", .at = "host read", .way = "cuMemcpyDtoH", .driver = OF_HOST)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(vmm_memset_d8(S, p, 5, G));
    BUG(HOST_READ(p + 4));
    FIX(RIGHT(byte_at(b, p + 4) == 5));
    give_back(b, p, G, memory);
}

PROGRAM(host_writes_device_memory, .does = "initialises device memory with a loop of the host",
        .rule = "VMM-HOST-ACCESS", .at = "host write", .way = "cuMemsetD8, cuMemcpyHtoD or a kernel", .driver = OF_HOST)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    BUG(HOST_WRITE(p, 1));
    FIX(DO(vmm_memset_d8(S, p, 1, 1)); RIGHT(byte_at(b, p) == 1));
    give_back(b, p, G, memory);
}

/* Reserved is not allocated. */
PROGRAM(host_writes_reserved_addresses, .does = "takes reserved addresses for memory", .rule = "VMM-HOST-ACCESS",
        .at = "host write", .way = "create, map, grant; then write", .driver = OF_HOST)
{
    vmm_handle memory = 0;
    vmm_deviceptr p = 0;
    BUG(p = reserve(b, G));
    FIX(p = on_host(b, RW, &memory));
    HOST_WRITE(p, 1);
    FIX(RIGHT(byte_at(b, p) == 1); give_back(b, p, G, memory));
    BUG(DO(vmm_mem_address_free(S, p, G)));
}

/* Memory of the host needs a grant for the host, too. */
PROGRAM(host_memory_without_host_rights, .does = "grants host memory to the device only, and writes it on the host",
        .rule = "VMM-HOST-ACCESS", .at = "host write", .way = "a grant with location HOST beside the device's",
        .driver = OF_HOST)
{
    vmm_handle memory;
    vmm_deviceptr p = on_host(b, BUG_OR_FIX(NONE, RW), &memory);
    HOST_WRITE(p + 100, 3);
    FIX(RIGHT(byte_at(b, p + 100) == 3));
    give_back(b, p, G, memory);
}

PROGRAM(host_writes_what_it_may_read, .does = "writes on the host what was granted READ to it",
        .rule = "VMM-HOST-ACCESS", .at = "host write", .way = "grant READWRITE to who writes", .driver = OF_HOST)
{
    vmm_handle memory;
    vmm_deviceptr p = on_host(b, BUG_OR_FIX(READ, RW), &memory);
    HOST_WRITE(p + G - 1, 3);
    FIX(RIGHT(byte_at(b, p + G - 1) == 3));
    give_back(b, p, G, memory);
}

PROGRAM(host_reads_after_unmap, .does = "reads host memory in place after it was unmapped", .rule = "VMM-HOST-ACCESS",
        .at = "host read", .way = "read first", .driver = OF_HOST)
{
    vmm_handle memory;
    vmm_deviceptr p = on_host(b, READ, &memory);
    DO(vmm_memset_d8(S, p, 6, G));
    DO(vmm_ctx_synchronize(S));
    FIX(RIGHT(HOST_READ(p + 1) == 6));
    CAUSE(vmm_mem_unmap(S, p, G));
    BUG(HOST_READ(p + 1));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* Memory shared by host and device: an access one past its end is out of bounds for both. */
PROGRAM(host_one_byte_past, .does = "writes one byte past the end of host memory", .rule = "VMM-HOST-ACCESS",
        .at = "host write", .way = "hold the loop to the size", .driver = OF_HOST)
{
    vmm_handle memory;
    vmm_deviceptr p = on_host(b, RW, &memory);
    HOST_WRITE(p + BUG_OR_FIX(G, G - 1), 2);
    FIX(RIGHT(byte_at(b, p + G - 1) == 2));
    give_back(b, p, G, memory);
}
