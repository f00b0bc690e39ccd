/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

struct symbol *symbols_find(struct symbols *symbols, const char *name, size_t length)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (strlen(symbols->list[i].name) == length && memcmp(symbols->list[i].name, name, length) == 0)
            return &symbols->list[i];
    return NULL;
}

struct symbol *symbols_set(struct symbols *symbols, const char *name, enum symbol_kind kind, uint64_t value)
{
    struct symbol *symbol = symbols_find(symbols, name, strlen(name));
    if (!symbol) {
        if (symbols->count == symbols->room) {
            symbols->room = symbols->room ? symbols->room * 2 : 16;
            symbols->list = text_grow(symbols->list, symbols->room * sizeof *symbols->list);
        }
        symbol = &symbols->list[symbols->count++];
    }
    *symbol = (struct symbol){.kind = kind, .value = value};
    strncpy(symbol->name, name, SYMBOL_NAME_MAX);
    return symbol;
}

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* dev0, numa12: a location's word and a number. */
static bool numbered(const char *text, size_t length, const char *word)
{
    size_t prefix = strlen(word);
    if (length <= prefix || memcmp(text, word, prefix) != 0)
        return false;
    for (size_t i = prefix; i < length; i++)
        if (!digit(text[i]))
            return false;
    return true;
}

bool symbols_name_ok(const char *text, size_t length)
{
    static const char *const taken[] = {"max", "null", "none", "host", "gran", "hgran", "dev", "numa", "loc", "zero"};
    if (length == 0 || length > SYMBOL_NAME_MAX || !letter(text[0]))
        return false;
    for (size_t i = 1; i < length; i++)
        if (!letter(text[i]) && !digit(text[i]))
            return false;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strlen(taken[i]) == length && memcmp(taken[i], text, length) == 0)
            return false;
    return !numbered(text, length, "dev") && !numbered(text, length, "numa");
}

static bool has_addresses(const struct symbol *symbol)
{
    return symbol->kind == SYMBOL_RESERVATION || symbol->kind == SYMBOL_ALLOCATION;
}

const struct symbol *symbols_at(const struct symbols *symbols, uint64_t address)
{
    const struct symbol *ended = NULL;
    for (size_t i = symbols->count; i-- > 0;) {
        const struct symbol *symbol = &symbols->list[i];
        if (!has_addresses(symbol) || address < symbol->value || address - symbol->value >= symbol->size)
            continue;
        if (!symbol->ended)
            return symbol;
        if (!ended)
            ended = symbol;
    }
    for (size_t i = symbols->count; !ended && i-- > 0;) {
        const struct symbol *symbol = &symbols->list[i];
        if (has_addresses(symbol) && !symbol->ended && address - symbol->value == symbol->size)
            ended = symbol;
    }
    return ended;
}

const struct symbol *symbols_named(const struct symbols *symbols, enum symbol_kind kind, uint64_t value)
{
    const struct symbol *ended = NULL;
    for (size_t i = 0; i < symbols->count; i++) {
        const struct symbol *symbol = &symbols->list[i];
        if (symbol->kind != kind || symbol->value != value)
            continue;
        if (!symbol->ended)
            return symbol;
        ended = symbol;
    }
    return ended;
}

void symbols_end(struct symbols *symbols, enum symbol_kind kind, uint64_t value)
{
    for (size_t i = 0; i < symbols->count; i++)
        if (symbols->list[i].kind == kind && symbols->list[i].value == value && !symbols->list[i].ended) {
            symbols->list[i].ended = true;
            return;
        }
}

const char *symbols_kind_text(enum symbol_kind kind)
{
    static const char *const text[] = {"a number",    "a reservation", "a handle",
                                       "an allocation", "a context",     "a stream", "an event",
                                       "a memory pool", "an array", "a graph", "a node of a graph", "an instance of a graph", "a user object", "a descriptor"};
    return text[kind];
}

void symbols_free(struct symbols *symbols)
{
    free(symbols->list);
    *symbols = (struct symbols){0};
}
