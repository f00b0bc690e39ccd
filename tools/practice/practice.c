/* SPDX-License-Identifier: Apache-2.0 */
#include "practice.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct reader {
    struct practice *practice;
    FILE *err;
    size_t line;
    struct practice_part *open; /* what lines of the script belong to */
};

static bool wrong(const struct reader *reader, const char *format, ...)
{
    va_list args;
    fprintf(reader->err, "%s.txt:%zu: ", reader->practice->source->name, reader->line + 1);
    va_start(args, format);
    vfprintf(reader->err, format, args);
    va_end(args);
    fputs("\n", reader->err);
    return false;
}

/* "a b" as "a\0b\0\0". */
static char *words_of(const char *text)
{
    char *words = text_grow(NULL, strlen(text) + 2);
    size_t length = 0;
    for (const char *at = text; *at;) {
        size_t skip = strspn(at, " "), word = strcspn(at + skip, " ");
        memcpy(words + length, at + skip, word);
        length += word;
        if (word)
            words[length++] = 0;
        at += skip + word;
    }
    words[length] = 0;
    return words;
}

static bool read_head(struct reader *reader, const char *text)
{
    struct practice *practice = reader->practice;
    if (strncmp(text, "title: ", 7) == 0) {
        practice->title = text + 7;
    } else if (strncmp(text, "machines: ", 10) == 0 && !practice->machines) {
        practice->machines = words_of(text + 10);
    } else if (strncmp(text, "forbid: ", 8) == 0 && !practice->forbid) {
        practice->forbid = words_of(text + 8);
    } else {
        return wrong(reader, "\"#@ %.40s\" is not title, machines or forbid, or stands twice", text);
    }
    return true;
}

/* One of several parts of a kind; NULL where there is no room. */
static struct practice_part *next_part(struct practice_part *list, size_t *count, size_t most, const char *text)
{
    if (*count == most)
        return NULL;
    list[*count] = (struct practice_part){.text = text};
    return &list[(*count)++];
}

/* "#point TEXT" begins a part. */
static bool read_mark(struct reader *reader, const char *line)
{
    struct practice *practice = reader->practice;
    struct practice_part *part = NULL;
    if (strcmp(line, "#given") == 0)
        part = &practice->given;
    else if (strcmp(line, "#start") == 0)
        part = &practice->start;
    else if (strcmp(line, "#solution") == 0)
        part = &practice->solution;
    else if (strncmp(line, "#point ", 7) == 0)
        part = next_part(practice->point, &practice->points, PRACTICE_POINTS, line + 7);
    else if (strncmp(line, "#mistake ", 9) == 0)
        part = next_part(practice->mistake, &practice->mistakes, PRACTICE_MISTAKES, line + 9);
    else
        return wrong(reader, "\"%.40s\" is not a mark of an exercise (#@ ## #given #start #point #solution #mistake)", line);
    if (!part)
        return wrong(reader, "more than %d points or %d mistakes", PRACTICE_POINTS, PRACTICE_MISTAKES);
    if (part->first)
        return wrong(reader, "%s stands twice", line);
    part->first = reader->line + 1;
    reader->open = part;
    return true;
}

static bool read_line(struct reader *reader, const char *line)
{
    if (strncmp(line, "#@ ", 3) == 0)
        return read_head(reader, line + 3);
    if (strcmp(line, "##") == 0 || strncmp(line, "## ", 3) == 0) {
        if (!reader->practice->task.count)
            reader->practice->task.first = reader->line;
        reader->practice->task.count = reader->line + 1 - reader->practice->task.first;
        return true;
    }
    if (line[0] == '#' && line[1] != ' ')
        return read_mark(reader, line);
    if (reader->open)
        reader->open->count = reader->line + 1 - reader->open->first;
    return reader->open || !line[0] || line[0] == '#' || wrong(reader, "a line before #given");
}

static bool is_whole(const struct reader *reader)
{
    const struct practice *practice = reader->practice;
    const char *lacks = !practice->title            ? "#@ title"
                        : !practice->machines       ? "#@ machines"
                        : !practice->task.count     ? "## the task"
                        : !practice->points         ? "#point"
                        : !practice->solution.count ? "#solution"
                        : !practice->mistakes       ? "#mistake"
                                                    : NULL;
    return !lacks || wrong(reader, "%s is missing", lacks);
}

bool practice_parse(struct practice *practice, const struct practice_source *source, FILE *err)
{
    *practice = (struct practice){.source = source};
    struct reader reader = {.practice = practice, .err = err};
    bool fine = true;
    for (; fine && source->lines[reader.line]; reader.line++)
        fine = read_line(&reader, source->lines[reader.line]);
    if (fine && is_whole(&reader))
        return true;
    practice_free(practice);
    return false;
}

void practice_free(struct practice *practice)
{
    free(practice->machines);
    free(practice->forbid);
    *practice = (struct practice){0};
}
