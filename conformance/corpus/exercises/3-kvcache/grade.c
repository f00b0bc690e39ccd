/* SPDX-License-Identifier: Apache-2.0 */
/* The grader of exercise 3. */
#include "../grader/grader.h"
#include "kvcache.h"

const struct grade_rule grade_rules[] = {
    {"EX-KV-DEMAND", "a page gets memory when it is needed, not before",
     "reserve for all sequences at open; create and map in grow, a page of the minimum granularity at a time"},
    {"EX-KV-BYTES", "a sequence's existing pages keep their contents and addresses", "map only after the pages that the "
                                                                                     "sequence has"},
    {"EX-KV-RIGHTS",
     "the device can read and write a sequence's own pages, and only read shared ones; no other device has access",
     "call vmm_mem_set_access for each mapping, with READ if it shows another sequence's page"},
    {"EX-KV-REUSE", "free pages are reused before new ones are created",
     "keep the handle of a page until trim, and map it again"},
    {"EX-KV-BUDGET", "there are never more pages than the budget",
     "count used and free pages; refuse, and unmap what this call mapped"},
    {"EX-KV-COPIES", "sharing copies no bytes", "map the same handle a second time"},
    {"EX-KV-USERS", "a page is free as soon as no sequence uses it, not earlier", "count the sequences of each page"},
    {"EX-KV-TRIM", "trim returns exactly the free pages to the device",
     "release each free page's handle with vmm_mem_release, and forget it"},
    {"EX-KV-ARGUMENT", "an invalid request is VMM_ERROR_INVALID_VALUE, and changes nothing",
     "check all arguments before the first call of the driver"},
    {0},
};

enum { SEQUENCES = 4, MOST = 4, BUDGET = 6 };

static bool opens(struct grade *g, struct kvcache *k, const char *spec, const char *layers)
{
    grade_open(g, spec, layers);
    if (grade_ok(g, kvcache_open(k, g->sys, g->device, SEQUENCES, MOST, BUDGET), "kvcache_open succeeds"))
        return true;
    grade_drop(g);
    return false;
}

static void closes(struct grade *g, struct kvcache *k)
{
    grade_ok(g, kvcache_close(k), "kvcache_close succeeds");
    grade_close(g);
}

static vmm_deviceptr at(const struct kvcache *k, unsigned sequence, unsigned page)
{
    return k->at + ((uint64_t)sequence * MOST + page) * k->unit;
}

/* The sequence has that many pages with these rights, and nothing is mapped after them. */
static bool has(struct grade *g, const struct kvcache *k, unsigned sequence, unsigned pages, vmm_mem_access_flags rights)
{
    for (unsigned i = 0; i < MOST; i++)
        if (grade_rights(g, g->device, at(k, sequence, i)) != (i < pages ? rights : 0) ||
            !grade_block(g, at(k, sequence, i)) != (i >= pages))
            return false;
    return grade_others_have_none(g, at(k, sequence, 0), pages * g->unit);
}

static const vmm_mem_access_flags write = VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, read = VMM_MEM_ACCESS_FLAGS_PROT_READ;

static void part_demand(const char *spec)
{
    struct grade g;
    struct kvcache k;
    if (!opens(&g, &k, spec, ""))
        return;
    const uint64_t unit = g.unit;
    bool demand = grade_uses(&g, 0) && k.unit == unit, bytes = true, rights = true;
    const struct {
        unsigned sequence, pages;
        uint64_t bytes;
    } steps[] = {{1, 1, 1}, {3, 2, unit + 1}, {1, 2, 2 * unit}, {1, 2, unit}, {0, 1, unit}};
    const uint64_t used[] = {1, 3, 4, 4, 5};
    bool ok = true;
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0] && ok; i++) {
        unsigned old = 0;
        while (old < MOST && grade_block(&g, at(&k, steps[i].sequence, old)))
            old++;
        ok = kvcache_grow(&k, steps[i].sequence, steps[i].bytes) == VMM_SUCCESS;
        demand = demand && grade_uses(&g, used[i] * unit);
        rights = rights && has(&g, &k, steps[i].sequence, steps[i].pages, write);
        for (unsigned page = old; page < steps[i].pages; page++)
            bytes = bytes &&
                    grade_fill(&g, at(&k, steps[i].sequence, page), unit, (unsigned char)(10 * steps[i].sequence + page + 1));
    }
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++)
        for (unsigned page = 0; page < steps[i].pages; page++)
            bytes = bytes &&
                    grade_is(&g, at(&k, steps[i].sequence, page), unit, (unsigned char)(10 * steps[i].sequence + page + 1));
    grade_point(&g, ok, NULL, "sequences grow", "a growth within most and budget was refused");
    grade_point(&g, ok && rights, "EX-KV-RIGHTS", "the device can read and write their pages, and no other has access",
                "a page has the wrong rights, or is not mapped");
    grade_point(&g, ok && bytes, "EX-KV-BYTES", "bytes stay as they are",
                "a page has lost the bytes that were written, or cannot be used");
    grade_point(&g, ok && demand, "EX-KV-DEMAND", "memory comes page by page",
                "the device's free memory fell by a different amount than the pages need, or a page does not have the minimum "
                "granularity");
    closes(&g, &k);
}

static void part_limits(const char *spec)
{
    struct grade g;
    struct kvcache k;
    if (!opens(&g, &k, spec, ""))
        return;
    const vmm_result invalid = VMM_ERROR_INVALID_VALUE;
    bool ok = kvcache_grow(&k, 0, g.unit) == VMM_SUCCESS;
    grade_point(&g, ok && kvcache_grow(&k, SEQUENCES, 1) == invalid && kvcache_drop(&k, SEQUENCES) == invalid, "EX-KV-ARGUMENT",
                "a sequence that does not exist is refused", "it was not");
    grade_point(&g,
                ok && kvcache_grow(&k, 0, MOST * g.unit + 1) == invalid && kvcache_grow(&k, 0, UINT64_MAX) == invalid &&
                    has(&g, &k, 0, 1, write),
                "EX-KV-ARGUMENT", "growing a sequence beyond its maximum number of pages is refused", "it was not, or the "
                    "sequence has changed");
    grade_point(&g,
                ok && kvcache_share(&k, 0, 1, 2) == invalid && kvcache_share(&k, 0, 0, 1) == invalid &&
                    kvcache_share(&k, 1, 0, 0) == invalid && kvcache_share(&k, 0, SEQUENCES, 1) == invalid &&
                    kvcache_share(&k, SEQUENCES, 1, 0) == invalid,
                "EX-KV-ARGUMENT", "sharing missing pages, or sharing into a sequence that is not empty, is refused", "it was "
                                                                                                                     "not");
    ok = ok && kvcache_grow(&k, 1, MOST * g.unit) == VMM_SUCCESS;
    grade_point(&g, ok && kvcache_grow(&k, 2, 3 * g.unit) == VMM_ERROR_OUT_OF_MEMORY && has(&g, &k, 2, 0, 0), "EX-KV-BUDGET",
                "growing beyond the budget is refused, and leaves nothing mapped",
                "it was not, or pages of the refused growth are mapped");
    grade_point(&g,
                ok && kvcache_grow(&k, 2, g.unit) == VMM_SUCCESS && kvcache_grow(&k, 3, g.unit) == VMM_ERROR_OUT_OF_MEMORY &&
                    grade_uses(&g, BUDGET * g.unit),
                "EX-KV-BUDGET", "the whole budget can be used", "it cannot, or more than that is used");
    grade_point(&g, ok && kvcache_drop(&k, 1) == VMM_SUCCESS && kvcache_grow(&k, 3, MOST * g.unit) == VMM_SUCCESS,
                "EX-KV-REUSE", "and the dropped pages can be used again", "the pages of a dropped sequence cannot be reused");
    closes(&g, &k);
}

/* A machine that creates three pieces of memory and then fails. */
static void part_reuse(const char *spec)
{
    struct grade g;
    struct kvcache k;
    if (!opens(&g, &k, spec, "fault=mem_create:4:UNKNOWN:forever | "))
        return;
    bool ok = kvcache_grow(&k, 0, 3 * g.unit) == VMM_SUCCESS && kvcache_drop(&k, 0) == VMM_SUCCESS && has(&g, &k, 0, 0, 0);
    grade_point(&g, ok, NULL, "three pages are allocated and dropped",
                "a call was refused, or pages of a dropped sequence are mapped");
    grade_point(
        &g, ok && kvcache_grow(&k, 1, 2 * g.unit) == VMM_SUCCESS && kvcache_grow(&k, 2, g.unit) == VMM_SUCCESS && !g.injected,
        "EX-KV-REUSE", "and used again", "new memory was created although free pages existed");
    closes(&g, &k);
}

static void part_share(const char *spec)
{
    struct grade g;
    struct kvcache k;
    if (!opens(&g, &k, spec, ""))
        return;
    const uint64_t unit = g.unit;
    bool ok = kvcache_grow(&k, 0, 2 * unit) == VMM_SUCCESS && grade_fill(&g, at(&k, 0, 0), 2 * unit, 4) &&
              kvcache_share(&k, 0, 1, 2) == VMM_SUCCESS;
    grade_point(&g, ok && has(&g, &k, 1, 2, read) && has(&g, &k, 0, 2, write), "EX-KV-RIGHTS",
                "shared pages can be read, and written only through their first owner",
                "the rights of the two are %d and %d at their first page", grade_rights(&g, g.device, at(&k, 0, 0)),
                grade_rights(&g, g.device, at(&k, 1, 0)));
    grade_point(&g, ok && grade_block(&g, at(&k, 0, 1)) == grade_block(&g, at(&k, 1, 1)) && grade_uses(&g, 2 * unit),
                "EX-KV-COPIES", "they are the same memory", "other memory lies there, or more is used");
    grade_point(&g, ok && grade_is(&g, at(&k, 1, 0), 2 * unit, 4), "EX-KV-BYTES", "with the same bytes",
                "the bytes differ, or cannot be read");
    ok = ok && kvcache_grow(&k, 1, 3 * unit) == VMM_SUCCESS && grade_fill(&g, at(&k, 1, 2), unit, 5);
    grade_point(&g, ok && grade_rights(&g, g.device, at(&k, 1, 1)) == read && grade_uses(&g, 3 * unit), "EX-KV-RIGHTS",
                "after them a sequence has its own pages", "the next page cannot be written, or a shared one can");
    ok = ok && kvcache_drop(&k, 0) == VMM_SUCCESS && kvcache_grow(&k, 2, 2 * unit) == VMM_SUCCESS &&
         grade_fill(&g, at(&k, 2, 0), 2 * unit, 6);
    grade_point(&g, ok && grade_is(&g, at(&k, 1, 0), 2 * unit, 4) && grade_is(&g, at(&k, 1, 2), unit, 5), "EX-KV-USERS",
                "a shared page stays when the other sequence is dropped",
                "its bytes were overwritten: it was free while a sequence had it");
    ok = ok && kvcache_drop(&k, 1) == VMM_SUCCESS && kvcache_drop(&k, 2) == VMM_SUCCESS &&
         kvcache_grow(&k, 3, MOST * unit) == VMM_SUCCESS;
    grade_point(&g, ok && grade_uses(&g, 5 * unit), "EX-KV-USERS", "and it is free once both are dropped",
                "new pages were created although free ones existed");
    closes(&g, &k);
}

static void part_no_copies(const char *spec)
{
    struct grade g;
    struct kvcache k;
    if (!opens(&g, &k, spec, GRADE_NO_COPIES))
        return;
    bool ok = kvcache_grow(&k, 0, 2 * g.unit) == VMM_SUCCESS && kvcache_share(&k, 0, 1, 2) == VMM_SUCCESS &&
              kvcache_drop(&k, 0) == VMM_SUCCESS;
    grade_point(&g, ok && !g.injected, "EX-KV-COPIES", "grows, shares and drops on a machine where copies fail", "%s was needed",
                g.injected ? g.failed : "another call");
    kvcache_close(&k);
    grade_drop(&g);
}

static void part_trim(const char *spec)
{
    struct grade g;
    struct kvcache k;
    if (!opens(&g, &k, spec, ""))
        return;
    bool ok = kvcache_grow(&k, 0, 3 * g.unit) == VMM_SUCCESS && kvcache_grow(&k, 1, g.unit) == VMM_SUCCESS &&
              grade_fill(&g, at(&k, 1, 0), g.unit, 8) && kvcache_drop(&k, 0) == VMM_SUCCESS && grade_uses(&g, 4 * g.unit);
    grade_point(&g, ok, "EX-KV-REUSE", "dropped pages are kept", "they were freed before trim, or a call was refused");
    grade_point(&g, ok && kvcache_trim(&k) == VMM_SUCCESS && grade_uses(&g, g.unit), "EX-KV-TRIM", "trim returns free pages",
                "the device did not get their memory back");
    grade_point(&g, ok && grade_is(&g, at(&k, 1, 0), g.unit, 8), "EX-KV-TRIM", "and leaves used ones",
                "a page that a sequence uses is gone");
    ok = ok && kvcache_trim(&k) == VMM_SUCCESS && kvcache_grow(&k, 2, 3 * g.unit) == VMM_SUCCESS &&
         kvcache_drop(&k, 1) == VMM_SUCCESS && kvcache_trim(&k) == VMM_SUCCESS;
    grade_point(&g, ok && grade_uses(&g, 3 * g.unit), "EX-KV-TRIM", "after it everything still works",
                "a trimmed page is treated as if it still existed");
    closes(&g, &k);
}

static void part_flight(const char *spec)
{
    struct grade g;
    struct kvcache k;
    if (!opens(&g, &k, spec, ""))
        return;
    bool ok = kvcache_grow(&k, 2, 2 * g.unit) == VMM_SUCCESS &&
              vmm_memset_d8_async(g.sys, at(&k, 2, 0), 9, 2 * g.unit, NULL) == VMM_SUCCESS;
    grade_point(&g, ok && kvcache_drop(&k, 2) == VMM_SUCCESS && !g.reported.is, "VMM-UNMAP-IN-FLIGHT",
                "dropping waits for work in flight",
                "pages were unmapped under an unfinished fill, or the fill was refused");
    ok = kvcache_grow(&k, 1, g.unit) == VMM_SUCCESS && vmm_memset_d8_async(g.sys, at(&k, 1, 0), 9, g.unit, NULL) == VMM_SUCCESS;
    grade_ok(&g, kvcache_close(&k), "kvcache_close succeeds");
    grade_point(&g, ok && !g.reported.is, "VMM-UNMAP-IN-FLIGHT", "and so does closing",
                "pages were unmapped under an unfinished fill");
    grade_close(&g);
}

/* One operation in a scenario: the sequence's pages before and after it. */
static bool step(struct grade *g, const struct kvcache *k, unsigned sequence, unsigned before, unsigned after,
                 vmm_mem_access_flags rights, bool done)
{
    grade_holds(g, has(g, k, sequence, done ? after : before, rights),
                done ? "the sequence is as it should be" : "the sequence is as it was");
    return done;
}

#define STEP(sequence, before, after, rights, call)                                \
    (step(g, &k, (sequence), (before), (after), (rights), GRADE_TRY(g, (call))) || \
     (grade_again(g) && step(g, &k, (sequence), (before), (after), (rights), GRADE_TRY(g, (call)))))

static void scenario(struct grade *g)
{
    struct kvcache k;
    if (!GRADE_TWICE(g, kvcache_open(&k, g->sys, g->device, SEQUENCES, MOST, BUDGET)))
        return;
    bool ok = STEP(0, 0, 2, write, kvcache_grow(&k, 0, 2 * g->unit)) && STEP(1, 0, 2, read, kvcache_share(&k, 0, 1, 2)) &&
              STEP(0, 2, 0, write, kvcache_drop(&k, 0)) && STEP(1, 2, 0, read, kvcache_drop(&k, 1)) &&
              STEP(2, 0, 3, write, kvcache_grow(&k, 2, 3 * g->unit));
    if (ok && GRADE_TWICE(g, kvcache_trim(&k)))
        grade_holds(g, has(g, &k, 2, 3, write), "trimming keeps the pages in use");
    GRADE_TRY(g, kvcache_close(&k));
}

static void part_errors(const char *spec)
{
    grade_each_fault(spec, scenario);
}

const struct grade_part grade_parts[] = {
    {"demand", part_demand},    {"limits", part_limits},       {"reuse", part_reuse},
    {"share", part_share},      {"no copies", part_no_copies}, {"trim", part_trim},
    {"in flight", part_flight}, {"errors", part_errors},       {0},
};
