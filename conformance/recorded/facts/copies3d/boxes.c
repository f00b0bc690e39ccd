/* SPDX-License-Identifier: Apache-2.0 */
/* One copy of a box, and its effect on the destination. Part of ../copies3d.c, which includes it. */

enum call3 { SYNC3, ASYNC3, PEER3, PEERASYNC3, CALLS3 };
static const char *const call3_name[CALLS3] = {"sync", "async", "peer", "peerasync"};

static CUDA_MEMCPY3D_PEER as_peer(const CUDA_MEMCPY3D *c)
{
    CUDA_MEMCPY3D_PEER p;
    _Static_assert(sizeof p == sizeof *c, "the same layout but for the contexts");
    memcpy(&p, c, sizeof p);
    p.srcContext = p.dstContext = primary[0];
    return p;
}

static CUresult call_box(enum call3 call, const CUDA_MEMCPY3D *c)
{
    if (call == SYNC3 || call == ASYNC3)
        return call == SYNC3 ? cuMemcpy3D(c) : cuMemcpy3DAsync(c, NULL);
    CUDA_MEMCPY3D_PEER p = as_peer(c);
    return call == PEER3 ? cuMemcpy3DPeer(&p) : cuMemcpy3DPeerAsync(&p, NULL);
}

static void box_from(CUDA_MEMCPY3D *c, const struct place *place, enum declared declared)
{
    c->srcMemoryType = (CUmemorytype)declared;
    if (declared == D_HOST)
        c->srcHost = (void *)(uintptr_t)place->at;
    else
        c->srcDevice = place->at;
}

static void box_to(CUDA_MEMCPY3D *c, const struct place *place, enum declared declared)
{
    c->dstMemoryType = (CUmemorytype)declared;
    if (declared == D_HOST)
        c->dstHost = (void *)(uintptr_t)place->at;
    else
        c->dstDevice = place->at;
}

/* The row's start in its place; false when outside. */
static bool box_row(u64 base, u64 x, u64 y, u64 z, u64 pitch, u64 height, u64 width, u64 row, u64 layer, u64 *start)
{
    u64 line, layers;
    if (__builtin_add_overflow(z, layer, &layers) || __builtin_mul_overflow(layers, height, &layers) ||
        __builtin_add_overflow(y, row, &line) || __builtin_add_overflow(line, layers, &line) ||
        __builtin_mul_overflow(line, pitch, &line) || __builtin_add_overflow(line, x, &line) ||
        __builtin_add_overflow(line, base, start))
        return false;
    return *start < G && width <= G - *start;
}

static bool expect_box(const CUDA_MEMCPY3D *c, u64 src, u64 dst)
{
    expect_nothing();
    if (c->Height > 4096 || c->Depth > 4096 || c->WidthInBytes > G)
        return false;
    for (u64 k = 0; k < c->Depth; k++)
        for (u64 i = 0; i < c->Height; i++) {
            u64 s, d;
            if (!box_row(src, c->srcXInBytes, c->srcY, c->srcZ, c->srcPitch, c->srcHeight, c->WidthInBytes, i, k, &s) ||
                !box_row(dst, c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch, c->dstHeight, c->WidthInBytes, i, k, &d))
                return false;
            memcpy(expected + d, pattern + s, c->WidthInBytes);
            expect_until(d + c->WidthInBytes);
        }
    return true;
}

/* Would the box leave its place, at its corners, if the call were to accept it? With a pitch or height of 0 taken as the tight one. */
static bool box_leaves(u64 base, u64 x, u64 y, u64 z, u64 pitch, u64 height, const CUDA_MEMCPY3D *c)
{
    u64 start;
    if (!c->WidthInBytes || !c->Height || !c->Depth)
        return false;
    pitch = pitch ? pitch : x + c->WidthInBytes;
    height = height ? height : y + c->Height;
    return !box_row(base, x, y, z, pitch, height, c->WidthInBytes, 0, 0, &start) ||
           !box_row(base, x, y, z, pitch, height, c->WidthInBytes, c->Height - 1, c->Depth - 1, &start);
}

/* Cases that leave their places may lose a context or crash, which is expensive: they are group Z, and few. */
static bool box_turn(const char *id, bool faulty, unsigned one_of)
{
    unsigned hash = 2166136261u;
    for (const char *c = id; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return faulty == faulty_phase && (!faulty || (hash >> 8) % one_of == 0);
}

static void make_box(const char *id, enum call3 call, const CUDA_MEMCPY3D *c, struct place *src, struct place *dst)
{
    u64 s = c->srcMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->srcHost : c->srcDevice;
    u64 d = c->dstMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->dstHost : c->dstDevice;
    use(src);
    use(dst);
    bool right = expect_box(c, s - src->at, d - dst->at);
    CUresult r = call_box(call, c);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s wrote=%s", name_of(r), name_of(sync), wrote(dst, right));
}

/* What the observed refusals of rows say of a box too: its width beyond the pitch, its rows beyond the height of a layer. */
static bool certainly_refused(const CUDA_MEMCPY3D *c)
{
    return (c->srcPitch && c->WidthInBytes > c->srcPitch) || (c->dstPitch && c->WidthInBytes > c->dstPitch);
}

static void ask_box(const char *id, enum call3 call, const CUDA_MEMCPY3D *c, struct place *src, struct place *dst)
{
    u64 s = c->srcMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->srcHost : c->srcDevice;
    u64 d = c->dstMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->dstHost : c->dstDevice;
    bool from_out = box_leaves(s - src->at, c->srcXInBytes, c->srcY, c->srcZ, c->srcPitch, c->srcHeight, c);
    bool to_out = box_leaves(d - dst->at, c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch, c->dstHeight, c);
    bool faulty = (from_out || to_out) && !certainly_refused(c);
    bool host = (from_out && src->host) || (to_out && dst->host);
    if (box_turn(id, faulty, host ? 128 : 48))
        make_box(id, call, c, src, dst);
}

static const struct way3 {
    const char *name;
    enum kind src, dst;
    enum declared as_src, as_dst;
} ways[] = {
    {"dd", MAPPED, MAPPED, D_DEVICE, D_DEVICE},  {"hd", MALLOC, MAPPED, D_HOST, D_DEVICE},
    {"dh", MAPPED, MALLOC, D_DEVICE, D_HOST},    {"uu", MAPPED, MAPPED, D_UNIFIED, D_UNIFIED},
    {"aa", ALLOC, ALLOC, D_DEVICE, D_DEVICE},    {"hh", MALLOC, MALLOC, D_HOST, D_HOST}};

static void along(CUDA_MEMCPY3D *c, const struct way3 *way)
{
    box_from(c, &from[way->src], way->as_src);
    box_to(c, &to[way->dst], way->as_dst);
}

/* 64 x 3 x 2 bytes in layers of 4 rows of 256 and 512. */
static CUDA_MEMCPY3D plain_box(void)
{
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.srcPitch = 256, c.srcHeight = 4, c.dstPitch = 512, c.dstHeight = 5;
    c.WidthInBytes = 64, c.Height = 3, c.Depth = 2;
    return c;
}

static CUDA_MEMCPY3D good_box(void)
{
    CUDA_MEMCPY3D c = plain_box();
    along(&c, &ways[0]);
    return c;
}
