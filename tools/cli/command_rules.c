/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm rules: the rule book. */
#include "arguments.h"
#include "explain.h"

static enum rulebook_format format_of(const struct arguments *arguments)
{
    return arguments_given(arguments, "--markdown") ? RULEBOOK_MARKDOWN
         : arguments_given(arguments, "--tsv")      ? RULEBOOK_TSV
         : arguments_given(arguments, "--html")     ? RULEBOOK_HTML
                                                    : RULEBOOK_TEXT;
}

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    const char *call = arguments_value(arguments, "--call");
    if (rulebook(out, format_of(arguments), call))
        return 0;
    fprintf(err, "cuvmm rules: no rule belongs to \"%.60s\"; `cuvmm rules --tsv | cut -f 2 | uniq` lists the calls\n",
            call ? call : "");
    return 2;
}

const struct command command_rules = {
    .name = "rules",
    .summary = "lists every rule; documents, measurements and our choices apart",
    .about = "Lists the rules in the order in which each call checks them.",
    .option = {{.name = "--html", .group = 'f', .about = "as one page with a search box, for a browser; it needs no network"},
               {.name = "--markdown", .group = 'f', .about = "as a book (docs/rulebook.md is this)"},
               {.name = "--tsv", .group = 'f', .about = "one rule a line, columns separated by tabs"},
               {.name = "--call", .value = "CALL", .words = WORDS_CALLS, .example = "cuMemMap",
                .about = "only the rules of one call, by the driver's name"}},
    .examples = (const char *const[]){"cuvmm rules --call cuMemMap", "cuvmm rules --tsv | cut -f 1,4", NULL},
    .run = run,
};
