/* SPDX-License-Identifier: Apache-2.0 */
#include "factcheck.h"
#include "tap.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole file with a final 0. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        tap_bail("%s: %s; run from the repository's root, or name the folder of the recordings with --facts", path,
                 strerror(errno));
    size_t size = 0, room = (size_t)1 << 16, got;
    char *text = malloc(room + 1);
    while (text && (got = fread(text + size, 1, room - size, file)) > 0) {
        size += got;
        if (size < room)
            continue;
        char *more = realloc(text, (room *= 2) + 1);
        if (!more)
            free(text);
        text = more;
    }
    if (!text || ferror(file))
        tap_bail("%s: cannot be read", path);
    fclose(file);
    text[size] = 0;
    return text;
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Cuts fields off at tabs; the last takes the rest of the line, as values may hold anything. Returns how many. */
static int split(char *line, char **fields, int most)
{
    int count = 0;
    while (line && count < most) {
        fields[count++] = line;
        line = count < most ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = 0;
    }
    return count;
}

/* Calls add with the fields of each line that is no comment; every line has to have exactly that many. */
static void each_line(char *text, const char *path, int fields_wanted, void (*add)(void *, char **), void *user)
{
    unsigned number = 0;
    for (char *line = text, *next; *line; line = next) {
        char *end = strchr(line, '\n'), *fields[3] = {NULL};
        number++;
        if (!end)
            tap_bail("%s:%u: the last line does not end; the file is cut off", path, number);
        *end = 0;
        next = end + 1;
        if (*line == '#')
            continue;
        if (split(line, fields, fields_wanted) != fields_wanted || !*fields[0])
            tap_bail("%s:%u: expected %d fields separated by tabs", path, number, fields_wanted);
        add(user, fields);
    }
}

static void add_fact(void *user, char **fields)
{
    struct fact_book *book = user;
    book->facts[book->count++] = (struct fact){fields[0], fields[1], FACT_OPEN};
}

void fact_book_read(struct fact_book *book, const char *path)
{
    memset(book, 0, sizeof *book);
    book->text = read_text(path);
    book->facts = calloc(count_lines(book->text) + 1, sizeof *book->facts);
    if (!book->facts)
        tap_bail("%s: not enough memory", path);
    each_line(book->text, path, 2, add_fact, book);
    if (!book->count)
        tap_bail("%s: no lines", path);
}

void fact_book_free(struct fact_book *book)
{
    free(book->facts);
    free(book->text);
}

bool fact_book_asks(const struct fact_book *book, const char *name)
{
    size_t group = strcspn(name, ".!");
    for (size_t i = 0; i < book->count; i++)
        if (strcspn(book->facts[i].name, ".!") == group && strncmp(book->facts[i].name, name, group) == 0)
            return true;
    return false;
}

bool fact_book_has(const struct fact_book *book, const char *name)
{
    for (size_t i = 0; i < book->count; i++)
        if (strcmp(book->facts[i].name, name) == 0)
            return true;
    return false;
}

static void add_exception(void *user, char **fields)
{
    struct fact_exceptions *exceptions = user;
    exceptions->rows[exceptions->count++] = (struct fact_exception){fields[0], fields[1], fields[2], false};
}

void fact_exceptions_read(struct fact_exceptions *exceptions, const char *path)
{
    memset(exceptions, 0, sizeof *exceptions);
    exceptions->text = read_text(path);
    exceptions->rows = calloc(count_lines(exceptions->text) + 1, sizeof *exceptions->rows);
    if (!exceptions->rows)
        tap_bail("%s: not enough memory", path);
    each_line(exceptions->text, path, 3, add_exception, exceptions);
}

void fact_exceptions_free(struct fact_exceptions *exceptions)
{
    free(exceptions->rows);
    free(exceptions->text);
}

struct fact_exception *fact_exceptions_find(struct fact_exceptions *exceptions, const char *profile, const char *name)
{
    for (size_t i = 0; i < exceptions->count; i++)
        if (strcmp(exceptions->rows[i].profile, profile) == 0 && fnmatch(exceptions->rows[i].name, name, 0) == 0)
            return &exceptions->rows[i];
    return NULL;
}
