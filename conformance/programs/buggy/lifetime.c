/* SPDX-License-Identifier: Apache-2.0 */
/* Use after free, double free, and frees in the wrong order. */
#include "buggy.h"

PROGRAM(copy_after_unmap, .does = "reads results from a buffer that was unmapped", .rule = "VMM-COPY-NOT-MAPPED",
        .at = "cuMemcpyDtoH", .way = "copy before unmapping", .argument = "srcDevice")
{
    vmm_handle memory;
    unsigned char result = 0;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(vmm_memset_d8(S, p, 3, G));
    FIX(DO(vmm_memcpy_dtoh(S, &result, p + 8, 1)); RIGHT(result == 3));
    CAUSE(vmm_mem_unmap(S, p, G));
    BUG(VALUE(p + 8); REPORTED(vmm_memcpy_dtoh(S, &result, p + 8, 1)));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* A pointer cached before the pool freed the memory. */
PROGRAM(kernel_after_unmap, .does = "launches a kernel with a pointer kept from before the unmap",
        .rule = "VMM-FAULT-ACCESS", .at = "cuCtxSynchronize", .way = "map and grant again before the launch",
        .near = VMM_OBJECT_MAPPING)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory), cached = p + 16;
    BUG(CAUSE(vmm_mem_unmap(S, p, G)));
    DO(LAUNCH(NULL, TOUCH, cached, 1, 8, 0));
    VALUE(cached);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, cached) == (unsigned char)VMM_KERNEL_TOUCH_VALUE); DO(vmm_mem_unmap(S, p, G)));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(fill_after_address_free, .does = "clears a buffer whose addresses were freed, too",
        .rule = "VMM-COPY-NOT-MAPPED", .at = "cuMemsetD8", .way = "clear first, or forget the pointer when it is freed",
        .argument = "dstDevice")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    BUG(give_back(b, p, G, memory));
    VALUE(p);
    REPORTED(vmm_memset_d8(S, p, 0xff, G));
    FIX(RIGHT(byte_at(b, p) == 0xff); give_back(b, p, G, memory));
}

/* The handle is released right after creation, which is allowed only after mapping. */
PROGRAM(release_before_map, .does = "releases the handle before it is mapped", .rule = "VMM-MAP-HANDLE-STALE",
        .at = "cuMemMap", .way = "release after mapping: the mapping keeps the memory", .argument = "handle")
{
    vmm_handle memory = create(b, G);
    vmm_deviceptr p = reserve(b, G);
    VALUE(memory);
    BUG(CAUSE(vmm_mem_release(S, memory)));
    REPORTED(vmm_mem_map(S, p, G, 0, memory, 0));
    FIX(DO(vmm_mem_release(S, memory)); DO(grant(b, p, G, DEVICE(0), RW)); RIGHT(byte_at(b, p) == 0);
        DO(vmm_mem_unmap(S, p, G)));
    DO(vmm_mem_address_free(S, p, G));
}

/* Both the owner and the error path release. */
PROGRAM(double_release, .does = "releases a handle twice", .rule = "VMM-RELEASE-HANDLE-STALE", .at = "cuMemRelease",
        .way = "one release for each create and retain", .argument = "handle")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    RIGHT(byte_at(b, p) == 0);
    give_back(b, p, G, memory);
    VALUE(memory);
    BUG(REPORTED(vmm_mem_release(S, memory)));
}

/* Retaining returns the same value: a second reference, not a second handle. */
PROGRAM(released_once_too_often_after_retain, .does = "counts two retains where one was made",
        .rule = "VMM-RELEASE-HANDLE-STALE", .at = "cuMemRelease", .way = "one release for each create and retain")
{
    vmm_handle memory, again = 0;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(vmm_mem_retain_allocation_handle(S, &again, p));
    RIGHT(again == memory);
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_release(S, again));
    DO(vmm_mem_release(S, memory));
    BUG(REPORTED(vmm_mem_release(S, again)));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(double_address_free, .does = "frees addresses twice", .rule = "VMM-FREE-NOT-RESERVED", .at = "cuMemAddressFree",
        .way = "set the pointer to 0 when it is freed", .argument = "ptr")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    RIGHT(byte_at(b, p) == 0);
    give_back(b, p, G, memory);
    VALUE(p);
    BUG(REPORTED(vmm_mem_address_free(S, p, G)));
}

PROGRAM(free_while_mapped, .does = "frees addresses before unmapping them", .rule = "VMM-FREE-MAPPED",
        .at = "cuMemAddressFree", .way = "unmap, then free", .near = VMM_OBJECT_MAPPING, .leaves = "R")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    RIGHT(byte_at(b, p) == 0);
    BUG(REPORTED(vmm_mem_address_free(S, p, G)); DO(vmm_mem_unmap(S, p, G)));
    FIX(DO(vmm_mem_unmap(S, p, G)); DO(vmm_mem_address_free(S, p, G)));
    DO(vmm_mem_release(S, memory));
}

PROGRAM(unmap_twice, .does = "unmaps in the destructor what was unmapped before", .rule = "VMM-UNMAP-NOTHING",
        .at = "cuMemUnmap", .way = "keep in mind what is mapped; do not rely on the driver's leniency")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    RIGHT(byte_at(b, p) == 0);
    DO(vmm_mem_unmap(S, p, G));
    BUG(REPORTED(vmm_mem_unmap(S, p, G)));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

/* Frees the part in use instead of the whole reservation. */
PROGRAM(free_of_the_used_part, .does = "frees addresses with the size in use instead of the size reserved",
        .rule = "VMM-FREE-SIZE-MATCH", .at = "cuMemAddressFree", .way = "remember the size that was reserved",
        .argument = "size", .near = VMM_OBJECT_RESERVATION, .leaves = "R")
{
    vmm_handle memory = create(b, G);
    vmm_deviceptr p = reserve(b, 8 * G);
    DO(vmm_mem_map(S, p, G, 0, memory, 0));
    DO(grant(b, p, G, DEVICE(0), RW));
    RIGHT(byte_at(b, p + G - 1) == 0);
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_release(S, memory));
    BUG(VALUE(G));
    REPORTED(vmm_mem_address_free(S, p, BUG_OR_FIX(G, 8 * G)));
}

/* An arena hands out parts; one of them is passed to the driver's free. */
PROGRAM(free_of_a_part, .does = "gives a pointer from inside an arena to cuMemAddressFree",
        .rule = "VMM-FREE-NOT-START", .at = "cuMemAddressFree", .way = "free whole reservations, from their start",
        .argument = "ptr", .near = VMM_OBJECT_RESERVATION, .leaves = "R")
{
    vmm_deviceptr arena = chunks(b, 2, RW), part = arena + G;
    RIGHT(byte_at(b, part) == 0);
    DO(vmm_mem_unmap(S, arena, 2 * G));
    BUG(VALUE(part));
    REPORTED(vmm_mem_address_free(S, BUG_OR_FIX(part, arena), BUG_OR_FIX(G, 2 * G)));
}

PROGRAM(retain_after_unmap, .does = "asks for the handle of memory that is unmapped already",
        .rule = "VMM-RETAIN-NOT-MAPPED", .at = "cuMemRetainAllocationHandle", .way = "retain before unmapping",
        .argument = "addr")
{
    vmm_handle memory = 0;
    vmm_deviceptr p = chunks(b, 1, RW);
    DO(vmm_memset_d8(S, p, 6, 1));
    FIX(DO(vmm_mem_retain_allocation_handle(S, &memory, p)));
    DO(vmm_mem_unmap(S, p, G));
    BUG(VALUE(p); REPORTED(vmm_mem_retain_allocation_handle(S, &memory, p)));
    FIX(DO(vmm_mem_map(S, p, G, 0, memory, 0)); DO(grant(b, p, G, DEVICE(0), READ)); RIGHT(byte_at(b, p) == 6);
        DO(vmm_mem_release(S, memory)); DO(vmm_mem_unmap(S, p, G)));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(properties_of_a_released_handle, .does = "asks a released handle what memory it was",
        .rule = "VMM-PROPERTIES-HANDLE-STALE", .at = "cuMemGetAllocationPropertiesFromHandle",
        .way = "ask before the release", .argument = "handle")
{
    vmm_mem_allocation_prop prop = {0};
    vmm_handle memory = create(b, G);
    FIX(DO(vmm_mem_get_allocation_properties_from_handle(S, &prop, memory));
        RIGHT(prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE));
    CAUSE(vmm_mem_release(S, memory));
    BUG(REPORTED(vmm_mem_get_allocation_properties_from_handle(S, &prop, memory)));
}
