/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm shell: the same lines at a prompt. */
#include <string.h>

#include "arguments.h"
#include "shell.h"

static bool colour(const char *when, FILE *out)
{
    return when && strcmp(when, "auto") != 0 ? strcmp(when, "always") == 0 : arguments_colour(out);
}

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    struct script_options options = {.draw = true,
                                     .trusted = true,
                                     .colour = colour(arguments_value(arguments, "--color"), out),
                                     .backend = arguments_value(arguments, "--backend"),
                                     .addresses = arguments_given(arguments, "--addresses"),
                                     .brief = arguments_given(arguments, "--brief")};
    return shell_main(&options, out, err);
}

const struct command command_shell = {
    .name = "shell",
    .summary = "reads the same lines at a prompt, with undo, and saves them, also as C",
    .about = "Reads the lines of a script at a prompt and answers each: the driver's call, what came of it, what to type instead "
             "where it was refused, and the picture where it changed. `undo` takes steps back, `save FILE.vmm` and `save FILE.c` "
             "keep them. On a terminal, lines can be edited, recalled and completed; other input is read as it is. docs/shell.md",
    .hint = "lines are read from standard input",
    .option = {{.name = "--backend", .value = "SPEC", .words = WORDS_SPECS, .example = "sim:h100",
                .about = "the machine: sim:h100 (default), sim:h200x2, ..., or cuda for the machine's driver"},
               {.name = "--color", .value = "always|never|auto", .joined = true,
                .about = "colours always, never, or on terminals (auto, and not where NO_COLOR is set)"},
               {.name = "--addresses", .about = "shows raw addresses and handles too"},
               {.name = "--brief", .about = "prints one line for a refusal or warning"}},
    .more = "The exit status of other input is 1 when a line was a mistake or could not be done; a refused call is neither.",
    .examples = (const char *const[]){"cuvmm shell", "cuvmm shell --backend sim:odd,strict",
                                      "printf 'init\\nr = reserve 4gran\\nsave mine.c\\n' | cuvmm shell", NULL},
    .run = run,
};
