/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: physical memory: creation, handles, references, the budget. */
#include <string.h>

#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

TEST_EXPECTS("create.multiples", create_multiples_of_the_minimum)
{
    static const unsigned counts[] = {1, 2, 3, 7, 12, 44, 63};
    uint64_t before = fix_free_memory(f);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        vmm_mem_generic_allocation_handle handle = fix_create(f, counts[i] * f->minimum);
        CHECK_FREE(before, counts[i] * f->minimum);
        fix_release(f, handle);
        CHECK_FREE(before, 0);
    }
}

TEST_EXPECTS("create.handle_unique", handles_differ)
{
    vmm_mem_generic_allocation_handle handle[8];
    for (unsigned i = 0; i < 8; i++) {
        handle[i] = fix_create(f, f->g);
        CHECK(handle[i] != 0, "a handle is 0");
        for (unsigned j = 0; j < i; j++)
            CHECK(handle[i] != handle[j], "handles %u and %u are the same", i, j);
    }
}

static void count_mappings(void *user, const vmm_object *object)
{
    unsigned *count = user;
    *count += object->kind == VMM_OBJECT_MAPPING || object->kind == VMM_OBJECT_RESERVATION;
}

TEST_EXPECTS("create.no_mapping", create_takes_no_address)
{
    unsigned count = 0;
    unsigned before = 0;
    vmm_deviceptr p = fix_reserve(f, f->g);
    if (f->simulator)
        fix_need(f, vmm_visit(S, count_mappings, &before));
    fix_create(f, f->g);
    uint64_t base = FIX_UNTOUCHED;
    REFUSED_BY("VMM-POINTER-NOT-MAPPED", vmm_pointer_get_attribute(S, &base, VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, p),
               INVALID_VALUE, "ptr", p);
    if (f->simulator) {
        fix_need(f, vmm_visit(S, count_mappings, &count));
        CHECK_U64(count, before);
    }
}

TEST_EXPECTS("create.refused_changes_nothing", refused_creation)
{
    vmm_mem_allocation_prop prop = fix_prop(0), bad = fix_prop(f->devices);
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    uint64_t before = fix_free_memory(f);
    REFUSED_BY("VMM-CREATE-SIZE-GRANULARITY", vmm_mem_create(S, &handle, f->g + 1, &prop, 0), INVALID_VALUE, "size",
               f->g + 1);
    REFUSED_BY("VMM-CREATE-DEVICE-ID", vmm_mem_create(S, &handle, f->g, &bad, 0), INVALID_DEVICE, "prop.location.id",
               (uint64_t)f->devices);
    CHECK_U64(handle, FIX_UNTOUCHED);
    CHECK_FREE(before, 0);
}

static void check_zero(struct fix *f, vmm_deviceptr ptr, uint64_t size)
{
    unsigned char bytes[4096], zero[4096] = {0};
    for (uint64_t at = 0; at < size; at += f->g / 4 < 4096 ? 4096 : f->g / 4) {
        fix_need(f, vmm_memcpy_dtoh(S, bytes, ptr + at, sizeof bytes));
        CHECK(memcmp(bytes, zero, sizeof bytes) == 0, "bytes at offset 0x%llx", (unsigned long long)at);
    }
    CHECK_U64(fix_peek(f, ptr + size - 1), 0);
}

/* New memory is zero, also after the same bytes were filled and freed: all of the device's memory, where it is
 * small. */
TEST_EXPECTS("create.zero_filled", fresh_memory_is_zero)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    for (int round = 0; round < 3; round++) {
        vmm_mem_generic_allocation_handle handle = fix_create(f, 4 * f->g);
        fix_map(f, p, 4 * f->g, handle);
        fix_access(f, p, 4 * f->g, RW);
        check_zero(f, p, 4 * f->g);
        fix_fill(f, p, 0xa5, 4 * f->g);
        fix_unmap(f, p, 4 * f->g);
        fix_release(f, handle);
    }
}

TEST_EXPECTS("properties.compression", compression_reads_back)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED,
                       "needs compressible memory (attribute 107)");
    vmm_mem_allocation_prop prop = fix_prop(0), got;
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, fix_create_prop(f, f->g, &prop)));
    CHECK_U64(got.alloc_flags.compression_type, VMM_MEM_ALLOCATION_COMP_NONE);
    prop.alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, fix_create_prop(f, f->g, &prop)));
    CHECK_U64(got.alloc_flags.compression_type, VMM_MEM_ALLOCATION_COMP_GENERIC);
}

/* Undefined in the documentation; measured to work. */
TEST_EXPECTS("properties.released_but_mapped", properties_while_only_mapped)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop got;
    memset(&got, 0x77, sizeof got);
    fix_mapped(f, f->g, RW, &handle);
    fix_release(f, handle);
    fix_need(f, vmm_mem_get_allocation_properties_from_handle(S, &got, handle));
    CHECK_U64((uint64_t)got.location.type, VMM_MEM_LOCATION_TYPE_DEVICE);
}

/* Creation takes exactly the size from free memory; the end of the last reference and the last mapping returns it. */
TEST_EXPECTS("memory.accounting", free_memory_step_by_step)
{
    uint64_t before = fix_free_memory(f), size = 4 * f->g;
    vmm_deviceptr p = fix_reserve(f, 2 * size);
    CHECK_FREE(before, 0);
    vmm_mem_generic_allocation_handle handle = fix_create(f, size);
    CHECK_FREE(before, size);
    fix_map(f, p, size, handle);
    fix_map(f, p + size, size, handle);
    fix_access(f, p, 2 * size, RW);
    fix_fill(f, p, 1, 2 * size);
    CHECK_FREE(before, size);
    fix_release(f, handle);
    CHECK_FREE(before, size);
    fix_unmap(f, p, size);
    CHECK_FREE(before, size);
    fix_unmap(f, p + size, size);
    CHECK_FREE(before, 0);
    uint64_t total = 0, again = 0;
    fix_need(f, vmm_mem_get_info(S, NULL, &total));
    fix_need(f, vmm_device_total_mem(S, &again, 0));
    if (f->simulator)
        CHECK_U64(total, again);
}

TEST_EXPECTS("unmap.last_frees_memory", memory_ends_with_its_last_mapping)
{
    uint64_t before = fix_free_memory(f);
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, &handle);
    fix_unmap(f, p, 2 * f->g);
    CHECK_FREE(before, 2 * f->g); /* the handle still holds it */
    fix_map(f, p, 2 * f->g, handle);
    fix_release(f, handle);
    CHECK_FREE(before, 2 * f->g); /* now the mapping does */
    fix_unmap(f, p, 2 * f->g);
    CHECK_FREE(before, 0);
}

TEST_EXPECTS("release.while_mapped", memory_works_after_release)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle);
    fix_fill(f, p, 7, f->g);
    fix_release(f, handle);
    CHECK_U64(fix_peek(f, p), 7);
    fix_fill(f, p, 8, f->g);
    CHECK_U64(fix_peek(f, p + f->g - 1), 8);
    CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
    fix_access(f, p, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READ);
}

/* Creation and two retains: three releases succeed, a fourth is refused. */
TEST_EXPECTS("release.counts_references", references_are_counted)
{
    uint64_t before = fix_free_memory(f);
    vmm_mem_generic_allocation_handle handle = 0, again = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle);
    fix_need(f, vmm_mem_retain_allocation_handle(S, &again, p));
    fix_need(f, vmm_mem_retain_allocation_handle(S, &again, p));
    fix_unmap(f, p, f->g);
    for (int i = 0; i < 3; i++) {
        CHECK_FREE(before, f->g);
        ACCEPTED(vmm_mem_release(S, handle));
    }
    fix_forget(f, FIX_HANDLE, handle, 0);
    CHECK_FREE(before, 0);
    REFUSED_BY("VMM-RELEASE-HANDLE-STALE", vmm_mem_release(S, handle), INVALID_VALUE, "handle", handle);
}

static vmm_mem_generic_allocation_handle retain(struct fix *f, vmm_deviceptr at)
{
    vmm_mem_generic_allocation_handle handle = 0;
    fix_need(f, vmm_mem_retain_allocation_handle(S, &handle, at));
    fix_note(f, FIX_HANDLE, handle, 0);
    return handle;
}

TEST_EXPECTS("retain.same_handle", retain_gives_what_was_mapped)
{
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    vmm_mem_generic_allocation_handle first = fix_create(f, f->g), second = fix_create(f, f->g);
    fix_map(f, p, f->g, first);
    fix_map(f, p + f->g, f->g, second);
    CHECK_U64(retain(f, p), first);
    CHECK_U64(retain(f, p + f->g), second);
    CHECK_U64(retain(f, p), first);
}

TEST_EXPECTS("retain.any_byte", retain_from_inside)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, VMM_MEM_ACCESS_FLAGS_PROT_NONE, &handle);
    const uint64_t offsets[] = {0, 1, f->g - 1, f->g, f->g + 12345, 2 * f->g - 1};
    for (int access = 0; access < 2; access++) {
        for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
            CHECK_U64(retain(f, p + offsets[i]), handle);
        fix_access(f, p, 2 * f->g, RW);
    }
}

TEST_EXPECTS("retain.after_release", retain_brings_the_handle_back)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle);
    fix_release(f, handle);
    CHECK_U64(retain(f, p), handle);
    fix_release(f, handle);
    CHECK_U64(retain(f, p), handle);
}

TEST_EXPECTS("retain.remap_keeps_data", retained_memory_keeps_its_bytes)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle), q = fix_reserve(f, f->g);
    fix_fill(f, p, 0x3c, f->g);
    fix_release(f, handle);
    handle = retain(f, p);
    fix_unmap(f, p, f->g);
    fix_map(f, q, f->g, handle);
    fix_access(f, q, f->g, RW);
    CHECK_U64(fix_peek(f, q), 0x3c);
    CHECK_U64(fix_peek(f, q + f->g - 1), 0x3c);
}

/* Stripes of three allocations in one range: each address reads its own memory. */
TEST_EXPECTS("retain.striped_range", retain_in_stripes)
{
    vmm_deviceptr p = fix_reserve(f, 6 * f->g);
    vmm_mem_generic_allocation_handle handle[3];
    for (unsigned i = 0; i < 3; i++)
        handle[i] = fix_create(f, f->g);
    for (unsigned i = 0; i < 6; i++)
        fix_map(f, p + i * f->g, f->g, handle[i % 3]);
    for (unsigned i = 0; i < 6; i++)
        CHECK_U64(retain(f, p + i * f->g + i), handle[i % 3]);
}
