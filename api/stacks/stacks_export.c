/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks_export.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

struct tables {
    const struct module *module;
    const char *strings;
    const ElfW(Sym) *symbols;
    const uint32_t *hash; /* DT_GNU_HASH */
    uintptr_t strings_size;
};

static bool inside(const struct module *module, uintptr_t at, uintptr_t size)
{
    return at >= module->start && at < module->end && size <= module->end - at;
}

/* The loader has added the bias in most files, but not in those that it must not write to. */
static uintptr_t place(const struct module *module, uintptr_t value)
{
    return inside(module, value, 1) ? value : value + module->bias;
}

static void read_dynamic(struct tables *tables, const ElfW(Dyn) *entry, uintptr_t count)
{
    for (; count && entry->d_tag != DT_NULL; entry++, count--) {
        const uintptr_t at = place(tables->module, entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRSZ)
            tables->strings_size = entry->d_un.d_val;
        else if (entry->d_tag == DT_STRTAB && inside(tables->module, at, 1))
            tables->strings = (const void *)at;
        else if (entry->d_tag == DT_SYMTAB && inside(tables->module, at, sizeof(ElfW(Sym))))
            tables->symbols = (const void *)at;
        else if (entry->d_tag == DT_GNU_HASH && inside(tables->module, at, 16))
            tables->hash = (const void *)at;
    }
}

static bool find_tables(const struct module *module, struct tables *tables)
{
    const ElfW(Ehdr) *head = (const void *)module->start;
    *tables = (struct tables){.module = module};
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phentsize != sizeof(ElfW(Phdr)) ||
        !inside(module, module->start + head->e_phoff, head->e_phnum * sizeof(ElfW(Phdr))))
        return false;
    const ElfW(Phdr) *segment = (const void *)(module->start + head->e_phoff);
    for (unsigned i = 0; i < head->e_phnum; i++)
        if (segment[i].p_type == PT_DYNAMIC && inside(module, module->bias + segment[i].p_vaddr, segment[i].p_memsz))
            read_dynamic(tables, (const void *)(module->bias + segment[i].p_vaddr), segment[i].p_memsz / sizeof(ElfW(Dyn)));
    return tables->strings && tables->symbols && tables->hash;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static bool is(const struct tables *tables, const ElfW(Sym) *symbol, const char *name)
{
    const uintptr_t size = strlen(name) + 1;
    return inside(tables->module, (uintptr_t)symbol, sizeof *symbol) && symbol->st_shndx != SHN_UNDEF &&
           symbol->st_name < tables->strings_size && size <= tables->strings_size - symbol->st_name &&
           inside(tables->module, (uintptr_t)tables->strings + symbol->st_name, size) &&
           memcmp(tables->strings + symbol->st_name, name, size) == 0;
}

/* The table: counts of buckets, first hashed symbol, size of the filter, shift; the filter, the buckets, the chains. */
uintptr_t export_of(const struct module *module, const char *name)
{
    struct tables tables;
    if (!find_tables(module, &tables))
        return 0;
    const uint32_t buckets = tables.hash[0], first = tables.hash[1], filter = tables.hash[2], hash = hash_of(name);
    const uint32_t *bucket = tables.hash + 4 + filter * (sizeof(ElfW(Addr)) / sizeof(uint32_t)), *chain = bucket + buckets;
    if (!buckets || !inside(module, (uintptr_t)bucket, ((uintptr_t)buckets + 1) * sizeof *bucket))
        return 0;
    uint32_t at = bucket[hash % buckets];
    while (at >= first && inside(module, (uintptr_t)&chain[at - first], sizeof *chain)) {
        const uint32_t here = chain[at - first];
        if ((here | 1) == (hash | 1) && is(&tables, &tables.symbols[at], name))
            return module->bias + tables.symbols[at].st_value;
        if (here & 1)
            return 0;
        at++;
    }
    return 0;
}
