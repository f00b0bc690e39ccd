/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and variables of a cubin, from its symbol table: first counted, then read. */
#include "cubin.h"

#include <stdio.h>

#include "heap.h"

enum { ENTRY_MARK = 0x10, RESERVED = 1024, MOST_PARAMS = 4096 };

/* A symbol with its name and the section that it is in. */
struct symbol {
    Elf64_Sym sym;
    const char *name;
    uint32_t index, section;
};

static bool symbol_at(const struct cubin *cubin, uint32_t index, struct symbol *symbol)
{
    Elf64_Shdr wide;
    memcpy(&symbol->sym, cubin->bytes.at + cubin->symbols.sh_offset + (size_t)index * sizeof symbol->sym, sizeof symbol->sym);
    if (symbol->sym.st_name >= cubin->strings.sh_size)
        return false;
    symbol->name = (const char *)cubin->bytes.at + cubin->strings.sh_offset + symbol->sym.st_name;
    symbol->index = index;
    symbol->section = symbol->sym.st_shndx;
    if (symbol->section == SHN_XINDEX && cubin->indexes && cubin_section(cubin, cubin->indexes, &wide) &&
        wide.sh_size / 4 > index)
        symbol->section = image_u32(cubin_bytes(cubin, &wide).at + 4 * (size_t)index);
    return true;
}

static bool is_kernel(const struct symbol *symbol)
{
    return ELF64_ST_TYPE(symbol->sym.st_info) == STT_FUNC && (symbol->sym.st_other & ENTRY_MARK) && symbol->section != SHN_UNDEF;
}

/* A variable is an object in a section of global or constant memory. */
static bool is_variable(const struct cubin *cubin, const struct symbol *symbol, Elf64_Shdr *section)
{
    if (ELF64_ST_TYPE(symbol->sym.st_info) != STT_OBJECT || symbol->section == SHN_UNDEF || !symbol->sym.st_size)
        return false;
    if (!cubin_section(cubin, symbol->section, section) || section->sh_name >= cubin->names.sh_size)
        return false;
    const char *of = (const char *)cubin->bytes.at + cubin->names.sh_offset + section->sh_name;
    bool there = strcmp(of, ".nv.global") == 0 || strcmp(of, ".nv.global.init") == 0 || strcmp(of, ".nv.constant3") == 0;
    return there && symbol->sym.st_value <= section->sh_size && symbol->sym.st_size <= section->sh_size - symbol->sym.st_value;
}

static bool is_param(const struct cubin_attribute *attribute)
{
    return (attribute->name == CUBIN_PARAM || attribute->name == CUBIN_PARAM_2) && attribute->data.size >= 12;
}

/* The attributes of a kernel; empty when it has none. */
static struct image_bytes info_of(const struct cubin *cubin, const struct symbol *symbol)
{
    Elf64_Shdr section;
    uint32_t index = symbol->section < cubin->count ? cubin->of[CUBIN_INFO][symbol->section] : 0;
    return index && cubin_section(cubin, index, &section) ? cubin_bytes(cubin, &section) : (struct image_bytes){NULL, 0};
}

static unsigned count_params(struct image_bytes info)
{
    struct cubin_attribute attribute;
    unsigned count = 0;
    while (cubin_attribute(&info, &attribute))
        count += is_param(&attribute);
    return count;
}

/* The total size of all kernels and variables. */
struct need {
    size_t kernels, variables, params, text;
};

static bool count(const struct cubin *cubin, uint32_t symbols, struct need *need)
{
    for (uint32_t i = 1; i < symbols; i++) {
        struct symbol symbol;
        Elf64_Shdr section;
        if (!symbol_at(cubin, i, &symbol))
            return false;
        bool variable = is_variable(cubin, &symbol, &section);
        if (is_kernel(&symbol)) {
            need->kernels++;
            need->params += count_params(info_of(cubin, &symbol));
        } else if (variable) {
            need->variables++;
            need->text += section.sh_type == SHT_NOBITS ? 0 : symbol.sym.st_size;
        } else
            continue;
        need->text += strlen(symbol.name) + 1;
    }
    return need->text < IMAGE_MOST_UNPACKED && need->params < IMAGE_MOST_UNPACKED / sizeof(struct image_param);
}

/* Ordinal, offset and size; returns false if the ordinal exceeds the number of parameters. */
static bool take_param(struct image_kernel *kernel, const struct cubin_attribute *attribute)
{
    const unsigned char *at = attribute->data.at;
    unsigned ordinal = image_u16(at + 4);
    if (ordinal >= kernel->params)
        return false;
    uint32_t size = image_u32(at + 8);
    kernel->param[ordinal] = (struct image_param){image_u16(at + 6), attribute->name == CUBIN_PARAM ? size >> 18 : size};
    return kernel->param[ordinal].size <= UINT16_MAX;
}

static int product(const unsigned char *at)
{
    uint64_t all = (uint64_t)image_u32(at) * image_u32(at + 4);
    all = all <= UINT16_MAX ? all * image_u32(at + 8) : all;
    return all <= UINT16_MAX ? (int)all : UINT16_MAX;
}

static bool take_attributes(const struct cubin *cubin, const struct symbol *symbol, struct image_kernel *kernel)
{
    struct image_bytes info = info_of(cubin, symbol);
    struct cubin_attribute attribute;
    bool right = true;
    while (right && cubin_attribute(&info, &attribute)) {
        const unsigned char *at = attribute.data.at;
        if (is_param(&attribute))
            right = take_param(kernel, &attribute);
        else if ((attribute.name == CUBIN_MAX_THREADS || attribute.name == CUBIN_REQUIRED_THREADS) && attribute.data.size >= 12)
            kernel->threads = product(at);
        else if (attribute.name == CUBIN_CLUSTER && attribute.data.size >= 12)
            for (int i = 0; i < 3; i++)
                kernel->cluster[i] = (int)(image_u32(at + 4 * i) & UINT16_MAX);
    }
    return right;
}

static int shared_of(const struct cubin *cubin, const struct symbol *symbol)
{
    Elf64_Shdr section;
    uint32_t index = symbol->section < cubin->count ? cubin->of[CUBIN_SHARED][symbol->section] : 0;
    if (!index || !cubin_section(cubin, index, &section) || section.sh_size > INT32_MAX)
        return 0;
    int size = (int)section.sh_size;
    return cubin->reserved && size >= RESERVED ? size - RESERVED : size;
}

/* Where the next things go. */
struct next {
    struct image_param *param;
    char *text;
};

static const char *keep(struct next *next, const void *bytes, size_t size)
{
    char *kept = next->text;
    memcpy(kept, bytes, size);
    next->text += size;
    return kept;
}

static bool take_kernel(const struct cubin *cubin, const struct symbol *symbol, struct next *next, struct image_kernel *kernel)
{
    *kernel = (struct image_kernel){.name = keep(next, symbol->name, strlen(symbol->name) + 1),
                                    .param = next->param,
                                    .params = count_params(info_of(cubin, symbol)),
                                    .shared = shared_of(cubin, symbol),
                                    .constant = cubin->constant,
                                    .ptx = cubin->ptx,
                                    .binary = cubin->architecture};
    next->param += kernel->params;
    return kernel->params <= MOST_PARAMS && take_attributes(cubin, symbol, kernel);
}

static void take_variable(const struct cubin *cubin, const struct symbol *symbol, const Elf64_Shdr *section, struct next *next,
                          struct image_variable *variable)
{
    *variable = (struct image_variable){.name = keep(next, symbol->name, strlen(symbol->name) + 1), .size = symbol->sym.st_size};
    if (section->sh_type != SHT_NOBITS)
        variable->initial =
            (const unsigned char *)keep(next, cubin_bytes(cubin, section).at + symbol->sym.st_value, variable->size);
}

/* of: the kernel of each symbol, 1 more than its index; 0: none. */
static bool take(const struct cubin *cubin, uint32_t symbols, struct image *image, uint32_t *of)
{
    struct next next = {image->params, image->text};
    for (uint32_t i = 1; i < symbols; i++) {
        struct symbol symbol;
        Elf64_Shdr section;
        symbol_at(cubin, i, &symbol);
        bool variable = is_variable(cubin, &symbol, &section);
        if (is_kernel(&symbol)) {
            if (!take_kernel(cubin, &symbol, &next, &image->kernel[image->kernels++]))
                return false;
            of[i] = image->kernels;
        } else if (variable)
            take_variable(cubin, &symbol, &section, &next, &image->variable[image->variables++]);
    }
    return true;
}

/* One section has registers and stack of all functions, by their symbols. */
static void take_resources(const struct cubin *cubin, uint32_t symbols, struct image *image, const uint32_t *of)
{
    Elf64_Shdr section;
    struct cubin_attribute attribute;
    if (!cubin->info || !cubin_section(cubin, cubin->info, &section))
        return;
    struct image_bytes info = cubin_bytes(cubin, &section);
    while (cubin_attribute(&info, &attribute)) {
        uint32_t symbol = attribute.data.size >= 8 ? image_u32(attribute.data.at) : 0;
        if (!symbol || symbol >= symbols || !of[symbol])
            continue;
        int value = (int)(image_u32(attribute.data.at + 4) & INT32_MAX);
        if (attribute.name == CUBIN_REGISTERS)
            image->kernel[of[symbol] - 1].registers = value;
        if (attribute.name == CUBIN_FRAME_SIZE)
            image->kernel[of[symbol] - 1].local = value;
    }
}

static bool allocate(struct image *image, const struct need *need)
{
    image->kernel = heap.calloc(need->kernels + 1, sizeof *image->kernel);
    image->variable = heap.calloc(need->variables + 1, sizeof *image->variable);
    image->params = heap.calloc(need->params + 1, sizeof *image->params);
    image->text = heap.malloc(need->text + 1);
    return image->kernel && image->variable && image->params && image->text;
}

static enum image_read read_symbols(const struct cubin *cubin, struct image *image)
{
    struct need need = {0};
    uint64_t symbols = cubin->symbols.sh_size / sizeof(Elf64_Sym);
    if (symbols > UINT32_MAX || !count(cubin, (uint32_t)symbols, &need))
        return IMAGE_DAMAGED;
    uint32_t *of = heap.calloc(symbols + 1, sizeof *of);
    bool room = of && allocate(image, &need), right = room && take(cubin, (uint32_t)symbols, image, of);
    if (right)
        take_resources(cubin, (uint32_t)symbols, image, of);
    heap.free(of);
    return right ? IMAGE_READ : room ? IMAGE_DAMAGED : IMAGE_MEMORY;
}

enum image_read cubin_read(const struct image_bytes *bytes, struct image *image)
{
    struct cubin cubin;
    enum image_read result = cubin_open(bytes, &cubin, image->why);
    if (result == IMAGE_READ) {
        snprintf(image->why, sizeof image->why, "the cubin is damaged: its symbols or their attributes lie outside it");
        result = read_symbols(&cubin, image);
    }
    heap.free(cubin.of[0]);
    return result;
}
