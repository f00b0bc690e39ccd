/* Group M: what random calls ran into: ranges over memory of devices and of the host, and ends of the address space.
 * A part of ../edges.c, which includes it. */

/* A mapping: in the device with READWRITE, or in the host with these rights of the device and of the host. */
struct m_side {
    const char *name;
    int in_host, device, host;
};

static const struct m_side m_sides[] = {
    {"dev", 0, RW, NONE}, {"h30", 1, RW, NONE}, {"h31", 1, RW, READ}, {"h33", 1, RW, RW}, {"h03", 1, NONE, RW},
};

static const char *const m_what[] = {"memset", "htod", "dtoh", "dtod_dst", "dtod_src"};

static struct {
    const struct m_side *first, *second;
    int what;
    size_t half;
} m_seam;

static void m_map(CUdeviceptr p, const struct m_side *side)
{
    map(p, G, make_at(side->in_host ? L_HOST : L_DEVICE, G));
    give(p, G, L_DEVICE, side->device);
    if (side->in_host) {
        give(p, G, L_HOST, side->host);
        give(p, G, L_DEVICE, side->device);
    }
}

static void m_one_seam(void)
{
    init();
    CUdeviceptr p = reserve(16 * G), q = p + 4 * G, at = p + G - m_seam.half;
    size_t n = 2 * m_seam.half;
    m_map(p, m_seam.first);
    m_map(p + G, m_seam.second);
    map(q, 2 * G, make(2 * G));
    give(q, 2 * G, L_DEVICE, RW);
    CUresult r = CUDA_SUCCESS;
    switch (m_seam.what) {
    case 0: r = cuMemsetD8(at, 0x22, n); break;
    case 1: r = cuMemcpyHtoD(at, buffer, n); break;
    case 2: r = cuMemcpyDtoH(buffer, at, n); break;
    case 3: r = cuMemcpyDtoD(at, q, n); break;
    default: r = cuMemcpyDtoD(q, at, n); break;
    }
    CUresult sync = cuCtxSynchronize();
    char id[96];
    snprintf(id, sizeof id, "M.seam.%s.%s_%s.2x%zu", m_what[m_seam.what], m_seam.first->name, m_seam.second->name,
             m_seam.half);
    say(id, "%s sync=%s", name_of(r), name_of(sync));
}

static void m_seams(void)
{
    static const size_t halves[] = {8, (size_t)1 << 20};
    for (size_t a = 0; a < COUNT(m_sides); a++)
        for (size_t b = 0; b < COUNT(m_sides); b++)
            for (size_t w = 0; (a || b) && w < COUNT(m_what); w++)
                for (size_t s = 0; s < COUNT(halves); s++) {
                    char id[96];
                    m_seam.first = &m_sides[a];
                    m_seam.second = &m_sides[b];
                    m_seam.what = (int)w;
                    m_seam.half = halves[s];
                    snprintf(id, sizeof id, "M.seam.%s.%s_%s.2x%zu!", m_what[w], m_sides[a].name, m_sides[b].name,
                             halves[s]);
                    child(id, m_one_seam);
                }
}

/* From which size on a copy between device addresses is the device's own: the others end the process here. */
static void m_short_copies(void)
{
    static const struct m_side *dev = &m_sides[0], *shared = &m_sides[3];
    for (int order = 0; order < 2; order++)
        for (size_t half = 128; half <= (size_t)1 << 19; half *= 2)
            for (int more = 0; more < 2; more++) {
                char id[96];
                m_seam.first = order ? shared : dev;
                m_seam.second = order ? dev : shared;
                m_seam.what = 4;
                m_seam.half = half + (more ? 4 : 0);
                snprintf(id, sizeof id, "M.seam.%s.%s_%s.2x%zu!", m_what[4], m_seam.first->name, m_seam.second->name,
                         m_seam.half);
                child(id, m_one_seam);
            }
}

/* Every usage with compression, RDMA and a handle type, and sizes that no device has. */
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

/* Unmapping from the last addresses on; a size that wraps to before, into and behind a mapping. */
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

/* Rights of a range that wraps to before, into and behind what is mapped. */
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

/* What the host is told it may, after two locations were given rights at once, and where a later mapping refused. */
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
    child("M.unmap!", m_unmap_top);
    child("M.access!", m_access_wraps);
    child("M.reserve!", m_reserve);
    child("M.told!", m_last_told);
    child("M.noctx!", m_stream);
    m_seams();
    m_short_copies();
}
