/* SPDX-License-Identifier: Apache-2.0 */
/* Two mistakes in one call: the recorded driver decides which one is reported. Codes were measured where they differ
 * (h100-580.159.04-order.tsv and -edges.tsv); where rules share a code, their order is cuvmm's choice. */
#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define HUGE_SIZE (UINT64_C(1) << 62)

#define CREATE(size, prop, flags) vmm_mem_create(S, &handle, (size), &(prop), (flags))

/* Size 0, an uneven size and flags come before the device's id; too much memory comes after it. */
TEST_EXPECTS("order.of_checks", order_of_create)
{
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    vmm_mem_allocation_prop nowhere = fix_prop(99);
    REFUSED_BY("VMM-CREATE-SIZE-ZERO", CREATE(0, nowhere, 0), INVALID_VALUE, "size", 0);
    REFUSED_BY("VMM-CREATE-SIZE-GRANULARITY", CREATE(f->g + 1, nowhere, 0), INVALID_VALUE, "size", f->g + 1);
    REFUSED_BY("VMM-CREATE-FLAGS", CREATE(f->g, nowhere, 1), INVALID_VALUE, "flags", 1);
    REFUSED_BY("VMM-CREATE-DEVICE-ID", CREATE(HUGE_SIZE, nowhere, 0), INVALID_DEVICE, "prop.location.id", 99);
    REFUSED_BY("VMM-CREATE-NULL-HANDLE", vmm_mem_create(S, NULL, HUGE_SIZE, &nowhere, 0), INVALID_VALUE, "handle", 0);
    REFUSED_BY("VMM-CREATE-NULL-PROP", vmm_mem_create(S, &handle, HUGE_SIZE, NULL, 0), INVALID_VALUE, "prop", 0);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

/* The device's id comes before the rest of the property. */
TEST_EXPECTS("order.of_checks", order_of_create_on_no_device)
{
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    vmm_mem_allocation_prop prop[7];
    for (size_t i = 0; i < 7; i++)
        prop[i] = fix_prop(99);
    prop[0].type = VMM_MEM_ALLOCATION_TYPE_INVALID;
    prop[1].type = VMM_MEM_ALLOCATION_TYPE_MANAGED;
    prop[2].requested_handle_types = VMM_MEM_HANDLE_TYPE_WIN32;
    prop[3].requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    prop[4].alloc_flags.compression_type = 2;
    prop[5].alloc_flags.reserved[0] = 1;
    prop[6].win32_handle_meta_data = &prop;
    for (size_t i = 0; i < 7; i++)
        REFUSED_BY("VMM-CREATE-DEVICE-ID", CREATE(f->g, prop[i], 0), INVALID_DEVICE, "prop.location.id", 99);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

/* Whatever the size, a wrong property is reported before a lack of memory. */
TEST_EXPECTS("order.of_checks", order_of_create_of_too_much)
{
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    vmm_mem_allocation_prop type = fix_prop(0), reserved = fix_prop(0), usage = fix_prop(0);
    type.type = VMM_MEM_ALLOCATION_TYPE_MANAGED;
    reserved.alloc_flags.reserved[1] = 1;
    usage.alloc_flags.usage = 4;
    REFUSED_BY("VMM-CREATE-TYPE", CREATE(HUGE_SIZE, type, 0), INVALID_VALUE, "prop.type",
               VMM_MEM_ALLOCATION_TYPE_MANAGED);
    REFUSED_BY("VMM-CREATE-RESERVED", CREATE(HUGE_SIZE, reserved, 0), INVALID_VALUE, "prop.allocFlags.reserved", 1);
    REFUSED_BY("VMM-CREATE-MEMORY", CREATE(HUGE_SIZE, usage, 0), OUT_OF_MEMORY, "size", HUGE_SIZE);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

/* A lack of memory comes before a fabric without permission, and every check of the property before either. */
TEST_EXPECTS_ON("order.of_checks", order_of_create_for_a_fabric, "attribute.128 = 1\nfabric.imex = no", TEST_AS_GIVEN, 0)
{
    fix_need_fabric(f, false);
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    vmm_mem_allocation_prop fabric = fix_prop(0), windows = fix_prop(0), both = fix_prop(0);
    fabric.requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    windows.requested_handle_types = VMM_MEM_HANDLE_TYPE_WIN32;
    both.requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    both.alloc_flags.compression_type = 2;
    REFUSED_BY("VMM-CREATE-SIZE-GRANULARITY", CREATE(f->g + 1, fabric, 0), INVALID_VALUE, "size", f->g + 1);
    REFUSED_BY("VMM-CREATE-MEMORY", CREATE(HUGE_SIZE, fabric, 0), OUT_OF_MEMORY, "size", HUGE_SIZE);
    REFUSED_BY("VMM-CREATE-HANDLE-TYPE-WINDOWS", CREATE(HUGE_SIZE, windows, 0), INVALID_VALUE,
               "prop.requestedHandleTypes", VMM_MEM_HANDLE_TYPE_WIN32);
    REFUSED_BY("VMM-CREATE-COMPRESSION-TYPE", CREATE(f->g, both, 0), INVALID_VALUE, "prop.allocFlags.compressionType",
               2);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

/* size 0, flags, ptr 0 and handle 0 first; then whether parts are supported; then the addresses. */
TEST_EXPECTS_ON("order.of_checks", order_of_map, "map.partial = no", TEST_AS_GIVEN, 0)
{
    fix_need_parts(f, false);
    vmm_deviceptr p = fix_reserve(f, 4 * f->g), out = p + 4 * f->g;
    vmm_mem_generic_allocation_handle h = fix_create(f, 2 * f->g);
    fix_map(f, p, 2 * f->g, h);
    REFUSED_BY("VMM-MAP-SIZE-ZERO", vmm_mem_map(S, p, 0, f->g, h, 0), INVALID_VALUE, "size", 0);
    REFUSED_BY("VMM-MAP-FLAGS", vmm_mem_map(S, p, f->g, f->g, h, 1), INVALID_VALUE, "flags", 1);
    REFUSED_BY("VMM-MAP-PTR-ZERO", vmm_mem_map(S, 0, f->g, f->g, h, 0), INVALID_VALUE, "ptr", 0);
    REFUSED_BY("VMM-MAP-HANDLE-ZERO", vmm_mem_map(S, p + 1, f->g, f->g, 0, 0), INVALID_VALUE, "handle", 0);
    REFUSED_BY("VMM-MAP-OFFSET", vmm_mem_map(S, out, f->g, f->g, h, 0), NOT_SUPPORTED, "offset", f->g);
    REFUSED_BY("VMM-MAP-SIZE-WHOLE", vmm_mem_map(S, out, f->g, 0, h, 0), NOT_SUPPORTED, "size", f->g);
    REFUSED_BY("VMM-MAP-SIZE-WHOLE", vmm_mem_map(S, p + 1, f->g, 0, h, 0), NOT_SUPPORTED, "size", f->g);
    REFUSED_BY("VMM-MAP-SIZE-WHOLE", vmm_mem_map(S, p, f->g, 0, h, 0), NOT_SUPPORTED, "size", f->g);
    REFUSED_BY("VMM-MAP-PTR-GRANULARITY", vmm_mem_map(S, out + 1, 2 * f->g, 0, h, 0), INVALID_VALUE, "ptr", out + 1);
}

/* The descriptors' fields come before the addresses, and the addresses before what the memory allows. */
TEST_EXPECTS("order.of_checks", order_of_set_access)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, 2 * f->g, fix_create(f, 2 * f->g));
    vmm_mem_access_desc bad = {{VMM_MEM_LOCATION_TYPE_DEVICE, 99}, 2}, host = {{VMM_MEM_LOCATION_TYPE_HOST, 0}, RW};
    vmm_deviceptr empty = p + 2 * f->g;
    REFUSED_BY("VMM-ACCESS-FLAGS", vmm_mem_set_access(S, p, 2 * f->g, &bad, 1), INVALID_VALUE, "desc.flags", 2);
    bad.flags = RW;
    REFUSED_BY("VMM-ACCESS-DEVICE-ID", vmm_mem_set_access(S, empty, f->g, &bad, 1), INVALID_VALUE, "desc.location.id",
               99);
    REFUSED_BY("VMM-ACCESS-NOT-MAPPED", vmm_mem_set_access(S, empty, f->g, &host, 1), INVALID_VALUE, "ptr", empty);
    REFUSED_BY("VMM-ACCESS-PARTIAL", vmm_mem_set_access(S, p, f->g, &host, 1), INVALID_VALUE, "size", f->g);
    REFUSED_BY("VMM-ACCESS-COUNT-ZERO", vmm_mem_set_access(S, empty, f->g, NULL, 0), INVALID_VALUE, "count", 0);
}

/* NULLs and address 0 come first, then the location, then the mapping. */
TEST_EXPECTS("order.of_checks", order_of_get_access)
{
    vmm_mem_location nowhere = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 99);
    vmm_deviceptr p = fix_reserve(f, f->g);
    uint64_t flags = FIX_UNTOUCHED;
    REFUSED_BY("VMM-GETACCESS-LOCATION", vmm_mem_get_access(S, &flags, &nowhere, p), INVALID_DEVICE, "location.id", 99);
    REFUSED_BY("VMM-GETACCESS-PTR-ZERO", vmm_mem_get_access(S, &flags, &nowhere, 0), INVALID_VALUE, "ptr", 0);
    REFUSED_BY("VMM-GETACCESS-NULL-FLAGS", vmm_mem_get_access(S, NULL, &nowhere, p), INVALID_VALUE, "flags", 0);
    REFUSED_BY("VMM-GETACCESS-NULL-LOCATION", vmm_mem_get_access(S, &flags, NULL, 0), INVALID_VALUE, "location", 0);
    CHECK_U64(flags, FIX_UNTOUCHED);
}

/* Wrong values come before a lack of addresses. */
TEST_EXPECTS("order.of_checks", order_of_reserve)
{
    vmm_deviceptr p = FIX_UNTOUCHED, far = UINT64_C(1) << 60;
    REFUSED_BY("VMM-RESERVE-FLAGS", vmm_mem_address_reserve(S, &p, HUGE_SIZE, 0, far, 1), INVALID_VALUE, "flags", 1);
    REFUSED_BY("VMM-RESERVE-SIZE-ZERO", vmm_mem_address_reserve(S, &p, 0, 0, far, 0), INVALID_VALUE, "size", 0);
    REFUSED_BY("VMM-RESERVE-SIZE-GRANULARITY", vmm_mem_address_reserve(S, &p, 1, 0, far, 0), INVALID_VALUE, "size", 1);
    REFUSED_BY("VMM-RESERVE-ALIGNMENT-POWER", vmm_mem_address_reserve(S, &p, HUGE_SIZE, 3, far, 0), INVALID_VALUE,
               "alignment", 3);
    REFUSED_BY("VMM-RESERVE-ALIGNMENT-LIMIT", vmm_mem_address_reserve(S, &p, HUGE_SIZE, UINT64_C(1) << 63, far, 0),
               INVALID_VALUE, "alignment", UINT64_C(1) << 63);
    REFUSED_BY("VMM-RESERVE-HINT-GRANULARITY", vmm_mem_address_reserve(S, &p, HUGE_SIZE, 0, far + 1, 0), INVALID_VALUE,
               "addr", far + 1);
    REFUSED_BY("VMM-RESERVE-NULL-PTR", vmm_mem_address_reserve(S, NULL, HUGE_SIZE, 0, 0, 0), INVALID_VALUE, "ptr", 0);
    CHECK_U64(p, FIX_UNTOUCHED);
}

/* H.noctx: a copy checks for a context before anything else, even when it copies nothing. */
TEST_EXPECTS_ON("order.of_checks", order_of_copies, NULL, TEST_AS_GIVEN, FIX_NO_CONTEXT)
{
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), old = 0;
    char byte = 0;
    REFUSED_BY("VMM-CTX-CURRENT", vmm_memcpy_htod(S, p, &byte, 0), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_memcpy_htod(S, p, NULL, 1), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_memcpy_dtoh(S, NULL, p, 0), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_memcpy_dtod(S, 0, 0, 0), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_memset_d32(S, p + 1, 1, 0), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_memset_d32(S, p + 1, 1, 1), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_mem_alloc(S, &old, 0), INVALID_CONTEXT, NULL, 0);
    REFUSED_BY("VMM-CTX-CURRENT", vmm_mem_get_address_range(S, &old, NULL, 1), INVALID_CONTEXT, NULL, 0);
}

/* K.name, K.attribute: a NULL output comes before the device, and the device before anything else. */
TEST_EXPECTS("order.of_checks", order_of_device_queries)
{
    char name[8] = "";
    int value = 77;
    REFUSED_BY("VMM-DEVICE-NULL", vmm_device_get_name(S, NULL, 8, 99), INVALID_VALUE, "name", 0);
    REFUSED_BY("VMM-DEVICE-ID", vmm_device_get_name(S, name, 0, 99), INVALID_DEVICE, "dev", 99);
    REFUSED_BY("VMM-DEVICE-NULL", vmm_device_get_attribute(S, NULL, 99999, 99), INVALID_VALUE, "pi", 0);
    REFUSED_BY("VMM-DEVICE-ID", vmm_device_get_attribute(S, &value, 99999, 99), INVALID_DEVICE, "dev", 99);
    REFUSED_BY("VMM-DEVICE-NULL", vmm_device_total_mem(S, NULL, 99), INVALID_VALUE, "bytes", 0);
    CHECK_U64((uint64_t)value, 77);
}

/* In the range of an unmap or a free, a wrong size or alignment comes before a wrong address. */
TEST_EXPECTS("order.of_checks", order_of_unmap_and_free)
{
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, NULL);
    REFUSED_BY("VMM-UNMAP-PTR-ZERO", vmm_mem_unmap(S, 0, 0), INVALID_VALUE, "ptr", 0);
    REFUSED_BY("VMM-UNMAP-SIZE-ZERO", vmm_mem_unmap(S, p + 1, 0), INVALID_VALUE, "size", 0);
    REFUSED_BY("VMM-FREE-PTR-ZERO", vmm_mem_address_free(S, 0, 0), INVALID_VALUE, "ptr", 0);
    REFUSED_BY("VMM-FREE-SIZE-ZERO", vmm_mem_address_free(S, p + 1, 0), INVALID_VALUE, "size", 0);
    REFUSED_BY("VMM-FREE-NOT-START", vmm_mem_address_free(S, p + f->g, 5), INVALID_VALUE, "ptr", p + f->g);
    REFUSED_BY("VMM-FREE-SIZE-MATCH", vmm_mem_address_free(S, p, f->g), INVALID_VALUE, "size", f->g);
}
