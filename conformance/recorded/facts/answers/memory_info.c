/* SPDX-License-Identifier: Apache-2.0 */
/* Group M: cuMemGetInfo before and after a context is created, and how its answer falls, in KiB of the device. Part of
 * ../answers.c. */

static i64 used(const char *id)
{
    size_t free = 0, total = 0;
    CUresult r = cuMemGetInfo(&free, &total);
    if (id)
        say(id, "%s used=%zuK", name_of(r), (total - free) >> 10);
    return (i64)(total - free);
}

static void fell(const char *id, CUresult r, i64 before)
{
    say(id, "%s %+lldK", name_of(r), (used(NULL) - before) / 1024);
}

static void memory_info(void)
{
    static const size_t sizes[] = {1, 512, 4096, 65536, 1 << 20, (1 << 20) + 1, 2 << 20, (2 << 20) + 1, 16 << 20};
    CUdeviceptr p = 0;
    void *host = NULL;
    CUcontext second = NULL;
    char id[64];
    cuInit(0);
    used("M.without");
    CUdevice device = 0;
    cuDevicePrimaryCtxRetain(&primary[0], device);
    used("M.not_current");
    cuCtxSetCurrent(primary[0]);
    i64 before = used("M.primary");
    u64 create[ARGUMENTS] = {(u64)(uintptr_t)&second, 0, (u64)device};
    fell("M.context", call("cuCtxCreate_v2", create), before);
    fell("M.context_destroyed", cuCtxDestroy(second), before);
    cuCtxSetCurrent(primary[0]);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        before = used(NULL);
        snprintf(id, sizeof id, "M.alloc.%zu", sizes[i]);
        fell(id, cuMemAlloc(&p, sizes[i]), before);
        snprintf(id, sizeof id, "M.alloc_freed.%zu", sizes[i]);
        fell(id, cuMemFree(p), before);
    }
    before = used(NULL);
    fell("M.host_alloc", cuMemHostAlloc(&host, 16 << 20, 0), before);
    fell("M.host_registered", cuMemHostRegister(host_scratch, sizeof host_scratch, 0), before);
    Handle h = 0;
    CUmemAllocationProp prop = prop_at(L_DEVICE, 0);
    fell("M.create", cuMemCreate(&h, 4 * G, &prop, 0), before);
}
