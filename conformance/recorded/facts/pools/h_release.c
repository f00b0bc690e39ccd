/* SPDX-License-Identifier: Apache-2.0 */
/* Group H: when a pool returns memory to the device, and how much. Part of ../pools.c, which includes it. */

/* ---- which calls release ---- */

struct release {
    Pool pool, other;
    CUstream s, t;
    CUevent before, after, never;
    CUdeviceptr kept, small, plain;
    void *host;
    CUcontext second;
    Handle handle;
};

struct release_call {
    const char *id;
    CUresult (*call)(struct release *r);
};

#define CALL(name, expression)                        \
    static CUresult h_##name(struct release *r)       \
    {                                                 \
        (void)r;                                      \
        return expression;                            \
    }
CALL(nothing, CUDA_SUCCESS)
CALL(stream_sync, cuStreamSynchronize(r->s))
CALL(stream_sync_other, cuStreamSynchronize(r->t))
CALL(stream_sync_legacy, cuStreamSynchronize(0))
CALL(stream_sync_per_thread, cuStreamSynchronize(CU_STREAM_PER_THREAD))
CALL(event_sync_after, cuEventSynchronize(r->after))
CALL(event_sync_before, cuEventSynchronize(r->before))
CALL(event_sync_never, cuEventSynchronize(r->never))
CALL(ctx_sync, cuCtxSynchronize())
CALL(stream_query, cuStreamQuery(r->s))
CALL(event_query, cuEventQuery(r->after))
CALL(get_attribute, (value_of(r->pool, RESERVED), CUDA_SUCCESS))
CALL(set_threshold, (set_u64(r->pool, THRESHOLD, 0), CUDA_SUCCESS))
CALL(set_reuse, (set_int(r->pool, OPPORTUNISTIC, 0), CUDA_SUCCESS))
CALL(trim, cuMemPoolTrimTo(r->pool, 0))
CALL(trim_other_pool, cuMemPoolTrimTo(r->other, 0))
CALL(destroy_other_pool, cuMemPoolDestroy(r->other))
CALL(get_info, (free_memory(), CUDA_SUCCESS))
CALL(alloc_small, cuMemAllocFromPoolAsync(&r->small, 512, r->pool, r->s))
CALL(alloc_large, cuMemAllocFromPoolAsync(&r->small, 128 * MiB, r->pool, r->s))
CALL(alloc_other_pool, cuMemAllocFromPoolAsync(&r->small, 512, r->other, r->s))
CALL(free_other, cuMemFreeAsync(r->kept, r->s))
CALL(free_other_plainly, cuMemFree(r->kept))
CALL(plain_alloc, cuMemAlloc(&r->small, G))
CALL(plain_free, cuMemFree(r->plain))
CALL(host_alloc, cuMemAllocHost(&r->host, 4096))
CALL(create, (r->handle = make(G), CUDA_SUCCESS))
CALL(reserve, (reserve(G), CUDA_SUCCESS))
CALL(fill, cuMemsetD8(r->plain, 1, 16))
CALL(fill_async, cuMemsetD8Async(r->plain, 1, 16, r->s))
CALL(copy_to_host, cuMemcpyDtoH(&r->host, r->plain, 8))
CALL(copy_from_host, cuMemcpyHtoD(r->plain, &r->host, 8))
CALL(copy_device, cuMemcpyDtoD(r->plain, r->plain + 64, 8))
CALL(stream_create, cuStreamCreate(&r->t, 0))
CALL(stream_destroy, cuStreamDestroy(r->s))
CALL(stream_destroy_other, cuStreamDestroy(r->t))
CALL(event_destroy, cuEventDestroy(r->after))
CALL(event_record, cuEventRecord(r->after, r->s))
CALL(wait_event, cuStreamWaitEvent(r->s, r->after, 0))
CALL(ctx_create, cuCtxCreate(&r->second, NULL, 0, 0))
CALL(stream_sync_without_context, (cuCtxSetCurrent(NULL), cuStreamSynchronize(r->s)))
CALL(ctx_sync_second, (cuCtxCreate(&r->second, NULL, 0, 0), cuCtxSynchronize()))
CALL(get_access, (cuMemGetInfo(&(size_t){0}, &(size_t){0}), CUDA_SUCCESS))
CALL(set_access, (cuMemPoolSetAccess(r->pool, &(CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}, 1)))

#define ROW(name) {#name, h_##name}
static const struct release_call h_calls[] = {
    ROW(nothing), ROW(stream_sync), ROW(stream_sync_other), ROW(stream_sync_legacy), ROW(stream_sync_per_thread), ROW(event_sync_after),
    ROW(event_sync_before), ROW(event_sync_never), ROW(ctx_sync), ROW(stream_query), ROW(event_query), ROW(get_attribute),
    ROW(set_threshold), ROW(set_reuse), ROW(trim), ROW(trim_other_pool), ROW(destroy_other_pool), ROW(get_info), ROW(alloc_small),
    ROW(alloc_large), ROW(alloc_other_pool), ROW(free_other), ROW(free_other_plainly), ROW(plain_alloc), ROW(plain_free), ROW(host_alloc),
    ROW(create), ROW(reserve), ROW(fill), ROW(fill_async), ROW(copy_to_host), ROW(copy_from_host), ROW(copy_device), ROW(stream_create),
    ROW(stream_destroy), ROW(stream_destroy_other), ROW(event_destroy), ROW(event_record), ROW(wait_event), ROW(ctx_create),
    ROW(stream_sync_without_context), ROW(ctx_sync_second), ROW(get_access), ROW(set_access),
};

/* Three blocks of 32 MiB; two are freed; then the call, then it again. Modes: 0 the frees are complete, 1 they are pending behind a
 * gate, 2 complete with a threshold of 64 MiB, 3 with one that keeps all. */
static void h_call(size_t i, char *id, int run)
{
    static const char *const modes[] = {"done", "pending", "done64M", "doneMAX"};
    static const u64 thresholds[] = {0, 0, 64 * MiB, UINT64_MAX};
    size_t mode = i / COUNT(h_calls);
    const struct release_call *c = &h_calls[i % COUNT(h_calls)];
    snprintf(id, CASE_ID, "H.call.%s.%s", modes[mode], c->id);
    if (!run)
        return;
    cuCtxSetCurrent(primary[0]);
    struct release r = {new_pool(), new_pool(), new_stream(), new_stream(), new_event(), new_event(), new_event(), 0, 0, 0, NULL, NULL, 0};
    set_u64(r.pool, THRESHOLD, thresholds[mode]);
    cuMemAlloc(&r.plain, 4096);
    CUdeviceptr a = take(r.pool, 32 * MiB, r.s), b = take(r.pool, 32 * MiB, r.s);
    r.kept = take(r.pool, 32 * MiB, r.s);
    CUdeviceptr o = take(r.other, 32 * MiB, r.s);
    gate_reset();
    cuEventRecord(r.before, r.s);
    settle(r.s);
    if (mode == 1)
        gate_in(r.s);
    drop(a, r.s);
    drop(b, r.s);
    drop(o, r.s);
    cuEventRecord(r.after, r.s);
    if (mode != 1)
        settle(r.s);
    u64 first = value_of(r.pool, RESERVED);
    CUresult x = c->call(&r);
    const char *waited = gate_opened();
    cuCtxSetCurrent(primary[0]);
    u64 then = value_of(r.pool, RESERVED), other = r.other && c->call != h_destroy_other_pool ? value_of(r.other, RESERVED) : 1;
    say(id, "%s res=%llu->%llu used=%llu other=%llu%s", name_of(x), first, then, value_of(r.pool, USED), other, waited);
    cuCtxSynchronize();
    if (r.second)
        cuCtxDestroy(r.second);
    cuCtxSetCurrent(primary[0]);
    CUdeviceptr rest[] = {r.plain, r.small, r.kept};
    for (size_t k = 0; k < COUNT(rest); k++)
        if (rest[k])
            cuMemFree(rest[k]);
    cuCtxSynchronize();
    if (r.handle)
        cuMemRelease(r.handle);
    cuMemPoolDestroy(r.pool);
    if (c->call != h_destroy_other_pool)
        cuMemPoolDestroy(r.other);
}

/* ---- how much is released ---- */

struct amount {
    const char *id;
    size_t unit;
    unsigned char size[16]; /* in units; 0 ends */
    const char *freed;
};

static const struct amount h_shapes[] = {
    {"chunks", 32 * MiB, {1, 1, 1, 1, 1, 1, 1, 1}, "ABCDEFGH"},
    {"chunks_reverse", 32 * MiB, {1, 1, 1, 1, 1, 1, 1, 1}, "HGFEDCBA"},
    {"chunks_odd", 32 * MiB, {1, 1, 1, 1, 1, 1, 1, 1}, "BDFH"},
    {"chunks_mixed", 32 * MiB, {4, 1, 2, 1, 3, 1}, "ABCDEF"},
    {"chunks_mixed_some", 32 * MiB, {4, 1, 2, 1, 3, 1}, "CAE"},
    {"in_chunk", G, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "BCDFGHIJLMNOP"},
    {"in_chunk_all", G, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "ABCDEFGHIJKLMNOP"},
    {"in_chunk_tail", G, {1, 1, 1, 1}, "BCD"},
    {"in_chunk_head", G, {1, 1, 1, 1}, "ABC"},
    {"across", G, {10, 10, 10, 10, 10, 10, 10}, "BCDEF"},
    {"across_all", G, {10, 10, 10, 10, 10, 10, 10}, "ABCDEFG"},
    {"large", 128 * MiB, {4, 4, 2}, "ABC"},
    {"large_one", 128 * MiB, {4, 4, 2}, "B"},
    {"odd_large", 33 * MiB, {1, 2, 3}, "ABC"},
};

static const u64 h_keep[] = {0, 1, G, 20 * MiB, 32 * MiB - 1, 32 * MiB, 32 * MiB + 1, 64 * MiB - 1, 64 * MiB, 64 * MiB + 1, 100 * MiB, 128 * MiB,
                             160 * MiB, 224 * MiB, 256 * MiB - 1, 256 * MiB, 300 * MiB, 512 * MiB, GiB, UINT64_MAX};

/* Modes: 0 threshold and cuStreamSynchronize, 1 cuMemPoolTrimTo, 2 cuMemPoolTrimTo with the frees pending. After the release the same
 * sizes again show which memory was left. */
static void h_amount(size_t i, char *id, int run)
{
    static const char *const modes[] = {"sync", "trim", "trim_pending"};
    const struct amount *m = &h_shapes[i / COUNT(h_keep) % COUNT(h_shapes)];
    u64 keep = h_keep[i % COUNT(h_keep)];
    size_t mode = i / COUNT(h_keep) / COUNT(h_shapes);
    snprintf(id, CASE_ID, "H.%s.%s.%llu", modes[mode], m->id, keep);
    if (!run || (mode == 2 && i % 3))
        return;
    Pool pool = keeping_pool();
    CUstream s = new_stream();
    CUdeviceptr p[16] = {0};
    size_t n = 0;
    for (; n < 16 && m->size[n]; n++)
        p[n] = take(pool, m->size[n] * m->unit, s);
    CUdeviceptr base = p[0];
    u64 full = value_of(pool, RESERVED);
    size_t before = free_memory();
    gate_reset();
    if (mode == 2)
        gate_in(s);
    for (const char *c = m->freed; *c; c++)
        drop(p[*c - 'A'], s), p[*c - 'A'] = 0;
    if (mode != 2)
        settle(s);
    CUresult r;
    if (mode == 0) {
        set_u64(pool, THRESHOLD, keep);
        r = cuStreamSynchronize(s);
        keep_all(pool);
    } else
        r = cuMemPoolTrimTo(pool, keep);
    char line[300] = "";
    u64 left = value_of(pool, RESERVED), used = value_of(pool, USED);
    size_t after = free_memory();
    const char *waited = gate_opened();
    if (mode != 2)
        for (const char *c = m->freed; *c; c++) {
            p[*c - 'A'] = take(pool, m->size[*c - 'A'] * m->unit, s);
            if (c - m->freed < 5)
                snprintf(line + strlen(line), 40, " %.6g", (double)(i64)(p[*c - 'A'] - base) / (double)m->unit);
        }
    say(id, "%s res=%llu->%llu used=%llu back=%lld%s again=%s", name_of(r), full, left, used, (i64)after - (i64)before, waited, line);
    for (size_t k = 0; k < n; k++)
        if (p[k])
            drop(p[k], s);
    cuStreamSynchronize(s);
    cuMemPoolDestroy(pool);
    cuStreamDestroy(s);
}

/* Two pools and one synchronisation; several synchronisations; a threshold that falls later. */
static void h_later(const char *id, u64 unused)
{
    (void)unused;
    CUstream s = new_stream(), t = new_stream();
    Pool a = new_pool(), b = new_pool(), c = keeping_pool();
    CUdeviceptr p = take(a, 40 * MiB, s), q = take(b, 40 * MiB, t), r = take(c, 40 * MiB, s);
    drop(p, s), drop(q, t), drop(r, s);
    settle(s), settle(t);
    cuStreamSynchronize(s);
    say(sub(id, "first"), "a %s, b %s, c %s", now(a), now(b), now(c));
    set_u64(c, THRESHOLD, 0);
    say(sub(id, "lowered"), "c %s", now(c));
    cuStreamSynchronize(t);
    say(sub(id, "second"), "a %s, b %s, c %s", now(a), now(b), now(c));
    cuCtxSynchronize();
    say(sub(id, "third"), "a %s, b %s, c %s", now(a), now(b), now(c));
    cuMemPoolDestroy(a), cuMemPoolDestroy(b), cuMemPoolDestroy(c);
    Pool d = default_pool();
    CUdeviceptr x = 0;
    cuMemAllocAsync(&x, 40 * MiB, s);
    say(sub(id, "default"), "%s", state(d));
    cuMemFreeAsync(x, s);
    settle(s);
    say(sub(id, "default_freed"), "%s", state(d));
    cuStreamSynchronize(s);
    say(sub(id, "default_synced"), "%s", state(d));
}

static void group_h(void)
{
    static const struct pool_case cases[] = {{"H.later", h_later, 0}};
    if (!is_wanted("H"))
        return;
    run_cases(init, 4 * COUNT(h_calls), h_call);
    run_cases(init, 3 * COUNT(h_shapes) * COUNT(h_keep), h_amount);
    run_table(cases, 1);
}
