/* A function's name from a file's table of symbols, for functions that the loader does not know: static ones, and all of a
 * program. Nothing in the file is trusted. */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "findings_site.h"

struct file {
    const unsigned char *bytes;
    size_t size;
};

static const void *part(const struct file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset ? file->bytes + offset : NULL;
}

/* Of the first loaded segment, from which offsets count. */
static uint64_t base(const struct file *file, const Elf64_Ehdr *head)
{
    for (unsigned i = 0; i < head->e_phnum; i++) {
        const Elf64_Phdr *segment = part(file, head->e_phoff + (uint64_t)i * head->e_phentsize, sizeof *segment);
        if (segment && segment->p_type == PT_LOAD)
            return segment->p_vaddr & ~UINT64_C(4095);
    }
    return 0;
}

static void find(const struct file *file, const Elf64_Shdr *symbols, const Elf64_Shdr *strings, uint64_t value, char *name,
                 size_t size)
{
    const Elf64_Sym *list = part(file, symbols->sh_offset, symbols->sh_size);
    const char *text = part(file, strings->sh_offset, strings->sh_size);
    for (uint64_t i = 0; list && text && i < symbols->sh_size / sizeof *list; i++)
        if (ELF64_ST_TYPE(list[i].st_info) == STT_FUNC && value - list[i].st_value < list[i].st_size &&
            list[i].st_name < strings->sh_size) {
            snprintf(name, size, "%.*s", (int)(strings->sh_size - list[i].st_name < 100 ? strings->sh_size - list[i].st_name : 100),
                     text + list[i].st_name);
            return;
        }
}

static void look(const struct file *file, size_t offset, char *name, size_t size)
{
    const Elf64_Ehdr *head = part(file, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64)
        return;
    for (unsigned i = 0; i < head->e_shnum && !name[0]; i++) {
        const Elf64_Shdr *section = part(file, head->e_shoff + (uint64_t)i * head->e_shentsize, sizeof *section);
        const Elf64_Shdr *strings =
            section ? part(file, head->e_shoff + (uint64_t)section->sh_link * head->e_shentsize, sizeof *strings) : NULL;
        if (strings && section->sh_type == SHT_SYMTAB)
            find(file, section, strings, base(file, head) + offset, name, size);
    }
}

void site_symbol(const char *path, size_t offset, char *name, size_t size)
{
    struct stat status;
    name[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            look(&(struct file){bytes, (size_t)status.st_size}, offset, name, size);
            munmap(bytes, (size_t)status.st_size);
        }
    }
    close(fd);
}
