/* SPDX-License-Identifier: Apache-2.0 */
/* vmm_mem_get_allocation_granularity. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

TEST_BREAKS(GRANULARITY_NULL, granularity_without_place_for_it)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    REFUSED(vmm_mem_get_allocation_granularity(S, NULL, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM), INVALID_VALUE,
            "granularity", 0);
}

TEST_NEAR_MISS(GRANULARITY_NULL, granularity_with_place_for_it)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    uint64_t got = 0;
    ACCEPTED(vmm_mem_get_allocation_granularity(S, &got, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(got > 0, "the granularity is 0");
}

TEST_BREAKS(GRANULARITY_NULL_PROP, granularity_of_nothing)
{
    uint64_t got = FIX_UNTOUCHED;
    REFUSED(vmm_mem_get_allocation_granularity(S, &got, NULL, VMM_MEM_ALLOC_GRANULARITY_MINIMUM), INVALID_VALUE,
            "prop", 0);
    CHECK_U64(got, FIX_UNTOUCHED);
}

TEST_NEAR_MISS(GRANULARITY_NULL_PROP, granularity_of_device_memory)
{
    vmm_mem_allocation_prop prop = fix_prop(f->devices - 1);
    uint64_t got = 0;
    ACCEPTED(vmm_mem_get_allocation_granularity(S, &got, &prop, VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    CHECK(got > 0, "the granularity is 0");
}

TEST_BREAKS(GRANULARITY_OPTION, granularity_of_a_third_kind)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    const int options[] = {2, -1};
    for (size_t i = 0; i < 2; i++) {
        uint64_t got = FIX_UNTOUCHED;
        REFUSED(vmm_mem_get_allocation_granularity(S, &got, &prop, options[i]), INVALID_VALUE, "option",
                (uint64_t)options[i]);
        CHECK_U64(got, FIX_UNTOUCHED);
    }
}

TEST_NEAR_MISS(GRANULARITY_OPTION, granularity_recommended)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    uint64_t got = 0;
    ACCEPTED(vmm_mem_get_allocation_granularity(S, &got, &prop, VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    CHECK(got >= f->minimum, "recommended is below the minimum");
}

/* vmm_mem_create refuses each of them; this query answers all the same, with a warning. */
TEST_WARNS(GRANULARITY_PROP_UNCHECKED, granularity_of_impossible_memory)
{
    static const char *const arguments[4] = {"prop.type", "prop.location.id", "prop.location.type",
                                             "prop.location.type"};
    const uint64_t values[4] = {0, 99, 0, VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT};
    vmm_mem_allocation_prop prop[4] = {fix_prop(0), fix_prop(99), fix_prop_at(VMM_MEM_LOCATION_TYPE_INVALID, 0),
                                       fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0)};
    prop[0].type = VMM_MEM_ALLOCATION_TYPE_INVALID;
    for (size_t i = 0; i < 4; i++) {
        uint64_t got = FIX_UNTOUCHED;
        char *state = fix_state(f);
        vmm_result result = vmm_mem_get_allocation_granularity(S, &got, &prop[i], VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
        struct refusal want = {NULL, VMM_ERROR_INVALID_VALUE, arguments[i], values[i], VMM_OBJECT_NONE, 0};
        check_warned(f, __FILE__, __LINE__, "granularity of an impossible property", state, result, want);
        CHECK(test_refuses(f, NULL) == (got == FIX_UNTOUCHED), "property %zu: 0x%llx", i, (unsigned long long)got);
    }
}

/* Handle types of Windows: alone, both, and together with a descriptor. */
TEST_WARNS(GRANULARITY_PROP_UNCHECKED, granularity_for_windows)
{
    static const int types[] = {VMM_MEM_HANDLE_TYPE_WIN32, VMM_MEM_HANDLE_TYPE_WIN32_KMT, 6, 3};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        vmm_mem_allocation_prop prop = fix_prop(0);
        prop.requested_handle_types = types[i];
        uint64_t got = FIX_UNTOUCHED;
        char *state = fix_state(f);
        vmm_result result = vmm_mem_get_allocation_granularity(S, &got, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
        struct refusal want = {.result = VMM_ERROR_INVALID_VALUE,
                               .argument = "prop.requestedHandleTypes",
                               .value = (uint64_t)types[i]};
        check_warned(f, __FILE__, __LINE__, "granularity of memory for Windows", state, result, want);
        CHECK_U64(got, test_refuses(f, NULL) ? FIX_UNTOUCHED : f->minimum);
    }
}

TEST_NEAR_MISS(GRANULARITY_PROP_UNCHECKED, granularity_of_possible_memory)
{
    vmm_mem_allocation_prop prop = fix_prop(f->devices - 1);
    uint64_t got = 0;
    ACCEPTED(vmm_mem_get_allocation_granularity(S, &got, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK_U64(got, f->minimum);
}

static void check_pair(struct fix *f, const vmm_mem_allocation_prop *prop)
{
    uint64_t minimum = 0, recommended = 0, again = 0;
    ACCEPTED(vmm_mem_get_allocation_granularity(S, &minimum, prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
    ACCEPTED(vmm_mem_get_allocation_granularity(S, &recommended, prop, VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    ACCEPTED(vmm_mem_get_allocation_granularity(S, &again, prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(minimum > 0 && recommended > 0, "a granularity is 0");
    CHECK(minimum && recommended % minimum == 0, "recommended is not a multiple of the minimum");
    CHECK_U64(again, minimum);
}

TEST_EXPECTS("granularity.values", granularity_pairs)
{
    for (int device = 0; device < f->devices; device++) {
        vmm_mem_allocation_prop prop = fix_prop(device);
        check_pair(f, &prop);
    }
}

TEST_EXPECTS("granularity.locations", granularity_pairs_of_host_memory)
{
    fix_need_host(f);
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    check_pair(f, &prop);
    fix_need_numa(f);
    prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, fix_numa_node(f));
    check_pair(f, &prop);
}

/* A size, an address and a mapping of exactly one granule. */
TEST_EXPECTS("granularity.usable", one_granule_of_everything)
{
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    CHECK_U64(ptr % f->minimum, 0);
    fix_fill(f, ptr + f->g - 1, 7, 1);
    CHECK_U64(fix_peek(f, ptr + f->g - 1), 7);
}

/* Handle types, compression, RDMA and usage do not change the granularity on any recorded machine. */
TEST_EXPECTS_ON("granularity.any_properties", granularity_whatever_is_asked_for, NULL, TEST_OBSERVED, 0)
{
    vmm_mem_allocation_prop prop[5] = {fix_prop(0), fix_prop(0), fix_prop(0), fix_prop(0), fix_prop(0)};
    prop[1].requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop[2].requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    prop[3].alloc_flags.compression_type = VMM_MEM_ALLOCATION_COMP_GENERIC;
    prop[4].alloc_flags.gpu_direct_rdma_capable = 1;
    for (size_t i = 0; i < 5; i++) {
        uint64_t got = 0;
        fix_need(f, vmm_mem_get_allocation_granularity(S, &got, &prop[i], VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
        CHECK_U64(got, f->minimum);
    }
}

/* The same query has the same answer: without a context, and whatever else exists. */
TEST_EXPECTS_ON("granularity.pure", granularity_without_a_context, NULL, TEST_AS_GIVEN, FIX_NO_CONTEXT)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    for (int round = 0; round < 2; round++) {
        uint64_t got = 0;
        char *before = fix_state(f), *after;
        ACCEPTED(vmm_mem_get_allocation_granularity(S, &got, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
        after = fix_state(f);
        CHECK_U64(got, f->minimum);
        CHECK(before && after && strcmp(before, after) == 0, "a query changed the state");
        free(before);
        free(after);
        fix_create(f, f->g);
    }
}
