/* SPDX-License-Identifier: Apache-2.0 */
#include "spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static bool fail(struct spec_error *error, size_t column, const char *text)
{
    error->column = column;
    snprintf(error->text, sizeof error->text, "%s", text);
    return false;
}

/* Parses text[at .. end) into name and args; the separator is ':' for the backend and '=' for a layer. */
static bool cut_part(struct spec *spec, size_t at, size_t end, char separator, struct spec_error *error)
{
    char *text = spec->text;
    struct spec_part *part = &spec->part[spec->count];
    while (at < end && is_blank(text[at]))
        at++;
    while (end > at && is_blank(text[end - 1]))
        end--;
    size_t name_end = at;
    while (name_end < end && is_name(text[name_end]))
        name_end++;
    if (name_end == at)
        return fail(error, at + 1, "the name of a backend or layer is expected here");
    if (name_end < end && text[name_end] != separator)
        return fail(error, name_end + 1,
                    separator == ':' ? "expected ':' and a profile, or the end (a layer is followed by '=' and '|')"
                                     : "expected '=' and the layer's arguments, or '|'");
    part->column = at + 1;
    part->name = text + at;
    part->args = name_end < end ? text + name_end + 1 : text + end;
    text[name_end] = '\0';
    text[end] = '\0';
    spec->count++;
    return true;
}

bool spec_parse(const char *text, struct spec *spec, struct spec_error *error)
{
    size_t length = strlen(text);
    memset(spec, 0, sizeof *spec);
    spec->text = heap.malloc(length + 1);
    if (!spec->text)
        return fail(error, 0, "out of memory");
    memcpy(spec->text, text, length + 1);
    for (size_t at = 0;; at++) {
        const char *bar = strchr(text + at, '|');
        size_t end = bar ? (size_t)(bar - text) : length;
        bool ok = spec->count == SPEC_MAX_PARTS ? fail(error, at + 1, "too many layers")
                                                : cut_part(spec, at, end, bar ? '=' : ':', error);
        if (!ok) {
            spec_free(spec);
            return false;
        }
        if (!bar)
            return true;
        at = end;
    }
}

void spec_free(struct spec *spec)
{
    heap.free(spec->text);
    memset(spec, 0, sizeof *spec);
}
