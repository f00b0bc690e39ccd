/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - `cuvmm completion`: a shell's completion of the command line.
 *
 *   cuvmm completion bash                          a script for the shell, which asks as below
 *   cuvmm completion --words explain VMM-MAP-OV    VMM-MAP-OVERLAP<tab>part of the range is already mapped
 *
 * What can follow comes from the descriptions of the subcommands (command.h): commands, options, their values.
 */
#ifndef CUVMM_TOOLS_COMPLETION_H
#define CUVMM_TOOLS_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

/* The script of a shell by name. False where there is none of that name. */
bool completion_script(FILE *out, const char *shell);

/* The names of the shells that there are scripts for; NULL past the last. */
const char *completion_shell(size_t index);

/* What the last of words may be, one a line with a remark behind a tab. words are those of the command line behind
 * "cuvmm"; the last is what was typed of it, "" for nothing. Nothing printed: a file's name, or anything. */
void completion_words(FILE *out, int count, char **words);

#endif
