/* SPDX-License-Identifier: Apache-2.0 */
/* save.h - output.h for a user who has not yet agreed that what is there may be overwritten.
 *
 *     FILE as it was, or none     FILE.aB3xYz is written     FILE is not there, or force: the new one
 *                                                            FILE is there: as it was
 */
#ifndef CUVMM_TOOLS_SAVE_H
#define CUVMM_TOOLS_SAVE_H

#include <stdbool.h>
#include <stdio.h>

/* Has write fill the file. False: err says why, and what to do; FILE is as it was before. */
bool save_file(const char *path, bool force, void (*write)(FILE *out, void *user), void *user, FILE *err);

#endif
