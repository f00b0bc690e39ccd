/* SPDX-License-Identifier: Apache-2.0 */
/* Exports with a backend: the process's own IPC handles, descriptors that stay open; and calls inside a host
 * function, which no backend explains. */
#define _GNU_SOURCE /* memfd_create */
#include <fcntl.h>
#include <sys/mman.h>

#include "inject_rig.h"
#include "shadow_rig.h"

/* ---- IPC handles ---- */

static void test_own_offer(void)
{
    struct world w = opened("", "h100");
    vmm_deviceptr memory = 0, view = 0;
    vmm_ipc_mem_handle own, other;
    vmm_mem_alloc(w.sys, &memory, 4096);
    memset(&other, 7, sizeof other);
    tap_result(vmm_ipc_get_mem_handle(w.sys, &own, memory), VMM_SUCCESS, "a handle of memory for others");
    said(NULL, "", "a handle for others");
    answer(&w, VMM_CALL_ipc_open_mem_handle, VMM_ERROR_INVALID_CONTEXT);
    tap_result(vmm_ipc_open_mem_handle(w.sys, &view, own, 1), VMM_ERROR_INVALID_CONTEXT, "opened by the process that made it");
    said("VMM-IPC-OWN", "", "its own handle");
    answer(&w, VMM_CALL_ipc_open_mem_handle, VMM_ERROR_INVALID_CONTEXT);
    tap_result(vmm_ipc_open_mem_handle(w.sys, &view, other, 1), VMM_ERROR_INVALID_CONTEXT, "another's handle, on a thread without a context");
    said(NULL, "", "another's handle");
    answer(&w, VMM_CALL_ipc_open_mem_handle, VMM_ERROR_INVALID_VALUE);
    tap_result(vmm_ipc_open_mem_handle(w.sys, &view, own, 1), VMM_ERROR_INVALID_VALUE, "its own handle, refused for something else");
    said(NULL, "", "something else");
    answer(&w, VMM_CALL_ipc_get_mem_handle, VMM_ERROR_INVALID_VALUE);
    vmm_ipc_get_mem_handle(w.sys, &other, memory);
    answer(&w, VMM_CALL_ipc_open_mem_handle, VMM_ERROR_INVALID_CONTEXT);
    vmm_ipc_open_mem_handle(w.sys, &view, other, 1);
    said(NULL, "", "a handle that was never made");
    answer(&w, VMM_CALL_ipc_get_mem_handle, VMM_SUCCESS);
    tap_result(vmm_ipc_get_mem_handle(w.sys, NULL, memory), VMM_SUCCESS, "a backend that writes no handle");
    vmm_mem_free(w.sys, memory);
    follows(&w, true, "after handles for others");
    vmm_close(w.sys);
}

/* The runtime uses the same result to learn that a thread has no context; the process's own handle is still refused. */
static void test_own_offer_of_the_runtime(void)
{
    struct world w = opened("runtime", "h100");
    vmm_deviceptr memory = 0, view = 0;
    vmm_ipc_mem_handle own;
    vmm_mem_alloc(w.sys, &memory, 4096);
    vmm_ipc_get_mem_handle(w.sys, &own, memory);
    answer(&w, VMM_CALL_ipc_open_mem_handle, VMM_ERROR_INVALID_CONTEXT);
    vmm_ipc_open_mem_handle(w.sys, &view, own, 1);
    said("VMM-IPC-OWN", "", "a runtime's call");
    vmm_close(w.sys);
}

/* ---- descriptors ---- */

static vmm_detail last;
static unsigned descriptors;

static void on_leak(void *user, const vmm_detail *detail)
{
    (void)user;
    if (strcmp(detail->rule, "VMM-LEAK-DESCRIPTOR") == 0) {
        last = *detail;
        descriptors++;
    }
}

static unsigned open_descriptors(struct world *w)
{
    descriptors = 0;
    vmm_leaks(w->sys, on_leak, NULL);
    return descriptors;
}

/* Exports memory with that descriptor, or with one that the backend chooses. The handle is released unless `handle`
 * receives it. */
static int exported(struct world *w, int file, handle_t *handle)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
    handle_t memory = 0;
    int fd = -1;
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (vmm_mem_create(w->sys, &memory, G, &prop, 0))
        tap_bail("no memory");
    if (file >= 0)
        answer_with(w, VMM_CALL_mem_export_to_shareable_handle, (uint64_t)file, sizeof fd);
    if (vmm_mem_export_to_shareable_handle(w->sys, &fd, memory, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
        tap_bail("no descriptor");
    if (handle)
        *handle = memory;
    else
        vmm_mem_release(w->sys, memory);
    return fd;
}

static void test_descriptors(void)
{
    struct world w = opened("", "h100");
    char want[80];
    handle_t kept = 0;
    uint64_t held = vmm_leaks(w.sys, NULL, NULL);
    int first = exported(&w, -1, NULL);
    tap_u64(open_descriptors(&w), 1, "a descriptor that is open at the end is a leak");
    snprintf(want, sizeof want, "held by this process: descriptor %d", first);
    tap_ok(strcmp(last.note, want) == 0 && last.severity == VMM_SEVERITY_LEAK && strcmp(last.function, "cuMemExportToShareableHandle") == 0 &&
               last.call > 0,
           "with number and call: %s", last.note);
    tap_u64(vmm_leaks(w.sys, NULL, NULL), held + 1, "it is counted");
    int sent = dup(first);
    close(first);
    tap_u64(open_descriptors(&w), 0, "closed, it is none, whatever became of its duplicates");
    int reused = dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), first);
    tap_u64(open_descriptors(&w), 0, "nor is another file with its number");
    close(reused);
    tap_ok(exported(&w, dup2(sent, first), &kept) == first && open_descriptors(&w) == 0,
           "the same number again, of memory whose handle is held: that is the leak, and reported itself");
    vmm_mem_release(w.sys, kept);
    tap_u64(open_descriptors(&w), 1, "after the release only the descriptor holds it");
    close(first);
    close(sent);
    follows(&w, true, "after descriptors");
    vmm_close(w.sys);
}

/* More exports than the initial capacity; and exports that the backend refuses. */
static void test_many_descriptors(void)
{
    struct world w = opened("", "h100");
    int files[70], fd = -1;
    unsigned char fabric[64] = {0};
    for (int i = 0; i < 70; i++)
        files[i] = exported(&w, memfd_create("memory", MFD_CLOEXEC), NULL);
    tap_u64(open_descriptors(&w), 70, "70 descriptors");
    for (int i = 0; i < 70; i++)
        close(files[i]);
    tap_u64(open_descriptors(&w), 0, "all closed");
    exported(&w, 12345, NULL);
    tap_u64(open_descriptors(&w), 0, "a number that is not open");
    answer_with(&w, VMM_CALL_mem_export_to_shareable_handle, UINT64_MAX, sizeof fd);
    tap_result(vmm_mem_export_to_shareable_handle(w.sys, &fd, w.handle, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), VMM_SUCCESS, "-1");
    answer(&w, VMM_CALL_mem_export_to_shareable_handle, VMM_SUCCESS);
    vmm_mem_export_to_shareable_handle(w.sys, fabric, w.handle, VMM_MEM_HANDLE_TYPE_FABRIC, 0);
    answer(&w, VMM_CALL_mem_export_to_shareable_handle, VMM_SUCCESS);
    vmm_mem_export_to_shareable_handle(w.sys, NULL, w.handle, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    tap_u64(open_descriptors(&w), 0, "neither -1, nor fabric handles, nor an export to nowhere");
    vmm_close(w.sys);
}

/* Without memory, or on a system without tags, a descriptor is not watched; the export still succeeds. */
static void test_unwatched(void)
{
    static const char *const calls[] = {"malloc", "calloc", "fcntl"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct world w = opened("", "h100");
        int fd = memfd_create("memory", MFD_CLOEXEC), given = -1;
        handle_t memory = 0;
        vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0);
        prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        vmm_mem_create(w.sys, &memory, G, &prop, 0);
        answer_with(&w, VMM_CALL_mem_export_to_shareable_handle, (uint64_t)fd, sizeof fd);
        inject_arm_at(calls[i], 1);
        tap_result(vmm_mem_export_to_shareable_handle(w.sys, &given, memory, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), VMM_SUCCESS,
                   "an export while %s fails", calls[i]);
        tap_text(inject_disarm(), calls[i], "the request that failed");
        vmm_mem_release(w.sys, memory);
        tap_u64(open_descriptors(&w), 0, "is not watched");
        close(fd);
        follows(&w, true, "after it");
        vmm_close(w.sys);
    }
}

/* ---- inside a host function ---- */

struct inside {
    struct world *w;
    vmm_deviceptr memory;
    const char *unmap, *free, *later;
};

static void make_calls(void *user)
{
    struct inside *in = user;
    answer(in->w, VMM_CALL_mem_unmap, VMM_ERROR_NOT_PERMITTED);
    vmm_mem_unmap(in->w->sys, in->w->at, 2 * G);
    in->unmap = vmm_last_detail()->rule;
    answer(in->w, VMM_CALL_mem_free, VMM_ERROR_NOT_PERMITTED);
    vmm_mem_free(in->w->sys, in->memory);
    in->free = vmm_last_detail()->rule;
}

static void test_host_function(void)
{
    struct world w = opened("", "h100");
    struct inside in = {.w = &w};
    vmm_mem_alloc(w.sys, &in.memory, 4096);
    vmm_launch_host_func(w.sys, NULL, make_calls, &in);
    vmm_ctx_synchronize(w.sys);
    tap_text(in.unmap ? in.unmap : "none", "VMM-HOSTFUNC-CALL", "an unmap inside a host function that the backend does not permit");
    tap_text(in.free ? in.free : "none", "VMM-HOSTFUNC-CALL", "and a free");
    answer(&w, VMM_CALL_mem_free, VMM_ERROR_NOT_PERMITTED);
    vmm_mem_free(w.sys, in.memory);
    said(NULL, "", "outside");
    tap_result(vmm_mem_free(w.sys, in.memory), VMM_SUCCESS, "the memory still exists");
    follows(&w, true, "after a host function");
    vmm_close(w.sys);
}

int main(void)
{
    test_own_offer();
    test_own_offer_of_the_runtime();
    test_descriptors();
    test_many_descriptors();
    test_unwatched();
    test_host_function();
    return tap_done();
}
