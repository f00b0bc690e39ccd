/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code in libraries that a compiler makes here: a library calls back, and the stack of the call is named. */
#define _GNU_SOURCE
#include "module_symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "demangle.h"
#include "stacks.h"
#include "symbol_table.h"
#include "tap.h"

static char folder[] = "/tmp/module_symbols_test.XXXXXX";

/* Runs a command in the folder. */
__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...)
{
    char command[4096];
    int length = snprintf(command, sizeof command, "cd %s && ", folder);
    va_list args;
    va_start(args, format);
    vsnprintf(command + length, sizeof command - (size_t)length, format, args);
    va_end(args);
    return system(command) == 0;
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        tap_bail("cannot write %s", path);
}

static const char header[] = "static inline int copy_name(int (*call)(void))\n"
                             "{\n"
                             "    return call() + 1;\n"
                             "}\n";
static const char source[] = "#include \"pool.h\"\n"
                             "__attribute__((noinline)) static int grow(int (*call)(void))\n"
                             "{\n"
                             "    int got =\n"
                             "        copy_name(call);\n"
                             "    return got + 1;\n"
                             "}\n"
                             "int entry(int (*call)(void));\n"
                             "int entry(int (*call)(void))\n"
                             "{\n"
                             "    return grow(call) + VERSION;\n"
                             "}\n";
static const char plus[] = "namespace pool {\n"
                           "template <class T> struct list {\n"
                           "    __attribute__((noinline)) int grow(int (*call)(), T by)\n"
                           "    {\n"
                           "        return call() + int(by);\n"
                           "    }\n"
                           "};\n"
                           "}\n"
                           "extern \"C\" int entry(int (*call)())\n"
                           "{\n"
                           "    pool::list<long> all;\n"
                           "    return all.grow(call, 2L) + 1;\n"
                           "}\n";

static struct stacks_frame frames[STACKS_MOST];
static unsigned frame_count;

static int capture(void)
{
    frame_count = stacks_frames(stacks_here(), frames, STACKS_MOST);
    return 0;
}

/* The frames of a call of the library's entry; those of this program that come first are left out. False: it cannot be loaded. */
static bool capture_in(const char *name, void **library)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = *library ? dlsym(*library, "entry") : NULL;
    int (*entry)(int (*call)(void));
    memcpy(&entry, &symbol, sizeof entry);
    if (!symbol)
        return false;
    entry(capture);
    unsigned first = 0;
    while (first < frame_count && strcmp(frames[first].module, path) != 0)
        first++;
    memmove(frames, frames + first, (frame_count - first) * sizeof *frames);
    frame_count -= first;
    return frame_count >= 2;
}

/* "copy_name pool.h:3+ / grow pool.c:5" of one frame. */
static const char *told(const struct stacks_frame *frame)
{
    static char text[1024];
    const struct code_symbol *list;
    unsigned count = module_symbols_at(frame->module, frame->build, frame->offset, &list);
    size_t used = 0;
    for (unsigned i = 0; i < count; i++) {
        const char *slash = strrchr(list[i].file, '/');
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s:%u%s", i ? " / " : "", list[i].function,
                                 slash ? slash + 1 : list[i].file, list[i].line, list[i].inlined ? "+" : "");
    }
    return text;
}

static bool compile(const char *output, const char *flags)
{
    return run("${CC:-cc} -shared -fPIC -O2 -fno-optimize-sibling-calls %s -o %s pool.c 2>/dev/null", flags, output);
}

static void test_lines(void)
{
    void *library;
    if (!capture_in("pool.so", &library))
        tap_bail("pool.so cannot be loaded: %s", dlerror());
    if (!module_symbols_have_lines()) {
        tap_skip("cuvmm is built without libdw", "lines of an optimised library");
        tap_text(told(&frames[0]), "grow :0", "functions of its symbol table");
    } else {
        tap_text(told(&frames[0]), "copy_name pool.h:3+ / grow pool.c:5", "an inlined function and the one that it is in");
        tap_text(told(&frames[1]), "entry pool.c:11", "their caller");
    }
    tap_text(told(&(struct stacks_frame){.module = frames[0].module, .build = "", .offset = frames[0].offset}), told(&frames[0]),
             "without a build id the file is believed");
    dlclose(library);
}

/* One compiler writes which addresses a unit has in .debug_aranges, too, and another does not. */
static void test_without_aranges(void)
{
    void *library;
    if (!module_symbols_have_lines() || !run("objcopy --remove-section=.debug_aranges pool.so bare.so")) {
        tap_skip("needs libdw and objcopy", "lines without .debug_aranges");
        return;
    }
    if (!capture_in("bare.so", &library))
        tap_bail("bare.so cannot be loaded");
    tap_text(told(&frames[0]), "copy_name pool.h:3+ / grow pool.c:5", "lines without .debug_aranges");
    dlclose(library);
}

/* Not version 4 of gcc, whose list of addresses for copy_name here is empty. */
static void test_compilers(void)
{
    static const char *const made[] = {"gcc -gdwarf-5", "clang -gdwarf-4", "clang -gdwarf-5"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        void *library;
        char name[32];
        snprintf(name, sizeof name, "made%zu.so", i);
        if (!module_symbols_have_lines() ||
            !run("%s -shared -fPIC -O2 -fno-optimize-sibling-calls -DVERSION=1 -o %s pool.c 2>/dev/null", made[i], name)) {
            tap_skip("needs libdw and the compiler", "lines of %s", made[i]);
            continue;
        }
        if (!capture_in(name, &library))
            tap_bail("%s cannot be loaded", name);
        tap_text(told(&frames[0]), "copy_name pool.h:3+ / grow pool.c:5", "lines of %s", made[i]);
        tap_text(told(&frames[1]), "entry pool.c:11", "lines of %s: the caller", made[i]);
        dlclose(library);
    }
}

static void test_plus(void)
{
    void *library;
    write_file("pool.cpp", plus);
    if (!run("${CXX:-c++} -shared -fPIC -O2 -g -fno-optimize-sibling-calls -o plus.so pool.cpp 2>/dev/null") ||
        !capture_in("plus.so", &library)) {
        tap_skip("there is no C++ compiler", "names of C++");
        return;
    }
#ifndef __GLIBC__
    tap_skip("names are demangled by the C++ library, which is of another C library here", "names of C++");
    dlclose(library);
    return;
#endif
    const char *want = module_symbols_have_lines() ? "pool::list<long>::grow(int (*)(), long) pool.cpp:5"
                                                   : "pool::list<long>::grow(int (*)(), long) :0";
    tap_text(told(&frames[0]), want, "names of C++");
    dlclose(library);
}

static void test_stripped(void)
{
    void *library;
    if (!run("strip -o stripped.so pool.so && objcopy --only-keep-debug pool.so pool.debug && "
             "objcopy --strip-debug --strip-unneeded --add-gnu-debuglink=pool.debug pool.so linked.so")) {
        tap_skip("there are no binutils", "stripped libraries");
        return;
    }
    if (!capture_in("stripped.so", &library))
        tap_bail("stripped.so cannot be loaded");
    tap_text(told(&frames[1]), "entry :0", "a stripped library has the names that it exports");
    tap_text(told(&frames[0]), " :0", "and not those of static functions");
    dlclose(library);
    if (!capture_in("linked.so", &library))
        tap_bail("linked.so cannot be loaded");
    if (module_symbols_have_lines())
        tap_text(told(&frames[0]), "copy_name pool.h:3+ / grow pool.c:5", "debugging information in a file of its own");
    else
        tap_skip("cuvmm is built without libdw", "debugging information in a file of its own");
    dlclose(library);
}

static void test_replaced(void)
{
    void *library;
    if (!compile("plugin.so", "-g -DVERSION=1 -Wl,--build-id") || !capture_in("plugin.so", &library))
        tap_bail("plugin.so cannot be made");
    struct stacks_frame old = frames[0];
    dlclose(library);
    /* Longer code, so that a mix-up would show. */
    if (!compile("new.so", "-g -DVERSION='({ volatile int x[99] = {1}; x[7]; })' -Wl,--build-id") || !run("mv new.so plugin.so") ||
        !capture_in("plugin.so", &library))
        tap_bail("plugin.so cannot be made again");
    tap_ok(strcmp(old.module, frames[0].module) == 0 && strcmp(old.build, frames[0].build) != 0 && old.build[0],
           "a plugin that was loaded again after a change is another module: %s, %s", old.build, frames[0].build);
    tap_u64(module_symbols_state(frames[0].module, frames[0].build), SYMBOLS_READ, "the file is the one that is loaded");
    tap_u64(module_symbols_state(old.module, old.build), SYMBOLS_REPLACED, "and not the one before it");
    tap_text(told(&old), " :0", "of which there are no names");
    tap_ok(strncmp(told(&frames[0]), module_symbols_have_lines() ? "copy_name" : "grow", 4) == 0, "the new one has some: %s",
           told(&frames[0]));
    dlclose(library);
    module_symbols_forget();
    run("rm plugin.so");
    tap_u64(module_symbols_state(old.module, old.build), SYMBOLS_GONE, "a file that is gone");
    tap_text(told(&old), " :0", "has no names");
}

static void test_others(void)
{
    const struct code_symbol *list;
    tap_u64(module_symbols_at("", "", 0x1234, &list), 1, "code of no file");
    tap_text(list[0].function, "", "has no name");
    tap_u64(module_symbols_state("/proc/self/mem", ""), SYMBOLS_GONE, "a file that is none");
    struct symbol_table table;
    bool some = false;
    for (uint64_t offset = 0x400; offset < 0x2000 && !some; offset += 0x10) {
        module_symbols_at("[vdso]", "", offset, &list);
        some = strncmp(list[0].function, "__", 2) == 0;
    }
    if (getauxval(AT_SYSINFO_EHDR))
        tap_ok(some, "the kernel's code in each process has names");
    else
        tap_skip("valgrind hides it", "the kernel's code in each process has names");
    tap_ok(!symbol_table_open(&table, folder) && !symbol_table_open(&table, "/nowhere"), "a folder and nothing are no files");
}

static void demangles(const char *name, const char *want)
{
    char *got = demangle(name);
    tap_text(got ? got : "", want, "%s", name);
    free(got);
}

static void test_demangle(void)
{
    char *plain = demangle("_ZN4pool4growEm");
    if (!plain || strcmp(plain, "_ZN4pool4growEm") == 0) {
        tap_skip("there is no library of C++", "mangled names");
    } else {
        demangles("_ZN4pool4growEm", "pool::grow(unsigned long)");
        demangles("_ZN4pool4grow17h0123456789abcdefE", "pool::grow");
        demangles("_ZN4core3ptr17h00ff00ff00ff00ffE", "core::ptr");
        demangles("_ZN4pool17h0123456789abcdegE", "pool::h0123456789abcdeg");
    }
    demangles("main", "main");
    demangles("_Zzz", "_Zzz");
    demangles("_RNvC4pool4grow", "_RNvC4pool4grow");
    free(plain);
}

/* Cut short at many places, and with bytes changed: no value in a file is believed. */
static void test_damaged(void)
{
    static unsigned char bytes[1 << 20];
    char path[256], cut[256];
    struct symbol_table table;
    snprintf(path, sizeof path, "%s/pool.so", folder);
    snprintf(cut, sizeof cut, "%s/damaged.so", folder);
    FILE *in = fopen(path, "rb");
    size_t size = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    if (in)
        fclose(in);
    unsigned seed = 1, found = 0;
    int fd = open(cut, O_RDWR | O_CREAT, 0600);
    for (unsigned i = 0; i < 400 && size; i++) {
        size_t length = i % 3 ? size : size * i / 400;
        seed = seed * 1103515245 + 12345;
        size_t at = seed % (i % 2 ? 64 : size);
        unsigned char kept = bytes[at];
        bytes[at] = (unsigned char)(seed >> 16);
        if (ftruncate(fd, 0) == 0 && pwrite(fd, bytes, length, 0) == (ssize_t)length && symbol_table_open(&table, cut)) {
            for (uint64_t address = 0; address < 0x3000; address += 7)
                found += symbol_table_find(&table, address) != NULL;
            symbol_table_close(&table);
        }
        bytes[at] = kept;
    }
    close(fd);
    tap_ok(found > 0, "files that were cut and damaged are survived");
}

int main(void)
{
    stacks_set(STACKS_SHORT);
    if (!mkdtemp(folder))
        tap_bail("no folder");
    write_file("pool.h", header);
    write_file("pool.c", source);
    if (!compile("pool.so", "-g -DVERSION=1")) {
        tap_skip("there is no C compiler", "everything");
    } else {
        test_lines();
        test_without_aranges();
        test_compilers();
        test_plus();
        test_stripped();
        test_replaced();
        test_damaged();
    }
    test_others();
    test_demangle();
    module_symbols_forget();
    run("rm -rf %s", folder);
    return tap_done();
}
