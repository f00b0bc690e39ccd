/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills at their edges, as measured on the driver. */
#include "test.h"

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

enum { LONGEST_SHORT = 24576 }; /* copy between device addresses, made the way copies to the host are */

static vmm_deviceptr host_memory(struct fix *f, vmm_mem_access_flags device, vmm_mem_access_flags host)
{
    fix_need_host(f);
    uint64_t size = fix_host_unit(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    vmm_deviceptr p = fix_reserve(f, size);
    fix_map(f, p, size, fix_create_prop(f, size, &prop));
    fix_access(f, p, size, device);
    fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), host);
    return p;
}

/* H.host_located: where the device has no access the host copies, and crashes where it has no access either. */
TEST_BREAKS(COPY_HOST_RIGHTS, copy_host_memory_without_rights)
{
    vmm_deviceptr p = host_memory(f, NONE, NONE), q = host_memory(f, NONE, READ);
    unsigned char bytes[16] = {0x77};
    REFUSED_NEAR(vmm_memcpy_dtoh(S, bytes, p, 16), INVALID_VALUE, "srcDevice", p, MAPPING, p);
    REFUSED_NEAR(vmm_memcpy_htod(S, p, bytes, 16), INVALID_VALUE, "dstDevice", p, MAPPING, p);
    REFUSED_NEAR(vmm_memcpy_htod(S, q, bytes, 16), INVALID_VALUE, "dstDevice", q, MAPPING, q);
    CHECK_U64(bytes[0], 0x77);
}

TEST_NEAR_MISS(COPY_HOST_RIGHTS, copy_host_memory_with_rights_of_the_host)
{
    vmm_deviceptr p = host_memory(f, NONE, RW);
    unsigned char out[16] = "by the host", in[16] = "";
    ACCEPTED(vmm_memcpy_htod(S, p, out, 16));
    ACCEPTED(vmm_memcpy_dtoh(S, in, p, 16));
    CHECK(in[0] == 'b' && in[10] == 't', "other bytes came back");
}

/* H.host_located.*.memset8: the device always does fills. */
TEST_EXPECTS("edge.fills_are_the_devices", fill_host_memory)
{
    vmm_deviceptr p = host_memory(f, NONE, RW), q = host_memory(f, RW, NONE);
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_memset_d8(S, p, 1, 16), INVALID_VALUE, "dstDevice", p);
    ACCEPTED(vmm_memset_d8(S, q, 3, 16));
    CHECK_U64(fix_peek(f, q + 15), 3);
}

/* H.memset_overflow: n times the width wraps around 2^64, and what remains is filled. */
TEST_WARNS(SET_COUNT_WRAPS, fill_a_count_that_wraps)
{
    uint64_t n = (UINT64_C(1) << 62) + 4, n16 = (UINT64_C(1) << 63) + 8;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    WARNED(vmm_memset_d32(S, p, 0x33333333, n), INVALID_VALUE, "N", n);
    CHECK_U64(fix_peek(f, p + 15), test_refuses(f, NULL) ? 0 : 0x33);
    CHECK_U64(fix_peek(f, p + 16), 0);
    WARNED(vmm_memset_d16(S, p, 0x4444, n16), INVALID_VALUE, "N", n16);
    CHECK_U64(fix_peek(f, p + 15), test_refuses(f, NULL) ? 0 : 0x44);
    CHECK_U64(fix_peek(f, p + 16), 0);
}

TEST_NEAR_MISS(SET_COUNT_WRAPS, fill_a_count_that_fits)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(vmm_memset_d32(S, p, 0x33333333, f->g / 4));
    ACCEPTED(vmm_memset_d16(S, p, 0x4444, f->g / 2));
}

/* H.memset32_plus2_n0: nothing to fill, nothing to check. */
TEST_EXPECTS("edge.fill_of_nothing", fill_nothing_anywhere)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    ACCEPTED(vmm_memset_d32(S, p + 2, 1, 0));
    ACCEPTED(vmm_memset_d16(S, p + 1, 1, 0));
    ACCEPTED(vmm_memset_d8(S, 0, 1, 0));
}

/* One range of two mappings: device memory with all rights for device 0, and from *seam on host memory with these
 * rights for the host. */
static vmm_deviceptr device_then_host(struct fix *f, vmm_mem_access_flags host, vmm_deviceptr *seam)
{
    fix_need_host(f);
    uint64_t unit = fix_host_unit(f), size = unit > f->g ? unit : f->g;
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    vmm_deviceptr p = fix_reserve_at(f, 2 * size, size, 0);
    fix_map(f, p, size, fix_create(f, size));
    fix_map(f, p + size, size, fix_create_prop(f, size, &prop));
    fix_access(f, p, 2 * size, RW);
    fix_access_at(f, p + size, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), host);
    *seam = p + size;
    return p;
}

/* M.seam.*.dev_h31, M.seam.*.dev_h33: the process ends. */
TEST_BREAKS(COPY_MIXED, copy_on_into_memory_that_the_host_may_touch)
{
    vmm_deviceptr seam, p = device_then_host(f, RW, &seam), from = seam - 8;
    unsigned char bytes[16] = {0x77};
    REFUSED_NEAR(vmm_memcpy_dtoh(S, bytes, from, 16), INVALID_VALUE, "srcDevice", from, MAPPING, seam);
    REFUSED_NEAR(vmm_memcpy_htod(S, from, bytes, 16), INVALID_VALUE, "dstDevice", from, MAPPING, seam);
    REFUSED_NEAR(vmm_memcpy_dtod(S, p, from, 16), INVALID_VALUE, "srcDevice", from, MAPPING, seam);
    REFUSED_NEAR(vmm_memcpy_dtod(S, p, from, LONGEST_SHORT), INVALID_VALUE, "srcDevice", from, MAPPING, seam);
    CHECK_U64(bytes[0], 0x77);
    CHECK_U64(fix_peek(f, from), 0);
}

TEST_NEAR_MISS(COPY_MIXED, copy_on_into_memory_of_the_host_that_it_may_not_touch)
{
    vmm_deviceptr seam, p = device_then_host(f, NONE, &seam), from = seam - 8;
    unsigned char bytes[16] = "over the seam", in[16] = "";
    ACCEPTED(vmm_memcpy_htod(S, from, bytes, 16));
    ACCEPTED(vmm_memcpy_dtoh(S, in, from, 16));
    CHECK(in[0] == 'o' && in[12] == 'm', "other bytes came back");
    ACCEPTED(vmm_memcpy_dtod(S, p, from, 16));
    ACCEPTED(vmm_memcpy_dtod(S, from, p, 16));
    CHECK_U64(fix_peek(f, seam + 4), 'm');
}

/* M.seam.dtod_*.*: where the device moves the bytes, the host's rights do not matter. */
TEST_EXPECTS("edge.device_copies_into_host", copy_between_device_addresses_into_host_memory)
{
    vmm_deviceptr seam, p = device_then_host(f, RW, &seam);
    ACCEPTED(vmm_memset_d8(S, p, 5, 16));
    ACCEPTED(vmm_memcpy_dtod(S, seam - 8, p, 16));
    CHECK_U64(fix_peek(f, seam + 7), 5);
    ACCEPTED(vmm_memcpy_dtod(S, p, seam - 8, LONGEST_SHORT + 2));
    CHECK_U64(fix_peek(f, p + 15), 5);
    CHECK_U64(fix_peek(f, p + 16), 0);
}

/* O.two.*, O.over.*: the host moves the bytes, however many, and needs rights on all of both ranges. */
TEST_EXPECTS("edge.host_copies_between_hosts", copy_where_both_ranges_have_memory_of_the_host)
{
    vmm_deviceptr seam, p = device_then_host(f, RW, &seam), only_read = host_memory(f, RW, READ);
    uint64_t most = seam - p;
    ACCEPTED(vmm_memcpy_dtod(S, seam, only_read, most < f->g ? most : f->g));
    fix_need_simulator(f, "driver 580 ends the process");
    REFUSED_BY("VMM-COPY-HOST-RIGHTS", vmm_memcpy_dtod(S, seam - 8, seam, 16), INVALID_VALUE, "dstDevice", seam - 8);
    REFUSED_BY("VMM-COPY-HOST-RIGHTS", vmm_memcpy_dtod(S, seam - most / 2, seam, most), INVALID_VALUE, "dstDevice",
               seam - most / 2);
    REFUSED_BY("VMM-COPY-HOST-RIGHTS", vmm_memcpy_dtod(S, only_read, seam, LONGEST_SHORT + 2), INVALID_VALUE,
               "dstDevice", only_read);
    REFUSED_BY("VMM-COPY-HOST-RIGHTS", vmm_memcpy_dtod(S, seam, seam - 8, LONGEST_SHORT + 2), INVALID_VALUE,
               "srcDevice", seam - 8);
}

/* M.seam.memset.*: a fill is refused where a copy would end the process. */
TEST_BREAKS(SET_INTO_HOST, fill_on_into_memory_that_the_host_may_touch)
{
    vmm_deviceptr seam, p = device_then_host(f, READ, &seam), from = seam - 8;
    (void)p;
    REFUSED_NEAR(vmm_memset_d8(S, from, 1, 16), INVALID_VALUE, "dstDevice", from, MAPPING, seam);
    REFUSED_NEAR(vmm_memset_d32(S, from, 1, 4), INVALID_VALUE, "dstDevice", from, MAPPING, seam);
    CHECK_U64(fix_peek(f, from), 0);
}

TEST_NEAR_MISS(SET_INTO_HOST, fill_memory_that_the_host_may_touch)
{
    vmm_deviceptr seam, p = device_then_host(f, READ, &seam);
    ACCEPTED(vmm_memset_d8(S, seam - 8, 2, 8));
    ACCEPTED(vmm_memset_d8(S, seam, 3, 8));
    fix_access(f, seam, seam - p, NONE);
    fix_access(f, seam, seam - p, RW); /* the device's rights changed last */
    ACCEPTED(vmm_memset_d8(S, seam - 8, 4, 16));
    fix_access_at(f, seam, seam - p, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), NONE);
    ACCEPTED(vmm_memset_d8(S, seam - 8, 5, 16));
    CHECK_U64(fix_peek(f, seam + 7), 5);
}

/* Q.seam.memset.ctx1.*: only device 0 refuses. */
TEST_EXPECTS_ON("edge.other_devices_fill_on", fill_on_by_another_device, "devices = 2\npeers = 0-1", TEST_AS_GIVEN, 0)
{
    fix_need_link(f, true);
    vmm_deviceptr seam, p = device_then_host(f, READ, &seam);
    const vmm_mem_location other = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1);
    fix_access_at(f, p, 2 * (seam - p), other, RW);
    fix_access_at(f, seam, seam - p, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), NONE);
    fix_access_at(f, seam, seam - p, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), READ);
    REFUSED_BY("VMM-SET-INTO-HOST", vmm_memset_d8(S, seam - 8, 1, 16), INVALID_VALUE, "dstDevice", seam - 8);
    fix_context(f, 1);
    ACCEPTED(vmm_memset_d8(S, seam - 8, 2, 16));
    CHECK_U64(fix_peek(f, seam + 7), 2);
}
