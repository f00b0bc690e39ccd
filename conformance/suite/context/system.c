/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation, fork, and devices. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define ANY_HANDLE 1
#define CHILD_SECONDS 30 /* a call that hangs ends when its process is killed */

/* One call of each kind that needs initialisation, most of them with wrong arguments as well: the driver checks the
 * state of the process first. */
TEST_BREAKS_ON(INIT_REQUIRED, calls_before_initialisation, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ};
    uint64_t out = FIX_UNTOUCHED, size = 2 << 20;
    int count = 77;
    REFUSED(vmm_mem_create(S, &out, size, &prop, 0), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_mem_address_reserve(S, &out, size, 0, 0, 0), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_mem_address_reserve(S, NULL, size, 0, 0, 0), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_mem_address_free(S, 4096, 4096), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_mem_map(S, 4096, 4096, 0, ANY_HANDLE, 0), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_mem_unmap(S, 4096, 4096), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_mem_set_access(S, 4096, 4096, &desc, 1), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_mem_get_access(S, &out, &desc.location, 4096), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_mem_get_allocation_granularity(S, &out, &prop, 0), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_mem_release(S, 0), NOT_INITIALIZED, NULL, 0);
    REFUSED(vmm_device_get_count(S, &count), NOT_INITIALIZED, NULL, 0);
    CHECK_U64(out, FIX_UNTOUCHED);
    CHECK_U64((uint64_t)count, 77);
    ACCEPTED(vmm_driver_get_version(S, &count)); /* needs nothing */
    CHECK(count >= 11000, "version %d", count);
}

TEST_NEAR_MISS(INIT_REQUIRED, calls_after_initialisation)
{
    int count = 0;
    ACCEPTED(vmm_device_get_count(S, &count));
    CHECK(count > 0, "no device");
}

/* A forked child's findings as one byte: the result in the low bits, whether the rule is right in the high bit. */
static int in_child(struct fix *f, int (*body)(struct fix *f))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        _exit(body(f));
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        fix_failed(f, __FILE__, __LINE__, "the child ended with status 0x%x", (unsigned)status);
        return -1;
    }
    return WEXITSTATUS(status);
}

/* Bit 0: a call was not refused with NOT_INITIALIZED; bit 1: an output was written; bit 2: another rule; bit 3: the
 * child could initialise. */
static int use_in_child(struct fix *f)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    uint64_t out = FIX_UNTOUCHED;
    const char *rule = f->simulator ? f->rule : NULL;
    int wrong = 0;
    for (int call = 0; call < 3; call++) {
        vmm_result result = call == 0   ? vmm_mem_create(S, &out, f->g, &prop, 0)
                            : call == 1 ? vmm_mem_address_reserve(S, &out, f->g, 0, 0, 0)
                                        : vmm_mem_unmap(S, f->g, f->g);
        wrong |= result != VMM_ERROR_NOT_INITIALIZED;
        wrong |= rule && (!vmm_last_detail()->rule || strcmp(vmm_last_detail()->rule, rule) != 0) ? 4 : 0;
    }
    wrong |= vmm_init(S, 0) != VMM_ERROR_NOT_INITIALIZED ? 8 : 0;
    return wrong | (out != FIX_UNTOUCHED ? 2 : 0);
}

TEST_BREAKS(INIT_FORKED, calls_in_a_forked_child)
{
    fix_need_simulator(f, "needs a process that may be forked after initialisation (group K of edges.c asks)");
    vmm_deviceptr ptr = fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    char *before = fix_state(f), *after;
    CHECK_U64((uint64_t)in_child(f, use_in_child), 0);
    after = fix_state(f);
    CHECK(before && after && strcmp(before, after) == 0, "the child's calls changed the parent");
    free(before);
    free(after);
    fix_fill(f, ptr, 3, f->g);
}

static int init_in_child(struct fix *f)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    uint64_t unit = 0, handle = 0;
    if (vmm_init(S, 0) != VMM_SUCCESS)
        return 1;
    if (vmm_mem_get_allocation_granularity(S, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM) != VMM_SUCCESS)
        return 2;
    if (vmm_mem_create(S, &handle, unit, &prop, 0) != VMM_SUCCESS)
        return 3;
    return vmm_mem_release(S, handle) == VMM_SUCCESS ? 0 : 4;
}

/* Forked before initialisation: the child can initialise for itself. */
TEST_NEAR_MISS_ON(INIT_FORKED, calls_in_a_child_that_initialises, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    CHECK_U64((uint64_t)in_child(f, init_in_child), 0);
}

TEST_BREAKS(INIT_FLAGS, initialise_with_flags)
{
    REFUSED(vmm_init(S, 1), INVALID_VALUE, "flags", 1);
}

TEST_NEAR_MISS(INIT_FLAGS, initialise_again)
{
    fix_mapped(f, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, NULL);
    char *before = fix_state(f);
    ACCEPTED(vmm_init(S, 0));
    char *after = fix_state(f);
    CHECK(before && after && strcmp(before, after) == 0, "the second initialisation changed the state");
    free(before);
    free(after);
}

TEST_BREAKS(DEVICE_NULL, ask_devices_without_place_for_the_answer)
{
    REFUSED(vmm_driver_get_version(S, NULL), INVALID_VALUE, "driverVersion", 0);
    REFUSED(vmm_device_get_count(S, NULL), INVALID_VALUE, "count", 0);
    REFUSED(vmm_device_get(S, NULL, 0), INVALID_VALUE, "device", 0);
    REFUSED(vmm_device_get_name(S, NULL, 16, 0), INVALID_VALUE, "name", 0);
    REFUSED(vmm_device_get_attribute(S, NULL, 102, 0), INVALID_VALUE, "pi", 0);
    REFUSED(vmm_device_total_mem(S, NULL, 0), INVALID_VALUE, "bytes", 0);
    REFUSED(vmm_device_can_access_peer(S, NULL, 0, 0), INVALID_VALUE, "canAccessPeer", 0);
}

TEST_NEAR_MISS(DEVICE_NULL, ask_devices)
{
    int count = 0, value = 77;
    vmm_device device = 77;
    char name[64] = "";
    uint64_t bytes = 0;
    ACCEPTED(vmm_driver_get_version(S, &value));
    CHECK(value >= 11000, "version %d", value);
    ACCEPTED(vmm_device_get_count(S, &count));
    ACCEPTED(vmm_device_get(S, &device, count - 1));
    CHECK_U64((uint64_t)device, (uint64_t)count - 1);
    ACCEPTED(vmm_device_get_name(S, name, sizeof name, 0));
    CHECK(name[0] != '\0', "the device has no name");
    ACCEPTED(vmm_device_total_mem(S, &bytes, 0));
    CHECK(bytes >= f->g, "the device has no memory");
    ACCEPTED(vmm_device_can_access_peer(S, &value, 0, 0));
    CHECK_U64((uint64_t)value, 0);
}

TEST_BREAKS(DEVICE_NAME_LENGTH, device_name_without_room)
{
    char name[4] = "abc";
    REFUSED(vmm_device_get_name(S, name, 0, 0), INVALID_VALUE, "len", 0);
    CHECK(strcmp(name, "abc") == 0, "the name was written");
}

TEST_NEAR_MISS(DEVICE_NAME_LENGTH, device_name_with_little_room)
{
    char name[4] = "abc", whole[256] = "";
    ACCEPTED(vmm_device_get_name(S, whole, -1, 0)); /* as measured: no limit */
    CHECK(whole[0] != '\0', "the device has no name");
    ACCEPTED(vmm_device_get_name(S, name, 1, 0));
    CHECK(name[0] == '\0' && name[1] == 'b', "one byte holds only the final 0");
    ACCEPTED(vmm_device_get_name(S, whole, sizeof whole, 0));
    ACCEPTED(vmm_device_get_name(S, name, 3, 0));
    CHECK(strncmp(name, whole, 2) == 0 && name[2] == '\0', "the name is not cut");
}

TEST_BREAKS(DEVICE_ATTRIBUTE, device_attribute_that_is_not_there)
{
    const int numbers[] = {0, -1, 100000};
    for (size_t i = 0; i < 3; i++) {
        int value = 77;
        REFUSED(vmm_device_get_attribute(S, &value, numbers[i], 0), INVALID_VALUE, "attrib", (uint64_t)numbers[i]);
        CHECK_U64((uint64_t)value, 77);
    }
}

TEST_NEAR_MISS(DEVICE_ATTRIBUTE, device_attribute_that_is_there)
{
    int value = 77;
    ACCEPTED(vmm_device_get_attribute(S, &value, VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    CHECK_U64((uint64_t)value, 1);
}

TEST_BREAKS(DEVICE_ID, ask_a_device_that_is_not_there)
{
    const int ids[] = {-1, f->devices, 99};
    for (size_t i = 0; i < 3; i++) {
        int value = 77;
        uint64_t id = (uint64_t)ids[i], bytes = FIX_UNTOUCHED;
        char name[8] = "";
        vmm_context ctx = NULL;
        REFUSED(vmm_device_get(S, &value, ids[i]), INVALID_DEVICE, "ordinal", id);
        REFUSED(vmm_device_get_name(S, name, 8, ids[i]), INVALID_DEVICE, "dev", id);
        REFUSED(vmm_device_get_attribute(S, &value, 102, ids[i]), INVALID_DEVICE, "dev", id);
        REFUSED(vmm_device_total_mem(S, &bytes, ids[i]), INVALID_DEVICE, "dev", id);
        REFUSED(vmm_device_can_access_peer(S, &value, 0, ids[i]), INVALID_DEVICE, "peerDev", id);
        REFUSED(vmm_device_can_access_peer(S, &value, ids[i], 0), INVALID_DEVICE, "dev", id);
        REFUSED(vmm_ctx_create(S, &ctx, 0, ids[i]), INVALID_DEVICE, "dev", id);
        REFUSED(vmm_device_primary_ctx_retain(S, &ctx, ids[i]), INVALID_DEVICE, "dev", id);
        REFUSED(vmm_device_primary_ctx_release(S, ids[i]), INVALID_DEVICE, "dev", id);
        REFUSED(vmm_device_primary_ctx_reset(S, ids[i]), INVALID_DEVICE, "dev", id);
        CHECK(value == 77 && !ctx, "an output was written");
        CHECK_U64(bytes, 0); /* as measured */
    }
}

TEST_NEAR_MISS(DEVICE_ID, ask_the_last_device)
{
    int value = 77, last = f->devices - 1;
    uint64_t bytes = 0;
    ACCEPTED(vmm_device_get_attribute(S, &value, 102, last));
    ACCEPTED(vmm_device_total_mem(S, &bytes, last));
    ACCEPTED(vmm_device_can_access_peer(S, &value, last, 0));
}

TEST_EXPECTS("device.attributes", attributes_are_consistent)
{
    static const int yes_or_no[] = {41, 88, 89, 102, 103, 104, 105, 107, 110, 112, 116, 124, 128, 141, 145};
    for (size_t i = 0; i < sizeof yes_or_no / sizeof yes_or_no[0]; i++)
        for (int device = 0; device < f->devices; device++) {
            int value = 77;
            ACCEPTED(vmm_device_get_attribute(S, &value, yes_or_no[i], device));
            CHECK(value == 0 || value == 1, "attribute %d is %d", yes_or_no[i], value);
        }
    CHECK_U64((uint64_t)fix_attribute(f, VMM_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
    CHECK_U64((uint64_t)fix_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED), 0);
}

TEST_EXPECTS_ON("device.fabric_is_not_permission", fabric_attribute_without_permission,
                "attribute.128 = 1\nfabric.imex = no", TEST_AS_GIVEN, 0)
{
    fix_need_fabric(f, false);
    vmm_mem_allocation_prop prop = fix_prop(0);
    uint64_t handle = FIX_UNTOUCHED;
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    CHECK_U64((uint64_t)fix_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED), 1);
    REFUSED_BY("VMM-CREATE-FABRIC-IMEX", vmm_mem_create(S, &handle, f->g, &prop, 0), NOT_PERMITTED,
               "prop.requestedHandleTypes", VMM_MEM_HANDLE_TYPE_FABRIC);
}
