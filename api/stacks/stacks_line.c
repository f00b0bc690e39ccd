/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks_line.h"

#include <stdbool.h>

static uint32_t line_of(int64_t line)
{
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

uint32_t python_line_pairs(const unsigned char *table, size_t size, uint32_t first, uint64_t unit)
{
    enum { NO_LINE = -128 };
    int64_t line = first;
    uint64_t end = 0;
    for (size_t at = 0; at + 1 < size; at += 2) {
        const int8_t lines = (int8_t)table[at + 1];
        end += table[at];
        if (lines != NO_LINE)
            line += lines;
        if (unit * 2 < end)
            return lines == NO_LINE ? 0 : line_of(line);
    }
    return 0;
}

/* Six bits per byte, lowest first; the seventh bit says that another byte follows. */
static uint64_t take(const unsigned char *table, size_t size, size_t *at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte;
    do {
        if (*at >= size)
            return 0;
        byte = table[(*at)++];
        if (shift < 60)
            value |= (uint64_t)(byte & 63) << shift;
        shift += 6;
    } while (byte & 64);
    return value;
}

static int64_t take_signed(const unsigned char *table, size_t size, size_t *at)
{
    const uint64_t value = take(table, size, at);
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

enum { RECORD = 128, ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_PLACE = 15 };

/* The line delta of a record relative to the one before it; its columns are skipped. */
static int64_t lines_of(unsigned kind, const unsigned char *table, size_t size, size_t *at)
{
    int64_t lines = 0;
    if (kind == LONG || kind == NO_COLUMNS)
        lines = take_signed(table, size, at);
    else if (kind >= ONE_LINE && kind < NO_COLUMNS)
        lines = kind - ONE_LINE;
    while (*at < size && !(table[*at] & RECORD)) /* only a record's first byte has this bit */
        ++*at;
    return lines;
}

uint32_t python_line_records(const unsigned char *table, size_t size, uint32_t first, uint64_t unit)
{
    int64_t line = first;
    uint64_t end = 0;
    for (size_t at = 0; at < size;) {
        const unsigned head = table[at++], kind = head >> 3 & 15;
        if (!(head & RECORD))
            return 0;
        end += (head & 7) + 1;
        line += lines_of(kind, table, size, &at);
        if (unit < end)
            return kind == NO_PLACE ? 0 : line_of(line);
    }
    return 0;
}
