/* SPDX-License-Identifier: Apache-2.0 */
/* Group H: a side that is declared as HOST and begins in memory of a pool, of which the box uses other bytes; and what is done with
 * memory of the host that the host itself may only read, or not use. Some of these end the process. Part of ../copies3d.c, which
 * includes it.
 *
 *     H.to.sync.y2.host          the destination's first row lies two rows of 1 MiB behind the base
 *     H.rights.r.d8.27           a fill of 27 elements; the host may read; what the device reads then */

enum { H_SIZE = 61 };

static const struct h_shape {
    const char *name;
    u64 base, x, y, pitch;
} h_shapes[] = {
    {"inside", 0, 0, 0, 0},         {"x_past", 0, H_SIZE + 3, 0, 0}, {"at_end", H_SIZE, 0, 0, 0},   {"at_end_x", H_SIZE, 2, 0, 0},
    {"in_last_unit", 0, 500, 0, 0}, {"past_unit", 0, 600, 0, 0},      {"y2", 4, 0, 2, 1048576},      {"end_past", 0, H_SIZE - 4, 0, 0},
    {"far", 0, (u64)40 << 20, 0, 0},
};
static const int h_types[] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_DEVICE};
static const char *const h_type_names[] = {"host", "unified", "device"};
enum { H_CALLS = CALLS3 + 1 };

static CUresult h_node(const CUDA_MEMCPY3D *c)
{
    CUgraph g = NULL;
    CUgraphNode n = NULL;
    cuGraphCreate(&g, 0);
    return cuGraphAddMemcpyNode(&n, g, NULL, 0, c, primary[0]);
}

static void h_side(CUDA_MEMCPY3D *c, const struct h_shape *shape, int type, bool to, CUdeviceptr p)
{
    static unsigned char host[4096];
    c->srcMemoryType = to ? CU_MEMORYTYPE_HOST : (CUmemorytype)type;
    c->dstMemoryType = to ? (CUmemorytype)type : CU_MEMORYTYPE_HOST;
    c->srcHost = to ? host : (void *)(uintptr_t)(p + shape->base);
    c->dstHost = to ? (void *)(uintptr_t)(p + shape->base) : host;
    c->srcDevice = c->dstDevice = p + shape->base;
    if (to)
        c->dstXInBytes = shape->x, c->dstY = shape->y, c->dstPitch = shape->pitch;
    else
        c->srcXInBytes = shape->x, c->srcY = shape->y, c->srcPitch = shape->pitch;
}

static void h_box(size_t i, char *id, int run)
{
    const bool to = i % 2;
    const size_t call = i / 2 % H_CALLS, type = i / 2 / H_CALLS % COUNT(h_types);
    const struct h_shape *shape = &h_shapes[i / 2 / H_CALLS / COUNT(h_types)];
    snprintf(id, CASE_ID, "H.%s.%s.%s.%s", to ? "to" : "from", call < CALLS3 ? call3_name[call] : "node", shape->name, h_type_names[type]);
    if (!run || (type && call != SYNC3 && call != PEERASYNC3)) /* the others are known, but of a pool */
        return;
    CUDA_MEMCPY3D c = {.WidthInBytes = 8, .Height = 1, .Depth = 1};
    CUdeviceptr p = 0;
    cuMemAllocAsync(&p, H_SIZE, NULL);
    cuStreamSynchronize(NULL);
    h_side(&c, shape, h_types[type], to, p);
    CUresult r = call < CALLS3 ? call_box((enum call3)call, &c) : h_node(&c);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s", name_of(r), name_of(sync));
    cuMemFreeAsync(p, NULL);
    cuStreamSynchronize(NULL);
}

/* ---- rights of the host to its own memory ---- */

static const char *const h_works[] = {"d8", "d16", "d32", "d8async", "d32async", "2d", "htod", "dtoh", "dtod", "htodasync", "write32"};
static const size_t h_counts[] = {1, 27, 4096, 300000};
static const int h_rights[] = {NONE, READ, RW};
static CUresult h_do(size_t work, size_t n, CUdeviceptr p, void *mine)
{
    switch (work) {
    case 0: return cuMemsetD8(p, 7, n);
    case 1: return cuMemsetD16(p, 0x707, n);
    case 2: return cuMemsetD32(p, 0x7070707, n);
    case 3: return cuMemsetD8Async(p, 7, n, NULL);
    case 4: return cuMemsetD32Async(p, 0x7070707, n, NULL);
    case 5: return cuMemsetD2D8(p, 4096, 7, n < 4096 ? n : 4096, 3);
    case 6: return cuMemcpyHtoD(p, mine, n);
    case 7: return cuMemcpyDtoH(mine, p, n);
    case 8: return cuMemcpyDtoD(p + G / 2, p, n);
    case 9: return cuMemcpyHtoDAsync(p, mine, n, NULL);
    default: return cuStreamWriteValue32(NULL, p, 0x7070707, 0);
    }
}

static void h_use(size_t i, char *id, int run)
{
    static const char *const names[] = {"none", "r", "rw"};
    const size_t n = h_counts[i % COUNT(h_counts)], work = i / COUNT(h_counts) % COUNT(h_works), right = i / COUNT(h_counts) / COUNT(h_works);
    snprintf(id, CASE_ID, "H.rights.%s.%s.%zu", names[right], h_works[work], n);
    if (!run)
        return;
    void *mine = calloc(1, G);
    Handle h = make_at(L_HOST, 2 * G);
    CUdeviceptr p = reserve(2 * G);
    memset(mine, 7, G);
    map(p, 2 * G, h);
    give(p, 2 * G, L_DEVICE, RW);
    if (h_rights[right])
        give(p, 2 * G, L_HOST, h_rights[right]);
    CUresult r = h_do(work, n, p + 8, mine), sync = cuCtxSynchronize();
    say(id, "%s sync=%s byte=%d", name_of(r), name_of(sync), byte_at(p + 8));
    cuMemUnmap(p, 2 * G);
    cuMemAddressFree(p, 2 * G);
    cuMemRelease(h);
    free(mine);
}

static void group_h(void)
{
    if (!is_wanted("H"))
        return;
    run_cases(init, COUNT(h_rights) * COUNT(h_works) * COUNT(h_counts), h_use);
    run_cases(init, COUNT(h_shapes) * COUNT(h_types) * H_CALLS * 2, h_box);
}
