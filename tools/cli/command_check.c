/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm check: runs and checks a user's program. */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "check_log.h"
#include "kernel_log.h"

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

static bool take_log(const struct arguments *arguments, struct check_options *options, FILE *err)
{
    const char *file = arguments_value(arguments, "--log-file"), *log = file ? file : arguments_value(arguments, "--log");
    if (log && !log[0])
        return wrong(err, file ? "--log-file" : "--log", "a file", log);
    return !log || check_log(options, log, err);
}

static bool is_file(const struct arguments *arguments, const char *option, const char **file, FILE *err)
{
    *file = arguments_value(arguments, option);
    return !*file || (*file)[0] || wrong(err, option, "a file", *file);
}

/* The files of suppressions. The list is freed by the caller. */
static bool take_suppressions(const struct arguments *arguments, struct check_options *options, FILE *err)
{
    const char **list = NULL, *file;
    int at = 0;
    while ((file = arguments_next_value(arguments, "--suppressions", &at))) {
        const char **larger = realloc(list, (options->suppression_count + 1) * sizeof *larger);
        if (!larger || !file[0]) {
            free(larger ? larger : list);
            options->suppression_count = 0;
            return wrong(err, "--suppressions", "a file", file);
        }
        list = larger;
        list[options->suppression_count++] = file;
    }
    options->suppression = list;
    return true;
}

/* --growth, --trace, --recorder, --history */
static bool take_watch(const struct arguments *arguments, struct check_watch *watch, FILE *err)
{
    const char *growth = arguments_value(arguments, "--growth"), *history = arguments_value(arguments, "--history");
    const char *trace = arguments_value(arguments, "--trace"), *recorder = arguments_value(arguments, "--recorder");
    char *end = NULL;
    long steps = growth ? strtol(growth, &end, 10) : 0;
    if (growth && strcmp(growth, "no") != 0 && strcmp(growth, "own") != 0 && (*end || steps < 2 || steps > 1000))
        return wrong(err, "--growth", "own, no, or a number of consecutive marks, from 2 to 1000", growth);
    if (history && (!kernel_log_address(history, &watch->history) || !watch->history))
        return wrong(err, "--history", "an address such as 0x302000000, or a line of a log that contains one", history);
    watch->growth = growth;
    return (!trace || check_watch_file("--trace", trace, watch->trace, err)) &&
           (!recorder || check_watch_file("--recorder", recorder, watch->recorder, err));
}

static bool take(const struct arguments *arguments, struct check_options *options, FILE *err)
{
    const char *exitcode = arguments_value(arguments, "--error-exitcode"), *backend = arguments_value(arguments, "--backend");
    const char *leaks = arguments_value(arguments, "--leaks"), *stacks = arguments_value(arguments, "--stacks");
    const char *order = arguments_value(arguments, "--order");
    *options = (struct check_options){.error_exitcode = -1,
                                      .leaks = !leaks || strcmp(leaks, "no") != 0,
                                      .all_leaks = leaks && strcmp(leaks, "full") == 0,
                                      .stacks = !stacks || stacks[0] == 's' ? CHECK_STACKS_SHORT
                                                : stacks[0] == 'n'          ? CHECK_STACKS_NONE
                                                                            : CHECK_STACKS_FULL,
                                      .order = !order || strcmp(order, "yes") == 0,
                                      .unwritten = arguments_given(arguments, "--unwritten"),
                                      .quiet = arguments_given(arguments, "--quiet"),
                                      .gen_suppressions = arguments_given(arguments, "--gen-suppressions"),
                                      .github = arguments_given(arguments, "--github"),
                                      .command = arguments->rest};
    return (!exitcode || take_exitcode(options, exitcode, err)) && (!backend || take_backend(options, backend, err)) &&
           is_file(arguments, "--json", &options->json, err) && is_file(arguments, "--sarif", &options->sarif, err) &&
           is_file(arguments, "--junit", &options->junit, err) && is_file(arguments, "--live", &options->live, err) &&
           is_file(arguments, "--fault", &options->fault, err) && take_suppressions(arguments, options, err) &&
           take_log(arguments, options, err) && take_watch(arguments, &options->watch, err);
}

static void release(struct check_options *options)
{
    free(options->log);
    free((void *)options->suppression);
}

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    struct check_options options;
    fflush(out);
    fflush(err);
    bool good = take(arguments, &options, err);
    int status = good ? check_run(&options, err) : command_usage(err, arguments->command);
    release(&options);
    return status;
}

const struct command command_check = {
    .name = "check",
    .summary = "runs a CUDA program and reports misuse, hazards and leaks of memory",
    .about = "Runs a program of the CUDA driver API, unchanged. If there is a driver, the program runs on it, a simulator makes "
             "every memory call alongside it, and every broken rule is reported; all answers are the driver's. If there is "
             "none, the program runs on the simulator. Each finding names its rule, the conflicting object, where the call "
             "was made and the fix, and the last line counts the findings. docs/check.md shows a session and lists what "
             "is not detected.",
    .hint = "options for the program come after its name",
    .argument = {.name = "PROGRAM", .missing = "which program?", .rest = true},
    .option = {{.name = "--error-exitcode", .value = "N", .joined = true, .example = "9",
                .about = "exit status if there are findings; the default is the program's own"},
               {.name = "--log-file", .value = "FILE", .joined = true, .group = 'l', .example = "check.%p.txt",
                .about = "writes findings there instead of to standard error; the file is truncated first; with %p, the "
                         "number of the process, in its name, each process has its own file"},
               {.name = "--log", .value = "FILE", .joined = true, .group = 'l', .about = "the same"},
               {.name = "--leaks", .value = "yes|no|full", .joined = true,
                .about = "report what is still held when a process ends (yes): for the ten largest call sites, or for all of "
                         "them"},
               {.name = "--stacks", .value = "none|short|full", .joined = true,
                .about = "how to show where a call was made: not at all, by its eight innermost frames (short), or by up to 64"},
               {.name = "--suppressions", .value = "FILE", .joined = true,
                .about = "does not report the findings that the file describes (docs/check.md); may be given more than once"},
               {.name = "--gen-suppressions", .about = "writes a suppression after each finding"},
               {.name = "--json", .value = "FILE", .joined = true, .about = "writes all findings there as JSON when the "
                                                                            "program has ended"},
               {.name = "--sarif", .value = "FILE", .joined = true, .about = "the same as SARIF 2.1.0, for code scanning"},
               {.name = "--junit", .value = "FILE", .joined = true, .about = "the same as JUnit XML: a failed test for each finding"},
               {.name = "--github", .about = "writes annotations for GitHub workflows to standard output"},
               {.name = "--live", .value = "FILE", .joined = true,
                .about = "writes each finding there as a line of JSON as it comes, for another program that reports it, such as "
                         "the pytest plugin: no text, and the exit status is the program's"},
               {.name = "--fault", .value = "CALL:N", .joined = true, .example = "mem_map:10", .words = WORDS_CALLS,
                .about = "on the simulator, the Nth call of that kind fails, as in cuvmm exec"},
               {.name = "--order", .value = "yes|no", .joined = true, .about = "report unordered accesses (yes)"},
               {.name = "--unwritten", .about = "also report reads of bytes that nothing has written since cuMemCreate"},
               {.name = "--growth", .value = "N", .joined = true, .example = "4",
                .about = "how many consecutive rises at marks of one text count as growth (3), see api/cuvmm_mark.h; a number "
                         "or \"own\" also finds growth in a program without marks; \"no\" compares nothing"},
               {.name = "--trace", .value = "FILE", .joined = true, .example = "t.%p.jsonl",
                .about = "records every call, for cuvmm view; with %p each process writes its own file"},
               {.name = "--recorder", .value = "FILE", .joined = true, .example = "calls.%p.txt",
                .about = "where to write the last 4096 calls of a process when it crashes, gets an ILLEGAL_ADDRESS, or cuvmm "
                         "check gets a "
                         "SIGUSR1; without it the last 16 are reported"},
               {.name = "--history", .value = "ADDRESS", .joined = true, .example = "0x302000000",
                .about = "reports what those calls did at this address, or at the address in a line of the kernel's or "
                         "compute-sanitizer's log; a fault's own address, if known, needs no option"},
               {.name = "--backend", .value = "WHAT", .joined = true, .example = "sim:h100",
                .about = "driver, sim, or sim:MACHINE as in CUVMM_SIM; by default the driver, if there is one"},
               {.name = "--quiet", .alias = "-q", .about = "only findings: no notes and no count"}},
    .more = "Exit status: the program's own, or N if anything was found; 125 if nothing was checked, with one line that "
            "gives the reason; 2 if the program cannot be started with these arguments.",
    .examples = (const char *const[]){"cuvmm check ./my_allocator_test",
                                      "cuvmm check --error-exitcode=9 --log-file=check.txt ./my_allocator_test --rounds 100", NULL},
    .run = run,
};
