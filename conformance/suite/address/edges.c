/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of ranges as measured on the driver: seams, tails beyond a reservation, holes, and sizes that wrap around. The
 * comment of each test names its cases of h100-580.159.04-edges.tsv. */
#include "test.h"

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static uint64_t attribute(struct fix *f, vmm_pointer_attribute which, vmm_deviceptr ptr)
{
    uint64_t value = FIX_UNTOUCHED;
    fix_need(f, vmm_pointer_get_attribute(S, &value, which, ptr));
    return value;
}

static uint64_t rights(struct fix *f, vmm_deviceptr ptr)
{
    return fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, 0);
}

static vmm_mem_access_desc device0(vmm_mem_access_flags flags)
{
    return (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
}

/* [A A A M|M B B B]: a mapping of two granules over the seam of two reservations of four. */
static vmm_deviceptr over_the_seam(struct fix *f)
{
    vmm_deviceptr p = fix_adjacent(f, 4 * f->g, 4 * f->g);
    fix_map(f, p + 3 * f->g, 2 * f->g, fix_create(f, 2 * f->g));
    return p;
}

/* B.cross */
TEST_EXPECTS_ON("edge.seam_attributes", each_side_tells_its_reservation, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = over_the_seam(f), before = p + 3 * f->g, after = p + 4 * f->g;
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, before), p);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, after), after);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_RANGE_SIZE, after), 4 * f->g);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, after), before);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, after), 2 * f->g);
}

/* B.cross, B.free_a, B.free_b: neither half is a mapping by itself, and the mapping holds both reservations. */
TEST_EXPECTS_ON("edge.seam_mapping_is_one", halves_of_a_mapping_over_a_seam, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = over_the_seam(f), first = p + 3 * f->g, second = p + 4 * f->g;
    vmm_mem_access_desc desc = device0(RW);
    REFUSED_BY("VMM-ACCESS-PARTIAL", vmm_mem_set_access(S, first, f->g, &desc, 1), INVALID_VALUE, "size", f->g);
    REFUSED_BY("VMM-ACCESS-PARTIAL", vmm_mem_set_access(S, second, f->g, &desc, 1), INVALID_VALUE, "ptr", second);
    REFUSED_BY("VMM-UNMAP-PARTIAL", vmm_mem_unmap(S, first, f->g), INVALID_VALUE, "size", f->g);
    REFUSED_BY("VMM-UNMAP-PARTIAL", vmm_mem_unmap(S, second, f->g), INVALID_VALUE, "ptr", second);
    REFUSED_BY("VMM-FREE-MAPPED", vmm_mem_address_free(S, p, 4 * f->g), INVALID_VALUE, "ptr", p);
    REFUSED_BY("VMM-FREE-MAPPED", vmm_mem_address_free(S, second, 4 * f->g), INVALID_VALUE, "ptr", second);
    fix_unmap(f, first, 2 * f->g);
    fix_address_free(f, second, 4 * f->g);
    fix_address_free(f, p, 4 * f->g);
}

/* B.onto: a mapping beyond the seam is in the way until it is unmapped. */
TEST_EXPECTS_ON("edge.seam_onto_a_mapping", map_over_a_seam_onto_a_mapping, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = fix_adjacent(f, 4 * f->g, 4 * f->g), first = p + 3 * f->g, second = p + 4 * f->g;
    vmm_mem_generic_allocation_handle two = fix_create(f, 2 * f->g), one = fix_create(f, f->g);
    fix_map(f, second, f->g, one);
    REFUSED_BY("VMM-MAP-OVERLAP", vmm_mem_map(S, first, 2 * f->g, 0, two, 0), INVALID_VALUE, "ptr", first);
    fix_unmap(f, second, f->g);
    fix_map(f, first, 2 * f->g, two);
    REFUSED_BY("VMM-MAP-OVERLAP", vmm_mem_map(S, second, f->g, 0, one, 0), INVALID_VALUE, "ptr", second);
}

/* B.past: the part beyond has rights and bytes, but no reservation to report. */
TEST_EXPECTS_ON("edge.beyond_the_reservation", part_beyond_its_reservation, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = fix_free_range(f, 8 * f->g), beyond = p + 4 * f->g;
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    CHECK_U64(fix_reserve_at(f, 4 * f->g, 0, p), p);
    fix_map(f, p + 3 * f->g, 2 * f->g, fix_create(f, 2 * f->g));
    fix_access(f, p + 3 * f->g, 2 * f->g, RW);
    CHECK_U64(rights(f, beyond), RW);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, beyond), FIX_UNTOUCHED);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_RANGE_SIZE, beyond), FIX_UNTOUCHED);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, beyond), p + 3 * f->g);
    REFUSED_BY("VMM-RETAIN-NOT-MAPPED", vmm_mem_retain_allocation_handle(S, &handle, beyond), INVALID_VALUE, "addr",
               beyond);
    REFUSED_BY("VMM-UNMAP-NOT-RESERVED", vmm_mem_unmap(S, beyond, f->g), INVALID_VALUE, "ptr", beyond);
    REFUSED_BY("VMM-UNMAP-PARTIAL", vmm_mem_unmap(S, p, 4 * f->g), INVALID_VALUE, "size", 4 * f->g);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

/* B.take: a new reservation may get the addresses beyond; the mapping stays, and is in its way. */
TEST_BREAKS_ON(RESERVE_OVER_MAPPING, reserve_over_the_end_of_a_mapping, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = fix_free_range(f, 8 * f->g), beyond = p + 4 * f->g, taken = FIX_UNTOUCHED;
    vmm_mem_generic_allocation_handle one = fix_create(f, f->g);
    CHECK_U64(fix_reserve_at(f, 4 * f->g, 0, p), p);
    fix_map(f, p + 3 * f->g, 2 * f->g, fix_create(f, 2 * f->g));
    fix_access(f, p + 3 * f->g, 2 * f->g, RW);
    fix_fill(f, beyond, 5, f->g);
    WARNED(vmm_mem_address_reserve(S, &taken, f->g, 0, beyond, 0), INVALID_VALUE, "size", f->g);
    CHECK_U64(taken, beyond);
    fix_note(f, FIX_RESERVATION, taken, f->g);
    CHECK_U64(fix_peek(f, beyond), 5);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, beyond), beyond);
    REFUSED_BY("VMM-MAP-OVERLAP", vmm_mem_map(S, beyond, f->g, 0, one, 0), INVALID_VALUE, "ptr", beyond);
    REFUSED_BY("VMM-UNMAP-PARTIAL", vmm_mem_unmap(S, beyond, f->g), INVALID_VALUE, "ptr", beyond);
    REFUSED_BY("VMM-FREE-MAPPED", vmm_mem_address_free(S, beyond, f->g), INVALID_VALUE, "ptr", beyond);
    fix_unmap(f, p + 3 * f->g, 2 * f->g);
}

TEST_NEAR_MISS_ON(RESERVE_OVER_MAPPING, reserve_behind_the_end_of_a_mapping, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = fix_free_range(f, 8 * f->g), behind = p + 5 * f->g, taken = FIX_UNTOUCHED;
    CHECK_U64(fix_reserve_at(f, 4 * f->g, 0, p), p);
    fix_map(f, p + 3 * f->g, 2 * f->g, fix_create(f, 2 * f->g));
    ACCEPTED(vmm_mem_address_reserve(S, &taken, f->g, 0, behind, 0));
    CHECK_U64(taken, behind);
    fix_note(f, FIX_RESERVATION, taken, f->g);
}

/* C.size: the driver takes a range that wraps around 2^64 for an empty one if its end cuts no mapping. The granule
 * below p is the test's own; the driver may own what lies below that. */
TEST_WARNS(UNMAP_WRAPS, unmap_past_the_last_address)
{
    vmm_deviceptr p = fix_reserve(f, 2 * f->g) + f->g;
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_access(f, p, f->g, RW);
    const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - f->g + 1, UINT64_MAX - p + 1 + f->g};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        WARNED(vmm_mem_unmap(S, p, sizes[i]), INVALID_VALUE, "size", sizes[i]);
        CHECK_U64(rights(f, p), RW);
    }
}

/* M.unmap.-1.to_in_p: from the last address on, the range covers everything below its wrapped end, and the end cuts a
 * mapping. */
TEST_EXPECTS_ON("edge.unmap_from_the_last_address", unmap_from_the_last_address, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), last = UINT64_MAX;
    uint64_t into = p + f->g / 2 + 1;
    REFUSED_BY("VMM-UNMAP-PARTIAL", vmm_mem_unmap(S, last, into), INVALID_VALUE, "size", into);
    fix_need_simulator(f, "it would also unmap what others mapped");
    CHECK_U64(vmm_mem_unmap(S, last, p + f->g + 1), VMM_SUCCESS);
    fix_forget(f, FIX_MAPPING, p, f->g);
}

/* A large range that does not wrap unmaps everything that it covers. */
TEST_NEAR_MISS_ON(UNMAP_WRAPS, unmap_a_very_large_range, NULL, TEST_OBSERVED, 0)
{
    int mapped = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    fix_need(f, vmm_mem_unmap(S, p, UINT64_C(1) << 63));
    fix_forget(f, FIX_MAPPING, p, f->g);
    CHECK(vmm_pointer_get_attribute(S, &mapped, VMM_POINTER_ATTRIBUTE_MAPPED, p) != VMM_SUCCESS, "it is still mapped");
}

/* C.past_end, C.two: past the end of a reservation, and past all that two reservations hold. */
TEST_EXPECTS_ON("edge.unmap_over_everything", unmap_over_two_reservations_and_more, NULL, TEST_OBSERVED, 0)
{
    int mapped = 0;
    vmm_deviceptr p = fix_adjacent(f, 4 * f->g, 2 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_map(f, p + f->g, f->g, handle);
    fix_map(f, p + 5 * f->g, f->g, handle);
    fix_need(f, vmm_mem_unmap(S, p, 16 * f->g));
    fix_forget(f, FIX_MAPPING, p, 16 * f->g);
    for (unsigned i = 0; i < 6; i++)
        CHECK(vmm_pointer_get_attribute(S, &mapped, VMM_POINTER_ATTRIBUTE_MAPPED, p + i * f->g) != VMM_SUCCESS,
              "granule %u is mapped", i);
}

/* D.seam_shape, D.gap, D.beyond_hole: mappings behind the first hole keep the rights they have. */
TEST_EXPECTS_ON("edge.access_stops_at_a_hole", access_before_and_behind_a_hole, NULL, TEST_OBSERVED, 0)
{
    vmm_deviceptr p = fix_reserve(f, 6 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    vmm_mem_access_desc desc = device0(RW);
    const unsigned at[] = {0, 1, 3, 5};
    for (size_t i = 0; i < 4; i++)
        fix_map(f, p + at[i] * f->g, f->g, handle);
    fix_access(f, p + 3 * f->g, f->g, READ);
    fix_need(f, vmm_mem_set_access(S, p, 6 * f->g, &desc, 1));
    CHECK_U64(rights(f, p), RW);
    CHECK_U64(rights(f, p + f->g), RW);
    CHECK_U64(rights(f, p + 3 * f->g), READ);
    CHECK_U64(rights(f, p + 5 * f->g), NONE);
}

/* D.host_none, D.numa_none: revoking rights that a location does not have is accepted. */
TEST_EXPECTS("edge.no_rights_for_the_host_on_device_memory", no_host_rights_on_device_memory)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    const int types[] = {VMM_MEM_LOCATION_TYPE_HOST, VMM_MEM_LOCATION_TYPE_HOST_NUMA};
    for (size_t i = 0; i < 2; i++) {
        vmm_mem_access_desc desc = {{types[i], 0}, NONE};
        ACCEPTED(vmm_mem_set_access(S, p, f->g, &desc, 1));
        CHECK_U64(rights(f, p), RW);
    }
}

/* D.dev+host, D.host+dev: the one refusal with a side effect. */
TEST_EXPECTS("edge.access_refused_half_way", access_for_a_device_and_the_host)
{
    vmm_deviceptr p = fix_mapped(f, f->g, READ, NULL);
    vmm_mem_access_desc desc[2] = {device0(RW), {{VMM_MEM_LOCATION_TYPE_HOST, 0}, RW}}, turned[2] = {desc[1], desc[0]};
    REFUSED_BY("VMM-ACCESS-HOST-ON-DEVICE", vmm_mem_set_access(S, p, f->g, turned, 2), NOT_SUPPORTED,
               "desc.location.type", VMM_MEM_LOCATION_TYPE_HOST);
    CHECK_U64(rights(f, p), READ);
    vmm_result result = vmm_mem_set_access(S, p, f->g, desc, 2);
    CHECK(result == VMM_ERROR_NOT_SUPPORTED, "%s", vmm_result_name(result));
    CHECK_U64(rights(f, p), RW);
}

/* E.table, E.orders, M.told: a query of HOST returns the rights that changed last, of device 0 or the host, unless they
 * changed to none. */
TEST_EXPECTS("edge.host_is_told_the_newer_rights", host_rights_on_host_memory)
{
    fix_need_host(f);
    static const struct {
        vmm_mem_access_flags device, host;
        bool device_first;
        uint64_t reported;
    } table[] = {{NONE, READ, true, READ}, {READ, NONE, true, READ}, {RW, READ, true, READ}, {READ, RW, true, RW},
                 {READ, RW, false, READ},  {RW, READ, false, RW},    {NONE, RW, false, RW},  {RW, NONE, false, RW}};
    uint64_t size = fix_host_unit(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    vmm_deviceptr p = fix_reserve(f, size);
    vmm_mem_generic_allocation_handle handle = fix_create_prop(f, size, &prop);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        fix_map(f, p, size, handle);
        if (table[i].device_first)
            fix_access(f, p, size, table[i].device);
        fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), table[i].host);
        if (!table[i].device_first)
            fix_access(f, p, size, table[i].device);
        CHECK_U64(rights(f, p), (uint64_t)table[i].device);
        CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST, 0), table[i].reported);
        CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0), (uint64_t)table[i].host);
        if (table[i].device_first && table[i].device == RW && table[i].host == READ) {
            fix_access(f, p, size, RW); /* as it is: no change */
            CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST, 0), READ);
            fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
            fix_access(f, p, size, READ);
            CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST, 0), READ);
        }
        fix_unmap(f, p, size);
    }
}

/* E.cumemalloc, E.dev_mem.numa99: memory of cuMemAlloc has no rights to report, and the driver ignores a node's id. */
TEST_EXPECTS("edge.rights_of_other_memory", rights_of_old_memory_and_odd_nodes)
{
    CHECK_U64(fix_rights(f, fix_alloc(f, f->g), VMM_MEM_LOCATION_TYPE_DEVICE, 0), NONE);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST, 99), RW);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 99), NONE);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST_NUMA, -1), NONE);
}

/* I.range: with no output the driver looks nothing up; it finds host memory, too, only where the device has access. */
TEST_EXPECTS("edge.address_range", address_ranges_at_the_edge)
{
    vmm_deviceptr p = fix_reserve(f, f->g), base = FIX_UNTOUCHED;
    ACCEPTED(vmm_mem_get_address_range(S, NULL, NULL, p));
    ACCEPTED(vmm_mem_get_address_range(S, NULL, NULL, 0));
    fix_need_host(f);
    uint64_t size = fix_host_unit(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    vmm_deviceptr q = fix_reserve(f, size);
    fix_map(f, q, size, fix_create_prop(f, size, &prop));
    fix_access_at(f, q, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
    REFUSED_BY("VMM-RANGE-NOT-FOUND", vmm_mem_get_address_range(S, &base, NULL, q), NOT_FOUND, "dptr", q);
    CHECK_U64(base, 0);
}

/* I.rw.attr6: 1 once another driver may move the bytes, which a query of P2P_TOKENS prepares; only there. */
TEST_EXPECTS("edge.sync_memops", sync_memops_of_device_memory)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), beside = fix_mapped(f, f->g, RW, NULL);
    unsigned char tokens[16];
    int value = 77;
    fix_need(f, vmm_pointer_get_attribute(S, &value, VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    CHECK_U64((uint64_t)value, 0);
    fix_need(f, vmm_pointer_get_attribute(S, tokens, VMM_POINTER_ATTRIBUTE_P2P_TOKENS, p));
    fix_need(f, vmm_pointer_get_attribute(S, &value, VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    CHECK_U64((uint64_t)value, 1);
    fix_need(f, vmm_pointer_get_attribute(S, &value, VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS, beside));
    CHECK_U64((uint64_t)value, 0);
}
