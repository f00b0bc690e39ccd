/* SPDX-License-Identifier: Apache-2.0 */
/* The trees of valid texts, and the errors of invalid ones with their positions. */
#include "ptx_parse.h"

#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "tap.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static struct ptx_context context;
static struct ptx_error error;

static struct ptx_module *parse(const char *text)
{
    ptx_context_open(&context, &error);
    return ptx_parse(&context, (struct ptx_text){text, (uint32_t)strlen(text)});
}

static void end(void)
{
    ptx_context_close(&context);
}

static const struct ptx_variable *variable(const struct ptx_module *m, const char *name)
{
    const struct ptx_variable *v = m->variables;
    while (v && !ptx_text_is(v->name, name))
        v = v->next;
    return v;
}

static const struct ptx_function *function(const struct ptx_module *m, const char *name)
{
    const struct ptx_function *f = m->functions;
    while (f && !ptx_text_is(f->name, name))
        f = f->next;
    return f;
}

/* ---- valid texts ---- */

static void test_head(void)
{
    const struct ptx_module *m = parse("// a comment\n/* and\none */ .version 9.0\n.target sm_100a, debug\n.address_size 64\n");
    tap_ok(m && m->version == 90 && m->capability == 100 && m->specific && m->address_bits == 64, "version, target, size "
        "of addresses");
    tap_ok(m && !m->functions && !m->variables, "and nothing else");
    end();
}

static void test_variables(void)
{
    const struct ptx_module *m = parse(HEAD ".global .align 8 .b8 a[16] = {1, 2, 0xff};\n"
                   ".visible .const .v4 .f32 c[2][3];\n"
                   ".extern .shared .align 16 .b8 dynamic[];\n"
                   ".global .u64 p = generic(a)+4;\n"
                   ".global .f32 f = 0f40490FDB, g = 1.5;\n"
                   ".global .u8 q[8] = {0xff(a), 0xff00(a), 0xff0000(a)};\n"
                   ".global .b32 computed = (3 + 4 * 5 << 2) / (7 % 4) - ~0;\n"
                   ".global .s32 d[] = {-1, 2 > 1 ? 7 : 8};\n");
    if (!m)
        tap_bail("line %u: %s", error.place.line, error.text);
    const struct ptx_variable *a = variable(m, "a"), *c = variable(m, "c"), *p = variable(m, "p");
    tap_ok(a->size == 16 && a->align == 8 && a->initial->value == 1 && a->initial->next->next->value == 0xff && a->is_array,
           "an array with values");
    tap_ok(c->size == 96 && c->align == 16 && c->vector == 4 && c->linking == PTX_LINK_VISIBLE && c->space == PTX_SPACE_CONST,
           "vectors in two dimensions, aligned as a whole");
    tap_ok(variable(m, "dynamic")->unsized && !variable(m, "dynamic")->size, "an extern without a size");
    tap_ok(p->initial->variable == a && p->initial->value == 4 && p->initial->generic, "the address of a variable, "
        "generic, and 4");
    tap_ok(variable(m, "f")->initial->value == 0x40490fdb && variable(m, "g")->initial->value == 0x3fc00000, "floats by bits and by digits");
    tap_ok(variable(m, "q")->initial->next->shift == 8 && variable(m, "q")->initial->next->next->shift == 16,
           "bytes of an address by masks");
    tap_u64(variable(m, "computed")->initial->value, ((3 + 4 * 5) << 2) / (7 % 4) + 1, "an expression, by what binds more");
    tap_ok(variable(m, "d")->size == 8 && (int32_t)variable(m, "d")->initial->value == -1 && variable(m, "d")->initial->next->value == 7,
           "an array that is as long as its values");
    end();
}

static void test_function(void)
{
    const struct ptx_module *m = parse(
        HEAD ".file 1 \"dir/x.cu\", 12, 34\n.func (.param .b32 r) f(.param .b64 a, .param .align 8 .b8 b[16]);\n"
             ".visible .entry k(.param .u64 .ptr .global .align 8 out, .param .u32 n) .maxntid 128, 2\n.minnctapersm 2\n{\n"
             "  .reg .pred %p<3>;\n  .reg .b32 %r<20>, x;\n  .reg .v2 .f32 v;\n  .shared .align 4 .b8 s[64];\n"
             "  .loc 1 7 3, function_name $L__info, inlined_at 1 20 5\n"
             "L0: @!%p1 add.sat.s32 %r11, %tid.y, WARP_SZ;\n"
             "  { .reg .b32 x; mov.u32 x, %r1; bra L0; bra L1; L1: }\n"
             "  mov.f32 v.x, v.y; bra L1;\n  ld.v2.f32 {v.x, _}, [s+8];\nL1: ret;\n}\n");
    if (!m)
        tap_bail("line %u: %s", error.place.line, error.text);
    const struct ptx_function *k = function(m, "k");
    tap_ok(k->is_entry && k->param_count == 2 && k->params->size == 8 && k->params->next->size == 4 && k->max_threads[0] == 128 &&
               k->max_threads[1] == 2 && k->max_threads[2] == 1,
           "a kernel with parameters and directives");
    tap_ok(!function(m, "f")->has_body && function(m, "f")->result_count == 1 && function(m, "f")->params->next->size == 16,
           "a function that is declared");
    const struct ptx_instruction *add = &k->instructions[0], *mov = &k->instructions[1];
    tap_ok(add->guarded && add->guard_negated && add->guard == 1 && add->opcode == PTX_OPCODE_add && add->modifiers == 2 &&
               add->modifier[0] == PTX_MOD_SAT && add->modifier[1] == PTX_S32,
           "a guarded instruction with its modifiers");
    tap_ok(add->operand[0].value == 3 + 11 && add->operand[1].kind == PTX_O_SPECIAL && add->operand[1].value == PTX_SR_TID &&
               add->operand[1].part == 1 && add->operand[2].value == 32,
           "its operands: a numbered register, a part of a special one, a constant");
    tap_ok(m->sources[add->source].line == 7 && m->sources[add->source].file == 1 && ptx_text_is(m->files[1], "dir/x.cu"),
           "the line it came from");
    tap_ok(mov->operand[0].value == k->register_count - 1, "a name of an inner block hides the outer one");
    tap_ok(k->labels[k->instructions[2].operand[0].value] == 0, "a label before, of a block around");
    tap_ok(k->labels[k->instructions[3].operand[0].value] == 4, "a label behind, of the block itself");
    tap_ok(k->labels[k->instructions[5].operand[0].value] == 7, "the same name outside is another label");
    tap_ok(k->instructions[4].operand[0].value + 1 == k->instructions[4].operand[1].value, "parts of a vector are registers");
    tap_ok(k->instructions[6].operand[0].list[1].kind == PTX_O_SINK && k->instructions[6].operand[1].offset == 8, "_ and an offset");
    end();
}

/* Sections of debug data are skipped. */
static void test_sections(void)
{
    const struct ptx_module *m = parse(HEAD ".pragma \"nounroll\";\n.section .debug_str { $L__info0: .b8 118, 0 .b32 .debug_abbrev .b64 $L__end-$L__begin }\n"
                                            ".entry k() { .pragma \"nounroll\"; $L__begin: ret; }\n.section .debug_loc { }\n");
    tap_ok(m && m->function_count == 1, "debug data and pragmas");
    end();
}

/* A name that ends in digits may belong to %r<..> or to %r1<..>, and a leading zero makes it a different name. */
static void test_names(void)
{
    const struct ptx_module *m = parse(HEAD ".entry k() { .reg .b32 %r<12>; .reg .b64 %r1<4>; mov.b64 %r13, %r12; ret; }");
    tap_ok(m && function(m, "k")->instructions[0].operand[0].value == 12 + 3 && function(m, "k")->instructions[0].operand[1].value == 12 + 2,
           "what %%r<12> does not have is of %%r1<4>");
    end();
    m = parse(HEAD ".entry k() { .reg .b32 %r<12>; mov.b32 %r01, %r0; ret; }");
    tap_ok(!m && strcmp(error.text, "%r01 is not declared: no register, variable, function or label has this name") == 0,
           "%%r01 is not %%r1");
    end();
}

/* ---- invalid texts ---- */

#define BODY(text) HEAD ".entry k(.param .u64 a) {\n.reg .b32 %r<4>;\n.reg .pred %p;\n" text "\nret;\n}"

static const struct {
    const char *text, *message;
    uint32_t line, column;
} wrong[] = {
    {"", "expected .version at the beginning of the PTX, found the end of the text", 1, 1},
    {".version 8\n.target sm_90", "expected a version such as 8.0, found '8'", 1, 10},
    {".version 8.0\n.entry", "expected .target, found '.entry'", 2, 1},
    {".version 8.0\n.target sm_x", "expected a target such as sm_90", 2, 9},
    {".version 8.0\n.target sm_90\n.address_size 32", "only PTX with 64-bit addresses is supported", 3, 15},
    {HEAD "/* open", "this comment does not end", 4, 1},
    {HEAD ".file 1 \"open\n", "this string does not end on its line", 4, 9},
    {HEAD ".global .u32 a = 0x1FFFFFFFFFFFFFFFF;", "the number 0x1FFFFFFFFFFFFFFFF does not fit in 64 bits", 4, 18},
    {HEAD ".global .u32 a = 'q';", "the character 0x27 is not part of PTX", 4, 18},
    {HEAD ".global .f32 a = 0f123;", "the number 0f123 does not have the 8 digits of a float", 4, 18},
    {HEAD ".global .u32 a = 1.5;", "a floating-point number cannot be a value of .u32", 4, 18},
    {HEAD ".global .f32 a = 3;", "a value of .f32 must be written as 0f..., 0d... or with a decimal point", 4, 18},
    {HEAD ".global .u32 a = 1 / 0;", "division of a constant by zero", 4, 20},
    {HEAD ".global .u32 a = b;", "b is not declared before this position as a variable or function", 4, 18},
    {HEAD ".global .u32 a[2] = {1, 2, 3};", "a has more initial values than elements", 4, 28},
    {HEAD ".global .u32 a[];", "a has no size: write it in the brackets", 4, 14},
    {HEAD ".global .u32 a[1099511627777];", "the variable a is larger than 2^40 bytes", 4, 16},
    {HEAD ".global .align 3 .u32 a;", "an alignment must be a power of two up to 1048576", 4, 16},
    {HEAD ".global .u32 a;\n.global .u32 a;", "a was declared before, at line 4", 5, 14},
    {HEAD ".shared .u32 a = 1;", "only variables of .global and .const have initial values", 4, 14},
    {HEAD ".global .pred a;", "a variable cannot be a predicate", 4, 15},
    {HEAD ".global a;", "expected a type, found 'a'", 4, 9},
    {HEAD ".entry k(.reg .u32 a) { ret; }", "parameters in registers belong to PTX before 2.0; declare a with .param", 4, 20},
    {HEAD ".func f(.param .b32 a);\n.func f(.param .b64 a);", "the parameters differ from those of the function's declaration", 5, 7},
    {HEAD ".func f() { ret; }\n.func f() { ret; }", "f was defined before", 5, 7},
    {HEAD ".entry k() { ret; ", "expected an instruction, a label, a declaration or '}', found the end of the text", 4, 19},
    {BODY("mov.u32 %r1, %r9;"), "%r9 is not declared: no register, variable, function or label has this name", 7, 14},
    {BODY("mov.u32 %r1 %r2;"), "expected ';', found '%r2'", 7, 13},
    {BODY("move.u32 %r1, %r2;"), "move is not an instruction; if it is a label, it needs a colon", 7, 1},
    {BODY("@%r1 mov.u32 %r1, %r2;"), "a guard must be a .pred register", 7, 2},
    {BODY("L: mov.u32 %r1, %r2;\nL: ret;"), "L was declared before, at line 7", 8, 1},
    {BODY(".reg .b32 %p;"), "%p was declared before, at line 6", 7, 11},
    {BODY(".reg .texref t;"), "a register cannot be of .texref", 7, 6},
    {BODY(".reg .b32 q<9999999>;"), "q are more than 1048576 registers, or vectors", 7, 11},
    {BODY("mov.u32 %r1, [%r2-4];"), "expected ']', found '-'", 7, 18},
    {BODY("x: .branchtargets z, %r1;"), "expected a label", 7, 22},
    {BODY(".loc 1 2;"), "expected a column, found ';'", 7, 9},
    {HEAD ".const[2] .u32 a;", "banks of constant memory belong to PTX before 2.2", 4, 7},
    {HEAD ".alias a, b;", "an alias must be a declared function, and its target a function that is neither a kernel nor an "
                          "alias", 4, 8},
    {HEAD ".maybe", "expected a kernel, a function, a variable or a directive, found '.maybe'", 4, 1},
};

static void test_errors(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct ptx_module *m = parse(wrong[i].text);
        tap_ok(!m && strcmp(error.text, wrong[i].message) == 0 && error.place.line == wrong[i].line && error.place.column == wrong[i].column,
               "%s", wrong[i].message);
        if (!m && (strcmp(error.text, wrong[i].message) != 0 || error.place.column != wrong[i].column || error.place.line != wrong[i].line))
            tap_note("line %u, column %u: %s", error.place.line, error.place.column, error.text);
        end();
    }
}

/* Deeply nested brackets and operators do not overflow the stack. */
static void test_deep(void)
{
    static const char *const begin[] = {".global .u32 a = ", ".global .u32 a[9] = ", ".entry k() { mov.u32 ", ".global .u32 a = "};
    static const char openers[] = {'(', '{', '{', '-'};
    for (int i = 0; i < 4; i++) {
        enum { DEEP = 300000 };
        char *text = heap.malloc(DEEP + 200);
        size_t length = (size_t)snprintf(text, 200, "%s%s", HEAD, begin[i]);
        memset(text + length, openers[i], DEEP);
        text[length + DEEP] = '\0';
        tap_ok(!parse(text) && strstr(error.text, "more than 100 brackets or operators"), "300000 of %c", openers[i]);
        end();
        heap.free(text);
    }
}

/* A text ends at its size or at a NUL. */
static void test_ends(void)
{
    ptx_context_open(&context, &error);
    tap_ok(ptx_parse(&context, (struct ptx_text){HEAD "\0rest", sizeof HEAD + 4}) != NULL, "a zero ends the text");
    end();
    size_t whole = strlen(BODY("mov.u32 %r1, %r2;"));
    unsigned accepted = 0;
    for (size_t length = 0; length <= whole; length++) {
        char *exact = heap.malloc(length + 1);
        memcpy(exact, BODY("mov.u32 %r1, %r2;"), length);
        ptx_context_open(&context, &error);
        accepted += ptx_parse(&context, (struct ptx_text){exact, (uint32_t)length}) != NULL;
        end();
        heap.free(exact);
    }
    tap_ok(accepted >= 3 && accepted < 50, "a text that is cut anywhere is refused, or is one without its kernel");
}

/* ---- linked modules ---- */

#define SECOND ".version 8.1\n.target sm_80\n.address_size 64\n"
#define FUNC(head, value) head " .func (.param .b32 r) f(.param .b32 p) { .reg .b32 %r<2>; st.param.b32 [r], " value "; ret; }\n"
#define DECLARED ".extern .func (.param .b32 r) f(.param .b32 p);\n"

static void test_linked(void)
{
    const struct ptx_module *m = parse(PTX_LINKED HEAD ".file 1 \"a.cu\"\n" DECLARED ".extern .global .u32 n;\n.global .u8 own[4];\n"
                   ".visible .entry k() { .reg .u32 %r<2>; .loc 1 7 0\n ld.global.u32 %r1, [n]; ret; }\n" SECOND
                   ".file 1 \"b.cu\"\n" FUNC(".visible", "7") ".visible .global .u32 n = 5;\n.global .u8 own[9];\n"
                   ".entry k2() { .loc 1 9 0\n ret; }\n" SECOND DECLARED ".entry k2() { ret; }\n");
    if (!m) {
        tap_ok(false, "linked modules: line %u, column %u: %s", error.place.line, error.place.column, error.text);
        end();
        return;
    }
    tap_ok(m->version == 81 && m->capability == 90, "the newest version, and the newest device");
    tap_ok(function(m, "f")->has_body && function(m, "f")->linking == PTX_LINK_VISIBLE && function(m, "f")->params->of == function(m, "f"),
           "a function that another module defines, and one after it declares");
    tap_ok(variable(m, "n")->initial && variable(m, "n")->linking == PTX_LINK_VISIBLE, "a variable that another module defines");
    tap_ok(variable(m, "own")->size == 4 && m->variable_count == 3, "a name without .visible is each module's own");
    tap_ok(m->file_count == 4 && m->sources[1].file == 1 && m->sources[2].file == 3 && ptx_text_is(m->files[3], "b.cu"),
           "files have the numbers of their modules");
    end();
}

static void test_registers(void)
{
    const struct ptx_module *m = parse(PTX_LINKED HEAD ".pragma \"nounroll\", \"a pragma of another kind\";\n.pragma \"" PTX_LINKED_REGISTERS "38\";\n");
    tap_ok(m && m->max_registers == 38, "how many registers a thread of linked modules may have");
    end();
    m = parse(PTX_LINKED HEAD ".pragma \"" PTX_LINKED_REGISTERS "1234567\";\n");
    tap_ok(m && m->max_registers == 12345, "further digits are ignored");
    end();
    m = parse(HEAD ".pragma \"" PTX_LINKED_REGISTERS "38\";\n.entry k() .maxnreg 40 { ret; }\n");
    tap_ok(m && !m->max_registers && m->functions->max_registers == 40, "another text says it of a kernel");
    end();
}

static const char *value_of(const struct ptx_module *m, const char *name)
{
    const struct ptx_function *f = m ? function(m, name) : NULL;
    return f && f->instruction_count ? f->instructions[0].operand[1].value == 1 ? "first" : "second" : "none";
}

static void test_weak(void)
{
    tap_text(value_of(parse(PTX_LINKED HEAD FUNC(".weak", "1") SECOND FUNC(".weak", "2")), "f"), "first", "the first of "
        "weak functions stays");
    end();
    tap_text(value_of(parse(PTX_LINKED HEAD FUNC(".visible", "1") SECOND FUNC(".weak", "2")), "f"), "first", "one that is not weak stays");
    end();
    tap_text(value_of(parse(PTX_LINKED HEAD FUNC(".weak", "1") SECOND FUNC(".visible", "2")), "f"), "second", "and takes a weak one's place");
    end();
    tap_ok(!parse(PTX_LINKED HEAD FUNC(".visible", "1") SECOND FUNC(".visible", "2")) && strstr(error.text, "f was "
        "defined before"),
           "two of them are one too many: %s", error.text);
    end();
    tap_ok(!parse(HEAD FUNC(".weak", "1") FUNC(".weak", "2")) && strstr(error.text, "f was defined before"), "and two in "
        "one module");
    end();
    const struct ptx_module *m = parse(PTX_LINKED HEAD ".weak .global .u8 a[1];\n.weak .global .u8 b[1];\n.visible .global .u8 c[1];\n.common .global .u8 d[1];\n" SECOND
                                       ".weak .global .u8 a[2];\n.visible .global .u8 b[2];\n.weak .global .u8 c[2];\n.common .global .u8 d[2];\n");
    tap_ok(m && variable(m, "a")->size == 1 && variable(m, "b")->size == 2 && variable(m, "c")->size == 1 && variable(m, "d")->size == 1 &&
               m->variable_count == 4, "the same of variables");
    end();
    tap_ok(!parse(PTX_LINKED HEAD ".visible .global .u8 a[1];\n" SECOND ".visible .global .u8 a[1];\n") &&
               strstr(error.text, "was declared before"), "nor are they defined twice");
    end();
    m = parse(PTX_LINKED HEAD DECLARED ".extern .global .u8 a;\n" SECOND FUNC("", "1") ".global .u8 a[3];\n" SECOND FUNC(".visible", "2"));
    tap_ok(m && m->functions->instruction_count && m->functions->instructions[0].operand[1].value == 2 && m->function_count == 2 &&
               variable(m, "a")->linking == PTX_LINK_EXTERN && m->variable_count == 2, "a local name defines nothing for "
                   "other modules");
    end();
    tap_ok(!parse(PTX_LINKED HEAD SECOND ".global .u8 a;\n.global .u8 a;\n"), "and is not declared twice");
    end();
    tap_ok(!parse(HEAD SECOND) && error.place.line == 4, "only linked modules have a second .version");
    end();
    tap_ok(!parse(PTX_LINKED HEAD ".version 8.1\n.address_size 64\n") && strstr(error.text, ".target"), "which .target follows");
    end();
}

int main(void)
{
    test_linked();
    test_registers();
    test_weak();
    test_head();
    test_variables();
    test_function();
    test_sections();
    test_names();
    test_errors();
    test_deep();
    test_ends();
    return tap_done();
}
