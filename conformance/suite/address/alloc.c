/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of vmm_mem_alloc and vmm_mem_free, where it meets virtual memory management. */
#include "test.h"

TEST_BREAKS(ALLOC_NULL, alloc_without_place_for_the_address)
{
    REFUSED(vmm_mem_alloc(S, NULL, f->g), INVALID_VALUE, "dptr", 0);
}

static void accept(struct fix *f, uint64_t size)
{
    vmm_deviceptr ptr = 0;
    ACCEPTED(vmm_mem_alloc(S, &ptr, size));
    CHECK(ptr != 0, "the address is 0");
    if (ptr)
        ACCEPTED(vmm_mem_free(S, ptr));
}

TEST_BREAKS(ALLOC_SIZE_ZERO, alloc_nothing)
{
    vmm_deviceptr ptr = FIX_UNTOUCHED;
    REFUSED(vmm_mem_alloc(S, &ptr, 0), INVALID_VALUE, "bytesize", 0);
    CHECK_U64(ptr, 0); /* as measured */
}

TEST_BREAKS(ALLOC_MEMORY, alloc_more_than_there_is)
{
    uint64_t total = 0;
    fix_need(f, vmm_device_total_mem(S, &total, 0));
    const uint64_t sizes[] = {total + 1, UINT64_C(1) << 62, UINT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        vmm_deviceptr ptr = FIX_UNTOUCHED;
        REFUSED_NEAR(vmm_mem_alloc(S, &ptr, sizes[i]), OUT_OF_MEMORY, "bytesize", sizes[i], DEVICE, 0);
        CHECK_U64(ptr, 0); /* as measured */
    }
}

TEST_NEAR_MISS(ALLOC_MEMORY, alloc_what_there_is)
{
    uint64_t size = fix_free_memory(f) / 2;
    accept(f, size - size % f->g);
}

/* vmm_mem_free frees no address of virtual memory management: reserved or mapped, at the start or in the middle. */
TEST_BREAKS(ALLOC_FREE_VMM, mem_free_of_mapped_memory)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p + f->g, 2 * f->g, fix_create(f, 2 * f->g));
    fix_access(f, p + f->g, 2 * f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    const vmm_deviceptr at[] = {p, p + f->g, p + 2 * f->g, p + 3 * f->g};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        REFUSED(vmm_mem_free(S, at[i]), INVALID_VALUE, "dptr", at[i]);
    fix_unmap(f, p + f->g, 2 * f->g);
}

TEST_NEAR_MISS(ALLOC_FREE_VMM, mem_free_of_allocated_memory)
{
    vmm_deviceptr old = 0;
    fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    fix_need(f, vmm_mem_alloc(S, &old, f->g));
    ACCEPTED(vmm_mem_free(S, old));
}

TEST_BREAKS(ALLOC_FREE_UNKNOWN, mem_free_of_nothing)
{
    vmm_deviceptr old = fix_alloc(f, f->g), keep = fix_alloc(f, f->g);
    REFUSED(vmm_mem_free(S, keep + 1), INVALID_VALUE, "dptr", keep + 1);
    fix_mem_free(f, old);
    REFUSED(vmm_mem_free(S, old), INVALID_VALUE, "dptr", old);
}

TEST_NEAR_MISS(ALLOC_FREE_UNKNOWN, mem_free_once)
{
    vmm_deviceptr old = 0;
    uint64_t before = fix_free_memory(f);
    fix_need(f, vmm_mem_alloc(S, &old, f->g));
    CHECK(fix_free_memory(f) < before, "allocated memory costs nothing");
    ACCEPTED(vmm_mem_free(S, old));
    CHECK_FREE(before, 0);
}

TEST_EXPECTS("alloc.shares_the_budget", old_and_new_memory_share_a_budget)
{
    fix_need_simulator(f, "needs a device that nobody else uses");
    uint64_t all = fix_free_memory(f) - fix_free_memory(f) % f->g;
    vmm_deviceptr old = fix_alloc(f, f->g);
    vmm_mem_generic_allocation_handle handle = FIX_UNTOUCHED;
    vmm_mem_allocation_prop prop = fix_prop(0);
    REFUSED_BY("VMM-CREATE-MEMORY", vmm_mem_create(S, &handle, all, &prop, 0), OUT_OF_MEMORY, "size", all);
    fix_mem_free(f, old);
    fix_create(f, all);
}

TEST_EXPECTS("alloc.is_accessible_at_once", old_memory_needs_no_access)
{
    vmm_deviceptr old = fix_alloc(f, f->g);
    ACCEPTED(vmm_memset_d8(S, old, 5, f->g));
    CHECK_U64(fix_peek(f, old + f->g - 1), 5);
}

TEST_NEAR_MISS(ALLOC_FREE_UNKNOWN, mem_free_without_a_context)
{
    vmm_deviceptr ptr = 0;
    fix_need_simulator(f, "a driver was asked for the address 0 alone");
    ACCEPTED(vmm_mem_alloc(S, &ptr, f->g));
    fix_need(f, vmm_ctx_set_current(S, NULL));
    ACCEPTED(vmm_mem_free(S, ptr));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
}

TEST_EXPECTS("alloc.free_of_0_is_ignored", mem_free_of_address_0)
{
    ACCEPTED(vmm_mem_free(S, 0));
}
