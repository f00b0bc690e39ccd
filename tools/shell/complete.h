/* SPDX-License-Identifier: Apache-2.0 */
/* complete.h - completion of words for the Tab key in the shell.
 *
 *     "ma"                     map
 *     "map r"                  r0 r1                      names that live
 *     "create 2gran dev0 h"    handle=                    options of the command
 *     "explain VMM-MAP-O"      VMM-MAP-OFFSET ...         rules and results; the same after expect
 *     "backend "               sim:h100 sim:h200x2 ...
 */
#ifndef CUVMM_TOOLS_COMPLETE_H
#define CUVMM_TOOLS_COMPLETE_H

#include "lines.h"
#include "script_state.h"

/* Replacements for the last word of the first length bytes of line, sorted, without duplicates. */
void complete_line(const struct script *script, const char *line, size_t length, struct lines_words *words);

#endif
