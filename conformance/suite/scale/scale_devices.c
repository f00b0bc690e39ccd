/* SPDX-License-Identifier: Apache-2.0 */
/* Many devices, each with rights of its own on the memory of each.
 *
 *                dev 0  dev 1  dev 2  dev 3  ...      one call of cuMemSetAccess, with a descriptor for every device
 *   memory of 0  none   read   RW     none
 *   memory of 1  RW     none   read   RW              neighbours differ, and so do devices 2, 4, 8 and 16 apart
 *   memory of 2  read   RW     none   read
 */
#include "scale.h"

#define DEVICES(n) "attribute.132 = 1\npeers = all\ndevices = " #n
#define SOME_LINKS "attribute.132 = 1\npeers = 0-4,1-5,5-6,4-7\ndevices = 8"

static bool some_links(int a, int b)
{
    static const int links[][2] = {{0, 4}, {1, 5}, {5, 6}, {4, 7}};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if ((links[i][0] == a && links[i][1] == b) || (links[i][0] == b && links[i][1] == a))
            return true;
    return false;
}

static int rights_for(int owner, int device)
{
    static const int rights[] = {NONE, READ, RW};
    return rights[(device + 2 * owner) % 3];
}

/* A granule of memory of each device, side by side, and a context on each device. */
struct machine {
    vmm_deviceptr start;
    vmm_context context[VMM_MAX_DEVICES];
    bool granted;
    int lost; /* the device whose rights were all revoked; -1: none */
};

static vmm_deviceptr memory_of(const struct fix *f, const struct machine *m, int owner)
{
    return m->start + (uint64_t)owner * f->g;
}

static vmm_mem_location device(int id)
{
    return fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, id);
}

static struct machine machine(struct fix *f)
{
    struct machine m = {.start = fix_reserve(f, (uint64_t)f->devices * f->g), .context[0] = f->ctx, .lost = -1};
    for (int owner = 0; owner < f->devices; owner++) {
        vmm_mem_allocation_prop prop = fix_prop(owner);
        vmm_mem_generic_allocation_handle handle = fix_create_prop(f, f->g, &prop);
        fix_map(f, memory_of(f, &m, owner), f->g, handle);
        fix_release(f, handle);
        if (owner)
            m.context[owner] = fix_context(f, owner);
    }
    return m;
}

static void on(struct fix *f, const struct machine *m, int id)
{
    vmm_device is = -1;
    fix_need(f, vmm_ctx_set_current(S, m->context[id]));
    fix_need(f, vmm_ctx_get_device(S, &is));
    CHECK_U64((uint64_t)is, (uint64_t)id);
}

static void give_rights(struct fix *f, struct machine *m)
{
    vmm_mem_access_desc desc[VMM_MAX_DEVICES];
    for (int owner = 0; owner < f->devices; owner++) {
        for (int id = 0; id < f->devices; id++)
            desc[id] = (vmm_mem_access_desc){device(id), rights_for(owner, id)};
        ACCEPTED(vmm_mem_set_access(S, memory_of(f, m, owner), f->g, desc, (size_t)f->devices));
    }
    m->granted = true;
    m->lost = -1;
}

static int has(const struct machine *m, int owner, int id)
{
    return !m->granted || id == m->lost ? NONE : rights_for(owner, id);
}

static void check_reported(struct fix *f, const struct machine *m)
{
    for (int owner = 0; owner < f->devices; owner++)
        for (int id = 0; id < f->devices; id++) {
            uint64_t reported = fix_rights(f, memory_of(f, m, owner), VMM_MEM_LOCATION_TYPE_DEVICE, id);
            CHECK(reported == (uint64_t)has(m, owner, id),
                  "device %d is reported to have %llu on memory of device %d, not %d", id,
                  (unsigned long long)reported, owner, has(m, owner, id));
        }
}

/* Copies from the memory, fills it, and launches a kernel where the device may write. Returns 1 if the kernel could
 * add. */
static unsigned use(struct fix *f, const struct machine *m, int owner, int id)
{
    vmm_deviceptr p = memory_of(f, m, owner);
    int rights = has(m, owner, id);
    uint64_t word;
    bool reads = vmm_memcpy_dtoh(S, &word, p, 8) == VMM_SUCCESS;
    bool writes = vmm_memset_d8(S, p + 64, 1, 8) == VMM_SUCCESS;
    CHECK(reads == (rights != NONE), "device %d, with rights %d on memory of device %d, %s it", id, rights, owner,
          reads ? "reads" : "cannot read");
    CHECK(writes == (rights == RW), "device %d, with rights %d on memory of device %d, %s it", id, rights, owner,
          writes ? "writes" : "cannot write");
    if (rights != RW)
        return 0;
    ACCEPTED(LAUNCH(ATOMIC_ADD, p, 1));
    ACCEPTED(vmm_ctx_synchronize(S));
    return 1;
}

static void check_used(struct fix *f, const struct machine *m)
{
    unsigned added[VMM_MAX_DEVICES] = {0};
    for (int id = 0; id < f->devices; id++) {
        on(f, m, id);
        for (int owner = 0; owner < f->devices; owner++)
            added[owner] += use(f, m, owner, id);
    }
    for (int owner = 0; owner < f->devices; owner++)
        for (int id = 0; id < f->devices; id++)
            if (has(m, owner, id) == RW) {
                on(f, m, id);
                CHECK_U64(scale_word(f, memory_of(f, m, owner)), added[owner]);
                fix_need(f, vmm_memset_d8(S, memory_of(f, m, owner), 0, 8));
                ACCEPTED(vmm_ctx_synchronize(S)); /* other contexts do not wait for a fill that may be in flight */
                added[owner] = 0;
            }
}

/* One call over the memory of every device revokes all rights of one device; the others keep theirs. */
static void take_away(struct fix *f, struct machine *m, int id)
{
    vmm_mem_access_desc desc = {device(id), NONE};
    on(f, m, 0);
    m->lost = id;
    ACCEPTED(vmm_mem_set_access(S, m->start, (uint64_t)f->devices * f->g, &desc, 1));
    check_reported(f, m);
}

static void rights_of_all(struct fix *f, int devices)
{
    fix_need_devices(f, devices);
    fix_need_link(f, true);
    struct machine m = machine(f);
    check_reported(f, &m);
    give_rights(f, &m);
    check_reported(f, &m);
    check_used(f, &m);
    take_away(f, &m, 5);
    check_used(f, &m);
    give_rights(f, &m);
    take_away(f, &m, devices - 1);
    on(f, &m, 0);
}

TEST_EXPECTS_ON("scale.rights_of_8_devices", rights_of_8_devices, DEVICES(8), TEST_AS_GIVEN, 0)
{
    rights_of_all(f, 8);
}

/* As many as possible. */
TEST_EXPECTS_ON("scale.rights_of_31_devices", rights_of_31_devices, DEVICES(31), TEST_AS_GIVEN, 0)
{
    rights_of_all(f, VMM_MAX_DEVICES);
}

/* Host memory, whose rights for the host come after those for all devices. */
TEST_EXPECTS_ON("scale.rights_of_host_and_devices", rights_of_the_host_beside_31_devices, DEVICES(31), TEST_AS_GIVEN, 0)
{
    fix_need_devices(f, VMM_MAX_DEVICES);
    fix_need_host(f);
    const int host[] = {RW, READ, NONE};
    vmm_mem_access_desc desc[VMM_MAX_DEVICES + 1];
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    uint64_t size = fix_host_unit(f);
    vmm_deviceptr p = fix_reserve(f, size);
    fix_map(f, p, size, fix_create_prop(f, size, &prop));
    for (int i = 0; i < 3; i++) {
        for (int id = 0; id < VMM_MAX_DEVICES; id++)
            desc[id] = (vmm_mem_access_desc){device(id), rights_for(i, id)};
        desc[VMM_MAX_DEVICES] = (vmm_mem_access_desc){fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), host[i]};
        ACCEPTED(vmm_mem_set_access(S, p, size, desc, VMM_MAX_DEVICES + 1));
        for (int id = 0; id < VMM_MAX_DEVICES; id++)
            CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_DEVICE, id), (uint64_t)rights_for(i, id));
        CHECK_U64(fix_rights(f, p, VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0), (uint64_t)host[i]);
    }
}

/* The last descriptor names a device that an earlier one names, too; otherwise only neighbours differ. */
TEST_EXPECTS_ON("scale.duplicate_of_31_devices", duplicate_of_the_last_device, DEVICES(31), TEST_AS_GIVEN, 0)
{
    fix_need_devices(f, VMM_MAX_DEVICES);
    fix_need_simulator(f, "a driver accepts it without a report");
    vmm_mem_access_desc desc[VMM_MAX_DEVICES + 1];
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    for (int id = 0; id <= VMM_MAX_DEVICES; id++)
        desc[id] = (vmm_mem_access_desc){device(id < VMM_MAX_DEVICES ? id : VMM_MAX_DEVICES - 1), READ};
    ACCEPTED(vmm_mem_set_access(S, p, f->g, desc, VMM_MAX_DEVICES));
    WARNED_BY("VMM-ACCESS-DUPLICATE", vmm_mem_set_access(S, p, f->g, desc, VMM_MAX_DEVICES + 1), INVALID_VALUE, "desc",
              VMM_MAX_DEVICES);
}

/* Which device can access whose memory: the answer for every pair, and what cuMemSetAccess then does. */
static void check_links(struct fix *f, bool (*linked)(int, int))
{
    struct machine m = machine(f);
    for (int owner = 0; owner < f->devices; owner++)
        for (int id = 0; id < f->devices; id++) {
            vmm_mem_access_desc desc = {device(id), READ};
            int can = -1;
            fix_need(f, vmm_device_can_access_peer(S, &can, id, owner));
            CHECK(!linked || (can == 1) == linked(id, owner),
                  "device %d gets the answer %d about device %d", id, can, owner);
            vmm_result result = vmm_mem_set_access(S, memory_of(f, &m, owner), f->g, &desc, 1);
            CHECK((result == VMM_SUCCESS) == (can == 1 || id == owner), "%s for device %d on memory of device %d, %s a link",
                  vmm_result_name(result), id, owner, can ? "with" : "without");
            uint64_t reported = fix_rights(f, memory_of(f, &m, owner), VMM_MEM_LOCATION_TYPE_DEVICE, id);
            CHECK(reported == (result == VMM_SUCCESS ? READ : NONE), "device %d has %llu on memory of device %d", id,
                  (unsigned long long)reported, owner);
        }
    on(f, &m, 0);
}

TEST_EXPECTS_ON("scale.links_of_8_devices", links_of_8_devices, SOME_LINKS, TEST_AS_GIVEN, 0)
{
    fix_need_devices(f, 8);
    check_links(f, f->profile ? some_links : NULL);
}

/* Each device's memory counts on that device; its context and its addresses report that device. */
TEST_EXPECTS_ON("scale.memory_of_8_devices", memory_of_8_devices, DEVICES(8), TEST_AS_GIVEN, 0)
{
    uint64_t before[VMM_MAX_DEVICES];
    fix_need_devices(f, 8);
    struct machine m = machine(f);
    for (int id = 0; id < f->devices; id++) {
        vmm_mem_allocation_prop prop = fix_prop(id);
        on(f, &m, id);
        before[id] = fix_free_memory(f);
        fix_create_prop(f, (uint64_t)(id + 1) * f->g, &prop);
    }
    for (int id = 0; id < f->devices; id++) {
        int ordinal = -1;
        on(f, &m, id);
        CHECK_FREE(before[id], (uint64_t)(id + 1) * f->g);
        vmm_deviceptr p = fix_alloc(f, f->g);
        CHECK_FREE(before[id], (uint64_t)(id + 2) * f->g);
        fix_need(f, vmm_pointer_get_attribute(S, &ordinal, VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
        CHECK_U64((uint64_t)ordinal, (uint64_t)id);
        fix_need(f, vmm_pointer_get_attribute(S, &ordinal, VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory_of(f, &m, id)));
        CHECK_U64((uint64_t)ordinal, (uint64_t)id);
    }
    on(f, &m, 0);
}
