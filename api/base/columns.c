/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* TIOCGWINSZ; before any header */
#include "columns.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os_environment.h"

enum { WORDS = 12 }; /* the column where text begins, after "  what      " */

static unsigned of_terminal(int file)
{
#ifdef TIOCGWINSZ
    struct winsize size;
    if (file >= 0 && ioctl(file, TIOCGWINSZ, &size) == 0)
        return size.ws_col;
#else
    (void)file;
#endif
    return 0;
}

static unsigned long limit_of(int file)
{
    const char *set = os_environment("COLUMNS");
    unsigned long columns = set ? strtoul(set, NULL, 10) : 0;
    return columns ? columns : of_terminal(file);
}

bool columns_are_limited(int file)
{
    return limit_of(file) != 0;
}

bool columns_coloured(int file)
{
    const char *no = os_environment("NO_COLOR");
    return (!no || !no[0]) && file >= 0 && isatty(file);
}

unsigned columns_of(int file)
{
    unsigned long columns = limit_of(file);
    if (!columns)
        columns = COLUMNS_USUAL;
    return columns < COLUMNS_LEAST ? COLUMNS_LEAST : columns > COLUMNS_MOST ? COLUMNS_MOST : (unsigned)columns;
}

/* Replaces the blanks at text + at by a line break and indentation. Returns false if there is no room. */
static bool break_at(char *text, size_t *length, size_t size, size_t at, size_t blanks)
{
    size_t behind = *length - at - blanks;
    if (*length - blanks + 1 + WORDS >= size)
        return false;
    memmove(text + at + 1 + WORDS, text + at + blanks, behind + 1);
    text[at] = '\n';
    memset(text + at + 1, ' ', WORDS);
    *length += 1 + WORDS - blanks;
    return true;
}

size_t columns_fold(char *text, size_t size, unsigned width)
{
    size_t length = strlen(text), column = 0, at = 0;
    while (at < length) {
        size_t blanks = strspn(text + at, " "), word = strcspn(text + at + blanks, " \n");
        if (blanks && column > WORDS && column + blanks + word > width && break_at(text, &length, size, at, blanks)) {
            at += 1 + WORDS;
            column = WORDS;
            blanks = 0;
        }
        at += blanks + word;
        column += blanks + word;
        if (text[at] == '\n') {
            at++;
            column = 0;
        }
    }
    return length;
}
