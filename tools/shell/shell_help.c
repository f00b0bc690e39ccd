/* SPDX-License-Identifier: Apache-2.0 */
/* `help` of the shell: commands in groups, one group, or one command with an example that would work now. */
#include <string.h>

#include "advice.h"
#include "shell.h"

/* "  addresses    reserve free map ..." in lines of the terminal's width. */
static void list_names(FILE *out, const struct script_group *group)
{
    enum { TEXT = 15 };
    struct text names = {0};
    for (const struct script_command *command = group->commands; command->name; command++)
        if (strcmp(command->name, "help") != 0)
            text_add(&names, "%s%s", names.length ? " " : "", command->name);
    fprintf(out, "    %-10s ", group->name);
    text_wrap(out, names.data ? names.data : "", TEXT, TEXT, text_columns());
    fputs("\n", out);
    text_free(&names);
}

static void list_groups(FILE *out)
{
    static const char how[] = "help COMMAND shows one with an example, help GROUP describes those of a group, help all lists "
                              "everything. NAME = COMMAND names what a command makes; the Tab key completes words.";
    enum { TEXT = 28 };
    static const char *const first[][2] = {{"init", "the first call of every program"},
                                           {"r = reserve 4gran", "addresses without memory behind them"},
                                           {"h = create 2gran dev0", "memory of device 0"},
                                           {"map r 2gran h", "the memory at the addresses"},
                                           {"access r 2gran dev0:rw", "now device 0 has access to it"},
                                           {"fill r 1gran 7", "fills its bytes"}};
    const struct script_group *group;
    fputs("  To begin with:\n", out);
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        fprintf(out, "    %-23s ", first[i][0]);
        text_wrap(out, first[i][1], TEXT, TEXT, text_columns());
        fputs("\n", out);
    }
    fputs("  The shell's own:\n   ", out);
    for (const struct shell_command *own = shell_commands; own->name; own++)
        fprintf(out, " %s", own->name);
    fputs("\n  Commands of scripts (docs/scripts.md), in groups:\n", out);
    for (size_t i = 0; (group = script_group(i)); i++)
        list_names(out, group);
    fputs("  ", out);
    text_wrap(out, how, 2, 2, text_columns());
    fputs("\n", out);
}

static void list_group(FILE *out, const struct script_group *group)
{
    fprintf(out, "  %s: %s\n", group->name, group->about);
    for (const struct script_command *command = group->commands; command->name; command++)
        script_print_command(out, 4, command->name, command->about);
}

static bool list_named(FILE *out, const char *name)
{
    const struct script_group *group;
    bool all = strcmp(name, "all") == 0, found = false;
    if (all)
        fputs("  the shell's own\n", out);
    for (const struct shell_command *own = shell_commands; all && own->name; own++)
        script_print_command(out, 4, own->name, own->about);
    for (size_t i = 0; (group = script_group(i)); i++)
        if (all || strcmp(group->name, name) == 0) {
            list_group(out, group);
            found = true;
        }
    return found;
}

static void show(struct shell *shell, const struct script_command *command)
{
    struct text example = {0};
    script_print_usage(shell->out, command);
    if (strncmp(command->name, "check", 5) != 0)
        advice_example(shell->session.script, command, &example);
    if (example.data)
        fprintf(shell->out, "    for example: %s", example.data);
    text_free(&example);
}

bool shell_help(struct shell *shell, const struct words *words)
{
    const struct script_command *near, *check;
    if (words->count == 1) {
        list_groups(shell->out);
        return true;
    }
    const char *name = words->word[1].text;
    for (const struct shell_command *own = shell_commands; own->name; own++)
        if (strcmp(own->name, name) == 0) {
            fprintf(shell->out, "  %s %s\n    %s\n    for example: %s\n", own->name, own->usage, own->about, own->example);
            return true;
        }
    const struct script_command *command = script_command_find(name, &near);
    if (!command && list_named(shell->out, name))
        return true;
    if (!command)
        command = script_command_of_call(name);
    if (!command)
        return shell_wrong(shell, "there is no command \"%.40s\"%s%s%s", name, near ? "; did you mean " : "; help lists them",
                           near ? near->name : "", near ? "?" : "");
    show(shell, command);
    for (size_t i = 0; strcmp(name, "check") == 0 && (check = script_check(i)); i++)
        show(shell, check);
    return true;
}
