/* SPDX-License-Identifier: Apache-2.0 */
/* Reads .eh_frame_hdr and .eh_frame (Linux Standard Base, DWARF 5 section 6.4). The tables belong to a loaded file, but every
 * read is still bounds-checked against the module's addresses. */
#include "stacks_rule.h"

#include <string.h>

/* Registers by their DWARF numbers. */
#if defined(__x86_64__)
enum { REG_SP = 7, REG_FP = 6, REG_RA = 16 };
#elif defined(__aarch64__)
enum { REG_SP = 31, REG_FP = 29, REG_RA = 30 };
#else
enum { REG_SP = -1, REG_FP = -2, REG_RA = -3 }; /* no rules: the compiler's unwinder does everything */
#endif

/* Encodings of pointers. */
enum { PE_OMIT = 0xFF, PE_ULEB = 1, PE_U2 = 2, PE_U4 = 3, PE_U8 = 4, PE_SLEB = 9, PE_S2 = 10, PE_S4 = 11, PE_S8 = 12,
       PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_INDIRECT = 0x80 };

/* A reading cursor; its `ok` stays false once a read was out of bounds. */
struct reader {
    uintptr_t at, end;
    uintptr_t from, base; /* of the module, and of PE_DATAREL */
    bool good;
};

static uint64_t take(struct reader *in, unsigned size)
{
    uint64_t value = 0;
    if (!in->good || in->end - in->at < size) {
        in->good = false;
        return 0;
    }
    /* analysers: clang-analyzer-core.NonNullParamChecker is wrong: no module begins at 0 */
    memcpy(&value, (const void *)in->at, size); /* little-endian, as both machines are */
    in->at += size;
    return value;
}

static uint64_t take_leb(struct reader *in, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = take(in, 1);
        if (shift < 64)
            value |= (byte & 127) << shift;
        shift += 7;
    } while (in->good && byte & 128);
    if (is_signed && shift < 64 && byte & 64)
        value |= ~UINT64_C(0) << shift;
    return value;
}

static uint64_t uleb(struct reader *in)
{
    return take_leb(in, false);
}

static int64_t sleb(struct reader *in)
{
    return (int64_t)take_leb(in, true);
}

static void skip_block(struct reader *in)
{
    uint64_t size = uleb(in);
    if (size > in->end - in->at)
        in->good = false;
    else
        in->at += (uintptr_t)size;
}

static uintptr_t take_pointer(struct reader *in, unsigned encoding)
{
    uintptr_t from = in->at;
    uint64_t value = 0;
    switch (encoding & 15) {
    case 0:
    case PE_U8:
    case PE_S8: value = take(in, 8); break;
    case PE_U4: value = take(in, 4); break;
    case PE_S4: value = (uint64_t)(int64_t)(int32_t)take(in, 4); break;
    case PE_U2: value = take(in, 2); break;
    case PE_S2: value = (uint64_t)(int64_t)(int16_t)take(in, 2); break;
    case PE_ULEB: value = uleb(in); break;
    case PE_SLEB: value = (uint64_t)sleb(in); break;
    default: in->good = false;
    }
    if ((encoding & 0x70) == PE_PCREL)
        value += from;
    else if ((encoding & 0x70) == PE_DATAREL)
        value += in->base;
    else if (encoding & 0x70)
        in->good = false;
    if (encoding & PE_INDIRECT)
        in->good = false; /* only personality routines are encoded like this, and those are skipped */
    return (uintptr_t)value;
}

/* ---- the entry for an address ---- */

struct entry {
    struct reader common, own; /* the instructions of both */
    uintptr_t start;
    uint64_t code_align;
    int64_t data_align;
    bool signal;
    bool sized; /* the entry's own augmentation data is preceded by its size */
};

/* Skips the length and, for an FDE, the offset of its CIE. Returns where the record's end is. */
static uintptr_t record_end(struct reader *in)
{
    uint64_t length = take(in, 4);
    if (length == 0xFFFFFFFF)
        length = take(in, 8);
    if (!in->good || length > in->end - in->at)
        in->good = false;
    return in->good ? in->at + (uintptr_t)length : in->at;
}

/* Reads what the augmentation string announces. Returns how addresses are encoded. */
static unsigned read_augmentation(struct reader *in, const char *text, struct entry *entry)
{
    unsigned encoding = 0;
    if (*text != 'z')
        return 0;
    entry->sized = true;
    uint64_t size = uleb(in);
    uintptr_t after = in->at + (uintptr_t)size;
    if (!in->good || size > in->end - in->at) {
        in->good = false;
        return 0;
    }
    for (text++; *text && in->good; text++) {
        if (*text == 'R') {
            encoding = (unsigned)take(in, 1);
        } else if (*text == 'L') {
            take(in, 1);
        } else if (*text == 'P') {
            unsigned how = (unsigned)take(in, 1);
            take_pointer(in, how & 0x7Fu);
        } else if (*text == 'S') {
            entry->signal = true;
        } else if (*text != 'B') {
            break;
        }
    }
    in->at = after;
    return encoding;
}

/* The common part of entries. */
static unsigned read_common(struct reader in, struct entry *entry)
{
    char text[8] = "";
    in.end = record_end(&in);
    take(&in, 4);
    unsigned version = (unsigned)take(&in, 1), i = 0;
    while (in.good && i < sizeof text - 1 && (text[i] = (char)take(&in, 1)))
        i++;
    text[sizeof text - 1] = '\0';
    entry->code_align = uleb(&in);
    entry->data_align = sleb(&in);
    uint64_t ra = version == 1 ? take(&in, 1) : uleb(&in);
    unsigned encoding = read_augmentation(&in, text, entry);
    if ((version != 1 && version != 3) || ra != (uint64_t)REG_RA || (text[0] && text[0] != 'z'))
        in.good = false;
    entry->common = in;
    return encoding;
}

/* Reads the entry that begins there. Returns false if it does not cover the address. */
static bool read_entry(struct reader in, uintptr_t address, struct entry *entry)
{
    struct reader common = in;
    in.end = record_end(&in);
    uintptr_t from = in.at;
    uint64_t back = take(&in, 4);
    if (!in.good || !back || back > from - common.from)
        return false;
    common.at = from - (uintptr_t)back;
    *entry = (struct entry){.signal = false};
    unsigned encoding = read_common(common, entry);
    entry->start = take_pointer(&in, encoding);
    uintptr_t size = take_pointer(&in, encoding & 15);
    if (entry->sized)
        skip_block(&in);
    entry->own = in;
    return in.good && entry->common.good && address - entry->start < size;
}

/* The last row of the sorted table that begins at or before the address; 0 if there is none. Rows are pairs of 32-bit offsets
 * from the header. */
static uintptr_t search(const struct module *module, uintptr_t rows, uint64_t count, uintptr_t address)
{
    uint64_t low = 0, high = count;
    int32_t row[2];
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        memcpy(row, (const void *)(rows + middle * sizeof row), sizeof row);
        if (module->unwind + (uintptr_t)(intptr_t)row[0] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return 0;
    memcpy(row, (const void *)(rows + (low - 1) * sizeof row), sizeof row);
    return module->unwind + (uintptr_t)(intptr_t)row[1];
}

static bool find_entry(const struct module *module, uintptr_t address, struct entry *entry)
{
    struct reader in = {module->unwind, module->end, module->start, module->unwind, module->unwind != 0};
    unsigned version = (unsigned)take(&in, 1), frame = (unsigned)take(&in, 1), counting = (unsigned)take(&in, 1);
    unsigned table = (unsigned)take(&in, 1);
    take_pointer(&in, frame);
    uint64_t count = counting == PE_OMIT ? 0 : take_pointer(&in, counting);
    if (!in.good || version != 1 || table != (PE_DATAREL | PE_S4) || count > (in.end - in.at) / 8)
        return false;
    in.at = search(module, in.at, count, address);
    in.good = in.at >= module->start && in.at < module->end;
    return in.good && read_entry(in, address, entry);
}

/* ---- the instructions of an entry ---- */

enum where { SAME, SAVED, BY_SP, UNDEFINED, ELSEWHERE };

struct row {
    unsigned cfa_reg;
    int64_t cfa;
    bool cfa_other, cfa_stored;
    enum where fp, ra;
    int64_t fp_at, ra_at;
    bool sp_stored; /* the caller's stack pointer is what is stored at sp_at from this one's */
    int64_t sp_at;
};

struct run {
    struct row row, first, kept[8];
    unsigned depth;
    uintptr_t at;
    const struct entry *entry;
    bool good;
};

/* Wraps around, because a damaged table may contain any numbers. */
static int64_t scaled(uint64_t number, int64_t align)
{
    return (int64_t)(number * (uint64_t)align);
}

static void set(struct run *run, uint64_t reg, enum where where, int64_t offset)
{
    if (reg == (uint64_t)REG_FP) {
        run->row.fp = where;
        run->row.fp_at = offset;
    } else if (reg == (uint64_t)REG_RA) {
        run->row.ra = where;
        run->row.ra_at = offset;
    } else if (reg == (uint64_t)REG_SP && where == BY_SP) {
        run->row.sp_stored = true;
        run->row.sp_at = offset;
    } else if (reg == (uint64_t)REG_SP) {
        run->row.cfa_other = true; /* the caller's stack pointer is not the CFA */
    }
}

static void restore(struct run *run, uint64_t reg)
{
    if (reg == (uint64_t)REG_FP) {
        run->row.fp = run->first.fp;
        run->row.fp_at = run->first.fp_at;
    } else if (reg == (uint64_t)REG_RA) {
        run->row.ra = run->first.ra;
        run->row.ra_at = run->first.ra_at;
    }
}

static void define_cfa(struct run *run, uint64_t reg, int64_t offset)
{
    run->row.cfa_reg = (unsigned)reg;
    run->row.cfa = offset;
    run->row.cfa_other = run->row.cfa_stored = false;
}

/* An expression of the form register + offset, or the value stored at that address. Any other has the register -1. */
struct simple {
    unsigned reg;
    int64_t offset;
    bool stored;
};

static struct simple take_expression(struct reader *in)
{
    enum { BREG0 = 0x70, BREG31 = 0x8f, DEREF = 0x06 };
    struct simple is = {.reg = (unsigned)-1};
    uint64_t size = uleb(in);
    struct reader block = *in;
    if (size > in->end - in->at)
        in->good = false;
    if (!in->good)
        return is;
    in->at += (uintptr_t)size;
    block.end = in->at;
    unsigned op = size ? (unsigned)take(&block, 1) : 0;
    if (op < BREG0 || op > BREG31)
        return is;
    is.offset = sleb(&block);
    is.stored = block.at < block.end;
    if (is.stored && take(&block, 1) != DEREF)
        return is;
    if (block.good && block.at == block.end)
        is.reg = op - BREG0;
    return is;
}

static void define_cfa_expression(struct run *run, struct reader *in)
{
    const struct simple is = take_expression(in);
    define_cfa(run, is.reg, is.offset);
    run->row.cfa_stored = is.stored;
}

static void set_expression(struct run *run, struct reader *in)
{
    const uint64_t reg = uleb(in);
    const struct simple is = take_expression(in);
    set(run, reg, is.reg == (unsigned)REG_SP && !is.stored ? BY_SP : ELSEWHERE, is.offset);
}

/* Instructions that set the CFA or save and restore rows. Returns false for any other instruction. */
static bool do_cfa(struct run *run, struct reader *in, unsigned op)
{
    const int64_t align = run->entry->data_align;
    uint64_t reg;
    switch (op) {
    case 0x0c: reg = uleb(in); define_cfa(run, reg, (int64_t)uleb(in)); return true;                              /* def_cfa */
    case 0x0d: run->row.cfa_reg = (unsigned)uleb(in); return true;                                               /* def_cfa_register */
    case 0x0e: run->row.cfa = (int64_t)uleb(in); return true;                                                    /* def_cfa_offset */
    case 0x0f: define_cfa_expression(run, in); return true;                                                      /* def_cfa_expression */
    case 0x12: reg = uleb(in); define_cfa(run, reg, scaled((uint64_t)sleb(in), align)); return true;                /* def_cfa_sf */
    case 0x13: run->row.cfa = scaled((uint64_t)sleb(in), align); return true;                                  /* def_cfa_offset_sf */
    case 0x0a:                                                                                                   /* remember_state */
        if (run->depth == sizeof run->kept / sizeof run->kept[0])
            run->good = false;
        else
            run->kept[run->depth++] = run->row;
        return true;
    case 0x0b:                                                                                                   /* restore_state */
        if (!run->depth)
            run->good = false;
        else
            run->row = run->kept[--run->depth];
        return true;
    default: return false;
    }
}

/* Instructions about one register. False: it is none of them. */
static bool do_register(struct run *run, struct reader *in, unsigned op)
{
    const int64_t align = run->entry->data_align;
    uint64_t reg;
    switch (op) {
    case 0x05: reg = uleb(in); set(run, reg, SAVED, scaled(uleb(in), align)); return true;   /* offset_extended */
    case 0x06: restore(run, uleb(in)); return true;                                          /* restore_extended */
    case 0x07: set(run, uleb(in), UNDEFINED, 0); return true;                                /* undefined */
    case 0x08: set(run, uleb(in), SAME, 0); return true;                                     /* same_value */
    case 0x09: reg = uleb(in); uleb(in); set(run, reg, ELSEWHERE, 0); return true;           /* register */
    case 0x10: set_expression(run, in); return true;                                         /* expression */
    case 0x16: reg = uleb(in); skip_block(in); set(run, reg, ELSEWHERE, 0); return true;     /* val_expression */
    case 0x11: reg = uleb(in); set(run, reg, SAVED, scaled((uint64_t)sleb(in), align)); return true; /* offset_extended_sf */
    case 0x14: reg = uleb(in); uleb(in); set(run, reg, ELSEWHERE, 0); return true;           /* val_offset */
    case 0x15: reg = uleb(in); sleb(in); set(run, reg, ELSEWHERE, 0); return true;           /* val_offset_sf */
    case 0x2e: uleb(in); return true;                                                        /* GNU_args_size */
    default: return false;
    }
}

/* Instructions that advance the address. False: it is none of them. */
static bool do_advance(struct run *run, struct reader *in, unsigned op)
{
    const uint64_t align = run->entry->code_align;
    switch (op) {
    case 0x01: run->good = false; return true; /* set_loc, which nothing writes */
    case 0x02: run->at += (uintptr_t)(take(in, 1) * align); return true;
    case 0x03: run->at += (uintptr_t)(take(in, 2) * align); return true;
    case 0x04: run->at += (uintptr_t)(take(in, 4) * align); return true;
    default: return false;
    }
}

/* On arm64 0x2d signs the return address from there on (PAC), which stacks_unwind.c strips wherever it occurs. */
static bool means_nothing(unsigned op)
{
    return op == 0 || op == 0x2d;
}

/* Runs until the row of the address is complete. */
static void run_until(struct run *run, struct reader in, uintptr_t address)
{
    while (run->good && in.good && in.at < in.end && run->at <= address) {
        unsigned op = (unsigned)take(&in, 1), low = op & 63;
        if (op >> 6 == 1)
            run->at += (uintptr_t)(low * run->entry->code_align);
        else if (op >> 6 == 2)
            set(run, low, SAVED, scaled(uleb(&in), run->entry->data_align));
        else if (op >> 6 == 3)
            restore(run, low);
        else if (!means_nothing(op) && !do_cfa(run, &in, op) && !do_register(run, &in, op) && !do_advance(run, &in, op))
            run->good = false;
    }
    run->good = run->good && in.good;
}

static bool fits(int64_t value)
{
    return value == (int32_t)value;
}

static struct rule rule_of(const struct run *run)
{
    const struct row *row = &run->row;
    struct rule rule = {.kind = RULE_OTHER, .signal = run->entry->signal};
    if (row->ra == UNDEFINED)
        rule.kind = RULE_END;
    if (row->sp_stored && (row->cfa_reg != (unsigned)REG_SP || !row->cfa_stored || row->sp_at != row->cfa))
        return rule;
    if (row->ra == UNDEFINED || !run->good || row->cfa_other || row->ra == ELSEWHERE || row->fp == ELSEWHERE ||
        (row->cfa_reg != (unsigned)REG_SP && row->cfa_reg != (unsigned)REG_FP) || !fits(row->cfa) || !fits(row->fp_at) ||
        !fits(row->ra_at))
        return rule;
    rule.kind = RULE_STEP;
    rule.by_fp = row->cfa_reg == (unsigned)REG_FP;
    rule.cfa = (int32_t)row->cfa;
    rule.cfa_stored = row->cfa_stored;
    rule.fp_saved = row->fp == SAVED || row->fp == BY_SP;
    rule.ra_saved = row->ra == SAVED || row->ra == BY_SP;
    rule.fp_by_sp = row->fp == BY_SP;
    rule.ra_by_sp = row->ra == BY_SP;
    rule.fp = (int32_t)row->fp_at;
    rule.ra = (int32_t)row->ra_at;
    return rule;
}

#if defined(__aarch64__)
/* The code that a signal handler returns to (mov x8, #139 and svc #0), with the frame that the kernel pushed: the tables
 * of different kernels describe it differently, or not at all. A handler returns to the first instruction, so the address to
 * look up is the one before it. */
static bool is_after_signal(uintptr_t address)
{
    static const uint32_t code[] = {0xD2801168, 0xD4000001};
    return ++address % 4 == 0 && memcmp((const void *)address, code, sizeof code) == 0;
}
enum { SIGNAL_FP = 544, SIGNAL_SP = 560, SIGNAL_PC = 568 };
#endif

struct rule rule_for(const struct module *module, uintptr_t address)
{
    struct entry entry;
#if defined(__aarch64__)
    if (is_after_signal(address))
        return (struct rule){.kind = RULE_STEP, .signal = true, .cfa_stored = true, .fp_saved = true, .ra_saved = true,
                             .fp_by_sp = true, .ra_by_sp = true, .cfa = SIGNAL_SP, .fp = SIGNAL_FP, .ra = SIGNAL_PC};
#endif
    if (!module)
        return (struct rule){.kind = RULE_OTHER};
    struct run run = {.good = true, .entry = &entry};
    if (!find_entry(module, address, &entry))
        return (struct rule){.kind = RULE_NO_TABLE};
    run_until(&run, entry.common, 0);
    run.first = run.row;
    run.at = entry.start;
    run_until(&run, entry.own, address);
    return rule_of(&run);
}
