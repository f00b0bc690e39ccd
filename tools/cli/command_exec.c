/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm exec: a program of others, on the simulator. */
#include "exec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"

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

/* Absolute, for programs that go to other folders; a folder that is not there is noticed before anything runs. */
static bool take_trace(const char *path, char *absolute, size_t size, FILE *err)
{
    char here[2000] = "";
    size_t length = strlen(path);
    if (!length || length > 1500 || strchr(path, '|'))
        return wrong(err, "--trace", "a file, without '|' in its name", path);
    if (strcmp(path, "-") != 0 && path[0] != '/' && !getcwd(here, sizeof here))
        return wrong(err, "--trace", "a file in a folder that is there", path);
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
                                   .command = arguments->rest};
    bool print = arguments_given(arguments, "--print-env");
    fflush(out);
    fflush(err);
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
    return print ? exec_print_environment(&options, out, err) : exec_run(&options, err);
}

const struct command command_exec = {
    .name = "exec",
    .summary = "runs a CUDA program on the simulator, unchanged",
    .about = "Runs a program of the CUDA driver API on the simulator's libcuda.so.1, without a GPU and without a change to it. All "
             "processes that it starts share one simulated machine, so those that pass descriptors of memory just work; what is left "
             "of the machine is removed at the end. The driver's files that programs look for (/dev/nvidia0, /dev/nvidiactl, "
             "/proc/driver/nvidia/version) are there for them. What the environment already has stays, CUDA_VISIBLE_DEVICES too. "
             "docs/exec.md shows more.",
    .hint = "what is meant for the program comes behind its name",
    .argument = {.name = "PROGRAM", .rest = true},
    .option = {{.name = "--machine", .value = "SPEC", .joined = true, .example = "sim:h200x2", .words = WORDS_SPECS,
                .about = "sim or sim:MACHINE; by default what CUVMM_SIM or CUVMM_BACKEND says, or sim:h100"},
               {.name = "--fault", .value = "CALL:N", .joined = true, .example = "mem_map:10", .words = WORDS_CALLS,
                .about = "makes the Nth call of that kind fail; CALL:N:RESULT chooses how, \":forever\" goes on with it"},
               {.name = "--trace", .value = "FILE", .joined = true, .about = "writes every call down, for cuvmm view and replay"},
               {.name = "--explain", .about = "each refusal, warning and leak on standard error, with its rule and the fix"},
               {.name = "--print-env", .about = "runs nothing and prints the environment as assignments of a shell, for CI"}},
    .more = "Exit status: the program's own, 128 and the signal's number where one ended it; 127 where there is no such program, 126 where "
            "it cannot be run like this, 125 where the machine cannot be had, each with a line that gives the reason.",
    .examples = (const char *const[]){"cuvmm exec ./my_allocator_test", "cuvmm exec --machine=sim:h200x2 --fault=mem_map:10 ./my_allocator_test --rounds 100",
                                      "eval \"$(cuvmm exec --print-env --machine=sim:h100)\"", NULL},
    .run = run,
};
