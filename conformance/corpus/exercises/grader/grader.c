/* SPDX-License-Identifier: Apache-2.0 */
/* Runs parts in separate processes, and combines their points into one TAP output. */
#define _POSIX_C_SOURCE 200809L
#include "grader.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The status of a completed part, with which the student's code does not exit by chance; and of one that gave up. */
enum { DONE = 42, BAILED = 255 };

static unsigned points, failures, skipped;

/* Seconds that a part may take. */
static unsigned patience(void)
{
    const char *text = getenv("CUVMM_EXERCISE_PATIENCE");
    int seconds = text ? atoi(text) : 0;
    return seconds > 0 ? (unsigned)seconds : 60;
}

/* The mistake of a failed point, and the machine on which it first occurred. */
struct mistake {
    struct mistake *next;
    const char *spec;
    char words[]; /* the point's name and what was wrong */
};

static struct mistake *mistakes;
static char point[200]; /* the last one shown, with its part */
static bool known;      /* its mistake was already reported for another machine, with its reasons */

/* The machine with the same earlier mistake; NULL: none, and the mistake is now recorded. */
static const char *first_on(const char *line, const char *spec)
{
    size_t size = strlen(point) + strlen(line) + 1;
    for (const struct mistake *m = mistakes; m; m = m->next)
        if (strncmp(m->words, point, strlen(point)) == 0 && strcmp(m->words + strlen(point), line) == 0)
            return m->spec;
    struct mistake *made = malloc(sizeof *made + size);
    if (!made)
        return NULL;
    *made = (struct mistake){.next = mistakes, .spec = spec};
    snprintf(made->words, size, "%s%s", point, line);
    mistakes = made;
    return NULL;
}

/* A note. The reasons of a mistake that was reported for another machine are not repeated. */
static void show_note(const char *line, const char *spec)
{
    bool mistake = strncmp(line, "#   mistake   ", 14) == 0;
    const char *first = mistake ? first_on(line, spec) : NULL;
    known = mistake ? first && strcmp(first, spec) != 0 : known;
    if (mistake && known)
        printf("%.*s (as on %s)\n", (int)strcspn(line, "\n"), line, first);
    else if (!known)
        fputs(line, stdout);
}

/* A part prints its own points; here they get the machine's and the part's name and an overall number. The student's
 * output is shown, too, but does not count as points. */
static void show(const char *line, const char *spec, const char *part)
{
    bool good = strncmp(line, "ok ", 3) == 0, bad = strncmp(line, "not ok ", 7) == 0;
    const char *name = good || bad ? strstr(line, " - ") : NULL;
    if (name) {
        points++;
        failures += bad;
        skipped += strstr(name, " # SKIP ") != NULL;
        known = false;
        snprintf(point, sizeof point, "%s: %s", part, name + 3);
        printf("%s %u - %s %s: %s", bad ? "not ok" : "ok", points, spec, part, name + 3);
    } else if (line[0] == '#' && strchr(line, '\n') && strncmp(line, "#   failed at ", 14) != 0) {
        show_note(line, spec);
    } else if (line[0] != '\n' && strncmp(line, "#   failed at ", 14) != 0) { /* the latter would be a line of the grader */
        printf("%s%s%s", line[0] == '#' ? "" : "# | ", line, strchr(line, '\n') ? "" : "\n");
    }
}

static void fail(const char *spec, const char *part, const char *mistake, const char *rule)
{
    points++;
    failures++;
    printf("not ok %u - %s %s: runs to its end\n#   mistake   %s\n", points, spec, part, mistake);
    if (rule)
        grade_note_rule(rule);
}

/* In the child: all output goes to the file, and the part has a time limit. */
static void run_part(const struct grade_part *part, const char *spec, FILE *said)
{
    setpgid(0, 0);
    alarm(patience());
    if (dup2(fileno(said), STDOUT_FILENO) < 0 || dup2(fileno(said), STDERR_FILENO) < 0)
        _exit(BAILED);
    part->run(spec);
    fflush(NULL);
    _exit(DONE);
}

static void judge_end(const char *spec, const char *part, int status)
{
    char words[120];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        snprintf(words, sizeof words, "not done after %u seconds: it waits for an event that never happens, or never stops",
                 patience());
        fail(spec, part, words, "EX-HANG");
    } else if (WIFSIGNALED(status)) {
        snprintf(words, sizeof words, "the program crashed with signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
        fail(spec, part, words, "EX-CRASH");
    } else if (WEXITSTATUS(status) == BAILED) {
        fail(spec, part, "the machine cannot be used; the reason is above", NULL);
    } else if (WEXITSTATUS(status) != DONE) {
        snprintf(words, sizeof words, "the part ended with status %d before its end", WEXITSTATUS(status));
        fail(spec, part, words, "EX-CRASH");
    }
}

static void grade_part(const struct grade_part *part, const char *spec)
{
    char line[4096];
    int status = 0;
    FILE *said = tmpfile();
    fflush(stdout);
    pid_t child = said ? fork() : -1;
    if (child == 0)
        run_part(part, spec, said);
    if (child < 0) {
        fail(spec, part->name, "no process, or no file for its output, can be created", NULL);
        if (said)
            fclose(said);
        return;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-child, SIGKILL); /* the processes that it started, in an exercise with two processes */
    rewind(said);
    while (fgets(line, sizeof line, said))
        show(line, spec, part->name);
    fclose(said);
    judge_end(spec, part->name, status);
}

/* All parts on one machine, or the one of that name. */
static void grade_on(const char *spec, const char *only)
{
    for (const struct grade_part *part = grade_parts; part->name; part++)
        if (!only || strcmp(part->name, only) == 0)
            grade_part(part, spec);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"sim:h100", "sim:odd", "sim:h200x2"};
    const bool one = argc > 1 && strncmp(argv[1], "--part=", 7) == 0;
    const char *only = one ? argv[1] + 7 : NULL;
    const int first = one ? 2 : 1;
    for (int i = first; i < argc; i++)
        grade_on(argv[i], only);
    for (size_t i = 0; first >= argc && i < sizeof usual / sizeof usual[0]; i++)
        grade_on(usual[i], only);
    if (!points) {
        fprintf(stderr, "there is no part \"%s\"; the parts are", only);
        for (const struct grade_part *part = grade_parts; part->name; part++)
            fprintf(stderr, " \"%s\"", part->name);
        fputc('\n', stderr);
        return 2;
    }
    printf("1..%u\n# %s%u of %u points", points, failures || only ? "" : "solved: ", points - failures - skipped,
           points - skipped);
    printf(skipped ? ", %u skipped\n" : "\n", skipped);
    return failures > 0;
}
