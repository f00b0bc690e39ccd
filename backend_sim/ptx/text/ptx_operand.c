/* SPDX-License-Identifier: Apache-2.0 */
/* Operands. Undeclared names are labels; one that is never defined is reported at the end of the function. */
#include "ptx_parts.h"

static struct ptx_operand operand_at(const struct ptx_parser *parser, enum ptx_operand_kind kind)
{
    return (struct ptx_operand){.kind = (uint8_t)kind, .place = parser->lexer.token.place};
}

/* Operands up to the closing bracket. */
static void parse_list(struct ptx_parser *parser, struct ptx_operand *all, uint64_t end)
{
    struct ptx_operand *list = NULL;
    uint32_t room = 0;
    while (!ptx_at_mark(&parser->lexer, end)) {
        list = ptx_more(parser->context, list, all->count, &room, sizeof *list);
        list[all->count++] = ptx_parse_operand(parser);
        if (!ptx_pass_mark(&parser->lexer, ','))
            break;
    }
    ptx_expect_mark(&parser->lexer, end);
    all->list = list;
}

static struct ptx_operand parse_bracketed(struct ptx_parser *parser, enum ptx_operand_kind kind, uint64_t end)
{
    struct ptx_operand all = operand_at(parser, kind);
    ptx_next(&parser->lexer);
    parse_list(parser, &all, end);
    return all;
}

/* ".x" after a vector: 0 to 3; 4: none. */
static unsigned pass_part(struct ptx_parser *parser)
{
    static const char *const names[] = {"x", "y", "z", "w", "r", "g", "b", "a"};
    for (unsigned i = 0; i < 8; i++)
        if (ptx_pass_dot(&parser->lexer, names[i]))
            return i % 4;
    return 4;
}

static void pass_selector(struct ptx_parser *parser, struct ptx_operand *o)
{
    unsigned word = parser->lexer.token.kind == PTX_T_DOT ? ptx_word_modifier(parser->lexer.token.text) : PTX_NONE;
    if (word < PTX_MOD_B0 || word > PTX_MOD_H1)
        return;
    o->selector = (uint8_t)(1 + word - PTX_MOD_B0);
    ptx_next(&parser->lexer);
}

/* A vector of registers as a whole, or one of its parts. */
static void vector_register(struct ptx_parser *parser, struct ptx_operand *o, const struct ptx_symbol *symbol)
{
    unsigned part = pass_part(parser);
    o->value = symbol->number;
    if (part < symbol->count) {
        o->value += part;
        return;
    }
    if (part < 4)
        ptx_fail(parser->context, o->place, "%.*s has %u parts", PTX_TEXT(symbol->name), symbol->count);
    o->kind = PTX_O_LIST;
    o->count = symbol->count;
    o->list = ptx_alloc(parser->context, symbol->count, sizeof *o->list);
    for (uint32_t i = 0; i < symbol->count; i++)
        o->list[i] = (struct ptx_operand){.kind = PTX_O_REGISTER, .place = o->place, .value = symbol->number + i};
}

static bool special(struct ptx_parser *parser, struct ptx_operand *o)
{
    unsigned number, which = ptx_word_special(parser->lexer.token.text, &number);
    if (which == PTX_SPECIALS)
        return false;
    o->kind = PTX_O_SPECIAL;
    o->value = which;
    o->part = (uint8_t)number;
    ptx_next(&parser->lexer);
    if (!ptx_special_is_vector(which))
        return true;
    o->part = (uint8_t)pass_part(parser);
    return true;
}

/* A variable or a function plus an offset. */
static void address_of(struct ptx_parser *parser, struct ptx_operand *o)
{
    struct ptx_expression e = ptx_parse_expression(parser);
    o->kind = e.variable ? PTX_O_VARIABLE : PTX_O_FUNCTION;
    o->variable = e.variable;
    o->function = e.function;
    o->offset = (int64_t)e.value;
}

static struct ptx_operand parse_word(struct ptx_parser *parser)
{
    struct ptx_operand o = operand_at(parser, PTX_O_REGISTER);
    const struct ptx_token token = parser->lexer.token;
    uint32_t number = 0;
    const struct ptx_symbol *symbol = ptx_symbols_find(&parser->symbols, token.text, &number);
    if (symbol && (symbol->kind == PTX_SYMBOL_VARIABLE || symbol->kind == PTX_SYMBOL_FUNCTION)) {
        address_of(parser, &o);
        return o;
    }
    if (!symbol && special(parser, &o))
        return o;
    if (ptx_text_is(token.text, "WARP_SZ")) {
        o.kind = PTX_O_INTEGER;
        o.value = ptx_parse_constant(parser);
        return o;
    }
    ptx_next(&parser->lexer);
    if (ptx_text_is(token.text, "_")) {
        o.kind = PTX_O_SINK;
    } else if (symbol && symbol->kind == PTX_SYMBOL_VECTOR) {
        vector_register(parser, &o, symbol);
    } else if (symbol && symbol->kind == PTX_SYMBOL_TARGETS) {
        o.kind = PTX_O_TARGETS;
        o.targets = symbol->targets;
    } else if (!symbol || symbol->kind == PTX_SYMBOL_LABEL) {
        o.kind = PTX_O_LABEL;
        o.value = ptx_symbols_label(&parser->symbols, token.text, token.place, false);
    } else {
        o.value = number;
        pass_selector(parser, &o);
    }
    return o;
}

static struct ptx_operand parse_number(struct ptx_parser *parser)
{
    struct ptx_operand o = operand_at(parser, PTX_O_INTEGER);
    struct ptx_expression e = ptx_parse_expression(parser);
    if (e.variable || e.function)
        ptx_fail(parser->context, o.place, "expected a number");
    o.kind = e.is_float ? PTX_O_FLOAT : PTX_O_INTEGER;
    o.value = e.value;
    o.single = e.single;
    o.is_unsigned = e.is_unsigned;
    return o;
}

/* "[%rd1+8]", "[table]", "[0x100]"; several operands in it belong to a texture. */
static struct ptx_operand parse_address(struct ptx_parser *parser)
{
    struct ptx_operand o = operand_at(parser, PTX_O_ADDRESS);
    struct ptx_operand *base = ptx_alloc(parser->context, 1, sizeof *base);
    ptx_next(&parser->lexer);
    *base = ptx_parse_operand(parser);
    o.list = base;
    o.count = 1;
    if (base->kind == PTX_O_REGISTER || base->kind == PTX_O_LABEL) {
        if (ptx_pass_mark(&parser->lexer, '+'))
            o.offset = (int64_t)ptx_parse_constant(parser);
    } else if (base->kind == PTX_O_VARIABLE) {
        o.offset = base->offset;
    }
    while (ptx_pass_mark(&parser->lexer, ',')) {
        ptx_parse_operand(parser);
        o.count++;
    }
    ptx_expect_mark(&parser->lexer, ']');
    return o;
}

static struct ptx_operand parse_operand(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    if (ptx_at_mark(lexer, '{'))
        return parse_bracketed(parser, PTX_O_LIST, '}');
    if (ptx_at_mark(lexer, '('))
        return parse_bracketed(parser, PTX_O_LIST, ')');
    if (ptx_at_mark(lexer, '['))
        return parse_address(parser);
    if (lexer->token.kind == PTX_T_WORD)
        return parse_word(parser);
    if (ptx_at_mark(lexer, '!')) {
        struct ptx_lexer before = *lexer;
        ptx_next(lexer);
        if (lexer->token.kind == PTX_T_WORD) {
            struct ptx_operand o = parse_word(parser);
            o.negated = true;
            return o;
        }
        *lexer = before;
    }
    return parse_number(parser);
}

struct ptx_operand ptx_parse_operand(struct ptx_parser *parser)
{
    ptx_enter(parser);
    struct ptx_operand o = parse_operand(parser);
    ptx_leave(parser);
    return o;
}
