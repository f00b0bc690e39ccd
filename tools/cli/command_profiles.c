/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm profiles: the machines that the simulator knows by name. */
#include "arguments.h"
#include "profiles.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    if (arguments->word)
        return profiles_show(out, err, arguments->word) ? 0 : 2;
    profiles_list(out);
    return 0;
}

const struct command command_profiles = {
    .name = "profiles",
    .summary = "lists the simulated machines, or shows one",
    .about = "Lists the machines that the simulator knows by name, or shows the text of one. A file with such a text defines a "
             "machine of your own.",
    .argument = {.name = "NAME", .words = WORDS_PROFILES},
    .examples = (const char *const[]){"cuvmm profiles",
                                      "cuvmm profiles odd > mine.profile && cuvmm run my.vmm --backend sim:./mine.profile", NULL},
    .run = run,
};
