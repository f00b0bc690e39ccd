/* SPDX-License-Identifier: Apache-2.0 */
/* places.h - the stack of a record, with names.
 *
 *     {"module":"/srv/pool.so","build":"5f3a","offset":4597}      grow  /srv/pool.c:31  (/srv/pool.so+0x11f5)
 *     {"python":"/srv/train.py","line":12,"function":"step"}      step  /srv/train.py:12
 */
#ifndef CUVMM_TOOLS_PLACES_H
#define CUVMM_TOOLS_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "json_read.h"

struct place {
    const char *function; /* "": unknown */
    const char *file;     /* "" if unknown; line is 0 if unknown */
    unsigned line;
    const char *module;   /* "" for code without a file, or Python's */
    uint64_t offset;
    bool python, inlined; /* inlined into the next place */
    bool replaced;        /* the module's file has been replaced, so there are no names */
};

struct places {
    struct place *place; /* nearest first */
    unsigned count;
};

/* The places of a list of frames, which may be NULL. Frames of the C library below the program's first are left out. Texts are
 * the document's, or last until module_symbols_forget. False when memory is out. */
bool places_read(struct places *places, const struct json_doc *doc, const struct json_node *stack);
void places_free(struct places *places);

/* The nearest place with a file and a line; NULL if there is none. */
const struct place *places_source(const struct places *places);

/* Writes "grow (pool.c:31)", at most size bytes. Returns text. The file is named from this folder, or by its last part. */
const char *place_text(const struct place *place, char *text, size_t size);

/* The path relative to the folder; the path itself if it lies elsewhere. */
const char *place_below(const char *path, const char *folder);

#endif
