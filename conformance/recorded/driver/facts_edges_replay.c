/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the second recording program against the simulator and compares what it prints. */
#include "facts_driver.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* One line of the program's output: its text, and apart from it what the stand-in remarked meanwhile. */
struct spoken {
    char text[1024];
    char *remarks[64]; /* into the output */
    size_t count;
};

static void part(struct spoken *spoken, char *line)
{
    size_t length = 0;
    spoken->count = 0;
    for (char *from = line; *from; from++) {
        if (*from != FACTS_REMARK) {
            spoken->text[length++] = *from;
            if (length == sizeof spoken->text)
                tap_bail("the replay printed a line too long to be an answer");
            continue;
        }
        char *remark = from + 1;
        from = strchr(remark, FACTS_REMARK_END);
        if (!from || spoken->count == sizeof spoken->remarks / sizeof spoken->remarks[0])
            tap_bail("the replay printed a remark without an end, or too many in a line");
        *from = 0;
        spoken->remarks[spoken->count++] = remark;
    }
    spoken->text[length] = 0;
}

static void refused(struct facts *f, char *remark, const char *name)
{
    char *rule = remark + strlen(FACTS_REFUSED), *fault = strchr(rule, '|');
    if (!fault)
        tap_bail("the replay of %s printed a refusal without an explanation", f->profile);
    *fault++ = 0;
    facts_explain_told(f, rule, fault, name);
}

static void take(struct facts *f, struct spoken *spoken)
{
    const char *capability = NULL;
    char *value = strchr(spoken->text, '\t');
    if (value)
        *value++ = 0;
    for (size_t i = 0; i < spoken->count; i++)
        if (strncmp(spoken->remarks[i], FACTS_LATER, strlen(FACTS_LATER)) == 0)
            capability = spoken->remarks[i] + strlen(FACTS_LATER);
    bool line = value && spoken->text[0] != '#';
    if (line && !fact_book_asks(f->book, spoken->text)) /* the program has learned more questions since */
        return;
    /* A line that waits for a capability is skipped whatever the replay's result, also if it crashed. */
    if (line && !capability)
        capability = fact_later(f->later, spoken->text, value, &f->count->later_used);
    for (size_t i = 0; !capability && i < spoken->count; i++)
        refused(f, spoken->remarks[i], spoken->text);
    if (!line)
        return;
    if (!capability)
        facts_line(f, spoken->text, "%s", value);
    else if (fact_book_has(f->book, spoken->text))
        facts_later(f, spoken->text, capability);
}

static void take_all(struct facts *f, char *text)
{
    struct spoken spoken;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        part(&spoken, line);
        take(f, &spoken);
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
