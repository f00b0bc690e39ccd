/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and free of device code: random blocks beside what the host knows of them, by one thread of the host and by two; and
 * what a kernel must not do with them. */
#include "testing/ptx_rig.h"

#include "random.h"

enum { BYTES = 4096, FIRST = 32, HEAD = 16, LANES = 32, STEPS = 400 };

static const char text[] = RIG_HEAD
    ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 a);\n"
    /* out[thread] = malloc(sizes[thread]) */
    ".entry take(.param .u64 out, .param .u64 sizes)\n{\n.reg .b64 %d<8>; .reg .b32 %r<4>;\nld.param.u64 %d0, [out]; ld.param.u64 %d1, [sizes]; "
    "mov.u32 %r0, %tid.x; mad.wide.u32 %d2, %r0, 8, %d0; mad.wide.u32 %d3, %r0, 8, %d1; ld.global.u64 %d4, [%d3];\ncall (%d5), malloc, (%d4);\n"
    "st.global.u64 [%d2], %d5; ret;\n}\n"
    ".entry drop(.param .u64 at)\n{\n.reg .b64 %d<8>; .reg .b32 %r<4>;\nld.param.u64 %d0, [at]; mov.u32 %r0, %tid.x; "
    "mad.wide.u32 %d2, %r0, 8, %d0; ld.global.u64 %d4, [%d2];\ncall free, (%d4);\nret;\n}\n"
    /* each thread has a block, writes it, lets the others come and go, and finds what it wrote */
    ".entry use(.param .u64 out)\n{\n.reg .b64 %d<8>; .reg .b32 %r<8>; .reg .pred %p<3>;\nld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; "
    "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 32, %r0; mov.u32 %r5, 0;\nL: mov.u64 %d4, 24; call (%d5), malloc, (%d4); "
    "setp.eq.u64 %p0, %d5, 0; @%p0 bra E;\nst.u32 [%d5], %r0; st.u32 [%d5+20], %r5; bar.warp.sync 0xffffffff; ld.u32 %r2, [%d5]; ld.u32 %r3, [%d5+20]; call free, (%d5);\n"
    "setp.ne.u32 %p1, %r2, %r0; setp.ne.or.u32 %p1, %r3, %r5, %p1; @%p1 red.global.add.u32 [%d0], 1; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 20; "
    "@%p2 bra L; ret;\nE: red.global.add.u32 [%d0+4], 1; ret;\n}\n";

static struct rig rig;
static uint64_t heap; /* its address */

/* The word at that offset of the heap. */
static uint64_t *word(uint64_t offset)
{
    return (uint64_t *)(void *)(rig.bytes + (heap - RIG_BASE) + offset);
}

static void open_heap(uint64_t bytes)
{
    rig_open(&rig, text);
    tap_ok(rig.program->heap == rig.program->global_count && rig.program->globals[rig.program->heap - 1].size == PTX_HEAP_BYTES,
           "the heap is the last variable");
    heap = rig.globals[rig.program->heap - 1];
    *word(0) = bytes;
}

static enum ptx_end take(unsigned lanes)
{
    return rig_launch(&rig, "take", 1, lanes, (uint64_t[]){RIG_BASE, RIG_BASE + 1024}, 2);
}

static uint64_t *taken(void)
{
    return rig_u64(&rig);
}

static uint64_t *sizes(void)
{
    return rig_u64(&rig) + 1024 / 8;
}

static enum ptx_end drop(uint64_t address)
{
    taken()[0] = address;
    return rig_launch(&rig, "drop", 1, 1, (uint64_t[]){RIG_BASE}, 1);
}

static uint64_t take_one(uint64_t size)
{
    sizes()[0] = size;
    return take(1) == PTX_END_DONE ? taken()[0] : 1;
}

/* ---- random blocks ---- */

static struct block {
    uint64_t start, size; /* size 0: none, as malloc(0) is not asked for here */
} blocks[BYTES / HEAD];

static bool meets_another(uint64_t start, uint64_t size)
{
    for (size_t i = 0; i < BYTES / HEAD; i++)
        if (blocks[i].size && start < blocks[i].start + blocks[i].size && blocks[i].start < start + size)
            return true;
    return false;
}

/* The most bytes in a row that no block has. */
static uint64_t widest_gap(void)
{
    uint64_t most = 0, run = 0;
    for (uint64_t at = heap + FIRST; at < heap + BYTES; at += HEAD, run += HEAD) {
        if (meets_another(at, HEAD) || meets_another(at + HEAD, HEAD)) /* a block, or its words */
            run = -(uint64_t)HEAD;
        most = run + HEAD > most ? run + HEAD : most;
    }
    return most;
}

static bool add(uint64_t start, uint64_t size)
{
    size_t i = 0;
    if (!start)
        return widest_gap() <= size + 2 * HEAD + HEAD; /* with what a block may have been given beyond what was asked for */
    while (blocks[i].size)
        i++;
    if (start % HEAD || start < heap + FIRST + HEAD || start + size > heap + BYTES || meets_another(start, size))
        return false;
    blocks[i] = (struct block){start, size};
    return true;
}

static unsigned drop_random(uint64_t *random)
{
    unsigned lanes = 0;
    for (size_t i = 0; i < BYTES / HEAD && lanes < LANES; i++)
        if (blocks[i].size && random_below(random, 2)) {
            taken()[lanes++] = blocks[i].start;
            blocks[i].size = 0;
        }
    return lanes && rig_launch(&rig, "drop", 1, lanes, (uint64_t[]){RIG_BASE}, 1) != PTX_END_DONE;
}

static unsigned take_random(uint64_t *random)
{
    const unsigned lanes = 1 + (unsigned)random_below(random, LANES);
    unsigned wrong = 0;
    for (unsigned i = 0; i < lanes; i++)
        sizes()[i] = 1 + random_below(random, random_below(random, 4) ? 60 : 1500);
    wrong += take(lanes) != PTX_END_DONE;
    for (unsigned i = 0; i < lanes; i++)
        if (taken()[i]) /* all that there are first: a later one may be there because it is smaller */
            wrong += !add(taken()[i], sizes()[i]);
    for (unsigned i = 0; i < lanes; i++)
        if (!taken()[i])
            wrong += !add(0, sizes()[i]);
    return wrong;
}

static void test_random(void)
{
    uint64_t random = random_seed(2026112902);
    unsigned wrong = 0;
    open_heap(BYTES);
    for (unsigned step = 0; step < STEPS; step++) {
        wrong += random_below(&random, 2) ? drop_random(&random) : take_random(&random);
        for (size_t i = 0; i < BYTES / HEAD; i++) /* what a kernel writes there is its own */
            if (blocks[i].size)
                memset(rig.bytes + (blocks[i].start - RIG_BASE), 0xee, blocks[i].size);
    }
    tap_u64(wrong, 0, "blocks lie within the heap and apart, and are refused only where there is no room");
    for (size_t i = 0; i < BYTES / HEAD; i++)
        wrong += blocks[i].size && drop(blocks[i].start) != PTX_END_DONE;
    tap_ok(!wrong && take_one(BYTES - FIRST - HEAD) == heap + FIRST + HEAD, "all that was freed is one block again");
    tap_ok(take_one(1) == 0 && take_one(1) == 0 && *word(16) == 32, "then there is none, and the heap remembers for how much");
    tap_ok(drop(heap + FIRST + HEAD) == PTX_END_DONE && take_one(0) != 0 && take_one(0) != 0, "until it is freed; malloc(0) is a block, too");
    tap_ok(take_one(BYTES + 1) == 0 && take_one(UINT64_MAX) == 0 && take_one(UINT64_MAX - 20) == 0, "and no size is too large to be refused");
    rig_close(&rig);
}

/* ---- many threads ---- */

static void test_threads(unsigned threads)
{
    open_heap(64 << 10);
    rig.threads = threads;
    tap_ok(rig_launch(&rig, "use", 24, 32, (uint64_t[]){RIG_BASE}, 1) == PTX_END_DONE && !rig_u32(&rig)[0] && !rig_u32(&rig)[1],
           "768 lanes take, write and free 20 blocks each, by %u threads of the host", threads);
    rig.threads = 1;
    tap_ok(take_one((64 << 10) - FIRST - HEAD) == heap + FIRST + HEAD, "and all are free in the end");
    rig_close(&rig);
}

/* ---- what must not be ---- */

static void test_wrong(void)
{
    open_heap(BYTES);
    const uint64_t one = take_one(100), two = take_one(100), other = take_one(8);
    tap_ok(drop(0) == PTX_END_DONE && drop(one) == PTX_END_DONE, "NULL and a block are freed");
    tap_ok(drop(one) == PTX_END_HEAP && rig.outcome.address == one && rig.outcome.lanes == 1 && rig.outcome.line.line, "not a second time: the launch ends, at its line");
    tap_ok(drop(two + 16) == PTX_END_HEAP && drop(two + 1) == PTX_END_HEAP, "nor from within a block");
    tap_ok(drop(heap + 16) == PTX_END_HEAP && drop(heap - 16) == PTX_END_HEAP && drop(RIG_BASE) == PTX_END_HEAP && drop(heap + BYTES + HEAD) == PTX_END_HEAP &&
               drop(UINT64_MAX) == PTX_END_HEAP,
           "nor where the heap is not");
    tap_ok(drop(two) == PTX_END_DONE && drop(other) == PTX_END_DONE, "after that the other blocks are freed");
    const uint64_t first = FIRST, wrong[] = {8, BYTES, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        *word(first) = wrong[i];
        *word(8) = FIRST;
        *word(16) = 0;
        sizes()[0] = 3000;
        tap_ok(take(1) == PTX_END_HEAP && rig.outcome.address == heap + FIRST, "a block of %" PRIu64 " bytes: someone else wrote that", wrong[i]);
    }
    *word(first) = 32;
    *word(first + 32) = 24; /* the free block behind it */
    *word(8) = FIRST;
    tap_ok(take(1) == PTX_END_HEAP && rig.outcome.address == heap + FIRST + 32, "so it is of one that it is joined with");
    rig_close(&rig);
    open_heap(BYTES);
    *word(8) = FIRST + 8;
    tap_ok(take_one(8) == heap + FIRST + HEAD, "where the search begins is no block: it begins with the first");
    *word(8) = 16;
    tap_ok(take_one(8) == heap + FIRST + 2 * HEAD + HEAD, "the same");
    rig_close(&rig);
}

/* The words are there, and the memory behind them is not. */
static void test_no_memory(void)
{
    static const uint64_t bytes[] = {0, UINT64_C(1) << 61, UINT64_MAX};
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        open_heap(bytes[i]);
        tap_ok(take_one(8) == heap + FIRST + HEAD, "a heap of %" PRIu64 " bytes has as many as the program says", bytes[i]);
        *word(FIRST) = 4 << 20;
        sizes()[0] = 16;
        *word(8) = FIRST;
        tap_ok(take(1) == PTX_END_ACCESS, "what lies behind it is no memory of the device");
        rig_close(&rig);
    }
    open_heap(BYTES);
    rig.globals[rig.program->heap - 1] = UINT64_C(0x900000000);
    sizes()[0] = 8;
    tap_ok(take(32) == PTX_END_ACCESS, "a heap that has gone");
    tap_ok(drop(UINT64_C(0x900000100)) == PTX_END_ACCESS, "nor is anything freed there");
    rig_close(&rig);
}

int main(void)
{
    test_random();
    test_threads(1);
    test_threads(2);
    test_wrong();
    test_no_memory();
    return tap_done();
}
