/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm exec: runs a user's program on the simulator. */
#include "exec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "path_pattern.h"
#include "sweep.h"

static bool wrong(FILE *err, const char *option, const char *wants, const char *value)
{
    fprintf(err, "cuvmm exec: %s wants %s, not \"%.60s\"\n", option, wants, value);
    return false;
}

/* The innermost part of a spec, which is the machine. */
static bool is_simulated(const char *spec)
{
    const char *last = strrchr(spec, '|'), *backend = last ? last + 1 + strspn(last + 1, " ") : spec;
    return strcmp(backend, "sim") == 0 || strncmp(backend, "sim:", 4) == 0;
}

/* Absolute, for programs that change their folder; a missing folder is noticed before anything runs. */
static bool take_trace(const char *path, char *absolute, size_t size, FILE *err)
{
    char here[2000] = "";
    size_t length = strlen(path);
    char why[200];
    if (path_pattern_wrong(path, why, sizeof why)) {
        fprintf(err, "cuvmm exec: --trace: %s\n", why);
        return false;
    }
    if (!length || length > 1500 || strchr(path, '|'))
        return wrong(err, "--trace", "a file, without '|' in its name", path);
    if (strcmp(path, "-") != 0 && path[0] != '/' && !getcwd(here, sizeof here))
        return wrong(err, "--trace", "a file in an existing folder", path);
    snprintf(absolute, size, "%s%s%s", here, here[0] ? "/" : "", path);
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", absolute);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    if (slash && access(folder, W_OK | X_OK) != 0) {
        fprintf(err, "cuvmm exec: --trace %.200s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

/* The number given for that option; `usual` if it is not given. */
static bool take_number(const struct arguments *arguments, const char *option, double least, double most, double *number, FILE *err)
{
    const char *value = arguments_value(arguments, option);
    char *end = NULL, wants[60];
    if (!value)
        return true;
    double read = isdigit((unsigned char)value[0]) ? strtod(value, &end) : -1;
    if (end && !*end && read >= least && read <= most) {
        *number = read;
        return true;
    }
    snprintf(wants, sizeof wants, "a number from %g to %.0f", least, most);
    return wrong(err, option, wants, value);
}

/* "each:mem_map:UNKNOWN", cut in place. */
static void cut_fault(char *each, struct sweep_options *options)
{
    char *call = strchr(each, ':'), *result = call ? strchr(call + 1, ':') : NULL;
    if (call)
        *call++ = '\0';
    if (result)
        *result++ = '\0';
    options->call = call && call[0] ? call : NULL;
    options->result = result && result[0] ? result : NULL;
}

static int run_each(const struct arguments *arguments, const struct exec_options *exec, FILE *out, FILE *err)
{
    char each[200];
    double jobs = 1, timeout = 0, most = 1000, seed = 1, accept = 0;
    struct sweep_options options = {.exec = *exec, .json = arguments_given(arguments, "--json")};
    if (!take_number(arguments, "--jobs", 1, 256, &jobs, err) || !take_number(arguments, "--timeout", 0.01, 86400, &timeout, err) ||
        !take_number(arguments, "--most", 1, 1e9, &most, err) || !take_number(arguments, "--seed", 0, 1e15, &seed, err) ||
        !take_number(arguments, "--accept", 0, 255, &accept, err))
        return command_usage(err, arguments->command);
    snprintf(each, sizeof each, "%s", exec->fault);
    cut_fault(each, &options);
    options.jobs = (unsigned)jobs;
    options.timeout = timeout;
    options.most = (uint64_t)most;
    options.seed = (uint64_t)seed;
    options.accept = (int)accept;
    return sweep(&options, out, err);
}

static bool is_each(const char *fault)
{
    return fault && strncmp(fault, "each", 4) == 0 && (!fault[4] || fault[4] == ':');
}

/* An option for a sweep without a sweep, or one that a sweep cannot use. NULL: none. */
static const char *misplaced(const struct arguments *arguments, bool each)
{
    static const char *const of_sweep[] = {"--jobs", "--timeout", "--most", "--seed", "--accept", "--json", NULL};
    static const char *const of_one[] = {"--trace", "--explain", "--print-env", NULL};
    for (const char *const *option = each ? of_one : of_sweep; *option; option++)
        if (arguments_given(arguments, *option))
            return *option;
    return NULL;
}

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    char trace[4096];
    const char *file = arguments_value(arguments, "--trace");
    struct exec_options options = {.who = "cuvmm exec",
                                   .nothing = "nothing was started",
                                   .machine = arguments_value(arguments, "--machine"),
                                   .fault = arguments_value(arguments, "--fault"),
                                   .trace = file ? trace : NULL,
                                   .explain = arguments_given(arguments, "--explain"),
                                   .own_runtime = arguments_value(arguments, "--runtime") != NULL,
                                   .command = arguments->rest};
    bool print = arguments_given(arguments, "--print-env"), each = is_each(options.fault);
    const char *other = misplaced(arguments, each);
    fflush(out);
    fflush(err);
    if (other) {
        fprintf(err, each ? "cuvmm exec: %s is for a single run; --fault=each makes many\n"
                          : "cuvmm exec: %s is for many runs: --fault=each\n", other);
        return command_usage(err, arguments->command);
    }
    const char *runtime = arguments_value(arguments, "--runtime");
    if (runtime && strcmp(runtime, "system") != 0) {
        wrong(err, "--runtime", "system", runtime);
        return command_usage(err, arguments->command);
    }
    if (options.machine && !is_simulated(options.machine)) {
        wrong(err, "--machine", "sim or sim:MACHINE, for example sim:h200x2", options.machine);
        return command_usage(err, arguments->command);
    }
    if (file && !take_trace(file, trace, sizeof trace, err))
        return command_usage(err, arguments->command);
    if (!print && !arguments->word) {
        fputs("cuvmm exec: which program?\n", err);
        return command_usage(err, arguments->command);
    }
    if (each)
        return run_each(arguments, &options, out, err);
    return print ? exec_print_environment(&options, out, err) : exec_run(&options, err);
}

const struct command command_exec = {
    .name = "exec",
    .summary = "runs a CUDA program on the simulator, unchanged",
    .about = "Runs a program of the CUDA driver API or of the CUDA runtime on the simulator's libcuda.so.1, without a GPU and "
             "without a change to it. "
             "All processes that it starts share one simulated machine, so passing descriptors of memory between them "
             "just works; anything left of the machine is removed at the end. The driver's files that programs look for "
             "(/dev/nvidia0, /dev/nvidiactl, "
             "/proc/driver/nvidia/version) exist for them. Existing environment variables, such as CUDA_VISIBLE_DEVICES, "
             "are kept. docs/exec.md shows more.\n"
             "With --fault=each the program runs once for each of its driver calls, which is made to fail; one line for each "
             "call site gives the worst outcome (recovered, varied, leaked, misused, wrong exit, crashed or hung) and "
             "the command that reproduces it.",
    .hint = "options for the program come after its name",
    .argument = {.name = "PROGRAM", .rest = true},
    .option = {{.name = "--machine", .value = "SPEC", .joined = true, .example = "sim:h200x2", .words = WORDS_SPECS,
                .about = "sim or sim:MACHINE; by default the value of CUVMM_SIM or CUVMM_BACKEND, or sim:h100"},
               {.name = "--fault", .value = "CALL:N", .joined = true, .example = "mem_map:10", .words = WORDS_CALLS,
                .about = "makes the Nth call of that kind fail; CALL:N:RESULT chooses the result, and \":forever\" makes later "
                         "calls fail, too. \"each\" runs the program repeatedly and makes each call fail "
                         "once; each:CALL only calls of that kind, each:CALL:RESULT with that result"},
               {.name = "--trace", .value = "FILE", .joined = true, .example = "t.%p.jsonl",
                .about = "records every call, for cuvmm view and replay; %p in the name stands for the number of the process, "
                         "and each process writes its own file"},
               {.name = "--runtime", .value = "system", .joined = true,
                .about = "leaves the program the libcudart that it finds itself; otherwise this project's comes first"},
               {.name = "--explain", .about = "reports each refusal, warning and leak on standard error, with its rule and the "
                                              "fix"},
               {.name = "--print-env", .about = "runs nothing and prints the environment as shell assignments, for CI"},
               {.name = "--jobs", .value = "N", .joined = true, .about = "for --fault=each: the number of concurrent runs (1)"},
               {.name = "--timeout", .value = "SECONDS", .joined = true,
                .about = "likewise: the time after which a run counts as hung (ten times the run without a failure, plus 5)"},
               {.name = "--most", .value = "N", .joined = true, .about = "likewise: the maximum number of runs, chosen at "
                                                                         "random if there are more calls (1000)"},
               {.name = "--seed", .value = "N", .joined = true, .about = "likewise: the seed of that choice (1)"},
               {.name = "--accept", .value = "N", .joined = true, .about = "likewise: an exit status that counts as success, "
                                                                           "like 0"},
               {.name = "--json", .about = "likewise: the report as JSON"}},
    .more = "Exit status: the program's own, 128 plus the signal's number if a signal ended it; 127 if there is no such "
            "program, 126 if it cannot be run with these arguments, 125 if the machine is unavailable, each with a line "
            "that gives the reason. With --fault=each: 0 if the program recovered from every failure, 1 "
            "otherwise.",
    .examples = (const char *const[]){"cuvmm exec ./my_allocator_test", "cuvmm exec --machine=sim:h200x2 --fault=mem_map:10 ./my_allocator_test --rounds 100",
                                      "cuvmm exec --fault=each --jobs=8 -- ./my_allocator_test",
                                      "eval \"$(cuvmm exec --print-env --machine=sim:h100)\"", NULL},
    .run = run,
};
