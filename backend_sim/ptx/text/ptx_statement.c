/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of functions: labels, instructions, blocks, and the directives between them. */
#include <string.h>

#include "ptx_parts.h"

static void parse_guard(struct ptx_parser *parser, struct ptx_instruction *ins)
{
    if (!ptx_pass_mark(&parser->lexer, '@'))
        return;
    ins->guarded = true;
    ins->guard_negated = ptx_pass_mark(&parser->lexer, '!');
    struct ptx_operand guard = ptx_parse_operand(parser);
    if (guard.kind != PTX_O_REGISTER || parser->function->registers[guard.value].type != PTX_PRED)
        ptx_fail(parser->context, guard.place, "a guard must be a .pred register");
    ins->guard = (uint32_t)guard.value;
}

/* The opcode and its modifiers. */
static void parse_opcode(struct ptx_parser *parser, struct ptx_instruction *ins)
{
    struct ptx_lexer *lexer = &parser->lexer;
    const char *from = lexer->token.text.at;
    ins->place = lexer->token.place;
    if (lexer->token.kind != PTX_T_WORD)
        ptx_unexpected(lexer, "an instruction");
    unsigned opcode = ptx_word_opcode(lexer->token.text);
    if (opcode == PTX_OPCODES)
        ptx_fail(parser->context, ins->place, "%.*s is not an instruction; if it is a label, it needs a colon",
                 PTX_TEXT(lexer->token.text));
    ins->opcode = (uint8_t)opcode;
    do {
        ins->text = (struct ptx_text){from, (uint32_t)(lexer->token.text.at + lexer->token.text.length - from)};
        ptx_next(lexer);
        if (lexer->token.kind != PTX_T_DOT)
            return;
        if (ins->modifiers == PTX_MODIFIERS_MOST)
            ptx_unexpected(lexer, "operands: no instruction has more modifiers");
        ins->modifier[ins->modifiers++] = (uint16_t)ptx_word_modifier(lexer->token.text);
    } while (true);
}

static void parse_operands(struct ptx_parser *parser, struct ptx_instruction *ins)
{
    struct ptx_operand operands[PTX_OPERANDS_MOST];
    bool joined = false;
    while (!ptx_at_mark(&parser->lexer, ';')) {
        if (ins->operands == PTX_OPERANDS_MOST)
            ptx_unexpected(&parser->lexer, "';': no instruction has more operands");
        operands[ins->operands] = ptx_parse_operand(parser);
        operands[ins->operands++].joined = joined;
        joined = ptx_at_mark(&parser->lexer, '|');
        if (!joined && !ptx_at_mark(&parser->lexer, ','))
            break;
        ptx_next(&parser->lexer);
    }
    ptx_expect_mark(&parser->lexer, ';');
    ins->operand = ptx_alloc(parser->context, ins->operands + 1u, sizeof *ins->operand);
    memcpy(ins->operand, operands, ins->operands * sizeof *ins->operand);
}

void ptx_parse_instruction(struct ptx_parser *parser)
{
    struct ptx_function *f = parser->function;
    struct ptx_instruction ins = {.source = parser->source};
    parse_guard(parser, &ins);
    parse_opcode(parser, &ins);
    parse_operands(parser, &ins);
    f->instructions = ptx_more(parser->context, f->instructions, f->instruction_count, &parser->instructions_room,
                               sizeof *f->instructions);
    f->instructions[f->instruction_count++] = ins;
}

static void define_label(struct ptx_parser *parser, struct ptx_text name, struct ptx_place place)
{
    struct ptx_function *f = parser->function;
    uint32_t number = ptx_symbols_label(&parser->symbols, name, place, true);
    while (f->label_count <= number) {
        f->labels = ptx_more(parser->context, f->labels, f->label_count, &parser->labels_room, sizeof *f->labels);
        f->labels[f->label_count++] = 0;
    }
    f->labels[number] = f->instruction_count;
}

/* A word: a label, or an instruction. */
static void parse_labelled(struct ptx_parser *parser)
{
    struct ptx_lexer before = parser->lexer;
    struct ptx_text name = parser->lexer.token.text;
    const struct ptx_place place = parser->lexer.token.place;
    ptx_next(&parser->lexer);
    if (!ptx_pass_mark(&parser->lexer, ':')) {
        parser->lexer = before;
        ptx_parse_instruction(parser);
    } else if (ptx_at_dot(&parser->lexer, "branchtargets") || ptx_at_dot(&parser->lexer, "calltargets") ||
               ptx_at_dot(&parser->lexer, "callprototype")) {
        ptx_parse_targets(parser, name, place);
    } else {
        define_label(parser, name, place);
    }
}

static bool parse_declaration(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    if (ptx_pass_dot(lexer, "reg"))
        ptx_parse_registers(parser);
    else if (ptx_pass_dot(lexer, "local"))
        ptx_parse_variables(parser, PTX_SPACE_LOCAL, PTX_LINK_NONE);
    else if (ptx_pass_dot(lexer, "shared"))
        ptx_parse_variables(parser, PTX_SPACE_SHARED, PTX_LINK_NONE);
    else if (ptx_pass_dot(lexer, "param"))
        ptx_parse_variables(parser, PTX_SPACE_PARAM, PTX_LINK_NONE);
    else if (ptx_pass_dot(lexer, "loc"))
        return ptx_parse_loc(parser);
    else if (ptx_pass_dot(lexer, "pragma"))
        ptx_pass_pragma(parser);
    else
        return false;
    return true;
}

void ptx_parse_body(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    uint32_t depth = parser->symbols.depth;
    for (;;) {
        const struct ptx_place place = lexer->token.place;
        if (lexer->token.kind == PTX_T_WORD) {
            parse_labelled(parser);
        } else if (ptx_at_mark(lexer, '@')) {
            ptx_parse_instruction(parser);
        } else if (ptx_pass_mark(lexer, '{')) {
            ptx_symbols_enter(&parser->symbols, place);
        } else if (ptx_at_mark(lexer, '}')) {
            if (parser->symbols.depth == depth)
                return;
            ptx_next(lexer);
            ptx_symbols_leave(&parser->symbols, false);
        } else if (!ptx_pass_mark(lexer, ';') && !parse_declaration(parser)) {
            ptx_unexpected(lexer, "an instruction, a label, a declaration or '}'");
        }
    }
}
