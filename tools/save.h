/* save.h - a file that is there whole or not at all.
 *
 *     write to NAME.12345  ->  NAME must not be there yet (or force)  ->  rename over NAME
 *
 * Whatever goes wrong, NAME is as it was before.
 */
#ifndef CUVMM_TOOLS_SAVE_H
#define CUVMM_TOOLS_SAVE_H

#include <stdbool.h>
#include <stdio.h>

/* Has write fill the file. False: err says why, and what to do. */
bool save_file(const char *path, bool force, void (*write)(FILE *out, void *user), void *user, FILE *err);

#endif
