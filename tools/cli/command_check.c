/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm check: a program of others, checked. */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

static bool wrong(FILE *err, const char *option, const char *wants, const char *value)
{
    fprintf(err, "cuvmm check: %s wants %s, not \"%.60s\"\n", option, wants, value);
    return false;
}

static bool take_exitcode(struct check_options *options, const char *value, FILE *err)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < 0 || number > 255)
        return wrong(err, "--error-exitcode", "a number from 0 to 255", value);
    options->error_exitcode = (int)number;
    return true;
}

static bool take_backend(struct check_options *options, const char *value, FILE *err)
{
    bool simulator = strcmp(value, "sim") == 0 || strncmp(value, "sim:", 4) == 0;
    if (!simulator && strcmp(value, "driver") != 0)
        return wrong(err, "--backend", "driver, sim or sim:MACHINE", value);
    options->chosen = true;
    options->driver = !simulator;
    options->machine = value[0] == 's' && value[3] == ':' ? value : NULL;
    return true;
}

static bool take(const struct arguments *arguments, struct check_options *options, FILE *err)
{
    const char *exitcode = arguments_value(arguments, "--error-exitcode"), *backend = arguments_value(arguments, "--backend");
    const char *leaks = arguments_value(arguments, "--leaks"), *log = arguments_value(arguments, "--log");
    *options = (struct check_options){.error_exitcode = -1,
                                      .leaks = !leaks || strcmp(leaks, "yes") == 0,
                                      .quiet = arguments_given(arguments, "--quiet"),
                                      .command = arguments->rest};
    if (log && !log[0])
        return wrong(err, "--log", "a file", log);
    return (!exitcode || take_exitcode(options, exitcode, err)) && (!backend || take_backend(options, backend, err)) &&
           (!log || check_log(options, log, err));
}

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    struct check_options options;
    fflush(out);
    fflush(err);
    if (!take(arguments, &options, err))
        return command_usage(err, arguments->command);
    int status = check_run(&options, err);
    free(options.log);
    return status;
}

const struct command command_check = {
    .name = "check",
    .summary = "runs a CUDA program and reports misuse, hazards and leaks of memory",
    .about = "Runs a program of the CUDA driver API, unchanged. Where there is a driver, the program runs on it, a simulator makes "
             "every memory call beside it, and every broken rule is reported; all answers are the driver's. Where there is none, "
             "the program runs on the simulator. Each finding names its rule, the object in the way, the call's place and the "
             "fix, and the last line counts them. docs/check.md shows a session and lists what is not seen.",
    .hint = "what is meant for the program comes behind its name",
    .argument = {.name = "PROGRAM", .missing = "which program?", .rest = true},
    .option = {{.name = "--error-exitcode", .value = "N", .joined = true, .example = "9",
                .about = "exit status if there are findings; the default is the program's own"},
               {.name = "--log", .value = "FILE", .joined = true,
                .about = "writes findings there and not to standard error; the file is emptied first"},
               {.name = "--leaks", .value = "yes|no", .joined = true, .about = "report what is held when a process ends (yes)"},
               {.name = "--backend", .value = "WHAT", .joined = true, .example = "sim:h100",
                .about = "driver, sim, or sim:MACHINE as in CUVMM_SIM; by default the driver, if there is one"},
               {.name = "--quiet", .alias = "-q", .about = "findings alone: no notes and no count"}},
    .more = "Exit status: the program's own, or N where anything was found; 125 where nothing was checked, with one line that "
            "gives the reason; 2 where the program cannot be started like this.",
    .examples = (const char *const[]){"cuvmm check ./my_allocator_test",
                                      "cuvmm check --error-exitcode=9 --log=check.txt ./my_allocator_test --rounds 100", NULL},
    .run = run,
};
