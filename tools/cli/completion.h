/* SPDX-License-Identifier: Apache-2.0 */
/* completion.h - `cuvmm completion`: a shell's completion of the command line.
 *
 *   cuvmm completion bash                          a script for the shell, which queries as below
 *   cuvmm completion --words explain VMM-MAP-OV    VMM-MAP-OVERLAP<tab>part of the range is already mapped
 *
 * What can follow comes from the descriptions of the subcommands (command.h): commands, options, their values.
 */
#ifndef CUVMM_TOOLS_COMPLETION_H
#define CUVMM_TOOLS_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

/* Prints the script of a shell given by name. Returns false if there is none with that name. */
bool completion_script(FILE *out, const char *shell);

/* The names of the supported shells; NULL past the last. */
const char *completion_shell(size_t index);

/* Prints the completions of the last word, one per line, each with a tab and a description. words are those after
 * "cuvmm"; the last is the part typed so far, possibly "". Printing nothing means a file name, or anything. */
void completion_words(FILE *out, int count, char **words);

#endif
