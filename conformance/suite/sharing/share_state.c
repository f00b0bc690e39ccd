/* SPDX-License-Identifier: Apache-2.0 */
/* What can go wrong with the shared state's file: the machine reports it, and loses nothing. Simulator only. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "other.h"
#include "test.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

/* This program's own folder of machines, so that a test can damage it; it is removed at exit. */
static char machines[64];

static void remove_machines(void)
{
    rmdir(machines);
}

/* A system on a machine in that folder. */
static struct fix *apart(struct fix *f)
{
    fix_need_simulator(f, "a driver keeps its state elsewhere");
    if (!machines[0]) {
        snprintf(machines, sizeof machines, "/tmp/cuvmm-suite-XXXXXX");
        fix_need(f, mkdtemp(machines) && !atexit(remove_machines) ? VMM_SUCCESS : VMM_ERROR_OPERATING_SYSTEM);
    }
    setenv("CUVMM_MACHINES", machines, 1);
    struct fix *made = fix_share(f);
    unsetenv("CUVMM_MACHINES"); /* it is looked at when a machine is opened */
    return made;
}

/* The path of the only machine's state. */
static void state_of(char path[512])
{
    DIR *folder = opendir(machines);
    path[0] = '\0';
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (strncmp(entry->d_name, "m-", 2) == 0)
            snprintf(path, 512, "%s/%.200s/state", machines, entry->d_name);
    if (folder)
        closedir(folder);
}

TEST_BREAKS_ON(SHARE_STATE, state_cut_short, NULL, TEST_AS_GIVEN, 0)
{
    char path[512];
    f = apart(f);
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_mem_generic_allocation_handle before = fix_create(f, f->g), handle = FIX_UNTOUCHED;
    struct stat is;
    state_of(path);
    fix_need(f, !stat(path, &is) && !truncate(path, 4096) ? VMM_SUCCESS : VMM_ERROR_OPERATING_SYSTEM);
    vmm_result result = vmm_mem_create(S, &handle, f->g, &prop, 0);
    CHECK(result == VMM_ERROR_OPERATING_SYSTEM && vmm_last_detail()->rule &&
              !strcmp(vmm_last_detail()->rule, "VMM-SHARE-STATE"),
          "%s by %s", vmm_result_name(result), vmm_last_detail()->rule ? vmm_last_detail()->rule : "no rule");
    CHECK_U64(handle, FIX_UNTOUCHED);
    fix_release(f, before); /* freeing needs no other process */
    CHECK(!truncate(path, is.st_size), "the state cannot be made longer again");
    fix_create(f, f->g); /* it has its full size again, although empty, and is removed like any other */
}

TEST_NEAR_MISS_ON(SHARE_STATE, state_as_it_was, NULL, TEST_AS_GIVEN, 0)
{
    f = apart(f);
    fix_create(f, f->g);
}

/* Memory's handle needs the state; its end does not. */
TEST_BREAKS_ON(IPC_SYSTEM, ipc_with_the_state_cut_short, NULL, TEST_AS_GIVEN, 0)
{
    char path[512];
    f = apart(f);
    vmm_ipc_mem_handle handle, before;
    vmm_deviceptr at = 0;
    struct stat is;
    memset(&before, 0x77, sizeof before);
    handle = before;
    ACCEPTED(vmm_mem_alloc(S, &at, f->g));
    state_of(path);
    fix_need(f, !stat(path, &is) && !truncate(path, 4096) ? VMM_SUCCESS : VMM_ERROR_OPERATING_SYSTEM);
    vmm_result result = vmm_ipc_get_mem_handle(S, &handle, at);
    CHECK(result == VMM_ERROR_OPERATING_SYSTEM && vmm_last_detail()->rule && !strcmp(vmm_last_detail()->rule, "VMM-IPC-SYSTEM"),
          "%s by %s", vmm_result_name(result), vmm_last_detail()->rule ? vmm_last_detail()->rule : "no rule");
    CHECK(memcmp(&handle, &before, sizeof before) == 0, "the refused call wrote a handle");
    CHECK(!truncate(path, is.st_size), "the state cannot be made longer again");
    ACCEPTED(vmm_mem_free(S, at));
}

TEST_NEAR_MISS_ON(IPC_SYSTEM, ipc_with_the_state_as_it_was, NULL, TEST_AS_GIVEN, 0)
{
    f = apart(f);
    vmm_ipc_mem_handle handle;
    vmm_deviceptr at = 0;
    ACCEPTED(vmm_mem_alloc(S, &at, f->g));
    ACCEPTED(vmm_ipc_get_mem_handle(S, &handle, at));
    ACCEPTED(vmm_mem_free(S, at));
}
