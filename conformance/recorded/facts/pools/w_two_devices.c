/* SPDX-License-Identifier: Apache-2.0 */
/* Group W: pools of two devices, access of the other device, streams of the other device. Part of ../pools.c, which includes it. */

static void w_init(void)
{
    init();
    if (cuDevicePrimaryCtxRetain(&primary[1], 1))
        say("W!", "no second device");
}

static Pool w_pool(int device)
{
    CUmemPoolProps p = pool_props();
    p.location = loc_at(L_DEVICE, device);
    return pool_with(p);
}

static const char *w_flags(Pool pool)
{
    static char text[40];
    CUmemAccess_flags f[2] = {(CUmemAccess_flags)99, (CUmemAccess_flags)99};
    for (int i = 0; i < 2; i++) {
        CUmemLocation l = loc_at(L_DEVICE, i);
        cuMemPoolGetAccess(&f[i], pool, &l);
    }
    snprintf(text, sizeof text, "d0=%d d1=%d", f[0], f[1]);
    return text;
}

static void w_current(const char *id, u64 unused)
{
    (void)unused;
    Pool a = w_pool(0), b = w_pool(1), got = NULL, d0 = NULL, d1 = NULL;
    CUmemLocation l0 = loc_at(L_DEVICE, 0), l1 = loc_at(L_DEVICE, 1);
    R(sub(id, "default0"), cuDeviceGetDefaultMemPool(&d0, 0));
    R(sub(id, "default1"), cuDeviceGetDefaultMemPool(&d1, 1));
    say(sub(id, "differ"), "%d", d0 != d1);
    R(sub(id, "set0.a"), cuDeviceSetMemPool(0, a));
    R(sub(id, "set0.b"), cuDeviceSetMemPool(0, b));
    R(sub(id, "set1.b"), cuDeviceSetMemPool(1, b));
    R(sub(id, "set1.a"), cuDeviceSetMemPool(1, a));
    R(sub(id, "set1.default0"), cuDeviceSetMemPool(1, d0));
    R(sub(id, "mem_set0.b"), cuMemSetMemPool(&l0, CU_MEM_ALLOCATION_TYPE_PINNED, b));
    R(sub(id, "mem_set1.b"), cuMemSetMemPool(&l1, CU_MEM_ALLOCATION_TYPE_PINNED, b));
    cuDeviceGetMemPool(&got, 0);
    say(sub(id, "get0"), "%s", got == a ? "a" : got == b ? "b" : "other");
    cuDeviceGetMemPool(&got, 1);
    say(sub(id, "get1"), "%s", got == a ? "a" : got == b ? "b" : "other");
    CUstream s0 = new_stream(), s1;
    cuCtxSetCurrent(primary[1]);
    s1 = new_stream();
    CUdeviceptr p = 0, q = 0;
    R(sub(id, "alloc_in_s0_by1"), cuMemAllocAsync(&p, 4096, s0));
    R(sub(id, "alloc_in_s1_by1"), cuMemAllocAsync(&q, 4096, s1));
    void *h = NULL;
    int ordinal = -1;
    cuPointerGetAttribute(&h, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p);
    cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p);
    say(sub(id, "p"), "%s device=%d", h == a ? "a" : h == b ? "b" : "other", ordinal);
    cuPointerGetAttribute(&h, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, q);
    cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, q);
    say(sub(id, "q"), "%s device=%d", h == a ? "a" : h == b ? "b" : "other", ordinal);
    R(sub(id, "free_p_in_s1"), cuMemFreeAsync(p, s1));
    R(sub(id, "free_q_in_s0"), cuMemFreeAsync(q, s0));
    cuCtxSynchronize();
    cuCtxSetCurrent(primary[0]);
    cuCtxSynchronize();
    R(sub(id, "destroy_b"), cuMemPoolDestroy(b));
    cuDeviceGetMemPool(&got, 1);
    say(sub(id, "get1_then"), "%s", got == d1 ? "default" : "other");
    cuDeviceSetMemPool(0, d0);
    cuMemPoolDestroy(a);
}

/* The pool of one device in a stream of the other; the current context as third. Bits: 1 pool, 2 stream, 4 context on device 1. */
static void w_stream(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "W.stream.pool%zu.stream%zu.context%zu", i & 1, i >> 1 & 1, i >> 2 & 1);
    if (!run)
        return;
    Pool pool = w_pool((int)(i & 1));
    cuCtxSetCurrent(primary[i >> 1 & 1]);
    CUstream s = new_stream();
    cuCtxSetCurrent(primary[i >> 2 & 1]);
    CUdeviceptr p = 77;
    CUcontext of = NULL;
    int ordinal = -1;
    CUresult r = cuMemAllocFromPoolAsync(&p, 10000, pool, s);
    CUresult g = cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, p);
    cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p);
    u64 f[2] = {99, 99};
    for (int k = 0; k < 2; k++) {
        CUmemLocation l = loc_at(L_DEVICE, k);
        cuMemGetAccess(&f[k], &l, p);
    }
    CUresult fill = cuMemsetD8Async(p, 1, 64, s), sync = cuStreamSynchronize(s);
    say(id, "%s %s context=%s,%d ordinal=%d access=%llu,%llu fill=%s sync=%s", name_of(r), now(pool), name_of(g),
        of == primary[0] ? 0 : of == primary[1] ? 1 : of ? 2 : -1, ordinal, f[0], f[1], name_of(fill), name_of(sync));
    if (!sync) {
        R(sub(id, "free"), cuMemFreeAsync(p, s));
        cuStreamSynchronize(s);
        say(sub(id, "end"), "%s", now(pool));
        cuMemPoolDestroy(pool);
    }
    cuCtxSetCurrent(primary[0]);
}

/* Memory of a pool of device 0, from device 1: before and after access, with and without peer access, for new memory too. */
static void w_access(const char *id, u64 peers)
{
    if (peers) {
        cuCtxSetCurrent(primary[1]);
        R(sub(id, "enable"), cuCtxEnablePeerAccess(primary[0], 0));
        cuCtxSetCurrent(primary[0]);
    }
    Pool pool = w_pool(0);
    CUdeviceptr p = take(pool, 4096, 0), q;
    cuMemsetD8(p, 0x11, 4096);
    CUmemAccessDesc d = desc(L_DEVICE, 1, RW);
    say(sub(id, "flags"), "%s", w_flags(pool));
    RV(sub(id, "give"), cuMemPoolSetAccess(pool, &d, 1), "%s", w_flags(pool));
    cuCtxSetCurrent(primary[1]);
    R(sub(id, "fill"), cuMemsetD8(p, 0x22, 16));
    R(sub(id, "fill_sync"), cuCtxSynchronize());
    cuCtxSetCurrent(primary[0]);
    q = take(pool, 64 * MiB, 0);
    cuStreamSynchronize(0);
    cuCtxSetCurrent(primary[1]);
    R(sub(id, "fill_new"), cuMemsetD8(q, 0x33, 16));
    R(sub(id, "fill_new_sync"), cuCtxSynchronize());
    d.flags = (CUmemAccess_flags)READ;
    RV(sub(id, "read_only"), cuMemPoolSetAccess(pool, &d, 1), "%s", w_flags(pool));
    d.flags = (CUmemAccess_flags)NONE;
    RV(sub(id, "withdraw"), cuMemPoolSetAccess(pool, &d, 1), "%s", w_flags(pool));
    CUmemAccessDesc both[2] = {desc(L_DEVICE, 0, NONE), desc(L_DEVICE, 1, RW)};
    RV(sub(id, "own_none"), cuMemPoolSetAccess(pool, both, 2), "%s", w_flags(pool));
    both[0].flags = (CUmemAccess_flags)RW;
    RV(sub(id, "both"), cuMemPoolSetAccess(pool, both, 2), "%s", w_flags(pool));
    RV(sub(id, "order"), cuMemPoolSetAccess(pool, (CUmemAccessDesc[]){both[1], desc(L_DEVICE, 99, RW)}, 2), "%s", w_flags(pool));
    RV(sub(id, "withdraw_again"), cuMemPoolSetAccess(pool, &d, 1), "%s", w_flags(pool));
    R(sub(id, "fill_withdrawn"), cuMemsetD8(p, 0x44, 16));
    R(sub(id, "fill_withdrawn_sync"), cuCtxSynchronize());
}

/* Copies between the devices without access. */
static void w_copies(const char *id, u64 unused)
{
    (void)unused;
    Pool a = w_pool(0), b = w_pool(1);
    CUdeviceptr p = take(a, 4096, 0);
    cuMemsetD8(p, 0x11, 4096);
    cuCtxSetCurrent(primary[1]);
    CUdeviceptr q = take(b, 4096, 0);
    cuMemsetD8(q, 0x22, 4096);
    cuCtxSynchronize();
    unsigned char out = 0;
    R(sub(id, "host_by1"), cuMemcpyDtoH(&out, p, 1));
    R(sub(id, "device_by1"), cuMemcpyDtoD(q, p, 16));
    cuCtxSetCurrent(primary[0]);
    R(sub(id, "device_by0"), cuMemcpyDtoD(p, q, 16));
    R(sub(id, "peer"), cuMemcpyPeer(p, primary[0], q, primary[1], 16));
    R(sub(id, "peer_async"), cuMemcpyPeerAsync(p, primary[0], q, primary[1], 16, 0));
    R(sub(id, "sync"), cuCtxSynchronize());
    say(sub(id, "byte"), "%d", byte_at(p));
    cuCtxSetCurrent(primary[1]);
    R(sub(id, "fill_by1"), cuMemsetD8(p, 0x44, 16));
    R(sub(id, "fill_by1_sync"), cuCtxSynchronize());
}

/* Reuse between streams of two devices. */
static void w_reuse(const char *id, u64 ordered)
{
    Pool pool = w_pool(0);
    keep_all(pool);
    CUstream s = new_stream();
    cuCtxSetCurrent(primary[1]);
    CUstream t = new_stream();
    cuCtxSetCurrent(primary[0]);
    CUdeviceptr a = take(pool, 32 * MiB, s);
    cuStreamSynchronize(s);
    gate_reset();
    if (ordered != 2)
        gate_in(s);
    drop(a, s);
    if (ordered == 1) {
        CUevent e = new_event();
        cuEventRecord(e, s);
        cuStreamWaitEvent(t, e, 0);
        cuEventDestroy(e);
    } else if (ordered == 2)
        settle(s);
    CUdeviceptr b = take(pool, 32 * MiB, t);
    say(id, "off=%lld %s next=%s%s", (i64)(b - a), now(pool), name_of(cuStreamQuery(t)), gate_opened());
    cuCtxSynchronize();
    cuStreamSynchronize(t);
    cuMemFree(b);
    cuMemPoolDestroy(pool);
}

/* Which device's synchronisation releases, threshold 0. */
static void w_release(const char *id, u64 by)
{
    Pool pool = w_pool(0);
    CUstream s = new_stream();
    CUdeviceptr a = take(pool, 32 * MiB, s);
    drop(a, s);
    settle(s);
    cuCtxSetCurrent(primary[by]);
    R(id, cuCtxSynchronize());
    cuCtxSetCurrent(primary[0]);
    say(sub(id, "then"), "%s", now(pool));
    cuStreamSynchronize(s);
    cuMemPoolDestroy(pool);
}

static void w_pairs(const char *id, u64 unused)
{
    (void)unused;
    static const int flags[] = {0, 1, 2, 3};
    for (int pool_of = 0; pool_of < 2; pool_of++)
        for (int at = 0; at < 2; at++)
            for (size_t i = 0; i < COUNT(flags); i++) {
                Pool pool = w_pool(pool_of);
                CUmemAccessDesc d = desc(L_DEVICE, at, flags[i]);
                RV(sub(id, "pool%d.at%d.%d", pool_of, at, flags[i]), cuMemPoolSetAccess(pool, &d, 1), "%s", w_flags(pool));
                cuMemPoolDestroy(pool);
            }
    CUmemPoolProps host = pool_props();
    host.location = loc_at(L_HOST, 0);
    Pool pool = pool_with(host);
    CUmemAccessDesc d = desc(L_DEVICE, 1, RW);
    RV(sub(id, "host.at1"), cuMemPoolSetAccess(pool, &d, 1), "%s", w_flags(pool));
    cuMemPoolDestroy(pool);
}

static void group_w(void)
{
    static const struct pool_case cases[] = {
        {"W.current", w_current, 0}, {"W.pairs", w_pairs, 0}, {"W.reuse.pending", w_reuse, 0}, {"W.reuse.ordered", w_reuse, 1},
        {"W.reuse.done", w_reuse, 2}, {"W.release.0", w_release, 0}, {"W.release.1", w_release, 1}, {"W.access", w_access, 0},
        {"W.access_peers", w_access, 1}, {"W.copies", w_copies, 0},
    };
    int count = 0;
    if (!is_wanted("W"))
        return;
    int ends[2]; /* the count comes from a child, so that this process never initialises CUDA */
    if (pipe(ends))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        cuInit(0);
        cuDeviceGetCount(&count);
        _exit(write(ends[1], &count, sizeof count) == sizeof count ? 0 : 1);
    }
    waitpid(pid, NULL, 0);
    if (read(ends[0], &count, sizeof count) != sizeof count || count < 2)
        return;
    run_cases(w_init, 8, w_stream);
    table = cases;
    run_cases(w_init, COUNT(cases), table_one);
}
