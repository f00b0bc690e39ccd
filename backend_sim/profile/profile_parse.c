/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profile_keys.h"
#include "profile_value.h"

/* The text being read. The caller gets a result only when it is complete. */
struct parser {
    struct sim_draft draft;
    struct sim_profile_error *error;
    bool first;      /* no key so far, so base may follow */
    const char *text;  /* the whole text */
    size_t length;
    const char *start; /* start of the current line */
    int line;
};

static bool fail(struct parser *parser, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Converts a line or column to int, saturating for texts beyond 2 GiB. */
static int counted(size_t number)
{
    return number < INT_MAX ? (int)number : INT_MAX; /* LCOV_EXCL_BR_LINE: a file has at most 1 MiB */
}

static bool fail(struct parser *parser, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    parser->error->line = parser->line;
    parser->error->column = counted((size_t)(at - parser->start) + 1);
    vsnprintf(parser->error->text, sizeof parser->error->text, format, args);
    va_end(args);
    return false;
}

static struct sim_place place(const struct parser *parser, const char *at)
{
    return (struct sim_place){parser->line, counted((size_t)(at - parser->start) + 1)};
}

static bool control(char c)
{
    unsigned char byte = (unsigned char)c;
    return (byte < 0x20 && byte != '\t') || byte == 0x7F;
}

static bool given_twice(struct parser *parser, struct sim_span key, struct sim_place first)
{
    char name[SIM_QUOTE_MAX], line[SIM_QUOTE_MAX];
    return fail(parser, key.at, "%s is given twice, first on line %d, %s", sim_span_quote(key, name), first.line,
                sim_span_quote(sim_span_line(parser->text, parser->length, first.line), line));
}

/* Bytes that are not text would be invisible in a message, so they are refused before parsing. */
static bool check_bytes(struct parser *parser, struct sim_span line)
{
    for (size_t i = 0; i < line.length; i++)
        if (control(line.at[i]))
            return fail(parser, line.at + i, "expected text, found the control character 0x%02X",
                        (unsigned)(unsigned char)line.at[i]);
    return true;
}

/* A '#' opens a comment at the start of a line and after a blank, so values may contain one. */
static struct sim_span without_comment(struct sim_span line)
{
    for (size_t i = 0; i < line.length; i++)
        if (line.at[i] == '#' && (i == 0 || line.at[i - 1] == ' ' || line.at[i - 1] == '\t'))
            line.length = i;
    return line;
}

static bool read_text(struct parser *parser, const struct sim_key *key, struct sim_span value, char *into)
{
    char quote[SIM_QUOTE_MAX];
    if (value.length >= key->room)
        return fail(parser, value.at, "expected at most %zu characters for '%s', found %zu", key->room - 1, key->name,
                    value.length);
    if (key->kind == SIM_KEY_NAME)
        for (size_t i = 0; i < value.length; i++)
            if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", value.at[i]))
                return fail(parser, value.at + i, "expected letters, digits, '-' and '_' in '%s', found %s", key->name,
                            sim_span_quote((struct sim_span){value.at + i, 1}, quote));
    memset(into, 0, key->room); /* clears the rest of a longer base value */
    memcpy(into, value.at, value.length);
    return true;
}

static bool read_value(struct parser *parser, const struct sim_key *key, struct sim_span value)
{
    struct sim_value_error error;
    char *into = (char *)&parser->draft.profile + key->offset;
    bool good = false;
    switch (key->kind) { /* LCOV_EXCL_BR_LINE: the enum has no other values */
    case SIM_KEY_NAME:
    case SIM_KEY_TEXT:
        return read_text(parser, key, value, into);
    case SIM_KEY_INT:
        good = sim_value_int(value, key->low, key->high, (int *)(void *)into, &error);
        break;
    case SIM_KEY_SIZE:
        good = sim_value_size(value, (uint64_t *)(void *)into, &error);
        break;
    case SIM_KEY_BOOL:
        good = sim_value_bool(value, (bool *)into, &error);
        break;
    case SIM_KEY_PEERS:
        good = sim_value_peers(value, VMM_MAX_DEVICES, (uint32_t *)(void *)into, &error);
        break;
    case SIM_KEY_RANGES:
        good = sim_value_ranges(value, SIM_MAX_TAKEN, (struct sim_range *)(void *)into, &error);
        break;
    }
    return good || fail(parser, value.at + error.offset, "%s", error.text);
}

/* attribute.N = value. Replaces the base's value. */
static bool read_attribute(struct parser *parser, struct sim_span key, struct sim_span value)
{
    struct sim_value_error error;
    struct sim_profile *profile = &parser->draft.profile;
    struct sim_span digits = {key.at + strlen("attribute."), key.length - strlen("attribute.")};
    int number, content, slot = 0;
    if (!sim_value_int(digits, 1, 9999, &number, &error))
        return fail(parser, digits.at, "%s", error.text);
    if (!sim_value_int(value, INT_MIN, INT_MAX, &content, &error))
        return fail(parser, value.at, "%s", error.text);
    while (slot < profile->attributes && profile->attribute[slot].attribute != number)
        slot++;
    if (slot == SIM_MAX_ATTRIBUTES)
        return fail(parser, key.at, "expected at most %d attributes, found one more", SIM_MAX_ATTRIBUTES);
    if (parser->draft.attribute_place[slot].line)
        return given_twice(parser, key, parser->draft.attribute_place[slot]);
    profile->attribute[slot].attribute = number;
    profile->attribute[slot].value = content;
    if (slot == profile->attributes)
        profile->attributes++;
    parser->draft.attribute_place[slot] = place(parser, value.at);
    return true;
}

/* base = NAME: the draft becomes that built-in profile, without a position for any key. */
static bool read_base(struct parser *parser, struct sim_span key, struct sim_span value)
{
    char quote[SIM_QUOTE_MAX], names[128] = "";
    if (!parser->first)
        return fail(parser, key.at, "'base' must be the first key");
    for (size_t i = 0; sim_profile_builtin_name(i); i++) {
        const char *name = sim_profile_builtin_name(i);
        const char *text = sim_profile_builtin_text(i);
        struct sim_profile_error inner;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
        if (!sim_span_is(value, name))
            continue;
        if (!sim_profile_draft(text, strlen(text), &parser->draft, &inner)) /* LCOV_EXCL_BR_LINE: tests read each of them */
            return fail(parser, value.at, "the built-in profile %s is broken: line %d: %.120s", name, inner.line,
                        inner.text);
        memset(parser->draft.place, 0, sizeof parser->draft.place);
        memset(parser->draft.attribute_place, 0, sizeof parser->draft.attribute_place);
        snprintf(parser->draft.base, sizeof parser->draft.base, "%s", name);
        return true;
    }
    return fail(parser, value.at, "expected a built-in profile (%s), found %s", names, sim_span_quote(value, quote));
}

static bool unknown_key(struct parser *parser, struct sim_span key)
{
    char quote[SIM_QUOTE_MAX];
    const char *near = sim_key_nearest(key);
    if (near)
        return fail(parser, key.at, "expected a key of a profile, found %s; did you mean '%s'?",
                    sim_span_quote(key, quote), near);
    return fail(parser, key.at, "expected a key of a profile, found %s", sim_span_quote(key, quote));
}

static bool read_pair(struct parser *parser, struct sim_span key, struct sim_span value)
{
    int index = sim_key_find(key);
    if (sim_span_is(key, "base"))
        return read_base(parser, key, value);
    if (key.length > strlen("attribute.") && memcmp(key.at, "attribute.", strlen("attribute.")) == 0)
        return read_attribute(parser, key, value);
    if (index < 0)
        return unknown_key(parser, key);
    if (parser->draft.place[index].line)
        return given_twice(parser, key, parser->draft.place[index]);
    if (!read_value(parser, &sim_keys[index], value))
        return false;
    parser->draft.place[index] = place(parser, value.at);
    parser->draft.given[index] = true;
    return true;
}

static bool read_line(struct parser *parser, struct sim_span line)
{
    char quote[SIM_QUOTE_MAX];
    if (!check_bytes(parser, line))
        return false;
    line = sim_span_trim(without_comment(line));
    if (!line.length)
        return true;
    const char *equals = memchr(line.at, '=', line.length);
    if (!equals)
        return fail(parser, line.at, "expected 'key = value', found %s", sim_span_quote(line, quote));
    struct sim_span key = sim_span_trim((struct sim_span){line.at, (size_t)(equals - line.at)});
    struct sim_span value =
        sim_span_trim((struct sim_span){equals + 1, line.length - (size_t)(equals - line.at) - 1});
    if (!key.length)
        return fail(parser, equals, "expected a key before '=', found nothing");
    if (!value.length)
        return fail(parser, equals, "expected a value after '=', found nothing");
    bool good = read_pair(parser, key, value);
    parser->first = false;
    return good;
}

bool sim_profile_draft(const char *text, size_t length, struct sim_draft *draft, struct sim_profile_error *error)
{
    struct parser parser = {.error = error, .first = true, .text = text, .length = length, .start = text};
    size_t at = 0;
    while (at < length) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end ? (size_t)(end - text) - at : length - at;
        size_t shown = size && text[at + size - 1] == '\r' ? size - 1 : size;
        parser.start = text + at;
        parser.line = counted((size_t)parser.line + 1);
        if (!read_line(&parser, (struct sim_span){text + at, shown}))
            return false;
        at += size + (end != NULL);
    }
    *draft = parser.draft;
    return true;
}
