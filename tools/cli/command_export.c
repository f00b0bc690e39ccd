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
        fprintf(err, "cuvmm export: --at=%.60s: only the format dot is of one call; the others show all\n", request.at);
    else if (request.format == EXPORT_BINARY && (!request.file || strcmp(request.file, "-") == 0))
        fputs("cuvmm export: --format=binary is written in a file, not through a pipe: give -o FILE\n", err);
    else
        return export_file(&request, out, err);
    return command_usage(err, arguments->command);
}

const struct command command_export = {
    .name = "export",
    .summary = "writes a trace for Perfetto, PyTorch's memory_viz or Graphviz, or in its other form",
    .about = "Writes a trace in a format that others have viewers for, or in the other one of its two forms, into FILE or to standard output. FILE stays as it was until "
             "the new one is whole. docs/export.md shows what each viewer makes of it.\n"
             "chrome: lives of reservations, memory and mappings on tracks, calls, and bytes per device; JSON for ui.perfetto.dev "
             "or chrome://tracing.\n"
             "memory-viz: mapped memory over time as PyTorch records it; a pickle for pytorch.org/memory_viz.\n"
             "dot: the objects at one call and what holds what; for Graphviz.\n"
             "lines: the trace's readable form, a call a line of JSON. binary: the form of trace=FILE.vtrace, which is written and "
             "read many times as fast; -o FILE names its file. Both ways give the same bytes again.",
    .argument = {.name = "TRACE|-", .missing = "which TRACE? Give a file, or - for standard input"},
    .option = {{.name = "--format", .value = "chrome|memory-viz|dot|lines|binary", .joined = true,
                .about = "the format to write, as described above",
                .missing = "which format? --format=chrome, --format=memory-viz, --format=dot, --format=lines or --format=binary"},
               {.name = "-o", .value = "FILE", .about = "the file to write, in the place of standard output"},
               {.name = "--at", .value = "CALL|error", .joined = true,
                .about = "with dot: behind the call of this number, not behind the last one; --at=error: behind the first call "
                         "that was refused"}},
    .examples = (const char *const[]){"CUVMM_LAYERS=trace=run.jsonl ./program && cuvmm export run.jsonl --format=chrome -o run.json",
                                      "cuvmm export run.jsonl --format=dot --at=error | dot -Tsvg > run.svg",
                                      "cuvmm export run.vtrace --format=lines | grep mem_map", NULL},
    .run = run,
};
