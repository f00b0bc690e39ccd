/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping and unmapping: sizes, offsets, overlaps, holes, seams between reservations. */
#include "facts_calls.h"
#include "facts_script.h"

#define G FACTS_G
#define FAR UINT64_MAX - (G - 1)

enum { H4, H1, H2 }; /* 4 G, G, G */

static const struct facts_step mapping[] = {
    {S_MAP("map.size0", 0, 0, 0, H4)},
    {S_MAP("map.size_un", 0, G + 4096, 0, H4)},
    {S_MAP("map.size_4096", 0, 4096, 0, H1)},
    {S_MAP("map.ptr_un", 4096, G, 0, H1)},
    {S_MAP("map.ptr_64k", 65536, G, 0, H1)},
    {S_MAP("map.off_un", 0, G, 4096, H4)},
    {S_MAP("map.flags1", 0, G, 0, H1), .flags = 1},
    {S_MAP("map.too_long", 0, 2 * G, 0, H1)},
    {S_MAP("map.off_eq_size", 0, G, G, H1)},
    {S_MAP("map.ptr0", 0, G, 0, H1), .nowhere = true},
    {S_MAP("map.outside", 16 * G, G, 0, H1)},
    {S_MAP("map.straddle_end", 15 * G, 4 * G, 0, H4)},
    {S_MAP("map.size_max", 0, FAR, G, H4)},
    {S_MAP("map.off_max", 0, G, FAR, H4)},
    {S_MAP("map.off_g", 0, G, G, H4)},
    {S_MAP("map.off_tail", G, G, 3 * G, H4)},
    {S_MAP("map.partial_first", 2 * G, G, 0, H4)},
    {S_MAP("map.partial2g_off1g", 3 * G, 2 * G, G, H4)},
    {S_MAP("map.off2_past_end", 8 * G, 3 * G, 2 * G, H4)},
    {S_MAP("map.exact_overlap", 0, G, 0, H1)},
    {S_MAP("map.same_again", 0, G, G, H4)},
    {S_UNMAP(NULL, 0, G)},
    {S_UNMAP(NULL, G, G)},
    {S_UNMAP(NULL, 2 * G, G)},
    {S_UNMAP(NULL, 3 * G, 2 * G)},
    {S_MAP("map.full", 0, 4 * G, 0, H4)},
    {S_MAP("map.overlap_mid", G, G, 0, H1)},
    {S_MAP("map.overlap_tail", 3 * G, 4 * G, 0, H4)},
    {S_MAP("map.overlap_last", 3 * G, G, 0, H1)},
    {S_MAP("map.alias", 4 * G, 4 * G, 0, H4)},
    {S_MAP("map.alias3", 8 * G, G, 0, H4)},
    {S_MAP("map.adjacent", 9 * G, G, 0, H1)},
};

/* Starts with what mapping left: [4 G][4 G alias][ ][G] and one across the end of the reservation. */
static const struct facts_step unmapping[] = {
    {S_UNMAP("unmap.sub_first", 0, G)},
    {S_UNMAP("unmap.sub_mid", G, 2 * G)},
    {S_UNMAP("unmap.sub_tail", 3 * G, G)},
    {S_UNMAP("unmap.too_long_into_unmapped", 9 * G, 2 * G)},
    {S_UNMAP("unmap.two_whole", 0, 8 * G)},
    {S_UNMAP("unmap.after_two_again", 0, 4 * G)},
    {S_UNMAP("unmap.alias3", 8 * G, G)},
    {S_UNMAP("unmap.adjacent", 9 * G, G)},
    {S_UNMAP("unmap.unmapped", 0, G)},
    {S_UNMAP("unmap.size0", 0, 0)},
    {S_UNMAP("unmap.unaligned", 1, G)},
    {S_UNMAP("unmap.ptr0", 0, G), .nowhere = true},
    {S_UNMAP("unmap.unreserved", 64 * G, G)},
    {S_MAP(NULL, 0, G, 0, H1)},
    {S_MAP(NULL, 2 * G, G, 0, H2)},
    {S_UNMAP("unmap.hole_between", 0, 3 * G)},
    {S_UNMAP("unmap.hole_between.again1", 0, G)},
    {S_UNMAP("unmap.hole_between.again2", 2 * G, G)},
    {S_MAP(NULL, 0, G, 0, H1)},
    {S_MAP(NULL, G, G, 0, H2)},
    {S_UNMAP("unmap.whole_plus_hole", 0, 16 * G)},
    {S_UNMAP("unmap.whole_plus_hole.a1", 0, G)},
    {S_UNMAP("unmap.whole_plus_hole.a2", G, G)},
    {S_MAP(NULL, 0, 4 * G, 0, H4)},
    {S_MAP(NULL, 4 * G, G, 0, H1)},
    {S_UNMAP("unmap.one_and_sub", 2 * G, 3 * G)},
    {S_UNMAP("unmap.g4096", 0, 4 * G + 4096)},
    {S_UNMAP("unmap.both", 0, 5 * G)},
};

/* Across two reservations [2 G][2 G] that touch. */
static const struct facts_step across[] = {
    {S_MAP("adj.map_across", 0, 4 * G, 0, H4)},
    {S_UNMAP(NULL, 0, 4 * G)},
    {S_MAP(NULL, G, G, 0, H1)},
    {S_MAP(NULL, 2 * G, G, 0, H2)},
    {S_SET("adj.setaccess_across", G, 2 * G, S_ON(0, S_WRITE)), .count = 1},
    {S_FILL("adj.memset_across", G, 2 * G)},
    {S_UNMAP("adj.unmap_across", G, 2 * G)},
    {S_UNMAP(NULL, G, G)},
    {S_UNMAP(NULL, 2 * G, G)},
    {S_FREE("adj.free_across", 0, 4 * G)},
};

static void adjacent(struct facts *f, struct facts_world *world)
{
    vmm_deviceptr x = fc_take(f, 4 * G), first = 0, second = 0;
    facts_setup(f, fc_free(f, x, 4 * G), "free");
    vmm_result a = fc_reserve(f, &first, 2 * G, 0, x, 0), b = fc_reserve(f, &second, 2 * G, 0, x + 2 * G, 0);
    facts_line(f, "adj", "%s %s %d %d", facts_code(a), facts_code(b), first == x, second == x + 2 * G);
    world->p = x;
    FACTS_SCRIPT(f, world, across);
}

static void on_ordinary_memory(struct facts *f, struct facts_world *world)
{
    vmm_deviceptr m = 0, odd = 0;
    vmm_mem_access_desc desc = fc_desc(0, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    facts_setup(f, fc_alloc(f, &m, 4 * G), "ordinary memory");
    facts_result(f, fc_map(f, (m + G - 1) & ~(G - 1), G, 0, world->handle[H1], 0), "map.on_cumemalloc");
    facts_result(f, fc_unmap(f, m, 4 * G), "unmap.on_cumemalloc");
    facts_result(f, fc_set_access(f, m, 4 * G, &desc, 1), "setaccess.on_cumemalloc");
    facts_result(f, fc_reserve(f, &odd, G + 65536, 0, 0, 0), "odd_reserve");
}

void facts_map(struct facts *f)
{
    struct facts_world world = {.p = 0};
    world.handle[H4] = fc_make(f, 4 * G);
    world.handle[H1] = fc_make(f, G);
    world.handle[H2] = fc_make(f, G);
    world.p = fc_take(f, 16 * G);
    FACTS_SCRIPT(f, &world, mapping);
    FACTS_SCRIPT(f, &world, unmapping);
    adjacent(f, &world);
    on_ordinary_memory(f, &world);
}

enum { S4, S64, S1 };

/* A mapping that runs past the end of its reservation of 16 G. */
static const struct facts_step straddle_small[] = {
    {S_MAP("straddle.beyond_start", 16 * G, G, 0, S1)},
    {S_MAP("straddle.map", 15 * G, 4 * G, 0, S4)},
    {S_SET("straddle.setaccess", 15 * G, 4 * G, S_ON(0, S_WRITE)), .count = 1},
    {S_FILL("straddle.memset", 15 * G, 4 * G)},
};

static const struct facts_step straddle_rest[] = {
    {S_FREE("straddle.free_while", 0, 16 * G)},
    {S_UNMAP("straddle.unmap", 15 * G, 4 * G)},
    {S_MAP("straddle.big", 8 * G, 64 * G, 0, S64)},
    {S_UNMAP("straddle.big_unmap", 8 * G, 64 * G)},
    {S_FREE("straddle.free", 0, 16 * G)},
    {S_MAP("straddle.map_after_free", 0, 4 * G, 0, S4)},
};

void facts_straddle(struct facts *f)
{
    struct facts_world world = {.p = fc_take(f, 16 * G)};
    vmm_deviceptr q = 0;
    uint64_t size = 0;
    world.handle[S4] = fc_make(f, 4 * G);
    world.handle[S64] = fc_make(f, 64 * G);
    world.handle[S1] = fc_make(f, G);
    FACTS_SCRIPT(f, &world, straddle_small);
    facts_result(f, fc_kernel_fill(f, world.p + 15 * G, 2, 4 * G), "straddle.kernel");
    facts_result(f, fc_reserve(f, &q, G, 0, world.p + 16 * G, 0), "straddle.reserve_hint_tail");
    facts_value(f, "straddle.tail_given", "%d", q == world.p + 16 * G);
    facts_setup(f, fc_range(f, &q, &size, world.p + 17 * G), "address range");
    facts_value(f, "straddle.range", "%lld", (long long)(world.p + 17 * G - q));
    FACTS_SCRIPT(f, &world, straddle_rest);
}
