/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: two devices with a link between them. */
#include "test.h"

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* On the simulator, the test makes two such devices. */
#define TEST_PEERS(what, function)                                                              \
    static void function##_body(struct fix *f);                                                 \
    TEST_EXPECTS_ON(what, function, "devices = 2\npeers = all", TEST_AS_GIVEN, 0)               \
    {                                                                                           \
        fix_need_link(f, true);                                                                 \
        function##_body(f);                                                                     \
    }                                                                                           \
    static void function##_body(struct fix *f)

static vmm_mem_location device(int id)
{
    return fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, id);
}

static uint64_t rights(struct fix *f, vmm_deviceptr ptr, int id)
{
    return fix_rights(f, ptr, VMM_MEM_LOCATION_TYPE_DEVICE, id);
}

static vmm_deviceptr mapped_on(struct fix *f, int id)
{
    vmm_mem_allocation_prop prop = fix_prop(id);
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, fix_create_prop(f, f->g, &prop));
    return p;
}

TEST_PEERS("map.other_device", memory_of_the_other_device)
{
    vmm_deviceptr p = mapped_on(f, 1);
    fix_access_at(f, p, f->g, device(0), RW);
    fix_fill(f, p, 5, f->g);
    CHECK_U64(fix_peek(f, p + f->g - 1), 5);
}

TEST_PEERS("map.devices_side_by_side", stripes_of_two_devices)
{
    vmm_mem_allocation_prop prop[2] = {fix_prop(0), fix_prop(1)};
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    for (unsigned i = 0; i < 4; i++)
        fix_map(f, p + i * f->g, f->g, fix_create_prop(f, f->g, &prop[i % 2]));
    fix_access_at(f, p, 4 * f->g, device(0), RW);
    fix_fill(f, p, 6, 4 * f->g);
    for (unsigned i = 0; i < 4; i++)
        CHECK_U64(fix_peek(f, p + i * f->g), 6);
}

TEST_PEERS("access.per_location", rights_of_owner_and_guest)
{
    vmm_deviceptr p = mapped_on(f, 1);
    CHECK_U64(rights(f, p, 0), NONE);
    CHECK_U64(rights(f, p, 1), NONE);
    fix_access_at(f, p, f->g, device(0), RW);
    CHECK_U64(rights(f, p, 0), RW);
    CHECK_U64(rights(f, p, 1), NONE);
}

TEST_PEERS("access.several_devices", rights_for_both_in_one_call)
{
    vmm_deviceptr p = mapped_on(f, 0);
    vmm_mem_access_desc desc[2] = {{device(0), RW}, {device(1), READ}};
    ACCEPTED(vmm_mem_set_access(S, p, f->g, desc, 2));
    CHECK_U64(rights(f, p, 0), RW);
    CHECK_U64(rights(f, p, 1), READ);
}

TEST_PEERS("access.others_keep_rights", rights_of_those_not_named)
{
    vmm_deviceptr p = mapped_on(f, 0);
    fix_access_at(f, p, f->g, device(0), RW);
    fix_access_at(f, p, f->g, device(1), READ);
    CHECK_U64(rights(f, p, 0), RW);
    CHECK_U64(rights(f, p, 1), READ);
    fix_access_at(f, p, f->g, device(1), NONE);
    CHECK_U64(rights(f, p, 0), RW);
    fix_access_at(f, p, f->g, device(0), READ);
    CHECK_U64(rights(f, p, 0), READ);
    CHECK_U64(rights(f, p, 1), NONE);
}

TEST_PEERS("getaccess.unnamed_location_none", rights_of_the_device_not_named)
{
    vmm_deviceptr p = mapped_on(f, 0);
    fix_access_at(f, p, f->g, device(0), RW);
    CHECK_U64(rights(f, p, 1), NONE);
    p = mapped_on(f, 1);
    fix_access_at(f, p, f->g, device(1), RW);
    CHECK_U64(rights(f, p, 0), NONE);
}

/* Rights are all that is needed: nothing is enabled between contexts. */
TEST_PEERS("access.no_peer_enable_needed", rights_are_enough)
{
    vmm_deviceptr p = mapped_on(f, 0);
    vmm_mem_access_desc desc[2] = {{device(0), RW}, {device(1), RW}};
    fix_need(f, vmm_mem_set_access(S, p, f->g, desc, 2));
    fix_fill(f, p, 7, f->g);
    ACCEPTED(vmm_ctx_synchronize(S)); /* the other context's copy does not wait for a fill that may be in flight */
    fix_context(f, 1);
    CHECK_U64(fix_peek(f, p), 7);
    fix_fill(f, p, 8, f->g);
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    CHECK_U64(fix_peek(f, p), 8);
}

/* Rights belong to the accessing device, not to the owner. */
TEST_PEERS("copy.needs_own_rights", copies_need_rights_of_their_device)
{
    vmm_deviceptr p = mapped_on(f, 1);
    char byte = 0;
    fix_access_at(f, p, f->g, device(1), RW);
    REFUSED_BY("VMM-COPY-NO-WRITE", vmm_memset_d8(S, p, 1, 16), INVALID_VALUE, "dstDevice", p);
    REFUSED_BY("VMM-COPY-NO-READ", vmm_memcpy_dtoh(S, &byte, p, 1), INVALID_VALUE, "srcDevice", p);
    vmm_context other = fix_context(f, 1);
    ACCEPTED(vmm_memset_d8(S, p, 1, 16));
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    fix_access_at(f, p, f->g, device(0), READ);
    ACCEPTED(vmm_memcpy_dtoh(S, &byte, p, 1));
    fix_access_at(f, p, f->g, device(1), NONE);
    fix_need(f, vmm_ctx_set_current(S, other));
    REFUSED_BY("VMM-COPY-NO-READ", vmm_memcpy_dtoh(S, &byte, p, 1), INVALID_VALUE, "srcDevice", p);
}

/* Each device has its own budget. */
TEST_PEERS("memory.per_device", budgets_of_two_devices)
{
    vmm_mem_allocation_prop prop = fix_prop(1);
    uint64_t here = fix_free_memory(f);
    fix_context(f, 1);
    uint64_t there = fix_free_memory(f);
    fix_create_prop(f, 4 * f->g, &prop);
    CHECK_FREE(there, 4 * f->g);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    CHECK_FREE(here, 0);
}

/* Q.free: the driver allocates what it needs for a peer with the first rights, and keeps it. */
TEST_PEERS("meminfo.peers", rights_of_a_peer_cost_no_memory)
{
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    for (uint64_t i = 0; i < 4; i++)
        fix_map(f, p + i * f->g, f->g, fix_create(f, f->g));
    fix_access_at(f, p, f->g, device(1), RW);
    uint64_t before = fix_free_memory(f);
    fix_access_at(f, p, 4 * f->g, device(1), READ);
    CHECK_FREE(before, 0);
    fix_access_at(f, p, 4 * f->g, device(1), NONE);
    CHECK_FREE(before, 0);
}
