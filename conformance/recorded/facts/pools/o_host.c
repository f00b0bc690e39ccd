/* SPDX-License-Identifier: Apache-2.0 */
/* Group O: pools of the host: whether HOST and HOST_NUMA 0 are one, and how much memory such a pool may have. Part of ../pools.c,
 * which includes it. */

static Pool o_default(int type, int id)
{
    CUmemLocation l = loc_at(type, id);
    Pool pool = NULL;
    cuMemGetDefaultMemPool(&pool, &l, CU_MEM_ALLOCATION_TYPE_PINNED);
    return pool;
}

static Pool o_current(int type, int id)
{
    CUmemLocation l = loc_at(type, id);
    Pool pool = NULL;
    cuMemGetMemPool(&pool, &l, CU_MEM_ALLOCATION_TYPE_PINNED);
    return pool;
}

static CUmemPoolProps o_props(int type)
{
    CUmemPoolProps p = pool_props();
    p.location = loc_at(type, 0);
    return p;
}

static void o_one(const char *id, u64 unused)
{
    (void)unused;
    Pool host = o_default(L_HOST, 0), node = o_default(L_NUMA, 0), near = o_default(L_NUMA_CURRENT, 0);
    say(sub(id, "default"), "host=%d node=%d near=%d same=%d near_is_node=%d", host != NULL, node != NULL, near != NULL, host == node,
        near == node);
    say(sub(id, "current"), "host=%d node=%d", o_current(L_HOST, 0) == host, o_current(L_NUMA, 0) == node);
    set_u64(host, THRESHOLD, 12345);
    say(sub(id, "threshold"), "host=%llu node=%llu", value_of(host, THRESHOLD), value_of(node, THRESHOLD));
    CUdeviceptr p = take(host, 4096, 0);
    say(sub(id, "taken"), "host %s; node %s", now(host), now(node));
    CUdeviceptr q = take(node, 4096, 0);
    say(sub(id, "taken_node"), "host %s; node %s; off=%d", now(host), now(node), q - p < 32 * MiB || p - q < 32 * MiB);
    u64 of[2] = {0, 0};
    cuPointerGetAttribute(&of[0], CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p);
    cuPointerGetAttribute(&of[1], CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, q);
    say(sub(id, "of"), "p_host=%d p_node=%d q_host=%d q_node=%d", of[0] == (u64)(uintptr_t)host, of[0] == (u64)(uintptr_t)node,
        of[1] == (u64)(uintptr_t)host, of[1] == (u64)(uintptr_t)node);
    drop(p, 0), drop(q, 0);
    cuCtxSynchronize();
    CUmemPoolProps props = o_props(L_NUMA);
    Pool mine = pool_with(props);
    props = o_props(L_HOST);
    Pool mine_host = pool_with(props);
    CUmemLocation lh = loc_at(L_HOST, 0), ln = loc_at(L_NUMA, 0);
    for (int k = 0; k < 4; k++) {
        CUresult r = cuMemSetMemPool(k % 2 ? &ln : &lh, CU_MEM_ALLOCATION_TYPE_PINNED, k < 2 ? mine : mine_host);
        Pool a = o_current(L_HOST, 0), b = o_current(L_NUMA, 0);
        say(sub(id, "set.%s.%s", k < 2 ? "node_pool" : "host_pool", k % 2 ? "node" : "host"), "%s host=%s node=%s", name_of(r),
            a == mine ? "node_pool" : a == mine_host ? "host_pool" : a == host ? "default" : "other",
            b == mine ? "node_pool" : b == mine_host ? "host_pool" : b == node ? "default" : "other");
    }
    R(sub(id, "destroy_node"), cuMemPoolDestroy(mine));
    R(sub(id, "destroy_host"), cuMemPoolDestroy(mine_host));
    say(sub(id, "then"), "host=%d node=%d", o_current(L_HOST, 0) == host, o_current(L_NUMA, 0) == node);
}

/* What the machine has, in MiB: it decides how much a pool of the host may have. */
static u64 o_meminfo(const char *field)
{
    char line[128];
    u64 found = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0)
            found = strtoull(line + strlen(field) + 1, NULL, 10);
    if (file)
        fclose(file);
    return found >> 10;
}

static void o_memory(const char *id, u64 unused)
{
    (void)unused;
    printf("# host: MemTotal %llu MiB, MemAvailable %llu MiB, SwapTotal %llu MiB, CommitLimit %llu MiB\n", o_meminfo("MemTotal"),
           o_meminfo("MemAvailable"), o_meminfo("SwapTotal"), o_meminfo("CommitLimit"));
    static const char *const files[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (size_t i = 0; i < COUNT(files); i++) {
        char line[64] = "";
        FILE *file = fopen(files[i], "r");
        if (file && fgets(line, sizeof line, file))
            printf("# %s: %s", files[i], line);
        if (file)
            fclose(file);
    }
    for (int type = L_HOST; type <= L_NUMA; type++)
        for (int n = 0; n < 3; n++) {
            static const u64 sizes[] = {0, 256 * MiB, GiB};
            CUmemPoolProps p = o_props(type);
            p.maxSize = sizes[n];
            Pool pool = NULL;
            CUresult r = cuMemPoolCreate(&pool, &p);
            CUdeviceptr q = 0;
            if (r) {
                say(sub(id, "%d.%d", type, n), "%s", name_of(r));
                continue;
            }
            CUresult taken = cuMemAllocFromPoolAsync(&q, 128 * MiB, pool, 0);
            say(sub(id, "%d.%d", type, n), "%s %s %s", name_of(r), name_of(taken), now(pool));
            CUresult more = cuMemAllocFromPoolAsync(&q, 200 * MiB, pool, 0);
            say(sub(id, "%d.%d.more", type, n), "%s %s", name_of(more), now(pool));
            cuCtxSynchronize();
            cuMemPoolDestroy(pool);
        }
}

/* A pool for a fabric, where no channel exists, and what can be done with it. */
static void o_fabric(const char *id, u64 type)
{
    CUmemPoolProps p = o_props((int)type);
    p.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    Pool pool = NULL;
    RV(sub(id, "create"), cuMemPoolCreate(&pool, &p), "wrote=%d", pool != NULL);
    if (!pool)
        return;
    unsigned char handle[64];
    memset(handle, 0x77, sizeof handle);
    CUresult r = cuMemPoolExportToShareableHandle(handle, pool, CU_MEM_HANDLE_TYPE_FABRIC, 0);
    int written = 0;
    for (size_t i = 0; i < sizeof handle; i++)
        written += handle[i] != 0x77;
    say(sub(id, "export"), "%s written=%d", name_of(r), written != 0);
    int fd = -1;
    R(sub(id, "export_fd"), cuMemPoolExportToShareableHandle(&fd, pool, FD, 0));
    R(sub(id, "export_null"), cuMemPoolExportToShareableHandle(NULL, pool, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    CUdeviceptr a = 0;
    R(sub(id, "alloc"), cuMemAllocFromPoolAsync(&a, 4096, pool, 0));
    cuMemFreeAsync(a, 0);
    R(sub(id, "sync"), cuCtxSynchronize());
    R(sub(id, "destroy"), cuMemPoolDestroy(pool));
    Pool in = (Pool)(uintptr_t)77;
    memset(handle, 0, sizeof handle);
    r = cuMemPoolImportFromShareableHandle(&in, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0);
    say(sub(id, "import_zeros"), "%s wrote=%d", name_of(r), in != (Pool)(uintptr_t)77);
    pool = pool_with(p);
    cuMemAllocFromPoolAsync(&a, 4096, pool, 0);
    CUmemPoolPtrExportData data;
    R(sub(id, "export_pointer"), cuMemPoolExportPointer(&data, a));
}

/* A dma-buf of a range that begins in an allocation and ends in the next chunk. */
static void o_dma_buf(const char *id, u64 unused)
{
    (void)unused;
    int can = 77;
    cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0);
    say(sub(id, "supported"), "%d", can);
    Pool pool = keeping_pool();
    CUdeviceptr a = take(pool, 30 * MiB, 0), b = take(pool, 30 * MiB, 0), c = take(pool, 100 * MiB, 0);
    say(sub(id, "places"), "b=%lld c=%lld", (i64)(b - a), (i64)(c - a));
    cuCtxSynchronize();
    const struct {
        const char *name;
        CUdeviceptr p;
        size_t size;
    } ranges[] = {{"whole", a, 30 * MiB},        {"to_the_chunk", a, 32 * MiB}, {"page", a, 4096},        {"inner", a + 4096, 4096},
                  {"over_the_end", a + 28 * MiB, 8 * MiB}, {"both", a, 62 * MiB},  {"chunks", a, 64 * MiB},  {"all", a, 128 * MiB},
                  {"behind", a + 30 * MiB, 2 * MiB}, {"in_large", c + 30 * MiB, 4 * MiB}, {"large", c, 100 * MiB},
                  {"before", a - 2 * MiB, 4 * MiB}, {"odd", a + 100, 4096}, {"odd_size", a, 5000}, {"byte", a, 1}, {"nothing", a, 0}};
    for (size_t i = 0; i < COUNT(ranges); i++) {
        int fd = -7;
        CUresult r = cuMemGetHandleForAddressRange(&fd, ranges[i].p, ranges[i].size, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
        say(sub(id, "%s", ranges[i].name), "%s wrote=%d size=%lld", name_of(r), fd != -7, fd > 2 ? (i64)lseek(fd, 0, SEEK_END) : -1);
        if (fd > 2)
            close(fd);
    }
    drop(b, 0);
    cuCtxSynchronize();
    int fd = -7;
    RV(sub(id, "freed"), cuMemGetHandleForAddressRange(&fd, b, 2 * MiB, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0), "wrote=%d", fd != -7);
    RV(sub(id, "over_freed"), cuMemGetHandleForAddressRange(&fd, a, 62 * MiB, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0), "wrote=%d", fd != -7);
}

static void group_o(void)
{
    static const struct pool_case cases[] = {
        {"O.one", o_one, 0},
        {"O.memory", o_memory, 0},
        {"O.dma_buf", o_dma_buf, 0},
        {"O.fabric.device", o_fabric, L_DEVICE},
        {"O.fabric.node", o_fabric, L_NUMA},
        {"O.fabric.host", o_fabric, L_HOST},
    };
    if (!is_wanted("O"))
        return;
    run_table(cases, COUNT(cases));
}
