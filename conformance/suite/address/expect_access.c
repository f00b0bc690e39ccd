/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: rights, copies and fills on one device. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static uint64_t rights(struct fix *f, vmm_deviceptr ptr)
{
    return fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, 0);
}

TEST_EXPECTS("access.whole", access_to_a_whole_mapping)
{
    vmm_deviceptr p = fix_mapped(f, 4 * f->g, NONE, NULL);
    fix_access(f, p, 4 * f->g, RW);
    for (unsigned i = 0; i < 4; i++)
        CHECK_U64(rights(f, p + i * f->g), RW);
    fix_fill(f, p, 1, 4 * f->g);
}

TEST_EXPECTS("access.flag_values", each_kind_of_access)
{
    vmm_deviceptr p = fix_mapped(f, f->g, NONE, NULL);
    char byte = 0;
    REFUSED_BY("VMM-COPY-NO-READ", vmm_memcpy_dtoh(S, &byte, p, 1), INVALID_VALUE, "srcDevice", p);
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_memset_d8(S, p, 1, 1), INVALID_VALUE, "dstDevice", p);
    fix_access(f, p, f->g, READ);
    ACCEPTED(vmm_memcpy_dtoh(S, &byte, p, 1));
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_memset_d8(S, p, 1, 1), INVALID_VALUE, "dstDevice", p);
    fix_access(f, p, f->g, RW);
    ACCEPTED(vmm_memcpy_dtoh(S, &byte, p, 1));
    ACCEPTED(vmm_memset_d8(S, p, 1, 1));
}

TEST_EXPECTS("access.change_repeatedly", change_access_often)
{
    static const vmm_mem_access_flags steps[] = {RW, READ, NONE, READ, RW, NONE, RW};
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, NONE, NULL);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        fix_access(f, p, 2 * f->g, steps[i]);
        CHECK_U64(rights(f, p + f->g), (uint64_t)steps[i]);
    }
    CHECK_U64(fix_peek(f, p), 0);
}

TEST_EXPECTS("access.several_mappings", access_to_three_mappings)
{
    vmm_deviceptr p = fix_reserve(f, 6 * f->g);
    for (unsigned i = 0; i < 3; i++)
        fix_map(f, p + 2 * i * f->g, 2 * f->g, fix_create(f, 2 * f->g));
    fix_access(f, p, 6 * f->g, RW);
    fix_access(f, p + 2 * f->g, 4 * f->g, READ);
    for (unsigned i = 0; i < 6; i++)
        CHECK_U64(rights(f, p + i * f->g), i < 2 ? RW : READ);
}

TEST_EXPECTS("access.host_memory", access_to_host_memory)
{
    fix_need_host(f);
    uint64_t size = fix_host_unit(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    vmm_deviceptr p = fix_reserve(f, size);
    fix_map(f, p, size, fix_create_prop(f, size, &prop));
    fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0), RW);
    CHECK_U64(rights(f, p), NONE);
    fix_access(f, p, size, RW);
    fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0), READ);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0), READ);
    CHECK_U64(rights(f, p), RW);
    fix_fill(f, p, 0x42, size);
    CHECK_U64(fix_peek(f, p + size - 1), 0x42);
}

TEST_EXPECTS("access.numa_id_ignored", access_of_a_node_that_is_not_there)
{
    fix_need_numa(f);
    uint64_t size = fix_host_unit(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, fix_numa_node(f));
    vmm_deviceptr p = fix_reserve(f, size);
    fix_map(f, p, size, fix_create_prop(f, size, &prop));
    fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 99), RW);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0), RW);
}

TEST_EXPECTS("getaccess.any_byte", rights_at_any_byte)
{
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, READ, NULL);
    const uint64_t offsets[] = {0, 1, 12345, f->g - 1, f->g, 2 * f->g - 1};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
        CHECK_U64(rights(f, p + offsets[i]), READ);
}

TEST_EXPECTS("getaccess.reports", rights_as_set)
{
    static const vmm_mem_access_flags flags[] = {NONE, READ, RW};
    vmm_deviceptr p = fix_reserve(f, 3 * f->g);
    for (unsigned i = 0; i < 3; i++) {
        fix_map(f, p + i * f->g, f->g, fix_create(f, f->g));
        fix_access(f, p + i * f->g, f->g, flags[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        CHECK_U64(rights(f, p + i * f->g), (uint64_t)flags[i]);
}

/* Where nothing is mapped the call writes 0, as measured. For a location that does not exist it writes nothing. */
TEST_EXPECTS("getaccess.output_on_failure", output_of_refused_rights)
{
    vmm_mem_location here = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), nowhere = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 99);
    vmm_deviceptr p = fix_reserve(f, f->g);
    uint64_t flags = FIX_UNTOUCHED;
    REFUSED_BY("VMM-GETACCESS-LOCATION", vmm_mem_get_access(S, &flags, &nowhere, p), INVALID_DEVICE, "location.id", 99);
    CHECK_U64(flags, FIX_UNTOUCHED);
    REFUSED_BY("VMM-GETACCESS-NOT-MAPPED", vmm_mem_get_access(S, &flags, &here, p), INVALID_VALUE, "ptr", p);
    CHECK_U64(flags, 0);
}

TEST_EXPECTS("copy.read_only_source", read_is_enough_to_read)
{
    vmm_deviceptr source = fix_mapped(f, f->g, RW, NULL), target = fix_mapped(f, f->g, RW, NULL);
    fix_fill(f, source, 0x21, f->g);
    fix_access(f, source, f->g, READ);
    ACCEPTED(vmm_memcpy_dtod(S, target, source, f->g));
    CHECK_U64(fix_peek(f, target + f->g - 1), 0x21);
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_memcpy_dtod(S, source, target, f->g), INVALID_VALUE, "dstDevice", source);
}

/* Each byte encodes its place, across two seams of mappings. */
TEST_EXPECTS("copy.spans_mappings", copies_across_mappings)
{
    unsigned char out[96], in[96];
    vmm_deviceptr p = fix_reserve(f, 6 * f->g);
    for (unsigned i = 0; i < 6; i++)
        fix_map(f, p + i * f->g, f->g, fix_create(f, f->g));
    fix_access(f, p, 6 * f->g, RW);
    for (unsigned i = 0; i < sizeof out; i++)
        out[i] = (unsigned char)(i + 1);
    ACCEPTED(vmm_memcpy_htod(S, p + f->g - 48, out, sizeof out));
    ACCEPTED(vmm_memcpy_dtoh(S, in, p + f->g - 48, sizeof in));
    CHECK(memcmp(in, out, sizeof in) == 0, "other bytes came back");
    CHECK_U64(fix_peek(f, p + f->g - 1), 48);
    CHECK_U64(fix_peek(f, p + f->g), 49);
    ACCEPTED(vmm_memcpy_dtod(S, p + 4 * f->g - 10, p + f->g - 48, sizeof out));
    ACCEPTED(vmm_memcpy_dtoh(S, in, p + 4 * f->g - 10, sizeof in));
    CHECK(memcmp(in, out, sizeof in) == 0, "other bytes were copied");
    ACCEPTED(vmm_memset_d32(S, p + 4, 0x44332211, (6 * f->g - 8) / 4));
    CHECK_U64(fix_peek(f, p + 3), 0);
    CHECK_U64(fix_peek(f, p + 5 * f->g), 0x11);
    CHECK_U64(fix_peek(f, p + 5 * f->g + 3), 0x44);
    CHECK_U64(fix_peek(f, p + 6 * f->g - 4), 0);
}

/* The simulator copies as memmove does; the documentation leaves overlapping copies undefined. */
TEST_EXPECTS("copy.overlapping_as_memmove", overlapping_copies)
{
    fix_need_simulator(f, "needs a backend that defines overlapping copies");
    enum { SIZE = 192 * 1024, LENGTH = SIZE - 40000 };
    static const struct {
        unsigned from, to;
    } shift[] = {{0, 1}, {1, 0}, {0, 1000}, {1000, 0}, {0, 40000}, {40000, 0}};
    uint64_t size = (SIZE + f->g - 1) / f->g * f->g;
    vmm_deviceptr p = fix_mapped(f, size, RW, NULL);
    unsigned char *want = malloc(SIZE), *got = malloc(SIZE);
    for (size_t i = 0; want && got && i < sizeof shift / sizeof shift[0]; i++) {
        for (unsigned j = 0; j < SIZE; j++)
            want[j] = (unsigned char)(j * 7 + j / 251);
        ACCEPTED(vmm_memcpy_htod(S, p, want, SIZE));
        ACCEPTED(vmm_memcpy_dtod(S, p + shift[i].to, p + shift[i].from, LENGTH));
        memmove(want + shift[i].to, want + shift[i].from, LENGTH);
        ACCEPTED(vmm_memcpy_dtoh(S, got, p, SIZE));
        CHECK(memcmp(got, want, SIZE) == 0, "from %u to %u: other bytes", shift[i].from, shift[i].to);
    }
    CHECK(want && got, "no memory");
    free(want);
    free(got);
}

TEST_EXPECTS("copy.fills_of_each_width", fills_repeat_their_pattern)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    const unsigned char want[16] = {0x11, 0x11, 0x33, 0x22, 0x33, 0x22, 0, 0, 0x77, 0x66, 0x55, 0x44, 0x77, 0x66, 0x55, 0x44};
    unsigned char got[16];
    ACCEPTED(vmm_memset_d8(S, p, 0x11, 2));
    ACCEPTED(vmm_memset_d16(S, p + 2, 0x2233, 2));
    ACCEPTED(vmm_memset_d32(S, p + 8, 0x44556677, 2));
    fix_need(f, vmm_memcpy_dtoh(S, got, p, 16));
    CHECK(memcmp(got, want, 16) == 0, "other bytes");
    ACCEPTED(vmm_memset_d32(S, p + 1024, 0x08090909, 67)); /* alike to the last byte; longer than what goes to memory at once */
    CHECK_U64(fix_peek(f, p + 1024 + 3), 8);
    CHECK_U64(fix_peek(f, p + 1024 + 266), 9);
    CHECK_U64(fix_peek(f, p + 1024 + 267), 8);
    CHECK_U64(fix_peek(f, p + 1024 + 268), 0);
}

TEST_EXPECTS("copy.async_forms_do_the_same", copies_on_a_stream)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), q = fix_mapped(f, f->g, RW, NULL);
    vmm_stream stream = fix_stream(f);
    unsigned char out[8] = "asyncly", in[8] = "";
    ACCEPTED(vmm_memcpy_htod_async(S, p, out, 8, stream));
    ACCEPTED(vmm_memcpy_dtod_async(S, q, p, 8, stream));
    ACCEPTED(vmm_memset_d8_async(S, q + 7, 0, 1, stream));
    ACCEPTED(vmm_memset_d16_async(S, q + 16, 0x0102, 2, stream));
    ACCEPTED(vmm_memset_d32_async(S, q + 32, 0x01020304, 1, stream));
    ACCEPTED(vmm_memcpy_dtoh_async(S, in, q, 8, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    CHECK(memcmp(in, out, 8) == 0, "other bytes came back");
    CHECK_U64(fix_peek(f, q + 17), 1);
    CHECK_U64(fix_peek(f, q + 32), 4);
}
