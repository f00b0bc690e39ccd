/* SPDX-License-Identifier: Apache-2.0 */
/* Every description is complete, and so is the help made from it: usage first, every option, no line too long. */
#include "help.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "text.h"

/* The output of print, which the caller frees. */
static char *printed(const struct command *command)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        tap_bail("no memory");
    if (command)
        help_command(file, command);
    else
        help_overview(file);
    fclose(file);
    return text;
}

/* Examples and usages are printed verbatim; everything else is wrapped. */
static bool fits(const char *help, size_t columns)
{
    for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > columns && !strstr(line, "cuvmm ") && strncmp(line, "  CUVMM_", 8) != 0)
            return false;
    return true;
}

static void test_options(const struct command *command, const char *help)
{
    char label[COMMAND_LABEL];
    for (const struct command_option *option = command->option; option->name; option++) {
        command_option_label(option, label);
        bool once = true;
        for (const struct command_option *other = command->option; other < option; other++)
            once = once && strcmp(other->name, option->name) != 0;
        tap_ok(option->about && once && strstr(help, label) && strlen(label) + 1 < COMMAND_LABEL, "%s %s is described, once",
               command->name, option->name);
    }
}

static void test_command(const struct command *command, const char *overview)
{
    char label[64];
    char *help = printed(command);
    snprintf(label, sizeof label, "cuvmm %s", command->name);
    tap_ok(strncmp(help, label, strlen(label)) == 0, "%s: its text begins with its usage", command->name);
    snprintf(label, sizeof label, "\n  cuvmm %s", command->name);
    tap_ok(strstr(overview, label) != NULL, "%s is in the overview", command->name);
    tap_ok(command->about && command->summary && command->examples && command->examples[0] && strstr(help, command->examples[0]),
           "%s has a description and an example", command->name);
    tap_ok(command_find(command->name) == command, "%s is found by its name", command->name);
    tap_ok(fits(help, text_columns()), "%s: lines fit", command->name);
    test_options(command, help);
    free(help);
}

/* A command that shows each form. */
static bool one_item(size_t index, struct command_item *item)
{
    *item = (struct command_item){"word", "its meaning"};
    return index == 0;
}

static const struct command frob = {
    .name = "frob",
    .about = "Frobs.\nThen goes on.",
    .argument = {.name = "FILE|-", .missing = "which?"},
    .option = {{.name = "--seed", .value = "N", .about = "the first"},
               {.name = "--leaks", .value = "yes|no", .joined = true, .about = "a choice"},
               {.name = "--a-name-that-is-much-longer", .value = "VALUE", .group = 'q', .about = "below"},
               {.name = "--quiet", .alias = "-q", .group = 'q', .about = "less"},
               {.name = "-o", .value = "OUT", .missing = "where?", .about = "where to"}},
    .more = "The end.",
    .examples = (const char *const[]){"cuvmm frob  --seed 7", NULL},
    .list = "Words",
    .item = one_item,
};

static void test_forms(void)
{
    char *help = printed(&frob);
    tap_text(help,
             "cuvmm frob FILE|- -o OUT [--seed N] [--leaks=yes|no] [--a-name-that-is-much-longer VALUE|--quiet]\n\nFrobs.\nThen goes on.\n\n"
             "  --seed N         the first\n"
             "  --leaks=yes|no   a choice\n"
             "  --a-name-that-is-much-longer VALUE\n"
             "                   below\n"
             "  --quiet, -q      less\n"
             "  -o OUT           where to\n"
             "\nThe end.\n\nExamples:\n  cuvmm frob  --seed 7\n\nWords:\n  word             its meaning\n",
             "every form of a description");
    free(help);
}

/* On a narrow terminal an option's description wraps within its column. */
static void test_narrow(void)
{
    size_t before = text_columns();
    text_set_columns(60);
    char *help = printed(command_find("run"));
    tap_ok(fits(help, 60) && strstr(help, "\n                   "), "60 columns are enough");
    tap_ok(strncmp(help, "cuvmm run FILE|- [options]\n", 27) == 0, "a usage does not name many options");
    free(help);
    text_set_columns(before);
}

int main(void)
{
    const struct command *command;
    char *overview = printed(NULL);
    tap_ok(fits(overview, text_columns()) && strstr(overview, help_title), "the overview begins with what cuvmm is");
    for (size_t i = 0; (command = command_at(i)); i++)
        test_command(command, overview);
    free(overview);
    tap_ok(!command_find("frob"), "no description for what is not a command");
    test_forms();
    test_narrow();
    return tap_done();
}
