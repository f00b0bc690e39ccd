/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm help: these descriptions, as text or as a manual page. */
#include "arguments.h"
#include "cuvmm.h"
#include "help.h"
#include "manual.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    if (arguments_given(arguments, "--man")) {
        manual(out);
    } else if (!arguments->word) {
        help_overview(out);
    } else {
        const struct command *command = command_find(arguments->word);
        if (!command)
            return cuvmm_unknown(err, arguments->word);
        help_command(out, command);
    }
    return 0;
}

const struct command command_help = {
    .name = "help",
    .summary = "this text, or more about a command",
    .about = "Prints an overview, or the full description of one command.",
    .argument = {.name = "COMMAND", .words = WORDS_COMMANDS},
    .option = {{.name = "--man", .about = "all of it as a manual page, to read with man -l"}},
    .examples = (const char *const[]){"cuvmm help run", "cuvmm help --man | man -l -", NULL},
    .run = run,
};
