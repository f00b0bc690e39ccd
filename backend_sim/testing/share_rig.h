/* SPDX-License-Identifier: Apache-2.0 */
/* share_rig.h - for tests: a separate folder of machines, and a program's operations on exported memory. */
#ifndef SIM_SHARE_RIG_H
#define SIM_SHARE_RIG_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os_share.h"
#include "tap.h"
#include "vmm.h"

#define RIG_FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define RIG_G (UINT64_C(2) << 20)
#define RIG_PROFILE "h100"

static char rig_root[64];

static inline void rig_begin(void)
{
    snprintf(rig_root, sizeof rig_root, "/dev/shm/cuvmm-test-XXXXXX"); /* in memory, if possible */
    if (!mkdtemp(rig_root)) {
        snprintf(rig_root, sizeof rig_root, "/tmp/cuvmm-test-XXXXXX");
        if (!mkdtemp(rig_root))
            tap_bail("no folder for the test's machines");
    }
    setenv("CUVMM_MACHINES", rig_root, 1);
    unsetenv("CUVMM_MACHINE");
    unsetenv("CUVMM_LAYERS");
}

static inline void rig_count(void *user, const char *name)
{
    (void)name;
    ++*(unsigned *)user;
}

static inline void rig_remove_one(void *user, const char *name)
{
    char path[2 * OS_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", (const char *)user, name);
    unlink(path);
}

/* Removes a folder and its files. */
static inline void rig_remove(const char *path)
{
    char folder[OS_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    os_folder_each(folder, 1000000, rig_remove_one, folder);
    rmdir(folder);
}

/* The number of machines there, complete or not. */
static inline unsigned rig_machines(void)
{
    unsigned count = 0;
    os_folder_each(rig_root, 1000, rig_count, &count);
    return count;
}

static inline void rig_end(void)
{
    tap_u64(rig_machines(), 0, "no machine is left behind");
    rmdir(rig_root);
}

/* The path of a file of a machine with a name. */
static inline const char *rig_path(const char *machine, const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/m-%s/%s", rig_root, machine, file);
    return path;
}

/* An opened, initialised system with a context; NULL if it cannot be opened. */
static inline vmm_system *rig_open(const char *machine)
{
    vmm_system *sys = NULL;
    vmm_context ctx;
    char spec[128];
    snprintf(spec, sizeof spec, "sim:" RIG_PROFILE "%s%s", machine ? ",machine=" : "", machine ? machine : "");
    if (vmm_open(spec, &sys) != VMM_SUCCESS)
        return NULL;
    if (vmm_init(sys, 0) != VMM_SUCCESS || vmm_ctx_create(sys, &ctx, 0, 0) != VMM_SUCCESS)
        tap_bail("%s does not start: %s", spec, vmm_last_detail()->note);
    return sys;
}

static inline void rig_ignore(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

static inline void rig_close(vmm_system *sys)
{
    vmm_set_report(sys, rig_ignore, NULL);
    vmm_close(sys);
}

static inline vmm_result rig_create(vmm_system *sys, uint64_t size, vmm_mem_generic_allocation_handle *handle)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .requested_handle_types = RIG_FD,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    return vmm_mem_create(sys, handle, size, &prop, 0);
}

/* -1 if refused. */
static inline int rig_export(vmm_system *sys, vmm_mem_generic_allocation_handle handle)
{
    int fd = -1;
    return vmm_mem_export_to_shareable_handle(sys, &fd, handle, RIG_FD, 0) == VMM_SUCCESS ? fd : -1;
}

static inline vmm_result rig_import(vmm_system *sys, int fd, vmm_mem_generic_allocation_handle *handle)
{
    return vmm_mem_import_from_shareable_handle(sys, handle, (void *)(uintptr_t)fd, RIG_FD);
}

static inline uint64_t rig_free(vmm_system *sys)
{
    uint64_t bytes = 0, total;
    return vmm_mem_get_info(sys, &bytes, &total) == VMM_SUCCESS ? bytes : UINT64_MAX;
}

/* The address where the memory is mapped; 0 if it cannot be mapped. */
static inline vmm_deviceptr rig_map(vmm_system *sys, vmm_mem_generic_allocation_handle handle, uint64_t size)
{
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_deviceptr at = 0;
    bool ok = !vmm_mem_address_reserve(sys, &at, size, 0, 0, 0) && !vmm_mem_map(sys, at, size, 0, handle, 0) &&
              !vmm_mem_set_access(sys, at, size, &desc, 1);
    return ok ? at : 0;
}

static inline void rig_unmap(vmm_system *sys, vmm_deviceptr at, uint64_t size)
{
    vmm_mem_unmap(sys, at, size);
    vmm_mem_address_free(sys, at, size);
}

static inline int rig_byte(vmm_system *sys, vmm_deviceptr at)
{
    unsigned char byte = 0;
    return vmm_memcpy_dtoh(sys, &byte, at, 1) == VMM_SUCCESS ? byte : -1;
}

/* A failure of the system is not an argument's fault, so the detail has no value. */
static inline bool rig_reported(const char *rule)
{
    const vmm_detail *detail = vmm_last_detail();
    return detail->rule && strcmp(detail->rule, rule) == 0 &&
           (!strstr(rule, "-SYSTEM") || (detail->value == 0 && detail->expected == 0));
}

#endif
