/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names alone, with values that a backend hardly returns. */
#include "trace_names.h"

#include <string.h>
#include <unistd.h>

#include "tap.h"

static struct names names;

static bool is(enum vmm_param_kind kind, uint64_t value, const char *want)
{
    char text[NAME_MAX_TEXT] = "";
    bool found = names_find(&names, kind, value, text);
    return found == (want != NULL) && (!want || strcmp(text, want) == 0);
}

static void reserved(uint64_t start, uint64_t size)
{
    struct vmm_call_mem_address_reserve call = {{VMM_CALL_mem_address_reserve, 0}, &start, size, 0, 0, 0};
    tap_ok(names_learn(&names, &call.head), "a reservation of %d bytes at %#x", (int)size, (unsigned)start);
}

/* A null object still counts, so that later objects have the backend's numbers. */
static void test_nothing(void)
{
    reserved(0, 0x1000);
    tap_ok(is(VMM_PARAM_ADDRESS, 0, NULL) && is(VMM_PARAM_ADDRESS, 1, NULL), "address 0 has no name");
    reserved(0x1000, 0);
    tap_ok(is(VMM_PARAM_ADDRESS, 0x1000, NULL), "an empty range has no name");
    reserved(0x2000, 0x1000);
    tap_ok(is(VMM_PARAM_OUT_ADDRESS, 0x2000, "R3") && is(VMM_PARAM_ADDRESS, 0x2fff, "R3+0xfff"), "each still uses up a number");
}

static void test_ends(void)
{
    struct vmm_call_mem_address_free call = {{VMM_CALL_mem_address_free, 0}, 0x2010, 0x1000};
    names_learn(&names, &call.head);
    tap_ok(is(VMM_PARAM_ADDRESS, 0x2010, "R3+0x10"), "a free inside a range does not end it");
    call.ptr = 0x9000;
    names_learn(&names, &call.head);
    tap_ok(is(VMM_PARAM_ADDRESS, 0x2000, "R3"), "a free at another address does not end it");
    call.ptr = 0x2000;
    names_learn(&names, &call.head);
    tap_ok(is(VMM_PARAM_ADDRESS, 0x2000, NULL), "a free at its start ends it");
}

static void test_descriptors(void)
{
    int fd = -1, ends[2];
    struct vmm_call_mem_export_to_shareable_handle call = {
        {VMM_CALL_mem_export_to_shareable_handle, 0}, &fd, 5, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0};
    tap_ok(names_learn(&names, &call.head) && is(VMM_PARAM_FD, (uint64_t)-1, NULL), "a negative descriptor has no name");
    if (pipe(ends))
        tap_bail("no pipe");
    fd = ends[0];
    tap_ok(names_learn(&names, &call.head) && is(VMM_PARAM_FD, (uint64_t)fd, "D1"), "an open descriptor has a name");
    tap_ok(names_learn(&names, &call.head) && is(VMM_PARAM_OUT_FD, (uint64_t)fd, "D2"),
           "a reused number gets a new name");
    if (dup2(STDERR_FILENO, fd) != fd)
        tap_bail("no descriptor");
    tap_ok(is(VMM_PARAM_FD, (uint64_t)fd, NULL), "the number has no name once it belongs to another file");
    close(ends[0]);
    close(ends[1]);
}

static void test_kinds(void)
{
    uint64_t handle = 7;
    struct vmm_call_mem_create call = {{VMM_CALL_mem_create, 0}, &handle, 1, NULL, 0};
    names_learn(&names, &call.head);
    tap_ok(is(VMM_PARAM_HANDLE, 7, "H1") && is(VMM_PARAM_OUT_HANDLE, 7, "H1"), "a handle");
    tap_ok(is(VMM_PARAM_ADDRESS, 7, NULL) && is(VMM_PARAM_STREAM, 7, NULL) && is(VMM_PARAM_INT, 7, NULL) &&
               is(VMM_PARAM_SIZE, 7, NULL),
           "the same number as something else has no name");
}

int main(void)
{
    test_nothing();
    test_ends();
    test_descriptors();
    test_kinds();
    names_free(&names);
    tap_ok(is(VMM_PARAM_HANDLE, 7, NULL), "the name is gone after the release");
    return tap_done();
}
