/* SPDX-License-Identifier: Apache-2.0 */
/* The words of ../arrays.c beside those of ../script/ask.c. Part of ../arrays.c, which includes it.
 *
 *     arr:64x64x0,f=0x20,n=1,x=0x40   the address of a CUDA_ARRAY3D_DESCRIPTOR: width, height, depth, format, channels, flags
 *     ar2:64x64,f=0x20,n=1            of a CUDA_ARRAY_DESCRIPTOR
 *     m:w=256,x=128/r=b               of a list of two CUarrayMapInfo that map a tile of a from p: `map_fields` has the fields
 *     u:w=256                         the same, unmapping
 *     c3:sa=a,dh=h,w=512,h=4 c2: cp:  of a copy: cuMemcpy3D, cuMemcpy2D, cuMemcpy3DPeer; the memory types follow from what is named
 *     b3:sa=a,dp=d,w=64               of the operations of a batch: cuMemcpy3DBatchAsync
 *     g:u=1, acc:f=1                  of a CUmemAllocationProp, of rights
 *     L:1:0                           a location, by value
 *     d3, d2, sp, rq, pr              outputs: descriptors, sparse properties, memory requirements, properties of an allocation
 *
 * Calls of the program itself:
 *
 *     free                    how much more device memory is free than when the line began
 *     from A B                how far B is from A
 *     put A x y z w h d V     fills a box of array A with bytes V (x and w in bytes)
 *     get A x y z w h d       reads one: its byte, or runs along its first row, first column and the first bytes of its layers
 *     fill V, look N          fills the host's memory with bytes V; shows runs of its first N bytes
 *     gate S, open, settle S  a host function that holds the stream; lets it go; waits for the stream without synchronising
 */

/* ---- structures ---- */

static const struct shape_field array_fields[] = {
    FIELD("w", CUDA_ARRAY3D_DESCRIPTOR, Width),  FIELD("h", CUDA_ARRAY3D_DESCRIPTOR, Height),
    FIELD("d", CUDA_ARRAY3D_DESCRIPTOR, Depth),  FIELD("f", CUDA_ARRAY3D_DESCRIPTOR, Format),
    FIELD("n", CUDA_ARRAY3D_DESCRIPTOR, NumChannels), FIELD("x", CUDA_ARRAY3D_DESCRIPTOR, Flags),
};

static const struct shape_field array2_fields[] = {
    FIELD("w", CUDA_ARRAY_DESCRIPTOR, Width),
    FIELD("h", CUDA_ARRAY_DESCRIPTOR, Height),
    FIELD("f", CUDA_ARRAY_DESCRIPTOR, Format),
    FIELD("n", CUDA_ARRAY_DESCRIPTOR, NumChannels),
};

static const struct shape_field sparse_fields[] = {
    FIELD("w", CUDA_ARRAY_SPARSE_PROPERTIES, tileExtent.width),
    FIELD("h", CUDA_ARRAY_SPARSE_PROPERTIES, tileExtent.height),
    FIELD("d", CUDA_ARRAY_SPARSE_PROPERTIES, tileExtent.depth),
    FIELD("first", CUDA_ARRAY_SPARSE_PROPERTIES, miptailFirstLevel),
    FIELD("tail", CUDA_ARRAY_SPARSE_PROPERTIES, miptailSize),
    FIELD("flags", CUDA_ARRAY_SPARSE_PROPERTIES, flags),
    FIELD("r0", CUDA_ARRAY_SPARSE_PROPERTIES, reserved[0]),
    FIELD("r3", CUDA_ARRAY_SPARSE_PROPERTIES, reserved[3]),
};

static const struct shape_field requirement_fields[] = {
    FIELD("size", CUDA_ARRAY_MEMORY_REQUIREMENTS, size),
    FIELD("alignment", CUDA_ARRAY_MEMORY_REQUIREMENTS, alignment),
    FIELD("r0", CUDA_ARRAY_MEMORY_REQUIREMENTS, reserved[0]),
    FIELD("r3", CUDA_ARRAY_MEMORY_REQUIREMENTS, reserved[3]),
};

static const struct shape_field property_fields[] = {
    FIELD("t", CUmemAllocationProp, type),
    FIELD("e", CUmemAllocationProp, requestedHandleTypes),
    FIELD("lt", CUmemAllocationProp, location.type),
    FIELD("li", CUmemAllocationProp, location.id),
    FIELD("c", CUmemAllocationProp, allocFlags.compressionType),
    FIELD("g", CUmemAllocationProp, allocFlags.gpuDirectRDMACapable),
    FIELD("u", CUmemAllocationProp, allocFlags.usage),
};

/* lev to d: a level; my to ms: a mip tail, which lies in the same place */
static const struct shape_field map_fields[] = {
    FIELD("t", CUarrayMapInfo, resourceType),
    FIELD("r", CUarrayMapInfo, resource.array),
    FIELD("k", CUarrayMapInfo, subresourceType),
    FIELD("lev", CUarrayMapInfo, subresource.sparseLevel.level),
    FIELD("lay", CUarrayMapInfo, subresource.sparseLevel.layer),
    FIELD("x", CUarrayMapInfo, subresource.sparseLevel.offsetX),
    FIELD("y", CUarrayMapInfo, subresource.sparseLevel.offsetY),
    FIELD("z", CUarrayMapInfo, subresource.sparseLevel.offsetZ),
    FIELD("w", CUarrayMapInfo, subresource.sparseLevel.extentWidth),
    FIELD("h", CUarrayMapInfo, subresource.sparseLevel.extentHeight),
    FIELD("d", CUarrayMapInfo, subresource.sparseLevel.extentDepth),
    FIELD("my", CUarrayMapInfo, subresource.miptail.layer),
    FIELD("mo", CUarrayMapInfo, subresource.miptail.offset),
    FIELD("ms", CUarrayMapInfo, subresource.miptail.size),
    FIELD("op", CUarrayMapInfo, memOperationType),
    FIELD("ht", CUarrayMapInfo, memHandleType),
    FIELD("p", CUarrayMapInfo, memHandle.memHandle),
    FIELD("o", CUarrayMapInfo, offset),
    FIELD("mask", CUarrayMapInfo, deviceBitMask),
    FIELD("fl", CUarrayMapInfo, flags),
    FIELD("r0", CUarrayMapInfo, reserved[0]),
    FIELD("r1", CUarrayMapInfo, reserved[1]),
};

#define COPY_FIELDS(type)                                                                                                      \
    FIELD("sx", type, srcXInBytes), FIELD("sy", type, srcY), FIELD("st", type, srcMemoryType), FIELD("sh", type, srcHost),      \
        FIELD("sd", type, srcDevice), FIELD("sa", type, srcArray), FIELD("sp", type, srcPitch), FIELD("dx", type, dstXInBytes), \
        FIELD("dy", type, dstY), FIELD("dt", type, dstMemoryType), FIELD("dh", type, dstHost), FIELD("dd", type, dstDevice),    \
        FIELD("da", type, dstArray), FIELD("dp", type, dstPitch), FIELD("w", type, WidthInBytes), FIELD("h", type, Height)
#define BOX_FIELDS(type)                                                                                                 \
    COPY_FIELDS(type), FIELD("sz", type, srcZ), FIELD("sl", type, srcLOD), FIELD("sr", type, srcHeight), FIELD("dz", type, dstZ), \
        FIELD("dl", type, dstLOD), FIELD("dr", type, dstHeight), FIELD("d", type, Depth)

static const struct shape_field copy2_fields[] = {COPY_FIELDS(CUDA_MEMCPY2D)};
static const struct shape_field copy3_fields[] = {BOX_FIELDS(CUDA_MEMCPY3D), FIELD("s0", CUDA_MEMCPY3D, reserved0),
                                                  FIELD("d0", CUDA_MEMCPY3D, reserved1)};
static const struct shape_field peer_fields[] = {BOX_FIELDS(CUDA_MEMCPY3D_PEER), FIELD("sc", CUDA_MEMCPY3D_PEER, srcContext),
                                                 FIELD("dc", CUDA_MEMCPY3D_PEER, dstContext)};

static const struct shape_field access_fields[] = {
    FIELD("lt", CUmemAccessDesc, location.type),
    FIELD("li", CUmemAccessDesc, location.id),
    FIELD("f", CUmemAccessDesc, flags),
};

#define OPERAND_FIELDS(side, of)                                                                                            \
    FIELD(side "t", CUDA_MEMCPY3D_BATCH_OP, of.type), FIELD(side "p", CUDA_MEMCPY3D_BATCH_OP, of.op.ptr.ptr),               \
        FIELD(side "rl", CUDA_MEMCPY3D_BATCH_OP, of.op.ptr.rowLength), FIELD(side "lh", CUDA_MEMCPY3D_BATCH_OP, of.op.ptr.layerHeight), \
        FIELD(side "a", CUDA_MEMCPY3D_BATCH_OP, of.op.array.array), FIELD(side "x", CUDA_MEMCPY3D_BATCH_OP, of.op.array.offset.x), \
        FIELD(side "y", CUDA_MEMCPY3D_BATCH_OP, of.op.array.offset.y), FIELD(side "z", CUDA_MEMCPY3D_BATCH_OP, of.op.array.offset.z)
static const struct shape_field batch_fields[] = {
    OPERAND_FIELDS("s", src),
    OPERAND_FIELDS("d", dst),
    FIELD("w", CUDA_MEMCPY3D_BATCH_OP, extent.width),
    FIELD("h", CUDA_MEMCPY3D_BATCH_OP, extent.height),
    FIELD("d", CUDA_MEMCPY3D_BATCH_OP, extent.depth),
    FIELD("o", CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder),
    FIELD("fl", CUDA_MEMCPY3D_BATCH_OP, flags),
};

/* ---- what a structure begins with ---- */

enum { TILE = 128, PITCH = 2048 }; /* of two dimensions, with elements of 4 bytes; of copies in memory */

static void start_array(void *at)
{
    CUDA_ARRAY3D_DESCRIPTOR *d = at;
    *d = (CUDA_ARRAY3D_DESCRIPTOR){.Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
}

static void start_array2(void *at)
{
    CUDA_ARRAY_DESCRIPTOR *d = at;
    *d = (CUDA_ARRAY_DESCRIPTOR){.Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
}

static u64 name_or_0(const char *name)
{
    for (size_t i = 0; i < name_count; i++)
        if (strcmp(names[i].text, name) == 0)
            return names[i].value;
    return 0;
}

static void start_unmap(void *at)
{
    CUarrayMapInfo *m = at;
    memset(m, 0, sizeof *m);
    m->resource.array = (CUarray)(uintptr_t)name_or_0("a");
    m->subresource.sparseLevel.extentWidth = TILE;
    m->subresource.sparseLevel.extentHeight = TILE;
    m->subresource.sparseLevel.extentDepth = 1;
    m->memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
    m->deviceBitMask = 1;
}

static void start_map(void *at)
{
    CUarrayMapInfo *m = at;
    start_unmap(at);
    m->memOperationType = CU_MEM_OPERATION_TYPE_MAP;
    m->memHandle.memHandle = name_or_0("p");
}

static void start_copy2(void *at)
{
    memset(at, 0, sizeof(CUDA_MEMCPY2D));
}

static void start_copy3(void *at)
{
    CUDA_MEMCPY3D *c = at;
    memset(c, 0, sizeof *c);
    c->Height = c->Depth = 1;
}

static void start_peer(void *at)
{
    CUDA_MEMCPY3D_PEER *c = at;
    memset(c, 0, sizeof *c);
    c->Height = c->Depth = 1;
}

static void start_property(void *at)
{
    CUmemAllocationProp p = prop_at(L_DEVICE, 0);
    p.allocFlags.usage = 1;
    memcpy(at, &p, sizeof p);
}

static void start_access(void *at)
{
    CUmemAccessDesc d = desc(L_DEVICE, 0, RW);
    memcpy(at, &d, sizeof d);
}

static void start_batch(void *at)
{
    CUDA_MEMCPY3D_BATCH_OP *b = at;
    memset(b, 0, sizeof *b);
    b->srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    b->extent.height = b->extent.depth = 1;
}

static void start_nothing_of(void *at)
{
    (void)at;
}

#define SHAPE(word, type, start, fields) {word, sizeof(type), start, fields, COUNT(fields)}
static const struct shape shapes[] = {
    SHAPE("arr", CUDA_ARRAY3D_DESCRIPTOR, start_array, array_fields), SHAPE("ar2", CUDA_ARRAY_DESCRIPTOR, start_array2, array2_fields),
    SHAPE("m", CUarrayMapInfo, start_map, map_fields),                SHAPE("u", CUarrayMapInfo, start_unmap, map_fields),
    SHAPE("c2", CUDA_MEMCPY2D, start_copy2, copy2_fields),            SHAPE("c3", CUDA_MEMCPY3D, start_copy3, copy3_fields),
    SHAPE("cp", CUDA_MEMCPY3D_PEER, start_peer, peer_fields),         SHAPE("g", CUmemAllocationProp, start_property, property_fields),
    SHAPE("acc", CUmemAccessDesc, start_access, access_fields),       SHAPE("b3", CUDA_MEMCPY3D_BATCH_OP, start_batch, batch_fields),
};
static const struct shape output_shapes[] = {
    SHAPE("d3", CUDA_ARRAY3D_DESCRIPTOR, start_nothing_of, array_fields),
    SHAPE("d2", CUDA_ARRAY_DESCRIPTOR, start_nothing_of, array2_fields),
    SHAPE("sp", CUDA_ARRAY_SPARSE_PROPERTIES, start_nothing_of, sparse_fields),
    SHAPE("rq", CUDA_ARRAY_MEMORY_REQUIREMENTS, start_nothing_of, requirement_fields),
    SHAPE("pr", CUmemAllocationProp, start_nothing_of, property_fields),
};

/* ---- the types of a copy's two sides: of the one that is named ---- */

static int side_of(const char *word, char side)
{
    static const struct { char letter; int type; } kinds[] = {
        {'h', CU_MEMORYTYPE_HOST}, {'d', CU_MEMORYTYPE_DEVICE}, {'a', CU_MEMORYTYPE_ARRAY}};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char key[] = {side, kinds[i].letter, '=', 0};
        const char *at = strstr(word, key);
        if (at && (at[-1] == ',' || at[-1] == ':'))
            return kinds[i].type;
    }
    return 0;
}

static bool copy_word(const char *word, u64 *value)
{
    char text[TEXT];
    if (word[0] != 'c' || !strchr("23p", word[1]) || word[2] != ':')
        return false;
    int from = side_of(word, 's'), to = side_of(word, 'd');
    snprintf(text, sizeof text, "%.3sst=%d,dt=%d,sp=%d,dp=%d,%s", word, from, to, PITCH, PITCH, word + 3);
    return shape_word(shapes, COUNT(shapes), text, value);
}

static bool batch_word(const char *word, u64 *value)
{
    char text[TEXT];
    if (strncmp(word, "b3:", 3) != 0)
        return false;
    int from = strstr(word, "sa=") ? CU_MEMCPY_OPERAND_TYPE_ARRAY : CU_MEMCPY_OPERAND_TYPE_POINTER;
    int to = strstr(word, "da=") ? CU_MEMCPY_OPERAND_TYPE_ARRAY : CU_MEMCPY_OPERAND_TYPE_POINTER;
    snprintf(text, sizeof text, "b3:st=%d,dt=%d,%s", from, to, word + 3);
    return shape_word(shapes, COUNT(shapes), text, value);
}

static bool own_word(const char *word, u64 *value)
{
    int type, id;
    for (size_t i = 0; i < COUNT(output_shapes); i++)
        if (strcmp(word, output_shapes[i].word) == 0) {
            struct output *o = add_output(OWN, (unsigned)output_shapes[i].size);
            o->own = (unsigned)i;
            *value = (u64)(uintptr_t)o->bytes;
            return true;
        }
    if (sscanf(word, "L:%d:%d", &type, &id) == 2) {
        *value = (unsigned)type | (u64)(unsigned)id << 32;
        return true;
    }
    return copy_word(word, value) || batch_word(word, value) || shape_word(shapes, COUNT(shapes), word, value);
}

static void show_own(char *text, size_t room, const struct output *o)
{
    show_shape(text, room, &output_shapes[o->own], o->bytes);
}

/* ---- bytes ---- */

enum { HOST_BYTES = 64 << 20 };
static unsigned char *host;

/* 5*128,0*384: the first runs of count bytes that lie a step apart. */
static void show_runs(char *text, size_t room, const unsigned char *at, size_t count, size_t step)
{
    enum { SHOWN_RUNS = 12 };
    size_t runs = 0;
    for (size_t i = 0, run; i < count && runs <= SHOWN_RUNS; i += run, runs++) {
        for (run = 1; i + run < count && at[(i + run) * step] == at[i * step]; run++)
            ;
        size_t length = strlen(text);
        if (runs == SHOWN_RUNS)
            snprintf(text + length, room - length, ",...");
        else
            snprintf(text + length, room - length, "%s%d*%zu", runs ? "," : "", at[i * step], run);
    }
}

static void show_box(char *text, size_t room, const unsigned char *at, size_t w, size_t h, size_t d)
{
    const size_t all = w * h * d;
    size_t same = 1;
    while (same < all && at[same] == at[0])
        same++;
    if (!all || same == all) {
        snprintf(text, room, all ? " %d" : " none", all ? at[0] : 0);
        return;
    }
    snprintf(text, room, " row ");
    show_runs(text + strlen(text), room - strlen(text), at, w, 1);
    snprintf(text + strlen(text), room - strlen(text), " col ");
    show_runs(text + strlen(text), room - strlen(text), at, h, w);
    if (d > 1) {
        snprintf(text + strlen(text), room - strlen(text), " deep ");
        show_runs(text + strlen(text), room - strlen(text), at, d, w * h);
    }
}

/* A copy between a box of an array and host memory where it is dense. a: array, x, y, z, w, h, d, value */
static CUresult copy_box(const u64 *a, bool put, char *more, size_t room)
{
    const size_t all = (size_t)(a[4] * a[5] * a[6]);
    CUDA_MEMCPY3D c;
    if (all > HOST_BYTES)
        exit(3);
    memset(&c, 0, sizeof c);
    memset(host, put ? (int)a[7] : 119, all);
    c.srcMemoryType = put ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = put ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = c.dstHost = host;
    c.srcArray = c.dstArray = (CUarray)(uintptr_t)a[0];
    c.srcPitch = c.dstPitch = (size_t)a[4];
    c.srcHeight = c.dstHeight = (size_t)a[5];
    *(put ? &c.dstXInBytes : &c.srcXInBytes) = (size_t)a[1];
    *(put ? &c.dstY : &c.srcY) = (size_t)a[2];
    *(put ? &c.dstZ : &c.srcZ) = (size_t)a[3];
    c.WidthInBytes = (size_t)a[4];
    c.Height = (size_t)a[5];
    c.Depth = (size_t)a[6];
    CUresult r = cuMemcpy3D(&c);
    if (!r && !put)
        show_box(more, room, host, (size_t)a[4], (size_t)a[5], (size_t)a[6]);
    return r;
}

/* ---- calls of the program ---- */

static size_t free_before;

static size_t free_memory(void)
{
    size_t f = 0, t = 0;
    cuMemGetInfo(&f, &t);
    return f;
}

static const char *symbol_of_short(const char *name)
{
    static const struct { const char *name, *symbol; } shorts[] = {
        {"make", "cuArray3DCreate_v2"},      {"make2", "cuArrayCreate_v2"},
        {"mmake", "cuMipmappedArrayCreate"}, {"drop", "cuArrayDestroy"},
        {"mdrop", "cuMipmappedArrayDestroy"}, {"desc", "cuArray3DGetDescriptor_v2"},
        {"desc2", "cuArrayGetDescriptor_v2"}, {"level", "cuMipmappedArrayGetLevel"},
        {"plane", "cuArrayGetPlane"},        {"props", "cuArrayGetSparseProperties"},
        {"mprops", "cuMipmappedArrayGetSparseProperties"},
        {"req", "cuArrayGetMemoryRequirements"},
        {"mreq", "cuMipmappedArrayGetMemoryRequirements"},
        {"map", "cuMemMapArrayAsync"},       {"sync", "cuCtxSynchronize"},
        {"begin", "cuStreamBeginCapture_v2"}, {"end", "cuStreamEndCapture"},
        {"status", "cuStreamIsCapturing"},   {"exchange", "cuThreadExchangeStreamCaptureMode"},
        {"query", "cuStreamQuery"},          {"current", "cuCtxSetCurrent"},
        {"release", "cuMemRelease"},         {"copy", "cuMemcpy3D_v2"},
        {"copya", "cuMemcpy3DAsync_v2"},     {"copyp", "cuMemcpy3DPeer"},
        {"copy2", "cuMemcpy2D_v2"},          {"dtoh", "cuMemcpyDtoH_v2"},
        {"gran", "cuMemGetAllocationGranularity"},
        {"about", "cuMemGetAllocationPropertiesFromHandle"},
    };
    for (size_t i = 0; i < COUNT(shorts); i++)
        if (strcmp(shorts[i].name, name) == 0)
            return shorts[i].symbol;
    return NULL;
}

static bool own_call(const char *name, const u64 *a, size_t count, CUresult *r, char *more, size_t room)
{
    (void)count;
    *r = CUDA_SUCCESS;
    if (strcmp(name, "free") == 0)
        snprintf(more, room, " %lld", (i64)free_memory() - (i64)free_before);
    else if (strcmp(name, "from") == 0)
        snprintf(more, room, " %lld", (i64)(a[1] - a[0]));
    else if (strcmp(name, "put") == 0 || strcmp(name, "get") == 0)
        *r = copy_box(a, name[0] == 'p', more, room);
    else if (strcmp(name, "fill") == 0)
        memset(host, (int)a[0], HOST_BYTES);
    else if (strcmp(name, "look") == 0) {
        snprintf(more, room, " ");
        show_runs(more + 1, room - 1, host, (size_t)a[0], 1);
    } else if (strcmp(name, "gate") == 0)
        *r = gate_in((CUstream)(uintptr_t)a[0]);
    else if (strcmp(name, "open") == 0)
        snprintf(more, room, "%s", gate_opened());
    else if (strcmp(name, "settle") == 0)
        *r = settle((CUstream)(uintptr_t)a[0]);
    else
        return false;
    return true;
}
