/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct reader {
    const struct value_env *env;
    const struct word *word;
    const char *at;
    struct words_error *error;
};

bool value_fail(struct words_error *error, const struct word *word, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->column = word->column + (int)offset;
    return false;
}

#define FAIL(r, ...) value_fail((r)->error, (r)->word, (size_t)((r)->at - (r)->word->text), __VA_ARGS__)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (is_name(text[length]))
        length++;
    return length;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Digits alone, without unit. */
static bool read_digits(struct reader *r, uint64_t *out)
{
    const char *start = r->at;
    unsigned base = r->at[0] == '0' && (r->at[1] == 'x' || r->at[1] == 'X') ? 16 : 10;
    const char *c = r->at + (base == 16 ? 2 : 0);
    const char *first = c;
    uint64_t value = 0;
    for (int d = hex_digit(*c); d >= 0 && (unsigned)d < base; d = hex_digit(*++c)) {
        if (value > (UINT64_MAX - (unsigned)d) / base)
            return FAIL(r, "number %.40s does not fit into 64 bits", start);
        value = value * base + (unsigned)d;
    }
    if (c == first)
        return FAIL(r, "\"%.40s\" is not a number; write digits, 0x and hexadecimal digits, or a name", start);
    r->at = c;
    *out = value;
    return true;
}

static bool too_large(struct reader *r)
{
    return value_fail(r->error, r->word, 0, "\"%.40s\" does not fit into 64 bits", r->word->text);
}

static bool multiply(struct reader *r, uint64_t *value, uint64_t unit)
{
    if (unit && *value > UINT64_MAX / unit)
        return too_large(r);
    *value *= unit;
    return true;
}

static bool read_granules(struct reader *r, bool host, uint64_t *value)
{
    uint64_t unit;
    if (!r->env->granule || !r->env->granule(r->env->user, host, &unit))
        return FAIL(r, "the granularity is not known before init; put \"init\" above this line");
    return multiply(r, value, unit);
}

static bool read_unit(struct reader *r, uint64_t *value)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    size_t length = name_length(r->at);
    if (length == 0)
        return true;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strlen(units[i].name) == length && memcmp(units[i].name, r->at, length) == 0) {
            r->at += length;
            return multiply(r, value, UINT64_C(1) << units[i].shift);
        }
    }
    bool host = length == 5 && memcmp(r->at, "hgran", 5) == 0;
    if (host || (length == 4 && memcmp(r->at, "gran", 4) == 0)) {
        if (!read_granules(r, host, value))
            return false;
        r->at += length;
        return true;
    }
    return FAIL(r, "unknown unit \"%.*s\"; units are B, KiB, MiB, GiB, TiB, gran (granularity of dev0) and hgran (of "
                   "host memory)", (int)(length < 40 ? length : 40), r->at);
}

static bool read_literal(struct reader *r, uint64_t *out)
{
    if (!read_digits(r, out))
        return false;
    if (r->at[0] != '<' || r->at[1] != '<')
        return read_unit(r, out);
    uint64_t shift = 0;
    r->at += 2;
    if (!read_digits(r, &shift))
        return false;
    if (shift > 63 || *out > UINT64_MAX >> shift)
        return too_large(r);
    *out <<= shift;
    return true;
}

static bool read_field(struct reader *r, const struct symbol *symbol, uint64_t *out)
{
    r->at++;
    size_t length = name_length(r->at);
    bool sized = symbol->kind != SYMBOL_NUMBER && symbol->kind != SYMBOL_CONTEXT && symbol->kind != SYMBOL_STREAM &&
                 symbol->kind != SYMBOL_EVENT && symbol->kind != SYMBOL_POOL && symbol->kind != SYMBOL_ARRAY && symbol->kind != SYMBOL_GRAPH &&
                 symbol->kind != SYMBOL_NODE && symbol->kind != SYMBOL_EXEC && symbol->kind != SYMBOL_OBJECT &&
                 symbol->kind != SYMBOL_DESCRIPTOR;
    if (length == 4 && memcmp(r->at, "size", 4) == 0 && sized)
        *out = symbol->size;
    else if (length == 3 && memcmp(r->at, "end", 3) == 0 && sized && symbol->kind != SYMBOL_HANDLE)
        *out = symbol->value + symbol->size;
    else if (length == 5 && memcmp(r->at, "total", 5) == 0 && symbol->kind == SYMBOL_NUMBER)
        *out = symbol->total;
    else
        return FAIL(r, "%s has no part \"%.*s\"; addresses have .size and .end, handles .size, meminfo .total",
                    symbol->name, (int)(length < 40 ? length : 40), r->at);
    r->at += length;
    return true;
}

/* May it stand where that is expected? */
static bool fits(const struct symbol *symbol, const char *what)
{
    static const struct {
        const char *what;
        unsigned kinds;
    } places[] = {
        {"ADDRESS", 1u << SYMBOL_RESERVATION | 1u << SYMBOL_ALLOCATION},
        {"HANDLE", 1u << SYMBOL_HANDLE},
        {"OBJECT", 1u << SYMBOL_HANDLE},
        {"DESCRIPTOR", 1u << SYMBOL_DESCRIPTOR},
    };
    for (size_t i = 0; what && i < sizeof places / sizeof places[0]; i++)
        if (strcmp(what, places[i].what) == 0)
            return places[i].kinds >> symbol->kind & 1;
    return true;
}

/* One letter in place of another is no likeness. */
static bool resembles(const char *name, const char *other)
{
    unsigned distance = text_distance(name, other, 1);
    return distance == 0 || (distance == 1 && (name[1] || other[1]));
}

static const char *nearest_name(const struct symbols *symbols, const char *what, const char *name, size_t length)
{
    char wanted[SYMBOL_NAME_MAX + 1];
    if (length > SYMBOL_NAME_MAX)
        return NULL;
    memcpy(wanted, name, length);
    wanted[length] = 0;
    for (size_t i = 0; i < symbols->count; i++)
        if (fits(&symbols->list[i], what) && resembles(wanted, symbols->list[i].name))
            return symbols->list[i].name;
    return NULL;
}

static bool read_sum(struct reader *r, uint64_t *out);

/* roundup(VALUE) to the granularity of dev0, roundup(VALUE,UNIT) to any. */
static bool read_roundup(struct reader *r, uint64_t *out)
{
    uint64_t value = 0, unit = 1;
    r->at += strlen("roundup(");
    if (!read_sum(r, &value))
        return false;
    if (*r->at == ',') {
        r->at++;
        if (!read_sum(r, &unit))
            return false;
    } else if (!read_granules(r, false, &unit)) {
        return false;
    }
    if (*r->at != ')')
        return FAIL(r, "roundup without its closing ')'; write roundup(VALUE) or roundup(VALUE,UNIT), without blanks");
    r->at++;
    if (unit == 0)
        return FAIL(r, "nothing can be rounded up to a multiple of 0");
    uint64_t over = value % unit;
    if (over && unit - over > UINT64_MAX - value)
        return too_large(r);
    *out = over ? value + (unit - over) : value;
    return true;
}

/* NAME@PROCESS: whose names are meant. */
static bool read_process(struct reader *r, size_t length, struct symbols **symbols)
{
    const char *name = r->at + length + 1;
    size_t n = name_length(name);
    struct symbols *found = r->env->process ? r->env->process(r->env->user, name, n) : NULL;
    if (!found)
        return value_fail(r->error, r->word, (size_t)(name - r->word->text), "there is no process \"%.*s\"",
                          (int)(n < 40 ? n : 40), name);
    *symbols = found;
    return true;
}

static bool read_name(struct reader *r, uint64_t *out)
{
    size_t length = name_length(r->at);
    if (strncmp(r->at, "roundup(", 8) == 0)
        return read_roundup(r, out);
    if (length == 0)
        return FAIL(r, *r->at ? "\"%.40s\" where a number or a name is expected" : "a number or a name is missing%.0s",
                    r->at);
    if ((length == 3 && memcmp(r->at, "max", 3) == 0) || (length == 4 && memcmp(r->at, "null", 4) == 0)) {
        *out = length == 3 ? UINT64_MAX : 0;
        r->at += length;
        return true;
    }
    struct symbols *symbols = r->env->symbols;
    if (r->at[length] == '@' && !read_process(r, length, &symbols))
        return false;
    const struct symbol *symbol = symbols_find(symbols, r->at, length);
    if (!symbol) {
        const char *near = nearest_name(r->env->symbols, r->env->what, r->at, length);
        return FAIL(r, "nothing is named \"%.*s\"%s%s%s", (int)(length < 40 ? length : 40), r->at,
                    near ? "; is \"" : "; names are given with NAME = COMMAND", near ? near : "", near ? "\" meant?" : "");
    }
    *out = symbol->value;
    r->at += length;
    if (*r->at == '@')
        r->at += 1 + name_length(r->at + 1);
    return *r->at != '.' || read_field(r, symbol, out);
}

static bool read_term(struct reader *r, uint64_t *out)
{
    return is_digit(*r->at) ? read_literal(r, out) : read_name(r, out);
}

static bool read_sum(struct reader *r, uint64_t *out)
{
    if (!read_term(r, out))
        return false;
    while (*r->at == '+' || *r->at == '-') {
        const char *sign = r->at++;
        uint64_t term = 0;
        if (!read_term(r, &term))
            return false;
        if (*sign == '+' && term > UINT64_MAX - *out)
            return too_large(r);
        if (*sign == '-' && term > *out)
            return value_fail(r->error, r->word, 0, "\"%.40s\" is below 0, and sizes and addresses are not",
                              r->word->text);
        *out = *sign == '+' ? *out + term : *out - term;
    }
    return true;
}

/* f32:1.5 and f64:-1e9: the bits of such a number. */
static bool read_float(const struct word *word, uint64_t *out, struct words_error *error)
{
    const bool narrow = word->text[1] == '3';
    char *end;
    const double number = strtod(word->text + 4, &end);
    const float single = (float)number;
    uint32_t bits;
    if (end == word->text + 4 || *end)
        return value_fail(error, word, 4, "\"%.40s\" is no number with a point; f32:1.5, f64:-2e9 and f32:nan are", word->text + 4);
    if (narrow && isinf(single) && !isinf(number))
        return value_fail(error, word, 4, "%.40s is larger than any number of 32 bits; f64: holds it", word->text + 4);
    memcpy(&bits, &single, sizeof bits);
    memcpy(out, &number, sizeof *out);
    if (narrow)
        *out = bits;
    return true;
}

bool value_number(const struct value_env *env, const struct word *word, uint64_t *out, struct words_error *error)
{
    struct reader r = {env, word, word->text, error};
    uint64_t value = 0;
    if (word->quoted)
        return FAIL(&r, "quoted text where a number or a name is expected");
    if (strncmp(word->text, "f32:", 4) == 0 || strncmp(word->text, "f64:", 4) == 0)
        return read_float(word, out, error);
    if (!read_sum(&r, &value))
        return false;
    if (strcmp(r.at, ";") == 0)
        return FAIL(&r, "\";\" does not end a line here; leave it out%.0s", r.at);
    if (*r.at)
        return FAIL(&r, "\"%.40s\" after a complete value; only + and - join values", r.at);
    *out = value;
    return true;
}

bool value_int(const struct value_env *env, const struct word *word, int *out, struct words_error *error)
{
    struct word rest = *word;
    bool negative = word->text[0] == '-';
    uint64_t value = 0;
    rest.text += negative;
    rest.column += negative;
    if (!value_number(env, &rest, &value, error))
        return false;
    if (value > (uint64_t)INT32_MAX + negative)
        return value_fail(error, word, 0, "%.40s does not fit into a 32-bit integer", word->text);
    *out = negative ? (int)-(int64_t)value : (int)value;
    return true;
}
