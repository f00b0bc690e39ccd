/* SPDX-License-Identifier: Apache-2.0 */
/* spec.h - parses the description of a system: "trace=t.jsonl | fault=mem_create:3 | sim:h100,strict".
 *
 *   parts, from the right:  backend  then each layer, which wraps the part to its right
 *                           name ':' args        name '=' args
 */
#ifndef CUVMM_SPEC_H
#define CUVMM_SPEC_H

#include <stdbool.h>
#include <stddef.h>

enum { SPEC_MAX_PARTS = 16 };

struct spec_part {
    char *name;     /* letters, digits, '-', '_' */
    char *args;     /* "" when there is none */
    size_t column;  /* the position of the name in the whole spec, counted from 1 */
};

struct spec {
    char *text;                            /* owned; the parts point into it */
    struct spec_part part[SPEC_MAX_PARTS]; /* the last one is the backend */
    size_t count;
};

struct spec_error {
    size_t column; /* from 1 */
    char text[160];
};

/* Parses text into parts. On failure *spec owns nothing. When memory is exhausted, the error's column is 0. */
bool spec_parse(const char *text, struct spec *spec, struct spec_error *error);
void spec_free(struct spec *spec);

#endif
