/* SPDX-License-Identifier: Apache-2.0 */
/* Group M: cases that random calls found: ranges over memory of devices and of the host, and ends of the address space. Part of
 * ../edges.c, which includes it. */

/* A mapping: of a device with READWRITE, or of the host with these rights of the device and of the host. */
struct m_side {
    const char *name;
    int in_host, device, host;
};

static const struct m_side m_sides[] = {
    {"dev", 0, RW, NONE}, {"h30", 1, RW, NONE}, {"h31", 1, RW, READ}, {"h33", 1, RW, RW}, {"h03", 1, NONE, RW},
};

static const char *const m_what[] = {"memset", "htod", "dtoh", "dtod_dst", "dtod_src"};

struct m_seam {
    const struct m_side *first, *second;
    unsigned what;
    size_t half;
};

static void m_map(CUdeviceptr p, const struct m_side *side)
{
    Handle h = make_at(side->in_host ? L_HOST : L_DEVICE, G);
    map(p, G, h);
    cuMemRelease(h);
    give(p, G, L_DEVICE, side->device);
    if (side->in_host) {
        give(p, G, L_HOST, side->host);
        give(p, G, L_DEVICE, side->device);
    }
}

/* Two Gs at p, unmapped after a copy that did not crash the process. */
static void m_clean(CUdeviceptr p, size_t size)
{
    cuMemUnmap(p, G);
    cuMemUnmap(p + G, G);
    cuMemAddressFree(p, size);
}

static void m_ask_seam(const struct m_seam *seam, char *id, int run)
{
    snprintf(id, CASE_ID, "M.seam.%s.%s_%s.2x%zu", m_what[seam->what], seam->first->name, seam->second->name, seam->half);
    if (!run)
        return;
    CUdeviceptr p = reserve(2 * G), q = reserve(2 * G), at = p + G - seam->half;
    size_t n = 2 * seam->half;
    m_map(p, seam->first);
    m_map(p + G, seam->second);
    m_map(q, &m_sides[0]);
    m_map(q + G, &m_sides[0]);
    CUresult r = CUDA_SUCCESS;
    switch (seam->what) {
    case 0: r = cuMemsetD8(at, 0x22, n); break;
    case 1: r = cuMemcpyHtoD(at, buffer, n); break;
    case 2: r = cuMemcpyDtoH(buffer, at, n); break;
    case 3: r = cuMemcpyDtoD(at, q, n); break;
    default: r = cuMemcpyDtoD(q, at, n); break;
    }
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s", name_of(r), name_of(sync));
    m_clean(p, 2 * G);
    m_clean(q, 2 * G);
}

static const size_t m_halves[] = {8, (size_t)1 << 20};

static void m_seam(size_t i, char *id, int run)
{
    const size_t many = COUNT(m_what) * COUNT(m_halves), sides = COUNT(m_sides), pair = 1 + i / many;
    const struct m_seam seam = {&m_sides[pair / sides], &m_sides[pair % sides],
                                (unsigned)(i / COUNT(m_halves) % COUNT(m_what)), m_halves[i % COUNT(m_halves)]};
    m_ask_seam(&seam, id, run);
}

/* The smallest size at which a copy between device addresses runs on the device: smaller ones crash the process here. */
static const size_t m_sizes[] = {128,   132,   256,   260,   512,   516,   1024,  1028,   2048,   2052,   4096,
                                 4100,  8192,  8196,  12286, 12287, 12288, 12289, 12290,  12292,  12416,  13312,
                                 14336, 16384, 16388, 32768, 65536, 65540, 131072, 262144, 524288, 524292};

static void m_short_copy(size_t i, char *id, int run)
{
    static const struct m_side *const sides[] = {&m_sides[0], &m_sides[3]};
    const struct m_seam seam = {sides[i / COUNT(m_sizes)], sides[1 - i / COUNT(m_sizes)], 4, m_sizes[i % COUNT(m_sizes)]};
    m_ask_seam(&seam, id, run);
}

/* Every usage with compression, RDMA and a handle type, and sizes beyond any device. */
static void m_create(void)
{
    init();
    char id[64];
    for (unsigned k = 0; k < 64; k++) {
        CUmemAllocationProp p = prop_at(L_DEVICE, 0);
        Handle h = 0;
        p.allocFlags.usage = (unsigned short)(k & 7);
        p.allocFlags.compressionType = (unsigned char)(k >> 3 & 1);
        p.allocFlags.gpuDirectRDMACapable = (unsigned char)(k >> 4 & 1);
        p.requestedHandleTypes = (CUmemAllocationHandleType)(k >> 5 & 1);
        snprintf(id, sizeof id, "M.create.usage%u.comp%u.rdma%u.type%u", k & 7, k >> 3 & 1, k >> 4 & 1, k >> 5 & 1);
        if (R(id, cuMemCreate(&h, G, &p, 0)) == CUDA_SUCCESS)
            cuMemRelease(h);
    }
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {{"1<<37", (size_t)1 << 37}, {"1<<40", (size_t)1 << 40}, {"1<<46", (size_t)1 << 46},
                 {"1<<41", (size_t)1 << 41}, {"1<<42", (size_t)1 << 42}, {"1<<43", (size_t)1 << 43},
                 {"1<<44", (size_t)1 << 44}, {"1<<45", (size_t)1 << 45}, {"1<<47", (size_t)1 << 47},
                 {"1<<48", (size_t)1 << 48}, {"1<<52", (size_t)1 << 52},
                 {"1<<62", (size_t)1 << 62}, {"1<<63", (size_t)1 << 63}, {"max-4G", SIZE_MAX - 4 * G + 1},
                 {"max", SIZE_MAX - G + 1}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUmemAllocationProp p = prop_at(L_DEVICE, 0);
        Handle h = 0;
        p.allocFlags.usage = 1;
        snprintf(id, sizeof id, "M.create.tile_pool.%s", sizes[i].name);
        R(id, cuMemCreate(&h, sizes[i].size, &p, 0));
        p.allocFlags.usage = 2;
        snprintf(id, sizeof id, "M.create.decompress.%s", sizes[i].name);
        R(id, cuMemCreate(&h, sizes[i].size, &p, 0));
    }
}

/* A usage, with known and unknown handle types. */
static void m_create_types(void)
{
    init();
    for (unsigned usage = 0; usage < 4; usage++)
        for (unsigned bit = 0; bit < 32; bit++) {
            CUmemAllocationProp p = prop_at(L_DEVICE, 0);
            Handle h = 0;
            char id[64];
            p.allocFlags.usage = (unsigned short)usage;
            p.requestedHandleTypes = (CUmemAllocationHandleType)(1u << bit);
            snprintf(id, sizeof id, "M.create.usage%u.types1<<%u", usage, bit);
            if (R(id, cuMemCreate(&h, G, &p, 0)) == CUDA_SUCCESS)
                cuMemRelease(h);
        }
}

/* More host memory than any machine has. Among random calls this once crashed a process. */
static void m_huge_host(void)
{
    static const size_t sizes[] = {((size_t)1 << 44) + G, (size_t)1 << 45, (size_t)1 << 46, ((size_t)1 << 46) + G,
                                   3 * ((size_t)1 << 45), ((size_t)1 << 47) - 4 * G, ((size_t)1 << 47) - G,
                                   (size_t)1 << 47, ((size_t)1 << 47) + G, 3 * ((size_t)1 << 46), (size_t)1 << 48,
                                   ((size_t)1 << 48) + G, (size_t)1 << 49, (size_t)1 << 52, (size_t)1 << 56,
                                   (size_t)1 << 62, (size_t)1 << 63, SIZE_MAX - G + 1};
    init();
    for (int type = L_HOST; type <= L_NUMA; type++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            Handle h = 0;
            CUmemAllocationProp p = prop_at(type, 0);
            char id[64];
            snprintf(id, sizeof id, "M.create.host%d.%zx", type, sizes[i]);
            R(id, cuMemCreate(&h, sizes[i], &p, 0));
        }
}

/* Tile pools that fit into the device's memory. */
static void m_pool_sizes(void)
{
    init();
    for (unsigned bit = 21; bit < 37; bit++)
        for (int half = 0; half < 2; half++) {
            CUmemAllocationProp p = prop_at(L_DEVICE, 0);
            Handle h = 0;
            char id[64];
            p.allocFlags.usage = 1;
            snprintf(id, sizeof id, "M.create.tile_pool.%s1<<%u", half ? "1.5*" : "", bit);
            if (R(id, cuMemCreate(&h, ((size_t)1 << bit) + (half ? (size_t)1 << (bit - 1) : 0) / G * G, &p, 0)) ==
                CUDA_SUCCESS)
                cuMemRelease(h);
        }
}

/* Unmapping from the last addresses on; a size that wraps to before, into and past a mapping. */
static void m_unmap_top(void)
{
    init();
    static const struct {
        const char *name;
        CUdeviceptr from;
    } tops[] = {{"-1", SIZE_MAX}, {"-4096", SIZE_MAX - 4095}, {"-64K", SIZE_MAX - 65535}, {"-1G", SIZE_MAX - G + 1},
                {"-1G-1", SIZE_MAX - G}, {"-2G", SIZE_MAX - 2 * G + 1}};
    CUdeviceptr p = reserve(8 * G);
    Handle h = make(2 * G);
    char id[64];
    for (size_t i = 0; i < COUNT(tops); i++) {
        const struct {
            const char *name;
            CUdeviceptr end;
        } ends[] = {{"0", 0}, {"1G", G}, {"p", p}, {"in_p", p + 2 * G}, {"end_p", p + 3 * G}, {"past_p", p + 4 * G},
                    {"1<<63", (CUdeviceptr)1 << 63}};
        for (size_t k = 0; k < COUNT(ends); k++) {
            map(p + G, 2 * G, h);
            snprintf(id, sizeof id, "M.unmap.%s.to_%s", tops[i].name, ends[k].name);
            RV(id, cuMemUnmap(tops[i].from, ends[k].end - tops[i].from), "alive=%d", alive(p + G));
            cuMemUnmap(p + G, 2 * G);
        }
    }
}

/* Rights for a range that wraps to before, into and past a mapping. */
static void m_access_wraps(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p + 2 * G, 2 * G, make(2 * G));
    map(p + 4 * G, G, make(G));
    char id[64];
    for (int from = 2; from <= 4; from += 2)
        for (int end = 0; end <= 6; end++) {
            give(p + 2 * G, 3 * G, L_DEVICE, READ);
            snprintf(id, sizeof id, "M.access.from%dG.wraps_to_%dG", from, end);
            if (end > from)
                continue;
            RV(id, give(p + (size_t)from * G, (size_t)0 - (size_t)(from - end) * G, L_DEVICE, RW), "rights=%llu,%llu",
               flags_of(p + 2 * G, L_DEVICE), flags_of(p + 4 * G, L_DEVICE));
        }
    static const size_t before[] = {0, 1, 2, 16, 4096};
    for (size_t i = 0; i < COUNT(before); i++) {
        give(p + 2 * G, 3 * G, L_DEVICE, READ);
        snprintf(id, sizeof id, "M.access.from2G.wraps_to_%zuG_below", before[i]);
        RV(id, give(p + 2 * G, (size_t)0 - 2 * G - before[i] * G, L_DEVICE, RW), "rights=%llu,%llu",
           flags_of(p + 2 * G, L_DEVICE), flags_of(p + 4 * G, L_DEVICE));
    }
    CUdeviceptr alone = reserve(4 * G);
    map(alone + G, G, make(G));
    RV("M.access.alone.wraps_to_its_reservation", give(alone + G, (size_t)0 - G, L_DEVICE, RW), "rights=%llu",
       flags_of(alone + G, L_DEVICE));
}

/* The same with a range that wraps and ends at the end of a lower mapping: [A][.][B1][B2][.][C], one G each. */
static void m_access_wraps_to_mappings(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    static const size_t at[] = {0, 2, 3, 5};
    for (size_t i = 0; i < COUNT(at); i++)
        map(p + at[i] * G, G, make(G));
    for (size_t from = 2; from <= 5; from += from == 3 ? 2 : 1)
        for (size_t end = 0; end < from; end++)
            for (int half = 0; half < 2; half++) {
                char id[96];
                CUdeviceptr to = p + end * G + (half ? G / 2 : 0);
                for (size_t i = 0; i < COUNT(at); i++)
                    give(p + at[i] * G, G, L_DEVICE, READ);
                snprintf(id, sizeof id, "M.access.from%zuG.wraps_to%s%zuG", from, half ? "_half_past_" : "_", end);
                RV(id, give(p + from * G, to - (p + from * G), L_DEVICE, RW), "rights=%llu,%llu,%llu,%llu",
                   flags_of(p, L_DEVICE), flags_of(p + 2 * G, L_DEVICE), flags_of(p + 3 * G, L_DEVICE),
                   flags_of(p + 5 * G, L_DEVICE));
            }
}

static void m_reserve(void)
{
    init();
    static const size_t sizes[] = {G, (size_t)1 << 40, (size_t)1 << 50};
    char id[64];
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (unsigned bit = 44; bit < 64; bit++) {
            CUdeviceptr p = 0x77;
            snprintf(id, sizeof id, "M.reserve.size%zx.align1<<%u", sizes[i], bit);
            CUresult r = R(id, cuMemAddressReserve(&p, sizes[i], (size_t)1 << bit, 0, 0));
            if (!r)
                cuMemAddressFree(p, sizes[i]);
        }
}

/* The host's reported rights after one call granted rights to two locations, and after a later mapping was refused. */
static void m_last_told(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p, 2 * G, make_at(L_HOST, 2 * G));
    map(p + 2 * G, G, make(G));
    static const int order[][2] = {{L_HOST, L_DEVICE}, {L_DEVICE, L_HOST}};
    char id[64];
    for (size_t i = 0; i < COUNT(order); i++)
        for (int far = 0; far < 2; far++) {
            give(p, 2 * G, L_DEVICE, RW);
            give(p, 2 * G, L_HOST, NONE);
            CUmemAccessDesc two[2] = {desc(order[i][0], 0, order[i][0] == L_HOST ? RW : READ),
                                      desc(order[i][1], 0, order[i][1] == L_HOST ? RW : READ)};
            snprintf(id, sizeof id, "M.told.%s.%s", i ? "device_host" : "host_device", far ? "over_both" : "alone");
            RV(id, cuMemSetAccess(p, (far ? 3 : 2) * G, two, 2), "device=%llu host=%llu numa=%llu", flags_of(p, L_DEVICE),
               flags_of(p, L_HOST), flags_of(p, L_NUMA));
        }
}

static void m_stream(void)
{
    cuInit(0);
    CUstream stream = (CUstream)(uintptr_t)0x77;
    RV("M.noctx.stream_create", cuStreamCreate(&stream, 0), "written=%llx", (u64)(uintptr_t)stream);
}

static void group_m(void)
{
    child("M.create!", m_create);
    child("M.create.tile_pool!", m_pool_sizes);
    child("M.create.types!", m_create_types);
    child("M.create.host!", m_huge_host);
    child("M.unmap!", m_unmap_top);
    child("M.access!", m_access_wraps);
    child("M.access.to_mappings!", m_access_wraps_to_mappings);
    child("M.reserve!", m_reserve);
    child("M.told!", m_last_told);
    child("M.noctx!", m_stream);
    if (!is_wanted("M.seam"))
        return;
    run_cases(init, (COUNT(m_sides) * COUNT(m_sides) - 1) * COUNT(m_what) * COUNT(m_halves), m_seam);
    run_cases(init, 2 * COUNT(m_sizes), m_short_copy);
}
