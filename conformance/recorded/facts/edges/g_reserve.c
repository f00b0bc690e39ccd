/* SPDX-License-Identifier: Apache-2.0 */
/* Group G: cuMemAddressReserve. Part of ../edges.c, which includes it. */

struct reservation {
    size_t size, align;
    CUdeviceptr hint;
    u64 flags;
};

static CUdeviceptr g_base;

static struct reservation combine(size_t size, size_t align, CUdeviceptr hint, u64 flags)
{
    return (struct reservation){size, align, hint, flags};
}

/* The argument that each case makes invalid: 0 size, 1 alignment, 2 hint, 3 flags. */
static const struct {
    const char *name;
    int field;
    u64 value;
} g_bad[] = {
    {"size0", 0, 0},
    {"size4096", 0, 4096},
    {"size1<<47", 0, 1ull << 47},
    {"align3", 1, 3},
    {"align1<<46", 1, 1ull << 46},
    {"align1<<63", 1, 1ull << 63},
    {"hint_unaligned", 2, 4096},
    {"hint1<<60", 2, 1ull << 60},
    {"hint1<<56", 2, 1ull << 56},
    {"flags1", 3, 1},
};

static void g_apply(struct reservation *r, size_t i)
{
    switch (g_bad[i].field) {
    case 0:
        r->size = g_bad[i].value;
        break;
    case 1:
        r->align = g_bad[i].value;
        break;
    case 2:
        r->hint = g_bad[i].value == 4096 ? g_base + 4096 : g_bad[i].value;
        break;
    default:
        r->flags = g_bad[i].value;
    }
}

static void g_pairs(void)
{
    init();
    g_base = window(4 * G);
    for (size_t i = 0; i < COUNT(g_bad); i++)
        for (size_t k = i; k < COUNT(g_bad); k++) {
            if (i != k && g_bad[i].field == g_bad[k].field)
                continue;
            struct reservation c = combine(G, 0, 0, 0);
            g_apply(&c, i);
            g_apply(&c, k);
            CUdeviceptr p = 0x77;
            CUresult r = cuMemAddressReserve(&p, c.size, c.align, c.hint, c.flags);
            char id[64];
            snprintf(id, sizeof id, i == k ? "G.%s" : "G.%s+%s", g_bad[i].name, g_bad[k].name);
            say(id, "%s%s", name_of(r), r && p != 0x77 ? " out_written" : "");
            if (!r)
                cuMemAddressFree(p, c.size);
        }
    R("G.null.size0", cuMemAddressReserve(NULL, 0, 0, 0, 0));
    R("G.null.size1<<47", cuMemAddressReserve(NULL, (size_t)1 << 47, 0, 0, 0));
}

/* Reserves by hint; prints whether the driver took it, else the actual place relative to the default one. */
static void g_hint(CUdeviceptr hint, size_t size, const char *note)
{
    CUdeviceptr p = 0, usual = window(size);
    char id[96];
    snprintf(id, sizeof id, "G.hint.%s.size%zuG", note, size / G);
    CUresult r = cuMemAddressReserve(&p, size, 0, hint, 0);
    if (r)
        say(id, "%s", name_of(r));
    else if (p == hint)
        say(id, "%s given", name_of(r));
    else if (p == usual)
        say(id, "%s usual", name_of(r));
    else
        say(id, "%s at=%llx usual%+gG", name_of(r), (u64)p, in_g((i64)(p - usual)));
    if (!r)
        cuMemAddressFree(p, size);
}

static void g_hints(void)
{
    init();
    static const CUdeviceptr fixed[] = {
        0x200000, 0x400000, 0x10000000, 0x200000000, 0x300000000, 0x340000000, 0x1000000000, 0x10004000000,
        0x20000000000, 0x100000000000, 0x200000000000, 0x300000000000, 0x400000000000, 0x500000000000,
        0x600000000000, 0x700000000000, 0x7f0000000000, 0x7ffffffff000 & ~(CUdeviceptr)(G - 1), 1ull << 47, 1ull << 48,
        1ull << 49, 1ull << 55,
        /* Finer steps around apparent limits. */
        0x600000, 0x1000000, 0x100000000, 0x1fffe00000, 0x2000000000, 0x4000000000, 0x8000000000, 0xffffe00000,
        0x10000000000, 0x10003e00000, 0x10004200000, 0x18000000000, 0x40000000000, 0x80000000000, 0x180000000000,
        0x7e0000000000, 0x7fff00000000, 1ull << 50, 1ull << 52, 1ull << 54, (1ull << 57) - G, (1ull << 48) - G,
        (1ull << 49) - G, 0xffff800000000000};
    for (size_t i = 0; i < COUNT(fixed); i++) {
        char note[32];
        snprintf(note, sizeof note, "%llx", (u64)fixed[i]);
        g_hint(fixed[i], G, note);
    }
    for (size_t i = 0; i < COUNT(fixed); i++) {
        char note[32];
        snprintf(note, sizeof note, "%llx", (u64)fixed[i]);
        g_hint(fixed[i], 64 * G, note);
    }
}

static void g_near(void)
{
    init();
    CUdeviceptr first = reserve(G);
    say("G.first", "=%llx", (u64)first);
    static const i64 steps[] = {-512 * 1024, -65536, -4096, -512, -16, -2, -1, 1, 2, 16, 512, 4096, 65536, 512 * 1024};
    for (size_t i = 0; i < COUNT(steps); i++) {
        char note[32];
        snprintf(note, sizeof note, "first%+lldG", steps[i]);
        g_hint(first + (CUdeviceptr)(steps[i] * (i64)G), G, note);
    }
    /* Where do successive reservations without a hint go? */
    static const size_t sizes[] = {1, 1, 2, 4, 16, 17, 64, 512, 513, 4096, 1 << 16, 1 << 19};
    CUdeviceptr last = first;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUdeviceptr p = reserve(sizes[i] * G);
        say("G.sequence", "size=%zuG at=%llx from_last%+gG ctz=%d", sizes[i], (u64)p, in_g((i64)(p - last)),
            __builtin_ctzll(p));
        last = p;
    }
}

static void g_overlap(void)
{
    init();
    CUdeviceptr a = window(U == G ? 8 * U : 12 * U);
    if (U == G)
        reserve_here(a + 3 * U, 2 * U);
    else
        reserve_here(a + 4 * U, 4 * U);
    const struct {
        const char *id;
        int at, size;
    } big[] = {{"below_adjacent", 0, 4}, {"below_overlap", 2, 4}, {"above_adjacent", 8, 4}, {"above_overlap", 6, 4},
               {"encloses", 0, 12},      {"same", 4, 4},          {"inside", 5, 1},         {"below_by_one", 1, 4}},
      small[] = {{"below_adjacent", 0, 3}, {"below_overlap", 2, 3}, {"above_adjacent", 5, 3}, {"above_overlap", 4, 3},
                 {"encloses", 0, 8},       {"same", 3, 2},          {"inside", 4, 1},         {"below_by_one", 1, 3}};
    for (size_t i = 0; i < COUNT(big); i++) {
        CUdeviceptr p = 0;
        int at = U == G ? small[i].at : big[i].at;
        size_t size = (size_t)(U == G ? small[i].size : big[i].size) * U;
        char id[64];
        snprintf(id, sizeof id, "G.overlap.%s.%s", big[i].id, variant);
        CUdeviceptr hint = a + (CUdeviceptr)at * U;
        RV(id, cuMemAddressReserve(&p, size, 0, hint, 0), "given=%d at=%+gU from the window, %+gU from the hint",
           p == hint, in_u((i64)(p - a)), in_u((i64)(p - hint)));
        if (p)
            cuMemAddressFree(p, size);
    }
    CUdeviceptr p = 0, hint = (a + 2 * U - 1) & ~(CUdeviceptr)(2 * U - 1);
    RV(v("G.hint_with_alignment"), cuMemAddressReserve(&p, U, 2 * U, hint, 0), "given=%d", p == hint);
}

/* The default place of a range of each size: small and large ranges are separate. */
static void g_sizes_of(const char *tag)
{
    static const size_t sizes[] = {1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 17, 32, 33};
    char id[64];
    snprintf(id, sizeof id, "G.place.%s", tag);
    CUdeviceptr first = window(G);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUdeviceptr p = window(sizes[i] * G), next = 0, both[2];
        both[0] = reserve(sizes[i] * G);
        both[1] = reserve(sizes[i] * G);
        next = both[1];
        say(id, "size=%zuG at=%llx first%+gG, the next after%+gG", sizes[i], (u64)p, in_g((i64)(p - first)),
            in_g((i64)(next - both[0])));
        cuMemAddressFree(both[0], sizes[i] * G);
        cuMemAddressFree(both[1], sizes[i] * G);
    }
    u64 last = 0;
    for (int i = 0; i < 48; i++) {
        CUdeviceptr p = reserve(G);
        if (p != last + G)
            say(id, "one G after another: number=%d at=%llx", i, (u64)p);
        last = p;
    }
}

static void g_sizes(void)
{
    init();
    g_sizes_of("ctx");
}

static void g_sizes_no_context(void)
{
    cuInit(0);
    g_sizes_of("noctx");
}

/* Hints at high, empty addresses, and hints at and near the start of a driver's chunk. */
/* 1 G far above everything, unless the program's stack is there by chance. */
static CUdeviceptr g_far_up(void)
{
    static const CUdeviceptr places[] = {0x7fff00000000, 0x7ffd00000000, 0x7ffb00000000};
    for (size_t i = 0; i + 1 < COUNT(places); i++) {
        CUdeviceptr p = 0;
        if (cuMemAddressReserve(&p, G, 0, places[i], 0) == CUDA_SUCCESS && p == places[i])
            return p;
        cuMemAddressFree(p, G);
    }
    return reserve_here(places[COUNT(places) - 1], G);
}

static void g_high(void)
{
    init();
    static const CUdeviceptr high[] = {0x7fff00000000, 0x7fff00200000, 0x7fff01e00000, 0x7fff02000000, 0x7ffff0000000,
                                       0x7ffffa000000, 0x7ffffc000000, 0x7ffffde00000, 0x7ffffe000000, 0x7ffffe200000,
                                       0x7fffff000000, 0x7fffffc00000};
    static const size_t sizes[] = {1, 8, 16};
    for (size_t k = 0; k < COUNT(sizes); k++)
        for (size_t i = 0; i < COUNT(high); i++) {
            char note[32];
            snprintf(note, sizeof note, "%llx", (u64)high[i]);
            g_hint(high[i], sizes[k] * G, note);
        }
    /* A chunk kept alive by one range. */
    CUdeviceptr p = g_far_up();
    g_hint(p + G, G, "in_new_chunk+1G");
    g_hint(p + 5 * G, G, "in_new_chunk+5G");
    g_hint(p + 8 * G, 4 * G, "in_new_chunk+8G");
    g_hint(p + 14 * G, 4 * G, "in_new_chunk+14G");
    g_hint(p + 16 * G, G, "after_new_chunk");
    g_hint(p - G, G, "before_new_chunk");
    g_hint(0x1000000000, G, "low_with_new_chunk");
    g_hint(p, G, "on_the_live_one");
    cuMemAddressFree(p, G);
    g_hint(p + 5 * G, G, "in_chunk_once_empty+5G");
}

/* Small ranges by hint in address space without a chunk, without a context: is there any chunk at all? */
static void g_hints_no_context(void)
{
    cuInit(0);
    static const CUdeviceptr at[] = {0x200000, 0x2000000, 0x10000000, 0x200000000, 0x300000000, 0x340000000,
                                     0x340200000, 0x1000000000, 0x10004000000, 0x200000000000, 0x200000200000};
    CUdeviceptr p = 0;
    for (size_t i = 0; i < COUNT(at); i++) {
        CUresult r = cuMemAddressReserve(&p, G, 0, at[i], 0);
        say("G.noctx_hint", "%llx size=1G %s given=%d at=%llx", (u64)at[i], name_of(r), p == at[i], (u64)p);
        if (!r)
            cuMemAddressFree(p, G);
        p = 0;
        r = cuMemAddressReserve(&p, 16 * G, 0, at[i], 0);
        say("G.noctx_hint", "%llx size=16G %s given=%d at=%llx", (u64)at[i], name_of(r), p == at[i], (u64)p);
        if (!r)
            cuMemAddressFree(p, 16 * G);
    }
}

/* Large ranges by hint next to a live large one, and on it. */
static void g_big_hints(void)
{
    init();
    CUdeviceptr a = window(256 * G), p;
    const struct {
        const char *note;
        i64 at;
        size_t size;
    } cases[] = {{"aligned", 0, 16},          {"plus1G", 1, 16},         {"plus15G", 15, 16},   {"plus16G", 16, 16},
                 {"size17G", 16, 17},         {"size12G", 16, 12},       {"size12G_plus2G", 18, 12},
                 {"on_live", 64, 16},         {"inside_live", 80, 16},   {"runs_into_live", 48, 32},
                 {"just_below_live", 48, 16}, {"just_above_live", 96, 16}};
    reserve_here(a + 64 * G, 32 * G);
    for (size_t i = 0; i < COUNT(cases); i++) {
        p = 0;
        CUresult r = cuMemAddressReserve(&p, cases[i].size * G, 0, a + (CUdeviceptr)(cases[i].at * (i64)G), 0);
        say("G.big_hint", "%s: hint=%+lldG size=%zuG %s at=%+gG", cases[i].note, cases[i].at, cases[i].size, name_of(r),
            in_g((i64)(p - a)));
        if (!r)
            cuMemAddressFree(p, cases[i].size * G);
    }
}

static void g_alignments(void)
{
    init();
    for (int bits = 20; bits <= 48; bits++) {
        char id[64];
        CUdeviceptr p = 0x77;
        snprintf(id, sizeof id, "G.align.1<<%d", bits);
        RV(id, cuMemAddressReserve(&p, G, (size_t)1 << bits, 0, 0), "at=%llx", (u64)p);
        if (p != 0x77)
            cuMemAddressFree(p, G);
    }
    CUdeviceptr p = 0;
    RV("G.align.1<<45_of_1<<45", cuMemAddressReserve(&p, (size_t)1 << 45, (size_t)1 << 45, 0, 0), "at=%llx", (u64)p);
}

static void g_count(int bits)
{
    init();
    char id[64];
    snprintf(id, sizeof id, "G.count.1<<%d", bits);
    for (int i = 1; i <= 40; i++) {
        CUdeviceptr p = 0;
        CUresult r = cuMemAddressReserve(&p, (size_t)1 << bits, 0, 0, 0);
        say(id, "number=%d %s at=%llx", i, name_of(r), (u64)p);
        if (r)
            break;
    }
    CUdeviceptr p = 0;
    RV("G.count.then_small", cuMemAddressReserve(&p, G, 0, 0, 0), "at=%llx", (u64)p);
}

static void g_count_44(void)
{
    g_count(44);
}

static void g_count_45(void)
{
    g_count(45);
}

static void g_count_46(void)
{
    g_count(46);
}

static void g_largest(void)
{
    init();
    static const size_t sizes[] = {(size_t)3 << 45, (size_t)5 << 44, ((size_t)1 << 47) - G, ((size_t)1 << 46) + G,
                                   (size_t)7 << 44, ((size_t)1 << 47) - ((size_t)1 << 41)};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUdeviceptr p = 0;
        RV("G.largest", cuMemAddressReserve(&p, sizes[i], 0, 0, 0), "size=%zx at=%llx", sizes[i], (u64)p);
        if (p)
            cuMemAddressFree(p, sizes[i]);
    }
}

static void group_g(void)
{
    child("G.pairs!", g_pairs);
    child("G.hints!", g_hints);
    child("G.near!", g_near);
    child("G.overlap!", g_overlap);
    U = 16 * G;
    variant = "big";
    child("G.overlap!", g_overlap);
    U = G;
    variant = "small";
    child("G.place!", g_sizes);
    child("G.place_noctx!", g_sizes_no_context);
    child("G.high!", g_high);
    child("G.noctx_hint!", g_hints_no_context);
    child("G.big_hint!", g_big_hints);
    child("G.align!", g_alignments);
    child("G.count44!", g_count_44);
    child("G.count45!", g_count_45);
    child("G.count46!", g_count_46);
    child("G.largest!", g_largest);
}
