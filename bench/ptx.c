/* SPDX-License-Identifier: Apache-2.0 */
/* ptx - the speed of kernels that run from PTX, and how it compares with their twins and with two threads. Not a test.
 *
 *   bench-ptx [--rounds N] [--result FILE]
 *
 * Counts lane instructions a second of three kernels: an integer loop, a copy, a product of f32 matrices. Then runs kernels of
 * the library from PTX next to their twins, and the loop on one and two threads of the host, by the clock; medians of
 * interleaved rounds. */
#include <stdio.h>

#include "kernels_ptx.h"
#include "lib/aims.h"
#include "lib/live.h"
#include "lib/subject.h"
#include "options.h"

enum { GRID = 64, LOOPS = 1024, BLOCK = 256, TURNS = 200, SIDE = 128, WORDS = GRID * BLOCK * 16 };
enum { BYTES = 16 << 20 };
enum row { LOOP, COPY, PRODUCT, COPY_PTX, COPY_TWIN, VERIFY_PTX, VERIFY_TWIN, ONE, TWO, ROWS };

/* The number of instructions per lane is given with each kernel. */
static const char kernels[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry loop(.param .u64 out) { .reg .b32 %r<6>; .reg .b64 %d<3>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3; mov.u32 %r4, 0;\n"
    "mov.u32 %r5, %r1;\n"
    "L: mad.lo.u32 %r1, %r1, 1664525, 1013904223; xor.b32 %r1, %r1, %r5; shr.u32 %r2, %r1, 7; add.u32 %r5, %r5, %r2; add.u32 %r4, %r4, 1;\n"
    "setp.lt.u32 %p, %r4, 200; @%p bra L;\n" /* 7 a turn, 10 beside */
    "mul.wide.u32 %d2, %r3, 4; add.u64 %d2, %d1, %d2; st.global.u32 [%d2], %r5; ret; }\n"
    ".visible .entry move(.param .u64 to, .param .u64 from) { .reg .b32 %r<6>; .reg .b64 %d<5>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mov.u32 %r4, 0; mov.u32 %r2, %nctaid.x; mul.lo.u32 %r2, %r2, 1024;\n"
    "mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; cvt.u64.u32 %d3, %r2;\n"
    "L: ld.global.u32 %r5, [%d2]; st.global.u32 [%d1], %r5; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; add.u32 %r4, %r4, 1;\n"
    "setp.lt.u32 %p, %r4, 16; @%p bra L; ret; }\n" /* 7 a turn, 14 beside */
    ".visible .entry product(.param .u64 c, .param .u64 a, .param .u64 b) { .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<6>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [c]; ld.param.u64 %d2, [a]; ld.param.u64 %d3, [b]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, 0;\n"
    "mul.wide.u32 %d4, %r1, 512; add.u64 %d2, %d2, %d4; mul.wide.u32 %d5, %r2, 4; add.u64 %d3, %d3, %d5; add.u64 %d1, %d1, %d4; add.u64 %d1, %d1, %d5;\n"
    "mov.f32 %f1, 0f00000000;\n"
    "L: ld.global.f32 %f2, [%d2]; ld.global.f32 %f3, [%d3]; fma.rn.f32 %f1, %f2, %f3, %f1; add.u64 %d2, %d2, 4; add.u64 %d3, %d3, 512;\n"
    "add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 128; @%p bra L; st.global.f32 [%d1], %f1; ret; }\n"; /* 8 a turn, 15 beside */

/* A machine, and a kernel that is launched on it. */
struct machine {
    vmm_system *sys;
    vmm_deviceptr to, from, out;
};

struct work {
    struct machine *machine;
    vmm_kernel kernel;
    unsigned grid, block;
    uint64_t args[4], count;
};

static struct machine one, two;
static struct work works[ROWS];
static struct subject rows[ROWS];

static double run_by(double (*time)(void), struct work *w, unsigned units)
{
    const double start = time();
    for (unsigned i = 0; i < units; i++) {
        need(vmm_launch(w->machine->sys, w->kernel, w->grid, w->block, w->args, w->count, NULL), rows[w - works].name);
        need(vmm_ctx_synchronize(w->machine->sys), rows[w - works].name);
    }
    return time() - start;
}

static double run(void *state, unsigned units)
{
    return run_by(spent, state, units);
}

static double run_by_clock(void *state, unsigned units)
{
    return run_by(now, state, units);
}

static void open_machine(struct machine *m, const char *spec)
{
    vmm_context ctx;
    need(vmm_open(spec, &m->sys), spec);
    need(vmm_init(m->sys, 0), "init");
    need(vmm_ctx_create(m->sys, &ctx, 0, 0), "context");
    need(vmm_mem_alloc(m->sys, &m->to, BYTES), "memory");
    need(vmm_mem_alloc(m->sys, &m->from, BYTES), "memory");
    need(vmm_mem_alloc(m->sys, &m->out, 4096), "memory");
    need(vmm_memset_d8(m->sys, m->to, 1, BYTES), "fill");
    need(vmm_memset_d8(m->sys, m->from, 0, BYTES), "fill");
    need(vmm_memset_d8(m->sys, m->out, 0, 4096), "fill");
}

static vmm_kernel loaded(const void *text, size_t size, const char *name)
{
    const vmm_ptx_kernel what = {.ptx = text, .size = size, .name = name};
    vmm_kernel kernel = -1;
    need(vmm_kernel_load(&what, &kernel), name);
    return kernel;
}

static vmm_kernel own(const char *name)
{
    return loaded(kernels, sizeof kernels - 1, name);
}

static void row(enum row at, const char *name, struct work work, unsigned units)
{
    works[at] = work;
    rows[at] = (struct subject){.name = name, .batch = run, .state = &works[at], .units = units};
}

static void open_all(void)
{
    open_machine(&one, "sim:h100");
    open_machine(&two, "sim:h100,kernel_threads=2");
    row(LOOP, "an integer loop", (struct work){&one, own("loop"), LOOPS, BLOCK, {one.out}, 1}, 1);
    row(ONE, "the same, by the clock", (struct work){&one, own("loop"), LOOPS, BLOCK, {one.out}, 1}, 1);
    row(TWO, "the same on two threads", (struct work){&two, own("loop"), LOOPS, BLOCK, {two.out}, 1}, 1);
    row(COPY, "a copy, word by word", (struct work){&one, own("move"), GRID, BLOCK, {one.to, one.from}, 2}, 4);
    row(PRODUCT, "a product of f32 matrices", (struct work){&one, own("product"), SIDE, SIDE, {one.to, one.from, one.from}, 3}, 1);
    rows[ONE].batch = rows[TWO].batch = run_by_clock;
    const vmm_kernel copy = loaded(kernels_ptx, kernels_ptx_size, "copy"), verify = loaded(kernels_ptx, kernels_ptx_size, "pattern_verify");
    need(vmm_launch(one.sys, VMM_KERNEL_PATTERN_WRITE, 1, 1, (uint64_t[]){one.from, BYTES, 9}, 3, NULL), "pattern");
    row(COPY_PTX, "kernel copy from PTX", (struct work){&one, copy, GRID, BLOCK, {one.to, one.from, BYTES}, 3}, 1);
    row(COPY_TWIN, "its twin", (struct work){&one, VMM_KERNEL_COPY, GRID, BLOCK, {one.to, one.from, BYTES}, 3}, 1);
    row(VERIFY_PTX, "kernel pattern_verify from PTX", (struct work){&one, verify, GRID, BLOCK, {one.from, BYTES, 9, one.out}, 4}, 1);
    row(VERIFY_TWIN, "its twin", (struct work){&one, VMM_KERNEL_PATTERN_VERIFY, GRID, BLOCK, {one.from, BYTES, 9, one.out}, 4}, 1);
}

static void print_lanes(enum row at, double instructions, unsigned rounds)
{
    printf("  %-40s %9.2f thousand million lane instructions a second\n", rows[at].name, instructions / subject_median(&rows[at], rounds));
}

static void print(struct aims *aims, unsigned rounds)
{
    printf("medians of %u interleaved rounds\n", rounds);
    print_lanes(LOOP, (double)LOOPS * BLOCK * (7 * TURNS + 10), rounds);
    print_lanes(COPY, (double)GRID * BLOCK * (7 * WORDS / (GRID * BLOCK) + 14), rounds);
    print_lanes(PRODUCT, (double)SIDE * SIDE * (8 * SIDE + 15), rounds);
    for (enum row at = COPY_PTX; at < ONE; at++)
        printf("  %-40s %9.2f GB/s\n", rows[at].name, BYTES / subject_median(&rows[at], rounds));
    printf("wanted\n");
    aims_wanted(aims, "copy, of its twin's speed", subject_median(&rows[COPY_TWIN], rounds) / subject_median(&rows[COPY_PTX], rounds), AIM_LEAST, 0.1);
    aims_wanted(aims, "pattern_verify, of its twin's speed", subject_median(&rows[VERIFY_TWIN], rounds) / subject_median(&rows[VERIFY_PTX], rounds),
                AIM_LEAST, 0.1);
    aims_wanted(aims, "two threads to one", subject_median(&rows[ONE], rounds) / subject_median(&rows[TWO], rounds), AIM_LEAST, 1.7);
}

int main(int argc, char **argv)
{
    uint64_t rounds = 15;
    const char *result = NULL;
    struct aims aims;
    const struct option_row options[] = {
        {"result", OPTION_TEXT, &result, 0, 0},
        {"rounds", OPTION_NUMBER, &rounds, 1, SUBJECT_ROUNDS},
    };
    if (!options_read(options, sizeof options / sizeof options[0], argc, argv, stderr) || !aims_open(&aims, result))
        return 2;
    open_all();
    subjects_run(rows, ROWS, (unsigned)rounds);
    print(&aims, (unsigned)rounds);
    vmm_close(one.sys);
    vmm_close(two.sys);
    return !aims_close(&aims);
}
