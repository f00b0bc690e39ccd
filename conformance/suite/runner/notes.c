/* SPDX-License-Identifier: Apache-2.0 */
#include "notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 17, LONG_NUMBER = 9 }; /* of one test; digits from which on a hexadecimal number is an address */

static char *known;                /* the file */
static FILE *out;                  /* where it is written */
static char rows[ROOM];            /* of this test, without its name */
static size_t used;
static bool counts;

bool notes_open(const char *path, bool write)
{
    FILE *file = fopen(path, write ? "w" : "r");
    if (!file || write)
        return (out = file) != NULL;
    size_t size = 0;
    while (!feof(file) && !ferror(file)) {
        char *more = realloc(known, size + ROOM + 1);
        if (!more)
            break;
        known = more;
        size += fread(known + size, 1, ROOM, file);
        known[size] = '\0';
    }
    return fclose(file) == 0 && known;
}

void notes_close(void)
{
    if (out)
        fclose(out);
    free(known);
    out = NULL;
    known = NULL;
}

void notes_begin(const char *test)
{
    /* whether the other process has removed its files by then is chance */
    counts = (out || known) && strcmp(test, "import_when_the_node_is_gone") != 0;
    used = 0;
    rows[0] = '\0';
}

static void add(char c)
{
    if (used + 1 < sizeof rows)
        rows[used++] = c;
    rows[used] = '\0';
}

/* How much of the text is an address, or the path of a file that the test made. */
static size_t varying(const char *text)
{
    size_t digits = strncmp(text, "0x", 2) == 0 ? strspn(text + 2, "0123456789abcdef") : 0;
    return digits >= LONG_NUMBER ? 2 + digits : *text == '/' ? strcspn(text, " :,") : 0;
}

static void add_text(const char *text)
{
    for (size_t skipped; *text; text += skipped ? skipped : 1) {
        skipped = varying(text);
        add(skipped ? '#' : *text == '\n' ? ' ' : *text);
    }
}

void notes_add(const vmm_detail *detail)
{
    const vmm_object *near = &detail->nearest;
    char text[64];
    if (!counts || (!near->kind && !detail->expected && !detail->note[0]))
        return;
    add('\t');
    add_text(detail->rule);
    snprintf(text, sizeof text, "\t%d:%" PRIu32 "\t0x%" PRIx64 "\t", (int)near->kind, near->kind ? near->number : 0,
             detail->expected);
    add_text(text);
    add_text(detail->note);
    add('\n');
}

static bool is_of(const char *row, const char *test)
{
    const size_t length = strlen(test);
    return strncmp(row, test, length) == 0 && row[length] == '\t';
}

/* The first row of the test in the file; its end if there is none. */
static const char *first_row(const char *test)
{
    const char *row = known;
    while (*row && !is_of(row, test))
        row += strcspn(row, "\n") + (strchr(row, '\n') != NULL);
    return row;
}

void notes_end(struct fix *f, const char *test)
{
    const size_t length = strlen(test);
    const char *want = known ? first_row(test) : "";
    if (!counts || f->skip)
        return;
    counts = false;
    for (const char *row = rows; *row; row += strcspn(row, "\n") + 1) {
        const size_t size = strcspn(row, "\n") + 1;
        if (out)
            fprintf(out, "%s%.*s", test, (int)size, row);
        else if (is_of(want, test) && strncmp(want + length, row, size) == 0)
            want += length + size;
        else {
            fix_failed(f, __FILE__, __LINE__, "now it says (--write-notes accepts it) %.*s", (int)size - 1, row);
            break;
        }
    }
    if (known && !f->failures && is_of(want, test))
        fix_failed(f, __FILE__, __LINE__, "it no longer says %.*s", (int)strcspn(want, "\n"), want);
}
