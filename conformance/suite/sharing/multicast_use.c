/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast objects in use: mapped, with rights, by kernels on several devices; and calls that must not use them. */
#include <string.h>
#include <unistd.h>

#include "team.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE

#define ON_TEAM(kind, rule, function)                              \
    static void function##_body(struct fix *f);                    \
    TEST_DEFINE(kind, rule, function, TEAM, TEST_AS_GIVEN, 0)      \
    {                                                              \
        team_need(f);                                              \
        function##_body(f);                                        \
    }                                                              \
    static void function##_body(struct fix *f)
#define RULE(rule, function) ON_TEAM(TEST_KIND_BREAKS, #rule, function)
#define NEAR(rule, function) ON_TEAM(TEST_KIND_NEAR_MISS, #rule, function)
#define EXPECTS(what, function) ON_TEAM(TEST_KIND_EXPECTS, what, function)

typedef vmm_mem_generic_allocation_handle handle;

/* Launches and waits, on the device whose context is current. */
#define RUN(kernel, ...)                           \
    do {                                           \
        ACCEPTED(LAUNCH(kernel, __VA_ARGS__));     \
        ACCEPTED(vmm_ctx_synchronize(S));          \
    } while (0)

/* ---------------------------------------------------------------------------------------------- addresses and rights */

RULE(MAP_INCOMPLETE, mc_map_before_all_are_there)
{
    uint64_t size = TEAM_UNITS * team_unit(f);
    handle object = team_object(f, 2);
    vmm_deviceptr p = team_reserve(f, size);
    REFUSED_NEAR(vmm_mem_map(S, p, size, 0, object, 0), ILLEGAL_STATE, "handle", object, HANDLE, 0);
    fix_need(f, vmm_multicast_add_device(S, object, 2));
    REFUSED(vmm_mem_map(S, p, size, 0, object, 0), ILLEGAL_STATE, "handle", object);
}

/* This needs no bind. */
NEAR(MAP_INCOMPLETE, mc_map_when_all_are_there)
{
    uint64_t size = TEAM_UNITS * team_unit(f);
    handle object = team_complete(f, 2);
    vmm_deviceptr p = team_reserve(f, size);
    ACCEPTED(vmm_mem_map(S, p, size, 0, object, 0));
    fix_note(f, FIX_MAPPING, p, size);
}

/* The object's own unit applies, which on some machines is coarser than the memory granularity. */
TEST_EXPECTS_ON("multicast.map_unit", mc_map_unit, TEAM_COARSE, TEST_AS_GIVEN, 0)
{
    team_need(f);
    uint64_t unit = team_unit(f), size = TEAM_UNITS * unit;
    handle object = team_complete(f, 2);
    vmm_deviceptr p = fix_reserve_at(f, 2 * size, unit, 0);
    if (unit > f->g)
        REFUSED_BY("VMM-MAP-PTR-GRANULARITY", vmm_mem_map(S, p + unit / 2, size, 0, object, 0), INVALID_VALUE, "ptr",
                   p + unit / 2);
    if (!fix_partial(f)) {
        REFUSED_BY("VMM-MAP-OFFSET", vmm_mem_map(S, p, unit, unit, object, 0), NOT_SUPPORTED, "offset", unit);
        REFUSED_BY("VMM-MAP-SIZE-WHOLE", vmm_mem_map(S, p, unit, 0, object, 0), NOT_SUPPORTED, "size", unit);
        return;
    }
    ACCEPTED(vmm_mem_map(S, p + unit, unit, unit, object, 0));
    fix_note(f, FIX_MAPPING, p + unit, unit);
}

RULE(ACCESS_TEAM, mc_rights_of_a_stranger)
{
    struct crew crew = team_crew(f, 2, 2);
    vmm_mem_access_desc desc = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 2), RW};
    REFUSED_NEAR(vmm_mem_set_access(S, crew.mc, crew.size, &desc, 1), INVALID_DEVICE, "desc.location.id", 2, MAPPING,
                 crew.mc);
    desc.location = fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    REFUSED_BY("VMM-ACCESS-HOST-ON-DEVICE", vmm_mem_set_access(S, crew.mc, crew.size, &desc, 1), NOT_SUPPORTED,
               "desc.location.type", VMM_MEM_LOCATION_TYPE_HOST);
}

NEAR(ACCESS_TEAM, mc_rights_of_the_team)
{
    struct crew crew = team_crew(f, 2, 0);
    vmm_mem_access_desc desc = {fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1), READ};
    ACCEPTED(vmm_mem_set_access(S, crew.mc, crew.size, &desc, 1));
    CHECK_U64(fix_rights(f, crew.mc, VMM_MEM_LOCATION_TYPE_DEVICE, 1), READ);
    CHECK_U64(fix_rights(f, crew.mc, VMM_MEM_LOCATION_TYPE_DEVICE, 0), RW);
    CHECK_U64(fix_rights(f, crew.mc, VMM_MEM_LOCATION_TYPE_DEVICE, 2), NONE);
}

RULE(PROPERTIES_MULTICAST, mc_properties_of_an_object)
{
    handle object = team_complete(f, 2);
    vmm_mem_allocation_prop prop;
    memset(&prop, 0x77, sizeof prop);
    REFUSED_NEAR(vmm_mem_get_allocation_properties_from_handle(S, &prop, object), INVALID_VALUE, "handle", object, HANDLE,
                 0);
    CHECK_U64((uint64_t)(unsigned)prop.type, 0x77777777);
}

NEAR(PROPERTIES_MULTICAST, mc_properties_of_what_is_bound)
{
    struct crew crew = team_crew(f, 2, 2);
    vmm_mem_allocation_prop prop;
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &prop, crew.memory[1]));
    CHECK_U64((uint64_t)prop.location.id, 1);
}

/* cuvmm's choice: device memory without a device. */
EXPECTS("multicast.pointer_attributes", mc_pointer)
{
    struct crew crew = team_crew(f, 2, 2);
    unsigned type = 0, own = 0;
    int ordinal = 0;
    uint64_t size = 0;
    ACCEPTED(vmm_pointer_get_attribute(S, &type, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, crew.mc));
    ACCEPTED(vmm_pointer_get_attribute(S, &ordinal, VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL, crew.mc));
    ACCEPTED(vmm_pointer_get_attribute(S, &size, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, crew.mc));
    ACCEPTED(vmm_pointer_get_attribute(S, &own, VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS, crew.mc));
    CHECK_U64(type, VMM_MEMORYTYPE_DEVICE);
    CHECK(ordinal == -2, "ordinal %d", ordinal);
    CHECK_U64(size, crew.size);
    CHECK_U64(own, RW);
}

RULE(COPY_MULTICAST, mc_copies_and_fills)
{
    struct crew crew = team_crew(f, 2, 2);
    uint64_t word = 7;
    vmm_stream stream = fix_stream(f);
    REFUSED_NEAR(vmm_memcpy_htod(S, crew.mc, &word, 8), INVALID_VALUE, "dstDevice", crew.mc, MAPPING, crew.mc);
    REFUSED(vmm_memcpy_dtoh(S, &word, crew.mc + 8, 8), INVALID_VALUE, "srcDevice", crew.mc + 8);
    REFUSED(vmm_memcpy_dtod(S, crew.own[0], crew.mc, 8), INVALID_VALUE, "srcDevice", crew.mc);
    REFUSED(vmm_memcpy_dtod(S, crew.mc, crew.own[0], 8), INVALID_VALUE, "dstDevice", crew.mc);
    REFUSED(vmm_memset_d8(S, crew.mc, 1, 8), INVALID_VALUE, "dstDevice", crew.mc);
    REFUSED(vmm_memset_d32_async(S, crew.mc, 1, 8, stream), INVALID_VALUE, "dstDevice", crew.mc);
    CHECK_U64(word, 7);
}

NEAR(COPY_MULTICAST, mc_copies_of_replicas)
{
    struct crew crew = team_crew(f, 2, 2);
    uint64_t word = 7;
    ACCEPTED(vmm_memcpy_htod(S, crew.own[0], &word, 8));
    ACCEPTED(vmm_memset_d8(S, crew.own[0] + 8, 1, 8));
    ACCEPTED(vmm_memcpy_dtoh(S, &word, crew.mc, 0)); /* nothing */
}

TEST_BREAKS_ON(DMABUF_MULTICAST, mc_dmabuf, TEAM "\nattribute.124 = 1", TEST_AS_GIVEN, 0)
{
    int fd = 7;
    team_need(f);
    struct crew crew = team_crew(f, 2, 2);
    REFUSED_NEAR(vmm_mem_get_handle_for_address_range(S, &fd, crew.mc, crew.unit, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
                 INVALID_VALUE, "dptr", crew.mc, MAPPING, crew.mc);
    CHECK(fd == -1, "the descriptor is %d", fd);
}

TEST_NEAR_MISS_ON(DMABUF_MULTICAST, mc_dmabuf_of_a_replica, TEAM "\nattribute.124 = 1", TEST_AS_GIVEN, 0)
{
    int fd = -1;
    team_need(f);
    struct crew crew = team_crew(f, 2, 2);
    ACCEPTED(vmm_mem_get_handle_for_address_range(S, &fd, crew.own[1], crew.unit, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    CHECK(!close(fd), "it cannot be closed");
}

/* ------------------------------------------------------------------------------------------------------------- kernels */

/* Each device's words, computed from its number and their offset. */
static uint64_t part_of(unsigned device, uint64_t i)
{
    return (device + 1) * 1000 + i;
}

/* A store by one device reaches this offset on every device, and nothing else. */
static void store_and_look(struct fix *f, unsigned devices)
{
    struct crew crew = team_crew(f, devices, devices);
    const uint64_t at = crew.unit - 8; /* from one unit into the next */
    for (unsigned by = 0; by < devices; by++) {
        team_set(f, &crew, by, crew.size - 16, part_of(by, 0));
        team_set(f, &crew, by, crew.size - 8, part_of(by, 1));
        RUN(MULTIMEM_STORE, crew.mc + at, crew.own[by] + crew.size - 16, 16);
        for (unsigned device = 0; device < devices; device++) {
            CHECK_U64(team_word(f, &crew, device, at), part_of(by, 0));
            CHECK_U64(team_word(f, &crew, device, at + 8), part_of(by, 1));
            CHECK_U64(team_word(f, &crew, device, at - 8), 0);
            CHECK_U64(team_word(f, &crew, device, at + 16), 0);
        }
    }
}

/* Each device adds its part to all replicas, and each then reads the sum over them. */
static void reduce_and_look(struct fix *f, unsigned devices)
{
    struct crew crew = team_crew(f, devices, devices);
    uint64_t all = 0;
    for (unsigned device = 0; device < devices; device++) {
        team_set(f, &crew, device, 64, part_of(device, 0));
        all += part_of(device, 0);
        RUN(MULTIMEM_REDUCE, crew.mc, crew.own[device] + 64, 8);
    }
    for (unsigned device = 0; device < devices; device++)
        CHECK_U64(team_word(f, &crew, device, 0), all);
    team_on(f, &crew, devices - 1);
    RUN(MULTIMEM_LOAD_REDUCE, crew.own[devices - 1] + 128, crew.mc, 8);
    CHECK_U64(team_word(f, &crew, devices - 1, 128), devices * all);
    RUN(MULTIMEM_LOAD_REDUCE, crew.own[devices - 1] + 128, crew.mc + 64, 8); /* the parts themselves */
    CHECK_U64(team_word(f, &crew, devices - 1, 128), all);
}

static uint64_t root_of(uint64_t square)
{
    uint64_t root = 0;
    while ((root + 1) * (root + 1) <= square)
        root++;
    return root;
}

/* [0 part | 8 counter | 16 out out complete | 64 values]. Rounds keep counting, so the counter is never reset. */
static void norm(struct fix *f, unsigned devices)
{
    enum { PART = 0, COUNTER = 8, OUT = 16, VALUES = 64, WORDS = 5 };
    struct crew crew = team_crew(f, devices, devices);
    for (unsigned round = 1; round <= 2; round++) {
        uint64_t squares = 0, expected = (uint64_t)round * devices;
        for (unsigned device = 0; device < devices; device++)
            for (uint64_t i = 0; i < WORDS; i++) {
                uint64_t value = part_of(device, round * i);
                squares += value * value;
                team_set(f, &crew, device, VALUES + 8 * i, value);
            }
        for (unsigned device = 0; device < devices; device++) {
            team_on(f, &crew, 0); /* it checks before the others arrive */
            RUN(NORM_FINISH, crew.own[0] + OUT, crew.mc + PART, crew.own[0] + COUNTER, expected, 10);
            CHECK_U64(team_word(f, &crew, 0, OUT + 16), 0);
            team_on(f, &crew, device);
            RUN(NORM_ARRIVE, crew.own[device] + PART, crew.mc + COUNTER, crew.own[device] + VALUES, 8 * WORDS);
        }
        for (unsigned device = 0; device < devices; device++) {
            team_on(f, &crew, device);
            RUN(NORM_FINISH, crew.own[device] + OUT, crew.mc + PART, crew.own[device] + COUNTER, expected, 1);
            CHECK_U64(team_word(f, &crew, device, OUT + 16), 1);
            CHECK_U64(team_word(f, &crew, device, OUT), squares);
            CHECK_U64(team_word(f, &crew, device, OUT + 8), root_of(squares));
        }
    }
}

#define WITH(n)                                                                                                        \
    TEST_EXPECTS_ON("multicast.store_reaches_every_replica", mc_store_##n, TEAM_OF(n), TEST_AS_GIVEN, 0)               \
    {                                                                                                                  \
        team_need(f);                                                                                                  \
        store_and_look(f, n);                                                                                          \
    }                                                                                                                  \
    TEST_EXPECTS_ON("multicast.reduce_adds_everywhere", mc_reduce_##n, TEAM_OF(n), TEST_AS_GIVEN, 0)                   \
    {                                                                                                                  \
        team_need(f);                                                                                                  \
        reduce_and_look(f, n);                                                                                         \
    }                                                                                                                  \
    TEST_EXPECTS_ON("multicast.all_reduce_norm", mc_norm_##n, TEAM_OF(n), TEST_AS_GIVEN, 0)                            \
    {                                                                                                                  \
        team_need(f);                                                                                                  \
        norm(f, n);                                                                                                    \
    }

WITH(2)
WITH(3)
WITH(4)
WITH(5)
WITH(6)
WITH(7)
WITH(8)

/* Some of the machine's devices can be a team, too, and it need not include device 0. */
EXPECTS("multicast.team_of_some", mc_team_of_some)
{
    uint64_t unit = team_unit(f), size = TEAM_UNITS * unit, word = 0;
    handle object = team_object(f, 2), memory[] = {team_memory(f, 2), team_memory(f, 1)};
    vmm_deviceptr mc = team_reserve(f, size), own[2];
    vmm_context context[2];
    for (int i = 0; i < 2; i++) {
        fix_need(f, vmm_multicast_add_device(S, object, 2 - i));
        own[i] = team_reserve(f, size);
        fix_map(f, own[i], size, memory[i]);
        fix_access_at(f, own[i], size, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 2 - i), RW);
        context[i] = fix_context(f, 2 - i);
    }
    /* at different offsets of the memory */
    fix_need(f, vmm_multicast_bind_mem(S, object, 0, memory[0], unit, unit, 0));
    fix_need(f, vmm_multicast_bind_addr(S, object, 0, own[1], unit, 0));
    fix_map(f, mc, size, object);
    for (int i = 0; i < 2; i++)
        fix_access_at(f, mc, size, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 2 - i), RW);
    fix_fill(f, own[1] + unit, 3, 8); /* device 1's context is current */
    RUN(MULTIMEM_STORE, mc + 8, own[1] + unit, 8);
    fix_need(f, vmm_memcpy_dtoh(S, &word, own[1] + 8, 8));
    CHECK_U64(word, UINT64_C(0x0303030303030303));
    fix_need(f, vmm_ctx_set_current(S, context[0]));
    fix_need(f, vmm_memcpy_dtoh(S, &word, own[0] + unit + 8, 8));
    CHECK_U64(word, UINT64_C(0x0303030303030303));
}

/* Ordinary kernels and copies read what multicast wrote, and the other way round, from launch to launch. */
EXPECTS("multicast.one_memory", mc_and_ordinary)
{
    struct crew crew = team_crew(f, 2, 2);
    vmm_deviceptr out = fix_mapped(f, f->g, RW, NULL);
    RUN(FILL, crew.own[0], 64, 1);
    RUN(FILL, crew.own[0] + 4096, 64, 2);
    RUN(MULTIMEM_STORE, crew.mc, crew.own[0] + 4096, 8);
    RUN(SUM, crew.own[0], 16, out);
    uint64_t sum = 0;
    fix_need(f, vmm_memcpy_dtoh(S, &sum, out, 8));
    CHECK_U64(sum, 8 * 2 + 8);
    fix_need(f, vmm_multicast_unbind(S, crew.object, 0, 0, crew.size)); /* the bytes stay the memory's */
    CHECK_U64(team_word(f, &crew, 0, 0), UINT64_C(0x0202020202020202));
    CHECK_U64(team_word(f, &crew, 1, 0), UINT64_C(0x0202020202020202));
}

/* A multicast address and an ordinary one of the same bytes in one launch, without a fence. */
EXPECTS("multicast.alias", mc_alias)
{
    struct crew crew = team_crew(f, 2, 2);
    team_reported(f, __LINE__, LAUNCH(MULTIMEM_REDUCE, crew.mc + 4096, crew.own[0] + 4088, 16), VMM_SUCCESS, "VMM-LAUNCH-ALIAS",
              crew.own[0] + 4096, VMM_OBJECT_MAPPING, "multimem_reduce writes at");
    team_reported(f, __LINE__, LAUNCH(MULTIMEM_LOAD_REDUCE, crew.own[0] + 8, crew.mc, 16), VMM_SUCCESS, "VMM-LAUNCH-ALIAS",
              crew.mc + 8, VMM_OBJECT_MAPPING, "and reads the same memory at");
    for (unsigned i = 0; i < 2; i++) { /* the last of several words, in either device's memory */
        team_on(f, &crew, i);
        team_reported(f, __LINE__, LAUNCH(MULTIMEM_REDUCE, crew.mc + 4096, crew.own[i] + 4096 + 24, 32), VMM_SUCCESS,
                  "VMM-LAUNCH-ALIAS", crew.own[i] + 4096 + 24, VMM_OBJECT_MAPPING, "multimem_reduce writes at");
        team_reported(f, __LINE__, LAUNCH(MULTIMEM_REDUCE, crew.mc + 4096, crew.own[i] + 4096 - 24, 32), VMM_SUCCESS,
                  "VMM-LAUNCH-ALIAS", crew.own[i] + 4096, VMM_OBJECT_MAPPING, "multimem_reduce writes at");
        ACCEPTED(vmm_ctx_synchronize(S));
    }
    team_on(f, &crew, 0);
    ACCEPTED(LAUNCH(MULTIMEM_REDUCE, crew.mc + 4096, crew.own[0] + 4112, 16)); /* beside them */
    ACCEPTED(LAUNCH(MULTIMEM_REDUCE, crew.mc + 4096, crew.own[0] + 4080, 16));
    ACCEPTED(vmm_ctx_synchronize(S));
    team_on(f, &crew, 1);
    fix_need(f, vmm_multicast_unbind(S, crew.object, 1, 0, crew.size));
    handle other = team_memory(f, 1);
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, 0, other, 0, crew.size, 0));
    ACCEPTED(LAUNCH(MULTIMEM_REDUCE, crew.mc, crew.own[1], 16)); /* its memory is no longer bound to the object */
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* Each device needs its own rights: READ is enough for sums, and other devices' rights do not count. */
EXPECTS("multicast.rights", mc_rights_count)
{
    struct crew crew = team_crew(f, 2, 2);
    fix_access_at(f, crew.mc, crew.size, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), READ);
    fix_access_at(f, crew.mc, crew.size, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 1), NONE);
    RUN(MULTIMEM_LOAD_REDUCE, crew.own[0], crew.mc + 8, 8); /* other bytes */
    ACCEPTED(LAUNCH(MULTIMEM_STORE, crew.mc, crew.own[0] + 64, 8));
    team_reported(f, __LINE__, vmm_ctx_synchronize(S), VMM_ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-ACCESS", crew.mc,
              VMM_OBJECT_MAPPING, "the device has only read access there");
    team_on(f, &crew, 1);
    ACCEPTED(LAUNCH(MULTIMEM_LOAD_REDUCE, crew.own[1], crew.mc, 8));
    team_reported(f, __LINE__, vmm_ctx_synchronize(S), VMM_ERROR_ILLEGAL_ADDRESS, "VMM-FAULT-ACCESS", crew.mc,
              VMM_OBJECT_MAPPING, "the device has no access there");
}

/* -------------------------------------------------------------------------------------------------------------- faults */

#define FAULTS(address, words) \
    team_reported(f, __LINE__, vmm_ctx_synchronize(S), VMM_ERROR_ILLEGAL_ADDRESS, NULL, (address), VMM_OBJECT_MAPPING, words)

RULE(FAULT_MULTICAST, mc_ordinary_load)
{
    struct crew crew = team_crew(f, 2, 2);
    ACCEPTED(LAUNCH(TOUCH, crew.mc + 8, 0, 8, crew.own[0]));
    FAULTS(crew.mc + 8, "touch, launched by");
    team_on(f, &crew, 1);
    ACCEPTED(LAUNCH(ATOMIC_ADD, crew.mc, 1));
    FAULTS(crew.mc, "only multimem instructions can access");
    CHECK(vmm_ctx_synchronize(S) == VMM_ERROR_ILLEGAL_ADDRESS &&
              strcmp(vmm_last_detail()->rule, "VMM-FAULT-STICKY") == 0,
          "the device is still there");
}

NEAR(FAULT_MULTICAST, mc_ordinary_load_of_a_replica)
{
    struct crew crew = team_crew(f, 2, 2);
    RUN(TOUCH, crew.own[0] + 8, 0, 8, crew.own[0]);
    RUN(ATOMIC_ADD, crew.own[0], 1);
    CHECK_U64(team_word(f, &crew, 0, 0), 1);
}

RULE(FAULT_MULTIMEM, mc_multimem_at_memory)
{
    struct crew crew = team_crew(f, 2, 2);
    ACCEPTED(LAUNCH(MULTIMEM_LOAD_REDUCE, crew.own[0], crew.own[0] + 8, 8));
    FAULTS(crew.own[0] + 8, "not a multicast address");
}

NEAR(FAULT_MULTIMEM, mc_multimem_at_the_object)
{
    struct crew crew = team_crew(f, 2, 2);
    RUN(MULTIMEM_LOAD_REDUCE, crew.own[0], crew.mc + 8, 8);
    RUN(MULTIMEM_STORE, crew.own[0], crew.own[0], 0); /* no data reaches no memory */
}

RULE(FAULT_UNBOUND, mc_store_without_a_replica)
{
    struct crew crew = team_crew(f, 3, 2);
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[2], 0, crew.unit, 0));
    team_set(f, &crew, 0, 0, 5);
    RUN(MULTIMEM_STORE, crew.mc + 8, crew.own[0], 8);
    ACCEPTED(LAUNCH(MULTIMEM_STORE, crew.mc + crew.unit - 8, crew.own[0], 16));
    FAULTS(crew.mc + crew.unit, "device 2 of the team has no memory bound there");
    CHECK_U64(team_word(f, &crew, 1, crew.unit - 8), 5); /* earlier writes stay */
    CHECK_U64(team_word(f, &crew, 1, crew.unit), 0);     /* and none of them got the rest */
}

NEAR(FAULT_UNBOUND, mc_store_with_every_replica)
{
    struct crew crew = team_crew(f, 3, 3);
    RUN(MULTIMEM_STORE, crew.mc + crew.size - 8, crew.own[0], 8);
}

/* -------------------------------------------------------------------------------------------------------- in flight */

RULE(UNBIND_IN_FLIGHT, mc_unbind_under_a_kernel)
{
    struct crew crew = team_crew(f, 2, 2);
    ACCEPTED(LAUNCH(MULTIMEM_STORE, crew.mc + crew.unit, crew.own[0], 8));
    team_reported(f, __LINE__, vmm_multicast_unbind(S, crew.object, 1, 0, crew.size), VMM_SUCCESS, NULL, 0,
              VMM_OBJECT_MAPPING, "multimem_store, launched by");
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[1], 0, crew.size, 0)); /* before it runs */
    ACCEPTED(vmm_ctx_synchronize(S));
}

NEAR(UNBIND_IN_FLIGHT, mc_unbind_beside_a_kernel)
{
    struct crew crew = team_crew(f, 2, 0);
    for (unsigned device = 0; device < 2; device++)
        for (uint64_t at = 0; at < crew.size; at += crew.unit)
            fix_need(f, vmm_multicast_bind_mem(S, crew.object, at, crew.memory[device], at, crew.unit, 0));
    ACCEPTED(LAUNCH(MULTIMEM_STORE, crew.mc + crew.unit, crew.own[0], 8));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 1, 0, crew.unit)); /* another part */
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 1, crew.unit, crew.unit)); /* after it has run */
}

/* A multicast mapping unmaps like any other, whatever is bound; binds outlive it. */
EXPECTS("multicast.unmap_apart_from_binds", mc_unmap)
{
    struct crew crew = team_crew(f, 2, 2);
    ACCEPTED(LAUNCH(MULTIMEM_STORE, crew.mc, crew.own[0] + 64, 8));
    team_reported(f, __LINE__, vmm_mem_unmap(S, crew.mc, crew.size), VMM_SUCCESS, "VMM-UNMAP-IN-FLIGHT", crew.mc,
              VMM_OBJECT_MAPPING, "multimem_store, launched by");
    fix_need(f, vmm_mem_map(S, crew.mc, crew.size, 0, crew.object, 0));
    team_access(f, crew.mc, crew.size, 2, RW);
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_unmap(f, crew.mc, crew.size);
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
    fix_map(f, crew.mc, crew.size, crew.object);
}
