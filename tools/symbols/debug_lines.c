/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_lines.h"

#include <stddef.h>

#ifdef CUVMM_HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "optional.h"

#define DW_FUNCTIONS(X) X(dwarf_attr) X(dwarf_attr_integrate) X(dwarf_child) X(dwarf_dieoffset) X(dwarf_filesrc) \
    X(dwarf_formstring) X(dwarf_formudata) X(dwarf_get_units) X(dwarf_getsrc_die) X(dwarf_getsrcfiles) X(dwarf_haspc) \
    X(dwarf_lineno) X(dwarf_linesrc) X(dwarf_offdie) X(dwarf_ranges) X(dwarf_siblingof) X(dwarf_tag) X(dwfl_begin) \
    X(dwfl_build_id_find_elf) X(dwfl_end) X(dwfl_module_getdwarf) X(dwfl_offline_section_address) \
    X(dwfl_report_begin) X(dwfl_report_elf) X(dwfl_report_end) X(dwfl_standard_find_debuginfo)

static struct {
    DW_FUNCTIONS(OPTIONAL_MEMBER)
} dw;

static bool load(void)
{
    static const char *const names[] = {DW_FUNCTIONS(OPTIONAL_NAME)};
    return dw.dwfl_begin || optional_load("libdw.so.1", names, sizeof names / sizeof names[0], &dw);
}

/* A range of addresses of a unit of compilation or of a function, with its entry. */
struct span {
    Dwarf_Addr low, high;
    Dwarf_Off entry;
};

struct spans {
    struct span *list;
    size_t count, room;
};

/* The functions of one unit, by address. libdw would walk through all of the unit for each address. */
struct unit {
    struct unit *next;
    Dwarf_Off offset;
    struct spans functions;
};

enum { UNITS = 1 << 10 };

struct debug_lines {
    Dwfl *dwfl;
    Dwarf *dwarf;
    Dwarf_Addr bias;
    struct spans ranges; /* of the units: libdw finds a unit in .debug_aranges alone, which clang does not write */
    struct unit *units[UNITS];
};

/* ---- ranges of addresses ---- */

static void add_span(struct spans *spans, const struct span *span)
{
    if (spans->count == spans->room) {
        size_t room = spans->room ? 2 * spans->room : 64;
        struct span *grown = realloc(spans->list, room * sizeof *grown);
        if (!grown)
            return;
        spans->list = grown;
        spans->room = room;
    }
    spans->list[spans->count++] = *span;
}

static void add_ranges(struct spans *spans, Dwarf_Die *die)
{
    struct span span = {.entry = dw.dwarf_dieoffset(die)};
    Dwarf_Addr base = 0;
    ptrdiff_t at = 0;
    while ((at = dw.dwarf_ranges(die, at, &base, &span.low, &span.high)) > 0)
        add_span(spans, &span);
}

static int by_address(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return a->low < b->low ? -1 : a->low > b->low;
}

static void sort(struct spans *spans)
{
    if (spans->count)
        qsort(spans->list, spans->count, sizeof *spans->list, by_address);
}

/* What has the address. */
static bool find(const struct spans *spans, Dwarf_Addr address, Dwarf *dwarf, Dwarf_Die *die)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (spans->list[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < spans->list[low - 1].high && dw.dwarf_offdie(dwarf, spans->list[low - 1].entry, die);
}

/* ---- files ---- */

static void add_units(struct debug_lines *lines)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (dw.dwarf_get_units(lines->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        add_ranges(&lines->ranges, &die);
    sort(&lines->ranges);
}

struct debug_lines *debug_lines_open(const char *path)
{
    static Dwfl_Callbacks callbacks;
    struct debug_lines *lines = load() ? calloc(1, sizeof *lines) : NULL;
    Dwfl_Module *module = NULL;
    if (!lines)
        return NULL;
    callbacks = (Dwfl_Callbacks){.find_elf = dw.dwfl_build_id_find_elf,
                                 .find_debuginfo = dw.dwfl_standard_find_debuginfo,
                                 .section_address = dw.dwfl_offline_section_address};
    lines->dwfl = dw.dwfl_begin(&callbacks);
    if (lines->dwfl) {
        dw.dwfl_report_begin(lines->dwfl);
        module = dw.dwfl_report_elf(lines->dwfl, path, path, -1, 0, true);
        dw.dwfl_report_end(lines->dwfl, NULL, NULL);
    }
    if (!module || !(lines->dwarf = dw.dwfl_module_getdwarf(module, &lines->bias))) {
        debug_lines_close(lines);
        return NULL;
    }
    add_units(lines);
    return lines;
}

void debug_lines_close(struct debug_lines *lines)
{
    if (!lines)
        return;
    for (size_t i = 0; i < UNITS; i++)
        for (struct unit *next; lines->units[i]; lines->units[i] = next) {
            next = lines->units[i]->next;
            free(lines->units[i]->functions.list);
            free(lines->units[i]);
        }
    free(lines->ranges.list);
    if (lines->dwfl)
        dw.dwfl_end(lines->dwfl);
    free(lines);
}

/* ---- the functions of a unit ---- */

static bool holds_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type;
}

enum { DEPTH_MOST = 32 };

static void add_functions(struct unit *unit, Dwarf_Die *parent, int depth)
{
    Dwarf_Die child;
    if (depth == DEPTH_MOST || dw.dwarf_child(parent, &child) != 0)
        return;
    do {
        const int tag = dw.dwarf_tag(&child);
        if (tag == DW_TAG_subprogram)
            add_ranges(&unit->functions, &child);
        else if (holds_functions(tag))
            add_functions(unit, &child, depth + 1);
    } while (dw.dwarf_siblingof(&child, &child) == 0);
}

static const struct unit *unit_of(struct debug_lines *lines, Dwarf_Die *die)
{
    const Dwarf_Off offset = dw.dwarf_dieoffset(die);
    struct unit **bucket = &lines->units[(offset ^ offset >> 12) % UNITS], *unit = *bucket;
    while (unit && unit->offset != offset)
        unit = unit->next;
    if (unit || !(unit = calloc(1, sizeof *unit)))
        return unit;
    unit->offset = offset;
    unit->next = *bucket;
    *bucket = unit;
    add_functions(unit, die, 0);
    sort(&unit->functions);
    return unit;
}

/* ---- places ---- */

static const char *text_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    return dw.dwarf_formstring(dw.dwarf_attr_integrate(die, attribute, &found));
}

static void name_place(struct debug_place *place, Dwarf_Die *function)
{
    const char *linkage = text_of(function, DW_AT_linkage_name);
    place->linkage = linkage ? linkage : text_of(function, DW_AT_MIPS_linkage_name);
    place->name = text_of(function, DW_AT_name);
}

/* Where an inlined function was called. */
static void call_place(struct debug_place *place, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Attribute found;
    Dwarf_Word number = 0, line = 0;
    Dwarf_Files *files = NULL;
    size_t count = 0;
    if (dw.dwarf_formudata(dw.dwarf_attr(inlined, DW_AT_call_line, &found), &line) == 0)
        place->line = (unsigned)line;
    if (dw.dwarf_formudata(dw.dwarf_attr(inlined, DW_AT_call_file, &found), &number) == 0 &&
        dw.dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count)
        place->file = dw.dwarf_filesrc(files, number, NULL, NULL);
}

/* The part of a function or of a block that has the address. */
static bool enter(Dwarf_Die *die, Dwarf_Addr address)
{
    Dwarf_Die child;
    if (dw.dwarf_child(die, &child) != 0)
        return false;
    do {
        const int tag = dw.dwarf_tag(&child);
        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) && dw.dwarf_haspc(&child, address) == 1) {
            *die = child;
            return true;
        }
    } while (dw.dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* The functions at an address, the innermost first; where each was inlined is the next one's line. */
static unsigned add_places(Dwarf_Die *unit, Dwarf_Die *function, Dwarf_Addr address, struct debug_place *places, unsigned most)
{
    Dwarf_Die at[DEPTH_MOST];
    unsigned depth = 0, used = 0;
    at[depth++] = *function;
    Dwarf_Die inner = *function;
    while (depth < DEPTH_MOST && enter(&inner, address))
        if (dw.dwarf_tag(&inner) == DW_TAG_inlined_subroutine)
            at[depth++] = inner;
    while (depth && used < most) {
        name_place(&places[used++], &at[--depth]);
        if (depth && used < most)
            call_place(&places[used], unit, &at[depth]);
    }
    return used;
}

unsigned debug_lines_at(struct debug_lines *lines, uint64_t address, struct debug_place *places, unsigned most)
{
    const Dwarf_Addr at = address - lines->bias;
    Dwarf_Die die, function;
    int number = 0;
    memset(places, 0, most * sizeof *places);
    if (!find(&lines->ranges, at, lines->dwarf, &die))
        return 0;
    Dwarf_Line *line = dw.dwarf_getsrc_die(&die, at);
    if (line && dw.dwarf_lineno(line, &number) == 0)
        places[0] = (struct debug_place){.file = dw.dwarf_linesrc(line, NULL, NULL), .line = (unsigned)number};
    const struct unit *unit = unit_of(lines, &die);
    unsigned used = unit && find(&unit->functions, at, lines->dwarf, &function) ? add_places(&die, &function, at, places, most) : 0;
    return used ? used : places[0].file != NULL;
}

#else
struct debug_lines *debug_lines_open(const char *path)
{
    (void)path;
    return NULL;
}

void debug_lines_close(struct debug_lines *lines)
{
    (void)lines;
}

unsigned debug_lines_at(struct debug_lines *lines, uint64_t address, struct debug_place *places, unsigned most)
{
    (void)lines;
    (void)address;
    (void)places;
    (void)most;
    return 0;
}
#endif
