/* SPDX-License-Identifier: Apache-2.0 */
/* Pointer attributes and vmm_mem_get_address_range. */
#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* Attributes differ in width; a zeroed value of the widest type holds each of them on a little-endian machine. */
static uint64_t attribute(struct fix *f, vmm_pointer_attribute which, vmm_deviceptr ptr)
{
    uint64_t value = 0;
    fix_need(f, vmm_pointer_get_attribute(S, &value, which, ptr));
    return value;
}

TEST_BREAKS(POINTER_NULL_DATA, attribute_without_place_for_it)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    REFUSED(vmm_pointer_get_attribute(S, NULL, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr), INVALID_VALUE, "data", 0);
}

TEST_NEAR_MISS(POINTER_NULL_DATA, attribute_with_place_for_it)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    unsigned int type = 0;
    ACCEPTED(vmm_pointer_get_attribute(S, &type, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr));
    CHECK_U64(type, VMM_MEMORYTYPE_DEVICE);
}

TEST_BREAKS(POINTER_ATTRIBUTE, attribute_that_is_not_there)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    const int attributes[] = {0, -1, 1000};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        uint64_t value = FIX_UNTOUCHED;
        REFUSED(vmm_pointer_get_attribute(S, &value, attributes[i], ptr), INVALID_VALUE, "attribute",
                (uint64_t)attributes[i]);
        CHECK_U64(value, FIX_UNTOUCHED);
    }
}

TEST_NEAR_MISS(POINTER_ATTRIBUTE, attribute_that_is_there)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    uint64_t value = 0;
    ACCEPTED(vmm_pointer_get_attribute(S, &value, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, ptr));
    CHECK_U64(value, f->g);
}

TEST_BREAKS(POINTER_NOT_MAPPED, attribute_where_nothing_is_mapped)
{
    static const vmm_pointer_attribute asked[] = {
        VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, VMM_POINTER_ATTRIBUTE_RANGE_SIZE,
        VMM_POINTER_ATTRIBUTE_MAPPED,      VMM_POINTER_ATTRIBUTE_MAPPING_SIZE,     VMM_POINTER_ATTRIBUTE_CONTEXT};
    vmm_deviceptr p = fix_reserve(f, 4 * f->g), old = fix_free_range(f, 64 * f->g) + 32 * f->g;
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    const vmm_deviceptr at[] = {p, p + f->g - 1, p + 2 * f->g, old};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        for (size_t j = 0; j < sizeof asked / sizeof asked[0]; j++) {
            uint64_t value = FIX_UNTOUCHED;
            REFUSED(vmm_pointer_get_attribute(S, &value, asked[j], at[i]), INVALID_VALUE, "ptr", at[i]);
            CHECK_U64(value, FIX_UNTOUCHED);
        }
}

TEST_NEAR_MISS(POINTER_NOT_MAPPED, attribute_at_the_first_and_last_byte)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    for (unsigned i = 0; i < 2; i++) {
        int mapped = 0;
        ACCEPTED(vmm_pointer_get_attribute(S, &mapped, VMM_POINTER_ATTRIBUTE_MAPPED, p + f->g + i * (f->g - 1)));
        CHECK_U64((uint64_t)mapped, 1);
    }
}

TEST_BREAKS(POINTER_HOST, host_pointer_of_device_memory)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, RW, NULL);
    uint64_t value = FIX_UNTOUCHED;
    REFUSED_NEAR(vmm_pointer_get_attribute(S, &value, VMM_POINTER_ATTRIBUTE_HOST_POINTER, ptr), INVALID_VALUE, "ptr",
                 ptr, MAPPING, ptr);
    CHECK_U64(value, 0); /* as measured */
}

TEST_BREAKS(POINTER_DEVICE, device_pointer_without_rights)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_NONE, NULL);
    uint64_t value = FIX_UNTOUCHED;
    REFUSED_NEAR(vmm_pointer_get_attribute(S, &value, VMM_POINTER_ATTRIBUTE_DEVICE_POINTER, ptr), INVALID_VALUE, "ptr",
                 ptr, MAPPING, ptr);
    CHECK_U64(value, 0); /* as measured */
}

TEST_NEAR_MISS(POINTER_DEVICE, device_pointer_with_the_right_to_read)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READ, NULL);
    uint64_t value = 0;
    ACCEPTED(vmm_pointer_get_attribute(S, &value, VMM_POINTER_ATTRIBUTE_DEVICE_POINTER, ptr + 9));
    CHECK_U64(value, ptr + 9);
}

static vmm_deviceptr mapped_host_memory(struct fix *f, uint64_t size)
{
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    vmm_deviceptr ptr = fix_reserve(f, size);
    fix_map(f, ptr, size, fix_create_prop(f, size, &prop));
    fix_access(f, ptr, size, RW);
    return ptr;
}

TEST_NEAR_MISS(POINTER_HOST, host_pointer_of_host_memory)
{
    fix_need_host(f);
    uint64_t unit = fix_host_unit(f);
    vmm_deviceptr ptr = mapped_host_memory(f, unit);
    void *host = NULL;
    fix_access_at(f, ptr, unit, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
    ACCEPTED(vmm_pointer_get_attribute(S, &host, VMM_POINTER_ATTRIBUTE_HOST_POINTER, ptr));
    CHECK_U64((uintptr_t)host, ptr);
}

TEST_BREAKS(RANGE_NOT_FOUND, address_range_where_nothing_is_mapped)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g), old = fix_free_range(f, 64 * f->g) + 32 * f->g;
    fix_map(f, p + f->g, f->g, fix_create(f, f->g)); /* without access: not found either */
    const vmm_deviceptr at[] = {p, p + f->g, p + 2 * f->g, old};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        vmm_deviceptr base = FIX_UNTOUCHED;
        uint64_t size = FIX_UNTOUCHED;
        REFUSED(vmm_mem_get_address_range(S, &base, &size, at[i]), NOT_FOUND, "dptr", at[i]);
        CHECK_U64(base, 0); /* as measured */
        CHECK_U64(size, 0);
    }
}

TEST_NEAR_MISS(RANGE_NOT_FOUND, address_range_of_an_accessible_mapping)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g), base = 0;
    uint64_t size = 0;
    fix_map(f, p + f->g, 2 * f->g, fix_create(f, 2 * f->g));
    fix_access(f, p + f->g, 2 * f->g, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    ACCEPTED(vmm_mem_get_address_range(S, &base, &size, p + 3 * f->g - 1));
    CHECK_U64(base, p + f->g);
    CHECK_U64(size, 2 * f->g);
    ACCEPTED(vmm_mem_get_address_range(S, NULL, &size, p + f->g));
    ACCEPTED(vmm_mem_get_address_range(S, &base, NULL, p + f->g));
}

TEST_EXPECTS("pointer.range_is_reservation", attributes_of_a_mapping)
{
    vmm_deviceptr p = fix_reserve(f, 8 * f->g), at = p + 3 * f->g + 5;
    fix_map(f, p + 2 * f->g, 4 * f->g, fix_create(f, 4 * f->g));
    for (int access = 0; access < 2; access++) {
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, at), VMM_MEMORYTYPE_DEVICE);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, at), p);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_RANGE_SIZE, at), 8 * f->g);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPED, at), 1);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, at), p + 2 * f->g);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, at), 4 * f->g);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, at), 0);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at), 0);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_CONTEXT, at), 0);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, at), 0);
        CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS, at), access ? RW : 0);
        fix_access(f, p + 2 * f->g, 4 * f->g, RW);
    }
}

TEST_EXPECTS("pointer.block_id", block_ids)
{
    vmm_deviceptr p = fix_reserve(f, 3 * f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_map(f, p + f->g, f->g, handle);
    fix_map(f, p + 2 * f->g, f->g, fix_create(f, f->g));
    uint64_t first = attribute(f, VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, p);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, p + f->g), first);
    CHECK(attribute(f, VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, p + 2 * f->g) != first, "two blocks have one id");
}

TEST_EXPECTS("pointer.host_memory", attributes_of_host_memory)
{
    fix_need_host(f);
    uint64_t size = fix_host_unit(f), got = 0;
    vmm_deviceptr ptr = mapped_host_memory(f, size), base = FIX_UNTOUCHED;
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr), VMM_MEMORYTYPE_HOST);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, ptr), size);
    CHECK_U64(attribute(f, VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS, ptr), RW);
    ACCEPTED(vmm_mem_get_address_range(S, &base, &got, ptr));
    CHECK_U64(base, 0); /* as measured */
    CHECK_U64(got, size);
}

TEST_EXPECTS("pointers.not_mapped_is_zero", attributes_together)
{
    vmm_pointer_attribute asked[3] = {VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, VMM_POINTER_ATTRIBUTE_MAPPED,
                                      VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR};
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, 2 * f->g, fix_create(f, 2 * f->g));
    uint64_t size = FIX_UNTOUCHED, start = FIX_UNTOUCHED;
    int mapped = 77;
    void *data[3] = {&size, &mapped, &start};
    ACCEPTED(vmm_pointer_get_attributes(S, 3, asked, data, p + f->g));
    CHECK_U64(size, 2 * f->g);
    CHECK_U64((uint64_t)mapped, 1);
    CHECK_U64(start, p);
    ACCEPTED(vmm_pointer_get_attributes(S, 3, asked, data, p + 2 * f->g)); /* reserved only: success, with zeros */
    CHECK_U64(size, 0);
    CHECK_U64((uint64_t)mapped, 0);
}

TEST_EXPECTS("pointers.arguments_checked", attributes_together_refused)
{
    vmm_pointer_attribute asked[2] = {VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, 1000};
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    uint64_t first = FIX_UNTOUCHED, second = FIX_UNTOUCHED;
    void *data[2] = {&first, &second};
    REFUSED_BY("VMM-POINTER-ATTRIBUTE", vmm_pointer_get_attributes(S, 2, asked, data, p), INVALID_VALUE,
               "attributes", 1000);
    REFUSED_BY("VMM-POINTER-NULL-DATA", vmm_pointer_get_attributes(S, 1, asked, NULL, p), INVALID_VALUE, "data", 0);
    CHECK_U64(second, FIX_UNTOUCHED); /* the driver may have written the outputs before the mistake */
}
