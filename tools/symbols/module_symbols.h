/* SPDX-License-Identifier: Apache-2.0 */
/* module_symbols.h - names of code: function, file and line of an address in a file, with the functions that were inlined there.
 *
 *     /srv/pool.so, build 5f3a.., 0x11f5   ->   copy_name   pool.h:8     inlined into the next
 *                                               grow        pool.c:31
 *
 *     file there, build id the same   its debugging information (libdw), also in a file of its own; else its symbol tables
 *     file gone                       the file for its build id under /usr/lib/debug
 *     another build id                nothing: the file was replaced, and its names would be wrong
 *
 * For the process that reports, not for the one that is reported on. One thread. A module is read once, and each address is
 * looked up once.
 */
#ifndef CUVMM_TOOLS_MODULE_SYMBOLS_H
#define CUVMM_TOOLS_MODULE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct code_symbol {
    const char *function; /* demangled; "": unknown */
    const char *file;     /* as the compiler was given it, absolute where that is known; "": unknown */
    unsigned line;        /* 0: unknown */
    bool inlined;         /* into the next one of the list */
};

enum symbols_state { SYMBOLS_READ, SYMBOLS_GONE, SYMBOLS_REPLACED };

/* What is at an address of a module, the innermost first; at least one, without names where nothing is known. The module is
 * given as a stack has it (stacks.h): path, build id in hexadecimal digits, "" if unknown. The list lasts until module_symbols_forget. */
unsigned module_symbols_at(const char *module, const char *build, uint64_t offset, const struct code_symbol **list);

/* Whether its names could be read at all; reads the module if need be. */
enum symbols_state module_symbols_state(const char *module, const char *build);

/* Frees everything. */
void module_symbols_forget(void);

/* Were the lines of debugging information built in? */
bool module_symbols_have_lines(void);

#endif
