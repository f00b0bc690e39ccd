/* SPDX-License-Identifier: Apache-2.0 */
/* Durations of calls: medians of 500. Recorded only when named, because no two runs agree. Part of ../first.c. */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int cd(const void *a, const void *b)
{
    double x = *(double *)a - *(double *)b;
    return x < 0 ? -1 : x > 0;
}

#define N 500

static double L[8][N];

static void lat(size_t sz, const char *tag)
{
    CUmemAllocationProp p = on_device(0);
    CUmemAccessDesc a = rights(0, 3);
    u64 fl;
    for (int i = 0; i < N; i++) {
        double t = now();
        CUdeviceptr d;
        cuMemAddressReserve(&d, sz, 0, 0, 0);
        double t1 = now();
        L[0][i] = t1 - t;
        Handle h;
        cuMemCreate(&h, sz, &p, 0);
        t = now();
        L[1][i] = t - t1;
        cuMemMap(d, sz, 0, h, 0);
        t1 = now();
        L[2][i] = t1 - t;
        cuMemSetAccess(d, sz, &a, 1);
        t = now();
        L[3][i] = t - t1;
        cuMemGetAccess(&fl, &a.location, d);
        t1 = now();
        L[4][i] = t1 - t;
        cuMemUnmap(d, sz);
        t = now();
        L[5][i] = t - t1;
        cuMemRelease(h);
        t1 = now();
        L[6][i] = t1 - t;
        cuMemAddressFree(d, sz);
        t = now();
        L[7][i] = t - t1;
    }
    const char *n[8] = {"reserve", "create", "map", "setaccess", "getaccess", "unmap", "release", "free"};
    printf("lat.%s\t", tag);
    for (int k = 0; k < 8; k++) {
        qsort(L[k], N, sizeof(double), cd);
        printf("%s=%.2fus ", n[k], L[k][N / 2]);
    }
    printf("\n");
}

static void t_lat(void)
{
    begin();
    lat(G, "2M");
    lat(64 * G, "128M");
    /* scale: map count growth */
    CUmemAllocationProp p = on_device(0);
    CUmemAccessDesc a = rights(0, 3);
    CUdeviceptr d;
    int K = 8192;
    cuMemAddressReserve(&d, (size_t)K * G, 0, 0, 0);
    Handle h = make(G);
    double t = now();
    int i;
    for (i = 0; i < K; i++)
        if (cuMemMap(d + (size_t)i * G, G, 0, h, 0))
            break;
    double t1 = now();
    V("lat.map_8192_alias_each_us", "%.2f n=%d", (t1 - t) / i, i);
    t = now();
    for (int k = 0; k < i; k++)
        cuMemSetAccess(d + (size_t)k * G, G, &a, 1);
    t1 = now();
    V("lat.setaccess_8192_us", "%.2f", (t1 - t) / i);
    t = now();
    cuMemUnmap(d, (size_t)i * G);
    t1 = now();
    V("lat.unmap_all_us", "%.2f each", (t1 - t) / i);
    (void)p;
}
