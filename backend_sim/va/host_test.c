/* SPDX-License-Identifier: Apache-2.0 */
/* host: host memory in place when the system has no mapping left: a call that takes memory away from the host makes it
 * inaccessible, or is refused and changes nothing. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "touch.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)
enum { PIECES = 64 };

static vmm_system *sys;
static const vmm_mem_allocation_prop host_memory = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                                    .location = {VMM_MEM_LOCATION_TYPE_HOST, 0}};

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("set-up: %s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

static vmm_result permit(vmm_deviceptr at, uint64_t size, vmm_mem_access_flags flags)
{
    vmm_mem_access_desc desc = {host_memory.location, flags};
    return vmm_mem_set_access(sys, at, size, &desc, 1);
}

/* [1][2][3].. host memory of one handle each, mapped one after another and accessible to the host. */
static vmm_deviceptr shown(unsigned pieces)
{
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at;
    need(vmm_mem_address_reserve(sys, &at, pieces * G, 0, 0, 0));
    for (unsigned i = 0; i < pieces; i++) {
        need(vmm_mem_create(sys, &handle, G, &host_memory, 0));
        need(vmm_mem_map(sys, at + i * G, G, 0, handle, 0));
        need(vmm_mem_release(sys, handle));
        need(permit(at + i * G, G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE));
        *(volatile unsigned char *)(uintptr_t)(at + i * G) = (unsigned char)(i + 1);
    }
    return at;
}

/* The byte that the host reads there; -1: inaccessible. */
static int found(vmm_deviceptr at)
{
    unsigned char byte = 0;
    return touch_read(at, &byte) ? byte : -1;
}

static void open_machine(void)
{
    vmm_context context;
    need(vmm_open("sim:h100", &sys));
    need(vmm_init(sys, 0));
    need(vmm_ctx_create(sys, &context, 0, 0));
}

static bool is_refused(vmm_result result)
{
    inject_disarm();
    return result == VMM_ERROR_OUT_OF_MEMORY && !strcmp(vmm_last_detail()->rule, "VMM-SYSTEM-HOST-MEMORY") &&
           strstr(vmm_last_detail()->note, "max_map_count");
}

/* Hiding the second of three mappings fails: the first mmap for it, the mmap after the spare mapping was released, and the
 * mprotect after that. */
static void test_refused(void)
{
    vmm_deviceptr at = shown(3);
    uint64_t flags = 0;
    const vmm_mem_location host = host_memory.location;
    inject_arm_three("mmap", 2, "mmap", "mprotect");
    tap_ok(is_refused(vmm_mem_unmap(sys, at, 3 * G)), "an unmap that cannot hide the memory from the host is refused");
    tap_ok(found(at) == 1 && found(at + G) == 2 && found(at + 2 * G) == 3, "the host still has access to all of the memory");
    tap_ok(!vmm_mem_get_access(sys, &flags, &host, at) && flags == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE,
           "all of the memory is still mapped");
    inject_arm_three("mmap", 2, "mmap", "mprotect");
    tap_ok(is_refused(permit(at, 3 * G, VMM_MEM_ACCESS_FLAGS_PROT_NONE)), "taking away all rights is refused, too");
    tap_ok(found(at) == 1 && found(at + G) == 2 && found(at + 2 * G) == 3, "the host still has access to all of the memory");
    tap_ok(!vmm_mem_get_access(sys, &flags, &host, at) && flags == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE,
           "the host still has its rights");
    need(permit(at, G, VMM_MEM_ACCESS_FLAGS_PROT_NONE));
    inject_arm_at("mmap", 1);
    inject_each = true;
    tap_ok(is_refused(permit(at, G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE)) && found(at) < 0,
           "rights that need a mapping of the system are refused without one");
    need(permit(at, G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE));
    tap_ok(found(at) == 1, "with it they are not");
    inject_arm_at("mprotect", 1);
    tap_ok(is_refused(permit(at, G, VMM_MEM_ACCESS_FLAGS_PROT_READ)) && touch_write(at, 1),
           "taking away the right to write is refused, too");
    inject_arm_at("mmap", 1);
    vmm_result narrower = permit(at, G, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    inject_disarm();
    tap_ok(narrower == VMM_SUCCESS && !touch_write(at, 1) && found(at) == 1,
           "fewer rights need no further mapping of the system");
    inject_arm_at("mmap", 1);
    vmm_result without = vmm_mem_unmap(sys, at, 3 * G);
    inject_disarm();
    tap_ok(without == VMM_SUCCESS, "unmapping needs no further mapping of the system");
    tap_ok(found(at) < 0 && found(at + G) < 0 && found(at + 2 * G) < 0, "the host has no access after the unmap");
    need(vmm_mem_address_free(sys, at, 3 * G));
}

/* ---- the system's own limit ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_TOOL 1 /* the tool needs mappings itself */
#else
#define UNDER_TOOL 0
#endif

/* Uses up every mapping that the system allows the process: pages whose rights differ from their neighbours'. */
static void take_all_mappings(void)
{
    long page = sysconf(_SC_PAGESIZE);
    for (unsigned i = 0;; i++)
        if (mmap(NULL, (size_t)page, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
            return;
}

/* Runs in a child with no mapping left. Returns 0, or the number of the check that failed. */
static int at_the_limit(void)
{
    int answer = 0;
    open_machine();
    vmm_deviceptr at = shown(PIECES);
    take_all_mappings();
    for (vmm_deviceptr odd = at + G; odd < at + PIECES * G && !answer; odd += 2 * G) {
        vmm_result result = odd / G % 4 < 2 ? vmm_mem_unmap(sys, odd, G) : permit(odd, G, VMM_MEM_ACCESS_FLAGS_PROT_NONE);
        int seen = found(odd);
        if (result == VMM_SUCCESS)
            answer = seen < 0 ? 0 : 1;
        else /* each piece is a separate mapping, so hiding it needs no further one */
            answer = 2;
    }
    for (vmm_deviceptr even = at; even < at + PIECES * G && !answer; even += 2 * G)
        if (found(even) != (int)((even - at) / G) + 1)
            answer = 3;
    return answer;
}

static long mappings_limit(void)
{
    long limit = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    if (file && fscanf(file, "%ld", &limit) != 1)
        limit = 0;
    if (file)
        fclose(file);
    return limit;
}

static void test_limit(void)
{
    int status = 0;
    long limit = mappings_limit();
    if (UNDER_TOOL || getenv("CUVMM_RUN") || limit <= 0 || limit > 300000) {
        tap_skip("under a tool, or with a very high limit of mappings", "the system's limit of mappings");
        return;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(at_the_limit());
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child");
    tap_u64((uint64_t)status, 0, "at the limit of %ld mappings, the host loses access to exactly the memory that is taken away",
            limit);
}

int main(void)
{
    if (!freopen("/dev/null", "w", stderr)) /* every host fault is reported there */
        tap_bail("no /dev/null");
    touch_begin();
    test_limit();
    open_machine();
    test_refused();
    vmm_deviceptr at = shown(2);
    tap_ok(!vmm_mem_unmap(sys, at, 2 * G) && found(at) < 0 && found(at + G) < 0, "unmapping two mappings in one call hides both");
    vmm_close(sys);
    return tap_done();
}
