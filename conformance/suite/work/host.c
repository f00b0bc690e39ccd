/* SPDX-License-Identifier: Apache-2.0 */
/* What the program itself can access in place: host memory, with the rights that the host was granted. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "house.h"
#include "test.h"
#include "touch.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define HOST fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0)

/* Can the program read there, and write? Bit 0 and bit 1. */
static unsigned touches(vmm_deviceptr at)
{
    unsigned char seen = 0;
    touch_begin();
    bool reads = touch_read(at, &seen), writes = touch_write(at, seen);
    touch_end();
    return (unsigned)reads | (unsigned)writes << 1;
}

enum { NOTHING, READS, WRITES, BOTH };

#define TOUCHES(at, expected) CHECK_U64(touches(at), expected)

/* [memory of the location, no rights][reserved] */
static vmm_deviceptr place(struct fix *f, vmm_mem_location_type type, int id, uint64_t size,
                           vmm_mem_generic_allocation_handle *handle)
{
    vmm_mem_allocation_prop prop = fix_prop_at(type, id);
    *handle = fix_create_prop(f, size, &prop);
    vmm_deviceptr at = fix_reserve(f, 2 * size);
    fix_map(f, at, size, *handle);
    return at;
}

static void rights_are_kept(struct fix *f, vmm_mem_location_type type, int id)
{
    uint64_t size = fix_host_unit(f);
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at = place(f, type, id, size, &handle), last = at + size - 1;
    TOUCHES(at, NOTHING);
    fix_access(f, at, size, RW); /* of device 0 */
    TOUCHES(at, NOTHING);
    fix_access_at(f, at, size, fix_at(type, id), READ);
    TOUCHES(at, READS);
    fix_access_at(f, at, size, fix_at(type, id), RW);
    TOUCHES(at, BOTH);
    TOUCHES(last, BOTH);
    TOUCHES(at + size, NOTHING);
    fix_access_at(f, at, size, fix_at(type, id), READ);
    TOUCHES(last, READS);
    fix_access_at(f, at, size, fix_at(type, id), NONE);
    TOUCHES(last, NOTHING);
    fix_access_at(f, at, size, fix_at(type, id), RW);
    fix_unmap(f, at, size);
    TOUCHES(at, NOTHING);
}

TEST_EXPECTS("host.rights_in_place", host_memory_in_place)
{
    fix_need_host(f);
    rights_are_kept(f, VMM_MEM_LOCATION_TYPE_HOST, 0);
}

TEST_EXPECTS("host.rights_in_place_numa", numa_memory_in_place)
{
    fix_need_numa(f);
    rights_are_kept(f, VMM_MEM_LOCATION_TYPE_HOST_NUMA, fix_numa_node(f));
}

/* The first byte, the last and one in the middle. */
TEST_EXPECTS("host.coherent", host_and_device_see_the_same)
{
    fix_need_host(f);
    house_need_calls(f, "host accesses in place cannot be replayed");
    uint64_t size = fix_host_unit(f);
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at = place(f, VMM_MEM_LOCATION_TYPE_HOST, 0, size, &handle);
    const uint64_t offsets[] = {0, size / 2 + 12345, size - 1};
    fix_access(f, at, size, RW);
    fix_access_at(f, at, size, HOST, RW);
    volatile unsigned char *bytes = (volatile unsigned char *)(uintptr_t)at;
    for (size_t i = 0; i < 3; i++)
        CHECK(bytes[offsets[i]] == 0, "new memory is not zero");
    fix_fill(f, at, 0x42, size);
    ACCEPTED(vmm_ctx_synchronize(S));
    for (size_t i = 0; i < 3; i++)
        CHECK(bytes[offsets[i]] == 0x42, "the host does not see the device's byte %llu", (unsigned long long)offsets[i]);
    for (size_t i = 0; i < 3; i++)
        bytes[offsets[i]] = 0x99;
    for (size_t i = 0; i < 3; i++)
        CHECK_U64(fix_peek(f, at + offsets[i]), 0x99);
    CHECK_U64(fix_peek(f, at + 1), 0x42);
}

/* Two mappings of the same memory show the same bytes, each with its own rights. */
TEST_EXPECTS("host.aliases_in_place", host_memory_at_two_places)
{
    fix_need_host(f);
    house_need_calls(f, "host accesses in place cannot be replayed");
    uint64_t size = fix_host_unit(f);
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr first = place(f, VMM_MEM_LOCATION_TYPE_HOST, 0, size, &handle), second = first + size;
    unsigned char seen = 0;
    fix_map(f, second, size, handle);
    fix_access_at(f, first, size, HOST, RW);
    TOUCHES(second, NOTHING);
    fix_access_at(f, second, size, HOST, READ);
    TOUCHES(second, READS);
    *(volatile unsigned char *)(uintptr_t)(first + 77) = 0x5a;
    CHECK(touch_read(second + 77, &seen) && seen == 0x5a, "the alias shows another byte");
    fix_unmap(f, first, size);
    TOUCHES(first, NOTHING);
    TOUCHES(second, READS);
    CHECK(touch_read(second + 77, &seen) && seen == 0x5a, "the byte ended with the other mapping");
}

/* Data belong to the memory, not to the address where it was mapped. */
TEST_EXPECTS("host.remap_keeps_bytes", host_memory_moves)
{
    fix_need_host(f);
    house_need_calls(f, "host accesses in place cannot be replayed");
    uint64_t size = fix_host_unit(f);
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at = place(f, VMM_MEM_LOCATION_TYPE_HOST, 0, size, &handle);
    unsigned char seen = 0;
    fix_access_at(f, at, size, HOST, RW);
    *(volatile unsigned char *)(uintptr_t)(at + 5) = 0x77;
    fix_unmap(f, at, size);
    fix_map(f, at + size, size, handle);
    TOUCHES(at + size, NOTHING);
    fix_access_at(f, at + size, size, HOST, READ);
    CHECK(touch_read(at + size + 5, &seen) && seen == 0x77, "the byte did not move with the memory");
}

/* Other memory never shows earlier contents. */
TEST_EXPECTS("host.new_memory_is_zero", host_memory_is_clean)
{
    fix_need_host(f);
    house_need_calls(f, "host accesses in place cannot be replayed");
    uint64_t size = fix_host_unit(f);
    vmm_mem_generic_allocation_handle handle;
    for (int round = 0; round < 3; round++) {
        vmm_deviceptr at = place(f, VMM_MEM_LOCATION_TYPE_HOST, 0, size, &handle);
        fix_access_at(f, at, size, HOST, RW);
        volatile unsigned char *bytes = (volatile unsigned char *)(uintptr_t)at;
        CHECK(bytes[0] == 0 && bytes[size - 1] == 0 && bytes[size / 3] == 0, "round %d: not zero", round);
        bytes[0] = bytes[size - 1] = bytes[size / 3] = 0xee;
        fix_unmap(f, at, size);
        fix_release(f, handle);
        fix_address_free(f, at, 2 * size);
    }
}

TEST_EXPECTS("host.device_memory_is_out_of_reach", device_memory_and_the_host)
{
    vmm_deviceptr at = fix_mapped(f, f->g, RW, NULL), allocated = fix_alloc(f, f->g);
    vmm_deviceptr reserved = fix_reserve(f, f->g);
    TOUCHES(at, NOTHING);
    TOUCHES(at + f->g - 1, NOTHING);
    TOUCHES(allocated, NOTHING);
    TOUCHES(reserved, NOTHING);
    fix_address_free(f, reserved, f->g);
    TOUCHES(reserved, NOTHING);
}

/* Copies by the API read what the host wrote in place, and the other way round. */
TEST_EXPECTS("host.copies_in_place", copies_and_the_host)
{
    fix_need_host(f);
    house_need_calls(f, "host accesses in place cannot be replayed");
    uint64_t size = fix_host_unit(f);
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at = place(f, VMM_MEM_LOCATION_TYPE_HOST, 0, size, &handle), own = fix_mapped(f, size, RW, NULL);
    char text[32] = "";
    fix_access(f, at, size, RW);
    fix_access_at(f, at, size, HOST, RW);
    strcpy((char *)(uintptr_t)at, "from the host");
    ACCEPTED(vmm_memcpy_dtod(S, own, at, 32));
    ACCEPTED(vmm_memcpy_dtoh(S, text, own, 32));
    CHECK(strcmp(text, "from the host") == 0, "the device has \"%s\"", text);
    ACCEPTED(vmm_memcpy_htod(S, own, "from the device", 16));
    ACCEPTED(vmm_memcpy_dtod(S, at, own, 32));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK(strcmp((char *)(uintptr_t)at, "from the device") == 0, "the host has \"%s\"", (char *)(uintptr_t)at);
}

/* ---- the simulator's messages ---- */

enum { SURVIVED = 42 };

/* What a child writes to standard error when it accesses the address, before a signal ends it. */
static void last_words(struct fix *f, vmm_deviceptr at, bool write, char *text, size_t size)
{
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t n;
    fflush(NULL);
    if (pipe(ends))
        fix_skip(f, "needs a pipe");
    pid_t child = fork();
    if (child == 0) {
        unsigned char seen;
        alarm(20);
        dup2(ends[1], STDERR_FILENO);
        write ? touch_write(at, 1) : touch_read(at, &seen);
        _exit(SURVIVED);
    }
    close(ends[1]);
    while (length < size - 1 && (n = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)n;
    text[length] = '\0';
    close(ends[0]);
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != SURVIVED, "the access did not end the process");
}

static void check_words(struct fix *f, int line, vmm_deviceptr at, bool write, const char *why, const char *history)
{
    char text[4096], place[32];
    last_words(f, at, write, text, sizeof text);
    snprintf(place, sizeof place, "at 0x%llx:", (unsigned long long)at);
    const char *const parts[] = {f->rule, place, why, history, "fix"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(text, parts[i]))
            fix_failed(f, __FILE__, line, "\"%s\" is missing in: %s", parts[i], text);
    if (!touch_is_named(text, write))
        fix_failed(f, __FILE__, line, "that the host %s is missing in: %s", write ? "wrote" : "read", text);
}

#define WORDS(at, write, why, history) check_words(f, __LINE__, at, write, why, history)

TEST_BREAKS(HOST_ACCESS, touches_that_are_explained)
{
    fix_need_simulator(f, "a driver only raises the signal");
    fix_need_host(f);
    house_need_calls(f, "host accesses in place cannot be replayed");
    uint64_t size = fix_host_unit(f);
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr device = fix_mapped(f, f->g, RW, NULL), at = place(f, VMM_MEM_LOCATION_TYPE_HOST, 0, size, &handle);
    WORDS(device + 3, true, "device memory", "made by call");
    WORDS(fix_alloc(f, f->g), false, "device memory", "cuMemAlloc");
    WORDS(at, false, "the host has no rights there", "cuMemMap");
    fix_access_at(f, at, size, HOST, READ);
    WORDS(at + size - 1, true, "the host has only read access there", "cuMemMap");
    WORDS(at + size, false, "nothing is mapped there", "0 bytes past its end");
    fix_unmap(f, at, size);
    WORDS(at + 9, true, "nothing is mapped there", "(cuMemUnmap)");
}

TEST_NEAR_MISS(HOST_ACCESS, touches_with_just_enough_rights)
{
    fix_need_simulator(f, "a driver only raises the signal");
    fix_need_host(f);
    house_need_calls(f, "host accesses in place cannot be replayed");
    uint64_t size = fix_host_unit(f);
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at = place(f, VMM_MEM_LOCATION_TYPE_HOST, 0, size, &handle);
    unsigned char seen = 1;
    fix_access_at(f, at, size, HOST, READ);
    CHECK(touch_read(at, &seen) && !seen && touch_read(at + size - 1, &seen) && !seen, "READ is enough for reading");
    fix_access_at(f, at, size, HOST, RW);
    CHECK(touch_write(at, 1) && touch_write(at + size - 1, 1), "READWRITE is enough for writing");
}
