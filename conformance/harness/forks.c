/* SPDX-License-Identifier: Apache-2.0 */
#include "forks.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

enum { PATIENT = 60, NOTES = 10 };

static int to_parent = -1; /* the end of a pipe, in a child */

bool forks_tool_allows(void)
{
#ifdef VALGRIND_CLO_CHANGE
    return !getenv("CUVMM_RUN") || RUNNING_ON_VALGRIND;
#else
    return !getenv("CUVMM_RUN");
#endif
}

void forks_begin(void)
{
#ifdef VALGRIND_CLO_CHANGE
    VALGRIND_CLO_CHANGE("--leak-check=no");
#endif
}

void forks_wrong(int line)
{
    if (to_parent < 0)
        return;
    if (write(to_parent, &line, sizeof line) != sizeof line)
        _exit(3);
    close(to_parent);
    to_parent = -1;
}

unsigned forks_scaled(unsigned forks)
{
    const char *scale = getenv("CUVMM_TEST_SCALE");
    unsigned scaled = scale && *scale ? (unsigned)(forks * strtoul(scale, NULL, 10) / 100) : forks;
    return scaled ? scaled : 1;
}

static uint64_t milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The status from waitpid. *line is 0 where the child reported none. */
static int fork_one(unsigned start, int (*child)(unsigned start), int *line)
{
    int ends[2], status = 0;
    *line = 0;
    if (pipe(ends))
        tap_bail("no pipe");
    pid_t made = fork();
    if (made == 0) {
        alarm(PATIENT);
        forks_begin();
        to_parent = ends[1];
        _exit(FORKS_JUDGED ? child(start) : 0);
    }
    close(ends[1]);
    if (made < 0 || waitpid(made, &status, 0) != made)
        tap_bail("no child: %s", strerror(errno));
    if (read(ends[0], line, sizeof *line) < 0)
        tap_bail("no pipe: %s", strerror(errno));
    close(ends[0]);
    return status;
}

static void note(unsigned number, int status, int line)
{
    if (WIFSIGNALED(status))
        tap_note("fork %u: line %d, signal %d", number, line, WTERMSIG(status));
    else
        tap_note("fork %u: line %d, status %d", number, line, WEXITSTATUS(status));
}

struct forks_sum forks_often(unsigned forks, unsigned seed, int (*child)(unsigned start))
{
    struct forks_sum sum = {0};
    uint64_t longest = 0;
    for (unsigned i = 0; i < forks; i++) {
        int line;
        uint64_t before = milliseconds();
        int status = fork_one(seed + i, child, &line);
        uint64_t took = milliseconds() - before;
        bool torn = WIFEXITED(status) && WEXITSTATUS(status) == FORKS_TORN;
        longest = took > longest ? took : longest;
        sum.slow += took > FORKS_SLOW_MS;
        sum.hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        sum.torn += torn;
        if (FORKS_JUDGED && status && !torn && sum.wrong++ < NOTES)
            note(i, status, line);
    }
    tap_note("%u forks: the longest took %llu ms, %u took more than %d ms", forks, (unsigned long long)longest, sum.slow,
             FORKS_SLOW_MS);
    return sum;
}
