/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are parts of one call of the program share its number and name; outside, calls keep their own. */
#include "thread.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "system.h"
#include "tap.h"

#define G (UINT64_C(2) << 20)

static vmm_system *sys;

static const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                             .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};

struct made {
    unsigned count;
    vmm_object object[8];
};

static void collect(void *user, const vmm_object *object)
{
    struct made *made = user;
    if ((object->kind == VMM_OBJECT_RESERVATION || object->kind == VMM_OBJECT_HANDLE) && made->count < 8)
        made->object[made->count++] = *object;
}

/* Creates a reservation and memory, and returns their reported calls. */
static void make_both(struct made *made, const char *name)
{
    vmm_deviceptr at = 0;
    vmm_mem_generic_allocation_handle handle = 0;
    struct vmm_within_calls *calls = &vmm_this_thread()->within;
    struct vmm_entry_point entry = {.name = name};
    if (name)
        vmm_within_begin(calls, &entry);
    vmm_result result = vmm_mem_address_reserve(sys, &at, G, 0, 0, 0);
    if (result == VMM_SUCCESS)
        result = vmm_mem_create(sys, &handle, G, &prop, 0);
    if (name)
        vmm_within_end(calls);
    *made = (struct made){0};
    if (result != VMM_SUCCESS || vmm_visit(sys, collect, made) != VMM_SUCCESS || made->count != 2)
        tap_bail("cannot be made");
    vmm_mem_release(sys, handle);
    vmm_mem_address_free(sys, at, G);
}

static void reported(const struct made *made, int which, const char *name, uint64_t number)
{
    tap_text(made->object[which].created_by, name, "made by");
    tap_u64(made->object[which].created, number, "the object has the call's number");
}

static void test_parts(void)
{
    struct made made;
    make_both(&made, NULL);
    uint64_t first = made.object[0].created;
    reported(&made, 0, "cuMemAddressReserve", first);
    reported(&made, 1, "cuMemCreate", first + 1); /* two other calls released them */
    make_both(&made, "cuMemHostAlloc");
    reported(&made, 0, "cuMemHostAlloc", first + 4);
    reported(&made, 1, "cuMemHostAlloc", first + 4);
    make_both(&made, "cuMemCreate_v2_ptsz");
    reported(&made, 0, "cuMemCreate", first + 7);
    reported(&made, 1, "cuMemCreate", first + 7);
    tap_ok(!vmm_within_now(&vmm_this_thread()->within), "the outer call ends");
}

/* After a refusal, a call with nothing to report leaves a record that holds only itself; name: as a part of that call. */
static void test_nothing_said(const char *name, uint64_t number)
{
    struct vmm_entry_point entry = {.name = name};
    struct vmm_within_calls *calls = &vmm_this_thread()->within;
    vmm_context current;
    if (name)
        vmm_within_begin(calls, &entry);
    tap_result(vmm_ctx_get_current(sys, &current), VMM_SUCCESS, "a call that is not refused");
    if (name)
        vmm_within_end(calls);
    const vmm_detail *detail = vmm_last_detail();
    tap_ok(detail->severity == VMM_SEVERITY_NONE && !detail->rule && detail->result == VMM_SUCCESS, "has nothing to say");
    tap_text(detail->function, "cuCtxGetCurrent", "and is reported as itself");
    tap_u64(detail->call, number, "with its number");
}

/* A refused part is reported as the program's call. */
static void test_refusal(void)
{
    vmm_deviceptr at = 0;
    struct vmm_within_calls *calls = &vmm_this_thread()->within;
    struct vmm_entry_point outer = {.name = "cuOuter"}, inner = {.name = "cuMemAllocHost"};
    vmm_within_begin(calls, &outer);
    vmm_within_begin(calls, &inner);
    tap_result(vmm_mem_address_reserve(sys, &at, 5, 0, 0, 0), VMM_ERROR_INVALID_VALUE, "a part is refused");
    tap_text(vmm_last_detail()->function, "cuMemAllocHost", "it is reported as the program's call");
    tap_text(vmm_last_detail()->rule, "VMM-RESERVE-SIZE-GRANULARITY", "it has the part's rule");
    uint64_t number = vmm_last_detail()->call;
    vmm_within_end(calls);
    vmm_mem_address_reserve(sys, &at, 5, 0, 0, 0);
    tap_text(vmm_last_detail()->function, "cuOuter", "the outer call is reported again");
    tap_u64(vmm_last_detail()->call, number + 1, "it has its own number");
    vmm_within_end(calls);
    vmm_mem_address_reserve(sys, &at, 5, 0, 0, 0);
    tap_text(vmm_last_detail()->function, "cuMemAddressReserve", "outside, a call has its own name");
    tap_u64(vmm_last_detail()->call, number + 2, "likewise");
    test_nothing_said(NULL, number + 3);
    vmm_mem_address_reserve(sys, &at, 5, 0, 0, 0);
    test_nothing_said("cuCtxGetCurrent", number + 5);
    test_nothing_said("cuCtxGetCurrent_v2", number + 6);
}

/* A call nested too deeply is reported as part of the deepest one that fits. */
static void test_deep(void)
{
    static const char *const names[] = {"cuDeep0", "cuDeep1", "cuDeep2", "cuDeep3", "cuDeep4", "cuDeep5", "cuDeep6", "cuDeep7",
                                        "cuDeep8"};
    struct vmm_within_calls *calls = &vmm_this_thread()->within;
    enum { COUNT = sizeof names / sizeof names[0] };
    struct vmm_entry_point entry[COUNT] = {{0}};
    unsigned count = COUNT, wrong = 0;
    for (unsigned i = 0; i < count; i++) {
        entry[i].name = names[i];
        wrong += vmm_within_begin(calls, &entry[i]) != vmm_within_now(calls);
        wrong += strcmp(vmm_reported_name(vmm_reported_call(VMM_CALL_mem_map)),
                        names[i < VMM_WITHIN_MOST ? i : VMM_WITHIN_MOST - 1]) != 0;
    }
    for (unsigned i = count; i-- > 0; vmm_within_end(calls))
        wrong += strcmp(vmm_reported_name(vmm_reported_call(VMM_CALL_mem_map)),
                        names[i < VMM_WITHIN_MOST ? i : VMM_WITHIN_MOST - 1]) != 0;
    tap_u64(wrong, 0, "nested calls have their names, down to the deepest that fits, and up again");
    tap_u64(vmm_reported_call(VMM_CALL_mem_map), VMM_CALL_mem_map, "outside, calls have their own names");
}

static void *name_many(void *user)
{
    char name[40];
    unsigned *wrong = user;
    for (int round = 0; round < 20; round++)
        for (unsigned i = 0; i < 100; i++) {
            snprintf(name, sizeof name, "cuPart%u_v2", i);
            struct vmm_entry_point entry = {.name = name};
            vmm_within_begin(&vmm_this_thread()->within, &entry);
            uint16_t as = vmm_reported_call(VMM_CALL_mem_map);
            char base[40];
            snprintf(base, sizeof base, "cuPart%u", i);
            *wrong += strcmp(vmm_reported_name(as), base) != 0 || !vmm_reported_is_part(as);
            vmm_within_end(&vmm_this_thread()->within);
        }
    return NULL;
}

/* Each name is entered once, by the first thread that needs it; without room, a part keeps its own name. */
static void test_many_names(void)
{
    pthread_t threads[4];
    unsigned wrong[4] = {0};
    char name[40];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, name_many, &wrong[i]))
            tap_bail("no thread");
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    tap_u64(wrong[0] + wrong[1] + wrong[2] + wrong[3], 0, "four threads enter a hundred names");
    unsigned itself = 0;
    for (unsigned i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "cuMore%u", i);
        struct vmm_entry_point entry = {.name = name};
        vmm_within_begin(&vmm_this_thread()->within, &entry);
        itself += vmm_reported_call(VMM_CALL_mem_map) == VMM_CALL_mem_map;
        vmm_within_end(&vmm_this_thread()->within);
    }
    tap_ok(itself >= 60 && itself < 100, "%u of a hundred more names find no room, and the parts keep their own names", itself);
}

int main(void)
{
    if (vmm_open("sim:h100", &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("no machine");
    test_parts();
    test_refusal();
    test_deep();
    vmm_close(sys);
    test_many_names();
    return tap_done();
}
