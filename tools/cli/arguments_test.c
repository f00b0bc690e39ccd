/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments parsed according to a description: every form of an option, and everything that can be wrong. */
#include "arguments.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static const struct command frob = {
    .name = "frob",
    .hint = "there is no more",
    .argument = {.name = "FILE|-", .missing = "which file?"},
    .option = {{.name = "--seed", .value = "N", .example = "7"},
               {.name = "--leaks", .value = "yes|no", .joined = true},
               {.name = "--at", .value = "CALL|error", .joined = true},
               {.name = "--quiet", .alias = "-q", .group = 'v'},
               {.name = "--loud", .group = 'v'},
               {.name = "--words", .value = "[WORD ...]", .rest = true},
               {.name = "-o", .value = "OUT"}},
};

static const struct command bare = {.name = "bare", .option = {{.name = "-o", .value = "OUT", .missing = "where to?"}}};
static const struct command runs = {
    .name = "runs", .argument = {.name = "PROGRAM", .missing = "which program?", .rest = true}, .option = {{.name = "--quiet"}}};
static const struct command many = {.name = "many", .argument = {.name = "FILE", .missing = "which files?", .many = true},
                                    .option = {{.name = "-o", .value = "OUT"}}};
static const struct command unread = {.name = "unread", .unread = true, .option = {{.name = "--quiet"}}};

#define WORDS 6

/* What was read: "word FILE --seed=7 rest A B", or the first line of what was said. To be freed. */
static char *read_as(const struct command *command, const char *const words[WORDS])
{
    char *argv[WORDS + 2] = {(char *)(uintptr_t)command->name}, *got = NULL;
    size_t size;
    int argc = 1;
    for (; argc <= WORDS && words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    FILE *file = open_memstream(&got, &size);
    if (!file)
        tap_bail("no memory");
    struct arguments arguments;
    enum arguments_status status = arguments_read(&arguments, command, argc, argv, file);
    if (status == ARGUMENTS_HELP)
        fputs("help", file);
    if (status == ARGUMENTS_FINE && arguments.word)
        fprintf(file, "word %s ", arguments.word);
    for (size_t i = 1; status == ARGUMENTS_FINE && i < arguments.word_count; i++)
        fprintf(file, "and %s ", arguments.words[i]);
    for (size_t i = 0; status == ARGUMENTS_FINE && command->option[i].name; i++)
        if (arguments_given(&arguments, command->option[i].name))
            fprintf(file, "%s=%s ", command->option[i].name, arguments_value(&arguments, command->option[i].name));
    for (int i = 0; status == ARGUMENTS_FINE && arguments.rest != argv && i < arguments.rest_count; i++)
        fprintf(file, "rest %s ", arguments.rest[i]);
    fclose(file);
    got[strcspn(got, "\n")] = 0;
    return got;
}

static const struct {
    const struct command *command;
    const char *words[WORDS], *want;
} cases[] = {
    {&frob, {"x"}, "word x "},
    {&frob, {"-"}, "word - "},
    {&frob, {"x", "--seed", "7"}, "word x --seed=7 "},
    {&frob, {"--seed=7", "x"}, "word x --seed=7 "},
    {&frob, {"--seed=", "x"}, "word x --seed= "},
    {&frob, {"--seed", "1", "--seed=2", "x"}, "word x --seed=2 "},
    {&frob, {"--seed", "--quiet", "x"}, "word x --seed=--quiet "},
    {&frob, {"x", "--leaks", "no"}, "word x --leaks=no "},
    {&frob, {"x", "--at=12"}, "word x --at=12 "},
    {&frob, {"x", "-q"}, "word x --quiet= "},
    {&frob, {"x", "-q", "--quiet"}, "word x --quiet= "},
    {&frob, {"x", "-o", "y"}, "word x -o=y "},
    {&frob, {"--", "-q"}, "word -q "},
    {&frob, {"-q", "--words", "--seed", "x"}, "--quiet= --words= rest --seed rest x "},
    {&frob, {"x", "--help"}, "help"},
    {&frob, {"-h"}, "help"},
    {&frob, {NULL}, "cuvmm frob: which file?"},
    {&frob, {"--"}, "cuvmm frob: which file?"},
    {&frob, {"x", "y"}, "cuvmm frob: one FILE at a time; \"y\" is a second"},
    {&frob, {"x", "--seed"}, "cuvmm frob: --seed needs an N, for example 7"},
    {&frob, {"x", "-o"}, "cuvmm frob: -o needs an OUT"},
    {&frob, {"x", "-o=y"}, "cuvmm frob: unknown option \"-o=y\"; is \"-o\" meant?"},
    {&frob, {"x", "--quiet=1"}, "cuvmm frob: unknown option \"--quiet=1\"; is \"--quiet\" meant?"},
    {&frob, {"x", "--sed"}, "cuvmm frob: unknown option \"--sed\"; is \"--seed\" meant?"},
    {&frob, {"x", "--frobnicate"}, "cuvmm frob: unknown option \"--frobnicate\"; there is no more"},
    {&frob, {"x", "--leaks=ye"}, "cuvmm frob: --leaks wants yes or no, not \"ye\""},
    {&frob, {"x", "--leaks"}, "cuvmm frob: --leaks wants yes or no"},
    {&frob, {"x", "-q", "--loud"}, "cuvmm frob: --quiet and --loud exclude each other; give one"},
    {&bare, {"-o", "x"}, "-o=x "},
    {&bare, {NULL}, "cuvmm bare: where to?"},
    {&bare, {"x"}, "cuvmm bare: unknown argument \"x\""},
    {&runs, {"ls", "--quiet", "x"}, "word ls rest ls rest --quiet rest x "},
    {&runs, {"--quiet", "ls", "--help"}, "word ls --quiet= rest ls rest --help "},
    {&runs, {"--", "--quiet"}, "word --quiet rest --quiet "},
    {&runs, {"--help", "ls"}, "help"},
    {&runs, {"--quiet"}, "cuvmm runs: which program?"},
    {&many, {"a", "-o", "x", "b", "--", "-c"}, "word a and b and -c -o=x "},
    {&many, {"-o", "x"}, "cuvmm many: which files?"},
    {&unread, {"--anything", "x"}, ""},
    {&unread, {"--anything", "-h"}, "help"},
};

/* One argument more than fits. */
static void test_too_many(void)
{
    static char *argv[ARGUMENTS_WORDS + 3];
    static struct arguments arguments;
    char *said = NULL;
    size_t size;
    FILE *err = open_memstream(&said, &size);
    if (!err)
        tap_bail("no memory");
    for (int i = 0; i < ARGUMENTS_WORDS + 2; i++)
        argv[i] = (char *)(uintptr_t)"x";
    tap_ok(arguments_read(&arguments, &many, ARGUMENTS_WORDS + 1, argv, err) == ARGUMENTS_FINE && arguments.word_count == ARGUMENTS_WORDS,
           "as many arguments as there is room for");
    tap_ok(arguments_read(&arguments, &many, ARGUMENTS_WORDS + 2, argv, err) == ARGUMENTS_WRONG, "one more is wrong");
    fclose(err);
    tap_ok(strstr(said, "more than 1024 arguments"), "which is named");
    free(said);
}

int main(void)
{
    test_too_many();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *got = read_as(cases[i].command, cases[i].words);
        tap_text(got, cases[i].want, "%s %s %s", cases[i].command->name, cases[i].words[0] ? cases[i].words[0] : "",
                 cases[i].words[0] && cases[i].words[1] ? cases[i].words[1] : "");
        free(got);
    }
    return tap_done();
}
