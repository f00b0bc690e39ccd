/* SPDX-License-Identifier: Apache-2.0 */
/* The results of single instructions: in registers wider than their types, with predicates, from special registers. */
#include "testing/ptx_rig.h"

#define REGISTERS                                                                                                              \
    ".reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %e<4>; .reg .pred %p<4>; .reg .b128 %q<4>;\n" \
    ".shared .align 16 .b8 s[64];\nld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %rd1, %r0, 8, %rd0;\n"

/* Each stores its result in %rd2, the same for every thread. */
static const struct {
    const char *body;
    uint64_t value;
} values[] = {
    {"mov.u16 %h1, 0x80FE; cvt.u16.s8 %r1, %h1; cvt.u64.u32 %rd2, %r1;", 0xfffe},
    {"mov.u16 %h1, 0x80FE; cvt.u16.s8 %rd2, %h1;", 0xfffe},
    {"mov.u16 %h1, 0x80FE; cvt.s16.u8 %r1, %h1; cvt.u64.u32 %rd2, %r1;", 0xfe},
    {"mov.u32 %r1, 0xFFFE; cvt.s32.s16 %rd2, %r1;", UINT64_MAX - 1},
    {"mov.u32 %r1, 0x1FFFE; cvt.u8.u32 %rd2, %r1;", 0xfe},
    {"mov.u32 %r1, 0x1FFFE; cvt.s8.u32 %rd2, %r1;", UINT64_MAX - 1},
    {"mov.u32 %r1, 300; cvt.sat.u8.u32 %r2, %r1; cvt.u64.u32 %rd2, %r2;", 255},
    {"mov.s32 %r1, -300; cvt.sat.s8.s32 %r2, %r1; cvt.s64.s32 %rd2, %r2;", UINT64_MAX - 127},
    {"mov.s32 %r1, -3; cvt.sat.u32.s32 %r2, %r1; cvt.u64.u32 %rd2, %r2;", 0},
    {"mov.u32 %r1, 0x10005; cvt.rn.f32.u16 %f1, %r1; mov.b32 %r2, %f1; cvt.u64.u32 %rd2, %r2;", 0x40a00000},
    {"mov.u64 %rd3, 0x100003C00; cvt.f32.f16 %f1, %rd3; mov.b32 %r2, %f1; cvt.u64.u32 %rd2, %r2;", 0x3f800000},
    {"mov.f32 %f1, 1.0; cvt.rn.f16.f32 %r1, %f1; cvt.u64.u32 %rd2, %r1;", 0x3c00},
    {"mov.f32 %f1, 70000.0; cvt.rzi.u16.f32 %r1, %f1; cvt.u64.u32 %rd2, %r1;", 65535},
    {"mov.f32 %f1, -200.0; cvt.rzi.s8.f32 %r1, %f1; cvt.s64.s32 %rd2, %r1;", UINT64_MAX - 127},
    {"mov.b16 %h1, 0xC06C; { .reg .b8 %c; cvt.rzi.s8.bf16 %c, %h1; mov.b16 %h2, {%c, 0}; } cvt.u64.u16 %rd2, %h2;", 0xfd},
    {"mov.b16 %h1, 0x437F; { .reg .u8 %c; cvt.rni.u8.bf16 %c, %h1; cvt.u64.u8 %rd2, %c; }", 255},
    {"{ .reg .s8 %c; mov.b32 %r1, 0x85; cvt.s8.u32 %c, %r1; cvt.rn.bf16.s8 %h1, %c; } cvt.u64.u16 %rd2, %h1;", 0xc2f6},
    {"cvt.rn.bf16.u8 %h1, 200; cvt.u64.u16 %rd2, %h1;", 0x4348},
    {"mov.f32 %f1, 2.5; cvt.f32.f32 %f2, %f1; mov.b32 %r2, %f2; cvt.u64.u32 %rd2, %r2;", 0x40200000},
    {"mov.f64 %e1, 2.5; cvt.f64.f64 %e2, %e1; mov.b64 %rd2, %e2;", UINT64_C(0x4004000000000000)},
    {"mov.f32 %f1, 2.5; cvt.rni.f32.f32 %f2, %f1; mov.b32 %r2, %f2; cvt.u64.u32 %rd2, %r2;", 0x40000000},
    {"mov.f64 %e1, 1.5; add.f64 %e1, %e1, 0f3FC00000; mov.b64 %rd2, %e1;", UINT64_C(0x4008000000000000)},
    {"mov.f32 %f1, 1.5; add.f32 %f1, %f1, 0d3FF8000000000000; mov.b32 %r1, %f1; cvt.u64.u32 %rd2, %r1;", 0x40400000},
    {"mov.u16 %h1, %ntid.x; cvt.u64.u16 %rd2, %h1;", 40},
    {"mov.pred %p1, 1; mov.pred %p2, !%p1; selp.u64 %rd2, 1, 2, %p2;", 2},
    {"mov.pred %p1, 0; @!%p1 mov.u64 %rd2, 7; @%p1 mov.u64 %rd2, 9;", 7},
    {"setp.eq.u32 %p1, %r0, %r0; mov.u32 %r1, 3; @%p1 setp.lt.u32 %p1|%p2, %r1, 5; selp.u64 %rd2, 1, 2, %p1; @%p2 mov.u64 %rd2, 3;", 1},
    {"setp.eq.u32 %p1, %r0, %r0; mov.u32 %r1, 3; @%p1 setp.gt.u32 %p1|%p2, %r1, 5; selp.u64 %rd2, 1, 2, %p1; @%p2 add.u64 %rd2, %rd2, 10;", 12},
    {"mov.u64 %rd3, 1; mov.u64 %rd4, 2; mov.b128 %q1, {%rd3, %rd4}; mov.b128 %q2, %q1; mov.b128 {%rd5, %rd6}, %q2; shl.b64 %rd6, %rd6, 8; or.b64 %rd2, %rd5, %rd6;", 0x201},
    {"mov.u64 %rd3, 5; mov.b128 %q1, {%rd3, %rd3}; mov.b128 %q2, {%rd3, %rd0}; mov.b128 %q3, {%rd0, %rd3}; mad.wide.u32 %rd4, %r0, 16, %rd0; st.global.b128 [%rd4+4096], %q1; "
     "atom.global.cas.b128 %q0, [%rd4+4096], %q2, %q2; atom.global.cas.b128 %q0, [%rd4+4096], %q3, %q2; ld.global.b128 %q2, [%rd4+4096]; mov.b128 {%rd5, %rd6}, %q2; add.u64 %rd2, %rd5, %rd6;", 10},
    {"mov.u16 %h1, 1; mov.u16 %h2, 2; mov.b64 %rd2, {%h1, %h2, %h1, %h2};", UINT64_C(0x0002000100020001)},
    {"mov.u64 %rd3, 0x0004000300020001; mov.b64 {_, %h1, _, %h2}, %rd3; mov.b32 %r1, {%h1, %h2}; cvt.u64.u32 %rd2, %r1;",
     0x00040002},
    {"mov.u32 %r1, -5; mov.u32 %r2, 7; mov.u32 %r3, 1; mad.lo.cc.s32 %r4, %r1, %r2, %r3; madc.hi.s32 %r5, %r1, %r2, %r3; mov.b64 %rd2, {%r4, %r5};", UINT64_C(0x00000000ffffffde)},
    {"mov.s64 %rd3, -5; mov.s64 %rd4, 7; mov.u64 %rd5, 3; mad.lo.cc.s64 %rd6, %rd3, %rd4, %rd5; madc.hi.s64 %rd2, %rd3, %rd4, %rd5;", 2},
    {"mov.u32 %r1, -1; mov.u32 %r2, 1; add.cc.u32 %r3, %r1, %r2; addc.cc.u32 %r4, %r1, %r2; addc.u32 %r5, 0, 0; mov.b64 %rd2, {%r4, %r5};", UINT64_C(0x0000000100000001)},
    {"mov.u32 %r1, 12; mov.u32 %r2, 10; mov.pred %p1, 0; lop3.or.b32 %r3|%p2, %r1, %r2, 0, 0xC0, %p1; cvt.u64.u32 %rd2, %r3; @%p2 add.u64 %rd2, %rd2, 100;", 108},
    {"mov.u32 %r1, 12; mov.u32 %r2, 3; mov.pred %p1, 1; lop3.and.b32 %r3|%p2, %r1, %r2, 0, 0xC0, %p1; cvt.u64.u32 %rd2, %r3; @%p2 add.u64 %rd2, %rd2, 100;", 0},
    {"mov.u32 %r1, %tid.w; mov.u32 %r2, %ntid.w; mov.u32 %r3, %ctaid.w; mov.u32 %r4, %nctaid.w; add.u32 %r1, %r1, %r3; mad.lo.u32 %r1, %r2, 10, %r1; mad.lo.u32 %r1, %r4, 100, %r1; cvt.u64.u32 %rd2, %r1;", 0},
    {"mov.u32 %r1, %cluster_nctaid.x; mov.u32 %r2, %nwarpid; mov.u32 %r3, %smid; mad.lo.u32 %r1, %r2, 10, %r1; mad.lo.u32 %r1, %r3, 100, %r1; mov.u64 %rd3, %gridid; cvt.u64.u32 %rd2, %r1; mad.lo.u64 %rd2, %rd3, 1000, %rd2;", 1641},
    {"mov.u32 %r1, %total_smem_size; mov.u32 %r2, %aggr_smem_size; mov.u32 %r3, %dynamic_smem_size; mad.lo.u32 %r1, %r2, 1000, %r1; mad.lo.u32 %r1, %r3, 1000000, %r1; ld.shared.u32 %r4, [s]; cvt.u64.u32 %rd2, %r1; cvt.u64.u32 %rd3, %r4; add.u64 %rd2, %rd2, %rd3;", 128 + 128000 + 16000000},
    {"mov.u32 %r1, %reserved_smem_offset_begin; mov.u32 %r2, %reserved_smem_offset_end; mov.u32 %r3, %reserved_smem_offset_cap; mad.lo.u32 %r1, %r2, 10000, %r1; add.u32 %r1, %r1, %r3; "
     "cvt.u64.u32 %rd2, %r1;", 2881024},
    {"mov.u32 %r1, %reserved_smem_offset_0; mov.u32 %r2, %reserved_smem_offset_1; cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd3, %rd3; mov.u64 %rd4, 7; "
     "st.u64 [%rd3+280], %rd4; ld.shared.u64 %rd2, [%r2+280]; cvt.u64.u32 %rd3, %r1; add.u64 %rd2, %rd2, %rd3; st.shared.u32 [s], %r1;", 7},
    {"mov.u32 %r1, %clock_hi; mov.u32 %r2, %pm0; mov.u32 %r3, %envreg3; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; cvt.u64.u32 %rd2, %r1;", 0},
    {"mov.u32 %r1, %globaltimer_lo; mov.u32 %r2, %globaltimer_hi; setp.gt.u32 %p1, %r2, 400000000; setp.gt.or.u32 %p1, %r1, 0, %p1; selp.u64 %rd2, 1, 0, %p1;", 1},
    {"mov.u32 %r1, %laneid; mov.u32 %r2, 1; shl.b32 %r2, %r2, %r1; mov.u32 %r3, %lanemask_eq; xor.b32 %r2, %r2, %r3; mov.u32 %r4, %lanemask_lt; sub.u32 %r5, %r3, %r4; "
     "mov.u32 %r6, %lanemask_ge; mov.u32 %r7, %lanemask_gt; sub.u32 %r6, %r6, %r7; sub.u32 %r6, %r6, %r3; or.b32 %r2, %r2, %r6; mad.lo.u32 %r2, %r5, 10, %r2; cvt.u64.u32 %rd2, %r2;", 10},
    {"cvta.shared.u64 %rd3, s; isspacep.shared %p1, %rd3; isspacep.global %p2, %rd3; isspacep.local %p3, %rd3; selp.u64 %rd2, 1, 0, %p1; @%p2 add.u64 %rd2, %rd2, 2; @%p3 add.u64 %rd2, %rd2, 4;", 1},
    {"barrier.cluster.arrive; barrier.cluster.wait; nanosleep.u32 5; mov.u64 %rd2, 5;", 5},
};

int main(void)
{
    static char text[6000];
    static const uint64_t out[] = {RIG_BASE};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        for (int narrow = 0; narrow < 2; narrow++) {
            struct rig rig;
            unsigned wrong = 0;
            snprintf(text, sizeof text, "%s%s%s", RIG_HEAD ".entry k(.param .u64 out)\n{\n" REGISTERS, values[i].body, "\nst.global.u64 [%rd1], %rd2; ret;\n}\n");
            rig_open(&rig, text);
            rig.narrow = narrow;
            rig.dynamic_shared = 16;
            if (rig_launch(&rig, "k", 1, 40, out, 1) != PTX_END_DONE)
                tap_note("it ended with %d", (int)rig.outcome.end);
            for (unsigned t = 0; t < 40; t++)
                wrong += rig_u64(&rig)[t] != values[i].value;
            if (wrong)
                tap_note("got %" PRIx64 ", want %" PRIx64, rig_u64(&rig)[0], values[i].value);
            tap_u64(wrong, 0, "%s%.60s", narrow ? "narrow: " : "", values[i].body);
            rig_close(&rig);
        }
    return tap_done();
}
