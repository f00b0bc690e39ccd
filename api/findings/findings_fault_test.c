/* SPDX-License-Identifier: Apache-2.0 */
/* Findings when system calls fail and when the loader does not know an address, and names from forged files. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faulty_files.h"
#include "posix.h"
#include "tap.h"

/* The faults to inject, and the text that was written. */
static struct {
    size_t most;         /* the most bytes that one write takes; 0: no limit */
    unsigned interrupts; /* every nth write is interrupted; 0: none */
    bool full;           /* no byte can be written */
    int knows;           /* how many lookups succeed before all fail; -1: all */
    const Dl_info *tells; /* the result of each lookup; NULL: the loader's */
    unsigned writes;
    int file;
    size_t length;
    char text[1 << 18];
} bad;

static ssize_t bad_write(int fd, const void *bytes, size_t length)
{
    size_t n = bad.most && length > bad.most ? bad.most : length;
    errno = bad.full ? ENOSPC : EINTR;
    bad.file = fd;
    if (bad.full || (++bad.writes && bad.interrupts && bad.writes % bad.interrupts == 0) || n >= sizeof bad.text - bad.length)
        return -1;
    memcpy(bad.text + bad.length, bytes, n);
    bad.length += n;
    return (ssize_t)n;
}

static int bad_dladdr(const void *address, Dl_info *info)
{
    if (bad.knows == 0)
        return 0;
    bad.knows -= bad.knows > 0;
    if (!bad.tells)
        return dladdr(address, info);
    *info = *bad.tells;
    return 1;
}

static struct posix faulty; /* the system's functions, except for the injected ones */

#define os_write_quietly bad_write
#define posix faulty
#define dladdr bad_dladdr
#include "findings.c"
#include "findings_class.c"
#include "findings_record.c"
#include "findings_stream.c"
#include "findings_sum.c"
#include "findings_text.c"
#include "findings_site.c"
#include "findings_symbol.c"
#undef os_write_quietly
#undef posix
#undef dladdr

static void all_is_well(void)
{
    memset(&bad, 0, sizeof bad);
    memset(&faulty_file, 0, sizeof faulty_file);
    bad.knows = -1;
}

static unsigned times(const char *part)
{
    unsigned count = 0;
    for (const char *at = bad.text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

/* Adds a refusal of a function with this name. */
static void add(const char *function)
{
    findings_add(&(vmm_detail){.result = VMM_ERROR_INVALID_VALUE, .severity = VMM_SEVERITY_ERROR, .function = function});
}

static void test_writing(void)
{
    all_is_well();
    bad.most = 3;
    bad.interrupts = 4;
    add("cuOne");
    tap_ok(times("error: cuOne -> CUDA_ERROR_INVALID_VALUE\n") == 1 && bad.file == STDERR_FILENO,
           "three bytes at a time, and interrupted: %s", bad.text);
    setenv("CUVMM_CHECK_LOG", "", 1);
    all_is_well();
    add("cuTwo");
    tap_ok(times("cuTwo") == 1 && bad.file == STDERR_FILENO, "an empty CUVMM_CHECK_LOG means standard error");
    setenv("CUVMM_CHECK_LOG", "/nowhere/log", 1);
    all_is_well();
    uint64_t before = tally->errors;
    add("cuThree");
    tap_ok(bad.writes == 0 && tally->errors == before + 1,
           "when the log cannot be opened, the finding is counted and written nowhere");
    unsetenv("CUVMM_CHECK_LOG");
    bad.full = true;
    add("cuFour");
    tap_ok(bad.length == 0 && bad.file == STDERR_FILENO && tally->errors == before + 2,
           "when the log is full, the finding is counted");
}

static void test_lengths(void)
{
    static char name[5000];
    memset(name, 'x', sizeof name - 1);
    all_is_well();
    add(name);
    tap_ok(bad.length == 4095 && times("error: xxxx") == 1, "a finding that is too long is truncated: %zu bytes", bad.length);
    all_is_well();
    bad.knows = 0; /* so that this program's functions are found */
    add(NULL);
    add(NULL);
    tap_u64(times("error:  -> CUDA_ERROR_INVALID_VALUE"), 2, "without rule and function, each place is written");
    bad.length = 0;
    memset(bad.text, 0, sizeof bad.text);
    for (int i = 0; i < 100; i++)
        add(NULL);
    tap_u64(times("error:  -> CUDA_ERROR_INVALID_VALUE"), 1, "and each place only once");
}

static void test_tally(void)
{
    char path[] = "/tmp/findings_fault.XXXXXX";
    const struct findings_tally zeros = {0};
    int fd = mkstemp(path);
    static const char *const names[] = {"without a name", "that is too short", "of unknown length", "that cannot be mapped"};
    for (int i = 0; i < 4; i++) {
        all_is_well();
        faulty_file.fstat = i == 2;
        faulty_file.mmap = i == 3;
        if (i == 2 && pwrite(fd, &zeros, sizeof zeros, 0) != (ssize_t)sizeof zeros)
            tap_bail("no tally");
        setenv("CUVMM_CHECK_TALLY", i ? path : "", 1);
        uint64_t before = own.begun;
        findings_open();
        tap_ok(tally == &own && own.begun == before + 1, "a tally %s: the process uses its own", names[i]);
    }
    close(fd);
    unlink(path);
    unsetenv("CUVMM_CHECK_TALLY");
    all_is_well();
    setenv("CUVMM_CHECK_QUIET", "1", 1);
    findings_close();
    tap_ok(bad.length == 0 && own.ended == 1, "when quiet, the sum is not written");
    unsetenv("CUVMM_CHECK_QUIET");
    findings_close();
    tap_ok(times("cuvmm check: ") == 1 && own.ended == 2, "otherwise it is: %s", bad.text);
}

/* More findings than the table holds: each is written, and those that did not fit are written every time. */
static void test_many(void)
{
    enum { MANY = 1100 };
    unsigned first_round = 0, second_round;
    char name[24];
    all_is_well();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "many%d.", i);
            if (i == 0 && round)
                first_round = times("error: many");
            add(name);
        }
    second_round = times("error: many") - first_round;
    tap_u64(first_round, MANY, "all of %d findings are written", MANY);
    tap_ok(second_round > 0 && second_round < MANY && times("many0.") == 1 && times("many1099.") == 2,
           "the second time, exactly the %u that did not fit are written", second_round);
}

/* ---- places ---- */

static void test_places(void)
{
    static const Dl_info grow = {.dli_fname = "/opt/pool.so", .dli_fbase = (void *)0x1000, .dli_sname = "grow"};
    static const Dl_info nameless = {.dli_fname = "pool.so", .dli_fbase = (void *)0x1000};
    void *frames[SITE_DEPTH];
    char text[400] = "", small[40] = "";
    all_is_well();
    int known = site_here(frames);
    bad.knows = 1;
    int others = site_here(frames);
    tap_ok(others > known, "unknown addresses do not count as this library's: %d frames instead of %d", others, known);
    bad.knows = 0;
    tap_u64((uint64_t)site_here(frames), (uint64_t)others, "nor do they when this library itself is unknown");
    tap_ok(site_text(frames, others, text, 0, sizeof text) == 0 && !text[0], "an unknown address has no line");
    all_is_well();
    bad.tells = &grow;
    for (size_t i = 0; i < SITE_DEPTH; i++)
        frames[i] = (void *)(0x1011 + 0x10 * i);
    size_t length = site_text(frames, SITE_DEPTH, text, 0, sizeof text);
    static const char first_lines[] = "  called by grow (pool.so+0x10)\n            grow (pool.so+0x20)\n";
    tap_ok(length == strlen(text) && !strncmp(text, first_lines, sizeof first_lines - 1) && strstr(text, "+0x60)\n") &&
               !strstr(text, "+0x70)"),
           "six places, by the names that the loader knows: %s", text);
    tap_ok(site_text(frames, SITE_DEPTH, small, 0, sizeof small) == sizeof small - 1 && strlen(small) == sizeof small - 1 &&
               !strncmp(small, first_lines, sizeof small - 1),
           "cut to the room there is: %s", small);
    bad.tells = &nameless;
    site_text(frames, 1, text, 0, sizeof text);
    tap_text(text, "  called by ? (pool.so+0x10)\n", "a function without a known name");
}

/* ---- names from a file ---- */

/* [head][segment at 0x2000][table of symbols, strings][nothing, "grow" at 0x2100 .. 0x2140]["\0grow"] */
struct image {
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    Elf64_Shdr sections[2];
    Elf64_Sym symbols[2];
    char strings[6];
};

static struct image image(void)
{
    struct image made;
    memset(&made, 0, sizeof made);
    memcpy(made.head.e_ident, ELFMAG, SELFMAG);
    made.head.e_ident[EI_CLASS] = ELFCLASS64;
    made.head.e_phoff = offsetof(struct image, segment);
    made.head.e_phnum = 1;
    made.head.e_phentsize = sizeof made.segment;
    made.head.e_shoff = offsetof(struct image, sections);
    made.head.e_shnum = 2;
    made.head.e_shentsize = sizeof made.sections[0];
    made.segment = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x2000};
    made.sections[0] = (Elf64_Shdr){.sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct image, symbols),
                                    .sh_size = sizeof made.symbols, .sh_link = 1};
    made.sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, strings),
                                    .sh_size = sizeof made.strings};
    made.symbols[1] = (Elf64_Sym){
        .st_name = 1, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_value = 0x2100, .st_size = 0x40};
    memcpy(made.strings, "\0grow", sizeof made.strings);
    return made;
}

/* Looks up the name at an offset in the first size bytes of this file. */
static void named_in(const struct image *file, size_t size, size_t offset, const char *want, const char *what)
{
    char path[] = "/tmp/findings_fault.XXXXXX", name[120] = "unwritten";
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, file, size) != (ssize_t)size)
        tap_bail("no file");
    close(fd);
    site_symbol(path, offset, name, sizeof name);
    tap_text(name, want, "%s", what);
    unlink(path);
}

static void named(const struct image *file, size_t offset, const char *want, const char *what)
{
    named_in(file, sizeof *file, offset, want, what);
}

static void test_symbols(void)
{
    struct image good = image(), file = good;
    char name[120] = "unwritten";
    all_is_well();
    named(&good, 0x100, "grow", "the first byte of a function");
    named(&good, 0x13f, "grow", "its last");
    named(&good, 0x140, "", "one behind it");
    named(&good, 0xff, "", "one before it");
    file.head.e_ident[EI_CLASS] = ELFCLASS32;
    named(&file, 0x100, "", "a file of 32 bits");
    file = good;
    file.head.e_ident[1]++;
    named(&file, 0x100, "", "one that is not such a file");
    file = good;
    file.symbols[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
    named(&file, 0x100, "", "something that is not a function");
    file = good;
    file.sections[0].sh_link = 1000;
    named(&file, 0x100, "", "names that are not in the file");
    file = good;
    file.sections[1].sh_size = UINT64_MAX;
    named(&file, 0x100, "", "names beyond the end of the file");
    file = good;
    file.sections[0].sh_size = UINT64_MAX;
    named(&file, 0x100, "", "a symbol table beyond the end of the file");
    file = good;
    file.symbols[1].st_name = sizeof file.strings;
    named(&file, 0x100, "", "a name behind the names");
    file = good;
    memcpy(file.strings, "\0grows", sizeof file.strings);
    named(&file, 0x100, "grows", "a name without an end");
    named_in(&good, sizeof good.head - 1, 0x100, "", "less than a head");
    site_symbol("/tmp", 0x100, name, sizeof name);
    tap_text(name, "", "a folder");
    faulty_file.fstat = true;
    named(&good, 0x100, "", "a file without a description");
    all_is_well();
    faulty_file.mmap = true;
    named(&good, 0x100, "", "one that cannot be mapped");
}

int main(void)
{
    faulty = posix;
    faulty.fstat = faulty_fstat;
    faulty.mmap = faulty_mmap;
    unsetenv("CUVMM_CHECK_LOG");
    unsetenv("CUVMM_CHECK_TALLY");
    unsetenv("CUVMM_CHECK_QUIET");
    test_writing();
    test_lengths();
    test_tally();
    test_places();
    test_symbols();
    test_many();
    return tap_done();
}
