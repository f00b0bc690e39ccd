/* SPDX-License-Identifier: Apache-2.0 */
/* Groups S and T: widths, pitches and heights. X and Y: heights beyond any memory; Y from host to host, which crashes. L: the
 * same in 5 GiB of memory. Part of ../copies.c, which includes it. */

static const struct way {
    const char *name;
    enum kind src, dst;
    enum declared as_src, as_dst;
} ways[] = {
    {"dd", MAPPED, MAPPED, D_DEVICE, D_DEVICE},  {"hd", MALLOC, MAPPED, D_HOST, D_DEVICE},
    {"dh", MAPPED, MALLOC, D_DEVICE, D_HOST},    {"uu", MAPPED, MAPPED, D_UNIFIED, D_UNIFIED},
    {"aa", ALLOC, ALLOC, D_DEVICE, D_DEVICE},    {"rd", REGISTERED, MAPPED, D_HOST, D_DEVICE},
    {"hh", MALLOC, MALLOC, D_HOST, D_HOST}};

enum { HOST_TO_HOST = COUNT(ways) - 1 };

static void along(CUDA_MEMCPY2D *c, const struct way *way)
{
    declare_from(c, &from[way->src], way->as_src);
    declare_to(c, &to[way->dst], way->as_dst);
}

static const u64 pitches[] = {0, 1, 63, 64, 65, 79, 80, 4096, (u64)G, ((u64)1 << 31) - 2, ((u64)1 << 31) - 1, (u64)1 << 31,
                              (u64)1 << 32, (u64)1 << 40, (u64)1 << 63, -(u64)64, -(u64)1};
static const u64 widths[] = {0, 1, 64};
static const u64 heights[] = {0, 1, 2, 3};

/* Varies the pitch of one side; the other's is valid. X is the offset in a row, for a few cases. */
static void shape_of(size_t i, char *id, int run, char letter, enum op op)
{
    u64 pitch = pitches[digit(&i, COUNT(pitches))], width = widths[digit(&i, COUNT(widths))];
    u64 height = heights[digit(&i, COUNT(heights))], x = width == 64 && height == 2 ? 16 : 0;
    size_t side = digit(&i, 2);
    const struct way *way = &ways[i];
    snprintf(id, CASE_ID, "%c.%s.%s.%spitch=%s.x=%s.%sx%s", letter, op_name[op], way->name, side ? "dst" : "src", num(pitch),
             num(x), num(width), num(height));
    if (!run)
        return;
    CUDA_MEMCPY2D c = {.srcPitch = side ? 4096 : pitch, .dstPitch = side ? pitch : 4096, .WidthInBytes = width,
                       .Height = height, .srcXInBytes = side ? 0 : x, .dstXInBytes = side ? x : 0};
    along(&c, way);
    ask_copy(id, op, &c, &from[way->src], &to[way->dst]);
}

static void shapes_now(size_t i, char *id, int run)
{
    shape_of(i, id, run, 'S', SYNC);
}

static void shapes_later(size_t i, char *id, int run)
{
    shape_of(i, id, run, 'T', ASYNC);
}

static void shapes_unaligned(size_t i, char *id, int run)
{
    shape_of(i, id, run, 'T', UNALIGNED);
}

enum { SHAPES = COUNT(pitches) * COUNT(widths) * COUNT(heights) * 2 };

static void group_s(void)
{
    generate("S", start_places, SHAPES * COUNT(ways), shapes_now);
}

static void group_t(void)
{
    generate("T", start_places, (size_t)SHAPES * 4, shapes_later);
    generate("T", start_places, SHAPES, shapes_unaligned);
}

/* ---- heights ---- */

static const u64 tall[] = {((u64)1 << 31) - 1, (u64)1 << 31, ((u64)1 << 32) + 1, (u64)1 << 40, (u64)1 << 58, (u64)1 << 63,
                           -(u64)1};
static const u64 tall_pitch[] = {0, 64, 4096, (u64)1 << 24, ((u64)1 << 31) - 1, (u64)1 << 63};

static void tall_of(char letter, const struct way *way, size_t i, char *id, int run)
{
    u64 pitch = tall_pitch[digit(&i, COUNT(tall_pitch))], width = widths[digit(&i, COUNT(widths))];
    u64 height = tall[digit(&i, COUNT(tall))];
    enum op op = i ? ASYNC : SYNC;
    snprintf(id, CASE_ID, "%c.%s.%s.pitch=%s.%sx%s", letter, op_name[op], way->name, num(pitch), num(width), num(height));
    if (!run)
        return;
    CUDA_MEMCPY2D c = {.srcPitch = pitch, .dstPitch = pitch, .WidthInBytes = width, .Height = height};
    along(&c, way);
    ask_copy(id, op, &c, &from[way->src], &to[way->dst]);
}

enum { TALL = COUNT(tall_pitch) * COUNT(widths) * COUNT(tall) };

static void tall_case(size_t i, char *id, int run)
{
    size_t way = digit(&i, HOST_TO_HOST);
    tall_of('X', &ways[way], i, id, run);
}

static void tall_host_case(size_t i, char *id, int run)
{
    tall_of('Y', &ways[HOST_TO_HOST], i, id, run);
}

static void group_x(void)
{
    generate("X", start_places, (size_t)TALL * 2 * HOST_TO_HOST, tall_case);
}

static void group_y(void)
{
    generate("Y", start_places, TALL, tall_host_case);
}

/* ---- rows that are far apart but still in memory ---- */

enum { WIDE = 5 }; /* GiB */
static CUdeviceptr wide;

static void start_wide(void)
{
    const size_t size = (size_t)WIDE << 30;
    start_places();
    wide = reserve(size);
    map(wide, size, make(size));
    give(wide, size, L_DEVICE, RW);
    cuMemsetD8(wide, BLANK, G);
}

static void wide_case(size_t i, char *id, int run)
{
    static const u64 far[] = {(u64)1 << 30, ((u64)1 << 31) - 4096, ((u64)1 << 31) - 64, ((u64)1 << 31) - 2,
                              ((u64)1 << 31) - 1, (u64)1 << 31, ((u64)1 << 31) + 1, (u64)1 << 32};
    static const char *const calls[] = {"to", "from", "unaligned_to", "unaligned_from", "async_to", "fill8", "fill16", "fill32"};
    u64 pitch = far[digit(&i, COUNT(far))], height = 1 + digit(&i, 2);
    snprintf(id, CASE_ID, "L.%s.pitch=%s.64x%s", calls[i], num(pitch), num(height));
    if (!run || !its_turn(id, false))
        return;
    CUDA_MEMCPY2D c = {.srcPitch = 4096, .dstPitch = pitch, .WidthInBytes = 64, .Height = height,
                       .srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = from[MAPPED].at, .dstDevice = wide};
    if (i == 1 || i == 3)
        c = (CUDA_MEMCPY2D){.srcPitch = pitch, .dstPitch = 4096, .WidthInBytes = 64, .Height = height,
                            .srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = wide, .dstDevice = to[MAPPED].at};
    CUresult r = i == 5 ? cuMemsetD2D8(wide, pitch, 1, 64, height) : i == 6 ? cuMemsetD2D16(wide, pitch, 1, 32, height)
               : i == 7 ? cuMemsetD2D32(wide, pitch, 1, 16, height)
               : i == 4 ? cuMemcpy2DAsync(&c, NULL) : i >= 2 ? cuMemcpy2DUnaligned(&c) : cuMemcpy2D(&c);
    say(id, "%s sync=%s", name_of(r), name_of(cuCtxSynchronize()));
}

static void group_l(void)
{
    generate("L", start_wide, (size_t)8 * 2 * 8, wide_case);
}
