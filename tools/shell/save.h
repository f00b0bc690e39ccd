/* SPDX-License-Identifier: Apache-2.0 */
/* save.h - like output.h, but replaces an existing file only if the user asked for that.
 *
 *     FILE as it was, or none     FILE.aB3xYz is written     FILE is new, or force: the new one FILE exists: unchanged
 */
#ifndef CUVMM_TOOLS_SAVE_H
#define CUVMM_TOOLS_SAVE_H

#include <stdbool.h>
#include <stdio.h>

/* Calls write to fill the file. False: err has the reason and the fix; FILE is unchanged. */
bool save_file(const char *path, bool force, void (*write)(FILE *out, void *user), void *user, FILE *err);

#endif
