/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_examples.h"

#include <string.h>

#include "rulebook_data.h"

/* The meanings of a line's first byte; the text of a line begins after four bytes. */
#define INDENT 4

/* The line at text[at], and where the next begins. */
static const char *line_at(size_t *at, size_t *length)
{
    const char *line = (const char *)rule_examples_text + *at;
    const char *end = memchr(line, '\n', rule_examples_size - *at);
    *length = end ? (size_t)(end - line) : rule_examples_size - *at;
    *at += *length + (end ? 1 : 0);
    return line;
}

static bool is_id(const char *line, size_t length)
{
    return length > 4 && memcmp(line, "VMM-", 4) == 0 && !memchr(line, ' ', length);
}

static bool is_comment(const char *line, size_t length)
{
    return length == 0 || line[0] == '#';
}

static bool is_marked(const char *line, size_t length)
{
    return length > INDENT && strchr(" -+=!~", line[0]) && memcmp(line + 1, "   ", INDENT - 1) == 0;
}

bool rule_example_find(const char *rule, struct rule_example *example)
{
    bool found = false;
    size_t at = 0, length, wanted = strlen(rule);
    while (at < rule_examples_size) {
        const char *line = line_at(&at, &length);
        if (is_id(line, length)) {
            if (found)
                break;
            found = length == wanted && memcmp(line, rule, wanted) == 0;
            example->lines = (const char *)rule_examples_text + at;
            example->length = 0;
        } else if (found) {
            example->length = (size_t)((const char *)rule_examples_text + at - example->lines);
        }
    }
    return found;
}

static const char *marks_of(enum example_part part)
{
    switch (part) {
    case EXAMPLE_BROKEN: return " -";
    case EXAMPLE_CORRECTED: return " +";
    case EXAMPLE_MACHINE: return "=";
    case EXAMPLE_REASON: return "!";
    case EXAMPLE_NOT_ON: return "~";
    case EXAMPLE_BOTH: return " -+";
    }
    return "";
}

size_t rule_example_part(const struct rule_example *example, enum example_part part, struct text *text)
{
    const char *marks = marks_of(part);
    size_t lines = 0;
    for (const char *line = example->lines, *end = line + example->length; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t length = newline ? (size_t)(newline - line) : (size_t)(end - line);
        if (is_marked(line, length) && strchr(marks, line[0])) {
            if (part == EXAMPLE_BOTH)
                text_add(text, "%c ", line[0]);
            text_add_bytes(text, line + INDENT, length - INDENT);
            text_add_bytes(text, "\n", 1);
            lines++;
        }
        line += length + 1;
    }
    return lines;
}

void rule_examples_each(void (*see)(void *user, const char *line, size_t length, bool known), void *user)
{
    size_t at = 0, length;
    while (at < rule_examples_size) {
        const char *line = line_at(&at, &length);
        if (is_id(line, length))
            see(user, line, length, true);
        else if (!is_marked(line, length) && !is_comment(line, length))
            see(user, line, length, false);
    }
}
