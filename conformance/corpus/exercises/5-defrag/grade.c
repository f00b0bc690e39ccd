/* SPDX-License-Identifier: Apache-2.0 */
/* The grader of exercise 5. */
#include "../grader/grader.h"
#include "defrag.h"

const struct grade_rule grade_rules[] = {
    {"EX-DEFRAG-PLACE", "the pieces lie one after another from start on, in their order",
     "the next address is where the previous piece ends; update `at` when the piece is mapped there"},
    {"EX-DEFRAG-COPIES", "no byte is copied and no memory is created", "unmap the piece, and map its handle at the new address"},
    {"EX-DEFRAG-BYTES", "every piece keeps its bytes", "map each handle at its own new address; wait for in-flight work first"},
    {"EX-DEFRAG-RIGHTS", "every piece keeps its rights, and no other device gets any",
     "a new mapping has no rights: grant the piece's rights to its one device"},
    {"EX-DEFRAG-STAYS", "pieces at the right address are left alone", "compare the address with the target before unmapping"},
    {0},
};

enum { PIECES = 4, UNITS = 13 };

/* The initial positions of the pieces, in units; B is read-only, and C moves to where B was. */
static const struct {
    unsigned at, units;
    vmm_mem_access_flags rights;
} plan[PIECES] = {{1, 1, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE},
                  {3, 3, VMM_MEM_ACCESS_FLAGS_PROT_READ},
                  {6, 2, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE},
                  {10, 3, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE}};

struct region {
    vmm_deviceptr start;
    struct piece pieces[PIECES];
    uint64_t blocks[PIECES];
};

static bool make_piece(struct grade *g, struct region *r, unsigned i, bool filled)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, g->device}};
    vmm_mem_access_desc access = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    struct piece *piece = &r->pieces[i];
    *piece = (struct piece){r->start + plan[i].at * g->unit, plan[i].units * g->unit, 0, plan[i].rights};
    bool made = vmm_mem_create(g->sys, &piece->memory, piece->size, &prop, 0) == VMM_SUCCESS &&
                vmm_mem_map(g->sys, piece->at, piece->size, 0, piece->memory, 0) == VMM_SUCCESS &&
                vmm_mem_set_access(g->sys, piece->at, piece->size, &access, 1) == VMM_SUCCESS &&
                (!filled || grade_fill(g, piece->at, piece->size, (unsigned char)(i + 1)));
    access.flags = piece->rights;
    r->blocks[i] = grade_block(g, piece->at);
    return made && vmm_mem_set_access(g->sys, piece->at, piece->size, &access, 1) == VMM_SUCCESS;
}

static bool make(struct grade *g, struct region *r, bool filled)
{
    bool made = vmm_mem_address_reserve(g->sys, &r->start, UNITS * g->unit, 0, 0, 0) == VMM_SUCCESS;
    for (unsigned i = 0; i < PIECES; i++)
        made = made && make_piece(g, r, i, filled);
    return made;
}

static void give_back(struct grade *g, struct region *r)
{
    for (unsigned i = 0; i < PIECES; i++) {
        if (grade_block(g, r->pieces[i].at))
            vmm_mem_unmap(g->sys, r->pieces[i].at, r->pieces[i].size);
        vmm_mem_release(g->sys, r->pieces[i].memory);
    }
    vmm_mem_address_free(g->sys, r->start, UNITS * g->unit);
}

static void opens(struct grade *g, struct region *r, const char *spec, const char *layers)
{
    grade_open(g, spec, layers);
    if (!make(g, r, true))
        tap_bail("the pieces cannot be created on %s", spec);
}

static vmm_result compact(struct grade *g, struct region *r)
{
    return defrag_compact(g->sys, g->device, r->start, r->pieces, PIECES);
}

static bool in_place(const struct region *r)
{
    vmm_deviceptr to = r->start;
    for (unsigned i = 0; i < PIECES; to += r->pieces[i++].size)
        if (r->pieces[i].at != to)
            return false;
    return true;
}

/* Every piece is at its `at`: the same memory, all of it. */
static bool is_whole(struct grade *g, const struct region *r)
{
    for (unsigned i = 0; i < PIECES; i++)
        for (uint64_t offset = 0; offset < r->pieces[i].size; offset += g->unit)
            if (grade_block(g, r->pieces[i].at + offset) != r->blocks[i])
                return false;
    return true;
}

static bool has_rights(struct grade *g, const struct region *r)
{
    for (unsigned i = 0; i < PIECES; i++)
        if (grade_rights(g, g->device, r->pieces[i].at) != plan[i].rights ||
            !grade_others_have_none(g, r->pieces[i].at, r->pieces[i].size))
            return false;
    return true;
}

static bool has_bytes(struct grade *g, const struct region *r)
{
    for (unsigned i = 0; i < PIECES; i++)
        if (!grade_is(g, r->pieces[i].at, r->pieces[i].size, (unsigned char)(i + 1)))
            return false;
    return true;
}

static bool nothing_behind(struct grade *g, const struct region *r)
{
    for (unsigned unit = 9; unit < UNITS; unit++)
        if (grade_block(g, r->start + unit * g->unit))
            return false;
    return true;
}

static void part_compact(const char *spec)
{
    struct grade g;
    struct region r;
    opens(&g, &r, spec, "");
    if (!grade_ok(&g, compact(&g, &r), "defrag_compact succeeds")) {
        grade_drop(&g);
        return;
    }
    grade_point(&g, in_place(&r), "EX-DEFRAG-PLACE", "the pieces are adjacent",
                "a piece's `at` is not where the previous one ends");
    grade_point(&g, is_whole(&g, &r), "EX-DEFRAG-COPIES", "they are the same memory",
                "other memory, or none, is mapped at a piece's `at`");
    grade_point(&g, nothing_behind(&g, &r), "EX-DEFRAG-PLACE", "and nothing is mapped after them",
                "an old mapping still exists");
    grade_point(&g, has_rights(&g, &r), "EX-DEFRAG-RIGHTS", "with their rights",
                "rights of the four at their first bytes: %d %d %d %d, expected 3 1 3 3",
                grade_rights(&g, g.device, r.pieces[0].at), grade_rights(&g, g.device, r.pieces[1].at),
                grade_rights(&g, g.device, r.pieces[2].at), grade_rights(&g, g.device, r.pieces[3].at));
    grade_point(&g, has_bytes(&g, &r), "EX-DEFRAG-BYTES", "and their bytes", "a piece has lost its bytes, or cannot be read");
    grade_ok(&g, compact(&g, &r), "once more changes nothing");
    give_back(&g, &r);
    grade_close(&g);
}

static void part_nothing_made(const char *spec)
{
    struct grade g;
    struct region r;
    opens(&g, &r, spec, GRADE_NO_COPIES "fault=mem_create:5:UNKNOWN:forever | fault=mem_alloc:1:UNKNOWN:forever | ");
    vmm_result got = compact(&g, &r);
    grade_point(&g, got == VMM_SUCCESS && in_place(&r) && is_whole(&g, &r) && !g.injected, "EX-DEFRAG-COPIES",
                "moves on a machine where copies and allocations fail", "%s was needed", g.injected ? g.failed : "another call");
    grade_drop(&g);
}

/* Two adjacent pieces, on a machine where unmapping fails. */
static void part_stays(const char *spec)
{
    struct grade g;
    struct region r;
    opens(&g, &r, spec, "fault=mem_unmap:1:UNKNOWN:forever | ");
    vmm_result got = defrag_compact(g.sys, g.device, r.pieces[1].at, &r.pieces[1], 2);
    grade_point(&g, got == VMM_SUCCESS && !g.injected, "EX-DEFRAG-STAYS", "pieces at the right address are left alone",
                "it was unmapped");
    grade_drop(&g);
}

static void part_flight(const char *spec)
{
    struct grade g;
    struct region r;
    opens(&g, &r, spec, "");
    bool issued = vmm_memset_d8_async(g.sys, r.pieces[3].at, 4, r.pieces[3].size, NULL) == VMM_SUCCESS;
    vmm_result got = compact(&g, &r);
    grade_point(&g, issued && got == VMM_SUCCESS && !g.reported.is, "VMM-UNMAP-IN-FLIGHT", "it waits for work in flight",
                "a piece was moved under an unfinished fill");
    grade_point(&g, issued && got == VMM_SUCCESS && has_bytes(&g, &r), "EX-DEFRAG-BYTES", "whose bytes are there",
                "they are not");
    grade_drop(&g);
}

static void scenario(struct grade *g)
{
    struct region r;
    bool made = make(g, &r, false);
    grade_ready(g);
    if (!made)
        return; /* a call of the grader's own was the one to fail */
    g->strict = true;
    bool done = GRADE_TRY(g, compact(g, &r));
    if (!done) {
        grade_holds(g, is_whole(g, &r), "every piece is mapped at its `at`");
        grade_holds(g, has_rights(g, &r), "every piece has its rights");
        done = grade_again(g) && GRADE_TRY(g, compact(g, &r));
    }
    if (done)
        grade_holds(g, in_place(&r) && is_whole(g, &r) && has_rights(g, &r), "all pieces are at their addresses");
    grade_ready(g);
    g->strict = false;
    give_back(g, &r);
}

static void part_errors(const char *spec)
{
    grade_each_fault(spec, scenario);
}

const struct grade_part grade_parts[] = {
    {"compact", part_compact}, {"nothing made", part_nothing_made},
    {"stays", part_stays},     {"in flight", part_flight},
    {"errors", part_errors},   {0},
};
