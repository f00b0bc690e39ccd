/* Runs the second recording program against the simulator and compares what it prints. */
#include "facts_driver.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the stand-in for the driver said before the line that comes next. */
struct pending {
    char capability[96]; /* "" for none */
};

static void refused(struct facts *f, char *rest, const char *next_line)
{
    char name[128];
    size_t length = strcspn(next_line, "\t");
    char *fault = strchr(rest, '\t');
    if (!fault)
        tap_bail("the replay of %s printed a refusal without an explanation", f->profile);
    *fault++ = 0;
    snprintf(name, sizeof name, "before %.*s", (int)length, next_line);
    facts_explain_told(f, rest, fault, name);
}

/* A group that ended early because it needs what is not there yet: its lines are put off one by one. */
static bool ended_early(struct facts *f, const char *name, const char *value)
{
    return strchr(name, '!') && !fact_book_has(f->book, name) && fact_later(name, value, &f->count->later_used);
}

static void spoken(struct facts *f, struct pending *pending, char *line)
{
    char *value = strchr(line, '\t');
    if (!value)
        return;
    *value++ = 0;
    if (pending->capability[0])
        facts_later(f, line, pending->capability);
    else if (!ended_early(f, line, value))
        facts_line(f, line, "%s", value);
    pending->capability[0] = 0;
}

/* The first line from here on that is an answer and not a remark. */
static const char *next_answer(const char *text)
{
    while (*text == '!' || *text == '#') {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return text;
}

static void take(struct facts *f, struct pending *pending, char *line, const char *rest)
{
    const size_t refusal = strlen(FACTS_REFUSED), later = strlen(FACTS_LATER);
    if (strncmp(line, FACTS_REFUSED "\t", refusal + 1) == 0)
        refused(f, line + refusal + 1, next_answer(rest));
    else if (strncmp(line, FACTS_LATER "\t", later + 1) == 0)
        snprintf(pending->capability, sizeof pending->capability, "%s", line + later + 1);
    else if (line[0] != '#')
        spoken(f, pending, line);
}

static void take_all(struct facts *f, char *text)
{
    struct pending pending = {""};
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        take(f, &pending, line, end + 1);
    }
}

static char *read_all(int in)
{
    size_t size = 0, room = (size_t)1 << 16;
    char *text = malloc(room + 1);
    ssize_t got;
    while (text && (got = read(in, text + size, room - size)) > 0) {
        size += (size_t)got;
        if (size < room)
            continue;
        char *more = realloc(text, (room *= 2) + 1);
        if (!more)
            free(text);
        text = more;
    }
    if (!text)
        tap_bail("not enough memory for the replay's output");
    text[size] = 0;
    return text;
}

static void run_program(const struct facts *f, int out)
{
    struct facts own = *f;
    own.sys = NULL;
    facts_driver_open(&own);
    _exit(facts_edges_run(out) ? 0 : 1);
}

bool facts_replay_edges(struct facts *f)
{
    int ends[2], status = 0;
    fflush(stdout);
    pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid < 0)
        tap_bail("the replay of %s could not be started", f->profile);
    if (pid == 0) {
        close(ends[0]);
        run_program(f, ends[1]);
    }
    close(ends[1]);
    char *text = read_all(ends[0]);
    close(ends[0]);
    waitpid(pid, &status, 0);
    bool ran = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ran)
        take_all(f, text);
    free(text);
    return ran;
}
