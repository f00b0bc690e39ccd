/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts taken apart: lines of every kind, options in every form; then every text there is. */
#include "help_parts.h"

#include <stdio.h>
#include <string.h>

#include "cuvmm.h"
#include "tap.h"

static const char text[] = "cuvmm frob [--seed N]\n"
                           "           [--quiet]\n"
                           "\n"
                           "Frobs - what there is.\n"
                           "\n"
                           "  --seed N   the first;\n"
                           "             a number\n"
                           "  --very-long VALUE\n"
                           "             what it is\n"
                           "Words:\n"
                           "\n"
                           "Examples:\n"
                           "  cuvmm frob  --seed 7\n"
                           "\n"
                           "The end";

static void test_lines(void)
{
    static const struct {
        enum help_kind kind;
        const char *label, *text;
    } want[] = {
        {HELP_USAGE, "", "cuvmm frob [--seed N]"}, {HELP_USAGE, "", "[--quiet]"},        {HELP_BLANK, "", ""},
        {HELP_TEXT, "", "Frobs - what there is."}, {HELP_BLANK, "", ""},                 {HELP_ITEM, "--seed N", "the first;"},
        {HELP_MORE, "", "a number"},               {HELP_ITEM, "--very-long VALUE", ""}, {HELP_MORE, "", "what it is"},
        {HELP_HEADING, "", "Words:"},              {HELP_BLANK, "", ""},                 {HELP_HEADING, "", "Examples:"},
        {HELP_EXAMPLE, "", "cuvmm frob  --seed 7"}, {HELP_BLANK, "", ""},                {HELP_TEXT, "", "The end"},
    };
    struct help_reader reader = {.at = text};
    struct help_line line;
    size_t i = 0;
    for (; help_next(&reader, &line) && i < sizeof want / sizeof want[0]; i++)
        tap_ok(line.kind == want[i].kind && span_is(line.label, want[i].label) && span_is(line.text, want[i].text),
               "line %zu: kind %d, \"%.*s\", \"%.*s\"", i, (int)line.kind, (int)line.label.length, line.label.at,
               (int)line.text.length, line.text.at);
    tap_u64(i, sizeof want / sizeof want[0], "all lines, and no more");
}

static void test_options(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"cuvmm frob [--seed N] [--quiet]", "--seed N/--quiet/"},
        {"--leaks=no|yes   tell", "--leaks=no|yes/"},
        {"--error-exitcode=N", "--error-exitcode=N/"},
        {"--quiet, -q", "--quiet/-q/"},
        {"[--markdown|--tsv] -o PAGE|-", "--markdown/--tsv/-o PAGE|-/"},
        {"--ask|--all", "--ask/--all/"},
        {"--draw draws", "--draw/"},
        {"cuvmm check [options] [--] PROGRAM", ""},
        {"FILE|-", ""},
        {"well-known VMM-MAP-OVERLAP", ""},
        {"--open=", "--open=/"},
        {"-", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct span whole = {cases[i].text, strlen(cases[i].text)};
        struct help_option option;
        char got[200] = "";
        for (size_t at = 0; help_option_next(whole, &at, &option);)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s%s%.*s/", (int)option.name.length, option.name.at,
                     option.joined ? "=" : option.value.length ? " " : "", (int)option.value.length, option.value.at);
        tap_text(got, cases[i].want, "options of \"%s\"", cases[i].text);
    }
}

/* Every command has a text that begins with how it is called, and its line in the general one. */
static void test_all(void)
{
    const char *name;
    char label[64];
    for (size_t i = 0; (name = cuvmm_command(i)); i++) {
        const char *help = help_text(name);
        snprintf(label, sizeof label, "cuvmm %s", name);
        tap_ok(help && strncmp(help, label, strlen(label)) == 0, "%s: its text begins with its usage", name);
        snprintf(label, sizeof label, "\n  cuvmm %s", name);
        tap_ok(strstr(help_text(NULL), label) != NULL, "%s stands in the general text", name);
    }
    tap_ok(!help_text("frob"), "no text for what is no command");
}

int main(void)
{
    test_lines();
    test_options();
    test_all();
    return tap_done();
}
