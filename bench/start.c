/* SPDX-License-Identifier: Apache-2.0 */
/* start - the overhead of `cuvmm exec` and `cuvmm check` at the start and the end of a program that makes no call. Not a test.
 *
 *   bench-start [--cuvmm FILE] [--rounds N] [--result FILE]
 *
 * Times /bin/true and an empty Python program by themselves and below the command, interleaved in one run: the processor time of
 * all their processes, and the time from the start to the end on a clock. See docs/bench.md. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/aims.h"
#include "lib/subject.h"
#include "options.h"

enum { WAYS = 3, PROGRAMS = 2, WORDS = 8 };

struct run {
    const char *word[WORDS];
    int status; /* the exit status of a clean run: check has its own if nothing was checked */
    struct subject clock; /* the same rounds, on a clock */
    unsigned round;
};

extern char **environ;

static posix_spawn_file_actions_t silent;

/* The time of the processes that have ended, including their children's. */
static double spent_below(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double once(void *state, unsigned units)
{
    struct run *run = state;
    const double before = spent_below(), start = now();
    pid_t process;
    int status = 0;
    (void)units;
    if (posix_spawnp(&process, run->word[0], &silent, NULL, (char *const *)(uintptr_t)run->word, environ) != 0 ||
        waitpid(process, &status, 0) != process || !WIFEXITED(status) || WEXITSTATUS(status) != run->status) {
        fprintf(stderr, "bench-start: %s does not run\n", run->word[0]);
        exit(1);
    }
    if (run->round++) /* subjects_run does not count the first */
        run->clock.second[run->round - 2] = now() - start;
    return spent_below() - before;
}

/* The program by itself, and after the words of the command. */
static void fill(struct run runs[WAYS], const char *cuvmm, const char *const *program)
{
    const char *const verbs[WAYS] = {NULL, "exec", "check"};
    for (unsigned way = 0; way < WAYS; way++) {
        unsigned count = 0;
        if (verbs[way]) {
            runs[way].word[count++] = cuvmm;
            runs[way].word[count++] = verbs[way];
        }
        for (unsigned i = 0; program[i]; i++)
            runs[way].word[count++] = program[i];
        runs[way].status = way == WAYS - 1 ? 125 : 0;
    }
}

static void print(struct aims *aims, const struct subject *rows, const struct run *runs, unsigned rounds)
{
    static const double most[PROGRAMS * WAYS] = {0, 5, 6, 0, 1.3, 1.4};
    printf("medians of %u interleaved rounds: processor time, and from the start to the end\n", rounds);
    for (size_t i = 0; i < PROGRAMS * WAYS; i++)
        printf("  %-20s %8.2f ms %8.2f ms\n", rows[i].name, 1e-6 * subject_median(&rows[i], rounds), 1e-6 * subject_median(&runs[i].clock, rounds));
    puts("wanted");
    for (size_t i = 0; i < PROGRAMS * WAYS; i++) {
        const struct subject *bare = &rows[i / WAYS * WAYS];
        char name[RESULT_NAME];
        snprintf(name, sizeof name, "%s to %s", rows[i].name, bare->name);
        if (most[i] > 0)
            aims_wanted(aims, name, subject_median(&rows[i], rounds) / subject_median(bare, rounds), AIM_MOST, most[i]);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[PROGRAMS * WAYS] = {"true",   "cuvmm exec true",   "cuvmm check true",
                                                       "python", "cuvmm exec python", "cuvmm check python"};
    static const char *programs[PROGRAMS][WORDS] = {{"true"}, {"python3", "-c", "pass"}};
    static struct run runs[PROGRAMS * WAYS];
    static struct subject rows[PROGRAMS * WAYS];
    static struct aims aims;
    uint64_t rounds = 51;
    const char *cuvmm = BENCH_CUVMM, *result = NULL;
    const struct option_row options[] = {
        {"cuvmm", OPTION_TEXT, &cuvmm, 0, 0},
        {"rounds", OPTION_NUMBER, &rounds, 1, SUBJECT_ROUNDS},
        {"result", OPTION_TEXT, &result, 0, 0},
    };
    if (!options_read(options, sizeof options / sizeof options[0], argc, argv, stderr) || !aims_open(&aims, result))
        return 2;
    if (access("/usr/bin/python3", X_OK) == 0) /* the first one in PATH may be a wrapper script */
        programs[1][0] = "/usr/bin/python3";
    posix_spawn_file_actions_init(&silent);
    for (int file = 1; file <= 2; file++)
        posix_spawn_file_actions_addopen(&silent, file, "/dev/null", O_WRONLY, 0);
    for (size_t i = 0; i < PROGRAMS; i++)
        fill(&runs[i * WAYS], cuvmm, programs[i]);
    for (size_t i = 0; i < PROGRAMS * WAYS; i++)
        rows[i] = (struct subject){.name = names[i], .batch = once, .state = &runs[i], .units = 1};
    subjects_run(rows, PROGRAMS * WAYS, (unsigned)rounds);
    print(&aims, rows, runs, (unsigned)rounds);
    posix_spawn_file_actions_destroy(&silent);
    return !aims_close(&aims);
}
