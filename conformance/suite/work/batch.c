/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of copies: which copies are made, which are refused, and what a refusal leaves. */
#include <string.h>

#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NOWHERE UINT64_MAX

enum { COPIES = 3, BYTES = 64, STEP = 256, SIZE = 1 << 16, OLD = 0x11, NEW = 0x22 };

/* Two allocations with bytes of their own, and a batch from one to the other. */
struct batch {
    vmm_deviceptr to, from, dst[COPIES], src[COPIES];
    uint64_t size[COPIES], first[COPIES], count, attributes, failed;
    vmm_memcpy_attributes attribute[COPIES];
    vmm_memcpy3d_batch_op box[COPIES];
    vmm_stream stream;
};

static struct batch batch_of(struct fix *f)
{
    struct batch b = {.count = COPIES, .attributes = 1};
    ACCEPTED(vmm_stream_create(S, &b.stream, VMM_STREAM_NON_BLOCKING));
    ACCEPTED(vmm_mem_alloc(S, &b.to, SIZE));
    ACCEPTED(vmm_mem_alloc(S, &b.from, SIZE));
    ACCEPTED(vmm_memset_d8(S, b.to, OLD, SIZE));
    ACCEPTED(vmm_memset_d8(S, b.from, NEW, SIZE));
    ACCEPTED(vmm_ctx_synchronize(S));
    for (unsigned i = 0; i < COPIES; i++) {
        b.dst[i] = b.to + i * STEP;
        b.src[i] = b.from + i * STEP;
        b.size[i] = BYTES;
        b.first[i] = i;
        b.attribute[i].src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        b.box[i] = (vmm_memcpy3d_batch_op){.src = {.type = VMM_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = b.src[i]},
                                           .dst = {.type = VMM_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = b.dst[i]},
                                           .extent = {BYTES / 4, 2, 2},
                                           .src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    }
    return b;
}

/* Both forms; the older one says where it failed. */
static vmm_result copied(struct fix *f, struct batch *b, bool older)
{
    b->failed = 77;
    return older ? vmm_memcpy_batch_async_v1(S, b->dst, b->src, b->size, b->count, b->attribute, b->first, b->attributes, &b->failed,
                                             b->stream)
                 : vmm_memcpy_batch_async(S, b->dst, b->src, b->size, b->count, b->attribute, b->first, b->attributes, b->stream);
}

static vmm_result boxed(struct fix *f, struct batch *b, bool older, uint64_t flags)
{
    b->failed = 77;
    return older ? vmm_memcpy_3d_batch_async_v1(S, b->count, b->box, &b->failed, flags, b->stream)
                 : vmm_memcpy_3d_batch_async(S, b->count, b->box, flags, b->stream);
}

static unsigned char bytes[SIZE];

/* How many bytes of the destination are those of the source; makes them the old ones again. */
static unsigned moved(struct fix *f, const struct batch *b)
{
    unsigned count = 0;
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_memcpy_dtoh(S, bytes, b->to, SIZE));
    for (unsigned i = 0; i < SIZE; i++)
        count += bytes[i] == NEW;
    ACCEPTED(vmm_memset_d8(S, b->to, OLD, SIZE));
    ACCEPTED(vmm_ctx_synchronize(S));
    return count;
}

static void ended(struct fix *f, const struct batch *b)
{
    ACCEPTED(vmm_mem_free(S, b->from));
    ACCEPTED(vmm_mem_free(S, b->to));
    ACCEPTED(vmm_stream_destroy(S, b->stream));
}

TEST_EXPECTS("batch.copies", batch_copies)
{
    struct batch b = batch_of(f);
    for (int older = 0; older < 2; older++) {
        ACCEPTED(copied(f, &b, older));
        CHECK_U64(b.failed, older ? NOWHERE : 77);
        CHECK_U64(moved(f, &b), COPIES * BYTES);
        ACCEPTED(boxed(f, &b, older, 0));
        CHECK_U64(b.failed, older ? NOWHERE : 77);
        CHECK_U64(moved(f, &b), COPIES * BYTES);
        CHECK(bytes[STEP] == NEW && bytes[STEP + BYTES - 1] == NEW && bytes[STEP + BYTES] == OLD, "the boxes are elsewhere");
    }
    b.attributes = COPIES;
    b.attribute[1].src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_ANY;
    b.attribute[2].flags = VMM_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
    b.attribute[2].src_loc_hint.type = VMM_MEM_LOCATION_TYPE_DEVICE;
    ACCEPTED(copied(f, &b, true));
    CHECK_U64(moved(f, &b), COPIES * BYTES);
    ACCEPTED(vmm_memcpy_batch_async_v1(S, b.dst, b.src, b.size, 1, b.attribute, b.first, 1, NULL, VMM_STREAM_PER_THREAD));
    CHECK_U64(moved(f, &b), BYTES);
    ended(f, &b);
}

TEST_EXPECTS("batch.copies", batch_copies_from_and_to_the_host)
{
    struct batch b = batch_of(f);
    unsigned char in[BYTES], out[BYTES], between[BYTES];
    memset(in, NEW, sizeof in);
    memset(out, 0, sizeof out);
    memset(between, 0, sizeof between);
    b.src[0] = (vmm_deviceptr)(uintptr_t)in;
    b.src[1] = b.from;
    b.dst[1] = (vmm_deviceptr)(uintptr_t)out;
    b.src[2] = (vmm_deviceptr)(uintptr_t)in;
    b.dst[2] = (vmm_deviceptr)(uintptr_t)between;
    ACCEPTED(copied(f, &b, true));
    CHECK_U64(moved(f, &b), BYTES);
    CHECK(!memcmp(in, out, BYTES) && !memcmp(in, between, BYTES), "other bytes come to the host");
    ended(f, &b);
}

TEST_EXPECTS("batch.copies", batch_of_boxes_with_gaps)
{
    struct batch b = batch_of(f);
    b.count = 1;
    b.box[0].dst.op.ptr.row_length = 32;
    b.box[0].dst.op.ptr.layer_height = 4;
    ACCEPTED(boxed(f, &b, true, 0));
    CHECK_U64(moved(f, &b), BYTES);
    CHECK(bytes[15] == NEW && bytes[16] == OLD && bytes[32] == NEW && bytes[64] == OLD && bytes[128] == NEW && bytes[160 + 15] == NEW &&
              bytes[160 + 16] == OLD,
          "the rows are elsewhere");
    ended(f, &b);
}

/* Where a copy is refused by its own rule, those before it are made. */
TEST_EXPECTS("batch.copies", batch_whose_copy_is_refused)
{
    fix_need_simulator(f, "an H100 accepted such a batch, and the process ended");
    struct batch b = batch_of(f);
    vmm_deviceptr nothing = fix_reserve(f, f->g);
    b.dst[1] = nothing;
    REFUSED_BY("VMM-COPY-NOT-MAPPED", copied(f, &b, true), INVALID_VALUE, "dstDevice", nothing);
    CHECK_U64(b.failed, 1);
    CHECK_U64(moved(f, &b), BYTES);
    b.box[1].dst.op.ptr.ptr = nothing;
    REFUSED_BY("VMM-ROWS-MEMORY", boxed(f, &b, true, 0), INVALID_VALUE, "dst", nothing);
    CHECK_U64(b.failed, NOWHERE);
    CHECK_U64(moved(f, &b), BYTES);
    ended(f, &b);
}

/* The batch is refused as a whole, in both forms, and the older one says where. */
#define NOT_COPIED(b, call, argument, value, where)                             \
    do {                                                                        \
        for (int older = 0; older < 2; older++) {                               \
            REFUSED(call, INVALID_VALUE, argument, (uint64_t)(value));          \
            CHECK_U64((b)->failed, older ? (where) : 77);                       \
        }                                                                       \
        CHECK_U64(moved(f, (b)), 0);                                            \
    } while (0)

TEST_BREAKS(BATCH_STREAM, batch_without_a_stream)
{
    struct batch b = batch_of(f);
    vmm_stream stream = b.stream;
    vmm_context context = NULL;
    b.stream = NULL;
    NOT_COPIED(&b, copied(f, &b, older), "hStream", 0, 77);
    NOT_COPIED(&b, boxed(f, &b, older, 0), "hStream", 0, 77);
    b.stream = VMM_STREAM_LEGACY;
    NOT_COPIED(&b, copied(f, &b, older), "hStream", (uintptr_t)VMM_STREAM_LEGACY, NOWHERE);
    NOT_COPIED(&b, boxed(f, &b, older, 0), "hStream", (uintptr_t)VMM_STREAM_LEGACY, NOWHERE);
    b.stream = stream;
    ACCEPTED(vmm_ctx_get_current(S, &context));
    ACCEPTED(vmm_ctx_set_current(S, NULL));
    REFUSED(copied(f, &b, true), INVALID_VALUE, "hStream", (uintptr_t)stream);
    REFUSED(boxed(f, &b, true, 0), INVALID_VALUE, "hStream", (uintptr_t)stream);
    ACCEPTED(vmm_ctx_set_current(S, context));
    CHECK_U64(moved(f, &b), 0);
    ended(f, &b);
}

TEST_BREAKS(BATCH_ARGUMENTS, batch_without_arguments)
{
    struct batch b = batch_of(f);
    b.count = 0;
    NOT_COPIED(&b, copied(f, &b, older), "count", 0, NOWHERE);
    NOT_COPIED(&b, boxed(f, &b, older, 0), "numOps", 0, NOWHERE);
    b.count = COPIES;
    b.attributes = 0;
    NOT_COPIED(&b, copied(f, &b, older), "numAttrs", 0, NOWHERE);
    b.attributes = COPIES + 1;
    NOT_COPIED(&b, copied(f, &b, older), "numAttrs", COPIES + 1, NOWHERE);
    NOT_COPIED(&b, boxed(f, &b, older, 1), "flags", 1, NOWHERE);
    REFUSED(vmm_memcpy_batch_async(S, NULL, b.src, b.size, 1, b.attribute, b.first, 1, b.stream), INVALID_VALUE, "dsts", 0);
    REFUSED(vmm_memcpy_batch_async(S, b.dst, NULL, b.size, 1, b.attribute, b.first, 1, b.stream), INVALID_VALUE, "srcs", 0);
    REFUSED(vmm_memcpy_batch_async(S, b.dst, b.src, NULL, 1, b.attribute, b.first, 1, b.stream), INVALID_VALUE, "sizes", 0);
    REFUSED(vmm_memcpy_batch_async(S, b.dst, b.src, b.size, 1, NULL, b.first, 1, b.stream), INVALID_VALUE, "attrs", 0);
    REFUSED(vmm_memcpy_batch_async(S, b.dst, b.src, b.size, 1, b.attribute, NULL, 1, b.stream), INVALID_VALUE, "attrsIdxs", 0);
    REFUSED(vmm_memcpy_3d_batch_async(S, 1, NULL, 0, b.stream), INVALID_VALUE, "opList", 0);
    CHECK_U64(moved(f, &b), 0);
    ended(f, &b);
}

TEST_BREAKS(BATCH_ATTRIBUTES, batch_with_other_attributes)
{
    struct batch b = batch_of(f);
    b.first[0] = 1;
    NOT_COPIED(&b, copied(f, &b, older), "attrsIdxs", 1, NOWHERE);
    b.first[0] = 0;
    b.attributes = 2;
    b.first[1] = 0;
    NOT_COPIED(&b, copied(f, &b, older), "attrsIdxs", 0, NOWHERE);
    b.first[1] = COPIES;
    NOT_COPIED(&b, copied(f, &b, older), "attrsIdxs", COPIES, NOWHERE);
    b.first[1] = 1;
    b.attribute[1].src_access_order = 0;
    NOT_COPIED(&b, copied(f, &b, older), "attrs", 0, NOWHERE);
    b.attribute[1].src_access_order = 4;
    NOT_COPIED(&b, copied(f, &b, older), "attrs", 4, NOWHERE);
    b.attribute[1].src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_ANY;
    b.attribute[1].flags = 2;
    NOT_COPIED(&b, copied(f, &b, older), "attrs", 2, NOWHERE);
    b.attribute[1].flags = 0;
    b.attribute[1].dst_loc_hint = (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, 99};
    NOT_COPIED(&b, copied(f, &b, older), "attrs", VMM_MEM_LOCATION_TYPE_DEVICE, NOWHERE);
    b.attribute[1].dst_loc_hint.id = -1;
    NOT_COPIED(&b, copied(f, &b, older), "attrs", VMM_MEM_LOCATION_TYPE_DEVICE, NOWHERE);
    b.attribute[1].src_loc_hint.type = 5;
    NOT_COPIED(&b, copied(f, &b, older), "attrs", 5, NOWHERE);
    b.box[1].src_access_order = 0;
    NOT_COPIED(&b, boxed(f, &b, older, 0), "opList", 0, 1);
    b.box[1].src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    b.box[1].flags = 2;
    NOT_COPIED(&b, boxed(f, &b, older, 0), "opList", 2, 1);
    ended(f, &b);
}

/* Ranges before it are copied, so more than the answer changes. */
TEST_BREAKS(BATCH_SIZE, batch_with_nothing_to_copy)
{
    struct batch b = batch_of(f);
    b.size[2] = 0;
    for (int older = 0; older < 2; older++) {
        REFUSED(copied(f, &b, older), INVALID_VALUE, "sizes", 0);
        CHECK_U64(b.failed, older ? 2 : 77);
        CHECK_U64(moved(f, &b), 2 * BYTES);
    }
    b.box[2].extent.width = 0;
    NOT_COPIED(&b, boxed(f, &b, older, 0), "opList", 0, 2);
    b.box[2].extent = (struct vmm_extent3d){1, 0, 1};
    NOT_COPIED(&b, boxed(f, &b, older, 0), "opList", 0, 2);
    b.box[2].extent = (struct vmm_extent3d){1, 1, 0};
    NOT_COPIED(&b, boxed(f, &b, older, 0), "opList", 0, 2);
    ended(f, &b);
}

TEST_BREAKS(BATCH_OPERAND, batch_with_other_operands)
{
    struct batch b = batch_of(f);
    b.box[0].src.type = VMM_MEMCPY_OPERAND_TYPE_POINTER + 2;
    NOT_COPIED(&b, boxed(f, &b, older, 0), "opList", VMM_MEMCPY_OPERAND_TYPE_POINTER + 2, 0);
    b.box[0].src.type = VMM_MEMCPY_OPERAND_TYPE_POINTER;
    b.box[0].src.op.ptr.row_length = BYTES / 4 - 1;
    NOT_COPIED(&b, boxed(f, &b, older, 0), "opList", BYTES / 4 - 1, 0);
    b.box[0].src.op.ptr.row_length = 0;
    b.box[1].dst.op.ptr.layer_height = 1;
    NOT_COPIED(&b, boxed(f, &b, older, 0), "opList", 1, 1);
    ended(f, &b);
}
