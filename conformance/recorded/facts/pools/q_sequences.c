/* SPDX-License-Identifier: Apache-2.0 */
/* Group Q: sequences of random calls, for fitting a model of the allocator. Part of ../pools.c, which includes it.
 *
 * Names: Q.SEQUENCE.STEP.CALL. The calls: aK.SIZE.S allocates SIZE bytes as number K in stream S, fK.S frees it there, pK frees it with
 * cuMemFree, sS synchronises stream S, c0 the context, oS.T orders T after S by an event, tN trims to N bytes. Answers: the distance from the first allocation, the reserved and the used size. */

enum { Q_LIVE = 48 };

enum q_sizes { Q_TINY, Q_SMALL, Q_MIDDLE, Q_LARGE, Q_HUGE, Q_EVEN, Q_MIX, Q_WIDE, Q_MIB };

/* When a stream's work is done: at once (the streams are polled after each step), or not before the end (gates). */
enum q_time { Q_DONE, Q_HELD };

struct q_plan {
    const char *id;
    enum q_sizes sizes;
    enum q_time time;
    int steps, streams, live; /* how many are live before frees outnumber allocations */
    unsigned reuse;           /* bits of FOLLOW, OPPORTUNISTIC, INTERNAL */
    unsigned sync, order, trim, plain; /* chances in 1000 */
    u64 threshold, max;
};

static const struct q_plan q_plans[] = {
    {"tiny", Q_TINY, Q_DONE, 300, 1, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"small", Q_SMALL, Q_DONE, 400, 1, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"middle", Q_MIDDLE, Q_DONE, 400, 1, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"large", Q_LARGE, Q_DONE, 400, 1, 24, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"huge", Q_HUGE, Q_DONE, 150, 1, 12, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"even", Q_EVEN, Q_DONE, 400, 1, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"mix", Q_MIX, Q_DONE, 500, 1, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"wide", Q_WIDE, Q_DONE, 500, 1, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"mib", Q_MIB, Q_DONE, 400, 1, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"small_held", Q_SMALL, Q_HELD, 300, 1, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"mib_held", Q_MIB, Q_HELD, 300, 1, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"mib_synced", Q_MIB, Q_DONE, 400, 1, 20, 7, 100, 0, 0, 0, 0, 0},
    {"mib_synced_64M", Q_MIB, Q_DONE, 400, 1, 20, 7, 100, 0, 0, 0, 64 * MiB, 0},
    {"small_synced", Q_SMALL, Q_DONE, 300, 1, 12, 7, 150, 0, 0, 0, 0, 0},
    {"wide_synced", Q_WIDE, Q_DONE, 400, 1, 20, 7, 100, 0, 20, 20, 0, 0},
    {"mib_trimmed", Q_MIB, Q_DONE, 400, 1, 20, 7, 0, 0, 100, 0, UINT64_MAX, 0},
    {"wide_trimmed", Q_WIDE, Q_DONE, 400, 1, 20, 7, 0, 0, 100, 0, UINT64_MAX, 0},
    {"mib_plain", Q_MIB, Q_DONE, 300, 1, 20, 7, 0, 0, 0, 300, UINT64_MAX, 0},
    {"mib_plain_0", Q_MIB, Q_DONE, 300, 1, 20, 7, 50, 0, 0, 300, 0, 0},
    {"two_done", Q_MIB, Q_DONE, 400, 2, 24, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"two_done_small", Q_SMALL, Q_DONE, 400, 2, 24, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"two_done_none", Q_MIB, Q_DONE, 400, 2, 24, 0, 0, 0, 0, 0, UINT64_MAX, 0},
    {"two_done_none_order", Q_MIB, Q_DONE, 400, 2, 24, 0, 0, 100, 0, 0, UINT64_MAX, 0},
    {"two_done_none_sync", Q_MIB, Q_DONE, 400, 2, 24, 0, 100, 0, 0, 0, UINT64_MAX, 0},
    {"two_done_follow", Q_MIB, Q_DONE, 400, 2, 24, 1, 0, 100, 0, 0, UINT64_MAX, 0},
    {"two_done_opportunistic", Q_MIB, Q_DONE, 400, 2, 24, 2, 0, 0, 0, 0, UINT64_MAX, 0},
    {"two_done_internal", Q_MIB, Q_DONE, 400, 2, 24, 4, 0, 0, 0, 0, UINT64_MAX, 0},
    {"two_held", Q_MIB, Q_HELD, 300, 2, 24, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"two_held_none", Q_MIB, Q_HELD, 300, 2, 24, 0, 0, 0, 0, 0, UINT64_MAX, 0},
    {"two_held_order", Q_MIB, Q_HELD, 300, 2, 24, 7, 0, 100, 0, 0, UINT64_MAX, 0},
    {"two_held_follow", Q_MIB, Q_HELD, 300, 2, 24, 1, 0, 100, 0, 0, UINT64_MAX, 0},
    {"two_held_opportunistic", Q_MIB, Q_HELD, 300, 2, 24, 2, 0, 100, 0, 0, UINT64_MAX, 0},
    {"two_held_internal", Q_MIB, Q_HELD, 300, 2, 24, 4, 0, 0, 0, 0, UINT64_MAX, 0},
    {"two_held_follow_opp", Q_SMALL, Q_HELD, 300, 2, 24, 3, 0, 100, 0, 0, UINT64_MAX, 0},
    {"two_held_small", Q_SMALL, Q_HELD, 300, 2, 24, 7, 0, 50, 0, 0, UINT64_MAX, 0},
    {"two_synced", Q_WIDE, Q_DONE, 500, 2, 24, 7, 60, 60, 20, 20, 0, 0},
    {"two_synced_64M", Q_WIDE, Q_DONE, 500, 2, 24, 7, 60, 60, 20, 20, 64 * MiB, 0},
    {"three_synced", Q_WIDE, Q_DONE, 500, 3, 24, 7, 60, 60, 20, 20, 100 * MiB, 0},
    {"limited", Q_MIB, Q_DONE, 400, 1, 20, 7, 50, 0, 20, 0, UINT64_MAX, 200 * MiB},
    {"limited_two", Q_MIB, Q_DONE, 400, 2, 20, 7, 30, 0, 20, 0, 0, 200 * MiB},
};

/* Group S: what the first ones left open. */
static const struct q_plan s_plans[] = {
    {"three_done", Q_WIDE, Q_DONE, 500, 3, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"three_done_small", Q_SMALL, Q_DONE, 500, 3, 30, 7, 0, 0, 0, 0, UINT64_MAX, 0},
    {"three_held", Q_MIB, Q_HELD, 400, 3, 30, 7, 0, 150, 0, 0, UINT64_MAX, 0},
    {"three_opportunistic", Q_MIB, Q_DONE, 500, 3, 30, 2, 20, 0, 10, 20, 0, 0},
    {"three_follow_synced", Q_MIB, Q_DONE, 500, 3, 30, 1, 60, 100, 20, 20, 0, 0},
    {"two_none_synced", Q_WIDE, Q_DONE, 500, 2, 30, 0, 60, 100, 20, 20, 64 * MiB, 0},
    {"limited_held", Q_MIB, Q_HELD, 400, 2, 24, 7, 0, 30, 0, 0, UINT64_MAX, 200 * MiB},
    {"limited_held_internal", Q_MIB, Q_HELD, 400, 2, 24, 4, 0, 30, 0, 0, UINT64_MAX, 200 * MiB},
    {"limited_held_none", Q_MIB, Q_HELD, 400, 2, 24, 0, 0, 30, 0, 0, UINT64_MAX, 200 * MiB},
    {"limited_three", Q_MIB, Q_DONE, 500, 3, 24, 7, 30, 30, 20, 20, 0, 256 * MiB},
    {"limited_three_none", Q_MIB, Q_DONE, 500, 3, 24, 0, 30, 30, 20, 20, 64 * MiB, 256 * MiB},
    {"limited_three_internal", Q_MIB, Q_DONE, 500, 3, 24, 4, 10, 30, 20, 20, 64 * MiB, 256 * MiB},
    {"limited_small", Q_SMALL, Q_DONE, 500, 1, 47, 7, 10, 0, 20, 20, 0, 1},
};

static u64 q_seed;

static u64 q_draw(u64 below)
{
    q_seed ^= q_seed << 13;
    q_seed ^= q_seed >> 7;
    q_seed ^= q_seed << 17;
    return (q_seed >> 11) % below;
}

static size_t q_between(unsigned low, unsigned high)
{
    unsigned bits = low + (unsigned)q_draw(high - low);
    return ((size_t)1 << bits) + (size_t)q_draw((size_t)1 << bits);
}

static size_t q_size(enum q_sizes sizes)
{
    static const size_t even[] = {512, 4096, 64 * KiB, 128 * KiB, MiB, G, 4 * MiB, 8 * MiB, 16 * MiB, 32 * MiB};
    switch (sizes) {
    case Q_TINY: return 1 + (size_t)q_draw(4096);
    case Q_SMALL: return q_between(6, 17);
    case Q_MIDDLE: return q_between(9, 22);
    case Q_LARGE: return q_between(20, 26);
    case Q_HUGE: return q_between(24, 30);
    case Q_EVEN: return even[q_draw(COUNT(even))];
    case Q_MIX: return q_draw(3) ? q_between(6, 16) : q_between(18, 25);
    case Q_WIDE: return q_between(4, 27);
    default: return (1 + (size_t)q_draw(q_draw(4) ? 8 : 40)) * MiB;
    }
}

struct q_run {
    const struct q_plan *plan;
    Pool pool;
    CUstream s[3];
    CUdeviceptr p[Q_LIVE], first;
    int count, step;
    char group;
};

static void q_say(struct q_run *q, CUdeviceptr p, CUresult r, const char *format, ...) __attribute__((format(printf, 4, 5)));
static void q_say(struct q_run *q, CUdeviceptr p, CUresult r, const char *format, ...)
{
    char name[96], off[40] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    if (p)
        snprintf(off, sizeof off, "off=%lld ", (i64)(p - q->first));
    printf("%c.%s.%03d.%s\t%s%s%s%s\n", q->group, q->plan->id, q->step, name, r ? name_of(r) : "", r ? " " : "", off, now(q->pool));
}

static void q_alloc(struct q_run *q)
{
    int k = 0;
    while (q->p[k])
        k++;
    size_t size = q_size(q->plan->sizes);
    int s = (int)q_draw((u64)q->plan->streams);
    CUresult r = cuMemAllocFromPoolAsync(&q->p[k], size, q->pool, q->s[s]);
    if (r)
        q->p[k] = 0;
    else
        q->count++;
    if (!q->first)
        q->first = q->p[k];
    q_say(q, q->p[k], r, "a%d.%zu.%d", k, size, s);
}

static void q_free(struct q_run *q)
{
    int k = (int)q_draw(Q_LIVE), s = (int)q_draw((u64)q->plan->streams);
    while (!q->p[k])
        k = (k + 1) % Q_LIVE;
    bool plain = q_draw(1000) < q->plan->plain;
    CUresult r = plain ? cuMemFree(q->p[k]) : cuMemFreeAsync(q->p[k], q->s[s]);
    q->p[k] = 0;
    q->count--;
    if (plain)
        q_say(q, 0, r, "p%d", k);
    else
        q_say(q, 0, r, "f%d.%d", k, s);
}

static void q_step(struct q_run *q)
{
    const struct q_plan *plan = q->plan;
    u64 chance = q_draw(1000);
    int s = (int)q_draw((u64)plan->streams);
    if (chance < plan->sync) {
        bool all = s == 0 && q_draw(4) == 0;
        CUresult r = all ? cuCtxSynchronize() : cuStreamSynchronize(q->s[s]);
        q_say(q, 0, r, "%c%d", all ? 'c' : 's', s);
    } else if ((chance -= plan->sync) < plan->order) {
        int t = (s + 1) % plan->streams;
        CUevent e = new_event();
        cuEventRecord(e, q->s[s]);
        CUresult r = cuStreamWaitEvent(q->s[t], e, 0);
        cuEventDestroy(e);
        q_say(q, 0, r, "o%d.%d", s, t);
    } else if ((chance -= plan->order) < plan->trim) {
        size_t keep = q_draw(2) ? 0 : (size_t)q_draw(300) * MiB;
        q_say(q, 0, cuMemPoolTrimTo(q->pool, keep), "t%zu", keep);
    } else if (q->count == 0 || (q->count < Q_LIVE && q_draw((u64)plan->live * 2) >= (u64)q->count))
        q_alloc(q);
    else
        q_free(q);
    for (int k = 0; k < plan->streams && plan->time == Q_DONE; k++)
        settle(q->s[k]);
}

static void q_sequence(char group, size_t i, const struct q_plan *plan)
{
    struct q_run q;
    memset(&q, 0, sizeof q);
    q.group = group;
    q.plan = plan;
    q_seed = 0x9e3779b97f4a7c15u + (u64)i * 7919;
    for (int i = 0; i < 10; i++)
        q_draw(2);
    CUmemPoolProps props = pool_props();
    props.maxSize = plan->max;
    q.pool = pool_with(props);
    set_u64(q.pool, THRESHOLD, plan->threshold);
    for (int k = FOLLOW; k <= INTERNAL; k++)
        set_int(q.pool, k, (int)(plan->reuse >> (k - 1)) & 1);
    gate_reset();
    gate_patience = LONG_PATIENCE;
    for (int k = 0; k < plan->streams; k++)
        q.s[k] = new_stream();
    for (int k = 0; k < plan->streams && plan->time == Q_HELD; k++)
        cuLaunchHostFunc(q.s[k], gate_wait, NULL);
    for (; q.step < plan->steps; q.step++)
        q_step(&q);
    char name[8] = {group, 0};
    say(sub(name, "%s.end", plan->id), "%s%s", now(q.pool), gate_opened());
    cuCtxSynchronize();
    for (int k = 0; k < Q_LIVE; k++)
        if (q.p[k])
            cuMemFree(q.p[k]);
    cuCtxSynchronize();
    cuMemPoolDestroy(q.pool);
    for (int k = 0; k < plan->streams; k++)
        cuStreamDestroy(q.s[k]);
}

static void q_one(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "Q.%s", q_plans[i % COUNT(q_plans)].id);
    if (run)
        q_sequence('Q', i % COUNT(q_plans), &q_plans[i % COUNT(q_plans)]);
}

static size_t q_fresh;

static void q_alone(void)
{
    end_after(6);
    init();
    q_sequence('Q', q_fresh, &q_plans[q_fresh]);
}

/* The first ones have a process of their own, and the first of these comes again at the end: does it matter what came before? */
static void group_q(void)
{
    if (!is_wanted("Q"))
        return;
    for (q_fresh = 0; q_fresh < 9; q_fresh++)
        child("Q!", q_alone);
    run_cases(init, COUNT(q_plans), q_one);
}

static void s_one(size_t i, char *id, int run)
{
    snprintf(id, CASE_ID, "S.%s", s_plans[i].id);
    if (run)
        q_sequence('S', 100 + i, &s_plans[i]);
}

static void group_s(void)
{
    if (is_wanted("S"))
        run_cases(init, COUNT(s_plans), s_one);
}
