/* SPDX-License-Identifier: Apache-2.0 */
/* Group K: batches of boxes, in the forms of CUDA 12.8 and 13.0. Part of ../copies3d.c, which includes it. */

struct box_batch {
    CUDA_MEMCPY3D_BATCH_OP op[OPS_MAX];
    size_t count;
    CUDA_MEMCPY3D_BATCH_OP *ops;
    u64 flags;
    CUstream stream;
};

/* Copies of 64 x 2 x 2 bytes without gaps: 256 bytes each. */
enum { BOX_BYTES = 256 };

static void good_box_batch(struct box_batch *b)
{
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < OPS_MAX; i++) {
        CUDA_MEMCPY3D_BATCH_OP *op = &b->op[i];
        op->src.type = op->dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
        op->src.op.ptr.ptr = from[MAPPED].at + i * OP_STEP;
        op->dst.op.ptr.ptr = to[MAPPED].at + i * OP_STEP;
        op->extent.width = 64, op->extent.height = 2, op->extent.depth = 2;
        op->srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    }
    b->count = 3;
    b->ops = b->op;
    b->stream = batch_stream;
}

static CUresult call_box_batch(int newer, struct box_batch *b)
{
    fail_index = 77;
    return newer ? cuMemcpy3DBatchAsync_v2(b->count, b->ops, b->flags, b->stream)
                 : cuMemcpy3DBatchAsync(b->count, b->ops, &fail_index, b->flags, b->stream);
}

static void ask_box_batch(const char *id, int newer, struct box_batch *b)
{
    use(&from[MAPPED]);
    use(&to[MAPPED]);
    CUresult r = call_box_batch(newer, b);
    CUresult sync = cuCtxSynchronize();
    const unsigned char *seen = look(&to[MAPPED]);
    size_t first = 0, last = 0, count = seen ? changed(seen, &first, &last) : 0;
    char all[64];
    snprintf(all, sizeof all, "%zu %zu-%zu #%08x", count, first, last, seen && count ? hash_of(seen) : 0);
    say(id, "%s sync=%s%s wrote=%s %s", name_of(r), name_of(sync), failed(newer), made(&to[MAPPED], 0, 3, BOX_BYTES), all);
}

enum { BOX_EDITS = 140 };

static bool edit_box_batch(struct box_batch *b, size_t e, const char **name)
{
    static char text[64];
    size_t n = 0;
    CUDA_MEMCPY3D_BATCH_OP *o = b ? &b->op[1] : NULL;
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
    EDIT("count0_null", b->count = 0, b->ops = NULL)
    EDIT("ops_null", b->ops = NULL)
    EDIT("flags1", b->flags = 1)
    EDIT("flags_high", b->flags = (u64)1 << 40)
    EDIT("flags1_count0", b->flags = 1, b->count = 0)
    EDIT("stream_null", b->stream = NULL)
    EDIT("stream_legacy", b->stream = CU_STREAM_LEGACY)
    EDIT("stream_per_thread", b->stream = CU_STREAM_PER_THREAD)
    EDIT("src_type0", o->src.type = (CUmemcpy3DOperandType)0)
    EDIT("src_type3", o->src.type = (CUmemcpy3DOperandType)3)
    EDIT("src_type-1", o->src.type = (CUmemcpy3DOperandType)-1)
    EDIT("dst_type0", o->dst.type = (CUmemcpy3DOperandType)0)
    EDIT("dst_type3", o->dst.type = (CUmemcpy3DOperandType)3)
    EDIT("src_array_null", memset(&o->src, 0, sizeof o->src), o->src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY)
    EDIT("dst_array_null", memset(&o->dst, 0, sizeof o->dst), o->dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY)
    EDIT("width0", o->extent.width = 0)
    EDIT("height0", o->extent.height = 0)
    EDIT("depth0", o->extent.depth = 0)
    EDIT("extent0", o->extent.width = o->extent.height = o->extent.depth = 0)
    EDIT("width0_dst_null", o->extent.width = 0, o->dst.op.ptr.ptr = 0)
    EDIT("src_null", o->src.op.ptr.ptr = 0)
    EDIT("dst_null", o->dst.op.ptr.ptr = 0)
    EDIT("dst_null_first", b->op[0].dst.op.ptr.ptr = 0)
    EDIT("dst_null_last", b->op[2].dst.op.ptr.ptr = 0)
    EDIT("two_wrong", b->op[2].dst.op.ptr.ptr = 0, o->extent.width = 0)
    EDIT("order0", o->srcAccessOrder = (CUmemcpySrcAccessOrder)0)
    EDIT("order2", o->srcAccessOrder = (CUmemcpySrcAccessOrder)2)
    EDIT("order3", o->srcAccessOrder = (CUmemcpySrcAccessOrder)3)
    EDIT("order4", o->srcAccessOrder = (CUmemcpySrcAccessOrder)4)
    EDIT("order-1", o->srcAccessOrder = (CUmemcpySrcAccessOrder)-1)
    EDIT("op_flags1", o->flags = 1)
    EDIT("op_flags2", o->flags = 2)
    EDIT("op_flags3", o->flags = 3)
    EDIT("op_flags_high", o->flags = 0x80000000u)
    EDIT("past_the_end", o->dst.op.ptr.ptr = to[MAPPED].at + G - 128)
    EDIT("src_past_the_end", o->src.op.ptr.ptr = from[MAPPED].at + G - 128)
    EDIT("to_itself", o->dst.op.ptr.ptr = o->src.op.ptr.ptr)
    EDIT("row_one_gap", o->dst.op.ptr.rowLength = 65)
    EDIT("width_huge", o->extent.width = (size_t)1 << 40)
    EDIT("width_max", o->extent.width = (size_t)-1)
    EDIT("height_huge", o->extent.height = (size_t)1 << 40)
    EDIT("depth_huge", o->extent.depth = (size_t)1 << 40)
#undef EDIT
    static const u64 rows[] = {1, 63, 64, 80, 4096, ((u64)1 << 31) - 1, (u64)1 << 31, (u64)1 << 40, -(u64)1};
    static const u64 layers[] = {1, 2, 3, 4, 1000, ((u64)1 << 31), (u64)1 << 40, -(u64)1};
    for (int side = 0; side < 2; side++) {
        for (size_t k = 0; k < COUNT(rows); k++)
            if (e == n++) {
                snprintf(text, sizeof text, "%s_row=%s", side ? "dst" : "src", num(rows[k]));
                *name = text;
                if (b)
                    (side ? &o->dst : &o->src)->op.ptr.rowLength = rows[k];
                return true;
            }
        for (size_t k = 0; k < COUNT(layers); k++)
            for (int with = 0; with < 2; with++)
                if (e == n++) {
                    snprintf(text, sizeof text, "%s_layer=%s%s", side ? "dst" : "src", num(layers[k]), with ? "_row=80" : "");
                    *name = text;
                    if (b) {
                        (side ? &o->dst : &o->src)->op.ptr.layerHeight = layers[k];
                        (side ? &o->dst : &o->src)->op.ptr.rowLength = with ? 80 : 0;
                    }
                    return true;
                }
        for (int type = -1; type <= 6; type++)
            if (e == n++) {
                snprintf(text, sizeof text, "%s_hint_type%d", side ? "dst" : "src", type);
                *name = text;
                if (b)
                    (side ? &o->dst : &o->src)->op.ptr.locHint = loc_at(type, 0);
                return true;
            }
        for (int layer = 0; layer < 3; layer++) /* height or depth 1: is the layer's height looked at? */
            if (e == n++) {
                snprintf(text, sizeof text, "%s_layer1_of_%s", side ? "dst" : "src", layer == 0 ? "depth1" : layer == 1 ? "height1" : "depth1_row63");
                *name = text;
                if (b) {
                    (side ? &o->dst : &o->src)->op.ptr.layerHeight = 1;
                    (side ? &o->dst : &o->src)->op.ptr.rowLength = layer == 2 ? 63 : 0;
                    *(layer == 1 ? &o->extent.height : &o->extent.depth) = 1;
                }
                return true;
            }
    }
    return false;
}

static void box_batch_edits_case(size_t i, char *id, int run)
{
    const char *name = NULL;
    struct box_batch b;
    int newer = (int)digit(&i, 2);
    if (run)
        good_box_batch(&b);
    bool is = edit_box_batch(run ? &b : NULL, i, &name);
    snprintf(id, CASE_ID, "K.%s.%s", newer ? "v2" : "v1", is ? name : "none");
    /* what leaves its place if it is accepted */
    bool faulty = is && (strstr(name, "huge") || strstr(name, "=2^") || strstr(name, "=-1") || strstr(name, "_max"));
    if (run && is && !faulty && box_turn(id, false, 1))
        ask_box_batch(id, newer, &b);
}

static void box_batch_kinds_case(size_t i, char *id, int run)
{
    int newer = (int)digit(&i, 2);
    size_t side = digit(&i, 2), which = digit(&i, 2), order = 1 + digit(&i, 2), kind = i;
    snprintf(id, CASE_ID, "K.%s.kind.%s.%s.copy%zu.order%zu", newer ? "v2" : "v1", side ? "dst" : "src", kind_name[kind], which, order);
    if (!run || kind == RESERVED || kind == FREED || !box_turn(id, false, 1))
        return;
    struct box_batch b;
    struct place *place = side ? &to[kind] : &from[kind];
    good_box_batch(&b);
    use(place);
    b.op[which].srcAccessOrder = (CUmemcpySrcAccessOrder)order;
    (side ? &b.op[which].dst : &b.op[which].src)->op.ptr.ptr = place->at + which * OP_STEP;
    use(&from[MAPPED]);
    use(&to[MAPPED]);
    CUresult r = call_box_batch(newer, &b);
    CUresult sync = cuCtxSynchronize();
    char other[OPS_MAX + 1];
    snprintf(other, sizeof other, "%s", side && kind != MAPPED ? made(place, which, 1, BOX_BYTES) : "-");
    say(id, "%s sync=%s%s wrote=%s there=%s", name_of(r), name_of(sync), failed(newer), made(&to[MAPPED], 0, 3, BOX_BYTES), other);
}

static void box_batch_strips_case(size_t i, char *id, int run)
{
    int newer = (int)digit(&i, 2);
    size_t side = digit(&i, 2), which = i;
    snprintf(id, CASE_ID, "K.%s.strip.%s.%s", newer ? "v2" : "v1", side ? "dst" : "src", strips[which].name);
    const bool faulty = is_nothing(strips[which].start) && strips[which].width && strips[which].height && strips[which].depth;
    if (!run || faulty || !box_turn(id, false, 1))
        return;
    struct box_batch b;
    good_box_batch(&b);
    CUDA_MEMCPY3D_BATCH_OP *o = &b.op[1];
    CUmemcpy3DOperand *there = side ? &o->dst : &o->src;
    there->op.ptr.ptr = strip + (u64)strips[which].start;
    there->op.ptr.rowLength = strips[which].pitch;
    there->op.ptr.layerHeight = strips[which].layer;
    o->extent.width = strips[which].width;
    o->extent.height = strips[which].height;
    o->extent.depth = strips[which].depth;
    use(&from[MAPPED]);
    use(&to[MAPPED]);
    CUresult r = call_box_batch(newer, &b);
    CUresult sync = cuCtxSynchronize();
    CUdeviceptr start = there->op.ptr.ptr;
    say(id, "%s sync=%s%s wrote=%s first=%s layer=%s", name_of(r), name_of(sync), failed(newer), made(&to[MAPPED], 0, 3, BOX_BYTES), is_new(start),
        is_new(start + strips[which].pitch * strips[which].layer));
    for (size_t g = 0; g < 7; g++)
        cuMemsetD8(strip + g * G, BLANK, G);
    cuCtxSynchronize();
}

static void box_batch_when(void)
{
    struct box_batch b;
    CUgraph graph;
    char id[CASE_ID];
    start_batches();
    use(&from[MAPPED]);
    for (int newer = 0; newer < 2; newer++) {
        for (int mode = 0; mode < 3; mode += 2) {
            good_box_batch(&b);
            cuStreamBeginCapture(batch_stream, (CUstreamCaptureMode)mode);
            CUresult r = call_box_batch(newer, &b);
            snprintf(id, sizeof id, "K.capture.v%d.mode%d", newer + 1, mode);
            say(id, "%s%s end=%s", name_of(r), failed(newer), name_of(cuStreamEndCapture(batch_stream, &graph)));
        }
        good_box_batch(&b);
        cuCtxSetCurrent(NULL);
        snprintf(id, sizeof id, "K.noctx.v%d", newer + 1);
        CUresult r = call_box_batch(newer, &b);
        say(id, "%s%s", name_of(r), failed(newer));
        cuCtxSetCurrent(primary[0]);
    }
    good_box_batch(&b);
    R("K.fail_null", cuMemcpy3DBatchAsync(b.count, b.ops, NULL, 0, b.stream));
    b.op[1].extent.width = 0;
    R("K.fail_null_wrong", cuMemcpy3DBatchAsync(b.count, b.ops, NULL, 0, b.stream));
    R("K.when.sync", cuCtxSynchronize());
}

static void group_k(void)
{
    generate("K", start_batches, (size_t)BOX_EDITS * 2, box_batch_edits_case);
    generate("K", start_batches, 2 * 2 * 2 * 2 * kinds(), box_batch_kinds_case);
    generate("K", start_batch_strips, COUNT(strips) * 2 * 2, box_batch_strips_case);
    child("K.when!", box_batch_when);
}
