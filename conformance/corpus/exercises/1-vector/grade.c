/* SPDX-License-Identifier: Apache-2.0 */
/* The grader of exercise 1. */
#include "../grader/grader.h"
#include "vector.h"

const struct grade_rule grade_rules[] = {
    {"EX-VECTOR-MOVES", "the vector keeps its address", "reserve addresses for the maximum size at open, and map after the "
                                                        "existing part"},
    {"EX-VECTOR-COPIES", "growing and shrinking copy no bytes", "existing mappings stay: only the end changes"},
    {"EX-VECTOR-EXACT", "exactly the memory for the size, in whole units of the minimum granularity",
     "call vmm_mem_get_allocation_granularity with MINIMUM; use one piece of memory for each unit; unmap the rest"},
    {"EX-VECTOR-BYTES", "bytes that stay in the vector stay as they are",
     "map only after the backed part, and unmap only beyond the size"},
    {"EX-VECTOR-RIGHTS", "the vector's device can read and write all of it, and no other device has access",
     "call vmm_mem_set_access for each new unit, only for the vector's device"},
    {"EX-VECTOR-LIMIT", "a size above room is VMM_ERROR_OUT_OF_MEMORY and changes nothing",
     "compare with room before any call; remove the units that were added before the driver ran out"},
    {0},
};

enum { UNITS = 6 };

/* Checks the position of a vector of size bytes. */
static bool is_backed(const struct grade *g, const struct vector *v, uint64_t size)
{
    return v->size == size && v->backed == (size + g->unit - 1) / g->unit * g->unit;
}

/* A machine, and on it a vector that can grow to UNITS units. */
static bool opens(struct grade *g, struct vector *v, const char *spec, const char *layers)
{
    grade_open(g, spec, layers);
    if (grade_ok(g, vector_open(v, g->sys, g->device, UNITS * g->unit), "vector_open succeeds"))
        return true;
    grade_drop(g);
    return false;
}

static void part_open(const char *spec)
{
    struct grade g;
    struct vector v;
    if (!opens(&g, &v, spec, ""))
        return;
    grade_point(&g, v.at != 0 && v.at % g.unit == 0, "VMM-RESERVE-SIZE-GRANULARITY", "it has addresses", "at is 0x%llx",
                (unsigned long long)v.at);
    grade_point(&g, is_backed(&g, &v, 0) && grade_uses(&g, 0), "EX-VECTOR-EXACT", "and no memory",
                "a vector of 0 bytes has memory");
    grade_ok(&g, vector_close(&v), "vector_close succeeds");
    grade_close(&g);
}

/* Sizes around whole units; each step fills what is new with its number, so that all older bytes can be recognised. */
static void grow(struct grade *g, struct vector *v, const uint64_t *sizes, unsigned count)
{
    bool ok = true, stays = true, exact = true, bytes = true, rights = true, same = true;
    const vmm_deviceptr at = v->at;
    uint64_t first = 0;
    for (unsigned i = 0; i < count && ok; i++) {
        uint64_t old = v->size;
        ok = vector_resize(v, sizes[i]) == VMM_SUCCESS;
        if (!ok)
            break;
        stays = stays && v->at == at;
        exact = exact && is_backed(g, v, sizes[i]) && grade_uses(g, v->backed);
        for (uint64_t unit = 0; unit < v->backed; unit += g->unit)
            rights = rights && grade_rights(g, g->device, at + unit) == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
        rights = rights && grade_others_have_none(g, at, v->backed);
        first = first ? first : grade_block(g, at);
        same = same && grade_block(g, at) == first && first;
        bytes = bytes && grade_fill(g, at + old, sizes[i] - old, (unsigned char)(i + 1));
        for (unsigned j = 0; j <= i; j++)
            bytes =
                bytes && grade_is(g, at + (j ? sizes[j - 1] : 0), sizes[j] - (j ? sizes[j - 1] : 0), (unsigned char)(j + 1));
    }
    grade_point(g, ok, NULL, "every growth succeeds", "a growth that fits into most was refused, at size %llu",
                (unsigned long long)v->size);
    grade_point(g, ok && stays, "EX-VECTOR-MOVES", "the address stays", "at was 0x%llx and is 0x%llx", (unsigned long long)at,
                (unsigned long long)v->at);
    grade_point(g, ok && rights, "EX-VECTOR-RIGHTS", "its device can read and write, and no other has access",
                "rights of device %d at the first and last unit: %d, %d (expected 3), or another device has rights", g->device,
                grade_rights(g, g->device, v->at), grade_rights(g, g->device, v->at + v->backed - g->unit));
    grade_point(g, ok && bytes, "EX-VECTOR-BYTES", "bytes stay as they are",
                "bytes that were written earlier are missing or not accessible");
    grade_point(g, ok && same, "EX-VECTOR-COPIES", "in the same memory",
                "different memory backs the first bytes after growing");
    grade_point(g, ok && exact, "EX-VECTOR-EXACT", "with no more memory than needed",
                "for %llu bytes in units of %llu, backed is %llu, or the device's free memory fell by a different amount",
                (unsigned long long)v->size, (unsigned long long)g->unit, (unsigned long long)v->backed);
}

static void part_grow(const char *spec)
{
    struct grade g;
    struct vector v;
    if (!opens(&g, &v, spec, ""))
        return;
    const uint64_t unit = g.unit, sizes[] = {1, unit - 1, unit, unit + 1, 3 * unit + unit / 2, UNITS * unit};
    grow(&g, &v, sizes, sizeof sizes / sizeof sizes[0]);
    grade_ok(&g, vector_close(&v), "vector_close succeeds");
    grade_close(&g);
}

static void part_shrink(const char *spec)
{
    struct grade g;
    struct vector v;
    if (!opens(&g, &v, spec, ""))
        return;
    const uint64_t unit = g.unit;
    grade_ok(&g, vector_resize(&v, 4 * unit), "it grows to 4 units in one step");
    bool bytes = grade_fill(&g, v.at, 4 * unit, 7);
    grade_ok(&g, vector_resize(&v, unit + 1), "it shrinks by 2 units");
    grade_point(&g, is_backed(&g, &v, unit + 1) && grade_uses(&g, 2 * unit), "EX-VECTOR-EXACT",
                "the memory is returned to the device", "for %llu bytes, in units of %llu, %llu are backed",
                (unsigned long long)v.size, (unsigned long long)unit, (unsigned long long)v.backed);
    grade_point(&g, bytes && grade_is(&g, v.at, unit + 1, 7), "EX-VECTOR-BYTES", "bytes stay as they are",
                "bytes below the new size have changed");
    grade_point(&g, !grade_block(&g, v.at + 2 * unit), "EX-VECTOR-EXACT", "nothing is mapped beyond the end", "there is");
    grade_ok(&g, vector_resize(&v, 0), "it shrinks to nothing");
    grade_ok(&g, vector_resize(&v, 2 * unit), "and grows again");
    grade_point(&g, grade_fill(&g, v.at, 2 * unit, 8) && grade_is(&g, v.at, 2 * unit, 8), "EX-VECTOR-RIGHTS",
                "which can be used", "the device has no access to the remapped memory");
    grade_ok(&g, vector_close(&v), "vector_close succeeds");
    grade_close(&g);
}

/* A fill in flight uses the units that are removed. */
static void part_flight(const char *spec)
{
    struct grade g;
    struct vector v;
    if (!opens(&g, &v, spec, ""))
        return;
    bool issued =
        vector_resize(&v, 3 * g.unit) == VMM_SUCCESS && vmm_memset_d8_async(g.sys, v.at, 9, 3 * g.unit, NULL) == VMM_SUCCESS;
    grade_point(&g, issued, NULL, "work is issued", "a fill of the whole vector was refused");
    vmm_result shrunk = vector_resize(&v, g.unit);
    grade_point(&g, issued && shrunk == VMM_SUCCESS && !g.reported.is, "VMM-UNMAP-IN-FLIGHT",
                "shrinking waits for work in flight", "memory was unmapped under an unfinished fill");
    grade_point(&g, issued && grade_is(&g, v.at, g.unit, 9), "VMM-UNMAP-IN-FLIGHT", "which is done",
                "the bytes of the fill are missing");
    vmm_memset_d8_async(g.sys, v.at, 9, g.unit, NULL); /* the next point reports a refusal */
    grade_ok(&g, vector_close(&v), "vector_close succeeds");
    grade_close(&g);
}

static void part_limit(const char *spec)
{
    struct grade g;
    struct vector v;
    if (!opens(&g, &v, spec, ""))
        return;
    bool ok = vector_resize(&v, 2 * g.unit) == VMM_SUCCESS;
    grade_point(&g, ok && grade_fill(&g, v.at, 2 * g.unit, 3), "EX-VECTOR-RIGHTS", "a vector of two units can be filled",
                "a fill of it was refused");
    const uint64_t sizes[] = {v.room + 1, UINT64_MAX, UINT64_MAX - g.unit / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        ok = ok && vector_resize(&v, sizes[i]) == VMM_ERROR_OUT_OF_MEMORY && is_backed(&g, &v, 2 * g.unit);
    grade_point(&g, ok && !g.reported.is, "EX-VECTOR-LIMIT", "more than room is refused without calling the driver",
                "a size above room was accepted, was passed to the driver, or changed the vector");
    grade_point(&g, grade_is(&g, v.at, 2 * g.unit, 3), "EX-VECTOR-BYTES", "bytes stay as they are", "they are others");
    vector_close(&v);
    grade_close(&g);
}

/* The device has no memory left. */
static void part_full(const char *spec)
{
    struct grade g;
    struct vector v;
    grade_open(&g, spec, "");
    if (!g.before || g.before > UINT64_C(1) << 30) {
        grade_skip("the device has no more memory", "needs a small machine of its own, sim:odd");
        grade_drop(&g);
        return;
    }
    bool ok =
        vector_open(&v, g.sys, g.device, g.before + 4 * g.unit) == VMM_SUCCESS && vector_resize(&v, g.unit) == VMM_SUCCESS;
    if (!grade_point(&g, ok, NULL, "a vector with room for more than the device has", "it was refused")) {
        grade_drop(&g);
        return;
    }
    g.expects = true;
    vmm_result got = vector_resize(&v, g.before + g.unit);
    grade_refused(&g, got, VMM_ERROR_OUT_OF_MEMORY, "EX-ERROR-PASSED", "the device has no more");
    grade_point(&g, is_backed(&g, &v, g.unit) && grade_uses(&g, g.unit), "EX-VECTOR-LIMIT",
                "units that were added earlier are freed again", "backed is %llu, expected %llu", (unsigned long long)v.backed,
                (unsigned long long)g.unit);
    vector_close(&v);
    grade_close(&g);
}

static void part_no_copies(const char *spec)
{
    struct grade g;
    struct vector v;
    if (!opens(&g, &v, spec, GRADE_NO_COPIES))
        return;
    bool ok = vector_resize(&v, g.unit) == VMM_SUCCESS && vector_resize(&v, 4 * g.unit) == VMM_SUCCESS &&
              vector_resize(&v, 2 * g.unit) == VMM_SUCCESS;
    grade_point(&g, ok && !g.injected, "EX-VECTOR-COPIES", "grows and shrinks on a machine where copies fail",
                "%s was called: the program moved bytes that could have stayed", g.injected ? g.failed : "another call");
    vector_close(&v);
    grade_drop(&g);
}

static void scenario(struct grade *g)
{
    struct vector v;
    if (!GRADE_TWICE(g, vector_open(&v, g->sys, g->device, UNITS * g->unit)))
        return;
    const uint64_t sizes[] = {g->unit, 4 * g->unit, g->unit + 1, 0, 2 * g->unit};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint64_t before = v.size;
        if (!GRADE_TRY(g, vector_resize(&v, sizes[i]))) {
            grade_holds(g, is_backed(g, &v, before), "the vector is as it was");
            if (!grade_again(g) || !GRADE_TRY(g, vector_resize(&v, sizes[i])))
                break;
        }
        grade_holds(g, is_backed(g, &v, sizes[i]), "it has the new size");
    }
    GRADE_TRY(g, vector_close(&v));
}

static void part_errors(const char *spec)
{
    grade_each_fault(spec, scenario);
}

const struct grade_part grade_parts[] = {
    {"open", part_open},     {"grow", part_grow},        {"no copies", part_no_copies},
    {"shrink", part_shrink}, {"in flight", part_flight}, {"limit", part_limit},
    {"full", part_full},     {"errors", part_errors},    {0},
};
