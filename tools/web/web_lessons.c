/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "examples.h"
#include "json.h"
#include "lesson.h"
#include "lessons.h"
#include "script.h"
#include "text.h"
#include "web.h"

/* Cannot fail for an embedded lesson; the tests of lessons ensure that. */
static bool parse(const struct lesson_source *source, struct lesson *lesson)
{
    char *memory = NULL;
    size_t size;
    FILE *err = open_memstream(&memory, &size);
    const bool good = err && lesson_parse(lesson, source->file, source->script, err);
    if (err)
        fclose(err);
    free(memory);
    return good;
}

const char *web_lessons(void)
{
    struct json json = {0};
    struct lesson lesson;
    jsonw_open(&json, NULL, '[');
    for (const struct lesson_source *source = lessons; source->name; source++) {
        if (!parse(source, &lesson))
            continue;
        jsonw_open(&json, NULL, '{');
        jsonw_int(&json, "number", lessons_number(source));
        jsonw_utf8(&json, "title", lesson.title);
        jsonw_int(&json, "questions", (int64_t)lesson.questions);
        jsonw_close(&json, '}');
        lesson_free(&lesson);
    }
    jsonw_close(&json, ']');
    return web_answer(&json);
}

static void put_choices(struct json *json, const struct lesson_part *part)
{
    jsonw_open(json, "choices", '[');
    for (size_t i = 0; i < part->choices; i++) {
        jsonw_open(json, NULL, '{');
        jsonw_utf8(json, "text", part->choice[i].text);
        jsonw_utf8(json, "answer", part->choice[i].answer);
        jsonw_bool(json, "right", part->choice[i].right);
        jsonw_close(json, '}');
    }
    jsonw_close(json, ']');
}

static void put_part(struct json *json, const struct lesson *lesson, const struct lesson_part *part)
{
    static const char *const kinds[] = {
        [LESSON_TEXT] = "text", [LESSON_QUESTION] = "question", [LESSON_DRAW] = "draw", [LESSON_COMMAND] = "command"};
    jsonw_open(json, NULL, '{');
    jsonw_utf8(json, "kind", kinds[part->kind]);
    jsonw_utf8(json, "text", part->kind == LESSON_COMMAND ? lesson->lines[part->line - 1] : part->text ? part->text : "");
    if (part->kind == LESSON_QUESTION)
        put_choices(json, part);
    jsonw_close(json, '}');
}

static void put_lines(struct json *json, const char *key, const char *const *lines)
{
    struct text text = {0};
    for (; *lines; lines++)
        text_add(&text, "%s\n", *lines);
    jsonw_utf8(json, key, text.data ? text.data : "");
    text_free(&text);
}

static const struct lesson_source *numbered(int number)
{
    const struct lesson_source *source = lessons;
    while (source->name && lessons_number(source) != number)
        source++;
    return source->name ? source : NULL;
}

const char *web_lesson(int number)
{
    struct json json = {0};
    struct lesson lesson;
    const struct lesson_source *source = numbered(number);
    jsonw_open(&json, NULL, '{');
    if (source && parse(source, &lesson)) {
        jsonw_utf8(&json, "title", lesson.title);
        jsonw_open(&json, "parts", '[');
        for (size_t i = 0; i < lesson.parts; i++)
            put_part(&json, &lesson, &lesson.part[i]);
        jsonw_close(&json, ']');
        put_lines(&json, "page", source->page);
        lesson_free(&lesson);
    }
    jsonw_close(&json, '}');
    return web_answer(&json);
}

/* A function's output as a result; its last line is the exit status, if status is not negative. */
static const char *printed(FILE *out, char **memory, int status)
{
    struct text text = {0};
    if (out && status >= 0)
        fprintf(out, "exit status %d\n", status);
    if (out)
        fclose(out);
    text_add(&text, "%s", *memory ? *memory : "");
    free(*memory);
    return web_answer_text(&text);
}

const char *web_lesson_all(int number)
{
    char name[16], *memory = NULL;
    size_t size;
    FILE *out = open_memstream(&memory, &size);
    snprintf(name, sizeof name, "%d", number);
    const int status = out ? lessons_tell(&(const struct lessons_request){.name = name, .all = true}, out, out) : 2;
    return printed(out, &memory, status);
}

const char *web_examples(void)
{
    struct json json = {0};
    jsonw_open(&json, NULL, '[');
    for (const struct example_source *example = examples; example->name; example++) {
        jsonw_open(&json, NULL, '{');
        jsonw_utf8(&json, "name", example->name);
        put_lines(&json, "script", example->lines);
        jsonw_close(&json, '}');
    }
    jsonw_close(&json, ']');
    return web_answer(&json);
}

const char *web_run(const char *name, const char *lines, size_t length)
{
    char *memory = NULL;
    size_t size;
    FILE *out = open_memstream(&memory, &size), *in = length ? fmemopen((void *)(uintptr_t)lines, length, "r") : NULL;
    struct script_options options = {.out = out, .err = out};
    int status = 2;
    if (out) {
        struct script *script = script_new(&options, name);
        if (in)
            script_read(script, in);
        status = (int)script_finish(script);
    }
    if (in)
        fclose(in);
    return printed(out, &memory, status);
}
