/* SPDX-License-Identifier: Apache-2.0 */
/* A function's name from a file's symbol table, for functions that the loader does not know: static functions, and all functions
 * of a program. The file may be forged, so every value is checked. */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "findings_site.h"
#include "posix.h"

struct file {
    const unsigned char *bytes;
    size_t size;
};

static const void *part(const struct file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset ? file->bytes + offset : NULL;
}

/* Reads a record, which may have any offset. */
static bool read_at(const struct file *file, uint64_t offset, void *record, size_t size)
{
    const void *at = part(file, offset, size);
    if (at)
        memcpy(record, at, size);
    return at != NULL;
}

/* The address of the first loaded segment, from which offsets count. */
static uint64_t base(const struct file *file, const Elf64_Ehdr *head)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; i < head->e_phnum; i++)
        if (read_at(file, head->e_phoff + (uint64_t)i * head->e_phentsize, &segment, sizeof segment) && segment.p_type == PT_LOAD)
            return segment.p_vaddr & ~UINT64_C(4095);
    return 0;
}

static void find(const struct file *file, const Elf64_Shdr *symbols, const Elf64_Shdr *strings, uint64_t value, char *name,
                 size_t size)
{
    const char *text = part(file, strings->sh_offset, strings->sh_size);
    const unsigned char *table = part(file, symbols->sh_offset, symbols->sh_size);
    uint64_t count = text && table ? symbols->sh_size / sizeof(Elf64_Sym) : 0;
    Elf64_Sym symbol;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&symbol, table + i * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && value - symbol.st_value < symbol.st_size &&
            symbol.st_name < strings->sh_size) {
            snprintf(name, size, "%.*s", (int)(strings->sh_size - symbol.st_name < 100 ? strings->sh_size - symbol.st_name : 100),
                     text + symbol.st_name);
            return;
        }
    }
}

static void look(const struct file *file, size_t offset, char *name, size_t size)
{
    Elf64_Ehdr head;
    Elf64_Shdr section, strings;
    if (!read_at(file, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64)
        return;
    /* A file has one such table; a forged file with thousands of them must not take long. */
    bool found = false;
    for (unsigned i = 0; i < head.e_shnum && !found; i++)
        found = read_at(file, head.e_shoff + (uint64_t)i * head.e_shentsize, &section, sizeof section) &&
                section.sh_type == SHT_SYMTAB;
    if (found && read_at(file, head.e_shoff + (uint64_t)section.sh_link * head.e_shentsize, &strings, sizeof strings))
        find(file, &section, &strings, base(file, &head) + offset, name, size);
}

void site_symbol(const char *path, size_t offset, char *name, size_t size)
{
    struct stat status;
    name[0] = '\0';
    int fd = posix.open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (posix.fstat(fd, &status) == 0 && status.st_size > 0) {
        void *bytes = posix.mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            look(&(struct file){bytes, (size_t)status.st_size}, offset, name, size);
            posix.munmap(bytes, (size_t)status.st_size);
        }
    }
    close(fd);
}
