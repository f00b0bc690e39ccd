/* SPDX-License-Identifier: Apache-2.0 */
/* M: memory and processes, before and after this process and its children use some. Part of ../nvml.c. */
enum { MEMORY_PIECE = 64 << 20 };

static struct {
    nvmlMemory_t first;
    nvmlMemory_v2_t second;
} before_use;

static void look(nvmlMemory_t *first, nvmlMemory_v2_t *second)
{
    second->version = nvmlMemory_v2;
    if (nvmlDeviceGetMemoryInfo(one, first) || nvmlDeviceGetMemoryInfo_v2(one, second))
        say("M!", "no memory");
}

/* A context, and 64 MiB of memory, in this process. */
static CUdeviceptr use(void)
{
    CUdeviceptr memory = 0;
    init();
    look(&before_use.first, &before_use.second);
    if (cuMemAlloc(&memory, MEMORY_PIECE))
        say("M!", "no memory");
    return memory;
}

static nvmlReturn_t totals(void)
{
    nvmlMemory_t a = {0};
    nvmlMemory_v2_t b = {0};
    look(&a, &b);
    printf("# M: total %llu, used %llu, reserved %llu and used %llu\n", a.total, a.used, b.reserved, b.used);
    snprintf(out.text, sizeof out.text, "sum=%d same=%d used_with_reserved=%d used_alone=%d reserved=%d", b.total == b.reserved + b.used + b.free,
             a.total == b.total && a.free == b.free, a.used == b.used + b.reserved, a.used == b.used, b.reserved != 0);
    return NVML_SUCCESS;
}

/* What an allocation adds to each number. */
static nvmlReturn_t added(void)
{
    nvmlMemory_t a = {0};
    nvmlMemory_v2_t b = {0};
    CUdeviceptr memory = use();
    look(&a, &b);
    snprintf(out.text, sizeof out.text, "free=%lld used=%lld reserved=%lld", (i64)(before_use.first.free - a.free) >> 20,
             (i64)(a.used - before_use.first.used) >> 20, (i64)(b.reserved - before_use.second.reserved) >> 20);
    cuMemFree(memory);
    return NVML_SUCCESS;
}

static size_t of_me(const nvmlProcessInfo_v2_t *infos, unsigned infos_count, u64 *bytes)
{
    size_t found = 0;
    for (unsigned i = 0; i < infos_count; i++)
        if (infos[i].pid == (unsigned)getpid()) {
            *bytes = infos[i].usedGpuMemory;
            found++;
        }
    return found;
}

/* This process in a list, whose memory it has, and the fields of partitions. */
static nvmlReturn_t listed(bool with_memory)
{
    u64 bytes = 0;
    CUdeviceptr memory = 0;
    nvmlReturn_t r;
    if (with_memory)
        memory = use();
    count = 16;
    r = nvmlDeviceGetComputeRunningProcesses_v3(one, &count, out.second);
    size_t found = r ? 0 : of_me(out.second, count, &bytes);
    printf("# M: %u processes, %llu bytes\n", count, bytes);
    snprintf(out.text, sizeof out.text, "me=%zu bytes=%s", found, !found ? "none" : bytes == (u64)-1 ? "unknown" : bytes >= MEMORY_PIECE ? "of it" : "less");
    if (memory)
        cuMemFree(memory);
    return r;
}

static nvmlReturn_t too_short(unsigned room)
{
    CUdeviceptr memory = use();
    count = room;
    nvmlReturn_t r = nvmlDeviceGetComputeRunningProcesses_v3(one, &count, out.second);
    say("M.too_short.needs", "%d", count > room);
    cuMemFree(memory);
    return r;
}

static void memory(struct turn *turn)
{
    NV("M", totals(), "%s", out.text);
    NV("M", listed(false), "%s", out.text);
    NV("M", added(), "%s", out.text);
    NV("M", listed(true), "%s", out.text);
    N("M", too_short(0));
    NVA("M", count = 16, nvmlDeviceGetGraphicsRunningProcesses(one, &count, out.first), "%u", count);
    NVA("M", count = 16, nvmlDeviceGetGraphicsRunningProcesses_v2(one, &count, out.second), "%u", count);
    NVA("M", count = 16, nvmlDeviceGetGraphicsRunningProcesses_v3(one, &count, out.second), "%u", count);
    NVA("M", count = 16, nvmlDeviceGetMPSComputeRunningProcesses(one, &count, out.first), "%u", count);
    NVA("M", count = 16, nvmlDeviceGetMPSComputeRunningProcesses_v2(one, &count, out.second), "%u", count);
    NVA("M", count = 16, nvmlDeviceGetMPSComputeRunningProcesses_v3(one, &count, out.second), "%u", count);
}
