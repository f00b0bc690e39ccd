/* SPDX-License-Identifier: Apache-2.0 */
/* practice.h - an exercise in the form of a script: its text, and the grader of what a student made of it.
 *
 *     #@ title: A vector that grows          the title; the first line
 *     #@ machines: sim:h100 sim:odd          on which it is graded
 *     #@ forbid: copy write                  commands that the task excludes; this line may be missing
 *     ## Make it three granules long.        the task; consecutive lines are one paragraph, an empty ## ends it
 *     #given                                 lines that run before the student's
 *     v = reserve 8gran
 *     #start                                 lines that the student begins with; this part may be missing
 *     #point dev0 can write all of v         a point: the checks that follow must hold after the student's lines
 *     check access v dev0 rw
 *     #solution                              lines that get every point
 *     #mistake VMM-X: it forgets the rights  lines that do not: what the grader must name, and why they are here
 *
 * On each machine the given lines run, then the student's, then the checks of each point:
 *
 *     a line is refused, or a check does not hold     that point and the ones after it are lost there, with the reason
 *     a call is warned of                             the point "no call is warned of" is lost, with the reason
 */
#ifndef CUVMM_TOOLS_PRACTICE_H
#define CUVMM_TOOLS_PRACTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Texts of exercises as they were when the command was built (ci/embed-texts); name is NULL past the last. */
struct practice_source {
    const char *name;         /* "1-vector" */
    const char *const *lines; /* NULL past the last */
};
extern const struct practice_source practices[];

/* Lines of the source from first on. */
struct practice_part {
    const char *text; /* of a point or a mistake: what stands behind the mark */
    size_t first, count;
};

enum { PRACTICE_POINTS = 12, PRACTICE_MISTAKES = 24, PRACTICE_MACHINES = 6 };

struct practice {
    const struct practice_source *source;
    const char *title;
    char *machines, *forbid; /* owned: words that end with a 0 each, and one more 0 */
    struct practice_part task, given, start, solution;
    struct practice_part point[PRACTICE_POINTS], mistake[PRACTICE_MISTAKES];
    size_t points, mistakes;
};

/* False: err says what is wrong, with the name and the line, and there is nothing to free. */
bool practice_parse(struct practice *practice, const struct practice_source *source, FILE *err);
void practice_free(struct practice *practice);

/* By number, name, or both ("1", "vector", "1-vector"); NULL where there is none. */
const struct practice_source *practice_find(const char *word);

/* What a student begins with, as a file: the task and the given lines as comments, then the lines of #start. */
void practice_begin(const struct practice *practice, FILE *out);

struct practice_result {
    size_t points, of;
};

/* The grader on lines, which newlines separate: TAP to out, and below each lost point why it was lost. colour: with terminal colours. */
struct practice_result practice_grade(const struct practice *practice, const char *lines, FILE *out, bool colour);

/* `cuvmm exercise script`: without an exercise lists them, without a file prints what one begins with, else grades the file ("-" is in).
 * Exit status: 0 all points, 1 not all, 2 there is no such exercise or file, and err says which. */
struct practice_request {
    const char *exercise, *file; /* NULL: not given */
    bool colour;
};
int practice_tell(const struct practice_request *request, FILE *in, FILE *out, FILE *err);

#endif
