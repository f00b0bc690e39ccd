/* SPDX-License-Identifier: Apache-2.0 */
/* Programs compiled from texts: accepted instructions, refusals with their messages, a kernel's record. */
#include "ptx_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_table.h"
#include "tap.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static const struct ptx_options none;
static struct ptx_error error;

static struct ptx_program *make(const char *text)
{
    return ptx_program_new(text, strlen(text), &none, &error);
}

/* One instruction in a kernel with registers of every type. */
static struct ptx_program *make_one(const char *instruction)
{
    static char text[2000];
    snprintf(text, sizeof text, HEAD ".entry k(.param .u64 p) {\n.reg .b16 %%h<4>; .reg .b32 %%r<4>; .reg .b64 %%d<4>; "
                                     ".reg .f32 %%f<4>; .reg .f64 %%e<4>; "
                                     ".reg .u32 %%u<4>; .reg .s32 %%s<4>; .reg .pred %%p<4>; .reg .b128 %%q<4>;\n%s\nret; }", instruction);
    return make(text);
}

/* ---- refusals ---- */

static const struct {
    const char *instruction, *message;
} refused[] = {
    {"add.f32 %f1, %u1, %f2;", "add.f32: the source must be of .f32, and is a register of .u32"},
    {"add.u32 %r1, %r2, %d1;", "add.u32: the source must be of .u32, and is a register of .b64"},
    {"add.u32 %r1, %r2;", "add.u32: has 2 operands: too few"},
    {"add.u32 %r1, %r2, %r3, 4;", "add.u32: has 4 operands: 1 too many"},
    {"add.frob.u32 %r1, %r2, %r3;", "add.frob.u32: modifier 1 is unknown"},
    {"add.wide.u32 %d1, %r2, %r3;", "add.wide.u32: there is no such instruction: .wide is not allowed there"},
    {"add %r1, %r2, %r3;", "add: there is no such instruction: a modifier or the type is missing"},
    {"fma.f32 %f1, %f1, %f1, %f1;", "fma.f32: there is no such instruction: .f32 is not allowed there"},
    {"add.u32 5, %r2, %r3;", "add.u32: the destination must be of .u32, and is a whole number"},
    {"add.u32 %r1, 1.5, %r3;", "add.u32: the source must be of .u32, and is a float"},
    {"add.f32 %f1, 1, %f3;", "add.f32: the source must be of .f32, and is a whole number"},
    {"add.u32 %r1, %tid.x, 1;", "add.u32: a special register can be read only by mov"},
    {"mov.u32 %r1, %tid;", "mov.u32: the source that allows a vector's part, must be of .u32, and is a special register"},
    {"add.u32 %r1, !%r2, %r3;", "add.u32: only source predicates can be negated"},
    {"mul.wide.u64 %d1, %d2, %d3;", "mul.wide.u64: there is no such instruction: .u64 is not allowed there"},
    {"setp.lt.b32 %p1, %r1, %r2;", "setp.lt.b32: .b32 is unordered: only .eq and .ne can compare it"},
    {"setp.equ.s32 %p1, %r1, %r2;", "setp.equ.s32: .equ cannot compare .s32 numbers"},
    {"setp.lo.f32 %p1, %f1, %f2;", "setp.lo.f32: .lo cannot compare .f32 numbers"},
    {"cvt.u32.f32 %r1, %f1;", "cvt.u32.f32: needs .rni, .rzi, .rmi or .rpi, because the result is an integer"},
    {"cvt.f32.u32 %f1, %r1;", "cvt.f32.u32: needs .rn, .rz, .rm or .rp, because not every integer has an exact float"},
    {"cvt.f32.f64 %f1, %e1;", "cvt.f32.f64: needs .rn, .rz, .rm or .rp, because the result has fewer bits"},
    {"cvt.rn.f64.f32 %e1, %f1;", "cvt.rn.f64.f32: the result has more bits, so nothing is rounded"},
    {"cvt.sat.u32.u16 %r1, %h1;", "cvt.sat.u32.u16: .u32 can represent every .u16 number, so .sat has no effect"},
    {"ld.global.u32 %r1, %d1;", "ld.global.u32: operand 2 must be an address in brackets"},
    {"ld.global.u32 %r1, [%h1];", "ld.global.u32: an address must be in a register of 64 or 32 bits"},
    {"ld.shared.u32 %r1, [p];", "ld.shared.u32: p is in another space"},
    {"ld.global.v2.u32 {%r1, %r2, %r3}, [%d1];", "ld.global.v2.u32: operand 1 must have 2 registers in braces"},
    {"ld.global.v4.u64 {%d1, %d1, %d2, %d3}, [%d1];", "ld.global.v4.u64: moves 32 bytes, but a vector has at most 16"},
    {"st.param.u32 [p], %r1;", "st.param.u32: constant memory and a kernel's parameters cannot be written"},
    {"atom.global.add.b32 %r1, [%d1], %r2;", "atom.global.add.b32: there is no such operation on .b32"},
    {"atom.global.add.f16 %h1, [%d1], %h2;", "atom.global.add.f16: .noftz is only for additions of .f16 and .bf16"},
    {"bar.sync 16;", "bar.sync: barriers are numbered 0 to 15"},
    {"bar.sync 0, 33;", "bar.sync: the number of threads must be a multiple of 32"},
    {"shfl.idx.b32 %r1, %r2, 0, 31;", "shfl.idx.b32: needs .sync for sm_70 and later from PTX 6.4 on"},
    {"lop3.b32 %r1, %r1, %r1, %r1, 256;", "lop3.b32: operand 5 must be a constant from 0 to 255"},
    {"call (%r1);", "call: calls nothing"},
    {"call k;", "call: a kernel cannot be called"},
    {"call %d1, (%r1);", "call: a call of a pointer needs a .callprototype or .calltargets"},
    {"bra %r1;", "bra: expected a label"},
    {"brx.idx %r1, %r2;", "brx.idx: takes an index and the name of a .branchtargets"},
    {"mov.b32 {%h1, %h2}, {%h1, %h2};", "mov.b32: cannot pack and unpack at once"},
    {"mov.b64 %d1, {%r1, %r2, %r3};", "mov.b64: cannot pack 3 parts"},
    {"wmma.load.a.sync.aligned.m16n16k16.row.f16 {%r1}, [%d1], 16;", "wmma.load.a.sync.aligned.m16n16k16.row.f16: the "
                                                                     "simulator does not support this instruction"},
    {"cp.async.bulk.commit_group;", "cp.async.bulk.commit_group: the simulator does not support this instruction"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct ptx_program *program = make_one(refused[i].instruction);
        tap_text(program ? "" : error.text, refused[i].message, "%s", refused[i].instruction);
        ptx_program_free(program);
    }
    tap_ok(!make_one("add.u32 %r1, %r2, %d1;") && error.place.line == 6 && error.place.column == 19, "the place is that of the operand");
    tap_ok(!make_one("add.u32 %r1, %r2;") && error.place.line == 6 && error.place.column == 1, "or of the instruction");
}

static const struct {
    const char *text, *message;
} modules[] = {
    {HEAD ".extern .func f();\n.entry k() { call f; ret; }", "f is called, but no module defines it"},
    {HEAD ".func f(.param .b32 a) { ret; }\n.entry k() { call f; ret; }", "call: passes 0 parameters, but the function has 1"},
    {HEAD ".func f(.param .b32 a) { ret; }\n.entry k() { .param .b16 x; call f, (x); ret; }", "call: an argument must be a "
                                                                                              ".param of the function with the "
                                                                                              "size of the parameter"},
    {HEAD ".func f(.param .b8 a[8]) { ret; }\n.entry k() { .reg .b64 x; call f, (x); ret; }", "call: this parameter does not fit in a register"},
    {HEAD ".shared .u32 s;\n.global .u64 g = s;", "the address of s is unknown until a kernel runs"},
    {HEAD ".entry k(.param .b8 a[32764], .param .b32 b) { ret; }", "k has 32768 bytes of parameters, but the maximum is 32764"},
    {HEAD ".func f() { .local .b8 a[20000000]; ret; }", "f uses more than 16777216 bytes of local memory"},
};

static void test_modules(void)
{
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        struct ptx_program *program = make(modules[i].text);
        tap_text(program ? "" : error.text, modules[i].message, "%s", modules[i].message);
        ptx_program_free(program);
    }
}

/* ---- what a program contains ---- */

static void test_kernel(void)
{
    struct ptx_program *p = make(HEAD ".extern .shared .align 32 .b8 dynamic[];\n.shared .align 8 .b8 unused[64];\n.shared .align 4 .b8 a[10];\n"
                                      ".global .align 4 .b8 g[12] = {1, 2, 3};\n.const .u64 c = g+4;\n"
                                      ".func f() { .local .align 8 .b8 l[100]; .shared .align 16 .b8 b[16]; .reg .b32 %r; ld.shared.u32 %r, [b]; ret; }\n"
                                      ".entry big(.param .u8 x, .param .u64 y, .param .align 16 .b8 z[20]) .reqntid 8, 4, 2\n"
                                      "{ .reg .b32 %r; .reg .b64 %d; ld.shared.u32 %r, [a]; mov.u64 %d, dynamic; call f; ret; }\n"
                                      ".entry small() .maxntid 64 { ret; }\n.func g1(); .func g2() { call g1; ret; } .func g1() { call g2; ret; }\n"
                                      ".entry loops() { call g1; ret; }\n");
    if (!p)
        tap_bail("line %u: %s", error.place.line, error.text);
    const struct ptx_kernel *big = &p->kernels[ptx_program_kernel(p, "big")], *small = &p->kernels[ptx_program_kernel(p, "small")];
    tap_ok(big->param_count == 3 && big->params[1].offset == 8 && big->params[2].offset == 16 && big->param_bytes == 36, "parameters lie as C lays them out");
    tap_ok(big->max_threads == 64 && big->required[0] == 8 && small->max_threads == 64 && !small->required[0], "how many threads it takes");
    tap_ok(big->shared_bytes == 32 && small->shared_bytes == 0, "shared memory is what it uses, with what it calls");
    tap_ok(big->local_bytes == 112 && !big->recursive, "local memory, too");
    tap_ok(p->kernels[ptx_program_kernel(p, "loops")].recursive, "functions that call each other recurse");
    tap_ok(ptx_program_kernel(p, "none") == -1, "a missing kernel");
    tap_ok(p->global_count == 2 && p->globals[0].size == 12 && p->globals[0].initial[2] == 3 && !p->globals[0].constant, "a variable with its initial value");
    tap_ok(p->globals[1].constant && p->globals[1].fixup_count == 1 && p->globals[1].fixups[0].offset == 4 && !p->globals[1].fixups[0].of_routine,
           "and one whose value is an address");
    ptx_program_free(p);
}

/* Registers that are not live at the same time share a slot, so a long text needs few slots. */
static void test_slots(void)
{
    enum { LONG = 4000, SIZE = 400000 };
    char *text = malloc(SIZE);
    size_t at = (size_t)snprintf(text, SIZE, HEAD ".entry k(.param .u64 p) { .reg .b32 %%r<%d>; .reg .b64 %%d; ld.param.u64 %%d, [p]; ld.global.u32 %%r0, [%%d];\n", LONG + 1);
    for (int i = 0; i < LONG; i++)
        at += (size_t)snprintf(text + at, SIZE - at, "add.u32 %%r%d, %%r%d, %d;\n", i + 1, i, i % 7);
    snprintf(text + at, SIZE - at, "st.global.u32 [%%d], %%r%d; ret; }", LONG);
    struct ptx_program *p = make(text);
    tap_ok(p && p->routines[0].units <= 7 * 2 + 4 + 4, "4001 registers of which one is alive at a time need %u units", p ? p->routines[0].units : 0);
    ptx_program_free(p);
    free(text);
}

/* Modifiers may be in a different order than in the documentation. */
static void test_order(void)
{
    static const char *const orders[] = {"add.rn.ftz.f32 %f1, %f2, %f3;", "add.ftz.rn.f32 %f1, %f2, %f3;", "add.f32.rn.ftz %f1, %f2, %f3;",
                                         "ld.u32.global.volatile %r1, [%d1];", "setp.f32.lt %p1, %f1, %f2;", "cvt.rzi.s32.f32 %r1, %f1;"};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct ptx_program *p = make_one(orders[i]);
        tap_ok(p != NULL, "%s", orders[i]);
        ptx_program_free(p);
    }
    tap_ok(!make_one("cvt.rzi.f32.s32 %f1, %r1;"), "types are taken in their order");
}

/* The rows of an opcode are adjacent, and every list that a row names exists. */
static void test_table(void)
{
    unsigned wrong = 0, rows = 0;
    for (unsigned i = 0; i < ptx_row_count; i++) {
        const char *at = ptx_rows[i].modifiers;
        rows++;
        for (; *at; at++)
            wrong += *at == '@' && !strchr("ibrclkhpstn", at[1]);
        wrong += strspn(ptx_rows[i].operands, "dabDAUupqPi*") != strlen(ptx_rows[i].operands);
        wrong += !ptx_rows[i].handler;
    }
    tap_ok(rows > 180 && !wrong, "%u rows of instructions", rows);
    tap_text(ptx_opcode_text(ptx_rows[0].opcode), "add", "opcodes have names");
    tap_ok(strcmp(ptx_step_name(STEP_FFMA_F32), "FFMA_F32") == 0, "steps have names");
}

int main(void)
{
    test_refused();
    test_modules();
    test_kernel();
    test_slots();
    test_order();
    test_table();
    return tap_done();
}
