/* SPDX-License-Identifier: Apache-2.0 */
/* The grader of exercise 6. */
#include "../grader/grader.h"
#include "fix.h"

#include <stdlib.h>
#include <string.h>

const struct grade_rule grade_rules[] = {
    {"EX-FIX-BYTES", "out holds n times value",
     "the copy comes after the fill: wait for the stream, because the default stream does not"},
    {"EX-FIX-EXACT", "memory for n bytes, rounded up to the minimum granularity",
     "call vmm_mem_get_allocation_granularity; if n is a multiple, it needs no rounding"},
    {"EX-FIX-DEVICE", "the memory is on the requested device", "put the caller's device into the properties"},
    {0},
};

static bool all_are(const unsigned char *bytes, uint64_t n, unsigned char value)
{
    return bytes[0] == value && (n == 1 || memcmp(bytes, bytes + 1, n - 1) == 0);
}

/* One run with n bytes, and its leaks. A refusal breaks that rule, or the one that the machine reports. */
static void run(const char *spec, uint64_t units, uint64_t more, const char *rule)
{
    struct grade g;
    grade_open(&g, spec, "");
    const uint64_t n = units * g.unit + more;
    unsigned char *out = grade_room(n + 1);
    out[n] = 99;
    vmm_result got = fix_fill(g.sys, g.device, 0x5c, out, n);
    grade_point(&g, got == VMM_SUCCESS, rule, "fix_fill succeeds", "it returned %s", vmm_result_name(got));
    grade_point(&g, got == VMM_SUCCESS && all_are(out, n, 0x5c) && out[n] == 99, "EX-FIX-BYTES",
                "out has the bytes, and no more", "byte 0 is 0x%02x, byte %llu 0x%02x, and 0x5c is right", out[0],
                (unsigned long long)(n - 1), out[n - 1]);
    free(out);
    grade_close(&g);
}

static void part_small(const char *spec)
{
    run(spec, 0, 1, NULL);
}

static void part_large(const char *spec)
{
    run(spec, 2, 17, NULL);
}

/* All the memory of the device: a program that requests a byte too many fails. */
static void part_all(const char *spec)
{
    struct grade g;
    grade_open(&g, spec, "");
    const uint64_t units = g.before / g.unit;
    grade_drop(&g);
    if (!g.before || g.before > UINT64_C(1) << 27)
        grade_skip("all memory of the device", "needs a small machine of its own, sim:odd");
    else
        run(spec, units, 0, "EX-FIX-EXACT");
}

/* The device has no memory left but its neighbours do: memory created elsewhere is noticed. */
static void part_device(const char *spec)
{
    struct grade g;
    unsigned char out[8] = {0};
    vmm_mem_generic_allocation_handle all = 0;
    grade_open(&g, spec, "");
    if (!g.before || !g.device) {
        grade_skip("the requested device", "needs a machine of its own with several devices, sim:h200x2 or sim:odd");
        grade_drop(&g);
        return;
    }
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, g.device}};
    vmm_mem_create(g.sys, &all, g.before / g.unit * g.unit, &prop, 0);
    g.expects = true;
    vmm_result got = fix_fill(g.sys, g.device, 1, out, sizeof out);
    grade_refused(&g, got, VMM_ERROR_OUT_OF_MEMORY, "EX-FIX-DEVICE", "a device without memory does not fall back to another");
    vmm_mem_release(g.sys, all);
    grade_drop(&g);
}

static void scenario(struct grade *g)
{
    const uint64_t n = g->unit + 1;
    unsigned char *out = grade_room(n);
    if (GRADE_TWICE(g, fix_fill(g->sys, g->device, 7, out, n)))
        grade_holds(g, all_are(out, n, 7), "out has the bytes");
    free(out);
}

static void part_errors(const char *spec)
{
    grade_each_fault(spec, scenario);
}

const struct grade_part grade_parts[] = {
    {"small", part_small},   {"large", part_large},   {"all memory", part_all},
    {"device", part_device}, {"errors", part_errors}, {0},
};
