/* SPDX-License-Identifier: Apache-2.0 */
/* Group H: copies and fills. Part of ../edges.c, which includes it. */

static unsigned char buffer[4 << 20];

static void h_no_context(void)
{
    cuInit(0);
    CUdeviceptr p = reserve(4 * G), start = 0;
    map(p, G, make(G));
    give(p, G, L_DEVICE, RW);
    size_t size = 0, total = 0;
    R("H.noctx.htod_size0", cuMemcpyHtoD(p, buffer, 0));
    R("H.noctx.htod", cuMemcpyHtoD(p, buffer, 16));
    R("H.noctx.dtoh_size0", cuMemcpyDtoH(buffer, p, 0));
    R("H.noctx.dtoh", cuMemcpyDtoH(buffer, p, 16));
    R("H.noctx.dtod_size0", cuMemcpyDtoD(p, p + 64, 0));
    R("H.noctx.dtod", cuMemcpyDtoD(p, p + 64, 16));
    R("H.noctx.memset8_n0", cuMemsetD8(p, 1, 0));
    R("H.noctx.memset8", cuMemsetD8(p, 1, 16));
    R("H.noctx.memset32_n0", cuMemsetD32(p, 1, 0));
    R("H.noctx.memset32_unaligned", cuMemsetD32(p + 2, 1, 4));
    R("H.noctx.memset8_unmapped", cuMemsetD8(p + 2 * G, 1, 16));
    R("H.noctx.memset8_addr0", cuMemsetD8(0, 1, 16));
    RV("H.noctx.mem_get_info", cuMemGetInfo(&size, &total), "written=%d", size || total);
    RV("H.noctx.address_range", cuMemGetAddressRange(&start, &size, p + 5), "at=%gG size=%gG",
       start ? in_g((i64)(start - p)) : -1, in_g((i64)size));
    R("H.noctx.address_range_unmapped", cuMemGetAddressRange(&start, &size, p + 2 * G));
    unsigned type = 99;
    RV("H.noctx.attr_memory_type", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p), "=%u", type);
    CUcontext current = (CUcontext)8;
    RV("H.noctx.ctx_after", cuCtxGetCurrent(&current), "null=%d", !current);
}

static void h_no_context_null(void)
{
    cuInit(0);
    R("H.noctx.htod_null_src_size0", cuMemcpyHtoD(0, NULL, 0));
    R("H.noctx.htod_null_src", cuMemcpyHtoD(4096, NULL, 16));
    R("H.noctx.mem_get_info_null", cuMemGetInfo(NULL, NULL));
}

static CUdeviceptr mapped_rw(size_t granules)
{
    init();
    CUdeviceptr p = reserve(16 * G);
    map(p, granules * G, make(granules * G));
    give(p, granules * G, L_DEVICE, RW);
    return p;
}

static void h_null_src(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.htod_null_src_size0", cuMemcpyHtoD(p, NULL, 0));
    R("H.htod_null_src", cuMemcpyHtoD(p, NULL, 16));
}

static void h_null_src_bad_dst(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.htod_null_src_unmapped_dst", cuMemcpyHtoD(p + 2 * G, NULL, 16));
}

static void h_null_dst(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.dtoh_null_dst_size0", cuMemcpyDtoH(NULL, p, 0));
    R("H.dtoh_null_dst", cuMemcpyDtoH(NULL, p, 16));
}

static void h_null_device(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.htod_dst0", cuMemcpyHtoD(0, buffer, 16));
    R("H.dtoh_src0", cuMemcpyDtoH(buffer, 0, 16));
    R("H.dtod_dst0", cuMemcpyDtoD(0, p, 16));
    R("H.htod_dst0_size0", cuMemcpyHtoD(0, buffer, 0));
    R("H.memset8_addr0_n0", cuMemsetD8(0, 1, 0));
}

static void h_host_pointers(void)
{
    CUdeviceptr p = mapped_rw(1);
    CUdeviceptr host = (CUdeviceptr)(uintptr_t)buffer;
    R("H.memset8_on_host_memory", cuMemsetD8(host, 1, 16));
    R("H.htod_dst_host_memory", cuMemcpyHtoD(host + 4096, buffer, 16));
    R("H.dtoh_src_host_memory", cuMemcpyDtoH(buffer, host + 4096, 16));
    R("H.dtod_src_host_memory", cuMemcpyDtoD(p, host + 4096, 16));
}

static void h_memset(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("H.memset16_odd", cuMemsetD16(p + 1, 0x1234, 4));
    R("H.memset32_plus2", cuMemsetD32(p + 2, 1, 4));
    R("H.memset32_plus1", cuMemsetD32(p + 1, 1, 4));
    R("H.memset32_plus2_n0", cuMemsetD32(p + 2, 1, 0));
    R("H.memset16_odd_n0", cuMemsetD16(p + 1, 1, 0));
    R("H.memset32_plus2_unmapped", cuMemsetD32(p + 2 * G + 2, 1, 4));
    R("H.memset16_exact_end", cuMemsetD16(p, 1, G / 2));
    R("H.memset16_past_end", cuMemsetD16(p, 1, G / 2 + 1));
    R("H.memset32_exact_end", cuMemsetD32(p, 1, G / 4));
    R("H.memset32_past_end", cuMemsetD32(p, 1, G / 4 + 1));
    R("H.sync", cuCtxSynchronize());
}

static void h_memset_overflow(void)
{
    CUdeviceptr p = mapped_rw(1);
    cuMemsetD8(p, 0x11, G);
    RV("H.memset32_n1<<62", cuMemsetD32(p, 0x22222222, (size_t)1 << 62), "byte=%x", byte_at(p));
    RV("H.memset32_n(1<<62)+4", cuMemsetD32(p, 0x33333333, ((size_t)1 << 62) + 4), "byte=%x last=%x next=%x",
       byte_at(p), byte_at(p + 15), byte_at(p + 16));
    RV("H.memset16_n(1<<63)+8", cuMemsetD16(p, 0x4444, ((size_t)1 << 63) + 8), "byte=%x last=%x next=%x", byte_at(p),
       byte_at(p + 15), byte_at(p + 16));
    R("H.memset_overflow.sync", cuCtxSynchronize());
}

/* Sizes that wrap around the address space: one case each, because a fault would persist. */
static void h_extreme(const char *id, int which)
{
    CUdeviceptr p = mapped_rw(2);
    cuMemsetD8(p, 0x11, 2 * G);
    cuCtxSynchronize();
    CUresult r = CUDA_SUCCESS;
    CUdeviceptr q = p + G;
    switch (which) {
    case 0: r = cuMemsetD8(q, 0x22, SIZE_MAX); break;
    case 1: r = cuMemsetD8(q, 0x22, (size_t)0 - (size_t)q + 16); break;
    case 2: r = cuMemsetD8(q, 0x22, (size_t)0 - (size_t)q); break;
    case 3: r = cuMemsetD8(q, 0x22, (size_t)1 << 63); break;
    case 4: r = cuMemsetD8(q, 0x22, (size_t)1 << 48); break;
    case 5: r = cuMemsetD8(q, 0x22, SIZE_MAX - (G - 1)); break;
    case 6: r = cuMemcpyDtoD(q, p, SIZE_MAX); break;
    case 7: r = cuMemcpyDtoD(q, p, (size_t)1 << 48); break;
    case 8: r = cuMemcpyHtoD(q, buffer, (size_t)0 - (size_t)q + 16); break;
    case 9: r = cuMemcpyHtoD(q, buffer, SIZE_MAX); break;
    case 10: r = cuMemcpyDtoH(buffer, q, SIZE_MAX); break;
    case 11: r = cuMemcpyHtoD(q, buffer, (size_t)1 << 48); break;
    case 12: r = cuMemsetD8(q, 0x22, SIZE_MAX - 2 * G); break;
    default: r = cuMemsetD8(q + 8, 0x22, SIZE_MAX - 3); break;
    }
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s bytes before=%d at=%d end=%d", name_of(r), name_of(sync), byte_at(q - 1), byte_at(q),
        byte_at(q + G - 1));
}

static const char *const extremes[] = {
    "H.extreme.memset8_max", "H.extreme.memset8_to_16", "H.extreme.memset8_to_0", "H.extreme.memset8_1<<63",
    "H.extreme.memset8_1<<48", "H.extreme.memset8_minus_G", "H.extreme.dtod_max", "H.extreme.dtod_1<<48",
    "H.extreme.htod_to_16", "H.extreme.htod_max", "H.extreme.dtoh_max", "H.extreme.htod_1<<48",
    "H.extreme.memset8_max-2G", "H.extreme.memset8_minus_4"};
static int extreme;

static void h_extreme_one(void)
{
    h_extreme(extremes[extreme], extreme);
}

static void h_dtod_access(void)
{
    CUdeviceptr p = mapped_rw(1);
    map(p + G, G, make(G));
    R("H.dtod.src_no_access", cuMemcpyDtoD(p, p + G, 16));
    R("H.dtod.dst_no_access", cuMemcpyDtoD(p + G, p, 16));
    give(p + G, G, L_DEVICE, READ);
    R("H.dtod.src_read", cuMemcpyDtoD(p, p + G, 16));
    R("H.dtod.dst_read", cuMemcpyDtoD(p + G, p, 16));
    give(p + G, G, L_DEVICE, NONE);
    R("H.dtod.src_none", cuMemcpyDtoD(p, p + G, 16));
    R("H.dtod.dst_none", cuMemcpyDtoD(p + G, p, 16));
    R("H.dtod.src_unmapped", cuMemcpyDtoD(p, p + 4 * G, 16));
    R("H.dtod.dst_unmapped", cuMemcpyDtoD(p + 4 * G, p, 16));
    R("H.dtod.src_none_size0", cuMemcpyDtoD(p, p + G, 0));
    R("H.dtod.sync", cuCtxSynchronize());
}

/* n bytes of the first mapping and n of the second, which is inaccessible; an alias of each is readable. */
static void h_crossing(size_t n, int second)
{
    CUdeviceptr p = reserve(16 * G);
    Handle one = make(G), two = make(G);
    map(p, G, one);
    map(p + G, G, two);
    map(p + 4 * G, G, one);
    map(p + 5 * G, G, two);
    give(p + 4 * G, 2 * G, L_DEVICE, RW);
    give(p, G, L_DEVICE, RW);
    if (second >= 0)
        give(p + G, G, L_DEVICE, second);
    else
        cuMemUnmap(p + G, G);
    cuMemsetD8(p + 4 * G, 0x11, 2 * G);
    cuCtxSynchronize();
    char id[64];
    const char *what = second < 0 ? "unmapped" : second == READ ? "read" : "none";
    snprintf(id, sizeof id, "H.cross.dtoh.%s.2x%zu", what, n);
    memset(buffer, 0xee, 2 * n);
    RV(id, cuMemcpyDtoH(buffer, p + G - n, 2 * n), "first=%x last=%x next=%x", buffer[0], buffer[n - 1], buffer[n]);
    snprintf(id, sizeof id, "H.cross.htod.%s.2x%zu", what, n);
    memset(buffer, 0x22, 2 * n);
    RV(id, cuMemcpyHtoD(p + G - n, buffer, 2 * n), "first=%x last=%x next=%x", byte_at(p + 5 * G - n),
       byte_at(p + 5 * G - 1), byte_at(p + 5 * G));
    snprintf(id, sizeof id, "H.cross.memset.%s.2x%zu", what, n);
    RV(id, cuMemsetD8(p + G - n, 0x33, 2 * n), "first=%x last=%x next=%x", byte_at(p + 5 * G - n),
       byte_at(p + 5 * G - 1), byte_at(p + 5 * G));
    snprintf(id, sizeof id, "H.cross.dtod_dst.%s.2x%zu", what, n);
    cuMemsetD8(p + 4 * G, 0x44, n);
    RV(id, cuMemcpyDtoD(p + G - n, p + 4 * G, 2 * n < G ? 2 * n : n + 8), "first=%x last=%x next=%x",
       byte_at(p + 5 * G - n), byte_at(p + 5 * G - 1), byte_at(p + 5 * G));
    R("H.cross.sync", cuCtxSynchronize());
}

static void h_cross(void)
{
    init();
    h_crossing(8, NONE);
    h_crossing((size_t)256 << 10, NONE);
    h_crossing(8, -1);
    h_crossing((size_t)256 << 10, -1);
    h_crossing((size_t)256 << 10, READ);
}

/* The destination is 16 bytes after the source, before it, or equal to it. */
static void h_overlap_case(CUdeviceptr p, const char *name, int shift, size_t n)
{
    static unsigned char expected[4 << 20], got[4 << 20];
    if (n > sizeof expected - 16)
        return;
    const size_t src = shift < 0 ? 16 : 0, dst = shift > 0 ? 16 : 0, span = n + 16;
    for (size_t i = 0; i < span; i++)
        expected[i] = (unsigned char)((i * 2654435761u) >> 13);
    cuMemcpyHtoD(p, expected, span);
    CUresult r = cuMemcpyDtoD(p + dst, p + src, n);
    cuCtxSynchronize();
    cuMemcpyDtoH(got, p, span);
    memmove(expected + dst, expected + src, n);
    size_t wrong = 0;
    for (size_t i = 0; i < span; i++)
        wrong += expected[i] != got[i];
    char id[64];
    snprintf(id, sizeof id, "H.overlap.%s.n%zu", name, n);
    say(id, "%s as_memmove=%d wrong_bytes=%zu", name_of(r), wrong == 0, wrong);
}

static void h_overlap(void)
{
    CUdeviceptr p = mapped_rw(2);
    static const size_t sizes[] = {64, 4096, 65536, (size_t)1 << 20, (size_t)3 << 20};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        h_overlap_case(p, "dst_plus16", 1, sizes[i]);
        h_overlap_case(p, "dst_minus16", -1, sizes[i]);
        h_overlap_case(p, "same", 0, sizes[i]);
    }
}

/* One operation on host-located memory, for given rights of the device and of the host. */
static struct {
    int device, host, what;
} located;

static const char *const located_what[] = {"dtoh16", "dtoh1M", "htod16", "htod1M", "memset8", "memset32", "dtod_from",
                                           "dtod_to"};

static void h_host_located(void)
{
    const size_t filled = 4096, big = (size_t)1 << 20;
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p, G, make_at(L_HOST, G));
    map(p + G, G, make(G));
    give(p, G, L_HOST, RW);
    memset((void *)(uintptr_t)p, 0x10, filled);
    give(p + G, G, L_DEVICE, RW);
    cuMemsetD8(p + G, 0x77, filled);
    cuCtxSynchronize();
    give(p, G, L_HOST, located.host);
    give(p, G, L_DEVICE, located.device);
    memset(buffer, 0x20, big);
    CUresult r = CUDA_SUCCESS;
    switch (located.what) {
    case 0: r = cuMemcpyDtoH(buffer, p, 16); break;
    case 1: r = cuMemcpyDtoH(buffer, p, big); break;
    case 2: r = cuMemcpyHtoD(p, buffer, 16); break;
    case 3: r = cuMemcpyHtoD(p, buffer, big); break;
    case 4: r = cuMemsetD8(p, 0x30, 4096); break;
    case 5: r = cuMemsetD32(p, 0x30303030, 1024); break;
    case 6: r = cuMemcpyDtoD(p + G, p, 4096); break;
    default: r = cuMemcpyDtoD(p, p + G, 4096); break;
    }
    CUresult sync = cuCtxSynchronize();
    int out = located.what < 2 ? buffer[0] : located.what == 6 ? byte_at(p + G) : -1;
    give(p, G, L_HOST, READ);
    int in = *(volatile unsigned char *)(uintptr_t)p;
    char id[96];
    snprintf(id, sizeof id, "H.host_located.dev%d_host%d.%s", located.device, located.host, located_what[located.what]);
    say(id, "%s sync=%s out=%x in=%x", name_of(r), name_of(sync), (unsigned)out, (unsigned)in);
}

static void h_host_located_all(void)
{
    static const int rights[] = {NONE, READ, RW};
    for (size_t i = 0; i < COUNT(rights); i++)
        for (size_t k = 0; k < COUNT(rights); k++)
            for (size_t n = 0; n < COUNT(located_what); n++) {
                char id[96];
                located.device = rights[i];
                located.host = rights[k];
                located.what = (int)n;
                snprintf(id, sizeof id, "H.host_located.dev%d_host%d.%s!", rights[i], rights[k], located_what[n]);
                child(id, h_host_located);
            }
}

/* Rights were never granted, not even temporarily. */
static void h_host_fresh(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p, G, make_at(L_HOST, G));
    R("H.host_fresh.memset8", cuMemsetD8(p, 0x30, 16));
    R("H.host_fresh.dtoh16", cuMemcpyDtoH(buffer, p, 16));
}

static void group_h(void)
{
    child("H.noctx!", h_no_context);
    child("H.noctx_null!", h_no_context_null);
    child("H.htod_null_src!", h_null_src);
    child("H.htod_null_src_unmapped_dst!", h_null_src_bad_dst);
    child("H.dtoh_null_dst!", h_null_dst);
    child("H.null_device!", h_null_device);
    child("H.host_pointers!", h_host_pointers);
    child("H.memset!", h_memset);
    child("H.memset_overflow!", h_memset_overflow);
    child("H.dtod!", h_dtod_access);
    child("H.cross!", h_cross);
    child("H.overlap!", h_overlap);
    h_host_located_all();
    child("H.host_fresh!", h_host_fresh);
    for (extreme = 0; extreme < (int)COUNT(extremes); extreme++)
        child(extremes[extreme], h_extreme_one);
}
