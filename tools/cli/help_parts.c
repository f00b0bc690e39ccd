/* SPDX-License-Identifier: Apache-2.0 */
#include "help_parts.h"

#include <ctype.h>
#include <string.h>

bool span_is(struct span span, const char *text)
{
    return strlen(text) == span.length && memcmp(span.at, text, span.length) == 0;
}

/* Where a label ends and what it says begins: at two blanks. */
static void split_item(struct help_line *line)
{
    const char *end = line->text.at + line->text.length;
    line->label = line->text;
    for (const char *c = line->text.at; c + 1 < end; c++) {
        if (c[0] != ' ' || c[1] != ' ')
            continue;
        line->label.length = (size_t)(c - line->text.at);
        while (c < end && *c == ' ')
            c++;
        line->text = (struct span){c, (size_t)(end - c)};
        return;
    }
    line->text = (struct span){end, 0};
}

static enum help_kind kind_of(struct help_reader *reader, size_t indent, struct span text)
{
    if (!text.length) {
        reader->described = true;
        reader->examples = false;
        return HELP_BLANK;
    }
    if (!reader->described)
        return HELP_USAGE;
    if (span_is(text, "Examples:"))
        reader->examples = true;
    else if (reader->examples)
        return HELP_EXAMPLE;
    if (indent == 0)
        return text.at[text.length - 1] == ':' ? HELP_HEADING : HELP_TEXT;
    return indent == 2 ? HELP_ITEM : HELP_MORE;
}

bool help_next(struct help_reader *reader, struct help_line *line)
{
    if (!*reader->at)
        return false;
    size_t length = strcspn(reader->at, "\n"), indent = strspn(reader->at, " ");
    if (indent > length)
        indent = length;
    line->label = (struct span){reader->at, 0};
    line->text = (struct span){reader->at + indent, length - indent};
    line->kind = kind_of(reader, indent, line->text);
    if (line->kind == HELP_ITEM)
        split_item(line);
    reader->at += length + (reader->at[length] == '\n');
    return true;
}

static bool of_name(char c)
{
    return isalnum((unsigned char)c) || c == '-';
}

static size_t name_length(struct span text, size_t at)
{
    size_t length = 0;
    while (at + length < text.length && of_name(text.at[at + length]))
        length++;
    return length;
}

/* What an option's value may be: a placeholder in capitals, or words in small letters where a "=" comes before them. */
static size_t value_length(struct span text, size_t at, bool joined)
{
    size_t length = 0;
    if (!joined && (at >= text.length || !isupper((unsigned char)text.at[at])))
        return 0;
    while (at + length < text.length && (of_name(text.at[at + length]) || text.at[at + length] == '|'))
        length++;
    return length;
}

bool help_option_next(struct span text, size_t *at, struct help_option *option)
{
    for (size_t i = *at; i < text.length; i++) {
        if (text.at[i] != '-' || (i && !strchr(" [|", text.at[i - 1])))
            continue;
        size_t length = name_length(text, i);
        if (length < 2 || (length == 2 && text.at[i + 1] == '-'))
            continue;
        *option = (struct help_option){.name = {text.at + i, length}};
        i += length;
        option->joined = i < text.length && text.at[i] == '=';
        bool apart = i < text.length && text.at[i] == ' ';
        size_t from = i + (option->joined || apart);
        option->value = (struct span){text.at + from, option->joined || apart ? value_length(text, from, option->joined) : 0};
        *at = option->value.length ? from + option->value.length : i;
        return true;
    }
    return false;
}
