/* SPDX-License-Identifier: Apache-2.0 */
/* lessons.h - the lessons that were there when the command was built, so that an installed one has them.
 *
 *     conformance/corpus/lessons/05-release-order.vmm  \  ci/embed-lessons
 *     conformance/corpus/lessons/05-release-order.md   /  ----------------->  lessons[4] = {"05-release-order", ...}
 */
#ifndef CUVMM_TOOLS_LESSONS_H
#define CUVMM_TOOLS_LESSONS_H

#include <stdbool.h>
#include <stdio.h>

struct lesson_source {
    const char *name;          /* "05-release-order" */
    const char *file;          /* "05-release-order.vmm" */
    const char *const *script; /* its lines, NULL past the last */
    const char *const *page;   /* those of 05-release-order.md */
};

/* In the order of their numbers; name is NULL past the last. */
extern const struct lesson_source lessons[];

/* By number ("5", "05"), name ("release-order") or both ("05-release-order"); NULL when there is none. */
const struct lesson_source *lessons_find(const char *name);

/* The number that a name begins with. */
int lessons_number(const struct lesson_source *source);

struct lessons_request {
    const char *name;    /* a lesson or a file; NULL: the list of all */
    const char *backend; /* in the place of the lesson's own; NULL: that one */
    bool page;           /* the page that goes with the lesson */
    bool ask, all;       /* wait and ask, or print everything, whatever in and out are */
    bool colour;
};

/* Returns the exit status. */
int lessons_tell(const struct lessons_request *request, FILE *out, FILE *err);

#endif
