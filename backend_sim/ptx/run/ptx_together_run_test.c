/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations: shuffles, votes, matches, reductions, barriers; special registers; printf and assert. */
#include <unistd.h>

#include "testing/ptx_rig.h"

#define REGISTERS ".reg .b32 %r<24>; .reg .b64 %rd<8>; .reg .pred %p<8>;\nld.param.u64 %rd0, [out];\n"
#define KERNEL(body) RIG_HEAD ".entry k(.param .u64 out)\n{\n" REGISTERS body "\nret;\n}\n"
#define PLACE "mov.u32 %r0, %tid.x; mov.u32 %r9, %laneid; mad.wide.u32 %rd1, %r0, 16, %rd0;\n"
#define STORE(a, b, c, d) "st.global.v4.u32 [%rd1], {" a ", " b ", " c ", " d "};"

static const uint64_t out[] = {RIG_BASE};

static const uint32_t *run(struct rig *rig, const char *text, unsigned threads)
{
    rig_open(rig, text);
    rig_launch(rig, "k", 1, threads, out, 1);
    if (rig->outcome.end != PTX_END_DONE)
        tap_note("it ended with %d at line %u", (int)rig->outcome.end, rig->outcome.line.line);
    return rig_u32(rig);
}

static void test_shuffles(void)
{
    struct rig rig;
    const uint32_t *w = run(&rig, KERNEL(PLACE "mul.lo.u32 %r1, %r0, 10; shfl.sync.idx.b32 %r2|%p1, %r1, 5, 31, -1; shfl.sync.up.b32 %r3|%p2, %r1, 2, 0, -1; "
                                               "shfl.sync.down.b32 %r4|%p3, %r1, 3, 31, -1; shfl.sync.bfly.b32 %r5|%p4, %r1, 1, 31, -1;\n" STORE("%r2", "%r3", "%r4", "%r5")), 32);
    tap_ok(w[4 * 9] == 50 && w[4 * 9 + 1] == 70 && w[4 * 9 + 2] == 120 && w[4 * 9 + 3] == 80, "from a lane, from below, from above, across");
    tap_ok(w[4 * 1 + 1] == 10 && w[4 * 30 + 2] == 300, "at the ends a lane keeps its own");
    rig_close(&rig);
    w = run(&rig, KERNEL(PLACE "mul.lo.u32 %r1, %r0, 10; shfl.sync.idx.b32 %r2|%p1, %r1, %r9, 0x181f, -1; shfl.sync.up.b32 %r3|%p2, %r1, 1, 0x1800, -1; "
                               "shfl.sync.down.b32 %r4|%p3, %r1, 1, 0x181f, -1; selp.u32 %r5, 1, 0, %p2; @%p3 add.u32 %r5, %r5, 2;\n" STORE("%r2", "%r3", "%r4", "%r5")), 64);
    tap_ok(w[4 * 41] == 410 && w[4 * 40 + 1] == 400 && w[4 * 41 + 1] == 400 && w[4 * 47 + 2] == 470, "within segments of eight lanes");
    tap_ok(w[4 * 40 + 3] == 2 && w[4 * 41 + 3] == 3 && w[4 * 47 + 3] == 1, "whether the other lane was in the segment");
    rig_close(&rig);
}

/* The halves of a warp shuffle separately, each with its own mask; and together from two positions in the code. */
static void test_groups(void)
{
    struct rig rig;
    const uint32_t *w = run(&rig, KERNEL(PLACE "setp.lt.u32 %p1, %r9, 16; selp.b32 %r1, 0x0000ffff, 0xffff0000, %p1; shfl.sync.bfly.b32 %r2, %r0, 15, 31, %r1; "
                                               "vote.sync.ballot.b32 %r3, %p1, %r1; match.any.sync.b32 %r4, %r3, %r1; redux.sync.add.u32 %r5, %r9, %r1;\n" STORE("%r2", "%r3", "%r4", "%r5")), 32);
    tap_ok(w[0] == 15 && w[4 * 16] == 31 && w[1] == 0xffff && w[4 * 16 + 1] == 0 && w[2] == 0xffff && w[4 * 31 + 2] == 0xffff0000 && w[3] == 120 &&
               w[4 * 31 + 3] == 376,
           "groups with different masks in one step");
    rig_close(&rig);
    w = run(&rig, KERNEL(PLACE "setp.lt.u32 %p1, %r9, 16; @%p1 bra A;\nshfl.sync.bfly.b32 %r2, %r0, 16, 31, -1; add.u32 %r2, %r2, 100; bra B;\n"
                               "A: mov.u32 %r3, 1; shfl.sync.bfly.b32 %r2, %r0, 16, 31, -1;\nB:\n" STORE("%r2", "%r2", "%r2", "%r2")), 32);
    tap_ok(w[4 * 3] == 19 && w[4 * 19] == 103, "lanes at two places shuffle with each other");
    rig_close(&rig);
}

#define WORKSPACE "mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd2, {%r2, %r1};\n"

/* Blocks wait for each other at the barrier of the grid, as cooperative groups do. */
static void test_grid(void)
{
    struct rig rig;
    for (unsigned threads = 1; threads <= 2; threads++) {
        rig_open(&rig, KERNEL(WORKSPACE "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 0; mov.u32 %r4, %nctaid.x; sub.u32 %r4, 0x80000001, %r4; selp.b32 %r4, %r4, 1, %p1; "
                                        "atom.add.global.u32 %r5, [%rd0], 1; mov.u32 %r9, 3; TWICE: atom.add.release.gpu.u32 %r5, [%rd2+4], %r4;\n"
                                        "LOOK: ld.acquire.gpu.u32 %r6, [%rd2+4]; xor.b32 %r6, %r5, %r6; setp.ge.s32 %p2, %r6, 0; @%p2 bra LOOK;\n"
                                        "sub.u32 %r9, %r9, 1; setp.ne.u32 %p3, %r9, 0; @%p3 bra TWICE;\n"
                                        "ld.volatile.global.u32 %r7, [%rd0]; mad.wide.u32 %rd1, %r3, 4, %rd0; st.global.u32 [%rd1+4], %r7; ld.u32 %r8, [%rd2]; @%p1 st.global.u32 [%rd0+256], %r8; "
                                        "isspacep.global %p4, %rd2; selp.u32 %r8, 1, 0, %p4; @%p1 st.global.u32 [%rd0+260], %r8;"));
        rig.cooperative = true;
        rig.threads = threads;
        rig_launch(&rig, "k", 40, 1, out, 1);
        const uint32_t *w = rig_u32(&rig);
        bool all = rig.outcome.end == PTX_END_DONE;
        for (unsigned i = 0; i < 40; i++)
            all = all && w[1 + i] == 40;
        tap_ok(all, "every block sees what all wrote before the barrier, on %u threads", threads);
        tap_ok(w[64] == 8 && w[65] == 1, "the words for it say how many they are, in global memory");
        rig_close(&rig);
    }
    rig_open(&rig, KERNEL(WORKSPACE "ld.u32 %r3, [%rd2+8];"));
    rig.cooperative = true;
    tap_ok(rig_launch(&rig, "k", 1, 1, out, 1) == PTX_END_SPACE, "behind them is nothing");
    rig_close(&rig);
    rig_open(&rig, KERNEL(WORKSPACE "ld.u64 %rd3, [%rd2+4];"));
    rig.cooperative = true;
    tap_ok(rig_launch(&rig, "k", 1, 1, out, 1) == PTX_END_MISALIGNED, "and they are aligned as others");
    rig_close(&rig);
    const uint32_t *w = run(&rig, KERNEL(WORKSPACE "st.global.u64 [%rd0], %rd2; mov.u32 %r3, %envreg0; st.global.u32 [%rd0+8], %r3;"), 1);
    tap_ok(!w[0] && !w[1] && !w[2], "only a cooperative launch has them");
    rig_close(&rig);
}

static void test_votes(void)
{
    struct rig rig;
    const uint32_t *w = run(&rig, KERNEL(PLACE "setp.lt.u32 %p1, %r0, 40; vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, %p1, -1; vote.sync.uni.pred %p4, %p1, -1; "
                                               "vote.sync.ballot.b32 %r1, !%p1, -1; selp.u32 %r2, 1, 0, %p2; @%p3 add.u32 %r2, %r2, 2; @%p4 add.u32 %r2, %r2, 4; "
                                               "and.b32 %r3, %r0, 3; match.any.sync.b32 %r4, %r3, -1; shr.u32 %r5, %r0, 5; match.all.sync.b32 %r6|%p5, %r5, -1; "
                                               "match.all.sync.b32 %r7|%p6, %r0, -1; selp.u32 %r8, 8, 0, %p5; @%p6 add.u32 %r8, %r8, 16; add.u32 %r2, %r2, %r8; add.u32 %r6, %r6, %r7;\n"
                                               STORE("%r1", "%r2", "%r4", "%r6")), 64);
    tap_ok(w[0] == 0 && w[1] == 15 && w[4 * 63] == 0xffffff00 && w[4 * 63 + 1] == 8 + 2, "all, any, the same, a ballot");
    tap_ok(w[2] == 0x11111111 && w[4 * 3 + 2] == 0x88888888 && w[3] == UINT32_MAX, "match finds the lanes with the same value");
    rig_close(&rig);
    w = run(&rig, KERNEL(PLACE "sub.s32 %r1, %r9, 5; redux.sync.min.s32 %r2, %r1, -1; redux.sync.max.u32 %r3, %r1, -1; redux.sync.xor.b32 %r4, %r9, -1; redux.sync.or.b32 %r5, %r9, -1; "
                               "add.u32 %r4, %r4, %r5; elect.sync %r6|%p1, -1; @%p1 add.u32 %r6, %r6, 50;\n" STORE("%r2", "%r3", "%r4", "%r6")), 32);
    tap_ok((int32_t)w[0] == -5 && w[1] == UINT32_MAX && w[2] == 31 && w[3] == 50 && w[7] == 0, "reductions, and one lane that is elected");
    rig_close(&rig);
}

static void test_barriers(void)
{
    struct rig rig;
    const uint32_t *w = run(&rig, KERNEL(PLACE ".shared .align 4 .b8 s[512]; mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 4, %r1; st.shared.u32 [%r2], %r0; bar.sync 0; sub.u32 %r3, 127, %r0; "
                                               "mad.lo.u32 %r3, %r3, 4, %r1; ld.shared.u32 %r4, [%r3]; setp.lt.u32 %p1, %r0, 50; bar.red.popc.u32 %r5, 1, %p1; bar.red.and.pred %p2, 1, %p1; "
                                               "barrier.sync 2; barrier.red.or.pred %p3, 3, %p1; selp.u32 %r6, 1, 0, %p2; @%p3 add.u32 %r6, %r6, 2;\n" STORE("%r4", "%r5", "%r6", "0")), 128);
    tap_ok(w[0] == 127 && w[4 * 100] == 27 && w[1] == 50 && w[2] == 2, "stores before a barrier are visible, and barrier "
                                                                       "reductions work");
    rig_close(&rig);
    /* Warp 0 produces and warp 1 consumes: two barriers of 64 threads, and at each one side only arrives. */
    w = run(&rig, KERNEL(PLACE ".shared .align 4 .b8 s[4]; mov.u32 %r1, s; mov.u32 %r2, 0; mov.u32 %r3, 0; setp.ge.u32 %p1, %r0, 32; @%p1 bra TAKE;\n"
                               "GIVE: add.u32 %r2, %r2, 1; st.shared.u32 [%r1], %r2; bar.arrive 1, 64; bar.sync 2, 64; setp.lt.u32 %p2, %r2, 9; @%p2 bra GIVE; bra END;\n"
                               "TAKE: bar.sync 1, 64; ld.shared.u32 %r4, [%r1]; add.u32 %r3, %r3, %r4; add.u32 %r2, %r2, 1; bar.arrive 2, 64; setp.lt.u32 %p2, %r2, 9; @%p2 bra TAKE;\n"
                               "END:\n" STORE("%r3", "%r2", "0", "0")), 64);
    tap_ok(w[4 * 40] == 45 && w[4 * 3 + 1] == 9, "a warp that gives and one that takes");
    rig_close(&rig);
}

static void test_special(void)
{
    struct rig rig;
    unsigned wrong = 0;
    rig_open(&rig, KERNEL("mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; "
                          "mov.u32 %r8, %nctaid.x; mov.u32 %r9, %nctaid.y; mad.lo.u32 %r10, %r3, %r5, %r2; mad.lo.u32 %r10, %r10, %r4, %r1; mad.lo.u32 %r11, %r7, %r8, %r6; "
                          "mad.lo.u32 %r12, %r11, 24, %r10; mad.wide.u32 %rd1, %r12, 16, %rd0; mov.u32 %r13, %laneid; mov.u32 %r14, %warpid; mov.u32 %r15, %lanemask_le; "
                          "mov.u32 %r16, %nsmid; mad.lo.u32 %r17, %r9, 100, %r13; " STORE("%r12", "%r15", "%r16", "%r17")));
    rig_launch_dims(&rig, "k", (uint32_t[3]){3, 2, 1}, (uint32_t[3]){4, 3, 2}, out, 1);
    const uint32_t *w = rig_u32(&rig);
    for (uint32_t i = 0; i < 6 * 24; i++)
        wrong += w[4 * i] != i || w[4 * i + 1] != (UINT32_C(2) << i % 24) - 1 || w[4 * i + 2] != 132 || w[4 * i + 3] != 200 + i % 24;
    tap_u64(wrong, 0, "threads and blocks in three dimensions");
    rig_close(&rig);
    w = run(&rig, KERNEL(PLACE "mov.u64 %rd2, %clock64; mov.u32 %r1, %clock; mov.u64 %rd3, %globaltimer; mov.u64 %rd4, %clock64; setp.ge.u64 %p1, %rd4, %rd2; selp.u32 %r2, 1, 0, %p1; "
                               "setp.ne.u64 %p2, %rd3, 0; selp.u32 %r3, 1, 0, %p2; mov.pred %p3, %is_explicit_cluster; selp.u32 %r4, 1, 0, %p3; mov.u32 %r5, %cluster_nctarank; " STORE("%r2", "%r3", "%r4", "%r5")), 1);
    tap_ok(w[0] == 1 && w[1] == 1 && w[2] == 0 && w[3] == 1, "clocks advance, and a cluster is one block");
    rig_close(&rig);
}

/* ---- printf and assert ---- */

static const char prints[] = RIG_HEAD
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
    ".global .align 1 .b8 f[40] = {37, 100, 32, 37, 115, 32, 37, 53, 46, 50, 102, 32, 37, 108, 108, 120, 32, 37, 99, 37, 37, 124, 37, 45, 51, 117, 124, 10};\n" /* %d %s %5.2f %llx %c%%|%-3u|\n */
    ".global .align 1 .b8 s[5] = {116, 101, 120, 116};\n.global .align 1 .b8 m[8] = {120, 32, 62, 32, 49};\n"
    ".entry prints()\n{ .local .align 8 .b8 l[64]; .reg .b64 %a, %b, %c; .reg .b32 %r; .reg .f64 %d; .param .b64 f0; .param .b64 a0; .param .b32 r0;\n"
    "mov.u64 %a, l; mov.u32 %r, %tid.x; neg.s32 %r, %r; st.local.u32 [%a], %r; mov.u64 %b, s; st.local.u64 [%a+8], %b; mov.f64 %d, 0d400921FB54442D18; st.local.f64 [%a+16], %d; "
    "mov.u64 %b, 0xabcdef0123; st.local.u64 [%a+24], %b; mov.u32 %r, 67; st.local.u32 [%a+32], %r; st.local.u32 [%a+36], 7; cvta.local.u64 %a, %a; mov.u64 %c, f;\n"
    "st.param.b64 [f0], %c; st.param.b64 [a0], %a; call (r0), vprintf, (f0, a0); ret; }\n"
    ".entry asserts()\n{ .reg .b64 %a, %o; .reg .b32 %r; .reg .pred %p; mov.u32 %r, %tid.x; setp.gt.u32 %p, %r, 1; @%p bra OK;\n"
    "mov.u64 %a, m; mov.u64 %o, 1; call __assertfail, (%a, %a, 77, %a, %o); OK: ret; }\n";

static void test_print(void)
{
    struct rig rig;
    char text[400] = "";
    int pipe_ends[2], kept = dup(1);
    rig_open(&rig, prints);
    fflush(stdout);
    if (pipe(pipe_ends) != 0)
        tap_bail("no pipe");
    dup2(pipe_ends[1], 1);
    enum ptx_end end = rig_launch(&rig, "prints", 1, 3, NULL, 0);
    fflush(stdout);
    dup2(kept, 1);
    close(pipe_ends[1]);
    ssize_t length = read(pipe_ends[0], text, sizeof text - 1);
    close(pipe_ends[0]);
    close(kept);
    tap_ok(end == PTX_END_DONE && length > 0, "a kernel prints");
    tap_text(text, "0 text  3.14 abcdef0123 C%|7  |\n-1 text  3.14 abcdef0123 C%|7  |\n-2 text  3.14 abcdef0123 C%|7  |\n", "thread after thread");
    tap_ok(rig_launch(&rig, "asserts", 1, 64, NULL, 0) == PTX_END_ASSERT && rig.outcome.lanes == 3, "an assertion ends the kernel, with the lanes that failed");
    tap_text(rig.outcome.text, "x > 1:77: x > 1: Assertion `x > 1' failed", "and the words of the device's own message");
    rig_close(&rig);
}

/* A matrix of 8 rows of 8 halves in shared memory: half c of row r of matrix i is 1000 i + 10 r + c; rows lie 48 bytes apart. */
#define MATRICES ".shared .align 16 .b8 s[4096]; .reg .b16 %h<4>; mov.u32 %r20, s; mov.u32 %r8, 0;\n"                             \
    "$fill: shr.u32 %r1, %r8, 6; shr.u32 %r2, %r8, 3; and.b32 %r2, %r2, 7; and.b32 %r3, %r8, 7; mul.lo.u32 %r4, %r1, 1000;\n"     \
    "mad.lo.u32 %r4, %r2, 10, %r4; add.u32 %r4, %r4, %r3; cvt.u16.u32 %h1, %r4; mad.lo.u32 %r5, %r1, 8, %r2;\n"                   \
    "mad.lo.u32 %r5, %r5, 48, %r20; mad.lo.u32 %r5, %r3, 2, %r5; st.shared.u16 [%r5], %h1; add.u32 %r8, %r8, 1;\n"                \
    "setp.lt.u32 %p1, %r8, 256; @%p1 bra $fill; bar.warp.sync -1; mad.lo.u32 %r6, %r9, 48, %r20;\n"

static uint32_t two(unsigned low, unsigned high)
{
    return low | high << 16;
}

static void check_loaded(const uint32_t *w, unsigned count, bool transposed, const char *what)
{
    bool right = true;
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < count; i++) {
            unsigned row = lane / 4, column = 2 * (lane % 4);
            uint32_t plain = two(1000 * i + 10 * row + column, 1000 * i + 10 * row + column + 1);
            uint32_t turned = two(1000 * i + 10 * column + row, 1000 * i + 10 * (column + 1) + row);
            right = right && w[4 * lane + i] == (transposed ? turned : plain);
        }
    tap_ok(right, "%s", what);
}

static void test_ldmatrix(void)
{
    struct rig rig;
    check_loaded(run(&rig, KERNEL(PLACE MATRICES "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r11, %r12, %r13}, [%r6];\n" STORE("%r6", "%r11", "%r12", "%r13")), 32),
                 4, false, "four matrices, one into the register of the address");
    rig_close(&rig);
    check_loaded(run(&rig, KERNEL(PLACE MATRICES "sub.u32 %r6, %r6, 4; ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r10, %r11}, [%r6+4];\n" STORE("%r10", "%r11", "%r11", "%r11")), 32),
                 2, true, "two, transposed");
    rig_close(&rig);
    check_loaded(run(&rig, KERNEL(PLACE MATRICES "cvt.u64.u32 %rd2, %r6; cvta.shared.u64 %rd2, %rd2; setp.lt.u32 %p2, %r9, 8; @!%p2 mov.u64 %rd2, 3;\n"
                                                 "ldmatrix.sync.aligned.m8n8.x1.b16 {%r10}, [%rd2];\n" STORE("%r10", "%r10", "%r10", "%r10")), 32),
                 1, false, "one, by generic addresses of eight lanes");
    rig_close(&rig);
    run(&rig, KERNEL(PLACE MATRICES "add.u32 %r6, %r6, 4; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r6];\n" STORE("%r10", "%r10", "%r10", "%r10")), 32);
    tap_ok(rig.outcome.end == PTX_END_MISALIGNED && rig.outcome.bytes == 16, "a row is at a multiple of 16 bytes");
    rig_close(&rig);
    const uint32_t *w = run(&rig, KERNEL(PLACE ".shared .align 16 .b32 t[4]; mov.u32 %r1, t; st.shared.v4.u32 [%r1], {5, 6, 7, 8};\n"
                                               "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r10, [t];\n" STORE("%r10", "%r10", "%r10", "%r10")), 32);
    tap_ok(w[4 * 9] == 6 && w[4 * 31] == 8, "all rows the same one, of a variable by its name");
    rig_close(&rig);
}

#define STORED(kind)                                                                                                       \
    KERNEL(PLACE MATRICES "ldmatrix.sync.aligned.m8n8." kind ".shared.b16 {%r10, %r11, %r12, %r13}, [%r6]; add.u32 %r6, %r6, 2048;\n" \
           "setp.eq.u32 %p2, %r20, %r20; @!%p2 stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r20], {%r9};\n"                 \
           "@%p2 stmatrix.sync.aligned.m8n8." kind ".shared.b16 [%r6], {%r10, %r11, %r12, %r13};\n"                       \
           "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r6];\n" STORE("%r10", "%r11", "%r12", "%r13"))

static void test_stmatrix(void)
{
    struct rig rig;
    check_loaded(run(&rig, STORED("x4"), 32), 4, false, "stored as they were loaded");
    rig_close(&rig);
    check_loaded(run(&rig, STORED("x4.trans"), 32), 4, false, "and transposed twice");
    rig_close(&rig);
    const uint32_t *w = run(&rig, KERNEL(PLACE MATRICES "mov.u32 %r10, 0; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r6], {%r10};\n"
                                                        "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r6];\n" STORE("%r10", "%r11", "%r12", "%r13")), 32);
    tap_ok(!w[4 * 7] && !w[4 * 7 + 3] && w[4 * 8 + 1] == two(1002, 1003), "one matrix is written by eight lanes, whose rows are whole");
    rig_close(&rig);
}

int main(void)
{
    test_shuffles();
    test_ldmatrix();
    test_stmatrix();
    test_groups();
    test_grid();
    test_votes();
    test_barriers();
    test_special();
    test_print();
    return tap_done();
}
