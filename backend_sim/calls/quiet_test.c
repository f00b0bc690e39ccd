/* SPDX-License-Identifier: Apache-2.0 */
/* Control calls make no system call: runs all of them on device memory in a process that the kernel kills at its first one. */
#define _GNU_SOURCE /* syscall */
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "vmm.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__linux__)
#define TOOL 1
#else
#define TOOL 0
#endif

#define G (UINT64_C(2) << 20)
enum { MAPPINGS = 32, WARM_UP = 8 };

#if !TOOL
static vmm_result life(vmm_system *sys, vmm_mem_location_type type)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}}, seen;
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle[MAPPINGS];
    vmm_deviceptr at, alias, base;
    uint64_t flags, bytes, total;
    vmm_result bad = vmm_mem_address_reserve(sys, &at, MAPPINGS * G, 0, 0, 0);
    for (uint64_t i = 0; i < MAPPINGS; i++) {
        bad |= vmm_mem_create(sys, &handle[i], G, &prop, 0);
        bad |= vmm_mem_map(sys, at + i * G, G, 0, handle[i], 0);
    }
    bad |= vmm_mem_address_reserve(sys, &alias, G, 0, 0, 0);
    bad |= vmm_mem_map(sys, alias, G, 0, handle[1], 0);
    bad |= vmm_mem_set_access(sys, alias, G, &desc, 1);
    bad |= vmm_mem_set_access(sys, at, MAPPINGS * G, &desc, 1);
    bad |= vmm_mem_get_access(sys, &flags, &desc.location, at);
    bad |= vmm_mem_get_allocation_properties_from_handle(sys, &seen, handle[0]);
    bad |= vmm_mem_retain_allocation_handle(sys, &handle[0], at + 5);
    bad |= vmm_mem_release(sys, handle[0]);
    bad |= vmm_mem_get_address_range(sys, &base, &bytes, at + G);
    bad |= vmm_mem_get_info(sys, &bytes, &total);
    bad |= vmm_mem_alloc(sys, &base, 12345);
    bad |= vmm_mem_free(sys, base);
    bad |= vmm_mem_unmap(sys, alias, G);
    bad |= vmm_mem_address_free(sys, alias, G);
    bad |= vmm_mem_unmap(sys, at, MAPPINGS * G);
    for (uint64_t i = 0; i < MAPPINGS; i++)
        bad |= vmm_mem_release(sys, handle[i]);
    bad |= vmm_mem_address_free(sys, at, MAPPINGS * G);
    return bad;
}

/* Makes the calls in a process to which seccomp leaves only read, write and exit. */
static _Noreturn void quietly(vmm_system *sys, vmm_mem_location_type type)
{
    for (int i = 0; i < WARM_UP; i++)
        if (life(sys, type)) /* after these the C library needs no more memory from the system, wherever the addresses lie */
            _exit(2);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
        _exit(3);
    vmm_result bad = life(sys, type);
    syscall(SYS_exit, bad != VMM_SUCCESS); /* _exit would call exit_group, which seccomp forbids */
    abort();
}

static void quiet(const char *spec, vmm_mem_location_type type, const char *what)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        vmm_system *own;
        vmm_context ctx;
        if (vmm_open(spec, &own) || vmm_init(own, 0) || vmm_ctx_create(own, &ctx, 0, 0))
            _exit(4);
        quietly(own, type);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
        tap_skip("this system has no seccomp", "%s: no system call", what);
        return;
    }
    if (!tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: no system call", what))
        tap_note("status 0x%x%s", (unsigned)status,
                 WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? ": killed at a system call" : "");
}
#endif

int main(void)
{
#ifndef __GLIBC__
    tap_skip("this C library's allocator returns memory to the system at once, and asks for it anew", "control calls make no system call");
    return tap_done();
#endif
    if (TOOL || getenv("CUVMM_RUN")) {
        tap_skip("the tool makes additional system calls", "control calls make no system call");
        return tap_done();
    }
#if !TOOL
    quiet("sim:h100", VMM_MEM_LOCATION_TYPE_DEVICE, "device memory");
    quiet("sim:h100", VMM_MEM_LOCATION_TYPE_HOST_NUMA, "host memory with rights for the device only");
    quiet("sim:h100,alias=stale:1", VMM_MEM_LOCATION_TYPE_DEVICE, "device memory under the alias model");
#endif
    return tap_done();
}
