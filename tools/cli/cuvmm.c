/* SPDX-License-Identifier: Apache-2.0 */
#include "cuvmm.h"

#include <string.h>

#include "arguments.h"
#include "command.h"
#include "help.h"
#include "text.h"
#include "vmm.h"

int cuvmm_unknown(FILE *err, const char *name)
{
    const struct command *command;
    const char *near = NULL;
    for (size_t i = 0; (command = command_at(i)); i++)
        if (text_distance(name, command->name, 2) <= 2)
            near = command->name;
    fprintf(err, "cuvmm: unknown %s \"%.60s\"", name[0] == '-' ? "option" : "command", name);
    if (near)
        fprintf(err, "; is \"%s\" meant?", near);
    fputs("\n", err);
    return command_usage(err, NULL);
}

static int run(const struct command *command, int argc, char **argv, FILE *out, FILE *err)
{
    struct arguments arguments;
    switch (arguments_read(&arguments, command, argc, argv, err)) {
    case ARGUMENTS_FINE: return command->run(&arguments, out, err);
    case ARGUMENTS_HELP: help_command(out, command); return 0;
    case ARGUMENTS_WRONG: break;
    }
    return 2;
}

/* The command by whose name this program was started: "ptxas" is a link to it. NULL: its own. */
static const struct command *by_name(const char *path)
{
    return strcmp(text_base_name(path), "ptxas") == 0 ? command_find("ptxas") : NULL;
}

int cuvmm_main(int argc, char **argv, FILE *out, FILE *err)
{
    const struct command *called = argc ? by_name(argv[0]) : NULL;
    if (called)
        return run(called, argc, argv, out, err);
    if (argc < 2) {
        fprintf(err, "cuvmm: which command?\n");
        return command_usage(err, NULL);
    }
    const struct command *command = command_find(argv[1]);
    if (command)
        return run(command, argc - 1, argv + 1, out, err);
    if (strcmp(argv[1], "--version") == 0) {
        fprintf(out, "cuvmm %d.%d.%d\n", VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_overview(out);
        return 0;
    }
    return cuvmm_unknown(err, argv[1]);
}
