/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the list ---- */

struct list {
    struct pair *pairs;
    unsigned count, most;
};

static void words_of(const char *types, char type[5][8])
{
    for (unsigned i = 0; i < 5 && *types; i++) {
        size_t length = strcspn(types, " ");
        memcpy(type[i], types, length);
        type[i][length] = '\0';
        types += length + (types[length] == ' ');
    }
}

/* types: of the result and the operands. operands: behind %d; NULL: as many as there are types. */
static struct pair *add_body(struct list *l, const char *name, const char *types, const char *body)
{
    static struct pair spare;
    struct pair *p = l->count < l->most ? &l->pairs[l->count] : &spare;
    l->count++;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->body, sizeof p->body, "%s", body);
    words_of(types, p->type);
    return p;
}

static struct pair *add(struct list *l, const char *types, const char *format, ...)
{
    static const char *const operands[] = {" %d;", " %d, %a;", " %d, %a, %b;", " %d, %a, %b, %c;", " %d, %a, %b, %c, %e;"};
    char name[72], body[160];
    va_list arguments;
    unsigned spaces = 0;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    for (const char *at = types; *at; at++)
        spaces += *at == ' ';
    snprintf(body, sizeof body, "%s%s", name, operands[spaces]);
    return add_body(l, name, types, body);
}

static const char *const whole[] = {"u16", "u32", "u64", "s16", "s32", "s64"}, *const wider[] = {"u32", "u64", "", "s32", "s64", ""};
static const char *const rounds[] = {"rn", "rz", "rm", "rp"};

static void add_whole(struct list *l)
{
    static const char *const two[] = {"add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem"};
    static const char *const three[] = {"mad.lo", "mad.hi", "sad"};
    char types[40];
    for (int t = 0; t < 6; t++) {
        snprintf(types, sizeof types, "%s %s %s", whole[t], whole[t], whole[t]);
        for (int i = 0; i < 8; i++)
            add(l, types, "%s.%s", two[i], whole[t])->divides = i > 5;
        snprintf(types, sizeof types, "%s %s %s %s", whole[t], whole[t], whole[t], whole[t]);
        for (int i = 0; i < 3; i++)
            add(l, types, "%s.%s", three[i], whole[t]);
        snprintf(types, sizeof types, "%s %s", whole[t], whole[t]);
        if (t > 2) {
            add(l, types, "abs.%s", whole[t]);
            add(l, types, "neg.%s", whole[t]);
        }
        snprintf(types, sizeof types, "%s %s u32", whole[t], whole[t]);
        add(l, types, "shr.%s", whole[t]);
        if (!*wider[t])
            continue;
        snprintf(types, sizeof types, "%s %s %s", wider[t], whole[t], whole[t]);
        add(l, types, "mul.wide.%s", whole[t]);
        snprintf(types, sizeof types, "%s %s %s %s", wider[t], whole[t], whole[t], wider[t]);
        add(l, types, "mad.wide.%s", whole[t]);
    }
    for (int s = 0; s < 2; s++) {
        const char *t = s ? "s32" : "u32";
        add(l, "u32 u32 u32", "mul24.lo.%s", t);
        add(l, "u32 u32 u32", "mul24.hi.%s", t);
        add(l, "u32 u32 u32 u32", "mad24.lo.%s", t);
        add(l, "u32 u32 u32 u32", "mad24.hi.%s", t);
    }
    add(l, "u32 u32 u32 u32", "mad24.hi.sat.s32");
    add(l, "s32 s32 s32", "add.sat.s32");
    add(l, "s32 s32 s32", "sub.sat.s32");
    add(l, "s32 s32 s32 s32", "mad.hi.sat.s32");
}

/* The carry goes from one instruction to the next. */
static void add_carries(struct list *l)
{
    for (int wide = 0; wide < 2; wide++) {
        const char *t = wide ? "u64" : "u32";
        char body[160], name[72], three[24], four[32];
        snprintf(three, sizeof three, "%s %s %s", t, t, t);
        snprintf(four, sizeof four, "%s %s %s %s", t, t, t, t);
        snprintf(name, sizeof name, "add.cc.%s addc.%s", t, t);
        snprintf(body, sizeof body, "add.cc.%s %%d, %%a, %%b; addc.%s %%d, %%d, %%a;", t, t);
        add_body(l, name, three, body);
        snprintf(name, sizeof name, "sub.cc.%s subc.%s", t, t);
        snprintf(body, sizeof body, "sub.cc.%s %%d, %%a, %%b; subc.%s %%d, %%d, %%b;", t, t);
        add_body(l, name, three, body);
        snprintf(name, sizeof name, "add.cc.%s addc.cc.%s addc.%s", t, t, t);
        snprintf(body, sizeof body, "add.cc.%s %%d, %%a, %%b; addc.cc.%s %%d, %%d, %%c; addc.%s %%d, %%d, 0;", t, t, t);
        add_body(l, name, four, body);
        snprintf(name, sizeof name, "mad.lo.cc.%s madc.hi.%s", t, t);
        snprintf(body, sizeof body, "mad.lo.cc.%s %%d, %%a, %%b, %%c; madc.hi.%s %%d, %%a, %%b, %%d;", t, t);
        add_body(l, name, four, body);
        snprintf(name, sizeof name, "mad.hi.cc.%s madc.lo.%s", t, t);
        snprintf(body, sizeof body, "mad.hi.cc.%s %%d, %%a, %%b, %%c; madc.lo.%s %%d, %%a, %%b, %%d;", t, t);
        add_body(l, name, four, body);
    }
}

static void add_bits(struct list *l)
{
    static const char *const bits[] = {"b16", "b32", "b64"};
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    char types[40];
    for (int t = 0; t < 3; t++) {
        snprintf(types, sizeof types, "%s %s %s", bits[t], bits[t], bits[t]);
        add(l, types, "and.%s", bits[t]);
        add(l, types, "or.%s", bits[t]);
        add(l, types, "xor.%s", bits[t]);
        snprintf(types, sizeof types, "%s %s", bits[t], bits[t]);
        add(l, types, "not.%s", bits[t]);
        add(l, types, "cnot.%s", bits[t]);
        snprintf(types, sizeof types, "%s %s u32", bits[t], bits[t]);
        add(l, types, "shl.%s", bits[t]);
        snprintf(types, sizeof types, "%s %s %s pred", bits[t], bits[t], bits[t]);
        add(l, types, "selp.%s", bits[t]);
        if (!t)
            continue;
        snprintf(types, sizeof types, "u32 %s", bits[t]);
        add(l, types, "popc.%s", bits[t]);
        add(l, types, "clz.%s", bits[t]);
        snprintf(types, sizeof types, "%s %s", bits[t], bits[t]);
        add(l, types, "brev.%s", bits[t]);
        snprintf(types, sizeof types, "%s %s %s len len", bits[t], bits[t], bits[t]);
        add(l, types, "bfi.%s", bits[t]);
        for (int s = 0; s < 2; s++) {
            const char *type = s ? (t == 1 ? "s32" : "s64") : t == 1 ? "u32" : "u64";
            snprintf(types, sizeof types, "u32 %s", type);
            add(l, types, "bfind.%s", type);
            add(l, types, "bfind.shiftamt.%s", type);
            snprintf(types, sizeof types, "%s %s len len", type, type);
            add(l, types, "bfe.%s", type);
        }
    }
    add_body(l, "lop3.b32 0x80", "b32 b32 b32 b32", "lop3.b32 %d, %a, %b, %c, 0x80;");
    add_body(l, "lop3.b32 0xE8", "b32 b32 b32 b32", "lop3.b32 %d, %a, %b, %c, 0xE8;");
    add_body(l, "lop3.b32 0x1B", "b32 b32 b32 b32", "lop3.b32 %d, %a, %b, %c, 0x1B;");
    add(l, "b32 b32 b32 len", "shf.l.wrap.b32");
    add(l, "b32 b32 b32 len", "shf.l.clamp.b32");
    add(l, "b32 b32 b32 len", "shf.r.wrap.b32");
    add(l, "b32 b32 b32 len", "shf.r.clamp.b32");
    add(l, "b32 b32 b32 u32", "prmt.b32");
    for (int i = 0; i < 6; i++)
        add(l, "b32 b32 b32 u32", "prmt.b32.%s", modes[i]);
    for (int i = 0; i < 4; i++)
        add(l, i & 1 ? "s32 s32 len" : "u32 u32 len", "szext.%s.%s", i & 2 ? "wrap" : "clamp", i & 1 ? "s32" : "u32");
    add(l, "b32 len len", "bmsk.clamp.b32");
    add(l, "b32 len len", "bmsk.wrap.b32");
    add(l, "u32 b32 bit len", "fns.b32");
    for (int i = 0; i < 4; i++) {
        const char *a = i & 1 ? "s32" : "u32", *b = i & 2 ? "s32" : "u32";
        add(l, "u32 u32 u32 u32", "dp4a.%s.%s", a, b);
        add(l, "u32 u32 u32 u32", "dp2a.lo.%s.%s", a, b);
        add(l, "u32 u32 u32 u32", "dp2a.hi.%s.%s", a, b);
    }
    add_body(l, "slct.b32.s32", "b32 b32 b32 s32", "slct.b32.s32 %d, %a, %b, %c;");
    add_body(l, "slct.u64.f32", "u64 u64 u64 f32", "slct.u64.f32 %d, %a, %b, %c;");
    add_body(l, "slct.ftz.b32.f32", "b32 b32 b32 f32", "slct.ftz.b32.f32 %d, %a, %b, %c;");
}

static void add_packed(struct list *l)
{
    static const char *const names[] = {"add.u16x2", "add.s16x2", "min.u16x2", "min.s16x2", "max.u16x2", "max.s16x2", "min.relu.s16x2",
                                        "max.relu.s16x2"};
    for (int i = 0; i < 8; i++)
        add(l, "b32 b32 b32", "%s", names[i]);
    add(l, "s32 s32 s32", "min.relu.s32");
    add(l, "s32 s32 s32", "max.relu.s32");
}

/* ---- floats ---- */

static void add_f32(struct list *l)
{
    static const char *const two[] = {"add", "sub", "mul"}, *const endings[] = {"", ".ftz", ".sat", ".ftz.sat"};
    static const char *const tests[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    for (int r = 0; r < 4; r++) {
        for (int e = 0; e < 4; e++) {
            for (int i = 0; i < 3; i++)
                add(l, "f32 f32 f32", "%s.%s%s.f32", two[i], rounds[r], endings[e]);
            add(l, "f32 f32 f32 f32", "fma.%s%s.f32", rounds[r], endings[e]);
        }
        for (int e = 0; e < 2; e++) {
            add(l, "f32 f32 f32", "div.%s%s.f32", rounds[r], endings[e]);
            add(l, "f32 f32", "rcp.%s%s.f32", rounds[r], endings[e]);
            add(l, "f32 f32", "sqrt.%s%s.f32", rounds[r], endings[e]);
        }
    }
    for (int e = 0; e < 2; e++) {
        add(l, "f32 f32", "abs%s.f32", endings[e]);
        add(l, "f32 f32", "neg%s.f32", endings[e]);
        for (int m = 0; m < 2; m++)
            for (int k = 0; k < 4; k++)
                add(l, "f32 f32 f32", "%s%s%s%s.f32", m ? "max" : "min", endings[e], k & 1 ? ".NaN" : "", k & 2 ? ".xorsign.abs" : "");
    }
    add(l, "f32 f32 f32", "copysign.f32");
    add_body(l, "selp.f32", "f32 f32 f32 pred", "selp.f32 %d, %a, %b, %c;");
    for (int i = 0; i < 6; i++)
        add(l, "pred f32", "testp.%s.f32", tests[i]);
    for (int i = 0; i < 6; i++)
        add(l, "pred f64", "testp.%s.f64", tests[i]);
}

static void near(struct pair *p, enum pair_near how, double most)
{
    p->near = how;
    p->most = most;
}

/* With the errors that the documentation allows (PTX ISA 9.0): relative ones as units of the last place. */
static void add_approximations(struct list *l)
{
    for (int e = 0; e < 2; e++) {
        const char *ftz = e ? ".ftz" : "";
        near(add(l, "f32 f32 f32", "div.approx%s.f32", ftz), PAIR_ULP, 2);
        near(add(l, "f32 f32 f32", "div.full%s.f32", ftz), PAIR_ULP, 2);
        near(add(l, "f32 f32", "rcp.approx%s.f32", ftz), PAIR_ULP, 1);
        near(add(l, "f32 f32", "sqrt.approx%s.f32", ftz), PAIR_ULP, 3);
        near(add(l, "f32 f32", "rsqrt.approx%s.f32", ftz), PAIR_ULP, 4);
        near(add(l, "f32 ang", "sin.approx%s.f32", ftz), PAIR_ABSOLUTE, 0x1p-20);
        near(add(l, "f32 ang", "cos.approx%s.f32", ftz), PAIR_ABSOLUTE, 0x1p-20);
        near(add(l, "f32 f32", "lg2.approx%s.f32", ftz), PAIR_ABSOLUTE, 0x1p-22);
        near(add(l, "f32 exp", "ex2.approx%s.f32", ftz), PAIR_ULP, 4);
        near(add(l, "f64 f64", e ? "rsqrt.approx.ftz.f64" : "rsqrt.approx.f64"), PAIR_ULP, e ? 0x1p33 : 0x1p33);
    }
    near(add(l, "f32 f32", "tanh.approx.f32"), PAIR_ULP, 0x1p13);
    near(add(l, "f64 f64", "rcp.approx.ftz.f64"), PAIR_ULP, 0x1p33);
    near(add(l, "f16 f16", "ex2.approx.f16"), PAIR_ULP, 2);
    near(add(l, "f16x2 f16x2", "ex2.approx.f16x2"), PAIR_ULP, 2);
    near(add(l, "bf16 bf16", "ex2.approx.ftz.bf16"), PAIR_ULP, 2);
    near(add(l, "bf16x2 bf16x2", "ex2.approx.ftz.bf16x2"), PAIR_ULP, 2);
    near(add(l, "f16 f16", "tanh.approx.f16"), PAIR_ULP, 4);
    near(add(l, "f16x2 f16x2", "tanh.approx.f16x2"), PAIR_ULP, 4);
    near(add(l, "bf16 bf16", "tanh.approx.bf16"), PAIR_ULP, 4);
    near(add(l, "bf16x2 bf16x2", "tanh.approx.bf16x2"), PAIR_ULP, 4);
}

static void add_f64(struct list *l)
{
    static const char *const two[] = {"add", "sub", "mul", "div"};
    for (int r = 0; r < 4; r++) {
        for (int i = 0; i < 4; i++)
            add(l, "f64 f64 f64", "%s.%s.f64", two[i], rounds[r]);
        add(l, "f64 f64 f64 f64", "fma.%s.f64", rounds[r]);
        add(l, "f64 f64", "rcp.%s.f64", rounds[r]);
        add(l, "f64 f64", "sqrt.%s.f64", rounds[r]);
    }
    add(l, "f64 f64", "abs.f64");
    add(l, "f64 f64", "neg.f64");
    add(l, "f64 f64 f64", "min.f64");
    add(l, "f64 f64 f64", "max.f64");
    add(l, "f64 f64 f64", "copysign.f64");
}

static void add_halves(struct list *l)
{
    static const char *const types[] = {"f16", "f16x2", "bf16", "bf16x2"};
    static const char *const endings[] = {"", ".ftz", ".sat", ".ftz.sat"};
    for (int t = 0; t < 4; t++) {
        const char *type = types[t];
        char one[24], two[32], three[40];
        bool full = t < 2;
        snprintf(one, sizeof one, "%s %s", type, type);
        snprintf(two, sizeof two, "%s %s %s", type, type, type);
        snprintf(three, sizeof three, "%s %s %s %s", type, type, type, type);
        for (int e = 0; e < (full ? 4 : 1); e++) {
            add(l, two, "add.rn%s.%s", endings[e], type);
            add(l, two, "sub.rn%s.%s", endings[e], type);
            add(l, two, "mul.rn%s.%s", endings[e], type);
            add(l, three, "fma.rn%s.%s", endings[e], type);
        }
        for (int e = 0; e < (full ? 2 : 1); e++) {
            add(l, three, "fma.rn%s.relu.%s", endings[e], type);
            add(l, one, "abs%s.%s", endings[e], type);
            add(l, one, "neg%s.%s", endings[e], type);
            for (int k = 0; k < 8; k++)
                add(l, two, "%s%s%s%s.%s", k & 4 ? "max" : "min", endings[e], k & 1 ? ".NaN" : "", k & 2 ? ".xorsign.abs" : "", type);
        }
    }
}

/* ---- comparisons ---- */

static void add_comparisons(struct list *l)
{
    static const char *const plain[] = {"eq", "ne", "lt", "le", "gt", "ge"}, *const by_name[] = {"lo", "ls", "hi", "hs"};
    static const char *const of_floats[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    static const char *const floats[] = {"f32", "f64", "f16", "bf16"};
    char types[40];
    for (int t = 0; t < 6; t++) {
        snprintf(types, sizeof types, "pred %s %s", whole[t], whole[t]);
        for (int i = 0; i < 6; i++)
            add(l, types, "setp.%s.%s", plain[i], whole[t]);
        for (int i = 0; i < 4 && t < 3; i++)
            add(l, types, "setp.%s.%s", by_name[i], whole[t]);
    }
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < 14; i++)
            for (int ftz = 0; ftz < (t == 0 || t == 2 ? 2 : 1); ftz++) {
                snprintf(types, sizeof types, "pred %s %s", floats[t], floats[t]);
                add(l, types, "setp.%s%s.%s", of_floats[i], ftz ? ".ftz" : "", floats[t]);
            }
    add(l, "pred u32 u32 pred", "setp.lt.and.u32");
    add(l, "pred s32 s32 pred", "setp.lt.or.s32");
    add(l, "pred f32 f32 pred", "setp.geu.xor.f32");
    add_body(l, "setp.lt.and.s32 |q", "pred s32 s32 pred", "setp.lt.and.s32 %q|%d, %a, %b, %c;");
    add_body(l, "setp.gt.f16x2 |q", "pred f16x2 f16x2", "setp.gt.f16x2 %q|%d, %a, %b;");
    add(l, "u32 s32 s32", "set.lt.u32.s32");
    add(l, "s32 u64 u64", "set.hi.s32.u64");
    add(l, "f32 f32 f32", "set.neu.f32.f32");
    add(l, "f32 f64 f64", "set.le.f32.f64");
    add(l, "u32 f32 f32 pred", "set.gt.or.ftz.u32.f32");
    add(l, "f16 f16 f16", "set.ge.f16.f16");
    add(l, "u32 bf16 bf16", "set.lt.u32.bf16");
    add(l, "f16x2 f16x2 f16x2", "set.ne.f16x2.f16x2");
    add(l, "bf16x2 bf16x2 bf16x2", "set.leu.bf16x2.bf16x2");
    add(l, "u32 f16x2 f16x2", "set.nan.u32.f16x2");
}

/* ---- conversions ---- */

static bool is_float(const char *type)
{
    return strchr(type, 'f') != NULL;
}

static unsigned bits_of(const char *type)
{
    return strcmp(type, "u8") == 0 || strcmp(type, "s8") == 0                                                  ? 8
           : strstr(type, "x2")                                                                                ? 32
           : strstr(type, "16")                                                                                ? 16
           : strstr(type, "64")                                                                                ? 64
                                                                                                               : 32;
}

/* Has the type every number of the other one? Then nothing saturates. */
static bool holds(const char *to, const char *from)
{
    bool is_signed = to[0] == 's', was_signed = from[0] == 's';
    return was_signed ? is_signed && bits_of(to) >= bits_of(from) : bits_of(to) >= bits_of(from) + is_signed;
}

static void add_conversion(struct list *l, const char *to, const char *from)
{
    static const char *const integral[] = {"rni", "rzi", "rmi", "rpi"};
    char types[24];
    unsigned wide = bits_of(to), narrow = bits_of(from);
    bool real = is_float(to), was_real = is_float(from), f32 = strcmp(to, "f32") == 0 || strcmp(from, "f32") == 0;
    snprintf(types, sizeof types, "%s %s", to, from);
    if (!real && !was_real) {
        add(l, types, "cvt.%s.%s", to, from);
        if (!holds(to, from))
            add(l, types, "cvt.sat.%s.%s", to, from);
    } else if ((strcmp(to, "bf16") == 0 && narrow == 8) || (strcmp(from, "bf16") == 0 && wide == 8)) {
        return; /* these take no wider registers, as the ones here are */
    } else if (!real) {
        for (int r = 0; r < 4; r++)
            add(l, types, "cvt.%s.%s.%s", integral[r], to, from);
        if (f32)
            add(l, types, "cvt.rzi.ftz.%s.%s", to, from);
    } else if (!was_real || wide < narrow) {
        for (int r = 0; r < (was_real && strcmp(to, "bf16") == 0 ? 2 : 4); r++)
            add(l, types, "cvt.%s.%s.%s", rounds[r], to, from);
        if (f32 && strcmp(to, "bf16") != 0)
            add(l, types, "cvt.rn%s.sat.%s.%s", was_real ? ".ftz" : "", to, from);
    } else if (strcmp(to, from) == 0) {
        for (int r = 0; r < 4 && strcmp(to, "bf16") != 0; r++)
            add(l, types, "cvt.%s.%s.%s", integral[r], to, from);
        if (f32) {
            add(l, types, "cvt.ftz.f32.f32");
            add(l, types, "cvt.sat.f32.f32");
            add(l, types, "cvt.rmi.ftz.f32.f32");
        }
    } else if (wide > narrow) {
        add(l, types, "cvt.%s.%s", to, from);
        if (f32 && strcmp(from, "bf16") != 0)
            add(l, types, "cvt.ftz.%s.%s", to, from);
    }
}

static void add_conversions(struct list *l)
{
    static const char *const types[] = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "bf16", "f32", "f64"};
    for (int to = 0; to < 12; to++)
        for (int from = 0; from < 12; from++)
            add_conversion(l, types[to], types[from]);
    add(l, "f16x2 f32 f32", "cvt.rn.f16x2.f32");
    add(l, "f16x2 f32 f32", "cvt.rz.f16x2.f32");
    add(l, "f16x2 f32 f32", "cvt.rn.relu.f16x2.f32");
    add(l, "bf16x2 f32 f32", "cvt.rn.bf16x2.f32");
    add(l, "bf16x2 f32 f32", "cvt.rz.relu.bf16x2.f32");
    add(l, "f16 f32", "cvt.rn.relu.f16.f32");
    add(l, "bf16 f32", "cvt.rn.relu.bf16.f32");
    add(l, "tf32 f32", "cvt.rna.tf32.f32");
    add(l, "tf32 f32", "cvt.rn.tf32.f32");
    add(l, "tf32 f32", "cvt.rz.relu.tf32.f32");
    add(l, "b16 f32 f32", "cvt.rn.satfinite.e4m3x2.f32");
    add(l, "b16 f32 f32", "cvt.rn.satfinite.e5m2x2.f32");
    add(l, "b16 f32 f32", "cvt.rn.satfinite.relu.e4m3x2.f32");
    add(l, "b16 f16x2", "cvt.rn.satfinite.e4m3x2.f16x2");
    add(l, "b16 f16x2", "cvt.rn.satfinite.e5m2x2.f16x2");
    add(l, "f16x2 b16", "cvt.rn.f16x2.e4m3x2");
    add(l, "f16x2 b16", "cvt.rn.f16x2.e5m2x2");
    add(l, "f16x2 b16", "cvt.rn.relu.f16x2.e5m2x2");
    add(l, "b32 s32 s32", "cvt.pack.sat.u16.s32");
    add(l, "b32 s32 s32", "cvt.pack.sat.s16.s32");
    add(l, "b32 s32 s32 b32", "cvt.pack.sat.u8.s32.b32");
    add(l, "b32 s32 s32 b32", "cvt.pack.sat.s8.s32.b32");
    add(l, "b32 s32 s32 b32", "cvt.pack.sat.u4.s32.b32");
    add(l, "b32 s32 s32 b32", "cvt.pack.sat.s2.s32.b32");
}

/* ---- atomics ---- */

static void add_atomic(struct list *l, const char *space, const char *operation, const char *type, bool compares)
{
    char name[72], body[160], types[40];
    bool half = strstr(type, "f16") != NULL;
    snprintf(name, sizeof name, "atom.%s.%s%s.%s", space, operation, half ? ".noftz" : "", type);
    snprintf(body, sizeof body, "atom.%s.%s%s.%s %%d, [%%m], %%b%s;", space, operation, half ? ".noftz" : "", type, compares ? ", %c" : "");
    snprintf(types, sizeof types, compares ? "%s %s %s %s" : "%s %s %s", type, type, type, type);
    add_body(l, name, types, body)->second = true;
}

static void add_atomics(struct list *l)
{
    static const char *const bits[] = {"and", "or", "xor", "exch"}, *const counts[] = {"inc", "dec"}, *const sizes[] = {"min", "max"};
    static const char *const sums[] = {"u32", "s32", "u64", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2"};
    static const char *const ordered[] = {"u32", "s32", "u64", "s64"};
    for (int s = 0; s < 2; s++) {
        const char *space = s ? "shared" : "global";
        for (int i = 0; i < 4; i++) {
            add_atomic(l, space, bits[i], "b32", false);
            add_atomic(l, space, bits[i], "b64", false);
        }
        add_atomic(l, space, "cas", "b16", true);
        add_atomic(l, space, "cas", "b32", true);
        add_atomic(l, space, "cas", "b64", true);
        for (int i = 0; i < 2; i++)
            add_atomic(l, space, counts[i], "u32", false);
        for (int i = 0; i < 9; i++)
            add_atomic(l, space, "add", sums[i], false);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 2; k++)
                add_atomic(l, space, sizes[k], ordered[i], false);
    }
}

/* Reads and writes of every size through the widest registers. */
static void add_memory(struct list *l)
{
    static const char *const types[] = {"b8", "b16", "b32", "b64", "u8", "u16", "u32", "s8", "s16", "s32"};
    for (int i = 0; i < 10; i++) {
        char name[72], body[160];
        snprintf(name, sizeof name, "ld.%s", types[i]);
        snprintf(body, sizeof body, "st.global.b64 [%%m], %%a; ld.global.%s %%d, [%%m];", types[i]);
        add_body(l, name, "b64 b64", body);
        snprintf(name, sizeof name, "st.%s", types[i]);
        snprintf(body, sizeof body, "st.global.b64 [%%m], %%b; st.global.%s [%%m], %%a; ld.global.b64 %%d, [%%m];", types[i]);
        add_body(l, name, "b64 b64 b64", body);
    }
}

unsigned pairs_all(struct pair *pairs, unsigned most)
{
    struct list l = {pairs, 0, most};
    add_whole(&l);
    add_carries(&l);
    add_bits(&l);
    add_packed(&l);
    add_f32(&l);
    add_approximations(&l);
    add_f64(&l);
    add_halves(&l);
    add_comparisons(&l);
    add_conversions(&l);
    add_atomics(&l);
    add_memory(&l);
    return l.count;
}
