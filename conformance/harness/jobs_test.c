/* SPDX-License-Identifier: Apache-2.0 */
/* jobs: who shares a process, who runs beside whom, and what is printed. The points of each case are made by this program as
 * another process, whose output is looked at. */
#include "jobs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* ---- points ---- */

static unsigned made; /* in this process */

static bool passes(const void *data)
{
    printf("# %s in %ld, %u before\n", (const char *)data, (long)getpid(), made++);
    return true;
}

static bool fails(const void *data)
{
    passes(data);
    return false;
}

/* The driver is as another point left it. */
static bool passes_first(const void *data)
{
    return passes(data) && made == 1;
}

static bool crashes_behind(const void *data)
{
    if (made)
        raise(SIGKILL);
    return passes(data);
}

static bool hangs(const void *data)
{
    passes(data);
    fflush(stdout);
    while (pause()) {
    }
    return false;
}

#define POINT(kind, work, name) jobs_point(&jobs, kind, work, name, sizeof name, "%s", name)

/* Every job can still be waited for: none has left a descriptor open, or outlives this process. */
static int make(const char *which, int argc, char **argv)
{
    struct jobs jobs = {.seconds = 1};
    if (!jobs_options(&jobs, &argc, &argv) || argc != 1)
        return 2;
    if (strcmp(which, "order") == 0) {
        POINT(JOB_FAULTS, fails, "a");
        POINT(JOB_SHARES, passes, "b");
        jobs_skip(&jobs, "no reason", "c");
        POINT(JOB_ALONE, passes, "d");
        POINT(JOB_SHARES, passes, "e");
    } else if (strcmp(which, "again") == 0) {
        POINT(JOB_SHARES, passes, "a");
        POINT(JOB_SHARES, passes_first, "b");
        POINT(JOB_SHARES, crashes_behind, "c");
        POINT(JOB_SHARES, passes, "d");
        POINT(JOB_SHARES, passes, "e");
    } else {
        POINT(JOB_SHARES, hangs, "a");
        POINT(JOB_SHARES, passes, "b");
    }
    jobs_end(&jobs);
    return tap_done();
}

/* ---- what they print ---- */

static char said[8192];

static int hear(const char *program, const char *which)
{
    char command[600];
    snprintf(command, sizeof command, "'%s' %s", program, which);
    FILE *pipe = popen(command, "r"); /* flawfinder: ignore */
    size_t length = pipe ? fread(said, 1, sizeof said - 1, pipe) : 0;
    said[length] = '\0';
    return pipe ? pclose(pipe) : -1;
}

/* The process of the point's last note, and how many points it had made before. */
static long process_of(const char *name, unsigned *before)
{
    char note[20];
    long process = 0;
    snprintf(note, sizeof note, "# %s in ", name);
    for (const char *at = said; (at = strstr(at, note)); at++)
        sscanf(at + strlen(note), "%ld, %u", &process, before);
    return process;
}

static unsigned notes(const char *name)
{
    char note[20];
    unsigned count = 0;
    snprintf(note, sizeof note, "# %s in ", name);
    for (const char *at = said; (at = strstr(at, note)); at++)
        count++;
    return count;
}

static bool in_order(const char *const *lines, size_t count)
{
    const char *at = said;
    for (size_t i = 0; i < count && at; i++)
        at = strstr(at, lines[i]);
    return at != NULL;
}

static void test_order(const char *program, const char *options, bool together)
{
    static const char *const lines[] = {"# a in ", "not ok 1 - a\n", "# b in ", "\nok 2 - b\n", "ok 3 - c # SKIP no reason\n",
                                        "# d in ", "\nok 4 - d\n", "# e in ", "\nok 5 - e\n", "1..5\n"};
    unsigned before = 9;
    int status = hear(program, options);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 1, "%s: one fails", options);
    tap_ok(in_order(lines, sizeof lines / sizeof lines[0]), "in order, each behind what it printed");
    tap_ok((process_of("b", &before) == process_of("e", &before)) == together && before == together, "points that may "
        "share a process do");
    tap_ok(process_of("a", &before) != process_of("b", &before) && process_of("d", &before) != process_of("e", &before),
           "and no other process");
}

/* b fails behind a, and c takes the process along: both are made again. */
static void test_again(const char *program)
{
    unsigned before = 9;
    tap_ok(hear(program, "again --together") == 0, "a point that fails in a shared process is repeated alone, and passes");
    tap_ok(notes("b") == 1 && process_of("b", &before) != process_of("a", &before) && before == 0, "as the first of its process");
    tap_ok(process_of("c", &before) != process_of("a", &before) && before == 0, "also what ended the process of all");
    tap_ok(process_of("d", &before) == process_of("e", &before) && process_of("d", &before) != process_of("a", &before),
           "and another process continues after it");
}

static void test_hanging(const char *program)
{
    int status = hear(program, "hang --jobs 2 --together");
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 1 && strstr(said, "not ok 1 - a\n") && strstr(said, "\nok 2 - b\n"),
           "a point that hangs fails, alone");
    tap_ok(strstr(said, "# ended by signal 14\n") != NULL, "and says by what it ended");
}

int main(int argc, char **argv)
{
    const char *program = argv[0];
    if (argc > 1) {
        const char *which = argv[1];
        argv[1] = argv[0];
        return make(which, argc - 1, argv + 1);
    }
    test_order(program, "order", false);
    test_order(program, "order --jobs 3", false);
    test_order(program, "order --together", true);
    test_again(program);
    test_hanging(program);
    for (const char *const *wrong = (const char *const[]){"0", "x", "1001", "3x", "-1", NULL}; *wrong; wrong++) {
        char options[40];
        snprintf(options, sizeof options, "order --jobs %s", *wrong);
        int status = hear(program, options);
        tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 2, "--jobs %s is refused", *wrong);
    }
    return tap_done();
}
