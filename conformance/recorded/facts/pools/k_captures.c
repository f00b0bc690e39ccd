/* SPDX-License-Identifier: Apache-2.0 */
/* Group K: pool calls while a stream captures. Part of ../pools.c, which includes it. */

enum { K_CALLS = 28, K_MODES = 3 };
static const char *const k_names[K_CALLS] = {
    "alloc_async", "from_pool", "free_async_outer", "alloc_then_free", "alloc_then_plain_free", "alloc_in_other_stream", "free_outer_in_other_stream",
    "plain_free_outer", "create", "destroy", "trim", "get", "set", "get_access", "set_access", "export", "import_pointer", "default", "device_get",
    "device_set", "legacy_alloc", "alloc_zero", "alloc_huge", "from_destroyed", "free_null", "free_outer_twice", "alloc_use", "attribute_of_alloc"};

static CUresult k_call(size_t call, Pool pool, CUdeviceptr outer, CUstream s, CUstream t, i64 *out)
{
    CUmemPoolProps props = pool_props();
    CUmemAccessDesc d = desc(L_DEVICE, 0, RW);
    CUmemLocation l = loc_at(L_DEVICE, 0);
    CUmemAccess_flags flags = (CUmemAccess_flags)99;
    CUmemPoolPtrExportData data;
    CUdeviceptr p = 77, q = 77;
    Pool got = NULL;
    u64 v = 0;
    int fd = -7;
    CUresult r;
    memset(&data, 0, sizeof data);
    switch (call) {
    case 0: r = cuMemAllocAsync(&p, 4096, s); *out = p != 77; return r;
    case 1: r = cuMemAllocFromPoolAsync(&p, 4096, pool, s); *out = p != 77; return r;
    case 2: return cuMemFreeAsync(outer, s);
    case 3: r = cuMemAllocFromPoolAsync(&p, 4096, pool, s); *out = (i64)cuMemFreeAsync(p, s); return r;
    case 4: r = cuMemAllocFromPoolAsync(&p, 4096, pool, s); *out = (i64)cuMemFree(p); return r;
    case 5: r = cuMemAllocFromPoolAsync(&p, 4096, pool, t); *out = p != 77; if (!r) cuMemFreeAsync(p, t); return r;
    case 6: return cuMemFreeAsync(outer, t);
    case 7: return cuMemFree(outer);
    case 8: return cuMemPoolCreate(&got, &props);
    case 9: return cuMemPoolDestroy(pool);
    case 10: return cuMemPoolTrimTo(pool, 0);
    case 11: r = cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v); *out = (i64)v; return r;
    case 12: return cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v);
    case 13: r = cuMemPoolGetAccess(&flags, pool, &l); *out = flags; return r;
    case 14: return cuMemPoolSetAccess(pool, &d, 1);
    case 15: return cuMemPoolExportToShareableHandle(&fd, pool, FD, 0);
    case 16: return cuMemPoolImportPointer(&p, pool, &data);
    case 17: return cuDeviceGetDefaultMemPool(&got, 0);
    case 18: return cuDeviceGetMemPool(&got, 0);
    case 19: r = cuDeviceSetMemPool(0, pool); cuDeviceSetMemPool(0, default_pool()); return r;
    case 20: r = cuMemAllocAsync(&p, 4096, 0); *out = p != 77; return r;
    case 21: r = cuMemAllocFromPoolAsync(&p, 0, pool, s); *out = p != 77; return r;
    case 22: r = cuMemAllocFromPoolAsync(&p, (size_t)1 << 40, pool, s); *out = p != 77; return r;
    case 23: got = new_pool(); cuMemPoolDestroy(got); r = cuMemAllocFromPoolAsync(&p, 4096, got, s); *out = p != 77; return r;
    case 24: return cuMemFreeAsync(0, s);
    case 25: r = cuMemFreeAsync(outer, s); *out = (i64)cuMemFreeAsync(outer, s); return r;
    case 26: r = cuMemAllocFromPoolAsync(&p, 4096, pool, s); *out = (i64)cuMemsetD8Async(p, 1, 4096, s); return r;
    default:
        r = cuMemAllocFromPoolAsync(&q, 4096, pool, s);
        got = (Pool)(uintptr_t)77;
        *out = (i64)cuPointerGetAttribute(&got, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, q) * 10 + (got == pool ? 1 : got ? 2 : 0);
        return r;
    }
}

static void k_one(size_t i, char *id, int run)
{
    size_t call = i / K_MODES, mode = i % K_MODES;
    snprintf(id, CASE_ID, "K.%s.mode%zu", k_names[call], mode);
    if (!run)
        return;
    Pool pool = keeping_pool();
    CUstream s = new_stream(), t = new_stream();
    CUdeviceptr outer = take(pool, 4096, s);
    cuStreamSynchronize(s);
    CUgraph graph = NULL;
    i64 out = 0;
    CUresult begin = cuStreamBeginCapture(s, (CUstreamCaptureMode)mode);
    CUresult r = k_call(call, pool, outer, s, t, &out);
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)99;
    CUresult is = cuStreamIsCapturing(s, &status);
    CUresult end = cuStreamEndCapture(s, &graph);
    say(id, "%s %s out=%lld status=%s,%d end=%s graph=%d %s", name_of(begin), name_of(r), out, name_of(is), status, name_of(end), graph != NULL,
        call == 9 ? "" : now(pool));
}

static void group_k(void)
{
    if (is_wanted("K"))
        run_cases(init, K_CALLS * K_MODES, k_one);
}
