/* SPDX-License-Identifier: Apache-2.0 */
/* Group R: access rights of pools, on one device. Part of ../pools.c, which includes it. */

static const char *r_flags(Pool pool)
{
    static char text[80];
    CUmemAccess_flags f[3] = {(CUmemAccess_flags)99, (CUmemAccess_flags)99, (CUmemAccess_flags)99};
    static const int types[3] = {L_DEVICE, L_HOST, L_NUMA};
    CUresult r[3];
    for (int i = 0; i < 3; i++) {
        CUmemLocation l = loc_at(types[i], 0);
        r[i] = cuMemPoolGetAccess(&f[i], pool, &l);
    }
    snprintf(text, sizeof text, "device=%d host=%d/%d node=%d/%d", f[0], r[1], f[1], r[2], f[2]);
    return text;
}

static Pool r_pool(u64 at)
{
    CUmemPoolProps p = pool_props();
    p.location = loc_at((int)(at ? at : L_DEVICE), 0);
    return at ? pool_with(p) : default_pool();
}

/* cuMemPoolSetAccess with every location and flag. */
static void r_set(const char *id, u64 at)
{
    static const int flags[] = {0, 1, 2, 3, 4, 7, -1};
    static const int ids[] = {0, -1, 2, 99};
    for (int type = -1; type <= 5; type++)
        for (size_t i = 0; i < COUNT(ids); i++)
            for (size_t k = 0; k < COUNT(flags); k++) {
                if (ids[i] && k != 0 && k != 3)
                    continue;
                Pool pool = r_pool(at);
                CUmemAccessDesc d = desc(type, ids[i], flags[k]);
                RV(sub(id, "at%d.%d.%d", type, ids[i], flags[k]), cuMemPoolSetAccess(pool, &d, 1), "%s", r_flags(pool));
                if (at)
                    cuMemPoolDestroy(pool);
            }
}

static void r_get(const char *id, u64 at)
{
    static const int ids[] = {0, -1, 1, 2, 99};
    Pool pool = r_pool(at);
    int count = 0;
    cuDeviceGetCount(&count);
    for (int type = -1; type <= 5; type++)
        for (size_t i = 0; i < COUNT(ids); i++) {
            if (count > 1 && ids[i] == 1)
                continue;
            CUmemLocation l = loc_at(type, ids[i]);
            CUmemAccess_flags f = (CUmemAccess_flags)99;
            RV(sub(id, "at%d.%d", type, ids[i]), cuMemPoolGetAccess(&f, pool, &l), "flags=%d", f);
        }
    CUmemLocation l = loc_at(L_DEVICE, 0);
    CUmemAccess_flags f = (CUmemAccess_flags)99;
    R(sub(id, "null_flags"), cuMemPoolGetAccess(NULL, pool, &l));
    RV(sub(id, "null_location"), cuMemPoolGetAccess(&f, pool, NULL), "flags=%d", f);
    if (at)
        cuMemPoolDestroy(pool);
}

static void r_many(const char *id, u64 unused)
{
    (void)unused;
    Pool pool = new_pool();
    CUmemAccessDesc d[3] = {desc(L_DEVICE, 0, RW), desc(L_DEVICE, 0, READ), desc(L_DEVICE, 99, RW)};
    R(sub(id, "count0"), cuMemPoolSetAccess(pool, d, 0));
    R(sub(id, "null"), cuMemPoolSetAccess(pool, NULL, 1));
    R(sub(id, "null0"), cuMemPoolSetAccess(pool, NULL, 0));
    RV(sub(id, "rw+r"), cuMemPoolSetAccess(pool, d, 2), "%s", r_flags(pool));
    RV(sub(id, "rw+rw"), cuMemPoolSetAccess(pool, (CUmemAccessDesc[]){d[0], d[0]}, 2), "%s", r_flags(pool));
    RV(sub(id, "bad_second"), cuMemPoolSetAccess(pool, (CUmemAccessDesc[]){d[0], d[2]}, 2), "%s", r_flags(pool));
    R(sub(id, "null_pool+count0"), cuMemPoolSetAccess(NULL, d, 0));
    cuMemPoolDestroy(pool);
}

/* Host pools: their memory from the host and from the device, before and after access. */
static void r_host(const char *id, u64 at)
{
    Pool pool = r_pool(at);
    if (!pool)
        return;
    CUstream s = new_stream();
    CUdeviceptr p = take(pool, 10000, s), q = take(pool, 10000, s), big = take(pool, 40 * MiB, s);
    cuStreamSynchronize(s);
    say(sub(id, "state"), "%s q=%lld big=%lld %s", state(pool), (i64)(q - p), (i64)(big - p), r_flags(pool));
    volatile char *h = pointer(p);
    *h = 5;
    say(sub(id, "host"), "%d", *h);
    RV(sub(id, "fill"), cuMemsetD8(p, 7, 100), "%d", *h);
    R(sub(id, "synced"), cuCtxSynchronize());
    char out[4] = {0};
    RV(sub(id, "copy"), cuMemcpyDtoH(out, p, 4), "%d", out[0]);
    CUmemAccessDesc d = desc(L_DEVICE, 0, RW);
    RV(sub(id, "give"), cuMemPoolSetAccess(pool, &d, 1), "%s", r_flags(pool));
    RV(sub(id, "fill_then"), cuMemsetD8(p, 9, 100), "%d", *h);
    R(sub(id, "synced_then"), cuCtxSynchronize());
    d.flags = (CUmemAccess_flags)0;
    RV(sub(id, "withdraw"), cuMemPoolSetAccess(pool, &d, 1), "%s", r_flags(pool));
    R(sub(id, "free"), cuMemFreeAsync(p, s));
    R(sub(id, "free_q"), cuMemFree(q));
    R(sub(id, "free_host"), cuMemFreeHost(pointer(big)));
    R(sub(id, "free_big"), cuMemFreeAsync(big, s));
    cuStreamSynchronize(s);
    say(sub(id, "end"), "%s", state(pool));
    cuMemPoolDestroy(pool);
}

/* The rights of a device pool change with live memory: its own device may not lose them; read-only? */
static void r_live(const char *id, u64 flags)
{
    Pool pool = new_pool();
    CUdeviceptr p = take(pool, 4096, 0);
    CUmemAccessDesc d = desc(L_DEVICE, 0, (int)flags);
    RV(sub(id, "set"), cuMemPoolSetAccess(pool, &d, 1), "%s", r_flags(pool));
    R(sub(id, "fill"), cuMemsetD8(p, 1, 4096));
    R(sub(id, "sync"), cuCtxSynchronize());
}

static void group_r(void)
{
    static const struct pool_case cases[] = {
        {"R.set.device", r_set, L_DEVICE}, {"R.set.host", r_set, L_HOST}, {"R.set.default", r_set, 0}, {"R.set.node", r_set, L_NUMA},
        {"R.get.device", r_get, L_DEVICE}, {"R.get.host", r_get, L_HOST}, {"R.get.node", r_get, L_NUMA}, {"R.get.default", r_get, 0},
        {"R.many", r_many, 0}, {"R.host", r_host, L_HOST}, {"R.node", r_host, L_NUMA}, {"R.live.none", r_live, 0}, {"R.live.read", r_live, 1},
        {"R.live.rw", r_live, 3},
    };
    if (is_wanted("R"))
        run_table(cases, COUNT(cases));
}
