/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm diff-recordings: two archives of `cuvmm record`. The work is a script, which reads its arguments itself. */
#include "arguments.h"
#include "installed_script.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    static const struct installed_script script = {"diff-recordings", "CUVMM_RECORDING", "recording", "diff"};
    return installed_script_start(&script, arguments->rest, out, err);
}

const struct command command_diff_recordings = {
    .name = "diff-recordings",
    .summary = "compares recordings of two drivers, rule by rule",
    .about = "Compares two archives of `cuvmm record`, or one with this project's recording of the same kind of machine: "
             "which rule tests, and which answers of the recording programs, came out differently. Addresses and handles "
             "are compared only by the properties that they must share.",
    .usage = (const char *const[]){"A [B] [--all]", NULL},
    .option = {{.name = "--all", .about = "shows every difference, not only the first of each part"}},
    .more = "A and B are files, or names of recordings of this project: h100, h200x2. Exit status: 1 where something differs.",
    .examples = (const char *const[]){"cuvmm diff-recordings cuvmm-recording-h100-580.159.04.tar.gz",
                                      "cuvmm diff-recordings h100 h200x2", NULL},
    .unread = true,
    .run = run,
};
