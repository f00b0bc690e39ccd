/* SPDX-License-Identifier: Apache-2.0 */
/* symbol_table.h - the functions of an ELF file by address, from its symbol tables.
 *
 *     file      .symtab, .dynsym: 250,000 symbols in no order
 *     table     [0x1000 main][0x1040 grow][0x11c0 step] ...      a binary search each
 *
 * Files may be forged: every value is held to the file's size.
 */
#ifndef CUVMM_TOOLS_SYMBOL_TABLE_H
#define CUVMM_TOOLS_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUILD_TEXT = 129 };

struct symbol_entry {
    uint64_t start, end;
    uint64_t name; /* where in the file */
};

struct symbol_table {
    const unsigned char *bytes;
    size_t size;
    bool mapped;
    struct symbol_entry *entry; /* sorted, without overlap by the search: the last one that begins before */
    size_t count;
    char build[BUILD_TEXT]; /* in hexadecimal digits; "": none */
};

/* Reads a file, or the bytes of one in memory. False if it is none, or memory is out; table is empty then. */
bool symbol_table_open(struct symbol_table *table, const char *path);
bool symbol_table_of(struct symbol_table *table, const unsigned char *bytes, size_t size);
void symbol_table_close(struct symbol_table *table);

/* The name of the function at an address of the file; NULL: none. It ends in the file. */
const char *symbol_table_find(const struct symbol_table *table, uint64_t address);

#endif
