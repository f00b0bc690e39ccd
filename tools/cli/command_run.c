/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm run: a script from a file. */
#include "arguments.h"
#include "script.h"

static bool item(size_t index, struct command_item *item)
{
    const struct script_command *command = script_command(index);
    if (command)
        *item = (struct command_item){command->name, command->about};
    return command != NULL;
}

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    struct script_options options = {.out = out,
                                     .err = err,
                                     .colour = arguments_colour(out),
                                     .backend = arguments_value(arguments, "--backend"),
                                     .draw = arguments_given(arguments, "--draw"),
                                     .keep_going = arguments_given(arguments, "--keep-going"),
                                     .quiet = arguments_given(arguments, "--quiet"),
                                     .brief = arguments_given(arguments, "--brief"),
                                     .addresses = arguments_given(arguments, "--addresses"),
                                     .trusted = arguments_given(arguments, "--trust")};
    return script_run_file(arguments->word, &options);
}

const struct command command_run = {
    .name = "run",
    .summary = "runs a script of calls, explained and drawn step by step",
    .about = "Runs a script, one command a line; '-' is standard input. Every step prints the driver's call that it stands for "
             "and what came of it. docs/scripts.md is the language's reference.",
    .argument = {.name = "FILE|-", .missing = "which script? Give a FILE, or - for standard input"},
    .option = {{.name = "--backend", .value = "SPEC", .words = WORDS_SPECS, .example = "sim:h100",
                .about = "the machine: sim:h100 (default), sim:h200x2, sim:odd,strict, ..., or cuda for the machine's driver; wins "
                         "over the script's own `backend` line"},
               {.name = "--draw", .about = "draws addresses, memory and handles after every step that changes them"},
               {.name = "--keep-going", .about = "goes on after a failure; the exit status still reports it"},
               {.name = "--quiet", .about = "prints only what the script asks for: echo, note, title, draw, leaks, explain"},
               {.name = "--brief", .about = "prints one line for a refusal or warning"},
               {.name = "--addresses", .about = "shows raw addresses and handles too; they differ from machine to machine"},
               {.name = "--trust",
                .about = "lets the script's own `backend` line write a file (trace=FILE) and load a library (cuda:FILE)"}},
    .examples = (const char *const[]){"cuvmm run conformance/corpus/demo/01-create.vmm --draw",
                                      "cuvmm run my.vmm --backend sim:odd,strict", NULL},
    .list = "Commands of the language",
    .item = item,
    .run = run,
};
