/* SPDX-License-Identifier: Apache-2.0 */
/* Passes every range of a few units to each call that takes a range; compares the rule, argument, value, expected value and
 * nearest object of the refusal with those that a plain search over all objects finds. Strict mode, so that everything that the
 * documentation forbids is refused and changes nothing.
 *
 *   units         0    1    2    3    4    5    6    7
 *   reservations  [... R1 ......)[.. R2 ...)    [R3 )
 *   mappings           [M1 )[M2 )    [M3 )                */
#include <string.h>

#include "tap.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)

enum { UNITS = 8 };

struct range {
    uint64_t start, end;
};

static const struct range reservations[] = {{0, 3}, {3, 5}, {6, 7}}, mappings[] = {{1, 2}, {2, 3}, {4, 5}};
static vmm_deviceptr base;
static vmm_system *sys;

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("set-up: %s %s", vmm_result_name(result), vmm_last_detail()->note);
}

static vmm_mem_generic_allocation_handle created(uint64_t units)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_generic_allocation_handle handle = 0;
    need(vmm_mem_create(sys, &handle, units * G, &prop, 0));
    return handle;
}

static void begin(void)
{
    vmm_deviceptr at;
    need(vmm_open("sim:h100,strict", &sys));
    need(vmm_init(sys, 0));
    need(vmm_mem_address_reserve(sys, &base, 16 * G, 0, 0, 0));
    need(vmm_mem_address_free(sys, base, 16 * G));
    for (int i = 0; i < 3; i++) {
        need(vmm_mem_address_reserve(sys, &at, (reservations[i].end - reservations[i].start) * G, 0,
                                     base + reservations[i].start * G, 0));
        need(vmm_mem_map(sys, base + mappings[i].start * G, G, 0, created(1), 0));
    }
}

/* ---- the expected refusals, by a plain search ---- */

static int at(const struct range *ranges, uint64_t unit)
{
    for (int i = 0; i < 3; i++)
        if (unit >= ranges[i].start && unit < ranges[i].end)
            return i;
    return -1;
}

/* The expected detail; rule NULL: the call succeeds. */
struct reported {
    const char *rule, *argument;
    uint64_t value, expected;
    int mapping, reservation; /* the nearest object; -1: not compared */
};

static struct reported of(const char *rule, const char *argument, uint64_t value, uint64_t expected)
{
    return (struct reported){rule, argument, value, expected, -1, -1};
}

static struct reported of_mapping(const char *rule, const char *argument, uint64_t value, uint64_t expected, int mapping)
{
    return (struct reported){rule, argument, value, expected, mapping, -1};
}

static struct reported of_reservation(const char *rule, const char *argument, uint64_t value, uint64_t expected, int reservation)
{
    return (struct reported){rule, argument, value, expected, -1, reservation};
}

/* The expected refusal of an unmap of [start, end), in units. The functions below do the same for other calls. */
static struct reported unmapped(uint64_t start, uint64_t end)
{
    const uint64_t ptr = base + start * G, size = (end - start) * G;
    uint64_t covered = 0;
    if (at(reservations, start) < 0)
        return of("VMM-UNMAP-NOT-RESERVED", "ptr", ptr, 0);
    for (uint64_t unit = start; unit < end; unit++)
        covered += at(mappings, unit) >= 0;
    if (!covered)
        return of("VMM-UNMAP-NOTHING", "ptr", ptr, 0);
    return covered < end - start ? of("VMM-UNMAP-HOLE", "ptr", ptr, covered * G) : of(NULL, NULL, size, 0);
}

static struct reported granted(uint64_t start, uint64_t end)
{
    const uint64_t ptr = base + start * G, size = (end - start) * G;
    if (at(mappings, start) < 0)
        return of("VMM-ACCESS-NOT-MAPPED", "ptr", ptr, 0);
    if (at(mappings, end - 1) < 0)
        return of("VMM-ACCESS-NOT-MAPPED", "size", size, 0);
    for (uint64_t unit = start; unit < end; unit++)
        if (at(mappings, unit) < 0)
            return of("VMM-ACCESS-HOLE", "size", size, (unit - start) * G);
    return of(NULL, NULL, 0, 0);
}

static struct reported mapped(uint64_t start, uint64_t end)
{
    const uint64_t ptr = base + start * G, size = (end - start) * G;
    const int in = at(reservations, start);
    uint64_t past;
    if (in < 0)
        return of("VMM-MAP-NOT-RESERVED", "ptr", ptr, 0);
    for (uint64_t unit = start; unit < end; unit++)
        if (at(mappings, unit) >= 0)
            return of_mapping("VMM-MAP-OVERLAP", "ptr", ptr, 0, at(mappings, unit));
    for (past = start; past < end && at(reservations, past) >= 0;)
        past++;
    if (end <= reservations[in].end)
        return of(NULL, NULL, 0, 0);
    return of_reservation(past == end ? "VMM-MAP-CROSSES-RESERVATIONS" : "VMM-MAP-PAST-RESERVATION", "size", size,
                          (reservations[in].end - start) * G, in);
}

static struct reported freed(uint64_t start, uint64_t end)
{
    const uint64_t ptr = base + start * G, size = (end - start) * G;
    const int in = at(reservations, start);
    if (in < 0)
        return of("VMM-FREE-NOT-RESERVED", "ptr", ptr, 0);
    const uint64_t first = reservations[in].start, length = (reservations[in].end - first) * G;
    if (first != start)
        return of_reservation("VMM-FREE-NOT-START", "ptr", ptr, base + first * G, in);
    if (length != size)
        return of_reservation("VMM-FREE-SIZE-MATCH", "size", size, length, in);
    for (uint64_t unit = start; unit < end; unit++)
        if (at(mappings, unit) >= 0)
            return of_mapping("VMM-FREE-MAPPED", "ptr", ptr, 0, at(mappings, unit));
    return of(NULL, NULL, 0, 0);
}

/* ---- the actual refusals ---- */

static bool right(vmm_result result, const struct reported *want)
{
    const vmm_detail *d = vmm_last_detail();
    const vmm_object *o = &d->nearest;
    if (result == VMM_SUCCESS || !d->rule || strcmp(d->rule, want->rule) != 0 || !d->argument ||
        strcmp(d->argument, want->argument) != 0 || d->value != want->value || d->expected != want->expected)
        return false;
    if (want->mapping >= 0)
        return o->kind == VMM_OBJECT_MAPPING && o->start == base + mappings[want->mapping].start * G;
    if (want->reservation >= 0)
        return o->kind == VMM_OBJECT_RESERVATION && o->start == base + reservations[want->reservation].start * G;
    return o->kind != VMM_OBJECT_NONE;
}

enum call { UNMAP, ACCESS, MAP, FREE, CALLS };

static struct reported wanted(enum call call, uint64_t start, uint64_t end)
{
    return call == UNMAP ? unmapped(start, end) : call == ACCESS ? granted(start, end) : call == MAP ? mapped(start, end)
                                                                                                     : freed(start, end);
}

static vmm_result made(enum call call, uint64_t start, uint64_t end, vmm_mem_generic_allocation_handle handle)
{
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ};
    const vmm_deviceptr ptr = base + start * G;
    const uint64_t size = (end - start) * G;
    switch (call) {
    case UNMAP: return vmm_mem_unmap(sys, ptr, size);
    case ACCESS: return vmm_mem_set_access(sys, ptr, size, &desc, 1);
    case MAP: return vmm_mem_map(sys, ptr, size, 0, handle, 0);
    default: return vmm_mem_address_free(sys, ptr, size);
    }
}

static void all_ranges(enum call call)
{
    static const char *const names[] = {"unmapped", "granted", "mapped", "freed"};
    unsigned wrong = 0, refused = 0;
    for (uint64_t size = 1; size <= UNITS; size++) {
        const vmm_mem_generic_allocation_handle handle = call == MAP ? created(size) : 0;
        for (uint64_t start = 0; start + size <= UNITS; start++) {
            const struct reported want = wanted(call, start, start + size);
            if (!want.rule)
                continue;
            refused++;
            wrong += !right(made(call, start, start + size, handle), &want);
        }
    }
    tap_ok(!wrong && refused > 20, "each of %u ranges that cannot be %s is refused with the expected detail", refused,
           names[call]);
}

/* Ranges that begin or end within a mapping of two units. */
static void parts(void)
{
    const vmm_deviceptr p = base + 8 * G;
    vmm_deviceptr got;
    need(vmm_mem_address_reserve(sys, &got, 4 * G, 0, p, 0));
    need(vmm_mem_map(sys, p + G, 2 * G, 0, created(2), 0));
    const struct {
        struct reported want;
        uint64_t start, units;
        bool access;
    } cases[] = {
        {of("VMM-UNMAP-PARTIAL", "ptr", p + 2 * G, p + G), 2, 1, false},
        {of("VMM-UNMAP-PARTIAL", "ptr", p + 2 * G, p + G), 2, 2, false},
        {of("VMM-UNMAP-PARTIAL", "size", G, 2 * G), 1, 1, false},
        {of("VMM-UNMAP-PARTIAL", "size", 2 * G, 3 * G), 0, 2, false},
        {of("VMM-ACCESS-PARTIAL", "ptr", p + 2 * G, p + G), 2, 1, true},
        {of("VMM-ACCESS-PARTIAL", "size", G, 2 * G), 1, 1, true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint64_t start = 8 + cases[i].start;
        vmm_result result = made(cases[i].access ? ACCESS : UNMAP, start, start + cases[i].units, 0);
        tap_ok(right(result, &cases[i].want) && vmm_last_detail()->nearest.start == p + G &&
                   vmm_last_detail()->nearest.kind == VMM_OBJECT_MAPPING,
               "%s, %s", cases[i].want.rule, cases[i].want.argument);
    }
}

static void ignore(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

int main(void)
{
    begin();
    for (enum call call = UNMAP; call < CALLS; call++)
        all_ranges(call);
    parts();
    vmm_set_report(sys, ignore, NULL);
    vmm_close(sys);
    return tap_done();
}
