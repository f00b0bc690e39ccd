/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of option in every form, and every mistake. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static struct values {
    bool flag;
    uint64_t number;
    const char *text;
    struct option_list list;
} v;

static char *said;

/* Reads these words; the messages are in said. */
static bool reads(const char *words)
{
    static char copy[1024];
    char *argv[40] = {copy};
    int argc = 1;
    size_t size;
    const struct option_row rows[] = {{"flag", OPTION_FLAG, &v.flag, 0, 0},
                                      {"number", OPTION_NUMBER, &v.number, 2, 100},
                                      {"text", OPTION_TEXT, &v.text, 0, 0},
                                      {"list", OPTION_LIST, &v.list, 0, 0}};
    v = (struct values){.number = 7};
    snprintf(copy, sizeof copy, "program %s", words);
    for (char *at = copy; argc < 40 && (at = strchr(at, ' ')) != NULL; argc++) {
        *at++ = 0;
        argv[argc] = at;
    }
    free(said);
    FILE *err = open_memstream(&said, &size);
    if (!err)
        tap_bail("no memory");
    bool good = options_read(rows, 4, argc, argv, err);
    fclose(err);
    return good;
}

int main(void)
{
    tap_ok(reads("--flag --number 0x10 --text hello") && v.flag && v.number == 16 && !strcmp(v.text, "hello"),
           "a flag, a number and a text");
    tap_ok(reads("--number=100 --te=a=b") && v.number == 100 && !strcmp(v.text, "a=b") && !v.flag,
           "joined, and shortened");
    tap_ok(reads("--list a --list b") && v.list.count == 2 && !strcmp(v.list.at[1], "b"), "several times");
    tap_ok(reads("--flag") && v.number == 7 && !said[0], "an absent option keeps its value, without a message");
    static const char *const wrong[][2] = {
        {"--nothing", "\"--nothing\" is not an option"},
        {"--number", "lacks its value"},
        {"--number 1", "number needs a number from 2 to 100, not \"1\""},
        {"--number 101", "not \"101\""},
        {"--number -3", "not \"-3\""},
        {"--number 5x", "not \"5x\""},
        {"--number 99999999999999999999999", "not \"99999999999999999999999\""},
        {"--flag=yes", "\"--flag=yes\" is not an option"},
        {"word", "\"word\" belongs to no option"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bool read = reads(wrong[i][0]);
        tap_ok(!read && strstr(said, wrong[i][1]), "%s: %s", wrong[i][0], said);
    }
    tap_ok(!reads("--list 1 --list 2 --list 3 --list 4 --list 5 --list 6 --list 7 --list 8 --list 9 --list 10 --list 11 "
                  "--list 12 --list 13 --list 14 --list 15 --list 16 --list 17") && strstr(said, "--list: 16 at most"),
           "too often");
    free(said);
    return tap_done();
}
