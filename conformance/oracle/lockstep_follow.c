/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_follow.c - see lockstep_follow.h. */
#include "lockstep_follow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep.h"
#include "tap.h"

enum { LINE = 2048, FIELDS = 5 };

/* A line: number, step, answer, value of what was made, more. Fields that it lacks are "". */
static size_t split(char *line, const char *field[FIELDS])
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    while (count < FIELDS && line) {
        char *next = strchr(line, '\t');
        if (next)
            *next++ = '\0';
        field[count++] = line;
        line = next;
    }
    for (size_t i = count; i < FIELDS; i++)
        field[i] = "";
    return count;
}

static bool not_made(const char *answer)
{
    return !strcmp(answer, "not made");
}

struct follower {
    struct lockstep pair;
    const char *spec;
    FILE *log;
    struct follow_report *report;
    bool open, over;
    uint64_t seed;
};

static void leave(struct follower *f)
{
    if (f->open)
        lockstep_close(&f->pair);
    f->open = false;
}

static void begin(struct follower *f, uint64_t seed, FILE *log)
{
    leave(f);
    if (!lockstep_open(&f->pair, f->spec))
        tap_bail("%s", f->pair.difference);
    f->pair.mix = LOCKSTEP_NEWEST_MIX;
    f->open = true;
    f->over = false;
    f->seed = seed;
    f->report->episodes++;
    if (log)
        fprintf(log, "# seed %" PRIu64 "\n", seed);
}

static void compare(struct follower *f, const char *const field[FIELDS])
{
    const char *answer = f->pair.left_out ? "not made" : f->pair.reported;
    if (not_made(answer) || not_made(field[2])) {
        f->report->left_out++;
        return;
    }
    f->report->calls++;
    if (!strcmp(answer, field[2]) && (!*field[4] || !strcmp(f->pair.more, field[4])))
        return;
    f->report->different++;
    tap_note("seed %" PRIu64 " call %s: %s: %s %s; here %s %s", f->seed, field[0], field[1], field[2], field[4], answer,
             *field[4] ? f->pair.more : "");
}

static void follow(struct follower *f, const char *const field[FIELDS])
{
    struct step step;
    char error[200];
    if (!step_parse(field[1], lockstep_unit(&f->pair), &step, error, sizeof error))
        tap_bail("seed %" PRIu64 " call %s: %s", f->seed, field[0], error);
    if (step.call == VMM_CALL_mem_address_reserve && *field[3]) /* where the driver found room */
        *step_arg(&step, "addr") = (struct step_arg){.add = strtoull(field[3], NULL, 16)};
    const bool same = lockstep_step(&f->pair, &step);
    if (f->log)
        fprintf(f->log, "%s\t%s\t%s\t%s\n", field[0], field[1], f->pair.reported, f->pair.more);
    if (!same)
        tap_note("seed %" PRIu64 " call %s: %s: %s", f->seed, field[0], field[1], f->pair.difference);
    f->over = !same && f->pair.parted;
    compare(f, field);
}

void follow_transcript(const char *spec, FILE *transcript, FILE *log, struct follow_report *report)
{
    char line[LINE];
    const char *field[FIELDS];
    struct follower f = {.spec = spec, .log = log, .report = report};
    for (int number = 1; fgets(line, sizeof line, transcript); number++) {
        uint64_t seed;
        if (sscanf(line, "# seed %" SCNu64, &seed) == 1)
            begin(&f, seed, log);
        if (*line == '#')
            continue;
        if (split(line, field) < 3 || !f.open)
            tap_bail("line %d: expected a number, a step and an answer, after \"# seed N\"", number);
        if (!f.over)
            follow(&f, field);
    }
    leave(&f);
}
