/* SPDX-License-Identifier: Apache-2.0 */
/* Group G: does a freed block come back, for every order of streams and each of the three reuse attributes? Part of ../pools.c,
 * which includes it.
 *
 * A case: blocks a and then b of one size; a is freed, and an allocation of the same size follows in the given order. off=0: it is a.
 * next= tells whether the allocating stream is busy afterwards. */

struct reuse {
    Pool pool;
    CUstream s, t, u, blocking;
    CUdeviceptr a, b;
    size_t size;
};

static CUdeviceptr g_take(struct reuse *r, size_t size, CUstream s, CUstream *used)
{
    *used = s;
    return take(r->pool, size, s);
}

static void g_order(CUstream from, CUstream to)
{
    CUevent e = new_event();
    cuEventRecord(e, from);
    cuStreamWaitEvent(to, e, 0);
    cuEventDestroy(e);
}

/* Returns the allocation that may be a. */
static CUdeviceptr g_situation(struct reuse *r, u64 which, CUstream *used)
{
    CUevent e = new_event();
    CUstream s = r->s, t = r->t;
    switch (which) {
    case 0: /* same stream, pending */
        gate_in(s), drop(r->a, s);
        return g_take(r, r->size, s, used);
    case 1: /* no order, pending */
        gate_in(s), drop(r->a, s);
        return g_take(r, r->size, t, used);
    case 2: /* no order, complete */
        drop(r->a, s), settle(s);
        return g_take(r, r->size, t, used);
    case 3: /* ordered by an event, pending */
        gate_in(s), drop(r->a, s), g_order(s, t);
        return g_take(r, r->size, t, used);
    case 4: /* ordered by an event, complete */
        drop(r->a, s), g_order(s, t), settle(s), settle(t);
        return g_take(r, r->size, t, used);
    case 5: /* the event before the free */
        gate_in(s), g_order(s, t), drop(r->a, s);
        return g_take(r, r->size, t, used);
    case 6: /* ordered through a third stream */
        gate_in(s), drop(r->a, s), g_order(s, r->u), g_order(r->u, t);
        return g_take(r, r->size, t, used);
    case 7: /* freed in a blocking stream, legacy stream */
        gate_in(r->blocking), drop(r->a, r->blocking);
        return g_take(r, r->size, 0, used);
    case 8: /* freed in the legacy stream, blocking stream */
        gate_in(0), drop(r->a, 0);
        return g_take(r, r->size, r->blocking, used);
    case 9: drop(r->a, s), cuStreamSynchronize(s); return g_take(r, r->size, t, used);
    case 10: drop(r->a, s), cuEventRecord(e, s), cuEventSynchronize(e); return g_take(r, r->size, t, used);
    case 11:
        drop(r->a, s), cuEventRecord(e, s);
        while (cuEventQuery(e) == CUDA_ERROR_NOT_READY)
            ;
        return g_take(r, r->size, t, used);
    case 12: drop(r->a, s), cuCtxSynchronize(); return g_take(r, r->size, t, used);
    case 13: /* freed in another stream than it came from, back to the first */
        gate_in(t), drop(r->a, t);
        return g_take(r, r->size, s, used);
    case 14: /* the same, to the stream of the free */
        gate_in(t), drop(r->a, t);
        return g_take(r, r->size, t, used);
    case 15: /* half of the block, no order, pending */
        gate_in(s), drop(r->a, s);
        return g_take(r, r->size / 2, t, used);
    case 16: /* the stream of the free was destroyed, pending */
        gate_in(s), drop(r->a, s), cuStreamDestroy(s), r->s = NULL;
        return g_take(r, r->size, t, used);
    case 17: /* a wait in the other stream that came after the first of two frees */
        gate_in(s), drop(r->a, s), g_order(s, t), drop(r->b, s), r->b = 0;
        r->b = g_take(r, r->size, t, used);
        say("G.order", "first off=%lld", (i64)(r->b - r->a));
        return g_take(r, r->size, t, used);
    case 18: /* freed by cuMemFree while the stream is busy */
        gate_in(t), cuMemFree(r->a);
        return g_take(r, r->size, t, used);
    case 19: /* in the per-thread stream, no order, pending */
        gate_in(s), drop(r->a, s);
        return g_take(r, r->size, CU_STREAM_PER_THREAD, used);
    case 20: /* from a non-blocking stream to the legacy stream, pending */
        gate_in(s), drop(r->a, s);
        return g_take(r, r->size, 0, used);
    case 21: /* two streams freed one block each; a third wants both as one */
        gate_in(s), drop(r->a, s), drop(r->b, t), r->b = 0;
        return g_take(r, 2 * r->size, r->u, used);
    case 22: /* the same in one stream */
        gate_in(s), drop(r->a, s), drop(r->b, s), r->b = 0;
        return g_take(r, 2 * r->size, s, used);
    case 23: /* the other stream: both complete, two streams of frees */
        drop(r->a, s), drop(r->b, t), r->b = 0, settle(s), settle(t);
        return g_take(r, 2 * r->size, r->u, used);
    case 24: /* both complete, allocated by one of the two streams of frees */
        drop(r->a, s), drop(r->b, t), r->b = 0, settle(s), settle(t);
        return g_take(r, 2 * r->size, s, used);
    case 25: /* an event of the first stream that the host saw complete, after a later free that is pending */
        cuEventRecord(e, s), cuEventSynchronize(e), gate_in(s), drop(r->a, s);
        return g_take(r, r->size, t, used);
    default: /* the event was recorded and waited for, then a second event without a wait */
        drop(r->a, s), cuEventRecord(e, s), cuEventSynchronize(e), gate_in(s);
        return g_take(r, r->size, t, used);
    }
}

enum { G_SITUATIONS = 27, G_SIZES = 3 };

static void g_reuse(size_t i, char *id, int run)
{
    static const char *const names[G_SITUATIONS] = {
        "same_pending", "other_pending", "other_done", "event_pending", "event_done", "event_before", "through_third", "blocking_to_legacy",
        "legacy_to_blocking", "stream_synced", "event_synced", "event_queried", "context_synced", "freed_elsewhere_back",
        "freed_elsewhere_there", "half_pending", "stream_destroyed", "two_frees", "plain_free", "per_thread_pending", "legacy_pending",
        "two_streams_joined_pending", "one_stream_joined", "two_streams_joined_done", "two_streams_joined_by_first", "later_free_pending",
        "busy_again"};
    static const size_t sizes[G_SIZES] = {32 * MiB, G, 64 * KiB};
    unsigned on = (unsigned)(i % 8);
    size_t situation = i / 8 % G_SITUATIONS, size = sizes[i / 8 / G_SITUATIONS];
    snprintf(id, CASE_ID, "G.%s.%zu.%s%s%s", names[situation], size, on & 1 ? "F" : "-", on & 2 ? "O" : "-", on & 4 ? "I" : "-");
    if (!run)
        return;
    struct reuse r = {keeping_pool(), new_stream(), new_stream(), new_stream(), NULL, 0, 0, size};
    CUstream used = NULL;
    cuStreamCreate(&r.blocking, 0);
    for (int attribute = FOLLOW; attribute <= INTERNAL; attribute++)
        set_int(r.pool, attribute, (int)(on >> (attribute - 1)) & 1);
    gate_reset();
    r.a = take(r.pool, size, r.s);
    r.b = take(r.pool, size, r.s);
    cuStreamSynchronize(r.s);
    CUdeviceptr p = g_situation(&r, situation, &used);
    CUresult next = cuStreamQuery(used);
    say(id, "off=%lld %s next=%s%s", (i64)(p - r.a), now(r.pool), name_of(next), gate_opened());
    cuCtxSynchronize();
    cuMemFree(p);
    if (r.b)
        cuMemFree(r.b);
    cuCtxSynchronize();
    cuMemPoolDestroy(r.pool);
    CUstream all[] = {r.s, r.t, r.u, r.blocking};
    for (size_t k = 0; k < COUNT(all); k++)
        if (all[k])
            cuStreamDestroy(all[k]);
}

/* Which of several: freed in the own stream, in an ordered one, completed in another, pending in a third, or unused memory? */
static void g_preference(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "G.preference.%zu", i);
    if (!run)
        return;
    Pool pool = keeping_pool();
    CUstream s = new_stream(), t = new_stream(), u = new_stream(), v = new_stream();
    CUdeviceptr p[5];
    size_t size = i & 16 ? 32 * MiB : G;
    for (size_t k = 0; k < COUNT(p); k++)
        p[k] = take(pool, size, s);
    cuStreamSynchronize(s);
    if (i & 8)
        drop(p[3], v), settle(v); /* complete, elsewhere */
    gate_in(u);
    if (i & 4)
        drop(p[2], u); /* pending, elsewhere */
    if (i & 2)
        drop(p[1], t), g_order(t, s); /* ordered */
    if (i & 1)
        drop(p[0], s); /* own */
    settle(t);
    CUdeviceptr q[5];
    char line[200] = "";
    for (size_t k = 0; k < COUNT(q); k++) {
        q[k] = take(pool, size, s);
        snprintf(line + strlen(line), 24, " %.6g%s", (double)(i64)(q[k] - p[0]) / (double)size, cuStreamQuery(s) ? "*" : "");
    }
    say(id, "in sizes%s; %s%s", line, now(pool), gate_opened());
    cuCtxSynchronize();
    cuMemPoolDestroy(pool);
    for (size_t k = 0; k < COUNT(q); k++)
        cuMemFree(q[k]);
    for (size_t k = 0; k < 5; k++)
        cuMemFree(p[k]);
    cuCtxSynchronize();
    CUstream all[] = {s, t, u, v};
    for (size_t k = 0; k < COUNT(all); k++)
        cuStreamDestroy(all[k]);
}

static void group_g(void)
{
    if (!is_wanted("G"))
        return;
    run_cases(init, 8 * G_SITUATIONS * G_SIZES, g_reuse);
    run_cases(init, 32, g_preference);
}
