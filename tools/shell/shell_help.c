/* SPDX-License-Identifier: Apache-2.0 */
/* `help` of the shell: all commands, or one with an example that could be typed now. */
#include <string.h>

#include "advice.h"
#include "shell.h"

static void list_all(FILE *out)
{
    const struct script_command *command;
    fputs("  The shell's own:\n", out);
    for (const struct shell_command *own = shell_commands; own->name; own++)
        fprintf(out, "    %-16s %s\n", own->name, own->about);
    fputs("  Everything that a script can say (docs/scripts.md):\n", out);
    for (size_t i = 0; (command = script_command(i)); i++)
        if (strcmp(command->name, "help") != 0)
            fprintf(out, "    %-16s %s\n", command->name, command->about);
    fputs("  NAME = COMMAND gives a name to what a command makes; the tabulator key completes words.\n", out);
}

static void show(struct shell *shell, const struct script_command *command)
{
    struct text example = {0};
    fprintf(shell->out, "  %s %s\n    %s%s%s\n", command->name, command->usage, command->about,
            command->driver[0] ? "; driver: " : "", command->driver);
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
        list_all(shell->out);
        return true;
    }
    const char *name = words->word[1].text;
    for (const struct shell_command *own = shell_commands; own->name; own++)
        if (strcmp(own->name, name) == 0) {
            fprintf(shell->out, "  %s %s\n    %s\n    for example: %s\n", own->name, own->usage, own->about, own->example);
            return true;
        }
    const struct script_command *command = script_command_find(name, &near);
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
