/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm explain: explains a rule or a result. */
#include "explain.h"

#include "arguments.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    static const struct {
        const char *option;
        enum example_part part;
    } parts[] = {{"--broken", EXAMPLE_BROKEN}, {"--corrected", EXAMPLE_CORRECTED}, {"--machine", EXAMPLE_MACHINE}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (arguments_given(arguments, parts[i].option))
            return explain_example(out, err, arguments->word, parts[i].part) ? 0 : 2;
    return explain(out, err, arguments->word) ? 0 : 2;
}

const struct command command_explain = {
    .name = "explain",
    .summary = "explains what a rule or a result code means and what to do about it",
    .about = "Explains what a rule requires, why, what the documentation says, what each recorded machine answered, and the fix, "
             "with a script that breaks the rule and its correction. For a result, by name or number: its meaning and the "
             "rules that return it.",
    .argument = {.name = "RULE|RESULT", .missing = "which RULE, result or number?", .words = WORDS_RULES | WORDS_RESULTS},
    .option = {{.name = "--broken", .group = 'p', .about = "only the script that breaks the rule"},
               {.name = "--corrected", .group = 'p', .about = "only its correction"},
               {.name = "--machine", .group = 'p',
                .about = "only the machine that both need, to save as my.profile; most need none"}},
    .examples = (const char *const[]){"cuvmm explain VMM-FREE-MAPPED", "cuvmm explain VMM-FREE-MAPPED --broken | cuvmm run -",
                                      "cuvmm explain CUDA_ERROR_INVALID_VALUE", "cuvmm explain 801", NULL},
    .run = run,
};
