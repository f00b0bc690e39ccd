/* SPDX-License-Identifier: Apache-2.0 */
/* Each step is compiled twice, for any processor and for one with wider vectors, and makes whole warps in another way than a few lanes:
 * all of them compute the same, for each pair of instruction and types, and for each instruction that ptxas was asked about. */
#include "pairs.h"
#include "random.h"
#include "random_kernel.h"
#include "testing/ptx_rig.h"
#include "verdicts.h"

enum { PAIRS_MOST = 4000, TUPLES = 512, OUT = 256 << 10, CELLS = 768 << 10, COMPARED = 1 << 20, GLOBALS = 4096 };

/* What the first way left in memory, variables behind the rest, and how it ended. */
static unsigned char first_bytes[COMPARED + GLOBALS];
static struct ptx_outcome first;

static bool same_end(const struct ptx_outcome *a, const struct ptx_outcome *b)
{
    return a->end == b->end && a->address == b->address && a->line.line == b->line.line;
}

/* Launches with unchanged memory, once in each way. False: they differ. */
static bool same_in_tiers(struct rig *rig, uint32_t grid, uint32_t block, const uint64_t *args, unsigned count)
{
    static unsigned char before[COMPARED + GLOBALS];
    memcpy(before, rig->bytes, sizeof before);
    rig->narrow = false;
    rig_launch(rig, "k", grid, block, args, count);
    first = rig->outcome;
    memcpy(first_bytes, rig->bytes, sizeof before);
    memcpy(rig->bytes, before, sizeof before);
    rig->narrow = true;
    rig_launch(rig, "k", grid, block, args, count);
    return same_end(&first, &rig->outcome) && memcmp(first_bytes, rig->bytes, sizeof before) == 0;
}

/* Under valgrind, which CUVMM_RUN names, each takes long: one in so many is enough there. */
static unsigned stride(void)
{
    const char *under = getenv("CUVMM_RUN");
    return under && *under ? 16 : 1;
}

/* The wide steps round a * b + c of f64 by the processor's instruction, and valgrind's is a unit off now and then. */
static bool is_fused(const char *name)
{
    return stride() > 1 && strstr(name, "f64") && (strncmp(name, "fma", 3) == 0 || strncmp(name, "mad", 3) == 0);
}

/* ---- pairs ---- */

static void fill_operands(const struct pair *pair, struct rig *rig)
{
    memset(rig->bytes, 0, COMPARED);
    for (unsigned t = 0; t < TUPLES; t++)
        for (unsigned i = 0; i < 4 && *pair->type[i + 1]; i++)
            rig_u64(rig)[4 * t + i] = pair_operand(pair, t, i);
}

/* With whole warps in both tiers, then in blocks of 20 threads. */
static bool same_pair(const struct pair *pair)
{
    static char text[PAIR_TEXT];
    const uint64_t args[] = {RIG_BASE, RIG_BASE + OUT};
    struct rig rig;
    pair_text(pair, text);
    rig_open(&rig, text);
    fill_operands(pair, &rig);
    bool same = same_in_tiers(&rig, TUPLES / 128, 128, args, 2) && rig.outcome.end == PTX_END_DONE;
    fill_operands(pair, &rig);
    rig.narrow = false;
    rig_launch(&rig, "k", TUPLES / 20, 20, args, 2);
    same = same && memcmp(first_bytes + OUT, rig.bytes + OUT, TUPLES / 20 * 20 * 16) == 0;
    fill_operands(pair, &rig);
    rig.narrow = true;
    rig_launch(&rig, "k", TUPLES / 20, 20, args, 2);
    same = same && memcmp(first_bytes + OUT, rig.bytes + OUT, TUPLES / 20 * 20 * 16) == 0;
    rig_close(&rig);
    return same;
}

static void test_pairs(void)
{
    static struct pair pairs[PAIRS_MOST];
    unsigned count = pairs_all(pairs, PAIRS_MOST), wrong = 0;
    for (unsigned i = 0; i < count; i += stride()) {
        bool same = is_fused(pairs[i].name) || same_pair(&pairs[i]);
        wrong += !same;
        if (!same)
            tap_note("%s", pairs[i].name);
    }
    tap_ok(count > 1000 && !wrong, "%u instructions with their types compute the same in four ways", count / stride());
    if (stride() > 1)
        tap_skip("under another program, as valgrind is, which rounds them otherwise", "fma of f64 in both tiers");
}

/* ---- random kernels ---- */

static void test_kernels(void)
{
    static struct random_kernel kernel;
    const uint64_t args[] = {RIG_BASE, RIG_BASE + OUT, RIG_BASE + CELLS};
    unsigned count = random_rounds(60) / stride() + 1, wrong = 0;
    for (unsigned seed = 0; seed < count; seed++) {
        struct rig rig;
        random_kernel_make(&kernel, seed);
        rig_open(&rig, kernel.text);
        for (unsigned i = 0; i < kernel.grid * kernel.block * RANDOM_INPUTS; i++)
            rig_u64(&rig)[i] = random_kernel_input(&kernel, i);
        bool same = same_in_tiers(&rig, kernel.grid, kernel.block, args, 3) && rig.outcome.end == PTX_END_DONE;
        wrong += !same;
        if (!same)
            tap_note("seed %u", seed);
        rig_close(&rig);
    }
    tap_u64(wrong, 0, "%u random kernels compute the same in both tiers", count);
}

/* ---- single instructions, whatever comes of them ---- */

/* Registers get values and valid addresses; afterwards they are stored after these. */
#define LOADS                                                                                                                        \
    "mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [par]; mad.wide.u32 %rd9, %r0, 256, %rd0; and.b32 %r1, %r0, 3; shl.b32 %r1, %r1, 4;\n"    \
    "add.u64 %rd1, %rd9, 64; ld.global.v2.u64 {%rd2, %rd3}, [%rd9]; mov.u64 %rd5, 0; ld.global.v2.u32 {%r2, %r3}, [%rd9+16];\n"        \
    "ld.global.v2.f32 {%f1, %f2}, [%rd9+24]; mov.f32 %f3, 0f40490FDB; ld.global.v2.f64 {%fd1, %fd2}, [%rd9+32]; mov.f64 %fd3, 0d3FF8000000000000;\n" \
    "ld.global.v4.b16 {%h1, %h2, %h3, %h4}, [%rd9+48]; setp.lt.u32 %p1, %r2, %r3; setp.lt.u32 %p2, %r0, 9; setp.gt.u32 %p3, %r0, 99;\n" \
    "mov.b128 %rq1, {%rd2, %rd3}; mov.b128 %rq2, {%rd3, %rd2}; mov.b128 %rq3, %rq1;\n"
#define STORES                                                                                                                       \
    "\nst.global.v2.u64 [%rd9+128], {%rd1, %rd2}; st.global.u64 [%rd9+144], %rd3; st.global.v4.u32 [%rd9+160], {%r1, %r2, %r3, %r0};\n" \
    "st.global.v2.f32 [%rd9+176], {%f1, %f2}; st.global.f32 [%rd9+184], %f3; st.global.v2.f64 [%rd9+192], {%fd1, %fd2};\n"             \
    "st.global.f64 [%rd9+208], %fd3; st.global.v4.b16 [%rd9+216], {%h1, %h2, %h3, %h4}; selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2;\n" \
    "or.b32 %r4, %r4, %r5; selp.u32 %r5, 4, 0, %p3; or.b32 %r4, %r4, %r5; st.global.u32 [%rd9+224], %r4; st.global.b128 [%rd9+240], %rq1;\n"

enum { THREADS = 40 };

/* False: the tiers differ. *ended: it came to its end. */
static bool same_instruction(const char *instruction, uint64_t *random, bool *ended)
{
    static char text[8192];
    static const struct ptx_options none;
    const uint64_t args[] = {RIG_BASE};
    struct rig rig;
    snprintf(text, sizeof text, "%s%s%s", VERDICT_HEAD LOADS, instruction, STORES "ret;\n}\n");
    if (!rig_open_with(&rig, text, &none)) {
        tap_note("%s: %s", instruction, rig.error.text);
        return false;
    }
    rig.budget = 20000;
    for (unsigned i = 0; i < THREADS * 32; i++)
        rig_u64(&rig)[i] = random_next(random) >> (i % 5 ? 0 : random_below(random, 64));
    bool same = same_in_tiers(&rig, 1, THREADS, args, 1);
    *ended = rig.outcome.end == PTX_END_DONE;
    rig_close(&rig);
    return same;
}

/* Clocks and counters of the host are another number each time. */
static bool is_fickle(const char *instruction)
{
    return strstr(instruction, "clock") || strstr(instruction, "timer") || strstr(instruction, "createpolicy");
}

static void test_instructions(uint64_t *random)
{
    struct verdict verdict;
    unsigned seen = 0, ended = 0, wrong = 0, line = 0;
    FILE *file = verdicts_open();
    while (verdict_next(file, &verdict)) {
        bool end = false;
        if (!verdict.here || is_fickle(verdict.instruction) || is_fused(verdict.instruction) || line++ % stride())
            continue;
        bool same = same_instruction(verdict.instruction, random, &end);
        seen++;
        ended += end;
        wrong += !same;
        if (!same)
            tap_note("%s", verdict.instruction);
    }
    fclose(file);
    tap_ok(seen > 1000 / stride() && ended > seen / 2 && !wrong, "%u instructions end the same in both tiers, %u of them well", seen, ended);
}

int main(void)
{
    uint64_t random = random_seed(5);
    test_pairs();
    test_kernels();
    test_instructions(&random);
    return tap_done();
}
