/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses without rights, and wrong calls to set rights. */
#include "buggy.h"

/* Mapped and never granted: no location has access by default, not even the device that owns the memory. */
PROGRAM(kernel_without_grant, .does = "launches a kernel on memory that was mapped but never granted",
        .rule = "VMM-FAULT-ACCESS", .at = "cuCtxSynchronize", .way = "cuMemSetAccess after cuMemMap",
        .near = VMM_OBJECT_MAPPING)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, NONE, &memory);
    FIX(DO(grant(b, p, G, DEVICE(0), RW)));
    CAUSE(LAUNCH(NULL, FILL, p, G, 7));
    VALUE(p);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + G - 1) == 7));
    give_back(b, p, G, memory);
}

PROGRAM(fill_without_grant, .does = "clears memory that was mapped but never granted", .rule = "VMM-COPY-NO-WRITE",
        .at = "cuMemsetD32", .way = "cuMemSetAccess after cuMemMap", .argument = "dstDevice", .near = VMM_OBJECT_MAPPING)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, NONE, &memory);
    FIX(DO(grant(b, p, G, DEVICE(0), RW)));
    VALUE(p);
    REPORTED(vmm_memset_d32(S, p, 0x01010101, G / 4));
    FIX(RIGHT(byte_at(b, p + G - 1) == 1));
    give_back(b, p, G, memory);
}

PROGRAM(kernel_writes_read_only, .does = "writes with a kernel what was granted READ only", .rule = "VMM-FAULT-ACCESS",
        .at = "cuCtxSynchronize", .way = "grant READWRITE to who writes", .near = VMM_OBJECT_MAPPING)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, BUG_OR_FIX(READ, RW), &memory);
    CAUSE(LAUNCH(NULL, PATTERN_WRITE, p + 64, 64, 1));
    VALUE(p + 64);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p) == 0));
    give_back(b, p, G, memory);
}

PROGRAM(atomic_on_read_only, .does = "counts with atomics in memory that was granted READ only",
        .rule = "VMM-FAULT-ACCESS", .at = "cuCtxSynchronize", .way = "atomics write: grant READWRITE",
        .near = VMM_OBJECT_MAPPING)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, BUG_OR_FIX(READ, RW), &memory);
    CAUSE(LAUNCH(NULL, ATOMIC_ADD, p + 8, 3));
    VALUE(p + 8);
    REPORTED(vmm_ctx_synchronize(S));
    FIX(RIGHT(byte_at(b, p + 8) == 3));
    give_back(b, p, G, memory);
}

PROGRAM(fill_of_read_only, .does = "clears memory that was granted READ only", .rule = "VMM-COPY-NO-WRITE",
        .at = "cuMemsetD8", .way = "clear first, then grant READ", .argument = "dstDevice", .near = VMM_OBJECT_MAPPING)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, BUG_OR_FIX(READ, RW), &memory);
    VALUE(p);
    REPORTED(vmm_memset_d8(S, p, 2, G));
    FIX(DO(grant(b, p, G, DEVICE(0), READ)); RIGHT(byte_at(b, p) == 2));
    give_back(b, p, G, memory);
}

PROGRAM(copy_into_read_only, .does = "uploads into memory that is sealed READ already", .rule = "VMM-COPY-NO-WRITE",
        .at = "cuMemcpyHtoD", .way = "upload, then seal", .argument = "dstDevice")
{
    static const unsigned char weights[4] = {1, 2, 3, 4};
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    BUG(DO(grant(b, p, G, DEVICE(0), READ)));
    REPORTED(vmm_memcpy_htod(S, p, weights, 4));
    FIX(DO(grant(b, p, G, DEVICE(0), READ)); RIGHT(byte_at(b, p + 3) == 4));
    give_back(b, p, G, memory);
}

/* An array grows in place: reserved large, mapped chunk by chunk. The new chunk needs its own grant. */
PROGRAM(grown_part_not_granted, .does = "maps one more chunk and forgets to grant it", .rule = "VMM-COPY-NO-WRITE",
        .at = "cuMemsetD8", .way = "grant each chunk after mapping it", .argument = "dstDevice",
        .near = VMM_OBJECT_MAPPING)
{
    vmm_deviceptr p = reserve(b, 2 * G);
    for (uint64_t used = 0; used < 2 * G; used += G) {
        vmm_handle memory = create(b, G);
        DO(vmm_mem_map(S, p + used, G, 0, memory, 0));
        DO(vmm_mem_release(S, memory));
        if (used == 0 || !b->buggy)
            DO(grant(b, p + used, G, DEVICE(0), RW));
    }
    NEAR(p + G);
    REPORTED(vmm_memset_d8(S, p, 1, 2 * G));
    FIX(RIGHT(byte_at(b, p + 2 * G - 1) == 1));
    give_chunks_back(b, p, 2);
}

/* Rights belong to the mapping and end with it. */
PROGRAM(remapped_not_granted, .does = "unmaps and maps again, and relies on the earlier rights",
        .rule = "VMM-COPY-NO-READ", .at = "cuMemcpyDtoH", .way = "grant after every cuMemMap", .argument = "srcDevice",
        .near = VMM_OBJECT_MAPPING)
{
    vmm_handle memory;
    unsigned char back = 0;
    vmm_deviceptr p = mapped(b, G, RW, &memory);
    DO(vmm_memset_d8(S, p, 8, G));
    DO(vmm_ctx_synchronize(S)); /* a driver's fill may still run when the call returns */
    DO(vmm_mem_unmap(S, p, G));
    CAUSE(vmm_mem_map(S, p, G, 0, memory, 0));
    FIX(DO(grant(b, p, G, DEVICE(0), READ)));
    REPORTED(vmm_memcpy_dtoh(S, &back, p, 1));
    RIGHT(back == 8);
    give_back(b, p, G, memory);
}

/* Rights cannot be set for addresses, only for what is mapped there; the error is ignored, and the fill is refused. */
PROGRAM(grant_before_map, .does = "grants a reservation before anything is mapped, and ignores the error",
        .rule = "VMM-ACCESS-NOT-MAPPED", .at = "cuMemSetAccess", .way = "map, then grant; look at every result",
        .argument = "ptr", .near = VMM_OBJECT_RESERVATION, .then = "VMM-COPY-NO-WRITE")
{
    vmm_handle memory = create(b, G);
    vmm_deviceptr p = reserve(b, G);
    BUG(VALUE(p); REPORTED(grant(b, p, G, DEVICE(0), RW)));
    DO(vmm_mem_map(S, p, G, 0, memory, 0));
    FIX(DO(grant(b, p, G, DEVICE(0), RW)));
    THEN(vmm_memset_d8(S, p, 1, G));
    FIX(RIGHT(byte_at(b, p) == 1));
    give_back(b, p, G, memory);
}

PROGRAM(grant_too_long, .does = "grants the whole reservation although only its beginning is mapped",
        .rule = "VMM-ACCESS-NOT-MAPPED", .at = "cuMemSetAccess", .way = "grant what is mapped")
{
    vmm_deviceptr p = reserve(b, 4 * G);
    vmm_handle memory = create(b, G);
    DO(vmm_mem_map(S, p, G, 0, memory, 0));
    REPORTED(grant(b, p, BUG_OR_FIX(4 * G, G), DEVICE(0), RW));
    FIX(DO(vmm_memset_d8(S, p, 1, G)); RIGHT(byte_at(b, p + G - 1) == 1));
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, 4 * G));
}

PROGRAM(grant_of_half_a_mapping, .does = "grants a part of a mapping", .rule = "VMM-ACCESS-PARTIAL",
        .at = "cuMemSetAccess", .way = "rights are per mapping: map in the pieces that you grant",
        .near = VMM_OBJECT_MAPPING)
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, 2 * G, NONE, &memory);
    REPORTED(grant(b, p, BUG_OR_FIX(G, 2 * G), DEVICE(0), RW));
    FIX(DO(vmm_memset_d8(S, p, 1, G)); RIGHT(byte_at(b, p) == 1));
    give_back(b, p, 2 * G, memory);
}

/* The driver stops at the hole without an error: the chunk after it has no rights. */
PROGRAM(grant_over_a_hole, .does = "grants a range with a hole in it", .rule = "VMM-ACCESS-HOLE", .at = "cuMemSetAccess",
        .way = "grant each run of mappings by itself", .then = "VMM-COPY-NO-WRITE")
{
    vmm_deviceptr p = chunks(b, 3, NONE);
    DO(vmm_mem_unmap(S, p + G, G));
    BUG(REPORTED(grant(b, p, 3 * G, DEVICE(0), RW)));
    FIX(DO(grant(b, p, G, DEVICE(0), RW)); DO(grant(b, p + 2 * G, G, DEVICE(0), RW)));
    DO(vmm_memset_d8(S, p, 1, G));
    THEN(vmm_memset_d8(S, p + 2 * G, 1, G));
    FIX(RIGHT(byte_at(b, p + 2 * G) == 1));
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_unmap(S, p + 2 * G, G));
    DO(vmm_mem_address_free(S, p, 3 * G));
}

PROGRAM(grant_size_in_bytes_used, .does = "grants as many bytes as the array has, not as were mapped",
        .rule = "VMM-ACCESS-SIZE-GRANULARITY", .at = "cuMemSetAccess", .way = "round up as for cuMemCreate",
        .argument = "size")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, NONE, &memory);
    const uint64_t used = 1000 * sizeof(float);
    BUG(VALUE(used));
    REPORTED(grant(b, p, BUG_OR_FIX(used, G), DEVICE(0), RW));
    FIX(DO(vmm_memset_d32(S, p, 1, 1000)); RIGHT(byte_at(b, p + 3996) == 1));
    give_back(b, p, G, memory);
}

PROGRAM(descriptor_without_location, .does = "leaves the location of an access descriptor zero",
        .rule = "VMM-ACCESS-LOCATION-TYPE", .at = "cuMemSetAccess", .way = "say who: type DEVICE and the ordinal")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, NONE, &memory);
    vmm_mem_access_desc desc = {.flags = RW};
    FIX(desc.location = DEVICE(0));
    REPORTED(vmm_mem_set_access(S, p, G, &desc, 1));
    FIX(DO(vmm_memset_d8(S, p, 1, G)); RIGHT(byte_at(b, p) == 1));
    give_back(b, p, G, memory);
}

PROGRAM(host_rights_on_device_memory, .does = "grants the host access to memory of a device",
        .rule = "VMM-ACCESS-HOST-ON-DEVICE", .at = "cuMemSetAccess", .way = "copy, or create the memory on the host",
        .near = VMM_OBJECT_MAPPING)
{
    vmm_handle memory = create_at(b, G, BUG_OR_FIX(DEVICE(0), HOST));
    vmm_deviceptr p = reserve(b, G);
    DO(vmm_mem_map(S, p, G, 0, memory, 0));
    REPORTED(grant(b, p, G, HOST, RW));
    FIX(HOST_WRITE(p, 5); RIGHT(HOST_READ(p) == 5));
    give_back(b, p, G, memory);
}

PROGRAM(write_only_flags, .does = "asks for writing without reading (flags 2)", .rule = "VMM-ACCESS-FLAGS",
        .at = "cuMemSetAccess", .way = "READWRITE is 3; there is no write-only access")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, NONE, &memory);
    REPORTED(grant(b, p, G, DEVICE(0), BUG_OR_FIX(2, RW)));
    FIX(DO(vmm_memset_d8(S, p, 1, G)); RIGHT(byte_at(b, p) == 1));
    give_back(b, p, G, memory);
}

/* A list of grants merged from two sources. */
PROGRAM(one_location_twice, .does = "names a device twice in one call, and loses the first rights",
        .rule = "VMM-ACCESS-DUPLICATE", .at = "cuMemSetAccess", .way = "one descriptor for each location",
        .then = "VMM-COPY-NO-WRITE")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, NONE, &memory);
    const vmm_mem_access_desc desc[] = {{DEVICE(0), RW}, {DEVICE(0), READ}};
    REPORTED(vmm_mem_set_access(S, p, G, desc, BUG_OR_FIX(2, 1)));
    THEN(vmm_memset_d8(S, p, 1, G));
    FIX(RIGHT(byte_at(b, p) == 1));
    give_back(b, p, G, memory);
}

PROGRAM(no_descriptors, .does = "passes the number of descriptors of an empty list", .rule = "VMM-ACCESS-COUNT-ZERO",
        .at = "cuMemSetAccess", .way = "skip the call, or grant the owner at least", .argument = "count")
{
    vmm_handle memory;
    vmm_deviceptr p = mapped(b, G, NONE, &memory);
    vmm_mem_access_desc desc[2] = {{DEVICE(0), RW}};
    REPORTED(vmm_mem_set_access(S, p, G, desc, BUG_OR_FIX(0, 1)));
    FIX(DO(vmm_memset_d8(S, p, 1, G)); RIGHT(byte_at(b, p) == 1));
    give_back(b, p, G, memory);
}
