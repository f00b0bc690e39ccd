/* SPDX-License-Identifier: Apache-2.0 */
/* lesson.h - a script whose comments make a lesson of it, parsed and run.
 *
 *     #@ title: Address and memory              the title; the first line
 *     #@ driver: yes                            may it run on a driver, or: no, REASON
 *     ## Memory is made in two halves.          TEXT, a paragraph; an empty ## ends it. A line that is indented
 *     ## A handle is not a pointer.                by more than one blank stands as it is
 *     #? How much is taken?                     QUESTION
 *     #- 1MiB | No, ...                           a wrong choice, and what is said to it
 *     #+ 2MiB | Yes, ...                          the right one
 *     h = create 1gran dev0                     COMMAND, as in any script
 *     #draw                                     DRAW, a picture
 *
 * The language below the comments is that of docs/scripts.md. conformance/corpus/lessons/README.md is written for authors.
 */
#ifndef CUVMM_TOOLS_LESSON_H
#define CUVMM_TOOLS_LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LESSON_CHOICES 6

struct lesson_choice {
    char *text, *answer;
    bool right;
};

enum lesson_kind { LESSON_TEXT, LESSON_QUESTION, LESSON_DRAW, LESSON_COMMAND };

struct lesson_part {
    enum lesson_kind kind;
    int line;       /* of its first line, from 1 */
    char *text;     /* of TEXT and QUESTION; owned. Lines that stand as they are end with a newline */
    struct lesson_choice choice[LESSON_CHOICES];
    size_t choices;
};

struct lesson {
    const char *file;         /* "05-release-order.vmm", as errors name it */
    const char *const *lines; /* NULL past the last */
    char *title;
    bool driver;
    char *reason;             /* why not on a driver; NULL where it may run there */
    struct lesson_part *part; /* in the order of their lines */
    size_t parts, questions;
};

/* Takes lines apart; they and file must live as long as the lesson. False: err has what is wrong, with file and line,
 * and *lesson is empty. Refused are: no title or driver line, a mark that is none, a question without two choices or
 * without exactly one right one, a choice without a question or an answer, and text with nothing behind it to speak of. */
bool lesson_parse(struct lesson *lesson, const char *file, const char *const *lines, FILE *err);
void lesson_free(struct lesson *lesson);

/* How a lesson is shown. */
struct lesson_talk {
    FILE *out, *err;
    FILE *in;            /* who listens: Enter goes on, a letter answers, q leaves. NULL: everything is printed at once */
    const char *backend; /* in the place of the script's own machine; NULL: that one */
    const char *title;   /* "5. Release order" */
    const char *next;    /* a line for who stayed to the end; NULL: none */
    bool colour;
};

/* Runs the lesson and makes its calls. Returns the exit status: that of the script, 0 where the listener left. */
int lesson_run(const struct lesson *lesson, const struct lesson_talk *talk);

#endif
