/* SPDX-License-Identifier: Apache-2.0 */
/* Constant expressions (PTX ISA, "Constant Expressions"), from the lowest precedence to the
 * highest. Integers have 64 bits, and are unsigned if one operand is. */
#include <string.h>

#include "ptx_parts.h"

static struct ptx_expression choice(struct ptx_parser *parser);
static struct ptx_expression unary(struct ptx_parser *parser);

static struct ptx_expression number(uint64_t value, bool is_unsigned)
{
    return (struct ptx_expression){.value = value, .is_unsigned = is_unsigned};
}

static bool is_number(const struct ptx_expression *e)
{
    return !e->variable && !e->function && !e->is_float;
}

/* (.s64) or (.u64) before a value, with the precedence of other unary operators. */
static bool cast(struct ptx_parser *parser, struct ptx_expression *e)
{
    bool is_unsigned = ptx_at_dot(&parser->lexer, "u64");
    if (!is_unsigned && !ptx_at_dot(&parser->lexer, "s64"))
        return false;
    ptx_next(&parser->lexer);
    ptx_expect_mark(&parser->lexer, ')');
    ptx_enter(parser);
    *e = unary(parser);
    ptx_leave(parser);
    e->is_unsigned = is_unsigned;
    return true;
}

static struct ptx_expression symbol(struct ptx_parser *parser)
{
    struct ptx_expression e = {.value = 0};
    const struct ptx_token token = parser->lexer.token;
    uint32_t unused;
    if (ptx_text_is(token.text, "WARP_SZ")) {
        ptx_next(&parser->lexer);
        return number(32, false);
    }
    const struct ptx_symbol *found = ptx_symbols_find(&parser->symbols, token.text, &unused);
    if (found && found->kind == PTX_SYMBOL_VARIABLE)
        e.variable = found->variable;
    else if (found && found->kind == PTX_SYMBOL_FUNCTION)
        e.function = found->function;
    else
        ptx_fail(parser->context, token.place, "%.*s is not declared before this position as a variable or function",
                 PTX_TEXT(token.text));
    ptx_next(&parser->lexer);
    return e;
}

/* generic(name) */
static struct ptx_expression generic(struct ptx_parser *parser)
{
    ptx_next(&parser->lexer);
    ptx_expect_mark(&parser->lexer, '(');
    struct ptx_expression e = choice(parser);
    ptx_expect_mark(&parser->lexer, ')');
    e.generic = true;
    return e;
}

/* A number; if an address in parentheses follows, the bytes of that address which the number selects. */
static struct ptx_expression literal(struct ptx_parser *parser)
{
    const struct ptx_token token = parser->lexer.token;
    struct ptx_expression e = {.value = token.value, .is_unsigned = token.is_unsigned, .single = token.single,
                               .is_float = token.kind == PTX_T_FLOAT};
    ptx_next(&parser->lexer);
    if (e.is_float || !ptx_pass_mark(&parser->lexer, '('))
        return e;
    e = choice(parser);
    ptx_expect_mark(&parser->lexer, ')');
    e.masked = true;
    e.mask = token.value;
    return e;
}

static struct ptx_expression primary(struct ptx_parser *parser)
{
    struct ptx_expression e;
    const enum ptx_token_kind kind = parser->lexer.token.kind;
    if (ptx_pass_mark(&parser->lexer, '(')) {
        if (cast(parser, &e))
            return e;
        e = choice(parser);
        ptx_expect_mark(&parser->lexer, ')');
        return e;
    }
    if (kind == PTX_T_INTEGER || kind == PTX_T_FLOAT)
        return literal(parser);
    if (kind == PTX_T_WORD)
        return ptx_at_word(&parser->lexer, "generic") ? generic(parser) : symbol(parser);
    ptx_unexpected(&parser->lexer, "a constant");
}

static struct ptx_expression negated(struct ptx_expression e)
{
    if (e.is_float)
        e.value ^= e.single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    else
        e.value = -e.value;
    return e;
}

static struct ptx_expression unary(struct ptx_parser *parser)
{
    static const char operators[] = "+-!~";
    const struct ptx_token token = parser->lexer.token;
    if (token.kind != PTX_T_MARK || token.value > 127 || !strchr(operators, (int)token.value))
        return primary(parser);
    ptx_next(&parser->lexer);
    ptx_enter(parser);
    struct ptx_expression e = unary(parser);
    ptx_leave(parser);
    if (e.variable || e.function || (e.is_float && token.value != '-' && token.value != '+'))
        ptx_fail(parser->context, token.place, "'%c' needs a number", (char)token.value);
    switch (token.value) {
    case '-': return negated(e);
    case '!': return number(!e.value, false);
    case '~': return number(~e.value, e.is_unsigned);
    default: return e;
    }
}

/* Binary operators and their precedence. */
static const struct {
    uint64_t mark;
    int binds;
} operators[] = {
    {'*', 10}, {'/', 10}, {'%', 10}, {'+', 9}, {'-', 9}, {PTX_MARK2('<', '<'), 8}, {PTX_MARK2('>', '>'), 8},
    {'<', 7}, {'>', 7}, {PTX_MARK2('<', '='), 7}, {PTX_MARK2('>', '='), 7}, {PTX_MARK2('=', '='), 6}, {PTX_MARK2('!', '='), 6},
    {'&', 5}, {'^', 4}, {'|', 3}, {PTX_MARK2('&', '&'), 2}, {PTX_MARK2('|', '|'), 1},
};

static int binds(const struct ptx_lexer *lexer)
{
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (ptx_at_mark(lexer, operators[i].mark))
            return operators[i].binds;
    return 0;
}

static uint64_t divided(struct ptx_parser *parser, struct ptx_place place, uint64_t a, uint64_t b, bool is_unsigned, bool rest)
{
    if (!b)
        ptx_fail(parser->context, place, "division of a constant by zero");
    if (is_unsigned)
        return rest ? a % b : a / b;
    if (b == UINT64_MAX)
        return rest ? 0 : -a;
    return rest ? (uint64_t)((int64_t)a % (int64_t)b) : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shifted(uint64_t a, uint64_t b, bool is_unsigned, bool left)
{
    bool minus = !is_unsigned && (a >> 63);
    if (b > 63)
        return !left && minus ? UINT64_MAX : 0;
    if (left)
        return a << b;
    return minus ? ~(~a >> b) : a >> b;
}

static bool less(uint64_t a, uint64_t b, bool is_unsigned)
{
    return is_unsigned ? a < b : (int64_t)a < (int64_t)b;
}

static uint64_t compute(struct ptx_parser *parser, const struct ptx_token *token, uint64_t a, uint64_t b, bool is_unsigned)
{
    switch (token->value) {
    case '*': return a * b;
    case '/': return divided(parser, token->place, a, b, is_unsigned, false);
    case '%': return divided(parser, token->place, a, b, is_unsigned, true);
    case '+': return a + b;
    case '-': return a - b;
    case PTX_MARK2('<', '<'): return shifted(a, b, is_unsigned, true);
    case PTX_MARK2('>', '>'): return shifted(a, b, is_unsigned, false);
    case '<': return less(a, b, is_unsigned);
    case '>': return less(b, a, is_unsigned);
    case PTX_MARK2('<', '='): return !less(b, a, is_unsigned);
    case PTX_MARK2('>', '='): return !less(a, b, is_unsigned);
    case PTX_MARK2('=', '='): return a == b;
    case PTX_MARK2('!', '='): return a != b;
    case '&': return a & b;
    case '^': return a ^ b;
    case '|': return a | b;
    case PTX_MARK2('&', '&'): return a && b;
    default: return a || b;
    }
}

/* An address plus or minus a number is an address; everything else takes numbers. */
static struct ptx_expression joined(struct ptx_parser *parser, const struct ptx_token *token, struct ptx_expression a,
                                    struct ptx_expression b)
{
    bool address = a.variable || a.function;
    if (b.variable && !address && token->value == '+')
        return joined(parser, token, b, a);
    if (!is_number(&b) || a.is_float || (address && token->value != '+' && token->value != '-'))
        ptx_fail(parser->context, token->place, "'%.*s' needs integers", PTX_TEXT(token->text));
    bool is_unsigned = a.is_unsigned || b.is_unsigned;
    uint64_t value = compute(parser, token, a.value, b.value, is_unsigned);
    a.value = value;
    a.is_unsigned = is_unsigned;
    return a;
}

static struct ptx_expression binary(struct ptx_parser *parser, int least)
{
    struct ptx_expression left = unary(parser);
    int level;
    while ((level = binds(&parser->lexer)) >= least && level) {
        const struct ptx_token token = parser->lexer.token;
        ptx_next(&parser->lexer);
        left = joined(parser, &token, left, binary(parser, level + 1));
    }
    return left;
}

static struct ptx_expression choice(struct ptx_parser *parser)
{
    ptx_enter(parser);
    struct ptx_expression e = binary(parser, 1);
    const struct ptx_place place = parser->lexer.token.place;
    if (ptx_pass_mark(&parser->lexer, '?')) {
        struct ptx_expression yes = choice(parser);
        ptx_expect_mark(&parser->lexer, ':');
        struct ptx_expression no = choice(parser);
        if (!is_number(&e))
            ptx_fail(parser->context, place, "'?' needs a number before it");
        e = e.value ? yes : no;
    }
    ptx_leave(parser);
    return e;
}

struct ptx_expression ptx_parse_expression(struct ptx_parser *parser)
{
    return choice(parser);
}

uint64_t ptx_parse_constant(struct ptx_parser *parser)
{
    const struct ptx_place place = parser->lexer.token.place;
    struct ptx_expression e = choice(parser);
    if (!is_number(&e))
        ptx_fail(parser->context, place, "expected an integer");
    return e.value;
}

uint64_t ptx_constant_of(struct ptx_parser *parser, const struct ptx_expression *e, unsigned type, struct ptx_place place)
{
    bool floating = type == PTX_F32 || type == PTX_F64;
    double wide;
    float narrow;
    uint32_t bits;
    if (!e->is_float) {
        if (floating && e->value)
            ptx_fail(parser->context, place, "a value of .%s must be written as 0f..., 0d... or with a decimal point",
                     ptx_modifier_text(type));
        return e->value;
    }
    if (!floating)
        ptx_fail(parser->context, place, "a floating-point number cannot be a value of .%s", ptx_modifier_text(type));
    if (e->single == (type == PTX_F32))
        return e->value;
    if (e->single) {
        bits = (uint32_t)e->value;
        memcpy(&narrow, &bits, sizeof narrow);
        wide = (double)narrow;
        uint64_t value;
        memcpy(&value, &wide, sizeof value);
        return value;
    }
    memcpy(&wide, &e->value, sizeof wide);
    narrow = (float)wide;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}
