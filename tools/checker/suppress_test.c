/* SPDX-License-Identifier: Apache-2.0 */
#include "suppress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static char path[] = "/tmp/suppress_test.XXXXXX";
static char said[1000];

/* Reads a file of that text; messages go to `said`. */
static bool read_text(struct suppressions *list, const char *text)
{
    FILE *file = fopen(path, "w"), *err = fmemopen(said, sizeof said, "w");
    if (!file || !err)
        tap_bail("no file");
    fputs(text, file);
    fclose(file);
    memset(said, 0, sizeof said);
    bool good = suppress_read(list, path, err);
    fclose(err);
    return good;
}

static void test_patterns(void)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        {"", "", true},         {"", "a", false},        {"*", "", true},           {"a*", "abc", true},  {"*c", "abc", true},
        {"a?c", "abc", true},   {"a?c", "ac", false},    {"*b*", "abc", true},      {"*b", "abc", false}, {"a**c", "ac", true},
        {"*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false}, {"*::grow", "pool::grow", true}, {"abc", "ab", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tap_ok(suppress_fits(cases[i].pattern, cases[i].text) == cases[i].fits, "\"%s\" %s \"%s\"", cases[i].pattern,
               cases[i].fits ? "is" : "is not", cases[i].text);
}

static void test_stacks(void)
{
    struct place place[] = {
        {.function = "grow", .file = "/srv/pool.c", .line = 31, .module = "/srv/pool.so"},
        {.function = "step", .file = "/srv/train.py", .line = 12, .module = "", .python = true},
        {.function = "main", .file = "", .module = "/srv/a.out"},
    };
    const struct places stack = {place, 3}, none = {place, 0};
    static const struct {
        const char *frames;
        bool fits;
    } cases[] = {
        {"", true},
        {"fun:grow", true},
        {"fun:step", false},
        {"fun:gr*\npy:step", true},
        {"fun:grow\npy:*train.py:step\nobj:*/a.out", true},
        {"fun:grow\nfun:main", false},
        {"fun:grow\n...\nfun:main", true},
        {"...\nfun:main", true},
        {"...\nfun:main\n...", true},
        {"...\nfun:main\nfun:*", false},
        {"...\nfun:none", false},
        {"src:/srv/pool.c:31", true},
        {"src:*/pool.c", true},
        {"src:*/pool.c:32", false},
        {"obj:*pool.so\nfun:step", false},
        {"obj:*pool.so\nsrc:*train.py:12", true},
        {"py:grow", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct suppressions list = {0};
        char text[200];
        snprintf(text, sizeof text, "# known\n{\n  known\n  VMM-LEAK-*\n%s\n}\n", cases[i].frames);
        tap_ok(read_text(&list, text) && (suppress_find(&list, "VMM-LEAK-HANDLE", &stack) != NULL) == cases[i].fits, "frames %s: %s",
               cases[i].frames, said);
        tap_ok(!suppress_find(&list, "VMM-MAP-OVERLAP", &stack), "of another rule never");
        tap_ok((suppress_find(&list, "VMM-LEAK-HANDLE", &none) != NULL) == (cases[i].frames[0] == '\0'), "without a stack only without frames");
        suppress_free(&list);
    }
}

static void test_written(void)
{
    struct place place[] = {{.function = "grow", .file = "", .module = "/a"}, {.function = "f", .file = "t.py", .module = "", .python = true},
                            {.function = "", .file = "", .module = "/srv/pool.so"}, {.function = "", .file = "", .module = ""}};
    const struct places stack = {place, 4};
    struct suppressions list = {0};
    char text[300] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    suppress_write("VMM-MAP-OVERLAP", &stack, out);
    fclose(out);
    tap_text(text, "{\n   <a name>\n   VMM-MAP-OVERLAP\n   fun:grow\n   py:t.py:f\n   obj:/srv/pool.so\n   ...\n}\n", "one that is written");
    tap_ok(read_text(&list, text) && suppress_find(&list, "VMM-MAP-OVERLAP", &stack), "is read, and fits what it was written for");
    suppress_free(&list);
}

static void test_malformed(void)
{
    static const struct {
        const char *text, *line, *expected;
    } cases[] = {
        {"x\n", "line 1", "expected the \"{\" of a suppression, not \"x\""},
        {"# a\n\n{\n}\n", "line 4", "expected the name of the suppression, not \"}\""},
        {"{\nname\n", "line 2", "expected a rule, such as VMM-MAP-OVERLAP or VMM-LEAK-*"},
        {"{\nname\nMemcheck:Leak\n}\n", "line 3", "expected a rule, such as VMM-MAP-OVERLAP or VMM-LEAK-*, not \"Memcheck:Leak\""},
        {"{\nname\nVMM-X\nfun:\n}\n", "line 4", "expected fun:, obj:, src: or py: with a pattern"},
        {"{\nname\nVMM-X\nmain\n}\n", "line 4", "expected fun:, obj:, src: or py: with a pattern"},
        {"{\nname\nVMM-X\nfun:a\n", "line 4", "expected the \"}\" of the suppression"},
        {"{\nname\nVMM-X\n}\n{\n", "line 5", "expected the name of the suppression"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct suppressions list = {0};
        tap_ok(!read_text(&list, cases[i].text) && strstr(said, cases[i].line) && strstr(said, cases[i].expected) && strstr(said, path) &&
                   strstr(said, "nothing was started"),
               "a malformed file: %s", said);
        suppress_free(&list);
    }
    struct suppressions list = {0};
    FILE *err = fmemopen(said, sizeof said, "w");
    bool read = suppress_read(&list, "/nowhere/known", err);
    fclose(err);
    tap_ok(!read && strstr(said, "/nowhere/known: it cannot be read"), "a missing file: %s", said);
    err = fmemopen(said, sizeof said, "w");
    read = suppress_read(&list, "/tmp", err);
    fclose(err);
    tap_ok(!read && strstr(said, "cannot be read"), "a folder: %s", said);
}

int main(void)
{
    close(mkstemp(path));
    test_patterns();
    test_stacks();
    test_written();
    test_malformed();
    unlink(path);
    return tap_done();
}
