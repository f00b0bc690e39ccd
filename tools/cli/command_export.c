/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm export: converts a trace to formats that other tools can view. */
#include "export.h"

#include <string.h>

#include "arguments.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    struct export_request request = {.trace = arguments->word,
                                     .file = arguments_value(arguments, "-o"),
                                     .at = arguments_value(arguments, "--at"),
                                     .format = export_format(arguments_value(arguments, "--format"))};
    if (request.at && request.format != EXPORT_DOT)
        fprintf(err, "cuvmm export: --at=%.60s: only the format dot shows a single call; the others show all\n", request.at);
    else if (request.format == EXPORT_BINARY && (!request.file || strcmp(request.file, "-") == 0))
        fputs("cuvmm export: --format=binary needs a file, not a pipe: give -o FILE\n", err);
    else
        return export_file(&request, out, err);
    return command_usage(err, arguments->command);
}

const struct command command_export = {
    .name = "export",
    .summary = "converts a trace for Perfetto, PyTorch's memory_viz or Graphviz, or into its other form",
    .about = "Converts a trace to a format that other tools can view, or to the other of its own two forms, and writes it to "
             "FILE or standard output. FILE stays as it was until "
             "the new one is whole. docs/export.md shows what each viewer makes of it.\n"
             "chrome: lives of reservations, memory and mappings on tracks, calls, and bytes per device; JSON for ui.perfetto.dev "
             "or chrome://tracing.\n"
             "memory-viz: mapped memory over time as PyTorch records it; a pickle for pytorch.org/memory_viz.\n"
             "dot: the objects at one call and what holds what; for Graphviz.\n"
             "lines: the trace's readable form, a call a line of JSON. binary: the form of trace=FILE.vtrace, which is written and "
             "read many times as fast; -o FILE names its file. A round trip reproduces the same bytes.",
    .argument = {.name = "TRACE|-", .missing = "which TRACE? Give a file, or - for standard input"},
    .option = {{.name = "--format", .value = "chrome|memory-viz|dot|lines|binary", .joined = true,
                .about = "the format to write, as described above",
                .missing = "which format? --format=chrome, memory-viz, dot, lines or binary"},
               {.name = "-o", .value = "FILE", .about = "the file to write, instead of standard output"},
               {.name = "--at", .value = "CALL|error", .joined = true,
                .about = "with dot: the state after the call with this number instead of the last one; --at=error: after the "
                         "first refused call"}},
    .examples = (const char *const[]){"CUVMM_LAYERS=trace=run.jsonl ./program && cuvmm export run.jsonl --format=chrome -o run.json",
                                      "cuvmm export run.jsonl --format=dot --at=error | dot -Tsvg > run.svg",
                                      "cuvmm export run.vtrace --format=lines | grep mem_map", NULL},
    .run = run,
};
