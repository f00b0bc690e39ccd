/* SPDX-License-Identifier: Apache-2.0 */
/* Group J: batches of copies, in the forms of CUDA 12.8 and 13.0. Part of ../copies3d.c, which includes it. */

/* The older forms, which cuda.h maps to the newer ones. */
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
                                    size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, CUstream hStream);
CUresult CUDAAPI cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
                                       size_t *attrsIdxs, size_t numAttrs, CUstream hStream);
CUresult CUDAAPI cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx, unsigned long long flags,
                                      CUstream hStream);
CUresult CUDAAPI cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags, CUstream hStream);

enum { OPS_MAX = 4, OP_BYTES = 4096, OP_STEP = 65536 };

static CUstream batch_stream;

struct batch {
    CUdeviceptr dst[OPS_MAX], src[OPS_MAX];
    size_t size[OPS_MAX], index[OPS_MAX];
    CUmemcpyAttributes attr[OPS_MAX];
    size_t count, attrs;
    CUdeviceptr *dsts, *srcs;
    size_t *sizes, *indices, *fail;
    CUmemcpyAttributes *attributes;
    CUstream stream;
};

static void start_batches(void)
{
    start_places();
    cuStreamCreate(&batch_stream, CU_STREAM_NON_BLOCKING);
}

static void good_batch(struct batch *b)
{
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < OPS_MAX; i++) {
        b->src[i] = from[MAPPED].at + i * OP_STEP;
        b->dst[i] = to[MAPPED].at + i * OP_STEP;
        b->size[i] = OP_BYTES;
        b->attr[i].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        b->index[i] = i;
    }
    b->count = 3, b->attrs = 1;
    b->dsts = b->dst, b->srcs = b->src, b->sizes = b->size, b->indices = b->index, b->attributes = b->attr;
    b->stream = batch_stream;
}

static size_t fail_index;

static CUresult call_batch(int newer, struct batch *b)
{
    fail_index = 77;
    return newer ? cuMemcpyBatchAsync_v2(b->dsts, b->srcs, b->sizes, b->count, b->attributes, b->indices, b->attrs, b->stream)
                 : cuMemcpyBatchAsync(b->dsts, b->srcs, b->sizes, b->count, b->attributes, b->indices, b->attrs, &fail_index, b->stream);
}

/* Which copies were made; each wrote OP_BYTES at its step of the destination. Blanks them. */
static const char *made(struct place *place, size_t first, size_t count, size_t bytes)
{
    static char text[OPS_MAX + 1];
    const unsigned char *seen = place->seen ? look(place) : NULL;
    if (!seen)
        return "?";
    for (size_t i = 0; i < count; i++) {
        const size_t base = (first + i) * OP_STEP;
        text[i] = !memcmp(seen + base, pattern + base, bytes) ? '1' : !memcmp(seen + base, blank, bytes) ? '0' : 'x';
    }
    text[count] = 0;
    put(place, blank, G);
    return text;
}

/* The form of 12.8 also says where it failed. */
static const char *failed(int newer)
{
    static char text[40];
    snprintf(text, sizeof text, " fail=%lld", (i64)fail_index);
    return newer ? "" : text;
}

static void ask_batch(const char *id, int newer, struct batch *b)
{
    use(&from[MAPPED]);
    use(&to[MAPPED]);
    CUresult r = call_batch(newer, b);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s%s wrote=%s", name_of(r), name_of(sync), failed(newer), made(&to[MAPPED], 0, 3, OP_BYTES));
}

/* ---- arguments ---- */

enum { EDITS = 78 };

/* Changes a good batch; its name is written to name; false past the last. */
static bool edit_batch(struct batch *b, size_t e, const char **name)
{
    static char text[48];
    size_t n = 0;
#define EDIT(words, ...)       \
    if (e == n++) {            \
        *name = words;         \
        if (b) {               \
            __VA_ARGS__;       \
        }                      \
        return true;           \
    }
    EDIT("good", (void)0)
    EDIT("count0", b->count = 0)
    EDIT("count1", b->count = 1)
    EDIT("count0_all_null", b->count = 0, b->dsts = NULL, b->srcs = NULL, b->sizes = NULL, b->attributes = NULL, b->indices = NULL, b->attrs = 0)
    EDIT("dsts_null", b->dsts = NULL)
    EDIT("srcs_null", b->srcs = NULL)
    EDIT("sizes_null", b->sizes = NULL)
    EDIT("attrs_null", b->attributes = NULL)
    EDIT("indices_null", b->indices = NULL)
    EDIT("attrs0", b->attrs = 0)
    EDIT("attrs0_null", b->attrs = 0, b->attributes = NULL, b->indices = NULL)
    EDIT("attrs2", b->attrs = 2)
    EDIT("attrs3", b->attrs = 3)
    EDIT("attrs4", b->attrs = 4)
    EDIT("attrs_huge_index", b->attrs = 2, b->index[1] = (size_t)1 << 40)
    EDIT("index0=1", b->index[0] = 1)
    EDIT("index0=2", b->index[0] = 2)
    EDIT("index0=3", b->index[0] = 3)
    EDIT("indices_0_0", b->attrs = 2, b->index[1] = 0)
    EDIT("indices_0_2", b->attrs = 2, b->index[1] = 2)
    EDIT("indices_0_3", b->attrs = 2, b->index[1] = 3)
    EDIT("indices_0_2_1", b->attrs = 3, b->index[1] = 2, b->index[2] = 1)
    EDIT("size0", b->size[0] = 0)
    EDIT("size1", b->size[1] = 0)
    EDIT("size2", b->size[2] = 0)
    EDIT("sizes_all_0", b->size[0] = b->size[1] = b->size[2] = 0)
    EDIT("size1_past", b->src[1] = from[MAPPED].at + G - 64)
    EDIT("dst1_past", b->dst[1] = to[MAPPED].at + G - 64)
    EDIT("size1_huge", b->size[1] = (size_t)1 << 40)
    EDIT("size1_max", b->size[1] = (size_t)-1)
    EDIT("dst1_null", b->dst[1] = 0)
    EDIT("src1_null", b->src[1] = 0)
    EDIT("src1_null_size0", b->src[1] = 0, b->size[1] = 0)
    EDIT("dst0_null", b->dst[0] = 0)
    EDIT("dst2_null", b->dst[2] = 0)
    EDIT("dst1_null_dst2_null", b->dst[1] = b->dst[2] = 0)
    EDIT("stream_null", b->stream = NULL)
    EDIT("stream_legacy", b->stream = CU_STREAM_LEGACY)
    EDIT("stream_per_thread", b->stream = CU_STREAM_PER_THREAD)
    EDIT("stream_null_count0", b->stream = NULL, b->count = 0)
    EDIT("stream_null_dst1_null", b->stream = NULL, b->dst[1] = 0)
    EDIT("order0", b->attr[0].srcAccessOrder = (CUmemcpySrcAccessOrder)0)
    EDIT("order2", b->attr[0].srcAccessOrder = (CUmemcpySrcAccessOrder)2)
    EDIT("order3", b->attr[0].srcAccessOrder = (CUmemcpySrcAccessOrder)3)
    EDIT("order4", b->attr[0].srcAccessOrder = (CUmemcpySrcAccessOrder)4)
    EDIT("order-1", b->attr[0].srcAccessOrder = (CUmemcpySrcAccessOrder)-1)
    EDIT("order_of_unused", b->attr[1].srcAccessOrder = (CUmemcpySrcAccessOrder)0)
    EDIT("order_of_second", b->attrs = 2, b->attr[1].srcAccessOrder = (CUmemcpySrcAccessOrder)0)
    EDIT("flags1", b->attr[0].flags = 1)
    EDIT("flags2", b->attr[0].flags = 2)
    EDIT("flags3", b->attr[0].flags = 3)
    EDIT("flags_high", b->attr[0].flags = 0x80000000u)
    EDIT("flags_of_second", b->attrs = 2, b->attr[1].flags = 2)
    EDIT("order0_dst1_null", b->attr[0].srcAccessOrder = (CUmemcpySrcAccessOrder)0, b->dst[1] = 0)
    EDIT("flags2_dst0_null", b->attr[0].flags = 2, b->dst[0] = 0)
    EDIT("same_twice", b->dst[1] = b->dst[0], b->src[1] = b->src[0])
    EDIT("overlap_itself", b->dst[1] = b->src[1] + 64)
    EDIT("to_itself", b->dst[1] = b->src[1])
    EDIT("over_end_of_count", b->count = 4, b->attrs = 4)
#undef EDIT
    for (int side = 0; side < 2; side++)
        for (int type = -1; type <= 6; type++)
            if (e == n++) {
                snprintf(text, sizeof text, "%shint_type%d_id0", side ? "dst" : "src", type);
                *name = text;
                if (b)
                    *(side ? &b->attr[0].dstLocHint : &b->attr[0].srcLocHint) = loc_at(type, 0);
                return true;
            }
    static const int ids[] = {-1, 99};
    for (size_t k = 0; k < COUNT(ids); k++)
        if (e == n++) {
            snprintf(text, sizeof text, "hint_device_id%d", ids[k]);
            *name = text;
            if (b)
                b->attr[0].srcLocHint = loc_at(L_DEVICE, ids[k]);
            return true;
        }
    return false;
}

static void batch_edits_case(size_t i, char *id, int run)
{
    const char *name = NULL;
    struct batch b;
    int newer = (int)digit(&i, 2);
    if (run)
        good_batch(&b);
    bool is = edit_batch(run ? &b : NULL, i, &name);
    snprintf(id, CASE_ID, "J.%s.%s", newer ? "v2" : "v1", is ? name : "none");
    if (run && is && box_turn(id, false, 1))
        ask_batch(id, newer, &b);
}

/* ---- one copy of three on another kind of memory, on either side ---- */

static void batch_kinds_case(size_t i, char *id, int run)
{
    static const int orders[] = {1, 2, 3};
    int newer = (int)digit(&i, 2), order = orders[digit(&i, 3)];
    size_t side = digit(&i, 2), which = digit(&i, 2), kind = i;
    snprintf(id, CASE_ID, "J.%s.kind.%s.%s.copy%zu.order%d", newer ? "v2" : "v1", side ? "dst" : "src", kind_name[kind], which, order);
    if (!run || kind == RESERVED || kind == FREED || !box_turn(id, false, 1))
        return;
    struct batch b;
    struct place *place = side ? &to[kind] : &from[kind];
    good_batch(&b);
    use(place);
    b.attr[0].srcAccessOrder = (CUmemcpySrcAccessOrder)order;
    if (side)
        b.dst[which] = place->at + which * OP_STEP;
    else
        b.src[which] = place->at + which * OP_STEP;
    use(&from[MAPPED]);
    use(&to[MAPPED]);
    CUresult r = call_batch(newer, &b);
    CUresult sync = cuCtxSynchronize();
    char other[OPS_MAX + 1];
    snprintf(other, sizeof other, "%s", side && kind != MAPPED ? made(place, which, 1, OP_BYTES) : "-");
    say(id, "%s sync=%s%s wrote=%s there=%s", name_of(r), name_of(sync), failed(newer), made(&to[MAPPED], 0, 3, OP_BYTES), other);
}

/* ---- pairs of kinds as a batch of one ---- */

static void batch_pairs_case(size_t i, char *id, int run)
{
    enum kind src = live[digit(&i, live_count)], dst = live[i];
    snprintf(id, CASE_ID, "J.pair.%s.to.%s", kind_name[src], kind_name[dst]);
    if (!run || !box_turn(id, false, 1))
        return;
    struct batch b;
    good_batch(&b);
    b.count = 1;
    b.src[0] = from[src].at, b.dst[0] = to[dst].at;
    use(&from[src]);
    use(&to[dst]);
    CUresult r = call_batch(1, &b);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s wrote=%s", name_of(r), name_of(sync), made(&to[dst], 0, 1, OP_BYTES));
}

/* ---- across mappings: the second copy's start and size ---- */

static void batch_strips_case(size_t i, char *id, int run)
{
    static const struct {
        const char *name;
        i64 start;
        u64 size;
    } places[] = {
        {"inside", 0, 4096}, {"seam", (i64)G - 2048, 4096}, {"to_the_end", 2 * (i64)G - 4096, 4096}, {"past_the_end", 2 * (i64)G - 2048, 4096},
        {"in_the_hole", 2 * (i64)G, 4096}, {"over_the_hole", 2 * (i64)G - 2048, 2 * (u64)G}, {"read_only", 4 * (i64)G, 4096},
        {"into_read_only", 4 * (i64)G - 2048, 4096}, {"none", 5 * (i64)G, 4096}, {"into_none", 5 * (i64)G - 2048, 4096},
        {"past_the_last", 7 * (i64)G - 2048, 4096}, {"size0_in_the_hole", 2 * (i64)G, 0},
    };
    int newer = (int)digit(&i, 2);
    size_t side = digit(&i, 2), which = digit(&i, 3);
    snprintf(id, CASE_ID, "J.%s.strip.%s.%s.copy%zu", newer ? "v2" : "v1", side ? "dst" : "src", places[i].name, which);
    const i64 granule = places[i].start / (i64)G;
    if (!run || (granule == 2 && places[i].size) || !box_turn(id, false, 1))
        return;
    struct batch b;
    good_batch(&b);
    b.size[which] = places[i].size;
    if (side)
        b.dst[which] = strip + (u64)places[i].start;
    else
        b.src[which] = strip + (u64)places[i].start;
    ask_batch(id, newer, &b);
    for (size_t g = 0; g < 7; g++)
        cuMemsetD8(strip + g * G, BLANK, G);
    cuCtxSynchronize();
}

static void start_batch_strips(void)
{
    start_strip();
    cuStreamCreate(&batch_stream, CU_STREAM_NON_BLOCKING);
}

/* ---- when ---- */

static void batch_when(void)
{
    struct batch b;
    CUgraph graph;
    CUstream other = NULL;
    CUcontext ctx = NULL;
    start_batches();
    use(&from[MAPPED]);
    for (int newer = 0; newer < 2; newer++) {
        char id[CASE_ID];
        for (int mode = 0; mode < 3; mode += 2) {
            good_batch(&b);
            cuStreamBeginCapture(batch_stream, (CUstreamCaptureMode)mode);
            CUresult r = call_batch(newer, &b);
            snprintf(id, sizeof id, "J.capture.v%d.mode%d", newer + 1, mode);
            say(id, "%s%s end=%s", name_of(r), failed(newer), name_of(cuStreamEndCapture(batch_stream, &graph)));
        }
        good_batch(&b);
        cuCtxSetCurrent(NULL);
        snprintf(id, sizeof id, "J.noctx.v%d", newer + 1);
        CUresult r = call_batch(newer, &b);
        say(id, "%s%s", name_of(r), failed(newer));
        b.stream = NULL;
        snprintf(id, sizeof id, "J.noctx_null_stream.v%d", newer + 1);
        r = call_batch(newer, &b);
        say(id, "%s%s", name_of(r), failed(newer));
        cuCtxSetCurrent(primary[0]);
    }
#if CUDA_VERSION >= 13000
    cuCtxCreate(&ctx, NULL, 0, 0);
#else
    cuCtxCreate(&ctx, 0, 0);
#endif
    cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    cuCtxSetCurrent(primary[0]);
    good_batch(&b);
    b.stream = other;
    R("J.other_contexts_stream", call_batch(1, &b));
    R("J.other_contexts_stream.sync", cuStreamSynchronize(other));
    good_batch(&b);
    R("J.fail_null", cuMemcpyBatchAsync(b.dsts, b.srcs, b.sizes, b.count, b.attributes, b.indices, b.attrs, NULL, b.stream));
    b.dst[1] = 0;
    R("J.fail_null_wrong", cuMemcpyBatchAsync(b.dsts, b.srcs, b.sizes, b.count, b.attributes, b.indices, b.attrs, NULL, b.stream));
    R("J.when.sync", cuCtxSynchronize());
}

static CUresult batch_inside[2];

static void CUDA_CB batch_in_host_function(void *data)
{
    batch_inside[0] = call_batch(0, data);
    batch_inside[1] = call_batch(1, data);
}

static void batch_host_function(void)
{
    struct batch b;
    CUstream stream;
    start_batches();
    good_batch(&b);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    R("J.inside.launch", cuLaunchHostFunc(stream, batch_in_host_function, &b));
    R("J.inside.sync", cuStreamSynchronize(stream));
    say("J.inside", "%s %s", name_of(batch_inside[0]), name_of(batch_inside[1]));
}

/* When is the source read: by a host function before the copy in the stream, the source changes? Pageable, pinned, device memory. */
static void CUDA_CB change_source(void *data)
{
    struct timespec t = {0, 50000000};
    nanosleep(&t, NULL);
    memset(data, 0x77, OP_BYTES);
}

static void batch_orders(void)
{
    static const enum kind sources[] = {MALLOC, REGISTERED, HOSTALLOC, LOCATED};
    start_batches();
    for (int order = 1; order <= 3; order++)
        for (size_t k = 0; k < COUNT(sources); k++) {
            struct batch b;
            char id[CASE_ID];
            good_batch(&b);
            b.count = 1;
            b.attr[0].srcAccessOrder = (CUmemcpySrcAccessOrder)order;
            b.src[0] = from[sources[k]].at;
            put(&from[sources[k]], pattern, OP_BYTES);
            use(&to[MAPPED]);
            cuLaunchHostFunc(batch_stream, change_source, (void *)(uintptr_t)from[sources[k]].at);
            CUresult r = call_batch(1, &b);
            CUresult sync = cuCtxSynchronize();
            int got_byte = byte_at(to[MAPPED].at + 1);
            snprintf(id, sizeof id, "J.order%d.%s", order, kind_name[sources[k]]);
            say(id, "%s sync=%s %s", name_of(r), name_of(sync), got_byte == 0x77 ? "in stream order" : got_byte == pattern[1] ? "early" : "neither");
            put(&to[MAPPED], blank, G);
        }
}

static void group_j(void)
{
    live_count = kinds() == KINDS ? COUNT(live) : COUNT(live) - (KINDS - KINDS_ONE);
    generate("J", start_batches, (size_t)EDITS * 2, batch_edits_case);
    generate("J", start_batches, 2 * 3 * 2 * 2 * kinds(), batch_kinds_case);
    generate("J", start_batches, live_count * live_count, batch_pairs_case);
    generate("J", start_batch_strips, (size_t)2 * 2 * 3 * 12, batch_strips_case);
    child("J.when!", batch_when);
    child("J.inside!", batch_host_function);
    child("J.orders!", batch_orders);
}
