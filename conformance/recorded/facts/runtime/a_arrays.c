/* SPDX-License-Identifier: Apache-2.0 */
/* Group A: arrays. Part of ../runtime.c, which includes it.
 *
 *     A.desc.2.32.32.0.0 <TAB> Success 32.32.0.0.2       an array of that descriptor (kind, sizes), and what it is said to have
 *     A.rows.to.1.host <TAB> Success 0 100 101 116       cudaMemcpy2DToArray with kind 1 from the host, and some bytes of the array
 *
 * Not asked is what a driver was seen to crash of or not to come back from: arrays that ended, copies between contexts, and copies of
 * arrays without memory.
 */

static const struct cudaChannelFormatDesc a_byte = {.x = 8, .f = cudaChannelFormatKindUnsigned};
static const struct cudaChannelFormatDesc a_pair = {.x = 32, .y = 32, .f = cudaChannelFormatKindUnsigned};
static unsigned char a_host[1024];

static struct cudaExtent a_extent(size_t width, size_t height, size_t depth)
{
    return (struct cudaExtent){.width = width, .height = height, .depth = depth};
}

static cudaArray_t a_new(struct cudaChannelFormatDesc desc, struct cudaExtent extent, unsigned flags)
{
    cudaArray_t array = NULL;
    need(cudaMalloc3DArray(&array, &desc, extent, flags));
    return array;
}

/* ---- descriptors ---- */

/* What an array is said to have; it ends. */
static const char *a_desc_text(cudaArray_t array)
{
    static char text[64];
    struct cudaChannelFormatDesc read = {.x = -1};
    if (!array)
        return "none";
    need(cudaGetChannelDesc(&read, array));
    need(cudaFreeArray(array));
    snprintf(text, sizeof text, "%d.%d.%d.%d.%d", read.x, read.y, read.z, read.w, (int)read.f);
    return text;
}

static void a_desc_of(struct cudaChannelFormatDesc desc)
{
    cudaArray_t array = NULL;
    AV(with("A.desc.%d.%d.%d.%d.%d", (int)desc.f, desc.x, desc.y, desc.z, desc.w), cudaMallocArray(&array, &desc, 64, 32, 0), "%s",
       a_desc_text(array));
}

static void a_descriptors(void)
{
    static const int bits[][4] = {{0, 0, 0, 0},     {8, 0, 0, 0},     {8, 8, 0, 0},     {8, 8, 8, 0},     {8, 8, 8, 8},
                                  {16, 0, 0, 0},    {16, 16, 0, 0},   {16, 16, 16, 0},  {16, 16, 16, 16}, {32, 0, 0, 0},
                                  {32, 32, 0, 0},   {32, 32, 32, 0},  {32, 32, 32, 32}, {10, 10, 10, 2},  {64, 0, 0, 0},
                                  {4, 0, 0, 0},     {24, 0, 0, 0},    {8, 16, 0, 0},    {8, 0, 8, 0},     {0, 8, 0, 0},
                                  {-8, 0, 0, 0},    {8, 8, 0, 8}};
    for (int kind = -1; kind <= 32; kind++)
        for (size_t i = 0; i < COUNT(bits); i++)
            a_desc_of((struct cudaChannelFormatDesc){.x = bits[i][0], .y = bits[i][1], .z = bits[i][2], .w = bits[i][3],
                                                     .f = (enum cudaChannelFormatKind)kind});
}

/* ---- creation ---- */

#define A_MADE(id, call)                                                                           \
    do {                                                                                           \
        array = (cudaArray_t)0x77;                                                                 \
        AV(id, call, "array=%s", !array ? "0" : array == (cudaArray_t)0x77 ? "unchanged" : "new"); \
    } while (0)

static void a_malloc(void)
{
    static const struct cudaExtent sizes[] = {
        {.width = 0, .height = 0, .depth = 0}, {.width = 64, .height = 0, .depth = 0},  {.width = 0, .height = 32, .depth = 0},
        {.width = 8, .height = 8, .depth = 6}, {.width = 8, .height = 0, .depth = 6},   {.width = 1 << 17, .height = 1, .depth = 0},
        {.width = (1 << 17) + 1, .height = 1, .depth = 0}, {.width = SIZE_MAX, .height = 1, .depth = 0}};
    cudaArray_t array;
    A_MADE("A.malloc(Success)", cudaMallocArray(&array, &a_byte, 64, 32, 0));
    A("A.malloc.null(InvalidValue)", cudaMallocArray(NULL, &a_byte, 64, 32, 0));
    A_MADE("A.malloc.no_desc(InvalidValue)", cudaMallocArray(&array, NULL, 64, 32, 0));
    A("A.malloc.nothing", cudaMallocArray(NULL, NULL, 0, 0, 0));
    for (unsigned bit = 0; bit < 32; bit++) {
        A_MADE(with("A.malloc.flag.%u", bit), cudaMallocArray(&array, &a_byte, 64, 32, 1u << bit));
        A_MADE(with("A.malloc3d.flag.%u", bit), cudaMalloc3DArray(&array, &a_byte, a_extent(8, 8, 6), 1u << bit));
    }
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (unsigned flags = 0; flags < 2; flags++)
            A_MADE(with("A.malloc3d.%zx.%zx.%zx.%u", sizes[i].width, sizes[i].height, sizes[i].depth, flags),
                   cudaMalloc3DArray(&array, &a_byte, sizes[i], flags));
    A("A.free.nothing(Success)", cudaFreeArray(NULL));
    A("A.free_levels.nothing(Success)", cudaFreeMipmappedArray(NULL));
    array = a_new(a_byte, a_extent(64, 32, 0), 0);
    A("A.free(Success)", cudaFreeArray(array));
}

static void a_info(void)
{
    static const unsigned kinds[] = {0, cudaArrayLayered, cudaArrayCubemap, cudaArraySurfaceLoadStore};
    struct cudaChannelFormatDesc desc;
    struct cudaArrayMemoryRequirements needs = {.size = 0};
    struct cudaArraySparseProperties tiles = {.flags = 77};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        cudaArray_t array = a_new(a_pair, a_extent(8, 8, 6), kinds[i]), plane = (cudaArray_t)0x77;
        struct cudaExtent extent = {.width = 77};
        unsigned flags = 77;
        AV(with("A.info.%u(Success)", kinds[i]), cudaArrayGetInfo(&desc, &extent, &flags, array), "%zu %zu %zu flags=%x", extent.width,
           extent.height, extent.depth, flags);
        A(with("A.info.%u.nothing(Success)", kinds[i]), cudaArrayGetInfo(NULL, NULL, NULL, array));
        A(with("A.desc_of.%u.null(InvalidValue)", kinds[i]), cudaGetChannelDesc(NULL, array));
        A(with("A.plane.%u", kinds[i]), cudaArrayGetPlane(&plane, array, 0));
        A(with("A.tiles.%u", kinds[i]), cudaArrayGetSparseProperties(&tiles, array));
        A(with("A.needs.%u", kinds[i]), cudaArrayGetMemoryRequirements(&needs, array, 0));
        A(with("A.needs.%u.null(InvalidValue)", kinds[i]), cudaArrayGetMemoryRequirements(NULL, array, 0));
    }
    A("A.info.null", cudaArrayGetInfo(&desc, NULL, NULL, NULL));
    A("A.desc_of.null", cudaGetChannelDesc(&desc, NULL));
    cudaArray_t sparse = a_new(a_pair, a_extent(1024, 1024, 0), cudaArraySparse);
    AV("A.tiles.sparse(Success)", cudaArrayGetSparseProperties(&tiles, sparse), "%u %u %u first=%u tail=%llu flags=%u", tiles.tileExtent.width,
       tiles.tileExtent.height, tiles.tileExtent.depth, tiles.miptailFirstLevel, tiles.miptailSize, tiles.flags);
}

static void a_levels(void)
{
    cudaMipmappedArray_t levels = NULL;
    struct cudaExtent extent = {.width = 77};
    AV("A.levels(Success)", cudaMallocMipmappedArray(&levels, &a_pair, a_extent(64, 32, 0), 3, 0), "levels=%d", levels != NULL);
    for (unsigned i = 0; i < 4; i++) {
        cudaArray_t level = NULL;
        AV(with("A.level.%u", i), cudaGetMipmappedArrayLevel(&level, levels, i), "level=%d", level != NULL);
        if (level)
            AV(with("A.level.%u.info(Success)", i), cudaArrayGetInfo(NULL, &extent, NULL, level), "%zu %zu %zu", extent.width, extent.height,
               extent.depth);
    }
    A("A.level.null(InvalidValue)", cudaGetMipmappedArrayLevel(NULL, levels, 0));
    A("A.levels.free(Success)", cudaFreeMipmappedArray(levels));
    A("A.levels.null(InvalidValue)", cudaMallocMipmappedArray(NULL, &a_pair, a_extent(64, 32, 0), 3, 0));
    A("A.levels.no_desc(InvalidValue)", cudaMallocMipmappedArray(&levels, NULL, a_extent(64, 32, 0), 3, 0));
    for (unsigned i = 0; i < 10; i++) {
        levels = NULL;
        AV(with("A.levels.%u", i), cudaMallocMipmappedArray(&levels, &a_pair, a_extent(64, 32, 0), i, 0), "levels=%d", levels != NULL);
    }
}

/* ---- copies of rows and bytes ---- */

enum { A_ROW = 8, A_ROWS = 4 };

/* The array's bytes 0, 1, 2, ... */
static cudaArray_t a_counted(void)
{
    cudaArray_t array = a_new(a_byte, a_extent(A_ROW, A_ROWS, 0), 0);
    unsigned char bytes[A_ROW * A_ROWS];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    need(cudaMemcpy2DToArray(array, 0, 0, bytes, A_ROW, A_ROW, A_ROWS, cudaMemcpyHostToDevice));
    return array;
}

/* Some of its bytes; it ends. */
static const char *a_text(cudaArray_t array)
{
    static char text[64];
    unsigned char all[A_ROW * A_ROWS];
    need(cudaMemcpy2DFromArray(all, A_ROW, array, 0, 0, A_ROW, A_ROWS, cudaMemcpyDeviceToHost));
    need(cudaFreeArray(array));
    snprintf(text, sizeof text, "%d %d %d %d", all[0], all[8], all[9], all[16]);
    return text;
}

static unsigned char *a_device(void)
{
    unsigned char *p = NULL;
    need(cudaMalloc((void **)&p, sizeof a_host));
    for (unsigned i = 0; i < sizeof a_host; i++)
        a_host[i] = (unsigned char)(100 + i);
    need(cudaMemcpy(p, a_host, sizeof a_host, cudaMemcpyHostToDevice));
    return p;
}

#define A_ARRIVES(id, call)                  \
    do {                                     \
        cudaArray_t array = a_counted();     \
        AV(id, call, "%s", a_text(array));   \
    } while (0)

static void a_kinds(void)
{
    unsigned char *device = a_device();
    for (int kind = -1; kind <= 5; kind++) {
        const enum cudaMemcpyKind way = (enum cudaMemcpyKind)kind;
        A_ARRIVES(with("A.rows.to.%d.host", kind), cudaMemcpy2DToArray(array, 0, 1, a_host, 16, 4, 2, way));
        A_ARRIVES(with("A.rows.to.%d.device", kind), cudaMemcpy2DToArray(array, 0, 1, device, 16, 4, 2, way));
        A_ARRIVES(with("A.rows.between.%d", kind), cudaMemcpy2DArrayToArray(array, 0, 1, array, 4, 3, 2, 1, way));
        A_ARRIVES(with("A.bytes.to.%d.host", kind), cudaMemcpyToArray(array, 1, 1, a_host, 10, way));
        A_ARRIVES(with("A.bytes.to.%d.device", kind), cudaMemcpyToArray(array, 1, 1, device, 10, way));
        A_ARRIVES(with("A.bytes.between.%d", kind), cudaMemcpyArrayToArray(array, 1, 1, array, 4, 3, 3, way));
    }
}

static void a_kinds_back(void)
{
    unsigned char *device = a_device(), back[16];
    cudaArray_t array = a_counted();
    for (int kind = -1; kind <= 5; kind++) {
        const enum cudaMemcpyKind way = (enum cudaMemcpyKind)kind;
        memset(back, 99, sizeof back);
        AV(with("A.rows.from.%d.host", kind), cudaMemcpy2DFromArray(back, 4, array, 1, 1, 3, 2, way), "%d %d %d", back[0], back[3], back[4]);
        A(with("A.rows.from.%d.device", kind), cudaMemcpy2DFromArray(device, 4, array, 1, 1, 3, 2, way));
        memset(back, 99, sizeof back);
        AV(with("A.bytes.from.%d.host", kind), cudaMemcpyFromArray(back, array, 5, 1, 10, way), "%d %d %d %d", back[0], back[3], back[9], back[10]);
        A(with("A.bytes.from.%d.device", kind), cudaMemcpyFromArray(device, array, 5, 1, 10, way));
    }
}

static void a_wrong(void)
{
    cudaArray_t array = a_counted();
    unsigned char back[64];
    A("A.rows.nothing.width(Success)", cudaMemcpy2DToArray(array, 0, 0, NULL, 0, 0, 4, cudaMemcpyHostToDevice));
    A("A.rows.nothing.height(Success)", cudaMemcpy2DToArray(array, 0, 0, NULL, 0, 4, 0, cudaMemcpyHostToDevice));
    A("A.rows.nothing.kind", cudaMemcpy2DToArray(array, 0, 0, NULL, 0, 0, 0, (enum cudaMemcpyKind)9));
    A("A.rows.nothing.array", cudaMemcpy2DToArray(NULL, 0, 0, NULL, 0, 0, 0, cudaMemcpyHostToDevice));
    A("A.rows.pitch(InvalidPitchValue)", cudaMemcpy2DToArray(array, 0, 0, a_host, 3, 4, 2, cudaMemcpyHostToDevice));
    A("A.rows.pitch.one", cudaMemcpy2DToArray(array, 0, 0, a_host, 3, 4, 1, cudaMemcpyHostToDevice));
    A("A.rows.pitch.kind", cudaMemcpy2DToArray(array, 0, 0, a_host, 3, 4, 2, cudaMemcpyDeviceToHost));
    A("A.rows.from.pitch(InvalidPitchValue)", cudaMemcpy2DFromArray(back, 3, array, 0, 0, 4, 2, cudaMemcpyDeviceToHost));
    A("A.rows.past.x(InvalidValue)", cudaMemcpy2DToArray(array, 1, 0, a_host, 8, 8, 1, cudaMemcpyHostToDevice));
    A("A.rows.past.y(InvalidValue)", cudaMemcpy2DToArray(array, 0, 3, a_host, 8, 8, 2, cudaMemcpyHostToDevice));
    A("A.rows.no_source(InvalidValue)", cudaMemcpy2DToArray(array, 0, 0, NULL, 8, 8, 2, cudaMemcpyHostToDevice));
    A("A.rows.no_array", cudaMemcpy2DToArray(NULL, 0, 0, a_host, 8, 8, 2, cudaMemcpyHostToDevice));
    A("A.bytes.nothing(Success)", cudaMemcpyToArray(array, 0, 0, NULL, 0, cudaMemcpyHostToDevice));
    A("A.bytes.nothing.kind", cudaMemcpyToArray(array, 0, 0, NULL, 0, (enum cudaMemcpyKind)9));
    A("A.bytes.all(Success)", cudaMemcpyToArray(array, 0, 0, a_host, 32, cudaMemcpyHostToDevice));
    A("A.bytes.past(InvalidValue)", cudaMemcpyToArray(array, 0, 0, a_host, 33, cudaMemcpyHostToDevice));
    A("A.bytes.past.x", cudaMemcpyToArray(array, 8, 0, a_host, 1, cudaMemcpyHostToDevice));
    A("A.bytes.past.y(InvalidValue)", cudaMemcpyToArray(array, 0, 4, a_host, 1, cudaMemcpyHostToDevice));
    A("A.bytes.past.last(InvalidValue)", cudaMemcpyToArray(array, 1, 0, a_host, 32, cudaMemcpyHostToDevice));
    A("A.bytes.from.past(InvalidValue)", cudaMemcpyFromArray(back, array, 0, 3, 9, cudaMemcpyDeviceToHost));
    A("A.bytes.no_array", cudaMemcpyToArray(NULL, 0, 0, a_host, 1, cudaMemcpyHostToDevice));
}

/* What is wrong first, of two things. */
static void a_wrong_first(void)
{
    static const struct cudaChannelFormatDesc none = {.x = 24, .f = cudaChannelFormatKindUnsigned};
    unsigned char back[64];
    cudaArray_t array = a_counted();
    cudaMipmappedArray_t levels;
    const enum cudaMemcpyKind no_kind = (enum cudaMemcpyKind)9;
    A("A.first.rows.to.no_array.pitch", cudaMemcpy2DToArray(NULL, 0, 0, a_host, 3, 4, 2, cudaMemcpyHostToDevice));
    A("A.first.rows.to.no_array.kind", cudaMemcpy2DToArray(NULL, 0, 0, a_host, 8, 8, 2, no_kind));
    A("A.first.rows.to.no_array.back", cudaMemcpy2DToArray(NULL, 0, 0, a_host, 8, 8, 2, cudaMemcpyDeviceToHost));
    A("A.first.rows.from.no_array", cudaMemcpy2DFromArray(back, 8, NULL, 0, 0, 8, 2, cudaMemcpyDeviceToHost));
    A("A.first.rows.between.no_to", cudaMemcpy2DArrayToArray(NULL, 0, 0, array, 0, 0, 8, 2, cudaMemcpyDeviceToDevice));
    A("A.first.rows.between.no_from", cudaMemcpy2DArrayToArray(array, 0, 0, NULL, 0, 0, 8, 2, cudaMemcpyDeviceToDevice));
    A("A.first.rows.between.no_from.kind", cudaMemcpy2DArrayToArray(array, 0, 0, NULL, 0, 0, 8, 2, no_kind));
    A("A.first.bytes.to.no_array.kind", cudaMemcpyToArray(NULL, 0, 0, a_host, 1, no_kind));
    A("A.first.bytes.to.no_array.back", cudaMemcpyToArray(NULL, 0, 0, a_host, 1, cudaMemcpyDeviceToHost));
    A("A.first.bytes.to.past.kind", cudaMemcpyToArray(array, 0, 0, a_host, 33, no_kind));
    A("A.first.bytes.from.past.kind", cudaMemcpyFromArray(back, array, 0, 3, 9, no_kind));
    A("A.first.bytes.between.no_from.kind", cudaMemcpyArrayToArray(array, 0, 0, NULL, 0, 0, 1, no_kind));
    A("A.first.layers.no_array.kind", cudaMemcpy3D(&(struct cudaMemcpy3DParms){.dstArray = array, .extent = {1, 1, 1}, .kind = no_kind}));
    A_ARRIVES("A.bytes.past.x.place", cudaMemcpyToArray(array, 9, 0, a_host, 1, cudaMemcpyHostToDevice));
    A_ARRIVES("A.bytes.past.x.rows", cudaMemcpyToArray(array, 16, 0, a_host, 1, cudaMemcpyHostToDevice));
    array = NULL;
    A_MADE("A.malloc.bad_desc", cudaMallocArray(&array, &none, 64, 32, 0));
    levels = (cudaMipmappedArray_t)0x77;
    AV("A.levels.refused", cudaMallocMipmappedArray(&levels, &a_pair, a_extent(SIZE_MAX, 1, 0), 1, 0), "levels=%d",
       levels == (cudaMipmappedArray_t)0x77 ? 77 : levels != NULL);
    levels = (cudaMipmappedArray_t)0x77;
    AV("A.levels.bad_desc", cudaMallocMipmappedArray(&levels, &none, a_extent(64, 32, 0), 1, 0), "levels=%d",
       levels == (cudaMipmappedArray_t)0x77 ? 77 : levels != NULL);
}

/* Where a box's bytes lie in the memory beside an array of 8-byte elements. */
static void a_places(void)
{
    cudaArray_t array = a_new(a_pair, a_extent(4, 4, 2), 0);
    unsigned char bytes[128], back[128];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    for (unsigned x = 0; x < 4; x++)
        for (unsigned y = 0; y < 2; y++) {
            struct cudaMemcpy3DParms p = {.srcPtr = {.ptr = bytes, .pitch = 32, .xsize = 32, .ysize = 2}, .srcPos = {.x = x, .y = y}, .dstArray = array,
                                          .extent = {.width = 1, .height = 1, .depth = 1}, .kind = cudaMemcpyHostToDevice};
            unsigned char first[8] = {0};
            memset(back, 99, sizeof back);
            cudaError_t result = cudaMemcpy3D(&p);
            need(cudaMemcpy2DFromArray(first, 8, array, 0, 0, 8, 1, cudaMemcpyDeviceToHost));
            AV(with("A.place.to.%u.%u", x, y), result, "%u", first[0]);
            p = (struct cudaMemcpy3DParms){.srcArray = array, .dstPtr = {.ptr = back, .pitch = 32, .xsize = 32, .ysize = 2}, .dstPos = {.x = x, .y = y},
                                           .extent = {.width = 1, .height = 1, .depth = 1}, .kind = cudaMemcpyDeviceToHost};
            result = cudaMemcpy3D(&p);
            unsigned at = 0;
            while (at < sizeof back && back[at] == 99)
                at++;
            AV(with("A.place.from.%u.%u", x, y), result, "%u", at);
        }
}

/* ---- layers ---- */

static void a_layers(void)
{
    cudaArray_t array = a_new(a_pair, a_extent(4, 4, 2), 0), same = a_new(a_pair, a_extent(4, 4, 2), 0), bytes = a_counted();
    unsigned char *device = a_device(), back[64];
    const struct cudaMemcpy3DParms to = {.srcPtr = {.ptr = a_host, .pitch = 16, .ysize = 2}, .dstArray = array, .dstPos = {.x = 1, .y = 2},
                                         .extent = {.width = 2, .height = 2, .depth = 2}};
    const struct cudaMemcpy3DParms from = {.srcArray = array, .srcPos = {.x = 1, .y = 2}, .dstPtr = {.ptr = back, .pitch = 32, .ysize = 1},
                                           .dstPos = {.x = 3}, .extent = {.width = 1, .height = 1, .depth = 1}};
    for (int kind = -1; kind <= 5; kind++) {
        struct cudaMemcpy3DParms p = to;
        p.kind = (enum cudaMemcpyKind)kind;
        A(with("A.layers.to.%d.host", kind), cudaMemcpy3D(&p));
        p.srcPtr.ptr = device;
        A(with("A.layers.to.%d.device", kind), cudaMemcpy3D(&p));
        p = from;
        p.kind = (enum cudaMemcpyKind)kind;
        memset(back, 99, sizeof back);
        AV(with("A.layers.from.%d.host", kind), cudaMemcpy3D(&p), "%d %d %d %d", back[2], back[3], back[10], back[11]);
        p = (struct cudaMemcpy3DParms){.srcArray = array, .dstArray = same, .extent = {.width = 4, .height = 4, .depth = 2}, .kind = (enum cudaMemcpyKind)kind};
        A(with("A.layers.between.%d", kind), cudaMemcpy3D(&p));
        p.dstArray = bytes;
        p.extent = a_extent(1, 1, 1);
        A(with("A.layers.other_size.%d", kind), cudaMemcpy3D(&p));
    }
    struct cudaMemcpy3DParms p = to;
    p.kind = cudaMemcpyHostToDevice;
    p.srcPtr.pitch = 15;
    A("A.layers.pitch", cudaMemcpy3D(&p));
    p.srcPtr.pitch = 16;
    p.srcPtr.ysize = 1;
    A("A.layers.ysize", cudaMemcpy3D(&p));
    p.srcPtr.ysize = 2;
    p.dstPtr.ptr = device;
    A("A.layers.both(InvalidValue)", cudaMemcpy3D(&p));
    p.dstPtr.ptr = NULL;
    p.dstPos.x = 3;
    A("A.layers.past(InvalidValue)", cudaMemcpy3D(&p));
    p.dstPos.x = SIZE_MAX / 8 + 1;
    A("A.layers.wraps", cudaMemcpy3D(&p));
    p.extent.depth = 0;
    A("A.layers.nothing", cudaMemcpy3D(&p));
}

/* Blocks of 4 x 4 elements, 8 bytes each. */
static void a_blocks(void)
{
    const struct cudaChannelFormatDesc desc = {8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed1};
    static const size_t widths[] = {1, 2, 4, 5, 8, 16, 32}, heights[] = {1, 2, 4, 8};
    cudaArray_t array = a_new(desc, a_extent(16, 8, 0), 0);
    for (size_t w = 0; w < COUNT(widths); w++)
        for (size_t h = 0; h < COUNT(heights); h++) {
            struct cudaMemcpy3DParms p = {.srcPtr = {.ptr = a_host, .pitch = 64, .ysize = 8}, .dstArray = array,
                                          .extent = {.width = widths[w], .height = heights[h], .depth = 1}, .kind = cudaMemcpyHostToDevice};
            A(with("A.blocks.%zu.%zu", widths[w], heights[h]), cudaMemcpy3D(&p));
            A(with("A.blocks.rows.%zu.%zu", widths[w], heights[h]),
              cudaMemcpy2DToArray(array, 0, 0, a_host, 64, widths[w], heights[h], cudaMemcpyHostToDevice));
        }
}

static void a_nodes(void)
{
    cudaArray_t array = a_new(a_pair, a_extent(4, 4, 2), 0), same = a_new(a_pair, a_extent(4, 4, 2), 0);
    struct cudaMemcpy3DParms p = {.srcPtr = {.ptr = a_host, .pitch = 16, .ysize = 2}, .dstArray = array, .dstPos = {.x = 1, .y = 2},
                                  .extent = {.width = 2, .height = 2, .depth = 2}, .kind = cudaMemcpyHostToDevice}, read = {.kind = cudaMemcpyDefault};
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    need(cudaGraphCreate(&graph, 0));
    A("A.node.add(Success)", cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
    AV("A.node.get(Success)", cudaGraphMemcpyNodeGetParams(node, &read), "to=%d,%zu,%zu,%zu extent=%zu,%zu,%zu kind=%d pointers=%d,%d",
       read.dstArray == array, read.dstPos.x, read.dstPos.y, read.dstPos.z, read.extent.width, read.extent.height, read.extent.depth, (int)read.kind,
       read.srcPtr.ptr == a_host, read.dstPtr.ptr != NULL);
    p = (struct cudaMemcpy3DParms){.srcArray = array, .srcPos = {.x = 1}, .dstArray = same, .extent = {.width = 2, .height = 2, .depth = 2},
                                   .kind = cudaMemcpyDefault};
    A("A.node.between.add(Success)", cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
    AV("A.node.between.get(Success)", cudaGraphMemcpyNodeGetParams(node, &read), "from=%d,%zu extent=%zu,%zu,%zu kind=%d", read.srcArray == array,
       read.srcPos.x, read.extent.width, read.extent.height, read.extent.depth, (int)read.kind);
    p = (struct cudaMemcpy3DParms){.srcPtr = {.ptr = a_host, .pitch = 32, .xsize = 32, .ysize = 2}, .srcPos = {.x = 1, .y = 1}, .dstArray = array,
                                   .extent = {.width = 2, .height = 1, .depth = 1}, .kind = cudaMemcpyHostToDevice};
    A("A.node.pointer.add", cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
    AV("A.node.pointer.get", cudaGraphMemcpyNodeGetParams(node, &read), "from=%zu,%zu extent=%zu,%zu,%zu pointer=%d pitch=%zu xsize=%zu", read.srcPos.x,
       read.srcPos.y, read.extent.width, read.extent.height, read.extent.depth, read.srcPtr.ptr == a_host, read.srcPtr.pitch, read.srcPtr.xsize);
}

static void group_a(void)
{
    surviving("A.desc", a_descriptors);
    surviving("A.malloc", a_malloc);
    surviving("A.info", a_info);
    surviving("A.levels", a_levels);
    surviving("A.kinds", a_kinds);
    surviving("A.kinds_back", a_kinds_back);
    surviving("A.wrong", a_wrong);
    surviving("A.wrong_first", a_wrong_first);
    surviving("A.places", a_places);
    surviving("A.layers", a_layers);
    surviving("A.blocks", a_blocks);
    surviving("A.nodes", a_nodes);
}
