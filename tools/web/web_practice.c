/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "practice.h"
#include "text.h"
#include "web.h"

/* The exercise with a number; false if there is none. practice_test ensures that each is well formed. */
static bool find(int number, struct practice *practice)
{
    char *memory = NULL, word[16];
    size_t size;
    snprintf(word, sizeof word, "%d", number);
    const struct practice_source *source = practice_find(word);
    FILE *err = source ? open_memstream(&memory, &size) : NULL;
    const bool found = err && practice_parse(practice, source, err);
    if (err)
        fclose(err);
    free(memory);
    return found;
}

const char *web_exercises(void)
{
    struct json json = {0};
    struct practice practice;
    jsonw_open(&json, NULL, '[');
    for (const struct practice_source *source = practices; source->name; source++) {
        const int number = atoi(source->name);
        if (!find(number, &practice))
            continue;
        jsonw_open(&json, NULL, '{');
        jsonw_int(&json, "number", number);
        jsonw_utf8(&json, "title", practice.title);
        jsonw_close(&json, '}');
        practice_free(&practice);
    }
    jsonw_close(&json, ']');
    return web_answer(&json);
}

/* The lines of a part, each without the first skip bytes. */
static void put_lines(struct json *json, const char *key, const struct practice *practice, const struct practice_part *part, size_t skip)
{
    struct text text = {0};
    for (size_t i = 0; i < part->count; i++) {
        const char *line = practice->source->lines[part->first + i];
        text_add(&text, "%s\n", strlen(line) > skip ? line + skip : "");
    }
    jsonw_utf8(json, key, text.data ? text.data : "");
    text_free(&text);
}

static void put_words(struct json *json, const char *key, const char *words)
{
    jsonw_open(json, key, '[');
    for (; words && *words; words += strlen(words) + 1)
        jsonw_utf8(json, NULL, words);
    jsonw_close(json, ']');
}

const char *web_exercise(int number)
{
    struct json json = {0};
    struct practice practice;
    jsonw_open(&json, NULL, '{');
    if (find(number, &practice)) {
        jsonw_int(&json, "number", number);
        jsonw_utf8(&json, "name", practice.source->name);
        jsonw_utf8(&json, "title", practice.title);
        put_lines(&json, "task", &practice, &practice.task, strlen("## "));
        put_lines(&json, "given", &practice, &practice.given, 0);
        put_lines(&json, "start", &practice, &practice.start, 0);
        put_words(&json, "machines", practice.machines);
        put_words(&json, "forbid", practice.forbid);
        practice_free(&practice);
    }
    jsonw_close(&json, '}');
    return web_answer(&json);
}

const char *web_grade(int number, const char *lines)
{
    struct json json = {0};
    struct practice practice;
    struct practice_result result = {0, 0};
    char *memory = NULL;
    size_t size;
    FILE *out = find(number, &practice) ? open_memstream(&memory, &size) : NULL;
    if (out) {
        result = practice_grade(&practice, lines, out, true);
        fclose(out);
        practice_free(&practice);
    }
    jsonw_open(&json, NULL, '{');
    jsonw_int(&json, "points", (int64_t)result.points);
    jsonw_int(&json, "of", (int64_t)result.of);
    jsonw_utf8(&json, "output", memory ? memory : "");
    jsonw_close(&json, '}');
    free(memory);
    return web_answer(&json);
}
