/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for GPUDirect RDMA with several mappings: what works depends on whether its first mapping still exists
 * (edges.c, group N). In the pictures A, B and C are addresses of one memory, in a reservation of the test's own. */
#include "test.h"

#define RDMA "attribute.110 = 1"
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE

struct places {
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr a, b, c;
};

static struct places prepare(struct fix *f)
{
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
                       "needs GPUDirect RDMA (attribute 110)");
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.alloc_flags.gpu_direct_rdma_capable = 1;
    vmm_deviceptr p = fix_reserve(f, 8 * f->g);
    return (struct places){fix_create_prop(f, f->g, &prop), p, p + 2 * f->g, p + 4 * f->g};
}

static vmm_mem_access_desc of_device(int device, vmm_mem_access_flags flags)
{
    return (vmm_mem_access_desc){{VMM_MEM_LOCATION_TYPE_DEVICE, device}, flags};
}

static void set(struct fix *f, vmm_deviceptr at, int device, vmm_mem_access_flags flags)
{
    vmm_mem_access_desc desc = of_device(device, flags);
    ACCEPTED(vmm_mem_set_access(S, at, f->g, &desc, 1));
    CHECK_U64(fix_rights(f, at, VMM_MEM_LOCATION_TYPE_DEVICE, device), (uint64_t)flags);
}

static void unmap(struct fix *f, vmm_deviceptr at)
{
    ACCEPTED(vmm_mem_unmap(S, at, f->g));
    fix_forget(f, FIX_MAPPING, at, f->g);
}

/* A B, then unmap A, then grant rights to B: no further mapping until B's rights are revoked. */
TEST_BREAKS_ON(MAP_RDMA_LATE, map_after_rights_came_late, RDMA, TEST_AS_GIVEN, 0)
{
    struct places m = prepare(f);
    fix_map(f, m.a, f->g, m.handle);
    fix_map(f, m.b, f->g, m.handle);
    unmap(f, m.a);
    set(f, m.b, 0, RW);
    REFUSED_NEAR(vmm_mem_map(S, m.c, f->g, 0, m.handle, 0), UNKNOWN, "handle", m.handle, MAPPING, m.b);
    set(f, m.b, 0, NONE);
    fix_map(f, m.c, f->g, m.handle);
}

/* The same with B's rights granted before. */
TEST_NEAR_MISS_ON(MAP_RDMA_LATE, map_after_rights_came_in_time, RDMA, TEST_AS_GIVEN, 0)
{
    struct places m = prepare(f);
    fix_map(f, m.a, f->g, m.handle);
    fix_map(f, m.b, f->g, m.handle);
    set(f, m.b, 0, RW);
    unmap(f, m.a);
    set(f, m.b, 0, RW); /* as they are */
    ACCEPTED(vmm_mem_map(S, m.c, f->g, 0, m.handle, 0));
    fix_note(f, FIX_MAPPING, m.c, f->g);
}

/* Changing to other rights is too late as well. */
TEST_EXPECTS_ON("rdma.late_change", map_after_rights_changed_late, RDMA, TEST_AS_GIVEN, 0)
{
    struct places m = prepare(f);
    fix_map(f, m.a, f->g, m.handle);
    fix_map(f, m.b, f->g, m.handle);
    set(f, m.b, 0, READ);
    unmap(f, m.a);
    set(f, m.b, 0, RW);
    REFUSED_BY("VMM-MAP-RDMA-LATE", vmm_mem_map(S, m.c, f->g, 0, m.handle, 0), UNKNOWN, "handle", m.handle);
    unmap(f, m.b);
    fix_map(f, m.c, f->g, m.handle);
}

/* A B C, then unmap A: only the first of the others that gets rights can have them. */
TEST_BREAKS_ON(ACCESS_RDMA_LATE, rights_on_a_second_mapping_that_stayed, RDMA, TEST_AS_GIVEN, 0)
{
    struct places m = prepare(f);
    vmm_mem_access_desc desc = of_device(0, READ);
    fix_map(f, m.a, f->g, m.handle);
    fix_map(f, m.b, f->g, m.handle);
    fix_map(f, m.c, f->g, m.handle);
    unmap(f, m.a);
    set(f, m.b, 0, RW);
    REFUSED_NEAR(vmm_mem_set_access(S, m.c, f->g, &desc, 1), UNKNOWN, "ptr", m.c, MAPPING, m.b);
    unmap(f, m.b);
    set(f, m.c, 0, READ);
}

/* A mapping made after the first was unmapped takes its place. */
TEST_NEAR_MISS_ON(ACCESS_RDMA_LATE, rights_after_it_was_mapped_anew, RDMA, TEST_AS_GIVEN, 0)
{
    struct places m = prepare(f);
    fix_map(f, m.a, f->g, m.handle);
    fix_map(f, m.b, f->g, m.handle);
    unmap(f, m.a);
    fix_map(f, m.c, f->g, m.handle);
    set(f, m.b, 0, RW);
    set(f, m.c, 0, RW);
}

TEST_BREAKS_ON(ACCESS_RDMA_PEER, rights_of_another_device_too_late, RDMA "\ndevices = 2\npeers = 0-1", TEST_AS_GIVEN, 0)
{
    fix_need_link(f, true);
    struct places m = prepare(f);
    vmm_mem_access_desc desc = of_device(1, RW);
    fix_map(f, m.a, f->g, m.handle);
    fix_map(f, m.b, f->g, m.handle);
    unmap(f, m.a);
    REFUSED_NEAR(vmm_mem_set_access(S, m.b, f->g, &desc, 1), INVALID_VALUE, "desc.location.id", 1, MAPPING, m.b);
    fix_map(f, m.c, f->g, m.handle);
    set(f, m.b, 1, RW);
}

TEST_NEAR_MISS_ON(ACCESS_RDMA_PEER, rights_of_another_device_in_time, RDMA "\ndevices = 2\npeers = 0-1", TEST_AS_GIVEN,
                  0)
{
    fix_need_link(f, true);
    struct places m = prepare(f);
    fix_map(f, m.a, f->g, m.handle);
    fix_map(f, m.b, f->g, m.handle);
    set(f, m.b, 1, RW);
    unmap(f, m.a);
    set(f, m.b, 1, RW); /* as they are */
}

/* The refusal revokes the device's rights. */
TEST_EXPECTS_ON("rdma.refusal_takes_rights", rights_that_a_refusal_takes, RDMA "\ndevices = 2\npeers = 0-1", TEST_AS_GIVEN,
                0)
{
    fix_need_link(f, true);
    struct places m = prepare(f);
    vmm_mem_access_desc peer = of_device(1, RW), own = of_device(0, RW);
    fix_map(f, m.a, f->g, m.handle);
    fix_map(f, m.b, f->g, m.handle);
    fix_map(f, m.c, f->g, m.handle);
    set(f, m.c, 1, READ);
    set(f, m.c, 0, READ);
    unmap(f, m.a);
    set(f, m.b, 0, RW);
    CHECK_U64(vmm_mem_set_access(S, m.c, f->g, &peer, 1), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(fix_rights(f, m.c, VMM_MEM_LOCATION_TYPE_DEVICE, 1), NONE);
    CHECK_U64(fix_rights(f, m.c, VMM_MEM_LOCATION_TYPE_DEVICE, 0), READ);
    CHECK_U64(vmm_mem_set_access(S, m.c, f->g, &own, 1), VMM_ERROR_UNKNOWN);
    CHECK_U64(fix_rights(f, m.c, VMM_MEM_LOCATION_TYPE_DEVICE, 0), NONE);
}
