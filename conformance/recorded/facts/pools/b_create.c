/* SPDX-License-Identifier: Apache-2.0 */
/* Group B: the properties of pools that can be created. Part of ../pools.c, which includes it. */

/* After a creation: what the pool is good for. */
static void b_try(const char *id, CUmemPoolProps p)
{
    Pool pool = (Pool)(uintptr_t)77;
    CUresult r = cuMemPoolCreate(&pool, &p);
    if (r) {
        say(id, "%s wrote=%d", name_of(r), pool != (Pool)(uintptr_t)77);
        return;
    }
    CUdeviceptr d = 77;
    CUresult a = cuMemAllocFromPoolAsync(&d, 4096, pool, 0);
    CUmemAccess_flags flags[3] = {(CUmemAccess_flags)99, (CUmemAccess_flags)99, (CUmemAccess_flags)99};
    CUmemLocation at[3] = {loc_at(L_DEVICE, 0), loc_at(L_HOST, 0), loc_at(L_NUMA, 0)};
    CUresult got[3];
    for (int i = 0; i < 3; i++)
        got[i] = cuMemPoolGetAccess(&flags[i], pool, &at[i]);
    int fd = -7;
    CUresult x = cuMemPoolExportToShareableHandle(&fd, pool, FD, 0);
    if (!x)
        close(fd);
    say(id, "SUCCESS alloc=%s %s device=%s,%d host=%s,%d node=%s,%d export=%s", name_of(a), state(pool), name_of(got[0]),
        flags[0], name_of(got[1]), flags[1], name_of(got[2]), flags[2], name_of(x));
    if (!a)
        cuMemFree(d);
    cuMemPoolDestroy(pool);
}

static void b_locations(const char *id, u64 alloc_type)
{
    static const int ids[] = {0, 1, 2, -1, 99};
    for (int type = -1; type <= 6; type++)
        for (size_t i = 0; i < COUNT(ids); i++) {
            CUmemPoolProps p = pool_props();
            p.allocType = (CUmemAllocationType)alloc_type;
            p.location = loc_at(type, ids[i]);
            int count = 0;
            cuDeviceGetCount(&count);
            if (type == L_DEVICE && ids[i] == 1 && count > 1)
                continue;
            b_try(sub(id, "at%d.%d", type, ids[i]), p);
        }
}

static void b_types(const char *id, u64 unused)
{
    (void)unused;
    static const int types[] = {-1, 0, 3, 4, 99, 0x7fffffff};
    for (size_t i = 0; i < COUNT(types); i++) {
        CUmemPoolProps p = pool_props();
        p.allocType = (CUmemAllocationType)types[i];
        b_try(sub(id, "%d", types[i]), p);
    }
}

/* A process dies after some of these, so each has its turn: location * 100 + index. */
static const int b_handle_types[] = {-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 0x7fffffff};

static void b_handles(size_t i, char *id, int run)
{
    static const char *const names[] = {"device", "host", "node"};
    size_t location = i / COUNT(b_handle_types);
    int type = b_handle_types[i % COUNT(b_handle_types)];
    snprintf(id, CASE_ID, "B.handles.%s.%d", names[location], type);
    if (!run)
        return;
    CUmemPoolProps p = pool_props();
    p.location = loc_at(L_DEVICE + (int)location, 0);
    p.handleTypes = (CUmemAllocationHandleType)type;
    b_try(id, p);
}

static void b_usage(const char *id, u64 location)
{
    static const unsigned usage[] = {1, 2, 3, 4, 8, 0x8000, 0xffff};
    for (size_t i = 0; i < COUNT(usage); i++) {
        CUmemPoolProps p = pool_props();
        p.location = loc_at((int)location, 0);
        p.usage = (unsigned short)usage[i];
        b_try(sub(id, "%x", usage[i]), p);
    }
}

static void b_max_size(const char *id, u64 location)
{
    static const size_t sizes[] = {1, 512, 4096, 65536, G - 1, G, G + 1, 32 * MiB - 1, 32 * MiB, 33 * MiB, GiB, 64 * GiB, 200 * GiB,
                                   (size_t)1 << 40, (size_t)1 << 47, (size_t)1 << 48, (size_t)1 << 50}; /* from 2^63 on a driver with two devices hangs */
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUmemPoolProps p = pool_props();
        p.location = loc_at((int)location, 0);
        p.maxSize = sizes[i];
        b_try(sub(id, "%zx", sizes[i]), p);
    }
}

static void b_reserved(const char *id, u64 unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof ((CUmemPoolProps *)0)->reserved; i += i == 0 || i == 52 ? 1 : i == 1 ? 51 : 100) {
        CUmemPoolProps p = pool_props();
        p.reserved[i] = 1;
        b_try(sub(id, "%zu", i), p);
    }
    CUmemPoolProps p = pool_props();
    p.win32SecurityAttributes = &p;
    b_try(sub(id, "win32"), p);
}

static void b_null(const char *id, u64 which)
{
    CUmemPoolProps p = pool_props();
    Pool pool = (Pool)(uintptr_t)77;
    if (which == 2)
        p.allocType = (CUmemAllocationType)0;
    CUresult r = cuMemPoolCreate(which == 1 ? &pool : NULL, which == 1 ? NULL : &p);
    say(id, "%s wrote=%d", name_of(r), pool != (Pool)(uintptr_t)77);
}

/* Two faults at once: which one answers? */
static void b_both(const char *id, u64 unused)
{
    (void)unused;
    static const struct { const char *id; int type, at, place, handle; size_t max; int usage, reserved; } two[] = {
        {"place+handle", 1, L_DEVICE, 99, 2, 0, 0, 0},   {"place+fabric", 1, L_DEVICE, 99, 8, 0, 0, 0},
        {"fabric+reserved", 1, L_DEVICE, 0, 8, 0, 0, 1}, {"fabric+usage", 1, L_DEVICE, 0, 8, 0, 4, 0},
        {"fabric+max", 1, L_DEVICE, 0, 8, (size_t)1 << 48, 0, 0}, {"type+fabric", 0, L_DEVICE, 0, 8, 0, 0, 0},
        {"place+max", 1, L_DEVICE, 99, 0, (size_t)1 << 48, 0, 0}, {"host+fd", 1, L_HOST, 0, 1, 0, 0, 0},
        {"host+fabric", 1, L_HOST, 0, 8, 0, 0, 0},       {"managed+fd", 2, L_DEVICE, 0, 1, 0, 0, 0},
        {"managed+max", 2, L_DEVICE, 0, 0, G, 0, 0},     {"node+fabric", 1, L_NUMA, 0, 8, 0, 0, 0},
        {"current+fabric", 1, L_NUMA_CURRENT, 0, 8, 0, 0, 0}, {"usage+max", 1, L_DEVICE, 0, 0, (size_t)1 << 48, 2, 0},
    };
    for (size_t i = 0; i < COUNT(two); i++) {
        CUmemPoolProps p = pool_props();
        p.allocType = (CUmemAllocationType)two[i].type;
        p.location = loc_at(two[i].at, two[i].place);
        p.handleTypes = (CUmemAllocationHandleType)two[i].handle;
        p.maxSize = two[i].max;
        p.usage = (unsigned short)two[i].usage;
        p.reserved[0] = (unsigned char)two[i].reserved;
        b_try(sub(id, "%s", two[i].id), p);
    }
}

static void group_b(void)
{
    static const struct pool_case cases[] = {
        {"B.pinned", b_locations, 1},         {"B.managed", b_locations, 2},       {"B.type", b_types, 0},
        {"B.usage.device", b_usage, 1},       {"B.usage.host", b_usage, 2},        {"B.max.device", b_max_size, 1},
        {"B.max.host", b_max_size, 2},        {"B.max.node", b_max_size, 3},       {"B.reserved", b_reserved, 0},
        {"B.null.out", b_null, 0},            {"B.null.props", b_null, 1},         {"B.null.out+type", b_null, 2},
        {"B.both", b_both, 0},
    };
    if (!is_wanted("B"))
        return;
    run_table(cases, COUNT(cases));
    run_cases(init, 3 * COUNT(b_handle_types), b_handles);
}
