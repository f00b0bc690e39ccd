/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of a made-up file with a single bucket, and of damaged files. */
#include "stacks_export.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "tap.h"

enum { SYMBOLS = 4, DYNAMIC = 4 };

/* The file as it appears in memory. Its chains are the last. */
static struct file {
    ElfW(Ehdr) head;
    ElfW(Phdr) segment[2];
    ElfW(Dyn) dynamic[DYNAMIC];
    ElfW(Sym) symbol[SYMBOLS];
    char strings[32];
    uint32_t hash[4];
    ElfW(Addr) filter;
    uint32_t bucket, chain[SYMBOLS - 1];
} file;

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    while (*name)
        hash = hash * 33 + (unsigned char)*name++;
    return hash;
}

static void make(void)
{
    static const char strings[] = "\0alpha\0beta\0absent";
    static const uint32_t names[SYMBOLS] = {0, 1, 7, 12};
    file = (struct file){.head = {.e_ident = ELFMAG, .e_phentsize = sizeof(ElfW(Phdr)), .e_phnum = 2,
                                  .e_phoff = offsetof(struct file, segment)},
                         .segment = {{.p_type = PT_LOAD},
                                     {.p_type = PT_DYNAMIC, .p_vaddr = offsetof(struct file, dynamic), .p_memsz = sizeof file.dynamic}},
                         .dynamic = {{DT_STRSZ, {sizeof strings}},
                                     {DT_STRTAB, {offsetof(struct file, strings)}},
                                     {DT_SYMTAB, {offsetof(struct file, symbol)}},
                                     {DT_GNU_HASH, {offsetof(struct file, hash)}}},
                         .hash = {1, 1, 1, 0},
                         .bucket = 1};
    memcpy(file.strings, strings, sizeof strings);
    for (unsigned i = 1; i < SYMBOLS; i++) {
        file.symbol[i].st_name = names[i];
        file.symbol[i].st_value = 0x100 * i;
        file.symbol[i].st_shndx = i == 3 ? SHN_UNDEF : 1;
        file.chain[i - 1] = (hash_of(file.strings + names[i]) & ~1U) | (i == 3);
    }
}

/* The symbol's address in the file; 0: absent. */
static uint64_t found(const char *name)
{
    const uintptr_t start = (uintptr_t)&file, end = (uintptr_t)&file + offsetof(struct file, chain) + sizeof file.chain;
    const struct module module = {.start = start, .end = end, .bias = start};
    const uintptr_t at = export_of(&module, name);
    return at ? at - start : 0;
}

static void test_whole(void)
{
    make();
    tap_u64(found("alpha"), 0x100, "the first symbol");
    tap_u64(found("beta"), 0x200, "the next one of its chain");
    tap_u64(found("absent"), 0, "one that another file has");
    tap_u64(found("gamma"), 0, "one that no chain has");
    for (unsigned i = 1; i < DYNAMIC; i++)
        file.dynamic[i].d_un.d_ptr += (uintptr_t)&file;
    tap_u64(found("beta"), 0x200, "where the loader has added the bias");
    make();
    file.segment[1].p_memsz = sizeof file;
    file.dynamic[DYNAMIC - 1] = file.dynamic[0];
    file.dynamic[0].d_tag = DT_NULL;
    tap_u64(found("alpha"), 0, "entries after the end of the list are not read");
}

/* A field, and an invalid value for it. */
struct damage {
    const char *name;
    size_t at, size;
    uint64_t value;
};
#define FIELD(field) offsetof(struct file, field), sizeof file.field
#define FAR 0x10000000

static void test_damaged(void)
{
    static const struct damage cases[] = {
        {"no file's header", FIELD(head.e_ident[1]), 0},
        {"segments of another size", FIELD(head.e_phentsize), 32},
        {"segments outside", FIELD(head.e_phoff), FAR},
        {"more segments than there is room for", FIELD(head.e_phnum), 500},
        {"no dynamic segment", FIELD(segment[1].p_type), PT_NOTE},
        {"a dynamic segment outside", FIELD(segment[1].p_vaddr), FAR},
        {"strings without a size", FIELD(dynamic[0].d_tag), DT_NEEDED},
        {"no strings", FIELD(dynamic[1].d_tag), DT_NEEDED},
        {"strings outside", FIELD(dynamic[1].d_un.d_ptr), FAR},
        {"no symbols", FIELD(dynamic[2].d_tag), DT_NEEDED},
        {"symbols outside", FIELD(dynamic[2].d_un.d_ptr), FAR},
        {"symbols that end too late", FIELD(dynamic[2].d_un.d_ptr), offsetof(struct file, chain)},
        {"a first symbol alone inside", FIELD(dynamic[2].d_un.d_ptr),
         offsetof(struct file, chain) + sizeof file.chain - sizeof file.symbol[0]},
        {"no hashes", FIELD(dynamic[3].d_tag), DT_NEEDED},
        {"hashes outside", FIELD(dynamic[3].d_un.d_ptr), FAR},
        {"no buckets", FIELD(hash[0]), 0},
        {"buckets past the end", FIELD(hash[0]), FAR},
        {"a filter past the end", FIELD(hash[2]), FAR},
        {"an empty bucket", FIELD(bucket), 0},
        {"a chain past the end", FIELD(bucket), 50},
        {"a name past the strings", FIELD(symbol[1].st_name), 1000},
        {"a name that ends past the strings", FIELD(symbol[1].st_name), 17},
        {"another name of that hash", FIELD(strings[2]), 'L'},
        {"a symbol of another file", FIELD(symbol[1].st_shndx), SHN_UNDEF},
        {"another hash", FIELD(chain[0]), 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make();
        memcpy((char *)&file + cases[i].at, &cases[i].value, cases[i].size);
        tap_u64(found("alpha"), 0, "%s", cases[i].name);
    }
    make();
    file.dynamic[0].d_un.d_val = 2 * FAR;
    file.symbol[1].st_name = FAR;
    tap_u64(found("alpha"), 0, "strings whose size is past the file");
    make();
    file.chain[SYMBOLS - 2] &= ~1U;
    tap_u64(found("gamma"), 0, "a chain without an end");
}

int main(void)
{
    test_whole();
    test_damaged();
    return tap_done();
}
