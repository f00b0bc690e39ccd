/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm record: what this machine's driver answers, as an archive. The work is a script, which reads its arguments itself. */
#include "arguments.h"
#include "installed_script.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    static const struct installed_script script = {"record", "CUVMM_RECORDING", "recording", "record"};
    return installed_script_start(&script, arguments->rest, out, err);
}

const struct command command_record = {
    .name = "record",
    .summary = "records the answers of this machine's driver, as a contribution",
    .about = "Runs the tests of the rules and the recording programs on this machine's driver, and packs their answers into one "
             "archive, with the model of the device and the version of the driver. Names of machines and persons, serial numbers, "
             "UUIDs, bus addresses and paths are left out; if one is still found, nothing is written. Each part "
             "runs in its own processes, so a call that ends its process is recorded as well. It takes some minutes, and "
             "the device must be otherwise idle.",
    .option = {{.name = "--output", .value = "FILE", .joined = true, .about = "the archive (cuvmm-recording-DEVICE-DRIVER.tar.gz)"},
               {.name = "--only", .value = "NAMES", .joined = true, .example = "suite,first",
                .about = "only these parts: suite, first, edges, copies, small, memops, pools, ipc, copies3d, graphs, answers"},
               {.name = "--machine", .value = "SPEC", .joined = true, .example = "sim:h100", .words = WORDS_SPECS,
                .about = "uses the simulator in place of the driver"}},
    .more = "Needs an NVIDIA device with its driver, bash, awk and GNU tar. Exit status: 1 if there is no device or nothing was "
            "written.",
    .examples = (const char *const[]){"cuvmm record", "cuvmm record --only=suite,first --output=mine.tar.gz", NULL},
    .unread = true,
    .run = run,
};
