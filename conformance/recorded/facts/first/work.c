/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, copies and fills on memory with and without rights. Part of ../first.c. */

static CUdeviceptr gp;
static Handle gh;

static void setup(int mapit, int acc)
{
    begin();
    gp = reserve(8 * G);
    gh = make(2 * G);
    if (mapit)
        cuMemMap(gp, 2 * G, 0, gh, 0);
    if (acc >= 0) {
        CUmemAccessDesc a = rights(0, acc);
        cuMemSetAccess(gp, 2 * G, &a, 1);
    }
}

#define F(name, m, acc, e)                                                                                             \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        setup(m, acc);                                                                                                 \
        unsigned char b[16] = {0};                                                                                     \
        u64 s = 0;                                                                                                     \
        (void)b;                                                                                                       \
        (void)s;                                                                                                       \
        CUresult r = R(#name, e);                                                                                      \
        CUresult y = cuCtxSynchronize();                                                                               \
        CUdeviceptr t;                                                                                                 \
        CUresult z = cuMemAlloc(&t, 16);                                                                               \
        printf(#name ".then\tsync=%s", name_of(y));                                                                    \
        printf(" alloc=%s\n", name_of(z));                                                                             \
        (void)r;                                                                                                       \
        CUdeviceptr q;                                                                                                 \
        printf(#name ".vmm_after\treserve=%s", name_of(cuMemAddressReserve(&q, G, 0, 0, 0)));                          \
        printf(" unmap=%s", name_of(cuMemUnmap(gp, 2 * G)));                                                           \
        printf(" release=%s", name_of(cuMemRelease(gh)));                                                              \
        printf(" free=%s\n", name_of(cuMemAddressFree(gp, 8 * G)));                                                    \
    }

F(k_reserved_only, 0, -1, fill(gp, 16, 1))
F(k_mapped_noaccess, 1, -1, fill(gp, 16, 1))
F(k_none, 1, 0, fill(gp, 16, 1))
F(k_ro_write, 1, 1, fill(gp, 16, 1))
F(k_ro_read, 1, 1, sum(gp, 16, &s))
F(k_rw, 1, 3, fill(gp, 2 * G, 1))
F(k_overrun, 1, 3, fill(gp, 2 * G + 1, 1))
F(k_unreserved, 1, 3, fill(gp + (1ull << 38), 16, 1))

F(c_htod_reserved, 0, -1, cuMemcpyHtoD(gp, b, 16))
F(c_htod_noaccess, 1, -1, cuMemcpyHtoD(gp, b, 16))
F(c_htod_ro, 1, 1, cuMemcpyHtoD(gp, b, 16))
F(c_dtoh_ro, 1, 1, cuMemcpyDtoH(b, gp, 16))
F(c_dtoh_reserved, 0, -1, cuMemcpyDtoH(b, gp, 16))
F(c_dtoh_noaccess, 1, -1, cuMemcpyDtoH(b, gp, 16))
F(c_htod_overrun, 1, 3, cuMemcpyHtoD(gp + 2 * G - 8, b, 16))
F(m_memset_ro, 1, 1, cuMemsetD8(gp, 1, 16))
F(m_memset_noaccess, 1, -1, cuMemsetD8(gp, 1, 16))
F(m_memset_reserved, 0, -1, cuMemsetD8(gp, 1, 16))
F(m_memset_overrun, 1, 3, cuMemsetD8(gp, 1, 2 * G + 1))
F(c_dtod_noaccess, 1, -1, cuMemcpyDtoD(gp, gp + G, 16))
F(m_memset_unreserved, 1, 3, cuMemsetD8(gp + (1ull << 38), 1, 16))

static void t_straddle(void)
{
    begin();
    CUmemAccessDesc a = rights(0, 3);
    CUdeviceptr p = reserve(16 * G);
    Handle h = make(4 * G), h64 = make(64 * G), h1 = make(G);
    R("straddle.beyond_start", cuMemMap(p + 16 * G, G, 0, h1, 0));
    R("straddle.map", cuMemMap(p + 15 * G, 4 * G, 0, h, 0));
    R("straddle.setaccess", cuMemSetAccess(p + 15 * G, 4 * G, &a, 1));
    R("straddle.memset", cuMemsetD8(p + 15 * G, 1, 4 * G));
    R("straddle.kernel", fill(p + 15 * G, 4 * G, 2));
    CUdeviceptr q = 0;
    R("straddle.reserve_hint_tail", cuMemAddressReserve(&q, G, 0, p + 16 * G, 0));
    V("straddle.tail_given", "%d", q == p + 16 * G);
    if (!cuMemGetAddressRange(&q, &(size_t){0}, p + 17 * G))
        V("straddle.range", "%lld", (long long)(p + 17 * G - q));
    R("straddle.free_while", cuMemAddressFree(p, 16 * G));
    R("straddle.unmap", cuMemUnmap(p + 15 * G, 4 * G));
    R("straddle.big", cuMemMap(p + 8 * G, 64 * G, 0, h64, 0));
    R("straddle.big_unmap", cuMemUnmap(p + 8 * G, 64 * G));
    R("straddle.free", cuMemAddressFree(p, 16 * G));
    R("straddle.map_after_free", cuMemMap(p, 4 * G, 0, h, 0));
}

static void t_span(void)
{
    begin();
    CUmemAccessDesc a = rights(0, 3), r = rights(0, 1);
    Handle h = make(G);
    CUdeviceptr p = reserve(8 * G);
    for (int i = 0; i < 4; i++) {
        char b[32];
        snprintf(b, 32, "span.map%d", i);
        R(b, cuMemMap(p + i * G, G, 0, h, 0));
    }
    R("span.access_all", cuMemSetAccess(p, 4 * G, &a, 1));
    R("span.kernel", fill(p, 4 * G, 5));
    cuMemUnmap(p + G, G);
    R("span.access_hole_mid", cuMemSetAccess(p, 4 * G, &r, 1));
    R("span.access_lead_hole", cuMemSetAccess(p + G, 3 * G, &r, 1));
    R("span.access_trail_hole", cuMemSetAccess(p, 2 * G, &r, 1));
    R("span.kernel_over_hole", sum(p, 4 * G, &(u64){0}));
    R("span.after", cuCtxSynchronize());
}

static void t_hcopy(void)
{
    begin();
    CUmemAccessDesc a = rights(0, 3);
    Handle h1 = make(G), h2 = make(G);
    CUdeviceptr p = reserve(8 * G);
    cuMemMap(p, G, 0, h1, 0);
    cuMemMap(p + G, G, 0, h2, 0);
    cuMemSetAccess(p, 2 * G, &a, 1);
    char *b = malloc(2 * G);
    if (!b)
        abort(); /* without its lines a recording is worthless */
    memset(b, 0x3c, 2 * G);
    R("copy.htod_span", cuMemcpyHtoD(p, b, 2 * G));
    memset(b, 0, 2 * G);
    R("copy.dtoh_span", cuMemcpyDtoH(b, p, 2 * G));
    V("copy.ok", "%d", b[2 * G - 1] == 0x3c && b[0] == 0x3c);
    R("copy.overlap_dtod", cuMemcpyDtoD(p, p + 16, G));
    CUmemAccessDesc r = rights(0, 1);
    cuMemSetAccess(p + G, G, &r, 1);
    R("copy.htod_second_ro", cuMemcpyHtoD(p + G - 8, b, 16));
    R("copy.size0_unmapped", cuMemcpyHtoD(p + 4 * G, b, 0));
    R("copy.memset0_unmapped", cuMemsetD8(p + 4 * G, 0, 0));
    cuMemUnmap(p + G, G);
    R("copy.dtoh_tail_unmapped", cuMemcpyDtoH(b, p + G - 8, 16));
    R("copy.memset_null", cuMemsetD8(0, 1, 1));
}

static void t_multi(void)
{
    begin();
    CUmemAccessDesc d2[2] = {rights(0, 3), rights(ndev > 1 ? 1 : 0, 1)};
    Handle h = make(G);
    CUdeviceptr p = reserve(G);
    cuMemMap(p, G, 0, h, 0);
    R("multi.set2", cuMemSetAccess(p, G, d2, 2));
    u64 f0 = 9, f1 = 9;
    cuMemGetAccess(&f0, &d2[0].location, p);
    cuMemGetAccess(&f1, &d2[1].location, p);
    V("multi.flags", "%llu %llu", f0, f1);
    R("multi.set_only1", cuMemSetAccess(p, G, &d2[1], 1));
    cuMemGetAccess(&f0, &d2[0].location, p);
    V("multi.dev0_kept", "%llu", f0);
}

static void t_remap(void)
{
    begin();
    CUmemAccessDesc a = rights(0, 3);
    Handle h = make(2 * G);
    CUdeviceptr p = reserve(8 * G);
    cuMemMap(p, 2 * G, 0, h, 0);
    cuMemSetAccess(p, 2 * G, &a, 1);
    fill(p, 2 * G, 9);
    R("remap.unmap", cuMemUnmap(p, 2 * G));
    R("remap.map", cuMemMap(p + 4 * G, 2 * G, 0, h, 0));
    R("remap.read_noaccess", cuMemcpyDtoH(&(char){0}, p + 4 * G, 1));
    cuMemSetAccess(p + 4 * G, 2 * G, &a, 1);
    unsigned char v = 0;
    cuMemcpyDtoH(&v, p + 4 * G + 100, 1);
    V("remap.v(9)", "%d", v);
}
