/* SPDX-License-Identifier: Apache-2.0 */
/* Dry runs: a kernel sees its own stores, and nobody else does. */
#include "testing/ptx_rig.h"

#define REGISTERS ".reg .b32 %r<16>; .reg .b64 %d<10>; .reg .b16 %h<4>; .reg .pred %p<4>; .reg .b128 %q<4>;\nld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x;\n"
#define KERNEL(body) RIG_HEAD ".global .u32 v = 5;\n.entry k(.param .u64 out)\n{\n" REGISTERS body "\nret;\nBAD: trap;\n}\n"

static const uint64_t out[] = {RIG_BASE};

/* Every byte is 0x11 before and after, unless it reads as zero. */
static void test(const char *what, const char *text, uint32_t threads)
{
    struct rig rig;
    unsigned changed = 0;
    rig_open(&rig, text);
    memset(rig.bytes, 0x11, RIG_SIZE / 2);
    rig.memory.dry = true;
    rig_launch(&rig, "k", 1, threads, out, 1);
    for (unsigned i = 0; i < RIG_SIZE / 2; i++)
        changed += rig.bytes[i] != 0x11;
    tap_ok(rig.outcome.end == PTX_END_DONE && !changed, "%s (it ended with %d at line %u)", what, (int)rig.outcome.end, rig.outcome.line.line);
    rig_close(&rig);
}

static bool runs_of_zeros(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use, unsigned char **bytes)
{
    bool granted = rig_run(memory, address, width, size, use, bytes);
    *bytes = NULL;
    return granted;
}

static unsigned fences;

static void count_fence(struct twin_memory *memory)
{
    (void)memory;
    fences++;
}

/* Memory that was never written, replicas (which a dry run lacks), and fences. */
static void test_passed_on(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("ld.global.u64 %d1, [%d0]; setp.ne.u64 %p1, %d1, 0; @%p1 bra BAD; st.global.u8 [%d0+3], 255; ld.global.u64 %d1, [%d0];\n"
                          "setp.ne.u64 %p1, %d1, 0xff000000; @%p1 bra BAD; fence.proxy.alias; multimem.ld_reduce.relaxed.sys.global.add.u64 %d2, [%d0];"));
    rig.memory.dry = true;
    rig.memory.run = runs_of_zeros;
    rig.memory.fence = count_fence;
    tap_ok(rig_launch(&rig, "k", 1, 1, out, 1) == PTX_END_ACCESS && fences == 1, "zeros are read, a fence is passed on, and there are no replicas without a function for them");
    rig.memory.fence = NULL;
    tap_ok(rig_launch(&rig, "k", 1, 1, out, 1) == PTX_END_ACCESS && fences == 1, "an accessor need not take fences");
    rig_close(&rig);
}

static void test_refused(void)
{
    struct rig rig;
    rig_open(&rig, KERNEL("st.global.u32 [%d0], %r0; ld.global.u32 %r1, [%d0+67108864];"));
    rig.memory.dry = true;
    tap_ok(rig_launch(&rig, "k", 1, 32, out, 1) == PTX_END_ACCESS && rig.last == RIG_BASE + 67108864, "an access without the right ends a dry run");
    rig_close(&rig);
}

int main(void)
{
    test("loads return the stored values", KERNEL("add.u32 %r1, %r0, 7; mad.wide.u32 %d1, %r0, 4, %d0; st.global.u32 "
                                                  "[%d1], %r1; bar.sync 0; xor.b32 %r2, %r0, 5;\n"
                                                  "mad.wide.u32 %d2, %r2, 4, %d0; ld.global.u32 %r3, [%d2]; add.u32 %r2, %r2, 7; setp.ne.u32 %p1, %r2, %r3; @%p1 bra BAD;"), 64);
    test("the memory around it is unchanged", KERNEL("mov.u16 %h1, 0x2233; st.global.u16 [%d0+2], %h1; ld.global.u64 %d1, "
                                                     "[%d0]; setp.ne.u64 %p1, %d1, 0x1111111122331111; @%p1 bra BAD;\n"
                                                     "ld.global.u8 %r1, [%d0+3]; setp.ne.u32 %p1, %r1, 0x22; @%p1 bra BAD;"), 1);
    test("vectors", KERNEL("mad.wide.u32 %d1, %r0, 16, %d0; cvt.u64.u32 %d2, %r0; st.global.v2.u64 [%d1], {%d2, 9}; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];\n"
                           "setp.ne.u32 %p1, %r1, %r0; @%p1 bra BAD; setp.ne.u32 %p1, %r3, 9; @%p1 bra BAD;"), 32);
    test("atomics", KERNEL("atom.global.add.u32 %r1, [%d0], 1; bar.sync 0; ld.global.u32 %r2, [%d0]; setp.ne.u32 %p1, %r2, 0x11111151; @%p1 bra BAD;"), 64);
    test("16 bytes in one piece", KERNEL("mov.u64 %d1, 1; mov.b128 %q1, {%d1, %d1}; atom.global.exch.b128 %q0, [%d0], %q1; ld.global.u64 %d2, [%d0+8]; "
                                         "setp.ne.u64 %p1, %d2, 1; @%p1 bra BAD;"), 1);
    test("many places", KERNEL("mov.u32 %r1, 0; L: mad.lo.u32 %r2, %r1, 64, %r0; mad.wide.u32 %d1, %r2, 4, %d0; st.global.u32 [%d1], %r2; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 40; @%p1 bra L;\n"
                               "M: sub.u32 %r1, %r1, 1; mad.lo.u32 %r2, %r1, 64, %r0; mad.wide.u32 %d1, %r2, 4, %d0; ld.global.u32 %r3, [%d1]; setp.ne.u32 %p1, %r2, %r3; @%p1 bra BAD; "
                               "setp.ne.u32 %p1, %r1, 0; @%p1 bra M;"), 64);
    test("variables", KERNEL("mov.u64 %d1, v; ld.global.u32 %r1, [%d1]; setp.ne.u32 %p1, %r1, 5; @%p1 bra BAD; st.global.u32 [%d1], 6; ld.global.u32 %r1, [%d1]; setp.ne.u32 %p1, %r1, 6; @%p1 bra BAD;"), 1);
    test_passed_on();
    test_refused();
    return tap_done();
}
