/* SPDX-License-Identifier: Apache-2.0 */
/* Group C: sizes, places and chunks of the memory of one pool, in one stream. Part of ../pools.c, which includes it. */

static const size_t c_sizes[] = {
    1, 2, 3, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1536, 2000, 2048,
    3000, 4095, 4096, 4097, 8192, 10000, 16384, 16385, 32768, 40000, 65535, 65536, 65537, 100000, 131072, 131073, 200000, 262144,
    300000, 524288, 524289, 700000, MiB - 1, MiB, MiB + 1, 1500000, G - 512, G - 1, G, G + 1, G + 512, 3 * MiB, 3 * MiB + 1, 4 * MiB - 1,
    4 * MiB, 4 * MiB + 1, 5 * MiB, 6 * MiB, 7 * MiB, 8 * MiB, 8 * MiB + 1, 9 * MiB, 10 * MiB, 12 * MiB, 15 * MiB, 16 * MiB, 16 * MiB + 1,
    17 * MiB, 18 * MiB, 20 * MiB, 24 * MiB, 30 * MiB, 31 * MiB, 32 * MiB - 1, 32 * MiB, 32 * MiB + 1, 33 * MiB, 34 * MiB, 40 * MiB,
    48 * MiB, 63 * MiB, 64 * MiB - 1, 64 * MiB, 64 * MiB + 1, 65 * MiB, 66 * MiB, 80 * MiB, 96 * MiB, 100 * MiB, 128 * MiB - 1, 128 * MiB,
    128 * MiB + 1, 130 * MiB, 160 * MiB, 200 * MiB, 256 * MiB, 256 * MiB + 1, 300 * MiB, 400 * MiB, 500 * MiB, 512 * MiB, 512 * MiB + 1,
    700 * MiB, GiB - 1, GiB, GiB + 1, 3 * GiB / 2, 2 * GiB, 2 * GiB + 1, 3 * GiB, 4 * GiB, 4 * GiB + 1, 5 * GiB,
};

/* The largest power of two up to 32 MiB that divides an address. */
static u64 c_alignment(CUdeviceptr p)
{
    u64 low = p & (~p + 1);
    return low > 32 * MiB ? 32 * MiB : low;
}

/* A new pool: one allocation, a second of the same size, one of a byte; then freed in order, synchronised. */
static void c_ladder(size_t i, char *id, int run)
{
    size_t size = c_sizes[i];
    snprintf(id, CASE_ID, "C.ladder.%zu", size);
    if (!run)
        return;
    Pool pool = new_pool();
    CUstream s = new_stream();
    size_t before = free_memory();
    CUdeviceptr a = take(pool, size, s);
    say(sub(id, "first"), "aligned=%d%s %s taken=%lld", c_alignment(a) >= G, c_alignment(a) >= 32 * MiB ? "+" : "", state(pool),
        (i64)before - (i64)free_memory());
    CUdeviceptr b = take(pool, size, s);
    say(sub(id, "second"), "off=%lld %s", (i64)(b - a), now(pool));
    CUdeviceptr c = take(pool, 1, s);
    say(sub(id, "byte"), "off=%lld %s", (i64)(c - a), now(pool));
    CUdeviceptr d = take(pool, size, s);
    say(sub(id, "third"), "off=%lld %s", (i64)(d - a), now(pool));
    drop(a, s);
    drop(b, s);
    say(sub(id, "freed"), "%s", state(pool));
    cuStreamSynchronize(s);
    say(sub(id, "synchronised"), "%s", state(pool));
    drop(c, s);
    drop(d, s);
    cuStreamSynchronize(s);
    say(sub(id, "empty"), "%s back=%lld", state(pool), (i64)before - (i64)free_memory());
    cuMemPoolDestroy(pool);
    cuStreamDestroy(s);
}

/* The same size repeatedly: the growth of the pool, and the address of each. */
static void c_growth(const char *id, u64 size)
{
    Pool pool = keeping_pool();
    CUstream s = new_stream();
    CUdeviceptr p[40];
    size_t count = size > 200 * MiB ? 12 : size > 40 * MiB ? 20 : COUNT(p);
    for (size_t i = 0; i < count; i++) {
        p[i] = take(pool, size, s);
        say(sub(id, "%02zu", i), "off=%lld %s", (i64)(p[i] - p[0]), now(pool));
    }
    for (size_t i = 0; i < count; i += 2)
        drop(p[i], s);
    say(sub(id, "odd"), "%s", now(pool));
    for (size_t i = 0; i < 4; i++) /* where do holes of the size's own width go, and in which order? */
        say(sub(id, "hole%zu", i), "off=%lld %s", (i64)((p[2 * i] = take(pool, size, s)) - p[0]), now(pool));
    cuStreamSynchronize(s);
    cuMemPoolTrimTo(pool, 0);
    say(sub(id, "trimmed"), "%s", now(pool));
    for (size_t i = 0; i < count; i++)
        if (i % 2 || i < 8)
            drop(p[i], s);
    cuStreamSynchronize(s);
    cuMemPoolTrimTo(pool, 0);
    say(sub(id, "empty"), "%s", now(pool));
    cuMemPoolDestroy(pool);
    cuStreamDestroy(s);
}

/* Sizes that differ in one pool: does the next chunk depend on what the pool has? */
static void c_mixed_growth(const char *id, u64 which)
{
    static const size_t lists[][10] = {
        {1, 33 * MiB, 1, 31 * MiB, 32 * MiB, 1, 64 * MiB, 3, 40 * MiB, 24 * MiB},
        {64 * MiB, 1, 1, 20 * MiB, 20 * MiB, 20 * MiB, 5, 200 * MiB, 8 * MiB, 1},
        {20 * MiB, 20 * MiB, 20 * MiB, 12 * MiB, 12 * MiB, 12 * MiB, 1 * MiB, 1 * MiB, 7 * MiB, 8 * MiB},
        {GiB, 1, GiB, 31 * MiB, 2 * GiB, 1, 31 * MiB, 100 * MiB, 1, 1},
        {3 * MiB, 35 * MiB, 61 * MiB, 30 * MiB, 3 * MiB, 30 * MiB, 29 * MiB, 5 * MiB, 35 * MiB, 1},
        {33 * MiB, 31 * MiB, 33 * MiB, 31 * MiB, 34 * MiB, 30 * MiB, 1, 2 * MiB, 1, 65 * MiB},
    };
    Pool pool = keeping_pool();
    CUstream s = new_stream();
    CUdeviceptr p[10];
    for (size_t i = 0; i < 10; i++) {
        p[i] = take(pool, lists[which][i], s);
        say(sub(id, "%zu.%zu", i, lists[which][i]), "off=%lld %s", (i64)(p[i] - p[0]), now(pool));
    }
    for (size_t i = 0; i < 10; i++)
        drop(p[i], s);
    cuStreamSynchronize(s);
    say(sub(id, "freed"), "%s", now(pool));
    for (size_t i = 0; i < 10; i++) {
        p[i] = take(pool, lists[which][9 - i], s);
        say(sub(id, "again%zu.%zu", i, lists[which][9 - i]), "off=%lld %s", (i64)(p[i] - p[0]), now(pool));
    }
    for (size_t i = 0; i < 10; i++)
        drop(p[i], s);
    cuStreamSynchronize(s);
    cuMemPoolTrimTo(pool, 0);
    say(sub(id, "empty"), "%s", now(pool));
    cuMemPoolDestroy(pool);
    cuStreamDestroy(s);
}

/* Blocks A..H of given sizes; some are freed in an order; then probes: which hole does each take? */
struct c_fit {
    const char *id;
    size_t unit;
    unsigned char size[12]; /* in units; 0 ends */
    const char *freed;      /* letters in order */
    unsigned char probe[10];
};

static const struct c_fit c_fits[] = {
    {"best_or_first", 64 * KiB, {4, 1, 2, 1, 8, 1, 2, 1, 4, 1}, "ACEGI", {2, 2, 4, 4, 8, 1, 1, 1}},
    {"reverse_order", 64 * KiB, {4, 1, 2, 1, 8, 1, 2, 1, 4, 1}, "IGECA", {2, 2, 4, 4, 8, 1, 1, 1}},
    {"splits", 64 * KiB, {4, 1, 2, 1, 8, 1, 2, 1, 4, 1}, "CEAIG", {1, 1, 1, 1, 3, 3, 5, 1}},
    {"equal_holes", 64 * KiB, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, "ECGIA", {2, 2, 2, 2, 2, 1}},
    {"equal_holes_smaller", 64 * KiB, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, "GAEIC", {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"join_left", 64 * KiB, {2, 2, 2, 1}, "AB", {4, 1}},
    {"join_right", 64 * KiB, {2, 2, 2, 1}, "BA", {4, 1}},
    {"join_both", 64 * KiB, {2, 2, 2, 1}, "ACB", {6, 1}},
    {"join_partly", 64 * KiB, {2, 2, 2, 1}, "ACB", {5, 1, 1}},
    {"join_rest", 64 * KiB, {2, 2, 2}, "C", {5, 2, 1}},
    {"all_free", 64 * KiB, {2, 2, 2}, "ABC", {1, 2, 3, 8}},
    {"all_free_reverse", 64 * KiB, {2, 2, 2}, "CBA", {1, 2, 3, 8}},
    {"last_freed", 64 * KiB, {1, 1, 1, 1, 1, 1}, "BD", {1, 1}},
    {"last_freed_2", 64 * KiB, {1, 1, 1, 1, 1, 1}, "DB", {1, 1}},
    {"best_or_first", 512, {4, 1, 2, 1, 8, 1, 2, 1, 4, 1}, "ACEGI", {2, 2, 4, 4, 8, 1, 1, 1}},
    {"reverse_order", 512, {4, 1, 2, 1, 8, 1, 2, 1, 4, 1}, "IGECA", {2, 2, 4, 4, 8, 1, 1, 1}},
    {"splits", 512, {4, 1, 2, 1, 8, 1, 2, 1, 4, 1}, "CEAIG", {1, 1, 1, 1, 3, 3, 5, 1}},
    {"equal_holes", 512, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, "ECGIA", {2, 2, 2, 2, 2, 1}},
    {"join_both", 512, {2, 2, 2, 1}, "ACB", {6, 1}},
    {"best_or_first", G, {4, 1, 2, 1, 6, 1, 2, 1, 4, 1}, "ACEGI", {2, 2, 4, 4, 6, 1, 1, 1}},
    {"reverse_order", G, {4, 1, 2, 1, 6, 1, 2, 1, 4, 1}, "IGECA", {2, 2, 4, 4, 6, 1, 1, 1}},
    {"splits", G, {4, 1, 2, 1, 6, 1, 2, 1, 4, 1}, "CEAIG", {1, 1, 1, 1, 3, 3, 5, 1}},
    {"equal_holes", G, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, "ECGIA", {2, 2, 2, 2, 2, 1}},
    {"join_both", G, {2, 2, 2, 1}, "ACB", {6, 1}},
    {"all_free", G, {2, 2, 2}, "ABC", {1, 2, 3, 8}},
    {"chunks", 8 * MiB, {4, 4, 4, 4, 4, 4}, "BDF", {4, 4, 4, 4}},
    {"chunks_reverse", 8 * MiB, {4, 4, 4, 4, 4, 4}, "FDB", {4, 4, 4, 4}},
    {"chunks_parts", 8 * MiB, {4, 4, 4, 4, 4, 4}, "CEB", {1, 1, 1, 1, 2, 2, 3, 3}},
    {"chunks_join", 8 * MiB, {4, 4, 4, 4, 4, 4}, "BC", {8, 5, 3}},
    {"chunks_join3", 8 * MiB, {4, 4, 4, 4, 4, 4}, "CDB", {12, 5, 3}},
    {"large_chunk_parts", 8 * MiB, {16, 4, 16, 4}, "AC", {4, 4, 1, 8, 4, 4, 16}},
    {"large_and_small", 8 * MiB, {16, 4, 8, 4, 5}, "ABCDE", {4, 4, 4, 5, 8, 16}},
    {"large_and_small_reverse", 8 * MiB, {16, 4, 8, 4, 5}, "EDCBA", {4, 4, 4, 5, 8, 16}},
    {"rest_of_chunk", 8 * MiB, {3, 3, 3, 1, 1, 1}, "", {1, 1}},
    {"rest_of_chunk_2", 8 * MiB, {3, 2, 1, 2, 1, 3}, "CE", {1, 1, 2, 1}},
    {"across_chunks", 8 * MiB, {2, 4, 2, 4}, "", {2, 2, 6}},
};

static void c_fit_one(size_t i, char *id, int run)
{
    const struct c_fit *f = &c_fits[i];
    snprintf(id, CASE_ID, "C.fit.%zu.%s", f->unit, f->id);
    if (!run)
        return;
    Pool pool = keeping_pool();
    CUstream s = new_stream();
    CUdeviceptr p[12] = {0}, q[10] = {0};
    char line[400] = "";
    for (int k = 0; f->size[k]; k++) {
        p[k] = take(pool, f->size[k] * f->unit, s);
        snprintf(line + strlen(line), 30, " %.6g", (double)(i64)(p[k] - p[0]) / (double)f->unit);
    }
    say(sub(id, "blocks"), "in units%s; %s", line, now(pool));
    CUdeviceptr base = p[0];
    for (const char *c = f->freed; *c; c++) {
        drop(p[*c - 'A'], s);
        p[*c - 'A'] = 0;
    }
    line[0] = 0;
    for (int k = 0; k < 10 && f->probe[k]; k++) {
        q[k] = take(pool, f->probe[k] * f->unit, s);
        snprintf(line + strlen(line), 40, " %d:%.6g", f->probe[k], (double)(i64)(q[k] - base) / (double)f->unit);
    }
    say(sub(id, "probes"), "in units%s; %s", line, now(pool));
    for (int k = 0; k < 12; k++)
        if (p[k])
            drop(p[k], s);
    for (int k = 0; k < 10; k++)
        if (q[k])
            drop(q[k], s);
    cuStreamSynchronize(s);
    cuMemPoolTrimTo(pool, 0);
    say(sub(id, "empty"), "%s", now(pool));
    cuMemPoolDestroy(pool);
    cuStreamDestroy(s);
}

/* An allocation of the first size, then of the second: the offset shows what the first is rounded to, and aligned for. */
static void c_pairs(const char *id, u64 unused)
{
    (void)unused;
    static const size_t sizes[] = {1, 100, 512, 513, 1024, 4096, 5000, 32768, 65536, 65537, 131072, 300000, MiB, MiB + 1, 3 * MiB / 2,
                                   G - 512, G, G + 1, 3 * MiB, 5 * MiB, 16 * MiB, 31 * MiB};
    CUstream s = new_stream();
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < COUNT(sizes); k++) {
            Pool pool = keeping_pool();
            CUdeviceptr a = take(pool, sizes[i], s), b = take(pool, sizes[k], s);
            say(sub(id, "%zu.%zu", sizes[i], sizes[k]), "off=%lld %s", (i64)(b - a), now(pool));
            drop(a, s);
            drop(b, s);
            cuStreamSynchronize(s);
            cuMemPoolDestroy(pool);
        }
    cuStreamDestroy(s);
}

/* Two pools: are their addresses apart? And a pool after another was destroyed: the same addresses? */
static void c_two_pools(const char *id, u64 unused)
{
    (void)unused;
    CUstream s = new_stream();
    Pool a = keeping_pool(), b = keeping_pool();
    CUdeviceptr p = take(a, MiB, s), q = take(b, MiB, s), p2 = take(a, 32 * MiB, s), q2 = take(b, 32 * MiB, s);
    say(sub(id, "offsets"), "b=%lld a2=%lld b2=%lld", (i64)(q - p), (i64)(p2 - p), (i64)(q2 - p));
    drop(p, s), drop(q, s), drop(p2, s), drop(q2, s);
    cuStreamSynchronize(s);
    cuMemPoolDestroy(a);
    cuMemPoolDestroy(b);
    a = keeping_pool();
    CUdeviceptr r = take(a, MiB, s);
    say(sub(id, "after_destroy"), "off=%lld", (i64)(r - p));
    drop(r, s);
    cuStreamSynchronize(s);
    cuMemPoolTrimTo(a, 0);
    CUdeviceptr t = take(a, MiB, s);
    say(sub(id, "after_trim"), "off=%lld", (i64)(t - r));
    CUdeviceptr m = 0;
    cuMemAlloc(&m, 3 * MiB);
    say(sub(id, "plain"), "near=%d", m > t - GiB && m < t + GiB);
    cuMemFree(m);
    drop(t, s);
    cuStreamSynchronize(s);
    cuMemPoolDestroy(a);
    cuStreamDestroy(s);
}

static void group_c(void)
{
    static const struct pool_case cases[] = {
        {"C.pairs", c_pairs, 0},
        {"C.growth.1", c_growth, 1},
        {"C.growth.100000", c_growth, 100000},
        {"C.growth.1M", c_growth, MiB},
        {"C.growth.2M", c_growth, G},
        {"C.growth.3M", c_growth, 3 * MiB},
        {"C.growth.5M+1", c_growth, 5 * MiB + 1},
        {"C.growth.12M", c_growth, 12 * MiB},
        {"C.growth.20M", c_growth, 20 * MiB},
        {"C.growth.31M", c_growth, 31 * MiB},
        {"C.growth.32M", c_growth, 32 * MiB},
        {"C.growth.33M", c_growth, 33 * MiB},
        {"C.growth.50M", c_growth, 50 * MiB},
        {"C.growth.64M", c_growth, 64 * MiB},
        {"C.growth.100M", c_growth, 100 * MiB},
        {"C.growth.257M", c_growth, 257 * MiB},
        {"C.growth.1G", c_growth, GiB},
        {"C.mixed.0", c_mixed_growth, 0},
        {"C.mixed.1", c_mixed_growth, 1},
        {"C.mixed.2", c_mixed_growth, 2},
        {"C.mixed.3", c_mixed_growth, 3},
        {"C.mixed.4", c_mixed_growth, 4},
        {"C.mixed.5", c_mixed_growth, 5},
        {"C.two_pools", c_two_pools, 0},
    };
    if (!is_wanted("C"))
        return;
    run_cases(init, COUNT(c_sizes), c_ladder);
    run_table(cases, COUNT(cases));
    run_cases(init, COUNT(c_fits), c_fit_one);
}
