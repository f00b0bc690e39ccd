/* SPDX-License-Identifier: Apache-2.0 */
/* Steps through made-up stacks and modules, with one rule for each module; this program's own modules are not involved.
 * Then tests the C library's unwinder on frames without a rule. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "stacks_unwind.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAS_BACKTRACE
#endif

#include "stacks_depot.h"
#include "tap.h"
#include "testing/dwarf_bytes.h"

#ifdef SP

enum { MADE = 12 };

/* A file: its table, and the code that the table describes. */
static struct made {
    unsigned char table[256];
    size_t size;
    unsigned char code[20000];
    struct module module;
    const struct module *is; /* the module that it belongs to; NULL: code without a file */
} made[MADE];

static struct {
    uintptr_t address;
    const struct module *module;
} own; /* an address of this program, and the module that it is reported to belong to */

/* Stand for those of stacks_module.c. */
const struct module *module_of(uintptr_t address)
{
    for (size_t i = 0; i < MADE; i++)
        if (address - (uintptr_t)made[i].code < sizeof made[i].code)
            return made[i].is;
    return address == own.address ? own.module : NULL;
}

bool module_names(uint32_t number, const char **path, const char **build)
{
    (void)number;
    (void)path;
    (void)build;
    return false;
}

static void put(struct made *to, const void *bytes, size_t size)
{
    memcpy(to->table + to->size, bytes, size);
    to->size += size;
}

/* A table for the code from there on: the CFA is sp + 8 and the return address below it, before the instructions. */
static void make(struct made *to, uintptr_t code, const char *instructions, unsigned char size)
{
    static const char common[] = "\x14\0\0\0\0\0\0\0\1zR\0\1\x78" RA "\1\0\x0c" SP "\x08\x05" RA "\1";
    const uint32_t start = (uint32_t)(code - (uintptr_t)to->table), at = 20 + sizeof common - 1, one = 1, zero = 0;
    const uint32_t length = 4 + 16 + 1 + size, back = sizeof common - 1 + 4;
    const uint64_t range[2] = {code, sizeof to->code};
    to->size = 0;
    put(to, "\1\x1b\3\x3b\0\0\0", 8);
    put(to, &one, 4);
    put(to, &start, 4);
    put(to, &at, 4);
    put(to, common, sizeof common - 1);
    to->table[20] = sizeof common - 1 - 4;
    put(to, &length, 4);
    put(to, &back, 4);
    put(to, range, 16);
    put(to, &zero, 1);
    put(to, instructions, size);
    to->module = (struct module){.start = (uintptr_t)to, .end = (uintptr_t)(to + 1), .unwind = (uintptr_t)to->table};
    to->is = &to->module;
}
#define MAKE(at, instructions) make(&made[at], (uintptr_t)made[at].code, instructions, sizeof(instructions) - 1)

static uintptr_t pc_of(unsigned i)
{
    return (uintptr_t)made[i].code + 16;
}

static uintptr_t stack[64];

/* In a file's code, with that frame pointer. */
static struct unwind at(uintptr_t pc, const void *fp)
{
    return (struct unwind){.pc = pc, .fp = (uintptr_t)fp, .next_sp = (uintptr_t)stack, .exact = true};
}

/* ---- steps by rules ---- */

static void test_chain(void)
{
    bool good = true;
    for (unsigned i = 0; i < MADE; i++)
        MAKE(i, "");
    for (unsigned i = 0; i < 2 * MADE; i++)
        stack[i] = i + 1 < 2 * MADE ? pc_of((i + 1) % MADE) : 0;
    struct unwind unwind = at(pc_of(0), NULL);
    for (unsigned i = 0; i < 2 * MADE; i++)
        good = good && unwind_next(&unwind) && unwind.address == pc_of(i % MADE) - (i > 0) && unwind.sp == (uintptr_t)&stack[i] &&
               unwind.module == made[i % MADE].is;
    tap_ok(good, "a stack that goes twice through more modules than are kept at hand");
    tap_ok(unwind.done && unwind.next_sp == UINTPTR_MAX && !unwind_next(&unwind), "it ends where the return address is none");
}

static void test_reloaded(void)
{
    static struct made other;
    MAKE(0, "");
    stack[0] = pc_of(1);
    stack[1] = pc_of(2);
    struct unwind unwind = at(pc_of(0), NULL);
    tap_ok(unwind_next(&unwind) && unwind.pc == pc_of(1), "a file's rule");
    make(&other, (uintptr_t)made[0].code, "\x0e\x10", 2);
    made[0].is = &other.module;
    unwind = at(pc_of(0), NULL);
    tap_ok(unwind_next(&unwind) && unwind.pc == pc_of(2), "another file at the same address has its own");
}

static void test_many(void)
{
    bool good = true;
    MAKE(1, "");
    stack[0] = pc_of(2);
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < sizeof made[1].code; i++) {
            struct unwind unwind = at((uintptr_t)made[1].code + i, NULL);
            good = good && unwind_next(&unwind) && unwind.pc == pc_of(2) && unwind.next_sp == (uintptr_t)&stack[1];
        }
    tap_ok(good, "more addresses than have their rules at hand");
}

/* Is the frame the last one? Other files were at these addresses before, so each test uses a new one. */
static bool ends(uintptr_t pc, const void *fp)
{
    struct unwind unwind = at(pc, fp);
    const bool is = unwind_next(&unwind);
    return is && unwind.address == pc && unwind.next_sp == UINTPTR_MAX && !unwind_next(&unwind);
}

static void test_ends(void)
{
    stack[0] = stack[1] = stack[2] = pc_of(1);
    MAKE(0, "\x0e\x0c");
    tap_ok(ends(pc_of(0) + 1, NULL), "a CFA that is not aligned");
    MAKE(2, "\x0c" FP "\x08");
    tap_ok(ends(pc_of(2) + 1, NULL) && ends(pc_of(2) + 1, (const void *)((uintptr_t)stack - 24)), "one below the stack pointer");
    tap_ok(ends(pc_of(2) + 1, (const void *)((uintptr_t)stack + (64U << 20))), "one too far above it");
    MAKE(3, "\x0f\x03" BREG_SP "\x78\x06");
    tap_ok(ends(pc_of(3) + 1, NULL), "one that is stored below the stack pointer");
    MAKE(4, "\x08" RA);
    tap_ok(ends(pc_of(4) + 1, NULL), "a return address that is not on the stack");
    MAKE(5, "\x07" RA);
    tap_ok(ends(pc_of(5) + 1, NULL), "one that is undefined");
}

static void test_forms(void)
{
    stack[0] = (uintptr_t)&stack[8];
    stack[7] = pc_of(1);
    MAKE(6, "\x0f\x03" BREG_SP "\x00\x06");
    struct unwind unwind = at(pc_of(6) + 1, NULL);
    tap_ok(unwind_next(&unwind) && unwind.pc == pc_of(1) && unwind.next_sp == (uintptr_t)&stack[8], "a CFA that is stored");
    stack[2] = pc_of(1);
    stack[3] = 4711;
    MAKE(7, "\x10" RA "\x02" BREG_SP "\x10\x10" FP "\x02" BREG_SP "\x18");
    unwind = at(pc_of(7) + 1, NULL);
    tap_ok(unwind_next(&unwind) && unwind.pc == pc_of(1) && unwind.fp == 4711, "registers by the stack pointer");
    MAKE(8, "\x05" FP "\x00");
    stack[0] = pc_of(1);
    stack[1] = 4712;
    unwind = at(pc_of(8) + 1, NULL);
    tap_ok(unwind_next(&unwind) && unwind.fp == 4712 && unwind.pc == pc_of(1), "a frame pointer by the CFA");
}

/* ---- without rules ---- */

static void test_pointer(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0)
        tap_bail("no memory");
    made[9].is = NULL;
    stack[4] = 4711;
    stack[5] = pc_of(1);
    struct unwind unwind = at(pc_of(9), &stack[4]);
    tap_ok(unwind_next(&unwind) && unwind.address == pc_of(9) && !unwind.module && unwind.pc == pc_of(1) && unwind.fp == 4711 &&
               unwind.next_sp == (uintptr_t)&stack[6] && !unwind.exact,
           "code of no file is followed by its frame pointer");
    stack[5] = 5;
    tap_ok(ends(pc_of(9), &stack[4]), "which no address is beside");
    stack[5] = pc_of(9);
    tap_ok(ends(pc_of(9), &stack[4]), "or one of no file");
    tap_ok(ends(pc_of(9), (const void *)((uintptr_t)stack - 8)), "or which is below the stack pointer");
    unwind = at(pc_of(9), pages + page);
    unwind.next_sp = (uintptr_t)pages;
    tap_ok(unwind_next(&unwind) && unwind.done && !unwind_next(&unwind), "or which cannot be read");
    tap_ok(ends((uintptr_t)pages + page, NULL), "code that cannot be read");
    munmap(pages, 2 * page);
    tap_ok(!unwind_readable((uintptr_t)stack, 4097), "more than a page is not asked about");
}

#ifdef HAS_BACKTRACE
/* The C library's unwinder takes over in a function of this program whose made-up table contains what no rule can express. */
__attribute__((noinline)) static bool goes_on_slowly(bool exact)
{
    static struct made table;
    const uintptr_t back = (uintptr_t)__builtin_return_address(0);
    void *theirs[UNWIND_SLOW_MOST];
    const int count = backtrace(theirs, UNWIND_SLOW_MOST);
    int i = 0;
    while (i < count && (uintptr_t)theirs[i] != back)
        i++;
    own.address = back - !exact;
    make(&table, back - 8, "\x01", 1);
    own.module = &table.module;
    struct unwind unwind = at(back, NULL);
    unwind.exact = exact;
    bool good = i + 1 < count && unwind_next(&unwind) && unwind.address == back - !exact && unwind.module == own.module;
    for (i++; i < count; i++)
        good = good && unwind_next(&unwind) && unwind.address == (uintptr_t)theirs[i] - 1 && unwind.next_sp == UINTPTR_MAX;
    return good && !unwind_next(&unwind);
}

static void test_library(void)
{
    const bool returns = goes_on_slowly(false), is_exact = goes_on_slowly(true);
    tap_ok(returns, "the C library's unwinder finds the rest of the frames");
    tap_ok(is_exact, "also where the frame's address is no call's");
}
#else
static void test_library(void)
{
    tap_skip("this C library has no unwinder", "the rest of the frames");
}
#endif

static void test_slow(void)
{
    test_library();
    MAKE(10, "\x01");
    tap_ok(ends(pc_of(10), NULL), "not beyond a frame of another stack");
}

static void test_full(void)
{
    const uint64_t limit = depot_limit;
    MAKE(11, "\x0e\x18");
    stack[2] = pc_of(1);
    depot_limit = 0;
    struct unwind unwind = at(pc_of(11) + 2, NULL);
    const bool good = unwind_next(&unwind) && unwind.pc == pc_of(1) && unwind.next_sp == (uintptr_t)&stack[3];
    depot_limit = limit;
    tap_ok(good && depot_full(), "rules are found anew where the depot is full");
}

int main(void)
{
    test_chain();
    test_reloaded();
    test_many();
    test_ends();
    test_forms();
    test_pointer();
    test_slow();
    test_full();
    return tap_done();
}

#else

int main(void)
{
    tap_skip("the compiler's unwinder does it all", "steps by rules");
    return tap_done();
}

#endif
