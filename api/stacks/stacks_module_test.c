/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that are loaded by relative paths, removed, damaged in memory, too many, or used with an older C library. */
#define _GNU_SOURCE /* RTLD_DI_LINKMAP */
#include "stacks_module.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include "inject_rig.h"
#include "stacks_depot.h"

static char folder[] = "/tmp/stacks_module_test.XXXXXX", probe[4200];
static const char *path, *build;

/* Loads a copy of the probe; its first page is writable. Returns where it is. */
static uintptr_t load(const char *name)
{
    char command[8500];
    struct link_map *map = NULL;
    snprintf(command, sizeof command, "cp '%s' '%s'", probe, name);
    void *library = system(command) ? NULL : dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) || mprotect((void *)map->l_addr, 4096, PROT_READ | PROT_WRITE))
        return 0;
    return map->l_addr;
}

static ElfW(Phdr) *segment_of(uintptr_t start, uint32_t type)
{
    ElfW(Ehdr) *head = (void *)start;
    ElfW(Phdr) *segment = (void *)(start + head->e_phoff);
    for (unsigned i = 0; i < head->e_phnum; i++)
        if (segment[i].p_type == type)
            return &segment[i];
    return NULL;
}

static const struct module *named(uintptr_t start)
{
    const struct module *module = start ? module_of(start + 64) : NULL;
    return module && module_names(module->number, &path, &build) ? module : NULL;
}

static bool relative(void)
{
    char want[4200];
    snprintf(want, sizeof want, "%s/a.so", folder);
    return named(load("./a.so")) && strcmp(path, want) == 0 && strlen(build) == 40;
}

static bool removed(void)
{
    char want[4200];
    uintptr_t start = load("./b.so");
    snprintf(want, sizeof want, "%s/b.so", folder);
    return start && unlink("b.so") == 0 && named(start) && strcmp(path, want) == 0;
}

static bool no_maps(void)
{
    uintptr_t start = load("./c.so");
    inject_arm_at("open", 1);
    const struct module *module = named(start);
    return inject_disarm() && module && !path[0];
}

static bool vdso(void)
{
    return named(getauxval(AT_SYSINFO_EHDR)) && strcmp(path, "[vdso]") == 0;
}

static bool no_program(void)
{
    uintptr_t here;
    bool (*function)(void) = no_program;
    memcpy(&here, &function, sizeof here);
    inject_arm_at("readlink", 1);
    const struct module *module = module_of(here);
    return inject_disarm() && module && module->is_program && module_names(module->number, &path, &build) && !path[0];
}

static bool nothing(void)
{
    int local = 0;
    return !module_of((uintptr_t)&local) && !module_names(MODULE_MOST, &path, &build) && !module_names(MODULE_MOST - 1, &path, &build);
}

/* The C library's own tables cannot be read, so the loader is queried as with a C library that lacks the function. */
static bool older_library(void)
{
    Dl_info info;
    int local = 0;
    uintptr_t start = load("./d.so");
    if (!start || !dladdr(dlsym(RTLD_DEFAULT, "getpid"), &info) || mprotect(info.dli_fbase, 4096, PROT_READ | PROT_WRITE))
        return false;
    ((ElfW(Ehdr) *)info.dli_fbase)->e_phentsize++;
    const struct module *module = named(start);
    ((ElfW(Ehdr) *)info.dli_fbase)->e_phentsize--;
    return module && module->start == start && module->end < UINTPTR_MAX && module->unwind && !module_of((uintptr_t)&local);
}

static bool damaged_headers(void)
{
    uintptr_t a = load("./e.so"), b = load("./f.so"), c = load("./g.so"), d = load("./h.so");
    if (!a || !b || !c || !d)
        return false;
    ((ElfW(Ehdr) *)a)->e_ident[0]++;
    ((ElfW(Ehdr) *)b)->e_phentsize++;
    ((ElfW(Ehdr) *)c)->e_phoff = 5000;
    ((ElfW(Ehdr) *)d)->e_phnum = 1000;
    const uintptr_t all[] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        if (!named(all[i]) || build[0] || module_of(all[i] + 64)->unwind)
            return false;
    return true;
}

/* A note that is too long, of another type, by another owner, or empty; segments that lie elsewhere. */
static bool damaged_notes(void)
{
    static char name[] = "./n0.so";
    const struct module *whole = named(load("./k.so"));
    uintptr_t at = whole ? whole->build_at - 16 - whole->start : 4096;
    bool good = at < 4000 && whole->build_size == 20;
    for (int i = 0; good && i < 6; i++) {
        name[3]++;
        uintptr_t start = load(name);
        uint32_t *note = (uint32_t *)(start + at);
        if (!start)
            return false;
        if (i < 3)
            note[i] = i == 0 ? 5 : i == 1 ? 0 : 77;
        else if (i == 3)
            note[3]++;
        else if (i == 4)
            note[1] = 1 << 20;
        else
            segment_of(start, PT_GNU_EH_FRAME)->p_vaddr += 1 << 30, segment_of(start, PT_GNU_STACK)->p_type = PT_NOTE;
        good = named(start) && !build[0] == (i < 5) && !module_of(start + 64)->unwind == (i == 5);
    }
    return good;
}

/* As many builds of one file as there are numbers, plus one. */
static bool too_many(void)
{
    uintptr_t start = load("./i.so");
    const struct module *module = named(start);
    if (!module || !module->build_size || mprotect((void *)(module->build_at & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE))
        return false;
    uint32_t first = module->number, given = 0, *id = (uint32_t *)(module->build_at);
    for (; given < MODULE_MOST && module_of(start + 64); given++)
        ++*id;
    return given >= MODULE_MOST - 2 - first && given < MODULE_MOST && module_names(first, &path, &build) && !module_of(start + 64);
}

static bool full(void)
{
    uintptr_t start = load("./j.so");
    depot_add(DEPOT_TEXT, "x", 2, NULL, 0);
    for (depot_limit = 8; depot_limit < 2000 && !module_of(start + 64); depot_limit += 8)
        ;
    return start && depot_limit > 300 && depot_limit < 2000 && depot_full();
}

static void test_child(bool (*run)(void), const char *name)
{
    int status = 1;
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        _exit(run() ? 0 : 1);
    waitpid(child, &status, 0);
    tap_u64((uint64_t)status, 0, "%s", name);
}

int main(void)
{
    ssize_t length = readlink("/proc/self/exe", probe, 4000);
    for (int i = 0; i < 3 && length > 0; i++)
        *strrchr(probe, '/') = '\0';
    strcat(probe, "/stacks_probe.so");
    if (length <= 0 || !mkdtemp(folder) || chdir(folder))
        tap_bail("no folder");
    test_child(relative, "a relative path is made whole");
    test_child(removed, "and that of a file which is gone");
    test_child(no_maps, "without the system's list there is none");
    if (getauxval(AT_SYSINFO_EHDR))
        test_child(vdso, "the system's own module");
    else
        tap_skip("this system maps none, as under valgrind", "the system's own module");
    test_child(no_program, "a program whose path cannot be read");
    test_child(nothing, "the stack is no module's; numbers that were not given out");
    test_child(older_library, "a C library that has no function for it");
    test_child(damaged_headers, "headers that cannot be read");
    test_child(damaged_notes, "notes that are no build id, and tables elsewhere");
    test_child(too_many, "more modules than there are numbers");
    test_child(full, "a full depot");
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    tap_ok(!chdir("/") && !system(command), "its folder is removed");
    return tap_done();
}
