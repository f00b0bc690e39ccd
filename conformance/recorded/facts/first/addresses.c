/* SPDX-License-Identifier: Apache-2.0 */
/* Reserving and freeing addresses, mapping and unmapping. Part of ../first.c. */

static void r1(const char *id, size_t n, size_t al, CUdeviceptr hint, u64 fl, int keep)
{
    CUdeviceptr p = 0x77;
    char b[99];
    snprintf(b, 99, "reserve.%s", id);
    CUresult r = cuMemAddressReserve(&p, n, al, hint, fl);
    printf("%s\t%s p=%llx hint=%llx ctz=%d%s\n", b, name_of(r), (u64)p, (u64)hint, p ? __builtin_ctzll(p) : 0,
           logged());
    if (!r && !keep) {
        r = cuMemAddressFree(p, n);
        if (r)
            printf("%s.free\t%s\n", b, name_of(r));
    }
    fflush(stdout);
}

static void t_reserve(void)
{
    begin();
    r1("g", G, 0, 0, 0, 0);
    r1("0", 0, 0, 0, 0, 0);
    r1("1", 1, 0, 0, 0, 0);
    r1("1024", 1024, 0, 0, 0, 0);
    r1("4096", 4096, 0, 0, 0, 0);
    r1("64k", 65536, 0, 0, 0, 0);
    r1("1m", 1 << 20, 0, 0, 0, 0);
    r1("g+4096", G + 4096, 0, 0, 0, 0);
    r1("g+64k", G + 65536, 0, 0, 0, 0);
    r1("g+1", G + 1, 0, 0, 0, 0);
    r1("3g", 3 * G, 0, 0, 0, 0);
    r1("al1", G, 1, 0, 0, 0);
    r1("al3", G, 3, 0, 0, 0);
    r1("al4096", G, 4096, 0, 0, 0);
    r1("al4097", G, 4097, 0, 0, 0);
    r1("alG", G, G, 0, 0, 0);
    r1("al3G", G, 3 * G, 0, 0, 0);
    r1("al1<<30", G, 1ull << 30, 0, 0, 0);
    r1("al1<<36", G, 1ull << 36, 0, 0, 0);
    r1("al1<<40", G, 1ull << 40, 0, 0, 0);
    r1("al1<<46", G, 1ull << 46, 0, 0, 0);
    r1("al1<<47", G, 1ull << 47, 0, 0, 0);
    r1("al1<<63", G, 1ull << 63, 0, 0, 0);
    r1("flags1", G, 0, 0, 1, 0);
    R("reserve.null", cuMemAddressReserve(0, G, 0, 0, 0));
    r1("1<<40", 1ull << 40, 0, 0, 0, 0);
    r1("1<<44", 1ull << 44, 0, 0, 0, 0);
    r1("1<<45", 1ull << 45, 0, 0, 0, 0);
    r1("1<<46", 1ull << 46, 0, 0, 0, 0);
    r1("1<<47", 1ull << 47, 0, 0, 0, 0);
    r1("1<<48", 1ull << 48, 0, 0, 0, 0);
    r1("1<<49", 1ull << 49, 0, 0, 0, 0);
    r1("1<<62", 1ull << 62, 0, 0, 0, 0);
    r1("max", ~(size_t)0, 0, 0, 0, 0);
    r1("max_al", ~(size_t)0 - (G - 1), 0, 0, 0, 0);
    CUdeviceptr a = reserve(4 * G), b = reserve(4 * G), c = reserve(G);
    V("reserve.seq", "a=%llx b=%llx c=%llx b-a=%lld", (u64)a, (u64)b, (u64)c, (long long)(b - a));
    r1("hint_used", G, 0, a, 0, 0);
    r1("hint_used_mid", G, 0, a + G, 0, 0);
    cuMemAddressFree(a, 4 * G);
    r1("hint_free", 4 * G, 0, a, 0, 0);
    r1("hint_free_unaligned", G, 0, a + 1, 0, 0);
    r1("hint_free_4096", G, 0, a + 4096, 0, 0);
    r1("hint_free_mid", G, 0, a + G, 0, 0);
    r1("hint_low", G, 0, 0x10000, 0, 0);
    r1("hint_high", G, 0, 1ull << 60, 0, 0);
    r1("hint_2^56", G, 0, 1ull << 56, 0, 0);
    r1("hint_hostimg", G, 0, (CUdeviceptr)(uintptr_t)&begin & ~(G - 1), 0, 0);
    r1("hint_far", G, 0, 0x200000000000ull, 0, 0);
    r1("hint_al_conflict", G, 1ull << 30, a + G, 0, 0);
    cuMemAddressFree(b, 4 * G);
    CUdeviceptr z1 = reserve(G);
    cuMemAddressFree(z1, G);
    CUdeviceptr z2 = reserve(G);
    V("reserve.reuse", "%d (%llx %llx)", z1 == z2, (u64)z1, (u64)z2);
}

static void t_free(void)
{
    begin();
    CUdeviceptr p = reserve(4 * G);
    R("free.half", cuMemAddressFree(p, 2 * G));
    R("free.toolong", cuMemAddressFree(p, 8 * G));
    R("free.interior", cuMemAddressFree(p + G, 3 * G));
    R("free.size0", cuMemAddressFree(p, 0));
    R("free.ptr0", cuMemAddressFree(0, G));
    R("free.00", cuMemAddressFree(0, 0));
    R("free.unaligned", cuMemAddressFree(p + 1, 4 * G));
    R("free.g-1", cuMemAddressFree(p, 4 * G - 1));
    Handle h = make(G);
    cuMemMap(p + G, G, 0, h, 0);
    R("free.mapped", cuMemAddressFree(p, 4 * G));
    CUmemAccessDesc a = rights(0, 3);
    R("free.mapped.still_mapped_setaccess", cuMemSetAccess(p + G, G, &a, 1));
    R("free.mapped.unmap", cuMemUnmap(p + G, G));
    R("free.ok", cuMemAddressFree(p, 4 * G));
    R("free.double", cuMemAddressFree(p, 4 * G));
    cuMemRelease(h);
    CUdeviceptr m;
    cuMemAlloc(&m, G);
    R("free.cumemalloc", cuMemAddressFree(m, G));
    cuMemFree(m);
    CUdeviceptr q = reserve(G);
    R("free.vmm_by_cuMemFree", cuMemFree(q));
    R("free.after_cuMemFree", cuMemAddressFree(q, G));
    h = make(G);
    q = reserve(G);
    cuMemMap(q, G, 0, h, 0);
    cuMemSetAccess(q, G, &a, 1);
    R("cuMemFree.mapped_vmm", cuMemFree(q));
    R("cuMemFree.then_unmap", cuMemUnmap(q, G));
}

static void t_map(void)
{
    begin();
    CUmemAccessDesc a = rights(0, 3);
    Handle h = make(4 * G), h1 = make(G), h2 = make(G);
    CUdeviceptr p = reserve(16 * G);
    R("map.size0", cuMemMap(p, 0, 0, h, 0));
    R("map.size_un", cuMemMap(p, G + 4096, 0, h, 0));
    R("map.size_4096", cuMemMap(p, 4096, 0, h1, 0));
    R("map.ptr_un", cuMemMap(p + 4096, G, 0, h1, 0));
    R("map.ptr_64k", cuMemMap(p + 65536, G, 0, h1, 0));
    R("map.off_un", cuMemMap(p, G, 4096, h, 0));
    R("map.flags1", cuMemMap(p, G, 0, h1, 1));
    R("map.too_long", cuMemMap(p, 2 * G, 0, h1, 0));
    R("map.off_eq_size", cuMemMap(p, G, G, h1, 0));
    R("map.ptr0", cuMemMap(0, G, 0, h1, 0));
    R("map.outside", cuMemMap(p + 16 * G, G, 0, h1, 0));
    R("map.straddle_end", cuMemMap(p + 15 * G, 4 * G, 0, h, 0));
    R("map.size_max", cuMemMap(p, ~(size_t)0 - (G - 1), G, h, 0));
    R("map.off_max", cuMemMap(p, G, ~(size_t)0 - (G - 1), h, 0));
    R("map.off_g", cuMemMap(p, G, G, h, 0));
    CUresult r = R("map.off_tail", cuMemMap(p + G, G, 3 * G, h, 0));
    (void)r;
    R("map.partial_first", cuMemMap(p + 2 * G, G, 0, h, 0));
    R("map.partial2g_off1g", cuMemMap(p + 3 * G, 2 * G, G, h, 0));
    R("map.off2_past_end", cuMemMap(p + 8 * G, 3 * G, 2 * G, h, 0));
    R("map.exact_overlap", cuMemMap(p, G, 0, h1, 0));
    R("map.same_again", cuMemMap(p, G, G, h, 0));
    cuMemUnmap(p, G);
    cuMemUnmap(p + G, G);
    cuMemUnmap(p + 2 * G, G);
    cuMemUnmap(p + 3 * G, 2 * G);
    R("map.full", cuMemMap(p, 4 * G, 0, h, 0));
    R("map.overlap_mid", cuMemMap(p + G, G, 0, h1, 0));
    R("map.overlap_tail", cuMemMap(p + 3 * G, 4 * G, 0, h, 0));
    R("map.overlap_last", cuMemMap(p + 3 * G, G, 0, h1, 0));
    R("map.alias", cuMemMap(p + 4 * G, 4 * G, 0, h, 0));
    R("map.alias3", cuMemMap(p + 8 * G, G, 0, h, 0));
    R("map.adjacent", cuMemMap(p + 9 * G, G, 0, h1, 0));
    R("unmap.sub_first", cuMemUnmap(p, G));
    R("unmap.sub_mid", cuMemUnmap(p + G, 2 * G));
    R("unmap.sub_tail", cuMemUnmap(p + 3 * G, G));
    R("unmap.too_long_into_unmapped", cuMemUnmap(p + 9 * G, 2 * G));
    R("unmap.two_whole", cuMemUnmap(p, 8 * G));
    R("unmap.after_two_again", cuMemUnmap(p, 4 * G));
    R("unmap.alias3", cuMemUnmap(p + 8 * G, G));
    R("unmap.adjacent", cuMemUnmap(p + 9 * G, G));
    R("unmap.unmapped", cuMemUnmap(p, G));
    R("unmap.size0", cuMemUnmap(p, 0));
    R("unmap.unaligned", cuMemUnmap(p + 1, G));
    R("unmap.ptr0", cuMemUnmap(0, G));
    R("unmap.unreserved", cuMemUnmap(p + 64 * G, G));
    cuMemMap(p, G, 0, h1, 0);
    cuMemMap(p + 2 * G, G, 0, h2, 0);
    R("unmap.hole_between", cuMemUnmap(p, 3 * G));
    R("unmap.hole_between.again1", cuMemUnmap(p, G));
    R("unmap.hole_between.again2", cuMemUnmap(p + 2 * G, G));
    cuMemMap(p, G, 0, h1, 0);
    cuMemMap(p + G, G, 0, h2, 0);
    R("unmap.whole_plus_hole", cuMemUnmap(p, 16 * G));
    R("unmap.whole_plus_hole.a1", cuMemUnmap(p, G));
    R("unmap.whole_plus_hole.a2", cuMemUnmap(p + G, G));
    cuMemMap(p, 4 * G, 0, h, 0);
    cuMemMap(p + 4 * G, G, 0, h1, 0);
    R("unmap.one_and_sub", cuMemUnmap(p + 2 * G, 3 * G));
    R("unmap.g4096", cuMemUnmap(p, 4 * G + 4096));
    R("unmap.both", cuMemUnmap(p, 5 * G));
    /* adjacent reservations */
    CUdeviceptr x = reserve(4 * G);
    cuMemAddressFree(x, 4 * G);
    CUdeviceptr y1 = 0, y2 = 0;
    r = cuMemAddressReserve(&y1, 2 * G, 0, x, 0);
    CUresult r2 = cuMemAddressReserve(&y2, 2 * G, 0, x + 2 * G, 0);
    printf("adj\t%s %s %d %d\n", name_of(r), name_of(r2), y1 == x, y2 == x + 2 * G);
    if (y1 == x && y2 == x + 2 * G) {
        R("adj.map_across", cuMemMap(x, 4 * G, 0, h, 0));
        cuMemUnmap(x, 4 * G);
        cuMemMap(x + G, G, 0, h1, 0);
        cuMemMap(x + 2 * G, G, 0, h2, 0);
        R("adj.setaccess_across", cuMemSetAccess(x + G, 2 * G, &a, 1));
        R("adj.memset_across", cuMemsetD8(x + G, 1, 2 * G));
        R("adj.unmap_across", cuMemUnmap(x + G, 2 * G));
        cuMemUnmap(x + G, G);
        cuMemUnmap(x + 2 * G, G);
        R("adj.free_across", cuMemAddressFree(x, 4 * G));
    }
    CUdeviceptr m;
    cuMemAlloc(&m, 4 * G);
    R("map.on_cumemalloc", cuMemMap((m + G - 1) & ~(G - 1), G, 0, h1, 0));
    R("unmap.on_cumemalloc", cuMemUnmap(m, 4 * G));
    R("setaccess.on_cumemalloc", cuMemSetAccess(m, 4 * G, &a, 1));
    /* reservation smaller than granularity tail */
    CUdeviceptr o = 0;
    r = cuMemAddressReserve(&o, G + 65536, 0, 0, 0);
    printf("odd_reserve\t%s\n", name_of(r));
    if (!r) {
        R("odd.map", cuMemMap(o, G, 0, h1, 0));
        R("odd.map_tail", cuMemMap(o + G, G, 0, h2, 0));
    }
}
