/* SPDX-License-Identifier: Apache-2.0 */
/* Group J: cuMemAlloc and cuMemFree. Part of ../edges.c, which includes it. */

static void j_free(void)
{
    init();
    CUdeviceptr p = 0x77;
    R("J.free0", cuMemFree(0));
    cuMemAlloc(&p, 4 * G);
    R("J.free_interior", cuMemFree(p + G));
    R("J.free_interior1", cuMemFree(p + 1));
    R("J.free", cuMemFree(p));
    R("J.free_twice", cuMemFree(p));
    R("J.free_host", cuMemFree((CUdeviceptr)(uintptr_t)buffer));
    p = 0x77;
    RV("J.alloc_size0", cuMemAlloc(&p, 0), "p=%llx", (u64)p);
    RV("J.alloc_1<<44", cuMemAlloc(&p, (size_t)1 << 44), "p=%llx", (u64)p);
    RV("J.alloc_max", cuMemAlloc(&p, SIZE_MAX), "p=%llx", (u64)p);
    RV("J.alloc_max_aligned", cuMemAlloc(&p, SIZE_MAX - (G - 1)), "p=%llx", (u64)p);
    size_t total = 0;
    cuDeviceTotalMem(&total, 0);
    RV("J.alloc_total", cuMemAlloc(&p, total), "p=%llx", (u64)p);
}

static void j_alloc_null(void)
{
    init();
    R("J.alloc_null", cuMemAlloc(NULL, 16));
    R("J.alloc_null_size0", cuMemAlloc(NULL, 0));
}

static void j_no_context(void)
{
    cuInit(0);
    CUdeviceptr p = 0x77;
    RV("J.noctx.alloc", cuMemAlloc(&p, 16), "p=%llx", (u64)p);
    R("J.noctx.alloc_size0", cuMemAlloc(&p, 0));
    R("J.noctx.alloc_null", cuMemAlloc(NULL, 16));
    R("J.noctx.free0", cuMemFree(0));
    R("J.noctx.free_bogus", cuMemFree(0x200000));
}

static void j_attributes(void)
{
    init();
    CUdeviceptr p = 0, q = 0;
    cuMemAlloc(&p, 4 * G);
    cuMemAlloc(&q, 100);
    say("J.values", "4G at=%llx mod_G=%llx; 100 bytes at=%llx mod_512=%llx", (u64)p, (u64)(p % G), (u64)q,
        (u64)(q % 512));
    attributes("J.cumemalloc_4G", p + 5, p);
    attributes("J.cumemalloc_100", q + 5, q);
    attribute("J.cumemalloc_100.past", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q + 100, q);
    attribute("J.cumemalloc_100.past512", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q + 512, q);
    range("J.range.cumemalloc_4G", p + 5, p);
    range("J.range.cumemalloc_100", q + 5, q);
    range("J.range.cumemalloc_100_past", q + 100, q);
    R("J.memset_past_100", cuMemsetD8(q, 1, 101));
    R("J.memset_past_512", cuMemsetD8(q, 1, 513));
    R("J.memset_past_4G", cuMemsetD8(p, 1, 4 * G + 1));
}

static void j_fall(void)
{
    init();
    static const size_t sizes[] = {1, 1, G, G, 1 << 20, 3 * (size_t)1048576, G + 1, 64 * G};
    CUdeviceptr p[COUNT(sizes)];
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t before = free_memory();
        cuMemAlloc(&p[i], sizes[i]);
        say("J.fall", "size=%zu fell=%lld", sizes[i], -risen(before));
    }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t before = free_memory();
        cuMemFree(p[i]);
        say("J.rise", "size=%zu rose=%lld", sizes[i], risen(before));
    }
}

static void j_fall_2m_first(void)
{
    init();
    CUdeviceptr p = 0;
    size_t before = free_memory();
    cuMemAlloc(&p, G);
    say("J.fall_first_2M", "fell=%lld", -risen(before));
    cuMemFree(p);
    say("J.fall_first_2M.freed", "fell=%lld", -risen(before));
}

static void group_j(void)
{
    child("J.free!", j_free);
    child("J.alloc_null!", j_alloc_null);
    child("J.noctx!", j_no_context);
    child("J.attributes!", j_attributes);
    child("J.fall!", j_fall);
    child("J.fall_first_2M!", j_fall_2m_first);
}
