/* SPDX-License-Identifier: Apache-2.0 */
/* Hundreds of threads on one shadow: the backend reuses their addresses and handles among them. Any report is wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tap.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)

enum { THREADS = 300, ROUNDS = 12 };

static vmm_system *sys;
static vmm_context context;
static _Atomic unsigned wrong, reports;

static void count(void *user, const vmm_detail *detail)
{
    (void)user;
    if (atomic_fetch_add(&reports, 1) < 3)
        tap_note("%s by %s: %s", detail->rule ? detail->rule : "no rule", detail->function, detail->note);
}

static void must(vmm_result result)
{
    if (result != VMM_SUCCESS)
        atomic_fetch_add(&wrong, 1);
}

static void map_and_unmap(vmm_mem_generic_allocation_handle imported)
{
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle handle = imported;
    vmm_deviceptr at = 0;
    if (!imported)
        must(vmm_mem_create(sys, &handle, G, &prop, 0));
    must(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    must(vmm_mem_map(sys, at, G, 0, handle, 0));
    must(vmm_mem_release(sys, handle));
    must(vmm_mem_set_access(sys, at, G, &desc, 1));
    must(vmm_memset_d8(sys, at, 1, 64));
    must(vmm_mem_unmap(sys, at, G));
    must(vmm_mem_address_free(sys, at, G));
}

static void allocate_and_free(unsigned round)
{
    vmm_deviceptr at = 0, ordered = 0;
    must(vmm_mem_alloc(sys, &at, 1000 + round));
    must(vmm_mem_alloc_async(sys, &ordered, 1000 + round, NULL));
    must(vmm_memset_d8(sys, at, 1, 1000 + round));
    must(vmm_mem_free(sys, at));
    must(vmm_mem_free_async(sys, ordered, NULL));
}

static vmm_mem_generic_allocation_handle import_of(int fd)
{
    vmm_mem_generic_allocation_handle handle = 0;
    must(vmm_mem_import_from_shareable_handle(sys, &handle, (void *)(uintptr_t)(unsigned)fd, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    return handle;
}

static void *work(void *fd)
{
    must(vmm_ctx_set_current(sys, context));
    for (unsigned round = 0; round < ROUNDS; round++) {
        map_and_unmap(round % 4 ? 0 : import_of(*(int *)fd));
        allocate_and_free(round);
    }
    return NULL;
}

static int export_one(vmm_mem_generic_allocation_handle *handle)
{
    int fd = -1;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                          .requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    if (vmm_mem_create(sys, handle, G, &prop, 0) ||
        vmm_mem_export_to_shareable_handle(sys, &fd, *handle, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
        tap_bail("nothing to import: %s", vmm_last_detail()->note);
    return fd;
}

int main(void)
{
    pthread_t threads[THREADS];
    vmm_mem_generic_allocation_handle handle;
    unsigned started = 0;
    if (vmm_open("shadow|sim:h100", &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &context, 0, 0))
        tap_bail("no shadow: %s", vmm_last_detail()->note);
    int fd = export_one(&handle);
    vmm_set_report(sys, count, NULL);
    uint64_t held = vmm_leaks(sys, NULL, NULL);
    while (started < THREADS && pthread_create(&threads[started], NULL, work, &fd) == 0)
        started++;
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    tap_ok(started > 100, "%u threads at once", started);
    tap_u64(wrong, 0, "each call of theirs succeeds");
    tap_u64(reports, 0, "and nothing is reported");
    tap_u64(vmm_leaks(sys, NULL, NULL), held, "at the end nothing more is held than before");
    vmm_set_report(sys, NULL, NULL);
    vmm_close(sys);
    return tap_done();
}
