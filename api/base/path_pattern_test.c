/* SPDX-License-Identifier: Apache-2.0 */
#include "path_pattern.h"

#include <string.h>

#include "tap.h"

static void gives(const char *pattern, const char *expected)
{
    char path[PATH_PATTERN], why[200];
    bool fits = path_pattern(pattern, 4711, path, sizeof path);
    tap_ok(!path_pattern_wrong(pattern, why, sizeof why) && fits, "%s is a name", pattern);
    tap_text(path, expected, "of process 4711");
}

static void refuses(const char *pattern, const char *letter)
{
    char why[200];
    const char *wrong = path_pattern_wrong(pattern, why, sizeof why);
    tap_ok(wrong && strstr(wrong, letter) && strstr(wrong, pattern) && strstr(wrong, "%p for the number"),
           "%s is refused by what it has, with what is possible", pattern);
}

int main(void)
{
    char path[8], why[200];
    gives("t.jsonl", "t.jsonl");
    gives("t.%p.jsonl", "t.4711.jsonl");
    gives("%p%p", "47114711");
    gives("100%%p", "100%p");
    gives("%%%p%%", "%4711%");
    refuses("t.%h", "has %h;");
    refuses("%p.%", "has % at its end;");
    refuses("%%%x", "has %x;");
    tap_ok(!path_pattern_wrong("", why, sizeof why), "nothing is wrong with no name here");
    tap_ok(path_pattern_is_own("a%p") && path_pattern_is_own("%%%p") && !path_pattern_is_own("%%p") && !path_pattern_is_own("a") &&
           !path_pattern_is_own("a%"),
           "a file for each process is what %%p makes");
    tap_ok(path_pattern("abc%p", 4711, path, sizeof path) && !strcmp(path, "abc4711"), "a name that just fits");
    tap_ok(!path_pattern("abcd%p", 4711, path, sizeof path) && !strcmp(path, "abcd471"), "one byte more does not");
    tap_ok(!path_pattern("abcd%pefgh", 4711, path, sizeof path) && !strcmp(path, "abcd471"), "nor more than that");
    return tap_done();
}
