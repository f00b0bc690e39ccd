/* SPDX-License-Identifier: Apache-2.0 */
/* Rare cases: steps that wait forever, invalid function pointers, accesses refused midway, the
 * driver's functions with wrong arguments, hosts that stop a launch, and the counting and listing
 * of steps. */
#include <pthread.h>
#include <unistd.h>

#include "testing/ptx_rig.h"

#define REGISTERS ".reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .pred %p<4>; .reg .b128 %q<4>; .reg .b16 %h<4>;\nld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x;\n"
#define KERNEL(body) RIG_HEAD ".entry k(.param .u64 out)\n{\n" REGISTERS body "\nret;\n}\n"

static const uint64_t out[] = {RIG_BASE};

/* One launch and its outcome. */
static enum ptx_end ends(const char *text, uint32_t threads)
{
    struct rig rig;
    rig_open(&rig, text);
    rig.budget = 1000 * 1000;
    enum ptx_end end = rig_launch(&rig, "k", 1, threads, out, 1);
    rig_close(&rig);
    return end;
}

/* ---- lanes that wait for others ---- */

#define APART(a, b) KERNEL("setp.lt.u32 %p1, %r0, 16; @%p1 bra A; " b "; bra B; A: " a "; B:")

static void test_different_steps(void)
{
    static const char *const texts[] = {
        APART("shfl.sync.up.b32 %r1, %r0, 1, 0, -1", "shfl.sync.down.b32 %r1, %r0, 1, 31, -1"), APART("match.any.sync.b32 %r1, %r0, -1", "match.all.sync.b32 %r1, %r0, -1"),
        APART("match.any.sync.b32 %r1, %r0, -1", "match.any.sync.b64 %r1, %rd0, -1"), APART("redux.sync.add.u32 %r1, %r0, -1", "redux.sync.min.u32 %r1, %r0, -1"),
        APART("vote.sync.all.pred %p2, %p1, -1", "vote.sync.any.pred %p2, %p1, -1"), APART("bar.warp.sync 0xffff0000", "bar.warp.sync -1"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        tap_ok(ends(texts[i], 32) == PTX_END_DEADLOCK, "lanes at two steps that are not one wait for each other (%zu)", i);
    tap_ok(ends(APART("match.any.sync.b64 %r1, %rd0, -1", "match.any.sync.b64 %r1, %rd0, -1"), 32) == PTX_END_DONE, "at two places of one step they meet");
}

/* Without .sync, the lanes of the split take part. */
static void test_without_sync(void)
{
    struct rig rig;
    rig_open(&rig, ".version 6.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 out)\n{\n" REGISTERS
                   "mad.wide.u32 %rd1, %r0, 8, %rd0; setp.ge.u32 %p1, %r0, 8; @%p1 bra END; vote.ballot.b32 %r1, 1; shfl.idx.b32 %r2, %r0, 5, 31; "
                   "vote.all.pred %p2, 1; @%p2 add.u32 %r2, %r2, 100; st.global.v2.u32 [%rd1], {%r1, %r2}; END: ret;\n}\n");
    rig_launch(&rig, "k", 1, 32, out, 1);
    tap_ok(rig_u32(&rig)[0] == 0xff && rig_u32(&rig)[15] == 105 && !rig_u32(&rig)[16], "a vote and a shuffle of the lanes that came");
    rig_close(&rig);
}

static void test_redux(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("or.b32 %r1, %r0, 0x50; redux.sync.and.b32 %r2, %r1, -1; st.global.u32 [%rd0], %r2;"));
    rig_launch(&rig, "k", 1, 32, out, 1);
    tap_u64(rig_u32(&rig)[0], 0x50, "the bits that all lanes have");
    rig_close(&rig);
}

/* A barrier for some of the lanes; a deadlock after a warp has ended; a jump table that jumps backwards. */
static void test_places(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("setp.lt.u32 %p1, %r0, 8; @%p1 bar.sync 1, 32; mov.u32 %r1, 5; @!%p1 bar.arrive 1, 32; mad.wide.u32 %rd1, %r0, 4, %rd0; st.global.u32 [%rd1], %r1;"));
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_DONE && rig_u32(&rig)[0] == 5 && rig_u32(&rig)[31] == 5, "some lanes wait at a barrier, and the others arrive");
    rig_close(&rig);
    rig_open(&rig, KERNEL("setp.lt.u32 %p1, %r0, 32; @%p1 exit; bar.sync 1, 64;"));
    tap_ok(rig_launch(&rig, "k", 1, 64, out, 1) == PTX_END_DEADLOCK && rig.outcome.thread[0] == 32, "a deadlock names the first thread that waits");
    rig_close(&rig);
    rig_open(&rig, KERNEL("mov.u32 %r1, 0; T: .branchtargets BACK; BACK: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5; selp.u32 %r2, 0, 9, %p1; brx.idx %r2, T; st.global.u32 [%rd0], %r1;"));
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_DONE && rig_u32(&rig)[0] == 5, "a loop by a table of jumps");
    rig_close(&rig);
    rig_open(&rig, KERNEL("T: .branchtargets BACK; BACK: brx.idx 0, T;"));
    rig.budget = 100000;
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_BUDGET, "which ends with the budget");
    rig.threads = 2;
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_BUDGET, "on two threads of the host, too");
    rig_close(&rig);
}

/* ---- calls ---- */

#define CALLEES                                                                                                                      \
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.extern .func (.param .b64 r) malloc(.param .b64 a);\n"       \
    ".extern .func free(.param .b64 a);\n.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n" \
    ".func undefined();\n.func nothing() { ret; }\n.func one(.param .b32 a) { ret; }\n.func (.param .b32 r) result() { ret; }\n"
#define POINTER(pointer) RIG_HEAD CALLEES ".entry k(.param .u64 out)\n{\n" REGISTERS pointer " P: .callprototype _; call %rd1, P; ret;\n}\n"

static void test_pointers(void)
{
    char text[4000];
    static const uint64_t wrong[] = {0, PTX_FUNCTIONS + 8, PTX_FUNCTIONS + 16 * 1000, PTX_FUNCTIONS - 16, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, "%s%" PRIu64 "%s", RIG_HEAD CALLEES ".entry k(.param .u64 out)\n{\n" REGISTERS "mov.u64 %rd1, ", wrong[i],
                 "; P: .callprototype _; call %rd1, P; ret;\n}\n");
        tap_ok(ends(text, 32) == PTX_END_POINTER, "a call of %" PRIx64 ", where no function is", wrong[i]);
    }
    tap_ok(ends(POINTER("mov.u64 %rd1, undefined;"), 32) == PTX_END_POINTER, "of a function that no module defines");
    tap_ok(ends(POINTER("mov.u64 %rd1, one;"), 32) == PTX_END_POINTER && ends(POINTER("mov.u64 %rd1, result;"), 32) == PTX_END_POINTER,
           "of one with other parameters, or another result");
    tap_ok(ends(POINTER("mov.u64 %rd1, nothing;"), 32) == PTX_END_DONE, "and of one that is as the prototype says");
    tap_ok(ends(RIG_HEAD CALLEES ".entry k(.param .u64 out)\n{\n" REGISTERS
                                 "mov.u64 %rd1, free; mov.u64 %rd0, 0; P: .callprototype _ (.param .b64 _); call %rd1, (%rd0), P; ret;\n}\n", 32) == PTX_END_DONE,
           "one of the driver's");
}

/* Lanes that return earlier wait after the call for the others. */
static void test_returns(void)
{
    struct rig rig;
    rig_open(&rig, RIG_HEAD ".func (.param .b32 r) f(.param .b32 a)\n{ .reg .b32 %r<4>; .reg .pred %p; ld.param.b32 %r1, [a]; setp.lt.u32 %p, %r1, 7; "
                            "st.param.b32 [r], %r1; @%p ret; add.u32 %r1, %r1, 100; st.param.b32 [r], %r1; ret; }\n"
                            ".entry k(.param .u64 out)\n{\n" REGISTERS "call (%r1), f, (%r0); activemask.b32 %r2; mad.wide.u32 %rd1, %r0, 8, %rd0; "
                            "st.global.v2.u32 [%rd1], {%r1, %r2}; ret;\n}\n");
    rig_launch(&rig, "k", 1, 32, out, 1);
    tap_ok(rig_u32(&rig)[12] == 6 && rig_u32(&rig)[14] == 107 && rig_u32(&rig)[13] == UINT32_MAX, "a return of some lanes");
    rig_close(&rig);
    tap_ok(ends(RIG_HEAD ".func f()\n{ call f; ret; }\n.entry k(.param .u64 out)\n{\ncall f; ret;\n}\n", 32) == PTX_END_STACK,
           "a function without memory of its own cannot call itself more than 65535 times");
}

/* ---- printf and assert ---- */

static const char formats[] = RIG_HEAD CALLEES
    ".entry k(.param .u64 format, .param .u64 arguments, .param .u64 answer)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<4>; ld.param.u64 %rd1, [format]; ld.param.u64 %rd2, [arguments]; "
    "call (%r1), vprintf, (%rd1, %rd2); ld.param.u64 %rd3, [answer]; st.global.u32 [%rd3], %r1; ret;\n}\n"
    ".entry asserts(.param .u64 a, .param .u64 b, .param .u64 d)\n{\n.reg .b64 %rd<4>; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [d]; "
    "call __assertfail, (%rd1, %rd2, 7, %rd3, 1); ret;\n}\n"
    ".func plain();\n.entry bare() { P: .callprototype _; .reg .b64 %rd; mov.u64 %rd, plain; ret; }\n";

/* Stores in text what one thread prints for a format and its arguments. */
static enum ptx_end printed(const char *format, const void *arguments, size_t size, uint64_t at, bool dry, char text[10000])
{
    struct rig rig;
    FILE *file = tmpfile();
    fflush(stdout);
    int kept = dup(1);
    if (!file || kept < 0 || dup2(fileno(file), 1) < 0)
        tap_bail("no file to print into");
    rig_open(&rig, formats);
    memcpy(rig.bytes, format, strlen(format) + 1);
    memcpy(rig.bytes + 65536, arguments, size);
    rig.memory.dry = dry;
    enum ptx_end end = rig_launch(&rig, "k", 1, 1, (uint64_t[]){RIG_BASE, at, RIG_BASE + 131072}, 3);
    uint32_t answer = rig_u32(&rig)[131072 / 4];
    rig_close(&rig);
    fflush(stdout);
    dup2(kept, 1);
    close(kept);
    rewind(file);
    text[fread(text, 1, 9000, file)] = '\0';
    fclose(file);
    snprintf(text + strlen(text), 20, "|%u", answer);
    return end;
}

static const struct {
    const char *format;
    uint32_t words[6];
    const char *text;
} prints[] = {
    {"%*d|", {5, 7}, "    7||2"}, {"%-*d|", {5, 7}, "7    ||2"}, {"%*d|", {(uint32_t)-5, 7}, "7    ||2"}, {"%.*d|", {3, 7}, "007||2"},
    {"%hd %hhd", {7, 8}, "7 8|1"}, {"%y %d", {7}, "%y 7|1"}, {"trailing %", {0}, "trailing %|0"}, {"%-", {0}, "%-|0"}, {"%l", {0}, "%l|0"},
    {"%0000000000000000000000d", {7}, "%0000000000000000000000d|0"}, {"%p", {0x1234, 1}, "0x100001234|1"}, {"%lld %zu", {5, 0, 6, 0}, "5 %zu|1"},
    {"%%%d%%", {5}, "%5%|1"}, {"", {0}, "|0"}, {"%x %X %o %u %i %c", {10, 11, 8, 4, 3, 65}, "a B 10 4 3 A|6"}, {"%99999999999d", {1}, "|1"},
};

static void test_print(void)
{
    static char text[10000], large[9000];
    const uint64_t wild = 0x123456789000;
    for (size_t i = 0; i < sizeof prints / sizeof prints[0]; i++) {
        printed(prints[i].format, prints[i].words, sizeof prints[i].words, RIG_BASE + 65536, false, text);
        tap_text(text, prints[i].text, "\"%s\"", prints[i].format);
    }
    printed("%d\n", &prints[0].words, 4, RIG_BASE + 65536, true, text);
    tap_text(text, "|0", "a dry run prints nothing, and leaves memory alone");
    memset(large, 'x', sizeof large - 1);
    tap_ok(printed(large, "", 0, RIG_BASE + 65536, false, text) == PTX_END_DONE && strlen(text) < 4200, "a format of 9000 characters is cut");
    tap_ok(printed("%1000d%1000d%1000d%1000d%1000d", prints[0].words, 4, RIG_BASE + 65536, false, text) == PTX_END_DONE && strlen(text) < 4200, "and what becomes of one");
    tap_ok(printed("%d", "", 0, wild, false, text) == PTX_END_ACCESS, "arguments that are nowhere");
    tap_ok(printed("%s", &wild, sizeof wild, RIG_BASE + 65536, false, text) == PTX_END_ACCESS, "a string that is nowhere");
    tap_ok(printed("%s", "", 0, wild, false, text) == PTX_END_ACCESS, "a string whose argument is nowhere");
    struct rig rig;
    rig_open(&rig, formats);
    tap_ok(rig_launch(&rig, "k", 1, 1, (uint64_t[]){wild, RIG_BASE, RIG_BASE}, 3) == PTX_END_ACCESS && rig.last == wild, "a format that is nowhere");
    tap_ok(rig_launch(&rig, "asserts", 1, 1, (uint64_t[]){wild, RIG_BASE, RIG_BASE}, 3) == PTX_END_ACCESS, "an assertion whose text is nowhere");
    memset(rig.bytes, 'y', 200);
    tap_ok(rig_launch(&rig, "asserts", 1, 1, (uint64_t[]){RIG_BASE, RIG_BASE, RIG_BASE}, 3) == PTX_END_ASSERT && strlen(rig.outcome.text) < 160 &&
               strncmp(rig.outcome.text, "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy:7: yyy", 46) == 0,
           "an assertion with long words");
    rig_close(&rig);
}

/* The driver's functions declared with missing parameters. */
static void test_bare(void)
{
    tap_ok(ends(RIG_HEAD ".extern .func vprintf();\n.entry k(.param .u64 out)\n{\ncall vprintf; ret;\n}\n", 1) == PTX_END_ACCESS, "vprintf without arguments reads at 0");
    tap_ok(ends(RIG_HEAD ".extern .func malloc();\n.entry k(.param .u64 out)\n{\ncall malloc; ret;\n}\n", 1) == PTX_END_DONE, "malloc without a result gives none");
}

/* ---- memory ---- */

static const struct {
    const char *body;
    enum ptx_end end;
} places[] = {
    {"atom.global.add.u32 %r1, [%rd0+2], 1;", PTX_END_MISALIGNED}, {"atom.global.exch.b128 %q1, [%rd0+8], %q2;",
     PTX_END_MISALIGNED},
    {"red.global.add.v2.f32 [%rd0+4], {%f1, %f2};",
     PTX_END_MISALIGNED}, {"mov.u64 %rd1, 64; atom.global.add.u32 %r1, [%rd1], 1;", PTX_END_ACCESS},
    {"mov.u64 %rd1, 64; atom.global.exch.b128 %q1, [%rd1], %q2;",
     PTX_END_ACCESS}, {"mov.u32 %r1, 0x10000; atom.shared.add.u32 %r2, [%r1], 1;", PTX_END_SPACE},
    {"multimem.red.global.add.u32 [%rd0+2], %r1;", PTX_END_MISALIGNED}, {"multimem.red.global.add.u32 [%rd0], %r1;",
     PTX_END_ACCESS},
    {"mov.u32 %r1, s; cp.async.ca.shared.global [%r1+2], [%rd0], 4;",
     PTX_END_MISALIGNED}, {"mov.u32 %r1, s; cp.async.ca.shared.global [%r1], [%rd0+2], 4;", PTX_END_MISALIGNED},
    {"mov.u32 %r1, s; mov.u64 %rd1, 64; cp.async.ca.shared.global [%r1], [%rd1], 4;",
     PTX_END_ACCESS}, {"mov.u32 %r1, 4096; cp.async.ca.shared.global [%r1], [%rd0], 4;", PTX_END_SPACE},
    {"mov.u32 %r1, s; setp.eq.u32 %p1, 0, 0; mov.u64 %rd1, 64; cp.async.ca.shared.global [%r1], [%rd1], 4, %p1;", PTX_END_DONE},
    {"mov.b64 %rd1, out; cvta.param.u64 %rd1, %rd1; ld.u64 %rd2, [%rd1];",
     PTX_END_DONE}, {"mov.b64 %rd1, out; cvta.param.u64 %rd1, %rd1; ld.u64 %rd2, [%rd1+8];", PTX_END_SPACE},
    {"mov.b64 %rd1, out; cvta.param.u64 %rd1, %rd1; ld.u32 %r2, [%rd1+4096];",
     PTX_END_SPACE}, {"mov.b64 %rd1, out; cvta.param.u64 %rd1, %rd1; st.u64 [%rd1], %rd2;", PTX_END_DONE},
    {"mov.u32 %r1, 64; ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1+4080];",
     PTX_END_SPACE}, {"mov.u64 %rd1, 0x10000000; alloca.u64 %rd2, %rd1;", PTX_END_STACK},
    {"L: alloca.u64 %rd2, 65536; bra L;", PTX_END_STACK}, {"mov.u64 %rd1, 0x1000000; ld.local.u32 %r1, [%rd1];", PTX_END_SPACE},
    {"mov.u64 %rd1, 0xFFFFFFFFFFFFFFF0; ld.local.u32 %r1, [%rd1];",
     PTX_END_SPACE}, {"mov.u64 %rd1, 0xFFFFFFFFFFFFFFFC; ld.global.u32 %r1, [%rd1];", PTX_END_ACCESS},
    {"alloca.u64 %rd1, 64; mov.u64 %rd2, 5; st.local.u64 [%rd1+56], %rd2; ld.local.u64 %rd3, [%rd1+56]; stackrestore.u64 0xFFFFFFFF; st.global.u64 [%rd0], %rd3;", PTX_END_DONE},
    {"st.release.gpu.global.u32 [%rd0], %r1; fence.acq_rel.gpu; atom.acq_rel.gpu.global.add.u32 %r1, [%rd0], 1;", PTX_END_DONE},
};

static void test_wrong_places(void)
{
    static char text[3000];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (int fleeting = 0; fleeting < 2; fleeting++) {
            struct rig rig;
            snprintf(text, sizeof text, "%s%s%s", RIG_HEAD ".entry k(.param .u64 out)\n{\n" REGISTERS ".shared .align 16 .b8 s[64]; ld.shared.u32 %r15, [s];\n", places[i].body, "\nret;\n}\n");
            rig_open(&rig, text);
            rig.memory.fleeting = fleeting;
            enum ptx_end end = rig_launch(&rig, "k", 1, 8, out, 1);
            tap_u64(end, places[i].end, "%s%.70s", fleeting ? "fleeting: " : "", places[i].body);
            rig_close(&rig);
        }
}

/* With fleeting bytes, a load or store makes a request for each lane, and may be refused midway. */
static void test_fleeting(void)
{
    static const struct {
        const char *body;
        enum ptx_end end;
    } rows[] = {{"shl.b32 %r1, %r0, 20; cvt.u64.u32 %rd1, %r1; add.u64 %rd1, %rd1, %rd0; ld.global.u32 %r2, [%rd1];", PTX_END_ACCESS},
                {"shl.b32 %r1, %r0, 20; cvt.u64.u32 %rd1, %r1; add.u64 %rd1, %rd1, %rd0; st.global.u32 [%rd1], %r2;", PTX_END_ACCESS},
                {"ld.global.u32 %r2, [%rd0+1];", PTX_END_MISALIGNED}, {"st.global.u32 [%rd0+1], %r2;", PTX_END_MISALIGNED},
                {"st.global.v4.u32 [%rd0], {%r0, %r0, %r0, %r0}; ld.global.v2.u64 {%rd2, %rd3}, [%rd0]; st.u64 [%rd0+16], %rd3;", PTX_END_DONE}};
    static char text[2000];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rig rig;
        snprintf(text, sizeof text, "%s%s%s", RIG_HEAD ".entry k(.param .u64 out)\n{\n" REGISTERS, rows[i].body, "\nret;\n}\n");
        rig_open(&rig, text);
        rig.memory.fleeting = true;
        enum ptx_end end = rig_launch(&rig, "k", 1, 8, out, 1);
        tap_u64(end, rows[i].end, "fleeting: %.60s", rows[i].body);
        rig_close(&rig);
    }
}

/* ---- multicast ---- */

static unsigned char copies[3][64];
static bool holes;

static bool replicas(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use, unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    (void)memory;
    (void)use;
    if (address - RIG_BASE > sizeof copies[0] - width)
        return false;
    *count = 3;
    for (unsigned i = 0; i < 3; i++)
        bytes[i] = holes && i == 1 && use == TWIN_READ ? NULL : copies[i] + (address - RIG_BASE);
    return true;
}

static void test_multicast(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("mov.u32 %r1, 5; multimem.st.global.u32 [%rd0], %r1; multimem.red.global.add.u32 [%rd0], 2; multimem.ld_reduce.global.add.u32 %r2, [%rd0]; "
                          "mov.f32 %f1, 1.5; mov.f32 %f2, 2.5; multimem.st.global.v2.f32 [%rd0+8], {%f1, %f2}; multimem.ld_reduce.global.add.v2.f32 {%f1, %f2}, [%rd0+8]; "
                          "cvt.rzi.u32.f32 %r3, %f2; st.global.v2.u32 [%rd0], {%r2, %r3};"));
    rig.memory.replicas = replicas;
    rig_launch(&rig, "k", 1, 1, out, 1);
    tap_ok(rig_u32(&rig)[0] == 21 && rig_u32(&rig)[1] == 7 && copies[2][0] == 7, "what is stored through a multicast address is in each replica, and a load reduces over them");
    holes = true;
    rig_launch(&rig, "k", 1, 1, out, 1);
    tap_u64(rig_u32(&rig)[0], 14, "a replica that was never written reads as zeros");
    holes = false;
    tap_ok(rig_launch(&rig, "k", 1, 1, (uint64_t[]){RIG_BASE + 4096}, 1) == PTX_END_ACCESS, "an address behind which are no replicas");
    rig_close(&rig);
}

/* ---- the host ---- */

static unsigned pauses, elsewhere;
static pthread_t caller;

/* The third pause writes the value that the kernel waits for. */
static bool writes_then(struct twin_memory *memory, uint64_t nanoseconds)
{
    (void)nanoseconds;
    elsewhere += !pthread_equal(pthread_self(), caller);
    if (++pauses == 3)
        rig_u32((struct rig *)memory)[0] = 1;
    return true;
}

static bool stops(struct twin_memory *memory, uint64_t nanoseconds)
{
    (void)memory;
    (void)nanoseconds;
    return ++pauses < 5;
}

static void test_pauses(void)
{
    struct rig rig;
    const char *text = KERNEL("WAIT: ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;");
    rig_open(&rig, text);
    rig.memory.pause = writes_then;
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_DONE && pauses == 3, "a kernel that waits for the host pauses");
    rig_u32(&rig)[0] = pauses = 0;
    rig.memory.pause = stops;
    tap_ok(rig_launch(&rig, "k", 3, 32, out, 1) == PTX_END_STOPPED && pauses == 5, "and ends where the host says so");
    rig_close(&rig);
}

/* Time passes in the launching thread once the blocks of all threads wait or have ended; block 0 ends at once. */
static void test_pauses_of_threads(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 exit;\n"
                          "WAIT: ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT; red.global.add.u32 [%rd0+4], 1;"));
    elsewhere = 0;
    caller = pthread_self();
    for (unsigned threads = 2; threads <= 4; threads++)
        for (uint32_t grid = 2; grid <= 12; grid += 5) {
            rig.threads = threads;
            rig_u32(&rig)[0] = rig_u32(&rig)[1] = pauses = 0;
            rig.memory.pause = writes_then;
            tap_ok(rig_launch(&rig, "k", grid, 32, out, 1) == PTX_END_DONE && pauses == 3 && rig_u32(&rig)[1] == 32 * (grid - 1) && !elsewhere,
                   "%u blocks on %u threads wait for the host", grid, threads);
            rig_u32(&rig)[0] = pauses = 0;
            rig.memory.pause = stops;
            tap_ok(rig_launch(&rig, "k", grid, 32, out, 1) == PTX_END_STOPPED && pauses == 5, "and end where it says so");
        }
    rig_close(&rig);
}

/* The launching thread has finished its block, which takes some time, before another thread's block begins to wait. */
static void test_pause_after_all(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT; mov.u32 %r2, 0;\n"
                          "L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 300000; @%p1 bra L; exit;\n"
                          "WAIT: ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;"));
    elsewhere = pauses = 0;
    caller = pthread_self();
    rig.threads = 2;
    rig.memory.pause = writes_then;
    tap_ok(rig_launch(&rig, "k", 2, 32, out, 1) == PTX_END_DONE && pauses == 3 && !elsewhere, "time passes when its own blocks have ended, too");
    rig_close(&rig);
}

/* Each step of each routine with the number of lanes that executed it. */
static void test_counts(void)
{
    struct rig rig;
    uint64_t counts[64] = {0}, all = 0, partial = 0;
    rig_open(&rig, RIG_HEAD ".func f() { ret; }\n.entry k(.param .u64 out)\n{\n" REGISTERS "setp.lt.u32 %p1, %r0, 5; @%p1 add.u32 %r1, %r0, 1; @%p1 st.global.u32 [%rd0], %r1; call f; ret;\n}\n");
    rig.counts = counts;
    rig_launch(&rig, "k", 2, 32, out, 1);
    for (unsigned i = 0; i < 64; i++) {
        all += counts[i] == 64;
        partial += counts[i] == 10;
    }
    tap_ok(partial == 2 && all >= 5, "steps are counted by lanes (%" PRIu64 ", %" PRIu64 ")", all, partial);
    rig_close(&rig);
}

static void test_lines(void)
{
    struct rig rig;
    char text[80];
    rig_open(&rig, RIG_HEAD ".file 1 \"fill.cu\"\n.file 2 \"\"\n.entry k(.param .u64 out)\n{\n" REGISTERS ".loc 1 12 3\ntrap; ret; }\n"
                            ".entry l(.param .u64 out)\n{\n" REGISTERS "trap; ret; }\n.entry m(.param .u64 out)\n{\n" REGISTERS ".loc 2 12 3\ntrap; ret; }\n"
                            ".entry n(.param .u64 out)\n{\n" REGISTERS ".loc 9 12 3\ntrap; ret; }\n");
    static const struct {
        const char *kernel, *text;
    } lines[] = {{"k", "fill.cu:12"}, {"l", "line 16 of the PTX"}, {"m", "line 22 of the PTX"}, {"n", "line 28 of the PTX"}};
    for (int i = 0; i < 4; i++) {
        rig_launch(&rig, lines[i].kernel, 1, 1, out, 1);
        ptx_describe_line(rig.program, &rig.outcome.line, text, sizeof text);
        tap_text(text, lines[i].text, "the place of a fault in %s", lines[i].kernel);
    }
    struct ptx_line none = {.line = 7, .source = 1000};
    ptx_describe_line(rig.program, &none, text, sizeof text);
    tap_text(text, "line 7 of the PTX", "and one without a source");
    rig_close(&rig);
}

/* By opcode, if the process asks for it: an instruction of several steps counts once. */
static void test_counts_by_opcode(void)
{
    struct rig rig;
    char path[200], name[240], line[80] = "", all[400] = "";
    snprintf(path, sizeof path, "%s/cuvmm-counts-%ld", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
    snprintf(name, sizeof name, "%s.%ld", path, (long)getpid());
    setenv("CUVMM_PTX_COUNTS", path, 1);
    rig_open(&rig, KERNEL("mad.wide.u32 %rd1, %r0, 4, %rd0; setp.lt.u32 %p1, %r0, 10; @%p1 st.global.u32 [%rd1], %r0;"));
    rig_launch(&rig, "k", 1, 32, out, 1);
    rig_launch(&rig, "k", 1, 32, out, 1);
    FILE *file = fopen(name, "r");
    while (file && fgets(line, sizeof line, file))
        strncat(all, line, sizeof all - strlen(all) - 1);
    if (file)
        fclose(file);
    unlink(name);
    tap_ok(strcmp(all, "ld\t64\nmad\t64\nmov\t64\nret\t64\nsetp\t64\nst\t20\n") == 0, "lanes by opcode, of two launches: %s", all);
    setenv("CUVMM_PTX_COUNTS", "/no/such/folder/counts", 1);
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_DONE, "a file that cannot be written is left out");
    unsetenv("CUVMM_PTX_COUNTS");
    rig_close(&rig);
}

int main(void)
{
    test_different_steps();
    test_without_sync();
    test_redux();
    test_places();
    test_pointers();
    test_returns();
    test_print();
    test_bare();
    test_wrong_places();
    test_fleeting();
    test_multicast();
    test_pauses();
    test_pauses_of_threads();
    test_pause_after_all();
    test_counts();
    test_counts_by_opcode();
    test_lines();
    return tap_done();
}
