/* SPDX-License-Identifier: Apache-2.0 */
/* Pointer attributes, and ranges as dma-bufs. Part of ../first.c. */

static void pointer_lines(const char *id, CUdeviceptr p)
{
    unsigned mt = 99;
    CUresult r = cuPointerGetAttribute(&mt, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
    printf("ptr.%s.memtype\t%s=%u\n", id, name_of(r), mt);
    CUdeviceptr s = 0;
    size_t n = 0;
    r = cuMemGetAddressRange(&s, &n, p);
    printf("ptr.%s.addrrange\t%s off=%lld n/G=%g\n", id, name_of(r), r ? 0 : (long long)(p - s), (double)n / G);
    CUdeviceptr rsa = 0;
    r = cuPointerGetAttribute(&rsa, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p);
    printf("ptr.%s.rangestart\t%s off=%lld\n", id, name_of(r), (long long)(p - rsa));
    size_t rz = 0;
    r = cuPointerGetAttribute(&rz, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p);
    printf("ptr.%s.rangesize\t%s n/G=%g\n", id, name_of(r), (double)rz / G);
    int mp = 9;
    r = cuPointerGetAttribute(&mp, CU_POINTER_ATTRIBUTE_MAPPED, p);
    printf("ptr.%s.mapped\t%s=%d\n", id, name_of(r), mp);
    u64 ah = 99;
    r = cuPointerGetAttribute(&ah, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p);
    printf("ptr.%s.allowedht\t%s=%llu\n", id, name_of(r), ah);
    int ord = 99;
    r = cuPointerGetAttribute(&ord, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p);
    printf("ptr.%s.ordinal\t%s=%d\n", id, name_of(r), ord);
    CUcontext c = 0;
    r = cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, p);
    printf("ptr.%s.context\t%s null=%d\n", id, name_of(r), c == 0);
    int leg = 9;
    r = cuPointerGetAttribute(&leg, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p);
    printf("ptr.%s.legacyipc\t%s=%d\n", id, name_of(r), leg);
    unsigned af = 99;
    r = cuPointerGetAttribute(&af, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p);
    printf("ptr.%s.accessflags\t%s=%u\n", id, name_of(r), af);
    size_t ms = 0;
    r = cuPointerGetAttribute(&ms, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, p);
    printf("ptr.%s.mapsize\t%s n/G=%g\n", id, name_of(r), (double)ms / G);
    CUdeviceptr mb = 0;
    r = cuPointerGetAttribute(&mb, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, p);
    printf("ptr.%s.mapbase\t%s off=%lld\n", id, name_of(r), (long long)(p - mb));
    u64 bid = 0;
    r = cuPointerGetAttribute(&bid, CU_POINTER_ATTRIBUTE_BUFFER_ID, p);
    printf("ptr.%s.bufid\t%s\n", id, name_of(r));
    u64 blk = 0;
    r = cuPointerGetAttribute(&blk, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, p);
    printf("ptr.%s.blockid\t%s\n", id, name_of(r));
    void *hp = 0;
    r = cuPointerGetAttribute(&hp, CU_POINTER_ATTRIBUTE_HOST_POINTER, p);
    printf("ptr.%s.hostptr\t%s %d\n", id, name_of(r), (CUdeviceptr)hp == p);
}

static void t_ptr(void)
{
    begin();
    CUmemAccessDesc a = rights(0, 3);
    CUdeviceptr p = reserve(16 * G);
    Handle h = make_shareable(4 * G), h1 = make(2 * G);
    pointer_lines("reserved", p + G);
    cuMemMap(p + 2 * G, 4 * G, 0, h, 0);
    cuMemMap(p + 6 * G, 2 * G, 0, h1, 0);
    pointer_lines("mapped", p + 3 * G + 5);
    cuMemSetAccess(p + 2 * G, 6 * G, &a, 1);
    pointer_lines("access", p + 3 * G + 5);
    pointer_lines("access2", p + 7 * G);
    cuMemMap(p + 8 * G, G, G, h, 0);
    cuMemSetAccess(p + 8 * G, G, &a, 1);
    pointer_lines("offmap", p + 8 * G + 9);
    cuMemUnmap(p + 2 * G, 4 * G);
    pointer_lines("unmapped", p + 3 * G);
    pointer_lines("bogus", p + (1ull << 38));
}

static void dma_buf(const char *id, CUdeviceptr p, size_t n, u64 fl)
{
    int fd = -1;
    char b[99];
    snprintf(b, 99, "dmabuf.%s", id);
    R(b, cuMemGetHandleForAddressRange(&fd, p, n, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, fl));
    V(b, "fd=%d", fd >= 0);
}

static void t_dmabuf(void)
{
    begin();
    CUmemAccessDesc a = rights(0, 3);
    CUdeviceptr p = reserve(8 * G);
    Handle h = make(2 * G), h2 = make(2 * G);
    dma_buf("reserved", p, G, 0);
    cuMemMap(p, 2 * G, 0, h, 0);
    dma_buf("mapped", p, 2 * G, 0);
    cuMemSetAccess(p, 2 * G, &a, 1);
    dma_buf("access", p, 2 * G, 0);
    dma_buf("sub", p, G, 0);
    dma_buf("un", p, 4096, 0);
    dma_buf("fl1", p, 2 * G, 1);
    cuMemMap(p + 2 * G, 2 * G, 0, h2, 0);
    cuMemSetAccess(p + 2 * G, 2 * G, &a, 1);
    dma_buf("two", p, 4 * G, 0);
}
