/* SPDX-License-Identifier: Apache-2.0 */
/* Every reason for refusing a text, with position and message; and rarer valid forms. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "ptx_parse.h"

#include <string.h>

#include "heap.h"
#include "inject_rig.h"
#include "tap.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define BODY(text) HEAD ".entry k(.param .u64 a) {\n.reg .b32 %r<4>;\n.reg .pred %p;\n" text "\nret;\n}"

static struct ptx_context context;
static struct ptx_error error;

static const struct ptx_module *parse(const char *text)
{
    ptx_context_open(&context, &error);
    return ptx_parse(&context, (struct ptx_text){text, (uint32_t)strlen(text)});
}

/* ---- refusals ---- */

static const struct {
    const char *text, *message;
    uint32_t line, column;
} refused[] = {
    {".version 80.", "expected a version such as 8.0, found '80.'", 1, 10},
    {".version x", "expected a version such as 8.0, found 'x'", 1, 10},
    {".version 8.10\n.target sm_90", "expected a version such as 8.0, found '8.10'", 1, 10},
    {".version 99999.0\n.target sm_90", "expected a version such as 8.0, found '99999.0'", 1, 10},
    {".version 8.0", "expected .target, found the end of the text", 1, 13},
    {".version 8e0\n.target sm_90", "expected a version such as 8.0, found '8e0'", 1, 10},
    {"/", "expected .version at the beginning of the PTX, found '/'", 1, 1},
    {"#", "expected .version at the beginning of the PTX, found the end of the text", 1, 2},
    {"\"", "this string does not end on its line", 1, 1},
    {".", "the character 0x2e is not part of PTX", 1, 1},
    {"\001", "the character 0x01 is not part of PTX", 1, 1},
    {".version 8.0 // c", "expected .target, found the end of the text", 1, 18},
    {".version 8.0\n# 1 \"x\"\n.x", "expected .target, found '.x'", 3, 1},
    {".version 8.0\n/* a * b", "this comment does not end", 2, 1},
    {".version 8.0\n.target sm_90 \"a\\\"b", "this string does not end on its line", 2, 15},
    {".version 8.0 \"a\\", "this string does not end on its line", 1, 14},
    {HEAD ".global .u32 a = 0x;", "the number 0x has no digits", 4, 18},
    {HEAD ".global .u32 a = 0b2;", "the number 0b2 has no digits", 4, 18},
    {HEAD ".global .u32 a = 12ab;", "the number 12 is followed by letters or digits that are not part of it", 4, 18},
    {HEAD ".global .u32 a = 1_;", "the number 1 is followed by letters or digits that are not part of it", 4, 18},
    {HEAD ".global .f32 a = 1e;", "the number 1e has no digits in its exponent", 4, 18},
    {HEAD ".global .f32 a = 1.5e+;", "the number 1 has no digits in its exponent", 4, 18},
    {HEAD ".global .f64 a = 0d123;", "the number 0d123 does not have the 16 digits of a double", 4, 18},
    {HEAD ".global .f64 a = 1.0000000000000000000000000000000000000000000000000000000000000000000000;",
     "the number 1 is too long", 4, 18},
    {HEAD ".global .u32 a = 08;", "the number 0 is followed by letters or digits that are not part of it", 4, 18},
    {HEAD ".global .u32 a = 99999999999999999999;", "the number 99999999999999999999 does not fit in 64 bits", 4, 18},
    {HEAD ".global .f32 a = 0fZ;", "the number 0 is followed by letters or digits that are not part of it", 4, 18},
    {HEAD ".global .f32 a = 0f;", "the number 0 is followed by letters or digits that are not part of it", 4, 18},
    {HEAD ".global .u32 b;\n.global .u32 a = -b;", "'-' needs a number", 5, 18},
    {HEAD ".func f();\n.global .u64 a = ~f;", "'~' needs a number", 5, 18},
    {HEAD ".global .f32 a = !1.5;", "'!' needs a number", 4, 18},
    {HEAD ".global .f32 a = ~1.5;", "'~' needs a number", 4, 18},
    {HEAD ".global .u32 b;\n.global .u64 a = b*2;", "'*' needs integers", 5, 19},
    {HEAD ".global .u32 b;\n.global .u64 a = b+b;", "'+' needs integers", 5, 19},
    {HEAD ".global .f32 a = 1.5+1.5;", "'+' needs integers", 4, 21},
    {HEAD ".global .u64 a = 1+1.5;", "'+' needs integers", 4, 19},
    {HEAD ".func f();\n.global .u64 a = f*2;", "'*' needs integers", 5, 19},
    {HEAD ".global .u32 b;\n.global .u64 a = 2-b;", "'-' needs integers", 5, 19},
    {HEAD ".func f();\n.global .u64 a = 1+f;", "'+' needs integers", 5, 19},
    {HEAD ".global .u32 b;\n.global .u64 a = b?1:2;", "'?' needs a number before it", 5, 19},
    {HEAD ".global .u64 a = 1?1;", "expected ':', found ';'", 4, 21},
    {HEAD ".global .u64 a = (1;", "expected ')', found ';'", 4, 20},
    {HEAD ".global .u64 a = (.s32)1;", "expected a constant, found '.s32'", 4, 19},
    {HEAD ".global .u64 a = ;", "expected a constant, found ';'", 4, 18},
    {HEAD ".global .u64 a = 1 % 0;", "division of a constant by zero", 4, 20},
    {HEAD ".global .u64 a = generic 1;", "expected '(', found '1'", 4, 26},
    {HEAD ".global .u64 a = \"x\";", "expected a constant, found 'x'", 4, 18},
    {HEAD ".global .u32 b[b];", "b is not declared before this position as a variable or function", 4, 16},
    {HEAD ".global .u32 b;\n.global .u32 c[b];", "expected an integer", 5, 16},
    {HEAD ".func f();\n.global .u32 c[f];", "expected an integer", 5, 16},
    {HEAD ".global .u32 c[1.5];", "expected an integer", 4, 16},
    {HEAD ".entry k() { x: .callprototype _; }\n.global .u64 a = x;",
     "x is not declared before this position as a variable or function", 5, 18},
    {HEAD ".file x", "expected the number of a file, found 'x'", 4, 7},
    {HEAD ".file 1 x", "expected the name of a file, found 'x'", 4, 9},
    {HEAD ".file 65536 \"a\"", "a file's number must be at most 65535", 4, 7},
    {HEAD ".file 3000000000 \"a\"", "expected the number of a file, found '3000000000'", 4, 7},
    {HEAD ".loc x", "expected the number of a file, found 'x'", 4, 6},
    {HEAD ".loc 1 x", "expected a line, found 'x'", 4, 8},
    {HEAD ".loc 1 1 1, x", "expected function_name or inlined_at, found 'x'", 4, 13},
    {HEAD ".loc 1 1 1, function_name 5", "expected a label, found '5'", 4, 27},
    {HEAD ".loc 1 1 1, function_name a + x", "expected an offset, found 'x'", 4, 31},
    {HEAD ".loc 1 1 1, inlined_at 1 x", "expected file, line and column, found 'x'", 4, 26},
    {HEAD ".section", "expected '{', found the end of the text", 4, 9},
    {HEAD ".section .x", "expected '{', found the end of the text", 4, 12},
    {HEAD ".section .x {", "expected '}', found the end of the text", 4, 14},
    {HEAD ".pragma 5;", "expected a string, found '5'", 4, 9},
    {HEAD ".pragma \"a\" 5;", "expected ';', found '5'", 4, 13},
    {HEAD ".pragma \"a\", 5;", "expected a string, found '5'", 4, 14},
    {HEAD ".pragma \"a\"", "expected ';', found the end of the text", 4, 12},
    {HEAD ".entry", "expected a kernel's name, found the end of the text", 4, 7},
    {HEAD ".func", "expected a function's name, found the end of the text", 4, 6},
    {HEAD ".entry 5", "expected a kernel's name, found '5'", 4, 8},
    {HEAD ".entry k() .maxntid 0 { ret; }", "expected up to three numbers, each at least 1", 4, 21},
    {HEAD ".entry k() .maxntid 1, 2, 3, 4 { ret; }", "expected up to three numbers, each at least 1", 4, 30},
    {HEAD ".entry k() .maxntid 4294967296 { ret; }", "expected up to three numbers, each at least 1", 4, 21},
    {HEAD ".entry k() .maxntid 1.5 { ret; }", "expected an integer", 4, 21},
    {HEAD ".entry k() .pragma 5; { ret; }", "expected a string, found '5'", 4, 20},
    {HEAD ".entry k() .maybe { ret; }", "expected '{', found '.maybe'", 4, 12},
    {HEAD ".entry k() x", "expected '{', found 'x'", 4, 12},
    {HEAD ".func .attribute x f();", "expected '(', found 'x'", 4, 18},
    {HEAD ".func .attribute(.x f();", "expected ')', found the end of the text", 4, 25},
    {HEAD ".func f(.param .b32 a);\n.func f(.param .b32 a, .param .b32 b);",
     "the parameters differ from those of the function's declaration", 5, 7},
    {HEAD ".func f(.param .b32 a, .param .b32 b);\n.func f(.param .b32 a) { ret; }",
     "the parameters differ from those of the function's declaration", 5, 7},
    {HEAD ".func (.param .b32 r) f();\n.func (.param .b64 r) f() { ret; }",
     "the parameters differ from those of the function's declaration", 5, 23},
    {HEAD ".func f() { ret; }\n.func f(.param .b32 a);",
     "the parameters differ from those of the function's declaration", 5, 7},
    {HEAD ".func f() { ret; }\n.entry f() { ret; }", "f was declared before, at line 4", 5, 8},
    {HEAD ".entry f() { ret; }\n.func f() { ret; }", "f was declared before, at line 4", 5, 7},
    {HEAD ".global .u32 f;\n.func f() { ret; }", "f was declared before, at line 4", 5, 7},
    {HEAD ".entry k(5) { ret; }", "expected .param, found '5'", 4, 10},
    {HEAD ".func k(5) { ret; }", "expected .param or .reg, found '5'", 4, 9},
    {HEAD ".entry k(.param .b32) { ret; }", "expected a name, found ')'", 4, 21},
    {HEAD ".entry k(.param a) { ret; }", "expected a type, found 'a'", 4, 17},
    {HEAD ".entry k(.param .b32 a .param) { ret; }", "expected ')', found '.param'", 4, 24},
    {HEAD ".entry k(.param .b32 a, .param .b32 a) { ret; }", "a was declared before, at line 4", 4, 37},
    {HEAD ".entry k(.param .b8 a[]) { ret; }", "the parameter a needs a size of at most 32764 bytes", 4, 21},
    {HEAD ".entry k(.param .b8 a[32765]) { ret; }", "the parameter a needs a size of at most 32764 bytes", 4, 21},
    {HEAD ".entry k(.param .u64 .ptr .align 3 a) { ret; }", "an alignment must be a power of two up to 1048576", 4, 34},
    {HEAD ".entry k(.param .pred a) { ret; }", "a variable cannot be a predicate", 4, 23},
    {HEAD ".alias 5, b;", "expected a function's name, found '5'", 4, 8},
    {HEAD ".alias a b;", "expected ',', found 'b'", 4, 10},
    {HEAD ".alias a, 5;", "expected a function's name, found '5'", 4, 11},
    {HEAD ".alias a, b", "expected ';', found the end of the text", 4, 12},
    {HEAD ".func f();\n.alias f, g;", "an alias must be a declared function, and its target a function that is neither a "
                                      "kernel nor an alias", 5, 8},
    {HEAD ".func f();\n.global .u32 g;\n.alias f, g;",
     "an alias must be a declared function, and its target a function that is neither a kernel nor an alias", 6, 8},
    {HEAD ".global .u32 f;\n.func g();\n.alias f, g;",
     "an alias must be a declared function, and its target a function that is neither a kernel nor an alias", 6, 8},
    {HEAD ".func f();\n.entry g() { ret; }\n.alias f, g;",
     "an alias must be a declared function, and its target a function that is neither a kernel nor an alias", 6, 8},
    {HEAD ".func f();\n.alias f, f;", "an alias must be a declared function, and its target a function that is neither a "
                                      "kernel nor an alias", 5, 8},
    {HEAD ".func f(); .func g() { ret; } .func h();\n.alias g, h; .alias f, g;",
     "an alias must be a declared function, and its target a function that is neither a kernel nor an alias", 5, 21},
    {HEAD ".func f(); .func h() { ret; }\n.alias f, h; .func g();\n.alias g, f;",
     "an alias must be a declared function, and its target a function that is neither a kernel nor an alias", 6, 8},
    {HEAD ".global .attribute x .u32 a;", "expected '(', found 'x'", 4, 20},
    {HEAD ".global .attribute(.managed", "expected ')', found the end of the text", 4, 28},
    {HEAD ".global .align 0 .u32 a;", "an alignment must be a power of two up to 1048576", 4, 16},
    {HEAD ".global .align 2097152 .u32 a;", "an alignment must be a power of two up to 1048576", 4, 16},
    {HEAD ".global .u8 a = a;", "a is not declared before this position as a variable or function", 4, 17},
    {HEAD ".global .u8 b;\n.global .u8 a = b;", "an address does not fit in .u8", 5, 17},
    {HEAD ".global .u32 a[2] = {1, 2", "expected '}', found the end of the text", 4, 26},
    {HEAD ".global .u32 a[2] = {1 2};", "expected '}', found '2'", 4, 24},
    {HEAD ".global .u16 b;\n.global .u16 a[2] = {b};", "an address does not fit in .u16", 5, 22},
    {HEAD ".global .u64 a = 0xff(b);", "b is not declared before this position as a variable or function", 4, 23},
    {HEAD ".global .u32 a[4] = {{1, 2}, {3, 4}, {5, 6}};", "a has more initial values than elements", 4, 39},
    {HEAD ".global .u32 a[4", "expected ']', found the end of the text", 4, 17},
    {HEAD ".global .u32 a[4][];", "expected a constant, found ']'", 4, 19},
    {HEAD ".shared .u32 a[];", "a has no size: write it in the brackets", 4, 14},
    {HEAD ".global .u32 a[4611686018427387904][4];", "the variable a is larger than 2^40 bytes", 4, 16},
    {HEAD ".global .u32 a;\n.const .u32 a;", "a was declared before, at line 4", 5, 13},
    {HEAD ".extern .global .u32 a;\n.const .u32 a;", "a was declared before, at line 4", 5, 13},
    {HEAD ".global .u32 a;\n.func a() { ret; }", "a was declared before, at line 4", 5, 7},
    {HEAD ".global .u32 5;", "expected a name, found '5'", 4, 14},
    {HEAD ".global .u32 a b;", "expected ';', found 'b'", 4, 16},
    {HEAD ".global .v2 .u32 a = {1, 2, 3};", "a has more initial values than elements", 4, 29},
    {HEAD ".global .u64 a[2] = {1, 2, 3};", "a has more initial values than elements", 4, 28},
    {HEAD ".visible", "expected a kernel, a function, a variable or a directive, found the end of the text", 4, 9},
    {HEAD ".extern .maybe", "expected a kernel, a function, a variable or a directive, found '.maybe'", 4, 9},
    {HEAD ".const[1", "banks of constant memory belong to PTX before 2.2", 4, 7},
    {HEAD ".global .u64 a = 0xff00000000000000(b);", "b is not declared before this position as a variable or function", 4, 37},
    {HEAD ".target sm_9", "expected a target such as sm_90", 4, 9},
    {HEAD ".target sm_90ab", "expected a target such as sm_90", 4, 9},
    {HEAD ".target sm_100000", "expected a target such as sm_90", 4, 9},
    {HEAD ".target debug, x", "expected a target such as sm_90", 4, 16},
    {HEAD ".target x_90", "expected a target such as sm_90", 4, 9},
    {HEAD ".target 5", "expected a target such as sm_90, found '5'", 4, 9},
    {HEAD ".target sm_", "expected a target such as sm_90", 4, 9},
    {HEAD ".target smm90", "expected a target such as sm_90", 4, 9},
    {HEAD ".target s", "expected a target such as sm_90", 4, 9},
    {HEAD ".target sm0;", "expected a target such as sm_90", 4, 9},
    {HEAD ".address_size 65", "only PTX with 64-bit addresses is supported", 4, 15},
    {HEAD ".version", "expected a kernel, a function, a variable or a directive, found '.version'", 4, 1},
    {BODY("bra %r;"), "%r was declared before, at line 5", 7, 5},
    {BODY("{ bra %r; }"), "%r is not a label", 7, 7},
    {BODY("@5 ret;"), "a guard must be a .pred register", 7, 2},
    {BODY("@%q ret;"), "a guard must be a .pred register", 7, 2},
    {BODY("@!%r1 ret;"), "a guard must be a .pred register", 7, 3},
    {BODY("@%p 5;"), "expected an instruction, found '5'", 7, 5},
    {BODY("@%p { }"), "expected an instruction, found '{'", 7, 5},
    {BODY("@%p .reg"), "expected an instruction, found '.reg'", 7, 5},
    {BODY("x y;"), "x is not an instruction; if it is a label, it needs a colon", 7, 1},
    {BODY("ret"), "ret is not declared: no register, variable, function or label has this name", 8, 1},
    {BODY("mov.u32 %r1"), "expected ';', found 'ret'", 8, 1},
    {BODY("mov.u32 %r1,"), "ret is not declared: no register, variable, function or label has this name", 8, 1},
    {BODY("mov.u32 %r1, 5+a;"), "expected a number", 7, 14},
    {BODY("mov.u32 %r1, (a;"), "expected ')', found ';'", 7, 16},
    {BODY("mov.u32 %r1, -a;"), "'-' needs a number", 7, 14},
    {BODY("mov.u32 %r1, {%r1, %r2;"), "expected '}', found ';'", 7, 23},
    {BODY("mov.u32 %r1, [%r1;"), "expected ']', found ';'", 7, 18},
    {BODY("mov.u32 %r1, [%r1+;"), "expected a constant, found ';'", 7, 19},
    {BODY("mov.u32 %r1, [a+x];"), "x is not declared before this position as a variable or function", 7, 17},
    {BODY("mov.u32 %r1, [%r1, %r2;"), "expected ']', found ';'", 7, 23},
    {BODY("mov.u32 %r1, !!;"), "expected a constant, found ';'", 7, 16},
    {BODY("mov.u32 %r1, [%r1+1.5];"), "expected an integer", 7, 19},
    {BODY("mov.u32 %r1, [%r1+a];"), "expected an integer", 7, 19},
    {BODY(".reg .v2 .b32 v; mov.u32 %r1, v.z;"), "v has 2 parts", 7, 31},
    {BODY(".reg .v2 .b32 v; mov.u32 %r1, v.q;"), "expected ';', found '.q'", 7, 32},
    {BODY(".reg .v4 .f32 v<4>;"), "v are more than 1048576 registers, or vectors", 7, 15},
    {BODY(".reg .b32 x<y>;"), "expected how many registers, found 'y'", 7, 13},
    {BODY(".reg .b32 x<5;"), "expected '>', found ';'", 7, 14},
    {BODY(".reg .b32 5;"), "expected a name, found '5'", 7, 11},
    {BODY(".reg .align 8 .b32 x;"), "a register cannot be of .align", 7, 6},
    {BODY(".reg x;"), "expected a type, found 'x'", 7, 6},
    {BODY(".reg .b32 x y;"), "expected ';', found 'y'", 7, 13},
    {BODY(".reg .b32 x<1048577>;"), "x are more than 1048576 registers, or vectors", 7, 11},
    {BODY(".reg .b32 x<1048576>, y<1048576>;"), "y are more than 1048576 registers, or vectors", 7, 23},
    {BODY(".reg .b32 x, x;"), "x was declared before, at line 7", 7, 14},
    {BODY(".reg .samplerref s;"), "a register cannot be of .samplerref", 7, 6},
    {BODY("L: .reg .b32 L;"), "L was declared before, at line 7", 7, 14},
    {BODY(".reg .b32 L; L: ret;"), "L was declared before, at line 7", 7, 14},
    {BODY("bra z;"), "z is not declared: no register, variable, function or label has this name", 7, 5},
    {BODY("{ bra z; } { bra z; }"), "z is not declared: no register, variable, function or label has this name", 7, 7},
    {BODY("{ bra L; } .reg .b32 L;"), "L was declared before, at line 7", 7, 22},
    {BODY("{ bra L; .reg .b32 L; }"), "L was declared before, at line 7", 7, 20},
    {BODY("x: .branchtargets 5;"), "expected a label", 7, 19},
    {BODY("x: .branchtargets z"), "expected ';', found 'ret'", 8, 1},
    {BODY("x: .branchtargets"), "ret is not declared: no register, variable, function or label has this name", 8, 1},
    {BODY("x: .calltargets z;"), "expected a function", 7, 17},
    {BODY("x: .calltargets 5;"), "expected a function", 7, 17},
    {BODY("x: .callprototype;"), "expected '_', found ';'", 7, 18},
    {BODY("x: .callprototype (;"), "expected .param or .reg, found ';'", 7, 20},
    {BODY("x: .callprototype (.param .b32 _) 5;"), "expected '_', found '5'", 7, 35},
    {BODY("x: .callprototype _ (.param .b32 _;"), "expected ')', found ';'", 7, 35},
    {BODY("x: .callprototype _"), "expected ';', found 'ret'", 8, 1},
    {BODY("y: .callprototype _; y: .callprototype _;"), "y was declared before, at line 7", 7, 22},
    {BODY("x: .callprototype _ () .noreturn .abi_preserve 5 x"), "expected ';', found 'x'", 7, 50},
    {BODY(".local .u32 x = 1;"), "only variables of .global and .const have initial values", 7, 13},
    {BODY(".local .u32 x[];"), "x has no size: write it in the brackets", 7, 13},
    {BODY(".param .b32 x"), "expected ';', found 'ret'", 8, 1},
    {BODY(".shared"), "expected a type, found 'ret'", 8, 1},
    {BODY(".loc 1 1"), "expected a column, found 'ret'", 8, 1},
    {BODY(".pragma x;"), "expected a string, found 'x'", 7, 9},
    {BODY(".maybe"), "expected an instruction, a label, a declaration or '}', found '.maybe'", 7, 1},
    {BODY("5"), "expected an instruction, a label, a declaration or '}', found '5'", 7, 1},
    {BODY("\"x\""), "expected an instruction, a label, a declaration or '}', found 'x'", 7, 1},
    {BODY(")"), "expected an instruction, a label, a declaration or '}', found ')'", 7, 1},
    {BODY("mov.u32 %r1, %r4;"), "%r4 is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1, %r99999999999;"),
     "%r99999999999 is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1, %r00;"), "%r00 is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1, %;"), "expected a constant, found '%'", 7, 14},
    {BODY("mov.u32 %r1, %pm8;"), "%pm8 is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1, %envreg32;"),
     "%envreg32 is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1, %envreg123;"),
     "%envreg123 is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1, %pm12345;"), "%pm12345 is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1, %tid.q;"), "expected ';', found '.q'", 7, 18},
    {BODY("mov.u32 %r1, %tid.;"), "the character 0x2e is not part of PTX", 7, 18},
    {BODY("mov.u32 %r1, x::y;"), "expected ';', found ':'", 7, 15},
    {BODY("mov.u32 %r1, x:;"), "expected ';', found ':'", 7, 15},
    {BODY(".extern .shared .u32 z[];"), "expected an instruction, a label, a declaration or '}', found '.extern'", 7, 1},
    {BODY("mov.u32 %r1, $;"), "$ is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1, _x;"), "_x is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1, 5 ? a : 3;"), "expected a number", 7, 14},
};

static void test_refused(void)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        bool taken = parse(refused[i].text) != NULL;
        if (taken || strcmp(error.text, refused[i].message) != 0 || error.place.line != refused[i].line || error.place.column != refused[i].column) {
            tap_note("%s", refused[i].text);
            tap_note("line %u, column %u: %s", error.place.line, error.place.column, taken ? "it is taken" : error.text);
            wrong++;
        }
        ptx_context_close(&context);
    }
    tap_u64(wrong, 0, "%zu texts are refused with their place and words", sizeof refused / sizeof refused[0]);
}

/* A list that is too long is refused at the first element beyond the limit. */
static void test_long(void)
{
    static const struct {
        const char *begin, *piece, *message;
        unsigned most; /* the allowed number of elements */
    } rows[] = {{"add", ".u32", "expected operands: no instruction has more modifiers, found '.u32'", 12},
                {"mov.u32 %r1", ", %r1", "expected ';': no instruction has more operands, found '%r1'", 7}, {"", "{", "more than 62 blocks are open at this point", 61}};
    static char text[4000];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (unsigned more = 0; more < 2; more++) {
            size_t at = (size_t)snprintf(text, sizeof text, "%s%s", HEAD ".entry k() {\n.reg .b32 %r<4>;\n", rows[i].begin);
            for (unsigned k = 0; k < rows[i].most + 2 * more; k++)
                at += (size_t)snprintf(text + at, sizeof text - at, "%s", rows[i].piece);
            snprintf(text + at, sizeof text - at, ";\n");
            tap_ok(!parse(text) && (strcmp(error.text, rows[i].message) == 0) == (more == 1), "%s: %s", rows[i].piece, error.text);
            ptx_context_close(&context);
        }
}

/* Names of nested blocks in the same bucket: each is found, and each label belongs to its block. */
static void test_many_names(void)
{
    enum { NAMES = 600, SIZE = 100000 };
    char *text = heap.malloc(SIZE);
    size_t at = (size_t)snprintf(text, SIZE, HEAD ".entry k() {\n");
    for (int i = 0; i < NAMES; i++)
        at += (size_t)snprintf(text + at, SIZE - at, ".reg .b32 outer%d; { .reg .b32 a%d, b%d; bra z%d; mov.u32 a%d, "
                                                     "outer%d; mov.u32 b%d, a%d; }\n", i, i, i, i, i, i, i, i);
    for (int i = 0; i < NAMES; i++)
        at += (size_t)snprintf(text + at, SIZE - at, "z%d: mov.u32 outer%d, outer0;\n", i, i);
    at += (size_t)snprintf(text + at, SIZE - at, "{\n");
    for (int i = 0; i < NAMES; i++)
        at += (size_t)snprintf(text + at, SIZE - at, ".reg .b32 a%d; bra y%d;\n", i, i);
    at += (size_t)snprintf(text + at, SIZE - at, "}\n");
    for (int i = 0; i < NAMES; i++)
        at += (size_t)snprintf(text + at, SIZE - at, "y%d: ", i);
    snprintf(text + at, SIZE - at, "ret; }");
    const struct ptx_module *m = parse(text);
    unsigned wrong = 0;
    for (unsigned i = 0; m && i < NAMES; i++)
        wrong += m->functions->labels[m->functions->instructions[3 * i].operand[0].value] != 3 * NAMES + i ||
                 m->functions->labels[m->functions->instructions[4 * NAMES + i].operand[0].value] != 5 * NAMES;
    tap_ok(m && !wrong, "thousands of names%s%s", m ? "" : ": ", m ? "" : error.text);
    ptx_context_close(&context);
    heap.free(text);
}

/* ---- constants ---- */

static const struct {
    const char *expression;
    uint64_t value;
} constants[] = {
    {"-1 >> 63", UINT64_MAX}, {"(.u64)-1 >> 63", 1}, {"(.s64)0xFFFFFFFFFFFFFFFF >> 60", UINT64_MAX}, {"1 << 64",
     0}, {"1 << 63", UINT64_C(1) << 63},
    {"-1 >> 64", UINT64_MAX}, {"5 >> 64", 0}, {"5U >> 64", 0}, {"0xFFFFFFFFFFFFFFFF >> 64", 0}, {"5 >> 1", 2}, {"-1 << 64", 0},
    {"7U / 2", 3}, {"7U % 4", 3}, {"-7 / 2", (uint64_t)-3}, {"-7 % 2", UINT64_MAX}, {"-7 / -1", 7}, {"-7 % -1",
     0}, {"-8 / 2U", INT64_MAX - 3},
    {"5 < 6", 1}, {"6 < 5", 0}, {"5 <= 5", 1}, {"6 <= 5", 0}, {"5 > 4", 1}, {"5 > 5", 0}, {"5 >= 6", 0}, {"5 >= 5",
     1}, {"-1 < 1", 1}, {"-1 < 1U", 0},
    {"5 == 5", 1}, {"5 == 6", 0}, {"5 != 5", 0}, {"5 != 6", 1}, {"6 & 3", 2}, {"6 ^ 3", 5}, {"6 | 3", 7}, {"6 + 3 - 2 * 4",
     1}, {"6 && 3", 1},
    {"6 && 0", 0}, {"0 && 6", 0}, {"0 || 0", 0}, {"0 || 6", 1}, {"6 || 0", 1}, {"!5", 0}, {"!0", 1}, {"+5",
     5}, {"~5", ~UINT64_C(5)},
    {"1 ? 2 : 3", 2}, {"0 ? 2 : 3", 3}, {"WARP_SZ", 32}, {"0b101", 5}, {"0B11", 3}, {"017", 15}, {"0xFFU", 255}, {"0XaB",
     0xab}, {"(1 + 2) * 3", 9},
};

static void test_constants(void)
{
    static const struct {
        const char *type, *value;
        uint64_t bits;
    } floats[] = {{"f32", "-1.5", 0xbfc00000}, {"f32", "+1.5", 0x3fc00000}, {"f32", "-0f3F800000", 0xbf800000}, {"f64", "0f3FC00000", UINT64_C(0x3ff8000000000000)},
                  {"f32", "0d3FF8000000000000", 0x3fc00000}, {"f32", "15e-1", 0x3fc00000}, {"f32", "1.5e+1", 0x41700000}, {"f64", "1.E2", UINT64_C(0x4059000000000000)},
                  {"f32", "1.", 0x3f800000}, {"f32", "0", 0}, {"f64", "-0D3FF8000000000000", UINT64_C(0xbff8000000000000)}, {"f64", "0F3fc00000", UINT64_C(0x3ff8000000000000)}};
    char text[200];
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        snprintf(text, sizeof text, HEAD ".global .u64 a = %s;", constants[i].expression);
        const struct ptx_module *m = parse(text);
        tap_u64(m ? m->variables->initial->value : 0, constants[i].value, "%s%s", constants[i].expression, m ? "" : error.text);
        ptx_context_close(&context);
    }
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        snprintf(text, sizeof text, HEAD ".global .%s a = %s;", floats[i].type, floats[i].value);
        const struct ptx_module *m = parse(text);
        tap_u64(m ? m->variables->initial->value : 1, floats[i].bits, ".%s %s%s", floats[i].type, floats[i].value, m ? "" : error.text);
        ptx_context_close(&context);
    }
}

/* ---- accepted texts ---- */

static const char *const taken[] = {
    ".version 8.0\n# 1 \"x.cu\"\n.target sm_90, texmode_unified, map_f64_to_f32\n/* a */ .address_size 64;\n;",
    ".version 8.0\n.target sm_100f\n.target texmode_independent\n/**/", ".version 8.0\n.target sm_90\n// no end of line",
     ".version 8.0\n.target sm_90\n# no end",
    HEAD ".file 1 \"a\\\"b\"\n.loc 1 1 1, function_name x + 5, inlined_at 1 2 3\n.loc 1 1 1, function_name x\n.pragma "
         "\"a\", \"b\";",
    HEAD ".section .x { .b8 1, 2 .b64 y + 3 }", HEAD ".func .attribute(.unified(1, 2)) f();", HEAD ".weak .func f() { ret; }",
    HEAD ".entry k() .maxnreg 32 .maxnctapersm 1 .maxclusterrank 2 .reqnctapercluster 2, 1, 1 .explicitcluster "
         ".blocksareclusters .pragma \"x\"; { ret; }",
    HEAD ".func f() .noreturn .unique .abi_preserve 3 .abi_preserve_control 4;",
    HEAD ".global .attribute(.unified(1, 2)) .u32 a;\n.extern .global .u32 b;\n.extern .global .u32 b;\n.global .u32 b = "
         "5;\n.global .u32 c;\n.extern .global .u32 c;",
    HEAD ".extern .func f(.param .b32 a);\n.visible .func f(.param .b32 a) { ret; }\n.extern .func f(.param .b32 "
         "a);\n.func g(); .func h() { ret; }\n.alias g, h;",
    HEAD ".func g();\n.func g(.param .b32 a) { ret; }", HEAD ".global .align 1 .u32 a; .global .align 8 .v4 .u32 b; "
                                                             ".const .b8 c[4]; .global .u64 d = 0(a);\n.global .u64 e = "
                                                             "0x100000000000000(a);",
    HEAD ".entry k(.param .u64 .ptr a, .param .u64 .ptr .shared .align 4 b, .param .align 4 .b8 _[4]) { ret; }\n.entry l "
         "{ ret; }\n.entry m(.param .u32 a,) { ret; }",
    BODY("{ bra z; } { bra z; } { { bra z; } } z:"), BODY("{ bra L; { bra L; L: } L: }"), BODY("L: { { bra L; } }"), BODY("@!%p bra L; ; L:"),
    BODY(".reg .v2 .b32 v; .reg .v4 .b32 w; ld.v2.b32 v, [a]; mov.b32 v.x, w.w; mov.b32 v.g, w.a;"), BODY("mov.u32 %r1, "
        "%pm0; mov.u32 %r1, %pm7; mov.u32 %r1, %envreg1; mov.u32 %r1, %envreg31;"),
    BODY("vadd.s32.s32.s32 %r1, %r2.b0, %r3.h1; tex.1d.v4.s32.s32 {%r0, %r1, %r2, %r3}, [a, {%r1}];"), BODY("mov.u32 %r1, "
        "!5; add.u32 %r1, %r2, (1 + 2);"),
    BODY("x: .callprototype _ () .noreturn .abi_preserve 5 .abi_preserve_control 3; y: .callprototype (.param .b32 _) _; "
         "z: .branchtargets L, L; L:"),
    HEAD ".func f() { ret; }\n.entry k() { x: .calltargets f, f; ret; }", HEAD ".entry k() { .reg .b32 %r1<3>, %r<12>; "
                                                                               "mov.b32 %r12, %r11; mov.b32 %r0, %r10; ret; }",
    HEAD ".entry k() { .local .u32 x, y[4]; .param .align 8 .b8 z[8]; .shared .u32 s; ret; }", HEAD ".const .u32 a[0];", HEAD ".global .u32 a[] = {};\n.entry k() { ; ret; }",
};

static void test_taken(void)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        bool right = parse(taken[i]) != NULL;
        if (!right) {
            tap_note("%s", taken[i]);
            tap_note("line %u, column %u: %s", error.place.line, error.place.column, error.text);
        }
        wrong += !right;
        ptx_context_close(&context);
    }
    tap_u64(wrong, 0, "%zu texts are taken", sizeof taken / sizeof taken[0]);
}

static void test_meaning(void)
{
    const struct ptx_module *m = parse(HEAD ".global .attribute(.managed) .u32 a = 7;\n.extern .global .u32 b[];\n.visible .global .align 16 .u32 b[3] = {1, 2, 3};\n"
                                            ".entry k() .reqnctapercluster 2, 3 { { bra z; } { bra z; } ret; z: ret; }");
    const struct ptx_variable *a = m->variables, *b = a->next;
    tap_ok(a->managed && !b->managed, "managed memory is marked");
    tap_ok(b->size == 12 && b->align == 16 && !b->unsized && b->linking == PTX_LINK_VISIBLE && b->initial->next->value == 2 && !b->next,
           "a definition replaces the declaration before it");
    tap_ok(m->functions->cluster[0] == 2 && m->functions->cluster[1] == 3 && m->functions->cluster[2] == 1, "a cluster's blocks");
    const struct ptx_function *k = m->functions;
    tap_ok(k->labels[k->instructions[0].operand[0].value] == 3 && k->labels[k->instructions[1].operand[0].value] == 3, "two blocks jump to one label behind them");
    ptx_context_close(&context);
}

/* ---- memory ---- */

/* Each allocation for each text fails once, and the text is refused with that reason. */
static void test_memory(void)
{
    unsigned failures = 0, wrong = 0;
    const long live = inject_live;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        for (unsigned long nth = 1;; nth++) {
            inject_arm(nth);
            bool right = parse(taken[i]) != NULL;
            bool failed = inject_disarm() != NULL;
            failures += failed;
            wrong += right == failed || (failed && !error.no_memory);
            ptx_context_close(&context);
            wrong += inject_live != live;
            if (!failed)
                break;
        }
    tap_ok(failures >= 20 && !wrong, "each of %u refusals of memory is reported, and nothing stays", failures);
}

int main(void)
{
    test_refused();
    test_long();
    test_many_names();
    test_constants();
    test_taken();
    test_meaning();
    test_memory();
    return tap_done();
}
