/* SPDX-License-Identifier: Apache-2.0 */
/* Stream memory operations: which calls are refused, and that a refused call has written nothing and leaves no work behind. */
#include <string.h>

#include "scheduled.h"
#include "test.h"
#include "zeros.h"

#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE

enum {
    WAIT32 = VMM_STREAM_MEM_OP_WAIT_VALUE_32,
    WRITE32 = VMM_STREAM_MEM_OP_WRITE_VALUE_32,
    FLUSHES = VMM_STREAM_MEM_OP_FLUSH_REMOTE_WRITES,
    WAIT64 = VMM_STREAM_MEM_OP_WAIT_VALUE_64,
    WRITE64 = VMM_STREAM_MEM_OP_WRITE_VALUE_64,
    BARRIER = VMM_STREAM_MEM_OP_BARRIER,
    EQ = VMM_STREAM_WAIT_VALUE_EQ,
    NOR = VMM_STREAM_WAIT_VALUE_NOR,
    FLUSH = VMM_STREAM_WAIT_VALUE_FLUSH
};

typedef vmm_stream_batch_mem_op_params op_t;

static op_t op_of(int operation, vmm_deviceptr at, uint64_t value, unsigned flags)
{
    op_t op;
    memset(&op, 0, sizeof op);
    op.operation = operation;
    if (operation == FLUSHES || operation == BARRIER) {
        op.memory_barrier.flags = flags;
        return op;
    }
    op.wait_value.address = at;
    op.wait_value.value64 = value;
    op.wait_value.flags = flags;
    return op;
}

/* The stream has no work, and the memory holds zeros. */
static void nothing_done(struct fix *f, vmm_stream stream, vmm_deviceptr p)
{
    ACCEPTED(vmm_stream_query(S, stream));
    CHECK_U64(word_at(f, p), 0);
}

/* ---- batches ---- */

TEST_BREAKS(MEMOP_COUNT, more_operations_than_a_batch_holds)
{
    static op_t list[300];
    static const unsigned counts[] = {256, 257, 300, 65536, UINT32_MAX};
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = fix_stream(f);
    for (unsigned i = 0; i < 300; i++)
        list[i] = op_of(WRITE32, p, i + 1, 0);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        REFUSED(vmm_stream_batch_mem_op(S, stream, counts[i], list, 0), INVALID_VALUE, "count", counts[i]);
    REFUSED(vmm_stream_batch_mem_op(S, stream, 256, NULL, 1), INVALID_VALUE, "count", 256); /* before the list and the flags */
    nothing_done(f, stream, p);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(MEMOP_COUNT, as_many_operations_as_a_batch_holds)
{
    static op_t list[255];
    vmm_deviceptr p = zeros(f);
    for (unsigned i = 0; i < 255; i++)
        list[i] = op_of(WRITE32, p + 4 * i, i + 1, 0);
    ACCEPTED(vmm_stream_batch_mem_op(S, NULL, 255, list, 0));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p + 4 * 253), UINT64_C(255) << 32 | 254);
}

TEST_BREAKS(MEMOP_BATCH_FLAGS, a_batch_with_flags)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = fix_stream(f);
    const op_t one = op_of(WRITE32, p, 1, 0);
    for (int bit = 0; bit < 32; bit++)
        REFUSED(vmm_stream_batch_mem_op(S, stream, 1, &one, 1u << bit), INVALID_VALUE, "flags", 1u << bit);
    REFUSED(vmm_stream_batch_mem_op(S, stream, 0, NULL, 1), INVALID_VALUE, "flags", 1);
    nothing_done(f, stream, p);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(MEMOP_BATCH_FLAGS, a_batch_of_nothing)
{
    const op_t none = op_of(0, 0, 0, 0);
    ACCEPTED(vmm_stream_batch_mem_op(S, NULL, 0, &none, 0));
    ACCEPTED(vmm_stream_batch_mem_op(S, NULL, 0, NULL, 0));
    ACCEPTED(vmm_ctx_synchronize(S));
}

TEST_BREAKS(MEMOP_NULL, a_batch_without_a_list)
{
    fix_need_simulator(f, "a driver ends the process");
    REFUSED(vmm_stream_batch_mem_op(S, NULL, 1, NULL, 0), INVALID_VALUE, "paramArray", 0);
    REFUSED(vmm_stream_batch_mem_op(S, NULL, 255, NULL, 0), INVALID_VALUE, "paramArray", 0);
}

TEST_NEAR_MISS(MEMOP_NULL, a_batch_with_a_list)
{
    const op_t one = op_of(BARRIER, 0, 0, VMM_STREAM_MEMORY_BARRIER_TYPE_GPU);
    ACCEPTED(vmm_stream_batch_mem_op(S, NULL, 1, &one, 0));
    ACCEPTED(vmm_ctx_synchronize(S));
}

TEST_BREAKS(MEMOP_OPERATION, entries_that_are_no_operations)
{
    static const int wrong[] = {0, 7, 8, 16, 255, 0x10002, -1, INT32_MAX, INT32_MIN};
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = fix_stream(f);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        for (size_t place = 0; place < 3; place++) {
            op_t list[3] = {op_of(WRITE32, p, 1, 0), op_of(WRITE32, p, 2, 0), op_of(WRITE32, p, 3, 0)};
            list[place].operation = wrong[i];
            REFUSED(vmm_stream_batch_mem_op(S, stream, 3, list, 0), INVALID_VALUE, "paramArray", (uint64_t)(int64_t)wrong[i]);
        }
    nothing_done(f, stream, p);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(MEMOP_OPERATION, a_batch_of_every_operation)
{
    vmm_deviceptr p = zeros(f);
    op_t list[] = {op_of(WRITE32, p, 7, 0),      op_of(WAIT32, p, 7, EQ),  op_of(BARRIER, 0, 0, 0),
                   op_of(WRITE64, p + 8, 9, 0),  op_of(WAIT64, p + 8, 9, EQ), op_of(BARRIER, 0, 0, 1),
                   op_of(WAIT32, p, 5, VMM_STREAM_WAIT_VALUE_GEQ), op_of(WAIT32, p, 2, VMM_STREAM_WAIT_VALUE_AND)};
    ACCEPTED(vmm_stream_batch_mem_op(S, NULL, sizeof list / sizeof list[0], list, 0));
    memset(list, 0xff, sizeof list); /* the call has read it */
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), 7);
    CHECK_U64(word_at(f, p + 8), 9);
}

/* ---- single operations ---- */

TEST_BREAKS(MEMOP_FLAGS, operations_with_flags_of_nothing)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = fix_stream(f);
    for (int bit = 0; bit < 32; bit++) {
        const unsigned flags = 1u << bit;
        const op_t write = op_of(WRITE64, p, 1, flags), barrier = op_of(BARRIER, 0, 0, flags);
        REFUSED(vmm_stream_write_value32(S, stream, p, 1, flags), INVALID_VALUE, "flags", flags);
        REFUSED(vmm_stream_write_value64(S, stream, p, 1, flags), INVALID_VALUE, "flags", flags);
        REFUSED(vmm_stream_batch_mem_op(S, stream, 1, &write, 0), INVALID_VALUE, "paramArray", flags);
        if (flags > 1)
            REFUSED(vmm_stream_batch_mem_op(S, stream, 1, &barrier, 0), INVALID_VALUE, "paramArray", flags);
        if (flags <= NOR || flags == FLUSH)
            continue;
        REFUSED(vmm_stream_wait_value32(S, stream, p, 0, flags), INVALID_VALUE, "flags", flags);
        REFUSED(vmm_stream_wait_value64(S, stream, p, 0, flags | EQ), INVALID_VALUE, "flags", flags | EQ);
    }
    nothing_done(f, stream, p);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(MEMOP_FLAGS, each_comparison)
{
    vmm_deviceptr p = zeros(f);
    ACCEPTED(vmm_stream_write_value32(S, NULL, p, 5, VMM_STREAM_WRITE_VALUE_DEFAULT));
    ACCEPTED(vmm_stream_write_value64(S, NULL, p + 8, UINT64_C(5) << 40, VMM_STREAM_WRITE_VALUE_DEFAULT));
    for (unsigned how = VMM_STREAM_WAIT_VALUE_GEQ; how <= VMM_STREAM_WAIT_VALUE_NOR; how++) {
        ACCEPTED(vmm_stream_wait_value32(S, NULL, p, 5, how));
        ACCEPTED(vmm_stream_wait_value64(S, NULL, p + 8, UINT64_C(5) << 40, how));
    }
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p + 8), UINT64_C(5) << 40);
}

TEST_BREAKS(MEMOP_UNSUPPORTED, flushes_of_remote_writes)
{
    int can = 0;
    vmm_deviceptr p = zeros(f);
    ACCEPTED(vmm_device_get_attribute(S, &can, 98, 0));
    if (can)
        fix_skip(f, "the device can flush remote writes");
    const op_t flush = op_of(FLUSHES, 0, 0, 0);
    for (unsigned how = 0; how <= NOR; how++) {
        REFUSED(vmm_stream_wait_value32(S, NULL, p, 0, FLUSH | how), NOT_SUPPORTED, "flags", WAIT32);
        REFUSED(vmm_stream_wait_value64(S, NULL, p, 0, FLUSH | how), NOT_SUPPORTED, "flags", WAIT64);
    }
    REFUSED(vmm_stream_batch_mem_op(S, NULL, 1, &flush, 0), NOT_SUPPORTED, "paramArray", FLUSHES);
    ACCEPTED(vmm_ctx_synchronize(S));
}

TEST_NEAR_MISS(MEMOP_UNSUPPORTED, waits_without_a_flush)
{
    vmm_deviceptr p = zeros(f);
    ACCEPTED(vmm_stream_wait_value32(S, NULL, p, 0, EQ));
    ACCEPTED(vmm_stream_wait_value64(S, NULL, p, 0, NOR));
    ACCEPTED(vmm_ctx_synchronize(S));
}

TEST_BREAKS(MEMOP_ALIGNMENT, values_between_their_multiples)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = fix_stream(f);
    for (unsigned offset = 1; offset < 8; offset++) {
        const op_t wide = op_of(WRITE64, p + offset, 1, 0);
        REFUSED(vmm_stream_write_value64(S, stream, p + offset, 1, 0), INVALID_VALUE, "addr", p + offset);
        REFUSED(vmm_stream_wait_value64(S, stream, p + offset, 0, EQ), INVALID_VALUE, "addr", p + offset);
        REFUSED(vmm_stream_batch_mem_op(S, stream, 1, &wide, 0), INVALID_VALUE, "paramArray", p + offset);
        if (offset == 4)
            continue;
        REFUSED(vmm_stream_write_value32(S, stream, p + offset, 1, 0), INVALID_VALUE, "addr", p + offset);
        REFUSED(vmm_stream_wait_value32(S, stream, p + offset, 0, EQ), INVALID_VALUE, "addr", p + offset);
    }
    nothing_done(f, stream, p);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(MEMOP_ALIGNMENT, values_at_their_multiples)
{
    vmm_deviceptr p = zeros(f);
    ACCEPTED(vmm_stream_write_value32(S, NULL, p + 4, 1, 0));
    ACCEPTED(vmm_stream_write_value32(S, NULL, p + f->g - 4, 1, 0));
    ACCEPTED(vmm_stream_write_value64(S, NULL, p + f->g - 16, 1, 0));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), UINT64_C(1) << 32);
}

/* ---- memory ---- */

static void refuse_at(struct fix *f, vmm_stream stream, vmm_deviceptr at)
{
    const op_t one = op_of(WAIT32, at, 0, NOR);
    REFUSED(vmm_stream_write_value32(S, stream, at, 1, 0), INVALID_VALUE, "addr", at);
    REFUSED(vmm_stream_write_value64(S, stream, at, 1, 0), INVALID_VALUE, "addr", at);
    REFUSED(vmm_stream_wait_value32(S, stream, at, 0, NOR), INVALID_VALUE, "addr", at);
    REFUSED(vmm_stream_wait_value64(S, stream, at, 0, NOR), INVALID_VALUE, "addr", at);
    REFUSED(vmm_stream_batch_mem_op(S, stream, 1, &one, 0), INVALID_VALUE, "paramArray", at);
}

TEST_BREAKS(MEMOP_ADDRESS, addresses_without_memory)
{
    static uint64_t own;
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p + f->g, f->g, fix_create(f, f->g));
    fix_access(f, p + f->g, f->g, RW);
    refuse_at(f, stream, 0);
    refuse_at(f, stream, UINT64_C(1) << 46);
    refuse_at(f, stream, UINT64_MAX - 7);
    refuse_at(f, stream, (vmm_deviceptr)(uintptr_t)&own);
    refuse_at(f, stream, p);
    refuse_at(f, stream, p + f->g - 8);
    refuse_at(f, stream, p + 2 * f->g);
    ACCEPTED(vmm_mem_unmap(S, p + f->g, f->g));
    fix_forget(f, FIX_MAPPING, p + f->g, f->g);
    refuse_at(f, stream, p + f->g);
    ACCEPTED(vmm_stream_query(S, stream));
    fix_stream_destroy(f, stream);
}

/* Memory of a pool, before and after a free. */
TEST_BREAKS(MEMOP_ADDRESS, memory_of_a_pool)
{
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = 0;
    if (!fix_attribute(f, 115))
        fix_skip(f, "the machine has no memory pools");
    ACCEPTED(vmm_mem_alloc_async(S, &p, 4096, stream));
    refuse_at(f, stream, p);
    refuse_at(f, stream, p + 2048);
    ACCEPTED(vmm_mem_free_async(S, p, stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    refuse_at(f, stream, p);
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(MEMOP_ADDRESS, the_first_and_the_last_value_of_memory)
{
    vmm_deviceptr p = zeros(f), q = fix_alloc(f, 4096);
    for (int last = 0; last < 2; last++) {
        ACCEPTED(vmm_stream_write_value64(S, NULL, last ? p + f->g - 8 : p, 3, 0));
        ACCEPTED(vmm_stream_wait_value64(S, NULL, last ? p + f->g - 8 : p, 3, EQ));
        ACCEPTED(vmm_stream_write_value32(S, NULL, last ? q + 4092 : q, 3, 0));
        ACCEPTED(vmm_stream_wait_value32(S, NULL, last ? q + 4092 : q, 3, EQ));
    }
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), 3);
}

TEST_BREAKS(MEMOP_NO_ACCESS, memory_without_rights)
{
    vmm_stream stream = fix_stream(f);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    refuse_at(f, stream, p);
    fix_access(f, p, f->g, RW);
    fix_access(f, p, f->g, NONE);
    refuse_at(f, stream, p + 64);
    ACCEPTED(vmm_stream_query(S, stream));
    fix_stream_destroy(f, stream);
}

TEST_NEAR_MISS(MEMOP_NO_ACCESS, waits_on_memory_to_read)
{
    vmm_deviceptr p = zeros(f);
    fix_access(f, p, f->g, READ);
    ACCEPTED(vmm_stream_wait_value32(S, NULL, p, 0, EQ));
    ACCEPTED(vmm_stream_wait_value64(S, NULL, p + 8, 0, NOR));
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* A driver accepts the write, and loses the device when its turn comes. */
TEST_BREAKS(MEMOP_READ_ONLY, writes_to_memory_to_read)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = zeros(f);
    fix_access(f, p, f->g, READ);
    WARNED(vmm_stream_write_value32(S, NULL, p, 1, 0), INVALID_VALUE, "addr", p);
    if (!test_refuses(f, NULL)) {
        CHECK_U64(vmm_ctx_synchronize(S), VMM_ERROR_LAUNCH_FAILED);
        CHECK(strcmp(vmm_last_detail()->rule, "VMM-FAULT-MEMOP") == 0, "by %s", vmm_last_detail()->rule);
    }
    fix_close(f);
}

TEST_NEAR_MISS(MEMOP_READ_ONLY, writes_to_memory_that_was_to_read)
{
    vmm_deviceptr p = zeros(f);
    fix_access(f, p, f->g, READ);
    fix_access(f, p, f->g, RW);
    ACCEPTED(vmm_stream_write_value32(S, NULL, p, 1, 0));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, p), 1);
}

/* ---- faults ---- */

/* Memory that is unmapped while the operation is pending, behind a wait or as the wait itself. */
static void lose_by_unmapping(struct fix *root, const char *schedule, bool polled)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, schedule);
    vmm_deviceptr p = zeros(f), gate = zeros(f);
    vmm_stream stream = NULL;
    ACCEPTED(vmm_stream_create(S, &stream, VMM_STREAM_NON_BLOCKING)); /* not destroyed: the device is lost */
    ACCEPTED(vmm_stream_wait_value32(S, stream, polled ? p : gate, 1, EQ));
    if (!polled)
        ACCEPTED(vmm_stream_write_value32(S, stream, p, 1, 0));
    CHECK_U64(vmm_stream_query(S, stream), VMM_ERROR_NOT_READY); /* the wait's turn has come */
    CHECK_U64(vmm_mem_unmap(S, p, f->g), VMM_SUCCESS);
    CHECK(strcmp(vmm_last_detail()->rule, "VMM-UNMAP-IN-FLIGHT") == 0, "no warning about work in flight");
    fix_forget(f, FIX_MAPPING, p, f->g);
    if (polled) { /* memory that is there again does not help */
        fix_map(f, p, f->g, fix_create(f, f->g));
        fix_access(f, p, f->g, RW);
    }
    if (!polled)
        ACCEPTED(vmm_stream_write_value32(S, NULL, gate, 1, 0));
    CHECK_U64(vmm_stream_synchronize(S, stream), VMM_ERROR_LAUNCH_FAILED);
    CHECK(strcmp(vmm_last_detail()->rule, "VMM-FAULT-MEMOP") == 0, "by %s", vmm_last_detail()->rule);
    const vmm_fault *fault = vmm_last_detail()->fault;
    CHECK(fault && fault->kernel == -1 && fault->address == p && fault->writes == !polled && fault->size == 4,
          "the fault is reported differently");
    fix_close(f);
}

TEST_BREAKS(FAULT_MEMOP, unmap_what_an_operation_uses)
{
    for (int i = 0; i < SCHEDULES; i++) {
        lose_by_unmapping(f, schedules[i], false);
        lose_by_unmapping(f, schedules[i], true);
    }
}

TEST_NEAR_MISS(FAULT_MEMOP, unmap_after_the_operation)
{
    vmm_deviceptr p = zeros(f);
    ACCEPTED(vmm_stream_write_value32(S, NULL, p, 1, 0));
    ACCEPTED(vmm_stream_wait_value32(S, NULL, p, 1, EQ));
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_unmap(f, p, f->g);
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* Refused with the code of the loss, by the test's rule, whatever the other arguments are. */
#define LOST(call, value, kind) REFUSED_LIKE(call, NULL, VMM_ERROR_LAUNCH_FAILED, NULL, value, VMM_OBJECT_##kind, 0)

TEST_BREAKS(FAULT_MEMOP_STICKY, work_on_a_device_lost_by_a_value)
{
    struct fix own, *root = f;
    scheduled_open(root, &own, "late");
    f = &own;
    vmm_deviceptr p = zeros(f), q = 0;
    vmm_context made = NULL;
    const uint64_t value = (uintptr_t)f->ctx;
    ACCEPTED(vmm_stream_write_value64(S, NULL, p, 1, 0));
    CHECK_U64(vmm_mem_unmap(S, p, f->g), VMM_SUCCESS);
    fix_forget(f, FIX_MAPPING, p, f->g);
    CHECK_U64(vmm_ctx_synchronize(S), VMM_ERROR_LAUNCH_FAILED);
    LOST(vmm_ctx_synchronize(S), value, CONTEXT);
    LOST(vmm_stream_write_value32(S, NULL, p + 1, 1, 0x100), value, CONTEXT);
    LOST(vmm_stream_wait_value64(S, NULL, 0, 1, EQ), value, CONTEXT);
    LOST(vmm_stream_batch_mem_op(S, NULL, 300, NULL, 1), value, CONTEXT);
    LOST(vmm_mem_alloc(S, &q, f->g), value, CONTEXT);
    LOST(vmm_ctx_create(S, &made, 0, 0), 0, DEVICE);
    ACCEPTED(vmm_mem_address_reserve(S, &q, f->g, 0, 0, 0));
    ACCEPTED(vmm_mem_address_free(S, q, f->g));
    fix_close(f);
}

TEST_NEAR_MISS(FAULT_MEMOP_STICKY, operations_after_refused_ones)
{
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    CHECK_U64(vmm_stream_write_value32(S, NULL, p, 1, 0), VMM_ERROR_INVALID_VALUE);
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_access(f, p, f->g, RW);
    ACCEPTED(vmm_stream_write_value32(S, NULL, p, 1, 0));
    ACCEPTED(vmm_ctx_synchronize(S));
}

/* ---- waits that nothing ends ---- */

TEST_BREAKS(MEMOP_NEVER, wait_for_what_nobody_writes)
{
    struct fix *root = f;
    for (int i = 0; i < SCHEDULES; i++) {
        struct fix own;
        scheduled_open(root, &own, schedules[i]);
        f = &own;
        f->races = true; /* it looks whether the write is done that nothing lets be done */
        vmm_deviceptr p = zeros(f);
        vmm_stream stream = fix_stream(f);
        ACCEPTED(vmm_stream_wait_value32(S, stream, p, 1, EQ));
        ACCEPTED(vmm_stream_write_value32(S, stream, p, 1, 0)); /* behind the wait: never done */
        CHECK_U64(vmm_stream_query(S, stream), VMM_ERROR_NOT_READY);
        REFUSED(vmm_stream_synchronize(S, stream), NOT_READY, NULL, p);
        REFUSED(vmm_ctx_synchronize(S), NOT_READY, NULL, p);
        CHECK_U64(word_at(f, p), 0); /* the default stream waits for no such stream */
        ACCEPTED(vmm_stream_write_value32(S, NULL, p, 1, 0));
        ACCEPTED(vmm_stream_synchronize(S, stream));
        CHECK_U64(word_at(f, p), 1);
        fix_stream_destroy(f, stream);
        fix_close(f);
    }
}

TEST_NEAR_MISS(MEMOP_NEVER, wait_for_what_another_stream_writes)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream waits = fix_stream(f), writes = fix_stream(f);
    ACCEPTED(vmm_stream_wait_value32(S, waits, p, 1, EQ));
    CHECK_U64(vmm_stream_query(S, waits), VMM_ERROR_NOT_READY);
    ACCEPTED(vmm_stream_write_value32(S, writes, p, 1, 0));
    ACCEPTED(vmm_stream_synchronize(S, waits));
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_stream_destroy(f, waits);
    fix_stream_destroy(f, writes);
}

/* A wait that holds up later work of its stream, and of no other. */
TEST_EXPECTS("memop.holds_up_its_stream", waits_in_order)
{
    vmm_deviceptr p = zeros(f);
    vmm_stream stream = fix_stream(f);
    vmm_event event = fix_event(f);
    f->races = true; /* it looks at what the stream has not written yet */
    ACCEPTED(vmm_stream_wait_value64(S, stream, p, 5, VMM_STREAM_WAIT_VALUE_GEQ));
    ACCEPTED(vmm_stream_write_value32(S, stream, p + 64, 9, 0));
    ACCEPTED(vmm_event_record(S, event, stream));
    CHECK_U64(vmm_event_query(S, event), VMM_ERROR_NOT_READY);
    CHECK_U64(word_at(f, p + 64), 0);
    ACCEPTED(vmm_stream_write_value64(S, NULL, p, 4, 0));
    ACCEPTED(vmm_stream_synchronize(S, NULL));
    CHECK_U64(vmm_stream_query(S, stream), VMM_ERROR_NOT_READY);
    ACCEPTED(vmm_stream_write_value64(S, NULL, p, UINT64_C(1) << 62, 0));
    ACCEPTED(vmm_event_synchronize(S, event));
    CHECK_U64(word_at(f, p + 64), 9);
    fix_stream_destroy(f, stream);
}
