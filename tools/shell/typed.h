/* SPDX-License-Identifier: Apache-2.0 */
/* typed.h - the history file of the shell: one typed line per line, oldest first.
 *
 *     $XDG_STATE_HOME/cuvmm/history, else ~/.local/state/cuvmm/history        only its owner can read it (0600)
 *
 * Lines are appended as they are typed, so concurrent shells lose nothing. A file that has grown
 * too long is cut to its last lines when it is read. Errors are not fatal: the shell works without a history.
 */
#ifndef CUVMM_TOOLS_TYPED_H
#define CUVMM_TOOLS_TYPED_H

#include <stdbool.h>

#define TYPED_MAX 1000 /* lines kept when the file is cut, which happens at twice this number */

/* The file's name, which the caller frees; its folders are created. NULL, with errno, on failure;
 * errno is 0 if there is no home folder. */
char *typed_path(void);

/* Calls each() for the last lines of the file, in order. */
void typed_read(const char *path, void (*each)(void *user, const char *line), void *user);

/* Appends a line. False, and errno, when that is not possible. */
bool typed_add(const char *path, const char *line);

#endif
