/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow of lanes: branches, loops, jump tables, calls; that lanes meet again; that each makes progress; and deadlocks. */
#include "testing/ptx_rig.h"

#define REGISTERS ".reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;\nld.param.u64 %rd0, [out];\n"
#define KERNEL(body) RIG_HEAD ".entry k(.param .u64 out)\n{\n" REGISTERS body "\nret;\n}\n"
/* Each thread's word is out[thread]. */
#define PLACE "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r1, %r1, %r2, %r0; mad.wide.u32 %rd1, %r1, 4, %rd0;\n"

static const uint64_t out[] = {RIG_BASE, RIG_BASE + 65536};

/* A loop that lane i iterates i times, with a branch in it. */
static void test_branches(void)
{
    struct rig rig;
    unsigned wrong = 0;
    rig_open(&rig, KERNEL(PLACE "mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
                                "LOOP: setp.ge.u32 %p1, %r4, %r0; @%p1 bra END;\n"
                                "and.b32 %r5, %r4, 1; setp.eq.u32 %p2, %r5, 0; @%p2 bra EVEN;\n"
                                "add.u32 %r3, %r3, 100; bra NEXT;\nEVEN: add.u32 %r3, %r3, 1;\n"
                                "NEXT: add.u32 %r4, %r4, 1; bra LOOP;\nEND: st.global.u32 [%rd1], %r3;"));
    rig_launch(&rig, "k", 2, 50, out, 1);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t turns = i % 50;
        wrong += rig_u32(&rig)[i] != (turns + 1) / 2 + turns / 2 * 100;
    }
    tap_ok(!wrong && rig.outcome.end == PTX_END_DONE, "each lane goes its own way");
    tap_ok(rig.outcome.steps < 2 * 4 * 50 * 16, "and in the loop all go on together (%" PRIu64 " steps)", rig.outcome.steps);
    rig_close(&rig);
}

/* After a branch the lanes meet: the following steps run once for all of them. */
static void test_meeting(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL(PLACE "setp.lt.u32 %p1, %r0, 7; @%p1 bra A; mov.u32 %r3, 5; bra B; A: mov.u32 %r3, 6; B: activemask.b32 %r4; "
                                "st.global.u32 [%rd1], %r4;"));
    rig_launch(&rig, "k", 1, 32, out, 1);
    tap_ok(rig_u32(&rig)[0] == UINT32_MAX && rig_u32(&rig)[31] == UINT32_MAX, "all 32 lanes are together behind a branch");
    rig_launch(&rig, "k", 1, 20, out, 1);
    tap_u64(rig_u32(&rig)[19], 0xfffff, "in a warp of 20 threads, 20 are");
    rig_close(&rig);
    rig_open(&rig, KERNEL(PLACE "and.b32 %r3, %r0, 3; T: .branchtargets A, B, C; mov.u32 %r4, 9; brx.idx %r3, T; bra D;\n"
                                "A: mov.u32 %r4, 1; bra D;\nB: mov.u32 %r4, 2;\nC: add.u32 %r4, %r4, 10;\nD: st.global.u32 [%rd1], %r4;"));
    rig_launch(&rig, "k", 1, 32, out, 1);
    tap_ok(rig_u32(&rig)[0] == 1 && rig_u32(&rig)[1] == 12 && rig_u32(&rig)[2] == 19 && rig_u32(&rig)[31] == 9,
           "a jump table: each lane by its index, falling through, and one beyond it continues after it");
    rig_close(&rig);
}

#define LOCKED(lock)                                                                                                                \
    KERNEL("mov.u32 %r3, 0;\nAGAIN: " lock " add.u64 %rd2, %rd0, 64; ld.volatile.global.u32 %r4, [%rd2]; add.u32 %r4, %r4, 1; "      \
           "st.volatile.global.u32 [%rd2], %r4; membar.gl; atom.global.exch.b32 %r5, [%rd0], 0; add.u32 %r3, %r3, 1; "               \
           "setp.lt.u32 %p1, %r3, 20; @%p1 bra AGAIN;")

/* A lock that the lanes of a warp wait for: the lane that holds it must make progress. */
static void test_locks(void)
{
    struct rig rig;
    rig_open(&rig, LOCKED("TRY: atom.global.cas.b32 %r5, [%rd0], 0, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra TRY;"));
    rig.budget = 100 * 1000 * 1000;
    rig_launch(&rig, "k", 3, 70, out, 1);
    tap_ok(rig.outcome.end == PTX_END_DONE && rig_u32(&rig)[16] == 3 * 70 * 20, "a lock by compare and swap: every thread gets it (%u)",
           rig_u32(&rig)[16]);
    rig_close(&rig);
    rig_open(&rig, LOCKED("TRY: atom.global.exch.b32 %r5, [%rd0], 1; setp.eq.u32 %p2, %r5, 0; @%p2 bra GOT; bra TRY; GOT:"));
    rig.budget = 100 * 1000 * 1000;
    rig_launch(&rig, "k", 2, 64, out, 1);
    tap_ok(rig.outcome.end == PTX_END_DONE && rig_u32(&rig)[16] == 2 * 64 * 20, "a lock by exchange, too");
    rig_close(&rig);
}

/* Lane 1 waits for lane 0 of the same warp, which is further on in the code, and nothing marks the loop as a wait. */
static void test_plain_wait(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; @%p1 bra GIVE;\nWAIT: ld.global.u32 %r3, [%rd0]; setp.eq.u32 %p2, %r3, 0; "
                          "@%p2 bra WAIT;\nbra END;\nGIVE: mov.u32 %r4, 1; st.global.u32 [%rd0], %r4;\nEND:"));
    rig.budget = 10 * 1000 * 1000;
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_DONE, "a wait by plain loads ends as well");
    rig_close(&rig);
}

/* Blocks that wait for each other: as many as fit on a device run at a time. */
static void test_grid_barrier(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL(PLACE "setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE; atom.global.add.u32 %r3, [%rd0+32768], 1; mov.u32 %r5, %nctaid.x;\n"
                                "WAIT: ld.acquire.gpu.global.u32 %r4, [%rd0+32768]; setp.lt.u32 %p2, %r4, %r5; @%p2 bra WAIT;\n"
                                "DONE: bar.sync 0; ld.volatile.global.u32 %r6, [%rd0+32768]; st.global.u32 [%rd1], %r6;"));
    rig.budget = 100 * 1000 * 1000;
    rig_launch(&rig, "k", 100, 64, out, 1);
    tap_ok(rig.outcome.end == PTX_END_DONE && rig_u32(&rig)[0] == 100 && rig_u32(&rig)[6399] == 100, "100 blocks meet at a barrier of the grid");
    rig_close(&rig);
}

/* An infinite loop is stopped, and its position is reported. */
static void test_no_end(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p1, %r0, 32;\n@%p1 bra A;\nbar.sync 1, 64;\nA: bar.sync 2, 64;"));
    rig.budget = 1000 * 1000;
    tap_ok(rig_launch(&rig, "k", 1, 64, out, 1) == PTX_END_DEADLOCK && rig.outcome.line.line >= 8, "two warps at two barriers wait for each other");
    rig_close(&rig);
    rig_open(&rig, KERNEL("L: bra L;"));
    rig.budget = 100000;
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_BUDGET && rig.outcome.steps >= 100000 && rig.outcome.steps < 400000,
           "a loop without end ends with the budget");
    rig_close(&rig);
    rig_open(&rig, KERNEL("mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 3; @%p1 bra A; shfl.sync.idx.b32 %r1, %r0, 3, 31, -1; ret; A: bar.warp.sync -1;"));
    rig.budget = 1000 * 1000;
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_DEADLOCK, "a shuffle waits for a lane that is at another kind of step");
    rig_close(&rig);
}

/* Barriers do not wait for threads that have exited. */
static void test_exited(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL(PLACE "setp.lt.u32 %p1, %r0, 40; @%p1 exit; bar.sync 0; vote.sync.ballot.b32 %r3, 1, -1; st.global.u32 [%rd1], %r3;"));
    tap_ok(rig_launch(&rig, "k", 1, 96, out, 1) == PTX_END_DONE && rig_u32(&rig)[40] == 0xffffff00 && rig_u32(&rig)[64] == UINT32_MAX &&
               !rig_u32(&rig)[39],
           "a barrier and a vote among those that are left");
    rig_close(&rig);
}

/* ---- calls ---- */

static const char calls[] = RIG_HEAD
    ".func (.param .b32 r) factorial(.param .b32 n)\n{ .reg .b32 %r<8>; .reg .pred %p; ld.param.b32 %r1, [n]; setp.gt.u32 %p, %r1, 1; @%p bra MORE; "
    "mov.u32 %r2, 1; st.param.b32 [r], %r2; ret;\nMORE: sub.u32 %r3, %r1, 1; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; "
    "call (b), factorial, (a); ld.param.b32 %r4, [b]; } mul.lo.u32 %r2, %r1, %r4; st.param.b32 [r], %r2; ret; }\n"
    ".func (.param .b32 r) twice(.param .b32 n)\n{ .reg .b32 %r<4>; ld.param.b32 %r1, [n]; add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; }\n"
    ".func (.param .b32 r) plus(.param .b32 n)\n{ .reg .b32 %r<4>; ld.param.b32 %r1, [n]; add.u32 %r1, %r1, 7; st.param.b32 [r], %r1; ret; }\n"
    ".func (.param .align 8 .b8 r[16]) swapped(.param .align 8 .b8 n[16])\n{ .reg .b64 %a, %b; ld.param.v2.b64 {%a, %b}, [n]; "
    "st.param.b64 [r], %b; st.param.b64 [r+8], %a; ret; }\n"
    ".global .u64 table[2] = {twice, plus};\n"
    ".entry recurses(.param .u64 out)\n{ " REGISTERS PLACE " { .param .b32 a; .param .b32 b; and.b32 %r3, %r0, 7; st.param.b32 [a], %r3; "
    "call (b), factorial, (a); ld.param.b32 %r4, [b]; } activemask.b32 %r5; add.u32 %r4, %r4, %r5; st.global.u32 [%rd1], %r4; ret; }\n"
    ".entry points(.param .u64 out)\n{ " REGISTERS PLACE "and.b32 %r3, %r0, 1; mov.u64 %rd2, table; mad.wide.u32 %rd2, %r3, 8, %rd2; "
    "ld.global.u64 %rd3, [%rd2]; P: .callprototype (.param .b32 _) _ (.param .b32 _); { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; "
    "call (b), %rd3, (a), P; ld.param.b32 %r4, [b]; } st.global.u32 [%rd1], %r4; ret; }\n"
    ".entry by_value(.param .u64 out)\n{ " REGISTERS PLACE "{ .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16]; mov.u64 %rd2, 11; cvt.u64.u32 %rd3, %r0; "
    "st.param.b64 [a], %rd2; st.param.b64 [a+8], %rd3; call (b), swapped, (a); ld.param.b64 %rd4, [b]; ld.param.b64 %rd5, [b+8]; } "
    "add.u64 %rd4, %rd4, %rd5; st.global.u32 [%rd1], %rd4; ret; }\n"
    ".entry in_registers(.param .u64 out)\n{ " REGISTERS PLACE "call (%r4), plus, (%r0); call (%r5), twice, (5); add.u32 %r4, %r4, %r5; "
    "st.global.u32 [%rd1], %r4; ret; }\n"
    ".entry guarded(.param .u64 out)\n{ " REGISTERS PLACE "setp.lt.u32 %p1, %r0, 5; mov.u32 %r4, %r0; @%p1 call (%r4), twice, (%r0); "
    "st.global.u32 [%rd1], %r4; ret; }\n"
    ".entry bad(.param .u64 out)\n{ " REGISTERS "P: .callprototype () _ (); call %rd0, P; ret; }\n"
    ".entry other_parameters(.param .u64 out)\n{ " REGISTERS "mov.u64 %rd2, twice; P: .callprototype () _ (); call %rd2, P; ret; }\n"
    ".func endless(.param .b32 n)\n{ .local .b8 room[4096]; .reg .b32 %r; { .param .b32 a; st.param.b32 [a], 1; call endless, (a); } ret; }\n"
    ".entry overflows(.param .u64 out)\n{ call endless, (1); ret; }\n";

static void test_calls(void)
{
    static const uint32_t factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
    struct rig rig;
    unsigned wrong = 0;
    rig_open(&rig, calls);
    rig_launch(&rig, "recurses", 1, 32, out, 1);
    for (unsigned i = 0; i < 32; i++)
        wrong += rig_u32(&rig)[i] != factorials[i % 8] + UINT32_MAX;
    tap_u64(wrong, 0, "recursion, each lane as deep as it needs, and all together behind it");
    rig_launch(&rig, "points", 1, 32, out, 1);
    tap_ok(rig_u32(&rig)[6] == 12 && rig_u32(&rig)[7] == 14, "pointers to functions, from an initial value of a variable");
    rig_launch(&rig, "by_value", 1, 32, out, 1);
    tap_u64(rig_u32(&rig)[9], 20, "parameters and results of 16 bytes");
    rig_launch(&rig, "in_registers", 1, 32, out, 1);
    tap_u64(rig_u32(&rig)[9], 9 + 7 + 10, "arguments that are registers and numbers, and results in registers");
    rig_launch(&rig, "guarded", 1, 32, out, 1);
    tap_ok(rig_u32(&rig)[4] == 8 && rig_u32(&rig)[5] == 5, "a call of some lanes");
    tap_ok(rig_launch(&rig, "bad", 1, 32, out, 1) == PTX_END_POINTER && rig.outcome.address == RIG_BASE && rig.outcome.lanes == UINT32_MAX,
           "a call of what is no function is ended, with the address");
    tap_ok(rig_launch(&rig, "other_parameters", 1, 32, out, 1) == PTX_END_POINTER, "so is one of a function with other parameters");
    tap_ok(rig_launch(&rig, "overflows", 1, 32, out, 1) == PTX_END_STACK, "recursion without end runs out of local memory");
    rig_close(&rig);
}

/* ---- ends ---- */

static void test_ends(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p1, %r0, 37;\n@%p1 trap;"));
    tap_ok(rig_launch(&rig, "k", 4, 64, out, 1) == PTX_END_TRAP && rig.outcome.thread[0] == 37 && rig.outcome.lanes == 1u << 5 &&
               rig.outcome.line.line == 10 && rig.outcome.line.column == 6,
           "a trap: the thread, the lanes, the line and the column");
    rig_close(&rig);
    rig_open(&rig, KERNEL("brkpt;"));
    tap_ok(rig_launch(&rig, "k", 1, 1, out, 1) == PTX_END_BREAKPOINT, "a breakpoint");
    rig_close(&rig);
    static const struct ptx_options lets = {.let_unsupported_stay = true};
    tap_ok(rig_open_with(&rig, KERNEL("mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 99; @%p1 mbarrier.inval.shared.b64 [%rd0]; mov.u32 %r1, 4;\nst.global.u32 [%rd0], %r1;"), &lets) &&
               rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_DONE && rig_u32(&rig)[0] == 4 && rig.program->kernels[0].refused,
           "an instruction that does not run here does no harm where no lane makes it");
    tap_ok(rig_launch(&rig, "k", 1, 128, out, 1) == PTX_END_UNSUPPORTED && rig.outcome.thread[0] == 99, "and ends the kernel where one does");
    rig_close(&rig);
    static const struct ptx_options none;
    tap_ok(!rig_open_with(&rig, KERNEL("mbarrier.inval.shared.b64 [%rd0];"), &none) && rig.error.unsupported && rig.error.place.line == 8,
           "otherwise the text is refused, at its line");
}

/* Running blocks on several host threads has the same result as on one. */
static void test_host_threads(void)
{
    struct rig rig;
    unsigned wrong = 0;
    rig_open(&rig, KERNEL(PLACE "mul.lo.u32 %r3, %r1, %r1; st.global.u32 [%rd1], %r3; red.global.add.u32 [%rd0+65536], 1;"));
    rig.threads = 4;
    rig_launch(&rig, "k", 100, 96, out, 1);
    for (uint32_t i = 0; i < 9600; i++)
        wrong += rig_u32(&rig)[i] != i * i;
    tap_ok(rig.outcome.end == PTX_END_DONE && !wrong && rig_u32(&rig)[16384] == 9600, "100 blocks on four threads of the host");
    rig.memory.fleeting = true; /* one thread's request would invalidate another one's bytes */
    rig_u32(&rig)[16384] = 0;
    tap_ok(rig_launch(&rig, "k", 100, 96, out, 1) == PTX_END_DONE && rig_u32(&rig)[16384] == 9600, "on one, where bytes are fleeting");
    rig_close(&rig);
}

int main(void)
{
    test_branches();
    test_meeting();
    test_locks();
    test_plain_wait();
    test_grid_barrier();
    test_no_end();
    test_exited();
    test_calls();
    test_ends();
    test_host_threads();
    return tap_done();
}
