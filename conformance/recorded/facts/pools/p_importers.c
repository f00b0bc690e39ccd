/* SPDX-License-Identifier: Apache-2.0 */
/* Group P: what the first recording left open about pools in a second process. Part of ../pools.c, which includes it; the second
 * process is that of i_processes.c. */

/* The exporter frees and allocates again at the same place, while the importer keeps the first. */
static void p_taken(void)
{
    Pool pool = i_new_pool();
    keep_all(pool);
    i_give_pool("P.taken.pool", pool, 0);
    CUdeviceptr a = take(pool, 1 * MiB, 0), b = take(pool, 1 * MiB, 0);
    cuMemsetD8(a, 0x11, MiB), cuMemsetD8(b, 0x12, MiB);
    CUmemPoolPtrExportData da = i_data(a), db = i_data(b);
    i_give_pointer("P.taken.a", &da, 0, 0, 0);
    i_give_pointer("P.taken.b", &db, 0, 1, 0);
    drop(a, 0), drop(b, 0);
    cuCtxSynchronize();
    static const struct {
        const char *name;
        size_t first, size;
    } news[] = {{"same", 0, MiB}, {"smaller", 0, 4096}, {"within", 4096, 4096}, {"larger", 0, 2 * MiB}};
    for (size_t i = 0; i < COUNT(news); i++) {
        CUdeviceptr before = news[i].first ? take(pool, news[i].first, 0) : 0, c = take(pool, news[i].size, 0);
        cuMemsetD8(c, 0x20 + (int)i, news[i].size);
        cuCtxSynchronize();
        CUmemPoolPtrExportData dc = i_data(c);
        say(sub("P.taken", "%s", news[i].name), "off=%lld", (i64)(c - a));
        i_give_pointer(sub("P.taken", "%s.import", news[i].name), &dc, 0, 2, 0);
        ASK(sub("P.taken", "%s.read", news[i].name), I_READ, 2, 0, 0);
        RV(sub("P.taken", "%s.range", news[i].name), i_ask(I_RANGE, 2, 0, 0), "base=%lld size=%llu", (i64)i_last.value, i_last.more);
        RV(sub("P.taken", "%s.range_a", news[i].name), i_ask(I_RANGE, 0, 0, 0), "base=%lld size=%llu", (i64)i_last.value, i_last.more);
        ASK(sub("P.taken", "%s.free", news[i].name), I_FREE_ASYNC, 2, 0, 0);
        ASK(sub("P.taken", "%s.sync", news[i].name), I_SYNC, 0, 0, 0);
        ASK(sub("P.taken", "%s.read_a", news[i].name), I_READ, 0, 0, 0);
        drop(c, 0);
        if (before)
            drop(before, 0);
        cuCtxSynchronize();
    }
    ASK("P.taken.free_a", I_FREE_ASYNC, 0, 0, 0);
    ASK("P.taken.free_b", I_FREE_ASYNC, 1, 0, 0);
    ASK("P.taken.sync", I_SYNC, 0, 0, 0);
    CUdeviceptr c = take(pool, 2 * MiB, 0);
    cuMemsetD8(c, 0x31, 2 * MiB);
    cuCtxSynchronize();
    CUmemPoolPtrExportData dc = i_data(c);
    i_give_pointer("P.taken.then", &dc, 0, 3, 0);
    ASK("P.taken.then.read", I_READ, 3, 0, 0);
}

/* The chunk is trimmed and another one comes in its place, while the importer keeps a pointer into the first. */
static void p_new_chunk(void)
{
    Pool pool = i_new_pool();
    i_give_pool("P.chunk.pool", pool, 0);
    CUdeviceptr a = take(pool, 1 * MiB, 0);
    cuMemsetD8(a, 0x11, MiB);
    CUmemPoolPtrExportData da = i_data(a);
    i_give_pointer("P.chunk.a", &da, 0, 0, 0);
    drop(a, 0);
    cuCtxSynchronize();
    cuMemPoolTrimTo(pool, 0);
    say("P.chunk.trimmed", "%s", now(pool));
    CUdeviceptr b = take(pool, 1 * MiB, 0), c = take(pool, 40 * MiB, 0);
    cuMemsetD8(b, 0x22, MiB), cuMemsetD8(c, 0x33, MiB);
    cuCtxSynchronize();
    CUmemPoolPtrExportData db = i_data(b), dc = i_data(c);
    say("P.chunk.places", "b=%lld c=%lld", (i64)(b - a), (i64)(c - a));
    i_give_pointer("P.chunk.c", &dc, 0, 2, 0);
    ASK("P.chunk.read_c", I_READ, 2, 0, 0);
    i_give_pointer("P.chunk.b", &db, 0, 1, 0);
    ASK("P.chunk.read_b", I_READ, 1, 0, 0);
    ASK("P.chunk.read_a", I_READ, 0, 0, 0);
    ASK("P.chunk.free_a", I_FREE_ASYNC, 0, 0, 0);
    ASK("P.chunk.sync", I_SYNC, 0, 0, 0);
    i_give_pointer("P.chunk.b_again", &db, 0, 3, 0);
    ASK("P.chunk.read_b_again", I_READ, 3, 0, 0);
}

/* The values of a pool that is imported twice, and its first destroy while allocations live. */
static void p_twice(void)
{
    Pool pool = i_new_pool();
    i_give_pool("P.twice.first", pool, 0);
    i_give_pool("P.twice.second", pool, 1);
    CUdeviceptr a = take(pool, 4096, 0), b = take(pool, 40 * MiB, 0), c = take(pool, 4096, 0);
    cuMemsetD8(a, 0x11, 4096), cuMemsetD8(b, 0x22, 4096), cuMemsetD8(c, 0x33, 4096);
    cuCtxSynchronize();
    CUmemPoolPtrExportData da = i_data(a), db = i_data(b), dc = i_data(c);
    i_give_pointer("P.twice.a", &da, 0, 0, 0);
    i_give_pointer("P.twice.b", &db, 1, 1, 0);
    for (int k = 0; k < 2; k++)
        for (u64 attribute = THRESHOLD; attribute <= USED_HIGH; attribute++)
            ASK(sub("P.twice", "value%d.%llu", k, attribute), I_GET, k, attribute, 0);
    ASK("P.twice.threshold0", I_SET_THRESHOLD, 0, 1000, THRESHOLD);
    ASK("P.twice.get0", I_GET, 0, THRESHOLD, 0);
    ASK("P.twice.get1", I_GET, 1, THRESHOLD, 0);
    ASK("P.twice.reuse0", I_SET_THRESHOLD, 0, 0, FOLLOW);
    ASK("P.twice.reuse_get0", I_GET, 0, FOLLOW, 0);
    ASK("P.twice.reuse_get1", I_GET, 1, FOLLOW, 0);
    ASK("P.twice.destroy0", I_DESTROY, 0, 0, 0);
    ASK("P.twice.read_a", I_READ, 0, 0, 0);
    ASK("P.twice.read_b", I_READ, 1, 0, 0);
    for (u64 attribute = THRESHOLD; attribute <= USED_HIGH; attribute++)
        ASK(sub("P.twice", "then1.%llu", attribute), I_GET, 1, attribute, 0);
    i_give_pointer("P.twice.c", &dc, 1, 2, 0);
    ASK("P.twice.read_c", I_READ, 2, 0, 0);
    ASK("P.twice.free_a", I_FREE_ASYNC, 0, 0, 0);
    ASK("P.twice.free_b", I_FREE_ASYNC, 1, 0, 0);
    ASK("P.twice.sync", I_SYNC, 0, 0, 0);
    ASK("P.twice.destroy1", I_DESTROY, 1, 0, 0);
    ASK("P.twice.read_c_then", I_READ, 2, 0, 0);
    ASK("P.twice.free_c", I_FREE_ASYNC, 2, 0, 0);
    ASK("P.twice.sync2", I_SYNC, 0, 0, 0);
    i_give_pool("P.twice.third", pool, 2);
    i_give_pointer("P.twice.c_again", &dc, 2, 3, 0);
}

/* Pointers that the importer never had, after the exporter's free, synchronisation, trim, and the pool's end. */
static void p_never(void)
{
    static const char *const until[] = {"pending", "free", "sync", "trim", "reused", "destroy"};
    for (int stage = 0; stage < 6; stage++) {
        Pool pool = i_new_pool();
        const char *id = sub("P.never", "%s", until[stage]);
        i_give_pool(sub(id, "pool"), pool, 0);
        CUdeviceptr a = take(pool, 40 * MiB, 0);
        cuMemsetD8(a, 0x11, 4096);
        CUmemPoolPtrExportData da = i_data(a);
        CUstream s = new_stream();
        cuCtxSynchronize();
        if (stage == 0) {
            gate_in(s);
            cuMemFreeAsync(a, s);
        } else {
            cuMemFreeAsync(a, 0);
        }
        if (stage > 1)
            cuCtxSynchronize();
        if (stage > 2)
            cuMemPoolTrimTo(pool, 0);
        if (stage == 4) {
            CUdeviceptr b = take(pool, 40 * MiB, 0);
            cuMemsetD8(b, 0x44, 4096);
            cuCtxSynchronize();
            say(sub(id, "same"), "%d", a == b);
        }
        if (stage == 5)
            R(sub(id, "destroyed"), cuMemPoolDestroy(pool));
        i_give_pointer(sub(id, "import"), &da, 0, 0, 0);
        bool imported = i_last.result == 0;
        if (imported)
            ASK(sub(id, "read"), I_READ, 0, 0, 0);
        gate_open = 1;
        cuCtxSynchronize();
        if (imported) {
            ASK(sub(id, "read_then"), I_READ, 0, 0, 0);
            ASK(sub(id, "free"), I_FREE_ASYNC, 0, 0, 0);
        }
        ASK(sub(id, "destroy"), I_DESTROY, 0, 0, 0);
    }
}

/* The importer's own free is pending, or done, when it imports the pointer again. */
static void p_own_free(void)
{
    Pool pool = i_new_pool();
    i_give_pool("P.own_free.pool", pool, 0);
    CUdeviceptr a = take(pool, 4096, 0);
    cuMemsetD8(a, 0x11, 4096);
    cuCtxSynchronize();
    CUmemPoolPtrExportData da = i_data(a);
    i_give_pointer("P.own_free.a", &da, 0, 0, 0);
    ASK("P.own_free.gate", I_GATE, 0, 0, 0);
    ASK("P.own_free.free", I_FREE_ASYNC, 0, 0, 0);
    i_give_pointer("P.own_free.pending", &da, 0, 1, 0);
    i_give_pointer("P.own_free.pending_again", &da, 0, 2, 0);
    ASK("P.own_free.open", I_OPEN, 0, 0, 0);
    ASK("P.own_free.sync", I_SYNC, 0, 0, 0);
    ASK("P.own_free.read", I_READ, 1, 0, 0);
    ASK("P.own_free.free1", I_FREE_ASYNC, 1, 0, 0);
    ASK("P.own_free.free2", I_FREE_ASYNC, 2, 0, 0);
    ASK("P.own_free.sync2", I_SYNC, 0, 0, 0);
    i_give_pointer("P.own_free.done", &da, 0, 3, 0);
    ASK("P.own_free.read3", I_READ, 3, 0, 0);
    ASK("P.own_free.free3", I_FREE_ASYNC, 3, 0, 0);
    ASK("P.own_free.sync3", I_SYNC, 0, 0, 0);
}

static void group_p(void)
{
    i_pair("P.taken!", p_taken);
    i_pair("P.chunk!", p_new_chunk);
    i_pair("P.twice!", p_twice);
    i_pair("P.never!", p_never);
    i_pair("P.own_free!", p_own_free);
}
