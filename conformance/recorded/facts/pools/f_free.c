/* SPDX-License-Identifier: Apache-2.0 */
/* Group F: cuMemFree and cuMemFreeAsync of every kind of memory. Part of ../pools.c, which includes it. */

static char f_static[8192];

/* An address by kind. */
static CUdeviceptr f_address(u64 kind, Pool pool, CUstream s)
{
    CUdeviceptr p = 0, q = 0;
    void *h = NULL;
    Handle m;
    switch (kind) {
    case 0: return 0;
    case 1: return 1;
    case 2: return UINT64_MAX;
    case 3: return take(pool, 4096, s) + 1;
    case 4: return take(pool, 4096, s) + 512;
    case 5: return take(pool, 4096, s) + 4096;
    case 6: return take(pool, 64 * MiB, s) + G;
    case 7: p = take(pool, 4096, s); drop(p, s); return p;
    case 8: p = take(pool, 4096, s); drop(p, s); cuStreamSynchronize(s); return p;
    case 9: p = take(pool, 4096, s); drop(p, s); cuStreamSynchronize(s); cuMemPoolTrimTo(pool, 0); return p;
    case 10: p = take(pool, 4096, s); cuMemFree(p); return p;
    case 11: cuMemAlloc(&p, 4096); return p;
    case 12: cuMemAlloc(&p, 4096); return p + 512;
    case 13: cuMemAlloc(&p, G); cuMemFree(p); return p;
    case 14: p = reserve(G); return p;
    case 15: p = reserve(G); m = make(G); map(p, G, m); give(p, G, L_DEVICE, RW); return p;
    case 16: cuMemAllocHost(&h, 4096); return (CUdeviceptr)(uintptr_t)h;
    case 17: cuMemHostAlloc(&h, 4096, CU_MEMHOSTALLOC_DEVICEMAP); cuMemHostGetDevicePointer(&p, h, 0); return p;
    case 18:
        h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        cuMemHostRegister(h, 4096, 0);
        return (CUdeviceptr)(uintptr_t)h;
    case 19: return (CUdeviceptr)(uintptr_t)f_static;
    case 20: return managed(4096);
    case 21: cuMemAllocPitch(&p, &(size_t){0}, 100, 10, 4); return p;
    case 22: return take(pool, 4096, s);
    default: /* whose pool is destroyed */
        pool = new_pool();
        q = take(pool, 4096, s);
        cuMemPoolDestroy(pool);
        return q;
    }
}

enum { F_KINDS = 24, F_CALLS = 3 };
static const char *const f_kinds[F_KINDS] = {"null", "one", "max", "inner1", "inner512", "end", "inner2M", "freed", "freed_synced", "freed_trimmed",
                                             "freed_by_free", "plain", "plain_inner", "plain_freed", "reserved", "mapped", "host", "host_mapped",
                                             "registered", "static", "managed", "pitch", "pool", "destroyed_pool"};

/* cuMemFree, cuMemFreeAsync, then again; and cuMemFreeHost. */
static void f_each(size_t i, char *id, int run)
{
    static const char *const calls[] = {"free", "free_async", "free_host"};
    size_t kind = i % F_KINDS, call = i / F_KINDS;
    snprintf(id, CASE_ID, "F.%s.%s", calls[call], f_kinds[kind]);
    if (!run || (call == 2 && (kind < 3 || (kind > 13 && kind < 22))))
        return;
    if (call == 1 && (kind == 11 || kind == 21)) /* what follows never returns: f_plain_async */
        return;
    Pool pool = keeping_pool();
    CUstream s = new_stream();
    CUdeviceptr p = f_address(kind, pool, s);
    CUresult first = call == 0 ? cuMemFree(p) : call == 1 ? cuMemFreeAsync(p, s) : cuMemFreeHost(pointer(p));
    u64 used = value_of(pool, USED);
    CUresult second = call == 0 ? cuMemFree(p) : call == 1 ? cuMemFreeAsync(p, s) : CUDA_SUCCESS;
    CUresult sync = cuStreamSynchronize(s);
    CUresult third = call == 2 ? CUDA_SUCCESS : cuMemFreeAsync(p, s);
    say(id, "%s used=%llu again=%s sync=%s after=%s %s", name_of(first), used, name_of(second), name_of(sync), name_of(third), now(pool));
}

/* cuMemFree and cuMemFreeAsync while the stream that allocated is held up: does the call wait, and what is left? */
static void f_pending(const char *id, u64 how)
{
    Pool pool = keeping_pool();
    CUstream s = new_stream(), t = new_stream(), b = NULL;
    cuStreamCreate(&b, 0);
    size_t before = free_memory();
    gate_in(s);
    CUdeviceptr p = take(pool, 32 * MiB, s);
    CUresult r;
    switch (how) {
    case 0: r = cuMemFree(p); break;
    case 1: r = cuMemFreeAsync(p, s); break;
    case 2: r = cuMemFreeAsync(p, t); break;
    case 3: r = cuMemFreeAsync(p, 0); break;
    case 4: r = cuMemFreeAsync(p, b); break;
    default: r = cuMemFreeAsync(p, CU_STREAM_PER_THREAD); break;
    }
    CUresult again = cuMemFreeAsync(p, s);
    say(id, "%s %s taken=%lld again=%s t=%s%s", name_of(r), now(pool), (i64)before - (i64)free_memory(), name_of(again),
        name_of(cuStreamQuery(t)), gate_opened());
    cuCtxSynchronize();
    say(sub(id, "synced"), "%s", now(pool));
    cuMemPoolTrimTo(pool, 0);
    say(sub(id, "trimmed"), "%s taken=%lld", now(pool), (i64)before - (i64)free_memory());
    cuMemPoolDestroy(pool);
}

/* cuMemFree of a pool's memory: does it return memory to the pool, to the device, for reuse at once? */
static void f_plain_free(const char *id, u64 threshold)
{
    Pool pool = new_pool();
    set_u64(pool, THRESHOLD, threshold);
    CUstream s = new_stream();
    size_t before = free_memory();
    CUdeviceptr a = take(pool, 32 * MiB, s), b = take(pool, 64 * MiB, s), c = take(pool, MiB, s);
    R(sub(id, "free"), cuMemFree(a));
    say(sub(id, "then"), "%s taken=%lld", state(pool), (i64)before - (i64)free_memory());
    CUdeviceptr d = take(pool, 32 * MiB, s);
    say(sub(id, "reused"), "off=%lld %s", (i64)(d - a), now(pool));
    R(sub(id, "free_b"), cuMemFree(b));
    say(sub(id, "then_b"), "%s taken=%lld", state(pool), (i64)before - (i64)free_memory());
    R(sub(id, "free_c"), cuMemFree(c));
    R(sub(id, "free_d"), cuMemFree(d));
    say(sub(id, "then_all"), "%s taken=%lld", state(pool), (i64)before - (i64)free_memory());
    cuCtxSynchronize();
    say(sub(id, "synced"), "%s taken=%lld", state(pool), (i64)before - (i64)free_memory());
    cuMemPoolDestroy(pool);
    say(sub(id, "destroyed"), "taken=%lld", (i64)before - (i64)free_memory());
}

/* cuMemFreeAsync of memory of cuMemAlloc, step by step: a recorded driver did not come back from what follows. */
static void f_plain_async(const char *id, u64 what)
{
    CUstream s = new_stream();
    CUdeviceptr p = 0, q = 0;
    size_t before = free_memory(), size = 0;
    cuMemAlloc(&p, 32 * MiB);
    if (what == 3)
        gate_in(s);
    R(sub(id, "free_async"), cuMemFreeAsync(p, s));
    if (what == 3)
        gate_opened();
    settle(s);
    R(sub(id, "range"), cuMemGetAddressRange(&q, &size, p));
    say(sub(id, "taken"), "%lld", (i64)before - (i64)free_memory());
    switch (what) {
    case 0: R(sub(id, "again"), cuMemFreeAsync(p, s)); break;
    case 1: R(sub(id, "synced"), cuStreamSynchronize(s)); break;
    case 2: R(sub(id, "free"), cuMemFree(p)); break;
    default: R(sub(id, "fill"), cuMemsetD8Async(p, 1, 16, s)); break;
    }
    say(sub(id, "then"), "%lld", (i64)before - (i64)free_memory());
    R(sub(id, "alloc"), cuMemAlloc(&q, G));
    R(sub(id, "end"), cuCtxSynchronize());
}

static void group_f(void)
{
    static const struct pool_case cases[] = {
        {"F.pending.free", f_pending, 0},          {"F.pending.same", f_pending, 1},     {"F.pending.other", f_pending, 2},
        {"F.pending.legacy", f_pending, 3},        {"F.pending.blocking", f_pending, 4}, {"F.pending.per_thread", f_pending, 5},
        {"F.plain_free.0", f_plain_free, 0},       {"F.plain_free.max", f_plain_free, UINT64_MAX},
        {"F.plain_free.64M", f_plain_free, 64 * MiB},
        {"F.plain_async.again", f_plain_async, 0}, {"F.plain_async.sync", f_plain_async, 1}, {"F.plain_async.free", f_plain_async, 2},
        {"F.plain_async.fill", f_plain_async, 3},
    };
    if (!is_wanted("F"))
        return;
    run_cases(init, F_KINDS * F_CALLS, f_each);
    run_table(cases, COUNT(cases));
}
