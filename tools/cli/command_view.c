/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm view: a trace as a page for a browser. */
#include "view.h"

#include "arguments.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    return view_files(arguments->words, arguments->word_count, arguments_value(arguments, "-o"), out, err);
}

const struct command command_view = {
    .name = "view",
    .summary = "draws a trace call by call, as a page for a browser",
    .about = "Writes one HTML file, which needs no network and no server: the calls of a trace as a timeline, and addresses, "
             "mappings, rights and physical memory as they were after any call, with refusals and warnings explained. No call "
             "is made again, so the trace of a driver is shown as well as one of the simulator. Several traces are those of the "
             "processes of one run, recorded with trace=FILE.%p: the page has a process at a time, all of them on one clock, and who "
             "exported to whom. See docs/view.md.",
    .argument = {.name = "TRACE|-", .missing = "which trace? Give a file, or - for standard input", .many = true},
    .option = {{.name = "-o", .value = "PAGE|-", .missing = "where to? Give -o FILE, or -o - for standard output",
                .about = "the file for the page; - is standard output"}},
    .examples = (const char *const[]){"CUVMM_LAYERS=trace=run.jsonl ./program; cuvmm view run.jsonl -o run.html",
                                      "CUVMM_LAYERS=trace=demo.jsonl cuvmm run conformance/corpus/demo/07-mistake-access.vmm && "
                                      "cuvmm view demo.jsonl -o demo.html",
                                      "CUVMM_LAYERS=trace=t.%p.jsonl ./processes; cuvmm view t.*.jsonl -o run.html", NULL},
    .run = run,
};
