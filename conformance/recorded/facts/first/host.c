/* SPDX-License-Identifier: Apache-2.0 */
/* The host's access to memory of the device, of the host, of a NUMA node. Part of ../first.c. */

static sigjmp_buf jb;
static void sg(int s)
{
    siglongjmp(jb, s);
}

static int hostread(volatile unsigned char *p)
{
    int s;
    signal(SIGSEGV, sg);
    signal(SIGBUS, sg);
    if ((s = sigsetjmp(jb, 1)) == 0) {
        unsigned char v = *p;
        (void)v;
        return 0;
    }
    return s;
}

static int hostwrite(volatile unsigned char *p, int v)
{
    int s;
    signal(SIGSEGV, sg);
    signal(SIGBUS, sg);
    if ((s = sigsetjmp(jb, 1)) == 0) {
        *p = v;
        return 0;
    }
    return s;
}

static void t_hostderef(void)
{
    setup(1, 3);
    V("host.deref_dev_rw", "sig %d", hostread((void *)gp));
    CUdeviceptr r = reserve(G);
    V("host.deref_reserved", "sig %d", hostread((void *)r));
}

static void hostloc(const char *nmx, int type, int id)
{
    CUmemAllocationProp p = on_device(0);
    p.location.type = type;
    p.location.id = id;
    size_t g = 0;
    CUresult r = cuMemGetAllocationGranularity(&g, &p, 0);
    Handle h = 0;
    char b[99];
    printf("%s.gran\t%s %zu\n", nmx, name_of(r), g);
    if (!g)
        g = G;
    r = cuMemCreate(&h, 2 * g, &p, 0);
    printf("%s.create\t%s\n", nmx, name_of(r));
    if (r)
        return;
    CUdeviceptr d = reserve(4 * G);
    r = cuMemMap(d, 2 * g, 0, h, 0);
    printf("%s.map\t%s\n", nmx, name_of(r));
    V(nmx, "deref_before_access sig %d", hostread((void *)d));
    CUmemAccessDesc a[3];
    memset(a, 0, sizeof a);
    u64 fl = 99;
    int types[4] = {2, 3, 4, 1};
    for (int k = 0; k < 4; k++) {
        a[0].location.type = types[k];
        a[0].location.id = 0;
        a[0].flags = 3;
        snprintf(b, 99, "%s.setaccess_loc%d", nmx, types[k]);
        R(b, cuMemSetAccess(d, 2 * g, a, 1));
        fl = 99;
        snprintf(b, 99, "%s.getaccess_loc%d", nmx, types[k]);
        R(b, cuMemGetAccess(&fl, &a[0].location, d));
        V(b, "%llu", fl);
        snprintf(b, 99, "%s.after_loc%d", nmx, types[k]);
        V(b, "write sig %d read sig %d", hostwrite((void *)d, 0x21), hostread((void *)d));
    }
    unsigned char v = 0;
    r = fill(d, 2 * g, 0x42);
    printf("%s.kernel_fill\t%s\n", nmx, name_of(r));
    if (!hostread((void *)d))
        v = *(volatile unsigned char *)(d + 5);
    V(nmx, "host sees kernel write(42) %x", v);
    a[0].location.type = 2;
    a[0].flags = 1;
    snprintf(b, 99, "%s.setaccess_host_ro", nmx);
    R(b, cuMemSetAccess(d, 2 * g, a, 1));
    snprintf(b, 99, "%s.host_ro", nmx);
    V(b, "write sig %d read sig %d", hostwrite((void *)d, 1), hostread((void *)d));
    a[0].flags = 0;
    snprintf(b, 99, "%s.setaccess_host_none", nmx);
    R(b, cuMemSetAccess(d, 2 * g, a, 1));
    V(b, "read sig %d", hostread((void *)d));
    a[0].location.type = 3;
    a[0].location.id = 99;
    a[0].flags = 3;
    snprintf(b, 99, "%s.setaccess_numa99", nmx);
    R(b, cuMemSetAccess(d, 2 * g, a, 1));
    pointer_lines(nmx, d);
    R("hostloc.unmap", cuMemUnmap(d, 2 * g));
    V(nmx, "deref_after_unmap sig %d", hostread((void *)d));
    R("hostloc.release", cuMemRelease(h));
    R("hostloc.free", cuMemAddressFree(d, 4 * G));
    V(nmx, "deref_after_free sig %d", hostread((void *)d));
}

static void t_host(void)
{
    begin();
    hostloc("HOST", 2, 0);
}
static void t_numa(void)
{
    begin();
    hostloc("NUMA0", 3, 0);
}
