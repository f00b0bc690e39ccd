/* SPDX-License-Identifier: Apache-2.0 */
/* What each instruction accepts and refuses, with column and message; accepted modules and their translation. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "ptx_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject_rig.h"
#include "tap.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define HEAD_100 ".version 8.8\n.target sm_100\n.address_size 64\n"
#define HEAD_60 ".version 6.0\n.target sm_60\n.address_size 64\n"
#define REGISTERS                                                                                                             \
    ".reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .f64 %e<4>; .reg .u32 %u<4>; .reg .s32 %s<4>; " \
    ".reg .pred %p<4>; .reg .b128 %q<4>;\n"
#define KERNEL(body) ".entry k(.param .u64 p) {\n" REGISTERS body "\nret; }"

static const struct ptx_options none;
static struct ptx_error error;

static struct ptx_program *make(const char *text)
{
    return ptx_program_new(text, strlen(text), &none, &error);
}

/* ---- instructions ---- */

static const struct {
    const char *instruction;
    uint32_t column;
    const char *message;
} refused[] = {
    {"atom.global.add.u32 %r1;", 1, "atom.global.add.u32: has 1 operands, but takes 3"},
    {"atom.global.add.u32 %r1, [%d1];", 1, "atom.global.add.u32: has 2 operands, but takes 3"},
    {"atom.global.add.u32 %r1, [%d1], %r1, %r1, %r1;", 1, "atom.global.add.u32: has 5 operands, but takes 3"},
    {"red.global.add.u32 [%d1], %r1, %r1;", 1, "red.global.add.u32: has 3 operands, but takes 2"},
    {"atom.global.add.v2.f32 {%f1, %f2}, [%d1], %f1;", 1,
     "atom.global.add.v2.f32: takes 2 registers in braces, of at most 16 bytes"},
    {"atom.global.add.v2.f32 {%f1, %f2}, [%d1], {%f1, %f2, %f3};", 1,
     "atom.global.add.v2.f32: takes 2 registers in braces, of at most 16 bytes"},
    {"atom.global.add.v2.f32 %f1, [%d1], {%f1, %f2};", 1,
     "atom.global.add.v2.f32: takes 2 registers in braces, of at most 16 bytes"},
    {"atom.global.add.v2.f32 {%f1}, [%d1], {%f1, %f2};", 1,
     "atom.global.add.v2.f32: takes 2 registers in braces, of at most 16 bytes"},
    {"atom.global.add.v8.f32 {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1}, [%d1], {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1};", 1,
     "atom.global.add.v8.f32: takes 8 registers in braces, of at most 16 bytes"},
    {"atom.global.exch.b128 %q1, [%d1], %d1;", 1, "atom.global.exch.b128: operand 3 must be a register of .b128"},
    {"atom.global.exch.b128 %d1, [%d1], %q1;", 1, "atom.global.exch.b128: operand 1 must be a register of .b128"},
    {"atom.global.cas.b128 %q1, [%d1], %q2, 5;", 1, "atom.global.cas.b128: operand 4 must be a register of .b128"},
    {"atom.global.add.b128 %q1, [%d1], %q1;", 1, "atom.global.add.b128: there is no such operation on .b128"},
    {"atom.global.xor.u32 %r1, [%d1], %r2;", 1, "atom.global.xor.u32: there is no such operation on .u32"},
    {"atom.global.inc.s32 %r1, [%d1], %r2;", 1, "atom.global.inc.s32: there is no such operation on .s32"},
    {"atom.global.cas.f32 %f1, [%d1], %f1, %f1;", 1, "atom.global.cas.f32: there is no such operation on .f32"},
    {"atom.global.min.f64 %e1, [%d1], %e1;", 1, "atom.global.min.f64: there is no such operation on .f64"},
    {"atom.global.exch.u32 %r1, [%d1], %r1;", 1, "atom.global.exch.u32: there is no such operation on .u32"},
    {"atom.shared.exch.f32 %f1, [%d1], %f1;", 1, "atom.shared.exch.f32: there is no such operation on .f32"},
    {"multimem.red.global.and.f16x2 [%d1], %r1;", 1, "multimem.red.global.and.f16x2: there is no such operation on .f16x2"},
    {"multimem.st.global.v4.f64 [%d1], {%e1, %e1, %e1, %e1};", 1,
     "multimem.st.global.v4.f64: takes 4 registers, of at most 16 bytes"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r1;", 1, "ldmatrix.sync.aligned.m8n8.x1.shared.b16: has 1 operands, but takes 2"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1, %r1}, [%r1];", 1,
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16: takes 1 register of 32 bits"},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 %r1, [%r1];", 1,
     "ldmatrix.sync.aligned.m8n8.x2.shared.b16: takes 2 registers of 32 bits"},
    {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%r1};", 1,
     "stmatrix.sync.aligned.m8n8.x2.shared.b16: takes 2 registers of 32 bits"},
    {"multimem.st.global.v2.f32 [%d1], {%f1};", 1, "multimem.st.global.v2.f32: takes 2 registers, of at most 16 bytes"},
    {"multimem.st.global.v2.f32 [%d1], %f1;", 1, "multimem.st.global.v2.f32: takes 2 registers, of at most 16 bytes"},
    {"multimem.st.global.f32 [%d1];", 1, "multimem.st.global.f32: has 1 operands, but takes 2"},
    {"multimem.ld_reduce.global.add.b32 %r1, [%d1];", 1,
     "multimem.ld_reduce.global.add.b32: there is no such operation on .b32"},
    {"set.lt.f16.f16x2 %h1, %r1, %r2;", 1, "set.lt.f16.f16x2: a pair sets a pair, .u32 or .s32"},
    {"set.lt.bf16.f16x2 %h1, %r1, %r2;", 1, "set.lt.bf16.f16x2: a pair sets a pair, .u32 or .s32"},
    {"set.lt.f32.f16x2 %f1, %r1, %r2;", 1, "set.lt.f32.f16x2: there is no such instruction: .f16x2 is not allowed there"},
    {"set.lt.u16.f16x2 %h1, %r1, %r2;", 1, "set.lt.u16.f16x2: a pair sets a pair, .u32 or .s32"},
    {"set.lt.f16x2.f16 %r1, %h1, %h2;", 1, "set.lt.f16x2.f16: only a comparison of pairs can produce a pair"},
    {"set.lt.bf16x2.bf16 %r1, %h1, %h2;", 1, "set.lt.bf16x2.bf16: only a comparison of pairs can produce a pair"},
    {"setp.lt.ftz.f64 %p1, %e1, %e2;", 1, "setp.lt.ftz.f64: .ftz is not for .f64"},
    {"setp.lt.ftz.u32 %p1, %r1, %r2;", 1, "setp.lt.ftz.u32: .ftz is not for .u32"},
    {"setp.lt.ftz.bf16 %p1, %h1, %h2;", 1, "setp.lt.ftz.bf16: .ftz is not for .bf16"},
    {"setp.lt.f16 %p1|5, %h1, %h2;", 17, "setp.lt.f16: the destination must be of .pred, and is a whole number"},
    {"slct.ftz.u32.s32 %r1, %r1, %r2, %r3;", 1, "slct.ftz.u32.s32: .ftz needs a third operand of .f32"},
    {"setp.num.u32 %p1, %r1, %r2;", 1, "setp.num.u32: .num cannot compare .u32 numbers"},
    {"setp.lo.s32 %p1, %r1, %r2;", 1, "setp.lo.s32: .lo cannot compare .s32 numbers"},
    {"set.lo.u32.f32 %r1, %f1, %f2;", 1, "set.lo.u32.f32: .lo cannot compare .f32 numbers"},
    {"set.ltu.u32.u32 %r1, %r2, %r3;", 1, "set.ltu.u32.u32: .ltu cannot compare .u32 numbers"},
    {"setp.lt %p1, %r1, %r2;", 1, "setp.lt: there is no such instruction: a modifier or the type is missing"},
    {"setp.u32 %p1, %r1, %r2;", 1, "setp.u32: there is no such instruction: .u32 is not allowed there"},
    {"bra;", 1, "bra: takes a label"},
    {"bra %r1, %r2;", 1, "bra: takes a label"},
    {"bra 5;", 5, "bra: expected a label"},
    {"brx.idx %r1;", 1, "brx.idx: takes an index and the name of a .branchtargets"},
    {"brx.idx %r1, {%r2};", 1, "brx.idx: takes an index and the name of a .branchtargets"},
    {"x: .callprototype _; brx.idx %r1, x;", 22, "brx.idx: takes an index and the name of a .branchtargets"},
    {"x: .branchtargets L; brx.idx %d1, x; L:", 30, "brx.idx: the source must be of .u32, and is a register of .b64"},
    {"x: .branchtargets L; brx.idx %r1, x, x; L:", 22, "brx.idx: takes an index and the name of a .branchtargets"},
    {"call;", 1, "call: calls nothing"},
    {"call ();", 1, "call: calls nothing"},
    {"call 5;", 1, "call: a call of a pointer needs a .callprototype or .calltargets"},
    {"call %r1;", 6, "call: the source must be of .u64, and is a register of .b32"},
    {"call %d1, ();", 1, "call: a call of a pointer needs a .callprototype or .calltargets"},
    {"x: .branchtargets L; call %d1, x; L:", 22, "call: a call of a pointer needs a .callprototype or .calltargets"},
    {"x: .callprototype _; call %d1, (), x, x;", 22, "call: has one operand too many"},
    {"x: .callprototype _ (.param .b32 _); call %d1, x;", 38, "call: passes 0 parameters, but the function has 1"},
    {"x: .callprototype (.param .b32 _) _; call %d1, x;", 38, "call: passes 0 results, but the function has 1"},
    {"x: .callprototype _; call (%r1), %d1, (), x;", 22, "call: passes 1 results, but the function has 0"},
    {"cvt.rn.bf16.u8 %h1, %h2;", 21, "cvt.rn.bf16.u8: the source must be of .u8, and is a register of .b16"},
    {"cvt.rzi.s8.bf16 %r1, %h2;", 17, "cvt.rzi.s8.bf16: the destination must be of .s8, and is a register of .b32"},
    {"cvt.bf16.s8 %h1, %h2;", 1, "cvt.bf16.s8: needs .rn, .rz, .rm or .rp, because not every integer has an exact float"},
    {"cvt.rni.f64.f32 %e1, %f1;", 1, "cvt.rni.f64.f32: the result has more bits, so nothing is rounded"},
    {"cvt.rni.f32.f64 %f1, %e1;", 1, "cvt.rni.f32.f64: needs .rn, .rz, .rm or .rp, because the result has fewer bits"},
    {"cvt.rzi.f16.f32 %h1, %f1;", 1, "cvt.rzi.f16.f32: needs .rn, .rz, .rm or .rp, because the result has fewer bits"},
    {"cvt.rn.u32.u16 %r1, %h1;", 1, "cvt.rn.u32.u16: integers are not rounded"},
    {"cvt.rni.u32.u16 %r1, %h1;", 1, "cvt.rni.u32.u16: integers are not rounded"},
    {"cvt.ftz.f64.f16 %e1, %h1;", 1, "cvt.ftz.f64.f16: .ftz is only for conversions from or to .f32"},
    {"cvt.tf32.f32 %r1, %f1;", 1, "cvt.tf32.f32: .tf32 is converted from .f32, with .rna, .rn or .rz"},
    {"cvt.rna.tf32.f16 %r1, %h1;", 1, "cvt.rna.tf32.f16: .tf32 is converted from .f32, with .rna, .rn or .rz"},
    {"cvt.rni.bf16.f16 %h1, %h2;", 1, "cvt.rni.bf16.f16: can be rounded to an integer only within the same type"},
    {"cvt.f16.f16.f16 %h1, %h2;", 1, "cvt.f16.f16.f16: there is no such instruction: .f16 is not allowed there"},
    {"cvt.rn.f32.f16 %f1, %h1;", 1, "cvt.rn.f32.f16: the result has more bits, so nothing is rounded"},
    {"cvt.rn.f32.f32 %f1, %f1;", 1, "cvt.rn.f32.f32: the type does not change, so it can be rounded only to an integer"},
    {"cvt.u32 %r1, %r2;", 1, "cvt.u32: there is no such instruction: a modifier or the type is missing"},
    {"cvt.u32.u32 %r1;", 1, "cvt.u32.u32: has 1 operands, but takes 2"},
    {"cvt.u32.u32 %r1, %r2, %r3;", 1, "cvt.u32.u32: has 3 operands, but takes 2"},
    {"cvt.pack.sat.u16.s32 %r1, %r2;", 1, "cvt.pack.sat.u16.s32: has 2 operands, but takes 3"},
    {"cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3;", 1, "cvt.pack.sat.u8.s32.b32: has 3 operands, but takes 4"},
    {"cvt.pack.sat.u16.s32 %r1, %r2, %r3, %r1;", 1, "cvt.pack.sat.u16.s32: has 4 operands, but takes 3"},
    {"cvt.rn.f16x2.f32 %r1, %f1;", 1, "cvt.rn.f16x2.f32: has 2 operands: too few"},
    {"cvt.satfinite.f32.f64 %f1, %e1;", 1, "cvt.satfinite.f32.f64: needs .rn, .rz, .rm or .rp, because the result has fewer "
                                           "bits"},
    {"cvt.relu.f32.f64 %f1, %e1;", 1, "cvt.relu.f32.f64: needs .rn, .rz, .rm or .rp, because the result has fewer bits"},
    {"cvt.rna.f32.f64 %f1, %e1;", 1, "cvt.rna.f32.f64: .rna is only for conversions to .tf32"},
    {"cvt.sat.f64.u32 %e1, %r1;", 1, "cvt.sat.f64.u32: needs .rn, .rz, .rm or .rp, because not every integer has an exact float"},
    {"cvt.rn.sat.u32.f32 %r1, %f1;", 1, "cvt.rn.sat.u32.f32: needs .rni, .rzi, .rmi or .rpi, because the result is an integer"},
    {"lop3.b32 %r1, %r1, %r1, %r1, %r2;", 30, "lop3.b32: expected a constant"},
    {"lop3.b32 %r1, %r1, %r1, %r1;", 1, "lop3.b32: has 4 operands: too few"},
    {"lop3.and.b32 %r1, %r1, %r1, %r1, 5, %p1;", 1, "lop3.and.b32: needs d|p, a, b, c, a table and a predicate"},
    {"lop3.or.b32 %r1|%p1, %r1, %r1, %r1, 5;", 1, "lop3.or.b32: needs d|p, a, b, c, a table and a predicate"},
    {"lop3.or.b32 %r1|%p1, %r1, %r1, %r1, 300, %p1;", 1, "lop3.or.b32: operand 6 must be a constant from 0 to 255"},
    {"lop3.or.b32 %r1|%p1, %r1, %r1, %r1, %r2, %p1;", 1, "lop3.or.b32: operand 6 must be a constant from 0 to 255"},
    {"lop3.or.b32 %r1, %p1, %r1, %r1, %r1, 5, %p1;", 1, "lop3.or.b32: needs d|p, a, b, c, a table and a predicate"},
    {"lop3.or.b32 %r1|%r2, %r1, %r1, %r1, 5, %p1;", 17,
     "lop3.or.b32: the destination must be of .pred, and is a register of .b32"},
    {"ld.global.u32 %r1;", 1, "ld.global.u32: has 1 operands, but takes 2"},
    {"ld.global.u32 %r1, [%d1], %r2, %r2;", 1, "ld.global.u32: has 4 operands, but takes 2"},
    {"ld.global.u32 %r1, [%d1, %d2];", 1, "ld.global.u32: operand 2 must be an address in brackets"},
    {"ld.global.u32 %r1, [%f1];", 21, "ld.global.u32: an address must be in a register of 64 or 32 bits"},
    {"ld.global.u32 %r1, [%e1];", 21, "ld.global.u32: an address must be in a register of 64 or 32 bits"},
    {"ld.global.u32 %r1, [%p1];", 21, "ld.global.u32: an address must be in a register of 64 or 32 bits"},
    {"ld.global.u32 %r1, [%q1];", 21, "ld.global.u32: an address must be in a register of 64 or 32 bits"},
    {"L: ld.global.u32 %r1, [L];", 24, "ld.global.u32: an address must be in a register of 64 or 32 bits"},
    {"ld.global.u32 %r1, [%tid.x];", 21, "ld.global.u32: an address must be in a register of 64 or 32 bits"},
    {"ld.global.u32 %r1, [1.5];", 21, "ld.global.u32: an address must be in a register of 64 or 32 bits"},
    {"ld.u32 [%d1], %r1;", 1, "ld.u32: operand 2 must be an address in brackets"},
    {"st.global.u32 %r1, [%d1];", 1, "st.global.u32: operand 1 must be an address in brackets"},
    {"ld.global.v2.b128 {%q1, %q2}, [%d1];", 1, "ld.global.v2.b128: moves 32 bytes, but a vector has at most 16"},
    {"ld.global.v8.f32 {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1}, [%d1];", 1,
     "ld.global.v8.f32: moves 32 bytes, but a vector has at most 16"},
    {"ld.global.v8.b16 {%h1,%h1,%h1,%h1,%h1,%h1,%h1,%h1,%h1}, [%d1];", 1,
     "ld.global.v8.b16: operand 1 must have 8 registers in braces"},
    {"st.global.v2.u16 [%d1], {%h1, %r1};", 1, "st.global.v2.u16: the registers of a vector must have the same size"},
    {"ld.global.v2.u16 {%h1, %r1}, [%d1];", 1, "ld.global.v2.u16: the registers of a vector must have the same size"},
    {"ld.global.v2.u32 %r1, [%d1];", 1, "ld.global.v2.u32: operand 1 must have 2 registers in braces"},
    {"st.global.v2.u32 [%d1], {%r1};", 1, "st.global.v2.u32: operand 2 must have 2 registers in braces"},
    {"st.const.u32 [%d1], %r1;", 1, "st.const.u32: constant memory and a kernel's parameters cannot be written"},
    {"ld.param.u32 %r1, [p+x];", 22, "x is not declared before this position as a variable or function"},
    {"ld.global.u32 5, [%d1];", 15, "ld.global.u32: the destination must be of .u32, and is a whole number"},
    {"ld.global.u32 %r1, [%d1+1.5];", 25, "expected an integer"},
    {"st.global.f32 [%d1], 5;", 22, "st.global.f32: the source must be of .f32, and is a whole number"},
    {"ldu.shared.u32 %r1, [%d1];", 1, "ldu.shared.u32: there is no such instruction: .shared is not allowed there"},
    {"prefetch.global.L1;", 1, "prefetch.global.L1: has 0 operands, but takes 1"},
    {"prefetch.global.L1 [%d1], [%d1];", 1, "prefetch.global.L1: has 2 operands, but takes 1"},
    {"discard.global.L2 [%d1];", 1, "discard.global.L2: has 1 operands, but takes 2"},
    {"cp.async.ca.shared.global [%r1], [%d1];", 1,
     "cp.async.ca.shared.global: takes two addresses and the size: 4, 8 or 16, with .cg 16"},
    {"cp.async.ca.shared.global [%r1], [%d1], %r2;", 1,
     "cp.async.ca.shared.global: takes two addresses and the size: 4, 8 or 16, with .cg 16"},
    {"cp.async.ca.shared.global [%r1], [%d1], 5;", 1,
     "cp.async.ca.shared.global: takes two addresses and the size: 4, 8 or 16, with .cg 16"},
    {"cp.async.cg.shared.global [%r1], [%d1], 8;", 1,
     "cp.async.cg.shared.global: takes two addresses and the size: 4, 8 or 16, with .cg 16"},
    {"cp.async.ca.shared.global [%r1], [%d1], 8, 8, 8, 8;", 1,
     "cp.async.ca.shared.global: takes two addresses and the size: 4, 8 or 16, with .cg 16"},
    {"cp.async.ca.shared.global [%r1], [%d1], 8, %f1;", 44,
     "cp.async.ca.shared.global: the source must be of .u32, and is a register of .f32"},
    {"alloca.u64 %d1;", 1, "alloca.u64: takes a destination, a size and an alignment that is a power of two up to 128"},
    {"alloca.u64 %d1, 8, 8, 8;", 1,
     "alloca.u64: takes a destination, a size and an alignment that is a power of two up to 128"},
    {"alloca.u64 %d1, 8, %r1;", 1, "alloca.u64: takes a destination, a size and an alignment that is a power of two up to 128"},
    {"alloca.u64 %d1, 8, 0;", 1, "alloca.u64: takes a destination, a size and an alignment that is a power of two up to 128"},
    {"alloca.u64 %d1, 8, 3;", 1, "alloca.u64: takes a destination, a size and an alignment that is a power of two up to 128"},
    {"alloca.u64 %d1, 8, 256;", 1, "alloca.u64: takes a destination, a size and an alignment that is a power of two up to 128"},
    {"stacksave.u64 5;", 15, "stacksave.u64: the destination must be of .u64, and is a whole number"},
    {"mov.b32 %r1, {};", 1, "mov.b32: cannot pack 0 parts"},
    {"mov.u32 %r1, {%h1, %h2};", 1, "mov.u32: cannot pack 2 parts"},
    {"mov.b16 {%h1, %h2, %h3}, %h1;", 1, "mov.b16: cannot pack 3 parts"},
    {"mov.b32 {%h1, %h2, %h3}, %r1;", 1, "mov.b32: cannot pack 3 parts"},
    {"mov.f32 %f1, {%h1, %h2};", 1, "mov.f32: cannot pack 2 parts"},
    {"mov.b32 {%h1, %h2}, %d1;", 21, "mov.b32: the source must be of .b32, and is a register of .b64"},
    {"mov.b64 {%r1, %h2}, %d1;", 15, "mov.b64: the destination must be of .b32, and is a register of .b16"},
    {"mov.b128 %q1, {%d1, %d1, %d1};", 1, "mov.b128: cannot pack 3 parts"},
    {"mov.b128 {%d1}, %q1;", 1, "mov.b128: cannot pack 1 parts"},
    {"mov.b128 %q1, %d1;", 1, "mov.b128: operand 2 must be a register of .b128"},
    {"mov.b128 %d1, %q1;", 1, "mov.b128: operand 1 must be a register of .b128"},
    {"mov.b128 %q1, 5;", 1, "mov.b128: operand 2 must be a register of .b128"},
    {"mov.b128 {%d1, %d2}, %d1;", 1, "mov.b128: operand 2 must be a register of .b128"},
    {"mov.u32 %r1;", 1, "mov.u32: has 1 operands, but takes 2"},
    {"mov.u32 %r1, %r2, %r3;", 1, "mov.u32: has 3 operands, but takes 2"},
    {"mov.u32 %r1, !%r2;", 15, "mov.u32: only source predicates can be negated"},
    {"mov.pred %p1, %r1;", 15, "mov.pred: the source must be of .pred, and is a register of .b32"},
    {"mov.pred %p1, 1.5;", 15, "mov.pred: the source must be of .pred, and is a float"},
    {"mov.u64 %d1, %tid.x;", 14, "mov.u64: the source must be of .u64, and is a special register"},
    {"mov.f32 %f1, %tid.x;", 14, "mov.f32: the source must be of .f32, and is a special register"},
    {"mov.u16 %h1, %clock64;", 14, "mov.u16: the source must be of .u16, and is a special register"},
    {"mov.u32 %r1, %ctaid;", 14,
     "mov.u32: the source that allows a vector's part, must be of .u32, and is a special register"},
    {"mov.u32 %r1, %laneid.x;", 21, "expected ';', found '.x'"},
    {"mov.u16 %h1, p;", 14, "mov.u16: the source must be of .u16, and is a variable"},
    {"mov.u32 %r1, L; L:", 14, "mov.u32: the source must be of .u32, and is a label"},
    {"mov.u32 %r1, (%r2);", 1, "mov.u32: cannot pack 1 parts"},
    {"mov.u32 %r1, [%r2];", 14, "mov.u32: the source must be of .u32, and is an address"},
    {"mov.u32 [%r1], %r2;", 9, "mov.u32: the destination must be of .u32, and is an address"},
    {"mov.u32 _, %tid;", 12, "mov.u32: the source that allows a vector's part, must be of .u32, and is a special register"},
    {"mov.pred %p1, %clock64;", 15, "mov.pred: the source must be of .pred, and is a special register"},
    {"mov.u32 %p1, %r1;", 9, "mov.u32: the destination must be of .u32, and is a register of .pred"},
    {"mov.u32 x, %r1; x:", 9, "mov.u32: the destination must be of .u32, and is a label"},
    {"cvta.global.u64 %d1;", 1, "cvta.global.u64: has 1 operands, but takes 2"},
    {"cvta.global.u64 %d1, %d2, %d2;", 1, "cvta.global.u64: has 3 operands, but takes 2"},
    {"cvta.global.u64 %d1, 1.5;", 22, "cvta.global.u64: the source must be of .u64, and is a float"},
    {"cvta.to.global.u64 %d1, %r1;", 25, "cvta.to.global.u64: the source must be of .u64, and is a register of .b32"},
    {"isspacep.global %p1;", 1, "isspacep.global: has 1 operands, but takes 2"},
    {"isspacep.global %p1, %d1, %d1;", 1, "isspacep.global: has 3 operands, but takes 2"},
    {"isspacep.global %r1, %d1;", 17, "isspacep.global: the destination must be of .pred, and is a register of .b32"},
    {"isspacep.global %p1, %f1;", 22, "isspacep.global: the source must be of .u32, and is a register of .f32"},
    {"bar.sync;", 1, "bar.sync: has 0 operands, but takes 2"},
    {"bar.sync 0, 32, 32;", 1, "bar.sync: has 3 operands, but takes 2"},
    {"bar.sync %d1;", 10, "bar.sync: the source must be of .u32, and is a register of .b64"},
    {"bar.arrive 0;", 1, "bar.arrive: has 1 operands, but takes 2"},
    {"bar.arrive 0, 33;", 1, "bar.arrive: the number of threads must be a multiple of 32"},
    {"bar.red.popc.u32 %r1, 0;", 1, "bar.red.popc.u32: has 2 operands, but takes 4"},
    {"bar.red.popc.u32 %r1, 0, 33, %p1;", 1, "bar.red.popc.u32: the number of threads must be a multiple of 32"},
    {"bar.red.popc.u32 %r1, 16, %p1;", 1, "bar.red.popc.u32: barriers are numbered 0 to 15"},
    {"bar.red.and.pred %r1, 0, %p1;", 18, "bar.red.and.pred: the destination must be of .pred, and is a register of .b32"},
    {"bar.red.popc.u32 %r1, 0, 32, %p1, %p1;", 1, "bar.red.popc.u32: has 5 operands, but takes 4"},
    {"barrier.sync 1, 7;", 1, "barrier.sync: the number of threads must be a multiple of 32"},
    {"shfl.sync.idx.b32 %r1, %r2, 0, 31;", 1, "shfl.sync.idx.b32: has 4 operands, but takes 5"},
    {"shfl.sync.idx.b32 %r1|%r2, %r2, 0, 31, -1;", 23,
     "shfl.sync.idx.b32: the destination must be of .pred, and is a register of .b32"},
    {"vote.sync.all.pred %p1, %p2;", 1, "vote.sync.all.pred: has 2 operands, but takes 3"},
    {"vote.all.pred %p1, %p2;", 1, "vote.all.pred: needs .sync for sm_70 and later from PTX 6.4 on"},
    {"vote.sync.ballot.b32 %p1, %p2, -1;", 22,
     "vote.sync.ballot.b32: the destination must be of .b32, and is a register of .pred"},
    {"match.any.sync.b32 %r1|%p1, %r2, -1;", 1, "match.any.sync.b32: only match.all returns a predicate"},
    {"match.any.sync.b32 %r1, %r2;", 1, "match.any.sync.b32: has 2 operands, but takes 3"},
    {"match.all.sync.b64 %r1|%p1, %r2, -1;", 29, "match.all.sync.b64: the source must be of .b64, and is a register of .b32"},
    {"elect.sync %r1, -1;", 1, "elect.sync: has 2 operands, but takes 3"},
    {"elect.sync %r1, %p1, -1;", 1, "elect.sync: answers with d|p"},
    {"bar.sync 0, %r1, %r1, 5;", 1, "bar.sync: has 4 operands, but takes 2"},
    {"elect.sync %r1|%p1;", 1, "elect.sync: has 2 operands, but takes 3"},
    {"elect.sync _;", 1, "elect.sync: has 1 operands, but takes 3"},
    {"redux.sync.add.u32 %r1, %r2;", 1, "redux.sync.add.u32: has 2 operands: too few"},
    {"mapa.u64 %d1, %d2;", 1, "mapa.u64: has 2 operands, but takes 3"},
    {"getctarank.u64 %r1;", 1, "getctarank.u64: has 1 operands, but takes 2"},
    {"getctarank.u64 %d1, %d1;", 16, "getctarank.u64: the destination must be of .u32, and is a register of .b64"},
    {"activemask.b32 5;", 16, "activemask.b32: the destination must be of .b32, and is a whole number"},
    {"add.u32 %r1, %r2.b0, %r3;", 14, "add.u32: the source must be of .u32, and is a register of .b32"},
    {"add.u32 %r1.b0, %r2, %r3;", 9, "add.u32: the destination must be of .u32, and is a register of .b32"},
    {"add.u32 !%p1, %r2, %r3;", 10, "add.u32: the destination must be of .u32, and is a register of .pred"},
    {"add.u32 %r1, {%r2}, %r3;", 14, "add.u32: the source must be of .u32, and is a list"},
    {"add.u32 %r1, [%r2], %r3;", 14, "add.u32: the source must be of .u32, and is an address"},
    {"add.u32 %r1, _, %r3;", 14, "add.u32: the source must be of .u32, and is _"},
    {"add.u32 %r1, L, %r3; L:", 14, "add.u32: the source must be of .u32, and is a label"},
    {"add.f32 %f1, %s1, %f2;", 14, "add.f32: the source must be of .f32, and is a register of .s32"},
    {"add.s32 %s1, %f1, %s2;", 14, "add.s32: the source must be of .s32, and is a register of .f32"},
    {"add.f32 %f1, %r1, %u1;", 19, "add.f32: the source must be of .f32, and is a register of .u32"},
    {"add.u16 %h1, %r1, 5;", 14, "add.u16: the source must be of .u16, and is a register of .b32"},
    {"add.f16 %h1, %h1, 1;", 19, "add.f16: the source must be of .f16, and is a whole number"},
    {"add.f16x2 %r1, %r1, %f1;", 21, "add.f16x2: the source must be of .f16x2, and is a register of .f32"},
    {"add.f64 %e1, %d1, %s1;", 19, "add.f64: the source must be of .f64, and is a register of .s32"},
    {"add.bf16 %h1, 1.5, %h1;", 15, "add.bf16: the source must be of .bf16, and is a float"},
    {"and.pred %p1, %p2, %r1;", 20, "and.pred: the source must be of .pred, and is a register of .b32"},
    {"and.b32 %r1, %r2, %p1;", 19, "and.b32: the source must be of .b32, and is a register of .pred"},
    {"and.b32 %r1, %r2, 1.5;", 19, "and.b32: the source must be of .b32, and is a float"},
    {"and.b64 %d1, %d2, 0f3F800000;", 19, "and.b64: the source must be of .b64, and is a float"},
    {"mad.wide.u16 %r1, %h1, %h1, %h1;", 29, "mad.wide.u16: the source must be of .u32, and is a register of .b16"},
    {"selp.u32 %r1, %r2, %r3, %r1;", 25, "selp.u32: the source must be of .pred, and is a register of .b32"},
    {"selp.u32 %r1, %r2, %r3;", 1, "selp.u32: has 3 operands: too few"},
    {"bfe.u64 %d1, %d2, %d3, %r1;", 19, "bfe.u64: the source must be of .u32, and is a register of .b64"},
    {"shl.b32 %r1, %r2, %d1;", 19, "shl.b32: the source must be of .u32, and is a register of .b64"},
    {"popc.b64 %d1, %d1;", 10, "popc.b64: the destination must be of .u32, and is a register of .b64"},
    {"copysign.f32 %f1, %f2, %e1;", 24, "copysign.f32: the source must be of .f32, and is a register of .f64"},
    {"testp.finite.f32 %r1, %f1;", 18, "testp.finite.f32: the destination must be of .pred, and is a register of .b32"},
    {"dp4a.u32.u32 %r1, %r2, %r3;", 1, "dp4a.u32.u32: has 3 operands: too few"},
    {"dp4a.u32.s32 %r1, %r2, %r3, %r1, %r1;", 1, "dp4a.u32.s32: has 5 operands: 1 too many"},
    {"setp.lt.u32 %p1|%p2|%p3, %r1, %r2;", 1, "setp.lt.u32: has 5 operands: too few"},
    {"add.u32 %r1|%r2, %r3, %r1;", 1, "add.u32: has 4 operands: too few"},
    {"vadd.s32.s32.s32 %r1, %r2.b0, %r3.h1;", 1, "vadd.s32.s32.s32: the simulator does not support this instruction"},
    {"tex.1d.v4.s32.s32 {%r0, %r1, %r2, %r3}, [p, {%r1}];", 1,
     "tex.1d.v4.s32.s32: the simulator does not support this instruction"},
    {"fma.rn.f32x2 %d1, %d1, %d1, %d1;", 1, "fma.rn.f32x2: the simulator does not support this instruction"},
    {"cvt.rs.f16x2.f32 %r1, %f1, %f2, %r1;", 1, "cvt.rs.f16x2.f32: the simulator does not support this instruction"},
    {"add.u32.u32 %r1, %r2, %r3;", 1, "add.u32.u32: there is no such instruction: .u32 is not allowed there"},
};

static void test_refused(void)
{
    static char text[4000];
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        snprintf(text, sizeof text, "%s%s%s", HEAD ".entry k(.param .u64 p) {\n" REGISTERS, refused[i].instruction, "\nret; }");
        struct ptx_program *program = make(text);
        if (program || strcmp(error.text, refused[i].message) != 0 || error.place.line != 6 || error.place.column != refused[i].column) {
            tap_note("%s", refused[i].instruction);
            tap_note("line %u, column %u: %s", error.place.line, error.place.column, program ? "it is taken" : error.text);
            wrong++;
        }
        ptx_program_free(program);
    }
    tap_u64(wrong, 0, "%zu instructions are refused with their place and words", sizeof refused / sizeof refused[0]);
}

/* ---- modules ---- */

static const struct {
    const char *text;
    uint32_t line, column;
    const char *message;
} modules[] = {
    {HEAD ".global .b8 a[268435457] = {1};", 4, 13,
     "a has initial values, and more than 268435456 bytes"},
    {HEAD ".extern .global .u32 "
          "averyveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryverylongname[];\n.entry k() { .reg "
          ".b64 %d; mov.u64 %d, averyveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryverylongname; "
          "ret; }", 4, 22,
     "averyveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryveryverylon is declared .extern without a size, but "
     "no module defines it"},
    {HEAD ".extern .global .u32 v[];\n.global .u64 a = v;\n.entry k() { ret; }", 4, 22,
     "v is declared .extern without a size, but no module defines it"},
    {HEAD ".entry k() { .local .u32 s; ret; }\n.func s();\n.global .u64 g = s;\n.shared .u32 t;\n.global .u64 h = t+4;", 7, 14,
     "the address of t is unknown until a kernel runs"},
    {HEAD ".func f(.param .v2 .b32 a) { ret; }\n.entry k() { .reg .b64 x; call f, (x); ret; }", 5, 36,
     "call: this parameter does not fit in a register"},
    {HEAD ".func f(.param .b32 a) { ret; }\n.entry k() { .param .b32 x[2]; call f, (x+4); ret; }", 5, 41,
     "call: an argument must be a .param of the function with the size of the parameter"},
    {HEAD ".func f(.param .b32 a) { ret; }\n.entry k(.param .b32 x) { call f, (x); ret; }", 5, 36,
     "call: an argument must be a .param of the function with the size of the parameter"},
    {HEAD ".func f(.param .b32 a) { ret; }\n.global .u32 x;\n.entry k() { call f, (x); ret; }", 6, 23,
     "call: an argument must be a .param of the function with the size of the parameter"},
    {HEAD ".func f(.param .b32 a) { ret; }\n.entry k() { .local .u32 x; call f, (x); ret; }", 5, 38,
     "call: an argument must be a .param of the function with the size of the parameter"},
    {HEAD ".func f(.param .b64 a) { ret; }\n.entry k() { .param .b32 x; call f, (x); ret; }", 5, 38,
     "call: an argument must be a .param of the function with the size of the parameter"},
    {HEAD ".func (.param .b32 r) f() { ret; }\n.entry k() { call f; ret; }", 5, 14,
     "call: passes 0 results, but the function has 1"},
    {HEAD ".func (.param .b8 r[8]) f() { ret; }\n.entry k() { .reg .b64 x; call (x), f; ret; }", 5, 33,
     "call: this parameter does not fit in a register"},
    {HEAD ".func f() { ret; }\n.entry k() { call f, (), (); ret; }", 5, 14,
     "call: has one operand too many"},
    {HEAD ".func f() { ret; }\n.entry k() { x: .callprototype _; call f, (), x, x; ret; }", 5, 35,
     "call: has one operand too many"},
    {HEAD ".func f() { ret; }\n.entry k() { .reg .b32 r; call f, r; ret; }", 5, 27,
     "call: has one operand too many"},
    {HEAD ".entry l() { ret; }\n.entry k() { call l; ret; }", 5, 14,
     "call: a kernel cannot be called"},
    {HEAD ".entry l() { ret; }\n.entry k() { .reg .b64 %d; x: .calltargets l; call %d, x; ret; }", 5, 47,
     "call: a kernel cannot be called"},
    {HEAD ".func f(.param .f32 a) { ret; }\n.entry k() { call f, (5); ret; }", 5, 23,
     "call: the source must be of .f32, and is a whole number"},
    {HEAD ".func f(.param .b32 a) { ret; }\n.entry k() { call f, ({}); ret; }", 5, 23,
     "call: the source must be of .b32, and is a list"},
    {HEAD ".entry k() { ret; }\n.entry n();", 5, 8, "the kernel n has no body"},
    {HEAD ".const .b8 a[65533];\n.const .align 4 .b8 b[4];\n.entry k() { ret; }", 5, 21, "with b there are 65540 bytes of "
        "constant memory, but the maximum is 65536"},
    {HEAD ".const .b8 a[65537];\n.entry k() { ret; }", 4, 12, "with a there are 65537 bytes of constant memory, but the "
                                                              "maximum is 65536"},
    {HEAD ".extern .func f();\n.func g() { ret; }\n.entry k() { call g; call f; ret; }", 4, 15,
     "f is called, but no module defines it"},
    {HEAD ".func f() { ret; }\n.global .u64 a = f;\n.const .u64 b = a; .local .u32 c; .global .u64 d = c;", 6, 20,
     "expected a kernel, a function, a variable or a directive, found '.local'"},
    {HEAD ".entry k() { .local .b8 a[16777217]; ret; }", 4, 8,
     "k uses more than 16777216 bytes of local memory"},
    {HEAD ".func f() { .local .b8 a[16777216]; .local .b8 b[1]; ret; }", 4, 7,
     "f uses more than 16777216 bytes of local memory"},
    {HEAD ".shared .b8 a[2147483648];\n.entry k() { .reg .b32 %r; ld.shared.u32 %r, [a]; ret; }", 5, 8,
     "k uses more than 2^31 bytes of shared memory"},
    {HEAD ".entry k(.param .b8 a[20000], .param .b8 b[20000]) { ret; }", 4, 8,
     "k has 40000 bytes of parameters, but the maximum is 32764"},
    {HEAD ".local .u32 x;\n.entry k() { .reg .b32 %r; ld.local.u32 %r, [x]; ret; }", 4, 1,
     "expected a kernel, a function, a variable or a directive, found '.local'"},
    {HEAD ".func f() { ret; }\n.entry k() { .reg .b32 %r; mov.u32 %r, f; ret; }", 5, 40,
     "mov.u32: the source must be of .u32, and is a function"},
    {HEAD ".func f() { ret; }\n.entry k() { .reg .b32 %r; ld.global.u32 %r, [f]; ret; }", 5, 47,
     "ld.global.u32: an address must be in a register of 64 or 32 bits"},
    {HEAD ".global .u32 g;\n.entry k() { .reg .b16 %h; mov.u16 %h, g; ret; }", 5, 40,
     "mov.u16: the source must be of .u16, and is a variable"},
    {HEAD ".shared .u32 s;\n.entry k() { .reg .b32 %r; ld.global.u32 %r, [s]; ret; }", 5, 46,
     "ld.global.u32: s is in another space"},
};

static void test_modules(void)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        struct ptx_program *program = make(modules[i].text);
        if (program || strcmp(error.text, modules[i].message) != 0 || error.place.line != modules[i].line || error.place.column != modules[i].column) {
            tap_note("%s", modules[i].text);
            tap_note("line %u, column %u: %s", error.place.line, error.place.column, program ? "it is taken" : error.text);
            wrong++;
        }
        ptx_program_free(program);
    }
    tap_u64(wrong, 0, "%zu modules are refused with their place and words", sizeof modules / sizeof modules[0]);
#if SIZE_MAX > UINT32_MAX
    tap_ok(!ptx_program_new("", (size_t)UINT32_MAX + 1, &none, &error) && strstr(error.text, "smaller than 4 GiB"), "a text of 4 GiB is refused unread");
#endif
}

static const char *const taken[] = {
    HEAD_100 KERNEL("ld.global.v8.f32 {%f0,%f1,%f2,%f3,%f0,%f1,%f2,%f3}, [%d1]; ld.global.v4.b64 {%d0,%d1,%d2,%d3}, "
                    "[%d1]; st.global.v8.b32 [%d1], {%r0,%r1,%r2,%r3,%r0,%r1,%r2,%r3};"),
    HEAD_60 KERNEL("shfl.idx.b32 %r1, %r2, 0, 31; vote.all.pred %p1, %p2; vote.ballot.b32 %r1, %p2;"),
    ".version 6.4\n.target sm_60\n" KERNEL("shfl.up.b32 %r1|%p1, %r2, 0, 31;"), ".version 6.3\n.target sm_70\n" KERNEL("vote.any.pred %p1, %p2;"),
    HEAD ".entry k() { }\n.func f() { }\n.entry l() { L: }\n.entry m() { bra L; L: }\n.func g();\n.extern .global .u32 v;\n.global .u64 a = v;\n.entry o() { { } }",
    HEAD ".func f() { ret; }\n.func g();\n.alias g, f;\n.global .u64 a[2] = {f, g};\n.entry k() { call g; call g, (); ret; }",
    HEAD ".func (.param .s32 r) f(.param .b32 a) { ret; }\n.entry k() { .reg .b64 %d; .reg .s32 %r; .param .b32 x, y; "
         "mov.u64 %d, f; x1: .calltargets f, f; "
         "call (%r), %d, (x), x1; call (_), f, (5); call (y), f, (x); ret; }",
    HEAD ".global .u32 g;\n.shared .u32 s, t;\n.func f() { ret; }\n"
         KERNEL("mov.u64 %d1, g; mov.u64 %d2, g; mov.u64 %d3, g+4; mov.u32 %r1, g; mov.u32 %r1, s; mov.u64 %d1, s; "
                "mov.u32 %r2, t; cvta.shared.u64 %d1, s; mov.u64 %d0, f; mov.u64 %d2, f;"),
    HEAD KERNEL("@%p1 setp.lt.u32 %p1|%p2, %r1, %r2; @!%p1 setp.lt.and.u32 %p1|%p2, %r1, %r2, !%p3; @%p1 setp.lt.u32 "
                "%p2|%p1, %r1, %r2; @%p1 setp.eq.u32 %p2, %r1, %r2;"),
    HEAD KERNEL("ld.global.u32 %r1, [16]; ld.shared.u32 %r1, [16]; cp.async.ca.shared.global [16], [32], 8, %r1; "
                "cp.async.cg.shared.global [%r1], [%d1], 16, %p1; cp.async.ca.shared.global [%r1+4], [%d1+4], 4;"),
    HEAD KERNEL("mov.b64 %d1, {%h1, %h2, %h3, %h0}; mov.b64 {%h1, _, %h3, _}, %d1; mov.b128 %q1, %q2; mov.b128 %q1, {%d1, "
                "%d2}; mov.b128 {_, %d1}, %q1; mov.pred %p1, !%p2; mov.pred %p1, 1; mov.pred %p1, %is_explicit_cluster;"),
    HEAD KERNEL("prefetch.global.L1 [%d1]; discard.global.L2 [%d1], 128; createpolicy.fractional.L2::evict_last.b64 %d1, 1.0; alloca.u64 %d1, 8; alloca.u64 %d1, 8, 16; alloca.u32 %r1, %r2;"),
    HEAD ".entry k() .maxntid 70000 { ret; }\n.entry l() .maxntid 65536, 65536, 2 { ret; }\n.entry m() .reqntid 2, 3, 4 { ret; }",
};

static void test_taken(void)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        struct ptx_program *program = make(taken[i]);
        if (!program) {
            tap_note("%s", taken[i]);
            tap_note("line %u, column %u: %s", error.place.line, error.place.column, error.text);
        }
        wrong += !program;
        ptx_program_free(program);
    }
    tap_u64(wrong, 0, "%zu modules are taken", sizeof taken / sizeof taken[0]);
}

static void test_meaning(void)
{
    static const struct ptx_options lets = {.let_unsupported_stay = true};
    struct ptx_program *p = make(HEAD ".entry k() .maxntid 70000 { ret; }\n.entry l() .maxntid 65536, 65536, 2 { ret; "
                                      "}\n.entry m() .reqntid 2, 3, 4 { ret; }");
    tap_ok(p->kernel_count == 3 && p->kernels[0].max_threads == UINT16_MAX && p->kernels[1].max_threads == UINT16_MAX && p->kernels[2].max_threads == 24,
           "more threads than a block can have are all that it can have");
    ptx_program_free(p);
    p = make(HEAD ".func f() { ret; }\n.func g();\n.alias g, f;\n.global .u64 a[2] = {f, g};");
    tap_ok(p->globals[0].fixups[0].number == p->globals[0].fixups[1].number && p->globals[0].fixups[1].of_routine, "an alias is the function that it names");
    ptx_program_free(p);
    const char *text = HEAD ".func f() { .reg .b32 %r; vadd.s32.s32.s32 %r, %r, %r; vsub.s32.s32.s32 %r, %r, %r; ret; }\n.entry k() { .reg .b32 %r; vmin.s32.s32.s32 %r, %r, %r; call f; ret; }";
    p = ptx_program_new(text, strlen(text), &lets, &error);
    tap_text(p->kernels[0].refused, "vmin.s32.s32.s32 at line 5: the simulator does not support this instruction",
             "the first unsupported instruction is named");
    ptx_program_free(p);
}

/* ---- sizes ---- */

/* 200 functions, each with 16 MiB of local memory, that call each other in a chain need more than a lane can have. */
static void test_need(void)
{
    enum { FUNCTIONS = 200, SIZE = 40000 };
    char *text = malloc(SIZE);
    size_t at = (size_t)snprintf(text, SIZE, HEAD ".func f0() { .local .b8 a[16777216]; ret; }\n");
    for (int i = 1; i < FUNCTIONS; i++)
        at += (size_t)snprintf(text + at, SIZE - at, ".func f%d() { .local .b8 a[16777216]; call f%d; ret; }\n", i, i - 1);
    snprintf(text + at, SIZE - at, ".entry k() { call f%d; ret; }", FUNCTIONS - 1);
    struct ptx_program *p = make(text);
    tap_ok(p && p->kernels[0].local_bytes == INT32_MAX, "the local memory of 200 functions saturates at 2^31 - 1");
    ptx_program_free(p);
    free(text);
}

/* A call has at most 255 parameters and results. */
static void test_parameters(void)
{
    enum { SIZE = 20000 };
    char *text = malloc(SIZE);
    for (int count = 255; count <= 256; count++) {
        size_t at = (size_t)snprintf(text, SIZE, HEAD ".func f(");
        for (int i = 0; i < count; i++)
            at += (size_t)snprintf(text + at, SIZE - at, "%s.param .b32 a%d", i ? ", " : "", i);
        at += (size_t)snprintf(text + at, SIZE - at, ") { ret; }\n.entry k() { call f, (");
        for (int i = 0; i < count; i++)
            at += (size_t)snprintf(text + at, SIZE - at, "%s%d", i ? ", " : "", i);
        snprintf(text + at, SIZE - at, "); ret; }");
        struct ptx_program *p = make(text);
        tap_text(p ? "" : error.text, count > 255 ? "call: calls a function with more than 255 parameters and results" : "", "a call with %d parameters", count);
        ptx_program_free(p);
    }
    free(text);
}

/* ---- memory ---- */

static void test_memory(void)
{
    unsigned failures = 0, wrong = 0;
    const long live = inject_live;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        for (unsigned long nth = 1;; nth++) {
            inject_arm(nth);
            struct ptx_program *p = make(taken[i]);
            bool failed = inject_disarm() != NULL;
            failures += failed;
            wrong += failed == (p != NULL) || (failed && !error.no_memory);
            ptx_program_free(p);
            wrong += inject_live != live;
            if (!failed)
                break;
        }
    tap_ok(failures >= 30 && !wrong, "each of %u refusals of memory is reported, and nothing stays", failures);
}

int main(void)
{
    test_refused();
    test_modules();
    test_taken();
    test_meaning();
    test_need();
    test_parameters();
    test_memory();
    return tap_done();
}
