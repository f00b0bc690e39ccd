/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.h - the names a script gives to what it made.
 *
 *     r0 = reserve 4gran            r0: RESERVATION  value = its address   size = 8MiB
 *     free r0                       r0 stays known as "ended", so that using it again can be written and is explained
 */
#ifndef CUVMM_TOOLS_SYMBOLS_H
#define CUVMM_TOOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_kind {
    SYMBOL_NUMBER, /* an answer: bytes free, an attribute, rights */
    SYMBOL_RESERVATION,
    SYMBOL_HANDLE,
    SYMBOL_ALLOCATION,
    SYMBOL_CONTEXT,
    SYMBOL_STREAM,
    SYMBOL_EVENT,
    SYMBOL_POOL,
    SYMBOL_ARRAY, /* or a mipmapped one */
    SYMBOL_GRAPH,
    SYMBOL_NODE,
    SYMBOL_EXEC,
    SYMBOL_OBJECT,
    SYMBOL_DESCRIPTOR /* of exported memory; size is the memory's */
};

#define SYMBOL_NAME_MAX 31

struct symbol {
    char name[SYMBOL_NAME_MAX + 1];
    enum symbol_kind kind;
    uint64_t value;
    uint64_t size;  /* bytes of a reservation, handle or allocation */
    uint64_t total; /* second answer of meminfo */
    bool ended;     /* freed, released or destroyed by the script */
    char of[SYMBOL_NAME_MAX + 1]; /* of a descriptor: the handle's name that was exported, or "" */
};

struct symbols {
    struct symbol *list;
    size_t count, room;
};

/* NULL when the name is not known. Valid until the next symbols_set. */
struct symbol *symbols_find(struct symbols *symbols, const char *name, size_t length);

/* Makes or replaces the name, which must be valid (symbols_name_ok). Returns its entry. */
struct symbol *symbols_set(struct symbols *symbols, const char *name, enum symbol_kind kind, uint64_t value);

/* True when text of length may name something: a letter first, then letters, digits and '_', not too long, and none of
 * the language's own words (dev0, host, max, gran, ...). */
bool symbols_name_ok(const char *text, size_t length);

/* The name that stands for an address: the live reservation or allocation that contains it, otherwise an ended one
 * that contained it, otherwise a live one that ends there. NULL when there is none. */
const struct symbol *symbols_at(const struct symbols *symbols, uint64_t address);

/* The name of a handle, context, stream or event value; live ones first. NULL when there is none. */
const struct symbol *symbols_named(const struct symbols *symbols, enum symbol_kind kind, uint64_t value);

/* Marks what the value of this kind names as ended. */
void symbols_end(struct symbols *symbols, enum symbol_kind kind, uint64_t value);

/* "a reservation", "a handle", ... */
const char *symbols_kind_text(enum symbol_kind kind);

void symbols_free(struct symbols *symbols);

#endif
