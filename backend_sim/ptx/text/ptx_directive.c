/* SPDX-License-Identifier: Apache-2.0 */
/* Directives for source positions, and lists of targets. */
#include <string.h>

#include "ptx_parts.h"

static uint32_t small(struct ptx_parser *parser, const char *what)
{
    if (parser->lexer.token.kind != PTX_T_INTEGER || parser->lexer.token.value > INT32_MAX)
        ptx_unexpected(&parser->lexer, what);
    uint32_t value = (uint32_t)parser->lexer.token.value;
    ptx_next(&parser->lexer);
    return value;
}

/* .loc FILE LINE COLUMN, function_name NAME, inlined_at FILE LINE COLUMN: messages show the position in the inlined function. */
bool ptx_parse_loc(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    struct ptx_module *module = parser->module;
    struct ptx_source source;
    source.file = small(parser, "the number of a file") + parser->first_file;
    source.line = small(parser, "a line");
    source.column = small(parser, "a column");
    while (ptx_pass_mark(lexer, ',')) {
        if (ptx_at_word(lexer, "function_name")) {
            ptx_next(lexer);
            ptx_parse_name(parser, "a label");
            if (ptx_pass_mark(lexer, '+'))
                small(parser, "an offset");
        } else if (ptx_at_word(lexer, "inlined_at")) {
            ptx_next(lexer);
            for (int i = 0; i < 3; i++)
                small(parser, "file, line and column");
        } else {
            ptx_unexpected(lexer, "function_name or inlined_at");
        }
    }
    module->sources = ptx_more(parser->context, module->sources, module->source_count, &parser->sources_room, sizeof source);
    module->sources[module->source_count] = source;
    parser->source = module->source_count++;
    return true;
}

/* .file NUMBER "NAME", time, size */
void ptx_parse_file(struct ptx_parser *parser)
{
    struct ptx_module *module = parser->module;
    const struct ptx_place place = parser->lexer.token.place;
    const uint32_t number = small(parser, "the number of a file") + parser->first_file;
    if (parser->lexer.token.kind != PTX_T_STRING)
        ptx_unexpected(&parser->lexer, "the name of a file");
    if (number > UINT16_MAX)
        ptx_fail(parser->context, place, "a file's number must be at most %d", UINT16_MAX);
    while (module->file_count <= number) {
        module->files = ptx_more(parser->context, module->files, module->file_count, &parser->files_room, sizeof *module->files);
        memset(&module->files[module->file_count++], 0, sizeof *module->files);
    }
    module->files[number] = parser->lexer.token.text;
    ptx_next(&parser->lexer);
    while (ptx_pass_mark(&parser->lexer, ','))
        ptx_parse_constant(parser);
}

void ptx_pass_section(struct ptx_parser *parser)
{
    while (!ptx_at_mark(&parser->lexer, '{') && parser->lexer.token.kind != PTX_T_END)
        ptx_next(&parser->lexer);
    ptx_expect_mark(&parser->lexer, '{');
    for (int open = 1; open; ptx_next(&parser->lexer)) {
        if (parser->lexer.token.kind == PTX_T_END)
            ptx_unexpected(&parser->lexer, "'}'");
        open += ptx_at_mark(&parser->lexer, '{') - ptx_at_mark(&parser->lexer, '}');
    }
}

static void take_registers(struct ptx_module *module, struct ptx_text pragma)
{
    const uint32_t prefix = sizeof PTX_LINKED_REGISTERS - 1;
    if (pragma.length < prefix || memcmp(pragma.at, PTX_LINKED_REGISTERS, prefix) != 0)
        return;
    for (uint32_t i = prefix; i < pragma.length && i < prefix + 5; i++)
        module->max_registers = module->max_registers * 10 + (uint32_t)(pragma.at[i] - '0');
}

void ptx_pass_pragma(struct ptx_parser *parser)
{
    do {
        if (parser->lexer.token.kind != PTX_T_STRING)
            ptx_unexpected(&parser->lexer, "a string");
        if (parser->linked)
            take_registers(parser->module, parser->lexer.token.text);
        ptx_next(&parser->lexer);
    } while (ptx_pass_mark(&parser->lexer, ','));
    ptx_expect_mark(&parser->lexer, ';');
}

/* Labels or functions. */
static void parse_list(struct ptx_parser *parser, struct ptx_targets *targets, enum ptx_operand_kind kind)
{
    uint32_t room = 0;
    do {
        const struct ptx_place place = parser->lexer.token.place;
        struct ptx_operand target = ptx_parse_operand(parser);
        if (target.kind != (uint8_t)kind)
            ptx_fail(parser->context, place, "expected %s", kind == PTX_O_LABEL ? "a label" : "a function");
        targets->target = ptx_more(parser->context, targets->target, targets->count, &room, sizeof target);
        targets->target[targets->count++] = target;
    } while (ptx_pass_mark(&parser->lexer, ','));
}

/* (result) _ (parameters) */
static void parse_prototype(struct ptx_parser *parser, struct ptx_targets *targets)
{
    if (ptx_at_mark(&parser->lexer, '('))
        targets->result = ptx_parse_params(parser, &targets->results, false, false);
    ptx_parse_name(parser, "'_'");
    if (ptx_at_mark(&parser->lexer, '('))
        targets->params = ptx_parse_params(parser, &targets->param_count, false, false);
    while (ptx_pass_dot(&parser->lexer, "noreturn") || ptx_pass_dot(&parser->lexer, "abi_preserve") ||
           ptx_pass_dot(&parser->lexer, "abi_preserve_control"))
        if (parser->lexer.token.kind == PTX_T_INTEGER)
            ptx_next(&parser->lexer);
}

void ptx_parse_targets(struct ptx_parser *parser, struct ptx_text name, struct ptx_place place)
{
    struct ptx_targets *targets = ptx_alloc(parser->context, 1, sizeof *targets);
    char kind = ptx_at_dot(&parser->lexer, "branchtargets") ? 'b' : ptx_at_dot(&parser->lexer, "calltargets") ? 'c' : 'p';
    ptx_next(&parser->lexer);
    targets->name = name;
    targets->kind = kind;
    if (kind == 'p')
        parse_prototype(parser, targets);
    else
        parse_list(parser, targets, kind == 'b' ? PTX_O_LABEL : PTX_O_FUNCTION);
    ptx_expect_mark(&parser->lexer, ';');
    ptx_symbols_add(&parser->symbols, name, place, PTX_SYMBOL_TARGETS)->targets = targets;
}
