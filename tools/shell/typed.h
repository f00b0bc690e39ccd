/* SPDX-License-Identifier: Apache-2.0 */
/* typed.h - the file of what was typed into the shell, a line each, in the order of typing.
 *
 *     $XDG_STATE_HOME/cuvmm/history, else ~/.local/state/cuvmm/history        only its owner can read it (0600)
 *
 * Lines are appended as they come, so shells beside each other lose nothing. A file that has grown long is cut to its end when it
 * is read. Nothing here fails loudly: a shell without history is a shell.
 */
#ifndef CUVMM_TOOLS_TYPED_H
#define CUVMM_TOOLS_TYPED_H

#include <stdbool.h>

#define TYPED_MAX 1000 /* lines that are kept when the file is cut, which happens at twice as many */

/* The file's name, to be freed; its folders are made. NULL, and errno, where it cannot be had; errno is 0 where there is no
 * home. */
char *typed_path(void);

/* Calls each for the last lines of the file, in order. */
void typed_read(const char *path, void (*each)(void *user, const char *line), void *user);

/* Appends a line. False, and errno, when that is not possible. */
bool typed_add(const char *path, const char *line);

#endif
