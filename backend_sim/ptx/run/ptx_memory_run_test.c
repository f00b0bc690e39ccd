/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: spaces and generic addresses, vectors, misaligned and out-of-range accesses, atomics,
 * fences, requests to the accessor. */
#include "testing/ptx_rig.h"

#define REGISTERS ".reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .pred %p<4>; .reg .b128 %q<4>;\nld.param.u64 %rd0, [out];\n"
#define KERNEL_HEAD RIG_HEAD ".entry k(.param .u64 out)\n{\n"
#define KERNEL(body) KERNEL_HEAD REGISTERS body "\nret;\n}\n"
#define PLACE "mov.u32 %r0, %tid.x; mad.wide.u32 %rd1, %r0, 8, %rd0;\n"

static const uint64_t out[] = {RIG_BASE, 0x1122334455667788, 3};

static enum ptx_end once(struct rig *rig, const char *text, unsigned threads)
{
    rig_open(rig, text);
    return rig_launch(rig, "k", 1, threads, out, 1);
}

static void test_widths(void)
{
    struct rig rig;
    once(&rig, KERNEL("mov.b64 %rd2, 0x8182838485868788; st.global.b64 [%rd0], %rd2; ld.global.u8 %r1, [%rd0]; ld.global.s8 %r2, [%rd0+1]; "
                      "ld.global.s16 %r3, [%rd0+2]; ld.global.u16 %rd3, [%rd0+4]; ld.global.s32 %rd4, [%rd0+4]; ld.global.b8 %h1, [%rd0+7];\n"
                      "st.global.u32 [%rd0+8], %r1; st.global.u32 [%rd0+12], %r2; st.global.u32 [%rd0+16], %r3; st.global.u64 [%rd0+24], %rd3; "
                      "st.global.u64 [%rd0+32], %rd4; st.global.u16 [%rd0+40], %h1; st.global.u8 [%rd0+48], %rd2; st.global.b16 [%rd0+56], %r2;"), 1);
    const uint32_t *words = rig_u32(&rig);
    tap_ok(words[2] == 0x88 && words[3] == 0xffffff87 && words[4] == 0xffff8586, "narrow loads are extended into wider registers");
    tap_ok(rig_u64(&rig)[3] == 0x8384 && rig_u64(&rig)[4] == 0xffffffff81828384 && words[10] == 0x81, "up to 64 bits, by their sign");
    tap_ok(rig_u64(&rig)[6] == 0x88 && rig_u64(&rig)[7] == 0xff87, "narrow stores cut");
    rig_close(&rig);
}

/* As seen by others: each element is written at once. */
static void test_ordered_widths(void)
{
    struct rig rig;
    once(&rig, KERNEL("mov.b64 %rd2, 0x8182838485868788; st.volatile.global.b64 [%rd0], %rd2; ld.volatile.global.u8 %r1, [%rd0]; "
                      "ld.relaxed.sys.global.s8 %r2, [%rd0+1]; ld.acquire.gpu.global.s16 %r3, [%rd0+2]; ld.volatile.global.u16 %rd3, [%rd0+4]; "
                      "ld.volatile.global.s32 %rd4, [%rd0+4]; ld.global.cv.u64 %rd5, [%rd0]; st.relaxed.sys.global.u32 [%rd0+8], %r1; "
                      "st.volatile.global.v2.u32 [%rd0+16], {%r2, %r3}; st.release.gpu.global.u64 [%rd0+24], %rd3; st.volatile.global.u64 [%rd0+32], %rd4; "
                      "st.volatile.global.u8 [%rd0+40], %rd2; st.volatile.global.b16 [%rd0+48], %r2; st.volatile.global.u64 [%rd0+56], %rd5;"), 1);
    const uint64_t *words = rig_u64(&rig);
    const uint32_t *halves = rig_u32(&rig);
    tap_ok(halves[2] == 0x88 && halves[4] == 0xffffff87 && halves[5] == 0xffff8586, "loads that are volatile or ordered extend narrow values");
    tap_ok(words[3] == 0x8384 && words[4] == 0xffffffff81828384 && words[7] == words[0], "up to 64 bits, by their sign");
    tap_ok(words[5] == 0x88 && words[6] == 0xff87, "such stores cut");
    rig_close(&rig);
}

/* 32 bytes, also with an accessor that needs a request for each access. */
static void test_widest(void)
{
    for (unsigned fleeting = 0; fleeting < 2; fleeting++) {
        struct rig rig;
        rig_open(&rig, ".version 8.8\n.target sm_100\n.address_size 64\n.entry k(.param .u64 out)\n{\n" REGISTERS
                       "mov.u32 %r0, %tid.x; mad.wide.u32 %rd1, %r0, 32, %rd0; st.global.v8.u32 [%rd1], {%r0, 1, 2, 3, 4, 5, 6, %r0};\n"
                       "ld.global.v4.u64 {%rd2, %rd3, %rd4, %rd5}, [%rd1]; st.global.v4.u64 [%rd1+1024], {%rd5, %rd4, %rd3, %rd2};\nret;\n}\n");
        rig.memory.fleeting = fleeting;
        rig_launch(&rig, "k", 1, 32, out, 1);
        const uint32_t *words = rig_u32(&rig);
        tap_ok(rig.outcome.end == PTX_END_DONE && words[31 * 8] == 31 && words[31 * 8 + 6] == 6 && words[256 + 31 * 8 + 1] == 31 && words[256 + 31 * 8 + 6] == 31,
               "vectors of 32 bytes (%s)", fleeting ? "fleeting" : "in place");
        rig_close(&rig);
    }
}

static void test_vectors(void)
{
    struct rig rig;
    once(&rig, KERNEL(PLACE "mul.lo.u32 %r1, %r0, 3; mad.wide.u32 %rd2, %r0, 16, %rd0; st.global.v4.u32 [%rd2], {%r0, %r1, 7, %r1};\n"
                            "ld.global.v2.u64 {%rd3, %rd4}, [%rd2]; add.u64 %rd3, %rd3, %rd4; st.global.u64 [%rd2+4096], %rd3; "
                            "ld.global.b128 %q1, [%rd2]; mov.b128 {%rd5, %rd6}, %q1; st.global.v2.u64 [%rd2+8192], {%rd6, %rd5};"), 40);
    const uint64_t *words = rig_u64(&rig);
    uint64_t low = 5 | UINT64_C(15) << 32, high = 7 | UINT64_C(15) << 32;
    tap_ok(words[10] == low && words[11] == high, "a vector of four is 16 bytes");
    tap_ok(words[512 + 10] == low + high && words[1024 + 10] == high && words[1024 + 11] == low, "and is read as two of 64 bits, or one of 128");
    rig_close(&rig);
}

static void test_spaces(void)
{
    struct rig rig;
    rig_open(&rig, RIG_HEAD ".extern .shared .align 16 .b8 dynamic[];\n.global .u32 g = 77;\n.const .align 8 .b8 c[16] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
                            ".entry k(.param .u64 out, .param .u64 wide, .param .u32 n)\n{\n.shared .align 8 .b8 s[512]; .local .align 8 .b8 l[64];\n" REGISTERS PLACE
                            "ld.param.u64 %rd2, [wide]; ld.param.u8 %r1, [wide+1]; ld.param.u32 %r2, [n]; ld.const.u32 %r3, [c+4]; ld.global.u32 %r4, [g];\n"
                            "mov.u64 %rd3, l; cvta.local.u64 %rd4, %rd3; st.local.u32 [%rd3+8], %r0; ld.u32 %r5, [%rd4+8]; isspacep.local %p1, %rd4; selp.u32 %r6, 1, 0, %p1;\n"
                            "mov.u32 %r7, s; mad.lo.u32 %r7, %r0, 8, %r7; st.shared.u64 [%r7], %rd2; cvt.u64.u32 %rd5, %r7; cvta.shared.u64 %rd5, %rd5; ld.u64 %rd6, [%rd5]; "
                            "cvta.to.shared.u64 %rd7, %rd5; isspacep.shared %p2, %rd5; isspacep.global %p3, %rd5; selp.u32 %r8, 1, 0, %p2; selp.u32 %r9, 1, 0, %p3;\n"
                            "mov.b64 %rd8, wide; cvta.param.u64 %rd8, %rd8; ld.u64 %rd9, [%rd8]; mov.u64 %rd10, dynamic; st.shared.u64 [%rd10+8], %rd2;\n"
                            "mad.wide.u32 %rd1, %r0, 128, %rd0; st.global.v2.u64 [%rd1], {%rd2, %rd6}; st.global.v4.u32 [%rd1+16], {%r1, %r2, %r3, %r4}; "
                            "st.global.v4.u32 [%rd1+32], {%r5, %r6, %r8, %r9}; st.global.v4.u32 [%rd1+48], {%r7, %r7, %r7, %r7}; st.global.v2.u64 [%rd1+64], {%rd7, %rd9}; "
                            "st.global.u64 [%rd1+80], %rd10;\nret;\n}\n");
    rig.dynamic_shared = 16;
    rig_launch(&rig, "k", 1, 64, out, 3);
    const uint64_t *w = rig_u64(&rig) + 16 * 33;
    const uint32_t *n = (const uint32_t *)(const void *)w;
    tap_ok(rig.outcome.end == PTX_END_DONE && w[0] == out[1] && w[1] == out[1], "parameters, and shared memory by its own and by generic addresses");
    tap_ok(n[4] == 0x77 && n[5] == 3 && n[6] == 0x08070605 && n[7] == 77, "a part of a parameter, a constant, a variable");
    tap_ok(n[8] == 33 && n[9] == 1, "local memory of each lane, by a generic address");
    tap_ok(n[10] == 1 && n[11] == 0 && w[8] == n[12], "a generic address says its space");
    tap_ok(w[9] == out[1], "a parameter by a generic address");
    tap_ok(w[10] == 1024 + 512 && rig.program->kernels[0].shared_bytes == 512, "the launch's memory follows the static memory");
    rig_close(&rig);
}

static void test_wrong_places(void)
{
    struct rig rig;
    once(&rig, KERNEL(PLACE "mov.u64 %rd2, 64;\nst.global.u32 [%rd2], %r0;"), 64);
    tap_ok(rig.outcome.end == PTX_END_ACCESS && rig.last == 64 && rig.outcome.address == 64 && rig.outcome.bytes == 4 && rig.outcome.use == TWIN_WRITE &&
               rig.outcome.line.line == 10,
           "a write where nothing is: the address, its size, the line");
    rig_close(&rig);
    once(&rig, KERNEL(PLACE "ld.global.u32 %r1, [%rd1+2];"), 64);
    tap_ok(rig.outcome.end == PTX_END_MISALIGNED && rig.outcome.lanes == UINT32_MAX && rig.outcome.address == RIG_BASE + 2, "misaligned: all lanes that are");
    rig_close(&rig);
    once(&rig, KERNEL(PLACE "st.global.v2.u64 [%rd1], {%rd1, %rd1};"), 64);
    tap_ok(rig.outcome.end == PTX_END_MISALIGNED && rig.outcome.lanes == 0xaaaaaaaa && rig.outcome.bytes == 16, "a vector is aligned as a whole");
    rig_close(&rig);
    once(&rig, KERNEL(PLACE ".shared .align 8 .b8 s[64]; mad.lo.u32 %r1, %r0, 8, 0; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; ld.shared.u64 %rd2, [%r1];"), 32);
    tap_ok(rig.outcome.end == PTX_END_SPACE && rig.outcome.thread[0] == 16 && rig.outcome.address == 1024 + 128,
           "shared memory ends where the block's does, at a multiple of 128");
    rig_close(&rig);
    once(&rig, KERNEL(PLACE ".local .align 8 .b8 l[64]; mov.u64 %rd2, l; st.local.u64 [%rd2+64], %rd1;"), 32);
    tap_ok(rig.outcome.end == PTX_END_SPACE && rig.outcome.address == 64, "so does a lane's local memory");
    rig_close(&rig);
    once(&rig, KERNEL("mov.b64 %rd2, out; cvta.param.u64 %rd2, %rd2; st.u64 [%rd2], %rd2; ld.u64 %rd3, [%rd2]; st.global.u64 [%rd0], %rd3;"), 32);
    tap_ok(rig.outcome.end == PTX_END_DONE && rig_u64(&rig)[0] == RIG_BASE, "stores to a parameter are lost");
    rig_close(&rig);
    once(&rig, KERNEL("mov.b64 %rd2, out; cvta.param.u64 %rd2, %rd2; st.u64 [%rd2+4096], %rd2;"), 32);
    tap_ok(rig.outcome.end == PTX_END_SPACE, "behind the last of them nothing is");
    rig_close(&rig);
    once(&rig, KERNEL(PLACE "setp.eq.u32 %p1, %r0, 40; @%p1 mov.u64 %rd1, 8; st.global.u64 [%rd1], %rd1;"), 64);
    tap_ok(rig.outcome.end == PTX_END_ACCESS && rig.outcome.thread[0] == 40 && rig_u64(&rig)[31] == RIG_BASE + 8 * 31,
           "earlier stores of other warps are kept");
    rig_close(&rig);
}

/* ---- atomics ---- */

static const struct {
    const char *operation;
    uint64_t before, b, c, after;
    unsigned bytes;
} atomics[] = {
    {"add.u32", 5, 7, 0, 12, 4}, {"add.u64", UINT64_MAX, 3, 0, 2, 8}, {"min.s32",
     3, 0xfffffffe, 0, 0xfffffffe, 4}, {"max.s32", 3, 0xfffffffe, 0, 3, 4},
    {"min.u32", 3, 0xfffffffe, 0, 3, 4}, {"max.u64", 1, 9, 0, 9, 8}, {"min.s64", 1, UINT64_MAX, 0, UINT64_MAX, 8}, {"and.b32",
     6, 3, 0, 2, 4},
    {"or.b64", 6, 3, 0, 7, 8}, {"xor.b32", 6, 3, 0, 5, 4}, {"exch.b32", 6, 3, 0, 3, 4}, {"cas.b32",
     6, 6, 9, 9, 4}, {"cas.b32", 6, 5, 9, 6, 4},
    {"cas.b64", 6, 6, 9, 9, 8}, {"cas.b16", 0x10006, 6, 9, 0x10009, 2}, {"inc.u32", 5, 7, 0, 6, 4}, {"inc.u32",
     7, 7, 0, 0, 4}, {"dec.u32", 5, 7, 0, 4, 4},
    {"dec.u32", 0, 7, 0, 7, 4}, {"dec.u32", 9, 7, 0, 7, 4}, {"add.f32", 0x3f800000, 0x40000000, 0, 0x40400000, 4},
    {"add.f64", 0x3ff0000000000000, 0x4000000000000000, 0, 0x4008000000000000, 8}, {"add.noftz.f16",
     0xabcd3c00, 0x4000, 0, 0xabcd4200, 2},
    {"add.noftz.f16x2", 0x3c004000, 0x40003c00, 0, 0x42004200, 4}, {"add.noftz.bf16x2", 0x3f804000, 0x40003f80, 0, 0x40404040, 4},
};

static void test_atomics(void)
{
    for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++)
        for (unsigned shared = 0; shared < 2; shared++) {
            struct rig rig;
            char body[1000], text[1600];
            bool wide = atomics[i].bytes == 8, half = atomics[i].bytes == 2, compares = atomics[i].operation[0] == 'c';
            const char *d = wide ? "%rd4" : half ? "%h4" : "%r4", *b = wide ? "%rd5" : half ? "%h5" : "%r5", *c = wide ? "%rd6" : half ? "%h6" : "%r6";
            snprintf(body, sizeof body,
                     ".shared .align 8 .b8 s[8]; %s mov.b64 %%rd5, %" PRIu64 "; mov.b64 %%rd6, %" PRIu64 "; cvt.u32.u64 %%r5, %%rd5; cvt.u32.u64 %%r6, %%rd6; "
                     "cvt.u16.u64 %%h5, %%rd5; cvt.u16.u64 %%h6, %%rd6; mov.b64 %%rd7, %" PRIu64 "; st.b64 [%%rd1], %%rd7;\natom.%s.%s %s, [%%rd%s], %s%s%s;\n"
                     "ld.b64 %%rd7, [%%rd1]; st.global.b64 [%%rd0+8], %%rd7; %s st.global.b64 [%%rd0+16], %%rd4;",
                     shared ? "mov.u64 %rd2, s; cvta.shared.u64 %rd1, %rd2;" : "mov.u64 %rd1, %rd0; mov.u64 %rd2, %rd0;", atomics[i].b, atomics[i].c,
                     atomics[i].before, shared ? "shared" : "global", atomics[i].operation, d, i & 1 ? "2" : shared ? "2" : "1", b, compares ? ", " : "", compares ? c : "",
                     wide ? "" : half ? "cvt.u64.u16 %rd4, %h4;" : "cvt.u64.u32 %rd4, %r4;");
            snprintf(text, sizeof text, "%s%s%s%s", KERNEL_HEAD, REGISTERS, body, "\nret;\n}\n");
            once(&rig, text, 1);
            uint64_t mask = UINT64_MAX >> (64 - 8 * atomics[i].bytes);
            tap_ok(rig.outcome.end == PTX_END_DONE && rig_u64(&rig)[1] == atomics[i].after && rig_u64(&rig)[2] == (atomics[i].before & mask),
                   "atom.%s.%s: %" PRIx64 " and %" PRIx64, shared ? "shared" : "global", atomics[i].operation, atomics[i].before, atomics[i].b);
            rig_close(&rig);
        }
}

static void test_many_atomics(void)
{
    struct rig rig;
    once(&rig, KERNEL("mov.u32 %r0, %tid.x; red.global.add.u32 [%rd0], %r0; red.global.max.u32 [%rd0+4], %r0; atom.global.inc.u32 %r1, [%rd0+8], 9; "
                      "red.global.add.f32 [%rd0+12], 0f3F800000; atom.global.add.v2.f32 {%f1, %f2}, [%rd0+16], {0f3F800000, 0f40000000};"), 100);
    const uint32_t *words = rig_u32(&rig);
    tap_ok(words[0] == 4950 && words[1] == 99 && words[2] == 0 && words[3] == 0x42c80000 && words[4] == 0x42c80000 && words[5] == 0x43480000,
           "every thread's counts, in a vector as well");
    rig_close(&rig);
    once(&rig, KERNEL("mov.u64 %rd1, 5; mov.u64 %rd2, 6; mov.b128 %q1, {%rd1, %rd2}; atom.global.exch.b128 %q2, [%rd0], %q1; mov.u64 %rd3, 8; mov.b128 %q3, {%rd3, %rd3}; "
                      "atom.global.cas.b128 %q2, [%rd0], %q1, %q3; mov.b128 {%rd4, %rd5}, %q2; st.global.v2.u64 [%rd0+16], {%rd4, %rd5};"), 1);
    tap_ok(rig_u64(&rig)[0] == 8 && rig_u64(&rig)[1] == 8 && rig_u64(&rig)[2] == 5 && rig_u64(&rig)[3] == 6, "exchange and compare of 16 bytes");
    rig_close(&rig);
}

/* ---- the accessor ---- */

static unsigned fences;

static void note_fence(struct twin_memory *memory)
{
    (void)memory;
    fences++;
}

/* Grants are cached; with fleeting bytes, each access is a separate request. */
static void test_requests(void)
{
    struct rig rig;
    const char *text = KERNEL(PLACE "mov.u32 %r2, 0;\nL: ld.global.u64 %rd2, [%rd1]; add.u64 %rd2, %rd2, 1; st.global.u64 [%rd1], %rd2; add.u32 %r2, %r2, 1; "
                                    "setp.lt.u32 %p1, %r2, 10; @%p1 bra L;\nfence.proxy.alias; membar.gl;");
    once(&rig, text, 64);
    tap_ok(rig.requests <= 4 && rig_u64(&rig)[63] == 10, "a page is requested once (%u requests)", rig.requests);
    rig_close(&rig);
    rig_open(&rig, text);
    rig.memory.fleeting = true;
    rig.memory.fence = note_fence;
    rig_launch(&rig, "k", 1, 64, out, 1);
    tap_ok(rig.requests == 64 * 20 && rig_u64(&rig)[63] == 10 && fences == 2, "of fleeting bytes each access is a request, and fences are reported (%u, %u)",
           rig.requests, fences);
    rig_close(&rig);
}

/* Memory that reads as zeros until it is written: an accessor may say so. */
static bool zeros_run(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use, unsigned char **bytes)
{
    struct rig *rig = (struct rig *)memory;
    bool granted = rig_run(memory, address, width, size, use, bytes);
    if (use != TWIN_READ)
        rig->last = 1;
    if (granted && use == TWIN_READ && !rig->last)
        *bytes = NULL;
    return granted;
}

static void test_zeros(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL(PLACE "ld.global.u64 %rd2, [%rd1]; add.u64 %rd2, %rd2, 5; st.global.u64 [%rd1], %rd2; ld.global.u64 %rd3, [%rd1]; st.global.u64 [%rd1+2048], %rd3;"));
    rig.memory.run = zeros_run;
    rig_launch(&rig, "k", 1, 64, out, 1);
    tap_ok(rig_u64(&rig)[63] == 5 && rig_u64(&rig)[256 + 63] == 5, "memory granted as zeros is requested again after a write");
    rig_close(&rig);
}

static void test_stack(void)
{
    struct rig rig;
    rig_open(&rig, RIG_HEAD ".func f(.param .u64 out)\n{ " REGISTERS "stacksave.u64 %rd2; alloca.u64 %rd3, 64; alloca.u64 %rd4, 16, 16; st.local.u64 [%rd3], %rd2; "
                            "st.local.u64 [%rd4], %rd3; ld.local.u64 %rd5, [%rd3]; ld.local.u64 %rd6, [%rd4]; sub.u64 %rd7, %rd4, %rd3; stackrestore.u64 %rd2; "
                            "alloca.u64 %rd8, 8; sub.u64 %rd8, %rd8, %rd3; st.global.v2.u64 [%rd0], {%rd7, %rd8}; ret; }\n"
                            ".entry k(.param .u64 out)\n{ " REGISTERS "{ .param .b64 a; st.param.b64 [a], %rd0; call f, (a); } ret; }\n");
    rig_launch(&rig, "k", 1, 32, out, 1);
    tap_ok(rig.outcome.end == PTX_END_DONE && rig_u64(&rig)[0] == 72 && rig_u64(&rig)[1] == 0, "memory of the stack is taken, and freed");
    rig_close(&rig);
}

static void test_async(void)
{
    struct rig rig;
    once(&rig, KERNEL(".shared .align 16 .b8 s[64]; mov.u32 %r1, s; mov.u64 %rd2, 0x0807060504030201; st.global.u64 [%rd0], %rd2; st.global.u64 [%rd0+8], %rd2;\n"
                      "cp.async.cg.shared.global [%r1], [%rd0], 16; cp.async.ca.shared.global [%r1+16], [%rd0], 8, 3; cp.async.commit_group; cp.async.wait_group 0;\n"
                      "ld.shared.v2.u64 {%rd3, %rd4}, [%r1]; ld.shared.u64 %rd5, [%r1+16]; st.global.v2.u64 [%rd0+16], {%rd4, %rd5};"), 1);
    tap_ok(rig_u64(&rig)[2] == 0x0807060504030201 && rig_u64(&rig)[3] == 0x030201, "copies into shared memory, with zeros behind what is there");
    rig_close(&rig);
}

/* All lanes of a step without access are reported together; if lanes fail for different reasons,
 * those with the first lane's reason. */
static void test_lanes_refused(void)
{
    static const struct {
        const char *what, *body;
        enum ptx_end end;
        uint32_t lanes;
        uint64_t address;
    } cases[] = {
        {"the upper half", "mad.wide.u32 %rd1, %r0, 65536, %rd0; st.global.u32 [%rd1+1048576], %r0;", PTX_END_ACCESS, 0xffff0000, RIG_BASE + RIG_SIZE},
        {"every second one", "and.b32 %r1, %r0, 1; mad.wide.u32 %rd1, %r1, 67108864, %rd0; ld.global.u32 %r2, [%rd1];", PTX_END_ACCESS, 0xaaaaaaaa, RIG_BASE + 67108864},
        {"those outside of shared memory", ".shared .align 4 .b8 s[128]; mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 8, %r1; ld.shared.u32 %r2, [%r1];", PTX_END_SPACE, 0xffff0000, 1152},
        {"the first of two reasons is reported", ".shared .align 4 .b8 s[128]; mov.u64 %rd1, s; cvta.shared.u64 %rd1, "
                                                 "%rd1; add.u64 %rd1, %rd1, 4096; setp.lt.u32 %p1, %r0, 5; "
                                     "selp.u64 %rd1, %rd1, 64, %p1; ld.u32 %r2, [%rd1];", PTX_END_SPACE, 0x1f, 1024 + 4096},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig rig;
        char text[2000];
        snprintf(text, sizeof text, "%s", RIG_HEAD ".entry k(.param .u64 out)\n{\n" REGISTERS "mov.u32 %r0, %tid.x;\n");
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\nret;\n}\n", cases[i].body);
        once(&rig, text, 32);
        tap_ok(rig.outcome.end == cases[i].end && rig.outcome.lanes == cases[i].lanes && rig.outcome.address == cases[i].address,
               "%s (end %d, lanes %x, address %llx)", cases[i].what, (int)rig.outcome.end, rig.outcome.lanes, (unsigned long long)rig.outcome.address);
        rig_close(&rig);
    }
}

int main(void)
{
    test_lanes_refused();
    test_widths();
    test_ordered_widths();
    test_widest();
    test_vectors();
    test_spaces();
    test_wrong_places();
    test_atomics();
    test_many_atomics();
    test_requests();
    test_zeros();
    test_stack();
    test_async();
    return tap_done();
}
