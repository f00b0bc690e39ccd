/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow layer: its reports on a backend whose answers differ. The backend is a simulator with wrong answers from a
 * fault layer, so these tests do not depend on the system under test. */
#include <string.h>

#include "test.h"

struct watched {
    vmm_system *sys;
    vmm_deviceptr at;
    vmm_mem_generic_allocation_handle handle;
};

/* A system with a reservation of two granules and memory for one. */
static bool watch(struct fix *f, struct watched *w, const char *spec)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    bool ok = vmm_open(spec, &w->sys) == VMM_SUCCESS;
    CHECK(ok, "%s does not open", spec);
    if (!ok)
        return false;
    vmm_init(w->sys, 0);
    vmm_mem_address_reserve(w->sys, &w->at, 4 << 20, 0, 0, 0);
    vmm_mem_create(w->sys, &w->handle, 2 << 20, &prop, 0);
    return true;
}

static void check_said(struct fix *f, const char *rule, const char *words)
{
    const vmm_detail *detail = vmm_last_detail();
    CHECK(detail->rule && strcmp(detail->rule, rule) == 0,
          "reported %s, expected %s", detail->rule ? detail->rule : "nothing",
          rule);
    CHECK(strstr(detail->note, words) != NULL, "\"%s\" does not contain \"%s\"", detail->note, words);
}

TEST_BREAKS_ON(SHADOW_DIFFERS, a_backend_that_refuses_a_question, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    struct watched w;
    uint64_t flags = 0;
    vmm_mem_location location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    if (!watch(f, &w, "shadow|fault=mem_get_access:1:INVALID_DEVICE|sim:h100"))
        return;
    vmm_mem_map(w.sys, w.at, 2 << 20, 0, w.handle, 0);
    CHECK_U64(vmm_mem_get_access(w.sys, &flags, &location, w.at), VMM_ERROR_INVALID_DEVICE);
    check_said(f, "VMM-SHADOW-DIFFERS", "the backend answers CUDA_ERROR_INVALID_DEVICE, the rules say CUDA_SUCCESS");
    CHECK_U64(vmm_mem_map(w.sys, w.at, 2 << 20, 0, w.handle, 0), VMM_ERROR_INVALID_VALUE);
    check_said(f, "VMM-MAP-OVERLAP", "");
    vmm_close(w.sys);
}

TEST_NEAR_MISS_ON(SHADOW_DIFFERS, a_backend_that_refuses_as_the_rules_do, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    struct watched w;
    uint64_t flags = 0;
    vmm_mem_location location = {VMM_MEM_LOCATION_TYPE_DEVICE, 99};
    if (!watch(f, &w, "shadow|fault=mem_get_access:1:INVALID_DEVICE|sim:h100"))
        return;
    CHECK_U64(vmm_mem_get_access(w.sys, &flags, &location, w.at), VMM_ERROR_INVALID_DEVICE);
    check_said(f, "VMM-GETACCESS-LOCATION", "layer fault"); /* the shadow's rule, the backend's words */
    vmm_close(w.sys);
}

TEST_BREAKS_ON(SHADOW_OPAQUE, a_backend_that_refuses_rights, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    struct watched w;
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (!watch(f, &w, "shadow|fault=mem_set_access:1:UNKNOWN|sim:h100"))
        return;
    vmm_mem_map(w.sys, w.at, 2 << 20, 0, w.handle, 0);
    CHECK_U64(vmm_mem_set_access(w.sys, w.at, 2 << 20, &desc, 1), VMM_ERROR_UNKNOWN);
    check_said(f, "VMM-SHADOW-OPAQUE", "the backend answers CUDA_ERROR_UNKNOWN, the rules say CUDA_SUCCESS");
    CHECK_U64(vmm_mem_set_access(w.sys, w.at, 2 << 20, &desc, 1), VMM_SUCCESS);
    CHECK(!vmm_last_detail()->rule, "the range is reported again");
    CHECK_U64(vmm_mem_address_free(w.sys, w.at, 2 << 20), VMM_ERROR_INVALID_VALUE);
    CHECK_U64(vmm_mem_unmap(w.sys, w.at, 2 << 20), VMM_SUCCESS);
    CHECK_U64(vmm_mem_unmap(w.sys, w.at + (8 << 20), 2 << 20), VMM_ERROR_INVALID_VALUE);
    check_said(f, "VMM-UNMAP-NOT-RESERVED", "");
    vmm_close(w.sys);
}

TEST_NEAR_MISS_ON(SHADOW_OPAQUE, a_backend_that_refuses_wrong_rights, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    struct watched w;
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (!watch(f, &w, "shadow|sim:h100"))
        return;
    CHECK_U64(vmm_mem_set_access(w.sys, w.at, 2 << 20, &desc, 1), VMM_ERROR_INVALID_VALUE);
    check_said(f, "VMM-ACCESS-NOT-MAPPED", "");
    vmm_close(w.sys);
}

TEST_BREAKS_ON(SHADOW_LOST, a_backend_that_does_not_say_what_it_is, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    struct watched w;
    if (!watch(f, &w, "shadow|sim:h100"))
        return;
    vmm_close(w.sys);
    CHECK_U64(vmm_open("shadow|fault=device_get_count:1:UNKNOWN|sim:h100", &w.sys), VMM_SUCCESS);
    CHECK_U64(vmm_init(w.sys, 0), VMM_SUCCESS);
    check_said(f, "VMM-SHADOW-LOST", "cannot simulate a machine like the backend's");
    CHECK_U64(vmm_mem_address_reserve(w.sys, &w.at, 4 << 20, 0, 0, 0), VMM_SUCCESS);
    CHECK(!vmm_last_detail()->rule, "it speaks again");
    CHECK_U64(vmm_leaks(w.sys, NULL, NULL), 0); /* unknown */
    vmm_close(w.sys);
}

TEST_NEAR_MISS_ON(SHADOW_LOST, a_backend_that_runs_out_of_memory, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    struct watched w;
    vmm_mem_generic_allocation_handle other = 0;
    vmm_mem_allocation_prop prop = fix_prop(0);
    if (!watch(f, &w, "shadow|fault=mem_create:2|sim:h100"))
        return;
    CHECK_U64(vmm_mem_create(w.sys, &other, 2 << 20, &prop, 0), VMM_ERROR_OUT_OF_MEMORY);
    CHECK_U64(vmm_mem_map(w.sys, w.at, 2 << 20, 0, w.handle, 0), VMM_SUCCESS);
    CHECK_U64(vmm_mem_address_free(w.sys, w.at, 4 << 20), VMM_ERROR_INVALID_VALUE);
    check_said(f, "VMM-FREE-MAPPED", "");
    CHECK_U64(vmm_leaks(w.sys, NULL, NULL), 3);
    vmm_close(w.sys);
}
