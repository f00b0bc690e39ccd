/* SPDX-License-Identifier: Apache-2.0 */
/* Leaks at the end. REPORTED marks the call that made the object. */
#include "buggy.h"

PROGRAM(handle_not_released_after_map, .does = "takes cuMemUnmap for the end of the memory", .rule = "VMM-LEAK-HANDLE",
        .at = "cuMemCreate", .way = "cuMemRelease, right after mapping if you like", .leaves = "H")
{
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    vmm_deviceptr p = reserve(b, G);
    REPORTED(vmm_mem_create(S, &memory, G, &prop, 0));
    DO(vmm_mem_map(S, p, G, 0, memory, 0));
    FIX(DO(vmm_mem_release(S, memory)));
    DO(grant(b, p, G, DEVICE(0), RW));
    RIGHT(byte_at(b, p) == 0);
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(reservation_not_freed, .does = "gives the memory back and forgets the addresses",
        .rule = "VMM-LEAK-RESERVATION", .at = "cuMemAddressReserve", .way = "cuMemAddressFree", .leaves = "R")
{
    vmm_deviceptr p = 0;
    vmm_handle memory = create(b, G);
    REPORTED(vmm_mem_address_reserve(S, &p, G, 0, 0, 0));
    DO(vmm_mem_map(S, p, G, 0, memory, 0));
    DO(vmm_mem_release(S, memory));
    DO(grant(b, p, G, DEVICE(0), RW));
    RIGHT(byte_at(b, p) == 0);
    DO(vmm_mem_unmap(S, p, G));
    FIX(DO(vmm_mem_address_free(S, p, G)));
}

/* A mapping keeps the memory, although its handle was released, and the addresses. */
PROGRAM(mapping_not_unmapped, .does = "takes cuMemRelease for the end of the memory", .rule = "VMM-LEAK-MAPPING",
        .at = "cuMemMap", .way = "unmap: the mapping keeps memory and addresses", .leaves = "RMH")
{
    vmm_deviceptr p = reserve(b, G);
    vmm_handle memory = create(b, G);
    REPORTED(vmm_mem_map(S, p, G, 0, memory, 0));
    DO(grant(b, p, G, DEVICE(0), RW));
    RIGHT(byte_at(b, p) == 0);
    DO(vmm_mem_release(S, memory));
    FIX(DO(vmm_mem_unmap(S, p, G)); DO(vmm_mem_address_free(S, p, G)));
}

/* cuMemRetainAllocationHandle adds a reference; it is more than a query. */
PROGRAM(retained_and_forgotten, .does = "takes cuMemRetainAllocationHandle for a query", .rule = "VMM-LEAK-HANDLE",
        .at = "cuMemCreate", .way = "release what was retained", .leaves = "H")
{
    vmm_handle memory = 0, seen = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    vmm_deviceptr p = reserve(b, G);
    REPORTED(vmm_mem_create(S, &memory, G, &prop, 0));
    DO(vmm_mem_map(S, p, G, 0, memory, 0));
    DO(vmm_mem_retain_allocation_handle(S, &seen, p));
    RIGHT(seen == memory);
    FIX(DO(vmm_mem_release(S, seen)));
    give_back(b, p, G, memory);
}

/* The error path of a failed step must also free what earlier steps made. */
PROGRAM(error_path_keeps_the_handle, .does = "returns early when cuMemMap fails, without releasing",
        .rule = "VMM-LEAK-HANDLE", .at = "cuMemCreate", .way = "undo every step that succeeded, last first",
        .leaves = "H")
{
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    vmm_deviceptr p = chunks(b, 1, RW);
    const bool taken = byte_at(b, p) == 0; /* the address is occupied: mapping would fail */
    REPORTED(vmm_mem_create(S, &memory, G, &prop, 0));
    RIGHT(taken);
    if (taken)
        FIX(DO(vmm_mem_release(S, memory)));
    give_chunks_back(b, p, 1);
}

PROGRAM(cumemalloc_not_freed, .does = "forgets cuMemFree", .rule = "VMM-LEAK-ALLOCATION", .at = "cuMemAlloc",
        .way = "cuMemFree", .leaves = "A")
{
    vmm_deviceptr p = 0;
    REPORTED(vmm_mem_alloc(S, &p, 4096));
    DO(vmm_memset_d8(S, p, 1, 4096));
    RIGHT(byte_at(b, p + 4095) == 1);
    FIX(DO(vmm_mem_free(S, p)));
}

PROGRAM(stream_not_destroyed, .does = "makes a stream for each request", .rule = "VMM-LEAK-STREAM",
        .at = "cuStreamCreate", .way = "cuStreamDestroy", .leaves = "S")
{
    vmm_handle memory;
    vmm_stream work = NULL;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    REPORTED(vmm_stream_create(S, &work, VMM_STREAM_NON_BLOCKING));
    DO(vmm_memset_d8_async(S, p, 1, 1, work));
    DO(vmm_stream_synchronize(S, work));
    RIGHT(byte_at(b, p) == 1);
    FIX(DO(vmm_stream_destroy(S, work)));
    give_back(b, p, G, memory);
}

PROGRAM(context_not_destroyed, .does = "makes a context of its own and leaves it", .rule = "VMM-LEAK-CONTEXT",
        .at = "cuCtxCreate", .way = "cuCtxDestroy; or share the primary context", .leaves = "C")
{
    vmm_handle memory;
    vmm_context context = NULL;
    REPORTED(vmm_ctx_create(S, &context, 0, 0));
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    RIGHT(byte_at(b, p) == 0);
    FIX(DO(vmm_ctx_destroy(S, context)));
    give_back(b, p, G, memory);
}
