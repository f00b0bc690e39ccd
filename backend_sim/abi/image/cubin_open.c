/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cubin.h"
#include "heap.h"

enum { CUDA_MACHINE = 190, ABI_2 = 8, MOST_SECTIONS = 1 << 24 };

bool cubin_is(const struct image_bytes *bytes)
{
    static const unsigned char magic[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
    return image_begins(bytes, magic, sizeof magic) && image_within(bytes, 0, sizeof(Elf64_Ehdr)) &&
           image_u16(bytes->at + offsetof(Elf64_Ehdr, e_machine)) == CUDA_MACHINE;
}

static bool find_sections(struct cubin *cubin, Elf64_Ehdr *header)
{
    Elf64_Shdr first;
    memcpy(header, cubin->bytes.at, sizeof *header);
    if (header->e_shentsize != sizeof first || !header->e_shoff || !image_within(&cubin->bytes, header->e_shoff, sizeof first))
        return false;
    cubin->sections = (unsigned char *)(uintptr_t)cubin->bytes.at + header->e_shoff;
    memcpy(&first, cubin->sections, sizeof first);
    cubin->count = header->e_shnum;
    if (!header->e_shnum) /* more than 16 bits hold */
        cubin->count = first.sh_size < MOST_SECTIONS ? (uint32_t)first.sh_size : 0;
    return cubin->count && image_within(&cubin->bytes, header->e_shoff, (uint64_t)cubin->count * sizeof first);
}

bool cubin_section(const struct cubin *cubin, uint32_t index, Elf64_Shdr *section)
{
    if (index >= cubin->count)
        return false;
    memcpy(section, cubin->sections + (size_t)index * sizeof *section, sizeof *section);
    return section->sh_type == SHT_NOBITS || image_within(&cubin->bytes, section->sh_offset, section->sh_size);
}

struct image_bytes cubin_bytes(const struct cubin *cubin, const Elf64_Shdr *section)
{
    return (struct image_bytes){cubin->bytes.at + section->sh_offset, section->sh_type == SHT_NOBITS ? 0 : section->sh_size};
}

size_t cubin_size(const struct image_bytes *bytes)
{
    struct cubin cubin = {.bytes = *bytes};
    Elf64_Ehdr header;
    Elf64_Shdr section;
    if (!find_sections(&cubin, &header))
        return 0;
    uint64_t end = header.e_shoff + (uint64_t)cubin.count * sizeof section;
    uint64_t segments = (uint64_t)header.e_phnum * header.e_phentsize;
    for (uint32_t i = 1; i < cubin.count; i++) {
        if (!cubin_section(&cubin, i, &section))
            return 0;
        if (section.sh_type != SHT_NOBITS && section.sh_offset + section.sh_size > end)
            end = section.sh_offset + section.sh_size;
    }
    if (!image_within(bytes, header.e_phoff, segments))
        return 0;
    return header.e_phoff + segments > end ? header.e_phoff + segments : end;
}

/* The last byte of the names is a zero, so that each of them is terminated. */
static bool take_names(const struct cubin *cubin, uint32_t index, Elf64_Shdr *names)
{
    if (!cubin_section(cubin, index, names) || names->sh_type != SHT_STRTAB || !names->sh_size)
        return false;
    return cubin->bytes.at[names->sh_offset + names->sh_size - 1] == '\0';
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Remembers the section that belongs to the code of a kernel. */
static void belongs(struct cubin *cubin, int what, uint32_t index, const Elf64_Shdr *section)
{
    if (section->sh_info < cubin->count)
        cubin->of[what][section->sh_info] = index;
}

static bool look_at(struct cubin *cubin, uint32_t index)
{
    Elf64_Shdr section;
    if (!cubin_section(cubin, index, &section) || section.sh_name >= cubin->names.sh_size)
        return false;
    const char *name = (const char *)cubin->bytes.at + cubin->names.sh_offset + section.sh_name;
    if (section.sh_type == SHT_SYMTAB && !cubin->symbols.sh_size) {
        cubin->symbols = section;
        return take_names(cubin, section.sh_link, &cubin->strings);
    }
    if (section.sh_type == SHT_SYMTAB_SHNDX)
        cubin->indexes = index;
    else if (strcmp(name, ".nv.info") == 0)
        cubin->info = index;
    else if (begins(name, ".nv.info."))
        belongs(cubin, CUBIN_INFO, index, &section);
    else if (begins(name, ".nv.shared.reserved"))
        cubin->reserved = true;
    else if (begins(name, ".nv.shared."))
        belongs(cubin, CUBIN_SHARED, index, &section);
    else if (strcmp(name, ".nv.constant3") == 0)
        cubin->constant = section.sh_size < INT32_MAX ? (int)section.sh_size : INT32_MAX;
    return true;
}

/* The flags are those of LLVM's ELF.h: in the second version of the ABI the architecture is in the next 8 bits. */
static void take_architecture(struct cubin *cubin, const Elf64_Ehdr *header)
{
    bool second = header->e_ident[EI_ABIVERSION] >= ABI_2;
    cubin->architecture = (int)(header->e_flags >> (second ? 8 : 0) & 0xff);
    cubin->ptx = second ? cubin->architecture : (int)(header->e_flags >> 16 & 0xff);
}

enum image_read cubin_open(const struct image_bytes *bytes, struct cubin *cubin, char why[160])
{
    Elf64_Ehdr header;
    Elf64_Shdr first;
    *cubin = (struct cubin){.bytes = *bytes};
    snprintf(why, 160, "the cubin is damaged: its sections lie outside it");
    if (!find_sections(cubin, &header))
        return IMAGE_DAMAGED;
    memcpy(&first, cubin->sections, sizeof first);
    if (!take_names(cubin, header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx, &cubin->names))
        return IMAGE_DAMAGED;
    cubin->of[0] = heap.calloc(2 * (size_t)cubin->count, sizeof *cubin->of[0]);
    if (!cubin->of[0])
        return IMAGE_MEMORY;
    cubin->of[1] = cubin->of[0] + cubin->count;
    for (uint32_t i = 1; i < cubin->count; i++)
        if (!look_at(cubin, i))
            return IMAGE_DAMAGED;
    take_architecture(cubin, &header);
    snprintf(why, 160, "the cubin has no symbol table");
    return cubin->symbols.sh_entsize == sizeof(Elf64_Sym) ? IMAGE_READ : IMAGE_DAMAGED;
}

enum { FORMAT_NONE = 1, FORMAT_BYTE, FORMAT_SHORT, FORMAT_SIZED };

bool cubin_attribute(struct image_bytes *info, struct cubin_attribute *attribute)
{
    if (info->size < 4)
        return false;
    unsigned value = image_u16(info->at + 2), follows = info->at[0] == FORMAT_SIZED ? value : 0;
    if (info->at[0] < FORMAT_NONE || info->at[0] > FORMAT_SIZED || follows > info->size - 4)
        return false;
    *attribute = (struct cubin_attribute){info->at[0], info->at[1], value, {info->at + 4, follows}};
    *info = (struct image_bytes){info->at + 4 + follows, info->size - 4 - follows};
    return true;
}
