/* SPDX-License-Identifier: Apache-2.0 */
/* Group E: cuMemGetAccess. Part of ../edges.c, which includes it. */

static void e_case(const char *id, CUdeviceptr p, int type, int loc_id)
{
    u64 f = 99;
    CUmemLocation l = loc_at(type, loc_id);
    RV(id, cuMemGetAccess(&f, &l, p), "=%llu", f);
}

static void e_order(void)
{
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make(G));
    give(p, G, L_DEVICE, RW);
    const struct {
        const char *name;
        int type, id;
    } locs[] = {{"dev0", 1, 0},   {"dev99", 1, 99}, {"dev-1", 1, -1},      {"host", 2, 0},
                {"numa0", 3, 0},  {"numa99", 3, 99}, {"numa-1", 3, -1},    {"host99", 2, 99},
                {"host-1", 2, -1}, {"numa_current", 4, 0}, {"loc0", 0, 0}, {"loc5", 5, 0}};
    const struct {
        const char *name;
        CUdeviceptr p;
    } places[] = {{"mapped", p},          {"unmapped", p + 2 * G},
                  {"addr0", 0},           {"unreserved", p + ((CUdeviceptr)1 << 38)},
                  {"unaligned", p + 333}, {"malloc", (CUdeviceptr)(uintptr_t)malloc(64)}};
    for (size_t i = 0; i < COUNT(locs); i++)
        for (size_t k = 0; k < COUNT(places); k++) {
            char id[64];
            snprintf(id, sizeof id, "E.dev_mem.%s.%s", locs[i].name, places[k].name);
            e_case(id, places[k].p, locs[i].type, locs[i].id);
        }
}

static void e_null_flags(void)
{
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make(G));
    CUmemLocation good = loc_at(L_DEVICE, 0), bad = loc_at(L_DEVICE, 99), odd = loc_at(5, 0);
    R("E.null_flags.mapped", cuMemGetAccess(NULL, &good, p));
    R("E.null_flags.unmapped", cuMemGetAccess(NULL, &good, p + 2 * G));
    R("E.null_flags.addr0", cuMemGetAccess(NULL, &good, 0));
    R("E.null_flags.dev99", cuMemGetAccess(NULL, &bad, p));
    R("E.null_flags.dev99_unmapped", cuMemGetAccess(NULL, &bad, p + 2 * G));
    R("E.null_flags.loc5", cuMemGetAccess(NULL, &odd, p));
}

static void e_null_location(void)
{
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make(G));
    u64 f = 99;
    RV("E.null_location.mapped", cuMemGetAccess(&f, NULL, p), "=%llu", f);
    f = 99;
    RV("E.null_location.unmapped", cuMemGetAccess(&f, NULL, p + 2 * G), "=%llu", f);
    f = 99;
    RV("E.null_location.addr0", cuMemGetAccess(&f, NULL, 0), "=%llu", f);
    R("E.null_both", cuMemGetAccess(NULL, NULL, p));
    R("E.null_both.addr0", cuMemGetAccess(NULL, NULL, 0));
}

static void e_all(const char *tag, CUdeviceptr p)
{
    const struct {
        const char *name;
        int type, id;
    } locs[] = {{"dev0", 1, 0},   {"host0", 2, 0},   {"host99", 2, 99}, {"host-1", 2, -1},
                {"numa0", 3, 0},  {"numa1", 3, 1},   {"numa99", 3, 99}, {"numa-1", 3, -1}};
    for (size_t i = 0; i < COUNT(locs); i++) {
        char id[96];
        snprintf(id, sizeof id, "E.%s.%s", tag, locs[i].name);
        e_case(id, p, locs[i].type, locs[i].id);
    }
}

static void e_device_memory(void)
{
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make(G));
    e_all("dev_mem_fresh", p);
    give(p, G, L_DEVICE, RW);
    e_all("dev_mem_rw", p);
    give(p, G, L_DEVICE, READ);
    e_all("dev_mem_read", p);
    give(p, G, L_DEVICE, NONE);
    e_all("dev_mem_none", p);
}

static void e_host_memory(int type, const char *name)
{
    char tag[64];
    const struct {
        const char *name;
        int type, flags;
    } steps[] = {{"dev_rw", L_DEVICE, RW},   {"dev_none", L_DEVICE, NONE}, {"host_read", L_HOST, READ},
                 {"host_none", L_HOST, NONE}, {"numa_read", L_NUMA, READ},  {"host_rw", L_HOST, RW},
                 {"then_numa_read", L_NUMA, READ}, {"then_dev_read", L_DEVICE, READ}, {"then_numa_none", L_NUMA, NONE}};
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p, G, make_at(type, G));
    snprintf(tag, sizeof tag, "%s_mem_fresh", name);
    e_all(tag, p);
    for (size_t i = 0; i < COUNT(steps); i++) {
        snprintf(tag, sizeof tag, "%s_mem.set_%s", name, steps[i].name);
        CUmemAccessDesc d = desc(steps[i].type, 0, steps[i].flags);
        CUresult r = cuMemSetAccess(p, G, &d, 1);
        if (r)
            say(tag, "%s", name_of(r));
        e_all(tag, p);
    }
}

static void e_host(void)
{
    e_host_memory(L_HOST, "host");
}

static void e_numa(void)
{
    e_host_memory(L_NUMA, "numa");
}

/* Host memory: the answer for each location and each pair of rights, set in either order. */
static void e_table(void)
{
    init();
    static const int rights[] = {NONE, READ, RW};
    static const char *orders[] = {"dev_then_host", "host_then_dev", "dev_then_numa", "dev_only_then_host_none"};
    for (size_t order = 0; order < COUNT(orders); order++)
        for (size_t i = 0; i < COUNT(rights); i++)
            for (size_t k = 0; k < COUNT(rights); k++) {
                CUdeviceptr p = reserve(G);
                Handle h = make_at(L_HOST, G);
                map(p, G, h);
                if (order == 1)
                    give(p, G, L_HOST, rights[k]);
                give(p, G, L_DEVICE, rights[i]);
                if (order != 1)
                    give(p, G, order == 2 ? L_NUMA : L_HOST, order == 3 ? NONE : rights[k]);
                if (order < 3 || k == 0)
                    say("E.table", "%s dev=%d host=%d: dev %llu host %llu numa %llu", orders[order], rights[i],
                        rights[k], flags_of(p, L_DEVICE), flags_of(p, L_HOST), flags_of(p, L_NUMA));
                cuMemUnmap(p, G);
                cuMemRelease(h);
                cuMemAddressFree(p, G);
            }
}

/* Host memory: does HOST report the device's or the host's rights, depending on the order in which they were set? */
static void e_orders(void)
{
    init();
    static const struct {
        const char *id;
        struct {
            int type, flags;
        } step[4];
    } cases[] = {
        {"dev3 host1 dev3", {{L_DEVICE, RW}, {L_HOST, READ}, {L_DEVICE, RW}}},
        {"host1 dev3 host1", {{L_HOST, READ}, {L_DEVICE, RW}, {L_HOST, READ}}},
        {"dev1 host3 dev3", {{L_DEVICE, READ}, {L_HOST, RW}, {L_DEVICE, RW}}},
        {"dev1 host3 dev1", {{L_DEVICE, READ}, {L_HOST, RW}, {L_DEVICE, READ}}},
        {"dev3 host1 host0", {{L_DEVICE, RW}, {L_HOST, READ}, {L_HOST, NONE}}},
        {"host3 dev1 dev0", {{L_HOST, RW}, {L_DEVICE, READ}, {L_DEVICE, NONE}}},
        {"dev3 host1 dev0", {{L_DEVICE, RW}, {L_HOST, READ}, {L_DEVICE, NONE}}},
        {"dev3 host1 dev0 dev3", {{L_DEVICE, RW}, {L_HOST, READ}, {L_DEVICE, NONE}, {L_DEVICE, RW}}},
        {"host1 dev3 host0 host1", {{L_HOST, READ}, {L_DEVICE, RW}, {L_HOST, NONE}, {L_HOST, READ}}},
        {"host1 dev3 numa3", {{L_HOST, READ}, {L_DEVICE, RW}, {L_NUMA, RW}}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CUdeviceptr p = reserve(G);
        map(p, G, make_at(L_HOST, G));
        for (size_t k = 0; k < COUNT(cases[i].step) && cases[i].step[k].type; k++)
            give(p, G, cases[i].step[k].type, cases[i].step[k].flags);
        say("E.orders", "%s: dev %llu host %llu numa %llu", cases[i].id, flags_of(p, L_DEVICE), flags_of(p, L_HOST),
            flags_of(p, L_NUMA));
    }
    for (int i = 0; i < 2; i++) {
        CUmemAccessDesc host = desc(L_HOST, 0, READ), dev = desc(L_DEVICE, 0, RW);
        CUdeviceptr p = reserve(G);
        map(p, G, make_at(L_HOST, G));
        cuMemSetAccess(p, G, i ? PAIR(host, dev) : PAIR(dev, host), 2);
        say("E.orders", "one call {%s}: dev %llu host %llu numa %llu", i ? "host1, dev3" : "dev3, host1",
            flags_of(p, L_DEVICE), flags_of(p, L_HOST), flags_of(p, L_NUMA));
    }
}

static void e_cumemalloc(void)
{
    init();
    CUdeviceptr p = 0;
    cuMemAlloc(&p, G);
    e_all("cumemalloc", p);
    e_case("E.cumemalloc.interior", p + 100, L_DEVICE, 0);
}

static void group_e(void)
{
    child("E.order!", e_order);
    child("E.null_flags!", e_null_flags);
    child("E.null_location!", e_null_location);
    child("E.dev_mem!", e_device_memory);
    child("E.host_mem!", e_host);
    child("E.numa_mem!", e_numa);
    child("E.table!", e_table);
    child("E.orders!", e_orders);
    child("E.cumemalloc!", e_cumemalloc);
}
