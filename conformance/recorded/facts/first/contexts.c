/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that outlive a context and a reset. Part of ../first.c. */

static void t_ctxdestroy(void)
{
    cuInit(0);
    CUcontext c1, c2;
    cuCtxCreate(&c1, 0, 0, 0);
    CUmemAccessDesc a = rights(0, 3);
    Handle h = make(G);
    CUdeviceptr p = reserve(2 * G);
    cuMemMap(p, G, 0, h, 0);
    cuMemSetAccess(p, G, &a, 1);
    R("ctx.memset", cuMemsetD8(p, 5, G));
    R("ctx.destroy", cuCtxDestroy(c1));
    R("ctx.new", cuCtxCreate(&c2, 0, 0, 0));
    unsigned char v = 0;
    R("ctx.read_after", cuMemcpyDtoH(&v, p + 3, 1));
    V("ctx.v(5)", "%d", v);
    u64 fl = 99;
    R("ctx.getaccess_after", cuMemGetAccess(&fl, &a.location, p));
    V("ctx.fl(3)", "%llu", fl);
    R("ctx.unmap_after", cuMemUnmap(p, G));
    R("ctx.release_after", cuMemRelease(h));
    R("ctx.free_after", cuMemAddressFree(p, 2 * G));
}

static void t_devreset(void)
{
    begin();
    CUmemAccessDesc a = rights(0, 3);
    Handle h = make(G);
    CUdeviceptr p = reserve(2 * G);
    cuMemMap(p, G, 0, h, 0);
    cuMemSetAccess(p, G, &a, 1);
    R("reset.do", cuDevicePrimaryCtxReset(0));
    cuCtxSetCurrent(0);
    cuDevicePrimaryCtxRetain(&primary[0], 0);
    cuCtxSetCurrent(primary[0]);
    R("reset.memset_after", cuMemsetD8(p, 5, G));
    R("reset.unmap_after", cuMemUnmap(p, G));
    R("reset.release_after", cuMemRelease(h));
    R("reset.free_after", cuMemAddressFree(p, 2 * G));
}
