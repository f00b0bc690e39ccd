/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - a file that is there whole or not at all: what was there stays until the new one is complete.
 *
 *     output_open     FILE as it was     FILE.aB3xYz, empty
 *     output_close    FILE the new one                          or, where something failed: FILE as it was
 *     output_abandon  FILE as it was
 */
#ifndef CUVMM_TOOLS_OUTPUT_H
#define CUVMM_TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;          /* to write to; text or bytes */
    char *path, *aside;  /* owned */
    const char *command; /* what messages begin with */
};

/* False, with a message on err and nothing to close, when no file can be made in that folder, or something else than a file
 * is there: a device, a pipe, a folder. */
bool output_open(struct output *output, const char *path, const char *command, FILE *err);

/* Puts the file in its place. False, with a message on err, when not all of it could be written; it is gone then. */
bool output_close(struct output *output, FILE *err);

/* Takes it away, whatever was written. */
void output_abandon(struct output *output);

#endif
