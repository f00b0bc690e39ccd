/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_follow.c - see lockstep_follow.h. */
#include "lockstep_follow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep_follow_places.h"
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
    struct follow_places places;
    bool open, over;
    uint64_t seed;
    int64_t own; /* bytes that the driver has for itself */
};

static void leave(struct follower *f)
{
    if (f->open)
        lockstep_close(&f->pair);
    places_clear(&f->places);
    f->open = false;
    f->own = 0;
}

static void begin(struct follower *f, uint64_t seed, FILE *log)
{
    leave(f);
    if (!lockstep_open(&f->pair, f->spec))
        tap_bail("%s", f->pair.difference);
    f->pair.mix = LOCKSTEP_NEWEST_MIX;
    f->pair.follows = true;
    f->open = true;
    f->over = false;
    f->seed = seed;
    f->report->episodes++;
    if (log)
        fprintf(log, "# seed %" PRIu64 "\n", seed);
}

/* Bytes that the answer says are in use. */
static bool reads_used(const char *more, int64_t *used)
{
    return sscanf(more, " used=%" SCNx64, (uint64_t *)used) == 1;
}

/* A driver has memory for instances of graphs, 2 MiB at a time, which the simulator does not follow. */
static bool same_but_own(struct follower *f, const char *more)
{
    int64_t there, here;
    if (!reads_used(more, &there) || !reads_used(f->pair.more, &here))
        return false;
    const int64_t unit = (int64_t)lockstep_unit(&f->pair), own = there - here;
    if (own == f->own)
        return true;
    if (own < 0 || own % unit || own - f->own > 64 * unit)
        return false;
    f->own = own;
    f->report->own++;
    return true;
}

/* "n0" is a node whose name was not known. */
static bool same_nodes(const char *there, const char *here)
{
    while (*there && *here) {
        const size_t a = strcspn(there, ", "), b = strcspn(here, ", ");
        if (!(a == b && !strncmp(there, here, a)) && strncmp(there + (a > 2 ? a - 2 : 0), "n0", 2) && strncmp(here + (b > 2 ? b - 2 : 0), "n0", 2))
            return false;
        there += a + (there[a] != 0);
        here += b + (here[b] != 0);
    }
    return *there == *here;
}

static void compare(struct follower *f, const char *const field[FIELDS])
{
    const char *answer = f->pair.left_out ? "not made" : f->pair.reported;
    if (not_made(answer) || not_made(field[2])) {
        f->report->left_out++;
        return;
    }
    f->report->calls++;
    if (!strcmp(answer, field[2]) && (!*field[4] || !strcmp(f->pair.more, field[4]) || same_nodes(field[4], f->pair.more) || same_but_own(f, field[4])))
        return;
    f->report->different++;
    tap_note("seed %" PRIu64 " call %s: %s: %s %s; here %s %s %s %s", f->seed, field[0], field[1], field[2], field[4], answer,
             *field[4] ? f->pair.more : "", f->pair.refused ? vmm_last_detail()->rule : "", f->pair.refused ? vmm_last_detail()->note : "");
}

static void follow(struct follower *f, const char *const field[FIELDS])
{
    struct step step;
    char error[200];
    if (!step_parse(field[1], lockstep_unit(&f->pair), &step, error, sizeof error))
        tap_bail("seed %" PRIu64 " call %s: %s", f->seed, field[0], error);
    const struct step asked = step;
    const uint64_t value = strtoull(field[3], NULL, 16);
    places_translate(&f->places, &f->pair, &step, value);
    const bool same = lockstep_step(&f->pair, &step);
    if (f->log)
        fprintf(f->log, "%s\t%s\t%s\t%#" PRIx64 "\t%s\t%s %s\n", field[0], field[1], f->pair.reported,
                step.name && step.name < f->pair.value_room ? f->pair.values[step.name] : 0, f->pair.more,
                f->pair.refused ? vmm_last_detail()->rule : "", f->pair.refused ? vmm_last_detail()->note : "");
    if (!same)
        tap_note("seed %" PRIu64 " call %s: %s: %s", f->seed, field[0], field[1], f->pair.difference);
    f->over = !same && f->pair.parted;
    compare(f, field);
    places_note(&f->places, &asked, !strncmp(field[2], "SUCCESS", 7), value);
}

/* A look makes contexts current, and one that found a difference did not set the former one back. */
static void look(struct follower *f)
{
    struct step step = step_of(VMM_CALL_ctx_set_current);
    step_arg(&step, "ctx")->name = 1;
    lockstep_step(&f->pair, &step);
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
        if (*line == '#' && f.open && strstr(line, "state: asked \"mem_get_info")) /* a look at the state that ended early */
            look(&f);
        if (*line == '#')
            continue;
        if (split(line, field) < 3 || !f.open)
            tap_bail("line %d: expected a number, a step and an answer, after \"# seed N\"", number);
        if (!f.over)
            follow(&f, field);
    }
    leave(&f);
}
