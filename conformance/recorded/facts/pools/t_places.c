/* SPDX-License-Identifier: Apache-2.0 */
/* Group T: the addresses of pools among reservations and allocations. Part of ../pools.c, which includes it.
 *
 * Each case is a separate process. A line is a step and where what it made begins, in granules of 2 MiB from the
 * first reservation; a fraction is shown in bytes:
 *
 *     T.walk.1.07    take 3 4096 +512.0       pool 3 gave 4096 bytes */

static CUdeviceptr t_zero;

static const char *t_at(CUdeviceptr p)
{
    static char text[4][48];
    static unsigned next;
    char *b = text[next++ % 4];
    i64 far = (i64)(p - t_zero), bytes = far % (i64)G;
    if (bytes < 0)
        bytes += (i64)G;
    if (!p)
        snprintf(b, sizeof text[0], "none");
    else if (bytes)
        snprintf(b, sizeof text[0], "%+lld.%lld", (far - bytes) / (i64)G, bytes);
    else
        snprintf(b, sizeof text[0], "%+lld", far / (i64)G);
    return b;
}

static CUdeviceptr t_reserve(size_t size, size_t alignment)
{
    CUdeviceptr p = 0;
    cuMemAddressReserve(&p, size, alignment, 0, 0);
    return p;
}

static void t_start(void)
{
    init();
    t_zero = t_reserve(G, 0);
}

static Pool t_pool(int type, int handles, size_t max)
{
    CUmemPoolProps p = pool_props();
    p.location = loc_at(type, 0);
    p.handleTypes = (CUmemAllocationHandleType)handles;
    p.maxSize = max;
    Pool pool = pool_with(p);
    if (pool)
        keep_all(pool);
    return pool;
}

/* Each kind of pool, with a reservation and an allocation before and after. */
static void t_kinds(void)
{
    static const struct {
        const char *name;
        int type, handles;
        size_t max, size;
    } kinds[] = {{"device", L_DEVICE, 0, 0, 4096},      {"device_2M", L_DEVICE, 0, 0, G},       {"device_1G", L_DEVICE, 0, 0, GiB},
                 {"exportable", L_DEVICE, FD, 0, 4096}, {"max_64M", L_DEVICE, 0, 64 * MiB, 4096}, {"max_1G", L_DEVICE, 0, GiB, 4096},
                 {"host", L_HOST, 0, 0, 4096},          {"node", L_NUMA, 0, 0, 4096},           {"node_exportable", L_NUMA, FD, 0, 4096},
                 {"device_again", L_DEVICE, 0, 0, 4096}};
    t_start();
    printf("# first reservation: %llx\n", t_zero);
    CUdeviceptr m = 0;
    cuMemAlloc(&m, 4096);
    say("T.kinds.alloc", "%s", t_at(m));
    CUdeviceptr p = 0;
    cuMemAllocAsync(&p, 4096, 0);
    say("T.kinds.default", "%s", t_at(p));
    for (size_t i = 0; i < COUNT(kinds); i++) {
        CUdeviceptr before = t_reserve(G, 0);
        Pool pool = t_pool(kinds[i].type, kinds[i].handles, kinds[i].max);
        CUdeviceptr between = t_reserve(G, 0), a = pool ? take(pool, kinds[i].size, 0) : 0, after = t_reserve(G, 0);
        cuMemAlloc(&m, 32 * MiB);
        say(sub("T.kinds", "%s", kinds[i].name), "reserve %s; create; reserve %s; take %s; reserve %s; alloc %s", t_at(before),
            t_at(between), t_at(a), t_at(after), t_at(m));
    }
    CUdeviceptr large = t_reserve((size_t)64 << 30, 0), huge = t_reserve((size_t)1 << 40, 0), next = t_reserve(G, 0);
    say("T.kinds.large", "%s %s %s", t_at(large), t_at(huge), t_at(next));
}

/* A pool before any reservation. */
static void t_pool_first(void)
{
    init();
    CUdeviceptr p = 0;
    cuMemAllocAsync(&p, 4096, 0);
    Pool pool = new_pool();
    CUdeviceptr a = take(pool, 4096, 0), r = t_reserve(G, 0), r2 = t_reserve(GiB, GiB);
    t_zero = r;
    CUdeviceptr m = 0;
    cuMemAlloc(&m, 4096);
    printf("# first reservation: %llx\n", r);
    say("T.pool_first", "default %s; pool %s; reserve %s; alloc %s", t_at(p), t_at(a), t_at(r2), t_at(m));
}

/* Pools that end, and what takes their place. */
static void t_ends(void)
{
    t_start();
    Pool pools[4];
    CUdeviceptr p[4];
    for (int i = 0; i < 4; i++) {
        pools[i] = t_pool(L_DEVICE, 0, 0);
        p[i] = take(pools[i], 4096, 0);
        say(sub("T.ends", "take%d", i), "%s", t_at(p[i]));
    }
    drop(p[1], 0);
    cuCtxSynchronize();
    CUdeviceptr r = t_reserve(G, 0);
    say("T.ends.freed", "%s", t_at(r));
    cuMemPoolTrimTo(pools[1], 0);
    r = t_reserve(G, 0);
    say("T.ends.trimmed", "%s", t_at(r));
    cuMemPoolDestroy(pools[1]);
    r = t_reserve(G, 0);
    say("T.ends.destroyed", "%s", t_at(r));
    CUdeviceptr large = t_reserve(GiB, 0);
    say("T.ends.large", "%s", t_at(large));
    CUdeviceptr fixed = 0;
    CUresult res = cuMemAddressReserve(&fixed, G, 0, p[1], 0);
    say("T.ends.there", "%s %d", name_of(res), fixed == p[1]);
    res = cuMemAddressReserve(&fixed, G, 0, p[2] + 64 * MiB, 0);
    say("T.ends.in_a_pool", "%s %d", name_of(res), fixed == p[2] + 64 * MiB);
    pools[1] = t_pool(L_DEVICE, 0, 0);
    p[1] = take(pools[1], 4096, 0);
    say("T.ends.next_pool", "%s", t_at(p[1]));
    cuMemPoolDestroy(pools[0]);
    drop(p[0], 0);
    cuCtxSynchronize();
    r = t_reserve(G, 0);
    say("T.ends.destroyed_live", "%s", t_at(r));
    r = t_reserve((size_t)100 << 30, 0);
    say("T.ends.100G", "%s", t_at(r));
}

/* Random steps: reservations, their ends, pools, their allocations and ends, allocations. */
static unsigned t_seed;

static void t_walk(void)
{
    static const size_t sizes[] = {G, 2 * G, 16 * G, 100 * MiB, GiB, 5 * GiB, (size_t)40 << 30, (size_t)200 << 30};
    static const size_t takes[] = {1, 4096, G, 40 * MiB, GiB};
    CUdeviceptr r[40], m[20], p[20];
    size_t r_size[40], rs = 0, ms = 0, ps = 0, pools = 0;
    Pool pool[8];
    unsigned state = t_seed * 2654435761u + 7;
    char id[CASE_ID];
    t_start();
    printf("# first reservation: %llx\n", t_zero);
    for (int i = 0; i < 60; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned draw = state >> 12;
        unsigned what = draw % 16;
        draw /= 16;
        snprintf(id, sizeof id, "T.walk.%u.%02d", t_seed, i);
        if (what < 5 && rs < COUNT(r)) {
            size_t size = sizes[draw % COUNT(sizes)], alignment = draw % 7 == 0 ? GiB : 0;
            r[rs] = t_reserve(size, alignment);
            r_size[rs] = size;
            say(id, "reserve %zu %zu %s", size / G, alignment / G, t_at(r[rs]));
            rs++;
        } else if (what < 7 && rs) {
            size_t k = draw % rs;
            say(id, "unreserve %s %s", t_at(r[k]), name_of(cuMemAddressFree(r[k], r_size[k])));
            r[k] = r[--rs], r_size[k] = r_size[rs];
        } else if (what < 9 && pools < COUNT(pool)) {
            static const int types[] = {L_DEVICE, L_DEVICE, L_DEVICE, L_HOST, L_NUMA};
            int type = types[draw % COUNT(types)];
            pool[pools] = t_pool(type, 0, 0);
            say(id, "pool %zu of %d", pools, type);
            pools++;
        } else if (what < 12 && pools && ps < COUNT(p)) {
            size_t k = draw % pools, size = takes[draw / 8 % COUNT(takes)];
            p[ps] = take(pool[k], size, 0);
            say(id, "take %zu %zu %s", k, size, t_at(p[ps]));
            ps++;
        } else if (what < 13 && ps) {
            size_t k = draw % ps;
            say(id, "drop %s", t_at(p[k]));
            drop(p[k], 0);
            cuCtxSynchronize();
            p[k] = p[--ps];
        } else if (what < 14 && pools > 2) {
            size_t k = draw % pools;
            if (draw & 64)
                say(id, "trim %zu %s", k, name_of(cuMemPoolTrimTo(pool[k], 0)));
            else {
                say(id, "destroy %zu %s", k, name_of(cuMemPoolDestroy(pool[k])));
                pool[k] = pool[--pools];
            }
        } else if (what < 15 && ms < COUNT(m)) {
            size_t size = takes[draw % COUNT(takes)];
            m[ms] = 0;
            cuMemAlloc(&m[ms], size);
            say(id, "alloc %zu %s", size, t_at(m[ms]));
            ms++;
        } else if (ms) {
            size_t k = draw % ms;
            say(id, "free %s %s", t_at(m[k]), name_of(cuMemFree(m[k])));
            m[k] = m[--ms];
        }
    }
}

static void group_t(void)
{
    child("T.kinds!", t_kinds);
    child("T.pool_first!", t_pool_first);
    child("T.ends!", t_ends);
    for (t_seed = 1; t_seed <= 8; t_seed++) {
        char id[32];
        snprintf(id, sizeof id, "T.walk.%u!", t_seed);
        child(id, t_walk);
    }
}
