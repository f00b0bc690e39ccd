/* SPDX-License-Identifier: Apache-2.0 */
/* suppress.h - findings that are known, by files in the manner of Valgrind's.
 *
 *     # what is known of libtorch
 *     {
 *        torch keeps its segments                a name
 *        VMM-LEAK-*                              the rule
 *        fun:*ExpandableSegment*                 frames, nearest first: fun: a function, obj: a file that is loaded,
 *        ...                                     src: a source file or FILE:LINE, py: a function of Python or FILE:FUNCTION;
 *        obj:*libtorch_cuda.so                   ... any number of frames
 *     }
 *
 * Patterns are whole: * is any text, ? any character. Frames are a prefix of the stack; no frame means every place.
 */
#ifndef CUVMM_TOOLS_SUPPRESS_H
#define CUVMM_TOOLS_SUPPRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "places.h"

enum suppress_kind { SUPPRESS_FUNCTION, SUPPRESS_MODULE, SUPPRESS_SOURCE, SUPPRESS_PYTHON, SUPPRESS_ANY };

struct suppression {
    char *name, *rule;
    const char *file; /* its position */
    unsigned line;
    struct suppress_frame {
        enum suppress_kind kind;
        char *pattern;
    } *frame;
    unsigned frames;
    uint64_t used; /* times */
};

struct suppressions {
    struct suppression *item;
    unsigned count, room;
};

/* Adds the suppressions of a file; its name must outlive them. Returns false if it cannot be read or is malformed: err gets
 * file, line and what was expected. */
bool suppress_read(struct suppressions *list, const char *path, FILE *err);
void suppress_free(struct suppressions *list);

/* The first that fits; NULL: none. */
struct suppression *suppress_find(const struct suppressions *list, const char *rule, const struct places *places);

/* Writes a suppression that matches exactly this finding. */
void suppress_write(const char *rule, const struct places *places, FILE *out);

/* Has the text this form? */
bool suppress_fits(const char *pattern, const char *text);

#endif
