/* SPDX-License-Identifier: Apache-2.0 */
/* objects: every field of each kind of record, and the object nearest to an address. */
#include "objects.h"

#include <stdio.h>
#include <string.h>

#include "system.h"
#include "tap.h"
#include "units.h"

#define G (UINT64_C(2) << 20)

static const struct sim_origin made = {41, VMM_CALL_mem_map, 7}, ended = {42, VMM_CALL_mem_unmap, 8}, never = {0, 0, 0};

static bool same_text(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static void same(vmm_object got, vmm_object want, const char *what)
{
    bool place = got.kind == want.kind && got.number == want.number && got.start == want.start && got.size == want.size &&
                 got.value == want.value && got.handle == want.handle && got.handle_number == want.handle_number &&
                 got.offset == want.offset && got.location.type == want.location.type && got.location.id == want.location.id;
    bool state = got.access == want.access && got.references == want.references && got.mappings == want.mappings &&
                 got.block == want.block && got.team == want.team && got.devices == want.devices && got.binds == want.binds;
    bool calls = got.created == want.created && got.ended == want.ended && same_text(got.created_by, want.created_by) &&
                 same_text(got.ended_by, want.ended_by);
    tap_ok(place && state && calls, "%s:%s%s%s", what, place ? "" : " place", state ? "" : " state", calls ? "" : " calls");
}

#define MADE .created = 41, .created_by = "cuMemMap"
#define ENDED .ended = 42, .ended_by = "cuMemUnmap"
#define NODE {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 3}

static void memory(void)
{
    struct sim_block block = {.id = 5, .binds = 6, .prop.location = NODE};
    struct sim_handle handle = {.value = 70, .shown = 71, .block = &block, .refs = 8, .number = 9, .maps = 10, .size = 11,
                                .prop.location = NODE, .made = made};
    const struct sim_mapping mapping = {.start = 12, .size = 13, .offset = 14, .handle = &handle, .access = 15, .made = made,
                                        .number = 16};
    same(sim_object_mapping(&mapping),
         (vmm_object){.kind = VMM_OBJECT_MAPPING, .number = 16, .start = 12, .size = 13, .offset = 14, .handle = 71,
                      .handle_number = 9, .location = NODE, .access = 15, .block = 5, MADE}, "a mapping");
    same(sim_object_handle(&handle),
         (vmm_object){.kind = VMM_OBJECT_HANDLE, .number = 9, .value = 71, .size = 11, .location = NODE, .references = 8,
                      .mappings = 10, .block = 5, .binds = 6, MADE}, "a handle");
    handle.block = NULL;
    handle.ended = ended;
    same(sim_object_handle(&handle),
         (vmm_object){.kind = VMM_OBJECT_HANDLE, .number = 9, .value = 71, .size = 11, .location = NODE, .references = 8,
                      .mappings = 10, MADE, ENDED}, "an ended handle");
    const struct sim_allocation allocation = {.start = 17, .size = 18, .span = 19, .context = 20, .block = &block,
                                              .made = made, .number = 21};
    same(sim_object_allocation(&allocation),
         (vmm_object){.kind = VMM_OBJECT_ALLOCATION, .number = 21, .start = 17, .size = 18, .location = NODE, .block = 5, MADE},
         "an allocation");
    const struct sim_reservation reservation = {.start = 22, .size = 23, .made = made, .number = 24};
    same(sim_object_reservation(&reservation),
         (vmm_object){.kind = VMM_OBJECT_RESERVATION, .number = 24, .start = 22, .size = 23, MADE}, "a reservation");
}

static void multicast(void)
{
    static struct team team = {.wanted = 4, .members = 2, .count = 7,
                               .member = {{.machine = TEAM_THIS_MACHINE, .device = 0},
                                          {.machine = TEAM_THIS_MACHINE, .device = 2}}};
    struct sim_block block = {.id = 5, .binds = 6, .team = &team}, bound = {.id = 8, .prop.location = NODE};
    const struct sim_handle handle = {.value = 70, .shown = 71, .block = &block, .refs = 8, .number = 9, .maps = 10, .size = 11,
                                      .team_size = 4, .made = made};
    const struct team_bind bind = {.offset = 12, .size = 13, .block = &bound, .at = 14, .made = made.number,
                                   .made_by = made.call, .number = 15};
    same(sim_object_handle(&handle),
         (vmm_object){.kind = VMM_OBJECT_HANDLE, .number = 9, .value = 71, .size = 11, .references = 8, .mappings = 10,
                      .block = 5, .team = 4, .devices = 5, .binds = 7, MADE}, "a multicast object");
    same(sim_object_bind(&handle, &bind),
         (vmm_object){.kind = VMM_OBJECT_BIND, .number = 15, .start = 12, .size = 13, .offset = 14, .handle = 71,
                      .handle_number = 9, .location = NODE, .block = 8, MADE}, "a bind");
}

static void others(void)
{
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 3};
    for (int i = 0; i < 2; i++) {
        const struct sim_origin end = i ? ended : never;
        const char *by = i ? "cuMemUnmap" : NULL;
        const struct sim_context context = {.value = 1, .shown = 2, .device = 3, .number = 4, .made = made, .ended = end};
        same(sim_object_context(&context),
             (vmm_object){.kind = VMM_OBJECT_CONTEXT, .number = 4, .value = 2, .location = device, MADE, .ended = end.number,
                          .ended_by = by}, "a context");
        const struct sim_stream stream = {.value = 5, .context = 6, .number = 7, .made = made, .ended = end};
        same(sim_object_stream(&stream),
             (vmm_object){.kind = VMM_OBJECT_STREAM, .number = 7, .value = 5, MADE, .ended = end.number, .ended_by = by},
             "a stream");
        const struct sim_event event = {.value = 8, .context = 9, .number = 10, .made = made, .ended = end};
        same(sim_object_event(&event),
             (vmm_object){.kind = VMM_OBJECT_EVENT, .number = 10, .value = 8, MADE, .ended = end.number, .ended_by = by},
             "an event");
    }
    const struct retired_range retired = {.start = 1, .size = 2, .created = made.number, .ended = ended.number, .handle = 3,
                                          .number = 4,
                                          .handle_number = 5, .created_by = made.call, .ended_by = ended.call,
                                          .kind = VMM_OBJECT_MAPPING, .location = device};
    same(sim_object_retired(&retired),
         (vmm_object){.kind = VMM_OBJECT_MAPPING, .number = 4, .start = 1, .size = 2, .handle = 3, .handle_number = 5,
                      .location = device, MADE, ENDED}, "a retired range");
}

/* ---- the nearest object ---- */

static vmm_system *sys;

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("set-up: %s", vmm_result_name(result));
}

static bool is(vmm_deviceptr address, vmm_object_kind kind, vmm_deviceptr start, bool gone)
{
    struct sim_process *process = (struct sim_process *)sys->top;
    sim_machine_lock(process->machine);
    const vmm_object object = sim_object_nearest(process, address);
    sim_machine_unlock(process->machine);
    bool right = object.kind == kind && object.start == start && !object.ended == !gone;
    if (!right)
        tap_note("0x%llx: kind %d at 0x%llx", (unsigned long long)address, (int)object.kind, (unsigned long long)object.start);
    return right;
}

static void ignore(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

/*  [allocation]   far   [r: M1 | M2, unmapped | free ]   far   [a freed reservation] */
static void nearest_of(vmm_deviceptr a, vmm_deviceptr r, vmm_deviceptr gone, vmm_mem_generic_allocation_handle handle)
{
    tap_ok(is(r, VMM_OBJECT_MAPPING, r, false) && is(r + G - 1, VMM_OBJECT_MAPPING, r, false),
           "a mapping is nearest to its first and its last byte");
    tap_ok(is(r + G, VMM_OBJECT_MAPPING, r + G, true) && is(r + 2 * G - 1, VMM_OBJECT_MAPPING, r + G, true),
           "a retired mapping is nearest to its bytes");
    tap_ok(is(r + 2 * G, VMM_OBJECT_RESERVATION, r, false) && is(r + 3 * G - 1, VMM_OBJECT_RESERVATION, r, false),
           "the reservation is nearest to its bytes without a mapping");
    tap_ok(is(a, VMM_OBJECT_ALLOCATION, a, false) && is(a + G - 1, VMM_OBJECT_ALLOCATION, a, false), "an allocation");
    tap_ok(is(gone, VMM_OBJECT_RESERVATION, gone, true) && is(gone + G - 1, VMM_OBJECT_RESERVATION, gone, true),
           "a freed reservation is nearest to its bytes");
    const vmm_deviceptr middle = (a + G) / 2 + r / 2;
    tap_ok(is(middle - 1, VMM_OBJECT_ALLOCATION, a, false) && is(middle + 1, VMM_OBJECT_RESERVATION, r, false),
           "between two objects the closer one is nearest");
    tap_ok(is(middle, VMM_OBJECT_ALLOCATION, a, false), "in the exact middle the object before is nearest");
    tap_ok(is(0, VMM_OBJECT_ALLOCATION, a, false) && is(a - 1, VMM_OBJECT_ALLOCATION, a, false) &&
               is(a + G, VMM_OBJECT_ALLOCATION, a, false) && is(r - 1, VMM_OBJECT_RESERVATION, r, false) &&
               is(r + 3 * G, VMM_OBJECT_RESERVATION, r, false) && is(gone + G, VMM_OBJECT_RESERVATION, r, false) &&
               is(UINT64_MAX, VMM_OBJECT_RESERVATION, r, false),
           "at addresses that never held an object, the closest live one is nearest");
    need(vmm_mem_map(sys, r + G, G, 0, handle, 0));
    tap_ok(is(r + G, VMM_OBJECT_MAPPING, r + G, false), "a new mapping takes precedence over a retired one");
}

static void nearest(void)
{
    vmm_context context;
    vmm_deviceptr r, a, gone;
    vmm_mem_generic_allocation_handle handle;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    need(vmm_open("sim:h100", &sys));
    need(vmm_init(sys, 0));
    tap_ok(is(G, VMM_OBJECT_NONE, 0, false), "an empty process has no nearest object");
    need(vmm_ctx_create(sys, &context, 0, 0));
    need(vmm_mem_alloc(sys, &a, G));
    tap_ok(is(0, VMM_OBJECT_ALLOCATION, a, false) && is(UINT64_MAX, VMM_OBJECT_ALLOCATION, a, false),
           "the only allocation is nearest to every address");
    need(vmm_mem_free(sys, a));
    tap_ok(is(a + 5, VMM_OBJECT_ALLOCATION, a, true), "a freed allocation is nearest to its bytes");
    tap_result(vmm_mem_free(sys, a), VMM_ERROR_INVALID_VALUE, "freeing twice is refused");
    const vmm_object *freed = &vmm_last_detail()->nearest;
    tap_ok(freed->kind == VMM_OBJECT_ALLOCATION && freed->start == a && freed->ended && !strcmp(freed->ended_by, "cuMemFree"),
           "the refusal shows the freed allocation and the call that freed it");
    need(vmm_mem_address_reserve(sys, &r, 3 * G, 0, a + 100 * G, 0));
    tap_ok(is(0, VMM_OBJECT_RESERVATION, r, false) && is(UINT64_MAX, VMM_OBJECT_RESERVATION, r, false),
           "the only reservation is nearest to every address");
    need(vmm_mem_create(sys, &handle, G, &prop, 0));
    need(vmm_mem_map(sys, r, G, 0, handle, 0));
    need(vmm_mem_map(sys, r + G, G, 0, handle, 0));
    need(vmm_mem_unmap(sys, r + G, G));
    need(vmm_mem_alloc(sys, &a, G));
    need(vmm_mem_address_reserve(sys, &gone, G, 0, r + 200 * G, 0));
    need(vmm_mem_address_free(sys, gone, G));
    if (a + 2 * G <= r && r + 4 * G <= gone)
        nearest_of(a, r, gone, handle);
    else /* under a sanitizer */
        tap_skip("other memory of the process lies between", "the nearest of an allocation, a reservation and retired ranges");
    vmm_set_report(sys, ignore, NULL);
    vmm_close(sys);
}

/* Two allocations of a chunk: 100 bytes, and 100 bytes a little behind. */
static void between_allocations(void)
{
    vmm_context context;
    vmm_deviceptr first = 0, second = 0;
    need(vmm_open("sim:h100", &sys));
    need(vmm_init(sys, 0));
    need(vmm_ctx_create(sys, &context, 0, 0));
    need(vmm_mem_alloc(sys, &first, 100));
    need(vmm_mem_alloc(sys, &second, 100));
    const vmm_deviceptr middle = (first + 100) / 2 + second / 2;
    tap_ok(second > first + 100 && second % 2 == 0, "the second is after the first, with room in between");
    tap_ok(is(middle, VMM_OBJECT_ALLOCATION, first, false), "of two equally distant allocations, the one before is nearest");
    tap_ok(is(middle + 1, VMM_OBJECT_ALLOCATION, second, false), "behind the middle it is the other one");
    vmm_set_report(sys, ignore, NULL);
    vmm_close(sys);
}

/* An overlap far past the end of the reservation has the distance in its note; an overlap inside the reservation has no note.
 * */
static void far_behind(void)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle small = 0, big = 0;
    vmm_deviceptr near = 0, far = 0;
    need(vmm_open("sim:h100", &sys));
    need(vmm_init(sys, 0));
    need(vmm_mem_create(sys, &small, G, &prop, 0));
    need(vmm_mem_create(sys, &big, 150 * G, &prop, 0));
    need(vmm_mem_address_reserve(sys, &near, 2 * G, 0, 0, 0));
    need(vmm_mem_address_reserve(sys, &far, G, 0, near + 100 * G, 0));
    need(vmm_mem_map(sys, far, G, 0, small, 0));
    if (far >= near + 100 * G && far < near + 150 * G) { /* large ranges start at chunks, so a little higher */
        char want[200], behind[UNITS_TEXT];
        snprintf(want, sizeof want,
                 "the range passes the end of reservation R1 by 296 MiB; the overlap begins %s past that end",
                 units_text(far - near - 2 * G, behind));
        tap_result(vmm_mem_map(sys, near, 150 * G, 0, big, 0), VMM_ERROR_INVALID_VALUE,
                   "a map of more than the reservation is refused");
        tap_text(vmm_last_detail()->rule, "VMM-MAP-OVERLAP", "the rule is the overlap");
        tap_text(vmm_last_detail()->note, want, "the note has the distance past the end");
    } else { /* under a sanitizer */
        tap_skip("other memory of the process lies between", "the distance of an overlap past the end of its reservation");
    }
    need(vmm_mem_map(sys, near + G, G, 0, small, 0));
    tap_result(vmm_mem_map(sys, near, 150 * G, 0, big, 0), VMM_ERROR_INVALID_VALUE,
               "a map over a mapping in the same reservation is refused");
    tap_text(vmm_last_detail()->note, "", "an overlap inside the reservation has no note");
    vmm_set_report(sys, ignore, NULL);
    vmm_close(sys);
}

int main(void)
{
    far_behind();
    between_allocations();
    memory();
    multicast();
    others();
    nearest();
    return tap_done();
}
