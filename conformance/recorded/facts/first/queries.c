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

static void t_gran(void)
{
    begin();
    CUmemAllocationProp p = on_device(0);
    g1("dev.min", p, 0);
    g1("dev.rec", p, 1);
    g1("dev.opt2", p, 2);
    g1("dev.optneg", p, -1);
    size_t g;
    R("gran.null_out", cuMemGetAllocationGranularity(0, &p, 0));
    R("gran.null_prop", cuMemGetAllocationGranularity(&g, 0, 0));
    p = on_device(0);
    p.requestedHandleTypes = 1;
    g1("fd", p, 0);
    p.requestedHandleTypes = 8;
    g1("fabric", p, 0);
    p.requestedHandleTypes = 2;
    g1("win32", p, 0);
    p.requestedHandleTypes = 4;
    g1("kmt", p, 0);
    p.requestedHandleTypes = 16;
    g1("ht16", p, 0);
    p.requestedHandleTypes = 9;
    g1("fd_fabric", p, 0);
    p = on_device(0);
    p.type = 0;
    g1("type0", p, 0);
    p.type = 2;
    g1("managed", p, 0);
    p.type = 3;
    g1("type3", p, 0);
    p = on_device(0);
    p.location.id = -1;
    g1("id-1", p, 0);
    p.location.id = ndev;
    g1("id_n", p, 0);
    p.location.id = 99;
    g1("id99", p, 0);
    p = on_device(0);
    p.location.type = 0;
    g1("loc0", p, 0);
    p.location.type = 2;
    g1("host.min", p, 0);
    g1("host.rec", p, 1);
    p.location.id = 99;
    g1("host.id99", p, 0);
    p = on_device(0);
    p.location.type = 3;
    g1("numa0.min", p, 0);
    g1("numa0.rec", p, 1);
    p.location.id = 1;
    g1("numa1", p, 0);
    p.location.id = -1;
    g1("numa-1", p, 0);
    p.location.id = 99;
    g1("numa99", p, 0);
    p.location.id = 0;
    p.requestedHandleTypes = 1;
    g1("numa0.fd", p, 0);
    p = on_device(0);
    p.location.type = 4;
    g1("numacur", p, 0);
    p.location.type = 5;
    g1("loc5", p, 0);
    p = on_device(0);
    p.allocFlags.compressionType = 1;
    g1("comp.min", p, 0);
    g1("comp.rec", p, 1);
    p.allocFlags.compressionType = 2;
    g1("comp2", p, 0);
    p = on_device(0);
    p.allocFlags.gpuDirectRDMACapable = 1;
    g1("rdma", p, 0);
    p = on_device(0);
    p.allocFlags.usage = 1;
    g1("tilepool", p, 0);
    p.allocFlags.usage = 2;
    g1("decomp", p, 0);
    p.allocFlags.usage = 4;
    g1("usage4", p, 0);
    p = on_device(0);
    p.allocFlags.reserved[0] = 1;
    g1("reserved", p, 0);
    p = on_device(0);
    p.win32HandleMetaData = (void *)8;
    g1("w32meta", p, 0);
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
        printf("create.%s.props\t%s type=%d ht=%d loc=%d/%d meta=%p comp=%d rdma=%d usage=%d\n", id, name_of(e), q.type,
               q.requestedHandleTypes, q.location.type, q.location.id, q.win32HandleMetaData,
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
    p.type = 0;
    c1("type0", G, p, 0);
    p.type = 2;
    c1("managed", G, p, 0);
    p.type = 3;
    c1("type3", G, p, 0);
    p = on_device(0);
    p.location.id = -1;
    c1("id-1", G, p, 0);
    p.location.id = ndev;
    c1("id_n", G, p, 0);
    p = on_device(0);
    p.location.type = 0;
    c1("loc0", G, p, 0);
    p.location.type = 2;
    c1("host", G, p, 0);
    p.requestedHandleTypes = 1;
    c1("host.fd", G, p, 0);
    p = on_device(0);
    p.location.type = 2;
    c1("host.4096", 4096, p, 0);
    p.location.id = 99;
    c1("host.id99", G, p, 0);
    p = on_device(0);
    p.location.type = 3;
    c1("numa0", G, p, 0);
    c1("numa0.4096", 4096, p, 0);
    p.requestedHandleTypes = 1;
    c1("numa0.fd", G, p, 0);
    p = on_device(0);
    p.location.type = 3;
    p.location.id = 99;
    c1("numa99", G, p, 0);
    p.location.id = -1;
    c1("numa-1", G, p, 0);
    p = on_device(0);
    p.location.type = 4;
    c1("numacur", G, p, 0);
    p.location.type = 5;
    c1("loc5", G, p, 0);
    p = on_device(0);
    p.requestedHandleTypes = 1;
    c1("fd", G, p, 0);
    p.requestedHandleTypes = 2;
    c1("win32", G, p, 0);
    p.requestedHandleTypes = 4;
    c1("kmt", G, p, 0);
    p.requestedHandleTypes = 8;
    c1("fabric", G, p, 0);
    p.requestedHandleTypes = 9;
    c1("fd|fabric", G, p, 0);
    p.requestedHandleTypes = 16;
    c1("ht16", G, p, 0);
    p.requestedHandleTypes = 17;
    c1("fd|16", G, p, 0);
    p = on_device(0);
    p.allocFlags.compressionType = 1;
    c1("comp", G, p, 0);
    p.allocFlags.compressionType = 2;
    c1("comp2", G, p, 0);
    p = on_device(0);
    p.allocFlags.gpuDirectRDMACapable = 1;
    c1("rdma", G, p, 0);
    p.allocFlags.gpuDirectRDMACapable = 2;
    c1("rdma2", G, p, 0);
    p = on_device(0);
    p.allocFlags.usage = 1;
    c1("tilepool", G, p, 0);
    c1("tilepool.64k", 65536, p, 0);
    p.allocFlags.usage = 2;
    c1("decomp", G, p, 0);
    p.allocFlags.usage = 4;
    c1("usage4", G, p, 0);
    p = on_device(0);
    p.allocFlags.reserved[0] = 1;
    c1("reserved", G, p, 0);
    p = on_device(0);
    p.win32HandleMetaData = (void *)8;
    c1("w32meta", G, p, 0);
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
