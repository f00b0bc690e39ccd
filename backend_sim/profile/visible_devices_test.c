/* SPDX-License-Identifier: Apache-2.0 */
/* visible_devices: parsing the variable, and the machine that a process then sees. The driver's behaviour is recorded
 * (conformance/recorded/facts/copies.c, group V) and compared with libcuda.so.1 there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "share_rig.h"
#include "tap.h"
#include "visible_devices.h"

static struct sim_profile machine;

static void start(const char *profile)
{
    if (!sim_profile_builtin(profile, &machine))
        tap_bail("no profile");
}

/* The visible places, such as "2 0", then the hidden ones, "| 1 3". */
static const char *places(const struct visible_devices *visible)
{
    static char text[200];
    int at = 0;
    text[0] = 0;
    for (int i = 0; i < visible->all; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%s%d", at ? " " : "", i == visible->seen ? "| " : "",
                       visible->place[i]);
    return text;
}

static void reads(const char *list, vmm_result result, const char *want)
{
    struct visible_devices visible;
    vmm_result got = visible_devices_read(&visible, list, &machine);
    tap_ok(got == result && strcmp(places(&visible), want) == 0, "\"%s\": %s, %s", list ? list : "(unset)", vmm_result_name(got),
           places(&visible));
}

static const char *uuid(int place, size_t length, const char *head)
{
    static char text[4][80];
    static unsigned next;
    unsigned char bytes[VISIBLE_UUID];
    char *t = text[next++ % 4];
    visible_devices_uuid(&machine, place, bytes);
    int at = snprintf(t, sizeof text[0], "%s", head);
    for (size_t i = 0; i < VISIBLE_UUID; i++)
        at += snprintf(t + at, sizeof text[0] - (size_t)at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    t[length] = 0;
    return t;
}

static const char *joined(const char *a, const char *b)
{
    static char text[4][200];
    static unsigned next;
    char *t = text[next++ % 4];
    snprintf(t, sizeof text[0], "%s,%s", a, b);
    return t;
}

static void test_numbers(void)
{
    reads(NULL, VMM_SUCCESS, "0 1 2 3");
    reads("2,0", VMM_SUCCESS, "2 0 | 1 3");
    reads("3,2,1,0", VMM_SUCCESS, "3 2 1 0");
    reads(" 1 , +2,03x,4294967296", VMM_SUCCESS, "1 2 3 0");
    reads("1,4,0", VMM_SUCCESS, "1 | 0 2 3");
    reads("1,junk,0", VMM_SUCCESS, "1 | 0 2 3");
    reads("1,,0", VMM_SUCCESS, "1 | 0 2 3");
    reads("1,-1,0", VMM_SUCCESS, "1 | 0 2 3");
    reads("", VMM_ERROR_NO_DEVICE, "| 0 1 2 3");
    reads("-1", VMM_ERROR_NO_DEVICE, "| 0 1 2 3");
    reads("4", VMM_ERROR_NO_DEVICE, "| 0 1 2 3");
    reads("99999999999999999999", VMM_ERROR_NO_DEVICE, "| 0 1 2 3");
    reads("0,1,0", VMM_ERROR_INVALID_DEVICE, "| 0 1 2 3");
}

static void test_uuids(void)
{
    const char *one = uuid(1, 40, "GPU-"), *two = uuid(2, 40, "GPU-");
    char upper[80];
    tap_text(two, "GPU-88d57949-dca1-4155-a375-766d6d73696d", "the UUIDs of a profile's devices are the same in every version");
    snprintf(upper, sizeof upper, "%s", one);
    for (char *c = upper + 4; *c; c++)
        *c = *c >= 'a' && *c <= 'f' ? (char)(*c - 32) : *c;
    reads(one, VMM_SUCCESS, "1 | 0 2 3");
    char wrong[80];
    snprintf(wrong, sizeof wrong, "%s", one);
    wrong[39] = wrong[39] == '0' ? '1' : '0'; /* its last digit */
    reads(wrong, VMM_ERROR_NO_DEVICE, "| 0 1 2 3");
    reads(joined(two, one), VMM_SUCCESS, "2 1 | 0 3");
    reads(upper, VMM_SUCCESS, "1 | 0 2 3");
    reads(joined(uuid(2, 16, "GPU-"), uuid(1, 16, "GPU-")), VMM_SUCCESS, "2 1 | 0 3");
    reads(joined(one, "GPU-none"), VMM_SUCCESS, "1 | 0 2 3");
    reads(joined(one, "2"), VMM_SUCCESS, "1 | 0 2 3");
    reads(joined("2", one), VMM_SUCCESS, "2 | 0 1 3");
    reads(joined(one, one), VMM_ERROR_INVALID_DEVICE, "| 0 1 2 3");
    reads("GPU-", VMM_ERROR_NO_DEVICE, "| 0 1 2 3");
    reads("GPU-0x", VMM_ERROR_NO_DEVICE, "| 0 1 2 3");
    reads(uuid(1, 40, "gpu-"), VMM_ERROR_NO_DEVICE, "| 0 1 2 3");
    reads(uuid(1, 40, "GPU-GPU-"), VMM_ERROR_NO_DEVICE, "| 0 1 2 3");
}

/* Of so many devices several share a first digit by chance. */
static void test_ambiguous(void)
{
    struct visible_devices visible;
    const int devices = machine.devices;
    unsigned shared = 0, wrong = 0;
    machine.devices = VMM_MAX_DEVICES;
    for (int i = 0; i < machine.devices; i++)
        for (int j = 0; j < i; j++)
            if (uuid(i, 5, "GPU-")[4] == uuid(j, 5, "GPU-")[4]) {
                shared++;
                wrong += visible_devices_read(&visible, uuid(i, 5, "GPU-"), &machine) != VMM_ERROR_NO_DEVICE || visible.seen;
            }
    tap_ok(shared > 10 && !wrong, "each of %u prefixes of two UUIDs names no device", shared);
    int second = 1; /* the first device that shares its digit with that at place 0 */
    while (second < VMM_MAX_DEVICES && uuid(second, 5, "GPU-")[4] != uuid(0, 5, "GPU-")[4])
        second++;
    machine.devices = second;
    tap_result(visible_devices_read(&visible, uuid(0, 5, "GPU-"), &machine), VMM_SUCCESS, "a prefix that only the first "
        "device has names it");
    machine.devices = second + 1;
    tap_ok(visible_devices_read(&visible, uuid(0, 5, "GPU-"), &machine) == VMM_ERROR_NO_DEVICE && second < VMM_MAX_DEVICES,
           "a prefix of it and of device %d names none", second);
    machine.devices = devices;
}

static void test_chosen(void)
{
    static const struct {
        const char *list, *places;
        bool good;
    } lists[] = {{"1:0", "1 0 | 2 3", true}, {"3", "3 | 0 1 2", true}, {"none", "| 0 1 2 3", true}, {"1:1", NULL, false},
                 {"4", NULL, false}, {"1:", NULL, false}, {":1", NULL, false}, {"-1", NULL, false}, {"1,0", NULL, false},
                 {"one", NULL, false}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct visible_devices visible;
        bool good = visible_devices_choose(&visible, lists[i].list, 4);
        tap_ok(good == lists[i].good && (!good || strcmp(places(&visible), lists[i].places) == 0), "visible=%s", lists[i].list);
    }
}

/* Peer access follows the devices. */
static void test_seen(void)
{
    struct visible_devices visible;
    struct sim_profile seen;
    machine.peers[0] = 1u << 3; /* only device 0 has access to another's memory, that of 3 */
    machine.peers[1] = machine.peers[2] = machine.peers[3] = 0;
    tap_ok(visible_devices_choose(&visible, "3:1:0", 4), "a list of three of the four devices");
    visible_devices_apply(&visible, &machine, &seen);
    tap_u64((uint64_t)seen.devices, 3, "three devices are visible");
    tap_u64(seen.peers[2], 1, "the third device, place 0, has access to memory of the first, place 3");
    tap_u64(seen.peers[0] | seen.peers[1] | seen.peers[3], 0, "no other device has access to another one");
    for (int i = 0; i < 4; i++)
        tap_u64((uint64_t)visible.place[visible_devices_ordinal(&visible, i)], (uint64_t)i, "place %d has an ordinal", i);
}

/* ---- processes that see different devices ---- */

static vmm_system *open_seeing(const char *list)
{
    char spec[100];
    vmm_system *sys = NULL;
    vmm_context context;
    snprintf(spec, sizeof spec, "sim:h200x2,machine=seen,visible=%s", list);
    if (vmm_open(spec, &sys) || vmm_init(sys, 0) || vmm_device_primary_ctx_retain(sys, &context, 0) ||
        vmm_ctx_set_current(sys, context))
        tap_bail("%s", spec);
    return sys;
}

static uint64_t free_of(vmm_system *sys)
{
    uint64_t left = 0, all;
    if (vmm_mem_get_info(sys, &left, &all))
        tap_bail("no free memory");
    return left;
}

static vmm_mem_generic_allocation_handle make(vmm_system *sys, uint64_t size)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .requested_handle_types = RIG_FD,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    tap_result(vmm_mem_create(sys, &handle, size, &prop, 0), VMM_SUCCESS, "memory on the process's device 0");
    return handle;
}

/* The ordinal that a process uses for another process's exported memory: its own, or one beyond its devices if the device is
 * hidden. */
static void imported_as(vmm_system *sys, int fd, int device, const char *what)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = {0};
    tap_result(vmm_mem_import_from_shareable_handle(sys, &handle, (void *)(intptr_t)fd, RIG_FD), VMM_SUCCESS, "import");
    tap_result(vmm_mem_get_allocation_properties_from_handle(sys, &prop, handle), VMM_SUCCESS, "its properties can be queried");
    tap_ok(prop.location.type == VMM_MEM_LOCATION_TYPE_DEVICE && prop.location.id == device,
           "%s: device %d", what, prop.location.id);
    tap_result(vmm_mem_release(sys, handle), VMM_SUCCESS, "release");
}

static void test_shared(void)
{
    vmm_system *first = open_seeing("0"), *second = open_seeing("1"), *both = open_seeing("1:0");
    const uint64_t one = free_of(first), two = free_of(second), size = 64 * RIG_G;
    int fd = -1;
    vmm_mem_generic_allocation_handle handle = make(second, size);
    tap_u64(free_of(second), two - size, "the memory is taken from that device");
    tap_u64(free_of(first), one, "not from the other process's device with the same ordinal");
    tap_u64(free_of(both), two - size, "a process that sees both devices counts it on the right one");
    tap_result(vmm_mem_export_to_shareable_handle(second, &fd, handle, RIG_FD, 0), VMM_SUCCESS, "export");
    tap_u64(free_of(both), two - size, "after the export that process still counts it");
    tap_u64(free_of(first), one, "the other process does not");
    imported_as(first, fd, -2, "memory of a hidden device");
    imported_as(both, fd, 0, "memory of the first of two devices");
    close(fd);
    tap_result(vmm_mem_release(second, handle), VMM_SUCCESS, "release");
    tap_u64(free_of(both), two, "all memory is free again");
    vmm_close(first);
    vmm_close(second);
    vmm_close(both);
}

/* Each process sees one device and adds it to the same team, as programs with one process for each device do. */
static void test_team(void)
{
    vmm_system *side[2] = {open_seeing("1"), open_seeing("0")};
    vmm_multicast_object_prop prop = {.num_devices = 2, .size = RIG_G, .handle_types = RIG_FD};
    vmm_mem_generic_allocation_handle object[2] = {0, 0}, memory[2];
    int fd = -1;
    tap_result(vmm_multicast_create(side[0], &object[0], &prop), VMM_SUCCESS, "a team of two devices, one of them visible");
    tap_result(vmm_mem_export_to_shareable_handle(side[0], &fd, object[0], RIG_FD, 0), VMM_SUCCESS, "export");
    tap_result(vmm_mem_import_from_shareable_handle(side[1], &object[1], (void *)(intptr_t)fd, RIG_FD), VMM_SUCCESS, "import");
    close(fd);
    tap_result(vmm_multicast_add_device(side[0], object[0], 1), VMM_ERROR_INVALID_DEVICE, "a hidden device cannot be added");
    for (int i = 0; i < 2; i++)
        tap_result(vmm_multicast_add_device(side[i], object[i], 0), VMM_SUCCESS, "process %d adds its own device", i);
    for (int i = 0; i < 2; i++) {
        memory[i] = make(side[i], RIG_G);
        tap_result(vmm_multicast_bind_mem(side[i], object[i], 0, memory[i], 0, RIG_G, 0), VMM_SUCCESS,
                   "it binds memory of that device");
    }
    tap_result(vmm_multicast_add_device(side[1], object[1], 0), VMM_ERROR_INVALID_VALUE, "no device can be added twice");
    for (int i = 0; i < 2; i++) {
        tap_result(vmm_multicast_unbind(side[i], object[i], 0, 0, RIG_G), VMM_SUCCESS, "unbind");
        vmm_mem_release(side[i], memory[i]);
        vmm_mem_release(side[i], object[i]);
        vmm_close(side[i]);
    }
}

/* ---- opening ---- */

static void test_open(void)
{
    vmm_system *sys = NULL, *peer = NULL;
    int count = 0;
    tap_result(vmm_open("sim:h200x2,visible=1:1", &sys), VMM_ERROR_INVALID_VALUE, "a device twice");
    tap_ok(strstr(vmm_last_detail()->note, "visible=1:1: expected ordinals below 2") != NULL,
           "the note has the reason: %s", vmm_last_detail()->note);
    tap_result(vmm_open("sim:h200x2,visible=none", &sys), VMM_SUCCESS, "visible=none opens");
    tap_result(vmm_init(sys, 0), VMM_ERROR_NO_DEVICE, "visible=none leaves no device");
    tap_ok(strstr(vmm_last_detail()->note, "visible=none hides all devices") != NULL, "the note has the reason: %s",
           vmm_last_detail()->note);
    tap_text(vmm_last_detail()->rule, "VMM-INIT-VISIBLE", "by its rule");
    tap_result(vmm_device_get_count(sys, &count), VMM_ERROR_NOT_INITIALIZED, "no other call works");
    vmm_close(sys);
    setenv(VISIBLE_VARIABLE, "0,0", 1);
    tap_result(vmm_open("sim:h200x2,visible=env", &sys), VMM_SUCCESS, "visible=env opens");
    tap_result(vmm_init(sys, 0), VMM_ERROR_INVALID_DEVICE, "a variable that names a device twice");
    tap_ok(strstr(vmm_last_detail()->note, "CUDA_VISIBLE_DEVICES is \"") != NULL, "the note has the reason: %s",
           vmm_last_detail()->note);
    tap_text(vmm_last_detail()->rule, "VMM-INIT-VISIBLE-TWICE", "by its rule");
    setenv(VISIBLE_VARIABLE, "", 1);
    tap_result(vmm_init(sys, 0), VMM_ERROR_NO_DEVICE, "a variable that names no device");
    setenv(VISIBLE_VARIABLE, "1", 1);
    tap_result(vmm_init(sys, 0), VMM_SUCCESS, "the variable is read again until cuInit succeeds");
    setenv(VISIBLE_VARIABLE, "0,1", 1);
    tap_result(vmm_init(sys, 0), VMM_SUCCESS, "after that it is not read again");
    tap_result(vmm_device_get_count(sys, &count), VMM_SUCCESS, "count");
    tap_u64((uint64_t)count, 1, "one device is visible");
    tap_ok(!vmm_attach(sys, &peer) && !vmm_init(peer, 0) && !vmm_device_get_count(peer, &count) && count == 1,
           "nor by another process of the machine");
    vmm_close(peer);
    vmm_close(sys);
    tap_result(vmm_open("sim:h200x2", &sys), VMM_SUCCESS, "a spec without visible=");
    tap_ok(!vmm_init(sys, 0) && !vmm_device_get_count(sys, &count) && count == 2, "only the API ignores the variable");
    vmm_close(sys);
    unsetenv(VISIBLE_VARIABLE);
}

int main(void)
{
    rig_begin();
    start("gb200x4");
    test_numbers();
    test_uuids();
    test_ambiguous();
    test_chosen();
    test_seen();
    test_open();
    test_shared();
    test_team();
    rig_end();
    return tap_done();
}
