/* SPDX-License-Identifier: Apache-2.0 */
/* tap-run FOLDER PROGRAM [ARGUMENT]...: runs a test for prove, and keeps what the test printed.
 *
 *   FOLDER/NAME.tap    its standard output, and "# exit status N" behind it
 *   FOLDER/NAME.time   what it took of the processor and the clock, for ci/slowest
 *
 * There are hundreds of tests, so this is one small process for each of them. `Bail out!` is the test's own, and would make prove
 * end all others by a SIGPIPE: prove sees a comment instead, and a test without a plan that ended badly.
 *
 *   CUVMM_RUN     a command that the program runs under; scripts run as they are
 *   TAP_STDERR    the descriptor that becomes the test's standard error. After anything on a test's standard error prove waits for
 *                 that test's next point, and starts no other test meanwhile. prove's own pipe stays open until the end.
 *   TAP_LIMIT     seconds after which a test that has not ended is ended, with all its processes (ci/limit)
 */
#define _DEFAULT_SOURCE /* setitimer */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;
static volatile sig_atomic_t late;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "tap-run: %s: %s\n", what, strerror(errno));
    exit(255);
}

static void at_alarm(int number)
{
    (void)number;
    late = 1;
}

/* The test has a group of its own, which an interrupt of the caller's reaches through here. */
static void pass_on(int number)
{
    kill(-child, number);
    signal(number, SIG_DFL);
    raise(number);
}

static void catch(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}; /* without SA_RESTART: a wait ends */
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static bool is_script(const char *path)
{
    char start[2] = "";
    FILE *file = fopen(path, "re");
    bool script = file && fread(start, 1, 2, file) == 2 && start[0] == '#' && start[1] == '!';
    if (file)
        fclose(file);
    return script;
}

/* ---- the test ---- */

/* The words of CUVMM_RUN, then those of the test. */
static char **command(char **test)
{
    const char *given = getenv("CUVMM_RUN");
    char *words = strdup(given && !is_script(test[0]) ? given : "");
    size_t count = 0, all = 0;
    while (test[all])
        all++;
    char **line = calloc(all + strlen(words ? words : "") + 1, sizeof *line);
    if (!words || !line)
        fail("memory");
    for (char *word = strtok(words, " \t\n"); word; word = strtok(NULL, " \t\n"))
        line[count++] = word;
    memcpy(line + count, test, all * sizeof *line);
    return line;
}

/* Starts it with its output in a pipe; returns the end to read. */
static int start(char **test)
{
    const char *errors = getenv("TAP_STDERR");
    const int error = errors ? atoi(errors) : 2;
    char mark[64];
    int ends[2];
    char **line = command(test);
    if (pipe(ends))
        fail("pipe");
    snprintf(mark, sizeof mark, "%ld %ld", (long)getpid(), (long)time(NULL)); /* ci/limit finds its processes by it */
    setenv("TEST_LIMIT", mark, 1);
    fflush(NULL);
    child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        setpgid(0, 0);
        dup2(error, 2);
        dup2(ends[1], 1);
        if (error > 2)
            close(error);
        close(ends[0]);
        close(ends[1]);
        unsetenv("TAP_STDERR");
        unsetenv("TAP_LIMIT");
        execvp(line[0], line);
        fprintf(stderr, "tap-run: %s: %s\n", line[0], strerror(errno));
        _exit(127);
    }
    setpgid(child, child); /* in parent and child, whichever runs first */
    close(ends[1]);
    return ends[0];
}

/* ---- what it prints ---- */

static void pass(const char *text, size_t size, bool begins, FILE *kept)
{
    static const char bail[] = "Bail out!";
    fwrite(text, 1, size, kept);
    if (begins && size >= sizeof bail - 1 && !memcmp(text, bail, sizeof bail - 1)) {
        fputs("# bails out:", stdout);
        text += sizeof bail - 1;
        size -= sizeof bail - 1;
    }
    fwrite(text, 1, size, stdout);
}

/* Until the test and all that it started have closed their ends, or it is late. */
static void copy(int from, FILE *kept)
{
    static char text[1 << 16];
    size_t have = 0;
    bool begins = true;
    ssize_t n;
    while (!late && (n = read(from, text + have, sizeof text - have)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            fail("read");
        have += (size_t)n;
        char *at = text, *end;
        while ((end = memchr(at, '\n', have - (size_t)(at - text))) != NULL || have == sizeof text) {
            size_t size = (size_t)((end ? end + 1 : text + have) - at);
            pass(at, size, begins, kept);
            begins = end != NULL;
            at += size;
            if (!end)
                break;
        }
        have -= (size_t)(at - text);
        memmove(text, at, have);
        fflush(stdout);
        fflush(kept);
    }
    pass(text, have, begins, kept);
    close(from);
}

/* ci/limit says what its threads do, and ends them. Returns its output. */
static int end_it(const char *seconds, char **test)
{
    char group[32], *line[64] = {"ci/limit", "--late", group, (char *)seconds};
    int ends[2];
    snprintf(group, sizeof group, "%ld", (long)child);
    for (unsigned i = 0; i < 59 && test[i]; i++)
        line[4 + i] = test[i];
    if (pipe(ends))
        fail("pipe");
    pid_t limit = fork();
    if (limit == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execv(line[0], line);
        _exit(127);
    }
    if (limit < 0)
        fail("fork");
    close(ends[1]);
    return ends[0];
}

static int status_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- what it takes ---- */

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now(void)
{
    struct timeval time;
    gettimeofday(&time, NULL);
    return seconds_of(time);
}

/* As a shell's `times`, with a line of when it began and ended. */
static void note_times(const char *path, double began)
{
    const int whom[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    struct rusage used;
    FILE *file = fopen(path, "we");
    if (!file)
        fail(path);
    for (unsigned i = 0; i < 2; i++) {
        getrusage(whom[i], &used);
        double user = seconds_of(used.ru_utime), system = seconds_of(used.ru_stime);
        fprintf(file, "%dm%.3fs %dm%.3fs\n", (int)(user / 60), user - 60 * (int)(user / 60), (int)(system / 60),
                system - 60 * (int)(system / 60));
    }
    fprintf(file, "%.6f %.6f\n", began, now());
    fclose(file);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    if (argc < 3) {
        fputs("usage: tap-run FOLDER PROGRAM [ARGUMENT]...\n", stderr);
        return 255;
    }
    int length = snprintf(path, sizeof path - 8, "%s/%s", argv[1], argv[2]);
    if (length < 0 || length >= (int)sizeof path - 8)
        fail(argv[2]);
    for (char *c = path + strlen(argv[1]) + 1; *c; c++)
        *c = *c == '/' ? '_' : *c;
    char *suffix = path + length;
    snprintf(suffix, 8, ".tap");
    FILE *kept = fopen(path, "we");
    if (!kept)
        fail(path);
    const char *seconds = getenv("TAP_LIMIT");
    const double began = now();
    int status = 0, from = start(argv + 2);
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (unsigned i = 0; i < 3; i++)
        catch(numbers[i], pass_on);
    if (seconds) {
        struct itimerval timer = {.it_value = {.tv_sec = atol(seconds)}, .it_interval = {.tv_sec = 1}}; /* again: it may come before a wait */
        catch(SIGALRM, at_alarm);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    copy(from, kept);
    while (waitpid(child, &status, late ? WNOHANG : 0) < 0 && errno == EINTR && !late)
        ;
    int code = status_of(status);
    if (late) {
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0}}, NULL);
        late = 0;
        copy(end_it(seconds, argv + 2), kept);
        waitpid(child, &status, 0);
        while (waitpid(-1, NULL, 0) > 0)
            ;
        code = 124;
    }
    fprintf(kept, "# exit status %d\n", code);
    fclose(kept);
    snprintf(suffix, 8, ".time");
    note_times(path, began);
    return code;
}
