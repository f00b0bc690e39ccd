/* SPDX-License-Identifier: Apache-2.0 */
#include "module_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "debug_lines.h"
#include "demangle.h"
#include "fnv.h"
#include "symbol_table.h"

enum { PLACES_MOST = 64, BUCKETS = 1 << 14, MODULE_BUCKETS = 1 << 10 };

struct module {
    struct module *next;
    char *path, *build;
    enum symbols_state state;
    struct symbol_table table, separate; /* its own, and that of a file for its build id */
    struct debug_lines *lines;
};

/* What is at one address. */
struct found {
    struct found *next;
    const struct module *module;
    uint64_t offset;
    unsigned count;
    struct code_symbol list[];
};

/* A text that many places share. */
struct text {
    struct text *next;
    char text[];
};

static struct module *modules[MODULE_BUCKETS];
static struct found *founds[BUCKETS];
static struct text *texts[BUCKETS];

bool module_symbols_have_lines(void)
{
#ifdef CUVMM_HAVE_LIBDW
    return true;
#else
    return false;
#endif
}

static size_t hash_of(const char *text, size_t hash)
{
    return fnv1a(hash, text, strlen(text));
}

static const char *keep(const char *from)
{
    if (!from || !from[0])
        return "";
    struct text **bucket = &texts[hash_of(from, FNV1A) % BUCKETS], *there = *bucket;
    while (there && strcmp(there->text, from) != 0)
        there = there->next;
    if (there)
        return there->text;
    const size_t size = strlen(from) + 1;
    there = malloc(sizeof *there + size);
    if (!there)
        return "";
    memcpy(there->text, from, size);
    there->next = *bucket;
    *bucket = there;
    return there->text;
}

/* ---- modules ---- */

/* The kernel's code in each process: as this process has it. */
static bool open_vdso(struct symbol_table *table)
{
    enum { VDSO_MOST = 4 << 12 };
    const unsigned char *at = (const unsigned char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    uint64_t sections = 0;
    uint16_t count = 0, size = 0;
    if (!at)
        return false;
    memcpy(&sections, at + 0x28, sizeof sections); /* e_shoff, e_shentsize, e_shnum: the last of it */
    memcpy(&size, at + 0x3A, sizeof size);
    memcpy(&count, at + 0x3C, sizeof count);
    const uint64_t end = sections + (uint64_t)size * count;
    return end <= VDSO_MOST && symbol_table_of(table, at, (size_t)end);
}

/* The file of debugging information for the build id, as distributions install it. */
static bool separate_path(char *path, size_t size, const char *build)
{
    int length = strlen(build) > 2 ? snprintf(path, size, "/usr/lib/debug/.build-id/%.2s/%s.debug", build, build + 2) : -1;
    return length > 0 && (size_t)length < size;
}

static void read_module(struct module *module)
{
    char debug[256] = "";
    bool vdso = strcmp(module->path, "[vdso]") == 0;
    bool there = vdso ? open_vdso(&module->table) : module->path[0] == '/' && symbol_table_open(&module->table, module->path);
    module->state = there ? SYMBOLS_READ : SYMBOLS_GONE;
    if (there && module->build[0] && strcmp(module->build, module->table.build) != 0) {
        module->state = SYMBOLS_REPLACED;
        symbol_table_close(&module->table);
    }
    if (module->state == SYMBOLS_READ && !vdso)
        module->lines = debug_lines_open(module->path);
    if (separate_path(debug, sizeof debug, module->build) && symbol_table_open(&module->separate, debug) &&
        module->state != SYMBOLS_READ) {
        module->state = SYMBOLS_READ;
        module->lines = debug_lines_open(debug);
    }
}

static struct module *module_for(const char *path, const char *build)
{
    struct module **bucket = &modules[hash_of(build, hash_of(path, FNV1A)) % MODULE_BUCKETS], *module = *bucket;
    while (module && (strcmp(module->path, path) != 0 || strcmp(module->build, build) != 0))
        module = module->next;
    if (module)
        return module;
    module = calloc(1, sizeof *module);
    if (!module || !(module->path = strdup(path)) || !(module->build = strdup(build))) {
        free(module ? module->path : NULL);
        free(module);
        return NULL;
    }
    read_module(module);
    module->next = *bucket;
    *bucket = module;
    return module;
}

enum symbols_state module_symbols_state(const char *path, const char *build)
{
    const struct module *module = module_for(path, build);
    return module ? module->state : SYMBOLS_GONE;
}

/* ---- addresses ---- */

static const char *keep_name(const char *linkage, const char *name)
{
    char *plain = linkage ? demangle(linkage) : NULL;
    /* A name that stayed mangled: the source's short one is better. */
    const char *kept = keep(plain && !(strcmp(plain, linkage) == 0 && name) ? plain : name);
    free(plain);
    return kept;
}

static const char *table_name(const struct module *module, uint64_t offset)
{
    const char *name = symbol_table_find(&module->table, offset);
    return name ? name : symbol_table_find(&module->separate, offset);
}

/* The symbol's name may end in what the compiler calls a part of the function: the part is the function. */
static const char *keep_symbol(const char *name)
{
    static const char *const parts[] = {".cold", ".part.", ".isra.", ".constprop.", ".localalias"};
    char text[4096];
    if (!name || strlen(name) >= sizeof text)
        return keep_name(name, NULL);
    strcpy(text, name);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char *at = strstr(text, parts[i]);
        if (at && at > text)
            *at = '\0';
    }
    return keep_name(text, NULL);
}

static struct found *look_up(const struct module *module, uint64_t offset)
{
    struct debug_place places[PLACES_MOST] = {{0}};
    unsigned count = module && module->lines ? debug_lines_at(module->lines, offset, places, PLACES_MOST) : 0;
    unsigned all = count ? count : 1;
    struct found *found = calloc(1, sizeof *found + all * sizeof found->list[0]);
    if (!found)
        return NULL;
    *found = (struct found){.module = module, .offset = offset, .count = all};
    for (unsigned i = 0; i < all; i++)
        found->list[i] = (struct code_symbol){keep_name(places[i].linkage, places[i].name), keep(places[i].file), places[i].line, i + 1 < all};
    if (module && !found->list[all - 1].function[0])
        found->list[all - 1].function = keep_symbol(table_name(module, offset));
    return found;
}

unsigned module_symbols_at(const char *path, const char *build, uint64_t offset, const struct code_symbol **list)
{
    static const struct code_symbol unknown = {"", "", 0, false};
    const struct module *module = module_for(path, build ? build : "");
    struct found **bucket = &founds[((uintptr_t)module / 64 ^ offset ^ offset >> 14) % BUCKETS], *found = *bucket;
    while (found && (found->module != module || found->offset != offset))
        found = found->next;
    if (!found && (found = look_up(module, offset))) {
        found->next = *bucket;
        *bucket = found;
    }
    *list = found ? found->list : &unknown;
    return found ? found->count : 1;
}

/* ---- the end ---- */

static void free_module(struct module *module)
{
    symbol_table_close(&module->table);
    symbol_table_close(&module->separate);
    debug_lines_close(module->lines);
    free(module->path);
    free(module->build);
    free(module);
}

void module_symbols_forget(void)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct found *next; founds[i]; founds[i] = next) {
            next = founds[i]->next;
            free(founds[i]);
        }
        for (struct text *next; texts[i]; texts[i] = next) {
            next = texts[i]->next;
            free(texts[i]);
        }
    }
    for (size_t i = 0; i < MODULE_BUCKETS; i++)
        for (struct module *next; modules[i]; modules[i] = next) {
            next = modules[i]->next;
            free_module(modules[i]);
        }
}
