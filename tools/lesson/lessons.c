/* SPDX-License-Identifier: Apache-2.0 */
#include "lessons.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lesson.h"
#include "lesson_page.h"
#include "text.h"

int lessons_number(const struct lesson_source *source)
{
    return atoi(source->name);
}

const struct lesson_source *lessons_find(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    bool is_number = end != name && *end == 0;
    for (const struct lesson_source *source = lessons; source->name; source++)
        if (is_number ? number == lessons_number(source)
                      : text_same(name, source->name) || text_same(name, strchr(source->name, '-') + 1))
            return source;
    return NULL;
}

/* A lesson that is not embedded: what an author works on. */
struct file_lines {
    char **line; /* NULL past the last */
    size_t count;
};

static void free_lines(struct file_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->line[i]);
    free(lines->line);
}

static void add_line(struct file_lines *lines, const char *line)
{
    lines->line = text_grow(lines->line, (lines->count + 2) * sizeof *lines->line);
    lines->line[lines->count] = text_grow(NULL, strlen(line) + 1);
    strcpy(lines->line[lines->count++], line);
    lines->line[lines->count] = NULL;
}

/* False: err has the reason, and there is nothing to free. */
static bool read_lines(struct file_lines *lines, const char *path, FILE *err)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    bool text = true;
    *lines = (struct file_lines){.line = text_grow(NULL, sizeof *lines->line)};
    lines->line[0] = NULL;
    while (in && text && (length = getline(&line, &room, in)) >= 0) {
        text = strlen(line) == (size_t)length;
        line[strcspn(line, "\r\n")] = 0;
        add_line(lines, line);
    }
    bool fine = in && text && !ferror(in);
    if (!fine)
        fprintf(err, "cuvmm lesson: %s: %s\n", path, text ? strerror(errno) : "a byte 0; a lesson is text");
    free(line);
    if (in)
        fclose(in);
    if (!fine)
        free_lines(lines);
    return fine;
}

static int list(FILE *out, FILE *err)
{
    for (const struct lesson_source *source = lessons; source->name; source++) {
        struct lesson lesson;
        if (!lesson_parse(&lesson, source->file, source->script, err))
            return 2;
        fprintf(out, "%3d  %s\n", lessons_number(source), lesson.title);
        lesson_free(&lesson);
    }
    fputs("\n", out);
    text_wrap(out, "`cuvmm lesson 1` runs the first, step by step; `cuvmm lesson 1 --page` prints the page that goes with it.", 0, 0, text_columns());
    fputs("\n", out);
    return 0;
}

static int tell(const char *file, const char *const *lines, const struct lesson_talk *how, int number)
{
    struct lesson lesson;
    struct lesson_talk talk = *how;
    struct text title = {0};
    if (!lesson_parse(&lesson, file, lines, talk.err))
        return 2;
    text_add(&title, "%d. %s", number, lesson.title);
    talk.title = title.data;
    int status = lesson_run(&lesson, &talk);
    text_free(&title);
    lesson_free(&lesson);
    return status;
}

static int tell_file(const char *path, const struct lesson_talk *talk)
{
    struct file_lines lines;
    const char *file = text_base_name(path);
    if (!read_lines(&lines, path, talk->err))
        return 2;
    int status = tell(file, (const char *const *)lines.line, talk, atoi(file));
    free_lines(&lines);
    return status;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 4 && strcmp(name + length - 4, ".vmm") == 0);
}

static int tell_source(const struct lesson_source *source, struct lesson_talk *talk)
{
    const struct lesson_source *next = source + 1;
    struct text more = {0};
    text_add(&more, "Its page says more: cuvmm lesson %d --page.", lessons_number(source));
    if (next->name)
        text_add(&more, " The next one: cuvmm lesson %d.", lessons_number(next));
    talk->next = more.data;
    int status = tell(source->file, source->script, talk, lessons_number(source));
    text_free(&more);
    return status;
}

static bool listens(const struct lessons_request *request, FILE *out)
{
    return request->ask || (!request->all && isatty(STDIN_FILENO) && fileno(out) >= 0 && isatty(fileno(out)));
}

int lessons_tell(const struct lessons_request *request, FILE *out, FILE *err)
{
    struct lesson_talk talk = {.out = out, .err = err, .in = listens(request, out) ? stdin : NULL,
                               .backend = request->backend, .colour = request->colour};
    if (!request->name)
        return list(out, err);
    if (is_path(request->name) && !request->page)
        return tell_file(request->name, &talk);
    const struct lesson_source *source = lessons_find(request->name);
    if (!source) {
        fprintf(err, "cuvmm lesson: there is no lesson \"%.60s\"; `cuvmm lesson` lists them\n", request->name);
        return 2;
    }
    if (!request->page)
        return tell_source(source, &talk);
    lesson_page(out, source->page, text_columns_of_lines());
    return 0;
}
