/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names on its own, with values that a backend is unlikely to return. */
#include "trace_names.h"

#include <string.h>

#include "tap.h"

static struct names names;

static bool learn(const struct vmm_call *call)
{
    return names_learn(&names, &(struct trace_event){.call = call, .wrote = true});
}

static bool is(enum vmm_param_kind kind, uint64_t value, const char *want)
{
    char text[NAME_MAX_TEXT] = "";
    struct name name;
    bool found = names_find(&names, kind, value, &name);
    if (found)
        name_text(&name, text);
    return found == (want != NULL) && (!want || strcmp(text, want) == 0);
}

static void reserved(uint64_t start, uint64_t size)
{
    struct vmm_call_mem_address_reserve call = {{VMM_CALL_mem_address_reserve, 0}, &start, size, 0, 0, 0};
    tap_ok(learn(&call.head), "a reservation of %d bytes at %#x", (int)size, (unsigned)start);
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
    learn(&call.head);
    tap_ok(is(VMM_PARAM_ADDRESS, 0x2010, "R3+0x10"), "a free inside a range does not end it");
    call.ptr = 0x9000;
    learn(&call.head);
    tap_ok(is(VMM_PARAM_ADDRESS, 0x2000, "R3"), "a free at another address does not end it");
    call.ptr = 0x2000;
    learn(&call.head);
    tap_ok(is(VMM_PARAM_ADDRESS, 0x2000, NULL), "a free at its start ends it");
}

/* Whatever a new object overlaps has ended; if names are kept, what is left of it can be found. */
static void test_overlapped(bool keeps)
{
    struct name name;
    names_free(&names);
    names.keeps = keeps;
    reserved(0x10000, 0x4000);
    reserved(0x20000, 0x4000);
    reserved(0x12000, 0x10000);
    tap_ok(is(VMM_PARAM_ADDRESS, 0x12000, "R3") && is(VMM_PARAM_ADDRESS, 0x21fff, "R3+0xffff"), "the new one has its addresses");
    tap_ok(names_find(&names, VMM_PARAM_ADDRESS, 0x10000, &name) == keeps && (!keeps || (name.number == 1 && name.ended)),
           "%s", keeps ? "before it lies what has ended" : "nothing lies before it");
    tap_ok(names_find(&names, VMM_PARAM_ADDRESS, 0x22000, &name) == keeps && (!keeps || (name.number == 2 && name.ended)),
           "and behind it");
    uint64_t at = 0x20000;
    struct vmm_call_mem_alloc alloc = {{VMM_CALL_mem_alloc, 0}, &at, 0x4000};
    learn(&alloc.head);
    tap_ok(is(VMM_PARAM_ADDRESS, 0x22000, "A1+0x2000"), "live objects are found before ended ones");
    tap_ok(is(VMM_PARAM_ADDRESS, 0x20000, "R3+0xe000"), "and a reservation before an allocation");
    names_free(&names);
    tap_ok(names.keeps == keeps && is(VMM_PARAM_ADDRESS, 0x22000, NULL), "after the free it is unchanged");
    names.keeps = false;
}

static void test_failures(void)
{
    uint64_t handle = 9;
    struct vmm_call_mem_create call = {{VMM_CALL_mem_create, 0}, &handle, 1, NULL, 0};
    names_learn(&names, &(struct trace_event){.call = &call.head, .result = VMM_ERROR_OUT_OF_MEMORY});
    tap_ok(is(VMM_PARAM_HANDLE, 9, NULL), "a call that failed made nothing");
}

/* Records may be malformed: a call that succeeded but has no output. */
static void test_no_outputs(void)
{
    bool all = true;
    names_free(&names);
    for (int id = 0; id < VMM_CALL_COUNT; id++) {
        union vmm_any_call any;
        memset(&any, 0, sizeof any);
        any.head.id = (uint16_t)id;
        all = learn(&any.head) && all;
    }
    for (int kind = 0; kind < NAME_KINDS; kind++)
        all = all && !names.object[kind].count;
    int status = VMM_STREAM_CAPTURE_STATUS_ACTIVE;
    struct vmm_call_stream_get_capture_info info = {.head = {VMM_CALL_stream_get_capture_info, 0}, .capture_status_out = (void *)&status};
    all = learn(&info.head) && !names.object[NAME_GRAPH].count && all;
    tap_ok(all, "calls without outputs make nothing that has a name");
    names_free(&names);
}

/* A kept name ends when nothing is left of its object, and when both kinds of addresses have ended. */
static void test_kept(void)
{
    struct name name;
    names_free(&names);
    names.keeps = true;
    reserved(UINT64_MAX - 0xfff, 0x1000);
    reserved(UINT64_MAX - 0x1fff, 0x2000);
    tap_ok(is(VMM_PARAM_ADDRESS, UINT64_MAX, "R2"  "+0x1fff"), "a range at the end of addresses is overlapped, too");
    struct vmm_call_mem_address_free gone = {{VMM_CALL_mem_address_free, 0}, UINT64_MAX - 0x1fff, 0x2000};
    learn(&gone.head);
    learn(&gone.head); /* a second time, which ends nothing */
    uint64_t at = UINT64_MAX - 0xfff;
    struct vmm_call_mem_alloc alloc = {{VMM_CALL_mem_alloc, 0}, &at, 0x1000};
    struct vmm_call_mem_free freed = {{VMM_CALL_mem_free, 0}, at};
    learn(&alloc.head);
    learn(&freed.head);
    tap_ok(names_find(&names, VMM_PARAM_ADDRESS, UINT64_MAX, &name) && name.kind == NAME_RESERVATION && name.ended,
           "if both have ended, the reservation is found");
    names_free(&names);
    names.keeps = false;
}

static void test_letters(void)
{
    bool all = true;
    for (int kind = 0; kind < NAME_KINDS; kind++) {
        char text[NAME_MAX_TEXT];
        name_text(&(struct name){(enum name_kind)kind, 3, 0, false}, text);
        all = all && name_kind_of(text[0]) == (enum name_kind)kind && strcmp(text + 1, "3") == 0;
    }
    tap_ok(all && name_kind_of('Z') == NAME_KINDS && name_kind_of('\0') == NAME_KINDS, "each kind has a letter");
}

static void test_kinds(void)
{
    uint64_t handle = 7;
    struct vmm_call_mem_create call = {{VMM_CALL_mem_create, 0}, &handle, 1, NULL, 0};
    learn(&call.head);
    tap_ok(is(VMM_PARAM_HANDLE, 7, "H1") && is(VMM_PARAM_OUT_HANDLE, 7, "H1"), "a handle");
    tap_ok(is(VMM_PARAM_ADDRESS, 7, NULL) && is(VMM_PARAM_STREAM, 7, NULL) && is(VMM_PARAM_INT, 7, NULL) &&
               is(VMM_PARAM_SIZE, 7, NULL),
           "the same number as something else has no name");
}

int main(void)
{
    test_nothing();
    test_ends();
    test_failures();
    test_kinds();
    test_letters();
    names_free(&names);
    tap_ok(is(VMM_PARAM_HANDLE, 7, NULL), "the name is gone after the release");
    test_overlapped(false);
    test_overlapped(true);
    test_no_outputs();
    test_kept();
    return tap_done();
}
