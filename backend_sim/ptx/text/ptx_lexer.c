/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_lexer.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool begins_word(char c)
{
    return is_letter(c) || c == '_' || c == '$' || c == '%';
}

static bool in_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static char peek(const struct ptx_lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static void pass_line(struct ptx_lexer *lexer)
{
    lexer->line++;
    lexer->line_start = lexer->at + 1;
}

static struct ptx_place here(const struct ptx_lexer *lexer)
{
    return (struct ptx_place){lexer->line, (uint32_t)(lexer->at - lexer->line_start) + 1};
}

static void pass_comment(struct ptx_lexer *lexer)
{
    struct ptx_place place = here(lexer);
    for (lexer->at += 2; peek(lexer, 0) && (peek(lexer, 0) != '*' || peek(lexer, 1) != '/'); lexer->at++)
        if (peek(lexer, 0) == '\n')
            pass_line(lexer);
    if (!peek(lexer, 0))
        ptx_fail(lexer->context, place, "this comment does not end");
    lexer->at += 2;
}

/* Blanks and comments. Preprocessor lines are skipped as well. */
static void pass_blanks(struct ptx_lexer *lexer)
{
    for (;;) {
        char c = peek(lexer, 0);
        if (c == '\n') {
            pass_line(lexer);
            lexer->at++;
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '*') {
            pass_comment(lexer);
        } else if (c == '#' || (c == '/' && peek(lexer, 1) == '/')) {
            while (peek(lexer, 0) && peek(lexer, 0) != '\n')
                lexer->at++;
        } else {
            return;
        }
    }
}

static void read_word(struct ptx_lexer *lexer, struct ptx_token *token)
{
    const char *from = lexer->at++;
    while (in_word(peek(lexer, 0)))
        lexer->at++;
    token->kind = PTX_T_WORD;
    token->text = (struct ptx_text){from, (uint32_t)(lexer->at - from)};
}

static void read_dot(struct ptx_lexer *lexer, struct ptx_token *token)
{
    const char *from = ++lexer->at;
    for (;;) {
        if (in_word(peek(lexer, 0)))
            lexer->at++;
        else if (peek(lexer, 0) == ':' && peek(lexer, 1) == ':' && in_word(peek(lexer, 2)))
            lexer->at += 2;
        else
            break;
    }
    token->kind = PTX_T_DOT;
    token->text = (struct ptx_text){from, (uint32_t)(lexer->at - from)};
}

static void read_string(struct ptx_lexer *lexer, struct ptx_token *token)
{
    const char *from = ++lexer->at;
    while (peek(lexer, 0) && peek(lexer, 0) != '"' && peek(lexer, 0) != '\n')
        lexer->at += peek(lexer, 0) == '\\' && peek(lexer, 1) ? 2 : 1;
    if (peek(lexer, 0) != '"')
        ptx_fail(lexer->context, token->place, "this string does not end on its line");
    token->kind = PTX_T_STRING;
    token->text = (struct ptx_text){from, (uint32_t)(lexer->at - from)};
    lexer->at++;
}

static void read_mark(struct ptx_lexer *lexer, struct ptx_token *token)
{
    static const char pairs[][3] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    token->kind = PTX_T_MARK;
    token->text = (struct ptx_text){lexer->at, 1};
    token->value = (unsigned char)peek(lexer, 0);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (peek(lexer, 0) == pairs[i][0] && peek(lexer, 1) == pairs[i][1]) {
            token->value = PTX_MARK2(pairs[i][0], pairs[i][1]);
            token->text.length = 2;
        }
    if (!strchr("@;,(){}[]<>=+-*/%!~&|^?:", *token->text.at))
        ptx_fail(lexer->context, token->place, "the character 0x%02x is not part of PTX", (unsigned)token->value);
    lexer->at += token->text.length;
}

void ptx_next(struct ptx_lexer *lexer)
{
    struct ptx_token *token = &lexer->token;
    pass_blanks(lexer);
    char c = peek(lexer, 0);
    *token = (struct ptx_token){.kind = PTX_T_END, .place = here(lexer), .text = {lexer->at, 0}};
    if (!c)
        return;
    if (begins_word(c) && (c != '%' || in_word(peek(lexer, 1))))
        read_word(lexer, token);
    else if (is_digit(c))
        ptx_number(lexer, token);
    else if (c == '.' && in_word(peek(lexer, 1)))
        read_dot(lexer, token);
    else if (c == '"')
        read_string(lexer, token);
    else
        read_mark(lexer, token);
}

void ptx_lexer_open(struct ptx_lexer *lexer, struct ptx_context *context, struct ptx_text text)
{
    *lexer = (struct ptx_lexer){.context = context, .at = text.at, .end = text.at + text.length, .line_start = text.at, .line = 1};
    ptx_next(lexer);
}

bool ptx_at_dot(const struct ptx_lexer *lexer, const char *text)
{
    return lexer->token.kind == PTX_T_DOT && ptx_text_is(lexer->token.text, text);
}

bool ptx_at_word(const struct ptx_lexer *lexer, const char *text)
{
    return lexer->token.kind == PTX_T_WORD && ptx_text_is(lexer->token.text, text);
}

bool ptx_pass_mark(struct ptx_lexer *lexer, uint64_t mark)
{
    bool there = ptx_at_mark(lexer, mark);
    if (there)
        ptx_next(lexer);
    return there;
}

bool ptx_pass_dot(struct ptx_lexer *lexer, const char *text)
{
    bool there = ptx_at_dot(lexer, text);
    if (there)
        ptx_next(lexer);
    return there;
}

void ptx_expect_mark(struct ptx_lexer *lexer, uint64_t mark)
{
    char what[8] = "'?'";
    what[1] = (char)mark;
    if (!ptx_pass_mark(lexer, mark))
        ptx_unexpected(lexer, what);
}

void ptx_unexpected(const struct ptx_lexer *lexer, const char *what)
{
    const struct ptx_token *token = &lexer->token;
    if (token->kind == PTX_T_END)
        ptx_fail(lexer->context, token->place, "expected %s, found the end of the text", what);
    ptx_fail(lexer->context, token->place, "expected %s, found '%s%.*s'", what, token->kind == PTX_T_DOT ? "." : "",
             PTX_TEXT(token->text));
}
