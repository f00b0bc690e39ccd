/* SPDX-License-Identifier: Apache-2.0 */
/* Rules from made-up tables: each instruction, each encoding of addresses, and tables that are damaged or too short.
 * An out-of-bounds read hits an inaccessible page. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "stacks_rule.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"
#include "testing/dwarf_bytes.h"

#ifdef SP

struct bytes {
    const char *at;
    size_t size;
};
#define BYTES(text) {text, sizeof(text) - 1}
#define OTHER_REG "\x03"

/* Functions lie one after another from CODE on; their addresses are multiples of 4, and lookups use addresses that are not. */
enum { CODE = 0x2000, LENGTH = 0x40, AT = 0x10 };

/* What a table is made of. Zeros stand for the usual values. */
struct form {
    struct bytes own, first; /* instructions */
    struct bytes data;       /* what the augmentation says */
    const char *augmentation;
    unsigned encoding, version, ra, functions;
    bool long_length, absolute; /* absolute: the encoding 0 is meant */
    struct bytes own_data;
};

/* The table, and where its parts begin. */
struct made {
    unsigned char image[2048];
    size_t size, common, own;
    uintptr_t at; /* where the image will be placed */
};

static void put(struct made *made, uint64_t value, unsigned size)
{
    memcpy(made->image + made->size, &value, size);
    made->size += size;
}

static void put_bytes(struct made *made, const char *bytes, size_t size)
{
    if (size)
        memcpy(made->image + made->size, bytes, size);
    made->size += size;
}

static void put_pointer(struct made *made, unsigned encoding, uint64_t value)
{
    static const unsigned sizes[16] = {8, 0, 2, 4, 8, 4, 4, 4, 0, 0, 2, 4, 8, 4, 4, 4};
    if ((encoding & 0x70) == 0x10)
        value -= made->at + made->size;
    else if ((encoding & 0x70) == 0x30)
        value -= made->at;
    if (sizes[encoding & 15]) {
        put(made, value, sizes[encoding & 15]);
        return;
    }
    for (int i = 0; i < 3; i++, value >>= 7)
        put(made, (value & 127) | (i < 2 ? 128 : 0), 1);
}

/* Begins a record, whose length put_end writes. */
static size_t put_start(struct made *made, bool long_length)
{
    put(made, long_length ? 0xFFFFFFFF : 0, 4);
    if (long_length)
        put(made, 0, 8);
    return made->size;
}

static void put_end(struct made *made, size_t start, bool long_length)
{
    const uint64_t length = made->size - start;
    memcpy(made->image + start - (long_length ? 8 : 4), &length, long_length ? 8 : 4);
}

static void make_common(struct made *made, const struct form *form)
{
    static const struct bytes usual = BYTES("\x0c" SP "\x08" OFFSET_RA "\x01");
    const struct bytes *first = form->first.at ? &form->first : &usual;
    const char *text = form->augmentation ? form->augmentation : "zR";
    made->common = made->size;
    const size_t start = put_start(made, form->long_length);
    put(made, 0, 4);
    put(made, form->version ? form->version : 1, 1);
    put_bytes(made, text, strlen(text) + 1);
    put_bytes(made, "\x01\x78", 2);
    put(made, form->ra ? form->ra : (unsigned char)RA[0], 1);
    if (form->data.at)
        put_bytes(made, form->data.at, form->data.size);
    else if (text[0] == 'z') {
        put(made, 1, 1);
        put(made, form->encoding, 1);
    }
    put_bytes(made, first->at, first->size);
    put_end(made, start, form->long_length);
}

static size_t make_own(struct made *made, const struct form *form, unsigned i)
{
    const size_t entry = made->size, start = put_start(made, form->long_length);
    put(made, start - made->common, 4);
    put_pointer(made, form->encoding, made->at + CODE + i * LENGTH);
    put_pointer(made, form->encoding & 15, LENGTH);
    if (form->own_data.at)
        put_bytes(made, form->own_data.at, form->own_data.size);
    else if (!form->augmentation || form->augmentation[0] == 'z')
        put(made, 0, 1);
    put_bytes(made, form->own.at, form->own.size);
    if (form->functions) {
        put(made, 0x0e, 1);
        put(made, 16 + i, 1);
    }
    put_end(made, start, form->long_length);
    return entry;
}

static void make(struct made *made, struct form form, uintptr_t at)
{
    const unsigned functions = form.functions ? form.functions : 1;
    if (!form.encoding && !form.absolute)
        form.encoding = 0x1b;
    made->at = at;
    made->size = 0;
    put_bytes(made, "\x01\x1b\x03\x3b", 4);
    put(made, 0, 4);
    put(made, functions, 4);
    made->size += 8 * functions;
    make_common(made, &form);
    for (unsigned i = 0; i < functions; i++) {
        made->own = make_own(made, &form, i);
        const uint32_t row[2] = {CODE + i * LENGTH, (uint32_t)made->own};
        memcpy(made->image + 12 + 8 * i, row, sizeof row);
    }
}

/* ---- asking ---- */

static unsigned char *page_end; /* the page after it is unreadable */

static void map_pages(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE) != 0)
        tap_bail("no memory");
    page_end = at + page;
}

/* The rule for an address of the code, with the table's first bytes just before the end of the page. */
static struct rule ask_part(const struct made *made, size_t size, uintptr_t offset)
{
    unsigned char *to = page_end - size;
    memcpy(to, made->image, size);
    const struct module module = {.start = (uintptr_t)to, .end = (uintptr_t)page_end, .unwind = (uintptr_t)to};
    return rule_for(&module, (uintptr_t)to + offset);
}

static size_t size_of(struct form form)
{
    static struct made made;
    make(&made, form, 0);
    return made.size;
}

static struct rule ask_at(struct form form, uintptr_t offset)
{
    static struct made made;
    make(&made, form, (uintptr_t)page_end - size_of(form));
    return ask_part(&made, made.size, offset);
}

static const char *place(bool saved, bool by_sp, int32_t at)
{
    static char text[2][32];
    static int turn;
    turn = !turn;
    if (!saved)
        return "kept";
    snprintf(text[turn], sizeof text[turn], "%s%+d", by_sp ? "sp" : "cfa", at);
    return text[turn];
}

static const char *told(struct rule rule)
{
    static char text[128];
    static const char *const kinds[] = {[RULE_END] = "end", [RULE_NO_TABLE] = "no table", [RULE_OTHER] = "other"};
    if (rule.kind != RULE_STEP)
        return kinds[rule.kind];
    snprintf(text, sizeof text, "%s%s%+d%s ra %s fp %s%s", rule.cfa_stored ? "*(" : "", rule.by_fp ? "fp" : "sp", rule.cfa,
             rule.cfa_stored ? ")" : "", place(rule.ra_saved, rule.ra_by_sp, rule.ra), place(rule.fp_saved, rule.fp_by_sp, rule.fp),
             rule.signal ? " signal" : "");
    return text;
}

/* ---- instructions ---- */

struct instruction {
    const char *name;
    struct bytes own;
    const char *want;
};

static void test_each(const struct instruction *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tap_text(told(ask_at((struct form){.own = cases[i].own}, CODE + AT)), cases[i].want, "%s", cases[i].name);
}
#define TEST_EACH(cases) test_each(cases, sizeof(cases) / sizeof((cases)[0]))

#define USUAL "sp+8 ra cfa-8 fp kept"

static void test_addresses(void)
{
    static const struct instruction cases[] = {
        {"no instruction", BYTES(""), USUAL},
        {"a push", BYTES("\x44\x0e\x10" OFFSET_FP "\x02"), "sp+16 ra cfa-8 fp cfa-16"},
        {"advance_loc to the address", BYTES("\x50\x0e\x10"), "sp+16 ra cfa-8 fp kept"},
        {"advance_loc past it", BYTES("\x51\x0e\x10"), USUAL},
        {"advance_loc1 to it", BYTES("\x02\x10\x0e\x10"), "sp+16 ra cfa-8 fp kept"},
        {"advance_loc1 past it", BYTES("\x02\x11\x0e\x10"), USUAL},
        {"advance_loc2 to it", BYTES("\x03\x10\x00\x0e\x10"), "sp+16 ra cfa-8 fp kept"},
        {"advance_loc2 past it", BYTES("\x03\x10\x01\x0e\x10"), USUAL},
        {"advance_loc4 to it", BYTES("\x04\x10\x00\x00\x00\x0e\x10"), "sp+16 ra cfa-8 fp kept"},
        {"advance_loc4 past it", BYTES("\x04\x10\x00\x01\x00\x0e\x10"), USUAL},
        {"set_loc", BYTES("\x01\x00\x00\x00\x00"), "other"},
        {"nop, a signed return address, args_size", BYTES("\x00\x2d\x2e\x10"), USUAL},
        {"an unknown instruction", BYTES("\x3f"), "other"},
        {"an advance without its number", BYTES("\x04\x10"), "other"},
    };
    TEST_EACH(cases);
}

static void test_cfa(void)
{
    static const struct instruction cases[] = {
        {"def_cfa", BYTES("\x0c" FP "\x10"), "fp+16 ra cfa-8 fp kept"},
        {"def_cfa of another register", BYTES("\x0c" OTHER_REG "\x10"), "other"},
        {"def_cfa without its offset", BYTES("\x0c" FP), "other"},
        {"def_cfa_register", BYTES("\x0d" FP), "fp+8 ra cfa-8 fp kept"},
        {"def_cfa_sf", BYTES("\x12" FP "\x7e"), "fp+16 ra cfa-8 fp kept"},
        {"def_cfa_offset_sf", BYTES("\x13\x7d"), "sp+24 ra cfa-8 fp kept"},
        {"a number of two bytes", BYTES("\x0e\x80\x02"), "sp+256 ra cfa-8 fp kept"},
        {"a number with bits past the 64th", BYTES("\x0e\x88\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"), "sp+8 ra cfa-8 fp kept"},
        {"a signed one", BYTES("\x13\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), "sp+8 ra cfa-8 fp kept"},
        {"an offset past 32 bits", BYTES("\x0e\xff\xff\xff\xff\x7f"), "other"},
        {"remember_state, restore_state", BYTES("\x0a\x0c" FP "\x20\x0b"), USUAL},
        {"eight states", BYTES("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0e\x10\x0b"), USUAL},
        {"a ninth", BYTES("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"), "other"},
        {"restore_state of none", BYTES("\x0b"), "other"},
    };
    TEST_EACH(cases);
}

static void test_registers(void)
{
    static const struct instruction cases[] = {
        {"offset_extended", BYTES("\x05" FP "\x03"), "sp+8 ra cfa-8 fp cfa-24"},
        {"offset_extended_sf", BYTES("\x11" FP "\x7e"), "sp+8 ra cfa-8 fp cfa+16"},
        {"a place past 32 bits of the frame pointer", BYTES("\x05" FP "\xff\xff\xff\xff\x7f"), "other"},
        {"a place past 32 bits of the return address", BYTES("\x05" RA "\xff\xff\xff\xff\x7f"), "other"},
        {"a register that no rule has", BYTES("\x05" OTHER_REG "\x03"), USUAL},
        {"the stack pointer on the stack", BYTES("\x05" SP "\x03"), "other"},
        {"same_value of the frame pointer", BYTES("\x05" FP "\x03\x08" FP), USUAL},
        {"same_value of the return address", BYTES("\x08" RA), "sp+8 ra kept fp kept"},
        {"undefined return address", BYTES("\x07" RA), "end"},
        {"restore", BYTES("\x05" FP "\x03" RESTORE_FP), USUAL},
        {"restore_extended", BYTES("\x08" RA "\x06" RA), USUAL},
        {"restore_extended of another register", BYTES("\x06" OTHER_REG), USUAL},
        {"register: the frame pointer elsewhere", BYTES("\x09" FP OTHER_REG), "other"},
        {"register: the return address elsewhere", BYTES("\x09" RA OTHER_REG), "other"},
        {"register of another", BYTES("\x09" OTHER_REG "\x04"), USUAL},
        {"val_offset", BYTES("\x14" FP "\x01"), "other"},
        {"val_offset of another register", BYTES("\x14" OTHER_REG "\x01"), USUAL},
        {"val_offset_sf", BYTES("\x15" FP "\x7f"), "other"},
        {"val_expression", BYTES("\x16" FP "\x02" BREG_SP "\x08"), "other"},
        {"val_expression of another register", BYTES("\x16" OTHER_REG "\x02" BREG_SP "\x08"), USUAL},
        {"val_expression past the end", BYTES("\x16" OTHER_REG "\x03" BREG_SP "\x08"), "other"},
    };
    TEST_EACH(cases);
}

static void test_expressions(void)
{
    static const struct instruction cases[] = {
        {"def_cfa_expression, a sum", BYTES("\x0f\x02" BREG_FP "\x70"), "fp-16 ra cfa-8 fp kept"},
        {"what is stored there", BYTES("\x0f\x03" BREG_FP "\x70\x06"), "*(fp-16) ra cfa-8 fp kept"},
        {"an empty one", BYTES("\x0f\x00\x00"), "other"},
        {"one that begins with a number", BYTES("\x0f\x01\x30"), "other"},
        {"one that begins with the CFA", BYTES("\x0f\x01\x9c"), "other"},
        {"a sum and a product", BYTES("\x0f\x03" BREG_FP "\x70\x1e"), "other"},
        {"what is stored where that points", BYTES("\x0f\x04" BREG_FP "\x70\x06\x06"), "other"},
        {"one that lacks its offset", BYTES("\x0f\x01" BREG_FP), "other"},
        {"one past the end", BYTES("\x0f\x7f" BREG_FP), "other"},
        {"one without its size", BYTES("\x0f"), "other"},
        {"expression: the frame pointer from the stack pointer", BYTES("\x10" FP "\x02" BREG_SP "\x10"), "sp+8 ra cfa-8 fp sp+16"},
        {"expression: the return address", BYTES("\x10" RA "\x02" BREG_SP "\x18"), "sp+8 ra sp+24 fp kept"},
        {"expression from another register", BYTES("\x10" FP "\x02" BREG_FP "\x10"), "other"},
        {"expression of what is stored", BYTES("\x10" FP "\x03" BREG_SP "\x10\x06"), "other"},
        {"a signal's stack pointer", BYTES("\x0f\x03" BREG_SP "\x10\x06\x10" SP "\x02" BREG_SP "\x10"),
         "*(sp+16) ra cfa-8 fp kept"},
        {"one that is stored elsewhere", BYTES("\x0f\x03" BREG_SP "\x10\x06\x10" SP "\x02" BREG_SP "\x18"), "other"},
        {"one beside a CFA that is not stored", BYTES("\x10" SP "\x02" BREG_SP "\x08"), "other"},
        {"one beside another register's CFA", BYTES("\x0f\x03" BREG_FP "\x10\x06\x10" SP "\x02" BREG_SP "\x10"), "other"},
    };
    TEST_EACH(cases);
}

/* ---- entries ---- */

static void test_encodings(void)
{
    static const unsigned good[] = {0x00, 0x04, 0x0c, 0x1b, 0x1c, 0x14, 0x13, 0x12, 0x1a, 0x11, 0x19, 0x3b, 0x33, 0x3c, 0x32},
                          bad[] = {0x15, 0x1d, 0x4b, 0x2b, 0x9b};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const struct form form = {.encoding = good[i], .absolute = true, .own = BYTES("\x0e\x18")};
        tap_ok(ask_at(form, CODE).cfa == 24 && ask_at(form, CODE + LENGTH - 4).cfa == 24 &&
                   ask_at(form, CODE + LENGTH).kind == RULE_NO_TABLE && ask_at(form, CODE - 4).kind == RULE_NO_TABLE,
               "encoding 0x%02x: the function's addresses and no others", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tap_text(told(ask_at((struct form){.encoding = bad[i], .own = BYTES("\x0e\x18")}, CODE)), "no table", "encoding 0x%02x",
                 bad[i]);
}

static void test_common(void)
{
    static const struct {
        const char *name, *want;
        struct form form;
    } cases[] = {
        {"version 3", USUAL, {.version = 3}},
        {"version 4", "no table", {.version = 4}},
        {"another return address", "no table", {.ra = 3}},
        {"lengths of 64 bits", USUAL, {.long_length = true}},
        {"a personality and data of the language", USUAL,
         {.augmentation = "zPLR", .data = BYTES("\x07\x9b\x01\x02\x03\x04\x1b\x1b"), .own_data = BYTES("\x04\x01\x02\x03\x04")}},
        {"a signal's frame", USUAL " signal", {.augmentation = "zRS"}},
        {"a key for signed addresses", USUAL, {.augmentation = "zRB"}},
        {"what comes after an unknown letter", USUAL, {.augmentation = "zRXS"}},
        {"no augmentation: instructions follow at once", "sp+16 ra cfa-8 fp kept",
         {.augmentation = "", .absolute = true, .own = BYTES("\x0e\x10")}},
        {"an old one", "no table", {.augmentation = "eh", .absolute = true}},
        {"a long one", "no table", {.augmentation = "zRSSSSSSSS"}},
        {"one whose data end past the part", "no table", {.augmentation = "zR", .data = BYTES("\x7f\x1b")}},
        {"data that end before a pointer", "no table", {.augmentation = "zPR", .data = BYTES("\x01\x1d\x1b")}},
        {"an entry's data past its end", "no table", {.own_data = BYTES("\x7f")}},
        {"instructions of all functions", "fp+16 ra cfa-8 fp cfa-16", {.first = BYTES("\x0c" FP "\x10" OFFSET_RA "\x01" OFFSET_FP "\x02")}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tap_text(told(ask_at(cases[i].form, CODE + AT)), cases[i].want, "%s", cases[i].name);
}

static void test_search(void)
{
    bool good = true;
    for (unsigned functions = 1; functions <= 40; functions++) {
        const struct form form = {.functions = functions};
        for (unsigned i = 0; i < functions; i++)
            good = good && ask_at(form, CODE + i * LENGTH).cfa == (int32_t)(16 + i) &&
                   ask_at(form, CODE + (i + 1) * LENGTH - 4).cfa == (int32_t)(16 + i);
        good = good && ask_at(form, CODE - 4).kind == RULE_NO_TABLE &&
               ask_at(form, CODE + functions * LENGTH).kind == RULE_NO_TABLE;
    }
    tap_ok(good, "each of 1 to 40 functions has its own rule, and what lies around them none");
}

/* The usual table with some bytes replaced. */
static struct rule ask_changed(bool in_own, size_t at, uint32_t value, unsigned size)
{
    static struct made made;
    const struct form form = {.own = BYTES("\x0e\x10")};
    make(&made, form, (uintptr_t)page_end - size_of(form));
    memcpy(made.image + (in_own ? made.own : 0) + at, &value, size);
    return ask_part(&made, made.size, CODE + AT);
}

static void test_header(void)
{
    static const struct {
        const char *name;
        bool in_own;
        size_t at;
        uint32_t value;
        unsigned size;
    } cases[] = {
        {"another version", false, 0, 2, 1},
        {"no place of the entries", false, 1, 0xFF, 1},
        {"no count", false, 2, 0xFF, 1},
        {"another form of rows", false, 3, 0x1b, 1},
        {"a count past the end", false, 8, 1000, 4},
        {"no rows", false, 8, 0, 4},
        {"an entry before the module", false, 16, 0x80000000, 4},
        {"an entry past the module", false, 16, 0x01000000, 4},
        {"an entry that is a common part", true, 4, 0, 4},
        {"a common part before the module", true, 4, 0x01000000, 4},
        {"a length past the end", true, 0, 0x01000000, 4},
    };
    tap_text(told(ask_changed(false, 0, 1, 1)), "sp+16 ra cfa-8 fp kept", "the table as it is");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tap_text(told(ask_changed(cases[i].in_own, cases[i].at, cases[i].value, cases[i].size)), "no table", "%s", cases[i].name);
    tap_text(told(rule_for(NULL, (uintptr_t)page_end - 16)), "other", "code of no file");
    tap_text(told(rule_for(&(struct module){.end = UINTPTR_MAX}, (uintptr_t)page_end - 16)), "no table", "a file without a table");
}

/* ---- tables that end early or contain nonsense ---- */

static const struct form full = {
    .augmentation = "zPLR", .data = BYTES("\x07\x9b\x01\x02\x03\x04\x1b\x1b"), .own_data = BYTES("\x04\x01\x02\x03\x04"),
    .own = BYTES("\x44\x0e\x10" OFFSET_FP "\x02\x0a\x0c" FP "\x10\x0b\x02\x02\x0f\x03" BREG_FP "\x70\x06")};

static void test_cut(void)
{
    static struct made made;
    bool none = true;
    make(&made, full, (uintptr_t)page_end - size_of(full));
    for (size_t size = 0; size < made.size; size++)
        none = none && ask_part(&made, size, CODE + AT).kind == RULE_NO_TABLE;
    tap_ok(none, "a table that ends early has no rule");
    tap_text(told(ask_part(&made, made.size, CODE + AT)), "*(fp-16) ra cfa-8 fp cfa-16", "and one that is whole has");
}

static void test_damaged(void)
{
    static struct made made, damaged;
    unsigned seed = 1, kinds[RULE_OTHER + 1] = {0};
    make(&made, full, (uintptr_t)page_end - size_of(full));
    for (int i = 0; i < 20000; i++) {
        damaged = made;
        for (int k = 0; k < 1 + i % 3; k++) {
            seed = seed * 1103515245 + 12345;
            damaged.image[(seed >> 8) % made.size] = (unsigned char)(seed >> 20);
        }
        kinds[ask_part(&damaged, made.size, CODE + AT).kind]++;
    }
    tap_ok(kinds[RULE_STEP] && kinds[RULE_NO_TABLE] && kinds[RULE_OTHER],
           "damaged tables (seed 1) are read within bounds: %u rules, %u none, %u others", kinds[RULE_STEP], kinds[RULE_NO_TABLE],
           kinds[RULE_OTHER]);
}

int main(void)
{
    map_pages();
    test_addresses();
    test_cfa();
    test_registers();
    test_expressions();
    test_encodings();
    test_common();
    test_search();
    test_header();
    test_cut();
    test_damaged();
    return tap_done();
}

#else

int main(void)
{
    tap_skip("the compiler's unwinder does it all", "rules of frames");
    return tap_done();
}

#endif
