/* SPDX-License-Identifier: Apache-2.0 */
/* Group L: the ends of pools, streams and contexts. Part of ../pools.c, which includes it. */

#define TAKEN ((i64)before - (i64)free_memory())

/* A pool is destroyed with live memory, pending or complete frees, and what each call says of the memory then. */
static void l_destroy(const char *id, u64 what)
{
    Pool pool = keeping_pool();
    CUstream s = new_stream();
    size_t before = free_memory();
    CUdeviceptr a = take(pool, 32 * MiB, s), b = take(pool, 32 * MiB, s);
    cuMemsetD8(a, 0x11, 64);
    cuStreamSynchronize(s);
    gate_reset();
    if (what == 1)
        gate_in(s);
    if (what > 0)
        drop(b, s);
    if (what == 2)
        settle(s);
    R(sub(id, "destroy"), cuMemPoolDestroy(pool));
    say(sub(id, "then"), "taken=%lld%s", TAKEN, gate_opened());
    cuStreamSynchronize(s);
    say(sub(id, "synced"), "taken=%lld byte=%d", TAKEN, byte_at(a));
    void *handle = pointer(77);
    CUresult r = cuPointerGetAttribute(&handle, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a);
    say(sub(id, "handle"), "%s %s", name_of(r), handle == pool ? "pool" : handle ? "other" : "0");
    CUdeviceptr base = 0;
    size_t size = 0;
    RV(sub(id, "range"), cuMemGetAddressRange(&base, &size, a), "off=%lld size=%zu", (i64)(base - a), size);
    if (what == 0)
        R(sub(id, "free_b"), cuMemFreeAsync(b, s));
    cuStreamSynchronize(s);
    say(sub(id, "one_left"), "taken=%lld", TAKEN);
    R(sub(id, "free_a"), what == 2 ? cuMemFree(a) : cuMemFreeAsync(a, s));
    settle(s);
    say(sub(id, "none_left"), "taken=%lld", TAKEN);
    cuStreamSynchronize(s);
    say(sub(id, "none_left_synced"), "taken=%lld", TAKEN);
    cuStreamDestroy(s);
}

static void l_destroy_default(const char *id, u64 unused)
{
    (void)unused;
    Pool pool = default_pool();
    R(sub(id, "destroy"), cuMemPoolDestroy(pool));
    CUdeviceptr p = 0;
    R(sub(id, "alloc"), cuMemAllocAsync(&p, 4096, 0));
    R(sub(id, "destroy_in_use"), cuMemPoolDestroy(pool));
    R(sub(id, "free"), cuMemFree(p));
    Pool own = new_pool();
    R(sub(id, "set"), cuDeviceSetMemPool(0, own));
    R(sub(id, "destroy_not_current"), cuMemPoolDestroy(pool));
    R(sub(id, "destroy_own"), cuMemPoolDestroy(own));
}

/* Pools do not belong to a context: one made in a context that ends, memory taken in its streams. */
static void l_context(const char *id, u64 pool_of_primary)
{
    size_t before = free_memory();
    Pool early = pool_of_primary ? keeping_pool() : NULL;
    CUcontext second = NULL, of = NULL;
    R(sub(id, "create"), cuCtxCreate(&second, NULL, 0, 0));
    Pool pool = early ? early : keeping_pool();
    CUstream s = new_stream();
    CUdeviceptr a = take(pool, 32 * MiB, s), b = take(pool, 32 * MiB, s);
    cuMemsetD8(a, 0x11, 64);
    drop(b, s);
    cuStreamSynchronize(s);
    CUresult r = cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, a);
    say(sub(id, "of"), "%s %s", name_of(r), of == second ? "second" : of == primary[0] ? "primary" : of ? "other" : "none");
    R(sub(id, "destroy"), cuCtxDestroy(second));
    cuCtxSetCurrent(primary[0]);
    say(sub(id, "state"), "%s taken=%lld", state(pool), TAKEN);
    say(sub(id, "byte"), "%d", byte_at(a));
    of = NULL;
    r = cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, a);
    say(sub(id, "of_then"), "%s %s", name_of(r), of == second ? "second" : of == primary[0] ? "primary" : of ? "other" : "none");
    CUdeviceptr c = 0;
    r = cuMemAllocFromPoolAsync(&c, 32 * MiB, pool, 0);
    say(sub(id, "alloc"), "%s off=%lld %s", name_of(r), r ? 0 : (i64)(c - a), now(pool));
    R(sub(id, "free"), cuMemFreeAsync(a, 0));
    if (!r)
        R(sub(id, "free_c"), cuMemFreeAsync(c, 0));
    cuCtxSynchronize();
    say(sub(id, "end"), "%s", now(pool));
    R(sub(id, "destroy_pool"), cuMemPoolDestroy(pool));
    say(sub(id, "taken"), "%lld", TAKEN);
}

/* The primary context is reset or released with pools that live. */
static void l_reset(const char *id, u64 how)
{
    Pool pool = keeping_pool(), standard = default_pool(), again = NULL;
    CUdeviceptr a = take(pool, 32 * MiB, 0), b = 0;
    cuMemAllocAsync(&b, 40 * MiB, 0);
    set_u64(standard, THRESHOLD, 12345);
    cuDeviceSetMemPool(0, pool);
    cuCtxSynchronize();
    R(sub(id, "end"), how == 0 ? cuDevicePrimaryCtxReset(0) : cuDevicePrimaryCtxRelease(0));
    say(sub(id, "own"), "%s", state(pool));
    say(sub(id, "default"), "%s", state(standard));
    CUcontext ctx = NULL;
    R(sub(id, "retain"), cuDevicePrimaryCtxRetain(&ctx, 0));
    R(sub(id, "current"), cuCtxSetCurrent(ctx));
    say(sub(id, "own_then"), "%s", state(pool));
    say(sub(id, "default_then"), "%s threshold=%llu", state(standard), value_of(standard, THRESHOLD));
    cuDeviceGetDefaultMemPool(&again, 0);
    say(sub(id, "default_same"), "%d", again == standard);
    cuDeviceGetMemPool(&again, 0);
    say(sub(id, "current_pool"), "%s", again == pool ? "own" : again == standard ? "default" : "other");
    say(sub(id, "byte"), "%d %d", byte_at(a), byte_at(b));
    R(sub(id, "free"), cuMemFreeAsync(a, 0));
    R(sub(id, "free_default"), cuMemFreeAsync(b, 0));
    CUdeviceptr c = 0;
    R(sub(id, "alloc"), cuMemAllocFromPoolAsync(&c, 4096, pool, 0));
    R(sub(id, "alloc_default"), cuMemAllocAsync(&c, 4096, 0));
    say(sub(id, "states"), "%s; %s", state(pool), state(standard));
    R(sub(id, "destroy"), cuMemPoolDestroy(pool));
}

static void l_reset_0(void)
{
    init();
    l_reset("L.reset", 0);
}

static void l_reset_1(void)
{
    init();
    l_reset("L.release", 1);
}

/* The stream that the memory came from is destroyed, with and without pending work. */
static void l_stream(const char *id, u64 pending)
{
    Pool pool = keeping_pool();
    CUstream s = new_stream(), t = new_stream();
    if (pending)
        gate_in(s);
    CUdeviceptr a = take(pool, 32 * MiB, s), b = take(pool, 32 * MiB, s);
    drop(b, s);
    R(sub(id, "destroy"), cuStreamDestroy(s));
    const char *busy = pending ? gate_opened() : "";
    say(sub(id, "state"), "%s%s", now(pool), busy);
    CUdeviceptr c = take(pool, 32 * MiB, t);
    say(sub(id, "alloc"), "off=%lld %s", pending ? 0 : (i64)(c - a), pending ? "" : now(pool));
    R(sub(id, "free_a"), cuMemFreeAsync(a, t));
    R(sub(id, "free_c"), cuMemFreeAsync(c, t));
    cuCtxSynchronize();
    say(sub(id, "end"), "used=%llu", value_of(pool, USED));
    cuMemPoolDestroy(pool);
    cuStreamDestroy(t);
}

/* Without a context, before cuInit. */
static void l_calls_without(const char *id, Pool pool, CUdeviceptr p)
{
    CUmemPoolProps props = pool_props();
    CUmemAccessDesc d = desc(L_DEVICE, 0, RW);
    CUmemLocation l = loc_at(L_DEVICE, 0);
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    CUmemPoolPtrExportData data;
    Pool got = NULL;
    CUdeviceptr q = 77;
    int fd = -7;
    memset(&data, 0, sizeof data);
    R(sub(id, "default"), cuDeviceGetDefaultMemPool(&got, 0));
    R(sub(id, "device_get"), cuDeviceGetMemPool(&got, 0));
    R(sub(id, "mem_default"), cuMemGetDefaultMemPool(&got, &l, CU_MEM_ALLOCATION_TYPE_PINNED));
    R(sub(id, "mem_get"), cuMemGetMemPool(&got, &l, CU_MEM_ALLOCATION_TYPE_PINNED));
    R(sub(id, "create"), cuMemPoolCreate(&got, &props));
    if (!pool)
        pool = got;
    R(sub(id, "device_set"), cuDeviceSetMemPool(0, pool));
    R(sub(id, "mem_set"), cuMemSetMemPool(&l, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    u64 v = 0x77;
    RV(sub(id, "get"), cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v), "v=%llu", v);
    v = 0;
    R(sub(id, "set"), cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v));
    R(sub(id, "trim"), cuMemPoolTrimTo(pool, 0));
    R(sub(id, "get_access"), cuMemPoolGetAccess(&flags, pool, &l));
    R(sub(id, "set_access"), cuMemPoolSetAccess(pool, &d, 1));
    RV(sub(id, "alloc"), cuMemAllocAsync(&q, 4096, 0), "wrote=%d", q != 77);
    q = 77;
    RV(sub(id, "from_pool"), cuMemAllocFromPoolAsync(&q, 4096, pool, 0), "wrote=%d", q != 77);
    R(sub(id, "export"), cuMemPoolExportToShareableHandle(&fd, pool, FD, 0));
    R(sub(id, "import"), cuMemPoolImportFromShareableHandle(&got, pointer((CUdeviceptr)-1), FD, 0));
    R(sub(id, "export_pointer"), cuMemPoolExportPointer(&data, p));
    R(sub(id, "import_pointer"), cuMemPoolImportPointer(&q, pool, &data));
    R(sub(id, "free"), cuMemFreeAsync(p, 0));
    R(sub(id, "destroy"), cuMemPoolDestroy(pool));
}

static void l_before_init(void)
{
    end_after(5);
    l_calls_without("L.before_init", NULL, 0);
}

static void l_no_context(void)
{
    end_after(5);
    init();
    Pool pool = new_pool();
    CUdeviceptr p = take(pool, 4096, 0);
    cuCtxSetCurrent(NULL);
    l_calls_without("L.no_context", pool, p);
}

static void l_never_context(void)
{
    end_after(5);
    cuInit(0);
    l_calls_without("L.never_context", NULL, 0);
    size_t before = 0;
    (void)before;
}

static void group_l(void)
{
    static const struct pool_case cases[] = {
        {"L.destroy.live", l_destroy, 0}, {"L.destroy.pending", l_destroy, 1}, {"L.destroy.freed", l_destroy, 2},
        {"L.destroy_default", l_destroy_default, 0}, {"L.context.own", l_context, 0}, {"L.context.primary", l_context, 1},
        {"L.stream.idle", l_stream, 0}, {"L.stream.pending", l_stream, 1},
    };
    if (!is_wanted("L"))
        return;
    run_table(cases, COUNT(cases));
    child("L.reset!", l_reset_0);
    child("L.release!", l_reset_1);
    child("L.before_init!", l_before_init);
    child("L.no_context!", l_no_context);
    child("L.never_context!", l_never_context);
}
