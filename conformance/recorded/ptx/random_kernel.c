/* SPDX-License-Identifier: Apache-2.0 */
#include "random_kernel.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

struct maker {
    struct random_kernel *kernel;
    uint64_t random;
    size_t length;
    unsigned labels, checkpoints, functions, statements;
    bool in_function;
};

static unsigned below(struct maker *m, unsigned n)
{
    m->random += UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(mixed(m->random) >> 33) % n;
}

static void emit(struct maker *m, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(m->kernel->text + m->length, RANDOM_TEXT - m->length, format, arguments);
    va_end(arguments);
    m->length += (size_t)added;
    if (m->length >= RANDOM_TEXT)
        m->length = RANDOM_TEXT - 1;
}

/* ---- instructions without branches ---- */

/* A capital letter is a register of its kind: R 32 bits, L 64, F f32, D f64, H 16, P a predicate; # a small number, $ a large one.
 * %t, %u, %tl and %q are spare. */
static const char *const templates[] = {
    "add.s32 R, R, R;", "sub.u32 R, R, R;", "mul.lo.s32 R, R, R;", "mul.hi.u32 R, R, R;", "mul.hi.s32 R, R, R;",
     "mad.lo.u32 R, R, R, R;",
    "mad.hi.s32 R, R, R, R;", "add.s32 R, R, $;", "xor.b32 R, R, $;", "and.b32 R, R, R;", "or.b32 R, R, R;", "xor.b32 R, R, R;",
    "not.b32 R, R;", "neg.s32 R, R;", "abs.s32 R, R;", "min.s32 R, R, R;", "max.u32 R, R, R;", "shl.b32 R, R, #;",
     "shr.u32 R, R, #;",
    "shr.s32 R, R, R;", "shl.b32 R, R, R;", "or.b32 %t, R, 1; div.u32 R, R, %t;", "or.b32 %t, R, 1; rem.s32 R, R, %t;",
    "or.b32 %t, R, 3; div.s32 R, R, %t;", "popc.b32 R, R;", "clz.b32 R, R;", "brev.b32 R, R;", "bfind.u32 R, R;",
     "bfind.shiftamt.s32 R, R;",
    "bfe.u32 R, R, #, #;", "bfe.s32 R, R, R, #;", "bfi.b32 R, R, R, #, #;", "lop3.b32 R, R, R, R, 0x96;",
     "lop3.b32 R, R, R, R, 0x1e;",
    "prmt.b32 R, R, R, R;", "shf.l.wrap.b32 R, R, R, R;", "shf.r.clamp.b32 R, R, R, R;", "sad.u32 R, R, R, R;",
     "mul24.lo.s32 R, R, R;",
    "add.sat.s32 R, R, R;", "cnot.b32 R, R;", "dp4a.s32.u32 R, R, R, R;", "add.cc.u32 R, R, R; addc.u32 R, R, R;",
    "sub.cc.u32 R, R, R; subc.u32 R, R, R;", "mad.lo.cc.u32 R, R, R, R; madc.hi.u32 R, R, R, R;",
    "add.u64 L, L, L;", "sub.s64 L, L, L;", "mul.lo.u64 L, L, L;", "mul.hi.u64 L, L, L;", "mul.wide.s32 L, R, R;",
     "mul.wide.u32 L, R, R;",
    "mad.wide.u32 L, R, R, L;", "mad.lo.s64 L, L, L, L;", "xor.b64 L, L, L;", "shl.b64 L, L, #;", "shr.s64 L, L, R;",
     "shr.u64 L, L, #;",
    "min.s64 L, L, L;", "max.u64 L, L, L;", "or.b64 %tl, L, 1; rem.u64 L, L, %tl;", "or.b64 %tl, L, 1; div.s64 L, L, %tl;",
     "popc.b64 R, L;",
    "clz.b64 R, L;", "bfe.u64 L, L, #, #;", "brev.b64 L, L;", "mov.b64 L, {R, R};", "mov.b64 {R, R}, L;",
    "cvt.u64.u32 L, R;", "cvt.s64.s32 L, R;", "cvt.u32.u64 R, L;", "cvt.s32.s8 R, R;", "cvt.u32.u16 R, R;",
     "cvt.sat.u8.s32 R, R;",
    "add.u16 H, H, H;", "mul.lo.s16 H, H, H;", "mul.wide.s16 R, H, H;", "shr.s16 H, H, #;", "min.u16 H, H, H;",
     "xor.b16 H, H, H;",
    "cvt.u16.u32 H, R;", "cvt.s32.s16 R, H;", "cvt.u32.u16 R, H;", "mov.b32 R, {H, H};", "mov.b32 {H, H}, R;",
    "add.rn.f32 F, F, F;", "add.rz.f32 F, F, F;", "sub.rm.f32 F, F, F;", "mul.rn.f32 F, F, F;", "mul.rp.ftz.f32 F, F, F;",
    "fma.rn.f32 F, F, F, F;", "fma.rz.f32 F, F, F, F;", "fma.rm.ftz.f32 F, F, F, F;", "div.rn.f32 F, F, F;",
     "div.rp.f32 F, F, F;",
    "sqrt.rn.f32 F, F;", "rcp.rz.f32 F, F;", "min.f32 F, F, F;", "max.ftz.f32 F, F, F;", "abs.f32 F, F;", "neg.f32 F, F;",
    "add.rn.sat.f32 F, F, F;", "copysign.f32 F, F, F;", "cvt.rn.f32.s32 F, R;", "cvt.rz.f32.u32 F, R;", "cvt.rn.f32.s64 F, L;",
    "cvt.rzi.s32.f32 R, F;", "cvt.rni.u32.f32 R, F;", "cvt.rmi.s64.f32 L, F;", "cvt.rni.f32.f32 F, F;", "mov.b32 F, R;",
    "cvt.rn.f16.f32 H, F;", "cvt.f32.f16 F, H;",
    "add.rn.f64 D, D, D;", "sub.rz.f64 D, D, D;", "mul.rn.f64 D, D, D;", "fma.rn.f64 D, D, D, D;", "fma.rp.f64 D, D, D, D;",
    "div.rn.f64 D, D, D;", "sqrt.rm.f64 D, D;", "min.f64 D, D, D;", "cvt.f64.f32 D, F;", "cvt.rn.f32.f64 F, D;",
     "cvt.rz.f32.f64 F, D;",
    "cvt.rn.f64.s64 D, L;", "cvt.rn.f64.u32 D, R;", "cvt.rzi.s64.f64 L, D;", "cvt.rpi.u32.f64 R, D;", "mov.b64 D, L;",
     "neg.f64 D, D;",
    "setp.lt.s32 P, R, R;", "setp.ge.u32 P, R, R;", "setp.eq.and.s64 P, L, L, P;", "setp.gt.f32 P, F, F;",
     "setp.leu.f64 P, D, D;",
    "setp.num.f32 P, F, F;", "setp.ne.or.u32 P, R, R, !P;", "and.pred P, P, P;", "xor.pred P, P, P;", "not.pred P, P;",
    "selp.b32 R, R, R, P;", "selp.b64 L, L, L, P;", "selp.f32 F, F, F, P;", "slct.s32.s32 R, R, R, R;", "set.lt.u32.s32 R, R, R;",
    "@P add.s32 R, R, R;", "@!P mov.b64 L, L;", "@P mul.rn.f32 F, F, F;", "@!P setp.lt.u32 P, R, R;",
    "and.b32 %t, R, 60; cvt.u64.u32 %tl, %t; add.u64 %tl, %loc, %tl; st.local.b32 [%tl], R;",
    "and.b32 %t, R, 60; cvt.u64.u32 %tl, %t; add.u64 %tl, %loc, %tl; ld.local.b32 R, [%tl];",
    "and.b32 %t, R, 56; cvt.u64.u32 %tl, %t; add.u64 %tl, %loc, %tl; st.local.b64 [%tl], L;",
    "and.b32 %t, R, 48; cvt.u64.u32 %tl, %t; add.u64 %tl, %loc, %tl; ld.local.v2.b64 {L, L}, [%tl];",
    "and.b32 %t, R, 62; cvt.u64.u32 %tl, %t; add.u64 %tl, %loc, %tl; ld.local.s16 R, [%tl];",
    "and.b32 %t, R, 63; cvt.u64.u32 %tl, %t; add.u64 %tl, %loc, %tl; st.local.u8 [%tl], R;",
    "and.b32 %t, R, 48; cvt.u64.u32 %tl, %t; add.u64 %tl, %loc, %tl; cvta.local.u64 %tl, %tl; ld.v4.u32 {R, R, R, R}, [%tl];",
    "and.b32 %t, R, 48; cvt.u64.u32 %tl, %t; add.u64 %tl, %mine, %tl; ld.global.v2.u64 {L, L}, [%tl];",
    "and.b32 %t, R, 60; cvt.u64.u32 %tl, %t; add.u64 %tl, %mine, %tl; ld.global.nc.b32 R, [%tl];",
};

/* What threads add to together. None of them changes what another thread computes. */
static const char *const atomics[] = {
    "and.b32 %t, R, 7; mad.wide.u32 %tl, %t, 8, %cells; red.global.add.u64 [%tl], L;",
    "and.b32 %t, R, 7; mad.wide.u32 %tl, %t, 8, %cells; red.global.xor.b64 [%tl+64], L;",
    "and.b32 %t, R, 7; mad.wide.u32 %tl, %t, 8, %cells; red.relaxed.gpu.global.max.s64 [%tl+128], L;",
    "and.b32 %t, R, 7; mad.wide.u32 %tl, %t, 8, %cells; red.global.add.u32 [%tl+192], R;",
    "and.b32 %t, R, 7; mad.wide.u32 %tl, %t, 8, %cells; red.global.or.b32 [%tl+196], R;",
};

static void fill(struct maker *m, const char *template)
{
    for (; *template; template ++)
        switch (*template) {
        case 'R': emit(m, "%%r%u", below(m, 8)); break;
        case 'L': emit(m, "%%l%u", below(m, 6)); break;
        case 'F': emit(m, "%%f%u", below(m, 6)); break;
        case 'D': emit(m, "%%d%u", below(m, 4)); break;
        case 'H': emit(m, "%%h%u", below(m, 4)); break;
        case 'P': emit(m, "%%p%u", below(m, 4)); break;
        case '#': emit(m, "%u", below(m, 40)); break;
        case '$': emit(m, "0x%x", below(m, 0x7fffffff)); break;
        default: emit(m, "%c", *template); break;
        }
    emit(m, "\n");
}

/* Registers of one instruction that are both written must differ. */
static bool writes_two(const char *template)
{
    return strstr(template, "{R, R}, L") || strstr(template, "{H, H}, R") || strstr(template, "{L, L}") || strstr(template, "{R, R, R, R}");
}

static void straight(struct maker *m)
{
    const char *template = templates[below(m, sizeof templates / sizeof templates[0])];
    const char *at = strchr(template, '{'), *end = at ? strchr(at, '}') : NULL;
    if (!writes_two(template) || !end) {
        fill(m, template);
        return;
    }
    char begin[160];
    snprintf(begin, sizeof begin, "%.*s", (int)(at - template), template);
    for (const char *c = begin; *c; c++)
        switch (*c) {
        case 'R': emit(m, "%%r%u", below(m, 8)); break;
        default: emit(m, "%c", *c); break;
        }
    unsigned first = below(m, 4), count = 0;
    emit(m, "{");
    for (const char *c = at; c < end; c++)
        if (strchr("RLH", *c)) {
            char kind = *c == 'R' ? 'r' : *c == 'L' ? 'l' : 'h';
            emit(m, "%s%%%c%u", count ? ", " : "", kind, *c == 'H' ? (first + count) % 4 : first + count);
            count++;
        }
    emit(m, "}");
    fill(m, end + 1);
}

/* ---- all threads together ---- */

/* The state as one word, in %tl: a NaN counts as one number. */
static void mix_state(struct maker *m)
{
    emit(m, "mov.b64 %%tl, 0x9e3779b97f4a7c15;\n");
    for (unsigned i = 0; i < 8; i++)
        emit(m, "cvt.u64.u32 %%sl, %%r%u; mad.lo.u64 %%tl, %%tl, 0x5851f42d4c957f2d, %%sl; shr.u64 %%sl, %%tl, 29; xor.b64 %%tl, %%tl, %%sl;\n", i);
    for (unsigned i = 0; i < 6; i++)
        emit(m, "mad.lo.u64 %%tl, %%tl, 0x5851f42d4c957f2d, %%l%u; shr.u64 %%sl, %%tl, 31; xor.b64 %%tl, %%tl, %%sl;\n", i);
    for (unsigned i = 0; i < 6; i++)
        emit(m, "testp.notanumber.f32 %%q, %%f%u; mov.b32 %%t, %%f%u; selp.b32 %%t, 0x7fffffff, %%t, %%q; cvt.u64.u32 %%sl, %%t; "
                "mad.lo.u64 %%tl, %%tl, 0x5851f42d4c957f2d, %%sl; shr.u64 %%sl, %%tl, 30; xor.b64 %%tl, %%tl, %%sl;\n", i, i);
    for (unsigned i = 0; i < 4; i++)
        emit(m, "testp.notanumber.f64 %%q, %%d%u; mov.b64 %%sl, %%d%u; selp.b64 %%sl, 0x7ff8000000000000, %%sl, %%q; "
                "mad.lo.u64 %%tl, %%tl, 0x5851f42d4c957f2d, %%sl; shr.u64 %%sl, %%tl, 27; xor.b64 %%tl, %%tl, %%sl;\n", i, i);
    for (unsigned i = 0; i < 4; i++)
        emit(m, "selp.b64 %%sl, 1, 0, %%p%u; add.u64 %%tl, %%tl, %%tl; xor.b64 %%tl, %%tl, %%sl;\n", i);
    for (unsigned i = 0; i < 4; i++)
        emit(m, "and.b16 %%th, %%h%u, 0x7fff; setp.gt.u16 %%q, %%th, 0x7c00; mov.b16 %%th, %%h%u; selp.b16 %%th, 0x7fff, %%th, %%q; "
                "cvt.u64.u16 %%sl, %%th; mad.lo.u64 %%tl, %%tl, 0x5851f42d4c957f2d, %%sl;\n", i, i);
}

static void checkpoint(struct maker *m)
{
    if (m->checkpoints == RANDOM_CHECKPOINTS)
        return;
    mix_state(m);
    emit(m, "st.global.b64 [%%out+%u], %%tl;\n", 8 * m->checkpoints++);
}

static const char *const together[] = {
    "shfl.sync.idx.b32 R, R, R, 31, -1;", "shfl.sync.up.b32 R|P, R, #, 0, -1;", "shfl.sync.down.b32 R, R, R, 0x181f, -1;",
    "shfl.sync.bfly.b32 R|P, R, #, 0x1c1f, -1;", "shfl.sync.idx.b32 R|P, R, R, 0x101f, -1;", "vote.sync.ballot.b32 R, P, -1;",
    "vote.sync.all.pred P, P, -1;", "vote.sync.any.pred P, !P, -1;", "vote.sync.uni.pred P, P, -1;",
     "and.b32 %t, R, 3; match.any.sync.b32 R, %t, -1;",
    "match.all.sync.b32 R|P, R, -1;", "redux.sync.add.s32 R, R, -1;", "redux.sync.min.u32 R, R, -1;",
     "redux.sync.max.s32 R, R, -1;",
    "redux.sync.xor.b32 R, R, -1;", "bar.red.popc.u32 R, 0, P;", "bar.red.and.pred P, 0, P;", "bar.red.or.pred P, 0, !P;",
    "bar.sync 0;", "bar.warp.sync -1;", "activemask.b32 R;", "membar.gl;", "fence.acq_rel.gpu;",
};

/* Each thread leaves a word in shared memory, and takes that of another one after a barrier. */
static void exchange(struct maker *m)
{
    unsigned threads = m->kernel->block, shift = 1 + below(m, threads - 1);
    emit(m, "bar.sync 0;\n");
    emit(m, "mov.u32 %%t, %%tid.x; mad.wide.u32 %%tl, %%t, 8, %%shared; ");
    fill(m, below(m, 2) ? "st.shared.b64 [%tl], L;" : "st.shared.v2.b32 [%tl], {R, R};");
    emit(m, "bar.sync 0;\nadd.u32 %%t, %%t, %u; rem.u32 %%t, %%t, %u; mad.wide.u32 %%tl, %%t, 8, %%shared; ", shift, threads);
    fill(m, below(m, 2) ? "ld.shared.b64 L, [%tl];" : "cvta.shared.u64 %tl, %tl; ld.b64 L, [%tl];");
    emit(m, "bar.sync 0;\n");
}

/* Threads add to cells of shared memory, which all read after a barrier. */
static void accumulate(struct maker *m)
{
    emit(m, "bar.sync 0;\nmov.u32 %%t, %%tid.x; and.b32 %%t, %%t, 15; mad.wide.u32 %%tl, %%t, 8, %%shared; mov.b64 %%sl, 0; "
            "st.shared.b64 [%%tl], %%sl;\nbar.sync 0;\n");
    fill(m, "and.b32 %t, R, 15; mad.wide.u32 %tl, %t, 8, %shared; red.shared.add.u32 [%tl], R;");
    fill(m, "and.b32 %t, R, 15; mad.wide.u32 %tl, %t, 8, %shared; @P red.shared.or.b32 [%tl+4], R;");
    emit(m, "bar.sync 0;\n");
    fill(m, "and.b32 %t, R, 15; mad.wide.u32 %tl, %t, 8, %shared; ld.shared.b64 L, [%tl];");
    emit(m, "bar.sync 0;\n");
}

/* ---- control flow ---- */

/* Numbers are taken one in a statement: compilers evaluate arguments in orders of their own, and what was recorded is to stay. */

static void statements(struct maker *m, unsigned depth, bool uniform, unsigned count);

static void condition(struct maker *m)
{
    static const char *const conditions[] = {"setp.lt.s32 %q, R, R;", "and.b32 %t, R, 3; setp.eq.u32 %q, %t, 1;", "setp.gt.f32 %q, F, F;",
                                             "and.b32 %t, R, 1; setp.ne.u32 %q, %t, 0;", "setp.ltu.f64 %q, D, D;", "mov.pred %q, P;",
                                             "mov.u32 %t, %laneid; setp.lt.u32 %q, %t, #;", "mov.u32 %t, %tid.x; setp.gt.u32 %q, %t, #;"};
    fill(m, conditions[below(m, sizeof conditions / sizeof conditions[0])]);
}

static void branch(struct maker *m, unsigned depth)
{
    unsigned otherwise = m->labels++, end = m->labels++;
    bool has_else = below(m, 2);
    condition(m);
    emit(m, "@%s%%q bra L%u;\n", below(m, 2) ? "!" : "", has_else ? otherwise : end);
    statements(m, depth + 1, false, 1 + below(m, 5));
    if (has_else) {
        emit(m, "bra L%u;\nL%u:\n", end, otherwise);
        statements(m, depth + 1, false, 1 + below(m, 5));
    }
    emit(m, "L%u:\n", end);
}

/* Each lane its own number of times; or all the same, and then what is in it may be done together. */
static void loop(struct maker *m, unsigned depth, bool uniform)
{
    unsigned head = m->labels++, out = m->labels++;
    bool same = uniform && below(m, 2), leaves = !same && below(m, 2);
    emit(m, "{ .reg .b32 %%n%u;\n", head);
    if (same) {
        emit(m, "mov.u32 %%n%u, %u;\n", head, 1 + below(m, 4));
    } else {
        unsigned most = below(m, 2) ? 3 : 7, from = below(m, 8);
        emit(m, "and.b32 %%n%u, %%r%u, %u; add.u32 %%n%u, %%n%u, 1;\n", head, from, most, head, head);
    }
    emit(m, "L%u:\n", head);
    statements(m, depth + 1, same, 1 + below(m, 4));
    if (leaves) {
        condition(m);
        emit(m, "@%%q bra L%u;\n", out);
    }
    emit(m, "sub.u32 %%n%u, %%n%u, 1; setp.ne.u32 %%q, %%n%u, 0;\n@%%q bra L%u;\nL%u:\n}\n", head, head, head, head, out);
}

static void jump_table(struct maker *m, unsigned depth)
{
    unsigned first = m->labels, count = 2 + below(m, 3), end;
    m->labels += count;
    end = m->labels++;
    emit(m, "T%u: .branchtargets ", end);
    for (unsigned i = 0; i < count; i++)
        emit(m, "%sL%u", i ? ", " : "", first + i);
    emit(m, ";\nrem.u32 %%t, %%r%u, %u;\nbrx.idx %%t, T%u;\n", below(m, 8), count, end);
    for (unsigned i = 0; i < count; i++) {
        emit(m, "L%u:\n", first + i);
        statements(m, depth + 1, false, 1 + below(m, 3));
        if (below(m, 4)) /* or into the next one */
            emit(m, "bra L%u;\n", end);
    }
    emit(m, "L%u:\n", end);
}

static void call(struct maker *m)
{
    unsigned id = m->labels++, wide, narrow, function;
    emit(m, "{ .param .b32 a%u; .param .b64 b%u; .param .b64 c%u;\n", id, id, id);
    wide = below(m, 6);
    narrow = below(m, 8);
    emit(m, "st.param.b32 [a%u], %%r%u; st.param.b64 [b%u], %%l%u;\n", id, narrow, id, wide);
    wide = below(m, 6);
    function = below(m, m->functions);
    emit(m, "call (c%u), f%u, (a%u, b%u);\nld.param.b64 %%l%u, [c%u]; }\n", id, function, id, id, wide, id);
}

static void statement(struct maker *m, unsigned depth, bool uniform)
{
    unsigned kind = below(m, 100);
    m->statements++;
    if (m->statements > 220 || depth > 3 || kind < 62)
        straight(m);
    else if (uniform && kind < 70)
        fill(m, together[below(m, sizeof together / sizeof together[0])]);
    else if (uniform && kind < 73)
        exchange(m);
    else if (uniform && kind < 75)
        accumulate(m);
    else if (kind < 78 && !m->in_function)
        fill(m, atomics[below(m, sizeof atomics / sizeof atomics[0])]);
    else if (kind < 81 && m->functions && !m->in_function)
        call(m);
    else if (kind < 90)
        branch(m, depth);
    else if (kind < 96)
        loop(m, depth, uniform);
    else
        jump_table(m, depth);
}

static void statements(struct maker *m, unsigned depth, bool uniform, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        statement(m, depth, uniform);
}

/* ---- the module ---- */

static void registers(struct maker *m)
{
    emit(m, ".reg .b32 %%r<8>, %%t, %%u; .reg .b64 %%l<6>, %%tl, %%sl, %%loc, %%mine, %%out, %%cells, %%shared; .reg .f32 %%f<6>; "
            ".reg .f64 %%d<4>; .reg .pred %%p<4>, %%q; .reg .b16 %%h<4>, %%th;\n.local .align 16 .b8 room[64];\nmov.u64 %%loc, room;\n");
    for (unsigned i = 0; i < 8; i++)
        emit(m, "mov.b64 %%sl, 0x%" PRIx64 "; st.local.b64 [room+%u], %%sl;\n", mixed(m->random + i), 8 * i);
}

/* Every register from a word of 64 bits in %l0 and one of 32 in %r0. */
static void spread(struct maker *m)
{
    for (unsigned i = 1; i < 6; i++)
        emit(m, "mad.lo.u64 %%l%u, %%l%u, 0x5851f42d4c957f2d, 0x%x;\n", i, i - 1, 12345 + i);
    for (unsigned i = 1; i < 8; i++)
        emit(m, "mad.lo.u32 %%r%u, %%r%u, 1664525, 1013904223;\n", i, i - 1);
    for (unsigned i = 0; i < 6; i++)
        emit(m, "shr.s32 %%t, %%r%u, %u; cvt.rn.f32.s32 %%f%u, %%t;\n", i, 4 * i, i);
    for (unsigned i = 0; i < 4; i++)
        emit(m, "shr.s64 %%sl, %%l%u, %u; cvt.rn.f64.s64 %%d%u, %%sl; cvt.u16.u32 %%h%u, %%r%u; setp.lt.s32 %%p%u, %%r%u, %%r%u;\n", i,
             10 * i, i, i, i, i, i, i + 1);
}

static void function(struct maker *m, unsigned number)
{
    emit(m, ".func (.param .b64 result) f%u(.param .b32 a, .param .b64 b)\n{\n", number);
    registers(m);
    emit(m, "ld.param.b32 %%r0, [a]; ld.param.b64 %%l0, [b]; mov.u64 %%mine, 0;\n");
    spread(m);
    m->in_function = true;
    for (unsigned i = 0, count = 4 + below(m, 10); i < count; i++) {
        size_t before = m->length;
        statement(m, 2, false);
        if (strstr(m->kernel->text + before, "%mine, %tl")) { /* functions have no memory besides local memory */
            m->length = before;
            m->kernel->text[before] = '\0';
        }
    }
    m->in_function = false;
    mix_state(m);
    emit(m, "st.param.b64 [result], %%tl;\nret;\n}\n");
}

void random_kernel_make(struct random_kernel *kernel, uint64_t seed)
{
    struct maker m = {.kernel = kernel, .random = mixed(seed + 1)};
    kernel->seed = seed;
    kernel->grid = 1 + below(&m, 4);
    kernel->block = 32 * (1 + below(&m, 5));
    emit(&m, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (unsigned i = 0, count = below(&m, 4); i < count; i++) {
        function(&m, i);
        m.functions++;
    }
    m.statements = 0;
    emit(&m, ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 cells)\n{\n.shared .align 16 .b8 room_of_block[2048];\n");
    registers(&m);
    emit(&m, "mov.u32 %%t, %%tid.x; mov.u32 %%u, %%ctaid.x; mov.u32 %%r0, %%ntid.x; mad.lo.u32 %%u, %%u, %%r0, %%t;\n"
             "ld.param.u64 %%mine, [in]; ld.param.u64 %%out, [out]; ld.param.u64 %%cells, [cells]; mov.u64 %%shared, room_of_block;\n"
             "mad.wide.u32 %%mine, %%u, %u, %%mine; mad.wide.u32 %%out, %%u, %u, %%out;\n"
             "ld.global.b64 %%l0, [%%mine]; ld.global.b32 %%r0, [%%mine+8];\n",
         8 * RANDOM_INPUTS, 8 * RANDOM_CHECKPOINTS);
    spread(&m);
    while (m.checkpoints < RANDOM_CHECKPOINTS) {
        statements(&m, 0, true, 2 + below(&m, 6));
        checkpoint(&m);
    }
    emit(&m, "ret;\n}\n");
}

uint64_t random_kernel_input(const struct random_kernel *kernel, unsigned i)
{
    return mixed(mixed(kernel->seed) + i * UINT64_C(0x9e3779b97f4a7c15));
}

size_t random_kernel_row(const struct random_kernel *kernel, const uint64_t *out, const uint64_t *cells, char *line, size_t size)
{
    unsigned threads = kernel->grid * kernel->block;
    uint64_t hash;
    size_t at = (size_t)snprintf(line, size, "%" PRIu64, kernel->seed);
    for (unsigned k = 0; k < RANDOM_CHECKPOINTS; k++) {
        hash = k;
        for (unsigned t = 0; t < threads; t++)
            hash = mixed(hash + out[t * RANDOM_CHECKPOINTS + k]);
        at += (size_t)snprintf(line + at, size - at, "%c%08" PRIx32, k ? ' ' : '\t', (uint32_t)hash);
    }
    for (unsigned g = 0; g < RANDOM_GROUPS; g++) {
        hash = g;
        for (unsigned t = g * threads / RANDOM_GROUPS; t < (g + 1) * threads / RANDOM_GROUPS; t++)
            for (unsigned k = 0; k < RANDOM_CHECKPOINTS; k++)
                hash = mixed(hash + out[t * RANDOM_CHECKPOINTS + k]);
        at += (size_t)snprintf(line + at, size - at, "%c%08" PRIx32, g ? ' ' : '\t', (uint32_t)hash);
    }
    hash = 0;
    for (unsigned i = 0; i < RANDOM_CELLS; i++)
        hash = mixed(hash + cells[i]);
    return at + (size_t)snprintf(line + at, size - at, "\t%016" PRIx64, hash);
}
