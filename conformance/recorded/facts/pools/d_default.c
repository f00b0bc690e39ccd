/* SPDX-License-Identifier: Apache-2.0 */
/* Group D: default and current pools of devices and of locations. Part of ../pools.c, which includes it. */

/* A pool by name. */
static const char *d_name(Pool pool, Pool own)
{
    Pool standard = NULL;
    cuDeviceGetDefaultMemPool(&standard, 0);
    return pool == standard ? "default" : pool == own ? "own" : pool == (Pool)(uintptr_t)77 ? "unwritten" : pool ? "another" : "none";
}

static void d_get(const char *id, u64 current)
{
    static const int devices[] = {-2, -1, 0, 2, 8, 99};
    for (size_t i = 0; i < COUNT(devices); i++) {
        Pool pool = (Pool)(uintptr_t)77;
        RV(sub(id, "%d", devices[i]), current ? cuDeviceGetMemPool(&pool, devices[i]) : cuDeviceGetDefaultMemPool(&pool, devices[i]),
           "%s", d_name(pool, NULL));
    }
    R(sub(id, "null"), current ? cuDeviceGetMemPool(NULL, 0) : cuDeviceGetDefaultMemPool(NULL, 0));
    R(sub(id, "null+device"), current ? cuDeviceGetMemPool(NULL, 99) : cuDeviceGetDefaultMemPool(NULL, 99));
}

/* cuMemGetDefaultMemPool (0), cuMemGetMemPool (1), cuMemSetMemPool of what the first gives (2), of the device's default pool (3). */
static void d_locations(const char *id, u64 call)
{
    static const int ids[] = {0, -1, 2, 99};
    for (int alloc_type = 0; alloc_type <= 3; alloc_type++)
        for (int type = -1; type <= 6; type++)
            for (size_t i = 0; i < COUNT(ids); i++) {
                CUmemLocation l = loc_at(type, ids[i]);
                CUmemAllocationType t = (CUmemAllocationType)alloc_type;
                Pool pool = (Pool)(uintptr_t)77, again = NULL;
                const char *at = sub(id, "%d.at%d.%d", alloc_type, type, ids[i]);
                CUresult r;
                switch (call) {
                case 0:
                    r = cuMemGetDefaultMemPool(&pool, &l, t);
                    cuMemGetDefaultMemPool(&again, &l, t);
                    say(at, "%s %s%s", name_of(r), d_name(pool, NULL), r ? "" : again == pool ? " same" : " other");
                    break;
                case 1:
                    r = cuMemGetMemPool(&pool, &l, t);
                    again = NULL;
                    cuMemGetDefaultMemPool(&again, &l, t);
                    say(at, "%s %s%s", name_of(r), d_name(pool, NULL), r ? "" : again == pool ? " same" : " other");
                    break;
                case 2:
                    if (cuMemGetDefaultMemPool(&pool, &l, t))
                        continue;
                    R(at, cuMemSetMemPool(&l, t, pool));
                    break;
                default: R(at, cuMemSetMemPool(&l, t, default_pool())); break;
                }
            }
    CUmemLocation l = loc_at(L_DEVICE, 0);
    Pool pool = (Pool)(uintptr_t)77;
    if (call < 2) {
        R(sub(id, "null_out"), call ? cuMemGetMemPool(NULL, &l, CU_MEM_ALLOCATION_TYPE_PINNED)
                                    : cuMemGetDefaultMemPool(NULL, &l, CU_MEM_ALLOCATION_TYPE_PINNED));
        RV(sub(id, "null_location"), call ? cuMemGetMemPool(&pool, NULL, CU_MEM_ALLOCATION_TYPE_PINNED)
                                          : cuMemGetDefaultMemPool(&pool, NULL, CU_MEM_ALLOCATION_TYPE_PINNED), "%s", d_name(pool, NULL));
    } else {
        R(sub(id, "null_location"), cuMemSetMemPool(NULL, CU_MEM_ALLOCATION_TYPE_PINNED, default_pool()));
        R(sub(id, "null_pool"), cuMemSetMemPool(&l, CU_MEM_ALLOCATION_TYPE_PINNED, NULL));
    }
}

/* The default pools of locations: what they are good for. */
static void d_standard(const char *id, u64 unused)
{
    (void)unused;
    static const struct { int alloc, type; } all[] = {{1, L_DEVICE}, {1, L_HOST}, {1, L_NUMA}, {2, L_DEVICE}, {2, L_HOST}, {2, L_NUMA}, {2, 0}};
    for (size_t i = 0; i < COUNT(all); i++) {
        CUmemLocation l = loc_at(all[i].type, 0);
        Pool pool = NULL;
        char at[CASE_ID];
        snprintf(at, sizeof at, "%s", sub(id, "%d.at%d", all[i].alloc, all[i].type));
        if (cuMemGetDefaultMemPool(&pool, &l, (CUmemAllocationType)all[i].alloc)) {
            say(at, "none");
            continue;
        }
        CUdeviceptr d = 77;
        CUresult r = cuMemAllocFromPoolAsync(&d, 4096, pool, 0);
        say(sub(at, "alloc"), "%s %s threshold=%llu", name_of(r), state(pool), value_of(pool, THRESHOLD));
        for (int k = 1; k <= 3; k++)
            say(sub(at, "reuse%d", k), "%llu", value_of(pool, k));
        int where[3] = {L_DEVICE, L_HOST, L_NUMA};
        for (int k = 0; k < 3; k++) {
            CUmemAccess_flags flags = (CUmemAccess_flags)99;
            CUmemLocation from = loc_at(where[k], 0);
            RV(sub(at, "access%d", where[k]), cuMemPoolGetAccess(&flags, pool, &from), "flags=%d", flags);
        }
        int fd = -7;
        RV(sub(at, "export"), cuMemPoolExportToShareableHandle(&fd, pool, FD, 0), "fd=%d", fd);
        if (!r)
            R(sub(at, "free"), cuMemFree(d));
        R(sub(at, "destroy"), cuMemPoolDestroy(pool));
        R(sub(at, "trim"), cuMemPoolTrimTo(pool, 0));
        CUmemAccessDesc a = desc(L_DEVICE, 0, 0);
        R(sub(at, "no_access"), cuMemPoolSetAccess(pool, &a, 1));
    }
}

static Pool d_pool_at(CUdeviceptr p)
{
    void *pool = pointer(77);
    return cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p) ? (Pool)(uintptr_t)77 : pool;
}

/* The current pool: set, used, destroyed, set back. */
static void d_current(const char *id, u64 by_location)
{
    CUmemLocation l = loc_at(L_DEVICE, 0);
    Pool own = new_pool(), other = new_pool(), got = NULL;
    CUdeviceptr p = 0, q = 0;
#define SET(pool) (by_location ? cuMemSetMemPool(&l, CU_MEM_ALLOCATION_TYPE_PINNED, pool) : cuDeviceSetMemPool(0, pool))
#define CURRENT(name)                                                                               \
    do {                                                                                            \
        Pool a_ = NULL, b_ = NULL;                                                                  \
        cuDeviceGetMemPool(&a_, 0);                                                                 \
        cuMemGetMemPool(&b_, &l, CU_MEM_ALLOCATION_TYPE_PINNED);                                    \
        say(sub(id, name), "%s %s", d_name(a_, own), d_name(b_, own));                              \
    } while (0)
    R(sub(id, "set"), SET(own));
    CURRENT("then");
    cuMemAllocAsync(&p, 4096, 0);
    say(sub(id, "alloc"), "%s", d_name(d_pool_at(p), own));
    R(sub(id, "set_other"), SET(other));
    CURRENT("then_other");
    cuMemAllocAsync(&q, 4096, 0);
    say(sub(id, "alloc_other"), "%s", d_name(d_pool_at(q), own));
    R(sub(id, "destroy_other"), cuMemPoolDestroy(other));
    CURRENT("after_destroy");
    say(sub(id, "of_destroyed"), "%s", d_name(d_pool_at(q), own));
    cuMemFreeAsync(q, 0);
    R(sub(id, "set_null"), SET(NULL));
    CURRENT("after_null");
    R(sub(id, "set_own"), SET(own));
    R(sub(id, "set_default"), SET(default_pool()));
    CURRENT("after_default");
    R(sub(id, "set_again"), SET(own));
    R(sub(id, "destroy_own"), cuMemPoolDestroy(own));
    CURRENT("after_destroy_own");
    cuMemFree(p);
    CUmemPoolProps host = pool_props();
    host.location = loc_at(L_HOST, 0);
    Pool h = pool_with(host);
    R(sub(id, "set_host"), SET(h));
    CURRENT("after_host");
    CUmemLocation hl = loc_at(L_HOST, 0);
    R(sub(id, "host_at_host"), cuMemSetMemPool(&hl, CU_MEM_ALLOCATION_TYPE_PINNED, h));
    cuMemGetMemPool(&got, &hl, CU_MEM_ALLOCATION_TYPE_PINNED);
    say(sub(id, "host_then"), "%d", got == h);
    R(sub(id, "host_managed"), cuMemSetMemPool(&hl, CU_MEM_ALLOCATION_TYPE_MANAGED, h));
    cuMemPoolDestroy(h);
    got = NULL;
    cuMemGetMemPool(&got, &hl, CU_MEM_ALLOCATION_TYPE_PINNED);
    say(sub(id, "host_after_destroy"), "%d", got == h);
    host.handleTypes = FD;
    host.location = loc_at(L_DEVICE, 0);
    h = pool_with(host);
    R(sub(id, "set_exportable"), SET(h));
    CURRENT("after_exportable");
    cuMemPoolDestroy(h);
    static const int devices[] = {-1, 2, 99};
    own = new_pool();
    for (size_t i = 0; i < COUNT(devices); i++)
        R(sub(id, "device%d", devices[i]), cuDeviceSetMemPool(devices[i], own));
    R(sub(id, "device+null"), cuDeviceSetMemPool(99, NULL));
    cuMemPoolDestroy(own);
#undef SET
#undef CURRENT
}

static void group_d(void)
{
    static const struct pool_case cases[] = {
        {"D.default", d_get, 0},       {"D.current", d_get, 1},         {"D.location.default", d_locations, 0},
        {"D.location.current", d_locations, 1}, {"D.location.set", d_locations, 2}, {"D.location.set_device", d_locations, 3},
        {"D.standard", d_standard, 0}, {"D.set", d_current, 0},         {"D.set_location", d_current, 1},
    };
    if (is_wanted("D"))
        run_table(cases, COUNT(cases));
}
