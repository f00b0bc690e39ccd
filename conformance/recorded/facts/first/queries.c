/* SPDX-License-Identifier: Apache-2.0 */
/* Calls before cuInit and without a context, attributes, granularity, creation, and invalid handles. Part of ../first.c. */

static void t_noinit(void)
{
    CUmemAllocationProp p = on_device(0);
    size_t g;
    Handle h;
    CUdeviceptr d;
    CUmemAccessDesc a = rights(0, 3);
    u64 fl;
    R("noinit.granularity", cuMemGetAllocationGranularity(&g, &p, 0));
    R("noinit.create", cuMemCreate(&h, 2 << 20, &p, 0));
    R("noinit.reserve", cuMemAddressReserve(&d, 2 << 20, 0, 0, 0));
    R("noinit.free", cuMemAddressFree(4096, 4096));
    R("noinit.map", cuMemMap(4096, 4096, 0, 1, 0));
    R("noinit.unmap", cuMemUnmap(4096, 4096));
    R("noinit.setaccess", cuMemSetAccess(4096, 4096, &a, 1));
    R("noinit.getaccess", cuMemGetAccess(&fl, &a.location, 4096));
    R("noinit.reserve_null", cuMemAddressReserve(0, 2 << 20, 0, 0, 0));
}

static void t_noctx(void)
{
    cuInit(0);
    CUmemAllocationProp p = on_device(0);
    size_t g = 0;
    Handle h = 0;
    CUdeviceptr d = 0;
    CUmemAccessDesc a = rights(0, 3);
    u64 fl = 9;
    R("noctx.granularity", cuMemGetAllocationGranularity(&g, &p, 0));
    R("noctx.create", cuMemCreate(&h, 2 << 20, &p, 0));
    R("noctx.reserve", cuMemAddressReserve(&d, 2 << 20, 0, 0, 0));
    R("noctx.map", cuMemMap(d, 2 << 20, 0, h, 0));
    R("noctx.setaccess", cuMemSetAccess(d, 2 << 20, &a, 1));
    R("noctx.getaccess", cuMemGetAccess(&fl, &a.location, d));
    V("noctx.getaccess.flags", "%llu", fl);
    R("noctx.memset", cuMemsetD8(d, 1, 16));
    R("noctx.unmap", cuMemUnmap(d, 2 << 20));
    R("noctx.release", cuMemRelease(h));
    R("noctx.free", cuMemAddressFree(d, 2 << 20));
}

static void attr(const char *n, int a)
{
    int v = -1;
    CUresult r = cuDeviceGetAttribute(&v, a, 0);
    printf("attr.%s\t%s=%d\n", n, name_of(r), v);
}

static void t_attrs(void)
{
    begin();
    int dv;
    cuDriverGetVersion(&dv);
    V("driver", "%d", dv);
    char n[99];
    cuDeviceGetName(n, 99, 0);
    V("device", "%s", n);
    size_t tot;
    cuDeviceTotalMem(&tot, 0);
    V("totalmem", "%zu", tot);
    V("ndev", "%d", ndev);
    attr("VMM", 102);
    attr("FD", 103);
    attr("WIN32", 104);
    attr("KMT", 105);
    attr("COMPRESSION", 107);
    attr("RDMA_VMM", 110);
    attr("GDR", 116);
    attr("FABRIC", 128);
    attr("MULTICAST", 132);
    attr("HOST_NUMA_ID", 134);
    attr("HOST_NUMA_VMM", CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
    attr("HOST_VMM", CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
    attr("HOST_NUMA_MULTINODE_IPC", CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED);
    attr("DMA_BUF", 124);
    attr("UVA", 41);
    attr("PAGEABLE", 88);
    attr("PAGEABLE_HPT", 100);
    attr("CONC_MANAGED", 89);
    attr("SPARSE_ARRAY", 112);
}

static void g1(const char *id, CUmemAllocationProp p, int o)
{
    size_t g = 77;
    char b[99];
    CUresult r = cuMemGetAllocationGranularity(&g, &p, o);
    snprintf(b, 99, "gran.%s", id);
    printf("%s\t%s g=%zu%s\n", b, name_of(r), g, logged());
    fflush(stdout);
}

/* Properties as a row of a table says them; what it leaves out is 0. */
struct asked {
    int type, location, number, types, compression, rdma, usage, reserved;
    void *metadata;
};

#define AT(place) .type = 1, .location = (place)
#define LAST (-1000) /* .number: the first device that there is not */

static CUmemAllocationProp prop_of(const struct asked *a)
{
    CUmemAllocationProp p = prop_at(0, a->number == LAST ? ndev : a->number);
    p.type = (CUmemAllocationType)a->type;
    p.location.type = (CUmemLocationType)a->location;
    p.requestedHandleTypes = (CUmemAllocationHandleType)a->types;
    p.allocFlags.compressionType = (unsigned char)a->compression;
    p.allocFlags.gpuDirectRDMACapable = (unsigned char)a->rdma;
    p.allocFlags.usage = (unsigned short)a->usage;
    p.allocFlags.reserved[0] = (unsigned char)a->reserved;
    p.win32HandleMetaData = a->metadata;
    return p;
}

static void t_gran(void)
{
    static const struct {
        const char *id;
        struct asked prop;
        int option;
    } rows[] = {
        {"fd", {AT(1), .types = 1}, 0},
        {"fabric", {AT(1), .types = 8}, 0},
        {"win32", {AT(1), .types = 2}, 0},
        {"kmt", {AT(1), .types = 4}, 0},
        {"ht16", {AT(1), .types = 16}, 0},
        {"fd_fabric", {AT(1), .types = 9}, 0},
        {"type0", {.location = 1}, 0},
        {"managed", {.type = 2, .location = 1}, 0},
        {"type3", {.type = 3, .location = 1}, 0},
        {"id-1", {AT(1), .number = -1}, 0},
        {"id_n", {AT(1), .number = LAST}, 0},
        {"id99", {AT(1), .number = 99}, 0},
        {"loc0", {AT(0)}, 0},
        {"host.min", {AT(2)}, 0},
        {"host.rec", {AT(2)}, 1},
        {"host.id99", {AT(2), .number = 99}, 0},
        {"numa0.min", {AT(3)}, 0},
        {"numa0.rec", {AT(3)}, 1},
        {"numa1", {AT(3), .number = 1}, 0},
        {"numa-1", {AT(3), .number = -1}, 0},
        {"numa99", {AT(3), .number = 99}, 0},
        {"numa0.fd", {AT(3), .types = 1}, 0},
        {"numacur", {AT(4)}, 0},
        {"loc5", {AT(5)}, 0},
        {"comp.min", {AT(1), .compression = 1}, 0},
        {"comp.rec", {AT(1), .compression = 1}, 1},
        {"comp2", {AT(1), .compression = 2}, 0},
        {"rdma", {AT(1), .rdma = 1}, 0},
        {"tilepool", {AT(1), .usage = 1}, 0},
        {"decomp", {AT(1), .usage = 2}, 0},
        {"usage4", {AT(1), .usage = 4}, 0},
        {"reserved", {AT(1), .reserved = 1}, 0},
        {"w32meta", {AT(1), .metadata = (void *)8}, 0},
    };
    begin();
    CUmemAllocationProp p = on_device(0);
    g1("dev.min", p, 0);
    g1("dev.rec", p, 1);
    g1("dev.opt2", p, 2);
    g1("dev.optneg", p, -1);
    size_t g;
    R("gran.null_out", cuMemGetAllocationGranularity(0, &p, 0));
    R("gran.null_prop", cuMemGetAllocationGranularity(&g, 0, 0));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        g1(rows[i].id, prop_of(&rows[i].prop), rows[i].option);
}

static void c1(const char *id, size_t n, CUmemAllocationProp p, u64 fl)
{
    Handle h = 0x77;
    char b[99];
    snprintf(b, 99, "create.%s", id);
    CUresult r = R(b, cuMemCreate(&h, n, &p, fl));
    if (!r) {
        CUmemAllocationProp q;
        memset(&q, 0xff, sizeof q);
        CUresult e = cuMemGetAllocationPropertiesFromHandle(&q, h);
        char meta[24] = "(nil)"; /* as glibc writes it */
        if (q.win32HandleMetaData)
            snprintf(meta, sizeof meta, "%p", q.win32HandleMetaData);
        printf("create.%s.props\t%s type=%d ht=%d loc=%d/%d meta=%s comp=%d rdma=%d usage=%d\n", id, name_of(e), q.type,
               q.requestedHandleTypes, q.location.type, q.location.id, meta,
               q.allocFlags.compressionType, q.allocFlags.gpuDirectRDMACapable, q.allocFlags.usage);
        snprintf(b, 99, "create.%s.release", id);
        e = cuMemRelease(h);
        if (e)
            printf("%s\t%s\n", b, name_of(e));
    } else
        V(b, "handle_after_fail %llx", (u64)h);
}

static void t_create(void)
{
    static const struct {
        const char *id;
        struct asked prop;
        size_t size; /* 0: a granule */
    } rows[] = {
        {"type0", {.location = 1}, 0},
        {"managed", {.type = 2, .location = 1}, 0},
        {"type3", {.type = 3, .location = 1}, 0},
        {"id-1", {AT(1), .number = -1}, 0},
        {"id_n", {AT(1), .number = LAST}, 0},
        {"loc0", {AT(0)}, 0},
        {"host", {AT(2)}, 0},
        {"host.fd", {AT(2), .types = 1}, 0},
        {"host.4096", {AT(2)}, 4096},
        {"host.id99", {AT(2), .number = 99}, 0},
        {"numa0", {AT(3)}, 0},
        {"numa0.4096", {AT(3)}, 4096},
        {"numa0.fd", {AT(3), .types = 1}, 0},
        {"numa99", {AT(3), .number = 99}, 0},
        {"numa-1", {AT(3), .number = -1}, 0},
        {"numacur", {AT(4)}, 0},
        {"loc5", {AT(5)}, 0},
        {"fd", {AT(1), .types = 1}, 0},
        {"win32", {AT(1), .types = 2}, 0},
        {"kmt", {AT(1), .types = 4}, 0},
        {"fabric", {AT(1), .types = 8}, 0},
        {"fd|fabric", {AT(1), .types = 9}, 0},
        {"ht16", {AT(1), .types = 16}, 0},
        {"fd|16", {AT(1), .types = 17}, 0},
        {"comp", {AT(1), .compression = 1}, 0},
        {"comp2", {AT(1), .compression = 2}, 0},
        {"rdma", {AT(1), .rdma = 1}, 0},
        {"rdma2", {AT(1), .rdma = 2}, 0},
        {"tilepool", {AT(1), .usage = 1}, 0},
        {"tilepool.64k", {AT(1), .usage = 1}, 65536},
        {"decomp", {AT(1), .usage = 2}, 0},
        {"usage4", {AT(1), .usage = 4}, 0},
        {"reserved", {AT(1), .reserved = 1}, 0},
        {"w32meta", {AT(1), .metadata = (void *)8}, 0},
    };
    begin();
    CUmemAllocationProp p = on_device(0);
    c1("ok", G, p, 0);
    c1("size0", 0, p, 0);
    c1("size1", 1, p, 0);
    c1("g-1", G - 1, p, 0);
    c1("4096", 4096, p, 0);
    c1("64k", 65536, p, 0);
    c1("g+4096", G + 4096, p, 0);
    c1("g*3", G * 3, p, 0);
    c1("1<<44", 1ull << 44, p, 0);
    c1("1<<62", 1ull << 62, p, 0);
    c1("max", ~(size_t)0, p, 0);
    c1("max_al", ~(size_t)0 - (G - 1), p, 0);
    c1("flags1", G, p, 1);
    size_t fr, tot;
    cuMemGetInfo(&fr, &tot);
    c1("total+g", (tot / G + 1) * G, p, 0);
    Handle h;
    R("create.null_handle", cuMemCreate(0, G, &p, 0));
    R("create.null_prop", cuMemCreate(&h, G, 0, 0));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        c1(rows[i].id, rows[i].size ? rows[i].size : G, prop_of(&rows[i].prop), 0);
}

static void t_handle(void)
{
    begin();
    Handle h = make(G), h2 = make(G);
    V("handle.v1", "%llx", (u64)h);
    V("handle.v2", "%llx", (u64)h2);
    R("props.null", cuMemGetAllocationPropertiesFromHandle(0, h));
    R("release.ok", cuMemRelease(h));
    R("release.ok2", cuMemRelease(h2));
}

static void t_h0(void)
{
    begin();
    CUmemAllocationProp q;
    R("props.h0", cuMemGetAllocationPropertiesFromHandle(&q, 0));
}

static void t_hbad(void)
{
    begin();
    CUmemAllocationProp q;
    R("props.hbad", cuMemGetAllocationPropertiesFromHandle(&q, 0xdead0));
}

static void t_rel0(void)
{
    begin();
    R("release.h0", cuMemRelease(0));
}

static void t_relbad(void)
{
    begin();
    R("release.hbad", cuMemRelease(0xdead0));
}

static void t_rel2(void)
{
    begin();
    Handle h = make(G);
    cuMemRelease(h);
    R("release.double", cuMemRelease(h));
}

static void t_propsrel(void)
{
    begin();
    CUmemAllocationProp q;
    Handle h = make(G);
    cuMemRelease(h);
    R("props.released", cuMemGetAllocationPropertiesFromHandle(&q, h));
}

static void t_maprel(void)
{
    begin();
    Handle h = make(G);
    CUdeviceptr p = reserve(G);
    cuMemRelease(h);
    R("map.released", cuMemMap(p, G, 0, h, 0));
}

static void t_map0(void)
{
    begin();
    CUdeviceptr p = reserve(G);
    R("map.h0", cuMemMap(p, G, 0, 0, 0));
}

static void t_mapbad(void)
{
    begin();
    CUdeviceptr p = reserve(G);
    R("map.hbad", cuMemMap(p, G, 0, 0xdead0, 0));
}
