/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm machine: the machines that processes share. */
#include "machine.h"

#include "arguments.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    return machine_show(arguments->word, arguments_given(arguments, "--json"), out, err);
}

const struct command command_machine = {
    .name = "machine",
    .summary = "shows the processes that share a simulated machine, and its memory",
    .about = "Lists the simulated machines that this user's processes share (sim:h100,machine=NAME), or shows one: which "
             "processes take part and what each of them uses privately; for each exported allocation the process and "
             "call that exported it, and its holders (handles with the call that made them, and open descriptors); and "
             "how much of each device is in use. The command "
             "changes nothing. docs/sharing.md shows a session.",
    .argument = {.name = "NAME"},
    .option = {{.name = "--json", .about = "prints JSON, for programs; needs a cuvmm built with jansson"}},
    .examples = (const char *const[]){"cuvmm machine", "cuvmm machine mine --json", NULL},
    .run = run,
};
