/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, addresses and offsets that the driver refuses, and results that the program ignores. */
#include "buggy.h"

PROGRAM(create_the_size_asked_for, .does = "creates memory of just the size that the user asked for",
        .rule = "VMM-CREATE-SIZE-GRANULARITY", .at = "cuMemCreate", .way = "round up to the granularity",
        .argument = "size")
{
    const uint64_t wanted = 5000, rounded = (wanted + G - 1) / G * G;
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    BUG(VALUE(wanted));
    REPORTED(vmm_mem_create(S, &memory, BUG_OR_FIX(wanted, rounded), &prop, 0));
    FIX(RIGHT(rounded == G); DO(vmm_mem_release(S, memory)));
}

PROGRAM(reserve_the_size_asked_for, .does = "reserves a size that is not a multiple of the granularity",
        .rule = "VMM-RESERVE-SIZE-GRANULARITY", .at = "cuMemAddressReserve", .way = "round up to the granularity",
        .argument = "size")
{
    vmm_deviceptr p = 0;
    const uint64_t wanted = 3 * 4096;
    BUG(VALUE(wanted));
    REPORTED(vmm_mem_address_reserve(S, &p, BUG_OR_FIX(wanted, G), 0, 0, 0));
    FIX(RIGHT(p % G == 0 && p != 0); DO(vmm_mem_address_free(S, p, G)));
}

PROGRAM(create_without_type, .does = "leaves the type of the properties zero", .rule = "VMM-CREATE-TYPE",
        .at = "cuMemCreate", .way = "type = PINNED")
{
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = {.location = DEVICE(0)};
    FIX(prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED);
    REPORTED(vmm_mem_create(S, &memory, G, &prop, 0));
    FIX(RIGHT(memory != 0); DO(vmm_mem_release(S, memory)));
}

PROGRAM(create_without_location, .does = "leaves the location of the properties zero",
        .rule = "VMM-CREATE-LOCATION-TYPE", .at = "cuMemCreate", .way = "say where: type DEVICE and the ordinal")
{
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED};
    FIX(prop.location = DEVICE(0));
    REPORTED(vmm_mem_create(S, &memory, G, &prop, 0));
    FIX(RIGHT(memory != 0); DO(vmm_mem_release(S, memory)));
}

PROGRAM(map_at_an_unaligned_address, .does = "maps right behind the last byte in use", .rule = "VMM-MAP-PTR-GRANULARITY",
        .at = "cuMemMap", .way = "round the end up to the granularity", .argument = "ptr")
{
    const uint64_t used = G + 4096, rounded = (used + G - 1) / G * G;
    vmm_deviceptr p = reserve(b, 3 * G), at = p + BUG_OR_FIX(used, rounded);
    vmm_handle memory = create(b, G);
    VALUE(at);
    REPORTED(vmm_mem_map(S, at, G, 0, memory, 0));
    FIX(DO(grant(b, at, G, DEVICE(0), RW)); RIGHT(byte_at(b, at) == 0); DO(vmm_mem_unmap(S, at, G)));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, 3 * G));
}

/* One large handle, to be mapped in parts. The corrected form makes a handle for each part. */
PROGRAM(map_at_an_offset, .does = "maps the second half of one large memory", .rule = "VMM-MAP-OFFSET", .at = "cuMemMap",
        .way = "a handle for each part: this driver maps whole memory only", .argument = "offset")
{
    vmm_deviceptr p = reserve(b, G);
    vmm_handle memory = create(b, BUG_OR_FIX(2 * G, G));
    BUG(VALUE(G));
    REPORTED(vmm_mem_map(S, p, G, BUG_OR_FIX(G, 0), memory, 0));
    FIX(DO(grant(b, p, G, DEVICE(0), RW)); RIGHT(byte_at(b, p) == 0); DO(vmm_mem_unmap(S, p, G)));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(map_a_part, .does = "maps the first half of one large memory", .rule = "VMM-MAP-SIZE-WHOLE", .at = "cuMemMap",
        .way = "a handle for each part: this driver maps whole memory only", .argument = "size")
{
    vmm_deviceptr p = reserve(b, G);
    vmm_handle memory = create(b, BUG_OR_FIX(2 * G, G));
    BUG(VALUE(G));
    REPORTED(vmm_mem_map(S, p, G, 0, memory, 0));
    FIX(DO(grant(b, p, G, DEVICE(0), RW)); RIGHT(byte_at(b, p) == 0); DO(vmm_mem_unmap(S, p, G)));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, G));
}

PROGRAM(map_over_a_mapping, .does = "maps new memory over the old to replace it", .rule = "VMM-MAP-OVERLAP",
        .at = "cuMemMap", .way = "unmap first: nothing is replaced silently", .argument = "ptr",
        .near = VMM_OBJECT_MAPPING)
{
    vmm_deviceptr p = chunks(b, 1, RW);
    vmm_handle fresh = create(b, G);
    DO(vmm_memset_d8(S, p, 9, G));
    FIX(DO(vmm_mem_unmap(S, p, G)));
    VALUE(p);
    REPORTED(vmm_mem_map(S, p, G, 0, fresh, 0));
    FIX(DO(grant(b, p, G, DEVICE(0), RW)); RIGHT(byte_at(b, p) == 0));
    DO(vmm_mem_release(S, fresh));
    give_chunks_back(b, p, 1);
}

PROGRAM(map_past_the_reservation, .does = "maps memory that is larger than the rest of its reservation",
        .rule = "VMM-MAP-PAST-RESERVATION", .at = "cuMemMap", .way = "reserve for the largest size; check before mapping",
        .near = VMM_OBJECT_RESERVATION)
{
    vmm_deviceptr p = reserve(b, 2 * G);
    vmm_handle memory = create(b, 2 * G);
    vmm_deviceptr at = BUG_OR_FIX(p + G, p);
    REPORTED(vmm_mem_map(S, at, 2 * G, 0, memory, 0));
    DO(grant(b, at, 2 * G, DEVICE(0), RW));
    RIGHT(byte_at(b, at + 2 * G - 1) == 0);
    DO(vmm_mem_unmap(S, at, 2 * G));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, 2 * G));
}

PROGRAM(map_without_reservation, .does = "maps at an address of its own choosing", .rule = "VMM-MAP-NOT-RESERVED",
        .at = "cuMemMap", .way = "cuMemAddressReserve; pass the choice there as a hint", .argument = "ptr")
{
    vmm_deviceptr p = UINT64_C(0x600000000000);
    vmm_handle memory = create(b, G);
    FIX(p = reserve(b, G));
    VALUE(p);
    REPORTED(vmm_mem_map(S, p, G, 0, memory, 0));
    FIX(DO(grant(b, p, G, DEVICE(0), RW)); RIGHT(byte_at(b, p) == 0); DO(vmm_mem_unmap(S, p, G));
        DO(vmm_mem_address_free(S, p, G)));
    DO(vmm_mem_release(S, memory));
}

PROGRAM(hint_unaligned, .does = "asks for an address behind the last byte in use", .rule = "VMM-RESERVE-HINT-GRANULARITY",
        .at = "cuMemAddressReserve", .way = "round the hint up to the granularity", .argument = "addr")
{
    vmm_deviceptr first = reserve(b, 2 * G), next = 0, hint = first + BUG_OR_FIX(G + 4096, 2 * G);
    VALUE(hint);
    REPORTED(vmm_mem_address_reserve(S, &next, G, 0, hint, 0));
    FIX(RIGHT(next == hint); DO(vmm_mem_address_free(S, next, G)));
    DO(vmm_mem_address_free(S, first, 2 * G));
}

/* Growing at the end of an array: the addresses after it are already reserved. The corrected form reserves room for
 * growth from the start. */
PROGRAM(hint_taken_for_granted, .does = "grows at a hint without looking at the address that came back",
        .rule = "VMM-RESERVE-HINT-NOT-TAKEN", .at = "cuMemAddressReserve",
        .way = "compare the address with the hint, or reserve enough at once", .argument = "addr",
        .then = "VMM-COPY-RUNS-PAST", .leaves = "R")
{
    vmm_deviceptr array = reserve(b, BUG_OR_FIX(G, 2 * G)), other = reserve(b, G), more = 0;
    for (uint64_t i = 0; i < 2; i++) {
        vmm_handle memory = create(b, G);
        BUG(if (i) VALUE(array + G));
        BUG(if (i) REPORTED(vmm_mem_address_reserve(S, &more, G, 0, array + G, 0)));
        DO(vmm_mem_map(S, i && b->buggy ? more : array + i * G, G, 0, memory, 0));
        DO(grant(b, i && b->buggy ? more : array + i * G, G, DEVICE(0), RW));
        DO(vmm_mem_release(S, memory));
    }
    THEN(vmm_memset_d8(S, array, 1, 2 * G));
    FIX(RIGHT(byte_at(b, array + 2 * G - 1) == 1); give_chunks_back(b, array, 2));
    BUG(give_chunks_back(b, array, 1); DO(vmm_mem_unmap(S, more, G))); /* drops the addresses that it never had */
    DO(vmm_mem_address_free(S, other, G));
}

PROGRAM(alignment_no_power_of_two, .does = "asks for an alignment of 3 chunks", .rule = "VMM-RESERVE-ALIGNMENT-POWER",
        .at = "cuMemAddressReserve", .way = "a power of two, or 0", .argument = "alignment")
{
    vmm_deviceptr p = 0;
    REPORTED(vmm_mem_address_reserve(S, &p, 3 * G, BUG_OR_FIX(3 * G, 4 * G), 0, 0));
    FIX(RIGHT(p % (4 * G) == 0); DO(vmm_mem_address_free(S, p, 3 * G)));
}

/* The device is full; the handle stays 0, and the growing array continues regardless. */
PROGRAM(failed_create_is_ignored, .does = "maps after cuMemCreate failed", .rule = "VMM-CREATE-MEMORY",
        .at = "cuMemCreate", .way = "look at the result; stay with the old size", .driver = "OUT_OF_MEMORY",
        .near = VMM_OBJECT_DEVICE, .then = "VMM-MAP-HANDLE-ZERO")
{
    vmm_deviceptr p = reserve(b, G);
    vmm_handle memory = 0;
    uint64_t left = 0, total = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    DO(vmm_mem_get_info(S, &left, &total));
    REPORTED(vmm_mem_create(S, &memory, BUG_OR_FIX(total / G * G + G, G), &prop, 0));
    THEN(vmm_mem_map(S, p, G, 0, memory, 0));
    FIX(DO(vmm_mem_release(S, memory)); DO(grant(b, p, G, DEVICE(0), RW)); RIGHT(byte_at(b, p) == 0);
        DO(vmm_mem_unmap(S, p, G)));
    DO(vmm_mem_address_free(S, p, G));
}

/* The array's size grows before its memory does, so the program uses the chunk that could not be created. */
PROGRAM(size_grows_although_memory_did_not, .does = "raises the array's size although the grow failed",
        .rule = "VMM-CREATE-MEMORY", .at = "cuMemCreate", .way = "change the size after the last step succeeded",
        .driver = "OUT_OF_MEMORY", .then = "VMM-COPY-RUNS-PAST")
{
    vmm_deviceptr p = reserve(b, 2 * G);
    vmm_handle first = create(b, G), all = 0, second = 0;
    vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    uint64_t size = G, left = 0;
    DO(vmm_mem_map(S, p, G, 0, first, 0));
    DO(grant(b, p, G, DEVICE(0), RW));
    DO(vmm_mem_get_info(S, &left, NULL));
    BUG(DO(vmm_mem_create(S, &all, left / G * G, &prop, 0))); /* another allocation takes the rest */
    BUG(size += G);
    BUG(REPORTED(vmm_mem_create(S, &second, G, &prop, 0)));
    THEN(vmm_memset_d8(S, p, 1, size));
    FIX(RIGHT(byte_at(b, p + size - 1) == 1));
    BUG(DO(vmm_mem_release(S, all)));
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_release(S, first));
    DO(vmm_mem_address_free(S, p, 2 * G));
}
