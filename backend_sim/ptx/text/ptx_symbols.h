/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_symbols.h - the names of a module, in scopes.
 *
 *     module     table, kernel
 *       body     %r<10> -> registers 0 to 9        BB1
 *         { }    tmp, and a BB1 of its own          those names end here
 *
 * A name refers to its declaration in the innermost scope. Labels may be used before they are defined: ptx_symbols_label gives
 * a label a number at its first use, and closing a scope passes labels without a definition to the enclosing scope.
 */
#ifndef PTX_SYMBOLS_H
#define PTX_SYMBOLS_H

#include "ptx_module.h"

enum ptx_symbol_kind {
    PTX_SYMBOL_VARIABLE,
    PTX_SYMBOL_FUNCTION,
    PTX_SYMBOL_REGISTER,  /* number */
    PTX_SYMBOL_REGISTERS, /* %r<100>: the name is the stem, number the first, count of them */
    PTX_SYMBOL_VECTOR,    /* .reg .v4: number the first of count */
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_TARGETS
};

struct ptx_symbol {
    struct ptx_text name;
    enum ptx_symbol_kind kind;
    uint32_t depth, number, count;
    uint32_t module; /* the linked module that declares it */
    bool defined; /* of a label */
    struct ptx_place place;
    const struct ptx_variable *variable;
    struct ptx_function *function;
    struct ptx_targets *targets;
    struct ptx_symbol *same, *below; /* in its bucket; in its scope */
};

enum { PTX_BUCKETS = 1024, PTX_DEPTHS = 64 }; /* initial number of buckets */

struct ptx_symbols {
    struct ptx_context *context;
    struct ptx_symbol **bucket; /* in each bucket the innermost first */
    uint32_t buckets, count;
    struct ptx_symbol *scope[PTX_DEPTHS];
    uint32_t depth;
    uint32_t module;
    uint32_t labels; /* numbered in the function so far */
    uint32_t *label_is, label_room; /* for each: itself, or the number of the label it turned out to be */
};

void ptx_symbols_open(struct ptx_symbols *symbols, struct ptx_context *context);
void ptx_symbols_enter(struct ptx_symbols *symbols, struct ptx_place place);
/* In a function's outermost scope, an undefined label is an error. */
void ptx_symbols_leave(struct ptx_symbols *symbols, bool last);

/* Removes the names that are local to a module: call it outside of functions. */
void ptx_symbols_end_module(struct ptx_symbols *symbols);

/* Adds a name to the innermost scope; it is an error if the name exists there. */
struct ptx_symbol *ptx_symbols_add(struct ptx_symbols *symbols, struct ptx_text name, struct ptx_place place,
                                   enum ptx_symbol_kind kind);

/* The same for a name that is local to the module and hides those of other modules. */
struct ptx_symbol *ptx_symbols_add_own(struct ptx_symbols *symbols, struct ptx_text name, struct ptx_place place,
                                       enum ptx_symbol_kind kind);

/* NULL: not declared. A register of %r<10> is found by its whole name: *number is the register's number. */
struct ptx_symbol *ptx_symbols_find(const struct ptx_symbols *symbols, struct ptx_text name, uint32_t *number);

/* The number of a label that this or an enclosing scope defines. */
uint32_t ptx_symbols_label(struct ptx_symbols *symbols, struct ptx_text name, struct ptx_place place, bool defined);

#endif
