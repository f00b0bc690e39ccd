/* SPDX-License-Identifier: Apache-2.0 */
/* Group A: the attributes of pools. Part of ../pools.c, which includes it. */

static const int a_attributes[] = {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 100, 0x7fffffff};

static CUresult a_set(Pool pool, int attribute, u64 value)
{
    return cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, &value);
}

static void a_get_all(const char *id, Pool pool)
{
    for (size_t i = 0; i < COUNT(a_attributes); i++) {
        u64 v = 0x7777777777777777;
        RV(sub(id, "%d", a_attributes[i]), cuMemPoolGetAttribute(pool, (CUmemPool_attribute)a_attributes[i], &v), "v=%llx", v);
    }
}

static void a_get(const char *id, u64 which)
{
    Pool pool = which == 0 ? new_pool() : which == 1 ? default_pool() : new_pool();
    if (which == 2) {
        CUmemPoolProps p = pool_props();
        p.maxSize = 100 * MiB;
        pool = pool_with(p);
    }
    CUdeviceptr d = which == 3 ? take(pool, 3 * MiB, 0) : 0;
    a_get_all(id, pool);
    if (d)
        cuMemFree(d);
    if (which != 1)
        cuMemPoolDestroy(pool);
}

static void a_set_each(const char *id, u64 with_memory)
{
    static const u64 values[] = {0, 1, 2, 3, 33 * MiB, 0x7fffffff, 0x80000000, 0xffffffff, (u64)1 << 32, (u64)1 << 63, UINT64_MAX};
    for (int attribute = 0; attribute <= 9; attribute++)
        for (size_t i = 0; i < COUNT(values); i++) {
            Pool pool = new_pool();
            CUdeviceptr d = 0, e = 0;
            if (with_memory) {
                if (attribute < RESERVED)
                    continue;
                keep_all(pool);
                d = take(pool, 3 * MiB, 0), e = take(pool, 5 * MiB, 0);
                drop(d, 0);
            }
            u64 v = 0x7777777777777777;
            CUresult r = a_set(pool, attribute, values[i]);
            CUresult g = cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, &v);
            say(sub(id, "%d.%llx", attribute, values[i]), "%s; %s v=%llx", name_of(r), name_of(g), v);
            if (e)
                cuMemFree(e);
            cuMemPoolDestroy(pool);
        }
}

/* High marks: reset, then what follows. */
static void a_high(const char *id, u64 unused)
{
    (void)unused;
    Pool pool = keeping_pool();
    CUstream s = new_stream();
    CUdeviceptr a = take(pool, 40 * MiB, s), b = take(pool, 3 * MiB, s);
    say(sub(id, "both"), "%s", state(pool));
    drop(a, s);
    say(sub(id, "freed"), "%s", state(pool));
    RV(sub(id, "reset_used"), a_set(pool, USED_HIGH, 0), "%s", state(pool));
    RV(sub(id, "reset_reserved"), a_set(pool, RESERVED_HIGH, 0), "%s", state(pool));
    a = take(pool, 1 * MiB, s);
    say(sub(id, "after_small"), "%s", state(pool));
    drop(a, s);
    drop(b, s);
    cuStreamSynchronize(s);
    say(sub(id, "all_freed"), "%s", state(pool));
    cuMemPoolTrimTo(pool, 0);
    say(sub(id, "trimmed"), "%s", state(pool));
    RV(sub(id, "reset_used_again"), a_set(pool, USED_HIGH, 0), "%s", state(pool));
    RV(sub(id, "reset_reserved_again"), a_set(pool, RESERVED_HIGH, 0), "%s", state(pool));
    cuMemPoolDestroy(pool);
}

static Pool a_bad_pool(u64 kind)
{
    Pool gone = new_pool();
    switch (kind) {
    case 0: return NULL;
    case 1: cuMemPoolDestroy(gone); return gone;
    default: return (Pool)(uintptr_t)0x10;
    }
}

/* Each call that takes a pool, with an invalid one: arg is kind * 16 + call. */
static CUresult a_call(Pool pool, u64 call, u64 *out)
{
    CUmemAccessDesc d = desc(L_DEVICE, 0, RW);
    CUmemLocation l = loc_at(L_DEVICE, 0);
    CUmemPoolPtrExportData data;
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    CUdeviceptr p = 77;
    int fd = -7;
    CUresult r;
    memset(&data, 0, sizeof data);
    *out = 0;
    switch (call) {
    case 0: return cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, out);
    case 1: return cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, out);
    case 2: return cuMemPoolTrimTo(pool, 0);
    case 3: r = cuMemPoolGetAccess(&flags, pool, &l); *out = flags; return r;
    case 4: return cuMemPoolSetAccess(pool, &d, 1);
    case 5: r = cuMemAllocFromPoolAsync(&p, 4096, pool, 0); *out = r ? p : 1; return r;
    case 6: return cuDeviceSetMemPool(0, pool);
    case 7: return cuMemSetMemPool(&l, CU_MEM_ALLOCATION_TYPE_PINNED, pool);
    case 8: r = cuMemPoolExportToShareableHandle(&fd, pool, FD, 0); *out = (u64)(i64)fd; return r;
    case 9: r = cuMemPoolImportPointer(&p, pool, &data); *out = p; return r;
    default: return cuMemPoolDestroy(pool);
    }
}

enum { A_CALLS = 11, A_KINDS = 3 };

static void a_bad(size_t i, char *id, int run)
{
    static const char *const kinds[] = {"null", "destroyed", "forged"};
    static const char *const calls[] = {"get", "set", "trim", "get_access", "set_access", "alloc", "device_set", "set_pool",
                                        "export", "import_pointer", "destroy"};
    u64 out;
    snprintf(id, CASE_ID, "A.bad.%s.%s", kinds[i / A_CALLS], calls[i % A_CALLS]);
    if (run)
        RV(id, a_call(a_bad_pool(i / A_CALLS), i % A_CALLS, &out), "out=%lld", (i64)out);
}

static void a_null_value(const char *id, u64 unused)
{
    (void)unused;
    Pool pool = new_pool();
    for (int attribute = 0; attribute <= 9; attribute++)
        R(sub(id, "%d", attribute), cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, NULL));
    cuMemPoolDestroy(pool);
}

/* Some of these crash. */
static void a_set_null(const char *id, u64 attribute)
{
    R(id, cuMemPoolSetAttribute(new_pool(), (CUmemPool_attribute)attribute, NULL));
}

/* What the attributes of devices say about pools. */
static void a_device(const char *id, u64 unused)
{
    (void)unused;
    static const int attributes[] = {115, 119, 142, 144};
    for (size_t i = 0; i < COUNT(attributes); i++) {
        int v = -1;
        RV(sub(id, "%d", attributes[i]), cuDeviceGetAttribute(&v, (CUdevice_attribute)attributes[i], 0), "=%d", v);
    }
}

static void group_a(void)
{
    static const struct pool_case cases[] = {
        {"A.get.new", a_get, 0},        {"A.get.default", a_get, 1},     {"A.get.limited", a_get, 2},
        {"A.get.in_use", a_get, 3},     {"A.set.empty", a_set_each, 0},  {"A.set.in_use", a_set_each, 1},
        {"A.high", a_high, 0},          {"A.device", a_device, 0},       {"A.null.get", a_null_value, 0},
        {"A.null.set.0", a_set_null, 0},   {"A.null.set.1", a_set_null, 1},   {"A.null.set.3", a_set_null, 3},
        {"A.null.set.4", a_set_null, 4},   {"A.null.set.5", a_set_null, 5},   {"A.null.set.6", a_set_null, 6},
        {"A.null.set.9", a_set_null, 9},
    };
    if (!is_wanted("A"))
        return;
    run_table(cases, COUNT(cases));
    run_cases(init, A_CALLS * A_KINDS, a_bad);
}
