/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm replay: the calls of a trace, made again. */
#include "replay.h"

#include "arguments.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    return replay_file(arguments->word, arguments_value(arguments, "--backend"), out, err);
}

const struct command command_replay = {
    .name = "replay",
    .summary = "makes the calls of a trace again and compares",
    .about = "Reads a trace that the trace layer wrote, repeats its calls and compares results, rules and outputs. Shows "
             "the first difference, with its line of the trace.",
    .argument = {.name = "TRACE|-", .missing = "which trace? Give a file, or - for standard input"},
    .option = {{.name = "--backend", .value = "SPEC", .words = WORDS_SPECS, .example = "sim:odd",
                .about = "the machine that makes the calls (sim:h100)"}},
    .examples = (const char *const[]){"CUVMM_LAYERS=trace=run.jsonl ./program && cuvmm replay run.jsonl",
                                      "cuvmm replay run.jsonl --backend sim:odd", NULL},
    .run = run,
};
