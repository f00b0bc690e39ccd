/* SPDX-License-Identifier: Apache-2.0 */
/* Group S: device addresses as host arguments, and host functions. Part of ../edges.c, which includes it. */

enum { S_PARTS = 8 };

/* [mapped RW][mapped, no access][reserved], all on device 0, and host memory with access for the device. */
static CUdeviceptr s_place(void)
{
    CUdeviceptr p = mapped_rw(1);
    map(p + G, G, make(G));
    cuMemsetD8(p, 0x11, G);
    cuMemsetD8(p + G / 2, 0x22, G / 2);
    cuCtxSynchronize();
    return p;
}

static void s_one(size_t i, char *id, int run)
{
    static const char *const names[S_PARTS] = {"htod_from_device",  "htod_from_no_access", "htod_from_reserved",
                                               "dtoh_to_device",    "dtoh_to_no_access",   "dtoh_to_reserved",
                                               "htod_onto_itself",  "dtoh_to_host_memory"};
    sprintf(id, "S.%s", names[i]);
    if (!run)
        return;
    CUdeviceptr p = s_place(), other[3] = {p + G / 2, p + G, p + 4 * G};
    void *host = (void *)(uintptr_t)(i < 6 ? other[i % 3] : p);
    CUresult r = CUDA_SUCCESS;
    if (i == 7) {
        CUmemAllocationProp prop = prop_at(L_HOST, 0);
        Handle h = 0;
        cuMemCreate(&h, G, &prop, 0);
        map(p + 8 * G, G, h);
        give(p + 8 * G, G, L_HOST, RW);
        host = (void *)(uintptr_t)(p + 8 * G);
    }
    if (i < 3 || i == 6)
        r = cuMemcpyHtoD(p, host, 64);
    else
        r = cuMemcpyDtoH(host, p, 64);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s first=%d second=%d", name_of(r), name_of(sync), byte_at(p), byte_at(p + G / 2));
}

static void s_start(void)
{
}

static void group_s(void)
{
    if (is_wanted("S.x"))
        run_cases(s_start, S_PARTS, s_one);
}
