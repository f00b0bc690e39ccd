/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one device in use by another. Part of ../first.c. */

static void t_peer(void)
{
    begin();
    if (ndev < 2) {
        V("peer", "skipped ndev=%d", ndev);
        return;
    }
    int can = 0;
    cuDeviceCanAccessPeer(&can, 0, 1);
    V("peer.can", "%d", can);
    CUmemAllocationProp p = on_device(0);
    p.location.id = 1;
    Handle h1 = 0, h0 = make(G);
    R("peer.create_on_1", cuMemCreate(&h1, G, &p, 0));
    CUdeviceptr d = reserve(2 * G);
    R("peer.map0", cuMemMap(d, G, 0, h0, 0));
    R("peer.map1", cuMemMap(d + G, G, 0, h1, 0));
    CUmemAccessDesc a0 = rights(0, 3), a1 = rights(1, 3);
    R("peer.set0_only_all", cuMemSetAccess(d, 2 * G, &a0, 1));
    u64 fl = 9;
    CUmemLocation l1 = a1.location;
    cuMemGetAccess(&fl, &l1, d + G);
    V("peer.owner_access_default", "%llu", fl);
    R("peer.kernel0_span", fill(d, 2 * G, 7));
    u64 s = 0;
    R("peer.sum0", sum(d, 2 * G, &s));
    V("peer.sum(ok=%llu)", "%llu", s);
    CUcontext c1;
    cuDevicePrimaryCtxRetain(&c1, 1);
    cuCtxSetCurrent(c1);
    load_kernels();
    CUmemAccessDesc both[2] = {a0, a1};
    R("peer.set_both", cuMemSetAccess(d, 2 * G, both, 2));
    s = 0;
    R("peer.sum_from_dev1", sum(d, 2 * G, &s));
    V("peer.sum1", "%llu exp %llu", s, (u64)7 * 2 * G);
    cuMemGetAccess(&fl, &l1, d);
    V("peer.dev1_on_mem0", "%llu", fl);
    CUmemAccessDesc r1 = rights(1, 1);
    R("peer.ro1", cuMemSetAccess(d, G, &r1, 1));
    fl = 9;
    cuMemGetAccess(&fl, &a0.location, d);
    V("peer.dev0_unchanged(3)", "%llu", fl);
    R("peer.dev1_write_ro", fill(d, 16, 1));
}

static void t_peer2(void)
{
    begin();
    if (ndev < 2)
        return;
    CUmemAllocationProp p = on_device(0);
    p.location.id = 1;
    Handle h1 = 0;
    cuMemCreate(&h1, G, &p, 0);
    CUdeviceptr d = reserve(G);
    cuMemMap(d, G, 0, h1, 0);
    CUmemAccessDesc a1 = rights(1, 3);
    cuMemSetAccess(d, G, &a1, 1);
    R("peer2.dev0_kernel_without_access", fill(d, 16, 1));
}

static void t_peer3(void)
{
    begin();
    if (ndev < 2)
        return;
    CUmemAllocationProp p = on_device(0);
    p.location.id = 1;
    Handle h1 = 0;
    cuMemCreate(&h1, G, &p, 0);
    CUdeviceptr d = reserve(G);
    cuMemMap(d, G, 0, h1, 0);
    CUmemAccessDesc a1 = rights(1, 3);
    cuMemSetAccess(d, G, &a1, 1);
    R("peer3.dev0_memset_without_access", cuMemsetD8(d, 1, 16));
    unsigned char v;
    R("peer3.dtoh_from_ctx0", cuMemcpyDtoH(&v, d, 1));
    pointer_lines("peer3", d);
}
