/* SPDX-License-Identifier: Apache-2.0 */
/* Lines cut into words: a directed table, then random bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "text.h"
#include "words.h"

/* Words joined with '/', options as key=value, quoted ones in quotes. */
static void show(const struct words *words, char *out, size_t size)
{
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < words->count && at < size; i++) {
        const struct word *w = &words->word[i];
        int n = snprintf(out + at, size - at, "%s%s%s%s%s%s@%d", i ? "/" : "", w->key ? w->key : "", w->key ? "=" : "",
                         w->quoted ? "\"" : "", w->text, w->quoted ? "\"" : "", w->column);
        at += n > 0 ? (size_t)n : 0;
    }
}

static void test_lines(void)
{
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"", ""},
        {"   \t ", ""},
        {"# all comment", ""},
        {"a b  c", "a@1/b@3/c@6"},
        {"a b # c", "a@1/b@3"},
        {"a b#c", "a@1/b#c@3"},
        {"access r0 +2gran 4gran", "access@1/r0+2gran@8/4gran@18"},
        {"access +2gran", "access@1/+2gran@8"},
        {"write r \"two words\"", "write@1/r@7/\"two words\"@9"},
        {"write r \"a\\n\\\"\\\\b\"", "write@1/r@7/\"a\n\"\\b\"@9"},
        {"write r \"\"", "write@1/r@7/\"\"@9"},
        {"write r \"a\" +1", "write@1/r@7/\"a\"@9/+1@13"},
        {"reserve 1 at=r0 +2", "reserve@1/1@9/at=r0+2@14"},
        {"x = y", "x@1/=@3/y@5"},
        {"a == b", "a@1/==@3/b@6"},
        {"a==b", "a==b@1"},
        {"x=y", "x=y@3"},
        {"call f {dev0 handle=fd} 0", "call@1/f@6/{dev0 handle=fd}@8/0@25"},
        {"a key=\"two words\"", "a@1/key=two words@7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct words words;
        struct words_error error;
        char shown[256] = "?";
        if (words_split(cases[i].line, strlen(cases[i].line), &words, &error))
            show(&words, shown, sizeof shown);
        tap_text(shown, cases[i].words, "words of: %s", cases[i].line);
    }
}

static void test_errors(void)
{
    static const struct {
        const char *line, *what;
        int column;
    } cases[] = {
        {"a \"b", "closing \"", 3},        {"a \"b\\q\"", "escape", 5},     {"a {b", "closing '}'", 3},
        {"a {b {c}}", "nest", 6},          {"a b}", "without '{'", 4},      {"a \x01", "0x01", 3},
        {"a \x7f", "0x7f", 3},             {"a \xc3\xa9", "0xc3", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct words words;
        struct words_error error = {0};
        bool ok = words_split(cases[i].line, strlen(cases[i].line), &words, &error);
        tap_ok(!ok && strstr(error.text, cases[i].what) && error.column == cases[i].column,
               "case %zu is refused at column %d: %s (%d)", i, cases[i].column, error.text, error.column);
    }
}

static void test_limits(void)
{
    struct words words;
    struct words_error error;
    char line[WORDS_LINE_MAX + 1];
    memset(line, 'x', sizeof line);
    tap_ok(words_split(line, WORDS_LINE_MAX, &words, &error) && words.count == 1, "a line of the greatest length");
    tap_ok(!words_split(line, WORDS_LINE_MAX + 1, &words, &error), "one byte more is refused");
    for (size_t i = 0; i < 2 * WORDS_MAX; i++)
        line[i] = i % 2 ? ' ' : 'x';
    tap_ok(words_split(line, 2 * WORDS_MAX, &words, &error) && words.count == WORDS_MAX, "as many words as fit");
    line[2 * WORDS_MAX] = 'x';
    tap_ok(!words_split(line, 2 * WORDS_MAX + 1, &words, &error), "one word more is refused");
    tap_ok(!words_split("a\0b", 3, &words, &error) && error.column == 2, "a NUL is refused where it stands");
}

/* Whatever the bytes, every word lies in the store and ends there. */
static void test_random(unsigned seed)
{
    static const char likely[] = "ab01 \t#\"\\{}=+:,.-_n";
    bool sound = true;
    srand(seed);
    for (int round = 0; round < 20000 && sound; round++) {
        struct words words;
        struct words_error error = {0};
        char line[80];
        size_t length = (size_t)rand() % sizeof line;
        for (size_t i = 0; i < length; i++)
            line[i] = rand() % 50 ? likely[(size_t)rand() % (sizeof likely - 1)] : (char)rand();
        if (!words_split(line, length, &words, &error)) {
            sound = error.column >= 1 && error.column <= (int)length + 1 && error.text[0];
            continue;
        }
        for (size_t i = 0; i < words.count; i++) {
            const char *text = words.word[i].text;
            sound &= text >= words.store && text + strlen(text) < words.store + sizeof words.store;
            sound &= words.word[i].column >= 1 && words.word[i].column <= (int)length + 1;
        }
    }
    tap_ok(sound, "20000 random lines are cut soundly (seed %u; CUVMM_SEED repeats it)", seed);
}

int main(void)
{
    const char *seed = getenv("CUVMM_SEED");
    test_lines();
    test_errors();
    test_limits();
    test_random(seed ? (unsigned)strtoul(seed, NULL, 10) : 20261);
    return tap_done();
}
