/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm view: a trace as a page for a browser. */
#include "view.h"

#include "arguments.h"
#include "options.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    const char *port = arguments_value(arguments, "--port");
    struct view_request request = {.trace = arguments->words, .count = arguments->word_count, .page = arguments_value(arguments, "-o"),
                                   .calls = arguments_value(arguments, "--calls")};
    uint64_t number = 0;
    if (!request.page && !arguments_given(arguments, "--serve"))
        fputs("cuvmm view: where to? Give -o FILE, -o - for standard output, or --serve\n", err);
    else if (request.calls && !request.page)
        fputs("cuvmm view: --calls is for a page in a file, -o FILE; one that is served has all of them\n", err);
    else if (port && request.page)
        fputs("cuvmm view: --port is for a page that is served, --serve\n", err);
    else if (!port || options_number(err, "cuvmm view: --port", port, 0, UINT16_MAX, &number)) {
        request.port = (uint16_t)number;
        return view_files(&request, out, err);
    }
    return command_usage(err, arguments->command);
}

const struct command command_view = {
    .name = "view",
    .summary = "draws a trace call by call, as a page for a browser",
    .about = "Writes one HTML file, which needs no network and no server: the calls of a trace as a timeline, and addresses, "
             "mappings, rights and physical memory as they were after any call, with refusals and warnings explained. No call "
             "is made again, so the trace of a driver is shown as well as one of the simulator. Several traces are those of the "
             "processes of one run, recorded with trace=FILE.%p: the page has a process at a time, all of them on one clock, and who "
             "exported to whom. A trace of millions of calls is larger than a page: --serve lets a browser of this machine look at all "
             "of it, and --calls puts a part of it into a file. See docs/view.md.",
    .argument = {.name = "TRACE|-", .missing = "which trace? Give a file, or - for standard input", .many = true},
    .option = {{.name = "-o", .value = "PAGE|-", .about = "the file for the page; - is standard output", .group = 'w'},
               {.name = "--serve", .about = "serves the page to a browser of this machine, until it is ended; prints its address", .group = 'w'},
               {.name = "--calls", .value = "FIRST-LAST", .joined = true, .about = "with -o: these calls alone, counted from 1"},
               {.name = "--port", .value = "N", .joined = true, .about = "with --serve: the port, in the place of any that is free"}},
    .examples = (const char *const[]){"CUVMM_LAYERS=trace=run.jsonl ./program; cuvmm view run.jsonl -o run.html",
                                      "CUVMM_LAYERS=trace=demo.jsonl cuvmm run conformance/corpus/demo/07-mistake-access.vmm && "
                                      "cuvmm view demo.jsonl -o demo.html",
                                      "CUVMM_LAYERS=trace=t.%p.jsonl ./processes; cuvmm view t.*.jsonl -o run.html",
                                      "CUVMM_LAYERS=trace=run.vtrace ./training; cuvmm view run.vtrace --serve", NULL},
    .run = run,
};
