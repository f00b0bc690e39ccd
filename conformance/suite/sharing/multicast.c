/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast objects: creation, teams, binding and unbinding. multicast_use.c tests their use. Everything follows the
 * documentation or is cuvmm's choice: nothing was measured on a driver. */
#include <string.h>

#include "team.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

#define RULE(rule, function)                                       \
    static void function##_body(struct fix *f);                    \
    TEST_BREAKS_ON(rule, function, TEAM, TEST_AS_GIVEN, 0)         \
    {                                                              \
        team_need(f);                                              \
        function##_body(f);                                        \
    }                                                              \
    static void function##_body(struct fix *f)
#define NEAR(rule, function)                                       \
    static void function##_body(struct fix *f);                    \
    TEST_NEAR_MISS_ON(rule, function, TEAM, TEST_AS_GIVEN, 0)      \
    {                                                              \
        team_need(f);                                              \
        function##_body(f);                                        \
    }                                                              \
    static void function##_body(struct fix *f)

typedef vmm_mem_generic_allocation_handle handle;

/* The object is made, is empty, and is released. */
static void made(struct fix *f, const vmm_multicast_object_prop *prop)
{
    handle object = 0;
    uint64_t before = fix_free_memory(f);
    ACCEPTED(vmm_multicast_create(S, &object, prop));
    CHECK(object != 0, "no handle was written");
    CHECK_FREE(before, 0);
    ACCEPTED(vmm_mem_release(S, object));
}

/* Both calls that take these properties refuse, and write nothing. */
#define REFUSED_PROP(prop, code, argument, value)                                                           \
    do {                                                                                                    \
        handle made_ = FIX_UNTOUCHED;                                                                       \
        uint64_t unit_ = FIX_UNTOUCHED;                                                                     \
        REFUSED(vmm_multicast_create(S, &made_, prop), code, argument, value);                              \
        REFUSED(vmm_multicast_get_granularity(S, &unit_, prop, 0), code, argument, value);                  \
        CHECK(made_ == FIX_UNTOUCHED && unit_ == FIX_UNTOUCHED, "a refused call wrote its output");         \
    } while (0)

/* ------------------------------------------------------------------------------------------------------- properties */

RULE(MULTICAST_GRANULARITY_NULL, mc_granularity_without_a_place)
{
    vmm_multicast_object_prop prop = team_prop(2, 0);
    REFUSED(vmm_multicast_get_granularity(S, NULL, &prop, 0), INVALID_VALUE, "granularity", 0);
}

NEAR(MULTICAST_GRANULARITY_NULL, mc_granularity_before_the_size)
{
    vmm_multicast_object_prop prop = team_prop(2, 0);
    uint64_t minimum = 0, recommended = 0;
    ACCEPTED(vmm_multicast_get_granularity(S, &minimum, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM));
    ACCEPTED(vmm_multicast_get_granularity(S, &recommended, &prop, VMM_MULTICAST_GRANULARITY_RECOMMENDED));
    CHECK(minimum && recommended >= minimum && recommended % minimum == 0, "%llu and %llu", (unsigned long long)minimum,
          (unsigned long long)recommended);
    CHECK(minimum % f->minimum == 0, "it is not a multiple of the memory's");
}

RULE(MULTICAST_NULL_HANDLE, mc_create_without_a_place)
{
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    REFUSED(vmm_multicast_create(S, NULL, &prop), INVALID_VALUE, "mcHandle", 0);
}

NEAR(MULTICAST_NULL_HANDLE, mc_create_with_a_place)
{
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    made(f, &prop);
}

RULE(MULTICAST_NULL_PROP, mc_create_of_nothing)
{
    handle object = FIX_UNTOUCHED;
    uint64_t unit = FIX_UNTOUCHED;
    REFUSED(vmm_multicast_create(S, &object, NULL), INVALID_VALUE, "prop", 0);
    REFUSED(vmm_multicast_get_granularity(S, &unit, NULL, 0), INVALID_VALUE, "prop", 0);
    CHECK(object == FIX_UNTOUCHED && unit == FIX_UNTOUCHED, "a refused call wrote its output");
}

NEAR(MULTICAST_NULL_PROP, mc_create_of_something)
{
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    made(f, &prop);
}

RULE(MULTICAST_GRANULARITY_OPTION, mc_granularity_of_another_kind)
{
    vmm_multicast_object_prop prop = team_prop(2, 0);
    uint64_t unit = FIX_UNTOUCHED;
    REFUSED(vmm_multicast_get_granularity(S, &unit, &prop, 2), INVALID_VALUE, "option", 2);
    REFUSED(vmm_multicast_get_granularity(S, &unit, &prop, -1), INVALID_VALUE, "option", UINT64_MAX);
    CHECK_U64(unit, FIX_UNTOUCHED);
}

NEAR(MULTICAST_GRANULARITY_OPTION, mc_granularity_of_both_kinds)
{
    vmm_multicast_object_prop prop = team_prop(2, 0);
    uint64_t unit = 0;
    ACCEPTED(vmm_multicast_get_granularity(S, &unit, &prop, 0));
    ACCEPTED(vmm_multicast_get_granularity(S, &unit, &prop, 1));
}

TEST_BREAKS_ON(MULTICAST_UNSUPPORTED, mc_where_there_is_none, "attribute.132 = 0\ndevices = 3", TEST_AS_GIVEN, 0)
{
    team_need(f);
    vmm_multicast_object_prop prop = team_prop(2, f->g);
    REFUSED_PROP(&prop, NOT_SUPPORTED, NULL, 0);
    CHECK_U64((uint64_t)fix_attribute(f, VMM_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED), 0);
}

NEAR(MULTICAST_UNSUPPORTED, mc_where_there_is)
{
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    CHECK_U64((uint64_t)fix_attribute(f, VMM_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED), 1);
    made(f, &prop);
}

RULE(MULTICAST_NUM_DEVICES, mc_of_no_team)
{
    const unsigned counts[] = {0, 1, 4, 32, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        vmm_multicast_object_prop prop = team_prop(counts[i], team_unit(f));
        REFUSED_PROP(&prop, INVALID_VALUE, "prop.numDevices", counts[i]);
    }
}

NEAR(MULTICAST_NUM_DEVICES, mc_of_some_and_all)
{
    for (unsigned count = 2; count <= 3; count++) {
        vmm_multicast_object_prop prop = team_prop(count, team_unit(f));
        made(f, &prop);
    }
}

RULE(MULTICAST_FLAGS, mc_with_flags)
{
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    prop.flags = UINT64_C(1) << 63;
    REFUSED_PROP(&prop, INVALID_VALUE, "prop.flags", prop.flags);
    prop.flags = 1;
    REFUSED_PROP(&prop, INVALID_VALUE, "prop.flags", 1);
}

NEAR(MULTICAST_FLAGS, mc_without_flags)
{
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    made(f, &prop);
}

RULE(MULTICAST_HANDLE_TYPES, mc_of_unknown_types)
{
    const uint64_t types[] = {VMM_MEM_HANDLE_TYPE_WIN32, VMM_MEM_HANDLE_TYPE_WIN32_KMT, 3, 12, 16, UINT64_C(1) << 32};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
        prop.handle_types = types[i];
        REFUSED_PROP(&prop, INVALID_VALUE, "prop.handleTypes", types[i]);
    }
}

TEST_NEAR_MISS_ON(MULTICAST_HANDLE_TYPES, mc_of_known_types,
                  TEAM "\nattribute.103 = 1\nattribute.128 = 1\nfabric.imex = yes", TEST_AS_GIVEN, 0)
{
    team_need(f);
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    prop.handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | VMM_MEM_HANDLE_TYPE_FABRIC;
    made(f, &prop);
}

TEST_BREAKS_ON(MULTICAST_TYPES_UNSUPPORTED, mc_of_types_that_are_not_there,
               TEAM "\nattribute.103 = 0\nattribute.128 = 0\nfabric.imex = yes", TEST_AS_GIVEN, 0)
{
    team_need(f);
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    prop.handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    REFUSED_PROP(&prop, NOT_SUPPORTED, "prop.handleTypes", prop.handle_types);
    prop.handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    REFUSED_PROP(&prop, NOT_SUPPORTED, "prop.handleTypes", prop.handle_types);
}

TEST_NEAR_MISS_ON(MULTICAST_TYPES_UNSUPPORTED, mc_of_types_that_are_there,
                  TEAM "\nattribute.103 = 1\nattribute.128 = 0\nfabric.imex = no", TEST_AS_GIVEN, 0)
{
    team_need(f);
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    made(f, &prop);
    prop.handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    made(f, &prop);
}

TEST_BREAKS_ON(MULTICAST_FABRIC_IMEX, mc_for_a_fabric_without_a_channel, TEAM "\nattribute.128 = 1\nfabric.imex = no",
               TEST_AS_GIVEN, 0)
{
    team_need(f);
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    handle object = FIX_UNTOUCHED;
    prop.handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    REFUSED(vmm_multicast_create(S, &object, &prop), NOT_PERMITTED, "prop.handleTypes", VMM_MEM_HANDLE_TYPE_FABRIC);
    CHECK_U64(object, FIX_UNTOUCHED);
    uint64_t unit = 0;
    /* which takes no memory */
    ACCEPTED(vmm_multicast_get_granularity(S, &unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM));
}

TEST_NEAR_MISS_ON(MULTICAST_FABRIC_IMEX, mc_for_a_fabric_with_a_channel, TEAM "\nattribute.128 = 1\nfabric.imex = yes",
                  TEST_AS_GIVEN, 0)
{
    team_need(f);
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    prop.handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    made(f, &prop);
    prop.num_devices = 64; /* of any machine */
    made(f, &prop);
}

RULE(MULTICAST_SIZE_ZERO, mc_of_no_bytes)
{
    vmm_multicast_object_prop prop = team_prop(2, 0);
    handle object = FIX_UNTOUCHED;
    REFUSED(vmm_multicast_create(S, &object, &prop), INVALID_VALUE, "prop.size", 0);
    CHECK_U64(object, FIX_UNTOUCHED);
}

NEAR(MULTICAST_SIZE_ZERO, mc_of_one_granule)
{
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    made(f, &prop);
}

TEST_BREAKS_ON(MULTICAST_SIZE_GRANULARITY, mc_of_part_of_a_granule, TEAM_COARSE, TEST_AS_GIVEN, 0)
{
    team_need(f);
    CHECK(team_unit(f) > f->minimum, "the unit is memory's");
    handle object = FIX_UNTOUCHED;
    const uint64_t unit = team_unit(f), sizes[] = {1, unit - 1, unit / 2, unit + unit / 2, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        vmm_multicast_object_prop prop = team_prop(2, sizes[i]);
        REFUSED(vmm_multicast_create(S, &object, &prop), INVALID_VALUE, "prop.size", sizes[i]);
    }
    CHECK_U64(object, FIX_UNTOUCHED);
}

NEAR(MULTICAST_SIZE_GRANULARITY, mc_of_many_granules)
{
    vmm_multicast_object_prop prop = team_prop(2, UINT64_C(1) << 40); /* it takes no memory */
    made(f, &prop);
}

/* ------------------------------------------------------------------------------------------------------------- team */

RULE(MULTICAST_HANDLE, mc_calls_without_an_object)
{
    uint64_t unit = team_unit(f);
    handle memory = team_memory(f, 0);
    vmm_deviceptr p = team_mapped(f, unit, RW, NULL);
    const handle wrong[] = {0, 1, UINT64_MAX, p};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        REFUSED(vmm_multicast_add_device(S, wrong[i], 0), INVALID_VALUE, "mcHandle", wrong[i]);
        REFUSED(vmm_multicast_bind_mem(S, wrong[i], 0, memory, 0, unit, 0), INVALID_VALUE, "mcHandle", wrong[i]);
        REFUSED(vmm_multicast_bind_addr(S, wrong[i], 0, p, unit, 0), INVALID_VALUE, "mcHandle", wrong[i]);
        REFUSED(vmm_multicast_unbind(S, wrong[i], 0, 0, unit), INVALID_VALUE, "mcHandle", wrong[i]);
    }
}

NEAR(MULTICAST_HANDLE, mc_calls_with_an_object)
{
    uint64_t unit = team_unit(f);
    handle object = team_complete(f, 2), memory = team_memory(f, 0);
    vmm_deviceptr p = team_mapped(f, unit, RW, NULL);
    ACCEPTED(vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0));
    ACCEPTED(vmm_multicast_bind_addr(S, object, unit, p, unit, 0));
    ACCEPTED(vmm_multicast_unbind(S, object, 0, 0, unit));
    ACCEPTED(vmm_multicast_unbind(S, object, 0, unit, unit));
}

RULE(MULTICAST_HANDLE_STALE, mc_calls_after_the_end)
{
    uint64_t unit = team_unit(f);
    handle object = team_object(f, 2), memory = team_memory(f, 0);
    fix_release(f, object);
    REFUSED_NEAR(vmm_multicast_add_device(S, object, 0), INVALID_VALUE, "mcHandle", object, HANDLE, 0);
    REFUSED(vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0), INVALID_VALUE, "mcHandle", object);
    REFUSED(vmm_multicast_unbind(S, object, 0, 0, unit), INVALID_VALUE, "mcHandle", object);
}

/* Its mapping keeps it. */
NEAR(MULTICAST_HANDLE_STALE, mc_calls_while_it_is_mapped)
{
    struct crew crew = team_crew(f, 2, 0);
    fix_release(f, crew.object);
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.size, 0));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
}

RULE(MULTICAST_HANDLE_MEMORY, mc_calls_with_memory)
{
    uint64_t unit = team_unit(f);
    handle memory = team_memory(f, 0), other = team_memory(f, 1);
    REFUSED_NEAR(vmm_multicast_add_device(S, memory, 0), INVALID_VALUE, "mcHandle", memory, HANDLE, 0);
    REFUSED(vmm_multicast_bind_mem(S, memory, 0, other, 0, unit, 0), INVALID_VALUE, "mcHandle", memory);
    REFUSED(vmm_multicast_unbind(S, memory, 0, 0, unit), INVALID_VALUE, "mcHandle", memory);
}

NEAR(MULTICAST_HANDLE_MEMORY, mc_calls_with_both)
{
    handle object = team_complete(f, 2);
    ACCEPTED(vmm_multicast_bind_mem(S, object, 0, team_memory(f, 0), 0, team_unit(f), 0));
    ACCEPTED(vmm_multicast_unbind(S, object, 0, 0, team_unit(f)));
}

RULE(MULTICAST_DEVICE_ID, mc_add_no_device)
{
    handle object = team_object(f, 2);
    REFUSED(vmm_multicast_add_device(S, object, -1), INVALID_DEVICE, "dev", UINT64_MAX);
    REFUSED(vmm_multicast_add_device(S, object, 3), INVALID_DEVICE, "dev", 3);
    REFUSED(vmm_multicast_unbind(S, object, 3, 0, team_unit(f)), INVALID_DEVICE, "dev", 3);
}

NEAR(MULTICAST_DEVICE_ID, mc_add_the_last_device)
{
    handle object = team_object(f, 2);
    ACCEPTED(vmm_multicast_add_device(S, object, 2));
    ACCEPTED(vmm_multicast_add_device(S, object, 0));
}

RULE(MULTICAST_DEVICE_TWICE, mc_add_a_device_again)
{
    handle object = team_object(f, 3);
    fix_need(f, vmm_multicast_add_device(S, object, 1));
    REFUSED_NEAR(vmm_multicast_add_device(S, object, 1), INVALID_VALUE, "dev", 1, HANDLE, 0);
}

NEAR(MULTICAST_DEVICE_TWICE, mc_add_another_device)
{
    handle object = team_object(f, 3), second = team_object(f, 2);
    ACCEPTED(vmm_multicast_add_device(S, object, 1));
    ACCEPTED(vmm_multicast_add_device(S, object, 0));
    ACCEPTED(vmm_multicast_add_device(S, second, 1)); /* teams are independent */
}

RULE(MULTICAST_TEAM_FULL, mc_add_one_too_many)
{
    handle object = team_complete(f, 2);
    REFUSED_NEAR(vmm_multicast_add_device(S, object, 2), INVALID_VALUE, "dev", 2, HANDLE, 0);
}

NEAR(MULTICAST_TEAM_FULL, mc_add_the_last_of_the_team)
{
    handle object = team_object(f, 2);
    ACCEPTED(vmm_multicast_add_device(S, object, 0));
    ACCEPTED(vmm_multicast_add_device(S, object, 2));
}

/* ------------------------------------------------------------------------------------------------------------- binds */

RULE(BIND_INCOMPLETE, mc_bind_before_all_are_there)
{
    uint64_t unit = team_unit(f);
    handle object = team_object(f, 2), memory = team_memory(f, 0);
    vmm_deviceptr p = team_mapped(f, unit, RW, NULL);
    REFUSED_NEAR(vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0), ILLEGAL_STATE, "mcHandle", object, HANDLE, 0);
    fix_need(f, vmm_multicast_add_device(S, object, 0));
    REFUSED(vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0), ILLEGAL_STATE, "mcHandle", object);
    REFUSED(vmm_multicast_bind_addr(S, object, 0, p, unit, 0), ILLEGAL_STATE, "mcHandle", object);
}

NEAR(BIND_INCOMPLETE, mc_bind_when_all_are_there)
{
    uint64_t unit = team_unit(f);
    handle object = team_object(f, 2), memory = team_memory(f, 0);
    fix_need(f, vmm_multicast_add_device(S, object, 0));
    fix_need(f, vmm_multicast_add_device(S, object, 1));
    ACCEPTED(vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0)); /* though device 1 has bound nothing */
}

RULE(BIND_MEMORY, mc_bind_no_memory)
{
    handle object = team_complete(f, 2);
    REFUSED(vmm_multicast_bind_mem(S, object, 0, 0, 0, team_unit(f), 0), INVALID_VALUE, "memHandle", 0);
    REFUSED(vmm_multicast_bind_mem(S, object, 0, 77, 0, team_unit(f), 0), INVALID_VALUE, "memHandle", 77);
}

NEAR(BIND_MEMORY, mc_bind_memory)
{
    ACCEPTED(vmm_multicast_bind_mem(S, team_complete(f, 2), 0, team_memory(f, 1), 0, team_unit(f), 0));
}

RULE(BIND_MEMORY_STALE, mc_bind_memory_that_is_gone)
{
    handle object = team_complete(f, 2), memory = team_memory(f, 0);
    fix_release(f, memory);
    REFUSED(vmm_multicast_bind_mem(S, object, 0, memory, 0, team_unit(f), 0), INVALID_VALUE, "memHandle", memory);
}

/* As cuMemMap takes it. */
NEAR(BIND_MEMORY_STALE, mc_bind_memory_that_is_mapped_alone)
{
    handle memory = 0;
    vmm_deviceptr p = team_mapped(f, team_unit(f), RW, &memory);
    handle object = team_complete(f, 2);
    fix_release(f, memory);
    ACCEPTED(vmm_multicast_bind_mem(S, object, 0, memory, 0, team_unit(f), 0));
    ACCEPTED(vmm_multicast_unbind(S, object, 0, 0, team_unit(f)));
    CHECK_U64(fix_peek(f, p), 0);
}

RULE(BIND_ADDRESS, mc_bind_addresses_without_memory)
{
    uint64_t unit = team_unit(f);
    handle object = team_complete(f, 2);
    vmm_deviceptr p = team_reserve(f, unit), a = fix_alloc(f, unit);
    REFUSED_NEAR(vmm_multicast_bind_addr(S, object, 0, p, unit, 0), INVALID_VALUE, "memptr", p, RESERVATION, p);
    REFUSED_NEAR(vmm_multicast_bind_addr(S, object, 0, a, unit, 0), INVALID_VALUE, "memptr", a, ALLOCATION, a);
    REFUSED(vmm_multicast_bind_addr(S, object, 0, 0, unit, 0), INVALID_VALUE, "memptr", 0);
}

/* Nothing needs rights, and the mapping may be unmapped. */
NEAR(BIND_ADDRESS, mc_bind_addresses_of_memory)
{
    uint64_t unit = team_unit(f);
    handle object = team_complete(f, 2);
    vmm_deviceptr p = team_reserve(f, 2 * unit);
    fix_map(f, p, 2 * unit, fix_create(f, 2 * unit));
    ACCEPTED(vmm_multicast_bind_addr(S, object, 0, p + unit, unit, 0));
    fix_unmap(f, p, 2 * unit);
    ACCEPTED(vmm_multicast_unbind(S, object, 0, 0, unit));
}

RULE(BIND_MULTICAST, mc_bind_an_object)
{
    struct crew crew = team_crew(f, 2, 0);
    handle other = team_complete(f, 2);
    REFUSED_NEAR(vmm_multicast_bind_mem(S, crew.object, 0, other, 0, crew.unit, 0), INVALID_VALUE, "memHandle", other,
                 HANDLE, 0);
    REFUSED(vmm_multicast_bind_mem(S, other, 0, other, 0, crew.unit, 0), INVALID_VALUE, "memHandle", other);
    REFUSED_NEAR(vmm_multicast_bind_addr(S, other, 0, crew.mc, crew.unit, 0), INVALID_VALUE, "memptr", crew.mc, MAPPING,
                 crew.mc);
}

NEAR(BIND_MULTICAST, mc_bind_beside_an_object)
{
    struct crew crew = team_crew(f, 2, 0);
    ACCEPTED(vmm_multicast_bind_addr(S, crew.object, 0, crew.own[0], crew.size, 0));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
}

RULE(BIND_FLAGS, mc_bind_with_flags)
{
    struct crew crew = team_crew(f, 2, 0);
    REFUSED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.unit, 1), INVALID_VALUE, "flags", 1);
    REFUSED(vmm_multicast_bind_addr(S, crew.object, 0, crew.own[0], crew.unit, UINT64_C(1) << 40), INVALID_VALUE,
            "flags", UINT64_C(1) << 40);
}

NEAR(BIND_FLAGS, mc_bind_without_flags)
{
    struct crew crew = team_crew(f, 2, 0);
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.unit, 0));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.unit));
}

RULE(BIND_SIZE_ZERO, mc_bind_nothing)
{
    struct crew crew = team_crew(f, 2, 1);
    REFUSED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, 0, 0), INVALID_VALUE, "size", 0);
    REFUSED(vmm_multicast_bind_addr(S, crew.object, 0, crew.own[0], 0, 0), INVALID_VALUE, "size", 0);
    REFUSED(vmm_multicast_unbind(S, crew.object, 0, 0, 0), INVALID_VALUE, "size", 0);
}

NEAR(BIND_SIZE_ZERO, mc_bind_one_granule)
{
    struct crew crew = team_crew(f, 2, 0);
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.unit, 0));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.unit));
}

TEST_BREAKS_ON(BIND_GRANULARITY, mc_bind_parts_of_granules, TEAM_COARSE, TEST_AS_GIVEN, 0)
{
    team_need(f);
    struct crew crew = team_crew(f, 2, 0);
    uint64_t half = crew.unit / 2, unit = crew.unit;
    REFUSED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, half, 0), INVALID_VALUE, "size", half);
    REFUSED(vmm_multicast_bind_mem(S, crew.object, half, crew.memory[0], 0, unit, 0), INVALID_VALUE, "mcOffset", half);
    REFUSED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], half, unit, 0), INVALID_VALUE, "memOffset", half);
    REFUSED(vmm_multicast_bind_addr(S, crew.object, 0, crew.own[0] + half, unit, 0), INVALID_VALUE, "memptr",
            crew.own[0] + half);
    REFUSED(vmm_multicast_bind_addr(S, crew.object, 8, crew.own[0], unit, 0), INVALID_VALUE, "mcOffset", 8);
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, unit, 0));
    REFUSED(vmm_multicast_unbind(S, crew.object, 0, 0, unit - 1), INVALID_VALUE, "size", unit - 1);
    REFUSED(vmm_multicast_unbind(S, crew.object, 0, 1, unit), INVALID_VALUE, "mcOffset", 1);
}

NEAR(BIND_GRANULARITY, mc_bind_the_second_granule)
{
    struct crew crew = team_crew(f, 2, 0);
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, crew.unit, crew.memory[0], crew.unit, crew.unit, 0));
    ACCEPTED(vmm_multicast_bind_addr(S, crew.object, crew.unit, crew.own[1] + crew.unit, crew.unit, 0));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, crew.unit, crew.unit));
}

RULE(BIND_RANGE, mc_bind_past_the_object)
{
    struct crew crew = team_crew(f, 2, 0);
    vmm_mem_allocation_prop prop = fix_prop(0);
    handle large = fix_create_prop(f, 2 * crew.size, &prop);
    uint64_t last = 0 - crew.unit;
    REFUSED(vmm_multicast_bind_mem(S, crew.object, 0, large, 0, crew.size + crew.unit, 0), INVALID_VALUE, "size",
            crew.size + crew.unit);
    REFUSED(vmm_multicast_bind_mem(S, crew.object, crew.unit, large, 0, crew.size, 0), INVALID_VALUE, "size", crew.size);
    REFUSED(vmm_multicast_bind_mem(S, crew.object, last, large, 0, crew.size, 0), INVALID_VALUE, "size", crew.size);
    REFUSED(vmm_multicast_bind_addr(S, crew.object, crew.unit, crew.own[0], crew.size, 0), INVALID_VALUE, "size",
            crew.size);
    REFUSED(vmm_multicast_unbind(S, crew.object, 0, crew.size, crew.unit), INVALID_VALUE, "size", crew.unit);
}

NEAR(BIND_RANGE, mc_bind_up_to_the_end)
{
    struct crew crew = team_crew(f, 2, 0);
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.size, 0));
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, crew.unit, crew.memory[1], 0, crew.unit, 0));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 1, crew.unit, crew.unit));
}

RULE(BIND_MEMORY_RANGE, mc_bind_past_the_memory)
{
    uint64_t unit = team_unit(f);
    handle object = team_complete(f, 2), memory = fix_create(f, unit), second = fix_create(f, unit);
    vmm_deviceptr p = team_reserve(f, 2 * unit);
    fix_map(f, p, unit, memory);
    fix_map(f, p + unit, unit, second); /* adjacent, and yet two */
    REFUSED(vmm_multicast_bind_mem(S, object, 0, memory, 0, 2 * unit, 0), INVALID_VALUE, "size", 2 * unit);
    REFUSED(vmm_multicast_bind_mem(S, object, 0, memory, unit, unit, 0), INVALID_VALUE, "size", unit);
    REFUSED(vmm_multicast_bind_mem(S, object, 0, memory, 0 - unit, unit, 0), INVALID_VALUE, "size", unit);
    REFUSED(vmm_multicast_bind_addr(S, object, 0, p, 2 * unit, 0), INVALID_VALUE, "size", 2 * unit);
}

NEAR(BIND_MEMORY_RANGE, mc_bind_up_to_the_end_of_memory)
{
    struct crew crew = team_crew(f, 2, 0);
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], crew.unit, crew.unit, 0));
    ACCEPTED(vmm_multicast_bind_addr(S, crew.object, 0, crew.own[1] + crew.unit, crew.unit, 0));
}

RULE(BIND_HOST, mc_bind_memory_of_the_host)
{
    fix_need_host(f);
    uint64_t unit = team_unit(f);
    handle object = team_complete(f, 2);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    handle memory = fix_create_prop(f, unit, &prop);
    REFUSED(vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0), INVALID_VALUE, "memHandle", memory);
    vmm_deviceptr p = team_reserve(f, unit);
    fix_map(f, p, unit, memory);
    REFUSED(vmm_multicast_bind_addr(S, object, 0, p, unit, 0), INVALID_VALUE, "memptr", p);
}

NEAR(BIND_HOST, mc_bind_memory_of_a_device)
{
    ACCEPTED(vmm_multicast_bind_mem(S, team_complete(f, 2), 0, team_memory(f, 0), 0, team_unit(f), 0));
}

RULE(BIND_DEVICE, mc_bind_memory_of_another_device)
{
    uint64_t unit = team_unit(f);
    handle object = team_complete(f, 2), memory = team_memory(f, 2);
    REFUSED_NEAR(vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0), INVALID_DEVICE, "memHandle", memory, HANDLE,
                 0);
    vmm_deviceptr p = team_reserve(f, TEAM_UNITS * unit);
    fix_map(f, p, TEAM_UNITS * unit, memory);
    REFUSED(vmm_multicast_bind_addr(S, object, 0, p, unit, 0), INVALID_DEVICE, "memptr", p);
}

NEAR(BIND_DEVICE, mc_bind_memory_of_each_device)
{
    handle object = team_complete(f, 3);
    for (int device = 0; device < 3; device++)
        ACCEPTED(vmm_multicast_bind_mem(S, object, 0, team_memory(f, device), 0, team_unit(f), 0));
}

/* An exportable object, with exportable and private memory. */
static void bind_shared(struct fix *f, int types, handle *object, handle *memory)
{
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    vmm_mem_allocation_prop memory_prop = fix_prop(0);
    prop.handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    memory_prop.requested_handle_types = types;
    fix_need(f, vmm_multicast_create(S, object, &prop));
    fix_note(f, FIX_HANDLE, *object, 0);
    fix_need(f, vmm_multicast_add_device(S, *object, 0));
    fix_need(f, vmm_multicast_add_device(S, *object, 1));
    *memory = fix_create_prop(f, team_unit(f), &memory_prop);
}

TEST_BREAKS_ON(BIND_SHARED, mc_bind_private_memory, TEAM "\nattribute.103 = 1", TEST_AS_GIVEN, 0)
{
    handle object, memory;
    team_need(f);
    bind_shared(f, 0, &object, &memory);
    REFUSED_NEAR(vmm_multicast_bind_mem(S, object, 0, memory, 0, team_unit(f), 0), NOT_PERMITTED, "memHandle", memory,
                 HANDLE, 0);
}

TEST_BREAKS_ON(BIND_SHARED, mc_bind_memory_of_one_machine, TEAM "\nattribute.103 = 1\nattribute.128 = 1\nfabric.imex = yes",
               TEST_AS_GIVEN, 0)
{
    team_need(f);
    vmm_multicast_object_prop prop = team_prop(2, team_unit(f));
    vmm_mem_allocation_prop memory_prop = fix_prop(0);
    handle object = 0;
    prop.handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    memory_prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    fix_need(f, vmm_multicast_create(S, &object, &prop));
    fix_note(f, FIX_HANDLE, object, 0);
    fix_need(f, vmm_multicast_add_device(S, object, 0));
    fix_need(f, vmm_multicast_add_device(S, object, 1));
    handle memory = fix_create_prop(f, team_unit(f), &memory_prop);
    REFUSED_NEAR(vmm_multicast_bind_mem(S, object, 0, memory, 0, team_unit(f), 0), NOT_PERMITTED, "memHandle", memory,
                 HANDLE, 0);
    memory_prop.requested_handle_types |= VMM_MEM_HANDLE_TYPE_FABRIC;
    memory = fix_create_prop(f, team_unit(f), &memory_prop);
    ACCEPTED(vmm_multicast_bind_mem(S, object, 0, memory, 0, team_unit(f), 0));
}

TEST_NEAR_MISS_ON(BIND_SHARED, mc_bind_memory_to_share, TEAM "\nattribute.103 = 1", TEST_AS_GIVEN, 0)
{
    handle object, memory;
    team_need(f);
    bind_shared(f, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, &object, &memory);
    ACCEPTED(vmm_multicast_bind_mem(S, object, 0, memory, 0, team_unit(f), 0));
    ACCEPTED(vmm_multicast_bind_mem(S, team_complete(f, 2), 0, memory, 0, team_unit(f), 0)); /* to a private object */
}

RULE(BIND_OVERLAP, mc_bind_over_a_bind)
{
    struct crew crew = team_crew(f, 2, 1);
    handle other = team_memory(f, 0);
    REFUSED_NEAR(vmm_multicast_bind_mem(S, crew.object, 0, other, 0, crew.unit, 0), INVALID_VALUE, "mcOffset", 0, BIND, 0);
    REFUSED(vmm_multicast_bind_mem(S, crew.object, crew.unit, other, 0, crew.unit, 0), INVALID_VALUE, "mcOffset",
            crew.unit);
    REFUSED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.size, 0), INVALID_VALUE, "mcOffset", 0);
    fix_need(f, vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, crew.unit, other, 0, crew.unit, 0));
    REFUSED_NEAR(vmm_multicast_bind_addr(S, crew.object, 0, crew.own[0], crew.size, 0), INVALID_VALUE, "mcOffset", 0,
                 BIND, crew.unit);
}

/* Adjacent, the same memory twice, and the same offset of another device. */
NEAR(BIND_OVERLAP, mc_bind_beside_a_bind)
{
    struct crew crew = team_crew(f, 2, 0);
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, crew.unit, crew.memory[0], 0, crew.unit, 0));
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.unit, 0));
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[1], 0, crew.size, 0));
}

/* ----------------------------------------------------------------------------------------------------------- unbinding */

RULE(UNBIND_DEVICE, mc_unbind_of_a_stranger)
{
    struct crew crew = team_crew(f, 2, 2);
    REFUSED(vmm_multicast_unbind(S, crew.object, 2, 0, crew.size), INVALID_DEVICE, "dev", 2);
}

NEAR(UNBIND_DEVICE, mc_unbind_of_one_of_the_team)
{
    struct crew crew = team_crew(f, 2, 2);
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 1, 0, crew.size));
}

RULE(UNBIND_NOTHING, mc_unbind_what_is_not_bound)
{
    struct crew crew = team_crew(f, 2, 1);
    REFUSED(vmm_multicast_unbind(S, crew.object, 1, 0, crew.size), INVALID_VALUE, "mcOffset", 0);
    fix_need(f, vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
    REFUSED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.size), INVALID_VALUE, "mcOffset", 0);
}

NEAR(UNBIND_NOTHING, mc_unbind_what_is_bound)
{
    struct crew crew = team_crew(f, 2, 1);
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.size, 0));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
}

RULE(UNBIND_MATCH, mc_unbind_a_part)
{
    struct crew crew = team_crew(f, 2, 1);
    REFUSED_NEAR(vmm_multicast_unbind(S, crew.object, 0, 0, crew.unit), INVALID_VALUE, "size", crew.unit, BIND, 0);
    REFUSED(vmm_multicast_unbind(S, crew.object, 0, crew.unit, crew.unit), INVALID_VALUE, "mcOffset", crew.unit);
    fix_need(f, vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.unit, 0));
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, crew.unit, crew.memory[0], 0, crew.unit, 0));
    REFUSED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.size), INVALID_VALUE, "size", crew.size); /* two at once */
}

NEAR(UNBIND_MATCH, mc_unbind_one_of_two)
{
    struct crew crew = team_crew(f, 2, 0);
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[0], 0, crew.unit, 0));
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, crew.unit, crew.memory[0], 0, crew.unit, 0));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, crew.unit, crew.unit));
    ACCEPTED(vmm_multicast_unbind(S, crew.object, 0, 0, crew.unit));
}

/* --------------------------------------------------------------------------------------------------- who keeps what */

RULE(RELEASE_MEMORY_BOUND, mc_memory_goes_while_bound)
{
    uint64_t unit = team_unit(f), before = fix_free_memory(f);
    handle object = team_complete(f, 2), memory = 0;
    vmm_deviceptr p = team_mapped(f, unit, RW, &memory);
    fix_need(f, vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0));
    fix_unmap(f, p, unit);
    TOLD(vmm_mem_release(S, memory), SUCCESS, memory, HANDLE);
    fix_forget(f, FIX_HANDLE, memory, 0);
    CHECK_FREE(before, unit); /* it stays taken */
    REFUSED_BY("VMM-RELEASE-HANDLE-STALE", vmm_mem_release(S, memory), INVALID_VALUE, "handle", memory);
    fix_need(f, vmm_multicast_unbind(S, object, 0, 0, unit));
    CHECK_FREE(before, 0);
    p = team_mapped(f, unit, RW, &memory); /* also when a mapping is the last holder */
    fix_need(f, vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0));
    fix_release(f, memory);
    TOLD(vmm_mem_unmap(S, p, unit), SUCCESS, memory, HANDLE);
    fix_forget(f, FIX_MAPPING, p, unit);
}

NEAR(RELEASE_MEMORY_BOUND, mc_memory_goes_after_unbinding)
{
    uint64_t unit = team_unit(f), before = fix_free_memory(f);
    handle object = team_complete(f, 2), memory = 0;
    vmm_deviceptr p = team_mapped(f, unit, RW, &memory);
    fix_need(f, vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0));
    ACCEPTED(vmm_mem_release(S, memory)); /* the mapping is still there */
    fix_forget(f, FIX_HANDLE, memory, 0);
    fix_need(f, vmm_multicast_unbind(S, object, 0, 0, unit));
    ACCEPTED(vmm_mem_unmap(S, p, unit));
    fix_forget(f, FIX_MAPPING, p, unit);
    CHECK_FREE(before, 0);
    p = team_mapped(f, unit, RW, &memory);
    fix_need(f, vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0));
    fix_need(f, vmm_mem_retain_allocation_handle(S, &memory, p));
    fix_unmap(f, p, unit);
    ACCEPTED(vmm_mem_release(S, memory)); /* one of two */
    fix_need(f, vmm_multicast_unbind(S, object, 0, 0, unit));
    fix_release(f, memory);
    CHECK_FREE(before, 0);
}

RULE(RELEASE_TEAM_BOUND, mc_object_goes_while_bound)
{
    uint64_t unit = team_unit(f), before = fix_free_memory(f);
    handle object = team_complete(f, 2), memory = fix_create(f, unit);
    fix_need(f, vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0));
    TOLD(vmm_mem_release(S, object), SUCCESS, object, HANDLE);
    fix_forget(f, FIX_HANDLE, object, 0);
    ACCEPTED(vmm_mem_release(S, memory)); /* no bind holds it any longer */
    fix_forget(f, FIX_HANDLE, memory, 0);
    CHECK_FREE(before, 0);
}

NEAR(RELEASE_TEAM_BOUND, mc_object_stays_mapped)
{
    struct crew crew = team_crew(f, 2, 2);
    ACCEPTED(vmm_mem_release(S, crew.object));
    fix_forget(f, FIX_HANDLE, crew.object, 0);
    fix_need(f, vmm_multicast_unbind(S, crew.object, 0, 0, crew.size));
    fix_need(f, vmm_multicast_unbind(S, crew.object, 1, 0, crew.size));
    ACCEPTED(vmm_mem_unmap(S, crew.mc, crew.size));
    fix_forget(f, FIX_MAPPING, crew.mc, crew.size);
    REFUSED_BY("VMM-MULTICAST-HANDLE-STALE", vmm_multicast_add_device(S, crew.object, 0), INVALID_VALUE, "mcHandle",
               crew.object);
}

static void keep_last(void *user, const vmm_detail *detail)
{
    *(vmm_detail *)user = *detail;
}

RULE(LEAK_MULTICAST, mc_leave_an_object)
{
    handle object = team_complete(f, 2), memory = fix_create(f, team_unit(f));
    vmm_detail reported = {0};
    fix_need(f, vmm_multicast_bind_mem(S, object, 0, memory, 0, team_unit(f), 0));
    vmm_leaks(S, keep_last, &reported); /* the context is reported last */
    uint64_t held = vmm_leaks(S, NULL, NULL);
    fix_release(f, memory);
    CHECK_U64(vmm_leaks(S, NULL, NULL), held - 1); /* the bind is not a leak of its own */
    fix_need(f, vmm_mem_address_free(S, f->keeper, f->unit));
    fix_forget(f, FIX_RESERVATION, f->keeper, f->unit);
    fix_context_destroy(f, f->ctx);
    f->ctx = NULL;
    CHECK_U64(vmm_leaks(S, keep_last, &reported), 1);
    CHECK(reported.rule && strcmp(reported.rule, f->rule) == 0 && reported.nearest.team == 2 && reported.nearest.devices == 3 &&
              reported.nearest.binds == 1 && strstr(reported.note, "1 bind holds"),
          "%s: %s", reported.rule ? reported.rule : "no rule", reported.note);
}

NEAR(LEAK_MULTICAST, mc_leave_nothing)
{
    uint64_t held = vmm_leaks(S, NULL, NULL);
    fix_release(f, team_complete(f, 2));
    CHECK_U64(vmm_leaks(S, NULL, NULL), held);
}

/* ------------------------------------------------------------------------------------------------------ expectations */

struct seen {
    uint32_t binds, teams;
    vmm_object bind[4], team;
};

static void look(void *user, const vmm_object *object)
{
    struct seen *seen = user;
    if (object->kind == VMM_OBJECT_BIND && seen->binds++ < 4)
        seen->bind[seen->binds - 1] = *object;
    if (object->kind == VMM_OBJECT_HANDLE && object->team) {
        seen->teams++;
        seen->team = *object;
    }
}

TEST_EXPECTS_ON("multicast.objects_are_shown", mc_is_shown, TEAM, TEST_AS_GIVEN, 0)
{
    struct seen seen = {0};
    team_need(f);
    struct crew crew = team_crew(f, 3, 0);
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, crew.unit, crew.memory[2], 0, crew.unit, 0));
    fix_need(f, vmm_multicast_bind_mem(S, crew.object, 0, crew.memory[2], crew.unit, crew.unit, 0));
    fix_need(f, vmm_visit(S, look, &seen));
    CHECK(seen.teams == 1 && seen.team.team == 3 && seen.team.devices == 7 && seen.team.binds == 2 &&
              seen.team.size == crew.size && seen.team.mappings == 1 && seen.team.value == crew.object &&
              seen.team.location.type == VMM_MEM_LOCATION_TYPE_INVALID,
          "the object is listed differently");
    CHECK_U64(seen.binds, 2);
    CHECK(seen.bind[0].start == 0 && seen.bind[0].size == crew.unit && seen.bind[0].offset == crew.unit &&
              seen.bind[0].number == 2 && seen.bind[0].location.id == 2 && seen.bind[0].handle == crew.object &&
              strcmp(seen.bind[0].created_by, "cuMulticastBindMem") == 0,
          "a bind is listed differently");
    CHECK(seen.bind[1].start == crew.unit && seen.bind[1].number == 1 && seen.bind[1].offset == 0,
          "binds are listed in another order");
}

TEST_EXPECTS_ON("multicast.retain", mc_retain, TEAM, TEST_AS_GIVEN, 0)
{
    handle again = 0;
    team_need(f);
    struct crew crew = team_crew(f, 2, 0);
    ACCEPTED(vmm_mem_retain_allocation_handle(S, &again, crew.mc + 8));
    CHECK_U64(again, crew.object);
    ACCEPTED(vmm_mem_release(S, again));
}

/* Arguments come before the state of the team, and that before the memory. */
TEST_EXPECTS_ON("multicast.order_of_checks", mc_order, TEAM, TEST_AS_GIVEN, 0)
{
    team_need(f);
    uint64_t unit = team_unit(f);
    handle object = team_object(f, 2), strange = team_memory(f, 2);
    vmm_multicast_object_prop prop = {.num_devices = 1, .size = 1, .handle_types = 2, .flags = 1};
    REFUSED_BY("VMM-MULTICAST-NULL-HANDLE", vmm_multicast_create(S, NULL, NULL), INVALID_VALUE, "mcHandle", 0);
    handle made_ = 0;
    REFUSED_BY("VMM-MULTICAST-NUM-DEVICES", vmm_multicast_create(S, &made_, &prop), INVALID_VALUE, "prop.numDevices", 1);
    prop.num_devices = 2;
    REFUSED_BY("VMM-MULTICAST-FLAGS", vmm_multicast_create(S, &made_, &prop), INVALID_VALUE, "prop.flags", 1);
    prop.flags = 0;
    REFUSED_BY("VMM-MULTICAST-HANDLE-TYPES", vmm_multicast_create(S, &made_, &prop), INVALID_VALUE, "prop.handleTypes", 2);
    REFUSED_BY("VMM-MULTICAST-HANDLE", vmm_multicast_bind_mem(S, 5, 1, 5, 1, 0, 1), INVALID_VALUE, "mcHandle", 5);
    REFUSED_BY("VMM-BIND-MEMORY", vmm_multicast_bind_mem(S, object, 1, 5, 1, 0, 1), INVALID_VALUE, "memHandle", 5);
    REFUSED_BY("VMM-BIND-FLAGS", vmm_multicast_bind_mem(S, object, 1, strange, 1, 0, 1), INVALID_VALUE, "flags", 1);
    REFUSED_BY("VMM-BIND-SIZE-ZERO", vmm_multicast_bind_mem(S, object, 1, strange, 1, 0, 0), INVALID_VALUE, "size", 0);
    REFUSED_BY("VMM-BIND-INCOMPLETE", vmm_multicast_bind_mem(S, object, 0, strange, 0, unit, 0), ILLEGAL_STATE, "mcHandle",
               object);
    REFUSED_BY("VMM-MULTICAST-DEVICE-ID", vmm_multicast_unbind(S, object, 9, 1, 0), INVALID_DEVICE, "dev", 9);
    REFUSED_BY("VMM-UNBIND-DEVICE", vmm_multicast_unbind(S, object, 0, 1, 0), INVALID_DEVICE, "dev", 0);
}
