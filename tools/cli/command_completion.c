/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm completion: what a shell needs to complete this command's words. */
#include "completion.h"

#include "arguments.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    if (arguments_given(arguments, "--words")) {
        completion_words(out, arguments->rest_count, arguments->rest);
        return 0;
    }
    if (completion_script(out, arguments->word))
        return 0;
    fprintf(err, "cuvmm completion: no completion for \"%.60s\"; choose", arguments->word);
    const char *name;
    for (size_t i = 0; (name = completion_shell(i)); i++)
        fprintf(err, " %s", name);
    fputs("\n", err);
    return command_usage(err, arguments->command);
}

const struct command command_completion = {
    .name = "completion",
    .summary = "prints the shell code that completes this command's words",
    .about = "Prints the completion of the command line for SHELL: bash, zsh or fish. `make install` puts it where shells look "
             "for it.",
    .usage = (const char *const[]){"SHELL", "--words [WORD ...]", NULL},
    .argument = {.name = "SHELL", .words = WORDS_SHELLS, .missing = "which SHELL: bash, zsh or fish?"},
    .option = {{.name = "--words", .value = "[WORD ...]", .rest = true,
                .about = "prints the completions of the last WORD after `cuvmm`, one per line, each with a tab and a "
                         "description"}},
    .examples = (const char *const[]){"source <(cuvmm completion bash)",
                                      "cuvmm completion fish > ~/.config/fish/completions/cuvmm.fish",
                                      "cuvmm completion --words explain VMM-MAP", NULL},
    .run = run,
};
