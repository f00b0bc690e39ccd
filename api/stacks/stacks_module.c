/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr1, _dl_find_object */
#include "stacks_module.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "posix.h"
#include "stacks_depot.h"
#include "stacks_export.h"

enum { PATH_MOST = 2048 }; /* on the stack of one of the program's threads */

static _Atomic uint32_t numbered[MODULE_MOST]; /* a number's record */
static _Atomic uint32_t numbers = 1;

struct loaded {
    uintptr_t start, end, identity;
    const struct link_map *map;
};

/* ---- the file's headers, in memory ---- */

/* The headers of its segments, in memory; none if it does not begin with the file's header. */
static const ElfW(Phdr) *segments_of(uintptr_t start, unsigned *count)
{
    const ElfW(Ehdr) *head = (const void *)start;
    *count = 0;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phentsize != sizeof(ElfW(Phdr)) ||
        head->e_phoff > 4096 - sizeof(ElfW(Phdr)) || head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) > 4096)
        return NULL;
    *count = head->e_phnum;
    return (const void *)(start + head->e_phoff);
}

static void look_for_build(struct module *module, uintptr_t at, uintptr_t end)
{
    ElfW(Nhdr) note;
    while (at + sizeof note <= end && end <= module->end) {
        memcpy(&note, (const void *)at, sizeof note);
        uintptr_t name = at + sizeof note, text = name + ((note.n_namesz + 3) & ~3U), next = text + ((note.n_descsz + 3) & ~3U);
        if (next > end)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp((const void *)name, "GNU", 4) == 0 && note.n_descsz) {
            module->build_at = text;
            module->build_size = note.n_descsz < BUILD_MOST ? note.n_descsz : BUILD_MOST;
            memcpy(module->build, (const void *)text, module->build_size);
            return;
        }
        at = next;
    }
}

/* With an older C library the end is not known until its segments are. */
static void read_segments(struct module *module, const ElfW(Phdr) *segment, unsigned count)
{
    uintptr_t end = module->start;
    for (unsigned i = 0; i < count; i++)
        if (segment[i].p_type == PT_LOAD && module->bias + segment[i].p_vaddr + segment[i].p_memsz > end)
            end = module->bias + segment[i].p_vaddr + segment[i].p_memsz;
    if (count && end < module->end)
        module->end = end;
    for (unsigned i = 0; i < count; i++) {
        uintptr_t at = module->bias + segment[i].p_vaddr;
        if (segment[i].p_type == PT_GNU_EH_FRAME && at < module->end)
            module->unwind = at;
        if (segment[i].p_type == PT_NOTE && !module->build_size)
            look_for_build(module, at, at + segment[i].p_memsz);
    }
}

static bool has_base(const char *path, const char *start)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, start, strlen(start)) == 0;
}

/* ---- what the loader knows about an address ---- */

#ifndef __GLIBC__
#define __GLIBC_PREREQ(major, minor) 0
#endif

#if __GLIBC_PREREQ(2, 35)
typedef int finder(void *address, struct dl_find_object *found);

/* Where the C library is loaded; 0: not found. It is loaded before anything that could change the list. */
static uintptr_t find_libc(void)
{
    static const char mark; /* an address that the loader knows */
    Dl_info info;
    void *found = NULL;
    if (!dladdr1(&mark, &info, &found, RTLD_DL_LINKMAP)) /* LCOV_EXCL_BR_LINE: this library is loaded */
        return 0; /* LCOV_EXCL_LINE: the same */
    const struct link_map *map = found;
    while (map && map->l_prev) /* LCOV_EXCL_BR_LINE: the same */
        map = map->l_prev;
    while (map && !has_base(map->l_name, "libc.so")) /* LCOV_EXCL_BR_LINE: and so is the C library */
        map = map->l_next;
    return map ? map->l_addr : 0; /* LCOV_EXCL_BR_LINE: the same */
}

/* glibc 2.35 has a function for it that takes no lock. Looked up in its symbol table, because a direct reference would keep
 * this library from loading with an older C library. */
static finder *find_finder(void)
{
    const uintptr_t base = find_libc();
    struct module libc = {.start = base, .end = UINTPTR_MAX, .bias = base};
    unsigned count = 0;
    const ElfW(Phdr) *segments = base ? segments_of(base, &count) : NULL; /* LCOV_EXCL_BR_LINE: the same */
    finder *found = NULL;
    if (segments) {
        read_segments(&libc, segments, count);
        const uintptr_t symbol = export_of(&libc, "_dl_find_object");
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

static bool find_quickly(uintptr_t address, struct loaded *loaded, bool *can)
{
    static _Atomic(finder *) finder_here;
    static atomic_bool looked;
    struct dl_find_object found;
    if (!atomic_load_explicit(&looked, memory_order_acquire)) {
        atomic_store_explicit(&finder_here, find_finder(), memory_order_relaxed);
        atomic_store_explicit(&looked, true, memory_order_release);
    }
    finder *find = atomic_load_explicit(&finder_here, memory_order_relaxed);
    *can = find != NULL;
    if (!find || find((void *)address, &found) != 0)
        return false;
    *loaded = (struct loaded){(uintptr_t)found.dlfo_map_start, (uintptr_t)found.dlfo_map_end, (uintptr_t)found.dlfo_link_map,
                              found.dlfo_link_map};
    return true;
}
#else
static bool find_quickly(uintptr_t address, struct loaded *loaded, bool *can)
{
    (void)address;
    (void)loaded;
    return *can = false;
}
#endif

/* The loader's record of the file at an address, and where the file is loaded. */
#ifdef __GLIBC__
static const struct link_map *map_of(uintptr_t address, uintptr_t *start)
{
    Dl_info info;
    void *map;
    if (!dladdr1((void *)address, &info, &map, RTLD_DL_LINKMAP))
        return NULL;
    *start = (uintptr_t)info.dli_fbase;
    return map;
}
#else
/* The loader writes the address of its list for debuggers into the program's dynamic section. */
static const struct r_debug *loaders_list(void)
{
    const ElfW(Phdr) *segment = (const void *)getauxval(AT_PHDR);
    const unsigned count = (unsigned)getauxval(AT_PHNUM);
    uintptr_t bias = 0;
    const ElfW(Dyn) *entry = NULL;
    for (unsigned i = 0; segment && i < count; i++)
        if (segment[i].p_type == PT_PHDR)
            bias = (uintptr_t)segment - segment[i].p_vaddr;
    for (unsigned i = 0; segment && i < count; i++)
        if (segment[i].p_type == PT_DYNAMIC)
            entry = (const void *)(bias + segment[i].p_vaddr);
    while (entry && entry->d_tag != DT_NULL && entry->d_tag != DT_DEBUG)
        entry++;
    return entry && entry->d_tag == DT_DEBUG ? (const void *)entry->d_un.d_ptr : NULL;
}

/* musl has no function for both at once. Its list begins with the program, the only file that may have a load bias of 0. */
static const struct link_map *map_of(uintptr_t address, uintptr_t *start)
{
    Dl_info info;
    const struct r_debug *loader = loaders_list();
    if (!loader || !dladdr((void *)address, &info))
        return NULL;
    const struct link_map *found = NULL;
    for (const struct link_map *map = loader->r_map; map; map = map->l_next)
        if (map->l_addr <= address && (!found || map->l_addr > found->l_addr))
            found = map;
    *start = info.dli_fbase || !found ? (uintptr_t)info.dli_fbase : found->l_addr; /* the vDSO has no name and no path */
    return found;
}
#endif

static bool find_loaded(uintptr_t address, struct loaded *loaded)
{
    uintptr_t start;
    bool can;
    if (find_quickly(address, loaded, &can))
        return true;
    if (can)
        return false;
    const struct link_map *map = map_of(address, &start);
    if (!map)
        return false;
    *loaded = (struct loaded){start, UINTPTR_MAX, (uintptr_t)map, map};
    return true;
}

/* ---- a module that is seen for the first time ---- */

/* The path of the file that is mapped at an address, from the system's list. Returns its length. */
static size_t path_mapped(uintptr_t address, char path[PATH_MOST])
{
    char text[PATH_MOST];
    size_t length = 0;
    ssize_t got;
    int fd = posix.open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    /* A line at a time: "start-end rights offset device inode path". A line that is longer than the buffer is ignored. */
    size_t have = 0;
    while (fd >= 0 && !length && (got = posix.read(fd, text + have, sizeof text - 1 - have)) > 0) {
        have += (size_t)got;
        text[have] = '\0';
        char *line = text, *end;
        while (!length && (end = strchr(line, '\n'))) {
            unsigned long from, to;
            int at = 0;
            *end = '\0';
            if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &from, &to, &at) == 2 && address >= from && address < to && line[at] == '/') /* LCOV_EXCL_BR_LINE: as the system writes its list, which is sorted */
                length = (size_t)snprintf(path, PATH_MOST, "%s", line + at);
            line = end + 1;
        }
        have -= (size_t)(line - text);
        memmove(text, line, have);
        if (have == sizeof text - 1) /* LCOV_EXCL_BR_LINE: no line of the list is so long */
            have = 0; /* LCOV_EXCL_LINE: the same */
    }
    if (fd >= 0)
        close(fd);
    return length; /* shorter than the line */
}

/* " (deleted)" is added by the system and not part of the name. */
static size_t undeleted(char *path, size_t length)
{
    static const char mark[] = " (deleted)";
    size_t part = sizeof mark - 1;
    if (length > part && strcmp(path + length - part, mark) == 0)
        path[length -= part] = '\0';
    return length;
}

static uint32_t path_of(const struct module *module, const struct link_map *map)
{
    char path[PATH_MOST];
    size_t length = 0;
    path[0] = '\0';
    if (module->is_program) {
        ssize_t got = posix.readlink("/proc/self/exe", path, sizeof path - 1);
        length = got > 0 ? (size_t)got : 0;
        path[length] = '\0';
    } else if (map->l_name[0] == '/') {
        length = (size_t)snprintf(path, sizeof path, "%s", map->l_name);
    } else if (strncmp(map->l_name, "linux-vdso", 10) == 0 || !map->l_name[0]) { /* the latter with musl */
        length = (size_t)snprintf(path, sizeof path, "[vdso]");
    } else {
        length = path_mapped(module->start, path);
    }
    length = length < sizeof path ? undeleted(path, length) : sizeof path - 1; /* LCOV_EXCL_BR_LINE: a path of the loader is shorter */
    return depot_add(DEPOT_TEXT, path, length + 1, NULL, 0);
}

static uint32_t build_text_of(const struct module *module)
{
    char text[2 * BUILD_MOST + 1] = "";
    for (uint32_t i = 0; i < module->build_size; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", module->build[i]);
    return depot_add(DEPOT_TEXT, text, 2 * (size_t)module->build_size + 1, NULL, 0);
}

/* A number for a path and build id; 0 if none is left. A file that is loaded twice is one module. */
static uint32_t number_for(const struct module *module)
{
    const uint32_t key[2] = {module->path, module->build_text};
    uint32_t there = depot_find(DEPOT_MODULE, key, sizeof key), number;
    if (!there) {
        number = atomic_fetch_add(&numbers, 1);
        there = number < MODULE_MOST ? depot_add(DEPOT_MODULE, key, sizeof key, &number, sizeof number) : 0;
    }
    if (!there)
        return 0;
    memcpy(&number, depot_value(there), sizeof number);
    atomic_store(&numbered[number], there);
    return number;
}

/* The key of a record: addresses, name and build id, so a file that was replaced between two loads is a different module. */
static struct module what_is_loaded(const struct loaded *loaded)
{
    struct module module = {.start = loaded->start, .end = loaded->end, .identity = loaded->identity};
    unsigned count;
    const ElfW(Phdr) *segments = segments_of(loaded->start, &count);
    module.bias = loaded->map->l_addr;
    module.name = depot_add(DEPOT_TEXT, loaded->map->l_name, strlen(loaded->map->l_name) + 1, NULL, 0);
    read_segments(&module, segments, count);
    return module;
}

static bool is_ours(const struct loaded *loaded)
{
    static const char mark; /* an address in this library */
    struct loaded ours;
    return find_loaded((uintptr_t)&mark, &ours) && ours.identity == loaded->identity; /* LCOV_EXCL_BR_LINE: this library is loaded */
}

/* glibc gives the program no name; musl gives it one, and puts it first. */
static bool is_program(const struct link_map *map)
{
#ifdef __GLIBC__
    return !map->l_name[0];
#else
    return !map->l_prev;
#endif
}

static const struct module *meet(const struct loaded *loaded)
{
    const struct module key = what_is_loaded(loaded);
    uint32_t there = depot_find(DEPOT_LOADED, &key, sizeof key);
    if (there)
        return depot_value(there);
    struct module module = key;
    module.is_program = is_program(loaded->map);
    /* If linked into the program, this code cannot be distinguished from the program's. */
    module.is_ours = !module.is_program && is_ours(loaded);
    module.is_libc = has_base(loaded->map->l_name, "libc.so") || has_base(loaded->map->l_name, "ld-musl-");
    module.path = path_of(&module, loaded->map);
    module.build_text = build_text_of(&module);
    module.number = module.name && module.path && module.build_text ? number_for(&module) : 0;
    there = module.number ? depot_add(DEPOT_LOADED, &key, sizeof key, &module, sizeof module) : 0;
    return there ? depot_value(there) : NULL;
}

/* ---- finding ---- */

/* Is the module still the same? Another file may have taken its place, and even its loader record. */
static bool is_there(const struct module *module, const struct loaded *loaded)
{
    return module->identity == loaded->identity && module->start == loaded->start &&
           (!module->build_size || memcmp((const void *)module->build_at, module->build, module->build_size) == 0) &&
           strcmp(depot_key(module->name), loaded->map->l_name) == 0;
}

/* The most recent modules, by a part of their start address. */
enum { RECENT = 256 };
static _Atomic(const struct module *) recent[RECENT];

const struct module *module_of(uintptr_t address)
{
    struct loaded loaded;
    if (!find_loaded(address, &loaded))
        return NULL;
    _Atomic(const struct module *) *place = &recent[(loaded.start >> 12 ^ loaded.start >> 20) % RECENT];
    const struct module *module = atomic_load_explicit(place, memory_order_acquire);
    if (module && is_there(module, &loaded))
        return module;
    module = meet(&loaded);
    if (module)
        atomic_store_explicit(place, module, memory_order_release);
    return module;
}

bool module_names(uint32_t number, const char **path, const char **build)
{
    uint32_t there = number < MODULE_MOST ? atomic_load(&numbered[number]) : 0, key[2];
    if (!there)
        return false;
    memcpy(key, depot_key(there), sizeof key);
    *path = depot_key(key[0]);
    *build = depot_key(key[1]);
    return true;
}
