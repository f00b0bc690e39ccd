/* SPDX-License-Identifier: Apache-2.0 */
/* Reused descriptor numbers, handles that are exported twice, and values that are not descriptors. */
#include "trace_descriptors.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static struct trace_descriptors descriptors;

static struct trace_event noted(const struct vmm_call *call, vmm_result result)
{
    struct trace_event event = {.call = call, .result = result, .wrote = result == VMM_SUCCESS};
    trace_descriptors_note(&descriptors, &event, true);
    return event;
}

static struct trace_event exported(int fd)
{
    struct vmm_call_mem_export_to_shareable_handle call = {
        {VMM_CALL_mem_export_to_shareable_handle, 0}, &fd, 5, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0};
    return noted(&call.head, VMM_SUCCESS);
}

static struct trace_event imported(int64_t fd, vmm_result result)
{
    uint64_t handle = 9;
    struct vmm_call_mem_import_from_shareable_handle call = {{VMM_CALL_mem_import_from_shareable_handle, 0}, &handle,
                                                             (void *)(intptr_t)fd, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    return noted(&call.head, result);
}

/* A descriptor gets a shared number only if it names a file that both processes see. */
static void test_not_shared(void)
{
    int device = open("/dev/null", O_RDONLY), gone = dup(device);
    if (device < 0 || gone < 0)
        tap_bail("no /dev/null");
    struct trace_event event = exported(device);
    tap_ok(event.descriptor && !event.shared, "openings of a device have a name, and no number: they are one file");
    close(gone);
    event = imported(gone, VMM_SUCCESS);
    tap_ok(event.closed && !event.shared, "nor has a closed one that a driver took all the same");
    event = exported(0);
    tap_ok(!event.descriptor, "descriptor 0 counts, and has no name");
    close(device);
    trace_descriptors_free(&descriptors);
}

static void test_files(void)
{
    int ends[2];
    if (pipe(ends))
        tap_bail("no pipe");
    struct trace_event event = exported(ends[0]);
    const uint64_t shared = event.shared;
    tap_ok(event.descriptor == 1 && shared & 1, "an exported descriptor has a name, and a number that other processes have of it, too");
    int copy = dup(ends[0]);
    event = imported(ends[0], VMM_SUCCESS);
    tap_ok(event.descriptor == 1 && !event.closed && event.shared == shared, "imported, it has the same");
    event = imported(copy, VMM_SUCCESS);
    tap_ok(!event.descriptor && !event.closed && event.shared == shared, "another descriptor of that file has no name");
    event = imported(ends[0], VMM_ERROR_INVALID_VALUE);
    tap_ok(event.descriptor == 1 && !event.shared, "a call that failed shares nothing");
    event = exported(ends[0]);
    tap_ok(event.descriptor == 2, "a number that is exported again has a new name");
    if (dup2(STDERR_FILENO, ends[0]) != ends[0])
        tap_bail("no descriptor");
    tap_ok(!imported(ends[0], VMM_SUCCESS).descriptor, "it has none once it belongs to another file");
    close(copy);
    event = imported(copy, VMM_ERROR_UNKNOWN);
    tap_ok(event.closed && !event.descriptor, "a closed one is reported as such");
    event = imported(-1, VMM_ERROR_UNKNOWN);
    tap_ok(event.closed && !event.descriptor, "a negative number is not a descriptor");
    event = imported(0, VMM_ERROR_UNKNOWN);
    tap_ok(!event.closed && !event.descriptor, "0 is NULL");
    tap_ok(!exported(-1).descriptor && exported(ends[1]).descriptor == 3, "a negative one is not counted");
    close(ends[0]);
    close(ends[1]);
}

/* All of a driver's exports refer to one device file, so the file distinguishes nothing. */
static void test_devices(void)
{
    int null = open("/dev/null", O_RDONLY);
    tap_ok(null >= 0 && exported(null).descriptor && !exported(null).shared, "a character device shares no number");
    close(null);
}

static void test_dma_buf(void)
{
    int fd = STDERR_FILENO;
    struct vmm_call_mem_get_handle_for_address_range call = {
        {VMM_CALL_mem_get_handle_for_address_range, 0}, &fd, 0x200000, 0x1000, 1, 0};
    const uint32_t last = descriptors.last;
    struct trace_event event = noted(&call.head, VMM_SUCCESS);
    tap_ok(!event.descriptor && !event.shared && descriptors.last == last, "a dma-buf has no name");
}

static void test_handles(void)
{
    vmm_ipc_mem_handle handle, other;
    vmm_deviceptr at = 0x1000;
    memset(&handle, 7, sizeof handle);
    memset(&other, 8, sizeof other);
    struct vmm_call_ipc_get_mem_handle get = {{VMM_CALL_ipc_get_mem_handle, 0}, &handle, at};
    struct trace_event first = noted(&get.head, VMM_SUCCESS), again = noted(&get.head, VMM_SUCCESS);
    tap_ok(first.descriptor && again.descriptor == first.descriptor && first.shared == trace_fabric(&handle) && first.shared >> 63,
           "an IPC handle that is had twice has one name");
    tap_ok(!noted(&get.head, VMM_ERROR_INVALID_VALUE).descriptor, "none was had by a call that failed");
    struct vmm_call_ipc_open_mem_handle open = {{VMM_CALL_ipc_open_mem_handle, 0}, &at, handle, 0};
    tap_ok(noted(&open.head, VMM_ERROR_INVALID_VALUE).descriptor == first.descriptor, "opened, it has the same");
    open.handle = other;
    struct trace_event unknown = noted(&open.head, VMM_SUCCESS);
    tap_ok(!unknown.descriptor && !unknown.closed && unknown.shared == trace_fabric(&other), "one of another process has none");
}

static void test_many(void)
{
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE] = {0};
    uint64_t handle = 0;
    struct vmm_call_mem_export_to_shareable_handle export = {
        {VMM_CALL_mem_export_to_shareable_handle, 0}, bytes, 5, VMM_MEM_HANDLE_TYPE_FABRIC, 0};
    struct vmm_call_mem_import_from_shareable_handle import = {
        {VMM_CALL_mem_import_from_shareable_handle, 0}, &handle, bytes, VMM_MEM_HANDLE_TYPE_FABRIC};
    const uint32_t last = descriptors.last;
    bool named = true;
    for (uint32_t i = 0; i < 3000; i++) {
        memcpy(bytes, &i, sizeof i);
        named = named && noted(&export.head, VMM_SUCCESS).descriptor == last + 1 + i;
    }
    for (uint32_t i = 0; i < 3000; i++) {
        memcpy(bytes, &i, sizeof i);
        named = named && noted(&import.head, VMM_SUCCESS).descriptor == last + 1 + i;
    }
    tap_ok(named, "three thousand fabric handles have a name each");
    tap_ok(!noted(&import.head, VMM_ERROR_NOT_PERMITTED).descriptor, "the descriptor of a refused import is not examined");
}

int main(void)
{
    test_not_shared();
    test_files();
    test_devices();
    test_dma_buf();
    test_handles();
    test_many();
    trace_descriptors_free(&descriptors);
    tap_u64(descriptors.last, 0, "freed, it begins again");
    return tap_done();
}
