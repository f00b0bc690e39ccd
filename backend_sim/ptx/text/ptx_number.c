/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers (PTX ISA, "Constants"): 0x1F 017 0b101 12 12U 1.5e3, and the bits of floats and doubles, 0f3F800000
 * 0d3FF0000000000000. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_lexer.h"

static unsigned digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
        return (unsigned)((c | 32) - 'a') + 10;
    return 99;
}

static char at(const struct ptx_lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static _Noreturn void bad(const struct ptx_lexer *lexer, const struct ptx_token *token, const char *why)
{
    ptx_fail(lexer->context, token->place, "the number %.*s %s", PTX_TEXT(token->text), why);
}

/* Reads digits; more than 64 bits are an error. */
static uint64_t digits(struct ptx_lexer *lexer, struct ptx_token *token, unsigned base)
{
    uint64_t value = 0;
    for (; digit(at(lexer, 0)) < base; lexer->at++) {
        unsigned next = digit(*lexer->at);
        if (value > (UINT64_MAX - next) / base)
            bad(lexer, token, "does not fit in 64 bits");
        value = value * base + next;
    }
    return value;
}

/* 0f and 0d: exactly 8 or 16 hexadecimal digits. */
static void bits(struct ptx_lexer *lexer, struct ptx_token *token, unsigned count)
{
    const char *from = lexer->at += 2;
    uint64_t value = digits(lexer, token, 16);
    if (lexer->at - from != (ptrdiff_t)count)
        bad(lexer, token, count == 8 ? "does not have the 8 digits of a float" : "does not have the 16 digits of a double");
    token->kind = PTX_T_FLOAT;
    token->single = count == 8;
    token->value = value;
}

/* With a point or an exponent. The C library expects the locale's decimal point. */
static void decimal(struct ptx_lexer *lexer, struct ptx_token *token, size_t length)
{
    char text[64], *point, *end;
    if (length >= sizeof text)
        bad(lexer, token, "is too long");
    memcpy(text, lexer->at, length);
    text[length] = '\0';
    double value = strtod(text, &end);
    if (*end && (point = strchr(text, '.')) != NULL) {
        *point = *localeconv()->decimal_point;
        value = strtod(text, &end);
    }
    if (*end)
        bad(lexer, token, "has no digits in its exponent");
    token->kind = PTX_T_FLOAT;
    memcpy(&token->value, &value, sizeof value);
    lexer->at += length;
}

/* The length of a number with a point or an exponent; 0: it has neither. */
static size_t decimal_length(const struct ptx_lexer *lexer)
{
    size_t length = 0;
    bool marked = false;
    while (digit(at(lexer, length)) < 10)
        length++;
    if (at(lexer, length) == '.' && digit(at(lexer, length + 1)) < 10) {
        marked = true;
        for (length++; digit(at(lexer, length)) < 10;)
            length++;
    } else if (at(lexer, length) == '.') {
        marked = true;
        length++;
    }
    if ((at(lexer, length) | 32) == 'e') {
        marked = true;
        length += at(lexer, length + 1) == '+' || at(lexer, length + 1) == '-' ? 2 : 1;
        while (digit(at(lexer, length)) < 10)
            length++;
    }
    return marked ? length : 0;
}

static void integer(struct ptx_lexer *lexer, struct ptx_token *token)
{
    char second = (char)(at(lexer, 1) | 32);
    unsigned base = at(lexer, 0) != '0' ? 10 : second == 'x' ? 16 : second == 'b' ? 2 : 8;
    if (base == 16 || base == 2) {
        lexer->at += 2;
        if (digit(at(lexer, 0)) >= base)
            bad(lexer, token, "has no digits");
    }
    token->kind = PTX_T_INTEGER;
    token->value = digits(lexer, token, base);
    token->is_unsigned = token->value > INT64_MAX;
    if (at(lexer, 0) == 'U') {
        token->is_unsigned = true;
        lexer->at++;
    }
}

void ptx_number(struct ptx_lexer *lexer, struct ptx_token *token)
{
    const char *from = lexer->at;
    char second = (char)(at(lexer, 1) | 32);
    size_t length = at(lexer, 0) == '0' && second == 'x' ? 0 : decimal_length(lexer);
    token->text = (struct ptx_text){from, 1};
    while (token->text.length < 24 && (digit(at(lexer, token->text.length)) < 16 || at(lexer, token->text.length) == 'x'))
        token->text.length++;
    if (at(lexer, 0) == '0' && (second == 'f' || second == 'd') && digit(at(lexer, 2)) < 16)
        bits(lexer, token, second == 'f' ? 8 : 16);
    else if (length)
        decimal(lexer, token, length);
    else
        integer(lexer, token);
    token->text = (struct ptx_text){from, (uint32_t)(lexer->at - from)};
    if (digit(at(lexer, 0)) < 99 || at(lexer, 0) == '_')
        bad(lexer, token, "is followed by letters or digits that are not part of it");
}
