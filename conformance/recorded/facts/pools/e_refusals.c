/* SPDX-License-Identifier: Apache-2.0 */
/* Group E: the arguments of allocation, trim, access, export: which are refused, and which refusal comes first. Part of ../pools.c,
 * which includes it. */

enum { E_ALLOC, E_FROM_POOL, E_FREE, E_CALLS };

/* Streams by kind; some leave the context as their case needs it. */
static CUstream e_stream(u64 kind)
{
    CUcontext other = NULL;
    CUstream s = NULL;
    static u64 zeros[512];
    switch (kind) {
    case 0: return 0;
    case 1: return CU_STREAM_LEGACY;
    case 2: return CU_STREAM_PER_THREAD;
    case 3: return new_stream();
    case 4: cuStreamCreate(&s, 0); return s;
    case 5: s = new_stream(); cuStreamDestroy(s); return s;
    case 6: return (CUstream)(uintptr_t)0x10;
    case 7: return (CUstream)(uintptr_t)3;
    case 8: return (CUstream)zeros;
    case 9: /* of another context */
        cuCtxCreate(&other, NULL, 0, 0);
        s = new_stream();
        cuCtxSetCurrent(primary[0]);
        return s;
    case 10: /* without a current context */
        s = new_stream();
        cuCtxSetCurrent(NULL);
        return s;
    case 11: cuCtxSetCurrent(NULL); return 0;
    case 12: cuCtxSetCurrent(NULL); return CU_STREAM_LEGACY;
    case 13: cuCtxSetCurrent(NULL); return CU_STREAM_PER_THREAD;
    case 14: /* another context is current */
        s = new_stream();
        cuCtxCreate(&other, NULL, 0, 0);
        return s;
    case 15: cuCtxCreate(&other, NULL, 0, 0); return 0;
    case 16: /* its context is gone */
        cuCtxCreate(&other, NULL, 0, 0);
        s = new_stream();
        cuCtxDestroy(other);
        cuCtxSetCurrent(primary[0]);
        return s;
    default: cuCtxSetCurrent(NULL); return (CUstream)(uintptr_t)0x10;
    }
}

enum { E_STREAMS = 18 };

static const char *const e_names[E_STREAMS] = {"null", "legacy", "per_thread", "non_blocking", "blocking", "destroyed", "0x10", "3", "zeros",
                                               "of_other_context", "no_context", "null_no_context", "legacy_no_context",
                                               "per_thread_no_context", "other_current", "null_other_current", "context_gone",
                                               "0x10_no_context"};

static void e_streams(size_t i, char *id, int run)
{
    static const char *const calls[] = {"alloc", "from_pool", "free"};
    size_t call = i / E_STREAMS;
    snprintf(id, CASE_ID, "E.stream.%s.%s", calls[call], e_names[i % E_STREAMS]);
    if (!run)
        return;
    cuCtxSetCurrent(primary[0]);
    Pool pool = keeping_pool();
    CUdeviceptr p = 77;
    if (call == E_FREE)
        p = take(pool, 4096, 0);
    CUstream s = e_stream(i % E_STREAMS);
    CUresult r = call == E_ALLOC ? cuMemAllocAsync(&p, 4096, s) : call == E_FROM_POOL ? cuMemAllocFromPoolAsync(&p, 4096, pool, s)
                                                                                      : cuMemFreeAsync(p, s);
    CUcontext current = NULL, of = NULL;
    cuCtxGetCurrent(&current);
    CUresult g = p != 77 ? cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, p) : CUDA_SUCCESS;
    say(id, "%s wrote=%d used=%llu context=%s,%s", name_of(r), p != 77, value_of(pool, USED), name_of(g),
        !of ? "none" : of == primary[0] ? "primary" : of == current ? "current" : "other");
    cuCtxSetCurrent(primary[0]);
    cuCtxSynchronize();
    if (call == E_FREE ? r : !r)
        cuMemFree(p);
    cuMemPoolDestroy(pool);
}

static void e_sizes(const char *id, u64 which)
{
    static const size_t sizes[] = {0, 1, (size_t)1 << 37, (size_t)1 << 38, (size_t)1 << 40, (size_t)1 << 46, (size_t)1 << 47, (size_t)1 << 48,
                                   (size_t)1 << 62, (size_t)1 << 63, SIZE_MAX - G, SIZE_MAX - 511, SIZE_MAX - 510, SIZE_MAX - 1, SIZE_MAX};
    CUmemPoolProps props = pool_props();
    if (which == 2)
        props.location = loc_at(L_HOST, 0);
    Pool pool = pool_with(props);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUdeviceptr p = 77;
        CUresult r = which == 0 ? cuMemAllocAsync(&p, sizes[i], 0) : cuMemAllocFromPoolAsync(&p, sizes[i], pool, 0);
        say(sub(id, "%zx", sizes[i]), "%s wrote=%d value0=%d res=%llu", name_of(r), p != 77, p == 0, value_of(pool, RESERVED));
        if (!r && p)
            cuMemFree(p);
    }
    cuMemPoolDestroy(pool);
}

/* Bits: 1 no output, 2 size 0, 4 bad pool (NULL), 8 a stream that is zeros, 16 size beyond the machine. */
static void e_combined(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "E.both.%s%s%s%s%s", i & 1 ? "+out" : "", i & 2 ? "+zero" : "", i & 4 ? "+pool" : "", i & 8 ? "+stream" : "",
             i & 16 ? "+huge" : "");
    if (!run || (i & 2 && i & 16))
        return;
    static u64 zeros[512];
    Pool pool = new_pool();
    CUdeviceptr p = 77, q = 77;
    size_t size = i & 2 ? 0 : i & 16 ? (size_t)1 << 40 : 4096;
    CUstream s = i & 8 ? (CUstream)zeros : 0;
    CUresult r = cuMemAllocFromPoolAsync(i & 1 ? NULL : &p, size, i & 4 ? NULL : pool, s);
    CUresult a = i & 4 ? CUDA_SUCCESS : cuMemAllocAsync(i & 1 ? NULL : &q, size, s);
    say(id, "%s wrote=%d alloc=%s wrote=%d used=%llu", name_of(r), p != 77, name_of(a), q != 77, value_of(pool, USED));
}

static void e_trim(const char *id, u64 unused)
{
    (void)unused;
    static const size_t sizes[] = {0, 1, G, 32 * MiB, GiB, (size_t)1 << 63, SIZE_MAX};
    Pool pool = keeping_pool();
    for (size_t i = 0; i < COUNT(sizes); i++)
        RV(sub(id, "empty.%zx", sizes[i]), cuMemPoolTrimTo(pool, sizes[i]), "%s", now(pool));
    cuMemPoolDestroy(pool);
}

static void e_export(const char *id, u64 exportable)
{
    static const int types[] = {-1, 0, 1, 2, 3, 4, 8, 9, 16};
    CUmemPoolProps props = pool_props();
    props.handleTypes = exportable ? FD : (CUmemAllocationHandleType)0;
    Pool pool = pool_with(props);
    for (size_t i = 0; i < COUNT(types); i++) {
        u64 out[8] = {(u64)(i64)-7};
        CUresult r = cuMemPoolExportToShareableHandle(out, pool, (CUmemAllocationHandleType)types[i], 0);
        say(sub(id, "type%d", types[i]), "%s wrote=%d", name_of(r), out[0] != (u64)(i64)-7);
    }
    for (int bit = 0; bit < 64; bit += bit < 3 ? 1 : bit == 3 ? 28 : 32) {
        int fd = -7;
        RV(sub(id, "flag%d", bit), cuMemPoolExportToShareableHandle(&fd, pool, FD, (u64)1 << bit), "wrote=%d", fd != -7);
    }
    R(sub(id, "null"), cuMemPoolExportToShareableHandle(NULL, pool, FD, 0));
    R(sub(id, "null+flags"), cuMemPoolExportToShareableHandle(NULL, pool, FD, 1));
    R(sub(id, "null+type"), cuMemPoolExportToShareableHandle(NULL, pool, (CUmemAllocationHandleType)2, 0));
    int a = -1, b = -1;
    if (exportable && !cuMemPoolExportToShareableHandle(&a, pool, FD, 0) && !cuMemPoolExportToShareableHandle(&b, pool, FD, 0))
        say(sub(id, "twice"), "differ=%d cloexec=%d,%d", a != b, fcntl(a, F_GETFD), fcntl(b, F_GETFD));
    CUdeviceptr p = take(pool, 4096, 0);
    CUmemPoolPtrExportData data;
    memset(&data, 0x55, sizeof data);
    CUresult r = cuMemPoolExportPointer(&data, p);
    int written = 0;
    for (size_t i = 0; i < sizeof data.reserved; i++)
        written += data.reserved[i] != 0x55;
    say(sub(id, "pointer"), "%s wrote=%d", name_of(r), written != 0);
    static const i64 at[] = {1, 512, 4095, 4096, -1};
    for (size_t i = 0; i < COUNT(at); i++)
        R(sub(id, "pointer%+lld", at[i]), cuMemPoolExportPointer(&data, p + (u64)at[i]));
    R(sub(id, "pointer.null_out"), cuMemPoolExportPointer(NULL, p));
    R(sub(id, "pointer.zero"), cuMemPoolExportPointer(&data, 0));
    R(sub(id, "pointer.null_out+zero"), cuMemPoolExportPointer(NULL, 0));
    CUdeviceptr m = 0;
    cuMemAlloc(&m, 4096);
    R(sub(id, "pointer.plain"), cuMemPoolExportPointer(&data, m));
    cuMemFree(m);
    void *h = NULL;
    cuMemAllocHost(&h, 4096);
    R(sub(id, "pointer.host"), cuMemPoolExportPointer(&data, (CUdeviceptr)(uintptr_t)h));
    cuMemFreeHost(h);
    cuMemFreeAsync(p, 0);
    R(sub(id, "pointer.freed"), cuMemPoolExportPointer(&data, p));
    cuCtxSynchronize();
    R(sub(id, "pointer.freed_done"), cuMemPoolExportPointer(&data, p));
    cuMemPoolDestroy(pool);
}

/* Import in the process of the exporter, with wrong arguments. */
static void e_import(const char *id, u64 unused)
{
    (void)unused;
    CUmemPoolProps props = pool_props();
    props.handleTypes = FD;
    Pool pool = pool_with(props), in = NULL;
    int fd = -1, ends[2];
    cuMemPoolExportToShareableHandle(&fd, pool, FD, 0);
    CUmemAllocationProp prop = prop_at(L_DEVICE, 0);
    prop.requestedHandleTypes = FD;
    Handle h = 0;
    CUmemFabricHandle fabric;
    memset(&fabric, 0, sizeof fabric);
    int memory = -1;
    cuMemCreate(&h, G, &prop, 0);
    cuMemExportToShareableHandle(&memory, h, FD, 0);
    if (pipe(ends))
        return;
    const struct { const char *id; i64 fd; int type; u64 flags; } cases[] = {
        {"ok", fd, 1, 0},       {"again", fd, 1, 0},    {"type0", fd, 0, 0},     {"type2", fd, 2, 0},    {"type3", fd, 3, 0},
        {"type-1", fd, -1, 0},  {"fabric", (i64)(uintptr_t)&fabric, 8, 0}, {"flag0", fd, 1, 1},     {"flag1", fd, 1, 2},    {"flag63", fd, 1, (u64)1 << 63},
        {"fd-1", -1, 1, 0},     {"fd_large", 1 << 20, 1, 0}, {"pipe", ends[0], 1, 0}, {"memory", memory, 1, 0}, {"fd-1+flags", -1, 1, 1},
        {"type2+flags", fd, 2, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        in = (Pool)(uintptr_t)77;
        CUresult r = cuMemPoolImportFromShareableHandle(&in, pointer((CUdeviceptr)cases[i].fd), (CUmemAllocationHandleType)cases[i].type,
                                                        cases[i].flags);
        say(sub(id, "%s", cases[i].id), "%s wrote=%d same=%d", name_of(r), in != (Pool)(uintptr_t)77, in == pool);
        if (!r)
            R(sub(id, "%s.destroy", cases[i].id), cuMemPoolDestroy(in));
    }
    R(sub(id, "null"), cuMemPoolImportFromShareableHandle(NULL, pointer((CUdeviceptr)fd), FD, 0));
    Handle got = 77;
    RV(sub(id, "pool_as_memory"), cuMemImportFromShareableHandle(&got, pointer((CUdeviceptr)fd), FD), "wrote=%d", got != 77);
    cuMemPoolDestroy(pool);
    R(sub(id, "destroyed"), cuMemPoolImportFromShareableHandle(&in, pointer((CUdeviceptr)fd), FD, 0));
}

static void group_e(void)
{
    static const struct pool_case cases[] = {
        {"E.size.alloc", e_sizes, 0}, {"E.size.from_pool", e_sizes, 1}, {"E.size.host", e_sizes, 2}, {"E.trim", e_trim, 0},
        {"E.export", e_export, 1},    {"E.export_plain", e_export, 0},  {"E.import", e_import, 0},
    };
    if (!is_wanted("E"))
        return;
    run_cases(init, E_STREAMS * E_CALLS, e_streams);
    run_table(cases, COUNT(cases));
    run_cases(init, 32, e_combined);
}
