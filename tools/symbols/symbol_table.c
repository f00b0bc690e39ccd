/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol_table.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has(const struct symbol_table *table, uint64_t offset, uint64_t size)
{
    return offset <= table->size && size <= table->size - offset;
}

/* Copies a record, which may have any offset. */
static bool read_at(const struct symbol_table *table, uint64_t offset, void *record, size_t size)
{
    if (!has(table, offset, size))
        return false;
    memcpy(record, table->bytes + offset, size);
    return true;
}

/* ---- symbols ---- */

static bool is_code(const Elf64_Sym *symbol)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

/* Is it a text that ends inside its section? */
static bool is_text(const struct symbol_table *table, const Elf64_Shdr *strings, uint32_t at)
{
    return at < strings->sh_size && memchr(table->bytes + strings->sh_offset + at, 0, strings->sh_size - at);
}

static bool add_symbols(struct symbol_table *table, const Elf64_Shdr *section, const Elf64_Shdr *strings)
{
    Elf64_Sym symbol;
    if (!has(table, section->sh_offset, section->sh_size) || !has(table, strings->sh_offset, strings->sh_size))
        return true;
    const size_t count = section->sh_size / sizeof symbol;
    struct symbol_entry *grown = realloc(table->entry, (table->count + count + 1) * sizeof *grown);
    if (!grown)
        return false;
    table->entry = grown;
    for (size_t i = 0; i < count; i++) {
        memcpy(&symbol, table->bytes + section->sh_offset + i * sizeof symbol, sizeof symbol);
        if (is_code(&symbol) && is_text(table, strings, symbol.st_name))
            table->entry[table->count++] = (struct symbol_entry){symbol.st_value, symbol.st_value + symbol.st_size,
                                                                 strings->sh_offset + symbol.st_name};
    }
    return true;
}

/* By address; of several at one address the longest is the last, and found. */
static int compare(const void *left, const void *right)
{
    const struct symbol_entry *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return a->name < b->name ? 1 : a->name > b->name ? -1 : 0; /* .dynsym comes first in files, and has public names */
}

/* ---- the build id ---- */

static void read_notes(struct symbol_table *table, uint64_t at, uint64_t size)
{
    Elf64_Nhdr note;
    const uint64_t end = at + size;
    while (at + sizeof note <= end && read_at(table, at, &note, sizeof note)) {
        const uint64_t name = at + sizeof note, text = name + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && has(table, name, 4) &&
            memcmp(table->bytes + name, "GNU", 4) == 0 && has(table, text, note.n_descsz)) {
            for (unsigned i = 0; i < note.n_descsz && 2 * i + 2 < BUILD_TEXT; i++)
                snprintf(table->build + 2 * (size_t)i, 3, "%02x", table->bytes[text + i]);
            return;
        }
        at = text + ((note.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
    }
}

/* ---- files ---- */

enum { SECTIONS_MOST = 65536 };

static bool read_sections(struct symbol_table *table, const Elf64_Ehdr *head)
{
    Elf64_Shdr section, strings;
    bool full = false, good = true;
    /* A file has one table of each kind; a forged one with thousands must not take long. */
    unsigned tables = 0;
    for (unsigned i = 0; i < head->e_shnum && good; i++) {
        if (!read_at(table, head->e_shoff + (uint64_t)i * head->e_shentsize, &section, sizeof section))
            break;
        if (section.sh_type == SHT_NOTE && !table->build[0] && has(table, section.sh_offset, section.sh_size))
            read_notes(table, section.sh_offset, section.sh_size);
        full = section.sh_type == SHT_SYMTAB;
        if ((full || section.sh_type == SHT_DYNSYM) && tables++ < 4 &&
            read_at(table, head->e_shoff + (uint64_t)section.sh_link * head->e_shentsize, &strings, sizeof strings))
            good = add_symbols(table, &section, &strings);
    }
    if (table->count)
        qsort(table->entry, table->count, sizeof *table->entry, compare);
    return good;
}

bool symbol_table_of(struct symbol_table *table, const unsigned char *bytes, size_t size)
{
    Elf64_Ehdr head;
    *table = (struct symbol_table){.bytes = bytes, .size = size};
    if (!read_at(table, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || !read_sections(table, &head)) {
        symbol_table_close(table);
        return false;
    }
    return true;
}

bool symbol_table_open(struct symbol_table *table, const char *path)
{
    struct stat status;
    void *bytes = MAP_FAILED;
    *table = (struct symbol_table){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return false;
    if (!symbol_table_of(table, bytes, (size_t)status.st_size)) {
        munmap(bytes, (size_t)status.st_size);
        return false;
    }
    table->mapped = true;
    return true;
}

void symbol_table_close(struct symbol_table *table)
{
    if (table->mapped)
        munmap((void *)(uintptr_t)table->bytes, table->size);
    free(table->entry);
    *table = (struct symbol_table){0};
}

const char *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (table->entry[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* A function inside of another one ends before it: look a few further back. */
    for (size_t back = 0; back < 8 && back < low; back++) {
        const struct symbol_entry *entry = &table->entry[low - 1 - back];
        if (address < entry->end || (entry->end == entry->start && back == 0))
            return (const char *)table->bytes + entry->name;
    }
    return NULL;
}
