/* SPDX-License-Identifier: Apache-2.0 */
/* image_rig.h - for tests: device code made by hand, in the formats of image.h.
 *
 *     rig_cubin(&bytes, 90, kernels, 2, variables, 1)     a cubin
 *     rig_fatbin(&bytes); rig_entry(&bytes, 2, 90, FLAG, cubin.at, cubin.size, unpacked)   a fat binary, entry by entry
 *     rig_lz4(&bytes, from, size), rig_zstd(...)          packed as literals only
 */
#ifndef SIM_TESTING_IMAGE_RIG_H
#define SIM_TESTING_IMAGE_RIG_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig_bytes {
    unsigned char *at;
    size_t size, room;
};

static inline size_t rig_put(struct rig_bytes *bytes, const void *from, size_t size)
{
    size_t at = bytes->size;
    if (bytes->size + size > bytes->room) {
        bytes->room = 2 * (bytes->size + size) + 64;
        bytes->at = realloc(bytes->at, bytes->room);
        if (!bytes->at)
            abort();
    }
    if (size)
        memcpy(bytes->at + at, from, size);
    bytes->size += size;
    return at;
}

static inline size_t rig_u32(struct rig_bytes *bytes, uint32_t value)
{
    return rig_put(bytes, &value, sizeof value);
}

/* A name with its zero. */
static inline uint32_t rig_name(struct rig_bytes *bytes, const char *before, const char *name)
{
    size_t at = rig_put(bytes, before, strlen(before));
    rig_put(bytes, name, strlen(name) + 1);
    return (uint32_t)at;
}

/* ---- cubins ---- */

struct rig_kernel {
    const char *name;
    uint16_t param[4]; /* sizes, ended by a 0; each at a multiple of itself, or of 8 */
    uint32_t registers, frame, shared, threads[3], cluster[3];
};

struct rig_variable {
    const char *name;
    uint32_t size;
    const char *initial; /* that many bytes; NULL: zeros */
};

struct rig_elf {
    struct rig_bytes data, sections, names, strings, symbols, indexes, info;
    uint32_t count;
};

static inline uint32_t rig_section(struct rig_elf *elf, uint32_t type, const char *before, const char *name, const void *bytes,
                                   uint64_t size, uint32_t link, uint32_t info, uint64_t entry)
{
    Elf64_Shdr section = {.sh_name = rig_name(&elf->names, before, name), .sh_type = type, .sh_size = size, .sh_link = link,
                          .sh_info = info, .sh_entsize = entry};
    section.sh_offset = sizeof(Elf64_Ehdr) + (bytes ? rig_put(&elf->data, bytes, size) : elf->data.size);
    rig_put(&elf->sections, &section, sizeof section);
    return elf->count++;
}

static inline uint32_t rig_symbol(struct rig_elf *elf, const char *name, unsigned type, unsigned other, uint32_t section,
                                  uint64_t value, uint64_t size)
{
    Elf64_Sym symbol = {.st_name = rig_name(&elf->strings, "", name), .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
                        .st_other = (unsigned char)other, .st_shndx = section < SHN_LORESERVE ? (uint16_t)section : SHN_XINDEX,
                        .st_value = value, .st_size = size};
    rig_put(&elf->symbols, &symbol, sizeof symbol);
    return (uint32_t)(rig_u32(&elf->indexes, section) / 4);
}

static inline void rig_attribute(struct rig_bytes *info, unsigned name, uint32_t a, uint32_t b, uint32_t c, unsigned words)
{
    rig_u32(info, 0x04 | name << 8 | words * 4 << 16);
    const uint32_t value[3] = {a, b, c};
    rig_put(info, value, words * sizeof *value);
}

/* Parameters of the first kernels in the format of toolkits before 13, of the others in the format of 13. */
static inline void rig_kernel_info(struct rig_bytes *info, const struct rig_kernel *kernel, bool old)
{
    uint32_t at = 0;
    rig_u32(info, 0x0000ff03 | 0x1b << 8); /* a value in place, which is not read */
    for (unsigned i = 0; i < 4 && kernel->param[i]; i++) {
        uint32_t size = kernel->param[i], align = size < 8 ? size : 8;
        at = (at + align - 1) / align * align;
        if (old)
            rig_attribute(info, 0x17, 0, i | at << 16, size << 18 | 0x1f000, 3);
        else
            rig_attribute(info, 0x45, 0, i | at << 16, size, 3);
        at += size;
    }
    if (kernel->threads[0])
        rig_attribute(info, 0x05, kernel->threads[0], kernel->threads[1], kernel->threads[2], 3);
    if (kernel->cluster[0])
        rig_attribute(info, 0x3d, kernel->cluster[0], kernel->cluster[1], kernel->cluster[2], 3);
}

static inline void rig_kernel_sections(struct rig_elf *elf, const struct rig_kernel *kernel, unsigned index)
{
    struct rig_bytes info = {NULL, 0, 0};
    uint32_t text = rig_section(elf, SHT_PROGBITS, ".text.", kernel->name, "code", 4, 0, 0, 0);
    rig_kernel_info(&info, kernel, index % 2 == 0);
    rig_section(elf, SHT_LOPROC, ".nv.info.", kernel->name, info.at, info.size, 0, text, 0);
    free(info.at);
    if (kernel->shared)
        rig_section(elf, SHT_NOBITS, ".nv.shared.", kernel->name, NULL, kernel->shared, 0, text, 0);
    uint32_t symbol = rig_symbol(elf, kernel->name, STT_FUNC, 0x10, text, 0, 4);
    rig_attribute(&elf->info, 0x2f, symbol, kernel->registers, 0, 2);
    rig_attribute(&elf->info, 0x11, symbol, kernel->frame, 0, 2);
}

static inline void rig_variables(struct rig_elf *elf, const struct rig_variable *variable, unsigned count)
{
    uint32_t zeros = rig_section(elf, SHT_NOBITS, "", ".nv.global", NULL, 1 << 20, 0, 0, 0), at = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t section = zeros;
        if (variable[i].initial)
            section = rig_section(elf, SHT_PROGBITS, "", i % 2 ? ".nv.constant3" : ".nv.global.init", variable[i].initial,
                                  variable[i].size, 0, 0, 0);
        rig_symbol(elf, variable[i].name, STT_OBJECT, 0, section, variable[i].initial ? 0 : at, variable[i].size);
        at += variable[i].initial ? 0 : variable[i].size;
    }
}

static inline void rig_cubin(struct rig_bytes *bytes, uint32_t architecture, const struct rig_kernel *kernel, unsigned count,
                             const struct rig_variable *variable, unsigned variables)
{
    struct rig_elf elf = {.count = 0};
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1, 0x41, 8}, .e_type = ET_EXEC, .e_machine = 190,
                         .e_flags = 0x06000000 | architecture << 8, .e_ehsize = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr)};
    rig_section(&elf, SHT_NULL, "", "", NULL, 0, 0, 0, 0);
    rig_symbol(&elf, "", 0, 0, 0, 0, 0);
    rig_symbol(&elf, "helper", STT_FUNC, 0, 1, 0, 4); /* no kernel */
    rig_section(&elf, SHT_NOBITS, "", ".nv.shared.reserved.0", NULL, 0, 0, 0, 0);
    for (unsigned i = 0; i < count; i++)
        rig_kernel_sections(&elf, &kernel[i], i);
    rig_variables(&elf, variable, variables);
    rig_section(&elf, SHT_LOPROC, "", ".nv.info", elf.info.at, elf.info.size, 0, 0, 0);
    uint32_t strings = rig_section(&elf, SHT_STRTAB, "", ".strtab", elf.strings.at, elf.strings.size, 0, 0, 0);
    uint32_t symbols = rig_section(&elf, SHT_SYMTAB, "", ".symtab", elf.symbols.at, elf.symbols.size, strings, 0, sizeof(Elf64_Sym));
    rig_section(&elf, SHT_SYMTAB_SHNDX, "", ".symtab_shndx", elf.indexes.at, elf.indexes.size, symbols, 0, 4);
    uint32_t names = elf.count;
    rig_name(&elf.names, "", ".shstrtab"); /* twice, so that the size is known before */
    rig_section(&elf, SHT_STRTAB, "", ".shstrtab", NULL, elf.names.size + sizeof ".shstrtab", 0, 0, 0);
    Elf64_Shdr *section = (Elf64_Shdr *)(void *)elf.sections.at;
    section[names].sh_offset = sizeof header + rig_put(&elf.data, elf.names.at, elf.names.size);
    header.e_shoff = sizeof header + elf.data.size;
    header.e_shnum = elf.count < SHN_LORESERVE ? (uint16_t)elf.count : 0;
    header.e_shstrndx = names < SHN_LORESERVE ? (uint16_t)names : SHN_XINDEX;
    section[0].sh_size = header.e_shnum ? 0 : elf.count;
    section[0].sh_link = header.e_shstrndx == SHN_XINDEX ? names : 0;
    rig_put(bytes, &header, sizeof header);
    rig_put(bytes, elf.data.at, elf.data.size);
    rig_put(bytes, elf.sections.at, elf.sections.size);
    free(elf.data.at), free(elf.sections.at), free(elf.names.at), free(elf.strings.at);
    free(elf.symbols.at), free(elf.indexes.at), free(elf.info.at);
}

/* ---- fat binaries ---- */

enum { RIG_PTX = 1, RIG_CUBIN = 2, RIG_LZ4 = 0x2000, RIG_ZSTD = 0x8000, RIG_SPECIFIC = 0x100000, RIG_FAMILY = 0x200000 };

static inline void rig_fatbin(struct rig_bytes *bytes)
{
    static const unsigned char header[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    rig_put(bytes, header, sizeof header);
}

/* Adds an entry. unpacked: the size before packing. */
static inline void rig_entry(struct rig_bytes *bytes, unsigned kind, uint32_t architecture, uint64_t flags, const void *from,
                             size_t size, uint64_t unpacked)
{
    static const unsigned char zeros[8];
    unsigned char header[64] = {(unsigned char)kind, 0, 1, 1, 64};
    uint64_t filled = (size + 7) / 8 * 8;
    uint32_t packed = flags & (RIG_LZ4 | RIG_ZSTD) ? (uint32_t)size : 0;
    memcpy(header + 8, &filled, 8);
    memcpy(header + 16, &packed, 4);
    memcpy(header + 28, &architecture, 4);
    memcpy(header + 40, &flags, 8);
    memcpy(header + 56, &unpacked, 8);
    rig_put(bytes, header, sizeof header);
    rig_put(bytes, from, size);
    rig_put(bytes, zeros, filled - size);
    uint64_t all = bytes->size - 16;
    memcpy(bytes->at + 8, &all, sizeof all);
}

static inline void rig_lz4(struct rig_bytes *bytes, const void *from, size_t size)
{
    unsigned char token = size < 15 ? (unsigned char)(size << 4) : 0xf0, more = 255;
    rig_put(bytes, &token, 1);
    size_t left = size < 15 ? 0 : size - 15;
    for (; size >= 15 && left >= 255; left -= 255)
        rig_put(bytes, &more, 1);
    more = (unsigned char)left;
    if (size >= 15)
        rig_put(bytes, &more, 1);
    rig_put(bytes, from, size);
}

/* A frame of one segment in raw blocks (RFC 8878). */
static inline void rig_zstd(struct rig_bytes *bytes, const unsigned char *from, size_t size)
{
    static const unsigned char head[] = {0x28, 0xb5, 0x2f, 0xfd, 0xa0};
    rig_put(bytes, head, sizeof head);
    rig_u32(bytes, (uint32_t)size);
    do {
        uint32_t part = size < 65536 ? (uint32_t)size : 65536, block = part << 3 | (part == size);
        rig_put(bytes, &block, 3);
        rig_put(bytes, from, part);
        from += part;
        size -= part;
    } while (size);
}

/* ---- PTX ---- */

#define RIG_PTX_TEXT                                                                                          \
    "// made by hand: .entry nobody()\n.version 8.0\n.target sm_70, debug\n.address_size 64\n"                 \
    ".global .align 4 .b8 table[400];\n.extern .shared .align 16 .b8 dynamic[];\n"                             \
    ".func (.param .b32 r) helper(.param .b32 a) { .shared .b32 none; { ret; } }\n"                            \
    "/* .entry neither() */ .visible .entry _Z3onePfic(\n .param .u64 .ptr .global .align 16 p0,\n"            \
    " .param .u32 p1, .param .u8 p2, .param .align 8 .b8 p3[24]\n)\n.maxntid 16, 8, 1\n.minnctapersm 2\n"      \
    "{\n .shared .align 4 .b8 s[258]; .shared .f64 t; .local .align 16 .b8 depot[48];\n"                       \
    " .pragma \"} unroll\"; { ld.shared.u32 %r1, [s]; } ret;\n}\n"                                             \
    ".weak .entry plain { ret; }\n.extern .entry declared(.param .u32 a);\n"                                   \
    ".visible .entry clustered(.param .f16x2 h) .explicitcluster .reqnctapercluster 2, 1 { ret; }\n"

#endif
