/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "practice.h"
#include "script_state.h"

/* One machine's run. */
struct run {
    const struct practice *practice;
    const char *machine;
    struct script *script;
    char *said; /* what the script printed, and its size */
    size_t size;
    struct text warned; /* why calls of the student's were warned of */
    bool mine;          /* the student's lines run */
};

/* All machines. */
struct grader {
    const struct practice *practice;
    FILE *out;
    bool colour;
    struct practice_result result;
};

static void note_before(void *user, struct script *script)
{
    (void)user, (void)script;
}

static void note_after(void *user, struct script *script, const vmm_detail *detail)
{
    struct run *run = user;
    if (run->mine && detail->severity == VMM_SEVERITY_WARNING && script->expect.kind != EXPECT_WARNING)
        script_detail_text(script, detail, &run->warned);
}

/* ---- lines ---- */

/* A line of the run. False where it was not fine; then said has the reason. */
static bool run_line(struct run *run, const char *line, size_t length)
{
    free(run->said);
    run->said = NULL;
    FILE *out = open_memstream(&run->said, &run->size);
    if (!out)
        return false;
    run->script->options.out = run->script->options.err = out;
    const enum script_status status = script_line(run->script, line, length);
    fclose(out);
    return status == SCRIPT_OK;
}

static bool run_part(struct run *run, const struct practice_part *part)
{
    const char *const *lines = run->practice->source->lines + part->first;
    for (size_t i = 0; i < part->count; i++)
        if (!run_line(run, lines[i], strlen(lines[i])))
            return false;
    return true;
}

/* The command of a line, behind "expect ...:" and "NAME ="; its length, 0 where there is none. */
static size_t command_in(const char *line, size_t length, const char **command)
{
    const char *end = line + length, *colon = length > 7 && strncmp(line, "expect ", 7) == 0 ? memchr(line, ':', length) : NULL;
    const char *at = colon ? colon + 1 : line;
    for (;;) {
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        const char *word = at;
        while (at < end && *at != ' ' && *at != '\t' && *at != '\r')
            at++;
        const char *next = at;
        while (next < end && (*next == ' ' || *next == '\t'))
            next++;
        if (next < end && *next == '=' && (next + 1 == end || next[1] == ' ')) {
            at = next + 1;
            continue;
        }
        *command = word;
        return (size_t)(at - word);
    }
}

static bool is_word_of(const char *words, const char *word, size_t length)
{
    for (; words && *words; words += strlen(words) + 1)
        if (strlen(words) == length && memcmp(words, word, length) == 0)
            return true;
    return false;
}

/* Why the task does not have this line; NULL: it does. */
static const char *excluded(const struct practice *practice, const char *line, size_t length)
{
    const char *command;
    const size_t n = command_in(line, length, &command);
    if (n == 7 && memcmp(command, "backend", 7) == 0)
        return "the grader chooses the machine; leave the line with backend out";
    if (n == 5 && memcmp(command, "check", 5) == 0)
        return NULL;
    return is_word_of(practice->forbid, command, n) ? "the task is to do without that command" : NULL;
}

/* The student's lines up to the first that is not fine; *why has the reason, and the line. */
static bool run_mine(struct run *run, const char *lines, struct text *why)
{
    run->mine = true;
    for (size_t length, number = 1; *lines; lines += length + (lines[length] == '\n'), number++) {
        length = strcspn(lines, "\n");
        const size_t shown = length && lines[length - 1] == '\r' ? length - 1 : length;
        const char *wrong = excluded(run->practice, lines, shown);
        if (!wrong && run_line(run, lines, shown))
            continue;
        text_add(why, "your line %zu: %.*s\n", number, (int)(shown < 200 ? shown : 200), lines);
        text_add(why, "%s%s", wrong ? wrong : run->said, wrong ? "\n" : "");
        run->mine = false;
        return false;
    }
    run->mine = false;
    return true;
}

/* ---- points ---- */

static void put_indented(FILE *out, const char *text)
{
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        if (length)
            fprintf(out, "#   %.*s\n", (int)length, text);
    }
}

static void put_point(struct grader *grader, const struct run *run, bool good, const char *what, const char *why)
{
    grader->result.of++;
    grader->result.points += good;
    fprintf(grader->out, "%s%s%s %zu - %s: %s\n", grader->colour ? good ? "\033[32m" : "\033[31m" : "", good ? "ok" : "not ok",
            grader->colour ? "\033[0m" : "", grader->result.of, run->machine, what);
    if (!good && why)
        put_indented(grader->out, why);
}

/* Of the first that is lost the reason is printed, for the others follow from it. */
static void grade_points(struct grader *grader, struct run *run, bool reached, const char *why)
{
    const struct practice *practice = grader->practice;
    for (size_t i = 0; i < practice->points; i++) {
        const bool good = reached && run_part(run, &practice->point[i]);
        put_point(grader, run, good, practice->point[i].text, good ? NULL : reached ? run->said : why ? why : "not reached");
        why = reached ? NULL : "not reached";
        reached = good;
    }
    put_point(grader, run, !run->warned.data && reached, "no call is warned of", run->warned.data ? run->warned.data : "not reached");
}

/* What is still held then was a point, or not. */
static void end(struct run *run)
{
    free(run->said);
    run->said = NULL;
    FILE *out = open_memstream(&run->said, &run->size);
    run->script->options.quiet = true;
    run->script->options.out = run->script->options.err = out ? out : stderr;
    script_finish(run->script);
    if (out)
        fclose(out);
    free(run->said);
}

static void grade_on(struct grader *grader, const char *machine, const char *lines)
{
    struct script_options options = {.interactive = false, .colour = false};
    struct run run = {.practice = grader->practice, .machine = machine};
    const struct script_watch watch = {&run, note_before, note_after};
    struct text open = {0}, why = {0};
    options.watch = &watch;
    run.script = script_new(&options, "grader");
    text_add(&open, "backend \"%s\"", machine);
    bool reached = run_line(&run, open.data, open.length) && run_part(&run, &grader->practice->given);
    if (!reached)
        text_add(&why, "the exercise itself cannot begin here:\n%s", run.said ? run.said : "");
    reached = reached && run_mine(&run, lines, &why);
    grade_points(grader, &run, reached, why.data);
    end(&run);
    text_free(&open);
    text_free(&why);
    text_free(&run.warned);
}

struct practice_result practice_grade(const struct practice *practice, const char *lines, FILE *out, bool colour)
{
    struct grader grader = {practice, out, colour, {0, 0}};
    for (const char *machine = practice->machines; *machine; machine += strlen(machine) + 1)
        grade_on(&grader, machine, lines);
    fprintf(out, "%s%zu of %zu points%s\n", colour ? "\033[1m" : "", grader.result.points, grader.result.of, colour ? "\033[0m" : "");
    return grader.result;
}
