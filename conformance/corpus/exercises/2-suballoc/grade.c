/* SPDX-License-Identifier: Apache-2.0 */
/* The grader of exercise 2. */
#include "../grader/grader.h"
#include "suballoc.h"

const struct grade_rule grade_rules[] = {
    {"EX-SUBALLOC-EXACT", "one piece of memory, rounded up to the minimum granularity, and one mapping",
     "call vmm_mem_get_allocation_granularity with MINIMUM; create, reserve and map that size once"},
    {"EX-SUBALLOC-RIGHTS", "the pool's device can read and write all of it, and no other device has access",
     "call vmm_mem_set_access for the whole mapping, only for the pool's device"},
    {"EX-SUBALLOC-HOST", "allocating and freeing blocks needs only the host",
     "keep the records of blocks in host memory, and call no vmm_ function"},
    {"EX-SUBALLOC-PLACE", "a block has the requested alignment, lies inside the pool, and overlaps no other",
     "round the address up, not the offset in a block; compare as size <= end - start, which cannot overflow"},
    {"EX-SUBALLOC-FULL", "a request is refused only when no free range is large enough",
     "check every free block, and take the padding for the alignment into account"},
    {"EX-SUBALLOC-MERGE", "adjacent free blocks are merged", "merge with the block before and with the one after"},
    {"EX-SUBALLOC-ARGUMENT",
     "a size of 0, a wrong alignment, an address that is not an allocated block: VMM_ERROR_INVALID_VALUE, nothing changed",
     "check before anything is written; identify each allocated block by its first byte"},
    {0},
};

enum { UNITS = 3, BLOCKS = 64 };

static bool opens(struct grade *g, struct suballoc *s, const char *spec, const char *layers)
{
    grade_open(g, spec, layers);
    if (grade_ok(g, suballoc_open(s, g->sys, g->device, UNITS * g->unit - 5), "suballoc_open succeeds"))
        return true;
    grade_drop(g);
    return false;
}

static void closes(struct grade *g, struct suballoc *s)
{
    grade_ok(g, suballoc_close(s), "suballoc_close succeeds");
    grade_close(g);
}

static void part_open(const char *spec)
{
    struct grade g;
    struct suballoc s;
    if (!opens(&g, &s, spec, ""))
        return;
    grade_point(&g, s.size == UNITS * g.unit && grade_uses(&g, s.size), "EX-SUBALLOC-EXACT",
                "it has the requested memory",
                "for 5 bytes less than %d units of %llu, size is %llu, or the device's free memory fell by a different "
                "amount", UNITS,
                (unsigned long long)g.unit, (unsigned long long)s.size);
    uint64_t block = grade_block(&g, s.at);
    grade_point(&g, block && grade_block(&g, s.at + s.size - 1) == block, "EX-SUBALLOC-EXACT", "in one piece",
                "its first and last byte belong to different pieces");
    bool rights = grade_others_have_none(&g, s.at, s.size);
    for (uint64_t unit = 0; unit < s.size; unit += g.unit)
        rights = rights && grade_rights(&g, g.device, s.at + unit) == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    grade_point(&g, rights, "EX-SUBALLOC-RIGHTS", "its device can read and write, and no other has access",
                "device %d has rights %d at the first byte", g.device, grade_rights(&g, g.device, s.at));
    grade_point(&g, grade_fill(&g, s.at, s.size, 5) && grade_is(&g, s.at, s.size, 5), NULL, "its bytes can be used",
                "they cannot");
    closes(&g, &s);
}

/* The grader's record of the blocks: a plain array. */
struct known {
    vmm_deviceptr at[BLOCKS];
    uint64_t size[BLOCKS];
    unsigned count;
};

static bool is_right(const struct suballoc *s, const struct known *k, vmm_deviceptr at, uint64_t size, uint64_t alignment)
{
    if (at % alignment || at < s->at || size > s->size || at - s->at > s->size - size)
        return false;
    for (unsigned i = 0; i < k->count; i++)
        if (at < k->at[i] + k->size[i] && k->at[i] < at + size)
            return false;
    return true;
}

/* Is there really no gap for it? Every gap begins at the start or after a block. */
static bool has_room(const struct suballoc *s, const struct known *k, uint64_t size, uint64_t alignment)
{
    for (unsigned i = 0; i <= k->count; i++) {
        vmm_deviceptr at = i < k->count ? k->at[i] + k->size[i] : s->at;
        if (is_right(s, k, (at + alignment - 1) / alignment * alignment, size, alignment))
            return true;
    }
    return false;
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Allocates and frees at random; every result is compared with the array. */
static void churn(struct grade *g, struct suballoc *s, struct known *k, unsigned steps)
{
    uint64_t state = 7;
    bool place = true, full = true, gives = true;
    unsigned taken = 0;
    for (unsigned step = 0; step < steps && place && full && gives; step++) {
        if (k->count == BLOCKS || (k->count && next(&state) % 3 == 0)) {
            unsigned i = (unsigned)(next(&state) % k->count);
            gives = suballoc_give(s, k->at[i]) == VMM_SUCCESS;
            k->count--;
            k->at[i] = k->at[k->count], k->size[i] = k->size[k->count];
            continue;
        }
        uint64_t size = 1 + next(&state) % (s->size / 8), alignment = UINT64_C(1) << next(&state) % 13;
        vmm_deviceptr at = 1;
        vmm_result got = suballoc_take(s, size, alignment, &at);
        if (got == VMM_SUCCESS) {
            place = is_right(s, k, at, size, alignment);
            k->at[k->count] = at, k->size[k->count++] = size;
            taken++;
        } else {
            full = got == VMM_ERROR_OUT_OF_MEMORY && at == 1 && !has_room(s, k, size, alignment);
        }
    }
    grade_point(g, place && taken > steps / 4, "EX-SUBALLOC-PLACE", "blocks are aligned, inside the range and do not overlap",
                "block %u of %u steps is not", taken, steps);
    grade_point(g, full && taken, "EX-SUBALLOC-FULL", "no request is refused while there is room", "with %u blocks allocated, "
                                                                                                   "one was",
                k->count);
    grade_point(g, gives && taken, "EX-SUBALLOC-ARGUMENT", "each can be freed",
                "suballoc_give refused an allocated block");
}

static void part_churn(const char *spec)
{
    struct grade g;
    struct suballoc s;
    struct known k = {.count = 0};
    vmm_deviceptr all = 0;
    if (!opens(&g, &s, spec, ""))
        return;
    churn(&g, &s, &k, 3000);
    bool given = true;
    for (unsigned i = 0; i < k.count; i++)
        given = given && suballoc_give(&s, k.at[i]) == VMM_SUCCESS;
    grade_point(&g, given && suballoc_take(&s, s.size, 1, &all) == VMM_SUCCESS && all == s.at, "EX-SUBALLOC-MERGE",
                "when all are freed, one block can take the whole", "it cannot: the pool stays fragmented");
    closes(&g, &s);
}

static void part_bytes(const char *spec)
{
    struct grade g;
    struct suballoc s;
    vmm_deviceptr at[4] = {0};
    bool ok = true;
    if (!opens(&g, &s, spec, ""))
        return;
    for (unsigned i = 0; i < 4; i++)
        ok = ok && suballoc_take(&s, 1000, 256, &at[i]) == VMM_SUCCESS && grade_fill(&g, at[i], 1000, (unsigned char)(i + 1));
    ok = ok && suballoc_give(&s, at[1]) == VMM_SUCCESS && suballoc_take(&s, 500, 8, &at[1]) == VMM_SUCCESS &&
         grade_fill(&g, at[1], 500, 2);
    for (unsigned i = 0; i < 4; i++)
        ok = ok && grade_is(&g, at[i], i == 1 ? 500 : 1000, (unsigned char)(i + 1));
    grade_point(&g, ok, "EX-SUBALLOC-PLACE", "adjacent blocks keep their bytes",
                "a block has another block's bytes, or was not allocated");
    closes(&g, &s);
}

static bool refuses(struct suballoc *s, uint64_t size, uint64_t alignment, vmm_result want)
{
    vmm_deviceptr at = 99;
    return suballoc_take(s, size, alignment, &at) == want && at == 99;
}

static void part_arguments(const char *spec)
{
    struct grade g;
    struct suballoc s;
    vmm_deviceptr at = 0;
    if (!opens(&g, &s, spec, ""))
        return;
    const vmm_result invalid = VMM_ERROR_INVALID_VALUE, full = VMM_ERROR_OUT_OF_MEMORY;
    bool taken = suballoc_take(&s, 4096, 4096, &at) == VMM_SUCCESS;
    grade_point(&g, taken && refuses(&s, 0, 1, invalid), "EX-SUBALLOC-ARGUMENT", "a size of 0 is refused",
                "it was not, or *at was written");
    grade_point(&g, taken && refuses(&s, 8, 0, invalid) && refuses(&s, 8, 24, invalid) && refuses(&s, 8, 2 * g.unit, invalid),
                "EX-SUBALLOC-ARGUMENT", "an alignment of 0, 24, or above the granularity is refused",
                "one of them was not, or *at was written");
    grade_point(&g,
                refuses(&s, s.size, 1, full) && refuses(&s, UINT64_MAX, 1, full) && refuses(&s, UINT64_MAX - 4096, 4096, full),
                "EX-SUBALLOC-PLACE", "a request for more than is free fails with out of memory",
                "a size near 2^64 or of the whole pool was not, or *at was written");
    grade_point(&g,
                suballoc_give(&s, at + 1) == invalid && suballoc_give(&s, s.at + s.size) == invalid &&
                    suballoc_give(&s, 0) == invalid,
                "EX-SUBALLOC-ARGUMENT", "an address that is not a block's first byte is refused", "one of them was accepted");
    grade_point(&g, taken && suballoc_give(&s, at) == VMM_SUCCESS && suballoc_give(&s, at) == invalid, "EX-SUBALLOC-ARGUMENT",
                "a block can be freed only once", "freeing it twice was not refused, or freeing it once was");
    grade_point(&g, suballoc_take(&s, s.size, 1, &at) == VMM_SUCCESS, "EX-SUBALLOC-MERGE", "and no memory is lost by all that",
                "the whole pool can no longer be allocated");
    closes(&g, &s);
}

/* A machine that fails once the pool is open, so that any call of it is noticed. */
static void part_host_alone(const char *spec)
{
    struct grade g;
    struct suballoc s;
    vmm_deviceptr at[8] = {0};
    grade_open(&g, spec,
               "fault=memset_d8:1:UNKNOWN:forever | " GRADE_NO_COPIES
               "fault=mem_create:2:UNKNOWN:forever | fault=mem_map:2:UNKNOWN:forever | fault=mem_unmap:2:UNKNOWN:forever | ");
    bool ok = suballoc_open(&s, g.sys, g.device, UNITS * g.unit) == VMM_SUCCESS;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 8; i++)
            ok = ok && suballoc_take(&s, 4000, 16, &at[i]) == VMM_SUCCESS;
        for (unsigned i = 0; i < 8; i++)
            ok = ok && suballoc_give(&s, at[(i * 3) % 8]) == VMM_SUCCESS;
    }
    grade_point(&g, ok && !g.injected, "EX-SUBALLOC-HOST", "blocks are allocated and freed without the driver",
                "%s was needed for it", g.injected ? g.failed : "something that failed");
    if (ok)
        suballoc_close(&s);
    grade_drop(&g);
}

static void part_flight(const char *spec)
{
    struct grade g;
    struct suballoc s;
    vmm_deviceptr at = 0;
    if (!opens(&g, &s, spec, ""))
        return;
    bool issued =
        suballoc_take(&s, g.unit, 8, &at) == VMM_SUCCESS && vmm_memset_d8_async(g.sys, at, 9, g.unit, NULL) == VMM_SUCCESS;
    grade_point(&g, issued, NULL, "work is issued", "no block, or a fill of it was refused");
    grade_ok(&g, suballoc_close(&s), "suballoc_close succeeds");
    grade_point(&g, !g.reported.is, "VMM-UNMAP-IN-FLIGHT", "it waits for work in flight",
                "memory was unmapped under an unfinished fill");
    grade_close(&g);
}

static void scenario(struct grade *g)
{
    struct suballoc s;
    vmm_deviceptr at = 0;
    if (!GRADE_TWICE(g, suballoc_open(&s, g->sys, g->device, UNITS * g->unit)))
        return;
    if (GRADE_TWICE(g, suballoc_take(&s, g->unit, 8, &at)))
        grade_holds(g, grade_uses(g, UNITS * g->unit), "memory for the pool, allocated once");
    GRADE_TRY(g, suballoc_close(&s));
}

static void part_errors(const char *spec)
{
    grade_each_fault(spec, scenario);
}

const struct grade_part grade_parts[] = {
    {"open", part_open},
    {"churn", part_churn},
    {"bytes", part_bytes},
    {"arguments", part_arguments},
    {"host alone", part_host_alone},
    {"in flight", part_flight},
    {"errors", part_errors},
    {0},
};
