/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_value.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool fail(struct sim_value_error *error, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(struct sim_value_error *error, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error->offset = offset;
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return false;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

struct sim_span sim_span_trim(struct sim_span span)
{
    while (span.length && blank(span.at[0])) {
        span.at++;
        span.length--;
    }
    while (span.length && blank(span.at[span.length - 1]))
        span.length--;
    return span;
}

struct sim_span sim_span_line(const char *text, size_t length, int number)
{
    struct sim_span line = {text, 0};
    for (size_t at = 0; number > 0 && at < length; number--) {
        const char *end = memchr(text + at, '\n', length - at);
        line = (struct sim_span){text + at, end ? (size_t)(end - text) - at : length - at};
        at += line.length + 1;
    }
    if (line.length && line.at[line.length - 1] == '\r')
        line.length--;
    return number > 0 ? (struct sim_span){text, 0} : sim_span_trim(line);
}

bool sim_span_is(struct sim_span span, const char *text)
{
    return strlen(text) == span.length && memcmp(span.at, text, span.length) == 0;
}

const char *sim_span_quote(struct sim_span span, char buffer[SIM_QUOTE_MAX])
{
    size_t used = 1;
    bool cut = false;
    if (!span.length)
        return "nothing";
    buffer[0] = '\'';
    for (size_t i = 0; i < span.length; i++) {
        unsigned char c = (unsigned char)span.at[i];
        cut = used > 40;
        if (cut)
            break;
        if (c >= 0x20 && c < 0x7F)
            buffer[used++] = (char)c;
        else
            used += (size_t)snprintf(buffer + used, SIM_QUOTE_MAX - used, "\\x%02X", c);
    }
    snprintf(buffer + used, SIM_QUOTE_MAX - used, "%s", cut ? "...'" : "'");
    return buffer;
}

static int digit(char c, unsigned base)
{
    int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    return value >= 0 && (unsigned)value < base ? value : -1;
}

enum number { NUMBER_READ, NUMBER_NONE, NUMBER_TOO_LARGE };

/* Reads the digits at *offset and advances it. */
static enum number read_number(struct sim_span span, size_t *offset, uint64_t *value)
{
    size_t at = *offset;
    unsigned base = 10;
    uint64_t sum = 0;
    if (span.length - at > 2 && span.at[at] == '0' && (span.at[at + 1] == 'x' || span.at[at + 1] == 'X') &&
        digit(span.at[at + 2], 16) >= 0) {
        base = 16;
        at += 2;
    }
    size_t first = at;
    for (; at < span.length; at++) {
        int d = digit(span.at[at], base);
        if (d < 0)
            break;
        if (sum > (UINT64_MAX - (unsigned)d) / base)
            return NUMBER_TOO_LARGE;
        sum = sum * base + (unsigned)d;
    }
    if (at == first)
        return NUMBER_NONE;
    *offset = at;
    *value = sum;
    return NUMBER_READ;
}

static struct sim_span rest_of(struct sim_span span, size_t offset)
{
    return (struct sim_span){span.at + offset, span.length - offset};
}

static bool too_large(struct sim_span span, size_t offset, struct sim_value_error *error)
{
    char quote[SIM_QUOTE_MAX];
    return fail(error, offset, "expected a number that fits into 64 bits, found %s",
                sim_span_quote(rest_of(span, offset), quote));
}

/* Reads the part after "<<". */
static bool read_shift(struct sim_span span, size_t offset, uint64_t base, uint64_t *value,
                       struct sim_value_error *error)
{
    char quote[SIM_QUOTE_MAX];
    uint64_t shift;
    while (offset < span.length && blank(span.at[offset]))
        offset++;
    size_t start = offset;
    if (read_number(span, &offset, &shift) != NUMBER_READ || offset != span.length)
        return fail(error, start, "expected a number of bits after '<<', found %s",
                    sim_span_quote(rest_of(span, start), quote));
    if (base && (shift > 63 || base > UINT64_MAX >> shift))
        return too_large(span, 0, error);
    *value = base ? base << shift : 0;
    return true;
}

static bool unit_shift(struct sim_span unit, unsigned *shift)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (sim_span_is(unit, units[i].name)) {
            *shift = units[i].shift;
            return true;
        }
    return false;
}

bool sim_value_size(struct sim_span span, uint64_t *value, struct sim_value_error *error)
{
    char quote[SIM_QUOTE_MAX];
    size_t offset = 0;
    uint64_t number;
    unsigned shift;
    switch (read_number(span, &offset, &number)) { /* LCOV_EXCL_BR_LINE: the enum has no other values */
    case NUMBER_TOO_LARGE:
        return too_large(span, 0, error);
    case NUMBER_NONE:
        return fail(error, 0, "expected a size such as 4096, 64KiB, 80GiB or 1<<45, found %s",
                    sim_span_quote(span, quote));
    case NUMBER_READ:
        break;
    }
    while (offset < span.length && blank(span.at[offset]))
        offset++;
    struct sim_span rest = rest_of(span, offset);
    if (rest.length >= 2 && rest.at[0] == '<' && rest.at[1] == '<')
        return read_shift(span, offset + 2, number, value, error);
    if (!unit_shift(rest, &shift))
        return fail(error, offset, "expected a unit (B, KiB, MiB, GiB, TiB) or '<<', found %s",
                    sim_span_quote(rest, quote));
    if (number > UINT64_MAX >> shift)
        return too_large(span, 0, error);
    *value = number << shift;
    return true;
}

bool sim_value_int(struct sim_span span, int low, int high, int *value, struct sim_value_error *error)
{
    char quote[SIM_QUOTE_MAX];
    bool negative = span.at[0] == '-';
    size_t offset = negative || span.at[0] == '+';
    uint64_t number;
    enum number found = read_number(span, &offset, &number);
    bool fits = found == NUMBER_READ && number <= (uint64_t)INT_MAX + negative;
    int64_t result = fits ? (negative ? -(int64_t)number : (int64_t)number) : 0;
    if (found == NUMBER_NONE || (found == NUMBER_READ && offset != span.length))
        return fail(error, 0, "expected an integer from %d to %d, found %s", low, high,
                    sim_span_quote(span, quote));
    if (!fits || result < low || result > high)
        return fail(error, 0, "expected a number from %d to %d, found %s", low, high, sim_span_quote(span, quote));
    *value = (int)result;
    return true;
}

bool sim_value_bool(struct sim_span span, bool *value, struct sim_value_error *error)
{
    char quote[SIM_QUOTE_MAX];
    bool yes = sim_span_is(span, "yes");
    if (!yes && !sim_span_is(span, "no"))
        return fail(error, 0, "expected yes or no, found %s", sim_span_quote(span, quote));
    *value = yes;
    return true;
}

/* Reads one "i-j". */
static bool read_pair(struct sim_span pair, size_t base, int count, uint32_t *peers, struct sim_value_error *error)
{
    char quote[SIM_QUOTE_MAX];
    uint64_t one, other;
    size_t offset = 0;
    bool good = read_number(pair, &offset, &one) == NUMBER_READ && offset < pair.length && pair.at[offset] == '-';
    if (good) {
        offset++;
        good = read_number(pair, &offset, &other) == NUMBER_READ && offset == pair.length;
    }
    if (!good)
        return fail(error, base, "expected all, none, or pairs of devices such as 0-1,2-3, found %s",
                    sim_span_quote(pair, quote));
    if (one >= (uint64_t)count || other >= (uint64_t)count)
        return fail(error, base, "expected devices from 0 to %d, found the pair %s", count - 1,
                    sim_span_quote(pair, quote));
    if (one == other)
        return fail(error, base, "expected two different devices, found the pair %s", sim_span_quote(pair, quote));
    peers[one] |= UINT32_C(1) << other;
    peers[other] |= UINT32_C(1) << one;
    return true;
}

bool sim_value_peers(struct sim_span span, int count, uint32_t *peers, struct sim_value_error *error)
{
    bool all = sim_span_is(span, "all");
    memset(peers, 0, (size_t)count * sizeof peers[0]);
    for (int i = 0; all && i < count; i++)
        peers[i] = ~(UINT32_C(1) << i);
    if (all || sim_span_is(span, "none"))
        return true;
    size_t start = 0;
    for (size_t i = 0; i <= span.length; i++) {
        if (i < span.length && span.at[i] != ',')
            continue;
        struct sim_span raw = {span.at + start, i - start};
        struct sim_span pair = sim_span_trim(raw);
        if (!read_pair(pair, (size_t)(pair.at - span.at), count, peers, error))
            return false;
        start = i + 1;
    }
    return true;
}

/* Reads one "FROM-TO". */
static bool read_range(struct sim_span text, size_t base, struct sim_range *range, struct sim_value_error *error)
{
    char quote[SIM_QUOTE_MAX];
    const char *dash = memchr(text.at, '-', text.length);
    if (!dash)
        return fail(error, base, "expected none, or ranges such as 1GiB-2GiB, found %s", sim_span_quote(text, quote));
    struct sim_span raw_from = {text.at, (size_t)(dash - text.at)}, from = sim_span_trim(raw_from);
    struct sim_span raw_to = {dash + 1, text.length - raw_from.length - 1}, to = sim_span_trim(raw_to);
    if (!sim_value_size(from, &range->start, error) || !sim_value_size(to, &range->end, error)) {
        error->offset = base;
        return false;
    }
    if (range->start >= range->end)
        return fail(error, base, "expected a range that ends after its start, found %s", sim_span_quote(text, quote));
    return true;
}

bool sim_value_ranges(struct sim_span span, int count, struct sim_range *ranges, struct sim_value_error *error)
{
    size_t start = 0;
    int used = 0;
    memset(ranges, 0, (size_t)count * sizeof ranges[0]);
    if (sim_span_is(span, "none"))
        return true;
    for (size_t i = 0; i <= span.length; i++) {
        if (i < span.length && span.at[i] != ',')
            continue;
        struct sim_span raw = {span.at + start, i - start}, text = sim_span_trim(raw);
        size_t base = (size_t)(text.at - span.at);
        if (used == count)
            return fail(error, base, "expected at most %d ranges, found more", count);
        if (!read_range(text, base, &ranges[used++], error))
            return false;
        start = i + 1;
    }
    return true;
}
