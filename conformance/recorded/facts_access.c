/* SPDX-License-Identifier: Apache-2.0 */
/* Rights: who may do what, whole mappings only, all or nothing. */
#include "facts_calls.h"
#include "facts_script.h"

#include <inttypes.h>

#define G FACTS_G
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE
#define HOST VMM_MEM_LOCATION_TYPE_HOST
#define NUMA VMM_MEM_LOCATION_TYPE_HOST_NUMA
#define CURRENT VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT

#define RW S_ON(0, S_WRITE)
#define RO S_ON(0, S_READ)
#define ONE(...) S_SET(__VA_ARGS__), .count = 1
#define TWO(...) S_SET(__VA_ARGS__), .count = 2

enum { H4, H1, H2, ALIAS };

static const struct facts_step setting[] = {
    {ONE("setaccess.unmapped", 0, G, RW)},
    {S_GET("getaccess.reserved_unmapped", 0, DEVICE, 0)},
    {S_SHOW("getaccess.reserved_unmapped.fl")},
    {S_MAP(NULL, 0, 4 * G, 0, H4)},
    {S_GET("getaccess.fresh", 0, DEVICE, 0)},
    {S_SHOW("getaccess.fresh.fl")},
    {S_SET("setaccess.count0", 0, 4 * G, RW), .count = 0},
    {S_SET("setaccess.null", 0, 4 * G, RW), .count = 1, .no_desc = true},
    {S_SET("setaccess.null0", 0, 4 * G, RW), .count = 0, .no_desc = true},
    {ONE("setaccess.size0", 0, 0, RW)},
    {ONE("setaccess.unaligned", 1, 4 * G - 1, RW)},
    {ONE("setaccess.size_un", 0, G + 4096, RW)},
    {ONE("setaccess.sub", 0, G, RW)},
    {S_PEEK("setaccess.sub.fl0", 0)},
    {S_PEEK("setaccess.sub.fl1", G)},
    {ONE("setaccess.sub_mid", G, 2 * G, RW)},
    {ONE("setaccess.past", 0, 5 * G, RW)},
    {ONE("setaccess.ok", 0, 4 * G, RW)},
};

static const struct facts_step getting[] = {
    {S_GET("getaccess.rw", 0, DEVICE, 0)},
    {S_SHOW("getaccess.rw.fl")},
    {S_GET("getaccess.interior", 12345, DEVICE, 0)},
    {S_SHOW("getaccess.interior.fl")},
    {S_GET("getaccess.past", 4 * G, DEVICE, 0)},
    {S_SHOW("getaccess.past.fl")},
    {S_GET("getaccess.ptr0", 0, DEVICE, 0), .nowhere = true},
    {S_GET("getaccess.unreserved", (uint64_t)1 << 36, DEVICE, 0)},
    {S_SHOW("getaccess.unreserved.fl")},
    {S_GET("getaccess.nullfl", 0, DEVICE, 0), .no_flags = true},
    {S_GET("getaccess.nulll", 0, DEVICE, 0), .no_desc = true},
    {S_GET("getaccess.id99", 0, DEVICE, 99)},
    {S_GET("getaccess.id-1", 0, DEVICE, -1)},
    {S_GET("getaccess.loc0", 0, 0, 0)},
    {S_GET("getaccess.host", 0, HOST, 0)},
    {S_SHOW("getaccess.host.fl")},
    {S_GET("getaccess.numa", 0, NUMA, 0)},
    {S_SHOW("getaccess.numa.fl")},
    {S_GET("getaccess.loc5", 0, 5, 0)},
};

static const struct facts_step descriptors[] = {
    {ONE("setaccess.fl2", 0, 4 * G, S_ON(0, 2))},
    {ONE("setaccess.fl4", 0, 4 * G, S_ON(0, 4))},
    {ONE("setaccess.fl7", 0, 4 * G, S_ON(0, 7))},
    {ONE("setaccess.read", 0, 4 * G, RO)},
    {S_PEEK("setaccess.read.fl", 0)},
    {ONE("setaccess.none", 0, 4 * G, S_ON(0, S_NONE))},
    {S_PEEK("setaccess.none.fl", 0)},
    {ONE("setaccess.id99", 0, 4 * G, S_ON(99, S_WRITE))},
    {ONE("setaccess.id-1", 0, 4 * G, S_ON(-1, S_WRITE))},
    {ONE("setaccess.loc0", 0, 4 * G, S_AT(0, 0, S_WRITE))},
    {ONE("setaccess.host_on_dev", 0, 4 * G, S_AT(HOST, 0, S_WRITE))},
    {ONE("setaccess.numa_on_dev", 0, 4 * G, S_AT(NUMA, 0, S_WRITE))},
    {ONE("setaccess.numacur_on_dev", 0, 4 * G, S_AT(CURRENT, 0, S_WRITE))},
    {ONE("setaccess.loc5", 0, 4 * G, S_AT(5, 0, S_WRITE))},
    {TWO("setaccess.dup_r_rw", 0, 4 * G, RO, RW)},
    {S_PEEK("setaccess.dup_r_rw.fl", 0)},
    {TWO("setaccess.dup_rw_r", 0, 4 * G, RW, RO)},
    {S_PEEK("setaccess.dup_rw_r.fl", 0)},
    {ONE(NULL, 0, 4 * G, RW)},
    {TWO("setaccess.one_bad", 0, 4 * G, RO, S_ON(99, S_WRITE))},
    {S_PEEK("setaccess.one_bad.fl(atomic=3)", 0)},
};

/* [4 G of H4][G of H1][ ][G of H2] */
static const struct facts_step spans[] = {
    {S_MAP(NULL, 4 * G, G, 0, H1)},
    {S_MAP(NULL, 6 * G, G, 0, H2)},
    {ONE("setaccess.two_maps", 0, 5 * G, RW)},
    {ONE("setaccess.with_hole", 4 * G, 3 * G, RO)},
    {S_PEEK("setaccess.with_hole.fl(atomic=3)", 4 * G)},
    {ONE("setaccess.partial_span", 3 * G, 2 * G, RO)},
    {S_PEEK("setaccess.partial_span.fl0", 0)},
    {S_PEEK("setaccess.partial_span.fl3", 3 * G)},
    {S_PEEK("setaccess.partial_span.fl4", 4 * G)},
    {S_UNMAP(NULL, 4 * G, G)},
    {S_MAP(NULL, 4 * G, G, 0, H1)},
    {S_GET("getaccess.remapped", 4 * G, DEVICE, 0)},
    {S_SHOW("getaccess.remapped.fl(0)")},
    {S_MAP(NULL, 8 * G, G, 0, ALIAS)},
    {S_MAP(NULL, 9 * G, G, 0, ALIAS)},
    {ONE(NULL, 8 * G, G, RW)},
    {ONE(NULL, 9 * G, G, RO)},
    {S_PEEK("alias.fl8(3)", 8 * G)},
    {S_PEEK("alias.fl9(1)", 9 * G)},
};

void facts_access(struct facts *f)
{
    struct facts_world world = {.p = fc_take(f, 16 * G)};
    world.handle[H4] = fc_make(f, 4 * G);
    world.handle[H1] = fc_make(f, G);
    world.handle[H2] = fc_make(f, G);
    world.handle[ALIAS] = fc_make(f, G);
    FACTS_SCRIPT(f, &world, setting);
    FACTS_SCRIPT(f, &world, getting);
    FACTS_SCRIPT(f, &world, descriptors);
    FACTS_SCRIPT(f, &world, spans);
    facts_setup(f, fc_fill(f, world.p + 8 * G, 0x5a, G), "fill through the writable alias");
    facts_value(f, "alias.read", "%x", fc_byte(f, world.p + 9 * G + 77));
}

static const struct facts_step span[] = {
    {S_MAP("span.map0", 0, G, 0, H4)},
    {S_MAP("span.map1", G, G, 0, H4)},
    {S_MAP("span.map2", 2 * G, G, 0, H4)},
    {S_MAP("span.map3", 3 * G, G, 0, H4)},
    {ONE("span.access_all", 0, 4 * G, RW)},
};

static const struct facts_step span_with_holes[] = {
    {S_UNMAP(NULL, G, G)},
    {ONE("span.access_hole_mid", 0, 4 * G, RO)},
    {ONE("span.access_lead_hole", G, 3 * G, RO)},
    {ONE("span.access_trail_hole", 0, 2 * G, RO)},
};

/* Four aliases of one G side by side. */
void facts_span(struct facts *f)
{
    struct facts_world world = {.p = fc_take(f, 8 * G)};
    world.handle[H4] = fc_make(f, G);
    uint64_t sum;
    FACTS_SCRIPT(f, &world, span);
    facts_result(f, fc_kernel_fill(f, world.p, 5, 4 * G), "span.kernel");
    FACTS_SCRIPT(f, &world, span_with_holes);
    facts_result(f, fc_kernel_sum(f, world.p, 4 * G, &sum), "span.kernel_over_hole");
    facts_result(f, fc_ctx_synchronize(f), "span.after");
}

static void multi_flags(struct facts *f, vmm_deviceptr p, const vmm_mem_access_desc *desc, uint64_t *flags)
{
    *flags = 9;
    facts_setup(f, fc_get_access(f, flags, &desc->location, p), "get access");
}

/* Two descriptors in one call: two devices, or the same one twice where there is only one. */
void facts_multi(struct facts *f)
{
    vmm_mem_access_desc both[2] = {RW, S_ON(f->devices > 1, S_READ)};
    vmm_deviceptr p = fc_take(f, G);
    uint64_t first, second;
    fc_put(f, p, G, fc_make(f, G));
    facts_result(f, fc_set_access(f, p, G, both, 2), "multi.set2");
    multi_flags(f, p, &both[0], &first);
    multi_flags(f, p, &both[1], &second);
    facts_value(f, "multi.flags", "%" PRIu64 " %" PRIu64, first, second);
    facts_result(f, fc_set_access(f, p, G, &both[1], 1), "multi.set_only1");
    multi_flags(f, p, &both[0], &first);
    facts_value(f, "multi.dev0_kept", "%" PRIu64, first);
}
