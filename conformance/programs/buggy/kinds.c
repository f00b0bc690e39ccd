/* SPDX-License-Identifier: Apache-2.0 */
/* Two kinds of memory and three kinds of values: addresses of one API passed to calls of the other (cuMemAlloc and
 * VMM). */
#include "buggy.h"

PROGRAM(unmap_of_cumemalloc, .does = "unmaps memory of cuMemAlloc", .rule = "VMM-UNMAP-NOT-RESERVED", .at = "cuMemUnmap",
        .way = "cuMemFree", .argument = "ptr", .leaves = "A")
{
    vmm_deviceptr p = 0;
    DO(vmm_mem_alloc(S, &p, G));
    DO(vmm_memset_d8(S, p, 1, G));
    RIGHT(byte_at(b, p + G - 1) == 1);
    BUG(VALUE(p); REPORTED(vmm_mem_unmap(S, p, G)));
    FIX(DO(vmm_mem_free(S, p)));
}

PROGRAM(address_free_of_cumemalloc, .does = "gives memory of cuMemAlloc to cuMemAddressFree",
        .rule = "VMM-FREE-NOT-RESERVED", .at = "cuMemAddressFree", .way = "cuMemFree", .argument = "ptr", .leaves = "A")
{
    vmm_deviceptr p = 0;
    DO(vmm_mem_alloc(S, &p, G));
    DO(vmm_memset_d8(S, p, 1, G));
    RIGHT(byte_at(b, p) == 1);
    BUG(REPORTED(vmm_mem_address_free(S, p, G)));
    FIX(DO(vmm_mem_free(S, p)));
}

PROGRAM(cumemfree_of_mapped_memory, .does = "gives mapped memory to cuMemFree", .rule = "VMM-ALLOC-FREE-VMM",
        .at = "cuMemFree", .way = "unmap, release, free the addresses", .argument = "dptr", .leaves = "RMH")
{
    vmm_deviceptr p = chunks(b, 1, RW);
    RIGHT(byte_at(b, p) == 0);
    BUG(VALUE(p); REPORTED(vmm_mem_free(S, p)));
    FIX(give_chunks_back(b, p, 1));
}

PROGRAM(cumemfree_of_a_part, .does = "gives cuMemFree a pointer into the middle of what cuMemAlloc returned",
        .rule = "VMM-ALLOC-FREE-UNKNOWN", .at = "cuMemFree", .way = "free what was returned", .argument = "dptr",
        .leaves = "A")
{
    vmm_deviceptr p = 0;
    DO(vmm_mem_alloc(S, &p, 4096));
    DO(vmm_memset_d8(S, p + 256, 1, 256));
    RIGHT(byte_at(b, p + 256) == 1);
    REPORTED(vmm_mem_free(S, BUG_OR_FIX(p + 256, p)));
}

PROGRAM(grant_on_cumemalloc, .does = "sets access on memory of cuMemAlloc", .rule = "VMM-ACCESS-NOT-MAPPED",
        .at = "cuMemSetAccess", .way = "not needed there: its own device has access", .argument = "ptr")
{
    vmm_deviceptr p = 0;
    DO(vmm_mem_alloc(S, &p, G));
    BUG(REPORTED(grant(b, p, G, DEVICE(0), RW)));
    DO(vmm_memset_d8(S, p, 1, G));
    RIGHT(byte_at(b, p) == 1);
    DO(vmm_mem_free(S, p));
}

PROGRAM(retain_of_cumemalloc, .does = "asks for the handle of memory of cuMemAlloc, to map it elsewhere",
        .rule = "VMM-RETAIN-NOT-MAPPED", .at = "cuMemRetainAllocationHandle", .way = "make it with cuMemCreate",
        .argument = "addr")
{
    vmm_handle memory = 0;
    vmm_deviceptr p = 0;
    BUG(DO(vmm_mem_alloc(S, &p, G)));
    FIX(p = chunks(b, 1, RW));
    REPORTED(vmm_mem_retain_allocation_handle(S, &memory, p));
    BUG(DO(vmm_mem_free(S, p)));
    FIX(RIGHT(memory != 0); DO(vmm_mem_release(S, memory)); give_chunks_back(b, p, 1));
}

PROGRAM(release_of_an_address, .does = "releases the address instead of the handle",
        .rule = "VMM-RELEASE-HANDLE-FORGED", .at = "cuMemRelease", .way = "keep handle and address apart: both are 64 bits",
        .argument = "handle", .leaves = "H")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    RIGHT(byte_at(b, p) == 0);
    DO(vmm_mem_unmap(S, p, G));
    BUG(VALUE(p));
    REPORTED(vmm_mem_release(S, BUG_OR_FIX(p, memory)));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(handle_used_as_address, .does = "fills at the handle, which is not an address", .rule = "VMM-COPY-NOT-MAPPED",
        .at = "cuMemsetD8", .way = "reserve, map, grant; then use the address", .argument = "dstDevice")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    BUG(VALUE(memory));
    REPORTED(vmm_memset_d8(S, BUG_OR_FIX((vmm_deviceptr)memory, p), 5, 64));
    FIX(RIGHT(byte_at(b, p + 63) == 5));
    give_back(b, p, G, memory);
}

/* Swapped arguments: the compiler accepts either integer for the other. */
PROGRAM(map_with_swapped_arguments, .does = "passes the address to cuMemMap where the handle goes",
        .rule = "VMM-MAP-HANDLE-FORGED", .at = "cuMemMap", .way = "ptr, size, offset, handle, flags", .argument = "handle")
{
    vmm_handle memory = create(b, G);
    vmm_deviceptr p = reserve(b, G);
    BUG(VALUE(p); REPORTED(vmm_mem_map(S, memory, G, 0, p, 0)));
    FIX(DO(vmm_mem_map(S, p, G, 0, memory, 0)); DO(grant(b, p, G, DEVICE(0), RW)); RIGHT(byte_at(b, p) == 0);
        DO(vmm_mem_unmap(S, p, G)));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}
