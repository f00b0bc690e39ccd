/* SPDX-License-Identifier: Apache-2.0 */
#include "suppress.h"

#include <stdlib.h>
#include <string.h>

static const char *const prefixes[] = {
    [SUPPRESS_FUNCTION] = "fun:", [SUPPRESS_MODULE] = "obj:", [SUPPRESS_SOURCE] = "src:", [SUPPRESS_PYTHON] = "py:"};

/* If matching fails later, the star takes one more character; only the last star needs to be retried. */
bool suppress_fits(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

/* ---- which fits ---- */

static bool fits_either(const char *pattern, const char *file, const char *with_more)
{
    return suppress_fits(pattern, file) || suppress_fits(pattern, with_more);
}

static bool fits_frame(const struct suppress_frame *frame, const struct place *place)
{
    char whole[4400];
    switch (frame->kind) {
    case SUPPRESS_FUNCTION:
        return !place->python && suppress_fits(frame->pattern, place->function);
    case SUPPRESS_MODULE:
        return !place->python && suppress_fits(frame->pattern, place->module);
    case SUPPRESS_SOURCE:
        snprintf(whole, sizeof whole, "%.4096s:%u", place->file, place->line);
        return place->file[0] && fits_either(frame->pattern, place->file, whole);
    case SUPPRESS_PYTHON:
        snprintf(whole, sizeof whole, "%.4000s:%.300s", place->file, place->function);
        return place->python && fits_either(frame->pattern, place->function, whole);
    case SUPPRESS_ANY:
        return true;
    }
    return false;
}

/* As suppress_fits, with frames for characters; what follows the last frame does not matter. */
static bool fits_stack(const struct suppression *item, const struct places *places)
{
    unsigned frame = 0, place = 0, star = UINT32_MAX, from = 0;
    while (frame < item->frames) {
        if (item->frame[frame].kind == SUPPRESS_ANY) {
            star = frame++;
            from = place;
        } else if (place < places->count && fits_frame(&item->frame[frame], &places->place[place])) {
            frame++;
            place++;
        } else if (star != UINT32_MAX && from < places->count) {
            frame = star + 1;
            place = ++from;
        } else {
            return false;
        }
    }
    return true;
}

struct suppression *suppress_find(const struct suppressions *list, const char *rule, const struct places *places)
{
    for (unsigned i = 0; i < list->count; i++)
        if (suppress_fits(list->item[i].rule, rule) && fits_stack(&list->item[i], places))
            return &list->item[i];
    return NULL;
}

/* ---- writing ---- */

void suppress_write(const char *rule, const struct places *places, FILE *out)
{
    fprintf(out, "{\n   <a name>\n   %s\n", rule[0] ? rule : "*");
    for (unsigned i = 0; i < places->count; i++) {
        const struct place *place = &places->place[i];
        if (place->python)
            fprintf(out, "   py:%s:%s\n", place->file, place->function);
        else if (place->function[0])
            fprintf(out, "   fun:%s\n", place->function);
        else if (place->module[0])
            fprintf(out, "   obj:%s\n", place->module);
        else
            fprintf(out, "   ...\n");
    }
    fprintf(out, "}\n");
}

/* ---- reading ---- */

struct source {
    const char *path;
    FILE *file, *err;
    char *line; /* without leading and trailing blanks */
    size_t room;
    unsigned number;
};

static bool refuse(const struct source *source, const char *expected)
{
    fprintf(source->err, "cuvmm check: --suppressions %s, line %u: expected %s", source->path, source->number, expected);
    if (source->line && !feof(source->file))
        fprintf(source->err, ", not \"%.60s\"", source->line);
    fprintf(source->err, "; nothing was started\n");
    return false;
}

/* The next line that is neither empty nor a comment. False at the end. */
static bool next_line(struct source *source)
{
    ssize_t length;
    while ((length = getline(&source->line, &source->room, source->file)) >= 0) {
        source->number++;
        while (length > 0 && strchr(" \t\r\n", source->line[length - 1]))
            source->line[--length] = '\0';
        size_t blanks = strspn(source->line, " \t");
        memmove(source->line, source->line + blanks, (size_t)length - blanks + 1);
        if (source->line[0] && source->line[0] != '#')
            return true;
    }
    return false;
}

static bool exhausted(const struct source *source)
{
    fprintf(source->err, "cuvmm check: --suppressions %s: memory is exhausted\n", source->path);
    return false;
}

static bool take_frame(struct suppression *item, struct source *source)
{
    struct suppress_frame frame = {.kind = SUPPRESS_ANY};
    const char *pattern = "";
    if (strcmp(source->line, "...") != 0) {
        frame.kind = SUPPRESS_FUNCTION;
        while (frame.kind < SUPPRESS_ANY && strncmp(source->line, prefixes[frame.kind], strlen(prefixes[frame.kind])) != 0)
            frame.kind++;
        if (frame.kind == SUPPRESS_ANY || !source->line[strlen(prefixes[frame.kind])])
            return refuse(source, "fun:, obj:, src: or py: with a pattern, \"...\", or the \"}\" of the suppression");
        pattern = source->line + strlen(prefixes[frame.kind]);
    }
    struct suppress_frame *larger = realloc(item->frame, (item->frames + 1) * sizeof *larger);
    if (larger)
        item->frame = larger;
    if (!larger || !(frame.pattern = strdup(pattern)))
        return exhausted(source);
    /* analysers: malloc-leak is wrong: the pattern is the suppression's, which is freed with the list */
    item->frame[item->frames++] = frame;
    return true;
}

static bool is_rule(const char *text)
{
    return strncmp(text, "VMM-", 4) == 0 || strpbrk(text, "*?");
}

static bool take_name(struct suppression *item, struct source *source)
{
    if (!next_line(source) || strcmp(source->line, "}") == 0)
        return refuse(source, "the name of the suppression");
    item->name = strdup(source->line);
    /* analysers: malloc-leak is wrong: the name is the suppression's */
    if (!item->name)
        return exhausted(source);
    if (!next_line(source) || !is_rule(source->line))
        return refuse(source, "a rule, such as VMM-MAP-OVERLAP or VMM-LEAK-*");
    item->rule = strdup(source->line);
    /* analysers: malloc-leak is wrong: so is the rule */
    return item->rule || exhausted(source);
}

static bool take(struct suppressions *list, struct source *source)
{
    if (strcmp(source->line, "{") != 0)
        return refuse(source, "the \"{\" of a suppression");
    struct suppression *larger = realloc(list->item, (list->count + 1) * sizeof *larger);
    if (!larger)
        return exhausted(source);
    list->item = larger;
    struct suppression *item = &list->item[list->count++];
    *item = (struct suppression){.file = source->path, .line = source->number};
    if (!take_name(item, source))
        return false;
    for (;;) {
        if (!next_line(source))
            return refuse(source, "the \"}\" of the suppression");
        if (strcmp(source->line, "}") == 0)
            return true;
        /* analysers: malloc-leak is wrong: name and rule are the suppression's */
        if (!take_frame(item, source))
            return false;
    }
}

bool suppress_read(struct suppressions *list, const char *path, FILE *err)
{
    struct source source = {.path = path, .file = fopen(path, "r"), .err = err};
    if (!source.file) {
        fprintf(err, "cuvmm check: --suppressions %s: it cannot be read; nothing was started\n", path);
        return false;
    }
    bool good = true;
    while (good && next_line(&source))
        good = take(list, &source);
    if (good && ferror(source.file)) {
        fprintf(err, "cuvmm check: --suppressions %s: it cannot be read; nothing was started\n", path);
        good = false;
    }
    free(source.line);
    fclose(source.file);
    return good;
}

void suppress_free(struct suppressions *list)
{
    for (unsigned i = 0; i < list->count; i++) {
        struct suppression *item = &list->item[i];
        for (unsigned frame = 0; frame < item->frames; frame++)
            free(item->frame[frame].pattern);
        free(item->frame);
        free(item->name);
        free(item->rule);
    }
    free(list->item);
    *list = (struct suppressions){0};
}
