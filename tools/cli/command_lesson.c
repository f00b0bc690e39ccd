/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm lesson: lessons with questions. */
#include "arguments.h"
#include "lessons.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    struct lessons_request request = {.name = arguments->word,
                                      .backend = arguments_value(arguments, "--backend"),
                                      .page = arguments_given(arguments, "--page"),
                                      .ask = arguments_given(arguments, "--ask"),
                                      .all = arguments_given(arguments, "--all"),
                                      .colour = arguments_colour(out)};
    if (!request.page || request.name)
        return lessons_tell(&request, out, err);
    fprintf(err, "cuvmm lesson: which lesson's --page?\n");
    return command_usage(err, arguments->command);
}

const struct command command_lesson = {
    .name = "lesson",
    .summary = "teaches, step by step with questions; lists the lessons",
    .about = "Runs a lesson: text, calls that the machine answers, pictures, questions. LESSON is a number or a name, FILE a lesson "
             "of your own (conformance/corpus/lessons/README.md explains how to write one). On a terminal it waits for Enter "
             "between steps and for your answers to questions; q leaves. Otherwise everything is printed.",
    .argument = {.name = "LESSON|FILE", .words = WORDS_LESSONS},
    .option = {{.name = "--backend", .value = "SPEC", .words = WORDS_SPECS, .example = "sim:odd",
                .about = "the machine to use instead of the lesson's own"},
               {.name = "--page", .about = "prints the lesson's page: the same content in more detail, with the calls in C"},
               {.name = "--ask", .group = 'a', .about = "pauses and asks even if input or output is not a terminal"},
               {.name = "--all", .group = 'a', .about = "prints everything at once, even on a terminal"}},
    .examples = (const char *const[]){"cuvmm lesson", "cuvmm lesson 5", "cuvmm lesson release-order --all", NULL},
    .run = run,
};
