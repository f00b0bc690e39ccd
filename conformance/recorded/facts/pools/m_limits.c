/* SPDX-License-Identifier: Apache-2.0 */
/* Group M: the limits of a pool (maxSize) and of the device. Part of ../pools.c, which includes it. */

static const size_t m_max[] = {1, 512, 65536, MiB, G - 1, G, G + 1, 3 * MiB, 10 * MiB, 31 * MiB, 32 * MiB - 1, 32 * MiB, 32 * MiB + 1, 33 * MiB,
                               34 * MiB, 40 * MiB, 63 * MiB, 64 * MiB, 65 * MiB, 96 * MiB, 100 * MiB};

/* Allocations of one size until a pool of a given size is full. */
static void m_fill(size_t i, char *id, int run)
{
    static const size_t sizes[] = {1, MiB, G, 5 * MiB, 20 * MiB, 32 * MiB, 33 * MiB, 64 * MiB};
    size_t max = m_max[i / COUNT(sizes)], size = sizes[i % COUNT(sizes)];
    snprintf(id, CASE_ID, "M.fill.%zu.%zu", max, size);
    if (!run)
        return;
    CUmemPoolProps props = pool_props();
    props.maxSize = max;
    Pool pool = pool_with(props);
    CUstream s = new_stream();
    keep_all(pool);
    CUdeviceptr p[200];
    int n = 0;
    CUresult r = CUDA_SUCCESS;
    u64 after_one = 0;
    for (; n < 200; n++) {
        r = cuMemAllocFromPoolAsync(&p[n], size, pool, s);
        if (r)
            break;
        if (n == 0)
            after_one = value_of(pool, RESERVED);
    }
    say(id, "%d then %s first=%llu %s", n, name_of(r), after_one, state(pool));
    for (int k = 0; k < n; k++)
        drop(p[k], s);
    cuStreamSynchronize(s);
    cuMemPoolDestroy(pool);
    cuStreamDestroy(s);
}

/* One allocation of exactly the limit, and around it. */
static void m_exact(size_t i, char *id, int run)
{
    static const i64 around[] = {-512, -1, 0, 1, 512, (i64)G};
    size_t max = m_max[i / COUNT(around)], size = max + (size_t)around[i % COUNT(around)];
    snprintf(id, CASE_ID, "M.exact.%zu.%+lld", max, around[i % COUNT(around)]);
    if (!run || size == 0 || size > ((size_t)1 << 40))
        return;
    CUmemPoolProps props = pool_props();
    props.maxSize = max;
    Pool pool = pool_with(props);
    CUdeviceptr p = 77;
    CUresult r = cuMemAllocFromPoolAsync(&p, size, pool, 0);
    say(id, "%s wrote=%d %s", name_of(r), p != 77, state(pool));
    if (!r)
        cuMemFree(p);
    cuMemPoolDestroy(pool);
}

/* A full pool: memory that was freed elsewhere and is pending, or is in chunks of the wrong size. */
static void m_full(const char *id, u64 which)
{
    CUmemPoolProps props = pool_props();
    props.maxSize = 64 * MiB;
    Pool pool = pool_with(props);
    CUstream s = new_stream(), t = new_stream();
    keep_all(pool);
    CUdeviceptr a = take(pool, 32 * MiB, s), b = take(pool, 32 * MiB, s), c = 77;
    cuStreamSynchronize(s);
    for (int k = FOLLOW; k <= INTERNAL && which & 4; k++)
        set_int(pool, k, 0);
    gate_reset();
    if (which & 1)
        gate_in(s);
    drop(a, s);
    if (which & 2)
        drop(b, s);
    CUresult r = cuMemAllocFromPoolAsync(&c, 32 * MiB, pool, t);
    const char *waited = gate_opened();
    say(sub(id, "same_size"), "%s off=%lld %s%s", name_of(r), r ? 0 : (i64)(c - a), now(pool), waited);
    if (!r)
        drop(c, t);
    cuCtxSynchronize();
    r = cuMemAllocFromPoolAsync(&c, 64 * MiB, pool, t);
    say(sub(id, "whole"), "%s off=%lld %s", name_of(r), r ? 0 : (i64)(c - a), now(pool));
    if (!r)
        drop(c, t);
    r = cuMemAllocFromPoolAsync(&c, 33 * MiB, pool, t);
    say(sub(id, "33M"), "%s %s", name_of(r), now(pool));
    if (!r)
        drop(c, t);
    cuCtxSynchronize();
    if (!(which & 2))
        drop(b, s);
    cuCtxSynchronize();
    cuMemPoolDestroy(pool);
}

/* The device is nearly full: does an allocation of each kind take memory back that pools keep? */
static void m_device(const char *id, u64 which)
{
    Pool pool = keeping_pool(), other = keeping_pool();
    CUstream s = new_stream();
    size_t all = free_memory(), most = all / GiB * GiB - 2 * GiB;
    CUdeviceptr a = 0, b = 77;
    Handle h = 0;
    CUresult r = cuMemAllocFromPoolAsync(&a, most, pool, s);
    say(sub(id, "most"), "%s rounded=%d", name_of(r), value_of(pool, RESERVED) == most);
    if (r) {
        cuMemPoolDestroy(pool), cuMemPoolDestroy(other);
        return;
    }
    cuStreamSynchronize(s);
    gate_reset();
    if (which >= 6)
        gate_in(s);
    if (which != 5)
        drop(a, s);
    if (which < 6)
        cuStreamSynchronize(s);
    CUmemAllocationProp prop = prop_at(L_DEVICE, 0);
    switch (which) {
    case 0: r = cuMemAllocFromPoolAsync(&b, 8 * GiB, other, s); break;
    case 1: r = cuMemAlloc(&b, 8 * GiB); break;
    case 2: r = cuMemCreate(&h, 8 * GiB, &prop, 0); break;
    case 3: r = cuMemAllocAsync(&b, 8 * GiB, s); break;
    case 4: r = cuMemAllocFromPoolAsync(&b, most + GiB, pool, s); break;
    case 5: r = cuMemAllocFromPoolAsync(&b, 8 * GiB, pool, s); break; /* all in use */
    case 6: r = cuMemAllocFromPoolAsync(&b, 8 * GiB, other, new_stream()); break; /* pending */
    default: r = cuMemAlloc(&b, 8 * GiB); break;
    }
    const char *waited = gate_opened();
    size_t left = value_of(pool, RESERVED);
    say(id, "%s wrote=%d kept=%s used=%d other=%llu%s", name_of(r), b != 77, left == most ? "all" : left == 0 ? "none" : left == most - 8 * GiB ? "rest" : "some",
        value_of(pool, USED) != 0, value_of(other, RESERVED), waited);
    cuCtxSynchronize();
    if (!r && b != 77)
        cuMemFree(b);
    if (h)
        cuMemRelease(h);
    if (which == 5)
        cuMemFree(a);
    cuCtxSynchronize();
    cuMemPoolTrimTo(default_pool(), 0);
    cuMemPoolDestroy(pool);
    cuMemPoolDestroy(other);
    say(sub(id, "end"), "missing=%lld", (i64)(all / MiB) - (i64)(free_memory() / MiB));
}

static void group_m(void)
{
    static const struct pool_case cases[] = {
        {"M.full.done", m_full, 0}, {"M.full.pending", m_full, 1}, {"M.full.both", m_full, 2}, {"M.full.both_pending", m_full, 3},
        {"M.full.off", m_full, 4}, {"M.full.off_pending", m_full, 5}, {"M.device.other_pool", m_device, 0},
        {"M.device.plain", m_device, 1}, {"M.device.create", m_device, 2}, {"M.device.default", m_device, 3},
        {"M.device.same_pool", m_device, 4}, {"M.device.in_use", m_device, 5}, {"M.device.other_pending", m_device, 6},
        {"M.device.plain_pending", m_device, 7},
    };
    if (!is_wanted("M"))
        return;
    run_cases(init, COUNT(m_max) * 8, m_fill);
    run_cases(init, COUNT(m_max) * 6, m_exact);
    run_table(cases, COUNT(cases));
}
