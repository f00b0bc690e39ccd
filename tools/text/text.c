/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"

void *text_grow(void *old, size_t size)
{
    void *grown = realloc(old, size ? size : 1);
    if (!grown) {
        fprintf(stderr, "cuvmm: out of memory (%zu bytes requested)\n", size);
        exit(3);
    }
    return grown;
}

static void reserve(struct text *text, size_t more)
{
    size_t need = text->length + more + 1;
    if (need <= text->room)
        return;
    size_t room = text->room ? text->room : 64;
    while (room < need)
        room *= 2;
    text->data = text_grow(text->data, room);
    text->room = room;
}

void text_add_bytes(struct text *text, const char *bytes, size_t length)
{
    reserve(text, length);
    if (length)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        reserve(text, (size_t)length);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

static const struct unit {
    const char *name;
    unsigned shift;
} units[] = {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}};

#define UNITS (sizeof units / sizeof units[0])

const char *text_size(uint64_t value, char buffer[TEXT_SIZE_ROOM])
{
    if (value == UINT64_MAX)
        return strcpy(buffer, "max");
    for (size_t i = 0; value && i < UNITS; i++) {
        if (value % (UINT64_C(1) << units[i].shift) == 0) {
            snprintf(buffer, TEXT_SIZE_ROOM, "%" PRIu64 "%s", value >> units[i].shift, units[i].name);
            return buffer;
        }
    }
    snprintf(buffer, TEXT_SIZE_ROOM, "%" PRIu64, value);
    return buffer;
}

const char *text_size_short(uint64_t value, char buffer[TEXT_SIZE_ROOM])
{
    for (size_t i = 0; i < UNITS; i++) {
        uint64_t one = UINT64_C(1) << units[i].shift;
        if (value < one)
            continue;
        uint64_t tenths = (value % one) / (one / 10);
        if (value % one == 0)
            snprintf(buffer, TEXT_SIZE_ROOM, "%" PRIu64 "%s", value / one, units[i].name);
        else
            snprintf(buffer, TEXT_SIZE_ROOM, "%" PRIu64 ".%" PRIu64 "%s", value / one, tenths > 9 ? 9 : tenths,
                     units[i].name);
        return buffer;
    }
    snprintf(buffer, TEXT_SIZE_ROOM, "%" PRIu64 "B", value);
    return buffer;
}

const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool text_same(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b))
        a++, b++;
    return lower(*a) == lower(*b);
}

/* Two rows of the usual table suffice; names longer than it are no near misses of anything here. */
unsigned text_distance(const char *a, const char *b, unsigned limit)
{
    enum { MAX = 63 };
    size_t na = strlen(a), nb = strlen(b);
    if (na > MAX || nb > MAX)
        return limit + 1;
    unsigned row[MAX + 1];
    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[nb] > limit ? limit + 1 : row[nb];
}

/* Has each letter of the one a place in the other? Both are short. */
static bool same_letters(const char *a, const char *b)
{
    unsigned left = 0;
    size_t length = strlen(b);
    if (strlen(a) != length)
        return false;
    for (; *a; a++) {
        size_t i = 0;
        while (i < length && (left >> i & 1 || lower(b[i]) != lower(*a)))
            i++;
        if (i == length)
            return false;
        left |= 1u << i;
    }
    return true;
}

unsigned text_meant(const char *typed, const char *name, unsigned limit)
{
    enum { SHORT = 3 };
    unsigned distance = text_distance(typed, name, limit);
    bool close = distance < 2 || strlen(typed) > SHORT || same_letters(typed, name);
    return close && distance < strlen(name) ? distance : limit + 1;
}

static char safe(char c)
{
    return c >= ' ' && c <= '~' ? c : '?';
}

void text_print_safe(FILE *out, const char *bytes, size_t length, size_t max)
{
    for (size_t i = 0; i < length && i < max; i++)
        fputc(safe(bytes[i]), out);
    if (length > max)
        fputs("...", out);
}

void text_add_safe(struct text *text, const char *bytes)
{
    size_t from = text->length;
    text_add_bytes(text, bytes, strlen(bytes));
    for (size_t i = from; i < text->length; i++)
        text->data[i] = safe(text->data[i]);
}

static size_t columns = COLUMNS_USUAL, columns_of_lines = SIZE_MAX;

size_t text_columns(void)
{
    return columns;
}

size_t text_columns_of_lines(void)
{
    return columns_of_lines;
}

void text_set_columns(size_t wide)
{
    columns = columns_of_lines = wide;
}

static bool coloured;

void text_set_coloured(bool is)
{
    coloured = is;
}

const char *text_colour(const char *code)
{
    static const char *const escapes[] = {"\033[0m", "\033[1m", "\033[31m", "\033[32m", "\033[33m", "\033[36m"};
    for (size_t i = 0; coloured && i < sizeof escapes / sizeof escapes[0]; i++)
        if (strncmp(escapes[i] + 2, code, strlen(code)) == 0 && escapes[i][2 + strlen(code)] == 'm')
            return escapes[i];
    return "";
}

/* The columns that a word takes: the escapes of colours, ESC [ ... m, take none. */
static size_t width_of(const char *word, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++) {
        if (word[i] == '\033')
            i += strcspn(word + i, "m");
        else
            width++;
    }
    return width;
}

void text_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width)
{
    bool fresh = true; /* nothing but the indentation stands on this line */
    while (*text) {
        size_t blanks = strspn(text, " "), length = strcspn(text + blanks, " ");
        size_t wide = width_of(text + blanks, length);
        if (!fresh && at + blanks + wide > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
            blanks = 0;
            text += strspn(text, " ");
        }
        fprintf(out, "%*s%.*s", (int)blanks, "", (int)length, text + (fresh || blanks ? blanks : 0));
        at += blanks + wide;
        text += (fresh || blanks ? blanks : 0) + length;
        fresh = false;
    }
}
