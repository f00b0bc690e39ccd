/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_symbols.h"

#include "fnv.h"

static struct ptx_symbol **bucket_of(const struct ptx_symbols *symbols, struct ptx_text name)
{
    return &symbols->bucket[fnv1a(FNV1A, name.at, name.length) & (symbols->buckets - 1)];
}

void ptx_symbols_open(struct ptx_symbols *symbols, struct ptx_context *context)
{
    symbols->context = context;
    symbols->buckets = PTX_BUCKETS;
    symbols->bucket = ptx_alloc(context, symbols->buckets, sizeof(struct ptx_symbol *));
}

/* Quadruples the number of buckets. Symbols of one bucket keep their order. */
static void grow(struct ptx_symbols *symbols)
{
    struct ptx_symbol **old = symbols->bucket;
    uint32_t count = symbols->buckets;
    symbols->buckets *= 4;
    symbols->bucket = ptx_alloc(symbols->context, symbols->buckets, sizeof(struct ptx_symbol *));
    for (uint32_t i = 0; i < count; i++)
        while (old[i]) {
            struct ptx_symbol *symbol = old[i], **link = bucket_of(symbols, symbol->name);
            old[i] = symbol->same;
            while (*link)
                link = &(*link)->same;
            *link = symbol;
            symbol->same = NULL;
        }
}

void ptx_symbols_enter(struct ptx_symbols *symbols, struct ptx_place place)
{
    if (symbols->depth == PTX_DEPTHS - 1)
        ptx_fail(symbols->context, place, "more than %d blocks are open at this point", PTX_DEPTHS - 2);
    symbols->scope[++symbols->depth] = NULL;
}

static void forget(struct ptx_symbols *symbols, const struct ptx_symbol *symbol)
{
    struct ptx_symbol **link = bucket_of(symbols, symbol->name);
    while (*link != symbol)
        link = &(*link)->same;
    *link = symbol->same;
    symbols->count--;
}

static struct ptx_symbol *find_at(const struct ptx_symbols *symbols, struct ptx_text name, uint32_t depth)
{
    struct ptx_symbol *symbol = *bucket_of(symbols, name);
    while (symbol && (symbol->depth != depth || !ptx_text_same(symbol->name, name)))
        symbol = symbol->same;
    return symbol;
}

static void insert(struct ptx_symbols *symbols, struct ptx_symbol *symbol, uint32_t depth)
{
    if (++symbols->count > symbols->buckets)
        grow(symbols);
    struct ptx_symbol **bucket = bucket_of(symbols, symbol->name);
    symbol->depth = depth;
    symbol->same = *bucket;
    *bucket = symbol;
    symbol->below = symbols->scope[depth];
    symbols->scope[depth] = symbol;
}

/* A label that this scope uses but does not define belongs to the enclosing scope. */
static void hand_on(struct ptx_symbols *symbols, struct ptx_symbol *label, uint32_t depth, bool last)
{
    if (last)
        ptx_fail(symbols->context, label->place, "%.*s is not declared: no register, variable, function or label has this name",
                 PTX_TEXT(label->name));
    const struct ptx_symbol *around = find_at(symbols, label->name, depth - 1);
    if (!around)
        insert(symbols, label, depth - 1);
    else if (around->kind == PTX_SYMBOL_LABEL)
        symbols->label_is[label->number] = around->number;
    else
        ptx_fail(symbols->context, label->place, "%.*s is not a label", PTX_TEXT(label->name));
}

void ptx_symbols_leave(struct ptx_symbols *symbols, bool last)
{
    uint32_t depth = symbols->depth--;
    struct ptx_symbol *below;
    for (struct ptx_symbol *symbol = symbols->scope[depth]; symbol; symbol = below) {
        below = symbol->below;
        forget(symbols, symbol);
        if (symbol->kind == PTX_SYMBOL_LABEL && !symbol->defined)
            hand_on(symbols, symbol, depth, last);
    }
}

/* Is it visible to other modules? */
static bool is_seen(const struct ptx_symbol *symbol)
{
    const enum ptx_linking linking = symbol->kind == PTX_SYMBOL_FUNCTION ? symbol->function->linking : symbol->variable->linking;
    return linking != PTX_LINK_NONE;
}

void ptx_symbols_end_module(struct ptx_symbols *symbols)
{
    struct ptx_symbol **link = &symbols->scope[0];
    symbols->module++;
    while (*link) {
        struct ptx_symbol *symbol = *link;
        if (is_seen(symbol)) {
            link = &symbol->below;
            continue;
        }
        *link = symbol->below;
        forget(symbols, symbol);
    }
}

struct ptx_symbol *ptx_symbols_add_own(struct ptx_symbols *symbols, struct ptx_text name, struct ptx_place place,
                                       enum ptx_symbol_kind kind)
{
    struct ptx_symbol *before = find_at(symbols, name, symbols->depth);
    if (before && before->module == symbols->module)
        ptx_fail(symbols->context, place, "%.*s was declared before, at line %u", PTX_TEXT(name), before->place.line);
    struct ptx_symbol *symbol = ptx_alloc(symbols->context, 1, sizeof *symbol);
    symbol->name = name;
    symbol->kind = kind;
    symbol->place = place;
    symbol->module = symbols->module;
    insert(symbols, symbol, symbols->depth);
    return symbol;
}

struct ptx_symbol *ptx_symbols_add(struct ptx_symbols *symbols, struct ptx_text name, struct ptx_place place,
                                   enum ptx_symbol_kind kind)
{
    struct ptx_symbol *before = find_at(symbols, name, symbols->depth);
    if (before)
        ptx_fail(symbols->context, place, "%.*s was declared before, at line %u", PTX_TEXT(name), before->place.line);
    return ptx_symbols_add_own(symbols, name, place, kind);
}

static struct ptx_symbol *find(const struct ptx_symbols *symbols, struct ptx_text name)
{
    struct ptx_symbol *best = NULL;
    for (struct ptx_symbol *symbol = *bucket_of(symbols, name); symbol; symbol = symbol->same)
        if ((!best || symbol->depth > best->depth) && ptx_text_same(symbol->name, name))
            best = symbol;
    return best;
}

/* "%r12" as number 12 of %r<100>, or 2 of %r1<5>. */
static struct ptx_symbol *find_numbered(const struct ptx_symbols *symbols, struct ptx_text name, uint32_t *number)
{
    uint64_t value = 0, unit = 1;
    for (uint32_t length = name.length - 1; length > 0 && unit < UINT32_MAX; length--, unit *= 10) {
        char c = name.at[length];
        if (c < '0' || c > '9')
            return NULL;
        value += unit * (uint64_t)(c - '0');
        if (c == '0' && length + 1 < name.length)
            continue; /* numbers have no leading zero */
        struct ptx_symbol *symbol = find(symbols, (struct ptx_text){name.at, length});
        if (symbol && symbol->kind == PTX_SYMBOL_REGISTERS && value < symbol->count) {
            *number = symbol->number + (uint32_t)value;
            return symbol;
        }
    }
    return NULL;
}

struct ptx_symbol *ptx_symbols_find(const struct ptx_symbols *symbols, struct ptx_text name, uint32_t *number)
{
    struct ptx_symbol *symbol = find(symbols, name);
    if (symbol && symbol->kind != PTX_SYMBOL_REGISTERS) {
        *number = symbol->number;
        return symbol;
    }
    return find_numbered(symbols, name, number);
}

uint32_t ptx_symbols_label(struct ptx_symbols *symbols, struct ptx_text name, struct ptx_place place, bool defined)
{
    struct ptx_symbol *label = find_at(symbols, name, symbols->depth);
    if (!label && !defined) {
        label = find(symbols, name);
        if (label && !(label->kind == PTX_SYMBOL_LABEL && label->defined))
            label = NULL;
    }
    if (label && (label->kind != PTX_SYMBOL_LABEL || (defined && label->defined)))
        ptx_fail(symbols->context, place, "%.*s was declared before, at line %u", PTX_TEXT(name), label->place.line);
    if (!label) {
        label = ptx_symbols_add(symbols, name, place, PTX_SYMBOL_LABEL);
        symbols->label_is = ptx_more(symbols->context, symbols->label_is, symbols->labels, &symbols->label_room, sizeof(uint32_t));
        symbols->label_is[symbols->labels] = symbols->labels;
        label->number = symbols->labels++;
    }
    label->defined = label->defined || defined;
    return label->number;
}
